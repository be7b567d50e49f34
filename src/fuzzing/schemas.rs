//! The walker and the solver: is a `subsumed` ever wrong, is a witness ever unconfirmed?

use serde_json::Value;

use super::halves;
use super::schema_pairs::{Choices, close, instance, pair, validator};
use crate::canonical::{Json, parse, parse_str, to_compact};
use crate::judgement::{Level, Proof};
use crate::schema::{SchemaComparison, Side, compare};

/// Two arbitrary documents as schemas: no panic, no hang, no unreported difference, and no verdict
/// that a validator contradicts.
pub fn schema_json(input: &[u8]) {
    let (old, new) = halves(input);
    let (Ok(old), Ok(new)) = (parse(old), parse(new)) else {
        return;
    };
    for side in [Side::Input, Side::Output] {
        let found = compare(&old, &new, side);
        well_formed(&old, &new, side, &found);
        let value = |json: &Json| serde_json::from_str::<Value>(&to_compact(json)).ok();
        let (Some(old), Some(new)) = (value(&old), value(&new)) else {
            continue;
        };
        // Draft detection is not tested here, so schemas of another draft are left to the other
        // target.
        let names_a_draft = |it: &Value| it.get("$schema").is_some();
        if old.is_object() && new.is_object() && !names_a_draft(&old) && !names_a_draft(&new) {
            let mut choices = Choices::from_bytes(input);
            not_contradicted(&mut choices, &old, &new, side, &found);
        }
    }
}

/// A pair that is likely to differ in an interesting way, generated from the input's bytes.
pub fn schema_pairs_target(input: &[u8]) {
    let mut choices = Choices::from_bytes(input);
    let side = if choices.chance(30) {
        Side::Output
    } else {
        Side::Input
    };
    let (old, new) = pair(&mut choices);
    hold(&mut choices, &old, &new, side);
}

/// Compares a pair and checks the outcome against everything known about it.
fn hold(choices: &mut Choices<'_>, old: &Value, new: &Value, side: Side) -> Proof {
    let json = |value: &Value| parse_str(&value.to_string()).expect("JSON");
    let (old_json, new_json) = (json(old), json(new));
    let found = compare(&old_json, &new_json, side);
    well_formed(&old_json, &new_json, side, &found);
    not_contradicted(choices, old, new, side, &found);
    found.verdict
}

fn describe(
    old: &impl ToString,
    new: &impl ToString,
    side: Side,
    found: &SchemaComparison,
) -> String {
    let (old, new) = (old.to_string(), new.to_string());
    format!("{side:?}\nold {old}\nnew {new}\n{:?}", found.verdict)
}

/// No difference is unreported, every rule is of this side, and `breaking` always has a witness.
fn well_formed(old: &Json, new: &Json, side: Side, found: &SchemaComparison) {
    let context = || describe(old, new, side, found);
    assert_eq!(old == new, found.changes.is_empty(), "{}", context());
    for change in &found.changes {
        assert_eq!(change.rule.side(), Some(side), "{}", change.rule);
        let has_witness = matches!(change.proof, Some(Proof::Witness(_)));
        let is_breaking = change.level == Level::Breaking;
        assert_eq!(has_witness, is_breaking, "{}: {}", change.rule, context());
    }
}

/// A real validator confirms every witness, and no instance that the generator finds contradicts a
/// `subsumed`.
fn not_contradicted(
    choices: &mut Choices<'_>,
    old: &Value,
    new: &Value,
    side: Side,
    found: &SchemaComparison,
) {
    let context = || describe(old, new, side, found);
    let (sender, receiver) = match side {
        Side::Input => (old, new),
        Side::Output => (new, old),
    };
    let has_witness = found
        .changes
        .iter()
        .any(|it| matches!(it.proof, Some(Proof::Witness(_))));
    if !has_witness && found.verdict != Proof::Subsumed {
        return;
    }
    let (Some(sends), Some(receives)) = (validator(sender), validator(receiver)) else {
        return;
    };
    for change in &found.changes {
        if let Some(Proof::Witness(witness)) = &change.proof {
            let witness: Value = serde_json::from_str(&to_compact(witness)).expect("JSON");
            assert!(
                sends.is_valid(&witness) && !receives.is_valid(&witness),
                "unconfirmed {witness} for {}: {}",
                change.rule,
                context()
            );
        }
    }
    if found.verdict != Proof::Subsumed {
        return;
    }
    let mut closed = sender.clone();
    close(&mut closed, true);
    let Some(closed) = validator(&closed) else {
        return;
    };
    for round in 0..160 {
        let from = if round % 2 == 0 { sender } else { receiver };
        let candidate = instance(choices, from, from, 0);
        if candidate.is_object() && closed.is_valid(&candidate) && sends.is_valid(&candidate) {
            assert!(
                receives.is_valid(&candidate),
                "not subsumed: {candidate} {}",
                context()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A failure can be repeated by its seed. `MCP_KEEL_PAIRS` sets how many are tried (10,000 is a
    /// good evening's worth); the default keeps the suite quick.
    #[test]
    fn no_subsumed_is_wrong_and_no_witness_unconfirmed() {
        let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
        let pairs: u64 = number("MCP_KEEL_PAIRS").unwrap_or(400);
        let first: u64 = number("MCP_KEEL_FIRST_SEED").unwrap_or(0);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for seed in first..first + pairs {
            let mut choices = Choices::from_seed(seed);
            let (old, new) = pair(&mut choices);
            let side = if seed % 3 == 0 {
                Side::Output
            } else {
                Side::Input
            };
            let verdict = hold(&mut choices, &old, &new, side);
            let word = match verdict {
                Proof::Witness(_) => "witness",
                Proof::Undecided(_) => "undecided",
                Proof::Subsumed => "subsumed",
            };
            *counts.entry(word).or_default() += 1;
        }
        assert!(counts.len() == 3 || pairs < 100, "{counts:?}");
    }
}

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
fn hold(choices: &mut Choices<'_>, old: &Value, new: &Value, side: Side) -> SchemaComparison {
    let json = |value: &Value| parse_str(&value.to_string()).expect("JSON");
    let (old_json, new_json) = (json(old), json(new));
    let found = compare(&old_json, &new_json, side);
    well_formed(&old_json, &new_json, side, &found);
    not_contradicted(choices, old, new, side, &found);
    found
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
    let broken = sampled(choices, sender, receiver);
    assert_eq!(broken, None, "not subsumed: {}", context());
}

/// A value that the sender declares and accepts and the receiver refuses, if plain sampling finds one.
fn sampled(choices: &mut Choices<'_>, sender: &Value, receiver: &Value) -> Option<Value> {
    let mut closed = sender.clone();
    close(&mut closed, true);
    let (closed, sends, receives) = (
        validator(&closed)?,
        validator(sender)?,
        validator(receiver)?,
    );
    (0..160).find_map(|round| {
        let from = if round % 2 == 0 { sender } else { receiver };
        let candidate = instance(choices, from, from, 0);
        let is_sent =
            candidate.is_object() && closed.is_valid(&candidate) && sends.is_valid(&candidate);
        (is_sent && !receives.is_valid(&candidate)).then_some(candidate)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rules::RuleId;
    use crate::sentences::schema::no_value;

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
            let found = hold(&mut choices, &old, &new, side);
            let word = match &found.verdict {
                Proof::Witness(_) => "witness",
                Proof::Undecided(reason) if *reason == no_value(side) => "nothing sent",
                Proof::Undecided(_) => "undecided",
                Proof::Subsumed => "subsumed",
            };
            *counts.entry(word).or_default() += 1;
            let (sender, receiver) = match side {
                Side::Input => (&old, &new),
                Side::Output => (&new, &old),
            };
            if word == "undecided"
                && let Some(missed) = sampled(&mut choices, sender, receiver)
            {
                panic!(
                    "seed {seed}: missed {missed}: {}",
                    describe(&old, &new, side, &found)
                );
            }
            let vague = |rule: RuleId| {
                matches!(
                    rule,
                    RuleId::InputSchemaUnclassified | RuleId::OutputSchemaUnclassified
                )
            };
            if found.changes.iter().any(|it| vague(it.rule)) {
                *counts.entry("unclassified").or_default() += 1;
            }
            for change in &found.changes {
                if let Some(Proof::Witness(witness)) = &change.proof {
                    *counts.entry("witnesses").or_default() += 1;
                    let larger = larger_than_needed(witness, sender, receiver);
                    *counts.entry("larger").or_default() += usize::from(larger);
                }
            }
        }
        let count = |word: &str| counts.get(word).copied().unwrap_or(0);
        assert!(
            ["witness", "subsumed"].iter().all(|it| count(it) > 0) || pairs < 100,
            "{counts:?}"
        );
        if pairs >= 100 {
            let all = usize::try_from(pairs).expect("a number of pairs");
            assert!(count("undecided") * 100 <= 3 * all, "{counts:?}");
            assert!(count("larger") * 100 <= count("witnesses"), "{counts:?}");
            assert!(count("unclassified") * 200 <= all, "{counts:?}");
        }
    }

    /// Whether a member can be left out of a witness, or an item.
    fn larger_than_needed(witness: &Json, sender: &Value, receiver: &Value) -> bool {
        fn smaller(value: &Value) -> Vec<Value> {
            let mut found = Vec::new();
            match value {
                Value::Object(members) => {
                    for (name, it) in members {
                        let mut less = members.clone();
                        less.remove(name);
                        found.push(Value::Object(less));
                        for it in smaller(it) {
                            let mut less = members.clone();
                            less.insert(name.clone(), it);
                            found.push(Value::Object(less));
                        }
                    }
                }
                Value::Array(items) => {
                    for (at, it) in items.iter().enumerate() {
                        let mut less = items.clone();
                        less.remove(at);
                        found.push(Value::Array(less));
                        for it in smaller(it) {
                            let mut less = items.clone();
                            less[at] = it;
                            found.push(Value::Array(less));
                        }
                    }
                }
                _ => {}
            }
            found
        }
        let (Some(sends), Some(receives)) = (validator(sender), validator(receiver)) else {
            return false;
        };
        let witness: Value = serde_json::from_str(&to_compact(witness)).expect("JSON");
        smaller(&witness)
            .iter()
            .any(|it| sends.is_valid(it) && !receives.is_valid(it))
    }
}

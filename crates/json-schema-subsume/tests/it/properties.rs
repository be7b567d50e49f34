//! What must hold for every pair of schemas, one function for each fuzz target: a violation panics.
//!
//! `cargo test` replays the committed seeds (`fuzz/corpus`) through these very functions.

use exact_json::{Json, parse, parse_str, to_compact};
use json_schema_subsume::kinds::Kinds;
use json_schema_subsume::pair::Pair;
use json_schema_subsume::{Limits, Verdict, subsume};
use serde_json::Value;

use super::pairs::{Choices, close, instance, pair, validator};

/// Two arbitrary documents as schemas, separated by a line of `---`: no panic, no hang, and no verdict that a validator
/// contradicts.
pub(crate) fn schema_json(input: &[u8]) {
    const SEPARATOR: &[u8] = b"\n---\n";
    let middle = input
        .windows(SEPARATOR.len())
        .position(|window| window == SEPARATOR);
    let (old, new) = match middle {
        Some(at) => (&input[..at], &input[at + SEPARATOR.len()..]),
        None => (input, input),
    };
    let (Ok(old), Ok(new)) = (parse(old), parse(new)) else {
        return;
    };
    for (sender, receiver) in [(&old, &new), (&new, &old)] {
        let verdict = subsume(sender, receiver, &Limits::default());
        let value = |json: &Json| serde_json::from_str::<Value>(&to_compact(json)).ok();
        let (Some(sender), Some(receiver)) = (value(sender), value(receiver)) else {
            continue;
        };
        // Draft detection is not tested here, so schemas of another draft are left to the other target.
        let is_of_this_draft =
            |schema: &Value| schema.is_object() && schema.get("$schema").is_none();
        if is_of_this_draft(&sender) && is_of_this_draft(&receiver) {
            let mut choices = Choices::from_bytes(input);
            not_contradicted(&mut choices, &sender, &receiver, &verdict);
        }
    }
}

/// A pair that is likely to differ in an interesting way, generated from the input's bytes.
pub(crate) fn schema_pairs(input: &[u8]) {
    let mut choices = Choices::from_bytes(input);
    let (old, new) = pair(&mut choices);
    let verdict = decided(&old, &new);
    not_contradicted(&mut choices, &old, &new, &verdict);
}

fn json(value: &Value) -> Json {
    parse_str(&value.to_string()).expect("JSON")
}

pub(crate) fn decided(old: &Value, new: &Value) -> Verdict {
    subsume(&json(old), &json(new), &Limits::default())
}

/// A real validator confirms a witness, and no instance that the generator finds contradicts `Subsumed`.
pub(crate) fn not_contradicted(
    choices: &mut Choices<'_>,
    old: &Value,
    new: &Value,
    verdict: &Verdict,
) {
    let (Some(sends), Some(receives)) = (validator(old), validator(new)) else {
        return;
    };
    match verdict {
        Verdict::Witness(witness) => {
            let witness: Value = serde_json::from_str(&to_compact(witness)).expect("JSON");
            assert!(
                sends.is_valid(&witness) && !receives.is_valid(&witness),
                "unconfirmed {witness}\nold {old}\nnew {new}"
            );
        }
        Verdict::Subsumed => {
            let refused = sampled(choices, old, new);
            assert_eq!(refused, None, "not subsumed\nold {old}\nnew {new}");
        }
        Verdict::Undecided(_) => {}
    }
}

/// A value that the old schema declares and accepts and the new one refuses, if plain sampling finds one.
pub(crate) fn sampled(choices: &mut Choices<'_>, old: &Value, new: &Value) -> Option<Value> {
    let mut closed = old.clone();
    close(&mut closed, true);
    let (closed, sends, receives) = (validator(&closed)?, validator(old)?, validator(new)?);
    (0..160).find_map(|round| {
        let from = if round % 2 == 0 { old } else { new };
        let candidate = instance(choices, from, from, 0);
        let is_sent =
            candidate.is_object() && closed.is_valid(&candidate) && sends.is_valid(&candidate);
        (is_sent && !receives.is_valid(&candidate)).then_some(candidate)
    })
}

/// By the prover's own evaluator, which knows better what is declared than `close` does: a witness cannot be made smaller,
/// and no sampled value refutes another verdict.
pub(crate) fn agrees_with_its_evaluator(
    choices: &mut Choices<'_>,
    old: &Value,
    new: &Value,
    verdict: &Verdict,
) {
    let judged = Pair::new(&json(old), &json(new), Kinds::ANY, u64::MAX, 0);
    let open = judged.open();
    if let Verdict::Witness(witness) = verdict {
        let value: Value = serde_json::from_str(&to_compact(witness)).expect("JSON");
        let smaller = smaller(&value)
            .into_iter()
            .find(|less| open.is_witness(&json(less)));
        assert_eq!(
            smaller, None,
            "{witness} is not minimal\nold {old}\nnew {new}"
        );
        return;
    }
    for round in 0..60 {
        let schema = if round % 2 == 0 { old } else { new };
        let sample = instance(choices, schema, schema, 0);
        assert!(
            !open.is_witness(&json(&sample)),
            "{verdict:?}, and {sample} is sent and refused\nold {old}\nnew {new}"
        );
    }
}

/// A value without one of its members or items, in every way.
pub(crate) fn smaller(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let mut less = members.clone();
                less.remove(name);
                found.push(Value::Object(less));
                for member in smaller(member) {
                    let mut less = members.clone();
                    less.insert(name.clone(), member);
                    found.push(Value::Object(less));
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let mut less = items.clone();
                less.remove(at);
                found.push(Value::Array(less));
                for item in smaller(item) {
                    let mut less = items.clone();
                    less[at] = item;
                    found.push(Value::Array(less));
                }
            }
        }
        _ => {}
    }
    found
}

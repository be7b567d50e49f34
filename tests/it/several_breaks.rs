//! Several breaking changes in one tool: each that breaks by itself is breaking, with a witness of its own.

use jsonschema::Validator;
use mcp_keel::canonical::{parse_str, to_compact};
use mcp_keel::judgement::{Level, Proof};
use mcp_keel::schema::{SchemaComparison, Side, compare};
use serde_json::{Map, Value, json};

use crate::schema_properties::pairs::{Choices, validator};

/// A parameter before and after, and whether it is required then.
struct Break {
    sent: Value,
    received: Value,
    required: (bool, bool),
}

/// One of the ways to break a parameter.
fn broken(choices: &mut Choices<'_>) -> Break {
    let object = |required: Value| json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": required});
    let kinds = [
        (
            json!({"type": "integer", "maximum": 10}),
            json!({"type": "integer", "maximum": 7}),
        ),
        (
            json!({"type": "number", "minimum": 0}),
            json!({"type": "number", "minimum": 0.5}),
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "multipleOf": 2}),
        ),
        (
            json!({"type": "string", "maxLength": 10}),
            json!({"type": "string", "maxLength": 5}),
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "minLength": 1}),
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "pattern": "^[a-z]+$"}),
        ),
        (json!({"type": "string"}), json!({"type": "integer"})),
        (
            json!({"type": ["string", "null"]}),
            json!({"type": "string"}),
        ),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["a"]})),
        (json!({"const": 1}), json!({"const": 2})),
        (
            json!({"type": "array"}),
            json!({"type": "array", "minItems": 1}),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "integer"}}),
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "uniqueItems": true}),
        ),
        (object(json!([])), object(json!(["x"]))),
    ];
    if choices.chance(25) {
        let schema = json!({"type": "string"});
        return Break {
            sent: schema.clone(),
            received: schema,
            required: (false, true),
        };
    }
    let (sent, received) = kinds[choices.below(kinds.len())].clone();
    let required = choices.chance(30);
    Break {
        sent,
        received,
        required: (required, required),
    }
}

/// The schema of a tool with these parameters, each as it is sent (`false`) or received (`true`).
fn tool(breaks: &[Break], is_received: impl Fn(usize) -> bool) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (at, one) in breaks.iter().enumerate() {
        let (schema, is_required) = if is_received(at) {
            (&one.received, one.required.1)
        } else {
            (&one.sent, one.required.0)
        };
        properties.insert(format!("p{at}"), schema.clone());
        if is_required {
            required.push(format!("p{at}"));
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn compared(sender: &Value, receiver: &Value, side: Side) -> SchemaComparison {
    let json = |value: &Value| parse_str(&value.to_string()).expect("JSON");
    match side {
        Side::Input => compare(&json(sender), &json(receiver), side),
        Side::Output => compare(&json(receiver), &json(sender), side),
    }
}

#[test]
fn each_of_several_breaks_has_a_witness_of_its_own() {
    let mut breaks_in_all = 0;
    let mut wrong = Vec::new();
    for seed in 0..300 {
        let mut choices = Choices::from_seed(seed);
        let breaks: Vec<Break> = (0..2 + choices.below(3))
            .map(|_| broken(&mut choices))
            .collect();
        let side = if seed % 5 == 0 {
            Side::Output
        } else {
            Side::Input
        };
        let (sender, receiver) = (tool(&breaks, |_| false), tool(&breaks, |_| true));
        let accepts = |schema: &Value, value: &Value| {
            let validator: Validator = validator(schema).expect("a schema");
            validator.is_valid(value)
        };
        let found = compared(&sender, &receiver, side);
        for at in 0..breaks.len() {
            breaks_in_all += 1;
            let place = format!("/properties/p{at}");
            let own = found.changes.iter().any(|change| {
                let is_here =
                    change.pointer == place || change.pointer.starts_with(&format!("{place}/"));
                let Some(Proof::Witness(witness)) = &change.proof else {
                    return false;
                };
                let witness: Value = serde_json::from_str(&to_compact(witness)).expect("JSON");
                is_here
                    && change.level == Level::Breaking
                    && accepts(&sender, &witness)
                    && !accepts(&receiver, &witness)
                    && accepts(&tool(&breaks, |other| other != at), &witness)
            });
            if !own {
                wrong.push(format!(
                    "seed {seed}, p{at}, {side:?}\n{sender}\n{receiver}\n{found:#?}"
                ));
            }
        }
    }
    assert!(breaks_in_all > 850, "{breaks_in_all}");
    assert!(
        wrong.is_empty(),
        "{} of {breaks_in_all}:\n{}",
        wrong.len(),
        wrong.first().map_or("", String::as_str)
    );
}

/// Of two equal alternatives either one may go: a call breaks where both went, and here two members have to be sent.
#[test]
fn changes_that_break_only_together_are_one_change_that_names_them() {
    let tool = |most: i64| {
        let member = json!({"type": "integer", "minimum": 9, "anyOf": [{"maximum": most}, {"maximum": most, "title": "M"}]});
        json!({"type": "object", "properties": {"x": member, "y": member}, "required": ["x", "y"]})
    };
    for side in [Side::Input, Side::Output] {
        let found = compared(&tool(10), &tool(5), side);
        let breaking: Vec<_> = found
            .changes
            .iter()
            .filter(|change| change.level == Level::Breaking)
            .collect();
        let [together] = breaking[..] else {
            panic!("{found:#?}");
        };
        assert_eq!(together.pointer, "");
        assert_eq!(
            together.message.matches("maximum").count(),
            2,
            "{together:#?}"
        );
    }
}

//! The three answers.

use exact_json::{Json, parse_str};
use json_schema_subsume::{Limits, Reason, Verdict, subsume};

fn json(text: &str) -> Json {
    parse_str(text).unwrap()
}

fn answer(old: &str, new: &str) -> Verdict {
    subsume(&json(old), &json(new), &Limits::default())
}

#[test]
fn a_wider_schema_subsumes_and_a_narrower_one_has_a_witness() {
    let (few, many) = (
        r#"{"type": "array", "maxItems": 2}"#,
        r#"{"type": "array", "maxItems": 3}"#,
    );
    assert_eq!(answer(few, many), Verdict::Subsumed);
    let Verdict::Witness(witness) = answer(many, few) else {
        panic!("no witness");
    };
    assert_eq!(witness.as_array().map(<[Json]>::len), Some(3));
}

#[test]
fn the_same_values_in_another_spelling() {
    for (one, other) in [
        (r#"{"const": 1}"#, r#"{"enum": [1.0]}"#),
        (
            r#"{"type": ["string", "null"]}"#,
            r#"{"anyOf": [{"type": "string"}, {"type": "null"}]}"#,
        ),
        (r#"{"pattern": "^[ab]$"}"#, r#"{"pattern": "^(a|b)$"}"#),
        (
            r##"{"$ref": "#/$defs/N", "$defs": {"N": {"type": "null"}}}"##,
            r#"{"type": "null"}"#,
        ),
    ] {
        assert_eq!(answer(one, other), Verdict::Subsumed, "{one} {other}");
        assert_eq!(answer(other, one), Verdict::Subsumed, "{other} {one}");
    }
}

#[test]
fn what_nobody_declared_is_not_sent() {
    let open = r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#;
    let typed = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#;
    assert_eq!(answer(open, typed), Verdict::Subsumed);
    let map = r#"{"type": "object"}"#;
    assert!(matches!(answer(map, typed), Verdict::Witness(_)));
}

#[test]
fn what_cannot_be_decided_has_a_reason() {
    for (old, new, reason) in [
        (
            r#"{"type": []}"#,
            "{}",
            "not a JSON Schema: `type` at the root has an invalid value",
        ),
        (
            r#"{"$ref": "https://example.com/schema"}"#,
            "{}",
            "the schema refers to `https://example.com/schema`, which is outside of it and is never fetched",
        ),
    ] {
        let Verdict::Undecided(found) = answer(old, new) else {
            panic!("decided: {old}");
        };
        assert_eq!(found.to_string(), reason);
    }
    assert_eq!(
        answer("false", "true"),
        Verdict::Undecided(Reason::NothingSent)
    );
}

#[test]
fn work_is_bounded_by_steps_and_size() {
    let (old, new) = (json(r#"{"maximum": 5}"#), json(r#"{"maximum": 4}"#));
    let too_large = Verdict::Undecided(Reason::TooLarge);
    let few_steps = Limits {
        steps: 1,
        ..Limits::default()
    };
    assert_eq!(subsume(&old, &new, &few_steps), too_large);
    let few_values = Limits {
        values: 3,
        ..Limits::default()
    };
    assert_eq!(subsume(&old, &new, &few_values), too_large);
}

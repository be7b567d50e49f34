//! Schemas designed to exhaust the checker. Each pair must terminate, without a crash, and without
//! an unproved claim. Work is bounded by counting steps, so terminating at all shows that the bound
//! works: without it these run for hours.

use std::fmt::Write as _;

use mcp_keel::canonical::parse_str;
use mcp_keel::judgement::{Level, Proof};
use mcp_keel::schema::{SchemaComparison, Side, compare};

fn judged(old: &str, new: &str) -> SchemaComparison {
    let old = parse_str(old).expect("the old schema");
    let new = parse_str(new).expect("the new schema");
    let mut last = None;
    for side in [Side::Output, Side::Input] {
        let found = compare(&old, &new, side);
        assert!(!found.changes.is_empty());
        for change in &found.changes {
            let shown = matches!(change.proof, Some(Proof::Witness(_)));
            assert_eq!(change.level == Level::Breaking, shown, "{change:?}");
        }
        last = Some(found);
    }
    last.expect("two sides")
}

fn is_undecided(found: &SchemaComparison) -> bool {
    matches!(found.verdict, Proof::Undecided(_))
}

#[test]
fn a_reference_to_itself() {
    let found = judged(
        r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}"##,
        r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {}}, "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}"##,
    );
    assert!(is_undecided(&found));
}

#[test]
fn mutual_recursion_is_proved() {
    let schema = |extra: &str| {
        format!(
            r##"{{"type": "object", "properties": {{"tree": {{"$ref": "#/$defs/A"}}{extra}}}, "$defs": {{
                "A": {{"type": "object", "properties": {{"b": {{"$ref": "#/$defs/B"}}}}}},
                "B": {{"type": "object", "properties": {{"a": {{"$ref": "#/$defs/A"}}, "n": {{"type": "integer"}}}}}}}}}}"##
        )
    };
    let found = judged(&schema(""), &schema(r#", "more": {"type": "string"}"#));
    assert_eq!(found.verdict, Proof::Subsumed);
}

#[test]
fn a_recursive_schema_that_tightened_has_a_witness() {
    let schema = |kind: &str| {
        format!(
            r##"{{"type": "object", "properties": {{"node": {{"$ref": "#/$defs/N"}}}}, "$defs": {{
                "N": {{"type": "object", "properties": {{"next": {{"$ref": "#/$defs/N"}}, "v": {{"type": {kind}}}}}}}}}}}"##
        )
    };
    let found = judged(&schema(r#"["string", "null"]"#), &schema(r#""string""#));
    assert!(
        matches!(found.verdict, Proof::Witness(_)),
        "{:?}",
        found.verdict
    );
}

#[test]
fn deep_all_of() {
    let nest = |inner: &str| {
        let mut schema = inner.to_owned();
        for _ in 0..90 {
            schema = format!(r#"{{"allOf": [{schema}]}}"#);
        }
        format!(r#"{{"type": "object", "properties": {{"a": {schema}}}}}"#)
    };
    judged(
        &nest(r#"{"type": "string"}"#),
        &nest(r#"{"type": "integer"}"#),
    );
}

#[test]
fn exponential_one_of() {
    let tower = |top: &str| {
        let mut definitions = String::new();
        for level in 0..40 {
            let _ = write!(
                definitions,
                r##""L{level}": {{"oneOf": [{{"$ref": "#/$defs/L{next}"}}, {{"$ref": "#/$defs/L{next}"}}]}}, "##,
                next = level + 1
            );
        }
        format!(
            r##"{{"type": "object", "properties": {{"a": {{"$ref": "#/$defs/L0"}}}}, "$defs": {{{definitions}"L40": {{"type": "{top}"}}}}}}"##
        )
    };
    let found = judged(&tower("string"), &tower("integer"));
    assert!(is_undecided(&found));
}

#[test]
fn wide_unions_of_wide_unions() {
    let union = |offset: usize| {
        let branches: Vec<String> = (0..24)
            .map(|index| {
                format!(
                    r#"{{"type": "object", "properties": {{"k": {{"anyOf": [{{"minLength": {a}}}, {{"maxLength": {b}}}, {{"pattern": "^x{a}"}}]}},
                        "l": {{"anyOf": [{{"minLength": {b}}}, {{"maxLength": {a}}}]}}}}, "required": ["k"]}}"#,
                    a = index + offset,
                    b = index * 2 + offset
                )
            })
            .collect();
        format!(
            r#"{{"type": "object", "properties": {{"a": {{"anyOf": [{0}]}}, "b": {{"oneOf": [{0}]}}}}}}"#,
            branches.join(", ")
        )
    };
    judged(&union(0), &union(1));
}

#[test]
fn a_long_chain_of_references() {
    for members in [false, true] {
        let chain = |last: &str| {
            let mut definitions = String::new();
            for level in 0..2_000 {
                let reference = format!(r##"{{"$ref": "#/$defs/L{}"}}"##, level + 1);
                let node = if members {
                    format!(r#"{{"type": "object", "properties": {{"n": {reference}}}}}"#)
                } else {
                    reference
                };
                let _ = write!(definitions, r#""L{level}": {node}, "#);
            }
            format!(
                r##"{{"type": "object", "properties": {{"a": {{"$ref": "#/$defs/L0"}}}}, "$defs": {{{definitions}"L2000": {{"type": "{last}"}}}}}}"##
            )
        };
        judged(&chain("string"), &chain("integer"));
    }
}

#[test]
fn thousands_of_members() {
    let wide = |kind: &str| {
        let members: Vec<String> = (0..1_200)
            .map(|index| format!(r#""member_{index}": {{"type": "{kind}"}}"#))
            .collect();
        format!(
            r#"{{"type": "object", "properties": {{{}}}}}"#,
            members.join(", ")
        )
    };
    judged(&wide("string"), &wide("integer"));
    let renamed = wide("string").replace("member_", "other_");
    judged(&wide("string"), &renamed);
}

#[test]
fn a_long_enumeration() {
    let list = |offset: usize| {
        let values: Vec<String> = (0..3_000)
            .map(|index| format!(r#""v{}""#, index + offset))
            .collect();
        format!(
            r#"{{"type": "object", "properties": {{"a": {{"enum": [{}]}}}}}}"#,
            values.join(", ")
        )
    };
    judged(&list(0), &list(1));
}

#[test]
fn patterns_that_explode() {
    judged(
        r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}"#,
        r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|aa)+(b|a)*c{0,200}(?=x)$"}}}"#,
    );
    judged(
        r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|b)*a(a|b){14}$"}}}"#,
        r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|b)*b(a|b){14}$"}}}"#,
    );
    judged(
        r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "((((a{1,200}){1,200}){1,200}){1,200})"}}}"#,
        r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "["}}}"#,
    );
}

#[test]
fn nothing_is_fetched() {
    let found = judged(
        r#"{"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}}"#,
        r#"{"type": "object", "properties": {"a": {"$ref": "https://example.com/b.json"}, "b": {"type": "string"}}}"#,
    );
    match found.verdict {
        Proof::Undecided(reason) => assert!(reason.contains("never fetched"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_schemas() {
    for (old, new) in [
        (r#"{"type": "object"}"#, "null"),
        (r#"{"type": "object"}"#, r#"[1]"#),
        (r#"{"type": 5}"#, r#"{"type": "object", "properties": 7}"#),
        (
            r#"{"properties": {"a": {"minimum": "x"}}}"#,
            r#"{"properties": {"a": {"minimum": 1e400}}}"#,
        ),
        (
            r#"{"required": true, "enum": 3}"#,
            r#"{"required": [1], "anyOf": {}}"#,
        ),
        ("true", "false"),
        (
            r#"{"properties": {"a\ud800": {"type": "string"}}}"#,
            r#"{"properties": {"a": {"type": "string"}}}"#,
        ),
    ] {
        judged(old, new);
        judged(new, old);
    }
}

#[test]
fn numbers_beyond_a_double_are_not_left_to_the_validator() {
    let found = judged(
        r#"{"type": "object", "properties": {"n": {"type": "integer", "maximum": 123456789012345678901234567890}}}"#,
        r#"{"type": "object", "properties": {"n": {"type": "integer", "maximum": 123456789012345678901234567889}}}"#,
    );
    assert!(is_undecided(&found), "{:?}", found.verdict);
    let found = judged(
        r#"{"type": "object", "properties": {"n": {"type": "integer", "maximum": 123456789012345678901234567889}}}"#,
        r#"{"type": "object", "properties": {"n": {"type": "integer", "maximum": 123456789012345678901234567890}}}"#,
    );
    assert_eq!(found.verdict, Proof::Subsumed);
}

//! Proofs of single changes that were refuted once, beside another change that breaks. What a change proves is stated
//! in `docs/proofs.md`.

use mcp_keel::canonical::to_compact;
use mcp_keel::judgement::{Level, Proof};
use mcp_keel::schema::{SchemaChange, SchemaComparison, Side, compare};

use crate::proofs::{both, json};

/// The schema of an object with a member `o`, and one that another change breaks.
fn beside_a_break(schema: &str, other: &str, more: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"o":{schema},"b":{{"type":"{other}"}}}}{more}}}"#)
}

fn at<'a>(found: &'a SchemaComparison, end: &str) -> &'a SchemaChange {
    let all = &found.changes;
    all.iter()
        .find(|it| it.pointer.ends_with(end))
        .unwrap_or_else(|| panic!("nothing at {end}: {found:#?}"))
}

/// A name, `o` of the sender and of the receiver, what the documents have besides, where the change is, and a value of
/// `o` that is refused because of it.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const BREAKS_TOO: &[Row] = &[
    (
        "J1: anyOf becomes oneOf",
        r#"{"anyOf":[{"type":"object","properties":{"p":{"type":"integer"}},"required":["p"]},{"type":"object","properties":{"u":{"type":"integer"}},"required":["u"]}]}"#,
        r#"{"oneOf":[{"type":"object","properties":{"p":{"type":"integer"}},"required":["p"]},{"type":"object","properties":{"u":{"type":"integer"}},"required":["u"]}]}"#,
        "",
        "/o",
        r#"{"p":1,"u":1}"#,
    ),
    (
        "J1: anyOf of types becomes oneOf",
        r#"{"anyOf":[{"type":"integer"},{"type":"number"}]}"#,
        r#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#,
        "",
        "/o",
        "1",
    ),
    (
        "J1: null in two branches of oneOf",
        r#"{"oneOf":[{"type":"string"},{"type":"null"}]}"#,
        r#"{"oneOf":[{"type":["string","null"]},{"type":"null"}]}"#,
        "",
        "/o",
        "null",
    ),
    (
        "J1: a constant in two branches of oneOf",
        r#"{"oneOf":[{"const":"a"},{"const":"b"}]}"#,
        r#"{"oneOf":[{"const":"a"},{"enum":["a","b"]}]}"#,
        "",
        "/o",
        r#""a""#,
    ),
    (
        "J1: unevaluatedItems beside prefixItems",
        r#"{"type":"array","prefixItems":[{"type":"string"}]}"#,
        r#"{"type":"array","prefixItems":[{"type":"string"}],"unevaluatedItems":false}"#,
        "",
        "/unevaluatedItems",
        r#"["hello","hello"]"#,
    ),
    (
        "J2: a bound loosened in oneOf",
        r#"{"oneOf":[{"type":"integer","minimum":20},{"type":"integer","maximum":10}]}"#,
        r#"{"oneOf":[{"type":"integer","minimum":5},{"type":"integer","maximum":10}]}"#,
        "",
        "/minimum",
        "5",
    ),
    (
        "J2: bounds of oneOf that meet",
        r#"{"oneOf":[{"type":"integer","maximum":5},{"type":"integer","minimum":10}]}"#,
        r#"{"oneOf":[{"type":"integer","maximum":15},{"type":"integer","minimum":10}]}"#,
        "",
        "/maximum",
        "10",
    ),
    (
        "J2: a branch of oneOf that overlaps",
        r#"{"oneOf":[{"type":"integer","minimum":20}]}"#,
        r#"{"oneOf":[{"type":"integer","minimum":20},{"type":"integer","minimum":500}]}"#,
        "",
        "/oneOf/1",
        "500",
    ),
    (
        "J2: a type of oneOf that overlaps",
        r#"{"oneOf":[{"type":"integer"},{"type":"string"}]}"#,
        r#"{"oneOf":[{"type":"integer"},{"type":"string"},{"type":"number"}]}"#,
        "",
        "/o",
        "1",
    ),
    (
        "J2: required removed in a branch of oneOf",
        r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]}"#,
        r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]}"#,
        "",
        "/properties/a",
        r#"{"b":"hello"}"#,
    ),
    (
        "J2: a pattern of names removed beside additionalProperties",
        r#"{"type":"object","patternProperties":{"^k_":{}},"additionalProperties":false}"#,
        r#"{"type":"object","additionalProperties":false}"#,
        "",
        "/patternProperties",
        r#"{"k_":"hello"}"#,
    ),
    (
        "J2: if removed under unevaluatedProperties",
        r#"{"type":"object","if":{"required":["a"]},"then":{"properties":{"c":{"type":"string"}}},"properties":{"a":{"type":"string"}},"unevaluatedProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"unevaluatedProperties":false}"#,
        "",
        "/o",
        r#"{"a":"hello","c":"hello"}"#,
    ),
    (
        "J2: dependentSchemas removed under unevaluatedProperties",
        r#"{"type":"object","dependentSchemas":{"a":{"properties":{"c":{"type":"string"}}}},"properties":{"a":{"type":"string"}},"unevaluatedProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"unevaluatedProperties":false}"#,
        "",
        "/dependentSchemas",
        r#"{"a":"hello","c":"hello"}"#,
    ),
    (
        "J2: prefixItems removed beside items",
        r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false}"#,
        r#"{"type":"array","items":false}"#,
        "",
        "/prefixItems",
        r#"["hello"]"#,
    ),
    (
        "J6: a definition that only an exclusion uses",
        r##"{"not":{"$ref":"#/$defs/D"}}"##,
        r##"{"not":{"$ref":"#/$defs/D"}}"##,
        r##","$defs":{"D":{"enum":[KINDS]}}"##,
        "/$defs/D/enum",
        "1",
    ),
    (
        "J7: enum beside const",
        r#"{"const":"x"}"#,
        r#"{"const":"x","enum":["b"]}"#,
        "",
        "/enum",
        r#""x""#,
    ),
    (
        "J7: minContains 0 removed",
        r#"{"type":"array","contains":{"type":"string"},"minContains":0}"#,
        r#"{"type":"array","contains":{"type":"string"}}"#,
        "",
        "/minContains",
        "[]",
    ),
    (
        "J7: additionalProperties that unevaluatedProperties looks at",
        r#"{"properties":{"a":{}},"unevaluatedProperties":false,"additionalProperties":true}"#,
        r#"{"properties":{"a":{}},"unevaluatedProperties":false}"#,
        "",
        "/additionalProperties",
        r#"{"key":"hello"}"#,
    ),
];

#[test]
fn a_change_beside_a_break_has_its_own_witness() {
    let mut wrong = Vec::new();
    for (name, sender, receiver, more, end, value) in BREAKS_TOO {
        let sender = beside_a_break(sender, "integer", &more.replace("KINDS", "\"a\""));
        let receiver = beside_a_break(receiver, "string", &more.replace("KINDS", "\"a\",1"));
        for (side, found) in both(&sender, &receiver) {
            let change = at(&found, end);
            let witness = match &change.proof {
                Some(Proof::Witness(it)) => to_compact(it),
                other => format!("{other:?}"),
            };
            if witness != format!(r#"{{"o":{value}}}"#) || change.level != Level::Breaking {
                wrong.push(format!("{name}, {side:?}: {witness}, {change:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A name, two schemas, the change that does break and the one that does not.
const ELSEWHERE: &[(&str, &str, &str, &str, &str)] = &[
    (
        "J5: minContains, and a looser bound",
        r#"{"properties":{"l":{"type":"array","contains":{"type":"string"},"minContains":0},"x":{"type":"integer","maximum":5}}}"#,
        r#"{"properties":{"l":{"type":"array","contains":{"type":"string"}},"x":{"type":"integer","maximum":9}}}"#,
        "/minContains",
        "/maximum",
    ),
    (
        "J5: a definition under not, and a looser bound",
        r##"{"properties":{"a":{"not":{"$ref":"#/$defs/D"}},"x":{"type":"integer","maximum":5}},"$defs":{"D":{"type":"string"}}}"##,
        r##"{"properties":{"a":{"not":{"$ref":"#/$defs/D"}},"x":{"type":"integer","maximum":9}},"$defs":{"D":{"type":["string","integer"]}}}"##,
        "/$defs/D",
        "/maximum",
    ),
    (
        "J5, J6: a definition under then, and a looser bound",
        r##"{"properties":{"a":{"if":{"type":"string"},"then":{"$ref":"#/$defs/D"}},"x":{"type":"integer","maximum":5}},"$defs":{"D":{"maxLength":9}}}"##,
        r##"{"properties":{"a":{"if":{"type":"string"},"then":{"$ref":"#/$defs/D"}},"x":{"type":"integer","maximum":9}},"$defs":{"D":{"maxLength":3}}}"##,
        "/maxLength",
        "/maximum",
    ),
    (
        "J5: enum beside const, and one value more",
        r#"{"properties":{"a":{"const":"x"},"x":{"enum":["p"]}}}"#,
        r#"{"properties":{"a":{"const":"x","enum":["b"]},"x":{"enum":["p","q"]}}}"#,
        "/properties/a/enum",
        "/properties/x/enum",
    ),
    (
        "J5: a closed object, and a new member",
        r#"{"properties":{"o":{"properties":{"a":{}},"unevaluatedProperties":false,"additionalProperties":true}}}"#,
        r#"{"properties":{"o":{"properties":{"a":{}},"unevaluatedProperties":false},"z":{"type":"string"}}}"#,
        "/additionalProperties",
        "/properties/z",
    ),
    (
        "a branch that nothing needs, and a bound in another branch",
        r#"{"properties":{"o":{"anyOf":[{"type":"string","maxLength":9},{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"a":{"type":"string"}},"title":"T","maxProperties":1}]}}}"#,
        r#"{"properties":{"o":{"anyOf":[{"type":"string","maxLength":5},{"type":"object","properties":{"a":{"type":"string"}}}]}}}"#,
        "/maxLength",
        "/anyOf/2",
    ),
];

#[test]
fn a_break_is_said_of_the_change_that_it_is_about() {
    for (name, old, new, breaks, harmless) in ELSEWHERE {
        let found = compare(&json(old), &json(new), Side::Input);
        let change = at(&found, breaks);
        assert_eq!(change.level, Level::Breaking, "{name}: {change:?}");
        let change = at(&found, harmless);
        assert_eq!(change.proof, Some(Proof::Subsumed), "{name}: {change:?}");
    }
    // Results may be anything that their schema allows.
    let found = compare(
        &json(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#),
        &json(r#"{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}"#),
        Side::Output,
    );
    assert_eq!(at(&found, "").level, Level::Breaking, "{found:?}");
    assert_eq!(at(&found, "/b").level, Level::Additive, "{found:?}");
}

/// J2: under a name that was free.
#[test]
fn a_new_member_of_a_map_breaks_beside_another_break() {
    let of = |kind: &str, more: &str| {
        format!(
            r#"{{"type":"object","properties":{{"b":{{"type":"{kind}"}}{more}}},"additionalProperties":{{"type":"string"}}}}"#
        )
    };
    let (old, new) = (of("integer", ""), of("string", r#","n":{"type":"number"}"#));
    let found = compare(&json(&old), &json(&new), Side::Input);
    let change = at(&found, "/n");
    let Some(Proof::Witness(witness)) = &change.proof else {
        panic!("{change:?}")
    };
    assert_eq!(to_compact(witness), r#"{"n":"hello"}"#);
}

/// J4: what another change does to a reference is no part of this one.
#[test]
fn a_change_behind_a_reference_is_judged_where_it_is_used() {
    let of = |use_: &str, kind: &str, rest: &str| {
        format!(
            r##"{{"type":"object","properties":{{"x":{use_}{rest},"$defs":{{"E":{{"type":"integer"}},"D":{kind}}}}}"##
        )
    };
    let union = |more: &str| {
        format!(r##"{{"anyOf":[{{"$ref":"#/$defs/D"}},{{"$ref":"#/$defs/E"}}{more}]}}"##)
    };
    let model =
        |kind: &str| format!(r#"{{"type":"object","properties":{{"s":{{"type":"{kind}"}}}}}}"#);
    let list = |more: &str| format!(r##"{{"type":"array","items":{{"$ref":"#/$defs/D"}}{more}}}"##);
    let required = r#","r":{"type":"string"}},"required":["r"]"#;
    let (was, is) = (model("string"), model("integer"));
    let text = |most: u32| format!(r#"{{"type":"string","maxLength":{most}}}"#);
    for (old, new, end) in [
        (
            of(&union(r#",{"type":"null"}"#), &was, "}"),
            of(&union(""), &is, required),
            "/s",
        ),
        (
            of(&union(r#",{"type":"boolean"}"#), &was, "}"),
            of(&union(""), &is, required),
            "/s",
        ),
        (
            of(&list(""), &text(10), "}"),
            of(&list(r#","uniqueItems":true"#), &text(5), required),
            "/maxLength",
        ),
    ] {
        let found = compare(&json(&old), &json(&new), Side::Input);
        let change = at(&found, end);
        assert_eq!(change.level, Level::Breaking, "{change:?}");
    }
}

/// J3: a single change is subsumed only if it is so in both readings.
#[test]
fn a_single_change_is_judged_in_both_readings() {
    let of = |kind: &str, more: &str| {
        format!(
            r#"{{"type":"object","properties":{{"x":{{}},"y":{{"type":"{kind}"}}}},"definitions":{{"A":{{"type":"string"}}}}{more}}}"#
        )
    };
    let old = of("integer", "");
    let new = of("string", r#","dependentRequired":{"x":["y"]}"#);
    for (side, found) in both(&old, &new) {
        let change = at(&found, "/dependentRequired");
        assert_eq!(change.level, Level::Risky, "{side:?}: {change:?}");
        assert!(
            matches!(change.proof, Some(Proof::Undecided(_))),
            "{side:?}: {change:?}"
        );
    }
}

/// J8: which members are declared is a matter of all schemas that apply to a place.
#[test]
fn a_place_is_not_decided_without_what_else_applies_there() {
    let of = |part: &str, more: &str, tail: &str| {
        let hard = format!(r#"{{"type":"string","pattern":"^(a+)\\1{tail}$"}}"#);
        format!(
            r#"{{"type":"object","properties":{{"o":{{"allOf":[{{{part}{more}}},{{"properties":{{"c":{{"type":"string"}}}}}}]}},"p":{hard}}},"required":["p"]}}"#
        )
    };
    let part = r#""properties":{"a":{"type":"string"}}"#;
    for (side, found) in both(
        &of(part, "", ""),
        &of(part, r#","additionalProperties":false"#, "b?"),
    ) {
        let change = at(&found, "/additionalProperties");
        assert!(
            matches!(change.proof, Some(Proof::Undecided(_))),
            "{side:?}: {change:?}"
        );
    }
    // What else is undecided leaves a change alone that is harmless by itself.
    let of = |most: u32, tail: &str| {
        format!(
            r#"{{"type":"object","properties":{{"l":{{"type":"integer","maximum":{most}.5}},"p":{{"type":"string","pattern":"^(a+)\\1{tail}$"}}}},"required":["p"]}}"#
        )
    };
    for (side, found) in both(&of(9, ""), &of(10, "b?")) {
        let change = at(&found, "/maximum");
        assert_eq!(change.proof, Some(Proof::Subsumed), "{side:?}: {change:?}");
    }
}

/// J9
#[test]
fn what_a_draft_decides_is_said_where_the_drafts_differ() {
    let of = |most: u32, length: u32| {
        json(&format!(
            r##"{{"type":"object","properties":{{"a":{{"type":"integer","maximum":{most}}},"b":{{"type":"array","items":{{"$ref":"#/definitions/A","maxLength":{length}}}}}}},"definitions":{{"A":{{"type":"string"}}}}}}"##
        ))
    };
    let found = compare(&of(5, 10), &of(9, 5), Side::Input);
    assert_eq!(at(&found, "/maximum").level, Level::Additive, "{found:?}");
    let beside = at(&found, "/items");
    assert!(
        matches!(beside.proof, Some(Proof::Undecided(_))),
        "{found:?}"
    );
}

/// J1, J7: more values are accepted, so a caller can notice.
#[test]
fn what_accepts_more_is_not_cosmetic() {
    for (old, new) in [
        (
            r#"{"oneOf":[{"type":"integer","minimum":0},{"type":"integer","maximum":9}]}"#,
            r#"{"anyOf":[{"type":"integer","minimum":0},{"type":"integer","maximum":9}]}"#,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"}],"unevaluatedItems":false}"#,
            r#"{"type":"array","prefixItems":[{"type":"string"}]}"#,
        ),
        (
            r#"{"type":"array","contains":{"type":"string"}}"#,
            r#"{"type":"array","contains":{"type":"string"},"minContains":0}"#,
        ),
        (
            r#"{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
            r#"{"type":"object"}"#,
        ),
        (
            r#"{"type":"string","allOf":[{"minLength":2},{"maxLength":5}]}"#,
            r#"{"type":"string","allOf":[{"minLength":2}]}"#,
        ),
        (r#"{"const":"x","enum":["b"]}"#, r#"{"const":"x"}"#),
        (
            r##"{"if":{"type":"string"},"then":{"$ref":"#/properties/o/$defs/D"},"$defs":{"D":{"maxLength":3}}}"##,
            r##"{"if":{"type":"string"},"then":{"$ref":"#/properties/o/$defs/D"},"$defs":{"D":{"maxLength":9}}}"##,
        ),
    ] {
        let of = |schema: &str| {
            json(&format!(
                r#"{{"type":"object","properties":{{"o":{schema}}}}}"#
            ))
        };
        let found = compare(&of(old), &of(new), Side::Input);
        assert_eq!(found.verdict, Proof::Subsumed, "{old}");
        assert!(
            found.changes.iter().any(|it| it.level == Level::Additive),
            "{old}: {found:?}"
        );
    }
}

/// The same alternatives in another form are still the same, whatever else breaks.
#[test]
fn another_form_of_the_same_alternatives_is_cosmetic_beside_a_break() {
    for (old, new) in [
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"type":["string","null"]}"#,
        ),
        (
            r#"{"anyOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}"#,
            r#"{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}"#,
        ),
        (
            r#"{"enum":["a","b"]}"#,
            r#"{"anyOf":[{"const":"a"},{"const":"b"}]}"#,
        ),
    ] {
        let old = beside_a_break(old, "integer", "");
        let new = beside_a_break(new, "string", "");
        for (side, found) in both(&old, &new) {
            let change = at(&found, "/o");
            assert_eq!(change.level, Level::Cosmetic, "{side:?}: {change:?}");
        }
    }
}

/// A keyword beside a reference is one change, and the reference is not another.
#[test]
fn a_reference_that_gets_a_neighbour_is_the_same_reference() {
    let of = |beside: &str, kind: &str| {
        json(&format!(
            r##"{{"type":"object","properties":{{"o":{{"$ref":"#/$defs/D"{beside}}},"b":{{"type":"{kind}"}}}},"$defs":{{"D":{{"type":"string"}}}}}}"##
        ))
    };
    let found = compare(
        &of("", "integer"),
        &of(r#","maxLength":5"#, "string"),
        Side::Input,
    );
    assert_eq!(at(&found, "/maxLength").level, Level::Breaking, "{found:?}");
    assert_eq!(at(&found, "/$ref").level, Level::Cosmetic, "{found:?}");
}

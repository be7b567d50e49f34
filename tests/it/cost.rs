//! What hostile schemas cost: counted in steps, so that no answer and no test depends on how fast a machine is. In a
//! release build 100,000 steps take less than a second.

use mcp_keel::canonical::{Json, parse_str, to_compact};
use mcp_keel::judgement::{Exposure, Level, Proof};
use mcp_keel::schema::{Side, Work, compare_within, verdict_within};
use serde_json::{Value, json};

/// Steps that one pair may take, whatever it looks like.
const PER_PAIR: u64 = 300_000;
/// Larger witnesses are not built, in bytes of text.
const WITNESS: usize = 1 << 20;

fn read(value: &Value) -> Json {
    parse_str(&value.to_string()).expect("JSON")
}

/// An object with one member.
fn member(schema: Value) -> Value {
    json!({"type": "object", "properties": {"a": schema}})
}

fn definitions(root: &str, definitions: serde_json::Map<String, Value>) -> Value {
    json!({
        "type": "object",
        "properties": {"a": {"$ref": format!("#/$defs/{root}")}},
        "$defs": definitions,
    })
}

/// `allOf` of so many `anyOf` of twelve.
fn choices(of: usize, branch: impl Fn(usize, usize) -> Value) -> Vec<Value> {
    let any = |at: usize| json!({"anyOf": (0..12).map(|it| branch(at, it)).collect::<Vec<_>>()});
    (0..of).map(any).collect()
}

fn with(mut schema: Value, keyword: &str, value: Value) -> Value {
    schema[keyword] = value;
    schema
}

fn nested_items(depth: usize, leaf: &str) -> Value {
    match depth {
        0 => json!({"type": leaf}),
        _ => json!({"type": "array", "minItems": 1000, "items": nested_items(depth - 1, leaf)}),
    }
}

/// Definitions in layers of four, each of which refers to all of the next.
fn layers(keyword: &str, leaf: &Value) -> Value {
    let mut all = serde_json::Map::new();
    for layer in 0..6 {
        for at in 0..4 {
            let next: Vec<Value> = (0..4)
                .map(|it| json!({"$ref": format!("#/$defs/d{}_{it}", layer + 1)}))
                .collect();
            let schema = match keyword {
                _ if layer == 5 => leaf.clone(),
                "properties" => json!({
                    "type": "object",
                    "properties": {"p": next[0], "q": next[1], "r": next[2], "s": next[3]},
                }),
                _ => json!({keyword: next}),
            };
            all.insert(format!("d{layer}_{at}"), schema);
        }
    }
    definitions("d0_0", all)
}

/// Definitions each of which has the next one twice.
fn doubled(depth: usize, leaf: &Value) -> Value {
    let mut all = serde_json::Map::new();
    for at in 0..depth {
        let next = json!({"$ref": format!("#/$defs/e{}", at + 1)});
        all.insert(format!("e{at}"), json!({"allOf": [next.clone(), next]}));
    }
    all.insert(format!("e{depth}"), leaf.clone());
    definitions("e0", all)
}

fn members(of: usize, kind: &str, required: bool) -> Value {
    let names: Vec<String> = (0..of).map(|it| format!("p{it}")).collect();
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|it| (it.clone(), json!({"type": kind})))
        .collect();
    let schema = json!({"type": "object", "properties": properties});
    if required {
        with(schema, "required", json!(names))
    } else {
        schema
    }
}

fn long_texts(stem: &str) -> Value {
    let properties: serde_json::Map<String, Value> = (0..20)
        .map(|it| {
            let text = format!("{stem} long text {it} ").repeat(60);
            (
                format!("{stem}{it:02}"),
                json!({"type": "string", "description": text}),
            )
        })
        .collect();
    json!({"type": "object", "properties": properties})
}

/// Branches distinguished by a constant.
fn tagged(stem: &str) -> Value {
    let branch = |at: usize| {
        let other = format!("{stem}x{at}");
        json!({"type": "object", "properties": {"k": {"const": format!("{stem}{at}")}}, "required": ["k", other]})
    };
    member(json!({"anyOf": (0..40).map(branch).collect::<Vec<_>>()}))
}

/// Branches that overlap: which of them hold has to be decided of each.
fn overlapping(from: usize) -> Value {
    let branch = |at: usize| {
        let properties: serde_json::Map<String, Value> = (at..at + 5)
            .map(|it| (format!("k{it}"), json!({"type": "string"})))
            .collect();
        json!({"type": "object", "properties": properties})
    };
    member(json!({"oneOf": (from..30).map(branch).collect::<Vec<_>>()}))
}

fn rows() -> Vec<(&'static str, Value, Value)> {
    let look_ahead = json!({"type": "string", "pattern": "^(?=q)q$", "allOf": choices(6, |_, _| json!({"minLength": 0}))});
    let strings = json!({"type": "string", "allOf": choices(12, |_, it| json!({"minLength": it}))});
    let objects = json!({"type": "object", "allOf": choices(12, |at, it| {
        let name = format!("p{at}_{it}");
        json!({"properties": {name.clone(): {"type": "string"}}, "required": [name]})
    })});
    let values = |of: usize| -> Vec<Value> {
        (0..of)
            .map(|it| json!({"k": it, "v": format!("x{it}")}))
            .collect()
    };
    let reversed = |mut list: Vec<Value>| -> Vec<Value> {
        list.reverse();
        list
    };
    let whole: Vec<Value> = (0..5_000).map(|it| json!(it)).collect();
    let names: Vec<Value> = (0..5_000).map(|it| json!(format!("n{it}"))).collect();
    let dependent =
        |names: Vec<Value>| json!({"type": "object", "dependentRequired": {"a": names}});
    let item = members(50, "string", true);
    let items = |least: usize| json!({"type": "array", "minItems": least, "items": item});
    vec![
        (
            "a look-ahead beside allOf of 6 × anyOf of 12",
            member(look_ahead.clone()),
            member(with(look_ahead, "maxLength", json!(9))),
        ),
        (
            "strings: allOf of 12 × anyOf of 12",
            member(strings.clone()),
            member(with(strings, "maxLength", json!(9))),
        ),
        (
            "objects: allOf of 12 × anyOf of 12",
            member(objects.clone()),
            member(with(objects, "maxProperties", json!(3))),
        ),
        (
            "enum of 2,000 objects, in another order and one less",
            member(json!({"enum": values(2_000)})),
            member(json!({"enum": reversed(values(1_999))})),
        ),
        (
            "enum of 10,000 objects in another order",
            member(json!({"enum": values(10_000)})),
            member(json!({"enum": reversed(values(10_000))})),
        ),
        (
            "enum of 5,000 integers",
            member(json!({"enum": whole})),
            member(json!({"enum": reversed(whole[1..].to_vec())})),
        ),
        (
            "type with 5,000 names",
            member(json!({"type": names})),
            member(json!({"type": reversed(names[1..].to_vec())})),
        ),
        (
            "dependentRequired with 5,000 names",
            member(dependent(names.clone())),
            member(dependent(reversed(names[1..].to_vec()))),
        ),
        (
            "minItems 1,500 of objects with 50 members",
            member(items(1_500)),
            member(items(1_501)),
        ),
        (
            "minItems 1,000, four times inside each other",
            member(nested_items(4, "string")),
            member(nested_items(4, "integer")),
        ),
        (
            "20 × 20 renames with long texts",
            long_texts("alpha"),
            long_texts("beta"),
        ),
        (
            "allOf twice, 30 deep",
            doubled(30, &json!({"type": "string"})),
            doubled(30, &json!({"type": "string", "maxLength": 5})),
        ),
        (
            "definitions 4 wide and 6 deep",
            layers("properties", &json!({"type": "string"})),
            layers("properties", &json!({"type": "integer"})),
        ),
        (
            "anyOf 4 wide and 6 deep",
            layers("anyOf", &json!({"type": "string", "minLength": 1})),
            layers("anyOf", &json!({"type": "string", "minLength": 2})),
        ),
        (
            "oneOf 4 wide and 6 deep",
            layers("oneOf", &json!({"type": "string", "minLength": 1})),
            layers("oneOf", &json!({"type": "string", "minLength": 2})),
        ),
        ("40 tagged branches", tagged("o"), tagged("n")),
        ("overlapping branches", overlapping(0), overlapping(1)),
        (
            "200 required members of another type",
            members(200, "string", true),
            members(200, "integer", true),
        ),
        (
            "1,500 members, one of another type",
            members(1_500, "string", true),
            with(members(1_500, "string", true), "properties", {
                let mut edited = members(1_500, "string", true)["properties"].clone();
                edited["p0"] = json!({"type": "integer"});
                edited
            }),
        ),
    ]
}

#[test]
fn no_pair_takes_more_than_its_budget() {
    let mut taken = Vec::new();
    for (name, old, new) in rows() {
        let (old, new) = (read(&old), read(&new));
        for side in [Side::Input, Side::Output] {
            let work = Work::for_one_of(1);
            let found = compare_within(&old, &new, side, &work);
            assert!(!found.changes.is_empty(), "{name}");
            for proof in found.changes.iter().filter_map(|it| it.proof.as_ref()) {
                if let Proof::Witness(witness) = proof {
                    assert!(to_compact(witness).len() < WITNESS, "{name}");
                }
            }
            taken.push((name, side, work.taken()));
        }
    }
    let over: Vec<_> = taken.iter().filter(|it| it.2 > PER_PAIR).collect();
    assert!(over.is_empty(), "{over:?}");
    // What is cheap stays cheap.
    for cheap in [
        "a look-ahead beside allOf of 6 × anyOf of 12",
        "enum of 10,000 objects in another order",
        "minItems 1,000, four times inside each other",
        "20 × 20 renames with long texts",
        "allOf twice, 30 deep",
    ] {
        let most = taken.iter().filter(|it| it.0 == cheap).map(|it| it.2).max();
        assert!(most < Some(30_000), "{cheap}: {most:?}");
    }
}

/// What is read before the first step is bounded too: the size of a file is not, as far as one schema is concerned.
#[test]
fn schemas_with_too_many_values_are_undecided_at_once() {
    let of = |values: std::ops::Range<u32>| {
        let values: Vec<u32> = values.collect();
        read(&member(json!({"enum": values, "description": "new"})))
    };
    for side in [Side::Input, Side::Output] {
        let work = Work::for_one_of(1);
        let found = compare_within(&of(0..60_000), &of(1..60_000), side, &work);
        assert_eq!(work.taken(), 0);
        assert!(matches!(found.verdict, Proof::Undecided(_)), "{side:?}");
        let [change] = &found.changes[..] else {
            panic!("{} changes", found.changes.len());
        };
        assert!(matches!(change.proof, Some(Proof::Undecided(_))));
        // A text in it may be new, and nothing says where.
        assert_eq!(
            (change.level, change.exposure),
            (Level::Risky, Exposure::High)
        );
        let verdict = verdict_within(&of(0..60_000), &of(1..60_000), side, &work);
        assert!(matches!(verdict, Proof::Undecided(_)));
        // The same values are the same, however many there are.
        let found = compare_within(&of(0..60_000), &of(0..60_000), side, &work);
        assert_eq!(found.verdict, Proof::Subsumed);
    }
}

#[test]
fn the_pairs_of_a_server_share_its_steps() {
    let (old, new) = (read(&overlapping(0)), read(&overlapping(1)));
    // As one of many: it has the least that a server can have.
    let alone = Work::for_one_of(1_000);
    let found = compare_within(&old, &new, Side::Input, &alone);
    assert!(matches!(found.verdict, Proof::Undecided(_)), "{found:?}");
    let shared = Work::for_one_of(1_000);
    for _ in 0..12 {
        compare_within(&old, &new, Side::Input, &shared);
    }
    assert!(
        shared.taken() < 4 * alone.taken(),
        "{} of {}",
        shared.taken(),
        alone.taken()
    );
    // Where nothing is left, nothing is safe.
    let found = compare_within(
        &read(&member(json!({"type": "string", "maxLength": 9}))),
        &read(&member(json!({"type": "string", "maxLength": 3}))),
        Side::Input,
        &shared,
    );
    assert!(!matches!(found.verdict, Proof::Subsumed), "{found:?}");
}

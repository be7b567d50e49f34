//! Pairs of schemas that are likely to differ in an interesting way, and instances that are likely
//! to show it.
//!
//! Choices come from a seed or from a fuzzer's bytes.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// A source of choices: bytes while there are any, then SplitMix64, which is small and portable.
pub(crate) struct Choices<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Choices<'a> {
    pub(crate) fn from_seed(state: u64) -> Self {
        Self { bytes: &[], state }
    }

    /// From a fuzzer's input: each choice is a byte, so that a small change of the input is a small
    /// change of the pair.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Self {
        let state = bytes.len() as u64;
        Self { bytes, state }
    }

    fn next(&mut self) -> u64 {
        if let Some((first, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            return u64::from(*first);
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("small")
    }

    /// True in this many cases of a hundred.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

const NAMES: &[&str] = &["city", "units", "limit", "path", "filter", "tag"];
const WORDS: &[&str] = &["a", "b", "Oslo", "metric", "AB-1", "hello world", ""];
const PATTERNS: &[&str] = &[
    "^[a-z]+$",
    "^[A-Z]+-[0-9]+$",
    "^[a-zA-Z]*$",
    "o",
    "^.{1,3}$",
];

fn scalar(rng: &mut Choices<'_>) -> Value {
    match rng.below(6) {
        0 => json!(rng.below(8)),
        1 => json!(rng.below(8) as f64 + 0.5),
        2 => Value::Null,
        3 => json!(rng.chance(50)),
        _ => json!(rng.pick(WORDS)),
    }
}

fn schema(rng: &mut Choices<'_>, depth: usize) -> Value {
    let shallow = depth == 0;
    match rng.below(if shallow { 7 } else { 15 }) {
        0 => json!({"type": "string"}),
        1 => {
            let mut it = json!({"type": "string"});
            if rng.chance(40) {
                it["minLength"] = json!(rng.below(4));
            }
            if rng.chance(40) {
                it["maxLength"] = json!(rng.below(8));
            }
            if rng.chance(40) {
                it["pattern"] = json!(rng.pick(PATTERNS));
            }
            it
        }
        2 => numeric(rng),
        3 => json!({"enum": (0..=rng.below(3)).map(|_| scalar(rng)).collect::<Vec<_>>()}),
        4 => json!({"type": *rng.pick(&["boolean", "null", "integer", "number"])}),
        5 => {
            let kinds = [
                "string", "integer", "null", "boolean", "number", "object", "array",
            ];
            let (one, other) = (*rng.pick(&kinds), *rng.pick(&kinds));
            if one == other {
                json!({"type": one})
            } else {
                json!({"type": [one, other]})
            }
        }
        6 => {
            if rng.chance(30) {
                json!({})
            } else {
                json!({"const": scalar(rng)})
            }
        }
        7 => {
            let mut it = json!({"type": "array", "items": schema(rng, depth - 1)});
            if rng.chance(30) {
                it["minItems"] = json!(rng.below(3));
            }
            if rng.chance(30) {
                it["maxItems"] = json!(1 + rng.below(3));
            }
            if rng.chance(15) {
                it["uniqueItems"] = json!(true);
            }
            if rng.chance(15) {
                it["prefixItems"] = json!([schema(rng, depth - 1)]);
            }
            if rng.chance(10) {
                it["contains"] = schema(rng, 0);
            }
            it
        }
        8 | 9 => {
            json!({"anyOf": (0..2 + rng.below(2)).map(|_| schema(rng, depth - 1)).collect::<Vec<_>>()})
        }
        10 => {
            json!({"oneOf": (0..2 + rng.below(2)).map(|_| schema(rng, depth - 1)).collect::<Vec<_>>()})
        }
        11 => {
            let mut it = schema(rng, depth - 1);
            let extra = schema(rng, depth - 1);
            if let Some(map) = it.as_object_mut() {
                match rng.below(3) {
                    0 => map.insert("allOf".into(), json!([extra])),
                    1 => map.insert("not".into(), schema(rng, 0)),
                    _ => {
                        map.insert("if".into(), schema(rng, 0));
                        map.insert("then".into(), extra)
                    }
                };
            }
            it
        }
        12 => json!({"$ref": "#/$defs/Shared"}),
        _ => object(rng, depth - 1),
    }
}

fn numeric(rng: &mut Choices<'_>) -> Value {
    let mut it = json!({"type": *rng.pick(&["integer", "number"])});
    for keyword in ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"] {
        if rng.chance(25) {
            let low = keyword.ends_with("inimum");
            let value = rng.below(5) + if low { 0 } else { 5 };
            it[keyword] = if rng.chance(20) {
                json!(value as f64 + 0.5)
            } else {
                json!(value)
            };
        }
    }
    if rng.chance(15) {
        it["multipleOf"] = json!(1 + rng.below(3));
    }
    it
}

fn object(rng: &mut Choices<'_>, depth: usize) -> Value {
    let mut properties = Map::new();
    for name in NAMES {
        if rng.chance(35) {
            properties.insert((*name).into(), schema(rng, depth));
        }
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    let mut it = json!({"type": "object", "properties": properties});
    let required: Vec<&String> = names.iter().filter(|_| rng.chance(40)).collect();
    if !required.is_empty() {
        it["required"] = json!(required);
    }
    match rng.below(8) {
        0 | 1 => it["additionalProperties"] = json!(false),
        2 => it["additionalProperties"] = schema(rng, 0),
        3 => it["additionalProperties"] = json!(true),
        _ => {}
    }
    if rng.chance(6) {
        it["minProperties"] = json!(rng.below(3));
    }
    if rng.chance(6) {
        it["maxProperties"] = json!(1 + rng.below(3));
    }
    if rng.chance(5) {
        it["propertyNames"] = json!({"pattern": "^[a-z]+$"});
    }
    if rng.chance(5) {
        it["patternProperties"] = json!({"^t": schema(rng, 0)});
    }
    if rng.chance(5) && names.len() > 1 {
        it["dependentRequired"] = json!({names[0].clone(): [names[1]]});
    }
    if rng.chance(4) {
        it["unevaluatedProperties"] = json!(false);
    }
    if rng.chance(8) {
        // Without declared members an object is a free-form map.
        it.as_object_mut().expect("an object").remove("properties");
        it.as_object_mut().expect("an object").remove("required");
    }
    it
}

/// The input schema of a tool.
pub(crate) fn tool(rng: &mut Choices<'_>) -> Value {
    let mut root = object(rng, 3);
    let shared = match rng.below(3) {
        0 => {
            json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/Shared"}, "tag": schema(rng, 0)}})
        }
        1 => schema(rng, 0),
        _ => {
            let mut it = object(rng, 1);
            if let Some(map) = it.as_object_mut() {
                map.insert("title".into(), json!("Shared"));
            }
            it
        }
    };
    root["$defs"] = json!({"Shared": shared});
    root
}

/// One edit somewhere inside.
pub(crate) fn mutate(rng: &mut Choices<'_>, node: &mut Value, depth: usize) {
    let Some(map) = node.as_object_mut() else {
        *node = schema(rng, 0);
        return;
    };
    let inner: Vec<String> = [
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$defs",
        "additionalProperties",
    ]
    .iter()
    .filter(|it| {
        map.get(**it)
            .is_some_and(|it| it.is_object() || it.is_array())
    })
    .map(|it| (*it).to_owned())
    .collect();
    if !inner.is_empty() && rng.chance(60) && depth < 6 {
        let keyword = rng.pick(&inner).clone();
        match map.get_mut(&keyword) {
            Some(Value::Array(list)) if !list.is_empty() => {
                let at = rng.below(list.len());
                if rng.chance(25) {
                    if rng.chance(50) && list.len() > 1 {
                        list.remove(at);
                    } else {
                        list.push(schema(rng, 1));
                    }
                } else {
                    mutate(rng, &mut list[at], depth + 1);
                }
            }
            Some(Value::Object(children)) if keyword == "properties" || keyword == "$defs" => {
                let names: Vec<String> = children.keys().cloned().collect();
                if keyword == "properties" && (names.is_empty() || rng.chance(35)) {
                    if rng.chance(50) && !names.is_empty() {
                        children.remove(rng.pick(&names));
                    } else {
                        children.insert((*rng.pick(NAMES)).into(), schema(rng, 1));
                    }
                } else if let Some(name) = names.get(rng.below(names.len().max(1))) {
                    mutate(rng, &mut children[name], depth + 1);
                }
            }
            Some(child) => mutate(rng, child, depth + 1),
            None => {}
        }
        return;
    }
    match rng.below(9) {
        0 => {
            map.insert("required".into(), json!([rng.pick(NAMES)]));
            map.entry("type").or_insert(json!("object"));
        }
        1 => {
            map.remove("required");
        }
        2 => {
            map.insert("additionalProperties".into(), json!(rng.chance(50)));
        }
        3 => {
            map.remove("additionalProperties");
        }
        4 => {
            map.insert("description".into(), json!("another text"));
        }
        5 => {
            let keys: Vec<String> = map
                .keys()
                .filter(|it| !["$defs", "properties", "$ref"].contains(&it.as_str()))
                .cloned()
                .collect();
            if !keys.is_empty() {
                map.remove(rng.pick(&keys));
            }
        }
        6 => {
            for keyword in ["minimum", "maximum", "maxLength", "minLength", "maxItems"] {
                if let Some(value) = map.get(keyword).and_then(Value::as_u64) {
                    let moved = if rng.chance(50) {
                        value + 1
                    } else {
                        value.saturating_sub(1)
                    };
                    map.insert(keyword.into(), json!(moved));
                }
            }
        }
        7 => {
            if let Some(Value::Array(list)) = map.get_mut("enum") {
                list.push(scalar(rng));
            } else {
                map.insert("enum".into(), json!([scalar(rng), scalar(rng)]));
            }
        }
        _ => {
            let fresh = schema(rng, 1);
            if depth > 0 {
                *node = fresh;
            }
        }
    }
}

/// A value with a fair chance under either schema.
pub(crate) fn instance(rng: &mut Choices<'_>, root: &Value, node: &Value, depth: usize) -> Value {
    if depth > 5 || rng.chance(6) {
        return scalar(rng);
    }
    let Some(map) = node.as_object() else {
        return scalar(rng);
    };
    if map.contains_key("$ref") {
        return instance(rng, root, &root["$defs"]["Shared"], depth + 1);
    }
    if let Some(value) = map.get("const") {
        return value.clone();
    }
    if let Some(Value::Array(values)) = map.get("enum")
        && !values.is_empty()
    {
        return rng.pick(values).clone();
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(branches)) = map.get(keyword)
            && !branches.is_empty()
            && (rng.chance(80) || map.len() == 1)
        {
            let branch = rng.pick(branches).clone();
            return instance(rng, root, &branch, depth + 1);
        }
    }
    let kind = match map.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => rng.pick(kinds).as_str().unwrap_or("null").to_owned(),
        _ if map.contains_key("properties") => "object".to_owned(),
        _ => return scalar(rng),
    };
    match kind.as_str() {
        "object" => {
            let mut out = Map::new();
            let empty = Map::new();
            let properties = map
                .get("properties")
                .and_then(Value::as_object)
                .unwrap_or(&empty);
            for (name, inner) in properties {
                let required = map
                    .get("required")
                    .and_then(Value::as_array)
                    .is_some_and(|it| it.contains(&json!(name)));
                if required || rng.chance(45) {
                    out.insert(name.clone(), instance(rng, root, inner, depth + 1));
                }
            }
            if rng.chance(15) {
                let inner = map
                    .get("additionalProperties")
                    .cloned()
                    .unwrap_or(json!({}));
                out.insert(
                    (*rng.pick(NAMES)).into(),
                    instance(rng, root, &inner, depth + 1),
                );
            }
            Value::Object(out)
        }
        "array" => {
            let inner = map.get("items").cloned().unwrap_or(json!({}));
            Value::Array(
                (0..rng.below(4))
                    .map(|_| instance(rng, root, &inner, depth + 1))
                    .collect(),
            )
        }
        "integer" => json!(rng.below(12)),
        "number" => json!(rng.below(12) as f64 / 2.0),
        "boolean" => json!(rng.chance(50)),
        "null" => Value::Null,
        _ => json!(rng.pick(WORDS)),
    }
}

/// The protocol's interpretation, implemented a second time and more simply: a level that declares
/// members is closed. Where schemas are composed this closes too much, which makes the oracle
/// weaker but never wrong.
pub(crate) fn close(node: &mut Value, root: bool) {
    let Some(map) = node.as_object_mut() else {
        return;
    };
    for keyword in ["properties", "$defs", "patternProperties"] {
        if let Some(Value::Object(children)) = map.get_mut(keyword) {
            children.values_mut().for_each(|it| close(it, false));
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(child) = map.get_mut(keyword) {
            close(child, false);
        }
    }
    for keyword in ["anyOf", "oneOf", "prefixItems"] {
        if let Some(Value::Array(children)) = map.get_mut(keyword) {
            children.iter_mut().for_each(|it| close(it, false));
        }
    }
    let declares = map
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|it| root || !it.is_empty());
    let open = match map.get("additionalProperties") {
        None | Some(Value::Bool(true)) => true,
        Some(Value::Object(it)) => it.is_empty(),
        _ => false,
    };
    if declares && open && !map.contains_key("unevaluatedProperties") {
        map.insert("additionalProperties".into(), json!(false));
    }
}

/// The real validator, offline, as in `schema::validator`.
pub(crate) fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(false)
        .offline()
        .build(schema)
        .ok()
}

/// An old and a new schema: mostly the same, edited one to three times.
pub(crate) fn pair(rng: &mut Choices<'_>) -> (Value, Value) {
    let old = tool(rng);
    let mut new = if rng.chance(10) {
        tool(rng)
    } else {
        old.clone()
    };
    for _ in 0..1 + rng.below(3) {
        mutate(rng, &mut new, 0);
    }
    (old, new)
}

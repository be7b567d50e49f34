//! Whether a document is a valid schema in its dialect: what a client checks before it accepts a
//! tool.
//!
//! The metaschemas are the validator's own. Nothing is compared and nothing is fetched.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use url::Url;

use crate::canonical::{Json, pointer};
use json_schema_subsume::document::{Draft, each_schema_at, percent_decoded};
use json_schema_subsume::keywords::{Holds, holds};
use json_schema_subsume::value::to_value;

/// Which dialect applies to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The one in `$schema`; without it 2020-12, as in the protocol since 2025-11-25.
    Declared,
    /// The one in `$schema`; without it the one whose forms it uses.
    DeclaredOrGuessed,
    /// 2020-12, whatever `$schema` says.
    Y2020,
}

/// The first place where a schema is not valid in its dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    pub(crate) pointer: String,
    /// The usual name of the dialect.
    pub(crate) dialect: &'static str,
}

/// Where a schema is not valid in its dialect. An unknown dialect is not checked.
pub(crate) fn invalid(schema: &Json, dialect: Dialect) -> Option<Invalid> {
    let draft = match (dialect, schema.get("$schema")) {
        (Dialect::Y2020, _) | (Dialect::Declared, None) => Draft::Y2020,
        (_, Some(Json::String(name))) if named(name.as_str()?).is_none() => return None,
        _ => Draft::of(schema),
    };
    if matches!(draft, Draft::Seven | Draft::Y2019 | Draft::Y2020) && is_plain(schema, true) {
        return None;
    }
    let converted = to_value(schema)?;
    let mut value = converted.value;
    if let Some(root) = value.as_object_mut() {
        // It would select the metaschema, which is already selected.
        root.remove("$schema");
    }
    let (dialect, outcome) = match draft {
        Draft::Four => ("draft-04", jsonschema::draft4::meta::validate(&value)),
        Draft::Six => ("draft-06", jsonschema::draft6::meta::validate(&value)),
        Draft::Seven => ("draft-07", jsonschema::draft7::meta::validate(&value)),
        Draft::Y2019 => ("2019-09", jsonschema::draft201909::meta::validate(&value)),
        Draft::Y2020 => ("2020-12", jsonschema::draft202012::meta::validate(&value)),
    };
    let pointer = outcome.err()?.instance_path().to_string();
    Some(Invalid { pointer, dialect })
}

/// Whether a schema has only keywords that most tools use, with values that the metaschemas since draft-07
/// accept: it is valid. Of any other schema this says nothing, and the metaschema decides, which takes far
/// longer than everything else that is done with a tool that did not change. A test compares the two.
fn is_plain(schema: &Json, is_root: bool) -> bool {
    let Json::Object(members) = schema else {
        return matches!(schema, Json::Bool(_));
    };
    let inside = |value: &Json| is_plain(value, false);
    members.iter().all(|(keyword, value)| {
        let Some(keyword) = keyword.as_str() else {
            return false;
        };
        match (keyword, value) {
            ("type", Json::String(name)) => {
                let name = name.as_str();
                name.is_some_and(|name| TYPES.contains(&name))
            }
            ("title" | "description" | "format" | "$comment", Json::String(_))
            | ("uniqueItems" | "deprecated" | "readOnly" | "writeOnly", Json::Bool(_))
            | ("enum" | "examples", Json::Array(_))
            | ("const" | "default", _)
            | (
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum",
                Json::Number(_),
            ) => true,
            // Which metaschema applies is known.
            ("$schema", Json::String(_)) => is_root,
            (
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                | "maxProperties",
                Json::Number(number),
            ) => {
                let literal = number.literal();
                literal.len() < 16 && literal.bytes().all(|digit| digit.is_ascii_digit())
            }
            ("required", Json::Array(names)) => {
                names.len() <= MOST_REQUIRED
                    && names.iter().enumerate().all(|(at, name)| {
                        matches!(name, Json::String(_)) && !names[..at].contains(name)
                    })
            }
            ("properties" | "$defs" | "definitions", Json::Object(schemas)) => {
                schemas.iter().all(|(_, schema)| inside(schema))
            }
            ("items" | "additionalProperties", schema) => inside(schema),
            ("anyOf" | "oneOf" | "allOf", Json::Array(schemas)) => {
                !schemas.is_empty() && schemas.iter().all(inside)
            }
            _ => false,
        }
    })
}

const TYPES: [&str; 7] = [
    "string", "object", "integer", "number", "boolean", "array", "null",
];

/// Up to this many names, comparing each with each is cheap.
const MOST_REQUIRED: usize = 32;

/// The dialects, each with its usual name and its address without the scheme.
const DIALECTS: [(&str, &str); 5] = [
    ("draft-04", "json-schema.org/draft-04/schema"),
    ("draft-06", "json-schema.org/draft-06/schema"),
    ("draft-07", "json-schema.org/draft-07/schema"),
    ("2019-09", "json-schema.org/draft/2019-09/schema"),
    ("2020-12", "json-schema.org/draft/2020-12/schema"),
];

/// The usual name of the dialect with this address.
fn named(dialect: &str) -> Option<&'static str> {
    let without_fragment = dialect.trim_end_matches('#');
    let address = without_fragment
        .strip_prefix("https://")
        .or_else(|| without_fragment.strip_prefix("http://"))?;
    let mut dialects = DIALECTS.iter();
    dialects
        .find(|(_, known)| *known == address)
        .map(|(name, _)| *name)
}

/// The dialect that a schema declares, by its usual name.
pub(crate) fn declared(schema: &Json) -> Option<&'static str> {
    named(schema.get("$schema")?.as_str()?)
}

/// The address of a dialect that a schema declares and no one knows.
pub(crate) fn unknown(schema: &Json) -> Option<&str> {
    let dialect = schema.get("$schema")?.as_str()?;
    named(dialect).is_none().then_some(dialect)
}

/// At most this many references are reported: a hostile schema can have very long pointers to very many.
const MOST_REFERENCES: usize = 20;

/// The first references that lead out of a schema, each with its place.
pub(crate) fn external_references(schema: &Json) -> Vec<(String, String)> {
    // Nearly no schema has one.
    if !has_reference(schema, &|to: &str| !to.starts_with('#')) {
        return Vec::new();
    }
    let places = Places::of(schema);
    let mut found = Vec::new();
    for place in &places.all {
        for (keyword, to) in references(place.node) {
            let is_outside = matches!(places.target(place, to), Target::Outside);
            if is_outside && found.len() < MOST_REFERENCES {
                found.push((format!("{}/{keyword}", place.at), to.to_owned()));
            }
        }
    }
    found
}

/// The first references without a target, each with its place. A definition that nothing uses is
/// not looked at: no validator follows it.
pub(crate) fn unresolved_references(schema: &Json) -> Vec<(String, String)> {
    if !has_reference(schema, &|to: &str| to != "#") {
        return Vec::new();
    }
    let places = Places::of(schema);
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut queue = vec![schema];
    while let Some(node) = queue.pop() {
        if !seen.insert(std::ptr::from_ref(node)) {
            continue;
        }
        each_child(node, &mut |keyword, _, child| {
            if !matches!(keyword, "$defs" | "definitions") {
                queue.push(child);
            }
        });
        let Some(place) = places.place_of(node) else {
            continue;
        };
        for (keyword, to) in references(node) {
            match places.target(place, to) {
                Target::Schema(target) => queue.push(target),
                Target::Nowhere => found.push((format!("{}/{keyword}", place.at), to.to_owned())),
                Target::Outside => {}
            }
        }
    }
    found.sort();
    found.truncate(MOST_REFERENCES);
    found
}

/// The regular expressions that a validator of a schema compiles, each with its place.
pub(crate) fn patterns(schema: &Json) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    each_schema_at(schema, &mut String::new(), &mut |node, at| {
        if let Some(pattern) = node.get("pattern").and_then(Json::as_str) {
            found.push((format!("{at}/pattern"), pattern));
        }
    });
    found
}

/// The references of one schema, with their keywords.
fn references(node: &Json) -> impl Iterator<Item = (&'static str, &str)> {
    let keywords = ["$ref", "$dynamicRef"].into_iter();
    keywords.filter_map(|keyword| Some((keyword, node.get(keyword)?.as_str()?)))
}

/// Whether there is such a reference, or what looks like one: a quick look at everything, which most schemas do not pass.
fn has_reference(value: &Json, wanted: &impl Fn(&str) -> bool) -> bool {
    match value {
        Json::Array(items) => items.iter().any(|item| has_reference(item, wanted)),
        Json::Object(members) => members.iter().any(|(name, value)| {
            let to = value
                .as_str()
                .filter(|_| name == "$ref" || name == "$dynamicRef");
            to.is_some_and(wanted) || has_reference(value, wanted)
        }),
        _ => false,
    }
}

/// Calls `visit` with each schema directly inside a schema: the keyword, and the name or index under it.
fn each_child<'a>(node: &'a Json, visit: &mut impl FnMut(&str, Option<&str>, &'a Json)) {
    for (keyword, value) in node
        .as_object()
        .into_iter()
        .flat_map(|object| object.iter())
    {
        let Some(keyword) = keyword.as_str() else {
            continue;
        };
        match (holds(keyword, value), value) {
            (Some(Holds::One), schema) => visit(keyword, None, schema),
            (Some(Holds::List), Json::Array(list)) => {
                for (index, schema) in list.iter().enumerate() {
                    visit(keyword, Some(&index.to_string()), schema);
                }
            }
            (Some(Holds::Map), Json::Object(map)) => {
                for (name, schema) in map.iter() {
                    visit(keyword, Some(name.to_string_lossy()), schema);
                }
            }
            _ => {}
        }
    }
}

/// A schema inside a document.
struct Place<'a> {
    node: &'a Json,
    at: String,
    /// What its references are relative to.
    base: Rc<Url>,
}

/// Where a reference leads.
enum Target<'a> {
    Schema(&'a Json),
    /// Into the document, where nothing is.
    Nowhere,
    /// To another document.
    Outside,
}

/// The schemas of a document, by their addresses.
struct Places<'a> {
    all: Vec<Place<'a>>,
    by_node: HashMap<*const Json, usize>,
    /// Schemas with an address of their own (`$id`), and the root.
    addressed: HashMap<String, &'a Json>,
    anchors: HashMap<(String, &'a str), &'a Json>,
    draft: Draft,
}

/// The address of a document without one. It only serves to compare relative addresses.
const NO_ADDRESS: &str = "https://schema.invalid/";

impl<'a> Places<'a> {
    fn of(root: &'a Json) -> Self {
        let mut places = Self {
            all: Vec::new(),
            by_node: HashMap::new(),
            addressed: HashMap::from([(NO_ADDRESS.to_owned(), root)]),
            anchors: HashMap::new(),
            draft: Draft::of(root),
        };
        if let Ok(base) = Url::parse(NO_ADDRESS) {
            places.add(root, String::new(), &Rc::new(base));
        }
        places
    }

    fn add(&mut self, node: &'a Json, at: String, base: &Rc<Url>) {
        if !matches!(node, Json::Object(_) | Json::Bool(_)) {
            return;
        }
        let text = |keyword| node.get(keyword).and_then(Json::as_str);
        let mut base = Rc::clone(base);
        for keyword in ["$id", "id"] {
            let Some(address) = text(keyword) else {
                continue;
            };
            // Up to draft 7 an address that is only a fragment is an anchor.
            if let Some(name) = address.strip_prefix('#') {
                self.anchors.insert((base.to_string(), name), node);
                continue;
            }
            if let Ok(mut own) = base.join(address) {
                own.set_fragment(None);
                self.addressed.insert(own.to_string(), node);
                // Elsewhere `id` is no keyword, though some authors mean one.
                if keyword == "$id" || self.draft == Draft::Four {
                    base = Rc::new(own);
                }
            }
        }
        for name in [text("$anchor"), text("$dynamicAnchor")]
            .into_iter()
            .flatten()
        {
            self.anchors.insert((base.to_string(), name), node);
        }
        let mut children = Vec::new();
        each_child(node, &mut |keyword, name, child| {
            let mut place = pointer::join(&at, keyword);
            if let Some(name) = name {
                pointer::push(&mut place, name);
            }
            children.push((child, place));
        });
        self.by_node
            .insert(std::ptr::from_ref(node), self.all.len());
        self.all.push(Place {
            node,
            at,
            base: Rc::clone(&base),
        });
        for (child, place) in children {
            self.add(child, place, &base);
        }
    }

    fn place_of(&self, node: &Json) -> Option<&Place<'a>> {
        let index = self.by_node.get(&std::ptr::from_ref(node))?;
        self.all.get(*index)
    }

    fn target(&self, from: &Place<'a>, to: &str) -> Target<'a> {
        let (address, fragment) = to.split_once('#').unwrap_or((to, ""));
        let document = if address.is_empty() {
            from.base.to_string()
        } else {
            match from.base.join(address) {
                Ok(document) => document.to_string(),
                Err(_) => return Target::Outside,
            }
        };
        let Some(root) = self.addressed.get(&document) else {
            return Target::Outside;
        };
        let fragment = percent_decoded(fragment);
        let target = if fragment.is_empty() {
            Some(*root)
        } else if fragment.starts_with('/') {
            pointer::resolve(root, &fragment)
        } else {
            let anchor = self.anchors.get(&(document, fragment.as_str()));
            anchor.copied()
        };
        target.map_or(Target::Nowhere, Target::Schema)
    }
}

/// How many schemas a schema contains, itself included, and how many are inside each other.
pub(crate) fn size(schema: &Json) -> (usize, usize) {
    fn count(node: &Json, depth: usize, found: &mut (usize, usize)) {
        found.0 += 1;
        found.1 = found.1.max(depth);
        for (keyword, value) in node
            .as_object()
            .into_iter()
            .flat_map(|object| object.iter())
        {
            let mut inside = |node: &Json| {
                if matches!(node, Json::Object(_) | Json::Bool(_)) {
                    count(node, depth + 1, found);
                }
            };
            match keyword.as_str().and_then(|keyword| holds(keyword, value)) {
                Some(Holds::One) => inside(value),
                Some(Holds::List) => value.as_array().into_iter().flatten().for_each(inside),
                Some(Holds::Map) => value
                    .as_object()
                    .into_iter()
                    .flat_map(|map| map.iter())
                    .for_each(|(_, schema)| inside(schema)),
                None => {}
            }
        }
    }
    let mut found = (0, 0);
    count(schema, 1, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    fn schema(text: &str) -> Json {
        parse_str(text).unwrap()
    }

    #[test]
    fn a_schema_is_validated_in_the_dialect_it_declares() {
        let at =
            |text: &str, dialect| invalid(&schema(text), dialect).map(|invalid| invalid.pointer);
        let declared = |text: &str| at(text, Dialect::Declared);
        let int = r#"{"type":"object","properties":{"n":{"type":"int"}}}"#;
        assert_eq!(declared(int).as_deref(), Some("/properties/n/type"));
        assert_eq!(
            declared(r#"{"required":null}"#).as_deref(),
            Some("/required")
        );
        assert_eq!(declared(r#"{"properties":{"a":true}}"#), None);
        // A form of old drafts, with and without the dialect that has it.
        let tuple = r#"{"items":[{}]}"#;
        assert_eq!(declared(tuple).as_deref(), Some("/items"));
        assert_eq!(at(tuple, Dialect::DeclaredOrGuessed), None);
        let old = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}]}"#;
        assert_eq!(declared(old), None);
        assert_eq!(at(old, Dialect::Y2020).as_deref(), Some("/items"));
        let unknown = r#"{"$schema":"https://example.com/mine","type":"int"}"#;
        assert_eq!(declared(unknown), None);
    }

    #[test]
    fn a_dialect_is_known_by_its_whole_address() {
        let with = |address: &str| schema(&format!(r#"{{"$schema":"{address}"}}"#));
        for (address, name) in [
            ("http://json-schema.org/draft-07/schema#", "draft-07"),
            ("https://json-schema.org/draft-07/schema", "draft-07"),
            ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
        ] {
            assert_eq!(super::declared(&with(address)), Some(name));
            assert_eq!(unknown(&with(address)), None);
        }
        for address in [
            "https://example.com/draft-07/schema",
            "http://json-schema.org/draft-03/schema#",
            "",
        ] {
            assert_eq!(unknown(&with(address)), Some(address));
        }
        assert_eq!(unknown(&schema("{}")), None);
    }

    #[test]
    fn what_is_plain_is_valid_in_every_dialect_that_is_not_asked() {
        // Each keyword with each value, alone and inside another schema.
        let keywords = [
            "type",
            "title",
            "description",
            "format",
            "$comment",
            "uniqueItems",
            "deprecated",
            "readOnly",
            "writeOnly",
            "enum",
            "examples",
            "const",
            "default",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "required",
            "properties",
            "$defs",
            "definitions",
            "items",
            "additionalProperties",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "if",
            "pattern",
            "multipleOf",
            "$ref",
            "$id",
            "$anchor",
            "patternProperties",
            "contains",
            "prefixItems",
            "dependencies",
            "propertyNames",
            "$schema",
            "x-other",
            "x-mcp-header",
        ];
        let values = [
            "null",
            "true",
            "0",
            "1",
            "-1",
            "1.5",
            "1e3",
            "10000000000000000000",
            "\"\"",
            "\"string\"",
            "\"int\"",
            "\"[\"",
            "[]",
            "[1]",
            "[1,1]",
            "[\"a\"]",
            "[\"a\",\"a\"]",
            "{}",
            "[{}]",
            "[true,{\"type\":\"int\"}]",
            "{\"a\":{}}",
            "{\"a\":1}",
            "{\"type\":\"int\"}",
            "{\"a\":{\"type\":\"object\"}}",
            "{\"$schema\":\"x y\"}",
            "{\"a\":{\"$schema\":\"x y\"}}",
        ];
        let mut plain = 0;
        for keyword in keywords {
            for value in values {
                let alone = format!("{{\"{keyword}\":{value}}}");
                let inside = format!("{{\"properties\":{{\"p\":{alone}}},\"items\":{alone}}}");
                for text in [alone, inside] {
                    let mut schema = schema(&text);
                    if !is_plain(&schema, true) {
                        continue;
                    }
                    plain += 1;
                    if let Json::Object(root) = &mut schema {
                        root.retain(|name, _| name != "$schema");
                    }
                    let value = to_value(&schema).unwrap().value;
                    assert!(jsonschema::draft7::meta::is_valid(&value), "{text}");
                    assert!(jsonschema::draft201909::meta::is_valid(&value), "{text}");
                    assert!(jsonschema::draft202012::meta::is_valid(&value), "{text}");
                }
            }
        }
        assert!(plain > 200, "{plain}");
    }

    #[test]
    fn a_reference_is_resolved_against_the_address_of_its_schema() {
        let outside = |text: &str| !external_references(&schema(text)).is_empty();
        let with = |id: &str, to: &str| format!(r#"{{"$id":"{id}","items":{{"$ref":"{to}"}}}}"#);
        let id = "https://x.example/my-tool";
        // Only the end of the address.
        assert!(outside(&with(id, "tool")));
        assert!(outside(&with("my-tool", "tool")));
        assert!(outside(r#"{"items":{"$ref":"tool"}}"#));
        assert!(!outside(&with(id, "my-tool")));
        assert!(!outside(&with(id, "/my-tool#")));
        assert!(!outside(&with(id, id)));
        assert!(!outside(
            r#"{"$id":"https://x.example/a/","items":{"$ref":"b"},"$defs":{"b":{"$id":"b"}}}"#
        ));
        assert!(!outside(
            r#"{"items":{"$ref":"urn:x:a"},"$defs":{"b":{"$id":"urn:x:a"}}}"#
        ));
    }

    #[test]
    fn references_without_a_target_are_found_where_they_are_followed() {
        let found = |text: &str| -> Vec<String> {
            let found = unresolved_references(&schema(text)).into_iter();
            found.map(|(at, _)| at).collect()
        };
        let dangling = r##"{"properties":{"a":{"$ref":"#/$defs/Screen"}}}"##;
        assert_eq!(found(dangling), ["/properties/a/$ref"]);
        for resolved in [
            r##"{"$ref":"#"}"##,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}"##,
            r##"{"items":{"$ref":"#/properties/a%20b"},"properties":{"a b":{}}}"##,
            r##"{"items":{"$ref":"#/$defs/a~1b"},"$defs":{"a/b":{}}}"##,
            r##"{"items":{"$ref":"#here"},"$defs":{"a":{"$anchor":"here"}}}"##,
            r##"{"items":{"$ref":"#here"},"definitions":{"a":{"$id":"#here"}}}"##,
            r##"{"items":{"$dynamicRef":"#here"},"$defs":{"a":{"$dynamicAnchor":"here"}}}"##,
            r##"{"items":{"$ref":"b#/$defs/c"},"$defs":{"b":{"$id":"b","$defs":{"c":{}}}}}"##,
            r##"{"$defs":{"b":{"$id":"b","$ref":"#/$defs/c","$defs":{"c":{}}}},"items":{"$ref":"b"}}"##,
            // `id` is an annotation here.
            r##"{"items":{"id":"x","items":{"$ref":"#/$defs/c"}},"$defs":{"c":{}}}"##,
            // Nothing uses it.
            r##"{"$defs":{"a":{"$ref":"#/$defs/b"}}}"##,
            // Outside.
            r#"{"items":{"$ref":"https://a.example/b"}}"#,
        ] {
            assert!(found(resolved).is_empty(), "{resolved}");
        }
        let used = r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"}}}"##;
        assert_eq!(found(used), ["/$defs/a/$ref"]);
        assert_eq!(found(r##"{"items":{"$ref":"#there"}}"##), ["/items/$ref"]);
    }

    #[test]
    fn only_references_out_of_the_document_are_external() {
        let found = |text: &str| external_references(&schema(text));
        assert!(found(r##"{"$ref":"#/$defs/a","$defs":{"a":{}}}"##).is_empty());
        let embedded = r#"{"properties":{"a":{"$ref":"https://a.example/b"}},"$defs":{"b":{"$id":"https://a.example/b"}}}"#;
        assert!(found(embedded).is_empty());
        assert_eq!(
            found(
                r#"{"properties":{"a":{"$ref":"https://a.example/b#/c"},"$ref":{"enum":["x"]}}}"#
            ),
            [(
                "/properties/a/$ref".to_owned(),
                "https://a.example/b#/c".to_owned()
            )]
        );
    }
}

//! Whether a document is a valid schema in its dialect: what a client checks before it accepts a
//! tool.
//!
//! The metaschemas are the validator's own. Nothing is compared and nothing is fetched.

use std::collections::BTreeSet;

use super::document::{Draft, Holds, each_schema, each_schema_at, holds};
use super::validator::draft_of;
use super::value::to_value;
use crate::canonical::Json;

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

/// Compiles the metaschemas that servers use most, which the validator does on first use: to be done
/// while a server boots.
pub(crate) fn prepare() {
    let any = serde_json::Value::Bool(true);
    let _ = jsonschema::draft202012::meta::validate(&any);
    let _ = jsonschema::draft7::meta::validate(&any);
}

/// Where a schema is not valid in its dialect. An unknown dialect is not checked.
pub(crate) fn invalid(schema: &Json, dialect: Dialect) -> Option<Invalid> {
    let draft = match (dialect, schema.get("$schema")) {
        (Dialect::Y2020, _) | (Dialect::Declared, None) => Draft::Y2020,
        (_, Some(Json::String(name))) if !is_known(name.as_str()?) => return None,
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
    let outcome = match draft_of(draft) {
        jsonschema::Draft::Draft4 => jsonschema::draft4::meta::validate(&value),
        jsonschema::Draft::Draft6 => jsonschema::draft6::meta::validate(&value),
        jsonschema::Draft::Draft7 => jsonschema::draft7::meta::validate(&value),
        jsonschema::Draft::Draft201909 => jsonschema::draft201909::meta::validate(&value),
        _ => jsonschema::draft202012::meta::validate(&value),
    };
    let pointer = outcome.err()?.instance_path().to_string();
    Some(Invalid {
        pointer,
        dialect: match draft {
            Draft::Four => "draft-04",
            Draft::Six => "draft-06",
            Draft::Seven => "draft-07",
            Draft::Y2019 => "2019-09",
            Draft::Y2020 => "2020-12",
        },
    })
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
                name.is_some_and(|it| TYPES.contains(&it))
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
                literal.len() < 16 && literal.bytes().all(|it| it.is_ascii_digit())
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

fn is_known(dialect: &str) -> bool {
    ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"]
        .iter()
        .any(|mark| dialect.contains(mark))
}

/// At most this many references are reported: a hostile schema can have very long pointers to very many.
const MOST_REFERENCES: usize = 20;

/// With more addresses of its own than this, a schema is only searched for the very address of a reference.
const MOST_ADDRESSES: usize = 100;

/// The first references that lead out of a schema, each with its place.
pub(crate) fn external_references(schema: &Json) -> Vec<(String, String)> {
    // Nearly no schema has one.
    let mut leads_out = false;
    each_schema(schema, &mut |node| {
        let to = |keyword| node.get(keyword).and_then(Json::as_str);
        let to = [to("$ref"), to("$dynamicRef")].into_iter().flatten();
        leads_out |= to.into_iter().any(|it| !it.starts_with('#'));
    });
    if !leads_out {
        return Vec::new();
    }
    let mut addresses = BTreeSet::new();
    each_schema(schema, &mut |node| {
        let text = |keyword| node.get(keyword).and_then(Json::as_str);
        let address = text("$id").or(text("id"));
        addresses.extend(address.map(|it| it.trim_end_matches('#')));
    });
    // A schema inside the document with its own `$id` is not outside it.
    let is_inside = |to: &str| {
        let document = to.split('#').next().unwrap_or_default();
        let few = addresses.len() <= MOST_ADDRESSES;
        addresses.contains(document) || few && addresses.iter().any(|it| it.ends_with(document))
    };
    let mut found = Vec::new();
    each_schema_at(schema, &mut String::new(), &mut |node, at| {
        for keyword in ["$ref", "$dynamicRef"] {
            if found.len() < MOST_REFERENCES
                && let Some(to) = node.get(keyword).and_then(Json::as_str)
                && !to.starts_with('#')
                && !is_inside(to)
            {
                found.push((format!("{at}/{keyword}"), to.to_owned()));
            }
        }
    });
    found
}

/// How many schemas a schema contains, itself included, and how many are inside each other.
pub(crate) fn size(schema: &Json) -> (usize, usize) {
    fn count(node: &Json, depth: usize, found: &mut (usize, usize)) {
        found.0 += 1;
        found.1 = found.1.max(depth);
        for (keyword, value) in node.as_object().into_iter().flat_map(|it| it.iter()) {
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
                    .flat_map(|it| it.iter())
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
        let at = |text: &str, dialect| invalid(&schema(text), dialect).map(|it| it.pointer);
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

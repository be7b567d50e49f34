//! `x-mcp-header`: a parameter that HTTP clients repeat in a request header (2026-07-28).
//!
//! HTTP clients must drop every tool whose annotations break one of the rules, so its users lose
//! it. The rules are those of the transport's specification; where it is ambiguous (a `type` with
//! several words), this follows the official clients that drop the tool.

use std::collections::BTreeSet;

use exact_json::{Json, Object, pointer};

const ANNOTATION: &str = "x-mcp-header";

/// Why HTTP clients drop a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderProblem {
    /// Where in the definition.
    pub pointer: String,
    pub problem: String,
}

/// The first rule about `x-mcp-header` that a tool's definition breaks.
pub fn header_problem(definition: &Json) -> Option<HeaderProblem> {
    let schema = definition.get("inputSchema")?.as_object()?;
    // Nearly no tool has one, and keeping the place of everything would cost more than looking.
    if !mentions(schema) {
        return None;
    }
    let mut walk = Walk {
        at: "/inputSchema".to_owned(),
        seen: BTreeSet::new(),
    };
    walk.schema(schema, Place::Root).err()
}

/// Whether a member anywhere in an object has the annotation's name.
fn mentions(object: &Object) -> bool {
    fn inside(value: &Json) -> bool {
        match value {
            Json::Object(object) => mentions(object),
            Json::Array(items) => items.iter().any(inside),
            _ => false,
        }
    }
    let mut members = object.iter();
    members.any(|(name, value)| name == ANNOTATION || inside(value))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    /// Reached from the root through `properties` alone.
    Property,
    Elsewhere,
}

struct Walk {
    at: String,
    /// Header names so far, in lower case.
    seen: BTreeSet<String>,
}

type Verdict = Result<(), HeaderProblem>;

impl Walk {
    fn schema(&mut self, schema: &Object, place: Place) -> Verdict {
        if let Some(header) = schema.get(ANNOTATION) {
            self.below(ANNOTATION, |walk| walk.annotation(header, schema, place))?;
        }
        for (name, value) in schema.iter() {
            let name = name.to_string_lossy();
            self.below(name, |walk| match name {
                ANNOTATION => Ok(()),
                "properties" => walk.each(
                    value,
                    match place {
                        Place::Root | Place::Property => Place::Property,
                        Place::Elsewhere => Place::Elsewhere,
                    },
                ),
                // Maps of schemas, whose names may look like keywords.
                "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                    walk.each(value, Place::Elsewhere)
                }
                // Values, not schemas.
                "default" | "const" | "enum" | "examples" => Ok(()),
                _ => walk.value(value, Place::Elsewhere),
            })?;
        }
        Ok(())
    }

    fn each(&mut self, schemas: &Json, place: Place) -> Verdict {
        let Some(schemas) = schemas.as_object() else {
            return Ok(());
        };
        schemas.iter().try_for_each(|(name, schema)| {
            self.below(name.to_string_lossy(), |walk| walk.value(schema, place))
        })
    }

    fn value(&mut self, value: &Json, place: Place) -> Verdict {
        match value {
            Json::Object(schema) => self.schema(schema, place),
            Json::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                self.below(&index.to_string(), |walk| {
                    walk.value(item, Place::Elsewhere)
                })
            }),
            _ => Ok(()),
        }
    }

    fn annotation(&mut self, header: &Json, schema: &Object, place: Place) -> Verdict {
        let refuse = |problem: &str| {
            Err(HeaderProblem {
                pointer: self.at.clone(),
                problem: problem.to_owned(),
            })
        };
        if place != Place::Property {
            return refuse("it is not on a property reached through `properties` only");
        }
        let Some(name) = header.as_str() else {
            return refuse(&format!("it is {}, not a string", header.kind()));
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            return refuse(&format!("`{name}` is not a valid header name"));
        }
        match schema.get("type").and_then(Json::as_str) {
            Some("string" | "integer" | "boolean") => {}
            Some(other) => {
                return refuse(&format!(
                    "the parameter's type is `{other}`, not string, integer or boolean"
                ));
            }
            None => return refuse("the parameter has no single type"),
        }
        if !self.seen.insert(name.to_ascii_lowercase()) {
            return refuse(&format!(
                "another parameter already uses the header `{name}`"
            ));
        }
        Ok(())
    }

    fn below(&mut self, name: &str, walk: impl FnOnce(&mut Self) -> Verdict) -> Verdict {
        let length = self.at.len();
        pointer::push(&mut self.at, name);
        let verdict = walk(self);
        self.at.truncate(length);
        verdict
    }
}

/// `tchar` of RFC 9110.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::parse_str;

    fn problem(schema: &str) -> Option<HeaderProblem> {
        let tool = format!(r#"{{"name":"a","inputSchema":{schema}}}"#);
        header_problem(&parse_str(&tool).unwrap())
    }

    #[test]
    fn what_the_specification_allows_is_accepted() {
        let valid = [
            r#"{"type":"object"}"#,
            r#"{"properties":{"r":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N!#~"}}}"#,
            r#"{"properties":{"o":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}"#,
            // A parameter, and values, that only share the name.
            r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#,
            r#"{"properties":{"a":{"default":{"x-mcp-header":1},"enum":[{"x-mcp-header":2}]}}}"#,
            "true",
        ];
        for schema in valid {
            assert_eq!(problem(schema), None, "{schema}");
        }
    }

    #[test]
    fn each_broken_rule_is_reported_with_its_place() {
        let broken = [
            (r#"{"x-mcp-header":"A"}"#, "/inputSchema/x-mcp-header"),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
                "/inputSchema/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
                "/inputSchema/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"é"}}}"#,
                "/inputSchema/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nB: c"}}}"#,
                "/inputSchema/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#,
                "/inputSchema/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
                "/inputSchema/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"x-mcp-header":"A"}}}"#,
                "/inputSchema/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"string","x-mcp-header":"a"}}}}}"#,
                "/inputSchema/properties/b/properties/c/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#,
                "/inputSchema/properties/a/items/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}}}"#,
                "/inputSchema/properties/a/anyOf/0/x-mcp-header",
            ),
            (
                r#"{"$defs":{"default":{"type":"string","x-mcp-header":"A"}}}"#,
                "/inputSchema/$defs/default/x-mcp-header",
            ),
            (
                r#"{"if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}"#,
                "/inputSchema/if/properties/a/x-mcp-header",
            ),
        ];
        for (schema, pointer) in broken {
            assert_eq!(
                problem(schema).map(|it| it.pointer).as_deref(),
                Some(pointer),
                "{schema}"
            );
        }
    }
}

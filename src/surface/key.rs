//! The identity of a component: FastMCP's canonical key.

use crate::canonical::Json;
use crate::keyword_enum::keyword_enum;

/// The four kinds of component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Tool,
    Prompt,
    Resource,
    /// A resource template.
    Template,
}

keyword_enum!(Kind { Tool = "tool", Prompt = "prompt", Resource = "resource", Template = "template" });

impl Kind {
    /// The member that names a component of this kind.
    pub fn identity(self) -> &'static str {
        match self {
            Kind::Tool | Kind::Prompt => "name",
            Kind::Resource => "uri",
            Kind::Template => "uriTemplate",
        }
    }

    /// The member of a list answer, and of a capture, that holds the components of this kind.
    pub fn list_member(self) -> &'static str {
        match self {
            Kind::Tool => "tools",
            Kind::Prompt => "prompts",
            Kind::Resource => "resources",
            Kind::Template => "resourceTemplates",
        }
    }

    /// What people call it.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Template => "resource template",
            other => other.word(),
        }
    }

    /// The kind that a key speaks of.
    pub fn of_key(key: &str) -> Option<Self> {
        key.split_once(':')?.0.parse().ok()
    }
}

/// `tool:greet@1.0`; the `@` always stands, `tool:greet@` when the tool has no version.
///
/// FastMCP sends the version in `_meta.fastmcp.version` (before 2.14 in `_meta._fastmcp.version`). A number there
/// is written as Python's `str` would; anything else is no version.
pub fn component_key(kind: Kind, definition: &Json) -> String {
    let name = definition
        .get(kind.identity())
        .and_then(Json::as_text)
        .map_or("", |text| text.to_string_lossy());
    let version = ["fastmcp", "_fastmcp"]
        .iter()
        .find_map(|vendor| definition.get("_meta")?.get(vendor)?.get("version"));
    let version = match version {
        Some(Json::String(text)) => text.to_string_lossy().to_owned(),
        Some(Json::Number(number)) => number.to_python().unwrap_or_default(),
        _ => String::new(),
    };
    format!("{kind}:{name}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    fn key(kind: Kind, definition: &str) -> String {
        component_key(kind, &parse_str(definition).unwrap())
    }

    #[test]
    fn the_at_sign_always_stands() {
        assert_eq!(key(Kind::Tool, r#"{"name":"greet"}"#), "tool:greet@");
        assert_eq!(key(Kind::Prompt, r#"{"name":"ask"}"#), "prompt:ask@");
        assert_eq!(
            key(Kind::Resource, r#"{"uri":"a://b","name":"n"}"#),
            "resource:a://b@"
        );
        assert_eq!(
            key(Kind::Template, r#"{"uriTemplate":"a://{b}"}"#),
            "template:a://{b}@"
        );
    }

    #[test]
    fn the_version_comes_from_fastmcp_new_or_old() {
        for meta in [
            r#"{"fastmcp":{"version":"1.0"}}"#,
            r#"{"_fastmcp":{"version":"1.0"}}"#,
            r#"{"fastmcp":{"version":1.0}}"#,
        ] {
            assert_eq!(
                key(Kind::Tool, &format!(r#"{{"name":"a","_meta":{meta}}}"#)),
                "tool:a@1.0"
            );
        }
        assert_eq!(
            key(
                Kind::Tool,
                r#"{"name":"a","_meta":{"fastmcp":{"tags":[]}}}"#
            ),
            "tool:a@"
        );
    }
}

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
}

/// The key of a component, unique within a surface: `tool:greet@1.0`. The `@` is always there, `tool:greet@` when the
/// tool has no version. A component that is listed again has a number behind its key: `tool:greet@1.0#2`.
///
/// This is the only parser of keys. Keys are ordered as their texts are, so that files that are sorted by key stay as
/// they are.
#[derive(Clone)]
pub struct ComponentKey {
    kind: Kind,
    text: String,
}

impl ComponentKey {
    /// The key of a component of this kind, identity and version.
    pub fn new(kind: Kind, identity: &str, version: &str) -> Self {
        let text = format!("{kind}:{identity}@{version}");
        Self { kind, text }
    }

    /// The key of a definition.
    ///
    /// FastMCP sends the version in `_meta.fastmcp.version` (before 2.14 in `_meta._fastmcp.version`). A number there
    /// is written as Python's `str` would; anything else is no version.
    pub fn of(kind: Kind, definition: &Json) -> Self {
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
        Self::new(kind, name, &version)
    }

    /// The key of the component that is listed under this key for the `number`th time.
    pub fn repeated(&self, number: usize) -> Self {
        Self {
            kind: self.kind,
            text: format!("{self}#{number}"),
        }
    }

    /// Whether it is another key, or that key with a number behind it.
    pub fn is_repeated_from(&self, first: &Self) -> bool {
        let rest = self.text.strip_prefix(&first.text);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    }

    /// Which kind of component.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The name of a tool or a prompt, the address of a resource, the text of a template.
    pub fn identity(&self) -> &str {
        self.parts().0
    }

    /// What is behind the last `@`: empty without a version of its own.
    pub fn version(&self) -> &str {
        self.parts().1
    }

    /// Whether it has a version of its own, and not only a number because it is listed again.
    pub fn is_versioned(&self) -> bool {
        !self.version().is_empty() && !self.version().starts_with('#')
    }

    /// The name of the tool, if it is one.
    pub fn tool_name(&self) -> Option<&str> {
        (self.kind == Kind::Tool).then(|| self.identity())
    }

    /// As it is written everywhere.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn parts(&self) -> (&str, &str) {
        let rest = self.text.get(self.kind.word().len() + 1..);
        let rest = rest.unwrap_or_default();
        rest.rsplit_once('@').unwrap_or((rest, ""))
    }
}

/// The text is not the key of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey;

impl std::str::FromStr for ComponentKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let (kind, _) = text.split_once(':').ok_or(NotAKey)?;
        let kind = kind.parse().map_err(|()| NotAKey)?;
        let text = text.to_owned();
        Ok(Self { kind, text })
    }
}

impl std::fmt::Display for ComponentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.text)
    }
}

impl std::fmt::Debug for ComponentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text.fmt(f)
    }
}

/// For printing and for looking up. What a key is about is asked of its methods.
impl std::ops::Deref for ComponentKey {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl std::borrow::Borrow<str> for ComponentKey {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl PartialEq for ComponentKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ComponentKey {}

impl PartialEq<str> for ComponentKey {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for ComponentKey {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl PartialOrd for ComponentKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ComponentKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl std::hash::Hash for ComponentKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    fn key(kind: Kind, definition: &str) -> ComponentKey {
        ComponentKey::of(kind, &parse_str(definition).unwrap())
    }

    #[test]
    fn a_key_is_read_back_in_its_parts() {
        for (text, kind, identity, version, versioned) in [
            ("tool:greet@1.0", Kind::Tool, "greet", "1.0", true),
            ("tool:greet@", Kind::Tool, "greet", "", false),
            ("tool:greet@#2", Kind::Tool, "greet", "#2", false),
            ("tool:greet@1.0#2", Kind::Tool, "greet", "1.0#2", true),
            ("tool:a@b@", Kind::Tool, "a@b", "", false),
            ("resource:a://b:c@", Kind::Resource, "a://b:c", "", false),
            ("prompt:greet", Kind::Prompt, "greet", "", false),
        ] {
            let key: ComponentKey = text.parse().unwrap();
            let parts = (key.kind(), key.identity(), key.version());
            assert_eq!(parts, (kind, identity, version), "{text}");
            assert_eq!(key.is_versioned(), versioned, "{text}");
            assert_eq!(key.to_string(), text);
        }
        for text in ["server", "tools:greet@", "greet@", ""] {
            assert_eq!(text.parse::<ComponentKey>(), Err(NotAKey), "{text}");
        }
    }

    #[test]
    fn keys_are_ordered_as_their_texts_are() {
        let mut texts = [
            "tool:b@",
            "tool:a@1",
            "prompt:z@",
            "tool:a@",
            "resource:a@",
            "template:a@",
        ];
        let mut keys = texts.map(|text| text.parse::<ComponentKey>().unwrap());
        texts.sort_unstable();
        keys.sort_unstable();
        assert_eq!(keys.each_ref().map(ComponentKey::as_str), texts);
    }

    #[test]
    fn a_number_behind_a_key_is_the_same_component_again() {
        let first = ComponentKey::new(Kind::Tool, "a", "");
        assert!(first.repeated(2).is_repeated_from(&first));
        assert!(first.is_repeated_from(&first));
        assert!(!ComponentKey::new(Kind::Tool, "a", "1").is_repeated_from(&first));
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

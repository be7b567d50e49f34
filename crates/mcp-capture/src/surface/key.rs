//! The identity of a component: FastMCP's canonical key.

use crate::keyword_enum::keyword_enum;
use exact_json::Json;

/// The kinds of component. [`Kind::entry`] is the table of them: a new list of the protocol is an
/// entry there, its requirements in `conformance`, its rules, and fixtures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Tool,
    Prompt,
    Resource,
    Template,
    /// A skill: instructions to the model, with the digest of every file.
    Skill,
    /// The content of a resource, by its digest. It is read, not listed, and only on request.
    Content,
}

keyword_enum!(Kind {
    Tool = "tool",
    Prompt = "prompt",
    Resource = "resource",
    Template = "template",
    Skill = "skill",
    Content = "content",
});

struct Entry {
    /// The member that names a component.
    identity: &'static str,
    /// The member of a list answer, and of a capture, with the components.
    member: &'static str,
    /// The noun for messages.
    noun: &'static str,
    /// The members that callers depend on; the rest is text and hints.
    contract: &'static [&'static str],
    /// How to request the list; `None` for what is read one by one.
    listing: Option<Listing>,
    /// Whether every source that has more than tools has this list. Other lists are recorded
    /// explicitly.
    core: bool,
}

/// How to request a list.
pub struct Listing {
    pub method: &'static str,
    /// What a server with the list declares.
    declared: Declared,
    /// The notification that it changed.
    pub changed: Option<&'static str>,
}

enum Declared {
    Capability(&'static str),
    Extension(&'static str),
}

impl Listing {
    /// Whether a server with these capabilities has the list.
    pub fn is_declared(&self, capabilities: Option<&Json>) -> bool {
        let declared = match self.declared {
            Declared::Capability(name) => capabilities.and_then(|all| all.get(name)),
            Declared::Extension(name) => {
                capabilities.and_then(|all| all.get("extensions")?.get(name))
            }
        };
        !matches!(declared, None | Some(Json::Null | Json::Bool(false)))
    }
}

impl Kind {
    fn entry(self) -> Entry {
        let listed = |method, capability, changed| {
            Some(Listing {
                method,
                declared: Declared::Capability(capability),
                changed: Some(changed),
            })
        };
        let core = |identity, member, noun, contract, listing| Entry {
            identity,
            member,
            noun,
            contract,
            listing,
            core: true,
        };
        let resources_changed = "notifications/resources/list_changed";
        match self {
            Self::Tool => core(
                "name",
                "tools",
                "tool",
                &["inputSchema", "outputSchema"],
                listed("tools/list", "tools", "notifications/tools/list_changed"),
            ),
            Self::Prompt => core(
                "name",
                "prompts",
                "prompt",
                &["arguments"],
                listed(
                    "prompts/list",
                    "prompts",
                    "notifications/prompts/list_changed",
                ),
            ),
            Self::Resource => core(
                "uri",
                "resources",
                "resource",
                &["mimeType"],
                listed("resources/list", "resources", resources_changed),
            ),
            Self::Template => core(
                "uriTemplate",
                "resourceTemplates",
                "resource template",
                &["mimeType"],
                listed("resources/templates/list", "resources", resources_changed),
            ),
            Self::Skill => Entry {
                identity: "uri",
                member: "skills",
                noun: "skill",
                contract: &["resources"],
                listing: Some(Listing {
                    method: "skills/list",
                    declared: Declared::Extension("io.modelcontextprotocol/skills"),
                    changed: None,
                }),
                core: false,
            },
            Self::Content => Entry {
                identity: "uri",
                member: "contents",
                noun: "content",
                contract: &["mimeType", "digest"],
                listing: None,
                core: false,
            },
        }
    }

    /// The member that names a component of this kind.
    pub fn identity(self) -> &'static str {
        self.entry().identity
    }

    /// The member of a list result, and of a capture, with the components of this kind.
    pub fn list_member(self) -> &'static str {
        self.entry().member
    }

    /// The noun for messages.
    pub fn noun(self) -> &'static str {
        self.entry().noun
    }

    /// The members that callers depend on.
    pub fn contract(self) -> &'static [&'static str] {
        self.entry().contract
    }

    /// The kind whose list is declared by an extension of the protocol.
    pub fn listed_by_extension(name: &str) -> Option<Self> {
        let mut kinds = Self::ALL.iter().copied();
        kinds.find(|kind| {
            let declared = kind.entry().listing.map(|listing| listing.declared);
            matches!(declared, Some(Declared::Extension(extension)) if extension == name)
        })
    }

    /// How to request the list of this kind; `None` for what is read one by one.
    pub fn listing(self) -> Option<Listing> {
        self.entry().listing
    }

    /// Whether every source that has more than tools has this list.
    pub fn is_core(self) -> bool {
        self.entry().core
    }

    /// Whether a server with these capabilities may have components of this kind.
    fn may_be_offered(self, capabilities: Option<&Json>) -> bool {
        let listing = self.entry().listing;
        capabilities.is_none() || listing.is_none_or(|it| it.is_declared(capabilities))
    }

    /// The kind whose list has this name in answers and captures.
    pub fn of_member(member: &str) -> Option<Self> {
        let mut kinds = Self::ALL.iter().copied();
        kinds.find(|kind| kind.list_member() == member)
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindSet(u8);

impl KindSet {
    pub const NONE: Self = Self(0);

    /// Tools alone.
    pub const TOOLS: Self = Self(1 << Kind::Tool as u8);

    /// What a server lists: everything except what is read one by one.
    pub const LISTED: Self = Self(
        1 << Kind::Tool as u8
            | 1 << Kind::Prompt as u8
            | 1 << Kind::Resource as u8
            | 1 << Kind::Template as u8
            | 1 << Kind::Skill as u8,
    );

    pub fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    #[must_use]
    pub fn with(self, kind: Kind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    #[must_use]
    pub fn without(self, kind: Kind) -> Self {
        Self(self.0 & !(1 << kind as u8))
    }

    /// Lists that not every source has are recorded if the source says so, or if the server does
    /// not offer them. Without capabilities that is unknown.
    #[must_use]
    pub fn recorded(self, says: impl Fn(Kind) -> bool, capabilities: Option<&Json>) -> Self {
        let others = Kind::ALL.iter().filter(|kind| !kind.is_core());
        others.fold(self, |set, kind| {
            if says(*kind) || !kind.may_be_offered(capabilities) {
                set.with(*kind)
            } else {
                set.without(*kind)
            }
        })
    }

    /// The lists that a source must record explicitly, because others do not have them.
    pub fn to_state(self, capabilities: &Json) -> impl Iterator<Item = Kind> {
        let others = Kind::ALL.iter().copied().filter(|kind| !kind.is_core());
        others.filter(move |kind| self.contains(*kind) && kind.may_be_offered(Some(capabilities)))
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The key of a component, unique within a surface: `tool:greet@1.0`. The `@` is always present:
/// `tool:greet@` if the tool has no version. A component that is listed again has a number after
/// its key: `tool:greet@1.0#2`.
///
/// This is the only parser of keys. Keys sort like their text, so that files sorted by key keep
/// their order.
#[derive(Clone)]
pub struct ComponentKey {
    kind: Kind,
    text: String,
}

impl ComponentKey {
    pub fn new(kind: Kind, identity: &str, version: &str) -> Self {
        let text = format!("{kind}:{identity}@{version}");
        Self { kind, text }
    }

    /// The key of a definition.
    ///
    /// FastMCP sends the version in `_meta.fastmcp.version` (before 2.14 in
    /// `_meta._fastmcp.version`). A number there is formatted like Python's `str`; anything else
    /// does not count as a version.
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

    /// The key for the `number`th component with this key.
    pub fn repeated(&self, number: usize) -> Self {
        Self {
            kind: self.kind,
            text: format!("{self}#{number}"),
        }
    }

    /// Whether it equals another key, apart from a number after it.
    pub fn is_repeated_from(&self, first: &Self) -> bool {
        let rest = self.text.strip_prefix(&first.text);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The key as people call it: without its kind, and without the `@` of a component that has no version.
    pub fn called(&self) -> &str {
        let rest = self.text.get(self.kind.word().len() + 1..);
        let rest = rest.unwrap_or_default();
        rest.strip_suffix('@').unwrap_or(rest)
    }

    /// The name of a tool or a prompt, the URI of a resource, the text of a template.
    pub fn identity(&self) -> &str {
        self.parts().0
    }

    /// What follows the last `@`: empty without a version.
    pub fn version(&self) -> &str {
        self.parts().1
    }

    /// Whether it has a version, and not only a number for being listed again.
    pub fn is_versioned(&self) -> bool {
        !self.version().is_empty() && !self.version().starts_with('#')
    }

    /// The name of the tool, if it is one.
    pub fn tool_name(&self) -> Option<&str> {
        (self.kind == Kind::Tool).then(|| self.identity())
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn parts(&self) -> (&str, &str) {
        let rest = self.text.get(self.kind.word().len() + 1..);
        let rest = rest.unwrap_or_default();
        rest.rsplit_once('@').unwrap_or((rest, ""))
    }
}

/// The text is not a component key.
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

/// For printing and lookups. Use the methods to find out what a key is about.
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
    use exact_json::parse_str;

    fn key(kind: Kind, definition: &str) -> ComponentKey {
        ComponentKey::of(kind, &parse_str(definition).unwrap())
    }

    #[test]
    fn a_key_parses_back_into_its_parts() {
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
    fn keys_sort_like_their_text() {
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
    fn a_numbered_key_is_the_same_component_listed_again() {
        let first = ComponentKey::new(Kind::Tool, "a", "");
        assert!(first.repeated(2).is_repeated_from(&first));
        assert!(first.is_repeated_from(&first));
        assert!(!ComponentKey::new(Kind::Tool, "a", "1").is_repeated_from(&first));
    }

    #[test]
    fn the_at_sign_is_always_present() {
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
    fn the_version_comes_from_either_fastmcp_member() {
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

//! What a server declares: identity, capabilities, instructions, and its components with their
//! keys.
//!
//! A surface is a value. It comes from a live server (`capture`), from a committed manifest
//! or from a file, and the two are treated alike. Definitions are kept as
//! sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

mod app;
mod caching;
mod clients;
mod era;
mod header;
mod icon;
mod key;
mod note;
mod profile;
mod recorded;
mod unread;
pub mod volatile;

use exact_json::{Json, Text};

pub use app::app_document;
pub use caching::{CacheHint, CacheScope, Caching};
pub use clients::KnownClient;
pub use era::Era;
pub use header::{HeaderProblem, header_problem};
pub use icon::{Icon, IconProblem};
pub use key::{ComponentKey, Kind, KindSet, Listing, NotAKey};
pub use note::{CaptureNote, NoteKind};
pub use profile::ClientProfile;
pub use recorded::{Part, Recorded};
pub use unread::{LIST_HINTS, list_members};
pub(crate) use unread::{deprecated, deprecated_in_2026};

/// Everything that a server declares to one client.
///
/// `N` is what a note about it is: who judges surfaces has notes of their own, made from those of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface<N = CaptureNote> {
    /// The negotiated revision; empty if the source does not record it (a bare list of tools).
    pub protocol_version: String,
    /// `serverInfo` as sent; an empty object if the source has none.
    pub server_info: Json,
    /// `capabilities` as sent.
    pub capabilities: Json,
    /// The server's instructions to the model.
    pub instructions: Option<Text>,
    /// The revisions that the server supports (`supportedVersions`); `None` if it did not say, or
    /// the source does not record it.
    pub supported_versions: Option<Vec<String>>,
    /// Members of the opening answer that no revision of the protocol defines, as sent, and those of
    /// list results by method; `None` if the source does not record them.
    pub other_members: Option<Json>,
    /// How long, and for whom, its answers may be cached.
    pub caching: Caching,
    /// Tools, prompts, resources and templates, each kind in the order listed.
    pub components: Vec<Component>,
    /// The client identity that the server saw. What a server lists depends on it.
    pub client: ClientProfile,
    /// Whether it was captured over HTTP. HTTP clients reject some things that others accept.
    pub over_http: bool,
    /// What was noticed during the capture but is not part of the contract.
    pub notes: Vec<N>,
    /// Which parts this source records. Comparing parts that were never recorded would invent
    /// drift.
    pub scope: Scope,
    /// Which members of these parts, where the source does not record them all.
    pub recorded: Recorded,
}

/// Which parts of a surface its source recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Identity, capabilities, instructions, protocol version.
    pub server: bool,
    /// Which lists.
    pub kinds: KindSet,
    /// The order in which tools were listed and members were written. Not set for a server without
    /// a stable order.
    pub order: bool,
}

impl Scope {
    /// A live server or a capture: everything.
    pub const FULL: Self = Self {
        server: true,
        kinds: KindSet::LISTED,
        order: true,
    };
    /// A saved `tools/list` result.
    pub const TOOLS: Self = Self {
        server: false,
        kinds: KindSet::TOOLS,
        order: true,
    };
}

/// One tool, prompt, resource or resource template, one skill, or the content of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    pub kind: Kind,
    /// Unique within a surface: `tool:greet@1.0`.
    pub key: ComponentKey,
    pub definition: Json,
}

/// The lists of a server, members as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// `tools/list`
    pub tools: Vec<Json>,
    /// `prompts/list`
    pub prompts: Vec<Json>,
    /// `resources/list`
    pub resources: Vec<Json>,
    /// `resources/templates/list`
    pub resource_templates: Vec<Json>,
    /// The cache hints of these answers.
    pub caching: Caching,
    /// What no revision defines in these answers, by method.
    pub other_members: BTreeMap<&'static str, Json>,
    /// Every other list, by its kind.
    pub others: BTreeMap<Kind, Vec<Json>>,
}

impl Lists {
    pub fn of(&self, kind: Kind) -> &[Json] {
        match kind {
            Kind::Tool => &self.tools,
            Kind::Prompt => &self.prompts,
            Kind::Resource => &self.resources,
            Kind::Template => &self.resource_templates,
            other => self.others.get(&other).map_or(&[], Vec::as_slice),
        }
    }

    pub fn of_mut(&mut self, kind: Kind) -> &mut Vec<Json> {
        match kind {
            Kind::Tool => &mut self.tools,
            Kind::Prompt => &mut self.prompts,
            Kind::Resource => &mut self.resources,
            Kind::Template => &mut self.resource_templates,
            other => self.others.entry(other).or_default(),
        }
    }
}

impl<N: From<CaptureNote>> Surface<N> {
    /// From the result of `initialize` (or `server/discover`) and the lists, all as sent.
    pub fn new(greeting: &Json, mut lists: Lists, client: ClientProfile, scope: Scope) -> Self {
        let mut surface = Self {
            protocol_version: revision(greeting).to_owned(),
            server_info: object_or_empty(server_info(greeting)),
            capabilities: object_or_empty(greeting.get("capabilities")),
            instructions: greeting
                .get("instructions")
                .and_then(Json::as_text)
                .cloned(),
            supported_versions: supported_versions(greeting),
            other_members: scope
                .server
                .then(|| unread::other_members(greeting, &lists.other_members)),
            caching: std::mem::take(&mut lists.caching),
            components: Vec::new(),
            client,
            over_http: false,
            notes: Vec::new(),
            scope,
            recorded: Recorded::default(),
        };
        surface.caching.add_discover(CacheHint::of(greeting));
        surface.note_unread();
        let mut taken = HashMap::new();
        for kind in Kind::ALL.iter().copied() {
            for definition in std::mem::take(lists.of_mut(kind)) {
                surface.add(kind, definition, &mut taken);
            }
        }
        surface
    }

    /// Adds a component under its key. If the key is already taken, a number is appended and a note
    /// added: two tools with the same name are two components, and neither may hide the other.
    fn add(&mut self, kind: Kind, definition: Json, taken: &mut HashMap<ComponentKey, usize>) {
        let wanted = ComponentKey::of(kind, &definition);
        let mut number = taken.get(&wanted).map_or(1, |last| last + 1);
        let mut key = wanted.clone();
        while taken.contains_key(&key) {
            key = wanted.repeated(number);
            number += usize::from(taken.contains_key(&key));
        }
        taken.insert(key.clone(), 1);
        taken.insert(wanted.clone(), number);
        if key != wanted {
            self.note(
                NoteKind::ComponentRepeated,
                Some(&key),
                format!("{} is listed more than once", wanted.as_str()),
            );
        }
        if definition
            .get(kind.identity())
            .and_then(Json::as_text)
            .is_none()
        {
            self.note(
                NoteKind::ComponentMalformed,
                Some(&key),
                format!("a {} without a `{}`", kind.noun(), kind.identity()),
            );
        }
        if kind == Kind::Skill
            && definition.get("resources").and_then(Json::as_str) == Some("dynamic")
        {
            self.note(
                NoteKind::SkillDynamic,
                Some(&key),
                "its content is generated (`resources` is \"dynamic\"): only the frontmatter is compared",
            );
        }
        if kind == Kind::Tool
            && let Some(HeaderProblem { pointer, problem }) = header_problem(&definition)
        {
            self.note(
                NoteKind::XMcpHeaderInvalid,
                Some(&key),
                format!("clients over HTTP drop the tool: {problem} (at {pointer})"),
            );
        }
        self.note_deprecated(kind, &key, &definition);
        self.note_icons(Some(&key), definition.get("icons"));
        for (pointer, name) in definition.repeated_members() {
            self.note(
                NoteKind::MemberRepeated,
                Some(&key),
                format!(
                    "the member `{}` is repeated at `{pointer}`",
                    name.to_string_lossy()
                ),
            );
        }
        self.components.push(Component {
            kind,
            key,
            definition,
        });
    }

    pub(crate) fn note(
        &mut self,
        kind: NoteKind,
        component: Option<&ComponentKey>,
        message: impl Into<String>,
    ) {
        let note = CaptureNote {
            kind,
            component: component.cloned(),
            message: message.into(),
        };
        self.notes.push(note.into());
    }
}

impl<N> Surface<N> {
    /// The same surface with notes of another kind.
    pub fn with_notes<M>(self, note: impl FnMut(N) -> M) -> Surface<M> {
        Surface {
            protocol_version: self.protocol_version,
            server_info: self.server_info,
            capabilities: self.capabilities,
            instructions: self.instructions,
            supported_versions: self.supported_versions,
            other_members: self.other_members,
            caching: self.caching,
            components: self.components,
            client: self.client,
            over_http: self.over_http,
            notes: self.notes.into_iter().map(note).collect(),
            scope: self.scope,
            recorded: self.recorded,
        }
    }

    pub fn component(&self, key: &str) -> Option<&Component> {
        self.components
            .iter()
            .find(|component| component.key == key)
    }

    /// The components of one kind, in the order listed.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Component> {
        self.components
            .iter()
            .filter(move |component| component.kind == kind)
    }

    pub fn era(&self) -> Era {
        Era::of(&self.protocol_version)
    }

    /// `serverInfo.name`, if it is a string.
    pub fn server_name(&self) -> Option<&str> {
        self.server_info.get("name").and_then(Json::as_str)
    }

    /// `serverInfo.version`, if it is a string.
    pub fn server_version(&self) -> Option<&str> {
        self.server_info.get("version").and_then(Json::as_str)
    }
}

impl Component {
    /// The definition without its volatile members.
    pub fn contract(&self) -> Cow<'_, Json> {
        volatile::without(self.kind, &self.definition)
    }
}

/// The negotiated revision. The result of `server/discover` lists what the server supports; the
/// revision that mcp-keel requested applies.
fn revision(greeting: &Json) -> &str {
    if let Some(agreed) = greeting.get("protocolVersion").and_then(Json::as_str) {
        return agreed;
    }
    let offered = greeting.get("supportedVersions").and_then(Json::as_array);
    let mut offered = offered.unwrap_or_default().iter().filter_map(Json::as_str);
    let ours = Era::Modern.revision();
    if offered.clone().any(|it| it == ours) {
        ours
    } else {
        offered.next_back().unwrap_or_default()
    }
}

/// The revisions that an answer to `server/discover` names.
fn supported_versions(greeting: &Json) -> Option<Vec<String>> {
    let versions = greeting.get("supportedVersions")?.as_array()?;
    let versions = versions.iter().filter_map(Json::as_str);
    Some(versions.map(str::to_owned).collect())
}

/// Who responds: a member of the `initialize` result, and metadata of every response since
/// 2026-07-28.
fn server_info(greeting: &Json) -> Option<&Json> {
    let in_meta = greeting.get("_meta").and_then(|it| it.get(SERVER_INFO));
    in_meta.or_else(|| greeting.get("serverInfo"))
}

/// The member of a result's `_meta` that identifies the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn object_or_empty(value: Option<&Json>) -> Json {
    value.cloned().unwrap_or_else(|| Json::object([]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::parse_str;

    #[test]
    fn components_with_the_same_name_are_kept_apart() {
        let tool = |text| parse_str(text).unwrap();
        let tools = vec![
            tool(r#"{"name":"a"}"#),
            tool(r#"{"name":"a","x":1}"#),
            tool("7"),
            tool(r#"{"name":"a"}"#),
        ];
        let lists = Lists {
            tools,
            ..Lists::default()
        };
        let surface: Surface =
            Surface::new(&Json::Null, lists, ClientProfile::default(), Scope::FULL);
        let keys: Vec<&str> = surface.components.iter().map(|c| c.key.as_str()).collect();
        assert_eq!(keys, ["tool:a@", "tool:a@#2", "tool:@", "tool:a@#3"]);
        let kinds: Vec<NoteKind> = surface.notes.iter().map(|note| note.kind).collect();
        assert_eq!(
            kinds,
            [
                NoteKind::ComponentRepeated,
                NoteKind::ComponentMalformed,
                NoteKind::ComponentRepeated
            ]
        );
    }
}

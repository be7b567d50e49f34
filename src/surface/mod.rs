//! What a server told us: identity, capabilities, instructions, and its components with their keys.
//!
//! A surface is a value. It comes from a live server (`capture`), from a committed manifest (`baseline`) or from
//! a file, and everything after this room treats the three alike. Definitions are kept as sent.

use std::collections::HashMap;

mod clients;
mod era;
mod header;
mod key;
mod profile;
pub mod volatile;

use crate::canonical::{Json, Text};
use crate::rules::RuleId;

pub use clients::KnownClient;
pub use era::Era;
pub use header::{HeaderProblem, header_problem};
pub use key::{ComponentKey, Kind, NotAKey};
pub use profile::ClientProfile;

/// Everything that a server advertises to one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The revision that both sides agreed on; empty where a source does not say (a bare list of tools).
    pub protocol_version: String,
    /// `serverInfo` as sent; an empty object where the source has none.
    pub server_info: Json,
    /// `capabilities` as sent.
    pub capabilities: Json,
    /// What the server tells the model about itself.
    pub instructions: Option<Text>,
    /// Tools, prompts, resources and templates, each kind in the order listed.
    pub components: Vec<Component>,
    /// The client that the server saw. What a server lists depends on it.
    pub client: ClientProfile,
    /// Whether it was captured over HTTP. Clients there refuse what others accept.
    pub over_http: bool,
    /// What was noticed on the way and is not part of the contract.
    pub notes: Vec<Note>,
    /// Which parts this source knows. Comparing what a source never recorded would invent drift.
    pub scope: Scope,
}

/// Which parts of a surface its source recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Identity, capabilities, instructions, protocol version.
    pub server: bool,
    /// Prompts, resources and templates, not only tools.
    pub all_kinds: bool,
    /// The order in which tools were listed and members were written. Not of a server that has none of its own.
    pub order: bool,
}

impl Scope {
    /// A live server or a capture: everything.
    pub const FULL: Self = Self {
        server: true,
        all_kinds: true,
        order: true,
    };
    /// A saved `tools/list` result.
    pub const TOOLS: Self = Self {
        server: false,
        all_kinds: false,
        order: true,
    };
}

/// One tool, prompt, resource or resource template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Which of the four.
    pub kind: Kind,
    /// Its identity, unique within a surface: `tool:greet@1.0`.
    pub key: ComponentKey,
    /// The definition as sent.
    pub definition: Json,
}

/// Something noticed while capturing or reading: reported as a finding, never as drift.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The rule that explains it.
    pub rule: RuleId,
    /// The component's key, where it concerns one.
    pub component: Option<ComponentKey>,
    /// One sentence. May quote the server: escape it before printing.
    pub message: String,
}

/// The four lists of a server, members as sent.
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
}

impl Lists {
    /// The list of one kind.
    pub fn of(&self, kind: Kind) -> &[Json] {
        match kind {
            Kind::Tool => &self.tools,
            Kind::Prompt => &self.prompts,
            Kind::Resource => &self.resources,
            Kind::Template => &self.resource_templates,
        }
    }

    /// The list of one kind, for filling.
    pub fn of_mut(&mut self, kind: Kind) -> &mut Vec<Json> {
        match kind {
            Kind::Tool => &mut self.tools,
            Kind::Prompt => &mut self.prompts,
            Kind::Resource => &mut self.resources,
            Kind::Template => &mut self.resource_templates,
        }
    }
}

impl Surface {
    /// From the answer to `initialize` (or to `server/discover`) and the lists, all as sent.
    pub fn new(greeting: &Json, lists: Lists, client: ClientProfile, scope: Scope) -> Self {
        let mut surface = Self {
            protocol_version: revision(greeting).to_owned(),
            server_info: object_or_empty(server_info(greeting)),
            capabilities: object_or_empty(greeting.get("capabilities")),
            instructions: greeting
                .get("instructions")
                .and_then(Json::as_text)
                .cloned(),
            components: Vec::new(),
            client,
            over_http: false,
            notes: Vec::new(),
            scope,
        };
        let mut taken = HashMap::new();
        for kind in Kind::ALL.iter().copied() {
            for definition in lists.of(kind) {
                surface.add(kind, definition.clone(), &mut taken);
            }
        }
        surface
    }

    /// Adds a component under its key. A key that is taken already gets a number, and a note says so: two tools
    /// of one name are two components, neither of which may hide the other.
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
                RuleId::ComponentRepeated,
                Some(&key),
                format!("{wanted} is listed more than once"),
            );
        }
        if definition
            .get(kind.identity())
            .and_then(Json::as_text)
            .is_none()
        {
            self.note(
                RuleId::ComponentMalformed,
                Some(&key),
                format!("a {} without a `{}`", kind.noun(), kind.identity()),
            );
        }
        if kind == Kind::Tool
            && let Some(HeaderProblem { pointer, problem }) = header_problem(&definition)
        {
            self.note(
                RuleId::XMcpHeaderInvalid,
                Some(&key),
                format!("clients over HTTP leave the tool out: {problem} (at {pointer})"),
            );
        }
        for (pointer, name) in definition.repeated_members() {
            self.note(
                RuleId::MemberRepeated,
                Some(&key),
                format!(
                    "the member `{}` stands more than once at `{pointer}`",
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

    /// Remembers something noticed.
    pub fn note(&mut self, rule: RuleId, component: Option<&ComponentKey>, message: String) {
        self.notes.push(Note {
            rule,
            component: component.cloned(),
            message,
        });
    }

    /// The component with this key.
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

    /// The era that it was captured in.
    pub fn era(&self) -> Era {
        Era::of(&self.protocol_version)
    }

    /// `serverInfo.name`, where it is a string.
    pub fn server_name(&self) -> Option<&str> {
        self.server_info.get("name").and_then(Json::as_str)
    }

    /// `serverInfo.version`, where it is a string.
    pub fn server_version(&self) -> Option<&str> {
        self.server_info.get("version").and_then(Json::as_str)
    }
}

impl Component {
    /// What the contract holds of it: the definition without its volatile members.
    pub fn contract(&self) -> Json {
        volatile::without(self.kind, &self.definition)
    }
}

/// The revision that was agreed on. The answer to `server/discover` lists what the server offers, and ours is taken.
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

/// Who answers: a member of the answer to `initialize`, and metadata of every answer since 2026-07-28.
fn server_info(greeting: &Json) -> Option<&Json> {
    let told = greeting.get("_meta").and_then(|it| it.get(SERVER_INFO));
    told.or_else(|| greeting.get("serverInfo"))
}

/// The member of a result's `_meta` that says who answers.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn object_or_empty(value: Option<&Json>) -> Json {
    value.cloned().unwrap_or_else(|| Json::object([]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    #[test]
    fn components_of_one_name_are_kept_apart() {
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
        let surface = Surface::new(&Json::Null, lists, ClientProfile::default(), Scope::FULL);
        let keys: Vec<&str> = surface.components.iter().map(|c| c.key.as_str()).collect();
        assert_eq!(keys, ["tool:a@", "tool:a@#2", "tool:@", "tool:a@#3"]);
        let rules: Vec<RuleId> = surface.notes.iter().map(|note| note.rule).collect();
        assert_eq!(
            rules,
            [
                RuleId::ComponentRepeated,
                RuleId::ComponentMalformed,
                RuleId::ComponentRepeated
            ]
        );
    }
}

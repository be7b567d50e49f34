//! Whether clients accept a list: the protocol's schema of the negotiated revision, the dialect of
//! each JSON Schema, names, and what known clients reject.
//!
//! Many clients validate a list as a whole: one invalid component costs the user all of them,
//! mostly without a message. What was already so is a finding ([`notes`]); what is new is drift
//! (`drift::refused`). Pure: no I/O, nothing is fetched.

mod apps;
mod card;
mod clients;
mod ecmascript;
mod names;
mod skills;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::Json;
use crate::rules::RuleId;
use crate::schema::dialect::{self, Dialect};
use crate::schema::shortened;
use crate::surface::{Component, ComponentKey, Era, Kind, LIST_HINTS, Note, Surface, app_document};
use crate::wording::counted;
use wire::Revision;

const ONLY_2020_12: &str =
    "versions of Claude Code that accept only 2020-12 there refuse every call";

/// A requirement for components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Demand {
    /// The protocol's schema of the revision.
    Wire,
    /// A schema is valid in its dialect.
    Dialect,
    /// A schema does not refer to other documents.
    Reference,
    /// A schema is small enough for clients.
    Size,
    /// The characters and the length of a tool's name.
    Name,
    /// The length of a tool's name with the prefix that clients add.
    PrefixedName,
    /// What else known clients reject.
    Client,
    /// An `outputSchema` is of the dialect that every client knows.
    OutputDialect,
    /// The skills extension.
    Skill,
    /// A resource that clients are pointed to can be read, and matches its list.
    Content,
    /// The card of a server agrees with the server.
    Card,
    /// The document that shows a tool's results exists.
    App,
}

impl Demand {
    /// The rule if it is not met, and was not met before.
    pub(crate) fn finding(self) -> RuleId {
        match self {
            Self::Wire => RuleId::ListRefused,
            Self::Dialect => RuleId::SchemaInvalid,
            Self::Reference => RuleId::SchemaRefExternal,
            Self::Size => RuleId::SchemaTooLarge,
            Self::Name => RuleId::ToolNameInvalid,
            Self::PrefixedName => RuleId::ToolNameTooLong,
            Self::Client | Self::OutputDialect => RuleId::ClientRefusesTool,
            Self::Skill => RuleId::SkillInvalid,
            Self::Content => RuleId::ContentUnusable,
            Self::Card => RuleId::ServerCardDisagrees,
            Self::App => RuleId::AppResourceMissing,
        }
    }

    /// The rule if it is no longer met.
    pub(crate) fn change(self) -> RuleId {
        match self {
            Self::Wire => RuleId::ListNowRefused,
            Self::Dialect => RuleId::SchemaNowInvalid,
            Self::Reference => RuleId::SchemaRefNowExternal,
            Self::Size => RuleId::SchemaNowTooLarge,
            Self::Name => RuleId::ToolNameNowInvalid,
            Self::PrefixedName => RuleId::ToolNameNowTooLong,
            Self::Client | Self::OutputDialect => RuleId::ClientNowRefusesTool,
            Self::Skill => RuleId::SkillNowInvalid,
            Self::Content => RuleId::ContentNowUnusable,
            Self::Card => RuleId::ServerCardNowDisagrees,
            Self::App => RuleId::AppResourceNowMissing,
        }
    }
}

/// A requirement that a component does not meet, at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) demand: Demand,
    pub(crate) component: ComponentKey,
    pub(crate) pointer: String,
    /// What is wrong and what clients do about it. May quote the server: escape before printing.
    pub(crate) message: String,
}

/// Validators that bound their work reject, or never finish, schemas with more subschemas.
const MOST_SCHEMAS: usize = 5_000;
/// Schemas that are nested deeper are refused or not followed by such validators.
const DEEPEST: usize = 64;

/// What clients know about a surface when they judge one of its components.
pub(crate) struct Reader<'a> {
    surface: &'a Surface,
    revision: Revision,
    listed: BTreeMap<Kind, usize>,
    skill_files: BTreeSet<&'a str>,
    listed_resources: BTreeSet<&'a str>,
    read_resources: BTreeSet<&'a str>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(surface: &'a Surface) -> Self {
        let mut listed = BTreeMap::new();
        for component in &surface.components {
            *listed.entry(component.kind).or_default() += 1;
        }
        Self {
            surface,
            revision: Revision::of(&surface.protocol_version),
            listed,
            skill_files: surface
                .of_kind(Kind::Skill)
                .flat_map(|skill| skills::files(&skill.definition))
                .collect(),
            listed_resources: apps::listed(surface),
            read_resources: apps::read(surface),
        }
    }

    /// Whether two surfaces are judged alike, component by component.
    pub(crate) fn reads_like(&self, other: &Reader<'_>) -> bool {
        self.surface.protocol_version == other.surface.protocol_version
            && self.surface.server_info == other.surface.server_info
            && apps::declares_resources(self.surface) == apps::declares_resources(other.surface)
    }

    /// The document of a tool that was listed before, and that no client finds any more. Servers may
    /// leave such documents out of their lists, so one that never was in it proves nothing, even if
    /// it was read: whether it still can be is judged as its content.
    pub(crate) fn lost_document(
        &self,
        before: &Reader<'_>,
        component: &Component,
    ) -> Option<Violation> {
        let uri = app_document(&component.definition).filter(|_| component.kind == Kind::Tool)?;
        let lists = |reader: &Reader<'_>| reader.surface.scope.kinds.contains(Kind::Resource);
        let is_lost = lists(before)
            && lists(self)
            && before.listed_resources.contains(uri)
            && !self.listed_resources.contains(uri)
            && !self.read_resources.contains(uri);
        is_lost.then(|| Violation {
            demand: Demand::App,
            component: component.key.clone(),
            pointer: apps::pointer(&component.definition).to_owned(),
            message: format!(
                "`_meta.ui.resourceUri` points to `{uri}`, which is no longer listed: hosts show nothing"
            ),
        })
    }

    /// Everything that clients would object to in a component.
    pub(crate) fn violations(&self, component: &Component) -> Vec<Violation> {
        let mut found = Vec::new();
        let definition = &component.definition;
        let listed = self.listed.get(&component.kind).copied().unwrap_or(1);
        let mut add = |demand, pointer: String, message| {
            found.push(Violation {
                demand,
                component: component.key.clone(),
                pointer,
                message,
            });
        };
        for it in wire::mismatches(component.kind, definition, self.revision) {
            let place = match it.pointer.as_str() {
                "" => "the component".to_owned(),
                pointer => format!("`{}`", dotted(pointer)),
            };
            let expected = it.expected;
            let problem = match it.found {
                None => format!("{place} is missing (must be {expected})"),
                Some(_) if expected.starts_with(['"', '`']) => {
                    format!("{place} must be {expected}")
                }
                Some(found) => format!("{place} must be {expected}, and is {found}"),
            };
            let noun = component.kind.noun();
            let (demand, effect) = match component.kind {
                Kind::Skill => (Demand::Skill, format!("clients must not load the {noun}")),
                _ if listed == 1 => (
                    Demand::Wire,
                    "clients that validate refuse the list".to_owned(),
                ),
                _ => (
                    Demand::Wire,
                    format!(
                        "clients that validate refuse the whole list ({})",
                        counted(listed, noun)
                    ),
                ),
            };
            add(demand, it.pointer, format!("{problem}: {effect}"));
        }
        match component.kind {
            Kind::Tool => {}
            Kind::Skill => {
                for (pointer, message) in skills::problems(definition) {
                    add(Demand::Skill, pointer, message);
                }
                return found;
            }
            Kind::Content => {
                let uri = definition.get("uri").and_then(Json::as_str);
                let is_of_skill = uri.is_some_and(|uri| self.skill_files.contains(uri));
                let problem = skills::content_problem(definition, is_of_skill);
                if let Some((pointer, message)) = problem {
                    add(Demand::Content, pointer, message);
                }
                for (pointer, message) in card::disagreements(definition, self.surface) {
                    add(Demand::Card, pointer, message);
                }
                return found;
            }
            Kind::Prompt | Kind::Resource | Kind::Template => return found,
        }
        for member in ["inputSchema", "outputSchema"] {
            let Some(schema) = definition.get(member) else {
                continue;
            };
            if let Some(address) = dialect::unknown(schema) {
                let pointer = format!("/{member}/$schema");
                let message = format!(
                    "`{}` is `{}`, not a known dialect of JSON Schema: clients must refuse the schema",
                    dotted(&pointer),
                    shortened(address)
                );
                add(Demand::Dialect, pointer, message);
            } else if let Some(it) = dialect::invalid(schema, self.dialect()) {
                let pointer = format!("/{member}{}", it.pointer);
                let message = format!(
                    "not valid JSON Schema ({}) at `{}`: models' APIs reject the whole request",
                    it.dialect,
                    dotted(&pointer)
                );
                add(Demand::Dialect, pointer, message);
            }
            for (at, to) in dialect::external_references(schema) {
                let pointer = format!("/{member}{at}");
                let message = format!(
                    "`{}` leads to `{to}`, outside the schema: clients must not fetch it and should reject the \
                     schema",
                    dotted(&pointer)
                );
                add(Demand::Reference, pointer, message);
            }
            let (schemas, deepest) = dialect::size(schema);
            if schemas > MOST_SCHEMAS || deepest > DEEPEST {
                let message = format!(
                    "`{member}` has {}, nested up to {deepest} deep: clients that bound validation reject it",
                    counted(schemas, "schema")
                );
                add(Demand::Size, format!("/{member}"), message);
            }
        }
        for refusal in clients::REFUSALS {
            if let Some((pointer, message)) = refusal(definition) {
                add(Demand::Client, pointer, message);
            }
        }
        if let Some((pointer, dialect)) = clients::old_output_dialect(definition) {
            let message = format!("`outputSchema` declares {dialect}: {ONLY_2020_12}");
            add(Demand::OutputDialect, pointer, message);
        }
        if let Some(name) = definition.get("name").and_then(Json::as_text) {
            let name = name.to_string_lossy();
            let server = self.surface.server_name();
            // Not under the key of its name: another tool has it.
            if component.key != ComponentKey::of(component.kind, definition) {
                let message = format!(
                    "another tool is also called `{}`: Anthropic's API refuses the request, with every tool in \
                     it",
                    shortened(name)
                );
                add(Demand::Client, "/name".to_owned(), message);
            }
            if let Some(message) = names::problem(name) {
                add(Demand::Name, "/name".to_owned(), message);
            } else if let Some(message) = names::too_long(server, name) {
                add(Demand::PrefixedName, "/name".to_owned(), message);
            }
        }
        if let Some(message) = apps::problem(definition, self.surface) {
            add(Demand::App, apps::pointer(definition).to_owned(), message);
        }
        // What is invalid for every client is not reported again for one.
        let invalid = found.iter().find(|it| it.demand == Demand::Dialect);
        if let Some(invalid) = invalid.map(|it| it.pointer.clone()) {
            found.retain(|it| it.demand != Demand::Client || it.pointer != invalid);
        }
        found
    }

    /// Before 2025-11-25 there was no default dialect.
    fn dialect(&self) -> Dialect {
        if self.revision < Revision::V2025_11_25 {
            Dialect::DeclaredOrGuessed
        } else {
            Dialect::Declared
        }
    }
}

/// `/inputSchema/type` as people write it: `inputSchema.type`.
fn dotted(pointer: &str) -> String {
    pointer
        .trim_start_matches('/')
        .replace('/', ".")
        .replace("~1", "/")
        .replace("~0", "~")
}

/// One violation per requirement: the first, with the number of others.
pub(crate) fn grouped(violations: Vec<Violation>) -> Vec<Violation> {
    let mut groups: Vec<(Violation, usize)> = Vec::new();
    for violation in violations {
        match groups
            .iter_mut()
            .find(|(it, _)| it.demand == violation.demand)
        {
            Some((_, others)) => *others += 1,
            None => groups.push((violation, 0)),
        }
    }
    groups
        .into_iter()
        .map(|(mut violation, others)| {
            if others > 0 {
                let others = counted(others, "more place");
                violation.message += &format!("; and at {others}");
            }
            violation
        })
        .collect()
}

/// What clients object to in a surface, one note per component and requirement, except what is
/// reported as drift.
pub fn notes(
    surface: &Surface,
    is_drift: impl Fn(RuleId, Option<&ComponentKey>) -> bool,
) -> Vec<Note> {
    let reader = Reader::new(surface);
    let mut notes = Vec::new();
    // Whole servers are generated in one dialect.
    let mut of_old_dialects = Vec::new();
    for component in &surface.components {
        // A missing name is noted where it is read.
        let unnamed = format!("/{}", component.kind.identity());
        let mut violations = reader.violations(component);
        violations.retain(|it| it.demand != Demand::Wire || it.pointer != unnamed);
        for violation in grouped(violations) {
            if is_drift(violation.demand.change(), Some(&component.key)) {
                continue;
            }
            let is_of_old_dialect = violation.demand == Demand::OutputDialect;
            let note = Note {
                rule: violation.demand.finding(),
                component: Some(violation.component),
                message: violation.message,
            };
            if is_of_old_dialect {
                of_old_dialects.push(note);
            } else {
                notes.push(note);
            }
        }
    }
    if surface.era() == Era::Modern && !is_drift(RuleId::ListNowRefused, None) {
        for (method, members) in surface.other_members_of_lists() {
            let wrong = LIST_HINTS.iter().find(|it| members.get(it).is_some());
            notes.extend(wrong.map(|hint| Note {
                rule: RuleId::ListRefused,
                component: None,
                message: hint_invalid(method, hint),
            }));
        }
    }
    if of_old_dialects.len() > 1 {
        let tools = counted(of_old_dialects.len(), "tool");
        let message =
            format!("{tools} declare a dialect before 2020-12 in `outputSchema`: {ONLY_2020_12}");
        notes.push(Note {
            rule: Demand::OutputDialect.finding(),
            component: None,
            message,
        });
    } else {
        notes.append(&mut of_old_dialects);
    }
    notes
}

/// A cache hint of a list that violates the protocol's schema.
pub(crate) fn hint_invalid(method: &str, hint: &str) -> String {
    let expected = if hint == "ttlMs" {
        "an integer of at least 0"
    } else {
        "\"public\" or \"private\""
    };
    format!("`{hint}` of `{method}` must be {expected}: clients that validate refuse the list")
}

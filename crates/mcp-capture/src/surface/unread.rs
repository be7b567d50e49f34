//! What a server offers and mcp-keel does not read, and what it uses that the protocol is about to
//! remove.
//!
//! The promise: nothing that a server declares is silently ignored. A declaration is compared like
//! any other; the finding says that its content is not.

use std::collections::BTreeMap;

use super::icon::{Icon, IconProblem};
use super::{CacheHint, CaptureNote, ComponentKey, Kind, NoteKind, Surface};
use exact_json::{Json, Object};

/// Members of the answers to `initialize` and `server/discover` in any revision.
const GREETING: [&str; 9] = [
    "protocolVersion",
    "serverInfo",
    "capabilities",
    "instructions",
    "supportedVersions",
    "_meta",
    "resultType",
    "ttlMs",
    "cacheScope",
];

/// Server capabilities in any revision. What is listed under them is read; `completions`, `logging`
/// and `tasks` concern calls, not lists.
const CAPABILITIES: [&str; 8] = [
    "completions",
    "experimental",
    "extensions",
    "logging",
    "prompts",
    "resources",
    "tasks",
    "tools",
];

/// Extensions without a list, which are judged as far as they declare anything.
const EXTENSIONS: [&str; 2] = [
    "io.modelcontextprotocol/tasks",
    "io.modelcontextprotocol/ui",
];

fn is_read(extension: &str) -> bool {
    EXTENSIONS.contains(&extension) || Kind::listed_by_extension(extension).is_some()
}

/// What a member is that no revision defines.
const UNDEFINED: &str = "which no protocol revision defines: it is compared, but not judged";

/// Since when a feature is deprecated, and when it may be gone.
pub(crate) fn deprecated(feature: &str, since: &str, removal: &str, instead: &str) -> String {
    format!("{feature}: deprecated since {since}, may be removed {removal}; {instead}")
}

/// For what 2026-07-28 deprecates.
pub(crate) fn deprecated_in_2026(feature: &str, instead: &str) -> String {
    let a_year_later = "by the first revision released on or after 2027-07-28";
    deprecated(feature, "2026-07-28", a_year_later, instead)
}

/// How many declarations that are not read are named one by one.
const NAMED: usize = 20;

/// The members of the opening answer that no revision of the protocol has, or allows in this form,
/// and those of the lists.
pub(super) fn other_members(greeting: &Json, of_lists: &BTreeMap<&'static str, Json>) -> Json {
    let undefined: Vec<&str> = CacheHint::undefined(greeting).collect();
    let members = greeting.as_object().into_iter().flat_map(Object::iter);
    let others = members.filter(|(name, _)| {
        let name = name.to_string_lossy();
        !GREETING.contains(&name) || undefined.contains(&name)
    });
    let others = others.map(|(name, value)| (name.clone(), value.clone()));
    let of_lists = of_lists
        .iter()
        .map(|(method, members)| ((*method).into(), members.clone()));
    others.chain(of_lists).collect::<Object>().into()
}

/// Members of a list result that are read: who may cache it, and for how long.
pub const LIST_HINTS: [&str; 2] = ["cacheScope", "ttlMs"];

/// Members of every list result besides the list and its hints. `_meta` belongs to that one answer.
const LIST: [&str; 3] = ["nextCursor", "_meta", "resultType"];

/// The members of a list result that no revision of the protocol has, or allows in this form.
pub fn list_members(kind: Kind, result: &Json) -> Object {
    let undefined: Vec<&str> = CacheHint::undefined(result).collect();
    let is_other = |name: &str| {
        let is_defined =
            name == kind.list_member() || LIST.contains(&name) || LIST_HINTS.contains(&name);
        !is_defined || undefined.contains(&name)
    };
    let members = result.as_object().into_iter().flat_map(Object::iter);
    members
        .filter(|(name, _)| is_other(name.to_string_lossy()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The methods that list something.
fn list_methods() -> impl Iterator<Item = &'static str> {
    let kinds = Kind::ALL.iter();
    kinds.filter_map(|kind| Some(kind.listing()?.method))
}

/// The names in an object of capabilities.
fn names(object: Option<&Json>) -> impl Iterator<Item = &str> {
    let members = object.and_then(Json::as_object);
    let members = members.into_iter().flat_map(Object::iter);
    members.map(|(name, _)| name.to_string_lossy())
}

impl<N> Surface<N> {
    /// What no revision defines in the results of lists, by method.
    pub fn other_members_of_lists(&self) -> BTreeMap<&'static str, Json> {
        let others = self.other_members.as_ref();
        let of = |method: &'static str| Some((method, others?.get(method)?.clone()));
        list_methods().filter_map(of).collect()
    }
}

impl<N: From<CaptureNote>> Surface<N> {
    /// Notes what is declared but not read, and what is deprecated.
    pub(super) fn note_unread(&mut self) {
        let capabilities = self.capabilities.clone();
        let mut messages = Vec::new();
        let of_lists = self.other_members_of_lists();
        for name in names(self.other_members.as_ref()) {
            if !of_lists.contains_key(name) {
                messages.push(format!(
                    "the server's first answer has the member `{name}`, {UNDEFINED}"
                ));
            }
        }
        for (method, members) in &of_lists {
            // A wrong hint is judged as clients judge it.
            for name in names(Some(members)).filter(|name| !LIST_HINTS.contains(name)) {
                messages.push(format!(
                    "the result of `{method}` has the member `{name}`, {UNDEFINED}"
                ));
            }
        }
        for name in names(Some(&capabilities)).filter(|name| !CAPABILITIES.contains(name)) {
            messages.push(format!(
                "capability `{name}`: not observed, no protocol revision defines it"
            ));
        }
        for name in names(capabilities.get("experimental")) {
            messages.push(format!(
                "experimental capability `{name}`: not observed, only its declaration is compared"
            ));
        }
        for name in names(capabilities.get("extensions")).filter(|name| !is_read(name)) {
            messages.push(format!(
                "extension `{name}`: not observed, only its declaration is compared"
            ));
        }
        if messages.len() > NAMED {
            let more = messages.len() - NAMED;
            messages.truncate(NAMED);
            messages.push(format!("{more} more declarations: not observed"));
        }
        for message in messages {
            self.note(NoteKind::NotObserved, None, message);
        }
        if !matches!(
            capabilities.get("logging"),
            None | Some(Json::Null | Json::Bool(false))
        ) {
            let message = deprecated_in_2026(
                "capability `logging`",
                "log to stderr, or use OpenTelemetry",
            );
            self.note(NoteKind::DeprecatedFeature, None, message);
        }
        let icons = self.server_info.get("icons").cloned();
        self.note_icons(None, icons.as_ref());
    }

    pub(super) fn note_deprecated(&mut self, kind: Kind, key: &ComponentKey, definition: &Json) {
        let meta = definition.get("_meta");
        if kind == Kind::Tool && meta.is_some_and(|meta| meta.get("ui/resourceUri").is_some()) {
            self.note(
                NoteKind::DeprecatedFeature,
                Some(key),
                deprecated(
                    "`_meta[\"ui/resourceUri\"]`",
                    "2026-01-26",
                    "before MCP Apps is generally available",
                    "use `_meta.ui.resourceUri`",
                ),
            );
        }
    }

    /// Notes icons that clients must not load, once per component.
    pub(super) fn note_icons(&mut self, key: Option<&ComponentKey>, icons: Option<&Json>) {
        let refused = Icon::all(icons).find(|icon| icon.problem().is_some());
        if let Some(icon) = refused {
            let shown: String = icon.src().chars().take(80).collect();
            let why = match icon.problem() {
                Some(IconProblem::UnsafeScheme) => "its scheme is neither `https:` nor `data:`",
                _ => "`http:` is not `https:`",
            };
            let message = format!("clients must reject the icon `{shown}`: {why}");
            self.note(NoteKind::IconRefused, key, message);
        }
    }
}

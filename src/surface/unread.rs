//! What a server offers and mcp-keel does not read, and what it uses that the protocol is about to
//! remove.
//!
//! The promise: nothing that a server declares is silently ignored. A declaration is compared like
//! any other; the finding says that its content is not.

use super::icon::{Icon, IconProblem};
use super::{ComponentKey, Kind, Surface};
use crate::canonical::{Json, Object};
use crate::rules::RuleId;
use crate::sentences::surface as sentences;

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

/// How many declarations that are not read are named one by one.
const NAMED: usize = 20;

/// The members of an answer that no revision of the protocol has.
pub(super) fn other_members(greeting: &Json) -> Json {
    let members = greeting.as_object().into_iter().flat_map(Object::iter);
    let others = members.filter(|(name, _)| !GREETING.contains(&name.to_string_lossy()));
    others
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Object>()
        .into()
}

/// The names in an object of capabilities.
fn names(object: Option<&Json>) -> impl Iterator<Item = &str> {
    let members = object.and_then(Json::as_object);
    let members = members.into_iter().flat_map(Object::iter);
    members.map(|(name, _)| name.to_string_lossy())
}

impl Surface {
    /// Notes what is declared but not read, and what is deprecated.
    pub(super) fn note_unread(&mut self) {
        let capabilities = self.capabilities.clone();
        let mut messages = Vec::new();
        for name in names(self.other_members.as_ref()) {
            messages.push(sentences::member_not_observed(name));
        }
        for name in names(Some(&capabilities)).filter(|name| !CAPABILITIES.contains(name)) {
            messages.push(sentences::capability_not_observed(name));
        }
        for name in names(capabilities.get("experimental")) {
            messages.push(sentences::experimental_not_observed(name));
        }
        for name in names(capabilities.get("extensions")).filter(|name| !is_read(name)) {
            messages.push(sentences::extension_not_observed(name));
        }
        if messages.len() > NAMED {
            let more = messages.len() - NAMED;
            messages.truncate(NAMED);
            messages.push(sentences::more_not_observed(more));
        }
        for message in messages {
            self.note(RuleId::NotObserved, None, message);
        }
        if !matches!(
            capabilities.get("logging"),
            None | Some(Json::Null | Json::Bool(false))
        ) {
            self.note(
                RuleId::DeprecatedFeature,
                None,
                sentences::deprecated_logging(),
            );
        }
        let icons = self.server_info.get("icons").cloned();
        self.note_icons(None, icons.as_ref());
    }

    pub(super) fn note_deprecated(&mut self, kind: Kind, key: &ComponentKey, definition: &Json) {
        let meta = definition.get("_meta");
        if kind == Kind::Tool && meta.is_some_and(|meta| meta.get("ui/resourceUri").is_some()) {
            self.note(
                RuleId::DeprecatedFeature,
                Some(key),
                sentences::deprecated_flat_uri(),
            );
        }
    }

    /// Notes icons that clients must not load, once per component.
    pub(super) fn note_icons(&mut self, key: Option<&ComponentKey>, icons: Option<&Json>) {
        let refused = Icon::all(icons).find(|icon| icon.problem().is_some());
        if let Some(icon) = refused {
            let scheme_is_unsafe = icon.problem() == Some(IconProblem::UnsafeScheme);
            let message = sentences::icon_refused(icon.src(), scheme_is_unsafe);
            self.note(RuleId::IconRefused, key, message);
        }
    }
}

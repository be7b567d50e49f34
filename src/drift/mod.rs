//! Compares two surfaces and lists the changes.
//!
//! The promise: every difference between two contracts yields at least one located change. What no
//! rule explains is `unclassified-change`, never silence; a surface compared with itself yields
//! nothing. Pure: no I/O, no clock.

mod capability;
pub(crate) mod component;
mod content;
mod era;
pub(crate) mod located;
mod meta;
mod prompt;
mod provider;
mod refused;
mod rename;
mod server;
mod skill;
mod template;
pub mod text_diff;
mod tool;

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::{Json, canonical_array};
use crate::fingerprint::Digest;
use crate::judgement::{Exposure, Level, Proof};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::surface::{Component, ComponentKey, KindSet, Surface};
use crate::wording::join_with_and;

pub use server::{not_pinned as server_not_pinned, removed as server_removed};
pub(crate) use skill::allowed as allowed_tools;

/// One located difference, with its effect on callers and on the people who approved the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub rule: RuleId,
    /// The component's key; `None` for the server itself.
    pub component: Option<ComponentKey>,
    /// Where in the definition (or in the server's entry).
    pub pointer: String,
    pub level: Level,
    pub exposure: Exposure,
    /// How the level is known, if a schema decides it.
    pub proof: Option<Proof>,
    pub old: Option<Json>,
    pub new: Option<Json>,
    /// One sentence. May quote the server: escape before printing.
    pub message: String,
    /// For a changed text: the word diff.
    pub words: Vec<text_diff::Run>,
}

impl Change {
    /// A change with the default level and exposure of its rule.
    pub(crate) fn new(rule: RuleId, pointer: impl Into<String>, message: String) -> Self {
        Self {
            rule,
            component: None,
            pointer: pointer.into(),
            level: rule.rule().level,
            exposure: rule.rule().exposure,
            proof: None,
            old: None,
            new: None,
            message,
            words: Vec::new(),
        }
    }

    pub(crate) fn values(mut self, old: Option<&Json>, new: Option<&Json>) -> Self {
        self.old = old.cloned();
        self.new = new.cloned();
        self
    }

    pub(crate) fn exposure(mut self, exposure: Exposure) -> Self {
        self.exposure = exposure;
        self
    }

    /// A changed text: old and new values, the words that differ, and the resulting exposure.
    pub(crate) fn text(mut self, old: Option<&Json>, new: Option<&Json>) -> Self {
        let read = |value: Option<&Json>| match value {
            Some(Json::String(text)) => text.to_string_lossy().to_owned(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let (old_text, new_text) = (read(old), read(new));
        self.words = text_diff::diff(&old_text, &new_text);
        self.exposure = crate::scan::text_exposure(&old_text, &new_text);
        self.values(old, new)
    }

    /// The identity of this change: stable across commits, so that an acceptance carries forward.
    /// It covers the new value, so that accepting one change never accepts the next one at the same
    /// place.
    pub fn id(&self, server: &str) -> String {
        let component = self.component.as_deref().unwrap_or("server");
        let [server, component, rule, pointer] =
            [server, component, self.rule.id(), &self.pointer].map(Json::string);
        let new = self.new.as_ref().unwrap_or(&Json::Null);
        let identity = canonical_array(&[&server, &component, &rule, &pointer, new]);
        Digest::of(identity).id()
    }
}

/// Whether a text is the id of a change: all 32 digits of it. A beginning names nothing, as another change may begin alike.
pub(crate) fn is_change_id(text: &str) -> bool {
    text.len() == 32
        && text
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// Everything that differs between two surfaces, without sharing work with other servers.
pub fn compare(old: &Surface, new: &Surface) -> Vec<Change> {
    compare_within(old, new, &Work::for_one_of(1))
}

/// Everything that differs between two surfaces: the server first, then components by key.
pub(crate) fn compare_within(old: &Surface, new: &Surface, work: &Work) -> Vec<Change> {
    // What one source does not record is as in the other, so that it is no difference.
    let (old, new) = (&*old.completed_from(new), &*new.completed_from(old));
    let mut changes = Vec::new();
    if old.scope.server && new.scope.server {
        server::compare(old, new, work, &mut changes);
    }
    let kinds = old.scope.kinds.and(new.scope.kinds);
    let mut old_components = by_key(old, kinds);
    let mut new_components = by_key(new, kinds);
    // What one side could not observe is not compared.
    for note in old.notes.iter().chain(&new.notes) {
        if let (RuleId::NotObserved, Some(key)) = (note.rule, &note.component) {
            old_components.remove(key.as_str());
            new_components.remove(key.as_str());
        }
    }
    let removed = only_in(&old_components, &new_components);
    let added = only_in(&new_components, &old_components);
    let renamed = rename::find((old, &removed), (new, &added));
    let moved = template::find(&removed, &added);
    let pairs = renamed.iter().map(|pair| &pair.old.key);
    let known: BTreeSet<&ComponentKey> = pairs
        .chain(moved.iter().map(|pair| &pair.old.key))
        .collect();
    match server::emptied(&old_components, &new_components) {
        Some(change) => changes.push(change),
        None => changes.extend(
            removed
                .iter()
                .filter(|component| !known.contains(&component.key))
                .map(|component| component::removed(component, work)),
        ),
    }
    let renamed_to: BTreeMap<_, _> = renamed.iter().map(|it| (&it.new.key, it)).collect();
    let moved_to: BTreeMap<_, _> = moved.iter().map(|it| (&it.new.key, it)).collect();
    for component in added {
        let key = &component.key;
        match (renamed_to.get(key), moved_to.get(key)) {
            (Some(pair), _) => pair.compare(work, &mut changes),
            (_, Some(pair)) => pair.compare(old, work, &mut changes),
            _ => changes.push(component::added(component)),
        }
    }
    for (key, component) in &new_components {
        if let Some(before) = old_components.get(key) {
            component::compare(before, component, work, &mut changes);
            changes.extend(tool::hidden((old, before), (new, component), work));
        }
    }
    let renamed = renamed.iter().map(|pair| (pair.new.key.as_str(), pair.old));
    refused::compare(
        (old, new),
        &old_components,
        &new_components,
        &renamed.collect(),
        &mut changes,
    );
    meta::soften_tasks(old, new, &mut changes);
    if old.scope.order && new.scope.order {
        server::compare_order(old, new, &mut changes);
    } else {
        // Without a known order of tools, the order of members is unknown too.
        let is_spelling = |rule: RuleId| {
            matches!(
                rule,
                RuleId::DefinitionRespelled
                    | RuleId::InputSchemaSpellingChanged
                    | RuleId::OutputSchemaSpellingChanged
            )
        };
        changes.retain(|change| !is_spelling(change.rule));
    }
    if old.scope.server && new.scope.server && old.era() != new.era() {
        changes.retain(|change| !era::explains(change, old, new));
    }
    changes.sort_by(|one, other| one.component.cmp(&other.component));
    changes
}

fn by_key(surface: &Surface, kinds: KindSet) -> BTreeMap<&str, &Component> {
    surface
        .components
        .iter()
        .filter(|component| kinds.contains(component.kind))
        .map(|component| (component.key.as_str(), component))
        .collect()
}

/// The components that only the first of two has.
fn only_in<'a>(
    one: &BTreeMap<&str, &'a Component>,
    other: &BTreeMap<&str, &Component>,
) -> Vec<&'a Component> {
    let mine = one.iter().filter(|(key, _)| !other.contains_key(*key));
    mine.map(|(_, component)| *component).collect()
}

/// How many names a sentence lists.
const NAMED: usize = 5;

/// `` `a` ``, `` `a` and `b` ``, `` `a`, `b` and 3 more ``
fn quoted_list(names: &[impl AsRef<str>]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|it| format!("`{}`", it.as_ref()))
        .collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    join_with_and(shown.iter().map(String::as_str))
}

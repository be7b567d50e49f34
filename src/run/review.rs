//! What a person goes through: the components that differ, each with its changes.

use std::collections::{BTreeMap, BTreeSet};

use super::Error;
use super::judge_server;
use super::pin::{Observation, Seen};
use super::selection::{self, Chosen};
use crate::baseline::signature;
use crate::drift;
use crate::policy::Policy;
use crate::report::{Located, ServerReport};
use crate::rules::RuleId;
use crate::surface::{Component, ComponentKey};

/// A component that differs, or a rename with both halves, or a server itself.
pub(crate) struct Item<'a> {
    pub(crate) seen: &'a Seen,
    /// As it is printed.
    pub(crate) name: String,
    pub(crate) chosen: Chosen,
    pub(crate) changes: Vec<Located>,
}

impl Item<'_> {
    fn components<'s>(
        &'s self,
        of: &'s crate::surface::Surface,
    ) -> impl Iterator<Item = &'s Component> {
        let components = of.components.iter();
        components.filter(|component| self.chosen.keys.contains(&component.key))
    }

    /// What is written into the baseline: `-` what it was, `+` what it is, `~` what has the same signature.
    pub(crate) fn lines(&self) -> Vec<(char, String)> {
        let signatures = |of: &crate::surface::Surface| -> BTreeSet<String> {
            self.components(of).map(signature).collect()
        };
        let old = self.seen.pinned.as_ref();
        let old = old.map_or_else(BTreeSet::new, |pinned| signatures(&pinned.surface));
        let new = signatures(&self.seen.surface);
        let mut lines: Vec<(char, String)> = Vec::new();
        if self.chosen.server {
            lines.push(('~', self.name.clone()));
        }
        let marked = |mark: char| move |text: &String| (mark, text.clone());
        lines.extend(old.difference(&new).map(marked('-')));
        lines.extend(new.difference(&old).map(marked('+')));
        lines.extend(old.intersection(&new).map(marked('~')));
        lines
    }

    /// The descriptions of what is new.
    pub(crate) fn new_descriptions(&self) -> Vec<String> {
        let Some(pinned) = &self.seen.pinned else {
            return Vec::new();
        };
        let is_new = |component: &&Component| pinned.surface.component(&component.key).is_none();
        let new = self.components(&self.seen.surface).filter(is_new);
        new.filter_map(|component| {
            let description = component.definition.get("description")?.as_text()?;
            Some(description.to_string_lossy().to_owned())
        })
        .collect()
    }
}

/// Everything that differs, server by server, in the order of the report.
pub(crate) fn items<'a>(observation: &'a Observation, policy: &Policy) -> Vec<Item<'a>> {
    let seen: Vec<&Seen> = observation.seen().collect();
    let report = |seen: &&Seen| observation.report(seen, &seen.surface, policy);
    let mut reports: Vec<ServerReport> = seen.iter().map(report).collect();
    judge_server::locate(&mut reports);
    let both = seen.into_iter().zip(reports);
    both.flat_map(|(seen, report)| of_server(seen, report.changes))
        .collect()
}

fn of_server(seen: &Seen, changes: Vec<Located>) -> Vec<Item<'_>> {
    let Some(pinned) = &seen.pinned else {
        let keys = seen.surface.components.iter();
        return vec![Item {
            seen,
            name: seen.name.clone(),
            chosen: Chosen {
                server: true,
                keys: keys.map(|component| component.key.clone()).collect(),
            },
            changes,
        }];
    };
    let differing = selection::differing(&pinned.surface, &seen.surface);
    let renames = drift::renames(&pinned.surface, &seen.surface);
    let halves = |key: &ComponentKey| -> BTreeSet<ComponentKey> {
        let is_half = |(old, new): &&(ComponentKey, ComponentKey)| old == key || new == key;
        let other = renames.iter().find(is_half);
        let both = other.into_iter().flat_map(|(old, new)| [old, new]);
        both.chain([key]).cloned().collect()
    };
    let mut items: Vec<Item<'_>> = Vec::new();
    for located in changes {
        let change = &located.judged.change;
        let chosen = match &change.component {
            Some(key) => Chosen {
                server: false,
                keys: halves(key),
            },
            // One change for everything that is gone.
            None if change.rule == RuleId::SurfaceEmptied => {
                let is_gone = |key: &&ComponentKey| seen.surface.component(key).is_none();
                Chosen {
                    server: false,
                    keys: differing.keys.iter().filter(is_gone).cloned().collect(),
                }
            }
            None => Chosen {
                server: true,
                keys: BTreeSet::new(),
            },
        };
        match items.iter_mut().find(|item| item.chosen == chosen) {
            Some(item) => item.changes.push(located),
            None => items.push(Item {
                seen,
                name: selection::names(&chosen, &pinned.surface, &seen.surface).join(", "),
                chosen,
                changes: vec![located],
            }),
        }
    }
    items
}

/// What was accepted, by server.
pub(crate) fn accepted(items: &[&Item<'_>]) -> BTreeMap<String, Chosen> {
    let mut accepted: BTreeMap<String, Chosen> = BTreeMap::new();
    for item in items {
        let of_server = accepted.entry(item.seen.name.clone()).or_default();
        of_server.add(item.chosen.clone());
    }
    accepted
}

/// An error if a server no longer lists what was accepted.
pub(crate) fn unchanged(
    accepted: &BTreeMap<String, Chosen>,
    before: &Observation,
    now: &Observation,
) -> Result<(), Error> {
    for (server, chosen) in accepted {
        let find = |of: &'_ Observation| -> Option<Vec<Component>> {
            let seen = of.seen().find(|seen| seen.name == *server)?;
            let components = seen.surface.components.iter();
            let chosen = components.filter(|component| chosen.keys.contains(&component.key));
            Some(chosen.cloned().collect())
        };
        let own = |of: &'_ Observation| {
            let seen = of.seen().find(|seen| seen.name == *server)?;
            Some(crate::fingerprint::keel::server_fingerprint(&seen.surface))
        };
        let is_same = find(before) == find(now) && (!chosen.server || own(before) == own(now));
        if !is_same {
            return Err(Error::undetermined(
                format!(
                    "{server} lists something else than what you have just reviewed; nothing was written"
                ),
                "review it again; `mcp-keel check --repeat 3` shows whether it changes from start to start",
            ));
        }
    }
    Ok(())
}

//! The same tool as seen by several clients.

use super::describe::cut;
use crate::canonical::Json;
use crate::drift::located;
use crate::rules::RuleId;
use crate::surface::{CacheScope, ComponentKey, Kind, Note, Surface};

/// How many differing tools are named individually, and how many places of each.
const TOOLS: usize = 20;
const PLACES: usize = 5;

/// A finding for every tool that differs between the profiles of one server. A tool that a profile
/// does not have is not reported: that is what profiles are for.
pub fn differing(server: &str, profiles: &[(&str, &Surface)]) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(shared_by_caches(server, profiles));
    for (index, (profile, surface)) in profiles.iter().enumerate() {
        for tool in surface.of_kind(Kind::Tool) {
            // Compared with the first that has it: every difference shows there.
            let first = profiles[..index]
                .iter()
                .find_map(|(name, earlier)| Some((name, earlier.component(&tool.key)?)));
            let Some((reference, same)) = first else {
                continue;
            };
            let places = located::differences(&same.contract(), &tool.contract());
            if places.is_empty() {
                continue;
            }
            let mut named: Vec<String> = places
                .iter()
                .take(PLACES)
                .map(|place| format!("`{}`", cut(&place.pointer)))
                .collect();
            if places.len() > PLACES {
                named.push(format!("{} more", places.len() - PLACES));
            }
            notes.push(Note {
                rule: RuleId::ToolDiffersByProfile,
                component: Some(tool.key.clone()),
                message: format!(
                    "{server}: differs between the profiles `{reference}` and `{profile}`: {}",
                    named.join(", ")
                ),
            });
        }
    }
    let public = notes
        .iter()
        .filter(|it| it.rule == RuleId::CacheScopePublic)
        .count();
    if notes.len() - public > TOOLS {
        let more = notes.len() - public - TOOLS;
        notes.truncate(public + TOOLS);
        notes.push(Note {
            rule: RuleId::ToolDiffersByProfile,
            component: None,
            message: format!("{server}: {more} more differences between profiles"),
        });
    }
    notes
}

/// A finding for every list that any cache may give to anyone, although two profiles got different
/// ones.
fn shared_by_caches(server: &str, profiles: &[(&str, &Surface)]) -> Vec<Note> {
    let mut notes = Vec::new();
    for kind in Kind::ALL.iter().copied() {
        let listed = |surface: &Surface| -> Vec<(ComponentKey, Json)> {
            let mut listed: Vec<_> = surface
                .of_kind(kind)
                .map(|it| (it.key.clone(), it.contract().into_owned()))
                .collect();
            listed.sort_by(|one, other| one.0.cmp(&other.0));
            listed
        };
        let public = |it: &Surface| it.caching.of(kind).scope == Some(CacheScope::Public);
        let mut public = profiles.iter().filter(|(_, surface)| public(surface));
        let Some((first, reference)) = public.next() else {
            continue;
        };
        // A client that gets the first one's list from a cache sees what is not meant for it.
        let reference = listed(reference);
        let other = profiles
            .iter()
            .find(|(name, surface)| name != first && listed(surface) != reference);
        if let Some((other, _)) = other {
            notes.push(Note {
                rule: RuleId::CacheScopePublic,
                component: None,
                message: format!(
                    "{server}: `{}` has cacheScope `public`, but the profiles `{first}` and `{other}` see \
                     different lists",
                    kind.list_member()
                ),
            });
        }
    }
    notes
}

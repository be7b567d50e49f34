//! The same tool in the eyes of several clients.

use super::told::cut;
use crate::drift::located;
use crate::rules::RuleId;
use crate::surface::{Kind, Note, Surface};

/// How many differing tools are named one by one, and how many places of each.
const TOOLS: usize = 20;
const PLACES: usize = 5;

/// A finding for every tool that is not the same for all profiles of one server. A tool that a profile does not have is no
/// such tool: that is what profiles are for.
pub fn differing(server: &str, profiles: &[(&str, &Surface)]) -> Vec<Note> {
    let mut notes = Vec::new();
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
                    "{server}: it is not the same for the profile `{profile}` as for `{reference}`: {}",
                    named.join(", ")
                ),
            });
        }
    }
    if notes.len() > TOOLS {
        let more = notes.len() - TOOLS;
        notes.truncate(TOOLS);
        notes.push(Note {
            rule: RuleId::ToolDiffersByProfile,
            component: None,
            message: format!("{server}: {more} more differences between profiles"),
        });
    }
    notes
}

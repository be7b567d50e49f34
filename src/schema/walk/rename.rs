//! A parameter that vanished and one that appeared: are they the same one under another name?

use crate::canonical::{Json, Text};
use crate::schema::example_values::words;
use crate::schema::value::same;

use super::without_annotations;

/// A member that may have been renamed.
pub(super) struct Candidate<'a> {
    pub(super) name: &'a Text,
    pub(super) schema: &'a Json,
    pub(super) required: bool,
}

/// Pairs of removed and added members that match, with their likeness in percent.
pub(super) fn renamed(
    removed: &[Candidate<'_>],
    added: &[Candidate<'_>],
) -> Vec<(usize, usize, u32)> {
    // Beyond this a table was rewritten, and pairing by likeness would invent a story.
    if removed.len() * added.len() > 400 {
        return Vec::new();
    }
    let mut scored = Vec::new();
    for (old_index, old) in removed.iter().enumerate() {
        for (new_index, new) in added.iter().enumerate() {
            if let Some(percent) = likeness(old, new) {
                scored.push((std::cmp::Reverse(percent), old_index, new_index));
            }
        }
    }
    scored.sort();
    let mut pairs: Vec<(usize, usize, u32)> = Vec::new();
    for (percent, old, new) in scored {
        if pairs
            .iter()
            .all(|(mine, theirs, _)| *mine != old && *theirs != new)
        {
            pairs.push((old, new, percent.0));
        }
    }
    pairs
}

fn likeness(old: &Candidate<'_>, new: &Candidate<'_>) -> Option<u32> {
    let (mine, theirs) = (
        words(old.name.to_string_lossy()),
        words(new.name.to_string_lossy()),
    );
    let same_words = mine.concat() == theirs.concat();
    let bare = (
        without_annotations(old.schema),
        without_annotations(new.schema),
    );
    let same_schema = same(&bare.0, &bare.1);
    if same_words {
        // Only the separators or the case moved; the schema may have moved a little too.
        return Some(if same_schema { 100 } else { 95 });
    }
    let text = |schema: &Json| {
        schema
            .get("description")
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_lowercase()
    };
    let (old_text, new_text) = (text(old.schema), text(new.schema));
    let by_text =
        if old_text.len() >= 8 && new_text.len() >= 8 && old_text.len() + new_text.len() < 4_000 {
            strsim::normalized_levenshtein(&old_text, &new_text)
        } else {
            0.0
        };
    let by_name = strsim::jaro_winkler(&mine.concat(), &theirs.concat());
    let contained = !mine.is_empty()
        && !theirs.is_empty()
        && (mine.iter().all(|it| theirs.contains(it)) || theirs.iter().all(|it| mine.contains(it)));
    let convincing = same_schema
        && (by_text >= 0.85
            || (by_text >= 0.6 && by_name >= 0.7)
            || (contained && old.required == new.required)
            || by_name >= 0.92);
    if !convincing {
        return None;
    }
    let best = by_text.max(by_name).max(if contained { 0.8 } else { 0.0 });
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let percent = (best * 100.0).round() as u32;
    Some(percent.min(99))
}

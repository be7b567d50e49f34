//! Whether a removed and an added parameter are the same under another name.

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::{Json, Text};
use crate::schema::example_values::words;
use crate::schema::likeness::{
    assigned, exchanged, opposed, synonymous, texts_follow, without_version,
};
use crate::schema::value::same;

use super::without_annotations;

/// A member that may have been renamed.
pub(super) struct Candidate<'a> {
    pub(super) name: &'a Text,
    pub(super) schema: &'a Json,
    pub(super) required: bool,
}

/// Matching pairs of removed and added members, with their similarity in percent, considered
/// together.
pub(super) fn renamed(
    removed: &[Candidate<'_>],
    added: &[Candidate<'_>],
) -> Vec<(usize, usize, u32)> {
    // Beyond this a table was rewritten, and pairing by similarity would invent a story.
    if removed.is_empty() || added.is_empty() || removed.len() * added.len() > 400 {
        return Vec::new();
    }
    let (gone, fresh) = (traits(removed), traits(added));
    let mut scored = Vec::new();
    // Which word was exchanged for which: the same exchange in two members supports both.
    let mut exchanges: BTreeMap<(&str, &str), Vec<(usize, usize)>> = BTreeMap::new();
    for (old_index, old) in gone.iter().enumerate() {
        for (new_index, new) in fresh.iter().enumerate() {
            if opposed(&old.words, &new.words) {
                continue;
            }
            if let Some(percent) = likeness(old, new) {
                scored.push((old_index, new_index, percent));
            } else if let Some(words) = exchange(old, new) {
                exchanges
                    .entry(words)
                    .or_default()
                    .push((old_index, new_index));
            }
        }
    }
    for pairs in exchanges.values() {
        let sources: BTreeSet<usize> = pairs.iter().map(|it| it.0).collect();
        let targets: BTreeSet<usize> = pairs.iter().map(|it| it.1).collect();
        if sources.len() > 1 && targets.len() > 1 {
            scored.extend(pairs.iter().map(|(old, new)| (*old, *new, 85)));
        }
    }
    assigned(scored)
}

/// What a member is recognised by.
struct Traits<'a> {
    words: Vec<String>,
    name: String,
    text: String,
    bare: Json,
    required: bool,
    member: &'a Candidate<'a>,
}

/// Longer texts are compared by their beginnings.
const MAX_TEXT: usize = 300;

fn traits<'a>(members: &'a [Candidate<'a>]) -> Vec<Traits<'a>> {
    members
        .iter()
        .map(|member| {
            let words = words(member.name.to_string_lossy());
            let text = member.schema.get("description").and_then(Json::as_str);
            Traits {
                name: words.concat(),
                words,
                text: text
                    .unwrap_or_default()
                    .to_lowercase()
                    .chars()
                    .take(MAX_TEXT)
                    .collect(),
                bare: without_annotations(member.schema),
                required: member.required,
                member,
            }
        })
        .collect()
}

/// The one word in which two names differ, if the members are otherwise the same.
fn exchange<'a>(old: &'a Traits<'_>, new: &'a Traits<'_>) -> Option<(&'a str, &'a str)> {
    let words = exchanged(&old.words, &new.words)?;
    (old.required == new.required && same(&old.bare, &new.bare)).then_some(words)
}

fn likeness(old: &Traits<'_>, new: &Traits<'_>) -> Option<u32> {
    let same_schema = same(&old.bare, &new.bare);
    if old.name == new.name {
        // Only separators or case changed; the schema may have changed a little too.
        return Some(if same_schema { 100 } else { 95 });
    }
    if !same_schema {
        return None;
    }
    let says = |text: &str, stem: &str| {
        text.split(|it: char| !it.is_alphanumeric())
            .any(|word| word.starts_with(stem))
    };
    let follow = texts_follow((&old.words, &new.words), |stem| {
        (says(&old.text, stem), says(&new.text, stem))
    });
    let by_text = if !follow && old.text.len() >= 8 && new.text.len() >= 8 {
        strsim::normalized_levenshtein(&old.text, &new.text)
    } else {
        0.0
    };
    let by_name = strsim::jaro_winkler(&old.name, &new.name);
    let within = |one: &[String], other: &[String]| {
        !one.is_empty() && one.iter().all(|it| other.contains(it))
    };
    let contained = within(&old.words, &new.words) || within(&new.words, &old.words);
    let versions = without_version(&old.words) == without_version(&new.words);
    let synonyms = synonymous(&old.words, &new.words);
    let convincing = by_text >= 0.85
        || (by_text >= 0.6 && by_name >= 0.7)
        || synonyms
        || ((contained || versions) && old.member.required == new.member.required)
        || by_name >= 0.92;
    if !convincing {
        return None;
    }
    let by_words = if synonyms {
        0.9
    } else if contained {
        0.8
    } else {
        0.0
    };
    let best = by_text.max(by_name).max(by_words);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let percent = (best * 100.0).round() as u32;
    Some(percent.min(99))
}

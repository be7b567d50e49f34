//! Whether a removed and an added parameter are the same under another name.

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::{Json, Text};
use crate::schema::example_values::words;
use crate::schema::likeness::{
    Difference, Named, Relation, assigned, exchanged, relation, stem, stems, texts_follow,
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
            let relation = relation(&old.words, &new.words, Named::Member);
            if relation == Relation::Opposed {
                continue;
            }
            if let Some(percent) = likeness(old, new, &relation) {
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
struct Traits {
    words: Vec<String>,
    name: String,
    text: String,
    /// The stems of the words of the text.
    says: BTreeSet<String>,
    bare: Json,
    required: bool,
}

/// Longer texts are compared by their beginnings.
const MAX_TEXT: usize = 300;

fn traits(members: &[Candidate<'_>]) -> Vec<Traits> {
    members
        .iter()
        .map(|member| {
            let words = words(member.name.to_string_lossy());
            let text = member.schema.get("description").and_then(Json::as_str);
            let text: String = text
                .unwrap_or_default()
                .to_lowercase()
                .chars()
                .take(MAX_TEXT)
                .collect();
            Traits {
                name: words.concat(),
                words,
                says: stems(&text),
                text,
                bare: without_annotations(member.schema),
                required: member.required,
            }
        })
        .collect()
}

/// The word that was exchanged, if the members are otherwise the same. What a member is comes last
/// in its name; what comes before tells it from its siblings (`billingCity`, `shippingCity`).
fn exchange<'a>(old: &'a Traits, new: &'a Traits) -> Option<(&'a str, &'a str)> {
    let words = exchanged(&old.words, &new.words)?;
    let last = old.words.last() != new.words.last();
    (last && old.required == new.required && same(&old.bare, &new.bare)).then_some(words)
}

fn likeness(old: &Traits, new: &Traits, relation: &Relation) -> Option<u32> {
    let same_schema = same(&old.bare, &new.bare);
    if old.name == new.name {
        // Only separators or case changed; the schema may have changed a little too.
        return Some(if same_schema { 100 } else { 95 });
    }
    if !same_schema {
        return None;
    }
    let follow = texts_follow((&old.words, &new.words), (&old.says, &new.says));
    let by_text = if !follow && old.text.len() >= 8 && new.text.len() >= 8 {
        strsim::normalized_levenshtein(&old.text, &new.text)
    } else {
        0.0
    };
    // A text that two members have in common is evidence if it says what one of them is called.
    let speaks = |difference: &Difference| {
        let says = |text: &BTreeSet<String>, words: &[String]| {
            words.iter().any(|word| text.contains(&stem(word)))
        };
        says(&new.says, &difference.gone) || says(&old.says, &difference.fresh)
    };
    let by_name = match relation {
        Relation::Spelling => 0.95,
        Relation::Synonyms => 0.9,
        Relation::Extended if by_text >= 0.85 || old.required == new.required => 0.8,
        Relation::Near if by_text >= 0.6 => 0.8,
        Relation::Unknown(difference) if speaks(difference) => {
            let shared = old.words.iter().any(|word| new.words.contains(word));
            if by_text < if shared { 0.6 } else { 0.85 } {
                return None;
            }
            by_text
        }
        _ => return None,
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let percent = (by_text.max(by_name) * 100.0).round() as u32;
    Some(percent.min(99))
}

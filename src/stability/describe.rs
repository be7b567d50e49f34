//! Describes what varies: as findings, as an error, and as a line for the configuration. Texts of the server are used as it
//! sent them: escape them before printing.

use super::{Between, Instability, Varying};
use crate::canonical::{Json, is_invisible, to_compact};
use crate::rules::RuleId;
use crate::sentences::stability::{self as sentences, LeftOut, Values};
use crate::surface::{ComponentKey, Note};

/// How many places are named individually.
const NAMED: usize = 20;

/// How much of a varying text and its context is shown.
const SHOWN: usize = 80;
const AROUND: usize = 24;

/// How much of a key or a pointer is shown.
const NAME: usize = 200;

pub(super) fn notes(instability: &Instability, left_out: bool) -> Vec<Note> {
    let rule = instability.rule();
    let between = phrase(&instability.between);
    let places = &instability.variation.places;
    if places.is_empty() {
        let message = sentences::order_varies(&between, left_out);
        return vec![note(rule, None, message)];
    }
    let left_out = |place: &Varying| match (left_out, &place.component) {
        (false, _) => LeftOut::No,
        (true, Some(_)) => LeftOut::Component,
        (true, None) => LeftOut::Place,
    };
    let mut notes: Vec<Note> = places
        .iter()
        .take(NAMED)
        .map(|place| {
            let (pointer, values) = (pointer(place), values(place));
            let message =
                sentences::place_varies(pointer.as_deref(), &between, &values, &left_out(place));
            note(rule, place.component.as_ref(), message)
        })
        .collect();
    if places.len() > NAMED {
        let message = sentences::more_places_vary(places.len() - NAMED, &between);
        notes.push(note(rule, None, message));
    }
    notes
}

fn note(rule: RuleId, component: Option<&ComponentKey>, message: String) -> Note {
    Note {
        rule,
        component: component.cloned(),
        message,
    }
}

pub(super) fn sentence(instability: &Instability) -> String {
    let between = phrase(&instability.between);
    match &instability.variation.places[..] {
        [] => sentences::captures_differ_in_order(&between),
        [first, rest @ ..] => sentences::captures_differ(
            &owner(first),
            pointer(first).as_deref(),
            &between,
            &values(first),
            rest.len(),
        ),
    }
}

pub(super) fn help(instability: &Instability, server: &str) -> String {
    let rule = instability.rule();
    let mut help = match rule {
        RuleId::CaptureOrderUnstable => sentences::fix_order(),
        RuleId::CaptureDiffersByClient => sentences::pin_profiles(),
        RuleId::CaptureDiffersByConnection => sentences::fix_connections(),
        _ => sentences::fix_server(),
    };
    let masks: Vec<String> = instability
        .variation
        .places
        .iter()
        .filter_map(mask)
        .take(3)
        .collect();
    if !masks.is_empty() && rule != RuleId::CaptureDiffersByClient {
        help = sentences::or_mask(&help, &bare(server), &masks);
    }
    sentences::or_tolerate(&help, rule.id())
}

/// The masks of [`help`] as a table of the configuration.
pub(super) fn paste(instability: &Instability, server: &str) -> String {
    let masks: Vec<String> = instability
        .variation
        .places
        .iter()
        .filter_map(mask)
        .take(3)
        .collect();
    if masks.is_empty() || instability.rule() == RuleId::CaptureDiffersByClient {
        return String::new();
    }
    let entries: String = masks.iter().map(|it| format!("  {it},\n")).collect();
    format!("[server.{}]\nmask = [\n{entries}]", bare(server))
}

fn phrase(between: &Between) -> sentences::Between<'_> {
    match between {
        Between::Calls => sentences::Between::Answers(None),
        Between::Seconds(seconds) => sentences::Between::Answers(Some(*seconds)),
        Between::Boots => sentences::Between::Boots,
        Between::Connections => sentences::Between::Connections,
        Between::Clients { one, other } => sentences::Between::Clients(one, other),
    }
}

/// The beginning of a key or a pointer, which a server can make arbitrarily long.
pub(super) fn cut(name: &str) -> String {
    let mut cut: String = name.chars().take(NAME).collect();
    if cut.len() < name.len() {
        cut.push('…');
    }
    cut
}

fn owner(place: &Varying) -> String {
    cut(place.component.as_deref().unwrap_or(super::mask::SERVER))
}

/// Where in a component something varies; none for the component itself.
fn pointer(place: &Varying) -> Option<String> {
    let whole = place.pointer.is_empty() && place.component.is_some();
    (!whole).then(|| cut(&place.pointer))
}

fn values(place: &Varying) -> Values {
    let both = |one: &str, other: &str| {
        let (one, other) = Texts::of(one, other).shown();
        Values::Both(one, other)
    };
    match (&place.one, &place.other) {
        (Some(Json::String(one)), Some(Json::String(other))) => {
            both(one.to_string_lossy(), other.to_string_lossy())
        }
        (Some(one), Some(other)) => both(&to_compact(one), &to_compact(other)),
        (Some(_), None) => Values::First,
        _ => Values::Second,
    }
}

/// Two texts, split into their common prefix and suffix and the part that differs. The difference
/// consists of whole words, so that `12:00:01` is not cut after `12:00:0`.
struct Texts<'a> {
    before: &'a str,
    one: &'a str,
    other: &'a str,
    after: &'a str,
}

impl<'a> Texts<'a> {
    fn of(one: &'a str, other: &'a str) -> Self {
        let shared = |(one, other): &(char, char)| one == other;
        let is_word = |c: &char| c.is_alphanumeric() || "-_:./\\+@%#~".contains(*c);
        let same: Vec<char> = one
            .chars()
            .zip(other.chars())
            .take_while(shared)
            .map(|(c, _)| c)
            .collect();
        let word = same.iter().rev().take_while(|c| is_word(c)).count();
        let start: usize = same[..same.len() - word].iter().map(|c| c.len_utf8()).sum();
        let (one, before) = (&one[start..], &one[..start]);
        let other = &other[start..];
        let same: Vec<char> = one
            .chars()
            .rev()
            .zip(other.chars().rev())
            .take_while(shared)
            .map(|(c, _)| c)
            .collect();
        let word = same.iter().rev().take_while(|c| is_word(c)).count();
        let end: usize = same[..same.len() - word].iter().map(|c| c.len_utf8()).sum();
        Self {
            before,
            after: &one[one.len() - end..],
            one: &one[..one.len() - end],
            other: &other[..other.len() - end],
        }
    }

    fn shown(&self) -> (String, String) {
        let (before, after) = (ending(self.before), beginning(self.after));
        let show = |varying: &str| {
            let start = if before.len() < self.before.len() {
                "…"
            } else {
                ""
            };
            let end = if after.len() < self.after.len() {
                "…"
            } else {
                ""
            };
            let mut middle: String = varying.chars().take(SHOWN).collect();
            if middle.len() < varying.len() {
                middle.push('…');
            }
            format!("{start}{before}{middle}{after}{end}")
        };
        (show(self.one), show(self.other))
    }
}

/// An entry of `mask` for exactly the varying text of a place.
fn mask(place: &Varying) -> Option<String> {
    let (Some(Json::String(one)), Some(Json::String(other))) = (&place.one, &place.other) else {
        return None;
    };
    let texts = Texts::of(one.as_str()?, other.as_str()?);
    let component = place.component.as_deref();
    mask_entry(component, &place.pointer, texts.before, texts.after)
}

/// An entry of `mask` for the text between two others; `None` if no mask may cover this place.
pub(super) fn mask_entry(
    component: Option<&str>,
    pointer: &str,
    before: &str,
    after: &str,
) -> Option<String> {
    let long = |name: &str| name.chars().nth(NAME).is_some();
    if !super::mask::is_text(component, pointer) || long(pointer) || component.is_some_and(long) {
        return None;
    }
    let mut entry = format!(
        "{{ component = {}, pointer = {}",
        quoted(component.unwrap_or(super::mask::SERVER)),
        quoted(pointer)
    );
    if !before.is_empty() || !after.is_empty() {
        let (before, after) = (ending(before), beginning(after));
        let (before, after) = (regex::escape(before), regex::escape(after));
        let pattern = if after.is_empty() {
            format!("{before}(.*)$")
        } else {
            format!("{before}(.*?){after}")
        };
        entry.push_str(&format!(", pattern = {}", quoted(&pattern)));
    }
    entry.push_str(", reason = \"...\" }");
    Some(entry)
}

/// The end of the text before.
fn ending(before: &str) -> &str {
    let from = before.char_indices().rev().take(AROUND).last();
    &before[from.map_or(before.len(), |(at, _)| at)..]
}

/// The beginning of the text after.
fn beginning(after: &str) -> &str {
    let to = after.char_indices().nth(AROUND);
    &after[..to.map_or(after.len(), |(at, _)| at)]
}

/// A TOML key.
fn bare(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A TOML string without invisible characters.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => {
                out.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(one: &str, other: &str) -> (String, String) {
        Texts::of(one, other).shown()
    }

    #[test]
    fn only_whole_words_differ() {
        assert_eq!(
            shown("It is 12:00:01 now.", "It is 12:00:02 now."),
            ("It is 12:00:01 now.".into(), "It is 12:00:02 now.".into())
        );
        let texts = Texts::of("It is 12:00:01 now.", "It is 12:00:02 now.");
        assert_eq!(
            (texts.before, texts.one, texts.after),
            ("It is ", "12:00:01", " now.")
        );
        let texts = Texts::of("a b", "a b c");
        assert_eq!(
            (texts.before, texts.one, texts.other, texts.after),
            ("a ", "b", "b c", "")
        );
        let texts = Texts::of("é ü", "é ä");
        assert_eq!(
            (texts.before, texts.one, texts.other, texts.after),
            ("é ", "ü", "ä", "")
        );
        let texts = Texts::of("aa", "aaa");
        assert_eq!(
            (texts.before, texts.one, texts.other, texts.after),
            ("", "aa", "aaa", "")
        );
        let texts = Texts::of("x  x", "x x");
        assert_eq!((texts.before, texts.one, texts.other), ("x ", " x", "x"));
    }

    #[test]
    fn a_suggested_mask_is_valid_toml_whatever_the_server_sent() {
        let place = Varying {
            component: Some("tool:a\"@".parse().unwrap()),
            pointer: "/description".into(),
            one: Some(Json::string("a \"q\" \u{202e}b(1) 7\n end")),
            other: Some(Json::string("a \"q\" \u{202e}b(1) 8\n end")),
        };
        let line = format!("mask = [{}]", mask(&place).unwrap());
        assert!(!line.contains('\u{202e}'), "{line}");
        let table: toml_edit::DocumentMut = line.parse().unwrap();
        let pattern = table["mask"][0]["pattern"].as_str().unwrap().to_owned();
        let pattern = regex::Regex::new(&pattern).unwrap();
        let found = pattern.captures("a \"q\" \u{202e}b(1) 9\n end").unwrap();
        assert_eq!(&found[1], "9");
    }
}

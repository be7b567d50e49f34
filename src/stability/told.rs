//! What varies, in words: for findings, for an error, and as a line for the configuration. Texts of the server stand here
//! as it sent them: escape them before printing.

use super::{Between, Instability, Varying};
use crate::canonical::{Json, is_invisible, to_compact};
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Note};

/// How many places are named one by one.
const NAMED: usize = 20;

/// How much of a varying text, and of what stands around it, is shown.
const SHOWN: usize = 80;
const AROUND: usize = 24;

/// How much of a key or a pointer is shown.
const NAME: usize = 200;

pub(super) fn notes(instability: &Instability, left_out: bool) -> Vec<Note> {
    let rule = instability.rule();
    let between = between(&instability.between);
    let places = &instability.variation.places;
    if places.is_empty() {
        let what = if left_out {
            "; the content is compared and the order is not"
        } else {
            ""
        };
        let message = format!("the same content stands in another order {between}{what}");
        return vec![note(rule, None, message)];
    }
    let what = |place: &Varying| match (left_out, &place.component) {
        (false, _) => "",
        (true, Some(_)) => "; the component is left out of the comparison",
        (true, None) => "; it is left out of the comparison",
    };
    let mut notes: Vec<Note> = places
        .iter()
        .take(NAMED)
        .map(|place| {
            let message = format!("{} {between}{}", differs(place), what(place));
            note(rule, place.component.as_ref(), message)
        })
        .collect();
    if places.len() > NAMED {
        let message = format!("{} more places vary {between}", places.len() - NAMED);
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
    let between = between(&instability.between);
    match &instability.variation.places[..] {
        [] => format!("the server lists the same in another order {between}"),
        [only] => format!(
            "the server does not say the same twice: {}: {} {between}",
            owner(only),
            differs(only)
        ),
        [first, rest @ ..] => format!(
            "the server does not say the same twice: {}: {} {between}, and {} more {}",
            owner(first),
            differs(first),
            rest.len(),
            if rest.len() == 1 { "place" } else { "places" },
        ),
    }
}

pub(super) fn help(instability: &Instability, server: &str) -> String {
    let rule = instability.rule();
    let mut help = match rule {
        RuleId::CaptureOrderUnstable => {
            "a contract has to stand still to be compared: let the server list in an order of its own".to_owned()
        }
        RuleId::CaptureDiffersByClient => {
            "pin what each client sees with a profile: [server.NAME.profile.CLIENT], see docs/clients.md".to_owned()
        }
        RuleId::CaptureDiffersByConnection => {
            "the protocol wants one list for every connection; pass what decides with --header, or pin one profile for each"
                .to_owned()
        }
        _ => "a contract has to stand still to be compared: fix the server".to_owned(),
    };
    let masks: Vec<String> = instability
        .variation
        .places
        .iter()
        .filter_map(mask)
        .take(3)
        .collect();
    if !masks.is_empty() && rule != RuleId::CaptureDiffersByClient {
        help.push_str(&format!(
            ". To leave just the text out, under [server.{}]: mask = [{}]",
            bare(server),
            masks.join(", ")
        ));
    }
    help.push_str(&format!(
        ". To compare what stands still: [policy.rules] \"{rule}\" = \"warn\""
    ));
    help
}

fn between(between: &Between) -> String {
    match between {
        Between::Calls => "in two answers on one connection".to_owned(),
        Between::Seconds(seconds) => format!("in two answers on one connection, {seconds} s apart"),
        Between::Boots => "in two boots".to_owned(),
        Between::Connections => "on two connections".to_owned(),
        Between::Clients { one, other } => {
            format!("to the client `{one}` and to the client `{other}`")
        }
    }
}

/// The beginning of a key or a pointer, which a server can make as long as it likes.
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

/// `/description` is `…` and then `…`
fn differs(place: &Varying) -> String {
    let what = match (place.pointer.as_str(), &place.component) {
        ("", Some(_)) => "it".to_owned(),
        (pointer, _) => format!("`{}`", cut(pointer)),
    };
    match (&place.one, &place.other) {
        (Some(Json::String(one)), Some(Json::String(other))) => {
            let texts = Texts::of(one.to_string_lossy(), other.to_string_lossy());
            let (one, other) = texts.shown();
            format!("{what} is `{one}` and then `{other}`")
        }
        (Some(one), Some(other)) => {
            let (one, other) = (to_compact(one), to_compact(other));
            let texts = Texts::of(&one, &other);
            let (one, other) = texts.shown();
            format!("{what} is `{one}` and then `{other}`")
        }
        (Some(_), None) => format!("{what} is there and then missing"),
        _ => format!("{what} is missing and then there"),
    }
}

/// Two texts, taken apart into what they share at both ends and what they do not. What differs is whole words, so that
/// `12:00:01` is not cut after `12:00:0`.
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

/// An entry of `mask` that leaves just the varying text of a place out.
fn mask(place: &Varying) -> Option<String> {
    let (Some(Json::String(one)), Some(Json::String(other))) = (&place.one, &place.other) else {
        return None;
    };
    let texts = Texts::of(one.as_str()?, other.as_str()?);
    let component = place.component.as_deref();
    mask_entry(component, &place.pointer, texts.before, texts.after)
}

/// An entry of `mask` that leaves out what stands between two texts; none if no mask may cover this place.
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

/// The end of what stands before a text.
fn ending(before: &str) -> &str {
    let from = before.char_indices().rev().take(AROUND).last();
    &before[from.map_or(before.len(), |(at, _)| at)..]
}

/// The beginning of what stands after a text.
fn beginning(after: &str) -> &str {
    let to = after.char_indices().nth(AROUND);
    &after[..to.map_or(after.len(), |(at, _)| at)]
}

/// A key of TOML.
fn bare(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A string of TOML in which nothing is invisible.
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
    fn whole_words_differ() {
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
    fn a_mask_to_paste_reads_as_toml_whatever_the_server_said() {
        let place = Varying {
            component: Some("tool:a\"@".parse().unwrap()),
            pointer: "/description".into(),
            one: Some(Json::string("a \"q\" \u{202e}b(1) 7\n end")),
            other: Some(Json::string("a \"q\" \u{202e}b(1) 8\n end")),
        };
        let line = format!("mask = [{}]", mask(&place).unwrap());
        assert!(!line.contains('\u{202e}'), "{line}");
        let table: toml::Table = line.parse().unwrap();
        let pattern = table["mask"][0]["pattern"].as_str().unwrap().to_owned();
        let pattern = regex::Regex::new(&pattern).unwrap();
        let found = pattern.captures("a \"q\" \u{202e}b(1) 9\n end").unwrap();
        assert_eq!(&found[1], "9");
    }
}

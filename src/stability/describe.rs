//! Describes what varies: as findings, as an error, and as a line for the configuration. Texts of the server are used as it
//! sent them: escape them before printing.

use super::{Between, Instability, Varying};
use crate::canonical::{Json, is_invisible, to_compact};
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Note};
use crate::wording::counted;

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
        let compared = if left_out {
            "; the content is compared, the order is not"
        } else {
            ""
        };
        let message = format!("the same content is listed in another order {between}{compared}");
        return vec![note(rule, None, message)];
    }
    let mut notes: Vec<Note> = places
        .iter()
        .take(NAMED)
        .map(|place| {
            let what = pointer(place).map_or_else(String::new, |pointer| format!("`{pointer}` "));
            let left_out = match (left_out, &place.component) {
                (false, _) => "",
                (true, Some(_)) => "; the component is left out of the comparison",
                (true, None) => "; it is left out of the comparison",
            };
            let values = values(place);
            let message = format!("{what}varies {between}: {values}{left_out}");
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
    let between = phrase(&instability.between);
    match &instability.variation.places[..] {
        [] => format!(
            "two captures of the server differ: the same content is listed in another order {between}"
        ),
        [first, rest @ ..] => {
            let what = match pointer(first) {
                Some(pointer) => format!("`{pointer}` of {}", owner(first)),
                None => owner(first),
            };
            let more = match rest.len() {
                0 => String::new(),
                more => format!(", and {}", counted(more, "more place")),
            };
            let values = values(first);
            format!("two captures of the server differ: {what} varies {between} ({values}){more}")
        }
    }
}

pub(super) fn help(instability: &Instability, server: &str) -> String {
    let rule = instability.rule();
    let mut help = match rule {
        RuleId::CaptureOrderUnstable => {
            "only a stable contract can be compared: give the lists a fixed order"
        }
        RuleId::CaptureDiffersByClient => {
            "pin what each client sees with a profile: [server.NAME.profile.CLIENT], see docs/clients.md"
        }
        RuleId::CaptureDiffersByConnection => {
            "the protocol requires the same list on every connection; pass what it depends on with --header, \
             or pin one profile per connection"
        }
        _ => "only a stable contract can be compared: fix the server",
    }
    .to_owned();
    let masks: Vec<String> = instability
        .variation
        .places
        .iter()
        .filter_map(mask)
        .take(3)
        .collect();
    if !masks.is_empty() && rule != RuleId::CaptureDiffersByClient {
        help += &format!(
            ". To leave out only the varying text, under [server.{}]: mask = [{}]",
            bare(server),
            masks.join(", ")
        );
    }
    format!(
        "{help}. To compare only what is stable: [policy.rules] \"{}\" = \"warn\"",
        rule.id()
    )
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

fn phrase(between: &Between) -> String {
    match between {
        Between::Calls => "between two answers on one connection".to_owned(),
        Between::Seconds(seconds) => {
            format!("between two answers on one connection, {seconds} s apart")
        }
        Between::Boots => "between two boots".to_owned(),
        Between::Connections => "between two connections".to_owned(),
        Between::Clients { one, other } => format!("between the clients `{one}` and `{other}`"),
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

/// What a place holds, one time and the other.
fn values(place: &Varying) -> String {
    let both = |one: &str, other: &str| {
        let (one, other) = Texts::of(one, other).shown();
        format!("`{one}`, then `{other}`")
    };
    match (&place.one, &place.other) {
        (Some(Json::String(one)), Some(Json::String(other))) => {
            both(one.to_string_lossy(), other.to_string_lossy())
        }
        (Some(one), Some(other)) => both(&to_compact(one), &to_compact(other)),
        (Some(_), None) => "present, then missing".to_owned(),
        _ => "missing, then present".to_owned(),
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

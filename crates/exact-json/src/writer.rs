//! How mcp-keel writes JSON: canonical for digests, pretty for people, compact for the wire.

use unicode_general_category::{GeneralCategory, get_general_category};

use super::{Json, Object, Text};

/// mcp-keel's canonical form: RFC 8785 with three differences, so that different documents never share a
/// digest: numbers are exact ([`super::Number::to_exact`]), repeated members are all kept in the order sent,
/// and a lone surrogate is written as its escape instead of being rejected.
///
/// For JSON that RFC 8785 accepts and whose numbers fit a double exactly, the bytes are RFC 8785's.
pub fn to_canonical(value: &Json) -> String {
    let mut out = String::new();
    write_canonical(&mut out, value);
    out
}

/// [`to_canonical`] of the array of these values.
pub fn canonical_array(items: &[&Json]) -> String {
    let mut out = String::new();
    sequence(&mut out, '[', ']', items, |out, item| {
        write_canonical(out, item);
    });
    out
}

/// [`to_canonical`] of the object of these members, which are not repeated.
pub fn canonical_object(members: &[(&str, &Json)]) -> String {
    let mut members = members.to_vec();
    members.sort_by(|(one, _), (other, _)| Text::from(*one).cmp_utf16(&Text::from(*other)));
    let mut out = String::new();
    sequence(&mut out, '{', '}', members, |out, (name, value)| {
        write_string(out, &Text::from(name), Escape::Needed);
        out.push(':');
        write_canonical(out, value);
    });
    out
}

fn write_canonical(out: &mut String, value: &Json) {
    match value {
        Json::Number(number) => out.push_str(&number.to_exact()),
        Json::Array(items) => sequence(out, '[', ']', items, write_canonical),
        Json::Object(object) => {
            let mut members: Vec<(&Text, &Json)> = object.iter().collect();
            // A stable sort: repeated members keep the order sent.
            members.sort_by(|(one, _), (other, _)| one.cmp_utf16(other));
            sequence(out, '{', '}', members, |out, (name, value)| {
                write_string(out, name, Escape::Needed);
                out.push(':');
                write_canonical(out, value);
            });
        }
        scalar => write_scalar(out, scalar, Escape::Needed),
    }
}

/// As sent, without whitespace.
pub fn to_compact(value: &Json) -> String {
    let mut out = String::new();
    write_compact(&mut out, value);
    out
}

/// [`to_compact`] after what `out` holds.
pub fn write_compact(out: &mut String, value: &Json) {
    match value {
        Json::Array(items) => sequence(out, '[', ']', items, write_compact),
        Json::Object(object) => sequence(out, '{', '}', object.iter(), |out, (name, value)| {
            write_string(out, name, Escape::Needed);
            out.push(':');
            write_compact(out, value);
        }),
        scalar => write_scalar(out, scalar, Escape::Needed),
    }
}

/// As sent, indented by two spaces, one member or item per line, without a final newline.
pub fn to_pretty(value: &Json) -> String {
    let mut out = String::new();
    write_pretty_at(&mut out, value, 0);
    out
}

/// [`to_pretty`] for a value nested `level` levels deep in a document.
///
/// Characters that a reviewer cannot see (controls, bidirectional overrides, zero-width and tag characters)
/// are escaped: a committed baseline must not look different from what it says.
pub fn write_pretty_at(out: &mut String, value: &Json, level: usize) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            block(out, '[', ']', level, items, |out, item| {
                write_pretty_at(out, item, level + 1);
            });
        }
        Json::Object(object) if !object.is_empty() => {
            write_members_at(out, object, level, |out, _, value| {
                write_pretty_at(out, value, level + 1);
            });
        }
        Json::Array(_) => out.push_str("[]"),
        Json::Object(_) => out.push_str("{}"),
        scalar => write_scalar(out, scalar, Escape::Invisible),
    }
}

/// An object as [`write_pretty_at`] writes it, with each member's value written by `value`, which may
/// lay it out in its own way.
pub fn write_members_at(
    out: &mut String,
    object: &Object,
    level: usize,
    mut value: impl FnMut(&mut String, &Text, &Json),
) {
    if object.is_empty() {
        out.push_str("{}");
        return;
    }
    block(
        out,
        '{',
        '}',
        level,
        object.iter(),
        |out, (name, member)| {
            write_string(out, name, Escape::Invisible);
            out.push_str(": ");
            value(out, name, member);
        },
    );
}

/// Like [`write_pretty_at`], but on one line.
pub fn write_line(out: &mut String, value: &Json) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            sequence(out, '[', ']', items, |out, item| {
                out.push(' ');
                write_line(out, item);
            });
            out.insert(out.len() - 1, ' ');
        }
        Json::Object(object) if !object.is_empty() => {
            sequence(out, '{', '}', object.iter(), |out, (name, value)| {
                out.push(' ');
                write_string(out, name, Escape::Invisible);
                out.push_str(": ");
                write_line(out, value);
            });
            out.insert(out.len() - 1, ' ');
        }
        empty_or_scalar => write_pretty_at(out, empty_or_scalar, 0),
    }
}

/// Which characters to escape beyond those that JSON requires.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// None: RFC 8785 and `JSON.stringify`.
    Needed,
    /// Those that are invisible or change how the text around them looks.
    Invisible,
    /// All but printable ASCII: Python's `ensure_ascii`.
    Ascii,
}

impl Escape {
    fn applies(self, character: char) -> bool {
        match self {
            Escape::Needed => false,
            Escape::Invisible => is_invisible(character),
            Escape::Ascii => !matches!(character, ' '..='~'),
        }
    }
}

/// Whether a character is invisible, or changes how its neighbours look or are ordered. Line ends and the selector that makes
/// an emoji colourful are left alone: this decides the bytes of committed baselines, and what the scan calls hidden.
pub fn is_invisible(character: char) -> bool {
    use GeneralCategory::{Format, LineSeparator, ParagraphSeparator};
    match character {
        '\0'..='~' | '\u{fe0f}' => false,
        '\u{7f}'..='\u{9f}' => true,
        _ => {
            has_no_look(character)
                || matches!(
                    get_general_category(character),
                    Format | LineSeparator | ParagraphSeparator
                )
        }
    }
}

/// Characters of other categories that show nothing: what Unicode calls ignorable, now or once it is assigned, and marks that
/// only change others.
fn has_no_look(character: char) -> bool {
    matches!(u32::from(character),
        0x34f | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x2065 | 0x3164 | 0xfe00..=0xfe0f
        | 0xffa0 | 0xfff0..=0xfff8 | 0x1107f | 0x13440 | 0x13447..=0x13455 | 0x16fe4
        | 0x1da9b..=0x1da9f | 0x1daa1..=0x1daaf | 0xe0000..=0xe0fff)
}

/// Whether a reader cannot recognise the character: controls, everything invisible, every space but the ordinary one, and
/// characters without a glyph, which are those for private use and those that Unicode has not assigned.
///
/// Broader than [`is_invisible`]: a report is not committed, and is for the eye alone.
pub fn is_unseen(character: char) -> bool {
    use GeneralCategory::{PrivateUse, SpaceSeparator, Unassigned};
    // Fast path for nearly every character.
    if matches!(character, ' '..='~') {
        return false;
    }
    character.is_control()
        || is_invisible(character)
        || matches!(
            character,
            '\u{2800}' | '\u{fe0f}' | '\u{fffc}' | '\u{1d159}'
        )
        || matches!(
            get_general_category(character),
            SpaceSeparator | PrivateUse | Unassigned
        )
}

pub fn write_scalar(out: &mut String, value: &Json, escape: Escape) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => out.push_str(number.literal()),
        Json::String(text) => write_string(out, text, escape),
        // Callers write containers themselves: each form has its own order and layout.
        Json::Array(_) | Json::Object(_) => out.push_str(&to_compact(value)),
    }
}

pub fn write_string(out: &mut String, text: &Text, escape: Escape) {
    out.push('"');
    if let Some(text) = text.as_str() {
        // Most text needs no escapes and is copied in one go.
        let mut rest = text;
        let special = |rest: &str| match escape {
            Escape::Needed => rest.bytes().position(|it| must_be_escaped(it.into())),
            _ => rest.find(|it| must_be_escaped(it) || escape.applies(it)),
        };
        while let Some(at) = special(rest) {
            let (plain, escaped) = rest.split_at(at);
            out.push_str(plain);
            let mut after = escaped.chars();
            after.by_ref().take(1).for_each(|it| write_escaped(out, it));
            rest = after.as_str();
        }
        out.push_str(rest);
    } else {
        for unit in char::decode_utf16(text.utf16()) {
            match unit {
                Ok(it) if must_be_escaped(it) || escape.applies(it) => write_escaped(out, it),
                Ok(character) => out.push(character),
                Err(lone) => write_unit(out, lone.unpaired_surrogate()),
            }
        }
    }
    out.push('"');
}

/// What JSON does not allow unescaped in a string.
fn must_be_escaped(character: char) -> bool {
    matches!(character, '"' | '\\' | '\0'..'\u{20}')
}

fn write_escaped(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        character => {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write_unit(out, *unit);
            }
        }
    }
}

fn write_unit(out: &mut String, unit: u16) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.push(HEX[usize::from(unit >> shift & 0xf)]);
    }
}

/// Writes `open`, the items separated by commas, `close`.
pub fn sequence<T>(
    out: &mut String,
    open: char,
    close: char,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(close);
}

fn block<T>(
    out: &mut String,
    open: char,
    close: char,
    level: usize,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    sequence(out, open, close, items, |out, item| {
        line(out, level + 1);
        write(out, item);
    });
    out.pop();
    line(out, level);
    out.push(close);
}

fn line(out: &mut String, level: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_compact(self))
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Json::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_str;

    /// By the tables of another crate.
    #[test]
    fn every_ignorable_character_is_invisible_and_nothing_that_can_be_read_is_unseen() {
        let class = |class: &str| regex::Regex::new(&format!("^[{class}]$")).unwrap();
        let ignorable =
            class(r"\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\p{Variation_Selector}");
        let unseen = class(r"\p{Cc}\p{Zs}\p{White_Space}\p{Co}\p{Cn}");
        let marks = class(
            r"\u{1107f}\u{13440}\u{13447}-\u{13455}\u{16fe4}\u{1da9b}-\u{1da9f}\u{1daa1}-\u{1daaf}",
        );
        let blank = ['\u{2800}', '\u{fffc}', '\u{1d159}'];
        let mut counted = (0, 0);
        let mut text = String::new();
        for character in '\0'..=char::MAX {
            text.clear();
            text.push(character);
            let no_look = ignorable.is_match(&text) || marks.is_match(&text);
            let is_control = matches!(character, '\u{7f}'..='\u{9f}');
            let name = u32::from(character);
            let expected = (no_look || is_control) && character != '\u{fe0f}';
            assert_eq!(is_invisible(character), expected, "U+{name:04X}");
            let expected = no_look || unseen.is_match(&text) || blank.contains(&character);
            let expected = expected && character != ' ';
            assert_eq!(is_unseen(character), expected, "U+{name:04X}");
            counted.0 += usize::from(is_invisible(character));
            counted.1 += usize::from(!is_unseen(character));
        }
        assert!(counted.0 > 4_000 && counted.1 > 150_000, "{counted:?}");
        for missed in [
            '\u{13430}',
            '\u{13438}',
            '\u{16fe4}',
            '\u{1da9b}',
            '\u{1d173}',
            '\u{e007f}',
        ] {
            assert!(is_invisible(missed) && is_unseen(missed));
        }
    }

    #[test]
    fn canonical_form_sorts_members_and_keeps_numbers_exact() {
        let value = parse_str(r#"{"b":1.0,"a":[9007199254740993,"é"],"\ue000":1,"😀":2}"#).unwrap();
        assert_eq!(
            to_canonical(&value),
            "{\"a\":[9007199254740993,\"é\"],\"b\":1,\"😀\":2,\"\u{e000}\":1}"
        );
    }

    #[test]
    fn repeated_members_and_lone_surrogates_change_the_canonical_form() {
        let canonical = |text| to_canonical(&parse_str(text).unwrap());
        assert_ne!(canonical(r#"{"a":1,"a":2}"#), canonical(r#"{"a":2}"#));
        assert_ne!(canonical(r#"{"a":1,"a":2}"#), canonical(r#"{"a":2,"a":1}"#));
        assert_ne!(canonical(r#""\ud800""#), canonical(r#""\ufffd""#));
    }

    #[test]
    fn the_pretty_form_keeps_what_was_sent_and_escapes_invisible_characters() {
        let value = parse_str(r#"{"n":1.0,"e":{},"l":[],"t":"a\u202eb","s":"\ud800"}"#).unwrap();
        let pretty = to_pretty(&value);
        assert_eq!(
            pretty,
            "{\n  \"n\": 1.0,\n  \"e\": {},\n  \"l\": [],\n  \"t\": \"a\\u202eb\",\n  \"s\": \"\\ud800\"\n}"
        );
        assert_eq!(parse_str(&pretty).unwrap(), value);
    }
}

//! Which tools a text tells the model to use: `\b(always\s+)?(call|use|invoke|run)\s+NAME\b`, with
//! the flag `i`, for many names at once.
//!
//! Hand-written rather than a regex, because a name may contain anything and its case folds as in
//! ECMAScript, unit by unit. All names are matched in one pass: a server with ten thousand tools
//! must not cost a hundred million searches.

use std::collections::BTreeSet;

/// The names to search for, sorted, each with its index in the original list.
pub(crate) struct Mentions {
    names: Vec<(Vec<u16>, usize)>,
}

impl Mentions {
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a [u16]>) -> Self {
        let folded = |name: &[u16]| name.iter().map(|unit| fold(*unit)).collect();
        let mut names: Vec<(Vec<u16>, usize)> = names
            .into_iter()
            .enumerate()
            .map(|(place, name)| (folded(name), place))
            .collect();
        names.sort();
        Self { names }
    }

    /// Whether a text has one of the verbs, as a word or in one: without, it mentions no name.
    pub(crate) fn has_verb(text: &str) -> bool {
        let text = text.as_bytes();
        (0..text.len()).any(|at| {
            let rest = &text[at..];
            let verb = verb_of(rest[0]);
            verb.is_some_and(|verb| {
                let start = rest.get(..verb.len());
                start.is_some_and(|it| it.eq_ignore_ascii_case(verb))
            })
        })
    }

    /// The indices of the names that `text` tells the model to use. (The optional `always` makes no
    /// difference: the verb is preceded by a word boundary anyway.)
    pub(crate) fn in_text(&self, text: &[u16]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for at in (0..text.len()).filter(|at| is_boundary(text, *at)) {
            let first = text.get(at).and_then(|unit| u8::try_from(*unit).ok());
            let verb = first.and_then(verb_of).filter(|it| is_verb(text, at, it));
            if let Some(verb) = verb {
                let mut after = at + verb.len();
                while text.get(after).is_some_and(|unit| is_space(*unit)) {
                    after += 1;
                    // A name may itself begin with white space, so every length of the gap is
                    // tried.
                    self.names_at(text, after, &mut found);
                }
            }
        }
        found
    }

    /// The names that begin at `start` and end at a word boundary.
    fn names_at(&self, text: &[u16], start: usize, found: &mut BTreeSet<usize>) {
        let mut names = self.names.as_slice();
        for length in 0.. {
            // Complete names sort before longer ones.
            let complete = names.partition_point(|(name, _)| name.len() == length);
            if complete > 0 && is_boundary(text, start + length) {
                found.extend(names[..complete].iter().map(|(_, place)| *place));
            }
            names = &names[complete..];
            let Some(unit) = text.get(start + length).map(|unit| fold(*unit)) else {
                return;
            };
            let from = names.partition_point(|(name, _)| name[length] < unit);
            let to = names.partition_point(|(name, _)| name[length] <= unit);
            names = &names[from..to];
            if names.is_empty() {
                return;
            }
        }
    }
}

/// The verb that begins with this letter: no two do with the same.
fn verb_of(letter: u8) -> Option<&'static [u8]> {
    match letter.to_ascii_lowercase() {
        b'c' => Some(b"call"),
        b'u' => Some(b"use"),
        b'i' => Some(b"invoke"),
        b'r' => Some(b"run"),
        _ => None,
    }
}

fn is_verb(text: &[u16], at: usize, verb: &[u8]) -> bool {
    text.get(at..at + verb.len()).is_some_and(|units| {
        units.iter().zip(verb).all(|(unit, letter)| {
            u8::try_from(*unit).is_ok_and(|it| it.eq_ignore_ascii_case(letter))
        })
    })
}

/// ECMAScript's `\b`.
fn is_boundary(text: &[u16], at: usize) -> bool {
    let word = |unit: Option<&u16>| {
        unit.is_some_and(|unit| {
            u8::try_from(*unit).is_ok_and(|it| it.is_ascii_alphanumeric() || it == b'_')
        })
    };
    let before = at.checked_sub(1).and_then(|it| text.get(it));
    word(before) != word(text.get(at))
}

/// ECMAScript's `\s`.
fn is_space(unit: u16) -> bool {
    matches!(unit,
        0x9..=0xd | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff)
}

/// ECMAScript's `Canonicalize` of a unit, with the flag `i` and without `u`: its upper case if that
/// is one unit, but never an ASCII one for a non-ASCII one.
fn fold(unit: u16) -> u16 {
    let Some(character) = char::from_u32(u32::from(unit)) else {
        return unit;
    };
    let mut upper = character.to_uppercase();
    let (Some(first), None) = (upper.next(), upper.next()) else {
        return unit;
    };
    match u16::try_from(u32::from(first)) {
        Ok(folded) if unit >= 128 && folded < 128 => unit,
        Ok(folded) => folded,
        Err(_) => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn uses(text: &str, name: &str) -> bool {
        !Mentions::of([units(name).as_slice()])
            .in_text(&units(text))
            .is_empty()
    }

    #[test]
    fn case_folds_as_in_ecmascript() {
        assert!(uses("Always CALL Delete_All.", "delete_all"));
        assert!(uses("use \u{c9}t\u{e9}n now", "\u{e9}t\u{c9}n"));
        assert!(
            !uses("use t\u{e9} now", "t\u{e9}"),
            "no word ends in an accent"
        );
        assert!(!uses("use \u{17f}top", "stop"), "a long s is not an s");
        assert!(
            !uses("use \u{2126}", "\u{3c9}"),
            "the ohm sign is not an omega"
        );
        assert!(!uses("reuse a", "a") && !uses("use ab", "a") && uses("use\u{feff}a", "a"));
    }

    #[test]
    fn every_name_in_a_text_is_found_in_one_pass() {
        let names = ["a_b", "a_b.c", "A_B", "z", " x", "", "a"].map(units);
        let mentions = Mentions::of(names.iter().map(Vec::as_slice));
        let found = |text: &str| {
            mentions
                .in_text(&units(text))
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(found("call a_b.c and run  x"), [0, 1, 2, 4, 5]);
        assert_eq!(found("use a-z, invoke Z"), [3, 5, 6]);
        assert_eq!(found("use "), [0; 0]);
        assert_eq!(found("nothing to call"), [0; 0]);
    }
}

//! Cuts a text into the pieces whose tokens are counted, as the published pattern of `o200k_base`
//! does.
//!
//! The pattern is followed by hand: as a regular expression its Unicode classes take longer to
//! compile than all the text of a server takes to count. A test compares it with that expression.

use unicode_general_category::{GeneralCategory, get_general_category};

/// What the pattern asks of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// `Lu`, `Lt`
    Upper,
    /// `Ll`
    Lower,
    /// `Lm`, `Lo`: an upper and a lower letter.
    Either,
    /// `M`: an upper and a lower letter too, but not `L`.
    Mark,
    /// `N`
    Number,
    /// `\r`, `\n`
    LineEnd,
    /// The rest of `\s`.
    Space,
    Other,
}

impl Class {
    fn of(character: char) -> Self {
        use GeneralCategory as Category;
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '\r' | '\n' => Self::LineEnd,
            _ if character.is_whitespace() => Self::Space,
            _ if character.is_ascii() => Self::Other,
            _ => match get_general_category(character) {
                Category::UppercaseLetter | Category::TitlecaseLetter => Self::Upper,
                Category::LowercaseLetter => Self::Lower,
                Category::ModifierLetter | Category::OtherLetter => Self::Either,
                Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => {
                    Self::Mark
                }
                Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => {
                    Self::Number
                }
                _ => Self::Other,
            },
        }
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
    fn is_upper(self) -> bool {
        matches!(self, Self::Upper | Self::Either | Self::Mark)
    }

    /// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
    fn is_lower(self) -> bool {
        matches!(self, Self::Lower | Self::Either | Self::Mark)
    }

    /// `[^\r\n\p{L}\p{N}]`
    fn may_precede_a_word(self) -> bool {
        matches!(self, Self::Mark | Self::Space | Self::Other)
    }

    fn is_space(self) -> bool {
        matches!(self, Self::Space | Self::LineEnd)
    }

    /// `[^\s\p{L}\p{N}]`
    fn is_sign(self) -> bool {
        matches!(self, Self::Mark | Self::Other)
    }
}

/// The pieces of a text, which together are the text.
pub(super) struct Pieces<'t> {
    rest: &'t str,
}

impl<'t> Pieces<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { rest: text }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let first = self.rest.chars().next()?;
        let end = end_of_piece(self.rest, first);
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(piece)
    }
}

/// Where the piece at the start of a text ends. The alternatives of the pattern in their order.
fn end_of_piece(text: &str, first: char) -> usize {
    let class = Class::of(first);
    let after = first.len_utf8();
    let precedes = class.may_precede_a_word();
    let word = precedes.then(|| word_with_lower(text, after)).flatten();
    let word = word.or_else(|| word_with_lower(text, 0));
    let word = word.or_else(|| precedes.then(|| upper_word(text, after)).flatten());
    if let Some(end) = word.or_else(|| upper_word(text, 0)) {
        return end + suffix(&text[end..]);
    }
    if class == Class::Number {
        let digits = text.chars().take(3);
        return digits
            .take_while(|it| Class::of(*it) == Class::Number)
            .map(char::len_utf8)
            .sum();
    }
    let signs = if first == ' ' { after } else { 0 };
    let end = run(text, signs, Class::is_sign);
    if end > signs {
        let ends = text[end..].chars();
        let ends = ends.take_while(|it| matches!(it, '\r' | '\n' | '/'));
        return end + ends.count();
    }
    spaces(text)
}

/// `upper* lower+` from a place. The upper letters take all they can, and give one back if no lower
/// letter is left.
fn word_with_lower(text: &str, from: usize) -> Option<usize> {
    let mut given_back = None;
    for (at, character) in text[from..].char_indices() {
        let class = Class::of(character);
        if !class.is_upper() {
            let end = run(text, from + at, Class::is_lower);
            return if end > from + at {
                Some(end)
            } else {
                given_back
            };
        }
        if class.is_lower() {
            given_back = Some(from + at + character.len_utf8());
        }
    }
    given_back
}

/// `upper+` from a place: what is left of `upper+ lower*` if there is no lower letter.
fn upper_word(text: &str, from: usize) -> Option<usize> {
    Some(run(text, from, Class::is_upper)).filter(|end| *end > from)
}

/// Where characters of a class end.
fn run(text: &str, from: usize, of: fn(Class) -> bool) -> usize {
    let other = text[from..].find(|it: char| !of(Class::of(it)));
    other.map_or(text.len(), |at| from + at)
}

/// The bytes of `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`.
fn suffix(text: &str) -> usize {
    let Some(letters) = text.strip_prefix('\'') else {
        return 0;
    };
    // The only other letter that is one of these in another case.
    if letters.starts_with('\u{17f}') {
        return 1 + '\u{17f}'.len_utf8();
    }
    let is = |suffix: &&str| {
        let start = letters.as_bytes().get(..suffix.len());
        start.is_some_and(|it| it.eq_ignore_ascii_case(suffix.as_bytes()))
    };
    let found = ["s", "t", "re", "ve", "m", "ll", "d"].into_iter().find(is);
    found.map_or(0, |it| 1 + it.len())
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`: to the last line end; else all of them, except that the last one
/// belongs to the word behind it.
fn spaces(text: &str) -> usize {
    let end = run(text, 0, Class::is_space);
    let all = &text[..end];
    if let Some(line) = all.rfind(['\r', '\n']) {
        return line + 1;
    }
    let last = all.chars().next_back().map_or(0, char::len_utf8);
    if end < text.len() && end > last {
        return end - last;
    }
    end
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    /// The published pattern, without its look-ahead, which this engine does not have.
    static PUBLISHED: LazyLock<Regex> = LazyLock::new(|| {
        let suffix = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
        let (upper, lower) = (
            r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]",
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]",
        );
        let before = r"[^\r\n\p{L}\p{N}]?";
        Regex::new(&format!(
            r"{before}{upper}*{lower}+{suffix}|{before}{upper}+{lower}*{suffix}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+"
        ))
        .expect("the published pattern")
    });

    fn by_the_pattern<'t>(pattern: &Regex, text: &'t str) -> Vec<&'t str> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(found) = pattern.find_at(text, at) {
            let mut piece = found.as_str();
            // `\s+(?!\S)`
            if found.end() < text.len()
                && let Some(last) = piece.chars().next_back()
                && last.is_whitespace()
                && !matches!(last, '\r' | '\n')
                && piece.len() > last.len_utf8()
            {
                piece = &piece[..piece.len() - last.len_utf8()];
            }
            at = found.start() + piece.len();
            pieces.push(piece);
        }
        pieces
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn a_text_is_cut_where_the_published_pattern_cuts_it(
            text in "([ \t\r\n]|['/sStTlLmM]|[a-zA-Z]|[0-9]|[.,{}\"]|\u{17f}|[\u{300}\u{2b0}\u{6771}\u{1c5}\u{e9}\u{c9}\u{2028}\u{a0}\u{661}\u{2160}\u{1f600}]){0,16}"
        ) {
            let pieces: Vec<&str> = Pieces::of(&text).collect();
            prop_assert_eq!(pieces, by_the_pattern(&PUBLISHED, &text));
        }
    }

    /// Both have their own tables of Unicode, perhaps of different versions.
    #[test]
    fn every_assigned_character_has_the_class_of_the_pattern() {
        let classes = [
            (r"^[\p{Lu}\p{Lt}]$", Class::Upper),
            (r"^\p{Ll}$", Class::Lower),
            (r"^[\p{Lm}\p{Lo}]$", Class::Either),
            (r"^\p{M}$", Class::Mark),
            (r"^\p{N}$", Class::Number),
            (r"^[\r\n]$", Class::LineEnd),
            (r"^[\s&&[^\r\n]]$", Class::Space),
        ];
        let classes =
            classes.map(|(pattern, class)| (Regex::new(pattern).expect("a class"), class));
        let assigned = Regex::new(r"^\P{Cn}$").expect("a class");
        let mut text = String::new();
        for character in ('\0'..='\u{3ffff}').filter(|it| !it.is_ascii_control()) {
            text.clear();
            text.push(character);
            if !assigned.is_match(&text) {
                continue;
            }
            let class = classes.iter().find(|(pattern, _)| pattern.is_match(&text));
            let class = class.map_or(Class::Other, |(_, class)| *class);
            assert!(Class::of(character) == class, "{character:?}");
        }
    }
}

//! Shared syntax of the regular-expression readers: a cursor, the head of a group, a count, and what is ECMAScript's.

/// A pattern, and the current position.
pub(super) struct Cursor {
    characters: Vec<char>,
    /// The next character.
    pub(super) at: usize,
}

impl Cursor {
    pub(super) fn new(pattern: &str) -> Self {
        Self {
            characters: pattern.chars().collect(),
            at: 0,
        }
    }

    pub(super) fn is_at_the_end(&self) -> bool {
        self.at == self.characters.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.behind(0)
    }

    /// The character this many positions after the next one.
    pub(super) fn behind(&self, more: usize) -> Option<char> {
        self.characters.get(self.at + more).copied()
    }

    /// Reads a character, if it is the wanted one.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Reads this many characters.
    pub(super) fn take_text(&mut self, length: usize) -> Option<String> {
        let end = self.at.checked_add(length)?;
        let text = self.characters.get(self.at..end)?.iter().collect();
        self.at = end;
        Some(text)
    }

    /// Reads the text up to and including a character.
    pub(super) fn take_until(&mut self, end: char) -> Option<String> {
        let rest = self.characters.get(self.at..)?;
        let text = self.take_text(rest.iter().position(|character| *character == end)?)?;
        self.at += 1;
        Some(text)
    }

    /// Reads what follows the `(` of a group that only groups. Look-around does not.
    pub(super) fn take_head_of_group(&mut self) -> Option<()> {
        if self.take('?') {
            match self.peek()? {
                ':' => self.at += 1,
                '<' if self.take_until('>')?.contains(['=', '!']) => return None,
                '<' => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Reads the repetition of the last atom, minimum and maximum; `None` if there is none.
    pub(super) fn take_count(&mut self) -> Option<Option<(usize, Option<usize>)>> {
        let range = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.at += 1;
                let text = self.take_until('}')?;
                return Some(Some(match text.split_once(',') {
                    Some((least, "")) => (count(least)?, None),
                    Some((least, most)) => (count(least)?, Some(count(most)?)),
                    None => {
                        let exact = count(&text)?;
                        (exact, Some(exact))
                    }
                }));
            }
            _ => return Some(None),
        };
        self.at += 1;
        Some(Some(range))
    }
}

/// Digits only: `parse` alone would take a sign.
fn count(text: &str) -> Option<usize> {
    let digits = text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Whether a pattern has no syntax that other engines read and ECMAScript refuses or reads differently: flags in groups,
/// possessive quantifiers, `\A` and its kin, a bracket first in a class. Not whether it is valid.
pub(super) fn is_ecmascript(pattern: &str) -> bool {
    let mut text = Cursor::new(pattern);
    let mut in_class = false;
    while let Some(character) = text.peek() {
        text.at += 1;
        let foreign = match character {
            '\\' => {
                let escaped = text.peek();
                text.at += 1;
                match escaped {
                    Some('p' | 'P') => {
                        !text.take('{')
                            || text
                                .take_until('}')
                                .is_none_or(|name| !is_ecmascript_property(&name))
                    }
                    Some('x' | 'u') => text.peek() == Some('{'),
                    Some(other) => "AzZGKQERhHaeX".contains(other),
                    None => true,
                }
            }
            ']' => {
                in_class = false;
                false
            }
            '[' if !in_class => {
                in_class = true;
                text.take('^');
                text.peek() == Some(']')
            }
            '(' if !in_class && text.take('?') => {
                !text.peek().is_some_and(|next| ":=!<".contains(next))
            }
            '*' | '+' | '?' | '}' if !in_class => text.peek() == Some('+'),
            _ => false,
        };
        if foreign {
            return false;
        }
    }
    true
}

/// Whether `\p{…}` of this name is one of ECMAScript's. Others have more names, in more spellings.
pub(super) fn is_ecmascript_property(name: &str) -> bool {
    /// The categories by their first letter.
    const CATEGORIES: [(char, &str); 7] = [
        ('L', "ultCmo"),
        ('M', "nce"),
        ('N', "dlo"),
        ('P', "cdseifo"),
        ('S', "mcko"),
        ('Z', "slp"),
        ('C', "cfon"),
    ];
    const LONG: [&str; 17] = [
        "Letter",
        "Uppercase_Letter",
        "Lowercase_Letter",
        "Mark",
        "Number",
        "Decimal_Number",
        "Punctuation",
        "Symbol",
        "Separator",
        "Other",
        "Alphabetic",
        "Uppercase",
        "Lowercase",
        "White_Space",
        "ASCII",
        "ID_Start",
        "ID_Continue",
    ];
    let is_category = CATEGORIES.iter().any(|(first, second)| {
        let rest = name.strip_prefix(*first);
        rest.is_some_and(|rest| rest.is_empty() || (rest.len() == 1 && second.contains(rest)))
    });
    let is_of_property = name.split_once('=').is_some_and(|(property, _)| {
        ["Script", "sc", "General_Category", "gc"].contains(&property)
    });
    is_category || is_of_property || LONG.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_other_engines_read_is_not_ecmascript() {
        for pattern in [
            "^a+$",
            "a*?",
            r"\d{2,3}",
            "[a-z]]",
            "[^\\]]",
            "(?<n>a)",
            "(?=a)",
            r"\p{L}\p{Lu}\P{LC}",
            r"\p{sc=Greek}",
            "[+*?]+",
            r"\x41",
            "",
        ] {
            assert!(is_ecmascript(pattern), "{pattern}");
        }
        for pattern in [
            "(?i)a",
            "(?P<n>a)",
            "(?>a)",
            "a++",
            "a{2}+",
            r"\A",
            r"a\z",
            r"\pL",
            r"\p{Greek}",
            r"\p{l}",
            r"\x{41}",
            "[]a]",
            "[^]a]",
            r"\",
        ] {
            assert!(!is_ecmascript(pattern), "{pattern}");
        }
    }
}

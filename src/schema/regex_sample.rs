//! A text that a simple regular expression matches.
//!
//! Enough for the patterns that contracts contain: literals, classes, groups, alternatives, counts. Look-around
//! and references to groups are not understood; whoever asks checks the text against the real engine anyway.

use super::pattern::Cursor;

/// A few texts that should match, the shortest first. Empty where the pattern is not understood.
pub(crate) fn matching(pattern: &str) -> Vec<String> {
    [false, true]
        .into_iter()
        .filter_map(|generous| {
            let mut reader = Reader {
                text: Cursor::new(pattern),
                generous,
                budget: 512,
            };
            let text = reader.alternatives()?;
            reader.text.is_at_the_end().then_some(text)
        })
        .collect()
}

struct Reader {
    text: Cursor,
    /// Takes optional parts too.
    generous: bool,
    budget: usize,
}

impl Reader {
    /// The first alternative; the others are read and left.
    fn alternatives(&mut self) -> Option<String> {
        let first = self.sequence()?;
        while self.text.take('|') {
            self.sequence()?;
        }
        Some(first)
    }

    fn sequence(&mut self) -> Option<String> {
        let mut out = String::new();
        while let Some(character) = self.text.peek() {
            if character == '|' || character == ')' {
                break;
            }
            let atom = self.atom()?;
            let (least, most) = self.count()?;
            let times = if self.generous && least == 0 {
                most.min(1)
            } else {
                least
            };
            for _ in 0..times {
                self.budget = self.budget.checked_sub(1)?;
                out.push_str(&atom);
            }
        }
        Some(out)
    }

    fn atom(&mut self) -> Option<String> {
        let character = self.text.peek()?;
        self.text.at += 1;
        Some(match character {
            '^' | '$' => String::new(),
            '.' => "a".to_owned(),
            '(' => {
                self.text.take_head_of_group()?;
                let inner = self.alternatives()?;
                if !self.text.take(')') {
                    return None;
                }
                inner
            }
            '[' => self.class()?.to_string(),
            '\\' => match self.escape()? {
                Escape::Boundary => String::new(),
                Escape::One(character) => character.to_string(),
            },
            other => other.to_string(),
        })
    }

    fn escape(&mut self) -> Option<Escape> {
        let character = self.text.peek()?;
        self.text.at += 1;
        Some(match character {
            'b' => Escape::Boundary,
            'd' => Escape::One('1'),
            'w' => Escape::One('a'),
            's' => Escape::One(' '),
            'D' | 'S' => Escape::One('a'),
            'W' => Escape::One('-'),
            'n' => Escape::One('\n'),
            't' => Escape::One('\t'),
            'r' => Escape::One('\r'),
            'p' | 'P' => {
                if !self.text.take('{') {
                    return None;
                }
                let name = self.text.take_until('}')?;
                Escape::One(if name.starts_with('N') { '1' } else { 'a' })
            }
            'u' | 'x' | '0'..='9' | 'k' | 'c' => return None,
            other => Escape::One(other),
        })
    }

    /// One character of a class.
    fn class(&mut self) -> Option<char> {
        let negated = self.text.take('^');
        let mut members: Vec<(char, char)> = Vec::new();
        let mut first = true;
        while first || self.text.peek()? != ']' {
            first = false;
            let mut from = self.text.peek()?;
            self.text.at += 1;
            if from == '[' && self.text.peek() == Some(':') {
                return None;
            }
            if from == '\\' {
                let class: &[(char, char)] = match self.text.peek()? {
                    'd' => &[('0', '9')],
                    'w' => &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
                    's' => &[(' ', ' '), ('\t', '\r')],
                    _ => &[],
                };
                if !class.is_empty() {
                    self.text.at += 1;
                    members.extend(class);
                    continue;
                }
                match self.escape()? {
                    Escape::One(character) => from = character,
                    Escape::Boundary => return None,
                }
            }
            let ranged =
                self.text.peek() == Some('-') && self.text.behind(1).is_some_and(|it| it != ']');
            if ranged {
                self.text.at += 1;
                let mut to = self.text.peek()?;
                self.text.at += 1;
                if to == '\\' {
                    match self.escape()? {
                        Escape::One(character) => to = character,
                        Escape::Boundary => return None,
                    }
                }
                members.push((from, to));
            } else {
                members.push((from, from));
            }
        }
        self.text.at += 1;
        let inside = |it: char| members.iter().any(|(from, to)| (*from..=*to).contains(&it));
        let pleasant = ['a', 'A', '1', '0', '-', '_', ' ', '!', 'ü'];
        pleasant
            .into_iter()
            .find(|it| inside(*it) != negated)
            .or_else(|| members.first().filter(|_| !negated).map(|(from, _)| *from))
    }

    /// How often the last atom stands.
    fn count(&mut self) -> Option<(usize, usize)> {
        let Some((least, most)) = self.text.take_count()? else {
            return Some((1, 1));
        };
        // Lazy and possessive marks change how, not what, is matched.
        if matches!(self.text.peek(), Some('?' | '+')) {
            self.text.at += 1;
        }
        Some((least, most.unwrap_or(usize::MAX)))
    }
}

enum Escape {
    Boundary,
    One(char),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_patterns_get_a_text() {
        for (pattern, text) in [
            ("^[A-Z]{2,3}-\\d+$", "AA-1"),
            ("^(?:foo|bar)\\.txt$", "foo.txt"),
            ("^[a-f0-9]{4}$", "aaaa"),
            ("^https?://", "http://"),
            ("^.+@.+$", "a@a"),
        ] {
            assert_eq!(matching(pattern)[0], text, "{pattern}");
        }
        assert!(matching("^(?!x)").is_empty());
    }
}

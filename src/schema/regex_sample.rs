//! A text that a simple regular expression matches.
//!
//! Enough for the patterns that contracts contain: literals, classes, groups, alternatives, counts. Look-around
//! and references to groups are not understood; whoever asks checks the text against the real engine anyway.

/// A few texts that should match, the shortest first. Empty where the pattern is not understood.
pub(crate) fn matching(pattern: &str) -> Vec<String> {
    [false, true]
        .into_iter()
        .filter_map(|generous| {
            let mut reader = Reader {
                characters: pattern.chars().collect(),
                at: 0,
                generous,
                budget: 512,
            };
            let text = reader.alternatives()?;
            (reader.at == reader.characters.len()).then_some(text)
        })
        .collect()
}

struct Reader {
    characters: Vec<char>,
    at: usize,
    /// Takes optional parts too.
    generous: bool,
    budget: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// The first alternative; the others are read and left.
    fn alternatives(&mut self) -> Option<String> {
        let first = self.sequence()?;
        while self.take('|') {
            self.sequence()?;
        }
        Some(first)
    }

    fn sequence(&mut self) -> Option<String> {
        let mut out = String::new();
        while let Some(character) = self.peek() {
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
        let character = self.peek()?;
        self.at += 1;
        Some(match character {
            '^' | '$' => String::new(),
            '.' => "a".to_owned(),
            '(' => {
                if self.take('?') {
                    match self.peek()? {
                        ':' => self.at += 1,
                        '<' | 'P' => {
                            while self.peek()? != '>' {
                                if matches!(self.peek()?, '=' | '!') {
                                    return None;
                                }
                                self.at += 1;
                            }
                            self.at += 1;
                        }
                        _ => return None,
                    }
                }
                let inner = self.alternatives()?;
                if !self.take(')') {
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
        let character = self.peek()?;
        self.at += 1;
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
                if !self.take('{') {
                    return None;
                }
                let start = self.at;
                while self.peek()? != '}' {
                    self.at += 1;
                }
                let name: String = self.characters[start..self.at].iter().collect();
                self.at += 1;
                Escape::One(if name.starts_with('N') { '1' } else { 'a' })
            }
            'u' | 'x' | '0'..='9' | 'k' | 'c' => return None,
            other => Escape::One(other),
        })
    }

    /// One character of a class.
    fn class(&mut self) -> Option<char> {
        let negated = self.take('^');
        let mut members: Vec<(char, char)> = Vec::new();
        let mut first = true;
        while first || self.peek()? != ']' {
            first = false;
            let mut from = self.peek()?;
            self.at += 1;
            if from == '[' && self.peek() == Some(':') {
                return None;
            }
            if from == '\\' {
                let class: &[(char, char)] = match self.peek()? {
                    'd' => &[('0', '9')],
                    'w' => &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
                    's' => &[(' ', ' '), ('\t', '\r')],
                    _ => &[],
                };
                if !class.is_empty() {
                    self.at += 1;
                    members.extend(class);
                    continue;
                }
                match self.escape()? {
                    Escape::One(character) => from = character,
                    Escape::Boundary => return None,
                }
            }
            let ranged = self.peek() == Some('-')
                && self
                    .characters
                    .get(self.at + 1)
                    .is_some_and(|it| *it != ']');
            if ranged {
                self.at += 1;
                let mut to = self.peek()?;
                self.at += 1;
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
        self.at += 1;
        let inside = |it: char| members.iter().any(|(from, to)| (*from..=*to).contains(&it));
        let pleasant = ['a', 'A', '1', '0', '-', '_', ' ', '!', 'ü'];
        pleasant
            .into_iter()
            .find(|it| inside(*it) != negated)
            .or_else(|| members.first().filter(|_| !negated).map(|(from, _)| *from))
    }

    /// How often the last atom stands.
    fn count(&mut self) -> Option<(usize, usize)> {
        let range = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let start = self.at + 1;
                let end = start + self.characters[start..].iter().position(|it| *it == '}')?;
                let text: String = self.characters[start..end].iter().collect();
                let (least, most) = match text.split_once(',') {
                    Some((least, "")) => (least.parse().ok()?, usize::MAX),
                    Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
                    None => {
                        let exact = text.parse().ok()?;
                        (exact, exact)
                    }
                };
                self.at = end;
                (least, most)
            }
            _ => return Some((1, 1)),
        };
        self.at += 1;
        // Lazy and possessive marks change how, not what, is matched.
        if matches!(self.peek(), Some('?' | '+')) {
            self.at += 1;
        }
        Some(range)
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

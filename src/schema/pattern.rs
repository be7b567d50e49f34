//! Shared syntax of the regular-expression readers: a cursor, the head of a group, a count.

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
        let text = self.take_text(rest.iter().position(|it| *it == end)?)?;
        self.at += 1;
        Some(text)
    }

    /// Reads what follows the `(` of a group that only groups. Look-around does not.
    pub(super) fn take_head_of_group(&mut self) -> Option<()> {
        if self.take('?') {
            match self.peek()? {
                ':' => self.at += 1,
                '<' | 'P' if self.take_until('>')?.contains(['=', '!']) => return None,
                '<' | 'P' => {}
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
                    Some((least, "")) => (least.parse().ok()?, None),
                    Some((least, most)) => (least.parse().ok()?, Some(most.parse().ok()?)),
                    None => {
                        let exact = text.parse().ok()?;
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

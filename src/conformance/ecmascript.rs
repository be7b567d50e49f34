//! Whether a `pattern` is a regular expression of ECMAScript, as the official clients compile it.
//!
//! They use the `u` flag, under which `\:` and `(?i)` are errors. Grammar of ECMA-262, 2025; names of
//! Unicode properties and repeated group names are not checked, so what is called wrong is wrong.

/// Whether JavaScript compiles a pattern with the `u` flag.
pub(super) fn compiles(pattern: &str) -> bool {
    let characters: Vec<char> = pattern.chars().collect();
    let groups = Groups::of(&characters);
    let mut reader = Reader {
        characters: &characters,
        at: 0,
        depth: 0,
        groups,
    };
    reader.alternatives().is_some() && reader.at == characters.len()
}

/// Deeper patterns are not judged.
const DEEPEST: usize = 200;

/// The groups that a back reference can name.
struct Groups {
    count: usize,
    names: Vec<String>,
}

impl Groups {
    fn of(characters: &[char]) -> Self {
        let mut groups = Self {
            count: 0,
            names: Vec::new(),
        };
        let (mut at, mut in_class) = (0, false);
        while let Some(character) = characters.get(at) {
            match character {
                '\\' => at += 1,
                '[' => in_class = true,
                ']' => in_class = false,
                '(' if !in_class => {
                    let next = |more: usize| characters.get(at + more).copied();
                    if next(1) != Some('?') {
                        groups.count += 1;
                    } else if next(2) == Some('<') && !matches!(next(3), Some('=' | '!')) {
                        groups.count += 1;
                        let rest = &characters[at + 3..];
                        groups
                            .names
                            .push(rest.iter().take_while(|it| **it != '>').collect());
                    }
                }
                _ => {}
            }
            at += 1;
        }
        groups
    }
}

/// What a class may have at the end of a range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassItem {
    Character(u32),
    /// Such as `\w`.
    Set,
}

struct Reader<'a> {
    characters: &'a [char],
    at: usize,
    depth: usize,
    groups: Groups,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = &self.characters[self.at..];
        let length = text.chars().count();
        let found = rest.len() >= length && rest.iter().copied().take(length).eq(text.chars());
        self.at += if found { length } else { 0 };
        found
    }

    /// Up to the end, or to the `)` of the group.
    fn alternatives(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                None | Some(')') => return Some(()),
                Some('|') => self.at += 1,
                Some(_) => self.term()?,
            }
        }
    }

    fn term(&mut self) -> Option<()> {
        let repeatable = match self.next()? {
            '^' | '$' => false,
            '(' => self.group()?,
            '[' => {
                self.class()?;
                true
            }
            '\\' => self.escape()?,
            '*' | '+' | '?' | '{' | '}' | ']' => return None,
            _ => true,
        };
        let quantified = match self.peek() {
            Some('*' | '+' | '?') => {
                self.at += 1;
                true
            }
            Some('{') => {
                self.at += 1;
                self.bounds()?;
                true
            }
            _ => false,
        };
        if quantified {
            self.take("?");
        }
        (repeatable || !quantified).then_some(())
    }

    /// Whether what it matches can be repeated.
    fn group(&mut self) -> Option<bool> {
        self.depth += 1;
        if self.depth > DEEPEST {
            // Not judged: the rest is skipped.
            self.at = self.characters.len();
            return Some(true);
        }
        let looks_around = ["?=", "?!", "?<=", "?<!"]
            .into_iter()
            .any(|it| self.take(it));
        let is_plain = looks_around || self.take("?:");
        if !is_plain && self.take("?<") {
            self.name()?;
        } else if !is_plain && self.take("?") {
            self.modifiers()?;
        }
        self.alternatives()?;
        let is_closed = self.take(")") || self.depth > DEEPEST;
        self.depth -= 1;
        is_closed.then_some(!looks_around)
    }

    /// `i`, `i-m`, `-s`, with the `:` after it.
    fn modifiers(&mut self) -> Option<()> {
        let mut seen = String::new();
        let (mut any, mut dashes) = (false, 0);
        loop {
            match self.next()? {
                ':' => return any.then_some(()),
                '-' if dashes == 0 => dashes += 1,
                flag @ ('i' | 'm' | 's') if !seen.contains(flag) => {
                    seen.push(flag);
                    any = true;
                }
                _ => return None,
            }
        }
    }

    /// The name of a group, with the `>` after it.
    fn name(&mut self) -> Option<()> {
        let start = self.at;
        loop {
            match self.next()? {
                '>' => return (self.at > start + 1).then_some(()),
                first if self.at == start + 1 && first.is_ascii_digit() => return None,
                it if it.is_alphanumeric() || "_$\\{}".contains(it) => {}
                _ => return None,
            }
        }
    }

    /// The rest of `{2}`, `{2,}` or `{2,3}`.
    fn bounds(&mut self) -> Option<()> {
        let least = self.digits()?;
        if self.take("}") {
            return Some(());
        }
        if !self.take(",") {
            return None;
        }
        if self.take("}") {
            return Some(());
        }
        let most = self.digits()?;
        let in_order = (least.len(), &least) <= (most.len(), &most);
        (in_order && self.take("}")).then_some(())
    }

    /// A number without leading zeros.
    fn digits(&mut self) -> Option<String> {
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        let significant = digits.trim_start_matches('0').to_owned();
        (!digits.is_empty()).then_some(significant)
    }

    /// After `\` outside a class: whether what it matches can be repeated.
    fn escape(&mut self) -> Option<bool> {
        match self.peek()? {
            'b' | 'B' => {
                self.at += 1;
                Some(false)
            }
            'k' => {
                self.at += 1;
                if !self.take("<") {
                    return None;
                }
                let start = self.at;
                self.name()?;
                let name: String = self.characters[start..self.at - 1].iter().collect();
                self.groups.names.contains(&name).then_some(true)
            }
            '1'..='9' => {
                let number = self.digits()?;
                let number: usize = number.parse().ok()?;
                (number <= self.groups.count).then_some(true)
            }
            _ => self.character_or_set().map(|_| true),
        }
    }

    /// After `\`: what is the same inside and outside a class.
    fn character_or_set(&mut self) -> Option<ClassItem> {
        let of = |character: char| Some(ClassItem::Character(u32::from(character)));
        match self.next()? {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => Some(ClassItem::Set),
            'p' | 'P' => {
                if !self.take("{") {
                    return None;
                }
                let start = self.at;
                while self.next()? != '}' {}
                let name = &self.characters[start..self.at - 1];
                let is_name = |it: &char| it.is_ascii_alphanumeric() || "_=".contains(*it);
                (!name.is_empty() && name.iter().all(is_name)).then_some(ClassItem::Set)
            }
            'f' => of('\u{c}'),
            'n' => of('\n'),
            'r' => of('\r'),
            't' => of('\t'),
            'v' => of('\u{b}'),
            '0' => {
                let is_alone = !self.peek().is_some_and(|it| it.is_ascii_digit());
                is_alone.then_some(ClassItem::Character(0))
            }
            'c' => {
                let letter = self.next().filter(char::is_ascii_alphabetic)?;
                Some(ClassItem::Character(u32::from(letter) % 32))
            }
            'x' => self.hexadecimal(2).map(ClassItem::Character),
            'u' if self.take("{") => {
                let start = self.at;
                while self.next()? != '}' {}
                let digits: String = self.characters[start..self.at - 1].iter().collect();
                let code = u32::from_str_radix(&digits, 16).ok()?;
                (code <= 0x10_ffff).then_some(ClassItem::Character(code))
            }
            'u' => {
                let high = self.hexadecimal(4)?;
                let at = self.at;
                if (0xd800..0xdc00).contains(&high)
                    && self.take("\\u")
                    && let Some(low) = self.hexadecimal(4)
                    && (0xdc00..0xe000).contains(&low)
                {
                    let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    return Some(ClassItem::Character(code));
                }
                self.at = at;
                Some(ClassItem::Character(high))
            }
            it if "^$\\.*+?()[]{}|/".contains(it) => of(it),
            _ => None,
        }
    }

    fn hexadecimal(&mut self, length: usize) -> Option<u32> {
        let digits = self.characters.get(self.at..self.at + length)?;
        let digits: String = digits.iter().collect();
        let is_hexadecimal = digits.bytes().all(|it| it.is_ascii_hexdigit());
        self.at += length;
        is_hexadecimal
            .then(|| u32::from_str_radix(&digits, 16).ok())
            .flatten()
    }

    /// The rest of a class.
    fn class(&mut self) -> Option<()> {
        self.take("^");
        loop {
            if self.take("]") {
                return Some(());
            }
            let from = self.class_item()?;
            let is_range =
                self.peek() == Some('-') && !matches!(self.characters.get(self.at + 1), Some(']'));
            if !is_range {
                continue;
            }
            self.at += 1;
            match (from, self.class_item()?) {
                (ClassItem::Character(from), ClassItem::Character(to)) if from <= to => {}
                _ => return None,
            }
        }
    }

    fn class_item(&mut self) -> Option<ClassItem> {
        let character = self.next()?;
        if character != '\\' {
            return Some(ClassItem::Character(u32::from(character)));
        }
        match self.peek()? {
            'b' => {
                self.at += 1;
                Some(ClassItem::Character(8))
            }
            '-' => {
                self.at += 1;
                Some(ClassItem::Character(u32::from('-')))
            }
            _ => self.character_or_set(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `new RegExp(pattern, "u")` of Node.js decides.
    #[test]
    fn patterns_compile_as_in_javascript() {
        for pattern in [
            "",
            "^[a-z0-9_-]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            "a|b|",
            "(?:a|b)*?",
            r"(?<year>\d+)\k<year>",
            r"(a)\1",
            r"\p{L}+",
            r"[\p{Lu}\w-]",
            r"[^\]\-]",
            "(?=a)b",
            "(?<!a)b",
            "(?i:a)",
            "(?i-m:a)",
            r"\u{1F600}",
            r"\uD83D\uDE00",
            r"\x41\cA\0",
            "a{2}",
            "a{2,}b{02,3}",
            r"[\b]",
            "[]",
            "[^]",
            "[a-]",
            "[-a]",
            "[[]",
            "é*",
            r"\/",
            ".",
            r"^https?://[^\s/$.?#].[^\s]*$",
            "[+--]",
            r"\k<a>(?<a>x)",
        ] {
            assert!(compiles(pattern), "{pattern}");
        }
        for pattern in [
            "(?i)abc[",
            "(?i)abc",
            "(?P<a>x)",
            r"^https\:",
            "(",
            ")",
            "a)",
            "[a",
            "*",
            "a**",
            "a++",
            "?",
            "{",
            "a{",
            "}",
            "]",
            "a{2",
            "a{,2}",
            "a{3,2}",
            r"\",
            r"\A",
            r"\Z",
            r"\z",
            r"\_",
            r"\-",
            r"\1",
            r"(a)\2",
            r"\k<a>",
            r"\k",
            r"\p",
            r"\pL",
            r"\x4",
            r"\u12",
            r"\u{110000}",
            r"\c1",
            r"\01",
            "[z-a]",
            r"[\w-a]",
            r"[a-\d]",
            "(?=a)*",
            "(?<=a)+",
            "^*",
            r"\b+",
            "(?#x)",
            "(?>a)",
            "a*+",
            "(?<1>a)",
            "(?<>a)",
            "(?-:a)",
            "(?ii:a)",
            r"[\1]",
            "(?a",
        ] {
            assert!(!compiles(pattern), "{pattern}");
        }
    }
}

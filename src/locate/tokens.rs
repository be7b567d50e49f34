//! Tokenises a source file into words, strings and punctuation, each with its line. Comments are
//! dropped.
//!
//! This is not a parser, and is wrong in corner cases of every language; what it must never do is
//! mistake a comment or a string for code. An unterminated string is taken to end with its line,
//! which confines the mistake to that line.

use std::collections::HashMap;

use super::Language;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word(String),
    /// The literal text of a string; `None` if it is built at run time.
    Text(Option<String>),
    Mark(char),
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) line: usize,
}

pub(super) struct Source {
    pub(super) tokens: Vec<Token>,
    constants: Vec<Constant>,
    /// Members of enumerations, by owner and name; `None` if two of them share both.
    members: HashMap<(String, String), Option<String>>,
}

/// A word bound to a literal string, and where it is in scope.
struct Constant {
    name: String,
    text: String,
    from: usize,
    to: usize,
}

impl Source {
    pub(super) fn new(text: &str, language: Language) -> Self {
        let mut reader = Reader {
            rest: text,
            line: 1,
            language,
            tokens: Vec::new(),
        };
        reader.read();
        let mut source = Self {
            tokens: reader.tokens,
            constants: Vec::new(),
            members: HashMap::new(),
        };
        source.constants = source.constants(language);
        source.members = source.members(language);
        source
    }

    /// `const NAME = "text"` and similar, each with the block in which it is in scope.
    fn constants(&self, language: Language) -> Vec<Constant> {
        let mut constants = Vec::new();
        let mut blocks: Vec<usize> = Vec::new();
        for at in 0..self.tokens.len() {
            match self.tokens[at].kind {
                TokenKind::Mark('(' | '[' | '{') => blocks.push(at),
                TokenKind::Mark(')' | ']' | '}') => {
                    blocks.pop();
                }
                TokenKind::Mark('=') if at > 0 => {
                    // An expression (`"a" + b`) is not a constant.
                    let goes_on = ['+', '.', '%', '?', '|']
                        .iter()
                        .any(|mark| self.is_mark(at + 2, *mark));
                    let Some(text) = self.text(at + 1).filter(|_| !goes_on) else {
                        continue;
                    };
                    let Some(name) = self.constant_before(at, language, blocks.is_empty()) else {
                        continue;
                    };
                    constants.push(Constant {
                        name: name.to_owned(),
                        text: text.to_owned(),
                        from: at,
                        to: blocks
                            .last()
                            .map_or(self.tokens.len(), |open| self.after(*open)),
                    });
                }
                _ => {}
            }
        }
        constants
    }

    /// The name that an `=` binds permanently, by the conventions of the language.
    fn constant_before(&self, at: usize, language: Language, outermost: bool) -> Option<&str> {
        let is_keyword = |at: usize, keyword: &str| self.is_word(at, keyword);
        let back = |steps: usize| at.checked_sub(steps);
        match language {
            Language::Script | Language::Go | Language::Kotlin => {
                let keyword = if language == Language::Kotlin {
                    "val"
                } else {
                    "const"
                };
                // `const NAME = `, or with a type: `const NAME: string = `, `const NAME string = `.
                [(2, 1), (4, 3), (3, 2)]
                    .into_iter()
                    .find_map(|(before, name)| {
                        back(before).filter(|it| is_keyword(*it, keyword))?;
                        self.word(back(name)?)
                    })
            }
            Language::Python => {
                let name = back(1)?;
                let first = name
                    .checked_sub(1)
                    .is_none_or(|it| self.line(it) < self.line(name));
                self.word(name).filter(|_| outermost && first)
            }
            Language::Rust => {
                // `const NAME: &str = `, `const NAME: &'static str = `.
                [(5, 4), (7, 6), (6, 5)]
                    .into_iter()
                    .find_map(|(before, name)| {
                        back(before)
                            .filter(|it| is_keyword(*it, "const") || is_keyword(*it, "static"))?;
                        self.word(back(name)?)
                    })
            }
            Language::Java | Language::CSharp => {
                let keyword = if language == Language::Java {
                    "final"
                } else {
                    "const"
                };
                back(3).filter(|it| is_keyword(*it, keyword))?;
                self.word(back(1)?)
            }
        }
    }

    /// `class Names(Enum): A = "a"`, `enum Names { A = "a" }`, `const Names = { A: "a" }`.
    fn members(&self, language: Language) -> HashMap<(String, String), Option<String>> {
        let mut members = HashMap::new();
        let mut add = |owner: &str, at: usize| {
            if let (Some(name), Some(text)) = (self.word(at), self.text(at + 2)) {
                members
                    .entry((owner.to_owned(), name.to_owned()))
                    .and_modify(|known| *known = None)
                    .or_insert(Some(text.to_owned()));
            }
        };
        for at in 0..self.tokens.len() {
            let Some(owner) = self.word(at + 1) else {
                continue;
            };
            match (language, self.word(at)) {
                (Language::Python, Some("class")) => {
                    let mut next = at + 2;
                    if self.is_mark(next, '(') {
                        next = self.after(next);
                    }
                    if !self.is_mark(next, ':') {
                        continue;
                    }
                    next += 1;
                    // Up to the first line that is something else.
                    while self.is_mark(next + 1, '=') && self.ends_line(next + 2) {
                        add(owner, next);
                        next += 3;
                    }
                }
                (Language::Script, Some("enum")) if self.is_mark(at + 2, '{') => {
                    let inside = self.inside(at + 2).into_iter();
                    inside
                        .filter(|it| self.is_mark(it + 1, '=') && self.ends(it + 3))
                        .for_each(|it| add(owner, it));
                }
                (Language::Script, Some("const"))
                    if self.is_mark(at + 2, '=') && self.is_mark(at + 3, '{') =>
                {
                    let inside = self.inside(at + 3).into_iter();
                    inside
                        .filter(|it| self.is_mark(it + 1, ':') && self.ends(it + 3))
                        .for_each(|it| add(owner, it));
                }
                _ => {}
            }
        }
        members
    }

    /// Whether a value ends before this position.
    fn ends(&self, at: usize) -> bool {
        let closed = [',', ')', '}', ']', ';'];
        closed.iter().any(|mark| self.is_mark(at, *mark)) || self.ends_line(at - 1)
    }

    fn ends_line(&self, at: usize) -> bool {
        self.tokens
            .get(at + 1)
            .is_none_or(|token| token.line > self.line(at))
    }

    /// The value of a word here: that of the constant in scope, if there is exactly one.
    fn constant(&self, word: &str, at: usize) -> Option<&str> {
        let mut holding = self
            .constants
            .iter()
            .filter(|it| it.name == word && it.from < at && at < it.to);
        let only = holding.next()?;
        holding.next().is_none().then_some(only.text.as_str())
    }

    pub(super) fn word(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn is_word(&self, at: usize, wanted: &str) -> bool {
        self.word(at) == Some(wanted)
    }

    pub(super) fn text(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.kind {
            TokenKind::Text(text) => text.as_deref(),
            _ => None,
        }
    }

    pub(super) fn is_mark(&self, at: usize, wanted: char) -> bool {
        matches!(self.tokens.get(at), Some(Token { kind: TokenKind::Mark(mark), .. }) if *mark == wanted)
    }

    pub(super) fn line(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(0, |token| token.line)
    }

    /// The string that is a whole argument or value: a literal, a constant of this file, a member
    /// of one of its enumerations.
    pub(super) fn value(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.kind {
            // A literal may be converted in place: `"a".into()`.
            TokenKind::Text(text) if self.ends(at + 1) || self.is_mark(at + 1, '.') => {
                text.as_deref()
            }
            TokenKind::Word(word) if self.ends(at + 1) => self.constant(word, at),
            TokenKind::Word(owner) if self.is_mark(at + 1, '.') => {
                let member = self.word(at + 2)?;
                let spelled_out = self.is_mark(at + 3, '.') && self.is_word(at + 4, "value");
                let end = if spelled_out { at + 5 } else { at + 3 };
                let key = (owner.clone(), member.to_owned());
                self.members
                    .get(&key)
                    .filter(|_| self.ends(end))?
                    .as_deref()
            }
            _ => None,
        }
    }

    /// The positions directly inside a pair of brackets, not in nested ones. `at` is the opening
    /// bracket.
    pub(super) fn inside(&self, at: usize) -> Vec<usize> {
        let mut depth = 0usize;
        let mut places = Vec::new();
        for here in at..self.tokens.len() {
            match self.tokens[here].kind {
                TokenKind::Mark('(' | '[' | '{') => {
                    if depth == 1 {
                        places.push(here);
                    }
                    depth += 1;
                }
                TokenKind::Mark(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return places;
                    }
                }
                _ if depth == 1 => places.push(here),
                _ => {}
            }
        }
        // Unclosed brackets are not understood.
        Vec::new()
    }

    /// The position after the bracket that closes the one at `at`.
    pub(super) fn after(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for here in at..self.tokens.len() {
            match self.tokens[here].kind {
                TokenKind::Mark('(' | '[' | '{') => depth += 1,
                TokenKind::Mark(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return here + 1;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    language: Language,
    tokens: Vec<Token>,
}

impl<'a> Reader<'a> {
    fn read(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            if first.is_whitespace() {
                self.skip(first.len_utf8());
            } else if !(self.comment() || self.string() || self.regex()) {
                if first.is_alphanumeric() || first == '_' || first == '$' {
                    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
                    let end = self.rest.find(|it| !is_part(it)).unwrap_or(self.rest.len());
                    let word = self.rest[..end].to_owned();
                    self.push(TokenKind::Word(word), end);
                } else {
                    self.push(TokenKind::Mark(first), first.len_utf8());
                }
            }
        }
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        self.tokens.push(Token {
            kind,
            line: self.line,
        });
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        let (gone, rest) = self.rest.split_at(length);
        self.line += gone.matches('\n').count();
        self.rest = rest;
    }

    fn comment(&mut self) -> bool {
        let until_line_end = |rest: &str| rest.find('\n').unwrap_or(rest.len());
        if self.language == Language::Python {
            let found = self.rest.starts_with('#');
            if found {
                self.skip(until_line_end(self.rest));
            }
            return found;
        }
        // Directives and shebangs are not code either.
        let directive = match self.language {
            Language::CSharp => {
                self.rest.starts_with('#')
                    && self
                        .tokens
                        .last()
                        .is_none_or(|token| token.line < self.line)
            }
            Language::Script => self.rest.starts_with("#!") && self.tokens.is_empty(),
            _ => false,
        };
        if self.rest.starts_with("//") || directive {
            self.skip(until_line_end(self.rest));
            return true;
        }
        if !self.rest.starts_with("/*") {
            return false;
        }
        let nests = matches!(self.language, Language::Rust | Language::Kotlin);
        let (mut depth, mut at) = (1usize, 2usize);
        while depth > 0 && at < self.rest.len() {
            let rest = &self.rest.as_bytes()[at..];
            if rest.starts_with(b"*/") {
                depth -= 1;
                at += 2;
            } else if nests && rest.starts_with(b"/*") {
                depth += 1;
                at += 2;
            } else {
                at += 1;
            }
        }
        while !self.rest.is_char_boundary(at) {
            at += 1;
        }
        self.skip(at);
        true
    }

    /// A string, with any prefix before its quote.
    fn string(&mut self) -> bool {
        let prefix = self.prefix();
        let (before, rest) = self.rest.split_at(prefix);
        let Some(quote @ ('"' | '\'' | '`')) = rest.chars().next() else {
            return false;
        };
        let hashes = before.matches('#').count();
        let is_raw = match self.language {
            Language::Python => before.contains(['r', 'R']),
            Language::Rust => before.contains('r'),
            Language::CSharp => before.contains('@'),
            Language::Go => quote == '`',
            _ => false,
        };
        match (self.language, quote) {
            // A lifetime, a label or a character; none of them names a tool.
            (Language::Rust, '\'') => return self.rust_quote(),
            (Language::Rust | Language::Python | Language::Java | Language::CSharp, '`') => {
                return false;
            }
            // A word in backticks is an identifier in Kotlin.
            (Language::Kotlin, '`') => return false,
            _ => {}
        }
        let triple = rest.starts_with(&String::from(quote).repeat(3))
            && quote != '`'
            && matches!(
                self.language,
                Language::Python | Language::Java | Language::Kotlin | Language::CSharp
            );
        let closing = match (self.language, triple) {
            (Language::Rust, _) if is_raw => format!("{quote}{}", "#".repeat(hashes)),
            (_, true) => String::from(quote).repeat(3),
            _ => String::from(quote),
        };
        let many_lines = triple || is_raw || quote == '`' || self.language == Language::Rust;
        let opening = if triple { 3 } else { 1 };
        let is_template = (self.language == Language::Script && quote == '`')
            || (self.language == Language::Python && before.contains(['f', 'F']))
            || (self.language == Language::CSharp && before.contains('$'));
        let (length, literal) = ending(&rest[opening..], &closing, is_raw, many_lines, is_template);
        let text = &rest[opening..opening + literal];
        let put_together = match self.language {
            Language::Script => is_template && text.contains("${"),
            Language::Kotlin => text.contains('$'),
            _ => is_template && text.contains('{'),
        };
        // Tool names do not use escapes in practice, so they are not decoded.
        let is_plain = !put_together && (is_raw || !text.contains('\\'));
        let text = is_plain.then(|| text.to_owned());
        self.push(TokenKind::Text(text), prefix + opening + length);
        true
    }

    /// The length of the string prefix before a quote.
    fn prefix(&self) -> usize {
        let bytes = self.rest.as_bytes();
        let allowed: &[u8] = match self.language {
            Language::Python => b"rRbBfFuU",
            Language::Rust => b"rbc#",
            Language::CSharp => b"@$",
            _ => b"",
        };
        let length = bytes
            .iter()
            .take(4)
            .take_while(|it| allowed.contains(it))
            .count();
        match bytes.get(length) {
            Some(b'"' | b'\'') => length,
            _ => 0,
        }
    }

    /// `'a'` is a character, `'a` a lifetime.
    fn rust_quote(&mut self) -> bool {
        let prefix = self.prefix();
        let rest = &self.rest[prefix + 1..];
        let mut characters = rest.char_indices();
        let first = characters.next();
        let end = match first {
            // An escaped character, even a quote, does not end the string.
            Some((_, '\\')) => characters
                .nth(1)
                .and_then(|(from, _)| Some(from + rest[from..].find('\'')? + 1)),
            Some(_) => characters
                .next()
                .filter(|(_, second)| *second == '\'')
                .map(|(at, _)| at + 1),
            None => None,
        };
        match end {
            Some(end) => self.push(TokenKind::Text(None), prefix + 1 + end),
            None => self.push(TokenKind::Mark('\''), prefix + 1),
        }
        true
    }

    /// A regular expression in JavaScript: a slash where a value is expected.
    fn regex(&mut self) -> bool {
        if self.language != Language::Script || !self.rest.starts_with('/') {
            return false;
        }
        let value_expected = match self.tokens.last().map(|token| &token.kind) {
            None => true,
            Some(TokenKind::Mark(mark)) => !matches!(mark, ')' | ']' | '}'),
            Some(TokenKind::Word(word)) => {
                matches!(word.as_str(), "return" | "typeof" | "case" | "in" | "of")
            }
            Some(TokenKind::Text(_)) => false,
        };
        // `</div>` and `/>` in JSX are not regular expressions.
        let after_angle = matches!(
            self.tokens.last(),
            Some(Token {
                kind: TokenKind::Mark('<'),
                ..
            })
        );
        if !value_expected || after_angle || self.rest.starts_with("/>") {
            return false;
        }
        let mut in_class = false;
        let mut escaped = false;
        for (at, it) in self.rest.char_indices().skip(1) {
            match it {
                '\n' => return false,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    self.push(TokenKind::Text(None), at + 1);
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

/// The length of a string with and without its closing quote.
fn ending(
    rest: &str,
    closing: &str,
    is_raw: bool,
    many_lines: bool,
    is_template: bool,
) -> (usize, usize) {
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with(closing) {
            return (at + closing.len(), at);
        }
        let Some(first) = here.chars().next() else {
            break;
        };
        if first == '\n' && !many_lines {
            return (at, at);
        }
        if first == '\\' && !is_raw {
            at += 1 + here[1..].chars().next().map_or(0, char::len_utf8);
        } else if is_template && here.starts_with("${") {
            at += hole(here);
        } else {
            at += first.len_utf8();
        }
    }
    (rest.len(), rest.len())
}

/// The length of `${...}`, including nested braces.
fn hole(rest: &str) -> usize {
    let mut depth = 0usize;
    for (at, it) in rest.char_indices() {
        match it {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    rest.len()
}

//! The JSON reader: strict RFC 8259, lossless, bounded in depth and size, errors with line and column.
//!
//! A two-byte value (`0,`) takes a hundred bytes in memory, so limiting the length of the text is not enough:
//! the number of values is limited too.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Json, Lines, Number, Object, Text, pointer};

/// Maximum nesting of arrays and objects. Real contracts stay below 30.
pub const MAX_DEPTH: usize = 200;

/// Maximum number of values (arrays, objects, strings, numbers, literals) in one text. The largest contract
/// seen in the wild has about 10,000; a committed file may hold many contracts.
pub const MAX_VALUES: usize = 2_000_000;

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ReadError {
    /// One-based.
    pub line: usize,
    /// One-based, in bytes.
    pub column: usize,
    /// Byte offset.
    pub offset: usize,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("the text ends inside {0}")]
    Ended(&'static str),
    #[error("unexpected text after the JSON value")]
    Trailing,
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("more than {limit} values")]
    TooMany { limit: usize },
    #[error("control characters in a string must be escaped")]
    Control,
    #[error("invalid escape in a string")]
    Escape,
    #[error("not valid UTF-8")]
    Utf8,
    #[error("invalid number")]
    Number,
    #[error("exponent with more than 15 digits")]
    Exponent,
    /// Not a mistake: [`parse_unless`] found the member.
    #[error("read elsewhere")]
    Unless,
}

/// A value, with the position of each part of it in the text.
#[derive(Debug, Clone)]
pub struct Document {
    pub value: Json,
    spans: Spans,
    lines: Lines,
}

/// The position of each value, keyed by its parent's number and its own token. Not keyed by full pointer,
/// which would repeat a long name for everything below it.
type Spans = BTreeMap<(usize, Box<str>), Span>;

#[derive(Debug, Clone)]
struct Span {
    number: usize,
    bytes: Range<usize>,
}

impl Document {
    /// The byte range of the value at `pointer`; for repeated members, of the last.
    pub fn span(&self, pointer: &str) -> Option<Range<usize>> {
        self.nearest(pointer).ok().map(|span| span.bytes.clone())
    }

    /// The one-based line where the value at `pointer` begins, or that of its nearest existing ancestor.
    pub fn line(&self, pointer: &str) -> usize {
        match self.nearest(pointer) {
            Ok(span) | Err(Some(span)) => self.line_of_offset(span.bytes.start),
            Err(None) => 1,
        }
    }

    /// The position of the value at `pointer`, or else that of the last value on the way to it.
    fn nearest(&self, pointer: &str) -> Result<&Span, Option<&Span>> {
        let mut at = self.spans.get(&(NOWHERE, Box::default())).ok_or(None)?;
        for token in pointer::tokens(pointer) {
            match self.spans.get(&(at.number, token.into())) {
                Some(below) => at = below,
                None => return Err(Some(at)),
            }
        }
        Ok(at)
    }

    /// The one-based line of a byte.
    pub fn line_of_offset(&self, offset: usize) -> usize {
        self.lines.at(offset)
    }
}

/// The parent of the root.
const NOWHERE: usize = usize::MAX;

/// Reads one JSON value that fills `bytes`.
pub fn parse(bytes: &[u8]) -> Result<Json, ReadError> {
    Reader::new(bytes, false).document()
}

/// [`parse_within`] for text that mcp-keel wrote around values that [`parse`] has read: a few levels deeper.
pub fn parse_wrapped(bytes: &[u8], limit: usize) -> Result<(Json, usize), ReadError> {
    let mut reader = Reader::new(bytes, false);
    reader.most = MAX_DEPTH + 16;
    reader.limit = limit;
    let value = reader.document()?;
    Ok((value, reader.values))
}

/// [`parse`] without limits, for text just written from values in memory.
pub(super) fn parse_own(text: &str) -> Result<Json, ReadError> {
    let mut reader = Reader::new(text.as_bytes(), false);
    reader.most = usize::MAX;
    reader.limit = usize::MAX;
    reader.document()
}

/// [`parse`] with the caller's limit on values. Also returns how many were read.
pub fn parse_within(bytes: &[u8], limit: usize) -> Result<(Json, usize), ReadError> {
    let mut reader = Reader::new(bytes, false);
    reader.limit = limit;
    let value = reader.document()?;
    Ok((value, reader.values))
}

pub fn parse_str(text: &str) -> Result<Json, ReadError> {
    parse(text.as_bytes())
}

/// [`parse`] with the caller's limit on values, and with Python's constants if `python`; `None` as soon as the
/// outermost object has a member of this name. A document that another reader reads is not read twice.
pub fn parse_unless<'a>(
    bytes: &'a [u8],
    member: &'a str,
    limit: usize,
    python: bool,
) -> Result<Option<Json>, ReadError> {
    let mut reader = Reader::new(bytes, false);
    reader.limit = limit;
    reader.python = python;
    reader.unless = Some(member);
    match reader.document() {
        Err(error) if error.problem == Problem::Unless => Ok(None),
        read => read.map(Some),
    }
}

/// [`parse`], plus the three constants that CPython's `json.loads` accepts although JSON has no such numbers:
/// `NaN`, `Infinity`, `-Infinity`. Only for reproducing what Python tools make of such a text.
pub fn parse_python(bytes: &[u8]) -> Result<Json, ReadError> {
    let mut reader = Reader::new(bytes, false);
    reader.python = true;
    reader.document()
}

/// Reads one JSON value and records the position of each part.
pub fn parse_document(bytes: &[u8]) -> Result<Document, ReadError> {
    let mut reader = Reader::new(bytes, true);
    let value = reader.document()?;
    Ok(Document {
        value,
        spans: reader.spans,
        lines: Lines::of(bytes),
    })
}

/// What was read since `first`, without room for more.
fn complete<T>(all: &mut Vec<T>, first: usize) -> Vec<T> {
    /// Beyond this, a copy would cost more than a new stack.
    const LARGE: usize = 1 << 12;
    if first > 0 || all.len() < LARGE {
        return all.split_off(first);
    }
    let mut all = std::mem::take(all);
    all.shrink_to_fit();
    all
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// The same as text, once it is known to be UTF-8.
    text: &'a str,
    at: usize,
    depth: usize,
    most: usize,
    values: usize,
    limit: usize,
    locate: bool,
    python: bool,
    unless: Option<&'a str>,
    /// The parent's number, and the token that led here.
    around: (usize, Box<str>),
    spans: Spans,
    /// The values of arrays and the members of objects that are not yet complete, from the outermost to the
    /// innermost: each array and object is then allocated once, at its size.
    items: Vec<Json>,
    members: Vec<(Text, Json)>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], locate: bool) -> Self {
        Self {
            bytes,
            text: "",
            at: 0,
            depth: 0,
            most: MAX_DEPTH,
            values: 0,
            limit: MAX_VALUES,
            locate,
            python: false,
            unless: None,
            around: (NOWHERE, Box::default()),
            spans: BTreeMap::new(),
            items: Vec::new(),
            members: Vec::new(),
        }
    }

    fn document(&mut self) -> Result<Json, ReadError> {
        match std::str::from_utf8(self.bytes) {
            Ok(text) => self.text = text,
            Err(error) => {
                self.at = error.valid_up_to();
                return Err(self.error(Problem::Utf8));
            }
        }
        self.whitespace();
        let value = self.value()?;
        self.whitespace();
        if self.at < self.bytes.len() {
            return Err(self.error(Problem::Trailing));
        }
        Ok(value)
    }

    fn error(&self, problem: Problem) -> ReadError {
        let at = self.at.min(self.bytes.len());
        let lines = Lines::of(&self.bytes[..at]);
        ReadError {
            line: lines.at(at),
            column: lines.column(at),
            offset: self.at,
            problem,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Json, ReadError> {
        let start = self.at;
        if self.values == self.limit {
            return Err(self.error(Problem::TooMany { limit: self.limit }));
        }
        let number = self.values;
        self.values += 1;
        let place = std::mem::replace(&mut self.around, (number, Box::default()));
        let value = match self.peek() {
            None => Err(self.error(Problem::Ended("a value"))),
            Some(b'N' | b'I' | b'-') if self.python && self.constant().is_some() => {
                let constant = self.constant().unwrap_or_default();
                self.word(constant, Json::Number(Number::from_literal(constant)))
            }
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.error(Problem::Expected("a JSON value"))),
        }?;
        if self.locate {
            let bytes = start..self.at;
            self.spans.insert(place, Span { number, bytes });
        }
        Ok(value)
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Json, ReadError>,
    ) -> Result<Json, ReadError> {
        if self.depth == self.most {
            return Err(self.error(Problem::TooDeep));
        }
        self.depth += 1;
        self.at += 1;
        self.whitespace();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn below(&mut self, token: impl FnOnce() -> Box<str>) -> Result<Json, ReadError> {
        if !self.locate {
            return self.value();
        }
        let around = self.around.0;
        self.around.1 = token();
        let value = self.value();
        self.around = (around, Box::default());
        value
    }

    fn array(&mut self) -> Result<Json, ReadError> {
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(Vec::new()));
        }
        let first = self.items.len();
        loop {
            self.whitespace();
            let index = self.items.len() - first;
            let item = self.below(|| index.to_string().into())?;
            self.items.push(item);
            if self.ends(b']', "`,` or `]`", "an array")? {
                return Ok(Json::Array(complete(&mut self.items, first)));
            }
        }
    }

    fn object(&mut self) -> Result<Json, ReadError> {
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(Object::new()));
        }
        let first = self.members.len();
        loop {
            self.whitespace();
            match self.peek() {
                Some(b'"') => {}
                Some(_) => return Err(self.error(Problem::Expected("a quoted member name"))),
                None => return Err(self.error(Problem::Ended("an object"))),
            }
            let name = self.string()?;
            if self.depth == 1 && self.unless.is_some_and(|it| name == *it) {
                return Err(self.error(Problem::Unless));
            }
            self.whitespace();
            match self.peek() {
                Some(b':') => self.at += 1,
                Some(_) => return Err(self.error(Problem::Expected("`:`"))),
                None => return Err(self.error(Problem::Ended("an object"))),
            }
            self.whitespace();
            let value = self.below(|| name.to_string_lossy().into())?;
            self.members.push((name, value));
            if self.ends(b'}', "`,` or `}`", "an object")? {
                let members = complete(&mut self.members, first);
                return Ok(Json::Object(Object { members }));
            }
        }
    }

    fn ends(
        &mut self,
        close: u8,
        expected: &'static str,
        inside: &'static str,
    ) -> Result<bool, ReadError> {
        self.whitespace();
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Err(self.error(Problem::Expected(expected))),
            None => Err(self.error(Problem::Ended(inside))),
        }
    }

    fn word(&mut self, word: &'static str, value: Json) -> Result<Json, ReadError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.error(Problem::Expected("a JSON value")))
    }

    fn constant(&self) -> Option<&'static str> {
        ["NaN", "Infinity", "-Infinity"]
            .into_iter()
            .find(|constant| self.bytes[self.at..].starts_with(constant.as_bytes()))
    }

    fn digits(&mut self) -> Result<usize, ReadError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match self.at - start {
            0 => Err(self.error(Problem::Number)),
            count => Ok(count),
        }
    }

    fn number(&mut self) -> Result<Number, ReadError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits()?;
        if leading_zero && whole > 1 {
            return Err(self.error(Problem::Number));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits()? > 15 {
                return Err(self.error(Problem::Exponent));
            }
        }
        Ok(Number::from_literal(self.slice(start..self.at)))
    }

    /// Every slice starts and ends next to an ASCII byte of text that was checked to be UTF-8.
    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    fn string(&mut self) -> Result<Text, ReadError> {
        self.at += 1;
        let start = self.at;
        self.plain();
        match self.peek() {
            Some(b'"') => {
                let text = Text::from(self.slice(start..self.at));
                self.at += 1;
                Ok(text)
            }
            Some(b'\\') => self.escaped_string(start),
            Some(_) => Err(self.error(Problem::Control)),
            None => Err(self.error(Problem::Ended("a string"))),
        }
    }

    /// Goes on to the next byte of a string that does not stand for itself.
    fn plain(&mut self) {
        let rest = self.bytes[self.at..].iter();
        let mut rest = rest.take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f));
        self.at += rest.by_ref().count();
    }

    /// The rest of a string from its first escape.
    fn escaped_string(&mut self, start: usize) -> Result<Text, ReadError> {
        let mut text = self.slice(start..self.at).to_owned();
        loop {
            let plain = self.at;
            self.plain();
            text.push_str(self.slice(plain..self.at));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Text::from(text));
                }
                Some(b'\\') => {
                    let escape = self.at;
                    match char::from_u32(self.escape()?.into()) {
                        Some(character) => text.push(character),
                        None => {
                            self.at = escape;
                            return self.string_by_unit(&text);
                        }
                    }
                }
                Some(_) => return Err(self.error(Problem::Control)),
                None => return Err(self.error(Problem::Ended("a string"))),
            }
        }
    }

    /// The rest of a string after `before`, by UTF-16 unit, because its next escape is a surrogate: half of a
    /// pair, or alone.
    fn string_by_unit(&mut self, before: &str) -> Result<Text, ReadError> {
        let mut units: Vec<u16> = before.encode_utf16().collect();
        loop {
            let plain = self.at;
            self.plain();
            units.extend(self.slice(plain..self.at).encode_utf16());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Text::from_utf16(&units));
                }
                Some(b'\\') => units.push(self.escape()?),
                Some(_) => return Err(self.error(Problem::Control)),
                None => return Err(self.error(Problem::Ended("a string"))),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, ReadError> {
        self.at += 1;
        let unit = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => u16::from(byte),
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => 10,
            Some(b'r') => 13,
            Some(b't') => 9,
            Some(b'u') => {
                let hex = self.bytes.get(self.at + 1..self.at + 5);
                let unit = hex
                    .filter(|hex| hex.iter().all(u8::is_ascii_hexdigit))
                    .and_then(|hex| std::str::from_utf8(hex).ok())
                    .and_then(|hex| u16::from_str_radix(hex, 16).ok())
                    .ok_or_else(|| self.error(Problem::Escape))?;
                self.at += 4;
                unit
            }
            Some(_) => return Err(self.error(Problem::Escape)),
            None => return Err(self.error(Problem::Ended("a string"))),
        };
        self.at += 1;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::to_compact;

    #[test]
    fn reading_and_writing_round_trips() {
        for text in [
            r#"{"b":1.0,"a":[1e400,-0,9007199254740993],"a":null}"#,
            r#"["\ud800","a\u0000","😀",true,false]"#,
            "\"\u{7f}\u{2028}\"",
        ] {
            assert_eq!(to_compact(&parse_str(text).unwrap()), text);
        }
    }

    #[test]
    fn invalid_json_is_rejected_with_its_position() {
        for (text, line, column) in [
            ("", 1, 1),
            ("{\n  \"a\": 01\n}", 2, 10),
            ("[1,\n]", 2, 1),
            ("{\"a\":1,}", 1, 8),
            ("nul", 1, 1),
            ("NaN", 1, 1),
            ("\"a\nb\"", 1, 3),
            ("\"\\x\"", 1, 3),
            ("\"\\u12g4\"", 1, 3),
            ("1 2", 1, 3),
            ("1.", 1, 3),
            ("-", 1, 2),
            ("1e9999999999999999", 1, 19),
        ] {
            let error = parse_str(text).unwrap_err();
            assert_eq!(
                (error.line, error.column),
                (line, column),
                "{text:?}: {error}"
            );
        }
        assert_eq!(parse(b"\"\xff\"").unwrap_err().problem, Problem::Utf8);
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse_str(&deep(MAX_DEPTH)).is_ok());
        let error = parse_str(&deep(100_000)).unwrap_err();
        assert_eq!(error.problem, Problem::TooDeep);
    }

    #[test]
    fn a_document_knows_the_position_of_its_parts() {
        let text = "{\n  \"a\": {\n    \"b/c\": 1\n  }\n}";
        let document = parse_document(text.as_bytes()).unwrap();
        assert_eq!(document.line("/a"), 2);
        assert_eq!(document.line("/a/b~1c"), 3);
        assert_eq!(document.line("/a/missing/deeper"), 2);
        assert_eq!(&text[document.span("/a/b~1c").unwrap()], "1");
    }
}

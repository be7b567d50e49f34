//! The JSON reader: strict RFC 8259, nothing lost, depth and size bounded, errors with line and column.
//!
//! A value of two bytes (`0,`) takes a hundred in memory, so the size of a text is no bound by itself: the number of
//! values has a limit of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Json, Lines, Number, Object, Text, pointer};

/// How deep arrays and objects may nest. Real contracts stay below 30.
pub const MAX_DEPTH: usize = 200;

/// How many values (arrays, objects, strings, numbers, words) one text may hold. The largest contract that was met in
/// the field has some 10,000; a committed file may hold many of them.
pub const MAX_VALUES: usize = 2_000_000;

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ReadError {
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
    /// Byte offset.
    pub offset: usize,
    pub problem: Problem,
}

/// What can be wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Something else should stand here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The text ends inside a value.
    #[error("the text ends inside {0}")]
    Ended(&'static str),
    /// More follows the value.
    #[error("something follows the end of the JSON value")]
    Trailing,
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// More values than allowed.
    #[error("more than {limit} values")]
    TooMany {
        /// How many are allowed.
        limit: usize,
    },
    /// A control character that JSON wants escaped.
    #[error("a control character inside a string must be escaped")]
    Control,
    /// An unknown escape.
    #[error("not a valid escape in a string")]
    Escape,
    /// Not UTF-8.
    #[error("not valid UTF-8")]
    Utf8,
    /// Not a number by JSON's grammar.
    #[error("not a valid number")]
    Number,
    /// An exponent of absurd size.
    #[error("a number whose exponent has more than 15 digits")]
    Exponent,
}

/// A value together with where in the text each part of it stands.
#[derive(Debug, Clone)]
pub struct Document {
    pub value: Json,
    spans: Spans,
    lines: Lines,
}

/// Where each value stands: by the value around it (its number) and the token that leads on from there. Not by whole
/// pointers, which would repeat a long name for everything below it.
type Spans = BTreeMap<(usize, Box<str>), Span>;

#[derive(Debug, Clone)]
struct Span {
    number: usize,
    bytes: Range<usize>,
}

impl Document {
    /// The bytes of the value that `pointer` names (of repeated members the last).
    pub fn span(&self, pointer: &str) -> Option<Range<usize>> {
        self.nearest(pointer).ok().map(|span| span.bytes.clone())
    }

    /// The line, from 1, on which the value that `pointer` names begins; where it is not there, the line of the
    /// nearest value around it.
    pub fn line(&self, pointer: &str) -> usize {
        match self.nearest(pointer) {
            Ok(span) | Err(Some(span)) => self.line_of_offset(span.bytes.start),
            Err(None) => 1,
        }
    }

    /// The place of the value that `pointer` names, or else of the last value on the way to it.
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

    /// The line, from 1, in which a byte stands.
    pub fn line_of_offset(&self, offset: usize) -> usize {
        self.lines.at(offset)
    }
}

/// What the whole value stands in.
const NOWHERE: usize = usize::MAX;

/// Reads one JSON value that fills `bytes`.
pub fn parse(bytes: &[u8]) -> Result<Json, ReadError> {
    Reader::new(bytes, false).document()
}

/// [`parse`] for what we wrote ourselves around values that [`parse`] has read: a few levels deeper than they were.
pub fn parse_wrapped(bytes: &[u8]) -> Result<Json, ReadError> {
    let mut reader = Reader::new(bytes, false);
    reader.most = MAX_DEPTH + 16;
    reader.limit = usize::MAX;
    reader.document()
}

/// [`parse`] for a text that was just written from values in memory: it is as deep and as long as they are.
pub(super) fn parse_own(text: &str) -> Result<Json, ReadError> {
    let mut reader = Reader::new(text.as_bytes(), false);
    reader.most = usize::MAX;
    reader.limit = usize::MAX;
    reader.document()
}

/// [`parse`] with a limit of the caller's own. Also says how many values were read.
pub fn parse_within(bytes: &[u8], limit: usize) -> Result<(Json, usize), ReadError> {
    let mut reader = Reader::new(bytes, false);
    reader.limit = limit;
    let value = reader.document()?;
    Ok((value, reader.values))
}

/// [`parse`] for text.
pub fn parse_str(text: &str) -> Result<Json, ReadError> {
    parse(text.as_bytes())
}

/// [`parse`], with the three constants that CPython's `json.loads` takes for numbers although no JSON text may
/// hold them: `NaN`, `Infinity`, `-Infinity`. Only for reproducing what Python tools make of such a text.
pub fn parse_python(bytes: &[u8]) -> Result<Json, ReadError> {
    let mut reader = Reader::new(bytes, false);
    reader.python = true;
    reader.document()
}

/// Reads one JSON value and remembers where each part of it stands.
pub fn parse_document(bytes: &[u8]) -> Result<Document, ReadError> {
    let mut reader = Reader::new(bytes, true);
    let value = reader.document()?;
    Ok(Document {
        value,
        spans: reader.spans,
        lines: Lines::of(bytes),
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    most: usize,
    values: usize,
    limit: usize,
    locate: bool,
    python: bool,
    /// The number of the value around, and the token that led here.
    around: (usize, Box<str>),
    spans: Spans,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], locate: bool) -> Self {
        Self {
            bytes,
            at: 0,
            depth: 0,
            most: MAX_DEPTH,
            values: 0,
            limit: MAX_VALUES,
            locate,
            python: false,
            around: (NOWHERE, Box::default()),
            spans: BTreeMap::new(),
        }
    }

    fn document(&mut self) -> Result<Json, ReadError> {
        if let Err(error) = std::str::from_utf8(self.bytes) {
            self.at = error.valid_up_to();
            return Err(self.error(Problem::Utf8));
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

    fn below(&mut self, token: &str) -> Result<Json, ReadError> {
        if !self.locate {
            return self.value();
        }
        let around = self.around.0;
        self.around.1 = token.into();
        let value = self.value();
        self.around = (around, Box::default());
        value
    }

    fn array(&mut self) -> Result<Json, ReadError> {
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.whitespace();
            items.push(self.below(&items.len().to_string())?);
            if self.ends(b']', "`,` or `]`", "an array")? {
                return Ok(Json::Array(items));
            }
        }
    }

    fn object(&mut self) -> Result<Json, ReadError> {
        let mut object = Object::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(object));
        }
        loop {
            self.whitespace();
            match self.peek() {
                Some(b'"') => {}
                Some(_) => return Err(self.error(Problem::Expected("a member name in quotes"))),
                None => return Err(self.error(Problem::Ended("an object"))),
            }
            let name = self.string()?;
            self.whitespace();
            match self.peek() {
                Some(b':') => self.at += 1,
                Some(_) => return Err(self.error(Problem::Expected("`:`"))),
                None => return Err(self.error(Problem::Ended("an object"))),
            }
            self.whitespace();
            let value = self.below(name.to_string_lossy())?;
            object.push(name, value);
            if self.ends(b'}', "`,` or `}`", "an object")? {
                return Ok(Json::Object(object));
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

    /// Every slice begins and ends beside an ASCII byte of a text that was checked to be UTF-8.
    fn slice(&self, range: Range<usize>) -> &'a str {
        std::str::from_utf8(&self.bytes[range]).unwrap_or_default()
    }

    fn string(&mut self) -> Result<Text, ReadError> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let text = Text::from(self.slice(start..self.at));
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => return self.escaped_string(start),
                Some(0..=0x1f) => return Err(self.error(Problem::Control)),
                Some(_) => self.at += 1,
                None => return Err(self.error(Problem::Ended("a string"))),
            }
        }
    }

    /// The rest of a string from its first escape on, by UTF-16 unit, because an escape may be half a pair.
    fn escaped_string(&mut self, start: usize) -> Result<Text, ReadError> {
        let mut units: Vec<u16> = self.slice(start..self.at).encode_utf16().collect();
        let mut plain = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    units.extend(self.slice(plain..self.at).encode_utf16());
                    self.at += 1;
                    return Ok(Text::from_utf16(&units));
                }
                Some(b'\\') => {
                    units.extend(self.slice(plain..self.at).encode_utf16());
                    units.push(self.escape()?);
                    plain = self.at;
                }
                Some(0..=0x1f) => return Err(self.error(Problem::Control)),
                Some(_) => self.at += 1,
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
    use crate::canonical::to_compact;

    #[test]
    fn what_was_sent_comes_out_again() {
        for text in [
            r#"{"b":1.0,"a":[1e400,-0,9007199254740993],"a":null}"#,
            r#"["\ud800","a\u0000","😀",true,false]"#,
            "\"\u{7f}\u{2028}\"",
        ] {
            assert_eq!(to_compact(&parse_str(text).unwrap()), text);
        }
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
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
    fn a_document_knows_where_its_parts_stand() {
        let text = "{\n  \"a\": {\n    \"b/c\": 1\n  }\n}";
        let document = parse_document(text.as_bytes()).unwrap();
        assert_eq!(document.line("/a"), 2);
        assert_eq!(document.line("/a/b~1c"), 3);
        assert_eq!(document.line("/a/missing/deeper"), 2);
        assert_eq!(&text[document.span("/a/b~1c").unwrap()], "1");
    }
}

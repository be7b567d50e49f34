//! YAML as PyYAML's `safe_load` reads it, because the original's digests are computed from that.
//!
//! The parser below yields scalars as text with their style; what a plain scalar means is decided
//! here, by YAML 1.1 as PyYAML implements it: `yes` is true, `1.0` is a float and `1e3` a string,
//! `0o17` a string and `017` fifteen. Crates that read YAML straight into a value follow YAML 1.2
//! and lose how a number was written, which changes digests.
//!
//! Limits, each an error and never a guess: dates and times (Python cannot write them as JSON),
//! keys that are not strings, tags beyond the core ones, several documents in one file, aliases
//! that expand without bound. On the other hand, the grammar is YAML 1.2, which accepts a few texts
//! that PyYAML rejects (a tab before a value).

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use exact_json::reader::{MAX_DEPTH, parse_python};
use exact_json::{Json, Object, Text};

/// Maximum number of values, with aliases expanded.
const MAX_NODES: usize = 100_000;

/// Why a text cannot be read as YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct YamlError {
    /// One-based.
    pub line: usize,
    pub problem: String,
}

/// What a plain scalar means.
type Plain = fn(&str) -> Result<Json, String>;

pub fn parse(text: &str) -> Result<Json, YamlError> {
    read(text, plain)
}

/// YAML by the core schema of YAML 1.2, as formats that are JSON as well use it: `yes` and `2026-01-31` are strings.
pub fn parse_core(text: &str) -> Result<Json, YamlError> {
    read(text, core)
}

fn read(text: &str, plain: Plain) -> Result<Json, YamlError> {
    // A byte order mark is not content.
    let mut reader = Reader {
        plain,
        parser: Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)),
        anchors: BTreeMap::new(),
        nodes: 0,
        line: 1,
    };
    let mut found = None;
    loop {
        match reader.next()? {
            Event::StreamEnd => break,
            Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
            Event::DocumentStart(_) if found.is_some() => {
                return Err(reader.error("unexpected second document"));
            }
            Event::DocumentStart(_) => {
                let first = reader.next()?;
                found = Some(reader.value(first, 0)?);
            }
            _ => return Err(reader.error("not a YAML document")),
        }
    }
    Ok(found.unwrap_or(Json::Null))
}

struct Reader<'a> {
    plain: Plain,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: BTreeMap<usize, Json>,
    nodes: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, YamlError> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                self.line = span.start.line();
                Ok(event)
            }
            Some(Err(error)) => Err(YamlError {
                line: error.marker().line(),
                problem: error.info().to_owned(),
            }),
            None => Ok(Event::StreamEnd),
        }
    }

    fn error(&self, problem: impl Into<String>) -> YamlError {
        YamlError {
            line: self.line,
            problem: problem.into(),
        }
    }

    fn count(&mut self, nodes: usize) -> Result<(), YamlError> {
        self.nodes += nodes;
        if self.nodes <= MAX_NODES {
            Ok(())
        } else {
            Err(self.error(format!("more than {MAX_NODES} values, aliases expanded")))
        }
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Json, YamlError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.count(1)?;
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let Some(value) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.error("an alias inside the value that it refers to"));
                };
                self.count(size(&value))?;
                return Ok(value);
            }
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, self.scalar(&text, style, tag.as_deref())?)
            }
            Event::SequenceStart(anchor, tag) => {
                self.only(tag.as_deref(), "seq")?;
                (anchor, self.sequence(depth)?)
            }
            Event::MappingStart(anchor, tag) => {
                self.only(tag.as_deref(), "map")?;
                (anchor, self.mapping(depth)?)
            }
            _ => return Err(self.error("expected a value")),
        };
        // Zero means no anchor.
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn sequence(&mut self, depth: usize) -> Result<Json, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Json::Array(items)),
                event => items.push(self.value(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Json, YamlError> {
        let mut merged: Vec<(Text, Json)> = Vec::new();
        let mut own: Vec<(Text, Json)> = Vec::new();
        loop {
            let event = self.next()?;
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let is_merge =
                matches!(&event, Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<");
            let line = self.line;
            let key = if is_merge {
                Json::Null
            } else {
                self.value(event, depth + 1)?
            };
            let below = self.next()?;
            let value = self.value(below, depth + 1)?;
            match key {
                _ if is_merge => merged.extend(self.merge(value)?),
                Json::String(name) => own.push((name, value)),
                other => {
                    return Err(YamlError {
                        line,
                        problem: format!("the key is {}, not a string: quote it", other.kind()),
                    });
                }
            }
        }
        // As in a Python dict: the value of the last repeated key, in the position of the first.
        let mut object = Object::new();
        for (name, value) in merged.into_iter().chain(own) {
            match name.as_str().and_then(|name| object.get_mut(name)) {
                Some(place) => *place = value,
                None => object.push(name, value),
            }
        }
        Ok(Json::Object(object))
    }

    /// The members merged by `<<`: the first of several mappings wins, and the mapping's own
    /// members win over all.
    fn merge(&self, value: Json) -> Result<Vec<(Text, Json)>, YamlError> {
        let members = |object: &Object| -> Vec<(Text, Json)> {
            object
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        let mappings = match &value {
            Json::Array(items) => items.iter().rev().collect(),
            other => vec![other],
        };
        let mut merged = Vec::new();
        for mapping in mappings {
            match mapping {
                Json::Object(object) => merged.extend(members(object)),
                other => {
                    return Err(self.error(format!("`<<` names {}, not a mapping", other.kind())));
                }
            }
        }
        Ok(merged)
    }

    fn only(&self, tag: Option<&Tag>, expected: &str) -> Result<(), YamlError> {
        match tag {
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == expected => Ok(()),
            Some(tag) => Err(self.error(format!("the tag `{tag}` is not supported"))),
            None => Ok(()),
        }
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Json, YamlError> {
        let string = || Json::string(text);
        let Some(tag) = tag else {
            return match style {
                ScalarStyle::Plain => (self.plain)(text).map_err(|problem| self.error(problem)),
                _ => Ok(string()),
            };
        };
        let resolved = || (self.plain)(text).map_err(|problem| self.error(problem));
        match (tag.is_yaml_core_schema(), tag.suffix.as_str()) {
            (true, "str") => Ok(string()),
            (true, "int" | "float" | "bool" | "null") => match (tag.suffix.as_str(), resolved()?) {
                ("int", value @ Json::Number(_))
                | ("float", value @ Json::Number(_))
                | ("bool", value @ Json::Bool(_))
                | ("null", value @ Json::Null) => match (&value, tag.suffix.as_str()) {
                    (Json::Number(number), "float") if number.is_integer_literal() => {
                        number_of(&format!("{}.0", number.literal()))
                            .ok_or_else(|| self.error("not a float"))
                    }
                    _ => Ok(value),
                },
                _ => Err(self.error(format!("`{text}` is not valid for the tag `{tag}`"))),
            },
            (false, "") if tag.handle == "!" => Ok(string()),
            _ => Err(self.error(format!("the tag `{tag}` is not supported"))),
        }
    }
}

fn size(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Json::Object(object) => 1 + object.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// What a plain scalar means in YAML 1.1 as PyYAML resolves it.
fn plain(text: &str) -> Result<Json, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Json::Null),
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Json::Bool(true));
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Json::Bool(false));
        }
        "=" | "<<" => return Err(format!("the value `{text}` is not supported; quote it")),
        _ => {}
    }
    if is_timestamp(text) {
        return Err(format!(
            "PyYAML reads `{text}` as a date, which JSON cannot hold; quote it"
        ));
    }
    if let Some(literal) = integer(text)? {
        return number_of(&literal).ok_or_else(|| format!("`{text}` is not a number"));
    }
    if let Some(literal) = float(text) {
        return number_of(&literal).ok_or_else(|| format!("`{text}` is not a number"));
    }
    Ok(Json::string(text))
}

/// What a plain scalar means in the core schema of YAML 1.2.
fn core(text: &str) -> Result<Json, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Json::Null),
        "true" | "True" | "TRUE" => return Ok(Json::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Json::Bool(false)),
        _ => {}
    }
    let radix = |digits: &str, radix: u32| {
        let value = u128::from_str_radix(digits, radix).ok()?;
        number_of(&value.to_string())
    };
    let special = match text.split_at_checked(2) {
        Some(("0o", digits)) => radix(digits, 8),
        Some(("0x", digits)) => radix(digits, 16),
        _ => decimal(text),
    };
    Ok(special.unwrap_or_else(|| Json::string(text)))
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, as a number of JSON.
fn decimal(text: &str) -> Option<Json> {
    let (sign, body) = sign(text);
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || fraction.is_some_and(|it| !it.is_empty());
    let (_, power) = self::sign(exponent.unwrap_or("0"));
    if !has_digits || !digits(whole) || !digits(fraction.unwrap_or_default()) {
        return None;
    }
    if power.is_empty() || !digits(power) {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    };
    let mut literal = format!("{sign}{whole}");
    if let Some(fraction) = fraction {
        let fraction = if fraction.is_empty() { "0" } else { fraction };
        literal.push_str(&format!(".{fraction}"));
    }
    if let Some(exponent) = exponent {
        literal.push_str(&format!("e{exponent}"));
    }
    number_of(&literal)
}

fn number_of(literal: &str) -> Option<Json> {
    parse_python(literal.as_bytes()).ok()
}

fn sign(text: &str) -> (&str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The JSON literal of an integer.
fn integer(text: &str) -> Result<Option<String>, String> {
    let (sign, body) = sign(text);
    let all = |digits: &str, of: fn(&u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|byte| byte == b'_' || of(&byte))
    };
    let radix = |digits: &str, radix: u32| {
        let digits = digits.replace('_', "");
        let value = u128::from_str_radix(&digits, radix)
            .map_err(|_| format!("`{text}` is not a supported integer"))?;
        Ok(Some(format!("{sign}{value}")))
    };
    if let Some(digits) = body
        .strip_prefix("0b")
        .filter(|it| all(it, |b| matches!(b, b'0' | b'1')))
    {
        return radix(digits, 2);
    }
    if let Some(digits) = body
        .strip_prefix("0x")
        .filter(|it| all(it, u8::is_ascii_hexdigit))
    {
        return radix(digits, 16);
    }
    if let Some(digits) = body
        .strip_prefix('0')
        .filter(|it| all(it, |b| matches!(b, b'0'..=b'7')))
    {
        return radix(digits, 8);
    }
    let first = body.bytes().next();
    if body == "0" || (matches!(first, Some(b'1'..=b'9')) && all(body, u8::is_ascii_digit)) {
        return Ok(Some(format!("{sign}{}", body.replace('_', ""))));
    }
    // Base 60: `1:30` is ninety.
    let mut parts = body.split(':');
    let head = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let is_base_60 = matches!(first, Some(b'1'..=b'9'))
        && all(head, u8::is_ascii_digit)
        && !rest.is_empty()
        && rest.iter().all(|part| is_sixtieth(part));
    if !is_base_60 {
        return Ok(None);
    }
    let mut value: u128 = 0;
    for part in std::iter::once(&head).chain(&rest) {
        let digit: u128 = part
            .replace('_', "")
            .parse()
            .map_err(|_| format!("`{text}` is not a supported integer"))?;
        value = value
            .checked_mul(60)
            .and_then(|value| value.checked_add(digit))
            .ok_or_else(|| format!("`{text}` is too large"))?;
    }
    Ok(Some(format!("{sign}{value}")))
}

fn is_sixtieth(part: &str) -> bool {
    match part.as_bytes() {
        [one] => one.is_ascii_digit(),
        [ten, one] => matches!(ten, b'0'..=b'5') && one.is_ascii_digit(),
        _ => false,
    }
}

/// The JSON literal of a float.
fn float(text: &str) -> Option<String> {
    let (sign, body) = sign(text);
    match body {
        ".inf" | ".Inf" | ".INF" => return Some(format!("{sign}Infinity")),
        ".nan" | ".NaN" | ".NAN" if body == text => return Some("NaN".to_owned()),
        _ => {}
    }
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    // The exponent needs a sign, or it is not a float.
    let exponent = match exponent {
        None => String::new(),
        Some(exponent) => {
            let digits = exponent.strip_prefix(['+', '-'])?;
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            format!("e{exponent}")
        }
    };
    let (whole, fraction) = mantissa.split_once('.')?;
    let digits = |text: &str| {
        text.bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_digit())
    };
    if !digits(fraction) {
        return None;
    }
    let cleaned = fraction.replace('_', "");
    let cleaned = if cleaned.is_empty() { "0" } else { &cleaned };
    if whole.is_empty() {
        // `.5`, and without a sign.
        let fits = text == body
            && fraction
                .bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_digit());
        return fits.then(|| format!("0.{cleaned}{exponent}"));
    }
    if whole.contains(':') {
        let parts: Vec<&str> = whole.split(':').collect();
        let (head, rest) = parts.split_first()?;
        let fits = head
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_digit())
            && digits(head)
            && rest.iter().all(|part| is_sixtieth(part))
            && exponent.is_empty();
        if !fits {
            return None;
        }
        let last = format!("{}.{cleaned}", rest.last()?);
        let mut places: Vec<f64> = parts[..parts.len() - 1]
            .iter()
            .filter_map(|part| part.replace('_', "").parse().ok())
            .collect();
        places.push(last.parse().ok()?);
        // From the last digit, as PyYAML adds them: the order affects the rounding.
        let (mut value, mut base) = (0.0_f64, 1.0_f64);
        for place in places.iter().rev() {
            value += place * base;
            base *= 60.0;
        }
        return Some(format!("{sign}{value:?}"));
    }
    if !whole
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit())
        || !digits(whole)
    {
        return None;
    }
    let whole = whole.replace('_', "");
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    };
    Some(format!("{sign}{whole}.{cleaned}{exponent}"))
}

/// `2026-01-24`, optionally followed by a time.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| {
        bytes
            .get(from..to)
            .is_some_and(|it| it.iter().all(u8::is_ascii_digit))
    };
    if bytes.len() == 10 {
        return digits(0, 4)
            && bytes[4] == b'-'
            && digits(5, 7)
            && bytes[7] == b'-'
            && digits(8, 10);
    }
    // `2026-1-4 9:30:00`, in all its spellings.
    let Some((date, time)) = text.split_once(['T', 't', ' ', '\t']) else {
        return false;
    };
    let number = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let date: Vec<&str> = date.split('-').collect();
    let is_date = matches!(&date[..], [year, month, day]
        if number(year, 4..=4) && number(month, 1..=2) && number(day, 1..=2));
    let clock = time.trim_start();
    let clock: Vec<&str> = clock.splitn(3, ':').collect();
    is_date
        && matches!(&clock[..], [hour, minute, second]
            if number(hour, 1..=2) && number(minute, 2..=2) && second.len() >= 2 && number(&second[..2], 2..=2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::python::{NonFinite, dumps};
    use exact_json::to_compact;

    /// Each line shows what PyYAML 6.0.3 and `json.dumps` produce.
    const SCALARS: &[(&str, &str)] = &[
        ("yes", "true"),
        ("Off", "false"),
        ("y", "\"y\""),
        ("~", "null"),
        ("", "null"),
        ("nUll", "\"nUll\""),
        ("1", "1"),
        ("+1", "1"),
        ("-0", "0"),
        ("017", "15"),
        ("0o17", "\"0o17\""),
        ("08", "\"08\""),
        ("0x1F", "31"),
        ("0b101", "5"),
        ("1_000", "1000"),
        ("1:30", "90"),
        ("1:30:15", "5415"),
        ("1:75", "\"1:75\""),
        ("1.0", "1.0"),
        ("1.", "1.0"),
        (".5", "0.5"),
        ("-.5", "\"-.5\""),
        ("1e3", "\"1e3\""),
        ("1.5e3", "\"1.5e3\""),
        ("1.5e+3", "1500.0"),
        ("1_0.5", "10.5"),
        ("01.5", "1.5"),
        (".inf", "Infinity"),
        ("-.INF", "-Infinity"),
        (".nan", "NaN"),
        ("1:30.5", "90.5"),
        ("1.2.3", "\"1.2.3\""),
        ("v1", "\"v1\""),
        ("0.0.1", "\"0.0.1\""),
    ];

    #[test]
    fn plain_scalars_are_resolved_as_in_pyyaml() {
        for (text, expected) in SCALARS {
            let printed = plain(text).map(|it| dumps(&it, NonFinite::Infinity).unwrap_or_default());
            assert_eq!(printed.as_deref(), Ok(*expected), "{text}");
        }
        for date in ["2026-01-24", "2026-1-4 9:30:00", "2026-01-24T12:00:00Z"] {
            assert!(plain(date).is_err(), "{date}");
        }
    }

    #[test]
    fn plain_scalars_of_yaml_1_2_are_those_of_json_and_strings() {
        let read = |text: &str| parse_core(text).map(|it| to_compact(&it));
        for (text, expected) in [
            ("yes", "\"yes\""),
            ("2026-01-31", "\"2026-01-31\""),
            ("1:30", "\"1:30\""),
            ("1.0.0", "\"1.0.0\""),
            ("true", "true"),
            ("~", "null"),
            ("+5", "5"),
            ("007", "7"),
            ("-.5", "-0.5"),
            ("1.", "1.0"),
            ("1e3", "1e3"),
            ("0o17", "15"),
            ("0xff", "255"),
            ("-", "[null]"),
            ("e5", "\"e5\""),
            ("'7'", "\"7\""),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn structure_anchors_and_merges() {
        let read = |text: &str| parse(text).map(|it| to_compact(&it));
        assert_eq!(
            read("a: &x\n  b: 1\n  c: [1, 'two']\nd:\n  <<: *x\n  b: 2\ne: *x\nf: |\n  text\n")
                .as_deref(),
            Ok(
                r#"{"a":{"b":1,"c":[1,"two"]},"d":{"b":2,"c":[1,"two"]},"e":{"b":1,"c":[1,"two"]},"f":"text\n"}"#
            )
        );
        assert_eq!(
            read("a: !!str 1\nb: \"2\"\nc: !!float 3").as_deref(),
            Ok(r#"{"a":"1","b":"2","c":3.0}"#)
        );
        assert_eq!(read("").as_deref(), Ok("null"));
        for (text, line) in [
            ("a: 1\n1: b\n", 2),
            ("a: 1\n---\nb: 2\n", 2),
            ("a: !x 1", 1),
            ("a: [\"b", 1),
        ] {
            assert_eq!(parse(text).map_err(|error| error.line), Err(line), "{text}");
        }
    }

    #[test]
    fn aliases_do_not_expand_without_bound() {
        let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..8 {
            let below = vec![format!("*a{}", level - 1); 10].join(",");
            text += &format!("a{level}: &a{level} [{below}]\n");
        }
        assert!(parse(&text).is_err_and(|error| error.problem.contains("aliases")));
    }
}

//! Python's view of JSON values, for messages and matching: `repr`, `str`, `==`, type names.

use exact_json::python::{NonFinite, dumps};
use exact_json::{Json, Number};

/// `str(value)`; a missing member is `None`.
pub(super) fn text(value: Option<&Json>) -> String {
    match value {
        None => "None".to_owned(),
        Some(Json::String(text)) => text.to_string_lossy().to_owned(),
        Some(other) => repr(other),
    }
}

/// `repr(value)`
pub(super) fn repr(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(_) => match dumps(value, NonFinite::Infinity)
            .unwrap_or_default()
            .as_str()
        {
            "NaN" => "nan".to_owned(),
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            text => text.to_owned(),
        },
        Json::String(text) => quoted(text.to_string_lossy()),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(object) => {
            // A dict keeps the position of the first of repeated members and the value of the last.
            let mut members: Vec<String> = Vec::new();
            let mut seen = std::collections::BTreeSet::new();
            for (name, _) in object.iter() {
                if seen.insert(name) {
                    let value = object
                        .by_name()
                        .get(name)
                        .map_or_else(String::new, |it| repr(it));
                    members.push(format!("{}: {value}", quoted(name.to_string_lossy())));
                }
            }
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// Single quotes unless the text contains only those; unprintable characters are escaped.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() || exact_json::is_invisible(c) => {
                let code = u32::from(c);
                out.push_str(&match code {
                    0..=0xff => format!("\\x{code:02x}"),
                    0x100..=0xffff => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// `type(value).__name__`
pub(super) fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "NoneType",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_integer_literal() => "int",
        Json::Number(_) => "float",
        Json::String(_) => "str",
        Json::Array(_) => "list",
        Json::Object(_) => "dict",
    }
}

/// `one == other`: numbers by value, and `True` equals 1.
pub(super) fn equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Bool(one), Json::Bool(other)) => one == other,
        (Json::Bool(flag), Json::Number(number)) | (Json::Number(number), Json::Bool(flag)) => {
            number.decimal() == Number::from(i64::from(*flag)).decimal()
        }
        (Json::Number(one), Json::Number(other)) => {
            // NaN equals nothing, not even itself.
            one.literal() != "NaN" && other.literal() != "NaN" && one.decimal() == other.decimal()
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let (one, other) = (one.by_name(), other.by_name());
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|it| equal(value, it)))
        }
        (one, other) => one == other,
    }
}

/// Python's truth value.
pub(super) fn truthy(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => false,
        Json::Bool(true) => true,
        Json::Number(number) => number.to_f64() != 0.0,
        Json::String(text) => !text.to_string_lossy().is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(object) => !object.is_empty(),
    }
}

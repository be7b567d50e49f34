//! What must hold for every text: a violation panics. The fuzz target is this very function, and `main.rs` replays its
//! committed seeds.

use exact_json::python::{self, NonFinite};
use exact_json::reader::{MAX_DEPTH, Problem, parse_python};
use exact_json::{
    Json, jcs, parse, parse_document, parse_str, to_canonical, to_compact, to_pretty,
};
use serde_json::Value;

/// Reading and writing round-trips; canonical forms are fixed points; a text that `serde_json` also
/// reads has the same value; nothing nests deeper than the reader's limit.
pub(crate) fn json(input: &[u8]) {
    let theirs = serde_json::from_slice::<Value>(input);
    if let Ok(python) = parse_python(input) {
        writers(&python);
    }
    let value = match parse(input) {
        Ok(value) => value,
        Err(error) => {
            assert!(error.offset <= input.len() && error.line >= 1 && error.column >= 1);
            assert!(parse_document(input).is_err());
            assert!(
                theirs.is_err() || error.problem == Problem::Exponent,
                "rejected: {error}, but serde_json reads it"
            );
            return;
        }
    };
    assert!(depth(&value) <= MAX_DEPTH);
    assert_eq!(parse_str(&to_compact(&value)).as_ref(), Ok(&value));
    assert_eq!(parse_str(&to_pretty(&value)).as_ref(), Ok(&value));
    let document = parse_document(input).expect("what parse reads");
    assert_eq!(document.value, value);
    let whole = document.span("").expect("the root has a span");
    assert_eq!(parse(&input[whole]).as_ref(), Ok(&value));

    let canonical = to_canonical(&value);
    let again = match parse_str(&canonical) {
        // An exponent at the limit can be one digit longer in the canonical form, which is hashed
        // and never read.
        Err(error) if error.problem == Problem::Exponent => None,
        again => Some(again.expect("a canonical form is JSON")),
    };
    if let Some(again) = again {
        assert_eq!(to_canonical(&again), canonical);
        assert!(value.same_value(&again));
    }
    writers(&value);

    let mut peculiar = !value.repeated_members().is_empty();
    match &theirs {
        Ok(theirs) => agree(&value, theirs),
        Err(error) => {
            peculiarities(&value, &mut peculiar);
            // `serde_json` stops at 128 levels.
            assert!(
                peculiar || depth(&value) > 126,
                "serde_json rejects it: {error}"
            );
        }
    }
}

/// The writers of other conventions: they may reject a value, but what they write must be a fixed
/// point.
fn writers(value: &Json) {
    if let Ok(text) = jcs::to_string_lenient(value) {
        let again = parse_str(&text).expect("RFC 8785 is JSON");
        assert_eq!(jcs::to_string_lenient(&again).as_ref(), Ok(&text));
    }
    if jcs::to_string(value).is_ok() {
        assert!(jcs::to_string_lenient(value).is_ok());
    }
    for non_finite in [NonFinite::Infinity, NonFinite::Null] {
        if let Ok(text) = python::dumps(value, non_finite) {
            assert!(text.is_ascii());
            let again = parse_python(text.as_bytes()).expect("Python reads what it writes");
            assert_eq!(python::dumps(&again, non_finite).as_ref(), Ok(&text));
        }
    }
}

fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(object) => 1 + object.iter().map(|it| depth(it.1)).max().unwrap_or(0),
        _ => 0,
    }
}

/// What other readers reject: lone surrogates, and numbers beyond a double.
fn peculiarities(value: &Json, found: &mut bool) {
    match value {
        Json::Number(number) => *found |= number.to_ecmascript().is_none(),
        Json::String(text) => *found |= text.has_lone_surrogate(),
        Json::Array(items) => items.iter().for_each(|it| peculiarities(it, found)),
        Json::Object(object) => object.iter().for_each(|(name, value)| {
            *found |= name.has_lone_surrogate();
            peculiarities(value, found);
        }),
        Json::Null | Json::Bool(_) => {}
    }
}

fn agree(ours: &Json, theirs: &Value) {
    match (ours, theirs) {
        (Json::Null, Value::Null) => {}
        (Json::Bool(one), Value::Bool(other)) => assert_eq!(one, other),
        (Json::String(one), Value::String(other)) => assert_eq!(one.as_str(), Some(&**other)),
        (Json::Number(one), Value::Number(other)) => {
            if other.is_i64() || other.is_u64() {
                assert_eq!(one.to_exact(), other.to_string());
            } else {
                // Without `float_roundtrip` serde_json may be off by the last bit.
                let (one, other) = (one.to_f64(), other.as_f64().expect("a double"));
                let close = (one - other).abs() <= one.abs() * 1e-14 + f64::MIN_POSITIVE;
                assert!(close, "{one} and {other}");
            }
        }
        (Json::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len());
            one.iter()
                .zip(other)
                .for_each(|(one, other)| agree(one, other));
        }
        (Json::Object(one), Value::Object(other)) => {
            let one = one.by_name();
            assert_eq!(one.len(), other.len());
            for (name, value) in one {
                let other = name.as_str().and_then(|name| other.get(name));
                agree(value, other.expect("the same members"));
            }
        }
        (one, other) => panic!("{one} and {other}"),
    }
}

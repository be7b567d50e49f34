//! ToolPin's canonical JSON, which is not RFC 8785: member names are normalised (NFC) and sorted by
//! UTF-16 unit, an ECMAScript object is rebuilt from them (so names that look like array indices
//! come first, in numeric order), and `JSON.stringify` prints it.

use icu_normalizer::ComposingNormalizerBorrowed;

use exact_json::writer::{Escape, sequence, write_scalar, write_string};
use exact_json::{Json, Text};

/// Why ToolPin has no form for a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Canonical JSON object has duplicate key after NFC normalization: {}", .0.to_string_lossy())]
pub struct DuplicateKey(pub Text);

/// The text that ToolPin hashes. Numbers pass through a double, and one beyond its range is `null`;
/// of exactly repeated members the last counts.
pub fn to_string(value: &Json) -> Result<String, DuplicateKey> {
    let mut out = String::new();
    write(&mut out, value)?;
    Ok(out)
}

/// A name of an object that two members share once normalised, if any.
pub fn duplicate_after_nfc(object: &exact_json::Object) -> Option<Text> {
    let mut names: Vec<Text> = object.by_name().into_keys().map(nfc).collect();
    names.sort_unstable();
    names
        .windows(2)
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0].clone())
}

fn write(out: &mut String, value: &Json) -> Result<(), DuplicateKey> {
    let mut outcome = Ok(());
    match value {
        Json::Number(number) => out.push_str(&number.to_ecmascript().unwrap_or("null".to_owned())),
        Json::Array(items) => sequence(out, '[', ']', items, |out, item| {
            if outcome.is_ok() {
                outcome = write(out, item);
            }
        }),
        Json::Object(object) => {
            if let Some(name) = duplicate_after_nfc(object) {
                return Err(DuplicateKey(name));
            }
            let mut members: Vec<(Text, &Json)> = object
                .by_name()
                .into_iter()
                .map(|(name, value)| (nfc(name), value))
                .collect();
            members.sort_by(|(one, _), (other, _)| {
                (array_index(one).is_none(), array_index(one))
                    .cmp(&(array_index(other).is_none(), array_index(other)))
                    .then_with(|| one.cmp_utf16(other))
            });
            sequence(out, '{', '}', members, |out, (name, value)| {
                if outcome.is_ok() {
                    write_string(out, &name, Escape::Needed);
                    out.push(':');
                    outcome = write(out, value);
                }
            });
        }
        scalar => write_scalar(out, scalar, Escape::Needed),
    }
    outcome
}

/// The array index that ECMAScript reads a name as: a canonical decimal up to 2^32 - 2.
fn array_index(name: &Text) -> Option<u32> {
    let name = name.as_str()?;
    let canonical = name == "0" || (!name.starts_with('0') && !name.is_empty());
    if !canonical || !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    name.parse().ok().filter(|index| *index < u32::MAX)
}

/// Normalisation form C. A lone surrogate stays as it is and composes with nothing.
fn nfc(name: &Text) -> Text {
    let normalizer = ComposingNormalizerBorrowed::new_nfc();
    if let Some(name) = name.as_str() {
        return Text::from(normalizer.normalize(name).into_owned());
    }
    let mut normalised = Vec::new();
    let mut run = String::new();
    for unit in char::decode_utf16(name.utf16()) {
        match unit {
            Ok(character) => run.push(character),
            Err(lone) => {
                normalised.extend(normalizer.normalize(&run).encode_utf16());
                normalised.push(lone.unpaired_surrogate());
                run.clear();
            }
        }
    }
    normalised.extend(normalizer.normalize(&run).encode_utf16());
    Text::from_utf16(&normalised)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::parse_str;

    fn text(json: &str) -> Result<String, DuplicateKey> {
        to_string(&parse_str(json).unwrap())
    }

    #[test]
    fn names_that_look_like_indices_come_first_in_numeric_order() {
        assert_eq!(
            text(r#"{"b":1,"10":2,"9":3,"01":4,"4294967295":5,"4294967294":6,"-1":7,"":8}"#)
                .unwrap(),
            r#"{"9":3,"10":2,"4294967294":6,"":8,"-1":7,"01":4,"4294967295":5,"b":1}"#
        );
    }

    #[test]
    fn names_are_normalised_but_values_are_not() {
        assert_eq!(
            text(r#"{"cafe\u0301":"e\u0301"}"#).unwrap(),
            "{\"café\":\"e\u{301}\"}"
        );
        assert!(text(r#"{"cafe\u0301":1,"caf\u00e9":2}"#).is_err());
        assert_eq!(text(r#"{"a":1,"a":2}"#).unwrap(), r#"{"a":2}"#);
    }

    #[test]
    fn numbers_are_printed_as_in_ecmascript() {
        assert_eq!(
            text("[1.0,-0,1e400,9007199254740993,1e21,1e-7]").unwrap(),
            "[1,0,null,9007199254740992,1e+21,1e-7]"
        );
    }
}

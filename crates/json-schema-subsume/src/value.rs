//! Converts the lossless [`Json`] to the `serde_json` value that the validator reads.
//!
//! `serde_json` supports 64-bit integers and doubles. Any other number is rounded on the way, and the
//! conversion reports which ones: a validator cannot tell such a number from those that are rounded to
//! the same double.

use serde_json::Value;

use exact_json::{Json, Number, parse_str, to_canonical};

/// A value for the validator, and what it lost.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The value.
    pub value: Value,
    /// The doubles that stand for numbers that they do not equal.
    pub(crate) rounded: Vec<f64>,
    /// Whether a `multipleOf` is among them: nothing is known of its multiples.
    pub(crate) rounded_step: bool,
}

impl Converted {
    /// Whether every number was converted exactly.
    pub(crate) fn is_exact(&self) -> bool {
        self.rounded.is_empty()
    }
}

/// Converts; `None` if the value cannot be represented in `serde_json` at all (a lone surrogate,
/// 1e400).
pub fn to_value(json: &Json) -> Option<Converted> {
    let mut converted = Converted {
        value: Value::Null,
        rounded: Vec::new(),
        rounded_step: false,
    };
    converted.value = convert(json, &mut converted)?;
    Some(converted)
}

fn convert(json: &Json, notes: &mut Converted) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Number(convert_number(number, notes)?),
        Json::String(text) => Value::String(text.as_str()?.to_owned()),
        Json::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| convert(item, notes))
                .collect::<Option<_>>()?,
        ),
        Json::Object(object) => {
            let mut map = serde_json::Map::new();
            for (name, value) in object.iter() {
                let before = notes.rounded.len();
                map.insert(name.as_str()?.to_owned(), convert(value, notes)?);
                notes.rounded_step |= name == "multipleOf" && notes.rounded.len() > before;
            }
            Value::Object(map)
        }
    })
}

fn convert_number(number: &Number, notes: &mut Converted) -> Option<serde_json::Number> {
    if let Ok(integer) = number.literal().parse::<i64>() {
        return Some(integer.into());
    }
    if let Ok(integer) = number.literal().parse::<u64>() {
        return Some(integer.into());
    }
    let double = number.to_f64();
    let converted = serde_json::Number::from_f64(double)?;
    let Ok(Json::Number(back)) = parse_str(&converted.to_string()) else {
        return None;
    };
    if back.decimal() != number.decimal() {
        notes.rounded.push(double);
    }
    Some(converted)
}

/// Whether a value contains such a number anywhere.
pub(crate) fn has_number(json: &Json, such: &dyn Fn(&Number) -> bool) -> bool {
    match json {
        Json::Number(number) => such(number),
        Json::Array(items) => items.iter().any(|item| has_number(item, such)),
        Json::Object(object) => object.iter().any(|(_, member)| has_number(member, such)),
        _ => false,
    }
}

/// A number as an exact 64-bit integer, including `1.0`.
pub fn as_i64(number: &Number) -> Option<i64> {
    if let Ok(integer) = number.literal().parse::<i64>() {
        return Some(integer);
    }
    let double = number.to_f64();
    // Beyond 2^53 a double no longer distinguishes neighbours.
    if double.fract() != 0.0 || double.abs() > 9_007_199_254_740_992.0 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation)]
    let integer = double as i64;
    (Number::from(integer).decimal() == number.decimal()).then_some(integer)
}

/// A count (`minLength` and the like).
pub fn as_count(json: &Json) -> Option<u64> {
    match json {
        Json::Number(number) => as_i64(number).and_then(|count| u64::try_from(count).ok()),
        _ => None,
    }
}

/// Whether two values mean the same. Scalars are compared without serialising them.
pub fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            one == other || one.decimal() == other.decimal()
        }
        (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Object(_)) => {
            one.same_value(other)
        }
        _ => one == other,
    }
}

/// The values of `from` that are not in `others`.
pub fn missing(from: &[Json], others: &[Json]) -> Vec<Json> {
    let known: std::collections::HashSet<String> = others.iter().map(to_canonical).collect();
    from.iter()
        .filter(|value| !known.contains(&to_canonical(value)))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inexact_numbers_are_noticed() {
        let exact =
            |text| to_value(&parse_str(text).expect("JSON")).map(|converted| converted.is_exact());
        assert_eq!(exact("9007199254740993"), Some(true));
        assert_eq!(exact("1.50"), Some(true));
        assert_eq!(exact("0.1"), Some(true));
        assert_eq!(exact("123456789012345678901234567890"), Some(false));
        assert_eq!(exact("1e400"), None);
    }
}

//! CPython's `json.dumps(value, sort_keys=True, separators=(",", ":"))`, byte for byte.

use super::Json;
use super::writer::{Escape, sequence, write_scalar, write_string};

/// CPython refuses to read integers with more digits.
const MAX_INTEGER_DIGITS: usize = 4300;

/// How to write a float that JSON cannot represent: `NaN`, or one beyond the range of a double (`1e400`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonFinite {
    /// `Infinity` and `NaN`, which `json.dumps` prints although they are not JSON.
    Infinity,
    /// `null`, as in pydantic's JSON mode.
    Null,
}

/// Why CPython refuses a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PythonError {
    /// `sys.int_info.default_max_str_digits`
    #[error("an integer with {0} digits: CPython accepts at most {MAX_INTEGER_DIGITS}")]
    IntegerTooLong(usize),
}

/// The text CPython prints. Member names are sorted by code point; a repeated member has its last value.
pub fn dumps(value: &Json, non_finite: NonFinite) -> Result<String, PythonError> {
    let mut out = String::new();
    write(&mut out, value, non_finite)?;
    Ok(out)
}

fn write(out: &mut String, value: &Json, non_finite: NonFinite) -> Result<(), PythonError> {
    let mut outcome = Ok(());
    match value {
        Json::Number(number) => {
            let digits = number.literal().trim_start_matches('-').len();
            if number.is_integer_literal() && digits > MAX_INTEGER_DIGITS {
                return Err(PythonError::IntegerTooLong(digits));
            }
            match (number.to_python(), non_finite) {
                (Some(text), _) => out.push_str(&text),
                (None, NonFinite::Null) => out.push_str("null"),
                (None, NonFinite::Infinity) if number.literal() == "NaN" => out.push_str("NaN"),
                (None, NonFinite::Infinity) => {
                    let negative = number.literal().starts_with('-');
                    out.push_str(if negative { "-Infinity" } else { "Infinity" });
                }
            }
        }
        Json::Array(items) => sequence(out, '[', ']', items, |out, item| {
            if outcome.is_ok() {
                outcome = write(out, item, non_finite);
            }
        }),
        Json::Object(object) => sequence(out, '{', '}', object.by_name(), |out, (name, value)| {
            if outcome.is_ok() {
                write_string(out, name, Escape::Ascii);
                out.push(':');
                outcome = write(out, value, non_finite);
            }
        }),
        scalar => write_scalar(out, scalar, Escape::Ascii),
    }
    outcome
}

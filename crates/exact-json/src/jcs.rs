//! RFC 8785 to the letter, for the conventions that require it. For mcp-keel's own digests see
//! [`super::to_canonical`].

use super::writer::{Escape, sequence, write_scalar, write_string};
use super::{Json, Text};

/// Why a value has no RFC 8785 form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JcsError {
    /// A lone surrogate has no UTF-8 form.
    #[error("a string contains a lone surrogate, which RFC 8785 does not allow")]
    LoneSurrogate,
    #[error("the number {0} is beyond the range of a double, which RFC 8785 does not allow")]
    OutOfRange(String),
}

/// The RFC 8785 text. Numbers pass through a double; a repeated member has its last value.
pub fn to_string(value: &Json) -> Result<String, JcsError> {
    if has_lone_surrogate(value) {
        return Err(JcsError::LoneSurrogate);
    }
    to_string_lenient(value)
}

/// Like the JavaScript implementations, which escape a lone surrogate instead of rejecting it.
pub fn to_string_lenient(value: &Json) -> Result<String, JcsError> {
    let mut out = String::new();
    write(&mut out, value)?;
    Ok(out)
}

fn write(out: &mut String, value: &Json) -> Result<(), JcsError> {
    let mut outcome = Ok(());
    match value {
        Json::Number(number) => match number.to_ecmascript() {
            Some(text) => out.push_str(&text),
            None => return Err(JcsError::OutOfRange(number.literal().to_owned())),
        },
        Json::Array(items) => sequence(out, '[', ']', items, |out, item| {
            if outcome.is_ok() {
                outcome = write(out, item);
            }
        }),
        Json::Object(object) => {
            let mut members: Vec<(&Text, &Json)> = object.by_name().into_iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp_utf16(other));
            sequence(out, '{', '}', members, |out, (name, value)| {
                if outcome.is_ok() {
                    write_string(out, name, Escape::Needed);
                    out.push(':');
                    outcome = write(out, value);
                }
            });
        }
        scalar => write_scalar(out, scalar, Escape::Needed),
    }
    outcome
}

fn has_lone_surrogate(value: &Json) -> bool {
    match value {
        Json::String(text) => text.has_lone_surrogate(),
        Json::Array(items) => items.iter().any(has_lone_surrogate),
        // Only the last of repeated members is checked and written.
        Json::Object(object) => object
            .by_name()
            .into_iter()
            .any(|(name, value)| name.has_lone_surrogate() || has_lone_surrogate(value)),
        _ => false,
    }
}

//! Why something could not be decided.

use std::fmt;

/// Why nothing is claimed about a pair of schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The old schema accepts no value, so every answer would be true.
    NothingSent,
    /// A reference leaves the document. It is never fetched.
    Remote(String),
    /// A reference has no target.
    Dangling(String),
    /// A reference leads back to itself without entering a member or an item.
    Circular,
    /// A keyword has a value that it must not have.
    InvalidKeyword {
        /// JSON pointer of the schema that has the keyword.
        at: String,
        /// The keyword; `schema` if the document as a whole is none.
        keyword: &'static str,
    },
    /// A value that is no schema stands where one has to be: its kind.
    NoSchema(&'static str),
    /// A validator does not compile the schema: its message, shortened.
    InvalidSchema(String),
    /// The budget was used up.
    TooLarge,
    /// The effect of this keyword could not be followed.
    Keyword(&'static str),
    /// A schema does not declare its draft, and the answer depends on it.
    DraftDecides,
    /// The draft ignores this keyword or what stands beside it, some validators do not, and the answer depends on it.
    ValidatorsDiffer(&'static str),
    /// A value was found that a validator did not confirm as a witness.
    NotConfirmed,
    /// A number or a text of the schema does not fit into a validator.
    BeyondValidator,
    /// A value in the schema could not be checked.
    ValueNotChecked,
    /// A number of the schema is too long to calculate with.
    NumberTooLong,
    /// Whether a number satisfies all bounds and multiples is open.
    NumberUndecided,
    /// Whether a text satisfies all patterns and lengths is open.
    TextUndecided,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingSent => {
                f.write_str("the old schema accepts no value, so there is nothing to prove")
            }
            Self::Remote(to) => write!(
                f,
                "the schema refers to `{to}`, which is outside of it and is never fetched"
            ),
            Self::Dangling(to) => write!(f, "the schema refers to `{to}`, which does not exist"),
            Self::Circular => f.write_str("a reference leads back to itself"),
            Self::InvalidKeyword { at, keyword } => {
                let place = if at.is_empty() { "the root" } else { at };
                write!(
                    f,
                    "not a JSON Schema: `{keyword}` at {place} has an invalid value"
                )
            }
            Self::NoSchema(kind) => write!(f, "not a JSON Schema: {kind}"),
            Self::InvalidSchema(message) => write!(f, "not a valid JSON Schema: {message}"),
            Self::TooLarge => f.write_str(
                "the schema is too large or too entangled to be decided within the budget",
            ),
            Self::Keyword(keyword) => write!(f, "the effect of `{keyword}` could not be decided"),
            Self::DraftDecides => {
                f.write_str("the schema does not declare its draft, and the answer depends on it")
            }
            Self::ValidatorsDiffer("$ref") => f.write_str(
                "validators differ about what stands beside a `$ref` in this draft, and the answer depends on it",
            ),
            Self::ValidatorsDiffer(keyword) => write!(
                f,
                "validators differ about `{keyword}` in this draft, and the answer depends on it"
            ),
            Self::NotConfirmed => {
                f.write_str("a call that might break was found, but a validator did not confirm it")
            }
            Self::BeyondValidator => {
                f.write_str("the schema contains a number or a text that a validator cannot hold")
            }
            Self::ValueNotChecked => f.write_str("a value in the schema could not be checked"),
            Self::NumberTooLong => {
                f.write_str("the schema contains a number that is too long to calculate with")
            }
            Self::NumberUndecided => f.write_str(
                "whether a number satisfies all bounds and multiples could not be decided",
            ),
            Self::TextUndecided => f.write_str(
                "whether a text satisfies all patterns and lengths could not be decided",
            ),
        }
    }
}

//! The kinds of JSON values.

use crate::canonical::Json;

/// A kind of value. Whole numbers and others are apart, because `integer` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Integer,
    Fraction,
    String,
    Array,
    Object,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::String,
        Self::Integer,
        Self::Fraction,
        Self::Boolean,
        Self::Array,
        Self::Object,
        Self::Null,
    ];

    /// The kind of a value.
    pub(crate) fn of(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Boolean,
            Json::Number(number) if number.decimal().is_integer() => Self::Integer,
            Json::Number(_) => Self::Fraction,
            Json::String(_) => Self::String,
            Json::Array(_) => Self::Array,
            Json::Object(_) => Self::Object,
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const ANY: Self = Self(0x7f);
    pub(crate) const OBJECT: Self = Self(1 << Kind::Object as u8);

    pub(crate) fn has(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.has(*kind))
    }

    /// What a `type` keyword allows.
    pub(crate) fn of_keyword(value: &Json) -> Self {
        match value {
            Json::Array(names) => Self(
                names
                    .iter()
                    .fold(0, |set, name| set | Self::of_keyword(name).0),
            ),
            _ => Self(match value.as_str() {
                Some("null") => Kind::Null.bit(),
                Some("boolean") => Kind::Boolean.bit(),
                Some("integer") => Kind::Integer.bit(),
                Some("number") => Kind::Integer.bit() | Kind::Fraction.bit(),
                Some("string") => Kind::String.bit(),
                Some("array") => Kind::Array.bit(),
                Some("object") => Kind::Object.bit(),
                _ => 0,
            }),
        }
    }
}

//! The kinds of JSON values.

use exact_json::Json;

/// A type of value. Integers and other numbers are separate, because `integer` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` and `false`
    Boolean,
    /// A number without a fraction, however it is written.
    Integer,
    /// Any other number.
    Fraction,
    /// A text.
    String,
    /// A list.
    Array,
    /// A map.
    Object,
}

impl JsonKind {
    /// Every kind, the likeliest first.
    pub const ALL: [Self; 7] = [
        Self::String,
        Self::Integer,
        Self::Fraction,
        Self::Boolean,
        Self::Array,
        Self::Object,
        Self::Null,
    ];

    /// The kind of a value.
    pub fn of(value: &Json) -> Self {
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
pub struct Kinds(u8);

impl Kinds {
    /// All of them.
    pub const ANY: Self = Self(0x7f);
    /// Objects only.
    pub const OBJECT: Self = Self(1 << JsonKind::Object as u8);

    /// Whether a kind is among them.
    pub fn has(self, kind: JsonKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Those that are in both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// One after the other, the likeliest first.
    pub fn iter(self) -> impl Iterator<Item = JsonKind> {
        JsonKind::ALL
            .into_iter()
            .filter(move |kind| self.has(*kind))
    }

    /// What a `type` keyword allows.
    pub fn of_keyword(value: &Json) -> Self {
        match value {
            Json::Array(names) => Self(
                names
                    .iter()
                    .fold(0, |set, name| set | Self::of_keyword(name).0),
            ),
            _ => Self(match value.as_str() {
                Some("null") => JsonKind::Null.bit(),
                Some("boolean") => JsonKind::Boolean.bit(),
                Some("integer") => JsonKind::Integer.bit(),
                Some("number") => JsonKind::Integer.bit() | JsonKind::Fraction.bit(),
                Some("string") => JsonKind::String.bit(),
                Some("array") => JsonKind::Array.bit(),
                Some("object") => JsonKind::Object.bit(),
                _ => 0,
            }),
        }
    }
}

//! JSON strings, which may hold what a Rust `str` cannot: lone surrogates.

use std::cmp::Ordering;

use smol_str::SmolStr;

/// A JSON string. Almost always well-formed Unicode; a lone surrogate (`"\ud800"`) is kept as sent.
///
/// A text of up to 23 bytes is kept in place, and a longer one is shared by its copies: most strings of a
/// schema are names and keywords, and an allocation for each took most of the time and memory of reading.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text(Kept);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kept {
    Exact(SmolStr),
    Lone(Box<Lone>),
}

/// A text with a lone surrogate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lone {
    /// With U+FFFD in place of each lone surrogate.
    lossy: Box<str>,
    /// The exact UTF-16 units.
    units: Box<[u16]>,
}

impl Text {
    /// From UTF-16 units, which may be ill-formed.
    pub fn from_utf16(units: &[u16]) -> Self {
        match String::from_utf16(units) {
            Ok(text) => Self::from(text),
            Err(_) => Self(Kept::Lone(Box::new(Lone {
                lossy: String::from_utf16_lossy(units).into(),
                units: units.into(),
            }))),
        }
    }

    /// The text, if it is well-formed Unicode.
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Kept::Exact(text) => Some(text),
            Kept::Lone(_) => None,
        }
    }

    /// The text with U+FFFD for each lone surrogate: for people to read, never for a digest.
    #[inline]
    pub fn to_string_lossy(&self) -> &str {
        match &self.0 {
            Kept::Exact(text) => text,
            Kept::Lone(lone) => &lone.lossy,
        }
    }

    pub fn has_lone_surrogate(&self) -> bool {
        matches!(self.0, Kept::Lone(_))
    }

    /// The exact UTF-16 units.
    pub fn utf16(&self) -> Box<dyn Iterator<Item = u16> + '_> {
        match &self.0 {
            Kept::Exact(text) => Box::new(text.encode_utf16()),
            Kept::Lone(lone) => Box::new(lone.units.iter().copied()),
        }
    }

    /// The exact code points, a lone surrogate counting as one (Python's view of the string).
    pub fn code_points(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match &self.0 {
            Kept::Exact(text) => Box::new(text.chars().map(u32::from)),
            Kept::Lone(lone) => {
                let units = char::decode_utf16(lone.units.iter().copied());
                Box::new(units.map(|unit| {
                    unit.map_or_else(|lone| u32::from(lone.unpaired_surrogate()), u32::from)
                }))
            }
        }
    }

    /// RFC 8785's order of member names: by UTF-16 unit.
    pub fn cmp_utf16(&self, other: &Text) -> Ordering {
        // Byte order and UTF-16 order differ only above U+D7FF, which names almost never use.
        let (one, two) = (self.to_string_lossy(), other.to_string_lossy());
        if one.is_ascii() && two.is_ascii() {
            return one.cmp(two);
        }
        self.utf16().cmp(other.utf16())
    }
}

/// By code point: Python's order.
impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Some(one), Some(two)) = (self.as_str(), other.as_str()) {
            return one.cmp(two);
        }
        self.code_points().cmp(other.code_points())
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq<str> for Text {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Kept::Exact(text.into()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Kept::Exact(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_kept_and_is_not_the_replacement_character() {
        let lone = Text::from_utf16(&[0x61, 0xd800]);
        assert_eq!(lone.as_str(), None);
        assert_eq!(lone.to_string_lossy(), "a\u{fffd}");
        assert_ne!(lone, Text::from("a\u{fffd}"));
        assert_eq!(lone.utf16().collect::<Vec<_>>(), [0x61, 0xd800]);
    }

    #[test]
    fn utf16_order_and_code_point_order_differ_above_the_surrogates() {
        let private = Text::from("\u{e000}");
        let astral = Text::from("\u{10000}");
        assert_eq!(private.cmp(&astral), Ordering::Less);
        assert_eq!(private.cmp_utf16(&astral), Ordering::Greater);
    }
}

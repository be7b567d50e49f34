//! JSON strings, which may hold what a Rust `str` cannot: lone surrogates.

use std::cmp::Ordering;

/// A JSON string. Almost always well-formed Unicode; a lone surrogate (`"\ud800"`) is kept as sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    /// The text, with U+FFFD in place of each lone surrogate.
    lossy: Box<str>,
    /// The exact UTF-16 units; only set if `lossy` is not exact. So rare that the pointer must be as
    /// small as possible: every member of every schema has two of these.
    #[expect(clippy::box_collection, reason = "a thin pointer")]
    units: Option<Box<Vec<u16>>>,
}

impl Text {
    /// From UTF-16 units, which may be ill-formed.
    pub fn from_utf16(units: &[u16]) -> Self {
        match String::from_utf16(units) {
            Ok(text) => Self::from(text),
            Err(_) => Self {
                lossy: String::from_utf16_lossy(units).into(),
                units: Some(Box::new(units.to_vec())),
            },
        }
    }

    /// The text, if it is well-formed Unicode.
    pub fn as_str(&self) -> Option<&str> {
        self.units.is_none().then_some(&self.lossy)
    }

    /// The text with U+FFFD for each lone surrogate: for people to read, never for a digest.
    pub fn to_string_lossy(&self) -> &str {
        &self.lossy
    }

    pub fn has_lone_surrogate(&self) -> bool {
        self.units.is_some()
    }

    /// The exact UTF-16 units.
    pub fn utf16(&self) -> Box<dyn Iterator<Item = u16> + '_> {
        match &self.units {
            Some(units) => Box::new(units.iter().copied()),
            None => Box::new(self.lossy.encode_utf16()),
        }
    }

    /// The exact code points, a lone surrogate counting as one (Python's view of the string).
    pub fn code_points(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match &self.units {
            Some(units) => Box::new(char::decode_utf16(units.iter().copied()).map(|unit| {
                unit.map_or_else(|lone| u32::from(lone.unpaired_surrogate()), u32::from)
            })),
            None => Box::new(self.lossy.chars().map(u32::from)),
        }
    }

    /// RFC 8785's order of member names: by UTF-16 unit.
    pub fn cmp_utf16(&self, other: &Text) -> Ordering {
        // Byte order and UTF-16 order differ only above U+D7FF, which names almost never use.
        if self.lossy.is_ascii() && other.lossy.is_ascii() {
            return self.lossy.cmp(&other.lossy);
        }
        self.utf16().cmp(other.utf16())
    }
}

/// By code point: Python's order.
impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.units.is_none() && other.units.is_none() {
            return self.lossy.cmp(&other.lossy);
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
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self {
            lossy: text.into(),
            units: None,
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self {
            lossy: text.into(),
            units: None,
        }
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

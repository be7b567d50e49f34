//! What sentences about a schema are made of, in JSON Schema's own words: the place, the keyword, old → new.

use crate::canonical::{Json, parse_str, to_compact};
use crate::rules::Side;

/// The longest value that a sentence shows, in characters.
const VALUE_CHARACTERS: usize = 48;
/// The maximum number of values that a sentence lists.
const VALUES: usize = 5;

/// A place in a schema, as a reader calls it.
#[derive(Clone, Copy)]
pub(super) struct PlaceName<'a> {
    pub(super) side: Side,
    /// `filters.city`; empty for the whole schema.
    pub(super) name: &'a str,
}

/// `` `city` ``, `` result `city` ``, `` `inputSchema` ``
impl std::fmt::Display for PlaceName<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.side, self.name) {
            (Side::Input, "") => out.write_str("`inputSchema`"),
            (Side::Output, "") => out.write_str("`outputSchema`"),
            (Side::Input, name) => write!(out, "`{name}`"),
            (Side::Output, name) => write!(out, "result `{name}`"),
        }
    }
}

impl PlaceName<'_> {
    /// `` property `city` ``, `` result property `city` ``
    pub(super) fn property(self) -> String {
        match self.side {
            Side::Input => format!("property `{}`", self.name),
            Side::Output => format!("result property `{}`", self.name),
        }
    }
}

pub(crate) fn shortened(text: &str) -> String {
    if text.chars().count() <= VALUE_CHARACTERS {
        return text.to_owned();
    }
    let start: String = text.chars().take(VALUE_CHARACTERS - 1).collect();
    format!("{start}…")
}

/// A value, shortened: numbers as they are, a string without its quotes unless it could be read as something else.
pub(super) fn shown(value: &Json) -> String {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => shortened(&to_compact(value)),
        Json::String(_) => match value.as_str() {
            Some(text) if reads_as_itself(text) => format!("`{}`", shortened(text)),
            _ => format!("`{}`", shortened(&to_compact(value))),
        },
        _ => format!("`{}`", shortened(&to_compact(value))),
    }
}

fn reads_as_itself(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.contains(|character: char| character.is_control() || character == '`')
        && parse_str(text).is_err()
}

pub(super) fn shown_list(values: &[Json]) -> String {
    listed(&values.iter().map(shown).collect::<Vec<_>>())
}

pub(super) fn quoted_names<T: AsRef<str>>(names: &[T]) -> String {
    listed(
        &names
            .iter()
            .map(|name| format!("`{}`", shortened(name.as_ref())))
            .collect::<Vec<_>>(),
    )
}

fn listed(items: &[String]) -> String {
    if items.len() <= VALUES + 1 {
        return items.join(", ");
    }
    format!(
        "{} and {} more",
        items[..VALUES].join(", "),
        items.len() - VALUES
    )
}

/// Whether a value is worth showing in a sentence.
fn fits(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
        || to_compact(value).chars().count() <= VALUE_CHARACTERS
}

/// `maxItems 10 → 5`, `maxItems 5 added`, `maxItems 10 removed`, `anyOf changed`
pub(super) fn keyword_change(keyword: &str, old: Option<&Json>, new: Option<&Json>) -> String {
    let if_short = |value: &Json| {
        if fits(value) {
            format!(" {}", shown(value))
        } else {
            String::new()
        }
    };
    match (old, new) {
        (Some(old), Some(new)) if fits(old) && fits(new) => {
            format!("{keyword} {} → {}", shown(old), shown(new))
        }
        (Some(_), Some(_)) | (None, None) => format!("{keyword} changed"),
        (None, Some(new)) => format!("{keyword}{} added", if_short(new)),
        (Some(old), None) => format!("{keyword}{} removed", if_short(old)),
    }
}

/// A keyword and its values.
pub(super) fn keyword_changed(
    place: PlaceName<'_>,
    keyword: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> String {
    format!("{place}: {}", keyword_change(keyword, old, new))
}

/// A keyword that allows the same as before.
pub(super) fn keyword_without_effect(
    place: PlaceName<'_>,
    keyword: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> String {
    format!("{place}: {} (no effect)", keyword_change(keyword, old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        parse_str(text).unwrap()
    }

    fn days() -> PlaceName<'static> {
        PlaceName {
            side: Side::Input,
            name: "days",
        }
    }

    #[test]
    fn old_and_new_are_on_one_line() {
        let (ten, seven) = (json("10"), json("7"));
        let said = |old, new| keyword_changed(days(), "maximum", old, new);
        assert_eq!(said(Some(&ten), Some(&seven)), "`days`: maximum 10 → 7");
        assert_eq!(said(None, Some(&seven)), "`days`: maximum 7 added");
        assert_eq!(said(Some(&ten), None), "`days`: maximum 10 removed");
    }

    #[test]
    fn a_result_and_a_root_are_named_as_such() {
        let at = |side, name| PlaceName { side, name };
        assert_eq!(at(Side::Output, "days").to_string(), "result `days`");
        assert_eq!(
            keyword_changed(at(Side::Input, ""), "minProperties", None, Some(&json("1"))),
            "`inputSchema`: minProperties 1 added"
        );
    }

    #[test]
    fn a_string_that_could_be_a_number_keeps_its_quotes() {
        for (text, expected) in [
            (r#""kelvin""#, "`kelvin`"),
            (r#""^\\d+$""#, r"`^\d+$`"),
            (r#""5""#, r#"`"5"`"#),
            (r#""""#, r#"`""`"#),
            (r#""a`b""#, r#"`"a`b"`"#),
            (r#""a\nb""#, r#"`"a\nb"`"#),
            ("5", "5"),
            ("null", "null"),
        ] {
            assert_eq!(shown(&json(text)), expected);
        }
    }

    #[test]
    fn long_values_are_cut_and_long_schemas_left_out() {
        let long = Json::string("x".repeat(1_000));
        let sentence = keyword_changed(days(), "pattern", Some(&json(r#""^a""#)), Some(&long));
        assert!(sentence.chars().count() < 100, "{sentence}");
        assert!(sentence.ends_with("…`"), "{sentence}");
        let large = Json::Array(vec![json("100"); 100]);
        assert_eq!(
            keyword_changed(days(), "anyOf", Some(&large), Some(&large)),
            "`days`: anyOf changed"
        );
        assert_eq!(
            keyword_changed(days(), "anyOf", None, Some(&large)),
            "`days`: anyOf added"
        );
    }
}

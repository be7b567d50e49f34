//! What changed in a schema, in JSON Schema's own words: the place, the keyword, old → new.

use crate::canonical::{Json, parse_str, to_compact};
use crate::rules::Side;

/// For a sender whose schema accepts nothing: callers send what the old one allows, servers what the
/// new one does.
pub(crate) fn no_value(side: Side) -> String {
    let which = match side {
        Side::Input => "old",
        Side::Output => "new",
    };
    format!("the {which} schema accepts no value, so there is nothing to prove")
}

/// For a change next to one that breaks calls.
pub(crate) const NOT_ALONE: &str =
    "another change breaks calls, and whether this one does too could not be decided";

/// The longest value that a sentence shows, in characters.
const VALUE_CHARACTERS: usize = 48;
/// The maximum number of values that a sentence lists.
const VALUES: usize = 5;

/// A place in a schema, as a reader calls it.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) side: Side,
    /// `filters.city`; empty for the whole schema.
    pub(crate) name: &'a str,
}

impl At<'_> {
    /// `` `city` ``, `` result `city` ``, `` `inputSchema` ``
    fn called(self) -> String {
        match (self.side, self.name) {
            (Side::Input, "") => "`inputSchema`".to_owned(),
            (Side::Output, "") => "`outputSchema`".to_owned(),
            (Side::Input, name) => format!("`{name}`"),
            (Side::Output, name) => format!("result `{name}`"),
        }
    }

    /// `` property `city` ``, `` result property `city` ``
    fn property(self) -> String {
        match self.side {
            Side::Input => format!("property `{}`", self.name),
            Side::Output => format!("result property `{}`", self.name),
        }
    }

    fn says(self, what: &str) -> String {
        format!("{}: {what}", self.called())
    }
}

pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE_CHARACTERS {
        return text.to_owned();
    }
    let start: String = text.chars().take(VALUE_CHARACTERS - 1).collect();
    format!("{start}…")
}

/// A value, shortened: numbers as they are, a string without its quotes unless it could be read as something else.
fn value(value: &Json) -> String {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => cut(&to_compact(value)),
        Json::String(_) => match value.as_str() {
            Some(text) if reads_as_itself(text) => format!("`{}`", cut(text)),
            _ => format!("`{}`", cut(&to_compact(value))),
        },
        _ => format!("`{}`", cut(&to_compact(value))),
    }
}

fn reads_as_itself(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.contains(|it: char| it.is_control() || it == '`')
        && parse_str(text).is_err()
}

fn values(list: &[Json]) -> String {
    listed(&list.iter().map(value).collect::<Vec<_>>())
}

fn names<T: AsRef<str>>(list: &[T]) -> String {
    listed(
        &list
            .iter()
            .map(|name| format!("`{}`", cut(name.as_ref())))
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
fn moved(keyword: &str, old: Option<&Json>, new: Option<&Json>) -> String {
    let shown = |it: &Json| {
        if fits(it) {
            format!(" {}", value(it))
        } else {
            String::new()
        }
    };
    match (old, new) {
        (Some(old), Some(new)) if fits(old) && fits(new) => {
            format!("{keyword} {} → {}", value(old), value(new))
        }
        (Some(_), Some(_)) | (None, None) => format!("{keyword} changed"),
        (None, Some(new)) => format!("{keyword}{} added", shown(new)),
        (Some(old), None) => format!("{keyword}{} removed", shown(old)),
    }
}

/// A keyword and its values.
pub(crate) fn keyword(at: At<'_>, keyword: &str, old: Option<&Json>, new: Option<&Json>) -> String {
    at.says(&moved(keyword, old, new))
}

/// A keyword that allows the same as before.
pub(crate) fn without_effect(
    at: At<'_>,
    keyword: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> String {
    at.says(&format!("{} (no effect)", moved(keyword, old, new)))
}

/// A keyword that is only for people and models: `title changed`.
pub(crate) fn annotation(
    at: At<'_>,
    keyword: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> String {
    let what = match (old, new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    at.says(&format!("{keyword} {what}"))
}

/// A keyword of no draft.
pub(crate) fn vendor_keyword(
    at: At<'_>,
    keyword: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> String {
    annotation(at, &format!("keyword `{}`", cut(keyword)), old, new)
}

/// What a description newly contains.
pub(crate) enum Contains {
    Instruction,
    Invisible,
    Address,
    Nothing,
}

pub(crate) fn description(
    at: At<'_>,
    old: Option<&Json>,
    new: Option<&Json>,
    contains: &Contains,
) -> String {
    let remark = match contains {
        Contains::Instruction => " and now contains an instruction to the model",
        Contains::Invisible => " and now contains invisible characters",
        Contains::Address => " and now contains an address that was not there before",
        Contains::Nothing => "",
    };
    annotation(at, "description", old, new) + remark
}

pub(crate) fn default(at: At<'_>, old: Option<&Json>, new: Option<&Json>) -> String {
    let sentence = keyword(at, "default", old, new);
    if at.side == Side::Input && old.is_some() && new.is_some() {
        sentence + "; calls without it now mean something else"
    } else {
        sentence
    }
}

pub(crate) fn default_respelled(at: At<'_>) -> String {
    at.says("default written differently (same value)")
}

pub(crate) fn deprecated(at: At<'_>, now: bool) -> String {
    at.says(if now {
        "now deprecated"
    } else {
        "no longer deprecated"
    })
}

pub(crate) fn header(at: At<'_>, old: Option<&Json>, new: Option<&Json>) -> String {
    let sentence = keyword(at, "x-mcp-header", old, new);
    match new {
        Some(_) => {
            sentence + "; its value is sent in an HTTP header, which proxies and logs can read"
        }
        None => sentence + "; its value is no longer sent in an HTTP header",
    }
}

/// A limit of numbers: its keyword and its value.
pub(crate) type Limit<'a> = Option<(&'a str, &'a Json)>;

/// `maximum 10 → 7`, `maximum 10 → exclusiveMaximum 10`
pub(crate) fn bound(at: At<'_>, old: Limit<'_>, new: Limit<'_>, javascript: bool) -> String {
    let mut what = bound_moved(old, new);
    if javascript {
        what += " (JavaScript's limit of exact integers, which generators add on their own)";
    }
    at.says(&what)
}

pub(crate) fn bound_without_effect(at: At<'_>, old: Limit<'_>, new: Limit<'_>) -> String {
    at.says(&format!("{} (same limit)", bound_moved(old, new)))
}

fn bound_moved(old: Limit<'_>, new: Limit<'_>) -> String {
    match (old, new) {
        (Some((was, old)), Some((is, new))) if was != is => {
            format!("{was} {} → {is} {}", value(old), value(new))
        }
        (Some((keyword, _)), _) | (None, Some((keyword, _))) => {
            moved(keyword, old.map(|it| it.1), new.map(|it| it.1))
        }
        (None, None) => String::new(),
    }
}

pub(crate) fn not_a_number(
    at: At<'_>,
    keyword: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> String {
    at.says(&format!("{} (not a number)", moved(keyword, old, new)))
}

fn types(was: &[String], is: &[String]) -> String {
    match (was, is) {
        ([], is) => format!("type {} added", is.join(" or ")),
        (was, []) => format!("type {} removed", was.join(" or ")),
        (was, is) => format!("type {} → {}", was.join(" or "), is.join(" or ")),
    }
}

pub(crate) fn type_changed(at: At<'_>, was: &[String], is: &[String]) -> String {
    at.says(&types(was, is))
}

/// The types of the root, which is an object in any case.
pub(crate) fn root_type(at: At<'_>, was: &[String], is: &[String]) -> String {
    at.says(&format!(
        "{} (no effect: it is always an object)",
        types(was, is)
    ))
}

pub(crate) fn type_respelled(at: At<'_>) -> String {
    at.says("type written differently")
}

pub(crate) fn null(at: At<'_>, now: bool) -> String {
    at.says(if now {
        "null is now allowed"
    } else {
        "null is no longer allowed"
    })
}

pub(crate) fn constant_changed(at: At<'_>, was: &[Json], is: &[Json]) -> String {
    at.says(&format!("const {} → {}", values(was), values(is)))
}

/// `enum` or `const` where any value was allowed, or the other way round.
pub(crate) fn values_limited(at: At<'_>, keyword: &str, list: &[Json], now: bool) -> String {
    let what = format!("{keyword} {}", values(list));
    at.says(&if now {
        format!("{what} added; other values are no longer allowed")
    } else {
        format!("{what} removed; other values are now allowed")
    })
}

pub(crate) fn enum_values(at: At<'_>, list: &[Json], added: bool) -> String {
    let noun = if list.len() == 1 {
        "enum value"
    } else {
        "enum values"
    };
    let what = if added { "added" } else { "removed" };
    at.says(&format!("{noun} {} {what}", values(list)))
}

pub(crate) fn single_value_respelled(at: At<'_>) -> String {
    at.says("const and a single enum value exchanged (same value)")
}

pub(crate) fn items_respelled(at: At<'_>) -> String {
    at.says("items written for another draft")
}

pub(crate) fn pattern_properties(at: At<'_>, patterns: &[String]) -> String {
    at.says(&format!("patternProperties changed ({})", names(patterns)))
}

/// `dependentRequired`, `dependentSchemas` or `dependencies`.
pub(crate) fn dependencies(at: At<'_>, keyword: &str, of: &[String]) -> String {
    at.says(&format!("{keyword} of {} changed", names(of)))
}

pub(crate) fn condition<T>(at: At<'_>, old: Option<T>, new: Option<T>) -> String {
    at.says(match (old.is_some(), new.is_some()) {
        (false, _) => "if/then/else added",
        (_, false) => "if/then/else removed",
        _ => "if/then/else changed",
    })
}

/// A keyword that ends or begins the freedom to send members that a schema does not name.
pub(crate) fn undeclared_properties(
    at: At<'_>,
    keyword_: &str,
    old: Option<&Json>,
    new: Option<&Json>,
    closes: bool,
    declared_affected: bool,
) -> String {
    let shut = |it: Option<&Json>| it == Some(&Json::Bool(false));
    let consequence = if !closes && shut(old) && !matches!(new, None | Some(Json::Bool(true))) {
        "undeclared properties are now allowed if they match"
    } else if !closes {
        "undeclared properties are now allowed"
    } else if new.is_some() && !shut(new) {
        "undeclared properties must now match"
    } else if at.side == Side::Output {
        "results no longer have undeclared properties"
    } else if declared_affected {
        "undeclared properties are now refused"
    } else {
        "undeclared properties are now refused; declared ones are not affected"
    };
    format!("{}; {consequence}", keyword(at, keyword_, old, new))
}

/// A new parameter.
pub(crate) fn property_added(at: At<'_>, required: bool, has_default: bool) -> String {
    match (required, has_default) {
        (false, _) => format!("new optional {}", at.property()),
        (true, false) => format!(
            "new required {}: calls without it are refused",
            at.property()
        ),
        (true, true) => format!(
            "new required {} with a default: calls without it are refused unless the client fills in defaults",
            at.property()
        ),
    }
}

/// A new member of results.
pub(crate) fn result_property_added(at: At<'_>, refused: bool) -> String {
    if refused {
        format!(
            "new {}: the old schema refuses undeclared properties",
            at.property()
        )
    } else {
        format!("new {}", at.property())
    }
}

pub(crate) fn property_removed(at: At<'_>, refused: bool) -> String {
    let effect = if refused {
        "calls that send it are refused"
    } else {
        "a value sent for it is now silently ignored"
    };
    format!("{} removed: {effect}", at.property())
}

/// A member that results no longer have, and whether it was required.
pub(crate) fn result_property_removed(at: At<'_>, was_required: bool) -> String {
    let note = if was_required {
        ": it was required, so readers rely on it"
    } else {
        " (it was optional)"
    };
    format!("{} removed{note}", at.property())
}

pub(crate) fn still_required() -> &'static str {
    "; `required` still lists it"
}

/// A member under its old and its new name. `refused` if using the old name fails.
pub(crate) fn property_renamed(at: At<'_>, to: &str, refused: bool) -> String {
    let effect = match (at.side, refused) {
        (Side::Input, true) => "calls with the old name are refused",
        (Side::Input, false) => "a value sent under the old name is now silently ignored",
        (Side::Output, _) => "readers of the old name find nothing",
    };
    format!("{} is now called `{to}`: {effect}", at.property())
}

/// A member that entered `required` or left it.
pub(crate) fn required(at: At<'_>, now: bool, has_default: bool) -> String {
    let called = at.called();
    match (at.side, now) {
        (Side::Input, true) if has_default => format!(
            "{called} added to `required` although it has a default: calls without it are refused unless the client fills in defaults"
        ),
        (Side::Input, true) => {
            format!("{called} added to `required`: calls without it are refused")
        }
        (Side::Input, false) => format!("{called} removed from `required`"),
        (Side::Output, true) => format!("{called} added to `required`: it is now always there"),
        (Side::Output, false) => {
            format!("{called} removed from `required`: it may now be missing")
        }
    }
}

/// How a reader recognises a branch of a union.
pub(crate) enum Branch<'a> {
    Titled(&'a str),
    /// A member with a constant value.
    Tagged(&'a str, &'a Json),
    Typed(&'a str),
    Unnamed,
}

pub(crate) fn branch(at: At<'_>, branch: &Branch<'_>, added: bool) -> String {
    let what = match branch {
        Branch::Titled(title) => format!("alternative `{}`", cut(title)),
        Branch::Tagged(name, tag) => {
            format!("alternative with `{}` {}", cut(name), value(tag))
        }
        Branch::Typed(kind) => format!("alternative of type {}", cut(kind)),
        Branch::Unnamed => "an alternative".to_owned(),
    };
    let verb = if added { "added" } else { "removed" };
    at.says(&format!("{what} {verb}"))
}

/// A schema that was or is `true` or `false`.
pub(crate) fn whole_schema(at: At<'_>, old: &Json, new: &Json) -> String {
    let what = moved("schema", Some(old), Some(new));
    at.says(&match (old, new) {
        (_, Json::Bool(false)) => format!("{what}; no value is allowed now"),
        (Json::Bool(false), _) => format!("{what}; no value was allowed before"),
        _ => what,
    })
}

pub(crate) fn respelled(at: At<'_>) -> String {
    at.says("schema written differently (accepts the same values)")
}

/// Alternatives in another form; `exclusive` if `oneOf` replaces `anyOf`.
pub(crate) fn restructured(at: At<'_>, exclusive: bool, refused: bool) -> String {
    at.says(match (exclusive, refused) {
        (true, true) => "anyOf → oneOf; values that match two alternatives are refused",
        (true, false) => "anyOf → oneOf",
        (false, _) => "schema written differently",
    })
}

/// Why a member that one side declares can break: the other allows anything under its name.
pub(crate) fn name_was_free(message: &str, side: Side) -> String {
    match side {
        Side::Input => format!("{message}; before, any value was allowed under this name"),
        Side::Output => format!("{message}; any value may come under this name now"),
    }
}

/// Why one alternative more can break.
pub(crate) fn branches_overlap(message: &str) -> String {
    format!("{message}; values that match two alternatives of oneOf are refused")
}

/// Why a change that usually allows more can break: the keyword that refuses.
pub(crate) fn refused_by(message: &str, keyword: &str) -> String {
    format!("{message}; refused by `{keyword}`")
}

/// A finding that turned out to change nothing: what differs, without what it would have done.
pub(crate) fn same_values(message: &str) -> String {
    let what = message.split("; ").next().unwrap_or(message);
    format!("{what} (same values)")
}

/// How a schema is reached: by reference, before and now.
pub(crate) fn reference(
    at: At<'_>,
    old: Option<&str>,
    new: Option<&str>,
    followed: (bool, bool),
) -> String {
    at.says(&match (followed, old, new) {
        ((true, false), ..) => "$ref inlined".to_owned(),
        ((false, true), ..) => "schema moved behind a $ref".to_owned(),
        (_, Some(old), Some(new)) => format!("$ref `{}` → `{}`", cut(old), cut(new)),
        _ => "$ref leads to another definition".to_owned(),
    })
}

pub(crate) fn beside_reference(at: At<'_>) -> String {
    at.says("keywords beside $ref changed (this draft ignores them)")
}

pub(crate) fn not_followed(at: At<'_>, problem: &str) -> String {
    at.says(&format!("changed: {problem}"))
}

pub(crate) fn no_rule(at: At<'_>) -> String {
    at.says("changed in a way that no rule describes")
}

/// `$defs` or `definitions` inside a schema.
pub(crate) fn inner_definitions(at: At<'_>) -> String {
    at.says("definitions changed; what that does to calls is reported where they are used")
}

/// `$defs` or `definitions`.
pub(crate) fn definitions(keyword: &str, of: &[String]) -> String {
    format!(
        "{keyword} changed ({}); what that does to calls is reported where a definition is used",
        names(of)
    )
}

pub(crate) fn emptied(properties: usize) -> String {
    format!(
        "the schema lost its type and all {properties} of its properties; a schema generator that fails silently leaves this behind"
    )
}

pub(crate) fn too_many_differences() -> String {
    "the schema differs in more places than are reported one by one".to_owned()
}

pub(crate) fn schema_changed() -> String {
    "the schema changed in a way that no rule describes".to_owned()
}

pub(crate) fn order_or_numbers() -> String {
    "order of members or spelling of numbers (same meaning)".to_owned()
}

pub(crate) fn break_together() -> String {
    "the changes together break a call, although none does so alone".to_owned()
}

/// A break that no change accounts for.
pub(crate) fn breaks(side: Side) -> String {
    match side {
        Side::Input => "the new schema refuses a call that the old one allows".to_owned(),
        Side::Output => "the old schema refuses a result that the new one allows".to_owned(),
    }
}

pub(crate) fn read_differently() -> String {
    "the schema is read differently, and whether a call breaks could not be decided".to_owned()
}

/// A sentence about a change that could not be decided.
pub(crate) fn undecided(sentence: &str) -> String {
    format!("{sentence} (whether a call breaks could not be decided)")
}

/// A sentence about a change that breaks calls, all of which another change already rejects.
pub(crate) fn refused_anyway(sentence: &str) -> String {
    format!("{sentence} (breaks calls by itself too; another change already refuses them)")
}

/// A sentence about a change without anything to prove.
pub(crate) fn nothing_sent(sentence: &str, side: Side) -> String {
    format!("{sentence} ({})", no_value(side))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        parse_str(text).unwrap()
    }

    fn days() -> At<'static> {
        At {
            side: Side::Input,
            name: "days",
        }
    }

    #[test]
    fn old_and_new_are_on_one_line() {
        let (ten, seven) = (json("10"), json("7"));
        let said = |old, new| keyword(days(), "maximum", old, new);
        assert_eq!(said(Some(&ten), Some(&seven)), "`days`: maximum 10 → 7");
        assert_eq!(said(None, Some(&seven)), "`days`: maximum 7 added");
        assert_eq!(said(Some(&ten), None), "`days`: maximum 10 removed");
    }

    #[test]
    fn a_result_and_a_root_are_named_as_such() {
        let at = |side, name| At { side, name };
        assert_eq!(
            null(at(Side::Output, "days"), true),
            "result `days`: null is now allowed"
        );
        assert_eq!(
            keyword(at(Side::Input, ""), "minProperties", None, Some(&json("1"))),
            "`inputSchema`: minProperties 1 added"
        );
    }

    #[test]
    fn a_string_that_could_be_a_number_keeps_its_quotes() {
        for (text, shown) in [
            (r#""kelvin""#, "`kelvin`"),
            (r#""^\\d+$""#, r"`^\d+$`"),
            (r#""5""#, r#"`"5"`"#),
            (r#""""#, r#"`""`"#),
            (r#""a`b""#, r#"`"a`b"`"#),
            (r#""a\nb""#, r#"`"a\nb"`"#),
            ("5", "5"),
            ("null", "null"),
        ] {
            assert_eq!(value(&json(text)), shown);
        }
    }

    #[test]
    fn long_values_are_cut_and_long_schemas_left_out() {
        let long = Json::string("x".repeat(1_000));
        let sentence = keyword(days(), "pattern", Some(&json(r#""^a""#)), Some(&long));
        assert!(sentence.chars().count() < 100, "{sentence}");
        assert!(sentence.ends_with("…`"), "{sentence}");
        let large = Json::Array(vec![json("100"); 100]);
        assert_eq!(
            keyword(days(), "anyOf", Some(&large), Some(&large)),
            "`days`: anyOf changed"
        );
        assert_eq!(
            keyword(days(), "anyOf", None, Some(&large)),
            "`days`: anyOf added"
        );
    }
}

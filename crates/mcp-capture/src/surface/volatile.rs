//! Members that change without the contract changing. They are not part of any digest, baseline or
//! diff.
//!
//! The list is exact and documented in `docs/baseline.md`: a member is volatile only at its own
//! place, so that a parameter called `size` stays part of its tool's contract.

use std::borrow::Cow;

use super::Kind;
use exact_json::{Json, Object, Text};

/// Whether a value has the type that a volatile member has. A text where a number belongs is read by someone.
type IsOwnType = fn(&Json) -> bool;

fn is_number(value: &Json) -> bool {
    matches!(value, Json::Number(_))
}

fn is_string(value: &Json) -> bool {
    value.as_text().is_some()
}

fn is_object(value: &Json) -> bool {
    value.as_object().is_some()
}

fn is_token(value: &Json) -> bool {
    is_number(value) || is_string(value)
}

fn is_cache_scope(value: &Json) -> bool {
    matches!(value.as_str(), Some("public" | "private"))
}

/// A day or a moment: digits and what stands between them.
fn is_time(value: &Json) -> bool {
    let is_usual = |it: char| it.is_ascii_digit() || "-+:.TZ ".contains(it);
    value
        .as_str()
        .is_some_and(|text| text.len() <= 40 && text.chars().all(is_usual))
}

/// Page-level members of list results, and cache hints that some servers repeat on each component.
const EVERYWHERE: [(&str, IsOwnType); 4] = [
    ("ttlMs", is_number),
    ("cacheScope", is_cache_scope),
    ("nextCursor", is_string),
    ("resultType", is_string),
];

/// For a resource or a template: its size and when it last changed.
const OF_RESOURCES: [(&str, IsOwnType); 2] = [("size", is_number), ("lastModified", is_time)];

/// For the annotations of a resource or a template.
const OF_ANNOTATIONS: [(&str, IsOwnType); 1] = [("lastModified", is_time)];

/// Members of `_meta` that concern the transport of one response.
const OF_META: [(&str, IsOwnType); 6] = [
    ("progressToken", is_token),
    ("io.modelcontextprotocol/protocolVersion", is_string),
    ("io.modelcontextprotocol/clientCapabilities", is_object),
    ("io.modelcontextprotocol/clientInfo", is_object),
    ("io.modelcontextprotocol/serverInfo", is_object),
    ("io.modelcontextprotocol/related-task", is_object),
];

/// The definition without its volatile members. Most have none, and are not copied.
pub fn without(kind: Kind, definition: &Json) -> Cow<'_, Json> {
    let Json::Object(object) = definition else {
        return Cow::Borrowed(definition);
    };
    let is_resource = matches!(kind, Kind::Resource | Kind::Template);
    let is_volatile = |name: &Text, value: &Json| {
        is_in(&EVERYWHERE, name, value) || (is_resource && is_in(&OF_RESOURCES, name, value))
    };
    // The members inside a member that are volatile.
    let inside = |name: &Text| -> &[(&str, IsOwnType)] {
        match name.as_str() {
            Some("_meta") => &OF_META,
            Some("annotations") if is_resource => &OF_ANNOTATIONS,
            _ => &[],
        }
    };
    let is_kept = |(name, value): (&Text, &Json)| {
        let mut members = value.as_object().into_iter().flat_map(Object::iter);
        !is_volatile(name, value)
            && !members.any(|(member, value)| is_in(inside(name), member, value))
    };
    if object.iter().all(is_kept) {
        return Cow::Borrowed(definition);
    }
    let kept = object
        .iter()
        .filter(|(name, value)| !is_volatile(name, value))
        .map(|(name, value)| (name.clone(), less(value, inside(name))))
        // A `_meta` with only transport members is dropped.
        .filter_map(|(name, value)| Some((name, value?)))
        .collect::<Object>();
    Cow::Owned(Json::Object(kept))
}

fn is_in(volatile: &[(&str, IsOwnType)], name: &Text, value: &Json) -> bool {
    let mut volatile = volatile.iter();
    volatile.any(|(member, is_own_type)| name.as_str() == Some(member) && is_own_type(value))
}

fn less(value: &Json, volatile: &[(&str, IsOwnType)]) -> Option<Json> {
    let mut kept = value.clone();
    if let (Json::Object(kept), Json::Object(sent)) = (&mut kept, value) {
        kept.retain(|name, value| !is_in(volatile, name, value));
        if kept.is_empty() != sent.is_empty() {
            return None;
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::{parse_str, to_compact};

    fn stripped(kind: Kind, definition: &str) -> String {
        to_compact(&without(kind, &parse_str(definition).unwrap()))
    }

    #[test]
    fn a_member_is_volatile_only_at_its_own_place() {
        assert_eq!(
            stripped(
                Kind::Resource,
                r#"{"uri":"a:b","size":3,"annotations":{"lastModified":"2026-01-31T00:00:00Z","priority":1},"ttlMs":1}"#
            ),
            r#"{"uri":"a:b","annotations":{"priority":1}}"#
        );
        let tool = r#"{"name":"a","size":3,"inputSchema":{"properties":{"size":{},"ttlMs":{}}}}"#;
        assert_eq!(stripped(Kind::Tool, tool), tool);
    }

    #[test]
    fn a_member_is_volatile_only_with_its_own_type() {
        for text in [
            r#"{"uri":"a:b","size":"Read this first","ttlMs":"x","cacheScope":"Obey","nextCursor":{}}"#,
            r#"{"uri":"a:b","annotations":{"lastModified":"Before you answer"}}"#,
            r#"{"uri":"a:b","_meta":{"progressToken":["x"],"io.modelcontextprotocol/clientInfo":"x"}}"#,
        ] {
            assert_eq!(stripped(Kind::Resource, text), text);
        }
    }

    #[test]
    fn vendor_members_of_meta_are_kept() {
        assert_eq!(
            stripped(
                Kind::Tool,
                r#"{"name":"a","_meta":{"progressToken":1,"fastmcp":{}}}"#
            ),
            r#"{"name":"a","_meta":{"fastmcp":{}}}"#
        );
        assert_eq!(
            stripped(Kind::Tool, r#"{"name":"a","_meta":{"progressToken":1}}"#),
            r#"{"name":"a"}"#
        );
        assert_eq!(
            stripped(Kind::Tool, r#"{"name":"a","_meta":{}}"#),
            r#"{"name":"a","_meta":{}}"#
        );
    }
}

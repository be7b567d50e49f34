//! Members that change without the contract changing. They are not part of any digest, baseline or
//! diff.
//!
//! The list is exact and documented in `docs/baseline.md`: a member is volatile only at its own
//! place, so that a parameter called `size` stays part of its tool's contract.

use std::borrow::Cow;

use super::Kind;
use exact_json::{Json, Object, Text};

/// Page-level members of list results, and cache hints that some servers repeat on each component.
const EVERYWHERE: [&str; 4] = ["ttlMs", "cacheScope", "nextCursor", "resultType"];

/// For a resource or a template: its size and when it last changed.
const OF_RESOURCES: [&str; 2] = ["size", "lastModified"];

/// Members of `_meta` that concern the transport of one response.
const OF_META: [&str; 6] = [
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/related-task",
];

/// The definition without its volatile members. Most have none, and are not copied.
pub fn without(kind: Kind, definition: &Json) -> Cow<'_, Json> {
    let Json::Object(object) = definition else {
        return Cow::Borrowed(definition);
    };
    let resource = matches!(kind, Kind::Resource | Kind::Template);
    let is_volatile = |name: &Text| {
        name.as_str().is_some_and(|name| {
            EVERYWHERE.contains(&name) || (resource && OF_RESOURCES.contains(&name))
        })
    };
    // The members inside a member that are volatile.
    let inside = |name: &Text| -> &[&str] {
        match name.as_str() {
            Some("_meta") => &OF_META,
            Some("annotations") if resource => &["lastModified"],
            _ => &[],
        }
    };
    let is_kept = |(name, value): (&Text, &Json)| {
        !is_volatile(name) && !inside(name).iter().any(|it| value.get(it).is_some())
    };
    if object.iter().all(is_kept) {
        return Cow::Borrowed(definition);
    }
    let kept = object
        .iter()
        .filter(|(name, _)| !is_volatile(name))
        .map(|(name, value)| (name.clone(), less(value, inside(name))))
        // A `_meta` with only transport members is dropped.
        .filter_map(|(name, value)| Some((name, value?)))
        .collect::<Object>();
    Cow::Owned(Json::Object(kept))
}

fn less(value: &Json, volatile: &[&str]) -> Option<Json> {
    let mut kept = value.clone();
    if let (Json::Object(kept), Json::Object(sent)) = (&mut kept, value) {
        kept.retain(|name, _| name.as_str().is_none_or(|name| !volatile.contains(&name)));
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
                r#"{"uri":"a:b","size":3,"annotations":{"lastModified":"x","priority":1},"ttlMs":1}"#
            ),
            r#"{"uri":"a:b","annotations":{"priority":1}}"#
        );
        let tool = r#"{"name":"a","size":3,"inputSchema":{"properties":{"size":{},"ttlMs":{}}}}"#;
        assert_eq!(stripped(Kind::Tool, tool), tool);
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

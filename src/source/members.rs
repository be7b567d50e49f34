//! Definitions as libraries print them, and as a server sends them.

use crate::canonical::{Json, Object, Text};

/// Members as Python's models call them, and their names on the wire.
const SPELLINGS: [(&str, &str); 12] = [
    ("input_schema", "inputSchema"),
    ("output_schema", "outputSchema"),
    ("mime_type", "mimeType"),
    ("uri_template", "uriTemplate"),
    ("website_url", "websiteUrl"),
    ("meta", "_meta"),
    ("read_only_hint", "readOnlyHint"),
    ("destructive_hint", "destructiveHint"),
    ("idempotent_hint", "idempotentHint"),
    ("open_world_hint", "openWorldHint"),
    ("last_modified", "lastModified"),
    ("task_support", "taskSupport"),
];

/// Members whose own members are the protocol's, so that what is said of a definition holds for them too.
const INNER: [&str; 4] = ["annotations", "arguments", "execution", "icons"];

/// Members that a definition may lack, and that a model of it prints as null then.
const OPTIONAL: [&str; 8] = [
    "title",
    "description",
    "outputSchema",
    "output_schema",
    "annotations",
    "icons",
    "meta",
    "_meta",
];

/// Whether a definition was printed by a library instead of sent: names in snake case, or several members that are null.
pub(super) fn is_printed(definition: &Json) -> bool {
    let Some(members) = definition.as_object() else {
        return false;
    };
    let is_null = |name: &&&str| matches!(members.get(name), Some(Json::Null));
    let is_renamed = |name: &str| members.contains(name) && !members.contains(on_the_wire(name));
    is_renamed("input_schema")
        || is_renamed("uri_template")
        || OPTIONAL.iter().filter(is_null).count() >= 2
}

fn on_the_wire(name: &str) -> &str {
    let known = SPELLINGS.iter().find(|(printed, _)| *printed == name);
    known.map_or(name, |(_, wire)| wire)
}

/// A printed definition as a server sends it: members that are null are absent, and names are the protocol's. Schemas and
/// `_meta` are left as they are.
pub(super) fn as_sent(printed: Json) -> Json {
    let Json::Object(members) = printed else {
        return printed;
    };
    let mut sent = Object::new();
    for (name, value) in members.iter() {
        if matches!(value, Json::Null) {
            continue;
        }
        let wire = match name.as_str().map(on_the_wire) {
            Some(wire) if !members.contains(wire) => Text::from(wire),
            _ => name.clone(),
        };
        let is_inner = wire.as_str().is_some_and(|name| INNER.contains(&name));
        let value = match value {
            Json::Array(items) if is_inner => {
                Json::Array(items.iter().cloned().map(as_sent).collect())
            }
            Json::Object(_) if is_inner => as_sent(value.clone()),
            _ => value.clone(),
        };
        sent.push(wire, value);
    }
    Json::Object(sent)
}

/// Whether a value can be the definition of a tool.
pub(super) fn is_tool(value: &Json) -> bool {
    let is_object = |member: &str| matches!(value.get(member), Some(Json::Object(_)));
    is_object("inputSchema")
        || is_object("input_schema")
        || (value.get("name").and_then(Json::as_str).is_some()
            && value.get("description").is_some())
}

/// The definitions in an object by name. The name is a member of the definition as it is sent.
pub(super) fn by_name(definitions: &Object, identity: &str) -> Vec<Json> {
    let named = definitions.iter().map(|(name, definition)| {
        let Json::Object(members) = definition else {
            return definition.clone();
        };
        if members.contains(identity) {
            return definition.clone();
        }
        let mut named = Object::new();
        named.push(identity, Json::String(name.clone()));
        for (member, value) in members.iter() {
            named.push(member.clone(), value.clone());
        }
        Json::Object(named)
    });
    named.collect()
}

/// Leaves out members by name, and counts for each in how many definitions it was.
pub(super) fn without(
    definitions: Vec<Json>,
    is_left_out: impl Fn(&str) -> bool,
    left_out: &mut Vec<(String, usize)>,
) -> Vec<Json> {
    let kept = definitions.into_iter().map(|definition| {
        let Json::Object(mut members) = definition else {
            return definition;
        };
        members.retain(|name, _| {
            let name = name.to_string_lossy();
            if !is_left_out(name) {
                return true;
            }
            match left_out.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => left_out.push((name.to_owned(), 1)),
            }
            false
        });
        Json::Object(members)
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{parse_str, to_compact};

    #[test]
    fn what_a_model_prints_becomes_what_it_sends() {
        let printed = r#"{"name":"t","title":null,"description":"d","input_schema":{"properties":{"meta":null,"mime_type":{}}},"annotations":{"title":null,"read_only_hint":true},"arguments":[{"name":"a","description":null}],"meta":{"x":null}}"#;
        let printed = parse_str(printed).unwrap();
        assert!(is_printed(&printed));
        assert_eq!(
            to_compact(&as_sent(printed)),
            r#"{"name":"t","description":"d","inputSchema":{"properties":{"meta":null,"mime_type":{}}},"annotations":{"readOnlyHint":true},"arguments":[{"name":"a"}],"_meta":{"x":null}}"#
        );
        let sent = parse_str(r#"{"name":"t","title":null,"inputSchema":{}}"#).unwrap();
        assert!(!is_printed(&sent));
    }
}

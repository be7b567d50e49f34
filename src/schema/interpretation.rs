//! The two readings of a schema that the protocol gives us, as rewritten documents.
//!
//! - **Arguments are an object**, and so is structured content. The root is forced to `type: object`, whatever it says.
//! - **Senders send what is declared.** An object level that declares `properties` is closed: members that it
//!   does not name are not sent. A level that declares none is a free-form map and stays open. Without this
//!   reading every parameter that is added with a type would "break" the callers who sent an undeclared member
//!   of the same name and another type, and no change at all would be compatible.
//!
//! OpenAPI's `nullable: true` is read as its authors mean it. Rewriting only adds or replaces keywords; nothing
//! moves, so a pointer into the published schema is a pointer into the rewritten one.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Document, Draft, each_schema_at};
use crate::canonical::{Json, Object, Text, pointer};

/// The schema as published, with the root forced to an object and `nullable` spelled out.
pub(crate) fn published(schema: &Json) -> Document {
    let draft = Draft::of(schema);
    let mut root = schema.clone();
    spell_out_nullable(&mut root);
    force_object(&mut root, draft);
    Document { root, draft }
}

/// The published schema with every level that declares properties closed.
pub(crate) fn closed(published: &Document) -> Document {
    let plan = Plan::of(published);
    let mut root = published.root.clone();
    for (at, names) in &plan.closings {
        if let Some(Json::Object(level)) = at_mut(&mut root, at) {
            close_level(level, names);
        }
    }
    Document {
        root,
        draft: published.draft,
    }
}

fn force_object(root: &mut Json, draft: Draft) {
    match root {
        Json::Bool(true) => *root = Json::object([("type", Json::string("object"))]),
        Json::Object(object) => {
            let is_object = object.get("type").and_then(Json::as_str) == Some("object");
            if is_object && !(draft <= Draft::Seven && object.contains("$ref")) {
                return;
            }
            // Up to draft 7 a `$ref` silences its neighbours, so it has to move into an `allOf`.
            if draft <= Draft::Seven
                && let Some(reference) = object.get("$ref").cloned()
            {
                object.retain(|name, _| {
                    ["$ref", "type", "allOf"]
                        .iter()
                        .all(|keyword| name != *keyword)
                });
                object.push(
                    "allOf",
                    Json::Array(vec![Json::object([("$ref", reference)])]),
                );
            }
            object.retain(|name, _| name != "type");
            object.push("type", Json::string("object"));
        }
        _ => {}
    }
}

fn spell_out_nullable(root: &mut Json) {
    let mut places = Vec::new();
    each_schema_at(root, &mut String::new(), &mut |node, at| {
        let nullable = node.get("nullable").and_then(Json::as_bool) == Some(true);
        if nullable && node.get("type").and_then(Json::as_str).is_some() {
            places.push(at.to_owned());
        }
    });
    for at in places {
        if let Some(Json::Object(node)) = at_mut(root, &at)
            && let Some(kind) = node.get_mut("type")
        {
            *kind = Json::Array(vec![kind.clone(), Json::string("null")]);
        }
    }
}

/// The node at a pointer, for changing.
pub(crate) fn at_mut<'a>(root: &'a mut Json, at: &str) -> Option<&'a mut Json> {
    pointer::tokens(at).try_fold(root, |node, token| match node {
        Json::Object(object) => object.get_mut(&token),
        Json::Array(items) => items.get_mut(token.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Closes one object level; names that composed schemas declare stay possible.
fn close_level(level: &mut Object, names: &BTreeSet<Text>) {
    if level.contains("unevaluatedProperties") {
        return;
    }
    match level.get("additionalProperties") {
        // A schema for further members declares them.
        Some(Json::Object(schema)) if !schema.is_empty() => return,
        Some(Json::Bool(false)) => return,
        _ => {}
    }
    if !level.contains("properties") {
        level.push("properties", Json::Object(Object::new()));
    }
    if let Some(Json::Object(properties)) = level.get_mut("properties") {
        let own: BTreeSet<Text> = properties.iter().map(|(name, _)| name.clone()).collect();
        for name in names.difference(&own) {
            properties.push(name.clone(), Json::Object(Object::new()));
        }
    }
    level.retain(|name, _| name != "additionalProperties");
    level.push("additionalProperties", Json::Bool(false));
}

/// Which levels to close, each with the names that schemas composed with it declare.
#[derive(Default)]
struct Plan {
    closings: BTreeMap<String, BTreeSet<Text>>,
}

/// What the schemas that apply to the same value declare together.
#[derive(Default)]
struct Composition {
    names: BTreeSet<Text>,
    members: BTreeSet<String>,
    /// Something that closing would break: a pattern of names, a map of values, an unresolved reference.
    open: bool,
}

impl Plan {
    fn of(document: &Document) -> Self {
        let mut levels = Vec::new();
        // Keywords under which a schema is asked rather than required: closing there would change the question.
        let mut frozen = Vec::new();
        each_schema_at(&document.root, &mut String::new(), &mut |node, at| {
            levels.push((at.to_owned(), node));
            for keyword in ["not", "if", "contains", "propertyNames"] {
                if node.get(keyword).is_some() {
                    frozen.push(pointer::join(at, keyword));
                }
            }
        });
        freeze_references(document, &levels, &mut frozen);
        let is_frozen = |at: &str| {
            frozen.iter().any(|prefix| {
                at.strip_prefix(prefix.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut plan = Self::default();
        let mut inner = BTreeSet::new();
        for (at, level) in levels.iter().filter(|(at, _)| !is_frozen(at)) {
            let Json::Object(level) = level else {
                continue;
            };
            let declares = match level.get("properties") {
                Some(Json::Object(properties)) => at.is_empty() || !properties.is_empty(),
                _ => false,
            };
            let silenced = document.reference_stands_alone() && level.contains("$ref");
            if silenced || !(declares || all_of_declares(document, level, 0)) {
                continue;
            }
            let mut composition = Composition::default();
            compose(document, level, at, &mut composition, 0);
            inner.extend(composition.members);
            if !composition.open {
                plan.closings.insert(at.clone(), composition.names);
            }
        }
        // A schema that is composed with others cannot be closed by itself: it would refuse its neighbours.
        for at in &inner {
            plan.closings.remove(at);
        }
        plan
    }
}

/// What a frozen place refers to is asked there too.
fn freeze_references(document: &Document, levels: &[(String, &Json)], frozen: &mut Vec<String>) {
    let mut next = 0;
    while next < frozen.len() {
        let prefix = frozen[next].clone();
        next += 1;
        for (at, node) in levels {
            let inside = at
                .strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let Some(node) = node.as_object().filter(|_| inside) else {
                continue;
            };
            if let Some((_, target)) = document
                .reference(node)
                .and_then(|reference| document.resolve(reference).ok())
                && !frozen.contains(&target)
            {
                frozen.push(target);
            }
        }
    }
}

const MAX_COMPOSITION: usize = 16;

/// Whether a level declares properties through `allOf` (or, from 2019 on, through a `$ref` beside keywords).
fn all_of_declares(document: &Document, level: &Object, depth: usize) -> bool {
    if depth > MAX_COMPOSITION {
        return false;
    }
    let Some(Json::Array(parts)) = level.get("allOf") else {
        return false;
    };
    parts.iter().any(|part| {
        let part = part
            .as_object()
            .and_then(|part| document.reference(part))
            .and_then(|reference| document.resolve(reference).ok())
            .map_or(part, |(target, _)| target);
        part.as_object().is_some_and(|part| {
            part.contains("properties") || all_of_declares(document, part, depth + 1)
        })
    })
}

fn compose(
    document: &Document,
    level: &Object,
    at: &str,
    composition: &mut Composition,
    depth: usize,
) {
    if depth > MAX_COMPOSITION || composition.members.len() > 256 {
        composition.open = true;
        return;
    }
    if depth > 0 {
        if let Some(Json::Object(properties)) = level.get("properties") {
            composition
                .names
                .extend(properties.iter().map(|(name, _)| name.clone()));
        }
        let maps = matches!(level.get("additionalProperties"), Some(Json::Object(schema)) if !schema.is_empty());
        if maps || level.contains("patternProperties") || level.contains("unevaluatedProperties") {
            composition.open = true;
        }
    }
    let visit = |part: &Json, at: String, composition: &mut Composition| {
        if let Json::Object(part) = part
            && composition.members.insert(at.clone())
        {
            compose(document, part, &at, composition, depth + 1);
        }
    };
    for keyword in ["allOf", "anyOf", "oneOf"] {
        if let Some(Json::Array(parts)) = level.get(keyword) {
            for (index, part) in parts.iter().enumerate() {
                let at = pointer::join(&pointer::join(at, keyword), &index.to_string());
                visit(part, at, composition);
            }
        }
    }
    for keyword in ["then", "else"] {
        if let Some(part) = level.get(keyword) {
            visit(part, pointer::join(at, keyword), composition);
        }
    }
    for keyword in ["dependentSchemas", "dependencies"] {
        if let Some(Json::Object(parts)) = level.get(keyword) {
            for (name, part) in parts.iter() {
                let at = pointer::join(&pointer::join(at, keyword), name.to_string_lossy());
                visit(part, at, composition);
            }
        }
    }
    if let Some(reference) = document.reference(level) {
        match document.resolve(reference) {
            Ok((target, target_at)) => visit(target, target_at, composition),
            Err(_) => composition.open = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{parse_str, to_canonical};

    fn closed_text(text: &str) -> String {
        let schema = parse_str(text).expect("a schema");
        to_canonical(&closed(&published(&schema)).root)
    }

    fn canonical(text: &str) -> String {
        to_canonical(&parse_str(text).expect("JSON"))
    }

    #[test]
    fn levels_that_declare_are_closed_and_maps_stay_open() {
        assert_eq!(
            closed_text(
                r#"{"properties": {"a": {"type": "object", "properties": {"b": {}}}, "map": {"type": "object"}}}"#
            ),
            canonical(
                r#"{"type": "object", "additionalProperties": false, "properties": {
                    "a": {"type": "object", "properties": {"b": {}}, "additionalProperties": false},
                    "map": {"type": "object"}}}"#
            )
        );
    }

    #[test]
    fn composed_schemas_keep_each_others_names() {
        assert_eq!(
            closed_text(
                r##"{"type": "object", "properties": {"a": {}}, "allOf": [{"$ref": "#/$defs/B"}],
                    "$defs": {"B": {"properties": {"b": {"type": "string"}}}}}"##
            ),
            canonical(
                r##"{"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": false,
                    "allOf": [{"$ref": "#/$defs/B"}], "$defs": {"B": {"properties": {"b": {"type": "string"}}}}}"##
            )
        );
    }

    #[test]
    fn what_is_asked_is_not_closed() {
        let text = r##"{"type": "object", "not": {"$ref": "#/$defs/B"}, "$defs": {"B": {"properties": {"b": {}}}}}"##;
        assert_eq!(closed_text(text), canonical(text));
    }
}

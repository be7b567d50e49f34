//! How a published schema is interpreted, before anything is decided about it.
//!
//! - OpenAPI's `nullable: true` next to a single type is read as its authors mean it.
//! - `format`, `contentEncoding` and `contentMediaType` are annotations in every draft.
//! - Without `$schema` the protocol specifies 2020-12, but forms that only older drafts have
//!   suggest otherwise: both readings count, unless one of them is not a valid schema.
//! - With `$schema` both readings count where validators differ: about `dependencies` since 2019-09, which the metaschemas
//!   keep, and about what stands beside a `$ref` up to draft 7.
//! - Of repeated members the last one counts.
//! - An invalid schema proves nothing.
//!
//! Rewriting only replaces keywords; nothing moves, so a pointer into the published schema is also
//! valid in the interpreted one. Which of the accepted values senders really send is stated in
//! `docs/proofs.md` and decided by `solve`.

use std::collections::HashMap;

use crate::document::{Document, Draft, each_schema_at};
use crate::keywords::{Topic, keyword, topic};
use crate::reason::Reason;
use exact_json::{Json, Object, Text, pointer};

/// The schema as interpreted, in the draft that it names or shows.
pub(crate) fn read(schema: &Json) -> Document {
    let draft = Draft::of(schema);
    let mut root = schema.clone();
    keep_the_last(&mut root);
    spell_out_nullable(&mut root);
    Document { root, draft }
}

/// Of repeated members, parsers keep the last.
fn keep_the_last(node: &mut Json) {
    match node {
        Json::Array(items) => items.iter_mut().for_each(keep_the_last),
        Json::Object(object) => {
            let mut left: HashMap<Text, usize> = HashMap::new();
            for (name, _) in object.iter() {
                *left.entry(name.clone()).or_default() += 1;
            }
            if left.len() < object.len() {
                object.retain(|name, _| {
                    let more = left.get_mut(name).is_some_and(|count| {
                        *count -= 1;
                        *count > 0
                    });
                    !more
                });
            }
            for (_, value) in object.iter_mut() {
                keep_the_last(value);
            }
        }
        _ => {}
    }
}

/// Evidence for an older draft in a schema that names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A form that 2020-12 does not have: its author wrote for another draft.
    Strong,
    /// `definitions`, which may be a habit.
    Weak,
}

/// Another way in which a schema is read.
pub(crate) struct OtherReading {
    pub(crate) document: Document,
    pub(crate) evidence: Evidence,
    /// Why nothing is claimed if the answer depends on which one it is.
    pub(crate) reason: Reason,
}

/// The other reading of a schema, if there is one.
pub(crate) fn other_reading(document: &Document) -> Option<OtherReading> {
    if document.root.get("$schema").is_some() {
        return as_other_validators_read(document);
    }
    let (document, evidence) = in_the_draft_of_the_protocol(document)?;
    Some(OtherReading {
        document,
        evidence,
        reason: Reason::DraftDecides,
    })
}

/// A schema that names its draft, with what some validators assert in it although the draft ignores it.
fn as_other_validators_read(document: &Document) -> Option<OtherReading> {
    let is_modern = document.draft >= Draft::Y2019;
    let keyword = if is_modern { "dependencies" } else { "$ref" };
    let mut places = Vec::new();
    each_schema_at(&document.root, &mut String::new(), &mut |node, at| {
        let is_disputed = node.as_object().is_some_and(|object| {
            object.contains(keyword) && (is_modern || asserts_beside_reference(object))
        });
        if is_disputed {
            places.push(at.to_owned());
        }
    });
    if places.is_empty() {
        return None;
    }
    let mut other = document.clone();
    for at in &places {
        if let Some(Json::Object(node)) = pointer::resolve_mut(&mut other.root, at) {
            if is_modern {
                assert_dependencies(node);
            } else {
                move_reference(node);
            }
        }
    }
    malformed(&other).is_none().then_some(OtherReading {
        document: other,
        evidence: Evidence::Weak,
        reason: Reason::ValidatorsDiffer(keyword),
    })
}

fn asserts_beside_reference(object: &Object) -> bool {
    object.iter().any(|(name, _)| {
        let topic = name.as_str().and_then(topic);
        topic.is_some_and(|topic| topic.is_asserted() && topic != Topic::Reference)
    })
}

/// Writes `dependencies` as 2019-09 does. What it has of schemas stays where it is, for references.
fn assert_dependencies(node: &mut Object) {
    let Some(Json::Object(dependencies)) = node.get("dependencies").cloned() else {
        return;
    };
    let (names, schemas): (Vec<_>, Vec<_>) = dependencies
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .partition(|(_, value)| matches!(value, Json::Array(_)));
    let parts = [("dependentRequired", names), ("dependentSchemas", schemas)];
    let parts = parts.into_iter().filter(|(_, members)| !members.is_empty());
    let parts = parts.map(|(keyword, members)| {
        Json::object([(keyword, Json::Object(members.into_iter().collect()))])
    });
    also(node, parts.collect());
}

/// Moves a `$ref` into a schema of its own, so that what stands beside it counts.
fn move_reference(node: &mut Object) {
    if let Some(reference) = node.get("$ref").cloned() {
        node.retain(|keyword, _| keyword != "$ref");
        also(node, vec![Json::object([("$ref", reference)])]);
    }
}

/// Adds schemas that have to accept the same value.
fn also(node: &mut Object, mut schemas: Vec<Json>) {
    match node.get_mut("allOf") {
        Some(Json::Array(list)) => list.append(&mut schemas),
        Some(_) => {}
        None => node.push("allOf", Json::Array(schemas)),
    }
}

/// A schema that does not name its draft as 2020-12, in which forms that it does not have are read as their authors mean
/// them.
fn in_the_draft_of_the_protocol(document: &Document) -> Option<(Document, Evidence)> {
    if document.draft == Draft::Y2020 {
        return None;
    }
    let mut other = Document {
        root: document.root.clone(),
        draft: Draft::Y2020,
    };
    let mut evidence = Evidence::Weak;
    let mut old_forms = Vec::new();
    each_schema_at(&document.root, &mut String::new(), &mut |node, at| {
        if has_old_form(node) {
            old_forms.push(at.to_owned());
        }
        if node.get("dependencies").is_some() {
            evidence = Evidence::Strong;
        }
    });
    // The inner ones first: rewriting moves what is inside.
    for at in old_forms.iter().rev() {
        evidence = Evidence::Strong;
        if let Some(Json::Object(node)) = pointer::resolve_mut(&mut other.root, at) {
            modernise(node);
        }
    }
    malformed(&other).is_none().then_some((other, evidence))
}

fn has_old_form(node: &Json) -> bool {
    let is_flag = |keyword| matches!(node.get(keyword), Some(Json::Bool(_)));
    is_flag("exclusiveMinimum")
        || is_flag("exclusiveMaximum")
        || matches!(node.get("items"), Some(Json::Array(_)))
}

/// Writes array `items` and boolean exclusive bounds as 2020-12 does.
fn modernise(node: &mut Object) {
    for (flag, bound) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        let Some(Json::Bool(exclusive)) = node.get(flag) else {
            continue;
        };
        let limit = node.get(bound).filter(|_| *exclusive).cloned();
        node.retain(|keyword, _| keyword != flag && (limit.is_none() || keyword != bound));
        if let Some(limit) = limit {
            node.push(flag, limit);
        }
    }
    if matches!(node.get("items"), Some(Json::Array(_))) {
        let (tuple, rest) = (
            node.get("items").cloned(),
            node.get("additionalItems").cloned(),
        );
        node.retain(|keyword, _| {
            ["items", "additionalItems", "prefixItems"]
                .iter()
                .all(|old| keyword != *old)
        });
        let some = |value: &Json| value.as_array().is_none_or(|items| !items.is_empty());
        for (keyword, value) in [("prefixItems", tuple.filter(some)), ("items", rest)] {
            if let Some(value) = value {
                node.push(keyword, value);
            }
        }
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
        if let Some(Json::Object(node)) = pointer::resolve_mut(root, &at)
            && let Some(kind) = node.get_mut("type")
        {
            *kind = Json::Array(vec![kind.clone(), Json::string("null")]);
        }
    }
}

/// Why a document is not a schema, if it is not.
pub(crate) fn malformed(document: &Document) -> Option<Reason> {
    let mut found = None;
    let root = &document.root;
    if !matches!(root, Json::Object(_) | Json::Bool(_)) {
        return Some(Reason::InvalidKeyword {
            at: String::new(),
            keyword: "schema",
        });
    }
    each_schema_at(root, &mut String::new(), &mut |node, at| {
        if found.is_some() {
            return;
        }
        let Json::Object(object) = node else {
            return;
        };
        if let Some(keyword) = malformed_keyword(object, document.draft) {
            found = Some(Reason::InvalidKeyword {
                at: at.to_owned(),
                keyword,
            });
        } else if !at.is_empty() && names_another_draft(object, document.draft) {
            found = Some(Reason::Keyword("$schema"));
        }
    });
    found
}

/// Whether a part of a document names a draft of its own. Validators differ about what that means, unless the part has an
/// `$id` too; then it is read in that draft, which is not followed here.
fn names_another_draft(object: &Object, draft: Draft) -> bool {
    let named = object.get("$schema").and_then(Json::as_str);
    named.is_some_and(|named| Draft::of_dialect(named) != draft)
}

/// The first keyword with an invalid value for the draft.
fn malformed_keyword(object: &Object, draft: Draft) -> Option<&'static str> {
    let alone = draft <= Draft::Seven && object.contains("$ref");
    object.iter().find_map(|(name, value)| {
        let keyword = keyword(name.as_str()?)?;
        let is_ignored = alone && keyword.name != "$ref";
        (!is_ignored && !keyword.takes(draft, value)).then_some(keyword.name)
    })
}

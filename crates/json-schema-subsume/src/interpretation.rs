//! How a published schema is interpreted, before anything is decided about it.
//!
//! - OpenAPI's `nullable: true` next to a single type is read as its authors mean it.
//! - `format`, `contentEncoding` and `contentMediaType` are annotations in every draft.
//! - Without `$schema` the protocol specifies 2020-12, but forms that only older drafts have
//!   suggest otherwise: both readings count, unless one of them is not a valid schema.
//! - Of repeated members the last one counts.
//! - An invalid schema proves nothing.
//!
//! Rewriting only replaces keywords; nothing moves, so a pointer into the published schema is also
//! valid in the interpreted one. Which of the accepted values senders really send is stated in
//! `docs/proofs.md` and decided by `solve`.

use std::collections::HashMap;

use crate::document::{Document, Draft, each_schema_at};
use crate::keywords::keyword;
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

/// The other reading of a schema that does not name its draft: 2020-12, in which forms that it does not have are read as
/// their authors mean them.
pub(crate) fn other_reading(document: &Document) -> Option<(Document, Evidence)> {
    if document.draft == Draft::Y2020 || document.root.get("$schema").is_some() {
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
        } else if !at.is_empty() && is_of_another_draft(object, document.draft) {
            found = Some(Reason::Keyword("$schema"));
        }
    });
    found
}

/// Whether a part of a document is a document of its own, in a draft of its own.
fn is_of_another_draft(object: &Object, draft: Draft) -> bool {
    let text = |keyword| object.get(keyword).and_then(Json::as_str);
    let is_resource = [text("$id"), text("id")]
        .into_iter()
        .flatten()
        .any(|id| !id.starts_with('#'));
    let named = text("$schema").map(Draft::of_dialect);
    is_resource && named.is_some_and(|other| other != draft)
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

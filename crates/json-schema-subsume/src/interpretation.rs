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
use crate::kinds::{JsonKind, Kinds};
use crate::reason::Reason;
use crate::value::as_count;
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
                    let more = left.get_mut(name).is_some_and(|it| {
                        *it -= 1;
                        *it > 0
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
                .all(|it| keyword != *it)
        });
        let some = |it: &Json| it.as_array().is_none_or(|it| !it.is_empty());
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
        .any(|it| !it.starts_with('#'));
    let named = text("$schema").map(Draft::of_dialect);
    is_resource && named.is_some_and(|it| it != draft)
}

/// The first keyword with an invalid value for the draft.
fn malformed_keyword(object: &Object, draft: Draft) -> Option<&'static str> {
    let is_schema = |value: &Json| match value {
        Json::Object(_) => true,
        // Draft 4 has no boolean schemas, but servers' intent is clear.
        Json::Bool(_) => true,
        _ => false,
    };
    let schemas = |value: &Json| match value {
        Json::Array(list) => list.iter().all(is_schema),
        _ => false,
    };
    let map = |value: &Json| match value {
        Json::Object(map) => map.iter().all(|(_, it)| is_schema(it)),
        _ => false,
    };
    let names = |value: &Json| match value {
        Json::Array(list) => list.iter().all(|it| it.as_text().is_some()),
        _ => false,
    };
    let some = |value: &Json| value.as_array().is_some_and(|it| !it.is_empty());
    let number = |value: &Json| matches!(value, Json::Number(_));
    let is_type = |value: &Json| {
        JsonKind::ALL
            .iter()
            .any(|kind| Kinds::of_keyword(value).has(*kind))
    };
    let check = |keyword: &'static str, fine: &dyn Fn(&Json) -> bool| match object.get(keyword) {
        Some(value) if !fine(value) => Some(keyword),
        _ => None,
    };
    let types = |value: &Json| match value {
        Json::Array(list) => {
            !list.is_empty() && list.iter().all(|it| it.as_str().is_some() && is_type(it))
        }
        _ => value.as_str().is_some() && is_type(value),
    };
    let exclusive = |value: &Json| match value {
        Json::Bool(_) => draft == Draft::Four,
        value => draft > Draft::Four && number(value),
    };
    let positive = |value: &Json| match value {
        Json::Number(it) => it.to_f64() > 0.0,
        _ => false,
    };
    let items = |value: &Json| is_schema(value) || (draft < Draft::Y2020 && schemas(value));
    let count = |value: &Json| as_count(value).is_some();
    let flag = |value: &Json| matches!(value, Json::Bool(_));
    let text = |value: &Json| value.as_text().is_some();
    let dependencies = |value: &Json| match value {
        Json::Object(map) => map.iter().all(|(_, it)| is_schema(it) || names(it)),
        _ => false,
    };
    let dependent = |value: &Json| match value {
        Json::Object(map) => map.iter().all(|(_, it)| names(it)),
        _ => false,
    };
    let list_of_some = |value: &Json| schemas(value) && some(value);
    let array = |value: &Json| matches!(value, Json::Array(_));
    if draft <= Draft::Seven && object.contains("$ref") {
        return check("$ref", &text);
    }
    let modern = draft >= Draft::Y2019;
    let mut wrong = check("type", &types)
        .or_else(|| check("enum", &array))
        .or_else(|| check("allOf", &list_of_some))
        .or_else(|| check("anyOf", &list_of_some))
        .or_else(|| check("oneOf", &list_of_some))
        .or_else(|| check("not", &is_schema))
        .or_else(|| check("minimum", &number))
        .or_else(|| check("maximum", &number))
        .or_else(|| check("exclusiveMinimum", &exclusive))
        .or_else(|| check("exclusiveMaximum", &exclusive))
        .or_else(|| check("multipleOf", &positive))
        .or_else(|| check("minLength", &count))
        .or_else(|| check("maxLength", &count))
        .or_else(|| check("pattern", &text))
        .or_else(|| check("minItems", &count))
        .or_else(|| check("maxItems", &count))
        .or_else(|| check("uniqueItems", &flag))
        .or_else(|| check("items", &items))
        .or_else(|| check("minProperties", &count))
        .or_else(|| check("maxProperties", &count))
        .or_else(|| check("required", &names))
        .or_else(|| check("properties", &map))
        .or_else(|| check("patternProperties", &map))
        .or_else(|| check("additionalProperties", &is_schema))
        .or_else(|| check("$ref", &text));
    if draft < Draft::Y2020 {
        wrong = wrong.or_else(|| check("additionalItems", &is_schema));
    } else {
        wrong = wrong.or_else(|| check("prefixItems", &list_of_some));
    }
    if draft > Draft::Four {
        wrong = wrong
            .or_else(|| check("contains", &is_schema))
            .or_else(|| check("propertyNames", &is_schema));
    }
    if draft >= Draft::Seven {
        for keyword in ["if", "then", "else"] {
            wrong = wrong.or_else(|| check(keyword, &is_schema));
        }
    }
    if modern {
        wrong = wrong
            .or_else(|| check("minContains", &count))
            .or_else(|| check("maxContains", &count))
            .or_else(|| check("dependentRequired", &dependent))
            .or_else(|| check("dependentSchemas", &map))
            .or_else(|| check("unevaluatedProperties", &is_schema))
            .or_else(|| check("unevaluatedItems", &is_schema));
    } else {
        wrong = wrong.or_else(|| check("dependencies", &dependencies));
    }
    wrong
}

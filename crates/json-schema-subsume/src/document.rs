//! One schema document: its draft, and the targets of its references.
//!
//! References are resolved lazily and inside the document only. A reference to another document is
//! never fetched: code that needs its target gets a [`Reason`](crate::reason::Reason) instead, and the verdict becomes
//! undecided.

use std::collections::HashSet;

use exact_json::{Json, pointer};

use crate::keywords::{Holds, holds};

/// The drafts of JSON Schema that servers send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// draft-04
    Four,
    /// draft-06
    Six,
    /// draft-07
    Seven,
    /// 2019-09
    Y2019,
    /// 2020-12
    Y2020,
}

/// A schema with its draft.
#[derive(Clone, Debug)]
pub struct Document {
    /// The schema as a whole.
    pub root: Json,
    /// The draft in which it is read.
    pub draft: Draft,
}

impl Document {
    /// In the draft that it names or shows.
    pub fn new(root: Json) -> Self {
        let draft = Draft::of(&root);
        Self { root, draft }
    }

    /// The node at a pointer.
    pub fn at(&self, at: &str) -> Option<&Json> {
        pointer::resolve(&self.root, at)
    }
}

impl Draft {
    /// By `$schema`; without it 2020-12, unless a form that only older drafts have shows otherwise.
    pub fn of(root: &Json) -> Self {
        if let Some(dialect) = root.get("$schema").and_then(Json::as_str) {
            return Self::of_dialect(dialect);
        }
        let mut found = Self::Y2020;
        each_schema(root, &mut |node| {
            let Some(object) = node.as_object() else {
                return;
            };
            let boolean = |keyword| matches!(object.get(keyword), Some(Json::Bool(_)));
            if boolean("exclusiveMinimum") || boolean("exclusiveMaximum") {
                found = Self::Four;
            }
            let old_form = matches!(object.get("items"), Some(Json::Array(_)))
                || object.contains("definitions")
                || object.contains("dependencies");
            if old_form && found > Self::Seven {
                found = Self::Seven;
            }
        });
        found
    }

    /// The draft of a `$schema`.
    pub fn of_dialect(dialect: &str) -> Self {
        let older = [
            ("draft-04", Self::Four),
            ("draft-06", Self::Six),
            ("draft-07", Self::Seven),
            ("2019-09", Self::Y2019),
        ];
        let found = older.into_iter().find(|(mark, _)| dialect.contains(mark));
        found.map_or(Self::Y2020, |(_, draft)| draft)
    }
}

/// Calls `visit` with a document's root and every other schema in it, each once: those in the keywords that contain
/// schemas, and what references lead to elsewhere (`#/components/schemas/X`).
pub(crate) fn each_schema<'a>(root: &'a Json, visit: &mut impl FnMut(&'a Json)) {
    each_schema_at(root, &mut String::new(), &mut |node, _| visit(node));
}

/// The same, with each schema's pointer.
pub fn each_schema_at<'a>(root: &'a Json, at: &mut String, visit: &mut impl FnMut(&'a Json, &str)) {
    let mut elsewhere = Elsewhere::of(root);
    each_below(root, at, &mut |node, at| {
        elsewhere.note(node);
        visit(node, at);
    });
    let mut seen = HashSet::new();
    while let Some(mut to) = elsewhere.open.pop() {
        let Some(node) = pointer::resolve(root, &to) else {
            continue;
        };
        each_below(node, &mut to, &mut |node, at| {
            if seen.insert(std::ptr::from_ref(node)) {
                elsewhere.note(node);
                visit(node, at);
            }
        });
    }
}

/// The pointers of what references lead to although no keyword contains schemas there.
pub(crate) fn elsewhere(root: &Json) -> Vec<String> {
    let mut elsewhere = Elsewhere::of(root);
    each_schema(root, &mut |node| elsewhere.note(node));
    elsewhere.open
}

/// What references lead to although no keyword contains schemas there.
struct Elsewhere<'a> {
    root: &'a Json,
    /// Those of the two usual keywords that contain definitions at the root.
    definitions: Vec<&'static str>,
    noted: HashSet<String>,
    /// The pointers to look at.
    open: Vec<String>,
}

/// So many references are looked up, apart from those to definitions. `solve` notices if one of the others leads to what
/// was not visited.
const MOST_ELSEWHERE: usize = 1000;

impl<'a> Elsewhere<'a> {
    fn of(root: &'a Json) -> Self {
        let is_map = |keyword: &&str| matches!(root.get(keyword), Some(Json::Object(_)));
        Self {
            root,
            definitions: ["$defs", "definitions"]
                .into_iter()
                .filter(is_map)
                .collect(),
            noted: HashSet::new(),
            open: Vec::new(),
        }
    }

    fn note(&mut self, node: &Json) {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let reference = node.get(keyword).and_then(Json::as_str);
            let Some(to) = reference.and_then(|reference| reference.strip_prefix("#/")) else {
                continue;
            };
            let is_definition = |keyword: &&str| {
                let name = to
                    .strip_prefix(keyword)
                    .and_then(|rest| rest.strip_prefix('/'));
                name.is_some_and(|name| !name.contains('/'))
            };
            if self.definitions.iter().any(is_definition) || self.noted.len() >= MOST_ELSEWHERE {
                continue;
            }
            let to = percent_decoded(&format!("/{to}"));
            if self.noted.insert(to.clone()) && !is_place_of_schema(self.root, &to) {
                self.open.push(to);
            }
        }
    }
}

/// Whether only keywords that contain schemas lead to a pointer.
fn is_place_of_schema(root: &Json, at: &str) -> bool {
    let mut node = root;
    let mut tokens = pointer::tokens(at);
    while let Some(keyword) = tokens.next() {
        let Some(value) = node.get(&keyword) else {
            return false;
        };
        let inside = match holds(&keyword, value) {
            Some(Holds::One) => Some(value),
            Some(Holds::Map) => tokens.next().and_then(|name| value.get(&name)),
            Some(Holds::List) => tokens.next().and_then(|index| {
                let items = value.as_array()?;
                items.get(pointer::index(&index)?)
            }),
            None => None,
        };
        match inside {
            Some(schema) => node = schema,
            None => return false,
        }
    }
    true
}

/// Calls `visit` with a schema and with those in the keywords that contain schemas.
fn each_below<'a>(node: &'a Json, at: &mut String, visit: &mut impl FnMut(&'a Json, &str)) {
    if !matches!(node, Json::Object(_) | Json::Bool(_)) {
        return;
    }
    visit(node, at);
    let Some(object) = node.as_object() else {
        return;
    };
    for (keyword, value) in object.iter() {
        let Some(keyword) = keyword.as_str() else {
            continue;
        };
        match (holds(keyword, value), value) {
            (Some(Holds::One), schema) => {
                pointer::descend(at, keyword, |at| each_below(schema, at, visit));
            }
            (Some(Holds::List), Json::Array(list)) => pointer::descend(at, keyword, |at| {
                for (index, schema) in list.iter().enumerate() {
                    pointer::descend(at, &index.to_string(), |at| {
                        each_below(schema, at, visit);
                    });
                }
            }),
            (Some(Holds::Map), Json::Object(map)) => pointer::descend(at, keyword, |at| {
                for (name, schema) in map.iter() {
                    pointer::descend(at, name.to_string_lossy(), |at| {
                        each_below(schema, at, visit);
                    });
                }
            }),
            _ => {}
        }
    }
}

/// The fragment of an address, decoded: pointers in a `$ref` are written so.
pub fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = text
            .get(at + 1..at + 3)
            .filter(|hex| bytes[at] == b'%' && !hex.starts_with('+'))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::parse_str;

    fn document(text: &str) -> Document {
        Document::new(parse_str(text).expect("a schema"))
    }

    #[test]
    fn the_draft_comes_from_the_dialect_or_from_old_forms() {
        let draft = |text| document(text).draft;
        assert_eq!(draft("{}"), Draft::Y2020);
        assert_eq!(
            draft(r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#),
            Draft::Seven
        );
        assert_eq!(draft(r#"{"items": [{}]}"#), Draft::Seven);
        assert_eq!(
            draft(r#"{"properties": {"a": {"definitions": {}}}}"#),
            Draft::Seven
        );
        assert_eq!(
            draft(r#"{"properties": {"definitions": {}}}"#),
            Draft::Y2020
        );
        assert_eq!(
            draft(r#"{"minimum": 1, "exclusiveMinimum": true}"#),
            Draft::Four
        );
    }
}

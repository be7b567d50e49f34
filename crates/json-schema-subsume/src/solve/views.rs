//! What a schema says about a place without a value at hand: its parts, its tags, what it looks at.

use std::rc::Rc;

use super::{Id, Solver, Tags};
use crate::document::Draft;
use crate::kinds::{JsonKind, Kinds};
use crate::reason::Reason;
use crate::value::same;
use exact_json::{Json, Object, Text};

impl<'a> Solver<'_, 'a> {
    /// Whether a schema determines which members or items there are, here or below.
    pub(super) fn matters(&mut self, id: Id) -> bool {
        if let Some(known) = self.matters.get(&id) {
            return *known;
        }
        // A schema inside itself adds nothing.
        self.matters.insert(id, false);
        let found = self.looks(id);
        self.matters.insert(id, found);
        found
    }

    pub(super) fn looks(&mut self, id: Id) -> bool {
        let Some(object) = self.object(id) else {
            return false;
        };
        let says = [
            "properties",
            "patternProperties",
            "additionalProperties",
            "unevaluatedProperties",
            "required",
            "items",
            "prefixItems",
            "additionalItems",
            "unevaluatedItems",
            "contains",
            "dependentSchemas",
            "dependencies",
        ];
        if says.iter().any(|keyword| object.contains(keyword)) {
            return true;
        }
        let Ok(parts) = self.parts(id) else {
            return true;
        };
        parts.into_iter().any(|part| self.matters(part))
    }

    /// The schemas that a schema applies to the same value, whether or not they accept.
    pub(super) fn parts(&mut self, id: Id) -> Result<Vec<Id>, Reason> {
        let Some(object) = self.object(id) else {
            return Ok(Vec::new());
        };
        let mut found: Vec<&'a Json> = self
            .references(id)
            .targets(self.json(id))?
            .into_iter()
            .map(|(target, _)| target)
            .collect();
        if !self.silenced(id) {
            for keyword in ["allOf", "anyOf", "oneOf"] {
                found.extend(object.get(keyword).and_then(Json::as_array).unwrap_or(&[]));
            }
            if self.draft(id) >= Draft::Seven && object.contains("if") {
                found.extend(
                    ["if", "then", "else"]
                        .iter()
                        .filter_map(|keyword| object.get(keyword)),
                );
            }
            let dependent = self.dependent(id);
            found.extend(dependent.into_iter().map(|(_, schema)| schema));
        }
        Ok(found
            .into_iter()
            .map(|schema| self.child(id, schema))
            .collect())
    }

    /// Whether a reference overrides its siblings.
    pub(super) fn silenced(&self, id: Id) -> bool {
        self.draft(id) <= Draft::Seven
            && self
                .object(id)
                .is_some_and(|object| object.contains("$ref"))
    }

    /// The members of a keyword that was part of `dependencies` before 2019-09.
    fn dependencies(
        &self,
        id: Id,
        since_2019: &str,
    ) -> impl Iterator<Item = (&'a Text, &'a Json)> + use<'a> {
        let keyword = if self.draft(id) >= Draft::Y2019 {
            since_2019
        } else {
            "dependencies"
        };
        let members = self
            .object(id)
            .and_then(|object| object.get(keyword)?.as_object());
        members.into_iter().flat_map(Object::iter)
    }

    pub(super) fn dependent(&self, id: Id) -> Vec<(&'a Text, &'a Json)> {
        self.dependencies(id, "dependentSchemas")
            .filter(|(_, schema)| matches!(schema, Json::Object(_) | Json::Bool(_)))
            .collect()
    }

    pub(super) fn dependent_names(&self, id: Id) -> Vec<(&'a Text, Vec<&'a Text>)> {
        self.dependencies(id, "dependentRequired")
            .filter_map(|(name, names)| match names {
                Json::Array(names) => {
                    Some((name, names.iter().filter_map(Json::as_text).collect()))
                }
                Json::String(other) => Some((name, vec![other])),
                _ => None,
            })
            .collect()
    }

    /// Whether a branch can accept a value of this type, judging by its types.
    pub(super) fn possible(&self, id: Id, kind: JsonKind) -> bool {
        let mut node = self.json(id);
        for _ in 0..8 {
            let object = match node {
                Json::Bool(verdict) => return *verdict,
                Json::Object(object) => object,
                _ => return true,
            };
            let silenced = self.draft(id) <= Draft::Seven && object.contains("$ref");
            if !silenced {
                let typed = object.get("type").map_or(Kinds::ANY, Kinds::of_keyword);
                if !typed.has(kind) {
                    return false;
                }
                if let Some(value) = object.get("const").filter(|_| self.draft(id) > Draft::Four)
                    && JsonKind::of(value) != kind
                {
                    return false;
                }
                if let Some(Json::Array(values)) = object.get("enum")
                    && values.iter().all(|value| JsonKind::of(value) != kind)
                {
                    return false;
                }
            }
            match self.references(id).targets(node).as_deref() {
                Ok([(target, _)]) => node = target,
                _ => return true,
            }
        }
        true
    }

    /// Whether two branches cannot both accept, by a quick check: a member that both require has a
    /// different constant in each.
    pub(super) fn apart(&self, one: Id, other: Id, kind: JsonKind) -> bool {
        if kind != JsonKind::Object {
            return false;
        }
        let mine = self.tags(one);
        if mine.is_empty() {
            return false;
        }
        self.tags(other).iter().any(|(name, values)| {
            mine.iter().any(|(other, others)| {
                other == name
                    && values
                        .iter()
                        .all(|value| others.iter().all(|other| !same(value, other)))
            })
        })
    }

    pub(super) fn tags(&self, id: Id) -> Rc<Tags<'a>> {
        if let Some(known) = self.tagged.borrow().get(&id) {
            return known.clone();
        }
        let found = Rc::new(self.find_tags(id));
        self.tagged.borrow_mut().insert(id, found.clone());
        found
    }

    pub(super) fn find_tags(&self, id: Id) -> Tags<'a> {
        let references = self.references(id);
        let mut node = self.json(id);
        for _ in 0..8 {
            match references.targets(node).as_deref() {
                Ok([(target, _)]) => node = target,
                Ok(_) => break,
                Err(_) => return Vec::new(),
            }
        }
        let Some(object) = node.as_object() else {
            return Vec::new();
        };
        let draft = references.draft();
        // At the end of a long way of references: what is beside one counts for nothing.
        if draft <= Draft::Seven && object.contains("$ref") {
            return Vec::new();
        }
        let Some(Json::Object(properties)) = object.get("properties") else {
            return Vec::new();
        };
        properties
            .iter()
            .filter(|(name, _)| references.requires(object, name))
            .filter_map(|(name, schema)| {
                let listed = schema.get("enum").and_then(Json::as_array);
                let values: Vec<&Json> = match schema.get("const").filter(|_| draft > Draft::Four) {
                    Some(value) => vec![value],
                    None => listed.filter(|values| values.len() < 16)?.iter().collect(),
                };
                (schema.get("$ref").is_none()).then_some((name, values))
            })
            .collect()
    }

    pub(super) fn requires(&self, id: Id, name: &Text) -> bool {
        self.object(id)
            .is_some_and(|object| self.references(id).requires(object, name))
    }
}

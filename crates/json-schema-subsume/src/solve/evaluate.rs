//! Whether one value satisfies a schema, and whether it is declared: an implementation of the
//! specification on exact decimals. Three-valued: `None` if something is not supported.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::nodes::{Address, References, address, has_all, member, members_of};
use super::number::Exact;
use crate::document::Draft;
use crate::kinds::{JsonKind, Kinds};
use crate::pattern::is_ecmascript;
use crate::value::{as_count, same};
use exact_json::{Json, Object, Text, to_canonical};

/// Compiled patterns, each compiled once.
#[derive(Default)]
pub(crate) struct Patterns {
    compiled: RefCell<HashMap<String, Option<Validator>>>,
}

impl Patterns {
    /// Whether a text matches; `None` if the pattern cannot be compiled, the engine gives up, or ECMAScript or another
    /// engine may say otherwise.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        if pattern.is_empty() || pattern == "^" {
            return Some(true);
        }
        if is_disputed(pattern, text) {
            return None;
        }
        let mut compiled = self.compiled.borrow_mut();
        let validator = compiled
            .entry(pattern.to_owned())
            .or_insert_with(|| {
                jsonschema::options()
                    .with_draft(jsonschema::Draft::Draft202012)
                    .with_pattern_options(
                        jsonschema::PatternOptions::fancy_regex().backtrack_limit(20_000),
                    )
                    .offline()
                    .build(&json!({"pattern": pattern}))
                    .ok()
            })
            .as_ref()?;
        match validator.validate(&Value::String(text.to_owned())) {
            Ok(()) => Some(true),
            Err(error) => match error.kind() {
                jsonschema::error::ValidationErrorKind::Pattern { .. } => Some(false),
                _ => None,
            },
        }
    }
}

/// Whether engines differ: about the edges of words beyond ASCII, about `.` and line ends, and about what only some of
/// them read.
fn is_disputed(pattern: &str, text: &str) -> bool {
    (!text.is_ascii() && (pattern.contains("\\b") || pattern.contains("\\B")))
        || (pattern.contains('.') && text.contains(['\r', '\u{2028}', '\u{2029}']))
        || !is_ecmascript(pattern)
}

/// Conjunction of three-valued answers: one `false` decides.
pub(crate) fn all(answers: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(true);
    for answer in answers {
        match answer {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = None,
        }
    }
    known
}

fn any(answers: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    all(answers.into_iter().map(|answer| answer.map(|holds| !holds))).map(|holds| !holds)
}

/// The maximum depth of an evaluation.
const MAX_DEPTH: usize = 150;

/// Which members or items of a value were evaluated.
#[derive(Clone, Debug, Default)]
struct Looked {
    names: BTreeSet<Text>,
    items: BTreeSet<usize>,
    /// Whether some validators count more items.
    disputed: bool,
}

/// Answers for values of one document.
pub(crate) struct Evaluator<'e, 'a> {
    pub(crate) references: &'e References<'a>,
    pub(crate) patterns: &'e Patterns,
    /// Lists of values, for lookups instead of comparing one by one.
    pub(crate) lists: &'e RefCell<HashMap<Address, HashSet<String>>>,
    pub(crate) steps: std::cell::Cell<u64>,
    /// Whether a reference was met that leads nowhere, for any validator.
    pub(crate) lost: std::cell::Cell<bool>,
    exhaustive: bool,
    counts_literals: bool,
}

const MAX_STEPS: u64 = 400_000;

impl<'e, 'a> Evaluator<'e, 'a> {
    pub(crate) fn new(
        references: &'e References<'a>,
        patterns: &'e Patterns,
        lists: &'e RefCell<HashMap<Address, HashSet<String>>>,
    ) -> Self {
        Self {
            references,
            patterns,
            lists,
            steps: std::cell::Cell::new(0),
            lost: std::cell::Cell::new(false),
            exhaustive: false,
            counts_literals: false,
        }
    }

    /// In draft 4 `1.0` is no integer, instead of unknown.
    pub(crate) fn counting_literals(mut self) -> Self {
        self.counts_literals = true;
        self
    }

    /// Looks at every schema that must hold, also where one of them has refused already. The first branch that holds is
    /// enough, as it is for validators.
    pub(crate) fn exhaustive(mut self) -> Self {
        self.exhaustive = true;
        self
    }

    fn all(&self, answers: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
        if self.exhaustive {
            let answers: Vec<Option<bool>> = answers.into_iter().collect();
            return all(answers);
        }
        all(answers)
    }

    fn draft(&self) -> Draft {
        self.references.draft()
    }

    /// Whether `value` satisfies `node`.
    pub(crate) fn accepts(&self, node: &'a Json, value: &Json) -> Option<bool> {
        self.node(node, value, 0)
    }

    fn node(&self, node: &'a Json, value: &Json, depth: usize) -> Option<bool> {
        self.steps.set(self.steps.get() + 1);
        if depth > MAX_DEPTH || self.steps.get() > MAX_STEPS {
            return None;
        }
        let object = match node {
            Json::Bool(verdict) => return Some(*verdict),
            Json::Object(object) => object,
            _ => return None,
        };
        let targets = match self.references.targets(node) {
            Ok(targets) => self.all(
                targets
                    .iter()
                    .map(|(target, _)| self.node(target, value, depth + 1)),
            ),
            Err(_) => {
                let known = self.references.is_of_later_draft(node);
                self.lost.set(self.lost.get() || !known);
                None
            }
        };
        let alone = self.draft() <= Draft::Seven && object.contains("$ref");
        if alone || targets == Some(false) {
            return targets;
        }
        // Cheap checks come first: they reject most values.
        let glance = |keyword: &str| {
            matches!(
                keyword,
                "type" | "required" | "const" | "minLength" | "maxLength" | "minItems" | "maxItems"
            )
        };
        let keywords = [true, false].into_iter().flat_map(|first| {
            object.iter().filter_map(move |(keyword, argument)| {
                let keyword = keyword.as_str().filter(|word| glance(word) == first)?;
                Some(self.keyword(node, object, keyword, argument, value, depth))
            })
        });
        self.all(std::iter::once(targets).chain(keywords))
    }

    fn keyword(
        &self,
        node: &'a Json,
        object: &'a Object,
        keyword: &str,
        argument: &'a Json,
        value: &Json,
        depth: usize,
    ) -> Option<bool> {
        let list = || argument.as_array().unwrap_or(&[]).iter();
        let inner = |schema: &'a Json| self.node(schema, value, depth + 1);
        let draft = self.draft();
        match keyword {
            "type" => {
                let kind = JsonKind::of(value);
                let kinds = Kinds::of_keyword(argument);
                // Draft 4 does not count 1.0 as an integer; a number it is.
                let is_disputed =
                    draft == Draft::Four && kind == JsonKind::Integer && !is_literal(value);
                if is_disputed && kinds.has(kind) && !kinds.has(JsonKind::Fraction) {
                    return self.counts_literals.then_some(false);
                }
                Some(kinds.has(kind))
            }
            "const" if draft > Draft::Four => Some(same(argument, value)),
            "enum" => Some(self.listed(argument, value)),
            "allOf" => self.all(list().map(inner)),
            "anyOf" => any(list().map(inner)),
            "oneOf" => {
                let answers: Vec<Option<bool>> = list().map(inner).collect();
                let holding = answers
                    .iter()
                    .filter(|answer| **answer == Some(true))
                    .count();
                if holding > 1 {
                    return Some(false);
                }
                if answers.contains(&None) {
                    return None;
                }
                Some(holding == 1)
            }
            "not" => inner(argument).map(|holds| !holds),
            "if" if draft >= Draft::Seven => {
                let branch = if inner(argument)? {
                    object.get("then")
                } else {
                    object.get("else")
                };
                branch.map_or(Some(true), inner)
            }
            _ => match value {
                Json::Null | Json::Bool(_) => Some(true),
                Json::Number(number) => {
                    number_keyword(object, keyword, argument, Exact::of(number), number, draft)
                }
                Json::String(text) => self.string(keyword, argument, text),
                Json::Array(items) => self.array(node, object, keyword, argument, items, depth),
                Json::Object(members) => {
                    self.members(node, object, keyword, argument, members, value, depth)
                }
            },
        }
    }

    /// Whether an `enum` has the value.
    pub(crate) fn listed(&self, list: &Json, value: &Json) -> bool {
        let Json::Array(values) = list else {
            return true;
        };
        if values.len() < 16 {
            return values.iter().any(|one| same(one, value));
        }
        self.lists
            .borrow_mut()
            .entry(address(list))
            .or_insert_with(|| values.iter().map(to_canonical).collect())
            .contains(&to_canonical(value))
    }

    fn string(&self, keyword: &str, argument: &Json, text: &Text) -> Option<bool> {
        let length = || u64::try_from(text.code_points().count()).ok();
        match keyword {
            "minLength" => Some(length()? >= as_count(argument)?),
            "maxLength" => Some(length()? <= as_count(argument)?),
            "pattern" => self.patterns.matches(argument.as_str()?, text.as_str()?),
            _ => Some(true),
        }
    }

    fn array(
        &self,
        node: &'a Json,
        object: &'a Object,
        keyword: &str,
        argument: &'a Json,
        items: &[Json],
        depth: usize,
    ) -> Option<bool> {
        let count = items.len() as u64;
        let modern = self.draft() >= Draft::Y2019;
        let each = |schema: &'a Json, from: usize| {
            self.all(
                items
                    .iter()
                    .skip(from)
                    .map(|item| self.node(schema, item, depth + 1)),
            )
        };
        match keyword {
            "minItems" => Some(count >= as_count(argument)?),
            "maxItems" => Some(count <= as_count(argument)?),
            "uniqueItems" => {
                if argument != &Json::Bool(true) {
                    return Some(true);
                }
                let texts: HashSet<String> = items.iter().map(to_canonical).collect();
                Some(texts.len() == items.len())
            }
            "items" | "prefixItems" => match argument {
                Json::Array(leading)
                    if (keyword == "prefixItems") == (self.draft() == Draft::Y2020) =>
                {
                    self.all(
                        leading
                            .iter()
                            .zip(items)
                            .map(|(schema, item)| self.node(schema, item, depth + 1)),
                    )
                }
                Json::Array(_) => Some(true),
                schema if keyword == "items" => each(schema, leading(object, self.draft()).len()),
                _ => Some(true),
            },
            "additionalItems" if self.draft() < Draft::Y2020 => match object.get("items") {
                Some(Json::Array(leading)) => each(argument, leading.len()),
                _ => Some(true),
            },
            "contains" if self.draft() > Draft::Four => {
                let answers: Vec<Option<bool>> = items
                    .iter()
                    .map(|item| self.node(argument, item, depth + 1))
                    .collect();
                let bound = |keyword: &str| object.get(keyword).filter(|_| modern).map(as_count);
                let least = bound("minContains").unwrap_or(Some(1))?;
                let most = bound("maxContains").unwrap_or(Some(u64::MAX))?;
                let sure = answers
                    .iter()
                    .filter(|answer| **answer == Some(true))
                    .count() as u64;
                let possible = answers
                    .iter()
                    .filter(|answer| **answer != Some(false))
                    .count() as u64;
                if possible < least || sure > most {
                    Some(false)
                } else if sure >= least && possible <= most {
                    Some(true)
                } else {
                    None
                }
            }
            "unevaluatedItems" if modern => {
                let value = Json::Array(items.to_vec());
                let looked = self.looked(node, &value, true, depth)?;
                self.all(
                    items
                        .iter()
                        .enumerate()
                        .filter(|(index, _)| !looked.items.contains(index))
                        .map(|(_, item)| self.node(argument, item, depth + 1))
                        .map(|answer| answer.filter(|accepted| *accepted || !looked.disputed)),
                )
            }
            _ => Some(true),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn members(
        &self,
        node: &'a Json,
        object: &'a Object,
        keyword: &str,
        argument: &'a Json,
        members: &Object,
        value: &Json,
        depth: usize,
    ) -> Option<bool> {
        let modern = self.draft() >= Draft::Y2019;
        match keyword {
            "minProperties" => Some(members.len() as u64 >= as_count(argument)?),
            "maxProperties" => Some(members.len() as u64 <= as_count(argument)?),
            "required" => {
                let names: Vec<&Text> = argument
                    .as_array()?
                    .iter()
                    .filter_map(Json::as_text)
                    .collect();
                Some(has_all(members, names.into_iter()))
            }
            "properties" => {
                argument.as_object()?;
                self.all(members_of(members).into_iter().filter_map(|(name, value)| {
                    let schema = self.references.property(object, name)?;
                    Some(self.node(schema, value, depth + 1))
                }))
            }
            "patternProperties" => {
                let mut answers = Vec::new();
                for (pattern, schema) in argument.as_object()?.iter() {
                    for (name, value) in members.iter() {
                        answers.push(
                            match self.patterns.matches(pattern.as_str()?, name.as_str()?) {
                                Some(true) => self.node(schema, value, depth + 1),
                                Some(false) => Some(true),
                                None => None,
                            },
                        );
                    }
                }
                self.all(answers)
            }
            "additionalProperties" => {
                self.all(members.iter().map(|(name, value)| {
                    match named_by(self.references, object, name, self.patterns) {
                        Some(true) => Some(true),
                        Some(false) => self.node(argument, value, depth + 1),
                        None => None,
                    }
                }))
            }
            "propertyNames" if self.draft() > Draft::Four => self.all(
                members
                    .iter()
                    .map(|(name, _)| self.node(argument, &Json::String(name.clone()), depth + 1)),
            ),
            "dependentRequired" if modern => dependent_names(argument, members),
            "dependencies" if !modern => self.all([
                dependent_names(argument, members),
                self.dependent_schemas(argument, members, value, depth),
            ]),
            "dependentSchemas" if modern => self.dependent_schemas(argument, members, value, depth),
            "unevaluatedProperties" if modern => {
                let looked = self.looked(node, value, true, depth)?;
                self.all(
                    members
                        .iter()
                        .filter(|(name, _)| !looked.names.contains(*name))
                        .map(|(_, value)| self.node(argument, value, depth + 1)),
                )
            }
            _ => Some(true),
        }
    }

    fn dependent_schemas(
        &self,
        argument: &'a Json,
        members: &Object,
        value: &Json,
        depth: usize,
    ) -> Option<bool> {
        self.all(
            argument
                .as_object()?
                .iter()
                .filter(|(name, schema)| {
                    has_member(members, name) && matches!(schema, Json::Object(_) | Json::Bool(_))
                })
                .map(|(_, schema)| self.node(schema, value, depth + 1)),
        )
    }

    /// The members and items that a schema evaluates, without its own `unevaluated…` if `own` is
    /// set.
    fn looked(&self, node: &'a Json, value: &Json, own: bool, depth: usize) -> Option<Looked> {
        let mut looked = Looked::default();
        if depth > MAX_DEPTH {
            return None;
        }
        let mut merge = |other: Looked| {
            looked.names.extend(other.names);
            looked.items.extend(other.items);
            looked.disputed |= other.disputed;
        };
        for part in self.in_place(node, value, depth)? {
            merge(self.looked(part, value, false, depth + 1)?);
        }
        let Some(object) = node.as_object() else {
            return Some(looked);
        };
        match value {
            Json::Object(members) => {
                let everything = object.contains("additionalProperties")
                    || (!own && object.contains("unevaluatedProperties"));
                for (name, _) in members.iter() {
                    if everything || named_by(self.references, object, name, self.patterns)? {
                        looked.names.insert(name.clone());
                    }
                }
            }
            Json::Array(items) => {
                let draft = self.draft();
                let leading = leading(object, draft).len();
                let rest = match object.get("items") {
                    Some(Json::Array(_)) => object.contains("additionalItems"),
                    Some(_) => true,
                    None => false,
                };
                let everything = rest || (!own && object.contains("unevaluatedItems"));
                for (index, item) in items.iter().enumerate() {
                    if everything || index < leading {
                        looked.items.insert(index);
                        continue;
                    }
                    let contained = match object.get("contains") {
                        Some(schema) if draft == Draft::Y2020 => {
                            self.node(schema, item, depth + 1)?
                        }
                        // Not counted by the specification, but by validators, each its own way.
                        Some(_) if draft == Draft::Y2019 => {
                            looked.disputed = true;
                            false
                        }
                        _ => false,
                    };
                    if contained {
                        looked.items.insert(index);
                    }
                }
            }
            _ => {}
        }
        Some(looked)
    }

    /// The schemas that apply to the same value through a schema, and accept it.
    fn in_place(&self, node: &'a Json, value: &Json, depth: usize) -> Option<Vec<&'a Json>> {
        let Some(object) = node.as_object() else {
            return Some(Vec::new());
        };
        let mut found: Vec<&'a Json> = self
            .references
            .targets(node)
            .ok()?
            .into_iter()
            .map(|(target, _)| target)
            .collect();
        if self.draft() <= Draft::Seven && object.contains("$ref") {
            return Some(found);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in object.get(keyword).and_then(Json::as_array).unwrap_or(&[]) {
                if self.node(part, value, depth + 1)? {
                    found.push(part);
                }
            }
        }
        if self.draft() >= Draft::Seven
            && let Some(condition) = object.get("if")
        {
            let branch = if self.node(condition, value, depth + 1)? {
                found.push(condition);
                object.get("then")
            } else {
                object.get("else")
            };
            if let Some(branch) = branch
                && self.node(branch, value, depth + 1)?
            {
                found.push(branch);
            }
        }
        if let Json::Object(members) = value {
            let keyword = if self.draft() >= Draft::Y2019 {
                "dependentSchemas"
            } else {
                "dependencies"
            };
            let map = object.get(keyword).and_then(Json::as_object);
            for (name, schema) in map.into_iter().flat_map(Object::iter) {
                if has_member(members, name) && matches!(schema, Json::Object(_)) {
                    found.push(schema);
                }
            }
        }
        Some(found)
    }

    /// Whether a sender that only sends what `nodes` declare would send the value. `strict` is the
    /// narrower reading, in which an explicit `additionalProperties: true` declares nothing.
    pub(crate) fn declared(
        &self,
        nodes: &[&'a Json],
        value: &Json,
        root: bool,
        strict: bool,
        depth: usize,
    ) -> Option<bool> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut flat: Vec<&'a Json> = Vec::new();
        let mut queue: Vec<&'a Json> = nodes.to_vec();
        while let Some(node) = queue.pop() {
            if flat.iter().any(|known| std::ptr::eq(*known, node)) {
                continue;
            }
            queue.extend(self.in_place(node, value, depth)?);
            flat.push(node);
        }
        // Siblings of a `$ref` are ignored up to draft 7.
        let objects: Vec<&'a Object> = flat
            .iter()
            .filter_map(|schema| schema.as_object())
            .filter(|object| !(self.draft() <= Draft::Seven && object.contains("$ref")))
            .collect();
        match value {
            Json::Object(members) => {
                let closed = closes(&objects, root) && !opens(&objects, self.draft(), strict);
                let mut answers = Vec::new();
                for (name, value) in members.iter() {
                    if closed && !self.names(&objects, name)? {
                        return Some(false);
                    }
                    let mut inner: Vec<&'a Json> = Vec::new();
                    for node in &flat {
                        inner.extend(self.member_schemas(node, name, value, members)?);
                    }
                    answers.push(self.declared(&inner, value, false, strict, depth + 1));
                }
                self.all(answers)
            }
            Json::Array(items) => {
                let mut answers = Vec::new();
                let mut unevaluated: Vec<(Looked, &'a Json)> = Vec::new();
                for node in flat.iter().filter(|_| self.draft() >= Draft::Y2019) {
                    if let Some(schema) = node
                        .as_object()
                        .and_then(|object| object.get("unevaluatedItems"))
                    {
                        unevaluated.push((self.looked(node, value, true, depth)?, schema));
                    }
                }
                for (index, item) in items.iter().enumerate() {
                    let mut inner: Vec<&'a Json> = objects
                        .iter()
                        .filter_map(|object| item_of(object, self.draft(), index))
                        .collect();
                    for schema in objects.iter().filter_map(|object| object.get("contains")) {
                        if self.draft() > Draft::Four && self.node(schema, item, depth + 1)? {
                            inner.push(schema);
                        }
                    }
                    for (looked, schema) in &unevaluated {
                        if looked.items.contains(&index) {
                            continue;
                        }
                        // What a disputed schema declares inside an item is unknown.
                        if looked.disputed && matches!(item, Json::Array(_) | Json::Object(_)) {
                            return None;
                        }
                        inner.push(schema);
                    }
                    answers.push(self.declared(&inner, item, false, strict, depth + 1));
                }
                self.all(answers)
            }
            _ => Some(true),
        }
    }

    /// Whether one of the schemas names the member.
    fn names(&self, objects: &[&'a Object], name: &Text) -> Option<bool> {
        any(objects.iter().map(|object| {
            if self.references.requires(object, name) {
                return Some(true);
            }
            named_by(self.references, object, name, self.patterns)
        }))
    }

    /// The schemas that one schema has for a member.
    fn member_schemas(
        &self,
        node: &'a Json,
        name: &Text,
        _value: &Json,
        members: &Object,
    ) -> Option<Vec<&'a Json>> {
        let Some(object) = node.as_object() else {
            return Some(Vec::new());
        };
        if self.draft() <= Draft::Seven && object.contains("$ref") {
            return Some(Vec::new());
        }
        let mut found = own_schemas(self.references, object, name, self.patterns)?;
        if found.is_empty() {
            found.extend(object.get("additionalProperties"));
            if let Some(schema) = object
                .get("unevaluatedProperties")
                .filter(|_| self.draft() >= Draft::Y2019)
            {
                let looked = self.looked(node, &Json::Object(members.clone()), true, 0)?;
                if !looked.names.contains(name) {
                    found.push(schema);
                }
            }
        }
        Some(found)
    }
}

/// The schemas of `properties` and `patternProperties` for a member.
pub(crate) fn own_schemas<'a>(
    references: &References<'a>,
    object: &'a Object,
    name: &Text,
    patterns: &Patterns,
) -> Option<Vec<&'a Json>> {
    let mut found = Vec::new();
    found.extend(references.property(object, name));
    if let Some(Json::Object(by_pattern)) = object.get("patternProperties") {
        for (pattern, schema) in by_pattern.iter() {
            if patterns.matches(pattern.as_str()?, name.as_str()?)? {
                found.push(schema);
            }
        }
    }
    Some(found)
}

/// Whether schemas that apply to one object name its members, so that others are not sent.
pub(crate) fn closes(objects: &[&Object], root: bool) -> bool {
    objects.iter().any(|object| match object.get("properties") {
        Some(Json::Object(properties)) => root || !properties.is_empty(),
        _ => false,
    })
}

/// Whether one of the schemas invites members that none of them names.
pub(crate) fn opens(objects: &[&Object], draft: Draft, strict: bool) -> bool {
    objects.iter().any(|object| {
        let further = match object.get("additionalProperties") {
            Some(Json::Bool(true)) => !strict,
            Some(Json::Object(schema)) => !strict || !schema.is_empty(),
            _ => false,
        };
        let unevaluated = draft >= Draft::Y2019
            && matches!(
                object.get("unevaluatedProperties"),
                Some(Json::Bool(true) | Json::Object(_))
            );
        further || unevaluated
    })
}

fn is_literal(value: &Json) -> bool {
    matches!(value, Json::Number(number) if number.is_integer_literal())
}

/// Whether `properties` or `patternProperties` of one schema has a name.
pub(crate) fn named_by<'a>(
    references: &References<'a>,
    object: &'a Object,
    name: &Text,
    patterns: &Patterns,
) -> Option<bool> {
    if references.property(object, name).is_some() {
        return Some(true);
    }
    let Some(Json::Object(by_pattern)) = object.get("patternProperties") else {
        return Some(false);
    };
    any(by_pattern
        .iter()
        .map(|(pattern, _)| patterns.matches(pattern.as_str()?, name.as_str()?)))
}

pub(crate) fn has_member(object: &Object, name: &Text) -> bool {
    member(object, name).is_some()
}

fn dependent_names(argument: &Json, members: &Object) -> Option<bool> {
    let present = |names: &[Json]| {
        let names: Vec<&Text> = names.iter().filter_map(Json::as_text).collect();
        has_all(members, names.into_iter())
    };
    Some(
        argument
            .as_object()?
            .iter()
            .filter(|(name, _)| has_member(members, name))
            .all(|(_, names)| match names {
                Json::Array(names) => present(names),
                Json::String(name) => has_member(members, name),
                _ => true,
            }),
    )
}

/// The schemas of the first items.
pub(crate) fn leading(node: &Object, draft: Draft) -> &[Json] {
    let keyword = if draft == Draft::Y2020 {
        "prefixItems"
    } else {
        "items"
    };
    node.get(keyword).and_then(Json::as_array).unwrap_or(&[])
}

/// The schema of one item in one node.
pub fn item_of(node: &Object, draft: Draft, index: usize) -> Option<&Json> {
    if let Some(schema) = leading(node, draft).get(index) {
        return Some(schema);
    }
    match node.get("items") {
        Some(Json::Array(_)) if draft == Draft::Y2020 => None,
        Some(Json::Array(_)) => node.get("additionalItems"),
        schema => schema,
    }
}

/// The bounds of one node: the number, and whether it is exclusive.
pub fn bounds_of(node: &Object, lower: bool, draft: Draft) -> Vec<(&exact_json::Number, bool)> {
    let (inclusive, exclusive) = if lower {
        ("minimum", "exclusiveMinimum")
    } else {
        ("maximum", "exclusiveMaximum")
    };
    // In draft 4 a boolean says whether `minimum` is exclusive.
    let flagged = draft == Draft::Four && node.get(exclusive) == Some(&Json::Bool(true));
    let mut found = Vec::new();
    if let Some(Json::Number(number)) = node.get(inclusive) {
        found.push((number, flagged));
    }
    if let Some(Json::Number(number)) = node.get(exclusive).filter(|_| draft > Draft::Four) {
        found.push((number, true));
    }
    found
}

fn number_keyword(
    node: &Object,
    keyword: &str,
    argument: &Json,
    exact: Option<Exact>,
    number: &exact_json::Number,
    draft: Draft,
) -> Option<bool> {
    let lower = match keyword {
        "minimum" | "exclusiveMinimum" => true,
        "maximum" | "exclusiveMaximum" => false,
        "multipleOf" => {
            let Json::Number(of) = argument else {
                return None;
            };
            return exact?.is_multiple_of(Exact::of(of)?);
        }
        _ => return Some(true),
    };
    Some(
        bounds_of(node, lower, draft)
            .into_iter()
            .all(|(bound, exclusive)| {
                let order = number.decimal().cmp(&bound.decimal());
                if exclusive && order.is_eq() {
                    false
                } else if lower {
                    order.is_ge()
                } else {
                    order.is_le()
                }
            }),
    )
}

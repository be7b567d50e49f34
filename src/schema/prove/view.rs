//! What several schemas say together about one value.
//!
//! A value is rarely under one schema: `$ref` and `allOf` add others. A [`View`] is the list of all of them,
//! flattened, and answers the questions that a proof or a sample asks: which types, which bounds, which members.

use std::collections::BTreeSet;

use super::super::document::{Document, Draft, Problem};
use super::super::value::{as_count, as_i64};
use super::evaluate::Patterns;
use crate::canonical::{Decimal, Json, Object, Text};

/// A kind of value. Whole numbers and others are apart, because `integer` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Integer,
    Fraction,
    String,
    Array,
    Object,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::String,
        Self::Integer,
        Self::Fraction,
        Self::Boolean,
        Self::Array,
        Self::Object,
        Self::Null,
    ];

    /// The kind of a value.
    pub(crate) fn of(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Boolean,
            Json::Number(number) if number.decimal().is_integer() => Self::Integer,
            Json::Number(_) => Self::Fraction,
            Json::String(_) => Self::String,
            Json::Array(_) => Self::Array,
            Json::Object(_) => Self::Object,
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const ANY: Self = Self(0x7f);

    pub(crate) fn only(kind: Kind) -> Self {
        Self(kind.bit())
    }

    pub(crate) fn has(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.has(*kind))
    }

    fn is_well_formed(value: &Json) -> bool {
        match value {
            Json::Array(names) => !names.is_empty() && names.iter().all(Self::is_well_formed),
            _ => Self::of_keyword(value).0 != 0,
        }
    }

    /// What a `type` keyword allows.
    pub(crate) fn of_keyword(value: &Json) -> Self {
        match value {
            Json::Array(names) => Self(
                names
                    .iter()
                    .fold(0, |set, name| set | Self::of_keyword(name).0),
            ),
            _ => Self(match value.as_str() {
                Some("null") => Kind::Null.bit(),
                Some("boolean") => Kind::Boolean.bit(),
                Some("integer") => Kind::Integer.bit(),
                Some("number") => Kind::Integer.bit() | Kind::Fraction.bit(),
                Some("string") => Kind::String.bit(),
                Some("array") => Kind::Array.bit(),
                Some("object") => Kind::Object.bit(),
                _ => 0,
            }),
        }
    }
}

/// One schema of a view, and which of its unions a case split has already taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) node: &'a Object,
    split_any: bool,
    split_one: bool,
}

impl<'a> Part<'a> {
    /// A union that is not yet taken apart.
    fn union(&self) -> Option<(&'static str, &'a [Json])> {
        let list = |keyword, done: bool| {
            (!done)
                .then(|| self.node.get(keyword).and_then(Json::as_array))
                .flatten()
                .filter(|branches| !branches.is_empty())
                .map(|branches| (keyword, branches))
        };
        list("anyOf", self.split_any).or_else(|| list("oneOf", self.split_one))
    }
}

/// A limit of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) value: Decimal,
    pub(crate) number: Json,
    pub(crate) exclusive: bool,
}

/// One branch of a union: the keyword, the index, and what holds of a value in it.
pub(crate) type Branch<'a> = (&'static str, usize, View<'a>);

/// Everything that holds of one value.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    /// A keyword that the draft does not know says nothing.
    pub(crate) draft: Draft,
    pub(crate) parts: Vec<Part<'a>>,
    /// `false` is among the schemas.
    pub(crate) never: bool,
}

const MAX_CHAIN: usize = 64;

impl<'a> View<'a> {
    /// The view of one node.
    pub(crate) fn of(document: &'a Document, node: &'a Json) -> Result<Self, Problem> {
        Self::of_all(document, &[node])
    }

    /// The view of several nodes that apply together.
    pub(crate) fn of_all(document: &'a Document, nodes: &[&'a Json]) -> Result<Self, Problem> {
        let mut view = Self {
            draft: document.draft,
            parts: Vec::new(),
            never: false,
        };
        for node in nodes {
            view.add(document, node, 0)?;
        }
        Ok(view)
    }

    fn add(&mut self, document: &'a Document, node: &'a Json, chain: usize) -> Result<(), Problem> {
        if chain > MAX_CHAIN || self.parts.len() > 512 {
            return Err(Problem::Circular);
        }
        let object = match node {
            Json::Bool(true) => return Ok(()),
            Json::Bool(false) => {
                self.never = true;
                return Ok(());
            }
            Json::Object(object) => object,
            other => return Err(Problem::Other(format!("{} is not a schema", other.kind()))),
        };
        if !std::ptr::eq(node, &document.root)
            && let Some(id) = object.get("$id").and_then(Json::as_str)
            && !id.starts_with('#')
        {
            return Err(Problem::Embedded(id.to_owned()));
        }
        if let Some(reference) = document.reference(object) {
            let (target, _) = document.resolve(reference)?;
            self.add(document, target, chain + 1)?;
            if document.reference_stands_alone() {
                return Ok(());
            }
        }
        if self
            .parts
            .iter()
            .any(|part| std::ptr::eq(part.node, object))
        {
            return Ok(());
        }
        self.parts.push(Part {
            node: object,
            split_any: false,
            split_one: false,
        });
        if let Some(Json::Array(all)) = object.get("allOf") {
            for each in all {
                self.add(document, each, chain + 1)?;
            }
        }
        Ok(())
    }

    /// Takes the first union apart: one view a branch, with the keyword and the branch's index.
    pub(crate) fn split(&self, document: &'a Document) -> Option<Result<Vec<Branch<'a>>, Problem>> {
        let (at, (keyword, branches)) = self
            .parts
            .iter()
            .enumerate()
            .find_map(|(at, part)| part.union().map(|union| (at, union)))?;
        let mut views = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let mut view = self.clone();
            match keyword {
                "anyOf" => view.parts[at].split_any = true,
                _ => view.parts[at].split_one = true,
            }
            if let Err(problem) = view.add(document, branch, 0) {
                return Some(Err(problem));
            }
            views.push((keyword, index, view));
        }
        Some(Ok(views))
    }

    /// What the view is known by while a proof assumes something about it.
    pub(crate) fn identity(&self) -> Vec<(usize, bool, bool)> {
        let mut identity: Vec<_> = self
            .parts
            .iter()
            .map(|part| {
                (
                    std::ptr::from_ref(part.node) as usize,
                    part.split_any,
                    part.split_one,
                )
            })
            .collect();
        identity.sort_unstable();
        identity
    }

    /// Every value of a keyword among the parts.
    pub(crate) fn all(&self, keyword: &str) -> impl Iterator<Item = &'a Json> {
        self.parts
            .iter()
            .filter_map(move |part| part.node.get(keyword))
    }

    /// Which kinds of value are possible.
    pub(crate) fn kinds(&self) -> Kinds {
        if self.never {
            return Kinds(0);
        }
        // A word that is no type says nothing here; the validator refuses the schema as a whole.
        self.all("type")
            .filter(|value| Kinds::is_well_formed(value))
            .fold(Kinds::ANY, |kinds, value| {
                kinds.and(Kinds::of_keyword(value))
            })
    }

    /// The values, where only finitely many are possible. A superset: the caller filters.
    pub(crate) fn finite(&self) -> Option<Vec<Json>> {
        if self.never {
            return Some(Vec::new());
        }
        if self.draft > Draft::Four
            && let Some(value) = self.all("const").next()
        {
            return Some(vec![value.clone()]);
        }
        let shortest = self
            .all("enum")
            .filter_map(Json::as_array)
            .min_by_key(|values| values.len());
        if let Some(values) = shortest {
            return Some(values.to_vec());
        }
        let mut values = Vec::new();
        for kind in self.kinds().iter() {
            match kind {
                Kind::Null => values.push(Json::Null),
                Kind::Boolean => values.extend([Json::Bool(true), Json::Bool(false)]),
                _ => return None,
            }
        }
        Some(values)
    }

    /// The tightest limit from below (`lower`) or above.
    pub(crate) fn bound(&self, lower: bool) -> Option<Bound> {
        self.parts
            .iter()
            .flat_map(|part| bounds_of(part.node, lower))
            .reduce(|one, other| {
                let tighter = if lower {
                    (&other.value, other.exclusive) > (&one.value, one.exclusive)
                } else {
                    other.value < one.value || (other.value == one.value && other.exclusive)
                };
                if tighter { other } else { one }
            })
    }

    /// The largest of a lower count, the smallest of an upper one.
    pub(crate) fn count(&self, keyword: &str) -> Option<u64> {
        let counts = self.all(keyword).filter_map(as_count);
        if keyword.starts_with("min") {
            counts.max()
        } else {
            counts.min()
        }
    }

    /// Names that every value must have.
    pub(crate) fn required(&self) -> BTreeSet<&'a Text> {
        self.all("required")
            .filter_map(Json::as_array)
            .flatten()
            .filter_map(Json::as_text)
            .collect()
    }

    /// Names that the parts declare.
    pub(crate) fn names(&self) -> BTreeSet<&'a Text> {
        self.all("properties")
            .filter_map(Json::as_object)
            .flat_map(|properties| properties.iter().map(|(name, _)| name))
            .collect()
    }

    /// The schemas that hold of the member `name`. Where a pattern cannot be decided, fewer than there are.
    pub(crate) fn member(&self, name: &Text, patterns: &Patterns) -> Vec<&'a Json> {
        let mut nodes = Vec::new();
        for part in &self.parts {
            let declared = part.node.get("properties").and_then(|it| {
                let properties = it.as_object()?;
                properties
                    .iter()
                    .filter(|(member, _)| *member == name)
                    .map(|(_, value)| value)
                    .last()
            });
            let mut known = declared.is_some();
            nodes.extend(declared);
            if let Some(Json::Object(by_pattern)) = part.node.get("patternProperties") {
                for (pattern, schema) in by_pattern.iter() {
                    match name
                        .as_str()
                        .and_then(|name| patterns.matches(pattern.as_str()?, name))
                    {
                        Some(true) => {
                            known = true;
                            nodes.push(schema);
                        }
                        Some(false) => {}
                        // It may match, and then the schema for the rest does not apply.
                        None => known = true,
                    }
                }
            }
            if !known {
                nodes.extend(part.node.get("additionalProperties"));
                nodes.extend(lone_unevaluated(
                    part.node,
                    self.draft,
                    "unevaluatedProperties",
                ));
            }
        }
        nodes
    }

    /// The schemas that hold of every member that nothing names. `None` where that is not one list.
    pub(crate) fn rest(&self) -> Vec<&'a Json> {
        let mut nodes = Vec::new();
        for part in &self.parts {
            let further = part
                .node
                .get("additionalProperties")
                .or_else(|| lone_unevaluated(part.node, self.draft, "unevaluatedProperties"));
            match part.node.get("patternProperties").and_then(Json::as_object) {
                None => nodes.extend(further),
                Some(patterns) if patterns.is_empty() => nodes.extend(further),
                // With the door shut to all others, an unnamed member is under the only pattern.
                Some(patterns) if patterns.len() == 1 && further == Some(&Json::Bool(false)) => {
                    nodes.extend(patterns.iter().map(|(_, schema)| schema));
                }
                Some(_) => {}
            }
        }
        nodes
    }

    /// How many leading items have schemas of their own.
    pub(crate) fn leading_items(&self) -> usize {
        self.parts
            .iter()
            .map(|part| leading(part.node, self.draft).len())
            .max()
            .unwrap_or(0)
    }

    /// The schemas that hold of the item at an index; of all items behind the leading ones for a large index.
    pub(crate) fn item(&self, index: usize) -> Vec<&'a Json> {
        self.parts
            .iter()
            .filter_map(|part| item_of(part.node, self.draft, index))
            .collect()
    }
}

fn lone_unevaluated<'a>(node: &'a Object, draft: Draft, keyword: &str) -> Option<&'a Json> {
    let composed = [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "not",
        "dependentSchemas",
        "contains",
        "additionalProperties",
    ];
    node.get(keyword)
        .filter(|_| draft >= Draft::Y2019)
        .filter(|_| composed.iter().all(|other| !node.contains(other)))
}

fn leading(node: &Object, draft: Draft) -> &[Json] {
    let keyword = if draft == Draft::Y2020 {
        "prefixItems"
    } else {
        "items"
    };
    node.get(keyword).and_then(Json::as_array).unwrap_or(&[])
}

/// The schema of one item in one node.
pub(crate) fn item_of(node: &Object, draft: Draft, index: usize) -> Option<&Json> {
    let own = leading(node, draft);
    if let Some(schema) = own.get(index) {
        return Some(schema);
    }
    match node.get("items") {
        Some(Json::Array(_)) => node.get("additionalItems"),
        Some(schema) => Some(schema),
        None => lone_unevaluated(node, draft, "unevaluatedItems"),
    }
}

fn bounds_of(node: &Object, lower: bool) -> Vec<Bound> {
    let (inclusive, exclusive) = if lower {
        ("minimum", "exclusiveMinimum")
    } else {
        ("maximum", "exclusiveMaximum")
    };
    let bound = |json: &Json, exclusive| match json {
        Json::Number(number) => Some(Bound {
            value: number.decimal(),
            number: json.clone(),
            exclusive,
        }),
        _ => None,
    };
    // Draft 4 says with a boolean whether `minimum` itself is excluded.
    let flagged = matches!(node.get(exclusive), Some(Json::Bool(true)));
    let mut found = Vec::new();
    found.extend(node.get(inclusive).and_then(|json| bound(json, flagged)));
    found.extend(node.get(exclusive).and_then(|json| bound(json, true)));
    found
}

/// The bounds of one node, for the walker.
pub(crate) fn bound_of(node: &Object, lower: bool) -> Option<Bound> {
    View {
        draft: Draft::Y2020,
        parts: vec![Part {
            node,
            split_any: true,
            split_one: true,
        }],
        never: false,
    }
    .bound(lower)
}

impl Bound {
    /// The bound as the first whole number inside it.
    pub(crate) fn whole(&self, lower: bool) -> Option<i64> {
        let Json::Number(number) = &self.number else {
            return None;
        };
        match as_i64(number) {
            Some(value) if !self.exclusive => Some(value),
            Some(value) if lower => value.checked_add(1),
            Some(value) => value.checked_sub(1),
            None => {
                let double = number.to_f64();
                if double.abs() > 4_503_599_627_370_496.0 {
                    return None;
                }
                let inside = if lower { double.ceil() } else { double.floor() };
                #[allow(clippy::cast_possible_truncation)]
                Some(inside as i64)
            }
        }
    }

    /// Whether everything inside `self` is inside `other`, for values of `kind`.
    pub(crate) fn within(&self, other: &Self, lower: bool, kind: Kind) -> bool {
        if kind == Kind::Integer
            && let (Some(mine), Some(theirs)) = (self.whole(lower), other.whole(lower))
        {
            return if lower {
                mine >= theirs
            } else {
                mine <= theirs
            };
        }
        let beyond = if lower {
            self.value > other.value
        } else {
            self.value < other.value
        };
        beyond || (self.value == other.value && (self.exclusive || !other.exclusive))
    }
}

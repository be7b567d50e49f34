//! Where two schemas differ: located findings, not yet judged.
//!
//! The walker goes through both schemas in parallel. It follows references, matches the branches of
//! unions by meaning, and reports for each difference in which direction it changes what is
//! accepted. Whether that breaks anything is decided by `judge`, with the solver. Every difference
//! yields a finding; an unknown keyword yields one as well.

mod annotations;
mod keywords;
mod limits;
mod object;
mod rename;
mod union;

pub(super) use object::named_exposure;

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Family, Side};
use crate::canonical::{Json, Object, Text, pointer};
use crate::judgement::{Exposure, Level};
use crate::schema::phrases::{PlaceName, quoted_names, shortened};
use json_schema_subsume::Reason;
use json_schema_subsume::References;
use json_schema_subsume::document::{Document, Draft};
use json_schema_subsume::keywords::{Holds, Topic, holds, topic};
use json_schema_subsume::value::same;

/// How a difference changes the set of accepted values, from old to new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Neutral,
    /// Fewer values are accepted.
    Narrows,
    /// More values are accepted.
    Widens,
    /// Both, or unknown.
    Either,
}

#[derive(Clone, Debug)]
pub(crate) struct SchemaFinding {
    pub(crate) family: Family,
    pub(crate) pointer: String,
    /// The same place in the new schema, if it differs.
    pub(crate) new_pointer: String,
    pub(crate) old: Option<Json>,
    pub(crate) new: Option<Json>,
    pub(crate) effect: Effect,
    /// The level if no call is at stake, or if none is shown to be lost.
    pub(crate) level_if_safe: Level,
    pub(crate) exposure: Exposure,
    pub(crate) message: String,
    /// What to say instead if no call is lost.
    pub(crate) message_if_safe: Option<String>,
    /// The schemas around the finding, on both sides.
    pub(crate) site: (String, String),
    /// The same schemas where they are written, if a reference leads to one of them.
    pub(crate) written: Option<(String, String)>,
    /// The branch that the finding is about: `anyOf` or `oneOf` of the schema around it, and its index.
    pub(crate) branch: Option<(&'static str, usize)>,
    /// The member that the finding is about, if any.
    pub(crate) member: Option<Text>,
    /// The name on the other side, if the member was renamed.
    pub(crate) partner: Option<Text>,
    /// Why nothing can be decided here, if that is known at once.
    pub(crate) problem: Option<Reason>,
}

/// The walker's position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) old: String,
    pub(crate) new: String,
    /// The name of the place for a reader: `filters.city`.
    pub(crate) name: String,
    /// Inside a keyword that reverses directions.
    pub(crate) under_negation: bool,
    /// Where this place is written, if a reference led here.
    pub(crate) written: Option<(String, String)>,
}

impl Place {
    pub(crate) fn below(&self, keyword: &str) -> Self {
        self.clone().token(keyword)
    }

    pub(crate) fn token(mut self, token: &str) -> Self {
        pointer::push(&mut self.old, token);
        pointer::push(&mut self.new, token);
        self.written = None;
        self
    }

    pub(crate) fn named(mut self, name: &str) -> Self {
        if self.name.is_empty() || name == "[]" {
            self.name.push_str(name);
        } else {
            self.name = format!("{}.{name}", self.name);
        }
        self
    }

    pub(crate) fn negated(mut self) -> Self {
        self.under_negation = true;
        self
    }
}

/// Beyond this number of findings in one schema none is proved.
const MAX_FINDINGS: usize = 400;
const MAX_DEPTH: usize = 100;

pub(crate) struct Walker<'a> {
    pub(crate) old: &'a Document,
    pub(crate) new: &'a Document,
    /// The targets of the references of both documents.
    pub(crate) references: (Rc<References<'a>>, Rc<References<'a>>),
    pub(crate) side: Side,
    pub(crate) findings: Vec<SchemaFinding>,
    pub(crate) visited: BTreeSet<(String, String)>,
    visited_old: BTreeSet<String>,
    visited_new: BTreeSet<String>,
    depth: usize,
    /// Something differs in spelling only, somewhere.
    pub(crate) spelling: bool,
    pub(crate) gave_up: bool,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(old: &'a Document, new: &'a Document, side: Side) -> Self {
        Self {
            old,
            new,
            references: (Rc::new(References::new(old)), Rc::new(References::new(new))),
            side,
            findings: Vec::new(),
            visited: BTreeSet::new(),
            visited_old: BTreeSet::new(),
            visited_new: BTreeSet::new(),
            depth: 0,
            spelling: false,
            gave_up: false,
        }
    }

    pub(crate) fn run(&mut self) {
        if self.emptied() {
            return;
        }
        let (old, new) = (self.old, self.new);
        self.node(&old.root, &new.root, &Place::default());
        self.definitions();
    }

    /// An input schema that lost all its content: what a generator leaves when it fails silently.
    fn emptied(&mut self) -> bool {
        let says = |document: &Document| {
            document.root.as_object().is_some_and(|root| {
                root.get("properties")
                    .and_then(Json::as_object)
                    .is_some_and(|properties| !properties.is_empty())
                    || ["$ref", "allOf", "anyOf", "oneOf"]
                        .iter()
                        .any(|keyword| root.contains(keyword))
            })
        };
        let silent = self.new.root.as_object().is_some_and(|root| {
            root.iter()
                .all(|(keyword, _)| keyword.as_str().is_none_or(is_annotation))
        });
        if !says(self.old) || !silent {
            return false;
        }
        let names = match self.old.root.get("properties") {
            Some(Json::Object(properties)) => properties.len(),
            _ => 0,
        };
        let mut finding = self.finding(Family::SchemaEmptied, &Place::default());
        finding.message = format!(
            "the schema lost its type and all {names} of its properties; a schema generator that fails \
             silently leaves this behind"
        );
        finding.old = Some(self.old.root.clone());
        finding.new = Some(self.new.root.clone());
        finding.effect = Effect::Widens;
        finding.level_if_safe = Level::Risky;
        finding.exposure = Exposure::Medium;
        self.findings.push(finding);
        true
    }

    /// A finding at a place, for the caller to fill in.
    pub(crate) fn finding(&self, family: Family, place: &Place) -> SchemaFinding {
        SchemaFinding {
            family,
            pointer: place.old.clone(),
            new_pointer: place.new.clone(),
            old: None,
            new: None,
            effect: Effect::Neutral,
            level_if_safe: Level::Cosmetic,
            exposure: Exposure::None,
            message: String::new(),
            message_if_safe: None,
            site: (place.old.clone(), place.new.clone()),
            written: None,
            branch: None,
            member: None,
            partner: None,
            problem: None,
        }
    }

    /// Records a finding; directions inside a reversing keyword are unknown.
    pub(crate) fn push(&mut self, mut finding: SchemaFinding, place: &Place) {
        if place.under_negation && finding.effect != Effect::Neutral {
            finding.effect = Effect::Either;
        }
        finding.site = (place.old.clone(), place.new.clone());
        finding.written.clone_from(&place.written);
        if self.findings.len() >= MAX_FINDINGS {
            self.gave_up = true;
            return;
        }
        self.findings.push(finding);
    }

    /// A place, for the sentences about it.
    pub(crate) fn at<'p>(&self, place: &'p Place) -> PlaceName<'p> {
        PlaceName {
            side: self.side,
            name: &place.name,
        }
    }

    /// Compares two nodes.
    pub(crate) fn node(&mut self, old: &Json, new: &Json, place: &Place) {
        if self.depth > MAX_DEPTH {
            self.gave_up = true;
            return;
        }
        let mentions = mentions_reference(old) || mentions_reference(new);
        if !mentions {
            if old == new {
                return;
            }
            if same(old, new) {
                self.spelling = true;
                return;
            }
        }
        self.depth += 1;
        self.nodes(old, new, place);
        self.depth -= 1;
    }

    fn nodes(&mut self, old: &Json, new: &Json, place: &Place) {
        let followed_old = follow(&self.references.0, old, &place.old);
        let followed_new = follow(&self.references.1, new, &place.new);
        let (from, to) = match (followed_old, followed_new) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(problem), _) | (_, Err(problem)) => {
                if old != new {
                    let mut finding = self.finding(Family::CompositionChanged, place);
                    finding.message = format!("{}: changed: {problem}", self.at(place));
                    finding.old = Some(old.clone());
                    finding.new = Some(new.clone());
                    finding.effect = Effect::Either;
                    finding.level_if_safe = Level::Additive;
                    finding.problem = Some(problem);
                    self.push(finding, place);
                }
                return;
            }
        };
        let mut inner = place.clone();
        inner.old.clone_from(&from.pointer);
        inner.new.clone_from(&to.pointer);
        if from.via_reference || to.via_reference {
            inner.written = Some((place.old.clone(), place.new.clone()));
        }
        let before = self.findings.len();
        if let (Some(old), Some(new)) = (old.as_object(), new.as_object()) {
            let target = |followed: &Followed<'_>| followed.node.as_object().cloned();
            let fallback = (target(&from), target(&to));
            self.annotations(
                old,
                new,
                fallback.0.as_ref().filter(|_| from.via_reference),
                fallback.1.as_ref().filter(|_| to.via_reference),
                place,
            );
        }
        let via = from.via_reference || to.via_reference;
        if via {
            self.visited_old.insert(from.pointer.clone());
            self.visited_new.insert(to.pointer.clone());
        }
        let key = (from.pointer.clone(), to.pointer.clone());
        let first_visit = !via || self.visited.insert(key);
        let after_annotations = self.findings.len();
        // A spelling difference below is an explanation too.
        let spelling_elsewhere = std::mem::take(&mut self.spelling);
        if first_visit {
            self.shapes(from.node, to.node, &inner);
        }
        let restructured = from.via_reference != to.via_reference
            || (via && reference_text(old) != reference_text(new));
        if restructured {
            let mut finding = self.finding(Family::RefRestructured, place);
            let followed = (from.via_reference, to.via_reference);
            let what = match (followed, reference_text(old), reference_text(new)) {
                ((true, false), ..) => "$ref inlined".to_owned(),
                ((false, true), ..) => "schema moved behind a $ref".to_owned(),
                (_, Some(old), Some(new)) => {
                    format!("$ref `{}` → `{}`", shortened(old), shortened(new))
                }
                _ => "$ref leads to another definition".to_owned(),
            };
            finding.message = format!("{}: {what}", self.at(place));
            finding.old = Some(old.clone());
            finding.new = Some(new.clone());
            self.push(finding, place);
        } else if via
            && self.findings.len() == before
            && !same(&without_annotations(old), &without_annotations(new))
        {
            // Ignored in this draft. If none is named, the other reading may not ignore it, and the verdict is about this.
            let mut finding = self.finding(Family::RefRestructured, place);
            finding.message = format!(
                "{}: keywords beside $ref changed (this draft ignores them)",
                self.at(place)
            );
            finding.old = Some(old.clone());
            finding.new = Some(new.clone());
            self.push(finding, place);
        } else if via && self.findings.len() == before && !same(old, new) {
            self.annotations_inside(old, new, place, 0);
        } else if !via
            && !self.spelling
            && self.findings.len() == before
            && after_annotations == before
            && !same(old, new)
        {
            // The branches above explain every keyword, so this is the safety net.
            self.restructured_or_unclassified(old, new, place);
        }
        self.spelling |= spelling_elsewhere;
    }

    /// Something differs and no rule reported it.
    fn restructured_or_unclassified(&mut self, old: &Json, new: &Json, place: &Place) {
        // The difference may be in a table of definitions, which is compared separately, or in a
        // definition that was compared where it is used.
        let bare = |node: &Json| {
            let mut bare = without_annotations(node);
            if let Json::Object(object) = &mut bare {
                object.retain(|keyword, _| keyword != "$defs" && keyword != "definitions");
            }
            bare
        };
        if same(&bare(old), &bare(new)) {
            let before = self.findings.len();
            self.annotations_inside(old, new, place, 0);
            // The tables of the root are compared separately; this one is at another place, and what
            // refers to it was compared there.
            if self.findings.len() == before && !place.old.is_empty() {
                let mut finding = self.finding(Family::DefinitionsChanged, place);
                finding.message = format!(
                    "{}: definitions changed; what that does to calls is reported where they are used",
                    self.at(place)
                );
                finding.old = Some(old.clone());
                finding.new = Some(new.clone());
                self.push(finding, place);
            }
            return;
        }
        // `true` and a schema that demands nothing are the same.
        let demands_nothing = |node: &Json| match bare(node) {
            Json::Bool(accepts) => accepts,
            Json::Object(object) => object.is_empty(),
            _ => false,
        };
        if demands_nothing(old) && demands_nothing(new) {
            let mut finding = self.finding(Family::EquivalentRestructured, place);
            finding.message = format!(
                "{}: schema written differently (accepts the same values)",
                self.at(place)
            );
            finding.old = Some(old.clone());
            finding.new = Some(new.clone());
            finding.effect = Effect::Either;
            self.push(finding, place);
            return;
        }
        let mut finding = self.finding(Family::SchemaUnclassified, place);
        finding.message = format!(
            "{}: changed in a way that no rule describes",
            self.at(place)
        );
        finding.old = Some(old.clone());
        finding.new = Some(new.clone());
        finding.effect = Effect::Either;
        finding.level_if_safe = Level::Additive;
        self.push(finding, place);
    }

    /// Definitions that no reference led to.
    fn definitions(&mut self) {
        let table = |document: &'a Document, keyword: &str| {
            document
                .root
                .get(keyword)
                .and_then(Json::as_object)
                .map(Object::by_name)
                .unwrap_or_default()
        };
        for keyword in ["$defs", "definitions"] {
            let (old, new) = (table(self.old, keyword), table(self.new, keyword));
            let names: BTreeSet<&Text> = old.keys().chain(new.keys()).copied().collect();
            let mut moved = Vec::new();
            for name in names {
                let at = pointer::join(&format!("/{keyword}"), name.to_string_lossy());
                let differs = match (old.get(name), new.get(name)) {
                    (Some(old), Some(new)) => {
                        let compared =
                            self.visited_old.contains(&at) && self.visited_new.contains(&at);
                        !compared && old != new
                    }
                    _ => true,
                };
                if differs {
                    moved.push(name.to_string_lossy().to_owned());
                }
            }
            if !moved.is_empty() {
                let place = Place::default().token(keyword);
                let mut finding = self.finding(Family::DefinitionsChanged, &place);
                finding.message = format!(
                    "{keyword} changed ({}); what that does to calls is reported where a definition is used",
                    quoted_names(&moved)
                );
                finding.old = self.old.root.get(keyword).cloned();
                finding.new = self.new.root.get(keyword).cloned();
                self.push(finding, &place);
            }
        }
    }
}

/// A node behind its reference.
struct Followed<'a> {
    node: &'a Json,
    pointer: String,
    via_reference: bool,
}

/// Follows references with only annotations next to them.
fn follow<'a>(
    references: &References<'a>,
    node: &'a Json,
    at: &str,
) -> Result<Followed<'a>, Reason> {
    let mut followed = Followed {
        node,
        pointer: at.to_owned(),
        via_reference: false,
    };
    for _ in 0..32 {
        let Some(object) = followed.node.as_object() else {
            return Ok(followed);
        };
        let mut targets = references.targets_as_written(followed.node)?;
        let Some((target, target_at)) = targets.pop() else {
            // Generators wrap references in an `allOf` with a single schema.
            let Some(Json::Array(wrapped)) = object.get("allOf") else {
                return Ok(followed);
            };
            let only = wrapped.len() == 1
                && object.iter().all(|(keyword, _)| {
                    keyword == "allOf"
                        || keyword.as_str().is_some_and(|keyword| {
                            is_annotation(keyword) || keyword.starts_with("x-")
                        })
                });
            if !only || followed.pointer.is_empty() {
                return Ok(followed);
            }
            followed = Followed {
                node: &wrapped[0],
                pointer: pointer::join(&pointer::join(&followed.pointer, "allOf"), "0"),
                via_reference: true,
            };
            continue;
        };
        let alone = references.draft() <= Draft::Seven
            || object.iter().all(|(keyword, _)| {
                keyword.as_str().is_some_and(|keyword| {
                    is_annotation(keyword) || keyword.starts_with('$') || keyword.starts_with("x-")
                })
            });
        if !alone || !targets.is_empty() {
            return Ok(followed);
        }
        followed = Followed {
            node: target,
            pointer: target_at,
            via_reference: true,
        };
    }
    Err(Reason::Circular)
}

fn reference_text(node: &Json) -> Option<&str> {
    ["$ref", "$dynamicRef", "$recursiveRef"]
        .iter()
        .find_map(|keyword| node.get(keyword).and_then(Json::as_str))
}

/// A schema without annotations, at every level.
pub(crate) fn without_annotations(node: &Json) -> Json {
    let Json::Object(object) = node else {
        return node.clone();
    };
    let inner = |keyword: &str, value: &Json| match (holds(keyword, value), value) {
        (Some(Holds::One), schema) => without_annotations(schema),
        (Some(Holds::List), Json::Array(list)) => {
            Json::Array(list.iter().map(without_annotations).collect())
        }
        (Some(Holds::Map), Json::Object(map)) => Json::Object(
            map.iter()
                .map(|(name, schema)| (name.clone(), without_annotations(schema)))
                .collect(),
        ),
        _ => value.clone(),
    };
    let mut bare = Object::new();
    for (name, value) in object.iter() {
        let Some(keyword) = name.as_str() else {
            bare.push(name.clone(), value.clone());
            continue;
        };
        let silent = (is_annotation(keyword)
            && !["$defs", "definitions", "nullable", "$id", "id"].contains(&keyword))
            || keyword.starts_with("x-");
        let empty = keyword == "required" && *value == Json::Array(Vec::new());
        if !silent && !empty {
            bare.push(name.clone(), inner(keyword, value));
        }
    }
    Json::Object(bare)
}

/// Whether there may be a reference anywhere inside. A member that only looks like one counts too.
pub(crate) fn mentions_reference(json: &Json) -> bool {
    mentions(json, &is_reference)
}

/// Whether a keyword is about a schema that is elsewhere.
pub(crate) fn is_reference(keyword: &str) -> bool {
    topic(keyword) == Some(Topic::Reference)
}

/// Whether such a name is that of a member anywhere inside.
pub(crate) fn mentions(json: &Json, wanted: &dyn Fn(&str) -> bool) -> bool {
    match json {
        Json::Object(object) => object
            .iter()
            .any(|(name, value)| name.as_str().is_some_and(wanted) || mentions(value, wanted)),
        Json::Array(items) => items.iter().any(|item| mentions(item, wanted)),
        _ => false,
    }
}

/// Whether a keyword has no effect on validity in any draft.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    matches!(
        topic(keyword),
        Some(Topic::Annotation | Topic::Definitions | Topic::Nullable)
    )
}

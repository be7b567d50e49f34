//! Alternatives: what a node accepts, whichever of the many spellings it uses.
//!
//! `anyOf`, `oneOf`, a list of types, `nullable: true` and a list of constants all mean "one of
//! these". As lists of alternatives they can be compared with each other, with branches matched by
//! meaning and not by index.

use std::borrow::Cow;

use super::{Effect, Place, Walker, follow, is_annotation, without_annotations};
use crate::canonical::{Json, Object, pointer};
use crate::judgement::{Exposure, Level};
use crate::schema::Family;
use crate::schema::phrases::{PlaceName, keyword_changed, shortened, shown};
use json_schema_subsume::References;
use json_schema_subsume::value::same;

#[derive(Clone, Debug)]
pub(super) struct Alternative<'a> {
    pub(super) node: Cow<'a, Json>,
    pub(super) pointer: String,
    /// The branch in the schema, for its annotations. `None` for a part of a type list.
    pub(super) branch: Option<&'a Json>,
    /// Which branch of the schema at hand it is, if it is one as a whole.
    pub(super) position: Option<(&'static str, usize)>,
}

#[derive(Debug, Default)]
pub(super) struct Alternatives<'a> {
    pub(super) list: Vec<Alternative<'a>>,
    pub(super) nullable: bool,
}

const MAX_DEPTH: usize = 6;
/// Larger unions are only compared as sets.
const MAX_ALTERNATIVES: usize = 64;

impl Walker<'_> {
    /// Compares two nodes by their alternatives.
    pub(super) fn shapes(&mut self, old: &Json, new: &Json, place: &Place) {
        if old == new && !super::mentions_reference(old) {
            return;
        }
        let (Some(old_object), Some(new_object)) = (as_schema(old), as_schema(new)) else {
            let refuses = |node: &Json| *node == Json::Bool(false);
            let (family, effect) = match (refuses(old), refuses(new)) {
                (false, true) => (Family::PropertyTypeNarrowed, Effect::Narrows),
                (true, false) => (Family::PropertyTypeWidened, Effect::Widens),
                _ => (Family::SchemaUnclassified, Effect::Either),
            };
            let mut finding = self.finding(family, place);
            finding.message = keyword_changed(self.at(place), "schema", Some(old), Some(new));
            finding.message += match (old, new) {
                (_, Json::Bool(false)) => "; no value is allowed now",
                (Json::Bool(false), _) => "; no value was allowed before",
                _ => "",
            };
            finding.old = Some(old.clone());
            finding.new = Some(new.clone());
            finding.effect = effect;
            finding.level_if_safe = Level::Additive;
            self.push(finding, place);
            return;
        };
        let is_union = |object: &Object| {
            object.contains("anyOf")
                || object.contains("oneOf")
                || matches!(object.get("type"), Some(Json::Array(_)))
                || object.get("nullable") == Some(&Json::Bool(true))
        };
        if !is_union(&old_object) && !is_union(&new_object) {
            self.keywords(&old_object, &new_object, place);
            return;
        }
        let mut from = Alternatives::default();
        let mut to = Alternatives::default();
        let references = self.references.clone();
        collect(&references.0, old, &place.old, &mut from, 0);
        collect(&references.1, new, &place.new, &mut to, 0);
        merge_constants(&mut from);
        merge_constants(&mut to);
        let before = self.findings.len();
        self.nullability(&from, &to, old, new, place);
        self.alternatives(&from.list, &to.list, old, new, place);
        let explained = self.findings[before..]
            .iter()
            .any(|finding| finding.effect != Effect::Neutral);
        if !explained && !same(&spine(old), &spine(new)) {
            let mut finding = self.finding(Family::CompositionChanged, place);
            let exclusive = old.get("anyOf").is_some() && new.get("oneOf").is_some();
            let message = |refused| {
                let what = match (exclusive, refused) {
                    (true, true) => "anyOf → oneOf; values that match two alternatives are refused",
                    (true, false) => "anyOf → oneOf",
                    (false, _) => "schema written differently",
                };
                format!("{}: {what}", self.at(place))
            };
            finding.message = message(true);
            finding.message_if_safe = Some(message(false));
            finding.old = Some(old.clone());
            finding.new = Some(new.clone());
            finding.level_if_safe = Level::Additive;
            // The alternatives are the same; whether the values are, the solver decides.
            finding.effect = Effect::Either;
            self.push(finding, place);
        }
    }

    fn nullability(
        &mut self,
        from: &Alternatives<'_>,
        to: &Alternatives<'_>,
        old: &Json,
        new: &Json,
        place: &Place,
    ) {
        if from.nullable == to.nullable {
            return;
        }
        let here = self.at(place);
        let mut finding = if to.nullable {
            let mut finding = self.finding(Family::NullableAdded, place);
            finding.message = format!("{here}: null is now allowed");
            finding.effect = Effect::Widens;
            finding.level_if_safe = Level::Additive;
            finding
        } else {
            let mut finding = self.finding(Family::NullableRemoved, place);
            finding.message = format!("{here}: null is no longer allowed");
            finding.effect = Effect::Narrows;
            finding.level_if_safe = Level::Additive;
            finding
        };
        finding.old = Some(old.clone());
        finding.new = Some(new.clone());
        self.push(finding, place);
    }

    fn alternatives(
        &mut self,
        from: &[Alternative<'_>],
        to: &[Alternative<'_>],
        old: &Json,
        new: &Json,
        place: &Place,
    ) {
        let bare_types = |list: &[Alternative<'_>]| -> Option<Vec<String>> {
            list.iter().map(|branch| bare_type(&branch.node)).collect()
        };
        if let (Some(was), Some(is)) = (bare_types(from), bare_types(to)) {
            if from.len() != to.len() || was.iter().any(|name| !is.contains(name)) {
                self.types(&was, &is, old, new, place);
            }
            self.branch_annotations(from, to, place);
            return;
        }
        let pairs = matched(from, to);
        for (mine, theirs) in &pairs {
            self.pair(&from[*mine], &to[*theirs], place);
        }
        for (index, alternative) in from.iter().enumerate() {
            if pairs.iter().any(|(mine, _)| *mine == index) {
                continue;
            }
            let inner = placed(place, Some(alternative), None);
            let mut finding = self.finding(Family::UnionBranchRemoved, &inner);
            finding.message = branch(&alternative.node, self.at(place), false);
            finding.old = Some(alternative.node.clone().into_owned());
            finding.effect = Effect::Narrows;
            finding.level_if_safe = Level::Additive;
            finding.new_pointer.clone_from(&place.new);
            finding.branch = alternative.position;
            self.push(finding, place);
        }
        for (index, alternative) in to.iter().enumerate() {
            if pairs.iter().any(|(_, theirs)| *theirs == index) {
                continue;
            }
            let inner = placed(place, None, Some(alternative));
            let mut finding = self.finding(Family::UnionBranchAdded, &inner);
            finding.pointer.clone_from(&alternative.pointer);
            finding.message = branch(&alternative.node, self.at(place), true);
            finding.new = Some(alternative.node.clone().into_owned());
            finding.effect = Effect::Widens;
            finding.level_if_safe = Level::Additive;
            finding.exposure = Exposure::Low;
            finding.branch = alternative.position;
            self.push(finding, place);
        }
    }

    fn branch_annotations(
        &mut self,
        from: &[Alternative<'_>],
        to: &[Alternative<'_>],
        place: &Place,
    ) {
        for (mine, theirs) in matched(from, to) {
            self.pair_annotations(&from[mine], &to[theirs], place);
        }
    }

    fn pair_annotations(&mut self, from: &Alternative<'_>, to: &Alternative<'_>, place: &Place) {
        if let (Some(Json::Object(old)), Some(Json::Object(new))) = (from.branch, to.branch) {
            let inner = placed(place, Some(from), Some(to));
            self.annotations(old, new, None, None, &inner);
        }
    }

    fn pair(&mut self, from: &Alternative<'_>, to: &Alternative<'_>, place: &Place) {
        let inner = placed(place, Some(from), Some(to));
        // A definition that contains itself leads back here.
        let elsewhere = inner.old != place.old || inner.new != place.new;
        let plain = (inner.old.clone(), inner.new.clone());
        if elsewhere && self.visited.contains(&plain) {
            return;
        }
        let kind =
            |alternative: &Alternative<'_>| alternative.node.get("type").map(Json::to_string);
        let key = format!("{} {:?} {:?}", inner.new, kind(from), kind(to));
        if !self.visited.insert((inner.old.clone(), key)) {
            return;
        }
        self.pair_annotations(from, to, place);
        if let (Some(old), Some(new)) = (as_schema(&from.node), as_schema(&to.node)) {
            self.keywords(&old, &new, &inner);
        }
    }
}

/// A place inside one alternative on each side.
fn placed(place: &Place, from: Option<&Alternative<'_>>, to: Option<&Alternative<'_>>) -> Place {
    let mut inner = place.clone();
    if let Some(from) = from {
        inner.old.clone_from(&from.pointer);
    }
    if let Some(to) = to {
        inner.new.clone_from(&to.pointer);
    }
    if inner.old != place.old || inner.new != place.new {
        inner.written = None;
    }
    inner
}

/// A node as an object; `true` is the empty one.
pub(super) fn as_schema(node: &Json) -> Option<Cow<'_, Object>> {
    match node {
        Json::Object(object) => Some(Cow::Borrowed(object)),
        Json::Bool(true) => Some(Cow::Owned(Object::new())),
        _ => None,
    }
}

/// The part of a node that determines its alternatives.
fn spine(node: &Json) -> Json {
    without_annotations(node)
}

fn collect<'a>(
    references: &References<'a>,
    node: &'a Json,
    at: &str,
    into: &mut Alternatives<'a>,
    depth: usize,
) {
    let plain = |into: &mut Alternatives<'a>, node: Cow<'a, Json>, branch: Option<&'a Json>| {
        into.list.push(Alternative {
            node,
            pointer: at.to_owned(),
            branch,
            position: None,
        });
    };
    let (target, target_at) = match follow(references, node, at) {
        Ok(followed) if depth > 0 => (followed.node, followed.pointer),
        _ => (node, at.to_owned()),
    };
    let Json::Object(object) = target else {
        plain(into, Cow::Borrowed(node), (depth > 0).then_some(node));
        return;
    };
    let branch = (depth > 0).then_some(target);
    for keyword in ["anyOf", "oneOf"] {
        let pure = object.iter().all(|(name, _)| {
            name == keyword
                || name.as_str().is_some_and(|name| {
                    is_annotation(name) || name.starts_with("x-") || name == "discriminator"
                })
        });
        if let Some(Json::Array(branches)) = object.get(keyword)
            && pure
            && depth < MAX_DEPTH
            && into.list.len() + branches.len() <= MAX_ALTERNATIVES
        {
            for (index, inner) in branches.iter().enumerate() {
                let inner_at =
                    pointer::join(&pointer::join(&target_at, keyword), &index.to_string());
                let before = into.list.len();
                collect(references, inner, &inner_at, into, depth + 1);
                if let [one] = &mut into.list[before..] {
                    one.position = (depth == 0).then_some((keyword, index));
                }
            }
            return;
        }
    }
    let null = Json::string("null");
    let is_null = object.get("type") == Some(&null)
        || object.get("const") == Some(&Json::Null)
        || object.get("enum") == Some(&Json::Array(vec![Json::Null]));
    if is_null {
        into.nullable = true;
        return;
    }
    let mut types: Vec<Json> = match object.get("type") {
        Some(Json::Array(types)) => types.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    if object.get("nullable") == Some(&Json::Bool(true)) && types.len() == 1 {
        types.push(null.clone());
    }
    // There are seven types; a longer list is no schema, and a copy for each of its names would not end.
    if types.len() < 2 || types.len() > 8 {
        let mut alternative = target.clone();
        if types.len() == 1
            && let Json::Object(object) = &mut alternative
            && let Some(kind) = object.get_mut("type")
        {
            *kind = types[0].clone();
        }
        into.list.push(Alternative {
            node: Cow::Owned(alternative),
            pointer: target_at,
            branch,
            position: None,
        });
        return;
    }
    let listed = object.get("enum").and_then(Json::as_array);
    let null_listed = listed.is_none_or(|values| values.contains(&Json::Null));
    if types.contains(&null) && null_listed {
        into.nullable = true;
    }
    for kind in types.iter().filter(|kind| **kind != null) {
        let mut alternative = object.clone();
        alternative.retain(|keyword, _| keyword != "nullable");
        if let Some(slot) = alternative.get_mut("type") {
            *slot = kind.clone();
        }
        if let Some(Json::Array(values)) = alternative.get_mut("enum") {
            values.retain(|value| *value != Json::Null);
        }
        into.list.push(Alternative {
            node: Cow::Owned(Json::Object(alternative)),
            pointer: target_at.clone(),
            branch,
            position: None,
        });
    }
}

/// Merges alternatives that are all constants into one enumeration.
fn merge_constants(alternatives: &mut Alternatives<'_>) {
    let constants = |node: &Json| -> Option<(Vec<Json>, Option<Json>)> {
        let object = node.as_object()?;
        let only = object.iter().all(|(keyword, _)| {
            keyword.as_str().is_some_and(|name| {
                is_annotation(name) || ["const", "enum", "type"].contains(&name)
            })
        });
        let values = match (object.get("const"), object.get("enum")) {
            (Some(value), None) => vec![value.clone()],
            (None, Some(Json::Array(values))) => values.clone(),
            _ => return None,
        };
        only.then(|| (values, object.get("type").cloned()))
    };
    if alternatives.list.len() < 2 {
        return;
    }
    let all: Option<Vec<_>> = alternatives
        .list
        .iter()
        .map(|alternative| constants(&alternative.node))
        .collect();
    let Some(all) = all else { return };
    let kind = all[0].1.clone();
    if all.iter().any(|(_, other)| *other != kind) {
        return;
    }
    let values: Vec<Json> = all.into_iter().flat_map(|(values, _)| values).collect();
    let mut node = Object::new();
    if let Some(kind) = kind {
        node.push("type", kind);
    }
    node.push("enum", Json::Array(values));
    let first = &alternatives.list[0];
    let at = first
        .pointer
        .rsplit_once('/')
        .and_then(|(rest, _)| rest.rsplit_once('/'))
        .map_or_else(|| first.pointer.clone(), |(rest, _)| rest.to_owned());
    let merged = Alternative {
        node: Cow::Owned(Json::Object(node)),
        pointer: at,
        branch: None,
        position: None,
    };
    alternatives.list = vec![merged];
}

/// The type of a node without other constraints.
fn bare_type(node: &Json) -> Option<String> {
    let bare = without_annotations(node);
    let object = bare.as_object()?;
    (object.len() == 1)
        .then(|| object.get("type").and_then(Json::as_str).map(str::to_owned))
        .flatten()
}

/// Pairs of alternatives that mean the same, best first: equal, then similar.
fn matched(from: &[Alternative<'_>], to: &[Alternative<'_>]) -> Vec<(usize, usize)> {
    let bare = |list: &[Alternative<'_>]| -> Vec<Json> {
        list.iter()
            .map(|alternative| without_annotations(&alternative.node))
            .collect()
    };
    let (mine, theirs) = (bare(from), bare(to));
    let mut scored = Vec::new();
    for (index, one) in mine.iter().enumerate() {
        for (other_index, other) in theirs.iter().enumerate() {
            let mut score = likeness(one, other);
            if score > 0 && from[index].node.get("title") == to[other_index].node.get("title") {
                score += 1;
            }
            if score > 0 {
                scored.push((std::cmp::Reverse(score), index, other_index));
            }
        }
    }
    scored.sort();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, index, other_index) in scored {
        if pairs
            .iter()
            .all(|(mine, theirs)| *mine != index && *theirs != other_index)
        {
            pairs.push((index, other_index));
        }
    }
    // One against one is the same alternative, whatever happened to it.
    if pairs.is_empty() && from.len() == 1 && to.len() == 1 {
        pairs.push((0, 0));
    }
    pairs.sort_unstable();
    pairs
}

/// How similar two alternatives are; 0 means that they are not the same.
fn likeness(one: &Json, other: &Json) -> u32 {
    if same(one, other) {
        return 1_000;
    }
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return 0;
    };
    if one.get("type") != other.get("type") {
        return 0;
    }
    if one.get("type").is_none() {
        return if one.get("$ref").is_some() && one.get("$ref") == other.get("$ref") {
            900
        } else {
            0
        };
    }
    if let Some(tags) = tags(one).filter(|tags| !tags.is_empty()) {
        let theirs = self::tags(other).unwrap_or_default();
        let shared = tags.iter().filter(|tag| theirs.contains(tag)).count();
        let opposed = tags.iter().any(|(name, value)| {
            theirs
                .iter()
                .any(|(other, theirs)| other == name && theirs != value)
        });
        if opposed {
            return 0;
        }
        if shared > 0 {
            return 500;
        }
    }
    let names = |object: &Object| -> Vec<String> {
        object
            .get("properties")
            .and_then(Json::as_object)
            .map(|properties| {
                properties
                    .iter()
                    .map(|(name, _)| name.to_string_lossy().to_owned())
                    .collect()
            })
            .unwrap_or_default()
    };
    let (mine, theirs) = (names(one), names(other));
    if mine.is_empty() && theirs.is_empty() {
        return 100;
    }
    let shared = mine.iter().filter(|name| theirs.contains(name)).count();
    let all = mine.len().max(theirs.len());
    u32::try_from(shared * 100 / all).unwrap_or(0)
}

/// Members with a constant value, which distinguish branches.
fn tags(object: &Object) -> Option<Vec<(String, Json)>> {
    let properties = object.get("properties")?.as_object()?;
    Some(
        properties
            .iter()
            .filter_map(|(name, schema)| {
                let single = match schema.get("enum") {
                    Some(Json::Array(values)) if values.len() == 1 => values.first(),
                    _ => None,
                };
                let value = schema.get("const").or(single)?;
                Some((name.to_string_lossy().to_owned(), value.clone()))
            })
            .collect(),
    )
}

fn branch(node: &Json, at: PlaceName<'_>, added: bool) -> String {
    let tag = node
        .as_object()
        .and_then(tags)
        .and_then(|tags| tags.into_iter().next());
    let text = |keyword| node.get(keyword).and_then(Json::as_str);
    // As a reader recognises it.
    let what = match (text("title"), tag, text("type")) {
        (Some(title), ..) => format!("alternative `{}`", shortened(title)),
        (None, Some((name, value)), _) => {
            format!("alternative with `{}` {}", shortened(&name), shown(&value))
        }
        (None, None, Some(kind)) => format!("alternative of type {}", shortened(kind)),
        (None, None, None) => "an alternative".to_owned(),
    };
    let verb = if added { "added" } else { "removed" };
    format!("{at}: {what} {verb}")
}

//! The real validator, offline: it confirms witnesses.
//!
//! `jsonschema` without its network features, with the detected draft. `format` is not asserted: it
//! is an annotation, and a witness must convince validators that treat it so. Schemas on which
//! validation itself could explode or never end are rejected before they are compiled.

use std::collections::{BTreeSet, HashMap, HashSet};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};

use crate::document::{Document, Draft, each_schema, each_schema_at, elsewhere, percent_decoded};
use crate::keywords::{Holds, Topic, holds, topic};
use crate::reason::Reason;
use crate::solve::References;
use crate::value::{Converted, has_number, to_value};
use exact_json::{Json, Number, Object, Text, pointer, to_canonical};

/// Schemas with more nodes than this are not compiled.
const MAX_NODES: usize = 6_000;
/// The maximum number of schemas that apply to a single value.
const MAX_IN_PLACE: u64 = 20_000;
/// The maximum chain of schemas that apply to one value.
const MAX_CHAIN: usize = 220;

pub(crate) struct Compiled {
    validator: Validator,
    /// The numbers in it that the validator knows only roughly, and whether it knows a multiple of one
    /// when it sees one.
    rounded: Vec<f64>,
    rounded_step: bool,
    /// What some validators read into it and the specification does not, if that is stricter.
    disputed: Option<Validator>,
}

impl Compiled {
    /// Compiles; the error says why a schema cannot be given to a validator.
    pub(crate) fn new(references: &References<'_>) -> Result<Self, Reason> {
        let (validator, converted) = compile(references)?;
        Ok(Self {
            validator,
            rounded: converted.rounded,
            rounded_step: converted.rounded_step,
            disputed: disputed(references.document)
                .and_then(|stricter| Some(compile(&References::new(&stricter)).ok()?.0)),
        })
    }

    /// Whether validators that read a schema more strictly than specified accept a value as well.
    pub(crate) fn is_undisputed(&self, value: &Json) -> bool {
        self.disputed.as_ref().is_none_or(|validator| {
            to_value(value).is_some_and(|converted| validator.is_valid(&converted.value))
        })
    }

    /// Whether the validator accepts a value; `None` if it cannot tell.
    pub(crate) fn accepts(&self, value: &Json) -> Option<bool> {
        // Rounding keeps the order of numbers, but not which of them are equal.
        let unclear = |number: &Number| {
            self.rounded_step
                || self
                    .rounded
                    .iter()
                    .any(|rounded| *rounded == number.to_f64())
        };
        if !self.rounded.is_empty() && has_number(value, &unclear) {
            return None;
        }
        let converted = to_value(value).filter(Converted::is_exact)?.value;
        if self.validator.is_valid(&converted) {
            return Some(true);
        }
        // An engine that gave up has not rejected anything.
        let engine_failed = self.validator.iter_errors(&converted).any(|error| {
            matches!(
                error.kind(),
                ValidationErrorKind::BacktrackLimitExceeded { .. }
                    | ValidationErrorKind::RegexEngineFailure { .. }
            )
        });
        (!engine_failed).then_some(false)
    }

    /// The keyword that rejects a value first, and where in the value.
    pub(crate) fn refusal(&self, value: &Json) -> Option<(String, String)> {
        let converted = to_value(value)?.value;
        let error = self.validator.iter_errors(&converted).next()?;
        Some((
            error.kind().keyword().to_owned(),
            error.instance_path().to_string(),
        ))
    }
}

/// The draft in the validator's terms.
pub(crate) fn draft_of(draft: Draft) -> jsonschema::Draft {
    match draft {
        Draft::Four => jsonschema::Draft::Draft4,
        Draft::Six => jsonschema::Draft::Draft6,
        Draft::Seven => jsonschema::Draft::Draft7,
        Draft::Y2019 => jsonschema::Draft::Draft201909,
        Draft::Y2020 => jsonschema::Draft::Draft202012,
    }
}

/// A document for the validator: without `$schema` and the root's `$id`, because the draft is
/// decided and nothing is looked up by URI. A dangling reference is removed too: no validator
/// compiles it, and mcp-keel's own evaluator has no answer for a value that reaches it.
pub(crate) fn for_validator(references: &References<'_>) -> Option<Converted> {
    let document = references.document;
    let mut root = document.root.clone();
    let mut lost = Vec::new();
    each_schema_at(&document.root, &mut String::new(), &mut |node, at| {
        if references.targets(node).is_err() {
            lost.push(at.to_owned());
        }
    });
    for at in lost {
        if let Some(Json::Object(node)) = pointer::resolve_mut(&mut root, &at) {
            let alone = document.draft <= Draft::Seven;
            node.retain(|keyword, _| {
                !alone
                    && ["$ref", "$dynamicRef", "$recursiveRef"]
                        .iter()
                        .all(|reference| keyword != *reference)
            });
        }
    }
    cleaned(&mut root, document.draft, true);
    for at in elsewhere(&document.root) {
        if let Some(schema) = pointer::resolve_mut(&mut root, &at) {
            cleaned(schema, document.draft, true);
        }
    }
    let mut converted = to_value(&root)?;
    if let Some(root) = converted.value.as_object_mut() {
        root.remove("$schema");
        root.remove("$vocabulary");
    }
    Some(converted)
}

/// Whether a keyword is an annotation, which makes no value valid or invalid, whatever its own value is: validators refuse
/// `"title": null`.
fn asserts_nothing(name: &str) -> bool {
    let is_identity = name.starts_with('$') && name != "$comment" || name == "id";
    !is_identity && matches!(topic(name), Some(Topic::Annotation | Topic::Content))
}

/// Removes what validators assert and mcp-keel does not, and what they reject although it is clear.
fn cleaned(node: &mut Json, draft: Draft, nested: bool) {
    match node {
        // Draft 4 has no boolean schemas.
        Json::Bool(verdict) if draft == Draft::Four && nested => {
            *node = if *verdict {
                Json::object([])
            } else {
                Json::object([("not", Json::object([]))])
            };
        }
        Json::Object(object) => {
            // In draft 4 these say nothing without the bound that they are about.
            let pointless: Vec<&str> = [
                ("exclusiveMinimum", "minimum"),
                ("exclusiveMaximum", "maximum"),
            ]
            .into_iter()
            .filter(|(_, bound)| draft == Draft::Four && !object.contains(bound))
            .map(|(flag, _)| flag)
            .collect();
            object.retain(|keyword, value| {
                let pointless = pointless.iter().any(|flag| keyword == *flag);
                let empty = draft == Draft::Four
                    && keyword == "required"
                    && value.as_array().is_some_and(<[Json]>::is_empty);
                let says_nothing = keyword.as_str().is_some_and(asserts_nothing);
                !pointless && !empty && !says_nothing
            });
            for (keyword, value) in object.iter_mut() {
                let Some(keyword) = keyword.as_str() else {
                    continue;
                };
                // Duplicates change nothing.
                if ["required", "type", "enum"].contains(&keyword)
                    && let Json::Array(list) = value
                {
                    let mut seen = HashSet::new();
                    list.retain(|value| seen.insert(to_canonical(value)));
                }
                if keyword == "enum"
                    && draft <= Draft::Six
                    && let Json::Array(values) = value
                    && values.is_empty()
                {
                    values.push(Json::string("\u{0}no value"));
                }
                let nested = !keyword.starts_with("additional");
                match (holds(keyword, value), value) {
                    (Some(Holds::One), schema) => cleaned(schema, draft, nested),
                    (Some(Holds::List), Json::Array(list)) => {
                        list.iter_mut()
                            .for_each(|schema| cleaned(schema, draft, true));
                    }
                    (Some(Holds::Map), Json::Object(map)) => {
                        map.iter_mut()
                            .for_each(|(_, schema)| cleaned(schema, draft, true));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// What some validators read into a schema, if that is stricter than specified: in 2019-09 Python's
/// `jsonschema` (4.26) does not count what `additionalProperties` evaluates, so that such members have
/// to satisfy `unevaluatedProperties` too. It does count those that are named like a keyword of either; they
/// are used if `unevaluatedProperties` is `false`, and has no keywords.
pub(crate) fn disputed(document: &Document) -> Option<Document> {
    if document.draft != Draft::Y2019 {
        return None;
    }
    let mut places = Vec::new();
    each_schema_at(&document.root, &mut String::new(), &mut |node, at| {
        if node.get("unevaluatedProperties").is_some() {
            let around = in_the_same_place(&document.root, node);
            let is_disputed = |schema: &&Json| {
                matches!(schema.get("additionalProperties"), Some(Json::Object(_)))
            };
            if around.iter().any(is_disputed) {
                places.push((at.to_owned(), narrowing(node, &around)));
            }
        }
    });
    if places.is_empty() {
        return None;
    }
    let mut narrowed = document.clone();
    // The outer ones first: no copy is copied.
    for (at, part) in places {
        if let Some(Json::Object(node)) = pointer::resolve_mut(&mut narrowed.root, &at) {
            match node.get_mut("allOf") {
                Some(Json::Array(list)) => list.push(part),
                _ => node.push("allOf", Json::Array(vec![part])),
            }
        }
    }
    Some(narrowed)
}

/// A schema and those that it may apply to the same value.
fn in_the_same_place<'a>(root: &'a Json, node: &'a Json) -> Vec<&'a Json> {
    let mut found: Vec<&'a Json> = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if found.iter().any(|known| std::ptr::eq(*known, node)) || found.len() >= MOST_IN_PLACE {
            continue;
        }
        found.push(node);
        let target = node
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(|reference| reference.strip_prefix('#'))
            .filter(|at| at.is_empty() || at.starts_with('/'))
            .and_then(|at| pointer::resolve(root, &percent_decoded(at)));
        open.extend(target);
        for keyword in ["allOf", "anyOf", "oneOf"] {
            open.extend(node.get(keyword).and_then(Json::as_array).unwrap_or(&[]));
        }
        for keyword in ["if", "then", "else"] {
            open.extend(node.get(keyword));
        }
        let dependent = node.get("dependentSchemas").and_then(Json::as_object);
        open.extend(
            dependent
                .into_iter()
                .flat_map(Object::iter)
                .map(|entry| entry.1),
        );
    }
    found
}

/// So many schemas of one place are looked at.
const MOST_IN_PLACE: usize = 100;

/// Members that only an `additionalProperties` evaluates have to satisfy `unevaluatedProperties`.
fn narrowing(node: &Json, around: &[&Json]) -> Json {
    let names = |keyword: &'static str| {
        let maps = around
            .iter()
            .filter_map(move |schema| schema.get(keyword)?.as_object());
        maps.flat_map(Object::iter).map(|(name, _)| name)
    };
    let is_false = node.get("unevaluatedProperties") == Some(&Json::Bool(false));
    let like_keywords = names("additionalProperties").filter(|_| is_false);
    let all_true = |names: &mut dyn Iterator<Item = &Text>| {
        let seen: BTreeSet<&Text> = names.collect();
        let members = seen
            .into_iter()
            .map(|name| (name.clone(), Json::Bool(true)));
        Json::Object(members.collect())
    };
    Json::object([
        (
            "properties",
            all_true(&mut names("properties").chain(like_keywords)),
        ),
        (
            "patternProperties",
            all_true(&mut names("patternProperties")),
        ),
        (
            "additionalProperties",
            node.get("unevaluatedProperties")
                .cloned()
                .unwrap_or(Json::Bool(true)),
        ),
    ])
}

fn compile(references: &References<'_>) -> Result<(Validator, Converted), Reason> {
    let converted = for_validator(references).ok_or(Reason::BeyondValidator)?;
    let validator = jsonschema::options()
        .with_draft(draft_of(references.draft()))
        .should_validate_formats(false)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(50_000))
        .offline()
        .build(&converted.value)
        .map_err(|error| {
            let text = error.to_string();
            let short: String = text.chars().take(160).collect();
            Reason::InvalidSchema(short)
        })?;
    Ok((validator, converted))
}

/// Rejects schemas that would keep a validator busy for too long.
pub fn guard(references: &References<'_>) -> Result<(), Reason> {
    if references.leaves_schemas {
        return Err(Reason::Keyword("$ref"));
    }
    let root = &references.document.root;
    let mut nodes = 0;
    each_schema(root, &mut |_| nodes += 1);
    if nodes > MAX_NODES {
        return Err(Reason::TooLarge);
    }
    let mut costs = HashMap::new();
    let mut result = Ok(());
    each_schema(root, &mut |node| {
        if result.is_ok() {
            result = in_place(references, node, &mut costs, 0).and_then(|cost| {
                if cost > MAX_IN_PLACE {
                    Err(Reason::TooLarge)
                } else {
                    Ok(())
                }
            });
        }
    });
    result
}

/// How many schemas apply to one value at this node, or why that never ends. 0 marks a node being
/// counted.
fn in_place(
    references: &References<'_>,
    node: &Json,
    costs: &mut HashMap<usize, u64>,
    chain: usize,
) -> Result<u64, Reason> {
    let Json::Object(object) = node else {
        return Ok(1);
    };
    let identity = std::ptr::from_ref(node) as usize;
    match costs.get(&identity) {
        Some(0) => return Err(Reason::Circular),
        Some(cost) => return Ok(*cost),
        None => {}
    }
    if chain > MAX_CHAIN {
        return Err(Reason::TooLarge);
    }
    costs.insert(identity, 0);
    let mut parts: Vec<&Json> = Vec::new();
    // A dangling one applies nothing; a value that reaches it gets no answer.
    let targets = references.targets(node).unwrap_or_default();
    parts.extend(targets.into_iter().map(|(target, _)| target));
    if !(references.draft() <= Draft::Seven && object.contains("$ref")) {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            parts.extend(object.get(keyword).and_then(Json::as_array).unwrap_or(&[]));
        }
        for keyword in ["not", "if", "then", "else"] {
            parts.extend(object.get(keyword));
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            let map = object.get(keyword).and_then(Json::as_object);
            parts.extend(
                map.into_iter()
                    .flat_map(Object::iter)
                    .map(|(_, schema)| schema),
            );
        }
    }
    let mut total = 1_u64;
    for part in parts {
        total = total.saturating_add(in_place(references, part, costs, chain + 1)?);
    }
    costs.insert(identity, total);
    Ok(total)
}

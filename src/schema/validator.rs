//! The real validator, offline: what confirms a witness.
//!
//! `jsonschema` without its network features, given the draft that we detected. `format` is not asserted: it is
//! an annotation, and a witness has to convince validators that treat it so. Schemas on which validation
//! itself could explode or never end are refused before they are compiled.

use std::collections::HashMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};

use super::document::{Document, Draft, Holds, Problem, each_schema, holds};
use super::solve::References;
use super::value::{Converted, has_number, to_value};
use crate::canonical::{Json, Object};

/// More schemas than this are not compiled.
const MAX_NODES: usize = 6_000;
/// More schemas than this that apply to one and the same value are not compiled.
const MAX_IN_PLACE: u64 = 20_000;
/// A longer chain of schemas that apply to one value is not compiled.
const MAX_CHAIN: usize = 220;

/// A schema, compiled.
pub(crate) struct Compiled {
    validator: Validator,
    exact: bool,
}

impl Compiled {
    /// Compiles; the error says why a schema cannot be given to a validator.
    pub(crate) fn new(document: &Document) -> Result<Self, Problem> {
        let (validator, exact) = compile(document)?;
        Ok(Self { validator, exact })
    }

    /// Whether the validator accepts a value; none where it cannot say.
    pub(crate) fn accepts(&self, value: &Json) -> Option<bool> {
        if !self.exact && has_number(value) {
            return None;
        }
        let converted = to_value(value).filter(|it| it.exact)?.value;
        if self.validator.is_valid(&converted) {
            return Some(true);
        }
        // An engine that gave up has not refused anything.
        let engine_failed = self.validator.iter_errors(&converted).any(|error| {
            matches!(
                error.kind(),
                ValidationErrorKind::BacktrackLimitExceeded { .. }
                    | ValidationErrorKind::RegexEngineFailure { .. }
            )
        });
        (!engine_failed).then_some(false)
    }

    /// The keyword that refuses a value first, and where in the value.
    pub(crate) fn refusal(&self, value: &Json) -> Option<(String, String)> {
        let converted = to_value(value)?.value;
        let error = self.validator.iter_errors(&converted).next()?;
        Some((
            error.kind().keyword().to_owned(),
            error.instance_path().to_string(),
        ))
    }
}

/// The draft, in the validator's words.
pub(crate) fn draft_of(draft: Draft) -> jsonschema::Draft {
    match draft {
        Draft::Four => jsonschema::Draft::Draft4,
        Draft::Six => jsonschema::Draft::Draft6,
        Draft::Seven => jsonschema::Draft::Draft7,
        Draft::Y2019 => jsonschema::Draft::Draft201909,
        Draft::Y2020 => jsonschema::Draft::Draft202012,
    }
}

/// A document as the validator reads it: `$schema` and the root's `$id` are left out, because the draft is
/// decided and nothing is looked up by address.
pub(crate) fn for_validator(document: &Document) -> Option<Converted> {
    let mut root = document.root.clone();
    cleaned(&mut root, document.draft, true);
    let mut converted = to_value(&root)?;
    if let Some(root) = converted.value.as_object_mut() {
        root.remove("$schema");
        root.remove("$vocabulary");
    }
    Some(converted)
}

/// Takes out what validators assert and we do not, and what they refuse to compile although it is clear.
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
            object.retain(|keyword, value| {
                let content = ["contentEncoding", "contentMediaType", "contentSchema"];
                let empty = draft == Draft::Four
                    && keyword == "required"
                    && value.as_array().is_some_and(<[Json]>::is_empty);
                !empty && content.iter().all(|it| keyword != *it)
            });
            for (keyword, value) in object.iter_mut() {
                let Some(keyword) = keyword.as_str() else {
                    continue;
                };
                if keyword == "required"
                    && let Json::Array(names) = value
                {
                    let mut seen = Vec::new();
                    names.retain(|name| {
                        let fresh = !seen.contains(name);
                        seen.push(name.clone());
                        fresh
                    });
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
                        list.iter_mut().for_each(|it| cleaned(it, draft, true));
                    }
                    (Some(Holds::Map), Json::Object(map)) => {
                        map.iter_mut().for_each(|(_, it)| cleaned(it, draft, true));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn compile(document: &Document) -> Result<(Validator, bool), Problem> {
    let converted = for_validator(document).ok_or_else(|| {
        Problem::Other(
            "a number or a text of the schema is beyond what a validator can hold".into(),
        )
    })?;
    let validator = jsonschema::options()
        .with_draft(draft_of(document.draft))
        .should_validate_formats(false)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(50_000))
        .offline()
        .build(&converted.value)
        .map_err(|error| {
            let text = error.to_string();
            let short: String = text.chars().take(160).collect();
            Problem::Other(format!("the schema is not valid JSON Schema: {short}"))
        })?;
    Ok((validator, converted.exact))
}

/// Refuses schemas that would keep a validator busy for too long.
pub(crate) fn guard(references: &References<'_>) -> Result<(), Problem> {
    let root = &references.document.root;
    let mut nodes = 0;
    each_schema(root, &mut |_| nodes += 1);
    if nodes > MAX_NODES {
        return Err(Problem::TooLarge);
    }
    references.check()?;
    let mut costs = HashMap::new();
    let mut result = Ok(());
    each_schema(root, &mut |node| {
        if result.is_ok() {
            result = in_place(references, node, &mut costs, 0).and_then(|cost| {
                if cost > MAX_IN_PLACE {
                    Err(Problem::TooLarge)
                } else {
                    Ok(())
                }
            });
        }
    });
    result
}

/// How many schemas apply to one value at this node, or why that never ends. 0 marks a node being counted.
fn in_place(
    references: &References<'_>,
    node: &Json,
    costs: &mut HashMap<usize, u64>,
    chain: usize,
) -> Result<u64, Problem> {
    let Json::Object(object) = node else {
        return Ok(1);
    };
    let identity = std::ptr::from_ref(node) as usize;
    match costs.get(&identity) {
        Some(0) => return Err(Problem::Circular),
        Some(cost) => return Ok(*cost),
        None => {}
    }
    if chain > MAX_CHAIN {
        return Err(Problem::TooLarge);
    }
    costs.insert(identity, 0);
    let mut parts: Vec<&Json> = Vec::new();
    parts.extend(references.targets(node)?.into_iter().map(|(it, _)| it));
    if !(references.draft() <= Draft::Seven && object.contains("$ref")) {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            parts.extend(object.get(keyword).and_then(Json::as_array).unwrap_or(&[]));
        }
        for keyword in ["not", "if", "then", "else"] {
            parts.extend(object.get(keyword));
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            let map = object.get(keyword).and_then(Json::as_object);
            parts.extend(map.into_iter().flat_map(Object::iter).map(|(_, it)| it));
        }
    }
    let mut total = 1_u64;
    for part in parts {
        total = total.saturating_add(in_place(references, part, costs, chain + 1)?);
    }
    costs.insert(identity, total);
    Ok(total)
}

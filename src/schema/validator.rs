//! The real validator, offline: what confirms a witness.
//!
//! `jsonschema` without its network features, given the draft that we detected. `format` is not asserted: it is
//! an annotation, and a witness has to convince validators that treat it so. Schemas on which validation
//! itself could explode or never end are refused before they are compiled.

use std::collections::HashMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};

use super::document::{Document, Draft, Problem, each_schema};
use super::value::{Converted, has_number, to_value};
use crate::canonical::{Json, Object};

/// More schemas than this are not compiled.
const MAX_NODES: usize = 6_000;
/// More schemas than this that apply to one and the same value are not compiled.
const MAX_IN_PLACE: u64 = 20_000;
/// A longer chain of schemas that apply to one value is not compiled.
const MAX_CHAIN: usize = 220;

/// One reason why the receiver refuses an instance.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// JSON pointer of the refused part of the instance.
    pub(crate) at: String,
    /// The keyword that refuses.
    pub(crate) keyword: String,
    /// The members that it names: missing ones of `required`, unexpected ones of `additionalProperties`.
    pub(crate) names: Vec<String>,
}

/// Two senders' readings and a receiver, compiled.
pub(crate) struct Validators {
    published: Option<Validator>,
    closed: Validator,
    receiver: Validator,
    exact: bool,
}

impl Validators {
    /// Compiles; the error says why a schema cannot be given to a validator.
    pub(crate) fn new(
        published: &Document,
        closed: &Document,
        receiver: &Document,
    ) -> Result<Self, Problem> {
        guard(closed)?;
        guard(receiver)?;
        let (closed_validator, exact) = compile(closed)?;
        let (receiver, receiver_exact) = compile(receiver)?;
        // Closing can only widen what a `oneOf` or a `not` lets through; elsewhere closed implies published.
        let needed = published.root != closed.root && asks(&published.root);
        let published = needed.then(|| compile(published)).transpose()?;
        Ok(Self {
            published: published.map(|(validator, _)| validator),
            closed: closed_validator,
            receiver,
            exact: exact && receiver_exact,
        })
    }

    /// Whether the sender lets an instance through and the receiver refuses it; then with the reasons.
    pub(crate) fn refusals(&self, instance: &Json) -> Option<Vec<Refusal>> {
        if !self.exact && has_number(instance) {
            return None;
        }
        let converted = to_value(instance).filter(|it| it.exact)?.value;
        if self.receiver.is_valid(&converted)
            || !self.closed.is_valid(&converted)
            || !self
                .published
                .as_ref()
                .is_none_or(|it| it.is_valid(&converted))
        {
            return None;
        }
        let refusals: Vec<Refusal> = self
            .receiver
            .iter_errors(&converted)
            .take(64)
            .map(|error| Refusal {
                at: error.instance_path().to_string(),
                keyword: error.kind().keyword().to_owned(),
                names: match error.kind() {
                    ValidationErrorKind::Required { property } => {
                        property.as_str().map(str::to_owned).into_iter().collect()
                    }
                    ValidationErrorKind::AdditionalProperties { unexpected }
                    | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                        unexpected.clone()
                    }
                    _ => Vec::new(),
                },
            })
            .collect();
        // An engine that gave up has not refused anything.
        let engine_failed = self.receiver.iter_errors(&converted).any(|error| {
            matches!(
                error.kind(),
                ValidationErrorKind::BacktrackLimitExceeded { .. }
                    | ValidationErrorKind::RegexEngineFailure { .. }
            )
        });
        (!engine_failed && !refusals.is_empty()).then_some(refusals)
    }
}

fn asks(root: &Json) -> bool {
    let mut found = false;
    each_schema(root, &mut |node| {
        found |= [
            "oneOf",
            "not",
            "if",
            "unevaluatedProperties",
            "unevaluatedItems",
            "contains",
        ]
        .iter()
        .any(|keyword| node.get(keyword).is_some());
    });
    found
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
    let mut converted = to_value(&document.root)?;
    if let Some(root) = converted.value.as_object_mut() {
        root.remove("$schema");
        root.remove("$vocabulary");
    }
    if document.draft == Draft::Four {
        without_empty_required(&mut converted.value);
    }
    Some(converted)
}

/// Draft 4 wants at least one name in `required`. Generators write an empty list all the same, which says what its
/// absence says.
fn without_empty_required(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_empty_required),
        serde_json::Value::Object(members) => {
            if members
                .get("required")
                .and_then(|it| it.as_array())
                .is_some_and(Vec::is_empty)
            {
                members.remove("required");
            }
            // What stands under these is data, not a schema.
            let is_data =
                |name: &str| matches!(name, "enum" | "const" | "default" | "examples" | "example");
            members
                .iter_mut()
                .filter(|(name, _)| !is_data(name))
                .for_each(|(_, member)| without_empty_required(member));
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
pub(crate) fn guard(document: &Document) -> Result<(), Problem> {
    let mut nodes = 0;
    let mut remote = None;
    each_schema(&document.root, &mut |node| {
        nodes += 1;
        if nodes <= MAX_NODES
            && let Some(reference) = node.as_object().and_then(|it| document.reference(it))
            && let Err(problem) = document.resolve(reference)
        {
            remote.get_or_insert(problem);
        }
    });
    if nodes > MAX_NODES {
        return Err(Problem::TooLarge);
    }
    if let Some(problem) = remote {
        return Err(problem);
    }
    let mut costs = HashMap::new();
    let mut result = Ok(());
    each_schema(&document.root, &mut |node| {
        if result.is_ok()
            && let Json::Object(object) = node
        {
            result = in_place(document, object, &mut costs, 0).and_then(|cost| {
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
    document: &Document,
    node: &Object,
    costs: &mut HashMap<usize, u64>,
    chain: usize,
) -> Result<u64, Problem> {
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
    let mut total = 1_u64;
    let mut visit = |child: &Json, costs: &mut HashMap<usize, u64>| {
        if let Json::Object(child) = child {
            total = total.saturating_add(in_place(document, child, costs, chain + 1)?);
        }
        Ok::<(), Problem>(())
    };
    if let Some(reference) = document.reference(node) {
        visit(document.resolve(reference)?.0, costs)?;
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        if let Some(Json::Array(branches)) = node.get(keyword) {
            for branch in branches {
                visit(branch, costs)?;
            }
        }
    }
    for keyword in ["not", "if", "then", "else"] {
        if let Some(branch) = node.get(keyword) {
            visit(branch, costs)?;
        }
    }
    for keyword in ["dependentSchemas", "dependencies"] {
        if let Some(Json::Object(branches)) = node.get(keyword) {
            for (_, branch) in branches.iter() {
                visit(branch, costs)?;
            }
        }
    }
    costs.insert(identity, total);
    Ok(total)
}

//! Each parent validates its child against `validation.child_schemas` of the parent's manifest.
//!
//! The first schema whose `match` fits the child applies. A primitive accepts anything. Draft 7
//! unless `$schema` mentions 2020-12; nothing is fetched. Messages are the original's wherever its
//! validator's text is known.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::{Link, Mode, python};
use exact_json::{Json, pointer, to_compact};

/// At most this many issues are reported per child.
const MAX_ISSUES: usize = 64;

/// The result of validating a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validated {
    /// Why a parent does not accept its child.
    pub issues: Vec<String>,
    /// What could not be decided, or is allowed.
    pub warnings: Vec<String>,
    /// The number of pairs checked.
    pub pairs: usize,
    /// The child of the first issue.
    pub failed_at: Option<usize>,
}

impl Validated {
    pub fn ok(&self) -> bool {
        self.issues.is_empty()
    }
}

/// The result for one parent and child.
#[derive(Default)]
struct Opinion {
    issues: Vec<String>,
    warnings: Vec<String>,
}

impl Opinion {
    fn issue(issue: String) -> Self {
        Self {
            issues: vec![issue],
            ..Self::default()
        }
    }
}

/// Validates every pair of a chain, from the leaf to the primitive.
pub fn validate(chain: &[Link], mode: Mode) -> Validated {
    let mut result = Validated::default();
    for (index, pair) in chain.windows(2).enumerate() {
        let [child, parent] = pair else { continue };
        let mut opinion = judge(parent, child, mode);
        if mode == Mode::Strict
            && let Some(executor) = child.member("executor_id")
            && !python::equal(executor, parent.0.get("tool_id").unwrap_or(&Json::Null))
        {
            let executor = python::text(Some(executor));
            let issue = format!(
                "'{}' names the executor '{executor}', and the next link is '{}'",
                child.id(),
                parent.id()
            );
            opinion.issues.push(issue);
        }
        let who = format!("[{}→{}]", parent.id(), child.id());
        if !opinion.issues.is_empty() {
            result.failed_at.get_or_insert(index);
        }
        let labelled = |texts: Vec<String>| {
            texts
                .into_iter()
                .map(|text| format!("{who} {text}"))
                .collect::<Vec<_>>()
        };
        result.issues.extend(labelled(opinion.issues));
        result.warnings.extend(labelled(opinion.warnings));
        result.pairs += 1;
    }
    if let Some(last) = chain.last().filter(|last| !last.is_primitive()) {
        let problem = format!(
            "the chain ends in '{}', which is not a primitive (subprocess or http_client)",
            last.id()
        );
        match mode {
            Mode::Strict => {
                result.failed_at.get_or_insert(chain.len() - 1);
                result.issues.push(problem);
            }
            Mode::Usual | Mode::Lenient => result.warnings.push(problem),
        }
    }
    result
}

fn judge(parent: &Link, child: &Link, mode: Mode) -> Opinion {
    if parent.is_primitive() {
        return Opinion::default();
    }
    let missing = |problem: String| match mode {
        Mode::Lenient => Opinion {
            warnings: vec![problem],
            ..Opinion::default()
        },
        _ => Opinion::issue(problem),
    };
    let schemas = parent
        .member("manifest")
        .and_then(|it| it.get("validation"))
        .and_then(|it| it.get("child_schemas"))
        .and_then(Json::as_array)
        .unwrap_or_default();
    if schemas.is_empty() {
        return missing(format!(
            "Parent '{}' must define child_schemas to validate children",
            parent.id()
        ));
    }
    let nothing = Json::object([]);
    let criteria = |schema: &Json| schema.get("match").cloned().unwrap_or(nothing.clone());
    match schemas.iter().find(|it| matches(&child.0, &criteria(it))) {
        Some(found) => match found.get("schema").filter(|schema| python::truthy(schema)) {
            Some(schema) => against(&child.0, schema),
            None => Opinion {
                warnings: vec!["Schema definition has no schema body".to_owned()],
                ..Opinion::default()
            },
        },
        None => {
            let available = Json::Array(schemas.iter().map(criteria).collect());
            missing(format!(
                "No schema matches child type '{}'. Available matches: {}",
                python::text(child.0.get("tool_type")),
                python::repr(&available)
            ))
        }
    }
}

/// Whether the child has all the required values. A dotted name descends into objects; a missing
/// value is `null`.
fn matches(child: &Json, criteria: &Json) -> bool {
    let Some(criteria) = criteria.as_object() else {
        return !python::truthy(criteria);
    };
    criteria.by_name().iter().all(|(name, wanted)| {
        let found = match name.as_str() {
            Some(name) if name.contains('.') => name
                .split('.')
                .try_fold(child, |value, part| value.get(part)),
            Some(name) => child.get(name),
            None => None,
        };
        python::equal(found.unwrap_or(&Json::Null), wanted)
    })
}

fn against(child: &Json, schema: &Json) -> Opinion {
    let validator = match compile(schema) {
        Ok(validator) => validator,
        Err(problem) => {
            return Opinion::issue(format!(
                "Invalid schema: Schema validation error: {problem}"
            ));
        }
    };
    let Some(instance) = value(child) else {
        return Opinion::issue(
            "Schema validation error: the child holds a value that no JSON text can carry"
                .to_owned(),
        );
    };
    let mut refusals: Vec<_> = validator
        .iter_errors(&instance)
        .take(MAX_ISSUES)
        .map(|error| {
            let in_schema = rank(schema, &error.schema_path().to_string());
            let mut place = error.instance_path().to_string();
            if let ValidationErrorKind::PropertyNames { error } = error.kind() {
                pointer::push(&mut place, error.instance().as_str().unwrap_or_default());
            }
            let in_child = rank(child, &place);
            ((in_schema, in_child), message(&error, child, schema))
        })
        .collect();
    // The original reports in the order of the schema, then of the child.
    refusals.sort_by(|one, other| one.0.cmp(&other.0));
    Opinion {
        issues: refusals.into_iter().map(|(_, message)| message).collect(),
        warnings: Vec::new(),
    }
}

fn compile(schema: &Json) -> Result<Validator, String> {
    let modern = schema
        .get("$schema")
        .and_then(Json::as_str)
        .is_some_and(|name| name.contains("2020-12"));
    let Some(mut schema) = value(schema) else {
        return Err("the schema holds a value that no JSON text can carry".to_owned());
    };
    let (draft, valid) = if modern {
        (
            jsonschema::Draft::Draft202012,
            jsonschema::draft202012::meta::validate(&schema).map_err(|error| schema_error(&error)),
        )
    } else {
        (
            jsonschema::Draft::Draft7,
            jsonschema::draft7::meta::validate(&schema).map_err(|error| schema_error(&error)),
        )
    };
    valid?;
    // The draft is already decided: its name must not make the validator look it up.
    if let Value::Object(object) = &mut schema {
        object.remove("$schema");
    }
    jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(false)
        .build(&schema)
        .map_err(|error| schema_error(&error))
}

/// What is wrong with a schema, in the words of the original's validator where known.
fn schema_error(error: &ValidationError<'_>) -> String {
    let instance = from_value(error.instance());
    match error.kind() {
        ValidationErrorKind::AnyOf { .. } => format!(
            "{} is not valid under any of the given schemas",
            python::repr(&instance)
        ),
        _ => error.to_string(),
    }
}

/// A pointer as positions in the order written.
fn rank(root: &Json, at: &str) -> Vec<usize> {
    let mut ranks = Vec::new();
    let mut here = Some(root);
    for token in pointer::tokens(at) {
        let (rank, below) = match here {
            Some(Json::Object(object)) => {
                let rank = object.iter().position(|(name, _)| *name == *token);
                (rank.unwrap_or(usize::MAX), object.get(&token))
            }
            Some(Json::Array(items)) => {
                let rank = token.parse().unwrap_or(usize::MAX);
                (rank, items.get(rank))
            }
            _ => (usize::MAX, None),
        };
        ranks.push(rank);
        here = below;
    }
    ranks
}

fn message(error: &ValidationError<'_>, child: &Json, schema: &Json) -> String {
    let path = error.instance_path().to_string();
    let mut place = String::new();
    let mut at = Some(child);
    for token in pointer::tokens(&path) {
        let in_array = matches!(at, Some(Json::Array(_)));
        place += &match (in_array, place.is_empty()) {
            (true, _) => format!("[{token}]"),
            (false, true) => token.clone(),
            (false, false) => format!(".{token}"),
        };
        at = match at {
            Some(Json::Array(items)) => token
                .parse::<usize>()
                .ok()
                .and_then(|index| items.get(index)),
            Some(other) => other.get(&token),
            None => None,
        };
    }
    let found = at.cloned().unwrap_or_else(|| from_value(error.instance()));
    let text = match error.kind() {
        // The error is about the name, reported at the object.
        ValidationErrorKind::PropertyNames { error } => {
            let name = from_value(error.instance());
            sentence(error, &name, schema)
        }
        _ => sentence(error, &found, schema),
    };
    if place.is_empty() {
        text
    } else {
        format!("At '{place}': {text}")
    }
}

fn sentence(error: &ValidationError<'_>, found: &Json, schema: &Json) -> String {
    use ValidationErrorKind as Kind;
    let at = error.schema_path().to_string();
    let keyword = pointer::resolve(schema, &at);
    let wanted = || keyword.map(python::repr).unwrap_or_default();
    let plain = || python::text(keyword);
    let length = || match found {
        Json::String(text) => text.code_points().count(),
        _ => 0,
    };
    let found_text = || python::repr(found);
    match error.kind() {
        Kind::Required { property } if !at.ends_with("/required") => {
            // `dependencies` and `dependentRequired` name the member that requires another.
            let asks = |wanted: &Json| {
                let names = wanted.as_array().unwrap_or_default();
                names.iter().any(|name| name.as_str() == property.as_str())
            };
            let asking = keyword
                .and_then(Json::as_object)
                .into_iter()
                .flat_map(|object| object.iter())
                .find(|(name, wanted)| found.get(name.to_string_lossy()).is_some() && asks(wanted))
                .map(|(name, _)| name.to_string_lossy().to_owned())
                .unwrap_or_default();
            format!(
                "{} is a dependency of {}",
                python::repr(&from_value(property)),
                python::repr(&Json::string(asking))
            )
        }
        Kind::Required { property } => {
            let names: Vec<String> = match keyword.and_then(Json::as_array) {
                Some(names) => names
                    .iter()
                    .map(|name| format!("'{}'", python::text(Some(name))))
                    .collect(),
                None => vec![format!("'{}'", property.as_str().unwrap_or_default())],
            };
            format!("Missing required properties: {}", names.join(", "))
        }
        Kind::Type { .. } => format!(
            "Expected type '{}', got '{}'",
            plain(),
            python::type_name(found)
        ),
        Kind::Enum { .. } => format!("Value must be one of: {}", wanted()),
        Kind::Pattern { .. } => format!("Value does not match pattern: {}", plain()),
        Kind::MinLength { .. } => {
            format!("String too short (minimum {}, got {})", plain(), length())
        }
        Kind::MaxLength { .. } => {
            format!("String too long (maximum {}, got {})", plain(), length())
        }
        Kind::Constant { .. } => format!("{} was expected", wanted()),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            format!(
                "{} is not valid under any of the given schemas",
                found_text()
            )
        }
        Kind::Minimum { .. } => {
            format!("{} is less than the minimum of {}", found_text(), wanted())
        }
        Kind::Maximum { .. } => format!(
            "{} is greater than the maximum of {}",
            found_text(),
            wanted()
        ),
        Kind::ExclusiveMinimum { .. } => {
            format!(
                "{} is less than or equal to the minimum of {}",
                found_text(),
                wanted()
            )
        }
        Kind::ExclusiveMaximum { .. } => {
            format!(
                "{} is greater than or equal to the maximum of {}",
                found_text(),
                wanted()
            )
        }
        Kind::MultipleOf { .. } => format!("{} is not a multiple of {}", found_text(), wanted()),
        Kind::UniqueItems => format!("{} has non-unique elements", found_text()),
        Kind::AdditionalProperties { unexpected } => unexpected_members(unexpected.clone()),
        // The validator's text for `"additionalProperties": false` without any property.
        Kind::FalseSchema if at.ends_with("/additionalProperties") => {
            let names = found
                .as_object()
                .into_iter()
                .flat_map(|object| object.by_name().into_keys());
            unexpected_members(
                names
                    .map(|name| name.to_string_lossy().to_owned())
                    .collect(),
            )
        }
        Kind::Not { .. } => format!("{} should not be valid under {}", found_text(), wanted()),
        Kind::OneOfMultipleValid { context } => {
            let schemas = keyword.and_then(Json::as_array).unwrap_or_default();
            let mut valid: Vec<String> = schemas
                .iter()
                .zip(context)
                .filter(|(_, errors)| errors.is_empty())
                .map(|(schema, _)| python::repr(schema))
                .collect();
            // The original lists the others first.
            if !valid.is_empty() {
                valid.rotate_left(1);
            }
            format!(
                "{} is valid under each of {}",
                found_text(),
                valid.join(", ")
            )
        }
        Kind::Contains => format!(
            "{} does not contain items matching the given schema",
            found_text()
        ),
        Kind::MinItems { limit: 1 } | Kind::MinProperties { limit: 1 } => {
            format!("{} should be non-empty", found_text())
        }
        Kind::MaxItems { limit: 0 } | Kind::MaxProperties { limit: 0 } => {
            format!("{} is expected to be empty", found_text())
        }
        Kind::MinItems { .. } => format!("{} is too short", found_text()),
        Kind::MaxItems { .. } => format!("{} is too long", found_text()),
        Kind::MinProperties { .. } => format!("{} does not have enough properties", found_text()),
        Kind::MaxProperties { .. } => format!("{} has too many properties", found_text()),
        Kind::FalseSchema => format!("False schema does not allow {}", found_text()),
        _ => error.to_string(),
    }
}

fn unexpected_members(mut names: Vec<String>) -> String {
    names.sort();
    let verb = if names.len() == 1 { "was" } else { "were" };
    let names: Vec<String> = names
        .iter()
        .map(|name| python::repr(&Json::string(name.as_str())))
        .collect();
    format!(
        "Additional properties are not allowed ({} {verb} unexpected)",
        names.join(", ")
    )
}

/// For the validator, which reads `serde_json` values. `None` for values that JSON cannot
/// represent.
fn value(json: &Json) -> Option<Value> {
    serde_json::from_str(&to_compact(json)).ok()
}

fn from_value(value: &Value) -> Json {
    exact_json::parse_str(&value.to_string()).unwrap_or(Json::Null)
}

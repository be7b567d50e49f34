//! Whether one value satisfies a schema, three-valued: `None` where a keyword is beyond this evaluator.
//!
//! The real validator answers for whole documents. A proof also asks about single values at inner places (the
//! members of an `enum`, the name of a member), thousands of times, and has to do so on exact decimals.

use std::cell::RefCell;
use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::super::document::{Document, Draft};
use super::super::value::{as_count, as_i64, same};
use super::language::{Inclusion, included};
use super::view::{Kind, Kinds, bound_of};
use crate::canonical::{Json, Object};

/// Compiled patterns, each compiled once.
#[derive(Default)]
pub(crate) struct Patterns {
    compiled: RefCell<HashMap<String, Option<Validator>>>,
    compared: RefCell<HashMap<(String, String), bool>>,
}

impl Patterns {
    /// Whether every text that one pattern matches is shown to be matched by another.
    pub(crate) fn includes(&self, one: &str, other: &str) -> bool {
        one == other
            || *self
                .compared
                .borrow_mut()
                .entry((one.to_owned(), other.to_owned()))
                .or_insert_with(|| included(one, other) == Inclusion::Holds)
    }

    /// Whether a text matches; `None` where the pattern cannot be compiled or the engine gives up.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        if pattern.is_empty() || pattern == ".*" || pattern == "^.*" {
            return Some(true);
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

/// How deep an evaluation follows schemas.
const MAX_DEPTH: usize = 24;

/// Whether `value` satisfies `node`.
pub(crate) fn accepts(
    document: &Document,
    node: &Json,
    value: &Json,
    patterns: &Patterns,
) -> Option<bool> {
    Evaluation { document, patterns }.node(node, value, 0)
}

/// Whether `value` satisfies all of `nodes`.
pub(crate) fn accepts_all<'a>(
    document: &Document,
    nodes: impl IntoIterator<Item = &'a Object>,
    value: &Json,
    patterns: &Patterns,
) -> Option<bool> {
    let evaluation = Evaluation { document, patterns };
    all(nodes
        .into_iter()
        .map(|node| evaluation.object(node, value, 0)))
}

/// Conjunction of three-valued answers: one `false` decides.
fn all(answers: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
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
    all(answers.into_iter().map(|answer| answer.map(|it| !it))).map(|it| !it)
}

struct Evaluation<'a> {
    document: &'a Document,
    patterns: &'a Patterns,
}

impl Evaluation<'_> {
    fn node(&self, node: &Json, value: &Json, depth: usize) -> Option<bool> {
        if depth > MAX_DEPTH {
            return None;
        }
        match node {
            Json::Bool(verdict) => Some(*verdict),
            Json::Object(object) => self.object(object, value, depth),
            _ => None,
        }
    }

    fn object(&self, node: &Object, value: &Json, depth: usize) -> Option<bool> {
        if let Some(reference) = self.document.reference(node) {
            let target = match self.document.resolve(reference) {
                Ok((target, _)) => self.node(target, value, depth + 1),
                Err(_) => None,
            };
            if self.document.reference_stands_alone() || target == Some(false) {
                return target;
            }
            return all([target, self.keywords(node, value, depth)]);
        }
        self.keywords(node, value, depth)
    }

    fn keywords(&self, node: &Object, value: &Json, depth: usize) -> Option<bool> {
        all(node
            .iter()
            .map(|(keyword, argument)| match keyword.as_str() {
                Some(keyword) => self.keyword(node, keyword, argument, value, depth),
                None => Some(true),
            }))
    }

    fn keyword(
        &self,
        node: &Object,
        keyword: &str,
        argument: &Json,
        value: &Json,
        depth: usize,
    ) -> Option<bool> {
        let list = |argument: &Json| -> Option<Vec<Option<bool>>> {
            Some(
                argument
                    .as_array()?
                    .iter()
                    .map(|branch| self.node(branch, value, depth + 1))
                    .collect(),
            )
        };
        match keyword {
            "type" => {
                let kind = Kind::of(value);
                // Draft 4 does not count 1.0 as an integer.
                if self.document.draft == Draft::Four && kind == Kind::Integer && !is_literal(value)
                {
                    return None;
                }
                Some(Kinds::of_keyword(argument).has(kind))
            }
            "const" if self.document.draft > Draft::Four => Some(same(argument, value)),
            "enum" => Some(argument.as_array()?.iter().any(|one| same(one, value))),
            "allOf" => all(list(argument)?),
            "anyOf" => any(list(argument)?),
            "oneOf" => {
                let answers = list(argument)?;
                if answers.iter().filter(|it| **it == Some(true)).count() > 1 {
                    return Some(false);
                }
                if answers.contains(&None) {
                    return None;
                }
                Some(answers.contains(&Some(true)))
            }
            "not" => self.node(argument, value, depth + 1).map(|it| !it),
            "if" => {
                let then = node.get("then");
                let otherwise = node.get("else");
                let branch = |branch: Option<&Json>| match branch {
                    Some(branch) => self.node(branch, value, depth + 1),
                    None => Some(true),
                };
                match self.node(argument, value, depth + 1) {
                    Some(true) => branch(then),
                    Some(false) => branch(otherwise),
                    None => None,
                }
            }
            _ => match value {
                Json::Null | Json::Bool(_) => Some(true),
                Json::Number(_) => number(node, keyword, argument, value),
                Json::String(text) => self.string(keyword, argument, text.as_str()?),
                Json::Array(_) | Json::Object(_) => {
                    if is_annotation(keyword) {
                        Some(true)
                    } else {
                        None
                    }
                }
            },
        }
    }

    fn string(&self, keyword: &str, argument: &Json, text: &str) -> Option<bool> {
        let length = || u64::try_from(text.chars().count()).ok();
        match keyword {
            "minLength" => Some(length()? >= as_count(argument)?),
            "maxLength" => Some(length()? <= as_count(argument)?),
            "pattern" => self.patterns.matches(argument.as_str()?, text),
            "contentEncoding" | "contentMediaType" => None,
            _ => Some(true),
        }
    }
}

fn is_literal(value: &Json) -> bool {
    matches!(value, Json::Number(number) if number.is_integer_literal())
}

fn number(node: &Object, keyword: &str, argument: &Json, value: &Json) -> Option<bool> {
    let Json::Number(number) = value else {
        return None;
    };
    let lower = match keyword {
        "minimum" | "exclusiveMinimum" => true,
        "maximum" | "exclusiveMaximum" => false,
        "multipleOf" => return multiple(number, argument),
        _ => return Some(true),
    };
    let Some(bound) = bound_of(node, lower) else {
        return Some(true);
    };
    let order = number.decimal().cmp(&bound.value);
    Some(if bound.exclusive && order.is_eq() {
        false
    } else if lower {
        order.is_ge()
    } else {
        order.is_le()
    })
}

fn multiple(number: &crate::canonical::Number, of: &Json) -> Option<bool> {
    let Json::Number(of) = of else { return None };
    match (as_i64(number), as_i64(of)) {
        (_, Some(0)) => None,
        (Some(number), Some(of)) => Some(number % of == 0),
        (None, Some(_)) if !number.decimal().is_integer() => Some(false),
        _ => None,
    }
}

/// Annotations of the specification.
pub(crate) fn is_prose(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "example"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
            | "$schema"
            | "$id"
            | "id"
            | "$vocabulary"
            | "$anchor"
            | "$dynamicAnchor"
            | "$recursiveAnchor"
    )
}

/// Keywords that say nothing about validity in any draft.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    is_prose(keyword) || matches!(keyword, "$defs" | "definitions" | "nullable")
}

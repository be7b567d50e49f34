//! JSON with comments and TOML as one kind of tree, in which every value knows its line.

use std::path::Path;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::node::Source;
use super::ConfigError;

/// A value and its line.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Null, or what only TOML has.
    Other,
    Bool(bool),
    /// As it was written.
    Number(String),
    String(String),
    Array(Vec<Node>),
    /// In the order of the file; the last of two members with one name counts.
    Object(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        match &self.value {
            Value::Object(members) => {
                let found = members.iter().rev().find(|(it, _)| it == name);
                found.map(|(_, node)| node)
            }
            _ => None,
        }
    }

    /// A member under either of two spellings.
    pub(super) fn either(&self, one: &str, other: &str) -> Option<&Node> {
        self.get(one).or_else(|| self.get(other))
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &Node)> {
        let members = match &self.value {
            Value::Object(members) => &members[..],
            _ => &[],
        };
        members.iter().map(|(name, node)| (name.as_str(), node))
    }

    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Value::Array(items) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A text, a number or a truth as text: clients write the values of variables in all three ways.
    pub(super) fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::String(text) | Value::Number(text) => Some(text.clone()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => None,
        }
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        match self.value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    pub(super) fn error(&self, path: &Path, problem: &str, help: &str) -> ConfigError {
        ConfigError::At {
            path: path.to_owned(),
            line: self.line,
            problem: problem.to_owned(),
            help: help.to_owned(),
        }
    }
}

/// JSON, with comments and trailing commas allowed and nothing else.
pub(super) fn jsonc(path: &Path, text: &str) -> Result<Node, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let wrong = |line: usize, problem: String| ConfigError::At {
        path: path.to_owned(),
        line,
        problem,
        help: "expected JSON; comments and trailing commas are allowed".to_owned(),
    };
    let parsed = parse_to_ast(text, &collect, &options)
        .map_err(|error| wrong(error.line_display(), format!("not JSON: {}", error.kind())))?;
    let lines = Lines::of(text);
    match parsed.value {
        Some(value) => Ok(of_jsonc(&value, &lines)),
        None => Err(wrong(1, "the file is empty".to_owned())),
    }
}

fn of_jsonc(value: &ast::Value<'_>, lines: &Lines) -> Node {
    let line = lines.at(value.range().start);
    let value = match value {
        ast::Value::StringLit(text) => Value::String(text.value.clone().into_owned()),
        ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
        ast::Value::BooleanLit(truth) => Value::Bool(truth.value),
        ast::Value::Array(array) => {
            let items = array.elements.iter();
            Value::Array(items.map(|it| of_jsonc(it, lines)).collect())
        }
        ast::Value::Object(object) => {
            let members = object.properties.iter().map(|it| {
                let name = it.name.as_str().to_owned();
                (name, of_jsonc(&it.value, lines))
            });
            Value::Object(members.collect())
        }
        ast::Value::NullKeyword(_) => Value::Other,
    };
    Node { line, value }
}

pub(super) fn toml(path: &Path, text: &str) -> Result<Node, ConfigError> {
    let table = Source::new(path, text).parse()?;
    let lines = Lines::of(text);
    Ok(Node {
        line: 1,
        value: of_table(table.get_ref(), &lines),
    })
}

fn of_table(table: &DeTable<'_>, lines: &Lines) -> Value {
    let members = table
        .iter()
        .map(|(name, value)| (name.get_ref().to_string(), of_toml(value, lines)));
    Value::Object(members.collect())
}

fn of_toml(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let line = lines.at(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => Value::Number(number.to_string()),
        DeValue::Float(number) => Value::Number(number.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Array(items) => Value::Array(items.iter().map(|it| of_toml(it, lines)).collect()),
        DeValue::Table(table) => of_table(table, lines),
        DeValue::Datetime(_) => Value::Other,
    };
    Node { line, value }
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|it| it.1 == b'\n');
        Self(std::iter::once(0).chain(ends.map(|it| it.0 + 1)).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

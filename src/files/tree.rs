//! TOML, JSON with comments and strict JSON as one tree type whose values know their lines.
//!
//! For files that people write: a tree keeps values, not spelling. Anything a digest covers is read by
//! [`crate::canonical`].

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use toml_edit::{Document as Toml, Item, TableLike, Value as TomlValue};

use crate::canonical::reader::MAX_VALUES;
use crate::canonical::{Document, Json, Lines, parse_document, pointer};

#[derive(Clone, Debug)]
pub struct Tree {
    /// One-based: where the value begins; in TOML, where its key begins.
    pub line: usize,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    /// Only in JSON.
    Null,
    Bool(bool),
    Number {
        /// As written, without TOML's underscores.
        text: String,
        /// The value, if it is an integer that fits.
        whole: Option<i64>,
    },
    String(String),
    /// Year, month and day. Only in TOML, like [`Value::Time`].
    Date(u16, u8, u8),
    /// A time, or a date with a time.
    Time,
    Array(Vec<Tree>),
    /// In file order, in TOML by name; the last member of a name counts.
    Object(Vec<(String, Tree)>),
}

/// Where and why a text is not valid in its format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct SyntaxError {
    /// One-based.
    pub line: usize,
    pub problem: String,
}

/// Maximum length of a text in TOML. Its parser takes a hundred times as much memory, and no configuration or manifest comes
/// near it.
const MAX_TOML: usize = 1 << 20;

impl Tree {
    pub fn from_toml(text: &str) -> Result<Self, SyntaxError> {
        if text.len() > MAX_TOML {
            return Err(SyntaxError {
                line: 1,
                problem: "larger than 1 MiB".to_owned(),
            });
        }
        let lines = Lines::of(text.as_bytes());
        let document = Toml::parse(text).map_err(|error| SyntaxError {
            line: lines.at(error.span().unwrap_or_default().start),
            problem: format!(
                "not TOML: {}",
                error.message().lines().next().unwrap_or("syntax error")
            ),
        })?;
        Ok(Self {
            line: 1,
            value: toml_table(document.as_table(), text, &lines),
        })
    }

    /// From JSON; comments and trailing commas are the only extensions allowed.
    pub fn from_jsonc(text: &str) -> Result<Self, SyntaxError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // Each value but the first comes after one of these.
        let before_a_value = |byte: &u8| matches!(byte, b',' | b':' | b'[');
        if text.bytes().filter(before_a_value).count() >= MAX_VALUES {
            return Err(SyntaxError {
                line: 1,
                problem: format!("more than {MAX_VALUES} values"),
            });
        }
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
        let parsed = parse_to_ast(text, &collect, &options).map_err(|error| SyntaxError {
            line: error.line_display(),
            problem: format!("not JSON: {}", error.kind()),
        })?;
        match parsed.value {
            Some(value) => Ok(jsonc(&value, &Lines::of(text.as_bytes()))),
            None => Err(SyntaxError {
                line: 1,
                problem: "the file is empty".to_owned(),
            }),
        }
    }

    /// From strict JSON.
    pub fn from_json(text: &str) -> Result<Self, SyntaxError> {
        let document = parse_document(text.as_bytes()).map_err(|error| SyntaxError {
            line: error.line,
            problem: format!("not JSON: {}", error.problem),
        })?;
        Ok(json(&document, &document.value, &mut String::new()))
    }

    pub fn get(&self, name: &str) -> Option<&Tree> {
        match &self.value {
            Value::Object(members) => {
                let found = members.iter().rev().find(|(it, _)| it == name);
                found.map(|(_, tree)| tree)
            }
            _ => None,
        }
    }

    /// The value at this path of member names.
    pub fn at(&self, path: &[&str]) -> Option<&Tree> {
        path.iter().try_fold(self, |tree, name| tree.get(name))
    }

    /// A member under either of two spellings.
    pub fn either(&self, one: &str, other: &str) -> Option<&Tree> {
        self.get(one).or_else(|| self.get(other))
    }

    /// The members of an object; empty for anything else.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Tree)> {
        let members = match &self.value {
            Value::Object(members) => &members[..],
            _ => &[],
        };
        members.iter().map(|(name, tree)| (name.as_str(), tree))
    }

    /// The items of an array; empty for anything else.
    pub fn items(&self) -> &[Tree] {
        match &self.value {
            Value::Array(items) => items,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A string, a number or a boolean as text: clients write the values of variables in all three forms.
    pub fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::String(text) | Value::Number { text, .. } => Some(text.clone()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => None,
        }
    }

    pub fn boolean(&self) -> Option<bool> {
        match self.value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    pub fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    /// Whether it carries no setting: null, or a type that only TOML has.
    pub fn is_other(&self) -> bool {
        matches!(self.value, Value::Null | Value::Date(..) | Value::Time)
    }
}

fn toml_table(table: &dyn TableLike, text: &str, lines: &Lines) -> Value {
    let mut members: Vec<(String, Tree)> = table
        .iter()
        .map(|(name, item)| {
            let span = table.key(name).and_then(toml_edit::Key::span);
            let line = lines.at(span.unwrap_or_default().start);
            let value = toml_item(item, text, lines);
            (name.to_owned(), Tree { line, value })
        })
        .collect();
    members.sort_by(|one, other| one.0.cmp(&other.0));
    Value::Object(members)
}

fn toml_item(item: &Item, text: &str, lines: &Lines) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => toml_value(value, text, lines),
        Item::Table(table) => toml_table(table, text, lines),
        Item::ArrayOfTables(tables) => {
            let item = |table: &toml_edit::Table| Tree {
                line: lines.at(table.span().unwrap_or_default().start),
                value: toml_table(table, text, lines),
            };
            Value::Array(tables.iter().map(item).collect())
        }
    }
}

fn toml_value(value: &TomlValue, text: &str, lines: &Lines) -> Value {
    let span = value.span().unwrap_or_default();
    let number = || text.get(span.clone()).unwrap_or_default().replace('_', "");
    match value {
        TomlValue::String(text) => Value::String(text.value().clone()),
        TomlValue::Integer(whole) => Value::Number {
            text: number(),
            whole: Some(*whole.value()),
        },
        TomlValue::Float(_) => Value::Number {
            text: number(),
            whole: None,
        },
        TomlValue::Boolean(truth) => Value::Bool(*truth.value()),
        TomlValue::Array(items) => {
            let item = |item: &TomlValue| Tree {
                line: lines.at(item.span().unwrap_or_default().start),
                value: toml_value(item, text, lines),
            };
            Value::Array(items.iter().map(item).collect())
        }
        TomlValue::InlineTable(table) => toml_table(table, text, lines),
        TomlValue::Datetime(moment) => match (moment.value().date, moment.value().time) {
            (Some(date), None) => Value::Date(date.year, date.month, date.day),
            _ => Value::Time,
        },
    }
}

fn jsonc(value: &ast::Value<'_>, lines: &Lines) -> Tree {
    let line = lines.at(value.range().start);
    let value = match value {
        ast::Value::StringLit(text) => Value::String(text.value.clone().into_owned()),
        ast::Value::NumberLit(number) => literal(number.value),
        ast::Value::BooleanLit(truth) => Value::Bool(truth.value),
        ast::Value::Array(array) => {
            let items = array.elements.iter();
            Value::Array(items.map(|it| jsonc(it, lines)).collect())
        }
        ast::Value::Object(object) => {
            let members = object.properties.iter().map(|it| {
                let name = it.name.as_str().to_owned();
                (name, jsonc(&it.value, lines))
            });
            Value::Object(members.collect())
        }
        ast::Value::NullKeyword(_) => Value::Null,
    };
    Tree { line, value }
}

fn json(document: &Document, value: &Json, at: &mut String) -> Tree {
    let line = document.line(at);
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => literal(number.literal()),
        Json::String(text) => Value::String(text.to_string_lossy().to_owned()),
        Json::Array(items) => {
            let items = items.iter().enumerate().map(|(index, item)| {
                pointer::descend(at, &index.to_string(), |at| json(document, item, at))
            });
            Value::Array(items.collect())
        }
        Json::Object(object) => {
            let members = object.iter().map(|(name, value)| {
                let name = name.to_string_lossy();
                let tree = pointer::descend(at, name, |at| json(document, value, at));
                (name.to_owned(), tree)
            });
            Value::Object(members.collect())
        }
    };
    Tree { line, value }
}

/// A JSON number.
fn literal(text: &str) -> Value {
    Value::Number {
        text: text.to_owned(),
        whole: text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every scalar by its path, with its line.
    fn scalars(tree: &Tree) -> Vec<(String, usize, String)> {
        fn walk(tree: &Tree, at: &str, found: &mut Vec<(String, usize, String)>) {
            if let Some(text) = tree.scalar() {
                found.push((at.to_owned(), tree.line, text));
            }
            for (name, member) in tree.members() {
                walk(member, &format!("{at}/{name}"), found);
            }
            for (index, item) in tree.items().iter().enumerate() {
                walk(item, &format!("{at}/{index}"), found);
            }
        }
        let mut found = Vec::new();
        walk(tree, "", &mut found);
        found.sort();
        found
    }

    #[test]
    fn the_same_settings_are_the_same_tree_in_every_format() {
        let toml = "a = 1\n[b]\nc = [\n  true,\n  \"x\",\n]\nd = 2.5\n";
        let json = "{ \"a\": 1,\n  \"b\": {\n  \"c\": [\n  true,\n  \"x\"\n], \"d\": 2.5\n}}";
        let jsonc = "{ \"a\": 1, // one\n  \"b\": {\n  \"c\": [\n  true,\n  \"x\",\n], /* d */ \"d\": 2.5\n}}";
        let trees = [
            scalars(&Tree::from_toml(toml).unwrap()),
            scalars(&Tree::from_json(json).unwrap()),
            scalars(&Tree::from_jsonc(jsonc).unwrap()),
        ];
        let expected = |last: usize| {
            [
                ("/a", 1, "1"),
                ("/b/c/0", 4, "true"),
                ("/b/c/1", 5, "x"),
                ("/b/d", last, "2.5"),
            ]
            .map(|(at, line, text)| (at.to_owned(), line, text.to_owned()))
        };
        assert_eq!(trees[0], expected(7));
        assert_eq!(trees[1], expected(6));
        assert_eq!(trees[2], expected(6));
    }

    #[test]
    fn a_syntax_error_has_a_line_in_every_format() {
        for error in [
            Tree::from_toml("a = 1\nb = = 2\n"),
            Tree::from_json("{\"a\": 1,\n}"),
            Tree::from_jsonc("{\"a\": 1,\n oops}"),
        ] {
            assert_eq!(error.unwrap_err().line, 2);
        }
        assert!(Tree::from_jsonc("// nothing").is_err());
    }

    #[test]
    fn integers_are_read_in_every_base() {
        let tree = Tree::from_toml("a = 0x1f\nb = 1_000\nc = 1.0\nd = 2027-01-31\n").unwrap();
        let whole = |name: &str| match tree.get(name).unwrap().value {
            Value::Number { whole, .. } => whole,
            _ => None,
        };
        assert_eq!(whole("a"), Some(31));
        assert_eq!(whole("b"), Some(1000));
        assert_eq!(whole("c"), None);
        assert!(matches!(
            tree.get("d").unwrap().value,
            Value::Date(2027, 1, 31)
        ));
    }
}

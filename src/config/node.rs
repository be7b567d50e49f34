//! A value of the configuration that knows where it stands, and the errors that it makes of that.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::suggestion;

/// A configuration that cannot be used (exit 2).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file system refused.
    #[error("{}: cannot read it: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Something is wrong on a line.
    #[error("{}:{line}: {problem}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        problem: String,
        /// What was expected, and how to go on.
        help: String,
    },
}

impl ConfigError {
    /// How to go on.
    pub fn help(&self) -> String {
        match self {
            Self::Io { .. } => {
                "check the path, or write one with `[server.NAME]` and `command = [...]`".to_owned()
            }
            Self::At { help, .. } => help.clone(),
        }
    }

    pub(super) fn expecting(mut self, expected: &str) -> Self {
        if let Self::At { help, .. } = &mut self {
            *help = format!("expected {expected}");
        }
        self
    }
}

/// The text of a configuration and where it came from.
pub(super) struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text }
    }

    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'a>>, ConfigError> {
        DeTable::parse(self.text).map_err(|error| {
            let problem = format!(
                "not TOML: {}",
                error.message().lines().next().unwrap_or("syntax error")
            );
            self.error(error.span().unwrap_or_default(), &problem)
        })
    }

    fn line(&self, span: &Range<usize>) -> usize {
        self.text.as_bytes()[..span.start.min(self.text.len())]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1
    }

    fn error(&self, span: Range<usize>, problem: &str) -> ConfigError {
        ConfigError::At {
            path: self.path.to_owned(),
            line: self.line(&span),
            problem: problem.to_owned(),
            help: "docs/configuration.md has every key with an example".to_owned(),
        }
    }
}

/// One value, with its name and its place.
#[derive(Clone)]
pub(super) struct Node<'a> {
    source: &'a Source<'a>,
    name: String,
    span: Range<usize>,
    value: Value<'a>,
}

#[derive(Clone, Copy)]
enum Value<'a> {
    Table(&'a DeTable<'a>),
    Other(&'a DeValue<'a>),
}

impl<'a> Node<'a> {
    pub(super) fn root(source: &'a Source<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self {
            source,
            name: String::new(),
            span: table.span(),
            value: Value::Table(table.get_ref()),
        }
    }

    fn child(&self, name: &str, span: Range<usize>, value: &'a DeValue<'a>) -> Self {
        let value = match value {
            DeValue::Table(table) => Value::Table(table),
            other => Value::Other(other),
        };
        let name = if self.name.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.name)
        };
        Self {
            source: self.source,
            name,
            span,
            value,
        }
    }

    pub(super) fn line(&self) -> usize {
        self.source.line(&self.span)
    }

    pub(super) fn error(&self, problem: &str) -> ConfigError {
        self.source.error(self.span.clone(), problem)
    }

    /// The last part of its name.
    pub(super) fn key(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    fn wrong_type(&self, expected: &str) -> ConfigError {
        let found = match &self.value {
            Value::Table(_) => "a table",
            Value::Other(value) => value.type_str(),
        };
        self.error(&format!("`{}` is {found}", self.name))
            .expecting(expected)
    }

    fn table(&self) -> Result<&'a DeTable<'a>, ConfigError> {
        match self.value {
            Value::Table(table) => Ok(table),
            Value::Other(_) => Err(self.wrong_type("a table")),
        }
    }

    /// The member of this name, placed at its key.
    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        let Value::Table(table) = self.value else {
            return None;
        };
        let (key, value) = table.get_key_value(name)?;
        Some(self.child(name, key.span(), value.get_ref()))
    }

    pub(super) fn require(&self, name: &str, expected: &str) -> Result<Node<'a>, ConfigError> {
        self.table()?;
        self.get(name).ok_or_else(|| {
            let within = if self.name.is_empty() {
                String::new()
            } else {
                format!(" in `{}`", self.name)
            };
            self.error(&format!("`{name}` is missing{within}"))
                .expecting(expected)
        })
    }

    pub(super) fn members(&self) -> Result<Vec<(String, Node<'a>)>, ConfigError> {
        Ok(self
            .table()?
            .iter()
            .map(|(key, value)| {
                let name = key.get_ref().to_string();
                let node = self.child(&name, key.span(), value.get_ref());
                (name, node)
            })
            .collect())
    }

    pub(super) fn items(&self) -> Result<Vec<Node<'a>>, ConfigError> {
        let Value::Other(DeValue::Array(items)) = self.value else {
            return Err(self.wrong_type(&format!("an array, written as `[[{}]]`", self.name)));
        };
        Ok(items
            .iter()
            .map(|item| self.child("", item.span(), item.get_ref()))
            .collect())
    }

    /// Refuses every key but these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        self.only_of(
            "key",
            known,
            "docs/configuration.md has every key with an example",
        )
    }

    /// Refuses every key that is not one of the known `what`.
    pub(super) fn only_of(
        &self,
        what: &str,
        known: &[&str],
        otherwise: &str,
    ) -> Result<(), ConfigError> {
        for (name, node) in self.members()? {
            if !known.contains(&name.as_str()) {
                let mut error = node.error(&format!("there is no {what} `{}`", node.name));
                if let ConfigError::At { help, .. } = &mut error {
                    *help = match suggestion(&name, known.iter().copied()) {
                        Some(close) => format!("did you mean `{close}`?"),
                        None if known.len() < 20 => format!("known here: {}", known.join(", ")),
                        None => otherwise.to_owned(),
                    };
                }
                return Err(error);
            }
        }
        Ok(())
    }

    pub(super) fn string(&self) -> Result<&'a str, ConfigError> {
        match self.value {
            Value::Other(DeValue::String(text)) => Ok(text),
            _ => Err(self.wrong_type("a string")),
        }
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.value, Value::Other(DeValue::String(_)))
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.value, Value::Other(DeValue::Array(_)))
    }

    pub(super) fn strings(&self) -> Result<Vec<String>, ConfigError> {
        let Value::Other(DeValue::Array(items)) = self.value else {
            return Err(self.wrong_type("an array of strings"));
        };
        items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) => Ok(text.to_string()),
                other => Err(self
                    .source
                    .error(
                        item.span(),
                        &format!("`{}` holds {}", self.name, other.type_str()),
                    )
                    .expecting("an array of strings")),
            })
            .collect()
    }

    pub(super) fn boolean(&self) -> Result<bool, ConfigError> {
        match self.value {
            Value::Other(DeValue::Boolean(value)) => Ok(*value),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    pub(super) fn integer(&self) -> Result<i64, ConfigError> {
        match self.value {
            Value::Other(DeValue::Integer(number)) => {
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| self.wrong_type("a whole number"))
            }
            _ => Err(self.wrong_type("a whole number")),
        }
    }

    pub(super) fn date(&self) -> Result<(u16, u8, u8), ConfigError> {
        let expected = "a date without quotes, such as 2027-01-31";
        match self.value {
            Value::Other(DeValue::Datetime(datetime)) => match (datetime.date, datetime.time) {
                (Some(date), None) => Ok((date.year, date.month, date.day)),
                _ => Err(self.wrong_type(expected)),
            },
            _ => Err(self.wrong_type(expected)),
        }
    }

    /// One of a few words.
    pub(super) fn word<T: FromStr>(
        &self,
        words: impl Iterator<Item = &'static str>,
    ) -> Result<T, ConfigError> {
        let words: Vec<&str> = words.collect();
        let found = self.string()?;
        found.parse().map_err(|_| {
            let mut error = self
                .error(&format!("`{found}` is not a value of `{}`", self.name))
                .expecting(&words.join(", "));
            if let (ConfigError::At { help, .. }, Some(close)) =
                (&mut error, suggestion(found, words.iter().copied()))
            {
                *help = format!("did you mean `{close}`? ({help})");
            }
            error
        })
    }
}

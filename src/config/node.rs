//! A value of the configuration that knows its name and line, and the errors made from them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::files::{Tree, Value};

use crate::settings::suggestion;

/// A configuration that cannot be used (exit 2).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error("{}: cannot read it: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}:{line}: {problem}", path.display())]
    At {
        path: PathBuf,
        /// One-based.
        line: usize,
        problem: String,
        /// What was expected, and how to go on.
        help: String,
    },
    /// A variable or an answer that is missing on this machine. The file itself is right.
    #[error("{}:{line}: {problem}", path.display())]
    Unset {
        path: PathBuf,
        /// One-based.
        line: usize,
        problem: String,
        help: String,
    },
    /// Several, each with its own help.
    #[error("{}", several(.0))]
    Several(Vec<ConfigError>),
}

/// One error per line, each with its help but the last, whose help follows.
fn several(errors: &[ConfigError]) -> String {
    let (last, before) = match errors.split_last() {
        Some(it) => it,
        None => return String::new(),
    };
    let before = before
        .iter()
        .map(|error| format!("{error} ({})\n", error.help()));
    format!("{}{last}", before.collect::<String>())
}

impl ConfigError {
    /// All errors of a file as one, in the order of its lines.
    pub(super) fn of_all(errors: Vec<Self>) -> Result<(), Self> {
        let mut all = Vec::new();
        for error in errors {
            match error {
                Self::Several(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        all.sort_by_key(|it| match it {
            Self::At { line, .. } | Self::Unset { line, .. } => *line,
            _ => 0,
        });
        match all.len() {
            0 => Ok(()),
            1 => all.pop().map_or(Ok(()), Err),
            _ => Err(Self::Several(all)),
        }
    }

    pub fn help(&self) -> String {
        match self {
            Self::Several(all) => all.last().map_or_else(String::new, Self::help),
            Self::Io { .. } => {
                "check the path, or create the file with `[server.NAME]` and `command = [...]`"
                    .to_owned()
            }
            Self::At { help, .. } | Self::Unset { help, .. } => help.clone(),
        }
    }

    /// Whether only something of this machine is missing, and nothing is wrong with the file.
    pub fn is_unset(&self) -> bool {
        matches!(self, Self::Unset { .. })
    }

    pub(super) fn expecting(mut self, expected: &str) -> Self {
        if let Self::At { help, .. } = &mut self {
            *help = format!("expected {expected}");
        }
        self
    }
}

pub(super) fn from_toml(path: &Path, text: &str) -> Result<Tree, ConfigError> {
    Tree::from_toml(text).map_err(|error| at(path, error.line, &error.problem))
}

pub(super) fn at(path: &Path, line: usize, problem: &str) -> ConfigError {
    ConfigError::At {
        path: path.to_owned(),
        line,
        problem: problem.to_owned(),
        help: "docs/configuration.md documents every key with an example".to_owned(),
    }
}

/// One value, with its name and position.
#[derive(Clone)]
pub(super) struct Node<'a> {
    path: &'a Path,
    name: String,
    tree: &'a Tree,
}

impl<'a> Node<'a> {
    pub(super) fn root(path: &'a Path, tree: &'a Tree) -> Self {
        Self {
            path,
            name: String::new(),
            tree,
        }
    }

    fn child(&self, name: &str, tree: &'a Tree) -> Self {
        let name = if self.name.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.name)
        };
        Self {
            path: self.path,
            name,
            tree,
        }
    }

    pub(super) fn line(&self) -> usize {
        self.tree.line
    }

    pub(super) fn error(&self, problem: &str) -> ConfigError {
        at(self.path, self.tree.line, problem)
    }

    /// Its whole name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The last part of its name.
    pub(super) fn key(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    fn wrong_type(&self, expected: &str) -> ConfigError {
        self.error(&format!("`{}` is {}", self.name, type_of(self.tree)))
            .expecting(expected)
    }

    fn table(&self) -> Result<(), ConfigError> {
        if self.tree.is_object() {
            Ok(())
        } else {
            Err(self.wrong_type("a table"))
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        Some(self.child(name, self.tree.get(name)?))
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
        self.table()?;
        let members = self.tree.members();
        Ok(members
            .map(|(name, tree)| (name.to_owned(), self.child(name, tree)))
            .collect())
    }

    pub(super) fn items(&self) -> Result<Vec<Node<'a>>, ConfigError> {
        if !self.is_array() {
            return Err(self.wrong_type(&format!("an array, written as `[[{}]]`", self.name)));
        }
        let items = self.tree.items().iter();
        let item = |tree| Self {
            path: self.path,
            name: self.name.clone(),
            tree,
        };
        Ok(items.map(item).collect())
    }

    /// Rejects all other keys.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        self.only_of(
            "key",
            known,
            "docs/configuration.md documents every key with an example",
        )
    }

    /// Rejects every key that is not one of the known `what`.
    pub(super) fn only_of(
        &self,
        what: &str,
        known: &[&str],
        otherwise: &str,
    ) -> Result<(), ConfigError> {
        let mut wrong = Vec::new();
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
                wrong.push(error);
            }
        }
        ConfigError::of_all(wrong)
    }

    pub(super) fn string(&self) -> Result<&'a str, ConfigError> {
        self.tree.text().ok_or_else(|| self.wrong_type("a string"))
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.tree.value, Value::String(_))
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.tree.value, Value::Array(_))
    }

    pub(super) fn strings(&self) -> Result<Vec<String>, ConfigError> {
        let expected = "an array of strings";
        if !self.is_array() {
            return Err(self.wrong_type(expected));
        }
        let items = self.tree.items().iter();
        items
            .map(|item| match item.text() {
                Some(text) => Ok(text.to_owned()),
                None => {
                    let problem = format!("`{}` holds {}", self.name, type_of(item));
                    Err(at(self.path, item.line, &problem).expecting(expected))
                }
            })
            .collect()
    }

    pub(super) fn boolean(&self) -> Result<bool, ConfigError> {
        let value = self.tree.boolean();
        value.ok_or_else(|| self.wrong_type("true or false"))
    }

    pub(super) fn integer(&self) -> Result<i64, ConfigError> {
        match self.tree.value {
            Value::Number {
                whole: Some(number),
                ..
            } => Ok(number),
            _ => Err(self.wrong_type("a whole number")),
        }
    }

    pub(super) fn date(&self) -> Result<(u16, u8, u8), ConfigError> {
        match self.tree.value {
            Value::Date(year, month, day) => Ok((year, month, day)),
            _ => Err(self.wrong_type("a date without quotes, such as 2027-01-31")),
        }
    }

    /// One of a fixed set of words.
    pub(super) fn word<T: FromStr>(
        &self,
        words: impl Iterator<Item = &'static str>,
    ) -> Result<T, ConfigError> {
        let words: Vec<&str> = words.collect();
        let found = self.string()?;
        found.parse().map_err(|_| {
            let mut error = self
                .error(&format!(
                    "`{found}` is not a valid value of `{}`",
                    self.name
                ))
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

fn type_of(tree: &Tree) -> &'static str {
    match tree.value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number { .. } => "a number",
        Value::String(_) => "a string",
        Value::Date(..) => "a date",
        Value::Time => "a time",
        Value::Array(_) => "an array",
        Value::Object(_) => "a table",
    }
}

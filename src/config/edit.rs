//! Changes to `mcp-keel.toml` that keep its comments, its order and its spelling.
//!
//! What is written is read again by [`Config::parse`](super::Config::parse) before it replaces anything.

use std::path::Path;

use toml_edit::{
    Array, ArrayOfTables, Datetime, DocumentMut, InlineTable, Item, Table, Value, value,
};

use super::{Config, ConfigError, node};

/// After everything that a file can have.
const LAST: isize = isize::MAX / 2;

/// A configuration that is being changed.
pub struct Document {
    document: DocumentMut,
    /// Whether its lines end in CR LF.
    crlf: bool,
}

/// A table `[server.NAME]` to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewServer {
    pub name: String,
    /// Its keys in order.
    pub values: Vec<(&'static str, NewValue)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    Switch,
    Number(u64),
    Text(String),
    Texts(Vec<String>),
    Pairs(Vec<(String, String)>),
}

impl NewValue {
    /// As it is written in TOML.
    pub fn written(&self) -> String {
        self.item().to_string().trim().to_owned()
    }

    fn item(&self) -> Item {
        match self {
            Self::Switch => value(true),
            Self::Number(number) => value(i64::try_from(*number).unwrap_or(i64::MAX)),
            Self::Text(text) => value(text),
            Self::Texts(texts) => value(texts.iter().map(String::as_str).collect::<Array>()),
            Self::Pairs(pairs) => {
                let mut table = InlineTable::new();
                for (name, text) in pairs {
                    table.insert(name, text.as_str().into());
                }
                value(table)
            }
        }
    }
}

/// A name as a part of a key in TOML, quoted if it has to be.
pub fn key(name: &str) -> String {
    toml_edit::Key::new(name).to_string()
}

impl Document {
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        // For an error with its line.
        node::from_toml(path, text)?;
        let document = text
            .trim_start_matches('\u{feff}')
            .replace("\r\n", "\n")
            .parse::<DocumentMut>()
            .map_err(|error| node::at(path, 1, error.message()))?;
        Ok(Self {
            document,
            crlf: text.contains("\r\n"),
        })
    }

    /// Writes `[server.NAME]`. Returns whether it is new; an existing table is left alone.
    pub fn add_server(&mut self, server: &NewServer) -> bool {
        let exists = self
            .document
            .get("server")
            .and_then(Item::as_table_like)
            .is_some_and(|it| it.contains_key(&server.name));
        if exists {
            return false;
        }
        let before = self.take_trailing();
        let mut table = Table::new();
        for (name, value) in &server.values {
            table.insert(name, value.item());
        }
        table.set_position(Some(LAST));
        table.decor_mut().set_prefix(before);
        let servers = self.document.entry("server").or_insert_with(|| {
            let mut servers = Table::new();
            servers.set_implicit(true);
            Item::Table(servers)
        });
        match servers.as_table_like_mut() {
            Some(servers) => {
                servers.insert(&server.name, Item::Table(table));
                true
            }
            None => false,
        }
    }

    /// Sets the baseline's path, unless it is set.
    pub fn set_baseline(&mut self, path: &str) {
        if self.document.get("baseline").is_none() {
            self.document.insert("baseline", value(path));
        }
    }

    /// The comments after the last table, to be put before a new one: with an empty line at the end if there is
    /// anything before it.
    fn take_trailing(&mut self) -> String {
        let trailing = self.document.trailing().as_str().unwrap_or_default();
        let trailing = trailing.trim_end().to_owned();
        self.document.set_trailing("");
        let is_first = self.document.iter().next().is_none();
        match (is_first, trailing.is_empty()) {
            (true, true) => String::new(),
            (false, true) => "\n".to_owned(),
            (_, false) => trailing + "\n\n",
        }
    }

    /// The text, if it is a configuration.
    pub fn finish(self, path: &Path) -> Result<String, ConfigError> {
        let text = self.document.to_string();
        Config::parse(path, &text)?;
        Ok(if self.crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "mcp-keel.toml";

    fn edited(text: &str, change: impl FnOnce(&mut Document)) -> String {
        let mut document = Document::parse(Path::new(PATH), text).unwrap();
        change(&mut document);
        document.finish(Path::new(PATH)).unwrap()
    }

    #[test]
    fn line_ends_stay() {
        let server = NewServer {
            name: "b".to_owned(),
            values: vec![("timeout", NewValue::Number(5))],
        };
        let after = edited("[server.a]\r\ncommand = [\"a\"]\r\n", |document| {
            document.add_server(&server);
        });
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    }

    #[test]
    fn a_server_is_added_once() {
        let server = NewServer {
            name: "a b".to_owned(),
            values: vec![
                (
                    "command",
                    NewValue::Texts(vec!["node".to_owned(), "x.js".to_owned()]),
                ),
                (
                    "env",
                    NewValue::Pairs(vec![("A".to_owned(), "1".to_owned())]),
                ),
                ("timeout", NewValue::Number(5)),
            ],
        };
        let before = "# ours\n[policy] # strict\nfail-on   = 'any'\n\n[server.b]\ncommand = [ \"b\" ]   # two\n\n# the end\n";
        let after = edited(before, |it| assert!(it.add_server(&server)));
        assert_eq!(
            after,
            format!(
                "{before}\n[server.\"a b\"]\ncommand = [\"node\", \"x.js\"]\nenv = {{ A = \"1\" }}\ntimeout = 5\n"
            )
        );
        assert_eq!(edited(&after, |it| assert!(!it.add_server(&server))), after);
    }
}

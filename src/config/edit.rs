//! Changes to `mcp-keel.toml` that keep its comments, its order and its spelling.
//!
//! What is written is read again by [`Config::parse`](super::Config::parse) before it replaces anything.

use std::path::Path;

use toml_edit::{
    Array, ArrayOfTables, Datetime, DocumentMut, InlineTable, Item, Table, Value, value,
};

use super::{Config, ConfigError, node};
use crate::policy::Decision;

/// After everything that a file can have.
const LAST: isize = isize::MAX / 2;

/// A configuration that is being changed.
pub struct Document {
    document: DocumentMut,
    /// Whether its lines end in CR LF.
    crlf: bool,
}

/// A decision about one change.
pub struct Entry {
    /// The id of the change.
    pub change: String,
    pub decision: Decision,
    /// What the change is, for a comment: one line.
    pub about: String,
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

    /// Writes a decision. Earlier ones about the same change are removed.
    pub fn decide(&mut self, entry: &Entry) {
        for list in ["accept", "reject"] {
            self.forget(list, &entry.change);
        }
        let mut table = Table::new();
        table.insert("change", value(&entry.change));
        let list = match &entry.decision {
            Decision::Accepted {
                reason,
                owner,
                until,
            } => {
                table.insert("reason", value(reason));
                table.insert("owner", value(owner));
                let until = until.and_then(|it| it.to_string().parse::<Datetime>().ok());
                if let Some(until) = until {
                    table.insert("expires", value(until));
                }
                "accept"
            }
            Decision::Rejected { reason, owner } => {
                table.insert("reason", value(reason));
                if let Some(owner) = owner {
                    table.insert("owner", value(owner));
                }
                "reject"
            }
        };
        let comment = if entry.about.is_empty() {
            String::new()
        } else {
            format!("# {}\n", entry.about)
        };
        match self.document.get_mut(list) {
            // Written as `accept = [{ change = "..." }]`.
            Some(Item::Value(Value::Array(array))) => {
                let mut inline = InlineTable::new();
                for (name, item) in table {
                    if let Item::Value(value) = item {
                        inline.insert(name, value);
                    }
                }
                array.push(inline);
            }
            Some(Item::ArrayOfTables(tables)) => {
                let blank = if tables.is_empty() { "" } else { "\n" };
                table.decor_mut().set_prefix(format!("{blank}{comment}"));
                tables.push(table);
            }
            _ => {
                table.set_position(Some(LAST));
                let before = self.take_trailing();
                table.decor_mut().set_prefix(format!("{before}{comment}"));
                let mut tables = ArrayOfTables::new();
                tables.push(table);
                self.document.insert(list, Item::ArrayOfTables(tables));
            }
        }
    }

    /// Removes the entries of a list about a change.
    fn forget(&mut self, list: &str, change: &str) {
        let is_about =
            |it: Option<&str>| it.is_some_and(|it| it.trim().eq_ignore_ascii_case(change));
        let is_empty = match self.document.get_mut(list) {
            Some(Item::ArrayOfTables(tables)) => {
                tables.retain(|it| !is_about(it.get("change").and_then(Item::as_str)));
                tables.is_empty()
            }
            Some(Item::Value(Value::Array(array))) => {
                array.retain(|it| {
                    let table = it.as_inline_table();
                    let change = table.and_then(|it| it.get("change"));
                    !is_about(change.and_then(Value::as_str))
                });
                false
            }
            _ => false,
        };
        if is_empty {
            self.document.remove(list);
        }
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

    fn accepted(change: &str) -> Entry {
        Entry {
            change: change.to_owned(),
            decision: Decision::Accepted {
                reason: "because \"it\" is".to_owned(),
                owner: "@me".to_owned(),
                until: "2027-01-31".parse().ok(),
            },
            about: "tool:a@: gone".to_owned(),
        }
    }

    fn rejected(change: &str) -> Entry {
        Entry {
            decision: Decision::Rejected {
                reason: "no".to_owned(),
                owner: None,
            },
            ..accepted(change)
        }
    }

    fn edited(text: &str, change: impl FnOnce(&mut Document)) -> String {
        let mut document = Document::parse(Path::new(PATH), text).unwrap();
        change(&mut document);
        document.finish(Path::new(PATH)).unwrap()
    }

    const ID: &str = "9f2c01ab77de4b60a1c5d38e92f47b06";
    const ENTRY: &str = "# tool:a@: gone\n[[accept]]\nchange = \"9f2c01ab77de4b60a1c5d38e92f47b06\"\nreason = 'because \"it\" is'\nowner = \"@me\"\nexpires = 2027-01-31\n";

    #[test]
    fn comments_order_and_spelling_stay() {
        let before = "# ours\n[policy] # strict\nfail-on   = 'any'\n\n[server.b]\ncommand = [ \"b\" ]   # two\n\n[server.a]\ncommand = [\"a\"]\n\n# the end\n# really\n";
        let after = edited(before, |it| it.decide(&accepted(ID)));
        assert_eq!(after, format!("{before}\n{ENTRY}"));
    }

    #[test]
    fn a_new_entry_follows_those_that_are_there() {
        let one = "[[accept]]\nchange = \"00000000000000000000000000000001\"\nreason = \"a\"\nowner = \"b\"\n";
        let rest = "\n[server.a]\ncommand = [\"a\"]\n";
        let after = edited(&format!("{one}{rest}"), |it| {
            it.decide(&accepted(ID));
        });
        assert_eq!(after, format!("{one}\n{ENTRY}{rest}"));
    }

    #[test]
    fn an_empty_file_gets_the_entry_alone() {
        assert_eq!(edited("", |it| it.decide(&accepted(ID))), ENTRY);
    }

    #[test]
    fn a_decision_replaces_the_earlier_one() {
        let before = edited("", |it| it.decide(&accepted(ID)));
        let after = edited(&before, |it| it.decide(&rejected(ID)));
        assert!(!after.contains("[[accept]]"), "{after}");
        assert!(after.contains("[[reject]]"), "{after}");
        let again = edited(&after, |it| it.decide(&accepted(ID)));
        assert_eq!(again, ENTRY);
    }

    #[test]
    fn an_inline_list_stays_inline() {
        let before = "accept = [{ change = \"00000000000000000000000000000001\", reason = \"a\", owner = \"b\" }]\n";
        let after = edited(before, |it| it.decide(&accepted(ID)));
        assert_eq!(after.lines().count(), 1, "{after}");
        assert_eq!(
            Config::parse(Path::new(PATH), &after)
                .unwrap()
                .policy
                .accept
                .len(),
            2
        );
    }

    #[test]
    fn line_ends_stay() {
        let after = edited("[server.a]\r\ncommand = [\"a\"]\r\n", |it| {
            it.decide(&accepted(ID));
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
        let before = "# ours\n[policy]\nfail-on = \"any\"\n";
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

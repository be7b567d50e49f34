//! Placeholders: what each client fills in, from where, and what happens if a value is missing.

use std::collections::BTreeMap;

use super::{ConfigError, File};
use crate::capture::http::Template;
use crate::files::Tree;

/// Which placeholders are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// None: the text is literal.
    Literal,
    /// `${VAR}` and `${VAR:-default}`
    Shell,
    /// `${env:VAR}`, `${workspaceFolder}` and the like, and `${input:id}`
    Editor,
    /// Both, because the file does not show which client it is for.
    Both,
    /// `${__dirname}`, `${user_config.KEY}` and a few directories
    Bundle,
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// An environment variable and its value.
    Variable {
        name: String,
        value: String,
    },
    /// What a client would ask its user for. May be a secret.
    Given {
        name: String,
        value: String,
    },
}

/// Values of a server's placeholders beyond the environment, by their name in a [`Template`].
pub(super) type Values = BTreeMap<String, String>;

/// An input that a client asks its user for: its id, its default, and whether it is secret.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) default: Option<String>,
    pub(super) secret: bool,
    pub(super) optional: bool,
}

pub(super) fn joined(pieces: Vec<Piece>, values: &mut Values) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out += &text,
            Piece::Variable { value, .. } => out += &value,
            Piece::Given { name, value } => {
                out += &value;
                values.insert(name, value);
            }
        }
    }
    out
}

/// The pieces as a template: filled-in values stay names, so that they are never shown.
pub(super) fn template(pieces: Vec<Piece>, values: &mut Values) -> Template {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            // A literal `${` must not be expanded later.
            Piece::Text(text) if text.contains("${") => {
                let name = format!("LITERAL_{}", values.len());
                out += &format!("${{{name}}}");
                values.insert(name, text);
            }
            Piece::Text(text) => out += &text,
            Piece::Variable { name, value } | Piece::Given { name, value } => {
                out += &format!("${{{name}}}");
                values.insert(name, value);
            }
        }
    }
    Template::new(out)
}

/// A user's input among what a server uses.
pub(super) fn input_use(id: &str) -> String {
    format!("input:{id}")
}

/// A user's input as the name of a variable.
pub(super) fn given_name(id: &str, secret: bool) -> String {
    let word: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if secret {
        format!("INPUT_SECRET_{word}")
    } else {
        format!("INPUT_{word}")
    }
}

impl File<'_> {
    /// Splits a text of the file into pieces. `node` locates it for errors.
    pub(super) fn pieces(
        &self,
        server: &str,
        node: &Tree,
        text: &str,
        asked: &BTreeMap<String, Asked>,
    ) -> Result<Vec<Piece>, ConfigError> {
        if self.dialect == Dialect::Literal {
            return Ok(vec![Piece::Text(text.to_owned())]);
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, after) = rest.split_at(at);
            let Some(end) = closing(after) else {
                break;
            };
            pieces.push(Piece::Text(before.to_owned()));
            let inside = &after[2..end];
            pieces.push(self.piece(server, node, inside, asked)?);
            rest = &after[end + 1..];
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(pieces)
    }

    fn piece(
        &self,
        server: &str,
        node: &Tree,
        inside: &str,
        asked: &BTreeMap<String, Asked>,
    ) -> Result<Piece, ConfigError> {
        let folder = || self.absolute_folder().to_string_lossy().into_owned();
        let home = || self.variable(server, node, home_variable(), None);
        let text = |text: String| Ok(Piece::Text(text));
        let separator = std::path::MAIN_SEPARATOR.to_string();
        if matches!(self.dialect, Dialect::Editor | Dialect::Both) {
            if let Some(name) = inside.strip_prefix("env:") {
                return self.variable(server, node, name, None);
            }
            if let Some(id) = inside.strip_prefix("input:") {
                let asked = asked.get(id).cloned().unwrap_or_default();
                return self.given(server, node, id, &asked);
            }
            match inside {
                "workspaceFolder" => return text(folder()),
                "cwd" => return text(folder()),
                "workspaceFolderBasename" => {
                    let name = self.absolute_folder();
                    let name = name.file_name().unwrap_or_default();
                    return text(name.to_string_lossy().into_owned());
                }
                "userHome" => return home(),
                "pathSeparator" | "/" => return text(separator),
                _ => {}
            }
        }
        if self.dialect == Dialect::Bundle {
            if let Some(key) = inside.strip_prefix("user_config.") {
                let asked = asked.get(key).cloned().unwrap_or_default();
                return self.given(server, node, key, &asked);
            }
            match inside {
                "__dirname" => return text(folder()),
                "HOME" => return home(),
                "DESKTOP" | "DOCUMENTS" | "DOWNLOADS" => {
                    let mut name = inside.to_ascii_lowercase();
                    name[..1].make_ascii_uppercase();
                    let Piece::Variable { value, .. } = home()? else {
                        return home();
                    };
                    return text(format!("{value}{separator}{name}"));
                }
                "pathSeparator" | "/" => return text(separator),
                _ => {}
            }
        }
        if matches!(self.dialect, Dialect::Shell | Dialect::Both) {
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let nested = default.is_some_and(|it| it.contains("${"));
            if !name.is_empty() && name.chars().all(word) && !nested {
                return self.variable(server, node, name, default);
            }
        }
        Err(self.error(
            node,
            format!("server `{server}`: cannot fill in `${{{inside}}}`"),
            self.dialect.known(),
        ))
    }

    /// An environment variable. An empty one counts as unset: a workflow passes a missing secret as
    /// an empty string.
    pub(super) fn variable(
        &self,
        server: &str,
        node: &Tree,
        name: &str,
        default: Option<&str>,
    ) -> Result<Piece, ConfigError> {
        if (self.surroundings.withheld)(name) {
            return Err(self.error(
                node,
                format!("server `{server}`: {name} is not available to servers"),
                "it carries privileges of the workflow run: give the server a token of its own, in a variable of its own",
            ));
        }
        let found = (self.surroundings.variable)(name).filter(|it| !it.is_empty());
        match (found, default) {
            (Some(value), _) => {
                self.uses(name);
                Ok(Piece::Variable {
                    name: name.to_owned(),
                    value,
                })
            }
            (None, Some(default)) => Ok(Piece::Text(default.to_owned())),
            (None, None) => Err(self.unset(
                node,
                format!("server `{server}`: the variable {name} is not set"),
                format!("set it where mcp-keel runs, or pass --env {name}=VALUE"),
            )),
        }
    }

    /// What a client would ask its user for; mcp-keel never prompts.
    pub(super) fn given(
        &self,
        server: &str,
        node: &Tree,
        id: &str,
        asked: &Asked,
    ) -> Result<Piece, ConfigError> {
        let given = self.surroundings.inputs.get(id);
        match (given, &asked.default) {
            (Some(value), _) => {
                self.uses(&input_use(id));
                Ok(Piece::Given {
                    name: given_name(id, asked.secret),
                    value: value.clone(),
                })
            }
            (None, Some(default)) => Ok(Piece::Text(default.clone())),
            (None, None) if asked.optional => Ok(Piece::Text(String::new())),
            (None, None) => Err(self.unset(
                node,
                format!("server `{server}`: `{id}` is a user input, and mcp-keel does not prompt"),
                format!("pass --input {id}=VALUE"),
            )),
        }
    }
}

impl Dialect {
    fn known(self) -> &'static str {
        match self {
            Self::Literal => "placeholders are not supported in this file",
            Self::Shell => "expected ${NAME} or ${NAME:-default}",
            Self::Editor => {
                "expected ${env:NAME}, ${input:ID}, ${workspaceFolder}, ${workspaceFolderBasename}, ${userHome} or \
                 ${pathSeparator}"
            }
            Self::Both => {
                "expected ${NAME}, ${NAME:-default}, ${env:NAME}, ${input:ID}, ${workspaceFolder} or ${userHome}"
            }
            Self::Bundle => {
                "expected ${__dirname}, ${user_config.KEY}, ${HOME}, ${DESKTOP}, ${DOCUMENTS} or ${DOWNLOADS}"
            }
        }
    }
}

/// The end of the placeholder that starts `text`: its own closing brace, not that of a nested one.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 1 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

fn home_variable() -> &'static str {
    if cfg!(windows) { "USERPROFILE" } else { "HOME" }
}

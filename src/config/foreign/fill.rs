//! Placeholders: what each client fills in, from where, and what happens where nothing can be.

use std::collections::BTreeMap;

use super::{ConfigError, File, Format};
use crate::capture::http::Template;
use crate::files::Tree;

/// Whose placeholders are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// None: what stands there is meant.
    Literal,
    /// `${VAR}` and `${VAR:-default}`
    Shell,
    /// `${env:VAR}`, `${workspaceFolder}` and the like, and `${input:id}`
    Editor,
    /// Both, because nobody says whose file it is.
    Both,
    /// `${__dirname}`, `${user_config.KEY}` and a few folders
    Bundle,
}

impl Dialect {
    pub(super) fn of(format: Format) -> Self {
        match format {
            Format::ClaudeCode => Self::Shell,
            Format::VsCode | Format::Cursor => Self::Editor,
            Format::Mcp => Self::Both,
            Format::Mcpb => Self::Bundle,
            Format::ClaudeDesktop | Format::Zed | Format::Codex | Format::Registry => Self::Literal,
        }
    }
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// A variable of the environment, and what it holds.
    Variable {
        name: String,
        value: String,
    },
    /// What a user would have been asked for. It may be a secret.
    Given {
        name: String,
        value: String,
    },
}

/// What a server's placeholders stand for beyond the environment, by the name that they have in a [`Template`].
pub(super) type Values = BTreeMap<String, String>;

/// What a user is asked for: its id, what is used instead, and whether it is a secret.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) default: Option<String>,
    pub(super) secret: bool,
    pub(super) optional: bool,
}

/// The text that pieces make.
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

/// The template that pieces make: what is filled in stays a name, so that it is shown nowhere.
pub(super) fn template(pieces: Vec<Piece>, values: &mut Values) -> Template {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            // A `${` that is meant as it stands must not be filled in a second time.
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

/// The name of what a user gave, as a variable may be called.
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
    /// A text of the file in its pieces. `node` is where it stands, for errors.
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
            format!("server `{server}`: nothing can be filled in for `${{{inside}}}`"),
            self.dialect.known(),
        ))
    }

    /// A variable of the environment. One that is empty is not set: a workflow hands over a secret that is not there
    /// as an empty text.
    pub(super) fn variable(
        &self,
        server: &str,
        node: &Tree,
        name: &str,
        default: Option<&str>,
    ) -> Result<Piece, ConfigError> {
        let found = (self.surroundings.variable)(name).filter(|it| !it.is_empty());
        match (found, default) {
            (Some(value), _) => Ok(Piece::Variable {
                name: name.to_owned(),
                value,
            }),
            (None, Some(default)) => Ok(Piece::Text(default.to_owned())),
            (None, None) => Err(self.error(
                node,
                format!("server `{server}`: the variable {name} is not set"),
                &format!("set it where mcp-keel runs, or give --env {name}=VALUE"),
            )),
        }
    }

    /// What a client would ask its user for. Nobody is asked here.
    pub(super) fn given(
        &self,
        server: &str,
        node: &Tree,
        id: &str,
        asked: &Asked,
    ) -> Result<Piece, ConfigError> {
        let given = self.surroundings.inputs.get(id);
        match (given, &asked.default) {
            (Some(value), _) => Ok(Piece::Given {
                name: given_name(id, asked.secret),
                value: value.clone(),
            }),
            (None, Some(default)) => Ok(Piece::Text(default.clone())),
            (None, None) if asked.optional => Ok(Piece::Text(String::new())),
            (None, None) => Err(self.error(
                node,
                format!("server `{server}`: `{id}` is asked of the user, and nobody is asked here"),
                &format!("give it: --input {id}=VALUE"),
            )),
        }
    }
}

impl Dialect {
    fn known(self) -> &'static str {
        match self {
            Self::Literal => "nothing is filled in in this file",
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

/// Where the placeholder that `text` begins with ends: its own closing brace, not one of a placeholder inside it.
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

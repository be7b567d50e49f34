//! Existing server lists: configuration files of MCP clients, the MCP registry, bundles.
//!
//! This room promises:
//!
//! - **Nothing is guessed.** An unset variable, a missing input and an unknown placeholder are
//!   errors of their server, with file, line and how to go on. There are no prompts.
//! - **Nothing is dropped silently.** A disabled or unreachable server and an unsupported member
//!   are reported.
//! - **One server's error is its own**: it only matters if that server is checked.
//! - **A server gets only the variables that its file names**, and its settings say which these are
//!   ([`ServerConfig::uses`]).
//!
//! It reads the file and the files it names (`envFile`); variables and inputs are passed in.

mod bundle;
mod clients;
mod codex;
mod fill;
mod formats;
mod registry;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use fill::Dialect;

use super::{ConfigError, ServerConfig, node};
use crate::files::{Tree, Value};

pub use formats::Format;

/// What a file may refer to.
pub struct Surroundings<'a> {
    /// An environment variable; `None` if it is not set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a variable is kept from servers, even if it is set.
    pub withheld: &'a dyn Fn(&str) -> bool,
    /// What clients ask their users for, by id.
    pub inputs: &'a BTreeMap<String, String>,
    pub env_files: EnvFiles<'a>,
}

/// Which files an `envFile` may name.
#[derive(Clone, Copy, Debug)]
pub enum EnvFiles<'a> {
    Anywhere,
    /// Only those below this folder, links included: the list may be a pull request's.
    Below(&'a Path),
    /// They are not read: the list is of another revision.
    NotRead,
}

#[derive(Debug, Default)]
pub struct Listed {
    /// The servers by name, or why one cannot be used.
    pub servers: BTreeMap<String, Result<ServerConfig, ConfigError>>,
    /// What was skipped or not understood.
    pub notes: Vec<String>,
}

/// Reads a server list. Without `format` it is detected by its content, then by its name.
pub fn read(
    path: &Path,
    format: Option<Format>,
    surroundings: &Surroundings<'_>,
) -> Result<Listed, ConfigError> {
    let text = crate::files::read_to_string(path).map_err(|source| ConfigError::Io {
        path: path.to_owned(),
        source,
    })?;
    parse(path, &text, format, surroundings)
}

/// [`read`] from the text of a file.
pub fn parse(
    path: &Path,
    text: &str,
    format: Option<Format>,
    surroundings: &Surroundings<'_>,
) -> Result<Listed, ConfigError> {
    let is_toml = match format {
        Some(format) => format.client().toml,
        None => path.extension().is_some_and(|it| it == "toml"),
    };
    let root = if is_toml {
        node::from_toml(path, text)?
    } else {
        Tree::from_jsonc(text).map_err(|error| ConfigError::At {
            path: path.to_owned(),
            line: error.line,
            problem: error.problem,
            help: "expected JSON; comments and trailing commas are allowed".to_owned(),
        })?
    };
    let format = match format.or_else(|| Format::recognise(path, &root, is_toml)) {
        Some(format) => format,
        None => {
            return Err(error_at(
                path,
                &root,
                "not a known kind of server list",
                "expected `mcpServers`, `servers`, `context_servers`, [mcp_servers.NAME], a server.json of the MCP registry or the manifest.json of a bundle; set the format with --from-format",
            ));
        }
    };
    let client = format.client();
    let mut file = File {
        path,
        dialect: client.dialect,
        folder: format.project_folder(path),
        surroundings,
        listed: Listed::default(),
        uses: RefCell::default(),
    };
    (client.read)(&mut file, &root, client.servers)?;
    Ok(file.listed)
}

fn error_at(path: &Path, tree: &Tree, problem: &str, help: &str) -> ConfigError {
    ConfigError::At {
        path: path.to_owned(),
        line: tree.line,
        problem: problem.to_owned(),
        help: help.to_owned(),
    }
}

/// A file being read.
struct File<'a> {
    path: &'a Path,
    dialect: Dialect,
    folder: PathBuf,
    surroundings: &'a Surroundings<'a>,
    listed: Listed,
    /// The variables and inputs that the current server uses.
    uses: RefCell<BTreeSet<String>>,
}

impl File<'_> {
    fn error(&self, node: &Tree, problem: impl AsRef<str>, help: &str) -> ConfigError {
        error_at(self.path, node, problem.as_ref(), help)
    }

    /// Something that is missing on this machine.
    fn unset(&self, node: &Tree, problem: String, help: String) -> ConfigError {
        ConfigError::Unset {
            path: self.path.to_owned(),
            line: node.line,
            problem,
            help,
        }
    }

    fn note(&mut self, server: &str, what: &str) {
        let path = self.path.display();
        self.listed
            .notes
            .push(format!("{path}: server `{server}`: {what}"));
    }

    /// Notes members that are neither supported nor known to be irrelevant.
    fn note_unknown(&mut self, server: &str, node: &Tree, known: &[&[&str]]) {
        let unknown: Vec<String> = node
            .members()
            .map(|(name, _)| name)
            .filter(|name| !known.iter().any(|known| known.contains(name)))
            .map(|name| format!("`{name}`"))
            .collect();
        if !unknown.is_empty() {
            let what = format!("{} is not supported, and is ignored", unknown.join(", "));
            self.note(server, &what);
        }
    }

    /// The items of a list; none if it is missing. Anything else is an error, not an empty list.
    fn items<'n>(&self, server: &str, list: Option<&'n Tree>) -> Result<&'n [Tree], ConfigError> {
        match list {
            Some(node) if !matches!(node.value, Value::Array(_)) && !node.is_other() => Err(self
                .error(
                    node,
                    format!("server `{server}`: this is not a list"),
                    "expected strings or objects in square brackets",
                )),
            list => Ok(list.map(Tree::items).unwrap_or_default()),
        }
    }

    /// The members of an object; none if it is missing. Anything else is an error, and so are
    /// duplicate members, because clients differ in which one they use.
    fn members<'n>(
        &self,
        server: &str,
        object: Option<&'n Tree>,
    ) -> Result<Vec<(&'n str, &'n Tree)>, ConfigError> {
        let Some(node) = object else {
            return Ok(Vec::new());
        };
        if !node.is_object() && !node.is_other() {
            return Err(self.error(
                node,
                format!("server `{server}`: this is not an object"),
                "expected an object, or a table",
            ));
        }
        self.once(node)?;
        Ok(node.members().collect())
    }

    /// Rejects duplicate members.
    fn once(&self, node: &Tree) -> Result<(), ConfigError> {
        let mut seen = BTreeSet::new();
        match node.members().find(|(name, _)| !seen.insert(*name)) {
            Some((name, again)) => Err(self.error(
                again,
                format!("duplicate `{name}`"),
                "expected each name once; clients differ in which one they use",
            )),
            None => Ok(()),
        }
    }

    fn insert(&mut self, name: &str, mut server: Result<ServerConfig, ConfigError>) {
        let uses = self.uses.take();
        if let Ok(server) = &mut server {
            server.uses = uses;
        }
        self.listed.servers.insert(name.to_owned(), server);
    }

    /// Records that the current server uses a variable or an input.
    fn uses(&self, name: &str) {
        self.uses.borrow_mut().insert(name.to_owned());
    }

    /// The project's directory as an absolute path, as clients fill it in.
    fn absolute_folder(&self) -> PathBuf {
        let absolute = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let parts = absolute.components();
        parts.filter(|it| *it != Component::CurDir).collect()
    }

    /// A path in the file, relative to the project's directory.
    fn inside(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

//! Lists of servers that people have already: the files of MCP clients, of the MCP registry, of bundles.
//!
//! What this room promises:
//!
//! - **Nothing is guessed.** A variable that is not set, an input that nobody gave and a placeholder that is not known
//!   are errors of the server that they stand in, with file, line and how to go on. Nobody is ever prompted.
//! - **Nothing is dropped in silence.** A server that is switched off, or that cannot be reached from here, and a member
//!   that is not understood are told.
//! - **One server's error is its own**: it counts when that server is asked for.
//! - **A server sees what its file names**, and nothing else of the environment.
//!
//! It reads the file and what the file names (`envFile`); variables and inputs are handed in.

mod bundle;
mod clients;
mod codex;
mod fill;
mod registry;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use fill::Dialect;

use super::{ConfigError, ServerConfig, node};
use crate::files::{Tree, Value};
use crate::keyword_enum::keyword_enum;

/// The format of a list of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.mcp.json`
    ClaudeCode,
    /// `claude_desktop_config.json`
    ClaudeDesktop,
    /// `.vscode/mcp.json`
    VsCode,
    /// `.cursor/mcp.json`
    Cursor,
    /// `mcp.json` of whomever
    Mcp,
    /// `settings.json` of Zed
    Zed,
    /// `config.toml` of Codex
    Codex,
    /// `server.json` of the MCP registry
    Registry,
    /// `manifest.json` of a bundle
    Mcpb,
}

keyword_enum!(Format {
    ClaudeCode = "claude-code",
    ClaudeDesktop = "claude-desktop",
    VsCode = "vscode",
    Cursor = "cursor",
    Mcp = "mcp",
    Zed = "zed",
    Codex = "codex",
    Registry = "registry",
    Mcpb = "mcpb",
});

/// What a file may refer to.
pub struct Surroundings<'a> {
    /// A variable of the environment; none if it is not set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// What clients ask their users for, by id.
    pub inputs: &'a BTreeMap<String, String>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Listed {
    /// The servers by name, or why one cannot be used.
    pub servers: BTreeMap<String, Result<ServerConfig, ConfigError>>,
    /// What is to be said of servers: those that were left out, and what was not understood.
    pub notes: Vec<String>,
}

/// Reads a list of servers. Without `format` it is recognised by what stands in it, then by its name.
pub fn read(
    path: &Path,
    format: Option<Format>,
    surroundings: &Surroundings<'_>,
) -> Result<Listed, ConfigError> {
    let text = crate::files::read_to_string(path).map_err(|source| ConfigError::Io {
        path: path.to_owned(),
        source,
    })?;
    let is_toml = match format {
        Some(format) => format == Format::Codex,
        None => path.extension().is_some_and(|it| it == "toml"),
    };
    let root = if is_toml {
        node::from_toml(path, &text)?
    } else {
        Tree::from_jsonc(&text).map_err(|error| ConfigError::At {
            path: path.to_owned(),
            line: error.line,
            problem: error.problem,
            help: "expected JSON; comments and trailing commas are allowed".to_owned(),
        })?
    };
    let format = match format.or_else(|| recognise(path, &root, is_toml)) {
        Some(format) => format,
        None => {
            return Err(error_at(
                path,
                &root,
                "not a list of servers that is known here",
                "expected `mcpServers`, `servers`, `context_servers`, [mcp_servers.NAME], a server.json of the MCP \
                 registry or the manifest.json of a bundle; --from-format names one",
            ));
        }
    };
    let folder = project_folder(path, format);
    let mut file = File {
        path,
        dialect: Dialect::of(format),
        folder,
        surroundings,
        listed: Listed::default(),
    };
    match format {
        Format::Codex => codex::read(&mut file, &root)?,
        Format::Registry => registry::read(&mut file, &root)?,
        Format::Mcpb => bundle::read(&mut file, &root)?,
        _ => clients::read(&mut file, &root, format)?,
    }
    Ok(file.listed)
}

/// The shape decides between families, the name between the members of one.
fn recognise(path: &Path, root: &Tree, is_toml: bool) -> Option<Format> {
    let named = |name: &str| path.file_name().is_some_and(|it| it == name);
    let within = |name: &str| {
        let folder = path.parent().and_then(Path::file_name);
        folder.is_some_and(|it| it == name)
    };
    let has = |member: &str| root.get(member).is_some();
    if is_toml {
        return has("mcp_servers").then_some(Format::Codex);
    }
    if has("mcpServers") {
        return Some(match () {
            () if named("claude_desktop_config.json") => Format::ClaudeDesktop,
            () if within(".cursor") => Format::Cursor,
            () if named(".mcp.json") => Format::ClaudeCode,
            () => Format::Mcp,
        });
    }
    if has("context_servers") {
        return Some(Format::Zed);
    }
    if has("manifest_version") || has("dxt_version") {
        return Some(Format::Mcpb);
    }
    if has("name") && (has("packages") || has("remotes")) {
        return Some(Format::Registry);
    }
    has("servers").then_some(Format::VsCode)
}

/// The folder that a client would call the project: where its servers start, and what `${workspaceFolder}` is.
fn project_folder(path: &Path, format: Format) -> PathBuf {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let hidden = [".vscode", ".cursor", ".zed", ".codex"];
    let is_hidden = parent
        .file_name()
        .is_some_and(|name| hidden.iter().any(|it| name == *it));
    match format {
        // Its file lies in a folder of the program's own, and so does that of the registry anywhere.
        Format::ClaudeDesktop | Format::Registry => PathBuf::from("."),
        _ if is_hidden => match parent.parent() {
            Some(above) if !above.as_os_str().is_empty() => above.to_owned(),
            _ => PathBuf::from("."),
        },
        _ => parent,
    }
}

fn error_at(path: &Path, tree: &Tree, problem: &str, help: &str) -> ConfigError {
    ConfigError::At {
        path: path.to_owned(),
        line: tree.line,
        problem: problem.to_owned(),
        help: help.to_owned(),
    }
}

/// A file while it is being read.
struct File<'a> {
    path: &'a Path,
    dialect: Dialect,
    folder: PathBuf,
    surroundings: &'a Surroundings<'a>,
    listed: Listed,
}

impl File<'_> {
    fn error(&self, node: &Tree, problem: impl AsRef<str>, help: &str) -> ConfigError {
        error_at(self.path, node, problem.as_ref(), help)
    }

    fn note(&mut self, server: &str, what: &str) {
        let path = self.path.display();
        self.listed
            .notes
            .push(format!("{path}: server `{server}`: {what}"));
    }

    /// Notes members that are neither understood nor known to be of no concern here.
    fn note_unknown(&mut self, server: &str, node: &Tree, known: &[&[&str]]) {
        let unknown: Vec<String> = node
            .members()
            .map(|(name, _)| name)
            .filter(|name| !known.iter().any(|known| known.contains(name)))
            .map(|name| format!("`{name}`"))
            .collect();
        if !unknown.is_empty() {
            let what = format!("{} is not understood and left out", unknown.join(", "));
            self.note(server, &what);
        }
    }

    /// The items of a list; none if there is no list. What is something else is not taken for an empty one.
    fn items<'n>(&self, server: &str, list: Option<&'n Tree>) -> Result<&'n [Tree], ConfigError> {
        match list {
            Some(node) if !matches!(node.value, Value::Array(_)) && !node.is_other() => Err(self
                .error(
                    node,
                    format!("server `{server}`: this is not a list"),
                    "expected texts or objects in square brackets",
                )),
            list => Ok(list.map(Tree::items).unwrap_or_default()),
        }
    }

    /// The members of an object; none if there is no object. What is something else is not taken for an empty one, and
    /// of two members with one name nobody knows which one a client takes.
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
                format!("server `{server}`: this has no names"),
                "expected an object, or a table",
            ));
        }
        self.once(node)?;
        Ok(node.members().collect())
    }

    /// An object in which no two members have one name.
    fn once(&self, node: &Tree) -> Result<(), ConfigError> {
        let mut seen = BTreeSet::new();
        match node.members().find(|(name, _)| !seen.insert(*name)) {
            Some((name, again)) => Err(self.error(
                again,
                format!("`{name}` stands here a second time"),
                "expected each name once; clients take the first or the last",
            )),
            None => Ok(()),
        }
    }

    fn insert(&mut self, name: &str, server: Result<ServerConfig, ConfigError>) {
        self.listed.servers.insert(name.to_owned(), server);
    }

    /// The project's folder as an absolute path, as clients fill it in.
    fn absolute_folder(&self) -> PathBuf {
        let absolute = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let parts = absolute.components();
        parts.filter(|it| *it != Component::CurDir).collect()
    }

    /// A path of the file, from the project's folder on.
    fn inside(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

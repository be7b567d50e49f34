//! The formats of lists of servers: a table with everything that tells one client's file from another's.
//!
//! A client whose file names servers by `command` or `url` is a row here, and its keyword in the table of settings.

use std::path::{Path, PathBuf};

use super::fill::Dialect;
use super::{ConfigError, File, bundle, clients, codex, registry};
use crate::files::Tree;
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
    /// An `mcp.json` of any other client
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

/// What is particular about a client's file.
pub(super) struct Client {
    /// The member that holds the servers.
    pub(super) servers: &'static str,
    /// Which placeholders it fills in.
    pub(super) dialect: Dialect,
    pub(super) toml: bool,
    /// A file is of this format if it has all members of one of these groups.
    shape: &'static [&'static [&'static str]],
    /// Tells formats of one shape apart.
    place: Place,
    /// If a file fits several formats, it is that with the least doubt.
    doubt: u8,
    /// Whether it lies outside of any project.
    outside_projects: bool,
    pub(super) read: fn(&mut File<'_>, &Tree, &str) -> Result<(), ConfigError>,
}

/// Where a client keeps its file.
enum Place {
    Anywhere,
    Named(&'static str),
    InFolder(&'static str),
}

/// A file with `mcpServers`, which most clients have.
const COMMON: Client = Client {
    servers: "mcpServers",
    dialect: Dialect::Both,
    toml: false,
    shape: &[&["mcpServers"]],
    place: Place::Anywhere,
    doubt: 1,
    outside_projects: false,
    read: clients::read,
};

/// Folders in a project that hold a client's settings.
const SETTINGS_FOLDERS: [&str; 4] = [".vscode", ".cursor", ".zed", ".codex"];

impl Format {
    pub(super) fn client(self) -> Client {
        match self {
            Self::Mcp => COMMON,
            Self::ClaudeCode => Client {
                dialect: Dialect::Shell,
                place: Place::Named(".mcp.json"),
                doubt: 0,
                ..COMMON
            },
            Self::ClaudeDesktop => Client {
                dialect: Dialect::Literal,
                place: Place::Named("claude_desktop_config.json"),
                doubt: 0,
                outside_projects: true,
                ..COMMON
            },
            Self::Cursor => Client {
                dialect: Dialect::Editor,
                place: Place::InFolder(".cursor"),
                doubt: 0,
                ..COMMON
            },
            Self::Zed => Client {
                servers: "context_servers",
                dialect: Dialect::Literal,
                shape: &[&["context_servers"]],
                doubt: 2,
                ..COMMON
            },
            Self::Codex => Client {
                servers: "mcp_servers",
                dialect: Dialect::Literal,
                toml: true,
                shape: &[&["mcp_servers"]],
                doubt: 2,
                read: codex::read,
                ..COMMON
            },
            Self::Mcpb => Client {
                servers: "server",
                dialect: Dialect::Bundle,
                shape: &[&["manifest_version"], &["dxt_version"]],
                doubt: 2,
                read: bundle::read,
                ..COMMON
            },
            Self::Registry => Client {
                servers: "packages",
                dialect: Dialect::Literal,
                shape: &[&["name", "packages"], &["name", "remotes"]],
                doubt: 2,
                outside_projects: true,
                read: registry::read,
                ..COMMON
            },
            Self::VsCode => Client {
                servers: "servers",
                dialect: Dialect::Editor,
                shape: &[&["servers"]],
                // Files of other programs have this member, too.
                doubt: 3,
                ..COMMON
            },
        }
    }

    /// The format of a file, by its members and its place.
    pub(super) fn recognise(path: &Path, root: &Tree, is_toml: bool) -> Option<Self> {
        let folder = path.parent().and_then(Path::file_name);
        let fits = |format: &&Self| {
            let client = format.client();
            let has_all = |group: &&[&str]| group.iter().all(|it| root.get(it).is_some());
            let in_place = match client.place {
                Place::Anywhere => true,
                Place::Named(name) => path.file_name().is_some_and(|it| it == name),
                Place::InFolder(name) => folder.is_some_and(|it| it == name),
            };
            client.toml == is_toml && in_place && client.shape.iter().any(has_all)
        };
        let fitting = Self::ALL.iter().filter(fits);
        fitting.copied().min_by_key(|it| it.client().doubt)
    }

    /// The folder that the client would call the project: where its servers start, and what `${workspaceFolder}` is.
    pub(super) fn project_folder(self, path: &Path) -> PathBuf {
        if self.client().outside_projects {
            return PathBuf::from(".");
        }
        let parent = parent_or_current(path);
        let is_settings_folder = parent
            .file_name()
            .is_some_and(|name| SETTINGS_FOLDERS.iter().any(|it| name == *it));
        if is_settings_folder {
            parent_or_current(&parent)
        } else {
            parent
        }
    }
}

fn parent_or_current(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

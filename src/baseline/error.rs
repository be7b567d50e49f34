//! Errors about a baseline. Each names the place, says what was expected and how to go on.

use std::path::PathBuf;

/// A baseline that cannot be used (exit 2).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    #[error("no baseline at {}", path.display())]
    Missing { path: PathBuf },
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        path: PathBuf,
        action: &'static str,
        source: std::io::Error,
    },
    /// Another process wrote the entry in the meantime.
    #[error("{}: the entry `{server}` changed while the server was being captured; nothing was written", path.display())]
    Replaced { path: PathBuf, server: String },
    #[error("{}:{line}: merge conflict marker", path.display())]
    Conflict {
        path: PathBuf,
        /// One-based.
        line: usize,
    },
    #[error("{}:{line}: not JSON: {problem} (column {column})", path.display())]
    NotJson {
        path: PathBuf,
        /// One-based.
        line: usize,
        /// One-based.
        column: usize,
        problem: String,
    },
    /// JSON of the wrong shape.
    #[error("{}:{line}: {problem}", path.display())]
    Shape {
        path: PathBuf,
        /// One-based.
        line: usize,
        problem: String,
    },
    /// The format of an earlier mcp-keel.
    #[error("{}:{line}: manifestVersion {found} is of an earlier mcp-keel; this one reads version 2", path.display())]
    Earlier {
        path: PathBuf,
        /// One-based.
        line: usize,
        found: String,
    },
    /// A newer format.
    #[error("{}:{line}: unsupported manifestVersion {found}; this mcp-keel reads version 2", path.display())]
    Version {
        path: PathBuf,
        /// One-based.
        line: usize,
        found: String,
    },
    /// An entry disagrees with its own signature or fingerprint.
    #[error("{}:{line}: {entry} was changed by hand: {what}", path.display())]
    Edited {
        path: PathBuf,
        /// One-based.
        line: usize,
        entry: String,
        /// What does not match.
        what: String,
    },
}

impl BaselineError {
    pub fn help(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "create it from the current server and commit it",
            Self::Replaced { .. } => {
                "another `pin` or a checkout wrote it: check the file, then pin again"
            }
            Self::Io { .. } => "check the path and its permissions",
            Self::Conflict { .. } => {
                "`mcp-keel pin` resolves it, as long as git has both sides in its index"
            }
            Self::NotJson { .. } | Self::Shape { .. } => {
                "restore the committed file, or delete it and run `mcp-keel pin`"
            }
            Self::Earlier { .. } => "delete the file and pin again: `mcp-keel pin`",
            Self::Version { .. } => "upgrade mcp-keel, or delete the file and run `mcp-keel pin`",
            Self::Edited { .. } => {
                "baselines are written by `mcp-keel pin`, not by hand: restore the committed file (`git checkout -- FILE`), or write what the server lists now with `mcp-keel pin --force`"
            }
        }
    }
}

//! What can be wrong with a baseline. Each says the place, what was expected and how to go on.

use std::path::PathBuf;

/// A baseline that cannot be used (exit 2).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// There is none.
    #[error("there is no baseline at {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        source: std::io::Error,
    },
    /// Somebody else wrote the entry in the meantime.
    #[error("{}: the entry `{server}` changed while the server was being captured; nothing was written", path.display())]
    Replaced { path: PathBuf, server: String },
    /// Left over from a merge.
    #[error("{}:{line}: a merge-conflict marker", path.display())]
    Conflict {
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    #[error("{}:{line}: not JSON: {problem} (column {column})", path.display())]
    NotJson {
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the reader found.
        problem: String,
    },
    /// JSON, but of another shape.
    #[error("{}:{line}: {problem}", path.display())]
    Shape {
        path: PathBuf,
        /// From 1.
        line: usize,
        problem: String,
    },
    /// A format of the future.
    #[error("{}:{line}: manifestVersion {found} is not known to this mcp-keel, which reads version 1", path.display())]
    Version {
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// Content and digests disagree.
    #[error("{}:{line}: {entry} was changed by hand: {what}", path.display())]
    Edited {
        path: PathBuf,
        /// From 1.
        line: usize,
        entry: String,
        /// Which digest does not hold.
        what: String,
    },
}

impl BaselineError {
    pub fn help(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "create it from the server as it is now, and commit it",
            Self::Replaced { .. } => {
                "another `pin` or a checkout wrote it: look at the file, then pin again"
            }
            Self::Io { .. } => "check the path and its permissions",
            Self::Conflict { .. } => {
                "take either side whole (`git checkout --ours` or `--theirs`), then run `mcp-keel pin`"
            }
            Self::NotJson { .. } | Self::Shape { .. } => {
                "restore the committed file, or delete it and run `mcp-keel pin`"
            }
            Self::Version { .. } => "upgrade mcp-keel, or delete the file and run `mcp-keel pin`",
            Self::Edited { .. } => {
                "a baseline is written by `mcp-keel pin`, not by hand: restore the committed file, or pin this server again"
            }
        }
    }
}

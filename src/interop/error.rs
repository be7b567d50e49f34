//! What can be wrong with another tool's file.

use std::path::PathBuf;

use super::compare::PinError;
use super::toolpin::lock::LockError;

/// Why another tool's file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InteropError {
    #[error("{problem}")]
    Unreadable {
        /// With the path.
        problem: String,
    },
    /// A file that its own tool would reject, in that tool's words.
    #[error("{place}: {error}")]
    Unsound {
        /// The file, or the key of an entry.
        place: String,
        error: LockError,
    },
    #[error("{}: {place}: {problem}", path.display())]
    Edited {
        path: PathBuf,
        /// The key or place of the entry.
        place: String,
        problem: String,
    },
    #[error("{} has no server `{server}`", path.display())]
    NoServer {
        path: PathBuf,
        server: String,
        known: Vec<String>,
    },
    /// Several entries where only one is expected.
    #[error("{} holds {} entries: {}", path.display(), known.len(), known.join(", "))]
    Several { path: PathBuf, known: Vec<String> },
    /// The convention has no digest for what the server lists.
    #[error("{}: {error}", path.display())]
    NoDigest { path: PathBuf, error: PinError },
    #[error("{} is {format}, which mcp-keel can read but not write", path.display())]
    ReadOnly { path: PathBuf, format: &'static str },
}

impl InteropError {
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => "check the file".to_owned(),
            Self::Unsound { .. } => {
                "restore the committed file, or regenerate it with its own tool"
                    .to_owned()
            }
            Self::Edited { .. } => {
                "a lock must not be edited by hand: restore the committed file, or lock the server again"
                    .to_owned()
            }
            Self::NoServer { known, .. } => format!("name one before `--`: {}", known.join(", ")),
            Self::Several { .. } => {
                "check them with `mcp-keel check --baseline`, and pin each server with `mcp-keel pin`"
                    .to_owned()
            }
            Self::NoDigest { .. } => {
                "the convention of this file has no digest for such a tool".to_owned()
            }
            Self::ReadOnly { .. } => {
                "write it with its own tool, or pin into an mcp-keel baseline with --baseline FILE"
                    .to_owned()
            }
        }
    }
}

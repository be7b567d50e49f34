//! Servers of a plan that are not started.

use crate::config::ServerConfig;

/// Why a server of the plan is not started or contacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// It would get something that the base does not give it.
    Unreviewed(String),
    /// A variable or an answer is missing on this machine.
    Unset { problem: String, help: String },
    /// The request leaves it out.
    Skipped,
}

/// Servers with how they are reached, or why they are not.
pub(crate) type Named = Vec<(String, Result<ServerConfig, Withheld>)>;

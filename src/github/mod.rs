//! Where reviewers look: the check run, the comment, the job summary and the outputs of a step.
//!
//! Two promises. **Exactly one**: whatever fails in between, a commit has one check run per server
//! set and a pull request one comment per configuration; anything that may have been done is looked
//! up before it is done again. **Posting never changes the verdict**: everything here returns a
//! warning if GitHub rejects a request, and no caller can turn that into another exit code.
//!
//! [`context`] is a pure function of an environment and the event's text; only [`api`] uses the
//! network.

pub mod api;
pub mod check_run;
pub mod comment;
pub mod context;
pub mod files;
mod secret;

pub use api::{Api, ApiError};
pub use context::{Context, ContextError, Event, PullRequest, ReadOnly};
pub use secret::Token;

use crate::fingerprint::Digest;

/// A short identifier of a configuration, the same on every run, by which check runs and comments
/// are found again.
pub fn identity(parts: &[&str]) -> String {
    // Lengths distinguish two lists whose concatenations are equal.
    let text: String = parts
        .iter()
        .map(|part| format!("{}:{part};", part.len()))
        .collect();
    let hex = Digest::of(text.as_bytes()).hex();
    hex.chars().take(16).collect()
}

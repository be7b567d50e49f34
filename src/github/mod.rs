//! Where reviewers look: the check run, the comment, the job summary and the outputs of a step.
//!
//! Two promises. **Exactly one**: whatever fails in between, a commit has one check run a server set and a pull
//! request one comment a configuration; nothing that may have been done is done again before it was looked for.
//! **Reach, never verdict**: everything here returns a warning where GitHub refuses, and no caller can turn that into
//! another exit code.
//!
//! [`context`] is pure over an environment and the event's text; only [`api`] talks to anybody.

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

/// A short name for a configuration, the same on every run: what check runs and comments are found again by.
pub fn identity(parts: &[&str]) -> String {
    // Lengths keep two lists apart whose parts would read the same in a row.
    let text: String = parts
        .iter()
        .map(|part| format!("{}:{part};", part.len()))
        .collect();
    let hex = Digest::of(text.as_bytes()).hex();
    hex.chars().take(16).collect()
}

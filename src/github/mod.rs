//! Where reviewers look: the check run, the comment, the job summary and the outputs of a step.
//!
//! Two promises. **Exactly one**: whatever fails in between, a commit has one check run per server
//! set and a pull request one comment per configuration; anything that may have been done is looked
//! up before it is done again. **Posting never changes the verdict**: everything here returns a
//! warning if GitHub rejects a request, and no caller can turn that into another exit code.
//!
//! [`context`] is a pure function of an environment and the event's text; only [`api`] uses the network, through octocrab.

pub mod api;
pub mod check_run;
pub mod comment;
pub mod context;
pub mod files;
mod redirects;
mod retries;
mod secret;
mod service;

pub use api::{Api, ApiError};
pub use context::{Context, ContextError, Event, PullRequest, ReadOnly};
pub use secret::Token;

use crate::fingerprint::Digest;
use crate::policy::Verdict;

/// The identifier of a configuration, the same on every run, by which check runs and comments
/// are found again.
pub fn identity(parts: &[&str]) -> String {
    // Lengths distinguish two lists whose concatenations are equal.
    let text: String = parts
        .iter()
        .map(|part| format!("{}:{part};", part.len()))
        .collect();
    Digest::of(text.as_bytes()).id()
}

/// Who wrote a result: the run and attempt of the workflow, and what it found. Two jobs of one run may share a check run and
/// a comment; a better result then never replaces a worse one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// `RUN.ATTEMPT`; empty where no runner says.
    pub run: String,
    pub verdict: Verdict,
}

impl Stamp {
    /// An invisible line.
    pub fn text(&self) -> String {
        format!("{}{} -->", self.prefix(), self.verdict.word())
    }

    fn prefix(&self) -> String {
        format!("<!-- mcp-keel: run {} ", self.run)
    }

    /// Whether a text was written by the same run and attempt.
    pub fn is_of_same_run(&self, text: &str) -> bool {
        self.verdict_in(text).is_some()
    }

    /// The verdict in a text of the same run and attempt, if it is worse than this one.
    pub fn worse_in(&self, text: &str) -> Option<Verdict> {
        self.verdict_in(text).filter(|it| *it > self.verdict)
    }

    /// Only the last line is a stamp: above it are texts of the server, which may look like one.
    fn verdict_in(&self, text: &str) -> Option<Verdict> {
        let last = text.lines().rfind(|line| !line.trim().is_empty())?;
        let word = last.trim().strip_prefix(&self.prefix())?;
        let verdict = word.strip_suffix(" -->")?.parse().ok()?;
        Some(verdict).filter(|_| !self.run.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_worse_result_of_the_same_run_and_attempt_stays() {
        let stamp = |run: &str, verdict| Stamp {
            run: run.to_owned(),
            verdict,
        };
        let text = stamp("42.1", Verdict::Block).text();
        let worse = |run, verdict| stamp(run, verdict).worse_in(&text);
        assert_eq!(worse("42.1", Verdict::Pass), Some(Verdict::Block));
        assert_eq!(worse("42.1", Verdict::Block), None);
        assert_eq!(worse("42.2", Verdict::Pass), None);
        // What stands above it is not ours.
        let text = format!("{text}\n{}\n", stamp("42.2", Verdict::Pass).text());
        let worse = |run| stamp(run, Verdict::Pass).worse_in(&text);
        assert_eq!((worse("42.1"), worse("42.2")), (None, None));
        assert!(!stamp("42.1", Verdict::Pass).is_of_same_run(&text));
        assert!(stamp("42.2", Verdict::Pass).is_of_same_run(&text));
        assert_eq!(stamp("", Verdict::Pass).worse_in(&text), None);
    }
}

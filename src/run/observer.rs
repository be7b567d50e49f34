//! What a run reports while it is in progress. It prints nothing itself.

use std::time::Duration;

use crate::capture::Stage;

/// Receives progress.
pub(crate) trait Observer: Send + Sync {
    /// This many servers will be booted.
    fn begin(&self, _servers: usize) {}

    /// A server is booted for this time, of as many as are planned; each step may take so long.
    fn boot(&self, _server: &str, _boot: Boot) {}

    /// A server has reached this stage.
    fn stage(&self, _server: &str, _stage: Stage) {}

    /// A server is done.
    fn finished(&self) {}

    /// A message for a person that is not part of a report.
    fn note(&self, _text: &str) {}
}

/// Which boot of a server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Boot {
    /// One-based.
    pub(crate) number: usize,
    pub(crate) of: usize,
    /// What starting it, and each request, may take.
    pub(crate) limit: Duration,
}

pub(crate) struct Silent;

impl Observer for Silent {}

//! What a run reports while it is in progress. It prints nothing itself.

use crate::capture::Stage;

/// Receives progress.
pub(crate) trait Observer: Send + Sync {
    /// This many servers will be booted.
    fn begin(&self, _servers: usize) {}

    /// A server has reached this stage.
    fn stage(&self, _server: &str, _stage: Stage) {}

    /// A server is done.
    fn finished(&self) {}

    /// A message for a person that is not part of a report.
    fn note(&self, _text: &str) {}
}

pub(crate) struct Silent;

impl Observer for Silent {}

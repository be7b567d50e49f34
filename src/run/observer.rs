//! What a run says while it goes on. It prints nothing itself.

use crate::capture::Stage;

/// Whoever wants to know what is going on.
pub(crate) trait Observer: Send + Sync {
    /// So many servers will be booted.
    fn begin(&self, _servers: usize) {}

    /// A server has come so far.
    fn stage(&self, _server: &str, _stage: Stage) {}

    /// A server is through.
    fn finished(&self) {}

    /// Something that a person should know and that is no part of a report.
    fn note(&self, _text: &str) {}
}

/// Ignores all of it.
pub(crate) struct Silent;

impl Observer for Silent {}

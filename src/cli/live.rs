//! The one way from a command to a live server. Whatever is to hold for every capture is done here.

use super::Error;
use super::plan::Target;
use super::progress::Progress;
use crate::capture::{CaptureFailure, Captured, Limits, Reach, capture};
use crate::source::SourceError;
use crate::surface::{ClientProfile, Surface};

/// Captures a server of the plan as the client that it was pinned with, unless the user names another.
pub(super) async fn observe(
    target: &Target,
    pinned: Option<&Surface>,
    progress: &Progress,
) -> Result<Captured, CaptureFailure> {
    let client = target.client(pinned);
    observe_as(
        &target.name,
        &target.reach,
        &client,
        &target.limits,
        progress,
    )
    .await
}

/// [`observe`], where without a capture there is nothing more to do.
pub(super) async fn require(
    target: &Target,
    pinned: Option<&Surface>,
    progress: &Progress,
) -> Result<Captured, Error> {
    observe(target, pinned, progress)
        .await
        .map_err(|failure| not_captured(&target.name, failure))
}

/// Captures a server that no plan knows of.
pub(super) async fn observe_as(
    name: &str,
    reach: &Reach,
    client: &ClientProfile,
    limits: &Limits,
    progress: &Progress,
) -> Result<Captured, CaptureFailure> {
    let stage = |stage| progress.stage(name, stage);
    capture(reach, client, limits, &stage).await
}

/// The error of a command that needs the server `name`.
pub(super) fn not_captured(name: &str, failure: CaptureFailure) -> Error {
    Error::from(SourceError::Capture {
        what: name.to_owned(),
        failure: Box::new(failure),
    })
}

//! The one way from a command to a live server. Whatever is to hold for every capture is done here.

use super::plan::Target;
use super::progress::Progress;
use super::{Error, eras};
use crate::capture::{CaptureFailure, Captured, Eras, Limits, Reach};
use crate::source::SourceError;
use crate::surface::{ClientProfile, Era, Surface};

/// Captures a server of the plan as the client and in the era that it was pinned with, unless the user names others.
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
        (target.eras, recorded(pinned)),
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
    eras: (Eras, Option<Era>),
    limits: &Limits,
    progress: &Progress,
) -> Result<Captured, CaptureFailure> {
    eras::observe(name, reach, client, eras, limits, progress).await
}

/// The era of a baseline, where it says so.
pub(super) fn recorded(pinned: Option<&Surface>) -> Option<Era> {
    pinned
        .filter(|pinned| !pinned.protocol_version.is_empty())
        .map(Surface::era)
}

/// The error of a command that needs the server `name`.
pub(super) fn not_captured(name: &str, failure: CaptureFailure) -> Error {
    Error::from(SourceError::Capture {
        what: name.to_owned(),
        failure: Box::new(failure),
    })
}

//! The one way from a command to a live server. Whatever is to hold for every capture is done here.

use super::plan::{Target, today};
use super::progress::Progress;
use super::{Error, eras, secrets};
use crate::capture::{CaptureFailure, Captured, Eras, Limits, Order, Reach, capture};
use crate::source::SourceError;
use crate::stability::environment::{self, Facts};
use crate::stability::mask::{self, Mask};
use crate::surface::{ClientProfile, Era, Surface};

/// Captures a server of the plan once. What its masks leave out is out of the surface, and what they missed is noted.
pub(super) async fn observe(
    target: &Target,
    client: &ClientProfile,
    eras: (Eras, Option<Era>),
    limits: &Limits,
    progress: &Progress,
) -> Result<Captured, CaptureFailure> {
    let name = (target.name.as_str(), target.masks.as_slice());
    let mut captured = observe_as(name, &target.reach, client, eras, limits, progress).await?;
    let surface = &mut captured.surface;
    let applied = mask::apply(&target.masks, surface);
    surface.notes.extend(applied.unused(&target.masks));
    surface
        .notes
        .extend(environment::notes(surface, &facts(&target.reach)));
    if let Some(again) = &mut captured.again {
        mask::apply(&target.masks, again);
    }
    Ok(captured)
}

/// Captures a server that no plan need know of. `eras` are those asked for, and the one that its baseline records.
pub(super) async fn observe_as(
    (name, masks): (&str, &[Mask]),
    reach: &Reach,
    client: &ClientProfile,
    eras: (Eras, Option<Era>),
    limits: &Limits,
    progress: &Progress,
) -> Result<Captured, CaptureFailure> {
    let stage = |stage| progress.stage(name, stage);
    let secrets = secrets::known();
    let once = async |order: Order, limits: &Limits| {
        let mut outcome = capture(reach, client, order, limits, &stage).await;
        match &mut outcome {
            Ok(captured) => captured.redact(&secrets),
            Err(failure) => failure.redact(&secrets),
        }
        outcome
    };
    eras::observe(eras, masks, limits, once).await
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

/// What a server that runs here can know of this machine. One that runs elsewhere knows of another.
fn facts(reach: &Reach) -> Facts {
    let Some(launch) = reach.launch() else {
        return Facts::default();
    };
    let seen = crate::launch::environment(launch, crate::own_env::vars()).unwrap_or_default();
    let variable = |names: &[&str]| {
        let mut found = names.iter().filter_map(|name| {
            let value = seen.variables.get(std::ffi::OsStr::new(name))?;
            Some(value.to_string_lossy().into_owned())
        });
        found.next()
    };
    let folder = launch.cwd.clone().unwrap_or_else(|| ".".into());
    let folder = std::fs::canonicalize(folder).ok();
    let today = today();
    Facts {
        folder: folder.map(|it| it.to_string_lossy().into_owned()),
        home: variable(&["HOME", "USERPROFILE"]),
        host: host_name(),
        user: variable(&["USER", "USERNAME"]),
        zone: variable(&["TZ"]),
        today: Some((today.year, today.month, today.day)),
    }
}

#[cfg(unix)]
fn host_name() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}

#[cfg(not(unix))]
fn host_name() -> Option<String> {
    crate::own_env::var("COMPUTERNAME")?.into_string().ok()
}

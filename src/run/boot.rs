//! The one way to a live server. Requirements for every capture are enforced here.

use super::observer::Observer;
use super::plan::{Target, today};
use super::server_lists::Withheld;
use super::{Error, eras, hints, secrets};
use crate::capture::{CaptureFailure, Captured, Endpoint, Eras, Limits, Order, capture};
use crate::launch::LaunchError;
use crate::note::Note;
use crate::source::SourceError;
use crate::stability::environment::{self, Facts};
use crate::stability::mask::{self, Mask};
use crate::surface::{ClientProfile, Era, Surface};

/// A server to boot, and how to capture it.
pub(crate) struct LiveServer<'a> {
    /// For progress and messages.
    pub(crate) name: &'a str,
    pub(crate) endpoint: &'a Endpoint,
    /// Texts to leave out when two eras are compared.
    pub(crate) masks: &'a [Mask],
    /// The client identity that it sees.
    pub(crate) client: ClientProfile,
    /// The requested eras of the protocol.
    pub(crate) eras: Eras,
    /// The era in its baseline.
    pub(crate) recorded: Option<Era>,
    pub(crate) limits: Limits,
}

impl<'a> LiveServer<'a> {
    /// A server with default settings.
    pub(crate) fn new(name: &'a str, endpoint: &'a Endpoint) -> Self {
        Self {
            name,
            endpoint,
            masks: &[],
            client: ClientProfile::default(),
            eras: Eras::Auto,
            recorded: None,
            limits: Limits::default(),
        }
    }
}

/// Starts or connects to a server and captures it, in each requested era. Every live server of
/// every command goes through here; the result contains none of mcp-keel's secrets.
pub(crate) async fn boot(
    server: &LiveServer<'_>,
    observer: &dyn Observer,
) -> Result<Captured, CaptureFailure> {
    let stage = |stage| observer.stage(server.name, stage);
    let secrets = secrets::known();
    let once = async |order: Order, limits: &Limits| {
        let mut outcome = capture(server.endpoint, &server.client, order, limits, &stage).await;
        match &mut outcome {
            Ok(captured) => captured.redact(&secrets),
            Err(failure) => failure.redact(&secrets),
        }
        outcome.map(|captured| captured.with_notes(Note::from))
    };
    let eras = (server.eras, server.recorded);
    eras::capture_in_eras(eras, server.masks, &server.limits, once).await
}

/// Boots a server of the plan once. Masked texts are removed from the surface, and unused masks
/// noted.
pub(crate) async fn capture_once(
    target: &Target,
    client: &ClientProfile,
    (eras, recorded): (Eras, Option<Era>),
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Captured, CaptureFailure> {
    if let Some(withheld) = target.withheld.clone() {
        let error = match withheld {
            Withheld::Unreviewed(why) => LaunchError::Withheld { why },
            Withheld::Unset { problem, help } => LaunchError::Unset { problem, help },
            Withheld::Skipped => LaunchError::Skipped,
        };
        return Err(CaptureFailure::before(error.into()));
    }
    let server = LiveServer {
        name: &target.name,
        endpoint: &target.endpoint,
        masks: &target.masks,
        client: client.clone(),
        eras,
        recorded,
        limits: limits.clone(),
    };
    let mut captured = boot(&server, observer).await?;
    let surface = &mut captured.surface;
    let applied = mask::apply(&target.masks, surface);
    surface.notes.extend(applied.unused(&target.masks));
    surface
        .notes
        .extend(environment::notes(surface, &facts(&target.endpoint)));
    if let Some(again) = &mut captured.again {
        mask::apply(&target.masks, again);
    }
    Ok(captured)
}

/// The era of a baseline, if recorded.
pub(crate) fn recorded(pinned: Option<&Surface>) -> Option<Era> {
    pinned
        .filter(|pinned| !pinned.protocol_version.is_empty())
        .map(Surface::era)
}

/// The error of a command that needs the server `name`.
pub(crate) fn not_captured(name: &str, endpoint: &Endpoint, failure: CaptureFailure) -> Error {
    let help = hints::help(endpoint, &failure);
    let error = Error::from(SourceError::Capture {
        what: name.to_owned(),
        failure: Box::new(failure),
    });
    error.with_help(help)
}

/// What a local server can know about this machine. A remote one knows about another.
fn facts(endpoint: &Endpoint) -> Facts {
    let Some(launch) = endpoint.launch() else {
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

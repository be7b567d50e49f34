//! Speaking MCP with a server until its whole contract is known, or saying clearly why it is not.
//!
//! This room promises:
//!
//! - **What is captured is what was sent**: answers are read from the raw bytes, not through typed structures
//!   that drop what they do not know.
//! - **It never hangs**: bytes, pages, repeated listing and time are bounded ([`Limits`]).
//! - **"None" is never a guess**: a list is empty only if the server said so, does not declare it, or does not know
//!   the method. Everything else that goes wrong is a [`CaptureError`], and nothing is claimed.
//! - **The lists stand still**: a change announced while listing means listing again.
//! - **The server is gone afterwards**, with everything that it started.

mod error;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzed;
pub mod http;
mod inbox;
mod lists;
mod wire;

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use tokio::io::AsyncRead;

use crate::canonical::Json;
use crate::launch::{LaunchSpec, Launched, Patience, launch};
use crate::surface::{ClientProfile, Kind, Lists, Scope, Surface};
use inbox::Inbox;
use lists::Lister;
use wire::Wire;

pub use error::{CaptureError, CaptureFailure, Noise};
pub use http::HttpSpec;

/// What a server may take. Every bound has an error of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// From the start of the process to the answer to `initialize`.
    pub start: Duration,
    /// Each other request.
    pub request: Duration,
    /// The whole capture: each answer may come in time, and all together never.
    pub total: Duration,
    /// Everything on stdout.
    pub bytes: usize,
    /// The pages of one list.
    pub pages: usize,
    /// How often a list that changed while it was listed is listed again.
    pub relists: usize,
    /// How long the server may take to end by itself.
    pub patience: Patience,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            request: Duration::from_secs(30),
            total: Duration::from_secs(300),
            bytes: 64 * 1024 * 1024,
            pages: 1000,
            relists: 8,
            patience: Patience::default(),
        }
    }
}

/// How far a capture is, for whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// The process is being started.
    Starting,
    /// Waiting for the answer to `initialize`.
    Handshake,
    /// A page of a list has come.
    Listing {
        /// Which list.
        kind: Kind,
        /// How many there are so far.
        items: usize,
    },
    /// The server announced a change; listing again.
    Settling,
    /// Everything is known; the server is being ended.
    Stopping,
}

/// What a server told us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The result of `initialize`, as sent.
    pub initialize: Json,
    /// The lists, as sent.
    pub lists: Lists,
    /// The same as a surface, with what was noticed on the way.
    pub surface: Surface,
    /// The end of what the server wrote to stderr, raw.
    pub stderr: Vec<u8>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reach {
    /// A process of ours, through its stdin and stdout.
    Stdio(LaunchSpec),
    /// An address, which may be one of a process of ours.
    Http(Box<HttpSpec>),
}

impl Reach {
    /// How the server is started; none if it runs somewhere already.
    pub fn launch(&self) -> Option<&LaunchSpec> {
        match self {
            Self::Stdio(launch) => Some(launch),
            Self::Http(http) => http.start.as_ref(),
        }
    }

    /// How the server is reached over HTTP; none for one over stdio.
    pub fn http(&self) -> Option<&HttpSpec> {
        match self {
            Self::Stdio(_) => None,
            Self::Http(http) => Some(http),
        }
    }
}

/// Captures the contract of a server, however it is reached.
pub async fn capture(
    reach: &Reach,
    client: &ClientProfile,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Captured, CaptureFailure> {
    match reach {
        Reach::Stdio(launch) => capture_stdio(launch, client, limits, progress).await,
        Reach::Http(spec) => http::capture_http(spec, client, limits, progress).await,
    }
}

/// Starts a server, captures its contract over stdio and ends it.
pub async fn capture_stdio(
    spec: &LaunchSpec,
    client: &ClientProfile,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Captured, CaptureFailure> {
    progress(Stage::Starting);
    let mut server = launch(spec).map_err(|error| CaptureFailure::before(error.into()))?;
    let Some((stdin, stdout)) = server.take_pipes() else {
        let gone = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        return Err(CaptureFailure::before(CaptureError::Read(gone)));
    };

    let inbox = Arc::new(Inbox::default());
    let (wire, sender) = Wire::new(stdout, stdin, client, Arc::clone(&inbox), limits.bytes);
    let conversation = converse(wire, &inbox, client, limits, progress);
    let mut left = None;
    let outcome = tokio::select! {
        // What the server said before it ended counts.
        biased;
        outcome = tokio::time::timeout(limits.total, conversation) => {
            outcome.unwrap_or(Err(CaptureError::TooSlow { after: limits.total }))
        }
        status = ended(&mut server, &mut left) => Err(exited(&inbox, status)),
    };
    let outcome = match outcome {
        // stdout closes an instant before the process can be waited for.
        Err(CaptureError::ClosedStdout { method, noise }) => {
            match server.exited_within(Duration::from_millis(500)).await {
                Some(status) => Err(CaptureError::Exited {
                    method,
                    status,
                    noise,
                }),
                None => Err(CaptureError::ClosedStdout { method, noise }),
            }
        }
        // Silence has a better explanation when nobody is there to speak.
        Err(error @ (CaptureError::Timeout { .. } | CaptureError::NotJsonRpc { .. })) => {
            Err(left.map_or(error, |status| exited(&inbox, status)))
        }
        outcome => outcome,
    };

    progress(Stage::Stopping);
    sender.close().await;
    finished(outcome, &inbox, client, Some(server), limits, "on stdout").await
}

/// Ends the server, if it is a process of ours, and says what came of it.
async fn finished(
    outcome: Result<(Json, Lists), CaptureError>,
    inbox: &Inbox,
    client: &ClientProfile,
    server: Option<Launched>,
    limits: &Limits,
    place: &str,
) -> Result<Captured, CaptureFailure> {
    let (missing_variables, stderr) = match server {
        Some(server) => {
            let missing = server.missing_variables().to_vec();
            (missing, server.shutdown(limits.patience).await.stderr)
        }
        None => Default::default(),
    };
    match outcome {
        Ok((initialize, lists)) => {
            let mut surface = Surface::new(&initialize, lists.clone(), client.clone(), Scope::FULL);
            note_noise(&mut surface, &inbox.all_noise(), place);
            for name in &missing_variables {
                let message =
                    format!("{name} was to be passed on to the server and is not set here");
                surface.note("variable-missing", None, message);
            }
            Ok(Captured {
                initialize,
                lists,
                surface,
                stderr,
            })
        }
        Err(error) => Err(CaptureFailure {
            error,
            stderr,
            missing_variables,
        }),
    }
}

/// The whole conversation over one wire.
async fn converse<R>(
    wire: Wire<R>,
    inbox: &Arc<Inbox>,
    client: &ClientProfile,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<(Json, Lists), CaptureError>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    progress(Stage::Handshake);
    // Always explicit: rmcp's default announces a revision that has no `initialize`.
    let identity = Implementation::new(client.name.clone(), client.version.clone());
    let config = ClientConfig::new(ClientCapabilities::default(), identity)
        .with_protocol_version(ProtocolVersion::V_2025_11_25);
    let Ok(greeted) = tokio::time::timeout(limits.start, config.serve(wire)).await else {
        let noise = inbox.all_noise();
        let after = limits.start;
        return Err(if noise.lines > 0 && !inbox.has_spoken() {
            CaptureError::NotJsonRpc { after, noise }
        } else {
            CaptureError::Timeout {
                method: "initialize",
                after,
                noise,
            }
        });
    };
    let (Ok(service), Some(initialize)) = (greeted, inbox.take_initialize()) else {
        return Err(lost(inbox, "initialize"));
    };
    let lister = Lister {
        peer: service.peer(),
        inbox,
        limits,
        progress,
    };
    let lists = lister.all(initialize.get("capabilities")).await?;
    Ok((initialize, lists))
}

/// Why there will be no answer to `method`.
fn lost(inbox: &Inbox, method: &'static str) -> CaptureError {
    inbox
        .take_failure()
        .unwrap_or_else(|| CaptureError::ClosedStdout {
            method,
            noise: inbox.all_noise(),
        })
}

/// How long the rest of a server may go on speaking after its first process has ended. A launcher may leave the server
/// to run by itself, but `sh -c 'sleep 1000 & exit 1'` must not cost the whole timeout.
const AFTER_THE_LEADER: Duration = Duration::from_secs(1);

/// Resolves when the first process has ended and the rest had its time. `left` holds the status at once.
async fn ended(server: &mut Launched, left: &mut Option<ExitStatus>) -> ExitStatus {
    match server.exited().await {
        Some(status) => {
            *left = Some(status);
            tokio::time::sleep(AFTER_THE_LEADER).await;
            status
        }
        None => std::future::pending().await,
    }
}

fn exited(inbox: &Inbox, status: ExitStatus) -> CaptureError {
    CaptureError::Exited {
        method: inbox.first_open().unwrap_or("initialize"),
        status,
        noise: inbox.all_noise(),
    }
}

fn note_noise(surface: &mut Surface, noise: &Noise, place: &str) {
    if noise.lines > 0 {
        let message = format!("{noise} {place}");
        surface.note("stdout-noise", None, message);
    }
}

//! Talks MCP to a server until its whole contract is known, or reports clearly why it is not.
//!
//! This room promises:
//!
//! - **What is captured is what was sent**: answers are read from the raw bytes, not through typed
//!   structures that drop unknown members.
//! - **It never hangs**: bytes, pages, repeated listing and time are bounded ([`Limits`]).
//! - **"None" is never a guess**: a list is empty only if the server sent an empty one, does not
//!   declare it, or does not know the method. Everything else that goes wrong is a
//!   [`CaptureError`], and there is no verdict.
//! - **The lists are stable**: a change announced while listing causes another listing. On request
//!   everything is listed once more on the same connection, for comparison ([`Captured::again`]).
//! - **One connection has one era** of the protocol ([`Order`]). Another era needs a new start of
//!   the server.
//! - **The server is gone afterwards**, with everything that it started.

mod contents;
mod denied;
mod error;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzed;
pub mod http;
mod inbox;
mod introduction;
mod lists;
mod opening;
mod redacted;
mod wire;

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use tokio::io::AsyncRead;

use crate::keyword_enum::keyword_enum;
use crate::launch::sandbox::Level;
use crate::launch::{LaunchSpec, Launched, Patience, launch};
use crate::surface::{
    self, CaptureNote, ClientProfile, Era, Kind, Lists, NoteKind, Scope, Surface,
};
use exact_json::Json;
use inbox::Inbox;
use lists::Lister;
use opening::{Opening, UNTIL_INITIALIZE};
use wire::Wire;

pub use error::{CaptureError, CaptureFailure, InSandbox, Noise};
pub use http::HttpSpec;

/// The limits for a server. Each has its own error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// From the start of the process to the answer to `initialize` or `server/discover`.
    pub start: Duration,
    /// Each other request.
    pub request: Duration,
    /// The whole capture: each answer may come in time, but all together may not.
    pub total: Duration,
    /// Everything on stdout.
    pub bytes: usize,
    /// All answers together, and any single line. The largest contract seen in the wild has 260 kB.
    pub answer_bytes: usize,
    /// The JSON values of all answers together: tiny ones take far more memory than their text. The
    /// largest contract seen in the wild has about 10,000.
    pub values: usize,
    /// The pages of one list.
    pub pages: usize,
    /// The items of one list, on all pages. The longest seen in the wild has 138.
    pub items: usize,
    /// The bytes of a cursor, which is sent back.
    pub cursor: usize,
    /// Answers to the server that it has not read.
    pub unread: usize,
    /// How often a list that changed while it was listed is listed again.
    pub relists: usize,
    /// Whether to read documents of apps and files of skills.
    pub read_contents: bool,
    /// How many of them. A listed skill may have 512 files.
    pub contents: usize,
    /// The maximum size of a file in its list. A file without a listed size is bounded by
    /// `answer_bytes`.
    pub content_bytes: u64,
    /// List everything once more on the same connection, after this long.
    pub relist_after: Option<Duration>,
    /// How long the server may take to exit.
    pub patience: Patience,
    /// Note where the server's processes run from ([`Captured::paths`]), which reads the table of
    /// processes.
    pub note_processes: bool,
}

const MIB: usize = 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            request: Duration::from_secs(30),
            total: Duration::from_secs(300),
            bytes: 64 * MIB,
            answer_bytes: 16 * MIB,
            values: 250_000,
            pages: 1000,
            items: 10_000,
            cursor: 64 * 1024,
            unread: MIB,
            relists: 8,
            read_contents: false,
            contents: 1_000,
            content_bytes: 4 * 1024 * 1024,
            relist_after: None,
            patience: Patience::default(),
            note_processes: false,
        }
    }
}

/// The progress of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The process is being started.
    Starting,
    /// Waiting for the answer to `initialize` or `server/discover`.
    Handshake,
    /// A page of a list has come.
    Listing {
        kind: Kind,
        /// The number of items so far.
        items: usize,
    },
    /// The server announced a change; listing again.
    Settling,
    /// Everything is listed; waiting before it is listed once more.
    Waiting,
    /// Everything is known; the server is being ended.
    Stopping,
}

/// A captured server. `N` is what a note of its surface is ([`Surface`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured<N = CaptureNote> {
    /// The result of `initialize`, or in the modern era of `server/discover`, as sent.
    pub greeting: Json,
    /// The era of the connection.
    pub era: Era,
    /// The lists, as sent.
    pub lists: Lists,
    /// The same as a surface, with what was noticed during the capture.
    pub surface: Surface<N>,
    /// The second listing of the same connection, if [`Limits::relist_after`] is set.
    pub again: Option<Surface<N>>,
    /// The tail of the server's stderr, raw.
    pub stderr: Vec<u8>,
    /// The absolute paths among the words of its processes, if they were asked for and the system
    /// shows them: where a launcher put what it fetched.
    pub paths: Vec<PathBuf>,
}

impl<N> Captured<N> {
    /// The same capture with notes of another kind.
    pub fn with_notes<M>(self, mut note: impl FnMut(N) -> M) -> Captured<M> {
        Captured {
            greeting: self.greeting,
            era: self.era,
            lists: self.lists,
            surface: self.surface.with_notes(&mut note),
            again: self.again.map(|again| again.with_notes(&mut note)),
            stderr: self.stderr,
            paths: self.paths,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A local process, through its stdin and stdout.
    Stdio(LaunchSpec),
    /// A URL, possibly of a process that mcp-keel starts.
    Http(Box<HttpSpec>),
}

impl Endpoint {
    /// How the server is started; `None` if it is already running.
    pub fn launch(&self) -> Option<&LaunchSpec> {
        match self {
            Self::Stdio(launch) => Some(launch),
            Self::Http(http) => http.start.as_ref(),
        }
    }

    /// How the server is reached over HTTP; `None` for stdio.
    pub fn http(&self) -> Option<&HttpSpec> {
        match self {
            Self::Stdio(_) => None,
            Self::Http(http) => Some(http),
        }
    }
}

/// Which eras of the protocol are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Eras {
    /// The one in the baseline, else legacy; the other if the server does not support it.
    #[default]
    Auto,
    Modern,
    Legacy,
    /// Each of them, to see how they differ.
    Both,
}

keyword_enum!(Eras { Auto = "auto", Modern = "modern", Legacy = "legacy", Both = "both" });

/// Which eras of the protocol one capture tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// This one; a server that does not support it cannot be captured.
    Only(Era),
    /// This one first, then the other.
    First(Era),
}

/// Captures the contract of a server, however it is reached.
pub async fn capture(
    reach: &Endpoint,
    client: &ClientProfile,
    order: Order,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Captured, CaptureFailure> {
    let attempt = async |opening, limits: &Limits| match reach {
        Endpoint::Stdio(launch) => capture_stdio(launch, client, opening, limits, progress).await,
        Endpoint::Http(spec) => http::capture_http(spec, client, opening, limits, progress).await,
    };
    let begun = tokio::time::Instant::now();
    match order {
        Order::Only(Era::Legacy) => attempt(Opening::Initialize, limits).await,
        Order::Only(Era::Modern) => attempt(Opening::Discover, limits).await,
        Order::First(Era::Legacy) => match attempt(Opening::Initialize, limits).await {
            // A modern server rejects `initialize` with an error of its choice. Restarted, it has
            // only seen requests of its era. A server that rejected in this time can answer in
            // twice as much.
            Err(refused) if refused.error.refuses_initialize() => {
                let limits = Limits {
                    start: limits
                        .start
                        .min(2 * begun.elapsed() + Duration::from_secs(1)),
                    ..limits.clone()
                };
                attempt(Opening::Discover, &limits)
                    .await
                    .map_err(|_| refused)
            }
            outcome => outcome,
        },
        Order::First(Era::Modern) => {
            let patience = match reach {
                Endpoint::Stdio(_) => Some(UNTIL_INITIALIZE),
                Endpoint::Http(_) => None,
            };
            match attempt(Opening::Probe { patience }, limits).await {
                Err(failure) if matches!(failure.error, CaptureError::BothEras) => {
                    attempt(Opening::Discover, limits).await
                }
                // A server that cannot handle an unknown request, or is confused by it, was never
                // opened properly.
                Err(failure) if failure.error.may_be_the_opening() => {
                    attempt(Opening::Initialize, limits)
                        .await
                        .map_err(|_| failure)
                }
                outcome => outcome,
            }
        }
    }
}

/// Starts a server, captures its contract over stdio and ends it.
async fn capture_stdio(
    spec: &LaunchSpec,
    client: &ClientProfile,
    opening: Opening,
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
    let (wire, sender) = Wire::new(stdout, stdin, client, opening, Arc::clone(&inbox), limits);
    let conversation = converse(wire, &inbox, client, opening, limits, progress);
    let mut left = None;
    let outcome = tokio::select! {
        // What the server sent before it ended counts.
        biased;
        outcome = tokio::time::timeout(limits.total, conversation) => {
            outcome.unwrap_or(Err(CaptureError::TooSlow { after: limits.total }))
        }
        status = ended(&mut server, &mut left) => Err(exited(&inbox, opening, status)),
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
        // If the process is gone, that explains the silence better.
        Err(error @ (CaptureError::Timeout { .. } | CaptureError::NotJsonRpc { .. })) => {
            Err(left.map_or(error, |status| exited(&inbox, opening, status)))
        }
        outcome => outcome,
    };

    progress(Stage::Stopping);
    if limits.note_processes {
        server.look();
    }
    sender.close().await;
    finished(
        outcome,
        &inbox,
        client,
        Some((server, spec)),
        limits,
        "on stdout",
    )
    .await
}

/// Ends the server, if mcp-keel started it, and returns the result.
async fn finished(
    outcome: Result<Heard, CaptureError>,
    inbox: &Inbox,
    client: &ClientProfile,
    server: Option<(Launched, &LaunchSpec)>,
    limits: &Limits,
    place: &str,
) -> Result<Captured, CaptureFailure> {
    let mut missing_variables = Vec::new();
    let mut paths = Vec::new();
    let mut stderr = Vec::new();
    let mut sandbox = None;
    let mut notes_at_the_end = Vec::new();
    let mut not_started = None;
    if let Some((server, spec)) = server {
        missing_variables = server.missing_variables().to_vec();
        paths = server.paths().to_vec();
        let ending = server.shutdown(limits.patience).await;
        stderr = ending.stderr;
        not_started = spec.not_started(&ending.sandbox);
        notes_at_the_end = ending.sandbox.notes();
        if ending.left > 0 {
            let message = format!(
                "{} processes of the server still run: they could not be killed within {:?}",
                ending.left, limits.patience.after_kill
            );
            notes_at_the_end.push(CaptureNote::new(NoteKind::ProcessesLeft, message));
        }
        if spec.sandbox.level != Level::Off {
            notes_at_the_end.extend(denied::denied(spec.sandbox.level, &stderr));
            sandbox = Some(Box::new(InSandbox {
                level: spec.sandbox.level,
                observed: ending.sandbox,
            }));
        }
    }
    match outcome {
        Ok((era, greeting, lists, again)) => {
            let mut scope = Scope::FULL;
            if limits.read_contents {
                scope.kinds = scope.kinds.with(Kind::Content);
            }
            let surface = |lists: Lists| Surface::new(&greeting, lists, client.clone(), scope);
            let again = again.map(surface);
            let mut surface = surface(lists.clone());
            note_noise(&mut surface, &inbox.noise_before_the_end(), place);
            for (asked, method, instead) in [
                (
                    inbox.asked_for_roots(),
                    "roots/list",
                    "take folders as parameters, resource URIs or configuration",
                ),
                (
                    inbox.asked_for_sampling(),
                    "sampling/createMessage",
                    "call the model provider's API",
                ),
            ] {
                if asked {
                    let feature = format!("the server asks for `{method}`");
                    let message = surface::deprecated_in_2026(&feature, instead);
                    surface.note(NoteKind::DeprecatedFeature, None, message);
                }
            }
            surface.notes.extend(notes_at_the_end);
            for name in &missing_variables {
                let message = format!("{name} should be passed to the server but is not set");
                surface.note(NoteKind::VariableMissing, None, message);
            }
            Ok(Captured {
                greeting,
                era,
                lists,
                surface,
                again,
                stderr,
                paths,
            })
        }
        Err(error) => Err(CaptureFailure {
            error: not_started.map_or(error, CaptureError::Launch),
            stderr,
            missing_variables: missing_variables.into(),
            sandbox,
        }),
    }
}

/// The era, the answer that opened the connection, the lists, and the second listing if requested.
type Heard = (Era, Json, Lists, Option<Lists>);

/// The whole exchange over one wire.
async fn converse<R>(
    wire: Wire<R>,
    inbox: &Arc<Inbox>,
    client: &ClientProfile,
    opening: Opening,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Heard, CaptureError>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    progress(Stage::Handshake);
    // Always explicit: rmcp's default announces a revision that has no `initialize`.
    let identity = Implementation::new(client.name.clone(), client.version.clone());
    let config = ClientConfig::new(ClientCapabilities::default(), identity)
        .with_protocol_version(ProtocolVersion::V_2025_11_25);
    let greeted = config.serve_with_lifecycle(wire, lifecycle(opening));
    let Ok(greeted) = tokio::time::timeout(limits.start, greeted).await else {
        let noise = inbox.all_noise();
        let method = inbox.first_open().unwrap_or(opening.method());
        let after = limits.start;
        return Err(if noise.lines > 0 && !inbox.has_spoken() {
            CaptureError::NotJsonRpc {
                method,
                after,
                noise,
            }
        } else {
            CaptureError::Timeout {
                method,
                after,
                noise,
            }
        });
    };
    let (Ok(service), Some((era, greeting))) = (greeted, inbox.take_greeting()) else {
        let method = inbox.first_open().unwrap_or(opening.method());
        return Err(lost(inbox, method));
    };
    let lister = Lister {
        peer: service.peer(),
        inbox,
        era,
        limits,
        progress,
    };
    let capabilities = greeting.get("capabilities");
    let lists = lister.all(capabilities).await?;
    let again = match limits.relist_after {
        Some(pause) => Some(lister.again(capabilities, pause).await?),
        None => None,
    };
    Ok((era, greeting, lists, again))
}

/// The same opening in rmcp's terms.
fn lifecycle(opening: Opening) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match opening {
        Opening::Initialize => ClientLifecycleMode::Initialize,
        Opening::Discover => ClientLifecycleMode::Discover { preferred_versions },
        // The wire answers in its place long before rmcp's ten seconds are over.
        Opening::Probe { .. } => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    }
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

/// How long the rest of a server may keep talking after its first process has ended. A launcher may
/// leave the server running, but `sh -c 'sleep 1000 & exit 1'` must not use up the whole timeout.
const AFTER_THE_LEADER: Duration = Duration::from_secs(1);

/// Resolves when the first process has ended and the rest had its time. `left` holds the status at
/// once.
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

fn exited(inbox: &Inbox, opening: Opening, status: ExitStatus) -> CaptureError {
    CaptureError::Exited {
        method: inbox.first_open().unwrap_or(opening.method()),
        status,
        noise: inbox.all_noise(),
    }
}

fn note_noise(surface: &mut Surface, noise: &Noise, place: &str) {
    if noise.lines > 0 {
        let message = format!("{noise} {place}");
        surface.note(NoteKind::StdoutNoise, None, message);
    }
}

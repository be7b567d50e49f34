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
mod decode;
mod denied;
mod error;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzed;
mod handler;
pub mod http;
mod introduction;
mod lists;
mod opening;
mod record;
mod redacted;
mod sdk;
mod tee;

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::ClientServiceExt;
use rmcp::transport::Transport;

use crate::keyword_enum::keyword_enum;
use crate::launch::sandbox::Level;
use crate::launch::{LaunchSpec, Launched, Patience, launch};
use crate::surface::{
    self, CaptureNote, ClientProfile, Era, Kind, Lists, NoteKind, Scope, Surface,
};
use exact_json::Json;
use handler::Handler;
use introduction::Introduction;
use lists::{Lister, Listing};
use opening::HandshakeMode;
use record::Record;
use tee::Tee;

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
    let attempt = async |mode, limits: &Limits| match reach {
        Endpoint::Stdio(launch) => capture_stdio(launch, client, mode, limits, progress).await,
        Endpoint::Http(spec) => http::capture_http(spec, client, mode, limits, progress).await,
    };
    let begun = tokio::time::Instant::now();
    match order {
        Order::Only(Era::Legacy) => attempt(HandshakeMode::Initialize, limits).await,
        Order::Only(Era::Modern) => attempt(HandshakeMode::Discover, limits).await,
        Order::First(Era::Legacy) => match attempt(HandshakeMode::Initialize, limits).await {
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
                let modern = attempt(HandshakeMode::Discover, &limits).await;
                modern.map_err(|failure| {
                    if failure.error.is_of_the_modern_era() {
                        failure
                    } else {
                        refused
                    }
                })
            }
            outcome => outcome,
        },
        Order::First(Era::Modern) => {
            let patience = match reach {
                Endpoint::Stdio(_) => Some(limits.start / 10),
                Endpoint::Http(_) => None,
            };
            match attempt(HandshakeMode::Probe { patience }, limits).await {
                Err(failure) if matches!(failure.error, CaptureError::BothEras) => {
                    attempt(HandshakeMode::Discover, limits).await
                }
                // A server that cannot handle an unknown request, or is confused by it, was never
                // opened properly.
                Err(failure) if failure.error.may_be_the_opening() => {
                    attempt(HandshakeMode::Initialize, limits)
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
    mode: HandshakeMode,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Captured, CaptureFailure> {
    progress(Stage::Starting);
    let mut server = launch(spec).map_err(|error| CaptureFailure::before(error.into()))?;
    let Some((stdin, stdout)) = server.take_pipes() else {
        let gone = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        return Err(CaptureFailure::before(CaptureError::Read(gone)));
    };

    let record = Arc::new(Record::default());
    let introduction = Introduction::new(client, mode);
    let handler = Handler {
        config: introduction.config(),
    };
    let (tee, stdin) = Tee::new(
        stdout,
        stdin,
        introduction,
        mode.patience(),
        Arc::clone(&record),
        limits,
    );
    let conversation = converse(tee, handler, &record, mode, limits, progress);
    let mut left = None;
    let outcome = tokio::select! {
        // What the server sent before it ended counts.
        biased;
        outcome = tokio::time::timeout(limits.total, conversation) => {
            outcome.unwrap_or(Err(CaptureError::TooSlow { after: limits.total }))
        }
        status = ended(&mut server, &mut left) => Err(exited(&record, mode, status)),
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
            Err(left.map_or(error, |status| exited(&record, mode, status)))
        }
        outcome => outcome,
    };

    progress(Stage::Stopping);
    if limits.note_processes {
        server.look();
    }
    stdin.close().await;
    finished(
        outcome,
        &record,
        client,
        Some((server, spec)),
        limits,
        "on stdout",
    )
    .await
}

/// Ends the server, if mcp-keel started it, and returns the result.
async fn finished(
    outcome: Result<Conversation, CaptureError>,
    record: &Record,
    client: &ClientProfile,
    server: Option<(Launched, &LaunchSpec)>,
    limits: &Limits,
    place: &str,
) -> Result<Captured, CaptureFailure> {
    let mut missing_variables = Vec::new();
    let mut paths = Vec::new();
    let mut stderr = Vec::new();
    let mut sandbox = None;
    let mut sandbox_notes = Vec::new();
    let mut not_started = None;
    if let Some((server, spec)) = server {
        missing_variables = server.missing_variables().to_vec();
        paths = server.paths().to_vec();
        let ending = server.shutdown(limits.patience).await;
        stderr = ending.stderr;
        not_started = spec.not_started(&ending.sandbox);
        sandbox_notes = ending.sandbox.notes();
        if spec.sandbox.level != Level::Off {
            sandbox_notes.extend(denied::denied(spec.sandbox.level, &stderr));
            sandbox = Some(Box::new(InSandbox {
                level: spec.sandbox.level,
                observed: ending.sandbox,
            }));
        }
    }
    match outcome {
        Ok(Conversation {
            era,
            greeting,
            listing,
            again,
        }) => {
            let mut scope = Scope::FULL;
            if limits.read_contents {
                scope.kinds = scope.kinds.with(Kind::Content);
            }
            let surface = |lists: Lists| Surface::new(&greeting, lists, client.clone(), scope);
            let again = again.map(surface);
            let lists = listing.lists;
            let mut surface = surface(lists.clone());
            surface.notes.extend(listing.unread.into_values());
            note_noise(&mut surface, &record.noise_before_the_end(), place);
            for (asked, method, instead) in [
                (
                    record.asked_for_roots(),
                    "roots/list",
                    "take folders as parameters, resource URIs or configuration",
                ),
                (
                    record.asked_for_sampling(),
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
            surface.notes.extend(sandbox_notes);
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

/// All that a server said on one connection.
struct Conversation {
    era: Era,
    /// The answer that opened the connection.
    greeting: Json,
    listing: Listing,
    /// The second listing, if requested.
    again: Option<Lists>,
}

/// The whole exchange over one transport.
async fn converse<T>(
    transport: T,
    handler: Handler,
    record: &Arc<Record>,
    mode: HandshakeMode,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Conversation, CaptureError>
where
    T: Transport<RoleClient> + 'static,
{
    progress(Stage::Handshake);
    let pending = || record.first_pending().unwrap_or(mode.method());
    let opened = handler.serve_with_lifecycle(transport, mode.lifecycle());
    let Ok(opened) = tokio::time::timeout(limits.start, opened).await else {
        let (method, after) = (pending(), limits.start);
        let noise = record.all_noise();
        return Err(if noise.lines > 0 && !record.saw_json_rpc() {
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
    let (Ok(service), Some((era, greeting))) = (opened, opening::greeting(record)) else {
        let failure = record.take_failure().or_else(|| opening::refusal(record));
        return Err(failure.unwrap_or_else(|| lost(record, pending())));
    };
    opening::check(era, &greeting)?;
    let lister = Lister {
        peer: service.peer(),
        record,
        era,
        limits,
        progress,
    };
    let capabilities = greeting.get("capabilities");
    let listing = lister.all(capabilities).await?;
    let again = match limits.relist_after {
        Some(pause) => Some(lister.again(capabilities, pause).await?.lists),
        None => None,
    };
    Ok(Conversation {
        era,
        greeting,
        listing,
        again,
    })
}

/// Why there will be no answer to `method`.
fn lost(record: &Record, method: &'static str) -> CaptureError {
    record
        .take_failure()
        .unwrap_or_else(|| CaptureError::ClosedStdout {
            method,
            noise: record.all_noise(),
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

fn exited(record: &Record, mode: HandshakeMode, status: ExitStatus) -> CaptureError {
    CaptureError::Exited {
        method: record.first_pending().unwrap_or(mode.method()),
        status,
        noise: record.all_noise(),
    }
}

fn note_noise(surface: &mut Surface, noise: &Noise, place: &str) {
    if noise.lines > 0 {
        let message = format!("{noise} {place}");
        surface.note(NoteKind::StdoutNoise, None, message);
    }
}

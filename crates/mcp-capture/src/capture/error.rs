//! Why a server could not be captured. There is no verdict about its contract then.
//!
//! These errors quote the server as sent: escape them before printing.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

use super::http::HttpError;
use super::opening::{DISCOVER, INITIALIZE};
use crate::launch::LaunchError;
use crate::launch::sandbox::{Level, Observed};
use crate::surface::{CaptureNote, Era};

/// Lines on stdout that were not JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Noise {
    pub lines: usize,
    /// The first of them, shortened.
    pub first: String,
}

/// Why a server could not be captured. [`CaptureError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("the server {} before it answered `{method}`{}", ended(*.status), printed(.noise))]
    Exited {
        /// The pending request.
        method: &'static str,
        status: ExitStatus,
        /// What it printed instead.
        noise: Noise,
    },
    /// It closed its stdout but kept running.
    #[error("the server closed its stdout before it answered `{method}`, but still runs{}", printed(.noise))]
    ClosedStdout {
        /// The pending request.
        method: &'static str,
        /// What it printed instead.
        noise: Noise,
    },
    #[error("the command echoes what it is sent: it is not an MCP server")]
    Echo,
    /// It prints, but never a JSON-RPC message.
    #[error("the server does not speak JSON-RPC: no answer to `{method}` in {}, and on stdout {noise}", seconds(*.after))]
    NotJsonRpc {
        /// The pending request.
        method: &'static str,
        after: Duration,
        noise: Noise,
    },
    #[error("the server did not answer `{method}` in {}{}", seconds(*.after), printed(.noise))]
    Timeout {
        /// The pending request.
        method: &'static str,
        after: Duration,
        /// What it printed instead.
        noise: Noise,
    },
    /// Each answer came in time, but all of them took too long.
    #[error("the capture was not complete after {}: the server was still listing", seconds(*.after))]
    TooSlow { after: Duration },
    #[error("the server answered `{method}` with an error: {error}")]
    Refused {
        method: &'static str,
        /// `code: message`, or the error as sent if it has neither.
        error: String,
    },
    /// It only supports the other era.
    #[error("the server does not speak {} of the protocol: `{}` was answered with {said}", .era.revision(), DISCOVER)]
    NotSpoken { era: Era, said: String },
    /// It only supports unknown revisions.
    #[error("the server supports none of mcp-keel's protocol revisions: {offered}")]
    NoCommonRevision { offered: String },
    /// It answered `server/discover` late and accepted `initialize` too, so its era is unknown. It
    /// is restarted, so this is never reported.
    #[error("the server was opened in both eras of the protocol")]
    BothEras,
    /// A result that is only the beginning of an answer.
    #[error("the server's answer to `{method}` is not complete: its `resultType` is {kind}")]
    Incomplete {
        method: &'static str,
        /// As sent.
        kind: String,
    },
    /// An answer that violates the protocol.
    #[error("the server's answer to `{method}` is malformed: {problem}")]
    Malformed {
        method: &'static str,
        problem: String,
    },
    #[error("the server's answer{} cannot be read as JSON: {problem}", .method.map(|method| format!(" to `{method}`")).unwrap_or_default())]
    Unreadable {
        /// The request, if the answer can be attributed to one.
        method: Option<&'static str>,
        problem: String,
    },
    /// The same cursor twice: the list would never end.
    #[error("the server sent the cursor `{cursor}` of `{method}` twice: its pages never end")]
    RepeatedCursor {
        method: &'static str,
        /// Shortened.
        cursor: String,
    },
    #[error("`{method}` has more than {limit} pages")]
    TooManyPages { method: &'static str, limit: usize },
    #[error("the server wrote more than {limit} bytes to stdout")]
    TooManyBytes { limit: usize },
    #[error("the server wrote a line of more than {limit} bytes to stdout")]
    LongLine { limit: usize },
    #[error("the server's answers hold more than {limit} {unit}")]
    TooMuch { limit: usize, unit: &'static str },
    #[error("`{method}` lists more than {limit} items")]
    TooManyItems { method: &'static str, limit: usize },
    /// It keeps sending requests without reading the answers.
    #[error(
        "the server sends requests without reading the answers: more than {limit} bytes are waiting for it"
    )]
    Unread { limit: usize },
    /// The list changed again each time it was listed.
    #[error(
        "the answer to `{method}` does not settle: the server announced a change each of the {limit} times it was listed again"
    )]
    Unsettled { method: &'static str, limit: usize },
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("reading from the server failed: {0}")]
    Read(std::io::Error),
}

/// Why a server may not find what it needs.
pub(super) const ISOLATED: &str = "the server runs in an isolated environment: name the variables that it needs with `--pass-env NAME` or `--env NAME=VALUE`";

impl CaptureError {
    /// Whether the server rejected `initialize`, as one without a handshake does.
    pub(super) fn refuses_initialize(&self) -> bool {
        match self {
            Self::Refused { method, .. } => *method == INITIALIZE,
            Self::Http(error) => error.refuses(INITIALIZE),
            _ => false,
        }
    }

    /// Whether a server that only knows the other opening could have failed like this. A modern one
    /// says so.
    pub(super) fn may_be_the_opening(&self) -> bool {
        match self {
            Self::Http(error) => matches!(error.method(), Some(INITIALIZE | DISCOVER)),
            Self::Exited { method, .. }
            | Self::ClosedStdout { method, .. }
            | Self::Timeout { method, .. }
            | Self::NotJsonRpc { method, .. } => matches!(*method, INITIALIZE | DISCOVER),
            Self::Refused { method, .. } | Self::Malformed { method, .. } => *method == INITIALIZE,
            _ => false,
        }
    }

    /// Whether the connection was never opened: the server may not support the requested era.
    pub fn is_of_the_opening(&self) -> bool {
        match self {
            Self::NotSpoken { .. } | Self::NoCommonRevision { .. } => true,
            Self::Refused { method, .. } | Self::Malformed { method, .. } => {
                matches!(*method, INITIALIZE | DISCOVER)
            }
            other => other.may_be_the_opening(),
        }
    }

    /// Whether the server ended before it answered the first request.
    pub fn is_early_end(&self) -> bool {
        matches!(
            self,
            Self::Exited {
                method: INITIALIZE | DISCOVER,
                ..
            }
        )
    }

    pub fn help(&self) -> String {
        const STDOUT: &str =
            "over stdio, stdout belongs to the protocol: write logs and banners to stderr";
        match self {
            Self::Launch(error) => error.help(),
            Self::Http(error) => error.help(),
            Self::Exited { method: INITIALIZE | DISCOVER, status, .. } if status.success() => format!(
                "it ended as if its work were done: check that the command starts the server in its stdio mode; {ISOLATED}"
            ),
            Self::Exited { .. } => format!("missing credentials are the usual cause; {ISOLATED}"),
            Self::ClosedStdout { .. } => "it may have put itself into the background: start it in the foreground".into(),
            Self::Echo => "check that the command starts the server itself".into(),
            Self::NotJsonRpc { .. } => format!("check that the command starts the server in its stdio mode; {STDOUT}"),
            Self::Timeout { noise, .. } if noise.lines > 0 => STDOUT.into(),
            Self::Timeout { method: method @ (INITIALIZE | DISCOVER), .. } => {
                let other = match *method {
                    INITIALIZE => "modern",
                    _ => "legacy",
                };
                format!(
                    "check that the command starts the server in its stdio mode (it may wait for a network address, or for credentials: {ISOLATED}); a slow start needs a longer `--timeout`; a server that knows only the other era of the protocol needs `--era {other}`"
                )
            }
            Self::Timeout { .. } | Self::TooSlow { .. } => {
                format!("it may wait for a network address or for credentials ({ISOLATED}); or set a longer `--timeout`")
            }
            Self::Refused { method: INITIALIZE, error } if error.starts_with("-32022") => {
                "it only supports other protocol revisions: capture it with `--era modern` or `--era auto`".into()
            }
            Self::Refused { error, .. } if error.starts_with("-32021") => {
                "the server requires a client capability: set it with `--capabilities`".into()
            }
            Self::Refused { .. } => format!("a failed list means no verdict; {ISOLATED}"),
            Self::NotSpoken { era, .. } => {
                format!("capture it with `--era {}`, or with `--era auto`", era.other().word())
            }
            Self::NoCommonRevision { .. } => format!(
                "mcp-keel supports {}, and 2024-11-05 to {}; a newer mcp-keel may support more",
                Era::Modern.revision(),
                Era::Legacy.revision()
            ),
            Self::BothEras => "set the era with `--era modern` or `--era legacy`".into(),
            Self::Incomplete { .. } => {
                "a list that requires input from its client is unknown: there is no verdict about it".into()
            }
            Self::Malformed { .. } | Self::Unreadable { .. } => {
                "no client can read this answer: this is an error of the server".into()
            }
            Self::RepeatedCursor { .. } | Self::TooManyPages { .. } => {
                "a list ends with a page without `nextCursor`: this is an error of the server".into()
            }
            Self::TooManyBytes { .. } | Self::LongLine { .. } => STDOUT.into(),
            Self::TooMuch { .. } | Self::TooManyItems { .. } => {
                "no model can read a contract of this size: this is an error of the server".into()
            }
            Self::Unread { .. } => "a server must read its stdin while it sends requests: this is an error of the server".into(),
            Self::Unsettled { .. } => {
                "a contract must be stable to be compared: let the server register everything before it answers".into()
            }
            Self::Read(_) => "run the command again; if it persists, start the server by hand to see more".into(),
        }
    }
}

impl CaptureError {
    /// The server's texts quoted in it. The match is exhaustive, so that none is forgotten.
    pub(super) fn quoted_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Exited { noise, .. }
            | Self::ClosedStdout { noise, .. }
            | Self::NotJsonRpc { noise, .. }
            | Self::Timeout { noise, .. } => vec![&mut noise.first],
            Self::Refused { error: quoted, .. }
            | Self::Malformed {
                problem: quoted, ..
            }
            | Self::Unreadable {
                problem: quoted, ..
            }
            | Self::RepeatedCursor { cursor: quoted, .. }
            | Self::NotSpoken { said: quoted, .. }
            | Self::NoCommonRevision { offered: quoted }
            | Self::Incomplete { kind: quoted, .. } => vec![quoted],
            Self::Launch(_)
            | Self::Echo
            | Self::BothEras
            | Self::TooSlow { .. }
            | Self::TooManyPages { .. }
            | Self::TooManyBytes { .. }
            | Self::LongLine { .. }
            | Self::TooMuch { .. }
            | Self::TooManyItems { .. }
            | Self::Unread { .. }
            | Self::Unsettled { .. }
            | Self::Read(_) => Vec::new(),
            Self::Http(error) => error.quoted_mut(),
        }
    }
}

/// A failed capture: why, and the last output of the server.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct CaptureFailure {
    #[source]
    pub error: CaptureError,
    /// The tail of its stderr, raw; for a server over HTTP, of its stdout too.
    pub stderr: Vec<u8>,
    /// Variables in `pass_env` that are not set: often the cause.
    pub missing_variables: Box<[String]>,
    /// The sandbox that it ran in, if any.
    pub sandbox: Option<Box<InSandbox>>,
}

/// The sandbox that a server failed in.
#[derive(Debug)]
pub struct InSandbox {
    pub level: Level,
    /// What the sandbox reported.
    pub observed: Observed,
}

impl CaptureFailure {
    /// For a server that was never started.
    pub fn before(error: CaptureError) -> Self {
        Self {
            error,
            stderr: Vec::new(),
            missing_variables: Box::default(),
            sandbox: None,
        }
    }

    /// What was noticed anyway: findings, like those of a capture.
    pub fn notes(&self) -> Vec<CaptureNote> {
        let Some(sandbox) = &self.sandbox else {
            return Vec::new();
        };
        let mut notes = sandbox.observed.notes();
        notes.extend(super::denied::denied(sandbox.level, &self.stderr));
        notes
    }

    pub fn help(&self) -> String {
        let mut help = self.error.help();
        if !self.missing_variables.is_empty() {
            help.push_str("; not set here: ");
            help.push_str(&self.missing_variables.join(", "));
        }
        if let Some(sandbox) = &self.sandbox
            && !matches!(self.error, CaptureError::Launch(_))
        {
            help.push_str(match sandbox.level {
                Level::Strict => {
                    "; its sandbox may be the cause: `--sandbox fs` shows whether it needs the network, `--sandbox off` whether it needs files that are hidden"
                }
                _ => {
                    "; its sandbox may be the cause: `--sandbox off` shows whether it needs files that are hidden"
                }
            });
            for note in sandbox.observed.notes() {
                help.push_str("; ");
                help.push_str(&note.message);
            }
        }
        help
    }

    /// The last lines of stderr, at most `count`, decoded as far as possible. Escape them before
    /// printing.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(count);
        lines[from..]
            .iter()
            .map(|line| (*line).to_owned())
            .collect()
    }
}

/// A status in the same words on every run and machine: `exit code 3`, `killed by signal 9
/// (SIGKILL)`.
pub(super) fn ended(status: ExitStatus) -> String {
    let how = describe_status(status);
    if how.starts_with("killed") {
        format!("was {how}")
    } else {
        format!("ended with {how}")
    }
}

pub(super) fn describe_status(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            let name = nix::sys::signal::Signal::try_from(signal);
            let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
            return format!("killed by signal {signal}{name}");
        }
    }
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

fn printed(noise: &Noise) -> String {
    match noise.lines {
        0 => String::new(),
        _ => format!("; on stdout: {noise}"),
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lines {
            1 => write!(f, "one line that is not JSON-RPC: `{}`", self.first),
            lines => write!(
                f,
                "{lines} lines that are not JSON-RPC, the first: `{}`",
                self.first
            ),
        }
    }
}

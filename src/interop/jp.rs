//! JP's typed `verify` block: the bytes of a command or of a file against a digest, before anything is started.
//!
//! `command` hashes the program that the server's own PATH leads to; `file` reads the path directly, executable or not;
//! `none` says that somebody thought about it. Digests are compared as hexadecimal text in any case, and nothing else
//! is forgiven: no prefix, no blanks.

use crate::rules::RuleId;
use std::path::PathBuf;

use crate::keyword_enum::keyword_enum;
use crate::launch::LaunchSpec;
use crate::surface::Note;
use crate::verify::bytes::{Algorithm, digest, locate};
use crate::verify::launcher::{self, Launcher, Threat};

/// A digest that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub algorithm: Algorithm,
    /// Hexadecimal digits, as written.
    pub value: String,
}

/// The `type` of a verify block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program that is started.
    Command,
    File,
    /// Nothing.
    None,
}

keyword_enum!(Kind { Command = "command", File = "file", None = "none" });

/// What is to be verified of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verify {
    /// The program that is started.
    Command(Expected),
    /// A file: a JAR, an installed entry point.
    File {
        /// Where it is.
        path: PathBuf,
        /// Its digest.
        expected: Expected,
    },
    /// Nothing, and somebody decided so.
    None,
}

impl Verify {
    /// Its `type`.
    pub fn kind(&self) -> Kind {
        match self {
            Verify::Command(_) => Kind::Command,
            Verify::File { .. } => Kind::File,
            Verify::None => Kind::None,
        }
    }

    /// What is expected, unless nothing is verified.
    pub fn expected(&self) -> Option<&Expected> {
        match self {
            Verify::Command(expected) | Verify::File { expected, .. } => Some(expected),
            Verify::None => None,
        }
    }
}

/// What was read and held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub path: PathBuf,
    /// Its digest.
    pub got: String,
}

/// Why a server must not be started (exit 4).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Other bytes.
    #[error("Checksum mismatch for server: {server} ({}), expected {}, got {got}", path.display(), expected.value)]
    Mismatch {
        server: String,
        /// What was read.
        path: PathBuf,
        /// What it should be.
        expected: Expected,
        /// What it is.
        got: String,
    },
    /// No such program.
    #[error("Cannot locate binary: {command}, error: cannot find binary path (server: {server})")]
    NoBinary {
        server: String,
        /// As given.
        command: String,
    },
    /// A file that cannot be read.
    #[error("Cannot read file: {} (server: {server}), error: {source}", path.display())]
    Unreadable {
        server: String,
        path: PathBuf,
        source: std::io::Error,
    },
}

impl VerifyError {
    pub fn help(&self) -> String {
        match self {
            Self::Mismatch { expected, got, .. } => {
                let found = expected.value.as_str();
                let digits = expected.algorithm.digits();
                let is_hex = found.bytes().all(|byte| byte.is_ascii_hexdigit());
                if !is_hex || found.len() != digits {
                    return format!(
                        "`value` must be the {digits} hexadecimal digits of {} and nothing else (no prefix, no blanks); \
                         the server was not started",
                        expected.algorithm
                    );
                }
                format!(
                    "the server was not started. If the new bytes are wanted, write value = \"{got}\" into its verify block"
                )
            }
            Self::NoBinary { .. } => {
                "it must be an executable file, or on the PATH that the server gets; for a file that is not executable \
                 write type = \"file\" with its path"
                    .to_owned()
            }
            Self::Unreadable { .. } => {
                "`path` is relative to the folder of mcp-keel.toml; check it and whether the server has been built".to_owned()
            }
        }
    }
}

/// Verifies the bytes of one server. Nothing was verified where `verify` says so.
pub fn verify(
    server: &str,
    verify: &Verify,
    launch: &LaunchSpec,
) -> Result<Option<Verified>, VerifyError> {
    let (path, expected) = match verify {
        Verify::None => return Ok(None),
        Verify::File { path, expected } => (path.clone(), expected),
        Verify::Command(expected) => {
            let command = launch.command.first().cloned().unwrap_or_default();
            let found = locate(&command, launch).ok_or_else(|| VerifyError::NoBinary {
                server: server.to_owned(),
                command,
            })?;
            (found, expected)
        }
    };
    let got = digest(&path, expected.algorithm).map_err(|source| VerifyError::Unreadable {
        server: server.to_owned(),
        path: path.clone(),
        source,
    })?;
    if got.eq_ignore_ascii_case(&expected.value) {
        return Ok(Some(Verified { path, got }));
    }
    Err(VerifyError::Mismatch {
        server: server.to_owned(),
        path,
        expected: expected.clone(),
        got,
    })
}

/// What is worth saying about a block before anything is started: findings, never drift.
///
/// `legacy` is the line of a `checksum` in the old spelling.
pub fn notes(verify: Option<&Verify>, legacy: Option<usize>) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(line) = legacy {
        let message = format!(
            "line {line} of the configuration has `checksum`, the old spelling: write [server.NAME.verify] with \
             type = \"command\""
        );
        notes.push(note(RuleId::VerifyChecksumDeprecated, message));
    }
    if verify
        .and_then(Verify::expected)
        .is_some_and(|it| it.algorithm == Algorithm::Sha1)
    {
        let message =
            "the bytes are verified with sha1, for which two files with one digest can be made"
                .to_owned();
        notes.push(note(RuleId::VerifyAlgorithmWeak, message));
    }
    if verify == Some(&Verify::None) {
        let message =
            "its bytes were considered and are not verified (verify.type = \"none\")".to_owned();
        notes.push(note(RuleId::VerifyNone, message));
    }
    notes
}

/// A checksum of a launcher that fetches whatever is current.
pub fn false_safety(verify: Option<&Verify>, launch: &LaunchSpec) -> Option<Note> {
    let Some(Verify::Command(_)) = verify else {
        return None;
    };
    let launcher = launcher::recognise(&launch.command)?;
    Some(note(
        RuleId::LauncherChecksumOnly,
        covers_launcher_only(&launcher)?,
    ))
}

fn note(rule: RuleId, message: String) -> Note {
    Note {
        rule,
        component: None,
        message,
    }
}

fn covers_launcher_only(launcher: &Launcher) -> Option<String> {
    let (target, _, write) = launcher.open().next()?;
    let program = launcher.name.split(' ').next().unwrap_or(launcher.name);
    Some(format!(
        "a false sense of safety: the checksum covers `{program}` itself (threat: {}), and not `{}`, which it fetches \
         (threat: {}). Write {write}",
        Threat::LocalTampering,
        target.spec,
        Threat::SupplyChain
    ))
}

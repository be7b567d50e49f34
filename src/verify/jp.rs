//! JP's typed `verify` block: compares the bytes of a command or a file with a digest before
//! anything is started.
//!
//! `command` hashes the program that the server's own PATH leads to; `file` reads the path
//! directly, executable or not; `none` records a deliberate decision. Digests are compared as
//! hexadecimal text, ignoring case; no prefix and no whitespace is allowed.

use std::path::PathBuf;

use super::bytes::{Algorithm, digest, locate};
use super::launcher::{self, Launcher, Threat};
use crate::keyword_enum::keyword_enum;
use crate::launch::LaunchSpec;
use crate::rules::RuleId;
use crate::surface::Note;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub algorithm: Algorithm,
    pub value: String,
}

/// The `type` of a verify block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyKind {
    /// The program to be started.
    Command,
    File,
    None,
}

keyword_enum!(VerifyKind { Command = "command", File = "file", None = "none" });

/// What to verify of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verify {
    /// The program to be started.
    Command(Expected),
    /// A file: a JAR, an installed entry point.
    File { path: PathBuf, expected: Expected },
    /// Deliberately nothing.
    None,
}

impl Verify {
    pub fn kind(&self) -> VerifyKind {
        match self {
            Verify::Command(_) => VerifyKind::Command,
            Verify::File { .. } => VerifyKind::File,
            Verify::None => VerifyKind::None,
        }
    }

    /// The expected digest, unless nothing is verified.
    pub fn expected(&self) -> Option<&Expected> {
        match self {
            Verify::Command(expected) | Verify::File { expected, .. } => Some(expected),
            Verify::None => None,
        }
    }
}

/// What was read and matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub path: PathBuf,
    pub got: String,
}

/// Why a server must not be started (exit 4).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    #[error("Checksum mismatch for server: {server} ({}), expected {}, got {got}", path.display(), expected.value)]
    Mismatch {
        server: String,
        path: PathBuf,
        expected: Expected,
        got: String,
    },
    #[error("Cannot locate binary: {command}, error: cannot find binary path (server: {server})")]
    NoBinary { server: String, command: String },
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
                        "`value` must be exactly the {digits} hexadecimal digits of {} (no prefix, no whitespace); the server was not started",
                        expected.algorithm
                    );
                }
                format!(
                    "the server was not started. If the new bytes are intended, set value = \"{got}\" in its verify block"
                )
            }
            Self::NoBinary { .. } => {
                "it must be an executable file, or on the PATH that the server gets; for a file that is not executable use type = \"file\" with its path"
                    .to_owned()
            }
            Self::Unreadable { .. } => {
                "`path` is relative to the folder of mcp-keel.toml; check it, and check that the server has been built".to_owned()
            }
        }
    }
}

/// Verifies the bytes of one server. `None` if `verify` says to verify nothing.
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

/// Notes on a block before anything is started: findings, never drift.
///
/// `legacy` is the line of a `checksum` in the old spelling.
pub fn notes(verify: Option<&Verify>, legacy: Option<usize>) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(line) = legacy {
        let message = format!(
            "line {line} of the configuration uses the old spelling `checksum`: write [server.NAME.verify] \
             with type = \"command\""
        );
        notes.push(note(RuleId::VerifyChecksumDeprecated, message));
    }
    if verify
        .and_then(Verify::expected)
        .is_some_and(|it| it.algorithm == Algorithm::Sha1)
    {
        notes.push(note(
            RuleId::VerifyAlgorithmWeak,
            "the bytes are verified with sha1, which is not collision-resistant".to_owned(),
        ));
    }
    if verify == Some(&Verify::None) {
        notes.push(note(
            RuleId::VerifyNone,
            "its bytes are deliberately not verified (verify.type = \"none\")".to_owned(),
        ));
    }
    notes
}

/// A checksum on a launcher that fetches whatever is current.
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
        "incomplete protection: the checksum covers `{program}` itself (threat: {}), but not `{}`, which it \
         fetches (threat: {}). Write {write}",
        Threat::LocalTampering.word(),
        target.spec,
        Threat::SupplyChain.word()
    ))
}

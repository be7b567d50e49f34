//! Bytes on disk: what is about to be started, and whether it is what somebody approved.
//!
//! This room promises:
//!
//! - **Before, not after**: a checksum ([`checksum`]) is compared before anything is started; a mismatch means that
//!   the server never runs.
//! - **No false comfort**: a launcher (`npx`, `uvx`, `docker run` ...) fetches what it runs. Whether its arguments name
//!   exactly one thing is told, with the way to name it ([`launcher`]).
//! - **Every link**: a chain of manifests is verified link by link, in kiwi-mcp's format ([`chain`]), and what a
//!   baseline was pinned with is told link by link too ([`launched`]).
//! - **Nothing is fetched**: no version is resolved and no registry is asked. What is not on this disk is not verified.

pub mod chain;
pub mod checksum;
pub mod launched;
pub mod launcher;

use crate::launch::LaunchSpec;
use crate::rules::RuleId;
use crate::surface::Note;

use checksum::{Algorithm, Verify};
use launcher::{Launcher, Threat};

/// What is worth saying about how a server is started, before it is: findings, never drift.
///
/// `legacy` is the line of a `checksum` in the old spelling.
pub fn notes(launch: &LaunchSpec, verify: Option<&Verify>, legacy: Option<usize>) -> Vec<Note> {
    let note = |rule, message| Note {
        rule,
        component: None,
        message,
    };
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
    let Some(launcher) = launcher::recognise(&launch.command) else {
        return notes;
    };
    let threats = format!("{}, {}", Threat::SupplyChain, Threat::AccidentalUpgrade);
    for (target, why, write) in launcher.open() {
        let message = format!(
            "`{}` with `{}` {why}: write {write} (threat: {threats})",
            launcher.name, target.spec
        );
        notes.push(note(RuleId::LauncherUnpinned, message));
    }
    if matches!(verify, Some(Verify::Command(_)))
        && let Some(message) = false_safety(&launcher)
    {
        notes.push(note(RuleId::LauncherChecksumOnly, message));
    }
    notes
}

/// A checksum of a launcher that fetches something open.
fn false_safety(launcher: &Launcher) -> Option<String> {
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

//! Bytes on disk: what is about to be started, and whether it is what was approved.
//!
//! This room promises:
//!
//! - **No false comfort**: a launcher (`npx`, `uvx`, `docker run` ...) fetches what it runs. Whether its arguments name
//!   exactly one thing is reported, with the way to name it ([`launcher`]).
//! - **Every link**: what a baseline was pinned with is compared link by link ([`launched`]).
//! - **Nothing is fetched**: no version is resolved and no registry is asked. What is not on this disk is not verified.
//!
//! The `verify` block that states a checksum is JP's (`interop::jp`), and reads files through [`bytes`].

pub mod bytes;
pub mod launched;
pub mod launcher;

use crate::launch::LaunchSpec;
use crate::rules::RuleId;
use crate::surface::Note;

use launcher::Threat;

/// What is worth saying about how a server is started, before it is: findings, never drift.
pub fn notes(launch: &LaunchSpec) -> Vec<Note> {
    let Some(launcher) = launcher::recognise(&launch.command) else {
        return Vec::new();
    };
    let threats = format!("{}, {}", Threat::SupplyChain, Threat::AccidentalUpgrade);
    let open = launcher.open().map(|(target, why, write)| Note {
        rule: RuleId::LauncherUnpinned,
        component: None,
        message: format!(
            "`{}` with `{}` {why}: write {write} (threat: {threats})",
            launcher.name, target.spec
        ),
    });
    open.collect()
}

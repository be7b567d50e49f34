//! Bytes on disk: what is about to be started, and whether it is what was approved.
//!
//! This room promises:
//!
//! - **No false assurance**: a launcher (`npx`, `uvx`, `docker run` ...) fetches what it runs.
//!   Arguments that are not pinned are reported, with the way to pin them ([`launcher`]).
//! - **Every link**: the launch chain in a baseline is compared link by link ([`launched`]).
//! - **Nothing is fetched**: no registry is contacted, and what is not on this disk is not verified.
//!
//! The `verify` block of the configuration, which states a checksum, is JP's ([`jp`]).

pub mod bytes;
pub mod jp;
pub mod launched;
pub mod launcher;

use crate::launch::LaunchSpec;
use crate::rules::RuleId;
use crate::surface::Note;

use launcher::Threat;

/// Notes on how a server is started, before it is: findings, never drift.
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

//! What the server under test may touch: files and network, limited by the kernel (Landlock and seccomp, Linux).
//!
//! This room promises:
//!
//! - **`fs`**: nothing is written outside of the working copy, the temporary folders and the caches of package
//!   launchers, and the home folder is not read except for tools, caches and what the command names.
//! - **`strict`**: the same, and no network: no socket of any family can be made.
//! - **It is not left again**: whatever the server starts is under the same limits, and none of it may look into or
//!   signal a process outside.
//! - **It is honest**: what the kernel cannot do is said, or refused if it is required. In `strict` (x86-64) what was
//!   refused to the server is reported.
//!
//! The limits are put on by this program itself: it starts itself as a stage (`stage`) that limits itself and then
//! becomes the server. There is no `unsafe` code between fork and exec to get wrong.

#[cfg(target_os = "linux")]
mod allowed;
#[cfg(target_os = "linux")]
mod confine;
mod observed;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod watch;

use crate::keyword_enum::keyword_enum;

pub(super) use observed::Listener;
pub use observed::Observed;
#[cfg(target_os = "linux")]
pub use stage::run as stage;
#[cfg(target_os = "linux")]
pub(super) use stage::{Orders, command, inheritance};

/// How much of the machine a server may touch. Ordered: the strictest is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Everything that its user may.
    #[default]
    Off,
    /// Files are limited.
    Fs,
    /// Files are limited, and there is no network.
    Strict,
}

keyword_enum!(Level { Off = "off", Fs = "fs", Strict = "strict" });

/// The sandbox of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// How much is allowed.
    pub level: Level,
    /// Whether a server that cannot be limited so is not started at all.
    pub required: bool,
    /// Not to follow what the server does, so that refused access is refused and not reported.
    pub unwatched: bool,
}

/// What is said where there is no sandbox at all.
#[cfg(not(target_os = "linux"))]
pub(super) const ELSEWHERE: &str = "the server is not limited: there is a sandbox on Linux only";

/// This program as the stage between itself and a sandboxed server, if it was started as that.
#[cfg(not(target_os = "linux"))]
pub fn stage() -> Option<std::process::ExitCode> {
    None
}

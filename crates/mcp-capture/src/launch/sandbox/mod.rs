//! What the server under test may access: files and network, restricted by the kernel (Landlock and
//! seccomp, Linux).
//!
//! This room promises:
//!
//! - **`fs`**: nothing is written outside of the working copy, the temporary folders and the caches
//!   of package launchers, and the home folder is not readable except for tools, caches and what
//!   the command names.
//! - **`strict`**: the same, and no network: no socket of any family can be created.
//! - **No escape**: everything that the server starts has the same restrictions, and cannot inspect
//!   or signal an outside process.
//! - **Honest**: restrictions that the kernel does not support are reported, or refused if
//!   required. What the kernel denies is known to the server alone.
//!
//! This program restricts itself: it starts itself as a stage (`stage`) that applies the
//! restrictions and then becomes the server. There is no `unsafe` code between fork and exec to get
//! wrong.

#[cfg(target_os = "linux")]
mod allowed;
#[cfg(target_os = "linux")]
mod confine;
mod observed;
#[cfg(target_os = "linux")]
mod repositories;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod tools;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::keyword_enum::keyword_enum;

pub use observed::Listener;
pub use observed::Observed;
#[cfg(target_os = "linux")]
pub use stage::run as stage;
#[cfg(target_os = "linux")]
pub(super) use stage::{Orders, command, inheritance, reachable};

/// How much of the machine a server may access. Ordered: the strictest is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Everything that its user may.
    #[default]
    Off,
    /// Files are restricted.
    Fs,
    /// Files are restricted, and there is no network.
    Strict,
}

keyword_enum!(Level { Off = "off", Fs = "fs", Strict = "strict" });

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    pub level: Level,
    /// Whether to fail if the sandbox cannot be enforced.
    pub required: bool,
}

/// The folder that a pull request can change: the runner's workspace, or the repository around the
/// current folder, or that folder. Without links.
pub fn workspace() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let here = here.canonicalize().unwrap_or(here);
    let of_runner = crate::own_env::var("GITHUB_WORKSPACE").map(PathBuf::from);
    let of_runner = of_runner.and_then(|it| it.canonicalize().ok());
    let home = crate::own_env::var("HOME").map(PathBuf::from);
    let home = home.and_then(|it| it.canonicalize().ok());
    // A home folder under version control is not a workspace.
    let repository = || {
        let mut around = here.ancestors();
        let found = around.find(|it| it.join(".git").exists());
        found.filter(|it| !home.as_ref().is_some_and(|home| home.starts_with(it)))
    };
    match of_runner.filter(|it| here.starts_with(it)) {
        Some(workspace) => workspace,
        None => repository().unwrap_or(&here).to_owned(),
    }
}

/// The files that servers are judged by, as absolute paths.
static JUDGING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Keeps these files as they are: no sandboxed server that is started from now on can change or create them.
pub fn keep(files: impl IntoIterator<Item = PathBuf>) {
    let here = std::env::current_dir().unwrap_or_default();
    let files = files.into_iter().map(|it| here.join(it));
    let mut judging = JUDGING.lock().unwrap_or_else(PoisonError::into_inner);
    judging.extend(files);
}

#[cfg(target_os = "linux")]
fn judging_files() -> Vec<PathBuf> {
    let judging = JUDGING.lock().unwrap_or_else(PoisonError::into_inner);
    judging.iter().cloned().collect()
}

/// Where the code of a pull request, or a server in its sandbox, can put a program.
#[derive(Debug)]
pub(super) struct PlacesOfServers {
    /// What a pull request can change.
    pub(super) workspace: Vec<PathBuf>,
    /// What a sandbox lets a server write besides.
    pub(super) writable: Vec<PathBuf>,
}

/// Without links.
pub(super) fn places_of_servers() -> PlacesOfServers {
    let variable = |name: &str| crate::own_env::var(name).map(PathBuf::from);
    let here = std::env::current_dir().ok();
    let of_runner = variable("GITHUB_WORKSPACE");
    let workspace = [Some(workspace()), here, of_runner];
    let mut writable = vec![PathBuf::from("/tmp"), std::env::temp_dir()];
    writable.extend(variable("TMPDIR"));
    #[cfg(target_os = "linux")]
    writable.extend(allowed::caches_and_devices(variable("HOME").as_deref()));
    let real = |it: PathBuf| it.canonicalize().ok();
    PlacesOfServers {
        workspace: workspace.into_iter().flatten().filter_map(real).collect(),
        writable: writable.into_iter().filter_map(real).collect(),
    }
}

/// The message where there is no sandbox at all.
#[cfg(not(target_os = "linux"))]
pub(super) const ELSEWHERE: &str = "the server is not sandboxed: that requires Linux";

/// Runs this program as the stage of a sandboxed server, if it was started as one.
#[cfg(not(target_os = "linux"))]
pub fn stage() -> Option<std::process::ExitCode> {
    None
}

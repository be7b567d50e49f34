//! Our own environment, and the only place that reads it.
//!
//! The server under test runs as the same user as we do, and on Linux a process may read `/proc/<pid>/environ` of every
//! other process of its user: the block of memory in which a program was handed its variables, whatever the program did
//! with them since. So [`hide`], the first thing that `main` does, starts this program once more in its own place, with
//! an environment that holds no secret and no right of the workflow run; they come along in an anonymous file, which is
//! read and closed at once. [`vars`] and [`var`] know both halves. Descriptors that were left open for us are closed, so
//! that no server inherits them.
//!
//! Where that is not possible (not Linux, no `/proc`), everything works as it did, and the environment is as it was.

#[cfg(target_os = "linux")]
mod handover;
#[cfg(target_os = "linux")]
pub(crate) mod inherited;

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use crate::redact;

/// The variables that were handed over, and are not in the environment of this process.
static HANDED: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

/// Takes secrets and rights out of what other processes can see of this one. Call it first in `main`, before any
/// thread is started.
pub fn hide() {
    #[cfg(target_os = "linux")]
    {
        match handover::taken() {
            Some(variables) => {
                let _ = HANDED.set(variables);
            }
            None => handover::restart(),
        }
        // What was open when we began is not the server's either, whatever it is open on.
        inherited::close(inherited::is_named);
        // Neither does anybody of the same user read our memory. Refused by no kernel; without it things are as before.
        let _ = nix::sys::prctl::set_dumpable(false);
    }
}

/// All variables.
pub fn vars() -> Vec<(OsString, OsString)> {
    let handed = HANDED.get().into_iter().flatten().cloned();
    environment().chain(handed).collect()
}

/// One variable.
pub fn var(name: &str) -> Option<OsString> {
    let handed = HANDED.get().into_iter().flatten();
    let mut handed = handed.filter(|it| it.0 == name).map(|it| it.1.clone());
    handed.next_back().or_else(|| std::env::var_os(name))
}

/// The variables that hold a secret, as far as their names and values tell.
pub fn secrets() -> Vec<(String, String)> {
    vars()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| redact::is_secret(name, value))
        .collect()
}

fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| !is_ours(name))
}

/// Whether a variable is a note of this program to itself.
fn is_ours(name: &OsStr) -> bool {
    #[cfg(target_os = "linux")]
    return name == handover::NOTE;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        false
    }
}

/// Whether a variable is nobody's business but ours: a secret, or a right of the workflow run.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn is_private(name: &OsStr, value: &OsStr) -> bool {
    // Whoever may write to these files sets variables, paths and outputs of later steps.
    const FILES: [&str; 5] = [
        "GITHUB_ENV",
        "GITHUB_OUTPUT",
        "GITHUB_PATH",
        "GITHUB_STATE",
        "GITHUB_STEP_SUMMARY",
    ];
    let name = name.to_string_lossy();
    name.starts_with("ACTIONS_")
        || name.starts_with("INPUT_")
        || FILES.contains(&&*name)
        || redact::is_secret(&name, &value.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_rights_of_the_run_are_private_and_nothing_else_is() {
        let private =
            |(name, value): &(&str, &str)| is_private(OsStr::new(name), OsStr::new(value));
        for variable in [
            ("GITHUB_TOKEN", "x"),
            ("ACTIONS_RUNTIME_URL", "https://example.org"),
            ("INPUT_ENV", "A=b"),
            ("GITHUB_ENV", "/tmp/env"),
            ("DATABASE_URL", "postgres://me:word@db/x"),
        ] {
            assert!(private(&variable), "{variable:?}");
        }
        for variable in [
            ("PATH", "/bin"),
            ("HOME", "/root"),
            ("GITHUB_SHA", "abc"),
            ("LANG", "C"),
            ("PROXY", "http://proxy:3128"),
        ] {
            assert!(!private(&variable), "{variable:?}");
        }
    }
}

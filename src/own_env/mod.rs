//! mcp-keel's own environment, and the only place that reads it.
//!
//! The server under test runs as the same user, and on Linux a process may read
//! `/proc/<pid>/environ` of every other process of its user: the memory in which a program received
//! its variables, whatever it did with them since. So [`hide`], the first call in `main`,
//! re-executes this program with an environment that holds no secrets and no privileges of the
//! workflow run. Those are passed in an anonymous file, which is read and closed at once; [`vars`]
//! and [`var`] return both halves. Inherited descriptors are closed, so that no server gets them.
//!
//! Where that is not possible (not Linux, no `/proc`), everything still works, with the environment
//! left as it was.

#[cfg(target_os = "linux")]
mod handover;
#[cfg(target_os = "linux")]
pub(crate) mod inherited;

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use crate::redact;

/// The variables that were handed over and are not in this process's environment.
static HANDED: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

/// Hides secrets and privileges from other processes. Call it first in `main`, before any thread
/// starts.
pub fn hide() {
    #[cfg(target_os = "linux")]
    {
        match handover::taken() {
            Some(variables) => {
                let _ = HANDED.set(variables);
            }
            None => handover::restart(),
        }
        // Whatever was open at the start is not for the server either.
        inherited::close(inherited::is_named);
        // Also keeps other processes of this user from reading our memory. No kernel refuses this;
        // if one did, nothing else would change.
        let _ = nix::sys::prctl::set_dumpable(false);
    }
}

pub fn vars() -> Vec<(OsString, OsString)> {
    let handed = HANDED.get().into_iter().flatten().cloned();
    environment().chain(handed).collect()
}

pub fn var(name: &str) -> Option<OsString> {
    let handed = HANDED.get().into_iter().flatten();
    let mut handed = handed.filter(|it| it.0 == name).map(|it| it.1.clone());
    handed.next_back().or_else(|| std::env::var_os(name))
}

/// The variables that hold a secret, judging by name and value.
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

/// Whether a variable is mcp-keel's message to itself.
fn is_ours(name: &OsStr) -> bool {
    #[cfg(target_os = "linux")]
    return name == handover::NOTE;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        false
    }
}

/// Whether a variable must not be visible to others: a secret, or a privilege of the workflow run.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn is_private(name: &OsStr, value: &OsStr) -> bool {
    // Writing to these files sets variables, paths and outputs of later steps.
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
    fn only_secrets_and_privileges_of_the_run_are_private() {
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

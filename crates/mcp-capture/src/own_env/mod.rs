//! mcp-keel's own environment, and the only place that reads it.
//!
//! The server under test runs as the same user, and on Linux a process may read
//! `/proc/<pid>/environ` of every other process of its user: the memory in which a program received
//! its variables. [`hide`], the first call in `main`, has the kernel refuse that, and close
//! inherited descriptors, so that no server gets them. Who may trace every process of the machine
//! (root with `CAP_SYS_PTRACE`) can read it all the same, unless a sandbox takes that away.

#[cfg(target_os = "linux")]
pub(crate) mod inherited;

use std::ffi::{OsStr, OsString};

use crate::redact;

/// Hides this process's environment and memory from other processes. Call it first in `main`.
pub fn hide() {
    #[cfg(target_os = "linux")]
    {
        // Whatever was open at the start is not for the server either.
        inherited::close(inherited::is_named);
        // No kernel refuses this; if one did, nothing else would change.
        let _ = nix::sys::prctl::set_dumpable(false);
    }
}

pub fn vars() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The variables that hold a secret, judging by name and value.
pub fn secrets() -> Vec<(String, String)> {
    vars()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| redact::is_secret(name, value))
        .collect()
}

/// Whether a variable must not be visible to others: a secret, or a privilege of the workflow run.
pub fn is_private(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy();
    is_of_the_run(&name) || redact::is_secret(&name, &value.to_string_lossy())
}

/// The files that a step writes to set variables, paths and outputs of later steps.
pub const FILES_OF_THE_RUNNER: [&str; 5] = [
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
];

/// The variables that a token of GitHub is in by convention.
const TOKENS: [&str; 4] = [
    "GH_ENTERPRISE_TOKEN",
    "GH_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITHUB_TOKEN",
];

/// Whether a variable belongs to the workflow run: its token, its privileges, the inputs of the action.
fn is_of_the_run(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("ACTIONS_")
        || name.starts_with("INPUT_")
        || FILES_OF_THE_RUNNER.contains(&&*name)
        || TOKENS.contains(&&*name)
}

/// Whether a variable is kept from everything that a configuration can name: servers, addresses, headers. Every lookup
/// asks this. `ours` is this program's environment.
///
/// It belongs to the workflow run, or it holds a token of the run under another name.
pub fn is_withheld(name: &str, ours: &[(OsString, OsString)]) -> bool {
    if is_of_the_run(name) {
        return true;
    }
    let named = |it: &OsStr| it == name || (cfg!(windows) && it.eq_ignore_ascii_case(name));
    let value = ours.iter().rev().find(|(it, _)| named(it));
    value.is_some_and(|(_, value)| {
        let value = value.to_string_lossy();
        tokens_of_the_run(ours).any(|token| value.contains(&*token))
    })
}

/// The tokens that this run has. Outside of a workflow `GITHUB_TOKEN` is a token of the user, who may use it elsewhere.
fn tokens_of_the_run(
    ours: &[(OsString, OsString)],
) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let on_runner = ours
        .iter()
        .any(|(name, value)| name == "GITHUB_ACTIONS" && value == "true");
    ours.iter()
        .filter(move |(name, _)| {
            let name = name.to_string_lossy().to_ascii_uppercase();
            let is_of_the_action = name == "INPUT_TOKEN";
            let is_of_the_runner = name.starts_with("ACTIONS_") && name.ends_with("TOKEN");
            is_of_the_action || is_of_the_runner || (on_runner && TOKENS.contains(&&*name))
        })
        .map(|(_, value)| value.to_string_lossy())
        // A shorter one is no token, and would be found in anything.
        .filter(|token| token.trim().len() >= 8)
}

/// A variable that may be looked up for a server: for its environment, its address or a header.
pub fn available(name: &str) -> Option<OsString> {
    if is_withheld(name, &vars()) {
        None
    } else {
        var(name)
    }
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

    #[test]
    fn what_belongs_to_the_run_is_withheld_under_every_name() {
        let ours = |more: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
            let all = [("INPUT_TOKEN", "ghs_the_token_of_the_job"), ("PLAIN", "x")];
            let all = all.iter().chain(more);
            all.map(|(name, value)| (name.into(), value.into()))
                .collect()
        };
        for name in [
            "INPUT_TOKEN",
            "input_token",
            "INPUT_CHECK-NAME",
            "GITHUB_TOKEN",
            "gh_token",
            "ACTIONS_ID_TOKEN_REQUEST_URL",
            "GITHUB_STEP_SUMMARY",
        ] {
            assert!(is_withheld(name, &ours(&[])), "{name}");
        }
        let copied = [
            ("COPY", "ghs_the_token_of_the_job"),
            ("HEADER", "Bearer ghs_the_token_of_the_job"),
        ];
        assert!(is_withheld("COPY", &ours(&copied)));
        assert!(is_withheld("HEADER", &ours(&copied)));
        assert!(!is_withheld("PLAIN", &ours(&copied)));
        // The user's own token, outside of a workflow and in one.
        let own = [
            ("GITHUB_TOKEN", "ghp_of_the_user"),
            ("PAT", "ghp_of_the_user"),
        ];
        assert!(!is_withheld("PAT", &ours(&own)));
        let run = [own[0], own[1], ("GITHUB_ACTIONS", "true")];
        assert!(is_withheld("PAT", &ours(&run)));
    }
}

//! What the action says on GitHub besides the report.

pub(crate) fn checking() -> &'static str {
    "The servers are being captured and compared with their baseline."
}

pub(crate) fn cancelled() -> &'static str {
    "The check was cancelled before it was complete. No verdict."
}

pub(crate) fn stale_annotations(stale: usize) -> String {
    let (s, apply) = if stale == 1 {
        ("", "applies")
    } else {
        ("s", "apply")
    };
    format!("An earlier run on this commit left {stale} annotation{s} that no longer {apply}.")
}

pub(crate) fn fork_token() -> &'static str {
    "GitHub gives workflow runs of pull requests from forks a read-only token"
}

pub(crate) fn dependabot_token() -> &'static str {
    "GitHub gives Dependabot's workflow runs a read-only token"
}

pub(crate) fn another_run() -> &'static str {
    "Another run of the same check started at the same time and reports the result."
}

/// What the workflow has to say so that the token may do it.
pub(crate) fn missing_permission(permission: &str) -> String {
    format!("the job needs `permissions: {permission}`")
}

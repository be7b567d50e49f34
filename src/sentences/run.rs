//! Findings about a run: versions, acceptances, eras, and what a pull request is asked to approve.

pub(crate) fn version_not_bumped(was: &str, is: &str, source: &str, required: &str) -> String {
    format!("version {was} → {is} ({source}), but the changes require a {required} version bump")
}

pub(crate) fn version_decreased(was: &str, is: &str, source: &str) -> String {
    format!("the version went down: {was} → {is} ({source})")
}

pub(crate) fn version_without_drift(was: &str, is: &str, source: &str) -> String {
    format!("version {was} → {is} ({source}), but the contract did not change")
}

pub(crate) fn version_disagrees(reported: &str, source: &str, version: &str) -> String {
    format!("serverInfo.version is {reported}, but {source} says {version}")
}

pub(crate) fn tool_version_not_bumped() -> String {
    "its contract changed, but its own version did not".to_owned()
}

pub(crate) fn server_not_checked(baseline: &str, server: &str) -> String {
    format!("{baseline} has `{server}`, which was not checked")
}

pub(crate) fn acceptance_expired(change: &str, line: usize, owner: &str) -> String {
    format!("the acceptance of {change} (line {line}, owner {owner}) has expired")
}

pub(crate) fn acceptance_unused(change: &str, line: usize, owner: &str) -> String {
    format!("the acceptance of {change} (line {line}, owner {owner}) matches no change")
}

pub(crate) fn era_fallback(pinned: &str, spoken: &str) -> String {
    format!(
        "pinned in the {pinned} era of the protocol; the server now speaks only the {spoken} one"
    )
}

pub(crate) fn era_not_spoken(spoken: &str, failure: &str) -> String {
    format!("the server speaks only the {spoken} era of the protocol: {failure}")
}

pub(crate) fn a_server_not_captured() -> String {
    "a server could not be captured".to_owned()
}

pub(crate) fn base_not_read() -> String {
    "the base branch's baseline could not be read".to_owned()
}

pub(crate) fn to_approve(counts: &str, accepted_by_label: bool) -> String {
    let accepted = if accepted_by_label {
        " (accepted by label)"
    } else {
        ""
    };
    format!("to approve: {counts}{accepted}")
}

pub(crate) fn first_question() -> &'static str {
    "The server against its baseline"
}

pub(crate) fn second_question() -> &'static str {
    "What merging approves"
}

pub(crate) fn compared_with_base() -> &'static str {
    "The committed baseline, compared with the one on the base branch."
}

pub(crate) fn same_as_base() -> &'static str {
    "Nothing: the committed baseline is the one on the base branch."
}

pub(crate) fn accepted_by_label(label: &str) -> String {
    format!("Accepted by a maintainer with the label {label}.")
}

pub(crate) fn needs_maintainer(label: &str) -> String {
    format!(
        "**This needs a maintainer.** To accept it, someone with triage rights adds the label {label}."
    )
}

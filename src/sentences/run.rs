//! Findings about a run: versions, acceptances, eras, and what a pull request asks to approve.

pub(crate) fn version_not_bumped(was: &str, is: &str, source: &str, required: &str) -> String {
    format!("version {was} → {is} ({source}), but the changes require a {required} version bump")
}

pub(crate) fn context_over_limit(tokens: usize, limit: usize) -> String {
    format!(
        "the tools cost ≈ {tokens} tokens of context, and the policy allows {limit} (`context-limit`)"
    )
}

pub(crate) fn context_over_growth(was: usize, is: usize, percent: usize) -> String {
    format!(
        "the tools cost ≈ {was} → {is} tokens of context, and the policy allows {percent}% more than the baseline (`context-growth`)"
    )
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

/// A server that is distrusted sees a client that it cannot foresee.
pub(crate) fn seen_as(server: &str, client: &str) -> String {
    format!("`{server}` sees the client {client}")
}

pub(crate) fn skipped_entry_stays(server: &str) -> String {
    format!("`{server}` is skipped: its entry stays as it is")
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

pub(crate) fn rejection_unused(change: &str, line: usize) -> String {
    format!("the rejection of {change} (line {line}) matches no change")
}

pub(crate) fn era_fallback(pinned: &str, spoken: &str) -> String {
    format!(
        "pinned in the {pinned} era of the protocol; the server now speaks only the {spoken} one"
    )
}

pub(crate) fn era_not_spoken(spoken: &str, failure: &str) -> String {
    format!("the server speaks only the {spoken} era of the protocol: {failure}")
}

pub(crate) fn second_question() -> &'static str {
    "What merging approves"
}

pub(crate) fn accepted_by_label(label: &str, by: &str) -> String {
    format!("Accepted by {by} with the label {label}, for this commit.")
}

pub(crate) fn needs_maintainer(label: &str) -> String {
    format!(
        "**This needs a maintainer.** To accept it, someone with triage rights adds the label {label}."
    )
}

pub(crate) fn baselines_not_comparable(path: &str, base: &str, head: &str) -> String {
    format!(
        "{path} is {base} on the base branch and {head} here. The two cannot be compared, so everything counts as new."
    )
}

pub(crate) fn base_unreadable(problem: &str) -> String {
    format!("the base branch's baseline cannot be read: {problem}")
}

pub(crate) fn make_base_readable() -> String {
    "check out the pull request's merge commit or its head, with fetch-depth: 0 or a token that can read contents; \
     compare-base: false with policy-from: head skips the comparison"
        .to_owned()
}

pub(crate) fn signature_outdated(signature: &str, lock: &str) -> String {
    format!("{signature} no longer covers {lock}: sign it again with --sign-key")
}

/// A list with `cacheScope: "public"` that two profiles see differently.
pub(crate) fn public_list_differs(server: &str, list: &str, one: &str, other: &str) -> String {
    format!(
        "{server}: `{list}` has cacheScope `public`, but the profiles `{one}` and `{other}` see different lists"
    )
}

/// How long clients may continue with the pinned list.
pub(crate) fn stale_list(list: &str, ttl_ms: i64, breaking: usize) -> String {
    let changes = super::counted(breaking, "breaking change");
    let time = duration(ttl_ms);
    format!(
        "clients may use the pinned `{list}` for up to {time} (`ttlMs`), and send what now fails: {changes}"
    )
}

/// `300 ms`, `5 s`, `2 min`, `3 h`: the largest unit that divides it.
fn duration(milliseconds: i64) -> String {
    let units = [(3_600_000, "h"), (60_000, "min"), (1000, "s")];
    match units.iter().find(|(length, _)| milliseconds % length == 0) {
        Some((length, unit)) => format!("{} {unit}", milliseconds / length),
        None => format!("{milliseconds} ms"),
    }
}

/// A list that only one side has: its name, its length, and whether the baseline lacks it.
pub(crate) fn list_not_compared(list: &str, count: usize, not_pinned: bool) -> String {
    if not_pinned {
        format!("`{list}`: {count} listed, and the baseline does not record that list")
    } else {
        format!("`{list}`: {count} in the baseline, not read in this run")
    }
}

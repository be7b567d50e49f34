//! What is said of the base of a pull request, and of what a pull request changes about the check.

/// No repository, or none whose commit can be read.
pub(crate) fn nothing_checked_out() -> String {
    "there is no git checkout here, so the checked commit is unknown".to_owned()
}

/// Another commit is checked out than the one that is judged.
pub(crate) fn other_commit(head: &str, judged: &str) -> String {
    format!(
        "{} is checked out, which is neither {} nor a merge of it",
        short(head),
        short(judged)
    )
}

/// A merge of the right commit into one that the event does not name.
pub(crate) fn unknown_merge(head: &str) -> String {
    format!(
        "{} is checked out, a merge that neither the event nor the runner names",
        short(head)
    )
}

pub(crate) fn no_merge_base(base: &str, head: &str) -> String {
    format!(
        "the merge base of {} and {} is not known",
        short(base),
        short(head)
    )
}

pub(crate) fn not_in_repository(path: &str) -> String {
    format!("{path} is not in the repository")
}

pub(crate) fn does_not_hold(problem: &str) -> String {
    format!("it is invalid: {problem}")
}

/// A commit as people write it.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// The heading above what a pull request changes about its own check.
pub(crate) fn changes_of_the_check() -> &'static str {
    "What this pull request changes about the check"
}

/// Whose settings this run went by.
pub(crate) fn judged_by_the_base() -> &'static str {
    "The base branch's policy judges this run; what changes it applies after the merge."
}

pub(crate) fn weakens() -> &'static str {
    "weakens the check"
}

pub(crate) fn setting_changed(
    what: &str,
    old: &dyn std::fmt::Display,
    new: &dyn std::fmt::Display,
) -> String {
    format!("{what}: was {old}, now {new}")
}

pub(crate) fn server_setting_changed(server: &str, what: &str) -> String {
    format!("`{what}` of `{server}` changed")
}

pub(crate) fn server_removed(server: &str) -> String {
    format!("`{server}` is no longer checked (removed or disabled)")
}

pub(crate) fn server_added(server: &str) -> String {
    format!("`{server}` is new in the list of servers")
}

pub(crate) fn command_changed(server: &str) -> String {
    format!("the command or address of `{server}` changed")
}

/// Variables that would go to a command or an address that has not got them on the base.
pub(crate) fn variables_elsewhere(server: &str, names: &str, to: &str) -> String {
    format!("`{server}` would pass {names} to {to}")
}

pub(crate) fn address_added(server: &str, origin: &str) -> String {
    format!("`{server}` would be reached at {origin}, which is not on the base branch")
}

pub(crate) fn proxy_added(server: &str) -> String {
    format!("`{server}` would be reached through a proxy that is not on the base branch")
}

pub(crate) fn acceptance_added(change: &str, reason: &str, owner: &str) -> String {
    format!("would accept change {change}: {reason} ({owner})")
}

pub(crate) fn rejection_added(change: &str, reason: &str) -> String {
    format!("{change} is rejected: {reason}")
}

pub(crate) fn rejection_removed(change: &str, reason: &str) -> String {
    format!("the rejection of {change} is removed ({reason})")
}

pub(crate) fn acceptance_removed(change: &str) -> String {
    format!("the acceptance of {change} is removed")
}

pub(crate) fn mask_added(server: &str, covers: &str, reason: &str) -> String {
    format!("adds a mask to `{server}` that covers {covers}: {reason}")
}

pub(crate) fn mask_removed(server: &str, covers: &str) -> String {
    format!("the mask of `{server}` over {covers} is removed")
}

pub(crate) fn verify_changed(server: &str, is_verified: bool) -> String {
    if is_verified {
        format!("the verify digest of `{server}` changed")
    } else {
        format!("the bytes of `{server}` would no longer be verified")
    }
}

/// The heading above masks and acceptances.
pub(crate) fn exceptions_in_force() -> &'static str {
    "Masks and acceptances in force"
}

pub(crate) fn mask_in_force(server: &str, covers: &str, reason: &str) -> String {
    format!("mask of `{server}`: {covers} ({reason})")
}

pub(crate) fn acceptance_in_force(change: &str, reason: &str, owner: &str) -> String {
    format!("accepted: {change} ({reason}, {owner})")
}

pub(crate) fn base_config_unknown(problem: &str) -> String {
    format!("the base branch's configuration: {problem}")
}

//! What `pending`, `accept`, `reject` and `review` say.

use crate::wording::counted;

/// The first line of `pending`.
pub(crate) fn pending(count: usize) -> String {
    match count {
        0 => "Nothing is pending: every change is pinned or accepted.".to_owned(),
        1 => "1 change is neither pinned nor accepted.".to_owned(),
        many => format!("{many} changes are neither pinned nor accepted."),
    }
}

/// What to do about pending changes.
pub(crate) fn how_to_decide() -> &'static str {
    "Accept a change with `mcp-keel accept ID --reason TEXT`, all of them with `mcp-keel pin`."
}

/// An id that no change has.
pub(crate) fn no_change(id: &str) -> String {
    format!("there is no change {id} now")
}

/// An id that no known change has, while a server is not known.
pub(crate) fn no_change_known(id: &str, server: &str, problem: &str) -> String {
    format!("there is no change {id} now, and {server} could not be captured: {problem}")
}

/// How `--until` is written.
pub(crate) fn last_day() -> &'static str {
    "expected a day such as 2027-01-31, or a number of days such as 30d"
}

/// A server without a verdict.
pub(crate) fn not_captured(server: &str, problem: &str) -> String {
    format!("{server} could not be captured, so its changes are not known: {problem}")
}

/// The first line after writing decisions.
pub(crate) fn decided(accepted: usize, rejected: usize, path: &str) -> String {
    let parts = [(accepted, "accepted"), (rejected, "rejected")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} {}", counted(*count, "change")))
        .collect();
    let mut sentence = parts.join(", ");
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{sentence}. Commit {path}.")
}

/// What is still pending after writing decisions.
pub(crate) fn left(count: usize) -> String {
    match count {
        0 => "Nothing is pending.".to_owned(),
        1 => "1 change is still pending: `mcp-keel pending` lists it.".to_owned(),
        many => format!("{many} changes are still pending: `mcp-keel pending` lists them."),
    }
}

/// The heading above a change in `review`.
pub(crate) fn place(index: usize, of: usize, server: &str) -> String {
    format!("Change {index} of {of}, {server}")
}

/// The keys of `review`.
pub(crate) fn keys() -> &'static str {
    "[a]ccept [r]eject [s]kip [t] accept until [e]xplain [o]pen [A]ccept all left [q]uit?"
}

pub(crate) fn until() -> &'static str {
    "Until (2027-01-31, or 30d):"
}

pub(crate) fn who() -> &'static str {
    "Who answers for it:"
}

pub(crate) fn why(last: Option<&str>) -> String {
    match last {
        Some(last) => format!("Why [{last}]:"),
        None => "Why:".to_owned(),
    }
}

pub(crate) fn no_place() -> &'static str {
    "The line that declares it is not known."
}

pub(crate) fn nothing_decided() -> &'static str {
    "Nothing was written."
}

pub(crate) fn write_now(count: usize) -> String {
    format!("Write {}?", counted(count, "decision"))
}

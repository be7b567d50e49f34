//! What is noticed while a server is captured.

pub(crate) fn variable_missing(name: &str) -> String {
    format!("{name} should be passed to the server but is not set")
}

pub(crate) fn contains_secret(found: &[String]) -> String {
    format!("output contains a secret: {}", found.join(", "))
}

pub(crate) fn listed_again(key: &str) -> String {
    format!("{key} is listed more than once")
}

pub(crate) fn without_identity(noun: &str, member: &str) -> String {
    format!("a {noun} without a `{member}`")
}

pub(crate) fn dropped_over_http(problem: &str, pointer: &str) -> String {
    format!("clients over HTTP drop the tool: {problem} (at {pointer})")
}

pub(crate) fn member_repeated(name: &str, pointer: &str) -> String {
    format!("the member `{name}` is repeated at `{pointer}`")
}

/// A socket of a container engine that the server could use.
pub(crate) fn engine_reachable(socket: &str) -> String {
    format!("the server can reach {socket}, and through it the whole machine")
}

/// What a server in a sandbox wrote to stderr.
pub(crate) fn denied(line: &str, more: usize) -> String {
    let more = match more {
        0 => String::new(),
        1 => ", and one more line like it".to_owned(),
        more => format!(", and {more} more lines like it"),
    };
    format!("the server says that something was denied: `{line}`{more}")
}

/// A `.git` that the next run of git there would use.
pub(crate) fn repository_appeared(path: &str) -> String {
    format!(
        "{path} appeared while the server ran: git in that folder would run what its settings name"
    )
}

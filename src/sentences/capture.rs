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

/// How often something happened: `` (3 times)``.
fn times(count: usize) -> String {
    match count {
        1 => String::new(),
        count => format!(" ({count} times)"),
    }
}

pub(crate) fn socket_denied(family: &str, count: usize) -> String {
    format!("the server was denied a socket: {family}{}", times(count))
}

/// A socket of a container engine that the server could use.
pub(crate) fn engine_reachable(socket: &str) -> String {
    format!("the server can reach {socket}, and through it the whole machine")
}

pub(crate) fn file_denied(access: &str, path: &str, count: usize) -> String {
    format!("the server was denied {access} {path}{}", times(count))
}

pub(crate) fn more_files_denied(more: usize) -> String {
    format!("the server was denied {more} more files")
}

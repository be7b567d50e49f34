//! Whether this is a CI job on the default branch of the repository.

use std::path::Path;

use crate::canonical::parse_str;
use crate::git::Repository;

/// The most of an event's payload that is read.
const MOST: u64 = 16 << 20;

fn var(name: &str) -> Option<String> {
    crate::own_env::var(name)?.into_string().ok()
}

/// The default branch, if this is a job on it, in a working copy.
pub(crate) fn in_ci() -> Option<String> {
    let is_set = |name: &str| var(name).is_some_and(|it| !it.is_empty() && it != "false");
    if !is_set("CI") && !is_set("GITHUB_ACTIONS") && !is_set("GITLAB_CI") {
        return None;
    }
    Repository::around(Path::new("."))?;
    let branch = var("GITHUB_REF")
        .and_then(|it| it.strip_prefix("refs/heads/").map(str::to_owned))
        .or_else(|| var("CI_COMMIT_BRANCH"))?;
    let default = var("CI_DEFAULT_BRANCH").or_else(of_event);
    let is_default = match &default {
        Some(default) => *default == branch,
        None => matches!(branch.as_str(), "main" | "master"),
    };
    is_default.then_some(branch)
}

/// The default branch as the event of a workflow names it.
fn of_event() -> Option<String> {
    let path = var("GITHUB_EVENT_PATH")?;
    let text = crate::files::read_at_most(Path::new(&path), MOST).ok()?;
    let event = parse_str(&String::from_utf8(text).ok()?).ok()?;
    let branch = event.get("repository")?.get("default_branch")?;
    branch.as_str().map(str::to_owned)
}

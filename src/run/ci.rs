//! The CI that this runs in, as far as a report can lead to it: the job, the commit, and the files of
//! that commit; and whether it runs for the default branch.

use std::path::Path;

use crate::canonical::parse_str;
use crate::git::Repository;
use crate::report::Frame;

/// A CI: the variable that only it sets, and where it has its addresses.
struct Ci {
    mark: &'static str,
    /// The variable with the address of the repository, and what follows it before the files and
    /// before the commit. `None` if lines cannot be named by `#L1`, or the address is git's.
    repository: Option<(&'static str, &'static str, &'static str)>,
    commit: &'static str,
    run: &'static str,
}

const KNOWN: [Ci; 5] = [
    Ci {
        mark: "GITLAB_CI",
        repository: Some(("CI_PROJECT_URL", "/-/blob/", "/-/commit/")),
        commit: "CI_COMMIT_SHA",
        run: "CI_JOB_URL",
    },
    Ci {
        mark: "CIRCLECI",
        repository: None,
        commit: "CIRCLE_SHA1",
        run: "CIRCLE_BUILD_URL",
    },
    Ci {
        mark: "BUILDKITE",
        repository: None,
        commit: "BUILDKITE_COMMIT",
        run: "BUILDKITE_BUILD_URL",
    },
    Ci {
        mark: "JENKINS_URL",
        repository: None,
        commit: "GIT_COMMIT",
        run: "BUILD_URL",
    },
    Ci {
        mark: "BITBUCKET_BUILD_NUMBER",
        repository: Some(("BITBUCKET_GIT_HTTP_ORIGIN", "", "/commits/")),
        commit: "BITBUCKET_COMMIT",
        run: "",
    },
];

/// What the page of a check leads to in this CI; nothing outside of one.
pub(crate) fn frame() -> Frame {
    frame_of(|name| crate::own_env::var(name)?.into_string().ok())
}

fn frame_of(var: impl Fn(&str) -> Option<String>) -> Frame {
    let mut frame = Frame::default();
    let is_set = |ci: &&Ci| var(ci.mark).is_some_and(|it| !it.is_empty());
    let Some(ci) = KNOWN.iter().find(is_set) else {
        return frame;
    };
    let address = |name: &str| var(name).filter(|it| is_address(it));
    frame.run = address(ci.run);
    let is_hash = |it: &String| it.len() >= 40 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some(commit) = var(ci.commit).filter(is_hash) else {
        return frame;
    };
    if let Some((name, files, commits)) = ci.repository
        && let Some(repository) = address(name)
    {
        let repository = repository.trim_end_matches('/');
        frame.files = (!files.is_empty()).then(|| format!("{repository}{files}{commit}"));
        let short = commit[..7].to_owned();
        frame.commit = Some((short, format!("{repository}{commits}{commit}")));
    }
    frame
}

/// Whether a text is an address that Markdown takes as it is.
fn is_address(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#@%&=+,;".contains(&byte);
    (text.starts_with("https://") || text.starts_with("http://"))
        && text.len() < 500
        && text.bytes().all(is_plain)
}

/// The most of an event's payload that is read.
const MOST_OF_EVENT: u64 = 16 << 20;

fn var(name: &str) -> Option<String> {
    crate::own_env::var(name)?.into_string().ok()
}

/// The default branch of the repository, if this is a CI job on it, in a working copy.
pub(crate) fn default_branch() -> Option<String> {
    let is_set = |name: &str| var(name).is_some_and(|it| !it.is_empty() && it != "false");
    if !is_set("CI") && !is_set("GITHUB_ACTIONS") && !is_set("GITLAB_CI") {
        return None;
    }
    Repository::around(Path::new("."))?;
    let branch = var("GITHUB_REF")
        .and_then(|it| it.strip_prefix("refs/heads/").map(str::to_owned))
        .or_else(|| var("CI_COMMIT_BRANCH"))?;
    let default = var("CI_DEFAULT_BRANCH").or_else(default_branch_of_event);
    let is_default = match &default {
        Some(default) => *default == branch,
        None => matches!(branch.as_str(), "main" | "master"),
    };
    is_default.then_some(branch)
}

/// The default branch as the event of a workflow names it.
fn default_branch_of_event() -> Option<String> {
    let path = var("GITHUB_EVENT_PATH")?;
    let text = crate::files::read_at_most(Path::new(&path), MOST_OF_EVENT).ok()?;
    let event = parse_str(&String::from_utf8(text).ok()?).ok()?;
    let branch = event.get("repository")?.get("default_branch")?;
    branch.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Frame {
        frame_of(|name| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn gitlab_has_files_a_commit_and_a_job() {
        let frame = of(&[
            ("GITLAB_CI", "true"),
            ("CI_PROJECT_URL", "https://gitlab.example/octo/weather"),
            ("CI_COMMIT_SHA", COMMIT),
            ("CI_JOB_URL", "https://gitlab.example/octo/weather/-/jobs/7"),
        ]);
        let files = format!("https://gitlab.example/octo/weather/-/blob/{COMMIT}");
        assert_eq!(frame.files, Some(files));
        let address = format!("https://gitlab.example/octo/weather/-/commit/{COMMIT}");
        assert_eq!(frame.commit, Some(("0123456".to_owned(), address)));
        assert!(frame.run.is_some());
    }

    #[test]
    fn others_have_the_job_or_the_commit() {
        let frame = of(&[
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", COMMIT),
            ("CIRCLE_BUILD_URL", "https://circleci.example/7"),
        ]);
        assert_eq!(frame.run.as_deref(), Some("https://circleci.example/7"));
        assert_eq!((frame.files, frame.commit), (None, None));
        let frame = of(&[
            ("BITBUCKET_BUILD_NUMBER", "7"),
            ("BITBUCKET_GIT_HTTP_ORIGIN", "https://bitbucket.example/a/b"),
            ("BITBUCKET_COMMIT", COMMIT),
        ]);
        assert!(frame.commit.is_some() && frame.files.is_none());
    }

    #[test]
    fn nothing_but_an_address_and_a_hash_is_taken() {
        let frame = of(&[
            ("GITLAB_CI", "true"),
            ("CI_PROJECT_URL", "https://gitlab.example/a) **bold** ("),
            ("CI_COMMIT_SHA", "main"),
            ("CI_JOB_URL", "javascript:alert(1)"),
        ]);
        assert_eq!((frame.files, frame.commit, frame.run), (None, None, None));
        assert!(of(&[]).run.is_none());
    }
}

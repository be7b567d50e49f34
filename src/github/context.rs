//! The runner's description of the run: a pure function of its environment and of the event's JSON.
//!
//! The commit is the one that reviewers look at: the head of a pull request, never the merge commit
//! in `GITHUB_SHA`, because a check run on that one is not shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Api, ApiError, Token};

/// The API of github.com, the default.
const API: &str = "https://api.github.com";

/// Everything that posting needs to know.
#[derive(Clone, Debug)]
pub struct Context {
    /// The API's address. On GitHub Enterprise Server it has a path, `/api/v3`.
    pub api: String,
    /// The web interface, for links.
    pub server: String,
    /// `owner`
    pub owner: String,
    /// `name`
    pub repository: String,
    /// The commit to judge.
    pub commit: String,
    /// The commit that the runner names: on pull requests the merge of the head into the base branch.
    pub runner_commit: Option<String>,
    /// What started the run.
    pub event: Event,
    /// Why the token of this run can only read, if known in advance.
    pub read_only: Option<ReadOnly>,
    /// The run, for the link from the check run.
    pub run: Option<String>,
    /// `RUN.ATTEMPT`; empty if the runner does not say.
    pub attempt: String,
    /// The job summary's file.
    pub summary: Option<PathBuf>,
    /// The outputs' file.
    pub outputs: Option<PathBuf>,
    /// Where the repository was checked out.
    pub workspace: Option<PathBuf>,
    pub token: Option<Token>,
    /// Certificates to trust besides the system's. The pull request can change files of the workspace, so it must be known to
    /// be outside of it.
    pub ca: Option<PathBuf>,
    /// Whether a runner reads the output.
    pub on_runner: bool,
}

/// What started the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `pull_request` or `pull_request_target`
    PullRequest(PullRequest),
    /// `merge_group`: a merge queue, with the commit that the group is based on.
    MergeGroup { base: String },
    /// `push`
    Push,
    /// `schedule`
    Schedule,
    /// `workflow_dispatch`
    Dispatch,
    /// `release`
    Release,
    /// `workflow_run` after a run for a pull request: the repository of its head, and when it began. Which pull request that
    /// is has to be asked ([`Context::find_pull_request`]).
    AfterPullRequest { repository: String, began: String },
    /// Any other; the commit is the runner's.
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    /// The base branch's commit at the time of the event.
    pub base_commit: String,
    pub base_branch: String,
    /// Whether its head is in another repository.
    pub from_fork: bool,
    /// When it was last changed, as the event says.
    pub updated_at: String,
    /// The label that was set, if that is the event.
    pub labeled: Option<Labeled>,
}

/// The event that a label was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labeled {
    pub label: String,
    /// Who set it.
    pub by: String,
    /// Whether that is a program.
    pub by_bot: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOnly {
    Fork,
    Dependabot,
}

impl ReadOnly {
    pub fn reason(self) -> &'static str {
        match self {
            Self::Fork => {
                "GitHub gives workflow runs of pull requests from forks a read-only token"
            }
            Self::Dependabot => "GitHub gives Dependabot's workflow runs a read-only token",
        }
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextError {
    /// A variable of the runner is missing or invalid.
    #[error("{name} {problem}")]
    Variable { name: &'static str, problem: String },
    /// The event does not match its name.
    #[error("the event in GITHUB_EVENT_PATH {0}")]
    Event(String),
}

impl ContextError {
    pub fn help(&self) -> &'static str {
        "`mcp-keel action` is started by a workflow; anywhere else, use `mcp-keel check`"
    }
}

impl Context {
    /// From the environment, and the content of the file in `GITHUB_EVENT_PATH`.
    pub fn read(env: &BTreeMap<String, String>, event: Option<&str>) -> Result<Self, ContextError> {
        let get = |name: &str| {
            env.get(name)
                .map(String::as_str)
                .filter(|it| !it.is_empty())
        };
        let full_name = get("GITHUB_REPOSITORY").ok_or(ContextError::Variable {
            name: "GITHUB_REPOSITORY",
            problem: "is not set".to_owned(),
        })?;
        let (owner, repository) = repository(full_name)?;
        let payload: Value = match event {
            Some(text) => serde_json::from_str(text)
                .map_err(|error| ContextError::Event(format!("is not JSON: {error}")))?,
            None => Value::Null,
        };
        let name = get("GITHUB_EVENT_NAME").unwrap_or_default();
        let event = read_event(name, &payload, full_name)?;
        let commit = commit(&event, &payload)
            .or(get("GITHUB_SHA"))
            .filter(|it| is_commit(it))
            .ok_or(ContextError::Variable {
                name: "GITHUB_SHA",
                problem: "is not a commit, and the event names none".to_owned(),
            })?
            .to_owned();
        let read_only = match &event {
            // The runs of pull_request_target belong to the base, and have its token.
            Event::PullRequest(_) if name == "pull_request_target" => None,
            Event::PullRequest(pull) if pull.from_fork => Some(ReadOnly::Fork),
            Event::PullRequest(_) | Event::Push
                if get("GITHUB_ACTOR") == Some("dependabot[bot]") =>
            {
                Some(ReadOnly::Dependabot)
            }
            _ => None,
        };
        let server = get("GITHUB_SERVER_URL")
            .unwrap_or("https://github.com")
            .trim_end_matches('/');
        let run_id = get("GITHUB_RUN_ID").filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
        let attempt = get("GITHUB_RUN_ATTEMPT").and_then(|it| it.parse::<u32>().ok());
        let attempt = run_id.map(|id| format!("{id}.{}", attempt.unwrap_or(1)));
        let run = run_id.map(|id| format!("{server}/{full_name}/actions/runs/{id}"));
        // The action's input takes precedence.
        let token = ["INPUT_TOKEN", "GITHUB_TOKEN"]
            .into_iter()
            .find_map(|name| Token::new(get(name)?));
        Ok(Self {
            api: api(get("GITHUB_API_URL").unwrap_or(API))?,
            server: server.to_owned(),
            owner,
            repository,
            commit,
            runner_commit: get("GITHUB_SHA")
                .filter(|it| is_commit(it))
                .map(str::to_owned),
            event,
            read_only,
            run,
            attempt: attempt.unwrap_or_default(),
            summary: get("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            outputs: get("GITHUB_OUTPUT").map(PathBuf::from),
            ca: get("INPUT_CA").map(PathBuf::from).filter(|file| {
                let file = crate::files::without_dots(file);
                let workspace = Path::new(get("GITHUB_WORKSPACE").unwrap_or_default());
                file.is_absolute() && !file.starts_with(workspace)
            }),
            workspace: get("GITHUB_WORKSPACE").map(PathBuf::from),
            token,
            on_runner: get("GITHUB_ACTIONS") == Some("true"),
        })
    }

    /// Finds the open pull request whose head was checked by the run that this one follows. The report of that run says
    /// nothing about it: it is the pull request's own work.
    pub async fn find_pull_request(&mut self, api: &Api) -> Result<(), ApiError> {
        let Event::AfterPullRequest { repository, began } = &self.event else {
            return Ok(());
        };
        let full_name = format!("{}/{}", self.owner, self.repository);
        let path = format!("/commits/{}/pulls", self.commit);
        let pulls: Vec<Value> = api.all(&path, None).await?;
        let found = pulls.iter().find(|pull| {
            let text = |at: &Value, wanted: &str| {
                at.as_str()
                    .is_some_and(|it| it.eq_ignore_ascii_case(wanted))
            };
            pull["state"] == "open"
                && text(&pull["head"]["sha"], &self.commit)
                && text(&pull["head"]["repo"]["full_name"], repository)
                && text(&pull["base"]["repo"]["full_name"], &full_name)
        });
        if let Some(pull) = found.and_then(|pull| pull_request(pull, &full_name).ok()) {
            self.event = Event::PullRequest(PullRequest {
                // A label counts if it was set after the run began, when this commit was the head.
                updated_at: began.clone(),
                ..pull
            });
        }
        Ok(())
    }

    pub fn pull_request(&self) -> Option<&PullRequest> {
        match &self.event {
            Event::PullRequest(pull) => Some(pull),
            _ => None,
        }
    }

    /// The commit whose baseline this one would replace, if any.
    pub fn base_commit(&self) -> Option<&str> {
        match &self.event {
            Event::PullRequest(pull) => Some(&pull.base_commit),
            Event::MergeGroup { base } => Some(base),
            _ => None,
        }
    }
}

/// Both halves become parts of URLs, so they must not contain anything with a meaning there.
fn repository(full_name: &str) -> Result<(String, String), ContextError> {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.chars().all(|it| it == '.')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    match full_name.split_once('/') {
        Some((owner, name)) if plain(owner) && plain(name) => {
            Ok((owner.to_owned(), name.to_owned()))
        }
        _ => Err(ContextError::Variable {
            name: "GITHUB_REPOSITORY",
            problem: "is not OWNER/NAME".to_owned(),
        }),
    }
}

fn api(url: &str) -> Result<String, ContextError> {
    if url.starts_with("https://") || url.starts_with("http://") {
        return Ok(url.trim_end_matches('/').to_owned());
    }
    Err(ContextError::Variable {
        name: "GITHUB_API_URL",
        problem: "is not an http address".to_owned(),
    })
}

fn read_event(name: &str, payload: &Value, full_name: &str) -> Result<Event, ContextError> {
    Ok(match name {
        "pull_request" | "pull_request_target" => {
            let mut pull = pull_request(&payload["pull_request"], full_name)?;
            let text = |at: &Value| at.as_str().unwrap_or_default().to_owned();
            pull.labeled = (payload["action"] == "labeled").then(|| Labeled {
                label: text(&payload["label"]["name"]),
                by: text(&payload["sender"]["login"]),
                by_bot: payload["sender"]["type"] == "Bot",
            });
            Event::PullRequest(pull)
        }
        "merge_group" => {
            let base = payload["merge_group"]["base_sha"].as_str();
            let base = base.filter(|it| is_commit(it)).ok_or_else(|| {
                ContextError::Event("has no merge_group with a base_sha".to_owned())
            })?;
            Event::MergeGroup {
                base: base.to_owned(),
            }
        }
        "workflow_run" if payload["workflow_run"]["event"] == "pull_request" => {
            let run = &payload["workflow_run"];
            if !run["head_sha"].as_str().is_some_and(is_commit) {
                return Err(ContextError::Event(
                    "has no workflow_run with a head_sha".to_owned(),
                ));
            }
            let text = |at: &Value| at.as_str().unwrap_or_default().to_owned();
            Event::AfterPullRequest {
                repository: text(&run["head_repository"]["full_name"]),
                began: text(&run["created_at"]),
            }
        }
        "push" => Event::Push,
        "schedule" => Event::Schedule,
        "workflow_dispatch" => Event::Dispatch,
        "release" => Event::Release,
        other => Event::Other(other.to_owned()),
    })
}

fn pull_request(pull: &Value, full_name: &str) -> Result<PullRequest, ContextError> {
    let missing = |what: &str| ContextError::Event(format!("has no pull_request.{what}"));
    if !pull["head"]["sha"].as_str().is_some_and(is_commit) {
        return Err(missing("head.sha"));
    }
    let base_commit = pull["base"]["sha"].as_str().filter(|it| is_commit(it));
    Ok(PullRequest {
        number: pull["number"].as_u64().ok_or_else(|| missing("number"))?,
        base_commit: base_commit.ok_or_else(|| missing("base.sha"))?.to_owned(),
        base_branch: pull["base"]["ref"].as_str().unwrap_or_default().to_owned(),
        // A deleted fork has no repository, but is still a fork.
        from_fork: !pull["head"]["repo"]["full_name"]
            .as_str()
            .is_some_and(|head| head.eq_ignore_ascii_case(full_name)),
        updated_at: pull["updated_at"].as_str().unwrap_or_default().to_owned(),
        labeled: None,
    })
}

fn commit<'a>(event: &Event, payload: &'a Value) -> Option<&'a str> {
    match event {
        Event::PullRequest(_) => payload["pull_request"]["head"]["sha"].as_str(),
        Event::MergeGroup { .. } => payload["merge_group"]["head_sha"].as_str(),
        Event::AfterPullRequest { .. } => payload["workflow_run"]["head_sha"].as_str(),
        _ => None,
    }
}

/// SHA-1, or SHA-256 in a repository that uses it.
fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "1111111111111111111111111111111111111111";
    const BASE: &str = "2222222222222222222222222222222222222222";
    const MERGE: &str = "3333333333333333333333333333333333333333";

    fn env(event: &str, more: &[(&str, &str)]) -> BTreeMap<String, String> {
        let usual = [
            ("GITHUB_REPOSITORY", "octo/weather"),
            ("GITHUB_EVENT_NAME", event),
            ("GITHUB_SHA", MERGE),
            ("GITHUB_RUN_ID", "42"),
        ];
        usual
            .iter()
            .chain(more)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn pull(head: &str) -> String {
        format!(
            r#"{{"pull_request": {{"number": 7, "labels": [{{"name": "a"}}],
                "head": {{"sha": "{HEAD}", "repo": {head}}},
                "base": {{"sha": "{BASE}", "ref": "main"}}}}}}"#
        )
    }

    #[test]
    fn a_pull_request_is_judged_at_its_head_not_at_the_merge_commit() {
        let text = pull(r#"{"full_name": "octo/weather"}"#);
        for event in ["pull_request", "pull_request_target"] {
            let context = Context::read(&env(event, &[]), Some(&text)).expect("a context");
            assert_eq!(context.commit, HEAD);
            assert_eq!(context.base_commit(), Some(BASE));
            let pull = context.pull_request().expect("a pull request");
            assert_eq!((pull.number, pull.from_fork), (7, false));
            assert_eq!(pull.labeled, None);
            assert_eq!(context.read_only, None);
            assert_eq!(context.api, "https://api.github.com");
            let run = "https://github.com/octo/weather/actions/runs/42";
            assert_eq!(context.run.as_deref(), Some(run));
        }
    }

    #[test]
    fn a_label_that_was_just_set_is_known_with_who_set_it() {
        let text = pull(r#"{"full_name": "octo/weather"}"#).replacen(
            '{',
            r#"{"action": "labeled", "label": {"name": "ok"}, "sender": {"login": "mona", "type": "User"}, "#,
            1,
        );
        let context = Context::read(&env("pull_request", &[]), Some(&text)).expect("a context");
        let pull = context.pull_request().expect("a pull request");
        let labeled = pull.labeled.as_ref().expect("a label");
        assert_eq!(
            (labeled.label.as_str(), labeled.by.as_str()),
            ("ok", "mona")
        );
        assert!(!labeled.by_bot);
    }

    #[test]
    fn forks_and_dependabot_can_only_read() {
        for head in ["null", r#"{"full_name": "someone/weather"}"#] {
            let context = Context::read(&env("pull_request", &[]), Some(&pull(head)));
            let context = context.expect("a context");
            assert_eq!(context.read_only, Some(ReadOnly::Fork));
            // With pull_request_target the token is the base's.
            let context = Context::read(&env("pull_request_target", &[]), Some(&pull(head)));
            assert_eq!(context.expect("a context").read_only, None);
        }
        let own = pull(r#"{"full_name": "octo/weather"}"#);
        let env = env("pull_request", &[("GITHUB_ACTOR", "dependabot[bot]")]);
        let context = Context::read(&env, Some(&own)).expect("a context");
        assert_eq!(context.read_only, Some(ReadOnly::Dependabot));
    }

    #[test]
    fn other_events_are_judged_at_the_runners_commit() {
        for (name, event) in [
            ("push", Event::Push),
            ("schedule", Event::Schedule),
            ("workflow_dispatch", Event::Dispatch),
            ("release", Event::Release),
            ("issue_comment", Event::Other("issue_comment".to_owned())),
        ] {
            let context = Context::read(&env(name, &[]), Some("{}")).expect("a context");
            assert_eq!((context.commit.as_str(), &context.event), (MERGE, &event));
            assert_eq!(context.base_commit(), None);
        }
        let text = format!(r#"{{"merge_group": {{"head_sha": "{HEAD}", "base_sha": "{BASE}"}}}}"#);
        let context = Context::read(&env("merge_group", &[]), Some(&text)).expect("a context");
        assert_eq!(context.commit, HEAD);
        assert_eq!(context.base_commit(), Some(BASE));
    }

    #[test]
    fn the_input_token_comes_first_and_no_token_is_shown() {
        let more = [
            ("INPUT_TOKEN", "ghs_one"),
            ("GITHUB_TOKEN", "ghs_two"),
            ("GITHUB_API_URL", "https://ghe.example/api/v3/"),
        ];
        let context = Context::read(&env("push", &more), None).expect("a context");
        assert_eq!(context.token, Token::new("ghs_one"));
        assert_eq!(context.api, "https://ghe.example/api/v3");
        assert!(!format!("{context:?}").contains("ghs_"));
        let context = Context::read(&env("push", &[("INPUT_TOKEN", "")]), None);
        assert_eq!(context.expect("a context").token, None);
    }

    #[test]
    fn an_inconsistent_context_is_an_error() {
        let error = |env: BTreeMap<String, String>, event: Option<&str>| {
            Context::read(&env, event)
                .expect_err("an error")
                .to_string()
        };
        assert!(error(env("pull_request", &[]), Some("{}")).contains("head.sha"));
        assert!(error(env("push", &[]), Some("{")).contains("not JSON"));
        assert!(error(env("push", &[("GITHUB_SHA", "main")]), None).contains("GITHUB_SHA"));
        let walk = env("push", &[("GITHUB_REPOSITORY", "octo/..")]);
        assert!(error(walk, None).contains("OWNER/NAME"));
        assert!(error(BTreeMap::new(), None).contains("GITHUB_REPOSITORY"));
    }
}

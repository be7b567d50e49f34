//! What the base of a pull request says: its configuration, its list of servers, its baselines. It was reviewed; what the
//! pull request says of the same things was not.
//!
//! It is read **before any server starts**: through GitHub's API where there is a token, otherwise by git ([`BaseFiles`]). Each part
//! was read, is not there (believed only of a folder that could be listed), or is unreadable, which leaves the question
//! undetermined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Error;
use super::base_files::{BaseFiles, Found};
use super::request::ServerRequest;
use super::{endpoint, server_lists};
use crate::baseline::store;
use crate::config::foreign::{self, EnvFiles, Surroundings};
use crate::config::{Config, ServerConfig};
use crate::git::Repository;
use crate::github::{Api, Context, Event};

/// Where files of the working folder are in the repository.
#[derive(Clone, Debug)]
pub(crate) struct Whereabouts {
    pub(crate) repository: Option<Repository>,
    /// The working folder as it was named, without `.` and `..`.
    here: PathBuf,
    /// Where the repository was checked out, as far as that is known.
    workspace: Option<PathBuf>,
}

impl Whereabouts {
    /// `folder` is as it was named, not as links lead from it: the pull request can change where a link leads, and not
    /// which folder of the base is meant.
    pub(crate) fn new(folder: &Path, workspace: Option<&Path>) -> Self {
        let here = std::env::current_dir().unwrap_or_default().join(folder);
        let here = crate::files::without_dots(&here);
        Self {
            repository: Repository::around(&here),
            here,
            workspace: workspace.map(Path::to_owned),
        }
    }

    /// From the root of the repository to a file, with `/`; none if it is not in it.
    pub(crate) fn in_repository(&self, path: &Path) -> Option<String> {
        let root = self.repository.as_ref().map(Repository::root);
        let root = root.or(self.workspace.as_deref())?;
        let path = crate::files::without_dots(&self.here.join(path));
        let inside = path.strip_prefix(root).ok()?;
        let parts = inside.iter().map(|part| part.to_str());
        Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
    }

    /// The root of the repository.
    pub(crate) fn root(&self) -> Option<&Path> {
        let root = self.repository.as_ref().map(Repository::root);
        root.or(self.workspace.as_deref())
    }

    /// From the root of the repository to the working folder, with `/` at the end if it is not empty.
    pub(crate) fn prefix(&self) -> String {
        match self.in_repository(Path::new("")) {
            Some(path) if !path.is_empty() => path + "/",
            _ => String::new(),
        }
    }
}

/// Which commit is checked out, seen from the one that is judged.
pub(crate) struct CheckedOut {
    /// Whether it is the judged commit, or a merge of it; otherwise why nothing can be said of that commit.
    pub(crate) judged: Result<(), String>,
    /// The commit that this one is to replace; none where that is no question. An error leaves it undetermined.
    pub(crate) base: Result<Option<String>, String>,
}

/// Finds out what is checked out, and which commit is the base.
///
/// The event names the head; `HEAD` is believed only if it is that commit or one that the runner or the event vouch for,
/// because a step before this one could have written another commit there.
pub(crate) async fn checked_out(
    context: &Context,
    repository: Option<&Repository>,
    api: Option<&Api>,
) -> CheckedOut {
    let nothing = |problem: String| CheckedOut {
        judged: Err(problem.clone()),
        base: if context.base_commit().is_some() {
            Err(problem)
        } else {
            Ok(None)
        },
    };
    let no_checkout =
        || "there is no git checkout here, so the checked commit is unknown".to_owned();
    let Some(repository) = repository else {
        return nothing(no_checkout());
    };
    let head = match repository.head() {
        Ok(Some(head)) => head,
        Ok(None) => return nothing(no_checkout()),
        Err(no_git) => return nothing(no_git),
    };
    let is_judged = head == context.commit;
    let pull = match &context.event {
        Event::PullRequest(pull) => pull,
        _ if !is_judged => {
            return nothing(other_commit(&head, &context.commit));
        }
        Event::MergeGroup { base } => {
            return CheckedOut {
                judged: Ok(()),
                base: Ok(Some(base.clone())),
            };
        }
        _ => {
            return CheckedOut {
                judged: Ok(()),
                base: Ok(None),
            };
        }
    };
    if is_judged {
        let base = match api {
            Some(api) => merge_base_of_github(api, &pull.base_branch, &head).await,
            None => repository.merge_base(&pull.base_commit, &head),
        };
        let base = base.ok_or_else(|| {
            format!(
                "the merge base of {} and {} is not known",
                short(&pull.base_commit),
                short(&head)
            )
        });
        return CheckedOut {
            judged: Ok(()),
            base: base.map(Some),
        };
    }
    let parents = match repository.parents(&head) {
        Ok(parents) => parents,
        Err(problem) => return nothing(problem),
    };
    match &parents[..] {
        [first, second] if *second == context.commit => {
            let runner = context.runner_commit.as_deref();
            let is_vouched_for = runner == Some(first)
                || *first == pull.base_commit
                || runner == Some(&head) && github_agrees(api, &head, &parents).await;
            CheckedOut {
                judged: Ok(()),
                base: if is_vouched_for {
                    Ok(Some(first.clone()))
                } else {
                    Err(format!(
                        "{} is checked out, a merge that neither the event nor the runner names",
                        short(&head)
                    ))
                },
            }
        }
        _ => nothing(other_commit(&head, &context.commit)),
    }
}

/// Whether a commit has these parents on GitHub too; believed where there is no token to ask with.
async fn github_agrees(api: Option<&Api>, commit: &str, parents: &[String]) -> bool {
    let Some(api) = api else {
        return true;
    };
    let answer: Result<serde_json::Value, _> = api.get(&format!("/git/commits/{commit}")).await;
    let parents = parents.iter().map(|id| serde_json::json!(id));
    answer.is_ok_and(|answer| {
        let named = answer["parents"].as_array().into_iter().flatten();
        named.map(|parent| parent["sha"].clone()).eq(parents)
    })
}

/// Another commit is checked out than the one that is judged.
fn other_commit(head: &str, judged: &str) -> String {
    format!(
        "{} is checked out, which is neither {} nor a merge of it",
        short(head),
        short(judged)
    )
}

/// The merge base as GitHub knows it, with the base branch as it is now.
async fn merge_base_of_github(api: &Api, branch: &str, head: &str) -> Option<String> {
    use crate::github::api::encoded;
    let address = format!("/compare/{}...{head}?per_page=1&page=2", encoded(branch));
    let answer: serde_json::Value = api.get(&address).await.ok()?;
    let found = answer["merge_base_commit"]["sha"].as_str()?;
    crate::git::is_id(found).then(|| found.to_owned())
}

/// The base of a pull request, or of a revision on the command line.
pub(crate) struct Base {
    pub(crate) commit: String,
    /// `mcp-keel.toml`, or the file that was named instead.
    pub(crate) config: Found<Config>,
    /// The servers by name, also those of lists in other formats. A server that cannot be understood has no settings.
    pub(crate) servers: Found<BTreeMap<String, Option<ServerConfig>>>,
    /// The text of each list of servers in another format.
    pub(crate) lists: BTreeMap<PathBuf, Found<String>>,
    /// The texts of baselines, by the path that its configuration gives them.
    pub(crate) baselines: BTreeMap<PathBuf, Found<String>>,
}

impl Base {
    /// Reads configuration and lists of servers. The workflow's inputs say which files these are.
    pub(crate) async fn read(
        commit: &str,
        request: &ServerRequest,
        at: &Whereabouts,
        files: &mut BaseFiles<'_>,
    ) -> Self {
        let path = request.config.as_deref();
        let path = path.unwrap_or(Path::new(crate::config::DEFAULT_PATH));
        let config = file(commit, path, at, files).await;
        let config = config.and_then(|text| {
            Config::parse(path, &text).map_err(|error| format!("it is invalid: {error}"))
        });
        let named = config.read().map(|it| it.from.clone()).unwrap_or_default();
        let named = if request.from.is_empty() {
            named
        } else {
            request.from.clone()
        };
        let mut lists = BTreeMap::new();
        for path in named {
            let text = file(commit, &path, at, files).await;
            lists.insert(path, text);
        }
        let mut base = Self {
            commit: commit.to_owned(),
            servers: Found::Absent,
            config,
            lists,
            baselines: BTreeMap::new(),
        };
        base.servers = base.listed(request);
        base
    }

    /// What a revision of the clone says, for a check by its policy.
    pub(crate) async fn of_revision(
        revision: &str,
        request: &ServerRequest,
    ) -> Result<Self, Error> {
        let unknown = |problem: String| {
            Error::usage(
                format!("--policy-from {revision}: {problem}"),
                "name a commit, a branch or a tag that the clone has, such as origin/main",
            )
        };
        let at = Whereabouts::new(Path::new(""), None);
        let repository = at.repository.as_ref();
        let commit = repository.map(|it| it.resolve(revision)).transpose();
        let commit = commit.map_err(unknown)?.flatten();
        let commit =
            commit.ok_or_else(|| unknown("not a commit of the repository here".to_owned()))?;
        let mut files = BaseFiles::new(at.repository.as_ref(), None);
        let base = Self::read(&commit, request, &at, &mut files).await;
        match base.trouble() {
            Some(problem) => Err(unknown(problem)),
            None => Ok(base),
        }
    }

    /// Why it is not known what its configuration says.
    pub(crate) fn trouble(&self) -> Option<String> {
        let problem = self.config.problem().or(self.servers.problem())?;
        Some(format!("the base branch's configuration: {problem}"))
    }

    /// Whether its configuration was read and is invalid.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.config, Found::Broken(_)) || matches!(self.servers, Found::Broken(_))
    }

    /// Every server that the base knows.
    fn listed(&self, request: &ServerRequest) -> Found<BTreeMap<String, Option<ServerConfig>>> {
        let mut servers = BTreeMap::new();
        match &self.config {
            Found::Unreadable(problem) => return Found::Unreadable(problem.clone()),
            Found::Broken(problem) => return Found::Broken(problem.clone()),
            Found::Read(config) if request.from.is_empty() => {
                let of_config = config.servers.clone().into_iter();
                servers.extend(of_config.map(|(name, server)| (name, Some(server))));
            }
            _ => {}
        }
        // As for the working folder's own lists, so that both can be compared. Nothing of it is shown.
        let inputs = server_lists::inputs(request);
        let variable = |name: &str| server_lists::variable(request, name);
        let surroundings = Surroundings {
            variable: &variable,
            withheld: &endpoint::is_withheld,
            inputs: &inputs,
            env_files: EnvFiles::NotRead,
        };
        for (path, text) in &self.lists {
            let text = match text {
                Found::Read(text) => text,
                Found::Absent => continue,
                Found::Unreadable(problem) => return Found::Unreadable(problem.clone()),
                Found::Broken(problem) => return Found::Broken(problem.clone()),
            };
            match foreign::parse(path, text, request.from_format, &surroundings) {
                Ok(listed) => {
                    let listed = listed.servers.into_iter();
                    servers.extend(listed.map(|(name, server)| (name, server.ok())));
                }
                Err(error) => return Found::Broken(format!("it is invalid: {error}")),
            }
        }
        Found::Read(servers)
    }

    /// The names of its servers.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let servers = self.servers.read().into_iter().flatten();
        servers.map(|(name, _)| name.clone()).collect()
    }

    /// Every server that it knows and that can be understood.
    pub(crate) fn all_servers(&self) -> Vec<&ServerConfig> {
        let servers = self.servers.read().into_iter().flatten();
        servers.filter_map(|(_, server)| server.as_ref()).collect()
    }

    /// What it says of a server.
    pub(crate) fn server(&self, name: &str) -> Option<&ServerConfig> {
        self.servers.read()?.get(name)?.as_ref()
    }

    /// Reads baselines.
    pub(crate) async fn read_baselines(
        &mut self,
        paths: impl IntoIterator<Item = PathBuf>,
        at: &Whereabouts,
        files: &mut BaseFiles<'_>,
    ) {
        for path in paths {
            if !self.baselines.contains_key(&path) {
                let text = file(&self.commit, &path, at, files).await;
                self.baselines.insert(path, text);
            }
        }
    }

    /// The files of its own servers' baselines.
    pub(crate) fn baseline_paths(&self, pattern: &Path) -> Vec<PathBuf> {
        if store::is_split(pattern) {
            let names = self.names().into_iter();
            names.map(|name| store::path_for(pattern, &name)).collect()
        } else {
            vec![pattern.to_owned()]
        }
    }
}

async fn file(
    commit: &str,
    path: &Path,
    at: &Whereabouts,
    files: &mut BaseFiles<'_>,
) -> Found<String> {
    match at.in_repository(path) {
        Some(inside) => files.text(commit, &inside).await,
        None => Found::Unreadable(format!("{} is not in the repository", path.display())),
    }
}

/// A commit as people write it.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

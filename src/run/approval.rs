//! The second question of a pull request: what does its baseline change against the one on the base branch? That is
//! what a reviewer approves by merging it.
//!
//! The base's baseline comes from git where the clone has the commit, else from GitHub. Where neither can give it, the
//! question is undetermined, never answered with "nothing changed".

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use base64::Engine as _;

use super::judge_server::{self, Compared};
use super::plan::{Plan, today};
use crate::baseline::Manifest;
use crate::github::Api;
use crate::github::api::encoded;
use crate::policy::{Action, Policy};
use crate::report::{Comparison, Failure, Report, ServerReport, escape};

/// A baseline on the base branch.
enum Base {
    Manifest(Box<Manifest>),
    /// There is none, or it does not hold: whatever is pinned now is new.
    Nothing(Option<String>),
    /// Nobody could tell.
    Unknown(String),
}

/// What is being approved, and what there is to say about how that was found out.
pub(crate) struct Approval {
    pub(crate) report: Report,
    pub(crate) notes: Vec<String>,
}

/// Where the files of the base branch can be had from.
pub(crate) struct BaseBranch<'a> {
    pub(crate) commit: &'a str,
    /// From the root of the repository to the current folder, with `/` at the end if it is not empty.
    pub(crate) prefix: &'a str,
    pub(crate) api: Option<&'a Api>,
}

/// Compares every baseline of the plan with its state on the base branch.
pub(crate) async fn approval(
    plan: &Plan,
    manifests: &BTreeMap<PathBuf, Manifest>,
    policy: &Policy,
    base: &BaseBranch<'_>,
) -> Approval {
    let mut servers = Vec::new();
    let mut notes = Vec::new();
    for (path, head) in manifests {
        let of_plan: BTreeSet<&str> = plan
            .targets
            .iter()
            .filter(|target| plan.baseline_of(target) == *path)
            .map(|target| target.name.as_str())
            .collect();
        match base.read(path).await {
            Base::Unknown(problem) => {
                servers.extend(of_plan.iter().map(|name| unknown(name, &problem)));
            }
            Base::Nothing(note) => {
                notes.extend(note);
                servers.extend(compare(&of_plan, None, head, policy));
            }
            Base::Manifest(manifest) => {
                let mut names = of_plan;
                if plan.complete {
                    // A server that the pull request takes out of the baseline is nobody's target any more.
                    names.extend(manifest.servers().keys().map(String::as_str));
                    names.extend(head.servers().keys().map(String::as_str));
                }
                servers.extend(compare(&names, Some(&manifest), head, policy));
            }
        }
    }
    judge_server::locate(&mut servers);
    Approval {
        report: Report::new(Comparison::Diff, servers, Vec::new()),
        notes,
    }
}

fn compare(
    names: &BTreeSet<&str>,
    base: Option<&Manifest>,
    head: &Manifest,
    policy: &Policy,
) -> Vec<ServerReport> {
    let one = |name: &&str| {
        let pinned = |manifest: &'_ Manifest| manifest.servers().get(*name).cloned();
        let (old, new) = (base.and_then(pinned), pinned(head));
        (old.is_some() || new.is_some()).then(|| {
            let compared = Compared {
                name,
                old: old.as_ref().map(|it| (&it.surface, &it.release)),
                new: new.as_ref().map(|it| (&it.surface, &it.release)),
                // Annotations stand on lines of the head, so the places are those of the new file.
                manifest: Some(head),
                accept_with: "",
                notes: &[],
            };
            compared.judge_server(policy, today())
        })
    };
    names.iter().filter_map(one).collect()
}

fn unknown(name: &str, problem: &str) -> ServerReport {
    let why = Failure {
        message: format!("the base branch's baseline cannot be read: {problem}"),
        help: "check out with fetch-depth: 0, or give the action a token that can read contents; compare-base: \
               false leaves the question out"
            .to_owned(),
        stderr: String::new(),
    };
    ServerReport::undetermined(name, why)
}

/// What blocks becomes accepted, because a maintainer said so by a label. A version that was to be raised still is.
pub(crate) fn accept(report: Report) -> Report {
    let mut servers = report.servers;
    for located in servers.iter_mut().flat_map(|it| &mut it.changes) {
        if located.judged.action == Action::Block {
            located.judged.action = Action::Accepted;
        }
    }
    Report::new(report.comparison, servers, report.findings)
}

/// Whether a change blocks that a label could accept.
pub(crate) fn has_blocking_change(report: &Report) -> bool {
    report.changes().any(|it| it.judged.action == Action::Block)
}

impl BaseBranch<'_> {
    async fn read(&self, path: &Path) -> Base {
        let text = match self.text(path).await {
            Ok(Some(text)) => text,
            Ok(None) => return Base::Nothing(None),
            Err(problem) => return Base::Unknown(problem),
        };
        match Manifest::parse(path, text) {
            Ok(manifest) => Base::Manifest(Box::new(manifest)),
            // A pull request that mends it must not be held up by what it mends.
            Err(error) => Base::Nothing(Some(format!(
                "The base branch's baseline does not hold ({}), so that everything counts as new.",
                escape::short(&error.to_string(), 300)
            ))),
        }
    }

    async fn text(&self, path: &Path) -> Result<Option<String>, String> {
        let slashed = path.to_string_lossy().replace('\\', "/");
        if let Some(answer) = from_git(self.commit, &slashed) {
            return answer;
        }
        let Some(api) = self.api else {
            return Err("the clone does not have the commit, and there is no token".to_owned());
        };
        let full = normal(&format!("{}{slashed}", self.prefix))
            .ok_or_else(|| format!("{slashed} is not in the repository"))?;
        from_github(api, self.commit, &full).await
    }
}

/// Git's answer; none if git, the repository or the commit is not there.
fn from_git(commit: &str, path: &str) -> Option<Result<Option<String>, String>> {
    git(&["cat-file", "-e", &format!("{commit}^{{commit}}")])?;
    if git(&["ls-tree", commit, "--", path])?.is_empty() {
        return Some(Ok(None));
    }
    // `./` is from the current folder, whatever its place in the repository. A partial clone may know of the file and
    // not have it.
    let bytes = git(&["cat-file", "blob", &format!("{commit}:./{path}")])?;
    let text = String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned());
    Some(text.map(Some))
}

/// What a git command prints, if it succeeds.
pub(crate) fn git(args: &[&str]) -> Option<Vec<u8>> {
    let output = crate::git::git()
        .args(args)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}

async fn from_github(api: &Api, commit: &str, path: &str) -> Result<Option<String>, String> {
    let path: Vec<String> = path.split('/').map(encoded).collect();
    let address = format!("/contents/{}?ref={}", path.join("/"), encoded(commit));
    let answer: serde_json::Value = match api.get(&address).await {
        Ok(answer) => answer,
        Err(error) if error.status() == Some(404) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    // Above 1 MiB GitHub sends no content in this form.
    let content = answer["content"].as_str().filter(|it| !it.is_empty());
    let Some(content) = content.filter(|_| answer["encoding"] == "base64") else {
        return Err("GitHub sends no content of a file of this size".to_owned());
    };
    let packed: String = content.split_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(packed)
        .map_err(|error| error.to_string())?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| "not UTF-8".to_owned())
}

/// A path without `.` and `..`; none if it leaves the repository.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_repository() {
        assert_eq!(normal("a/./b/../c.json").as_deref(), Some("a/c.json"));
        assert_eq!(normal("../c.json"), None);
    }
}

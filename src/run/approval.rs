//! The second question of a pull request: what does its baseline change against the one on the base branch? That is
//! what a reviewer approves by merging it.
//!
//! The base's baseline comes from git where the clone has the commit, else from GitHub. Where neither can give it, the
//! question is undetermined, never answered with "nothing changed".

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use base64::Engine as _;

use super::Error;
use super::baseline::{Baseline, Baselines, LockBaseline};
use super::judge_server::{self, AgainstLock, SurfacePair};
use super::plan::{Plan, Target, today};
use crate::baseline::Manifest;
use crate::drift::Change;
use crate::github::Api;
use crate::github::api::encoded;
use crate::interop::{Asked, revisions};
use crate::policy::{Action, Policy};
use crate::report::{Comparison, Failure, Report, ServerReport, Status, escape};

/// The baseline on the base branch.
enum Base {
    Baseline(Box<Baseline>),
    /// There is none, or it does not hold: whatever is pinned now is new.
    Nothing(Option<String>),
    /// It could not be read.
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
    baselines: &Baselines,
    policy: &Policy,
    base: &BaseBranch<'_>,
) -> Approval {
    let mut servers = Vec::new();
    let mut notes = Vec::new();
    for (path, head) in baselines {
        let targets: Vec<&Target> = plan
            .targets
            .iter()
            .filter(|target| plan.baseline_of(target) == *path)
            .collect();
        let base = match base.read(path).await {
            Base::Unknown(problem) => {
                servers.extend(targets.iter().map(|it| unknown(&it.name, &problem)));
                continue;
            }
            Base::Nothing(note) => {
                notes.extend(note);
                None
            }
            Base::Baseline(base) => Some(base),
        };
        let base = base.as_deref().filter(|base| {
            let comparable = is_comparable(base, head);
            if !comparable {
                notes.push(format!(
                    "{} is {} on the base branch and {} here. The two cannot be compared, so everything counts as new.",
                    path.display(),
                    kind(base),
                    kind(head)
                ));
            }
            comparable
        });
        let named = named_by(plan, &targets, base, head);
        let asked = asked(&targets, &named);
        match head {
            Baseline::Own(head) => {
                let base = base.and_then(Baseline::own);
                let names = asked.iter().map(|it| it.name);
                servers.extend(compare(names, base, head, policy));
            }
            Baseline::Lock(head) => {
                let base = match base {
                    Some(Baseline::Lock(base)) => Some(base),
                    _ => None,
                };
                for asked in asked {
                    servers.extend(compare_locks(asked, base, head, policy, &mut notes));
                }
            }
        }
    }
    judge_server::locate(&mut servers);
    Approval {
        report: Report::new(Comparison::Diff, servers, Vec::new()),
        notes,
    }
}

/// The servers that the files name, if the plan is about all servers. One that the pull request takes out of the baseline
/// is in no plan any more.
fn named_by(
    plan: &Plan,
    targets: &[&Target],
    base: Option<&Baseline>,
    head: &Baseline,
) -> Vec<String> {
    // A lock about one server is about the one without a name: it is not asked about twice.
    let is_unnamed = targets.iter().any(|it| it.is_unnamed());
    if !plan.complete || (is_unnamed && head.own().is_none()) {
        return Vec::new();
    }
    let baselines = base.into_iter().chain([head]);
    baselines.flat_map(Baseline::servers).collect()
}

/// The servers that are compared, each once.
fn asked<'a>(targets: &[&'a Target], named: &'a [String]) -> Vec<Asked<'a>> {
    let named = named.iter().map(|name| Asked {
        name,
        is_unnamed: false,
    });
    let targets = targets.iter().map(|it| it.asked());
    let asked: BTreeMap<&str, Asked<'_>> = named.chain(targets).map(|it| (it.name, it)).collect();
    asked.into_values().collect()
}

/// Whether two baselines are files of the same kind.
fn is_comparable(base: &Baseline, head: &Baseline) -> bool {
    kind(base) == kind(head)
}

fn kind(baseline: &Baseline) -> &'static str {
    match baseline {
        Baseline::Own(_) => "a baseline of mcp-keel's own",
        Baseline::Lock(it) => it.lock.format(),
    }
}

fn compare<'a>(
    names: impl Iterator<Item = &'a str>,
    base: Option<&Manifest>,
    head: &Manifest,
    policy: &Policy,
) -> Vec<ServerReport> {
    let one = |name: &str| {
        let pinned = |manifest: &'_ Manifest| manifest.servers().get(name).cloned();
        let (old, new) = (base.and_then(pinned), pinned(head));
        (old.is_some() || new.is_some()).then(|| {
            let compared = SurfacePair {
                name,
                old: old.as_ref().map(|it| (&it.surface, &it.release)),
                new: new.as_ref().map(|it| (&it.surface, &it.release)),
                // Annotations belong to lines of the head, so the places are those of the new file.
                manifest: Some(head),
                accept_with: "",
                notes: &[],
            };
            compared.judge_server(policy, today())
        })
    };
    names.filter_map(one).collect()
}

/// What two revisions of a lock pin for a server; none if neither knows it.
fn compare_locks(
    asked: Asked<'_>,
    base: Option<&LockBaseline>,
    head: &LockBaseline,
    policy: &Policy,
    notes: &mut Vec<String>,
) -> Option<ServerReport> {
    let entries = |it: &LockBaseline| it.lock.entries(asked).ok();
    let old = base.and_then(|base| Some((base, entries(base)?)));
    let report = |status, changes| {
        let against = AgainstLock {
            name: asked.name,
            changes,
            places: Some(head),
            surface: None,
            notes: Vec::new(),
            accept_with: "",
        };
        let report = against.judge_server(policy, today());
        ServerReport {
            status: Option::unwrap_or(status, report.status),
            ..report
        }
    };
    let placed = |change: Change| vec![(change, String::new())];
    match (old, entries(head)) {
        (None, None) => None,
        (None, Some(_)) => Some(report(Some(Status::New), placed(revisions::not_pinned()))),
        (Some(_), None) => Some(report(None, placed(revisions::gone()))),
        (Some((base, old)), Some(new)) => {
            match revisions::compare((&base.lock, &old), (&head.lock, &new)) {
                Ok(revised) => {
                    let revised = revised.unwrap_or_default();
                    let path = head.path.display();
                    notes.extend(revised.notes.iter().map(|it| format!("{path}: {it}")));
                    Some(report(None, revised.changes))
                }
                Err(error) => Some(unknown(asked.name, &error.to_string())),
            }
        }
    }
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
        match Baseline::parse(path, text).map_err(Error::from) {
            Ok(baseline) => Base::Baseline(Box::new(baseline)),
            // A pull request that mends it must not be held up by what it mends.
            Err(error) => Base::Nothing(Some(format!(
                "The base branch's baseline does not hold ({}), so that everything counts as new.",
                escape::short(error.message(), 300)
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

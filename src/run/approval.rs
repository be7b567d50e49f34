//! The second question of a pull request: what does its baseline change compared with the base
//! branch's? That is what merging approves.
//!
//! Where the base's baseline could not be read, the question is undetermined, never answered with "nothing changed" or
//! with "everything is new".

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use super::Error;
use super::base::Base;
use super::base_files::Found;
use super::baseline::{Baseline, Baselines, LockBaseline};
use super::judge_server::{self, AgainstLock, SurfacePair};
use super::plan::{Plan, Target, today};
use crate::baseline::{Manifest, store};
use crate::drift::Change;
use crate::interop::{Asked, revisions};
use crate::policy::{Action, Policy};
use crate::report::{Comparison, Failure, FailureKind, Report, ServerReport, Status};

/// What merging approves, and notes on how that was determined.
pub(crate) struct Approval {
    pub(crate) report: Report,
    pub(crate) notes: Vec<String>,
    /// The report as it is without the label that accepts what blocks, if there is one.
    pub(crate) unaccepted: Option<Report>,
}

/// The baselines as they will be after the merge.
pub(crate) struct MergedBaselines {
    pub(crate) baselines: Arc<Baselines>,
    /// Where the base has its own.
    pub(crate) pattern_of_base: PathBuf,
}

impl MergedBaselines {
    /// Read before any server starts, like all others. Where they stay where they are, they are those of the plan.
    pub(crate) fn read(
        plan: &Plan,
        baselines: &Arc<Baselines>,
        pattern_of_base: PathBuf,
    ) -> Result<Self, Error> {
        let mut merged = Arc::clone(baselines);
        if plan.next_pattern != plan.pattern {
            let mut moved = Baselines::new();
            for target in plan.all_targets() {
                let path = store::path_for(&plan.next_pattern, &target.name);
                if let Entry::Vacant(entry) = moved.entry(path) {
                    let baseline = Baseline::read(entry.key()).map_err(Error::from)?;
                    entry.insert(baseline);
                }
            }
            merged = Arc::new(moved);
        }
        Ok(Self {
            baselines: merged,
            pattern_of_base,
        })
    }
}

/// Compares every baseline of the plan with its state on the base branch.
pub(crate) fn approval(
    plan: &Plan,
    merged: &MergedBaselines,
    policy: &Policy,
    base: &Result<Base, String>,
    is_accepted: bool,
) -> Approval {
    let mut servers = Vec::new();
    let mut notes = Vec::new();
    for (path, head) in merged.baselines.iter() {
        let targets: Vec<&Target> = plan
            .targets
            .iter()
            .filter(|target| store::path_for(&plan.next_pattern, &target.name) == *path)
            .collect();
        // Where the base has it, which may be another place.
        let named = targets.first();
        let path_of_base = match named {
            Some(target) => store::path_for(&merged.pattern_of_base, &target.name),
            None => path.clone(),
        };
        let on_base = match base {
            Ok(base) => base.baselines.get(&path_of_base).cloned().map(|text| {
                text.and_then(|text| {
                    Baseline::parse(&path_of_base, text).map_err(|error| {
                        let error = Error::from(error);
                        format!("it is invalid: {}", error.message())
                    })
                })
            }),
            Err(problem) => {
                servers.extend(targets.iter().map(|it| unknown(&it.name, problem)));
                continue;
            }
        };
        let on_base = match on_base {
            Some(Found::Read(baseline)) => Some(baseline),
            Some(Found::Absent) => None,
            // A pull request that mends it can be accepted.
            Some(Found::Broken(problem)) if is_accepted => {
                let path = path.display().to_string();
                notes.push(format!(
                    "{path} of the base branch is invalid ({problem}); everything is treated as new."
                ));
                None
            }
            Some(Found::Broken(problem) | Found::Unreadable(problem)) => {
                servers.extend(targets.iter().map(|it| unknown(&it.name, &problem)));
                continue;
            }
            None => {
                let problem = format!("{} is not in the repository", path_of_base.display());
                servers.extend(targets.iter().map(|it| unknown(&it.name, &problem)));
                continue;
            }
        };
        let base = on_base.as_ref().filter(|base| {
            let comparable = is_comparable(base, head);
            if !comparable {
                notes.push(format!(
                    "{} is {} on the base branch and {} here. The two cannot be compared, so everything counts \
                     as new.",
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
        unaccepted: None,
    }
}

/// The servers named in the files, if the plan covers all servers. A server that the pull request
/// removes from the baseline is in no plan.
fn named_by(
    plan: &Plan,
    targets: &[&Target],
    base: Option<&Baseline>,
    head: &Baseline,
) -> Vec<String> {
    // A lock with a single server is about the unnamed one: it is not compared twice.
    let is_unnamed = targets.iter().any(|it| it.is_unnamed());
    if !plan.complete || (is_unnamed && head.own().is_none()) {
        return Vec::new();
    }
    let baselines = base.into_iter().chain([head]);
    baselines.flat_map(Baseline::servers).collect()
}

/// The servers to compare, each once.
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
        Baseline::Own(_) => "an mcp-keel baseline",
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
                // Annotations need lines of the head, so the places are those of the new file.
                manifest: Some(head),
                accept_with: "",
                servers: head.servers().len(),
                notes: &[],
            };
            compared.judge_server(policy, today())
        })
    };
    names.filter_map(one).collect()
}

/// Compares what two revisions of a lock pin for a server; `None` if neither has it.
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
        kind: FailureKind::Base,
        ..Failure::new(
            format!("the base branch's baseline cannot be read: {problem}"),
            "check out the pull request's merge commit or its head, with fetch-depth: 0 or a token that can \
             read contents; compare-base: false with policy-from: head skips the comparison"
        .to_owned(),
        )
    };
    ServerReport::undetermined(name, why)
}

/// Accepts everything that blocks, because a maintainer set the label. A required version bump is
/// still required.
pub(crate) fn accept(report: Report) -> Report {
    let mut servers = report.servers;
    for located in servers.iter_mut().flat_map(|it| &mut it.changes) {
        if located.judged.action == Action::Block {
            located.judged.action = Action::Accepted;
        }
    }
    Report::new(report.comparison, servers, report.findings)
}

/// Whether a blocking change could be accepted by the label.
pub(crate) fn has_blocking_change(report: &Report) -> bool {
    report.changes().any(|it| it.judged.action == Action::Block)
}

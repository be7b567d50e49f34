//! Checking servers: boot, capture, compare, judge, assemble.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::judge_server::{self, Compared, finding};
use super::observer::Observer;
use super::plan::{Plan, Target, resolve, today, verified};
use super::repeat::{self, Observed};
use super::request::{PolicyRequest, ServerRequest, ShardRequest};
use super::{Error, check_lock, fleet, shards};
use crate::baseline::{BaselineError, Manifest, Pinned, store};
use crate::fingerprint::Digest;
use crate::policy::Policy;
use crate::release::Release;
use crate::report::{
    Comparison, Report, RunFinding, ServerReport, Shard, Status, resolve_findings,
    unconditional_findings,
};
use crate::settings::Given;
use crate::surface::Note;

/// The baselines of a plan, by file.
pub(crate) type Manifests = BTreeMap<PathBuf, Manifest>;

/// What to check, and how.
pub(crate) struct CheckRequest {
    pub(crate) server: ServerRequest,
    pub(crate) policy: PolicyRequest,
    pub(crate) shard: ShardRequest,
    /// How many servers at a time.
    pub(crate) jobs: usize,
}

impl CheckRequest {
    pub(crate) fn new(given: &Given) -> Self {
        Self {
            server: ServerRequest::new(given),
            policy: PolicyRequest::new(given),
            shard: ShardRequest::new(given),
            jobs: fleet::jobs(given),
        }
    }
}

/// Captures every server that was asked for and compares it with its baseline.
pub(crate) async fn check(
    request: &CheckRequest,
    observer: Arc<dyn Observer>,
) -> Result<Examined, Error> {
    let plan = resolve(&request.server, Some(&request.policy), &*observer)?;
    let plan = verified(shards::cut(plan, &request.shard)?)?;
    if let Some(files) = check_lock::files(&plan)? {
        if plan.part.is_some() {
            return Err(Error::usage(
                "--shard needs a baseline of mcp-keel's own",
                "`mcp-keel import` makes one of another tool's file",
            ));
        }
        let report = check_lock::examine(plan, files, request.jobs, observer).await?;
        return Ok(Examined {
            report,
            took: Vec::new(),
        });
    }
    let manifests = Arc::new(manifests(&plan)?);
    examine(&Arc::new(plan), &manifests, request.jobs, observer).await
}

/// What became of a run.
pub(crate) struct Examined {
    pub(crate) report: Report,
    /// How long each server took that could be captured.
    pub(crate) took: Vec<(String, Duration)>,
}

/// Every server, captured and compared with its baseline.
pub(crate) async fn examine(
    plan: &Arc<Plan>,
    manifests: &Arc<Manifests>,
    jobs: usize,
    observer: Arc<dyn Observer>,
) -> Result<Examined, Error> {
    // What is written wrong is told before anything is started.
    let releases = plan
        .targets
        .iter()
        .map(|target| target.release(pinned(plan, manifests, target).map(|it| &it.release)))
        .collect::<Result<Vec<_>, _>>()?;
    observer.begin(plan.targets.len());
    let examined = {
        let (plan, manifests) = (Arc::clone(plan), Arc::clone(manifests));
        fleet::each(plan.targets.len(), jobs, move |index, job| {
            let (target, release) = (&plan.targets[index], releases[index].clone());
            let manifest = &manifests[&plan.baseline_of(target)];
            let begun = Instant::now();
            let report = job.run(check_server(
                target,
                release,
                manifest,
                &plan.policy,
                &*observer,
            ));
            observer.finished();
            (report, begun.elapsed())
        })
        .await?
    };
    let captured = examined
        .iter()
        .filter(|(server, _)| !matches!(server.status, Status::Undetermined(_)));
    let took = captured
        .map(|(server, time)| (server.name.clone(), *time))
        .collect();
    let mut servers: Vec<ServerReport> = examined.into_iter().map(|(server, _)| server).collect();
    judge_server::locate(&mut servers);
    Ok(Examined {
        report: assembled(plan, manifests, servers),
        took,
    })
}

/// The report of the run, or of the part of it that this is.
fn assembled(plan: &Plan, manifests: &Manifests, servers: Vec<ServerReport>) -> Report {
    let of_the_run = findings(plan, manifests);
    let mut of_these = plan.differing_profiles();
    // An order that does not depend on who checked what.
    of_these.sort();
    let of_these = of_these.into_iter().map(|it| finding(&plan.policy, it));
    let Some(part) = &plan.part else {
        let mut findings = resolve_findings(&of_the_run, &servers);
        findings.extend(of_these);
        return Report::new(Comparison::Check, servers, findings);
    };
    // What depends on all servers is left to whoever has all of them.
    let mut findings = unconditional_findings(&of_the_run);
    findings.extend(of_these);
    let mut report = Report::new(Comparison::Check, servers, findings);
    report.shard = Some(Shard {
        index: part.index,
        of: part.of,
        servers: plan.order.clone(),
        terms: terms(plan, manifests),
        findings: of_the_run,
    });
    report
}

/// What tells a part of this run from one that was judged by something else.
fn terms(plan: &Plan, manifests: &Manifests) -> String {
    let baselines: Vec<&str> = manifests.values().map(Manifest::integrity).collect();
    let version = env!("CARGO_PKG_VERSION");
    // Whatever a policy has or will have; among parts of one version it reads the same.
    let policy = &plan.policy;
    Digest::of(format!("{version}\n{baselines:?}\n{policy:?}")).tagged()
}

/// Every baseline is read, and must hold, before any server is started.
pub(crate) fn manifests(plan: &Plan) -> Result<Manifests, Error> {
    let mut manifests = BTreeMap::new();
    for target in plan.everybody() {
        let path = plan.baseline_of(target);
        if manifests.contains_key(&path) {
            continue;
        }
        let manifest = store::read(&path).map_err(|error| match error {
            BaselineError::Missing { .. } => {
                let help = format!("{}: {}", error.help(), target.pin_command);
                Error::usage(error.to_string(), help)
            }
            other => other.into(),
        })?;
        manifests.insert(path, manifest);
    }
    Ok(manifests)
}

/// What the baseline says of a target.
fn pinned<'a>(plan: &Plan, manifests: &'a Manifests, target: &Target) -> Option<&'a Pinned> {
    let manifest = &manifests[&plan.baseline_of(target)];
    manifest.servers().get(&target.name)
}

async fn check_server(
    target: &Target,
    release: Option<Release>,
    manifest: &Manifest,
    policy: &Policy,
    observer: &dyn Observer,
) -> ServerReport {
    let pinned = manifest.servers().get(&target.name);
    let surface = pinned.map(|pinned| &pinned.surface);
    let notes = target.notes(pinned);
    let compare = |observed: &Observed| {
        let new = &observed.captured.surface;
        let old = surface.map(|surface| observed.reference(target, surface));
        let release = release.clone().unwrap_or_else(|| Release::of_server(new));
        let compared = Compared {
            name: &target.name,
            old: old.as_deref().zip(pinned.map(|pinned| &pinned.release)),
            new: Some((new, &release)),
            manifest: Some(manifest),
            accept_with: &target.pin_command,
            notes: &notes,
        };
        Ok::<_, Infallible>(compared.judge_server(policy, today()))
    };
    let Ok(report) = repeat::capture_and_compare(target, pinned, policy, observer, compare).await;
    report
}

/// Findings about the run: stale acceptances, and servers of the baseline that nobody checked.
fn findings(plan: &Plan, manifests: &Manifests) -> Vec<RunFinding> {
    let acceptances = plan.policy.acceptance_notes(today());
    // Whether an acceptance matches nothing is known only when every server is checked.
    let mut notes: Vec<(Note, Option<String>)> = acceptances
        .into_iter()
        .filter(|(_, void_if_change)| plan.complete || void_if_change.is_none())
        .collect();
    if plan.complete {
        let checked: BTreeSet<&str> = plan.everybody().map(|it| it.name.as_str()).collect();
        for (path, manifest) in manifests {
            for name in manifest
                .servers()
                .keys()
                .filter(|name| !checked.contains(name.as_str()))
            {
                let note = Note {
                    rule: "server-not-checked",
                    component: None,
                    message: format!("{} holds `{name}`, which was not checked", path.display()),
                };
                notes.push((note, None));
            }
        }
    }
    notes
        .into_iter()
        .map(|(note, void_if_change)| RunFinding {
            finding: finding(&plan.policy, note),
            void_if_change,
        })
        .collect()
}

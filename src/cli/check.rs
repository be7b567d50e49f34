//! `mcp-keel check`: boot, capture, compare, report, exit.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::compared::{self, Compared, finding};
use super::plan::{Plan, Target, resolve, today, verified};
use super::progress::Progress;
use super::repeat::{self, Observed};
use super::{CheckArgs, Error, Exit, fleet, output, shards};
use crate::baseline::{BaselineError, Manifest, Pinned, store};
use crate::fingerprint::Digest;
use crate::policy::{Policy, Verdict};
use crate::release::Release;
use crate::report::{
    Comparison, Report, RunFinding, ServerReport, Shard, Status, certain, settled,
};
use crate::rules::RuleId;
use crate::surface::Note;

/// The baselines of a plan, by file.
pub(super) type Manifests = BTreeMap<PathBuf, Manifest>;

pub(super) async fn run(args: CheckArgs) -> Result<Exit, Error> {
    let plan = resolve(&args.server, Some(&args.policy))?;
    let plan = verified(shards::cut(plan, &args.shard)?)?;
    if let Some(files) = super::check_pins::files(&plan)? {
        if plan.part.is_some() {
            return Err(Error::usage(
                "--shard needs a baseline of mcp-keel's own",
                "`mcp-keel import` makes one of another tool's file",
            ));
        }
        return super::check_pins::run(&args, plan, files).await;
    }
    let manifests = Arc::new(manifests(&plan)?);
    let plan = Arc::new(plan);
    let Examined { report, took } =
        examine(&plan, &manifests, args.jobs.count(), args.report.quiet).await?;
    if let Some(path) = &args.shard.record_timings {
        shards::record(path, &took)?;
    }
    output::deliver(&report, &args.report)?;
    Ok(exit(report.verdict))
}

/// What became of a run.
pub(super) struct Examined {
    pub(super) report: Report,
    /// How long each server took that could be captured.
    pub(super) took: Vec<(String, Duration)>,
}

/// Every server, captured and compared with its baseline.
pub(super) async fn examine(
    plan: &Arc<Plan>,
    manifests: &Arc<Manifests>,
    jobs: usize,
    quiet: bool,
) -> Result<Examined, Error> {
    // What is written wrong is told before anything is started.
    let releases = plan
        .targets
        .iter()
        .map(|target| target.release(pinned(plan, manifests, target).map(|it| &it.release)))
        .collect::<Result<Vec<_>, _>>()?;
    let progress = Arc::new(Progress::start(quiet).of(plan.targets.len()));
    let examined = {
        let (plan, manifests) = (Arc::clone(plan), Arc::clone(manifests));
        let progress = Arc::clone(&progress);
        fleet::each(plan.targets.len(), jobs, move |index, job| {
            let (target, release) = (&plan.targets[index], releases[index].clone());
            let manifest = &manifests[&plan.baseline_of(target)];
            let begun = Instant::now();
            let report = job.run(check(target, release, manifest, &plan.policy, &progress));
            progress.finished();
            (report, begun.elapsed())
        })
        .await?
    };
    drop(progress);
    let captured = examined
        .iter()
        .filter(|(server, _)| !matches!(server.status, Status::Undetermined(_)));
    let took = captured
        .map(|(server, time)| (server.name.clone(), *time))
        .collect();
    let mut servers: Vec<ServerReport> = examined.into_iter().map(|(server, _)| server).collect();
    compared::locate(&mut servers);
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
        let mut findings = settled(&of_the_run, &servers);
        findings.extend(of_these);
        return Report::new(Comparison::Check, servers, findings);
    };
    // What depends on all servers is left to whoever has all of them.
    let mut findings = certain(&of_the_run);
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

pub(super) fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Pass | Verdict::Warn => Exit::Pass,
        Verdict::Block => Exit::Drift,
        Verdict::Undetermined => Exit::Undetermined,
    }
}

/// Every baseline is read, and must hold, before any server is started.
pub(super) fn manifests(plan: &Plan) -> Result<Manifests, Error> {
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

async fn check(
    target: &Target,
    release: Option<Release>,
    manifest: &Manifest,
    policy: &Policy,
    progress: &Progress,
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
        Ok::<_, Infallible>(compared.report(policy, today()))
    };
    let Ok(report) = repeat::compared(target, pinned, policy, progress, compare).await;
    report
}

/// Findings about the run: stale acceptances, and servers of the baseline that nobody checked.
fn findings(plan: &Plan, manifests: &Manifests) -> Vec<RunFinding> {
    let acceptances = plan.policy.acceptance_notes(today());
    // Whether an acceptance matches nothing is known only when every server is checked.
    let mut notes: Vec<(Note, Option<String>)> = acceptances
        .into_iter()
        .filter(|(_, unless)| plan.complete || unless.is_none())
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
                    rule: RuleId::ServerNotChecked,
                    component: None,
                    message: format!("{} holds `{name}`, which was not checked", path.display()),
                };
                notes.push((note, None));
            }
        }
    }
    notes
        .into_iter()
        .map(|(note, unless)| RunFinding {
            finding: finding(&plan.policy, note),
            unless,
        })
        .collect()
}

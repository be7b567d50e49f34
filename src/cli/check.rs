//! `mcp-keel check`: boot, capture, compare, report, exit.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use super::compared::{self, Compared, finding};
use super::plan::{Plan, Target, plan, today};
use super::progress::Progress;
use super::repeat::{self, Observed};
use super::{CheckArgs, Error, Exit, fleet, output};
use crate::baseline::{BaselineError, Manifest, Pinned, store};
use crate::policy::{Policy, Verdict};
use crate::release::Release;
use crate::report::{Comparison, Finding, Report, ServerReport, Status};
use crate::surface::Note;

/// The baselines of a plan, by file.
pub(super) type Manifests = BTreeMap<PathBuf, Manifest>;

pub(super) async fn run(args: CheckArgs) -> Result<Exit, Error> {
    let plan = plan(&args.server, Some(&args.policy))?;
    if let Some(files) = super::check_pins::files(&plan)? {
        return super::check_pins::run(&args, plan, files).await;
    }
    let manifests = Arc::new(manifests(&plan)?);
    let plan = Arc::new(plan);
    let report = examine(&plan, &manifests, args.jobs.count(), args.report.quiet).await?;
    output::deliver(&report, &args.report)?;
    Ok(exit(report.verdict))
}

/// Every server, captured and compared with its baseline.
pub(super) async fn examine(
    plan: &Arc<Plan>,
    manifests: &Arc<Manifests>,
    jobs: usize,
    quiet: bool,
) -> Result<Report, Error> {
    // What is written wrong is told before anything is started.
    let releases = plan
        .targets
        .iter()
        .map(|target| target.release(pinned(plan, manifests, target).map(|it| &it.release)))
        .collect::<Result<Vec<_>, _>>()?;
    let progress = Arc::new(Progress::start(quiet).of(plan.targets.len()));
    let mut servers = {
        let (plan, manifests) = (Arc::clone(plan), Arc::clone(manifests));
        let progress = Arc::clone(&progress);
        fleet::each(plan.targets.len(), jobs, move |index, job| {
            let (target, release) = (&plan.targets[index], releases[index].clone());
            let manifest = &manifests[&plan.baseline_of(target)];
            let report = job.run(check(target, release, manifest, &plan.policy, &progress));
            progress.finished();
            report
        })
        .await?
    };
    drop(progress);
    compared::locate(&mut servers);
    let findings = findings(plan, manifests, &servers);
    Ok(Report::new(Comparison::Check, servers, findings))
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
    for target in &plan.targets {
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
fn findings(plan: &Plan, manifests: &Manifests, servers: &[ServerReport]) -> Vec<Finding> {
    let captured = servers
        .iter()
        .all(|server| !matches!(server.status, Status::Undetermined(_)));
    let changes = servers.iter().flat_map(|server| &server.changes);
    let ids: Vec<&str> = changes.map(|it| it.judged.id.as_str()).collect();
    let mut notes = plan
        .policy
        .stale_acceptances(&ids, plan.complete && captured, today());
    notes.extend(plan.differing_profiles());
    if plan.complete {
        let checked: BTreeSet<&str> = plan
            .targets
            .iter()
            .map(|target| target.name.as_str())
            .collect();
        for (path, manifest) in manifests {
            for name in manifest
                .servers()
                .keys()
                .filter(|name| !checked.contains(name.as_str()))
            {
                notes.push(Note {
                    rule: "server-not-checked",
                    component: None,
                    message: format!("{} holds `{name}`, which was not checked", path.display()),
                });
            }
        }
    }
    notes
        .into_iter()
        .map(|note| finding(&plan.policy, note))
        .collect()
}

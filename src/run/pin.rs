//! Pinning servers: capture, write the baseline, and report what was accepted by that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge_server::{Compared, finding};
use super::observer::Observer;
use super::plan::{Plan, Target, plan, today};
use super::repeat::{self, Purpose};
use super::request::ServerRequest;
use super::{Error, fleet, pin_lock};
use crate::baseline::{Manifest, Pinned, server_entry, store, with_launch};
use crate::canonical::Json;
use crate::policy::{Enforcement, Policy};
use crate::release::Release;
use crate::report::{Comparison, Report, ServerReport};
use crate::settings::{BASELINE, Given};
use crate::surface::Surface;

/// What to pin, and how.
pub(crate) struct PinRequest {
    pub(crate) server: ServerRequest,
    /// How many servers at a time.
    pub(crate) jobs: usize,
    /// Whether to write a ToolPin lock.
    pub(crate) lock: bool,
}

impl PinRequest {
    pub(crate) fn new(given: &Given, lock: bool) -> Self {
        let mut given = given.clone();
        if lock && !given.has(BASELINE) {
            given.set(BASELINE, vec![crate::interop::toolpin::FILE_NAME.into()]);
        }
        Self {
            server: ServerRequest::new(&given),
            jobs: fleet::jobs(&given),
            lock,
        }
    }
}

/// What was pinned, and what was not.
pub(crate) struct PinOutcome {
    pub(crate) report: Report,
    pub(crate) failed: Vec<Error>,
}

/// Captures every server that was asked for and writes its baseline. A server that fails does not keep the others from
/// being pinned; its entry stays as it was.
pub(crate) async fn pin(
    request: PinRequest,
    observer: Arc<dyn Observer>,
) -> Result<PinOutcome, Error> {
    let mut plan = plan(&request.server, None, &*observer)?;
    if pin_lock::is_foreign(&plan, request.lock)? {
        return pin_lock::pin_all(plan, request.jobs, observer).await;
    }
    let mut failed = Vec::new();
    let manifests = readable(&mut plan, &mut failed);
    let paths: Vec<PathBuf> = plan
        .targets
        .iter()
        .map(|target| plan.baseline_of(target))
        .collect();
    observer.begin(plan.targets.len());
    let manifests = Arc::new(manifests);
    let before = Arc::clone(&manifests);
    let plan = Arc::new(plan);
    let observed = {
        let plan = Arc::clone(&plan);
        fleet::each(plan.targets.len(), request.jobs, move |index, job| {
            let target = &plan.targets[index];
            let manifest = manifests[&plan.baseline_of(target)].as_ref();
            let observed = job.run(pin_server(target, manifest, &plan.policy, &*observer));
            observer.finished();
            observed
        })
        .await?
    };

    let mut by_file: BTreeMap<&Path, BTreeMap<String, Json>> = BTreeMap::new();
    let mut servers = Vec::new();
    for (path, observed) in paths.iter().zip(observed) {
        match observed {
            Ok((report, entry)) => {
                let entries = by_file.entry(path).or_default();
                entries.insert(report.name.clone(), entry);
                servers.push((path, report));
            }
            Err(error) => failed.push(error),
        }
    }
    let mut written = Vec::new();
    for (path, entries) in by_file {
        match store::set_servers(path, before[path].as_ref(), entries) {
            Ok(true) => written.push(path.to_owned()),
            Ok(false) => {}
            Err(error) => {
                servers.retain(|(of, _)| *of != path);
                failed.push(error.into());
            }
        }
    }
    // In the order of the plan, not of the names of the files.
    written.sort_by_key(|path| paths.iter().position(|it| it == path));
    let servers = servers.into_iter().map(|(_, report)| report).collect();
    let findings = plan.differing_profiles().into_iter();
    let findings = findings.map(|note| finding(&accepting(), note)).collect();
    Ok(PinOutcome {
        report: Report::new(Comparison::Pin { written }, servers, findings),
        failed,
    })
}

/// The baselines as they are now. The servers of one that does not hold are taken out of the plan.
fn readable(plan: &mut Plan, failed: &mut Vec<Error>) -> BTreeMap<PathBuf, Option<Manifest>> {
    let mut manifests = BTreeMap::new();
    let mut names: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
    for target in &plan.targets {
        let of_file = names.entry(plan.baseline_of(target)).or_default();
        of_file.push(&target.name);
    }
    let mut broken = Vec::new();
    for (path, names) in names {
        match store::read_for_update(&path, &names) {
            Ok(manifest) => {
                manifests.insert(path, manifest);
            }
            Err(error) => {
                failed.push(error.into());
                broken.push(path);
            }
        }
    }
    let pattern = plan.pattern.clone();
    plan.targets
        .retain(|target| !broken.contains(&store::path_for(&pattern, &target.name)));
    manifests
}

/// A server's report and its new entry. Nothing else is kept of it.
async fn pin_server(
    target: &Target,
    manifest: Option<&Manifest>,
    policy: &Policy,
    observer: &dyn Observer,
) -> Result<(ServerReport, Json), Error> {
    let pinned = manifest.and_then(|manifest| manifest.servers().get(&target.name));
    // The version may come from another source now; pinning is when that is recorded.
    let release = target.release(None)?;
    let before = pinned.map(|pinned| &pinned.surface);
    let observed = repeat::require(target, before, policy, Purpose::Pin, observer).await?;
    let surface = &observed.captured.surface;
    let release = release.unwrap_or_else(|| Release::of_server(surface));
    let entry = with_launch(server_entry(surface, &release), &target.launched);
    Ok((report(target, pinned, surface, &release), entry))
}

fn report(
    target: &Target,
    pinned: Option<&Pinned>,
    surface: &Surface,
    release: &Release,
) -> ServerReport {
    let notes = target.notes(pinned);
    let compared = Compared {
        name: &target.name,
        old: pinned.map(|pinned| (&pinned.surface, &pinned.release)),
        new: Some((surface, release)),
        manifest: None,
        accept_with: &target.pin_command,
        notes: &notes,
    };
    compared.judge_server(&accepting(), today())
}

/// What is pinned is accepted: it is told, and nothing fails.
fn accepting() -> Policy {
    Policy {
        enforcement: Enforcement::Audit,
        ..Policy::default()
    }
}

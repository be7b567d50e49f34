//! Checks servers: boot, capture, compare, judge, assemble.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::base::Base;
use super::baseline::{self, Baseline, Baselines, LockBaseline};
use super::fleet::{self, Jobs};
use super::judge_server::{self, AgainstLock, SurfacePair, finding};
use super::judged_files::JudgedFiles;
use super::observer::Observer;
use super::plan::{Governing, Plan, Target, resolve_by, today, verified};
use super::repeat::{self, Observed};
use super::request::{PolicyRequest, ServerRequest, ShardRequest};
use super::{Error, shards};
use crate::baseline::{Manifest, server_entry, with_launch};
use crate::canonical::Json;
use crate::fingerprint::Digest;
use crate::interop::Origin;
use crate::policy::{Action, Policy};
use crate::release::Release;
use crate::report::{
    Comparison, Report, RunFinding, ServerReport, Shard, Status, resolve_findings,
    unconditional_findings,
};
use crate::rules::RuleId;
use crate::settings::{self, Given};
use crate::surface::{Note, Surface};

/// What to check, and how.
pub(crate) struct CheckRequest {
    pub(crate) server: ServerRequest,
    pub(crate) policy: PolicyRequest,
    pub(crate) shard: ShardRequest,
    /// How many servers run in parallel.
    pub(crate) jobs: Jobs,
    /// The revision whose policy counts instead of the working folder's.
    pub(crate) policy_from: Option<String>,
}

impl CheckRequest {
    pub(crate) fn new(given: &Given) -> Self {
        Self {
            server: ServerRequest::new(given),
            policy: PolicyRequest::new(given),
            shard: ShardRequest::new(given),
            jobs: Jobs::new(given),
            policy_from: given.text(settings::POLICY_FROM),
        }
    }
}

/// Captures every requested server and compares it with its baseline.
pub(crate) async fn check(
    request: &CheckRequest,
    observer: Arc<dyn Observer>,
) -> Result<Examined, Error> {
    let base = match &request.policy_from {
        Some(revision) => Some(Base::of_revision(revision, &request.server).await?),
        None => None,
    };
    let governing = match &base {
        Some(base) => Governing::Base {
            base,
            accepted: false,
        },
        None => Governing::Folder,
    };
    let plan = resolve_by(
        governing,
        &request.server,
        Some(&request.policy),
        &*observer,
    )?;
    let plan = verified(shards::cut(plan, &request.shard)?)?;
    let baselines = Arc::new(baseline::of_plan(&plan)?);
    let plan = Arc::new(plan);
    examine(&plan, &baselines, request.jobs, observer).await
}

/// The result of a run.
pub(crate) struct Examined {
    pub(crate) report: Report,
    /// How long each captured server took.
    pub(crate) took: Vec<(String, Duration)>,
    /// What pinning would write for each server that is not as its baseline says.
    pub(crate) proposed: BTreeMap<String, Json>,
    /// Look again whether they are unchanged when everything was said.
    pub(crate) judged_by: JudgedFiles,
}

/// Captures every server and compares it with its baseline.
pub(crate) async fn examine(
    plan: &Arc<Plan>,
    baselines: &Arc<Baselines>,
    jobs: Jobs,
    observer: Arc<dyn Observer>,
) -> Result<Examined, Error> {
    let judged_by = JudgedFiles::read(&plan.judged_by);
    // Configuration errors are reported before anything is started.
    let releases = plan
        .targets
        .iter()
        .map(|target| match &baselines[&plan.baseline_of(target)] {
            Baseline::Own(manifest) => {
                let pinned = manifest.servers().get(&target.name);
                target.release(pinned.map(|it| &it.release))
            }
            // It records no version to compare with.
            Baseline::Lock(_) => Ok(None),
        })
        .collect::<Result<Vec<_>, _>>()?;
    observer.begin(plan.targets.len());
    let examined = {
        let (plan, baselines) = (Arc::clone(plan), Arc::clone(baselines));
        fleet::each(plan.targets.len(), jobs, async move |index| {
            let (target, release) = (&plan.targets[index], releases[index].clone());
            let baseline = &baselines[&plan.baseline_of(target)];
            let begun = Instant::now();
            let mut proposed = None;
            let checked = check_server(
                target,
                release,
                baseline,
                &plan.policy,
                &*observer,
                &mut proposed,
            )
            .await;
            observer.finished();
            checked.map(|report| (report, begun.elapsed(), proposed))
        })
        .await?
    };
    let examined = examined.into_iter().collect::<Result<Vec<_>, Error>>()?;
    judged_by.are_unchanged()?;
    let captured = examined
        .iter()
        .filter(|(server, ..)| !matches!(server.status, Status::Undetermined(_)));
    let took = captured
        .map(|(server, time, _)| (server.name.clone(), *time))
        .collect();
    let proposed = examined
        .iter()
        .filter_map(|(server, _, entry)| Some((server.name.clone(), entry.clone()?)))
        .collect();
    let mut servers: Vec<ServerReport> = examined.into_iter().map(|it| it.0).collect();
    judge_server::locate(&mut servers);
    Ok(Examined {
        report: assembled(plan, baselines, servers),
        took,
        proposed,
        judged_by,
    })
}

/// The report of the run, or of this part of it.
fn assembled(plan: &Plan, baselines: &Baselines, servers: Vec<ServerReport>) -> Report {
    let of_the_run = findings(plan, baselines);
    let mut of_these = plan.differing_profiles();
    // An order that does not depend on who checked what.
    of_these.sort();
    let of_these = of_these.into_iter().map(|it| finding(&plan.policy, it));
    let Some(part) = &plan.part else {
        let mut findings = resolve_findings(&of_the_run, &servers);
        findings.extend(of_these);
        return Report::new(Comparison::Check, servers, findings);
    };
    // Findings that depend on all servers are left to the merge.
    let mut findings = unconditional_findings(&of_the_run);
    findings.extend(of_these);
    let mut report = Report::new(Comparison::Check, servers, findings);
    report.shard = Some(Shard {
        index: part.index,
        of: part.of,
        servers: plan.order.clone(),
        terms: terms(plan, baselines),
        findings: of_the_run,
    });
    report
}

/// What tells a part of this run from one that was judged by something else.
pub(super) fn terms(plan: &Plan, baselines: &Baselines) -> String {
    let baselines: Vec<String> = baselines.values().map(Baseline::identity).collect();
    let version = env!("CARGO_PKG_VERSION");
    // Whatever a policy contains, it is formatted the same among parts of one version.
    let policy = &plan.policy;
    Digest::of(format!("{version}\n{baselines:?}\n{policy:?}")).tagged()
}

async fn check_server(
    target: &Target,
    release: Option<Release>,
    baseline: &Baseline,
    policy: &Policy,
    observer: &dyn Observer,
    proposed: &mut Option<Json>,
) -> Result<ServerReport, Error> {
    match baseline {
        Baseline::Own(manifest) => {
            let seen = Mutex::new(None);
            let pinned = manifest.servers().get(&target.name);
            let compare = |observed: &Observed| {
                let release = release.as_ref();
                let report = against_manifest(target, release, manifest, policy, observed);
                let mut surface = differs(&report).then(|| observed.captured.surface.clone());
                if let (Some(surface), Some(pinned), true) =
                    (&mut surface, pinned, target.is_suspicious)
                {
                    surface.client = pinned.surface.client.clone();
                }
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = surface;
                Ok::<_, Error>(report)
            };
            let report =
                repeat::capture_and_compare(target, pinned, policy, observer, compare).await?;
            if differs(&report) {
                let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
                *proposed = seen.map(|surface| entry(target, release.as_ref(), &surface));
            }
            Ok(report)
        }
        Baseline::Lock(it) => {
            let compare =
                |observed: &Observed| against_lock(target, it, policy, &observed.captured.surface);
            // A digest covers a whole definition, so its stable part cannot be compared alone.
            let whole = Policy::default();
            repeat::capture_and_compare(target, None, &whole, observer, compare).await
        }
    }
}

/// Whether pinning would change what is in the baseline.
fn differs(server: &ServerReport) -> bool {
    matches!(server.status, Status::Drifted | Status::New)
}

/// What pinning would write.
fn entry(target: &Target, release: Option<&Release>, surface: &Surface) -> Json {
    let of_server = || Release::of_server(surface);
    let release = release.cloned().unwrap_or_else(of_server);
    with_launch(server_entry(surface, &release), &target.launch_to_pin())
}

fn against_manifest(
    target: &Target,
    release: Option<&Release>,
    manifest: &Manifest,
    policy: &Policy,
    observed: &Observed,
) -> ServerReport {
    let pinned = manifest.servers().get(&target.name);
    let new = &observed.captured.surface;
    let old = pinned.map(|pinned| observed.reference(target, &pinned.surface));
    let of_server = || Release::of_server(new);
    let release = release.cloned().unwrap_or_else(of_server);
    let compared = SurfacePair {
        name: &target.name,
        old: old.as_deref().zip(pinned.map(|pinned| &pinned.release)),
        new: Some((new, &release)),
        manifest: Some(manifest),
        accept_with: &target.pin_command,
        servers: manifest.servers().len(),
        notes: &target.notes(pinned),
    };
    ServerReport {
        third_party: target.is_third_party(),
        ..compared.judge_server(policy, today())
    }
}

fn against_lock(
    target: &Target,
    it: &LockBaseline,
    policy: &Policy,
    surface: &Surface,
) -> Result<ServerReport, Error> {
    let entries = it.lock.entries(target.asked())?;
    let address = target.endpoint.http().map(|http| http.url.origin());
    let origin = match (&address, target.endpoint.launch()) {
        (Some(address), _) => Origin::Remote(address),
        (None, Some(launch)) => Origin::Command(&launch.command),
        (None, None) => Origin::Unknown,
    };
    let found = it.lock.compare(&entries, surface, origin)?;
    let mut notes = surface.notes.clone();
    notes.extend(crate::scan::keel::notes(surface));
    notes.extend(target.notes(None));
    notes.extend(found.notes);
    let against = AgainstLock {
        name: &target.name,
        changes: found.changes,
        places: Some(it),
        surface: Some(surface),
        notes,
        accept_with: &target.pin_command,
    };
    Ok(ServerReport {
        third_party: target.is_third_party(),
        ..against.judge_server(policy, today())
    })
}

/// Findings about the run: stale acceptances, and servers of the baseline that were not checked.
pub(super) fn findings(plan: &Plan, baselines: &Baselines) -> Vec<RunFinding> {
    let acceptances = plan.policy.acceptance_notes(today());
    // Whether an acceptance matches nothing is only known if every server is checked.
    let mut notes: Vec<(Note, Option<String>)> = acceptances
        .into_iter()
        .filter(|(_, void_if_change)| plan.complete || void_if_change.is_none())
        .collect();
    if plan.complete {
        let checked: BTreeSet<&str> = plan.all_targets().map(|it| it.name.as_str()).collect();
        for (path, baseline) in baselines {
            let held = baseline.servers_to_check().into_iter();
            for name in held.filter(|name| !checked.contains(name)) {
                let note = Note {
                    rule: RuleId::ServerNotChecked,
                    component: None,
                    message: format!("{} has `{name}`, which was not checked", path.display()),
                };
                notes.push((note, None));
            }
        }
    }
    let notes = notes.into_iter().map(|(note, void_if_change)| RunFinding {
        finding: finding(&plan.policy, note),
        void_if_change,
    });
    let weaker = plan.check_changes.iter().filter(|it| it.weakens);
    let weaker = weaker.map(|it| {
        let note = Note {
            rule: RuleId::CheckWeakened,
            component: None,
            message: it.message.clone(),
        };
        let mut finding = finding(&plan.policy, note);
        if plan.changes_accepted {
            finding.action = Action::Accepted;
        }
        RunFinding {
            finding,
            void_if_change: None,
        }
    });
    weaker.chain(notes).collect()
}

//! `mcp-keel check`: boot, capture, compare, report, exit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::plan::{Plan, Target, plan, today};
use super::progress::Progress;
use super::{CheckArgs, Error, Exit, output};
use crate::baseline::{BaselineError, Manifest, store};
use crate::capture::{CaptureFailure, capture_stdio};
use crate::drift;
use crate::judgement::Level;
use crate::policy::{Date, Policy, Verdict, VersionCheck, check_version};
use crate::report::{
    Comparison, Cost, Failure, Finding, Located, Place, Report, ServerReport, Status,
};
use crate::surface::{Note, Surface};

pub(super) async fn run(args: CheckArgs) -> Result<Exit, Error> {
    let plan = plan(&args.server, Some(&args.policy))?;
    let manifests = manifests(&plan)?;
    let progress = Progress::start(args.report.quiet);
    let mut servers = Vec::new();
    for target in &plan.targets {
        let manifest = &manifests[&plan.baseline_of(target)];
        servers.push(check(target, manifest, &plan.policy, &progress).await);
    }
    drop(progress);
    let findings = findings(&plan, &manifests, &servers);
    let report = Report::new(Comparison::Check, servers, findings);
    output::deliver(&report, &args.report)?;
    Ok(exit(report.verdict))
}

pub(super) fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Pass | Verdict::Warn => Exit::Pass,
        Verdict::Block => Exit::Drift,
        Verdict::Undetermined => Exit::Undetermined,
    }
}

/// Every baseline is read, and must hold, before any server is started.
fn manifests(plan: &Plan) -> Result<BTreeMap<PathBuf, Manifest>, Error> {
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

async fn check(
    target: &Target,
    manifest: &Manifest,
    policy: &Policy,
    progress: &Progress,
) -> ServerReport {
    let pinned = manifest
        .servers()
        .get(&target.name)
        .map(|pinned| &pinned.surface);
    // What a server lists depends on who asks: ask as whoever pinned it.
    let client = match (&target.client, pinned) {
        (Some(client), _) => client.clone(),
        (None, Some(pinned)) => pinned.client.clone(),
        (None, None) => Default::default(),
    };
    let stage = |stage| progress.stage(&target.name, stage);
    match capture_stdio(&target.launch, &client, &target.limits, &stage).await {
        Ok(captured) => {
            let compared = Compared {
                name: &target.name,
                old: pinned,
                new: Some(&captured.surface),
                manifest: Some(manifest),
                accept_with: &target.pin_command,
            };
            compared.report(policy, today())
        }
        Err(failure) => undetermined(target, pinned, &failure),
    }
}

fn undetermined(
    target: &Target,
    pinned: Option<&Surface>,
    failure: &CaptureFailure,
) -> ServerReport {
    ServerReport {
        name: target.name.clone(),
        status: Status::Undetermined(Failure {
            message: failure.to_string(),
            help: failure.help(),
            stderr: String::from_utf8_lossy(&failure.stderr).into_owned(),
        }),
        changes: Vec::new(),
        findings: Vec::new(),
        version: check_version(pinned.and_then(Surface::server_version), None, None),
        cost: Cost {
            baseline: pinned.map_or(0, Cost::tokens),
            current: 0,
        },
        components: 0,
        accept_with: target.pin_command.clone(),
    }
}

/// Two surfaces of one server, to be judged.
pub(super) struct Compared<'a> {
    pub(super) name: &'a str,
    pub(super) old: Option<&'a Surface>,
    pub(super) new: Option<&'a Surface>,
    pub(super) manifest: Option<&'a Manifest>,
    pub(super) accept_with: &'a str,
}

impl Compared<'_> {
    pub(super) fn report(&self, policy: &Policy, today: Date) -> ServerReport {
        let changes = match (self.old, self.new) {
            (Some(old), Some(new)) => drift::compare(old, new),
            (None, Some(new)) => vec![drift::server_not_pinned(new)],
            (Some(old), None) => vec![drift::server_removed(old)],
            (None, None) => Vec::new(),
        };
        let version = self.version(&changes);
        let judged = policy.judge(self.name, changes, today);
        let changes: Vec<Located> = judged
            .into_iter()
            .map(|judged| Located {
                location: self.place(&judged.change),
                judged,
            })
            .collect();
        let status = match self.old {
            None => Status::New,
            Some(_) if changes.is_empty() => Status::Clean,
            Some(_) => Status::Drifted,
        };
        let notes = self.new.into_iter().flat_map(|surface| &surface.notes);
        let mut findings: Vec<Finding> = notes.map(|note| finding(policy, note.clone())).collect();
        if policy.require_version_bump && !version.ok {
            findings.push(version_finding(policy, &version));
        }
        ServerReport {
            name: self.name.to_owned(),
            status,
            changes,
            findings,
            version,
            cost: Cost {
                baseline: self.old.map_or(0, Cost::tokens),
                current: self.new.map_or(0, Cost::tokens),
            },
            components: self.new.map_or(0, |surface| surface.components.len()),
            accept_with: self.accept_with.to_owned(),
        }
    }

    fn version(&self, changes: &[drift::Change]) -> VersionCheck {
        let worst: Option<Level> = changes
            .iter()
            .filter(|change| change.rule != "server-version-changed")
            .map(|change| change.level)
            .max();
        let baseline = self.old.and_then(Surface::server_version);
        let current = self.new.and_then(Surface::server_version);
        check_version(baseline, current, worst.filter(|_| self.old.is_some()))
    }

    fn place(&self, change: &drift::Change) -> Option<Place> {
        let manifest = self.manifest?;
        self.old?;
        Some(Place {
            path: manifest.path().to_owned(),
            line: manifest.line(self.name, change.component.as_deref(), &change.pointer),
        })
    }
}

fn finding(policy: &Policy, note: Note) -> Finding {
    Finding {
        action: policy.judge_note(&note),
        note,
    }
}

fn version_finding(policy: &Policy, version: &VersionCheck) -> Finding {
    let note = Note {
        rule: "version-not-bumped",
        component: None,
        message: format!(
            "the version went from {} to {}, and the drift asks for a new {} version",
            version.baseline.as_deref().unwrap_or("none"),
            version.current.as_deref().unwrap_or("none"),
            version.required
        ),
    };
    let asked = match policy.rules.get(note.rule) {
        Some(_) => policy.judge_note(&note),
        None => policy.enforcement.action(),
    };
    Finding {
        action: asked,
        note,
    }
}

/// Findings about the run: stale acceptances, and servers of the baseline that nobody checked.
fn findings(
    plan: &Plan,
    manifests: &BTreeMap<PathBuf, Manifest>,
    servers: &[ServerReport],
) -> Vec<Finding> {
    let captured = servers
        .iter()
        .all(|server| !matches!(server.status, Status::Undetermined(_)));
    let ids: Vec<&str> = servers
        .iter()
        .flat_map(|server| &server.changes)
        .map(|it| it.judged.id.as_str())
        .collect();
    let complete = plan.complete && captured;
    let mut notes = plan.policy.stale_acceptances(&ids, complete, today());
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

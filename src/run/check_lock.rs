//! Checking servers against the file of another tool: a FastMCP manifest, MCP Hangar's pins, a ToolPin lock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge_server::finding;
use super::observer::Observer;
use super::plan::{Plan, Target, today};
use super::repeat::{self, Observed};
use super::{Error, fleet};
use crate::capture::Endpoint;
use crate::interop::{Lock, Origin};
use crate::policy::{Policy, check_version};
use crate::report::{Comparison, Cost, Finding, Located, Place, Report, ServerReport, Status};
use crate::surface::{Note, Surface};

/// The files of other tools among the baselines of a plan; none if there is no such file. Whatever does not look like one is
/// left to the reader of our own baselines, which says best what is wrong with it.
pub(crate) fn files(plan: &Plan) -> Result<Option<BTreeMap<PathBuf, Lock>>, Error> {
    let mut files = BTreeMap::new();
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        if files.contains_key(&path) {
            continue;
        }
        match Lock::read(&path)? {
            Some(file) => {
                whole_definitions(target, &path)?;
                files.insert(path, file);
            }
            None if files.is_empty() => return Ok(None),
            None => {
                return Err(Error::usage(
                    format!(
                        "{} is not of the same kind as the other baselines",
                        path.display()
                    ),
                    "check servers with baselines of different tools one by one",
                ));
            }
        }
    }
    Ok((!files.is_empty()).then_some(files))
}

/// The digests of other tools cover whole definitions.
pub(crate) fn whole_definitions(target: &Target, path: &Path) -> Result<(), Error> {
    match target.masks.first() {
        None => Ok(()),
        Some(mask) => Err(Error::usage(
            format!(
                "{}: the digests of this file cover whole definitions, and the mask in line {} leaves a text out",
                path.display(),
                mask.line
            ),
            "remove the mask, or pin into a baseline of our own with --baseline FILE",
        )),
    }
}

/// Every server, captured and compared with its entries.
pub(crate) async fn examine(
    plan: Plan,
    files: BTreeMap<PathBuf, Lock>,
    jobs: usize,
    observer: Arc<dyn Observer>,
) -> Result<Report, Error> {
    // Every entry must hold before any server is started.
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        files[&path].verify()?;
        files[&path].entries(target.asked())?;
    }
    observer.begin(plan.targets.len());
    let checked = fleet::each(plan.targets.len(), jobs, move |index, job| {
        let target = &plan.targets[index];
        let path = plan.baseline_of(target);
        let report = job.run(check(
            target,
            &path,
            &files[&path],
            &plan.policy,
            &*observer,
        ));
        observer.finished();
        report
    })
    .await?;
    let servers = checked.into_iter().collect::<Result<_, _>>()?;
    Ok(Report::new(Comparison::Check, servers, Vec::new()))
}

async fn check(
    target: &Target,
    path: &Path,
    file: &Lock,
    policy: &Policy,
    observer: &dyn Observer,
) -> Result<ServerReport, Error> {
    // A digest speaks of a whole definition: there is no comparing what stands still of it.
    let whole = Policy::default();
    let compare =
        |observed: &Observed| judged(target, path, file, policy, &observed.captured.surface);
    repeat::capture_and_compare(target, None, &whole, observer, compare).await
}

fn judged(
    target: &Target,
    path: &Path,
    file: &Lock,
    policy: &Policy,
    surface: &Surface,
) -> Result<ServerReport, Error> {
    let entries = file.entries(target.asked())?;
    let origin = match &target.endpoint {
        Endpoint::Http(http) => Some(http.url.origin()),
        _ => None,
    };
    let origin = match (&origin, target.endpoint.launch()) {
        (Some(origin), _) => Origin::Remote(origin),
        (None, Some(launch)) => Origin::Command(&launch.command),
        (None, None) => Origin::Unknown,
    };
    let found = file.compare(&entries, surface, origin)?;
    let mut notes: Vec<Note> = surface.notes.clone();
    notes.extend(crate::scan::keel::notes(surface));
    notes.extend(target.notes(None));
    notes.extend(found.notes);
    let (changes, places): (Vec<_>, Vec<String>) = found.changes.into_iter().unzip();
    let status = if changes.is_empty() {
        Status::Clean
    } else {
        Status::Drifted
    };
    let judged = policy.judge(&target.name, changes, today());
    Ok(ServerReport {
        name: target.name.clone(),
        status,
        changes: judged
            .into_iter()
            .zip(&places)
            .map(|(judged, at)| Located {
                judged,
                location: Some(Place {
                    path: path.to_owned(),
                    line: file.line(at),
                }),
                source: None,
            })
            .collect(),
        findings: notes
            .into_iter()
            .map(|note| finding(policy, note))
            .collect::<Vec<Finding>>(),
        // Pins say nothing of versions that could be held against the drift.
        version: check_version(None, surface.server_version(), None),
        cost: Cost {
            baseline: 0,
            current: Cost::tokens(surface),
        },
        components: surface.components.len(),
        accept_with: target.pin_command.clone(),
    })
}

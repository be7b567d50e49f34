//! Pinning servers into the file of another tool: a ToolPin lock, or FastMCP's flat manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge_server::finding;
use super::observer::Observer;
use super::pin::PinOutcome;
use super::plan::{Plan, Target, today};
use super::repeat::{self, Purpose};
use super::{Error, check_lock, fleet, secrets};
use crate::baseline::store;
use crate::interop::compare::Placed;
use crate::interop::toolpin::FILE_NAME;
use crate::interop::toolpin::write::Server;
use crate::interop::{Lock, Update};
use crate::policy::{Enforcement, Policy, check_version};
use crate::report::{Comparison, Cost, Located, Report, ServerReport, Status};
use crate::surface::Surface;

/// Whether what a plan pins goes into another tool's file: one that is there already, or a lock that was asked for.
pub(crate) fn is_foreign(plan: &Plan, lock: bool) -> Result<bool, Error> {
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        if Lock::read(&path)?.is_some() {
            return Ok(true);
        }
        let is_lock = path.file_name().is_some_and(|name| name == FILE_NAME);
        if !path.exists() && (lock || is_lock) {
            return Ok(true);
        }
        if lock {
            return Err(Error::usage(
                format!("{} is not a ToolPin lock", path.display()),
                format!("name one: --baseline {FILE_NAME}"),
            ));
        }
    }
    Ok(false)
}

pub(crate) async fn pin_all(
    plan: Plan,
    jobs: usize,
    observer: Arc<dyn Observer>,
) -> Result<PinOutcome, Error> {
    let plan = Arc::new(plan);
    observer.begin(plan.targets.len());
    for target in &plan.targets {
        check_lock::whole_definitions(target, &plan.baseline_of(target))?;
    }
    let observed = {
        let plan = Arc::clone(&plan);
        fleet::each(plan.targets.len(), jobs, move |index, job| {
            let (target, whole) = (&plan.targets[index], Policy::default());
            let observed = repeat::require(target, None, &whole, Purpose::Pin, &*observer);
            let observed = job.run(observed);
            observer.finished();
            observed
        })
        .await?
    };
    let mut servers = Vec::new();
    let mut written: Vec<PathBuf> = Vec::new();
    let mut failed = Vec::new();
    // One after another: each reads what the one before has written.
    for (target, observed) in plan.targets.iter().zip(observed) {
        let path = plan.baseline_of(target);
        match observed.and_then(|observed| pin(target, &path, &observed.captured.surface)) {
            Ok((report, changed)) => {
                servers.push(report);
                if changed && !written.contains(&path) {
                    written.push(path);
                }
            }
            Err(error) => failed.push(error),
        }
    }
    Ok(PinOutcome {
        report: Report::new(Comparison::Pin { written }, servers, Vec::new()),
        failed,
    })
}

fn pin(target: &Target, path: &Path, surface: &Surface) -> Result<(ServerReport, bool), Error> {
    // From reading to writing: another entry of this file may be pinned at the same time.
    let _lock = store::lock(path)?;
    let before = Lock::read(path)?;
    if before.is_none() && target.endpoint.http().is_some() {
        return Err(Error::usage(
            format!(
                "{}: there is no lock to pin a server over HTTP in",
                path.display()
            ),
            "let ToolPin write it first, then pin into it; or pin into a baseline of our own: leave out --format",
        ));
    }
    let name = if target.is_unnamed() {
        surface.server_name().unwrap_or(&target.name)
    } else {
        &target.name
    };
    let launch = target.endpoint.launch();
    // An argument can hold a secret, and a lock is committed.
    let words = launch.iter().flat_map(|it| &it.command);
    let command: Vec<String> = words.map(|word| secrets::clean(word)).collect();
    let server = Server {
        name,
        version: surface.server_version().unwrap_or("0.0.0"),
        command: &command,
        secrets: launch.map_or_else(Vec::new, |it| it.pass_env.iter().cloned().collect()),
    };
    let Update { changes, text } = match before {
        None => Update {
            changes: Vec::new(),
            text: Some(Lock::create(path, &server, surface, now())?),
        },
        Some(lock) => lock.update(target.asked(), &server, surface, now())?,
    };
    let changed = match text {
        Some(text) => store::write(path, &text)?,
        None => false,
    };
    Ok((report(target, surface, changes), changed))
}

/// The time since 1970.
fn now() -> std::time::Duration {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}

fn report(target: &Target, surface: &Surface, changes: Vec<Placed>) -> ServerReport {
    // What is pinned is accepted: it is told, and nothing fails.
    let policy = Policy {
        enforcement: Enforcement::Audit,
        ..Policy::default()
    };
    let changes: Vec<_> = changes.into_iter().map(|(change, _)| change).collect();
    let status = if changes.is_empty() {
        Status::Clean
    } else {
        Status::Drifted
    };
    let located = |judged| Located {
        judged,
        location: None,
        source: None,
    };
    ServerReport {
        name: target.name.clone(),
        status,
        changes: policy
            .judge(&target.name, changes, today())
            .into_iter()
            .map(located)
            .collect(),
        findings: surface
            .notes
            .iter()
            .map(|note| finding(&policy, note.clone()))
            .collect(),
        version: check_version(None, surface.server_version(), None),
        cost: Cost {
            baseline: 0,
            current: Cost::tokens(surface),
        },
        components: surface.components.len(),
        accept_with: target.pin_command.clone(),
    }
}

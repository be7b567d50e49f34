//! Pinning servers into the file of another tool: a ToolPin lock, or FastMCP's flat manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge_server::finding;
use super::observer::Observer;
use super::pin::PinOutcome;
use super::plan::{Plan, Target, today};
use super::repeat::{self, Purpose};
use super::{Error, check_lock, fleet, secrets};
use crate::baseline::foreign::Foreign;
use crate::baseline::foreign::toolpin_write::{Server, relock};
use crate::baseline::store;
use crate::canonical::{Json, Object, Text, parse, to_pretty};
use crate::drift::pinned;
use crate::fingerprint::{Profile, manifest};
use crate::policy::{Enforcement, Policy, check_version};
use crate::report::{Comparison, Cost, Located, Report, ServerReport, Status};
use crate::surface::Surface;

/// ToolPin's name for its lock.
pub(crate) const LOCK: &str = "mcp-lock.json";

/// Whether what a plan pins goes into another tool's file: one that is there already, or a lock that was asked for.
pub(crate) fn is_foreign(plan: &Plan, lock: bool) -> Result<bool, Error> {
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        if check_lock::read(&path)?.is_some() {
            return Ok(true);
        }
        let is_lock = path.file_name().is_some_and(|name| name == LOCK);
        if !path.exists() && (lock || is_lock) {
            return Ok(true);
        }
        if lock {
            return Err(Error::usage(
                format!("{} is not a ToolPin lock", path.display()),
                format!("name one: --baseline {LOCK}"),
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
    let refused = |error: &dyn std::fmt::Display| {
        Error::usage(
            format!("{}: {error}", path.display()),
            "the convention of this file has no digest for such a tool",
        )
    };
    // From reading to writing: another entry of this file may be pinned at the same time.
    let _lock = store::lock(path)?;
    let before = check_lock::read(path)?;
    if before.is_none() && target.endpoint.http().is_some() {
        return Err(Error::usage(
            format!(
                "{}: there is no lock to pin a server over HTTP in",
                path.display()
            ),
            "let ToolPin write it first, then pin into it; or pin into a baseline of our own: leave out --format",
        ));
    }
    let mut changes = Vec::new();
    let text = match before.as_ref().map(|file| &file.pins) {
        None => Some(lock(None, &[], target, surface).map_err(|error| refused(&error))?),
        Some(Foreign::ToolPin(lock_of)) => {
            let keys: Vec<String> = lock_of
                .entries
                .iter()
                .filter(|(key, plan)| {
                    *key == *target.name
                        || *target.name == *plan.name.to_string_lossy()
                        || target.is_unnamed()
                })
                .map(|(key, _)| key.to_string_lossy().to_owned())
                .collect();
            for (key, plan) in &lock_of.entries {
                let key = key.to_string_lossy();
                if keys.iter().any(|it| it == key) {
                    changes.extend(
                        pinned::toolpin(key, plan, surface).map_err(|error| refused(&error))?,
                    );
                }
            }
            let document = crate::bounded::read(path)
                .ok()
                .and_then(|bytes| parse(&bytes).ok());
            // What is pinned already is not written again: a lock states times, and they would be all that changed.
            if !keys.is_empty() && changes.is_empty() {
                None
            } else {
                Some(
                    lock(document.as_ref(), &keys, target, surface)
                        .map_err(|error| refused(&error))?,
                )
            }
        }
        Some(Foreign::FastMcp(pins)) => {
            changes = pinned::fastmcp(pins, surface).map_err(|error| refused(&error))?;
            let digests =
                manifest(surface, Profile::FastMcp, &[]).map_err(|error| refused(&error))?;
            let object = digests
                .into_iter()
                .map(|(key, hex)| (Text::from(key), Json::string(hex)))
                .collect::<Object>();
            Some(to_pretty(&Json::Object(object)) + "\n")
        }
        Some(other) => {
            return Err(Error::usage(
                format!(
                    "{} is {}, which mcp-keel reads and does not write",
                    path.display(),
                    other.format()
                ),
                "write it with the tool that it belongs to, or pin into a baseline of our own with --baseline FILE",
            ));
        }
    };
    let changed = match text {
        Some(text) => store::write(path, &text)?,
        None => false,
    };
    Ok((report(target, surface, changes), changed))
}

fn lock(
    before: Option<&Json>,
    keys: &[String],
    target: &Target,
    surface: &Surface,
) -> Result<String, crate::baseline::foreign::toolpin_write::WriteError> {
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
    relock(before, keys, &server, surface, &now())
}

/// Now, as ECMAScript's `toISOString` writes it.
fn now() -> String {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = since.as_secs();
    let day = crate::policy::Date::from_unix_seconds(seconds);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!(
        "{day}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        since.subsec_millis()
    )
}

fn report(target: &Target, surface: &Surface, changes: Vec<pinned::Placed>) -> ServerReport {
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

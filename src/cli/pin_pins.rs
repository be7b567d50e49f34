//! `mcp-keel pin` into the file of another tool: a ToolPin lock, or FastMCP's flat manifest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check_pins;
use super::compared::finding;
use super::pin::outcome;
use super::plan::{Plan, Target, today};
use super::progress::Progress;
use super::repeat::{self, Purpose};
use super::{Error, Exit, PinArgs, fleet, output, secrets};
use crate::baseline::store;
use crate::interop::compare::Placed;
use crate::interop::toolpin::FILE_NAME;
use crate::interop::toolpin::signature::{self, PrivateKey};
use crate::interop::toolpin::write::Server;
use crate::interop::{Lock, Update, Verification};
use crate::policy::{Enforcement, Policy, check_version};
use crate::report::escape;
use crate::report::{Comparison, Cost, Located, Report, ServerReport, Status};
use crate::surface::Surface;

/// Whether what a plan pins goes into another tool's file: one that is there already, or a lock that was asked for.
pub(super) fn is_foreign(plan: &Plan, lock: bool) -> Result<bool, Error> {
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

pub(super) async fn run(args: &PinArgs, plan: Plan) -> Result<Exit, Error> {
    let signer = args.sign_key.as_deref().map(PrivateKey::read).transpose()?;
    let plan = Arc::new(plan);
    let progress = Progress::start(args.report.quiet).of(plan.targets.len());
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        check_pins::whole_definitions(target, &path)?;
        if signer.is_some() && Lock::read(&path)?.is_some_and(|lock| !lock.can_be_signed()) {
            return Err(Error::usage(
                format!(
                    "--sign-key signs a ToolPin lock, and {} is not one",
                    path.display()
                ),
                "leave --sign-key out",
            ));
        }
    }
    let observed = {
        let plan = Arc::clone(&plan);
        fleet::each(plan.targets.len(), args.jobs.count(), move |index, job| {
            let (target, whole) = (&plan.targets[index], Policy::default());
            let observed = repeat::require(target, None, &whole, Purpose::Pin, &progress);
            let observed = job.run(observed);
            progress.finished();
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
    let locks: BTreeSet<PathBuf> = plan.targets.iter().map(|it| plan.baseline_of(it)).collect();
    for lock in locks.iter().filter(|_| failed.is_empty()) {
        match &signer {
            Some(key) => sign(args, lock, locks.len(), key)?,
            None if written.contains(lock) => warn_of_signature(lock),
            None => {}
        }
    }
    let report = Report::new(Comparison::Pin { written }, servers, Vec::new());
    if !report.servers.is_empty() {
        output::deliver(&report, &args.report)?;
    }
    outcome(failed)
}

fn pin(target: &Target, path: &Path, surface: &Surface) -> Result<(ServerReport, bool), Error> {
    // From reading to writing: another entry of this file may be pinned at the same time.
    let _lock = store::lock(path)?;
    let before = Lock::read(path)?;
    if before.is_none() && target.reach.http().is_some() {
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
    let launch = target.reach.launch();
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

/// Signs a lock that was pinned, unless the signature that is there still covers it.
fn sign(args: &PinArgs, lock: &Path, locks: usize, key: &PrivateKey) -> Result<(), Error> {
    if locks > 1 && args.signature.is_some() {
        return Err(Error::usage(
            format!("--signature names one file, and {locks} locks were pinned"),
            "leave it out: each signature is then beside its lock",
        ));
    }
    let file = signature::file(lock, args.signature.as_deref());
    let policy = args.toolpin_policy.as_deref();
    match Verification::of(lock)?.sign(&file, key, policy, now())? {
        Some(text) => store::replace(&file, text.as_bytes()).map_err(|error| {
            Error::usage(
                format!("{}: cannot write it: {error}", file.display()),
                "check the path and its permissions",
            )
        }),
        None => Ok(()),
    }
}

/// A signature that covers what the lock was.
fn warn_of_signature(lock: &Path) {
    let file = signature::file(lock, None);
    if lock.file_name().is_some_and(|name| name == FILE_NAME) && file.exists() {
        output::complain(&format!(
            "warning: {} covers {} as it was before; sign it again with --sign-key",
            escape::short(&file.display().to_string(), 200),
            escape::short(&lock.display().to_string(), 200)
        ));
    }
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

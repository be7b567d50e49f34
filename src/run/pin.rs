//! Pins servers: capture, write the baseline, and report what was accepted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::baseline::{Baseline, whole_definitions};
use super::judge_server::{AgainstLock, SurfacePair, finding};
use super::observer::Observer;
use super::plan::{Plan, Target, plan, since_1970, today};
use super::repeat::{self, Purpose};
use super::request::ServerRequest;
use super::sign_lock::{SignRequest, Signer, not_a_lock};
use super::{Error, fleet, secrets};
use crate::baseline::{Manifest, server_entry, store, with_launch};
use crate::canonical::Json;
use crate::interop::toolpin::FILE_NAME;
use crate::interop::toolpin::write::Server;
use crate::interop::{Lock, Update};
use crate::policy::{Enforcement, Policy};
use crate::release::Release;
use crate::report::{Comparison, Report, ServerReport};
use crate::settings::{BASELINE, Given};
use crate::surface::Surface;

/// What to pin, and how.
pub(crate) struct PinRequest {
    pub(crate) server: ServerRequest,
    /// How many servers run in parallel.
    pub(crate) jobs: usize,
    /// Whether to write a ToolPin lock.
    pub(crate) lock: bool,
    /// How to sign it.
    pub(crate) sign: SignRequest,
}

impl PinRequest {
    pub(crate) fn new(given: &Given, lock: bool, sign: SignRequest) -> Self {
        let mut given = given.clone();
        if lock && !given.has(BASELINE) {
            given.set(BASELINE, vec![FILE_NAME.into()]);
        }
        Self {
            server: ServerRequest::new(&given),
            jobs: fleet::jobs(&given),
            lock,
            sign,
        }
    }
}

/// What was pinned, and what was not.
pub(crate) struct PinOutcome {
    pub(crate) report: Report,
    pub(crate) failed: Vec<Error>,
}

/// Captures every requested server and writes its baseline. A failing server does not prevent the
/// others from being pinned; its entry stays unchanged.
pub(crate) async fn pin(
    request: PinRequest,
    observer: Arc<dyn Observer>,
) -> Result<PinOutcome, Error> {
    let mut plan = plan(&request.server, None, &*observer)?;
    let mut failed = Vec::new();
    let destinations = destinations(&mut plan, request.lock, &mut failed)?;
    let signer = signer(&destinations, request.sign)?;
    let paths: Vec<PathBuf> = plan
        .targets
        .iter()
        .map(|target| plan.baseline_of(target))
        .collect();
    observer.begin(plan.targets.len());
    let destinations = Arc::new(destinations);
    let before = Arc::clone(&destinations);
    let plan = Arc::new(plan);
    let observed = {
        let (plan, observer) = (Arc::clone(&plan), Arc::clone(&observer));
        fleet::each(plan.targets.len(), request.jobs, move |index, job| {
            let target = &plan.targets[index];
            let destination = &destinations[&plan.baseline_of(target)];
            let observed = job.run(capture_to_pin(
                target,
                destination,
                &plan.policy,
                &*observer,
            ));
            observer.finished();
            observed
        })
        .await?
    };

    let mut by_file: BTreeMap<&Path, BTreeMap<String, Json>> = BTreeMap::new();
    let mut servers = Vec::new();
    let mut written: Vec<PathBuf> = Vec::new();
    for ((target, path), observed) in plan.targets.iter().zip(&paths).zip(observed) {
        match observed {
            Ok(Pinnable::Entry(report, entry)) => {
                let entries = by_file.entry(path).or_default();
                entries.insert(target.name.clone(), entry);
                servers.push((path, *report));
            }
            // One after another: each reads what the one before has written.
            Ok(Pinnable::Surface(surface)) => match write_lock(target, path, &surface) {
                Ok((report, changed)) => {
                    servers.push((path, report));
                    if changed && !written.contains(path) {
                        written.push(path.clone());
                    }
                }
                Err(error) => failed.push(error),
            },
            Err(error) => failed.push(error),
        }
    }
    for (path, entries) in by_file {
        match store::set_servers(path, before[path].own(), entries) {
            Ok(true) => written.push(path.to_owned()),
            Ok(false) => {}
            Err(error) => {
                servers.retain(|(of, _)| *of != path);
                failed.push(error.into());
            }
        }
    }
    // In the order of the plan, not of the file names.
    written.sort_by_key(|path| paths.iter().position(|it| it == path));
    if failed.is_empty() {
        signer.sign(&written, &*observer)?;
    }
    let servers = servers.into_iter().map(|(_, report)| report).collect();
    let findings = plan.differing_profiles().into_iter();
    let findings = findings.map(|note| finding(&accepting(), note)).collect();
    Ok(PinOutcome {
        report: Report::new(Comparison::Pin { written }, servers, findings),
        failed,
    })
}

/// The file that a server is pinned in, before writing.
enum Destination {
    /// mcp-keel's own, or none yet.
    Own(Option<Manifest>),
    /// Another tool's, which is read again when it is written.
    Lock,
}

impl Destination {
    fn own(&self) -> Option<&Manifest> {
        match self {
            Self::Own(manifest) => manifest.as_ref(),
            Self::Lock => None,
        }
    }
}

/// A captured server, reduced to what its destination needs.
enum Pinnable {
    /// For an mcp-keel baseline.
    Entry(Box<ServerReport>, Json),
    /// For another tool's lock.
    Surface(Box<Surface>),
}

/// The files that a plan pins into: mcp-keel's own, or another tool's if it exists or was
/// requested. Servers with an invalid file are removed from the plan.
fn destinations(
    plan: &mut Plan,
    lock: bool,
    failed: &mut Vec<Error>,
) -> Result<BTreeMap<PathBuf, Destination>, Error> {
    let mut names: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
    for target in &plan.targets {
        let of_file = names.entry(plan.baseline_of(target)).or_default();
        of_file.push(&target.name);
    }
    let mut destinations = BTreeMap::new();
    let mut broken = Vec::new();
    for (path, names) in names {
        let destination = match Baseline::for_update(&path, &names) {
            Ok(Some(Baseline::Lock(_))) => Destination::Lock,
            Ok(None) if lock || path.file_name().is_some_and(|it| it == FILE_NAME) => {
                Destination::Lock
            }
            Ok(_) if lock => {
                return Err(Error::usage(
                    format!("{} is not a ToolPin lock", path.display()),
                    format!("name one: --baseline {FILE_NAME}"),
                ));
            }
            Ok(Some(Baseline::Own(manifest))) => Destination::Own(Some(manifest)),
            Ok(None) => Destination::Own(None),
            Err(error) => {
                failed.push(error);
                broken.push(path);
                continue;
            }
        };
        destinations.insert(path, destination);
    }
    let pattern = plan.pattern.clone();
    plan.targets
        .retain(|target| !broken.contains(&store::path_for(&pattern, &target.name)));
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        if matches!(destinations[&path], Destination::Lock) {
            whole_definitions(target, &path)?;
        }
    }
    Ok(destinations)
}

/// The signer of the locks among the files. A key for anything else is a mistake.
fn signer(
    destinations: &BTreeMap<PathBuf, Destination>,
    request: SignRequest,
) -> Result<Signer, Error> {
    let is_lock = |it: &Destination| matches!(it, Destination::Lock);
    if request.key.is_some() && !destinations.values().all(is_lock) {
        return Err(not_a_lock("this baseline is mcp-keel's own"));
    }
    let locks = destinations.iter().filter(|(_, it)| is_lock(it));
    Signer::new(locks.map(|(path, _)| path.clone()).collect(), request)
}

async fn capture_to_pin(
    target: &Target,
    destination: &Destination,
    policy: &Policy,
    observer: &dyn Observer,
) -> Result<Pinnable, Error> {
    let Destination::Own(manifest) = destination else {
        // A digest covers a whole definition, whatever the policy tolerates.
        let whole = Policy::default();
        let observed = repeat::require(target, None, &whole, Purpose::Pin, observer).await?;
        return Ok(Pinnable::Surface(Box::new(observed.captured.surface)));
    };
    let pinned = manifest
        .as_ref()
        .and_then(|manifest| manifest.servers().get(&target.name));
    // The version may now come from another source; pinning records it.
    let release = target.release(None)?;
    let before = pinned.map(|pinned| &pinned.surface);
    let observed = repeat::require(target, before, policy, Purpose::Pin, observer).await?;
    let surface = &observed.captured.surface;
    let release = release.unwrap_or_else(|| Release::of_server(surface));
    let entry = with_launch(server_entry(surface, &release), &target.launch_to_pin());
    let compared = SurfacePair {
        name: &target.name,
        old: pinned.map(|pinned| (&pinned.surface, &pinned.release)),
        new: Some((surface, &release)),
        manifest: None,
        accept_with: &target.pin_command,
        servers: 1,
        notes: &target.notes(pinned),
    };
    let report = compared.judge_server(&accepting(), today());
    Ok(Pinnable::Entry(Box::new(report), entry))
}

/// Pins a surface in another tool's file. Returns whether the file changed.
fn write_lock(
    target: &Target,
    path: &Path,
    surface: &Surface,
) -> Result<(ServerReport, bool), Error> {
    // Held from reading to writing: another entry of this file may be pinned at the same time.
    let _lock = store::lock(path)?;
    let before = Lock::read(path)?;
    if before.is_none() && target.endpoint.http().is_some() {
        return Err(Error::usage(
            format!(
                "{}: there is no lock to pin a server over HTTP in",
                path.display()
            ),
            "let ToolPin write it first, then pin into it; or pin into an mcp-keel baseline: omit --format",
        ));
    }
    let name = if target.is_unnamed() {
        surface.server_name().unwrap_or(&target.name)
    } else {
        &target.name
    };
    let launch = target.endpoint.launch();
    // An argument may be a secret, and a lock is committed.
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
            text: Some(Lock::create(path, &server, surface, since_1970())?),
        },
        Some(lock) => lock.update(target.asked(), &server, surface, since_1970())?,
    };
    let changed = match text {
        Some(text) => store::write(path, &text)?,
        None => false,
    };
    let against = AgainstLock {
        name: &target.name,
        changes,
        places: None,
        surface: Some(surface),
        notes: surface.notes.clone(),
        accept_with: &target.pin_command,
    };
    Ok((against.judge_server(&accepting(), today()), changed))
}

/// Pinning accepts everything: it is reported, and nothing fails.
fn accepting() -> Policy {
    Policy {
        enforcement: Enforcement::Audit,
        ..Policy::default()
    }
}

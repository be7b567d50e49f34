//! Pins servers: capture, write the baseline, and report what was accepted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::baseline::{Baseline, whole_definitions};
use super::captured::server_slug;
use super::fleet::{self, Jobs};
use super::judge_server::{AgainstLock, SurfacePair, finding};
use super::observer::Observer;
use super::plan::{Plan, Target, plan, since_1970, today};
use super::repeat::{self, Purpose};
use super::request::ServerRequest;
use super::sign_lock::{SignRequest, Signer, not_a_lock};
use super::{Error, secrets};
use crate::baseline::{Manifest, Pinned, server_entry, store, with_launch};
use crate::canonical::Json;
use crate::interop::toolpin::FILE_NAME;
use crate::interop::toolpin::write::Server;
use crate::interop::{Lock, Update};
use crate::policy::{Enforcement, Policy};
use crate::release::Release;
use crate::report::{Comparison, Finding, Report, ServerReport, Status};
use crate::settings::{BASELINE, Given};
use crate::surface::Surface;

/// What to pin, and how.
pub(crate) struct PinRequest {
    pub(crate) server: ServerRequest,
    /// How many servers run in parallel.
    pub(crate) jobs: Jobs,
    /// Whether to write a ToolPin lock.
    pub(crate) lock: bool,
    /// How to sign it.
    pub(crate) sign: SignRequest,
    /// Whether to replace an entry that was changed by hand.
    pub(crate) force: bool,
    /// Whether to remove entries of servers that the configuration no longer has.
    pub(crate) prune: bool,
    /// Whether to pin on the default branch in CI too.
    pub(crate) yes: bool,
}

impl PinRequest {
    /// Without any of the switches.
    pub(crate) fn new(given: &Given, lock: bool, sign: SignRequest) -> Self {
        let mut given = given.clone();
        if lock && !given.has(BASELINE) {
            given.set(BASELINE, vec![FILE_NAME.into()]);
        }
        let mut server = ServerRequest::new(&given);
        // A lock's entries have names of their own.
        server.named_by_itself = !lock;
        Self {
            server,
            jobs: Jobs::new(&given),
            lock,
            sign,
            force: false,
            prune: false,
            yes: false,
        }
    }
}

/// What was pinned, and what was not.
pub(crate) struct PinOutcome {
    pub(crate) report: Report,
    /// Servers, by name, and why they were not pinned.
    pub(crate) failed: Vec<(String, Error)>,
    /// What servers list that were not in the baseline before.
    pub(crate) new: Vec<(String, Surface)>,
    /// Entries that were removed.
    pub(crate) pruned: Vec<String>,
}

/// Captures every requested server and writes its baseline. A failing server does not prevent the
/// others from being pinned; its entry stays unchanged.
pub(crate) async fn pin(
    request: PinRequest,
    observer: Arc<dyn Observer>,
) -> Result<PinOutcome, Error> {
    if !request.yes
        && let Some(branch) = super::ci::default_branch()
    {
        return Err(Error::usage(
            format!(
                "this is CI on the default branch, {branch}: pinning here approves what no one has reviewed"
            ),
            "pin on a branch and review the diff of the baseline, or add --yes if that is what this job is for",
        ));
    }
    let mut plan = plan(&request.server, None, &*observer)?;
    let skips = plan.targets.iter().any(Target::is_skipped);
    // Entries of servers that are left out are not superfluous.
    plan.complete &= !skips;
    if request.prune && !plan.complete {
        return Err(Error::usage(
            "--prune needs all servers of the configuration",
            "name no server, no command and nothing to skip, or remove single entries with `mcp-keel baseline remove NAME`",
        ));
    }
    plan.targets.retain(|target| {
        if target.is_skipped() {
            observer.note(&format!(
                "`{}` is skipped: its entry stays as it is",
                target.name
            ));
        }
        !target.is_skipped()
    });
    let mut failed = Vec::new();
    let destinations = destinations(&mut plan, &request, &mut failed)?;
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
        fleet::each(plan.targets.len(), request.jobs, async move |index| {
            let target = &plan.targets[index];
            let destination = &destinations[&plan.baseline_of(target)];
            let observed = capture_to_pin(target, destination, &plan, &*observer).await;
            observer.finished();
            observed
        })
        .await?
    };

    let mut by_file: BTreeMap<&Path, BTreeMap<String, Json>> = BTreeMap::new();
    let mut servers = Vec::new();
    let mut new = Vec::new();
    let mut written: Vec<PathBuf> = Vec::new();
    for ((target, path), observed) in plan.targets.iter().zip(&paths).zip(observed) {
        match observed {
            Ok(Pinnable::Entry(report, entry, surface)) => {
                let entries = by_file.entry(path).or_default();
                entries.insert(report.name.clone(), entry);
                if matches!(report.status, Status::New) {
                    new.push((report.name.clone(), *surface));
                }
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
                Err(error) => failed.push((target.name.clone(), error)),
            },
            Err(error) => failed.push((target.name.clone(), error)),
        }
    }
    for (path, entries) in by_file {
        match store::set_servers(path, before[path].own(), entries) {
            Ok(true) => written.push(path.to_owned()),
            Ok(false) => {}
            Err(error) => {
                let error = Error::from(error);
                let not_written = servers.iter().filter(|(of, _)| *of == path);
                let names: Vec<String> = not_written.map(|(_, it)| it.name.clone()).collect();
                new.retain(|(name, _)| !names.contains(name));
                servers.retain(|(of, _)| *of != path);
                failed.push((names.join(", "), error));
            }
        }
    }
    let mut pruned = Vec::new();
    if request.prune && failed.is_empty() {
        for (path, names) in superfluous(&plan, &before) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if store::remove_servers(&path, &names)? && !written.contains(&path) {
                written.push(path);
            }
            pruned.extend(names.iter().map(|it| (*it).to_owned()));
        }
    }
    // In the order of the plan, not of the file names.
    written.sort_by_key(|path| paths.iter().position(|it| it == path));
    if failed.is_empty() {
        signer.sign(&written, &*observer)?;
    }
    let servers = servers.into_iter().map(|(_, report)| report).collect();
    let findings = plan.differing_profiles().into_iter();
    let mut findings: Vec<Finding> = findings.map(|note| finding(&accepting(), note)).collect();
    // A server that was named just now is not in the plan under its name.
    let is_named = plan.targets.iter().all(|it| !it.is_unnamed());
    if failed.is_empty() && !request.lock && is_named {
        findings.extend(next_findings(&plan));
    }
    Ok(PinOutcome {
        report: Report::new(Comparison::Pin { written }, servers, findings),
        failed,
        new,
        pruned,
    })
}

/// What the next check will report about the run: acceptances that have served their purpose, entries without a server.
fn next_findings(plan: &Plan) -> Vec<Finding> {
    let Ok(baselines) = super::baseline::of_plan(plan) else {
        return Vec::new();
    };
    let findings = super::check::findings(plan, &baselines).into_iter();
    let notes = findings.map(|it| it.finding.note);
    notes.map(|note| finding(&accepting(), note)).collect()
}

/// Entries of baselines for which there is no server, by file.
fn superfluous(
    plan: &Plan,
    before: &BTreeMap<PathBuf, Destination>,
) -> Vec<(PathBuf, Vec<String>)> {
    let files = before.iter().filter_map(|(path, it)| {
        let servers = it.own()?.servers().keys();
        let is_known = |name: &&String| plan.targets.iter().any(|it| it.name == **name);
        let names: Vec<String> = servers.filter(|name| !is_known(name)).cloned().collect();
        (!names.is_empty()).then(|| (path.clone(), names))
    });
    files.collect()
}

/// The file that a server is pinned in, before writing.
enum Destination {
    /// mcp-keel's own, or none yet.
    Own(Option<Box<Manifest>>),
    /// Another tool's, which is read again when it is written.
    Lock,
}

impl Destination {
    fn own(&self) -> Option<&Manifest> {
        match self {
            Self::Own(manifest) => manifest.as_deref(),
            Self::Lock => None,
        }
    }
}

/// A captured server, reduced to what its destination needs.
enum Pinnable {
    /// For an mcp-keel baseline.
    Entry(Box<ServerReport>, Json, Box<Surface>),
    /// For another tool's lock.
    Surface(Box<Surface>),
}

/// The files that a plan pins into: mcp-keel's own, or another tool's if it exists or was
/// requested. Servers with an invalid file are removed from the plan.
fn destinations(
    plan: &mut Plan,
    request: &PinRequest,
    failed: &mut Vec<(String, Error)>,
) -> Result<BTreeMap<PathBuf, Destination>, Error> {
    let mut names: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
    for target in &plan.targets {
        let of_file = names.entry(plan.baseline_of(target)).or_default();
        of_file.push(&target.name);
    }
    let lock = request.lock;
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
            Ok(Some(Baseline::Own(manifest))) => match manifest.edited() {
                Some(edited) if !request.force => {
                    let error = Error::usage(
                        edited.to_string(),
                        "restore the committed file (`git checkout -- FILE`) and pin again, so that the drift is shown; \
                         `mcp-keel pin --force` replaces the entry whatever it was",
                    );
                    failed.push((names.join(", "), error));
                    broken.push(path);
                    continue;
                }
                _ => Destination::Own(Some(Box::new(manifest))),
            },
            Ok(None) => Destination::Own(None),
            Err(error) => {
                failed.push((names.join(", "), error));
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
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<Pinnable, Error> {
    let Destination::Own(manifest) = destination else {
        // A digest covers a whole definition, whatever the policy tolerates.
        let whole = Policy::default();
        let observed = repeat::require(target, None, &whole, Purpose::Pin, observer).await?;
        return Ok(Pinnable::Surface(Box::new(observed.captured.surface)));
    };
    let servers = manifest.iter().flat_map(|it| it.servers());
    let servers: BTreeMap<&String, &Pinned> = servers.collect();
    // The version may now come from another source; pinning records it.
    let release = target.release(None)?;
    let before = match servers.get(&target.name) {
        // A server without a name may be the only one of the baseline: it is asked as the same client.
        None if target.is_unnamed() && servers.len() == 1 => servers.values().next(),
        pinned => pinned,
    };
    let before = before.map(|pinned| &pinned.surface);
    let observed = repeat::require(target, before, &plan.policy, Purpose::Pin, observer).await?;
    let mut surface = observed.captured.surface;
    // A file per server has its name already.
    let name = if target.is_unnamed() && !store::is_split(&plan.pattern) {
        own_name(target, &servers, &surface)?
    } else {
        target.name.clone()
    };
    let pinned = servers.get(&name).copied();
    if let Some(pinned) = pinned {
        surface.keep_unseen_of(&pinned.surface);
    }
    let release = release.unwrap_or_else(|| Release::of_server(&surface));
    let entry = with_launch(server_entry(&surface, &release), &target.launch_to_pin());
    let compared = SurfacePair {
        name: &name,
        old: pinned.map(|pinned| (&pinned.surface, &pinned.release)),
        new: Some((&surface, &release)),
        manifest: None,
        accept_with: &target.pin_command,
        servers: 1,
        notes: &target.notes(pinned),
    };
    let report = compared.judge_server(&accepting(), today());
    Ok(Pinnable::Entry(Box::new(report), entry, Box::new(surface)))
}

/// The name of a server for which none was given: that of its entry, or the one that it gives itself.
fn own_name(
    target: &Target,
    servers: &BTreeMap<&String, &Pinned>,
    surface: &Surface,
) -> Result<String, Error> {
    if servers.contains_key(&target.name) {
        return Ok(target.name.clone());
    }
    let said = surface.server_name();
    let same = |pinned: &Pinned| pinned.surface.server_name() == said;
    let known: Vec<&&String> = servers
        .iter()
        .filter(|(_, pinned)| same(pinned))
        .map(|(name, _)| name)
        .collect();
    if let [name] = known[..] {
        return Ok((*name).clone());
    }
    let name = said.map(server_slug).filter(|it| !it.is_empty());
    let name = name.unwrap_or_else(|| target.name.clone());
    if servers.contains_key(&name) {
        let known: Vec<&str> = servers.keys().map(|it| it.as_str()).collect();
        return Err(Error::usage(
            format!("the baseline has several servers, or another one that is called `{name}`"),
            format!(
                "name the one to pin before `--`: {}, or a new name",
                known.join(", ")
            ),
        ));
    }
    Ok(name)
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

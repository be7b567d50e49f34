//! Pins servers: captures them, and writes into the baseline what is accepted: everything, or whole components.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::baseline::{Baseline, whole_definitions};
use super::captured::server_slug;
use super::conflict::Conflicted;
use super::fleet::{self, Jobs};
use super::judge_server::{AgainstLock, SurfacePair, finding};
use super::observer::Observer;
use super::plan::{Plan, Target, plan, since_1970, today};
use super::repeat::{self, Purpose};
use super::request::ServerRequest;
use super::selection::{self, Choice, Chosen};
use super::sign_lock::{SignRequest, Signer, not_a_lock};
use super::touched::Branch;
use super::{Error, secrets};
use crate::baseline::{Manifest, Pinned, server_entry, store};
use crate::canonical::Json;
use crate::interop::toolpin::FILE_NAME;
use crate::interop::toolpin::write::Server;
use crate::interop::{Lock, Update};
use crate::locate::Declaration;
use crate::policy::{Enforcement, Policy};
use crate::release::Release;
use crate::report::{Comparison, Finding, Report, ServerReport, Status};
use crate::sentences::run as sentences;
use crate::settings::{BASELINE, Given};
use crate::surface::{Kind, Surface};

/// What to pin, and how.
pub(crate) struct PinRequest {
    pub(crate) server: ServerRequest,
    /// How many servers run in parallel.
    pub(crate) jobs: Jobs,
    /// Whether to write a ToolPin lock.
    pub(crate) lock: bool,
    /// How to sign it.
    pub(crate) sign: SignRequest,
    /// The components to accept, by name; all if there are none.
    pub(crate) only: Vec<String>,
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
            only: Vec::new(),
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
    /// How merge conflicts were resolved.
    pub(crate) resolved: Vec<String>,
    /// The names of what was not accepted and still differs, by server.
    pub(crate) left: Vec<(String, Vec<String>)>,
    /// Tools that were accepted although this branch does not touch them, by server, with their declarations.
    pub(crate) beyond: Vec<(String, BTreeMap<String, Declaration>)>,
}

/// What was captured, before anything is accepted.
pub(crate) struct Observation {
    plan: Arc<Plan>,
    destinations: Arc<BTreeMap<PathBuf, Destination>>,
    signer: Signer,
    lock: bool,
    prune: bool,
    observed: Vec<(usize, Pinnable)>,
    failed: Vec<(String, Error)>,
}

/// A captured server, reduced to what its destination needs.
enum Pinnable {
    /// For an mcp-keel baseline.
    Own(Box<Seen>),
    /// For another tool's lock.
    Lock(Box<Surface>),
}

/// A server as it was seen, and as it was pinned.
pub(crate) struct Seen {
    pub(crate) name: String,
    /// Its position in the plan.
    target: usize,
    pub(crate) path: PathBuf,
    /// What was seen, completed by what was pinned.
    pub(crate) surface: Surface,
    release: Release,
    /// Of what was seen, without that.
    observed: Surface,
    pub(crate) pinned: Option<Pinned>,
}

/// Captures every requested server and writes its baseline. A failing server does not prevent the
/// others from being pinned; its entry stays unchanged.
pub(crate) async fn pin(
    request: PinRequest,
    observer: Arc<dyn Observer>,
) -> Result<PinOutcome, Error> {
    let only = request.only.clone();
    let observation = observe(request, Purpose::Pin, Arc::clone(&observer)).await?;
    if only.is_empty() {
        return observation.write(None, &*observer);
    }
    let chosen = observation.chosen(&only)?;
    observation.write(Some(&chosen), &*observer)
}

/// Captures every requested server.
pub(crate) async fn observe(
    request: PinRequest,
    purpose: Purpose,
    observer: Arc<dyn Observer>,
) -> Result<Observation, Error> {
    if !request.yes
        && let Some(branch) = super::default_branch::in_ci()
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
            observer.note(&sentences::skipped_entry_stays(&target.name));
        }
        !target.is_skipped()
    });
    let mut failed = Vec::new();
    let destinations = destinations(&mut plan, &request, &mut failed)?;
    let signer = signer(&destinations, request.sign)?;
    observer.begin(plan.targets.len());
    let destinations = Arc::new(destinations);
    let plan = Arc::new(plan);
    let captured = {
        let (plan, observer) = (Arc::clone(&plan), Arc::clone(&observer));
        let destinations = Arc::clone(&destinations);
        fleet::each(plan.targets.len(), request.jobs, async move |index| {
            let destination = &destinations[&plan.baseline_of(&plan.targets[index])];
            let captured = capture(index, destination, &plan, purpose, &*observer).await;
            observer.finished();
            captured
        })
        .await?
    };
    let mut observed = Vec::new();
    for (index, captured) in captured.into_iter().enumerate() {
        match captured {
            Ok(pinnable) => observed.push((index, pinnable)),
            Err(error) => failed.push((plan.targets[index].name.clone(), error)),
        }
    }
    Ok(Observation {
        plan,
        destinations,
        signer,
        lock: request.lock,
        prune: request.prune,
        observed,
        failed,
    })
}

impl Observation {
    pub(crate) fn policy(&self) -> &Policy {
        &self.plan.policy
    }

    /// Servers that could not be captured, and why.
    pub(crate) fn failed(&self) -> &[(String, Error)] {
        &self.failed
    }

    /// The servers of mcp-keel's own baselines.
    pub(crate) fn seen(&self) -> impl Iterator<Item = &Seen> {
        self.observed.iter().filter_map(|(_, it)| match it {
            Pinnable::Own(seen) => Some(&**seen),
            Pinnable::Lock(_) => None,
        })
    }

    /// What differs between a server and its entry, or what differs after some of it was accepted.
    pub(crate) fn report(&self, seen: &Seen, accepted: &Surface, policy: &Policy) -> ServerReport {
        let target = &self.plan.targets[seen.target];
        let destination = self.destinations.get(&seen.path);
        let pinned = seen.pinned.as_ref();
        let compared = SurfacePair {
            name: &seen.name,
            old: pinned.map(|pinned| (&pinned.surface, &pinned.release)),
            new: Some((accepted, &seen.release)),
            manifest: destination.and_then(Destination::own),
            accept_with: &target.pin_command,
            servers: 1,
            notes: &target.notes(),
        };
        compared.judge_server(policy, today())
    }

    /// The components that these names mean, by server.
    fn chosen(&self, names: &[String]) -> Result<BTreeMap<String, Chosen>, Error> {
        if self.seen().next().is_none() {
            // Why nothing was captured is the better message.
            if !self.failed.is_empty() {
                return Ok(BTreeMap::new());
            }
            return Err(Error::usage(
                "--only accepts components into a baseline of mcp-keel, and there is none",
                "pin without it",
            ));
        }
        self.without_conflicts()?;
        let known: Vec<&Seen> = self.seen().collect();
        let choices: Vec<Choice<'_>> = known
            .iter()
            .filter_map(|seen| {
                Some(Choice {
                    server: &seen.name,
                    pinned: &seen.pinned.as_ref()?.surface,
                    seen: &seen.surface,
                })
            })
            .collect();
        if choices.is_empty() {
            return Err(Error::usage(
                format!("{} is not in the baseline yet", known[0].name),
                "pin it as a whole first, without --only",
            ));
        }
        let mut chosen: BTreeMap<String, Chosen> = BTreeMap::new();
        for name in names {
            let (index, meant) = selection::find(name, &choices)?;
            let choice = &choices[index];
            let of_server = chosen.entry(choice.server.to_owned()).or_default();
            of_server.add(meant.with_other_halves(choice.pinned, choice.seen));
        }
        Ok(chosen)
    }

    /// An error if a file has merge conflicts: they are resolved as a whole.
    pub(crate) fn without_conflicts(&self) -> Result<(), Error> {
        let mut files = self.destinations.iter();
        match files.find(|(_, it)| it.is_conflicted()) {
            None => Ok(()),
            Some((path, _)) => Err(Error::usage(
                format!("{} has merge conflicts", path.display()),
                "resolve them first: `mcp-keel pin`",
            )),
        }
    }

    /// Writes what was accepted: everything, or only what was chosen.
    pub(crate) fn write(
        self,
        chosen: Option<&BTreeMap<String, Chosen>>,
        observer: &dyn Observer,
    ) -> Result<PinOutcome, Error> {
        let mut entries: BTreeMap<PathBuf, BTreeMap<String, Json>> = BTreeMap::new();
        let mut servers: Vec<(PathBuf, ServerReport)> = Vec::new();
        let mut outcome = PinOutcome {
            report: Report::new(Comparison::Pin { written: Vec::new() }, Vec::new(), Vec::new()),
            failed: Vec::new(),
            new: Vec::new(),
            pruned: Vec::new(),
            resolved: Vec::new(),
            left: Vec::new(),
            beyond: Vec::new(),
        };
        let branch = chosen.is_none().then(Branch::here).flatten();
        let mut written: Vec<PathBuf> = Vec::new();
        let mut failed = Vec::new();
        for (index, pinnable) in &self.observed {
            let target = &self.plan.targets[*index];
            let path = self.plan.baseline_of(target);
            match pinnable {
                Pinnable::Own(seen) => {
                    let Some((surface, release)) = accepted(seen, chosen) else {
                        continue;
                    };
                    let report = self.report(seen, &surface, &accepting());
                    if let (Some(_), Some(pinned)) = (chosen, &seen.pinned) {
                        let left = selection::differing(&surface, &seen.surface);
                        if !left.is_empty() {
                            let names = selection::names(&left, &pinned.surface, &seen.surface);
                            outcome.left.push((seen.name.clone(), names));
                        }
                    }
                    if let Some(branch) = &branch
                        && matches!(report.status, Status::Drifted)
                    {
                        let beyond = beyond(branch, &report, &seen.surface);
                        if !beyond.is_empty() {
                            outcome.beyond.push((seen.name.clone(), beyond));
                        }
                    }
                    if matches!(report.status, Status::New) {
                        outcome.new.push((seen.name.clone(), surface.clone()));
                    }
                    let of_file = entries.entry(path.clone()).or_default();
                    of_file.insert(seen.name.clone(), server_entry(&surface, &release));
                    servers.push((path, report));
                }
                // One after another: each reads what the one before has written.
                Pinnable::Lock(surface) => match write_lock(target, &path, surface) {
                    Ok((report, changed)) => {
                        if changed && !written.contains(&path) {
                            written.push(path.clone());
                        }
                        servers.push((path, report));
                    }
                    Err(error) => failed.push((target.name.clone(), error)),
                },
            }
        }
        // A file with conflicts is resolved even if none of its servers could be captured.
        for (path, destination) in self.destinations.iter() {
            if destination.is_conflicted() {
                entries.entry(path.clone()).or_default();
            }
        }
        for (path, entries) in entries {
            match self.write_file(&path, entries) {
                Ok((changed, resolved)) => {
                    outcome.resolved.extend(resolved);
                    if changed {
                        written.push(path);
                    }
                }
                Err(error) => {
                    let not_written = servers.iter().filter(|(of, _)| *of == path);
                    let names: Vec<String> = not_written.map(|(_, it)| it.name.clone()).collect();
                    outcome.new.retain(|(name, _)| !names.contains(name));
                    servers.retain(|(of, _)| *of != path);
                    failed.push((names.join(", "), error));
                }
            }
        }
        failed.extend(self.failed);
        if self.prune && failed.is_empty() {
            for (path, names) in superfluous(&self.plan, &self.destinations) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                if store::remove_servers(&path, &names)? && !written.contains(&path) {
                    written.push(path);
                }
                outcome
                    .pruned
                    .extend(names.iter().map(|name| (*name).to_owned()));
            }
        }
        // In the order of the plan, not of the file names.
        let targets = self.plan.targets.iter();
        let paths: Vec<PathBuf> = targets.map(|target| self.plan.baseline_of(target)).collect();
        written.sort_by_key(|path| paths.iter().position(|other| other == path));
        if failed.is_empty() {
            self.signer.sign(&written, observer)?;
        }
        let servers = servers.into_iter().map(|(_, report)| report).collect();
        let findings = self.plan.differing_profiles().into_iter();
        let mut findings: Vec<Finding> = findings.map(|note| finding(&accepting(), note)).collect();
        // A server that was named just now is not in the plan under its name.
        let is_named = self.plan.targets.iter().all(|target| !target.is_unnamed());
        if failed.is_empty() && !self.lock && is_named {
            findings.extend(next_findings(&self.plan));
        }
        outcome.report = Report::new(Comparison::Pin { written }, servers, findings);
        outcome.failed = failed;
        Ok(outcome)
    }

    /// Writes entries of one file. Returns whether it changed, and how conflicts in it were resolved.
    fn write_file(
        &self,
        path: &Path,
        entries: BTreeMap<String, Json>,
    ) -> Result<(bool, Vec<String>), Error> {
        let destination = &self.destinations[path];
        let Destination::Conflicted(conflicted) = destination else {
            let changed = store::set_servers(path, destination.own(), entries)?;
            return Ok((changed, Vec::new()));
        };
        let seen = |server: &str| {
            let seen = self.seen().find(|seen| seen.path == path && seen.name == server);
            seen.map(|seen| &seen.observed)
        };
        let open = conflicted.open(seen);
        if !open.is_empty() {
            return Err(Error::usage(
                format!(
                    "{}: both sides of the merge changed {}, and it was not captured; nothing was written",
                    path.display(),
                    open.join(", ")
                ),
                "make the server start and pin again, or take one side as a whole (`git checkout --ours` or `--theirs`)",
            ));
        }
        let mut resolved: Vec<String> = entries
            .keys()
            .map(|server| format!("{server} is as the server lists it now"))
            .collect();
        resolved.extend(conflicted.taken(seen));
        let changed = conflicted.write(path, entries)?;
        let text = format!("{}: resolved: {}", path.display(), resolved.join("; "));
        Ok((changed, vec![text]))
    }
}

/// The changed tools that a branch does not touch.
fn beyond(
    branch: &Branch,
    report: &ServerReport,
    surface: &Surface,
) -> BTreeMap<String, Declaration> {
    let changes = report.changes.iter();
    let changed = changes.filter_map(|it| it.judged.change.component.as_ref()?.tool_name());
    let tools = surface.of_kind(Kind::Tool);
    let all = tools.filter_map(|tool| tool.key.tool_name());
    branch.not_touched(&changed.collect(), &all.collect())
}

/// What is written of a server, with its version; `None` if none of it was chosen.
fn accepted(
    seen: &Seen,
    chosen: Option<&BTreeMap<String, Chosen>>,
) -> Option<(Surface, Release)> {
    let Some(chosen) = chosen else {
        return Some((seen.surface.clone(), seen.release.clone()));
    };
    let chosen = chosen.get(&seen.name).filter(|it| !it.is_empty())?;
    match &seen.pinned {
        // A new server is accepted as a whole.
        None => Some((seen.surface.clone(), seen.release.clone())),
        Some(pinned) => {
            let release = if chosen.server {
                &seen.release
            } else {
                &pinned.release
            };
            let surface = chosen.taken(&pinned.surface, &seen.surface);
            Some((surface, release.clone()))
        }
    }
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
    /// mcp-keel's own, with merge conflicts.
    Conflicted(Box<Conflicted>),
    /// Another tool's, which is read again when it is written.
    Lock,
}

impl Destination {
    fn own(&self) -> Option<&Manifest> {
        match self {
            Self::Own(manifest) => manifest.as_deref(),
            Self::Conflicted(conflicted) => Some(&conflicted.manifest),
            Self::Lock => None,
        }
    }

    fn is_conflicted(&self) -> bool {
        matches!(self, Self::Conflicted(_))
    }
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
        if let Some(conflicted) = Conflicted::read(&path)? {
            destinations.insert(path, Destination::Conflicted(Box::new(conflicted)));
            continue;
        }
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

async fn capture(
    index: usize,
    destination: &Destination,
    plan: &Plan,
    purpose: Purpose,
    observer: &dyn Observer,
) -> Result<Pinnable, Error> {
    let target = &plan.targets[index];
    if let Destination::Lock = destination {
        // A digest covers a whole definition, whatever the policy tolerates.
        let whole = Policy::default();
        let observed = repeat::require(target, None, &whole, purpose, observer).await?;
        return Ok(Pinnable::Lock(Box::new(observed.captured.surface)));
    }
    let servers = destination.own().into_iter().flat_map(Manifest::servers);
    let servers: BTreeMap<&String, &Pinned> = servers.collect();
    // The version may now come from another source; pinning records it.
    let release = target.release(None)?;
    let before = match servers.get(&target.name) {
        // A server without a name may be the only one of the baseline: it is asked as the same client.
        None if target.is_unnamed() && servers.len() == 1 => servers.values().next(),
        pinned => pinned,
    };
    let before = before.map(|pinned| &pinned.surface);
    let observed = repeat::require(target, before, &plan.policy, purpose, observer).await?;
    let observed = observed.captured.surface;
    // A file per server has its name already.
    let name = if target.is_unnamed() && !store::is_split(&plan.pattern) {
        own_name(target, &servers, &observed)?
    } else {
        target.name.clone()
    };
    let pinned = servers.get(&name).map(|pinned| (*pinned).clone());
    let mut surface = observed.clone();
    if let Some(pinned) = &pinned {
        surface.keep_unseen_of(&pinned.surface);
    }
    Ok(Pinnable::Own(Box::new(Seen {
        name,
        target: index,
        path: plan.baseline_of(target),
        release: target.release_of(&surface, release.as_ref()),
        surface,
        observed,
        pinned,
    })))
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

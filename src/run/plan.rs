//! Resolves a request: which servers, how to start them, which baseline, which policy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use super::observer::Observer;
use super::request::{Part, PolicyRequest, ServerRequest, UNNAMED};

use super::base::Base;
use super::check_changes::{self, CheckChange};
use super::reviewed::Reviewed;
use super::server_lists::{Named, Withheld};
use super::suggested_command::pin_command;
use super::{Error, captured, endpoint, judged_files, secrets, server_lists};
use crate::baseline::{self, Pinned, store};
use crate::capture::http::Template;
use crate::capture::{Endpoint, Eras, Limits};
use crate::config::{ClientChoice, Config, ProfileName, ServerConfig, suggestion};
use crate::interop::Asked;
use crate::launch::LaunchSpec;
use crate::launch::sandbox::{self, Sandbox};
use crate::policy::{Date, Policy};
use crate::release::{Release, VersionSource};
use crate::settings::{self, Origin};
use crate::stability::mask::{self, Mask};
use crate::stability::profiles::differing;
use crate::surface::{ClientProfile, KnownClient, Note, Surface};
use crate::verify::jp::{self, Verified, Verify, VerifyError};
use crate::verify::launched::{self, LaunchLink};

/// Everything a command needs to know.
pub(crate) struct Plan {
    pub(crate) targets: Vec<Target>,
    /// Servers of the run that another part checks.
    pub(crate) others: Vec<Target>,
    pub(crate) part: Option<Part>,
    /// For a part: the servers of the whole run in order.
    pub(crate) order: Vec<String>,
    /// Where the baselines are.
    pub(crate) pattern: PathBuf,
    pub(crate) policy: Policy,
    /// Whether all servers of the configuration are among the targets.
    pub(crate) complete: bool,
    /// What the working folder changes about the check, where another word than its own counts.
    pub(crate) check_changes: Vec<CheckChange>,
    /// Whether a maintainer has accepted these.
    pub(crate) changes_accepted: bool,
    /// Where the baselines will be when the working folder's own word counts.
    pub(crate) next_pattern: PathBuf,
    /// The configuration, the lists of servers and the baselines, existing or not.
    pub(crate) judged_by: BTreeSet<PathBuf>,
}

/// Whose policy, acceptances, masks, verify blocks and path of the baseline count.
#[derive(Clone, Copy)]
pub(crate) enum Governing<'a> {
    /// Those of the working folder.
    Folder,
    /// Those of the base, which was reviewed. A maintainer may have accepted what the working folder changes.
    Base { base: &'a Base, accepted: bool },
    /// Those of the working folder, because the workflow says so. Variables still go where they went on the base.
    Head { base: Option<&'a Base> },
    /// The base cannot be read: the defaults, and the workflow's inputs.
    Defaults,
}

impl<'a> Governing<'a> {
    /// Whose configuration was reviewed.
    fn reviewed(self) -> Reviewed<'a> {
        match self {
            Self::Folder | Self::Base { accepted: true, .. } => Reviewed::Folder,
            Self::Base { base, .. } => Reviewed::Base(Some(base)),
            Self::Head { base } => Reviewed::Base(base),
            Self::Defaults => Reviewed::Base(None),
        }
    }
}

pub(crate) struct Target {
    pub(crate) name: String,
    /// The name of its table in the configuration.
    pub(crate) configured_as: String,
    pub(crate) endpoint: Endpoint,
    /// What it lists, if that is given: then it is not started.
    pub(crate) capture: Option<Surface>,
    /// The requested client identity.
    client: ClientChoice,
    /// The eras of the protocol to capture.
    pub(crate) eras: Eras,
    pub(crate) limits: Limits,
    pub(crate) profile: Option<ProfileName>,
    /// The captured surface of a profile, for comparing it with the others.
    pub(crate) seen: OnceLock<Surface>,
    /// Whether it sees a client that was chosen at random, which is not compared.
    pub(crate) is_suspicious: bool,
    /// How often to boot it, if set.
    pub(crate) repeat: Option<usize>,
    /// Texts to leave out of its surface.
    pub(crate) masks: Vec<Mask>,
    /// The command that accepts its current state.
    pub(crate) pin_command: String,
    /// Whether flags or inputs were given, for hints.
    pub(crate) origin: Origin,
    version: VersionSource,
    /// Which bytes to verify before it is started.
    pub(crate) verify: Option<Verify>,
    /// The line of a `checksum` in the old spelling.
    checksum_line: Option<usize>,
    /// The launch chain, link by link.
    pub(crate) launched: Vec<LaunchLink>,
    /// The sandbox of every command that its configuration names.
    sandbox: Sandbox,
    /// Why it is not started or contacted.
    pub(crate) withheld: Option<Withheld>,
    /// Which of its links get a digest.
    pub(crate) launch_digests: launched::Digests,
}

impl Target {
    pub(crate) fn is_skipped(&self) -> bool {
        self.withheld == Some(Withheld::Skipped)
    }

    pub(crate) fn is_unnamed(&self) -> bool {
        self.name == UNNAMED
    }

    /// How to look it up in another tool's file.
    pub(crate) fn asked(&self) -> Asked<'_> {
        Asked {
            name: &self.name,
            is_unnamed: self.is_unnamed(),
        }
    }

    /// A surface without the masked texts.
    pub(crate) fn masked(&self, surface: &Surface) -> Surface {
        let mut masked = surface.clone();
        mask::apply(&self.masks, &mut masked);
        masked
    }

    /// Compares bytes on disk with the approved ones.
    pub(crate) fn verify_bytes(&self) -> Result<Option<Verified>, VerifyError> {
        match (&self.verify, self.endpoint.launch()) {
            (Some(verify), Some(launch)) => jp::verify(&self.name, verify, launch),
            _ => Ok(None),
        }
    }

    /// Notes on how it is started, and which link changed since it was pinned.
    pub(crate) fn notes(&self, pinned: Option<&Pinned>) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.capture.is_some() {
            return notes;
        }
        if let Some(launch) = self.endpoint.launch() {
            let verify = self.verify.as_ref();
            notes.extend(jp::notes(verify, self.checksum_line));
            notes.extend(crate::verify::notes(launch));
            notes.extend(jp::false_safety(verify, launch));
        }
        // Without a launch chain in the baseline, no link can have changed.
        let is_known = self.withheld.is_none();
        if let Some(pinned) = pinned.filter(|pinned| is_known && !pinned.launch.is_empty()) {
            let mut changed = launched::compare(&pinned.launch, &self.launched);
            // Git is only asked if a link differs.
            if !changed.is_empty() {
                changed = launched::compare(&pinned.launch, &self.launch_to_pin());
            }
            notes.extend(changed);
        }
        notes
    }

    /// The launch chain as a baseline records it.
    pub(crate) fn launch_to_pin(&self) -> Vec<LaunchLink> {
        match (self.launch_digests, self.endpoint.launch()) {
            (launched::Digests::WorkingCopy, Some(launch)) => {
                let folder = launch.cwd.as_deref().unwrap_or(Path::new("."));
                launched::without_build_output(&self.launched, folder)
            }
            _ => self.launched.clone(),
        }
    }

    /// Whether it is a package or an address of a third party: its code is not here to be fixed.
    pub(crate) fn is_third_party(&self) -> bool {
        let is_remote = matches!(
            (&self.endpoint, self.endpoint.launch()),
            (Endpoint::Http(_), None)
        );
        is_remote
            || self
                .launched
                .iter()
                .any(|it| it.role == launched::Role::Launcher)
    }

    /// The version of the server's package, read before the server is started; `None` if only the
    /// server can report it.
    ///
    /// Unless the configuration names a source, the pinned one is used again: versions from two
    /// sources cannot be compared.
    pub(crate) fn release(&self, pinned: Option<&Release>) -> Result<Option<Release>, Error> {
        if self.withheld.is_some() {
            return Ok(None);
        }
        let launch = self.endpoint.launch();
        let folder = launch.and_then(|it| it.cwd.as_deref());
        let folder = folder.unwrap_or(Path::new("."));
        let command = launch.map_or(&[][..], |it| &it.command);
        let found = self.version.resolve(folder, command);
        let sandbox = self.sandbox;
        match (&self.version, pinned) {
            (VersionSource::Auto, Some(pinned)) => {
                let source = VersionSource::parse(&pinned.source);
                // If the manifest no longer exists, the version that the server reports is used.
                Ok(source.read(folder, sandbox).unwrap_or_default())
            }
            (VersionSource::Auto, None) => Ok(found.read(folder, sandbox).unwrap_or_default()),
            _ => found
                .read(folder, sandbox)
                .map_err(|error| Error::usage(error.to_string(), error.help())),
        }
    }

    /// The client identity for the server: the requested one, else the pinned one. What a server
    /// lists depends on it.
    pub(crate) fn client(&self, pinned: Option<&Surface>) -> ClientProfile {
        let usual = pinned
            .map(|pinned| pinned.client.clone())
            .unwrap_or_default();
        self.client.applied_to(usual)
    }
}

impl Plan {
    /// Every server of the run, including those that another part checks.
    pub(crate) fn all_targets(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().chain(&self.others)
    }

    /// Tools that differ between the profiles of a server.
    pub(crate) fn differing_profiles(&self) -> Vec<Note> {
        let mut servers: BTreeMap<&str, Vec<(&str, &Surface)>> = BTreeMap::new();
        for target in &self.targets {
            if let (Some(name), Some(seen)) = (&target.profile, target.seen.get()) {
                let profiles = servers.entry(&name.server).or_default();
                profiles.push((&name.profile, seen));
            }
        }
        servers
            .iter()
            .flat_map(|(server, profiles)| differing(server, profiles))
            .collect()
    }

    /// An error if a server lacks a variable or an answer, for commands that need every server.
    pub(crate) fn all_set(&self) -> Result<(), Error> {
        let unset = |it: &Target| match &it.withheld {
            Some(Withheld::Unset { problem, help }) => Some(Error::usage(problem, help)),
            _ => None,
        };
        self.targets.iter().find_map(unset).map_or(Ok(()), Err)
    }

    /// The file of a target's baseline.
    pub(crate) fn baseline_of(&self, target: &Target) -> PathBuf {
        store::path_for(&self.pattern, &target.name)
    }
}

/// Resolves servers and policy, and verifies the bytes of every server: everything in the plan may
/// be started.
pub(crate) fn plan(
    request: &ServerRequest,
    policy: Option<&PolicyRequest>,
    observer: &dyn Observer,
) -> Result<Plan, Error> {
    verified(resolve(request, policy, observer)?)
}

/// Verifies the bytes of a plan's servers.
pub(crate) fn verified(plan: Plan) -> Result<Plan, Error> {
    let failed: Vec<VerifyError> = plan
        .targets
        .iter()
        .filter_map(|target| target.verify_bytes().err())
        .collect();
    match failed.first() {
        None => Ok(plan),
        Some(first) => {
            let messages: Vec<String> = failed.iter().map(ToString::to_string).collect();
            Err(Error::verification(messages.join("\n"), first.help()))
        }
    }
}

/// Resolves servers and policy, without verifying bytes.
pub(crate) fn resolve(
    request: &ServerRequest,
    policy: Option<&PolicyRequest>,
    observer: &dyn Observer,
) -> Result<Plan, Error> {
    resolve_by(Governing::Folder, request, policy, observer)
}

/// The path of the baselines, `{server}` not yet filled in.
pub(crate) fn pattern(request: &ServerRequest, config: Option<&Config>) -> PathBuf {
    match (&request.baseline, config) {
        (Some(path), _) => path.clone(),
        (None, Some(config)) => {
            let default = config.folder.join(baseline::DEFAULT_PATH);
            tidy(config.baseline.clone().unwrap_or(default))
        }
        (None, None) => {
            let folder = request.config.as_deref().and_then(Path::parent);
            tidy(folder.unwrap_or(Path::new("")).join(baseline::DEFAULT_PATH))
        }
    }
}

/// [`resolve`], governed by something other than the working folder.
pub(crate) fn resolve_by(
    governing: Governing<'_>,
    request: &ServerRequest,
    policy: Option<&PolicyRequest>,
    observer: &dyn Observer,
) -> Result<Plan, Error> {
    let config = config(request.config.as_deref())?;
    let next_pattern = pattern(request, config.as_ref());
    let counts = match governing {
        Governing::Folder | Governing::Head { .. } => config.as_ref(),
        Governing::Base { base, .. } => base.config.read(),
        Governing::Defaults => None,
    };
    let mut pattern = pattern(request, counts);
    if pattern != next_pattern && is_gone(&pattern) {
        // It was moved. That is reported; the server is compared with what there is.
        pattern.clone_from(&next_pattern);
    }
    let typed_here = !request.command.is_empty() || request.url.is_some();
    let (named, complete) = if let Some(sources) = &request.capture {
        let server = captured::server(request, config.as_ref(), &pattern, sources, observer)?;
        (vec![server], false)
    } else if typed_here {
        let typed = typed(request, config.as_ref(), &pattern)?;
        let complete = config.as_ref().is_none_or(|config| {
            let is_typed = |name: &String| typed.iter().any(|(it, _)| it == name);
            config.servers.keys().all(is_typed) && config.from.is_empty()
        });
        let typed = typed.into_iter().map(|(name, server)| (name, Ok(server)));
        (typed.collect(), complete)
    } else {
        configured(request, config.as_ref(), observer)?
    };
    let usable = || {
        let named: &Named = &named;
        named
            .iter()
            .filter_map(|(name, it)| Some((name, it.as_ref().ok()?)))
    };
    endpoint::check_flags(request, usable())?;
    let mut unreviewed = Vec::new();
    if let Governing::Base { base, .. } = governing {
        let of_base = Reviewed::Base(Some(base));
        for (name, server) in usable() {
            unreviewed.extend(of_base.unreviewed(request, name, server));
        }
    }
    let targets = targets(request, governing, named)?;
    if request.given.switch(settings::SUSPICIOUS) {
        for target in &targets {
            let client = target.client(None);
            observer.note(&format!(
                "`{}` sees the client {}",
                target.name, client.name
            ));
        }
    }
    let mut policy_of_file = counts.map(|it| it.policy.clone()).unwrap_or_default();
    let (check_changes, changes_accepted) = match governing {
        Governing::Base { base, accepted } => {
            let of_base = self::pattern(request, base.config.read());
            let patterns = (of_base.as_path(), next_pattern.as_path());
            let changes =
                check_changes::check_changes(base, config.as_ref(), patterns, request, unreviewed)?;
            (changes, accepted)
        }
        _ => (Vec::new(), false),
    };
    if let Some(policy) = policy {
        policy.apply(&mut policy_of_file);
    }
    let mut judged_by = BTreeSet::from_iter(judged_files::of_request(request, config.as_ref()));
    for target in &targets {
        let patterns = [&pattern, &next_pattern];
        judged_by.extend(patterns.map(|it| store::path_for(it, &target.name)));
    }
    judged_files::keep(judged_by.iter().cloned());
    Ok(Plan {
        targets,
        others: Vec::new(),
        part: None,
        order: Vec::new(),
        pattern,
        policy: policy_of_file,
        complete,
        check_changes,
        changes_accepted,
        next_pattern,
        judged_by,
    })
}

/// The targets. A server that lacks a variable does not keep the others from being checked; if they all lack
/// one, there is nothing to check.
fn targets(
    request: &ServerRequest,
    governing: Governing<'_>,
    named: Named,
) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    for (name, server) in named {
        let (server, why) = match server {
            Ok(server) => (server, None),
            Err(why) => (ServerConfig::default(), Some(why)),
        };
        let server = governed(governing, &name, server);
        let is_started = request.capture.is_none();
        let why = why.or_else(|| {
            if !is_started {
                return None;
            }
            let unreviewed = governing.reviewed().unreviewed(request, &name, &server);
            (!unreviewed.is_empty()).then(|| Withheld::Unreviewed(unreviewed.join("; ")))
        });
        let built = match target(request, &name, server.clone(), why) {
            Err(error) if error.is_unset() => {
                let why = Withheld::Unset {
                    problem: error.message().to_owned(),
                    help: error.help().to_owned(),
                };
                target(request, &name, server, Some(why))?
            }
            built => built?,
        };
        targets.push(built);
    }
    let is_unset = |it: &Target| matches!(it.withheld, Some(Withheld::Unset { .. }));
    let unset: Vec<&Target> = targets.iter().filter(|it| is_unset(it)).collect();
    match &unset[..] {
        [] => {}
        // Nothing else is asked for.
        [.., last] if unset.len() == targets.len() => {
            let mut lines = Vec::new();
            let mut last_help = String::new();
            for it in &unset {
                if let Some(Withheld::Unset { problem, help }) = &it.withheld {
                    let is_last = it.name == last.name;
                    lines.push(if is_last {
                        problem.clone()
                    } else {
                        format!("{problem} ({help})")
                    });
                    last_help.clone_from(help);
                }
            }
            return Err(Error::unset(lines.join("\n"), last_help));
        }
        _ => {}
    }
    Ok(targets)
}

/// Whether no baseline is where one should be. With a file per server it is the folder that counts.
fn is_gone(pattern: &Path) -> bool {
    let place = if store::is_split(pattern) {
        let parent = pattern.parent().unwrap_or(pattern);
        if parent.as_os_str().is_empty() || store::is_split(parent) {
            return false;
        }
        parent
    } else {
        pattern
    };
    !place.exists()
}

/// What the working folder says of a server, as far as that is for it to say.
fn governed(governing: Governing<'_>, name: &str, server: ServerConfig) -> ServerConfig {
    let reviewed = match governing {
        Governing::Folder | Governing::Head { .. } | Governing::Base { accepted: true, .. } => {
            return server;
        }
        Governing::Base { base, .. } => base.server(name).cloned(),
        Governing::Defaults => None,
    };
    // A server that the base does not know has no mask that was reviewed.
    let reviewed = reviewed.unwrap_or_else(|| ServerConfig {
        masks: Vec::new(),
        ..server.clone()
    });
    let (verify, checksum_line) = match reviewed.verify {
        Some(verify) => (Some(verify), reviewed.checksum_line),
        // One that is new only refuses more.
        None => (server.verify, server.checksum_line),
    };
    // Without `..`: whose word counts is decided here for every new key.
    ServerConfig {
        // How it is started is the working folder's own; where its variables go is checked elsewhere.
        command: server.command,
        args: server.args,
        profile: server.profile,
        http: server.http,
        cwd: server.cwd,
        env: server.env,
        pass_env: server.pass_env,
        timeout: server.timeout,
        values: server.values,
        uses: server.uses,
        is_from_outside: server.is_from_outside,
        masks: reviewed.masks,
        client: reviewed.client,
        era: reviewed.era,
        version: reviewed.version,
        launch_digests: reviewed.launch_digests,
        // The stricter of both.
        verify,
        checksum_line,
        repeat: server.repeat.max(reviewed.repeat),
        settle: server.settle.max(reviewed.settle),
        read_resources: server.read_resources || reviewed.read_resources,
        sandbox: server.sandbox.max(reviewed.sandbox),
        sandbox_required: server.sandbox_required || reviewed.sandbox_required,
    }
}

/// `./mcp-baseline.json` means `mcp-baseline.json`.
fn tidy(path: PathBuf) -> PathBuf {
    path.strip_prefix(".").map(Path::to_owned).unwrap_or(path)
}

/// The configuration: the named file, or the default one if it exists.
pub(super) fn config(path: Option<&Path>) -> Result<Option<Config>, Error> {
    let default = Path::new(crate::config::DEFAULT_PATH);
    match path {
        Some(path) => {
            let mut config = Config::read(path)?;
            let is_from_outside = server_lists::is_outside(path, &sandbox::workspace());
            for server in config.servers.values_mut() {
                server.is_from_outside = is_from_outside;
            }
            Ok(Some(config))
        }
        None if default.exists() => Ok(Some(Config::read(default)?)),
        None => Ok(None),
    }
}

/// The server on the command line, with the configuration under its name.
fn typed(
    request: &ServerRequest,
    config: Option<&Config>,
    pattern: &Path,
) -> Result<Vec<(String, ServerConfig)>, Error> {
    let name = match &request.servers[..] {
        [] => saved_as(request, config)
            .or_else(|| only_pinned(pattern).filter(|_| !request.named_by_itself))
            .unwrap_or_else(|| UNNAMED.to_owned()),
        [name] => name.clone(),
        many => {
            return Err(Error::usage(
                format!(
                    "one {}, but {} server names: {}",
                    if request.url.is_some() {
                        "address"
                    } else {
                        "command"
                    },
                    many.len(),
                    many.join(", ")
                ),
                match request.url {
                    Some(_) => "at most one server name with --url",
                    None => "name at most one server before `--`",
                },
            ));
        }
    };
    let mut found = config.map_or_else(Vec::new, |config| config.named(&name));
    if found.is_empty() {
        found.push((name, ServerConfig::default()));
    }
    for (_, server) in &mut found {
        server.command.clone_from(&request.command);
        server.http = request.url.as_deref().map(endpoint::typed);
        if server.http.is_some() && request.start.is_none() {
            // The configuration of a process does not apply.
            server.verify = None;
            server.checksum_line = None;
        }
        // A typed command is relative to the current folder.
        server.cwd = None;
    }
    Ok(found)
}

/// The server of the configuration with this command or address.
fn saved_as(request: &ServerRequest, config: Option<&Config>) -> Option<String> {
    let is_same = |server: &ServerConfig| match (&request.url, &server.http) {
        (Some(url), Some(http)) => http.url == Template::new(url.clone()),
        (None, None) => server.command == request.command,
        _ => false,
    };
    let mut same = config?.servers.iter().filter(|(_, it)| is_same(it));
    let (name, _) = same.next()?;
    same.next().is_none().then(|| name.clone())
}

/// The one server of a baseline that has only one.
fn only_pinned(pattern: &Path) -> Option<String> {
    if store::is_split(pattern) {
        return None;
    }
    let manifest = store::read_for_update(pattern, &[]).ok()??;
    match manifest.servers().len() {
        1 => manifest.servers().keys().next().cloned(),
        _ => None,
    }
}

/// The requested servers, and whether they are all there are.
fn configured(
    request: &ServerRequest,
    config: Option<&Config>,
    observer: &dyn Observer,
) -> Result<(Named, bool), Error> {
    let mut known = server_lists::known(request, config, observer)?;
    if let [program, arguments @ ..] = &request.servers[..]
        && !known.contains_key(program)
        && is_program(program)
    {
        let words = std::iter::once(program)
            .chain(arguments)
            .map(|it| it.as_str());
        let line: Vec<&str> = words.collect();
        return Err(Error::usage(
            format!("`{program}` is a program, not the name of a server"),
            format!("a command goes after `--`: -- {}", line.join(" ")),
        ));
    }
    if known.is_empty() {
        let name_it = "For one run, name the server: a command after `--` (`mcp-keel check -- node \
            dist/index.js`), --url ADDRESS, or --from FILE for a client's list of servers";
        return Err(match config {
            _ if !request.from.is_empty() => Error::usage(
                "there is no server to check in the files named by --from",
                "a server needs a `command` or a `url` there, and must not be disabled",
            ),
            Some(_) => Error::usage(
                "the configuration has no server",
                format!(
                    "add [server.NAME] with command = [\"node\", \"dist/index.js\"] or url = \"...\" to mcp-keel.toml; `mcp-keel pin --save -- COMMAND` writes it. {name_it}"
                ),
            ),
            None => Error::usage(
                "no server: there is no mcp-keel.toml here and no command was given",
                format!("`mcp-keel init` sets this folder up. {name_it}"),
            ),
        });
    }
    let skipped = skipped(request, &known)?;
    // Servers of the configuration that --from overrides are not checked.
    let aside = !request.from.is_empty() && config.is_some_and(|it| !it.servers.is_empty());
    let everything = known.len();
    let asked = if request.servers.is_empty() {
        known.into_iter().collect()
    } else {
        let mut asked = Vec::new();
        for name in &request.servers {
            // The server of this name, or all of its profiles.
            let is_meant = |full: &String, server: &Result<ServerConfig, _>| {
                let server = server.as_ref().ok();
                let profile = server.and_then(|server| server.profile.as_ref());
                full == name || profile.is_some_and(|profile| profile.server == *name)
            };
            let names: Vec<String> = known
                .iter()
                .filter(|(full, server)| is_meant(full, server))
                .map(|(full, _)| full.clone())
                .collect();
            let found: Vec<_> = names
                .iter()
                .filter_map(|name| known.remove_entry(name))
                .collect();
            if found.is_empty() && !asked_already(&asked, name) {
                return Err(not_known(name, known.keys().map(String::as_str)));
            }
            asked.extend(found);
        }
        asked
    };
    let complete = asked.len() == everything && !aside;
    let (left_out, asked): (Vec<_>, Vec<_>) = asked
        .into_iter()
        .partition(|(name, _)| skipped.contains(name));
    if asked.is_empty() {
        return Err(Error::usage(
            "--skip leaves out every server, so there is nothing to check",
            "skip fewer of them",
        ));
    }
    let mut named = server_lists::usable(asked)?;
    if !left_out.is_empty() {
        let left_out = left_out.into_iter();
        named.extend(left_out.map(|(name, _)| (name, Err(Withheld::Skipped))));
        named.sort_by(|one, other| one.0.cmp(&other.0));
    }
    Ok((named, complete))
}

/// The servers that --skip names: a server, or all of its profiles.
fn skipped(
    request: &ServerRequest,
    known: &server_lists::Known,
) -> Result<BTreeSet<String>, Error> {
    let mut skipped = BTreeSet::new();
    for name in &request.skip {
        let is_meant = |full: &String, server: &Result<ServerConfig, _>| {
            let profile = server.as_ref().ok().and_then(|it| it.profile.as_ref());
            full == name || profile.is_some_and(|profile| profile.server == *name)
        };
        let before = skipped.len();
        let found = known.iter().filter(|(full, server)| is_meant(full, server));
        skipped.extend(found.map(|(full, _)| full.clone()));
        if skipped.len() == before && !skipped.contains(name) {
            return Err(not_known(name, known.keys().map(String::as_str)));
        }
    }
    Ok(skipped)
}

/// Whether a name is that of a program: a path, or one of the usual launchers.
fn is_program(name: &str) -> bool {
    const LAUNCHERS: [&str; 13] = [
        "node", "npx", "npm", "deno", "bun", "python", "python3", "uv", "uvx", "cargo", "go",
        "docker", "java",
    ];
    LAUNCHERS.contains(&name) || (name.contains('/') && Path::new(name).is_file())
}

/// Whether a server was requested, by its own name or by that of its profiles.
fn asked_already<E>(asked: &[(String, Result<ServerConfig, E>)], name: &str) -> bool {
    asked.iter().any(|(full, server)| {
        let profile = server.as_ref().ok().and_then(|it| it.profile.as_ref());
        full == name || profile.is_some_and(|profile| profile.server == name)
    })
}

fn not_known<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    Error::usage(
        format!("the configuration has no server `{name}`"),
        match suggestion(name, known.clone()) {
            Some(close) => format!("did you mean `{close}`? A command goes after `--`"),
            None => format!(
                "known: {}. A command goes after `--`",
                known.collect::<Vec<_>>().join(", ")
            ),
        },
    )
}

fn target(
    request: &ServerRequest,
    name: &str,
    mut server: ServerConfig,
    withheld: Option<Withheld>,
) -> Result<Target, Error> {
    let capture = request.capture.as_ref();
    let capture = capture.and_then(|sources| captured::of(sources, name));
    let endpoint = if withheld.is_none() && capture.is_none() {
        endpoint::endpoint(request, name, &server)?
    } else {
        // Not even a message about it may hold what was filled in.
        server.verify = None;
        server.checksum_line = None;
        Endpoint::Stdio(LaunchSpec::default())
    };
    let mut limits = Limits::default();
    if let Some(timeout) = request.timeout.map(Duration::from_secs).or(server.timeout) {
        limits.start = timeout;
        limits.request = timeout;
        limits.total = limits.total.max(10 * timeout);
    }
    if let Some(pause) = request.settle.map(Duration::from_secs).or(server.settle) {
        limits.relist_after = Some(pause);
        limits.total += pause;
    }
    let suspicious = request.given.switch(settings::SUSPICIOUS);
    if suspicious {
        let before = limits.relist_after.unwrap_or_default();
        limits.relist_after = Some(before.max(SUSPICIOUS_SETTLE));
        limits.total += SUSPICIOUS_SETTLE.saturating_sub(before);
    }
    limits.read_contents = request.read_resources || server.read_resources;
    let mut client = server.client;
    if let Some(name) = &request.client {
        client = ClientChoice::named(name).over(client);
    } else if suspicious {
        client = ClientChoice::named(any_client()).over(client);
    }
    if let Some(capabilities) = &request.capabilities {
        let announced = capabilities
            .iter()
            .filter(|it| !it.is_empty() && *it != "none");
        client.capabilities = Some(announced.cloned().collect());
    }
    let launched = match (&endpoint, endpoint.launch()) {
        _ if withheld.is_some() || capture.is_some() => Vec::new(),
        (_, Some(launch)) => launched_chain(launch, server.launch_digests),
        (Endpoint::Http(http), None) => launched::remote(&http.url.place()),
        _ => Vec::new(),
    };
    Ok(Target {
        pin_command: pin_command(request, name),
        origin: request.given.origin(),
        launched,
        launch_digests: server.launch_digests,
        configured_as: server
            .profile
            .as_ref()
            .map_or_else(|| name.to_owned(), |profile| profile.server.clone()),
        profile: server.profile,
        seen: OnceLock::new(),
        name: name.to_owned(),
        capture: capture.cloned(),
        endpoint,
        client,
        is_suspicious: suspicious,
        eras: request.era.unwrap_or(server.era),
        limits,
        repeat: request
            .repeat
            .and_then(|it| usize::try_from(it).ok())
            .or(server.repeat)
            .max(suspicious.then_some(SUSPICIOUS_BOOTS)),
        masks: server.masks,
        version: server.version,
        verify: server.verify,
        checksum_line: server.checksum_line,
        sandbox: request
            .sandbox
            .with(server.sandbox, server.sandbox_required),
        withheld,
    })
}

/// How often a suspicious server is booted at least, and after how long it is listed again.
const SUSPICIOUS_BOOTS: usize = 3;
const SUSPICIOUS_SETTLE: Duration = Duration::from_secs(2);

/// A known client that the server cannot foresee.
fn any_client() -> &'static str {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Its keys are random, from the system.
    let random = std::hash::RandomState::new().build_hasher().finish();
    let known = KnownClient::ALL;
    let index = usize::try_from(random % known.len() as u64).unwrap_or_default();
    known[index].id
}

/// The launch chain for a baseline: an argument may be a secret.
fn launched_chain(launch: &LaunchSpec, digests: launched::Digests) -> Vec<LaunchLink> {
    let mut links = launched::chain(launch, digests);
    for link in &mut links {
        link.name = secrets::clean(&link.name);
    }
    links
}

/// Today in UTC, for verdicts.
pub(crate) fn today() -> Date {
    Date::from_unix_seconds(since_1970().as_secs())
}

/// The time now.
pub(crate) fn since_1970() -> Duration {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}

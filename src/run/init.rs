//! Sets a folder up: finds how its server starts, tries it, and writes the configuration, the first baseline, a CI
//! file and git's attributes.
//!
//! Nothing is written before a server has answered, and nothing that exists is overwritten unless asked to.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::boot::{LiveServer, boot};
use super::captured::server_slug;
use super::observer::Observer;
use super::pin::{PinOutcome, PinRequest, pin};
use super::sign_lock::SignRequest;
use super::{Error, hints, secrets};
use crate::baseline;
use crate::capture::{Endpoint, Limits};
use crate::config::DEFAULT_PATH;
use crate::config::edit::{NewValue, key};
use crate::detect::{Candidate, Found, detect};
use crate::git::Repository;
use crate::launch::LaunchSpec;
use crate::redact::is_secret;
use crate::settings::{CONFIG, Given, Origin};
use crate::surface::Kind;
use crate::wording::{counted, join_with_and};

/// How long a candidate may take to answer, unless it is known to be slow.
const PATIENCE: Duration = Duration::from_secs(20);

const NAME_THE_COMMAND: &str =
    "pass the command that starts it: `mcp-keel init -- COMMAND ARGUMENTS`";

const WORKFLOW: &str = include_str!("../../docs/workflows/check.yml");
const GITLAB: &str = include_str!("../../docs/ci/gitlab-ci.yml");
const PRE_COMMIT: &str = include_str!("../../docs/ci/pre-commit-config.yaml");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ci {
    GitHub,
    GitLab,
    None,
}

impl Ci {
    pub(crate) const ALL: &'static [Self] = &[Self::GitHub, Self::GitLab, Self::None];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::None => "none",
        }
    }
}

pub(crate) struct InitRequest {
    /// The command, if it is known.
    pub(crate) command: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) pass_env: Vec<String>,
    /// What CI runs; detected if not given.
    pub(crate) ci: Option<Ci>,
    pub(crate) pre_commit: bool,
    /// Owners for CODEOWNERS.
    pub(crate) owners: Option<String>,
    pub(crate) force: bool,
    /// Whether every candidate is tried, so that a person can choose.
    pub(crate) try_all: bool,
}

/// A command that answered.
#[derive(Clone)]
pub(crate) struct Fit {
    pub(crate) candidate: Candidate,
    /// The name that the server gives itself.
    name: String,
    tools: usize,
}

impl Fit {
    pub(crate) fn line(&self) -> String {
        let command = shown(&self.candidate.command);
        format!(
            "found   {command}  ({}; {})",
            self.candidate.origin,
            counted(self.tools, "tool")
        )
    }
}

/// What there is to set up.
pub(crate) enum Choice {
    Command(Box<Fit>),
    /// A list of servers, by its path.
    List(String),
}

/// Fails if a file is in the way.
pub(crate) fn check_free(request: &InitRequest) -> Result<(), Error> {
    let mut taken: Vec<String> = Vec::new();
    for path in [DEFAULT_PATH, baseline::DEFAULT_PATH] {
        if Path::new(path).exists() {
            taken.push(path.to_owned());
        }
    }
    if taken.is_empty() || request.force {
        return Ok(());
    }
    let exist = if taken.len() == 1 { "exists" } else { "exist" };
    let taken = join_with_and(taken.iter().map(String::as_str));
    Err(Error::usage(
        format!("{taken} {exist} already"),
        "`mcp-keel check` uses them. To begin anew, run `mcp-keel init --force`",
    ))
}

/// The commands that start a server here, each tried, with a line about each.
pub(crate) async fn find(
    request: &InitRequest,
    observer: &dyn Observer,
    say: &mut dyn FnMut(&str),
) -> Result<(Vec<Fit>, Vec<String>), Error> {
    let found = if request.command.is_empty() {
        detect(Path::new("."))
    } else {
        Found {
            candidates: vec![Candidate {
                command: request.command.clone(),
                origin: "the command line".to_owned(),
                build: None,
                needs: None,
                on_runner: true,
                timeout: None,
            }],
            lists: Vec::new(),
        }
    };
    let mut fits: Vec<Fit> = Vec::new();
    let mut help: Option<String> = None;
    for candidate in found.candidates {
        let need = candidate.needs.as_ref();
        if let Some(need) = need.filter(|it| !Path::new(&it.path).exists()) {
            let problem = format!("{} does not exist", need.path);
            say(&format!(
                "tried   {}  ({}): {problem}",
                shown(&candidate.command),
                candidate.origin
            ));
            let build_first = need.build.as_ref().map(|build| {
                format!("build the server first, then run `mcp-keel init` again: {build}")
            });
            help = help.or(build_first);
            continue;
        }
        match attempt(request, &candidate, observer).await {
            Ok(fit) => {
                say(&fit.line());
                fits.push(fit);
                if !request.try_all {
                    break;
                }
            }
            Err((problem, advice)) => {
                say(&format!(
                    "tried   {}  ({}): {problem}",
                    shown(&candidate.command),
                    candidate.origin
                ));
                help = help.or(Some(advice));
            }
        }
    }
    let lists: Vec<String> = found
        .lists
        .iter()
        .map(|it| it.to_string_lossy().into_owned())
        .collect();
    if fits.is_empty() && lists.is_empty() {
        let help = help.unwrap_or_else(|| NAME_THE_COMMAND.to_owned());
        return Err(Error::undetermined(
            "found no command that starts an MCP server here",
            help,
        ));
    }
    Ok((fits, lists))
}

/// Tries a candidate; the problem and what to do if it does not answer.
async fn attempt(
    request: &InitRequest,
    candidate: &Candidate,
    observer: &dyn Observer,
) -> Result<Fit, (String, String)> {
    let launch = LaunchSpec {
        command: candidate.command.clone(),
        env: request.env.iter().cloned().collect(),
        pass_env: request.pass_env.iter().cloned().collect(),
        ..LaunchSpec::default()
    };
    secrets::learn(
        request
            .env
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    if let Err(error) = launch.verify(crate::own_env::vars()) {
        let help = hints::of_launch(&launch, &error).unwrap_or_else(|| error.help());
        return Err((error.to_string(), help));
    }
    let endpoint = Endpoint::Stdio(launch);
    let patience = candidate.timeout.map_or(PATIENCE, Duration::from_secs);
    let mut server = LiveServer::new("init", &endpoint);
    server.limits = Limits {
        start: patience,
        request: patience,
        ..Limits::default()
    };
    match boot(&server, observer).await {
        Ok(captured) => {
            let surface = &captured.surface;
            let name = surface.server_name().map(server_slug);
            Ok(Fit {
                candidate: candidate.clone(),
                name: name
                    .filter(|it| !it.is_empty())
                    .unwrap_or_else(|| "server".to_owned()),
                tools: surface.of_kind(Kind::Tool).count(),
            })
        }
        Err(failure) => Err((failure.to_string(), hints::help(&endpoint, &failure))),
    }
}

/// A command as one line, without secrets.
fn shown(command: &[String]) -> String {
    let words = command
        .iter()
        .map(|it| shlex::try_quote(it).map_or_else(|_| it.clone(), Into::into));
    secrets::clean(&words.collect::<Vec<String>>().join(" "))
}

/// What was written.
pub(crate) struct Written {
    /// Lines about each file.
    pub(crate) lines: Vec<String>,
    /// What to commit.
    pub(crate) commit: Vec<String>,
    pub(crate) pinned: PinOutcome,
}

/// Writes everything. If the server cannot be pinned, nothing is left behind.
pub(crate) async fn write(
    request: &InitRequest,
    choice: &Choice,
    observer: Arc<dyn Observer>,
) -> Result<Written, Error> {
    let config = Path::new(DEFAULT_PATH);
    let before = crate::files::read(config).ok();
    put(config, &configuration(request, choice))?;
    let mut given = Given::new(Origin::Flag);
    given.set(CONFIG, vec![OsString::from(DEFAULT_PATH)]);
    let request_of_pin = PinRequest {
        force: true,
        yes: true,
        ..PinRequest::new(&given, false, SignRequest::default())
    };
    if request.force {
        // The baseline of another configuration has entries of other servers.
        let _ = std::fs::remove_file(baseline::DEFAULT_PATH);
    }
    let pinned = match pin(request_of_pin, observer).await {
        Ok(pinned) if pinned.report.servers.is_empty() => {
            restore(config, before.as_deref());
            let mut failed = pinned.failed.into_iter().map(|(_, error)| error);
            return Err(failed
                .next()
                .unwrap_or_else(|| Error::undetermined("no server was pinned", NAME_THE_COMMAND)));
        }
        Ok(pinned) => pinned,
        Err(error) => {
            restore(config, before.as_deref());
            return Err(error);
        }
    };
    let mut files = Files {
        force: request.force,
        lines: Vec::new(),
        commit: Vec::new(),
    };
    files.wrote(DEFAULT_PATH);
    files.wrote(baseline::DEFAULT_PATH);
    let ci = request.ci.unwrap_or_else(|| {
        if Path::new(".gitlab-ci.yml").exists() || Path::new(".gitlab").exists() {
            Ci::GitLab
        } else {
            Ci::GitHub
        }
    });
    let (build, on_runner) = match choice {
        Choice::Command(fit) => (fit.candidate.build.clone(), fit.candidate.on_runner),
        Choice::List(_) => (None, false),
    };
    match ci {
        Ci::GitHub => {
            let text = workflow(build.as_deref(), on_runner);
            files.create(".github/workflows/mcp-keel.yml", &text)?;
        }
        Ci::GitLab => files.create(".gitlab-ci.yml", &gitlab(build.as_deref()))?,
        Ci::None => {}
    }
    if request.pre_commit {
        files.create(".pre-commit-config.yaml", PRE_COMMIT)?;
    }
    files.attributes()?;
    if let Some(owners) = &request.owners {
        files.owners(owners)?;
    }
    Ok(Written {
        lines: files.lines,
        commit: files.commit,
        pinned,
    })
}

fn restore(config: &Path, before: Option<&[u8]>) {
    let _ = match before {
        Some(bytes) => crate::files::replace(config, bytes),
        None => std::fs::remove_file(config),
    };
}

/// The text of mcp-keel.toml.
fn configuration(request: &InitRequest, choice: &Choice) -> String {
    let servers = match choice {
        Choice::List(path) => {
            let path = NewValue::Texts(vec![path.clone()]);
            format!(
                "# The servers of this file are checked.\nfrom = {}\n",
                path.written()
            )
        }
        Choice::Command(fit) => {
            let candidate = &fit.candidate;
            let mut text = format!(
                "# Found in {}. The server starts with an almost empty environment: `env` and `pass-env` add \
                 to it.\n",
                candidate.origin
            );
            text += &format!("[server.{}]\n", key(&fit.name));
            let mut values = vec![("command", NewValue::Texts(candidate.command.clone()))];
            if let Some(seconds) = candidate.timeout {
                values.push(("timeout", NewValue::Number(seconds)));
            }
            let (secret, plain): (Vec<_>, Vec<_>) = request
                .env
                .iter()
                .cloned()
                .partition(|(name, value)| is_secret(name, value));
            if !plain.is_empty() {
                values.push(("env", NewValue::Pairs(plain)));
            }
            let mut pass = request.pass_env.clone();
            pass.extend(secret.into_iter().map(|(name, _)| name));
            if !pass.is_empty() {
                values.push(("pass-env", NewValue::Texts(pass)));
            }
            for (name, value) in values {
                text += &format!("{name} = {}\n", value.written());
            }
            text
        }
    };
    format!(
        "# mcp-keel: which servers are checked, and what fails. Every key: docs/configuration.md in\n\
         # https://github.com/mcp-keel/mcp-keel\n\
         \n\
         {servers}\n\
         # What fails. Without this table the defaults hold.\n\
         # [policy]\n\
         # fail-on = \"risky\"              # additive and cosmetic changes pass\n\
         # require-version-bump = true    # drift needs a new version of the package\n\
         \n\
         # A single change is accepted with `mcp-keel accept ID --reason TEXT`, which adds an entry here.\n"
    )
}

/// The workflow with the build of this server.
fn workflow(build: Option<&str>, on_runner: bool) -> String {
    let step = match build {
        Some(build) => format!("      - run: {build}\n"),
        None => "      # If the server has to be built, build it here.\n".to_owned(),
    };
    // In its place, docs/workflows/check.yml has an example.
    let text = WORKFLOW.replace(
        "      # Build your server here.\n      - run: npm ci && npm run build\n",
        &step,
    );
    if !on_runner {
        return text;
    }
    // The first use is in the job that starts the server.
    let (container, host) = (
        "uses: mcp-keel/mcp-keel@v0",
        "uses: mcp-keel/mcp-keel/host@v0",
    );
    text.replacen(container, host, 1)
}

fn gitlab(build: Option<&str>) -> String {
    let is_example = |line: &&str| line.trim_start().starts_with("prepare:");
    let lines = GITLAB.lines().filter_map(|line| match build {
        _ if line.trim_start().starts_with("arguments:") => None,
        None if is_example(&line) => None,
        Some(build) if is_example(&line) => Some(format!("      prepare: {build}\n")),
        _ => Some(format!("{line}\n")),
    });
    lines.collect()
}

fn put(path: &Path, text: &str) -> Result<(), Error> {
    crate::files::replace(path, text.as_bytes()).map_err(|error| {
        Error::usage(
            format!("{}: cannot write it: {error}", path.display()),
            "check the path and its permissions",
        )
    })
}

/// Files that are written besides the configuration and the baseline.
struct Files {
    force: bool,
    lines: Vec<String>,
    commit: Vec<String>,
}

/// git's settings for the drivers. Where mcp-keel is not on the PATH (it was run through npx, or by someone
/// else), git shows and merges the file as text: a driver that is missing would end `git diff` with an
/// error.
fn git_drivers() -> [(&'static str, String); 3] {
    let or_else = |ours: &str, otherwise: &str| {
        format!("sh -c 'command -v mcp-keel >/dev/null && exec mcp-keel {ours}; {otherwise}' --")
    };
    let as_text = "git --no-pager diff --no-ext-diff --no-index -- \"$2\" \"$5\"; exit 0";
    let merged = or_else("git-merge \"$@\"", "git merge-file \"$2\" \"$1\" \"$3\"");
    [
        ("diff.mcp-keel.command", or_else("git-diff \"$@\"", as_text)),
        (
            "diff.mcp-keel.textconv",
            or_else("git-diff \"$1\"", "cat \"$1\""),
        ),
        ("merge.mcp-keel.driver", merged + " %O %A %B %P"),
    ]
}

impl Files {
    fn wrote(&mut self, path: &str) {
        self.lines.push(format!("wrote   {path}"));
        self.commit.push(path.to_owned());
    }

    /// A file that is not there yet.
    fn create(&mut self, path: &str, text: &str) -> Result<(), Error> {
        if Path::new(path).exists() && !self.force {
            self.lines.push(format!(
                "kept    {path}: it exists; `mcp-keel init --force` replaces it"
            ));
            return Ok(());
        }
        put(Path::new(path), text)?;
        self.wrote(path);
        Ok(())
    }

    /// Appends lines that a file does not have.
    fn append(&mut self, path: &str, comment: &str, lines: &[String]) -> Result<(), Error> {
        let before = crate::files::read_to_string(Path::new(path)).unwrap_or_default();
        let missing: Vec<&String> = lines
            .iter()
            .filter(|line| !before.lines().any(|it| it.trim() == line.as_str()))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut text = before;
        if !text.is_empty() {
            text = text.trim_end().to_owned() + "\n\n";
        }
        text += comment;
        for line in missing {
            text += line;
            text.push('\n');
        }
        put(Path::new(path), &text)?;
        self.wrote(path);
        Ok(())
    }

    /// `.gitattributes`, and the drivers in the configuration of this clone.
    fn attributes(&mut self) -> Result<(), Error> {
        let line = format!(
            "{} diff=mcp-keel merge=mcp-keel text eol=lf",
            baseline::DEFAULT_PATH
        );
        let comment = "# `git diff` shows what changed for callers, and `git merge` joins entries of different \
            servers and tools:\n\
            # git config diff.mcp-keel.command \"mcp-keel git-diff\"\n\
            # git config diff.mcp-keel.textconv \"mcp-keel git-diff\"\n\
            # git config merge.mcp-keel.driver \"mcp-keel git-merge %O %A %B %P\"\n";
        self.append(".gitattributes", comment, &[line])?;
        if let Some(repository) = Repository::around(Path::new(".")) {
            let mut done = repository.configure("merge.mcp-keel.name", "mcp-keel baseline");
            for (name, value) in git_drivers() {
                done &= repository.configure(name, &value);
            }
            if done {
                self.lines.push(
                    "set     git's diff and merge drivers for the baseline, in this clone"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }

    fn owners(&mut self, owners: &str) -> Result<(), Error> {
        let places = [
            ".github/CODEOWNERS",
            "CODEOWNERS",
            "docs/CODEOWNERS",
            ".gitlab/CODEOWNERS",
        ];
        let path = places.into_iter().find(|it| Path::new(it).exists());
        let lines = [baseline::DEFAULT_PATH, DEFAULT_PATH].map(|it| format!("/{it} {owners}"));
        self.append(
            path.unwrap_or(places[0]),
            "# Changes to the contract of the MCP server are reviewed by its owners.\n",
            &lines,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_builds_this_server_where_its_toolchain_is() {
        let text = workflow(Some("cargo build --release --locked"), true);
        assert!(text.contains("      - run: cargo build --release --locked\n"));
        assert!(!text.contains("npm"), "{text}");
        assert_eq!(text.matches("mcp-keel/mcp-keel/host@v0").count(), 1);
        assert_eq!(text.matches("mcp-keel/mcp-keel@v0").count(), 1);
        let text = workflow(None, false);
        assert!(!text.contains("npm") && !text.contains("host@"), "{text}");
    }

    #[test]
    fn the_gitlab_file_builds_this_server() {
        let text = gitlab(Some("pip install ."));
        assert!(text.contains("prepare: pip install .\n"), "{text}");
        assert!(!text.contains("node"), "{text}");
    }
}

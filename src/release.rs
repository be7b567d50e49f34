//! The version of the server's package.
//!
//! `serverInfo.version` cannot be trusted: in two of three published servers it is the SDK's
//! version or a constant. A version policy therefore reads the version where the maintainers write
//! it, from a source that is configured or, for a server started from its own sources, detected
//! next to it. This room reads files and runs git or the configured command; what a version change
//! requires is up to the policy.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::files::Tree;
use crate::launch::sandbox::{Listener, Sandbox};
use crate::launch::{Group, LaunchSpec, Leader, Patience};
use crate::surface::Surface;

/// Where to read a version.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum VersionSource {
    /// A manifest next to a server that is started from its own sources, else what the server
    /// reports.
    #[default]
    Auto,
    /// `serverInfo.version`
    Server,
    /// The newest tag that the current commit descends from.
    GitTag,
    /// A manifest: package.json, pyproject.toml, Cargo.toml, or any JSON or TOML file with a `version`.
    File(String),
    /// The first line that a command prints.
    Command(Vec<String>),
}

/// A version and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// `package.json`, `git-tag`, `serverInfo`, ...
    pub source: String,
    pub version: Option<String>,
}

/// A configured version source that cannot be read (exit 2).
#[derive(Debug, thiserror::Error)]
#[error("cannot read the version from {source_name}: {problem}")]
pub struct VersionError {
    source_name: String,
    problem: String,
}

impl VersionError {
    pub fn help(&self) -> &'static str {
        "set `version` of the server in mcp-keel.toml to \"server\", \"git-tag\", a manifest such as \"package.json\", or a \
         command such as [\"node\", \"-p\", \"require('./package.json').version\"]"
    }
}

/// The manifests to look for next to a server, in this order.
const MANIFESTS: [&str; 3] = ["package.json", "pyproject.toml", "Cargo.toml"];

/// Programs that run the project in their working directory.
const PROJECT_RUNNERS: [&str; 9] = [
    "npm", "pnpm", "yarn", "bun", "deno", "cargo", "uv", "poetry", "hatch",
];

impl VersionSource {
    /// As written in the configuration.
    pub fn parse(text: &str) -> Self {
        match text {
            "auto" => Self::Auto,
            "server" | "serverInfo" => Self::Server,
            "git-tag" => Self::GitTag,
            file => Self::File(file.to_owned()),
        }
    }

    /// The source to read for a server started by `command` in `folder`; resolves `auto`.
    pub fn resolve(&self, folder: &Path, command: &[String]) -> Self {
        match self {
            Self::Auto => detect(folder, command).map_or(Self::Server, Self::File),
            other => other.clone(),
        }
    }

    /// The name of a resolved source in reports and baselines.
    pub fn name(&self) -> String {
        match self {
            Self::Auto | Self::Server => "serverInfo".to_owned(),
            Self::GitTag => "git-tag".to_owned(),
            Self::File(file) => file.clone(),
            Self::Command(_) => "command".to_owned(),
        }
    }

    /// Reads a version from a resolved source; `None` if only the server itself can report it. A
    /// command runs in the same sandbox as the server.
    pub fn read(&self, folder: &Path, sandbox: Sandbox) -> Result<Option<Release>, VersionError> {
        let version = match self {
            Self::Auto | Self::Server => return Ok(None),
            Self::GitTag => latest_tag(folder),
            Self::Command(command) => printed(folder, command, sandbox),
            Self::File(file) => from_manifest(&folder.join(file)),
        };
        let source = self.name();
        match version {
            Ok(version) => Ok(Some(Release {
                source,
                version: Some(version),
            })),
            Err(problem) => Err(VersionError {
                source_name: source,
                problem,
            }),
        }
    }
}

impl Release {
    /// What the server reports.
    pub fn of_server(surface: &Surface) -> Self {
        Self {
            source: VersionSource::Server.name(),
            version: surface.server_version().map(str::to_owned),
        }
    }
}

/// The manifest of a server that is started from its own sources. A server from elsewhere (`npx
/// some-server`) that happens to be started in this directory has its own version.
fn detect(folder: &Path, command: &[String]) -> Option<String> {
    let program = Path::new(command.first()?)
        .file_stem()?
        .to_string_lossy()
        .into_owned();
    let runs_project = PROJECT_RUNNERS.contains(&program.as_str());
    let starts_file_of_it = command.iter().any(|word| {
        let path = PathBuf::from(word);
        path.is_relative()
            && !word.starts_with('-')
            && word.contains(['/', '.'])
            && folder.join(path).is_file()
    });
    if !runs_project && !starts_file_of_it {
        return None;
    }
    let mut found = MANIFESTS
        .iter()
        .filter(|file| from_manifest(&folder.join(file)).is_ok());
    found.next().map(|file| (*file).to_owned())
}

fn from_manifest(path: &Path) -> Result<String, String> {
    let text = crate::files::read_to_string(path).map_err(|error| error.to_string())?;
    let is_toml = path
        .extension()
        .is_some_and(|extension| extension == "toml");
    let (tree, places) = if is_toml {
        (Tree::from_toml(&text), &TOML_PLACES[..])
    } else {
        (Tree::from_json(&text), &[&["version"][..]][..])
    };
    let tree = tree.map_err(|error| error.to_string())?;
    let mut found = places
        .iter()
        .filter_map(|place| tree.at(place).and_then(Tree::text));
    let version = found.next().map(str::to_owned);
    version.ok_or_else(|| "it has no `version`".to_owned())
}

/// Where TOML manifests keep their version, in order of preference.
const TOML_PLACES: [&[&str]; 5] = [
    &["project", "version"],
    &["package", "version"],
    &["tool", "poetry", "version"],
    &["workspace", "package", "version"],
    &["version"],
];

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much it may print.
const MAX_PRINTED: u64 = 1024 * 1024;

/// The newest tag that the commit of a folder's repository descends from.
fn latest_tag(folder: &Path) -> Result<String, String> {
    let repository = crate::git::Repository::around(folder).ok_or("not in a git repository")?;
    let mut git = repository.git()?;
    git.args(["describe", "--tags", "--abbrev=0"]);
    let printed = crate::git::output(git, 4096)?;
    Ok(String::from_utf8_lossy(&printed).trim().to_owned())
}

fn printed(folder: &Path, command: &[String], sandbox: Sandbox) -> Result<String, String> {
    let Some(program) = command.first() else {
        return Err("the command is empty".to_owned());
    };
    // The command comes from a file in the repository, as the server does: it gets the same
    // restrictions, and none of the server's variables.
    let spec = LaunchSpec {
        command: command.to_vec(),
        cwd: Some(folder.to_owned()),
        sandbox,
        ..LaunchSpec::default()
    };
    let refused = |error: std::io::Error| format!("cannot run {program}: {error}");
    // Files, not pipes: nothing has to be read while it runs, and processes it leaves behind hold
    // nothing open.
    let (mut stdout, mut stderr) = (
        tempfile::tempfile().map_err(refused)?,
        tempfile::tempfile().map_err(refused)?,
    );
    // Runs in its own group like a server: ending a server does not end it, and nothing is left
    // behind.
    let marker = Group::new_marker().map_err(refused)?;
    let (mut command, listener) =
        crate::launch::helper(&spec, &marker).map_err(|error| error.to_string())?;
    command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().map_err(refused)?)
        .stderr(stderr.try_clone().map_err(refused)?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let (mut child, group) = Group::start(marker, || {
        let child = command.spawn()?;
        let leader = child.id();
        Ok((child, leader))
    })
    .map_err(refused)?;
    // With it goes our end of the sandbox's pipe.
    drop(command);
    let status = ended(&mut child, &[&stdout, &stderr]);
    let leader = match status {
        Some(_) => Leader::Gone,
        None => Leader::MayRun,
    };
    let left = group.kill(leader, Patience::default().after_kill);
    let _ = child.kill();
    let _ = child.wait();
    let reported = listener.map(Listener::heard_at_the_end).unwrap_or_default();
    if let Some(error) = spec.not_started(&reported) {
        return Err(error.to_string());
    }
    if left > 0 {
        return Err(format!(
            "{program} left {left} processes that could not be killed"
        ));
    }
    let Some(status) = status else {
        return Err(format!(
            "{program} did not end within {} s, or printed without end",
            PATIENCE.as_secs()
        ));
    };
    if !status.success() {
        let said = first_line(&mut stderr).map_err(refused)?;
        return Err(format!(
            "{program} failed: {}",
            if said.is_empty() { "no message" } else { &said }
        ));
    }
    match first_line(&mut stdout).map_err(refused)? {
        line if line.is_empty() => Err(format!("{program} printed nothing")),
        line => Ok(line),
    }
}

/// How a command ended; `None` if it takes too long or prints too much.
fn ended(child: &mut Child, files: &[&File]) -> Option<ExitStatus> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        let printed = files
            .iter()
            .filter_map(|it| Some(it.metadata().ok()?.len()));
        if printed.sum::<u64>() > MAX_PRINTED {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

fn first_line(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MAX_PRINTED).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn command(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }

    #[cfg(unix)]
    #[test]
    fn a_command_returns_its_first_line_and_its_output_is_bounded() {
        let version = |script: &str| {
            let words = ["sh", "-c", script].map(str::to_owned);
            printed(Path::new("."), &words, Sandbox::default())
        };
        assert_eq!(version("echo ' 1.2.3 '; echo more").unwrap(), "1.2.3");
        assert!(
            version("echo no >&2; exit 1")
                .unwrap_err()
                .contains("failed: no")
        );
        assert!(version("true").unwrap_err().contains("printed nothing"));
        assert!(version("yes").unwrap_err().contains("without end"));
    }

    #[test]
    fn each_kind_of_manifest_has_a_version() {
        for (name, text) in [
            ("package.json", r#"{"version":"1.2.3"}"#),
            ("server.json", r#"{"version":"1.2.3"}"#),
            ("pyproject.toml", "[project]\nversion = \"1.2.3\""),
            ("pyproject.toml", "[tool.poetry]\nversion = \"1.2.3\""),
            ("Cargo.toml", "[package]\nversion = \"1.2.3\""),
        ] {
            let folder = folder(&[(name, text)]);
            assert_eq!(
                from_manifest(&folder.path().join(name)).unwrap(),
                "1.2.3",
                "{text}"
            );
        }
        let dynamic = folder(&[("pyproject.toml", "[project]\ndynamic = [\"version\"]")]);
        assert!(from_manifest(&dynamic.path().join("pyproject.toml")).is_err());
    }

    #[test]
    fn a_manifest_belongs_to_a_server_started_from_its_directory() {
        let folder = folder(&[
            ("package.json", r#"{"version":"1.2.3"}"#),
            ("dist/index.js", ""),
        ]);
        let found = |words: &str| {
            VersionSource::Auto
                .resolve(folder.path(), &command(words))
                .name()
        };
        assert_eq!(found("node dist/index.js"), "package.json");
        assert_eq!(found("npm start"), "package.json");
        assert_eq!(found("npx some-server"), "serverInfo");
        assert_eq!(found("node /elsewhere/index.js"), "serverInfo");
    }
}

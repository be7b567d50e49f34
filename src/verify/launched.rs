//! What was launched, link by link: entry point, runtime, launcher, primitive. A baseline records
//! it, and a check reports which link changed.
//!
//! The same mechanism as a kiwi chain, for a server under test. A committed file must be the same
//! on every machine, so:
//!
//! - a link has the name that was typed, never an absolute path (the relative path for a file of
//!   the working copy, the bare name for any other), and no other arguments, which may hold
//!   secrets;
//! - by default only scripts in the working copy get a digest. A runtime differs from runner to
//!   runner, and a native program from build to build, without anyone having changed anything;
//!   [`Digests::All`] includes them.

use std::path::{Component, Path, PathBuf};

use super::bytes::{Algorithm, digest, locate};
use super::launcher::{recognise, without_credentials};
use crate::canonical::Json;
use crate::keyword_enum::keyword_enum;
use crate::launch::LaunchSpec;
use crate::rules::RuleId;
use crate::surface::Note;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The server itself: a file, a package or an image.
    EntryPoint,
    /// An additional package that a launcher fetches.
    Package,
    /// What runs it: `node`, `python`.
    Runtime,
    /// What fetches and starts it: `npx`, `docker run`.
    Launcher,
    /// The end of the chain: a local process (`subprocess`) or an address (`http_client`).
    Primitive,
}

keyword_enum!(Role {
    EntryPoint = "entry-point",
    Package = "package",
    Runtime = "runtime",
    Launcher = "launcher",
    Primitive = "primitive",
});

/// Which links get a digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digests {
    /// Scripts in the working copy.
    #[default]
    WorkingCopy,
    /// Every link that is a local file.
    All,
    None,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchLink {
    pub role: Role,
    /// The same on every machine.
    pub name: String,
    pub sha256: Option<String>,
}

impl LaunchLink {
    fn new(role: Role, name: impl Into<String>) -> Self {
        Self {
            role,
            name: name.into(),
            sha256: None,
        }
    }

    /// As recorded in a baseline.
    pub fn to_json(&self) -> Json {
        let mut members = vec![
            ("role", Json::string(self.role.word())),
            ("name", Json::string(self.name.as_str())),
        ];
        if let Some(sha256) = &self.sha256 {
            members.push(("sha256", Json::string(sha256.as_str())));
        }
        Json::object(members)
    }

    /// From a baseline; `None` if it is not a link.
    pub fn from_json(json: &Json) -> Option<Self> {
        let known = ["role", "name", "sha256"];
        let object = json.as_object()?;
        if object
            .iter()
            .any(|(name, _)| !known.contains(&name.to_string_lossy()))
        {
            return None;
        }
        Some(Self {
            role: json.get("role")?.as_str()?.parse().ok()?,
            name: json.get("name")?.as_str()?.to_owned(),
            sha256: match json.get("sha256") {
                Some(digest) => Some(digest.as_str()?.to_owned()),
                None => None,
            },
        })
    }
}

/// Programs that run the file named in their arguments.
const RUNTIMES: &[&str] = &[
    "node",
    "nodejs",
    "bun",
    "deno",
    "tsx",
    "ts-node",
    "python",
    "python3",
    "py",
    "pypy",
    "pypy3",
    "uv",
    "poetry",
    "hatch",
    "pdm",
    "ruby",
    "bundle",
    "java",
    "dotnet",
    "php",
    "perl",
    "lua",
    "elixir",
    "Rscript",
    "sh",
    "bash",
    "zsh",
    "dash",
    "pwsh",
    "powershell",
    "go",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "make",
];

/// The chain of a launch, from the server to the primitive.
pub fn chain(launch: &LaunchSpec, digests: Digests) -> Vec<LaunchLink> {
    let Some((program, arguments)) = launch.command.split_first() else {
        return Vec::new();
    };
    let folder = launch.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut links = Vec::new();
    // What `cargo run` or `uv run` start is in the working copy; only fetched packages are named by
    // their specifier.
    let fetched =
        recognise(&launch.command).filter(|it| !matches!(it.name, "cargo run" | "uv run"));
    let fetched = fetched.filter(|it| !it.targets.is_empty());
    let is_runtime = fetched.is_none() && is_runtime(program);
    if let Some(launcher) = &fetched {
        for (index, target) in launcher.targets.iter().enumerate() {
            let role = if index == 0 {
                Role::EntryPoint
            } else {
                Role::Package
            };
            links.push(file_link(role, &target.spec, &folder, digests));
        }
        links.push(program_link(
            Role::Launcher,
            launcher.name.to_owned(),
            program,
            launch,
            digests,
        ));
    } else if is_runtime {
        links.push(entry_point(arguments, &folder, digests));
        links.push(program_link(
            Role::Runtime,
            bare(program),
            program,
            launch,
            digests,
        ));
    } else {
        let mut link = file_link(Role::EntryPoint, program, &folder, digests);
        if link.sha256.is_none() && digests == Digests::All {
            link.sha256 =
                locate(program, launch).and_then(|file| digest(&file, Algorithm::Sha256).ok());
        }
        // A program has the same name on every machine, apart from the extension on Windows.
        link.name = link
            .name
            .strip_suffix(".exe")
            .map(str::to_owned)
            .unwrap_or(link.name);
        links.push(link);
    }
    links.push(LaunchLink::new(Role::Primitive, "subprocess"));
    links
}

/// The chain of a server that mcp-keel does not launch: its address, reached over HTTP.
pub fn remote(place: &str) -> Vec<LaunchLink> {
    vec![
        LaunchLink::new(Role::EntryPoint, place),
        LaunchLink::new(Role::Primitive, "http_client"),
    ]
}

fn is_runtime(program: &str) -> bool {
    let name = bare(program);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUNTIMES.contains(&name.as_str()) || RUNTIMES.contains(&plain)
}

/// A program's name without its directory and Windows extension.
fn bare(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".cmd"))
        .unwrap_or(name)
        .to_owned()
}

fn program_link(
    role: Role,
    name: String,
    program: &str,
    launch: &LaunchSpec,
    digests: Digests,
) -> LaunchLink {
    LaunchLink {
        sha256: (digests == Digests::All)
            .then(|| locate(program, launch).and_then(|file| digest(&file, Algorithm::Sha256).ok()))
            .flatten(),
        ..LaunchLink::new(role, name)
    }
}

/// The argument that names the server: an existing file, else the first word that is not a flag.
fn entry_point(arguments: &[String], folder: &Path, digests: Digests) -> LaunchLink {
    if let [flag, module, ..] = arguments
        && flag == "-m"
    {
        return LaunchLink::new(Role::EntryPoint, format!("-m {module}"));
    }
    let inline = ["-c", "-e", "--eval", "-lc", "-ec", "--print", "-p", "/c"];
    if arguments
        .first()
        .is_some_and(|it| inline.contains(&it.as_str()))
    {
        // An inline script is not a name and may contain anything.
        return LaunchLink::new(Role::EntryPoint, "(inline script)");
    }
    let is_file = |word: &&String| !word.starts_with('-') && folder.join(word).is_file();
    let word = arguments
        .iter()
        .find(is_file)
        .or_else(|| arguments.iter().find(|word| !word.starts_with('-')));
    match word {
        Some(word) => file_link(Role::EntryPoint, word, folder, digests),
        None => LaunchLink::new(Role::EntryPoint, "(none)"),
    }
}

fn file_link(role: Role, word: &str, folder: &Path, digests: Digests) -> LaunchLink {
    let file = folder.join(word);
    let inside = std::fs::canonicalize(folder)
        .ok()
        .zip(std::fs::canonicalize(&file).ok())
        .filter(|(_, file)| file.is_file())
        .and_then(|(folder, file)| file.strip_prefix(&folder).map(Path::to_owned).ok());
    let take = match digests {
        Digests::None => false,
        Digests::All => file.is_file(),
        Digests::WorkingCopy => inside.is_some() && is_script(&file),
    };
    LaunchLink {
        sha256: take
            .then(|| digest(&file, Algorithm::Sha256).ok())
            .flatten(),
        ..LaunchLink::new(role, name(word, inside.as_deref()))
    }
}

/// The name of a link, the same on every machine.
fn name(word: &str, inside: Option<&Path>) -> String {
    if Path::new(word).is_absolute() || word.get(1..3).is_some_and(|it| it == ":\\" || it == ":/") {
        return match inside {
            Some(inside) => parts(inside),
            None => word.rsplit(['/', '\\']).next().unwrap_or(word).to_owned(),
        };
    }
    if word.contains("://") {
        return without_credentials(word);
    }
    match inside {
        Some(_) => parts(Path::new(word)),
        None => word.to_owned(),
    }
}

fn parts(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

fn is_script(file: &Path) -> bool {
    let Ok(start) = crate::files::read_start(file, 4) else {
        return false;
    };
    let native = [
        &b"\x7fELF"[..],
        b"MZ",
        b"\xfe\xed\xfa",
        b"\xce\xfa\xed\xfe",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
    ];
    !native.iter().any(|magic| start.starts_with(magic))
}

/// The links without the digests of build output. What git ignores is made anew by every build, so
/// that its bytes say nothing about who changed them.
pub fn without_build_output(links: &[LaunchLink], folder: &Path) -> Vec<LaunchLink> {
    let repository = crate::git::Repository::around(folder);
    let here = std::env::current_dir().unwrap_or_default();
    let folder = here.join(folder);
    let is_ignored = |name: &str| {
        let repository = repository.as_ref();
        repository.is_some_and(|it| it.ignores(&folder.join(name)))
    };
    let mut links = links.to_vec();
    for link in &mut links {
        if link.sha256.is_some() && is_ignored(&link.name) {
            link.sha256 = None;
        }
    }
    links
}

/// Which links changed, as findings. Digests are compared if both sides have one.
pub fn compare(old: &[LaunchLink], new: &[LaunchLink]) -> Vec<Note> {
    let note = |message: String| Note {
        rule: RuleId::LaunchLinkChanged,
        component: None,
        message,
    };
    let mut notes = Vec::new();
    for role in Role::ALL {
        let of = |links: &[LaunchLink]| -> Vec<LaunchLink> {
            links
                .iter()
                .filter(|link| link.role == *role)
                .cloned()
                .collect()
        };
        let (old, new) = (of(old), of(new));
        for index in 0..old.len().max(new.len()) {
            match (old.get(index), new.get(index)) {
                (Some(was), Some(is)) if was.name != is.name => {
                    let message = format!("the {}: `{}` → `{}`", role.word(), was.name, is.name);
                    notes.push(note(message));
                }
                (Some(was), Some(is)) => {
                    if let (Some(one), Some(other)) = (&was.sha256, &is.sha256)
                        && one != other
                    {
                        let (pinned, now) = (short(one), short(other));
                        notes.push(note(format!(
                            "the bytes of the {} `{}` changed: sha256 {pinned}… → {now}…",
                            role.word(),
                            is.name
                        )));
                    }
                }
                (Some(was), None) => {
                    notes.push(note(format!(
                        "the {} `{}` was removed",
                        role.word(),
                        was.name
                    )));
                }
                (None, Some(is)) => {
                    notes.push(note(format!("the {} `{}` is new", role.word(), is.name)));
                }
                (None, None) => {}
            }
        }
    }
    notes
}

/// The first 12 characters of a digest, as shown in messages.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain_of(words: &[&str]) -> String {
        let launch = LaunchSpec {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            ..LaunchSpec::default()
        };
        let links = chain(&launch, Digests::WorkingCopy);
        let links: Vec<String> = links
            .iter()
            .map(|link| format!("{} {}", link.role, link.name))
            .collect();
        links.join(" <- ")
    }

    #[test]
    fn a_launch_chain_holds_nothing_machine_specific() {
        for (words, expected) in [
            (
                &["node", "dist/index.js", "--token", "geheim"][..],
                "entry-point dist/index.js <- runtime node <- primitive subprocess",
            ),
            (
                &["/usr/bin/python3.12", "/home/me/server.py"],
                "entry-point server.py <- runtime python3.12 <- primitive subprocess",
            ),
            (
                &["python", "-m", "weather.server"],
                "entry-point -m weather.server <- runtime python <- primitive subprocess",
            ),
            (
                &["npx", "-y", "@scope/server@1.2.3"],
                "entry-point @scope/server@1.2.3 <- launcher npx <- primitive subprocess",
            ),
            (
                &["uvx", "--with", "httpx==0.27", "server@1"],
                "entry-point server@1 <- package httpx==0.27 <- launcher uvx <- primitive subprocess",
            ),
            (
                &["docker", "run", "-i", "-e", "TOKEN=geheim", "image:1"],
                "entry-point image:1 <- launcher docker run <- primitive subprocess",
            ),
            (
                &["/opt/build/target/debug/server", "--verbose"],
                "entry-point server <- primitive subprocess",
            ),
            (
                &["./server"],
                "entry-point ./server <- primitive subprocess",
            ),
            (
                &["sh", "-c", "TOKEN=geheim ./server"],
                "entry-point (inline script) <- runtime sh <- primitive subprocess",
            ),
            (
                &[
                    "uvx",
                    "--from",
                    "git+https://me:geheim@example.org/server.git",
                    "server",
                ],
                "entry-point git+https://example.org/server.git <- launcher uvx <- primitive subprocess",
            ),
        ] {
            assert_eq!(chain_of(words), expected);
        }
    }

    #[test]
    fn each_link_that_changed_is_named() {
        let link = |role, name: &str, sha256: Option<&str>| LaunchLink {
            sha256: sha256.map(str::to_owned),
            ..LaunchLink::new(role, name)
        };
        let old = [
            link(Role::EntryPoint, "a.js", Some("aa")),
            link(Role::Runtime, "node", None),
        ];
        let new = [
            link(Role::EntryPoint, "a.js", Some("bb")),
            link(Role::Launcher, "npx", None),
        ];
        let messages: Vec<String> = compare(&old, &new)
            .into_iter()
            .map(|note| note.message)
            .collect();
        assert_eq!(
            messages,
            [
                "the bytes of the entry-point `a.js` changed: sha256 aa… → bb…",
                "the runtime `node` was removed",
                "the launcher `npx` is new",
            ]
        );
        assert!(compare(&old, &old).is_empty());
        // A digest on one side only is not a change.
        assert!(
            compare(
                &[link(Role::Runtime, "node", None)],
                &[link(Role::Runtime, "node", Some("aa"))]
            )
            .is_empty()
        );
    }
}

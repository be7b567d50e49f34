//! How the server of a folder is probably started: candidates from the manifests that it has.
//!
//! This room promises:
//!
//! - **It only looks.** Files are read, up to a bound; nothing is started and nothing is written.
//! - **Best first.** What a manifest declares comes before what a file looks like.
//! - **Every candidate says where it comes from**, and how CI builds it.

mod go;
mod node;
mod other;
mod python;
mod rust;

use std::path::{Path, PathBuf};

/// A command that may start the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Program and arguments, relative to the folder.
    pub command: Vec<String>,
    /// Where it was found, such as `package.json: bin`.
    pub origin: String,
    /// The shell command with which CI builds the server, if it has to be built.
    pub build: Option<String>,
    /// A file that must exist for it to start, and how it is made.
    pub needs: Option<Need>,
    /// Whether CI needs the toolchain of the runner.
    pub on_runner: bool,
    /// Seconds that it may take to start, if that is more than usual.
    pub timeout: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    pub path: String,
    /// How it is made.
    pub build: Option<String>,
}

/// What a folder has.
#[derive(Debug, Default)]
pub struct Found {
    /// Commands, the most likely first.
    pub candidates: Vec<Candidate>,
    /// Lists of servers, such as `.mcp.json`.
    pub lists: Vec<PathBuf>,
}

/// The most of a manifest that is read.
const MOST: u64 = 4 << 20;

/// Server lists of clients and the registry, the most specific first.
pub(crate) const LISTS: [&str; 4] = [
    ".mcp.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    "server.json",
];

/// Looks through a folder.
pub fn detect(folder: &Path) -> Found {
    let mut candidates = Vec::new();
    for look in [
        node::candidates,
        python::candidates,
        rust::candidates,
        go::candidates,
        other::candidates,
    ] {
        for candidate in look(folder) {
            let is_known = |it: &Candidate| it.command == candidate.command;
            if !candidates.iter().any(is_known) {
                candidates.push(candidate);
            }
        }
    }
    let lists = LISTS.iter().map(Path::new);
    Found {
        candidates,
        lists: lists
            .filter(|it| folder.join(it).is_file())
            .map(Path::to_owned)
            .collect(),
    }
}

impl Candidate {
    fn new(command: &[&str], origin: &str) -> Self {
        Self {
            command: command.iter().map(|it| (*it).to_owned()).collect(),
            origin: origin.to_owned(),
            build: None,
            needs: None,
            on_runner: false,
            timeout: None,
        }
    }

    fn built_by(mut self, build: Option<&str>) -> Self {
        self.build = build.map(str::to_owned);
        self
    }

    fn needing(mut self, path: &str) -> Self {
        self.needs = Some(Need {
            path: path.to_owned(),
            build: self.build.clone(),
        });
        self
    }

    fn on_runner(mut self) -> Self {
        self.on_runner = true;
        self
    }

    fn slow(mut self, seconds: u64) -> Self {
        self.timeout = Some(seconds);
        self
    }
}

/// The text of a manifest, if there is one.
fn text(folder: &Path, name: &str) -> Option<String> {
    let bytes = crate::files::read_at_most(&folder.join(name), MOST).ok()?;
    String::from_utf8(bytes).ok()
}

/// A path without a leading `./`.
fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// A path below the folder, not a way out of it.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.split('/').any(|part| part == "..")
}

/// Files of a folder and of those below it, `deep` levels down, sorted, without what is installed or built.
fn files(folder: &Path, deep: usize, extension: &str) -> Vec<String> {
    const MANY: usize = 2_000;
    const SKIPPED: [&str; 9] = [
        "node_modules",
        "target",
        "venv",
        "site-packages",
        "dist",
        "build",
        "tests",
        "test",
        "__pycache__",
    ];
    let mut found = Vec::new();
    let mut waiting = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((at, prefix, depth)) = waiting.pop() {
        let entries = std::fs::read_dir(&at).into_iter().flatten().flatten();
        for entry in entries.take(MANY) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = format!("{prefix}{name}");
            if kind.is_dir() {
                let is_skipped = name.starts_with('.') || SKIPPED.contains(&name.as_str());
                if depth < deep && !is_skipped {
                    waiting.push((entry.path(), format!("{path}/"), depth + 1));
                }
            } else if kind.is_file() && name.ends_with(extension) {
                found.push(path);
            }
        }
        if found.len() > MANY {
            break;
        }
    }
    found.sort_by_key(|it| (it.matches('/').count(), it.clone()));
    found
}

#[cfg(test)]
mod tests;

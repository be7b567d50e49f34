//! Which files are searched: those that git knows or would know, else a walk; sources only, no tests, nothing
//! generated, nothing huge.

use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use super::Language;
use crate::git::git;

/// Bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many source files are read.
    pub files: usize,
    /// A larger file is generated, and skipped.
    pub file_bytes: u64,
    /// How many entries of folders are looked at.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            files: 20_000,
            file_bytes: 1 << 20,
            entries: 500_000,
        }
    }
}

/// Folders that hold no declarations: what others wrote, what a build made, and what only tests or describes.
const SKIPPED: [&str; 32] = [
    ".git",
    ".hg",
    ".mypy_cache",
    ".next",
    ".nox",
    ".pytest_cache",
    ".svn",
    ".tox",
    ".venv",
    "__mocks__",
    "__pycache__",
    "__tests__",
    "bin",
    "bower_components",
    "build",
    "coverage",
    "dist",
    "doc",
    "docs",
    "e2e",
    "fixtures",
    "node_modules",
    "obj",
    "out",
    "site-packages",
    "spec",
    "target",
    "test",
    "testdata",
    "tests",
    "vendor",
    "venv",
];

/// The source files below a folder, relative to it.
pub(super) struct Sources {
    paths: VecDeque<PathBuf>,
    left: usize,
    cut: bool,
}

impl Sources {
    pub(super) fn new(folder: &Path, limits: &Limits) -> Self {
        let (paths, cut) = match of_git(folder) {
            Some(paths) => (paths, false),
            None => walk(folder, limits.entries),
        };
        Self {
            paths: paths.into(),
            left: limits.files,
            cut,
        }
    }

    /// Whether there was more than the limits allow.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }
}

impl Iterator for Sources {
    type Item = (PathBuf, Language);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let path = self.paths.pop_front()?;
            let Some(language) = Language::of(&path).filter(|_| !is_skipped(&path)) else {
                continue;
            };
            if self.left == 0 {
                self.cut = true;
                return None;
            }
            self.left -= 1;
            return Some((path, language));
        }
    }
}

/// What git tracks or would track: `.gitignore` is respected as git itself does. None where there is no repository.
fn of_git(folder: &Path) -> Option<Vec<PathBuf>> {
    let listed = git()
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(folder)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !listed.status.success() {
        return None;
    }
    let paths = listed.stdout.split(|byte| *byte == 0);
    let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

fn walk(folder: &Path, mut entries: usize) -> (Vec<PathBuf>, bool) {
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let Ok(listing) = std::fs::read_dir(folder.join(&inner)) else {
            continue;
        };
        for entry in listing.flatten() {
            if entries == 0 {
                return (paths, true);
            }
            entries -= 1;
            let path = inner.join(entry.file_name());
            // The type of the entry itself: a link is neither, and is not followed.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_skipped(&path) => folders.push(path),
                Ok(kind) if kind.is_file() => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    (paths, false)
}

/// Whether a path, relative to the folder that is searched, is one that holds no declarations.
fn is_skipped(path: &Path) -> bool {
    let in_skipped = path.components().any(|part| match part {
        Component::Normal(name) => name.to_str().is_none_or(|name| SKIPPED.contains(&name)),
        _ => true,
    });
    in_skipped
        || path
            .file_name()
            .and_then(|name| name.to_str())
            .is_none_or(is_test)
}

/// By the habits of each language.
fn is_test(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    [
        ".test", ".spec", ".d", ".min", "_test", "_tests", "Test", "Tests", "IT",
    ]
    .iter()
    .any(|end| stem.ends_with(end))
        || stem.starts_with("test_")
        || matches!(stem, "conftest" | "tests" | "test")
}

/// The text of a file, unless it is too large, not a plain file, or no text.
pub(super) fn read(path: &Path, limits: &Limits) -> Option<String> {
    let bytes = crate::files::read_unfollowed(path, limits.file_bytes).ok()?;
    String::from_utf8(bytes).ok()
}

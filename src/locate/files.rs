//! Which files to search: those that git tracks or would track, else a directory walk; source files
//! only, no tests, nothing generated, nothing huge.

use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};

use super::Language;
use crate::git::{self, Repository};

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The number of source files to read.
    pub files: usize,
    /// A larger file is considered generated and skipped.
    pub file_bytes: u64,
    /// The number of directory entries to visit.
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

/// Directories without declarations: third-party code, build output, tests and documentation.
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

/// The source files below a directory, relative to it.
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

    /// Whether a limit was reached.
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

/// More than the names of any repository that is searched.
const LISTING_BYTES: u64 = 32 << 20;

/// What git tracks or would track, respecting `.gitignore`. `None` outside a repository, and if the listing is longer
/// than a bound.
fn of_git(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut git = Repository::around(folder)?.git().ok()?;
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ])
    .current_dir(folder);
    let listed = git::output(git, LISTING_BYTES).ok()?;
    let paths = listed.split(|byte| *byte == 0);
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

/// Whether a path, relative to the searched directory, has no declarations.
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

/// By the conventions of each language.
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

/// The text of a file, unless it is too large, not a regular file, or not text.
pub(super) fn read(path: &Path, limits: &Limits) -> Option<String> {
    let bytes = crate::files::read_unfollowed(path, limits.file_bytes).ok()?;
    String::from_utf8(bytes).ok()
}

//! Which files the commit that is checked out has. No link is followed, and the working copy is not asked.

use std::collections::BTreeMap;

use super::{EntryKind, Repository, entries, output};
use crate::files::MAX_BYTES;

/// Everything that one commit has, but for folders, by its path from the root of the repository.
pub(crate) struct CheckedOutFiles(BTreeMap<String, EntryKind>);

impl CheckedOutFiles {
    /// None if there is no commit yet, or if it has more than is read of it.
    pub(super) fn read(repository: &Repository) -> Option<Self> {
        let mut git = repository.git().ok()?;
        git.args(["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
        let listed = entries(&output(git, MAX_BYTES).ok()?)?;
        let paths = listed.into_iter().map(|entry| (entry.name, entry.kind));
        Some(Self(paths.collect()))
    }

    /// Whether the commit has a regular file at a path.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.0.get(path) == Some(&EntryKind::File)
    }

    /// Whether the commit decides what is at a path: it has something there or below, or something that is no folder on the
    /// way to it. Upper and lower case are one, as on the file systems of macOS and Windows.
    pub(crate) fn decides(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        self.0.keys().any(|name| {
            let name = name.to_lowercase();
            let is_below = |inner: &str, outer: &str| {
                let rest = inner.strip_prefix(outer);
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            path.is_empty() || name == path || is_below(&name, &path) || is_below(&path, &name)
        })
    }
}

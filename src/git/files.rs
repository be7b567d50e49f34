//! Which files the commit that is checked out has. No link is followed, and the working copy is not asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::objects::{Entry, EntryKind, Objects, commit, tree};

/// The files of one commit.
pub(crate) struct CheckedOutFiles {
    objects: Objects,
    root: String,
    /// The folders that were looked at.
    known: BTreeMap<String, Arc<[Entry]>>,
}

impl CheckedOutFiles {
    pub(super) fn of(id: &str, mut objects: Objects) -> Option<Self> {
        let bytes = objects.read(id, "commit").ok()??;
        Some(Self {
            root: commit(&bytes)?.tree,
            objects,
            known: BTreeMap::new(),
        })
    }

    /// Whether the commit has a regular file at a path, which counts from the root of the repository.
    pub(crate) fn has_file(&mut self, path: &str) -> Result<bool, String> {
        let mut folder = self.root.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let entries = self.entries(&folder)?;
            let found = entries.iter().find(|it| it.name == part.as_bytes());
            match (found, parts.peek().is_none()) {
                (Some(entry), true) => return Ok(entry.kind == EntryKind::File),
                (Some(entry), false) if entry.kind == EntryKind::Folder => {
                    folder.clone_from(&entry.id);
                }
                _ => break,
            }
        }
        Ok(false)
    }

    /// Whether the commit decides what is at a path: it has something there, or something that is no folder on the way to it.
    /// Upper and lower case are one, as on the file systems of macOS and Windows.
    pub(crate) fn decides(&mut self, path: &str) -> Result<bool, String> {
        let mut folders = vec![self.root.clone()];
        for part in path.split('/').filter(|it| !it.is_empty()) {
            let mut below = Vec::new();
            for folder in folders {
                for entry in self.entries(&folder)?.iter() {
                    let name = String::from_utf8_lossy(&entry.name);
                    if name.to_lowercase() != part.to_lowercase() {
                        continue;
                    }
                    if entry.kind != EntryKind::Folder {
                        return Ok(true);
                    }
                    below.push(entry.id.clone());
                }
            }
            folders = below;
        }
        Ok(!folders.is_empty())
    }

    fn entries(&mut self, id: &str) -> Result<Arc<[Entry]>, String> {
        if let Some(known) = self.known.get(id) {
            return Ok(Arc::clone(known));
        }
        let bytes = self.objects.read(id, "tree")?;
        let bytes = bytes.ok_or_else(|| format!("the clone does not have tree {id}"))?;
        let entries = tree(id, &bytes).ok_or_else(|| format!("tree {id} is malformed"))?;
        let entries: Arc<[Entry]> = entries.into();
        self.known.insert(id.to_owned(), Arc::clone(&entries));
        Ok(entries)
    }
}

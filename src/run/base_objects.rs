//! Files of a commit, read from the clone's objects, or from GitHub where the clone lacks them.
//!
//! Nothing here depends on a name that the pull request could have changed: everything is reached from the commit by
//! hashes that are computed here. That a file is not there is believed only from a tree that was read and has no such
//! entry; a 404 says nothing.

use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use base64::Engine as _;
use serde::Deserialize;

use crate::git::{self, Commit, Entry, EntryKind, Objects, Repository};
use crate::github::Api;

/// What became of reading a file of the base.
#[derive(Clone, Debug)]
pub(crate) enum Found<T> {
    Read(T),
    /// The commit was read, and has no such file.
    Absent,
    /// It exists and is invalid.
    Broken(String),
    /// It could not be read, and what it says is not known.
    Unreadable(String),
}

impl<T> Found<T> {
    pub(crate) fn read(&self) -> Option<&T> {
        match self {
            Self::Read(it) => Some(it),
            _ => None,
        }
    }

    /// Why it is not known what it says.
    pub(crate) fn problem(&self) -> Option<&str> {
        match self {
            Self::Broken(problem) | Self::Unreadable(problem) => Some(problem),
            Self::Read(_) | Self::Absent => None,
        }
    }

    /// The value made from what was read.
    pub(crate) fn and_then<U>(self, make: impl FnOnce(T) -> Result<U, String>) -> Found<U> {
        match self {
            Self::Read(it) => match make(it) {
                Ok(made) => Found::Read(made),
                Err(problem) => Found::Broken(problem),
            },
            Self::Absent => Found::Absent,
            Self::Broken(problem) => Found::Broken(problem),
            Self::Unreadable(problem) => Found::Unreadable(problem),
        }
    }
}

/// How many links lead to one file at most, as in Linux.
const MAX_LINKS: usize = 40;

/// How many commits are looked at for a merge base.
const MAX_COMMITS: usize = 100_000;

/// Where objects come from.
pub(crate) struct Store<'a> {
    local: Option<Objects>,
    api: Option<&'a Api>,
}

#[derive(Deserialize)]
struct Named {
    sha: String,
}

#[derive(Deserialize)]
struct SentCommit {
    tree: Named,
    parents: Vec<Named>,
}

#[derive(Deserialize)]
struct SentTree {
    tree: Vec<SentEntry>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Deserialize)]
struct SentEntry {
    path: String,
    mode: String,
    sha: String,
}

#[derive(Deserialize)]
struct SentBlob {
    content: String,
    encoding: String,
}

impl<'a> Store<'a> {
    pub(crate) fn new(repository: Option<&Repository>, api: Option<&'a Api>) -> Self {
        Self {
            local: repository.and_then(Repository::objects),
            api,
        }
    }

    /// The bytes of an object of the clone; none if it lacks it.
    fn local(&mut self, id: &str, kind: &str) -> Result<Option<Vec<u8>>, String> {
        match &mut self.local {
            Some(objects) => objects.read(id, kind),
            None => Ok(None),
        }
    }

    async fn sent<T: serde::de::DeserializeOwned>(
        &self,
        what: &str,
        id: &str,
    ) -> Result<T, String> {
        let Some(api) = self.api else {
            return Err(format!(
                "the clone does not have object {id}, and there is no token"
            ));
        };
        let answer = api.get(&format!("/git/{what}/{id}")).await;
        answer.map_err(|error| error.to_string())
    }

    /// A commit of the clone; none if it lacks it.
    pub(crate) fn local_commit(&mut self, id: &str) -> Result<Option<Commit>, String> {
        let bytes = self.local(id, "commit")?;
        let read = |bytes: Vec<u8>| git::commit(&bytes).ok_or_else(|| malformed(id));
        bytes.map(read).transpose()
    }

    pub(crate) async fn commit(&mut self, id: &str) -> Result<Commit, String> {
        if let Some(commit) = self.local_commit(id)? {
            return Ok(commit);
        }
        let sent: SentCommit = self.sent("commits", id).await?;
        let parents: Vec<String> = sent.parents.into_iter().map(|it| it.sha).collect();
        let ids = || parents.iter().chain([&sent.tree.sha]);
        if !ids().all(|it| git::is_id(it)) {
            return Err(malformed(id));
        }
        Ok(Commit {
            tree: sent.tree.sha.clone(),
            parents,
            time: 0,
        })
    }

    async fn tree(&mut self, id: &str) -> Result<Vec<Entry>, String> {
        if let Some(bytes) = self.local(id, "tree")? {
            return git::tree(id, &bytes).ok_or_else(|| malformed(id));
        }
        let sent: SentTree = self.sent("trees", id).await?;
        if sent.truncated {
            return Err(format!("GitHub truncated tree {id}"));
        }
        let entry = |it: SentEntry| {
            Some(Entry {
                name: it.path.into_bytes(),
                kind: EntryKind::of_mode(&it.mode)?,
                id: Some(it.sha).filter(|it| git::is_id(it))?,
            })
        };
        let entries: Option<Vec<Entry>> = sent.tree.into_iter().map(entry).collect();
        entries.ok_or_else(|| malformed(id))
    }

    async fn blob(&mut self, id: &str) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.local(id, "blob")? {
            return Ok(bytes);
        }
        let sent: SentBlob = self.sent("blobs", id).await?;
        if sent.encoding != "base64" {
            return Err(malformed(id));
        }
        let packed: String = sent.content.split_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(packed)
            .map_err(|error| error.to_string())?;
        if git::hash(id, "blob", &bytes) != id {
            return Err(malformed(id));
        }
        Ok(bytes)
    }

    /// The text of a file of a commit. `path` counts from the root of the repository; links are followed within the tree.
    pub(crate) async fn text(&mut self, commit: &str, path: &str) -> Found<String> {
        match self.bytes(commit, path).await {
            Ok(Some(bytes)) => match String::from_utf8(bytes) {
                Ok(text) if text.starts_with("version https://git-lfs.github.com/spec/") => {
                    Found::Unreadable(format!("{path} is a Git LFS pointer"))
                }
                Ok(text) => Found::Read(text),
                Err(_) => Found::Unreadable(format!("{path} is not UTF-8")),
            },
            Ok(None) => Found::Absent,
            Err(problem) => Found::Unreadable(problem),
        }
    }

    async fn bytes(&mut self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, String> {
        let root = self.commit(commit).await?.tree;
        // The folders that lead to where we are, by their trees.
        let mut folders = vec![root];
        let mut ahead: VecDeque<Vec<u8>> = parts(path.as_bytes());
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            if part == b".." {
                if folders.len() == 1 {
                    return Err(format!("{path} is outside the repository"));
                }
                folders.pop();
                continue;
            }
            let Some(here) = folders.last().cloned() else {
                return Err(malformed(commit));
            };
            let entries = self.tree(&here).await?;
            let Some(entry) = entries.into_iter().find(|it| it.name == part) else {
                // A link that leads nowhere is not the same as no file.
                if links > 0 {
                    return Err(format!("{path} is a link to a file that is not there"));
                }
                return Ok(None);
            };
            match entry.kind {
                EntryKind::Folder => folders.push(entry.id),
                EntryKind::File if ahead.is_empty() => return self.blob(&entry.id).await.map(Some),
                EntryKind::File => return Err(format!("{path} leads through a file")),
                EntryKind::Submodule => return Err(format!("{path} leads into a submodule")),
                EntryKind::Link => {
                    links += 1;
                    let target = self.blob(&entry.id).await?;
                    if target.first() == Some(&b'/') || links > MAX_LINKS {
                        return Err(format!("{path} is a link to outside the repository"));
                    }
                    let mut onward = parts(&target);
                    onward.append(&mut ahead);
                    ahead = onward;
                }
            }
        }
        Err(format!("{path} is a folder"))
    }

    /// The best common ancestor of two commits, from objects of the clone alone. None if the clone lacks a part of the
    /// history, or if there is none or more than one.
    pub(crate) fn merge_base(&mut self, one: &str, other: &str) -> Result<Option<String>, String> {
        const ONE: u8 = 1;
        const OTHER: u8 = 2;
        const STALE: u8 = 4;
        const COMMON: u8 = ONE | OTHER;
        if one == other {
            return Ok(Some(one.to_owned()));
        }
        let mut known: BTreeMap<String, (Commit, u8)> = BTreeMap::new();
        let mut queue: BinaryHeap<(i64, String)> = BinaryHeap::new();
        let mut results: Vec<String> = Vec::new();
        let mut reached: VecDeque<(String, u8)> =
            [(one.to_owned(), ONE), (other.to_owned(), OTHER)].into();
        loop {
            while let Some((id, marks)) = reached.pop_front() {
                if let Some((commit, before)) = known.get_mut(&id) {
                    if *before | marks != *before {
                        *before |= marks;
                        queue.push((commit.time, id));
                    }
                    continue;
                }
                if known.len() >= MAX_COMMITS {
                    return Err(format!("no merge base within {MAX_COMMITS} commits"));
                }
                let Some(commit) = self.local_commit(&id)? else {
                    // Beyond a common ancestor the history of a shallow clone may end.
                    if marks & STALE == STALE {
                        continue;
                    }
                    return Ok(None);
                };
                queue.push((commit.time, id.clone()));
                known.insert(id, (commit, marks));
            }
            // Dates can be wrong, and are the author's to choose: with one result, what is left must not be able to
            // become another; with more, everything is looked at.
            let is_open = |(_, id): &(i64, String)| {
                known.get(id).is_some_and(|(_, marks)| marks & STALE == 0)
            };
            if results.len() == 1 && !queue.iter().any(is_open) {
                break;
            }
            let Some((_, id)) = queue.pop() else { break };
            let Some((commit, marks)) = known.get(&id) else {
                continue;
            };
            let mut onward = *marks;
            if onward & COMMON == COMMON {
                if onward & STALE == 0 && !results.contains(&id) {
                    results.push(id.clone());
                }
                onward |= STALE;
            }
            reached.extend(commit.parents.iter().map(|it| (it.clone(), onward)));
        }
        let is_best = |id: &String| known.get(id).is_some_and(|(_, marks)| marks & STALE == 0);
        results.retain(is_best);
        match &results[..] {
            [best] => Ok(Some(best.clone())),
            _ => Ok(None),
        }
    }
}

fn malformed(id: &str) -> String {
    format!("object {id} is malformed")
}

fn parts(path: &[u8]) -> VecDeque<Vec<u8>> {
    let parts = path.split(|byte| *byte == b'/');
    parts
        .filter(|it| !it.is_empty() && *it != b".")
        .map(<[u8]>::to_vec)
        .collect()
}

//! Files of the base. With a token GitHub says which files a commit has, and with which bytes; otherwise git says it, of the
//! clone.
//!
//! That a file is not there is believed only of a folder that was listed and has no such entry; a 404 says nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use base64::Engine as _;
use serde::Deserialize;

use crate::git::{Entry, EntryKind, Repository, blob_id, is_id};
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

/// Where files of a commit are read.
pub(crate) struct BaseFiles<'a> {
    repository: Option<&'a Repository>,
    api: Option<&'a Api>,
    /// The folders that were listed, by the ids of their trees.
    listed: BTreeMap<String, Arc<[Entry]>>,
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

impl<'a> BaseFiles<'a> {
    pub(crate) fn new(repository: Option<&'a Repository>, api: Option<&'a Api>) -> Self {
        Self {
            repository,
            api,
            listed: BTreeMap::new(),
        }
    }

    fn read_clone<T>(
        &self,
        id: &str,
        read: impl FnOnce(&Repository) -> Result<T, String>,
    ) -> Result<T, String> {
        let repository = self.repository.ok_or("there is no clone")?;
        let read = read(repository);
        read.map_err(|problem| format!("the clone: object {id}: {problem}; there is no token"))
    }

    /// What is in a folder, by the id of its tree; a commit stands for its root.
    async fn folder(&mut self, id: &str) -> Result<Arc<[Entry]>, String> {
        if let Some(known) = self.listed.get(id) {
            return Ok(Arc::clone(known));
        }
        let entries = match self.api {
            Some(api) => sent_folder(api, id).await?,
            None => self.read_clone(id, |repository| repository.folder(id))?,
        };
        let entries: Arc<[Entry]> = entries.into();
        self.listed.insert(id.to_owned(), Arc::clone(&entries));
        Ok(entries)
    }

    async fn blob(&self, id: &str) -> Result<Vec<u8>, String> {
        let Some(api) = self.api else {
            return self.read_clone(id, |repository| repository.blob(id));
        };
        // The bytes that the clone has under the id that GitHub names save a request, if they are those.
        let of_clone = self.repository.and_then(|it| it.blob(id).ok());
        if let Some(bytes) = of_clone.filter(|bytes| blob_id(bytes) == id) {
            return Ok(bytes);
        }
        let sent: SentBlob = sent(api, "blobs", id).await?;
        if sent.encoding != "base64" {
            return Err(malformed(id));
        }
        let packed: String = sent.content.split_whitespace().collect();
        base64::engine::general_purpose::STANDARD
            .decode(packed)
            .map_err(|error| error.to_string())
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
        // The folders that lead to where we are.
        let mut folders = vec![commit.to_owned()];
        let mut ahead = parts(path);
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            if part == ".." {
                if folders.len() == 1 {
                    return Err(format!("{path} is outside the repository"));
                }
                folders.pop();
                continue;
            }
            let Some(here) = folders.last().cloned() else {
                return Err(malformed(commit));
            };
            let entries = self.folder(&here).await?;
            let Some(entry) = entries.iter().find(|entry| entry.name == part) else {
                // A link that leads nowhere is not the same as no file.
                if links > 0 {
                    return Err(format!("{path} is a link to a file that is not there"));
                }
                return Ok(None);
            };
            match entry.kind {
                EntryKind::Folder => folders.push(entry.id.clone()),
                EntryKind::File if ahead.is_empty() => return self.blob(&entry.id).await.map(Some),
                EntryKind::File => return Err(format!("{path} leads through a file")),
                EntryKind::Submodule => return Err(format!("{path} leads into a submodule")),
                EntryKind::Link => {
                    links += 1;
                    let target = self.blob(&entry.id).await?;
                    let target = String::from_utf8(target).map_err(|_| malformed(&entry.id))?;
                    if target.starts_with('/') || links > MAX_LINKS {
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
}

async fn sent<T: serde::de::DeserializeOwned>(
    api: &Api,
    what: &str,
    id: &str,
) -> Result<T, String> {
    let answer = api.get(&format!("/git/{what}/{id}")).await;
    answer.map_err(|error| error.to_string())
}

async fn sent_folder(api: &Api, id: &str) -> Result<Vec<Entry>, String> {
    let sent: SentTree = sent(api, "trees", id).await?;
    if sent.truncated {
        return Err(format!("GitHub truncated tree {id}"));
    }
    let entry = |sent: SentEntry| {
        Some(Entry {
            name: sent.path,
            kind: EntryKind::of_mode(&sent.mode)?,
            id: Some(sent.sha).filter(|id| is_id(id))?,
        })
    };
    let entries: Option<Vec<Entry>> = sent.tree.into_iter().map(entry).collect();
    entries.ok_or_else(|| malformed(id))
}

fn malformed(id: &str) -> String {
    format!("object {id} is malformed")
}

fn parts(path: &str) -> VecDeque<String> {
    let parts = path.split('/');
    parts
        .filter(|part| !part.is_empty() && *part != ".")
        .map(str::to_owned)
        .collect()
}

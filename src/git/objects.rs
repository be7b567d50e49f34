//! Objects of a repository, each believed only if its bytes have the hash that it is named by.
//!
//! That makes everything below a trusted commit trusted: a commit names its tree and its parents by their hashes, a tree
//! its entries. (SHA-1, as GitHub uses it: an attacker who can make two files with one hash, which GitHub refuses to store, can
//! get around this.)

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::PATIENCE;
use crate::files::MAX_BYTES;

/// Whether a text is the full name of an object: SHA-1, or SHA-256 in a repository of the other kind.
pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name that an object has to have, in the repository that `like` names an object of.
pub(crate) fn hash(like: &str, kind: &str, bytes: &[u8]) -> String {
    let header = format!("{kind} {}\0", bytes.len());
    let hex = |digest: &[u8]| digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if like.len() == 64 {
        let digest = Sha256::new().chain_update(header).chain_update(bytes);
        hex(&digest.finalize())
    } else {
        let digest = Sha1::new().chain_update(header).chain_update(bytes);
        hex(&digest.finalize())
    }
}

/// What is needed of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) tree: String,
    pub(crate) parents: Vec<String>,
    /// Seconds since 1970, as the committer says.
    pub(crate) time: i64,
}

/// From the bytes of a commit.
pub(crate) fn commit(bytes: &[u8]) -> Option<Commit> {
    let end = bytes
        .windows(2)
        .position(|it| it == b"\n\n")
        .unwrap_or(bytes.len());
    let header = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = header.lines();
    let id = |text: &str| is_id(text).then(|| text.to_owned());
    let tree = id(lines.next()?.strip_prefix("tree ")?)?;
    let mut parents = Vec::new();
    let mut time = 0;
    for line in lines {
        if let Some(parent) = line.strip_prefix("parent ") {
            parents.push(id(parent)?);
        } else if let Some(committer) = line.strip_prefix("committer ") {
            let mut words = committer.rsplit(' ').skip(1);
            time = words.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        } else if !line.starts_with("author ") {
            break;
        }
    }
    Some(Commit {
        tree,
        parents,
        time,
    })
}

/// What an entry of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Folder,
    File,
    Link,
    /// A commit of another repository.
    Submodule,
}

impl EntryKind {
    /// From the mode of an entry.
    pub(crate) fn of_mode(mode: &str) -> Option<Self> {
        match mode.trim_start_matches('0') {
            "40000" => Some(Self::Folder),
            "100644" | "100755" | "100664" => Some(Self::File),
            "120000" => Some(Self::Link),
            "160000" => Some(Self::Submodule),
            _ => None,
        }
    }
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: EntryKind,
    pub(crate) id: String,
}

/// From the bytes of a tree, in the repository that `like` names an object of.
pub(crate) fn tree(like: &str, mut bytes: &[u8]) -> Option<Vec<Entry>> {
    let length = like.len() / 2;
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|byte| *byte == b' ')?;
        let mode = std::str::from_utf8(&bytes[..space]).ok()?;
        let rest = &bytes[space + 1..];
        let end = rest.iter().position(|byte| *byte == 0)?;
        let id = rest.get(end + 1..end + 1 + length)?;
        entries.push(Entry {
            name: rest[..end].to_vec(),
            kind: EntryKind::of_mode(mode)?,
            id: id.iter().map(|byte| format!("{byte:02x}")).collect(),
        });
        bytes = &rest[end + 1 + length..];
    }
    Some(entries)
}

/// An object as git printed it; none if it has none of this name.
type Printed = Result<Option<(String, Vec<u8>)>, String>;

/// One `git cat-file --batch`, asked for one object after the other.
pub(crate) struct Objects {
    child: Child,
    stdin: ChildStdin,
    printed: mpsc::Receiver<Printed>,
    /// Git did not answer as it should; nothing that it says now belongs to what is asked.
    broken: Option<String>,
}

impl Objects {
    pub(super) fn new(mut git: Command) -> Option<Self> {
        let mut child = git
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let (sender, printed) = mpsc::channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let object = next(&mut stdout);
                let ended = object.is_err();
                if sender.send(object).is_err() || ended {
                    return;
                }
            }
        });
        Some(Self {
            child,
            stdin,
            printed,
            broken: None,
        })
    }

    /// The bytes of an object of this kind; none if the clone does not have it. An error if it is not what its name says.
    pub(crate) fn read(&mut self, id: &str, kind: &str) -> Result<Option<Vec<u8>>, String> {
        if !is_id(id) {
            return Err(format!("`{id}` is not the name of an object"));
        }
        if let Some(problem) = &self.broken {
            return Err(problem.clone());
        }
        let asked = self.stdin.write_all(format!("{id}\n").as_bytes());
        let answer = match asked.and_then(|()| self.stdin.flush()) {
            Ok(()) => self.printed.recv_timeout(PATIENCE),
            Err(_) => Err(mpsc::RecvTimeoutError::Disconnected),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(_) => Err("git did not answer".to_owned()),
        };
        let object = answer.inspect_err(|problem| self.broken = Some(problem.clone()))?;
        let Some((found, bytes)) = object else {
            return Ok(None);
        };
        if found != kind {
            return Err(format!("object {id} is a {found} and not a {kind}"));
        }
        if hash(id, kind, &bytes) != id {
            return Err(format!(
                "object {id} of the clone does not have the hash that it is named by"
            ));
        }
        Ok(Some(bytes))
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn next(stdout: &mut BufReader<ChildStdout>) -> Printed {
    let ended = || "git ended early".to_owned();
    let mut header = Vec::new();
    let mut line = stdout.by_ref().take(512);
    line.read_until(b'\n', &mut header).map_err(|_| ended())?;
    let header = String::from_utf8_lossy(&header);
    let Some(header) = header.strip_suffix('\n') else {
        return Err(ended());
    };
    let words: Vec<&str> = header.split(' ').collect();
    match words[..] {
        [_, "missing"] => Ok(None),
        [_, kind, size] => {
            let size: u64 = size.parse().map_err(|_| ended())?;
            if size > MAX_BYTES {
                return Err(format!("an object has {size} bytes"));
            }
            let mut bytes = Vec::new();
            stdout
                .by_ref()
                .take(size + 1)
                .read_to_end(&mut bytes)
                .map_err(|_| ended())?;
            if bytes.pop() != Some(b'\n') || bytes.len() as u64 != size {
                return Err(ended());
            }
            Ok(Some((kind.to_owned(), bytes)))
        }
        _ => Err(ended()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA1: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn names_are_those_of_git() {
        // `git hash-object -t blob /dev/null`, in repositories of both kinds.
        assert_eq!(
            hash(SHA1, "blob", b""),
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        );
        let sha256 = "0".repeat(64);
        assert_eq!(
            hash(&sha256, "blob", b""),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
    }

    #[test]
    fn a_commit_has_a_tree_and_parents() {
        let [one, two, three] = ["1", "2", "3"].map(|it| it.repeat(40));
        let text = format!(
            "tree {one}\nparent {two}\nparent {three}\nauthor A <a@a> 1 +0000\n\
             committer A B <a@a> 1700000000 +0100\ngpgsig x\n parent {one}\n\nparent {one}\n"
        );
        let read = commit(text.as_bytes()).unwrap();
        assert_eq!((read.tree, read.time), (one, 1_700_000_000));
        assert_eq!(read.parents, [two, three]);
        assert_eq!(commit(b"tree main\n\n"), None);
    }

    #[test]
    fn a_tree_has_entries_of_four_kinds() {
        let mut bytes = Vec::new();
        for (mode, name) in [
            ("40000", "folder"),
            ("100755", "run"),
            ("120000", "link"),
            ("160000", "module"),
        ] {
            bytes.extend(format!("{mode} {name}\0").bytes());
            bytes.extend([0xab; 20]);
        }
        let entries = tree(SHA1, &bytes).unwrap();
        let kinds: Vec<EntryKind> = entries.iter().map(|it| it.kind).collect();
        use EntryKind::{File, Folder, Link, Submodule};
        assert_eq!(kinds, [Folder, File, Link, Submodule]);
        assert_eq!(entries[0].id, "ab".repeat(20));
        assert_eq!(tree(SHA1, &bytes[..bytes.len() - 1]), None);
    }
}

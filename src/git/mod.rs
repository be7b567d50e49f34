//! Runs git to read what the clone has, and nothing else.
//!
//! A pull request controls the repository, and git runs programs named by configuration and environment. Here
//! it runs none: no pager, hook, file-system monitor, text conversion, credential helper or prompt. It does
//! not use the network either: objects that a partial clone lacks count as missing.
//!
//! - **Which repository** is decided here, by the nearest `.git` above a folder, and passed to git as `GIT_DIR`. Git's own
//!   search would take a folder for a repository because a pull request committed `HEAD`, `objects` and `refs` in it.
//! - **Which git** is decided at the start ([`own_programs`]), before a server could put another one on the PATH.
//! - **No `GIT_*` variable** of our environment reaches git: each of them can point it elsewhere. No secret does either.
//! - **Neither a replacement, a graft nor a commit graph** stands in for an object. That an object has the hash that names it is
//!   git's to check.
//! - **Git is never waited for without an end**, and what it prints is read up to a bound.

mod files;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use sha1::{Digest as _, Sha1};

pub(crate) use files::CheckedOutFiles;

use crate::files::MAX_BYTES;
use crate::launch::own_programs;
use crate::own_env;

/// How long git may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A repository with a working copy.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    git_dir: PathBuf,
    root: PathBuf,
}

impl Repository {
    /// The repository whose working copy a folder is in: the one of the nearest `.git` at or above it. Above as it is
    /// written: a link that a pull request put in the place of the folder does not lead to another place.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        let here = std::env::current_dir().ok()?;
        let folder = crate::files::without_dots(&here.join(folder));
        let found = |root: &Path| {
            let git_dir = git_dir(root)?;
            let root = root.to_owned();
            Some(Self { git_dir, root })
        };
        folder.ancestors().find_map(found)
    }

    /// The folder that holds `.git`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `git`, ready for a read-only subcommand.
    pub(crate) fn git(&self) -> Result<Command, String> {
        let mut git = git()?;
        git.env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.root);
        Ok(git)
    }

    /// Sets a value in the configuration of this clone, for `init`. The only thing that is written here.
    pub(crate) fn configure(&self, name: &str, value: &str) -> bool {
        let Ok(mut git) = self.git() else {
            return false;
        };
        git.args(["config", "--local", name, value]);
        output(git, 1024).is_ok()
    }

    /// The commit that is checked out, as git names it. An error if there is no git to ask.
    pub(crate) fn head(&self) -> Result<Option<String>, String> {
        self.resolve("HEAD")
    }

    /// The commit that a revision names. An error if there is no git to ask.
    pub(crate) fn resolve(&self, revision: &str) -> Result<Option<String>, String> {
        let mut git = self.git()?;
        git.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        git.arg(format!("{revision}^{{commit}}"));
        let id = output(git, 1024)
            .ok()
            .and_then(|it| String::from_utf8(it).ok());
        let id = id.map(|it| it.trim().to_owned());
        Ok(id.filter(|it| is_id(it)))
    }

    /// Whether git ignores a file of the working copy.
    pub(crate) fn ignores(&self, file: &Path) -> bool {
        let Ok(mut git) = self.git() else {
            return false;
        };
        git.current_dir(&self.root);
        git.args(["check-ignore", "--quiet", "--"]).arg(file);
        output(git, 1024).is_ok()
    }

    /// The files of the commit that is checked out; none if there is no commit yet.
    pub(crate) fn checked_out(&self) -> Option<CheckedOutFiles> {
        CheckedOutFiles::read(self)
    }

    /// The parents of a commit, those that a shallow clone lacks included.
    pub(crate) fn parents(&self, commit: &str) -> Result<Vec<String>, String> {
        let text = self.object("commit", commit)?;
        let text = String::from_utf8_lossy(&text);
        let header = text.lines().take_while(|line| !line.is_empty());
        let parents = header.filter_map(|line| line.strip_prefix("parent "));
        Ok(parents.map(str::to_owned).collect())
    }

    /// What is in a folder, by the id of its tree, or at the root of a commit.
    pub(crate) fn folder(&self, id: &str) -> Result<Vec<Entry>, String> {
        let mut git = self.git()?;
        git.args(["ls-tree", "-z", "--full-tree", id]);
        let listed = output(git, MAX_BYTES)?;
        entries(&listed).ok_or_else(|| format!("git listed tree {id} in an unknown way"))
    }

    /// The bytes of a file, by its id.
    pub(crate) fn blob(&self, id: &str) -> Result<Vec<u8>, String> {
        self.object("blob", id)
    }

    fn object(&self, kind: &str, id: &str) -> Result<Vec<u8>, String> {
        if !is_id(id) {
            return Err(format!("`{id}` is not the name of an object"));
        }
        let mut git = self.git()?;
        git.args(["cat-file", kind, id]);
        output(git, MAX_BYTES)
    }

    /// The best common ancestor of two commits; none if the clone knows none, or more than one.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        let mut git = self.git().ok()?;
        git.args(["merge-base", "--all", one, other]);
        let printed = String::from_utf8(output(git, 4096).ok()?).ok()?;
        let found = printed.trim();
        is_id(found).then(|| found.to_owned())
    }
}

/// Whether a text is the full name of an object: SHA-1, or SHA-256 in a repository of the other kind.
pub(crate) fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    matches!(text.len(), 40 | 64) && text.bytes().all(is_digit)
}

/// The id of a file with these bytes, on GitHub.
pub(crate) fn blob_id(bytes: &[u8]) -> String {
    let header = format!("blob {}\0", bytes.len());
    let digest = Sha1::new().chain_update(header).chain_update(bytes);
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
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
    pub(crate) fn of_mode(mode: &str) -> Option<Self> {
        match mode {
            "040000" => Some(Self::Folder),
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
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
    pub(crate) id: String,
}

/// From what `git ls-tree -z` prints. A name that is not UTF-8 is shown with replacement characters; none that is looked for
/// has one.
fn entries(listed: &[u8]) -> Option<Vec<Entry>> {
    let listed = String::from_utf8_lossy(listed);
    let lines = listed.split_terminator('\0');
    let entry = |line: &str| {
        let (about, name) = line.split_once('\t')?;
        let mut about = about.split(' ');
        Some(Entry {
            kind: EntryKind::of_mode(about.next()?)?,
            id: about.nth(1)?.to_owned(),
            name: name.to_owned(),
        })
    };
    lines.map(entry).collect()
}

/// Where the repository of a working copy is: in its `.git`, or where the file of this name says (a worktree, a
/// submodule).
fn git_dir(root: &Path) -> Option<PathBuf> {
    let found = root.join(".git");
    if found.is_dir() {
        return Some(found);
    }
    let text = crate::files::read_start(&found, 4096).ok()?;
    let text = String::from_utf8(text).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    let named = root.join(named);
    named.is_dir().then_some(named)
}

/// `git`, before it is known in which repository.
fn git() -> Result<Command, String> {
    let mut git = Command::new(own_programs::git()?);
    for (name, value) in std::env::vars_os() {
        let is_of_git = name.to_string_lossy().starts_with("GIT_");
        if is_of_git || own_env::is_private(&name, &value) {
            git.env_remove(name);
        }
    }
    git.env("PATH", own_programs::path_variable());
    git.arg("--no-pager");
    for setting in [
        // In a container the files belong to another user, which git would refuse.
        "safe.directory=*",
        "safe.bareRepository=explicit",
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "core.askPass=",
        "core.commitGraph=false",
        "credential.helper=",
        // Runs the program that `gpg.program` names.
        "log.showSignature=false",
        "protocol.allow=never",
    ] {
        git.args(["-c", setting]);
    }
    git.env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_GRAFT_FILE", "/dev/null")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env_remove("SSH_ASKPASS")
        .stdin(Stdio::null());
    Ok(git)
}

/// Merges three files as git does without a driver: conflict markers in `ours`.
pub(crate) fn merge_text(ancestor: &Path, ours: &Path, theirs: &Path) {
    let Ok(mut git) = git() else {
        return;
    };
    git.args([
        "merge-file",
        "-q",
        "-L",
        "ours",
        "-L",
        "base",
        "-L",
        "theirs",
    ]);
    git.args([ours, ancestor, theirs]);
    let _ = output(git, 1024);
}

/// What a git command prints, up to a bound. The problem is git's own first line where it has one.
pub(crate) fn output(mut git: Command, most: u64) -> Result<Vec<u8>, String> {
    git.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = git
        .spawn()
        .map_err(|error| format!("cannot run git: {error}"))?;
    let (sender, printed) = mpsc::channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let from = stderr.map(|it| it.take(4096));
            let _ = from.map(|mut it| it.read_to_end(&mut text));
            text
        });
        let read = stdout.map(|it| it.take(most + 1).read_to_end(&mut said));
        let read = read.is_some_and(|it| it.is_ok());
        let _ = sender.send((said, errors, read));
    });
    let received = printed.recv_timeout(PATIENCE);
    let Ok((said, errors, true)) = received else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!(
            "git did not answer within {} s",
            PATIENCE.as_secs()
        ));
    };
    if said.len() as u64 > most {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("git printed more than {most} bytes"));
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(said);
    }
    let errors = errors.join().unwrap_or_default();
    let errors = String::from_utf8_lossy(&errors);
    let first = errors.lines().next().unwrap_or("git failed");
    Err(first.trim_start_matches("fatal: ").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_looks_like_a_repository_is_none() {
        let root = tempfile::tempdir().unwrap();
        let sub = root.path().join("sub");
        std::fs::create_dir_all(sub.join("objects")).unwrap();
        std::fs::create_dir_all(sub.join("refs")).unwrap();
        std::fs::write(sub.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::create_dir(root.path().join(".git")).unwrap();
        let found = Repository::around(&sub).unwrap();
        assert_eq!(found.root(), root.path());
    }

    #[test]
    fn the_id_of_a_file_is_that_of_git() {
        // `git hash-object -t blob /dev/null`
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    }

    #[test]
    fn a_tree_has_entries_of_four_kinds() {
        let id = "ab".repeat(20);
        let kinds = [
            ("040000 tree", "folder"),
            ("100755 blob", "run"),
            ("120000 blob", "a link"),
            ("160000 commit", "module"),
        ];
        let listed = kinds.map(|(kind, name)| format!("{kind} {id}\t{name}\0"));
        let found = entries(listed.concat().as_bytes()).unwrap();
        let found: Vec<_> = found.iter().map(|it| (it.kind, &*it.name)).collect();
        use EntryKind::{File, Folder, Link, Submodule};
        let expected = [
            (Folder, "folder"),
            (File, "run"),
            (Link, "a link"),
            (Submodule, "module"),
        ];
        assert_eq!(found, expected);
        assert_eq!(entries(b"040000 tree\tfolder\0"), None);
    }

    #[test]
    fn a_worktree_is_found_through_its_file() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("main/.git/worktrees/one")).unwrap();
        std::fs::create_dir(root.path().join("one")).unwrap();
        let file = root.path().join("one/.git");
        std::fs::write(file, "gitdir: ../main/.git/worktrees/one\n").unwrap();
        let found = Repository::around(&root.path().join("one")).unwrap();
        assert!(found.git_dir.ends_with("main/.git/worktrees/one"));
    }
}

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
//! - **An object is what its hash says** ([`Objects`]): the hash is computed here, so that neither a replacement nor an
//!   object with other bytes under the same name is believed.
//! - **Git is never waited for without an end**, and what it prints is read up to a bound.

mod files;
mod objects;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

pub(crate) use files::CheckedOutFiles;
pub(crate) use objects::{Commit, Entry, EntryKind, Objects, commit, hash, is_id, tree};

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

    /// The commit that is checked out, as git names it. Believed only as far as its object is read and verified. An error
    /// if there is no git to ask.
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

    /// Its objects, verified.
    pub(crate) fn objects(&self) -> Option<Objects> {
        Objects::new(self.git().ok()?)
    }

    /// The files of the commit that is checked out; none if there is no commit yet.
    pub(crate) fn checked_out(&self) -> Option<CheckedOutFiles> {
        let head = self.head().ok()??;
        CheckedOutFiles::of(&head, self.objects()?)
    }
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

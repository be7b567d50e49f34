//! The repositories in folders that a server may write: every `.git`, which holds settings and hooks that others run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files::links_on_the_way;

/// How deep below a workspace checkouts are searched, where nothing of it can be written.
pub(super) const DEEPEST: usize = 4;

/// How many folders are searched.
const MOST_FOLDERS: usize = 100_000;

/// How many repositories that appeared are named.
const MOST_SHOWN: usize = 8;

/// What was found below some folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repositories {
    /// What was searched, and how deep.
    searched: Vec<(PathBuf, usize)>,
    /// Every `.git`: a folder, the file of a submodule or worktree, or a link.
    pub(super) found: BTreeSet<PathBuf>,
    /// Folders that were not searched: there are too many, or their names are not for this user to see until somebody changes
    /// that, which their owner can.
    pub(super) unseen: BTreeSet<PathBuf>,
}

impl Repositories {
    /// Searches a folder level by level. In `node_modules` only the packages themselves are looked at. Links are not
    /// followed: they lead to something that is found where it is.
    pub(super) fn search(&mut self, folder: &Path, deepest: usize) {
        self.searched.push((folder.to_owned(), deepest));
        let mut ahead = VecDeque::from([(folder.to_owned(), 0)]);
        let mut searched = 0;
        while let Some((folder, depth)) = ahead.pop_front() {
            searched += 1;
            if searched > MOST_FOLDERS {
                self.unseen.insert(folder);
                continue;
            }
            let is_of_packages = is_of_packages(&folder);
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    if error.kind() == std::io::ErrorKind::PermissionDenied {
                        // What is in it may be reached by name all the same.
                        let git = folder.join(".git");
                        self.found.extend(git.symlink_metadata().ok().map(|_| git));
                        self.unseen.insert(folder);
                    }
                    continue;
                }
            };
            for entry in entries.filter_map(Result::ok) {
                if entry.file_name() == ".git" {
                    self.found.insert(entry.path());
                    continue;
                }
                if !entry.file_type().is_ok_and(|it| it.is_dir()) {
                    continue;
                }
                let path = entry.path();
                if is_of_packages && !is_scope(&path) {
                    let git = path.join(".git");
                    self.found.extend(git.symlink_metadata().ok().map(|_| git));
                } else if depth < deepest {
                    ahead.push_back((path, depth + 1));
                }
            }
        }
    }

    /// The same folders as they were when they were first searched: what another command of this run left there is still
    /// new.
    pub(super) fn at_first(&self) -> Self {
        static FIRST: Mutex<BTreeMap<PathBuf, BTreeSet<PathBuf>>> = Mutex::new(BTreeMap::new());
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = BTreeSet::new();
        for (folder, _) in &self.searched {
            let below = || self.found.iter().filter(|it| it.starts_with(folder));
            let of_folder = first
                .entry(folder.clone())
                .or_insert_with(|| below().cloned().collect());
            found.extend(of_folder.iter().cloned());
        }
        Self {
            found,
            ..self.clone()
        }
    }

    /// What there is now and was not then, as shown: from the folder that was searched.
    pub(super) fn appeared(&self) -> impl Iterator<Item = String> {
        let mut now = Self::default();
        for (folder, deepest) in &self.searched {
            now.search(folder, *deepest);
        }
        let new: Vec<PathBuf> = now.found.difference(&self.found).cloned().collect();
        new.into_iter().take(MOST_SHOWN).map(|path| {
            let mut searched = self.searched.iter();
            let inside = searched.find_map(|(folder, _)| path.strip_prefix(folder).ok());
            inside.unwrap_or(&path).display().to_string()
        })
    }

    /// What must not be written: each `.git`, and where it leads.
    pub(super) fn kept(&self) -> BTreeSet<PathBuf> {
        let mut kept = self.unseen.clone();
        for git in &self.found {
            kept.extend(links_on_the_way(git));
            kept.extend(git_folders(git));
        }
        kept
    }

    /// The folders of git whose settings hold a token, as a checkout in a workflow leaves it there, or those of one of
    /// their submodules.
    pub(super) fn with_credentials(&self) -> BTreeSet<PathBuf> {
        let folders = self.found.iter().flat_map(|git| git_folders(git));
        folders.filter(|git| holds_credentials(git)).collect()
    }
}

/// Whether a folder is that of packages, or that of a scope of them.
fn is_of_packages(folder: &Path) -> bool {
    let around = folder.parent();
    folder.ends_with("node_modules")
        || is_scope(folder) && around.is_some_and(|it| it.ends_with("node_modules"))
}

fn is_scope(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with('@')
}

/// The folder of git that a `.git` is, or names, and the one that this shares with others.
fn git_folders(git: &Path) -> Vec<PathBuf> {
    /// Longer than any path.
    const MOST: u64 = 8192;
    let line_of = |file: &Path| {
        let text = crate::files::read_start(file, MOST).ok()?;
        let text = String::from_utf8(text).ok()?;
        Some(text.trim_end().to_owned())
    };
    let real = |path: &Path| path.canonicalize().ok();
    let folder = if git.is_dir() {
        real(git)
    } else {
        let named = line_of(git).and_then(|it| {
            let named = it.strip_prefix("gitdir:")?.trim();
            real(&git.parent()?.join(named))
        });
        named.filter(|it| it.join("HEAD").is_file())
    };
    let shared = folder.as_ref().and_then(|folder| {
        let named = line_of(&folder.join("commondir"))?;
        real(&folder.join(named))
    });
    folder.into_iter().chain(shared).collect()
}

fn holds_credentials(git: &Path) -> bool {
    let mut modules = vec![git.join("modules")];
    let mut configs = vec![git.join("config"), git.join("config.worktree")];
    while let Some(folder) = modules.pop().filter(|_| configs.len() < 10_000) {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
        for entry in entries.filter(|it| it.is_dir()) {
            // Names of submodules have slashes.
            configs.push(entry.join("config"));
            modules.push(entry.join("modules"));
            if !entry.join("HEAD").exists() {
                modules.push(entry);
            }
        }
    }
    configs.iter().any(|it| is_config_with_credentials(it))
}

fn is_config_with_credentials(config: &Path) -> bool {
    let config = crate::files::read(config).unwrap_or_default();
    let config = String::from_utf8_lossy(&config).to_ascii_lowercase();
    config.contains("extraheader") || config.lines().any(has_address_with_credentials)
}

/// Whether the address in a line has a name or a password before its host.
pub(super) fn has_address_with_credentials(line: &str) -> bool {
    let authority = line.split_once("://").map(|(_, rest)| rest);
    let authority = authority.and_then(|rest| rest.split('/').next());
    authority.is_some_and(|it| it.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repository_is_found_with_the_folder_that_its_file_names() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in [
            ".git/modules/sub",
            "deep/1/2/3/4/5/6/.git",
            "elsewhere",
            "linked",
            "node_modules/a/.git",
            "node_modules/a/deeper/.git",
            "node_modules/@s/b/.git",
            "sub",
            "tree",
        ] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        std::fs::create_dir_all(root.join("elsewhere/worktrees/tree")).unwrap();
        for folder in [".git/modules/sub", "elsewhere/worktrees/tree"] {
            std::fs::write(root.join(folder).join("HEAD"), "").unwrap();
        }
        std::fs::write(root.join("elsewhere/worktrees/tree/commondir"), "../..\n").unwrap();
        let named = root.join("elsewhere/worktrees/tree");
        std::fs::write(
            root.join("tree/.git"),
            format!("gitdir: {}\n", named.display()),
        )
        .unwrap();
        std::os::unix::fs::symlink("../.git", root.join("linked/.git")).unwrap();
        let mut repositories = Repositories::default();
        repositories.search(&root, usize::MAX);
        let inside = |paths: &BTreeSet<PathBuf>| -> Vec<String> {
            let inside = paths.iter().map(|it| it.strip_prefix(&root).unwrap());
            inside.map(|it| it.display().to_string()).collect()
        };
        let found = [
            ".git",
            "deep/1/2/3/4/5/6/.git",
            "linked/.git",
            "node_modules/@s/b/.git",
            "node_modules/a/.git",
            "sub/.git",
            "tree/.git",
        ];
        assert_eq!(inside(&repositories.found), found);
        let kept = inside(&repositories.kept());
        for path in [&found[..], &["elsewhere", ".git/modules/sub"]].concat() {
            assert!(kept.contains(&path.to_owned()), "{path}: {kept:?}");
        }
        let config = "[http]\n\textraheader = AUTHORIZATION: basic x\n";
        std::fs::write(root.join("elsewhere/config"), config).unwrap();
        assert_eq!(inside(&repositories.with_credentials()), ["elsewhere"]);
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let locked = root.join("locked");
        std::fs::create_dir_all(locked.join(".git")).unwrap();
        let mode = |mode: u32| {
            std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(0o111);
        // Root lists it.
        let is_listed = std::fs::read_dir(&locked).is_ok();
        let mut repositories = Repositories::default();
        repositories.search(&root, usize::MAX);
        mode(0o755);
        assert!(repositories.found.contains(&locked.join(".git")));
        assert_eq!(repositories.kept().contains(&locked), !is_listed);
    }
}

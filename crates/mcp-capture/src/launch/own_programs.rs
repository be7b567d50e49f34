//! The programs that mcp-keel runs for itself: git, and the editor of `review`.
//!
//! They run without a sandbox and beside a token, while a server can put a program of any name where it may write, and a
//! pull request can commit one. So they are searched on the PATH once, before any server runs, and only in folders that
//! neither can change: an entry is skipped if it is relative, in the workspace, or where a sandboxed server may write.
//! That holds for every link on the way, and for the program that is found. Git itself gets a PATH without those entries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{candidates, sandbox};
use crate::files::{links_on_the_way, without_dots};

/// How many skipped entries an error names.
const MOST_NAMED: usize = 8;

/// The PATH as it was at the start.
static SEARCH_PATH: OnceLock<SearchPath> = OnceLock::new();

static GIT: OnceLock<Result<PathBuf, String>> = OnceLock::new();

/// Searches the PATH. To be called before any server starts.
pub fn find() {
    let _ = git();
}

/// The file of git.
pub fn git() -> Result<&'static Path, String> {
    let found = GIT.get_or_init(|| search_path().find("git"));
    found.as_deref().map_err(Clone::clone)
}

/// The file of a program that the user named. A path is the user's own word.
pub fn named(program: &str) -> Result<PathBuf, String> {
    if super::names_a_path(program) {
        return Ok(program.into());
    }
    search_path().find(program)
}

/// The PATH for what these programs start.
pub fn path_variable() -> OsString {
    std::env::join_paths(&search_path().kept).unwrap_or_default()
}

fn search_path() -> &'static SearchPath {
    SEARCH_PATH.get_or_init(|| {
        let path = crate::own_env::var("PATH").unwrap_or_default();
        let entries: Vec<PathBuf> = std::env::split_paths(&path).collect();
        SearchPath::new(&entries, sandbox::places_of_servers())
    })
}

/// Why an entry of the PATH is not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skipped {
    Relative,
    InWorkspace,
    Writable,
}

impl Skipped {
    fn reason(self) -> &'static str {
        match self {
            Self::Relative => "relative",
            Self::InWorkspace => "in the workspace",
            Self::Writable => "a server may write there",
        }
    }
}

/// Which folders are searched.
#[derive(Debug)]
struct SearchPath {
    kept: Vec<PathBuf>,
    skipped: Vec<(PathBuf, Skipped)>,
    places: sandbox::PlacesOfServers,
}

impl SearchPath {
    fn new(entries: &[PathBuf], places: sandbox::PlacesOfServers) -> Self {
        let mut search_path = Self {
            kept: Vec::new(),
            skipped: Vec::new(),
            places,
        };
        for entry in entries {
            match search_path.why_skipped(entry) {
                Some(why) => search_path.skipped.push((entry.clone(), why)),
                // One that does not exist could appear later, with anything in it.
                None if entry.is_dir() => search_path.kept.push(entry.clone()),
                None => {}
            }
        }
        search_path
    }

    fn why_skipped(&self, path: &Path) -> Option<Skipped> {
        if !path.is_absolute() {
            return Some(Skipped::Relative);
        }
        let mut way = links_on_the_way(path);
        way.push(without_dots(path));
        let is_in = |places: &[PathBuf]| {
            let mut places = places.iter();
            places.any(|place| way.iter().any(|it| it.starts_with(place)))
        };
        if is_in(&self.places.workspace) {
            Some(Skipped::InWorkspace)
        } else if is_in(&self.places.writable) {
            Some(Skipped::Writable)
        } else {
            None
        }
    }

    fn find(&self, program: &str) -> Result<PathBuf, String> {
        let path = std::env::join_paths(&self.kept).unwrap_or_default();
        let mut skipped = self.skipped.clone();
        for file in candidates(program, None, Some(&path)) {
            if !is_program(&file) {
                continue;
            }
            match self.why_skipped(&file) {
                None => return Ok(file),
                Some(why) => skipped.push((file, why)),
            }
        }
        let mut named: Vec<String> = skipped
            .iter()
            .take(MOST_NAMED)
            .map(|(entry, why)| format!("`{}` ({})", entry.display(), why.reason()))
            .collect();
        if skipped.len() > MOST_NAMED {
            named.push(format!("and {} more", skipped.len() - MOST_NAMED));
        }
        Err(if named.is_empty() {
            format!("{program} is not on the PATH")
        } else {
            format!(
                "{program} is in no folder of the PATH that only you can write; skipped: {}",
                named.join(", ")
            )
        })
    }
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    super::is_executable(file)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_no_server_can_write_are_searched() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["work/bin", "cache/bin", "own/bin", "later", "linked"] {
            let folder = root.join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            let git = folder.join("git");
            std::fs::write(&git, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(git, PermissionsExt::from_mode(0o755)).unwrap();
        }
        // Links into and through the workspace, and a program that is a link.
        symlink(root.join("work/bin"), root.join("into")).unwrap();
        symlink(root.join("own/bin"), root.join("work/through")).unwrap();
        std::fs::remove_file(root.join("linked/git")).unwrap();
        symlink(root.join("work/bin/git"), root.join("linked/git")).unwrap();
        let places = || sandbox::PlacesOfServers {
            workspace: vec![root.join("work")],
            writable: vec![root.join("cache")],
        };
        let search = |entries: &[&str]| {
            let entry = |it: &&str| match it.strip_prefix('+') {
                Some(inside) => root.join(inside),
                None => PathBuf::from(it),
            };
            let entries: Vec<PathBuf> = entries.iter().map(entry).collect();
            SearchPath::new(&entries, places()).find("git")
        };
        let skipped = [
            "",
            "bin",
            "+work/bin",
            "+into",
            "+work/through",
            "+cache/bin",
            "+linked",
        ];
        let with = |last: &str| search(&[&skipped[..], &[last]].concat());
        assert_eq!(with("+own/bin"), Ok(root.join("own/bin/git")));
        let problem = with("+missing").unwrap_err();
        for reason in ["relative", "in the workspace", "a server may write there"] {
            assert!(problem.contains(reason), "{problem}");
        }
        let file = root.join("linked/git");
        assert!(problem.contains(file.to_str().unwrap()), "{problem}");
        assert_eq!(search(&["+missing"]).unwrap_err(), "git is not on the PATH");
        std::fs::set_permissions(root.join("later/git"), PermissionsExt::from_mode(0o644)).unwrap();
        assert!(search(&["+later"]).is_err());
    }
}

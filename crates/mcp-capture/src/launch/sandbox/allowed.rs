//! Which folders a sandboxed server may read and write.
//!
//! Landlock can only allow: a folder is hidden by not allowing it. So a folder above something
//! hidden is allowed entry by entry, except that one, and a file that appears in it later is not
//! allowed.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::repositories::{self, Repositories};
use super::tools;
use crate::files::links_on_the_way;

/// The facts about a launch. Home, temporary folder and PATH are mcp-keel's own: those of the
/// server can be set by a configuration.
pub(super) struct Situation<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) temporary: Option<&'a Path>,
    /// Files and folders with secrets or privileges of the workflow run.
    pub(super) secret: Vec<PathBuf>,
    /// The server's working directory.
    pub(super) folder: &'a Path,
    /// mcp-keel's working directory.
    pub(super) here: &'a Path,
    /// What a pull request can change.
    pub(super) workspace: &'a Path,
    /// Whether the command and its working directory may show what is outside of the workspace.
    pub(super) may_widen: bool,
    /// The folders in the PATH.
    pub(super) path: Vec<PathBuf>,
    /// What they and the links in them lead to.
    pub(super) on_path: OnPath,
    /// Files that the server is judged by.
    pub(super) judging: Vec<PathBuf>,
    /// This program, and what starts it: the next run is outside of any sandbox.
    pub(super) own: Vec<PathBuf>,
    /// The program as found.
    pub(super) program: Option<PathBuf>,
    /// The program in the first line of the program, if it is a script.
    pub(super) interpreter: Option<PathBuf>,
    pub(super) arguments: Vec<PathBuf>,
}

/// Existing folders and files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    pub(super) read: BTreeSet<PathBuf>,
    pub(super) write: BTreeSet<PathBuf>,
    /// Folders of which something is hidden, and whose names a program may want to see all the same.
    pub(super) list: BTreeSet<PathBuf>,
    /// The repositories in what it may write.
    pub(super) repositories: Repositories,
}

/// Other users' homes and secrets, and the runner's own files as a container sees them.
const HIDDEN: [&str; 6] = [
    "/root",
    "/home",
    "/run/user",
    "/run/secrets",
    "/github/file_commands",
    "/github/runner_temp",
];

/// Devices that programs need. No others: root may read disks, and a terminal belongs to another session.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
];

/// Folders next to `bin` that are no installation: they are shared by many programs, and store credentials.
const SHARED: [&str; 3] = [".cargo", ".config", ".local"];

/// What an installation has beside its `bin`, and its programs need.
const BESIDE_BIN: [&str; 18] = [
    "boot",
    "conf",
    "include",
    "jmods",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "modules",
    "node_modules",
    "platform",
    "plugins",
    "sbin",
    "share",
    "shims",
    "toolchains",
    "tools",
    "versions",
];

/// How deep tools and caches are searched for credentials. Caches are wide.
const DEPTH_OF_TOOLS: usize = 2;
const DEPTH_OF_CACHES: usize = 1;

/// Where a sandboxed server may write besides its working copy and temporary folders.
pub(in crate::launch) fn caches_and_devices(home: Option<&Path>) -> Vec<PathBuf> {
    let home = home.and_then(|home| home.canonicalize().ok());
    let caches = home.iter().flat_map(|home| tools::caches(home));
    DEVICES.iter().map(PathBuf::from).chain(caches).collect()
}

/// What decides which program a name on the PATH means.
#[derive(Clone, Debug, Default)]
pub(super) struct OnPath {
    /// The folders of the PATH. Nothing is created or changed directly in one; its own folders are no concern.
    folders: BTreeSet<PathBuf>,
    /// Links that lead to one, and links in them, each with what it leads to.
    files: BTreeSet<PathBuf>,
}

impl OnPath {
    /// Entries that are relative count from the folder that mcp-keel runs in.
    pub(super) fn new(path: &[PathBuf], here: &Path) -> Self {
        let mut on_path = Self::default();
        for entry in path {
            let mut way = links_on_the_way(&here.join(entry));
            let folder = way.pop().unwrap_or_default();
            on_path.files.extend(way);
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|it| it.is_symlink()) {
                    on_path.files.extend(links_on_the_way(&entry.path()));
                }
            }
            on_path.folders.insert(folder);
        }
        on_path
    }
}

/// What is not allowed in a folder that is.
#[derive(Clone, Debug, Default)]
struct Except {
    /// These, with everything below.
    whole: BTreeSet<PathBuf>,
    /// The files directly in these folders.
    files_in: BTreeSet<PathBuf>,
}

impl Except {
    fn whole(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            whole: paths.into_iter().collect(),
            files_in: BTreeSet::new(),
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            whole: self.whole.union(&other.whole).cloned().collect(),
            files_in: self.files_in.union(&other.files_in).cloned().collect(),
        }
    }

    fn contains(&self, path: &Path) -> bool {
        path.ancestors().any(|it| self.whole.contains(it))
    }

    /// The same for what is in a folder that is shown itself.
    fn below(mut self, folder: &Path) -> Self {
        self.whole.retain(|it| !folder.starts_with(it));
        self
    }

    /// Whether it concerns something in a folder, or something that does not exist yet.
    fn is_about(&self, folder: &Path) -> bool {
        let is_about = |paths: &BTreeSet<PathBuf>| {
            // A folder comes directly before what is below it.
            let mut from = paths.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
            from.next().is_some_and(|it| it.starts_with(folder))
        };
        is_about(&self.whole) || is_about(&self.files_in)
    }
}

impl Situation<'_> {
    /// What the server may read and write.
    pub(super) fn allowed(&self) -> Allowed {
        let home = self.home.and_then(|home| home.canonicalize().ok());
        let home = home.filter(|home| home.parent().is_some());
        let mut hidden: Vec<PathBuf> = HIDDEN.iter().map(PathBuf::from).collect();
        hidden.extend(home.clone());
        let secret = self.secret.iter().filter_map(|it| it.canonicalize().ok());
        let secret: Vec<PathBuf> = secret.collect();
        hidden.extend(secret.iter().cloned());
        // A workspace around a home folder shows nothing of it.
        let mut homes = hidden.iter().filter(|it| !secret.contains(it));
        let is_bounded = !homes.any(|it| it.starts_with(self.workspace));
        let is_own = |path: &Path| {
            let path = path.canonicalize();
            self.may_widen || is_bounded && path.is_ok_and(|it| it.starts_with(self.workspace))
        };
        // What is named in the workspace can be a link of the pull request's.
        let is_named_outside = |path: &Path| {
            let named = crate::files::without_dots(&self.folder.join(path));
            !named.starts_with(self.workspace)
        };
        let copies: BTreeSet<PathBuf> =
            [Some(self.folder).filter(|it| is_own(it)), Some(self.here)]
                .into_iter()
                .flatten()
                .filter_map(|folder| working_copy(folder, &hidden))
                .collect();
        let mut repositories = Repositories::default();
        for copy in &copies {
            repositories.search(copy, usize::MAX);
        }
        // Other checkouts in the workspace have tokens, too.
        let mut others = Repositories::default();
        if !copies.iter().any(|it| self.workspace.starts_with(it)) {
            others.search(self.workspace, repositories::DEEPEST);
        }
        let mut tokens = repositories.with_credentials();
        tokens.extend(others.with_credentials());

        let mut allowed = Allowed::default();
        let unreadable = Except::whole(secret.iter().chain(&tokens).cloned());
        let unreadable_outside = unreadable.and(&Except::whole(hidden.iter().cloned()));
        let on_path = Except {
            whole: self.on_path.files.clone(),
            files_in: self.on_path.folders.clone(),
        };
        let devices = Path::new("/dev");
        for entry in entries(Path::new("/")) {
            if entry != devices {
                cover(&entry, &unreadable_outside, &mut allowed.read);
            }
        }
        let unwritable_outside = unreadable_outside.and(&on_path);
        for device in DEVICES {
            cover(Path::new(device), &unwritable_outside, &mut allowed.write);
        }
        // One in the working copy is part of that.
        let is_apart = |it: &&Path| !copies.iter().any(|copy| it.starts_with(copy));
        let temporary = self.temporary.filter(is_apart);
        for folder in [Some(Path::new("/tmp")), temporary].into_iter().flatten() {
            cover(folder, &unreadable_outside, &mut allowed.read);
            cover(folder, &unwritable_outside, &mut allowed.write);
        }
        // What git holds is evidence, and its hooks and settings are programs that others start; what judges the server
        // is not for it to change. Nothing of that is written.
        let judging = self.judging.iter().flat_map(|it| links_on_the_way(it));
        let kept = Except::whole(repositories.kept().into_iter().chain(judging));
        // In a cache of a launcher it is not kept: the launcher needs the folders above it.
        let own = self.own.iter().flat_map(|it| links_on_the_way(it));
        let own = Except::whole(own);
        for copy in &copies {
            cover(copy, &unreadable, &mut allowed.read);
            let unwritable = unreadable.and(&on_path).and(&kept).and(&own);
            cover(copy, &unwritable, &mut allowed.write);
        }

        let found = |path: &Path| {
            let path = path.canonicalize().ok()?;
            let within = hidden.iter().filter(|it| path.starts_with(it)).max()?;
            (path != *within).then(|| (path, within.clone()))
        };
        let mut installed: BTreeSet<PathBuf> = BTreeSet::new();
        for home in home
            .iter()
            .map(PathBuf::as_path)
            .chain([Path::new("/root")])
        {
            installed.extend(tools::tools(home));
        }
        let path = self.path.iter().filter(|it| is_named_outside(it));
        for (folder, within) in path.filter_map(|folder| found(folder)) {
            let parts = installation_of(&folder, &within);
            installed.extend(parts.unwrap_or_else(|| vec![folder]));
        }
        // A program on our own PATH is our user's choice; anything else that a configuration names
        // is shown if it is in the workspace.
        let is_on_path = |program: &Path| {
            let folder = program.parent().and_then(|it| it.canonicalize().ok());
            let folder = folder.filter(|it| !it.starts_with(self.workspace));
            let mut path = self.path.iter().filter_map(|it| it.canonicalize().ok());
            folder.is_some_and(|folder| path.any(|it| it == folder))
        };
        let is_trusted = |word: &Path| self.may_widen && is_named_outside(word);
        let program = self.program.iter();
        let program = program.map(|it| (it, is_on_path(it) || is_trusted(it)));
        // The first line of a script is as good as the script.
        let script = program.clone().any(|(_, trusted)| trusted);
        let interpreter = self.interpreter.iter().map(|it| (it, script));
        let arguments = self.arguments.iter().map(|it| (it, is_trusted(it)));
        for (word, trusted) in program.chain(interpreter).chain(arguments) {
            let Some((named, within)) = found(&self.folder.join(word)) else {
                continue;
            };
            let is_secret = unreadable.contains(&named);
            let is_inside = is_bounded && named.starts_with(self.workspace);
            if !trusted && (!is_inside || is_secret) {
                continue;
            }
            let folder = named.parent().unwrap_or(&named);
            let shows = |it: &Path| trusted || it.starts_with(self.workspace);
            match installation_of(folder, &within) {
                Some(parts) => installed.extend(parts.into_iter().filter(|it| shows(it))),
                None => {
                    let project = project_of(&named, &within);
                    allowed.read.extend(Some(project).filter(|it| shows(it)));
                }
            }
            allowed.read.insert(named);
        }

        let caches = home.iter().flat_map(|home| tools::caches(home));
        let caches: Vec<PathBuf> = caches.collect();
        let of_caches = home
            .iter()
            .flat_map(|home| tools::installed_in_caches(home));
        let of_caches = Except::whole(of_caches).and(&on_path);
        let private = home.iter().flat_map(|home| tools::private_in_caches(home));
        let private = Except::whole(private);
        for folder in installed {
            let credentials = tools::credentials(&folder, DEPTH_OF_TOOLS);
            let unreadable = unreadable.and(&Except::whole(credentials)).below(&folder);
            cover(&folder, &unreadable, &mut allowed.read);
            if unreadable.is_about(&folder) {
                allowed.list.insert(folder);
            }
        }
        for cache in caches {
            let credentials = tools::credentials(&cache, DEPTH_OF_CACHES);
            let unreadable = unreadable.and(&Except::whole(credentials)).and(&private);
            cover(&cache, &unreadable, &mut allowed.read);
            let unwritable = unreadable.and(&of_caches).and(&kept);
            cover(&cache, &unwritable, &mut allowed.write);
            if unreadable.is_about(&cache) {
                allowed.list.insert(cache);
            }
        }
        allowed.repositories = repositories;
        allowed
    }
}

/// `folder`, or the parts of it that are not excepted.
fn cover(folder: &Path, except: &Except, into: &mut BTreeSet<PathBuf>) {
    // Resolves links, so that none leads into something hidden.
    if let Ok(folder) = folder.canonicalize()
        && !except.contains(&folder)
    {
        cover_real(folder, except, into);
    }
}

/// [`cover`] for a folder without links, nothing above which is excepted.
fn cover_real(folder: PathBuf, except: &Except, into: &mut BTreeSet<PathBuf>) {
    if except.whole.contains(&folder) {
        return;
    }
    if !except.is_about(&folder) {
        into.insert(folder);
        return;
    }
    let is_without_files = except.files_in.contains(&folder);
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() || !(kind.is_symlink() || is_without_files) {
            cover_real(entry.path(), except, into);
        }
    }
}

pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

/// The repository that contains a folder, or the folder itself. Never a whole home folder.
fn working_copy(folder: &Path, hidden: &[PathBuf]) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let above_home = |folder: &Path| hidden.iter().any(|it| it.starts_with(folder));
    let top = folder
        .ancestors()
        .find(|it| it.join(".git").exists())
        .filter(|top| !above_home(top))
        .unwrap_or(&folder);
    (!above_home(top)).then(|| top.to_owned())
}

/// The installation around a folder of programs: `lib` next to `bin`. A project is shown whole; the folder of a tool has
/// its settings and credentials beside them. `None` if it is not one, or contains too much.
fn installation_of(folder: &Path, within: &Path) -> Option<Vec<PathBuf>> {
    let around = folder.parent().filter(|_| folder.ends_with("bin"))?;
    let is = |name: &&str| around.file_name().is_some_and(|it| it == *name);
    let too_much = around == within
        || !around.starts_with(within)
        // `/home/me` in `/home`
        || HIDDEN.contains(&around.parent()?.to_str()?)
        || SHARED.iter().any(is);
    if too_much {
        return None;
    }
    if is_project(around) {
        return Some(vec![around.to_owned()]);
    }
    let beside = BESIDE_BIN.iter().map(|it| around.join(it));
    let beside = beside.filter(|it| it.exists());
    Some(beside.chain([folder.to_owned()]).collect())
}

fn is_project(folder: &Path) -> bool {
    const MARKS: [&str; 5] = [
        "package.json",
        "pyproject.toml",
        "Cargo.toml",
        "go.mod",
        "pyvenv.cfg",
    ];
    MARKS.iter().any(|mark| folder.join(mark).exists())
}

/// What an argument of the command names, with the project it belongs to.
fn project_of(named: &Path, home: &Path) -> PathBuf {
    let below_home = || named.ancestors().take_while(|folder| *folder != home);
    // An installed package has markers of its own, and its dependencies are next to it.
    let installed = below_home()
        .filter(|folder| folder.ends_with("node_modules"))
        .last();
    if let Some(modules) = installed {
        let around = modules.parent().filter(|it| *it != home && is_project(it));
        return around.unwrap_or(modules).to_owned();
    }
    below_home()
        .find(|folder| is_project(folder))
        .unwrap_or(named)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    fn situation<'a>(home: &'a Path, folder: &'a Path) -> Situation<'a> {
        Situation {
            home: Some(home),
            temporary: None,
            secret: Vec::new(),
            folder,
            here: folder,
            workspace: folder,
            may_widen: true,
            path: Vec::new(),
            on_path: OnPath::default(),
            judging: Vec::new(),
            own: Vec::new(),
            program: None,
            interpreter: None,
            arguments: Vec::new(),
        }
    }

    fn is_below(set: &BTreeSet<PathBuf>, path: &Path) -> bool {
        set.iter().any(|it| path.starts_with(it))
    }

    #[test]
    fn the_dependencies_of_an_installed_package_belong_to_it() {
        let (_guard, root) = tree(&[
            "home/.cache/x/package.json",
            "home/.cache/x/node_modules/server/package.json",
            "home/.cache/x/node_modules/server/dist/index.js",
            "home/bare/node_modules/server/node_modules/y/package.json",
            "home/node_modules/z/package.json",
            "home/project/package.json",
            "home/project/dist/index.js",
        ]);
        let home = root.join("home");
        let of = |named: &str| project_of(&home.join(named), &home);
        assert_eq!(
            of(".cache/x/node_modules/server/dist/index.js"),
            home.join(".cache/x")
        );
        let nested = "bare/node_modules/server/node_modules/y/index.js";
        assert_eq!(of(nested), home.join("bare/node_modules"));
        assert_eq!(of("node_modules/z/index.js"), home.join("node_modules"));
        assert_eq!(of("project/dist/index.js"), home.join("project"));
    }

    #[test]
    fn in_a_home_only_tools_caches_and_the_working_copy_are_allowed() {
        let (_guard, root) = tree(&[
            "home/.ssh/id",
            "home/.npmrc",
            "home/.cargo/credentials.toml",
            "home/.cargo/bin/tool",
            "home/.cache/x",
            "home/.nvm/versions/node",
            "home/work/.git/config",
            "home/work/src/main.js",
        ]);
        let home = root.join("home");
        let folder = home.join("work/src");
        let allowed = situation(&home, &folder).allowed();
        let reads = |path: &str| {
            is_below(&allowed.read, &home.join(path)) || is_below(&allowed.write, &home.join(path))
        };
        for path in [".ssh/id", ".npmrc", ".cargo/credentials.toml", "new"] {
            assert!(!reads(path), "{path}");
        }
        for path in [
            ".cargo/bin/tool",
            ".cache/x",
            ".nvm/versions/node",
            "work/.git/config",
        ] {
            assert!(reads(path), "{path}");
        }
        assert!(is_below(&allowed.write, &home.join("work/src/new")));
        assert!(!is_below(&allowed.write, &home.join("work/.git/config")));
        assert!(is_below(&allowed.write, &home.join(".cache/new")));
        assert!(!is_below(&allowed.write, &home.join(".nvm/versions/new")));
    }

    #[test]
    fn a_repository_with_a_token_is_allowed_without_its_git_folder() {
        let (_guard, root) = tree(&["home/x", "work/.git/config", "work/src/main.js"]);
        let config = root.join("work/.git/config");
        let folder = root.join("work");
        let allowed = || situation(&root.join("home"), &folder).allowed();
        assert!(is_below(&allowed().read, &config));
        for text in [
            "[http]\n\textraheader = AUTHORIZATION: basic x\n",
            "[remote]\nurl = https://me:word@example.org/x\n",
        ] {
            std::fs::write(&config, text).unwrap();
            let allowed = allowed();
            assert!(!is_below(&allowed.write, &config) && !is_below(&allowed.read, &config));
            assert!(is_below(&allowed.write, &folder.join("src/new")));
        }
    }

    #[test]
    fn a_home_is_not_a_working_copy() {
        let (_guard, root) = tree(&["home/.git/config", "home/project/x"]);
        let home = root.join("home");
        let hidden = std::slice::from_ref(&home);
        assert_eq!(working_copy(&home, hidden), None);
        let project = home.join("project");
        assert_eq!(working_copy(&project, hidden), Some(project));
    }

    #[test]
    fn private_folders_are_hidden_but_programs_in_them_are_not() {
        let (_guard, root) = tree(&["ours/token", "ours/tool/bin/run", "home/x", "work/x"]);
        let (home, work) = (root.join("home"), root.join("work"));
        let mut situation = situation(&home, &work);
        situation.secret = vec![root.join("ours")];
        situation.path = vec![root.join("ours/tool/bin")];
        let allowed = situation.allowed();
        assert!(!is_below(&allowed.read, &root.join("ours/token")));
        assert!(is_below(&allowed.read, &root.join("ours/tool/bin/run")));
    }

    #[test]
    fn files_named_by_the_command_are_readable_with_their_project() {
        let (_guard, root) = tree(&[
            "home/tool/package.json",
            "home/tool/dist/index.js",
            "home/.ssh/id",
            "work/x",
        ]);
        let (home, work) = (root.join("home"), root.join("work"));
        let mut situation = situation(&home, &work);
        situation.arguments = vec![home.join("tool/dist/index.js"), "--flag".into()];
        let allowed = situation.allowed();
        assert!(is_below(&allowed.read, &home.join("tool/node_modules/x")));
        assert!(!is_below(&allowed.read, &home.join(".ssh/id")));
        // A link in the workspace leads where the pull request likes.
        std::os::unix::fs::symlink(home.join(".ssh"), work.join("bin")).unwrap();
        situation.arguments = vec!["bin/id".into()];
        situation.program = Some("bin/id".into());
        situation.path = vec![work.join("bin")];
        let allowed = situation.allowed();
        assert!(!is_below(&allowed.read, &home.join(".ssh/id")));
        situation.path = Vec::new();
        // A configuration in the workspace names what it likes.
        situation.may_widen = false;
        situation.arguments.push(home.join(".ssh/id"));
        situation.program = Some(home.join("tool/dist/index.js"));
        situation.interpreter = Some(home.join(".ssh/id"));
        let allowed = situation.allowed();
        assert!(!is_below(&allowed.read, &home.join("tool")));
        assert!(!is_below(&allowed.read, &home.join(".ssh/id")));
        // Our own PATH is ours.
        situation.path = vec![home.join("tool/dist")];
        situation.interpreter = None;
        let allowed = situation.allowed();
        assert!(is_below(&allowed.read, &home.join("tool/dist/index.js")));
    }

    #[test]
    fn a_workspace_around_a_home_shows_nothing_of_it() {
        let (_guard, root) = tree(&["home/.git/config", "home/.ssh/id", "home/project/x"]);
        let home = root.join("home");
        let project = home.join("project");
        let mut situation = situation(&home, &project);
        situation.workspace = &home;
        situation.may_widen = false;
        situation.arguments = vec![home.join(".ssh/id")];
        let allowed = situation.allowed();
        assert!(!is_below(&allowed.read, &home.join(".ssh/id")));
        assert!(is_below(&allowed.write, &project.join("x")));
    }

    #[test]
    fn a_working_directory_outside_of_the_workspace_is_not_a_working_copy() {
        // Not below /tmp, which is allowed.
        let guard = tempfile::tempdir_in("/var/tmp").unwrap();
        let root = guard.path().canonicalize().unwrap();
        for file in ["home/x", "work/x", "other/.git/config", "other/x"] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        let (home, work, other) = (root.join("home"), root.join("work"), root.join("other"));
        let mut situation = situation(&home, &work);
        situation.folder = &other;
        assert!(is_below(&situation.allowed().write, &other.join("x")));
        situation.may_widen = false;
        let allowed = situation.allowed();
        assert!(!is_below(&allowed.write, &other.join("x")));
        assert!(is_below(&allowed.write, &work.join("x")));
    }

    #[test]
    fn the_tokens_of_other_checkouts_and_of_the_runner_are_hidden() {
        let (_guard, root) = tree(&[
            "home/x",
            "runner/.credentials",
            "runner/.credentials_rsaparams",
            "runner/_work/a/.git/config",
            "runner/_work/a/src/x",
            "runner/_work/b/.git/config",
            "runner/_work/b/.git/modules/deep/er/HEAD",
            "runner/_work/b/.git/modules/deep/er/config",
            "runner/_work/b/x",
        ]);
        let (home, work) = (root.join("home"), root.join("runner/_work"));
        let token = "[http]\n\textraheader = AUTHORIZATION: basic x\n";
        let config = work.join("b/.git/modules/deep/er/config");
        std::fs::write(&config, token).unwrap();
        let here = work.join("a");
        let mut situation = situation(&home, &here);
        situation.workspace = &work;
        situation.secret = crate::launch::sandbox::stage::credentials_above(&work);
        let allowed = situation.allowed();
        let reads = |path: &str| {
            let path = root.join(path);
            is_below(&allowed.read, &path) || is_below(&allowed.write, &path)
        };
        for path in [
            "runner/.credentials",
            "runner/.credentials_rsaparams",
            "runner/_work/b/.git/config",
            "runner/_work/b/.git/modules/deep/er/config",
        ] {
            assert!(!reads(path), "{path}");
        }
        assert!(reads("runner/_work/a/src/x") && reads("runner/_work/b/x"));
        // The same where the whole workspace is the working copy.
        situation.here = &work;
        situation.folder = &work;
        let allowed = situation.allowed();
        assert!(!is_below(&allowed.write, &config) && !is_below(&allowed.read, &config));
    }
}

//! Which folders a sandboxed server may read and write.
//!
//! Landlock can only allow: a folder is hidden by not allowing it. So a folder above something
//! hidden is allowed entry by entry, except that one, and a file that appears in it later is not
//! allowed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

/// Toolchains in a home folder. None of them stores credentials.
const TOOLS: [&str; 36] = [
    ".asdf",
    ".bun",
    ".cargo/bin",
    ".conda/envs",
    ".deno",
    ".dotnet",
    ".fnm",
    ".gem",
    ".ghcup",
    ".jenv",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/nvm",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".nix-profile",
    ".npm-global",
    ".nvm",
    ".opam",
    ".proto",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".volta",
    ".yarn",
    "anaconda3",
    "go",
    "miniconda3",
    "miniforge3",
    "n",
];

/// What package launchers write in a home folder.
const CACHES: [&str; 11] = [
    ".bun/install",
    ".cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".npm",
    ".nuget/packages",
    "go/pkg",
];

/// What a launcher creates on first use, and cannot create inside the sandbox.
const CREATED: [(&[&str], &[&str]); 2] = [
    (
        &["npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx"],
        &[".npm", ".cache"],
    ),
    (&["uvx", "uv", "pipx"], &[".cache", ".local/share/uv"]),
];

/// Folders next to `bin` that store credentials.
const KEEPERS: [&str; 3] = [".cargo", ".local", ".config"];

/// Creates the caches that a launcher would create, so that they can be allowed. They belong to
/// the user that the server runs as.
pub(super) fn make_caches(home: Option<&Path>, program: &str, user: Option<(u32, u32)>) {
    let name = Path::new(program).file_name().and_then(|it| it.to_str());
    let folders = CREATED
        .iter()
        .find(|(launchers, _)| name.is_some_and(|name| launchers.contains(&name)));
    for (home, (_, folders)) in home.into_iter().zip(folders) {
        for folder in folders.iter().filter(|_| home.is_dir()) {
            let mut path = home.to_owned();
            for part in Path::new(folder) {
                path.push(part);
                // A launcher that cannot create its cache has the better error message.
                let created = std::fs::create_dir(&path).is_ok();
                if let Some((user, group)) = user.filter(|_| created) {
                    let _ = std::os::unix::fs::lchown(&path, Some(user), Some(group));
                }
            }
        }
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
        let copies: Vec<PathBuf> = [Some(self.folder).filter(|it| is_own(it)), Some(self.here)]
            .into_iter()
            .flatten()
            .filter_map(|folder| working_copy(folder, &hidden))
            .collect();
        let git: Vec<PathBuf> = copies.iter().map(|copy| copy.join(".git")).collect();
        let git: Vec<PathBuf> = git.into_iter().filter(|it| it.exists()).collect();
        // Other checkouts in the workspace have tokens, too.
        let repositories = git.iter().cloned().chain(repositories(self.workspace));
        let tokens: Vec<PathBuf> = repositories.filter(|it| holds_credentials(it)).collect();

        let mut allowed = Allowed::default();
        let all_hidden = [hidden.clone(), tokens.clone()].concat();
        let devices = Path::new("/dev");
        for entry in entries(Path::new("/")) {
            if entry != devices {
                cover(&entry, &all_hidden, &mut allowed.read);
            }
        }
        for device in DEVICES {
            cover(Path::new(device), &all_hidden, &mut allowed.write);
        }
        for folder in [Some(Path::new("/tmp")), self.temporary]
            .into_iter()
            .flatten()
        {
            cover(folder, &all_hidden, &mut allowed.write);
        }
        // What git holds is evidence, and its hooks and settings are programs that others start: nothing of it is written.
        let kept: Vec<PathBuf> = [&git[..], &tokens, &secret].concat();
        for copy in &copies {
            cover(copy, &kept, &mut allowed.write);
        }
        for git in &git {
            cover(git, &tokens, &mut allowed.read);
        }
        for home in home
            .iter()
            .map(PathBuf::as_path)
            .chain([Path::new("/root")])
        {
            allowed.read.extend(present(home, &TOOLS));
        }
        for cache in home.iter().flat_map(|home| present(home, &CACHES)) {
            let token = cache.join("huggingface/token");
            let kept: Vec<PathBuf> = if token.exists() {
                vec![cache.join("huggingface")]
            } else {
                Vec::new()
            };
            cover(&cache, &kept, &mut allowed.write);
        }
        let found = |path: &Path| {
            let path = path.canonicalize().ok()?;
            let within = hidden.iter().filter(|it| path.starts_with(it)).max()?;
            (path != *within).then(|| (path, within.clone()))
        };
        let path = self.path.iter().filter(|it| is_named_outside(it));
        for (folder, within) in path.filter_map(|folder| found(folder)) {
            allowed
                .read
                .insert(installation_of(&folder, &within).unwrap_or(folder));
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
            let is_secret = secret.iter().chain(&tokens).any(|it| named.starts_with(it));
            let is_inside = is_bounded && named.starts_with(self.workspace);
            if !trusted && (!is_inside || is_secret) {
                continue;
            }
            let folder = named.parent().unwrap_or(&named);
            let installed = installation_of(folder, &within);
            let shown = installed.unwrap_or_else(|| project_of(&named, &within));
            let shows = trusted || shown.starts_with(self.workspace);
            allowed.read.insert(if shows { shown } else { named });
        }
        allowed
    }
}

/// Those of these names that exist in a home folder, canonicalised.
fn present(home: &Path, names: &[&str]) -> Vec<PathBuf> {
    let there = names.iter().filter_map(|name| {
        let path = home.join(name).canonicalize().ok()?;
        (path.starts_with(home) && path != home).then_some(path)
    });
    there.collect()
}

/// `folder`, or the parts of it that are not hidden.
fn cover(folder: &Path, hidden: &[PathBuf], into: &mut BTreeSet<PathBuf>) {
    // Resolves links, so that none leads into something hidden.
    let Ok(folder) = folder.canonicalize() else {
        return;
    };
    if hidden.iter().any(|it| folder.starts_with(it)) {
        return;
    }
    if !hidden.iter().any(|it| it.starts_with(&folder)) {
        into.insert(folder);
        return;
    }
    for entry in entries(&folder) {
        let is_link = entry.symlink_metadata().is_ok_and(|it| it.is_symlink());
        if !is_link {
            cover(&entry, hidden, into);
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
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

/// How deep below the workspace other checkouts are looked for, and in how many folders.
const DEEPEST: usize = 4;
const MOST_FOLDERS: usize = 100_000;

/// The `.git` folders in the workspace, level by level: a workflow can check out several repositories.
fn repositories(workspace: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![workspace.to_owned()];
    let mut visited = 0;
    for _ in 0..=DEEPEST {
        let mut next = Vec::new();
        for folder in level {
            visited += 1;
            if visited > MOST_FOLDERS {
                return found;
            }
            let read = std::fs::read_dir(&folder).into_iter().flatten();
            for entry in read.filter_map(Result::ok) {
                // A link leads to something that is found where it is.
                if !entry.file_type().is_ok_and(|it| it.is_dir()) {
                    continue;
                }
                if entry.file_name() == ".git" {
                    found.push(entry.path());
                } else if entry.file_name() != "node_modules" {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    found
}

/// Whether git stores a token in the repository, as a checkout in a workflow does, or in one of its
/// submodules.
fn holds_credentials(git: &Path) -> bool {
    let mut modules = vec![git.join("modules")];
    let mut configs = vec![git.join("config"), git.join("config.worktree")];
    while let Some(folder) = modules.pop().filter(|_| configs.len() < 10_000) {
        for entry in entries(&folder).into_iter().filter(|it| it.is_dir()) {
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
    let in_address = |line: &str| {
        let authority = line.split_once("://").map(|(_, rest)| rest);
        let authority = authority.and_then(|rest| rest.split('/').next());
        authority.is_some_and(|it| it.contains('@'))
    };
    config.contains("extraheader") || config.lines().any(in_address)
}

/// The installation around a folder of programs: `lib` next to `bin`. `None` if it is not one, or
/// contains too much.
fn installation_of(folder: &Path, within: &Path) -> Option<PathBuf> {
    let around = folder.parent().filter(|_| folder.ends_with("bin"))?;
    let keeps = |name: &&str| around.file_name().is_some_and(|it| it == *name);
    let too_much = around == within
        || !around.starts_with(within)
        // `/home/me` in `/home`
        || HIDDEN.contains(&around.parent()?.to_str()?)
        || KEEPERS.iter().any(keeps);
    (!too_much).then(|| around.to_owned())
}

/// What an argument of the command names, with the project it belongs to.
fn project_of(named: &Path, home: &Path) -> PathBuf {
    const MARKS: [&str; 5] = [
        "package.json",
        "pyproject.toml",
        "Cargo.toml",
        "go.mod",
        "pyvenv.cfg",
    ];
    let below_home = || named.ancestors().take_while(|folder| *folder != home);
    let is_marked = |folder: &Path| MARKS.iter().any(|mark| folder.join(mark).exists());
    // An installed package has markers of its own, and its dependencies are next to it.
    let installed = below_home()
        .filter(|folder| folder.ends_with("node_modules"))
        .last();
    if let Some(modules) = installed {
        let around = modules.parent().filter(|it| *it != home && is_marked(it));
        return around.unwrap_or(modules).to_owned();
    }
    below_home()
        .find(|folder| is_marked(folder))
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
            "home/.nvm/node",
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
            ".nvm/node",
            "work/.git/config",
        ] {
            assert!(reads(path), "{path}");
        }
        assert!(is_below(&allowed.write, &home.join("work/src/new")));
        assert!(!is_below(&allowed.write, &home.join("work/.git/config")));
        assert!(is_below(&allowed.write, &home.join(".cache/new")));
        assert!(!is_below(&allowed.write, &home.join(".nvm/new")));
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

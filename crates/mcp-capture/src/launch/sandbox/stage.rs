//! This program between itself and a sandboxed server: it restricts itself, then becomes the
//! server.
//!
//! Process, pipes, group and exit status are those of an ordinary launch.

#![allow(
    clippy::disallowed_methods,
    reason = "mcp-keel's own descriptors and /proc, not files of a user"
)]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use command_fds::FdMapping;
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use super::allowed::{OnPath, Situation};
use super::observed::Word;
use super::repositories::Repositories;
use super::tools::make_caches;
use super::{Level, Sandbox, confine, sockets};
use crate::launch::{LaunchSpec, MARKER};

/// The first argument of a stage.
const STAGE: &str = "__in-sandbox";

/// The descriptor of the pipe to report through.
const CHANNEL: i32 = 3;

/// The descriptor of its orders.
const ORDERS: i32 = 4;

/// The shells' exit code for a command that cannot be run.
const CANNOT_RUN: u8 = 126;

const OURSELVES: &str = "/proc/self/exe";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    strict: bool,
    required: bool,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    /// Folders whose names are shown, and no more.
    list: Vec<PathBuf>,
    /// The user and the group to run as, in the place of root.
    user: Option<(u32, u32)>,
    /// The repositories in what the server may write, before it starts.
    #[serde(skip)]
    repositories: Repositories,
}

impl Orders {
    /// For a launch, given the path of its program.
    pub(crate) fn new(spec: &LaunchSpec, program: Option<&Path>) -> Self {
        let Sandbox { level, required } = spec.sandbox;
        // A configuration can set the server's variables; these are ours.
        let variable = crate::own_env::var;
        let home = variable("HOME").map(PathBuf::from);
        let temporary = variable("TMPDIR").map(PathBuf::from);
        let workspace = super::workspace();
        let user = user_for(&workspace);
        if let Some(program) = spec.command.first() {
            make_caches(home.as_deref(), program, user);
        }
        let here = std::env::current_dir().unwrap_or_default();
        let path: Vec<PathBuf> = variable("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default();
        let folder = spec.cwd.as_deref().map_or(here.clone(), |it| here.join(it));
        let allowed = Situation {
            home: home.as_deref(),
            temporary: temporary.as_deref(),
            secret: of_the_runner(),
            folder: &folder,
            here: &here,
            workspace: &workspace,
            may_widen: spec.may_widen,
            on_path: on_path(&path, &here),
            path,
            judging: super::judging_files(),
            own: own_files(),
            program: program.map(Path::to_owned),
            interpreter: program.and_then(interpreter_of),
            arguments: spec.command.iter().skip(1).map(PathBuf::from).collect(),
        }
        .allowed();
        Self {
            strict: level == Level::Strict,
            required,
            read: allowed.read.into_iter().collect(),
            write: allowed.write.into_iter().collect(),
            list: allowed.list.into_iter().collect(),
            user,
            repositories: allowed.repositories,
        }
    }

    pub(crate) fn take_repositories(&mut self) -> Repositories {
        std::mem::take(&mut self.repositories)
    }
}

/// The PATH of this program, which stays what it is: before the first server starts.
fn on_path(path: &[PathBuf], here: &Path) -> OnPath {
    static ON_PATH: OnceLock<OnPath> = OnceLock::new();
    ON_PATH.get_or_init(|| OnPath::new(path, here)).clone()
}

/// This program, and the package that starts it if npm or another one installed it.
fn own_files() -> Vec<PathBuf> {
    let Ok(program) = std::env::current_exe() else {
        return Vec::new();
    };
    let around = program.ancestors();
    let modules = around.filter(|it| it.ends_with("node_modules"));
    let launchers = modules.flat_map(|it| [".bin/mcp-keel", "mcp-keel"].map(|name| it.join(name)));
    let launchers: Vec<PathBuf> = launchers.collect();
    launchers.into_iter().chain([program.clone()]).collect()
}

/// The program in the first line of a script.
fn interpreter_of(script: &Path) -> Option<PathBuf> {
    let start = crate::files::read_start(script, 256).ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = std::str::from_utf8(line).ok()?;
    line.split_whitespace().next().map(PathBuf::from)
}

/// Whom a server runs as if mcp-keel is root: the workspace's owner. `None` if that is root, too, or
/// mcp-keel is not.
fn user_for(workspace: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = std::fs::metadata(workspace).ok()?;
    let is_root = nix::unistd::geteuid().is_root();
    (is_root && owner.uid() != 0).then(|| (owner.uid(), owner.gid()))
}

/// What to say about each container engine that can be reached from here.
pub(crate) fn reachable() -> Vec<String> {
    let host = crate::own_env::var("DOCKER_HOST").and_then(|it| it.into_string().ok());
    let sockets = sockets::engines(host.as_deref()).into_iter();
    let said =
        |socket: String| format!("the server can reach {socket}, and through it the whole machine");
    sockets.map(said).collect()
}

/// Where the runner keeps credentials and the files that steps use to communicate with it.
fn of_the_runner() -> Vec<PathBuf> {
    let folder = |name: &str| crate::own_env::var(name).map(PathBuf::from);
    let file = |name| folder(name)?.parent().map(Path::to_owned);
    let files = crate::own_env::FILES_OF_THE_RUNNER;
    let files = files.into_iter().filter_map(file);
    let work = ["RUNNER_TEMP", "RUNNER_WORKSPACE", "GITHUB_WORKSPACE"];
    let installed = work.into_iter().filter_map(folder);
    let installed = installed.chain(programs_above());
    let credentials = installed.flat_map(|it| credentials_above(&it));
    let temporary = folder("RUNNER_TEMP").into_iter();
    temporary.chain(files).chain(credentials).collect()
}

/// The credentials of a self-hosted runner in the folders above one: its work folder is usually
/// below its own.
pub(super) fn credentials_above(folder: &Path) -> Vec<PathBuf> {
    let is_runner = |it: &&Path| it.join(".credentials").exists() || it.join(".runner").exists();
    let runners = folder.ancestors().filter(is_runner);
    runners
        .flat_map(|runner| std::fs::read_dir(runner).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(".credentials")
                || [".runner", ".env", ".path", ".setup_info", "_diag"].contains(&&*name)
        })
        .collect()
}

/// The programs that started this one: among them the runner, wherever it is installed.
fn programs_above() -> Vec<PathBuf> {
    let mut programs = Vec::new();
    let mut process = std::process::id();
    // A process can only be below so many others.
    for _ in 0..64 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        let parent = status.ok().and_then(|it| {
            let line = it.lines().find_map(|it| it.strip_prefix("PPid:"))?;
            line.trim().parse::<u32>().ok()
        });
        let Some(parent) = parent.filter(|it| *it > 1) else {
            break;
        };
        programs.extend(std::fs::read_link(format!("/proc/{parent}/exe")));
        process = parent;
    }
    programs
}

/// The program and the arguments that start a stage in place of a server.
pub(crate) fn command(command: &[String]) -> (&'static str, Vec<String>) {
    let mut words = vec![STAGE.to_owned()];
    words.extend_from_slice(command);
    (OURSELVES, words)
}

/// What a stage inherits: its orders, and the pipe to report through. (As an argument the orders
/// might be too long.)
pub(crate) fn inheritance(orders: &Orders, pipe: impl Into<OwnedFd>) -> io::Result<Vec<FdMapping>> {
    let mut file = File::from(memfd_create(c"mcp-keel", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(serde_json::to_string(orders)?.as_bytes())?;
    let pipe = pipe.into();
    if let Some((user, group)) = orders.user {
        // The stage opens it anew, as that user.
        let (user, group) = (user.into(), group.into());
        let _ = nix::unistd::fchown(&pipe, Some(user), Some(group));
    }
    Ok(vec![
        FdMapping {
            parent_fd: pipe,
            child_fd: CHANNEL,
        },
        FdMapping {
            parent_fd: file.into(),
            child_fd: ORDERS,
        },
    ])
}

/// Runs this program as a stage, if it was started as one.
pub fn run() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != STAGE || std::env::var_os(MARKER).is_none() {
        return None;
    }
    // Opens both anew: these descriptors close with this program, and the server inherits only
    // three.
    let orders = std::fs::read_to_string(format!("/proc/self/fd/{ORDERS}")).ok()?;
    let orders: Orders = serde_json::from_str(&orders).ok()?;
    let channel = File::options()
        .write(true)
        .open(format!("/proc/self/fd/{CHANNEL}"))
        .ok();
    crate::own_env::inherited::close(|_| false);
    let command: Vec<OsString> = arguments.collect();
    let mut stage = Stage { orders, channel };
    Some(stage.run(&command))
}

/// A running stage.
struct Stage {
    orders: Orders,
    channel: Option<File>,
}

impl Stage {
    /// Reports to the program that started this stage. If that is gone, the report is not needed.
    fn tell(&mut self, word: &Word) {
        if let (Some(channel), Ok(line)) = (&mut self.channel, serde_json::to_string(word)) {
            let _ = channel.write_all(format!("{line}\n").as_bytes());
        }
    }

    fn run(&mut self, command: &[OsString]) -> ExitCode {
        if let Some((user, group)) = self.orders.user.take()
            && let Err(error) = confine::user(user, group)
        {
            let why = format!("the server would run as root: {error}");
            if self.orders.required {
                self.tell(&Word::Refused(why));
                return ExitCode::from(CANNOT_RUN);
            }
            self.tell(&Word::Missing(why));
        }
        self.become_server(command)
    }

    fn become_server(&mut self, command: &[OsString]) -> ExitCode {
        if let Err(why) = self.confine() {
            self.tell(&Word::Refused(why));
            return ExitCode::from(CANNOT_RUN);
        }
        let Some((program, arguments)) = command.split_first() else {
            return ExitCode::from(CANNOT_RUN);
        };
        let path = std::env::var_os("PATH");
        let file = crate::launch::find_program(&program.to_string_lossy(), None, path.as_deref());
        let error = if file.is_some_and(|file| crate::launch::is_foreign(&file)) {
            Some(nix::libc::ENOEXEC)
        } else {
            Command::new(program).args(arguments).exec().raw_os_error()
        };
        self.tell(&Word::NotStarted(error.unwrap_or_default()));
        ExitCode::from(CANNOT_RUN)
    }

    /// Applies the restrictions. An error says why the server must not be started.
    fn confine(&mut self) -> Result<(), String> {
        let Orders {
            strict, required, ..
        } = self.orders;
        let mut missing = Vec::new();
        // Before files are limited: what is hidden can still be connected to.
        let has_neighbours = !strict && sockets::are_reachable(!confine::scopes_abstract_sockets());
        let Orders {
            read, write, list, ..
        } = &self.orders;
        match confine::files(read, write, list, !strict) {
            Ok(lacking) => missing.extend(lacking),
            Err(error) => missing.push(format!("files are not limited: {error}")),
        }
        if let Err(error) = confine::rights() {
            missing.push(format!("root privileges are not dropped: {error}"));
        }
        if let Err(error) = confine::calls() {
            missing.push(format!("other processes are not out of reach: {error}"));
        }
        if strict {
            if let Err(error) = confine::network() {
                missing.push(format!("the network is not limited: {error}"));
            }
        } else if has_neighbours && let Err(error) = confine::local_sockets() {
            missing.push(format!("local sockets are not limited: {error}"));
            missing.extend(reachable());
        }
        if required && !missing.is_empty() {
            return Err(missing.join("; "));
        }
        for what in missing {
            self.tell(&Word::Missing(what));
        }
        Ok(())
    }
}

//! Starts the server under test: isolated, and always ended down to the last grandchild.
//!
//! This room promises:
//!
//! - **Isolation**: the server's environment is a pure function of the settings ([`environment`]),
//!   and never includes privileges of the workflow run.
//! - **Nothing is left behind** on any exit: a normal end ([`Launched::shutdown`]), an error or a
//!   cancelled task (the handle is dropped), a panic ([`install_guards`]) and a signal
//!   ([`interrupted`], [`end_all`]).
//! - **Limits**: in a [`sandbox`] the kernel restricts files and the network.
//! - **stderr is drained** continuously and its tail is kept, raw.

mod environment;
mod error;
mod group;
mod guards;
#[cfg(target_os = "linux")]
pub mod own_programs;
#[cfg(target_os = "linux")]
mod proc;
pub mod sandbox;
mod tail;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::{ChildStdin, ChildStdout};

use sandbox::{Level, Listener, Observed, Sandbox};
use tail::Tail;

pub use environment::{Environment, environment};
pub use error::LaunchError;
pub use group::{Group, Leader};
pub use group::{MARKER, end_all, kill_all};
pub use guards::{install_guards, interrupted};
pub use tail::STDERR_KEPT;

/// How to start a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The working directory; mcp-keel's own if not set.
    pub cwd: Option<PathBuf>,
    /// Variables with a value set by the user.
    pub env: BTreeMap<String, String>,
    /// Variables inherited from mcp-keel's environment.
    pub pass_env: BTreeSet<String>,
    /// Whether a sandbox shows what the command and `cwd` name outside of the workspace. Only for
    /// what the user said: a configuration in the workspace may be a pull request's.
    pub may_widen: bool,
    pub sandbox: Sandbox,
}

/// How long to wait for a server to exit, step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// After its stdin was closed, which is how MCP ends a session. Most servers exit within
    /// milliseconds; those that do not (a running timer) do not exit within a second either, so
    /// waiting longer only costs time.
    pub after_eof: Duration,
    /// After SIGTERM. A container that it runs is removed in this time.
    pub after_term: Duration,
    /// For killing, and reading what was written before: then what still runs is left, and reported. All three together
    /// are 5 seconds.
    pub after_kill: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            after_eof: Duration::from_millis(20),
            after_term: Duration::from_secs(2),
            after_kill: Duration::from_millis(2980),
        }
    }
}

/// How a server ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The leader's status, unless even SIGKILL did not end it in time.
    pub status: Option<ExitStatus>,
    /// Whether it had to be asked or killed, instead of exiting when its stdin closed.
    pub forced: bool,
    /// How many of its processes could not be killed in time.
    pub left: usize,
    /// The tail of its stderr, raw.
    pub stderr: Vec<u8>,
    /// What its sandbox reported.
    pub sandbox: Observed,
}

/// A running server. Dropping it kills it with everything that it started.
#[derive(Debug)]
pub struct Launched {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Tail,
    missing: Vec<String>,
    sandbox: Option<Listener>,
    /// What its processes ran when [`Launched::look`] was called.
    paths: Vec<PathBuf>,
    // Before the child: the group is killed before the leader is reaped, so its process id has not
    // been reused.
    group: Group,
    child: Box<dyn ChildWrapper>,
}

impl LaunchSpec {
    /// Checks what can be checked without starting anything: an empty command, a variable that
    /// cannot or must not be passed on, a missing working directory. `ours` is this program's
    /// environment.
    pub fn verify(
        &self,
        ours: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Environment, LaunchError> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err(LaunchError::NoCommand);
        }
        match &self.cwd {
            Some(cwd) if !cwd.is_dir() => Err(LaunchError::NoWorkingDirectory { cwd: cwd.clone() }),
            _ => environment(self, ours),
        }
    }
}

/// Starts the server of `spec`. Needs a tokio runtime.
pub fn launch(spec: &LaunchSpec) -> Result<Launched, LaunchError> {
    let Environment { variables, missing } = spec.verify(crate::own_env::vars())?;
    let Some((program, arguments)) = spec.command.split_first() else {
        return Err(LaunchError::NoCommand);
    };
    let path = variables.get(OsStr::new("PATH"));
    let file = find_program(program, spec.cwd.as_deref(), path.map(AsRef::as_ref));
    let marker = Group::new_marker().map_err(|source| LaunchError::diagnose(spec, None, source))?;

    // Windows itself only finds `.exe` files on the PATH, but `npx` is a script.
    let start = match &file {
        Some(file) if cfg!(windows) => file.as_os_str(),
        _ => OsStr::new(program),
    };
    #[cfg(target_os = "linux")]
    let (start, arguments, inherited, listener) = match spec.sandbox.level {
        Level::Off => {
            if file.as_deref().is_some_and(is_foreign) {
                let foreign = std::io::Error::from_raw_os_error(nix::libc::ENOEXEC);
                return Err(LaunchError::diagnose(spec, file.as_deref(), foreign));
            }
            let reachable = if is_on_runner() {
                sandbox::reachable()
            } else {
                Vec::new()
            };
            let listener = (!reachable.is_empty()).then(|| Listener::without(reachable));
            (start, arguments.to_vec(), None, listener)
        }
        _ => {
            let (start, arguments, inherited, listener) = in_sandbox(spec, file.as_deref())
                .map_err(|source| LaunchError::diagnose(spec, None, source))?;
            (start, arguments, Some(inherited), Some(listener))
        }
    };
    #[cfg(not(target_os = "linux"))]
    let listener = match spec.sandbox {
        Sandbox {
            level: Level::Off, ..
        } => None,
        Sandbox { required: true, .. } => {
            return Err(LaunchError::NoSandbox {
                why: sandbox::ELSEWHERE.into(),
            });
        }
        Sandbox { .. } => Some(Listener::without(vec![sandbox::ELSEWHERE.into()])),
    };
    let spawn = || {
        let mut command = CommandWrap::with_new(start, |command| {
            #[cfg(target_os = "linux")]
            if let Some(inherited) = inherited {
                use command_fds::CommandFdExt as _;
                // Only fails if two descriptors are to have the same number.
                let _ = command.fd_mappings(inherited);
            }
            command
                .args(arguments.iter())
                .env_clear()
                .envs(&variables)
                .env(MARKER, &marker)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            if let Some(cwd) = &spec.cwd {
                command.current_dir(cwd);
            }
        });
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessSession);
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let child = command.spawn()?;
        let leader = child.id().ok_or(std::io::ErrorKind::NotFound)?;
        Ok((child, leader))
    };
    let (mut child, group) = Group::start(marker.clone(), spawn)
        .map_err(|source| LaunchError::diagnose(spec, file.as_deref(), source))?;

    let stdin = child.stdin().take();
    let stdout = child.stdout().take();
    let stderr = match child.stderr().take() {
        Some(pipe) => Tail::of(pipe),
        None => Tail::of(tokio::io::empty()),
    };
    Ok(Launched {
        stdin,
        stdout,
        stderr,
        missing,
        sandbox: listener,
        paths: Vec::new(),
        group,
        child,
    })
}

/// A stage in the place of a server: program, arguments, inherited descriptors, and who listens to
/// what it reports.
#[cfg(target_os = "linux")]
type StageCommand = (
    &'static OsStr,
    Vec<String>,
    Vec<command_fds::FdMapping>,
    Listener,
);

#[cfg(target_os = "linux")]
fn in_sandbox(spec: &LaunchSpec, file: Option<&Path>) -> std::io::Result<StageCommand> {
    let mut orders = sandbox::Orders::new(spec, file);
    let repositories = orders.take_repositories();
    let (start, arguments) = sandbox::command(&spec.command);
    let (reader, writer) = std::io::pipe()?;
    let inherited = sandbox::inheritance(&orders, writer)?;
    Ok((
        OsStr::new(start),
        arguments,
        inherited,
        Listener::of(reader).comparing(repositories),
    ))
}

/// A command of the configuration that is not a server, in the environment and the sandbox of
/// `spec`. The caller starts it, drops it, and waits for the process.
pub fn helper(
    spec: &LaunchSpec,
    marker: &str,
) -> Result<(std::process::Command, Option<Listener>), LaunchError> {
    let Environment { variables, .. } = spec.verify(crate::own_env::vars())?;
    let Some((program, arguments)) = spec.command.split_first() else {
        return Err(LaunchError::NoCommand);
    };
    let plain = || {
        let mut command = std::process::Command::new(program);
        command.args(arguments);
        command
    };
    #[cfg(target_os = "linux")]
    let (mut command, listener) = if spec.sandbox.level == Level::Off {
        (plain(), None)
    } else {
        use command_fds::CommandFdExt as _;
        let path = variables.get(OsStr::new("PATH"));
        let file = find_program(program, spec.cwd.as_deref(), path.map(AsRef::as_ref));
        let (start, arguments, inherited, listener) = in_sandbox(spec, file.as_deref())
            .map_err(|source| LaunchError::diagnose(spec, None, source))?;
        let mut command = std::process::Command::new(start);
        command.args(arguments);
        // Only fails if two descriptors are to have the same number.
        let _ = command.fd_mappings(inherited);
        (command, Some(listener))
    };
    #[cfg(not(target_os = "linux"))]
    let (mut command, listener) = match spec.sandbox {
        Sandbox {
            level: Level::Off, ..
        } => (plain(), None),
        Sandbox { required: true, .. } => {
            return Err(LaunchError::NoSandbox {
                why: sandbox::ELSEWHERE.into(),
            });
        }
        Sandbox { .. } => (plain(), None),
    };
    command.env_clear().envs(variables).env(MARKER, marker);
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    Ok((command, listener))
}

/// Whether this is a job of a workflow.
#[cfg(target_os = "linux")]
fn is_on_runner() -> bool {
    crate::own_env::var("GITHUB_ACTIONS").is_some_and(|it| it == "true")
}

impl LaunchSpec {
    /// Why the server never ran, according to its sandbox.
    pub fn not_started(&self, sandbox: &Observed) -> Option<LaunchError> {
        if let Some(why) = sandbox.refused() {
            return Some(LaunchError::NoSandbox { why });
        }
        let source = std::io::Error::from_raw_os_error(sandbox.not_started()?);
        let ours = crate::own_env::vars();
        let environment = environment(self, ours).unwrap_or_default();
        let path = environment.variables.get(OsStr::new("PATH"));
        let program = self.command.first().map_or("", String::as_str);
        let file = find_program(program, self.cwd.as_deref(), path.map(AsRef::as_ref));
        match file {
            // It is executable, but not inside the sandbox.
            Some(file)
                if source.kind() == std::io::ErrorKind::PermissionDenied
                    && is_executable(&file) =>
            {
                Some(LaunchError::Hidden {
                    command: program.to_owned(),
                })
            }
            file => Some(LaunchError::diagnose(self, file.as_deref(), source)),
        }
    }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

/// Whether a file is not a program for this machine. The C library would pass it to a shell, whose
/// error does not help.
#[cfg(target_os = "linux")]
fn is_foreign(file: &Path) -> bool {
    let opened = is_executable(file).then(|| crate::files::read_start(file, 4));
    let Some(Ok(start)) = opened else {
        return false;
    };
    let known = start.len() < 4 || start == b"\x7fELF" || start.starts_with(b"#!");
    // Other formats may have been registered with the kernel.
    let registered = || {
        let formats = std::fs::read_dir("/proc/sys/fs/binfmt_misc");
        formats.is_ok_and(|it| it.count() > 2)
    };
    !known && !registered()
}

impl Launched {
    /// The pipes to talk through; `None` on the second call.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.stdin.take().zip(self.stdout.take())
    }

    /// Keeps the tail of stdout with that of stderr, for a server that does not talk through its
    /// pipes. Its stdin stays open: some servers exit with it.
    pub fn keep_stdout(&mut self) {
        if let Some(stdout) = self.stdout.take() {
            self.stderr.also(stdout);
        }
    }

    /// Waits until the server's first process exits. What it started may still run and talk.
    /// Cancel-safe.
    pub async fn exited(&mut self) -> Option<ExitStatus> {
        // Not the wrapper's own `wait`: it waits for the whole group.
        self.child.inner_mut().wait().await.ok()
    }

    /// The tail of the server's stderr so far, raw.
    pub fn stderr(&self) -> Vec<u8> {
        self.stderr.bytes()
    }

    /// Notes what its processes run, while they do.
    pub fn look(&mut self) {
        self.paths = self.group.paths();
    }

    /// The absolute paths among the words of its processes, as [`Launched::look`] saw them.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Variables in `pass_env` that are not set.
    pub fn missing_variables(&self) -> &[String] {
        &self.missing
    }

    /// Ends the server, gracefully at first, and everything that it started.
    ///
    /// The caller must have closed the pipes: a server may wait for the end of its stdin.
    pub async fn shutdown(mut self, patience: Patience) -> Ending {
        self.stdin = None;
        let mut status = self.exited_within(patience.after_eof).await;
        let forced = status.is_none();
        if forced {
            self.group.terminate();
            status = self.exited_within(patience.after_term).await;
        }
        // Always, even after a graceful exit: what the leader started may still run.
        let known = match status {
            Some(_) => Leader::Gone,
            None => Leader::MayRun,
        };
        let deadline = Instant::now() + patience.after_kill;
        let at_most =
            |longest: Duration| longest.min(deadline.saturating_duration_since(Instant::now()));
        let left = self.group.kill(known, patience.after_kill);
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
        if status.is_none() {
            status = self.exited_within(at_most(Duration::from_secs(2))).await;
        }
        // All writers are gone, so the rest of stderr is available.
        self.stderr.ended(at_most(Duration::from_millis(500))).await;
        let sandbox = match &self.sandbox {
            Some(listener) => listener.heard(at_most(Duration::from_millis(500))).await,
            None => Observed::default(),
        };
        Ending {
            status,
            forced,
            left,
            stderr: self.stderr.bytes(),
            sandbox,
        }
    }

    /// [`Launched::exited`], but at most `patience`.
    pub async fn exited_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        tokio::time::timeout(patience, self.exited()).await.ok()?
    }
}

/// Where a program would be started from: for messages, and on Windows for starting scripts.
fn find_program(program: &str, cwd: Option<&Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    candidates(program, cwd, path)
        .into_iter()
        .find(|file| file.is_file() || (names_a_path(program) && file.exists()))
}

/// The files that a command may resolve to, in the order in which the system tries them. Verifying
/// and starting a command must look in the same places.
pub fn candidates(program: &str, cwd: Option<&Path>, path: Option<&OsStr>) -> Vec<PathBuf> {
    let folders: Vec<PathBuf> = if names_a_path(program) {
        vec![cwd.map(Path::to_owned).unwrap_or_default()]
    } else {
        path.map(|path| std::env::split_paths(path).collect())
            .unwrap_or_default()
    };
    let endings = endings(program, cfg!(windows));
    folders
        .iter()
        .flat_map(|folder| {
            endings
                .iter()
                .map(move |ending| folder.join(format!("{program}{ending}")))
        })
        .collect()
}

/// What is appended to the name of a program to find its file.
fn endings(program: &str, on_windows: bool) -> &'static [&'static str] {
    if !on_windows {
        &[""]
    } else if Path::new(program).extension().is_some() {
        &["", ".exe", ".cmd", ".bat", ".com"]
    } else {
        // npm puts `npx` beside `npx.cmd`: a script for other shells, which Windows cannot start.
        &[".exe", ".cmd", ".bat", ".com", ""]
    }
}

/// Whether a command is a path, so that the PATH is not searched.
fn names_a_path(program: &str) -> bool {
    program.contains('/') || (cfg!(windows) && program.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::endings;

    #[test]
    fn on_windows_a_script_for_windows_is_found_before_one_for_other_shells() {
        let place = |program, ending| endings(program, true).iter().position(|it| *it == ending);
        assert!(place("npx", ".cmd") < place("npx", ""));
        assert!(place("npx.cmd", "") < place("npx.cmd", ".exe"));
        assert_eq!(endings("npx", false), [""]);
    }
}

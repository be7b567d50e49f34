//! Starting the server under test: isolated, and always ended to the last grandchild.
//!
//! This room promises:
//!
//! - **Isolation**: the server sees an environment that is a pure function of what was asked for
//!   ([`environment`]), never the rights of the workflow run.
//! - **Nothing is left behind** on any way out: a normal end ([`Launched::shutdown`]), an error or a cancelled task
//!   (the handle is dropped), a panic ([`install_guards`]) and a signal ([`interrupted`], [`end_all`]).
//! - **Limits**: in a [`sandbox`] the kernel decides which files and whether a network there are.
//! - **stderr is drained** all the time and its end is kept, raw.

mod environment;
mod error;
mod group;
mod guards;
pub mod sandbox;
mod tail;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::{ChildStdin, ChildStdout};

use sandbox::{Level, Listener, Observed, Sandbox};
use tail::Tail;

pub use environment::{Environment, environment};
pub use error::LaunchError;
pub(crate) use group::{Group, Leader};
pub use group::{MARKER, end_all, kill_all};
pub use guards::{install_guards, interrupted};
pub use tail::STDERR_KEPT;

/// How to start a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The working directory; ours if not given.
    pub cwd: Option<PathBuf>,
    /// Variables with a value of the user's own.
    pub env: BTreeMap<String, String>,
    /// Variables taken over from our environment.
    pub pass_env: BTreeSet<String>,
    /// What it may touch.
    pub sandbox: Sandbox,
}

/// How long to wait for a server to end by itself, step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// After its stdin was closed: MCP's way to say goodbye. Most servers end within milliseconds; those that do not
    /// (a timer that still runs) do not end in a second either, so waiting longer only costs time.
    pub after_eof: Duration,
    /// After it was asked to end (SIGTERM). A container that it runs is removed in this time.
    pub after_term: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            after_eof: Duration::from_millis(20),
            after_term: Duration::from_secs(2),
        }
    }
}

/// How a server ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The leader's status, unless even SIGKILL did not end it in time.
    pub status: Option<ExitStatus>,
    /// Whether it had to be asked or killed, rather than ending when its stdin closed.
    pub forced: bool,
    /// The end of what it wrote to stderr, raw.
    pub stderr: Vec<u8>,
    /// What its sandbox said.
    pub sandbox: Observed,
}

/// A server that runs. Dropping it kills it with everything that it started.
#[derive(Debug)]
pub struct Launched {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Tail,
    missing: Vec<String>,
    sandbox: Option<Listener>,
    // Before the child: the group is killed while the leader has not been reaped, so its number is still its own.
    group: Group,
    child: Box<dyn ChildWrapper>,
}

impl LaunchSpec {
    /// What can be told without starting anything: a command that is empty, a variable that cannot or must not be
    /// passed on, a working directory that is not there. `ours` is the environment of this program.
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
    let marker = Group::new_marker();

    // Windows itself finds only `.exe` files on the PATH, but `npx` is a script.
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
            (start, arguments.to_vec(), None, None)
        }
        _ => {
            let orders = sandbox::Orders::new(spec, &variables, file.as_deref());
            let (start, arguments) = sandbox::command(&spec.command);
            let (reader, inherited) = std::io::pipe()
                .and_then(|(reader, writer)| Ok((reader, sandbox::inheritance(&orders, writer)?)))
                .map_err(|source| LaunchError::diagnose(spec, None, source))?;
            let listener = Listener::of(reader);
            (
                OsStr::new(start),
                arguments,
                Some(inherited),
                Some(listener),
            )
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
        Sandbox { .. } => Some(Listener::elsewhere()),
    };
    let mut command = CommandWrap::with_new(start, |command| {
        #[cfg(target_os = "linux")]
        if let Some(inherited) = inherited {
            use command_fds::CommandFdExt as _;
            // Refused only where two descriptors are to have one number.
            let _ = command.fd_mappings(inherited);
        }
        command
            .args(arguments)
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

    let (mut child, group) = Group::start(marker, || {
        let child = command.spawn()?;
        let leader = child.id().ok_or(std::io::ErrorKind::NotFound)?;
        Ok((child, leader))
    })
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
        group,
        child,
    })
}

impl LaunchSpec {
    /// Why the server never ran, as its sandbox tells it.
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
            // It may be run, and not from in there.
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

/// Whether a file is no program of this machine. The C library would hand it to a shell, and its complaint says nothing.
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
    /// The pipes to speak through. The second call finds them taken.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.stdin.take().zip(self.stdout.take())
    }

    /// Keeps the end of stdout with that of stderr, for a server that does not speak through its pipes. Its stdin stays
    /// open: some end with it.
    pub fn keep_stdout(&mut self) {
        if let Some(stdout) = self.stdout.take() {
            self.stderr.also(stdout);
        }
    }

    /// Waits until the server's first process ends. What it started may still run and speak. Cancel-safe.
    pub async fn exited(&mut self) -> Option<ExitStatus> {
        // Not the wrapper's own `wait`: it waits for the whole group.
        self.child.inner_mut().wait().await.ok()
    }

    /// The end of what the server wrote to stderr so far, raw.
    pub fn stderr(&self) -> Vec<u8> {
        self.stderr.bytes()
    }

    /// Variables that were to be passed on and are not set.
    pub fn missing_variables(&self) -> &[String] {
        &self.missing
    }

    /// Ends the server, politely at first, and everything that it started.
    ///
    /// Whoever took the pipes has closed them before: a server that waits for the end of its stdin waits for that.
    pub async fn shutdown(mut self, patience: Patience) -> Ending {
        self.stdin = None;
        let mut status = self.exited_within(patience.after_eof).await;
        let forced = status.is_none();
        if forced {
            self.group.terminate();
            status = self.exited_within(patience.after_term).await;
        }
        // Always, also after a polite end: the leader's end says nothing about what it started.
        self.group.kill(match status {
            Some(_) => Leader::Gone,
            None => Leader::MayRun,
        });
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
        if status.is_none() {
            status = self.exited_within(Duration::from_secs(2)).await;
        }
        // All writers are gone, so the rest of stderr is at hand.
        self.stderr.ended(Duration::from_millis(500)).await;
        let sandbox = match &self.sandbox {
            Some(listener) => listener.heard(Duration::from_millis(500)).await,
            None => Observed::default(),
        };
        Ending {
            status,
            forced,
            stderr: self.stderr.bytes(),
            sandbox,
        }
    }

    /// [`Launched::exited`], but no longer than `patience`.
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

/// The files that a command may lead to, in the order in which the system tries them. Whoever verifies a command and
/// whoever starts it must look in the same places.
pub(crate) fn candidates(program: &str, cwd: Option<&Path>, path: Option<&OsStr>) -> Vec<PathBuf> {
    let folders: Vec<PathBuf> = if names_a_path(program) {
        vec![cwd.map(Path::to_owned).unwrap_or_default()]
    } else {
        path.map(|path| std::env::split_paths(path).collect())
            .unwrap_or_default()
    };
    let endings: &[&str] = if cfg!(windows) {
        &["", ".exe", ".cmd", ".bat", ".com"]
    } else {
        &[""]
    };
    folders
        .iter()
        .flat_map(|folder| {
            endings
                .iter()
                .map(move |ending| folder.join(format!("{program}{ending}")))
        })
        .collect()
}

/// Whether a command names a file by its path, so that the PATH is not asked.
fn names_a_path(program: &str) -> bool {
    program.contains('/') || (cfg!(windows) && program.contains('\\'))
}

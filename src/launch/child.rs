//! The first process of a launch: how it is started and waited for.
//!
//! On Linux a program is started by `posix_spawn`, which does not copy this process: with many
//! servers, copying its memory and giving it back would take longer than all the rest. What
//! `posix_spawn` cannot do (another working directory, a sandbox) goes through `fork`.

use std::process::ExitStatus;

use process_wrap::tokio::ChildWrapper;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// A started process. Dropping it kills it.
#[derive(Debug)]
pub(super) enum Child {
    Forked(Box<dyn ChildWrapper>),
    #[cfg(target_os = "linux")]
    Spawned(spawned::Spawned),
}

/// Its ends of the three pipes.
pub(super) struct Pipes {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

impl Child {
    /// A child of `process-wrap`.
    pub(super) fn forked(mut child: Box<dyn ChildWrapper>) -> std::io::Result<(Self, Pipes, u32)> {
        let id = child.id().ok_or(std::io::ErrorKind::NotFound)?;
        let pipes = Pipes {
            stdin: child.stdin().take(),
            stdout: child.stdout().take(),
            stderr: child.stderr().take(),
        };
        Ok((Self::Forked(child), pipes, id))
    }

    /// Waits until it exits. Cancel-safe.
    pub(super) async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        match self {
            // Not the wrapper's own `wait`: it waits for the whole group.
            Self::Forked(child) => child.inner_mut().wait().await,
            #[cfg(target_os = "linux")]
            Self::Spawned(child) => child.wait().await,
        }
    }

    /// Kills it, where killing its group is not enough.
    #[cfg(not(unix))]
    pub(super) fn start_kill(&mut self) {
        match self {
            Self::Forked(child) => drop(child.start_kill()),
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) mod spawned {
    use std::ffi::{CString, OsStr};
    use std::io::{Error, ErrorKind, Result};
    use std::os::fd::{AsRawFd as _, OwnedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::PathBuf;
    use std::process::ExitStatus;
    use std::time::Duration;

    use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
    use nix::sys::signal::{SigSet, Signal};
    use rustix::process::{Pid, WaitOptions, kill_process, waitpid};
    use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
    use tokio::signal::unix::{SignalKind, signal};

    use super::{Child, Pipes};

    /// A process that `posix_spawn` started.
    #[derive(Debug)]
    pub(in crate::launch) struct Spawned {
        pid: Pid,
        /// Set when it has been reaped.
        status: Option<ExitStatus>,
    }

    /// What to start.
    pub(in crate::launch) struct Program<'a> {
        /// The files that it may be, in order. As for `execvp`, one that may not be executed or
        /// does not exist is passed over.
        pub(in crate::launch) candidates: Vec<PathBuf>,
        /// What was typed.
        pub(in crate::launch) name: &'a OsStr,
        pub(in crate::launch) arguments: &'a [String],
    }

    /// Starts a program in a session of its own, with nothing but `variables` in its environment.
    pub(in crate::launch) fn start<'v>(
        program: &Program<'_>,
        variables: impl Iterator<Item = (&'v OsStr, &'v OsStr)>,
    ) -> Result<(Child, Pipes, u32)> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| ErrorKind::InvalidInput);
        let words = program.arguments.iter().map(|it| it.as_bytes());
        let words = std::iter::once(program.name.as_bytes()).chain(words);
        let words = words
            .map(text)
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let pairs = variables.map(|(name, value)| [name.as_bytes(), value.as_bytes()].join(&b'='));
        let pairs = pairs.map(|it| text(&it));
        let pairs = pairs.collect::<std::result::Result<Vec<_>, _>>()?;

        // Our ends are closed in every program that is started. 0, 1 and 2 are always open here, so
        // none of these is one of them.
        let (stdin, stdin_end) = std::io::pipe()?;
        let (stdout_end, stdout) = std::io::pipe()?;
        let (stderr_end, stderr) = std::io::pipe()?;
        let mut actions = PosixSpawnFileActions::init()?;
        actions.add_dup2(stdin.as_raw_fd(), 0)?;
        actions.add_dup2(stdout.as_raw_fd(), 1)?;
        actions.add_dup2(stderr.as_raw_fd(), 2)?;

        let mut attributes = PosixSpawnAttr::init()?;
        attributes.set_flags(
            PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
                | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK
                | PosixSpawnFlags::from_bits_retain(nix::libc::POSIX_SPAWN_SETSID.into()),
        )?;
        // Rust ignores it, and that would be inherited.
        let mut default = SigSet::empty();
        default.add(Signal::SIGPIPE);
        attributes.set_sigdefault(&default)?;
        attributes.set_sigmask(&SigSet::empty())?;

        let mut refused = None;
        // Looking is far cheaper than starting a process that finds nothing to execute.
        for file in program.candidates.iter().filter(|it| it.is_file()) {
            let spawned = posix_spawn(file, &actions, &attributes, &words, &pairs);
            let error = match spawned {
                Ok(pid) => {
                    let pid = Pid::from_raw(pid.as_raw()).ok_or(ErrorKind::NotFound)?;
                    let id = u32::try_from(pid.as_raw_nonzero().get()).unwrap_or_default();
                    let child = Spawned { pid, status: None };
                    let pipes = Pipes {
                        stdin: Some(ChildStdin::from_std(OwnedFd::from(stdin_end).into())?),
                        stdout: Some(ChildStdout::from_std(OwnedFd::from(stdout_end).into())?),
                        stderr: Some(ChildStderr::from_std(OwnedFd::from(stderr_end).into())?),
                    };
                    return Ok((Child::Spawned(child), pipes, id));
                }
                Err(error) => Error::from(error),
            };
            match error.kind() {
                ErrorKind::PermissionDenied => refused = Some(error),
                ErrorKind::NotFound | ErrorKind::NotADirectory => {}
                _ => return Err(error),
            }
        }
        Err(refused.unwrap_or_else(|| ErrorKind::NotFound.into()))
    }

    impl Spawned {
        pub(super) async fn wait(&mut self) -> Result<ExitStatus> {
            // Listened to before looking: what exits in between is not missed.
            let mut some_child = signal(SignalKind::child())?;
            loop {
                if let Some(status) = self.try_wait()? {
                    return Ok(status);
                }
                some_child.recv().await;
            }
        }

        fn try_wait(&mut self) -> Result<Option<ExitStatus>> {
            if self.status.is_none() {
                let reaped = waitpid(Some(self.pid), WaitOptions::NOHANG)?;
                self.status = reaped.map(|(_, status)| ExitStatus::from_raw(status.as_raw()));
            }
            Ok(self.status)
        }
    }

    impl Drop for Spawned {
        /// Kills and reaps it. One that even SIGKILL does not end at once is left to the kernel.
        fn drop(&mut self) {
            for _ in 0..100 {
                if !matches!(self.try_wait(), Ok(None)) {
                    return;
                }
                let _ = kill_process(self.pid, rustix::process::Signal::KILL);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

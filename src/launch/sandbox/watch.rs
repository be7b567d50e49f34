//! Traces a sandboxed server to report what it is denied; sockets are denied here.
//!
//! The server is traced (ptrace), and its seccomp filter only stops it at the calls in [`CALLS`]
//! and at `socket`; everything else runs at full speed. Landlock denies files: here the kernel's
//! result is read on return. The tracer is the server's parent, and the server dies with it.
//!
//! Real-time signals cannot be forwarded through this interface. They are dropped and reported, so
//! that a capture that fails is repeated without tracing.

#![allow(
    clippy::disallowed_methods,
    reason = "/proc and /dev/null, not files of a user"
)]

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::unistd::Pid;
use rustix::process::{WaitOptions, WaitStatus};

use super::observed::Word;
use super::stage::Stage;

/// A system call that names a file.
pub(super) struct Call {
    pub(super) number: libc::c_long,
    /// The argument with the folder that a relative path starts in.
    folder: Option<usize>,
    /// The argument with the path.
    path: usize,
    does: Does,
}

enum Does {
    Write,
    /// According to the flags in this argument.
    Open(usize),
    /// According to flags in memory, at the address in this argument.
    OpenHow(usize),
}

const fn call(number: libc::c_long, folder: Option<usize>, path: usize, does: Does) -> Call {
    Call {
        number,
        folder,
        path,
        does,
    }
}

/// Every call that opens, creates or removes a file.
pub(super) const CALLS: [Call; 18] = [
    call(libc::SYS_open, None, 0, Does::Open(1)),
    call(libc::SYS_openat, Some(0), 1, Does::Open(2)),
    call(libc::SYS_openat2, Some(0), 1, Does::OpenHow(2)),
    call(libc::SYS_creat, None, 0, Does::Write),
    call(libc::SYS_truncate, None, 0, Does::Write),
    call(libc::SYS_mkdir, None, 0, Does::Write),
    call(libc::SYS_mkdirat, Some(0), 1, Does::Write),
    call(libc::SYS_rmdir, None, 0, Does::Write),
    call(libc::SYS_unlink, None, 0, Does::Write),
    call(libc::SYS_unlinkat, Some(0), 1, Does::Write),
    call(libc::SYS_rename, None, 0, Does::Write),
    call(libc::SYS_renameat, Some(0), 1, Does::Write),
    call(libc::SYS_renameat2, Some(0), 1, Does::Write),
    call(libc::SYS_link, None, 1, Does::Write),
    call(libc::SYS_linkat, Some(2), 3, Does::Write),
    call(libc::SYS_symlink, None, 1, Does::Write),
    call(libc::SYS_symlinkat, Some(1), 2, Does::Write),
    call(libc::SYS_mknodat, Some(0), 1, Does::Write),
];

/// How many denied accesses are reported.
const MOST_REPORTED: usize = 2000;

/// Starts `inner` and traces it to its end; exits the same way. An error means that nothing runs
/// and nothing was done.
pub(super) fn run(stage: &mut Stage, mut inner: Command) -> io::Result<ExitCode> {
    // Signals to exit are meant for the server, which is in the same group.
    let asked = SigSet::from_iter([
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGQUIT,
    ]);
    asked.thread_block()?;
    let mut child = inner.spawn()?;
    drop(inner);
    let leader = Pid::from_raw(child.id() as i32);
    if let Err(error) = attach(leader) {
        let _ = child.kill();
        let _ = child.wait();
        let _ = asked.thread_unblock();
        return Err(error);
    }
    let_go_of_the_pipes();
    stage.tell(&Word::Watched);
    let status = Watch {
        stage,
        leader,
        pending: HashMap::new(),
        reported: 0,
        lost: false,
    }
    .until_the_end();
    let _ = asked.thread_unblock();
    Ok(end_as(status))
}

/// Waits until the second stage has stopped itself, and seizes it.
fn attach(leader: Pid) -> io::Result<()> {
    match wait(Some(leader), WaitOptions::UNTRACED)? {
        (_, status) if status.stopped() => {}
        _ => return Err(io::Error::other("the second stage did not start")),
    }
    ptrace::seize(
        leader,
        Options::PTRACE_O_EXITKILL
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_TRACESECCOMP
            | Options::PTRACE_O_TRACESYSGOOD,
    )?;
    kill(leader, Signal::SIGCONT)?;
    Ok(())
}

/// Closes the server's pipes: they do not end while another process holds them.
fn let_go_of_the_pipes() {
    if let Ok(null) = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
    {
        let _ = nix::unistd::dup2_stdin(&null);
        let _ = nix::unistd::dup2_stdout(&null);
        let _ = nix::unistd::dup2_stderr(&null);
    }
}

/// Exits as the server did.
fn end_as(status: Option<WaitStatus>) -> ExitCode {
    if let Some(signal) = status.and_then(WaitStatus::terminating_signal)
        && let Ok(signal) = Signal::try_from(signal)
    {
        let _ = raise(signal);
    }
    let code = status.and_then(WaitStatus::exit_status).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn wait(pid: Option<Pid>, options: WaitOptions) -> io::Result<(Pid, WaitStatus)> {
    loop {
        let waited = match pid {
            Some(pid) => {
                let pid = rustix::process::Pid::from_raw(pid.as_raw());
                rustix::process::waitpid(pid, options)
            }
            None => rustix::process::wait(options),
        };
        match waited {
            Ok(Some((pid, status))) => {
                return Ok((Pid::from_raw(pid.as_raw_nonzero().get()), status));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A file call that has not returned yet.
struct Pending {
    path: PathBuf,
    writing: bool,
}

struct Watch<'a> {
    stage: &'a mut Stage,
    leader: Pid,
    pending: HashMap<Pid, Pending>,
    reported: usize,
    lost: bool,
}

impl Watch<'_> {
    fn until_the_end(mut self) -> Option<WaitStatus> {
        /// Includes threads.
        const ALL: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL as u32);
        loop {
            // Only fails if no process is left, and then the leader has been waited for.
            let (pid, status) = wait(None, ALL).ok()?;
            if status.exited() || status.signaled() {
                self.pending.remove(&pid);
                if pid == self.leader {
                    return Some(status);
                }
                continue;
            }
            // A process that has exited meanwhile is waited for next.
            let _ = self.stopped(pid, status);
        }
    }

    fn stopped(&mut self, pid: Pid, status: WaitStatus) -> nix::Result<()> {
        let signal = status.stopping_signal().unwrap_or_default();
        let event = status.as_raw() >> 16;
        match event {
            libc::PTRACE_EVENT_SECCOMP => self.called(pid),
            // A new process, thread or program; or a stop of the whole group, which is ignored.
            event if event != 0 => ptrace::cont(pid, None),
            _ if signal == libc::SIGTRAP | 0x80 => self.came_back(pid),
            _ => match Signal::try_from(signal) {
                Ok(signal) => ptrace::cont(pid, signal),
                Err(_) => {
                    if !self.lost {
                        self.lost = true;
                        self.stage.tell(&Word::SignalLost);
                    }
                    ptrace::cont(pid, None)
                }
            },
        }
    }

    fn called(&mut self, pid: Pid) -> nix::Result<()> {
        let mut registers = ptrace::getregs(pid)?;
        let number = registers.orig_rax as i64 & !0x4000_0000;
        let arguments = [
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ];
        if [libc::SYS_socket, libc::SYS_connect].contains(&number) {
            // Skips the call, with this result.
            registers.orig_rax = u64::MAX;
            registers.rax = (-i64::from(libc::EACCES)) as u64;
            ptrace::setregs(pid, registers)?;
            let wanted = match number {
                libc::SYS_socket => Some(family(arguments[0] as i32)),
                _ => local_address(pid, arguments[1]),
            };
            if let Some(wanted) = wanted {
                self.tell(Word::Network(wanted));
            }
            return ptrace::cont(pid, None);
        }
        let Some(call) = CALLS.iter().find(|call| call.number == number) else {
            return ptrace::cont(pid, None);
        };
        let flags = match call.does {
            Does::Write => libc::O_WRONLY as u64,
            Does::Open(at) => arguments[at],
            Does::OpenHow(at) => word_at(pid, arguments[at]).unwrap_or_default(),
        };
        let writing =
            flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u64 != 0;
        let folder = call.folder.map(|at| arguments[at] as i32);
        match path_of(pid, folder, arguments[call.path]) {
            Some(path)
                if self.reported < MOST_REPORTED && !self.stage.orders.allows(&path, writing) =>
            {
                self.pending.insert(pid, Pending { path, writing });
                ptrace::syscall(pid, None)
            }
            _ => ptrace::cont(pid, None),
        }
    }

    fn came_back(&mut self, pid: Pid) -> nix::Result<()> {
        let registers = ptrace::getregs(pid)?;
        if let Some(Pending { path, writing }) = self.pending.remove(&pid)
            && registers.rax as i64 == -i64::from(libc::EACCES)
        {
            let access = if writing { "writing" } else { "reading" };
            let path = self.stage.orders.display(&path);
            self.tell(Word::File {
                access: access.into(),
                path,
            });
        }
        ptrace::cont(pid, None)
    }

    fn tell(&mut self, word: Word) {
        self.reported += 1;
        if self.reported <= MOST_REPORTED {
            self.stage.tell(&word);
        }
    }
}

fn family(number: i32) -> String {
    match number {
        libc::AF_UNIX => "AF_UNIX (local)".to_owned(),
        libc::AF_INET => "AF_INET (IPv4)".to_owned(),
        libc::AF_INET6 => "AF_INET6 (IPv6)".to_owned(),
        libc::AF_NETLINK => "AF_NETLINK (the kernel)".to_owned(),
        libc::AF_PACKET => "AF_PACKET (raw packets)".to_owned(),
        libc::AF_VSOCK => "AF_VSOCK (the host of a virtual machine)".to_owned(),
        other => format!("family {other}"),
    }
}

/// The target of a local socket. The C library looks up users and groups everywhere; that is not
/// reported.
fn local_address(pid: Pid, address: u64) -> Option<String> {
    const NAME_SERVICES: [&str; 3] = ["/var/run/nscd/", "/run/nscd/", "/run/systemd/userdb/"];
    let path = text_at(pid, address + 2)?;
    let shown = if path.is_empty() {
        "AF_UNIX (local) without a path".to_owned()
    } else {
        format!("AF_UNIX (local), {path}")
    };
    let known = NAME_SERVICES.iter().any(|it| path.starts_with(it));
    (!known).then_some(shown)
}

/// The file that a call names, with links in its folder resolved. An unreadable path is not
/// reported.
fn path_of(pid: Pid, folder: Option<i32>, address: u64) -> Option<PathBuf> {
    let text = text_at(pid, address)?;
    let path = Path::new(&text);
    let start = match folder {
        Some(number) if number != libc::AT_FDCWD => format!("/proc/{pid}/fd/{number}"),
        _ => format!("/proc/{pid}/cwd"),
    };
    let path = if path.is_absolute() {
        path.to_owned()
    } else {
        std::fs::read_link(start).ok()?.join(path)
    };
    if let Ok(found) = path.canonicalize() {
        return Some(found);
    }
    let name = path.file_name()?;
    Some(path.parent()?.canonicalize().ok()?.join(name))
}

/// A string in the memory of a stopped process, at most as long as a path can be.
fn text_at(pid: Pid, address: u64) -> Option<String> {
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut text = Vec::new();
    let mut chunk = [0; 256];
    while text.len() < libc::PATH_MAX as usize {
        // Not beyond the page: the next one may not be mapped.
        let at = address + text.len() as u64;
        let room = (4096 - at % 4096).min(chunk.len() as u64) as usize;
        let count = memory
            .read_at(&mut chunk[..room], at)
            .ok()
            .filter(|it| *it > 0)?;
        match chunk[..count].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&chunk[..end]);
                return String::from_utf8(text).ok();
            }
            None => text.extend_from_slice(&chunk[..count]),
        }
    }
    None
}

fn word_at(pid: Pid, address: u64) -> Option<u64> {
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut word = [0; 8];
    memory.read_exact_at(&mut word, address).ok()?;
    Some(u64::from_ne_bytes(word))
}

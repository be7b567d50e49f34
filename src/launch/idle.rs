//! Whether a server does anything about the end of its stdin.
//!
//! Closing a pipe wakes everyone who reads from it before `close` returns, unless another process
//! that is just being started still has a copy; the caller knows whether there is one. If all threads
//! of a server sleep afterwards, nothing came of it; if it has no processes of its own either, which
//! may be what reads, it is idle and can be asked to exit. It may exchange a few words with another
//! program before it exits, so it must sleep for a while, unless no other process can reach it: all
//! its descriptors are its own or lead here, and its threads wait for those, for each other, or for a
//! timer that was set for later. One that waits until stderr can be written to without blocking is
//! taken for idle as well; one that blocks in writing is not.

#![allow(clippy::disallowed_methods, reason = "/proc, not files of a user")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::Duration;

use super::proc::after_name;

/// After how many looks at which all its threads slept, and none had run since the look before, a
/// server is idle.
const LOOKS: usize = 12;

/// The same if it is unknown how long they sleep.
const LOOKS_IN_DOUBT: usize = 18;

/// The threads of a process, all of which sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sleep {
    /// How often they have run so far, all together.
    runs: u64,
    /// The shortest of their waits.
    wait: Wait,
}

/// How long a thread sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wait {
    /// A timer wakes it while the server is waited for.
    Short,
    Unknown,
    /// It waits for a lock that other processes may share, or for a later timer.
    Long,
    /// It waits for its descriptors, for other threads, or for a later timer.
    Inside,
}

/// Watches one process.
pub(super) struct Watch {
    leader: u32,
    stat: Option<File>,
    threads: Vec<Thread>,
    seen: Option<Sleep>,
    /// How many looks saw the same as the one before.
    same: usize,
    /// Others may have a way to it.
    is_reachable: bool,
}

impl Watch {
    /// Prepares for the looks, which takes longer than they do.
    pub(super) fn new(leader: u32) -> Self {
        Self {
            leader,
            stat: File::open(format!("/proc/{leader}/stat")).ok(),
            threads: threads(leader).unwrap_or_default(),
            seen: None,
            same: 0,
            is_reachable: false,
        }
    }

    /// Looks once more. Whether the process is idle now, and stays so for `patience` as far as can be
    /// seen.
    pub(super) fn is_idle(&mut self, patience: Duration) -> bool {
        self.look(patience);
        let leader = self.leader;
        let sleeps_inside = self.seen.is_some_and(|it| it.wait == Wait::Inside);
        if sleeps_inside && !self.is_reachable {
            self.is_reachable = !is_alone(leader) || has_children(leader);
            // Between two looks: what slept all that time could not change anything about it.
            self.look(patience);
            if !self.is_reachable && self.same > 0 {
                return true;
            }
        }
        let needed = match self.seen.map(|it| it.wait) {
            Some(Wait::Inside | Wait::Long) => LOOKS,
            _ => LOOKS_IN_DOUBT,
        };
        self.same >= needed && !has_children(leader)
    }

    /// Whether its first thread has ended, and all others but the last: from then on it only gives
    /// back its memory. Or it cannot be read any more.
    pub(super) fn is_ending(&self) -> bool {
        let mut line = [0; 512];
        let status = self.stat.as_ref().and_then(|it| status(it, &mut line));
        status.is_none_or(|it| !b"RSDITt".contains(&it.state) && it.threads <= 2)
    }

    /// Closes the files of its threads: reaping a process takes longer while they are open.
    pub(super) fn close(&mut self) {
        self.threads.clear();
    }

    fn look(&mut self, patience: Duration) {
        let now = self.sleep(patience).filter(|it| it.wait != Wait::Short);
        self.same = match now {
            Some(_) if now == self.seen => self.same + 1,
            _ => 0,
        };
        self.seen = now;
    }

    /// `None` if a thread of the process runs, or if the system does not say.
    fn sleep(&mut self, patience: Duration) -> Option<Sleep> {
        // One that is busy exiting is busy with its first thread most of the time.
        let mut line = [0; 512];
        let leader = status(self.stat.as_ref()?, &mut line)?;
        if leader.state != b'S' {
            return None;
        }
        if self.threads.len() != leader.threads {
            self.threads = threads(self.leader)?;
        }
        let sleep = asleep(&self.threads, patience);
        if sleep.is_none() {
            // One has ended and another has started.
            self.threads.clear();
        }
        sleep.flatten()
    }
}

/// The files that tell about a thread, kept open: a look is short then.
struct Thread {
    stat: File,
    schedstat: File,
    syscall: Option<File>,
}

fn threads(process: u32) -> Option<Vec<Thread>> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let opened = threads.map(|thread| {
        let folder = thread.ok()?.path();
        Some(Thread {
            stat: File::open(folder.join("stat")).ok()?,
            schedstat: File::open(folder.join("schedstat")).ok()?,
            syscall: File::open(folder.join("syscall")).ok(),
        })
    });
    opened.collect()
}

/// `Some(None)` if one of them runs, `None` if one cannot be read.
fn asleep(threads: &[Thread], patience: Duration) -> Option<Option<Sleep>> {
    let mut all = Sleep {
        runs: 0,
        wait: Wait::Inside,
    };
    for thread in threads {
        // Before its wait: a thread that wakes in between counts as one that has run.
        let mut line = [0; 128];
        let count = std::str::from_utf8(read_again(&thread.schedstat, &mut line)?).ok()?;
        let count: u64 = count.split_whitespace().nth(2)?.parse().ok()?;
        if count == 0 {
            // It is about to run for the first time, or this kernel does not count.
            return Some(None);
        }
        all.runs += count;
        let mut line = [0; 256];
        let call = thread.syscall.as_ref();
        let call = call.and_then(|it| read_again(it, &mut line));
        let wait = call.map_or(Wait::Unknown, |it| wait(it, patience));
        let mut line = [0; 512];
        if wait == Wait::Unknown && status(&thread.stat, &mut line)?.state != b'S' {
            return Some(None);
        }
        all.wait = all.wait.min(wait);
    }
    Some(Some(all))
}

/// The beginning of a file of `/proc`, as it is now.
fn read_again<'l>(file: &File, line: &'l mut [u8]) -> Option<&'l [u8]> {
    let length = file.read_at(line, 0).ok()?;
    Some(&line[..length])
}

struct Status {
    state: u8,
    /// The number of threads of its process.
    threads: usize,
}

/// What a file `stat` says now.
fn status(stat: &File, line: &mut [u8]) -> Option<Status> {
    let fields = std::str::from_utf8(after_name(read_again(stat, line)?)?).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    Some(Status {
        state: *fields.next()?.as_bytes().first()?,
        threads: fields.nth(16)?.parse().ok()?,
    })
}

/// Whether no other process can reach this one through its descriptors: besides stdin, stdout and
/// stderr, which lead here, it only has what wakes its own threads. The caller knows whether it has
/// children, which may have the same descriptors.
fn is_alone(process: u32) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    // Of each pipe, which ends it has.
    let mut pipes: BTreeMap<OsString, u32> = BTreeMap::new();
    for descriptor in descriptors {
        let Ok(descriptor) = descriptor else {
            return false;
        };
        let Ok(target) = std::fs::read_link(descriptor.path()) else {
            return false;
        };
        let number = descriptor.file_name();
        match target.as_os_str().as_bytes() {
            b"/dev/null" | b"anon_inode:[eventfd]" | b"anon_inode:[eventpoll]" => {}
            name if name.starts_with(b"pipe:") => {
                let ends = pipes.entry(target.into_os_string()).or_default();
                if ["0", "1", "2"].iter().any(|it| number == *it) {
                    *ends |= BOTH;
                } else if let Ok(link) = descriptor.metadata() {
                    // What the owner may do with the link is what the descriptor is open for.
                    *ends |= link.mode() & BOTH;
                }
            }
            _ => return false,
        }
    }
    pipes.values().all(|ends| *ends == BOTH)
}

/// Readable and writable by the owner.
const BOTH: u32 = 0o600;

/// How long a thread sleeps according to its line of `syscall`, `number argument...`. That of a
/// thread that runs is `running`.
fn wait(line: &[u8], patience: Duration) -> Wait {
    use nix::libc;
    let Ok(line) = std::str::from_utf8(line) else {
        return Wait::Unknown;
    };
    let mut words = line.split_whitespace();
    let Some(Ok(call)) = words.next().map(str::parse::<libc::c_long>) else {
        return Wait::Unknown;
    };
    let words = words.map_while(|it| u64::from_str_radix(it.strip_prefix("0x")?, 16).ok());
    let arguments: Vec<u64> = words.collect();
    // A negative number is for ever.
    let milliseconds = |at: usize| match arguments.get(at).map(|it| *it as i32) {
        None => Wait::Unknown,
        Some(count) => match u128::try_from(count) {
            Ok(count) if count <= patience.as_millis() => Wait::Short,
            _ => Wait::Inside,
        },
    };
    // The time itself is in the memory of the process.
    let pointer = |at: usize| match arguments.get(at) {
        Some(0) => Wait::Inside,
        _ => Wait::Unknown,
    };
    #[cfg(target_arch = "x86_64")]
    match call {
        libc::SYS_epoll_wait => return milliseconds(3),
        libc::SYS_poll => return milliseconds(2),
        libc::SYS_select => return pointer(4),
        _ => {}
    }
    match call {
        // Someone may be reading it, and this program is soon.
        libc::SYS_write | libc::SYS_writev => Wait::Short,
        libc::SYS_epoll_pwait => milliseconds(3),
        libc::SYS_epoll_pwait2 => pointer(3),
        libc::SYS_ppoll => pointer(2),
        libc::SYS_pselect6 => pointer(4),
        libc::SYS_futex => {
            let operation = arguments.get(1).map_or(-1, |it| *it as i32);
            match operation & libc::FUTEX_CMD_MASK {
                libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET
                    if operation & libc::FUTEX_PRIVATE_FLAG != 0 =>
                {
                    pointer(3)
                }
                libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => pointer(3).min(Wait::Long),
                _ => Wait::Unknown,
            }
        }
        _ => Wait::Unknown,
    }
}

/// Whether a process has started others that are still there.
fn has_children(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let mut threads = threads.into_iter().flatten().flatten();
    threads.any(|thread| {
        let children = thread.path().join("children");
        let mut line = [0; 16];
        super::proc::read_line(&children, &mut line).is_some_and(|it| !it.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::libc;

    const PATIENCE: Duration = Duration::from_millis(20);

    /// A started process, killed at the end of a test.
    struct Started(std::process::Child);

    impl Started {
        /// With pipes as stdin and stdout, and nothing else but what the command says.
        fn new(command: &mut std::process::Command) -> Self {
            static ONCE: std::sync::Once = std::sync::Once::new();
            ONCE.call_once(|| crate::own_env::inherited::close(|_| false));
            let (piped, null) = (std::process::Stdio::piped, std::process::Stdio::null());
            command.stdin(piped()).stdout(piped()).stderr(null);
            Self(command.spawn().unwrap())
        }

        fn id(&self) -> u32 {
            self.0.id()
        }

        /// Whether this kernel shows how often its threads run, and what they wait for.
        fn is_shown(&self) -> bool {
            let path = |name| format!("/proc/{}/{name}", self.id());
            let mut files = ["schedstat", "syscall"]
                .map(|it| std::fs::read(path(it)))
                .into_iter();
            files.all(|it| it.is_ok())
        }
    }

    impl Drop for Started {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn cat() -> std::process::Command {
        std::process::Command::new("cat")
    }

    /// Whether something holds sooner or later.
    fn soon(mut holds: impl FnMut() -> bool) -> bool {
        let until = std::time::Instant::now() + Duration::from_secs(60);
        loop {
            if holds() {
                return true;
            } else if std::time::Instant::now() > until {
                return false;
            }
            std::thread::yield_now();
        }
    }

    fn call(number: libc::c_long, arguments: [u64; 6]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|it| format!("{it:#x}")).collect();
        format!(
            "{number} {} 0x7ffe276ebb70 0x7f7df9046cae\n",
            arguments.join(" ")
        )
    }

    fn wait_of(line: &str) -> Wait {
        wait(line.as_bytes(), PATIENCE)
    }

    #[test]
    fn a_thread_that_waits_for_events_sleeps_until_its_timer() {
        let epoll = |timeout| {
            let arguments = [13, 0x7ffe, 1024, timeout, 0, 8];
            wait_of(&call(libc::SYS_epoll_pwait, arguments))
        };
        assert_eq!(epoll(0xffff_ffff), Wait::Inside, "for ever");
        assert_eq!(epoll(7998), Wait::Inside);
        assert_eq!(epoll(20), Wait::Short);
        assert_eq!(epoll(0), Wait::Short);
    }

    #[test]
    fn a_thread_that_waits_for_a_lock_sleeps_long_unless_it_gives_up() {
        let futex = |command, limit| {
            let arguments = [0x7f, command, 0, limit, 0, 0xffff_ffff];
            wait_of(&call(libc::SYS_futex, arguments))
        };
        let private_bitset = 0x189;
        assert_eq!(futex(private_bitset, 0), Wait::Inside);
        assert_eq!(futex(private_bitset, 0x7ffd_1000), Wait::Unknown);
        // Another process may hold it.
        let shared_bitset = 0x109;
        assert_eq!(futex(shared_bitset, 0), Wait::Long);
        assert_eq!(futex(shared_bitset, 0x7ffd_1000), Wait::Unknown);
        let wake = 0x81;
        assert_eq!(futex(wake, 0), Wait::Unknown);
    }

    #[test]
    fn of_everything_else_it_is_unknown_how_long_it_takes() {
        let nanosleep = call(libc::SYS_nanosleep, [0x7ffd, 0, 0, 0, 0, 0]);
        let read = call(libc::SYS_read, [0, 0x7ffd, 1024, 0, 0, 0]);
        let cut_off = format!("{} 0xd", libc::SYS_epoll_pwait);
        let in_a_fault = "-1 0x7ffe276ebb70 0x7f7df9046cae\n";
        for line in [&nanosleep, &read, &cut_off, in_a_fault, "running\n", ""] {
            assert_eq!(wait_of(line), Wait::Unknown, "{line}");
        }
    }

    #[test]
    fn a_thread_that_waits_until_it_can_write_is_not_idle() {
        for number in [libc::SYS_write, libc::SYS_writev] {
            let write = call(number, [2, 0x7ffd, 65536, 0, 0, 0]);
            assert_eq!(wait_of(&write), Wait::Short);
        }
    }

    #[test]
    fn a_process_that_only_waits_is_idle() {
        let child = Started::new(&mut cat());
        if child.is_shown() {
            let mut watch = Watch::new(child.id());
            assert!(soon(|| watch.is_idle(PATIENCE)));
        }
    }

    /// Set for the process that waits.
    const WAITS: &str = "MCP_KEEL_TEST_WAITS";

    /// Waits for nothing, in a process of its own that the next test starts.
    #[test]
    fn waiting() {
        if std::env::var_os(WAITS).is_some() {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.build().unwrap();
            runtime.block_on(std::future::pending::<()>());
        }
    }

    #[test]
    fn what_no_other_process_can_wake_is_idle_at_the_first_look() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        // On the first thread, so that no other waits for it with a limit.
        command.args([
            "--exact",
            "launch::idle::tests::waiting",
            "--test-threads=1",
        ]);
        let child = Started::new(command.env(WAITS, ""));
        if child.is_shown() {
            assert!(soon(|| Watch::new(child.id()).is_idle(PATIENCE)));
        }
    }

    /// Whether `cat` is alone that has these descriptors besides stdin and stdout. `None` if this kernel
    /// does not show when it has started.
    fn is_alone_with(descriptors: Vec<std::os::fd::OwnedFd>) -> Option<bool> {
        use command_fds::{CommandFdExt as _, FdMapping};
        let mut command = cat();
        let mappings = (10..).zip(descriptors);
        let mappings = mappings.map(|(child_fd, parent_fd)| FdMapping {
            parent_fd,
            child_fd,
        });
        command.fd_mappings(mappings.collect()).unwrap();
        let child = Started::new(&mut command);
        if !child.is_shown() {
            return None;
        }
        // Until then the loader has files open.
        let mut watch = Watch::new(child.id());
        assert!(soon(|| watch.is_idle(PATIENCE)));
        Some(is_alone(child.id()))
    }

    #[test]
    fn a_process_is_alone_with_both_ends_of_its_pipes() {
        assert_ne!(is_alone_with(vec![]), Some(false));
        let (reader, writer) = std::io::pipe().unwrap();
        let both = is_alone_with(vec![reader.into(), writer.into()]);
        assert_ne!(both, Some(false));
    }

    #[test]
    fn a_process_is_reachable_through_a_pipe_of_another_a_socket_or_a_file() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let again = reader.try_clone().unwrap();
        let one_end = is_alone_with(vec![reader.into(), again.into()]);
        assert_ne!(one_end, Some(true));
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_ne!(is_alone_with(vec![one.into()]), Some(true));
        let file = File::open("/proc/self/stat").unwrap();
        assert_ne!(is_alone_with(vec![file.into()]), Some(true));
        assert!(!is_alone(0), "it does not exist");
    }

    #[test]
    fn a_process_with_others_below_it_has_children() {
        let child = Started::new(&mut cat());
        assert!(has_children(std::process::id()));
        assert!(!has_children(child.id()));
    }
}

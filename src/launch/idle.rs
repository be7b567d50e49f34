//! Whether a server does anything about the end of its stdin.
//!
//! Closing a pipe wakes everyone who reads from it before `close` returns, unless another process
//! that is just being started still has a copy; the caller knows whether there is one. If all threads
//! of a server sleep afterwards, nothing came of it, unless a timer wakes one soon; if it has no
//! processes of its own either, which may be what reads, it is idle and can be asked to exit. It may
//! exchange a few words with another program before it exits, so it must sleep for a while, unless no
//! other process can reach it: all its descriptors are its own or lead here, it handles no signal that
//! could be a message, and its threads wait for those descriptors, for each other, or for a timer that
//! was set for later.
//!
//! All of this is as far as `/proc` shows it: memory that it shares with a process that it did not
//! start, a descriptor that it has sent to one, and input and output of the kernel that has no
//! descriptor any more are not seen.

#![allow(clippy::disallowed_methods, reason = "/proc, not files of a user")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;
use std::time::Duration;

use nix::libc;

use super::proc::{after_name, read_line};

/// After how many looks at which all its threads slept, and none had run since the look before, a
/// server is idle.
const LOOKS: usize = 12;

/// The same if it is unknown how long they sleep.
const LOOKS_IN_DOUBT: usize = 18;

/// A server with more threads is never idle: two files of each are open while it is watched.
const MOST_THREADS: usize = 64;

/// A server with more descriptors is never idle: reading them all takes too long.
const MOST_DESCRIPTORS: usize = 256;

/// How many times the patience a timer must be set for to be a later one. How long ago it was set is
/// unknown, and a server may look regularly whether its stdin has ended.
const LATER: u32 = 10;

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
    /// A timer may wake it while the server is waited for.
    Short,
    Unknown,
    /// It waits for a lock that other processes may share.
    Long,
    /// It waits for its descriptors, for other threads, or for a later timer.
    Inside,
}

/// What else can wake a process that sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Nothing, as far as can be seen.
    Closed,
    /// Another process.
    Others,
    /// A timer.
    Timers,
}

/// Watches one process.
pub(super) struct Watch {
    leader: u32,
    stat: Option<File>,
    threads: Vec<Thread>,
    seen: Option<Sleep>,
    /// How many looks saw the same as the one before.
    same: usize,
    /// Unknown again once it has run.
    reach: Option<Reach>,
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
            reach: None,
        }
    }

    /// Looks once more. Whether the process is idle now, and stays so for `patience` as far as can be
    /// seen.
    pub(super) fn is_idle(&mut self, patience: Duration) -> bool {
        self.look(patience);
        let Some(sleep) = self.seen else {
            return false;
        };
        let leader = self.leader;
        let reach = *self.reach.get_or_insert_with(|| reach(leader));
        let needed = match (sleep.wait, reach) {
            (_, Reach::Timers) => return false,
            (Wait::Inside, Reach::Closed) => 0,
            (Wait::Inside | Wait::Long, _) => LOOKS,
            _ => LOOKS_IN_DOUBT,
        };
        if self.same < needed || has_children(leader) {
            return false;
        }
        // Again: what slept all the time in between could not change anything about that.
        self.look(patience);
        self.same > 0
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
        if now.is_some() && now == self.seen {
            self.same += 1;
        } else {
            self.same = 0;
            self.reach = None;
        }
        self.seen = now;
    }

    /// `None` if a thread of the process runs, or if the system does not say.
    fn sleep(&mut self, patience: Duration) -> Option<Sleep> {
        // One that is busy exiting is busy with its first thread most of the time.
        let mut line = [0; 512];
        let leader = status(self.stat.as_ref()?, &mut line)?;
        if leader.state != b'S' || leader.threads > MOST_THREADS {
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
    folder: PathBuf,
    schedstat: File,
    syscall: Option<File>,
}

fn threads(process: u32) -> Option<Vec<Thread>> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let opened = threads.take(MOST_THREADS).map(|thread| {
        let folder = thread.ok()?.path();
        Some(Thread {
            schedstat: File::open(folder.join("schedstat")).ok()?,
            syscall: File::open(folder.join("syscall")).ok(),
            folder,
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
        if wait == Wait::Unknown {
            let stat = File::open(thread.folder.join("stat")).ok()?;
            if status(&stat, &mut [0; 512])?.state != b'S' {
                return Some(None);
            }
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

/// What can wake a process besides what its threads wait for. The caller knows whether it has
/// children, which may have the same descriptors.
fn reach(process: u32) -> Reach {
    match (through_descriptors(process), through_signals(process)) {
        (Some(Reach::Timers), _) | (_, Some(Reach::Timers)) => Reach::Timers,
        (Some(Reach::Closed), Some(Reach::Closed)) => Reach::Closed,
        _ => Reach::Others,
    }
}

/// No other process can reach this one through its descriptors if, besides stdin, stdout and stderr,
/// which lead here, it only has what wakes its own threads. `None` if they cannot be read.
fn through_descriptors(process: u32) -> Option<Reach> {
    let mut reach = Reach::Closed;
    // Of each pipe, which ends it has.
    let mut pipes: BTreeMap<OsString, u32> = BTreeMap::new();
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    for (count, descriptor) in descriptors.enumerate() {
        if count == MOST_DESCRIPTORS {
            // One of the others may be a timer.
            return Some(Reach::Timers);
        }
        let descriptor = descriptor.ok()?;
        let target = std::fs::read_link(descriptor.path()).ok()?;
        let number = descriptor.file_name();
        match target.as_os_str().as_bytes() {
            b"/dev/null" | b"anon_inode:[eventfd]" | b"anon_inode:[eventpoll]" => {}
            b"anon_inode:[timerfd]" => return Some(Reach::Timers),
            name if name.starts_with(b"pipe:") => {
                let ends = pipes.entry(target.into_os_string()).or_default();
                if ["0", "1", "2"].iter().any(|it| number == *it) {
                    *ends |= BOTH;
                } else {
                    // What the owner may do with the link is what the descriptor is open for.
                    *ends |= descriptor.metadata().ok()?.mode() & BOTH;
                }
            }
            _ => reach = Reach::Others,
        }
    }
    let are_own = pipes.values().all(|ends| *ends == BOTH);
    Some(if are_own { reach } else { Reach::Others })
}

/// Readable and writable by the owner.
const BOTH: u32 = 0o600;

/// What signals end a process, report its errors or tell about its terminal, and those that runtimes
/// handle on their own: Node's inspector, threads of the C library.
const ORDINARY: [libc::c_int; 16] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGUSR1,
    libc::SIGSEGV,
    libc::SIGPIPE,
    libc::SIGTERM,
    libc::SIGCHLD,
    libc::SIGWINCH,
    32,
    33,
];

/// A signal that a process handles may be a message of another, or that of a timer.
fn through_signals(process: u32) -> Option<Reach> {
    if read_line(format!("/proc/{process}/timers"), &mut [0; 1]).is_some_and(|it| !it.is_empty()) {
        return Some(Reach::Timers);
    }
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mut lines = status.lines();
    let handled = lines.find_map(|it| it.strip_prefix("SigCgt:"))?;
    let handled = u64::from_str_radix(handled.trim(), 16).ok()?;
    let bit = |signal: libc::c_int| 1_u64 << (signal - 1);
    let timers = bit(libc::SIGALRM) | bit(libc::SIGVTALRM) | bit(libc::SIGPROF);
    let ordinary = ORDINARY.iter().fold(0, |all, it| all | bit(*it));
    Some(if handled & timers != 0 {
        Reach::Timers
    } else if handled & !ordinary != 0 {
        Reach::Others
    } else {
        Reach::Closed
    })
}

/// How long a thread sleeps according to its line of `syscall`, `number argument...`. That of a
/// thread that runs is `running`.
fn wait(line: &[u8], patience: Duration) -> Wait {
    let Ok(line) = std::str::from_utf8(line) else {
        return Wait::Unknown;
    };
    let mut words = line.split_whitespace();
    let Some(Ok(call)) = words.next().map(str::parse::<libc::c_long>) else {
        return Wait::Unknown;
    };
    let words = words.map_while(|it| u64::from_str_radix(it.strip_prefix("0x")?, 16).ok());
    let arguments: Vec<u64> = words.collect();
    let later = (patience * LATER).as_millis();
    // A negative number is for ever.
    let milliseconds = |at: usize| match arguments.get(at).map(|it| *it as i32) {
        None => Wait::Unknown,
        Some(count) => match u128::try_from(count) {
            Ok(count) if count <= later => Wait::Short,
            _ => Wait::Inside,
        },
    };
    // The time itself is in the memory of the process.
    let pointer = |at: usize, without: Wait| match arguments.get(at) {
        None => Wait::Unknown,
        Some(0) => without,
        Some(_) => Wait::Short,
    };
    #[cfg(target_arch = "x86_64")]
    match call {
        libc::SYS_epoll_wait => return milliseconds(3),
        libc::SYS_poll => return milliseconds(2),
        libc::SYS_select => return pointer(4, Wait::Inside),
        _ => {}
    }
    match call {
        // A reader may be about to read it: this program is.
        libc::SYS_write | libc::SYS_writev => Wait::Short,
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => Wait::Short,
        libc::SYS_rt_sigtimedwait => pointer(2, Wait::Unknown),
        libc::SYS_epoll_pwait => milliseconds(3),
        libc::SYS_epoll_pwait2 => pointer(3, Wait::Inside),
        libc::SYS_ppoll => pointer(2, Wait::Inside),
        libc::SYS_pselect6 => pointer(4, Wait::Inside),
        libc::SYS_futex => {
            let operation = arguments.get(1).map_or(-1, |it| *it as i32);
            let is_private = operation & libc::FUTEX_PRIVATE_FLAG != 0;
            match operation & libc::FUTEX_CMD_MASK {
                libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET if is_private => {
                    pointer(3, Wait::Inside)
                }
                libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => pointer(3, Wait::Long),
                _ => Wait::Unknown,
            }
        }
        _ => Wait::Unknown,
    }
}

/// Whether a process has started others that are still there.
fn has_children(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    // One that has more by now is not idle either.
    let mut threads = threads.into_iter().flatten().flatten().take(MOST_THREADS);
    threads.any(|thread| {
        let children = thread.path().join("children");
        read_line(&children, &mut [0; 16]).is_some_and(|it| !it.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(epoll(200), Wait::Short, "it may have been set long ago");
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
        assert_eq!(futex(private_bitset, 0x7ffd_1000), Wait::Short);
        // Another process may hold it.
        let shared_bitset = 0x109;
        assert_eq!(futex(shared_bitset, 0), Wait::Long);
        assert_eq!(futex(shared_bitset, 0x7ffd_1000), Wait::Short);
        let wake = 0x81;
        assert_eq!(futex(wake, 0), Wait::Unknown);
    }

    #[test]
    fn of_everything_else_it_is_unknown_how_long_it_takes() {
        let read = call(libc::SYS_read, [0, 0x7ffd, 1024, 0, 0, 0]);
        let cut_off = format!("{} 0xd", libc::SYS_epoll_pwait);
        let in_a_fault = "-1 0x7ffe276ebb70 0x7f7df9046cae\n";
        for line in [&read, &cut_off, in_a_fault, "running\n", ""] {
            assert_eq!(wait_of(line), Wait::Unknown, "{line}");
        }
    }

    #[test]
    fn a_thread_that_sleeps_or_waits_until_it_can_write_soon_goes_on() {
        for number in [
            libc::SYS_write,
            libc::SYS_writev,
            libc::SYS_nanosleep,
            libc::SYS_clock_nanosleep,
        ] {
            let line = call(number, [2, 0x7ffd, 65536, 0, 0, 0]);
            assert_eq!(wait_of(&line), Wait::Short);
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

    /// What can wake a process that has read nothing yet. `None` if this kernel does not show when it
    /// has started.
    fn reach_of(command: &mut std::process::Command) -> Option<Reach> {
        let child = Started::new(command);
        if !child.is_shown() {
            return None;
        }
        // Until then the loader has files open.
        assert!(soon(|| is_started(child.id())));
        Some(reach(child.id()))
    }

    /// Whether a process waits for its stdin.
    fn is_started(process: u32) -> bool {
        let call = std::fs::read_to_string(format!("/proc/{process}/syscall"));
        call.is_ok_and(|it| it.starts_with(&format!("{} 0x0 ", libc::SYS_read)))
    }

    fn reach_with(descriptors: Vec<std::os::fd::OwnedFd>) -> Option<Reach> {
        use command_fds::{CommandFdExt as _, FdMapping};
        let mut command = cat();
        let mappings = (10..).zip(descriptors);
        let mappings = mappings.map(|(child_fd, parent_fd)| FdMapping {
            parent_fd,
            child_fd,
        });
        command.fd_mappings(mappings.collect()).unwrap();
        reach_of(&mut command)
    }

    /// As far as this kernel shows it.
    fn assert_reach(seen: Option<Reach>, expected: Reach) {
        assert_eq!(seen.unwrap_or(expected), expected);
    }

    #[test]
    fn a_process_with_both_ends_of_its_pipes_cannot_be_reached() {
        assert_reach(reach_with(vec![]), Reach::Closed);
        let (reader, writer) = std::io::pipe().unwrap();
        let both = reach_with(vec![reader.into(), writer.into()]);
        assert_reach(both, Reach::Closed);
    }

    #[test]
    fn a_process_is_reachable_through_a_pipe_of_another_a_socket_or_a_file() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let again = reader.try_clone().unwrap();
        let one_end = reach_with(vec![reader.into(), again.into()]);
        assert_reach(one_end, Reach::Others);
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_reach(reach_with(vec![one.into()]), Reach::Others);
        let file = File::open("/proc/self/stat").unwrap();
        assert_reach(reach_with(vec![file.into()]), Reach::Others);
        assert_eq!(reach(0), Reach::Others, "it does not exist");
    }

    #[test]
    fn a_process_with_very_many_descriptors_may_have_a_timer() {
        let one = || File::open("/dev/null").unwrap().into();
        let many = (0..=MOST_DESCRIPTORS).map(|_| one());
        assert_reach(reach_with(many.collect()), Reach::Timers);
    }

    #[test]
    fn a_process_is_reachable_through_signals_that_it_handles() {
        for (signal, expected) in [
            ("TERM", Reach::Closed),
            ("USR2", Reach::Others),
            ("ALRM", Reach::Timers),
        ] {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &format!("trap : {signal}; read line")]);
            assert_reach(reach_of(&mut command), expected);
        }
    }

    #[test]
    fn a_process_with_others_below_it_has_children() {
        let child = Started::new(&mut cat());
        assert!(has_children(std::process::id()));
        assert!(!has_children(child.id()));
    }
}

//! Whether a server does anything about the end of its stdin.
//!
//! Closing a pipe wakes everyone who reads from it before `close` returns, unless another process
//! that is just being started still has a copy; the caller knows whether there is one. If all threads
//! of a server sleep for a while afterwards, nothing came of it; if it has no processes of its own
//! either, which may be what reads, it is idle and can be asked to exit. A while, because it may
//! exchange a few words with another program before it exits.

use std::time::Duration;

use super::proc::{after_name, read_line};

/// After how many looks at which all its threads slept, and none had run in between, a server is
/// idle. A look at a dozen threads takes half as long as the pause before it.
const LOOKS: usize = 4;

/// The same if it is unknown how long they sleep.
const LOOKS_IN_DOUBT: usize = 6;

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
    /// It waits for events, for a lock, or for a later timer.
    Long,
}

/// Watches one process.
pub(super) struct Watch {
    leader: u32,
    seen: Option<Sleep>,
    /// How many looks saw the same as the one before.
    same: usize,
}

impl Watch {
    pub(super) fn new(leader: u32) -> Self {
        Self {
            leader,
            seen: None,
            same: 0,
        }
    }

    /// Whether the process is idle now, and stays so for `patience` as far as can be seen.
    pub(super) fn is_idle(&mut self, patience: Duration) -> bool {
        let now = sleep(self.leader, patience).filter(|it| it.wait != Wait::Short);
        self.same = match now {
            Some(_) if now == self.seen => self.same + 1,
            _ => 0,
        };
        self.seen = now;
        let needed = match now.map(|it| it.wait) {
            Some(Wait::Long) => LOOKS,
            _ => LOOKS_IN_DOUBT,
        };
        self.same >= needed && !has_children(self.leader)
    }
}

/// `None` if a thread of the process runs, or if the system does not say.
fn sleep(process: u32, patience: Duration) -> Option<Sleep> {
    let sleeps = |folder: &str| {
        let mut line = [0; 512];
        let stat = read_line(format!("{folder}/stat"), &mut line)?;
        Some(after_name(stat)?.trim_ascii_start().first() == Some(&b'S'))
    };
    // One that is busy exiting is busy with its first thread most of the time.
    if !sleeps(&format!("/proc/{process}"))? {
        return None;
    }
    let mut all = Sleep {
        runs: 0,
        wait: Wait::Long,
    };
    for thread in std::fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let name = thread.ok()?.file_name();
        let folder = format!("/proc/{process}/task/{}", name.to_str()?);
        // Before its wait: a thread that wakes in between counts as one that has run.
        let mut line = [0; 128];
        let count = read_line(format!("{folder}/schedstat"), &mut line)?;
        let count = std::str::from_utf8(count).ok()?.split_whitespace().nth(2)?;
        all.runs += count.parse::<u64>().ok()?;
        let mut line = [0; 256];
        let call = read_line(format!("{folder}/syscall"), &mut line);
        let wait = call.map_or(Wait::Unknown, |it| wait(it, patience));
        if wait == Wait::Unknown && !sleeps(&folder)? {
            return None;
        }
        all.wait = all.wait.min(wait);
    }
    Some(all)
}

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
            _ => Wait::Long,
        },
    };
    // The time itself is in the memory of the process.
    let pointer = |at: usize| match arguments.get(at) {
        Some(0) => Wait::Long,
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
        libc::SYS_epoll_pwait => milliseconds(3),
        libc::SYS_epoll_pwait2 => pointer(3),
        libc::SYS_ppoll => pointer(2),
        libc::SYS_pselect6 => pointer(4),
        libc::SYS_futex => {
            let command = arguments.get(1).map(|it| *it as i32 & libc::FUTEX_CMD_MASK);
            match command {
                Some(libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) => pointer(3),
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
        read_line(&children, &mut line).is_some_and(|it| !it.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::libc;

    const PATIENCE: Duration = Duration::from_millis(20);

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
        assert_eq!(epoll(0xffff_ffff), Wait::Long, "for ever");
        assert_eq!(epoll(7998), Wait::Long);
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
        assert_eq!(futex(private_bitset, 0), Wait::Long);
        assert_eq!(futex(private_bitset, 0x7ffd_1000), Wait::Unknown);
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
    fn a_process_that_only_waits_is_idle() {
        if std::fs::metadata("/proc/self/schedstat").is_err() {
            // A kernel that does not count.
            return;
        }
        let mut command = std::process::Command::new("cat");
        let piped = std::process::Stdio::piped;
        let mut child = command.stdin(piped()).stdout(piped()).spawn().unwrap();
        let mut watch = Watch::new(child.id());
        while !watch.is_idle(PATIENCE) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_with_others_below_it_has_children() {
        let piped = std::process::Stdio::piped;
        let mut command = std::process::Command::new("cat");
        let mut child = command.stdin(piped()).stdout(piped()).spawn().unwrap();
        assert!(has_children(std::process::id()));
        assert!(!has_children(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

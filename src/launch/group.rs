//! The processes of one launch, and how to end every one of them.
//!
//! Each server has its own session: it has no access to mcp-keel's terminal and cannot hide in its
//! process group. The server's process group is the first net: one signal reaches the server and
//! what it started. Processes that leave the group (`setsid`, a daemon that forks twice) are found
//! on Linux through `/proc`: this process adopts orphans (`PR_SET_CHILD_SUBREAPER`), so a stray is
//! always its descendant, and each launch marks its processes with an environment variable, so that
//! parallel servers are never mixed up (a daemon that also clears its environment cannot be
//! attributed, and is ended with the last of them). Zombies are reaped too: without an init, as in
//! some containers, they would stay in the process table. Elsewhere only the group (on Windows the
//! job) is available.

#![allow(
    clippy::disallowed_methods,
    reason = "/proc and /dev/null, not files of a user"
)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, TryLockError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The variable that marks the processes of a launch. Systemd gives every service one of this name,
/// so that it does not tell a server who starts it.
pub const MARKER: &str = "INVOCATION_ID";

/// All running launches, by marker.
static LIVE: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Held by those who start a server until it is in [`LIVE`], any number of them, or by one who searches for strays:
/// a search never mistakes a new server for one. Taken before the lock of [`LIVE`].
static STARTING: RwLock<()> = RwLock::new(());

/// Set before waiting for [`STARTING`], checked while holding it: nothing more may be started.
static ENDED: AtomicBool = AtomicBool::new(false);

#[derive(Debug)]
pub(crate) struct Group {
    marker: String,
    leader: u32,
    /// All its processes are gone.
    ended: AtomicBool,
}

/// How the markers of a process begin.
pub fn marker_prefix(process: u32) -> String {
    format!("{process:08x}")
}

impl Group {
    /// A marker unique among all launches, of this program and of others. It begins with
    /// [`marker_prefix`].
    pub(crate) fn new_marker() -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let prefix = marker_prefix(std::process::id());
        format!("{prefix}{count:08x}{:016x}", now.as_nanos() as u64)
    }

    /// Starts a leader with `spawn` and registers its group. No search for strays sees the one
    /// without the other.
    pub(crate) fn start<T>(
        marker: String,
        spawn: impl FnOnce() -> std::io::Result<(T, u32)>,
    ) -> std::io::Result<(T, Self)> {
        adopt_orphans();
        let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        if ENDED.load(Ordering::Relaxed) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let (child, leader) = spawn()?;
        live().insert(marker.clone(), leader);
        let group = Self {
            marker,
            leader,
            ended: AtomicBool::new(false),
        };
        Ok((child, group))
    }

    /// The absolute paths among the words of its processes: their programs, and the files that these were asked
    /// to run. Empty where the system does not show them.
    pub(super) fn paths(&self) -> Vec<std::path::PathBuf> {
        #[cfg(target_os = "linux")]
        {
            strays::paths_below(self.leader)
        }
        #[cfg(not(target_os = "linux"))]
        {
            Vec::new()
        }
    }

    pub(super) fn leader(&self) -> u32 {
        self.leader
    }

    /// Asks every process of the group to exit.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        signal_group(self.leader, nix::sys::signal::Signal::SIGTERM);
    }

    /// Kills every process of this launch. Returns when they are gone.
    pub(crate) fn kill(&self, leader: Leader) {
        if !has_left_nothing(leader) {
            let search = Search::new();
            kill(&self.marker, self.leader, leader, &search.live);
        }
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// Most servers exit by themselves and leave nothing: checking what this process adopted is enough
/// for them, whatever is started meanwhile.
fn has_left_nothing(leader: Leader) -> bool {
    #[cfg(target_os = "linux")]
    if leader == Leader::Gone {
        // Nothing is reaped here: a server that is just being started may be among them.
        let children = strays::children();
        let live = live();
        let is_live = |pid: &u32| live.values().any(|leader| leader == pid);
        return children.is_some_and(|it| it.iter().all(is_live));
    }
    let _ = leader;
    false
}

/// All launches, while none is being started.
struct Search {
    live: MutexGuard<'static, BTreeMap<String, u32>>,
    _no_start: RwLockWriteGuard<'static, ()>,
}

impl Search {
    fn new() -> Self {
        let no_start = STARTING.write().unwrap_or_else(PoisonError::into_inner);
        Self {
            live: live(),
            _no_start: no_start,
        }
    }

    /// The same, but a panic while a lock is held must not deadlock.
    fn now() -> Option<Self> {
        for _ in 0..500 {
            let no_start = unless_held(STARTING.try_write());
            if let Some(no_start) = no_start
                && let Some(live) = unless_held(LIVE.try_lock())
            {
                return Some(Self {
                    live,
                    _no_start: no_start,
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

fn unless_held<T>(tried: Result<T, TryLockError<T>>) -> Option<T> {
    match tried {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A finished launch is not searched for again, and its process id may have been reused. The
        // last launch searches anyway, for strays that could not be attributed while there were
        // others.
        let ended = self.ended.load(Ordering::Relaxed);
        if !ended {
            kill(
                &self.marker,
                self.leader,
                Leader::MayRun,
                &Search::new().live,
            );
        } else {
            let is_the_last = live().len() == 1;
            if is_the_last && !has_left_nothing(Leader::Gone) {
                kill(&self.marker, self.leader, Leader::Gone, &Search::new().live);
            }
        }
        live().remove(&self.marker);
    }
}

/// Ends every launch for good, when this program is about to exit: no thread starts another server.
/// Each is asked to exit, has at most `grace` until its group is gone, and the rest is killed. A
/// server that runs a container removes it when asked. Synchronous and callable from any thread.
pub fn end_all(grace: Duration) {
    ENDED.store(true, Ordering::Relaxed);
    if let Some(Search { live, .. }) = Search::now() {
        #[cfg(unix)]
        live.values()
            .for_each(|leader| signal_group(*leader, nix::sys::signal::Signal::SIGTERM));
        let until = std::time::Instant::now() + grace;
        while live.values().any(|leader| group_runs(*leader)) && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    kill_all();
}

/// Kills every process of every running launch. Synchronous and callable from anywhere: a panic
/// hook, a signal-handling thread.
pub fn kill_all() {
    let Some(Search {
        mut live,
        _no_start,
    }) = Search::now()
    else {
        return;
    };
    while let Some((marker, leader)) = live.first_key_value() {
        let (marker, leader) = (marker.clone(), *leader);
        kill(&marker, leader, Leader::MayRun, &live);
        live.remove(&marker);
    }
}

/// If all threads of a process sleep: how often they have run so far, all together. `None` if one
/// runs, or if the system does not say.
pub(super) fn sleeping(process: u32) -> Option<u64> {
    #[cfg(target_os = "linux")]
    return strays::sleeping(process);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = process;
        None
    }
}

/// Whether a process has started others that are still there, as far as the system says.
pub(super) fn has_children(process: u32) -> bool {
    #[cfg(target_os = "linux")]
    return strays::has_children(process);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = process;
        false
    }
}

/// Whether any process of a group still runs. If running and unreaped processes cannot be
/// distinguished, it does.
fn group_runs(leader: u32) -> bool {
    #[cfg(target_os = "linux")]
    return strays::group_runs(leader);
    #[cfg(all(unix, not(target_os = "linux")))]
    return i32::try_from(leader).is_ok_and(|leader| {
        nix::sys::signal::killpg(nix::unistd::Pid::from_raw(leader), None).is_ok()
    });
    #[cfg(not(unix))]
    return leader == 0;
}

fn live() -> MutexGuard<'static, BTreeMap<String, u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known about the first process of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leader {
    /// It has ended and been reaped. What it left behind is now a child of this process.
    Gone,
    /// Unknown.
    MayRun,
}

fn kill(marker: &str, leader: u32, known: Leader, live: &BTreeMap<String, u32>) {
    // The process id of a reaped leader may be reused. No process has the id 0.
    let reused = live.iter().any(|(it, its)| it != marker && *its == leader);
    let leader = if reused { 0 } else { leader };
    #[cfg(target_os = "linux")]
    let strays = strays::Search::new(marker, leader, live);
    #[cfg(target_os = "linux")]
    if known == Leader::Gone && strays.are_none() {
        return;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (marker, live, known);
    #[cfg(unix)]
    signal_group(leader, nix::sys::signal::Signal::SIGKILL);
    #[cfg(target_os = "linux")]
    strays.kill();
    // On Windows the job ends with the child's handle, which the caller owns.
    #[cfg(not(unix))]
    let _ = leader;
}

#[cfg(unix)]
fn signal_group(leader: u32, signal: nix::sys::signal::Signal) {
    // It is fine if the group is already gone.
    if let Some(leader) = i32::try_from(leader).ok().filter(|it| *it > 0) {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(leader), signal);
    }
}

/// Makes this process the parent of what its descendants leave behind.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // Only fails on kernels older than 3.4; there is still the process group then.
            let _ = nix::sys::prctl::set_child_subreaper(true);
        });
    }
}

#[cfg(target_os = "linux")]
mod strays {
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::Read as _;
    use std::time::Duration;

    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;

    use super::MARKER;

    /// How often to search again. A process that forks faster than it can be killed is not followed
    /// forever.
    const ROUNDS: usize = 500;

    /// How often to read the process list for one table. It is complete after the second time
    /// unless something keeps forking, and that is noticed.
    const ROUNDS_OF_THE_TABLE: usize = 16;

    /// How often to search again only because a process cannot be attributed.
    const ROUNDS_IN_DOUBT: usize = 50;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Process {
        pub(super) parent: u32,
        pub(super) group: u32,
        pub(super) zombie: bool,
    }

    /// Searches for the processes of one launch until none is left.
    pub(super) struct Search<'a> {
        marker: &'a str,
        leader: u32,
        live: &'a BTreeMap<String, u32>,
        /// Known to belong to this launch. Collected before anything is killed, while the chain of
        /// parents is still intact.
        known: BTreeSet<u32>,
        /// There was an orphan without an environment: it was cleared, or the process is just
        /// starting a program.
        in_doubt: bool,
    }

    impl<'a> Search<'a> {
        pub(super) fn new(marker: &'a str, leader: u32, live: &'a BTreeMap<String, u32>) -> Self {
            let mut search = Self {
                marker,
                leader,
                live,
                known: BTreeSet::new(),
                in_doubt: false,
            };
            search.known = search.found();
            search
        }

        /// Nothing of the launch is running, in its group or elsewhere.
        pub(super) fn are_none(&self) -> bool {
            self.known.is_empty() && !self.in_doubt && !self.is_owner_of_the_rest()
        }

        /// There is no other launch, and this process adopted something.
        fn is_owner_of_the_rest(&self) -> bool {
            self.is_alone() && left_to_us(self.live).is_some_and(|left| !left.is_empty())
        }

        fn is_alone(&self) -> bool {
            self.live.keys().all(|marker| marker == self.marker)
        }

        pub(super) fn kill(mut self) {
            for round in 0..ROUNDS {
                for pid in &self.known {
                    let _ = kill(pid_of(*pid), Signal::SIGKILL);
                }
                // The leader is reaped by the code that waits for its status.
                let leader = self.leader;
                self.known.retain(|pid| *pid != leader && !is_gone(*pid));
                if self.is_alone() {
                    self.kill_the_rest();
                }
                let found = self.found();
                let wait = self.in_doubt && round < ROUNDS_IN_DOUBT;
                let none = found.is_empty() && self.known.is_empty() && !wait;
                if none && !self.is_owner_of_the_rest() {
                    return;
                }
                self.known.extend(found);
                if round > 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }

        /// Kills adopted processes, and those adopted as a result. Does nothing else, to be as fast
        /// as a process that keeps starting another and exiting: that one is never found in the
        /// table where it was a moment ago.
        fn kill_the_rest(&self) {
            for _ in 0..ROUNDS {
                let left = left_to_us(self.live).unwrap_or_default();
                if left.is_empty() {
                    return;
                }
                for pid in left {
                    let _ = kill(pid_of(pid), Signal::SIGKILL);
                }
            }
        }

        /// The running processes of this launch. Adopted zombies are reaped.
        fn found(&mut self) -> BTreeSet<u32> {
            self.in_doubt = false;
            let ours = std::process::id();
            let table = table();
            let own_group = table.get(&ours).map(|process| process.group);
            let mut roots = BTreeSet::new();
            for (pid, process) in &table {
                if *pid == ours || !is_below(&table, *pid, ours) {
                    continue;
                }
                if *pid == self.leader {
                    roots.insert(*pid);
                    continue;
                }
                let is_left_to_us = process.parent == ours
                    && Some(process.group) != own_group
                    && !self.live.values().any(|leader| leader == pid);
                if process.zombie {
                    if is_left_to_us {
                        is_gone(*pid);
                    }
                    continue;
                }
                let environment = environment_of(*pid);
                let claim = marker_in(&environment);
                let of_another = claim
                    .as_ref()
                    .is_some_and(|claim| claim != self.marker && self.live.contains_key(claim));
                self.in_doubt |= is_left_to_us && environment.is_empty();
                // A daemon that also cleared its environment. It was adopted, its group is not one
                // that this program starts anything in, and there is no other launch that it could
                // belong to.
                let unclaimed = is_left_to_us && !of_another && self.is_alone();
                let in_group = process.group == self.leader && self.leader != 0;
                if claim.as_deref() == Some(self.marker) || in_group || unclaimed {
                    roots.insert(*pid);
                }
            }
            let below = |pid: &u32| roots.iter().any(|root| is_below(&table, *pid, *root));
            table
                .iter()
                .filter(|(pid, process)| !process.zombie && below(pid))
                .map(|(pid, _)| *pid)
                .collect()
        }
    }

    /// The running processes that this program adopted: all children that it did not start. Zombies
    /// among them are reaped. `None` if the kernel does not list children.
    ///
    /// Whatever a launch left behind is one of these or a descendant. Unlike the process table,
    /// this list never misses a process that hands over to another and exits: the new one is behind
    /// it in the list before it is gone.
    fn left_to_us(live: &BTreeMap<String, u32>) -> Option<Vec<u32>> {
        let own_group = stat_of(std::process::id()).map(|process| process.group);
        let mut left = Vec::new();
        for _ in 0..ROUNDS {
            left = children()?;
            left.retain(|pid| !live.values().any(|leader| leader == pid));
            let mut reaped = false;
            left.retain(|pid| match stat_of(*pid) {
                Some(process) if Some(process.group) == own_group => false,
                Some(process) if !process.zombie => true,
                _ => {
                    reaped |= is_gone(*pid);
                    false
                }
            });
            // What exited since the list was read may have started another before.
            if !left.is_empty() || !reaped {
                break;
            }
        }
        Some(left)
    }

    /// The children of this process's first thread, including zombies: the kernel gives orphans to
    /// the first thread of an adopter that is alive, and this one is until the end. So is what a
    /// thread started that has ended.
    ///
    /// The list is not atomic: a child may be reaped while it is read, and then another may be
    /// missing. Two equal readings miss none.
    pub(super) fn children() -> Option<Vec<u32>> {
        let list = format!("/proc/self/task/{}/children", std::process::id());
        let mut before = None;
        for _ in 0..ROUNDS_OF_THE_TABLE {
            let now = std::fs::read_to_string(&list).ok();
            if now.is_some() && now == before {
                break;
            }
            before = now;
        }
        let pids = before?;
        let pids = pids.split_ascii_whitespace();
        Some(pids.filter_map(|pid| pid.parse().ok()).collect())
    }

    pub(super) fn group_runs(leader: u32) -> bool {
        table()
            .values()
            .any(|process| process.group == leader && !process.zombie)
    }

    /// How many processes of a launch are asked for their words, and how much of them is read.
    const ASKED: usize = 64;
    const WORDS_READ: u64 = 16 * 1024;

    /// The absolute paths among the words of a process and its descendants.
    pub(super) fn paths_below(leader: u32) -> Vec<std::path::PathBuf> {
        use std::os::unix::ffi::OsStrExt as _;
        let table = table();
        let below = table.keys().filter(|pid| is_below(&table, **pid, leader));
        let mut paths = Vec::new();
        for pid in below.take(ASKED) {
            let mut words = Vec::new();
            let Ok(file) = std::fs::File::open(format!("/proc/{pid}/cmdline")) else {
                continue;
            };
            if file.take(WORDS_READ).read_to_end(&mut words).is_err() {
                continue;
            }
            // The last word may be cut off.
            let end = words.iter().rposition(|it| *it == 0).unwrap_or(0);
            let words = words[..end].split(|it| *it == 0);
            let absolute = words.filter(|it| it.starts_with(b"/") && it.len() < 4096);
            paths.extend(absolute.map(|it| std::ffi::OsStr::from_bytes(it).into()));
        }
        paths
    }

    fn pid_of(pid: u32) -> Pid {
        // The kernel's process ids stay below 2^22.
        Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX))
    }

    /// Whether a killed process is gone; reaps it if it was adopted.
    fn is_gone(pid: u32) -> bool {
        match waitpid(pid_of(pid), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => false,
            Ok(_) => true,
            // Not a child: its parent reaps it, or it is adopted when its parent is killed.
            Err(_) => stat_of(pid).is_none_or(|process| process.zombie),
        }
    }

    /// Whether `pid` is `ancestor` or one of its descendants.
    fn is_below(table: &BTreeMap<u32, Process>, mut pid: u32, ancestor: u32) -> bool {
        // Bounded: the table is not atomic, so it could contain a cycle.
        for _ in 0..table.len() {
            if pid == ancestor {
                return true;
            }
            match table.get(&pid) {
                Some(process) if process.parent != 0 => pid = process.parent,
                _ => return false,
            }
        }
        false
    }

    /// Every process that was running at the start and still is at the end, with its parent.
    ///
    /// The kernel lists the ids first, and each process is read afterwards. One that forks and
    /// exits in between cannot be read, and its child was not listed. So the list is read again
    /// until it has nothing new.
    fn table() -> BTreeMap<u32, Process> {
        let mut table = BTreeMap::new();
        for _ in 0..ROUNDS_OF_THE_TABLE {
            let Ok(entries) = std::fs::read_dir("/proc") else {
                break;
            };
            let listed = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
            let unread: Vec<u32> = listed.filter(|pid| !table.contains_key(pid)).collect();
            let mut news = false;
            for pid in unread {
                if let Some(process) = stat_of(pid) {
                    table.insert(pid, process);
                    news = true;
                }
            }
            // Their parents have exited since, so they have new ones.
            let orphans: Vec<u32> = table
                .iter()
                .filter(|(_, process)| process.parent != 0 && !table.contains_key(&process.parent))
                .map(|(pid, _)| *pid)
                .collect();
            for pid in orphans {
                news = true;
                match stat_of(pid) {
                    Some(process) => table.insert(pid, process),
                    None => table.remove(&pid),
                };
            }
            if !news {
                break;
            }
        }
        table
    }

    /// Whether a thread of a process has children.
    pub(super) fn has_children(process: u32) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{process}/task"));
        let mut threads = threads.into_iter().flatten().flatten();
        threads.any(|thread| {
            let children = std::fs::read(thread.path().join("children"));
            children.is_ok_and(|it| !it.is_empty())
        })
    }

    /// If all threads of a process sleep: how often they have run so far, all together.
    pub(super) fn sleeping(process: u32) -> Option<u64> {
        let sleeps = |folder: &str| {
            let mut line = [0; 512];
            Some(state(read_line(&format!("{folder}/stat"), &mut line)?)? == b'S')
        };
        // One that is busy exiting is busy with its first thread most of the time.
        if !sleeps(&format!("/proc/{process}"))? {
            return None;
        }
        let mut runs = 0;
        for thread in std::fs::read_dir(format!("/proc/{process}/task")).ok()? {
            let name = thread.ok()?.file_name();
            let folder = format!("/proc/{process}/task/{}", name.to_str()?);
            if !sleeps(&folder)? {
                return None;
            }
            let mut line = [0; 128];
            let line = read_line(&format!("{folder}/schedstat"), &mut line)?;
            let count = std::str::from_utf8(line).ok()?.split_whitespace().nth(2)?;
            runs += count.parse::<u64>().ok()?;
        }
        Some(runs)
    }

    fn stat_of(pid: u32) -> Option<Process> {
        let mut line = [0; 512];
        stat(read_line(&format!("/proc/{pid}/stat"), &mut line)?)
    }

    /// The beginning of a file of `/proc`. The kernel writes such a line at once, and the relevant
    /// part is at its beginning: a name has at most 64 bytes. This is read for every process of the
    /// machine, so its size is not queried first.
    fn read_line<'l>(path: &str, line: &'l mut [u8]) -> Option<&'l [u8]> {
        let length = std::fs::File::open(path).ok()?.read(line).ok()?;
        Some(&line[..length])
    }

    /// What follows the name in a line of `stat`. The name may contain anything, including
    /// parentheses and newlines.
    fn after_name(line: &[u8]) -> Option<&[u8]> {
        let end = line.iter().rposition(|byte| *byte == b')')?;
        line.get(end + 1..)
    }

    /// The state in a line of `stat`.
    fn state(line: &[u8]) -> Option<u8> {
        after_name(line)?.trim_ascii_start().first().copied()
    }

    /// Parses `pid (name) state parent group ...`.
    pub(super) fn stat(line: &[u8]) -> Option<Process> {
        let rest = std::str::from_utf8(after_name(line)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        Some(Process {
            zombie: matches!(fields.next()?, "Z" | "X" | "x"),
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    }

    /// Empty for a moment while a process starts another program.
    fn environment_of(pid: u32) -> Vec<u8> {
        std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
    }

    fn marker_in(environment: &[u8]) -> Option<String> {
        environment.split(|byte| *byte == 0).find_map(|variable| {
            let value = variable
                .strip_prefix(MARKER.as_bytes())?
                .strip_prefix(b"=")?;
            String::from_utf8(value.to_vec()).ok()
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_name_cannot_forge_the_table() {
            assert_eq!(
                stat(b"12 (a) R 1 1 (b) S 7 9 9 0"),
                Some(Process {
                    parent: 7,
                    group: 9,
                    zombie: false
                })
            );
            assert_eq!(
                stat(b"12 (x\n)) Z 7 9"),
                Some(Process {
                    parent: 7,
                    group: 9,
                    zombie: true
                })
            );
            assert_eq!(stat(b"12 x"), None);
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

        #[test]
        fn a_cycle_in_the_table_terminates() {
            let process = |parent| Process {
                parent,
                group: 1,
                zombie: false,
            };
            let table = BTreeMap::from([
                (1, process(0)),
                (2, process(3)),
                (3, process(2)),
                (4, process(1)),
            ]);
            assert!(!is_below(&table, 2, 1));
            assert!(is_below(&table, 4, 1));
            assert!(is_below(&table, 2, 3));
        }
    }
}

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

#[cfg(target_os = "linux")]
mod strays;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, TryLockError};
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom as _, SystemRandom};

/// The variable that marks the processes of a launch. Systemd gives every service one of this name,
/// with such a value, so that it does not tell a server who starts it.
pub const MARKER: &str = "INVOCATION_ID";

/// How long killing may take where no end of a launch says it: what still runs then forks faster than it can be killed.
const LONGEST_KILL: Duration = Duration::from_secs(3);

/// All running launches, by marker.
static LIVE: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Held by those who start a server until it is in [`LIVE`], any number of them, or by one who searches for strays:
/// a search never mistakes a new server for one. Taken before the lock of [`LIVE`].
static STARTING: RwLock<()> = RwLock::new(());

/// Set before waiting for [`STARTING`], checked while holding it: nothing more may be started.
static ENDED: AtomicBool = AtomicBool::new(false);

#[derive(Debug)]
pub struct Group {
    marker: String,
    leader: u32,
    /// All its processes are gone, or could not be killed.
    ended: AtomicBool,
    /// Some could not be killed. Another search would not end either.
    is_endless: AtomicBool,
}

impl Group {
    /// A marker that no other launch has: random, as systemd makes them. Only [`LIVE`] knows whose it is.
    pub fn new_marker() -> std::io::Result<String> {
        let mut bits = [0; 16];
        let drawn = SystemRandom::new().fill(&mut bits);
        drawn.map_err(|_| std::io::Error::other("the system has no random numbers"))?;
        // Six of them say that the others are random (UUID version 4).
        bits[6] = (bits[6] & 0x0f) | 0x40;
        bits[8] = (bits[8] & 0x3f) | 0x80;
        Ok(format!("{:032x}", u128::from_be_bytes(bits)))
    }

    /// Starts a leader with `spawn` and registers its group. No search for strays sees the one
    /// without the other.
    pub fn start<T>(
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
            is_endless: AtomicBool::new(false),
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

    /// Asks every process of the group to exit.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        signal_group(self.leader, nix::sys::signal::Signal::SIGTERM);
    }

    /// Kills every process of this launch. Returns when they are gone, or after `patience` how many still run.
    pub fn kill(&self, leader: Leader, patience: Duration) -> usize {
        let deadline = Instant::now() + patience;
        let mut left = 0;
        if !has_left_nothing(leader) {
            let search = Search::new();
            left = kill(&self.marker, self.leader, leader, &search.live, deadline);
        }
        self.ended.store(true, Ordering::Relaxed);
        self.is_endless.store(left > 0, Ordering::Relaxed);
        left
    }
}

/// Most servers exit by themselves and leave nothing: checking what this process adopted is enough
/// for them, whatever is started meanwhile.
fn has_left_nothing(leader: Leader) -> bool {
    #[cfg(target_os = "linux")]
    if leader == Leader::Gone {
        return has_adopted_nothing();
    }
    let _ = leader;
    false
}

/// Whether all children of this process are first processes of launches. Nothing is reaped here: a
/// server that is just being started may be among them.
#[cfg(target_os = "linux")]
fn has_adopted_nothing() -> bool {
    let children = strays::children();
    let live = live();
    let is_live = |pid: &u32| live.values().any(|leader| leader == pid);
    children.is_some_and(|it| it.iter().all(is_live))
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
        let known = if self.is_endless.load(Ordering::Relaxed) {
            None
        } else if ended {
            let is_the_last = live().len() == 1;
            (is_the_last && !has_left_nothing(Leader::Gone)).then_some(Leader::Gone)
        } else {
            Some(Leader::MayRun)
        };
        if let Some(known) = known {
            let deadline = Instant::now() + LONGEST_KILL;
            let search = Search::new();
            kill(&self.marker, self.leader, known, &search.live, deadline);
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
        let until = Instant::now() + grace;
        while live.values().any(|leader| group_runs(*leader)) && Instant::now() < until {
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
    let deadline = Instant::now() + LONGEST_KILL;
    while let Some((marker, leader)) = live.first_key_value() {
        let (marker, leader) = (marker.clone(), *leader);
        kill(&marker, leader, Leader::MayRun, &live, deadline);
        live.remove(&marker);
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
pub enum Leader {
    /// It has ended and been reaped. What it left behind is now a child of this process.
    Gone,
    /// Unknown.
    MayRun,
}

/// Returns how many processes still run at the deadline, as far as the system shows them.
fn kill(
    marker: &str,
    leader: u32,
    known: Leader,
    live: &BTreeMap<String, u32>,
    deadline: Instant,
) -> usize {
    // The process id of a reaped leader may be reused. No process has the id 0.
    let reused = live.iter().any(|(it, its)| it != marker && *its == leader);
    let leader = if reused { 0 } else { leader };
    #[cfg(target_os = "linux")]
    let strays = strays::Search::new(marker, leader, live, deadline);
    #[cfg(target_os = "linux")]
    if known == Leader::Gone && strays.are_none() {
        return 0;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (marker, live, known, deadline);
    #[cfg(unix)]
    signal_group(leader, nix::sys::signal::Signal::SIGKILL);
    // On Windows the job ends with the child's handle, which the caller owns.
    #[cfg(not(unix))]
    let _ = leader;
    #[cfg(target_os = "linux")]
    return strays.kill();
    #[cfg(not(target_os = "linux"))]
    0
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

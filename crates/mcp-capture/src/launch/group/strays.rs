//! Finds in `/proc` what a launch left behind, and kills it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgid, getpgrp};

use super::MARKER;
use crate::launch::proc::{after_name, read_line};

/// How often to look again what was adopted, if all that is known of it has ended.
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
    /// When the search is given up: a process that forks faster than it can be killed is not followed forever.
    deadline: Instant,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        marker: &'a str,
        leader: u32,
        live: &'a BTreeMap<String, u32>,
        deadline: Instant,
    ) -> Self {
        let mut search = Self {
            marker,
            leader,
            live,
            known: BTreeSet::new(),
            in_doubt: false,
            deadline,
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
        self.is_alone() && self.has_adopted()
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    fn is_alone(&self) -> bool {
        self.live.keys().all(|marker| marker == self.marker)
    }

    /// Kills until none is left. Returns how many still run at the deadline.
    pub(super) fn kill(mut self) -> usize {
        for round in 0.. {
            for pid in &self.known {
                let _ = kill(pid_of(*pid), Signal::SIGKILL);
            }
            self.kill_adopted();
            self.reap_adopted();
            // The leader is reaped by the code that waits for its status.
            let leader = self.leader;
            self.known.retain(|pid| *pid != leader && !is_gone(*pid));
            let found = self.found();
            let wait = self.in_doubt && round < ROUNDS_IN_DOUBT;
            let none = found.is_empty() && self.known.is_empty() && !wait;
            if none && !self.is_owner_of_the_rest() {
                return 0;
            }
            self.known.extend(found);
            if self.is_late() {
                break;
            }
            if round > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.known.retain(|pid| !is_gone(*pid));
        self.known.len()
    }

    /// Kills adopted processes of this launch, and those adopted as a result. It does nothing else, to be faster than
    /// processes that keep starting another and exiting: such a one is never found in the table where it was a moment ago,
    /// but whatever it left was adopted, and the latest is the last in the list. To reap one in between would wait for
    /// every fork of the others.
    fn kill_adopted(&self) {
        let is_alone = self.is_alone();
        let mut killed = BTreeSet::new();
        while !self.is_late() {
            let mut is_new = false;
            for pid in self.adopted().into_iter().rev() {
                if killed.contains(&pid) || is_our_own(pid) {
                    continue;
                }
                let environment = || environment_of(pid);
                if is_alone || marker_in(&environment()).as_deref() == Some(self.marker) {
                    let _ = kill(pid_of(pid), Signal::SIGKILL);
                    killed.insert(pid);
                    is_new = true;
                }
            }
            if !is_new {
                return;
            }
        }
    }

    /// Reaps adopted zombies, of whatever launch.
    fn reap_adopted(&self) {
        for pid in self.adopted() {
            if self.is_late() {
                return;
            }
            if !is_our_own(pid) {
                is_gone(pid);
            }
        }
    }

    /// Whether this program adopted something that still runs. If nothing does, zombies are reaped. Also if the kernel does
    /// not list children, nothing is known to run.
    ///
    /// Whatever a launch left behind is one of these or a descendant. Unlike the process table, this list never misses a
    /// process that hands over to another and exits: the new one is behind it in the list before it is gone.
    fn has_adopted(&self) -> bool {
        for _ in 0..ROUNDS {
            let mut adopted = children().unwrap_or_default();
            adopted.retain(|pid| !self.is_leader(*pid) && !is_our_own(*pid));
            let runs = |pid: &u32| stat_of(*pid).is_some_and(|process| !process.zombie);
            if adopted.iter().rev().any(runs) {
                return true;
            }
            // What exited since the list was read may have started another before.
            let mut is_reaped = false;
            for pid in adopted {
                is_reaped |= !self.is_late() && is_gone(pid);
            }
            if !is_reaped {
                break;
            }
        }
        false
    }

    /// The children that are no launch's first process, read once: some may be missing.
    fn adopted(&self) -> Vec<u32> {
        let mut adopted = list_of_children().unwrap_or_default();
        adopted.retain(|pid| !self.is_leader(*pid));
        adopted
    }

    /// Whether it is the first process of a launch, which the code that waits for its status reaps.
    fn is_leader(&self, pid: u32) -> bool {
        self.live.values().any(|leader| *leader == pid)
    }

    /// The running processes of this launch.
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

/// Whether this program itself started a process: that is in its own group.
fn is_our_own(pid: u32) -> bool {
    getpgid(Some(pid_of(pid))).is_ok_and(|group| group == getpgrp())
}

/// The children of this process's first thread, including zombies: the kernel gives orphans to
/// the first thread of an adopter that is alive, and this one is until the end. So is what a
/// thread started that has ended.
///
/// The list is not atomic: a child may be reaped while it is read, and then another may be
/// missing. Two equal readings miss none.
pub(super) fn children() -> Option<Vec<u32>> {
    let mut before = None;
    for _ in 0..ROUNDS_OF_THE_TABLE {
        let now = list_of_children();
        if now.is_some() && now == before {
            break;
        }
        before = now;
    }
    before
}

/// [`children`], read once.
fn list_of_children() -> Option<Vec<u32>> {
    let list = format!("/proc/self/task/{}/children", std::process::id());
    let pids = std::fs::read_to_string(list).ok()?;
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

fn stat_of(pid: u32) -> Option<Process> {
    let mut line = [0; 512];
    stat(read_line(format!("/proc/{pid}/stat"), &mut line)?)
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

//! The progress at a terminal while a server boots. In a pipe nothing is shown.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::output::Notes;
use crate::capture::Stage;
use crate::report::escape;
use crate::run::observer::{Boot, Observer};

const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// To the start of the line, and clears it.
const WIPE: &str = "\r\x1b[2K";

/// A spinner on stderr, wiped afterwards.
pub(super) struct Progress {
    status: Arc<Mutex<Status>>,
    /// How many servers are done, of how many.
    done: AtomicUsize,
    total: AtomicUsize,
    turning: Option<tokio::task::JoinHandle<()>>,
}

impl Progress {
    /// Starts if stderr is a terminal and `--quiet` is not set.
    pub(super) fn start(quiet: bool) -> Self {
        let status = Arc::new(Mutex::new(Status::default()));
        let turning = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let status = Arc::clone(&status);
            tokio::spawn(async move {
                for frame in FRAMES.iter().cycle() {
                    let status = status
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .clone();
                    let text = status.text(Instant::now());
                    if !text.is_empty() {
                        LINE.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .draw(&format!("{frame} {text}"));
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            })
        });
        Self {
            status,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(1),
            turning,
        }
    }
}

/// What the line says.
#[derive(Clone, Default)]
struct Status {
    text: String,
    /// When the current stage began.
    since: Option<Instant>,
    /// The latest boot of each server.
    boots: BTreeMap<String, Boot>,
    limit: Option<Duration>,
}

impl Status {
    /// With the elapsed time, once there is something to wait for.
    fn text(&self, now: Instant) -> String {
        let elapsed = self.since.map(|it| now.duration_since(it).as_secs());
        match (elapsed, self.limit) {
            (Some(elapsed), Some(limit)) if elapsed > 0 => {
                format!(
                    "{} ({elapsed} s of at most {} s)",
                    self.text,
                    limit.as_secs()
                )
            }
            _ => self.text.clone(),
        }
    }
}

impl Observer for Progress {
    fn boot(&self, server: &str, boot: Boot) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.boots.insert(server.to_owned(), boot);
    }

    fn begin(&self, servers: usize) {
        self.total.store(servers, Ordering::Relaxed);
    }

    fn finished(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn note(&self, text: &str) {
        Notes.note(text);
    }

    fn stage(&self, server: &str, stage: Stage) {
        let what = match stage {
            Stage::Starting => "starting".to_owned(),
            Stage::Handshake => "waiting for its first response".to_owned(),
            Stage::Listing { kind, items } => format!("listing: {items} {kind}s"),
            Stage::Settling => "its list changed, listing again".to_owned(),
            Stage::Waiting => "waiting before listing again".to_owned(),
            Stage::Stopping => "stopping".to_owned(),
        };
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        let boot = status.boots.get(server).copied();
        let boot_of = match boot {
            Some(boot) if boot.of > 1 => format!(", boot {} of {}", boot.number, boot.of),
            _ => String::new(),
        };
        let mut text = format!("{}: {what}{boot_of}", escape::short(server, 40));
        let total = self.total.load(Ordering::Relaxed);
        if total > 1 {
            let done = self.done.load(Ordering::Relaxed);
            text = format!("{done} of {total} done, {text}");
        }
        // A page more of a list is not another stage.
        if status.text != text || status.since.is_none() {
            status.since = Some(Instant::now());
        }
        status.limit = boot.map(|it| it.limit);
        status.text = text;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(turning) = self.turning.take() {
            turning.abort();
            let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
            line.wipe();
        }
    }
}

/// Wipes the line for good. A signal may end the program from a thread that has no [`Progress`] to
/// drop.
pub(super) fn end() {
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    line.wipe();
    line.ended = true;
}

/// The terminal's last line, shared by everything that draws on it.
struct Line {
    shown: bool,
    ended: bool,
}

static LINE: Mutex<Line> = Mutex::new(Line {
    shown: false,
    ended: false,
});

impl Line {
    fn draw(&mut self, text: &str) {
        if !self.ended {
            write(&format!("{WIPE}{text}"));
            self.shown = true;
        }
    }

    fn wipe(&mut self) {
        if std::mem::take(&mut self.shown) {
            write(WIPE);
        }
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

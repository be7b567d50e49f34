//! The progress at a terminal while a server boots. In a pipe nothing is shown.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::output::Notes;
use crate::capture::Stage;
use crate::report::escape;
use crate::run::observer::Observer;

const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// To the start of the line, and clears it.
const WIPE: &str = "\r\x1b[2K";

/// A spinner on stderr, wiped afterwards.
pub(super) struct Progress {
    status: Arc<Mutex<String>>,
    /// How many servers are done, of how many.
    done: AtomicUsize,
    total: AtomicUsize,
    turning: Option<tokio::task::JoinHandle<()>>,
}

impl Progress {
    /// Starts if stderr is a terminal and `--quiet` is not set.
    pub(super) fn start(quiet: bool) -> Self {
        let status = Arc::new(Mutex::new(String::new()));
        let turning = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let status = Arc::clone(&status);
            tokio::spawn(async move {
                for frame in FRAMES.iter().cycle() {
                    let text = status
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .clone();
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

impl Observer for Progress {
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
        let mut text = format!("{}: {what}", escape::short(server, 40));
        let total = self.total.load(Ordering::Relaxed);
        if total > 1 {
            let done = self.done.load(Ordering::Relaxed);
            text = format!("{done} of {total} done, {text}");
        }
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = text;
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

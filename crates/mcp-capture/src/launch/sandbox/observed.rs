//! What a sandbox reports about itself: lines of JSON through a separate pipe.

#[cfg(target_os = "linux")]
use std::io::{BufRead as _, BufReader, PipeReader, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use super::repositories::Repositories;
use crate::surface::{CaptureNote, NoteKind};

/// How many bytes are read.
#[cfg(target_os = "linux")]
const MOST: u64 = 1024 * 1024;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Word {
    /// A requested restriction that is not available here.
    Missing(String),
    /// The required sandbox is not available.
    Refused(String),
    /// The server's command could not be started: the error number.
    NotStarted(i32),
    /// A repository that was not there before the server.
    Repository(String),
}

/// Everything that a sandbox reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    words: Vec<Word>,
}

impl Observed {
    /// Why the server was not started because of its sandbox.
    pub fn refused(&self) -> Option<String> {
        self.words.iter().find_map(|word| match word {
            Word::Refused(why) => Some(why.clone()),
            _ => None,
        })
    }

    /// The error number if the server's command could not be started.
    pub fn not_started(&self) -> Option<i32> {
        self.words.iter().find_map(|word| match word {
            Word::NotStarted(number) => Some(*number),
            _ => None,
        })
    }

    pub fn notes(&self) -> Vec<CaptureNote> {
        let missing: Vec<&str> = self
            .words
            .iter()
            .filter_map(|word| match word {
                Word::Missing(what) => Some(what.as_str()),
                _ => None,
            })
            .collect();
        let unavailable = (!missing.is_empty())
            .then(|| CaptureNote::new(NoteKind::SandboxUnavailable, missing.join("; ")));
        let appeared = self.words.iter().filter_map(|word| match word {
            Word::Repository(path) => {
                let message = format!(
                    "{path} appeared while the server ran: git in that folder would run what its settings name"
                );
                let kind = NoteKind::SandboxRepositoryAppeared;
                Some(CaptureNote::new(kind, message))
            }
            _ => None,
        });
        unavailable.into_iter().chain(appeared).collect()
    }
}

/// Collects what a sandbox reports while the server runs.
#[derive(Debug)]
pub struct Listener {
    heard: Heard,
    thread: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Heard {
    said: Arc<Mutex<Observed>>,
    /// What there was before the server.
    #[cfg(target_os = "linux")]
    before: Repositories,
}

impl Heard {
    fn so_far(&self) -> Observed {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg_attr(not(target_os = "linux"), allow(unused_mut))]
        let mut observed = said.clone();
        #[cfg(target_os = "linux")]
        observed
            .words
            .extend(self.before.appeared().map(Word::Repository));
        observed
    }
}

impl Listener {
    #[cfg(target_os = "linux")]
    pub(crate) fn of(pipe: PipeReader) -> Self {
        let heard = Heard::default();
        let shared = Arc::clone(&heard.said);
        let thread = std::thread::spawn(move || {
            let mut lines = BufReader::new(pipe.take(MOST)).lines();
            while let Some(Ok(line)) = lines.next() {
                if let Ok(word) = serde_json::from_str(&line) {
                    let mut heard = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    heard.words.push(word);
                }
            }
        });
        Self { heard, thread }
    }

    /// Notes which repositories there are before the server starts.
    #[cfg(target_os = "linux")]
    pub(crate) fn comparing(mut self, before: Repositories) -> Self {
        self.heard.before = before.at_first();
        self
    }

    /// For a server without a sandbox: what is to be said about that.
    pub(crate) fn without(missing: Vec<String>) -> Self {
        let words = missing.into_iter().map(Word::Missing).collect();
        Self {
            heard: Heard {
                said: Arc::new(Mutex::new(Observed { words })),
                ..Heard::default()
            },
            thread: std::thread::spawn(|| {}),
        }
    }

    /// [`Listener::heard`] for a command that has ended.
    pub fn heard_at_the_end(self) -> Observed {
        // Whatever it left behind is killed, so that nothing holds the pipe. A panic of the thread
        // loses nothing but reports.
        let _ = self.thread.join();
        self.heard.so_far()
    }

    /// Everything, once the sandbox is gone, but after `patience` at the latest.
    pub async fn heard(&self, patience: Duration) -> Observed {
        let until = tokio::time::Instant::now() + patience;
        while !self.thread.is_finished() && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.heard.so_far()
    }
}

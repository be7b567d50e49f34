//! What a sandbox reports about itself: lines of JSON through a separate pipe.

#[cfg(target_os = "linux")]
use std::io::{BufRead as _, BufReader, PipeReader, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rules::RuleId;
use crate::surface::Note;

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

    pub fn notes(&self) -> Vec<Note> {
        let missing: Vec<&str> = self
            .words
            .iter()
            .filter_map(|word| match word {
                Word::Missing(what) => Some(what.as_str()),
                _ => None,
            })
            .collect();
        let note = (!missing.is_empty()).then(|| Note {
            rule: RuleId::SandboxUnavailable,
            component: None,
            message: missing.join("; "),
        });
        note.into_iter().collect()
    }
}

/// Collects what a sandbox reports while the server runs.
#[derive(Debug)]
pub(crate) struct Listener {
    heard: Arc<Mutex<Observed>>,
    thread: JoinHandle<()>,
}

impl Listener {
    #[cfg(target_os = "linux")]
    pub(crate) fn of(pipe: PipeReader) -> Self {
        let heard = Arc::new(Mutex::new(Observed::default()));
        let shared = Arc::clone(&heard);
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

    /// For a server without a sandbox: what is to be said about that.
    pub(crate) fn without(missing: Vec<String>) -> Self {
        let words = missing.into_iter().map(Word::Missing).collect();
        Self {
            heard: Arc::new(Mutex::new(Observed { words })),
            thread: std::thread::spawn(|| {}),
        }
    }

    /// [`Listener::heard`] for a command that has ended.
    pub(crate) fn heard_at_the_end(self) -> Observed {
        // Whatever it left behind is killed, so that nothing holds the pipe. A panic of the thread
        // loses nothing but reports.
        let _ = self.thread.join();
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.clone()
    }

    /// Everything, once the sandbox is gone, but after `patience` at the latest.
    pub(crate) async fn heard(&self, patience: Duration) -> Observed {
        let until = tokio::time::Instant::now() + patience;
        while !self.thread.is_finished() && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.clone()
    }
}

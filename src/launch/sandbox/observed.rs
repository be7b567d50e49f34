//! What a sandbox reports about itself and its server: lines of JSON through a separate pipe.

use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::io::{BufRead as _, BufReader, PipeReader, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rules::RuleId;
use crate::sentences::capture as sentences;
use crate::surface::Note;

/// How many denied accesses are listed individually.
const MOST_LISTED: usize = 8;

/// How many bytes are read: endless denied accesses must not be recorded forever.
#[cfg(target_os = "linux")]
const MOST: u64 = 1024 * 1024;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Word {
    /// A requested restriction that is not available here.
    Missing(String),
    /// Denied access is reported.
    Watched,
    /// The required sandbox is not available.
    Refused(String),
    /// The server's command could not be started: the error number.
    NotStarted(i32),
    /// The server was denied a socket of this family.
    Network(String),
    /// The server was denied a file.
    File {
        /// `reading` or `writing`.
        access: String,
        path: String,
    },
    /// The server received a signal that could not be forwarded while it was traced.
    SignalLost,
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

    /// Whether the server may have failed because it was traced.
    pub fn is_disturbed(&self) -> bool {
        self.words.contains(&Word::SignalLost)
    }

    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut note = |rule, message| {
            notes.push(Note {
                rule,
                component: None,
                message,
            });
        };
        let missing: Vec<&str> = self
            .words
            .iter()
            .filter_map(|word| match word {
                Word::Missing(what) => Some(what.as_str()),
                _ => None,
            })
            .collect();
        if !missing.is_empty() {
            note(RuleId::SandboxUnavailable, missing.join("; "));
        }
        let mut denied: BTreeMap<&Word, usize> = BTreeMap::new();
        for word in &self.words {
            if matches!(word, Word::Network(_) | Word::File { .. }) {
                *denied.entry(word).or_default() += 1;
            }
        }
        let mut files = 0;
        for (word, count) in denied {
            match word {
                Word::Network(family) => note(
                    RuleId::SandboxNetworkDenied,
                    sentences::socket_denied(&family.to_string(), count),
                ),
                Word::File { access, path } => {
                    files += 1;
                    if files <= MOST_LISTED {
                        let message =
                            sentences::file_denied(&access.to_string(), &path.to_string(), count);
                        note(RuleId::SandboxFileDenied, message);
                    }
                }
                _ => {}
            }
        }
        if files > MOST_LISTED {
            let message = sentences::more_files_denied(files - MOST_LISTED);
            note(RuleId::SandboxFileDenied, message);
        }
        notes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denied_accesses_are_counted_and_the_rest_is_summed() {
        let mut words = vec![
            Word::Network("AF_INET".into()),
            Word::Network("AF_INET".into()),
            Word::Missing("no Landlock".into()),
        ];
        words.extend((10..25).map(|number| Word::File {
            access: "writing".into(),
            path: format!("/etc/{number}"),
        }));
        let notes = Observed { words }.notes();
        let rules: Vec<RuleId> = notes.iter().map(|note| note.rule).collect();
        assert_eq!(
            &rules[..2],
            [RuleId::SandboxUnavailable, RuleId::SandboxNetworkDenied]
        );
        assert_eq!(
            notes[1].message,
            "the server was denied a socket: AF_INET (2 times)"
        );
        assert_eq!(notes.len(), 2 + MOST_LISTED + 1);
        assert_eq!(notes[2].message, "the server was denied writing /etc/10");
        assert_eq!(
            notes[2 + MOST_LISTED].message,
            "the server was denied 7 more files"
        );
    }
}

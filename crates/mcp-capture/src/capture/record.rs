//! What came from the server, as it came: rmcp talks, the record remembers.
//!
//! Answers are kept whole, by the id of their request, with what rmcp made of them; announcements, requests and noise are
//! counted. The transport writes it, the capture reads it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{CaptureError, Noise};
use super::sdk::Verdict;
use crate::surface::Kind;
use exact_json::Json;

/// How much of a line of noise is shown.
const SHOWN: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Record {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Requests without an answer, by id.
    pending: BTreeMap<i64, &'static str>,
    /// Answers that were not taken yet.
    answers: HashMap<i64, Answered>,
    /// Answers to the requests that open a connection.
    openings: Vec<(&'static str, Answered)>,
    handshake_done: bool,
    given_up_discover: Option<i64>,
    /// Bytes and values of all answers.
    size: (usize, usize),
    changes: HashMap<Kind, usize>,
    notifications: usize,
    saw_server_message: bool,
    asked_for_roots: bool,
    asked_for_sampling: bool,
    noise: Noise,
    /// The noise before the last answer.
    noise_before: Noise,
    saw_json_rpc: bool,
    failure: Option<CaptureError>,
}

/// What a server answered, as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// `result`
    Result(Json),
    /// `error`
    Error(Json),
}

/// An answer, and whether rmcp can read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) answer: Answer,
    pub(super) verdict: Verdict,
}

impl Record {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn request_sent(&self, id: i64, method: &'static str) {
        self.state().pending.insert(id, method);
    }

    /// The method of a request without an answer.
    pub(super) fn pending_method(&self, id: i64) -> Option<&'static str> {
        self.state().pending.get(&id).copied()
    }

    /// The only request without an answer.
    pub(super) fn sole_pending(&self) -> Option<(i64, &'static str)> {
        let state = self.state();
        let mut pending = state.pending.iter();
        let (id, method) = pending.next()?;
        pending.next().is_none().then_some((*id, *method))
    }

    /// The method of the request that has been without an answer for longest.
    pub(super) fn first_pending(&self) -> Option<&'static str> {
        self.state().pending.values().next().copied()
    }

    /// `server/discover` is not waited for any more.
    pub(super) fn give_up_discover(&self, id: i64) {
        let mut state = self.state();
        state.pending.remove(&id);
        state.given_up_discover = Some(id);
    }

    /// The id of the `server/discover` that was not waited for.
    pub(super) fn given_up_discover(&self) -> Option<i64> {
        self.state().given_up_discover
    }

    /// Adds an answer of this many bytes and values to those that are kept.
    pub(super) fn count(&self, bytes: usize, values: usize) -> (usize, usize) {
        let mut state = self.state();
        state.size.0 = state.size.0.saturating_add(bytes);
        state.size.1 = state.size.1.saturating_add(values);
        state.size
    }

    /// A request was answered.
    pub(super) fn answered(&self, id: i64, answered: Answered) {
        let mut state = self.state();
        let Some(method) = state.pending.remove(&id) else {
            return;
        };
        state.noise_before = state.noise.clone();
        if state.handshake_done {
            state.answers.insert(id, answered);
        } else {
            state.openings.push((method, answered));
        }
    }

    /// Takes the answer to a request.
    pub(super) fn take(&self, id: i64) -> Option<Answered> {
        self.state().answers.remove(&id)
    }

    /// The connection is open: other requests are sent now.
    pub(super) fn handshake_done(&self) {
        let mut state = self.state();
        state.handshake_done = true;
        state.pending.clear();
    }

    pub(super) fn is_handshake_done(&self) -> bool {
        self.state().handshake_done
    }

    /// The last answer to a request that opens a connection.
    pub(super) fn opening(&self, method: &str) -> Option<Answered> {
        let state = self.state();
        let mut openings = state.openings.iter().rev();
        let (_, answered) = openings.find(|(opening, _)| *opening == method)?;
        Some(answered.clone())
    }

    /// The server announced that the list of a kind changed.
    pub(super) fn changed(&self, kind: Kind) {
        let mut state = self.state();
        *state.changes.entry(kind).or_default() += 1;
        state.saw_server_message = true;
    }

    /// The server sent a notification. Returns how many it has sent.
    pub(super) fn notified(&self) -> usize {
        let mut state = self.state();
        state.notifications += 1;
        state.notifications
    }

    /// How often the server announced that the list of a kind changed.
    pub(super) fn changes(&self, kind: Kind) -> usize {
        self.state().changes.get(&kind).copied().unwrap_or_default()
    }

    /// The server sent a request.
    pub(super) fn asked(&self, method: &str) {
        let mut state = self.state();
        state.saw_server_message = true;
        state.asked_for_roots |= method == "roots/list";
        state.asked_for_sampling |= method == "sampling/createMessage";
    }

    pub(super) fn asked_for_roots(&self) -> bool {
        self.state().asked_for_roots
    }

    pub(super) fn asked_for_sampling(&self) -> bool {
        self.state().asked_for_sampling
    }

    /// Whether the server ever announced a change or requested anything: its lists may be about to change.
    pub(super) fn saw_server_message(&self) -> bool {
        self.state().saw_server_message
    }

    pub(super) fn json_rpc_came(&self) {
        self.state().saw_json_rpc = true;
    }

    /// Whether anything that came was JSON-RPC.
    pub(super) fn saw_json_rpc(&self) -> bool {
        self.state().saw_json_rpc
    }

    /// A line that is not a message.
    pub(super) fn noise(&self, line: &[u8]) {
        let mut state = self.state();
        state.noise.lines += 1;
        if state.noise.lines == 1 {
            state.noise.first = shortened(&String::from_utf8_lossy(line));
        }
    }

    pub(super) fn all_noise(&self) -> Noise {
        self.state().noise.clone()
    }

    /// The noise before the last answer. How much of the rest is read depends on timing.
    pub(super) fn noise_before_the_end(&self) -> Noise {
        self.state().noise_before.clone()
    }

    /// Nothing more can be learned from this server. The first reason counts.
    pub(super) fn fail(&self, error: CaptureError) {
        self.state().failure.get_or_insert(error);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.state().failure.is_some()
    }

    pub(super) fn take_failure(&self) -> Option<CaptureError> {
        self.state().failure.take()
    }
}

/// The beginning of a server's text, for a message.
pub(super) fn shortened(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

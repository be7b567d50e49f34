//! What came from the server, as it came: the one place where the wire and the capture meet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{CaptureError, Noise};
use crate::surface::{Era, Kind};
use exact_json::Json;

/// How much of a line of noise is shown.
const SHOWN: usize = 200;

/// Answers, announcements and noise, collected by the wire and read by the capture.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<i64, &'static str>,
    answers: HashMap<i64, Answer>,
    greeting: Option<(Era, Json)>,
    changes: HashMap<Kind, usize>,
    moved: bool,
    asked_for_roots: bool,
    asked_for_sampling: bool,
    noise: Noise,
    /// The noise before the last answer.
    noise_before: Noise,
    spoke: bool,
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

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was sent.
    pub(super) fn opened(&self, id: i64, method: &'static str) {
        self.state().open.insert(id, method);
    }

    /// The method of a pending request.
    pub(super) fn open(&self, id: i64) -> Option<&'static str> {
        self.state().open.get(&id).copied()
    }

    /// The method of the only pending request.
    pub(super) fn only_open(&self) -> Option<(i64, &'static str)> {
        let state = self.state();
        let mut open = state.open.iter();
        let (id, method) = open.next()?;
        open.next().is_none().then_some((*id, *method))
    }

    /// The method of the request that has been pending longest.
    pub(super) fn first_open(&self) -> Option<&'static str> {
        let state = self.state();
        state.open.iter().min().map(|(_, method)| *method)
    }

    /// An answer came. Returns the method, or `None` if no such request is pending.
    pub(super) fn answered(&self, id: i64, answer: Answer) -> Option<&'static str> {
        let mut state = self.state();
        let method = state.open.remove(&id)?;
        state.answers.insert(id, answer);
        state.noise_before = state.noise.clone();
        Some(method)
    }

    pub(super) fn take(&self, id: i64) -> Option<Answer> {
        self.state().answers.remove(&id)
    }

    /// The connection is open: its era, and the answer that opened it. Other opening requests are
    /// void.
    pub(super) fn greeted(&self, era: Era, result: Json) {
        let mut state = self.state();
        state.greeting = Some((era, result));
        state.noise_before = state.noise.clone();
        state.open.clear();
    }

    /// Takes the answer that opened the connection.
    pub(super) fn take_greeting(&self) -> Option<(Era, Json)> {
        self.state().greeting.take()
    }

    /// An answer came that is not stored.
    pub(super) fn closed(&self, id: i64) {
        self.state().open.remove(&id);
    }

    /// The server announced that the list of a kind changed.
    pub(super) fn changed(&self, kind: Kind) {
        let mut state = self.state();
        *state.changes.entry(kind).or_default() += 1;
        state.moved = true;
    }

    /// How often the server announced that the list of a kind changed.
    pub(super) fn changes(&self, kind: Kind) -> usize {
        self.state().changes.get(&kind).copied().unwrap_or_default()
    }

    /// The server sent a request.
    pub(super) fn asked(&self, method: &str) {
        let mut state = self.state();
        state.moved = true;
        state.asked_for_roots |= method == "roots/list";
        state.asked_for_sampling |= method == "sampling/createMessage";
    }

    /// Whether the server requested roots.
    pub(super) fn asked_for_roots(&self) -> bool {
        self.state().asked_for_roots
    }

    /// Whether the server requested sampling.
    pub(super) fn asked_for_sampling(&self) -> bool {
        self.state().asked_for_sampling
    }

    /// Whether the server ever announced or requested anything: its lists may be about to change.
    pub(super) fn has_moved(&self) -> bool {
        self.state().moved
    }

    pub(super) fn spoke(&self) {
        self.state().spoke = true;
    }

    pub(super) fn has_spoken(&self) -> bool {
        self.state().spoke
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

    pub(super) fn take_failure(&self) -> Option<CaptureError> {
        self.state().failure.take()
    }
}

/// The beginning of a server's text, for a message.
pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.trim().chars().take(SHOWN).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}

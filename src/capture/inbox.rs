//! What came from the server, as it came: the one place where the wire and the capture meet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{CaptureError, Noise};
use crate::canonical::Json;
use crate::surface::{Era, Kind};

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

    /// A request went out.
    pub(super) fn opened(&self, id: i64, method: &'static str) {
        self.state().open.insert(id, method);
    }

    /// The method of an open request.
    pub(super) fn open(&self, id: i64) -> Option<&'static str> {
        self.state().open.get(&id).copied()
    }

    /// The method of the only open request.
    pub(super) fn only_open(&self) -> Option<(i64, &'static str)> {
        let state = self.state();
        let mut open = state.open.iter();
        let (id, method) = open.next()?;
        open.next().is_none().then_some((*id, *method))
    }

    /// The method of the request that has been open longest.
    pub(super) fn first_open(&self) -> Option<&'static str> {
        let state = self.state();
        state.open.iter().min().map(|(_, method)| *method)
    }

    /// An answer came. Returns the method, or nothing if no such request is open.
    pub(super) fn answered(&self, id: i64, answer: Answer) -> Option<&'static str> {
        let mut state = self.state();
        let method = state.open.remove(&id)?;
        state.answers.insert(id, answer);
        state.noise_before = state.noise.clone();
        Some(method)
    }

    /// Takes an answer out.
    pub(super) fn take(&self, id: i64) -> Option<Answer> {
        self.state().answers.remove(&id)
    }

    /// The conversation is open: its era, and the answer that opened it. What else was asked for that is over.
    pub(super) fn greeted(&self, era: Era, result: Json) {
        let mut state = self.state();
        state.greeting = Some((era, result));
        state.noise_before = state.noise.clone();
        state.open.clear();
    }

    /// Takes out what opened the conversation.
    pub(super) fn take_greeting(&self) -> Option<(Era, Json)> {
        self.state().greeting.take()
    }

    /// An answer came that is not to be kept.
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

    /// The server asked us something.
    pub(super) fn asked(&self) {
        self.state().moved = true;
    }

    /// Whether the server ever announced or asked anything: its lists may be about to change.
    pub(super) fn has_moved(&self) -> bool {
        self.state().moved
    }

    /// The server sent a message.
    pub(super) fn spoke(&self) {
        self.state().spoke = true;
    }

    /// Whether the server ever sent a message.
    pub(super) fn has_spoken(&self) -> bool {
        self.state().spoke
    }

    /// A line that is no message.
    pub(super) fn noise(&self, line: &[u8]) {
        let mut state = self.state();
        state.noise.lines += 1;
        if state.noise.lines == 1 {
            state.noise.first = shortened(&String::from_utf8_lossy(line));
        }
    }

    /// All noise so far.
    pub(super) fn all_noise(&self) -> Noise {
        self.state().noise.clone()
    }

    /// The noise that came before the last answer. How much of what follows it is still read is a matter of luck.
    pub(super) fn noise_before_the_end(&self) -> Noise {
        self.state().noise_before.clone()
    }

    /// Nothing more can be learnt from this server. The first reason is the one that counts.
    pub(super) fn fail(&self, error: CaptureError) {
        self.state().failure.get_or_insert(error);
    }

    /// Takes the reason out.
    pub(super) fn take_failure(&self) -> Option<CaptureError> {
        self.state().failure.take()
    }
}

/// The beginning of a text of the server, for a message.
pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.trim().chars().take(SHOWN).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}

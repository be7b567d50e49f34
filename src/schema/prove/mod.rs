//! Whether every value that one schema lets through is accepted by another.
//!
//! Provers stand behind one trait. They are asked in order, cheap and exact ones first: the structural walker,
//! which knows how contracts are written; the algebra of the `jsonschema` crate, which knows more of set theory
//! and less of budgets; and a bounded search for a counterexample. None of them may claim more than it showed:
//! an answer of [`Answer::Unknown`] is always allowed, a wrong [`Answer::Subsumed`] never.

mod algebra;
mod disjoint;
pub(crate) mod evaluate;
pub(crate) mod language;
mod structural;
pub(crate) mod view;

use std::cell::Cell;

use super::document::{Document, Problem};
use crate::canonical::Json;

pub(crate) use algebra::Algebra;
pub(crate) use evaluate::Patterns;
pub(crate) use structural::{Structural, mentions_reference};

/// Is everything that `sender` lets through accepted by `receiver`?
pub struct Question<'a> {
    pub(crate) sender: &'a Document,
    pub(crate) receiver: &'a Document,
    pub(crate) patterns: &'a Patterns,
    /// Shared by all questions about one pair.
    pub(crate) budget: &'a Budget,
}

/// How much work one pair of schemas may cost, counted in steps: no clock is read here.
pub(crate) struct Budget {
    left: Cell<usize>,
}

impl Budget {
    pub(crate) fn new(steps: usize) -> Self {
        Self {
            left: Cell::new(steps),
        }
    }

    /// Takes steps; `false` when there are none left.
    pub(crate) fn take(&self, steps: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(steps));
        left >= steps
    }
}

/// What a prover found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Everything is accepted.
    Subsumed,
    /// This value is let through by the sender and refused by the receiver; the caller confirms it.
    Counterexample(Json),
    /// Nothing could be shown, with the reason.
    Unknown(String),
}

/// Something that can answer the question about two whole documents.
pub trait Prover {
    /// What to call it in a log.
    fn name(&self) -> &'static str;
    /// Answers, within a budget of steps.
    fn prove(&self, question: &Question<'_>) -> Answer;
}

impl From<Result<(), Problem>> for Answer {
    fn from(result: Result<(), Problem>) -> Self {
        match result {
            Ok(()) => Self::Subsumed,
            Err(problem) => Self::Unknown(problem.to_string()),
        }
    }
}

//! What a change of a JSON Schema does to those who rely on it.
//!
//! Takes two versions of a tool's `inputSchema` or `outputSchema`; returns located changes with
//! stable rule ids, and a verdict that is never wrong:
//!
//! - **witness**: a concrete `arguments` object that the old contract accepts and the new one
//!   rejects (for output: a result that the new contract allows and the old one rejects), confirmed
//!   by a real validator;
//! - **subsumed**: shown that there is none, for callers who send what the old schema declares;
//! - **undecided**: neither, with the reason.
//!
//! No I/O, no clock, no network: a `$ref` to another document is never fetched. Work is bounded by
//! counting steps and sizes, so that a hostile schema ends as undecided and never as a hang.
//!
//! The parts: `json_schema_subsume` (the verdict on two schemas), `walk` (where they differ), `family` (what is at stake
//! in each family of rules), `judge` (levels and proofs of single changes), [`crate::rules`] (what each rule means). What
//! is decided is stated in `docs/proofs.md`.

pub(crate) mod dialect;
mod family;
mod judge;
pub(crate) mod naming;
mod phrases;
mod walk;

use crate::canonical::Json;
use crate::judgement::{Exposure, Level, Proof};
use crate::rules::RuleId;
use json_schema_subsume::Limits;

pub(crate) use phrases::shortened;

pub use crate::rules::{Family, Side};

/// Whether a parameter's name suggests a secret.
pub(crate) fn names_secret(name: &str) -> bool {
    walk::named_exposure(name) == Exposure::High
}

/// One located and judged change of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    pub rule: RuleId,
    /// JSON pointer inside the schema; empty for the whole of it.
    pub pointer: String,
    pub old: Option<Json>,
    pub new: Option<Json>,
    pub level: Level,
    pub exposure: Exposure,
    /// How the level is known; `None` for what validators ignore.
    pub proof: Option<Proof>,
    /// One sentence for a reviewer. May quote the server: escape before printing.
    pub message: String,
}

/// Everything that changed between two schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaComparison {
    /// Located changes, in the order of the schema.
    pub changes: Vec<SchemaChange>,
    /// For the pair as a whole.
    pub verdict: Proof,
}

/// The budget for the comparisons of one server; the next one is for all servers of a run.
const STEPS_PER_SERVER: u64 = 2_500_000;
const STEPS_PER_RUN: u64 = 10_000_000;
/// The minimum per server, however many servers a run has.
const STEPS_AT_LEAST: u64 = 250_000;

/// The remaining steps for the comparisons of one server.
///
/// Counted in steps, so that no answer depends on the speed of a machine; divided among the servers
/// of a run in advance, so that none depends on the order in which they answer.
#[derive(Debug)]
pub struct Work {
    steps: u64,
    left: std::cell::Cell<u64>,
}

impl Work {
    /// For one of this many servers in a run.
    pub fn for_one_of(servers: usize) -> Self {
        let share = STEPS_PER_RUN / u64::try_from(servers.max(1)).unwrap_or(u64::MAX);
        let steps = share.clamp(STEPS_AT_LEAST, STEPS_PER_SERVER);
        Self {
            steps,
            left: std::cell::Cell::new(steps),
        }
    }

    /// How many steps were taken.
    pub fn taken(&self) -> u64 {
        self.steps - self.left()
    }

    fn left(&self) -> u64 {
        self.left.get()
    }

    fn take(&self, steps: u64) {
        self.left.set(self.left().saturating_sub(steps));
    }
}

/// Compares two versions of a schema, without sharing work with other servers.
pub fn compare(old: &Json, new: &Json, side: Side) -> SchemaComparison {
    compare_within(old, new, side, &Work::for_one_of(1))
}

/// The verdict on two versions of a schema, without the places where they differ.
pub fn verdict_within(old: &Json, new: &Json, side: Side, work: &Work) -> Proof {
    if old.same_value(new) {
        return Proof::Subsumed;
    }
    if Limits::default().are_exceeded_by(old, new) {
        return judge::too_large_to_decide();
    }
    judge::verdict(old, new, side, work)
}

/// Compares two versions of a schema, within the remaining steps of a server.
///
/// Equal schemas have no changes and are subsumed. Every difference is covered by at least one
/// change.
pub fn compare_within(old: &Json, new: &Json, side: Side, work: &Work) -> SchemaComparison {
    if old == new {
        return SchemaComparison {
            changes: Vec::new(),
            verdict: Proof::Subsumed,
        };
    }
    if old.same_value(new) {
        return judge::only_spelling(old, new, side);
    }
    if Limits::default().are_exceeded_by(old, new) {
        return judge::too_large(old, new, side);
    }
    judge::judge(old, new, side, work)
}

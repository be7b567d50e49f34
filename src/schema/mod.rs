//! What a change of a JSON Schema does to those who rely on it.
//!
//! Two versions of a tool's `inputSchema` or `outputSchema` go in; located changes with stable rule ids come out,
//! and a verdict that is never wrong:
//!
//! - **witness**: a concrete `arguments` object that the old contract accepts and the new one refuses (for output:
//!   a result that the new contract allows and the old one refuses), confirmed by a real validator;
//! - **subsumed**: shown that there is none, for callers who send what the old schema declares;
//! - **undecided**: neither, with the reason.
//!
//! No I/O, no clock, no network: a `$ref` to another document is never fetched. Work is bounded by counting steps
//! and sizes, so that a hostile schema ends as undecided and never as a hang.
//!
//! The rooms inside: `document` (drafts), `interpretation` (how a published schema is read), `walk` (where two schemas
//! differ), `solve` (whether a value exists that one side sends and the other refuses), `validator` (the real validator
//! that confirms it), `pair` (the verdict on two schemas), `family` (what is at stake in each family of rules), `judge`
//! (levels and proofs of single changes), [`crate::rules`] (what each rule means). What is decided is stated in
//! `docs/proofs.md`.

mod document;
pub(crate) mod example_values;
mod family;
mod interpretation;
mod judge;
mod kinds;
pub(crate) mod likeness;
mod pair;
mod pattern;
mod solve;
mod validator;
mod value;
mod walk;

use crate::canonical::Json;
use crate::judgement::{Exposure, Level, Proof};
use crate::rules::RuleId;

pub use crate::rules::{Family, Side};

/// One located change of a schema, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// The rule that explains it.
    pub rule: RuleId,
    /// JSON pointer inside the schema; empty for the whole of it.
    pub pointer: String,
    /// What stood there.
    pub old: Option<Json>,
    /// What stands there now.
    pub new: Option<Json>,
    /// What it does to callers.
    pub level: Level,
    /// What it does to those who approved the old schema.
    pub exposure: Exposure,
    /// How the level is known; none for what no validator reads.
    pub proof: Option<Proof>,
    /// One sentence for a reviewer. May quote the server: escape it before printing.
    pub message: String,
}

/// Everything that changed between two schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Located changes, in the order of the schema.
    pub changes: Vec<SchemaChange>,
    /// For the pair as a whole.
    pub verdict: Proof,
}

/// Compares two versions of a schema.
///
/// Equal schemas have no changes and are subsumed. Every difference is covered by at least one change.
pub fn compare(old: &Json, new: &Json, side: Side) -> Comparison {
    if old == new {
        return Comparison {
            changes: Vec::new(),
            verdict: Proof::Subsumed,
        };
    }
    if old.same_value(new) {
        return judge::only_spelling(old, new, side);
    }
    judge::judge(old, new, side)
}

//! The algebra of the `jsonschema` crate, as a second opinion where the structural walker shows nothing.
//!
//! It is experimental and cannot be interrupted, so it is asked about small schemas only.

use super::super::document::each_schema;
use super::super::validator::{draft_of, for_validator};
use super::{Answer, Prover, Question};
use jsonschema::canonical::Containment;

/// Schemas with more nodes than this are not handed over.
const MAX_NODES: usize = 120;

/// The prover of the `jsonschema` crate.
pub(crate) struct Algebra;

impl Prover for Algebra {
    fn name(&self) -> &'static str {
        "algebra"
    }

    fn prove(&self, question: &Question<'_>) -> Answer {
        let unknown = |reason: &str| Answer::Unknown(reason.to_owned());
        if question.sender.draft != question.receiver.draft {
            return unknown("the two schemas are written in different drafts");
        }
        let mut nodes = 0;
        for document in [question.sender, question.receiver] {
            each_schema(&document.root, &mut |_| nodes += 1);
        }
        if nodes > MAX_NODES {
            return unknown("the schema is too large to be decided within the budget");
        }
        let (Some(sender), Some(receiver)) = (
            for_validator(question.sender),
            for_validator(question.receiver),
        ) else {
            return unknown("a number or a text of the schema is beyond the validator");
        };
        if !sender.exact || !receiver.exact {
            return unknown("a number of the schema is beyond the validator");
        }
        let canonical = |value| {
            jsonschema::canonical::options()
                .with_draft(draft_of(question.sender.draft))
                // Asserted, so that a format that tightened is never waved through.
                .should_validate_formats(true)
                .offline()
                .canonicalize(value)
        };
        let (Ok(sender), Ok(receiver)) = (canonical(&sender.value), canonical(&receiver.value))
        else {
            return unknown("the schema has no canonical form");
        };
        match receiver.covers(&sender) {
            Ok(Containment::Yes) => Answer::Subsumed,
            _ => unknown("neither a proof nor a counterexample was found"),
        }
    }
}

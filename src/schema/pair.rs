//! The verdict on two schemas: a value that the sender sends and the receiver refuses, or that there is none.
//!
//! `S` is what the sender's schema accepts and declares, `R` what the receiver's accepts. A witness lies in `S` and not
//! in `R`; it is confirmed by our own evaluator and by a real validator, and nothing can be left out of it. That `S` is
//! inside `R` is said only after the solver closed every case. A sender who sends nothing proves nothing.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::Side;
use super::document::{Document, Problem};
use super::interpretation::{Evidence, malformed, other_reading, read};
use super::kinds::Kinds;
use super::solve::{Budget, Evaluator, Outcome, Patterns, References, Solver, size};
use super::validator::{Compiled, guard};
use crate::canonical::{Json, Object};

/// Work for one pair of schemas.
const STEPS: u64 = 90_000;
/// Work for the witness of one finding.
const STEPS_FOR_FINDING: u64 = 15_000;
/// Evaluations for making one witness smaller.
const REDUCTIONS: usize = 600;

/// What is known about a pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Subsumed,
    /// The sender's schema accepts nothing.
    Empty,
    Witness(Json),
    Unknown(Problem),
}

/// Two documents in one reading.
pub(crate) struct Reading {
    pub(crate) sender: Document,
    pub(crate) receiver: Document,
}

/// A pair of schemas, to be judged.
pub(crate) struct Pair {
    kinds: Kinds,
    pub(crate) reading: Reading,
    /// The reading in which schemas without `$schema` are 2020-12, and whether a witness has to hold there too.
    other: Option<(Reading, bool)>,
    patterns: Patterns,
    budget: Budget,
}

/// A pair whose references are known.
pub(crate) struct Open<'p> {
    pair: &'p Pair,
    sender: References<'p>,
    receiver: References<'p>,
    compiled: RefCell<Option<Result<(Compiled, Compiled), Problem>>>,
    problem: OnceCell<Option<Problem>>,
}

impl Pair {
    pub(crate) fn new(old: &Json, new: &Json, side: Side) -> Self {
        let (sender, receiver) = match side {
            Side::Input => (read(old), read(new)),
            Side::Output => (read(new), read(old)),
        };
        let others = (other_reading(&sender), other_reading(&receiver));
        let other = match &others {
            (None, None) => None,
            (one, other) => {
                let weak = |it: &Option<(Document, Evidence)>| {
                    it.as_ref().is_none_or(|(_, it)| *it == Evidence::Weak)
                };
                let must_hold = weak(one) && weak(other);
                let document = |it: &Option<(Document, Evidence)>, published: &Document| {
                    it.as_ref()
                        .map_or_else(|| published.clone(), |(document, _)| document.clone())
                };
                let reading = Reading {
                    sender: document(one, &sender),
                    receiver: document(other, &receiver),
                };
                Some((reading, must_hold))
            }
        };
        Self {
            // Arguments are an object; a result may be anything that its schema says.
            kinds: match side {
                Side::Input => Kinds::OBJECT,
                Side::Output => Kinds::ANY,
            },
            reading: Reading { sender, receiver },
            other,
            patterns: Patterns::default(),
            budget: Budget::new(STEPS),
        }
    }

    pub(crate) fn open(&self) -> Open<'_> {
        self.open_as(&self.reading)
    }

    fn open_as<'p>(&'p self, reading: &'p Reading) -> Open<'p> {
        Open {
            pair: self,
            sender: References::new(&reading.sender),
            receiver: References::new(&reading.receiver),
            compiled: RefCell::new(None),
            problem: OnceCell::new(),
        }
    }

    /// The verdict in all readings.
    pub(crate) fn verdict(&self, open: &Open<'_>) -> Verdict {
        let first = open.verdict();
        let Some((reading, must_hold)) = &self.other else {
            return first;
        };
        let other = self.open_as(reading);
        let depends = || {
            Verdict::Unknown(Problem::Other(
                "the schema does not say which draft it is written in, and the answer depends on it"
                    .into(),
            ))
        };
        match first {
            Verdict::Witness(witness) if *must_hold => {
                if other.confirmed(&witness) {
                    return Verdict::Witness(witness);
                }
                match other.verdict() {
                    Verdict::Witness(witness) if open.confirmed(&witness) => {
                        Verdict::Witness(witness)
                    }
                    _ => depends(),
                }
            }
            Verdict::Subsumed => match other.verdict() {
                Verdict::Subsumed | Verdict::Empty => Verdict::Subsumed,
                _ => depends(),
            },
            first => first,
        }
    }
}

impl<'p> Open<'p> {
    /// Why nothing can be decided, where that is known at once.
    fn problem(&self) -> Option<&Problem> {
        let documents = [self.sender.document, self.receiver.document];
        self.problem
            .get_or_init(|| {
                documents
                    .iter()
                    .find_map(|it| malformed(it))
                    .or_else(|| guard(&self.sender).err())
                    .or_else(|| guard(&self.receiver).err())
            })
            .as_ref()
    }

    fn verdict(&self) -> Verdict {
        if let Some(problem) = self.problem() {
            return Verdict::Unknown(problem.clone());
        }
        let mut spurious = None;
        for strict in [true, false] {
            if strict && !opened_explicitly(self.sender.document) {
                continue;
            }
            let budget = Budget::new(self.pair.budget.left() / if strict { 2 } else { 1 });
            let documents = vec![&self.sender, &self.receiver];
            let mut solver = Solver::new(documents, &self.pair.patterns, &budget, strict);
            let before = budget.left();
            let outcome = solver.roots(&[true, false], self.pair.kinds);
            self.pair.budget.take(before - budget.left());
            match outcome {
                Outcome::Value(value) => {
                    let value = self.shrunk(value, &|_| true);
                    if self.confirmed(&value) {
                        return Verdict::Witness(value);
                    }
                    spurious = Some(Problem::Other(
                        "a call that might break was found, and a validator did not confirm it"
                            .into(),
                    ));
                }
                Outcome::None if strict => {}
                Outcome::None => {
                    if let Some(problem) = spurious {
                        return Verdict::Unknown(problem);
                    }
                    let documents = vec![&self.sender];
                    let budget = Budget::new(STEPS_FOR_FINDING);
                    let mut solver = Solver::new(documents, &self.pair.patterns, &budget, false);
                    return match solver.roots(&[true], self.pair.kinds) {
                        Outcome::None => Verdict::Empty,
                        _ => Verdict::Subsumed,
                    };
                }
                Outcome::Unknown if strict => {}
                Outcome::Unknown => {
                    return Verdict::Unknown(spurious.unwrap_or_else(|| solver.reason()));
                }
            }
        }
        Verdict::Unknown(spurious.unwrap_or(Problem::TooLarge))
    }

    /// Whether a value is in `S` and not in `R`, by our own evaluator.
    fn is_witness(&self, value: &Json, declared: bool) -> bool {
        let lists = RefCell::new(HashMap::new());
        let sender = Evaluator::new(&self.sender, &self.pair.patterns, &lists);
        let receiver = Evaluator::new(&self.receiver, &self.pair.patterns, &lists);
        receiver.accepts(&self.receiver.document.root, value) == Some(false)
            && sender.accepts(&self.sender.document.root, value) == Some(true)
            && (!declared
                || sender.declared(&[&self.sender.document.root], value, true, false, 0)
                    == Some(true))
    }

    /// The same, and a real validator says so too.
    pub(crate) fn confirmed(&self, value: &Json) -> bool {
        if size(value) > 60_000 || !self.is_witness(value, true) {
            return false;
        }
        let mut compiled = self.compiled.borrow_mut();
        let compiled = compiled.get_or_insert_with(|| {
            Ok((
                Compiled::new(self.sender.document)?,
                Compiled::new(self.receiver.document)?,
            ))
        });
        match compiled {
            Ok((sender, receiver)) => {
                sender.accepts(value) == Some(true) && receiver.accepts(value) == Some(false)
            }
            Err(_) => false,
        }
    }

    /// The keyword that refuses a witness.
    pub(crate) fn refusal(&self, witness: &Json) -> Option<(String, String)> {
        match &*self.compiled.borrow() {
            Some(Ok((_, receiver))) => receiver.refusal(witness),
            _ => None,
        }
    }

    /// Takes away members and items for as long as a witness is left.
    fn shrunk(&self, witness: Json, wanted: &dyn Fn(&Json) -> bool) -> Json {
        let mut best = witness;
        let mut left = REDUCTIONS.min(400_000 / usize::try_from(size(&best)).unwrap_or(1).max(1));
        loop {
            let mut smaller = None;
            for candidate in reductions(&best) {
                if left == 0 {
                    return best;
                }
                left -= 1;
                if self.is_witness(&candidate, true) && wanted(&candidate) {
                    smaller = Some(candidate);
                    break;
                }
            }
            match smaller {
                Some(candidate) => best = candidate,
                None => return best,
            }
        }
    }

    /// A witness that a receiver accepts who differs from the real one in one respect only: what is refused because of
    /// that respect. `known` is tried first.
    ///
    /// A `narrower` receiver, if there is one, must refuse it as well.
    pub(crate) fn witness_for(
        &self,
        relaxed: &Document,
        narrower: Option<&Document>,
        known: Option<&Json>,
    ) -> Option<Json> {
        let relaxed = References::new(relaxed);
        let narrower = narrower.map(References::new);
        let lists = RefCell::new(HashMap::new());
        let answer = |receiver: &References<'_>, value: &Json| {
            Evaluator::new(receiver, &self.pair.patterns, &lists)
                .accepts(&receiver.document.root, value)
        };
        let accepted = |value: &Json| {
            answer(&relaxed, value) == Some(true)
                && narrower
                    .as_ref()
                    .is_none_or(|it| answer(it, value) == Some(false))
        };
        if let Some(known) = known.filter(|it| accepted(it)) {
            return Some(known.clone());
        }
        for strict in [true, false] {
            if strict && !opened_explicitly(self.sender.document) {
                continue;
            }
            let budget = Budget::new(STEPS_FOR_FINDING.min(self.pair.budget.left()));
            let before = budget.left();
            let mut documents = vec![&self.sender, &self.receiver, &relaxed];
            documents.extend(&narrower);
            let signs = &[true, false, true, false][..documents.len()];
            let mut solver = Solver::new(documents, &self.pair.patterns, &budget, strict);
            let outcome = solver.roots(signs, self.pair.kinds);
            self.pair.budget.take((before - budget.left()) / 4);
            if let Outcome::Value(value) = outcome {
                let shrunk = self.shrunk(value, &accepted);
                // Where less of it is refused for another reason, it is not about this one.
                let minimal = size(&shrunk) > 2_000
                    || !reductions(&shrunk)
                        .iter()
                        .any(|it| self.is_witness(it, false));
                if minimal && self.confirmed(&shrunk) {
                    return Some(shrunk);
                }
            }
        }
        None
    }

    /// A witness that is refused by a receiver who has only one of the changes.
    pub(crate) fn witness_without_others(&self, others: &Document) -> Option<Json> {
        let others = References::new(others);
        let budget = Budget::new(STEPS_FOR_FINDING.min(self.pair.budget.left()));
        let before = budget.left();
        let documents = vec![&self.sender, &others];
        let mut solver = Solver::new(documents, &self.pair.patterns, &budget, false);
        let outcome = solver.roots(&[true, false], self.pair.kinds);
        self.pair.budget.take((before - budget.left()) / 4);
        let Outcome::Value(value) = outcome else {
            return None;
        };
        let lists = RefCell::new(HashMap::new());
        let refused = |value: &Json| {
            Evaluator::new(&others, &self.pair.patterns, &lists)
                .accepts(&others.document.root, value)
                == Some(false)
        };
        let shrunk = self.shrunk(value, &refused);
        (refused(&shrunk) && self.confirmed(&shrunk)).then_some(shrunk)
    }

    /// Whether everything that a schema of the sender accepts is accepted by one of the receiver, wherever they stand.
    pub(crate) fn covered(&self, sender_at: &str, receiver_at: &str) -> bool {
        if self.problem().is_some() {
            return false;
        }
        let documents = (self.sender.document, self.receiver.document);
        let (Some(mine), Some(theirs)) = (documents.0.at(sender_at), documents.1.at(receiver_at))
        else {
            return false;
        };
        let budget = Budget::new(STEPS_FOR_FINDING);
        let documents = vec![&self.sender, &self.receiver];
        let mut solver = Solver::new(documents, &self.pair.patterns, &budget, false);
        solver.nodes(&[(0, mine, true), (1, theirs, false)]) == Outcome::None
    }
}

/// Whether the two readings of what is declared can differ.
fn opened_explicitly(document: &Document) -> bool {
    let mut found = false;
    super::document::each_schema(&document.root, &mut |node| {
        found |= match node.get("additionalProperties") {
            Some(Json::Bool(true)) => true,
            Some(Json::Object(schema)) => schema.is_empty(),
            _ => false,
        };
    });
    found
}

/// The same value with one member or item less, at every level.
fn reductions(value: &Json) -> Vec<Json> {
    match value {
        Json::Object(object) => {
            let members: Vec<_> = object
                .iter()
                .map(|(name, it)| (name.clone(), it.clone()))
                .collect();
            let mut out = Vec::new();
            for at in 0..members.len() {
                let mut fewer = members.clone();
                fewer.remove(at);
                out.push(Json::Object(fewer.into_iter().collect::<Object>()));
            }
            for (at, (_, inner)) in members.iter().enumerate() {
                for smaller in reductions(inner) {
                    let mut changed = members.clone();
                    changed[at].1 = smaller;
                    out.push(Json::Object(changed.into_iter().collect::<Object>()));
                }
            }
            out
        }
        Json::Array(items) => {
            // Of a long list of equal items one is as good as the other.
            let shown = items.len().min(12);
            let mut out = Vec::new();
            for at in (0..shown).rev() {
                let mut fewer = items.clone();
                fewer.remove(at);
                out.push(Json::Array(fewer));
            }
            for (at, inner) in items.iter().enumerate().take(shown) {
                for smaller in reductions(inner) {
                    let mut changed = items.clone();
                    changed[at] = smaller;
                    out.push(Json::Array(changed));
                }
            }
            out
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;
    use crate::fuzzing::schema_pairs::{Choices, instance, pair};

    /// Values that have a fair chance under both schemas, held against the verdict: a value in `S` and not in `R`
    /// refutes "subsumed", and shows that "undecided" could have been decided.
    #[test]
    fn no_verdict_is_refuted_by_a_sample() {
        let mut undecided = 0;
        let mut witnesses = 0;
        for seed in 0..400 {
            let mut rng = Choices::from_seed(seed);
            let (old, new) = pair(&mut rng);
            let read = |value: &serde_json::Value| parse_str(&value.to_string()).expect("JSON");
            let judged = Pair::new(&read(&old), &read(&new), Side::Input);
            let open = judged.open();
            let verdict = judged.verdict(&open);
            match &verdict {
                Verdict::Witness(witness) => {
                    witnesses += 1;
                    let smaller = reductions(witness)
                        .into_iter()
                        .find(|it| open.is_witness(it, true));
                    assert_eq!(smaller, None, "seed {seed}: {witness} is not minimal");
                    continue;
                }
                Verdict::Unknown(_) => undecided += 1,
                _ => {}
            }
            for round in 0..60 {
                let schema = if round % 2 == 0 { &old } else { &new };
                let sample = read(&instance(&mut rng, schema, schema, 0));
                if matches!(sample, Json::Object(_)) {
                    assert!(
                        !open.is_witness(&sample, true),
                        "seed {seed}: {verdict:?}, and {sample} is sent and refused: {old} {new}"
                    );
                }
            }
        }
        assert!(witnesses > 100, "{witnesses}");
        assert!(undecided <= 12, "{undecided}");
    }
}

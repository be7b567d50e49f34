//! The verdict on two schemas: a value that the sender sends and the receiver rejects, or that
//! there is none.
//!
//! `S` is what the sender's schema accepts and declares, `R` what the receiver's accepts. A witness
//! is in `S` and not in `R`; it is confirmed by our own evaluator and by a real validator,
//! and is minimal. `S` is only called a subset of `R` after the solver closed every case. A sender
//! that sends nothing proves nothing.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;

use crate::document::Document;
use crate::interpretation::{Evidence, OtherReading, malformed, other_reading, read};
use crate::kinds::Kinds;
use crate::reason::Reason;
use crate::solve::{Budget, Evaluator, Outcome, Patterns, References, Solver, size};
use crate::validator::{Compiled, disputed, guard};
use exact_json::Json;

/// Steps for the witness of one change.
const STEPS_FOR_FINDING: u64 = 15_000;
/// Steps for showing that a finding changes nothing, in one direction.
const STEPS_FOR_SAMENESS: u64 = 2_000;
/// Values to evaluate for shrinking one witness, and how many parts they may have in total.
const REDUCTIONS: u64 = 1_200;
const REDUCED_PARTS: u64 = 600_000;
/// Values to evaluate for repairing one that is no witness.
const REPAIRS: usize = 100;
/// Schema evaluations for shrinking one witness.
const REDUCING: u64 = 1_000_000;
/// This many of them count as one step.
const EVALUATED_PER_STEP: u64 = 16;

/// Whether the receiver's schema accepts everything that the sender's accepts and declares.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Yes: every case was closed.
    Subsumed,
    /// No: this value is sent and refused. Confirmed by a validator, and nothing can be left out of it.
    Witness(Json),
    /// Neither was shown.
    Undecided(Reason),
}

/// How a pair is looked at, one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// In the narrower reading of what is declared.
    Strict,
    Whole,
    /// If the budget ends among the first branches, or a validator cannot confirm what was found there: a witness may be
    /// in one of the last.
    FromTheEnd,
}

/// Two documents in one reading.
pub struct Reading {
    /// The schema of what is sent.
    pub sender: Document,
    /// The schema that receives it.
    pub receiver: Document,
}

/// A pair of schemas to be judged.
pub struct Pair {
    kinds: Kinds,
    /// The two schemas as they are read.
    pub reading: Reading,
    /// The reading in which schemas without `$schema` are 2020-12, and others are read as some validators do; whether a
    /// witness must hold there too; and why nothing is claimed if the two differ.
    other: Option<(Reading, bool, Reason)>,
    patterns: Patterns,
    budget: Budget,
    for_findings: Budget,
    /// The number of schema evaluations.
    evaluated: Cell<u64>,
}

/// A pair with resolved references.
pub struct Open<'p> {
    pair: &'p Pair,
    sender: References<'p>,
    receiver: References<'p>,
    compiled: RefCell<Option<Result<(Compiled, Compiled), Reason>>>,
    problem: OnceCell<Option<Reason>>,
    /// The same in the other reading, and whether a witness must hold there too.
    other: Option<(Box<Open<'p>>, bool)>,
}

impl Pair {
    /// What is sent is of these kinds, whatever the sender's schema says. Of the steps some are for the verdict on the
    /// pair, and some for what is asked about its single changes.
    pub fn new(
        sender: &Json,
        receiver: &Json,
        kinds: Kinds,
        steps: u64,
        steps_for_changes: u64,
    ) -> Self {
        let (sender, receiver) = (read(sender), read(receiver));
        let others = (other_reading(&sender), other_reading(&receiver));
        let other = match &others {
            (None, None) => None,
            (one, other) => {
                let others = [one, other];
                let mut given = others.into_iter().flatten();
                let must_hold = given.clone().all(|it| it.evidence == Evidence::Weak);
                let reason = given.next().map(|it| it.reason.clone());
                let document = |other: &Option<OtherReading>, published: &Document| {
                    other
                        .as_ref()
                        .map_or_else(|| published.clone(), |it| it.document.clone())
                };
                let reading = Reading {
                    sender: document(one, &sender),
                    receiver: document(other, &receiver),
                };
                Some((reading, must_hold, reason.unwrap_or(Reason::DraftDecides)))
            }
        };
        Self {
            kinds,
            reading: Reading { sender, receiver },
            other,
            patterns: Patterns::default(),
            budget: Budget::new(steps),
            for_findings: Budget::new(steps_for_changes),
            evaluated: Cell::new(0),
        }
    }

    /// The number of steps used.
    pub fn steps(&self) -> u64 {
        self.budget.taken() + self.for_findings.taken() + self.evaluated.get() / EVALUATED_PER_STEP
    }

    /// Resolves the references of both schemas.
    pub fn open(&self) -> Open<'_> {
        let mut open = self.open_as(&self.reading);
        open.other = self
            .other
            .as_ref()
            .map(|(reading, must_hold, _)| (Box::new(self.open_as(reading)), *must_hold));
        open
    }

    fn open_as<'p>(&'p self, reading: &'p Reading) -> Open<'p> {
        Open {
            pair: self,
            sender: References::new(&reading.sender),
            receiver: References::new(&reading.receiver),
            compiled: RefCell::new(None),
            problem: OnceCell::new(),
            other: None,
        }
    }

    /// The verdict in all readings.
    pub fn verdict(&self, open: &Open<'_>) -> Verdict {
        let first = open.verdict();
        let Some((other, must_hold)) = &open.other else {
            return first;
        };
        let reason = self.other.as_ref().map(|(_, _, reason)| reason.clone());
        let depends = || Verdict::Undecided(reason.clone().unwrap_or(Reason::DraftDecides));
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
                Verdict::Subsumed | Verdict::Undecided(Reason::NothingSent) => Verdict::Subsumed,
                _ => depends(),
            },
            first => first,
        }
    }
}

impl<'p> Open<'p> {
    /// Why nothing can be decided, if that is known at once.
    fn problem(&self) -> Option<&Reason> {
        let documents = [self.sender.document, self.receiver.document];
        self.problem
            .get_or_init(|| {
                documents
                    .iter()
                    .find_map(|document| malformed(document))
                    .or_else(|| guard(&self.sender).err())
                    .or_else(|| guard(&self.receiver).err())
            })
            .as_ref()
    }

    fn verdict(&self) -> Verdict {
        if let Some(problem) = self.problem() {
            return Verdict::Undecided(problem.clone());
        }
        let mut spurious = None;
        let mut reason = None;
        for attempt in [Attempt::Strict, Attempt::Whole, Attempt::FromTheEnd] {
            let strict = attempt == Attempt::Strict;
            if strict && !opened_explicitly(self.sender.document) {
                continue;
            }
            let left = self.pair.budget.left();
            let budget = Budget::new(match attempt {
                Attempt::Strict => left / 2,
                Attempt::Whole => left - left / 6,
                Attempt::FromTheEnd => left,
            });
            let documents = vec![&self.sender, &self.receiver];
            let mut solver = Solver::new(documents, &self.pair.patterns, &budget, strict);
            if attempt == Attempt::FromTheEnd {
                solver = solver.looking_from_the_end();
            }
            let outcome = solver.roots(&[true, false], self.pair.kinds);
            self.pair.budget.take(budget.taken());
            match outcome {
                Outcome::Value(value) => {
                    let value = self.shrunk(value, &self.pair.budget, &|_| true);
                    if self.confirmed(&value) {
                        return Verdict::Witness(value);
                    }
                    if let Some(value) = self.repaired(&value).or_else(|| self.undisputed()) {
                        return Verdict::Witness(value);
                    }
                    spurious = Some(Reason::NotConfirmed);
                }
                Outcome::None if strict => {}
                Outcome::None => {
                    if let Some(problem) = spurious {
                        return Verdict::Undecided(problem);
                    }
                    let documents = vec![&self.sender];
                    let budget = Budget::new(STEPS_FOR_FINDING);
                    let mut solver = Solver::new(documents, &self.pair.patterns, &budget, false);
                    let sent = solver.roots(&[true], self.pair.kinds);
                    self.pair.budget.take(budget.taken());
                    return match sent {
                        Outcome::None => Verdict::Undecided(Reason::NothingSent),
                        _ => Verdict::Subsumed,
                    };
                }
                Outcome::Unknown if strict => {}
                Outcome::Unknown => {
                    reason.get_or_insert_with(|| solver.reason());
                    if budget.left() > 0 {
                        break;
                    }
                }
            }
        }
        Verdict::Undecided(spurious.or(reason).unwrap_or(Reason::TooLarge))
    }

    /// Whether a value is in `S` and not in `R`, by our own evaluator.
    pub fn is_witness(&self, value: &Json) -> bool {
        self.refutes(value, true)
    }

    /// The same; unless `declared`, whatever the sender declares.
    fn refutes(&self, value: &Json, declared: bool) -> bool {
        let lists = RefCell::new(HashMap::new());
        let sender = Evaluator::new(&self.sender, &self.pair.patterns, &lists);
        let receiver = Evaluator::new(&self.receiver, &self.pair.patterns, &lists);
        let answer = receiver.accepts(&self.receiver.document.root, value) == Some(false)
            && sender.accepts(&self.sender.document.root, value) == Some(true)
            && (!declared
                || sender.declared(&[&self.sender.document.root], value, true, false, 0)
                    == Some(true));
        let evaluated = &self.pair.evaluated;
        evaluated.set(evaluated.get() + sender.steps.get() + receiver.steps.get());
        answer
    }

    /// The same, confirmed by a real validator.
    pub(crate) fn confirmed(&self, value: &Json) -> bool {
        if size(value) > 60_000 || !self.is_witness(value) {
            return false;
        }
        // A validator that meets a reference which leads nowhere has no answer, whatever else it finds. Those that differ
        // about where one leads agree if the rest decides.
        let lists = RefCell::new(HashMap::new());
        for references in [&self.sender, &self.receiver] {
            let evaluator = Evaluator::new(references, &self.pair.patterns, &lists).exhaustive();
            evaluator.accepts(&references.document.root, value);
            if evaluator.lost.get() {
                return false;
            }
        }
        let mut compiled = self.compiled.borrow_mut();
        let compiled = compiled.get_or_insert_with(|| {
            Ok((Compiled::new(&self.sender)?, Compiled::new(&self.receiver)?))
        });
        match compiled {
            Ok((sender, receiver)) => {
                sender.accepts(value) == Some(true)
                    && sender.is_undisputed(value)
                    && receiver.accepts(value) == Some(false)
            }
            Err(_) => false,
        }
    }

    /// The keyword that rejects a witness.
    pub fn refusal(&self, witness: &Json) -> Option<(String, String)> {
        match &*self.compiled.borrow() {
            Some(Ok((_, receiver))) => receiver.refusal(witness),
            _ => None,
        }
    }

    /// A witness inside a value that is none: what a branch declares depends on what else is there, so
    /// less may be sent where more is not.
    fn repaired(&self, value: &Json) -> Option<Json> {
        let empty = match value {
            Json::Object(_) => Some(Json::object([])),
            Json::Array(_) => Some(Json::Array(Vec::new())),
            _ => None,
        };
        let cuts = cuts(value);
        let parts = cuts.iter().take(REPAIRS).map(|cut| without(value, cut));
        let mut candidates = empty.into_iter().chain(parts);
        let found = candidates.find(|candidate| {
            self.pair.budget.take(1 + size(candidate) / 16) && self.is_witness(candidate)
        })?;
        let found = self.shrunk(found, &self.pair.budget, &|_| true);
        self.confirmed(&found).then_some(found)
    }

    /// A witness that stricter readings of the sender's schema accept too, if there are such readings.
    fn undisputed(&self) -> Option<Json> {
        let narrowed = disputed(self.sender.document)?;
        let narrowed = References::new(&narrowed);
        let budget = Budget::new(self.pair.budget.left() / 2);
        let documents = vec![&self.sender, &narrowed, &self.receiver];
        let mut solver = Solver::new(documents, &self.pair.patterns, &budget, false);
        let outcome = solver.roots(&[true, true, false], self.pair.kinds);
        self.pair.budget.take(budget.taken());
        let Outcome::Value(value) = outcome else {
            return None;
        };
        let lists = RefCell::new(HashMap::new());
        let accepted = |value: &Json| {
            Evaluator::new(&narrowed, &self.pair.patterns, &lists)
                .accepts(&narrowed.document.root, value)
                == Some(true)
        };
        let value = self.shrunk(value, &self.pair.budget, &accepted);
        self.confirmed(&value).then_some(value)
    }

    /// Removes members and items for as long as it is still a witness.
    fn shrunk(&self, witness: Json, budget: &Budget, wanted: &dyn Fn(&Json) -> bool) -> Json {
        let mut best = witness;
        let mut left = REDUCTIONS.min(REDUCED_PARTS / size(&best).max(1));
        let most = self.pair.evaluated.get() + REDUCING;
        loop {
            let mut smaller = false;
            let mut next = 0;
            let mut all = cuts(&best);
            while let Some(cut) = all.get(next) {
                if self.needed(&best, cut) {
                    next += 1;
                    continue;
                }
                let late = left == 0 || self.pair.evaluated.get() > most;
                if late || !budget.take(1 + size(&best) / 16) {
                    return best;
                }
                left -= 1;
                let candidate = without(&best, cut);
                if self.is_witness(&candidate) && wanted(&candidate) {
                    best = candidate;
                    all = cuts(&best);
                    smaller = true;
                } else {
                    next += 1;
                }
            }
            if !smaller {
                return best;
            }
        }
    }

    /// Whether nothing can be removed from a value without it ceasing to be a witness.
    fn is_minimal(&self, witness: &Json) -> bool {
        let cuts = cuts(witness);
        let mut left = REDUCTIONS.min(REDUCED_PARTS / size(witness).max(1));
        let most = self.pair.evaluated.get() + REDUCING;
        for cut in cuts {
            if self.needed(witness, &cut) {
                continue;
            }
            if left == 0 || self.pair.evaluated.get() > most {
                return true;
            }
            left -= 1;
            self.pair.for_findings.take(1 + size(witness) / 16);
            if self.refutes(&without(witness, &cut), false) {
                return false;
            }
        }
        true
    }

    /// Whether the sender plainly requires what a cut removes.
    fn needed(&self, value: &Json, cut: &[usize]) -> bool {
        let mut node = &self.sender.document.root;
        let mut value = value;
        for (depth, at) in cut.iter().enumerate() {
            for _ in 0..8 {
                match self.sender.targets(node).as_deref() {
                    Ok([(target, _)]) => node = target,
                    _ => break,
                }
            }
            let (Some(schema), Json::Object(members)) = (node.as_object(), value) else {
                return false;
            };
            let Some((name, inner)) = members.iter().nth(*at) else {
                return false;
            };
            if depth + 1 == cut.len() {
                return self.sender.requires(schema, name);
            }
            match self.sender.property(schema, name) {
                Some(further) => node = further,
                None => return false,
            }
            value = inner;
        }
        false
    }

    /// A witness that a receiver accepts that differs from the real one in one respect only: it is
    /// rejected because of that respect. `known` is tried first.
    ///
    /// A `narrower` receiver, if any, must reject it as well.
    pub fn witness_for(
        &self,
        relaxed: &Document,
        narrower: Option<&Document>,
        known: Option<&Json>,
    ) -> Option<Json> {
        let budget = &self.pair.for_findings;
        let relaxed = References::new(relaxed);
        budget.take(relaxed.schemas as u64);
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
                    .is_none_or(|narrower| answer(narrower, value) == Some(false))
        };
        if let Some(known) = known.filter(|witness| accepted(witness)) {
            return Some(known.clone());
        }
        for strict in [true, false] {
            if strict && !opened_explicitly(self.sender.document) {
                continue;
            }
            let own = budget.part(STEPS_FOR_FINDING);
            let mut documents = vec![&self.sender, &self.receiver, &relaxed];
            documents.extend(&narrower);
            let signs = &[true, false, true, false][..documents.len()];
            let mut solver = Solver::new(documents, &self.pair.patterns, &own, strict);
            let outcome = solver.roots(signs, self.pair.kinds);
            budget.take(own.taken());
            if let Outcome::Value(value) = outcome {
                let shrunk = self.shrunk(value, budget, &accepted);
                // If a smaller one is rejected for another reason, it is not about this one.
                if self.is_minimal(&shrunk) && self.confirmed(&shrunk) {
                    return Some(shrunk);
                }
            }
        }
        None
    }

    /// Whether a receiver accepts a value, if that is known.
    pub fn accepts(&self, receiver: &Document, value: &Json) -> Option<bool> {
        let receiver = References::new(receiver);
        self.pair.for_findings.take(receiver.schemas as u64);
        let lists = RefCell::new(HashMap::new());
        Evaluator::new(&receiver, &self.pair.patterns, &lists)
            .accepts(&receiver.document.root, value)
    }

    /// Whether a witness is one in every reading in which it must be.
    pub fn holds(&self, witness: &Json) -> bool {
        match &self.other {
            Some((other, true)) => other.confirmed(witness),
            _ => true,
        }
    }

    /// What one change does by itself. `only` makes the sender's document with this change and no other, `place` the one
    /// with everything that changed at its place.
    pub fn alone(&self, only: &OnlyThis<'_>, place: &OnlyThis<'_>) -> Isolated {
        let own = self.alone_as_read(only, place);
        match (&self.other, own) {
            (Some((other, _)), Isolated::AcceptsAll) => match other.alone_as_read(only, place) {
                Isolated::AcceptsAll => Isolated::AcceptsAll,
                _ => Isolated::Unknown,
            },
            (_, Isolated::Rejects(witness)) if !self.holds(&witness) => Isolated::Unknown,
            (_, own) => own,
        }
    }

    fn alone_as_read(&self, only: &OnlyThis<'_>, place: &OnlyThis<'_>) -> Isolated {
        let budget = &self.pair.for_findings;
        let (sender, receiver) = (self.sender.document, self.receiver.document);
        if self.exhausted() || self.problem().is_some() {
            return Isolated::Unknown;
        }
        budget.take(1 + self.sender.schemas as u64 / 512);
        let Some(mut only) = only(sender, receiver) else {
            return Isolated::Unknown;
        };
        // What another draft does to the rest is not a matter of this change.
        let mut without = None;
        if sender.draft != receiver.draft {
            only.draft = receiver.draft;
            without = Some(Document {
                root: sender.root.clone(),
                draft: receiver.draft,
            });
        }
        let only = References::new(&only);
        let without = without.as_ref().map(References::new);
        budget.take(only.schemas as u64);
        let lists = RefCell::new(HashMap::new());
        let accepts = |receiver: &References<'_>, value: &Json| {
            Evaluator::new(receiver, &self.pair.patterns, &lists)
                .accepts(&receiver.document.root, value)
        };
        let refused = |value: &Json| {
            accepts(&only, value) == Some(false)
                && without
                    .as_ref()
                    .is_none_or(|without| accepts(without, value) == Some(true))
        };
        // If the receiver accepts what is found, another change at the same place may make up for this one.
        let mut around = None;
        for made_up_for in [false, true] {
            if made_up_for {
                around = place(sender, receiver);
            }
            let around = around.as_ref().map(References::new);
            let own = budget.part(STEPS_FOR_FINDING);
            let mut documents = vec![&self.sender, &only];
            let mut signs = vec![true, false];
            if let Some(without) = &without {
                documents.push(without);
                signs.push(true);
            }
            if made_up_for {
                documents.push(around.as_ref().unwrap_or(&self.receiver));
                signs.push(false);
            }
            let mut solver = Solver::new(documents, &self.pair.patterns, &own, false);
            let outcome = solver.roots(&signs, self.pair.kinds);
            budget.take(own.taken());
            let value = match outcome {
                Outcome::Value(value) => value,
                Outcome::None => return Isolated::AcceptsAll,
                Outcome::Unknown => return Isolated::Unknown,
            };
            if !made_up_for && !self.is_witness(&value) {
                continue;
            }
            let shrunk = self.shrunk(value, budget, &refused);
            return if !refused(&shrunk) || !self.confirmed(&shrunk) {
                Isolated::Unknown
            } else if self.is_minimal(&shrunk) {
                Isolated::Rejects(shrunk)
            } else {
                Isolated::AlsoRejects
            };
        }
        Isolated::Unknown
    }

    /// Whether no step is left for findings.
    pub fn exhausted(&self) -> bool {
        self.pair.for_findings.left() == 0
    }

    /// Whether everything that one of the sender's schemas accepts is accepted by one of the
    /// receiver's, at any two places, in every reading.
    pub fn covered(&self, sender_at: &str, receiver_at: &str) -> bool {
        self.covered_as_read(sender_at, receiver_at)
            && self
                .other
                .as_ref()
                .is_none_or(|(other, _)| other.covered_as_read(sender_at, receiver_at))
    }

    fn covered_as_read(&self, sender_at: &str, receiver_at: &str) -> bool {
        if self.problem().is_some() {
            return false;
        }
        let documents = (self.sender.document, self.receiver.document);
        let (Some(mine), Some(theirs)) = (documents.0.at(sender_at), documents.1.at(receiver_at))
        else {
            return false;
        };
        let budget = self.pair.for_findings.part(STEPS_FOR_FINDING);
        let documents = vec![&self.sender, &self.receiver];
        let mut solver = Solver::new(documents, &self.pair.patterns, &budget, false);
        let outcome = solver.nodes(&[(0, mine, true), (1, theirs, false)]);
        self.pair.for_findings.take(budget.taken());
        outcome == Outcome::None
    }
}

impl Open<'_> {
    /// Whether exactly the same values are accepted at two places, declared or not, in every reading. What is looked
    /// at by other schemas (`unevaluated…`) is a matter of the whole document: then, or if `in_whole`, `only` says what
    /// one change does to it.
    pub fn same_values(
        &self,
        sender_at: &str,
        receiver_at: &str,
        only: &OnlyThis<'_>,
        in_whole: bool,
    ) -> bool {
        let other = self.other.as_ref().map(|(other, _)| &**other);
        [Some(self), other].into_iter().flatten().all(|open| {
            let (sender, receiver) = (open.sender.document, open.receiver.document);
            if open.problem().is_some() {
                return false;
            }
            let looks_around = |document: &Document| {
                let mut found = false;
                crate::document::each_schema(&document.root, &mut |node| {
                    found |= node.get("unevaluatedProperties").is_some()
                        || node.get("unevaluatedItems").is_some();
                });
                found
            };
            let in_its_place = || match (sender.at(sender_at), receiver.at(receiver_at)) {
                (Some(mine), Some(theirs)) => open.same(mine, &open.receiver, theirs),
                _ => false,
            };
            let in_the_whole = || {
                let only = only(sender, receiver).filter(|_| sender.draft == receiver.draft);
                only.is_some_and(|only| {
                    let only = References::new(&only);
                    open.same(&sender.root, &only, &only.document.root)
                })
            };
            if looks_around(sender) || looks_around(receiver) {
                in_the_whole() || open.same(&sender.root, &open.receiver, &receiver.root)
            } else {
                in_its_place() || ((in_whole || sender_at.is_empty()) && in_the_whole())
            }
        })
    }

    /// Whether one of the sender's schemas accepts the same values as one of another document.
    fn same(&self, mine: &Json, other: &References<'_>, theirs: &Json) -> bool {
        // Only a sender declares. Here there is none: the first document accepts everything.
        let anyone = Document {
            root: Json::Bool(true),
            draft: self.sender.document.draft,
        };
        let anyone = References::new(&anyone);
        [(true, false), (false, true)].into_iter().all(|signs| {
            let budget = self.pair.for_findings.part(STEPS_FOR_SAMENESS);
            let documents = vec![&anyone, &self.sender, other];
            let mut solver = Solver::new(documents, &self.pair.patterns, &budget, false);
            let outcome = solver.nodes(&[(1, mine, signs.0), (2, theirs, signs.1)]);
            self.pair.for_findings.take(budget.taken());
            outcome == Outcome::None
        })
    }
}

/// Whether the two readings of what is declared can differ.
fn opened_explicitly(document: &Document) -> bool {
    let mut found = false;
    crate::document::each_schema(&document.root, &mut |node| {
        found |= match node.get("additionalProperties") {
            Some(Json::Bool(true)) => true,
            Some(Json::Object(schema)) => schema.is_empty(),
            _ => false,
        };
    });
    found
}

/// The sender's document with one change and no other, made of the sender's and the receiver's.
pub type OnlyThis<'a> = dyn Fn(&Document, &Document) -> Option<Document> + 'a;

/// What a receiver with only one of the changes does.
pub enum Isolated {
    /// It accepts everything that is sent.
    AcceptsAll,
    /// It rejects a minimal witness.
    Rejects(Json),
    /// It rejects something, but a smaller value is rejected because of another change.
    AlsoRejects,
    /// It was not decided.
    Unknown,
}

/// The maximum number of cuts in one value.
const MAX_CUTS: usize = 20_000;

/// What can be removed from a value: each member and each item, the outer ones first. A cut is the
/// path to it.
fn cuts(value: &Json) -> Vec<Vec<usize>> {
    fn gather(value: &Json, way: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        let inner: Vec<(usize, &Json)> = match value {
            Json::Object(members) => members
                .iter()
                .map(|(_, member)| member)
                .enumerate()
                .collect(),
            // In a long list of equal items any one will do.
            Json::Array(items) => items.iter().enumerate().take(12).rev().collect(),
            _ => return,
        };
        for (at, _) in &inner {
            if out.len() >= MAX_CUTS {
                return;
            }
            way.push(*at);
            out.push(way.clone());
            way.pop();
        }
        for (at, member) in inner {
            way.push(at);
            gather(member, way, out);
            way.pop();
        }
    }
    let mut out = Vec::new();
    gather(value, &mut Vec::new(), &mut out);
    out
}

/// A value without what a cut removes.
fn without(value: &Json, cut: &[usize]) -> Json {
    let Some((at, further)) = cut.split_first() else {
        return value.clone();
    };
    let keep = |index: usize, member: &Json| -> Option<Json> {
        if index != *at {
            Some(member.clone())
        } else if further.is_empty() {
            None
        } else {
            Some(without(member, further))
        }
    };
    match value {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .enumerate()
                .filter_map(|(index, (name, member))| Some((name.clone(), keep(index, member)?)))
                .collect(),
        ),
        Json::Array(items) => Json::Array(
            items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| keep(index, item))
                .collect(),
        ),
        other => other.clone(),
    }
}

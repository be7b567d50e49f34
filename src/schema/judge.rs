//! From located findings to judged changes: what the provers say decides the level.
//!
//! The order is fixed. First the whole pair is put to the structural walker: where every old call is shown to be
//! accepted, no finding can break anything. Otherwise each finding that could hurt gets a search for a witness of
//! its own, then a proof at its own place. Only what is left goes to the algebra and to a search over the whole
//! schema. `breaking` is said with a witness in hand, or not at all.

use super::document::{Document, Problem, each_schema};
use super::family::{Stake, stake};
use super::interpretation::{closed, published};
use super::prove::view::View;
use super::prove::{Algebra, Answer, Budget, Patterns, Prover, Question, Structural};
use super::validator::{Validators, guard};
use super::walk::{Effect, Finding, Walker};
use super::witness::Search;
use super::{Comparison, Family, SchemaChange, Side};
use crate::canonical::Json;
use crate::judgement::{Level, Proof};

/// Why a result that is fine as long as servers return what they declare is not called safe.
const OPEN_RESULT: &str = "the result is open: as long as the server returns only members that it declares nothing is lost, but the new schema does not promise that";

struct Case {
    side: Side,
    published: Document,
    closed: Document,
    receiver: Document,
    patterns: Patterns,
    /// Values that the receiver singles out.
    constants: Vec<Json>,
    /// For proofs.
    steps: Budget,
    /// For witnesses: the larger the schemas, the fewer instances are tried.
    tries: Budget,
    try_cost: usize,
}

/// Steps of proof for one pair.
const STEPS: usize = 120_000;
/// Work on witnesses for one pair, in schemas that a try goes through.
const TRIES: usize = 400_000;

/// What is known about the whole pair.
enum Whole {
    Shown,
    /// Shown for senders that keep to what they declare, where the published schema lets them do more.
    ShownIfDeclared,
    NotShown(Problem),
}

pub(crate) fn judge(old: &Json, new: &Json, side: Side) -> Comparison {
    let old_document = Document::new(old.clone());
    let new_document = Document::new(new.clone());
    let mut walker = Walker::new(&old_document, &new_document, side);
    walker.run();
    let spelling = walker.spelling;
    let gave_up = walker.gave_up;
    let mut findings = walker.findings;
    let (sender, receiver) = match side {
        Side::Input => (old, new),
        Side::Output => (new, old),
    };
    let published = published(sender);
    let receiver = self::published(receiver);
    let mut nodes = 0;
    for root in [&published.root, &receiver.root] {
        each_schema(root, &mut |_| nodes += 1);
    }
    let case = Case {
        side,
        closed: closed(&published),
        constants: constants(&receiver),
        published,
        receiver,
        patterns: Patterns::default(),
        steps: Budget::new(STEPS),
        tries: Budget::new(TRIES),
        try_cost: 20 + nodes / 8,
    };
    let whole = case.whole();
    if gave_up || (findings.is_empty() && !spelling) {
        findings.push(unexplained(old, new, gave_up));
    }
    let mut changes = Vec::new();
    if spelling {
        changes.push(spelling_change(old, new, side));
    }
    let mut verdict = match &whole {
        Whole::Shown => Proof::Subsumed,
        Whole::ShownIfDeclared => Proof::Undecided(OPEN_RESULT.to_owned()),
        Whole::NotShown(problem) => Proof::Undecided(problem.to_string()),
    };
    match case.validators(&whole) {
        Ok(validators) => {
            for finding in findings {
                changes.push(case.change(finding, &whole, validators.as_ref(), None));
            }
            case.settle(&mut changes, &mut verdict, &whole, validators.as_ref());
        }
        Err(problem) => {
            // A schema that no validator takes: nothing can be confirmed, so nothing is called breaking.
            verdict = Proof::Undecided(problem.to_string());
            for finding in findings {
                changes.push(case.change(finding, &whole, None, Some(&problem)));
            }
        }
    }
    Comparison { changes, verdict }
}

impl Case {
    fn question<'a>(&'a self, sender: &'a Document) -> Question<'a> {
        Question {
            sender,
            receiver: &self.receiver,
            patterns: &self.patterns,
            budget: &self.steps,
        }
    }

    fn whole(&self) -> Whole {
        let show = |sender: &Document| {
            Structural::show(&self.question(sender), &sender.root, &self.receiver.root)
        };
        match self.side {
            Side::Input => match show(&self.closed) {
                Ok(()) => Whole::Shown,
                Err(problem) => Whole::NotShown(problem),
            },
            Side::Output => match show(&self.published) {
                Ok(()) => Whole::Shown,
                Err(_) => match show(&self.closed) {
                    Ok(()) => Whole::ShownIfDeclared,
                    Err(problem) => Whole::NotShown(problem),
                },
            },
        }
    }

    /// Compiles validators where they are needed. A proof needs none, but a schema must still be one.
    fn validators(&self, whole: &Whole) -> Result<Option<Validators>, Problem> {
        match whole {
            Whole::NotShown(_) => {
                Validators::new(&self.published, &self.closed, &self.receiver).map(Some)
            }
            _ => {
                guard(&self.closed)?;
                guard(&self.receiver)?;
                Ok(None)
            }
        }
    }

    fn suspect(&self, effect: Effect) -> bool {
        matches!(
            (self.side, effect),
            (_, Effect::Either) | (Side::Input, Effect::Narrows) | (Side::Output, Effect::Widens)
        )
    }

    fn change(
        &self,
        finding: Finding,
        whole: &Whole,
        validators: Option<&Validators>,
        invalid: Option<&Problem>,
    ) -> SchemaChange {
        let (level, proof) = if self.suspect(finding.effect) {
            self.weigh(&finding, whole, validators, invalid)
        } else if finding.effect == Effect::Neutral {
            (finding.level_if_safe, None)
        } else {
            (finding.level_if_safe, Some(Proof::Subsumed))
        };
        let safe = level != Level::Breaking && !matches!(proof, Some(Proof::Undecided(_)));
        let mut message = match finding.message_if_safe {
            Some(message) if safe || matches!(whole, Whole::ShownIfDeclared) => message,
            _ => finding.message,
        };
        if level == Level::Risky && matches!(proof, Some(Proof::Undecided(_))) && !safe {
            message.push_str(" (whether a call breaks could not be decided)");
        }
        SchemaChange {
            rule: finding.family.rule(self.side),
            pointer: finding.pointer,
            old: finding.old,
            new: finding.new,
            level,
            exposure: finding.exposure,
            proof,
            message,
        }
    }

    fn weigh(
        &self,
        finding: &Finding,
        whole: &Whole,
        validators: Option<&Validators>,
        invalid: Option<&Problem>,
    ) -> (Level, Option<Proof>) {
        if let Some(problem) = finding.problem.as_ref().or(invalid) {
            return (Level::Risky, Some(Proof::Undecided(problem.to_string())));
        }
        match whole {
            Whole::Shown => return (finding.level_if_safe, Some(Proof::Subsumed)),
            Whole::ShownIfDeclared => {
                let proof = match self.local(finding, &self.published) {
                    Ok(()) => Proof::Subsumed,
                    Err(_) => Proof::Undecided(OPEN_RESULT.to_owned()),
                };
                return (finding.level_if_safe, Some(proof));
            }
            Whole::NotShown(_) => {}
        }
        if let Some(witness) = validators.and_then(|it| self.search(it).for_finding(finding)) {
            return (Level::Breaking, Some(Proof::Witness(witness)));
        }
        match self.local(finding, &self.closed) {
            Ok(()) => (finding.level_if_safe, Some(Proof::Subsumed)),
            Err(problem) => (Level::Risky, Some(Proof::Undecided(problem.to_string()))),
        }
    }

    fn search<'a>(&'a self, validators: &'a Validators) -> Search<'a> {
        Search {
            sender: &self.closed,
            receiver: &self.receiver,
            patterns: &self.patterns,
            validators,
            constants: &self.constants,
            budget: &self.tries,
            cost: self.try_cost,
        }
    }

    /// The question, asked at the finding's own place.
    fn local(&self, finding: &Finding, sender: &Document) -> Result<(), Problem> {
        let (sender_at, receiver_at) = match self.side {
            Side::Input => (&finding.site.0, &finding.site.1),
            Side::Output => (&finding.site.1, &finding.site.0),
        };
        let gone = || Problem::Other("the place has no counterpart in the other schema".into());
        let mine = sender.at(sender_at).ok_or_else(gone)?;
        let theirs = self.receiver.at(receiver_at).ok_or_else(gone)?;
        let question = self.question(sender);
        let stake = stake(finding.family, self.side);
        if stake == Stake::UndeclaredMembers {
            let rest = View::of(sender, mine)?.rest();
            for wanted in View::of(&self.receiver, theirs)?.rest() {
                Structural::show_all(&question, &rest, wanted)?;
            }
            return Ok(());
        }
        let Some(member) = &finding.member else {
            return Structural::show(&question, mine, theirs);
        };
        // Whether a member is there is a matter of the whole object; what it holds is a matter of the member.
        let about_presence = match stake {
            Stake::Presence => true,
            Stake::PresenceIfRequired => theirs_requires(&self.receiver, theirs, member),
            Stake::Value | Stake::UndeclaredMembers => false,
        };
        if about_presence {
            return Structural::show(&question, mine, theirs);
        }
        let mine = View::of(sender, mine)?;
        let theirs = View::of(&self.receiver, theirs)?;
        let nodes = mine.member(member, &self.patterns);
        for wanted in theirs.member(member, &self.patterns) {
            Structural::show_all(&question, &nodes, wanted)?;
        }
        Ok(())
    }

    /// The verdict for the pair, with a last attempt where nothing was shown.
    fn settle(
        &self,
        changes: &mut Vec<SchemaChange>,
        verdict: &mut Proof,
        whole: &Whole,
        validators: Option<&Validators>,
    ) {
        let witness = changes.iter().find_map(|change| match &change.proof {
            Some(proof @ Proof::Witness(_)) => Some(proof.clone()),
            _ => None,
        });
        if let Some(witness) = witness {
            *verdict = witness;
            return;
        }
        let (Whole::NotShown(problem), Some(validators)) = (whole, validators) else {
            return;
        };
        let sender = match self.side {
            Side::Input => &self.closed,
            Side::Output => &self.published,
        };
        let question = self.question(sender);
        if Algebra.prove(&question) == Answer::Subsumed {
            *verdict = Proof::Subsumed;
            for change in changes.iter_mut() {
                if matches!(change.proof, Some(Proof::Undecided(_))) {
                    change.proof = Some(Proof::Subsumed);
                    change.level = change.level.min(Level::Additive);
                }
            }
            return;
        }
        if let Answer::Counterexample(witness) = self.search(validators).prove(&question) {
            let proof = Proof::Witness(witness);
            *verdict = proof.clone();
            let suspect = changes
                .iter_mut()
                .find(|change| matches!(change.proof, Some(Proof::Undecided(_))));
            match suspect {
                Some(change) => {
                    change.level = Level::Breaking;
                    change.proof = Some(proof);
                }
                None => changes.push(SchemaChange {
                    rule: Family::SchemaUnclassified.rule(self.side),
                    pointer: String::new(),
                    old: None,
                    new: None,
                    level: Level::Breaking,
                    exposure: crate::judgement::Exposure::None,
                    proof: Some(proof),
                    message:
                        "the changes above break a call together, though none of them does so alone"
                            .to_owned(),
                }),
            }
            return;
        }
        *verdict = Proof::Undecided(problem.to_string());
    }
}

/// The values that a schema singles out anywhere: conditions ask for them.
fn constants(document: &Document) -> Vec<Json> {
    let mut found: Vec<Json> = Vec::new();
    each_schema(&document.root, &mut |node| {
        let listed = node.get("enum").and_then(Json::as_array).unwrap_or(&[]);
        for value in node.get("const").into_iter().chain(listed) {
            if found.len() < 48 && !found.contains(value) {
                found.push(value.clone());
            }
        }
    });
    found
}

fn theirs_requires(document: &Document, node: &Json, member: &crate::canonical::Text) -> bool {
    View::of(document, node).is_ok_and(|view| view.required().contains(member))
}

fn spelling_change(old: &Json, new: &Json, side: Side) -> SchemaChange {
    let whole = old.same_value(new);
    SchemaChange {
        rule: Family::SchemaSpellingChanged.rule(side),
        pointer: String::new(),
        old: whole.then(|| old.clone()),
        new: whole.then(|| new.clone()),
        level: Level::Cosmetic,
        exposure: crate::judgement::Exposure::None,
        proof: Some(Proof::Subsumed),
        message: "members are listed in another order or numbers are spelled differently; the schema means the same".to_owned(),
    }
}

pub(crate) fn only_spelling(old: &Json, new: &Json, side: Side) -> Comparison {
    Comparison {
        changes: vec![spelling_change(old, new, side)],
        verdict: Proof::Subsumed,
    }
}

fn unexplained(old: &Json, new: &Json, gave_up: bool) -> Finding {
    Finding {
        family: Family::SchemaUnclassified,
        pointer: String::new(),
        new_pointer: String::new(),
        old: Some(old.clone()),
        new: Some(new.clone()),
        effect: Effect::Either,
        level_if_safe: Level::Cosmetic,
        exposure: crate::judgement::Exposure::None,
        message: if gave_up {
            "the schema differs in more places than are reported one by one".to_owned()
        } else {
            "the schema changed in a way that no rule describes".to_owned()
        },
        message_if_safe: None,
        site: (String::new(), String::new()),
        steps: Vec::new(),
        receiver_steps: Vec::new(),
        member: None,
        partner: None,
        hints: Vec::new(),
        problem: None,
    }
}

//! From located findings to judged changes: the verdict on the pair decides the levels.
//!
//! First the pair is decided. Where every old call is shown to be accepted, no finding can break anything. Where a call
//! breaks, each finding that could hurt gets a witness of its own: a call that is refused because of it and would be
//! accepted without it. `breaking` is said with a witness in hand, or not at all, and the verdict on the pair always
//! reaches the changes: one of them carries the witness, or says that nothing could be decided.

use super::document::Document;
use super::family::{carries, of_keyword, relaxed, with_named_members};
use super::pair::{Open, Pair, Verdict};
use super::walk::{Effect, Finding, Walker};
use super::{Comparison, Family, SchemaChange, Side};
use crate::canonical::Json;
use crate::judgement::{Level, Proof};

/// What is said of a sender whose schema accepts nothing.
const NOTHING_SENT: &str =
    "the schema accepted nothing at all before, so that nothing can be shown";
/// What is said of a change beside others that break.
const NOT_ALONE: &str = "a call that would show this is refused because of another change already";

/// More witnesses than this are not looked for in one schema.
const MAX_WITNESSES: usize = 24;

struct Case<'p> {
    side: Side,
    open: &'p Open<'p>,
    verdict: &'p Verdict,
    findings: &'p [Finding],
    sender: &'p Document,
    receiver: &'p Document,
}

pub(crate) fn judge(old: &Json, new: &Json, side: Side) -> Comparison {
    let old_document = Document::new(old.clone());
    let new_document = Document::new(new.clone());
    let mut walker = Walker::new(&old_document, &new_document, side);
    walker.run();
    let spelling = walker.spelling;
    let gave_up = walker.gave_up;
    let mut findings = walker.findings;
    if gave_up || (findings.is_empty() && !spelling) {
        findings.push(unexplained(old, new, gave_up));
    }
    let pair = Pair::new(old, new, side);
    let open = pair.open();
    let verdict = pair.verdict(&open);
    let case = Case {
        side,
        open: &open,
        verdict: &verdict,
        findings: &findings,
        sender: &pair.reading.sender,
        receiver: &pair.reading.receiver,
    };
    let mut changes = Vec::new();
    if spelling {
        changes.push(spelling_change(old, new, side));
    }
    let first = changes.len();
    let mut witnesses = 0;
    let proofs: Vec<Option<Proof>> = findings
        .iter()
        .map(|finding| {
            let proof = case.weigh(finding, witnesses < MAX_WITNESSES);
            witnesses += usize::from(matches!(proof, Some(Proof::Witness(_))));
            proof
        })
        .collect();
    for (finding, proof) in findings.iter().zip(proofs) {
        changes.push(case.change(finding, proof));
    }
    case.settle(&findings, &mut changes, first);
    Comparison {
        changes,
        verdict: match verdict {
            Verdict::Subsumed => Proof::Subsumed,
            Verdict::Witness(witness) => Proof::Witness(witness),
            Verdict::Empty => Proof::Undecided(NOTHING_SENT.to_owned()),
            Verdict::Unknown(problem) => Proof::Undecided(problem.to_string()),
        },
    }
}

impl Case<'_> {
    fn suspect(&self, effect: Effect) -> bool {
        matches!(
            (self.side, effect),
            (_, Effect::Either) | (Side::Input, Effect::Narrows) | (Side::Output, Effect::Widens)
        )
    }

    /// What is known about one finding; none for what no validator reads.
    fn weigh(&self, finding: &Finding, search: bool) -> Option<Proof> {
        if finding.effect == Effect::Neutral {
            return None;
        }
        let undecided = |reason: String| Some(Proof::Undecided(reason));
        match self.verdict {
            Verdict::Empty => None,
            Verdict::Subsumed => Some(Proof::Subsumed),
            _ if !self.suspect(finding.effect) => Some(Proof::Subsumed),
            Verdict::Witness(known) => {
                let own = if search {
                    self.own_witness(finding, known)
                } else {
                    None
                };
                match own {
                    Some(witness) => Some(Proof::Witness(witness)),
                    None if self.covered(finding) => Some(Proof::Subsumed),
                    None => undecided(NOT_ALONE.to_owned()),
                }
            }
            Verdict::Unknown(problem) => {
                if self.covered(finding) {
                    return Some(Proof::Subsumed);
                }
                let problem = finding.problem.as_ref().unwrap_or(problem);
                undecided(problem.to_string())
            }
        }
    }

    /// A value that is refused because of a finding.
    fn own_witness(&self, finding: &Finding, known: &Json) -> Option<Json> {
        let relaxed = relaxed(self.receiver, self.sender, finding, self.side)?;
        let narrower = with_named_members(self.receiver, self.sender, finding, self.side);
        let own = self
            .open
            .witness_for(&relaxed, narrower.as_ref(), Some(known));
        if own.is_some() || narrower.is_some() {
            return own;
        }
        // Refused because of this one, whatever became of the others.
        let mut others = self.receiver.clone();
        for other in self.findings.iter().take(MAX_WITNESSES) {
            if !std::ptr::eq(other, finding)
                && self.suspect(other.effect)
                && let Some(without) =
                    super::family::relaxed(&others, self.sender, other, self.side)
            {
                others = without;
            }
        }
        self.open.witness_without_others(&others)
    }

    /// Whether nothing is lost at the finding's own place.
    fn covered(&self, finding: &Finding) -> bool {
        if !carries(finding.family) {
            return true;
        }
        let (sender_at, receiver_at) = match self.side {
            Side::Input => (&finding.site.0, &finding.site.1),
            Side::Output => (&finding.site.1, &finding.site.0),
        };
        let about_others = matches!(
            finding.family,
            Family::AdditionalPropertiesClosed | Family::AdditionalPropertiesOpened
        );
        // Where the sender names its members, it sends no others.
        if about_others
            && self.sender.at(sender_at).is_some_and(|node| {
                let shut = |keyword| matches!(node.get(keyword), None | Some(Json::Bool(false)));
                node.get("properties")
                    .and_then(Json::as_object)
                    .is_some_and(|it| !it.is_empty())
                    && shut("additionalProperties")
                    && shut("unevaluatedProperties")
            })
        {
            return true;
        }
        self.open.covered(sender_at, receiver_at)
    }

    /// Whether a finding is about a sender who sends nothing.
    fn proves_nothing(&self, finding: &Finding) -> bool {
        *self.verdict == Verdict::Empty && self.suspect(finding.effect)
    }

    fn change(&self, finding: &Finding, proof: Option<Proof>) -> SchemaChange {
        let level = match &proof {
            Some(Proof::Witness(_)) => Level::Breaking,
            Some(Proof::Undecided(_)) => Level::Risky,
            None if self.proves_nothing(finding) => finding.level_if_safe.max(Level::Risky),
            _ => finding.level_if_safe,
        };
        let safe = matches!(proof, None | Some(Proof::Subsumed));
        let mut message = match &finding.message_if_safe {
            Some(message) if safe => message.clone(),
            _ => finding.message.clone(),
        };
        if let Some(Proof::Undecided(reason)) = &proof
            && reason != NOT_ALONE
        {
            message.push_str(" (whether a call breaks could not be decided)");
        }
        if proof.is_none() && self.proves_nothing(finding) {
            message = format!("{message} ({NOTHING_SENT})");
        }
        SchemaChange {
            rule: finding.family.rule(self.side),
            pointer: finding.pointer.clone(),
            old: finding.old.clone(),
            new: finding.new.clone(),
            level,
            exposure: finding.exposure,
            proof,
            message,
        }
    }

    /// Sees to it that the verdict on the pair is said by one of the changes.
    fn settle(&self, findings: &[Finding], changes: &mut Vec<SchemaChange>, first: usize) {
        let said = |wanted: fn(&Proof) -> bool, changes: &[SchemaChange]| {
            changes
                .iter()
                .any(|it| it.proof.as_ref().is_some_and(wanted))
        };
        match self.verdict {
            Verdict::Subsumed | Verdict::Empty => {}
            Verdict::Witness(witness) => {
                if said(|it| matches!(it, Proof::Witness(_)), changes) {
                    return;
                }
                self.carry(findings, changes, first, witness);
            }
            Verdict::Unknown(problem) => {
                if said(|it| matches!(it, Proof::Undecided(_)), changes) {
                    return;
                }
                let reason = problem.to_string();
                // Of what does not concern validators nothing has to be decided.
                let concerned = findings.iter().enumerate().find(|(_, it)| {
                    it.effect != Effect::Neutral || it.family == Family::RefRestructured
                });
                match concerned {
                    Some((at, _)) => {
                        let change = &mut changes[first + at];
                        change.level = change.level.max(Level::Risky);
                        change.proof = Some(Proof::Undecided(reason));
                    }
                    None => changes.push(self.together(
                        Family::SchemaUnclassified,
                        Level::Risky,
                        Proof::Undecided(reason),
                        "the schema reads differently now, and whether a call breaks could not be decided",
                    )),
                }
            }
        }
    }

    /// Gives a witness that no finding has for its own to the one that it is about, or to a change of its own.
    fn carry(
        &self,
        findings: &[Finding],
        changes: &mut Vec<SchemaChange>,
        first: usize,
        witness: &Json,
    ) {
        let keyword = self.open.refusal(witness).map(|(keyword, _)| keyword);
        let named = of_keyword(keyword.as_deref().unwrap_or_default(), self.side);
        let candidates = || {
            findings
                .iter()
                .enumerate()
                .filter(|(_, it)| it.effect != Effect::Neutral && carries(it.family))
        };
        let alone = candidates().find(|(_, finding)| {
            !self.suspect(finding.effect) && self.own_witness(finding, witness).is_some()
        });
        let best = alone
            .or_else(|| candidates().find(|(_, it)| it.family == named))
            .or_else(|| candidates().find(|(_, it)| self.suspect(it.effect)))
            .or_else(|| candidates().next());
        let proof = Proof::Witness(witness.clone());
        match best {
            Some((at, finding)) => {
                let change = &mut changes[first + at];
                change.level = Level::Breaking;
                change.proof = Some(proof);
                change.message.clone_from(&finding.message);
            }
            None => changes.push(self.together(
                named,
                Level::Breaking,
                proof,
                "the changes break a call together, though none of them does so alone",
            )),
        }
    }

    fn together(&self, family: Family, level: Level, proof: Proof, message: &str) -> SchemaChange {
        SchemaChange {
            rule: family.rule(self.side),
            pointer: String::new(),
            old: None,
            new: None,
            level,
            exposure: crate::judgement::Exposure::None,
            proof: Some(proof),
            message: message.to_owned(),
        }
    }
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
        member: None,
        partner: None,
        problem: None,
    }
}

//! Judges located findings: the verdict on the pair decides the levels.
//!
//! First the pair is decided. If every old call is shown to be accepted, no finding can break
//! anything. If a call breaks, each finding that could be the cause gets its own witness: a call
//! that is rejected because of it and would be accepted without it. `breaking` always has a
//! witness, and the verdict on the pair always reaches the changes: one of them carries the
//! witness, or says that nothing could be decided.

use super::document::{Document, Problem};
use super::family::{carries, of_keyword, relax, relaxed, with_named_members};
use super::pair::{Alone, Open, Pair, Verdict};
use super::walk::{Effect, SchemaFinding, Walker};
use super::{Family, SchemaChange, SchemaComparison, Side, Work};
use crate::canonical::Json;
use crate::judgement::{Level, Proof};
use crate::sentences::schema::{self as sentences, NOT_ALONE};

/// At most this many witnesses are searched for per schema.
const MAX_WITNESSES: usize = 160;

enum Known {
    /// Nothing: validators ignore it, or nothing is sent.
    Nothing,
    Proof(Proof),
    /// It breaks calls, but others already reject each of them: none of them is about this one.
    RefusedAnyway,
}

struct Case<'p> {
    side: Side,
    open: &'p Open<'p>,
    verdict: &'p Verdict,
    findings: &'p [SchemaFinding],
    sender: &'p Document,
    receiver: &'p Document,
}

pub(crate) fn judge(old: &Json, new: &Json, side: Side, work: &Work) -> SchemaComparison {
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
    let pair = Pair::new(old, new, side, work.left());
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
    for finding in &findings {
        let known = case.weigh(finding, witnesses < MAX_WITNESSES);
        if matches!(known, Known::Proof(Proof::Subsumed)) && case.changes_nothing(finding) {
            changes.push(case.change(&without_effect(finding), known));
            continue;
        }
        witnesses += usize::from(matches!(known, Known::Proof(Proof::Witness(_))));
        changes.push(case.change(finding, known));
    }
    case.settle(&findings, &mut changes, first);
    work.take(pair.steps());
    SchemaComparison {
        changes,
        verdict: proof_of(verdict, side),
    }
}

/// The verdict on a pair alone.
pub(crate) fn verdict(old: &Json, new: &Json, side: Side, work: &Work) -> Proof {
    let pair = Pair::new(old, new, side, work.left());
    let verdict = pair.verdict(&pair.open());
    work.take(pair.steps());
    proof_of(verdict, side)
}

fn proof_of(verdict: Verdict, side: Side) -> Proof {
    match verdict {
        Verdict::Subsumed => Proof::Subsumed,
        Verdict::Witness(witness) => Proof::Witness(witness),
        Verdict::Empty => Proof::Undecided(sentences::no_value(side)),
        Verdict::Unknown(problem) => Proof::Undecided(problem.to_string()),
    }
}

impl Case<'_> {
    fn suspect(&self, effect: Effect) -> bool {
        matches!(
            (self.side, effect),
            (_, Effect::Either) | (Side::Input, Effect::Narrows) | (Side::Output, Effect::Widens)
        )
    }

    /// What is known about one finding.
    fn weigh(&self, finding: &SchemaFinding, search: bool) -> Known {
        if finding.effect == Effect::Neutral {
            return Known::Nothing;
        }
        let undecided = |reason: String| Known::Proof(Proof::Undecided(reason));
        match self.verdict {
            Verdict::Empty => Known::Nothing,
            Verdict::Subsumed => Known::Proof(Proof::Subsumed),
            _ if !self.suspect(finding.effect) => Known::Proof(Proof::Subsumed),
            Verdict::Witness(known) => {
                let own = if search {
                    self.own_witness(finding, known)
                } else {
                    Alone::Unknown
                };
                match own {
                    Alone::Refuses(witness) => Known::Proof(Proof::Witness(witness)),
                    Alone::AcceptsAll => Known::Proof(Proof::Subsumed),
                    Alone::RefusesToo => Known::RefusedAnyway,
                    Alone::Unknown if self.covered(finding) => Known::Proof(Proof::Subsumed),
                    Alone::Unknown => undecided(NOT_ALONE.to_owned()),
                }
            }
            Verdict::Unknown(problem) => {
                if self.covered(finding) {
                    return Known::Proof(Proof::Subsumed);
                }
                let problem = finding.problem.as_ref().unwrap_or(problem);
                undecided(problem.to_string())
            }
        }
    }

    /// A witness for a finding.
    fn own_witness(&self, finding: &SchemaFinding, known: &Json) -> Alone {
        if self.open.exhausted() {
            return Alone::Unknown;
        }
        let Some(relaxed) = relaxed(self.receiver, self.sender, finding, self.side) else {
            return Alone::Unknown;
        };
        let narrower = with_named_members(self.receiver, self.sender, finding, self.side);
        let own = self
            .open
            .witness_for(&relaxed, narrower.as_ref(), Some(known));
        if let Some(witness) = own {
            return Alone::Refuses(witness);
        }
        // Whether it is rejected because of this one, whatever happened to the others.
        let mut others = self.receiver.clone();
        let at = |it: &SchemaFinding| match self.side {
            Side::Input => it.site.1.clone(),
            Side::Output => it.site.0.clone(),
        };
        let own_place = at(finding);
        for other in self.findings {
            if self.open.exhausted() {
                return Alone::Unknown;
            }
            // A finding about the same place would take this one with it.
            let around = other.member.is_none() && own_place.starts_with(&at(other));
            if !std::ptr::eq(other, finding) && !around && self.suspect(other.effect) {
                self.open.charge_for_relaxing();
                relax(&mut others, self.sender, other, self.side);
            }
        }
        let mut without = others.clone();
        relax(&mut without, self.sender, finding, self.side);
        match self.open.alone(&others, &without) {
            // A call that is rejected without this one too is not about it.
            Alone::Refuses(witness) if !self.open.accepts(&relaxed, &witness) => Alone::RefusesToo,
            alone => alone,
        }
    }

    /// Whether nothing is lost at the finding's own place.
    fn covered(&self, finding: &SchemaFinding) -> bool {
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
        // If the sender names its members, it sends no others.
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

    /// Whether a finding is another spelling of the same values: a bound, a pattern, a type.
    fn changes_nothing(&self, finding: &SchemaFinding) -> bool {
        let can_be_spelling = matches!(
            finding.family,
            Family::BoundTightened
                | Family::BoundLoosened
                | Family::PatternAdded
                | Family::PatternChanged
                | Family::PatternRemoved
                | Family::PropertyTypeChanged
                | Family::PropertyTypeNarrowed
                | Family::PropertyTypeWidened
                | Family::NullableAdded
                | Family::NullableRemoved
                | Family::ConstChanged
                | Family::EnumValueAdded
                | Family::EnumValueRemoved
                | Family::ItemsChanged
                | Family::AdditionalPropertiesClosed
                | Family::AdditionalPropertiesOpened
                | Family::PropertyNamesChanged
                | Family::NotChanged
        );
        let (sender_at, receiver_at) = match self.side {
            Side::Input => (&finding.site.0, &finding.site.1),
            Side::Output => (&finding.site.1, &finding.site.0),
        };
        can_be_spelling && self.open.same_values(sender_at, receiver_at)
    }

    /// Whether a finding is about a sender that sends nothing.
    fn proves_nothing(&self, finding: &SchemaFinding) -> bool {
        *self.verdict == Verdict::Empty && self.suspect(finding.effect)
    }

    /// What a finding that breaks says. What usually allows more needs a reason.
    fn breaking(&self, finding: &SchemaFinding) -> String {
        let message = &finding.message;
        match (finding.family, self.side) {
            (Family::PropertyAddedOptional, Side::Input)
            | (Family::PropertyRemoved, Side::Output) => {
                sentences::name_was_free(message, self.side)
            }
            (Family::UnionBranchAdded, Side::Input)
            | (Family::UnionBranchRemoved, Side::Output) => sentences::branches_overlap(message),
            _ => message.clone(),
        }
    }

    fn change(&self, finding: &SchemaFinding, known: Known) -> SchemaChange {
        let own = || finding.message.clone();
        let harmless = || finding.message_if_safe.clone().unwrap_or_else(own);
        let (level, message) = match &known {
            Known::Proof(Proof::Witness(_)) => (Level::Breaking, self.breaking(finding)),
            Known::Proof(Proof::Undecided(_)) => (Level::Risky, sentences::undecided(&own())),
            Known::Proof(Proof::Subsumed) => (finding.level_if_safe, harmless()),
            Known::RefusedAnyway => (Level::Risky, sentences::refused_anyway(&own())),
            Known::Nothing if self.proves_nothing(finding) => (
                finding.level_if_safe.max(Level::Risky),
                sentences::nothing_sent(&harmless(), self.side),
            ),
            Known::Nothing => (finding.level_if_safe, harmless()),
        };
        let proof = match known {
            Known::Proof(proof) => Some(proof),
            Known::RefusedAnyway | Known::Nothing => None,
        };
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

    /// Makes sure that one of the changes carries the verdict on the pair.
    fn settle(&self, findings: &[SchemaFinding], changes: &mut Vec<SchemaChange>, first: usize) {
        let is_carried = |wanted: fn(&Proof) -> bool, changes: &[SchemaChange]| {
            changes
                .iter()
                .any(|it| it.proof.as_ref().is_some_and(wanted))
        };
        match self.verdict {
            Verdict::Subsumed | Verdict::Empty => {}
            Verdict::Witness(witness) => {
                if is_carried(|it| matches!(it, Proof::Witness(_)), changes) {
                    return;
                }
                self.carry(findings, changes, first, witness);
            }
            Verdict::Unknown(problem) => {
                if is_carried(|it| matches!(it, Proof::Undecided(_)), changes) {
                    return;
                }
                let reason = problem.to_string();
                // What does not concern validators needs no decision.
                let concerned = findings.iter().enumerate().find(|(_, it)| {
                    it.effect != Effect::Neutral
                        || matches!(
                            it.family,
                            Family::RefRestructured
                                | Family::DialectChanged
                                | Family::DefinitionsChanged
                        )
                });
                match concerned {
                    Some((at, finding)) => {
                        let change = &mut changes[first + at];
                        change.level = change.level.max(Level::Risky);
                        change.proof = Some(Proof::Undecided(reason));
                        change.message = sentences::undecided(&finding.message);
                    }
                    None => changes.push(self.together(
                        Family::SchemaUnclassified,
                        Level::Risky,
                        Proof::Undecided(reason),
                        sentences::read_differently(),
                    )),
                }
            }
        }
    }

    /// Attaches a witness that belongs to no finding to the one that it is about, or to a new
    /// change.
    fn carry(
        &self,
        findings: &[SchemaFinding],
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
            !self.suspect(finding.effect)
                && matches!(self.own_witness(finding, witness), Alone::Refuses(_))
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
                change.message = self.breaking(finding);
            }
            None => changes.push(self.together(
                named,
                Level::Breaking,
                proof,
                sentences::break_together(),
            )),
        }
    }

    fn together(
        &self,
        family: Family,
        level: Level,
        proof: Proof,
        message: String,
    ) -> SchemaChange {
        SchemaChange {
            rule: family.rule(self.side),
            pointer: String::new(),
            old: None,
            new: None,
            level,
            exposure: crate::judgement::Exposure::None,
            proof: Some(proof),
            message,
        }
    }
}

/// A finding that is another spelling of the same values.
fn without_effect(finding: &SchemaFinding) -> SchemaFinding {
    let own = finding.message_if_safe.as_ref().unwrap_or(&finding.message);
    SchemaFinding {
        family: Family::EquivalentRestructured,
        level_if_safe: Level::Cosmetic,
        exposure: crate::judgement::Exposure::None,
        message: sentences::same_values(own),
        message_if_safe: None,
        ..finding.clone()
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
        message: sentences::order_or_numbers(),
    }
}

pub(crate) fn only_spelling(old: &Json, new: &Json, side: Side) -> SchemaComparison {
    SchemaComparison {
        changes: vec![spelling_change(old, new, side)],
        verdict: Proof::Subsumed,
    }
}

/// Two schemas that are too large to be compared: that they differ is all that is known, and a text in
/// them may be new.
pub(crate) fn too_large(old: &Json, new: &Json, side: Side) -> SchemaComparison {
    let finding = unexplained(old, new, false);
    SchemaComparison {
        changes: vec![SchemaChange {
            rule: finding.family.rule(side),
            pointer: finding.pointer,
            old: finding.old,
            new: finding.new,
            level: Level::Risky,
            exposure: crate::judgement::Exposure::High,
            proof: Some(too_large_to_decide()),
            message: sentences::undecided(&finding.message),
        }],
        verdict: too_large_to_decide(),
    }
}

pub(crate) fn too_large_to_decide() -> Proof {
    Proof::Undecided(Problem::TooLarge.to_string())
}

fn unexplained(old: &Json, new: &Json, gave_up: bool) -> SchemaFinding {
    SchemaFinding {
        family: Family::SchemaUnclassified,
        pointer: String::new(),
        new_pointer: String::new(),
        old: Some(old.clone()),
        new: Some(new.clone()),
        effect: Effect::Either,
        level_if_safe: Level::Cosmetic,
        exposure: crate::judgement::Exposure::None,
        message: if gave_up {
            sentences::too_many_differences()
        } else {
            sentences::schema_changed()
        },
        message_if_safe: None,
        site: (String::new(), String::new()),
        member: None,
        partner: None,
        problem: None,
    }
}

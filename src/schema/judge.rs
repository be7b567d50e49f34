//! Judges located findings: the verdict on the pair decides the levels.
//!
//! First the pair is decided. If every old call is shown to be accepted, no finding can break
//! anything. If a call breaks, each finding that could be the cause gets its own witness: a call
//! that is rejected because of it and would be accepted without it. `breaking` always has a
//! witness, and the verdict on the pair always reaches the changes: one of them carries the
//! witness, or says that nothing could be decided.

use super::family::{Exchange, can_break, of_keyword, with_named_members};
use super::walk::{Effect, SchemaFinding, Walker, is_reference, mentions};
use super::{Family, SchemaChange, SchemaComparison, Side, Work};
use crate::canonical::{Json, Text, pointer};
use crate::judgement::{Level, Proof};
use json_schema_subsume::document::Document;
use json_schema_subsume::keywords::{Topic, keyword};
use json_schema_subsume::kinds::Kinds;
use json_schema_subsume::pair::{Isolated, Open, Pair, Verdict};
use json_schema_subsume::{Limits, Reason};

/// For a change next to one that breaks calls.
const NOT_ALONE: &str =
    "another change breaks calls, and whether this one does too could not be decided";

/// Steps for the witnesses of all changes of a schema.
const STEPS_FOR_CHANGES: u64 = 150_000;
/// At most this many witnesses are searched for per schema.
const MAX_WITNESSES: usize = 160;

enum Known {
    /// Nothing: validators ignore it, or nothing is sent.
    Nothing,
    Proof(Proof),
    /// It breaks calls, but others already reject each of them: none of them is about this one.
    AlreadyRejected,
}

struct Case<'p> {
    side: Side,
    open: &'p Open<'p>,
    verdict: &'p Verdict,
    sender: &'p Document,
    receiver: &'p Document,
    /// What in either document makes that a change which allows more can refuse.
    polarity: Polarity,
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
    let pair = paired(old, new, side, work);
    let open = pair.open();
    let verdict = pair.verdict(&open);
    let case = Case {
        side,
        open: &open,
        verdict: &verdict,
        sender: &pair.reading.sender,
        receiver: &pair.reading.receiver,
        polarity: Polarity::of([&pair.reading.sender.root, &pair.reading.receiver.root]),
    };
    let mut changes = Vec::new();
    if spelling {
        changes.push(spelling_change(old, new, side));
    }
    let first = changes.len();
    let mut witnesses = 0;
    for finding in &findings {
        let known = case.classify(finding, witnesses < MAX_WITNESSES);
        if matches!(known, Known::Proof(Proof::Subsumed)) && case.changes_nothing(finding) {
            changes.push(case.change(&without_effect(finding), known));
            continue;
        }
        witnesses += usize::from(matches!(known, Known::Proof(Proof::Witness(_))));
        changes.push(case.change(finding, known));
    }
    case.ensure_verdict_reported(&findings, &mut changes, first);
    work.take(pair.steps());
    SchemaComparison {
        changes,
        verdict: proof_of(verdict, side),
    }
}

/// The verdict on a pair alone.
pub(crate) fn verdict(old: &Json, new: &Json, side: Side, work: &Work) -> Proof {
    let pair = paired(old, new, side, work);
    let verdict = pair.verdict(&pair.open());
    work.take(pair.steps());
    proof_of(verdict, side)
}

/// Callers send what the old schema declares, and servers what the new one does.
fn paired(old: &Json, new: &Json, side: Side, work: &Work) -> Pair {
    // If few steps are left for a server, verdicts come before the witnesses of single changes.
    let steps = Limits::default().steps.min(work.left());
    let steps_for_changes = STEPS_FOR_CHANGES.min(work.left() / 8);
    match side {
        // Arguments are an object; a result may be anything that its schema allows.
        Side::Input => Pair::new(old, new, Kinds::OBJECT, steps, steps_for_changes),
        Side::Output => Pair::new(new, old, Kinds::ANY, steps, steps_for_changes),
    }
}

fn proof_of(verdict: Verdict, side: Side) -> Proof {
    match verdict {
        Verdict::Subsumed => Proof::Subsumed,
        Verdict::Witness(witness) => Proof::Witness(witness),
        Verdict::Undecided(Reason::NothingSent) => Proof::Undecided(no_value(side)),
        Verdict::Undecided(problem) => Proof::Undecided(problem.to_string()),
    }
}

/// For a sender whose schema accepts nothing: callers send what the old one allows, servers what the
/// new one does.
fn no_value(side: Side) -> String {
    let which = match side {
        Side::Input => "old",
        Side::Output => "new",
    };
    format!("the {which} schema accepts no value, so there is nothing to prove")
}

impl Case<'_> {
    fn suspect(&self, effect: Effect) -> bool {
        matches!(
            (self.side, effect),
            (_, Effect::Either) | (Side::Input, Effect::Narrows) | (Side::Output, Effect::Widens)
        )
    }

    fn exchange<'f>(&self, finding: &'f SchemaFinding) -> Exchange<'f> {
        Exchange {
            finding,
            side: self.side,
        }
    }

    /// Whether a finding that usually allows more can refuse here.
    fn can_break_despite_widening(&self, finding: &SchemaFinding) -> bool {
        let (sender_at, receiver_at) = self.sites(finding);
        match finding.family {
            Family::PropertyAddedOptional => {
                return !finding
                    .member
                    .as_ref()
                    .is_some_and(|name| self.is_never_sent(name, sender_at));
            }
            Family::PatternPropertiesChanged | Family::DependencyChanged | Family::ItemsChanged => {
                return true;
            }
            _ => {}
        }
        let is_negated = |document: &Document, at: &str| {
            pointer::tokens(at).any(|token| changes_polarity(&token))
                || document
                    .at(at)
                    .is_some_and(|schema| mentions(schema, &changes_polarity))
        };
        self.polarity.around
            || (self.polarity.below
                && (self.polarity.references
                    || is_negated(self.sender, sender_at)
                    || is_negated(self.receiver, receiver_at)))
    }

    /// Whether senders cannot send a member of this name: their schema names others, and nothing opens it.
    fn is_never_sent(&self, name: &Text, at: &str) -> bool {
        let is_closed = self
            .sender
            .at(at)
            .and_then(|schema| schema.get("properties"))
            .and_then(Json::as_object)
            .is_some_and(|properties| !properties.is_empty() || at.is_empty());
        is_closed
            && !self.polarity.opened
            && !self.polarity.around
            && !mentions_name(&self.sender.root, name)
    }

    /// What is known about one finding.
    fn classify(&self, finding: &SchemaFinding, search: bool) -> Known {
        if finding.effect == Effect::Neutral {
            return Known::Nothing;
        }
        let undecided = |reason: String| Known::Proof(Proof::Undecided(reason));
        let suspect = self.suspect(finding.effect);
        let subsumed = Known::Proof(Proof::Subsumed);
        match self.verdict {
            Verdict::Undecided(Reason::NothingSent) => Known::Nothing,
            Verdict::Subsumed => subsumed,
            _ if !can_break(finding.family) => subsumed,
            _ if !suspect && !self.can_break_despite_widening(finding) => subsumed,
            Verdict::Witness(known) => {
                let own = if !search {
                    Isolated::Unknown
                } else if !suspect && matches!(self.alone(finding), Isolated::AcceptsAll) {
                    Isolated::AcceptsAll
                } else {
                    self.own_witness(finding, known)
                };
                match own {
                    Isolated::Rejects(witness) => Known::Proof(Proof::Witness(witness)),
                    Isolated::AcceptsAll => subsumed,
                    Isolated::AlsoRejects => Known::AlreadyRejected,
                    Isolated::Unknown if self.covered(finding) => subsumed,
                    Isolated::Unknown => undecided(NOT_ALONE.to_owned()),
                }
            }
            Verdict::Undecided(problem) => {
                if matches!(self.alone(finding), Isolated::AcceptsAll) || self.covered(finding) {
                    return subsumed;
                }
                let problem = finding.problem.as_ref().unwrap_or(problem);
                undecided(problem.to_string())
            }
        }
    }

    /// What a finding does by itself.
    fn alone(&self, finding: &SchemaFinding) -> Isolated {
        let exchange = self.exchange(finding);
        self.open.alone(
            &|sender, receiver| exchange.only(sender, receiver),
            &|sender, receiver| exchange.place(sender, receiver),
        )
    }

    /// A witness for a finding.
    fn own_witness(&self, finding: &SchemaFinding, known: &Json) -> Isolated {
        if self.open.exhausted() {
            return Isolated::Unknown;
        }
        let reverted = self.exchange(finding).reverted(self.sender, self.receiver);
        let Some(reverted) = reverted else {
            return Isolated::Unknown;
        };
        let narrower = with_named_members(self.receiver, self.sender, finding, self.side);
        let own = self
            .open
            .witness_for(&reverted, narrower.as_ref(), Some(known));
        if let Some(witness) = own.filter(|witness| self.open.holds(witness)) {
            return Isolated::Rejects(witness);
        }
        // Whether it is rejected because of this one, whatever happened to the others.
        match self.alone(finding) {
            // A call that is rejected without this one too is not about it.
            Isolated::Rejects(witness) if self.open.accepts(&reverted, &witness) != Some(true) => {
                Isolated::AlsoRejects
            }
            alone => alone,
        }
    }

    fn sites<'f>(&self, finding: &'f SchemaFinding) -> (&'f str, &'f str) {
        let (old, new) = &finding.site;
        match self.side {
            Side::Input => (old, new),
            Side::Output => (new, old),
        }
    }

    /// Whether nothing is lost at the finding's own place, where nothing else applies.
    fn covered(&self, finding: &SchemaFinding) -> bool {
        let (sender_at, receiver_at) = self.sites(finding);
        if self.polarity.around
            || !is_reached_plainly(&self.sender.root, sender_at)
            || !is_reached_plainly(&self.receiver.root, receiver_at)
        {
            return false;
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
                | Family::CompositionChanged
                | Family::SchemaUnclassified
        );
        let (sender_at, receiver_at) = self.sites(finding);
        let exchange = self.exchange(finding);
        let only = |sender: &Document, receiver: &Document| exchange.only(sender, receiver);
        let behind_reference =
            finding.family == Family::CompositionChanged && finding.written.is_some();
        can_be_spelling
            && self
                .open
                .same_values(sender_at, receiver_at, &only, behind_reference)
    }

    /// Whether a finding is about a sender that sends nothing.
    fn proves_nothing(&self, finding: &SchemaFinding) -> bool {
        *self.verdict == Verdict::Undecided(Reason::NothingSent) && self.suspect(finding.effect)
    }

    /// What a finding that breaks says. What usually allows more needs a reason.
    fn breaking(&self, finding: &SchemaFinding, witness: &Json) -> String {
        let message = &finding.message;
        let refusal = || self.open.refusal(witness).map(|(keyword, _)| keyword);
        match (finding.family, self.side) {
            (Family::PropertyAddedOptional, Side::Input)
            | (Family::PropertyRemoved, Side::Output) => {
                // The other side allows anything under its name.
                match self.side {
                    Side::Input => {
                        format!("{message}; before, any value was allowed under this name")
                    }
                    Side::Output => format!("{message}; any value may come under this name now"),
                }
            }
            (Family::UnionBranchAdded, Side::Input)
            | (Family::UnionBranchRemoved, Side::Output) => branches_overlap(message),
            _ if self.suspect(finding.effect) => message.clone(),
            _ => match refusal().as_deref() {
                Some("oneOf") => branches_overlap(message),
                // A schema that is `false` has no keyword.
                Some("falseSchema") | None => message.clone(),
                Some(keyword) => format!("{message}; refused by `{keyword}`"),
            },
        }
    }

    fn change(&self, finding: &SchemaFinding, known: Known) -> SchemaChange {
        let own = || finding.message.clone();
        let harmless = || finding.message_if_safe.clone().unwrap_or_else(own);
        let (level, message) = match &known {
            Known::Proof(Proof::Witness(witness)) => {
                (Level::Breaking, self.breaking(finding, witness))
            }
            Known::Proof(Proof::Undecided(_)) => (Level::Risky, undecided(&own())),
            Known::Proof(Proof::Subsumed) => (finding.level_if_safe, harmless()),
            Known::AlreadyRejected => (
                Level::Risky,
                format!(
                    "{} (breaks calls by itself too; another change already refuses them)",
                    own()
                ),
            ),
            Known::Nothing if self.proves_nothing(finding) => (
                finding.level_if_safe.max(Level::Risky),
                format!("{} ({})", harmless(), no_value(self.side)),
            ),
            Known::Nothing => (finding.level_if_safe, harmless()),
        };
        let proof = match known {
            Known::Proof(proof) => Some(proof),
            Known::AlreadyRejected | Known::Nothing => None,
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
    fn ensure_verdict_reported(
        &self,
        findings: &[SchemaFinding],
        changes: &mut Vec<SchemaChange>,
        first: usize,
    ) {
        let is_carried = |wanted: fn(&Proof) -> bool, changes: &[SchemaChange]| {
            changes
                .iter()
                .any(|change| change.proof.as_ref().is_some_and(wanted))
        };
        match self.verdict {
            Verdict::Subsumed | Verdict::Undecided(Reason::NothingSent) => {}
            Verdict::Witness(witness) => {
                if is_carried(|proof| matches!(proof, Proof::Witness(_)), changes) {
                    return;
                }
                self.carry(findings, changes, first, witness);
            }
            Verdict::Undecided(problem) => {
                if is_carried(|proof| matches!(proof, Proof::Undecided(_)), changes) {
                    return;
                }
                // What one draft ignores beside a reference and another does not is where they differ.
                let by_draft = matches!(
                    problem,
                    Reason::DraftDecides | Reason::ValidatorsDiffer("$ref")
                );
                let read_by_draft = findings.iter().enumerate().find(|(_, finding)| {
                    let reference = |node: &Option<Json>| node.as_ref()?.get("$ref").cloned();
                    by_draft
                        && finding.family == Family::RefRestructured
                        && reference(&finding.old).is_some()
                        && reference(&finding.old) == reference(&finding.new)
                });
                // What does not concern validators needs no decision.
                let concerned = read_by_draft.or_else(|| {
                    findings.iter().enumerate().find(|(_, finding)| {
                        finding.effect != Effect::Neutral
                            || matches!(
                                finding.family,
                                Family::RefRestructured
                                    | Family::DialectChanged
                                    | Family::DefinitionsChanged
                            )
                    })
                });
                match concerned {
                    Some((at, finding)) => {
                        let change = &mut changes[first + at];
                        change.level = change.level.max(Level::Risky);
                        change.proof = Some(Proof::Undecided(problem.to_string()));
                        change.message = undecided(&finding.message);
                    }
                    None => changes.push(self.together(
                        Family::SchemaUnclassified,
                        Level::Risky,
                        Proof::Undecided(problem.to_string()),
                        "the schema is read differently, and whether a call breaks could not be decided".to_owned(),
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
            findings.iter().enumerate().filter(|(_, finding)| {
                finding.effect != Effect::Neutral && can_break(finding.family)
            })
        };
        let alone = candidates().find_map(|(at, finding)| {
            let surprising = !self.suspect(finding.effect);
            match surprising.then(|| self.own_witness(finding, witness)) {
                Some(Isolated::Rejects(own)) => Some((at, finding, own)),
                _ => None,
            }
        });
        // Nothing is said to break without which the call is refused as well, unless it refuses the call by itself.
        let concerns = |finding: &SchemaFinding| {
            let exchange = self.exchange(finding);
            let reverted = exchange.reverted(self.sender, self.receiver);
            let only = || exchange.only(self.sender, self.receiver);
            reverted.is_some_and(|receiver| self.open.accepts(&receiver, witness) == Some(true))
                || only().is_some_and(|only| self.open.accepts(&only, witness) == Some(false))
        };
        let best = alone.or_else(|| {
            let mut ordered: Vec<_> = candidates().collect();
            ordered.sort_by_key(|(_, finding)| {
                (finding.family != named, !self.suspect(finding.effect))
            });
            // A few are looked at even if no step is left.
            ordered
                .into_iter()
                .enumerate()
                .take_while(|(index, _)| *index < 8 || !self.open.exhausted())
                .map(|(_, candidate)| candidate)
                .find(|(_, finding)| concerns(finding))
                .map(|(at, finding)| (at, finding, witness.clone()))
        });
        match best {
            Some((at, finding, witness)) => {
                let change = &mut changes[first + at];
                change.level = Level::Breaking;
                change.message = self.breaking(finding, &witness);
                change.proof = Some(Proof::Witness(witness));
            }
            None => changes.push(self.together(
                named,
                Level::Breaking,
                Proof::Witness(witness.clone()),
                if candidates().nth(1).is_some() {
                    "the changes together break a call, although none does so alone".to_owned()
                } else {
                    match self.side {
                        Side::Input => "the new schema refuses a call that the old one allows",
                        Side::Output => "the old schema refuses a result that the new one allows",
                    }
                    .to_owned()
                },
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

/// A sentence about a change that could not be decided.
fn undecided(sentence: &str) -> String {
    format!("{sentence} (whether a call breaks could not be decided)")
}

/// Why one alternative more can break.
fn branches_overlap(message: &str) -> String {
    format!("{message}; values that match two alternatives of oneOf are refused")
}

/// Whether a keyword makes what is around it refuse more if a schema inside accepts more.
fn changes_polarity(name: &str) -> bool {
    keyword(name).is_some_and(|keyword| keyword.changes_polarity)
}

/// Keywords of two documents by which a change that allows more can refuse.
struct Polarity {
    /// `unevaluated…`: what one schema does is a matter of all others.
    around: bool,
    /// A keyword that changes the polarity of what is inside.
    below: bool,
    references: bool,
    /// Members that nothing names can be sent.
    opened: bool,
}

impl Polarity {
    fn of(roots: [&Json; 2]) -> Self {
        let either =
            |wanted: &dyn Fn(&str) -> bool| roots.iter().any(|root| mentions(root, wanted));
        Self {
            around: either(&|name| ["unevaluatedProperties", "unevaluatedItems"].contains(&name)),
            below: either(&changes_polarity),
            references: either(&is_reference),
            opened: mentions(roots[0], &|name| name == "patternProperties") || opens(roots[0]),
        }
    }
}

/// Whether members may be sent anywhere that no schema names.
fn opens(json: &Json) -> bool {
    match json {
        Json::Object(object) => object.iter().any(|(name, value)| {
            (name == "additionalProperties" && *value != Json::Bool(false)) || opens(value)
        }),
        Json::Array(items) => items.iter().any(opens),
        _ => false,
    }
}

/// Whether a name is that of a member anywhere inside, or is listed.
fn mentions_name(json: &Json, name: &Text) -> bool {
    match json {
        Json::Object(object) => object
            .iter()
            .any(|(member, value)| member == name || mentions_name(value, name)),
        Json::Array(items) => items
            .iter()
            .any(|item| item.as_text() == Some(name) || mentions_name(item, name)),
        _ => false,
    }
}

/// Whether only `properties` and `items` lead to a place, so that no other schema applies there.
fn is_reached_plainly(root: &Json, at: &str) -> bool {
    let applies_alongside = |name: &str| {
        let Some(keyword) = keyword(name) else {
            return false;
        };
        match keyword.topic {
            Topic::Reference => true,
            Topic::Conjunction
            | Topic::Alternatives
            | Topic::Not
            | Topic::Condition
            | Topic::Contains
            | Topic::Dependencies => !keyword.holds.is_empty(),
            _ => name == "patternProperties",
        }
    };
    let mut node = root;
    let mut tokens = pointer::tokens(at);
    while let Some(keyword) = tokens.next() {
        let Some(object) = node.as_object() else {
            return false;
        };
        let mut names = object.iter().filter_map(|(name, _)| name.as_str());
        if names.any(applies_alongside) {
            return false;
        }
        let inside = match (keyword.as_str(), object.get(&keyword)) {
            ("properties", Some(Json::Object(members))) => {
                tokens.next().and_then(|name| members.get(&name))
            }
            ("items", items) => items,
            _ => None,
        };
        match inside {
            Some(inside) => node = inside,
            None => return false,
        }
    }
    true
}

/// A finding that is another spelling of the same values.
fn without_effect(finding: &SchemaFinding) -> SchemaFinding {
    let own = finding.message_if_safe.as_ref().unwrap_or(&finding.message);
    // Without what it would have done.
    let what_differs = own.split("; ").next().unwrap_or(own);
    SchemaFinding {
        family: Family::EquivalentRestructured,
        level_if_safe: Level::Cosmetic,
        exposure: crate::judgement::Exposure::None,
        message: format!("{what_differs} (same values)"),
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
        message: "order of members or spelling of numbers (same meaning)".to_owned(),
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
            message: undecided(&finding.message),
        }],
        verdict: too_large_to_decide(),
    }
}

pub(crate) fn too_large_to_decide() -> Proof {
    Proof::Undecided(Reason::TooLarge.to_string())
}

fn unexplained(old: &Json, new: &Json, gave_up: bool) -> SchemaFinding {
    SchemaFinding {
        family: Family::SchemaUnclassified,
        pointer: String::new(),
        new_pointer: String::new(),
        old: Some(old.clone()),
        new: Some(new.clone()),
        effect: Effect::Either,
        level_if_safe: Level::Additive,
        exposure: crate::judgement::Exposure::None,
        message: if gave_up {
            "the schema differs in more places than are reported one by one".to_owned()
        } else {
            "the schema changed in a way that no rule describes".to_owned()
        },
        message_if_safe: None,
        site: (String::new(), String::new()),
        written: None,
        branch: None,
        member: None,
        partner: None,
        problem: None,
    }
}

//! The search for a witness: an instance that the sender lets through and the receiver refuses.
//!
//! A witness is built for one finding. It has the required members, what the finding needs and nothing else; it
//! is refused because of the finding and not for another reason; and the validator has confirmed both.

use super::Family;
use super::document::Document;
use super::example_values::SHAPES;
use super::family::keywords_for;
use super::prove::view::{Kind, View};
use super::prove::{Answer, Budget, Patterns, Prover, Question};
use super::sample::{Sampler, Step, beside, stretched};
use super::validator::{Refusal, Validators};
use super::walk::Finding;
use crate::canonical::{Json, Object, pointer};

/// How many instances are tried for one finding, and for a whole pair.
const TRIES: usize = 240;
const LAST_TRIES: usize = 600;
/// Longer texts and arrays do not make a readable witness.
const MAX_LENGTH: u64 = 2_000;

pub(crate) struct Search<'a> {
    pub(crate) sender: &'a Document,
    pub(crate) receiver: &'a Document,
    pub(crate) patterns: &'a Patterns,
    pub(crate) validators: &'a Validators,
    /// Values that the receiver singles out.
    pub(crate) constants: &'a [Json],
    pub(crate) budget: &'a Budget,
    /// What building and trying one instance takes from the budget.
    pub(crate) cost: usize,
}

/// What a refusal has to be about.
struct Aim {
    /// The place in the instance; `*` stands for any member.
    at: Vec<String>,
    member: Option<String>,
    partner: Option<String>,
    /// The keywords that may refuse at the place itself; empty where any may, there and below.
    keywords: &'static [&'static str],
}

/// Keywords that speak for everything below them.
const UNIONS: &[&str] = &["anyOf", "oneOf", "not", "if", "contains", "falseSchema"];

impl Aim {
    fn of(finding: &Finding) -> Self {
        let at = finding
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Member(name) => Some(name.to_string_lossy().to_owned()),
                Step::Extra => Some("*".to_owned()),
                Step::Item(index) => Some(index.to_string()),
                Step::Branch(..) => None,
            })
            .collect();
        Self {
            at,
            member: finding
                .member
                .as_ref()
                .map(|it| it.to_string_lossy().to_owned()),
            partner: finding
                .partner
                .as_ref()
                .map(|it| it.to_string_lossy().to_owned()),
            keywords: match finding.steps.last() {
                // Whatever refuses the member that nobody named.
                Some(Step::Extra) if finding.family != Family::PropertyNamesChanged => &[],
                _ => keywords_for(finding.family),
            },
        }
    }

    /// Whether one of the refusals is about the place.
    fn met(&self, refusals: &[Refusal], declared: &[String]) -> bool {
        refusals
            .iter()
            .any(|refusal| self.is_about(refusal, declared))
    }

    fn is_about(&self, refusal: &Refusal, declared: &[String]) -> bool {
        let at: Vec<String> = pointer::tokens(&refusal.at).collect();
        let shared = at
            .iter()
            .zip(&self.at)
            .all(|(one, other)| one == other || other == "*");
        if !shared {
            return false;
        }
        let union = UNIONS.contains(&refusal.keyword.as_str());
        if at.len() < self.at.len() {
            // The place itself is refused by the object or the union around it.
            let next = &self.at[at.len()];
            let unexpected = refusal.keyword != "required"
                && refusal
                    .names
                    .iter()
                    .any(|name| name == next || (next == "*" && !declared.contains(name)));
            let missing_partner = refusal.keyword == "required"
                && self
                    .partner
                    .as_ref()
                    .is_some_and(|it| refusal.names.contains(it));
            let by_name =
                refusal.keyword == "propertyNames" && self.keywords.contains(&"propertyNames");
            let around = at.len() + 1 == self.at.len();
            return union || (around && (unexpected || missing_partner || by_name));
        }
        if self.keywords.is_empty() {
            return match &self.member {
                // About a member that is missing, or about everything at the member itself.
                Some(member) if refusal.keyword == "required" && at.len() == self.at.len() => {
                    refusal.names.contains(member)
                }
                _ => true,
            };
        }
        if at.len() > self.at.len() {
            return false;
        }
        match refusal.keyword.as_str() {
            "required" => {
                let named = |member: &String| refusal.names.contains(member);
                self.keywords.contains(&"required") && self.member.as_ref().is_none_or(named)
            }
            "additionalProperties" | "unevaluatedProperties"
                if self.keywords.contains(&refusal.keyword.as_str()) =>
            {
                refusal.names.iter().any(|name| !declared.contains(name))
            }
            keyword => union || self.keywords.contains(&keyword),
        }
    }
}

/// The last prover: it finds counterexamples and never shows that there are none.
impl Prover for Search<'_> {
    fn name(&self) -> &'static str {
        "search"
    }

    fn prove(&self, _question: &Question<'_>) -> Answer {
        match self.anywhere() {
            Some(witness) => Answer::Counterexample(witness),
            None => Answer::Unknown("no counterexample was found".to_owned()),
        }
    }
}

impl<'a> Search<'a> {
    fn sampler(&self) -> Sampler<'a> {
        Sampler {
            document: self.sender,
            patterns: self.patterns,
        }
    }

    /// A confirmed witness for one finding.
    pub(crate) fn for_finding(&self, finding: &Finding) -> Option<Json> {
        if !self.budget.take(self.cost) {
            return None;
        }
        let sampler = self.sampler();
        let aim = Aim::of(finding);
        let parent = match finding.steps.split_last() {
            Some((Step::Extra, rest)) => rest,
            _ => &finding.steps,
        };
        let declared: Vec<String> = sampler
            .place(parent)
            .map(|(view, _)| {
                view.names()
                    .iter()
                    .map(|it| it.to_string_lossy().to_owned())
                    .collect()
            })
            .unwrap_or_default();
        let accept = |candidate: &Json| {
            self.budget.take(self.cost)
                && self
                    .validators
                    .refusals(candidate)
                    .is_some_and(|refusals| aim.met(&refusals, &declared))
        };
        let attempt = |candidate: Option<Json>| -> Option<Json> {
            let candidate = candidate?;
            accept(&candidate).then(|| shrunk(candidate, &accept))
        };
        for hint in &finding.hints {
            if let Some(found) = attempt(sampler.instance(&finding.steps, Some(hint))) {
                return Some(found);
            }
        }
        if let Some(found) = attempt(sampler.instance(&finding.steps, None)) {
            return Some(found);
        }
        if let Some((Step::Extra, around)) = finding.steps.split_last() {
            for key in SHAPES {
                let mut steps = around.to_vec();
                steps.push(Step::Member((*key).into()));
                if let Some(found) = attempt(sampler.instance(&steps, None)) {
                    return Some(found);
                }
            }
        }
        let (view, name) = sampler.place(&finding.steps)?;
        let receiving = Sampler {
            document: self.receiver,
            patterns: self.patterns,
        };
        let theirs = receiving
            .place(&finding.receiver_steps)
            .map(|(view, _)| view);
        let mut values = Vec::new();
        self.variants(&view, theirs.as_ref(), &name, 0, TRIES, &mut values);
        values
            .iter()
            .find_map(|value| attempt(sampler.instance(&finding.steps, Some(value))))
    }

    /// A confirmed witness for the whole pair, wherever it may break.
    fn anywhere(&self) -> Option<Json> {
        let view = View::of(self.sender, &self.sender.root).ok()?;
        let theirs = View::of(self.receiver, &self.receiver.root).ok();
        let mut values = Vec::new();
        self.variants(&view, theirs.as_ref(), "", 0, LAST_TRIES, &mut values);
        let accept = |candidate: &Json| {
            self.budget.take(self.cost) && self.validators.refusals(candidate).is_some()
        };
        let found = values.into_iter().find(|value| accept(value))?;
        Some(shrunk(found, &accept))
    }

    /// Values that the sender's schema lets through and that lie near what the receiver's may refuse.
    fn variants(
        &self,
        view: &View<'a>,
        theirs: Option<&View<'a>>,
        name: &str,
        depth: usize,
        limit: usize,
        into: &mut Vec<Json>,
    ) {
        if depth > 5 || into.len() >= limit || !self.budget.take(1 + self.cost / 64) {
            return;
        }
        let sampler = self.sampler();
        into.extend(sampler.simplest(view, name, depth));
        if let Some(Ok(branches)) = view.split(self.sender) {
            for (_, _, branch) in branches.iter().take(16) {
                self.variants(branch, theirs, name, depth + 1, limit, into);
            }
            return;
        }
        into.extend(sampler.scalars(view, name).into_iter().take(48));
        into.extend(
            self.constants
                .iter()
                .filter(|value| sampler.fits(view, value))
                .cloned(),
        );
        let kinds = view.kinds();
        if let Some(theirs) = theirs {
            if kinds.has(Kind::Integer) || kinds.has(Kind::Fraction) {
                near_numbers(theirs, into);
            }
            if kinds.has(Kind::String) {
                near_texts(view, theirs, into);
            }
        }
        if kinds.has(Kind::Array) {
            self.arrays(view, theirs, name, depth, limit, into);
        }
        if kinds.has(Kind::Object) {
            self.objects(view, theirs, depth, limit, into);
        }
        into.truncate(limit);
    }

    fn arrays(
        &self,
        view: &View<'a>,
        theirs: Option<&View<'a>>,
        name: &str,
        depth: usize,
        limit: usize,
        into: &mut Vec<Json>,
    ) {
        let sampler = self.sampler();
        into.extend(sampler.array(view, name, None, depth));
        let Ok(item) = View::of_all(self.sender, &view.item(0)) else {
            return;
        };
        let their_item = theirs.and_then(|it| View::of_all(self.receiver, &it.item(0)).ok());
        let mut values = Vec::new();
        self.variants(
            &item,
            their_item.as_ref(),
            name,
            depth + 1,
            limit / 4,
            &mut values,
        );
        for value in values.iter().take(32) {
            into.extend(sampler.array(view, name, Some((0, value.clone())), depth));
        }
        let Some(value) = values.first() else { return };
        let mut lengths = vec![2, view.count("maxItems").unwrap_or(2)];
        if let Some(theirs) = theirs {
            lengths.extend(theirs.count("maxItems").map(|most| most.saturating_add(1)));
            lengths.extend(
                theirs
                    .count("minItems")
                    .and_then(|least| least.checked_sub(1)),
            );
        }
        for length in lengths {
            if length > MAX_LENGTH {
                continue;
            }
            let length = usize::try_from(length).unwrap_or(0);
            into.push(Json::Array(vec![value.clone(); length]));
            if values.len() >= length {
                into.push(Json::Array(values[..length].to_vec()));
            }
        }
        let leading = view
            .leading_items()
            .max(theirs.map_or(0, View::leading_items));
        for index in 1..=leading.min(8) {
            if let Ok(item) = View::of_all(self.sender, &view.item(index)) {
                let their_item =
                    theirs.and_then(|it| View::of_all(self.receiver, &it.item(index)).ok());
                let mut values = Vec::new();
                self.variants(&item, their_item.as_ref(), name, depth + 1, 24, &mut values);
                for value in values {
                    into.extend(sampler.array(view, name, Some((index, value)), depth));
                }
            }
        }
    }

    fn objects(
        &self,
        view: &View<'a>,
        theirs: Option<&View<'a>>,
        depth: usize,
        limit: usize,
        into: &mut Vec<Json>,
    ) {
        let sampler = self.sampler();
        into.extend(sampler.object(view, None, depth));
        let names = view.names();
        let share = (limit / names.len().max(1)).clamp(4, 64);
        let mut firsts = Vec::new();
        for name in names {
            let Ok(member) = View::of_all(self.sender, &view.member(name, self.patterns)) else {
                continue;
            };
            let their_member = theirs
                .and_then(|it| View::of_all(self.receiver, &it.member(name, self.patterns)).ok());
            let mut values = Vec::new();
            self.variants(
                &member,
                their_member.as_ref(),
                name.to_string_lossy(),
                depth + 1,
                share,
                &mut values,
            );
            if let Some(value) = values.first() {
                firsts.push((name.clone(), value.clone()));
            }
            for value in values {
                into.extend(sampler.object(view, Some((name.clone(), value)), depth));
            }
            if into.len() >= limit {
                return;
            }
        }
        // Everything at once, for what depends on several members.
        into.push(Json::Object(firsts.iter().cloned().collect()));
        for (index, one) in firsts.iter().enumerate().take(8) {
            for other in firsts.iter().skip(index + 1).take(8) {
                if let Some(Json::Object(mut object)) =
                    sampler.object(view, Some(one.clone()), depth)
                    && !object.contains(other.0.to_string_lossy())
                {
                    object.push(other.0.clone(), other.1.clone());
                    into.push(Json::Object(object));
                }
            }
        }
        let Ok(rest) = View::of_all(self.sender, &view.rest()) else {
            return;
        };
        if !rest.never {
            let mut values = Vec::new();
            let their_rest = theirs.and_then(|it| View::of_all(self.receiver, &it.rest()).ok());
            self.variants(
                &rest,
                their_rest.as_ref(),
                "example",
                depth + 1,
                24,
                &mut values,
            );
            for value in values {
                into.extend(sampler.instance_of(view, &Step::Extra, &value, depth));
            }
        }
    }
}

fn near_numbers(theirs: &View<'_>, into: &mut Vec<Json>) {
    for lower in [true, false] {
        if let Some(bound) = theirs.bound(lower) {
            into.push(bound.number.clone());
            if let Json::Number(number) = &bound.number {
                into.extend(beside(number, !lower));
                into.extend(beside(number, lower));
            }
        }
    }
    for step in theirs.all("multipleOf") {
        if let Json::Number(number) = step {
            into.extend(beside(number, true));
        }
    }
}

fn near_texts(view: &View<'_>, theirs: &View<'_>, into: &mut Vec<Json>) {
    let most = view.count("maxLength").unwrap_or(MAX_LENGTH);
    let least = view.count("minLength").unwrap_or(0);
    let mut lengths = vec![least];
    lengths.extend(theirs.count("minLength").and_then(|it| it.checked_sub(1)));
    lengths.extend(theirs.count("maxLength").map(|it| it.saturating_add(1)));
    for length in lengths {
        if length <= MAX_LENGTH && (least..=most).contains(&length) {
            let text = if length == 0 {
                String::new()
            } else {
                stretched("a", length, length)
            };
            into.push(Json::string(text));
        }
    }
    into.extend(SHAPES.iter().map(|it| Json::string(*it)));
}

/// Takes away members and items for as long as the witness still convinces.
fn shrunk(witness: Json, convinces: &impl Fn(&Json) -> bool) -> Json {
    let mut best = witness;
    let mut budget = 200;
    loop {
        let mut smaller = None;
        for candidate in reductions(&best) {
            if budget == 0 {
                return best;
            }
            budget -= 1;
            if convinces(&candidate) {
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
            let mut out = Vec::new();
            for at in (0..items.len()).rev().take(4) {
                let mut fewer = items.clone();
                fewer.remove(at);
                out.push(Json::Array(fewer));
            }
            for (at, inner) in items.iter().enumerate().take(4) {
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

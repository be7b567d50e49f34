//! Values for a case without open choices.

use super::evaluate;
use super::number::{Exact, Numbers};
use super::refuse::is_literal_integer;
use super::text::{self, Found, Texts};
use super::{Case, Fact, Literal, NAME, Outcome, Place, Solver, bounds_of};
use crate::document::Draft;
use crate::example_values::{SHAPES, text_for, text_of_format, whole_for};
use crate::kinds::JsonKind;
use crate::reason::Reason;
use crate::value::{as_count, same};
use exact_json::{Json, to_canonical};

impl<'a> Solver<'_, 'a> {
    /// The value is one of a list: each is tried against the whole place.
    pub(super) fn among(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let Some(id) = case.listed else {
            return Outcome::None;
        };
        let Some(object) = self.object(id) else {
            return Outcome::None;
        };
        let values: &[Json] = match object.get("const").filter(|_| self.draft(id) > Draft::Four) {
            Some(value) => std::slice::from_ref(value),
            None => object.get("enum").and_then(Json::as_array).unwrap_or(&[]),
        };
        let mut result = Outcome::None;
        for value in values
            .iter()
            .filter(|value| JsonKind::of(value) == place.kind)
        {
            if !self.budget.take(1) {
                return self.unknown(Reason::TooLarge);
            }
            match self.fits(place, value) {
                Some(true) => return Outcome::Value(value.clone()),
                Some(false) => {}
                None => {
                    result = self.unknown(Reason::ValueNotChecked);
                }
            }
        }
        let is_of_draft_4 = |literal: &Literal| matches!(literal, Literal::Schema(id, _) if self.draft(*id) == Draft::Four);
        if result == Outcome::None
            && place.kind == JsonKind::Integer
            && place.literals.iter().any(is_of_draft_4)
            && values
                .iter()
                .any(|value| self.fits_with_a_fraction(place, value))
        {
            return self.unknown(Reason::NumberUndecided);
        }
        result
    }

    /// Whether an integer solves a place if it is written as `1.0` and that is no integer, as some validators read draft 4.
    fn fits_with_a_fraction(&self, place: &Place<'_>, value: &Json) -> bool {
        let spelled = exact_json::parse_str(&format!("{}.0", to_canonical(value)));
        spelled.is_ok_and(|spelled| {
            place.literals.iter().all(|literal| match literal {
                Literal::Schema(id, holds) => {
                    let evaluator = self.evaluator(self.document(*id)).counting_literals();
                    evaluator.accepts(self.json(*id), &spelled) != Some(!holds)
                }
                Literal::Not(other) => !same(other, &spelled),
                Literal::Match(..) => false,
            })
        })
    }

    /// Whether a value solves a place.
    pub(super) fn fits(&self, place: &Place<'_>, value: &Json) -> Option<bool> {
        let mut senders = Vec::new();
        self.budget.take(size(value) / 16);
        let answers = place.literals.iter().map(|literal| match literal {
            Literal::Schema(id, holds) => {
                if *holds && self.is_sender(*id) {
                    senders.push(self.json(*id));
                }
                self.evaluator(self.document(*id))
                    .accepts(self.json(*id), value)
                    .map(|accepted| accepted == *holds)
            }
            Literal::Not(other) => Some(!same(other, value)),
            Literal::Match(pattern, sign) => self
                .patterns
                .matches(pattern, value.as_str()?)
                .map(|matched| matched == *sign),
        });
        match evaluate::all(answers.collect::<Vec<_>>()) {
            Some(true) => self
                .evaluator(0)
                .declared(&senders, value, place.root, self.strict, 0),
            other => other,
        }
    }

    pub(super) fn leaf(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let excluded = |value: &Json| {
            case.facts.iter().any(|fact| match fact {
                Fact::Not(other) => same(other, value),
                Fact::NotListed(id) => self
                    .object(*id)
                    .and_then(|object| object.get("enum"))
                    .is_some_and(|list| self.evaluator(self.document(*id)).listed(list, value)),
                _ => false,
            })
        };
        match place.kind {
            JsonKind::Null => {
                if excluded(&Json::Null) {
                    Outcome::None
                } else {
                    Outcome::Value(Json::Null)
                }
            }
            JsonKind::Boolean => [true, false]
                .map(Json::Bool)
                .into_iter()
                .find(|value| !excluded(value))
                .map_or(Outcome::None, Outcome::Value),
            JsonKind::Integer | JsonKind::Fraction => self.number(case, place),
            JsonKind::String => self.text(case, place),
            JsonKind::Array => self.array(case, place),
            JsonKind::Object => self.members(case, place),
        }
    }

    /// Values that the schemas themselves name as examples.
    pub(super) fn liked(&self, case: &Case) -> Vec<&'a Json> {
        let mut values: Vec<&'a Json> = Vec::new();
        for id in case.held.iter().filter(|id| self.is_sender(**id)) {
            let Some(object) = self.object(*id) else {
                continue;
            };
            if let Some(Json::Array(examples)) = object.get("examples") {
                values.extend(examples.iter().take(4));
            }
            values.extend(object.get("example"));
            values.extend(object.get("default"));
        }
        values
    }

    pub(super) fn number(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let beyond = || Reason::NumberTooLong;
        let mut wanted = Numbers::default();
        for id in &case.held {
            let Some(object) = self.object(*id) else {
                continue;
            };
            for lower in [true, false] {
                for (bound, exclusive) in bounds_of(object, lower, self.draft(*id)) {
                    let Some(bound) = Exact::of(bound) else {
                        return self.unknown(beyond());
                    };
                    if lower {
                        wanted.lower.push((bound, exclusive));
                    } else {
                        wanted.upper.push((bound, exclusive));
                    }
                }
            }
            if let Some(Json::Number(step)) = object.get("multipleOf") {
                match Exact::of(step) {
                    Some(step) => wanted.multiple.push(step),
                    None => return self.unknown(beyond()),
                }
            }
        }
        for fact in &case.facts {
            match fact {
                Fact::Lower(bound, exclusive) => wanted.lower.push((*bound, *exclusive)),
                Fact::Upper(bound, exclusive) => wanted.upper.push((*bound, *exclusive)),
                Fact::NotMultiple(step) => wanted.not_multiple.push(*step),
                Fact::Not(value) => {
                    if let Json::Number(number) = &**value {
                        wanted.excluded.extend(Exact::of(number));
                    }
                }
                Fact::NotListed(id) => {
                    let listed = self
                        .object(*id)
                        .and_then(|object| object.get("enum")?.as_array());
                    for value in listed.unwrap_or(&[]) {
                        if let Json::Number(number) = value {
                            wanted.excluded.extend(Exact::of(number));
                        }
                    }
                }
                _ => {}
            }
        }
        let mut liked: Vec<Exact> = self
            .liked(case)
            .into_iter()
            .filter_map(|fact| match fact {
                Json::Number(number) => Exact::of(number),
                _ => None,
            })
            .collect();
        if place.kind == JsonKind::Integer {
            let usual = exact_json::Number::from(whole_for(place.name));
            liked.extend(Exact::of(&usual));
            liked.extend(Exact::of(&exact_json::Number::from(1)));
        } else if let Ok(Json::Number(half)) = exact_json::parse_str("0.5") {
            liked.extend(Exact::of(&half));
        }
        let spelled = case.facts.iter().any(|fact| matches!(fact, Fact::Spelled));
        let literal = case.held.iter().any(|id| {
            let object = self.object(*id).filter(|_| !self.silenced(*id));
            object.is_some_and(|object| is_literal_integer(object, self.draft(*id)))
        });
        if spelled && literal {
            return Outcome::None;
        }
        match wanted.find(place.kind, &liked) {
            // No witness is written so.
            Found::One(_) if spelled => self.unknown(Reason::NumberUndecided),
            Found::One(value) => Outcome::Value(value),
            Found::None => Outcome::None,
            Found::Unknown => self.unknown(Reason::NumberUndecided),
        }
    }

    pub(super) fn text(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let mut wanted = Texts::default();
        let mut most = u64::MAX;
        for id in &case.held {
            let Some(object) = self.object(*id) else {
                continue;
            };
            wanted.least = wanted
                .least
                .max(object.get("minLength").and_then(as_count).unwrap_or(0));
            most = most.min(
                object
                    .get("maxLength")
                    .and_then(as_count)
                    .unwrap_or(u64::MAX),
            );
            if let Some(pattern) = object.get("pattern") {
                match pattern.as_str() {
                    Some(pattern) => wanted.patterns.push((pattern.to_owned(), true)),
                    None => return self.unknown(Reason::Keyword("pattern")),
                }
            }
        }
        for fact in &case.facts {
            match fact {
                Fact::AtLeast(length) => wanted.least = wanted.least.max(*length),
                Fact::AtMost(length) => most = most.min(*length),
                Fact::Match(pattern, sign) => wanted.patterns.push((pattern.to_string(), *sign)),
                Fact::Not(value) => wanted.excluded.extend(value.as_str().map(str::to_owned)),
                Fact::NotListed(id) => {
                    let listed = self
                        .object(*id)
                        .and_then(|object| object.get("enum")?.as_array());
                    wanted.excluded.extend(
                        listed
                            .unwrap_or(&[])
                            .iter()
                            .filter_map(|value| value.as_str().map(str::to_owned)),
                    );
                }
                _ => {}
            }
        }
        wanted.most = (most != u64::MAX).then_some(most);
        if wanted.least > most {
            return Outcome::None;
        }
        wanted.patterns.sort();
        wanted.patterns.dedup();
        let opposed = wanted
            .patterns
            .iter()
            .any(|(pattern, sign)| *sign && wanted.patterns.contains(&(pattern.clone(), false)));
        if opposed {
            return Outcome::None;
        }
        let fits = |text: &str| -> bool {
            let length = text.chars().count() as u64;
            (wanted.least..=most).contains(&length)
                && !wanted.excluded.contains(text)
                && wanted
                    .patterns
                    .iter()
                    .all(|(pattern, sign)| self.patterns.matches(pattern, text) == Some(*sign))
        };
        let named = if place.name == NAME {
            "key"
        } else {
            text_for(place.name)
        };
        let mut candidates: Vec<String> = self
            .liked(case)
            .into_iter()
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect();
        for id in &case.held {
            let format = self
                .object(*id)
                .and_then(|object| object.get("format")?.as_str());
            candidates.extend(format.and_then(text_of_format).map(str::to_owned));
        }
        candidates.push(named.to_owned());
        if wanted.patterns.is_empty() && wanted.least <= text::MAX_TEXT {
            // The usual text, extended or cut.
            let least = usize::try_from(wanted.least).unwrap_or(0);
            if least > named.chars().count() {
                candidates.push(named.chars().cycle().take(least).collect());
            } else if let Ok(most) = usize::try_from(most) {
                candidates.push(named.chars().take(most).collect());
            }
        }
        if !wanted.patterns.is_empty() || !wanted.excluded.is_empty() {
            candidates.extend(SHAPES.iter().map(|shape| (*shape).to_owned()));
        }
        if let Some(text) = candidates.into_iter().find(|text| fits(text)) {
            return Outcome::Value(Json::string(text));
        }
        match text::find(&wanted) {
            Found::One(text) if fits(&text) => Outcome::Value(Json::string(text)),
            Found::None => Outcome::None,
            _ => self.unknown(Reason::TextUndecided),
        }
    }
}

/// The number of values in a value.
pub(crate) fn size(value: &Json) -> u64 {
    match value {
        Json::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Json::Object(members) => 1 + members.iter().map(|(_, member)| size(member)).sum::<u64>(),
        Json::String(text) => 1 + text.to_string_lossy().len() as u64 / 64,
        _ => 1,
    }
}

//! The search: one literal after another, one way of each choice after another.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{
    Case, Choice, Closed, Fact, Item, Literal, MAX_PATH, Mark, Outcome, Place, Solver, SomeMember,
};
use crate::kinds::{JsonKind, Kinds};
use crate::reason::Reason;
use exact_json::Json;

impl<'a> Solver<'_, 'a> {
    pub(super) fn solve(
        &mut self,
        literals: Vec<Literal>,
        root: bool,
        name: &str,
        kinds: Kinds,
    ) -> Outcome {
        if !self.budget.take(1) {
            return self.unknown(Reason::TooLarge);
        }
        for literal in &literals {
            if let Literal::Schema(id, _) = literal {
                self.matters(*id);
            }
        }
        let marks = self.marks(&literals);
        let opposed = marks.iter().any(|mark| match mark {
            Mark::Schema {
                class, holds: true, ..
            } => marks.contains(&Mark::Schema {
                class: *class,
                holds: false,
                declares: false,
            }),
            Mark::Match(pattern, true) => marks.contains(&Mark::Match(pattern.clone(), false)),
            _ => false,
        });
        if opposed {
            return Outcome::None;
        }
        let key = (
            marks.iter().cloned().collect::<Vec<_>>(),
            root || kinds != Kinds::ANY,
            name.to_owned(),
        );
        if let Some(known) = self.answers.get(&key) {
            return known.clone();
        }
        let around = self
            .path
            .iter()
            .enumerate()
            .skip(1)
            .find(|(_, outer)| !outer.is_empty() && closes(outer, &marks))
            .map(|(depth, _)| depth);
        if let Some(depth) = around {
            self.lowest = self.lowest.min(depth);
            return Outcome::None;
        }
        if self.path.len() > MAX_PATH {
            return self.unknown(Reason::TooLarge);
        }
        let depth = self.path.len();
        self.path.push(marks);
        let outer = std::mem::replace(&mut self.lowest, usize::MAX);
        let mut result = Outcome::None;
        let mut order: Vec<JsonKind> = kinds.iter().collect();
        if self.from_the_end {
            order.reverse();
        }
        if root {
            order.sort_by_key(|kind| *kind != JsonKind::Object);
        }
        for kind in order {
            let place = Place {
                literals: &literals,
                root,
                name,
                kind,
            };
            let case = Case {
                todo: literals.iter().cloned().map(Item::Literal).collect(),
                ..Case::default()
            };
            match self.run(case, &place) {
                Outcome::None => {}
                Outcome::Unknown => result = Outcome::Unknown,
                found => {
                    result = found;
                    break;
                }
            }
        }
        self.path.pop();
        let closed = self.lowest >= depth;
        if matches!(result, Outcome::Value(_)) || (result == Outcome::None && closed) {
            self.answers.insert(key, result.clone());
        }
        let own = if closed || result != Outcome::None {
            usize::MAX
        } else {
            self.lowest
        };
        self.lowest = outer.min(own);
        result
    }

    pub(super) fn run(&mut self, mut case: Case, place: &Place<'_>) -> Outcome {
        if !self.budget.take(1) {
            return self.unknown(Reason::TooLarge);
        }
        // What must hold comes first: it may leave a list of values, or nothing at all.
        case.todo
            .sort_by_key(|item| !matches!(item, Item::Literal(Literal::Schema(_, false))));
        while let Some(item) = case.todo.pop() {
            if !self.budget.take(1) {
                return self.unknown(Reason::TooLarge);
            }
            match self.apply(&mut case, item, place) {
                Ok(()) => {}
                Err(Closed::Contradiction) => return Outcome::None,
                Err(Closed::Unknown(problem)) => return self.unknown(problem),
            }
            if case.listed.is_some() {
                return self.among(&case, place);
            }
        }
        let Some(at) = self.next_choice(&mut case, place.kind) else {
            return self.leaf(&case, place);
        };
        let choice = case.choices.swap_remove(at);
        let mut ways: Vec<&Vec<Item>> = choice.ways.iter().collect();
        if self.from_the_end && choice.refuses.is_none() {
            ways.reverse();
        }
        let mut result = Outcome::None;
        for alternative in ways {
            self.budget
                .take((case.choices.len() + case.facts.len() + case.truth.len()) as u64 / 16);
            let mut further = case.clone();
            further.todo.extend(alternative.iter().cloned());
            match self.run(further, place) {
                Outcome::None => {}
                Outcome::Unknown => result = Outcome::Unknown,
                found => return found,
            }
        }
        result
    }

    /// The choice with the fewest alternatives; those that contradict known facts are dropped.
    pub(super) fn next_choice(&mut self, case: &mut Case, kind: JsonKind) -> Option<usize> {
        let mut best: Option<(usize, (bool, usize))> = None;
        let looked_at: usize = case
            .choices
            .iter()
            .map(|choice| 1 + choice.ways.len())
            .sum();
        self.budget.take(looked_at as u64 / 8);
        let mut choices = std::mem::take(&mut case.choices);
        choices.retain(|choice| !self.is_decided(case, choice, kind));
        case.choices = choices;
        for index in 0..case.choices.len() {
            let choice = case.choices[index].ways.clone();
            let open: Vec<&Vec<Item>> = choice
                .iter()
                .filter(|alternative| !alternative.iter().any(|item| self.contradicts(case, item)))
                .collect();
            if open.len() < choice.len() {
                case.choices[index].ways = Rc::new(open.into_iter().cloned().collect());
            }
            let count = case.choices[index].ways.len();
            // Which branch accepts comes before how others reject: it may decide that.
            let refusing = count > 1 && case.choices[index].refuses.is_some();
            let rank = (refusing, count);
            if best.is_none_or(|(_, first)| rank < first) {
                best = Some((index, rank));
            }
            if count == 0 {
                break;
            }
        }
        best.map(|(index, _)| index)
    }

    /// Whether nothing is left to choose: one of the alternatives is known to hold.
    pub(super) fn is_decided(&self, case: &Case, choice: &Choice, kind: JsonKind) -> bool {
        if let Some(refusing) = choice.refuses
            && case.held.iter().any(|id| self.apart(*id, refusing, kind))
        {
            return true;
        }
        choice
            .ways
            .iter()
            .any(|way| way.iter().all(|item| self.known_item(case, item)))
    }

    pub(super) fn known_item(&self, case: &Case, item: &Item) -> bool {
        match item {
            Item::Literal(Literal::Schema(id, holds)) => {
                let class = self.nodes[*id as usize].class;
                let declares = *holds && self.is_sender(*id) && self.matters_known(*id);
                !self.references(*id).has_unevaluated
                    && case.seen.get(&(class, declares)) == Some(holds)
            }
            Item::Fact(Fact::Absent(name)) => case
                .facts
                .iter()
                .any(|fact| matches!(fact, Fact::Absent(other) if other == name)),
            Item::Fact(Fact::Present(name)) => case
                .facts
                .iter()
                .any(|fact| matches!(fact, Fact::Present(other) if other == name)),
            _ => false,
        }
    }

    pub(super) fn contradicts(&self, case: &Case, item: &Item) -> bool {
        match item {
            Item::Literal(Literal::Schema(id, holds)) => {
                let class = self.nodes[*id as usize].class;
                [true, false]
                    .iter()
                    .any(|side| case.seen.get(&(class, *side)) == Some(&!holds))
            }
            Item::Fact(Fact::Present(name)) => case
                .facts
                .iter()
                .any(|fact| matches!(fact, Fact::Absent(other) if other == name)),
            Item::Fact(Fact::Absent(name)) => {
                case.facts
                    .iter()
                    .any(|fact| matches!(fact, Fact::Present(other) if other == name))
                    || case.held.iter().any(|id| self.requires(*id, name))
            }
            Item::Fact(Fact::Member(name, Literal::Schema(id, false))) => {
                // The same schema accepts the member.
                let class = self.nodes[*id as usize].class;
                case.held.iter().any(|held| {
                    self.properties
                        .get(held)
                        .and_then(|properties| properties.get(name))
                        .is_some_and(|id| self.nodes[*id as usize].class == class)
                })
            }
            _ => false,
        }
    }

    pub(super) fn apply(
        &mut self,
        case: &mut Case,
        item: Item,
        place: &Place<'_>,
    ) -> Result<(), Closed> {
        match item {
            Item::Literal(Literal::Not(value)) => {
                if JsonKind::of(&value) == place.kind {
                    match place.kind {
                        JsonKind::Object | JsonKind::Array => {
                            let ways = self.other_than(&value);
                            case.choices.push(Choice::of(ways));
                        }
                        _ => case.facts.push(Fact::Not(value)),
                    }
                }
            }
            Item::Literal(Literal::Match(pattern, sign)) => {
                if place.kind == JsonKind::String {
                    case.facts.push(Fact::Match(pattern, sign));
                } else {
                    return Err(Closed::Contradiction);
                }
            }
            Item::Literal(Literal::Schema(id, holds)) => {
                let class = self.nodes[id as usize].class;
                let declares = holds && self.is_sender(id) && self.matters(id);
                for side in [true, false] {
                    if case.seen.get(&(class, side)) == Some(&!holds) {
                        return Err(Closed::Contradiction);
                    }
                }
                // On a circle, what is assumed of a schema shows nothing about it.
                if self.references(id).is_circular(self.json(id)) {
                    return Err(Reason::Circular.into());
                }
                let known = case.truth.insert(id, holds) == Some(holds);
                // A schema of the same meaning may have decided it; what this one evaluates is
                // decided separately.
                let said = case.seen.contains_key(&(class, declares));
                if known || (said && !self.references(id).has_unevaluated) {
                    return Ok(());
                }
                case.seen.insert((class, declares), holds);
                if holds {
                    self.assert(case, id, place)?;
                } else {
                    let mut ways = self.refuse(id, place.kind)?;
                    match ways.len() {
                        0 => return Err(Closed::Contradiction),
                        1 => case.todo.append(&mut ways[0]),
                        _ => case.choices.push(Choice {
                            refuses: Some(id),
                            ways: Rc::new(ways),
                        }),
                    }
                }
            }
            Item::Fact(Fact::Present(name)) => {
                if self.contradicts(case, &Item::Fact(Fact::Present(name.clone()))) {
                    return Err(Closed::Contradiction);
                }
                case.facts.push(Fact::Present(name));
            }
            Item::Fact(Fact::Absent(name)) => {
                if self.contradicts(case, &Item::Fact(Fact::Absent(name.clone()))) {
                    return Err(Closed::Contradiction);
                }
                case.facts.push(Fact::Absent(name));
            }
            Item::Fact(fact) => case.facts.push(fact),
            Item::Decide(id) => self.decide(case, id)?,
        }
        Ok(())
    }

    /// Ways in which a value differs from a given object or array.
    pub(super) fn other_than(&mut self, value: &Json) -> Vec<Vec<Item>> {
        let fact = Item::Fact;
        let not = |value: &Json| Literal::Not(Rc::new(value.clone()));
        let mut ways = Vec::new();
        match value {
            Json::Object(members) => {
                for (name, value) in members.by_name() {
                    ways.push(vec![fact(Fact::Absent(name.clone()))]);
                    ways.push(vec![
                        fact(Fact::Present(name.clone())),
                        fact(Fact::Member(name.clone(), not(value))),
                    ]);
                }
                let names = members.iter().map(|(name, _)| name.clone()).collect();
                ways.push(vec![fact(Fact::SomeMember(Rc::new(SomeMember {
                    not_among: names,
                    ..SomeMember::default()
                })))]);
            }
            Json::Array(items) => {
                let length = items.len() as u64;
                if length > 0 {
                    ways.push(vec![fact(Fact::AtMost(length - 1))]);
                }
                ways.push(vec![fact(Fact::AtLeast(length + 1))]);
                for (index, item) in items.iter().enumerate() {
                    ways.push(vec![fact(Fact::Item(index, not(item)))]);
                }
            }
            _ => {}
        }
        ways
    }
}

/// Whether whatever solves a place solves one around it as well. If it has to satisfy more, what the sender declares there
/// must still be the same: a member that only the further schemas name is not sent in the outer place.
fn closes(outer: &BTreeSet<Mark>, inner: &BTreeSet<Mark>) -> bool {
    let declaring = |mark: &Mark| matches!(mark, Mark::Schema { declares: true, .. });
    outer.is_subset(inner)
        && inner
            .iter()
            .filter(|mark| declaring(mark))
            .all(|mark| outer.contains(mark))
}

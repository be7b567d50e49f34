//! The items of an array: how many there are, and what each is.

use std::rc::Rc;

use super::nodes::accepts_all;
use super::refuse::refuse_count;
use super::{
    Case, Closed, Fact, Id, Item, Literal, MAX_BUILT, Outcome, Place, Solver, item_of, leading,
    size,
};
use crate::document::Draft;
use crate::kinds::{JsonKind, Kinds};
use crate::reason::Reason;
use crate::value::{as_count, same};
use exact_json::{Json, Object};

/// At most this many distinct items are searched for.
const MAX_DISTINCT: usize = 40;

/// What is known about the items, gathered from a case.
struct Items {
    held: Vec<Id>,
    /// Items before this one may have schemas of their own.
    leading: usize,
    least: u64,
    most: u64,
    unique: bool,
    twins: bool,
    wanted: Vec<(usize, Literal)>,
    /// What one item has to be, and from which index on.
    some: Vec<(usize, Vec<Literal>)>,
    contains: Vec<Contains>,
    /// What `unevaluatedItems` demands of the items that are not seen.
    unevaluated: Vec<(Seen, Id)>,
    /// Whether some validators ask less of them.
    disputed: bool,
}

/// The items that a schema evaluates.
#[derive(Clone, Default)]
struct Seen {
    /// How many leading ones; `usize::MAX` for all of them.
    leading: usize,
    /// Those that match one of these as well.
    containing: Vec<Id>,
    /// Whether some validators count more.
    disputed: bool,
}

#[derive(Clone)]
struct Contains {
    schema: Id,
    least: u64,
    most: u64,
    /// Whether it must be known for each item.
    exact: bool,
}

impl<'a> Solver<'_, 'a> {
    pub(super) fn assert_array(
        &mut self,
        case: &mut Case,
        id: Id,
        object: &'a Object,
    ) -> Result<(), Closed> {
        if self.draft(id) >= Draft::Y2019 && object.contains("unevaluatedItems") {
            case.todo.push(Item::Decide(id));
        }
        Ok(())
    }

    fn contains_of(&mut self, id: Id) -> Option<Contains> {
        let object = self.object(id)?;
        let draft = self.draft(id);
        let schema = object.get("contains").filter(|_| draft > Draft::Four)?;
        let bound = |keyword: &str| {
            object
                .get(keyword)
                .filter(|_| draft >= Draft::Y2019)
                .and_then(as_count)
        };
        let schema = self.child(id, schema);
        Some(Contains {
            schema,
            least: bound("minContains").unwrap_or(1),
            most: bound("maxContains").unwrap_or(u64::MAX),
            exact: (self.is_sender(id) && self.matters(schema))
                || self.references(id).has_unevaluated,
        })
    }

    pub(super) fn refuse_array(
        &mut self,
        id: Id,
        object: &'a Object,
        ways: &mut Vec<Vec<Item>>,
    ) -> Result<(), Closed> {
        let fact = Item::Fact;
        let draft = self.draft(id);
        refuse_count(object, "minItems", "maxItems", ways);
        if object.get("uniqueItems") == Some(&Json::Bool(true)) {
            ways.push(vec![fact(Fact::Twins)]);
        }
        let own = leading(object, draft);
        for (index, schema) in own.iter().enumerate() {
            let schema = self.child(id, schema);
            ways.push(vec![fact(Fact::Item(
                index,
                Literal::Schema(schema, false),
            ))]);
        }
        if let Some(schema) = item_of(object, draft, usize::MAX)
            && !accepts_all(schema)
        {
            let schema = self.child(id, schema);
            ways.push(vec![fact(Fact::SomeItem {
                from: own.len(),
                literal: Literal::Schema(schema, false),
                unseen_by: None,
            })]);
        }
        if let Some(contains) = self.contains_of(id) {
            let schema = contains.schema;
            if contains.least > 0 {
                ways.push(vec![fact(Fact::Contains {
                    schema,
                    least: 0,
                    most: contains.least - 1,
                })]);
            }
            if contains.most < u64::MAX {
                ways.push(vec![fact(Fact::Contains {
                    schema,
                    least: contains.most + 1,
                    most: u64::MAX,
                })]);
            }
        }
        if let Some(schema) = object
            .get("unevaluatedItems")
            .filter(|schema| draft >= Draft::Y2019 && !accepts_all(schema))
        {
            let schema = self.child(id, schema);
            ways.push(vec![
                Item::Decide(id),
                fact(Fact::SomeItem {
                    from: 0,
                    literal: Literal::Schema(schema, false),
                    unseen_by: Some(id),
                }),
            ]);
        }
        Ok(())
    }

    /// `None` if it is not known which items are evaluated.
    fn gathered_items(&mut self, case: &Case) -> Option<Items> {
        let mut known = Items {
            held: case.held.clone(),
            leading: 0,
            least: 0,
            most: u64::MAX,
            unique: false,
            twins: false,
            wanted: Vec::new(),
            some: Vec::new(),
            contains: Vec::new(),
            unevaluated: Vec::new(),
            disputed: false,
        };
        for id in &case.held {
            let Some(object) = self.object(*id) else {
                continue;
            };
            known.leading = known.leading.max(leading(object, self.draft(*id)).len());
            let count = |keyword: &str| object.get(keyword).and_then(as_count);
            known.least = known.least.max(count("minItems").unwrap_or(0));
            known.most = known.most.min(count("maxItems").unwrap_or(u64::MAX));
            known.unique |= object.get("uniqueItems") == Some(&Json::Bool(true));
            let contains = self.contains_of(*id);
            known.contains.extend(contains);
            if let Some(schema) = object
                .get("unevaluatedItems")
                .filter(|_| self.draft(*id) >= Draft::Y2019)
            {
                let seen = self.seen_items(case, *id, true, 0)?;
                known.disputed |= seen.disputed;
                known.unevaluated.push((seen, self.child(*id, schema)));
            }
        }
        for fact in &case.facts {
            match fact {
                Fact::AtLeast(count) => known.least = known.least.max(*count),
                Fact::AtMost(count) => known.most = known.most.min(*count),
                Fact::Twins => known.twins = true,
                Fact::Item(index, literal) => {
                    known.leading = known.leading.max(index + 1);
                    known.least = known.least.max(*index as u64 + 1);
                    known.wanted.push((*index, literal.clone()));
                }
                Fact::SomeItem {
                    from,
                    literal,
                    unseen_by,
                } => {
                    known.leading = known.leading.max(*from);
                    let mut first = *from;
                    let mut literals = vec![literal.clone()];
                    if let Some(id) = unseen_by {
                        let seen = self.seen_items(case, *id, true, 0)?;
                        if seen.disputed {
                            return None;
                        }
                        if seen.leading == usize::MAX {
                            // All are evaluated: none is left.
                            known.least = u64::MAX;
                        } else {
                            known.leading = known.leading.max(seen.leading);
                            first = first.max(seen.leading);
                        }
                        let others = seen.containing.into_iter();
                        literals.extend(others.map(|other| Literal::Schema(other, false)));
                    }
                    known.some.push((first, literals));
                }
                Fact::Contains {
                    schema,
                    least,
                    most,
                } => known.contains.push(Contains {
                    schema: *schema,
                    least: *least,
                    most: *most,
                    exact: false,
                }),
                _ => {}
            }
        }
        Some(known)
    }

    /// Which items a schema evaluates; `None` if that is unknown. Which of the schemas that it applies
    /// in place accept has been decided. `own`: its own `unevaluatedItems` does not count.
    fn seen_items(&mut self, case: &Case, id: Id, own: bool, depth: usize) -> Option<Seen> {
        let mut seen = Seen::default();
        let Some(object) = self.object(id) else {
            return Some(seen);
        };
        if depth > 30 {
            return None;
        }
        let draft = self.draft(id);
        let silenced = self.silenced(id);
        if !silenced {
            if item_of(object, draft, usize::MAX).is_some()
                || (!own && object.contains("unevaluatedItems"))
            {
                seen.leading = usize::MAX;
                return Some(seen);
            }
            // The specification of 2019-09 does not count what `contains` meets; validators do, each its
            // own way.
            seen.disputed = draft == Draft::Y2019 && object.contains("contains");
            if let Some(schema) = object.get("contains").filter(|_| draft == Draft::Y2020) {
                seen.containing.push(self.child(id, schema));
            }
            seen.leading = leading(object, draft).len();
        }
        let document = self.document(id);
        let truth = |solver: &Self, json: &'a Json| {
            let id = *solver.known.get(&(document, super::address(json)))?;
            Some((id, *case.truth.get(&id)?))
        };
        let mut parts: Vec<&'a Json> = self
            .references(id)
            .targets(self.json(id))
            .ok()?
            .into_iter()
            .map(|(target, _)| target)
            .collect();
        if !silenced {
            for keyword in ["allOf", "anyOf", "oneOf"] {
                parts.extend(object.get(keyword).and_then(Json::as_array).unwrap_or(&[]));
            }
            if let Some(condition) = object.get("if") {
                let holds = truth(self, condition).is_some_and(|(_, holds)| holds);
                parts.push(condition);
                parts.extend(object.get(if holds { "then" } else { "else" }));
            }
        }
        for part in parts {
            if let Some((id, true)) = truth(self, part) {
                let further = self.seen_items(case, id, false, depth + 1)?;
                seen.leading = seen.leading.max(further.leading);
                seen.disputed |= further.disputed;
                seen.containing.extend(further.containing);
            }
        }
        Some(seen)
    }

    pub(super) fn array(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let Some(known) = self.gathered_items(case) else {
            return self.unknown(Reason::Keyword("unevaluatedItems"));
        };
        // However `unevaluatedItems` is read.
        if known.least > known.most || known.least == u64::MAX || (known.unique && known.twins) {
            return Outcome::None;
        }
        // A longer array can drop items that nothing requires.
        let asked = known.some.len() as u64
            + 2 * u64::from(known.twins)
            + known
                .contains
                .iter()
                .map(|contains| contains.least.min(1_000))
                .sum::<u64>();
        let longest = (known.leading as u64 + asked)
            .max(known.least)
            .min(known.most);
        if known.least > MAX_BUILT {
            return self.unknown(Reason::TooLarge);
        }
        let mut result = Outcome::None;
        for length in known.least..=longest {
            if length > 64 && length > known.least {
                return self.unknown(Reason::TooLarge);
            }
            match self.of_length(place, &known, length) {
                Outcome::None => {}
                Outcome::Unknown => result = Outcome::Unknown,
                found => return found,
            }
        }
        // What satisfies the strictest reading satisfies all of them; that nothing does proves nothing.
        if known.disputed && result == Outcome::None {
            return self.unknown(Reason::Keyword("unevaluatedItems"));
        }
        result
    }

    fn of_length(&mut self, place: &Place<'_>, known: &Items, length: u64) -> Outcome {
        let Ok(length) = usize::try_from(length) else {
            return self.unknown(Reason::TooLarge);
        };
        // Items after the leading ones are alike: this many are distinguished, and the last
        // represents the others.
        let apart = length.min(
            known.leading
                + known.some.len()
                + 2 * usize::from(known.twins)
                + known
                    .contains
                    .iter()
                    .map(|contains| usize::try_from(contains.least.min(1_000)).unwrap_or(0))
                    .sum::<usize>()
                + 1,
        );
        let exact = known
            .contains
            .iter()
            .any(|contains| contains.most > 0 && (contains.exact || contains.most < u64::MAX));
        let apart = if known.unique || exact { length } else { apart };
        if apart > 200 {
            return self.unknown(Reason::TooLarge);
        }
        let mut slots: Vec<Vec<Literal>> = Vec::with_capacity(apart);
        for index in 0..apart {
            let mut literals = Vec::new();
            for id in &known.held {
                let Some(object) = self.object(*id) else {
                    continue;
                };
                if let Some(schema) = item_of(object, self.draft(*id), index) {
                    literals.push(Literal::Schema(self.child(*id, schema), true));
                }
            }
            literals.extend(
                known
                    .wanted
                    .iter()
                    .filter(|(at, _)| *at == index)
                    .map(|(_, literal)| literal.clone()),
            );
            slots.push(literals);
        }
        if known.wanted.iter().any(|(index, _)| *index >= length) {
            return Outcome::None;
        }
        self.put_some(place, known, length, slots, 0)
    }

    /// Gives each item that must be somewhere an index, one after the other.
    fn put_some(
        &mut self,
        place: &Place<'_>,
        known: &Items,
        length: usize,
        slots: Vec<Vec<Literal>>,
        next: usize,
    ) -> Outcome {
        if !self.budget.take(1) {
            return self.unknown(Reason::TooLarge);
        }
        let Some((first, literals)) = known.some.get(next) else {
            return self.put_contains(place, known, length, slots, 0);
        };
        let first = *first;
        let mut result = Outcome::None;
        for index in first..slots.len() {
            // All unconstrained items after the leading ones are alike.
            if index > first.max(known.leading + next) {
                break;
            }
            let mut further = slots.clone();
            further[index].extend(literals.iter().cloned());
            match self.put_some(place, known, length, further, next + 1) {
                Outcome::None => {}
                Outcome::Unknown => result = Outcome::Unknown,
                found => return found,
            }
        }
        result
    }

    /// Decides which items match what must be contained.
    fn put_contains(
        &mut self,
        place: &Place<'_>,
        known: &Items,
        length: usize,
        slots: Vec<Vec<Literal>>,
        next: usize,
    ) -> Outcome {
        if !self.budget.take(1) {
            return self.unknown(Reason::TooLarge);
        }
        let Some(contains) = known.contains.get(next).cloned() else {
            return match left_unevaluated(known, slots) {
                Some(slots) => self.put_twins(place, known, length, slots),
                None => self.unknown(Reason::Keyword("unevaluatedItems")),
            };
        };
        let exact = contains.exact || contains.most < u64::MAX;
        if contains.least > contains.most {
            return Outcome::None;
        }
        if contains.most == 0 {
            let mut slots = slots;
            for slot in &mut slots {
                slot.push(Literal::Schema(contains.schema, false));
            }
            return self.put_contains(place, known, length, slots, next + 1);
        }
        if !exact && contains.least == 0 {
            return self.put_contains(place, known, length, slots, next + 1);
        }
        if slots.len() > 12 {
            return self.unknown(Reason::Keyword("contains"));
        }
        let mut result = Outcome::None;
        let mut seen: std::collections::HashSet<Vec<(Vec<super::Mark>, bool)>> =
            std::collections::HashSet::new();
        let mut masks: Vec<u32> = (0..1_u32 << slots.len()).collect();
        masks.sort_by_key(|mask| mask.count_ones());
        for mask in masks {
            let count = u64::from(mask.count_ones());
            if count < contains.least || count > contains.most {
                continue;
            }
            if !exact && count > contains.least {
                break;
            }
            // Equally constrained items after the leading ones may change places.
            let mut shape: Vec<(Vec<super::Mark>, bool)> = slots
                .iter()
                .enumerate()
                .map(|(index, slot)| {
                    let mut marks: Vec<super::Mark> =
                        slot.iter().map(|literal| self.mark(literal)).collect();
                    marks.sort();
                    (marks, mask >> index & 1 == 1)
                })
                .collect();
            let leading = known.leading.min(shape.len());
            shape[leading..].sort();
            if !seen.insert(shape) {
                continue;
            }
            let mut further = slots.clone();
            for (index, slot) in further.iter_mut().enumerate() {
                let matches = mask >> index & 1 == 1;
                if matches || exact {
                    slot.push(Literal::Schema(contains.schema, matches));
                }
            }
            match self.put_contains(place, known, length, further, next + 1) {
                Outcome::None => {}
                Outcome::Unknown => result = Outcome::Unknown,
                found => return found,
            }
        }
        result
    }

    fn put_twins(
        &mut self,
        place: &Place<'_>,
        known: &Items,
        length: usize,
        slots: Vec<Vec<Literal>>,
    ) -> Outcome {
        if !known.twins {
            return self.solve_items(place, known, length, &slots, None);
        }
        let mut result = Outcome::None;
        for one in 0..slots.len() {
            for other in one + 1..slots.len() {
                match self.solve_items(place, known, length, &slots, Some((one, other))) {
                    Outcome::None => {}
                    Outcome::Unknown => result = Outcome::Unknown,
                    found => return found,
                }
            }
        }
        result
    }

    fn solve_items(
        &mut self,
        place: &Place<'_>,
        known: &Items,
        length: usize,
        slots: &[Vec<Literal>],
        twins: Option<(usize, usize)>,
    ) -> Outcome {
        let mut items: Vec<Json> = Vec::new();
        let mut built = 0;
        let mut unknown = false;
        let mut alike = true;
        for (index, slot) in slots.iter().enumerate() {
            if let Some((one, other)) = twins
                && index == other
            {
                items.push(items[one].clone());
                continue;
            }
            let mut literals = slot.clone();
            if let Some((one, other)) = twins
                && index == one
            {
                literals.extend(slots[other].iter().cloned());
            }
            if known.unique {
                if index > MAX_DISTINCT {
                    return self.unknown(Reason::Keyword("uniqueItems"));
                }
                alike &= index < 1 || self.marks(&literals) == self.marks(&slots[0]);
                literals.extend(items.iter().map(|item| Literal::Not(Rc::new(item.clone()))));
            }
            let mut found = self.solve(literals, false, place.name, Kinds::ANY);
            if let Some((one, other)) = twins
                && index == one
            {
                found = self.declared_twice(place, found, &slots[one], &slots[other]);
            }
            match found {
                Outcome::Value(value) => {
                    built += size(&value);
                    if built > MAX_BUILT {
                        return self.unknown(Reason::TooLarge);
                    }
                    items.push(value);
                }
                Outcome::None if known.unique && index > 0 && !(alike && known.leading == 0) => {
                    // Other values before it might leave one.
                    return self.distinct(place, slots);
                }
                Outcome::None => return Outcome::None,
                Outcome::Unknown => {
                    unknown = true;
                    items.push(Json::Null);
                }
            }
        }
        if unknown {
            return Outcome::Unknown;
        }
        if let Some(last) = items.last().cloned() {
            if (length - items.len()) as u64 * size(&last) > MAX_BUILT {
                return self.unknown(Reason::TooLarge);
            }
            items.resize(length, last);
        }
        if known.unique {
            let repeated =
                (0..items.len()).any(|one| (0..one).any(|other| same(&items[one], &items[other])));
            if repeated {
                return self.unknown(Reason::Keyword("uniqueItems"));
            }
        }
        Outcome::Value(Json::Array(items))
    }

    /// A value that fits two items at once: each declares what it declares by itself.
    fn declared_twice(
        &mut self,
        place: &Place<'_>,
        found: Outcome,
        one: &[Literal],
        other: &[Literal],
    ) -> Outcome {
        let Outcome::Value(value) = found else {
            return found;
        };
        let fits = |solver: &Self, value: &Json| {
            [one, other].iter().all(|literals| {
                let item = Place {
                    literals,
                    root: false,
                    name: place.name,
                    kind: JsonKind::of(value),
                };
                solver.fits(&item, value) == Some(true)
            })
        };
        if fits(self, &value) {
            return Outcome::Value(value);
        }
        for literals in [one, other] {
            if let Outcome::Value(value) =
                self.solve(literals.to_vec(), false, place.name, Kinds::ANY)
                && fits(self, &value)
            {
                return Outcome::Value(value);
            }
        }
        self.unknown(Reason::Keyword("uniqueItems"))
    }

    /// Distinct items if the first values collided: the most constrained item first.
    fn distinct(&mut self, place: &Place<'_>, slots: &[Vec<Literal>]) -> Outcome {
        let mut alone = false;
        for slot in slots {
            if self.solve(slot.clone(), false, place.name, Kinds::ANY) == Outcome::None {
                alone = true;
            }
        }
        if alone {
            return Outcome::None;
        }
        if slots.len() > 4 {
            return self.unknown(Reason::Keyword("uniqueItems"));
        }
        let mut order: Vec<usize> = (0..slots.len()).collect();
        for _ in 0..slots.len() {
            order.rotate_left(1);
            let mut values: Vec<Option<Json>> = vec![None; slots.len()];
            let mut complete = true;
            for index in &order {
                let mut literals = slots[*index].clone();
                literals.extend(
                    values
                        .iter()
                        .flatten()
                        .map(|value| Literal::Not(Rc::new(value.clone()))),
                );
                match self.solve(literals, false, place.name, Kinds::ANY) {
                    Outcome::Value(value) => values[*index] = Some(value),
                    _ => {
                        complete = false;
                        break;
                    }
                }
            }
            if complete {
                return Outcome::Value(Json::Array(values.into_iter().flatten().collect()));
            }
        }
        self.unknown(Reason::Keyword("uniqueItems"))
    }
}

/// Adds what `unevaluatedItems` demands, once it is known which items match what must be contained; `None` if it is not.
fn left_unevaluated(known: &Items, mut slots: Vec<Vec<Literal>>) -> Option<Vec<Vec<Literal>>> {
    for (seen, schema) in &known.unevaluated {
        for slot in slots.iter_mut().skip(seen.leading) {
            let matches = |id: &Id, holds: bool| {
                slot.iter()
                    .any(|literal| matches!(literal, Literal::Schema(other, sign) if other == id && *sign == holds))
            };
            if seen.containing.iter().any(|id| matches(id, true)) {
                continue;
            }
            if !seen.containing.iter().all(|id| matches(id, false)) {
                return None;
            }
            slot.push(Literal::Schema(*schema, true));
        }
    }
    Some(slots)
}

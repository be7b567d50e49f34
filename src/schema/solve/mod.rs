//! Whether a value exists that some schemas accept, others reject and a sender would send.
//!
//! One question decides a pair of schemas: is there a value that the sender's schema accepts and
//! declares and that the receiver's rejects? A *place* is what must hold for one value: literals,
//! each a schema that must accept or must reject it. A place is solved type by type. Keywords that
//! apply to the same value (`$ref`, `allOf`, `anyOf`, `not`, `if` ...) are split into cases, a
//! rejection into the ways to be rejected; the rest of a case is about a number, a text, the
//! members of an object or the items of an array, which leads to smaller places.
//!
//! Three answers: a value, none (a proof), or unknown, with the reason. None is only answered if
//! every case was closed. A place inside itself is closed: the smallest value that solves a place
//! contains none that solves it too.

mod array;
mod evaluate;
mod nodes;
mod number;
mod object;
mod text;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

pub(crate) use evaluate::{Evaluator, Patterns, bounds_of, item_of, leading};
pub(crate) use nodes::References;
use nodes::{Address, address};
use number::{Exact, Numbers};
use text::{Found, Texts};

use super::document::{Draft, Problem};
use super::example_values::{SHAPES, text_for, text_of_format, whole_for};
use super::kinds::{JsonKind, Kinds};
use super::value::{as_count, same};
use crate::canonical::{Json, Object, Text, to_canonical};

/// A schema of one of the documents.
pub(crate) type Id = u32;

struct Node<'a> {
    document: usize,
    json: &'a Json,
    /// Schemas of one class mean the same.
    class: u32,
}

/// Something that must hold for a value.
#[derive(Clone, Debug)]
enum Literal {
    /// A schema accepts it (`true`) or rejects it.
    Schema(Id, bool),
    /// It differs from this value.
    Not(Rc<Json>),
    /// It is a text that matches a pattern, or does not.
    Match(Rc<str>, bool),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Mark {
    Schema {
        class: u32,
        holds: bool,
        /// Whether it declares members.
        declares: bool,
    },
    Not(String),
    Match(Rc<str>, bool),
}

/// One pending step of a case.
#[derive(Clone, Debug)]
enum Item {
    Literal(Literal),
    Fact(Fact),
    /// Which of the schemas that a schema applies in place accept, for the members that they
    /// evaluate.
    Decide(Id),
}

/// What is known about a value of a known type, besides the schemas that accept it.
#[derive(Clone, Debug)]
enum Fact {
    Lower(Exact, bool),
    Upper(Exact, bool),
    NotMultiple(Exact),
    /// Length, number of items or members.
    AtLeast(u64),
    AtMost(u64),
    Match(Rc<str>, bool),
    Not(Rc<Json>),
    /// None of the values of a schema's `enum`.
    NotListed(Id),
    Present(Text),
    Absent(Text),
    Member(Text, Literal),
    SomeMember(Rc<SomeMember>),
    Item(usize, Literal),
    SomeItem {
        from: usize,
        literal: Literal,
        /// Only items that this schema does not evaluate.
        unseen_by: Option<Id>,
    },
    Twins,
    Contains {
        schema: Id,
        least: u64,
        most: u64,
    },
}

/// A member that must exist, under any suitable name.
#[derive(Clone, Debug, Default)]
struct SomeMember {
    matching: Vec<Rc<str>>,
    /// Named by neither `properties` nor `patternProperties` of this schema.
    unnamed_by: Option<Id>,
    unseen_by: Option<Id>,
    not_among: Vec<Text>,
    name: Vec<Literal>,
    value: Vec<Literal>,
}

/// Alternatives of which one must hold.
#[derive(Clone)]
struct Choice {
    /// The schema that rejects, if these are its ways to do so.
    refuses: Option<Id>,
    ways: Rc<Vec<Vec<Item>>>,
}

impl Choice {
    fn of(ways: Vec<Vec<Item>>) -> Self {
        Self {
            refuses: None,
            ways: Rc::new(ways),
        }
    }
}

/// One way in which a place may be solved.
#[derive(Clone, Default)]
struct Case {
    todo: Vec<Item>,
    choices: Vec<Choice>,
    seen: HashMap<(u32, bool), bool>,
    truth: HashMap<Id, bool>,
    /// Schemas that accept the value, references and `allOf` followed.
    held: Vec<Id>,
    /// The list of values that it is among.
    listed: Option<Id>,
    facts: Vec<Fact>,
}

/// A place with its name for a reader.
struct Place<'p> {
    literals: &'p [Literal],
    root: bool,
    name: &'p str,
    kind: JsonKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Value(Json),
    None,
    Unknown,
}

/// Why a case is closed.
enum Closed {
    Contradiction,
    Unknown(Problem),
}

impl From<Problem> for Closed {
    fn from(problem: Problem) -> Self {
        Self::Unknown(problem)
    }
}

/// The budget for all questions about one pair of schemas: no clock is read.
pub(crate) struct Budget {
    steps: u64,
    left: std::cell::Cell<u64>,
}

impl Budget {
    pub(crate) fn new(steps: u64) -> Self {
        Self {
            steps,
            left: std::cell::Cell::new(steps),
        }
    }

    /// Takes steps; returns whether there were enough.
    pub(crate) fn take(&self, steps: u64) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(steps));
        left >= steps
    }

    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    pub(crate) fn taken(&self) -> u64 {
        self.steps - self.left()
    }

    /// A separate budget of at most this many steps. What is taken from it must be taken here too.
    pub(crate) fn part(&self, steps: u64) -> Self {
        Self::new(steps.min(self.left()))
    }
}

/// Required members with their few possible values.
type Tags<'a> = Vec<(&'a Text, Vec<&'a Json>)>;

pub(crate) struct Solver<'r, 'a> {
    documents: Vec<&'r References<'a>>,
    patterns: &'r Patterns,
    budget: &'r Budget,
    /// The narrower reading of what is declared.
    strict: bool,
    lists: RefCell<HashMap<Address, HashSet<String>>>,
    nodes: Vec<Node<'a>>,
    known: HashMap<(usize, Address), Id>,
    classes: HashMap<[u8; 32], u32>,
    matters: HashMap<Id, bool>,
    /// The members of each schema that are constant in it.
    tagged: RefCell<HashMap<Id, Rc<Tags<'a>>>>,
    /// The schemas of `properties` by name, for schemas that accept.
    properties: HashMap<Id, HashMap<&'a Text, Id>>,
    answers: HashMap<(Vec<Mark>, bool, String), Outcome>,
    path: Vec<BTreeSet<Mark>>,
    /// The outermost place on the path that the current answer depends on.
    lowest: usize,
    reason: Option<Problem>,
}

/// The name of an invented member.
const NAME: &str = "\u{0}name";
const MAX_PATH: usize = 28;
/// Larger values are not built.
const MAX_BUILT: u64 = 20_000;

impl<'r, 'a> Solver<'r, 'a> {
    /// The first document is the sender's.
    pub(crate) fn new(
        documents: Vec<&'r References<'a>>,
        patterns: &'r Patterns,
        budget: &'r Budget,
        strict: bool,
    ) -> Self {
        Self {
            documents,
            patterns,
            budget,
            strict,
            lists: RefCell::default(),
            nodes: Vec::new(),
            known: HashMap::new(),
            classes: HashMap::new(),
            matters: HashMap::new(),
            tagged: RefCell::default(),
            properties: HashMap::new(),
            answers: HashMap::new(),
            path: Vec::new(),
            lowest: usize::MAX,
            reason: None,
        }
    }

    /// A value that the roots accept (`true`) or reject, one sign for each document.
    pub(crate) fn roots(&mut self, signs: &[bool], kinds: Kinds) -> Outcome {
        let literals: Vec<Literal> = signs
            .iter()
            .enumerate()
            .map(|(document, sign)| {
                let root = &self.documents[document].document.root;
                Literal::Schema(self.id(document, root), *sign)
            })
            .collect();
        self.reason = None;
        self.solve(literals, true, "", kinds)
    }

    /// A value at an inner place.
    pub(crate) fn nodes(&mut self, nodes: &[(usize, &'a Json, bool)]) -> Outcome {
        let literals = nodes
            .iter()
            .map(|(document, node, sign)| Literal::Schema(self.id(*document, node), *sign))
            .collect();
        self.reason = None;
        self.solve(literals, false, "", Kinds::ANY)
    }

    /// Why the last answer is unknown.
    pub(crate) fn reason(&self) -> Problem {
        self.reason.clone().unwrap_or(Problem::TooLarge)
    }

    fn evaluator(&self, document: usize) -> Evaluator<'_, 'a> {
        Evaluator::new(self.documents[document], self.patterns, &self.lists)
    }

    fn id(&mut self, document: usize, json: &'a Json) -> Id {
        if let Some(id) = self.known.get(&(document, address(json))) {
            return *id;
        }
        let id = Id::try_from(self.nodes.len()).unwrap_or(Id::MAX);
        let fresh = u32::try_from(self.classes.len() + self.nodes.len()).unwrap_or(u32::MAX);
        let class = match self.documents[document].mark(json) {
            Some(mark) => *self.classes.entry(mark).or_insert(fresh),
            None => fresh,
        };
        self.nodes.push(Node {
            document,
            json,
            class,
        });
        self.known.insert((document, address(json)), id);
        id
    }

    fn json(&self, id: Id) -> &'a Json {
        self.nodes[id as usize].json
    }

    fn object(&self, id: Id) -> Option<&'a Object> {
        self.json(id).as_object()
    }

    fn document(&self, id: Id) -> usize {
        self.nodes[id as usize].document
    }

    fn references(&self, id: Id) -> &'r References<'a> {
        self.documents[self.document(id)]
    }

    fn draft(&self, id: Id) -> Draft {
        self.references(id).draft()
    }

    fn is_sender(&self, id: Id) -> bool {
        self.document(id) == 0
    }

    fn child(&mut self, of: Id, json: &'a Json) -> Id {
        self.id(self.document(of), json)
    }

    fn unknown(&mut self, problem: Problem) -> Outcome {
        self.reason.get_or_insert(problem);
        Outcome::Unknown
    }

    fn mark(&self, literal: &Literal) -> Mark {
        match literal {
            Literal::Schema(id, holds) => Mark::Schema {
                class: self.nodes[*id as usize].class,
                holds: *holds,
                declares: *holds && self.is_sender(*id) && self.matters_known(*id),
            },
            Literal::Not(value) => Mark::Not(to_canonical(value)),
            Literal::Match(pattern, sign) => Mark::Match(pattern.clone(), *sign),
        }
    }

    fn matters_known(&self, id: Id) -> bool {
        self.matters.get(&id).copied().unwrap_or(true)
    }

    fn solve(&mut self, literals: Vec<Literal>, root: bool, name: &str, kinds: Kinds) -> Outcome {
        if !self.budget.take(1) {
            return self.unknown(Problem::TooLarge);
        }
        for literal in &literals {
            if let Literal::Schema(id, _) = literal {
                self.matters(*id);
            }
        }
        let marks: BTreeSet<Mark> = literals.iter().map(|it| self.mark(it)).collect();
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
            .find(|(_, outer)| !outer.is_empty() && outer.is_subset(&marks))
            .map(|(depth, _)| depth);
        if let Some(depth) = around {
            self.lowest = self.lowest.min(depth);
            return Outcome::None;
        }
        if self.path.len() > MAX_PATH {
            return self.unknown(Problem::TooLarge);
        }
        let depth = self.path.len();
        self.path.push(marks);
        let outer = std::mem::replace(&mut self.lowest, usize::MAX);
        let mut result = Outcome::None;
        let mut order: Vec<JsonKind> = kinds.iter().collect();
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

    fn run(&mut self, mut case: Case, place: &Place<'_>) -> Outcome {
        if !self.budget.take(1) {
            return self.unknown(Problem::TooLarge);
        }
        // What must hold comes first: it may leave a list of values, or nothing at all.
        case.todo
            .sort_by_key(|item| !matches!(item, Item::Literal(Literal::Schema(_, false))));
        while let Some(item) = case.todo.pop() {
            if !self.budget.take(1) {
                return self.unknown(Problem::TooLarge);
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
        let mut result = Outcome::None;
        for alternative in choice.ways.iter() {
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
    fn next_choice(&mut self, case: &mut Case, kind: JsonKind) -> Option<usize> {
        let mut best: Option<(usize, (bool, usize))> = None;
        let looked_at: usize = case.choices.iter().map(|it| 1 + it.ways.len()).sum();
        self.budget.take(looked_at as u64 / 8);
        let mut choices = std::mem::take(&mut case.choices);
        choices.retain(|choice| !self.is_decided(case, choice, kind));
        case.choices = choices;
        for index in 0..case.choices.len() {
            let choice = case.choices[index].ways.clone();
            let open: Vec<&Vec<Item>> = choice
                .iter()
                .filter(|alternative| !alternative.iter().any(|it| self.contradicts(case, it)))
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
    fn is_decided(&self, case: &Case, choice: &Choice, kind: JsonKind) -> bool {
        if let Some(refusing) = choice.refuses
            && case.held.iter().any(|it| self.apart(*it, refusing, kind))
        {
            return true;
        }
        choice
            .ways
            .iter()
            .any(|way| way.iter().all(|item| self.known_item(case, item)))
    }

    fn known_item(&self, case: &Case, item: &Item) -> bool {
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
                .any(|it| matches!(it, Fact::Absent(other) if other == name)),
            Item::Fact(Fact::Present(name)) => case
                .facts
                .iter()
                .any(|it| matches!(it, Fact::Present(other) if other == name)),
            _ => false,
        }
    }

    fn contradicts(&self, case: &Case, item: &Item) -> bool {
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
                .any(|it| matches!(it, Fact::Absent(other) if other == name)),
            Item::Fact(Fact::Absent(name)) => {
                case.facts
                    .iter()
                    .any(|it| matches!(it, Fact::Present(other) if other == name))
                    || case.held.iter().any(|id| self.requires(*id, name))
            }
            Item::Fact(Fact::Member(name, Literal::Schema(id, false))) => {
                // The same schema accepts the member.
                let class = self.nodes[*id as usize].class;
                case.held.iter().any(|held| {
                    self.properties
                        .get(held)
                        .and_then(|it| it.get(name))
                        .is_some_and(|it| self.nodes[*it as usize].class == class)
                })
            }
            _ => false,
        }
    }

    fn apply(&mut self, case: &mut Case, item: Item, place: &Place<'_>) -> Result<(), Closed> {
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
    fn other_than(&mut self, value: &Json) -> Vec<Vec<Item>> {
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

    /// Whether a schema determines which members or items there are, here or below.
    fn matters(&mut self, id: Id) -> bool {
        if let Some(known) = self.matters.get(&id) {
            return *known;
        }
        // A schema inside itself adds nothing.
        self.matters.insert(id, false);
        let found = self.looks(id);
        self.matters.insert(id, found);
        found
    }

    fn looks(&mut self, id: Id) -> bool {
        let Some(object) = self.object(id) else {
            return false;
        };
        let says = [
            "properties",
            "patternProperties",
            "additionalProperties",
            "unevaluatedProperties",
            "required",
            "items",
            "prefixItems",
            "additionalItems",
            "unevaluatedItems",
            "contains",
            "dependentSchemas",
            "dependencies",
        ];
        if says.iter().any(|keyword| object.contains(keyword)) {
            return true;
        }
        let Ok(parts) = self.parts(id) else {
            return true;
        };
        parts.into_iter().any(|part| self.matters(part))
    }

    /// The schemas that a schema applies to the same value, whether or not they accept.
    fn parts(&mut self, id: Id) -> Result<Vec<Id>, Problem> {
        let Some(object) = self.object(id) else {
            return Ok(Vec::new());
        };
        let mut found: Vec<&'a Json> = self
            .references(id)
            .targets(self.json(id))?
            .into_iter()
            .map(|(target, _)| target)
            .collect();
        if !self.silenced(id) {
            for keyword in ["allOf", "anyOf", "oneOf"] {
                found.extend(object.get(keyword).and_then(Json::as_array).unwrap_or(&[]));
            }
            if self.draft(id) >= Draft::Seven && object.contains("if") {
                found.extend(
                    ["if", "then", "else"]
                        .iter()
                        .filter_map(|it| object.get(it)),
                );
            }
            let dependent = self.dependent(id);
            found.extend(dependent.into_iter().map(|(_, schema)| schema));
        }
        Ok(found.into_iter().map(|it| self.child(id, it)).collect())
    }

    /// Whether a reference overrides its siblings.
    fn silenced(&self, id: Id) -> bool {
        self.draft(id) <= Draft::Seven && self.object(id).is_some_and(|it| it.contains("$ref"))
    }

    fn dependent(&self, id: Id) -> Vec<(&'a Text, &'a Json)> {
        let keyword = if self.draft(id) >= Draft::Y2019 {
            "dependentSchemas"
        } else {
            "dependencies"
        };
        self.object(id)
            .and_then(|it| it.get(keyword)?.as_object())
            .into_iter()
            .flat_map(Object::iter)
            .filter(|(_, schema)| matches!(schema, Json::Object(_) | Json::Bool(_)))
            .collect()
    }

    fn dependent_names(&self, id: Id) -> Vec<(&'a Text, Vec<&'a Text>)> {
        let keyword = if self.draft(id) >= Draft::Y2019 {
            "dependentRequired"
        } else {
            "dependencies"
        };
        self.object(id)
            .and_then(|it| it.get(keyword)?.as_object())
            .into_iter()
            .flat_map(Object::iter)
            .filter_map(|(name, names)| match names {
                Json::Array(names) => {
                    Some((name, names.iter().filter_map(Json::as_text).collect()))
                }
                Json::String(other) => Some((name, vec![other])),
                _ => None,
            })
            .collect()
    }

    /// Whether a branch can accept a value of this type, judging by its types.
    fn possible(&self, id: Id, kind: JsonKind) -> bool {
        let mut node = self.json(id);
        for _ in 0..8 {
            let object = match node {
                Json::Bool(verdict) => return *verdict,
                Json::Object(object) => object,
                _ => return true,
            };
            let silenced = self.draft(id) <= Draft::Seven && object.contains("$ref");
            if !silenced {
                let typed = object.get("type").map_or(Kinds::ANY, Kinds::of_keyword);
                if !typed.has(kind) {
                    return false;
                }
                if let Some(value) = object.get("const").filter(|_| self.draft(id) > Draft::Four)
                    && JsonKind::of(value) != kind
                {
                    return false;
                }
                if let Some(Json::Array(values)) = object.get("enum")
                    && values.iter().all(|it| JsonKind::of(it) != kind)
                {
                    return false;
                }
            }
            match self.references(id).targets(node).as_deref() {
                Ok([(target, _)]) => node = target,
                _ => return true,
            }
        }
        true
    }

    /// Whether two branches cannot both accept, by a quick check: a member that both require has a
    /// different constant in each.
    fn apart(&self, one: Id, other: Id, kind: JsonKind) -> bool {
        if kind != JsonKind::Object {
            return false;
        }
        let mine = self.tags(one);
        if mine.is_empty() {
            return false;
        }
        self.tags(other).iter().any(|(name, values)| {
            mine.iter().any(|(it, others)| {
                it == name
                    && values
                        .iter()
                        .all(|value| others.iter().all(|other| !same(value, other)))
            })
        })
    }

    fn tags(&self, id: Id) -> Rc<Tags<'a>> {
        if let Some(known) = self.tagged.borrow().get(&id) {
            return known.clone();
        }
        let found = Rc::new(self.find_tags(id));
        self.tagged.borrow_mut().insert(id, found.clone());
        found
    }

    fn find_tags(&self, id: Id) -> Tags<'a> {
        let references = self.references(id);
        let mut node = self.json(id);
        for _ in 0..8 {
            match references.targets(node).as_deref() {
                Ok([(target, _)]) => node = target,
                Ok(_) => break,
                Err(_) => return Vec::new(),
            }
        }
        let Some(object) = node.as_object() else {
            return Vec::new();
        };
        let draft = references.draft();
        let Some(Json::Object(properties)) = object.get("properties") else {
            return Vec::new();
        };
        properties
            .iter()
            .filter(|(name, _)| references.requires(object, name))
            .filter_map(|(name, schema)| {
                let listed = schema.get("enum").and_then(Json::as_array);
                let values: Vec<&Json> = match schema.get("const").filter(|_| draft > Draft::Four) {
                    Some(value) => vec![value],
                    None => listed.filter(|it| it.len() < 16)?.iter().collect(),
                };
                (schema.get("$ref").is_none()).then_some((name, values))
            })
            .collect()
    }

    fn requires(&self, id: Id, name: &Text) -> bool {
        self.object(id)
            .is_some_and(|object| self.references(id).requires(object, name))
    }

    /// Records that a schema accepts the value.
    fn assert(&mut self, case: &mut Case, id: Id, place: &Place<'_>) -> Result<(), Closed> {
        let kind = place.kind;
        let object = match self.json(id) {
            Json::Bool(true) => return Ok(()),
            Json::Bool(false) => return Err(Closed::Contradiction),
            Json::Object(object) => object,
            other => {
                return Err(
                    Problem::Other(crate::sentences::schema::no_schema(other.kind())).into(),
                );
            }
        };
        let holds = |id: Id| Item::Literal(Literal::Schema(id, true));
        let fails = |id: Id| Item::Literal(Literal::Schema(id, false));
        for (target, _) in self.references(id).targets(self.json(id))? {
            let target = self.child(id, target);
            case.todo.push(holds(target));
        }
        if self.silenced(id) {
            return Ok(());
        }
        if let Some(types) = object.get("type")
            && !Kinds::of_keyword(types).has(kind)
        {
            return Err(Closed::Contradiction);
        }
        let draft = self.draft(id);
        if (draft > Draft::Four && object.contains("const")) || object.contains("enum") {
            case.listed = Some(id);
            return Ok(());
        }
        case.held.push(id);
        let list = |keyword: &str| object.get(keyword).and_then(Json::as_array).unwrap_or(&[]);
        for part in list("allOf") {
            let part = self.child(id, part);
            case.todo.push(holds(part));
        }
        let exact_here = match kind {
            JsonKind::Object | JsonKind::Array => {
                self.is_sender(id) || self.references(id).has_unevaluated
            }
            _ => false,
        };
        if object.contains("anyOf") {
            let branches = self.branches(id, list("anyOf"), kind);
            self.any_of(case, &branches, exact_here, kind)?;
        }
        if object.contains("oneOf") {
            let branches = self.branches(id, list("oneOf"), kind);
            let ways: Vec<Vec<Item>> = branches
                .iter()
                .map(|one| {
                    let mut way = vec![holds(*one)];
                    way.extend(
                        branches
                            .iter()
                            .filter(|it| *it != one && !self.apart(*one, **it, kind))
                            .map(|it| fails(*it)),
                    );
                    way
                })
                .collect();
            // The same branch twice never holds exactly once.
            Self::choose(case, ways)?;
        }
        if let Some(not) = object.get("not") {
            let not = self.child(id, not);
            case.todo.push(fails(not));
        }
        if draft >= Draft::Seven
            && let Some(condition) = object.get("if")
        {
            let condition = self.child(id, condition);
            let mut ways = Vec::new();
            for (sign, keyword) in [(true, "then"), (false, "else")] {
                let mut way = vec![Item::Literal(Literal::Schema(condition, sign))];
                if let Some(branch) = object.get(keyword) {
                    way.push(holds(self.child(id, branch)));
                }
                ways.push(way);
            }
            if ways.iter().any(|it| it.len() > 1) || (exact_here && self.matters(condition)) {
                Self::choose(case, ways)?;
            }
        }
        match kind {
            JsonKind::Object => self.assert_object(case, id, object)?,
            JsonKind::Array => self.assert_array(case, id, object)?,
            _ => {}
        }
        Ok(())
    }

    /// The branches that can accept a value of this type.
    fn branches(&mut self, id: Id, list: &'a [Json], kind: JsonKind) -> Vec<Id> {
        let mut branches: Vec<Id> = list.iter().map(|it| self.child(id, it)).collect();
        branches.retain(|it| self.possible(*it, kind));
        branches
    }

    fn choose(case: &mut Case, mut ways: Vec<Vec<Item>>) -> Result<(), Closed> {
        match ways.len() {
            0 => return Err(Closed::Contradiction),
            1 => case.todo.append(&mut ways[0]),
            _ => case.choices.push(Choice::of(ways)),
        }
        Ok(())
    }

    /// One of the branches accepts. If it matters which members they evaluate, it is decided for
    /// each.
    fn any_of(
        &mut self,
        case: &mut Case,
        branches: &[Id],
        exact: bool,
        kind: JsonKind,
    ) -> Result<(), Closed> {
        let holds = |id: Id| Item::Literal(Literal::Schema(id, true));
        let fails = |id: Id| Item::Literal(Literal::Schema(id, false));
        let exact = exact && branches.iter().any(|it| self.matters(*it));
        if !exact {
            return Self::choose(case, branches.iter().map(|it| vec![holds(*it)]).collect());
        }
        let mut ways: Vec<Vec<Item>> = Vec::new();
        for (index, one) in branches.iter().enumerate() {
            let mut way = vec![holds(*one)];
            for earlier in &branches[..index] {
                if !self.apart(*one, *earlier, kind) {
                    way.push(fails(*earlier));
                }
            }
            ways.push(way);
        }
        Self::choose(case, ways)?;
        for (index, one) in branches.iter().enumerate() {
            // Whether a later one accepts as well.
            let alone = branches
                .iter()
                .enumerate()
                .all(|(other, it)| other == index || self.apart(*one, *it, kind));
            if index > 0 && !alone && self.matters(*one) {
                case.choices
                    .push(Choice::of(vec![vec![fails(*one)], vec![holds(*one)]]));
            }
        }
        Ok(())
    }

    fn decide(&mut self, case: &mut Case, id: Id) -> Result<(), Closed> {
        for part in self.parts(id)? {
            if !self.matters(part) {
                continue;
            }
            match case.truth.get(&part) {
                Some(true) => case.todo.push(Item::Decide(part)),
                Some(false) => {}
                None => case.choices.push(Choice::of(vec![
                    vec![
                        Item::Literal(Literal::Schema(part, true)),
                        Item::Decide(part),
                    ],
                    vec![Item::Literal(Literal::Schema(part, false))],
                ])),
            }
        }
        Ok(())
    }

    /// The ways in which a schema rejects a value of this type.
    fn refuse(&mut self, id: Id, kind: JsonKind) -> Result<Vec<Vec<Item>>, Closed> {
        let always = || vec![Vec::new()];
        let object = match self.json(id) {
            Json::Bool(true) => return Ok(Vec::new()),
            Json::Bool(false) => return Ok(always()),
            Json::Object(object) => object,
            other => {
                return Err(
                    Problem::Other(crate::sentences::schema::no_schema(other.kind())).into(),
                );
            }
        };
        let holds = |id: Id| Item::Literal(Literal::Schema(id, true));
        let fails = |id: Id| Item::Literal(Literal::Schema(id, false));
        let mut ways: Vec<Vec<Item>> = Vec::new();
        for (target, _) in self.references(id).targets(self.json(id))? {
            let target = self.child(id, target);
            ways.push(vec![fails(target)]);
        }
        if self.silenced(id) {
            return Ok(ways);
        }
        if let Some(types) = object.get("type")
            && !Kinds::of_keyword(types).has(kind)
        {
            return Ok(always());
        }
        let draft = self.draft(id);
        if let Some(value) = object.get("const").filter(|_| draft > Draft::Four) {
            if JsonKind::of(value) != kind {
                return Ok(always());
            }
            ways.push(vec![Item::Literal(Literal::Not(Rc::new(value.clone())))]);
        }
        if let Some(Json::Array(values)) = object.get("enum") {
            let alike: Vec<&Json> = values
                .iter()
                .filter(|it| JsonKind::of(it) == kind)
                .collect();
            if alike.is_empty() {
                return Ok(always());
            }
            if matches!(kind, JsonKind::Array | JsonKind::Object) {
                if alike.len() > 64 {
                    return Err(Problem::TooLarge.into());
                }
                ways.push(
                    alike
                        .into_iter()
                        .map(|it| Item::Literal(Literal::Not(Rc::new(it.clone()))))
                        .collect(),
                );
            } else {
                ways.push(vec![Item::Fact(Fact::NotListed(id))]);
            }
        }
        match kind {
            JsonKind::Object => self.refuse_object(id, object, &mut ways)?,
            JsonKind::Array => self.refuse_array(id, object, &mut ways)?,
            JsonKind::Integer | JsonKind::Fraction => refuse_number(object, draft, &mut ways)?,
            JsonKind::String => refuse_text(object, &mut ways)?,
            _ => {}
        }
        let list = |keyword: &str| object.get(keyword).and_then(Json::as_array).unwrap_or(&[]);
        for part in list("allOf") {
            let part = self.child(id, part);
            ways.push(vec![fails(part)]);
        }
        if let Some(not) = object.get("not") {
            let not = self.child(id, not);
            ways.push(vec![holds(not)]);
        }
        for keyword in ["anyOf", "oneOf"] {
            if !object.contains(keyword) {
                continue;
            }
            let branches = self.branches(id, list(keyword), kind);
            ways.push(branches.iter().map(|it| fails(*it)).collect());
            if keyword == "oneOf" {
                for (index, one) in branches.iter().enumerate() {
                    for other in &branches[index + 1..] {
                        if !self.apart(*one, *other, kind) {
                            ways.push(vec![holds(*one), holds(*other)]);
                        }
                    }
                }
            }
        }
        if draft >= Draft::Seven
            && let Some(condition) = object.get("if")
        {
            let condition = self.child(id, condition);
            for (sign, keyword) in [(true, "then"), (false, "else")] {
                if let Some(branch) = object.get(keyword) {
                    let branch = self.child(id, branch);
                    ways.push(vec![
                        Item::Literal(Literal::Schema(condition, sign)),
                        fails(branch),
                    ]);
                }
            }
        }
        Ok(ways)
    }

    /// The value is one of a list: each is tried against the whole place.
    fn among(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
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
        for value in values.iter().filter(|it| JsonKind::of(it) == place.kind) {
            if !self.budget.take(1) {
                return self.unknown(Problem::TooLarge);
            }
            match self.fits(place, value) {
                Some(true) => return Outcome::Value(value.clone()),
                Some(false) => {}
                None => {
                    result =
                        self.unknown(Problem::Other(crate::sentences::schema::value_not_checked()));
                }
            }
        }
        result
    }

    /// Whether a value solves a place.
    fn fits(&self, place: &Place<'_>, value: &Json) -> Option<bool> {
        let mut senders = Vec::new();
        self.budget.take(size(value) / 16);
        let answers = place.literals.iter().map(|literal| match literal {
            Literal::Schema(id, holds) => {
                if *holds && self.is_sender(*id) {
                    senders.push(self.json(*id));
                }
                self.evaluator(self.document(*id))
                    .accepts(self.json(*id), value)
                    .map(|it| it == *holds)
            }
            Literal::Not(other) => Some(!same(other, value)),
            Literal::Match(pattern, sign) => self
                .patterns
                .matches(pattern, value.as_str()?)
                .map(|it| it == *sign),
        });
        match evaluate::all(answers.collect::<Vec<_>>()) {
            Some(true) => self
                .evaluator(0)
                .declared(&senders, value, place.root, self.strict, 0),
            other => other,
        }
    }

    fn leaf(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let excluded = |value: &Json| {
            case.facts.iter().any(|fact| match fact {
                Fact::Not(other) => same(other, value),
                Fact::NotListed(id) => self
                    .object(*id)
                    .and_then(|it| it.get("enum"))
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
                .find(|it| !excluded(it))
                .map_or(Outcome::None, Outcome::Value),
            JsonKind::Integer | JsonKind::Fraction => self.number(case, place),
            JsonKind::String => self.text(case, place),
            JsonKind::Array => self.array(case, place),
            JsonKind::Object => self.members(case, place),
        }
    }

    /// Values that the schemas themselves name as examples.
    fn liked(&self, case: &Case) -> Vec<&'a Json> {
        let mut values: Vec<&'a Json> = Vec::new();
        for id in case.held.iter().filter(|it| self.is_sender(**it)) {
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

    fn number(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let beyond = || Problem::Other(crate::sentences::schema::number_too_long());
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
                    let listed = self.object(*id).and_then(|it| it.get("enum")?.as_array());
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
            .filter_map(|it| match it {
                Json::Number(number) => Exact::of(number),
                _ => None,
            })
            .collect();
        if place.kind == JsonKind::Integer {
            let usual = crate::canonical::Number::from(whole_for(place.name));
            liked.extend(Exact::of(&usual));
            liked.extend(Exact::of(&crate::canonical::Number::from(1)));
        } else if let Ok(Json::Number(half)) = crate::canonical::parse_str("0.5") {
            liked.extend(Exact::of(&half));
        }
        match wanted.find(place.kind, &liked) {
            Found::One(value) => Outcome::Value(value),
            Found::None => Outcome::None,
            Found::Unknown => {
                self.unknown(Problem::Other(crate::sentences::schema::number_undecided()))
            }
        }
    }

    fn text(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
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
                    None => return self.unknown(Problem::Keyword("pattern")),
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
                    let listed = self.object(*id).and_then(|it| it.get("enum")?.as_array());
                    wanted.excluded.extend(
                        listed
                            .unwrap_or(&[])
                            .iter()
                            .filter_map(|it| it.as_str().map(str::to_owned)),
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
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect();
        for id in &case.held {
            let format = self.object(*id).and_then(|it| it.get("format")?.as_str());
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
            candidates.extend(SHAPES.iter().map(|it| (*it).to_owned()));
        }
        if let Some(text) = candidates.into_iter().find(|it| fits(it)) {
            return Outcome::Value(Json::string(text));
        }
        match text::find(&wanted) {
            Found::One(text) if fits(&text) => Outcome::Value(Json::string(text)),
            Found::None => Outcome::None,
            _ => self.unknown(Problem::Other(crate::sentences::schema::text_undecided())),
        }
    }
}

fn refuse_number(object: &Object, draft: Draft, ways: &mut Vec<Vec<Item>>) -> Result<(), Problem> {
    let beyond = || Problem::Other(crate::sentences::schema::number_too_long());
    for lower in [true, false] {
        for (bound, exclusive) in bounds_of(object, lower, draft) {
            let bound = Exact::of(bound).ok_or_else(beyond)?;
            ways.push(vec![Item::Fact(if lower {
                Fact::Upper(bound, !exclusive)
            } else {
                Fact::Lower(bound, !exclusive)
            })]);
        }
    }
    if let Some(Json::Number(step)) = object.get("multipleOf") {
        let step = Exact::of(step).ok_or_else(beyond)?;
        ways.push(vec![Item::Fact(Fact::NotMultiple(step))]);
    }
    Ok(())
}

fn refuse_text(object: &Object, ways: &mut Vec<Vec<Item>>) -> Result<(), Problem> {
    refuse_count(object, "minLength", "maxLength", ways);
    match object.get("pattern") {
        Some(Json::String(pattern)) => {
            let pattern = pattern.as_str().ok_or(Problem::Keyword("pattern"))?;
            ways.push(vec![Item::Fact(Fact::Match(pattern.into(), false))]);
        }
        Some(_) => return Err(Problem::Keyword("pattern")),
        None => {}
    }
    Ok(())
}

fn refuse_count(object: &Object, least: &str, most: &str, ways: &mut Vec<Vec<Item>>) {
    if let Some(count) = object.get(least).and_then(as_count).filter(|it| *it > 0) {
        ways.push(vec![Item::Fact(Fact::AtMost(count - 1))]);
    }
    if let Some(count) = object.get(most).and_then(as_count) {
        ways.push(vec![Item::Fact(Fact::AtLeast(count.saturating_add(1)))]);
    }
}

/// The number of values in a value.
pub(crate) fn size(value: &Json) -> u64 {
    match value {
        Json::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Json::Object(members) => 1 + members.iter().map(|(_, it)| size(it)).sum::<u64>(),
        Json::String(text) => 1 + text.to_string_lossy().len() as u64 / 64,
        _ => 1,
    }
}

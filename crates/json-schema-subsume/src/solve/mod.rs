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

mod accept;
mod array;
mod budget;
mod evaluate;
mod leaf;
mod literals;
mod nodes;
mod number;
mod object;
mod refuse;
mod search;
mod text;
mod views;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

pub(crate) use budget::Budget;
pub(crate) use evaluate::{Evaluator, Patterns, leading};
pub use evaluate::{bounds_of, item_of};
pub(crate) use leaf::size;
pub(crate) use literals::Outcome;
use literals::{Case, Choice, Closed, Fact, Item, Literal, Mark, Node, Place, SomeMember};
pub use nodes::References;
use nodes::{Address, address};

use crate::document::Draft;
use crate::kinds::Kinds;
use crate::reason::Reason;
use exact_json::{Json, Object, Text, to_canonical};

/// A schema of one of the documents.
pub(crate) type Id = u32;

/// Required members with their few possible values.
type Tags<'a> = Vec<(&'a Text, Vec<&'a Json>)>;

pub(crate) struct Solver<'r, 'a> {
    /// The last one is the sender's again, for what its schemas refuse: there nothing is declared, not even by a schema that
    /// accepts the value.
    documents: Vec<&'r References<'a>>,
    patterns: &'r Patterns,
    budget: &'r Budget,
    /// The narrower reading of what is declared.
    strict: bool,
    /// The last branch of a choice comes first, and the last kind of value.
    from_the_end: bool,
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
    reason: Option<Reason>,
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
        let mut documents = documents;
        documents.extend(documents.first().copied());
        Self {
            documents,
            patterns,
            budget,
            strict,
            from_the_end: false,
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

    /// The same questions in the other order: the same proofs, other values.
    pub(crate) fn looking_from_the_end(mut self) -> Self {
        self.from_the_end = true;
        self
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
    pub(crate) fn reason(&self) -> Reason {
        self.reason.clone().unwrap_or(Reason::TooLarge)
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

    /// A schema that declares nothing, with all that is below it.
    fn undeclaring(&mut self, id: Id) -> Id {
        if self.is_sender(id) {
            self.id(self.documents.len() - 1, self.json(id))
        } else {
            id
        }
    }

    /// What a set of literals means.
    fn marks(&self, literals: &[Literal]) -> BTreeSet<Mark> {
        literals.iter().map(|literal| self.mark(literal)).collect()
    }

    fn unknown(&mut self, problem: Reason) -> Outcome {
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
}

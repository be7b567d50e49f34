//! What is known of one value, and what is still open about it.

use std::collections::HashMap;
use std::rc::Rc;

use super::Id;
use super::number::Exact;
use crate::kinds::JsonKind;
use crate::reason::Reason;
use exact_json::{Json, Text};

pub(super) struct Node<'a> {
    pub(super) document: usize,
    pub(super) json: &'a Json,
    /// Schemas of one class mean the same.
    pub(super) class: u32,
}

/// Something that must hold for a value.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    /// A schema accepts it (`true`) or rejects it.
    Schema(Id, bool),
    /// It differs from this value.
    Not(Rc<Json>),
    /// It is a text that matches a pattern, or does not.
    Match(Rc<str>, bool),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Mark {
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
pub(super) enum Item {
    Literal(Literal),
    Fact(Fact),
    /// Which of the schemas that a schema applies in place accept, for the members that they
    /// evaluate.
    Decide(Id),
}

/// What is known about a value of a known type, besides the schemas that accept it.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    Lower(Exact, bool),
    Upper(Exact, bool),
    NotMultiple(Exact),
    /// Written as draft 4 does not write an integer: `1.0`.
    Spelled,
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
pub(super) struct SomeMember {
    pub(super) matching: Vec<Rc<str>>,
    /// Named by neither `properties` nor `patternProperties` of this schema.
    pub(super) unnamed_by: Option<Id>,
    pub(super) unseen_by: Option<Id>,
    pub(super) not_among: Vec<Text>,
    pub(super) name: Vec<Literal>,
    pub(super) value: Vec<Literal>,
}

/// Alternatives of which one must hold.
#[derive(Clone)]
pub(super) struct Choice {
    /// The schema that rejects, if these are its ways to do so.
    pub(super) refuses: Option<Id>,
    pub(super) ways: Rc<Vec<Vec<Item>>>,
}

impl Choice {
    pub(super) fn of(ways: Vec<Vec<Item>>) -> Self {
        Self {
            refuses: None,
            ways: Rc::new(ways),
        }
    }
}

/// One way in which a place may be solved.
#[derive(Clone, Default)]
pub(super) struct Case {
    pub(super) todo: Vec<Item>,
    pub(super) choices: Vec<Choice>,
    pub(super) seen: HashMap<(u32, bool), bool>,
    pub(super) truth: HashMap<Id, bool>,
    /// Schemas that accept the value, references and `allOf` followed.
    pub(super) held: Vec<Id>,
    /// The list of values that it is among.
    pub(super) listed: Option<Id>,
    pub(super) facts: Vec<Fact>,
}

/// A place with its name for a reader.
pub(super) struct Place<'p> {
    pub(super) literals: &'p [Literal],
    pub(super) root: bool,
    pub(super) name: &'p str,
    pub(super) kind: JsonKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Value(Json),
    None,
    Unknown,
}

/// Why a case is closed.
pub(super) enum Closed {
    Contradiction,
    Unknown(Reason),
}

impl From<Reason> for Closed {
    fn from(problem: Reason) -> Self {
        Self::Unknown(problem)
    }
}

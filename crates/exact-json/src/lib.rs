#![doc = include_str!("../README.md")]

mod embedded;
pub mod jcs;
mod lines;
mod number;
pub mod pointer;
pub mod python;
pub mod reader;
mod text;
pub mod writer;

use std::collections::BTreeMap;

pub use lines::Lines;
pub use number::{Decimal, Number};
pub use reader::{Document, ReadError, parse, parse_document, parse_str, parse_wrapped};
pub use text::Text;
pub use writer::{
    canonical_array, canonical_object, is_invisible, is_unseen, to_canonical, to_compact,
    to_pretty, write_compact, write_line, write_members_at, write_pretty_at,
};

/// A JSON value as it was sent.
///
/// `==` compares what was sent: member order and number spelling count. Use [`Json::same_value`] to compare
/// meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(Text),
    Array(Vec<Json>),
    /// Members in the order sent, including repeated ones.
    Object(Object),
}

/// The members of an object in the order sent. A name may appear more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    members: Vec<(Text, Json)>,
}

impl Object {
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of `name`; the last one if the member is repeated, as in every common JSON parser.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members
            .iter()
            .rev()
            .find(|(member, _)| member == name)
            .map(|(_, value)| value)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Appends a member without checking for an existing one of that name.
    pub fn push(&mut self, name: impl Into<Text>, value: Json) {
        self.members.push((name.into(), value));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Json)> {
        self.members.iter().map(|(name, value)| (name, value))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&mut Text, &mut Json)> {
        self.members.iter_mut().map(|(name, value)| (name, value))
    }

    /// The number of members, including repeated ones.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &Json) -> bool) {
        self.members.retain(|(name, value)| keep(name, value));
    }

    /// The value of `name`; the last one if the member is repeated.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.members
            .iter_mut()
            .rev()
            .find(|(member, _)| member == name)
            .map(|(_, value)| value)
    }

    /// Takes the value of `name` (the last one if repeated), leaving `null` in its place.
    pub fn take(&mut self, name: &str) -> Option<Json> {
        let value = self.get_mut(name)?;
        Some(std::mem::replace(value, Json::Null))
    }

    /// Whether a name appears more than once.
    fn repeats(&self) -> bool {
        /// Up to this many members, comparing each with each is the cheapest.
        const FEW: usize = 10;
        let names = || self.members.iter().map(|(name, _)| name);
        if self.members.len() <= FEW {
            let mut rest = names();
            return std::iter::from_fn(|| Some((rest.next()?, rest.clone())))
                .any(|(name, mut after)| after.any(|it| it == name));
        }
        let mut sorted: Vec<&Text> = names().collect();
        sorted.sort_unstable();
        sorted.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// One value per name (the last one if repeated), sorted by name.
    ///
    /// The linear lookup of [`Object::get`] suits the small objects of a contract. Code that compares two
    /// objects member by member uses this instead, so that a hostile object with a million members stays
    /// cheap.
    pub fn by_name(&self) -> BTreeMap<&Text, &Json> {
        self.members
            .iter()
            .map(|(name, value)| (name, value))
            .collect()
    }
}

impl FromIterator<(Text, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (Text, Json)>>(members: I) -> Self {
        Self {
            members: members.into_iter().collect(),
        }
    }
}

impl Json {
    /// An object from pairs.
    pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, Json)>) -> Self {
        Json::Object(
            members
                .into_iter()
                .map(|(name, value)| (Text::from(name), value))
                .collect(),
        )
    }

    pub fn string(text: impl Into<Text>) -> Self {
        Json::String(text.into())
    }

    pub fn integer(value: i64) -> Self {
        Json::Number(Number::from(value))
    }

    /// The member `name`, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The string, if this is one and is well-formed Unicode.
    pub fn as_str(&self) -> Option<&str> {
        self.as_text().and_then(Text::as_str)
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// JSON's name for this type of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// Whether two values mean the same: member order is ignored, numbers compare by value (`1` equals
    /// `1.0`).
    ///
    /// Repeated members count, so a value with a repeated member never equals one without.
    pub fn same_value(&self, other: &Json) -> bool {
        self == other || to_canonical(self) == to_canonical(other)
    }

    /// Each object with a repeated member: its JSON pointer and the member's name.
    pub fn repeated_members(&self) -> Vec<(String, Text)> {
        let mut found = Vec::new();
        // Nearly no contract has one, and pointers to everything would cost more than looking.
        if self.repeats_a_member() {
            collect_repeated(self, &mut String::new(), &mut found);
        }
        found
    }

    fn repeats_a_member(&self) -> bool {
        match self {
            Json::Array(items) => items.iter().any(Json::repeats_a_member),
            Json::Object(object) => {
                object.repeats() || object.iter().any(|(_, item)| item.repeats_a_member())
            }
            _ => false,
        }
    }
}

fn collect_repeated(value: &Json, at: &mut String, found: &mut Vec<(String, Text)>) {
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer::descend(at, &index.to_string(), |at| {
                    collect_repeated(item, at, found);
                });
            }
        }
        Json::Object(object) => {
            let mut names: Vec<&Text> = object.iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            for pair in names.windows(2) {
                let already = found.last().is_some_and(|(p, n)| p == at && n == pair[0]);
                if pair[0] == pair[1] && !already {
                    found.push((at.clone(), pair[0].clone()));
                }
            }
            for (name, item) in object.iter() {
                pointer::descend(at, name.to_string_lossy(), |at| {
                    collect_repeated(item, at, found);
                });
            }
        }
        _ => {}
    }
}

//! Where two JSON values differ: the smallest places that explain every difference.

use std::collections::BTreeSet;

use crate::canonical::{Json, pointer};

/// One place at which two values differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Relative to the root of what was compared.
    pub(crate) pointer: String,
    pub(crate) old: Option<Json>,
    pub(crate) new: Option<Json>,
}

/// The places at which `old` and `new` differ in meaning. Objects are compared member by member,
/// arrays of the same length item by item; anything else is one difference.
pub(crate) fn differences(old: &Json, new: &Json) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(Some(old), Some(new), &mut String::new(), &mut found);
    found
}

/// Linear in the size of both: containers that are descended into are not compared as a whole as
/// well.
fn walk(old: Option<&Json>, new: Option<&Json>, at: &mut String, found: &mut Vec<Difference>) {
    let differ = match (old, new) {
        (None, None) => false,
        (Some(Json::Object(one)), Some(Json::Object(other))) => {
            let before = found.len();
            let (one_named, other_named) = (one.by_name(), other.by_name());
            let names: BTreeSet<_> = one_named.keys().chain(other_named.keys()).collect();
            for name in names {
                pointer::descend(at, name.to_string_lossy(), |at| {
                    let (one, other) = (one_named.get(*name), other_named.get(*name));
                    walk(one.copied(), other.copied(), at, found);
                });
            }
            // Repeated members: each name may agree in its last value while the objects still
            // differ.
            let repeated = one.len() != one_named.len() || other.len() != other_named.len();
            found.len() == before
                && repeated
                && !old
                    .zip(new)
                    .is_some_and(|(one, other)| one.same_value(other))
        }
        (Some(Json::Array(one)), Some(Json::Array(other))) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                pointer::descend(at, &index.to_string(), |at| {
                    walk(Some(one), Some(other), at, found);
                });
            }
            false
        }
        (Some(one), Some(other)) => !one.same_value(other),
        _ => true,
    };
    if differ {
        found.push(Difference {
            pointer: at.clone(),
            old: old.cloned(),
            new: new.cloned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    fn places(old: &str, new: &str) -> Vec<String> {
        differences(&parse_str(old).unwrap(), &parse_str(new).unwrap())
            .into_iter()
            .map(|difference| difference.pointer)
            .collect()
    }

    #[test]
    fn the_smallest_places_are_named() {
        assert_eq!(
            places(r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"b":1,"c":3,"d":4}}"#),
            ["/a/c", "/a/d"]
        );
        assert_eq!(places("[1,2]", "[1,3]"), ["/1"]);
        assert_eq!(places("[1,2]", "[1]"), [""]);
        assert_eq!(places("1", "\"1\""), [""]);
    }

    #[test]
    fn spelling_is_not_a_difference_but_a_repeated_member_is() {
        assert!(places(r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1}"#).is_empty());
        assert_eq!(places(r#"{"x":{"a":1,"a":2}}"#, r#"{"x":{"a":2}}"#), ["/x"]);
    }
}

//! Members under a new name.

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::{Json, Text, to_canonical};
use crate::schema::naming::{is_telling, normalised, unique, without_title};

/// A member that only one side has.
pub(super) struct Candidate<'a> {
    pub(super) name: &'a Text,
    pub(super) schema: &'a Json,
    pub(super) required: bool,
}

/// One side: all of its properties, and those that only it has, by name.
pub(super) type Members<'c, 'a> = (&'c BTreeMap<&'a Text, &'a Json>, &'c [Candidate<'a>]);

/// The members that are one under two names: the schema is the same, with its description, and
/// either the names differ in spelling only, or the description says something and no other member
/// of either side has both.
pub(super) fn renamed<'c, 'a>(
    (was, removed): Members<'c, 'a>,
    (is, added): Members<'c, 'a>,
) -> Vec<(&'c Candidate<'a>, &'c Candidate<'a>)> {
    if removed.is_empty() || added.is_empty() {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    let (mine, theirs) = (by_spelling(removed), by_spelling(added));
    for (mark, old) in mine {
        if let (Some(old), Some(Some(new))) = (old, theirs.get(&mark)) {
            pairs.push((old, *new));
        }
    }
    let paired: BTreeSet<&Text> = pairs
        .iter()
        .flat_map(|(old, new)| [old.name, new.name])
        .collect();
    let find = |among: &'c [Candidate<'a>], name: Option<&Text>| {
        let at = among.binary_search_by(|candidate| Some(candidate.name).cmp(&name));
        let found = &among[at.ok()?];
        let may_be = !paired.contains(found.name) && is_telling(found.schema.get("description"));
        may_be.then_some(found)
    };
    let (mine, theirs) = (by_definition(was), by_definition(is));
    for (mark, old) in mine {
        let new = theirs.get(&mark).copied().flatten();
        if let (Some(old), Some(new)) = (find(removed, old), find(added, new)) {
            pairs.push((old, new));
        }
    }
    pairs
}

fn definition(schema: &Json) -> String {
    to_canonical(&without_title(schema))
}

fn by_spelling<'c, 'a>(
    candidates: &'c [Candidate<'a>],
) -> BTreeMap<String, Option<&'c Candidate<'a>>> {
    unique(candidates.iter().map(|candidate| {
        let name = normalised(candidate.name.to_string_lossy());
        (
            format!("{name} {}", definition(candidate.schema)),
            candidate,
        )
    }))
}

fn by_definition<'a>(
    properties: &BTreeMap<&'a Text, &'a Json>,
) -> BTreeMap<String, Option<&'a Text>> {
    unique(
        properties
            .iter()
            .map(|(name, schema)| (definition(schema), *name)),
    )
}

//! Whether two schemas share no value at all: what `oneOf` and `not` ask for.

use super::super::document::Document;
use super::evaluate::{Patterns, accepts_all};
use super::view::{Kind, View};
use crate::canonical::Json;

const MAX_DEPTH: usize = 6;
const MAX_STEPS: usize = 60_000;

pub(super) struct Disjointness<'a, 's> {
    pub(super) one: &'a Document,
    pub(super) other: &'a Document,
    pub(super) patterns: &'a Patterns,
    pub(super) steps: &'s mut usize,
}

impl<'a> Disjointness<'a, '_> {
    /// Whether no value of `kind` under `view` satisfies `other`. `false` means "not shown".
    pub(super) fn show(
        &mut self,
        view: &View<'a>,
        kind: Kind,
        other: &'a Json,
        depth: usize,
    ) -> bool {
        *self.steps += 1;
        if depth > MAX_DEPTH || *self.steps > MAX_STEPS {
            return false;
        }
        let Ok(theirs) = View::of(self.other, other) else {
            return false;
        };
        self.views(view, kind, &theirs, depth)
    }

    fn views(&mut self, mine: &View<'a>, kind: Kind, theirs: &View<'a>, depth: usize) -> bool {
        if mine.never || theirs.never || !mine.kinds().has(kind) || !theirs.kinds().has(kind) {
            return true;
        }
        if let Some(values) = mine.finite() {
            let refused = values
                .iter()
                .filter(|it| Kind::of(it) == kind)
                .all(|value| {
                    let parts = theirs.parts.iter().map(|part| part.node);
                    accepts_all(self.other, parts, value, self.patterns) == Some(false)
                });
            if refused {
                return true;
            }
        }
        if let Some(values) = theirs.finite() {
            let refused = values
                .iter()
                .filter(|it| Kind::of(it) == kind)
                .all(|value| {
                    let parts = mine.parts.iter().map(|part| part.node);
                    accepts_all(self.one, parts, value, self.patterns) == Some(false)
                });
            if refused {
                return true;
            }
        }
        if matches!(kind, Kind::Integer | Kind::Fraction) && apart(mine, theirs) {
            return true;
        }
        if kind == Kind::Object && self.members(mine, theirs, depth) {
            return true;
        }
        self.branches(mine, kind, theirs, depth)
    }

    /// A member that must be there and cannot satisfy both.
    fn members(&mut self, mine: &View<'a>, theirs: &View<'a>, depth: usize) -> bool {
        let required: std::collections::BTreeSet<_> =
            mine.required().union(&theirs.required()).copied().collect();
        for name in required {
            let my_member = mine.member(name, self.patterns);
            let their_member = theirs.member(name, self.patterns);
            let refused = |nodes: &[&Json]| nodes.iter().any(|it| **it == Json::Bool(false));
            if refused(&my_member) || refused(&their_member) {
                return true;
            }
            let (Ok(my_view), Ok(their_view)) = (
                View::of_all(self.one, &my_member),
                View::of_all(self.other, &their_member),
            ) else {
                continue;
            };
            *self.steps += 1;
            if depth < MAX_DEPTH
                && *self.steps < MAX_STEPS
                && Kind::ALL
                    .into_iter()
                    .all(|kind| self.views(&my_view, kind, &their_view, depth + 1))
            {
                return true;
            }
        }
        false
    }

    /// A union is disjoint from a schema when all of its branches are.
    fn branches(&mut self, mine: &View<'a>, kind: Kind, theirs: &View<'a>, depth: usize) -> bool {
        if depth >= MAX_DEPTH || *self.steps > MAX_STEPS {
            return false;
        }
        if let Some(Ok(branches)) = theirs.split(self.other) {
            *self.steps += branches.len();
            return branches
                .iter()
                .all(|(_, _, branch)| self.views(mine, kind, branch, depth + 1));
        }
        if let Some(Ok(branches)) = mine.split(self.one) {
            *self.steps += branches.len();
            return branches
                .iter()
                .all(|(_, _, branch)| self.views(branch, kind, theirs, depth + 1));
        }
        false
    }
}

/// Whether two ranges of numbers do not touch.
fn apart(mine: &View<'_>, theirs: &View<'_>) -> bool {
    let below = |low: Option<super::view::Bound>, high: Option<super::view::Bound>| {
        low.zip(high).is_some_and(|(low, high)| {
            high.value < low.value || (high.value == low.value && (high.exclusive || low.exclusive))
        })
    };
    below(theirs.bound(true), mine.bound(false)) || below(mine.bound(true), theirs.bound(false))
}

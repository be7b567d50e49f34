//! What must hold of a value that a schema accepts.

use super::{Case, Choice, Closed, Id, Item, Literal, Place, Solver};
use crate::document::Draft;
use crate::kinds::{JsonKind, Kinds};
use crate::reason::Reason;
use exact_json::Json;

impl<'a> Solver<'_, 'a> {
    /// Records that a schema accepts the value.
    pub(super) fn assert(
        &mut self,
        case: &mut Case,
        id: Id,
        place: &Place<'_>,
    ) -> Result<(), Closed> {
        let kind = place.kind;
        let object = match self.json(id) {
            Json::Bool(true) => return Ok(()),
            Json::Bool(false) => return Err(Closed::Contradiction),
            Json::Object(object) => object,
            other => {
                return Err(Reason::NoSchema(other.kind()).into());
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
                            .filter(|other| *other != one && !self.apart(*one, **other, kind))
                            .map(|other| fails(*other)),
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
            if ways.iter().any(|way| way.len() > 1) || (exact_here && self.matters(condition)) {
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
    pub(super) fn branches(&mut self, id: Id, list: &'a [Json], kind: JsonKind) -> Vec<Id> {
        let mut branches: Vec<Id> = list.iter().map(|branch| self.child(id, branch)).collect();
        branches.retain(|branch| self.possible(*branch, kind));
        branches
    }

    pub(super) fn choose(case: &mut Case, mut ways: Vec<Vec<Item>>) -> Result<(), Closed> {
        match ways.len() {
            0 => return Err(Closed::Contradiction),
            1 => case.todo.append(&mut ways[0]),
            _ => case.choices.push(Choice::of(ways)),
        }
        Ok(())
    }

    /// One of the branches accepts. If it matters which members they evaluate, it is decided for
    /// each.
    pub(super) fn any_of(
        &mut self,
        case: &mut Case,
        branches: &[Id],
        exact: bool,
        kind: JsonKind,
    ) -> Result<(), Closed> {
        let holds = |id: Id| Item::Literal(Literal::Schema(id, true));
        let fails = |id: Id| Item::Literal(Literal::Schema(id, false));
        let exact = exact && branches.iter().any(|branch| self.matters(*branch));
        if !exact {
            return Self::choose(
                case,
                branches.iter().map(|branch| vec![holds(*branch)]).collect(),
            );
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
                .all(|(other, branch)| other == index || self.apart(*one, *branch, kind));
            if index > 0 && !alone && self.matters(*one) {
                case.choices
                    .push(Choice::of(vec![vec![fails(*one)], vec![holds(*one)]]));
            }
        }
        Ok(())
    }

    pub(super) fn decide(&mut self, case: &mut Case, id: Id) -> Result<(), Closed> {
        let parts = self.parts(id)?;
        // Whether `then` or `else` looks at anything depends on `if`, even if that looks at nothing.
        let condition = self
            .object(id)
            .filter(|_| !self.silenced(id) && self.draft(id) >= Draft::Seven)
            .and_then(|object| object.get("if"));
        let condition = condition.map(|condition| self.child(id, condition));
        let branches = self.object(id).map_or(Vec::new(), |object| {
            ["then", "else"]
                .iter()
                .filter_map(|keyword| object.get(keyword))
                .collect()
        });
        let depends = condition.is_some()
            && branches.into_iter().any(|branch| {
                let branch = self.child(id, branch);
                self.matters(branch)
            });
        for part in parts {
            let decides = depends && Some(part) == condition;
            if !decides && !self.matters(part) {
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
}

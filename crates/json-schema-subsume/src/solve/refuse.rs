//! The ways in which a schema can refuse a value.

use std::rc::Rc;

use super::number::Exact;
use super::{Closed, Fact, Id, Item, Literal, Solver, bounds_of};
use crate::document::Draft;
use crate::kinds::{JsonKind, Kinds};
use crate::reason::Reason;
use crate::value::as_count;
use exact_json::{Json, Object};

impl<'a> Solver<'_, 'a> {
    /// The ways in which a schema rejects a value of this type.
    pub(super) fn refuse(&mut self, id: Id, kind: JsonKind) -> Result<Vec<Vec<Item>>, Closed> {
        let always = || vec![Vec::new()];
        let id = self.undeclaring(id);
        let object = match self.json(id) {
            Json::Bool(true) => return Ok(Vec::new()),
            Json::Bool(false) => return Ok(always()),
            Json::Object(object) => object,
            other => {
                return Err(Reason::NoSchema(other.kind()).into());
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
                .filter(|value| JsonKind::of(value) == kind)
                .collect();
            if alike.is_empty() {
                return Ok(always());
            }
            if matches!(kind, JsonKind::Array | JsonKind::Object) {
                if alike.len() > 64 {
                    return Err(Reason::TooLarge.into());
                }
                ways.push(
                    alike
                        .into_iter()
                        .map(|value| Item::Literal(Literal::Not(Rc::new(value.clone()))))
                        .collect(),
                );
            } else {
                ways.push(vec![Item::Fact(Fact::NotListed(id))]);
            }
        }
        if kind == JsonKind::Integer && is_literal_integer(object, draft) {
            ways.push(vec![Item::Fact(Fact::Spelled)]);
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
            ways.push(branches.iter().map(|branch| fails(*branch)).collect());
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
}

/// Whether a schema refuses `1.0`, as `type: integer` does in draft 4.
pub(super) fn is_literal_integer(object: &Object, draft: Draft) -> bool {
    let types = object.get("type").map(Kinds::of_keyword);
    draft == Draft::Four
        && types.is_some_and(|kinds| kinds.has(JsonKind::Integer) && !kinds.has(JsonKind::Fraction))
}

fn refuse_number(object: &Object, draft: Draft, ways: &mut Vec<Vec<Item>>) -> Result<(), Reason> {
    let beyond = || Reason::NumberTooLong;
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

fn refuse_text(object: &Object, ways: &mut Vec<Vec<Item>>) -> Result<(), Reason> {
    refuse_count(object, "minLength", "maxLength", ways);
    match object.get("pattern") {
        Some(Json::String(pattern)) => {
            let pattern = pattern.as_str().ok_or(Reason::Keyword("pattern"))?;
            ways.push(vec![Item::Fact(Fact::Match(pattern.into(), false))]);
        }
        Some(_) => return Err(Reason::Keyword("pattern")),
        None => {}
    }
    Ok(())
}

pub(super) fn refuse_count(object: &Object, least: &str, most: &str, ways: &mut Vec<Vec<Item>>) {
    if let Some(count) = object
        .get(least)
        .and_then(as_count)
        .filter(|count| *count > 0)
    {
        ways.push(vec![Item::Fact(Fact::AtMost(count - 1))]);
    }
    if let Some(count) = object.get(most).and_then(as_count) {
        ways.push(vec![Item::Fact(Fact::AtLeast(count.saturating_add(1)))]);
    }
}

//! The members of an object: which exist, under which names, and with which values.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::evaluate::{closes, named_by, opens, own_schemas};
use super::nodes::accepts_all;
use super::refuse::refuse_count;
use super::{
    Case, Choice, Closed, Fact, Id, Item, Literal, MAX_BUILT, Outcome, Place, Solver, SomeMember,
    size,
};
use crate::document::Draft;
use crate::kinds::Kinds;
use crate::reason::Reason;
use crate::value::as_count;
use exact_json::{Json, Object, Text};

/// At most this many names are invented for one object.
const MAX_INVENTED: usize = 40;
/// At most this many patterns are distinguished.
const MAX_PATTERNS: usize = 6;

/// What is known about the members, gathered from a case.
struct Members {
    held: Vec<Id>,
    present: BTreeSet<Text>,
    absent: BTreeSet<Text>,
    wanted: Vec<(Text, Literal)>,
    some: Vec<Rc<SomeMember>>,
    least: u64,
    most: u64,
    /// Only members that the sender names are sent.
    closed: bool,
    /// All names that are mentioned.
    names: BTreeSet<Text>,
    patterns: Vec<Rc<str>>,
}

impl<'a> Solver<'_, 'a> {
    pub(super) fn assert_object(
        &mut self,
        case: &mut Case,
        id: Id,
        object: &'a Object,
    ) -> Result<(), Closed> {
        if !self.properties.contains_key(&id)
            && let Some(Json::Object(properties)) = object.get("properties")
        {
            let mut by_name = HashMap::new();
            for (name, schema) in properties.iter() {
                by_name.insert(name, self.child(id, schema));
            }
            self.properties.insert(id, by_name);
        }
        let fact = Item::Fact;
        for (name, names) in self.dependent_names(id) {
            let mut with = vec![fact(Fact::Present(name.clone()))];
            with.extend(
                names
                    .iter()
                    .map(|name| fact(Fact::Present((*name).clone()))),
            );
            let without = vec![fact(Fact::Absent(name.clone()))];
            case.choices.push(Choice::of(vec![without, with]));
        }
        for (name, schema) in self.dependent(id) {
            let schema = self.child(id, schema);
            let with = vec![
                fact(Fact::Present(name.clone())),
                Item::Literal(Literal::Schema(schema, true)),
            ];
            let without = vec![fact(Fact::Absent(name.clone()))];
            case.choices.push(Choice::of(vec![without, with]));
        }
        if self.draft(id) >= Draft::Y2019 && object.contains("unevaluatedProperties") {
            case.todo.push(Item::Decide(id));
        }
        Ok(())
    }

    pub(super) fn refuse_object(
        &mut self,
        id: Id,
        object: &'a Object,
        ways: &mut Vec<Vec<Item>>,
    ) -> Result<(), Closed> {
        let fact = Item::Fact;
        let draft = self.draft(id);
        for name in object
            .get("required")
            .and_then(Json::as_array)
            .unwrap_or(&[])
        {
            let name = name.as_text().ok_or(Reason::Keyword("required"))?;
            ways.push(vec![fact(Fact::Absent(name.clone()))]);
        }
        let fails = |id: Id| Literal::Schema(id, false);
        if let Some(Json::Object(properties)) = object.get("properties") {
            for (name, schema) in properties.by_name() {
                if accepts_all(schema) {
                    continue;
                }
                let schema = self.child(id, schema);
                ways.push(vec![
                    fact(Fact::Present(name.clone())),
                    fact(Fact::Member(name.clone(), fails(schema))),
                ]);
            }
        }
        if let Some(Json::Object(by_pattern)) = object.get("patternProperties") {
            for (pattern, schema) in by_pattern.iter() {
                if accepts_all(schema) {
                    continue;
                }
                let pattern = pattern
                    .as_str()
                    .ok_or(Reason::Keyword("patternProperties"))?;
                let schema = self.child(id, schema);
                ways.push(vec![fact(Fact::SomeMember(Rc::new(SomeMember {
                    matching: vec![pattern.into()],
                    value: vec![fails(schema)],
                    ..SomeMember::default()
                })))]);
            }
        }
        if let Some(schema) = object
            .get("additionalProperties")
            .filter(|schema| !accepts_all(schema))
        {
            let schema = self.child(id, schema);
            ways.push(vec![fact(Fact::SomeMember(Rc::new(SomeMember {
                unnamed_by: Some(id),
                value: vec![fails(schema)],
                ..SomeMember::default()
            })))]);
        }
        if let Some(schema) = object
            .get("propertyNames")
            .filter(|schema| draft > Draft::Four && !accepts_all(schema))
        {
            let schema = self.child(id, schema);
            ways.push(vec![fact(Fact::SomeMember(Rc::new(SomeMember {
                name: vec![fails(schema)],
                ..SomeMember::default()
            })))]);
        }
        refuse_count(object, "minProperties", "maxProperties", ways);
        for (name, names) in self.dependent_names(id) {
            for other in names {
                ways.push(vec![
                    fact(Fact::Present(name.clone())),
                    fact(Fact::Absent(other.clone())),
                ]);
            }
        }
        for (name, schema) in self.dependent(id) {
            let schema = self.child(id, schema);
            ways.push(vec![
                fact(Fact::Present(name.clone())),
                Item::Literal(fails(schema)),
            ]);
        }
        if let Some(schema) = object
            .get("unevaluatedProperties")
            .filter(|schema| draft >= Draft::Y2019 && !accepts_all(schema))
        {
            let schema = self.child(id, schema);
            ways.push(vec![
                Item::Decide(id),
                fact(Fact::SomeMember(Rc::new(SomeMember {
                    unseen_by: Some(id),
                    value: vec![fails(schema)],
                    ..SomeMember::default()
                }))),
            ]);
        }
        Ok(())
    }

    fn gathered(&self, case: &Case, root: bool) -> Members {
        let objects = |sender: bool| -> Vec<&'a Object> {
            case.held
                .iter()
                .filter(|id| !sender || self.is_sender(**id))
                .filter_map(|id| self.object(*id))
                .collect()
        };
        let senders = objects(true);
        let draft = self.documents[0].draft();
        let mut known = Members {
            held: case.held.clone(),
            present: BTreeSet::new(),
            absent: BTreeSet::new(),
            wanted: Vec::new(),
            some: Vec::new(),
            least: 0,
            most: u64::MAX,
            closed: closes(&senders, root) && !opens(&senders, draft, self.strict),
            names: BTreeSet::new(),
            patterns: Vec::new(),
        };
        for object in objects(false) {
            let required = object.get("required").and_then(Json::as_array);
            known.present.extend(
                required
                    .unwrap_or(&[])
                    .iter()
                    .filter_map(Json::as_text)
                    .cloned(),
            );
            if let Some(Json::Object(properties)) = object.get("properties") {
                known
                    .names
                    .extend(properties.iter().map(|(name, _)| name.clone()));
            }
            if let Some(Json::Object(by_pattern)) = object.get("patternProperties") {
                known.patterns.extend(
                    by_pattern
                        .iter()
                        .filter_map(|(pattern, _)| pattern.as_str().map(Rc::from)),
                );
            }
            let count = |keyword: &str| object.get(keyword).and_then(as_count);
            known.least = known.least.max(count("minProperties").unwrap_or(0));
            known.most = known.most.min(count("maxProperties").unwrap_or(u64::MAX));
        }
        for fact in &case.facts {
            match fact {
                Fact::Present(name) => {
                    known.present.insert(name.clone());
                }
                Fact::Absent(name) => {
                    known.absent.insert(name.clone());
                }
                Fact::Member(name, literal) => known.wanted.push((name.clone(), literal.clone())),
                Fact::SomeMember(some) => {
                    known.patterns.extend(some.matching.iter().cloned());
                    known.names.extend(some.not_among.iter().cloned());
                    // What it names is not among what is held: it may be the one that refuses.
                    let naming = [some.unnamed_by, some.unseen_by];
                    for object in naming
                        .into_iter()
                        .flatten()
                        .filter_map(|id| self.object(id))
                    {
                        let own = object.get("patternProperties").and_then(Json::as_object);
                        known.patterns.extend(
                            own.into_iter()
                                .flat_map(Object::iter)
                                .filter_map(|(pattern, _)| pattern.as_str().map(Rc::from)),
                        );
                        let own = object.get("properties").and_then(Json::as_object);
                        known.names.extend(
                            own.into_iter()
                                .flat_map(Object::iter)
                                .map(|(name, _)| name.clone()),
                        );
                    }
                    known.some.push(some.clone());
                }
                Fact::AtLeast(count) => known.least = known.least.max(*count),
                Fact::AtMost(count) => known.most = known.most.min(*count),
                _ => {}
            }
        }
        known.names.extend(known.present.iter().cloned());
        known.names.extend(known.absent.iter().cloned());
        known.patterns.sort();
        known.patterns.dedup();
        known
    }

    pub(super) fn members(&mut self, case: &Case, place: &Place<'_>) -> Outcome {
        let known = self.gathered(case, place.root);
        self.budget
            .take((known.names.len() + known.present.len()) as u64 / 8);
        if known.present.intersection(&known.absent).next().is_some()
            || known.least > known.most
            || known.present.len() as u64 > known.most
        {
            return Outcome::None;
        }
        if known.patterns.len() > MAX_PATTERNS && !known.some.is_empty() {
            return self.unknown(Reason::TooLarge);
        }
        let chosen: Vec<(Text, usize)> = Vec::new();
        self.place_members(case, &known, chosen)
    }

    /// Gives each member that must be somewhere a name, one after the other.
    fn place_members(
        &mut self,
        case: &Case,
        known: &Members,
        chosen: Vec<(Text, usize)>,
    ) -> Outcome {
        if !self.budget.take(1) {
            return self.unknown(Reason::TooLarge);
        }
        let Some(some) = known.some.get(chosen.len()).cloned() else {
            return self.fill(case, known, &chosen);
        };
        let mut result = Outcome::None;
        let mut candidates: Vec<Text> = known.present.iter().cloned().collect();
        candidates.extend(chosen.iter().map(|(name, _)| name.clone()));
        candidates.extend(
            known
                .names
                .iter()
                .filter(|name| !known.absent.contains(*name))
                .cloned(),
        );
        let mut tried: BTreeSet<Text> = BTreeSet::new();
        for name in candidates {
            if !tried.insert(name.clone()) {
                continue;
            }
            match self.suits(case, known, &some, &name) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    result = self.unknown(Reason::Keyword("patternProperties"));
                    continue;
                }
            }
            let mut further = chosen.clone();
            further.push((name, chosen.len()));
            match self.place_members(case, known, further) {
                Outcome::None => {}
                Outcome::Unknown => result = Outcome::Unknown,
                found => return found,
            }
        }
        let used: Vec<Text> = chosen.iter().map(|(name, _)| name.clone()).collect();
        match self.invented(known, Some(&some), &used) {
            Ok((names, problem)) => {
                if let Some(problem) = problem {
                    result = self.unknown(problem);
                }
                for name in names {
                    match self.suits(case, known, &some, &name) {
                        Some(true) => {}
                        Some(false) => continue,
                        None => {
                            result = self.unknown(Reason::Keyword("patternProperties"));
                            continue;
                        }
                    }
                    let mut further = chosen.clone();
                    further.push((name, chosen.len()));
                    match self.place_members(case, known, further) {
                        Outcome::None => {}
                        Outcome::Unknown => result = Outcome::Unknown,
                        found => return found,
                    }
                }
            }
            Err(problem) => result = self.unknown(problem),
        }
        result
    }

    /// Whether a member of this name can be the one that must be somewhere.
    fn suits(&self, case: &Case, known: &Members, some: &SomeMember, name: &Text) -> Option<bool> {
        if known.absent.contains(name) || some.not_among.contains(name) {
            return Some(false);
        }
        for pattern in &some.matching {
            if !self.patterns.matches(pattern, name.as_str()?)? {
                return Some(false);
            }
        }
        if let Some(id) = some.unnamed_by
            && let Some(object) = self.object(id)
            && named_by(self.references(id), object, name, self.patterns)?
        {
            return Some(false);
        }
        if let Some(id) = some.unseen_by
            && self.sees(case, known, id, name, true)?
        {
            return Some(false);
        }
        let text = Json::String(name.clone());
        for literal in &some.name {
            if let Literal::Schema(id, holds) = literal {
                let answer = self
                    .evaluator(self.document(*id))
                    .accepts(self.json(*id), &text)?;
                if answer != *holds {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Whether a schema evaluates a member. `own`: its own `unevaluatedProperties` does not count.
    fn sees(&self, case: &Case, known: &Members, id: Id, name: &Text, own: bool) -> Option<bool> {
        let Some(object) = self.object(id) else {
            return Some(false);
        };
        let silenced = self.silenced(id);
        if !silenced
            && (object.contains("additionalProperties")
                || (!own
                    && self.draft(id) >= Draft::Y2019
                    && object.contains("unevaluatedProperties"))
                || named_by(self.references(id), object, name, self.patterns)?)
        {
            return Some(true);
        }
        let document = self.document(id);
        let truth = |json: &'a Json| {
            let id = *self.known.get(&(document, super::address(json)))?;
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
            if self.draft(id) >= Draft::Seven
                && let Some(condition) = object.get("if")
            {
                let holds = truth(condition).is_some_and(|(_, holds)| holds);
                parts.push(condition);
                parts.extend(object.get(if holds { "then" } else { "else" }));
            }
            for (key, schema) in self.dependent(id) {
                if known.present.contains(key) {
                    parts.push(schema);
                }
            }
        }
        for part in parts {
            if let Some((id, true)) = truth(part)
                && self.sees(case, known, id, name, false)?
            {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Names that nothing mentions, one for each set of patterns that they can match and of demands that other members
    /// make of theirs, and why there may be more.
    fn invented(
        &mut self,
        known: &Members,
        some: Option<&SomeMember>,
        used: &[Text],
    ) -> Result<(Vec<Text>, Option<Reason>), Reason> {
        let mut base: Vec<Literal> = Vec::new();
        for id in &known.held {
            let names = self
                .object(*id)
                .and_then(|object| object.get("propertyNames"));
            if let Some(names) = names.filter(|_| self.draft(*id) > Draft::Four) {
                base.push(Literal::Schema(self.child(*id, names), true));
            }
        }
        for name in known.names.iter().chain(used) {
            base.push(Literal::Not(Rc::new(Json::String(name.clone()))));
        }
        let mut fixed: Vec<(Rc<str>, bool)> = Vec::new();
        if let Some(some) = some {
            base.extend(some.name.iter().cloned());
            fixed.extend(some.matching.iter().map(|pattern| (pattern.clone(), true)));
            let naming = [some.unnamed_by, some.unseen_by];
            for object in naming
                .into_iter()
                .flatten()
                .filter_map(|id| self.object(id))
            {
                let own = object.get("patternProperties").and_then(Json::as_object);
                for (pattern, _) in own.into_iter().flat_map(Object::iter) {
                    let pattern = pattern
                        .as_str()
                        .ok_or(Reason::Keyword("patternProperties"))?;
                    fixed.push((pattern.into(), false));
                }
            }
        }
        let free: Vec<Rc<str>> = known
            .patterns
            .iter()
            .filter(|pattern| fixed.iter().all(|(fixed, _)| fixed != *pattern))
            .cloned()
            .collect();
        // One member may have to be the one that several ask for.
        let schema = |literal: &Literal| match literal {
            Literal::Schema(id, _) => Some(*id),
            _ => None,
        };
        let settled: Vec<Id> = base.iter().filter_map(schema).collect();
        let others = known.some.iter().filter(|_| some.is_some());
        let mut demands: Vec<Id> = others
            .flat_map(|member| member.name.iter().filter_map(schema))
            .filter(|pattern| !settled.contains(pattern))
            .collect();
        demands.sort_unstable();
        demands.dedup();
        if free.len() + demands.len() > MAX_PATTERNS {
            return Err(Reason::TooLarge);
        }
        // If only declared members are sent, a name that nothing mentions must match one of these.
        let declaring: Vec<&str> = known
            .held
            .iter()
            .filter(|id| self.is_sender(**id))
            .filter_map(|id| self.object(*id)?.get("patternProperties")?.as_object())
            .flat_map(Object::iter)
            .filter_map(|(name, _)| name.as_str())
            .collect();
        let mut names = Vec::new();
        let mut problem = None;
        // Matching names come first: a reader expects them.
        for signs in (0..1_u32 << (free.len() + demands.len())).rev() {
            let is_set = |at: usize| signs >> at & 1 == 1;
            let mut literals = base.clone();
            let demands = demands.iter().enumerate();
            literals.extend(demands.map(|(at, id)| Literal::Schema(*id, is_set(free.len() + at))));
            let mut signed = fixed.clone();
            signed.extend(
                free.iter()
                    .enumerate()
                    .map(|(index, pattern)| (pattern.clone(), is_set(index))),
            );
            if known.closed
                && !signed
                    .iter()
                    .any(|(pattern, sign)| *sign && declaring.contains(&&**pattern))
            {
                continue;
            }
            literals.extend(
                signed
                    .into_iter()
                    .map(|(pattern, sign)| Literal::Match(pattern, sign)),
            );
            match self.solve(literals, false, super::NAME, only_text()) {
                Outcome::Value(Json::String(name)) => names.push(name),
                Outcome::Unknown => problem = Some(self.reason()),
                _ => {}
            }
        }
        Ok((names, problem))
    }

    /// What must hold for a member: `None` if it cannot exist.
    fn member_literals(
        &mut self,
        case: &Case,
        known: &Members,
        name: &Text,
    ) -> Option<Option<Vec<Literal>>> {
        let mut literals: Vec<Literal> = Vec::new();
        let mut declared = !known.closed;
        let text = Json::String(name.clone());
        for id in &known.held {
            let Some(object) = self.object(*id) else {
                continue;
            };
            if self.silenced(*id) {
                continue;
            }
            let own = own_schemas(self.references(*id), object, name, self.patterns)?;
            if self.is_sender(*id) {
                declared |= !own.is_empty() || self.references(*id).requires(object, name);
            }
            let named = !own.is_empty();
            for schema in own {
                literals.push(Literal::Schema(self.child(*id, schema), true));
            }
            if !named && let Some(schema) = object.get("additionalProperties") {
                literals.push(Literal::Schema(self.child(*id, schema), true));
            }
            if self.draft(*id) >= Draft::Y2019
                && let Some(schema) = object.get("unevaluatedProperties")
                && !self.sees(case, known, *id, name, true)?
            {
                literals.push(Literal::Schema(self.child(*id, schema), true));
            }
            if self.draft(*id) > Draft::Four
                && let Some(names) = object.get("propertyNames")
                && !self.evaluator(self.document(*id)).accepts(names, &text)?
            {
                return Some(None);
            }
        }
        if !declared {
            return Some(None);
        }
        literals.extend(
            known
                .wanted
                .iter()
                .filter(|(other, _)| other == name)
                .map(|(_, literal)| literal.clone()),
        );
        Some(Some(literals))
    }

    /// Solves the required members, and adds others if there are too few.
    fn fill(&mut self, case: &Case, known: &Members, chosen: &[(Text, usize)]) -> Outcome {
        let mut present: BTreeSet<Text> = known.present.clone();
        present.extend(chosen.iter().map(|(name, _)| name.clone()));
        if present.len() as u64 > known.most {
            return Outcome::None;
        }
        let constrained = |name: &Text| {
            known.wanted.iter().any(|(other, _)| other == name)
                || chosen.iter().any(|(other, _)| other == name)
        };
        // What is most likely to fail comes first.
        let mut order: Vec<Text> = present.iter().cloned().collect();
        order.sort_by_key(|name| !constrained(name));
        let mut values: Vec<(Text, Json)> = Vec::new();
        let mut result = None;
        let mut built = 0;
        for name in order {
            match self.member_value(case, known, chosen, &name) {
                Outcome::Value(value) => {
                    built += size(&value);
                    if built > MAX_BUILT {
                        return self.unknown(Reason::TooLarge);
                    }
                    values.push((name, value));
                }
                Outcome::None => return Outcome::None,
                Outcome::Unknown => result = Some(Outcome::Unknown),
            }
        }
        if let Some(result) = result {
            return result;
        }
        if (values.len() as u64) < known.least {
            match self.more(case, known, chosen, &mut values) {
                Outcome::Value(_) => {}
                other => return other,
            }
        }
        values.sort_by(|one, other| one.0.cmp(&other.0));
        Outcome::Value(Json::Object(values.into_iter().collect()))
    }

    fn member_value(
        &mut self,
        case: &Case,
        known: &Members,
        chosen: &[(Text, usize)],
        name: &Text,
    ) -> Outcome {
        let mut literals = match self.member_literals(case, known, name) {
            Some(Some(literals)) => literals,
            Some(None) => return Outcome::None,
            None => return self.unknown(Reason::Keyword("patternProperties")),
        };
        for (other, at) in chosen {
            if other == name {
                literals.extend(known.some[*at].value.iter().cloned());
            }
        }
        let called = if known.names.contains(name) {
            name.to_string_lossy()
        } else {
            ""
        };
        self.solve(literals, false, called, Kinds::ANY)
    }

    /// Adds members until there are enough.
    fn more(
        &mut self,
        case: &Case,
        known: &Members,
        chosen: &[(Text, usize)],
        values: &mut Vec<(Text, Json)>,
    ) -> Outcome {
        let mut unknown = false;
        let optional: Vec<Text> = known
            .names
            .iter()
            .filter(|name| {
                !known.absent.contains(*name) && values.iter().all(|(other, _)| other != *name)
            })
            .cloned()
            .collect();
        for name in optional {
            if values.len() as u64 >= known.least {
                return Outcome::Value(Json::Null);
            }
            match self.member_value(case, known, chosen, &name) {
                Outcome::Value(value) => values.push((name, value)),
                Outcome::None => {}
                Outcome::Unknown => unknown = true,
            }
        }
        let mut invented = 0;
        'more: while (values.len() as u64) < known.least {
            invented += 1;
            if invented > MAX_INVENTED {
                return self.unknown(Reason::TooLarge);
            }
            let used: Vec<Text> = values.iter().map(|(name, _)| name.clone()).collect();
            let names = match self.invented(known, None, &used) {
                Ok((names, problem)) => {
                    unknown |= problem.is_some();
                    names
                }
                Err(problem) => return self.unknown(problem),
            };
            for name in names {
                match self.member_value(case, known, chosen, &name) {
                    Outcome::Value(value) => {
                        values.push((name, value));
                        continue 'more;
                    }
                    Outcome::None => {}
                    Outcome::Unknown => unknown = true,
                }
            }
            break;
        }
        if values.len() as u64 >= known.least {
            Outcome::Value(Json::Null)
        } else if unknown {
            Outcome::Unknown
        } else {
            Outcome::None
        }
    }
}

fn only_text() -> Kinds {
    Kinds::of_keyword(&Json::string("string"))
}

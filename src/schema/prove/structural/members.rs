//! The keywords of objects: which members must, may and must not be there, and what they hold.

use super::super::evaluate::{Patterns, accepts};
use super::super::view::{Kind, Kinds, View};
use super::{Proof, at_least, at_most, is_anything, known, list, mentions_reference};
use crate::canonical::{Json, Object, Text};
use crate::schema::document::{Document, Draft, Problem};
use crate::schema::value::{as_count, same};

impl<'a> Proof<'a> {
    pub(super) fn object(
        &mut self,
        view: &View<'a>,
        receiver: &'a Object,
        keyword: &str,
        argument: &'a Json,
    ) -> Result<(), Problem> {
        let holds = match keyword {
            "required" => match argument {
                Json::Array(names) => {
                    let required = view.required();
                    names
                        .iter()
                        .filter_map(Json::as_text)
                        .all(|name| required.contains(name))
                }
                // Draft 3 spelled it as a boolean on the member.
                _ => true,
            },
            "minProperties" => {
                at_least(view, keyword, argument)
                    || as_count(argument).is_some_and(|least| view.required().len() as u64 >= least)
            }
            "maxProperties" => at_most(view, keyword, argument) || self.few_names(view, argument),
            "properties" => return self.properties(view, argument),
            "additionalProperties" | "unevaluatedProperties" => {
                return self.further(view, receiver, keyword, argument);
            }
            "patternProperties" => return self.by_pattern(view, argument),
            "propertyNames" => return self.names(view, argument),
            "dependentRequired" | "dependencies" | "dependentSchemas" => {
                return self.dependencies(view, keyword, argument);
            }
            _ => true,
        };
        holds.then_some(()).ok_or(Problem::Keyword(known(keyword)))
    }

    fn few_names(&self, view: &View<'a>, argument: &Json) -> bool {
        let shut = view.rest().contains(&&Json::Bool(false));
        shut && as_count(argument).is_some_and(|most| view.names().len() as u64 <= most)
    }

    fn properties(&mut self, view: &View<'a>, argument: &'a Json) -> Result<(), Problem> {
        let Some(properties) = argument.as_object() else {
            return Err(Problem::Keyword("properties"));
        };
        // Looking a name up takes longer the more names there are.
        let lookup = 1 + properties.len() / 64;
        for (name, wanted) in properties.by_name() {
            self.step(lookup)?;
            let mine = view.member(name, self.patterns);
            if !mine.contains(&&Json::Bool(false)) {
                self.inner(&mine, wanted)?;
            }
        }
        Ok(())
    }

    /// Members that the receiver does not name.
    fn further(
        &mut self,
        view: &View<'a>,
        receiver: &'a Object,
        keyword: &str,
        argument: &'a Json,
    ) -> Result<(), Problem> {
        if is_anything(argument) {
            return Ok(());
        }
        let around = match keyword {
            // What neighbours evaluate is exempt too; those that always apply are known.
            "unevaluatedProperties" => certain_neighbours(self.receiver, receiver)?,
            _ => vec![receiver],
        };
        let exempt = |name: &Text, patterns: &Patterns| {
            around.iter().any(|node| {
                let named = node
                    .get("properties")
                    .and_then(Json::as_object)
                    .is_some_and(|it| it.iter().any(|(member, _)| member == name));
                let matched =
                    node.get("patternProperties")
                        .and_then(Json::as_object)
                        .is_some_and(|it| {
                            it.iter().any(|(pattern, _)| {
                                name.as_str().zip(pattern.as_str()).is_some_and(
                                    |(name, pattern)| patterns.matches(pattern, name) == Some(true),
                                )
                            })
                        });
                let neighbour_takes_all =
                    keyword == "unevaluatedProperties" && node.contains("additionalProperties");
                named || matched || neighbour_takes_all
            })
        };
        for name in view.names() {
            if exempt(name, self.patterns) {
                continue;
            }
            let mine = view.member(name, self.patterns);
            if !mine.contains(&&Json::Bool(false)) {
                self.inner(&mine, argument)?;
            }
        }
        let rest = view.rest();
        if rest.contains(&&Json::Bool(false)) {
            return Ok(());
        }
        self.inner(&rest, argument)?;
        for patterns in view.all("patternProperties").filter_map(Json::as_object) {
            for (_, schema) in patterns.iter() {
                self.inner(&[schema], argument)?;
            }
        }
        Ok(())
    }

    fn by_pattern(&mut self, view: &View<'a>, argument: &'a Json) -> Result<(), Problem> {
        let Some(patterns) = argument.as_object() else {
            return Err(Problem::Keyword("patternProperties"));
        };
        for (pattern, wanted) in patterns.by_name() {
            for name in view.names() {
                let matches = name
                    .as_str()
                    .zip(pattern.as_str())
                    .and_then(|(name, pattern)| self.patterns.matches(pattern, name));
                if matches == Some(false) {
                    continue;
                }
                let mine = view.member(name, self.patterns);
                if !mine.contains(&&Json::Bool(false)) {
                    self.inner(&mine, wanted)?;
                }
            }
            // The sender's own schema for the very same pattern holds of everything it matches.
            let same_pattern: Vec<&'a Json> = view
                .all("patternProperties")
                .filter_map(Json::as_object)
                .flat_map(|own| own.iter().filter(|(own, _)| *own == pattern).map(|it| it.1))
                .collect();
            let mut mine = view.rest();
            mine.extend(&same_pattern);
            if !mine.contains(&&Json::Bool(false)) {
                self.inner(&mine, wanted)?;
            }
            if same_pattern.is_empty() {
                for own in view.all("patternProperties").filter_map(Json::as_object) {
                    for (_, schema) in own.iter() {
                        self.inner(&[schema], wanted)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn names(&mut self, view: &View<'a>, argument: &'a Json) -> Result<(), Problem> {
        if self.receiver.draft == Draft::Four || is_anything(argument) {
            return Ok(());
        }
        let mine: Vec<&Json> = if self.sender.draft == Draft::Four {
            Vec::new()
        } else {
            view.all("propertyNames").collect()
        };
        if !mine.is_empty() {
            let names = View::of_all(self.sender, &mine)?;
            return self.view(&names, Kinds::only(Kind::String), argument);
        }
        let closed = view.rest().contains(&&Json::Bool(false))
            && view.all("patternProperties").next().is_none();
        if closed {
            let all = view.names().into_iter().all(|name| {
                let shut = view
                    .member(name, self.patterns)
                    .contains(&&Json::Bool(false));
                let name = Json::String(name.clone());
                shut || accepts(self.receiver, argument, &name, self.patterns) == Some(true)
            });
            if all {
                return Ok(());
            }
        }
        let any = View::of_all(self.sender, &[])?;
        self.view(&any, Kinds::only(Kind::String), argument)
            .map_err(|_| Problem::Keyword("propertyNames"))
    }

    fn dependencies(
        &mut self,
        view: &View<'a>,
        keyword: &str,
        argument: &'a Json,
    ) -> Result<(), Problem> {
        let problem = || Problem::Keyword(known(keyword));
        let map = argument.as_object().ok_or_else(problem)?;
        for (name, dependency) in map.by_name() {
            if view
                .member(name, self.patterns)
                .contains(&&Json::Bool(false))
            {
                continue;
            }
            let same_known = self.sender.draft == self.receiver.draft
                && view.all(keyword).filter_map(Json::as_object).any(|own| {
                    own.iter().any(|(own, mine)| {
                        own == name && !mentions_reference(mine) && same(mine, dependency)
                    })
                });
            if same_known {
                continue;
            }
            match dependency {
                Json::Array(names) => {
                    let required = view.required();
                    let all = names
                        .iter()
                        .filter_map(Json::as_text)
                        .all(|name| required.contains(name));
                    if !all {
                        return Err(problem());
                    }
                }
                schema => self
                    .view(view, Kinds::only(Kind::Object), schema)
                    .map_err(|_| problem())?,
            }
        }
        Ok(())
    }
}

/// The node and the schemas beside it that apply to every value: what they evaluate is evaluated for certain.
fn certain_neighbours<'a>(
    document: &'a Document,
    node: &'a Object,
) -> Result<Vec<&'a Object>, Problem> {
    let mut found = vec![node];
    let mut next = 0;
    while next < found.len() && found.len() < 64 {
        let node = found[next];
        next += 1;
        let mut add = |json: &'a Json| {
            if let Json::Object(object) = json
                && !found.iter().any(|it| std::ptr::eq(*it, object))
            {
                found.push(object);
            }
        };
        if let Some(reference) = document.reference(node) {
            add(document.resolve(reference)?.0);
        }
        for part in node.get("allOf").map_or(&[][..], list) {
            add(part);
        }
    }
    Ok(found)
}

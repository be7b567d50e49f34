//! What changed in the arguments of a prompt.

use std::collections::BTreeMap;

use super::component::Member;
use super::{Change, located};
use crate::canonical::{Json, pointer};
use crate::rules::RuleId;

pub(super) fn arguments(member: &Member<'_>, changes: &mut Vec<Change>) {
    let (Some(old), Some(new)) = (named(member.old), named(member.new)) else {
        return member.each(RuleId::UnclassifiedChange, changes);
    };
    for (name, (index, argument)) in &old {
        if !new.contains_key(name) {
            let message = format!("argument `{name}` removed");
            changes.push(
                Change::new(RuleId::PromptArgumentRemoved, at(*index), message)
                    .values(Some(argument), None),
            );
        }
    }
    for (name, (index, argument)) in &new {
        match old.get(name) {
            Some((_, before)) => argument_changed(name, *index, before, argument, changes),
            None => {
                let required = required(argument);
                let rule = if required {
                    RuleId::PromptArgumentAddedRequired
                } else {
                    RuleId::PromptArgumentAddedOptional
                };
                let kind = if required { "required" } else { "optional" };
                let message = format!("new {kind} argument `{name}`");
                changes.push(Change::new(rule, at(*index), message).values(None, Some(argument)));
            }
        }
    }
    // The same arguments in another order: prompts are filled in by name.
    let order = |named: &BTreeMap<&str, (usize, &Json)>| {
        let mut names: Vec<_> = named
            .iter()
            .map(|(name, (index, _))| (*index, *name))
            .collect();
        names.sort_unstable();
        names
            .into_iter()
            .map(|(_, name)| name.to_owned())
            .collect::<Vec<_>>()
    };
    let message = if old.is_empty() && new.is_empty() {
        "an empty list of arguments was added or removed".to_owned()
    } else if old.keys().eq(new.keys()) && order(&old) != order(&new) {
        "the arguments are listed in another order".to_owned()
    } else {
        return;
    };
    changes.push(
        Change::new(RuleId::PromptArgumentChanged, member.pointer(), message)
            .values(member.old, member.new),
    );
}

fn argument_changed(name: &str, index: usize, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    for difference in located::differences(old, new) {
        let place = format!("{}{}", at(index), difference.pointer);
        let (rule, message) = match (difference.pointer.as_str(), required(old), required(new)) {
            ("/required", false, true) => (
                RuleId::PromptArgumentBecameRequired,
                format!("argument `{name}` became required"),
            ),
            ("/required", true, false) => (
                RuleId::PromptArgumentBecameOptional,
                format!("argument `{name}` became optional"),
            ),
            (inside, _, _) => {
                let what = pointer::tokens(inside).collect::<Vec<_>>().join(".");
                (
                    RuleId::PromptArgumentChanged,
                    format!("argument `{name}`: `{what}` changed"),
                )
            }
        };
        let change = Change::new(rule, place, message);
        changes.push(match difference.pointer.as_str() {
            "/description" => change.text(difference.old.as_ref(), difference.new.as_ref()),
            _ => change.values(difference.old.as_ref(), difference.new.as_ref()),
        });
    }
}

fn required(argument: &Json) -> bool {
    argument.get("required").and_then(Json::as_bool) == Some(true)
}

fn at(index: usize) -> String {
    format!("/arguments/{index}")
}

/// The arguments by name, each with its position; `None` if they are not a list of distinctly named
/// objects.
fn named(arguments: Option<&Json>) -> Option<BTreeMap<&str, (usize, &Json)>> {
    let Some(arguments) = arguments else {
        return Some(BTreeMap::new());
    };
    let mut named = BTreeMap::new();
    for (index, argument) in arguments.as_array()?.iter().enumerate() {
        let name = argument.get("name")?.as_str()?;
        if named.insert(name, (index, argument)).is_some() {
            return None;
        }
    }
    Some(named)
}

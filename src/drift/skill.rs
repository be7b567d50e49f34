//! What changed in a skill: its files by their digests, its frontmatter, and the tools it wants to
//! be allowed.

use std::collections::{BTreeMap, BTreeSet};

use super::component::{Member, RESPELLED, text_message};
use super::{Change, located, quoted_list};
use crate::canonical::{Json, pointer};
use crate::rules::RuleId;
use crate::wording::what_happened;

/// One member of a skill's entry that differs.
pub(super) fn member(member: &Member<'_>, changes: &mut Vec<Change>) {
    match (member.name, member.old, member.new) {
        ("frontmatter", Some(old), Some(new)) => frontmatter(old, new, changes),
        ("resources", Some(old), Some(new)) => resources(member, old, new, changes),
        ("frontmatter" | "resources", ..) => member.whole(changes, RuleId::SkillFrontmatterChanged),
        _ => member.each(RuleId::UnclassifiedChange, changes),
    }
}

fn frontmatter(old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let mut seen = BTreeSet::new();
    for difference in located::differences(old, new) {
        let field = pointer::tokens(&difference.pointer).next();
        let field = field.unwrap_or_default();
        let at = format!("/frontmatter{}", difference.pointer);
        let (was, is) = (difference.old.as_ref(), difference.new.as_ref());
        match field.as_str() {
            "allowed-tools" if seen.insert("allowed-tools") => changes.push(allowed_tools(
                old.get("allowed-tools"),
                new.get("allowed-tools"),
            )),
            "allowed-tools" => {}
            "description" => {
                let message = text_message("description", was, is);
                let change = Change::new(RuleId::SkillDescriptionChanged, at, message);
                changes.push(change.text(was, is));
            }
            _ => {
                let message = format!("`{field}` {}", what_happened(was, is));
                let change = Change::new(RuleId::SkillFrontmatterChanged, at, message);
                changes.push(change.values(was, is));
            }
        }
    }
}

/// The tools that a skill wants to use without approval each time.
fn allowed_tools(old: Option<&Json>, new: Option<&Json>) -> Change {
    let (was, is) = (allowed(old), allowed(new));
    let wider: Vec<&str> = is.difference(&was).map(String::as_str).collect();
    let gone: Vec<&str> = was.difference(&is).map(String::as_str).collect();
    let at = "/frontmatter/allowed-tools";
    let change = if !new.is_none_or(is_list_of_tools) {
        let message =
            "`allowed-tools` is neither a string nor an array of strings: hosts may read anything into it"
                .to_owned();
        Change::new(RuleId::SkillAllowedToolsWidened, at, message)
    } else if wider.is_empty() && gone.is_empty() {
        let message = "`allowed-tools` is written differently, same tools".to_owned();
        Change::new(RuleId::DefinitionRespelled, at, message)
    } else if wider.is_empty() {
        let message = format!("`allowed-tools` no longer asks for {}", quoted_list(&gone));
        Change::new(RuleId::SkillAllowedToolsNarrowed, at, message)
    } else {
        let message = format!("`allowed-tools` now also asks for {}", quoted_list(&wider));
        Change::new(RuleId::SkillAllowedToolsWidened, at, message)
    };
    change.values(old, new)
}

/// Whether tools are listed in a form that hosts read.
fn is_list_of_tools(tools: &Json) -> bool {
    match tools {
        Json::Array(items) => items.iter().all(|it| it.as_text().is_some()),
        one => one.as_text().is_some(),
    }
}

/// Agent Skills write one space-separated string (`Bash(git:*) Read`); some authors write a list.
pub(crate) fn allowed(tools: Option<&Json>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let texts = match tools {
        Some(Json::Array(items)) => items.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    for text in texts.into_iter().filter_map(Json::as_text) {
        let mut depth = 0usize;
        let mut word = String::new();
        for character in text.to_string_lossy().chars().chain([' ']) {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && (character.is_whitespace() || character == ',') {
                if !word.is_empty() {
                    found.insert(std::mem::take(&mut word));
                }
            } else {
                word.push(character);
            }
        }
        if !word.is_empty() {
            found.insert(word);
        }
    }
    found
}

fn resources(member: &Member<'_>, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let (was, is) = match (old, new) {
        (Json::Array(was), Json::Array(is)) => (files(was), files(is)),
        (Json::Array(_), _) => {
            let message =
                "the skill no longer lists its files: its content cannot be pinned".to_owned();
            let change = Change::new(RuleId::SkillBecameDynamic, "/resources", message);
            return changes.push(change.values(Some(old), Some(new)));
        }
        (_, Json::Array(_)) => {
            let message = "the skill now lists its files with their digests".to_owned();
            let change = Change::new(RuleId::SkillBecameStatic, "/resources", message);
            return changes.push(change.values(Some(old), Some(new)));
        }
        _ => return member.whole(changes, RuleId::UnclassifiedChange),
    };
    let first = changes.len();
    let all: BTreeSet<&str> = was.keys().chain(is.keys()).copied().collect();
    for uri in all {
        let (before, after) = (was.get(uri), is.get(uri));
        let (rule, message) = match (before, after) {
            (None, _) => (RuleId::SkillFileAdded, format!("new file `{uri}`")),
            (_, None) => (RuleId::SkillFileRemoved, format!("file `{uri}` removed")),
            (Some((_, before)), Some((_, after))) if before.same_value(after) => continue,
            (Some((_, before)), Some((_, after))) => {
                let differs = |member: &&str| before.get(member) != after.get(member);
                let member = ["digest", "size"].into_iter().find(differs);
                let member = member.unwrap_or("its entry");
                let message = format!("file `{uri}` changed ({member} differs)");
                (RuleId::SkillFileChanged, message)
            }
        };
        let place = after.or(before).map_or(0, |(place, _)| *place);
        let value = |of: Option<&(usize, &Json)>| of.map(|(_, file)| (*file).clone());
        let mut change = Change::new(rule, format!("/resources/{place}"), message);
        (change.old, change.new) = (value(before), value(after));
        changes.push(change);
    }
    let repeated = was.len() != old.as_array().map_or(0, <[Json]>::len)
        || is.len() != new.as_array().map_or(0, <[Json]>::len);
    if changes.len() == first && !repeated {
        let message = RESPELLED.to_owned();
        changes.push(Change::new(
            RuleId::DefinitionRespelled,
            "/resources",
            message,
        ));
    }
}

/// The files of a skill by URI, each with its position in the list.
fn files(resources: &[Json]) -> BTreeMap<&str, (usize, &Json)> {
    let files = resources.iter().enumerate();
    files
        .map(|(place, file)| {
            let uri = file.get("uri").and_then(Json::as_str).unwrap_or_default();
            (uri, (place, file))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_tools_are_words_or_a_list() {
        let words = |text: &str| allowed(Some(&crate::canonical::parse_str(text).unwrap()));
        let expected: BTreeSet<String> = ["Bash(git add *)", "Read"].map(str::to_owned).into();
        assert_eq!(words(r#""Read Bash(git add *)""#), expected);
        assert_eq!(words(r#""Read, Bash(git add *)""#), expected);
        assert_eq!(words(r#"["Read", "Bash(git add *)"]"#), expected);
        assert_eq!(words("7"), BTreeSet::new());
        assert_eq!(words(r#""Bash(""#), ["Bash( ".to_owned()].into());
    }
}

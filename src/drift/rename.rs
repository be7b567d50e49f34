//! Renamed tools: a removed and an added one with the same arguments and text; and tools with a new
//! version, which is part of a key.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::{Change, component, tool};
use crate::canonical::Json;
use crate::judgement::Exposure;
use crate::rules::RuleId;
use crate::schema::example_values::words as words_of;
use crate::schema::likeness::{
    Difference, DifferenceKind, Named, Relation, assigned, objects, prefixes, relation, says_more,
    spelled, stem, texts_follow,
};
use crate::schema::{Work, renamed_members};
use crate::sentences::drift as sentences;
use crate::surface::{Component, ComponentKey, Kind};

/// With more tools than this on either side, tools are reported as removed and added.
const MOST: usize = 300;

/// For so many pairs of tools, renamed parameters count as the same ones.
const MOST_LOOKED_INTO: usize = 500;

/// With less than this in common in their texts, tools are one only if their names are spelled
/// differently and no more.
const LEAST_TEXT: f64 = 0.2;

/// A tool under its old and its new name.
pub(super) struct Renamed<'a> {
    pub(super) old: &'a Component,
    pub(super) new: &'a Component,
    /// From 0 to 1.
    similarity: f64,
    /// The names differ in spelling only, or in a prefix that was exchanged in several tools.
    same_words: bool,
}

impl Renamed<'_> {
    /// The rename, and whatever else changed in the tool.
    pub(super) fn compare(&self, work: &Work, changes: &mut Vec<Change>) {
        let mut change = if self.old.definition.get("name") == self.new.definition.get("name") {
            self.version_changed()
        } else {
            self.name_changed(work)
        };
        change.component = Some(self.old.key.clone());
        changes.push(change);
        let mut others = Vec::new();
        component::compare(self.old, self.new, work, &mut others);
        // The name itself is already reported, and so is the version.
        let reported = ["/name", "/_meta/fastmcp/version", "/_meta/_fastmcp/version"];
        for mut change in others {
            // A provider's rejection of the new name is not.
            if !reported.contains(&change.pointer.as_str()) || change.rule.is_of_provider() {
                // Under its key in the baseline, which is where a reviewer looks.
                change.component = Some(self.old.key.clone());
                changes.push(change);
            }
        }
    }

    fn name_changed(&self, work: &Work) -> Change {
        let name = |component: &Component| component.definition.get("name").cloned();
        let (was, is) = (name(self.old), name(self.new));
        let text = |name: &Option<Json>| {
            name.as_ref()
                .and_then(Json::as_text)
                .map_or("", |it| it.to_string_lossy())
                .to_owned()
        };
        let message = sentences::renamed(&text(&was), &text(&is), self.similarity, self.same_words);
        let mut change =
            Change::new(RuleId::ToolRenamed, "/name", message).values(was.as_ref(), is.as_ref());
        change.proof = tool::call_that_worked(&self.old.definition, work);
        // Under other words it is as exposed as if it were reported as new, so that a wrong pair
        // hides nothing.
        let as_new = |component: &Component| component::added(component).exposure;
        if !self.same_words || as_new(self.new) > as_new(self.old) {
            change.exposure = change.exposure.max(as_new(self.new));
        }
        // What a name says that the old one did not was not approved.
        if says_more(&words_of(&text(&was)), &words_of(&text(&is))) {
            change.exposure = change.exposure.max(Exposure::Medium);
        }
        change
    }

    fn version_changed(&self) -> Change {
        let version = |component: &Component| component.key.version().to_owned();
        let (was, is) = (version(self.old), version(self.new));
        let message = sentences::own_version_changed(&was, &is);
        Change::new(
            RuleId::ToolVersionChanged,
            "/_meta/fastmcp/version",
            message,
        )
        .values(Some(&Json::string(was)), Some(&Json::string(is)))
    }
}

/// The pairs that are one tool under two names, the most similar first, each tool in one pair at
/// most.
pub(super) fn find<'a>(removed: &[&'a Component], added: &[&'a Component]) -> Vec<Renamed<'a>> {
    let tools = |all: &[&'a Component]| -> Vec<Traits<'a>> {
        all.iter()
            .filter(|it| it.kind == Kind::Tool)
            .filter_map(|it| Traits::of(it))
            .collect()
    };
    let (removed, added) = (tools(removed), tools(added));
    if removed.len() > MOST || added.len() > MOST {
        return Vec::new();
    }
    let budget = Cell::new(MOST_LOOKED_INTO);
    let exchanged = exchanges(&removed, &added, &budget);
    let mut pairs: Vec<Renamed<'a>> = removed
        .iter()
        .flat_map(|old| {
            let budget = &budget;
            added
                .iter()
                .filter_map(move |new| old.renamed_to(new, budget))
        })
        .collect();
    for pair in exchanged {
        let known = pairs
            .iter_mut()
            .find(|it| it.old.key == pair.old.key && it.new.key == pair.new.key);
        match known {
            Some(known) => known.same_words |= pair.same_words,
            None => pairs.push(pair),
        }
    }
    pairs.sort_by(|one, other| (&one.old.key, &one.new.key).cmp(&(&other.old.key, &other.new.key)));
    let index = |keys: Vec<&ComponentKey>| -> Vec<ComponentKey> {
        keys.into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .cloned()
            .collect()
    };
    let olds = index(pairs.iter().map(|it| &it.old.key).collect());
    let news = index(pairs.iter().map(|it| &it.new.key).collect());
    let at = |keys: &[ComponentKey], key: &ComponentKey| {
        keys.iter().position(|it| it == key).unwrap_or(0)
    };
    let scored = pairs
        .iter()
        .map(|it| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let score = (it.similarity * 10_000.0) as u32;
            (at(&olds, &it.old.key), at(&news, &it.new.key), score.max(1))
        })
        .collect();
    let chosen = assigned(scored);
    pairs.retain(|it| {
        let place = (at(&olds, &it.old.key), at(&news, &it.new.key));
        chosen.iter().any(|(old, new, _)| (*old, *new) == place)
    });
    pairs.sort_by(|one, other| {
        other
            .similarity
            .total_cmp(&one.similarity)
            .then_with(|| one.old.key.cmp(&other.old.key))
    });
    pairs
}

/// Tools in whose names the same was exchanged: what comes before the verb, such as `browser_click`
/// and `page_click`, or what it is about. One such pair proves nothing, several support each other.
fn exchanges<'a>(
    removed: &[Traits<'a>],
    added: &[Traits<'a>],
    budget: &Cell<usize>,
) -> Vec<Renamed<'a>> {
    type Pairs<'t, 'a> = Vec<(&'t Traits<'a>, &'t Traits<'a>, bool)>;
    let mut by_prefix: BTreeMap<(String, String), Pairs<'_, 'a>> = BTreeMap::new();
    let mut by_object: BTreeMap<(&str, &str), Pairs<'_, 'a>> = BTreeMap::new();
    for old in removed {
        for new in added {
            if let Some((mine, theirs, verb)) = prefixes(&old.named, &new.named) {
                let pairs = by_prefix.entry((mine, theirs)).or_default();
                pairs.push((old, new, verb));
            } else if let Some(words) = objects(&old.named, &new.named) {
                by_object.entry(words).or_default().push((old, new, true));
            }
        }
    }
    let several = |pairs: &Pairs<'_, 'a>| {
        // Without a verb after it, it may be the verb that was exchanged.
        let verbs = pairs.iter().filter(|(.., verb)| *verb).count();
        pairs.len() > 1 && 2 * verbs >= pairs.len()
    };
    let by_prefix = by_prefix.into_values().map(|pairs| (pairs, true));
    let by_object = by_object.into_values().map(|pairs| (pairs, false));
    by_prefix
        .chain(by_object)
        .filter(|(pairs, _)| several(pairs))
        .flat_map(|(pairs, same_words)| pairs.into_iter().map(move |it| (it.0, it.1, same_words)))
        .filter(|(old, new, _)| old.arguments(new, budget).0 >= 0.8)
        .map(|(old, new, same_words)| Renamed {
            old: old.component,
            new: new.component,
            similarity: 0.8,
            same_words,
        })
        .collect()
}

/// What a tool is recognised by.
struct Traits<'a> {
    component: &'a Component,
    /// The words of its name.
    named: Vec<String>,
    /// Its name without what is only spelling.
    spelled: String,
    words: BTreeSet<String>,
    /// The stems of these words.
    says: BTreeSet<String>,
    properties: BTreeSet<&'a str>,
}

impl<'a> Traits<'a> {
    fn of(component: &'a Component) -> Option<Self> {
        let definition = &component.definition;
        let text = |member: &str| {
            definition
                .get(member)
                .and_then(Json::as_str)
                .unwrap_or_default()
        };
        let properties = definition
            .get("inputSchema")
            .and_then(|schema| schema.get("properties"))
            .and_then(Json::as_object)
            .map(|properties| {
                properties
                    .iter()
                    .filter_map(|(name, _)| name.as_str())
                    .collect()
            })
            .unwrap_or_default();
        let description = text("description").to_lowercase();
        let words: BTreeSet<String> = description
            .split(|c: char| !c.is_alphanumeric())
            .filter(|it| !it.is_empty())
            .take(2_000)
            .map(str::to_owned)
            .collect();
        let named = words_of(text("name"));
        (!named.is_empty()).then(|| Self {
            component,
            spelled: spelled(&named),
            named,
            says: words.iter().map(|it| stem(it)).collect(),
            words,
            properties,
        })
    }

    /// How much the arguments agree, from 0 to 1; 1 only if they are the same. And whether every old
    /// argument is still there. Those that were renamed count as the same.
    fn arguments(&self, new: &Traits<'a>, budget: &Cell<usize>) -> (f64, bool) {
        let schema = |it: &Traits<'a>| it.component.definition.get("inputSchema");
        let (mine, theirs) = (schema(self), schema(new));
        let same_schema = match (mine, theirs) {
            (Some(one), Some(other)) => one.same_value(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        if same_schema {
            return (1.0, true);
        }
        let mut shared = self.properties.intersection(&new.properties).count();
        let differ = shared < self.properties.len() && shared < new.properties.len();
        if let (true, Some(one), Some(other)) = (differ && budget.get() > 0, mine, theirs) {
            budget.set(budget.get() - 1);
            shared += renamed_members(one, other);
        }
        let all = self.properties.len() + new.properties.len() - shared;
        let overlap = if all == 0 {
            1.0
        } else {
            shared as f64 / all as f64
        };
        (0.95 * overlap, shared == self.properties.len())
    }

    /// Whether the texts of two tools speak for it that they are one, although their names differ in
    /// words that are not known to mean the same.
    fn speaks_for(&self, new: &Traits<'a>, difference: &Difference, text: f64) -> bool {
        let says = |text: &BTreeSet<String>, word: &String| text.contains(&stem(word));
        let Difference { gone, fresh, kind } = difference;
        match kind {
            DifferenceKind::Namespace => text >= 0.9 && self.words.len() > 3,
            // The old text already has the new word.
            DifferenceKind::Object => fresh.iter().all(|it| says(&self.says, it)),
            DifferenceKind::Length => {
                gone.iter().all(|it| says(&new.says, it))
                    && fresh.iter().all(|it| says(&self.says, it))
            }
            DifferenceKind::Several => {
                text >= 0.9
                    && gone.iter().any(|it| says(&new.says, it))
                    && fresh.iter().any(|it| says(&self.says, it))
            }
            DifferenceKind::Action => false,
        }
    }

    /// The same tool under another name: the arguments must agree, and the name, and unless that is
    /// only spelled differently, the text as well.
    fn renamed_to(&self, new: &Traits<'a>, budget: &Cell<usize>) -> Option<Renamed<'a>> {
        let same_name =
            self.component.definition.get("name") == new.component.definition.get("name");
        let follow = texts_follow((&self.named, &new.named), (&self.says, &new.says));
        let text = if follow {
            0.0
        } else {
            overlap(&self.words, &new.words)
        };
        let relation = if same_name || self.spelled == new.spelled {
            Relation::Spelling
        } else if text < LEAST_TEXT {
            return None;
        } else {
            relation(&self.named, &new.named, Named::Tool)
        };
        let (name, least_text) = match &relation {
            Relation::Spelling => (1.0, 0.0),
            Relation::Synonyms => (0.95, LEAST_TEXT),
            Relation::Extended => (0.9, 0.4),
            Relation::Near => (0.85, 0.4),
            Relation::Unknown(difference) if self.speaks_for(new, difference, text) => (0.6, 0.7),
            _ => return None,
        };
        if text < least_text {
            return None;
        }
        let (arguments, kept) = self.arguments(new, budget);
        let says_something = self.words.len() >= 3;
        let takes_something = !self.properties.is_empty();
        let same_words = relation == Relation::Spelling;
        let alike = same_name
            || (same_words
                && (arguments >= 0.45 || kept || (says_something && text >= 0.5)))
            || (arguments >= 0.8 && (takes_something || (says_something && text >= 0.4)))
            // Renamed and edited: name and text make up for the arguments.
            || (takes_something
                && says_something
                && (arguments >= 0.55 || (kept && arguments > 0.3))
                && name >= 0.8
                && text >= 0.6)
            || (says_something && arguments > 0.3 && (name >= 0.95 || kept) && text >= 0.8);
        alike.then_some(Renamed {
            old: self.component,
            new: new.component,
            // The same name in two versions takes precedence over any other pair.
            similarity: if same_name {
                1.0
            } else {
                (2.0 * arguments + text + name) / 4.0
            },
            same_words,
        })
    }
}

/// The overlap of two sets, from 0 to 1. Two empty sets agree.
fn overlap<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> f64 {
    if one.is_empty() && other.is_empty() {
        return 1.0;
    }
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    shared as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;
    use crate::surface::ComponentKey;

    fn tool(definition: &str) -> Component {
        let definition = parse_str(definition).unwrap();
        Component {
            kind: Kind::Tool,
            key: ComponentKey::of(Kind::Tool, &definition),
            definition,
        }
    }

    fn pairs(removed: &[Component], added: &[Component]) -> Vec<(String, String)> {
        let found = find(
            &removed.iter().collect::<Vec<_>>(),
            &added.iter().collect::<Vec<_>>(),
        );
        found
            .iter()
            .map(|it| (it.old.key.to_string(), it.new.key.to_string()))
            .collect()
    }

    const QUERY: &str = r#"{"name":"NAME","description":"Runs a query on the database.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"}}}}"#;

    fn query(name: &str) -> Component {
        tool(&QUERY.replace("NAME", name))
    }

    #[test]
    fn separators_prefixes_and_new_words_are_recognised() {
        for (old, new) in [
            ("read-query", "read_query"),
            ("read_query", "db_read_query"),
            ("readQuery", "run"),
        ] {
            assert_eq!(pairs(&[query(old)], &[query(new)]).len(), 1, "{old} {new}");
        }
    }

    #[test]
    fn tools_that_only_look_similar_are_not_paired() {
        let ping = tool(r#"{"name":"ping","inputSchema":{"type":"object"}}"#);
        let reset = tool(r#"{"name":"reset","inputSchema":{"type":"object"}}"#);
        assert!(pairs(&[ping], &[reset]).is_empty());
        let write = tool(
            r#"{"name":"write-query","description":"Changes rows of a table.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"}}}}"#,
        );
        assert!(pairs(&[query("read-query")], &[write]).is_empty());
    }

    #[test]
    fn each_tool_is_in_one_pair_and_the_most_similar_wins() {
        let found = pairs(&[query("read-query")], &[query("run"), query("read_query")]);
        assert_eq!(
            found,
            [("tool:read-query@".to_owned(), "tool:read_query@".to_owned())]
        );
    }

    #[test]
    fn opposites_are_never_paired() {
        for (old, new) in [
            ("encrypt", "decrypt"),
            ("enable_user", "disable_user"),
            ("user", "user_delete"),
        ] {
            assert!(
                pairs(&[query(old)], &[query(new)]).is_empty(),
                "{old} {new}"
            );
        }
    }

    #[test]
    fn texts_that_differ_as_the_names_do_support_nothing() {
        let named = |name: &str, text: &str| {
            tool(
                &QUERY
                    .replace("NAME", name)
                    .replace("Runs a query on the database", text),
            )
        };
        let engage = [named("engage_brake", "Engages the brake of the given car")];
        let loosen = named("loosen_brake", "Loosens the brake of the given car");
        assert!(pairs(&engage, &[loosen]).is_empty());
        // Not even the same text is evidence that another verb means the same.
        let press = named("press_brake", "Engages the brake of the given car");
        assert!(pairs(&engage, &[press]).is_empty());
        let read = named("read_notes", "Read the notes of the given car");
        let list = named("list_notes", "List the notes of the given car");
        assert_eq!(pairs(&[read], &[list]).len(), 1);
    }

    #[test]
    fn a_version_in_a_name_and_an_edit_do_not_hide_a_rename() {
        assert_eq!(pairs(&[query("search_v1")], &[query("search_v2")]).len(), 1);
        let edited = tool(
            r#"{"name":"run_read_query","description":"Runs a query on the database.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"},"limit":{"type":"integer"}}}}"#,
        );
        assert_eq!(pairs(&[query("read_query")], &[edited]).len(), 1);
        let edited = tool(
            r#"{"name":"search_files","description":"Searches files by name and by content in a folder.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"pattern":{"type":"string"},"limit":{"type":"integer"}}}}"#,
        );
        let before = tool(
            r#"{"name":"search_file","description":"Searches files by name and content in a folder.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"pattern":{"type":"string"}}}}"#,
        );
        assert_eq!(pairs(&[before], &[edited]).len(), 1);
    }

    #[test]
    fn a_word_that_was_exchanged_in_several_tools_supports_each_of_them() {
        let named = |name: &str, text: &str| {
            tool(&format!(
                r#"{{"name":"{name}","description":"{text}","inputSchema":{{"type":"object"}}}}"#
            ))
        };
        let (click, press) = (
            named("browser_click", "Click."),
            named("browser_press", "Press."),
        );
        let fresh = [
            named("page_click", "A click."),
            named("page_press", "Keys."),
        ];
        assert_eq!(pairs(&[click.clone(), press], &fresh).len(), 2);
        assert!(pairs(&[click], &fresh[..1]).is_empty());
    }
}

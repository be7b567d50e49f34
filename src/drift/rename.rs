//! Renamed tools, and tools with a new version, which is part of a key.
//!
//! A tool is renamed if its description and schemas are the same, say something, and no other tool
//! of either list has them; or if the names differ in spelling only and the definitions are nearly
//! the same. Anything else is a removal and an addition.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, component, tool};
use crate::canonical::{Json, canonical_array};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::schema::naming::{is_telling, normalised, unique, without_title};
use crate::surface::{Component, ComponentKey, Kind, Surface};
use json_schema_subsume::words;

/// A tool under its old and its new name.
pub(super) struct Renamed<'a> {
    pub(super) old: &'a Component,
    pub(super) new: &'a Component,
    /// The names differ in spelling only.
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
        let message = format!(
            "`{}` is now called `{}`",
            name_of(self.old),
            name_of(self.new)
        );
        let mut change =
            Change::new(RuleId::ToolRenamed, "/name", message).values(was.as_ref(), is.as_ref());
        change.proof = tool::call_that_worked(&self.old.definition, work);
        // Under other words it is as exposed as if it were reported as new, so that a wrong pair
        // hides nothing.
        let as_new = |component: &Component| component::added(component).exposure;
        if !self.same_words || as_new(self.new) > as_new(self.old) {
            change.exposure = change.exposure.max(as_new(self.new));
        }
        change
    }

    fn version_changed(&self) -> Change {
        let version = |component: &Component| component.key.version().to_owned();
        let (was, is) = (version(self.old), version(self.new));
        let shown = |version: &str| match version {
            "" => "none".to_owned(),
            version => version.to_owned(),
        };
        let message = format!("the tool's own version: {} → {}", shown(&was), shown(&is));
        Change::new(
            RuleId::ToolVersionChanged,
            "/_meta/fastmcp/version",
            message,
        )
        .values(Some(&Json::string(was)), Some(&Json::string(is)))
    }
}

fn name_of(tool: &Component) -> &str {
    let name = tool.definition.get("name").and_then(Json::as_text);
    name.map_or("", |name| name.to_string_lossy())
}

/// One side: its surface, and the components that only it has.
type Side<'s, 'a> = (&'a Surface, &'s [&'a Component]);

/// The pairs that are one tool under two names, or two versions of one. Each tool is in one pair at
/// most.
pub(super) fn find<'a>(
    (old_surface, removed): Side<'_, 'a>,
    (new_surface, added): Side<'_, 'a>,
) -> Vec<Renamed<'a>> {
    let tools = |all: &[&'a Component]| -> Vec<&'a Component> {
        let tools = all.iter().filter(|component| component.kind == Kind::Tool);
        tools.copied().collect()
    };
    let (removed, added) = (tools(removed), tools(added));
    if removed.is_empty() || added.is_empty() {
        return Vec::new();
    }
    let mut found = Found::default();
    found.add(of_one_name(&removed, &added), false);
    let spelled = |tools: &[&'a Component], surface: &Surface| {
        unique(tools.iter().map(|tool| (spelled(tool, surface), *tool)))
    };
    let by_spelling = common(
        &spelled(&removed, old_surface),
        &spelled(&added, new_surface),
    );
    let nearly_same = by_spelling
        .into_iter()
        .filter(|(old, new)| are_nearly_same(old, new));
    found.add(nearly_same.collect(), true);
    // Unique among all tools, and not only among those that went or came.
    let defined = |surface: &'a Surface| {
        unique(
            surface
                .of_kind(Kind::Tool)
                .map(|tool| (definition(tool), tool)),
        )
    };
    let (gone, fresh) = (keys(&removed), keys(&added));
    let by_definition = common(&defined(old_surface), &defined(new_surface));
    let same = by_definition.into_iter().filter(|(old, new)| {
        gone.contains(&old.key) && fresh.contains(&new.key) && says_something(old)
    });
    found.add(same.collect(), false);
    found.pairs
}

type Pair<'a> = (&'a Component, &'a Component);

#[derive(Default)]
struct Found<'a> {
    pairs: Vec<Renamed<'a>>,
    olds: BTreeSet<&'a ComponentKey>,
    news: BTreeSet<&'a ComponentKey>,
}

impl<'a> Found<'a> {
    /// The pairs of tools that are in none yet.
    fn add(&mut self, pairs: Vec<Pair<'a>>, same_words: bool) {
        for (old, new) in pairs {
            if !self.olds.contains(&old.key) && !self.news.contains(&new.key) {
                self.olds.insert(&old.key);
                self.news.insert(&new.key);
                self.pairs.push(Renamed {
                    old,
                    new,
                    same_words,
                });
            }
        }
    }
}

fn keys<'a>(tools: &[&'a Component]) -> BTreeSet<&'a ComponentKey> {
    tools.iter().map(|tool| &tool.key).collect()
}

/// What has the same mark on both sides, and no other has it.
fn common<'a>(
    old: &BTreeMap<String, Option<&'a Component>>,
    new: &BTreeMap<String, Option<&'a Component>>,
) -> Vec<Pair<'a>> {
    let both = old
        .iter()
        .filter_map(|(mark, tool)| Some(((*tool)?, (*new.get(mark)?)?)));
    both.collect()
}

/// Two versions of a tool.
fn of_one_name<'a>(removed: &[&'a Component], added: &[&'a Component]) -> Vec<Pair<'a>> {
    let mut by_name: BTreeMap<&str, Vec<&'a Component>> = BTreeMap::new();
    for old in removed {
        by_name.entry(name_of(old)).or_default().push(old);
    }
    let mut pairs = Vec::new();
    for new in added.iter().rev() {
        let before = by_name.get_mut(name_of(new)).and_then(Vec::pop);
        pairs.extend(before.map(|old| (old, *new)));
    }
    pairs
}

/// The name without what is only spelling, and without the server's own name before it.
fn spelled(tool: &Component, surface: &Surface) -> String {
    let of_server = words(surface.server_name().unwrap_or_default());
    let own = words(name_of(tool));
    let is_prefix = |word: &&String| of_server.contains(*word);
    let prefix = own.iter().take_while(is_prefix).count();
    let rest = if prefix < own.len() {
        &own[prefix..]
    } else {
        &own[..]
    };
    normalised(&rest.join("_"))
}

/// The same description, or the same arguments.
fn are_nearly_same(old: &Component, new: &Component) -> bool {
    let [was, is] = [old, new].map(|tool| tool.definition.get("description"));
    let same_text = is_telling(was) && was == is;
    let [was, is] = [old, new].map(|tool| schema(tool, "inputSchema"));
    same_text || was.same_value(&is)
}

/// A schema of a tool without its title; `null` if there is none.
fn schema(tool: &Component, member: &str) -> Json {
    tool.definition
        .get(member)
        .map_or(Json::Null, without_title)
}

/// Description and schemas of a tool.
fn definition(tool: &Component) -> String {
    let description = tool.definition.get("description").unwrap_or(&Json::Null);
    let [input, output] = ["inputSchema", "outputSchema"].map(|member| schema(tool, member));
    canonical_array(&[description, &input, &output])
}

fn says_something(tool: &Component) -> bool {
    let input = tool.definition.get("inputSchema");
    let parameters = input.and_then(|schema| schema.get("properties")?.as_object());
    is_telling(tool.definition.get("description")) || parameters.is_some_and(|all| all.len() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;
    use crate::judgement::Exposure;
    use crate::surface::{ClientProfile, Lists, Scope};

    fn surface(server: &str, tools: &[String]) -> Surface {
        let greeting = parse_str(&format!(r#"{{"serverInfo":{{"name":"{server}"}}}}"#)).unwrap();
        let tools = tools.iter().map(|tool| parse_str(tool).unwrap()).collect();
        let lists = Lists {
            tools,
            ..Lists::default()
        };
        Surface::new(&greeting, lists, ClientProfile::default(), Scope::FULL)
    }

    /// The names of the tools that are found to be one.
    fn pairs(old: &[String], new: &[String]) -> Vec<(String, String)> {
        let (old, new) = (surface("acme", old), surface("acme", new));
        let changes = super::super::compare(&old, &new);
        let renamed = changes.iter().filter(|it| it.rule == RuleId::ToolRenamed);
        let name = |name: &Option<Json>| name.as_ref().unwrap().as_str().unwrap().to_owned();
        renamed.map(|it| (name(&it.old), name(&it.new))).collect()
    }

    fn pair(old: &str, new: &str) -> Vec<(String, String)> {
        vec![(old.to_owned(), new.to_owned())]
    }

    const QUERY: &str = r#"{"name":"NAME","description":"Runs a query.","inputSchema":{"type":"object","title":"NAMEArguments","properties":{"sql":{"type":"string"}}}}"#;

    fn query(name: &str) -> String {
        QUERY.replace("NAME", name)
    }

    #[test]
    fn a_tool_with_the_same_description_and_schemas_is_renamed_whatever_its_name() {
        assert_eq!(
            pairs(&[query("query")], &[query("run")]),
            pair("query", "run")
        );
        let hinted = query("run").replace(
            r#""inputSchema""#,
            r#""title":"Run","annotations":{"readOnlyHint":true},"inputSchema""#,
        );
        assert_eq!(pairs(&[query("query")], &[hinted]), pair("query", "run"));
        let edited = query("run").replace("Runs a query.", "Runs one query.");
        assert_eq!(pairs(&[query("query")], &[edited]), []);
        let other = query("run").replace("sql", "text");
        assert_eq!(pairs(&[query("query")], &[other]), []);
    }

    #[test]
    fn a_definition_that_says_little_or_that_two_tools_have_proves_nothing() {
        let short = |name: &str| query(name).replace("Runs a query.", "A query.");
        assert_eq!(pairs(&[short("query")], &[short("run")]), []);
        let three = |name: &str| {
            short(name).replace(
                r#""sql":{"type":"string"}"#,
                r#""sql":{"type":"string"},"limit":{},"offset":{}"#,
            )
        };
        assert_eq!(
            pairs(&[three("query")], &[three("run")]),
            pair("query", "run")
        );
        assert_eq!(pairs(&[query("query")], &[query("run"), query("ask")]), []);
        let kept = || query("kept");
        assert_eq!(
            pairs(&[query("query"), kept()], &[query("run"), kept()]),
            []
        );
    }

    #[test]
    fn another_spelling_of_a_name_is_a_rename_if_the_definition_is_nearly_the_same() {
        for (old, new) in [
            ("read-query", "readQuery"),
            ("read_query", "read_queries"),
            ("read_query", "acme_read_query"),
            ("acme_read_query", "read_query"),
        ] {
            let edited = query(new).replace("Runs a query.", "Reads all of it.");
            assert_eq!(pairs(&[query(old)], &[edited]), pair(old, new));
            let other = query(new).replace("sql", "text");
            assert_eq!(
                pairs(&[query(old)], std::slice::from_ref(&other)),
                pair(old, new)
            );
            let both = other.replace("Runs a query.", "Reads all of it.");
            assert_eq!(pairs(&[query(old)], &[both]), []);
        }
    }

    #[test]
    fn each_tool_is_in_one_pair_and_the_name_comes_first() {
        let edited = query("readQuery").replace("Runs a query.", "Reads all of it.");
        assert_eq!(
            pairs(&[query("read_query")], &[query("run"), edited]),
            pair("read_query", "readQuery")
        );
    }

    #[test]
    fn a_rename_under_other_words_is_as_exposed_as_a_new_tool() {
        let exposure = |old: &str, new: &str| {
            let (old, new) = (
                surface("acme", &[query(old)]),
                surface("acme", &[query(new)]),
            );
            super::super::compare(&old, &new)[0].exposure
        };
        assert_eq!(exposure("read_query", "readQuery"), Exposure::Low);
        assert_eq!(exposure("lock_door", "unlock_door"), Exposure::High);
    }
}

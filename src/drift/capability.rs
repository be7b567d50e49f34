//! What changed in capabilities, extensions and revisions: each judged by what was offered under
//! it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, located, meta, quoted_list, tool};
use crate::canonical::{Json, Object, pointer};
use crate::conformance::hint_invalid;
use crate::judgement::{Exposure, Level, Proof};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::surface::{CacheScope, Component, Era, Kind, LIST_HINTS, Surface, app_document};
use crate::wording::{join_with_and, what_happened};

/// The extension for user interfaces.
pub(super) const APPS: &str = "io.modelcontextprotocol/ui";
/// The extension that tasks became.
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Capabilities that are maps of parts, each of which is offered or not.
const MAPS: [&str; 2] = ["experimental", "extensions"];

pub(super) fn compare(old: &Surface, new: &Surface, work: &Work, changes: &mut Vec<Change>) {
    let (was, is) = (&old.capabilities, &new.capabilities);
    for map in MAPS {
        empty_map(map, was.get(map), is.get(map), changes);
    }
    let found = located::differences(&with_maps(was), &with_maps(is));
    if found.is_empty() {
        return;
    }
    let users = (Users::of(old), Users::of(new));
    for difference in found {
        let tokens: Vec<_> = pointer::tokens(&difference.pointer).collect();
        let path: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
        let (before, after) = (difference.old.as_ref(), difference.new.as_ref());
        let part = Part {
            old,
            new,
            before,
            after,
            users: &users,
        };
        let change = match path.as_slice() {
            ["extensions", name] => part.extension(name),
            ["extensions", name, ..] => {
                let setting = path[2..].join(".");
                let message = format!(
                    "extension `{name}`: `{setting}` {}",
                    what_happened(before, after)
                );
                Change::new(RuleId::ExtensionChanged, "", message)
            }
            ["experimental", name] => part.experimental(name),
            ["tasks", ..] => part.tasks(&path, work),
            [name] => part.capability(name),
            [name, flag @ ("listChanged" | "subscribe")] => part.flag(name, flag),
            _ => {
                let message = capability_message(&path.join("."), before, after);
                Change::new(RuleId::CapabilityChanged, "", message)
            }
        };
        let mut change = change.values(before, after);
        change.pointer = format!("/capabilities{}", difference.pointer);
        changes.push(change);
    }
}

fn capability_message<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    format!("capability `{name}` {}", what_happened(old, new))
}

/// Capabilities with both maps, so that each added or removed member of a map is a separate
/// difference.
fn with_maps(capabilities: &Json) -> Json {
    let Json::Object(object) = capabilities else {
        return capabilities.clone();
    };
    let mut object = object.clone();
    for map in MAPS {
        if object.get(map).is_none() {
            object.push(map, Json::object([]));
        }
    }
    Json::Object(object)
}

/// An empty map that was added or removed.
fn empty_map(name: &str, old: Option<&Json>, new: Option<&Json>, changes: &mut Vec<Change>) {
    let is_empty = |map: Option<&Json>| map.and_then(Json::as_object).is_some_and(Object::is_empty);
    let one_sided = old.is_none() != new.is_none();
    if one_sided && (is_empty(old) || is_empty(new)) {
        let message = format!(
            "capability `{name}` {}; it was empty",
            what_happened(old, new)
        );
        let at = format!("/capabilities/{name}");
        let mut change = Change::new(RuleId::CapabilityChanged, at, message).values(old, new);
        change.level = Level::Cosmetic;
        changes.push(change);
    }
}

/// One part of the capabilities that differs.
struct Part<'a> {
    old: &'a Surface,
    new: &'a Surface,
    before: Option<&'a Json>,
    after: Option<&'a Json>,
    /// Of the old and of the new surface.
    users: &'a (Users, Users),
}

impl Part<'_> {
    /// A whole capability.
    fn capability(&self, name: &str) -> Change {
        let (before, after) = (self.before, self.after);
        match (before, after) {
            (None, Some(_)) => {
                let message = capability_message(name, before, after);
                Change::new(RuleId::CapabilityAdded, "", message)
            }
            (Some(_), None) => {
                let offered = Offered::under(name, self.old);
                let message = format!("capability `{name}` was removed; {}", offered.sentence());
                let mut change = Change::new(RuleId::CapabilityRemoved, "", message);
                change.level = offered.level_of_removal();
                change
            }
            _ => {
                let message = capability_message(name, before, after);
                Change::new(RuleId::CapabilityChanged, "", message)
            }
        }
    }

    /// `tasks` or a part of it. What counts is whether tools may be called as a task.
    fn tasks(&self, path: &[&str], work: &Work) -> Change {
        let name = path.join(".");
        let could = meta::declares_task_calls(self.old);
        let can = meta::declares_task_calls(self.new);
        let offered = Offered::under("tasks", self.old);
        // `list` and `cancel` concern tasks that exist.
        let about_calls = ["tasks", "requests", "tools", "call"].starts_with(path);
        match (self.before, self.after) {
            (None, Some(_)) => self.tasks_added(&name, about_calls && !could && can, work),
            (Some(_), None) if path.len() == 1 || (about_calls && could && !can) => {
                let message = format!("capability `{name}` was removed; {}", offered.sentence());
                let mut change = Change::new(RuleId::CapabilityRemoved, "", message);
                change.level = offered.level_of_removal();
                change
            }
            _ => {
                let message = capability_message(&name, self.before, self.after);
                let mut change = Change::new(RuleId::CapabilityChanged, "", message);
                let is_unused = |surface| Offered::under("tasks", surface).count() == Some(0);
                if is_unused(self.old) && is_unused(self.new) {
                    change.level = Level::Cosmetic;
                }
                change
            }
        }
    }

    /// A tool that can only be called as a task could be called without one until the server
    /// declared tasks.
    fn tasks_added(&self, name: &str, calls_are_new: bool, work: &Work) -> Change {
        let mut broken: Vec<&Component> = Vec::new();
        if calls_are_new && meta::knows_task_support(self.new) {
            let before = self.old.of_kind(Kind::Tool);
            let before: BTreeMap<&str, &Component> = before
                .filter(|tool| meta::must_be_task(&tool.definition))
                .map(|tool| (tool.key.as_str(), tool))
                .collect();
            let now = self.new.of_kind(Kind::Tool);
            let now = now.filter(|tool| meta::must_be_task(&tool.definition));
            broken.extend(now.filter_map(|tool| before.get(tool.key.as_str())));
        }
        let Some(first) = broken.first() else {
            let message = capability_message(name, self.before, self.after);
            return Change::new(RuleId::CapabilityAdded, "", message);
        };
        let names: Vec<&str> = broken.iter().map(|tool| tool.key.identity()).collect();
        let message = format!(
            "capability `{name}` is new, and `taskSupport` is `required`: plain calls of {} are now rejected \
             (-32601)",
            quoted_list(&names)
        );
        let mut change = Change::new(RuleId::CapabilityAdded, "", message);
        change.level = Level::Breaking;
        change.proof = tool::call_that_worked(&first.definition, work);
        change
    }

    /// `listChanged` or `subscribe`, which default to `false`.
    fn flag(&self, name: &str, flag: &str) -> Change {
        let means = |value: Option<&Json>| match value {
            None | Some(Json::Null) => Some(false),
            Some(value) => value.as_bool(),
        };
        let called = format!("{name}.{flag}");
        let (was, is) = (means(self.before), means(self.after));
        let listed = |surface: &Surface| Offered::under(name, surface).count() != Some(0);
        let (level, message) = match (was, is) {
            (Some(was), Some(is)) if was == is => (
                Level::Cosmetic,
                format!("capability `{called}` is written differently, same meaning"),
            ),
            (Some(false), Some(true)) => (
                Level::Additive,
                format!("capability `{called}`: false → true"),
            ),
            (Some(true), Some(false)) if !listed(self.old) && !listed(self.new) => {
                let message =
                    format!("capability `{called}` was removed; nothing was listed under it");
                (Level::Cosmetic, message)
            }
            (Some(true), Some(false)) => {
                (Level::Risky, format!("capability `{called}`: true → false"))
            }
            _ => {
                let message = capability_message(&called, self.before, self.after);
                (Level::Risky, message)
            }
        };
        let mut change = Change::new(RuleId::CapabilityChanged, "", message);
        change.level = level;
        change
    }

    fn experimental(&self, name: &str) -> Change {
        let (rule, level) = match (self.before, self.after) {
            (None, Some(_)) => (RuleId::CapabilityAdded, Level::Additive),
            // Whether anyone used it is unknown.
            (Some(_), None) => (RuleId::CapabilityRemoved, Level::Risky),
            _ => (RuleId::CapabilityChanged, Level::Risky),
        };
        let message = capability_message(&format!("experimental.{name}"), self.before, self.after);
        let mut change = Change::new(rule, "", message);
        change.level = level;
        change
    }

    fn extension(&self, name: &str) -> Change {
        match (self.before, self.after) {
            (None, Some(_)) => {
                let tools = self.users.1.of_extension(name);
                let message = match tools {
                    [] => format!("new extension `{name}`"),
                    tools => format!("new extension `{name}`, used by {}", quoted_list(tools)),
                };
                Change::new(RuleId::ExtensionAdded, "", message)
            }
            (Some(_), None) => {
                let tools = self.users.0.of_extension(name);
                // Where its list was not captured, nothing is known about it.
                let listed = Kind::listed_by_extension(name)
                    .filter(|kind| self.old.scope.kinds.contains(*kind))
                    .map(|kind| Offered::Listed(self.old.of_kind(kind).count(), kind.noun()));
                let message = match &listed {
                    Some(listed) => {
                        format!("extension `{name}` was removed; {}", listed.sentence())
                    }
                    None => match tools {
                        [] => format!(
                            "extension `{name}` was removed; no tool declares anything for it"
                        ),
                        tools => format!(
                            "extension `{name}` was removed; it was used by {}",
                            quoted_list(tools)
                        ),
                    },
                };
                let mut change = Change::new(RuleId::ExtensionRemoved, "", message);
                let was_empty = listed.is_some_and(|it| it.count() == Some(0));
                // Of user interfaces, only declared ones count.
                if was_empty || (name == APPS && tools.is_empty()) {
                    change.level = Level::Cosmetic;
                }
                change
            }
            _ => {
                let message = format!("the settings of extension `{name}` changed");
                Change::new(RuleId::ExtensionChanged, "", message)
            }
        }
    }
}

/// The tools that declare something for extensions, found once for each surface: there may be thousands of both.
struct Users {
    apps: Vec<String>,
    tasks: Vec<String>,
    /// By the vendor in front of a name in `_meta`.
    by_vendor: BTreeMap<String, Vec<String>>,
}

impl Users {
    fn of(surface: &Surface) -> Self {
        let mut users = Self {
            apps: Vec::new(),
            tasks: Vec::new(),
            by_vendor: BTreeMap::new(),
        };
        for tool in surface.of_kind(Kind::Tool) {
            let name = || tool.key.identity().to_owned();
            if has_app(tool) {
                users.apps.push(name());
            }
            if may_be_task(tool) {
                users.tasks.push(name());
            }
            let meta = tool.definition.get("_meta").and_then(Json::as_object);
            let members = meta.into_iter().flat_map(Object::iter);
            let vendors: BTreeSet<&str> = members
                .filter_map(|(member, _)| Some(member.to_string_lossy().split_once('/')?.0))
                .collect();
            for vendor in vendors {
                let tools = users.by_vendor.entry(vendor.to_owned()).or_default();
                tools.push(name());
            }
        }
        users
    }

    /// The names of the tools that declare something for an extension.
    fn of_extension(&self, extension: &str) -> &[String] {
        match (extension, extension.split_once('/')) {
            (APPS, _) => &self.apps,
            (TASKS, _) => &self.tasks,
            (_, Some((vendor, _))) => self.by_vendor.get(vendor).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }
}

/// Whether a tool declares how a host shows its results, or who may call it.
fn has_app(tool: &Component) -> bool {
    let meta = tool.definition.get("_meta");
    meta.is_some_and(|meta| meta.get("ui").is_some() || meta.get("ui/resourceUri").is_some())
}

fn may_be_task(tool: &Component) -> bool {
    let execution = tool.definition.get("execution");
    let support = execution.and_then(|it| it.get("taskSupport"));
    matches!(
        support.and_then(Json::as_str),
        Some("optional" | "required")
    )
}

/// What a server offered under a capability.
enum Offered {
    /// This many of these.
    Listed(usize, &'static str),
    /// Log messages, as long as the protocol has them.
    LogMessages,
    /// No list shows what it is.
    Unknown,
}

impl Offered {
    fn under(capability: &str, surface: &Surface) -> Self {
        let count = |kind| surface.of_kind(kind).count();
        match capability {
            "tools" => Self::Listed(count(Kind::Tool), "tool"),
            "prompts" => Self::Listed(count(Kind::Prompt), "prompt"),
            "resources" => {
                // The documents of user interfaces need not be listed.
                let apps = surface
                    .of_kind(Kind::Tool)
                    .filter(|tool| app_document(&tool.definition).is_some())
                    .count();
                let listed = count(Kind::Resource) + count(Kind::Template);
                Self::Listed(listed + apps, "resource")
            }
            "completions" => {
                let prompts = surface.of_kind(Kind::Prompt);
                let arguments = prompts.filter_map(|it| it.definition.get("arguments")?.as_array());
                let templates = surface
                    .of_kind(Kind::Template)
                    .filter_map(super::template::variables);
                let completed = arguments.map(<[Json]>::len).sum::<usize>()
                    + templates.map(|variables| variables.len()).sum::<usize>();
                Self::Listed(completed, "argument")
            }
            "tasks" => {
                let tools = surface.of_kind(Kind::Tool);
                Self::Listed(tools.filter(|tool| may_be_task(tool)).count(), "tool")
            }
            "logging" => Self::LogMessages,
            _ => Self::Unknown,
        }
    }

    fn count(&self) -> Option<usize> {
        match self {
            Self::Listed(count, _) => Some(*count),
            Self::LogMessages | Self::Unknown => None,
        }
    }

    fn level_of_removal(&self) -> Level {
        match self {
            Self::Listed(0, _) => Level::Cosmetic,
            Self::LogMessages => Level::Risky,
            Self::Listed(..) | Self::Unknown => Level::Breaking,
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Listed(0, _) => "nothing was listed under it".to_owned(),
            Self::Listed(1, noun) => format!("1 {noun} was offered under it"),
            Self::Listed(count, noun) => format!("{count} {noun}s were offered under it"),
            Self::LogMessages => "log messages stop".to_owned(),
            Self::Unknown => "what it offers is not read".to_owned(),
        }
    }
}

/// Added and removed revisions.
pub(super) fn compare_revisions(old: &Surface, new: &Surface, changes: &mut Vec<Change>) {
    let (Some(was), Some(is)) = (&old.supported_versions, &new.supported_versions) else {
        // A surface that records other members records these too.
        let is_recorded = new.other_members.is_some() && new.era() == Era::Modern;
        if let (Some(was), None, true) = (
            &old.supported_versions,
            &new.supported_versions,
            is_recorded,
        ) {
            let was = Json::Array(was.iter().map(|it| Json::string(it.as_str())).collect());
            let message =
                "`supportedVersions` is missing or not an array: clients cannot agree on a revision"
                    .to_owned();
            let change = Change::new(RuleId::RevisionDropped, "/supportedVersions", message);
            changes.push(change.values(Some(&was), None));
        }
        return;
    };
    let only_in = |one: &[String], other: &[String]| -> Vec<String> {
        let other: BTreeSet<&String> = other.iter().collect();
        let only = one.iter().filter(|it| !other.contains(it));
        only.cloned().collect()
    };
    let (lost, gained) = (only_in(was, is), only_in(is, was));
    let json = |of: &[String]| Json::Array(of.iter().map(|it| Json::string(it.as_str())).collect());
    let (before, after) = (json(was), json(is));
    let mut push = |rule, message, proof| {
        let change = Change::new(rule, "/supportedVersions", message);
        let mut change = change.values(Some(&before), Some(&after));
        change.proof = proof;
        changes.push(change);
    };
    if let Some(first) = lost.first() {
        let legacy = |of: &[String]| of.iter().any(|it| Era::of(it) == Era::Legacy);
        let era = if legacy(was) && !legacy(is) {
            ", and with it every revision that opens with `initialize`"
        } else {
            ""
        };
        let message = format!(
            "`supportedVersions` lost {}{era}: clients limited to it cannot connect",
            join_with_and(lost.iter().map(String::as_str))
        );
        let request = first_request(first);
        push(
            RuleId::RevisionDropped,
            message,
            Some(Proof::Witness(request)),
        );
    }
    if !gained.is_empty() {
        push(
            RuleId::RevisionAdded,
            format!(
                "`supportedVersions` now has {}",
                join_with_and(gained.iter().map(String::as_str))
            ),
            None,
        );
    }
    if lost.is_empty() && gained.is_empty() && was != is {
        let message = "`supportedVersions` is listed in another order".to_owned();
        push(RuleId::DefinitionRespelled, message, None);
    }
}

/// The first request of a client of a revision.
pub(super) fn first_request(revision: &str) -> Json {
    let revision_named = |name: &'static str| Json::object([(name, Json::string(revision))]);
    let (method, params) = match Era::of(revision) {
        Era::Legacy => ("initialize", revision_named("protocolVersion")),
        Era::Modern => {
            let meta = revision_named("io.modelcontextprotocol/protocolVersion");
            ("tools/list", Json::object([("_meta", meta)]))
        }
    };
    Json::object([("method", Json::string(method)), ("params", params)])
}

/// Members of the first answer and of lists that no revision defines.
pub(super) fn compare_other_members(old: &Surface, new: &Surface, changes: &mut Vec<Change>) {
    let (Some(was), Some(is)) = (&old.other_members, &new.other_members) else {
        return;
    };
    let (of_old, of_new) = (old.other_members_of_lists(), new.other_members_of_lists());
    let methods: BTreeSet<&str> = of_old.keys().chain(of_new.keys()).copied().collect();
    // Each member of a list is a difference of its own.
    let with_lists = |members: &Json| {
        let mut members = members.as_object().cloned().unwrap_or_default();
        for method in &methods {
            if !members.contains(method) {
                members.push(*method, Json::object([]));
            }
        }
        Json::Object(members)
    };
    for difference in located::differences(&with_lists(was), &with_lists(is)) {
        let tokens: Vec<_> = pointer::tokens(&difference.pointer).collect();
        let path: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
        let (before, after) = (difference.old.as_ref(), difference.new.as_ref());
        let at = format!("/otherMembers{}", difference.pointer);
        let change = match path.as_slice() {
            [method, hint]
                if methods.contains(method)
                    && LIST_HINTS.contains(hint)
                    && new.era() == Era::Modern =>
            {
                list_hint(at, method, hint, after)
            }
            _ => {
                let message = format!("`{}` {}", path.join("."), what_happened(before, after));
                Change::new(RuleId::UnclassifiedChange, at, message)
            }
        };
        changes.push(change.values(before, after));
    }
}

/// A cache hint of a list in a form that the protocol does not allow, or no longer.
fn list_hint(at: String, method: &str, hint: &str, after: Option<&Json>) -> Change {
    if after.is_some() {
        let message = hint_invalid(method, hint);
        return Change::new(RuleId::ListNowRefused, at, message);
    }
    let message = format!("`{method}`: `{hint}` is valid again");
    Change::new(RuleId::CacheScopeChanged, at, message).exposure(Exposure::None)
}

/// Answers that may now be cached for others than before. How long they may be cached is not
/// compared: it varies.
pub(super) fn compare_caching(old: &Surface, new: &Surface, changes: &mut Vec<Change>) {
    // A surface that names its revisions says everything about caching; of others it may not have been recorded.
    let is_known = |surface: &Surface| surface.supported_versions.is_some();
    let hints = old.caching.iter().chain(new.caching.iter());
    let methods: BTreeSet<&'static str> = hints.map(|(method, _)| method).collect();
    for method in methods {
        let (was, is) = (old.caching.get(method).scope, new.caching.get(method).scope);
        let known = (was.is_some() || is_known(old)) && (is.is_some() || is_known(new));
        // One that the protocol does not allow is a change of its own.
        let is_wrong = new
            .other_members_of_lists()
            .get(method)
            .is_some_and(|it| it.get("cacheScope").is_some());
        if was == is || !known || is_wrong {
            continue;
        }
        let at = pointer::join("/caching", method);
        let json = |scope: Option<CacheScope>| scope.map(|it| Json::string(it.word()));
        let word = |scope: Option<CacheScope>| scope.map_or("none", CacheScope::word);
        let effect = if is == Some(CacheScope::Public) {
            ": caches may now give one user's answer to another"
        } else {
            ""
        };
        let message = format!(
            "`{method}`: cacheScope {} → {}{effect}",
            word(was),
            word(is)
        );
        let mut change = Change::new(
            RuleId::CacheScopeChanged,
            format!("{at}/cacheScope"),
            message,
        )
        .values(json(was).as_ref(), json(is).as_ref());
        if is != Some(CacheScope::Public) {
            change.exposure = Exposure::None;
        }
        changes.push(change);
    }
}

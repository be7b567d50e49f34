//! What changed in `_meta`, in annotations and in icons, as far as it decides who sees or may do
//! what.

use std::collections::BTreeSet;

use super::component::Member;
use super::{Change, located, quoted_list};
use crate::canonical::{Json, Object, pointer};
use crate::judgement::{Exposure, Level, Proof};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::surface::{Icon, IconProblem, Kind, Surface};
use crate::wording::what_happened;

/// Who may call a tool by default.
const EVERYONE: [&str; 2] = ["model", "app"];

/// The lists of origins in `_meta.ui.csp`.
const ORIGINS: [&str; 4] = [
    "connectDomains",
    "resourceDomains",
    "frameDomains",
    "baseUriDomains",
];

/// Compares `_meta`: what MCP Apps define by its meaning, the rest place by place under `rule`.
pub(super) fn compare(kind: Kind, member: &Member<'_>, rule: RuleId, changes: &mut Vec<Change>) {
    let first = changes.len();
    if kind == Kind::Tool {
        visibility(member, rule, changes);
        resource_uri(member, rule, changes);
    }
    access(member, rule, changes);
    domain(member, changes);
    let rest = |meta: Option<&Json>| meta.map(|meta| without_judged(kind, meta));
    let (mut old, mut new) = (rest(member.old), rest(member.new));
    if let (Some(old), Some(new)) = (&mut old, &mut new) {
        add_containers(old, new);
        add_containers(new, old);
    }
    let same = match (&old, &new) {
        (Some(one), Some(other)) => one.same_value(other),
        // The rest of a `_meta` that only had what is judged above.
        (Some(one), None) | (None, Some(one)) => {
            changes.len() > first && one.as_object().is_some_and(Object::is_empty)
        }
        (None, None) => true,
    };
    if same && changes.len() == first {
        // An empty `ui`, which says nothing.
        member.each(rule, changes);
    }
    if !same {
        let rest = Member {
            name: member.name,
            old: old.as_ref(),
            new: new.as_ref(),
            work: member.work,
        };
        let from = changes.len();
        rest.each(rule, changes);
        for change in &mut changes[from..] {
            let granted = if may_grant_access(change) {
                Exposure::High
            } else {
                Exposure::None
            };
            change.exposure = change.exposure.max(exposure(change)).max(granted);
        }
    }
}

/// Whether a change adds to `_meta.ui.csp` or `_meta.ui.permissions` what no specification defines:
/// a host may still honour it.
fn may_grant_access(change: &Change) -> bool {
    let Some(new) = &change.new else {
        return false;
    };
    let place: Vec<_> = pointer::tokens(&change.pointer).collect();
    let place: Vec<&str> = place.iter().map(AsRef::as_ref).collect();
    ["csp", "permissions"].into_iter().any(|member| {
        let path = ["_meta", "ui", member];
        // Inside it, or around it.
        place.starts_with(&path)
            || path
                .strip_prefix(place.as_slice())
                .is_some_and(|below| at(Some(new), below).is_some())
    })
}

/// The value at a path of member names.
fn at<'a>(value: Option<&'a Json>, path: &[&str]) -> Option<&'a Json> {
    path.iter().try_fold(value?, |value, name| value.get(name))
}

/// `_meta` without what MCP Apps define. Anything in another form stays.
fn without_judged(kind: Kind, meta: &Json) -> Json {
    let Json::Object(meta) = meta else {
        return meta.clone();
    };
    let mut kept = meta.clone();
    kept.retain(|name, value| !(kind == Kind::Tool && name == "ui/resourceUri" && is_text(value)));
    let Some(Json::Object(ui)) = kept.get_mut("ui") else {
        return Json::Object(kept);
    };
    if let Some(Json::Object(csp)) = ui.get_mut("csp") {
        csp.retain(|list, origins| !is_list_of_origins(list.to_string_lossy(), origins));
    }
    ui.retain(|name, value| {
        let judged = match name.to_string_lossy() {
            "visibility" => kind == Kind::Tool && texts(Some(value)).is_some(),
            "resourceUri" => kind == Kind::Tool && is_text(value),
            "domain" => is_text(value),
            // Its lists of origins are gone.
            "csp" => value.as_object().is_some_and(Object::is_empty),
            "permissions" => value.as_object().is_some(),
            _ => false,
        };
        !judged
    });
    if ui.is_empty() {
        kept.retain(|name, _| name != "ui");
    }
    Json::Object(kept)
}

/// Gives a rest the containers that another one still has, so that only what is in them differs.
fn add_containers(rest: &mut Json, other: &Json) {
    let (Json::Object(rest), Some(Json::Object(other))) = (rest, other.get("ui")) else {
        return;
    };
    if !rest.contains("ui") {
        rest.push("ui", Json::object([]));
    }
    let has_csp = matches!(other.get("csp"), Some(Json::Object(_)));
    if let Some(Json::Object(ui)) = rest.get_mut("ui")
        && has_csp
        && !ui.contains("csp")
    {
        ui.push("csp", Json::object([]));
    }
}

fn is_text(value: &Json) -> bool {
    value.as_str().is_some()
}

/// Lists of origins and nothing else.
fn is_csp(value: &Json) -> bool {
    value.as_object().is_some_and(|csp| {
        csp.iter()
            .all(|(name, origins)| is_list_of_origins(name.to_string_lossy(), origins))
    })
}

fn is_list_of_origins(name: &str, origins: &Json) -> bool {
    ORIGINS.contains(&name) && texts(Some(origins)).is_some()
}

/// The strings in an array, whatever else is in it.
fn texts_among(value: Option<&Json>) -> BTreeSet<&str> {
    let items = value.and_then(Json::as_array).unwrap_or_default();
    items.iter().filter_map(Json::as_str).collect()
}

/// An array of strings as a set; `None` for anything else.
fn texts(value: Option<&Json>) -> Option<BTreeSet<&str>> {
    value?.as_array()?.iter().map(Json::as_str).collect()
}

/// Who may call a tool.
fn visibility(member: &Member<'_>, rule: RuleId, changes: &mut Vec<Change>) {
    let path = ["ui", "visibility"];
    let (was, is) = (at(member.old, &path), at(member.new, &path));
    if was == is {
        return;
    }
    let callers = |value: Option<&'_ Json>| match value {
        None => Some(
            EVERYONE
                .map(str::to_owned)
                .into_iter()
                .collect::<BTreeSet<_>>(),
        ),
        value => texts(value).map(|texts| texts.into_iter().map(str::to_owned).collect()),
    };
    let (Some(before), Some(after)) = (callers(was), callers(is)) else {
        return;
    };
    let lost: Vec<&str> = before.difference(&after).map(String::as_str).collect();
    let gained: Vec<&str> = after.difference(&before).map(String::as_str).collect();
    let mut push = |rule, message, exposure: Option<Exposure>| {
        let mut change = Change::new(rule, "/_meta/ui/visibility", message).values(was, is);
        change.exposure = exposure.unwrap_or(change.exposure);
        changes.push(change);
    };
    let message = |effects: Vec<String>| format!("`_meta.ui.visibility`: {}", effects.join("; "));
    if !lost.is_empty() {
        let effects = lost.iter().map(|who| match *who {
            "model" => "hosts no longer offer the tool to the model".to_owned(),
            "app" => "hosts reject calls from the server's user interface".to_owned(),
            other => format!("`{other}` was removed"),
        });
        push(
            RuleId::ToolVisibilityNarrowed,
            message(effects.collect()),
            None,
        );
    }
    if !gained.is_empty() {
        let effects = gained.iter().map(|who| match *who {
            "model" => "the model can now call the tool".to_owned(),
            "app" => "the server's user interface can now call the tool".to_owned(),
            other => format!("`{other}` was added"),
        });
        // The model acts on its own; an app on its user's actions.
        let exposure = (!gained.contains(&"model")).then_some(Exposure::Medium);
        push(
            RuleId::ToolVisibilityWidened,
            message(effects.collect()),
            exposure,
        );
    }
    if lost.is_empty() && gained.is_empty() {
        push(
            rule,
            "`_meta.ui.visibility` is written differently, same meaning".to_owned(),
            None,
        );
    }
}

/// The document that shows a tool's results. It has two names, and hosts differ in which one they
/// read first.
fn resource_uri(member: &Member<'_>, rule: RuleId, changes: &mut Vec<Change>) {
    const NESTED: &str = "/_meta/ui/resourceUri";
    const FLAT: &str = "/_meta/ui~1resourceUri";
    let nested = |meta| at(meta, &["ui", "resourceUri"]).filter(|it| is_text(it));
    let flat = |meta| at(meta, &["ui/resourceUri"]).filter(|it| is_text(it));
    let nested_first = |meta| nested(meta).or_else(|| flat(meta));
    let flat_first = |meta| flat(meta).or_else(|| nested(meta));
    let pair = (nested_first(member.old), nested_first(member.new));
    let other_pair = (flat_first(member.old), flat_first(member.new));
    let place = if nested(member.new).or(nested(member.old)).is_some() {
        NESTED
    } else {
        FLAT
    };
    let mut seen = Vec::new();
    for (place, (was, is)) in [(place, pair), (FLAT, other_pair)] {
        if was == is || seen.contains(&(was, is)) {
            continue;
        }
        seen.push((was, is));
        let message = match (was.and_then(Json::as_str), is.and_then(Json::as_str)) {
            (Some(was), Some(is)) => format!("results are shown by another document: {was} → {is}"),
            (None, Some(is)) => format!("results are now shown by the document {is}"),
            _ => "results are no longer shown by a document of the server".to_owned(),
        };
        let mut change = Change::new(RuleId::AppResourceChanged, place, message).values(was, is);
        if is.is_none() {
            change.exposure = Exposure::None;
        }
        changes.push(change);
    }
    let moved = nested(member.old) != nested(member.new) || flat(member.old) != flat(member.new);
    if seen.is_empty() && moved {
        let message = "`_meta.ui.resourceUri` is written differently, same meaning".to_owned();
        changes.push(Change::new(rule, place, message).values(pair.0, pair.1));
    }
}

/// What a user interface may access.
fn access(member: &Member<'_>, rule: RuleId, changes: &mut Vec<Change>) {
    // Known lists count whatever is beside them.
    let csp = |meta| at(meta, &["ui", "csp"]);
    for list in ORIGINS {
        let origins = |meta| csp(meta).and_then(|csp| csp.get(list));
        let values = (origins(member.old), origins(member.new));
        let sets = (texts_among(values.0), texts_among(values.1));
        let place = format!("/_meta/ui/csp/{list}");
        reach(&place, list, values, sets, rule, changes);
    }
    let is_judged = |value: Option<&Json>| value.is_none_or(is_csp);
    if is_judged(csp(member.old)) && is_judged(csp(member.new)) {
        let (was, is) = (csp(member.old), csp(member.new));
        stated(("/_meta/ui/csp", "_meta.ui.csp"), (was, is), rule, changes);
    }
    let permissions = |meta| at(meta, &["ui", "permissions"]);
    let values = (permissions(member.old), permissions(member.new));
    let names = |value: Option<&'_ Json>| -> BTreeSet<String> {
        let object = value.and_then(Json::as_object);
        let members = object.into_iter().flat_map(Object::iter);
        members
            .map(|(name, _)| name.to_string_lossy().to_owned())
            .collect()
    };
    let (before, after) = (names(values.0), names(values.1));
    let sets = (
        before.iter().map(String::as_str).collect(),
        after.iter().map(String::as_str).collect(),
    );
    let place = "/_meta/ui/permissions";
    reach(place, "permissions", values, sets, rule, changes);
    let is_object = |value: Option<&Json>| value.is_none_or(|it| it.as_object().is_some());
    if before == after && is_object(values.0) && is_object(values.1) {
        stated((place, "_meta.ui.permissions"), values, rule, changes);
    }
}

/// A declaration without effect that was added, removed or respelled.
fn stated(
    (place, name): (&str, &str),
    (was, is): (Option<&Json>, Option<&Json>),
    rule: RuleId,
    changes: &mut Vec<Change>,
) {
    let reported =
        |change: &Change| change.component.is_none() && change.pointer.starts_with(place);
    let differ = match (was, is) {
        (Some(one), Some(other)) => !one.same_value(other),
        (one, other) => one.is_some() != other.is_some(),
    };
    if differ && !changes.iter().any(reported) {
        let message = format!("`{name}` is written differently, same meaning");
        changes.push(Change::new(rule, place, message).values(was, is));
    }
}

/// A set of accessible things that grew or shrank.
fn reach(
    place: &str,
    list: &str,
    (was, is): (Option<&Json>, Option<&Json>),
    (before, after): (BTreeSet<&str>, BTreeSet<&str>),
    rule: RuleId,
    changes: &mut Vec<Change>,
) {
    let gained: Vec<&str> = after.difference(&before).copied().collect();
    let lost: Vec<&str> = before.difference(&after).copied().collect();
    for (rule, message, names) in [
        (
            RuleId::AppAccessWidened,
            format!(
                "the user interface may reach more: `{list}` now has {}",
                quoted_list(&gained)
            ),
            &gained,
        ),
        (
            RuleId::AppAccessNarrowed,
            format!(
                "the user interface may reach less: `{list}` lost {}",
                quoted_list(&lost)
            ),
            &lost,
        ),
    ] {
        if !names.is_empty() {
            changes.push(Change::new(rule, place, message).values(was, is));
        }
    }
    let listed_again = texts(was).is_some() && texts(is).is_some() && was != is;
    if gained.is_empty() && lost.is_empty() && listed_again && list != "permissions" {
        let message = format!("`_meta.ui.csp.{list}` is written differently, same meaning");
        changes.push(Change::new(rule, place, message).values(was, is));
    }
}

/// The exposure of what a new component may reach as a user interface: origins and devices.
pub(super) fn access_of_new(definition: &Json) -> Exposure {
    let ui = at(Some(definition), &["_meta", "ui"]);
    let has_origins = at(ui, &["csp"])
        .and_then(Json::as_object)
        .into_iter()
        .flat_map(Object::iter)
        .any(|(_, origins)| origins.as_array().is_none_or(|it| !it.is_empty()));
    let permissions = at(ui, &["permissions"]);
    let has_permissions =
        permissions.is_some_and(|it| it.as_object().is_none_or(|it| !it.is_empty()));
    if has_origins || has_permissions {
        Exposure::High
    } else {
        Exposure::None
    }
}

fn domain(member: &Member<'_>, changes: &mut Vec<Change>) {
    let domain = |meta| at(meta, &["ui", "domain"]).filter(|it| is_text(it));
    let (was, is) = (domain(member.old), domain(member.new));
    if was != is {
        let shown = |domain: Option<&Json>| -> String {
            let text = domain.and_then(Json::as_str);
            text.unwrap_or("the host's default").to_owned()
        };
        let message = format!(
            "origin of the user interface: {} → {}",
            shown(was),
            shown(is)
        );
        let change = Change::new(RuleId::AppDomainChanged, "/_meta/ui/domain", message);
        changes.push(change.values(was, is));
    }
}

/// Parts of names that suggest trust, access or secrecy. What they mean to a client is unknown, but
/// an approver should see them.
const SECURITY: [&str; 37] = [
    "sensitiv",
    "privat",
    "privacy",
    "privileg",
    "secret",
    "credential",
    "password",
    "confidential",
    "classif",
    "clearance",
    "trust",
    "malicious",
    "dangerous",
    "security",
    "permission",
    "scope",
    "access",
    "restrict",
    "role",
    "group",
    "admin",
    "elevat",
    "sudo",
    "visib",
    "hidden",
    "consent",
    "confirm",
    "approv",
    "policy",
    "risk",
    "unsafe",
    "allowed",
    "forbid",
    "denied",
    "csp",
    "domain",
    "tenant",
];

/// The same as whole words: they are parts of many others.
const SECURITY_WORDS: [&str; 5] = ["acl", "acls", "pii", "phi", "token"];

/// Words beside `token` that make it a unit of text.
const UNITS: [&str; 10] = [
    "count", "limit", "max", "min", "budget", "usage", "cost", "estimate", "total", "progress",
];

/// Whether a name suggests trust, access or secrecy.
pub(super) fn names_security(name: &str) -> bool {
    let lower = name.to_lowercase();
    // `author` is a person.
    let authority = lower.replace("author", "").contains("auth") || lower.contains("authoriz");
    if authority || SECURITY.iter().any(|part| lower.contains(part)) {
        return true;
    }
    let words = words(name);
    let counts = words.iter().any(|word| UNITS.contains(&word.as_str()));
    words
        .iter()
        .filter(|word| !(counts && *word == "token"))
        .any(|word| SECURITY_WORDS.contains(&word.as_str()))
}

/// The words of a name, in lower case: `apiToken`, `api_token` and `API-TOKEN` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars() {
        let starts = character.is_uppercase() && was_lower;
        if starts || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The exposure of a change of free-form metadata: higher if a name on the way to it, or in it,
/// suggests security.
fn exposure(change: &Change) -> Exposure {
    let on_the_way = pointer::tokens(&change.pointer).any(|token| names_security(&token));
    let inside = [&change.old, &change.new]
        .into_iter()
        .flatten()
        .any(speaks_of_security);
    if on_the_way || inside {
        Exposure::Medium
    } else {
        Exposure::Low
    }
}

/// Whether a member anywhere in a value has a name that suggests security.
fn speaks_of_security(value: &Json) -> bool {
    match value {
        Json::Object(object) => object.iter().any(|(name, value)| {
            names_security(name.to_string_lossy()) || speaks_of_security(value)
        }),
        Json::Array(items) => items.iter().any(speaks_of_security),
        _ => false,
    }
}

/// The exposure of new icons: another origin learns who looks, SVG can contain scripts, and some
/// client may load what it should reject.
pub(super) fn icon_exposure(old: Option<&Json>, new: Option<&Json>) -> Exposure {
    let known: BTreeSet<String> = Icon::all(old).filter_map(Icon::origin).collect();
    let before: BTreeSet<Icon<'_>> = Icon::all(old).collect();
    let exposed = Icon::all(new)
        .filter(|icon| !before.contains(icon))
        .map(|icon| {
            let is_elsewhere = icon.origin().is_some_and(|origin| !known.contains(&origin));
            match icon.problem() {
                Some(IconProblem::UnsafeScheme) => Exposure::High,
                Some(IconProblem::Unencrypted) => Exposure::Medium,
                None if is_elsewhere || icon.is_svg() => Exposure::Medium,
                None => Exposure::Low,
            }
        });
    exposed.max().unwrap_or(Exposure::Low)
}

/// `annotations` of a resource or a template.
pub(super) fn annotations(member: &Member<'_>, rule: RuleId, changes: &mut Vec<Change>) {
    // Without `audience` both are meant.
    let audience = |of: Option<&'_ Json>| match at(of, &["audience"]) {
        None => Some(true),
        roles => texts(roles).map(|it| it.contains("assistant")),
    };
    let widened = audience(member.old) == Some(false) && audience(member.new) == Some(true);
    let empty = Json::object([]);
    let (old, new) = (member.old.unwrap_or(&empty), member.new.unwrap_or(&empty));
    let from = changes.len();
    let mut reported = false;
    for difference in located::differences(old, new) {
        let place = format!("/annotations{}", difference.pointer);
        let (before, after) = (difference.old.as_ref(), difference.new.as_ref());
        let is_audience = difference.pointer.starts_with("/audience");
        let change = if widened && is_audience {
            if std::mem::replace(&mut reported, true) {
                continue;
            }
            let message =
                "`audience` now includes `assistant`: the text may reach the model".to_owned();
            Change::new(RuleId::AudienceWidened, "/annotations/audience", message)
                .values(at(member.old, &["audience"]), at(member.new, &["audience"]))
        } else {
            let name = place.trim_start_matches('/').replace('/', ".");
            let message = format!("`{name}` {}", what_happened(before, after));
            let mut change = Change::new(rule, place, message).values(before, after);
            change.exposure = change.exposure.max(exposure(&change));
            change
        };
        changes.push(change);
    }
    if changes.len() == from {
        member.whole(changes, rule);
    }
}

/// `execution.taskSupport` as clients read it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TaskSupport {
    Forbidden,
    Optional,
    Required,
}

impl TaskSupport {
    fn of(execution: Option<&Json>) -> Option<Self> {
        match at(execution, &["taskSupport"]) {
            None | Some(Json::Null) => Some(Self::Forbidden),
            Some(value) => match value.as_str()? {
                "forbidden" => Some(Self::Forbidden),
                "optional" => Some(Self::Optional),
                "required" => Some(Self::Required),
                _ => None,
            },
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }
}

/// What a value of `taskSupport` means, as a word.
fn task_support_word(value: &Option<Json>) -> &str {
    let text = value.as_ref().and_then(Json::as_str);
    text.unwrap_or(TaskSupport::Forbidden.word())
}

/// `execution` of a tool.
pub(super) fn execution(member: &Member<'_>, changes: &mut Vec<Change>) {
    let support = (TaskSupport::of(member.old), TaskSupport::of(member.new));
    let path = ["taskSupport"];
    let (before, after) = (at(member.old, &path), at(member.new, &path));
    let (Some(was), Some(is)) = support else {
        return member.each(RuleId::ToolExecutionChanged, changes);
    };
    let rule = match (was, is) {
        _ if was == is => RuleId::TaskSupportStated,
        (_, TaskSupport::Optional) => RuleId::TaskSupportWidened,
        _ => RuleId::TaskSupportNarrowed,
    };
    if before != after {
        let effect = match is {
            TaskSupport::Required => ": plain calls are rejected (-32601)",
            TaskSupport::Forbidden => ": calls as a task are rejected (-32601)",
            TaskSupport::Optional => "",
        };
        let message = if was == is {
            "`execution.taskSupport` is written differently, same meaning".to_owned()
        } else {
            format!("`taskSupport`: {} → {}{effect}", was.word(), is.word())
        };
        let change = Change::new(rule, "/execution/taskSupport", message);
        changes.push(change.values(before, after));
    }
    let rest = |execution: Option<&Json>| {
        let mut rest = execution
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default();
        rest.retain(|name, _| name != "taskSupport");
        Json::Object(rest)
    };
    let (old, new) = (rest(member.old), rest(member.new));
    if !old.same_value(&new) {
        let rest = Member {
            name: member.name,
            old: Some(&old),
            new: Some(&new),
            work: member.work,
        };
        rest.each(RuleId::ToolExecutionChanged, changes);
    }
    if before == after && old.same_value(&new) {
        member.whole(changes, RuleId::TaskSupportStated);
    }
}

/// Adds the call that worked before and fails now, if it is a call of the tool.
pub(super) fn add_calls(before: &Json, work: &Work, changes: &mut [Change]) {
    for change in changes {
        let plain = || super::tool::call_that_worked(before, work);
        change.proof = match change.rule {
            RuleId::ToolVisibilityNarrowed => plain(),
            RuleId::TaskSupportNarrowed => {
                let required = change.new.as_ref().and_then(Json::as_str) == Some("required");
                if required {
                    plain()
                } else {
                    plain().map(as_task)
                }
            }
            _ => continue,
        };
    }
}

/// The same call, made as a task.
fn as_task(call: Proof) -> Proof {
    match call {
        Proof::Witness(Json::Object(mut call)) => {
            call.push("task", Json::object([]));
            Proof::Witness(Json::Object(call))
        }
        other => other,
    }
}

/// Whether a tool can only be called as a task.
pub(super) fn must_be_task(definition: &Json) -> bool {
    TaskSupport::of(definition.get("execution")) == Some(TaskSupport::Required)
}

/// Whether the server declares that tools may be called as a task.
pub(super) fn declares_task_calls(surface: &Surface) -> bool {
    let path = ["tasks", "requests", "tools", "call"];
    at(Some(&surface.capabilities), &path).is_some()
}

/// Whether the revision is the one that defines `taskSupport`; a bare list does not say.
pub(super) fn knows_task_support(surface: &Surface) -> bool {
    matches!(surface.protocol_version.as_str(), "" | "2025-11-25")
}

/// Makes a change of `execution` risky where the revision, or the server's capabilities, give it no
/// meaning, and says so.
pub(super) fn soften_tasks(old: &Surface, new: &Surface, changes: &mut [Change]) {
    let is_used = |surface: &Surface| {
        knows_task_support(surface) && (declares_task_calls(surface) || !surface.scope.server)
    };
    for change in changes {
        if change.rule != RuleId::TaskSupportNarrowed {
            continue;
        }
        // What is required counts in the new surface, what could be done in the old one.
        let required = change.new.as_ref().and_then(Json::as_str) == Some("required");
        let decisive = if required { new } else { old };
        if !is_used(decisive) {
            change.level = Level::Risky;
            change.proof = None;
            let [was, is] = [&change.old, &change.new].map(task_support_word);
            change.message = if knows_task_support(decisive) {
                format!(
                    "`taskSupport`: {was} → {is}; no effect until the server declares \
                     `tasks.requests.tools.call`"
                )
            } else {
                format!(
                    "`taskSupport`: {was} → {is}; {} does not define it",
                    decisive.protocol_version
                )
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_suggest_security_are_recognised() {
        for name in [
            "acl",
            "io.example/ACL",
            "containsPii",
            "credentials",
            "token",
            "apiToken",
            "api_token",
            "admin",
            "adminOnly",
            "allowedUsers",
            "classification",
            "dangerous",
            "requiresConfirmation",
            "elevated",
            "hidden",
            "sensitiveHint",
            "groups",
            "authz",
        ] {
            assert!(names_security(name), "{name}");
        }
        for name in [
            "team",
            "author",
            "miracle",
            "tokenCount",
            "max_token",
            "tokens",
            "progressToken",
            "shipping",
            "graphics",
            "version",
            "owner",
        ] {
            assert!(!names_security(name), "{name}");
        }
    }
}

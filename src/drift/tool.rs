//! What changed in a tool: behaviour hints by their meaning, schemas by the schema room.

use super::component::Member;
use super::{Change, located, meta};
use crate::canonical::{Json, pointer};
use crate::judgement::{Exposure, Level, Proof};
use crate::rules::RuleId;
use crate::schema::{self, Side, Work};
use crate::surface::{Component, Era, HeaderProblem, Surface, header_problem};

/// The behaviour hints with the protocol's defaults.
const HINTS: [(&str, bool); 4] = [
    ("readOnlyHint", false),
    ("destructiveHint", true),
    ("idempotentHint", false),
    ("openWorldHint", true),
];

/// The value of a hint with the protocol's defaults applied; `None` if it is not a boolean or has
/// no meaning (whether a tool destroys, or may be repeated, is irrelevant if it is read-only).
fn effective(annotations: Option<&Json>, hint: &str) -> Option<bool> {
    let stated = |hint: &str| match annotations.and_then(|a| a.get(hint)) {
        None | Some(Json::Null) => HINTS
            .iter()
            .find(|(name, _)| *name == hint)
            .map(|(_, default)| *default),
        Some(value) => value.as_bool(),
    };
    let writes_only = matches!(hint, "destructiveHint" | "idempotentHint");
    if writes_only && stated("readOnlyHint") == Some(true) {
        return None;
    }
    stated(hint)
}

/// The exposure of a new tool: lower if it declares itself read-only.
pub(super) fn exposure_of_new(definition: &Json) -> Exposure {
    match effective(definition.get("annotations"), "readOnlyHint") {
        Some(true) if !sends_secret_in_header(definition) => Exposure::Medium,
        _ => Exposure::High,
    }
}

/// Whether HTTP clients copy a parameter whose name suggests a secret into a header.
fn sends_secret_in_header(definition: &Json) -> bool {
    /// Only what is reached through `properties` is copied.
    fn inside(schema: &Json) -> bool {
        let properties = schema.get("properties").and_then(Json::as_object);
        properties.is_some_and(|properties| {
            properties.iter().any(|(name, schema)| {
                let is_secret = || schema::names_secret(name.to_string_lossy());
                (schema.get("x-mcp-header").is_some() && is_secret()) || inside(schema)
            })
        })
    }
    definition.get("inputSchema").is_some_and(inside)
}

/// A call that the old definition accepts, under its old name: it fails once the tool is gone.
pub(super) fn call_that_worked(definition: &Json, work: &Work) -> Option<Proof> {
    let name = definition.get("name")?.clone();
    let schema = definition.get("inputSchema")?;
    // Nothing satisfies `false`, so whatever the old schema accepts is a witness.
    match schema::verdict_within(schema, &Json::Bool(false), Side::Input, work) {
        Proof::Witness(arguments) => {
            let call = Json::object([("name", name), ("arguments", arguments)]);
            Some(Proof::Witness(call))
        }
        _ => None,
    }
}

/// A tool that HTTP clients now drop, and did not before.
pub(super) fn hidden(
    (old, before): (&Surface, &Component),
    (new, after): (&Surface, &Component),
    work: &Work,
) -> Option<Change> {
    // How the old one was reached is not recorded. Clients of the legacy era do not know the
    // annotation.
    if !new.over_http || new.era() == Era::Legacy {
        return None;
    }
    if old.era() == Era::Modern && header_problem(&before.definition).is_some() {
        return None;
    }
    let HeaderProblem { pointer, problem } = header_problem(&after.definition)?;
    let header = pointer::resolve(&after.definition, &pointer);
    let message = format!("clients over HTTP now drop the tool: {problem}");
    let mut change =
        Change::new(RuleId::ToolHiddenFromHttpClients, pointer, message).values(None, header);
    change.proof = call_that_worked(&before.definition, work);
    change.component = Some(after.key.clone());
    Some(change)
}

pub(super) fn annotations(member: &Member<'_>, changes: &mut Vec<Change>) {
    let empty = Json::object([]);
    let (old, new) = (member.old.unwrap_or(&empty), member.new.unwrap_or(&empty));
    for difference in located::differences(old, new) {
        let at = format!("/annotations{}", difference.pointer);
        let name = pointer::tokens(&difference.pointer)
            .next()
            .unwrap_or_default();
        let is_flag =
            |value: &Option<Json>| matches!(value, None | Some(Json::Bool(_) | Json::Null));
        let hint = HINTS
            .iter()
            .find(|(hint, _)| *hint == name)
            .map(|(hint, _)| *hint);
        let change = match hint {
            Some(hint) if is_flag(&difference.old) && is_flag(&difference.new) => {
                let (was, is) = (effective(member.old, hint), effective(member.new, hint));
                if was == is || was.is_none() || is.is_none() {
                    let message = match (was, is) {
                        (None, Some(_)) => {
                            format!("`{hint}` now applies: the tool is no longer read-only")
                        }
                        (Some(_), None) => {
                            format!("`{hint}` no longer applies: the tool is now read-only")
                        }
                        _ => format!("`{hint}` is written differently, same meaning"),
                    };
                    Change::new(RuleId::ToolHintStated, at, message)
                } else {
                    hint_changed(hint, is == Some(true), at)
                }
            }
            _ => {
                let message = format!("annotation `{name}` changed");
                let change = Change::new(RuleId::ToolAnnotationChanged, at, message);
                if meta::names_security(&name) {
                    change.exposure(Exposure::Medium)
                } else {
                    change
                }
            }
        };
        changes.push(change.values(difference.old.as_ref(), difference.new.as_ref()));
    }
}

/// A hint with another effect. Where it now lets a client approve by itself what it asked about before, that
/// is only so if the client trusts hints.
fn hint_changed(hint: &str, is: bool, pointer: String) -> Change {
    let (exposure, message) = match (hint, is) {
        ("readOnlyHint", true) => (
            Exposure::Medium,
            "now declares that it only reads (`readOnlyHint: true`)",
        ),
        // A tool that was auto-approved may now write or destroy.
        ("readOnlyHint", false) => (
            Exposure::High,
            "no longer declares that it only reads (`readOnlyHint`)",
        ),
        ("destructiveHint", true) => (Exposure::High, "may now be destructive (`destructiveHint`)"),
        ("destructiveHint", false) => (Exposure::Medium, "now declares `destructiveHint: false`"),
        ("idempotentHint", true) => (
            Exposure::Low,
            "now declares that calls can be repeated (`idempotentHint: true`)",
        ),
        ("idempotentHint", false) => (
            Exposure::Low,
            "calls can no longer be repeated safely (`idempotentHint`)",
        ),
        ("openWorldHint", true) => (
            Exposure::Medium,
            "may now reach external systems (`openWorldHint`)",
        ),
        _ => (Exposure::Low, "now declares `openWorldHint: false`"),
    };
    Change::new(RuleId::ToolHintChanged, pointer, message.to_owned()).exposure(exposure)
}

pub(super) fn schema(member: &Member<'_>, changes: &mut Vec<Change>) {
    let side = if member.name == "inputSchema" {
        Side::Input
    } else {
        Side::Output
    };
    let (old, new) = match (member.old, member.new) {
        (Some(old), Some(new)) => (old, new),
        _ => return presence(member, side, changes),
    };
    for change in schema::compare_within(old, new, side, member.work).changes {
        changes.push(from_schema(member, change));
    }
}

fn from_schema(member: &Member<'_>, change: schema::SchemaChange) -> Change {
    let at = format!("{}{}", member.pointer(), change.pointer);
    let words = match (&change.old, &change.new) {
        (Some(Json::String(old)), Some(Json::String(new)))
            if matches!(
                change.rule,
                RuleId::InputDescriptionChanged | RuleId::OutputDescriptionChanged
            ) =>
        {
            super::text_diff::diff(old.to_string_lossy(), new.to_string_lossy())
        }
        _ => Vec::new(),
    };
    Change {
        rule: change.rule,
        component: None,
        pointer: at,
        level: change.level,
        exposure: change.exposure,
        proof: change.proof,
        old: change.old,
        new: change.new,
        message: change.message,
        words,
    }
}

/// A schema that was added or removed.
fn presence(member: &Member<'_>, side: Side, changes: &mut Vec<Change>) {
    let added = member.new.is_some();
    let rule = match (side, added) {
        (Side::Input, true) => RuleId::InputSchemaAdded,
        (Side::Input, false) => RuleId::InputSchemaRemoved,
        (Side::Output, true) => RuleId::OutputSchemaAdded,
        (Side::Output, false) => RuleId::OutputSchemaRemoved,
    };
    let message = if added {
        format!("`{}` added", member.name)
    } else {
        format!("`{}` removed", member.name)
    };
    let mut change = Change::new(rule, member.pointer(), message).values(member.old, member.new);
    if let (Side::Output, Some(old), None) = (side, member.old, member.new) {
        // Without a schema anything may be returned: a result that the old schema rejects shows
        // what is lost.
        let verdict = schema::verdict_within(old, &Json::Bool(true), Side::Output, member.work);
        if !matches!(verdict, Proof::Witness(_)) {
            change.level = Level::Risky;
        }
        change.proof = Some(verdict);
    }
    changes.push(change);
}

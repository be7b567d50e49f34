//! What changed in the server itself.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, capability, located, meta};
use crate::canonical::{Json, Object, pointer};
use crate::judgement::{Level, Proof};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::surface::{Component, ComponentKey, Kind, Surface};
use crate::wording::counted;

pub(super) fn compare(old: &Surface, new: &Surface, work: &Work, changes: &mut Vec<Change>) {
    info(&old.server_info, &new.server_info, changes);
    if old.protocol_version != new.protocol_version {
        let (was, is) = (&old.protocol_version, &new.protocol_version);
        // The capture tried the legacy era first, and the server rejected it.
        let lost = new.notes.iter().any(|it| it.rule == RuleId::EraFallback);
        let mut message = format!("protocol revision: {was} → {is}");
        if lost {
            let era = old.era().word();
            message += &format!("; clients of the {era} era can no longer connect");
        }
        let mut change = Change::new(RuleId::ProtocolVersionChanged, "/protocolVersion", message)
            .values(
                Some(&Json::string(was.as_str())),
                Some(&Json::string(is.as_str())),
            );
        if lost {
            change.level = Level::Breaking;
            change.proof = Some(Proof::Witness(capability::first_request(was)));
        }
        changes.push(change);
    }
    if old.client != new.client {
        changes.push(
            Change::new(
                RuleId::ClientChanged,
                "/client",
                "the two surfaces were captured as different clients".to_owned(),
            )
            .values(Some(&old.client.to_json()), Some(&new.client.to_json())),
        );
    }
    capability::compare_revisions(old, new, changes);
    capability::compare(old, new, work, changes);
    capability::compare_other_members(old, new, changes);
    capability::compare_caching(old, new, changes);
    if old.instructions != new.instructions {
        let json = |text: &Option<_>| text.clone().map(Json::String);
        let message = match (&old.instructions, &new.instructions) {
            (None, _) => "the server now gives instructions to the model",
            (_, None) => "the server no longer gives instructions to the model",
            _ => "the server's instructions to the model changed",
        }
        .to_owned();
        changes.push(
            Change::new(RuleId::InstructionsChanged, "/instructions", message).text(
                json(&old.instructions).as_ref(),
                json(&new.instructions).as_ref(),
            ),
        );
    }
    let respelled = [
        (&old.server_info, &new.server_info),
        (&old.capabilities, &new.capabilities),
    ]
    .iter()
    .any(|(one, other)| one != other && one.same_value(other));
    if respelled {
        let message =
            "`serverInfo` or `capabilities` is written differently and means the same".to_owned();
        changes.push(Change::new(RuleId::DefinitionRespelled, "", message));
    }
}

fn info(old: &Json, new: &Json, changes: &mut Vec<Change>) {
    for difference in located::differences(old, new) {
        let member = pointer::tokens(&difference.pointer)
            .next()
            .unwrap_or_default();
        let (rule, message) = match difference.pointer.as_str() {
            "/name" => (
                RuleId::ServerNameChanged,
                "the server's name changed".to_owned(),
            ),
            "/version" => (
                RuleId::ServerVersionChanged,
                "the server's version changed".to_owned(),
            ),
            _ => (
                RuleId::ServerInfoChanged,
                format!("`serverInfo.{member}` changed"),
            ),
        };
        let at = format!("/serverInfo{}", difference.pointer);
        let mut change =
            Change::new(rule, at, message).values(difference.old.as_ref(), difference.new.as_ref());
        if member == "icons" {
            let icons = (old.get("icons"), new.get("icons"));
            change.exposure = change.exposure.max(meta::icon_exposure(icons.0, icons.1));
        }
        changes.push(change);
    }
}

/// One change that replaces all removals if a server no longer lists anything, or no tools.
pub(super) fn emptied(
    old: &BTreeMap<&str, &Component>,
    new: &BTreeMap<&str, &Component>,
) -> Option<Change> {
    let tools =
        |of: &BTreeMap<&str, &Component>| of.values().filter(|c| c.kind == Kind::Tool).count();
    let all = new.is_empty() && !old.is_empty();
    let only_tools = tools(old) > 1 && tools(new) == 0 && old.len() == tools(old) + new.len();
    if !all && !only_tools {
        return None;
    }
    let gone: Vec<Json> = old
        .keys()
        .filter(|key| !new.contains_key(*key))
        .map(|key| Json::string(*key))
        .collect();
    let what = if all { "nothing" } else { "no tools" };
    let message = format!(
        "the server now lists {what} ({} before); often a credential is missing",
        gone.len()
    );
    Some(
        Change::new(RuleId::SurfaceEmptied, "/components", message)
            .values(Some(&Json::Array(gone)), None),
    )
}

/// The relative order of the tools that both list. Added and removed tools do not count.
pub(super) fn compare_order(old: &Surface, new: &Surface, changes: &mut Vec<Change>) {
    let keys = |surface: &Surface| -> Vec<ComponentKey> {
        surface
            .of_kind(Kind::Tool)
            .map(|tool| tool.key.clone())
            .collect()
    };
    let (old_keys, new_keys) = (keys(old), keys(new));
    let old_set: BTreeSet<&ComponentKey> = old_keys.iter().collect();
    let new_set: BTreeSet<&ComponentKey> = new_keys.iter().collect();
    let was: Vec<&ComponentKey> = old_keys
        .iter()
        .filter(|key| new_set.contains(key))
        .collect();
    let is: Vec<&ComponentKey> = new_keys
        .iter()
        .filter(|key| old_set.contains(key))
        .collect();
    if was != is {
        let list = |keys: Vec<&ComponentKey>| {
            Json::Array(
                keys.into_iter()
                    .map(|key| Json::string(key.as_str()))
                    .collect(),
            )
        };
        let message = "the tools are listed in another order".to_owned();
        changes.push(
            Change::new(RuleId::ToolOrderChanged, "/toolOrder", message)
                .values(Some(&list(was)), Some(&list(is))),
        );
    }
}

/// The change for a server that is not in the baseline.
pub fn not_pinned(new: &Surface) -> Change {
    let listed = counted(new.components.len(), "component");
    let message = format!("the baseline has no entry for this server ({listed})");
    Change::new(RuleId::ServerNotPinned, "", message).values(None, Some(&fingerprints(new)))
}

/// The change for a server that only the old source has.
pub fn removed(old: &Surface) -> Change {
    let listed = counted(old.components.len(), "component");
    let message = format!("the server was removed, with {listed}");
    Change::new(RuleId::ServerRemoved, "", message).values(Some(&fingerprints(old)), None)
}

fn fingerprints(surface: &Surface) -> Json {
    surface
        .components
        .iter()
        .map(|component| {
            let fingerprint = crate::fingerprint::keel::fingerprint(component).tagged();
            (component.key.as_str().into(), Json::string(fingerprint))
        })
        .collect::<Object>()
        .into()
}

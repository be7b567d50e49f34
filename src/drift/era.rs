//! Differences between two surfaces that only exist because they were captured in different eras of
//! the protocol.
//!
//! A server that moves to another revision declares the same in different terms. That is one
//! change, `protocol-version-changed`; everything that the new era lacks or expresses differently
//! would otherwise be reported as drift that no one caused. What a server really offers in one era
//! only is still a change.

use super::Change;
use super::capability::{APPS, TASKS};
use crate::canonical::{Json, pointer};
use crate::rules::RuleId;
use crate::surface::{Era, Surface};

/// How a client learns of changes: by unsolicited notifications, or by a subscription. A server may
/// offer one but not the other.
const MANNERS: [&str; 4] = [
    "/capabilities/tools/listChanged",
    "/capabilities/prompts/listChanged",
    "/capabilities/resources/listChanged",
    "/capabilities/resources/subscribe",
];

/// The same value, written by the serialiser of another era.
const SPELLINGS: [RuleId; 3] = [
    RuleId::DefinitionRespelled,
    RuleId::InputSchemaSpellingChanged,
    RuleId::OutputSchemaSpellingChanged,
];

/// Whether a change is due to the eras and not to the server. The two surfaces are known to be of
/// different eras.
pub(super) fn explains(change: &Change, old: &Surface, new: &Surface) -> bool {
    let (legacy, modern) = match old.era() {
        Era::Legacy => (old, new),
        Era::Modern => (new, old),
    };
    let either = change.old.as_ref().xor(change.new.as_ref());
    match change.pointer.as_str() {
        _ if SPELLINGS.contains(&change.rule) => true,
        // The default of a member that the modern era does not have.
        _ if change.rule == RuleId::TaskSupportStated => true,
        pointer if change.component.is_none() && MANNERS.contains(&pointer) => true,
        // If a side does not identify the server, its name did not change.
        pointer if change.component.is_none() && pointer.starts_with("/serverInfo") => {
            let is_empty =
                |of: &Surface| of.server_info.as_object().is_some_and(|it| it.is_empty());
            is_empty(old) || is_empty(new)
        }
        "/capabilities/experimental" | "/capabilities/extensions" => {
            either == Some(&Json::object([]))
        }
        // What the legacy era had without declaring an extension.
        pointer if pointer.starts_with("/capabilities/extensions/") => {
            let name = pointer::tokens(pointer).nth(2).unwrap_or_default();
            legacy.capabilities.get("extensions").is_none()
                && match name.as_str() {
                    TASKS => legacy.capabilities.get("tasks").is_some(),
                    // Servers of some SDKs declare it whether or not a tool has a user interface.
                    APPS => true,
                    _ => false,
                }
        }
        // A part of the protocol that became an extension.
        "/capabilities/tasks" => {
            let extensions = modern.capabilities.get("extensions");
            extensions.is_some_and(|it| it.get(TASKS).is_some())
        }
        _ => false,
    }
}

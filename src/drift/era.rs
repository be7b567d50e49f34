//! What differs between two surfaces only because they were captured in different eras of the protocol.
//!
//! A server that moves on says the same in the words of another revision. That is one change,
//! `protocol-version-changed`; whatever the new era has no word for, or another way of, would be told as drift that
//! nobody made. What a server really offers to one era only stays a change.

use super::Change;
use crate::canonical::Json;
use crate::rules::RuleId;
use crate::surface::{Era, Surface};

/// How a client learns of changes: by notifications that just come, or by a subscription. A server that offers the one
/// may well not offer the other.
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

/// Whether a change is of the eras and not of the server. Both surfaces are known to be of different ones.
pub(super) fn explains(change: &Change, old: &Surface, new: &Surface) -> bool {
    let (legacy, modern) = match old.era() {
        Era::Legacy => (old, new),
        Era::Modern => (new, old),
    };
    let either = change.old.as_ref().xor(change.new.as_ref());
    match change.pointer.as_str() {
        _ if SPELLINGS.contains(&change.rule) => true,
        pointer if change.component.is_none() && MANNERS.contains(&pointer) => true,
        // Where nothing is said about who answers, nobody has another name.
        pointer if change.component.is_none() && pointer.starts_with("/serverInfo") => {
            let is_empty =
                |of: &Surface| of.server_info.as_object().is_some_and(|it| it.is_empty());
            is_empty(old) || is_empty(new)
        }
        "/capabilities/experimental" => either == Some(&Json::object([])),
        // Only the new era has a place for them.
        "/capabilities/extensions" => legacy.capabilities.get("extensions").is_none(),
        // A part of the protocol that became an extension.
        "/capabilities/tasks" => {
            let extensions = modern.capabilities.get("extensions");
            extensions.is_some_and(|it| it.get("io.modelcontextprotocol/tasks").is_some())
        }
        // The default of a member that the new era does not have.
        "/execution" if change.component.is_some() => {
            either == Some(&Json::object([("taskSupport", Json::string("forbidden"))]))
        }
        _ => false,
    }
}

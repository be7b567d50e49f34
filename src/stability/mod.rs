//! Whether captures of a server agree, and which of its texts vary.
//!
//! A contract can only be compared with its baseline if it is stable. This room compares captures
//! of one server that should be equal (two listings on one connection, two boots, two clients) and
//! reports what varies ([`compare`], [`Instability`]); it removes what varies from a surface
//! ([`leave_out`]), removes masked texts ([`mask`]), guesses which texts would vary on another
//! machine ([`environment`]), and compares the profiles of one server ([`profiles`]).
//!
//! Pure: the caller decides how often to capture; folder, host and date are arguments.

mod describe;
pub mod environment;
pub mod mask;
pub mod profiles;

use std::collections::BTreeMap;

use crate::canonical::{Json, pointer};
use crate::drift::located;
use crate::rules::RuleId;
use crate::surface::{Component, ComponentKey, Kind, Note, Surface};

/// How two captures that should be equal were taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// Two listings on one connection, one right after the other.
    Calls,
    /// Two listings on one connection, with this many seconds between them.
    Seconds(u64),
    Boots,
    /// Two connections to one process.
    Connections,
    /// Two client names. Booting both of them again gave the same difference.
    Clients {
        /// The first client.
        one: String,
        /// The second client.
        other: String,
    },
}

/// One place at which two captures differ in content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// The component's key; `None` for the server itself.
    pub component: Option<ComponentKey>,
    /// Where in the definition, or in the server's entry.
    pub pointer: String,
    pub one: Option<Json>,
    pub other: Option<Json>,
}

/// How two captures of one server differ, if at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// Content, by place.
    pub places: Vec<Varying>,
    /// The same content in another order: tools in their list, or members in an object.
    pub reordered: bool,
}

impl Variation {
    pub fn is_none(&self) -> bool {
        self.places.is_empty() && !self.reordered
    }
}

/// A capture that cannot be relied on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instability {
    pub between: Between,
    pub variation: Variation,
}

impl Instability {
    pub fn rule(&self) -> RuleId {
        match &self.between {
            _ if self.variation.places.is_empty() => RuleId::CaptureOrderUnstable,
            Between::Clients { .. } => RuleId::CaptureDiffersByClient,
            Between::Connections => RuleId::CaptureDiffersByConnection,
            Between::Calls | Between::Seconds(_) | Between::Boots => RuleId::CaptureUnstable,
        }
    }
}

/// How two captures of one server differ. Volatile members and the client identity do not count.
pub fn compare(one: &Surface, other: &Surface) -> Variation {
    let mut variation = Variation::default();
    let mut descend = |component: Option<&ComponentKey>, old: Json, new: Json| {
        if old == new {
            return;
        }
        let found = located::differences(&old, &new);
        variation.reordered |= found.is_empty();
        for difference in found {
            variation.places.push(Varying {
                component: component.cloned(),
                pointer: difference.pointer,
                one: difference.old,
                other: difference.new,
            });
        }
    };
    descend(None, entry(one), entry(other));
    let (first, second) = (by_key(one), by_key(other));
    for (key, component) in &first {
        if let Some(again) = second.get(key) {
            descend(
                Some(key),
                component.contract().into_owned(),
                again.contract().into_owned(),
            );
        }
    }
    let mut only_in = |of: &BTreeMap<&ComponentKey, &Component>,
                       other: &BTreeMap<&ComponentKey, &Component>,
                       there: bool| {
        for (key, component) in of.iter().filter(|(key, _)| !other.contains_key(*key)) {
            let contract = Some(component.contract().into_owned());
            let (one, other) = if there {
                (contract, None)
            } else {
                (None, contract)
            };
            variation.places.push(Varying {
                component: Some((*key).clone()),
                pointer: String::new(),
                one,
                other,
            });
        }
    };
    only_in(&first, &second, true);
    only_in(&second, &first, false);
    let order = |of: &Surface, other: &BTreeMap<&ComponentKey, &Component>| -> Vec<ComponentKey> {
        of.of_kind(Kind::Tool)
            .filter(|tool| other.contains_key(&tool.key))
            .map(|tool| tool.key.clone())
            .collect()
    };
    variation.reordered |= order(one, &second) != order(other, &first);
    variation
}

fn by_key(surface: &Surface) -> BTreeMap<&ComponentKey, &Component> {
    let components = surface.components.iter();
    components.map(|it| (&it.key, it)).collect()
}

/// What a server declares about itself, by the pointers that changes use.
fn entry(surface: &Surface) -> Json {
    let mut members = vec![
        (
            "protocolVersion",
            Json::string(surface.protocol_version.as_str()),
        ),
        ("serverInfo", surface.server_info.clone()),
        ("capabilities", surface.capabilities.clone()),
    ];
    if let Some(text) = &surface.instructions {
        members.push(("instructions", Json::String(text.clone())));
    }
    if let Some(versions) = &surface.supported_versions {
        let versions = versions.iter().map(|it| Json::string(it.as_str()));
        members.push(("supportedVersions", Json::Array(versions.collect())));
    }
    if let Some(others) = &surface.other_members {
        members.push(("otherMembers", others.clone()));
    }
    Json::object(members)
}

/// Removes what varies from a surface: a component as a whole; of the server's own members only
/// that one, which then equals `reference`. A varying order counts as none.
pub fn leave_out(surface: &mut Surface, variation: &Variation, reference: Option<&Surface>) {
    surface.components.retain(|component| {
        let key = Some(component.key.as_str());
        !variation
            .places
            .iter()
            .any(|it| it.component.as_deref() == key)
    });
    surface.scope.order &= !variation.reordered;
    surface.scope.spelling &= !variation.reordered;
    let Some(reference) = reference else { return };
    for place in variation.places.iter().filter(|it| it.component.is_none()) {
        match pointer::tokens(&place.pointer).next().as_deref() {
            Some("protocolVersion") => {
                surface
                    .protocol_version
                    .clone_from(&reference.protocol_version);
            }
            Some("serverInfo") => surface.server_info.clone_from(&reference.server_info),
            Some("capabilities") => surface.capabilities.clone_from(&reference.capabilities),
            Some("instructions") => surface.instructions.clone_from(&reference.instructions),
            Some("supportedVersions") => {
                surface
                    .supported_versions
                    .clone_from(&reference.supported_versions);
            }
            Some("otherMembers") => surface.other_members.clone_from(&reference.other_members),
            _ => {}
        }
    }
}

impl Instability {
    /// What varies, one note per place, and what is done about it.
    pub fn notes(&self, left_out: bool) -> Vec<Note> {
        describe::notes(self, left_out)
    }

    /// What is wrong with the capture, in one sentence.
    pub fn sentence(&self) -> String {
        describe::sentence(self)
    }

    /// Masks for the server of this name, to be pasted into the configuration; empty if none would help.
    pub fn paste(&self, server: &str) -> String {
        describe::paste(self, server)
    }

    /// How to go on with the server of this name.
    pub fn help(&self, server: &str) -> String {
        describe::help(self, server)
    }
}

#[cfg(test)]
mod tests;

//! Whether a server says the same twice, and which of its texts it does not.
//!
//! A contract can be compared with its baseline only if it stands still. This room compares captures of one server that
//! should be equal (two answers on one connection, two boots, two clients) and says what varies ([`compare`],
//! [`Instability`]); it takes what varies out of a surface ([`leave_out`]), leaves single texts out where the
//! configuration says so ([`mask`]), guesses which texts would vary on another machine ([`environment`]), and compares the
//! profiles of one server ([`profiles`]).
//!
//! Pure: who is asked how often is decided by whoever captures; folder, host and date are arguments.

pub mod environment;
pub mod mask;
pub mod profiles;
mod told;

use std::collections::BTreeMap;

use crate::canonical::{Json, pointer};
use crate::drift::located;
use crate::rules::RuleId;
use crate::surface::{Component, ComponentKey, Kind, Note, Surface};

/// Where two captures were taken that should have been equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// Two listings on one connection, one right after the other.
    Calls,
    /// Two listings on one connection, with this many seconds between them.
    Seconds(u64),
    /// Two boots.
    Boots,
    /// Two connections to one process.
    Connections,
    /// Two client names. Booting both of them again gave the same difference.
    Clients {
        /// Who asked first.
        one: String,
        /// Who asked then.
        other: String,
    },
}

/// One place at which two captures differ in content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// The component's key; none for the server itself.
    pub component: Option<ComponentKey>,
    /// Where in the definition, or in the server's entry.
    pub pointer: String,
    /// What stood there first.
    pub one: Option<Json>,
    /// What stood there then.
    pub other: Option<Json>,
}

/// How two captures of one server differ. Not at all, where both members say so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// Content, by place.
    pub places: Vec<Varying>,
    /// The same content stands in another order: tools in their list, or members in an object.
    pub reordered: bool,
}

impl Variation {
    /// Whether the two are equal.
    pub fn is_none(&self) -> bool {
        self.places.is_empty() && !self.reordered
    }
}

/// A capture that cannot be relied on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instability {
    /// Where the two captures were taken.
    pub between: Between,
    /// How they differ.
    pub variation: Variation,
}

impl Instability {
    /// The rule that explains it.
    pub fn rule(&self) -> RuleId {
        match &self.between {
            _ if self.variation.places.is_empty() => RuleId::CaptureOrderUnstable,
            Between::Clients { .. } => RuleId::CaptureDiffersByClient,
            Between::Connections => RuleId::CaptureDiffersByConnection,
            Between::Calls | Between::Seconds(_) | Between::Boots => RuleId::CaptureUnstable,
        }
    }
}

/// How two captures of one server differ. Volatile members and the client that asked do not count.
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
            descend(Some(key), component.contract(), again.contract());
        }
    }
    let mut only_in = |of: &BTreeMap<&ComponentKey, &Component>,
                       other: &BTreeMap<&ComponentKey, &Component>,
                       there: bool| {
        for (key, component) in of.iter().filter(|(key, _)| !other.contains_key(*key)) {
            let contract = Some(component.contract());
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

/// What a server says of itself, by the pointers that changes use.
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
    Json::object(members)
}

/// Takes what varies out of a surface: a component as a whole; of the server's own members the one concerned, which is
/// as in `reference` from then on. An order that varies is none.
pub fn leave_out(surface: &mut Surface, variation: &Variation, reference: Option<&Surface>) {
    surface.components.retain(|component| {
        let key = Some(component.key.as_str());
        !variation
            .places
            .iter()
            .any(|it| it.component.as_deref() == key)
    });
    surface.scope.order &= !variation.reordered;
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
            _ => {}
        }
    }
}

impl Instability {
    /// What varies, a note a place, and what is done about it.
    pub fn notes(&self, left_out: bool) -> Vec<Note> {
        told::notes(self, left_out)
    }

    /// What is wrong with the capture, in one sentence.
    pub fn sentence(&self) -> String {
        told::sentence(self)
    }

    /// How to go on with the server of this name.
    pub fn help(&self, server: &str) -> String {
        told::help(self, server)
    }
}

#[cfg(test)]
mod tests;

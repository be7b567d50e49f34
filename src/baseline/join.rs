//! Joins both sides of a merge, component by component.

use std::collections::{BTreeMap, BTreeSet};

use super::Manifest;
use crate::canonical::{Json, Object};
use crate::surface::{ComponentKey, Surface};

/// The versions of a baseline in a merge that git could not finish.
#[derive(Debug)]
pub struct Sides {
    /// What both sides began with; `None` if each of them created the file.
    pub base: Option<Manifest>,
    pub ours: Manifest,
    pub theirs: Manifest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

/// What git's words for it are.
impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        })
    }
}

/// A part of a server's entry that is taken as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole entry: one side removed what the other changed.
    Entry,
    /// The server itself, with the client that saw it.
    Server,
    /// The version of its package.
    Version,
    Component(ComponentKey),
}

impl Part {
    /// Whether a capture that saw this much says what it is now.
    pub fn is_in(&self, seen: &Surface) -> bool {
        match self {
            _ if !seen.recorded.is_whole() => false,
            Self::Entry | Self::Version => true,
            Self::Server => seen.scope.server,
            Self::Component(key) => seen.scope.kinds.contains(key.kind()),
        }
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Entry => f.write_str("its whole entry"),
            Self::Server => f.write_str("server"),
            Self::Version => f.write_str("version"),
            Self::Component(key) => f.write_str(key.called()),
        }
    }
}

/// Both sides in one.
#[derive(Debug, Default)]
pub struct Joined {
    /// The entries by server. What is open is as it is in ours, or in theirs if ours has it no more.
    pub entries: BTreeMap<String, Json>,
    /// What one side changed, by server.
    pub taken: Vec<(String, Part, Side)>,
    /// What both sides changed differently, by server.
    pub open: Vec<(String, Part)>,
}

impl Sides {
    pub fn joined(&self) -> Joined {
        let mut joined = Joined::default();
        let entry =
            |of: Option<&Manifest>, name: &str| of.and_then(|manifest| manifest.entry(name).cloned());
        let names: BTreeSet<&String> = [self.base.as_ref(), Some(&self.ours), Some(&self.theirs)]
            .into_iter()
            .flatten()
            .flat_map(|manifest| manifest.servers().keys())
            .collect();
        for name in names {
            let base = entry(self.base.as_ref(), name);
            let (ours, theirs) = (entry(Some(&self.ours), name), entry(Some(&self.theirs), name));
            let value = match (&ours, &theirs) {
                (Some(ours), Some(theirs)) => {
                    Some(joined.entry(name, base.as_ref(), ours, theirs))
                }
                _ => joined.part(name, Part::Entry, base, ours, theirs),
            };
            if let Some(value) = value {
                joined.entries.insert(name.clone(), value);
            }
        }
        joined
    }
}

impl Joined {
    /// The side of a part that changed it.
    fn part(
        &mut self,
        server: &str,
        part: Part,
        base: Option<Json>,
        ours: Option<Json>,
        theirs: Option<Json>,
    ) -> Option<Json> {
        let server = server.to_owned();
        if ours == theirs {
            ours
        } else if theirs == base {
            self.taken.push((server, part, Side::Ours));
            ours
        } else if ours == base {
            self.taken.push((server, part, Side::Theirs));
            theirs
        } else {
            self.open.push((server, part));
            ours.or(theirs)
        }
    }

    fn entry(&mut self, server: &str, base: Option<&Json>, ours: &Json, theirs: &Json) -> Json {
        let all = [base, Some(ours), Some(theirs)];
        // What the server's own fingerprint covers is one part.
        let [of_base, of_ours, of_theirs] = all.map(|entry| {
            let members = OWN.map(|member| Some((member, entry?.get(member)?.clone())));
            entry.map(|_| Json::object(members.into_iter().flatten()))
        });
        let own = self.part(server, Part::Server, of_base, of_ours, of_theirs);
        let [of_base, of_ours, of_theirs] = all.map(|entry| entry?.get("version").cloned());
        let version = self.part(server, Part::Version, of_base, of_ours, of_theirs);
        let mut components = Object::new();
        for key in keys(&all) {
            let [of_base, of_ours, of_theirs] =
                all.map(|entry| entry?.get("components")?.get(&key).cloned());
            let part = Part::Component(key.clone());
            if let Some(component) = self.part(server, part, of_base, of_ours, of_theirs) {
                components.push(key.as_str(), component);
            }
        }
        let mut entry = own
            .and_then(|own| own.as_object().cloned())
            .unwrap_or_default();
        if let Some(version) = version {
            entry.push("version", version);
        }
        entry.push("components", Json::Object(components));
        Json::Object(entry)
    }
}

/// The members of an entry that are about the server itself, in their order.
const OWN: [&str; 4] = ["scheme", "client", "server", "observed"];

/// The keys of all components.
fn keys(entries: &[Option<&Json>]) -> BTreeSet<ComponentKey> {
    let components = entries.iter().flatten();
    let components = components.filter_map(|entry| entry.get("components")?.as_object());
    components
        .flat_map(Object::iter)
        .filter_map(|(key, _)| key.as_str()?.parse().ok())
        .collect()
}

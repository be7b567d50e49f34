//! Merges two entries of a server that have a common ancestor.

use std::collections::BTreeSet;

use super::{Pinned, server_entry, with_launch};
use crate::canonical::{Json, Object, Text};
use crate::surface::{Component, Surface};

/// The merged entry, or what both sides changed differently.
pub fn merge_entries(
    ancestor: Option<&Pinned>,
    ours: &Pinned,
    theirs: &Pinned,
) -> Result<Json, Vec<String>> {
    let mut merge = Merge {
        conflicts: Vec::new(),
    };
    let base = ancestor.map(|it| &it.surface);
    let (one, other) = (&ours.surface, &theirs.surface);
    let surface = Surface {
        protocol_version: merge.value(
            "protocolVersion",
            base.map(|it| &it.protocol_version),
            &one.protocol_version,
            &other.protocol_version,
        ),
        server_info: merge.json(
            "serverInfo",
            base.map(|it| &it.server_info),
            &one.server_info,
            &other.server_info,
        ),
        capabilities: merge.json(
            "capabilities",
            base.map(|it| &it.capabilities),
            &one.capabilities,
            &other.capabilities,
        ),
        instructions: merge.value(
            "instructions",
            base.map(|it| &it.instructions),
            &one.instructions,
            &other.instructions,
        ),
        supported_versions: merge.value(
            "supportedVersions",
            base.map(|it| &it.supported_versions),
            &one.supported_versions,
            &other.supported_versions,
        ),
        other_members: merge.value(
            "otherMembers",
            base.map(|it| &it.other_members),
            &one.other_members,
            &other.other_members,
        ),
        caching: merge.value(
            "caching",
            base.map(|it| &it.caching),
            &one.caching,
            &other.caching,
        ),
        client: merge.value(
            "client",
            base.map(|it| &it.client),
            &one.client,
            &other.client,
        ),
        recorded: one.recorded.clone(),
        scope: merge.value("lists", base.map(|it| &it.scope), &one.scope, &other.scope),
        over_http: one.over_http,
        notes: Vec::new(),
        components: merge.components(base, one, other),
    };
    let release = merge.value(
        "version",
        ancestor.map(|it| &it.release),
        &ours.release,
        &theirs.release,
    );
    if merge.conflicts.is_empty() {
        // How the merged server is launched is known when it is pinned; until then, as ours.
        Ok(with_launch(server_entry(&surface, &release), &ours.launch))
    } else {
        Err(merge.conflicts)
    }
}

struct Merge {
    conflicts: Vec<String>,
}

impl Merge {
    /// A value that only one side changed, or both alike.
    fn value<T: Clone + PartialEq>(
        &mut self,
        name: &str,
        base: Option<&T>,
        ours: &T,
        theirs: &T,
    ) -> T {
        if ours == theirs || base == Some(theirs) {
            ours.clone()
        } else if base == Some(ours) {
            theirs.clone()
        } else {
            self.conflicts.push(name.to_owned());
            ours.clone()
        }
    }

    fn json(&mut self, name: &str, base: Option<&Json>, ours: &Json, theirs: &Json) -> Json {
        match self.member(name, base, Some(ours), Some(theirs)) {
            Some(merged) => merged,
            None => ours.clone(),
        }
    }

    /// A member of an object, member by member if both sides changed it.
    fn member(
        &mut self,
        name: &str,
        base: Option<&Json>,
        ours: Option<&Json>,
        theirs: Option<&Json>,
    ) -> Option<Json> {
        if ours == theirs || theirs == base {
            return ours.cloned();
        }
        if ours == base {
            return theirs.cloned();
        }
        let (Some(Json::Object(one)), Some(Json::Object(other))) = (ours, theirs) else {
            self.conflicts.push(name.to_owned());
            return ours.cloned();
        };
        let mut merged = Object::new();
        let names = one.iter().chain(other.iter()).map(|(name, _)| name);
        let mut seen: BTreeSet<&Text> = BTreeSet::new();
        for member in names {
            if !seen.insert(member) {
                continue;
            }
            let text = member.to_string_lossy();
            let get = |of: Option<&Json>| of.and_then(|it| it.get(text)).cloned();
            let place = format!("{name}/{text}");
            let (base, one, other) = (get(base), get(ours), get(theirs));
            let value = self.member(&place, base.as_ref(), one.as_ref(), other.as_ref());
            if let Some(value) = value {
                merged.push(member.clone(), value);
            }
        }
        Some(Json::Object(merged))
    }

    /// Components by key, in our order; those that are new on their side follow the one before them there.
    fn components(
        &mut self,
        base: Option<&Surface>,
        ours: &Surface,
        theirs: &Surface,
    ) -> Vec<Component> {
        fn find<'a>(of: &'a Surface, key: &str) -> Option<&'a Component> {
            of.components.iter().find(|it| it.key.as_str() == key)
        }
        let mut merged: Vec<Component> = Vec::new();
        let mut take = |component: &Component, after: Option<&str>, merged: &mut Vec<Component>| {
            let key = component.key.as_str();
            let definition = |of: Option<&Surface>| {
                of.and_then(|it| find(it, key))
                    .map(|it| it.definition.clone())
            };
            let (old, one, other) = (
                definition(base),
                definition(Some(ours)),
                definition(Some(theirs)),
            );
            let value = self.member(key, old.as_ref(), one.as_ref(), other.as_ref());
            if let Some(definition) = value {
                let at =
                    after.and_then(|after| merged.iter().position(|it| it.key.as_str() == after));
                let at = at.map_or(merged.len(), |at| at + 1);
                merged.insert(
                    at,
                    Component {
                        definition,
                        ..component.clone()
                    },
                );
            }
        };
        for component in &ours.components {
            take(component, None, &mut merged);
            // Appended, so that our order stays.
        }
        let mut before: Option<&str> = None;
        for component in &theirs.components {
            let key = component.key.as_str();
            if find(ours, key).is_none() {
                take(component, before, &mut merged);
            }
            before = Some(key);
        }
        merged
    }
}

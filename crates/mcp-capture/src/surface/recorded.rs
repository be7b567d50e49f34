//! What a source records of a surface, where that is not everything.
//!
//! Other tools' files and lists from a test leave out some members: a hint, the instructions, the revision of the protocol.
//! What was left out is not known, so it is neither compared nor called removed: before a comparison, each side takes over
//! from the other what its own source does not record.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Component, Kind, KindSet, Scope, Surface};
use exact_json::{Json, Object};

/// A part of a surface that a source may record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Identity, revision, capabilities, instructions, and the client that asked.
    Server,
    List(Kind),
}

impl Part {
    /// Its name in `observed`: that of the list's member.
    fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::List(kind) => kind.list_member(),
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let lists = Kind::ALL.iter().copied().map(Self::List);
        std::iter::once(Self::Server).chain(lists)
    }
}

/// For parts of which a source records only some members: these members. A member of a member is written with a slash:
/// `annotations/readOnlyHint`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded(BTreeMap<Part, BTreeSet<String>>);

impl Recorded {
    /// Whether every part is recorded whole, or not at all.
    pub fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    pub fn only(&mut self, part: Part, members: &[&str]) {
        let members = members.iter().map(|member| (*member).to_owned());
        self.0.insert(part, members.collect());
    }

    /// `observed` of a baseline or a capture: `tools` is a whole list, `tools/description` one member of its entries. Returns
    /// the first name that is none.
    pub fn read(observed: &[&str]) -> Result<(Scope, Self), String> {
        let mut scope = Scope {
            server: false,
            kinds: KindSet::NONE,
            order: true,
        };
        let mut whole = BTreeSet::new();
        let mut some: BTreeMap<Part, BTreeSet<String>> = BTreeMap::new();
        for name in observed {
            let (of, member) = match name.split_once('/') {
                Some((of, member)) => (of, Some(member)),
                None => (*name, None),
            };
            let Some(part) = Part::all().find(|part| part.name() == of) else {
                return Err((*name).to_owned());
            };
            match part {
                Part::Server => scope.server = true,
                Part::List(kind) => scope.kinds = scope.kinds.with(kind),
            }
            match member {
                Some(member) => {
                    some.entry(part).or_default().insert(member.to_owned());
                }
                None => {
                    whole.insert(part);
                }
            }
        }
        some.retain(|part, _| !whole.contains(part));
        Ok((scope, Self(some)))
    }

    /// What [`Recorded::read`] reads.
    pub fn observed(&self, scope: Scope) -> Vec<String> {
        let mut names = Vec::new();
        for part in Part::all() {
            let is_seen = match part {
                Part::Server => scope.server,
                Part::List(kind) => scope.kinds.contains(kind),
            };
            match self.0.get(&part) {
                _ if !is_seen => {}
                None => names.push(part.name().to_owned()),
                Some(members) => {
                    let of = part.name();
                    names.extend(members.iter().map(|member| format!("{of}/{member}")));
                }
            }
        }
        names
    }
}

impl<N: Clone> Surface<N> {
    /// This surface with what its source does not record of parts that it does record, from another one.
    pub fn completed_from(&self, other: &Self) -> Cow<'_, Self> {
        if self.recorded.is_whole() {
            return Cow::Borrowed(self);
        }
        let mut completed = self.clone();
        completed.complete(other);
        // Members that were taken over stand at the end.
        completed.scope.order = false;
        Cow::Owned(completed)
    }

    /// Takes over from an earlier surface all that this one's source could not see: what is pinned is then what was seen, and
    /// what was approved before of the rest.
    pub fn keep_unseen_of(&mut self, earlier: &Self) {
        self.complete(earlier);
        if !self.scope.server && earlier.scope.server {
            self.take_server_of(earlier, |_| true);
            self.scope.server = true;
            self.take_record(Part::Server, earlier);
        } else if earlier.scope.server {
            self.join_record(Part::Server, earlier);
        }
        for kind in Kind::ALL.iter().copied() {
            if !earlier.scope.kinds.contains(kind) {
                continue;
            }
            let part = Part::List(kind);
            if !self.scope.kinds.contains(kind) {
                self.components.extend(earlier.of_kind(kind).cloned());
                self.scope.kinds = self.scope.kinds.with(kind);
                self.take_record(part, earlier);
            } else if self
                .of_kind(kind)
                .all(|component| earlier.component(&component.key).is_some())
            {
                self.join_record(part, earlier);
            }
        }
        self.components
            .sort_by_key(|component| Kind::ALL.iter().position(|kind| *kind == component.kind));
    }

    /// What the source does not record, in words.
    pub fn not_recorded(&self) -> Vec<String> {
        const OF_SERVER: [(&str, &str); 4] = [
            ("serverInfo", "name and version"),
            ("protocolVersion", "the revision of the protocol"),
            ("capabilities", "capabilities"),
            ("instructions", "instructions"),
        ];
        let mut parts = Vec::new();
        match self.recorded.0.get(&Part::Server) {
            _ if !self.scope.server => {
                parts.push("the server's name, version, capabilities and instructions".to_owned());
            }
            None => {}
            Some(members) => {
                let is_missing =
                    |member: &str| !members.contains(member) && inside(members, member).is_empty();
                let missing = OF_SERVER.iter().filter(|(member, _)| is_missing(member));
                let missing: Vec<&str> = missing.map(|(_, words)| *words).collect();
                if !missing.is_empty() {
                    parts.push(format!("of the server: {}", missing.join(", ")));
                }
            }
        }
        for kind in Kind::ALL.iter().copied() {
            let nouns = format!("{}s", kind.noun());
            match self.recorded.0.get(&Part::List(kind)) {
                _ if !self.scope.kinds.contains(kind) && kind.is_core() => parts.push(nouns),
                _ if !self.scope.kinds.contains(kind) => {}
                Some(members) if self.of_kind(kind).next().is_some() => {
                    let members = members.iter().map(|member| format!("`{member}`"));
                    let members: Vec<String> = members.collect();
                    parts.push(format!("of {nouns}, all but {}", members.join(", ")));
                }
                _ => {}
            }
        }
        parts
    }

    /// What the earlier source records of a part.
    fn take_record(&mut self, part: Part, earlier: &Self) {
        match earlier.recorded.0.get(&part) {
            Some(members) => {
                self.recorded.0.insert(part, members.clone());
            }
            None => {
                self.recorded.0.remove(&part);
            }
        }
    }

    /// What either source records of a part.
    fn join_record(&mut self, part: Part, earlier: &Self) {
        match (
            self.recorded.0.get_mut(&part),
            earlier.recorded.0.get(&part),
        ) {
            (Some(members), Some(more)) => members.extend(more.iter().cloned()),
            (Some(_), None) => {
                self.recorded.0.remove(&part);
            }
            (None, _) => {}
        }
    }

    fn complete(&mut self, other: &Self) {
        let recorded = std::mem::take(&mut self.recorded);
        for (part, members) in &recorded.0 {
            match part {
                Part::Server if other.scope.server => {
                    let is_unseen = |member: &str| {
                        !members.contains(member) && inside(members, member).is_empty()
                    };
                    self.take_server_of(other, is_unseen);
                    let info = (&mut self.server_info, &other.server_info);
                    if let (Json::Object(own), Json::Object(theirs)) = info {
                        let inside = inside(members, "serverInfo");
                        if !inside.is_empty() {
                            complete(own, theirs, &inside);
                        }
                    }
                }
                Part::Server => {}
                Part::List(kind) => {
                    let own = self.components.iter_mut().filter(|own| own.kind == *kind);
                    for Component {
                        key, definition, ..
                    } in own
                    {
                        if let Some(counterpart) = other.component(key)
                            && let (Json::Object(own), Json::Object(theirs)) =
                                (definition, &counterpart.definition)
                        {
                            complete(own, theirs, members);
                        }
                    }
                }
            }
        }
        self.recorded = recorded;
    }

    /// Takes over the members of the server that are asked for.
    fn take_server_of(&mut self, other: &Self, is_taken: impl Fn(&str) -> bool) {
        if is_taken("serverInfo") {
            self.server_info.clone_from(&other.server_info);
        }
        if is_taken("protocolVersion") {
            self.protocol_version.clone_from(&other.protocol_version);
            self.supported_versions
                .clone_from(&other.supported_versions);
        }
        if is_taken("capabilities") {
            self.capabilities.clone_from(&other.capabilities);
        }
        if is_taken("instructions") {
            self.instructions.clone_from(&other.instructions);
        }
        if is_taken("caching") {
            self.caching.clone_from(&other.caching);
        }
        if is_taken("otherMembers") {
            self.other_members.clone_from(&other.other_members);
        }
        if is_taken("client") {
            self.client.clone_from(&other.client);
        }
    }
}

/// The recorded members inside a member.
fn inside(recorded: &BTreeSet<String>, member: &str) -> BTreeSet<String> {
    let paths = recorded.iter();
    paths
        .filter_map(|path| Some(path.strip_prefix(member)?.strip_prefix('/')?.to_owned()))
        .collect()
}

/// Takes over what is not recorded.
fn complete(own: &mut Object, other: &Object, recorded: &BTreeSet<String>) {
    for (name, value) in other.by_name() {
        let Some(member) = name.as_str().filter(|member| !recorded.contains(*member)) else {
            continue;
        };
        let inside = inside(recorded, member);
        match (own.get_mut(member), value) {
            (Some(Json::Object(own)), Json::Object(theirs)) if !inside.is_empty() => {
                complete(own, theirs, &inside);
            }
            (None, Json::Object(theirs)) if !inside.is_empty() => {
                let mut rest = Object::new();
                complete(&mut rest, theirs, &inside);
                if !rest.is_empty() {
                    own.push(name.clone(), Json::Object(rest));
                }
            }
            (Some(_), _) if !inside.is_empty() => {}
            (Some(place), _) => *place = value.clone(),
            (None, _) => own.push(name.clone(), value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{CaptureNote, ClientProfile, Lists};
    use exact_json::{parse_str, to_compact};

    fn surface(tool: &str) -> Surface<CaptureNote> {
        let lists = Lists {
            tools: vec![parse_str(tool).unwrap()],
            ..Lists::default()
        };
        let greeting = parse_str(
            r#"{"serverInfo":{"name":"a","version":"1"},"instructions":"Be brief.","capabilities":{}}"#,
        );
        Surface::new(
            &greeting.unwrap(),
            lists,
            ClientProfile::default(),
            Scope::FULL,
        )
    }

    #[test]
    fn what_is_observed_reads_as_it_is_written() {
        let names = [
            "server/instructions",
            "server/serverInfo",
            "tools",
            "resources/uri",
        ];
        let (scope, recorded) = Recorded::read(&names).unwrap();
        assert_eq!(recorded.observed(scope), names);
        assert!(scope.kinds.contains(Kind::Resource) && !scope.kinds.contains(Kind::Prompt));
        // The whole list is more than a member of it.
        let (scope, recorded) = Recorded::read(&["tools/name", "tools"]).unwrap();
        assert_eq!(recorded.observed(scope), ["tools"]);
        assert_eq!(Recorded::read(&["tool"]), Err("tool".to_owned()));
    }

    #[test]
    fn what_is_not_recorded_is_taken_over_and_nothing_else() {
        let mut partial =
            surface(r#"{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":true}}"#);
        partial.recorded.only(
            Part::List(Kind::Tool),
            &["name", "inputSchema", "annotations/readOnlyHint"],
        );
        partial
            .recorded
            .only(Part::Server, &["serverInfo/name", "capabilities"]);
        partial.instructions = None;
        let mut whole = surface(
            r#"{"name":"t","title":"T","inputSchema":{"type":"object"},"annotations":{"title":"T","readOnlyHint":false}}"#,
        );
        whole.server_info = parse_str(r#"{"name":"b","version":"2"}"#).unwrap();
        let completed = partial.completed_from(&whole);
        assert_eq!(
            to_compact(&completed.components[0].definition),
            r#"{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":true,"title":"T"},"title":"T"}"#
        );
        assert_eq!(
            to_compact(&completed.server_info),
            r#"{"name":"a","version":"2"}"#
        );
        assert_eq!(completed.instructions, whole.instructions);
        assert!(matches!(whole.completed_from(&partial), Cow::Borrowed(_)));
    }

    #[test]
    fn a_pinned_surface_keeps_what_was_not_seen() {
        let whole = surface(r#"{"name":"t","description":"Old.","inputSchema":{}}"#);
        let mut seen = surface(r#"{"name":"t","description":"New.","inputSchema":{}}"#);
        seen.scope = Scope::TOOLS;
        seen.server_info = Json::object([]);
        seen.instructions = None;
        seen.keep_unseen_of(&whole);
        assert_eq!(seen.server_info, whole.server_info);
        assert_eq!(seen.instructions, whole.instructions);
        let new = seen.components[0].definition.get("description");
        assert_eq!(new.and_then(Json::as_str), Some("New."));
        assert_eq!(seen.scope, whole.scope);
        assert!(seen.recorded.is_whole());
    }
}

//! The schemas of the documents: the targets of references, and which schemas mean the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sha2::{Digest as _, Sha256};

use crate::document::{Document, Draft, each_schema_at, percent_decoded};
use crate::keywords::{Holds, Topic, holds, topic};
use crate::reason::Reason;
use exact_json::{Json, Object, Text, pointer, to_canonical};

/// Identifies a schema that applies in place.
pub(crate) type Address = usize;

pub(crate) fn address(node: &Json) -> Address {
    std::ptr::from_ref(node) as Address
}

/// A part of a document with its own `$id`.
struct Resource<'a> {
    uri: Option<url::Url>,
    root: &'a Json,
    at: String,
}

/// One document and the targets of its references.
pub struct References<'a> {
    pub(crate) document: &'a Document,
    resources: Vec<Resource<'a>>,
    /// The resource of each schema; by default the root's.
    resource_of: HashMap<Address, usize>,
    anchors: HashMap<(usize, String), (&'a Json, String)>,
    /// How many anchors there are of each name that a later draft would know.
    later_anchors: HashMap<(usize, String), usize>,
    /// The schemas whose references lead back to themselves without leaving the value.
    circular: HashSet<Address>,
    /// How many dynamic anchors there are of each name.
    dynamic: HashMap<String, usize>,
    recursive_anchors: usize,
    pub(crate) has_unevaluated: bool,
    /// Whether equal text means equal meaning.
    uniform: bool,
    marks: std::cell::RefCell<HashMap<Address, [u8; 32]>>,
    closures: std::cell::RefCell<HashMap<String, BTreeSet<String>>>,
    resolved: HashMap<(usize, String), (&'a Json, String)>,
    /// The members of large `properties`, by name.
    properties: HashMap<Address, HashMap<&'a Text, &'a Json>>,
    /// The names of long `required`.
    required: HashMap<Address, HashSet<&'a Text>>,
    /// The number of schemas in the document.
    pub(crate) schemas: usize,
    /// Whether a reference leads to what was not visited, and so not read as a schema.
    pub(crate) leaves_schemas: bool,
}

const REFERRING: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Up to this many members or names are searched linearly.
const FEW: usize = 12;

/// Schemas with more references than this are not compared as text.
const MAX_REFERENCES: usize = 120;

/// A schema's own base URI, if it differs from the document's.
fn own_id(document: &Document, node: &Json) -> Option<String> {
    let object = node.as_object()?;
    let keyword = if document.draft == Draft::Four {
        "id"
    } else {
        "$id"
    };
    if document.draft <= Draft::Seven && object.contains("$ref") {
        return None;
    }
    let id = object.get(keyword)?.as_str()?;
    (!id.starts_with('#')).then(|| id.to_owned())
}

impl<'a> References<'a> {
    /// Looks up every reference of a document.
    pub fn new(document: &'a Document) -> Self {
        let base = url::Url::parse("keel:///").ok();
        let root_uri = own_id(document, &document.root).and_then(|id| {
            url::Url::parse(&id)
                .ok()
                .or_else(|| base.as_ref()?.join(&id).ok())
        });
        let mut references = Self {
            document,
            resources: vec![Resource {
                uri: root_uri.or(base),
                root: &document.root,
                at: String::new(),
            }],
            resource_of: HashMap::new(),
            anchors: HashMap::new(),
            later_anchors: HashMap::new(),
            circular: HashSet::new(),
            dynamic: HashMap::new(),
            recursive_anchors: 0,
            has_unevaluated: false,
            uniform: true,
            marks: std::cell::RefCell::default(),
            closures: std::cell::RefCell::default(),
            resolved: HashMap::new(),
            properties: HashMap::new(),
            required: HashMap::new(),
            schemas: 0,
            leaves_schemas: false,
        };
        let mut places: Vec<(String, &'a Json)> = Vec::new();
        each_schema_at(&document.root, &mut String::new(), &mut |node, at| {
            places.push((at.to_owned(), node));
        });
        references.schemas = places.len();
        let nodes: Vec<&'a Json> = places.iter().map(|(_, node)| *node).collect();
        let mut bases: BTreeMap<String, usize> = BTreeMap::new();
        let mut mentioned: BTreeSet<(usize, String)> = BTreeSet::new();
        for (at, node) in places {
            let around = || {
                let mut prefix = at.as_str();
                loop {
                    if let Some(found) = bases.get(prefix) {
                        return *found;
                    }
                    match prefix.rfind('/') {
                        Some(cut) => prefix = &prefix[..cut],
                        None => return 0,
                    }
                }
            };
            let mut resource = if bases.is_empty() { 0 } else { around() };
            if let Some(id) = own_id(document, node).filter(|_| !at.is_empty()) {
                let uri = references.resources[resource]
                    .uri
                    .as_ref()
                    .and_then(|base| base.join(&id).ok())
                    .or_else(|| url::Url::parse(&id).ok())
                    .map(|mut uri| {
                        uri.set_fragment(None);
                        uri
                    });
                references.resources.push(Resource {
                    uri,
                    root: node,
                    at: at.clone(),
                });
                resource = references.resources.len() - 1;
                bases.insert(at.clone(), resource);
                references.uniform = false;
            }
            if resource != 0 {
                references.resource_of.insert(address(node), resource);
            }
            let Some(object) = node.as_object() else {
                continue;
            };
            for keyword in REFERRING {
                if let Some(reference) = object.get(keyword).and_then(Json::as_str) {
                    mentioned.insert((resource, reference.to_owned()));
                }
            }
            references.note(object, node, &at, resource);
        }
        let refers = !mentioned.is_empty();
        for (resource, reference) in mentioned {
            if let Ok(found) = references.look_up(resource, &reference) {
                references.resolved.insert((resource, reference), found);
            }
        }
        if refers {
            references.circular = references.find_circular(&nodes);
        }
        if refers {
            let known: HashSet<Address> = nodes.iter().map(|node| address(node)).collect();
            let mut targets = references.resolved.values();
            references.leaves_schemas =
                targets.any(|(target, _)| !known.contains(&address(target)));
        }
        references
    }

    fn note(&mut self, object: &'a Object, node: &'a Json, at: &str, resource: usize) {
        let draft = self.document.draft;
        let anchors: &[&str] = match draft {
            Draft::Four => &["id"],
            Draft::Six | Draft::Seven => &["$id"],
            Draft::Y2019 => &["$anchor"],
            Draft::Y2020 => &["$anchor", "$dynamicAnchor"],
        };
        if draft <= Draft::Seven
            && let Some(name) = object.get("$anchor").and_then(Json::as_str)
        {
            let key = (resource, name.to_owned());
            *self.later_anchors.entry(key).or_default() += 1;
        }
        for keyword in anchors {
            let Some(name) = object.get(keyword).and_then(Json::as_str) else {
                continue;
            };
            let name = if keyword.ends_with("nchor") {
                name
            } else {
                match name.strip_prefix('#') {
                    Some(name) if !name.is_empty() => name,
                    _ => continue,
                }
            };
            let dynamic = *keyword == "$dynamicAnchor";
            if dynamic {
                *self.dynamic.entry(name.to_owned()).or_default() += 1;
            }
            self.anchors
                .entry((resource, name.to_owned()))
                .or_insert_with(|| (node, at.to_owned()));
        }
        if let Some(json @ Json::Object(properties)) = object.get("properties")
            && properties.len() > FEW
        {
            self.properties
                .insert(address(json), properties.iter().collect());
        }
        if let Some(json @ Json::Array(names)) = object.get("required")
            && names.len() > FEW
        {
            self.required.insert(
                address(json),
                names.iter().filter_map(Json::as_text).collect(),
            );
        }
        if object.get("$recursiveAnchor") == Some(&Json::Bool(true)) {
            self.recursive_anchors += 1;
        }
        let modern = self.document.draft >= Draft::Y2019;
        self.has_unevaluated |= modern
            && (object.contains("unevaluatedProperties") || object.contains("unevaluatedItems"));
        if object.contains("$dynamicRef") || object.contains("$recursiveRef") {
            self.uniform = false;
        }
    }

    /// The draft of the document.
    pub fn draft(&self) -> Draft {
        self.document.draft
    }

    /// The targets of a node's references with their pointers. Up to draft 7 there is one, and it
    /// overrides its siblings.
    pub(crate) fn targets(&self, node: &Json) -> Result<Vec<(&'a Json, String)>, Reason> {
        if self.is_circular(node) {
            return Err(Reason::Circular);
        }
        self.targets_as_written(node)
    }

    /// The same, even if they lead back to it: for a reader who stops by itself.
    pub fn targets_as_written(&self, node: &Json) -> Result<Vec<(&'a Json, String)>, Reason> {
        let Some(object) = node.as_object() else {
            return Ok(Vec::new());
        };
        let named = |keyword: &str| object.get(keyword).and_then(Json::as_str);
        let mut found = Vec::new();
        if let Some(reference) = named("$ref") {
            found.push(self.resolve(node, reference)?);
        }
        if self.draft() == Draft::Y2020
            && let Some(reference) = named("$dynamicRef")
        {
            let target = self.resolve(node, reference)?;
            let name = reference.rsplit('#').next().unwrap_or_default();
            let is_dynamic = target.0.get("$dynamicAnchor").and_then(Json::as_str) == Some(name);
            if is_dynamic && self.dynamic.get(name).copied().unwrap_or(0) > 1 {
                return Err(Reason::Keyword("$dynamicRef"));
            }
            found.push(target);
        }
        if self.draft() == Draft::Y2019
            && let Some(reference) = named("$recursiveRef")
        {
            let target = self.resolve(node, reference)?;
            let is_dynamic = target.0.get("$recursiveAnchor") == Some(&Json::Bool(true));
            if is_dynamic && self.recursive_anchors > 1 {
                return Err(Reason::Keyword("$recursiveRef"));
            }
            found.push(target);
        }
        Ok(found)
    }

    /// Whether its references lead back to it without leaving the value.
    pub(crate) fn is_circular(&self, node: &Json) -> bool {
        self.circular.contains(&address(node))
    }

    /// Whether a reference that leads nowhere names an anchor as a later draft would understand it: some validators do.
    pub(crate) fn is_of_later_draft(&self, node: &Json) -> bool {
        let reference = node.get("$ref").and_then(Json::as_str);
        let name = reference.and_then(|text| text.strip_prefix('#'));
        let own = self.resource_of.get(&address(node)).copied().unwrap_or(0);
        name.is_some_and(|name| self.later_anchors.get(&(own, name.to_owned())) == Some(&1))
    }

    /// The schemas that a schema applies to the same value.
    fn in_place(&self, node: &'a Json) -> Vec<&'a Json> {
        let Some(object) = node.as_object() else {
            return Vec::new();
        };
        let mut found: Vec<&'a Json> = Vec::new();
        for keyword in REFERRING {
            if let Some(reference) = object.get(keyword).and_then(Json::as_str)
                && let Ok((target, _)) = self.resolve(node, reference)
            {
                found.push(target);
            }
        }
        if self.draft() <= Draft::Seven && object.contains("$ref") {
            return found;
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            found.extend(object.get(keyword).and_then(Json::as_array).unwrap_or(&[]));
        }
        for keyword in ["not", "if", "then", "else"] {
            found.extend(object.get(keyword));
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            let map = object.get(keyword).and_then(Json::as_object);
            found.extend(
                map.into_iter()
                    .flat_map(Object::iter)
                    .map(|(_, schema)| schema),
            );
        }
        found
    }

    /// The schemas with a reference on a circle of schemas that apply to one value: the strongly connected components,
    /// after Tarjan. Like a reference that leads nowhere, it matters only to a value that meets it.
    fn find_circular(&self, nodes: &[&'a Json]) -> HashSet<Address> {
        let mut order: HashMap<Address, usize> = HashMap::new();
        let mut lowest: HashMap<Address, usize> = HashMap::new();
        let mut open: Vec<&'a Json> = Vec::new();
        let mut is_open: HashSet<Address> = HashSet::new();
        let mut found = HashSet::new();
        for start in nodes {
            if order.contains_key(&address(start)) {
                continue;
            }
            let mut path: Vec<(&'a Json, Vec<&'a Json>)> = Vec::new();
            let mut next = Some(*start);
            loop {
                if let Some(node) = next.take() {
                    let at = address(node);
                    lowest.insert(at, order.len());
                    order.insert(at, order.len());
                    open.push(node);
                    is_open.insert(at);
                    path.push((node, self.in_place(node)));
                }
                let Some((node, parts)) = path.last_mut() else {
                    break;
                };
                let at = address(node);
                if let Some(part) = parts.pop() {
                    match order.get(&address(part)) {
                        None => next = Some(part),
                        Some(reached) if is_open.contains(&address(part)) => {
                            if address(part) == at {
                                found.insert(at);
                            }
                            let low = lowest.entry(at).or_default();
                            *low = (*low).min(*reached);
                        }
                        Some(_) => {}
                    }
                    continue;
                }
                path.pop();
                let low = lowest[&at];
                if let Some((around, _)) = path.last() {
                    let outer = lowest.entry(address(around)).or_default();
                    *outer = (*outer).min(low);
                }
                if low == order[&at] {
                    let from = open
                        .iter()
                        .rposition(|other| address(other) == at)
                        .unwrap_or(0);
                    let component = open.split_off(from);
                    for node in &component {
                        is_open.remove(&address(node));
                    }
                    if component.len() > 1 {
                        found.extend(component.into_iter().map(address));
                    }
                }
            }
        }
        let refers = |node: &&&'a Json| REFERRING.iter().any(|keyword| node.get(keyword).is_some());
        let referring: HashSet<Address> = nodes
            .iter()
            .filter(refers)
            .map(|node| address(node))
            .collect();
        found.retain(|at| referring.contains(at));
        found
    }

    /// The target of one reference.
    pub(crate) fn resolve(
        &self,
        node: &Json,
        reference: &str,
    ) -> Result<(&'a Json, String), Reason> {
        let own = self.resource_of.get(&address(node)).copied().unwrap_or(0);
        let key = (own, reference.to_owned());
        match self.resolved.get(&key) {
            Some(known) => Ok(known.clone()),
            None => self.look_up(own, reference),
        }
    }

    fn look_up(&self, own: usize, reference: &str) -> Result<(&'a Json, String), Reason> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if uri.is_empty() {
            own
        } else {
            let remote = || Reason::Remote(reference.to_owned());
            let wanted = self.resources[own]
                .uri
                .as_ref()
                .and_then(|base| base.join(uri).ok())
                .or_else(|| url::Url::parse(uri).ok())
                .ok_or_else(remote)?;
            let same = |resource: &Resource<'_>| {
                resource.uri.as_ref().is_some_and(|uri| {
                    uri.as_str().trim_end_matches('#') == wanted.as_str().trim_end_matches('#')
                })
            };
            self.resources.iter().position(same).ok_or_else(remote)?
        };
        let dangling = || Reason::Dangling(reference.to_owned());
        let within = &self.resources[resource];
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() || fragment.starts_with('/') {
            let node = pointer::resolve(within.root, &fragment).ok_or_else(dangling)?;
            return Ok((node, format!("{}{fragment}", within.at)));
        }
        self.anchors
            .get(&(resource, fragment))
            .cloned()
            .ok_or_else(dangling)
    }

    /// The schema in `properties` for a member.
    pub(crate) fn property(&self, object: &'a Object, name: &Text) -> Option<&'a Json> {
        let json = object.get("properties")?;
        let properties = json.as_object()?;
        if properties.len() <= FEW {
            return member(properties, name);
        }
        match self.properties.get(&address(json)) {
            Some(by_name) => by_name.get(name).copied(),
            None => member(properties, name),
        }
    }

    /// Whether `required` has the name.
    pub(crate) fn requires(&self, object: &'a Object, name: &Text) -> bool {
        let Some(json @ Json::Array(names)) = object.get("required") else {
            return false;
        };
        if names.len() <= FEW {
            return names.iter().any(|listed| listed.as_text() == Some(name));
        }
        match self.required.get(&address(json)) {
            Some(indexed) => indexed.contains(name),
            None => names.iter().any(|listed| listed.as_text() == Some(name)),
        }
    }

    /// Two schemas with the same mark mean the same. `None` if the text cannot show that.
    pub(crate) fn mark(&self, node: &'a Json) -> Option<[u8; 32]> {
        if !self.uniform {
            return None;
        }
        if let Some(known) = self.marks.borrow().get(&address(node)) {
            return Some(*known);
        }
        let mut references = BTreeSet::new();
        let mut text = String::new();
        bare(node, &mut text, &mut references);
        let mut open: Vec<String> = references.iter().cloned().collect();
        while let Some(reference) = open.pop() {
            for further in self.closure(&reference) {
                if references.insert(further.clone()) {
                    open.push(further);
                }
                if references.len() > MAX_REFERENCES {
                    return None;
                }
            }
        }
        let mut hash = Sha256::new();
        hash.update(text.as_bytes());
        // In draft 4 `1.0` is not an integer.
        let four = self.draft() == Draft::Four;
        let is_sensitive =
            |text: &str| is_sensitive(text) || (four && text.contains("\"integer\""));
        let mut sensitive = is_sensitive(&text);
        for reference in references {
            hash.update(reference.as_bytes());
            let (target, _) = self.resolve(&self.document.root, &reference).ok()?;
            let mut text = String::new();
            bare(target, &mut text, &mut BTreeSet::new());
            sensitive |= is_sensitive(&text);
            hash.update([0]);
            hash.update(text.as_bytes());
        }
        if sensitive {
            hash.update(format!("{:?}", self.draft()).as_bytes());
        }
        let mark: [u8; 32] = hash.finalize().into();
        self.marks.borrow_mut().insert(address(node), mark);
        Some(mark)
    }

    /// The references inside the target of one.
    fn closure(&self, reference: &str) -> BTreeSet<String> {
        if let Some(known) = self.closures.borrow().get(reference) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        if let Ok((target, _)) = self.resolve(&self.document.root, reference) {
            bare(target, &mut String::new(), &mut found);
        }
        self.closures
            .borrow_mut()
            .insert(reference.to_owned(), found.clone());
        found
    }
}

/// The member of a name that may not be a valid `str`; the last one if repeated.
pub(crate) fn member<'o>(object: &'o Object, name: &Text) -> Option<&'o Json> {
    match name.as_str() {
        Some(name) => object.get(name),
        None => object
            .iter()
            .filter(|(other, _)| *other == name)
            .map(|(_, value)| value)
            .last(),
    }
}

/// The members of an object, the last one if repeated.
pub(crate) fn members_of(object: &Object) -> Vec<(&Text, &Json)> {
    if object.len() > FEW {
        return object.by_name().into_iter().collect();
    }
    let all: Vec<(&Text, &Json)> = object.iter().collect();
    let repeated = |at: usize| all[at + 1..].iter().any(|(name, _)| *name == all[at].0);
    (0..all.len())
        .filter(|at| !repeated(*at))
        .map(|at| all[at])
        .collect()
}

/// Whether an object has all members of a list.
pub(crate) fn has_all<'t>(object: &Object, names: impl ExactSizeIterator<Item = &'t Text>) -> bool {
    if object.len() <= FEW || names.len() <= 1 {
        let mut names = names;
        return names.all(|name| member(object, name).is_some());
    }
    let present: HashSet<&Text> = object.iter().map(|(name, _)| name).collect();
    let mut names = names;
    names.all(|name| present.contains(name))
}

/// Whether a keyword decides which values are accepted.
fn is_asserted(keyword: &str) -> bool {
    topic(keyword).is_some_and(Topic::is_asserted)
}

/// Whether a schema accepts everything, at a glance.
pub(crate) fn accepts_all(schema: &Json) -> bool {
    match schema {
        Json::Bool(verdict) => *verdict,
        Json::Object(object) => object
            .iter()
            .all(|(keyword, _)| keyword.as_str().is_none_or(|keyword| !is_asserted(keyword))),
        _ => false,
    }
}

/// Whether bare text may mean something else in another draft.
fn is_sensitive(text: &str) -> bool {
    [
        "exclusive",
        "const:",
        "contains:",
        "propertyNames:",
        "if:",
        "$ref:",
        "prefixItems:",
        "items:[",
        "additionalItems:",
        "unevaluated",
        "depende",
        "Contains:",
    ]
    .iter()
    .any(|mark| text.contains(mark))
}

/// A schema without annotations, in one spelling.
fn bare(node: &Json, out: &mut String, references: &mut BTreeSet<String>) {
    let Json::Object(object) = node else {
        out.push_str(&to_canonical(node));
        return;
    };
    if let Some(reference) = object.get("$ref").and_then(Json::as_str) {
        references.insert(reference.to_owned());
    }
    out.push('{');
    for (name, value) in object.by_name() {
        let Some(keyword) = name.as_str().filter(|keyword| is_asserted(keyword)) else {
            continue;
        };
        out.push_str(keyword);
        out.push(':');
        match (holds(keyword, value), value) {
            (Some(Holds::One), schema) => bare(schema, out, references),
            (Some(Holds::List), Json::Array(list)) => {
                out.push('[');
                for schema in list {
                    bare(schema, out, references);
                    out.push(',');
                }
                out.push(']');
            }
            (Some(Holds::Map), Json::Object(map)) => {
                out.push('{');
                for (name, schema) in map.by_name() {
                    out.push_str(&to_canonical(&Json::String(name.clone())));
                    out.push(':');
                    bare(schema, out, references);
                    out.push(',');
                }
                out.push('}');
            }
            (_, Json::Array(values)) if ["required", "enum", "type"].contains(&keyword) => {
                let texts: BTreeSet<String> = values.iter().map(to_canonical).collect();
                for text in texts {
                    out.push_str(&text);
                    out.push(',');
                }
            }
            _ => out.push_str(&to_canonical(value)),
        }
        out.push(';');
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::parse_str;

    fn document(text: &str) -> Document {
        Document::new(parse_str(text).expect("a schema"))
    }

    #[test]
    fn references_stay_inside_the_document() {
        let document = document(
            r##"{"$id": "https://x.test/a", "$defs": {"a b": {"$anchor": "here", "type": "string"}}}"##,
        );
        let references = References::new(&document);
        let resolve = |reference| references.resolve(&document.root, reference);
        for reference in ["#/$defs/a%20b", "#here", "https://x.test/a#here"] {
            assert_eq!(
                resolve(reference).expect("resolves").1,
                "/$defs/a b",
                "{reference}"
            );
        }
        assert!(matches!(resolve("other.json"), Err(Reason::Remote(_))));
        assert!(matches!(resolve("#/$defs/none"), Err(Reason::Dangling(_))));
    }

    #[test]
    fn an_embedded_resource_has_its_own_definitions() {
        let document = document(
            r##"{"properties": {"a": {"$ref": "T"}}, "$defs": {"R": {"type": "null"},
                "T": {"$id": "T", "$ref": "#/$defs/R", "$defs": {"R": {"type": "string"}}}}}"##,
        );
        let references = References::new(&document);
        let a = document.at("/properties/a").expect("there");
        let (target, at) = references.resolve(a, "T").expect("resolves");
        assert_eq!(at, "/$defs/T");
        let (_, at) = references.resolve(target, "#/$defs/R").expect("resolves");
        assert_eq!(at, "/$defs/T/$defs/R");
    }
}

//! Checks one definition against the table.

use std::collections::{BTreeSet, HashMap};

use super::table::{DEEPEST, Fate, Limits, MOST_VIOLATIONS};
use super::{Provider, Violation};
use crate::canonical::{Json, Object, pointer};

const SCHEMA: &str = "/inputSchema";

/// A schema must have at least one of these keywords to describe a value.
const SPEAKING: &[&str] = &[
    "type",
    "enum",
    "const",
    "properties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "not",
    "if",
];

/// The unions; some providers allow no other keyword next to them.
const UNIONS: &[&str] = &["anyOf", "oneOf"];

pub(super) fn violations(provider: Provider, definition: &Json) -> Vec<Violation> {
    let mut walk = Walk {
        provider,
        limits: provider.limits(),
        root: definition.get("inputSchema"),
        at: SCHEMA.to_owned(),
        found: Vec::new(),
        seen: HashMap::new(),
        indexes: HashMap::new(),
        depth: 0,
        totals: Totals::default(),
    };
    walk.name(definition.get("name"));
    // Without a schema, clients send an empty one.
    if let Some(root) = walk.root {
        walk.arguments(root);
    }
    walk.found
}

/// Counts over the whole schema.
#[derive(Default)]
struct Totals {
    properties: usize,
    enum_values: usize,
    characters: usize,
    optional: usize,
    unions: usize,
}

/// What is known about a visited subschema.
#[derive(Clone, Copy)]
enum Seen {
    /// Still being visited: reaching it again means a cycle.
    Open,
    /// Visited, with this many levels of nested objects.
    Done(usize),
}

struct Walk<'a> {
    provider: Provider,
    limits: &'static Limits,
    root: Option<&'a Json>,
    at: String,
    found: Vec<Violation>,
    /// By address: a subschema with two references is visited once.
    seen: HashMap<usize, Seen>,
    /// Members by name of the objects that references pass through, so that a thousand references
    /// into a thousand definitions stay cheap.
    indexes: HashMap<usize, HashMap<&'a str, &'a Json>>,
    depth: usize,
    totals: Totals,
}

fn address(value: &Json) -> usize {
    std::ptr::from_ref(value).addr()
}

impl<'a> Walk<'a> {
    fn report(&mut self, pointer: String, keyword: &str, reason: String) {
        if self.found.len() < MOST_VIOLATIONS {
            self.found.push(Violation {
                pointer,
                keyword: keyword.to_owned(),
                reason,
            });
        }
    }

    fn name(&mut self, name: Option<&Json>) {
        let naming = self.limits.name;
        let fits = name
            .and_then(Json::as_str)
            .is_some_and(|it| naming.takes(it));
        if !fits {
            let reason = format!("must be {}", naming.describe());
            self.report("/name".to_owned(), "name", reason);
        }
    }

    /// The arguments schema: the rules for its root, the tree below, the totals.
    fn arguments(&mut self, root: &'a Json) {
        if let Some(kind) = root
            .get("type")
            .filter(|kind| kind.as_str() != Some("object"))
        {
            let reason = format!("must be `object` for the arguments, not {}", brief(kind));
            self.report(pointer::join(SCHEMA, "type"), "type", reason);
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let Some(branches) = root.get(keyword) else {
                continue;
            };
            let merged = keyword == "allOf"
                && self.provider != Provider::Anthropic
                && branches.as_array().is_some_and(|it| it.len() == 1);
            if !merged {
                let reason = "is not supported at the top level of the arguments".to_owned();
                self.report(pointer::join(SCHEMA, keyword), keyword, reason);
            }
        }
        for keyword in ["$defs", "definitions"] {
            if let Some(definitions) = root.get(keyword).and_then(Json::as_object) {
                self.totals.characters += definitions
                    .iter()
                    .map(|(name, _)| name.code_points().count())
                    .sum::<usize>();
            }
        }
        let levels = self.schema(root, true);
        self.totals(levels);
    }

    fn totals(&mut self, levels: usize) {
        let Totals {
            properties,
            enum_values,
            characters,
            optional,
            unions,
        } = self.totals;
        let limits = self.limits;
        for (keyword, is, most, what) in [
            (
                "properties",
                levels,
                limits.levels,
                "levels of nested objects",
            ),
            (
                "properties",
                properties,
                limits.properties,
                "properties in total",
            ),
            (
                "enum",
                enum_values,
                limits.enum_values,
                "enum values in total",
            ),
            (
                "properties",
                characters,
                limits.characters,
                "characters of names and values in total",
            ),
            (
                "required",
                optional,
                limits.optional,
                "optional properties in total",
            ),
            (
                "anyOf",
                unions,
                limits.unions,
                "properties with more than one type in total",
            ),
        ] {
            if let Some(most) = most.filter(|most| is > *most) {
                let reason = format!("makes {is} {what}; the limit is {most}");
                self.report(SCHEMA.to_owned(), keyword, reason);
            }
        }
    }

    /// One subschema, at `self.at`. Returns its number of levels of nested objects.
    fn schema(&mut self, schema: &'a Json, is_root: bool) -> usize {
        match self.seen.get(&address(schema)) {
            Some(Seen::Done(levels)) => return *levels,
            Some(Seen::Open) => return 0,
            None => {}
        }
        if self.found.len() >= MOST_VIOLATIONS {
            return 0;
        }
        let Json::Object(object) = schema else {
            let reason = format!("is required: {} does not describe the value", brief(schema));
            self.report(self.at.clone(), "type", reason);
            return 0;
        };
        if self.depth >= DEEPEST {
            let reason = format!("is nested more than {DEEPEST} levels deep");
            self.report(self.at.clone(), "type", reason);
            return 0;
        }
        self.seen.insert(address(schema), Seen::Open);
        self.depth += 1;
        if !is_root && !SPEAKING.iter().any(|keyword| object.contains(keyword)) {
            let reason = "is required: the schema accepts any value".to_owned();
            self.report(self.at.clone(), "type", reason);
        }
        let below = object
            .iter()
            .filter_map(|(keyword, value)| {
                Some(self.keyword(object, keyword.as_str()?, value, is_root))
            })
            .max()
            .unwrap_or(0);
        self.array(object);
        self.depth -= 1;
        let levels = below + usize::from(is_root || object.contains("properties"));
        self.seen.insert(address(schema), Seen::Done(levels));
        levels
    }

    fn keyword(
        &mut self,
        schema: &'a Object,
        keyword: &str,
        value: &'a Json,
        is_root: bool,
    ) -> usize {
        let reason = match self.provider.fate(keyword) {
            None => return 0,
            Some(Fate::Yes | Fate::Fixed(_)) => None,
            Some(Fate::No) => Some("is not supported".to_owned()),
            Some(Fate::Only(which, takes)) => {
                (!takes(value)).then(|| format!("is {}; supported: {which}", brief(value)))
            }
        };
        if let Some(reason) = reason {
            // Combinators at the root were already reported.
            if !(is_root && keyword == "allOf") {
                self.report(pointer::join(&self.at, keyword), keyword, reason);
            }
            return 0;
        }
        match keyword {
            "properties" => self.properties(schema, value),
            "items" => self.below(&["items"], value),
            "anyOf" | "oneOf" => self.branches(schema, keyword, value, is_root),
            "allOf" | "prefixItems" => self.each(keyword, value),
            "$ref" => self.reference(value),
            "enum" => self.values(keyword, value.as_array().unwrap_or_default()),
            "const" => self.values(keyword, std::slice::from_ref(value)),
            _ => 0,
        }
    }

    fn below(&mut self, tokens: &[&str], schema: &'a Json) -> usize {
        let length = self.at.len();
        for token in tokens {
            pointer::push(&mut self.at, token);
        }
        let levels = self.schema(schema, false);
        self.at.truncate(length);
        levels
    }

    fn each(&mut self, keyword: &str, branches: &'a Json) -> usize {
        let branches = branches.as_array().unwrap_or_default().iter().enumerate();
        branches
            .map(|(index, branch)| self.below(&[keyword, &index.to_string()], branch))
            .max()
            .unwrap_or(0)
    }

    fn properties(&mut self, schema: &'a Object, properties: &'a Json) -> usize {
        let Some(properties) = properties.as_object() else {
            return 0;
        };
        let required: BTreeSet<&str> = schema
            .get("required")
            .and_then(Json::as_array)
            .unwrap_or_default()
            .iter()
            .filter_map(Json::as_str)
            .collect();
        let mut most = 0;
        for (name, property) in properties.iter() {
            let text = name.to_string_lossy();
            self.totals.properties += 1;
            self.totals.characters += name.code_points().count();
            self.totals.optional += usize::from(!required.contains(text));
            let is_list = property
                .get("type")
                .is_some_and(|kind| kind.as_array().is_some());
            let is_union = is_list || property.get("anyOf").or(property.get("oneOf")).is_some();
            self.totals.unions += usize::from(is_union);
            if let Some(naming) = self.limits.property.filter(|naming| !naming.takes(text)) {
                let reason = format!("names must be {}", naming.describe());
                let at = pointer::join(&pointer::join(&self.at, "properties"), text);
                self.report(at, "properties", reason);
            }
            most = most.max(self.below(&["properties", text], property));
        }
        most
    }

    fn branches(
        &mut self,
        schema: &'a Object,
        keyword: &str,
        value: &'a Json,
        is_root: bool,
    ) -> usize {
        if self.limits.lone_any_of && !is_root {
            let beside = schema
                .iter()
                .filter_map(|(name, _)| name.as_str())
                .find(|name| !UNIONS.contains(name) && self.provider.fate(name).is_some());
            if let Some(beside) = beside {
                let reason =
                    format!("must be the only keyword of its schema, which also has `{beside}`");
                self.report(pointer::join(&self.at, keyword), keyword, reason);
            }
        }
        self.each(keyword, value)
    }

    fn values(&mut self, keyword: &str, values: &[Json]) -> usize {
        let size = |value: &Json| value.as_text().map_or(0, |text| text.code_points().count());
        let characters: usize = values.iter().map(size).sum();
        self.totals.characters += characters;
        if keyword == "enum" {
            self.totals.enum_values += values.len();
        }
        if let Some((many, most)) = self
            .limits
            .long_enum
            .filter(|(many, most)| values.len() > *many && characters > *most)
        {
            let reason = format!(
                "has more than {many} values and {characters} characters; the limit is {most}"
            );
            self.report(pointer::join(&self.at, keyword), keyword, reason);
        }
        0
    }

    fn array(&mut self, schema: &Object) {
        let Some(kind) = schema.get("type").filter(|_| self.limits.items_needed) else {
            return;
        };
        let is_array = |it: &Json| it.as_str() == Some("array");
        let says_array =
            is_array(kind) || kind.as_array().is_some_and(|all| all.iter().any(is_array));
        if says_array && !schema.contains("items") && !schema.contains("prefixItems") {
            self.report(
                self.at.clone(),
                "items",
                "is missing from an array".to_owned(),
            );
        }
    }

    fn reference(&mut self, reference: &'a Json) -> usize {
        let at = pointer::join(&self.at, "$ref");
        let Some(path) = reference.as_str().and_then(local_path) else {
            let reason = format!(
                "is {}, but must point into the same schema",
                brief(reference)
            );
            self.report(at, "$ref", reason);
            return 0;
        };
        let Some(target) = self.resolve(&path) else {
            let reason = format!("is {}, which does not exist", brief(reference));
            self.report(at, "$ref", reason);
            return 0;
        };
        if matches!(self.seen.get(&address(target)), Some(Seen::Open)) && !self.limits.recursion {
            let reason = format!("is {}, which makes the schema recursive", brief(reference));
            self.report(at, "$ref", reason);
            return 0;
        }
        let here = std::mem::replace(&mut self.at, format!("{SCHEMA}{path}"));
        let levels = self.schema(target, false);
        self.at = here;
        levels
    }

    fn resolve(&mut self, path: &str) -> Option<&'a Json> {
        let mut value = self.root?;
        for token in pointer::tokens(path) {
            value = match value {
                Json::Object(object) => {
                    let index = self.indexes.entry(address(value));
                    let index = index.or_insert_with(|| {
                        object
                            .iter()
                            .map(|(name, value)| (name.to_string_lossy(), value))
                            .collect()
                    });
                    *index.get(token.as_str())?
                }
                Json::Array(items) => items.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

/// The JSON pointer of a reference within the document; `None` for any other (an anchor, another
/// document).
fn local_path(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    (fragment.is_empty() || fragment.starts_with('/')).then(|| percent_decoded(fragment))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = (*first == b'%')
            .then(|| std::str::from_utf8(tail.get(..2)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A value shortened to fit a sentence.
fn brief(value: &Json) -> String {
    match value {
        Json::String(text) if text.code_points().count() <= 60 => {
            format!("`{}`", text.to_string_lossy())
        }
        Json::Bool(_) | Json::Number(_) | Json::Null => format!("`{value}`"),
        other => other.kind().to_owned(),
    }
}

//! Masks: single texts that the configuration excludes from the contract, because they vary with
//! the machine or the day.
//!
//! A masked text is replaced by [`MARKER`] in the surface, before any digest, baseline or
//! comparison, so that every machine sees the same. A mask only covers text: no schema, no name,
//! nothing that a caller has to obey ([`is_text`]). Masking is idempotent, so a mask may be added
//! to a baseline that was pinned without it.

use regex::Regex;

use crate::canonical::{Json, Object, Text, pointer};
use crate::rules::RuleId;
use crate::surface::{Component, Note, Surface};

/// Replaces a masked text.
pub const MARKER: &str = "[masked]";

/// `component` of a mask for the server itself.
pub const SERVER: &str = "server";

/// How often masks are applied to one text until it no longer changes.
const ROUNDS: usize = 8;

/// One `[[server.NAME.mask]]`.
#[derive(Clone, Debug)]
pub struct Mask {
    /// The key of a component, [`SERVER`], or a pattern in which `*` matches anything.
    pub component: String,
    /// Where in the definition; a token `*` matches any one. `None`: every text.
    pub pointer: Option<String>,
    /// Which part of the text: what its groups match, or all of it if it has none. `None`: the
    /// whole text.
    pub pattern: Option<Regex>,
    pub reason: String,
    /// Its line in the configuration.
    pub line: usize,
}

impl PartialEq for Mask {
    fn eq(&self, other: &Self) -> bool {
        let parts = |it: &Self| {
            (
                it.component.clone(),
                it.pointer.clone(),
                it.pattern.as_ref().map(|it| it.as_str().to_owned()),
                it.reason.clone(),
                it.line,
            )
        };
        parts(self) == parts(other)
    }
}

impl Eq for Mask {}

/// Whether a mask may cover this place: not a component's name, not what a caller has to obey, and
/// no members that are not prose.
pub fn is_text(component: Option<&str>, at: &str) -> bool {
    let tokens: Vec<String> = pointer::tokens(at).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    match (component, &tokens[..]) {
        (None, ["instructions"] | ["serverInfo", _, ..]) => true,
        (None, _) | (Some(_), []) => false,
        (
            Some(_),
            [
                "name" | "uri" | "uriTemplate" | "inputSchema" | "outputSchema" | "annotations"
                | "_meta",
            ],
        ) => false,
        // The version of a tool is part of its key.
        (Some(_), ["_meta", "fastmcp" | "_fastmcp", "version"]) => false,
        (Some(_), ["arguments", _, "name"] | ["execution", ..]) => false,
        (Some(_), ["inputSchema" | "outputSchema", inside @ ..]) => is_prose_of_schema(inside),
        _ => true,
    }
}

/// Whether this place of a schema is not binding. Interpreted like a schema: `type` may be a
/// keyword, the name of a parameter, or a member of a value.
fn is_prose_of_schema(mut place: &[&str]) -> bool {
    const OBEYED: [&str; 18] = [
        "type",
        "enum",
        "const",
        "required",
        "dependentRequired",
        "dependencies",
        "pattern",
        "format",
        "contentEncoding",
        "contentMediaType",
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$schema",
        "x-mcp-header",
    ];
    while let [keyword, below @ ..] = place {
        place = match (*keyword, below) {
            (keyword, _) if OBEYED.contains(&keyword) => return false,
            // Schemas by name, whatever the name.
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                [_, schema @ ..],
            ) => schema,
            // Texts, and arbitrary values.
            ("title" | "description" | "default" | "examples" | "$comment", _) => return true,
            // A schema, a list of schemas, or one of such a list.
            (_, below) => below,
        };
    }
    true
}

/// What masks did to a surface, mask by mask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    matched: Vec<bool>,
    /// Where a mask points at something that it may not cover.
    refused: Vec<Option<String>>,
}

/// Removes the masked texts from a surface.
pub fn apply(masks: &[Mask], surface: &mut Surface) -> Applied {
    let mut applied = Applied {
        matched: vec![false; masks.len()],
        refused: vec![None; masks.len()],
    };
    if masks.is_empty() {
        return applied;
    }
    let mut walk = Walk {
        masks,
        applied: &mut applied,
        component: None,
        concerned: Vec::new(),
    };
    walk.enter(None);
    if let Some(masked) = walk.value(&surface.server_info, &mut "/serverInfo".to_owned()) {
        surface.server_info = masked;
    }
    if let Some(text) = &surface.instructions
        && let Some(masked) = walk.text(text, "/instructions")
    {
        surface.instructions = Some(masked);
    }
    for Component {
        key, definition, ..
    } in &mut surface.components
    {
        walk.enter(Some(key));
        if let Some(masked) = walk.value(definition, &mut String::new()) {
            *definition = masked;
        }
    }
    applied
}

impl Applied {
    /// Masks that matched nothing.
    pub fn unused(&self, masks: &[Mask]) -> Vec<Note> {
        let states = self.matched.iter().zip(&self.refused);
        masks
            .iter()
            .zip(states)
            .filter(|(_, (matched, _))| !**matched)
            .map(|(mask, (_, refused))| Note {
                rule: RuleId::MaskUnused,
                component: None,
                message: format!(
                    "the mask of `{}` (line {}) {}",
                    mask.component,
                    mask.line,
                    match refused {
                        Some(at) => format!("points at {at}, which a mask must not cover"),
                        None => "matches nothing".to_owned(),
                    }
                ),
            })
            .collect()
    }
}

struct Walk<'a> {
    masks: &'a [Mask],
    applied: &'a mut Applied,
    component: Option<String>,
    /// The masks for the current component.
    concerned: Vec<usize>,
}

impl Walk<'_> {
    fn enter(&mut self, component: Option<&str>) {
        let key = component.unwrap_or(SERVER);
        self.component = component.map(str::to_owned);
        let concerned = self.masks.iter().enumerate();
        self.concerned = concerned
            .filter(|(_, mask)| glob(&mask.component, key))
            .map(|(index, _)| index)
            .collect();
    }

    /// The value without its masked texts; `None` if it has none.
    fn value(&mut self, value: &Json, at: &mut String) -> Option<Json> {
        if self.concerned.is_empty() {
            return None;
        }
        match value {
            Json::String(text) => self.text(text, at).map(Json::String),
            Json::Array(items) => {
                self.refuse(at);
                let mut masked = items.clone();
                let mut changed = false;
                for (index, item) in items.iter().enumerate() {
                    let inside = |at: &mut String| self.value(item, at);
                    if let Some(item) = pointer::descend(at, &index.to_string(), inside) {
                        masked[index] = item;
                        changed = true;
                    }
                }
                changed.then_some(Json::Array(masked))
            }
            Json::Object(object) => {
                self.refuse(at);
                let mut changed = false;
                let masked = object
                    .iter()
                    .map(|(name, value)| {
                        let inside = |at: &mut String| self.value(value, at);
                        let masked = pointer::descend(at, name.to_string_lossy(), inside);
                        changed |= masked.is_some();
                        (name.clone(), masked.unwrap_or_else(|| value.clone()))
                    })
                    .collect::<Object>();
                changed.then_some(Json::Object(masked))
            }
            _ => {
                self.refuse(at);
                None
            }
        }
    }

    /// Records the masks that point at exactly this, which is not a text.
    fn refuse(&mut self, at: &str) {
        for index in self.concerned.clone() {
            let wanted = &self.masks[index].pointer;
            if wanted.as_ref().is_some_and(|wanted| points(wanted, at)) {
                self.applied.refused[index].get_or_insert_with(|| format!("`{at}`"));
            }
        }
    }

    fn text(&mut self, text: &Text, at: &str) -> Option<Text> {
        let mut wanted = self.concerned.clone();
        wanted.retain(|index| {
            let pointer = &self.masks[*index].pointer;
            pointer.as_ref().is_none_or(|wanted| points(wanted, at))
        });
        if wanted.is_empty() {
            return None;
        }
        if !is_text(self.component.as_deref(), at) {
            self.refuse(at);
            return None;
        }
        let mut masked = text.clone();
        for _ in 0..ROUNDS {
            let before = masked.clone();
            for index in &wanted {
                if let Some(left) = without(&masked, self.masks[*index].pattern.as_ref()) {
                    self.applied.matched[*index] = true;
                    masked = left;
                }
            }
            if masked == before {
                break;
            }
        }
        (masked != *text).then_some(masked)
    }
}

/// The text without what a pattern matches; `None` if it matches nothing.
fn without(text: &Text, pattern: Option<&Regex>) -> Option<Text> {
    let Some(pattern) = pattern else {
        return Some(Text::from(MARKER));
    };
    let text = text.as_str()?;
    let markers: Vec<(usize, usize)> = text
        .match_indices(MARKER)
        .map(|(start, it)| (start, start + it.len()))
        .collect();
    let mut matched = false;
    let mut out = String::new();
    let mut end = 0;
    for captures in pattern.captures_iter(text) {
        let groups: Vec<_> = captures.iter().skip(1).flatten().collect();
        let found = match pattern.captures_len() {
            1 => captures.get(0).into_iter().collect(),
            _ => groups,
        };
        for part in found {
            if part.is_empty() || part.start() < end {
                continue;
            }
            matched = true;
            // Text that is already masked is not searched.
            let inside = markers.iter().any(|(from, to)| {
                part.start() < *to
                    && part.end() > *from
                    && !(part.start() <= *from && part.end() >= *to)
            });
            if inside {
                continue;
            }
            out.push_str(&text[end..part.start()]);
            out.push_str(MARKER);
            end = part.end();
        }
    }
    out.push_str(&text[end..]);
    matched.then(|| Text::from(out))
}

/// Whether a pointer in which `*` matches any token points at this place.
fn points(wanted: &str, at: &str) -> bool {
    wanted.matches('/').count() == at.matches('/').count()
        && pointer::tokens(wanted)
            .zip(pointer::tokens(at))
            .all(|(wanted, token)| wanted == "*" || wanted == token)
}

/// Whether a text matches a pattern in which `*` matches anything.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{parse_str, to_compact};
    use crate::surface::{ClientProfile, Lists, Scope};

    fn mask(component: &str, pointer: Option<&str>, pattern: Option<&str>) -> Mask {
        Mask {
            component: component.into(),
            pointer: pointer.map(str::to_owned),
            pattern: pattern.map(|it| Regex::new(it).unwrap()),
            reason: "a test".into(),
            line: 3,
        }
    }

    fn surface(tool: &str) -> Surface {
        let lists = Lists {
            tools: vec![parse_str(tool).unwrap()],
            ..Lists::default()
        };
        let initialize = r#"{"serverInfo":{"name":"s","version":"1 of today"},"instructions":"Today is Monday."}"#;
        let initialize = parse_str(initialize).unwrap();
        Surface::new(&initialize, lists, ClientProfile::default(), Scope::FULL)
    }

    fn masked(masks: &[Mask], tool: &str) -> (String, Vec<String>) {
        let mut surface = surface(tool);
        let applied = apply(masks, &mut surface);
        let once = surface.clone();
        apply(masks, &mut surface);
        assert_eq!(once, surface, "masking what is masked changes nothing");
        let said = applied.unused(masks).into_iter().map(|note| note.message);
        (
            to_compact(&surface.components[0].definition),
            said.collect(),
        )
    }

    #[test]
    fn only_the_intended_text_is_masked() {
        let tool = r#"{"name":"now","description":"Use 'Europe/Oslo' as local timezone, 'UTC' else","inputSchema":{"properties":{"a":{"description":"x 1"},"b":{"description":"x 2","default":"x"}}}}"#;
        let whole = masked(&[mask("tool:now@", Some("/description"), None)], tool).0;
        assert!(
            whole.contains(
                r#""description":"[masked]","inputSchema":{"properties":{"a":{"description":"x 1"}"#
            ),
            "{whole}"
        );
        let part = [mask(
            "tool:*",
            Some("/description"),
            Some("'[A-Za-z/]+' as local timezone"),
        )];
        assert!(
            masked(&part, tool)
                .0
                .contains(r#""Use [masked], 'UTC' else""#)
        );
        let group = [mask(
            "tool:*",
            Some("/description"),
            Some("'([A-Za-z/]+)' as local timezone"),
        )];
        assert!(
            masked(&group, tool)
                .0
                .contains(r#""Use '[masked]' as local timezone, 'UTC' else""#)
        );
        let any = [mask(
            "*",
            Some("/inputSchema/properties/*/description"),
            Some("[0-9]"),
        )];
        let any = masked(&any, tool).0;
        assert!(
            any.contains(r#""x [masked]"},"b":{"description":"x [masked]","default":"x""#),
            "{any}"
        );
    }

    #[test]
    fn greedy_patterns_converge_to_the_same_text() {
        for pattern in ["[a-z]+", r"\S+ \S+", ".", ".*", "a|(b)", r"\]|\["] {
            masked(
                &[mask("*", None, Some(pattern))],
                r#"{"name":"a","description":"a b c d [masked] e"}"#,
            );
        }
    }

    #[test]
    fn what_a_caller_has_to_obey_is_never_masked() {
        let tool = r#"{"name":"a","inputSchema":{"type":"object","properties":{"type":{"type":"string","enum":["x"],"description":"x"}},"required":["type"]}}"#;
        let (definition, said) = masked(&[mask("*", None, Some(".+"))], tool);
        assert_eq!(
            definition,
            tool.replace(r#""description":"x""#, r#""description":"[masked]""#)
        );
        assert!(said.is_empty());
        for at in [
            "/name",
            "/inputSchema",
            "/inputSchema/type",
            "/inputSchema/required/0",
            "/inputSchema/properties/type/enum/0",
        ] {
            let (definition, said) = masked(&[mask("tool:a@", Some(at), None)], tool);
            assert_eq!(definition, tool);
            assert_eq!(
                said,
                [format!(
                    "the mask of `tool:a@` (line 3) points at `{at}`, which a mask must not cover"
                )]
            );
        }
    }

    #[test]
    fn a_place_in_a_schema_is_interpreted_like_a_schema() {
        let tool = |at: &str| is_text(Some("tool:a@"), at);
        for obeyed in [
            "/inputSchema/properties/properties/enum/0",
            "/inputSchema/properties/a/enum/0/key",
            "/inputSchema/properties/a/const/description",
            "/inputSchema/dependentRequired/a/0",
            "/inputSchema/anyOf/0/items/type",
            "/inputSchema/$defs/enum/pattern",
            "/outputSchema/properties/a/x-mcp-header",
            "/execution/taskSupport",
        ] {
            assert!(!tool(obeyed), "{obeyed}");
        }
        for text in [
            "/inputSchema/properties/type/description",
            "/inputSchema/properties/enum/title",
            "/inputSchema/properties/a/default/type",
            "/inputSchema/properties/a/examples/0",
            "/inputSchema/anyOf/0/description",
            "/inputSchema/properties/*/description",
            "/description",
        ] {
            assert!(tool(text), "{text}");
        }
        assert!(!is_text(Some("prompt:a@"), "/arguments/0/name"));
        assert!(is_text(Some("prompt:a@"), "/arguments/0/description"));
    }

    #[test]
    fn the_server_itself_has_texts_too() {
        let masks = [
            mask("server", Some("/instructions"), Some("is ([A-Z][a-z]+)")),
            mask("server", Some("/serverInfo/version"), Some("today")),
        ];
        let mut surface = surface(r#"{"name":"a"}"#);
        apply(&masks, &mut surface);
        assert_eq!(
            surface.instructions.unwrap().as_str(),
            Some("Today is [masked].")
        );
        assert_eq!(
            to_compact(&surface.server_info),
            r#"{"name":"s","version":"1 of [masked]"}"#
        );
    }

    #[test]
    fn a_mask_that_matches_nothing_is_noted() {
        let (_, said) = masked(
            &[mask("tool:b@", None, Some("x"))],
            r#"{"name":"a","description":"x"}"#,
        );
        assert_eq!(said, ["the mask of `tool:b@` (line 3) matches nothing"]);
    }

    #[test]
    fn stars_match_anything() {
        for (pattern, text, matches) in [
            ("*", "tool:a@", true),
            ("tool:*", "tool:a@", true),
            ("tool:*@", "tool:a@1", false),
            ("*a*@*", "tool:a@1", true),
            ("tool:a@", "tool:a@1", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(glob(pattern, text), matches, "{pattern} {text}");
        }
    }
}

//! Signatures: what a component takes and what it gives, in one line of the baseline.
//!
//! `docs/baseline.md` has the grammar, `fixtures/signatures.json` the vectors. The grammar belongs to the scheme: a signature
//! that is in a file is verified, so another grammar needs another name of the scheme.
//!
//! A signature is for reading. What it leaves out (descriptions, patterns, whatever is nested deeper) is covered by the
//! fingerprint beside it.

use crate::canonical::{Json, Object, Text, pointer, to_compact};
use crate::drift::allowed_tools;
use crate::escape;
use crate::surface::{Component, Kind};

/// The most characters of a signature.
const LONGEST: usize = 200;

/// How many schemas are looked at for one signature: references may multiply without end.
const MOST_SCHEMAS: usize = 2_000;

/// How deep arrays, alternatives and references may be nested in each other.
const DEEPEST: usize = 16;

/// The longest default and the longest format that is written.
const LONGEST_DETAIL: usize = 40;

/// The largest integer that every JSON parser reads exactly. Generators write it as a bound where their authors set none.
const LARGEST_SAFE: &str = "9007199254740991";

/// What stands for everything that is left out.
const LEFT_OUT: &str = "…";

/// How much is written. Each is tried in turn until the signature is short enough.
#[derive(Clone, Copy)]
enum Detail {
    /// Types, with the members of objects this many levels deep.
    Types { levels: usize },
    /// Only the names of parameters.
    Names,
}

/// The parts of a signature: `name(parameters) -> result [hints]`.
struct Parts {
    name: String,
    /// `None` for what is not called: resources, templates, skills.
    parameters: Option<Vec<String>>,
    result: Option<String>,
    hints: Vec<String>,
}

/// The signature of a component.
pub fn signature(component: &Component) -> String {
    let details = [
        Detail::Types { levels: 2 },
        Detail::Types { levels: 1 },
        Detail::Types { levels: 0 },
        Detail::Names,
    ];
    let mut parts = parts(component, details[0]);
    for detail in &details[1..] {
        let text = parts.text();
        if is_short(&text) || component.kind != Kind::Tool {
            break;
        }
        parts = self::parts(component, *detail);
    }
    parts.shortened()
}

fn is_short(text: &str) -> bool {
    text.chars().count() <= LONGEST
}

impl Parts {
    fn text(&self) -> String {
        let mut text = self.name.clone();
        if let Some(parameters) = &self.parameters {
            text += &format!("({})", parameters.join(", "));
        }
        if let Some(result) = &self.result {
            text += &format!(" -> {result}");
        }
        if !self.hints.is_empty() {
            text += &format!(" [{}]", self.hints.join(", "));
        }
        text
    }

    /// The text; if it is too long, with as many parameters as there is room for.
    fn shortened(mut self) -> String {
        let whole = self.text();
        if is_short(&whole) {
            return whole;
        }
        if let Some(all) = self.parameters.take() {
            let with = |kept: usize| {
                let first = all[..kept].iter().cloned();
                let parameters = first.chain([LEFT_OUT.to_owned()]).collect();
                self.with_parameters(parameters).text()
            };
            // Each parameter takes three characters at least.
            let most = all.len().min(LONGEST / 3);
            if let Some(kept) = (0..most).rev().find(|kept| is_short(&with(*kept))) {
                return with(kept);
            }
        }
        let beginning: String = whole.chars().take(LONGEST - 1).collect();
        beginning + LEFT_OUT
    }

    fn with_parameters(&self, parameters: Vec<String>) -> Self {
        Self {
            name: self.name.clone(),
            parameters: Some(parameters),
            result: self.result.clone(),
            hints: self.hints.clone(),
        }
    }
}

fn parts(component: &Component, detail: Detail) -> Parts {
    let definition = &component.definition;
    let called = component.key.called();
    let mime_type = || {
        let mime_type = definition.get("mimeType").and_then(Json::as_str);
        mime_type.map(|it| name(it, is_uri_character))
    };
    let uri = Parts {
        name: name(called, is_uri_character),
        parameters: None,
        result: None,
        hints: Vec::new(),
    };
    match component.kind {
        Kind::Tool => Parts {
            name: name(called, is_name_character),
            parameters: Some(tool_parameters(definition.get("inputSchema"), detail)),
            result: definition.get("outputSchema").map(|schema| match detail {
                Detail::Types { levels } => Types::of(schema).text(schema, levels, 0).text,
                Detail::Names => LEFT_OUT.to_owned(),
            }),
            hints: tool_hints(definition),
        },
        Kind::Prompt => Parts {
            name: name(called, is_name_character),
            parameters: Some(prompt_arguments(definition)),
            ..uri
        },
        Kind::Resource | Kind::Template | Kind::Content => Parts {
            result: mime_type(),
            hints: audience(definition),
            ..uri
        },
        Kind::Skill => Parts {
            result: match definition.get("resources") {
                Some(Json::Array(files)) if files.len() == 1 => Some("1 file".to_owned()),
                Some(Json::Array(files)) => Some(format!("{} files", files.len())),
                Some(_) => Some("dynamic".to_owned()),
                None => None,
            },
            hints: skill_hints(definition),
            ..uri
        },
    }
}

/// A name as it is, or as a JSON string if it has other characters than names usually have.
fn name(text: impl Into<Text>, is_usual: fn(char) -> bool) -> String {
    let text = text.into();
    match text.as_str() {
        Some(usual) if !usual.is_empty() && usual.chars().all(is_usual) => {
            escape::line(usual).into_string()
        }
        _ => escape::value(&Json::String(text)).into_string(),
    }
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-./:@#".contains(character)
}

fn is_uri_character(character: char) -> bool {
    character.is_ascii_graphic() && !"\"\\".contains(character)
}

fn is_member_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-.$".contains(character)
}

fn prompt_arguments(definition: &Json) -> Vec<String> {
    let arguments = definition.get("arguments").and_then(Json::as_array);
    let arguments = arguments.unwrap_or_default().iter();
    let written = arguments.map(|argument| {
        let called = argument.get("name").and_then(Json::as_text);
        let called = called.cloned().unwrap_or_else(|| "".into());
        let is_required = argument.get("required") == Some(&Json::Bool(true));
        let mark = if is_required { "" } else { "?" };
        format!("{}{mark}", name(called, is_member_character))
    });
    written.collect()
}

/// The hints that a tool states, in the order of the protocol.
fn tool_hints(definition: &Json) -> Vec<String> {
    let words = [
        ("readOnlyHint", "reads", "writes"),
        ("destructiveHint", "destructive", "not destructive"),
        ("idempotentHint", "idempotent", "not idempotent"),
        ("openWorldHint", "open world", "closed world"),
    ];
    let annotations = definition.get("annotations");
    let stated = words.iter().filter_map(|(hint, yes, no)| {
        let stated = annotations?.get(hint)?.as_bool()?;
        Some(if stated { *yes } else { *no }.to_owned())
    });
    stated.collect()
}

/// The tools that a skill wants to use without being asked.
fn skill_hints(definition: &Json) -> Vec<String> {
    let frontmatter = definition.get("frontmatter");
    let tools = allowed_tools(frontmatter.and_then(|it| it.get("allowed-tools")));
    let tools = tools.iter();
    tools
        .map(|tool| format!("uses {}", name(tool.as_str(), is_member_character)))
        .collect()
}

/// Whom a resource is for.
fn audience(definition: &Json) -> Vec<String> {
    let annotations = definition.get("annotations");
    let audience = annotations.and_then(|it| it.get("audience")?.as_array());
    let roles = audience.unwrap_or_default().iter().filter_map(Json::as_str);
    roles
        .map(|role| format!("for {}", name(role, is_member_character)))
        .collect()
}

fn tool_parameters(schema: Option<&Json>, detail: Detail) -> Vec<String> {
    let Some(schema) = schema else {
        return Vec::new();
    };
    let mut types = Types::of(schema);
    let target = types.target(schema);
    let (Some(target), Detail::Types { levels }) = (target, detail) else {
        let target = target.and_then(Json::as_object);
        let members = target.map(members).unwrap_or_default();
        return members.into_iter().map(|member| member.written()).collect();
    };
    match target.as_object() {
        Some(object) if !has_members(object) && is_alternative(object) => {
            vec![types.text(target, levels, 0).text]
        }
        Some(object) => types.members(object, levels, 0),
        None => Vec::new(),
    }
}

/// One member of an object.
struct Member<'a> {
    name: String,
    schema: &'a Json,
    is_required: bool,
}

impl Member<'_> {
    fn written(&self) -> String {
        let mark = if self.is_required { "" } else { "?" };
        format!("{}{mark}", self.name)
    }
}

/// The declared members of an object, in the order of the schema.
fn members(object: &Object) -> Vec<Member<'_>> {
    let required = object.get("required").and_then(Json::as_array);
    let required = required.unwrap_or_default();
    let required: std::collections::BTreeSet<&str> =
        required.iter().filter_map(Json::as_str).collect();
    let declared = object.get("properties").and_then(Json::as_object);
    let declared = declared.into_iter().flat_map(Object::iter);
    declared
        .map(|(called, schema)| Member {
            name: name(called.clone(), is_member_character),
            schema,
            is_required: called.as_str().is_some_and(|it| required.contains(it)),
        })
        .collect()
}

/// Whether the object says what its members are.
fn has_members(object: &Object) -> bool {
    let is_object = |name: &str| {
        let schema = object.get(name).and_then(Json::as_object);
        schema.is_some_and(|it| !it.is_empty())
    };
    is_object("properties") || is_object("additionalProperties")
}

fn is_alternative(object: &Object) -> bool {
    let all = ["anyOf", "oneOf", "allOf"];
    all.iter().any(|keyword| object.contains(keyword))
}

/// A type as text.
struct Written {
    text: String,
    /// Whether `[]` may follow it without parentheses.
    is_whole: bool,
}

fn whole(text: impl Into<String>) -> Written {
    Written {
        text: text.into(),
        is_whole: true,
    }
}

/// Writes the types of one schema.
struct Types<'a> {
    root: &'a Json,
    schemas: usize,
}

impl<'a> Types<'a> {
    fn of(root: &'a Json) -> Self {
        Self { root, schemas: 0 }
    }

    /// What a schema refers to, or itself; `None` if the reference leads nowhere.
    fn target(&self, schema: &'a Json) -> Option<&'a Json> {
        let mut target = schema;
        for _ in 0..DEEPEST {
            let Some(reference) = target.get("$ref").and_then(Json::as_str) else {
                return Some(target);
            };
            target = pointer::resolve(self.root, reference.strip_prefix('#')?)?;
        }
        None
    }

    fn text(&mut self, schema: &'a Json, levels: usize, depth: usize) -> Written {
        self.schemas += 1;
        if depth >= DEEPEST || self.schemas > MOST_SCHEMAS {
            return whole(LEFT_OUT);
        }
        let Some(schema) = self.target(schema) else {
            return whole("any");
        };
        let object = match schema {
            Json::Bool(false) => return whole("never"),
            Json::Object(object) => object,
            _ => return whole("any"),
        };
        if let Some(value) = object.get("const") {
            return whole(literal(value));
        }
        if let Some(values) = object.get("enum").and_then(Json::as_array) {
            return joined(values.iter().map(literal), " | ");
        }
        let words = match object.get("type") {
            Some(Json::Array(words)) => words.iter().filter_map(Json::as_str).collect(),
            Some(word) => word.as_str().into_iter().collect(),
            None if object.contains("properties") => vec!["object"],
            None if object.contains("items") || object.contains("prefixItems") => vec!["array"],
            None => Vec::new(),
        };
        if words.is_empty() || (words == ["object"] && !has_members(object)) {
            for (keyword, between) in [("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")] {
                if let Some(schemas) = object.get(keyword).and_then(Json::as_array) {
                    return self.each(schemas, between, levels, depth);
                }
            }
        }
        if words.is_empty() {
            return whole("any");
        }
        let mut terms = Vec::new();
        for word in words {
            terms.push(match word {
                "object" => self.object(object, levels, depth),
                "array" => self.array(object, levels, depth),
                _ => scalar(word, object),
            });
        }
        one_of(terms, " | ")
    }

    fn each(&mut self, schemas: &'a [Json], between: &str, levels: usize, depth: usize) -> Written {
        let mut terms: Vec<Written> = Vec::new();
        let mut length = 0;
        for schema in schemas {
            let term = self.text(schema, levels, depth + 1);
            length += term.text.len();
            terms.push(term);
            // Nothing behind it would be shown.
            if length > 4 * LONGEST {
                break;
            }
        }
        one_of(terms, between)
    }

    fn object(&mut self, object: &'a Object, levels: usize, depth: usize) -> Written {
        if levels == 0 || !has_members(object) {
            return whole("object");
        }
        let members = self.members(object, levels - 1, depth + 1);
        whole(format!("{{{}}}", members.join(", ")))
    }

    fn members(&mut self, object: &'a Object, levels: usize, depth: usize) -> Vec<String> {
        let mut written = Vec::new();
        let mut length = 0;
        for member in members(object) {
            let type_ = self.text(member.schema, levels, depth).text;
            let default = default(member.schema);
            let text = format!("{}: {type_}{default}", member.written());
            length += text.len();
            written.push(text);
            if length > 4 * LONGEST {
                return written;
            }
        }
        let others = object.get("additionalProperties");
        if let Some(others) = others.filter(|it| it.as_object().is_some_and(|it| !it.is_empty())) {
            let type_ = self.text(others, levels, depth).text;
            written.push(format!("*: {type_}"));
        }
        written
    }

    fn array(&mut self, object: &'a Object, levels: usize, depth: usize) -> Written {
        let count = range(object, ["minItems", "maxItems"]);
        let tuple = object.get("prefixItems").or(object.get("items"));
        if let Some(items) = tuple.and_then(Json::as_array) {
            let items = self.each(items, ", ", levels, depth);
            return with_facet(format!("[{}]", items.text), &count);
        }
        let item = match object.get("items") {
            Some(item) => self.text(item, levels, depth + 1),
            None => whole("any"),
        };
        let item = if item.is_whole {
            item.text
        } else {
            format!("({})", item.text)
        };
        with_facet(format!("{item}[]"), &count)
    }
}

/// Alternatives, each once.
fn one_of(terms: Vec<Written>, between: &str) -> Written {
    if terms.is_empty() {
        return whole("any");
    }
    let is_tuple = between == ", ";
    let is_whole = terms.iter().all(|term| term.is_whole);
    let mut texts: Vec<String> = Vec::new();
    for term in terms {
        if is_tuple || !texts.contains(&term.text) {
            texts.push(term.text);
        }
    }
    Written {
        is_whole: is_whole && texts.len() == 1,
        text: texts.join(between),
    }
}

fn joined(texts: impl Iterator<Item = String>, between: &str) -> Written {
    let mut terms = Vec::new();
    let mut length = 0;
    for text in texts {
        length += text.len();
        terms.push(whole(text));
        if length > 4 * LONGEST {
            break;
        }
    }
    one_of(terms, between)
}

fn with_facet(text: String, facet: &str) -> Written {
    Written {
        is_whole: facet.is_empty(),
        text: text + facet,
    }
}

/// A value as JSON; long ones are cut, as no longer signature is written anyway.
fn literal(value: &Json) -> String {
    let mut text = escape::value(value).into_string();
    if let Some((end, _)) = text.char_indices().nth(2 * LONGEST) {
        text.truncate(end);
    }
    text
}

/// ` = 3`: what a member is if it is left out. A default of `null` says nothing more than that.
fn default(schema: &Json) -> String {
    match schema.get("default") {
        None | Some(Json::Null) => String::new(),
        Some(value) => {
            let text = to_compact(value);
            let is_short = text.chars().count() <= LONGEST_DETAIL;
            if is_short {
                format!(" = {}", escape::value(value))
            } else {
                format!(" = {LEFT_OUT}")
            }
        }
    }
}

fn scalar(word: &str, object: &Object) -> Written {
    let facets = match word {
        "string" => {
            let format = object.get("format").and_then(Json::as_str);
            let format = format.filter(|it| it.chars().count() <= LONGEST_DETAIL);
            let format = format.map(|it| format!(" {}", name(it, is_member_character)));
            format.unwrap_or_default() + &range(object, ["minLength", "maxLength"])
        }
        "integer" | "number" => {
            let step = object
                .get("multipleOf")
                .map(|it| format!(" by {}", literal(it)));
            range(object, ["minimum", "maximum"]) + &step.unwrap_or_default()
        }
        _ => String::new(),
    };
    with_facet(name(word, is_member_character), &facets)
}

/// ` 1..7`, ` 1..`, ` ..7`; a bound that is itself excluded has `<`: ` 0<..<1`.
fn range(object: &Object, [least, most]: [&str; 2]) -> String {
    let bound = |keyword: &str, exclusive: &str| {
        let number = |keyword: &str| match object.get(keyword) {
            Some(Json::Number(number)) => Some(number.literal().to_owned()),
            _ => None,
        };
        let is_numeric = keyword == "minimum" || keyword == "maximum";
        let is_flag = is_numeric && object.get(exclusive) == Some(&Json::Bool(true));
        let found = match number(exclusive).filter(|_| is_numeric) {
            Some(exclusive) => Some((exclusive, true)),
            None => number(keyword).map(|it| (it, is_flag)),
        };
        found.filter(|(text, _)| text.trim_start_matches('-') != LARGEST_SAFE)
    };
    let lower = bound(least, "exclusiveMinimum");
    let upper = bound(most, "exclusiveMaximum");
    if lower.is_none() && upper.is_none() {
        return String::new();
    }
    let mark = |is_excluded: bool| if is_excluded { "<" } else { "" };
    let lower = lower.map_or_else(String::new, |(text, excluded)| text + mark(excluded));
    let upper = upper.map_or_else(String::new, |(text, excluded)| {
        format!("{}{text}", mark(excluded))
    });
    format!(" {lower}..{upper}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;
    use crate::surface::ComponentKey;
    use proptest::prelude::*;

    fn component(kind: Kind, definition: Json) -> Component {
        Component {
            kind,
            key: ComponentKey::of(kind, &definition),
            definition,
        }
    }

    #[test]
    fn signatures_are_those_of_the_vectors() {
        let vectors = parse_str(include_str!("../../fixtures/signatures.json")).unwrap();
        for vector in vectors.as_array().unwrap() {
            let text = |member: &str| vector.get(member).and_then(Json::as_str).unwrap();
            let kind = text("kind").parse().unwrap();
            let component = component(kind, vector.get("definition").unwrap().clone());
            assert_eq!(
                signature(&component),
                text("signature"),
                "{}",
                text("shows")
            );
        }
    }

    /// Committed signatures are verified, so what is written with an escape must not change. A newer table of Unicode may call
    /// other characters unseen: then the table of this scheme has to be kept, or the scheme needs a new name.
    #[test]
    fn the_characters_that_are_escaped_belong_to_the_scheme() {
        // Every plane with assigned characters but those of ideographs alone.
        let all = (0..0x2_0000)
            .chain(0xe_0000..0xe_1000)
            .filter_map(char::from_u32);
        let unseen: String = all
            .filter(|character| crate::canonical::is_unseen(*character))
            .collect();
        assert_eq!(
            crate::fingerprint::Digest::of(unseen).hex(),
            "0a867d2bfff3a32ca9d8055b2bee57fcad7f6831f28a34c4b54c1dbc9d0924e3"
        );
    }

    #[test]
    fn references_that_multiply_are_bounded() {
        let mut definitions = Vec::new();
        for at in 0..40 {
            let next = format!(r##"{{"$ref": "#/$defs/d{}"}}"##, at + 1);
            definitions.push(format!(r#""d{at}": {{"anyOf": [{next}, {next}, {next}]}}"#));
        }
        let text = format!(
            r##"{{"name": "f", "inputSchema": {{"properties": {{"x": {{"$ref": "#/$defs/d0"}}}}, "$defs": {{{}}}}}}}"##,
            definitions.join(", ")
        );
        let component = component(Kind::Tool, parse_str(&text).unwrap());
        assert_eq!(signature(&component), "f(x?: …)");
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let scalar = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(Json::integer),
            ".{0,12}".prop_map(Json::string),
            prop::sample::select(vec!["string", "object", "array", "#/properties/x", "#"])
                .prop_map(Json::string),
        ];
        let keyword = prop_oneof![
            prop::sample::select(vec![
                "type",
                "properties",
                "items",
                "enum",
                "anyOf",
                "allOf",
                "$ref",
                "required",
                "default",
                "minimum",
                "additionalProperties",
                "x",
            ])
            .prop_map(str::to_owned),
            ".{0,6}",
        ];
        scalar.prop_recursive(5, 60, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
                prop::collection::vec((keyword.clone(), inner), 0..6).prop_map(|members| {
                    let members = members.into_iter();
                    Json::Object(members.map(|(name, value)| (name.into(), value)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_signature_is_one_visible_line_of_at_most_200_characters(schema in any_json(), name in ".{0,20}") {
            for kind in Kind::ALL.iter().copied() {
                let definition = Json::object([
                    (kind.identity(), Json::string(name.as_str())),
                    ("inputSchema", schema.clone()),
                    ("outputSchema", schema.clone()),
                    ("arguments", schema.clone()),
                    ("annotations", schema.clone()),
                    ("frontmatter", schema.clone()),
                ]);
                let text = signature(&component(kind, definition));
                prop_assert!(text.chars().count() <= LONGEST, "{text}");
                prop_assert!(!text.chars().any(crate::canonical::is_unseen), "{text:?}");
            }
        }
    }
}

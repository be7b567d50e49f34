//! Files of mcp-pin (PyPI) and mcp-quality, which keep digests of a server's tools instead of definitions. A source with the
//! definitions is compared with them.

use crate::canonical::writer::{Escape, write_string};
use crate::canonical::{Json, Object, Text, jcs};
use crate::fingerprint::Digest;
use crate::surface::{Component, Kind, Surface};

/// Another tool's digests.
pub(crate) enum Pins {
    /// `.mcp-pin.lock`, by `client:server`.
    McpPin(Object),
    /// `.mcp-quality/snapshot.json`: the tools.
    McpQuality(Object),
}

impl Pins {
    pub(crate) fn recognise(document: &Json) -> Option<Self> {
        let schema = document.get("schema").and_then(Json::as_str);
        if schema.is_some_and(|schema| schema.starts_with("mcp-quality/snapshot@")) {
            let tools = document.get("tools").and_then(Json::as_object)?;
            return Some(Self::McpQuality(tools.clone()));
        }
        let servers = document.get("servers").and_then(Json::as_object)?;
        let is_entry =
            |entry: &Json| entry.get("approved_at").is_some() && entry.get("client").is_some();
        let is_lock = document.get("skills").is_some() && document.get("generated").is_some();
        let mut entries = servers.iter();
        (is_lock && entries.all(|(_, entry)| is_entry(entry)))
            .then(|| Self::McpPin(servers.clone()))
    }

    pub(crate) fn format(&self) -> &'static str {
        match self {
            Self::McpPin(_) => "a lock of mcp-pin",
            Self::McpQuality(_) => "a snapshot of mcp-quality",
        }
    }

    pub(crate) fn records(&self) -> String {
        match self {
            Self::McpPin(_) => "it stores a digest of each tool, prompt and resource and the beginnings of descriptions, but no definitions".to_owned(),
            Self::McpQuality(tools) => format!("it stores half a digest of description and inputSchema of {} tools, but no definitions; output schemas and hints beyond two are not covered", tools.len()),
        }
    }

    /// What it has that no baseline does.
    pub(crate) fn lost(&self) -> Vec<String> {
        let lost: &[&str] = match self {
            Self::McpPin(_) => &[
                "`policy` and `identities`",
                "`artifacts` and `integrity`: digests of the files that are started are for `[server.NAME.verify]`",
                "`skills` of this machine",
                "`resources`: their digests are not compared",
                "`approved_at`, `probe`",
            ],
            Self::McpQuality(_) => &["`family_scores` and `rubric_version`", "`surface_hash`"],
        };
        lost.iter().map(|field| (*field).to_owned()).collect()
    }

    /// The entries, if they are about several servers.
    pub(crate) fn servers(&self) -> Vec<String> {
        match self {
            Self::McpPin(servers) => names(servers),
            Self::McpQuality(_) => Vec::new(),
        }
    }

    /// What of a surface is not as pinned, as sentences.
    pub(crate) fn mismatches(
        &self,
        server: Option<&str>,
        surface: &Surface,
    ) -> Result<Vec<String>, String> {
        match self {
            Self::McpPin(servers) => {
                let is_asked = |key: &str, entry: &Json| match server {
                    Some(name) => {
                        key == name || entry.get("name").and_then(Json::as_str) == Some(name)
                    }
                    None => true,
                };
                let found: Vec<&Json> = servers
                    .iter()
                    .filter(|(key, entry)| is_asked(key.to_string_lossy(), entry))
                    .map(|(_, entry)| entry)
                    .collect();
                match found[..] {
                    [entry] => Ok(of_mcp_pin(entry, surface)),
                    _ => Err(format!(
                        "name one of its servers with --server: {}",
                        names(servers).join(", ")
                    )),
                }
            }
            Self::McpQuality(tools) => Ok(of_mcp_quality(tools, surface)),
        }
    }
}

fn names(object: &Object) -> Vec<String> {
    let names = object.iter().map(|(name, _)| name.to_string_lossy());
    names.map(str::to_owned).collect()
}

fn hex(text: &str) -> String {
    Digest::of(text).hex()
}

/// Names that one side has and the other lacks, and those whose digests differ.
fn compare(
    pinned: &Object,
    kind: Kind,
    surface: &Surface,
    is_pinned: impl Fn(&Json, &Component) -> bool,
) -> Vec<String> {
    let name_of = |component: &Component| {
        let name = component.definition.get(kind.identity());
        name.and_then(Json::as_str).unwrap_or_default().to_owned()
    };
    let noun = kind.noun();
    let mut mismatches = Vec::new();
    let mut live = Vec::new();
    for component in surface.of_kind(kind) {
        let name = name_of(component);
        match pinned.get(&name) {
            None => mismatches.push(format!("{noun} {name}: not pinned")),
            Some(pin) if !is_pinned(pin, component) => {
                mismatches.push(format!("{noun} {name}: not as pinned"));
            }
            Some(_) => {}
        }
        live.push(name);
    }
    let gone = names(pinned)
        .into_iter()
        .filter(|name| !live.contains(name));
    mismatches.extend(gone.map(|name| format!("{noun} {name}: pinned, and the source lacks it")));
    mismatches
}

fn of_mcp_pin(entry: &Json, surface: &Surface) -> Vec<String> {
    let mut mismatches = Vec::new();
    let digest_is = |pin: &Json, digest: Option<String>| {
        digest.is_some() && pin.get("fingerprint").and_then(Json::as_str) == digest.as_deref()
    };
    let pinned = |member: &str| entry.get(member).and_then(Json::as_object);
    if let Some(tools) = pinned("tools") {
        mismatches.extend(compare(tools, Kind::Tool, surface, |pin, tool| {
            let body = mcp_pin_tool(&tool.definition);
            digest_is(pin, jcs::to_string(&body).ok().map(|text| hex(&text)))
        }));
    }
    if let Some(prompts) = pinned("prompts") {
        mismatches.extend(compare(prompts, Kind::Prompt, surface, |pin, prompt| {
            let definition = &prompt.definition;
            let arguments = definition.get("arguments").cloned();
            let mut body = strings(
                definition,
                &[
                    ("name", "name"),
                    ("title", "title"),
                    ("description", "description"),
                ],
            );
            body.push("arguments", arguments.unwrap_or(Json::Array(Vec::new())));
            add_list(&mut body, "icons", definition);
            digest_is(
                pin,
                Some(hex(&python(&Json::Object(body), Python::Compact))),
            )
        }));
    }
    if let Some(instructions) = entry.get("instructions") {
        let live = surface.instructions.as_ref().and_then(Text::as_str);
        if !digest_is(instructions, Some(hex(live.unwrap_or_default()))) {
            mismatches.push("the instructions: not as pinned".to_owned());
        }
    }
    mismatches
}

/// Members that are strings, empty ones for those that are missing, under the names that a digest covers.
fn strings(definition: &Json, members: &[(&'static str, &str)]) -> Object {
    let mut body = Object::new();
    for (name, member) in members {
        let text = definition.get(member).and_then(Json::as_text).cloned();
        body.push(*name, Json::String(text.unwrap_or_else(|| Text::from(""))));
    }
    body
}

fn add_list(body: &mut Object, member: &'static str, definition: &Json) {
    if let Some(Json::Array(items)) = definition.get(member)
        && !items.is_empty()
    {
        body.push(member, Json::Array(items.clone()));
    }
}

fn mcp_pin_tool(definition: &Json) -> Json {
    let object = |member: &str| match definition.get(member) {
        Some(Json::Object(object)) => Json::Object(object.clone()),
        _ => Json::object([]),
    };
    let mut body = strings(
        definition,
        &[
            ("name", "name"),
            ("title", "title"),
            ("description", "description"),
        ],
    );
    body.push("input_schema", object("inputSchema"));
    body.push("annotations", object("annotations"));
    if let Json::Object(output) = object("outputSchema")
        && !output.is_empty()
    {
        body.push("output_schema", Json::Object(output));
    }
    add_list(&mut body, "icons", definition);
    Json::Object(body)
}

fn of_mcp_quality(tools: &Object, surface: &Surface) -> Vec<String> {
    /// Digests are cut to this many digits.
    const DIGITS: usize = 16;
    compare(tools, Kind::Tool, surface, |pin, tool| {
        let description = tool.definition.get("description").and_then(Json::as_str);
        let schema = tool.definition.get("inputSchema");
        let schema = python(schema.unwrap_or(&Json::object([])), Python::Spaced);
        let is = |member: &str, text: &str| {
            let pinned = pin.get(member).and_then(Json::as_str);
            pinned == hex(text).get(..DIGITS)
        };
        is("description_hash", description.unwrap_or_default()) && is("schema_hash", &schema)
    })
}

/// How Python's `json.dumps(value, sort_keys=True, …)` is called.
#[derive(Clone, Copy)]
enum Python {
    /// `separators=(",", ":"), ensure_ascii=False`
    Compact,
    /// Without more: a space after each separator, and ASCII only.
    Spaced,
}

fn python(value: &Json, form: Python) -> String {
    let mut out = String::new();
    write_python(&mut out, value, form);
    out
}

fn write_python(out: &mut String, value: &Json, form: Python) {
    let (comma, colon, escape) = match form {
        Python::Compact => (",", ":", Escape::Needed),
        Python::Spaced => (", ", ": ", Escape::Ascii),
    };
    match value {
        Json::String(text) => write_string(out, text, escape),
        Json::Number(number) => match number.to_python() {
            Some(text) => out.push_str(&text),
            None => out.push_str(number.literal()),
        },
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(comma);
                }
                write_python(out, item, form);
            }
            out.push(']');
        }
        Json::Object(object) => {
            out.push('{');
            for (index, (name, value)) in object.by_name().into_iter().enumerate() {
                if index > 0 {
                    out.push_str(comma);
                }
                write_string(out, name, escape);
                out.push_str(colon);
                write_python(out, value, form);
            }
            out.push('}');
        }
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
    }
}

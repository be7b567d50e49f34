//! FastMCP's documented fingerprint recipe, computed from the wire.
//!
//! The recipe hashes `{"key": tool.key, "inputSchema": dumped["inputSchema"]}` in Python's JSON.
//! Its custom variants add `dumped.get(field)`, which is `null` (not missing) if the tool has no
//! such member. Releases 3.0 to 4.1 agree on it.

use crate::canonical::python::{NonFinite, dumps};
use crate::canonical::{Json, Object};
use crate::fingerprint::{Digest, Refusal};
use crate::interop::digest::{DigestScheme, Hashes};
use crate::keyword_enum::keyword_enum;
use crate::surface::Component;

/// FastMCP's row in the table of schemes.
pub const SCHEME: DigestScheme = DigestScheme {
    name: "fastmcp",
    covers: "tool.key, inputSchema, and what --fields adds",
    form: "Python json.dumps, ASCII, numbers as CPython prints them, beyond a double null",
    order: "code points",
    absent: "inputSchema is required; a missing or null field of --fields is null, an empty one is kept",
    is_python: true,
    hashes: Hashes::ToolsWithFields(digest),
};

/// A member that a custom variant of the recipe adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Description,
    OutputSchema,
    Annotations,
    Meta,
    Title,
    Icons,
    Execution,
}

keyword_enum!(Field {
    Description = "description",
    OutputSchema = "outputSchema",
    Annotations = "annotations",
    Meta = "_meta",
    Title = "title",
    Icons = "icons",
    Execution = "execution",
});

/// The recipe's digest of one tool.
pub fn digest(tool: &Component, fields: &[Field]) -> Result<Digest, Refusal> {
    let refuse = |reason: String| Refusal {
        component: tool.key.to_string(),
        reason,
    };
    let payload = payload(tool, fields).map_err(refuse)?;
    let text = dumps(&payload, NonFinite::Null).map_err(|error| refuse(error.to_string()))?;
    Ok(Digest::of(text))
}

fn payload(tool: &Component, fields: &[Field]) -> Result<Json, String> {
    let definition = &tool.definition;
    // FastMCP first builds the MCP model of a tool, which rejects these.
    let is_string = |value: &Json| matches!(value, Json::String(_));
    let is_object = |value: &Json| matches!(value, Json::Object(_));
    member(definition, "name", "a string", is_string)?
        .ok_or("FastMCP rejects a tool without a `name`")?;
    member(definition, "description", "a string", is_string)?;
    let input = member(definition, "inputSchema", "an object", is_object)?
        .ok_or("FastMCP rejects a tool without an `inputSchema` object")?;
    member(definition, "outputSchema", "an object", is_object)?;
    member(definition, "annotations", "an object", is_object)?;

    let mut payload = Object::new();
    payload.push("key", Json::string(tool.key.as_str()));
    payload.push("inputSchema", input.clone());
    for field in fields {
        let value = match (field, definition.get(field.word())) {
            (_, None | Some(Json::Null)) => Json::Null,
            (Field::Annotations, Some(value)) => without_nulls(value),
            (Field::Meta, Some(value)) => as_on_the_server(value),
            (_, Some(value)) => value.clone(),
        };
        payload.push(field.word(), value);
    }
    let payload = Json::Object(payload);
    if has_lone_surrogate_name(&payload) {
        return Err("a member name contains a lone surrogate, which FastMCP rejects".to_owned());
    }
    Ok(payload)
}

/// A member that may be missing or null, but otherwise must be `expected`.
fn member<'a>(
    definition: &'a Json,
    name: &str,
    expected: &str,
    fits: impl Fn(&Json) -> bool,
) -> Result<Option<&'a Json>, String> {
    match definition.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) if fits(value) => Ok(Some(value)),
        Some(value) => Err(format!(
            "`{name}` is {}, but FastMCP requires {expected}",
            value.kind()
        )),
    }
}

/// Annotations are a separate model, dumped without null members.
fn without_nulls(value: &Json) -> Json {
    let mut value = value.clone();
    if let Json::Object(object) = &mut value {
        object.retain(|_, member| *member != Json::Null);
    }
    value
}

/// `tools/list` adds `_meta.fastmcp.versions`, which the server-side recipe does not have.
fn as_on_the_server(meta: &Json) -> Json {
    let mut meta = meta.clone();
    if let Json::Object(object) = &mut meta
        && let Some(Json::Object(fastmcp)) = object.get_mut("fastmcp")
    {
        fastmcp.retain(|name, _| name != "versions");
    }
    meta
}

fn has_lone_surrogate_name(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.iter().any(has_lone_surrogate_name),
        Json::Object(object) => object
            .iter()
            .any(|(name, value)| name.has_lone_surrogate() || has_lone_surrogate_name(value)),
        _ => false,
    }
}

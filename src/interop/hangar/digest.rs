//! MCP Hangar's tool digests. Two incompatible ones have had that name: release 1.2.0 hashed
//! Python's JSON, every release since hashes RFC 8785 and omits empty members. For ordinary ASCII
//! tools they agree, so testing with those proves nothing.

use crate::canonical::python::{NonFinite, dumps};
use crate::canonical::{Json, Object, jcs};
use crate::fingerprint::{Digest, Refusal};
use crate::interop::digest::{DigestScheme, Hashes};
use crate::surface::Component;

/// Since 1.2.1: RFC 8785 over the members that are not empty.
pub const SCHEME: DigestScheme = DigestScheme {
    name: "hangar",
    covers: "name, description, inputSchema, outputSchema",
    form: "RFC 8785, numbers as doubles; rejects numbers beyond a double and lone surrogates",
    order: "UTF-16 units",
    absent: "missing, null, empty string, array and object are omitted; false and 0 are kept",
    is_python: true,
    hashes: Hashes::Tools(|tool| digest(tool).map(Some)),
};

/// The half without the description.
pub const STRUCTURE: DigestScheme = DigestScheme {
    name: "hangar-structure",
    covers: "name, inputSchema, outputSchema",
    form: "as hangar",
    order: "UTF-16 units",
    absent: "as hangar",
    is_python: true,
    hashes: Hashes::Tools(|tool| structure(tool).map(Some)),
};

/// The description alone.
pub const DESCRIPTION: DigestScheme = DigestScheme {
    name: "hangar-description",
    covers: "description",
    form: "its UTF-8 bytes",
    order: "none",
    absent: "a tool without a description has no digest",
    is_python: true,
    hashes: Hashes::Tools(description),
};

/// 1.2.0: Python's JSON over the members that are not null.
pub const RELEASE_1_2_0: DigestScheme = DigestScheme {
    name: "hangar-1.2.0",
    covers: "name, description, inputSchema, outputSchema",
    form: "Python json.dumps, ASCII, beyond a double Infinity",
    order: "code points",
    absent: "missing and null are omitted, empty is kept",
    is_python: true,
    hashes: Hashes::Tools(|tool| digest_1_2_0(tool).map(Some)),
};

/// The members besides the name that Hangar's digests cover. Annotations, title, `_meta` and the
/// rest are ignored.
const FACETS: [&str; 3] = ["description", "inputSchema", "outputSchema"];

/// The digest of releases 1.2.1 and later.
pub fn digest(tool: &Component) -> Result<Digest, Refusal> {
    jcs_of(tool, &FACETS)
}

/// The half without the description (2.28.0 and later).
pub fn structure(tool: &Component) -> Result<Digest, Refusal> {
    jcs_of(tool, &["inputSchema", "outputSchema"])
}

/// The description alone: its bytes, not JSON. A tool without one (or with one that is not a
/// string) has none.
pub fn description(tool: &Component) -> Result<Option<Digest>, Refusal> {
    required_name(tool)?;
    match tool.definition.get("description") {
        Some(Json::String(text)) if text.has_lone_surrogate() => Err(refuse(
            tool,
            "`description` contains a lone surrogate, which has no UTF-8 form",
        )),
        Some(Json::String(text)) => {
            let text = text.to_string_lossy();
            Ok((!text.is_empty()).then(|| Digest::of(text)))
        }
        _ => Ok(None),
    }
}

/// The digest of release 1.2.0: Python's `json.dumps`, with every member that is not null.
pub fn digest_1_2_0(tool: &Component) -> Result<Digest, Refusal> {
    let name = tool.definition.get("name").filter(|name| is_truthy(name));
    let name = name.ok_or_else(|| refuse(tool, "Hangar rejects a tool without a `name`"))?;
    let mut payload = Object::new();
    payload.push("name", name.clone());
    for member in FACETS {
        match tool.definition.get(member) {
            None | Some(Json::Null) => {}
            Some(value) => payload.push(member, value.clone()),
        }
    }
    let text = dumps(&Json::Object(payload), NonFinite::Infinity)
        .map_err(|error| refuse(tool, &error.to_string()))?;
    Ok(Digest::of(text))
}

fn jcs_of(tool: &Component, members: &[&str]) -> Result<Digest, Refusal> {
    let mut payload = Object::new();
    payload.push("name", required_name(tool)?.clone());
    for member in members {
        match tool.definition.get(member) {
            None => {}
            Some(value) if is_empty(value) => {}
            Some(value) => payload.push(*member, value.clone()),
        }
    }
    let text =
        jcs::to_string(&Json::Object(payload)).map_err(|error| refuse(tool, &error.to_string()))?;
    Ok(Digest::of(text))
}

fn required_name(tool: &Component) -> Result<&Json, Refusal> {
    match tool.definition.get("name") {
        Some(name @ Json::String(text)) if !text.to_string_lossy().is_empty() => Ok(name),
        _ => Err(refuse(
            tool,
            "Hangar rejects a tool whose `name` is not a non-empty string",
        )),
    }
}

/// Null, and the containers and strings that Hangar considers empty. `false` and `0` are not empty.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.to_string_lossy().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Python's `bool(value)`.
fn is_truthy(value: &Json) -> bool {
    match value {
        Json::Bool(value) => *value,
        Json::Number(number) => number.to_f64() != 0.0,
        other => !is_empty(other),
    }
}

fn refuse(tool: &Component, reason: &str) -> Refusal {
    Refusal {
        component: tool.key.to_string(),
        reason: reason.to_owned(),
    }
}

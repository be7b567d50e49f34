//! ToolPin's three digests of a whole tool list. Single tools have no digest: this convention can
//! show that a surface changed, and which half of it, but never which tool.

use std::cmp::Ordering;

use super::{canonical, locale};
use crate::canonical::{Json, Object, Text};
use crate::fingerprint::{Digest, Refusal};
use crate::interop::digest::{self as schemes, DigestScheme};
use crate::surface::{Component, Kind, Surface};

/// ToolPin's row in the table of schemes.
pub const SCHEME: DigestScheme = DigestScheme {
    name: "toolpin",
    covers: "name, description, inputSchema of all tools together",
    form: "JSON.stringify after NFC of names, numbers as doubles, beyond a double null",
    order: "names by UTF-16 unit after array indices; tools by localeCompare in en-US (surface: by UTF-16 unit)",
    absent: "description and manifest: missing and null count as empty; surface: all differ",
    is_python: false,
    hashes: schemes::Hashes::List(named_hashes),
};

fn named_hashes(surface: &Surface) -> Result<schemes::NamedDigests, Refusal> {
    let hashes = hashes(surface)?;
    Ok(vec![
        ("toolDescriptionHash", hashes.description),
        ("toolManifestHash", hashes.manifest),
        ("toolSurfaceHash", hashes.surface),
    ])
}

/// The digests of a tool list, and how many tools they cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// `toolDescriptionHash`: names and descriptions.
    pub description: Digest,
    /// `toolManifestHash`: with the input schemas. A missing, null or empty member counts as empty.
    pub manifest: Digest,
    /// `toolSurfaceHash`: the same members, each only if it was sent.
    pub surface: Digest,
    pub tools: usize,
}

/// What `toolSurfaceHash` states that it covers.
pub const COVERAGE: [&str; 3] = ["name", "description", "inputSchema"];

/// All three digests of the tools of a surface, in the order listed.
pub fn hashes(surface: &Surface) -> Result<Hashes, Refusal> {
    let tools: Vec<&Component> = surface.of_kind(Kind::Tool).collect();
    Ok(Hashes {
        description: description_hash(&tools)?,
        manifest: manifest_hash(&tools)?,
        surface: surface_hash(&tools)?,
        tools: tools.len(),
    })
}

fn description_hash(tools: &[&Component]) -> Result<Digest, Refusal> {
    let record = |tool: &Component| {
        let mut record = named(tool);
        record.push("description", or(tool, "description", Json::string("")));
        record
    };
    of_records(tools, record, locale::compare_text)
}

fn manifest_hash(tools: &[&Component]) -> Result<Digest, Refusal> {
    let record = |tool: &Component| {
        let mut record = named(tool);
        record.push("description", or(tool, "description", Json::string("")));
        record.push("inputSchema", or(tool, "inputSchema", Json::object([])));
        record
    };
    of_records(tools, record, locale::compare_text)
}

fn surface_hash(tools: &[&Component]) -> Result<Digest, Refusal> {
    of_records(tools, |tool| covered(tool, &COVERAGE), Text::cmp_utf16)
}

/// `toolSurfaceHash` over fewer members than usual.
pub(crate) fn surface_hash_over(surface: &Surface, coverage: &[&str]) -> Result<Digest, Refusal> {
    let tools: Vec<&Component> = surface.of_kind(Kind::Tool).collect();
    of_records(&tools, |tool| covered(tool, coverage), Text::cmp_utf16)
}

/// A tool with only these members, if it has them.
pub(crate) fn covered(tool: &Component, coverage: &[&str]) -> Object {
    let mut record = Object::new();
    for member in coverage {
        if let Some(value) = tool.definition.get(member) {
            record.push(*member, value.clone());
        }
    }
    record
}

fn of_records(
    tools: &[&Component],
    record: impl Fn(&Component) -> Object,
    order: impl Fn(&Text, &Text) -> Ordering,
) -> Result<Digest, Refusal> {
    let sorted = sorted(tools, order)?;
    let mut text = String::from("[");
    for (index, tool) in sorted.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        // One by one, so that an error can name the tool.
        let record = canonical::to_string(&Json::Object(record(tool)));
        text.push_str(&record.map_err(|error| refuse(tool, error.to_string()))?);
    }
    text.push(']');
    Ok(Digest::of(text))
}

/// The tools by name; those that compare equal stay in the order listed.
pub(crate) fn sorted<'a>(
    tools: &[&'a Component],
    order: impl Fn(&Text, &Text) -> Ordering,
) -> Result<Vec<&'a Component>, Refusal> {
    let mut named = Vec::with_capacity(tools.len());
    for tool in tools {
        match tool.definition.get("name") {
            Some(Json::String(name)) => named.push((name.clone(), *tool)),
            // ToolPin never compares a single tool, so it does not notice.
            _ if tools.len() == 1 => return Ok(vec![*tool]),
            _ => {
                let reason = "ToolPin cannot sort a tool whose `name` is not a string";
                return Err(refuse(tool, reason.to_owned()));
            }
        }
    }
    named.sort_by(|(one, _), (other, _)| order(one, other));
    Ok(named.into_iter().map(|(_, tool)| tool).collect())
}

fn named(tool: &Component) -> Object {
    covered(tool, &["name"])
}

/// `tool.member ?? otherwise`
fn or(tool: &Component, member: &str, otherwise: Json) -> Json {
    match tool.definition.get(member) {
        None | Some(Json::Null) => otherwise,
        Some(value) => value.clone(),
    }
}

fn refuse(tool: &Component, reason: String) -> Refusal {
    Refusal {
        component: tool.key.to_string(),
        reason,
    }
}

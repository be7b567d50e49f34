//! The digest of one link: kiwi-mcp's canonical payload in Python's JSON.

use super::Variant;
use exact_json::python::{NonFinite, dumps};
use exact_json::{Json, Text};

/// Why a link has no digest. Inputs that the original rejects are rejected here too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// The hexadecimal digest of `{"tool_id", "version", "manifest", "files"}`, files sorted by path
/// and reduced to what `variant` covers.
///
/// A missing version counts as `0.0.0`, a missing manifest as `{}`; `null` counts as `null`. The
/// files are the member `files`, or `file_hashes` if that is missing or empty.
pub fn integrity(link: &Json, variant: Variant) -> Result<String, Refused> {
    let member = |name: &str, otherwise: Json| link.get(name).cloned().unwrap_or(otherwise);
    let payload = Json::object([
        ("tool_id", member("tool_id", Json::string("unknown"))),
        ("version", member("version", Json::string("0.0.0"))),
        ("manifest", member("manifest", Json::object([]))),
        ("files", Json::Array(files(link, variant)?)),
    ]);
    let text = dumps(&payload, NonFinite::Infinity).map_err(|error| Refused(error.to_string()))?;
    Ok(crate::sha256_hex(text))
}

fn files(link: &Json, variant: Variant) -> Result<Vec<Json>, Refused> {
    let listed = ["files", "file_hashes"]
        .into_iter()
        .filter_map(|name| link.get(name))
        .find(|files| {
            !matches!(files, Json::Null) && files.as_array().is_none_or(|it| !it.is_empty())
        });
    let Some(listed) = listed else {
        return Ok(Vec::new());
    };
    let listed = listed
        .as_array()
        .ok_or_else(|| Refused(format!("the files are {}, not an array", listed.kind())))?;
    let mut files = Vec::new();
    for file in listed {
        let path = match file.get("path") {
            None => Text::from(""),
            Some(Json::String(path)) => path.clone(),
            Some(other) => return Err(Refused(format!("a file's path is {}", other.kind()))),
        };
        if file.as_object().is_none() {
            return Err(Refused(format!("a file is {}, not an object", file.kind())));
        }
        let sha256 = file.get("sha256").cloned().unwrap_or(Json::string(""));
        let executable = file
            .get("is_executable")
            .cloned()
            .unwrap_or(Json::Bool(false));
        files.push((path, sha256, executable));
    }
    // By code point, as Python sorts; files with the same path keep their order.
    files.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(files
        .into_iter()
        .map(|(path, sha256, executable)| {
            let mut members = vec![("path", Json::String(path)), ("sha256", sha256)];
            if variant == Variant::Documented {
                members.push(("is_executable", executable));
            }
            Json::object(members)
        })
        .collect())
}

/// The digest of kiwi-mcp's other two kinds of item, a directive (`directive_name`, `version`,
/// `xml_content`, `metadata`) or a piece of knowledge (`id`, `version`, `content`, `metadata`; in
/// the first version `zettel_id` and `frontmatter`); `None` for anything else.
pub fn document_integrity(item: &Json) -> Option<Result<String, Refused>> {
    let (id, content, hash, extra) = if item.get("directive_name").is_some() {
        ("directive_name", "xml_content", "xml_hash", "metadata")
    } else if item.get("zettel_id").is_some() {
        ("zettel_id", "content", "content_hash", "frontmatter")
    } else if item.get("id").is_some() && item.get("content").is_some() {
        ("id", "content", "content_hash", "metadata")
    } else {
        return None;
    };
    let Some(text) = item.get(content).and_then(Json::as_str) else {
        return Some(Err(Refused(format!("`{content}` must be a string"))));
    };
    let mut members = match item.get(extra) {
        Some(Json::Object(object)) => object.clone(),
        _ => exact_json::Object::new(),
    };
    // A piece of knowledge contains its own digest, which the digest cannot cover.
    if content == "content" {
        members.retain(|name, _| {
            !["validated_at", "content_hash", "integrity"].contains(&name.to_string_lossy())
        });
    }
    let member = |name: &str| item.get(name).cloned().unwrap_or(Json::Null);
    let payload = Json::object([
        (id, member(id)),
        ("version", member("version")),
        (hash, Json::string(crate::sha256_hex(text))),
        (extra, Json::Object(members)),
    ]);
    let printed = dumps(&payload, NonFinite::Infinity).map_err(|error| Refused(error.to_string()));
    Some(printed.map(crate::sha256_hex))
}

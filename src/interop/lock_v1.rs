//! The vendor-neutral draft `mcp-lock/1`: read and verified by its own rules, which are stricter
//! than ToolPin's.

use std::collections::BTreeSet;

use super::toolpin::canonical;
use super::toolpin::digest::{covered, sorted};
use super::toolpin::lock::LockError;
use super::toolpin::targets::is_oci_pin;
use crate::canonical::{Json, Object, jcs};
use crate::fingerprint::Refusal;
use crate::surface::{Component, Kind, Surface};
use contract_locks::sri;

#[derive(Clone, Debug)]
pub struct LockV1 {
    document: Json,
}

/// A rule of the draft that a document breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule, such as `integrity-mismatch`.
    pub code: String,
    /// Where, as a JSONPath.
    pub path: String,
}

impl LockV1 {
    /// From a document. Two names that are the same once normalised are rejected here, before any
    /// digest.
    pub fn read(document: &Json) -> Result<Self, LockError> {
        refuse_duplicates(document)?;
        Ok(Self {
            document: document.clone(),
        })
    }

    pub fn entries(&self) -> &[Json] {
        self.document
            .get("entries")
            .and_then(Json::as_array)
            .unwrap_or_default()
    }

    /// The digest of the whole lock: everything but the two times at the top.
    pub fn digest(&self) -> Result<String, LockError> {
        let mut covered = Object::new();
        for member in ["specVersion", "entries", "extensions"] {
            if let Some(value) = self.document.get(member) {
                covered.push(member, value.clone());
            }
        }
        digest_of(&Json::Object(covered))
    }

    /// Every rule of the draft that the document breaks.
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        let mut add = |code: &str, path: String| {
            found.push(Violation {
                code: code.to_owned(),
                path,
            });
        };
        let version = self.document.get("specVersion");
        if !matches!(version, Some(Json::Number(number)) if number.to_f64() == 1.0) {
            add("unsupported-spec-version", "$.specVersion".to_owned());
        }
        if self
            .document
            .get("entries")
            .and_then(Json::as_array)
            .is_none()
        {
            add("missing-field:entries", "$.entries".to_owned());
        }
        let mut identities = BTreeSet::new();
        for (index, entry) in self.entries().iter().enumerate() {
            let at = format!("$.entries[{index}]");
            entry_violations(entry, &at, &mut add);
            let text = |member: &str| entry.get(member).and_then(Json::as_str).unwrap_or_default();
            let scope = entry
                .get("scope")
                .and_then(Json::as_str)
                .unwrap_or("project");
            if !identities.insert((text("name"), text("client"), scope)) {
                add("duplicate-entry-identity", at);
            }
        }
        found
    }
}

/// The digest that an entry should state.
pub fn entry_integrity(entry: &Json) -> Result<String, LockError> {
    let mut covered = entry.clone();
    if let Json::Object(members) = &mut covered {
        members.retain(|name, _| name != "integrity");
    }
    digest_of(&covered)
}

/// The draft's digest of a tool list, over the members in `coverage`.
pub fn surface_hash(surface: &Surface, coverage: &[&str]) -> Result<String, Refusal> {
    let tools: Vec<&Component> = surface.of_kind(Kind::Tool).collect();
    let mut text = String::from("[");
    for (index, tool) in sorted(&tools, |one, other| one.cmp_utf16(other))?
        .into_iter()
        .enumerate()
    {
        if index > 0 {
            text.push(',');
        }
        // The reference implementation prints strings with JSON.stringify, which accepts lone
        // surrogates.
        let record = Json::Object(covered(tool, coverage));
        let record = jcs::to_string_lenient(&record).map_err(|error| Refusal {
            component: tool.key.to_string(),
            reason: error.to_string(),
        })?;
        text.push_str(&record);
    }
    text.push(']');
    Ok(sri(&text))
}

fn digest_of(value: &Json) -> Result<String, LockError> {
    match jcs::to_string_lenient(value) {
        Ok(text) => Ok(sri(&text)),
        Err(error) => Err(LockError(error.to_string())),
    }
}

fn refuse_duplicates(value: &Json) -> Result<(), LockError> {
    match value {
        Json::Array(items) => items.iter().try_for_each(refuse_duplicates),
        Json::Object(object) => {
            let mut seen = BTreeSet::new();
            let repeated = object
                .iter()
                .map(|(name, _)| name)
                .find(|name| !seen.insert(*name));
            let duplicate = repeated
                .cloned()
                .or_else(|| canonical::duplicate_after_nfc(object));
            if let Some(name) = duplicate {
                return Err(LockError(format!(
                    "duplicate member name after NFC normalization: {}",
                    Json::String(name)
                )));
            }
            object
                .iter()
                .try_for_each(|(_, value)| refuse_duplicates(value))
        }
        _ => Ok(()),
    }
}

fn is_digest(value: &Json) -> bool {
    let base64 = value.as_str().and_then(|it| it.strip_prefix("sha256-"));
    base64.is_some_and(|it| {
        let body = it.trim_end_matches('=');
        it.len() - body.len() <= 2
            && !body.is_empty()
            && body
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
    })
}

fn entry_violations(entry: &Json, at: &str, add: &mut dyn FnMut(&str, String)) {
    let required = [
        "name",
        "version",
        "client",
        "source",
        "target",
        "configDigest",
        "resolvedAt",
        "lockedAt",
        "integrity",
    ];
    for member in required {
        if entry.get(member).is_none() {
            add(&format!("missing-field:{member}"), format!("{at}.{member}"));
        }
    }
    for member in ["configDigest", "integrity"] {
        if entry.get(member).is_some_and(|it| !is_digest(it)) {
            add("bad-digest-format", format!("{at}.{member}"));
        }
    }
    if let Some(target) = entry.get("target") {
        target_violations(target, at, add);
    }
    if let Some(surface) = entry.get("surface") {
        let fields: Vec<&str> = surface
            .get("coverage")
            .and_then(Json::as_array)
            .map(|fields| {
                fields
                    .iter()
                    .map(|it| it.as_str().unwrap_or_default())
                    .collect()
            })
            .unwrap_or_default();
        let known = ["name", "description", "inputSchema"];
        let covers = ["name", "description"].iter().all(|it| fields.contains(it));
        if !covers || !fields.iter().all(|it| known.contains(it)) {
            add("surface-coverage-invalid", format!("{at}.surface.coverage"));
        }
        if surface.get("hash").is_none_or(|it| !is_digest(it)) {
            add("bad-digest-format", format!("{at}.surface.hash"));
        }
    }
    if let Some(stored) = entry.get("integrity").filter(|it| is_digest(it)) {
        let computed = entry_integrity(entry);
        if computed.is_ok_and(|computed| stored.as_str() != Some(computed.as_str())) {
            add("integrity-mismatch", format!("{at}.integrity"));
        }
    }
}

fn target_violations(target: &Json, at: &str, add: &mut dyn FnMut(&str, String)) {
    let text = |member: &str| {
        target
            .get(member)
            .and_then(Json::as_str)
            .unwrap_or_default()
    };
    match text("type") {
        "package" => {
            if text("registryType") == "oci" && !is_oci_pin(text("identifier")) {
                add("oci-mutable-identifier", format!("{at}.target.identifier"));
            }
            if let Some(artifact) = target.get("artifact")
                && artifact.get("digest").is_none_or(|it| !is_digest(it))
            {
                add("bad-digest-format", format!("{at}.target.artifact.digest"));
            }
        }
        "remote" => {
            if !text("url").starts_with("https://") {
                add("remote-url-not-https", format!("{at}.target.url"));
            }
            let is_name = |it: &Json| {
                it.as_str().is_some_and(|name| {
                    name.starts_with(|it: char| it.is_ascii_uppercase())
                        && name
                            .bytes()
                            .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_')
                })
            };
            let names = target.get("headerSecretNames");
            if names.is_some_and(|it| !it.as_array().is_some_and(|it| it.iter().all(is_name))) {
                add(
                    "header-secret-not-a-name",
                    format!("{at}.target.headerSecretNames"),
                );
            }
        }
        _ => add("unknown-target-type", format!("{at}.target.type")),
    }
}

//! Which tool a file belongs to, and what it holds.

use std::collections::BTreeMap;

use super::fastmcp::FlatManifest;
use super::hangar::Pins;
use super::lock_v1::LockV1;
use super::toolpin::lock::{LockError, ToolPinLock};
use crate::canonical::Json;

#[derive(Clone, Debug)]
pub enum Contents {
    /// FastMCP's flat manifest.
    FastMcp(FlatManifest),
    /// MCP Hangar's pins, by server.
    Hangar(BTreeMap<String, Pins>),
    /// ToolPin's lock, version 2.
    ToolPin(ToolPinLock),
    /// The vendor-neutral draft.
    LockV1(LockV1),
}

impl Contents {
    /// Detects a document by its members; `None` if it belongs to none of these tools. A document
    /// that does but is invalid is an error in that tool's words.
    pub fn recognise(document: &Json, path: &str) -> Option<Result<Self, LockError>> {
        if document.get("lockfileVersion").is_some() && document.get("lockfile_version").is_none() {
            return Some(ToolPinLock::read(document, path).map(Self::ToolPin));
        }
        if document.get("specVersion").is_some() && document.get("entries").is_some() {
            return Some(LockV1::read(document).map(Self::LockV1));
        }
        if let Some(pins) = Pins::read(document) {
            return Some(Ok(Self::Hangar(pins)));
        }
        let manifest = FlatManifest::read(document)?;
        Some(Ok(Self::FastMcp(manifest)))
    }

    /// The name of the format in messages.
    pub fn format(&self) -> &'static str {
        match self {
            Self::FastMcp(_) => "a FastMCP manifest",
            Self::Hangar(_) => "MCP Hangar's pins",
            Self::ToolPin(_) => "a ToolPin lock",
            Self::LockV1(_) => "an mcp-lock/1 lock",
        }
    }

    /// What the file records, and what it does not.
    pub fn records(&self) -> String {
        match self {
            Self::FastMcp(manifest) => format!(
                "it stores {} digests of key and inputSchema, but no definitions, descriptions, annotations or \
                 output schemas",
                manifest.digests.len()
            ),
            Self::Hangar(servers) => {
                let tools: usize = servers.values().map(|pins| pins.tools.len()).sum();
                format!(
                    "it stores digests of {tools} tools (name, description, inputSchema, outputSchema), but no \
                     definitions; annotations are not covered"
                )
            }
            Self::ToolPin(lock) => format!(
                "it stores one digest of the whole tool list for each of {} entries, but no definitions; \
                 output schemas and annotations are not covered; trust, evidence and client configuration \
                 remain in the lock",
                lock.entries.len()
            ),
            Self::LockV1(lock) => format!(
                "it stores one digest of the tool list for each of {} entries, but no definitions",
                lock.entries().len()
            ),
        }
    }

    /// The entries: the key (or place) of each, and its server. A manifest without entries has
    /// none.
    pub(super) fn known(&self) -> Vec<(String, String)> {
        match self {
            Self::FastMcp(_) => Vec::new(),
            Self::Hangar(servers) => servers.keys().map(|it| (it.clone(), it.clone())).collect(),
            Self::ToolPin(lock) => lock
                .entries
                .iter()
                .map(|(key, plan)| {
                    let name = plan.name.to_string_lossy();
                    (key.to_string_lossy().to_owned(), name.to_owned())
                })
                .collect(),
            Self::LockV1(lock) => lock
                .entries()
                .iter()
                .enumerate()
                .map(|(index, entry)| {
                    let name = entry.get("name").and_then(Json::as_str).unwrap_or_default();
                    (index.to_string(), name.to_owned())
                })
                .collect(),
        }
    }
}

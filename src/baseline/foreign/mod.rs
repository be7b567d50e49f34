//! Baselines that other tools wrote, read as those tools read them.
//!
//! Most of them keep digests and no definitions. Such a file can say that something moved and never what; `import` says
//! so before anybody relies on it.

pub mod fastmcp;
pub mod hangar;
pub mod lock_v1;
pub mod targets;
pub mod toolpin;
mod toolpin_trust;
pub mod toolpin_write;

use std::collections::BTreeMap;

use crate::canonical::Json;

pub use fastmcp::FlatManifest;
pub use hangar::Pins;
pub use lock_v1::LockV1;
pub use toolpin::{Lock, LockError};

/// A file of another tool.
#[derive(Clone, Debug)]
pub enum Foreign {
    /// FastMCP's flat manifest.
    FastMcp(FlatManifest),
    /// MCP Hangar's pins, by server.
    Hangar(BTreeMap<String, Pins>),
    /// ToolPin's lock, version 2.
    ToolPin(Lock),
    /// The vendor-neutral draft.
    LockV1(LockV1),
}

impl Foreign {
    /// Whose file this is, in messages.
    pub fn format(&self) -> &'static str {
        match self {
            Self::FastMcp(_) => "a FastMCP manifest",
            Self::Hangar(_) => "MCP Hangar's pins",
            Self::ToolPin(_) => "a ToolPin lock",
            Self::LockV1(_) => "a lock of the draft mcp-lock/1",
        }
    }

    /// Recognises a document by its members; none if it is nobody's of these. A document that is somebody's and does not
    /// hold is an error in that tool's words.
    pub fn recognise(document: &Json, path: &str) -> Option<Result<Self, LockError>> {
        if document.get("lockfileVersion").is_some() && document.get("lockfile_version").is_none() {
            return Some(Lock::read(document, path).map(Self::ToolPin));
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
}

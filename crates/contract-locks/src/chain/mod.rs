//! kiwi-mcp's chains of tool manifests: a tool, the runtime that runs it, and so on down to a
//! primitive.
//!
//! [`integrity()`] is the digest of one link, [`verify`] compares every link with its stored digest,
//! [`validate`] checks each child against its parent's JSON Schema, [`lockfile`] pins the result.
//! Results and messages are those of the original; where it is laxer than its own description
//! (freezing without verifying, a chain without a primitive), the strict mode follows the
//! description.

mod integrity;
mod links;
pub mod lockfile;
mod pairs;
mod python;
pub mod yaml;

use exact_json::Json;

pub use integrity::{Refused, document_integrity, integrity};
pub use links::{Verified, verify};
pub use pairs::{Validated, validate};

/// What the digest of a link covers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Path and SHA-256: what kiwi-mcp computes today.
    Current,
    /// With `is_executable`: as its description says, and as its first version did.
    Documented,
}

impl Variant {
    pub const ALL: &'static [Self] = &[Self::Current, Self::Documented];

    /// Its name on a command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Documented => "documented",
        }
    }
}

/// What to make of a chain without schemas for its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A parent without a schema for its child is an issue, and so is a chain that does not end in
    /// a primitive.
    Strict,
    /// As the original validates: a missing primitive is only a warning.
    Usual,
    /// A missing schema is a warning too: for a repository in transition.
    Lenient,
}

/// One link of a resolved chain: `{"tool_id", "version", "tool_type", "executor_id", "manifest",
/// "file_hashes", "content_hash"}`, members as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link(pub Json);

impl Link {
    /// A member that is present and not null.
    pub fn member(&self, name: &str) -> Option<&Json> {
        self.0.get(name).filter(|value| **value != Json::Null)
    }

    /// The stated digest: `content_hash`, else `integrity`; an empty one counts as missing.
    pub fn stored(&self) -> Option<&str> {
        ["content_hash", "integrity"]
            .into_iter()
            .filter_map(|name| self.0.get(name).and_then(Json::as_str))
            .find(|hash| !hash.is_empty())
    }

    /// The `tool_id` as Python prints it in a message.
    pub fn id(&self) -> String {
        python::text(self.0.get("tool_id"))
    }

    /// The `version` as Python prints it in a message.
    pub fn version(&self) -> String {
        python::text(self.0.get("version"))
    }

    /// Whether a chain may end here.
    pub fn is_primitive(&self) -> bool {
        self.0.get("tool_type").and_then(Json::as_str) == Some("primitive")
    }
}

/// The first 12 characters of a digest, as shown in messages.
pub fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// The links of a resolved chain, leaf first.
pub fn links(chain: &Json) -> Option<Vec<Link>> {
    let items = chain.as_array()?;
    items
        .iter()
        .map(|item| item.as_object().map(|_| Link(item.clone())))
        .collect()
}

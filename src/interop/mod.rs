//! What other tools write and compute: FastMCP, MCP Hangar, ToolPin, the draft `mcp-lock/1`,
//! kiwi-mcp and JP.
//!
//! This room promises:
//!
//! - **Byte for byte**: a digest printed here is the one the original prints, and what the original
//!   rejects is rejected here ([`digest`], one row per scheme).
//! - **One entry point for lock files**: [`Lock`] reads, verifies, compares and writes them; no
//!   other room knows which tool a file belongs to. Most of them store digests without definitions:
//!   such a file can show that something changed, but never what.
//! - **Files with definitions become surfaces** ([`definitions`]), for `import`.
//!
//! kiwi-mcp's chains ([`kiwi`]) and JP's `verify` block ([`jp`]) are about bytes on disk, and have
//! their own entry points.

pub mod compare;
pub mod definitions;
pub mod digest;
pub mod fastmcp;
pub mod hangar;
pub mod jp;
pub mod kiwi;
mod lock;
pub mod lock_v1;
pub mod revisions;
pub mod toolpin;

pub use digest::{DigestScheme, Profile};
pub use lock::{
    Asked, Compared, Contents, EntryIntegrity, InteropError, Lock, NotALock, Origin, Update,
    Verification,
};

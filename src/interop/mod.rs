//! What other tools write and compute: FastMCP, MCP Hangar, ToolPin, the draft `mcp-lock/1`, kiwi-mcp and JP.
//!
//! This room promises:
//!
//! - **Byte for byte**: a digest printed here is the one that the original prints, and what an original refuses is
//!   refused here ([`digest`], one row per scheme).
//! - **One door to files of pins**: [`Lock`] reads, verifies, compares and writes them; no other room knows whose file it
//!   is. Most of them keep digests and no definitions: such a file can say that something moved, and never what.
//! - **Files with definitions become surfaces** ([`definitions`]), for `import`.
//!
//! kiwi-mcp's chains ([`kiwi`]) and JP's `verify` block ([`jp`]) are about bytes on disk, and have doors of their own.

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

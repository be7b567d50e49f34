//! What other tools write and compute: FastMCP, MCP Hangar, ToolPin, the draft `mcp-lock/1` and
//! kiwi-mcp.
//!
//! This room promises:
//!
//! - **Byte for byte**: a digest printed here is the one the original prints, and what the original
//!   rejects is rejected here ([`digest`], one row per scheme).
//! - **One entry point for lock files**: [`Lock`] reads, verifies, compares and writes them; no
//!   room that compares, judges or renders knows which tool a file belongs to. Most of them store digests without definitions:
//!   such a file can show that something changed, but never what.
//!
//! kiwi-mcp's chains ([`kiwi`]) are about bytes on disk, and have their own entry point.

pub mod compare;
mod contents;
pub mod digest;
mod error;
pub mod fastmcp;
pub mod hangar;
pub mod kiwi;
mod lock;
pub mod lock_v1;
pub mod revisions;
pub mod toolpin;
mod verification;

pub use contents::Contents;
pub use digest::{DigestScheme, Profile};
pub use error::InteropError;
pub use lock::{Asked, Compared, Lock, Origin, Update};
pub use verification::{EntryIntegrity, NotALock, Verification};

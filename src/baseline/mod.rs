//! The baseline manifest, `mcp-baseline.json`: the reviewed contract.
//!
//! - **Deterministic**: no clock, no machine names; the same surface gives the same bytes
//!   ([`render`]).
//! - **Readable and mergeable**: each component is an entry of its own with its [`signature`], and no line is about two of them,
//!   so that git merges what two branches changed in different places.
//! - **Trusted only if intact**: reading verifies every signature and fingerprint, and an error names the line and the entry
//!   ([`Manifest::parse`]).
//! - **Written atomically**; writing one server's entry leaves the others unchanged, byte for byte
//!   ([`store`]).

mod error;
mod join;
mod manifest;
mod render;
mod signature;
pub mod store;

pub use error::BaselineError;
pub use join::{Joined, Part, Side, Sides};
pub use manifest::{Manifest, Pinned, conflict_marker};
pub use render::{SCHEMA_URL, render, server_entry};
pub use signature::signature;

/// The version of the format.
pub const MANIFEST_VERSION: i64 = 2;

/// The default path of the baseline.
pub const DEFAULT_PATH: &str = "mcp-baseline.json";

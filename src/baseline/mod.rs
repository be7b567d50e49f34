//! The baseline manifest, `mcp-baseline.json`: the reviewed contract.
//!
//! - **Deterministic**: no clock, no machine names; the same surface gives the same bytes
//!   ([`render`]).
//! - **Trusted only if intact**: reading verifies every digest and the integrity of the manifest,
//!   and an error names the line and the entry ([`Manifest::parse`]).
//! - **Written atomically**; writing one server's entry leaves the others unchanged, byte for byte
//!   ([`store`]).

mod error;
mod manifest;
mod merge;
mod render;
mod signature;
pub mod store;

pub use error::BaselineError;
pub use manifest::{Manifest, Pinned};
pub use merge::merge_entries;
pub use render::{SCHEMA_URL, integrity, render, server_entry, with_launch};
pub use signature::signature;

/// The only version of the format so far.
pub const MANIFEST_VERSION: i64 = 1;

/// The default path of the baseline.
pub const DEFAULT_PATH: &str = "mcp-baseline.json";

//! The baseline manifest, `mcp-baseline.json`: what was reviewed and is promised.
//!
//! - **Deterministic**: no clock, no machine; the same surface gives the same bytes ([`render`]).
//! - **Trusted only when whole**: reading verifies every digest and the integrity of the manifest, and an error
//!   names the line and the entry ([`Manifest::parse`]).
//! - **Written whole or not at all**, and writing one server leaves the others byte for byte ([`store`]).

mod error;
mod manifest;
mod render;
pub mod store;

pub use error::BaselineError;
pub use manifest::{Manifest, Pinned};
pub use render::{SCHEMA_URL, integrity, render, server_entry, with_launch};

/// The only version of the format so far.
pub const MANIFEST_VERSION: i64 = 1;

/// Where the baseline is when nobody says otherwise.
pub const DEFAULT_PATH: &str = "mcp-baseline.json";

//! mcp-keel keeps an MCP server's contract from drifting.
//!
//! The tool list of a server is its API, and no compiler checks it. mcp-keel starts a server, reads what it declares to a
//! model, compares that with a baseline committed in the repository, and reports what the difference does to callers.
//!
//! The crate is a program. What can be used as a library is this page: [`read`] what servers declare, [`compare`] two of
//! them, [`judge`] the changes by a policy, [`render`] the report.
//!
//! ```
//! use mcp_keel::{Date, Format, Level, Policy, Verdict};
//!
//! let old = br#"{"tools": [{"name": "forecast", "inputSchema": {
//!     "type": "object", "properties": {"days": {"type": "integer", "maximum": 10}}}}]}"#;
//! let new = br#"{"tools": [{"name": "forecast", "inputSchema": {
//!     "type": "object", "properties": {"days": {"type": "integer", "maximum": 7}}}}]}"#;
//! let (old, new) = (mcp_keel::read("old", old)?, mcp_keel::read("new", new)?);
//!
//! let changes = mcp_keel::compare(&old["default"], &new["default"]);
//! assert_eq!(changes[0].level, Level::Breaking);
//!
//! let today = Date { year: 2026, month: 1, day: 31 };
//! let report = mcp_keel::judge(&old, &new, &Policy::default(), today);
//! assert_eq!(report.verdict, Verdict::Block);
//! assert!(mcp_keel::render(&report, Format::Markdown).contains("forecast"));
//! # Ok::<(), mcp_keel::SourceError>(())
//! ```
//!
//! The modules are public for the program, its tests and its fuzz targets only. They are not documented as an API and
//! change without notice; `docs/architecture.md` describes them.

// The order of the modules is the order of dependency: each uses only those above it.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests write what they read")
)]

#[doc(hidden)]
pub use exact_json as canonical;

/// Enums whose variants have keywords.
mod keyword_enum {
    pub(crate) use mcp_capture::keyword_enum;
}

#[doc(hidden)]
pub mod judgement;

#[doc(hidden)]
pub mod rules;

mod wording;

#[doc(hidden)]
pub mod sentences;

#[doc(hidden)]
pub mod settings;

#[doc(hidden)]
pub mod files;

use mcp_capture::connection;
#[doc(hidden)]
pub use mcp_capture::{launch, own_env, redact};

#[doc(hidden)]
pub mod note;

/// What a server declares, with what we note about it.
#[doc(hidden)]
pub mod surface {
    pub use mcp_capture::surface::*;

    pub use crate::note::Note;

    pub type Surface = mcp_capture::Surface<Note>;
}

mod git;

/// Captures of servers, with what we note about them.
#[doc(hidden)]
pub mod capture {
    pub use mcp_capture::capture::*;

    pub type Captured = mcp_capture::Captured<crate::note::Note>;
}

#[doc(hidden)]
pub mod fingerprint;

#[doc(hidden)]
pub mod escape;

#[doc(hidden)]
pub mod scan;

#[doc(hidden)]
pub mod verify;

#[doc(hidden)]
pub mod provider;

#[doc(hidden)]
pub mod schema;

#[doc(hidden)]
pub mod conformance;

#[doc(hidden)]
pub mod drift;

#[doc(hidden)]
pub mod policy;

#[doc(hidden)]
pub mod interop;

#[doc(hidden)]
pub mod release;

#[doc(hidden)]
pub mod baseline;

#[doc(hidden)]
pub mod source;

#[doc(hidden)]
pub mod stability;

#[doc(hidden)]
pub mod config;

#[doc(hidden)]
pub mod detect;

#[doc(hidden)]
pub mod locate;

#[doc(hidden)]
pub mod report;

#[doc(hidden)]
pub mod github;

#[doc(hidden)]
pub mod demo;

#[doc(hidden)]
pub mod run;

mod facade;

#[doc(hidden)]
pub mod cli;

pub use facade::*;

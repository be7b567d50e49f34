//! mcp-keel keeps an MCP server's contract from drifting.
//!
//! The tool list of a server is its API, and nobody's compiler checks it. This library boots a server, reads what it
//! tells a model, compares that with a manifest committed in the repository, and says what the difference does to
//! callers. The binary beside it is thin.
//!
//! The order of the modules is the order in which data flows; each depends only on those before it (`canonical`,
//! `judgement` and `rules` are values and words that all of them share).
//!
//! ```text
//! launch -> capture -> surface -> canonical -> fingerprint
//!              |          |                        |
//!          (redact)  baseline (committed) ---------+--> drift -> (schema) -> policy -> report
//! ```

pub mod canonical;
pub mod judgement;
pub mod rules;

pub mod sentences;

mod bounded;
mod git;
mod keyword_enum;

pub mod surface;

pub mod redact;

pub mod own_env;

pub mod launch;

pub mod capture;

pub mod fingerprint;

pub mod scan;

pub mod verify;

pub mod provider;

pub mod schema;

pub mod drift;

pub mod policy;

pub mod interop;

pub mod release;

pub mod baseline;

pub mod source;

pub mod stability;

pub mod config;

pub mod locate;

pub mod report;

pub mod github;

pub mod demo;

pub mod run;

pub mod cli;

#[cfg(any(test, fuzzing))]
pub mod fuzzing;

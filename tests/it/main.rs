//! The one integration-test binary: each module is a chapter of the specification.

// A failed unwrap is a failed test, and the panic says where.
#![allow(clippy::unwrap_used)]
// Tests write files for the program to read, and read those that it wrote.
#![allow(clippy::disallowed_methods)]

mod baseline;
mod check;
mod configs;
mod conformance;
mod corpus;
mod cost;
mod decide;
mod era;
mod faults;
mod fleet;
mod formats;
mod generated;
mod github;
mod github_api;
mod github_base;
mod github_double;
mod github_page;
mod github_secrets;
mod golden;
mod history;
mod http;
#[path = "../../crates/mcp-capture/tests/it/http_double.rs"]
mod http_double;
mod http_failures;
mod init;
mod interop;
mod judge;
mod keel;
mod locate;
mod machine;
mod merge;
mod pin;
#[cfg(unix)]
mod pipes;
mod profiles;
mod progress;
mod proofs;
mod properties;
mod protocol;
mod readme;
mod recipes;
mod reference;
mod rules;
#[cfg(target_os = "linux")]
mod sandbox;
mod schema_adversarial;
mod schema_corpus;
mod schema_properties;
mod schema_semantics;
mod schemas;
#[path = "../../crates/mcp-capture/tests/it/scripted.rs"]
mod scripted;
mod secrets;
mod seeds;
mod settings;
mod single_changes;
mod skills;
#[cfg(target_os = "linux")]
mod snapshots;
mod sources;
mod stability;
mod surfaces;
mod verify;

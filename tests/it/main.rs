//! The one integration-test binary: each module is a chapter of the specification.

// A test that cannot unwrap has failed, and the panic says where.
#![allow(clippy::unwrap_used)]

mod baseline;
mod capture;
mod chains;
mod check;
mod configs;
mod conventions;
mod conventions_cli;
mod corpus;
mod era;
mod faults;
mod fleet;
mod formats;
mod github;
mod github_double;
mod golden;
mod hostile;
mod http;
mod http_double;
mod http_failures;
mod keel;
mod locate;
mod merge;
#[cfg(target_os = "linux")]
mod parts;
mod profiles;
mod proofs;
mod readme;
mod recipes;
mod reference;
mod rules;
#[cfg(target_os = "linux")]
mod sandbox;
mod schema_adversarial;
mod schema_corpus;
mod schema_semantics;
mod schemas;
mod scripted;
mod secrets;
mod stability;
mod verify;

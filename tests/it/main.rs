//! One binary for all integration tests, so that they link once.

mod schema_adversarial;
mod schema_corpus;
mod schema_properties;
mod schema_semantics;

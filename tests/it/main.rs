//! The one integration-test binary: each module is a chapter of the specification.

mod schema_adversarial;
mod schema_corpus;
mod schema_properties;
mod schema_semantics;

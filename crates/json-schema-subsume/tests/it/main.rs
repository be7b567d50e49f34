//! Tests of the public interface, and the properties that the fuzz targets check.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that fails panics, and reads its own seeds"
)]

mod pairs;
mod properties;
mod seeds;
mod verdicts;

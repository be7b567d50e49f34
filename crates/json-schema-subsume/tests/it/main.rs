//! Tests of the public interface, and the properties that the fuzz targets check.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]
#![allow(clippy::disallowed_methods, reason = "the seeds are committed files")]

mod pairs;
mod properties;
mod seeds;
mod verdicts;

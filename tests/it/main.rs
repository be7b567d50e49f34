//! The one integration-test binary: each module is a chapter of the specification.

mod golden;
mod schemas;

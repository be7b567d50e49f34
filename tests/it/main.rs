//! The one integration-test binary: each module is a chapter of the specification.

mod baseline;
mod capture;
mod check;
mod corpus;
mod golden;
mod keel;
mod reference;
mod rules;
mod scripted;

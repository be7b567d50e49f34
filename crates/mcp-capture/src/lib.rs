#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests write what they read")
)]

pub mod capture;
pub mod connection;
pub mod files;
mod keyword_enum;
pub mod launch;
pub mod own_env;
pub mod redact;
pub mod surface;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

pub use capture::{
    CaptureError, CaptureFailure, Captured, Endpoint, Limits, Order, Stage, capture,
};
pub use launch::LaunchSpec;
pub use surface::{ClientProfile, Component, ComponentKey, Kind, Surface};

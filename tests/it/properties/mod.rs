//! What must hold for every input, one function for each fuzz target: a violation panics.
//!
//! The targets in `fuzz` are this very module, and `seeds.rs` replays their committed seeds, so that a target cannot rot;
//! docs/fuzzing.md says how to run them for longer.

#![allow(
    unreachable_pub,
    reason = "as a library of the fuzz targets it is public"
)]

mod commands;
mod documents;
pub mod rendered;
mod sources;

pub use commands::{github, launcher, policy};
pub use documents::{baseline, config, locks};
pub use rendered::{escape, report};
pub use sources::locate;

pub type Property = fn(&[u8]);

/// Every target by its name in `fuzz/Cargo.toml`.
pub const TARGETS: &[(&str, Property)] = &[
    ("baseline", baseline),
    ("config", config),
    ("escape", escape),
    ("github", github),
    ("launcher", launcher),
    ("locate", locate),
    ("locks", locks),
    ("policy", policy),
    ("report", report),
];

/// The two halves of an input, separated by a line of `---`; without one, both are the whole input.
fn halves(input: &[u8]) -> (&[u8], &[u8]) {
    const PART: &[u8] = b"\n---\n";
    match input.windows(PART.len()).position(|it| it == PART) {
        Some(at) => (&input[..at], &input[at + PART.len()..]),
        None => (input, input),
    }
}

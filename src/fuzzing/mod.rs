//! What must hold for every input, one function per fuzz target: a violation panics.
//!
//! Compiled for `cargo fuzz` and for tests only. `cargo test` replays the committed seeds
//! (`fuzz/corpus`) through these very functions, so that a target cannot rot; docs/fuzzing.md says
//! how to run them for longer.

mod documents;
mod json;
mod launching;
mod rendered;
mod sources;

#[cfg(test)]
mod tests;

pub use documents::{baseline, config, locks};
pub use json::json;
pub use launching::{github, launcher, policy};
pub use rendered::{escape, report};
pub use sources::locate;

pub type Target = fn(&[u8]);

/// Every target by its name in `fuzz/Cargo.toml`.
pub const TARGETS: &[(&str, Target)] = &[
    ("baseline", baseline),
    ("config", config),
    ("escape", escape),
    ("github", github),
    ("json", json),
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

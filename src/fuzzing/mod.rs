//! What must hold for every input, one function per fuzz target: a violation panics.
//!
//! Compiled for `cargo fuzz` and for tests only. `cargo test` replays the committed seeds
//! (`fuzz/corpus`) through these very functions, so that a target cannot rot; docs/fuzzing.md says
//! how to run them for longer.

mod documents;
mod json;
mod launching;
mod rendered;
mod schemas;
mod sources;

/// A generator of pairs: schemas, edits, instances, from any source of choices.
pub mod schema_pairs;

#[cfg(test)]
mod tests;

pub use documents::{baseline, config, locks};
pub use json::json;
pub use launching::{github, launcher, policy};
pub use rendered::{escape, report};
pub use schemas::{schema_json, schema_pairs_target as schema_pairs};
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
    ("schema_json", schema_json),
    ("schema_pairs", schema_pairs),
];

/// The two halves of an input, separated by a line of `---`; without one, both are the whole input.
fn halves(input: &[u8]) -> (&[u8], &[u8]) {
    const PART: &[u8] = b"\n---\n";
    match input.windows(PART.len()).position(|it| it == PART) {
        Some(at) => (&input[..at], &input[at + PART.len()..]),
        None => (input, input),
    }
}

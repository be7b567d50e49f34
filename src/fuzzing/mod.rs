//! What must hold for every input, one function per fuzz target: a violation panics.
//!
//! Compiled for `cargo fuzz` and for tests only. `cargo test` replays the committed seeds
//! (`fuzz/corpus`) through these very functions, so that a target cannot rot; docs/fuzzing.md says
//! how to run them for longer.

mod schemas;

/// A generator of pairs: schemas, edits, instances, from any source of choices.
pub mod schema_pairs;

#[cfg(test)]
mod tests;

pub use schemas::{schema_json, schema_pairs_target as schema_pairs};

pub type Target = fn(&[u8]);

/// Every target by its name in `fuzz/Cargo.toml`.
pub const TARGETS: &[(&str, Target)] = &[
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

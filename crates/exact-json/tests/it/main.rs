//! What holds for every text, on the committed seeds of the fuzz target.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that fails panics, and it reads its own files"
)]

mod properties;

use std::path::Path;

#[test]
fn every_committed_seed_still_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/json");
    let seeds = std::fs::read_dir(folder).unwrap();
    let mut seeds: Vec<_> = seeds.map(|entry| entry.unwrap().path()).collect();
    assert!(!seeds.is_empty());
    seeds.sort();
    for seed in seeds {
        let bytes = std::fs::read(&seed).unwrap();
        let replayed = std::panic::catch_unwind(|| properties::json(&bytes));
        assert!(replayed.is_ok(), "{}", seed.display());
    }
}

//! The committed seeds, replayed.

use std::path::Path;

use super::TARGETS;

#[test]
fn every_committed_seed_of_the_library_still_passes() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let seed = entry.unwrap().path();
            let bytes = std::fs::read(&seed).unwrap();
            let replayed = std::panic::catch_unwind(|| target(&bytes));
            assert!(replayed.is_ok(), "{}", seed.display());
        }
    }
}

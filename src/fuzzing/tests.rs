//! The committed seeds, replayed.

use std::path::Path;

use super::TARGETS;

/// The seeds of a target; none where this is the published package, which has no `fuzz` folder.
fn seeds(name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    if !fuzz.is_dir() {
        return None;
    }
    let folder = fuzz.join("corpus").join(name);
    let mut seeds: Vec<(String, Vec<u8>)> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    seeds.sort();
    Some(seeds)
}

#[test]
fn every_committed_seed_still_holds() {
    for (name, target) in TARGETS {
        let Some(seeds) = seeds(name) else { return };
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for (seed, bytes) in seeds {
            let replayed = std::panic::catch_unwind(|| target(&bytes));
            assert!(replayed.is_ok(), "fuzz/corpus/{name}/{seed}");
        }
    }
}

#[test]
fn the_fuzz_crate_has_exactly_these_targets() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/Cargo.toml");
    let Ok(manifest) = std::fs::read_to_string(manifest) else {
        return;
    };
    let mut bins: Vec<&str> = manifest
        .split("[[bin]]")
        .skip(1)
        .filter_map(|it| it.split("name = \"").nth(1)?.split('"').next())
        .collect();
    bins.sort_unstable();
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(bins, names);
}

//! The committed seeds of the fuzz targets, and seeds of the generator.

use std::collections::BTreeMap;
use std::path::Path;

use json_schema_subsume::{Reason, Verdict};

use super::pairs::{Choices, pair};
use super::properties::{
    agrees_with_its_evaluator, decided, not_contradicted, sampled, schema_json, schema_pairs,
};

type Property = fn(&[u8]);

#[test]
fn every_committed_seed_still_passes() {
    let targets: [(&str, Property); 2] =
        [("schema_json", schema_json), ("schema_pairs", schema_pairs)];
    for (name, property) in targets {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        let mut seeds: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(!seeds.is_empty(), "{name} has no seeds");
        seeds.sort();
        for seed in seeds {
            let bytes = std::fs::read(&seed).unwrap();
            let replayed = std::panic::catch_unwind(|| property(&bytes));
            assert!(replayed.is_ok(), "{}", seed.display());
        }
    }
}

/// A failure can be repeated by its seed. `SUBSUME_PAIRS` sets how many are tried (10,000 is a good evening's worth), from
/// `SUBSUME_FIRST_SEED` on; the default keeps the suite quick.
#[test]
fn no_subsumed_is_wrong_and_no_witness_unconfirmed() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let pairs: u64 = number("SUBSUME_PAIRS").unwrap_or(400);
    let first: u64 = number("SUBSUME_FIRST_SEED").unwrap_or(0);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in first..first + pairs {
        let mut choices = Choices::from_seed(seed);
        let (old, new) = pair(&mut choices);
        let verdict = decided(&old, &new);
        not_contradicted(&mut choices, &old, &new, &verdict);
        agrees_with_its_evaluator(&mut choices, &old, &new, &verdict);
        let word = match &verdict {
            Verdict::Witness(_) => "witness",
            Verdict::Subsumed => "subsumed",
            Verdict::Undecided(Reason::NothingSent) => "nothing sent",
            Verdict::Undecided(_) => {
                let missed = sampled(&mut choices, &old, &new);
                assert_eq!(missed, None, "seed {seed}: missed\nold {old}\nnew {new}");
                "undecided"
            }
        };
        *counts.entry(word).or_default() += 1;
    }
    let count = |word: &str| counts.get(word).copied().unwrap_or(0);
    if pairs >= 100 {
        assert!(count("witness") * 4 > pairs, "{counts:?}");
        assert!(count("subsumed") > 0, "{counts:?}");
        assert!(count("undecided") * 100 <= 3 * pairs, "{counts:?}");
    }
}

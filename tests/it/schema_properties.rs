//! What holds for the changes of every pair of schemas, on the prover's own generator and the seeds of its fuzz targets.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_keel::canonical::{Json, parse, parse_str, to_compact};
use mcp_keel::judgement::{Level, Proof};
use mcp_keel::rules::RuleId;
use mcp_keel::schema::{SchemaComparison, Side, compare};
use serde_json::Value;

#[path = "../../crates/json-schema-subsume/tests/it/pairs.rs"]
#[expect(dead_code, reason = "shared with the prover's own tests")]
mod pairs;

use pairs::{Choices, pair, validator};

fn describe(old: &Json, new: &Json, side: Side, found: &SchemaComparison) -> String {
    format!("{side:?}\nold {old}\nnew {new}\n{:?}", found.verdict)
}

/// No difference is unreported, every rule is of this side, and `breaking` always has a witness.
fn well_formed(old: &Json, new: &Json, side: Side, found: &SchemaComparison) {
    let context = || describe(old, new, side, found);
    assert_eq!(old == new, found.changes.is_empty(), "{}", context());
    for change in &found.changes {
        assert_eq!(change.rule.side(), Some(side), "{}", change.rule);
        let has_witness = matches!(change.proof, Some(Proof::Witness(_)));
        let is_breaking = change.level == Level::Breaking;
        assert_eq!(has_witness, is_breaking, "{}: {}", change.rule, context());
    }
}

/// The witnesses of changes, each confirmed by a real validator.
fn confirmed_witnesses(
    old: &Value,
    new: &Value,
    side: Side,
    found: &SchemaComparison,
) -> Vec<Value> {
    let (sender, receiver) = match side {
        Side::Input => (old, new),
        Side::Output => (new, old),
    };
    let mut witnesses = Vec::new();
    let (Some(sends), Some(receives)) = (validator(sender), validator(receiver)) else {
        return witnesses;
    };
    for change in &found.changes {
        if let Some(Proof::Witness(witness)) = &change.proof {
            let witness: Value = serde_json::from_str(&to_compact(witness)).expect("JSON");
            assert!(
                sends.is_valid(&witness) && !receives.is_valid(&witness),
                "unconfirmed {witness} for {}\n{side:?}\nold {old}\nnew {new}",
                change.rule
            );
            witnesses.push(witness);
        }
    }
    witnesses
}

#[test]
fn the_changes_of_arbitrary_documents_are_well_formed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("crates/json-schema-subsume/fuzz/corpus/schema_json");
    let seeds = std::fs::read_dir(folder).expect("the seeds");
    let mut compared = 0;
    for seed in seeds {
        let bytes = std::fs::read(seed.expect("a seed").path()).expect("a seed");
        let text = String::from_utf8_lossy(&bytes);
        let (old, new) = text.split_once("\n---\n").unwrap_or((&text, &text));
        let (Ok(old), Ok(new)) = (parse(old.as_bytes()), parse(new.as_bytes())) else {
            continue;
        };
        for side in [Side::Input, Side::Output] {
            well_formed(&old, &new, side, &compare(&old, &new, side));
            compared += 1;
        }
    }
    assert!(compared > 0);
}

/// A failure can be repeated by its seed. `MCP_KEEL_PAIRS` sets how many are tried, from `MCP_KEEL_FIRST_SEED` on; the
/// default keeps the suite quick.
#[test]
fn the_changes_of_generated_pairs_are_well_formed_and_their_witnesses_confirmed() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let pairs: u64 = number("MCP_KEEL_PAIRS").unwrap_or(400);
    let first: u64 = number("MCP_KEEL_FIRST_SEED").unwrap_or(0);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in first..first + pairs {
        let mut choices = Choices::from_seed(seed);
        let (old, new) = pair(&mut choices);
        let side = if seed % 3 == 0 {
            Side::Output
        } else {
            Side::Input
        };
        let json = |value: &Value| parse_str(&value.to_string()).expect("JSON");
        let (old_json, new_json) = (json(&old), json(&new));
        let found = compare(&old_json, &new_json, side);
        well_formed(&old_json, &new_json, side, &found);
        let witnesses = confirmed_witnesses(&old, &new, side, &found);
        *counts.entry("witnesses").or_default() += witnesses.len() as u64;
        let is_vague = |rule: RuleId| {
            matches!(
                rule,
                RuleId::InputSchemaUnclassified | RuleId::OutputSchemaUnclassified
            )
        };
        if found.changes.iter().any(|change| is_vague(change.rule)) {
            *counts.entry("unclassified").or_default() += 1;
        }
    }
    let count = |word: &str| counts.get(word).copied().unwrap_or(0);
    assert!(count("witnesses") > pairs / 4, "{counts:?}");
    assert!(count("unclassified") * 200 <= pairs, "{counts:?}");
}

//! Real servers, version by version. The folder is named by `MCP_KEEL_CORPUS`; without it the test
//! is ignored. Set `MCP_KEEL_CORPUS_PRINT` to see every verdict.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use mcp_keel::canonical::{Json, parse_str, to_compact};
use mcp_keel::judgement::{Level, Proof};
use mcp_keel::rules::RuleId;
use mcp_keel::schema::{SchemaComparison, Side, compare};

/// Integers in a version compare as numbers, so 0.10.0 comes after 0.9.1.
fn version_key(version: &str) -> Vec<(u64, String)> {
    version
        .split(['.', '-', '+'])
        .map(|part| (part.parse().unwrap_or(0), part.to_owned()))
        .collect()
}

struct Pair {
    label: String,
    side: Side,
    old: Json,
    new: Json,
}

fn pairs(folder: &Path) -> Vec<Pair> {
    let mut servers: BTreeMap<String, Vec<(String, Json)>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the corpus folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|it| it != "json") {
            continue;
        }
        let capture = parse_str(&std::fs::read_to_string(&path).expect("a capture")).expect("JSON");
        let text = |name: &str| capture.get(name).and_then(Json::as_str).map(str::to_owned);
        if let (Some(server), Some(version)) = (text("server"), text("version")) {
            servers.entry(server).or_default().push((version, capture));
        }
    }
    let mut pairs = Vec::new();
    for (server, mut captures) in servers {
        captures.sort_by_key(|(version, _)| version_key(version));
        for two in captures.windows(2) {
            let tools = |capture: &Json| -> BTreeMap<String, Json> {
                capture
                    .get("tools")
                    .and_then(Json::as_array)
                    .unwrap_or(&[])
                    .iter()
                    .filter_map(|tool| Some((tool.get("name")?.as_str()?.to_owned(), tool.clone())))
                    .collect()
            };
            let (before, after) = (tools(&two[0].1), tools(&two[1].1));
            for (name, old) in &before {
                let Some(new) = after.get(name) else { continue };
                for (member, side) in [("inputSchema", Side::Input), ("outputSchema", Side::Output)]
                {
                    if let (Some(old), Some(new)) = (old.get(member), new.get(member))
                        && old != new
                    {
                        pairs.push(Pair {
                            label: format!("{server} {} -> {} {name} {member}", two[0].0, two[1].0),
                            side,
                            old: old.clone(),
                            new: new.clone(),
                        });
                    }
                }
            }
        }
    }
    pairs
}

/// An independent confirmation, without code of the product: plain validators for both schemas as
/// sent.
fn confirmed(pair: &Pair, witness: &Json) -> bool {
    let value = |json: &Json| -> serde_json::Value {
        serde_json::from_str(&to_compact(json)).expect("JSON")
    };
    let accepts = |schema: &Json| {
        jsonschema::options()
            .should_validate_formats(false)
            .offline()
            .build(&value(schema))
            .map(|it| it.is_valid(&value(witness)))
            .unwrap_or(false)
    };
    match pair.side {
        Side::Input => accepts(&pair.old) && !accepts(&pair.new),
        Side::Output => accepts(&pair.new) && !accepts(&pair.old),
    }
}

/// Every value that is a witness less one member or item.
fn smaller(value: &Json) -> Vec<Json> {
    let replaced = |index: usize, with: Option<Json>| match value {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .enumerate()
                .filter_map(|(at, (name, it))| match (at == index, &with) {
                    (false, _) => Some((name.clone(), it.clone())),
                    (true, with) => with.clone().map(|it| (name.clone(), it)),
                })
                .collect(),
        ),
        Json::Array(items) => Json::Array(
            items
                .iter()
                .enumerate()
                .filter_map(|(at, it)| match (at == index, &with) {
                    (false, _) => Some(it.clone()),
                    (true, with) => with.clone(),
                })
                .collect(),
        ),
        other => other.clone(),
    };
    let inner: Vec<&Json> = match value {
        Json::Object(members) => members.iter().map(|(_, it)| it).collect(),
        Json::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for (index, it) in inner.into_iter().enumerate() {
        found.push(replaced(index, None));
        found.extend(smaller(it).into_iter().map(|it| replaced(index, Some(it))));
    }
    found
}

#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn every_changed_schema_of_the_corpus_is_located_and_judged() {
    let folder = crate::machine::folder_of("MCP_KEEL_CORPUS");
    let print = std::env::var_os("MCP_KEEL_CORPUS_PRINT").is_some();
    let pairs = pairs(&folder);
    let (mut inputs, mut undecided_inputs, mut witnesses, mut subsumed) = (0, 0, 0, 0);
    let (mut outputs, mut undecided_outputs) = (0, 0);
    let mut slowest = (Duration::ZERO, String::new());
    let mut total = Duration::ZERO;
    let mut rules: BTreeMap<(RuleId, Level), usize> = BTreeMap::new();
    let mut larger = Vec::new();
    for pair in &pairs {
        let start = Instant::now();
        let SchemaComparison { changes, verdict } = compare(&pair.old, &pair.new, pair.side);
        let took = start.elapsed();
        total += took;
        if took > slowest.0 {
            slowest = (took, pair.label.clone());
        }
        assert!(!changes.is_empty(), "nothing located: {}", pair.label);
        let undecided = matches!(verdict, Proof::Undecided(_));
        match pair.side {
            Side::Input => {
                inputs += 1;
                undecided_inputs += usize::from(undecided);
            }
            Side::Output => {
                outputs += 1;
                undecided_outputs += usize::from(undecided);
            }
        }
        if print {
            println!("## {}\n   {verdict:?}", pair.label);
        }
        match verdict {
            Proof::Witness(_) => witnesses += 1,
            Proof::Subsumed => subsumed += 1,
            _ => {}
        }
        for change in &changes {
            *rules.entry((change.rule, change.level)).or_default() += 1;
            if print {
                println!(
                    "   {} {} {} {}\n      {}\n      {}",
                    change.level,
                    change.exposure,
                    change.rule,
                    change.pointer,
                    change.message,
                    match &change.proof {
                        Some(Proof::Witness(witness)) => format!("witness {}", to_compact(witness)),
                        other => format!("{other:?}"),
                    }
                );
            }
            assert_eq!(change.rule.side(), Some(pair.side), "{}", change.rule);
            match (&change.proof, change.level) {
                (Some(Proof::Witness(witness)), level) => {
                    assert_eq!(level, Level::Breaking, "{} {}", pair.label, change.rule);
                    assert!(matches!(witness, Json::Object(_)), "{}", pair.label);
                    assert!(
                        confirmed(pair, witness),
                        "{} {} {}",
                        pair.label,
                        change.rule,
                        to_compact(witness)
                    );
                    if smaller(witness).iter().any(|it| confirmed(pair, it)) {
                        larger.push(format!("{} {}", pair.label, to_compact(witness)));
                    }
                }
                (_, Level::Breaking) => panic!("breaking without a witness: {}", pair.label),
                _ => {}
            }
        }
    }
    for ((rule, level), count) in &rules {
        println!("{count:6} {level:10} {rule}");
    }
    println!(
        "{inputs} input pairs ({undecided_inputs} undecided), {outputs} output pairs ({undecided_outputs} undecided), {witnesses} witnesses, {subsumed} subsumed; {total:?} in all, slowest {slowest:?}"
    );
    assert!(
        inputs > 0 && outputs > 0,
        "the corpus has no changed schemas"
    );
    assert!(
        (undecided_inputs + undecided_outputs) * 1_000 <= inputs + outputs,
        "more than 0.1% of the schemas are undecided"
    );
    assert!(
        larger.is_empty(),
        "witnesses with more than they need: {larger:#?}"
    );
}

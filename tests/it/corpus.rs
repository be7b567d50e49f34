//! Any folder of captures, named by `MCP_KEEL_CORPUS`: every pair of versions diffs without a
//! panic, every byte of difference is reported, and a diff with itself is empty. Ignored without
//! the variable: run with `MCP_KEEL_CORPUS=FOLDER cargo test --locked -- --ignored corpus`, as
//! `.ci/run` does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use mcp_keel::canonical::{Json, parse, parse_document, parse_str, pointer, to_compact, to_pretty};
use mcp_keel::drift::compare;
use mcp_keel::provider::{Provider, violations};
use mcp_keel::rules::RuleId;
use mcp_keel::surface::{ComponentKey, Kind, Surface};

/// The file name of a capture, and its surface.
type Capture = (String, Surface);

fn corpus() -> Vec<Capture> {
    let folder = crate::machine::folder_of("MCP_KEEL_CORPUS");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    paths.sort();
    assert!(
        !paths.is_empty(),
        "MCP_KEEL_CORPUS names a folder without captures"
    );
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, crate::surfaces::in_file(&path))
        })
        .collect()
}

/// Every two consecutive versions of one server, by name.
fn pairs(corpus: &[Capture]) -> Vec<(&Capture, &Capture)> {
    let mut servers: BTreeMap<&str, Vec<&Capture>> = BTreeMap::new();
    for capture in corpus {
        let server = capture
            .0
            .rsplit_once('@')
            .map_or(capture.0.as_str(), |(server, _)| server);
        servers.entry(server).or_default().push(capture);
    }
    let pairs: Vec<_> = servers
        .into_values()
        .flat_map(|of| {
            of.windows(2)
                .map(|pair| (pair[0], pair[1]))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(!pairs.is_empty(), "no server is there in two versions");
    pairs
}

#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn a_capture_compared_with_itself_has_no_changes() {
    for (name, surface) in corpus() {
        assert!(compare(&surface, &surface).is_empty(), "{name}");
    }
}

#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn every_byte_of_difference_is_reported() {
    let corpus = corpus();
    for ((old_name, old), (new_name, new)) in pairs(&corpus) {
        let changes = compare(old, new);
        let reported: BTreeSet<Option<&str>> = changes
            .iter()
            .map(|change| change.component.as_deref())
            .collect();
        let renamed: BTreeSet<String> = changes
            .iter()
            .filter(|change| change.rule == RuleId::ToolRenamed)
            .filter_map(|change| Some(format!("tool:{}@", change.new.as_ref()?.as_str()?)))
            .collect();
        let emptied = changes
            .iter()
            .any(|change| change.rule == RuleId::SurfaceEmptied);
        let keys: BTreeSet<&str> = old
            .components
            .iter()
            .chain(&new.components)
            .map(|it| it.key.as_str())
            .collect();
        for key in keys {
            let texts = [old, new].map(|it| it.component(key).map(|it| to_compact(&it.contract())));
            let differ = texts[0] != texts[1];
            let gone =
                (emptied && texts[1].is_none()) || (texts[0].is_none() && renamed.contains(key));
            assert_eq!(
                differ && !gone,
                reported.contains(&Some(key)),
                "{old_name} -> {new_name}: {key}"
            );
        }
        let server = |it: &Surface| {
            (
                it.server_info.clone(),
                it.capabilities.clone(),
                it.instructions.clone(),
                it.protocol_version.clone(),
            )
        };
        if server(old) != server(new) {
            assert!(
                reported.contains(&None),
                "{old_name} -> {new_name}: the server itself"
            );
        }
    }
}

/// Whether a pointer leads to a place in a definition. What is behind a reference has the place of
/// the reference before it; of what was added in a branch that moved, the parent is there.
fn is_place(definition: &Json, at: &str) -> bool {
    let ends = at.match_indices('/').map(|(at, _)| at).skip(1);
    let mut parents = ends.map(|end| &at[..end]);
    let parent = at.rfind('/').map(|end| &at[..end]);
    [Some(at), parent]
        .into_iter()
        .flatten()
        .any(|at| pointer::resolve(definition, at).is_some())
        || parents.any(|at| {
            let node = pointer::resolve(definition, at);
            node.is_some_and(|node| node.get("$ref").is_some())
        })
}

#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn every_change_has_a_location_and_a_rule() {
    let corpus = corpus();
    let mut located = 0;
    for ((old_name, old), (new_name, new)) in pairs(&corpus) {
        let mut ids = BTreeSet::new();
        for change in compare(old, new) {
            assert_ne!(
                change.rule,
                RuleId::UnclassifiedChange,
                "{old_name} -> {new_name}: {change:?}"
            );
            assert!(
                ids.insert(change.id("s")),
                "{old_name} -> {new_name}: two changes with one id: {change:?}"
            );
            let Some(key) = &change.component else {
                continue;
            };
            // A renamed component has its new key there.
            let is_new = |key: &ComponentKey| !old.components.iter().any(|it| it.key == *key);
            let mut of_key = [old, new].into_iter().flat_map(|it| &it.components);
            assert!(
                of_key.any(|it| (it.key == *key || is_new(&it.key))
                    && is_place(&it.definition, &change.pointer)),
                "{old_name} -> {new_name}: nothing is at {key} {}: {change:?}",
                change.pointer
            );
            located += 1;
        }
    }
    assert!(located > 0, "no pair of this corpus differs");
}

#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn reading_and_writing_is_lossless() {
    for (name, surface) in corpus() {
        for component in &surface.components {
            let pretty = to_pretty(&component.definition);
            assert_eq!(parse_str(&pretty).unwrap(), component.definition, "{name}");
            assert_eq!(
                parse_document(pretty.as_bytes()).unwrap().value,
                component.definition,
                "{name}"
            );
            assert_eq!(
                parse(to_compact(&component.definition).as_bytes()).unwrap(),
                component.definition,
                "{name}"
            );
        }
    }
}

#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn what_a_provider_rejects_points_into_the_tool() {
    let mut refused = 0;
    for (name, surface) in corpus() {
        for tool in surface.of_kind(Kind::Tool) {
            for provider in Provider::ALL {
                for violation in violations(*provider, &tool.definition) {
                    refused += 1;
                    assert!(
                        pointer::resolve(&tool.definition, &violation.pointer).is_some(),
                        "{name}: {} {violation:?}",
                        tool.key
                    );
                }
            }
        }
    }
    assert!(refused > 0, "no provider refuses anything in this corpus");
}

/// A tool that a provider no longer accepts, or now accepts, has exactly one change that says so.
#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn a_tool_that_a_provider_no_longer_or_newly_accepts_is_reported() {
    let corpus = corpus();
    let mut crossed = 0;
    for ((old_name, old), (new_name, new)) in pairs(&corpus) {
        let mut reported = BTreeSet::new();
        for change in compare(old, new) {
            let key = change.component.as_ref().map(ToString::to_string);
            reported.insert((key.unwrap_or_default(), change.rule.to_string()));
        }
        for tool in old.of_kind(Kind::Tool) {
            let Some(now) = new.component(&tool.key) else {
                continue;
            };
            let refuses = |definition, provider| !violations(provider, definition).is_empty();
            let (mut exceeded, mut met) = (false, false);
            for provider in Provider::ALL {
                let before = refuses(&tool.definition, *provider);
                let after = refuses(&now.definition, *provider);
                exceeded |= !before && after;
                met |= before && !after;
            }
            for (expected, rule) in [
                (exceeded, "provider-limit-exceeded"),
                (met, "provider-limit-met"),
            ] {
                let key = tool.key.to_string();
                assert_eq!(
                    reported.contains(&(key, rule.to_owned())),
                    expected,
                    "{old_name} -> {new_name}: {} {rule}",
                    tool.key
                );
                crossed += usize::from(expected);
            }
        }
    }
    assert!(crossed > 0, "no tool of this corpus crosses a limit");
}

/// What clients object to in real servers, by rule. Printed, because the numbers depend on the folder; the test only
/// requires that the rules that cost users every tool are rare.
#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn clients_take_almost_every_real_list() {
    let corpus = corpus();
    let mut counts: BTreeMap<RuleId, BTreeSet<&str>> = BTreeMap::new();
    let mut lines = Vec::new();
    for (name, surface) in &corpus {
        for note in mcp_keel::conformance::notes(surface, |_, _| false) {
            counts.entry(note.rule).or_default().insert(name);
            lines.push(format!(
                "{name} {} {}: {}",
                note.rule,
                note.component.as_deref().unwrap_or_default(),
                note.message
            ));
        }
    }
    for line in lines {
        println!("{line}");
    }
    for (rule, captures) in &counts {
        println!("{rule}: {} captures", captures.len());
    }
    assert!(
        !counts.is_empty(),
        "no capture is objected to: was anything read?"
    );
    for rule in [RuleId::ListRefused, RuleId::SchemaInvalid] {
        let captures = counts.get(&rule).map_or(0, BTreeSet::len);
        assert!(captures * 10 < corpus.len(), "{rule}: {captures}");
    }
}

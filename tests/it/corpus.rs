//! Any folder of captures, named by `MCP_KEEL_CORPUS`: every pair of versions diffs without a panic, every byte of
//! difference is reported, and a diff with itself is empty. Without the variable there is nothing to read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use mcp_keel::canonical::{parse, parse_document, parse_str, pointer, to_compact, to_pretty};
use mcp_keel::drift::compare;
use mcp_keel::provider::{Provider, violations};
use mcp_keel::rules::RuleId;
use mcp_keel::source::{Dialect, Source};
use mcp_keel::surface::{Kind, Surface};

/// The name of a capture's file, and what it holds.
type Capture = (String, Surface);

fn corpus() -> Vec<Capture> {
    let Some(folder) = std::env::var_os("MCP_KEEL_CORPUS") else {
        return Vec::new();
    };
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
            let source = Source::File(path.to_string_lossy().into_owned());
            let surface = source
                .surfaces(Dialect::Json)
                .unwrap()
                .into_values()
                .next()
                .unwrap();
            (name, surface)
        })
        .collect()
}

/// Every two versions of one server that stand next to each other, by name.
fn pairs(corpus: &[Capture]) -> Vec<(&Capture, &Capture)> {
    let mut servers: BTreeMap<&str, Vec<&Capture>> = BTreeMap::new();
    for capture in corpus {
        let server = capture
            .0
            .rsplit_once('@')
            .map_or(capture.0.as_str(), |(server, _)| server);
        servers.entry(server).or_default().push(capture);
    }
    servers
        .into_values()
        .flat_map(|of| {
            of.windows(2)
                .map(|pair| (pair[0], pair[1]))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn a_capture_compared_with_itself_shows_nothing() {
    for (name, surface) in corpus() {
        assert!(compare(&surface, &surface).is_empty(), "{name}");
    }
}

#[test]
fn every_byte_of_difference_is_reported() {
    let corpus = corpus();
    for ((old_name, old), (new_name, new)) in pairs(&corpus) {
        let changes = compare(old, new);
        let told: BTreeSet<Option<&str>> = changes
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
                told.contains(&Some(key)),
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
                told.contains(&None),
                "{old_name} -> {new_name}: the server itself"
            );
        }
    }
}

#[test]
fn every_change_is_located_and_has_a_rule() {
    let corpus = corpus();
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
        }
    }
}

#[test]
fn reading_and_writing_loses_nothing() {
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
fn what_a_provider_refuses_is_there_and_is_told_when_it_is_new() {
    let corpus = corpus();
    let mut refused: BTreeMap<Provider, usize> = BTreeMap::new();
    let mut keywords: BTreeMap<(Provider, String), usize> = BTreeMap::new();
    let mut tools = 0;
    let start = std::time::Instant::now();
    for (name, surface) in &corpus {
        for tool in surface.of_kind(Kind::Tool) {
            tools += 1;
            for provider in Provider::ALL {
                let found = violations(*provider, &tool.definition);
                for violation in &found {
                    assert!(
                        pointer::resolve(&tool.definition, &violation.pointer).is_some(),
                        "{name}: {} {violation:?}",
                        tool.key
                    );
                }
                *refused.entry(*provider).or_default() += usize::from(!found.is_empty());
                let told: BTreeSet<String> = found.into_iter().map(|it| it.keyword).collect();
                for keyword in told {
                    *keywords.entry((*provider, keyword)).or_default() += 1;
                }
            }
        }
    }
    let took = start.elapsed();
    let mut rules: BTreeMap<RuleId, usize> = BTreeMap::new();
    for ((old_name, old), (new_name, new)) in pairs(&corpus) {
        let mut ids = BTreeSet::new();
        for change in compare(old, new) {
            if change.rule.is_of_provider() {
                assert!(ids.insert(change.id("s")), "{change:?}");
                *rules.entry(change.rule).or_default() += 1;
                println!(
                    "{old_name} -> {new_name}: {:?} {} {}",
                    change.component, change.pointer, change.message
                );
            }
        }
    }
    println!(
        "{tools} tools in {took:?}; refused {refused:?}; by keyword {keywords:?}; changes {rules:?}"
    );
}

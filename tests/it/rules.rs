//! Every rule is documented, has an old/new pair, and fires in it.

use std::collections::BTreeSet;
use std::path::Path;

use mcp_keel::canonical::Json;
use mcp_keel::drift::catalogue::{Example, all};
use mcp_keel::drift::{Rule, Subject, compare};
use mcp_keel::source::{Dialect, Source};
use mcp_keel::surface::Surface;

use crate::generated::assert_current;

fn surface(text: &str) -> Surface {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.json");
    std::fs::write(&path, text).unwrap();
    let source = Source::File(path.to_string_lossy().into_owned());
    source
        .surfaces(Dialect::Json)
        .unwrap()
        .into_values()
        .next()
        .unwrap()
}

/// The two surfaces of a rule's example.
fn example(rule: &Rule) -> Option<(Surface, Surface)> {
    let member = if rule.id.starts_with("output-") {
        "outputSchema"
    } else {
        "inputSchema"
    };
    let tool = |schema: &str| {
        let input = if member == "inputSchema" {
            ""
        } else {
            r#""inputSchema":{"type":"object"},"#
        };
        surface(&format!(
            r#"{{"tools":[{{"name":"a",{input}"{member}":{schema}}}]}}"#
        ))
    };
    match rule.example {
        Example::Surfaces { old, new } => Some((surface(old), surface(new))),
        Example::Schemas { old, new } => Some((tool(old), tool(new))),
        Example::Elsewhere(_) => None,
    }
}

#[test]
fn every_rule_fires_in_its_own_example() {
    for rule in all() {
        let Some((old, new)) = example(rule) else {
            continue;
        };
        match rule.subject {
            Subject::Change => {
                let fired: Vec<&str> = compare(&old, &new)
                    .iter()
                    .map(|change| change.rule)
                    .collect();
                assert!(
                    fired.contains(&rule.id),
                    "{} does not fire, but {fired:?}",
                    rule.id
                );
            }
            Subject::Finding => {
                let noted =
                    |surface: &Surface| surface.notes.iter().any(|note| note.rule == rule.id);
                assert!(noted(&new) && !noted(&old), "{}", rule.id);
            }
        }
    }
}

#[test]
fn examples_show_their_rule_and_little_else() {
    for rule in all() {
        let Some((old, new)) = example(rule) else {
            continue;
        };
        let changes = compare(&old, &new);
        let others: Vec<&str> = changes
            .iter()
            .map(|change| change.rule)
            .filter(|it| *it != rule.id)
            .collect();
        assert!(
            rule.subject == Subject::Finding || others.len() <= 1,
            "{}: {others:?}",
            rule.id
        );
    }
}

#[test]
fn an_example_compared_with_itself_shows_nothing() {
    for rule in all() {
        let Some((old, new)) = example(rule) else {
            continue;
        };
        for surface in [old, new] {
            assert!(compare(&surface, &surface).is_empty(), "{}", rule.id);
        }
    }
}

#[test]
fn every_change_has_the_level_that_the_catalogue_tells() {
    for rule in all() {
        let Some((old, new)) = example(rule) else {
            continue;
        };
        for change in compare(&old, &new) {
            if change.rule == rule.id {
                assert_eq!(change.level, rule.level, "{}", rule.id);
            }
        }
    }
}

#[test]
fn every_rule_is_told_properly() {
    let mut seen = BTreeSet::new();
    for rule in all() {
        assert!(seen.insert(rule.id), "{} stands twice", rule.id);
        assert!(
            rule.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
            "{}",
            rule.id
        );
        assert!(
            !rule.summary.ends_with('.') && rule.summary.len() < 90,
            "{}: {}",
            rule.id,
            rule.summary
        );
        for text in [rule.rationale, rule.advice] {
            assert!(
                text.ends_with('.') && !text.contains("  "),
                "{}: {text}",
                rule.id
            );
        }
    }
}

#[test]
fn the_folder_of_examples_holds_nothing_that_is_not_a_rule() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rules");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            all().iter().any(|rule| rule.id == name),
            "fixtures/rules/{name} belongs to no rule"
        );
    }
}

#[test]
fn the_documentation_of_the_rules_is_current() {
    assert_current("docs/rules.md", &mcp_keel::report::rules::markdown());
}

#[test]
fn what_no_rule_knows_is_never_silent() {
    let old = r#"{"tools":[{"name":"a","x":{"y":[1,{"z":1}]}},7]}"#;
    let new = r#"{"tools":[{"name":"a","x":{"y":[1,{"z":2}]}},8]}"#;
    let changes = compare(&surface(old), &surface(new));
    let told: Vec<(&str, &str)> = changes
        .iter()
        .map(|it| (it.rule, it.pointer.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("unclassified-change", ""),
            ("unclassified-change", "/x/y/1/z")
        ]
    );
    assert_eq!(changes[1].new, Some(Json::integer(2)));
}

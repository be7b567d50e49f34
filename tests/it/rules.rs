//! Every rule is documented, has an old/new pair, and fires in it.

use std::collections::BTreeSet;
use std::path::Path;

use mcp_keel::canonical::Json;
use mcp_keel::conformance;
use mcp_keel::drift::compare;
use mcp_keel::judgement::Level;
use mcp_keel::rules::{Example, Rule, RuleId, Side, Subject, all};
use mcp_keel::surface::Surface;

use crate::generated::{assert_blocks_current, assert_current};
use crate::surfaces::of as surface;

/// The two surfaces of a rule's example.
fn example(rule: &Rule) -> Option<(Surface, Surface)> {
    let member = if rule.id.side() == Some(Side::Output) {
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
                let fired: Vec<RuleId> = compare(&old, &new)
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
                let noted = |surface: &Surface| {
                    let mut refused = conformance::notes(surface, |_, _| false);
                    refused.extend(surface.notes.clone());
                    refused.iter().any(|note| note.rule == rule.id)
                };
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
        let others: Vec<RuleId> = changes
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
fn an_example_compared_with_itself_has_no_changes() {
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
fn every_change_has_the_level_in_the_catalogue() {
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
fn every_rule_explains_itself_in_few_plain_words() {
    let words = |text: &str| text.split_whitespace().count();
    let mut seen = BTreeSet::new();
    for rule in all() {
        let id = rule.id.id();
        assert!(seen.insert(id), "{id} is listed twice");
        assert!(
            id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
            "{id}"
        );
        assert!(
            !rule.summary.ends_with('.') && rule.summary.len() < 90,
            "{id}: {}",
            rule.summary
        );
        for (text, most) in [(rule.rationale, 75), (rule.advice, 45)] {
            assert!(
                text.ends_with('.') && !text.contains("  ") && words(text) <= most,
                "{id} needs at most {most} words in full sentences: {text}"
            );
        }
        // The rationale does not repeat the summary, and the advice for breaking changes is not
        // just "accept it".
        let summary: BTreeSet<&str> = rule.summary.split_whitespace().collect();
        assert!(
            rule.rationale
                .split_whitespace()
                .any(|word| !summary.contains(word))
                && words(rule.rationale) >= 4,
            "{id} needs a reason: {}",
            rule.rationale
        );
        let accepted = rule.advice.starts_with("Accept it") || rule.advice.starts_with("Nothing");
        assert!(
            !(rule.level == Level::Breaking && accepted),
            "{id} breaks callers and needs advice: {}",
            rule.advice
        );
    }
}

#[test]
fn the_examples_folder_contains_only_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rules");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name.parse::<RuleId>().is_ok(),
            "fixtures/rules/{name} belongs to no rule"
        );
    }
}

#[test]
fn the_rule_documentation_is_current() {
    assert_current("docs/rules.md", &mcp_keel::report::rules::markdown());
}

#[test]
fn the_table_of_default_actions_is_current() {
    let table = format!("\n{}\n", mcp_keel::report::rules::default_actions());
    assert_blocks_current("docs/policy.md", &[("default actions", table)]);
}

/// The policy itself computes it, from examples of each kind.
#[test]
fn the_table_of_what_blocks_is_current() {
    let table = format!("\n{}\n", mcp_keel::report::rules::what_blocks());
    assert!(table.contains("**warn**") && table.contains("**block**"));
    assert_blocks_current("docs/policy.md", &[("what blocks", table.clone())]);
    assert_blocks_current("README.md", &[("what blocks", table)]);
}

#[test]
fn a_change_without_a_rule_is_never_silent() {
    let old = r#"{"tools":[{"name":"a","x":{"y":[1,{"z":1}]}},7]}"#;
    let new = r#"{"tools":[{"name":"a","x":{"y":[1,{"z":2}]}},8]}"#;
    let changes = compare(&surface(old), &surface(new));
    let reported: Vec<(RuleId, &str)> = changes
        .iter()
        .map(|it| (it.rule, it.pointer.as_str()))
        .collect();
    assert_eq!(
        reported,
        [
            (RuleId::UnclassifiedChange, ""),
            (RuleId::UnclassifiedChange, "/x/y/1/z")
        ]
    );
    assert_eq!(changes[1].new, Some(Json::integer(2)));
}

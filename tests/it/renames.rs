//! Tables of names: which tools and members are one under two names, and which never are.
//! `fixtures/renames` says how to read them.

use mcp_keel::drift::{Change, compare};
use mcp_keel::judgement::Exposure;
use mcp_keel::rules::RuleId;
use mcp_keel::surface::Surface;
use serde_json::{Map, Value, json};

const TOOLS: &str = include_str!("../../fixtures/renames/tools.txt");
const MEMBERS: &str = include_str!("../../fixtures/renames/members.txt");

/// The cells of each line.
fn rows(table: &str) -> Vec<Vec<&str>> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect()
}

fn surface(mut tools: Vec<Value>) -> Surface {
    // A server with no tool in common would be another server.
    tools.push(json!({"name": "stay", "inputSchema": {"type": "object"}}));
    let list = json!({ "tools": tools }).to_string();
    crate::surfaces::of(&list)
}

/// `sum(a, b); next(c)`
fn tools(signatures: &str, text: &str) -> Vec<Value> {
    let of = |signature: &str| {
        let (name, parameters) = signature.trim().split_once('(').unwrap();
        let names = parameters.trim_end_matches(')').split(',').map(str::trim);
        let properties: Map<String, Value> = names
            .filter(|name| !name.is_empty())
            .map(|name| (name.to_owned(), json!({"type": "string"})))
            .collect();
        let schema = json!({"type": "object", "properties": properties});
        json!({"name": name, "description": text, "inputSchema": schema})
    };
    signatures.split(';').map(of).collect()
}

fn renamed(changes: &[Change], rules: &[RuleId]) -> usize {
    let rules = changes.iter().filter(|it| rules.contains(&it.rule));
    rules.count()
}

/// What is not as its line says.
fn wrong(row: &[&str], expected: bool, found: usize, of: usize) -> Option<String> {
    let right = if expected { found == of } else { found == 0 };
    (!right).then(|| format!("{}: {found} of {of} renamed", row.join(" | ")))
}

#[test]
fn tools_are_paired_as_the_table_says_and_none_is_less_exposed_than_a_new_one() {
    let mut problems = Vec::new();
    for row in rows(TOOLS) {
        let (verdict, least) = row[0].split_once(' ').unwrap();
        let (old, new) = row[1].split_once(" > ").unwrap();
        let old = tools(old, row[2]);
        let count = old.len();
        let new = tools(new, row.get(3).unwrap_or(&row[2]));
        let changes = compare(&surface(old), &surface(new));
        let found = renamed(&changes, &[RuleId::ToolRenamed]);
        problems.extend(wrong(&row, verdict == "pair", found, count));
        let least = match least {
            "high" => Exposure::High,
            "medium" => Exposure::Medium,
            _ => Exposure::Low,
        };
        let entered = [RuleId::ToolRenamed, RuleId::ToolAdded];
        for change in changes.iter().filter(|it| entered.contains(&it.rule)) {
            if change.exposure < least {
                problems.push(format!(
                    "{}: exposure {:?}",
                    row.join(" | "),
                    change.exposure
                ));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn members_are_paired_as_the_table_says_on_both_sides() {
    let mut problems = Vec::new();
    for row in rows(MEMBERS) {
        let (old, new) = row[1].split_once(" > ").unwrap();
        let count = old.split(',').count();
        for side in ["inputSchema", "outputSchema"] {
            let with = |names: &str| {
                let names: Vec<&str> = names.split(',').map(str::trim).collect();
                let text = row.get(2).unwrap_or(&"");
                let mut properties: Map<String, Value> = names
                    .iter()
                    .map(|name| {
                        let schema = json!({"type": "string", "description": text});
                        ((*name).to_owned(), schema)
                    })
                    .collect();
                properties.insert("keep".to_owned(), json!({"type": "integer"}));
                let schema = json!({"type": "object", "properties": properties, "required": names});
                let mut tool = json!({"name": "sum", "inputSchema": {"type": "object"}});
                tool[side] = schema;
                surface(vec![tool])
            };
            let changes = compare(&with(old), &with(new));
            let rules = [RuleId::InputPropertyRenamed, RuleId::OutputPropertyRenamed];
            let found = renamed(&changes, &rules);
            problems.extend(wrong(&row, row[0] == "pair", found, count));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

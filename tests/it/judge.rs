//! The judge: what the program says about many pairs of lists, as committed tables of pair, exit code and rules.
//!
//! A verdict never changes unnoticed: the test fails and prints what flipped, by rule and count, and by name what no longer
//! fails. Only `MCP_KEEL_JUDGE=accept cargo test --locked --test it judge -- --include-ignored` accepts the flips; renewing
//! snapshots does not.
//!
//! `fixtures/judge/fixtures.tsv` has the pairs of this repository, in both directions. `corpus.tsv` has the consecutive
//! versions of the captures that `MCP_KEEL_CORPUS` names, which are other people's texts: a pair is the digest of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mcp_keel::rules::{Example, Side, all};
use mcp_keel::{Date, Format, Policy, judge, read, render};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::generated::committed;

/// Pairs among the files of `fixtures`.
const FILES: [(&str, &str); 10] = [
    ("demo/pinned.json", "demo/drifted.json"),
    ("hostile/old.json", "hostile/new.json"),
    ("judge/pairs/c1.json", "judge/pairs/c2.json"),
    ("judge/pairs/e.json", "judge/pairs/f.json"),
    ("judge/pairs/h1.json", "judge/pairs/h2.json"),
    ("judge/pairs/j1.json", "judge/pairs/j2.json"),
    ("judge/pairs/n1.json", "judge/pairs/n2.json"),
    ("judge/pairs/w1.json", "judge/pairs/w2.json"),
    ("judge/pairs/x1.json", "judge/pairs/x2.json"),
    ("judge/pairs/x1.json", "judge/pairs/y2.json"),
];

/// What is said about one pair.
#[derive(Clone, PartialEq, Eq)]
struct Judgement {
    exit: u8,
    /// How often each rule applies, with the proof if there is one: `tool-removed`, `input-minimum-raised:witness`.
    rules: BTreeMap<String, usize>,
}

/// Judgements by the name of the pair.
type Table = BTreeMap<String, Judgement>;

impl Judgement {
    /// What `mcp-keel diff OLD NEW` says without a configuration.
    fn of(old: &str, new: &str) -> Self {
        let [old, new] = [old, new].map(|text| read("a source", text.as_bytes()).unwrap());
        let today = Date {
            year: 2026,
            month: 1,
            day: 1,
        };
        let report = judge(&old, &new, &Policy::default(), today);
        let report: Value = serde_json::from_str(&render(&report, Format::Json)).unwrap();
        let exit = match report["verdict"].as_str().unwrap() {
            "pass" | "warn" => 0,
            "block" => 1,
            "undetermined" => 3,
            other => panic!("the judge does not know the verdict {other}"),
        };
        let mut rules = BTreeMap::new();
        count_rules(&report["servers"], &mut rules);
        Self { exit, rules }
    }

    fn row(&self) -> String {
        let mut rules = Vec::new();
        for (rule, count) in &self.rules {
            rules.push(match count {
                1 => rule.clone(),
                _ => format!("{rule}*{count}"),
            });
        }
        format!("{}\t{}", self.exit, rules.join(" "))
    }

    fn from_row(row: &str) -> Self {
        let (exit, rules) = row.split_once('\t').unwrap();
        let rules = rules.split_ascii_whitespace().map(|rule| {
            let (rule, count) = rule.split_once('*').unwrap_or((rule, "1"));
            (rule.to_owned(), count.parse().unwrap())
        });
        Self {
            exit: exit.parse().unwrap(),
            rules: rules.collect(),
        }
    }
}

/// Every object of a report that has a rule: changes and findings, wherever they are.
fn count_rules(report: &Value, rules: &mut BTreeMap<String, usize>) {
    match report {
        Value::Array(items) => items.iter().for_each(|item| count_rules(item, rules)),
        Value::Object(members) => {
            if let Some(rule) = report["rule"].as_str() {
                let proof = report["proof"]
                    .as_str()
                    .or(report["proof"]["kind"].as_str());
                let name = match proof {
                    Some(proof) if proof != "none" => format!("{rule}:{proof}"),
                    _ => rule.to_owned(),
                };
                *rules.entry(name).or_default() += 1;
            }
            members.values().for_each(|value| count_rules(value, rules));
        }
        _ => {}
    }
}

/// The example of each rule as two texts, and the pairs of [`FILES`].
fn pairs_of_fixtures() -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let text = |file: &str| {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        // Some are lists of tools alone.
        if text.starts_with('[') {
            return format!(r#"{{"tools":{text}}}"#);
        }
        text
    };
    let mut pairs = Vec::new();
    for (old, new) in FILES {
        pairs.push((format!("{old} {new}"), text(old), text(new)));
    }
    for rule in all() {
        let (old, new) = match rule.example {
            Example::Surfaces { old, new } => (old.to_owned(), new.to_owned()),
            Example::Schemas { old, new } => {
                let tool = |schema: &str| {
                    let schemas = match rule.id.side() {
                        Some(Side::Output) => {
                            format!(r#""inputSchema":{{"type":"object"}},"outputSchema":{schema}"#)
                        }
                        _ => format!(r#""inputSchema":{schema}"#),
                    };
                    format!(r#"{{"tools":[{{"name":"a",{schemas}}}]}}"#)
                };
                (tool(old), tool(new))
            }
            Example::Elsewhere(_) => continue,
        };
        pairs.push((format!("rule {}", rule.id), old, new));
    }
    pairs
}

/// Compares with the committed table, or writes it if the flips are accepted. `known_as` adds to the name of a pair what
/// is not committed.
fn assert_no_flips(file: &str, now: &Table, known_as: impl Fn(&str) -> String) {
    let path = format!("fixtures/judge/{file}");
    let before: Table = committed(&path)
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (name, row) = line.split_once('\t').unwrap();
            (name.to_owned(), Judgement::from_row(row))
        })
        .collect();
    let flips = flips(&before, now, known_as);
    if flips.is_empty() {
        return;
    }
    match std::env::var("MCP_KEEL_JUDGE").as_deref() {
        Ok("accept") => {
            let mut text = "# pair\texit\trules\n".to_owned();
            for (name, judgement) in now {
                let _ = writeln!(text, "{name}\t{}", judgement.row());
            }
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path), text).unwrap();
        }
        Ok(other) => panic!("MCP_KEEL_JUDGE is {other:?}; the only value is `accept`"),
        Err(_) => panic!(
            "{path} differs. Explain each line in the commit; `MCP_KEEL_JUDGE=accept cargo test --locked --test it judge \
             -- --include-ignored` accepts them:\n{flips}"
        ),
    }
}

/// What differs between two tables: exit codes by name, those that no longer fail first; rules by count.
fn flips(before: &Table, now: &Table, known_as: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut rules: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut exits: BTreeMap<(bool, u8, u8), Vec<String>> = BTreeMap::new();
    for (name, new) in now {
        let Some(old) = before.get(name) else {
            let _ = writeln!(text, "new pair: {}", known_as(name));
            continue;
        };
        if old.exit != new.exit {
            let no_longer_fails = new.exit == 0;
            let of_this_kind = exits.entry((!no_longer_fails, old.exit, new.exit));
            of_this_kind.or_default().push(known_as(name));
        }
        for rule in old
            .rules
            .keys()
            .chain(new.rules.keys())
            .collect::<BTreeSet<_>>()
        {
            let count = |judgement: &Judgement| judgement.rules.get(rule).copied().unwrap_or(0);
            let (old, new) = (count(old), count(new));
            if old != new {
                let (pairs, gone, added) = rules.entry(rule).or_default();
                *pairs += 1;
                *gone += old.saturating_sub(new);
                *added += new.saturating_sub(old);
            }
        }
    }
    for name in before.keys().filter(|name| !now.contains_key(*name)) {
        let _ = writeln!(text, "pair is gone: {}", known_as(name));
    }
    for ((_, old, new), names) in exits {
        for name in names {
            let _ = writeln!(text, "exit {old} -> {new}: {name}");
        }
    }
    for (rule, (pairs, gone, added)) in rules {
        let _ = writeln!(text, "{rule}: -{gone} +{added} in {pairs} pairs");
    }
    text
}

#[test]
fn no_verdict_about_a_fixture_flips_unnoticed() {
    let mut table = Table::new();
    for (name, old, new) in pairs_of_fixtures() {
        let backwards = Judgement::of(&new, &old);
        table.insert(format!("{name} backwards"), backwards);
        table.insert(name, Judgement::of(&old, &new));
    }
    assert!(table.len() > 400, "{} pairs", table.len());
    assert_no_flips("fixtures.tsv", &table, str::to_owned);
}

#[test]
#[ignore = "needs MCP_KEEL_CORPUS"]
fn no_verdict_about_a_published_server_flips_unnoticed() {
    let folder = crate::machine::folder_of("MCP_KEEL_CORPUS");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    let server = |path: &Path| {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        stem.rsplit_once('@').unwrap().0.to_owned()
    };
    let mut table = Table::new();
    let mut names = BTreeMap::new();
    for pair in files.windows(2) {
        if server(&pair[0]) != server(&pair[1]) {
            continue;
        }
        let texts = [&pair[0], &pair[1]].map(|path| std::fs::read_to_string(path).unwrap());
        let mut hash = Sha256::new();
        for text in &texts {
            hash.update(Sha256::digest(text));
        }
        let mut id = String::new();
        for byte in &hash.finalize()[..16] {
            let _ = write!(id, "{byte:02x}");
        }
        table.insert(id.clone(), Judgement::of(&texts[0], &texts[1]));
        let files = [&pair[0], &pair[1]].map(|path| path.file_stem().unwrap().to_string_lossy());
        names.insert(id, files.join(" "));
    }
    assert!(!table.is_empty(), "no server is there in two versions");
    assert_no_flips("corpus.tsv", &table, |id| {
        let files = names.get(id).map(String::as_str).unwrap_or_default();
        format!("{id} {files}")
    });
}

#[test]
fn a_flip_is_described_by_rule_and_count_and_a_pass_by_name() {
    let row = |row: &str| Judgement::from_row(row);
    let before = Table::from([
        ("one".to_owned(), row("1\ttool-removed*2 title-changed")),
        ("two".to_owned(), row("0\t")),
        ("old".to_owned(), row("0\t")),
    ]);
    let now = Table::from([
        ("one".to_owned(), row("0\ttitle-changed")),
        ("two".to_owned(), row("1\ttool-removed")),
        ("new".to_owned(), row("0\t")),
    ]);
    let described = flips(&before, &now, |name| format!("`{name}`"));
    assert_eq!(
        described,
        "new pair: `new`\npair is gone: `old`\nexit 1 -> 0: `one`\nexit 0 -> 1: `two`\n\
         tool-removed: -2 +1 in 2 pairs\n"
    );
    assert_eq!(row("1\ta:witness*2 b").row(), "1\ta:witness*2 b");
}

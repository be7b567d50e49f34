//! The contract through git: `log`, `changelog`.

use std::process::Command;

use crate::keel::{Keel, serving};

/// A repository of its own.
fn repository() -> Keel {
    let keel = Keel::new();
    git(&keel, &["init", "-q", "-b", "main"]);
    for (name, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        git(&keel, &["config", name, value]);
    }
    keel
}

/// Whether git succeeded, and what it printed.
fn try_git(keel: &Keel, args: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .args(args)
        .current_dir(keel.folder())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", keel.folder())
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", "2026-11-01T12:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-11-01T12:00:00Z")
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&printed).into_owned(),
    )
}

#[track_caller]
fn git(keel: &Keel, args: &[&str]) -> String {
    let (ok, printed) = try_git(keel, args);
    assert!(ok, "git {args:?}: {printed}");
    printed
}

fn tool(name: &str, description: &str, most: u32) -> String {
    format!(
        r#"{{"name": "{name}", "description": "{description}", "inputSchema": {{"type": "object", "properties": {{"n": {{"type": "integer", "maximum": {most}}}}}}}}}"#
    )
}

#[track_caller]
fn pin(keel: &Keel, server: &str, tools: &[String], message: &str) {
    let list = format!("[{}]", tools.join(","));
    let [program, scenario] = serving(&list);
    keel.run(&["pin", server, "--", &program, &scenario])
        .exits(0);
    git(keel, &["add", "."]);
    git(keel, &["commit", "-qm", message]);
}

#[test]
fn the_log_says_when_a_tool_appeared_changed_and_broke() {
    let keel = repository();
    let a = tool("a", "First.", 10);
    pin(&keel, "one", std::slice::from_ref(&a), "begin");
    pin(&keel, "one", &[a, tool("b", "Second.", 10)], "add b");
    git(&keel, &["tag", "v1.1.0"]);
    pin(
        &keel,
        "one",
        &[tool("a", "First.", 10), tool("b", "Second.", 3)],
        "tighten b",
    );
    let log = keel.run(&["log"]).exits(0).stdout;
    let at = |text: &str| {
        log.find(text)
            .unwrap_or_else(|| panic!("{text} is not in {log}"))
    };
    assert!(at("tighten b") < at("add b") && at("add b") < at("begin"));
    keel.run(&["log"]).exits(0).names(&[
        "2026-11-01",
        "v1.1.0",
        "breaking tool:b@ `n`: maximum 10 → 3",
        "tool:b@",
    ]);
    let of_b = keel.run(&["log", "b"]).exits(0).stdout;
    assert!(
        of_b.contains("tighten b") && of_b.contains("add b") && !of_b.contains("begin"),
        "{of_b}"
    );
    let of_a = keel.run(&["log", "a"]).exits(0).stdout;
    assert!(
        of_a.contains("begin") && !of_a.contains("tighten b"),
        "{of_a}"
    );
    let json = keel.run(&["log", "--format", "json"]).exits(0).json();
    assert_eq!(json["revisions"].as_array().unwrap().len(), 3);
}

#[test]
fn the_log_of_merged_branches_says_what_each_merge_brought_and_nothing_else() {
    let keel = repository();
    let (a, b) = (tool("a", "First.", 10), tool("b", "Second.", 10));
    pin(&keel, "one", &[a.clone(), b.clone()], "begin");
    git(&keel, &["checkout", "-qb", "topic"]);
    let c = tool("c", "Third.", 1);
    pin(&keel, "one", &[a.clone(), b, c], "add c");
    git(&keel, &["checkout", "-q", "main"]);
    pin(&keel, "one", &[a, tool("b", "Second.", 3)], "tighten b");
    git(&keel, &["merge", "-q", "-m", "merge topic", "topic"]);
    let log = keel.run(&["log"]).exits(0).stdout;
    let commits: Vec<&str> = log.split("\n\n").collect();
    assert!(commits[0].contains("merge topic") && commits[0].contains("tool:c@  new tool"));
    assert!(!commits[0].contains("tool:b@"), "{log}");
    assert!(commits[1].contains("tighten b") && commits[1].contains("tool:b@"));
    assert!(!log.contains("removed"), "no one removed a tool: {log}");
}

#[test]
fn release_notes_come_in_three_styles() {
    let keel = repository();
    pin(
        &keel,
        "one",
        &[tool("a", "First.", 10), tool("gone", "Old.", 1)],
        "begin",
    );
    git(&keel, &["tag", "v1.0.0"]);
    pin(
        &keel,
        "one",
        &[tool("a", "First.", 7), tool("extra_tool", "New.", 1)],
        "next",
    );
    git(&keel, &["tag", "v2.0.0"]);
    let range = "v1.0.0..v2.0.0";
    keel.run(&["changelog", range]).exits(0).names(&[
        "## 2.0.0",
        "### Breaking",
        "### Added - `extra_tool`: ",
    ]);
    keel.run(&["changelog", range, "--style", "keepachangelog"])
        .exits(0)
        .names(&[
            "## [2.0.0] - 2026-11-01",
            "### Added",
            "### Changed",
            "### Removed",
            "- **Breaking:** `gone`: tool removed",
        ]);
    keel.write("package.json", r#"{"name": "@me/server"}"#);
    keel.run(&["changelog", range, "--style", "changesets"])
        .exits(0)
        .says("--- \"@me/server\": major ---");
    keel.run(&["changelog", "v2.0.0"])
        .exits(0)
        .names(&["Unreleased", "No changes to the MCP contract."]);
    keel.run(&["changelog", "v9..v2.0.0"])
        .exits(2)
        .says("git knows no revision `v9`");
}

//! Baselines in git: what a diff shows, what merges by itself, and how `pin` resolves the rest.

use std::process::Command;

use crate::keel::{Keel, Run, serving};
use crate::machine::git;

fn tool(name: &str, description: &str, most: u32) -> String {
    format!(
        r#"{{"name": "{name}", "description": "{description}", "inputSchema": {{"type": "object", "properties": {{"n": {{"type": "integer", "maximum": {most}}}}}}}}}"#
    )
}

/// Tools of these names, all alike.
fn tools(names: &str) -> Vec<String> {
    let names = names.split(' ').filter(|name| !name.is_empty());
    names.map(|name| tool(name, "Does it.", 10)).collect()
}

fn pin(keel: &Keel, server: &str, tools: &[String]) -> Run {
    let [program, scenario] = serving(&format!("[{}]", tools.join(",")));
    keel.run(&["pin", server, "--", &program, &scenario])
}

#[track_caller]
fn commit(keel: &Keel, server: &str, tools: &[String]) {
    pin(keel, server, tools).exits(0);
    git(keel.folder(), &["add", "."]);
    git(keel.folder(), &["commit", "-qm", server]);
}

/// Merges two branches by plain git. Returns whether that worked.
#[track_caller]
fn merged(base: &[String], ours: &[String], theirs: &[String]) -> (Keel, bool) {
    let keel = Keel::new();
    git(keel.folder(), &["init", "-q"]);
    commit(&keel, "it", base);
    git(keel.folder(), &["checkout", "-qb", "topic"]);
    commit(&keel, "it", theirs);
    git(keel.folder(), &["checkout", "-q", "main"]);
    commit(&keel, "it", ours);
    let worked = try_merge(&keel);
    (keel, worked)
}

fn try_merge(keel: &Keel) -> bool {
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(["merge", "-q", "--no-edit", "topic"])
        .current_dir(keel.folder())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    status.unwrap().success()
}

/// What `pin` writes for these tools in a folder without a baseline.
fn pinned(tools: &[String]) -> String {
    let keel = Keel::new();
    pin(&keel, "it", tools).exits(0);
    keel.read("mcp-baseline.json")
}

/// The list with one tool replaced, added, or removed.
fn with(list: &[String], at: usize, tool: String) -> Vec<String> {
    let mut list = list.to_vec();
    list[at] = tool;
    list
}

#[test]
fn branches_that_touch_different_tools_merge_by_plain_git_into_what_pin_writes() {
    let five = tools("b d f h j");
    let reworded = |list: &[String], at: usize, name: &str| {
        with(list, at, tool(name, "Does it well.", 10))
    };
    let bounded =
        |list: &[String], at: usize, name: &str| with(list, at, tool(name, "Does it.", 7));
    let added = |list: &[String], name: &str| [list, &tools(name)].concat();
    let without = |list: &[String], at: usize| [&list[..at], &list[at + 1..]].concat();
    let rows: [(&str, Vec<String>, Vec<String>, Vec<String>); 7] = [
        (
            "two tools reworded",
            reworded(&five, 0, "b"),
            reworded(&five, 3, "h"),
            reworded(&reworded(&five, 0, "b"), 3, "h"),
        ),
        (
            "neighbours changed",
            bounded(&five, 1, "d"),
            bounded(&five, 2, "f"),
            bounded(&bounded(&five, 1, "d"), 2, "f"),
        ),
        (
            "one added beside one that changed",
            added(&five, "e"),
            bounded(&five, 2, "f"),
            added(&bounded(&five, 2, "f"), "e"),
        ),
        (
            "two added far apart",
            added(&five, "a"),
            added(&five, "i"),
            added(&five, "a i"),
        ),
        (
            "one removed, and another changed elsewhere",
            without(&five, 1),
            bounded(&five, 4, "j"),
            without(&bounded(&five, 4, "j"), 1),
        ),
        (
            "the last changed, and one added after it",
            bounded(&five, 4, "j"),
            added(&five, "k"),
            added(&bounded(&five, 4, "j"), "k"),
        ),
        (
            "the first changed, and one added before it",
            bounded(&five, 0, "b"),
            added(&five, "a"),
            added(&bounded(&five, 0, "b"), "a"),
        ),
    ];
    for (name, ours, theirs, both) in rows {
        let (keel, worked) = merged(&five, &ours, &theirs);
        assert!(worked, "{name}");
        assert_eq!(keel.read("mcp-baseline.json"), pinned(&both), "{name}");
        pin(&keel, "it", &both).exits(0).says("already up to date");
    }
}

#[test]
fn tools_added_in_the_same_gap_are_a_conflict_that_pin_resolves() {
    let base = tools("b h");
    let (ours, theirs) = (tools("b c h"), tools("b d h"));
    let (keel, worked) = merged(&base, &ours, &theirs);
    assert!(!worked && keel.read("mcp-baseline.json").contains("<<<<<<<"));
    let both = tools("b c d h");
    let [program, scenario] = serving(&format!("[{}]", both.join(",")));
    keel.run(&["check", "it", "--", &program, &scenario])
        .exits(2)
        .names(&["merge conflict", "`mcp-keel pin` resolves it"]);
    keel.run(&["pin", "it", "--only", "c", "--", &program, &scenario])
        .exits(2)
        .says("merge conflicts");
    pin(&keel, "it", &both)
        .exits(0)
        .says("resolved: it is as the server lists it now");
    assert_eq!(keel.read("mcp-baseline.json"), pinned(&both));
    git(keel.folder(), &["add", "."]);
    git(keel.folder(), &["commit", "-qm", "merged"]);
    pin(&keel, "it", &both).exits(0).says("already up to date");
}

/// Two servers in one file; both branches touch `it` in the same gap, and `other` as given.
fn of_two_servers(ours: &[String], theirs: &[String]) -> Keel {
    let keel = Keel::new();
    git(keel.folder(), &["init", "-q"]);
    let base = tools("x y");
    pin(&keel, "other", &base).exits(0);
    commit(&keel, "it", &tools("b h"));
    git(keel.folder(), &["checkout", "-qb", "topic"]);
    pin(&keel, "other", theirs).exits(0);
    commit(&keel, "it", &tools("b d h"));
    git(keel.folder(), &["checkout", "-q", "main"]);
    pin(&keel, "other", ours).exits(0);
    commit(&keel, "it", &tools("b c h"));
    assert!(!try_merge(&keel));
    keel
}

#[test]
fn of_a_server_that_is_not_captured_the_side_that_changed_it_is_kept() {
    let changed = |at: usize, name: &str| with(&tools("x y"), at, tool(name, "Another.", 3));
    let keel = of_two_servers(&changed(0, "x"), &changed(1, "y"));
    pin(&keel, "it", &tools("b c d h")).exits(0).names(&[
        "it is as the server lists it now",
        "x of other is from ours",
        "y of other is from theirs",
    ]);
    let both = with(&changed(0, "x"), 1, tool("y", "Another.", 3));
    pin(&keel, "other", &both)
        .exits(0)
        .says("already up to date");
}

#[test]
fn what_both_sides_changed_and_nothing_captured_is_left_as_it_is() {
    let changed = |most: u32| with(&tools("x y"), 0, tool("x", "Another.", most));
    let keel = of_two_servers(&changed(3), &changed(4));
    let before = keel.read("mcp-baseline.json");
    pin(&keel, "it", &tools("b c d h")).exits(2).names(&[
        "x of other",
        "nothing was written",
        "git checkout --ours",
    ]);
    assert_eq!(keel.read("mcp-baseline.json"), before);
    // Once that server is captured as well, it is resolved.
    let servers = [
        ("it", tools("b c d h")),
        ("other", changed(5)),
    ]
    .map(|(name, tools)| {
        let [program, scenario] = serving(&format!("[{}]", tools.join(",")));
        format!("[server.{name}]\ncommand = ['{program}', '{scenario}']\n")
    });
    keel.write("mcp-keel.toml", &servers.concat());
    keel.run(&["pin"]).exits(0).says("resolved");
    keel.run(&["check"]).exits(0);
}

#[test]
fn without_both_sides_in_the_index_a_conflict_is_an_error() {
    let (keel, worked) = merged(&tools("b h"), &tools("b c h"), &tools("b d h"));
    assert!(!worked);
    git(keel.folder(), &["add", "."]);
    let before = keel.read("mcp-baseline.json");
    pin(&keel, "it", &tools("b c d h"))
        .exits(2)
        .says("merge conflict");
    assert_eq!(keel.read("mcp-baseline.json"), before);
}

/// The lines that git shows as removed and added.
fn diff(keel: &Keel) -> (Vec<String>, Vec<String>, usize) {
    let shown = git(keel.folder(), &["diff", "-U0", "HEAD~1", "HEAD"]);
    let lines = |mark: &str, header: &str| -> Vec<String> {
        let lines = shown.lines().filter(|line| !line.starts_with(header));
        lines
            .filter_map(|line| line.strip_prefix(mark))
            .map(|line| line.trim().to_owned())
            .collect()
    };
    let hunks = shown.lines().filter(|line| line.starts_with("@@")).count();
    (lines("-", "---"), lines("+", "+++"), hunks)
}

#[test]
fn a_diff_shows_the_change_and_one_digest_a_component() {
    let after = |change: &dyn Fn(&mut Vec<String>)| {
        let keel = Keel::new();
        git(keel.folder(), &["init", "-q"]);
        let mut list = tools("b d f");
        commit(&keel, "it", &list);
        change(&mut list);
        commit(&keel, "it", &list);
        diff(&keel)
    };
    let digests = |lines: &[String]| lines.iter().filter(|it| it.contains("sha256:")).count();
    // A reworded description: it and the fingerprint.
    let (removed, added, _) = after(&|list| list[1] = tool("d", "Does it well.", 10));
    assert_eq!((removed.len(), added.len()), (2, 2), "{removed:?} {added:?}");
    assert_eq!(added[1], r#""description": "Does it well.","#);
    assert_eq!(digests(&added), 1);
    // A new parameter: the signature says which.
    let (removed, added, _) = after(&|list| {
        list[1] = list[1].replace(r#""n": {"#, r#""m": {"type": "string"}, "n": {"#);
    });
    assert_eq!(removed[0], r#""signature": "d(n?: integer ..10)","#);
    assert_eq!(added[0], r#""signature": "d(m?: string, n?: integer ..10)","#);
    assert_eq!((removed.len(), digests(&added)), (2, 1), "{removed:?}");
    // A new tool: one block, which begins with its key and its signature.
    let (removed, added, hunks) = after(&|list| list.push(tool("e", "Does it.", 10)));
    assert_eq!((removed.len(), hunks, digests(&added)), (0, 1, 1));
    let first = added.iter().position(|it| it.contains("tool:e@")).unwrap();
    assert_eq!(added[first + 1], r#""signature": "e(n?: integer ..10)","#);
}

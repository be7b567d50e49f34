//! Pinning: names, what is shown, what is remembered, what is refused.

use crate::keel::{Keel, serving};

const TOOLS: &str = r#"[
  {"name": "greet", "description": "Says hello. It knows many languages.", "inputSchema": {"type": "object"},
   "annotations": {"readOnlyHint": true, "openWorldHint": false}},
  {"name": "wipe", "description": "Deletes everything", "inputSchema": {"type": "object"},
   "annotations": {"destructiveHint": true}}
]"#;

/// A server that calls itself by this name.
fn named(name: &str) -> String {
    format!(r#"{{"tools": {TOOLS}, "serverInfo": {{"name": "{name}", "version": "1.0.0"}}}}"#)
}

fn program() -> String {
    serving("[]")[0].clone()
}

#[test]
fn the_first_pin_lists_tools_with_their_signatures_and_first_sentences() {
    let run = Keel::new().run_serving(&["pin", "one"], TOOLS).exits(0);
    let run = run.names(&[
        "2 tools",
        "greet() [reads, closed world] Says hello.",
        "wipe() [destructive] Deletes everything",
    ]);
    assert!(!run.stdout.contains("many languages"), "{}", run.stdout);
    assert!(!run.stdout.contains("sha256"), "{}", run.stdout);
    // Once it is known, only what changed is of interest.
    let keel = Keel::new();
    keel.run_serving(&["pin", "one"], TOOLS).exits(0);
    let again = keel.run_serving(&["pin", "one"], TOOLS).exits(0);
    assert!(!again.stdout.contains("Says hello"), "{}", again.stdout);
}

#[test]
fn a_server_is_named_after_its_server_info_and_saved_so_that_check_needs_no_arguments() {
    let keel = Keel::new();
    let (program, scenario) = (program(), named("Weather Server"));
    keel.run(&[
        "pin",
        "--save",
        "--env",
        "LEVEL=1",
        "--env",
        "API_TOKEN=abcdefgh12345",
        "--",
        &program,
        &scenario,
    ])
    .exits(0)
    .names(&[
        "PINNED Weather-Server",
        "Saved to mcp-keel.toml",
        "API_TOKEN looks like a secret",
    ]);
    let config = keel.read("mcp-keel.toml");
    assert!(config.contains("[server.Weather-Server]"), "{config}");
    assert!(config.contains("env = { LEVEL = \"1\" }"), "{config}");
    assert!(config.contains("pass-env = [\"API_TOKEN\"]"), "{config}");
    assert!(!config.contains("abcdefgh12345"), "{config}");
    keel.run_with_env(&["check"], &[("API_TOKEN", "abcdefgh12345")])
        .exits(0)
        .says("Weather-Server matches the baseline");
    // The command alone finds its entry too, and is not written twice.
    keel.run(&["check", "--", &program, &scenario]).exits(0);
    keel.run(&["pin", "--save", "--", &program, &scenario])
        .exits(0);
    assert_eq!(keel.read("mcp-keel.toml"), config);
}

#[test]
fn a_second_server_does_not_replace_the_first_because_it_has_no_name() {
    let keel = Keel::new();
    let program = program();
    keel.run(&["pin", "--", &program, &named("one")]).exits(0);
    keel.run(&["pin", "--", &program, &named("two")]).exits(0);
    keel.run(&["baseline", "list"])
        .exits(0)
        .names(&["one version 1.0.0, 2 tools", "two version 1.0.0"]);
    keel.run(&["pin", "--", &program, &named("one")])
        .exits(0)
        .says("one");
    // Another server under a name that is taken has to be named.
    keel.run(&["baseline", "rename", "one", "three"]).exits(0);
    keel.run(&["baseline", "rename", "two", "one"]).exits(0);
    keel.run(&["pin", "--", &program, &named("one")])
        .exits(0)
        .says("three");
}

#[test]
fn a_hand_edit_is_not_laundered_by_pinning() {
    let keel = Keel::new();
    keel.run_serving(&["pin", "one"], TOOLS).exits(0);
    let edited = keel
        .read("mcp-baseline.json")
        .replace("Says hello", "Says hallo");
    keel.write("mcp-baseline.json", &edited);
    keel.run_serving(&["pin", "one"], TOOLS)
        .exits(2)
        .names(&["was changed by hand", "--force"]);
    assert_eq!(keel.read("mcp-baseline.json"), edited);
    keel.run_serving(&["pin", "one", "--force"], TOOLS).exits(0);
    keel.run_serving(&["check", "one"], TOOLS).exits(0);
}

#[test]
fn what_was_pinned_and_what_failed_is_counted_and_explained() {
    let config = format!(
        "[server.good]\ncommand = ['{}', '{{\"tools\": []}}']\n[server.bad]\ncommand = [\"/nonexistent/server\"]\n",
        program()
    );
    let keel = Keel::new().file("mcp-keel.toml", &config);
    keel.run(&["pin"])
        .exits(3)
        .names(&["1 of 2 servers pinned, 1 failed", "/nonexistent/server"]);
    keel.run(&["baseline", "list"]).exits(0).says("good");
}

#[test]
fn entries_are_listed_pruned_removed_and_renamed() {
    let keel = Keel::new();
    let program = program();
    for name in ["one", "two", "three"] {
        keel.run(&["pin", name, "--", &program, &named(name)])
            .exits(0);
    }
    keel.run(&["baseline", "remove", "thre"])
        .exits(2)
        .says("did you mean `three`?");
    keel.run(&["baseline", "remove", "two"]).exits(0);
    keel.run(&["baseline", "rename", "three", "one"])
        .exits(2)
        .says("has an entry `one` already");
    let listed = keel
        .run(&["baseline", "list", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(listed["servers"].as_array().unwrap().len(), 2);
    assert_eq!(listed["servers"][0]["tools"], 2);
    keel.write(
        "mcp-keel.toml",
        &format!(
            "[server.one]\ncommand = ['{program}', '{}']\n",
            named("one").replace('\n', " ")
        ),
    );
    keel.run(&["check"])
        .exits(0)
        .says("has `three`, which was not checked");
    keel.run(&["pin", "--prune", "--", &program, "{}"])
        .exits(2)
        .says("--prune needs all servers");
    keel.run(&["pin", "--prune"])
        .exits(0)
        .says("Removed from the baseline: three");
    keel.run(&["check"]).exits(0);
    let left = keel.run(&["baseline", "list"]).exits(0).stdout;
    assert!(!left.contains("three"), "{left}");
}

#[test]
fn pinning_shows_what_the_next_check_would_show() {
    let keel = Keel::new();
    let program = program();
    let config = format!(
        "[server.one]\ncommand = ['{program}', '{}']\n[[accept]]\nchange = \"00000000000000000000000000000001\"\nreason = \"old\"\nowner = \"me\"\n",
        named("one").replace('\n', " ")
    );
    keel.write("mcp-keel.toml", &config);
    keel.run(&["pin"]).exits(0).says("acceptance-unused");
    keel.run(&["check"]).exits(0).says("acceptance-unused");
}

#[test]
fn pinning_on_the_default_branch_in_ci_needs_yes() {
    let keel = Keel::new().file("a", "");
    crate::machine::repository(keel.folder());
    let [program, scenario] = serving(TOOLS);
    let pin = ["pin", "one"];
    let server = ["--", &program, &scenario];
    let on = |branch: &'static str| [("CI", "true"), ("GITHUB_REF", branch)];
    keel.run_with_env(&[&pin[..], &server].concat(), &on("refs/heads/main"))
        .exits(2)
        .names(&["default branch, main", "--yes"]);
    keel.run_with_env(
        &[&pin[..], &["--yes"], &server].concat(),
        &on("refs/heads/main"),
    )
    .exits(0);
    keel.run_with_env(&[&pin[..], &server].concat(), &on("refs/heads/topic"))
        .exits(0);
    let gitlab = [
        ("CI", "true"),
        ("CI_COMMIT_BRANCH", "trunk"),
        ("CI_DEFAULT_BRANCH", "trunk"),
    ];
    keel.run_with_env(&[&pin[..], &server].concat(), &gitlab)
        .exits(2);
}

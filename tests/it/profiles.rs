//! One server as seen by several clients.

use mcp_keel::surface::KnownClient;

use crate::keel::Keel;
use crate::scripted::{Capture, scripted};

/// Shows which account it was started for.
const SCENARIO: &str = r#"{"log": "log", "tools": [{"name": "who", "description": "for $env{ACCOUNT}"}, {"name": "same"}]}"#;

fn serving(profiles: &str) -> Keel {
    let more = format!("env = {{ ACCOUNT = \"guest\" }}\n\n{profiles}");
    Keel::following(SCENARIO, &more)
}

const TWO: &str = r#"
[server.it.profile.free]
client = "cursor"

[server.it.profile.pro]
env = { ACCOUNT = "ada" }
args = ["--pro"]
client = { name = "own", version = "7" }
capabilities = ["roots", "sampling.tools"]
"#;

#[test]
fn each_profile_has_its_own_entry() {
    let keel = serving(TWO);
    keel.run(&["pin"]).exits(0).says("it@free, it@pro");
    let baseline: serde_json::Value =
        serde_json::from_str(&keel.read("mcp-baseline.json")).unwrap();
    let servers = baseline["servers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["it@free", "it@pro"]);
    assert_eq!(
        servers["it@free"]["client"],
        serde_json::json!({"name": "cursor-vscode", "version": "1.0.0", "capabilities": ["elicitation", "roots"]})
    );
    assert_eq!(
        servers["it@pro"]["client"],
        serde_json::json!({"name": "own", "version": "7", "capabilities": ["roots", "sampling.tools"]})
    );
    let description =
        |server: &str| &servers[server]["components"]["tool:who@"]["definition"]["description"];
    assert_eq!(description("it@free"), "for guest");
    assert_eq!(description("it@pro"), "for ada");
    assert!(keel.read("log").contains(r#""sampling":{"tools":{}}"#));
}

#[test]
fn a_server_is_checked_for_all_of_its_profiles_or_for_one() {
    let keel = serving(TWO);
    keel.run(&["pin"]).exits(0);
    keel.run(&["check", "it"]).exits(0).says("2 servers match");
    keel.run(&["check", "it@pro"])
        .exits(0)
        .says("it@pro matches the baseline");
    keel.run(&["check", "it", "it@pro"])
        .exits(0)
        .says("2 servers match");
    let report = keel
        .run(&["check", "it@free", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(report["servers"][0]["name"], "it@free");
    // Drift is accepted per profile.
    keel.write(
        "scenario.json",
        &SCENARIO.replace("\"same\"", "\"same\", \"description\": \"$env{ACCOUNT}\""),
    );
    keel.run(&["check", "it@pro"])
        .exits(1)
        .says("mcp-keel pin it@pro");
    keel.run(&["pin", "it@pro"]).exits(0);
    keel.run(&["check"])
        .exits(1)
        .says("it@free")
        .says_nothing_of("it@pro  drifted");
    keel.run(&["check", "it@prp"])
        .exits(2)
        .says("did you mean `it@pro`?");
}

#[test]
fn one_file_per_server_means_one_file_per_profile() {
    let keel = serving(TWO);
    keel.run(&["pin", "--baseline", "contracts/{server}.json"])
        .exits(0);
    assert!(keel.read("contracts/it@free.json").contains("\"it@free\""));
    assert!(keel.read("contracts/it@pro.json").contains("\"it@pro\""));
    keel.run(&["check", "--baseline", "contracts/{server}.json"])
        .exits(0);
}

#[test]
fn a_tool_that_differs_between_profiles_is_a_finding() {
    let keel = serving(TWO);
    let message = "it: differs between the profiles `free` and `pro`: `/description`";
    keel.run(&["pin"]).exits(0).says(message);
    let report = keel.run(&["check", "--format", "json"]).exits(0).json();
    assert_eq!(
        report["findings"],
        serde_json::json!([{"rule": "tool-differs-by-profile", "component": "tool:who@", "message": message, "action": "audit"}])
    );
    keel.run(&["check", "it@pro"])
        .exits(0)
        .says_nothing_of("tool-differs-by-profile");
    let config =
        keel.read("mcp-keel.toml") + "[policy.rules]\n\"tool-differs-by-profile\" = \"block\"\n";
    keel.write("mcp-keel.toml", &config);
    keel.run(&["check"]).exits(1);
}

#[test]
fn a_command_on_the_command_line_is_started_for_each_profile() {
    let keel = serving(TWO);
    keel.run(&["pin"]).exits(0);
    keel.write("other.json", &SCENARIO.replace("same", "other"));
    let words = scripted("other.json");
    keel.run(&["check", "it", "--", &words[0], &words[1]])
        .exits(1)
        .says("2 of 2 servers drifted");
    keel.run(&["check", "it@pro", "--", &words[0], &words[1]])
        .exits(1)
        .says_nothing_of("it@free");
}

#[test]
fn an_invalid_profile_is_reported_with_its_line() {
    for (profile, complaint) in [
        (
            "[server.it.profile.a]\nheaders = { X = \"1\" }",
            "`headers` has no effect without `url`",
        ),
        (
            "[server.it.profile.\"a b\"]",
            "`a b` is not a valid profile name",
        ),
        (
            "[server.it.profile.a]\ncommand = [\"x\"]",
            "there is no key `server.it.profile.a.command`",
        ),
        (
            "[server.it.profile.a]\ncapabilities = [\"none\"]",
            "[] for no capability",
        ),
        ("[server.it.profile]", "it has no profiles"),
        (
            "[server.it.profile.a]\n[server.\"it@a\"]\ncommand = [\"x\"]",
            "duplicate server `it@a`",
        ),
    ] {
        serving(profile)
            .run(&["check"])
            .exits(2)
            .says("mcp-keel.toml:")
            .says(complaint);
    }
    let remote = "[server.far]\nurl = \"http://127.0.0.1:9/mcp\"\n[server.far.profile.a]\n";
    for (key, complaint) in [
        (
            "env = { A = \"1\" }",
            "`env` has no effect here: nothing is started",
        ),
        ("headers = { \"bad name\" = \"1\" }", "mcp-keel.toml:4"),
    ] {
        Keel::new()
            .file("mcp-keel.toml", &format!("{remote}{key}\n"))
            .run(&["check"])
            .exits(2)
            .says(complaint);
    }
}

#[test]
fn a_known_client_is_announced_completely_and_any_other_by_name() {
    let keel = serving("");
    keel.run(&["capture", "--client", "vscode", "--quiet"])
        .exits(0);
    let log = keel.read("log");
    for part in [
        r#""clientInfo":{"name":"Visual Studio Code","version":"1.138.0"}"#,
        r#""elicitation":{"form":{},"url":{}}"#,
        r#""roots":{"listChanged":true}"#,
        r#""io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}"#,
    ] {
        assert!(log.contains(part), "{part} is not in {log}");
    }
    let keel = serving("");
    keel.run(&["capture", "--client", "some-client", "--quiet"])
        .exits(0);
    let log = keel.read("log");
    assert!(
        log.contains(r#""clientInfo":{"name":"some-client","version":"1"}"#),
        "{log}"
    );
    assert!(log.contains(r#""sampling":{}"#), "{log}");
}

#[test]
fn every_known_client_is_in_the_help_and_can_be_announced() {
    let help = Keel::new().run(&["check", "--help"]).exits(0).stdout;
    let flat = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut ids: Vec<&str> = KnownClient::ALL.iter().map(|client| client.id).collect();
    for client in KnownClient::ALL {
        assert!(flat.contains(client.id), "{} is not in --help", client.id);
        let (folder, log) = crate::scripted::log();
        let scenario = serde_json::json!({"tools": [], "log": log}).to_string();
        let mut capture = Capture::of(&scenario);
        capture.client = client.profile();
        capture.run().unwrap();
        let received = std::fs::read_to_string(&log).unwrap();
        assert!(
            received.contains(&format!("\"name\":\"{}\"", client.name)),
            "{received}"
        );
        drop(folder);
    }
    let listed = ids.clone();
    ids.sort_unstable();
    assert_eq!(ids, listed, "by id");
}

//! A server whose captures differ is undetermined: neither drift nor clean.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::http_double::{json_answer, write};
use crate::keel::Keel;
use crate::scripted::scripted;

fn boots(keel: &Keel) -> String {
    keel.read("boots")
}

const STEADY: &str = r#"{"boots": "boots", "tools": [{"name": "b", "description": "B"}, {"name": "a", "description": "A"}]}"#;

#[test]
fn pin_boots_twice_under_two_names_and_check_once() {
    let scenario = STEADY.replacen('{', r#"{"log": "log", "#, 1);
    let keel = Keel::following(&scenario, "");
    keel.run(&["pin"]).exits(0);
    assert_eq!(boots(&keel), "2");
    let log = keel.read("log");
    for name in [r#""name":"mcp-keel""#, r#""name":"claude-ai""#] {
        assert_eq!(log.matches(name).count(), 1, "{log}");
    }
    assert_eq!(
        log.matches("tools/list").count(),
        4,
        "each boot lists twice"
    );
    assert!(
        keel.read("mcp-baseline.json")
            .contains(r#""name": "mcp-keel""#)
    );
    keel.run(&["check"]).exits(0);
    assert_eq!(boots(&keel), "3");
    assert_eq!(keel.read("log").matches("tools/list").count(), 5);
}

#[test]
fn pinning_twice_writes_the_same_bytes() {
    let keel = Keel::following(STEADY, "");
    keel.run(&["pin"]).exits(0);
    let first = keel.read("mcp-baseline.json");
    keel.run(&["pin"]).exits(0).says("already up to date");
    assert_eq!(keel.read("mcp-baseline.json"), first);
}

#[test]
fn what_changes_with_every_call_is_not_pinned() {
    let scenario =
        r#"{"boots": "boots", "tools": [{"name": "a", "description": "call $count of the day"}]}"#;
    let keel = Keel::following(scenario, "");
    keel.run(&["pin"])
        .exits(3)
        .names(&["tool:a@", "`/description`", "`call 1 of the day`", "`call 2 of the day`"])
        .says("capture-unstable tool:a@:")
        .says(r#"under [server.it]: mask = [{ component = "tool:a@", pointer = "/description", pattern = "call (.*?) of the day", reason = "..." }]"#)
        .says(r#"[policy.rules] "capture-unstable" = "warn""#);
    assert!(!keel.folder().join("mcp-baseline.json").exists());
    assert_eq!(boots(&keel), "1", "no second boot is needed to know");
}

#[test]
fn the_suggested_mask_works() {
    let scenario =
        r#"{"boots": "boots", "tools": [{"name": "a", "description": "boot $boot of the day"}]}"#;
    let keel = Keel::following(scenario, "");
    let run = keel.run(&["pin"]).exits(3);
    let flat = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = flat.find("mask = [").expect("a mask is offered");
    let mask = &flat[from..=from + flat[from..].find("}]").unwrap() + 1];
    keel.follow(scenario, mask);
    keel.run(&["pin"]).exits(0);
    assert!(
        keel.read("mcp-baseline.json")
            .contains("boot [masked] of the day")
    );
    keel.run(&["check"]).exits(0).says("matches the baseline");
}

#[test]
fn what_changes_with_every_boot_is_not_blamed_on_the_client() {
    // Every second boot is the same, as is every second name.
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a"}], "boot": [
        {}, {"tools": [{"name": "b"}]}, {}, {"tools": [{"name": "b"}]}, {}]}"#;
    Keel::following(scenario, "")
        .run(&["pin"])
        .exits(3)
        .says("capture-unstable tool:a@")
        .says("between two boots")
        .says_nothing_of("capture-differs-by-client");
}

#[test]
fn a_dependency_on_the_clients_name_is_reported() {
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a"}], "client": {"claude-ai": {"tools": [{"name": "a"}, {"name": "hidden"}]}}}"#;
    let keel = Keel::following(scenario, "");
    keel.run(&["pin"]).exits(3).names(&[
        "capture-differs-by-client",
        "tool:hidden@",
        "`mcp-keel`",
        "`claude-ai`",
    ]);
    assert_eq!(boots(&keel), "4", "two of each name");
}

#[test]
fn check_reports_drift_only_if_two_boots_agree() {
    let keel = Keel::following(STEADY, "");
    keel.run(&["pin"]).exits(0);
    // A different description on every boot.
    let flapping = STEADY.replace("\"A\"", "\"A of $boot\"");
    keel.follow(&flapping, "");
    let run = keel.run(&["check", "--format", "json"]).exits(3);
    let report = run.json();
    assert_eq!(report["verdict"], "undetermined");
    let server = &report["servers"][0];
    assert_eq!(server["status"], "undetermined");
    assert_eq!(server["changes"], serde_json::json!([]));
    assert_eq!(server["findings"][0]["rule"], "capture-unstable");
    assert_eq!(server["findings"][0]["component"], "tool:a@");
    assert_eq!(boots(&keel), "2");
    // Steady drift is drift, after a second boot.
    keel.follow(&STEADY.replace("\"A\"", "\"Another\""), "");
    keel.run(&["check"])
        .exits(1)
        .says("tool-description-changed");
    assert_eq!(boots(&keel), "2");
    // An explicit number of boots is respected.
    keel.follow(&flapping, "");
    keel.run(&["check", "--repeat", "1"]).exits(1);
    assert_eq!(boots(&keel), "1");
    keel.follow(&flapping, "repeat = 1");
    keel.run(&["check"]).exits(1);
    assert_eq!(boots(&keel), "1");
}

#[test]
fn check_repeats_as_often_as_requested() {
    // Clean on the first two boots, but not on the third.
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a"}], "boot": [{}, {}, {}, {}, {"tools": [{"name": "x"}]}]}"#;
    let keel = Keel::following(scenario, "");
    keel.run(&["pin"]).exits(0);
    keel.run(&["check", "--repeat", "3"])
        .exits(3)
        .says("could not be captured: it")
        .says("tool:a@");
    assert_eq!(boots(&keel), "5");
}

#[test]
fn a_varying_order_is_distinguished_from_varying_content() {
    let turned = r#"{"boots": "boots", "tools": [{"name": "b"}, {"name": "a"}], "boot": [{}, {"tools": [{"name": "a"}, {"name": "b"}]}, {}]}"#;
    let keel = Keel::following(turned, "");
    keel.run(&["pin"])
        .exits(3)
        .says("capture-order-unstable")
        .says("listed in another order between two boots");
    assert_eq!(boots(&keel), "2");
    // The policy tolerates the order: none is pinned, and none is compared.
    keel.follow(
        turned,
        "[policy.rules]\n\"capture-order-unstable\" = \"warn\"",
    );
    keel.run(&["pin"]).exits(0).says("capture-order-unstable");
    let baseline: serde_json::Value =
        serde_json::from_str(&keel.read("mcp-baseline.json")).unwrap();
    assert_eq!(
        baseline["servers"]["it"]["toolOrder"],
        serde_json::json!([])
    );
    let before = keel.read("mcp-baseline.json");
    keel.run(&["check"]).exits(0).says("matches the baseline");
    keel.follow(
        turned,
        "[policy.rules]\n\"capture-order-unstable\" = \"audit\"",
    );
    keel.run(&["pin"]).exits(0).says("already up to date");
    assert_eq!(keel.read("mcp-baseline.json"), before);
}

#[test]
fn members_in_hash_order_are_an_order_too() {
    let turned = r#"{"boots": "boots", "tools": [{"name": "a", "description": "x"}], "boot": [{}, {"tools": [{"description": "x", "name": "a"}]}]}"#;
    let keel = Keel::following(turned, "");
    keel.run(&["pin"]).exits(3).says("capture-order-unstable");
    keel.follow(
        turned,
        "[policy.rules]\n\"capture-order-unstable\" = \"warn\"",
    );
    keel.run(&["pin"]).exits(0);
    keel.run(&["check"]).exits(0);
}

#[test]
fn a_tolerant_policy_compares_the_stable_parts() {
    let tolerant = "[policy.rules]\n\"capture-unstable\" = \"warn\"";
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a", "description": "A", "inputSchema": {}}, {"name": "now", "description": "boot $boot", "inputSchema": {}}]}"#;
    let keel = Keel::following(scenario, tolerant);
    keel.run(&["pin"]).exits(0).says("capture-unstable");
    let baseline = keel.read("mcp-baseline.json");
    assert!(
        baseline.contains("tool:a@") && !baseline.contains("tool:now@"),
        "{baseline}"
    );
    let run = keel.run(&["check", "--format", "json"]).exits(0);
    let report = run.json();
    assert_eq!(report["verdict"], "warn");
    let finding = &report["servers"][0]["findings"][0];
    assert_eq!(
        (&finding["rule"], &finding["component"], &finding["action"]),
        (
            &"capture-unstable".into(),
            &"tool:now@".into(),
            &"warn".into()
        )
    );
    assert!(
        finding["message"]
            .as_str()
            .unwrap()
            .ends_with("left out of the comparison")
    );
    keel.run(&["pin"]).exits(0);
    assert_eq!(keel.read("mcp-baseline.json"), baseline);
    // A stable part that changed is drift.
    keel.follow(&scenario.replace("\"A\"", "\"B\""), tolerant);
    keel.run(&["check"])
        .exits(1)
        .says("tool-description-changed")
        .says_nothing_of("tool-added");
}

#[test]
fn varying_instructions_are_excluded_like_a_component() {
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a"}], "instructions": "boot $boot"}"#;
    let keel = Keel::following(scenario, "");
    keel.run(&["pin"])
        .exits(3)
        .names(&["server", "`/instructions`", "`boot 1`", "`boot 2`"])
        .says(
            r#"mask = [{ component = "server", pointer = "/instructions", pattern = "boot (.*)$""#,
        );
    keel.follow(scenario, "[policy.rules]\n\"capture-unstable\" = \"warn\"");
    keel.run(&["pin"]).exits(0);
    keel.run(&["check"])
        .exits(0)
        .says("it is left out of the comparison");
}

#[test]
fn a_list_that_changes_after_a_while_is_found_by_waiting() {
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a"}], "on": {"tools/list": [["answer", {"set": {"tools": [{"name": "later"}]}}], ["answer"]]}}"#;
    let keel = Keel::following(scenario, "");
    keel.run(&["pin", "--repeat", "1"]).exits(0);
    keel.run(&["check"]).exits(0);
    keel.run(&["check", "--settle", "1"]).exits(3).says("1 s");
    keel.follow(scenario, "settle = 1");
    keel.run(&["check"]).exits(3).says("capture-unstable");
}

#[test]
fn a_server_that_fails_on_its_second_boot_is_undetermined() {
    let keel = Keel::following(STEADY, "");
    keel.run(&["pin"]).exits(0);
    let failing =
        r#"{"boots": "boots", "tools": [{"name": "x"}], "boot": [{}, {"start": [{"exit": 7}]}]}"#;
    keel.follow(failing, "");
    keel.run(&["check"]).exits(3).says("exit code 7");
    keel.follow(failing, "");
    keel.run(&["pin"]).exits(3).says("exit code 7");
    assert!(keel.read("mcp-baseline.json").contains("tool:b@"));
}

#[test]
fn a_capture_is_printed_as_sent_and_repeated_on_request() {
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a", "description": "boot $boot"}]}"#;
    let mask = r#"mask = [{ component = "*", pattern = "[0-9]", reason = "it counts" }]"#;
    let keel = Keel::following(scenario, mask);
    keel.run(&["capture"]).exits(0).says("boot 1");
    keel.run(&["capture", "--repeat", "2"])
        .exits(0)
        .says("boot 2");
    keel.follow(scenario, "");
    keel.run(&["capture", "--repeat", "2"])
        .exits(3)
        .says("capture-unstable");
}

#[test]
fn a_running_server_that_varies_by_connection_is_reported() {
    let connections = AtomicUsize::new(0);
    let double = crate::http::special(move |request, connection| {
        let number = match request.rpc().as_str() {
            "initialize" => {
                connections.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            "tools/list" => connections.load(Ordering::Relaxed),
            _ => return None,
        };
        let tool = serde_json::json!({"name": "t", "description": format!("connection {number}"), "inputSchema": {"type": "object"}});
        let answer =
            serde_json::json!({"jsonrpc": "2.0", "id": request.id(), "result": {"tools": [tool]}});
        Some(write(connection, json_answer(&answer.to_string())))
    });
    let keel = Keel::new();
    keel.run(&["pin", "--url", &double.url()]).exits(3).names(&[
        "capture-differs-by-connection",
        "tool:t@",
        "`/description`",
        "`connection 1`",
        "`connection 2`",
    ]);
    assert!(!keel.folder().join("mcp-baseline.json").exists());
}

#[test]
fn a_secret_redacted_from_both_listings_does_not_vary() {
    let scenario = r#"{"boots": "boots", "tools": [{"name": "a", "description": "with $env{API_TOKEN} inside"}]}"#;
    let keel = Keel::following(
        scenario,
        "env = { API_TOKEN = \"hush-hush-1234567890-abcdef\" }",
    );
    keel.run(&["pin"]).exits(0).says_nothing_of("hush-hush");
    assert!(!keel.read("mcp-baseline.json").contains("hush-hush"));
}

#[test]
fn a_mask_can_be_added_without_pinning_again() {
    let scenario = |zone: &str| {
        format!(
            r#"{{"boots": "boots", "tools": [{{"name": "now", "description": "Use '{zone}' as local timezone", "inputSchema": {{"type": "object"}}}}]}}"#
        )
    };
    let keel = Keel::following(&scenario("UTC"), "");
    keel.run(&["pin"]).exits(0);
    let before = keel.read("mcp-baseline.json");
    keel.follow(&scenario("Europe/Oslo"), "");
    keel.run(&["check"])
        .exits(1)
        .says("tool-description-changed");
    let mask = "[[server.it.mask]]\ncomponent = \"tool:now@\"\npointer = \"/description\"\npattern = \"'([A-Za-z/]+)' as local timezone\"\nreason = \"the zone of the machine\"";
    keel.follow(&scenario("Europe/Oslo"), mask);
    keel.run(&["check"]).exits(0).says("matches the baseline");
    // Everything around the text still counts.
    keel.follow(&scenario("Europe/Oslo").replace("Use", "Ignore"), mask);
    keel.run(&["check"])
        .exits(1)
        .says("tool-description-changed");
    keel.follow(&scenario("UTC").replace("\"object\"", "\"string\""), mask);
    keel.run(&["check"]).exits(1);
    assert_eq!(keel.read("mcp-baseline.json"), before);
}

#[test]
fn a_mask_that_matches_nothing_is_a_finding() {
    let mask = r#"mask = [{ component = "tool:gone@", pattern = "x", reason = "old" }, { component = "tool:a@", pointer = "/inputSchema/properties", reason = "lazy" }]"#;
    let scenario =
        r#"{"tools": [{"name": "a", "inputSchema": {"type": "object", "properties": {}}}]}"#;
    let keel = Keel::following(scenario, mask);
    keel.run(&["pin"]).exits(0);
    keel.run(&["check"])
        .exits(0)
        .names(&["`tool:gone@`", "line 3", "mask-unused"])
        .says("`/inputSchema/properties`");
}

#[test]
fn a_mask_that_covers_too_much_is_rejected_with_its_line() {
    for (mask, complaint) in [
        (r#"component = "*", reason = "r""#, "would cover everything"),
        (
            r#"component = "tool:a@", pointer = "/inputSchema", reason = "r""#,
            "a mask may only cover text, and `/inputSchema` covers more",
        ),
        (
            r#"component = "tool:a@", pointer = "/name", reason = "r""#,
            "`/name` covers more",
        ),
        (
            r#"component = "server", pointer = "/capabilities", reason = "r""#,
            "`/capabilities` covers more",
        ),
        (
            r#"component = "tool:a@", pointer = "description", reason = "r""#,
            "is not a valid JSON pointer",
        ),
        (
            r#"component = "tool:a@", pattern = "(", reason = "r""#,
            "`pattern` is not a valid regular expression: unclosed group",
        ),
        (
            r#"component = "tool:a@", pattern = "x""#,
            "`reason` is missing",
        ),
        (
            r#"component = "tool:a@", pattern = "x", reason = " ""#,
            "`reason` is empty",
        ),
        (
            r#"component = "tool:a@", patern = "x", reason = "r""#,
            "did you mean `pattern`?",
        ),
    ] {
        Keel::following(STEADY, &format!("mask = [{{ {mask} }}]"))
            .run(&["check"])
            .exits(2)
            .says("mcp-keel.toml:3")
            .says(complaint);
    }
}

#[test]
fn a_text_that_names_this_machine_is_a_finding_with_a_mask() {
    let scenario =
        r#"{"tools": [{"name": "save", "description": "Saves images below $cwd/images as PNG."}]}"#;
    let keel = Keel::following(scenario, "");
    keel.run(&["pin"])
        .exits(0)
        .says("text-depends-on-environment")
        .says("the working folder");
    let run = keel.run(&["check", "--format", "json"]).exits(0);
    let report = run.json();
    let finding = &report["servers"][0]["findings"][0];
    assert_eq!(finding["rule"], "text-depends-on-environment");
    let message = finding["message"].as_str().unwrap();
    let mask = message.split_once("to leave it out: ").unwrap().1;
    keel.follow(scenario, mask);
    keel.run(&["pin"]).exits(0);
    assert!(
        keel.read("mcp-baseline.json")
            .contains("Saves images below [masked]/images as PNG.")
    );
    keel.run(&["check"])
        .exits(0)
        .says_nothing_of("text-depends-on-environment");
}

#[test]
fn a_suspicious_server_is_booted_and_listed_again_for_a_client_it_cannot_foresee() {
    let keel = Keel::new();
    // It behaves for the name that it knows, on the first boot, and at first.
    let scenario = |tools: &str| {
        format!(
            r#"{{"boots": "boots", "tools": [{{"name": "a", "description": "A"}}], "client": {{{tools}}}}}"#
        )
    };
    let known = [
        "claude-code",
        "claude-ai",
        "codex-mcp-client",
        "cursor-vscode",
        "gemini-cli-mcp-client",
        "inspector-client",
        "Visual Studio Code",
        "windsurf-client",
        "Zed",
    ];
    let to_others: Vec<String> = known
        .iter()
        .map(|it| format!(r#""{it}": {{"tools": [{{"name": "a", "description": "evil"}}]}}"#))
        .collect();
    let two_faced = scripted(&scenario(&to_others.join(",")));
    let with = |args: &[&str]| {
        let mut words = args.to_vec();
        words.push("--");
        words.extend(two_faced.iter().map(String::as_str));
        let _ = std::fs::remove_file(keel.folder().join("boots"));
        keel.run(&words)
    };
    with(&["pin", "--repeat", "1"]).exits(0);
    with(&["check"]).exits(0);
    let run = with(&["check", "--suspicious"]).exits(1).says("evil");
    assert_eq!(boots(&keel), "3");
    let said = |name: &&&str| run.stderr.contains(&format!("sees the client {name}"));
    assert!(known.iter().any(|it| said(&it)), "{}", run.stderr);
}

#[test]
fn an_honest_server_passes_as_suspicious() {
    let keel = Keel::new();
    let honest = scripted(r#"{"tools": [{"name": "a", "description": "A"}]}"#);
    let with = |args: &[&str]| {
        let words = honest.iter().map(String::as_str);
        let words: Vec<&str> = args.iter().copied().chain(["--"]).chain(words).collect();
        keel.run(&words)
    };
    with(&["pin"]).exits(0);
    // The client is one of several by chance: each time another one.
    for _ in 0..3 {
        let report = with(&["check", "--suspicious", "--format", "json"]).exits(0);
        let server = &report.json()["servers"][0];
        assert_eq!(server["changes"], serde_json::json!([]), "{server}");
    }
    // A client that was named is compared.
    with(&["check", "--client", "zed"])
        .exits(1)
        .says("client-changed");
}

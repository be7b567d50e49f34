//! One run in parts: split, checked in parallel, and merged into the report of a single run.

use serde_json::Value;

use crate::fleet::{configuration, in_every_format, pinned, scenario, servers};
use crate::keel::{Keel, rules_of};

/// Checks every part in parallel, like the jobs of a workflow.
fn parts(keel: &Keel, of: usize) {
    std::thread::scope(|scope| {
        for index in 1..=of {
            scope.spawn(move || {
                let part = format!("{index}/{of}");
                let report = format!("json=parts/{index}.json");
                let run = keel.run(&["check", "--quiet", "--shard", &part, "--report", &report]);
                assert!(matches!(run.code, 0 | 1 | 3), "{run:?}");
            });
        }
    });
}

/// A policy whose findings need every part: an acceptance that matches, one that does not, and one
/// that has expired.
fn policy(keel: &Keel) -> String {
    let report = keel.run(&["check", "--format", "json"]).json();
    let id = report["servers"][1]["changes"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let accept = |id: &str, more: &str| {
        format!("[[accept]]\nchange = \"{id}\"\nreason = \"r\"\nowner = \"o\"\n{more}")
    };
    accept("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "expires = 2001-01-01\n")
        + &accept(&id, "")
        + &accept("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "")
}

#[test]
fn merged_parts_equal_the_report_of_the_whole_run_in_every_format() {
    let keel = pinned(9, &[1, 4, 8]);
    let mut fleet = servers(9, &[1, 4, 8]);
    // One is no longer in the configuration, and one differs by more than its description.
    fleet.remove(6);
    let text = configuration(&fleet);
    keel.write("mcp-keel.toml", &text);
    keel.write("mcp-keel.toml", &(text + &policy(&keel)));
    let whole = in_every_format(&keel, &["check"], "whole", 1);
    parts(&keel, 4);
    let joined = in_every_format(&keel, &["merge", "parts"], "joined", 1);
    assert_eq!(whole, joined);
    let report: Value = serde_json::from_str(&joined[1].1).unwrap();
    let rules = rules_of(&report["findings"]);
    let expected = [
        "acceptance-expired",
        "acceptance-unused",
        "server-not-checked",
    ];
    assert_eq!(rules, expected);
    // In any order.
    let files = ["3", "1", "4", "2"].map(|it| format!("parts/{it}.json"));
    let mut args = vec!["merge"];
    args.extend(files.iter().map(String::as_str));
    assert_eq!(in_every_format(&keel, &args, "shuffled", 1), whole);
}

#[test]
fn a_server_that_failed_in_its_part_is_as_undetermined_as_in_one_run() {
    let keel = pinned(4, &[]);
    let mut fleet = servers(4, &[]);
    fleet[2].1 = r#"{"start": [{"stderr": "\u001b[31mno\u001b[0m"}, {"exit": 7}]}"#.to_owned();
    let accept = "[[accept]]\nchange = \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"\nreason = \"r\"\nowner = \"o\"\n";
    keel.write("mcp-keel.toml", &(configuration(&fleet) + accept));
    let whole = in_every_format(&keel, &["check"], "whole", 3);
    parts(&keel, 2);
    assert_eq!(
        in_every_format(&keel, &["merge", "parts"], "joined", 3),
        whole
    );
}

#[test]
fn parts_with_any_kind_of_baseline_are_merged() {
    let head = "baseline = \"pins/{server}.json\"\n";
    let text = |fleet: &[(String, String)]| head.to_owned() + &configuration(fleet);
    let mut fleet = servers(4, &[]);
    let keel = Keel::new().file("mcp-keel.toml", &text(&fleet));
    // The first two have mcp-keel baselines, the others FastMCP's: an existing file is rewritten in
    // its own format.
    for server in ["s002", "s003"] {
        keel.write(&format!("pins/{server}.json"), r#"{"tool:nothing@": "00"}"#);
    }
    keel.run(&["pin", "--quiet"]).exits(0);
    assert!(keel.read("pins/s001.json").contains("manifestVersion"));
    assert!(keel.read("pins/s002.json").contains("tool:tool_2@"));
    keel.run(&["check", "--quiet"]).exits(0);
    // Renamed: a merged page has no schema trees, which a removed tool would have.
    fleet[1].1 = scenario("tool-1", "As it was.");
    fleet[2].1 = scenario("yet_another_tool", "As it was.");
    keel.write("mcp-keel.toml", &text(&fleet));
    let whole = in_every_format(&keel, &["check"], "whole", 1);
    parts(&keel, 3);
    let joined = in_every_format(&keel, &["merge", "parts"], "joined", 1);
    assert_eq!(whole, joined);
    let report: Value = serde_json::from_str(&joined[1].1).unwrap();
    let statuses: Vec<&str> = report["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| server["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["clean", "drifted", "drifted", "clean"]);
    // Parts that were compared with different locks do not belong together.
    keel.write("pins/s003.json", r#"{"tool:nothing@": "00"}"#);
    keel.run(&[
        "check",
        "--quiet",
        "--shard",
        "1/3",
        "--report",
        "json=parts/1.json",
    ]);
    keel.run(&["merge", "parts"]).exits(2);
}

#[test]
fn a_missing_part_leaves_its_servers_undetermined() {
    let keel = pinned(6, &[]);
    parts(&keel, 3);
    keel.run(&["merge", "parts"]).exits(0);
    std::fs::remove_file(keel.folder().join("parts/2.json")).unwrap();
    let report = keel
        .run(&["merge", "parts", "--format", "json"])
        .exits(3)
        .says("2/3")
        .json();
    assert_eq!(report["verdict"], "undetermined");
    assert_eq!(report["servers"].as_array().unwrap().len(), 6);
    assert_eq!(report["servers"][1]["status"], "undetermined");
    assert_eq!(report["servers"][0]["status"], "clean");
}

#[test]
fn parts_judged_by_different_baselines_are_not_merged() {
    let keel = pinned(4, &[0]);
    parts(&keel, 2);
    let (one, other) = ("parts/1.json", "other.json");
    let check = |flags: &[&str]| {
        let args = [
            "check",
            "--quiet",
            "--shard",
            "2/2",
            "--report",
            "json=other.json",
        ];
        keel.run(&[&args, flags].concat())
    };
    check(&["--fail-on", "none"]).exits(0);
    keel.run(&["merge", one, other]).exits(2).says("the policy");
    // As if a server had been pinned between the jobs.
    keel.run(&["pin", "--quiet"]).exits(0);
    check(&[]).exits(0);
    keel.run(&["merge", one, other])
        .exits(2)
        .says("the baseline");
}

#[test]
fn parts_that_do_not_belong_together_are_an_error() {
    let keel = pinned(4, &[0]);
    parts(&keel, 2);
    let (one, two) = ("parts/1.json", "parts/2.json");
    let text = keel.read(one);
    keel.run(&["merge", one, one]).exits(2).says("named twice");
    keel.write("again.json", &text);
    keel.run(&["merge", one, "again.json"])
        .exits(2)
        .says("the part 1/2");
    keel.run(&["merge", "nothing-here.json"])
        .exits(2)
        .says("cannot read it");

    for (what, from, to, says) in [
        (
            "version",
            "\"reportVersion\": 1",
            "\"reportVersion\": 2",
            "this mcp-keel supports 1",
        ),
        (
            "verdict",
            "\"verdict\": \"block\"",
            "\"verdict\": \"pass\"",
            "the report is inconsistent",
        ),
        (
            "action",
            "\"action\": \"block\"",
            "\"action\": \"audit\"",
            "the report is inconsistent",
        ),
        (
            "member",
            "\"index\": 1,",
            "\"index\": 1, \"more\": 1,",
            "unknown field `more`",
        ),
        (
            "rule",
            "tool-description-changed",
            "tool-future-rule",
            "unknown rule",
        ),
        ("count", "\"of\": 2", "\"of\": 3", "the number of parts"),
        ("servers", "\"s003\"", "\"s004\"", "the list of servers"),
    ] {
        assert!(text.contains(from), "{what}: {text}");
        keel.write("changed.json", &text.replace(from, to));
        keel.run(&["merge", "changed.json", two])
            .exits(2)
            .says(says);
    }
    keel.write("cut.json", &text[..text.len() / 2]);
    keel.run(&["merge", "cut.json", two])
        .exits(2)
        .says("not JSON");

    // A different part with the same servers: it was split by another plan.
    keel.write("moved.json", &text.replace("\"index\": 1", "\"index\": 2"));
    keel.run(&["merge", one, "moved.json"])
        .exits(2)
        .says("both contain the server");

    keel.run(&["check", "s000", "--report", "json=alone.json"])
        .exits(1);
    keel.run(&["merge", one, "alone.json"])
        .exits(2)
        .says("alone.json is not");
    keel.run(&["pin", "--report", "json=pin.json"]).exits(0);
    keel.run(&["merge", "pin.json"])
        .exits(2)
        .says("not a report of `check`");
}

#[test]
fn whole_runs_over_distinct_servers_are_merged_too() {
    let keel = pinned(3, &[2]);
    keel.run(&["check", "s000", "s001", "--report", "json=a.json"])
        .exits(0);
    keel.run(&["check", "s002", "--report", "json=b.json"])
        .exits(1);
    let report = keel
        .run(&["merge", "a.json", "b.json", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(report["servers"].as_array().unwrap().len(), 3);
    keel.write("c.json", &keel.read("a.json"));
    keel.run(&["merge", "a.json", "c.json"])
        .exits(2)
        .says("both contain");
}

#[test]
fn a_plan_assigns_servers_and_follows_the_timings() {
    let keel = pinned(5, &[]);
    let matrix = keel
        .run(&["plan", "--shards", "2", "--format", "github-matrix"])
        .exits(0);
    assert_eq!(matrix.stdout.lines().count(), 1);
    let matrix = matrix.json();
    assert_eq!(matrix["include"][0]["shard"], "1/2");
    assert_eq!(matrix["include"][0]["servers"], "s000 s002 s004");

    keel.write(
        "mcp-keel-timings.json",
        r#"{"timingsVersion": 1, "seconds": {"s000": 30.0, "s001": 1, "s002": 1, "s003": 1, "s004": 1}}"#,
    );
    let plan = keel
        .run(&["plan", "--shards", "2", "--format", "json"])
        .json();
    assert_eq!(plan["shards"][0]["servers"], serde_json::json!(["s000"]));
    assert_eq!(plan["shards"][0]["seconds"], 30.0);
    // `check` splits the same way.
    let report = keel
        .run(&["check", "--shard", "1/2", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(report["servers"].as_array().unwrap().len(), 1);
    assert_eq!(report["shard"]["servers"].as_array().unwrap().len(), 5);

    // More parts than servers: empty ones get no job, and are not missed.
    let matrix = keel
        .run(&["plan", "--shards", "9", "--format", "github-matrix"])
        .json();
    assert_eq!(matrix["include"].as_array().unwrap().len(), 5);
    keel.run(&["plan", "--shards", "9"])
        .exits(0)
        .says("1/9 (about 30 s): s000");
    keel.run(&["check", "--shard", "9/9"]).exits(0);

    keel.write(
        "mcp-keel-timings.json",
        r#"{"timingsVersion": 2, "seconds": {}}"#,
    );
    keel.run(&["plan", "--shards", "2"])
        .exits(2)
        .says("timingsVersion");
    keel.run(&["check", "--shard", "3/2"])
        .exits(2)
        .says("such as 1/4");
}

#[test]
fn timings_are_recorded_on_request_and_keep_earlier_entries() {
    let keel = pinned(2, &[]);
    keel.write(
        "times.json",
        r#"{"timingsVersion": 1, "seconds": {"elsewhere": 5.5}}"#,
    );
    keel.run(&["check", "s001", "--record-timings", "times.json"])
        .exits(0);
    let times: Value = serde_json::from_str(&keel.read("times.json")).unwrap();
    assert_eq!(times["seconds"]["elsewhere"], 5.5);
    assert!(times["seconds"]["s001"].is_number());
    assert!(times["seconds"].get("s000").is_none());
    keel.run(&["plan", "--shards", "2", "--timings", "times.json"])
        .exits(0);
}

#[test]
fn the_profiles_of_a_server_stay_together_and_their_differences_are_merged() {
    let keel = Keel::new();
    let tool =
        r#"{"name": "t", "description": "For $env{MODE}.", "inputSchema": {"type": "object"}}"#;
    let scenario = format!("{{\"tools\": [{tool}]}}");
    let both = ["zebra", "ant"].map(|name| (name.to_owned(), scenario.clone()));
    let profiles: String = ["zebra", "ant"]
        .iter()
        .flat_map(|server| ["x", "y"].map(|it| (server, it)))
        .map(|(server, it)| {
            format!("[server.{server}.profile.{it}]\nenv = {{ MODE = \"{it}\" }}\n")
        })
        .collect();
    let others = configuration(&servers(3, &[]));
    keel.write(
        "mcp-keel.toml",
        &(configuration(&both) + &profiles + &others),
    );
    keel.run(&["pin", "--quiet"]).exits(0);
    let whole = in_every_format(&keel, &["check"], "whole", 0);
    assert!(whole[1].1.contains("ant"), "{}", whole[1].1);
    let plan = keel
        .run(&["plan", "--shards", "2", "--format", "json"])
        .json();
    assert_eq!(
        plan["shards"][0]["servers"],
        serde_json::json!(["ant", "s001", "zebra"])
    );
    parts(&keel, 2);
    parts_hold_findings(&keel);
    assert_eq!(
        in_every_format(&keel, &["merge", "parts"], "joined", 0),
        whole
    );
}

/// At least one part has findings about its own servers.
fn parts_hold_findings(keel: &Keel) {
    let all = keel.read("parts/1.json") + &keel.read("parts/2.json");
    assert!(all.contains("profile"), "{all}");
}

/// They are in memory together, and a part is what a job says that ran foreign code.
#[test]
fn all_parts_together_hold_a_bounded_number_of_values_and_bytes() {
    let program = env!("CARGO_BIN_EXE_mcp-keel");
    let keel = Keel::new();
    for name in ["one", "two"] {
        keel.run(&["pin", name, "--", program, "demo", "--serve", "pinned"])
            .exits(0);
        let report = format!("json=parts/{name}.json");
        let check = ["check", name, "--report", &report, "--"];
        keel.run(&[&check[..], &[program, "demo", "--serve", "drifted"]].concat())
            .exits(1);
    }
    keel.run(&["merge", "parts"]).exits(1);
    let holding = |name: &str, value: serde_json::Value| {
        let path = format!("parts/{name}.json");
        let mut report: serde_json::Value = serde_json::from_str(&keel.read(&path)).unwrap();
        report["servers"][0]["changes"][0]["new"] = value;
        keel.write(&path, &report.to_string());
    };
    holding("one", serde_json::json!(vec![0; 500_000]));
    keel.run(&["merge", "parts"]).exits(1);
    holding("two", serde_json::json!(vec![0; 1_500_000]));
    keel.run(&["merge", "parts"])
        .exits(2)
        .says("two.json: not JSON");
    holding("one", serde_json::json!("x".repeat(40 << 20)));
    holding("two", serde_json::json!("x".repeat(24 << 20)));
    keel.run(&["merge", "parts"])
        .exits(2)
        .says("two.json: cannot read it: with the reports before it, it is larger than 64 MiB");
}

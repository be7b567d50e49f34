//! Many servers in one run: the same bytes regardless of timing, and no server hides another.

use crate::keel::{Keel, Run};
use crate::scripted::scripted;
use mcp_keel::report::Format;

/// A configuration with these servers, each with a scenario.
pub(crate) fn configuration(servers: &[(String, String)]) -> String {
    servers
        .iter()
        .map(|(name, scenario)| {
            let command = serde_json::to_string(&scripted(scenario)).unwrap();
            format!("[server.{name}]\ncommand = {command}\n")
        })
        .collect()
}

/// A server with one tool.
pub(crate) fn scenario(tool: &str, description: &str) -> String {
    let tool = serde_json::json!({
        "name": tool,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
    });
    serde_json::json!({"tools": [tool]}).to_string()
}

/// This many servers; those in `drifting` have a different description than was pinned.
pub(crate) fn servers(count: usize, drifting: &[usize]) -> Vec<(String, String)> {
    (0..count)
        .map(|at| {
            let text = if drifting.contains(&at) {
                "Changed on the way."
            } else {
                "As it was."
            };
            (format!("s{at:03}"), scenario(&format!("tool_{at}"), text))
        })
        .collect()
}

/// Pins this many servers, and makes some of them drift.
pub(crate) fn pinned(count: usize, drifting: &[usize]) -> Keel {
    let keel = Keel::new().file("mcp-keel.toml", &configuration(&servers(count, &[])));
    keel.run(&["pin", "--quiet"]).exits(0);
    keel.write("mcp-keel.toml", &configuration(&servers(count, drifting)));
    keel
}

/// Runs a command with every format in a file of its own below `folder`, and returns them.
pub(crate) fn in_every_format(
    keel: &Keel,
    args: &[&str],
    folder: &str,
    code: i32,
) -> Vec<(&'static str, String)> {
    let formats = || Format::ALL.iter().map(|it| it.word());
    let reports: Vec<String> = formats()
        .map(|format| format!("--report={format}={folder}/{format}"))
        .collect();
    let mut args: Vec<&str> = args.to_vec();
    args.extend(reports.iter().map(String::as_str));
    keel.run(&args).exits(code);
    formats()
        .map(|format| (format, keel.read(&format!("{folder}/{format}"))))
        .collect()
}

#[test]
fn the_report_is_the_same_with_any_number_of_jobs() {
    let keel = pinned(12, &[1, 7]);
    // The first ones are the slowest, so that the last ones finish before them.
    let mut slow = servers(12, &[1, 7]);
    for (at, (_, scenario)) in slow.iter_mut().enumerate().take(3) {
        let wait = 120 - 40 * at;
        *scenario = scenario.replacen(
            '{',
            &format!("{{\"start\": [{{\"sleep_ms\": {wait}}}], "),
            1,
        );
    }
    keel.write("mcp-keel.toml", &configuration(&slow));
    let one = in_every_format(&keel, &["check", "--jobs", "1"], "one", 1);
    let many = in_every_format(&keel, &["check", "--jobs", "6"], "many", 1);
    assert_eq!(one, many);
}

#[test]
fn a_failing_server_hides_no_other_and_only_affects_its_own_entry() {
    let keel = pinned(6, &[5]);
    let mut fleet = servers(6, &[5]);
    fleet[0].1 = r#"{"start": [{"stderr": "no"}, {"exit": 7}]}"#.to_owned();
    fleet[2].1 = r#"{"on": {"initialize": ["hang"]}}"#.to_owned();
    keel.write("mcp-keel.toml", &configuration(&fleet));
    let args = ["check", "--jobs", "2", "--timeout", "1", "--format", "json"];
    // Blocking drift is certain, and ranks above undetermined servers.
    let report = keel.run(&args).exits(1).json();
    let statuses: Vec<&str> = report["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| server["status"].as_str().unwrap())
        .collect();
    let expected = [
        "undetermined",
        "clean",
        "undetermined",
        "clean",
        "clean",
        "drifted",
    ];
    assert_eq!(statuses, expected);
    let without: Run = {
        fleet.truncate(5);
        keel.write("mcp-keel.toml", &configuration(&fleet));
        keel.run(&args)
    };
    without.exits(3);
}

#[test]
fn pinning_in_parallel_writes_the_same_baseline_and_a_failing_server_keeps_its_entry() {
    let one = Keel::new().file("mcp-keel.toml", &configuration(&servers(8, &[])));
    one.run(&["pin", "--jobs", "1"]).exits(0);
    let many = Keel::new().file("mcp-keel.toml", &configuration(&servers(8, &[])));
    many.run(&["pin", "--jobs", "4"]).exits(0);
    let baseline = many.read("mcp-baseline.json");
    assert_eq!(baseline, one.read("mcp-baseline.json"));

    let mut fleet = servers(8, &[2]);
    fleet[4].1 = r#"{"start": [{"exit": 7}]}"#.to_owned();
    many.write("mcp-keel.toml", &configuration(&fleet));
    many.run(&["pin", "--jobs", "4"])
        .exits(3)
        .says("s004")
        .says("Commit mcp-baseline.json");
    let entry = |text: &str, name: &str| -> serde_json::Value {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value["servers"][name].clone()
    };
    let after = many.read("mcp-baseline.json");
    assert_eq!(entry(&after, "s004"), entry(&baseline, "s004"));
    assert_ne!(entry(&after, "s002"), entry(&baseline, "s002"));
}

#[test]
fn an_unreadable_entry_is_replaced_or_kept_but_never_dropped() {
    let keel = pinned(2, &[]);
    let damaged = keel.read("mcp-baseline.json").replacen(
        "\"scheme\": \"keel-1\"",
        "\"scheme\": \"keel-9\"",
        1,
    );
    keel.write("mcp-baseline.json", &damaged);
    let mut fleet = servers(2, &[1]);
    fleet[0].1 = r#"{"start": [{"exit": 7}]}"#.to_owned();
    keel.write("mcp-keel.toml", &configuration(&fleet));
    // The damaged entry belongs to the server that cannot be captured: nothing is written.
    keel.run(&["pin"]).says("keel-9");
    assert_eq!(keel.read("mcp-baseline.json"), damaged);
    keel.write("mcp-keel.toml", &configuration(&servers(2, &[])));
    keel.run(&["pin"]).exits(0);
    keel.run(&["check"]).exits(0);
}

#[cfg(target_os = "linux")]
#[test]
fn parallel_servers_only_end_their_own_processes() {
    // Each leaves a process behind in its own session; some end while others are still listing.
    let keel = Keel::new();
    let fleet: Vec<(String, String)> = servers(12, &[])
        .into_iter()
        .enumerate()
        .map(|(at, (name, scenario))| {
            let start = serde_json::json!([
                {"spawn": ["setsid", "sleep", "3600"]},
                {"sleep_ms": (at % 4) * 30},
            ]);
            let scenario = scenario.replacen('{', &format!("{{\"start\": {start}, "), 1);
            (name, scenario)
        })
        .collect();
    let mark = format!("FLEET_TEST = \"{}\"", keel.folder().display());
    let text =
        configuration(&fleet).replace("\ncommand", &format!("\nenv = {{ {mark} }}\ncommand"));
    keel.write("mcp-keel.toml", &text);
    keel.run(&["pin", "--jobs", "6"]).exits(0);
    keel.run(&["check", "--jobs", "6"]).exits(0);
    let variable = format!("FLEET_TEST={}", keel.folder().display());
    assert_eq!(crate::scripted::processes_with(&variable), [""; 0]);
}

#[test]
fn configuration_errors_are_reported_before_anything_is_started() {
    let keel = Keel::new();
    let log = keel.folder().join("log");
    let scenario = serde_json::json!({"tools": [], "log": log}).to_string();
    let fleet = [
        ("a".to_owned(), scenario),
        ("b".to_owned(), "{}".to_owned()),
    ];
    keel.write("mcp-keel.toml", &configuration(&fleet));
    keel.run(&["pin", "a"]).exits(0);
    std::fs::remove_file(&log).unwrap();
    let text = configuration(&fleet) + "version = \"no-such-file.json\"\n";
    keel.write("mcp-keel.toml", &text);
    keel.run(&["check"]).exits(2).says("no-such-file.json");
    assert!(!log.exists());
}

#[cfg(unix)]
#[test]
fn a_version_command_outlives_the_servers_running_beside_it() {
    let quick = serde_json::to_string(&scripted(&scenario("quick", "Ends at once."))).unwrap();
    let slow = serde_json::to_string(&scripted(&scenario("slow", "Comes later."))).unwrap();
    let keel = Keel::new().file(
        "mcp-keel.toml",
        &format!(
            "[server.quick]\ncommand = {quick}\n[server.slow]\ncommand = {slow}\n\
             version = [\"sh\", \"-c\", \"sleep 1; echo 1.2.3\"]\n"
        ),
    );
    // While one prints its version, the other is the only server, and unknown processes would be
    // attributed to it.
    keel.run(&["pin", "--jobs", "2"]).exits(0);
    assert!(keel.read("mcp-baseline.json").contains("1.2.3"));
}

/// Three servers in a client's file, pinned; `gated` needs a variable.
fn with_a_gated_server() -> Keel {
    let server = |name: &str, env: serde_json::Value| {
        let command = scripted(&scenario(name, "As it was."));
        let (program, args) = command.split_first().unwrap();
        (
            name.to_owned(),
            serde_json::json!({"command": program, "args": args, "env": env}),
        )
    };
    let servers: serde_json::Map<_, _> = [
        server("first", serde_json::json!({})),
        server("gated", serde_json::json!({"TOKEN": "${GATED_TOKEN}"})),
        server("last", serde_json::json!({})),
    ]
    .into_iter()
    .collect();
    let list = serde_json::json!({"mcpServers": servers}).to_string();
    let keel = Keel::new().file(".mcp.json", &list);
    let pin = [
        "pin",
        "--quiet",
        "--from",
        ".mcp.json",
        "--env",
        "GATED_TOKEN=xyz",
    ];
    keel.run(&pin).exits(0);
    keel
}

fn statuses(report: &str) -> Vec<(String, String)> {
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    let servers = report["servers"].as_array().unwrap().iter();
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    servers
        .map(|it| (word(&it["name"]), word(&it["status"])))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, status): &(&str, &str)| ((*name).to_owned(), (*status).to_owned());
    expected.iter().map(owned).collect()
}

#[test]
fn an_unset_variable_leaves_one_server_undetermined_and_the_others_are_checked() {
    let keel = with_a_gated_server();
    let run = keel.run(&["check", "--from", ".mcp.json", "--format", "json"]);
    let run = run.exits(3);
    assert_eq!(
        statuses(&run.stdout),
        pairs(&[
            ("first", "clean"),
            ("gated", "undetermined"),
            ("last", "clean")
        ])
    );
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let error = report["servers"][1]["error"].to_string();
    assert!(
        error.contains("the variable GATED_TOKEN is not set"),
        "{error}"
    );
    assert!(error.contains("--env GATED_TOKEN=VALUE"), "{error}");
    // `pin` leaves its entry as it was, and says so.
    let before = keel.read("mcp-baseline.json");
    let pinned = keel.run(&["pin", "--from", ".mcp.json"]).exits(3);
    assert!(pinned.stderr.contains("GATED_TOKEN"), "{}", pinned.stderr);
    assert_eq!(keel.read("mcp-baseline.json"), before);
}

#[test]
fn an_unset_variable_of_the_only_server_is_for_the_user_to_fix() {
    let keel = with_a_gated_server();
    let run = keel.run(&["check", "--from", ".mcp.json", "gated"]);
    let run = run.exits(2);
    assert!(
        run.stderr.contains("the variable GATED_TOKEN is not set"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_unset_variable_in_an_address_or_a_header_stops_one_server() {
    let scenario = scenario("tool", "As it was.");
    let started = configuration(&[("started".to_owned(), scenario)]);
    let keel = Keel::new().file("mcp-keel.toml", &started);
    keel.run(&["pin", "--quiet"]).exits(0);
    for remote in [
        "url = \"https://${NO_SUCH_HOST}/mcp\"",
        "url = \"https://x.example/mcp\"\nheaders = { Authorization = \"Bearer ${NO_SUCH_HOST}\" }",
    ] {
        keel.write(
            "mcp-keel.toml",
            &format!("{started}[server.remote]\n{remote}\n"),
        );
        let run = keel.run(&["check", "--format", "json"]).exits(3);
        assert_eq!(
            statuses(&run.stdout),
            pairs(&[("remote", "undetermined"), ("started", "clean")])
        );
        assert!(
            run.stdout
                .contains("the variable NO_SUCH_HOST is not set here"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn a_skipped_server_is_undetermined_in_every_format_and_never_started() {
    let keel = with_a_gated_server();
    let args = ["check", "--from", ".mcp.json", "--skip", "gated"];
    for (format, text) in in_every_format(&keel, &args, "out", 3) {
        if format != "junit" {
            assert!(text.contains("skipped"), "{format}: {text}");
        }
        assert!(!text.contains("could not be captured"), "{format}: {text}");
        assert!(text.contains("gated"), "{format}: {text}");
    }
    let report = keel.read("out/json");
    assert_eq!(
        statuses(&report),
        pairs(&[
            ("first", "clean"),
            ("gated", "undetermined"),
            ("last", "clean")
        ])
    );
    // `pin` keeps its entry, and prunes nothing.
    let before = keel.read("mcp-baseline.json");
    let pin = ["pin", "--from", ".mcp.json", "--skip", "gated"];
    let pinned = keel.run(&pin).exits(0);
    assert!(
        pinned.stderr.contains("its entry stays as it is"),
        "{}",
        pinned.stderr
    );
    assert_eq!(keel.read("mcp-baseline.json"), before);
    let pruned = keel.run(&[&pin[..], &["--prune"]].concat()).exits(2);
    assert!(pruned.stderr.contains("--prune"), "{}", pruned.stderr);
}

#[test]
fn a_misspelt_name_after_skip_is_an_error() {
    let keel = with_a_gated_server();
    let args = ["check", "--from", ".mcp.json", "--skip", "gatd"];
    let run = keel.run(&args).exits(2);
    assert!(
        run.stderr.contains("did you mean `gated`"),
        "{}",
        run.stderr
    );
    let all = ["first", "gated", "last"].map(|it| ["--skip", it]).concat();
    let args = [&["check", "--from", ".mcp.json"], &all[..]].concat();
    let run = keel.run(&args).exits(2);
    assert!(run.stderr.contains("every server"), "{}", run.stderr);
}

/// Six tools, each with this schema.
fn alike(schema: &serde_json::Value) -> String {
    let names = ["create", "read", "update", "delete", "list", "search"];
    let tools = names.map(|name| serde_json::json!({"name": name, "inputSchema": schema}));
    serde_json::json!({ "tools": tools }).to_string()
}

#[test]
fn when_most_tools_changed_alike_it_is_said_once() {
    let old = serde_json::json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let mut new = old.clone();
    new["additionalProperties"] = false.into();
    let of = |schema| configuration(&[("notes".to_owned(), alike(schema))]);
    let keel = Keel::new().file("mcp-keel.toml", &of(&old));
    keel.run(&["pin", "--quiet"]).exits(0);
    keel.write("mcp-keel.toml", &of(&new));
    for (format, text) in in_every_format(&keel, &["check"], "out", 1) {
        let times = text.matches("6 of 6 tools changed alike").count();
        if matches!(format, "terminal" | "markdown") {
            assert_eq!(times, 1, "{format}: {text}");
        }
    }
}

#[test]
fn the_context_cost_is_in_every_report() {
    let keel = Keel::new();
    let with = |text: &str| configuration(&[("notes".to_owned(), scenario("search", text))]);
    keel.write("mcp-keel.toml", &with("Searches."));
    keel.run(&["pin", "--quiet"]).exits(0);
    keel.write(
        "mcp-keel.toml",
        &with("Searches all notes, also those of other people."),
    );
    // It must block for `github`, which leaves out what is only noted.
    let args = ["check", "--policy", "strict"];
    let reports = in_every_format(&keel, &args, "out", 1);
    let json: serde_json::Value = serde_json::from_str(&keel.read("out/json")).unwrap();
    let cost = &json["servers"][0]["cost"];
    let (was, is) = (&cost["baselineTokens"], &cost["currentTokens"]);
    assert_ne!(was, is);
    for (format, text) in reports {
        let expected = match format {
            "json" => continue,
            "sarif" => format!("\"currentTokens\": {is}"),
            "junit" => format!("name=\"currentTokens\" value=\"{is}\""),
            _ => format!("≈ {was} → {is} tokens"),
        };
        assert!(text.contains(&expected), "{format}: {expected} in {text}");
    }
}

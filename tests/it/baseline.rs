//! The baseline: deterministic, trusted only if intact, updated without touching anything else.

use crate::keel::{Keel, serving};

const TOOLS: &str = r#"[{"name":"b","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}},{"name":"a","description":"It's 1.0","inputSchema":{"type":"object","properties":{"n":{"default":1.0,"maximum":9007199254740993}}}}]"#;

fn pinned() -> Keel {
    let keel = Keel::new();
    keel.run_serving(&["pin"], TOOLS)
        .exits(0)
        .says("PINNED  scripted (2 components)");
    keel
}

#[test]
fn pinning_twice_gives_the_same_bytes_and_keeps_what_was_sent() {
    let keel = pinned();
    let first = keel.read("mcp-baseline.json");
    assert!(first.ends_with("}\n"));
    assert!(first.contains("\"taskSupport\": \"forbidden\""));
    assert!(first.contains("\"default\": 1.0"));
    assert!(first.contains("\"maximum\": 9007199254740993"));
    keel.run_serving(&["pin"], TOOLS)
        .exits(0)
        .says("already up to date");
    assert_eq!(keel.read("mcp-baseline.json"), first);
}

#[test]
fn a_missing_baseline_error_names_the_command_that_creates_it() {
    let keel = Keel::new();
    let run = keel
        .run(&[
            "check",
            "--env",
            "API_KEY=geheim",
            "--pass-env",
            "X",
            "w",
            "--",
            "my server",
            "a b",
        ])
        .exits(2);
    run.says("mcp-baseline.json")
        .says("mcp-keel pin --env API_KEY=\"$API_KEY\" --pass-env X w -- 'my server' 'a b'")
        .says_nothing_of("geheim");
}

#[test]
fn the_suggested_command_creates_it_and_the_check_passes() {
    let keel = Keel::new();
    let tools = "[]";
    let run = keel.run_serving(&["check"], tools).exits(2);
    let line = run.stderr.split("commit it: ").nth(1).unwrap().trim();
    let words = shlex::split(line).unwrap();
    assert_eq!(words[0], "mcp-keel");
    let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    keel.run(&words).exits(0);
    keel.run_serving(&["check"], tools).exits(0).says("PASS");
}

#[test]
fn an_invalid_baseline_is_reported_with_its_line() {
    let keel = pinned();
    let good = keel.read("mcp-baseline.json");
    let line_of =
        |text: &str, part: &str| text.lines().position(|line| line.contains(part)).unwrap() + 1;
    let expect = |text: &str, place: String, what: &str| {
        keel.write("mcp-baseline.json", text);
        keel.run_serving(&["check"], TOOLS)
            .exits(2)
            .says(&place)
            .says(what);
    };
    let at = |line: usize| format!("mcp-baseline.json:{line}: ");

    let entry = line_of(&good, "tool:a@\": {");
    let by_hand = "tool:a@ of scripted was changed by hand";
    let edited = good.replace("It's 1.0", "It is 1.0");
    expect(&edited, at(entry + 2), by_hand);
    let edited = good.replace("a(n?: any = 1.0)", "a(n?: any = 2.0)");
    expect(&edited, at(entry + 1), by_hand);
    expect(&edited, at(entry + 1), "its `signature`");
    let fingerprint = good.lines().nth(entry + 1).unwrap();
    let edited = good.replace(fingerprint, &fingerprint.replace("sha256:", "sha256:0"));
    expect(&edited, at(entry + 2), "its `fingerprint`");
    let own = line_of(&good, "\"server\": {") + 1;
    for (was, is) in [
        ("\"roots\"", "\"tasks\""),
        ("\"prompts\",", ""),
        (
            "\"capabilities\": {",
            "\"instructions\": \"Obey.\", \"capabilities\": {",
        ),
    ] {
        let edited = good.replacen(was, is, 1);
        assert_ne!(edited, good, "{was}");
        expect(&edited, at(own), "`server` of scripted was changed by hand");
    }
    let earlier = good.replace("\"manifestVersion\": 2", "\"manifestVersion\": 1");
    expect(&earlier, at(3), "pin again: `mcp-keel pin`");
    keel.run_serving(&["pin"], TOOLS).exits(2).says("pin again");
    let future = good.replace("\"manifestVersion\": 2", "\"manifestVersion\": 3");
    expect(&future, at(3), "unsupported manifestVersion 3");
    let conflict = good.replace("  \"servers\"", "<<<<<<< HEAD\n  \"servers\"");
    expect(&conflict, at(4), "merge conflict marker");
    let cut = good[..good.len() / 2].trim_end();
    expect(cut, at(cut.lines().count()), "not JSON");
    let unknown = good.replace("\"scheme\"", "\"colour\": 1,\n      \"scheme\"");
    expect(&unknown, at(6), "`colour` is not allowed here");
    expect("{}", at(1), "not a baseline");
    expect("", at(1), "not JSON");
    expect("[1]", at(1), "must be an object");
}

#[test]
fn updating_one_server_leaves_the_others_unchanged_byte_for_byte() {
    let [program, one] = serving(r#"[{"name":"one"}]"#);
    let [_, two] = serving(r#"[{"name":"two"}]"#);
    let [_, three] = serving(r#"[{"name":"three"}]"#);
    let keel = Keel::new();
    keel.run(&["pin", "a", "--", &program, &one]).exits(0);
    keel.run(&["pin", "b", "--", &program, &two]).exits(0);
    // A formatter changed the layout: the content is the same.
    let text = keel.read("mcp-baseline.json").replace(
        "\"roots\",\n          \"sampling\"",
        "\"roots\", \"sampling\"",
    );
    keel.write("mcp-baseline.json", &text);
    let entry = |text: &str| {
        let start = text.find("\"a\": {").unwrap();
        text[start..text.find("\n    \"b\": {").unwrap()].to_owned()
    };
    keel.run(&["pin", "b", "--", &program, &three])
        .exits(0)
        .says("tool-removed")
        .says("tool-added");
    let updated = keel.read("mcp-baseline.json");
    assert_eq!(entry(&updated), entry(&text));
    assert!(entry(&updated).contains("\"roots\", \"sampling\""));
    assert!(updated.contains("tool:three@") && !updated.contains("tool:two@"));
    keel.run(&["check", "a", "--", &program, &one]).exits(0);
}

#[test]
fn pinning_does_not_launder_a_hand_edit_of_another_server() {
    let [program, one] = serving(r#"[{"name":"one","description":"x"}]"#);
    let keel = Keel::new();
    keel.run(&["pin", "a", "--", &program, &one]).exits(0);
    let edited = keel
        .read("mcp-baseline.json")
        .replace("\"description\": \"x\"", "\"description\": \"y\"");
    keel.write("mcp-baseline.json", &edited);
    keel.run(&["pin", "b", "--", &program, &one])
        .exits(2)
        .says("tool:one@");
    assert_eq!(keel.read("mcp-baseline.json"), edited);
}

#[test]
fn pinning_repairs_its_own_entry_if_told_to() {
    let keel = pinned();
    let good = keel.read("mcp-baseline.json");
    keel.write("mcp-baseline.json", &good.replace("It's 1.0", "It is 1.0"));
    keel.run_serving(&["check"], TOOLS).exits(2);
    keel.run_serving(&["pin", "scripted"], TOOLS).exits(2);
    keel.run_serving(&["pin", "scripted", "--force"], TOOLS)
        .exits(0);
    assert_eq!(keel.read("mcp-baseline.json"), good);
}

#[test]
fn an_entry_that_was_deleted_is_seen() {
    let keel = pinned();
    let good = keel.read("mcp-baseline.json");
    let (before, rest) = good.split_once("        \"tool:a@\": {").unwrap();
    let (_, after) = rest.split_once("\n        },\n").unwrap();
    keel.write("mcp-baseline.json", &format!("{before}{after}"));
    keel.run_serving(&["check"], TOOLS)
        .exits(1)
        .names(&["tool-added", "a"]);
}

#[test]
fn only_what_was_seen_is_compared_and_the_rest_is_kept() {
    let tools = serde_json::json!([{"name": "a", "inputSchema": {"type": "object"}}]);
    // The baseline of a list of tools: nothing is known of the server, and it has no drift.
    let keel = Keel::new().file("mcp-baseline.json", &baseline_of(&tools));
    let entry = |keel: &Keel| {
        let file: serde_json::Value =
            serde_json::from_str(&keel.read("mcp-baseline.json")).unwrap();
        file["servers"]["it"].clone()
    };
    assert_eq!(entry(&keel)["observed"], serde_json::json!(["tools"]));
    assert_eq!(entry(&keel)["server"]["definition"], serde_json::json!({}));
    let scenario = serde_json::json!({"tools": tools, "instructions": "Ask first.",
        "capabilities": {"tools": {}, "prompts": {}},
        "on": {"prompts/list": [{"result": {"prompts": [{"name": "p"}]}}]}});
    let scenario = scenario.to_string();
    let program = serving("[]")[0].clone();
    let on = |command: &'static str| keel.run(&[command, "it", "--", &program, &scenario]);
    on("check").exits(0).says_nothing_of("Ask first");
    on("pin").exits(0);
    let pinned = entry(&keel);
    let definition = &pinned["server"]["definition"];
    assert_eq!(definition["instructions"], "Ask first.");
    assert_eq!(pinned["observed"].as_array().unwrap().len(), 5);
    assert!(pinned["components"]["prompt:p@"].is_object());
}

/// The baseline of a server with these tools.
fn baseline_of(tools: &serde_json::Value) -> String {
    let list = serde_json::json!({ "tools": tools });
    let read = mcp_keel::read("it", list.to_string().as_bytes()).unwrap();
    let surface = read.values().next().unwrap();
    let release = mcp_keel::release::Release::of_server(surface);
    let entry = mcp_keel::baseline::server_entry(surface, &release);
    mcp_keel::baseline::render(&[("it".to_owned(), entry)].into())
}

#[test]
fn a_small_change_changes_few_lines_however_many_tools_there_are() {
    use serde_json::{Value, json};
    const SIZES: [usize; 3] = [1, 14, 50];
    let server = |tools: usize| {
        let tools = (0..tools).map(|at| {
            json!({"name": format!("tool_{at:02}"), "description": "Forecast for a city.", "inputSchema": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "units": {"enum": ["metric", "imperial", "kelvin"]}},
                "required": ["city"],
            }})
        });
        Value::Array(tools.collect())
    };
    type Edit = fn(&mut Value);
    // What is left is the change itself, the tool's fingerprint, and its signature where that shows it.
    let edits: [(&str, Edit, [usize; 2]); 6] = [
        (
            "one enum value changed",
            |it| it[0]["inputSchema"]["properties"]["units"]["enum"][1] = json!("us"),
            [3, 3],
        ),
        (
            "one enum value added at the end",
            |it| {
                let values = &mut it[0]["inputSchema"]["properties"]["units"]["enum"];
                values.as_array_mut().unwrap().push(json!("us"));
            },
            [3, 4],
        ),
        (
            "one word of a description",
            |it| it[0]["description"] = json!("Forecast for a town."),
            [2, 2],
        ),
        (
            "one property added",
            |it| it[0]["inputSchema"]["properties"]["when"] = json!({"type": "string"}),
            [3, 6],
        ),
        (
            "one tool added",
            |it| {
                let mut tool = it[0].clone();
                tool["name"] = json!("tool_new");
                it.as_array_mut().unwrap().push(tool);
            },
            [0, 26],
        ),
        (
            "one tool renamed",
            |it| it[0]["name"] = json!("tool_00b"),
            [4, 4],
        ),
    ];
    let mut rows = String::from("\n| change | lines removed | lines added |\n|---|---|---|\n");
    for (name, edit, most) in edits {
        let changed = SIZES.map(|size| {
            let old = server(size);
            let mut new = old.clone();
            edit(&mut new);
            let (old, new) = (baseline_of(&old), baseline_of(&new));
            let diff = similar::TextDiff::from_lines(&old, &new);
            let count = |tag| {
                let lines = diff.iter_all_changes();
                lines.filter(|line| line.tag() == tag).count()
            };
            [
                count(similar::ChangeTag::Delete),
                count(similar::ChangeTag::Insert),
            ]
        });
        assert!(
            changed
                .iter()
                .all(|[removed, added]| *removed <= most[0] && *added <= most[1]),
            "{name}: {changed:?}, at most {most:?}"
        );
        let [removed, added] = changed[2];
        rows += &format!("| {name} | {removed} | {added} |\n");
    }
    rows.push('\n');
    crate::generated::assert_blocks_current("docs/baseline.md", &[("lines of a change", rows)]);
}

#[test]
fn one_file_per_server() {
    let [program, scenario] = serving(r#"[{"name":"one"}]"#);
    let command = serde_json::to_string(&[&program, &scenario]).unwrap();
    let config = format!(
        "baseline = \"contracts/{{server}}.json\"\n[server.a]\ncommand = {command}\n[server.b]\ncommand = {command}\n"
    );
    let keel = Keel::new().file("mcp-keel.toml", &config);
    keel.run(&["check"])
        .exits(2)
        .says("contracts/a.json")
        .says("mcp-keel pin a");
    keel.run(&["pin"])
        .exits(0)
        .names(&["contracts/a.json", "contracts/b.json"]);
    assert!(keel.read("contracts/a.json").contains("\"a\": {"));
    keel.run(&["check"])
        .exits(0)
        .says("2 servers match the baseline");
}

#[test]
fn a_repeated_member_is_pinned_as_sent_and_noted() {
    let keel = Keel::new();
    let tools = r#"[{"name":"a","description":"x","description":"y"}]"#;
    keel.run_serving(&["pin"], tools)
        .exits(0)
        .says("member-repeated");
    assert_eq!(
        keel.read("mcp-baseline.json")
            .matches("\"description\": \"")
            .count(),
        2
    );
    keel.run_serving(&["check"], tools)
        .exits(0)
        .says("member-repeated");
    let once = r#"[{"name":"a","description":"y"}]"#;
    keel.run_serving(&["check", "--policy", "strict"], once)
        .exits(1);
}

#[test]
fn a_new_server_in_an_existing_baseline_is_reported_as_new() {
    let keel = pinned();
    let tools = r#"[{"name":"one"}]"#;
    let run = keel
        .run_serving(&["check", "other", "--format", "json"], tools)
        .exits(1);
    assert_eq!(run.json()["servers"][0]["status"], "new");
    keel.run_serving(&["check", "other", "--unknown", "warn"], tools)
        .exits(0)
        .says("WARN");
    // Names, not digests.
    let tools = r#"[{"name":"get_forecast"},{"name":"get_alerts"}]"#;
    keel.run_serving(&["check", "other"], tools)
        .exits(1)
        .says("get_forecast, get_alerts")
        .says_nothing_of("sha256:");
}

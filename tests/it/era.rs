//! Both eras of the protocol: how a connection is opened, what is captured, and what moving from
//! one to the other means.

use std::time::Duration;

use mcp_keel::canonical::to_compact;
use mcp_keel::capture::Order;
use mcp_keel::note::Note;
use mcp_keel::rules::RuleId;
use mcp_keel::surface::Era;
use serde_json::{Value, json};

use crate::http_double::{Double, json_answer, whole, write};
use crate::keel::{Keel, Run};
use crate::scripted::{Capture, example, log, scripted};
use crate::surfaces::of;

const META: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1.0.0"}}"#;
const TOOL: &str = r#"{"name":"a","description":"Does a.","inputSchema":{"type":"object","properties":{"n":{"maximum":9007199254740993}}},"x-vendor":null}"#;
const REFUSES: &str =
    r#""initialize":[{"error":{"code":-32601,"message":"Method not found: initialize"}}]"#;

/// The `server/discover` result of a server with tools.
fn discover() -> String {
    format!(
        r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{"listChanged":true}}}},"instructions":"Ask.","ttlMs":60000,"cacheScope":"public",{META}}}"#
    )
}

/// A page of tools in the modern era.
fn page(tools: &str) -> String {
    format!(
        r#"{{"resultType":"complete","ttlMs":5,"cacheScope":"private","tools":[{tools}],{META}}}"#
    )
}

/// How a modern server responds to the requests of its era.
fn reactions() -> String {
    format!(
        r#""server/discover":[{{"result":{}}}],"tools/list":[{{"result":{}}}]"#,
        discover(),
        page(TOOL)
    )
}

/// A server of the modern era only.
fn modern() -> String {
    format!(r#"{{"on":{{{},{REFUSES}}}}}"#, reactions())
}

/// A server of the legacy era that responds to `server/discover` like this.
fn legacy(reaction: &str) -> String {
    format!(r#"{{"tools":[{TOOL}],"instructions":"Ask.","on":{{"server/discover":{reaction}}}}}"#)
}

fn era_of(scenario: &str, order: Order) -> Era {
    let captured = Capture::of(scenario).order(order).run().unwrap();
    let tools: Vec<String> = captured.lists.tools.iter().map(to_compact).collect();
    assert_eq!(tools, [TOOL]);
    assert_eq!(captured.era, captured.surface.era());
    captured.era
}

/// The methods that a server received; each start begins with the opening request.
fn methods(scenario: &str, order: Order) -> Vec<String> {
    let (_folder, path) = log();
    let log = format!(r#"{{"log":{},"#, Value::from(path.to_str()));
    Capture::of(&scenario.replacen('{', &log, 1))
        .order(order)
        .run()
        .unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let method = |line: &str| {
        serde_json::from_str::<Value>(line).ok()?["method"]
            .as_str()
            .map(str::to_owned)
    };
    text.lines().filter_map(method).collect()
}

// What is captured

#[test]
fn a_modern_server_is_captured_as_it_responds() {
    let captured = Capture::of(&modern())
        .order(Order::Only(Era::Modern))
        .run()
        .unwrap();
    assert_eq!(to_compact(&captured.greeting), discover());
    assert_eq!(to_compact(&captured.lists.tools[0]), TOOL);
    let surface = &captured.surface;
    assert_eq!(surface.protocol_version, "2026-07-28");
    assert_eq!(surface.server_name(), Some("scripted"));
    assert_eq!(surface.server_version(), Some("1.0.0"));
    assert_eq!(surface.notes, []);
}

#[test]
fn every_request_of_the_modern_era_identifies_the_client() {
    let (_folder, path) = log();
    let scenario = modern().replacen(
        '{',
        &format!(r#"{{"log":{},"#, Value::from(path.to_str())),
        1,
    );
    Capture::of(&scenario)
        .order(Order::Only(Era::Modern))
        .capabilities(&["elicitation.url", "tasks"])
        .limits(|limits| limits.patience.after_eof = Duration::from_secs(10))
        .run()
        .unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let meta = r#""_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}},"io.modelcontextprotocol/clientInfo":{"name":"mcp-keel","version":"1"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            format!(r#"{{"id":0,"jsonrpc":"2.0","method":"server/discover","params":{{{meta}}}}}"#),
            format!(r#"{{"id":1,"jsonrpc":"2.0","method":"tools/list","params":{{{meta}}}}}"#),
            "<eof>".to_owned(),
        ]
    );
}

#[test]
fn pages_are_read_and_announced_changes_are_respected_without_a_ping() {
    let (_folder, path) = log();
    let first = page(r#"{"name":"old"}"#).replacen('{', r#"{"nextCursor":"2","#, 1);
    let scenario = format!(
        r#"{{"log":{},"on":{{"server/discover":[{{"result":{}}}],"tools/list":[
            [{{"notify":"notifications/tools/list_changed"}},{{"result":{first}}}],
            [{{"result":{}}}],[{{"result":{}}}]]}}}}"#,
        Value::from(path.to_str()),
        discover(),
        page(r#"{"name":"older"}"#),
        page(TOOL),
    );
    assert_eq!(era_of(&scenario, Order::Only(Era::Modern)), Era::Modern);
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        !text.contains("ping") && text.contains(r#""cursor":"2""#),
        "{text}"
    );
}

/// What no revision defines in a list is kept, in the file too; `_meta` is not.
#[test]
fn unknown_members_of_a_list_are_captured() {
    let list = page(TOOL)
        .replace(r#""ttlMs":5"#, r#""ttlMs":"5""#)
        .replacen('{', r#"{"partial":true,"variants":["a"],"#, 1);
    let scenario = modern().replace(&page(TOOL), &list);
    let captured = Capture::of(&scenario)
        .order(Order::Only(Era::Modern))
        .run()
        .unwrap()
        .with_notes(Note::from);
    let others = captured.surface.other_members.as_ref().unwrap();
    let expected = r#"{"tools/list":{"partial":true,"variants":["a"],"ttlMs":"5"}}"#;
    assert_eq!(to_compact(others), expected);
    let rules: Vec<RuleId> = captured.surface.notes.iter().map(|it| it.rule).collect();
    assert_eq!(rules, [RuleId::NotObserved, RuleId::NotObserved]);
    let file = mcp_keel::source::capture_document("it", &captured).to_string();
    assert_eq!(
        of(&file).other_members.as_ref().map(to_compact).as_deref(),
        Some(expected)
    );
}

#[test]
fn a_list_that_requires_input_is_not_complete() {
    let wants = r#"{"resultType":"input_required","inputRequests":{},"tools":[]}"#;
    let scenario = format!(
        r#"{{"on":{{"server/discover":[{{"result":{}}}],"tools/list":[{{"result":{wants}}}]}}}}"#,
        discover()
    );
    assert_eq!(
        Capture::of(&scenario)
            .order(Order::Only(Era::Modern))
            .fails(),
        r#"the server's answer to `tools/list` is not complete: its `resultType` is "input_required""#
    );
    let scenario = modern().replacen("complete", "input_required", 1);
    assert_eq!(
        Capture::of(&scenario)
            .order(Order::First(Era::Modern))
            .fails(),
        r#"the server's answer to `server/discover` is not complete: its `resultType` is "input_required""#
    );
}

#[test]
fn a_server_of_an_unsupported_revision_is_distinguished_from_one_without_a_contract() {
    let newer = modern().replace("2026-07-28", "2031-01-01");
    let refuses = r#"{"on":{"server/discover":[{"error":{"code":-32022,"message":"no","data":{"supported":["2031-01-01"],"requested":"2026-07-28"}}}]}}"#;
    for scenario in [newer.as_str(), refuses] {
        for order in [Order::Only(Era::Modern), Order::First(Era::Modern)] {
            assert_eq!(
                Capture::of(scenario).order(order).fails(),
                "the server supports none of mcp-keel's protocol revisions: 2031-01-01"
            );
        }
    }
}

#[test]
fn an_echo_is_not_a_server_in_either_era() {
    for order in [Order::Only(Era::Modern), Order::First(Era::Modern)] {
        let echo = Capture::of_command(vec!["cat".into()]).order(order);
        assert_eq!(
            echo.fails(),
            "the command echoes what it is sent: it is not an MCP server"
        );
    }
}

// Which era

#[test]
fn a_legacy_server_is_never_asked_for_the_modern_era() {
    let expected = ["initialize", "notifications/initialized", "tools/list"];
    let dual = format!(
        r#"{{"tools":[{TOOL}],"on":{{"server/discover":[{{"result":{}}}]}}}}"#,
        discover()
    );
    for scenario in [legacy(r#"[{"exit":1}]"#), dual] {
        assert_eq!(methods(&scenario, Order::First(Era::Legacy)), expected);
    }
}

#[test]
fn a_server_that_rejects_initialize_is_restarted_and_asked_in_the_modern_era() {
    let expected = ["initialize", "server/discover", "tools/list"];
    assert_eq!(methods(&modern(), Order::First(Era::Legacy)), expected);
    // As rmcp's own server does.
    let ends = modern().replace(r#"initialize"}}]"#, r#"initialize"}},{"exit":1}]"#);
    assert_eq!(methods(&ends, Order::First(Era::Legacy)), expected);
}

#[test]
fn a_rejection_in_both_eras_is_reported_as_the_first_one() {
    let scenario = format!(r#"{{"on":{{{REFUSES}}}}}"#);
    assert_eq!(
        Capture::of(&scenario).fails(),
        "the server answered `initialize` with an error: -32601: Method not found: initialize"
    );
}

#[test]
fn a_server_that_went_back_to_the_legacy_era_is_found_there() {
    let answers = [
        r#"[{"error":{"code":-32601,"message":"Method not found"}}]"#,
        r#"[{"error":{"code":-32602,"message":"Invalid request parameters","data":""}}]"#,
        // Whatever it is, not a response to this request.
        r#"[{"result":{}}]"#,
    ];
    let expected = [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/list",
    ];
    for answer in answers {
        let methods = methods(&legacy(answer), Order::First(Era::Modern));
        assert_eq!(methods, expected, "{answer}");
    }
}

#[test]
fn a_server_silent_about_discover_does_not_exhaust_the_timeout() {
    let expected = [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/list",
    ];
    let silent = legacy("[]");
    assert_eq!(methods(&silent, Order::First(Era::Modern)), expected);
    // The same if it takes longer to start than the timeout for this request.
    let slow = silent.replacen('{', r#"{"start":[{"sleep_ms":900}],"#, 1);
    assert_eq!(methods(&slow, Order::First(Era::Modern)), expected);
}

#[test]
fn a_server_that_exits_on_an_unknown_request_is_restarted() {
    for reaction in [r#"[{"exit":1}]"#, r#"["abort"]"#, r#"["close-stdout"]"#] {
        assert_eq!(
            era_of(&legacy(reaction), Order::First(Era::Modern)),
            Era::Legacy,
            "{reaction}"
        );
    }
}

#[test]
fn a_modern_server_that_starts_slowly_stays_modern() {
    let slow = |scenario: &str| scenario.replacen('{', r#"{"start":[{"sleep_ms":900}],"#, 1);
    // One that rejects the following `initialize`, as the Python SDK does.
    let methods_of = |scenario: &str| methods(&slow(scenario), Order::First(Era::Modern));
    assert_eq!(
        methods_of(&modern()),
        ["server/discover", "initialize", "tools/list"]
    );
    // One that ignores it.
    let ignores = format!(r#"{{"on":{{{},"initialize":[]}}}}"#, reactions());
    assert_eq!(
        methods_of(&ignores),
        ["server/discover", "initialize", "tools/list"]
    );
    // One that accepts both: restarted, and asked for one.
    let both = format!(r#"{{"tools":[],"on":{{{}}}}}"#, reactions());
    let asked = methods_of(&both);
    assert_eq!(asked[asked.len() - 2..], ["server/discover", "tools/list"]);
}

#[test]
fn with_one_era_requested_only_that_era_is_accepted() {
    assert_eq!(
        Capture::of(&legacy(
            r#"[{"error":{"code":-32601,"message":"Method not found"}}]"#
        ))
        .order(Order::Only(Era::Modern))
        .fails(),
        "the server does not speak 2026-07-28 of the protocol: `server/discover` was answered with -32601: Method not found"
    );
    assert_eq!(
        Capture::of(&modern())
            .order(Order::Only(Era::Legacy))
            .fails(),
        "the server answered `initialize` with an error: -32601: Method not found: initialize"
    );
    assert_eq!(
        Capture::of(&legacy("[]"))
            .impatient()
            .order(Order::Only(Era::Modern))
            .fails(),
        "the server did not answer `server/discover` in 0.4 s"
    );
}

// From one era to the other

fn rules(report: &Value, of: &str) -> Vec<String> {
    let list = report["servers"][0][of].as_array().unwrap();
    list.iter()
        .map(|it| it["rule"].as_str().unwrap().to_owned())
        .collect()
}

/// rmcp's server side in these eras.
fn rmcp(eras: &str) -> [String; 2] {
    [example("rmcp-server"), eras.to_owned()]
}

fn run(keel: &Keel, words: &[&str], [program, argument]: &[String; 2]) -> Run {
    keel.run(&[words, &["--", program, argument]].concat())
}

#[test]
fn the_move_to_the_modern_era_is_a_single_change() {
    let keel = Keel::new();
    run(&keel, &["pin"], &rmcp("legacy")).exits(0);
    assert!(
        keel.read("mcp-baseline.json")
            .contains(r#""protocolVersion": "2025-11-25""#)
    );
    // A server of both eras is asked in the pinned one.
    let report = run(&keel, &["check", "--format", "json"], &rmcp("both"))
        .exits(0)
        .json();
    assert_eq!(rules(&report, "changes"), [""; 0]);
    let report = run(&keel, &["check", "--format", "json"], &rmcp("modern"))
        .exits(1)
        .json();
    assert_eq!(rules(&report, "changes"), ["protocol-version-changed"]);
    assert_eq!(rules(&report, "findings"), ["era-fallback"]);
    // Clients of the era that the server rejects cannot connect.
    let change = &report["servers"][0]["changes"][0];
    assert_eq!(change["level"], "breaking");
    assert_eq!(change["proof"]["instance"]["method"], "initialize");
    let moved = ["check", "--format", "json", "--era", "modern"];
    let report = run(&keel, &moved, &rmcp("both")).exits(1).json();
    assert_eq!(rules(&report, "changes"), ["protocol-version-changed"]);
    assert_eq!(rules(&report, "findings"), [""; 0]);

    run(&keel, &["pin"], &rmcp("modern")).exits(0);
    assert!(
        keel.read("mcp-baseline.json")
            .contains(r#""protocolVersion": "2026-07-28""#)
    );
    // A server of both eras names the revisions of both.
    for (eras, exit, changes) in [("modern", 0, &[][..]), ("both", 1, &["revision-added"])] {
        let strictly = ["check", "--policy", "strict", "--format", "json"];
        let report = run(&keel, &strictly, &rmcp(eras)).exits(exit).json();
        assert_eq!(rules(&report, "changes"), changes);
        assert_eq!(rules(&report, "findings"), [""; 0]);
    }
    let report = run(&keel, &["check", "--format", "json"], &rmcp("legacy"))
        .exits(1)
        .json();
    assert_eq!(rules(&report, "changes"), ["protocol-version-changed"]);
    assert_eq!(rules(&report, "findings"), ["era-fallback"]);
}

#[test]
fn a_capture_reads_back_as_the_same_surface() {
    let keel = Keel::new();
    for era in ["legacy", "modern"] {
        let file = format!("{era}.json");
        run(
            &keel,
            &["capture", "-q", "--era", era, "-o", &file],
            &rmcp("both"),
        )
        .exits(0);
    }
    let capture: Value = serde_json::from_str(&keel.read("modern.json")).unwrap();
    assert_eq!(capture["protocolVersion"], "2026-07-28");
    assert_eq!(capture["discover"]["resultType"], "complete");
    assert!(capture.get("initialize").is_none());
    let same = keel
        .run(&["diff", "legacy.json", "modern.json", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(rules(&same, "changes"), ["protocol-version-changed"]);
    keel.run(&["diff", "modern.json", "modern.json"]).exits(0);
    let fingerprint = |file: &str| keel.run(&["fingerprint", file]).exits(0).stdout;
    assert_eq!(fingerprint("legacy.json"), fingerprint("modern.json"));

    // The negotiated revision is kept, whatever else the server supports.
    let offers = keel
        .read("modern.json")
        .replace("\"2025-11-25\",", "\"2026-12-31\",");
    keel.write("offers.json", &offers);
    let offered = keel.run(&["diff", "modern.json", "offers.json", "--format", "json"]);
    let offered = offered.exits(1).json();
    let expected = ["revision-dropped", "revision-added"];
    assert_eq!(rules(&offered, "changes"), expected);
}

#[test]
fn spelling_differences_between_eras_are_not_drift_but_real_changes_are() {
    let keel = Keel::new();
    let capture = |opening: Value, tools: &str| {
        let mut capture = json!({"tools": serde_json::from_str::<Value>(tools).unwrap(), "prompts": [], "resources": [], "resourceTemplates": []});
        capture
            .as_object_mut()
            .unwrap()
            .extend(opening.as_object().unwrap().clone());
        capture.to_string()
    };
    let tools = r#"[{"name":"a","inputSchema":{"type":"object","properties":{}},"execution":{"taskSupport":"forbidden"}}]"#;
    let respelled = r#"[{"inputSchema":{"properties":{},"type":"object"},"name":"a"}]"#;
    let legacy = |capabilities: Value| {
        json!({"initialize": {"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "serverInfo": {"name": "s", "version": "1"}}})
    };
    let modern = |capabilities: Value, meta: Value| {
        json!({"discover": {"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": capabilities, "_meta": meta}})
    };
    let named = json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}});
    let old = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}, "experimental": {}, "tasks": {"list": {}}});
    let new = json!({"tools": {}, "resources": {"listChanged": true}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    keel.write("old.json", &capture(legacy(old), tools));
    let compare = |new: String| {
        keel.write("new.json", &new);
        let forth = keel
            .run(&["diff", "old.json", "new.json", "--format", "json"])
            .exits(1)
            .json();
        let back = keel
            .run(&["diff", "new.json", "old.json", "--format", "json"])
            .exits(1)
            .json();
        (rules(&forth, "changes"), rules(&back, "changes"))
    };
    let one = vec!["protocol-version-changed".to_owned()];
    let same = compare(capture(modern(new.clone(), named.clone()), respelled));
    assert_eq!(same, (one.clone(), one.clone()));
    // A server that does not identify itself has no other name.
    assert_eq!(compare(capture(modern(new, json!({})), respelled)).0, one);

    let less = json!({"tools": {}});
    let (forth, back) = compare(capture(
        modern(less, named),
        r#"[{"name":"a","inputSchema":{"type":"object","required":["b"]}}]"#,
    ));
    assert_eq!(
        forth
            .iter()
            .filter(|it| *it == "capability-removed")
            .count(),
        2,
        "{forth:?}"
    );
    assert_eq!(
        back.iter().filter(|it| *it == "capability-added").count(),
        2,
        "{back:?}"
    );
    assert!(forth.iter().any(|it| it.starts_with("input-")), "{forth:?}");
}

// Both eras

/// A server of both eras that lists the second tool in one of them only.
fn dual(more: &str) -> [String; 2] {
    let scenario = format!(
        r#"{{"tools":[{TOOL}],"instructions":"Ask.","capabilities":{{"tools":{{}}}},"on":{{"server/discover":[{{"set":{{"tools":[{TOOL}{more}]}}}},{{"result":{}}}]}}}}"#,
        discover()
    );
    scripted(&scenario).try_into().unwrap()
}

#[test]
fn both_eras_are_captured_and_their_differences_reported() {
    let keel = Keel::new();
    let more = r#",{"name":"b","inputSchema":{"type":"object"}}"#;
    run(&keel, &["pin", "--era", "both"], &dual(more)).exits(0);
    let baseline = keel.read("mcp-baseline.json");
    assert!(
        baseline.contains("2026-07-28") && baseline.contains("tool:b@"),
        "{baseline}"
    );

    let both = ["check", "--era", "both", "--format", "json"];
    let report = run(&keel, &both, &dual(more)).exits(0).json();
    let findings = &report["servers"][0]["findings"];
    assert_eq!(rules(&report, "findings"), ["era-surfaces-differ"]);
    assert_eq!(findings[0]["component"], "tool:b@");
    assert_eq!(
        findings[0]["message"],
        "from 2025-11-25 to 2026-07-28: tool-added: new tool"
    );
    let report = run(&keel, &["check", "--format", "json"], &dual(more))
        .exits(0)
        .json();
    assert_eq!(rules(&report, "findings"), [""; 0]);

    // A baseline of the legacy era is compared in that era.
    run(&keel, &["pin", "--era", "legacy"], &dual(more)).exits(0);
    let report = run(&keel, &both, &dual(more)).exits(0).json();
    assert_eq!(
        report["servers"][0]["findings"][0]["message"],
        "from 2026-07-28 to 2025-11-25: tool-removed: tool removed"
    );
    let report = run(&keel, &both, &dual("")).exits(0).json();
    assert_eq!(rules(&report, "findings"), [""; 0]);
}

#[test]
fn a_server_of_one_era_is_captured_in_it_with_a_note() {
    let keel = Keel::new();
    run(&keel, &["pin"], &rmcp("legacy")).exits(0);
    let both = ["check", "--era", "both", "--format", "json"];
    let report = run(&keel, &both, &rmcp("legacy")).exits(0).json();
    assert_eq!(rules(&report, "findings"), ["era-not-spoken"]);
    let report = run(&keel, &both, &rmcp("modern")).exits(1).json();
    assert_eq!(rules(&report, "changes"), ["protocol-version-changed"]);
    assert_eq!(rules(&report, "findings"), ["era-not-spoken"]);
    // An era that opened and failed later does not count as unsupported.
    let broken = format!(
        r#"{{"tools":[{TOOL}],"on":{{"server/discover":[{{"set":{{"on":{{"tools/list":[{{"error":{{"code":-1,"message":"broken"}}}}]}}}}}},{{"result":{}}}]}}}}"#,
        discover()
    );
    run(&keel, &both, &scripted(&broken).try_into().unwrap()).exits(3);
}

#[test]
fn the_configuration_sets_the_era() {
    let [program, eras] = rmcp("both");
    let config =
        |era: &str| format!("[server.a]\ncommand = ['{program}', '{eras}']\nera = \"{era}\"\n");
    let keel = Keel::new().file("mcp-keel.toml", &config("modern"));
    keel.run(&["pin"]).exits(0);
    assert!(keel.read("mcp-baseline.json").contains("2026-07-28"));
    keel.run(&["check"]).exits(0);
    keel.run(&["check", "--era", "legacy"])
        .exits(1)
        .says("protocol-version-changed")
        .says("mcp-keel pin --era legacy a");
    keel.write("mcp-keel.toml", &config("modem"));
    keel.run(&["check"]).exits(2).says("did you mean `modern`?");
}

// Headers

#[test]
fn a_tool_that_http_clients_drop_is_removed_for_them_and_only_for_them() {
    let keel = Keel::new();
    let capture = |revision: &str, http: bool, header: &str| {
        let opening = match revision {
            "2026-07-28" => {
                json!({"discover": {"supportedVersions": [revision], "capabilities": {"tools": {}}}})
            }
            _ => {
                json!({"initialize": {"protocolVersion": revision, "capabilities": {"tools": {}}}})
            }
        };
        let mut capture = json!({"tools": [{"name": "a", "inputSchema": {"type": "object",
            "properties": {"p": {"type": "string", "x-mcp-header": header}}}}],
            "prompts": [], "resources": [], "resourceTemplates": []});
        let members = capture.as_object_mut().unwrap();
        members.extend(opening.as_object().unwrap().clone());
        if http {
            members.insert("transport".into(), "http".into());
        }
        capture.to_string()
    };
    let hidden = |old: String, new: String| {
        keel.write("old.json", &old);
        keel.write("new.json", &new);
        let report = keel
            .run(&["diff", "old.json", "new.json", "--format", "json"])
            .json();
        let hidden = "tool-hidden-from-http-clients".to_owned();
        let found = rules(&report, "findings").contains(&"x-mcp-header-invalid".to_owned());
        (rules(&report, "changes").contains(&hidden), found)
    };
    let (modern, legacy) = ("2026-07-28", "2025-11-25");
    let valid = |http| capture(modern, http, "Region");
    assert_eq!(
        hidden(valid(true), capture(modern, true, "a b")),
        (true, true)
    );
    assert_eq!(
        hidden(valid(false), capture(modern, false, "a b")),
        (false, true)
    );
    assert_eq!(
        hidden(valid(true), capture(modern, true, "Area")),
        (false, false)
    );
    // Dropped before and after.
    assert_eq!(
        hidden(capture(modern, true, "a b"), capture(modern, true, "c d")),
        (false, true)
    );
    // Clients of the legacy era do not read the header; in the modern era the tool is dropped.
    let before = capture(legacy, true, "a b");
    assert_eq!(
        hidden(before.clone(), capture(legacy, true, "c d")),
        (false, true)
    );
    assert_eq!(hidden(before, capture(modern, true, "a b")), (true, true));
}

/// A modern server over HTTP that follows the specification: requests without revision and method
/// are rejected.
fn over_http(tools: &'static str) -> Double {
    Double::start(move |request, connection| {
        let id = request.id();
        let named = request.header("mcp-protocol-version") == "2026-07-28"
            && request.header("mcp-method") == request.rpc();
        let result = match request.rpc().as_str() {
            _ if !named || !request.header("mcp-session-id").is_empty() => None,
            "server/discover" => Some(discover()),
            "tools/list" => Some(page(tools)),
            _ => None,
        };
        let answer = match result {
            Some(result) => json_answer(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
            )),
            None => whole(
                "400 Bad Request",
                "Content-Type: application/json\r\n",
                &format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32020,"message":"Header mismatch"}}}}"#
                ),
            ),
        };
        write(connection, answer)
    })
}

#[test]
fn a_modern_server_over_http_is_found_and_a_tool_its_clients_drop_is_a_removal() {
    let keel = Keel::new();
    let valid = r#"{"name":"a","inputSchema":{"type":"object","properties":{"p":{"type":"string","x-mcp-header":"P"}}}}"#;
    let invalid = r#"{"name":"a","inputSchema":{"type":"object","properties":{"p":{"type":"string","x-mcp-header":"p q"}}}}"#;
    keel.run(&["pin", "--url", &over_http(valid).url()])
        .exits(0);
    assert!(keel.read("mcp-baseline.json").contains("2026-07-28"));
    keel.run(&["check", "--url", &over_http(valid).url()])
        .exits(0);
    let double = over_http(invalid);
    let check = ["check", "--format", "json", "--url", &double.url()];
    let report = keel.run(&check).exits(1).json();
    assert!(rules(&report, "changes").contains(&"tool-hidden-from-http-clients".to_owned()));
    assert!(rules(&report, "findings").contains(&"x-mcp-header-invalid".to_owned()));
    assert!(
        double
            .calls()
            .iter()
            .all(|call| !call.contains("initialize"))
    );
}

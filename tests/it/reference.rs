//! The commands that need no server, and how sources are read.

use crate::keel::{Keel, serving};

#[test]
fn the_demo_runs_the_pipeline_and_exits_with_0() {
    let keel = Keel::new();
    keel.run(&["demo"])
        .exits(0)
        .says("BLOCK")
        .says("tool-removed")
        .says("worked before, fails now");
    let report = keel.run(&["demo", "--format", "json"]).exits(0).json();
    assert_eq!(report["verdict"], "block");
    assert_eq!(
        std::fs::read_dir(keel.folder()).unwrap().count(),
        0,
        "the demo writes nothing"
    );
}

#[test]
fn the_demos_baseline_is_that_of_its_pinned_edition() {
    let keel = Keel::new();
    let program = env!("CARGO_BIN_EXE_mcp-keel");
    keel.run(&["pin", "weather", "--", program, "demo", "--serve", "pinned"])
        .exits(0);
    assert_eq!(keel.read("mcp-baseline.json"), mcp_keel::demo::BASELINE);
    keel.run(&[
        "check", "weather", "--", program, "demo", "--serve", "pinned",
    ])
    .exits(0);
    keel.run(&[
        "check", "weather", "--", program, "demo", "--serve", "drifted",
    ])
    .exits(1);
}

#[test]
fn every_kind_of_source_reads_the_same() {
    let tools =
        r#"[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"default":1.0}}}}]"#;
    let [program, scenario] = serving(tools);
    let keel = Keel::new().file("tools.json", &format!("{{\"tools\":{tools}}}"));
    keel.write(
        "answer.json",
        &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":{tools}}}}}"),
    );
    keel.run(&["capture", "-o", "capture.json", "--", &program, &scenario])
        .exits(0);
    keel.run(&["pin", "--", &program, &scenario]).exits(0);
    let stdio = format!(
        "stdio:{} {}",
        shlex::try_quote(&program).unwrap(),
        shlex::try_quote(&scenario).unwrap()
    );
    for old in [
        "tools.json",
        "answer.json",
        "capture.json",
        "mcp-baseline.json",
        &stdio,
    ] {
        for new in ["tools.json", "capture.json", "mcp-baseline.json"] {
            keel.run(&["diff", old, new]).exits(0).says("no difference");
        }
        let digests = keel.run(&["fingerprint", old]).exits(0).json();
        assert_eq!(digests.as_object().unwrap().len(), 1);
        let fastmcp = keel
            .run(&["fingerprint", old, "--profile", "fastmcp"])
            .exits(0)
            .json();
        assert_eq!(
            fastmcp["tool:a@"],
            "63073d29ee1cfcb5f822b9d0399dd22d4629f74b89d042a78cfa0af09bea22b2"
        );
    }
    keel.run_with_input(&["diff", "-", "tools.json"], &keel.read("tools.json"))
        .exits(0);
}

#[test]
fn a_capture_contains_the_lists_exactly_as_sent() {
    let keel = Keel::new();
    let tools = r#"[{"name":"a","x-vendor":[1.0,1e400,"\ud800"],"x-vendor":2}]"#;
    let run = keel.run_serving(&["capture"], tools).exits(0);
    let capture = mcp_keel::canonical::parse_str(&run.stdout).unwrap();
    assert_eq!(
        mcp_keel::canonical::to_compact(capture.get("tools").unwrap()),
        tools
    );
    assert_eq!(capture.get("captureVersion").unwrap().to_string(), "1");
}

#[test]
fn a_git_revision_is_a_source() {
    let keel = Keel::new().file("tools.json", r#"{"tools":[{"name":"a"}]}"#);
    crate::machine::repository(keel.folder());
    keel.write("tools.json", r#"{"tools":[{"name":"b"}]}"#);
    keel.run(&["diff", "git:HEAD:tools.json", "tools.json"])
        .exits(1)
        .says("tool:b@");
    keel.run(&["diff", "git:nowhere:tools.json", "tools.json"])
        .exits(2)
        .says("git:nowhere:tools.json");
    keel.run(&["diff", "git:HEAD", "tools.json"])
        .exits(2)
        .says("git:REF:PATH");
}

#[test]
fn a_server_only_in_the_old_baseline_was_removed() {
    let keel = crate::fleet::pinned(2, &[]);
    let [first, second] = ["s000", "s001"];
    keel.run(&["pin", "--baseline", "one.json", first]).exits(0);
    let report = keel
        .run(&["diff", "mcp-baseline.json", "one.json", "--format", "json"])
        .exits(1)
        .json();
    let servers = report["servers"].as_array().unwrap();
    let gone = servers.iter().find(|it| it["name"] == second).unwrap();
    assert_eq!(gone["changes"][0]["rule"], "server-removed");
    let kept = servers.iter().find(|it| it["name"] == first).unwrap();
    assert_eq!(kept["changes"], serde_json::json!([]));
}

#[test]
fn an_invalid_source_is_explained() {
    let keel = Keel::new()
        .file("a.json", "{\"tools\": 7}")
        .file("b.json", "{\n\"tools\": [}")
        .file("c.json", "{}");
    keel.run(&["diff", "a.json", "a.json"])
        .exits(2)
        .says("an object with `tools`, and no list of tools");
    keel.run(&["diff", "b.json", "a.json"])
        .exits(2)
        .says("line 2, column 11");
    keel.run(&["fingerprint", "c.json"])
        .exits(2)
        .says("`tools`");
    keel.run(&["fingerprint", "missing.json"])
        .exits(2)
        .says("missing.json")
        .says("stdio:COMMAND");
    keel.run(&["fingerprint", "stdio:/no/such/program"])
        .exits(3)
        .says("/no/such/program");
    keel.run(&["fingerprint", "a.json", "--fields", "description"])
        .exits(2)
        .says("--profile fastmcp");
    keel.write("d.json", r#"{"tools":[{"name":"x"}]}"#);
    keel.run(&["fingerprint", "d.json", "--profile", "fastmcp"])
        .exits(2)
        .says("tool:x@")
        .says("inputSchema");
}

#[test]
fn rules_are_listed_and_explained() {
    let keel = Keel::new();
    keel.run(&["rules"])
        .exits(0)
        .says("tool-removed")
        .says("unclassified-change");
    let rules = keel.run(&["rules", "--format", "json"]).exits(0).json();
    for rule in rules["rules"].as_array().unwrap() {
        let id = rule["id"].as_str().unwrap();
        keel.run(&["explain", id])
            .exits(0)
            .says("Why it matters")
            .says("What to do")
            .says("Example");
    }
    keel.run(&["explain", "tool-remvoed"])
        .exits(2)
        .says("did you mean `tool-removed`?");
}

#[test]
fn schemas_completions_and_the_manual_are_printed() {
    let keel = Keel::new();
    for name in ["baseline", "report", "config"] {
        let schema = keel.run(&["schema", name]).exits(0).json();
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
    }
    keel.run(&["completions", "bash"]).exits(0).says("mcp-keel");
    keel.run(&["man"]).exits(0).says(".TH mcp-keel");
    keel.run(&["man", "check"]).exits(0).says("fail");
    keel.run(&["--version"])
        .exits(0)
        .says(env!("CARGO_PKG_VERSION"));
}

//! `check`: what it reports, how it looks, how it exits.

use crate::keel::{Keel, serving};

const OLD: &str = r#"[{"name":"get","description":"Gets a thing.","inputSchema":{"type":"object"}},{"name":"old","inputSchema":{"type":"object"}}]"#;
const NEW: &str = r#"[{"name":"get","description":"Gets one thing.","inputSchema":{"type":"object"}},{"name":"new","inputSchema":{"type":"object"}}]"#;

/// A folder with `OLD` pinned, and the command line of a server that lists `NEW`.
fn drifted() -> (Keel, [String; 2]) {
    let keel = Keel::new();
    keel.run_serving(&["pin"], OLD).exits(0);
    (keel, serving(NEW))
}

#[test]
fn drift_blocks_and_names_what_changed() {
    let (keel, [program, scenario]) = drifted();
    let run = keel.run(&["check", "--", &program, &scenario]).exits(1);
    let shown = run.stdout.replace(&program, "PROGRAM").replace(
        &shlex::try_quote(&scenario).unwrap().into_owned(),
        "SCENARIO",
    );
    assert!(
        shown.starts_with("BLOCK  scripted drifted: 1 breaking, 1 risky, 1 additive."),
        "{shown}"
    );
    run.says("tool:old@")
        .says("tool:new@")
        .says("Gets [-a-]{+one+} thing.")
        .says("mcp-keel pin scripted -- ");
}

#[test]
fn the_thresholds_decide_what_fails() {
    let (keel, [program, scenario]) = drifted();
    let check = |flags: &[&str]| {
        let mut args = vec!["check"];
        args.extend(flags);
        args.extend(["--", &program, &scenario]);
        keel.run(&args)
    };
    check(&["--fail-on", "none"]).exits(0).says("PASS");
    check(&["--fail-on", "breaking"]).exits(1);
    check(&["--fail-on", "none", "--fail-on-exposure", "high"]).exits(1);
    check(&["--enforcement", "warn"]).exits(0).says("WARN");
    check(&["--enforcement", "audit"])
        .exits(0)
        .says("3 changes would block");
    check(&["--unknown", "allow_degraded", "--fail-on", "additive"]).exits(1);
}

#[test]
fn by_default_a_new_version_only_warns_and_another_order_is_not_compared() {
    let server = |version: &str, names: [&str; 3]| {
        let tools =
            names.map(|it| serde_json::json!({"name": it, "inputSchema": {"type": "object"}}));
        serde_json::json!({
            "serverInfo": {"name": "weather", "version": version},
            "tools": tools,
        })
        .to_string()
    };
    let program = crate::scripted::example("scripted-server");
    let program = program.as_str();
    let keel = Keel::new();
    let old = server("1.0.0", ["a", "b", "c"]);
    keel.run(&["pin", "--", program, &old]).exits(0);
    let new = server("1.0.1", ["c", "a", "b"]);
    keel.run(&["check", "--", program, &new])
        .exits(0)
        .says("WARN")
        .says("the baseline is behind")
        .says_nothing_of("moved from");
    keel.run(&["check", "--policy", "strict", "--", program, &new])
        .exits(1)
        .says("BLOCK");
    keel.write("mcp-keel.toml", "policy = \"strict\"\n");
    keel.run(&["check", "--", program, &new]).exits(1);
    keel.run(&["check", "--policy", "default", "--", program, &new])
        .exits(0);
    keel.run(&["config", "--", program, &new])
        .exits(0)
        .says("strict");
    keel.write("mcp-keel.toml", "policy = \"strickt\"\n");
    keel.run(&["check", "--", program, &new])
        .exits(2)
        .says("strict");
}

#[test]
fn a_limit_on_context_blocks_what_grew_or_is_too_large() {
    let (keel, [program, scenario]) = drifted();
    let check = |flags: &[&str]| {
        let mut args = vec!["check", "--fail-on", "none"];
        args.extend(flags);
        args.extend(["--", &program, &scenario]);
        keel.run(&args)
    };
    let report = check(&["--format", "json"]).exits(0).json();
    let cost = &report["servers"][0]["cost"];
    let (was, is) = (
        cost["baselineTokens"].as_u64(),
        cost["currentTokens"].as_u64(),
    );
    let (was, is) = (was.unwrap(), is.unwrap());
    // `old`, `get` and `new`: each tool is counted on the sides where it exists.
    assert_eq!(cost["tools"].as_array().unwrap().len(), 3);
    check(&["--context-limit", &is.to_string()]).exits(0);
    check(&["--context-limit", &(is - 1).to_string()])
        .exits(1)
        .says("context-limit-exceeded");
    assert!(is >= was, "{was} {is}");
    let longer = NEW.replace("one thing", "one thing, and says at length what it is");
    let [_, longer] = serving(&longer);
    let grown = |percent: &str| {
        keel.run(&[
            "check",
            "--fail-on",
            "none",
            "--context-growth",
            percent,
            "--",
            &program,
            &longer,
        ])
    };
    grown("0").exits(1).says("context-limit-exceeded");
    grown("900").exits(0);
}

#[test]
fn the_json_report_carries_everything() {
    let (keel, [program, scenario]) = drifted();
    let report = keel
        .run(&["check", "--format", "json", "--", &program, &scenario])
        .exits(1)
        .json();
    assert_eq!(report["reportVersion"], 1);
    assert_eq!(report["verdict"], "block");
    let server = &report["servers"][0];
    assert_eq!(server["status"], "drifted");
    assert_eq!(server["counts"]["breaking"], 1);
    let changes = server["changes"].as_array().unwrap();
    let described = changes
        .iter()
        .find(|it| it["rule"] == "tool-description-changed")
        .unwrap();
    assert_eq!(described["component"], "tool:get@");
    assert_eq!(described["pointer"], "/description");
    assert_eq!(described["old"], "Gets a thing.");
    assert_eq!(described["action"], "block");
    assert_eq!(described["words"][1], serde_json::json!(["-", "a"]));
    let baseline = keel.read("mcp-baseline.json");
    let line = described["location"]["line"].as_u64().unwrap() as usize;
    assert_eq!(
        baseline.lines().nth(line - 1).unwrap().trim(),
        "\"description\": \"Gets a thing.\","
    );
    let removed = changes
        .iter()
        .find(|it| it["rule"] == "tool-removed")
        .unwrap();
    let line = removed["location"]["line"].as_u64().unwrap() as usize;
    assert_eq!(
        baseline.lines().nth(line - 1).unwrap().trim(),
        "\"tool:old@\": {"
    );
}

#[test]
fn several_reports_are_written_at_once() {
    let (keel, [program, scenario]) = drifted();
    let args = [
        "check",
        "--quiet",
        "--report",
        "json=out/report.json",
        "--report",
        "terminal=report.txt",
        "--",
    ];
    keel.run(&[&args[..], &[&program, &scenario]].concat())
        .exits(1);
    assert!(
        keel.read("out/report.json")
            .starts_with("{\n  \"reportVersion\": 1")
    );
    assert!(keel.read("report.txt").starts_with("BLOCK"));
}

#[test]
fn an_accepted_change_passes_until_it_is_stale() {
    let (keel, [program, scenario]) = drifted();
    let report = keel
        .run(&["check", "--format", "json", "--", &program, &scenario])
        .json();
    let ids = report["servers"][0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap().to_owned());
    let accept = |id: &str, more: &str| {
        format!("[[accept]]\nchange = \"{id}\"\nreason = \"planned\"\nowner = \"@me\"\n{more}\n")
    };
    let all: String = ids.map(|id| accept(&id, "")).collect();
    keel.write("mcp-keel.toml", &all);
    keel.run(&["check", "--", &program, &scenario])
        .exits(0)
        .says("(accepted)");
    keel.write(
        "mcp-keel.toml",
        &(all.clone() + &accept("00000000000000000000000000000000", "")),
    );
    keel.run(&["check", "--", &program, &scenario])
        .exits(0)
        .says("WARN")
        .says("acceptance-unused");
    keel.write(
        "mcp-keel.toml",
        &(all.replace("owner = \"@me\"", "owner = \"@me\"\nexpires = 2020-01-01")),
    );
    keel.run(&["check", "--", &program, &scenario])
        .exits(1)
        .says("acceptance-expired");
}

#[test]
fn a_version_that_does_not_match_the_drift_is_reported() {
    let (keel, [program, scenario]) = drifted();
    keel.write(
        "mcp-keel.toml",
        "[policy]\nfail-on = \"none\"\nrequire-version-bump = true\n",
    );
    keel.run(&["check", "--", &program, &scenario])
        .exits(1)
        .says("version-not-bumped")
        .says("major");
}

#[test]
fn the_version_is_read_where_the_maintainers_write_it() {
    let (keel, [program, new]) = drifted();
    let [_, old] = serving(OLD);
    let command = |scenario: &str| serde_json::to_string(&[&program, scenario]).unwrap();
    let config = |scenario: &str| {
        format!(
            "[server.a]\ncommand = {}\nversion = \"package.json\"\n[policy]\nfail-on = \"none\"\nrequire-version-bump = true\n",
            command(scenario)
        )
    };
    keel.write("mcp-keel.toml", &config(&old));
    keel.run(&["pin"])
        .exits(2)
        .says("package.json")
        .says("git-tag");
    keel.write("package.json", r#"{"version":"3.1.0"}"#);
    keel.run(&["pin"])
        .exits(0)
        .says("version-disagrees")
        .names(&["serverInfo.version", "1.0.0", "package.json", "3.1.0"]);
    assert!(
        keel.read("mcp-baseline.json")
            .contains("\"source\": \"package.json\"")
    );
    // Once is enough.
    keel.run(&["check"])
        .exits(0)
        .says_nothing_of("version-disagrees");

    keel.write("package.json", r#"{"version":"3.1.1"}"#);
    keel.run(&["check"]).exits(0).says("version-without-drift");
    keel.write("mcp-keel.toml", &config(&new));
    keel.run(&["check"])
        .exits(1)
        .says("version-not-bumped")
        .names(&["3.1.0", "3.1.1", "package.json"]);
    keel.write("package.json", r#"{"version":"4.0.0"}"#);
    keel.run(&["check"]).exits(0);
    keel.write("package.json", r#"{"version":"3.0.9"}"#);
    keel.run(&["check"]).exits(1).says("version-decreased");
}

#[test]
fn a_versioned_tool_that_changes_without_a_new_version_is_noted() {
    let tool = |version: &str, required: &str| {
        format!(
            r#"[{{"name":"calc","inputSchema":{{"type":"object","properties":{{"a":{{}}}},"required":[{required}]}},"_meta":{{"fastmcp":{{"version":"{version}"}}}}}}]"#
        )
    };
    let keel = Keel::new();
    keel.run_serving(&["pin"], &tool("1.0", "")).exits(0);
    keel.run_serving(&["check"], &tool("1.0", "\"a\""))
        .exits(1)
        .says("tool-version-not-bumped");
    keel.run_serving(&["check"], &tool("2.0", "\"a\""))
        .exits(1)
        .says("tool-version-changed")
        .says_nothing_of("tool-version-not-bumped")
        .says_nothing_of("tool-removed");
}

#[test]
fn a_missing_credential_looks_like_a_removal_and_is_reported_as_such() {
    let (keel, [program, _]) = drifted();
    let [_, empty] = serving("[]");
    keel.run(&["check", "--", &program, &empty])
        .exits(1)
        .says("surface-emptied")
        .says_nothing_of("tool-removed");
}

#[test]
fn one_failing_server_does_not_hide_the_others() {
    let [program, scenario] = serving(OLD);
    let command = serde_json::to_string(&[&program, &scenario]).unwrap();
    let config = format!("[server.good]\ncommand = {command}\n[server.bad]\ncommand = {command}\n");
    let keel = Keel::new().file("mcp-keel.toml", &config);
    keel.run(&["pin"]).exits(0);
    keel.write(
        "mcp-keel.toml",
        &config.replace(
            "[server.bad]\ncommand",
            "[server.bad]\ncommand = [\"/no/such/program\"]\n#",
        ),
    );
    let run = keel.run(&["check", "--format", "json"]).exits(3);
    let report = run.json();
    assert_eq!(report["verdict"], "undetermined");
    assert_eq!(report["servers"][0]["name"], "bad");
    assert_eq!(report["servers"][0]["status"], "undetermined");
    assert_eq!(report["servers"][1]["status"], "clean");
    keel.run(&["check"])
        .exits(3)
        .says("could not be captured: bad")
        .says("/no/such/program");
    keel.run(&["check", "good"]).exits(0);
}

#[test]
fn a_server_in_the_baseline_that_is_not_checked_is_noted() {
    let keel = Keel::new();
    keel.run_serving(&["pin", "a"], OLD).exits(0);
    keel.run_serving(&["pin", "b"], OLD).exits(0);
    keel.run_serving(&["check", "a"], OLD)
        .exits(0)
        .says("server-not-checked");
}

#[test]
fn mistyped_arguments_are_explained() {
    let keel = Keel::new();
    keel.run(&["check"])
        .exits(2)
        .says("no command was given")
        .says("mcp-keel check -- node dist/index.js");
    keel.run(&["chek"]).exits(2).says("check");
    keel.run(&["check", "--fail-on", "braking", "--", "x"])
        .exits(2)
        .says("breaking");
    keel.run(&["check", "--env", "A", "--", "x"])
        .exits(2)
        .says("expected KEY=VALUE");
    keel.run(&["check", "--config", "nowhere.toml"])
        .exits(2)
        .says("nowhere.toml");
    keel.run(&["check", "a", "b", "--", "x"])
        .exits(2)
        .says("name at most one server");
    keel.run(&["check", "--report", "sarf=x", "--", "x"])
        .exits(2)
        .says("`sarf`");
    keel.run(&["check", "--pass-env", "GITHUB_TOKEN", "--", "x"])
        .exits(2)
        .says("GITHUB_TOKEN");
    keel.write(
        "mcp-keel.toml",
        "[server.weather]\ncommand = [\"x\"]\ncwd = \"nowhere\"\n",
    );
    keel.run(&["check"]).exits(2).says("nowhere");
    keel.write("mcp-keel.toml", "[server.weather]\ncommand = [\"x\"]\n");
    keel.run(&["check", "whether"])
        .exits(2)
        .says("no server `whether`")
        .says("did you mean `weather`?");
}

#[test]
fn a_server_is_checked_as_the_client_that_pinned_it() {
    let keel = Keel::new();
    let log = keel.folder().join("log").to_string_lossy().into_owned();
    let scenario = format!(r#"{{"tools": [], "log": "{log}"}}"#);
    let [program, _] = serving("[]");
    keel.run(&[
        "pin",
        "--client",
        "claude",
        "--capabilities",
        "roots",
        "--",
        &program,
        &scenario,
    ])
    .exits(0);
    let asked = |needle: &str| {
        keel.read("log").lines().last().is_some() && keel.read("log").contains(needle)
    };
    assert!(asked(r#""name":"claude""#));
    std::fs::remove_file(&log).unwrap();
    keel.run(&["check", "--", &program, &scenario]).exits(0);
    assert!(asked(r#""name":"claude""#) && asked(r#""capabilities":{"roots":{}}"#));
    // One member of the profile is set: the other stays as pinned.
    std::fs::remove_file(&log).unwrap();
    keel.run(&["check", "--client", "other", "--", &program, &scenario])
        .exits(1)
        .says("client-changed");
    assert!(asked(r#""name":"other""#) && asked(r#""capabilities":{"roots":{}}"#));
}

#[test]
fn an_unset_variable_is_noted() {
    let keel = Keel::new();
    keel.run_serving(&["pin", "--pass-env", "NOT_SET_HERE"], "[]")
        .exits(0)
        .says("variable-missing")
        .says("NOT_SET_HERE");
}

#[test]
fn hostile_text_never_reaches_the_terminal() {
    let keel = Keel::new();
    keel.run_serving(&["pin"], "[]").exits(0);
    let hostile = r#"[{"name":"a\u001b[2Jb\u202e\n::error::x","description":"\u001b]0;title\u0007\u200b","inputSchema":{"type":"object"}}]"#;
    let run = keel
        .run_serving(&["check", "--color", "never"], hostile)
        .exits(1);
    assert!(
        !run.stdout
            .contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}'])
    );
    run.says("\\u{1b}[2Jb\\u{202e}\\n:\\u{3a}error::x");
}

#[test]
fn in_gitlab_the_markdown_report_leads_to_job_and_lines() {
    let keel = Keel::new();
    let tool = |days: u8| {
        format!(
            r#"[{{"name":"get","inputSchema":{{"type":"object","properties":{{"days":{{"type":"integer","maximum":{days}}}}}}}}}]"#
        )
    };
    keel.run_serving(&["pin", "it"], &tool(10)).exits(0);
    let [program, scenario] = crate::keel::serving(&tool(7));
    let args = [
        "check", "it", "--format", "markdown", "--", &program, &scenario,
    ];
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let env = [
        ("GITLAB_CI", "true"),
        ("CI_PROJECT_URL", "https://gitlab.example/octo/weather"),
        ("CI_COMMIT_SHA", commit),
        ("CI_JOB_URL", "https://gitlab.example/octo/weather/-/jobs/7"),
    ];
    keel.run_with_env(&args, &env)
        .exits(1)
        .says(&format!(
            "https://gitlab.example/octo/weather/-/blob/{commit}/mcp-baseline.json#L"
        ))
        .says("https://gitlab.example/octo/weather/-/jobs/7");
    keel.run(&args).exits(1).says_nothing_of("https://gitlab");
}

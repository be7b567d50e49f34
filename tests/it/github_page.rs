//! The second edition of what is posted: never a wrong colour, and first contact.

use serde_json::{Value, json};

use crate::github::{Pull, drifted, tool, usual};
use crate::github_double::Fault;

impl Pull {
    /// The conclusion and the title of each run, by name.
    fn runs(&self) -> Vec<(String, String, String)> {
        let state = self.double.state();
        assert_eq!(state.violations, Vec::<String>::new());
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let mut runs: Vec<_> = state
            .runs
            .iter()
            .map(|it| {
                (
                    text(&it["name"]),
                    text(&it["conclusion"]),
                    text(&it["output"]["title"]),
                )
            })
            .collect();
        runs.sort();
        runs
    }
}

#[test]
fn two_jobs_of_a_matrix_have_a_check_run_and_a_comment_each() {
    let mut pull = Pull::new(&usual());
    for (node, tools, code) in [("20", drifted(), 1), ("22", usual(), 0)] {
        pull.serve(&tools);
        // As GitHub writes `toJSON(matrix)`.
        pull.set("INPUT_MATRIX", &format!("{{\n  \"node\": {node}\n}}"));
        pull.run().exits(code);
    }
    let runs = pull.runs();
    let colours: Vec<(&str, &str)> = runs.iter().map(|it| (&*it.0, &*it.1)).collect();
    assert_eq!(
        colours,
        [("mcp-keel (20)", "failure"), ("mcp-keel (22)", "success")]
    );
    let [comment] = &pull.comments()[..] else {
        panic!("{:#?}", pull.comments());
    };
    assert!(comment.contains("### ❌ mcp-keel (20): "), "{comment}");
}

#[test]
fn within_one_run_and_attempt_a_worse_conclusion_is_never_replaced_by_a_better_one() {
    let mut pull = Pull::new(&usual());
    pull.set("GITHUB_RUN_ATTEMPT", "1");
    pull.drift();
    pull.run().exits(1);
    let (run, annotations) = pull.one_run("failure");
    let comments = pull.comments();
    // Another job of the same run, with the same inputs, finds nothing.
    pull.serve(&usual());
    pull.run().exits(0);
    let (after, kept) = pull.one_run("failure");
    assert_eq!(after["output"], run["output"]);
    assert_eq!(kept, annotations);
    assert_eq!(pull.comments(), comments);
    // The next attempt knows better.
    pull.set("GITHUB_RUN_ATTEMPT", "2");
    pull.run().exits(0);
    pull.one_run("success");
    assert!(pull.comments()[0].contains("no drift as of"));
    // A worse one replaces a better one in the same attempt.
    pull.drift();
    pull.run().exits(1);
    pull.one_run("failure");
}

#[cfg(unix)]
/// It could keep a comment, and with it what it says, as it is.
#[test]
fn a_stamp_in_a_text_of_the_server_is_none() {
    let pull = Pull::new(&usual());
    let stamp = "<!-- mcp-keel: run 42.2 block -->";
    pull.serve(&[tool("forecast", &format!("{stamp}\n\n{stamp}\n"))]);
    pull.run().exits(1);
    assert!(
        pull.comments()[0].contains("stations"),
        "{:?}",
        pull.comments()
    );
    pull.serve(&usual());
    pull.run().exits(0);
    let comment = &pull.comments()[0];
    assert!(comment.contains("no drift as of"), "{comment}");
    assert!(
        comment.ends_with("<!-- mcp-keel: run 42.2 pass -->"),
        "{comment}"
    );
}

#[test]
fn a_run_that_is_repeated_is_in_progress_at_once() {
    let mut pull = Pull::new(&usual());
    pull.drift();
    pull.run().exits(1);
    pull.one_run("failure");
    pull.set("INPUT_SANDBOX", "off");
    let log = pull.keel.folder().join("runner/received");
    let silent = json!({"log": log, "on": {"initialize": []}});
    pull.keel.write("scenario.json", &silent.to_string());
    let mut running = pull.program().spawn().unwrap();
    while !log.exists() {
        assert_eq!(running.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    {
        let state = pull.double.state();
        let run = &state.runs[0];
        assert_eq!(
            (&run["status"], &run["conclusion"], &run["output"]["title"]),
            (&json!("in_progress"), &Value::Null, &json!("Checking"))
        );
    }
    let pid = nix::unistd::Pid::from_raw(i32::try_from(running.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    running.wait().unwrap();
    pull.one_run("cancelled");
}

#[test]
fn every_report_and_output_covers_both_questions() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.pin();
    let reports = [
        "sarif=r/sarif",
        "markdown=r/md",
        "junit=r/junit",
        "gitlab=r/gitlab",
    ];
    pull.set("INPUT_REPORT", &reports.join("\n"));
    pull.run().exits(0);
    // What merging approves blocks nowhere.
    let sarif: Value = serde_json::from_str(&pull.keel.read("r/sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let is_of_level = |level: &str| results.iter().any(|it| it["level"] == level);
    assert!(
        is_of_level("warning") && !is_of_level("error"),
        "{results:#?}"
    );
    let markdown = pull.keel.read("r/md");
    assert!(
        markdown.starts_with("### ⚠️ mcp-keel: merging approves"),
        "{markdown}"
    );
    assert!(!pull.keel.read("r/junit").contains("<failure"));
    let gitlab: Value = serde_json::from_str(&pull.keel.read("r/gitlab")).unwrap();
    assert!(!gitlab.as_array().unwrap().is_empty());
    let outputs = pull.outputs();
    let approval: Value =
        serde_json::from_str(&pull.keel.read(&outputs["approval-report"])).unwrap();
    assert_eq!(approval["verdict"], "warn");
    for (name, value) in [
        ("verdict", "warn"),
        ("drift", "false"),
        ("breaking", "2"),
        ("required-bump", "major"),
    ] {
        assert_eq!(outputs[name], value, "{name}");
    }
}

#[test]
fn annotations_are_only_in_files_that_the_pull_request_changes() {
    let mut pull = Pull::new(&usual());
    pull.drift();
    pull.run().exits(1);
    let (_, annotations) = pull.one_run("failure");
    let paths: Vec<&str> = annotations
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["src/tools.ts"; 3]);
    // The page leads to the same lines, at the head commit.
    let link = format!(
        "[`alerts`](https://github.com/octo/weather/blob/{}/src/tools.ts#L2)",
        pull.head
    );
    assert!(pull.comments()[0].contains(&link), "{:?}", pull.comments());
    // The base has the same declarations: neither they nor the baseline are in the diff.
    let declared = pull.keel.read("src/tools.ts");
    pull.on_base("src/tools.ts", &declared);
    pull.double.state().runs.clear();
    pull.run().exits(1);
    assert_eq!(pull.one_run("failure").1, Vec::<Value>::new());
    // A pull request that touches the baseline has its lines annotated.
    let baseline = pull.keel.read("mcp-baseline.json");
    pull.on_base("mcp-baseline.json", &format!("{baseline}\n"));
    pull.double.state().runs.clear();
    pull.run().exits(1);
    let (_, annotations) = pull.one_run("failure");
    let paths: Vec<&str> = annotations
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["mcp-baseline.json"; 4]);
}

/// The page of a pull request that cannot be checked, wherever it is read.
#[track_caller]
fn could_not_be_checked(pull: &Pull, problem: &str) {
    let run = pull.run().exits(2);
    let error = run
        .stdout
        .lines()
        .find(|it| it.starts_with("::error title=mcp-keel::"));
    assert!(
        error.is_some_and(|it| it.contains(problem)),
        "{}",
        run.stdout
    );
    let summary = pull.summary();
    assert!(
        summary.starts_with("### ⚠️ mcp-keel: the check could not be made"),
        "{summary}"
    );
    assert!(summary.contains(problem), "{summary}");
    let (run, _) = pull.one_run("failure");
    let title = run["output"]["title"].as_str().unwrap();
    assert!(
        title.starts_with("the check could not be made: "),
        "{title}"
    );
}

#[test]
fn a_check_that_cannot_be_made_is_seen_with_what_to_do() {
    let mut pull = Pull::new(&usual());
    let env = pull.env.clone();
    pull.set("INPUT_FAIL-ON", "sometimes");
    could_not_be_checked(&pull, "fail-on");
    pull.env = env.clone();
    pull.set("INPUT_WORKING-DIRECTORY", "servers");
    // Another working directory is another check.
    pull.double.state().runs.clear();
    could_not_be_checked(&pull, "working-directory servers");
    pull.env = env.clone();
    pull.double.state().runs.clear();
    pull.keel
        .write("mcp-keel.toml", "[server.weather]\ncomand = [\"x\"]\n");
    pull.on_base("mcp-keel.toml", "");
    could_not_be_checked(&pull, "comand");
    // Mended, the same run is green.
    pull.keel.write("mcp-keel.toml", "");
    pull.run().exits(0);
    pull.one_run("success");
}

#[test]
fn a_first_run_without_a_baseline_offers_the_whole_file() {
    let mut pull = Pull::new(&usual());
    let pinned = pull.keel.read("mcp-baseline.json");
    std::fs::remove_file(pull.keel.folder().join("mcp-baseline.json")).unwrap();
    pull.on_base.clear();
    pull.check_out();
    pull.set("INPUT_BASELINE-ARTIFACT", "true");
    let run = pull.run().exits(2);
    assert!(
        run.stdout.contains("::error title=mcp-keel::"),
        "{}",
        run.stdout
    );
    let (run, _) = pull.one_run("failure");
    assert_eq!(
        run["output"]["title"],
        "weather is not in the baseline (3 tools)"
    );
    let summary = pull.summary();
    assert!(
        summary.contains("| `forecast` | The forecast. | none |"),
        "{summary}"
    );
    assert!(summary.contains("mcp-keel pin weather -- "), "{summary}");
    let artifact =
        "[this run's artifact](https://github.com/octo/weather/actions/runs/42#artifacts)";
    assert!(summary.contains(artifact), "{summary}");
    let proposed = &pull.outputs()["proposed-baseline"];
    assert_eq!(proposed, "mcp-keel-proposed/mcp-baseline.json");
    assert_eq!(pull.keel.read(proposed), pinned);
}

#[test]
fn the_first_baseline_is_read_as_what_it_is() {
    let mut pull = Pull::new(&[
        usual(),
        vec![json!({"name": "set_home", "description": "Remembers the user's home | town.",
            "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "destructiveHint": false}})],
    ]
    .concat());
    pull.on_base.clear();
    let baseline = pull.keel.read("mcp-baseline.json");
    pull.on_head("mcp-baseline.json", &baseline);
    pull.run().exits(0);
    let comment = &pull.comments()[0];
    let first = comment.lines().nth(1).unwrap();
    assert_eq!(
        first,
        "### ✅ mcp-keel: this pull request pins `weather` for the first time (4 tools)"
    );
    let line = |key: &str| {
        let baseline = pull.keel.read("mcp-baseline.json");
        let lines: Vec<&str> = baseline.lines().collect();
        lines.iter().rposition(|it| it.contains(key)).unwrap() + 1
    };
    let row = format!(
        "| [`set_home`](https://github.com/octo/weather/blob/{}/mcp-baseline.json#L{}) | ",
        pull.head,
        line("\"tool:set_home@\"")
    );
    assert!(comment.contains(&row), "{comment}");
    assert!(
        comment.contains("read-only, not destructive |")
            || comment.contains("not destructive, read-only |"),
        "{comment}"
    );
    assert!(
        comment.contains("the running server matches this baseline"),
        "{comment}"
    );
    assert!(!comment.contains("sha256"), "{comment}");
}

#[test]
fn the_proposed_baseline_is_the_one_that_pinning_writes() {
    let pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.run().exits(1);
    let proposed = pull.keel.read(&pull.outputs()["proposed-baseline"]);
    pull.pin();
    assert_eq!(proposed, pull.keel.read("mcp-baseline.json"));
    // Nothing is proposed where nothing changed.
    pull.serve(&drifted());
    pull.run();
    assert_eq!(pull.outputs()["proposed-baseline"], "");
}

#[test]
fn a_missing_permission_is_named() {
    for (path, permission) in [
        ("/check-runs", "permissions: checks: write"),
        ("/comments", "permissions: pull-requests: write"),
    ] {
        let pull = Pull::new(&usual());
        pull.serve(&drifted());
        pull.fault(Fault {
            method: "POST",
            path,
            message: "Resource not accessible by integration",
            ..Fault::status(403)
        });
        let run = pull.run().exits(1);
        for text in [&run.stdout, &run.stderr] {
            assert!(text.contains(permission), "{text}");
        }
        assert!(run.stdout.contains("::warning title=mcp-keel::could not "));
    }
}

/// A pull request of a fork, whose run could only read, and the run after it in the base repository.
#[test]
fn the_run_after_a_forks_posts_its_result_on_the_forks_commit() {
    let mut pull = Pull::new(&usual());
    let command = serde_json::to_string(&pull.command()).unwrap();
    let config = format!("[server.weather]\ncommand = {command}\n");
    pull.keel.write("mcp-keel.toml", &config);
    pull.on_base("mcp-keel.toml", &config);
    pull.set("INPUT_COMMAND", "");
    pull.set("INPUT_SERVERS", "");
    pull.drift();
    pull.set("INPUT_SHARD", "1/1");
    pull.set("INPUT_REPORT", "json=parts/part.json");
    pull.run().exits(1);
    assert!(pull.double.state().runs.is_empty());
    pull.env.remove("INPUT_SHARD");
    pull.env.remove("INPUT_REPORT");
    pull.set("INPUT_MERGE", "parts");
    // The head is checked out, and nothing of it is run.
    let (head, base) = (pull.head.clone(), pull.base.clone());
    crate::machine::git(
        pull.keel.folder(),
        &["update-ref", "--no-deref", "HEAD", &head],
    );
    pull.keel
        .write("scenario.json", r#"{"start": [{"exit": 7}]}"#);
    let event = json!({"action": "completed", "workflow_run": {
        "event": "pull_request", "head_sha": head,
        "head_repository": {"full_name": "someone/weather"}, "pull_requests": [],
    }});
    pull.keel.write("runner/event.json", &event.to_string());
    pull.set("GITHUB_EVENT_NAME", "workflow_run");
    pull.set("GITHUB_SHA", &base);
    {
        let mut state = pull.double.state();
        state.merge_base = Some(base.clone());
        let of = |number: u64, sha: &str, repository: &str| {
            json!({
                "number": number, "state": "open",
                "head": {"sha": sha, "repo": {"full_name": repository}},
                "base": {"sha": base, "ref": "main", "repo": {"full_name": "octo/weather"}},
            })
        };
        // Only one has this head, in this repository.
        state.pulls = vec![
            of(5, &base, "someone/weather"),
            of(6, &head, "other/weather"),
            of(7, &head, "someone/weather"),
        ];
    }
    pull.run().exits(1);
    let (run, _) = pull.one_run("failure");
    assert_eq!(run["head_sha"], head.as_str());
    assert_eq!(pull.comments().len(), 1);
    assert_eq!(pull.count("POST", "/issues/7/comments"), 1);

    // A report that claims less than it says is judged again; one about another commit's plan is refused.
    let honest = pull.keel.read("parts/part.json");
    let mut forged: Value = serde_json::from_str(&honest).unwrap();
    for change in forged["servers"][0]["changes"].as_array_mut().unwrap() {
        change["action"] = json!("accepted");
    }
    forged["verdict"] = json!("pass");
    pull.keel.write("parts/part.json", &forged.to_string());
    assert_ne!(pull.run().code, 0);
    let title = pull.runs()[0].2.clone();
    assert!(!title.contains("matches"), "{title}");
    // Without a report nothing is known, and that is not green.
    std::fs::remove_file(pull.keel.folder().join("parts/part.json")).unwrap();
    assert_ne!(pull.run().code, 0);
    pull.one_run("failure");
}

#[test]
fn a_name_that_is_long_or_hostile_does_not_break_the_first_line() {
    let mut pull = Pull::new(&[tool("a", "b")]);
    pull.serve(&[tool("a", "c")]);
    pull.set(
        "INPUT_MATRIX",
        &json!({"x": "</sub>\n### ✅ ![](http://evil.example)"}).to_string(),
    );
    pull.run().exits(1);
    let comment = &pull.comments()[0];
    let headings = comment.lines().filter(|it| it.starts_with('#')).count();
    assert_eq!(headings, 1, "{comment}");
}

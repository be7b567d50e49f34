//! `mcp-keel action` against a double of GitHub's API: exactly one check run and one comment, whatever fails.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::github_double::{Double, Fault};
use crate::keel::{Keel, Run};
use crate::machine::repository;
use crate::scripted::scripted;

const HEAD: &str = "1111111111111111111111111111111111111111";
const BASE: &str = "2222222222222222222222222222222222222222";
const TOKEN: &str = "ghs_thisIsTheToken";

/// A pull request: a repository with a baseline, a server, GitHub, and the runner's environment.
pub(crate) struct Pull {
    keel: Keel,
    double: Double,
    env: BTreeMap<String, String>,
}

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object", "properties": {}}})
}

fn usual() -> Vec<Value> {
    vec![
        tool("forecast", "The forecast."),
        tool("alerts", "The alerts."),
        tool("stations", "The stations."),
    ]
}

fn drifted() -> Vec<Value> {
    vec![
        tool("forecast", "The forecast, now with rain."),
        json!({"name": "alerts", "description": "The alerts.", "inputSchema": {
            "type": "object", "properties": {"region": {"type": "string"}}, "required": ["region"]}}),
        tool("homes", "New here."),
    ]
}

impl Pull {
    /// With these tools in the baseline, on both branches, and in the server.
    fn new(tools: &[Value]) -> Self {
        let keel = Keel::new();
        let pull = Self {
            double: Double::start(),
            env: BTreeMap::new(),
            keel,
        };
        pull.serve(tools);
        let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
        words.extend(pull.command());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        pull.keel.run(&words).exits(0);
        let baseline = pull.keel.read("mcp-baseline.json");
        let path = "mcp-baseline.json".to_owned();
        pull.double.state().files.insert(path, baseline);
        pull.with_runner()
    }

    /// In a folder with a configuration and a baseline, which the base branch has too.
    pub(crate) fn around(keel: Keel) -> Self {
        let pull = Self {
            double: Double::start(),
            env: BTreeMap::new(),
            keel,
        };
        let baseline = pull.keel.read("mcp-baseline.json");
        let path = "mcp-baseline.json".to_owned();
        pull.double.state().files.insert(path, baseline);
        let mut pull = pull.with_runner();
        pull.set("INPUT_COMMAND", "");
        pull.set("INPUT_SERVERS", "");
        pull
    }

    fn with_runner(mut self) -> Self {
        let event = json!({"pull_request": {
            "number": 7, "labels": [],
            "head": {"sha": HEAD, "repo": {"full_name": "octo/weather"}},
            "base": {"sha": BASE, "ref": "main", "repo": {"full_name": "octo/weather"}},
        }});
        self.keel.write("runner/event.json", &event.to_string());
        let at = |name: &str| {
            let path = self.keel.folder().join("runner").join(name);
            path.to_string_lossy().into_owned()
        };
        let command: Vec<String> = self
            .command()
            .iter()
            .map(|word| shlex::try_quote(word).unwrap().into_owned())
            .collect();
        self.env = [
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_API_URL", self.double.url()),
            ("GITHUB_EVENT_NAME", "pull_request".to_owned()),
            ("GITHUB_EVENT_PATH", at("event.json")),
            ("GITHUB_OUTPUT", at("output")),
            ("GITHUB_REPOSITORY", "octo/weather".to_owned()),
            ("GITHUB_RUN_ID", "42".to_owned()),
            ("GITHUB_SHA", "3".repeat(40)),
            ("GITHUB_STEP_SUMMARY", at("summary.md")),
            (
                "GITHUB_WORKSPACE",
                self.keel.folder().to_string_lossy().into_owned(),
            ),
            ("INPUT_COMMAND", command.join(" ")),
            ("INPUT_SERVERS", "weather".to_owned()),
            ("INPUT_TOKEN", TOKEN.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        self
    }

    /// What the server says from now on.
    fn serve(&self, tools: &[Value]) {
        let scenario = json!({"tools": tools}).to_string();
        self.keel.write("scenario.json", &scenario);
    }

    fn command(&self) -> Vec<String> {
        let scenario = self.keel.folder().join("scenario.json");
        scripted(&scenario.to_string_lossy())
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    fn fault(&self, fault: Fault) {
        self.double.state().faults.push(fault);
    }

    pub(crate) fn run(&self) -> Run {
        for name in ["runner/output", "runner/summary.md"] {
            let _ = std::fs::remove_file(self.keel.folder().join(name));
        }
        let output = self.program().output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    fn program(&self) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-keel"));
        program
            .arg("action")
            .current_dir(self.keel.folder())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.keel.folder())
            // A repository around the temporary folder is nobody's business.
            .env(
                "GIT_CEILING_DIRECTORIES",
                self.keel.folder().parent().unwrap(),
            )
            .envs(&self.env)
            .stdin(Stdio::null());
        program
    }

    fn outputs(&self) -> BTreeMap<String, String> {
        let text = self.keel.read("runner/output");
        let mut lines = text.lines();
        let mut outputs = BTreeMap::new();
        while let Some((name, end)) = lines.next().and_then(|line| line.split_once("<<")) {
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            outputs.insert(name.to_owned(), value.join("\n"));
        }
        outputs
    }

    fn summary(&self) -> String {
        self.keel.read("runner/summary.md")
    }

    fn changes(&self) -> usize {
        let report: Value = serde_json::from_str(&self.keel.read("mcp-keel-report.json")).unwrap();
        report["servers"][0]["changes"].as_array().unwrap().len()
    }

    /// There is one run, completed like this, and the API had nothing to object to.
    #[track_caller]
    pub(crate) fn one_run(&self, conclusion: &str) -> (Value, Vec<Value>) {
        let state = self.double.state();
        assert_eq!(state.violations, Vec::<String>::new());
        let ours: Vec<&Value> = state
            .runs
            .iter()
            .filter(|it| it["name"] == "mcp-keel")
            .collect();
        let ours: Vec<&&Value> = ours
            .iter()
            .filter(|it| {
                it["external_id"]
                    .as_str()
                    .is_some_and(|it| it.starts_with("mcp-keel:"))
            })
            .collect();
        assert_eq!(ours.len(), 1, "{:#?}", state.requests);
        let run = (*ours[0]).clone();
        assert_eq!(
            (&run["status"], &run["conclusion"]),
            (&json!("completed"), &json!(conclusion))
        );
        assert_eq!(run["head_sha"], HEAD);
        let id = run["id"].as_u64().unwrap();
        (run, state.annotations[&id].clone())
    }

    /// The comments that are ours.
    pub(crate) fn comments(&self) -> Vec<String> {
        let state = self.double.state();
        let bodies = state
            .comments
            .iter()
            .map(|it| it["body"].as_str().unwrap().to_owned());
        bodies
            .filter(|it| it.starts_with("<!-- mcp-keel:"))
            .collect()
    }

    /// Everything that a run on an untouched pull request does, for comparison with another run.
    fn observed(&self) -> String {
        {
            let mut state = self.double.state();
            state.runs.clear();
            state.comments.clear();
            state.annotations.clear();
            state.requests.clear();
        }
        let _ = std::fs::remove_file(self.keel.folder().join("mcp-keel-report.json"));
        let run = self.run();
        let read =
            |name: &str| std::fs::read_to_string(self.keel.folder().join(name)).unwrap_or_default();
        let state = self.double.state();
        let without_id = |of: &[Value]| -> Vec<Value> {
            let mut all = of.to_vec();
            for it in &mut all {
                it["id"] = Value::Null;
            }
            all
        };
        let mut text = format!(
            "{}\n{}\n{}\n{}\n{}\n{}\n{:?}\n{:?}\n{:?}",
            run.code,
            run.stdout,
            run.stderr,
            read("runner/output"),
            read("runner/summary.md"),
            read("mcp-keel-report.json"),
            without_id(&state.runs),
            without_id(&state.comments),
            state.annotations.values(),
        );
        // What a runner must not be able to guess.
        for guard in ["::stop-commands::", "<<"] {
            while let Some((_, rest)) = text.split_once(guard) {
                let token = rest.lines().next().unwrap_or_default().to_owned();
                text = text
                    .replace(&format!("{guard}{token}"), "")
                    .replace(&token, "");
            }
        }
        text
    }

    fn count(&self, method: &str, path: &str) -> usize {
        let state = self.double.state();
        let requests = state.requests.iter();
        requests
            .filter(|it| it.0 == method && it.1.contains(path))
            .count()
    }
}

#[test]
fn a_drifted_pull_request_has_one_of_each_however_often_it_is_run() {
    let pull = Pull::new(&usual());
    pull.serve(&drifted());
    // Ours is on the second page, behind others of the same name and what other people say.
    {
        let mut state = pull.double.state();
        for id in 0..120 {
            let run = json!({"id": id, "name": "mcp-keel", "head_sha": HEAD, "external_id": "another", "output": {}});
            state.runs.push(run);
            state.comments.push(json!({"id": id, "body": "Looks good", "user": {"type": "User"}, "author_association": "NONE"}));
        }
    }
    for _ in 0..3 {
        pull.run().exits(1);
        let (run, annotations) = pull.one_run("failure");
        assert_eq!(annotations.len(), pull.changes());
        assert!(annotations.len() >= 4, "{annotations:#?}");
        for annotation in &annotations {
            let text = pull.keel.read(annotation["path"].as_str().unwrap());
            let line = annotation["start_line"].as_u64().unwrap() as usize;
            assert!((1..=text.lines().count()).contains(&line), "{annotation}");
        }
        assert_eq!(annotations[0]["annotation_level"], "failure");
        assert!(
            run["output"]["title"]
                .as_str()
                .unwrap()
                .starts_with("drift: 2 breaking"),
            "{run}"
        );
        assert_eq!(
            run["details_url"],
            "https://github.com/octo/weather/actions/runs/42"
        );
        let [comment] = &pull.comments()[..] else {
            panic!("{:#?}", pull.comments());
        };
        assert!(comment.contains("tool-removed"), "{comment}");
        assert!(pull.summary().contains("tool-removed"));
        let outputs = pull.outputs();
        for (name, value) in [
            ("verdict", "block"),
            ("drift", "true"),
            ("breaking", "2"),
            ("report", "mcp-keel-report.json"),
            ("required-bump", "major"),
        ] {
            assert_eq!(
                outputs.get(name).map(String::as_str),
                Some(value),
                "{outputs:?}"
            );
        }
        assert_eq!(outputs.len(), 8);
    }
    // The second and the third time nothing was new, so that nothing was written but the verdict.
    assert_eq!(pull.count("POST", ""), 2);
    assert_eq!(pull.count("PATCH", "/check-runs/"), 3);
    assert_eq!(pull.count("PATCH", "/comments/"), 0);
}

#[test]
fn many_annotations_arrive_in_batches_of_fifty() {
    let many = |said: &str| -> Vec<Value> {
        (0..137)
            .map(|index| tool(&format!("tool_{index:03}"), said))
            .collect()
    };
    let pull = Pull::new(&many("One thing."));
    pull.serve(&many("Another thing."));
    pull.run().exits(1);
    assert_eq!(pull.changes(), 137);
    assert_eq!(pull.one_run("failure").1.len(), 137);
    assert_eq!(pull.count("PATCH", "/check-runs/"), 3);
    // Again, with the answer to the second batch lost: nothing is sent twice.
    pull.run().exits(1);
    assert_eq!(pull.one_run("failure").1.len(), 137);
    assert_eq!(pull.count("PATCH", "/check-runs/"), 4);
}

#[test]
fn a_lost_answer_to_a_batch_does_not_repeat_it() {
    let many = |said: &str| -> Vec<Value> {
        (0..137)
            .map(|index| tool(&format!("tool_{index:03}"), said))
            .collect()
    };
    for carried_out in [true, false] {
        let pull = Pull::new(&many("One thing."));
        pull.serve(&many("Another thing."));
        pull.fault(Fault {
            method: "PATCH",
            path: "/check-runs/",
            times: 2,
            carried_out,
            ..Fault::status(502)
        });
        pull.run().exits(1);
        assert_eq!(pull.one_run("failure").1.len(), 137);
    }
}

#[test]
fn writes_answered_with_502_leave_exactly_one() {
    for carried_out in [true, false] {
        for path in ["/check-runs", "/comments", ""] {
            let pull = Pull::new(&usual());
            pull.serve(&drifted());
            pull.fault(Fault {
                method: "POST",
                path,
                times: 2,
                carried_out,
                ..Fault::status(502)
            });
            let run = pull.run().exits(1);
            assert_eq!(pull.one_run("failure").1.len(), pull.changes());
            assert_eq!(pull.comments().len(), 1);
            assert!(!run.stderr.contains("warning"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_rate_limit_is_waited_for() {
    let limits = [
        (
            403,
            "You have exceeded a secondary rate limit.",
            "retry-after: 1\r\n",
        ),
        (429, "Too many requests", "retry-after: 1\r\n"),
        (
            403,
            "API rate limit exceeded",
            "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1\r\n",
        ),
    ];
    for (status, message, headers) in limits {
        let pull = Pull::new(&usual());
        pull.serve(&drifted());
        pull.fault(Fault {
            times: 2,
            message,
            headers,
            ..Fault::status(status)
        });
        let run = pull.run().exits(1);
        assert_eq!(pull.one_run("failure").1.len(), pull.changes());
        assert_eq!(pull.comments().len(), 1);
        assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    }
}

#[test]
fn a_token_that_can_only_read_costs_reach_and_not_the_verdict() {
    for (tools, code, verdict) in [(drifted(), 1, "block"), (usual(), 0, "pass")] {
        let mut pull = Pull::new(&usual());
        pull.serve(&tools);
        let event = pull
            .keel
            .read("runner/event.json")
            .replace("octo/weather", "someone/weather");
        pull.keel.write("runner/event.json", &event);
        pull.set("GITHUB_ACTOR", "someone");
        for method in ["POST", "PATCH"] {
            pull.fault(Fault {
                method,
                message: "Resource not accessible by integration",
                ..Fault::status(403)
            });
        }
        let run = pull.run().exits(code);
        assert_eq!(pull.outputs()["verdict"], verdict);
        assert!(!pull.summary().is_empty());
        let warnings: Vec<&str> = run.stderr.lines().collect();
        assert!(warnings[0].contains("check run"), "{warnings:?}");
        assert!(warnings[0].contains("from forks"), "{warnings:?}");
        let drift = code == 1;
        assert_eq!(warnings.len(), if drift { 2 } else { 1 }, "{warnings:?}");
        let command = "::error file=mcp-baseline.json,line=";
        assert_eq!(run.stdout.contains(command), drift, "{}", run.stdout);
        let state = pull.double.state();
        assert!(state.runs.is_empty() && state.comments.is_empty() && state.violations.is_empty());
    }
}

#[test]
fn other_refusals_and_an_api_that_is_away_change_no_verdict() {
    for status in [401, 404, 422] {
        let pull = Pull::new(&usual());
        pull.serve(&drifted());
        pull.fault(Fault {
            method: "POST",
            ..Fault::status(status)
        });
        let run = pull.run().exits(1).says("check run");
        assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
    }
    // Nobody listens there. The base's baseline cannot be read either, and that drift blocks is certain.
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.set("GITHUB_API_URL", "http://127.0.0.1:9");
    let run = pull.run().exits(1).says("check run");
    assert!(run.stdout.contains("::error file="), "{}", run.stdout);
}

#[test]
fn slow_answers_are_waited_for() {
    let pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.fault(Fault {
        delay: Duration::from_millis(700),
        times: 3,
        ..Fault::status(0)
    });
    pull.run().exits(1);
    pull.one_run("failure");
}

#[test]
fn github_enterprise_server_has_its_api_below_a_path() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.double.state().prefix = "/api/v3".to_owned();
    pull.set("GITHUB_API_URL", &pull.double.url());
    pull.run().exits(1);
    assert_eq!(pull.one_run("failure").1.len(), pull.changes());
    assert_eq!(pull.comments().len(), 1);
}

#[test]
fn without_a_token_there_are_commands_and_a_summary() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.set("INPUT_TOKEN", "");
    pull.set("INPUT_COMPARE-BASE", "false");
    let run = pull.run().exits(1);
    assert!(run.stdout.contains("::error file=mcp-baseline.json,line="));
    assert!(pull.summary().contains("tool-removed"));
    assert_eq!(pull.outputs()["verdict"], "block");
    assert!(pull.double.state().requests.is_empty());
    // Whether the base branch's baseline is another one nobody can tell: that is no "pass".
    pull.serve(&usual());
    pull.set("INPUT_COMPARE-BASE", "true");
    pull.run().exits(3).says("fetch-depth: 0");
}

#[test]
fn with_debug_logging_the_settings_are_in_the_log_with_the_inputs_that_gave_them() {
    let mut pull = Pull::new(&usual());
    pull.set("INPUT_TIMEOUT", "77");
    pull.set("INPUT_FAIL-ON", "breaking");
    assert!(!pull.run().exits(0).stdout.contains("input timeout"));
    pull.set("RUNNER_DEBUG", "1");
    let config = "[server.weather]\ncommand = [\"x\"]\nsandbox = \"off\"\nsettle = 1\n";
    pull.keel.write("mcp-keel.toml", config);
    let run = pull.run().exits(0).says("::group::Settings");
    let rows: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .map(|it| it.split_whitespace().collect())
        .collect();
    for row in [
        &["timeout", "77", "input", "timeout"][..],
        &["fail-on", "breaking", "input", "fail-on"],
        &["comment", "true", "default", "of", "the", "action"],
        // The configuration may raise it, not lower it.
        &["sandbox", "fs", "default", "of", "the", "action"],
        &["settle", "1", "mcp-keel.toml:4"],
    ] {
        assert!(rows.iter().any(|it| it == row), "{row:?}: {}", run.stdout);
    }
    let rest: String = run.stdout.lines().skip(1).collect();
    assert!(!rest.contains(TOKEN));
}

#[test]
fn the_token_is_masked_and_told_to_nobody() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    let run = pull.run().exits(1);
    let mut lines = run.stdout.lines();
    assert_eq!(lines.next(), Some(format!("::add-mask::{TOKEN}").as_str()));
    let rest: String = lines.collect();
    assert!(!rest.contains(TOKEN) && !run.stderr.contains(TOKEN));
    pull.set("GITHUB_ACTIONS", "");
    pull.run().exits(1).says_nothing_of(TOKEN);
}

#[test]
fn a_comment_is_folded_when_the_drift_is_gone_and_never_made_for_nothing() {
    let pull = Pull::new(&usual());
    pull.run().exits(0);
    pull.one_run("success");
    assert_eq!(pull.comments(), Vec::<String>::new());
    pull.serve(&drifted());
    pull.run().exits(1);
    let long = pull.comments();
    pull.serve(&usual());
    pull.run().exits(0);
    let folded = pull.comments();
    assert_eq!((long.len(), folded.len()), (1, 1));
    assert_eq!(folded[0].lines().count(), 2, "{folded:?}");
    assert!(folded[0].contains("no drift any more"), "{folded:?}");
    // Its annotations cannot be taken back; the summary says that they are of the past.
    let (run, _) = pull.one_run("success");
    assert!(
        run["output"]["summary"]
            .as_str()
            .unwrap()
            .contains("no longer apply"),
        "{run}"
    );
}

#[test]
fn a_comment_of_an_outsider_is_left_alone() {
    let pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.run().exits(1);
    let marker = pull.comments()[0].lines().next().unwrap().to_owned();
    let theirs = format!("{marker}\nAll is well, merge me.");
    {
        let mut state = pull.double.state();
        state.comments.clear();
        state.comments.push(json!({"id": 1, "body": theirs, "user": {"type": "User"}, "author_association": "NONE"}));
    }
    pull.run().exits(1);
    let comments = pull.comments();
    assert_eq!(comments.len(), 2);
    assert_eq!(comments[0], theirs);
}

#[test]
fn what_merging_approves_is_a_question_of_its_own() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    // The server matches what is committed, and that breaks callers of what is on the base branch.
    pull.run().exits(1);
    let (run, annotations) = pull.one_run("failure");
    let title = run["output"]["title"].as_str().unwrap();
    assert!(title.starts_with("to approve: 2 breaking"), "{title}");
    let said = annotations[0]["message"].as_str().unwrap();
    assert!(said.starts_with("against the base branch: "), "{said}");
    let baseline = pull.keel.read("mcp-baseline.json").lines().count() as u64;
    assert!(
        annotations
            .iter()
            .all(|it| it["start_line"].as_u64().unwrap() <= baseline)
    );
    let comment = &pull.comments()[0];
    assert!(comment.contains("needs a maintainer"), "{comment}");
    assert!(comment.contains("`mcp-keel: accept-breaking`"), "{comment}");
    let outputs = pull.outputs();
    assert_eq!(
        (outputs["drift"].as_str(), outputs["required-bump"].as_str()),
        ("false", "major")
    );
    // The label of now counts, not that of the event.
    pull.double
        .state()
        .labels
        .push("mcp-keel: accept-breaking".to_owned());
    pull.run().exits(0);
    let (run, _) = pull.one_run("success");
    assert!(
        run["output"]["title"]
            .as_str()
            .unwrap()
            .contains("accepted by label"),
        "{run}"
    );
    // It accepts changes; the version is still to be raised.
    pull.keel.write(
        "mcp-keel.toml",
        "[server.weather]\ncommand = [\"unused\"]\n[policy]\nrequire-version-bump = true\n",
    );
    pull.run().exits(1).says("version-not-bumped");
    pull.set("INPUT_COMPARE-BASE", "false");
    pull.run().exits(0);
}

/// The rule and the component of each change in the report.
fn rules(pull: &Pull) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&pull.keel.read("mcp-keel-report.json")).unwrap();
    let changes = report["servers"][0]["changes"].as_array().unwrap().clone();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    changes
        .iter()
        .map(|it| (text(&it["rule"]), text(&it["component"])))
        .collect()
}

#[test]
fn a_fastmcp_manifest_is_a_baseline_of_the_action() {
    let mut pull = Pull::new(&usual());
    let listed = json!({"tools": usual()}).to_string();
    pull.keel.write("tools.json", &listed);
    let fingerprint = ["fingerprint", "tools.json", "--profile", "fastmcp"];
    let manifest = pull.keel.run(&fingerprint).exits(0).stdout;
    pull.keel.write("manifest.json", &manifest);
    let on_base = |pull: &Pull, text: &str| {
        let path = "manifest.json".to_owned();
        pull.double.state().files.insert(path, text.to_owned());
    };
    on_base(&pull, &manifest);
    pull.set("INPUT_BASELINE", "manifest.json");
    pull.run().exits(0);
    pull.one_run("success");

    // Its digests cover the key and the input schema: the new description of `forecast` is none of its business.
    pull.serve(&drifted());
    pull.run().exits(1);
    let pair = |rule: &str, component: &str| (rule.to_owned(), component.to_owned());
    let moved = [
        pair("pin-digest-changed", "tool:alerts@"),
        pair("tool-added", "tool:homes@"),
        pair("tool-removed", "tool:stations@"),
    ];
    assert_eq!(rules(&pull), moved);
    let (_, annotations) = pull.one_run("failure");
    let places: Vec<(&str, u64)> = annotations
        .iter()
        .map(|it| {
            (
                it["path"].as_str().unwrap(),
                it["start_line"].as_u64().unwrap(),
            )
        })
        .collect();
    let line = |key: &str| {
        let found = manifest.lines().position(|line| line.contains(key));
        found.unwrap() as u64 + 1
    };
    assert!(
        places.contains(&("manifest.json", line("tool:alerts@"))),
        "{places:?}"
    );
    assert!(
        places.contains(&("manifest.json", line("tool:stations@"))),
        "{places:?}"
    );

    // Accepted in the file, it is what merging approves.
    let mut words = ["pin", "--baseline", "manifest.json", "weather", "--"]
        .map(str::to_owned)
        .to_vec();
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    pull.run().exits(1);
    assert_eq!(rules(&pull), []);
    let (run, _) = pull.one_run("failure");
    let title = run["output"]["title"].as_str().unwrap();
    assert_eq!(title, "to approve: 1 breaking, 1 risky, 1 additive");

    // A file of another kind is not compared with it, and no reason to let it pass unseen.
    on_base(&pull, &pull.keel.read("mcp-baseline.json"));
    pull.run();
    let comment = &pull.comments()[0];
    assert!(comment.contains("cannot be compared"), "{comment}");
    assert!(comment.contains("server-not-pinned"), "{comment}");

    // One that is not in the repository yet is new.
    pull.double.state().files.remove("manifest.json");
    pull.run();
    let comment = &pull.comments()[0];
    assert!(!comment.contains("cannot be compared"), "{comment}");
    assert!(comment.contains("server-not-pinned"), "{comment}");
}

#[test]
fn a_toolpin_lock_is_compared_with_the_one_on_the_base_branch() {
    let mut pull = Pull::new(&usual());
    let mut words = ["pin", "--baseline", "mcp-lock.json", "weather", "--"]
        .map(str::to_owned)
        .to_vec();
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    let path = "mcp-lock.json".to_owned();
    let lock = pull.keel.read("mcp-lock.json");
    pull.double.state().files.insert(path, lock);
    pull.set("INPUT_BASELINE", "mcp-lock.json");
    pull.run().exits(0);
    pull.one_run("success");
    pull.serve(&drifted());
    pull.keel.run(&words).exits(0);
    pull.set("INPUT_BASE-FAIL-ON", "risky");
    pull.run().exits(1);
    let (run, _) = pull.one_run("failure");
    assert_eq!(run["output"]["title"], "to approve: 1 risky");
    let comment = &pull.comments()[0];
    assert!(comment.contains("lock-surface-changed"), "{comment}");
    // A lock that was edited is no baseline, on either branch.
    let edited = pull
        .keel
        .read("mcp-lock.json")
        .replace("weather", "whether");
    pull.keel.write("mcp-lock.json", &edited);
    pull.run().exits(2);
}

#[test]
fn the_base_is_read_from_git_where_the_clone_has_it() {
    let mut pull = Pull::new(&usual());
    let base = repository(pull.keel.folder());
    let event = pull.keel.read("runner/event.json").replace(BASE, &base);
    pull.keel.write("runner/event.json", &event);
    pull.serve(&drifted());
    let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    pull.set("INPUT_TOKEN", "");
    pull.run()
        .exits(1)
        .says("against the base branch: the tool is gone");
    assert!(pull.double.state().requests.is_empty());
    // A label of the event is all there is without a token.
    let event = pull.keel.read("runner/event.json");
    let event = event.replace("\"labels\":[]", "\"labels\":[{\"name\":\"fine\"}]");
    pull.keel.write("runner/event.json", &event);
    pull.set("INPUT_ACCEPT-LABEL", "fine");
    pull.run().exits(0);
}

#[test]
fn places_count_from_the_root_of_the_repository() {
    let mut pull = Pull::new(&usual());
    let baseline = pull.keel.read("mcp-baseline.json");
    pull.keel
        .write("servers/weather/mcp-baseline.json", &baseline);
    let files = BTreeMap::from([("servers/weather/mcp-baseline.json".to_owned(), baseline)]);
    pull.double.state().files = files;
    pull.serve(&drifted());
    pull.set("INPUT_WORKING-DIRECTORY", "servers/weather");
    pull.run().exits(1);
    let (_, annotations) = pull.one_run("failure");
    assert_eq!(annotations[0]["path"], "servers/weather/mcp-baseline.json");
    let report = &pull.outputs()["report"];
    assert_eq!(report, "servers/weather/mcp-keel-report.json");
    assert!(pull.keel.folder().join(report).exists());
}

#[test]
fn a_server_that_cannot_be_captured_is_action_required() {
    let pull = Pull::new(&usual());
    pull.keel
        .write("scenario.json", r#"{"start": [{"exit": 7}]}"#);
    pull.run().exits(3);
    let (run, _) = pull.one_run("action_required");
    assert!(
        run["output"]["title"]
            .as_str()
            .unwrap()
            .contains("could not be captured"),
        "{run}"
    );
}

#[cfg(unix)]
#[test]
fn a_job_that_is_cancelled_leaves_no_run_in_progress() {
    use std::os::unix::process::ExitStatusExt as _;
    for signal in [
        nix::sys::signal::Signal::SIGINT,
        nix::sys::signal::Signal::SIGTERM,
    ] {
        let mut pull = Pull::new(&usual());
        // It writes where the runner's files are.
        pull.set("INPUT_SANDBOX", "off");
        let log = pull.keel.folder().join("runner/received");
        let silent = json!({"log": log, "on": {"initialize": []}});
        pull.keel.write("scenario.json", &silent.to_string());
        let mut running = pull.program().spawn().unwrap();
        // The server has been asked, so the check run is there.
        while !log.exists() {
            assert_eq!(running.try_wait().unwrap(), None);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(pull.double.state().runs[0]["status"], "in_progress");
        let pid = nix::unistd::Pid::from_raw(i32::try_from(running.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
        let status = running.wait().unwrap();
        assert_eq!(
            status.code(),
            Some(128 + signal as i32),
            "{:?}",
            status.signal()
        );
        pull.one_run("cancelled");
    }
}

#[test]
fn a_report_that_cannot_be_written_leaves_no_run_in_progress() {
    let pull = Pull::new(&usual());
    std::fs::create_dir(pull.keel.folder().join("mcp-keel-report.json")).unwrap();
    pull.run().exits(2).says("mcp-keel-report.json");
    pull.one_run("action_required");
}

#[test]
fn pushes_and_wrong_inputs() {
    let mut pull = Pull::new(&usual());
    pull.set("GITHUB_EVENT_NAME", "push");
    pull.set("GITHUB_SHA", HEAD);
    pull.serve(&drifted());
    pull.run().exits(1);
    pull.one_run("failure");
    assert_eq!(pull.count("", ""), 0);
    assert_eq!(pull.count("GET", "/comments"), 0);
    assert_eq!(pull.count("GET", "/contents"), 0);
    pull.set("INPUT_FAIL-ON", "sometimes");
    pull.run().exits(2).says("in the inputs of the action");
    pull.set("INPUT_FAIL-ON", "none");
    pull.run().exits(0);
    pull.one_run("success");
    pull.env.remove("GITHUB_REPOSITORY");
    pull.run().exits(2).says("GITHUB_REPOSITORY");
}

/// A pull request changes the server and its configuration. Neither may speak to the runner.
#[test]
#[cfg(target_os = "linux")]
fn the_action_has_a_sandbox_that_a_configuration_cannot_take_away() {
    let mut pull = Pull::new(&usual());
    let output = pull.keel.folder().join("runner/output");
    let scenario = json!({"tools": usual(), "start": [{"write": output, "content": "evil=true"}]});
    pull.keel.write("scenario.json", &scenario.to_string());
    let command = serde_json::to_string(&pull.command()).unwrap();
    let config = format!("[server.weather]\ncommand = {command}\nsandbox = \"off\"\n");
    pull.keel.write("mcp-keel.toml", &config);
    pull.set("INPUT_COMMAND", "");
    let wrote = |pull: &Pull| {
        let _ = std::fs::remove_file(&output);
        pull.run().exits(0);
        std::fs::read_to_string(&output).unwrap().contains("evil")
    };
    if crate::machine::has_sandbox() {
        assert!(!wrote(&pull));
    }
    pull.set("INPUT_SANDBOX", "off");
    assert!(wrote(&pull));
    pull.set("INPUT_SANDBOX", "loose");
    pull.run().exits(2).says("in the inputs of the action");
    pull.set("INPUT_SANDBOX", "");
    pull.set("INPUT_SANDBOX-REQUIRED", "maybe");
    pull.run().exits(2).says("true or false");
}

#[test]
fn a_warning_is_neutral() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.set("INPUT_ENFORCEMENT", "warn");
    pull.run().exits(0);
    let (_, annotations) = pull.one_run("neutral");
    assert_eq!(annotations[0]["annotation_level"], "warning");
    assert_eq!(pull.outputs()["verdict"], "warn");
}

#[test]
fn a_merge_queue_is_told_what_it_merges_and_not_held_up_by_it() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    let event = json!({"merge_group": {"head_sha": HEAD, "base_sha": BASE}});
    pull.keel.write("runner/event.json", &event.to_string());
    pull.set("GITHUB_EVENT_NAME", "merge_group");
    pull.run().exits(0);
    let (run, _) = pull.one_run("success");
    let title = run["output"]["title"].as_str().unwrap();
    assert!(title.starts_with("to approve: 2 breaking"), "{title}");
}

/// Each input of action.yml is given a value that no run could ignore: what the action does must then differ from what
/// it does without.
#[test]
fn every_input_of_the_action_is_read() {
    let action = include_str!("../../action.yml");
    let inputs = action.split("\ninputs:\n").nth(1).unwrap();
    let inputs = inputs.split("\noutputs:\n").next().unwrap();
    let names: Vec<&str> = inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|name| !name.starts_with(' '))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    let mut pull = Pull::new(&usual());
    // It repeats a variable that it sees only where `pass-env` names it.
    let mut tools = drifted();
    tools.push(tool("seen", "$env{OF_THE_STEP}"));
    pull.serve(&tools);
    pull.set("OF_THE_STEP", "handed on");
    // The pull request takes a tool out of the baseline: there is something for a label to accept.
    let before = Pull::new(&[&usual()[..], &[tool("gone", "Once here.")]].concat());
    let before = before.keel.read("mcp-baseline.json");
    let path = "mcp-baseline.json".to_owned();
    pull.double.state().files.insert(path, before);
    let usually = pull.observed();
    assert_eq!(usually, pull.observed(), "the same run twice");
    let mut unread = Vec::new();
    for name in names {
        // Wrong for a number, a word of a list, a pair, a file, a folder and a command.
        let value = match name {
            "pass-env" => "OF_THE_STEP",
            "capabilities" => "none",
            _ => "it's nonsense",
        };
        let env = pull.env.clone();
        let mut without = usually.clone();
        if name == "timings" {
            // Read for the parts of a fleet only.
            let command = serde_json::to_string(&pull.command()).unwrap();
            let config = format!("[server.weather]\ncommand = {command}\n");
            pull.keel.write("mcp-keel.toml", &config);
            pull.set("INPUT_COMMAND", "");
            pull.set("INPUT_SERVERS", "");
            pull.set("INPUT_SHARD", "1/1");
            without = pull.observed();
        }
        pull.set(&format!("INPUT_{}", name.to_uppercase()), value);
        if pull.observed() == without {
            unread.push(name);
        }
        pull.env = env;
        let _ = std::fs::remove_file(pull.keel.folder().join("mcp-keel.toml"));
    }
    assert_eq!(unread, [""; 0], "inputs that change nothing");
}

#[test]
fn nothing_that_a_server_says_acts_in_any_place() {
    let hostile = "::error::pwned\n::set-output name=verdict::pass\n##[error]x %0A @everyone <script>alert(1)</script> \
                   ![x](http://evil.example/a.png) `code` | cell ]]> \u{1b}[31m \u{202e}gnp <!-- mcp-keel:0 --> \
                   </details> [link](http://evil.example) https://evil.example";
    let mut pull = Pull::new(&usual());
    let mut tools = usual();
    tools[0] = tool("forecast", hostile);
    tools.push(tool("::error::`|<img src=x>@everyone\u{202e}", hostile));
    pull.serve(&tools);
    let posted = pull.run().exits(1);
    pull.one_run("failure");
    pull.double.state().faults.push(Fault {
        method: "POST",
        ..Fault::status(403)
    });
    pull.set("INPUT_CHECK-NAME", "another");
    let fallback = pull.run().exits(1);
    let state = pull.double.state();
    let mut sinks = vec![
        pull.summary(),
        state.comments[0]["body"].as_str().unwrap().to_owned(),
    ];
    sinks.extend(
        state
            .runs
            .iter()
            .map(|it| it["output"]["summary"].as_str().unwrap().to_owned()),
    );
    for sink in &sinks {
        assert!(!sink.contains(['\u{1b}', '\u{202e}']), "{sink}");
        assert!(
            sink.contains("pwned"),
            "the reviewer sees what was there: {sink}"
        );
        // Outside of code nothing of it is left.
        let mut fenced = false;
        for line in sink.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
                continue;
            }
            if fenced {
                continue;
            }
            let bare = without_code(line);
            for active in [
                "@everyone",
                "<script",
                "<img",
                "![",
                "evil.example",
                "::error::",
                "##[",
            ] {
                assert!(!bare.contains(active), "`{active}` in {line}");
            }
        }
    }
    for run in [&posted, &fallback] {
        assert!(!run.stdout.contains('\u{1b}') && !run.stdout.contains('\u{202e}'));
        let mut stopped: Option<String> = None;
        for line in run.stdout.lines() {
            match &stopped {
                Some(token) if line == format!("::{token}::") => stopped = None,
                Some(_) => {}
                None if line.starts_with("::stop-commands::") => {
                    stopped = line.strip_prefix("::stop-commands::").map(str::to_owned);
                }
                None => {
                    let ours = [
                        "::add-mask::",
                        "::error file=",
                        "::warning file=",
                        "::notice file=",
                        "::error title=",
                        "::notice title=",
                    ];
                    assert!(
                        line.is_empty() || ours.iter().any(|it| line.starts_with(it)),
                        "{line}"
                    );
                    assert!(!line.contains("##["), "{line}");
                }
            }
        }
    }
}

/// A line of Markdown without its inline code and without `<code>`.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(['`', '<']) {
        out += &rest[..start];
        rest = &rest[start..];
        if let Some(inside) = rest
            .strip_prefix("<code>")
            .or_else(|| rest.strip_prefix("<pre>"))
        {
            rest = inside.split_once("</").map_or("", |it| it.1);
            continue;
        }
        let fence: String = rest.chars().take_while(|it| *it == '`').collect();
        if fence.is_empty() {
            out.push('<');
            rest = &rest[1..];
            continue;
        }
        let after = &rest[fence.len()..];
        rest = after
            .find(&fence)
            .map_or("", |end| &after[end + fence.len()..]);
    }
    out + rest
}

#[test]
fn the_parts_of_a_run_post_nothing_and_whoever_joins_them_posts_one_of_each() {
    let whole = {
        let pull = fleet();
        pull.run().exits(1);
        let (run, annotations) = pull.one_run("failure");
        (
            run["output"].clone(),
            annotations,
            pull.keel.read("mcp-keel-report.json"),
            pull.comments(),
        )
    };
    let mut pull = fleet();
    for part in ["1/2", "2/2"] {
        pull.set("INPUT_SHARD", part);
        pull.set(
            "INPUT_REPORT",
            &format!("json=parts/{}/part.json", &part[..1]),
        );
        let code = if part == "1/2" { 1 } else { 0 };
        pull.run().exits(code);
    }
    assert_eq!(pull.double.state().requests, []);
    pull.env.remove("INPUT_SHARD");
    pull.env.remove("INPUT_REPORT");
    pull.set("INPUT_MERGE", "parts");
    pull.run().exits(1);
    let (run, annotations) = pull.one_run("failure");
    assert_eq!(run["output"], whole.0);
    assert_eq!(annotations, whole.1);
    assert_eq!(pull.keel.read("mcp-keel-report.json"), whole.2);
    assert_eq!(pull.comments(), whole.3);

    // A part that is missing is nobody's success.
    std::fs::remove_dir_all(pull.keel.folder().join("parts/1")).unwrap();
    pull.run().exits(3);
    pull.one_run("action_required");

    pull.set("INPUT_SHARD", "1/2");
    pull.run().exits(2).says("two jobs");
}

/// A pull request with three servers, of which the first drifts.
fn fleet() -> Pull {
    let mut pull = Pull::new(&usual());
    pull.keel.write(
        "mcp-keel.toml",
        &crate::fleet::configuration(&crate::fleet::servers(3, &[])),
    );
    pull.keel.run(&["pin"]).exits(0);
    let baseline = pull.keel.read("mcp-baseline.json");
    let path = "mcp-baseline.json".to_owned();
    pull.double.state().files.insert(path, baseline);
    pull.keel.write(
        "mcp-keel.toml",
        &crate::fleet::configuration(&crate::fleet::servers(3, &[0])),
    );
    pull.env.remove("INPUT_COMMAND");
    pull.env.remove("INPUT_SERVERS");
    pull
}

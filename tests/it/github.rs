//! `mcp-keel action` against a double of GitHub's API: exactly one check run and one comment,
//! whatever fails.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::github_double::{Double, Fault};
use crate::http::{Authority, authority, over_tls};
use crate::keel::{Keel, Run};
use crate::machine::git;
use crate::scripted::scripted;

const TOKEN: &str = "ghs_thisIsTheToken";

/// A pull request: a repository with a baseline, a server, GitHub, and the runner's environment.
pub(crate) struct Pull {
    pub(crate) keel: Keel,
    pub(crate) double: Double,
    pub(crate) env: BTreeMap<String, String>,
    /// The files of the base branch.
    pub(crate) on_base: BTreeMap<String, String>,
    /// The files that only the head has.
    pub(crate) on_head: BTreeMap<String, String>,
    pub(crate) base: String,
    pub(crate) head: String,
    pub(crate) merge: String,
    /// How often the job was run.
    attempts: std::cell::Cell<u32>,
}

/// Runs git with a variable.
pub(crate) fn git_with(folder: &std::path::Path, variable: &str, args: &[&str]) -> String {
    let (name, value) = variable.split_once('=').unwrap();
    crate::machine::git_with(folder, &[(name, value)], args)
}

pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object", "properties": {}}})
}

pub(crate) fn usual() -> Vec<Value> {
    vec![
        tool("forecast", "The forecast."),
        tool("alerts", "The alerts."),
        tool("stations", "The stations."),
    ]
}

pub(crate) fn drifted() -> Vec<Value> {
    vec![
        tool("forecast", "The forecast, now with rain."),
        json!({"name": "alerts", "description": "The alerts.", "inputSchema": {
            "type": "object", "properties": {"region": {"type": "string"}}, "required": ["region"]}}),
        tool("homes", "New here."),
    ]
}

impl Pull {
    /// With these tools in the baseline, on both branches, and in the server.
    pub(crate) fn new(tools: &[Value]) -> Self {
        Self::with(Keel::new(), tools)
    }

    /// [`Pull::new`] in this folder.
    pub(crate) fn with(keel: Keel, tools: &[Value]) -> Self {
        let mut pull = Self::of(keel);
        pull.serve(tools);
        let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
        words.extend(pull.command());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        pull.keel.run(&words).exits(0);
        let baseline = pull.keel.read("mcp-baseline.json");
        pull.on_base
            .insert("mcp-baseline.json".to_owned(), baseline);
        pull.with_runner()
    }

    fn of(keel: Keel) -> Self {
        Self {
            double: Double::start(),
            env: BTreeMap::new(),
            on_base: BTreeMap::new(),
            on_head: BTreeMap::new(),
            base: String::new(),
            head: String::new(),
            merge: String::new(),
            attempts: std::cell::Cell::new(0),
            keel,
        }
    }

    /// In a folder with a configuration and a baseline, which the base branch has too.
    pub(crate) fn around(keel: Keel) -> Self {
        let mut pull = Self::of(keel);
        for name in ["mcp-baseline.json", "mcp-keel.toml"] {
            if pull.keel.folder().join(name).exists() {
                pull.on_base.insert(name.to_owned(), pull.keel.read(name));
            }
        }
        let mut pull = pull.with_runner();
        pull.set("INPUT_COMMAND", "");
        pull.set("INPUT_SERVERS", "");
        pull
    }

    fn with_runner(mut self) -> Self {
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
        self.check_out();
        self
    }

    /// Puts a file on the base branch.
    pub(crate) fn on_base(&mut self, path: &str, text: &str) {
        self.on_base.insert(path.to_owned(), text.to_owned());
        self.check_out();
    }

    /// Everything in the folder but the runner's own, as the base branch has it.
    pub(crate) fn commit_all(&mut self) {
        for name in ["mcp-baseline.json", "mcp-keel.toml"] {
            if self.keel.folder().join(name).exists() {
                self.on_base.insert(name.to_owned(), self.keel.read(name));
            }
        }
        self.check_out();
    }

    /// Makes the commits: the base, a head upon it, and the merge of both, which is checked out. What the head changes is
    /// what lies in the folder.
    pub(crate) fn check_out(&mut self) {
        let folder = self.keel.folder();
        git(folder, &["init", "-q"]);
        let of_base = self.tree([&self.on_base]);
        let of_head = self.tree([&self.on_base, &self.on_head]);
        let commit = |tree: &str, parents: &[&str], message: &str| {
            let mut args = vec!["commit-tree", tree, "-m", message];
            args.extend(parents.iter().flat_map(|it| ["-p", it]));
            git_with(folder, "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z", &args)
        };
        self.base = commit(&of_base, &[], "base");
        self.head = commit(&of_head, &[&self.base], "head");
        self.merge = commit(&of_head, &[&self.base, &self.head], "merge");
        git(folder, &["update-ref", "--no-deref", "HEAD", &self.merge]);
        let merge = self.merge.clone();
        self.set("GITHUB_SHA", &merge);
        self.event("synchronize", json!({}));
        let mut state = self.double.state();
        state.repository = Some(self.keel.folder().join(".git"));
        state.merge_base = Some(self.base.clone());
    }

    /// The tree with these files, the later ones in place of the earlier.
    fn tree<const N: usize>(&self, files: [&BTreeMap<String, String>; N]) -> String {
        let folder = self.keel.folder();
        let index = folder.join(".git/index-of-a-tree");
        let _ = std::fs::remove_file(&index);
        let index = format!("GIT_INDEX_FILE={}", index.display());
        for (path, text) in files.into_iter().flatten() {
            std::fs::write(folder.join(".git/blob"), text).unwrap();
            let (mode, file) = match text.strip_prefix("link: ") {
                Some(target) => {
                    std::fs::write(folder.join(".git/blob"), target).unwrap();
                    ("120000", ".git/blob")
                }
                None => ("100644", ".git/blob"),
            };
            let id = git(folder, &["hash-object", "-w", "--no-filters", file]);
            let entry = format!("{mode},{id},{path}");
            let update = ["update-index", "--add", "--cacheinfo", &entry];
            git_with(folder, &index, &update);
        }
        if files.iter().all(|it| it.is_empty()) {
            git(folder, &["mktree"])
        } else {
            git_with(folder, &index, &["write-tree"])
        }
    }

    /// What the runner says has happened.
    pub(crate) fn event(&self, action: &str, more: Value) {
        let mut event = json!({"action": action, "pull_request": {
            "number": 7, "labels": [], "updated_at": "2026-01-02T00:00:00Z",
            "head": {"sha": self.head, "repo": {"full_name": "octo/weather"}},
            "base": {"sha": self.base, "ref": "main", "repo": {"full_name": "octo/weather"}},
        }});
        for (name, value) in more.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        self.keel.write("runner/event.json", &event.to_string());
    }

    /// Pins what the server says now, as the pull request does it.
    pub(crate) fn pin(&self) {
        let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
        words.extend(self.command());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.keel.run(&words).exits(0);
    }

    /// A maintainer sets the label at this time.
    pub(crate) fn label(&self, at: &str) {
        let label = "mcp-keel: accept-breaking";
        let mut state = self.double.state();
        state.labels = vec![label.to_owned()];
        state.timeline.push(json!({
            "event": "labeled", "created_at": at, "label": {"name": label},
            "actor": {"login": "mona", "type": "User"},
        }));
    }

    /// What the server says from now on.
    pub(crate) fn serve(&self, tools: &[Value]) {
        let scenario = json!({"tools": tools}).to_string();
        self.keel.write("scenario.json", &scenario);
    }

    pub(crate) fn command(&self) -> Vec<String> {
        let scenario = self.keel.folder().join("scenario.json");
        scripted(&scenario.to_string_lossy())
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn fault(&self, fault: Fault) {
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

    pub(crate) fn program(&self) -> Command {
        self.attempts.set(self.attempts.get() + 1);
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-keel"));
        program
            .arg("action")
            .current_dir(self.keel.folder())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            // On a runner, the workspace is not the home folder.
            .env("HOME", "/nonexistent")
            // A repository around the temporary folder must not be found.
            .env(
                "GIT_CEILING_DIRECTORIES",
                self.keel.folder().parent().unwrap(),
            )
            // Each is another attempt, unless the test says otherwise.
            .env("GITHUB_RUN_ATTEMPT", self.attempts.get().to_string())
            .envs(&self.env)
            .stdin(Stdio::null());
        program
    }

    pub(crate) fn outputs(&self) -> BTreeMap<String, String> {
        let text = self.keel.read("runner/output");
        let mut lines = text.lines();
        let mut outputs = BTreeMap::new();
        while let Some((name, end)) = lines.next().and_then(|line| line.split_once("<<")) {
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            outputs.insert(name.to_owned(), value.join("\n"));
        }
        outputs
    }

    pub(crate) fn summary(&self) -> String {
        self.keel.read("runner/summary.md")
    }

    fn changes(&self) -> usize {
        let report: Value = serde_json::from_str(&self.keel.read("mcp-keel-report.json")).unwrap();
        report["servers"][0]["changes"].as_array().unwrap().len()
    }

    /// The pull request adds a file that declares these tools, one per line.
    pub(crate) fn declare<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        let tool = |name: &str| format!("server.registerTool(\"{name}\", {{}}, handler);\n");
        let lines: String = names.into_iter().map(tool).collect();
        self.on_head("src/tools.ts", &lines);
    }

    /// The head adds a file.
    pub(crate) fn on_head(&mut self, path: &str, text: &str) {
        self.keel.write(path, text);
        self.on_head.insert(path.to_owned(), text.to_owned());
        self.check_out();
    }

    /// [`drifted`] with its declarations in the pull request: a declaration that changed has an annotation.
    pub(crate) fn drift(&mut self) {
        self.serve(&drifted());
        self.declare(["forecast", "alerts", "homes"]);
    }

    /// There is one run with this conclusion, and the API had no objections.
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
        assert_eq!(run["head_sha"], self.head.as_str());
        let id = run["id"].as_u64().unwrap();
        (run, state.annotations[&id].clone())
    }

    /// The action's own comments.
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
            self.attempts.set(0);
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

    pub(crate) fn count(&self, method: &str, path: &str) -> usize {
        let state = self.double.state();
        let requests = state.requests.iter();
        requests
            .filter(|it| it.0 == method && it.1.contains(path))
            .count()
    }
}

#[test]
fn a_drifted_pull_request_has_one_of_each_after_any_number_of_runs() {
    let mut pull = Pull::new(&usual());
    pull.drift();
    // Ours is on the second page, behind others of the same name and other people's comments.
    {
        let mut state = pull.double.state();
        for id in 0..120 {
            let run = json!({"id": id, "name": "mcp-keel", "head_sha": pull.head, "external_id": "another", "output": {}});
            state.runs.push(run);
            state.comments.push(json!({"id": id, "body": "Looks good", "user": {"type": "User"}, "author_association": "NONE"}));
        }
    }
    for _ in 0..3 {
        pull.run().exits(1);
        let (run, annotations) = pull.one_run("failure");
        assert_eq!(annotations.len(), 3, "{annotations:#?}");
        for annotation in &annotations {
            let text = pull.keel.read(annotation["path"].as_str().unwrap());
            let line = annotation["start_line"].as_u64().unwrap() as usize;
            assert!((1..=text.lines().count()).contains(&line), "{annotation}");
        }
        assert_eq!(annotations[0]["path"], "src/tools.ts");
        assert!(
            run["output"]["title"]
                .as_str()
                .unwrap()
                .starts_with("weather breaks callers (2 breaking, "),
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
        assert_eq!(outputs.len(), 10);
    }
    // The second and third run changed nothing, so only the verdict was written.
    assert_eq!(pull.count("POST", ""), 2);
    assert_eq!(pull.count("PATCH", "/check-runs/"), 5);
}

#[test]
fn at_most_fifty_annotations_are_sent() {
    let many = |description: &str| -> Vec<Value> {
        (0..137)
            .map(|index| tool(&format!("tool_{index:03}"), description))
            .collect()
    };
    let mut pull = Pull::new(&many("One thing."));
    pull.serve(&many("Another thing."));
    let names: Vec<String> = (0..137).map(|it| format!("tool_{it:03}")).collect();
    pull.declare(names.iter().map(String::as_str));
    pull.run().exits(1);
    assert_eq!(pull.changes(), 137);
    assert_eq!(pull.one_run("failure").1.len(), 50);
    // Again: nothing is sent twice.
    pull.run().exits(1);
    assert_eq!(pull.one_run("failure").1.len(), 50);
    // A comment lists twenty, and says where the rest is.
    let comment = &pull.comments()[0];
    assert_eq!(comment.matches("`change = ").count(), 20, "{comment}");
    let rest = "117 changes are not listed here: see [the whole report](https://github.com/octo/weather/actions/runs/42).";
    assert!(comment.contains(rest), "{comment}");
    assert_eq!(pull.summary().matches("`change = ").count(), 137);
}

#[test]
fn a_batch_whose_response_is_lost_is_not_repeated() {
    let many = |description: &str| -> Vec<Value> {
        (0..137)
            .map(|index| tool(&format!("tool_{index:03}"), description))
            .collect()
    };
    for carried_out in [true, false] {
        let mut pull = Pull::new(&many("One thing."));
        pull.serve(&many("Another thing."));
        let names: Vec<String> = (0..137).map(|it| format!("tool_{it:03}")).collect();
        pull.declare(names.iter().map(String::as_str));
        pull.fault(Fault {
            method: "PATCH",
            path: "/check-runs/",
            times: 2,
            carried_out,
            ..Fault::status(502)
        });
        pull.run().exits(1);
        assert_eq!(pull.one_run("failure").1.len(), 50);
    }
}

/// The second answer is one of success without what it should say.
#[test]
fn writes_that_were_perhaps_done_leave_exactly_one() {
    for (status, carried_out) in [(502, true), (201, true), (502, false)] {
        for path in ["/check-runs", "/comments", ""] {
            let mut pull = Pull::new(&usual());
            pull.drift();
            pull.fault(Fault {
                method: "POST",
                path,
                times: 2,
                carried_out,
                ..Fault::status(status)
            });
            let run = pull.run().exits(1);
            assert_eq!(pull.one_run("failure").1.len(), 3);
            assert_eq!(pull.comments().len(), 1);
            assert!(!run.stderr.contains("warning"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_rate_limit_is_waited_out() {
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
        let mut pull = Pull::new(&usual());
        pull.drift();
        pull.fault(Fault {
            times: 2,
            message,
            headers,
            ..Fault::status(status)
        });
        let run = pull.run().exits(1);
        assert_eq!(pull.one_run("failure").1.len(), 3);
        assert_eq!(pull.comments().len(), 1);
        assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    }
}

#[test]
fn a_read_only_token_limits_posting_but_not_the_verdict() {
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
fn other_rejections_and_an_unreachable_api_do_not_change_the_verdict() {
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
    // No server listens there. The base's baseline cannot be read either; still, blocking drift is
    // certain.
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.set("GITHUB_API_URL", "http://127.0.0.1:9");
    let run = pull.run().exits(1).says("check run");
    assert!(run.stdout.contains("::error file="), "{}", run.stdout);
}

#[test]
fn slow_responses_are_waited_for() {
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
    pull.drift();
    pull.double.state().prefix = "/api/v3".to_owned();
    pull.set("GITHUB_API_URL", &pull.double.url());
    pull.run().exits(1);
    assert_eq!(pull.one_run("failure").1.len(), 3);
    assert_eq!(pull.comments().len(), 1);
}

#[test]
fn the_certificate_of_the_api_must_be_signed_by_a_trusted_authority() {
    let Authority { ca, server } = authority();
    let mut pull = Pull::new(&usual());
    pull.keel.write("ca.pem", &ca);
    pull.keel.write("other.pem", &authority().ca);
    pull.double = Double::listen_with("127.0.0.1:0", over_tls(server));
    pull.drift();
    let api = pull.double.url().replace("http:", "https:");
    pull.set("GITHUB_API_URL", &api);
    let trust = |pull: &mut Pull, file: &str| {
        let file = pull.keel.folder().join(file);
        pull.set("SSL_CERT_FILE", &file.to_string_lossy());
    };
    trust(&mut pull, "ca.pem");
    pull.run().exits(1);
    assert_eq!(pull.one_run("failure").1.len(), 3);
    assert_eq!(pull.comments().len(), 1);
    let requests = pull.double.state().requests.len();
    // Each failed request costs seconds, and a push has the fewest.
    pull.set("GITHUB_EVENT_NAME", "push");
    trust(&mut pull, "other.pem");
    pull.run().exits(1).says("invalid peer certificate");
    assert_eq!(pull.double.state().requests.len(), requests);
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
    // Without a checkout it is not known what the base branch's baseline says: that is no "pass".
    pull.serve(&usual());
    pull.set("INPUT_COMPARE-BASE", "true");
    pull.run().exits(0);
    std::fs::remove_dir_all(pull.keel.folder().join(".git")).unwrap();
    pull.run().exits(3).says("fetch-depth: 0");
}

#[test]
fn debug_logging_prints_the_settings_with_their_inputs() {
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
fn the_token_is_masked_and_never_printed() {
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
fn a_comment_is_folded_once_the_drift_is_gone_and_never_created_without_drift() {
    let mut pull = Pull::new(&usual());
    pull.drift();
    pull.serve(&usual());
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
    assert_eq!(folded[0].lines().count(), 3, "{folded:?}");
    assert!(folded[0].contains("no drift as of"), "{folded:?}");
    // Its annotations cannot be removed; the summary says that they are outdated.
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
fn another_persons_comment_is_left_alone() {
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
    // Neither is one of another app, or of a maintainer.
    for (login, kind) in [("other-app[bot]", "Bot"), ("mona", "User")] {
        pull.double.state().comments = vec![json!({
            "id": 1, "body": theirs, "user": {"login": login, "type": kind}, "author_association": "OWNER",
        })];
        pull.run().exits(1);
        let comments = pull.comments();
        assert_eq!(comments.len(), 2, "{login}");
        assert_eq!(comments[0], theirs);
    }
}

#[test]
fn what_merging_approves_is_judged_separately() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    // The server matches the committed baseline, which breaks callers of the base branch's.
    pull.run().exits(1);
    let (run, annotations) = pull.one_run("failure");
    let title = run["output"]["title"].as_str().unwrap();
    assert!(
        title.starts_with("merging approves changes of weather that break callers (2 breaking"),
        "{title}"
    );
    let message = annotations[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("breaking: against the base branch: "),
        "{message}"
    );
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
    pull.label("2026-01-03T00:00:00Z");
    pull.run().exits(0);
    let (run, _) = pull.one_run("success");
    assert!(
        run["output"]["title"]
            .as_str()
            .unwrap()
            .contains("accepted by mona"),
        "{run}"
    );
    // It accepts changes; the version is still to be raised.
    let config =
        "[server.weather]\ncommand = [\"unused\"]\n[policy]\nrequire-version-bump = true\n";
    pull.keel.write("mcp-keel.toml", config);
    pull.on_base("mcp-keel.toml", config);
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
fn the_action_accepts_a_fastmcp_manifest_as_baseline() {
    let mut pull = Pull::new(&usual());
    let listed = json!({"tools": usual()}).to_string();
    pull.keel.write("tools.json", &listed);
    let fingerprint = ["fingerprint", "tools.json", "--profile", "fastmcp"];
    let manifest = pull.keel.run(&fingerprint).exits(0).stdout;
    pull.keel.write("manifest.json", &manifest);
    pull.on_base("manifest.json", &manifest);
    pull.set("INPUT_BASELINE", "manifest.json");
    pull.run().exits(0);
    pull.one_run("success");

    // Its digests cover the key and the input schema, not the new description of `forecast`.
    pull.serve(&drifted());
    // Its lines are annotated because the pull request changes it, too.
    pull.on_base("manifest.json", &format!("{manifest}\n"));
    pull.double.state().runs.clear();
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

    pull.on_base("manifest.json", &manifest);
    pull.double.state().runs.clear();
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
    assert_eq!(
        title,
        "merging approves changes of weather that break callers (1 breaking, 1 risky, 1 other)"
    );

    // A file of another kind is not compared with it, and no reason to let it pass unseen.
    let own = pull.keel.read("mcp-baseline.json");
    pull.on_base("manifest.json", &own);
    pull.run();
    let comment = &pull.comments()[0];
    assert!(comment.contains("cannot be compared"), "{comment}");
    assert!(comment.contains("server-not-pinned"), "{comment}");

    // One that is not in the repository yet is new.
    pull.on_base.remove("manifest.json");
    pull.check_out();
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
    let lock = pull.keel.read("mcp-lock.json");
    pull.on_base("mcp-lock.json", &lock);
    pull.set("INPUT_BASELINE", "mcp-lock.json");
    pull.run().exits(0);
    pull.one_run("success");
    pull.serve(&drifted());
    pull.keel.run(&words).exits(0);
    pull.set("INPUT_BASE-FAIL-ON", "risky");
    pull.run().exits(1);
    let (run, _) = pull.one_run("failure");
    assert_eq!(
        run["output"]["title"],
        "merging approves changes of weather that may surprise callers (1 risky)"
    );
    let comment = &pull.comments()[0];
    assert!(comment.contains("lock-surface-changed"), "{comment}");
    // An edited lock is not a baseline, on either branch.
    let edited = pull
        .keel
        .read("mcp-lock.json")
        .replace("weather", "whether");
    pull.keel.write("mcp-lock.json", &edited);
    pull.run().exits(2);
}

#[test]
fn the_base_is_read_from_git_if_the_clone_has_it() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    pull.set("INPUT_TOKEN", "");
    pull.run()
        .exits(1)
        .says("against the base branch: tool removed");
    assert!(pull.double.state().requests.is_empty());
    // The event that it was set is all that can be known of a label without a token.
    pull.set("INPUT_ACCEPT-LABEL", "fine");
    let mona = json!({"login": "mona", "type": "User"});
    pull.event(
        "labeled",
        json!({"label": {"name": "fine"}, "sender": mona}),
    );
    pull.run().exits(0);
    pull.event(
        "labeled",
        json!({"label": {"name": "other"}, "sender": mona}),
    );
    pull.run().exits(1);
}

#[test]
fn places_are_relative_to_the_root_of_the_repository() {
    let mut pull = Pull::new(&usual());
    let baseline = pull.keel.read("mcp-baseline.json");
    pull.keel
        .write("servers/weather/mcp-baseline.json", &baseline);
    pull.on_base.clear();
    pull.on_base("servers/weather/mcp-baseline.json", &baseline);
    pull.serve(&drifted());
    pull.set("INPUT_WORKING-DIRECTORY", "servers/weather");
    let declared = "server.registerTool(\"alerts\", {}, handler);\n";
    pull.on_head("servers/weather/tools.ts", declared);
    pull.run().exits(1);
    let (_, annotations) = pull.one_run("failure");
    assert_eq!(annotations[0]["path"], "servers/weather/tools.ts");
    let link = format!("/blob/{}/servers/weather/mcp-baseline.json#L", pull.head);
    assert!(pull.comments()[0].contains(&link), "{:?}", pull.comments());
    let report = &pull.outputs()["report"];
    assert_eq!(report, "servers/weather/mcp-keel-report.json");
    assert!(pull.keel.folder().join(report).exists());
}

#[test]
fn a_server_that_cannot_be_captured_is_a_failure_that_says_so() {
    let pull = Pull::new(&usual());
    pull.keel
        .write("scenario.json", r#"{"start": [{"exit": 7}]}"#);
    pull.run().exits(3);
    let (run, _) = pull.one_run("failure");
    assert!(
        run["output"]["title"]
            .as_str()
            .unwrap()
            .contains("weather did not start, so nothing is known about it"),
        "{run}"
    );
}

#[cfg(unix)]
#[test]
fn a_cancelled_job_leaves_no_run_in_progress() {
    use std::os::unix::process::ExitStatusExt as _;
    for signal in [
        nix::sys::signal::Signal::SIGINT,
        nix::sys::signal::Signal::SIGTERM,
    ] {
        let mut pull = Pull::new(&usual());
        // It writes to the runner's files.
        pull.set("INPUT_SANDBOX", "off");
        let log = pull.keel.folder().join("runner/received");
        let silent = json!({"log": log, "on": {"initialize": []}});
        pull.keel.write("scenario.json", &silent.to_string());
        let mut running = pull.program().spawn().unwrap();
        // The server has received a request, so the check run exists.
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
fn an_unwritable_report_leaves_no_run_in_progress() {
    let mut pull = Pull::new(&usual());
    pull.set("INPUT_REPORT", "json=scenario.json/report.json");
    pull.run()
        .exits(2)
        .says("scenario.json is a link or a file");
    pull.one_run("failure");
}

#[test]
fn pushes_and_invalid_inputs() {
    let mut pull = Pull::new(&usual());
    pull.set("GITHUB_EVENT_NAME", "push");
    pull.head = pull.merge.clone();
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

/// A pull request changes the server and its configuration. Neither may control the runner.
#[test]
#[cfg(target_os = "linux")]
fn a_configuration_cannot_remove_the_actions_sandbox() {
    let mut pull = Pull::new(&usual());
    pull.set("HOME", "/nonexistent");
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
    // What does not block is not annotated.
    assert_eq!(pull.one_run("neutral").1, Vec::<Value>::new());
    assert_eq!(pull.outputs()["verdict"], "warn");
}

#[test]
fn a_merge_queue_run_reports_what_it_merges_without_blocking_it() {
    let mut pull = Pull::new(&usual());
    pull.serve(&drifted());
    let mut words = vec!["pin".to_owned(), "weather".to_owned(), "--".to_owned()];
    words.extend(pull.command());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    pull.keel.run(&words).exits(0);
    let event = json!({"merge_group": {"head_sha": pull.merge, "base_sha": pull.base}});
    pull.keel.write("runner/event.json", &event.to_string());
    pull.set("GITHUB_EVENT_NAME", "merge_group");
    pull.head = pull.merge.clone();
    pull.run().exits(0);
    let (run, _) = pull.one_run("success");
    let title = run["output"]["title"].as_str().unwrap();
    assert!(
        title.starts_with("merging approves changes of weather that break callers (2 breaking"),
        "{title}"
    );
}

/// Each input of action.yml gets a value that no run can ignore: the result must differ from the
/// result without it.
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
    // It repeats a variable that it only sees if `pass-env` names it.
    let mut tools = drifted();
    tools.push(tool("seen", "$env{OF_THE_STEP}"));
    pull.serve(&tools);
    pull.set("OF_THE_STEP", "handed on");
    // The pull request removes a tool from the baseline, so that there is something for a label to
    // accept.
    let before = Pull::new(&[&usual()[..], &[tool("gone", "Once here.")]].concat());
    let before = before.keel.read("mcp-baseline.json");
    pull.on_base("mcp-baseline.json", &before);
    let usually = pull.observed();
    assert_eq!(usually, pull.observed(), "the same run twice");
    let mut unread = Vec::new();
    for name in names {
        // Invalid as a number, a word of a list, a pair, a file, a folder and a command.
        let value = match name {
            "pass-env" => "OF_THE_STEP",
            "capabilities" => "none",
            _ => "it's nonsense",
        };
        let env = pull.env.clone();
        let mut without = usually.clone();
        if name == "timings" {
            // Only read for the parts of a fleet.
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
fn nothing_that_a_server_lists_has_an_effect_in_any_sink() {
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
        // Nothing of it is left outside of code.
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
                        "::warning title=mcp-keel::could not ",
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
fn parts_of_a_run_post_nothing_and_the_merge_posts_one_of_each() {
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
    let wrote = |it: &&(String, String, u16)| it.0 != "GET";
    assert_eq!(pull.double.state().requests.iter().find(wrote), None);
    pull.env.remove("INPUT_SHARD");
    pull.env.remove("INPUT_REPORT");
    pull.set("INPUT_MERGE", "parts");
    pull.run().exits(1);
    let (run, annotations) = pull.one_run("failure");
    assert_eq!(run["output"]["title"], whole.0["title"]);
    assert_eq!(run["output"]["summary"], whole.0["summary"]);
    assert_eq!(annotations, whole.1);
    assert_eq!(pull.keel.read("mcp-keel-report.json"), whole.2);
    // But for the run that wrote it.
    let page = |it: &[String]| it[0].rsplit_once('\n').unwrap().0.to_owned();
    assert_eq!(page(&pull.comments()), page(&whole.3));

    // A missing part is not a success.
    std::fs::remove_dir_all(pull.keel.folder().join("parts/1")).unwrap();
    pull.run().exits(3);
    pull.one_run("failure");

    pull.set("INPUT_SHARD", "1/2");
    pull.run().exits(2).says("two different jobs");
}

/// A pull request with three servers, of which the first drifts.
pub(crate) fn fleet() -> Pull {
    let mut pull = Pull::new(&usual());
    pull.keel.write(
        "mcp-keel.toml",
        &crate::fleet::configuration(&crate::fleet::servers(3, &[])),
    );
    pull.keel.run(&["pin"]).exits(0);
    pull.commit_all();
    pull.keel.write(
        "mcp-keel.toml",
        &crate::fleet::configuration(&crate::fleet::servers(3, &[0])),
    );
    pull.env.remove("INPUT_COMMAND");
    pull.env.remove("INPUT_SERVERS");
    pull
}

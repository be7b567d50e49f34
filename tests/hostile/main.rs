//! The hostile servers of `fixtures/hostile/servers`: each file is a test, by its name, through the
//! real program.
//!
//! ```text
//! cargo test --locked --test hostile answer-never              # one of them
//! cargo test --locked --test hostile -- --include-ignored      # the heavy ones too, as `.ci/run` does
//! MCP_KEEL_UPDATE=1 cargo test --locked --test hostile         # accept outcomes and messages
//! ```
//!
//! A server over stdio is a scenario of `crates/mcp-capture/examples/scripted-server.rs`, one over HTTP a script of
//! [`http`].
//!
//! Every run asserts: how it exits and what it names; that no process is left; that only the named
//! files were written; that no secret of the environment is in any output, report or baseline; that
//! no control character reaches a terminal; and that memory stays below [`MEMORY_BOUND`]. A run
//! over HTTP also asserts that no other host was contacted. Time is measured and reported, and only
//! a hang fails. Each result is a row of docs/hostile.md, and its error message a line of
//! tests/snapshots/hostile.txt ([`table`]).

// A failed unwrap is a failed test, and the panic says where.
#![allow(clippy::unwrap_used)]
// Tests write files for the program to read, and read those that it wrote.
#![allow(clippy::disallowed_methods)]
// Only Linux has the `/proc` in which processes are looked up.
#![cfg_attr(not(target_os = "linux"), allow(unused))]

mod http;
#[path = "../../crates/mcp-capture/tests/it/parts.rs"]
mod parts;
mod table;

// Shared with the other tests. Each uses a part of it.
#[path = "../../crates/mcp-capture/tests/it/http_double.rs"]
mod http_double;
#[allow(dead_code)]
#[path = "../it/keel.rs"]
mod keel;
#[allow(dead_code)]
#[path = "../it/machine.rs"]
mod machine;
#[path = "../../crates/mcp-capture/tests/it/scripted.rs"]
mod scripted;

use mcp_keel::report::Format;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scripted::{example, scripted};

/// How many servers run in parallel. Most of them only wait.
const AT_A_TIME: usize = 8;

/// The peak memory of mcp-keel itself, whatever a server sends. Documented in docs/hostile.md.
const MEMORY_BOUND: u64 = 512 * 1024;

/// Far beyond every timeout in the scenarios: only a hang takes this long.
const HANG: Duration = Duration::from_secs(900);

/// In mcp-keel's environment, and must not reach a server or a report.
const SECRETS: [(&str, &str); 5] = [
    ("GITHUB_TOKEN", "ghs_0123456789abcdefghijklmnopqrstuvwxyz"),
    ("NPM_TOKEN", "npm_0123456789abcdefghijklmnopqrstuvwxyz"),
    (
        "AWS_SECRET_ACCESS_KEY",
        "wJalrXUtnFEMIK7MDENGbPxRfiCYplanted",
    ),
    ("DEPLOY_PASSWORD", "correct-horse-battery-staple"),
    ("SIGNING_KEY", "planted!{key} of 'ours'"),
];

/// One file of the suite.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Behaviour {
    /// What the server does, in one sentence.
    behaviour: String,
    /// The scenario of the scripted server, unparsed: the order of its members matters.
    #[serde(default)]
    server: Option<Box<RawValue>>,
    /// Instead: the script of a server over HTTP.
    #[serde(default)]
    http: Option<Box<RawValue>>,
    /// The scenario that the baseline is pinned from; `"same"` is this very server; by default an
    /// ordinary one.
    #[serde(default)]
    pinned: Option<Box<RawValue>>,
    /// A shell script that starts the server, `"$@"`, in its own way.
    #[serde(default)]
    through: Option<String>,
    /// The command and its flags.
    run: Vec<String>,
    /// Files and folders that the server itself writes into its working directory.
    #[serde(default)]
    writes: Vec<String>,
    /// Too heavy for every test run: ignored, and run by `.ci/run`.
    #[serde(default)]
    heavy: bool,
    expect: Expected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    exit: i32,
    /// In `check`'s report.
    #[serde(default)]
    verdict: Option<String>,
    /// The rules of changes and of findings in the report, exactly.
    #[serde(default)]
    rules: Option<BTreeSet<String>>,
    /// What the error names (without an error, the output): requests, numbers, rules, and the
    /// server's own words. Never one of mcp-keel's sentences, so that a message can be reworded:
    /// see [`Behaviour::facts`].
    #[serde(default)]
    names: Vec<String>,
    /// Two limits are reached at the same time, and it is random which of them is reported: the
    /// message is not compared.
    #[serde(default)]
    message_varies: bool,
    /// What it must not name.
    #[serde(default)]
    never_says: Vec<String>,
    /// The maximum number of requests to a server over HTTP.
    #[serde(default)]
    requests: Option<usize>,
}

struct Seen {
    outcome: String,
    /// Why servers are undetermined: the messages, without what varies.
    error: String,
    time: Duration,
    /// In KiB.
    memory: u64,
}

const USUAL: &str = r#"{"tools":[{"name":"greet","description":"Says hello.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}]}"#;

impl Behaviour {
    /// The server as text, and whether it is one over HTTP.
    fn script(&self) -> (&str, bool) {
        match (&self.server, &self.http) {
            (Some(scenario), None) => (scenario.get(), false),
            (None, Some(script)) => (script.get(), true),
            _ => panic!("a server is either `server` or `http`: {}", self.behaviour),
        }
    }

    /// What the error must name: single words, or words that the server itself sends.
    fn facts(&self) -> Result<&[String], String> {
        let (script, _) = self.script();
        let names = &self.expect.names;
        match names
            .iter()
            .find(|it| it.contains(' ') && !script.contains(*it))
        {
            Some(prose) => Err(format!(
                "the file requires one of mcp-keel's sentences: `{prose}`"
            )),
            None => Ok(names),
        }
    }
}

/// What mcp-keel meets in one run.
enum Opponent {
    /// The command of a server over stdio.
    Stdio(Vec<String>),
    Http(http::Opponent),
}

impl Opponent {
    fn words(&self) -> Vec<String> {
        match self {
            Self::Stdio(command) => [vec!["--".to_owned()], command.clone()].concat(),
            Self::Http(server) => vec!["--url".into(), server.url()],
        }
    }
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if cfg!(not(target_os = "linux")) {
        return ExitCode::SUCCESS;
    }
    arguments.test_threads.get_or_insert(AT_A_TIME);
    // Whatever a run leaves behind becomes a child of this process, however it detached itself.
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    #[cfg(target_os = "linux")]
    machine::forgo_tracing();
    let all = behaviours();
    if !arguments.list {
        table::prepare(&all);
    }
    let mut tests: Vec<Trial> = Vec::new();
    let names: BTreeMap<String, String> = all
        .iter()
        .map(|(name, it)| (name.clone(), it.behaviour.clone()))
        .collect();
    tests.push(trial("the_suite_is_whole", {
        let count = all.len();
        let over_http = all.values().filter(|it| it.http.is_some()).count();
        move || {
            assert!(count >= 280, "only {count} behaviours");
            assert!(over_http >= 150, "only {over_http} behaviours over HTTP");
            table::is_complete(&names, over_http);
            Ok(())
        }
    }));
    tests.push(trial("no_reference_is_followed_and_no_proxy_asked", || {
        no_reference_is_followed_and_no_proxy_asked();
        Ok(())
    }));
    for (name, behaviour) in all {
        let is_heavy = behaviour.heavy;
        let test = trial(&name.clone(), move || {
            let seen = run(&behaviour)?;
            table::record(&name, &behaviour, &seen)
        });
        tests.push(test.with_ignored_flag(is_heavy));
    }
    let conclusion = libtest_mimic::run(&arguments, tests);
    let left = children();
    if !arguments.list && !left.is_empty() {
        // Printed where the failures are.
        let _ = std::io::Write::write_fmt(
            &mut std::io::stderr(),
            format_args!("processes are left: {left:?}\n"),
        );
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

fn trial(name: &str, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(Failed::from))
}

/// The files of the suite.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile/servers")
}

fn behaviours() -> BTreeMap<String, Behaviour> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let behaviour = serde_json::from_str(&text).unwrap_or_else(|it| panic!("{name}: {it}"));
        all.insert(name, behaviour);
    }
    all
}

/// One run, in a folder that is everything it may see of the disk.
fn run(behaviour: &Behaviour) -> Result<Seen, String> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["work", "home", "tmp", "reports"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    let opponent = match behaviour.script() {
        (script, true) => Opponent::Http(http::Opponent::start(script)),
        (scenario, false) => {
            let path = at("scenario.json");
            std::fs::write(&path, scenario).unwrap();
            let through = behaviour.through.as_deref();
            let through = through.map(|script| ["sh", "-c", script, "sh"].map(str::to_owned));
            let through = through.into_iter().flatten();
            Opponent::Stdio(through.chain(scripted(&path.to_string_lossy())).collect())
        }
    };
    let verb = behaviour.run[0].as_str();
    let baseline = at("work/mcp-baseline.json");
    if verb == "check" {
        std::fs::write(&baseline, pinned(behaviour)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-keel"));
    command
        .args(&behaviour.run)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", at("home"))
        .env("TMPDIR", at("tmp"))
        .envs(SECRETS)
        .current_dir(at("work"))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(at("reports/stdout")).unwrap())
        .stderr(std::fs::File::create(at("reports/stderr")).unwrap());
    if verb != "capture" {
        let in_files = Format::ALL.iter().filter(|it| **it != Format::Terminal);
        for format in in_files {
            let path = at("reports").join(format.word());
            command.arg("--report");
            command.arg(format!("{format}={}", path.display()));
        }
        command.arg("x");
    }
    command.args(opponent.words());
    if let Opponent::Http(server) = &opponent {
        command.envs(server.temptations());
    }

    let begun = Instant::now();
    let mut running = command.spawn().map_err(|it| it.to_string())?;
    let pid = running.id();
    let mut memory = 0;
    let status = loop {
        memory = memory.max(peak(pid));
        if let Some(status) = running.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > HANG {
            let _ = running.kill();
            let _ = running.wait();
            return Err("it hangs".into());
        }
        std::thread::sleep(Duration::from_millis(4));
    };
    let time = begun.elapsed();
    let code = status.code().ok_or_else(|| status.to_string())?;

    let mut printed = String::new();
    for entry in std::fs::read_dir(at("reports")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        let text = String::from_utf8(text).map_err(|_| format!("{}: not UTF-8", path.display()))?;
        if let Some(control) = text
            .chars()
            .find(|it| it.is_control() && !"\n\t".contains(*it))
        {
            return Err(format!("{}: a raw {control:?}", path.display()));
        }
        printed += &text;
    }
    let report: Value = std::fs::read_to_string(at("reports/json"))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or(Value::Null);
    let failure = |problem: String| {
        let stderr = std::fs::read_to_string(at("reports/stderr")).unwrap_or_default();
        let stdout = std::fs::read_to_string(at("reports/stdout")).unwrap_or_default();
        let short = |text: &str| text.chars().take(2000).collect::<String>();
        format!("{problem}\n{}\n{}", short(&stdout), short(&stderr))
    };
    let expect = &behaviour.expect;
    if let Opponent::Http(server) = &opponent {
        server.judge(expect.requests).map_err(&failure)?;
    }
    if code != expect.exit {
        return Err(failure(format!("exits {code}, not {}", expect.exit)));
    }
    let verdict = report["verdict"].as_str();
    if expect.verdict.is_some() && verdict != expect.verdict.as_deref() {
        return Err(failure(format!(
            "the verdict is {verdict:?}, not {:?}",
            expect.verdict
        )));
    }
    let rules = rules(&report);
    if expect.rules.as_ref().is_some_and(|it| *it != rules) {
        return Err(failure(format!("has the rules {rules:?}")));
    }
    let error = errors(&report);
    let searched = if error.is_empty() { &printed } else { &error };
    for fact in behaviour.facts()? {
        if !searched.contains(fact) {
            return Err(failure(format!("does not name `{fact}`")));
        }
    }
    let written = std::fs::read_to_string(&baseline).unwrap_or_default();
    let secrets = SECRETS.iter().map(|(_, value)| *value);
    for text in secrets.chain(expect.never_says.iter().map(String::as_str)) {
        if printed.contains(text) || written.contains(text) {
            return Err(failure(format!("the output contains `{text}`")));
        }
    }
    left(folder.path(), behaviour, verb == "pin" && code == 0).map_err(&failure)?;
    if runs_with(&at("home")) {
        return Err(failure("a process is left".into()));
    }
    if memory > MEMORY_BOUND {
        return Err(failure(format!("holds {} MiB", memory / 1024)));
    }
    Ok(Seen {
        outcome: outcome(code, verdict, &rules),
        error: if expect.message_varies {
            "(varies)".to_owned()
        } else {
            messages(&report)
        },
        time,
        memory,
    })
}

/// The baseline of a check. Many servers share one: it is cached per build of the program, also for
/// the other processes of a run in which each test has its own.
fn pinned(behaviour: &Behaviour) -> String {
    static PINNING: Mutex<()> = Mutex::new(());
    let (own, over_http) = behaviour.script();
    let script = match behaviour.pinned.as_ref().map(|it| it.get()) {
        Some("\"same\"") => own,
        Some(script) => script,
        None => USUAL,
    };
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "hostile-baseline-{}",
        table::digest(&[over_http.to_string().as_str(), script, &built()])
    ));
    let _one_at_a_time = PINNING.lock().unwrap_or_else(|it| it.into_inner());
    if let Ok(known) = std::fs::read_to_string(&kept) {
        return known;
    }
    let keel = crate::keel::Keel::new();
    let opponent = if over_http {
        Opponent::Http(http::Opponent::start(script))
    } else {
        Opponent::Stdio(scripted(script))
    };
    let words = opponent.words();
    let mut all = vec!["pin", "x"];
    all.extend(words.iter().map(String::as_str));
    keel.run(&all).exits(0);
    let text = keel.read("mcp-baseline.json");
    // Atomically: another process may be reading it.
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    file.persist(&kept).unwrap();
    text
}

/// Identifies a build of the program and of the scripted server.
fn built() -> String {
    let of = |path: &str| {
        let it = std::fs::metadata(path).unwrap();
        format!("{path} {} {:?}\n", it.len(), it.modified().unwrap())
    };
    of(env!("CARGO_BIN_EXE_mcp-keel")) + &of(&example("scripted-server"))
}

/// Whether there are files that were not named.
fn left(folder: &Path, behaviour: &Behaviour, pinned: bool) -> Result<(), String> {
    let mut named: BTreeSet<String> = behaviour.writes.iter().cloned().collect();
    if pinned || behaviour.run[0] == "check" {
        named.insert("work/mcp-baseline.json".into());
    }
    let mut found = BTreeSet::new();
    for place in ["work", "home", "tmp"] {
        for entry in std::fs::read_dir(folder.join(place)).unwrap() {
            let name = entry.unwrap().file_name();
            found.insert(format!("{place}/{}", name.to_string_lossy()));
        }
    }
    if found == named {
        Ok(())
    } else {
        Err(format!("the files are {found:?}, not {named:?}"))
    }
}

fn rules(report: &Value) -> BTreeSet<String> {
    let servers = report["servers"].as_array().into_iter().flatten();
    servers
        .flat_map(|server| [&server["changes"], &server["findings"]])
        .flat_map(|list| list.as_array().into_iter().flatten())
        .filter_map(|it| it["rule"].as_str().map(str::to_owned))
        .collect()
}

/// Why servers are undetermined, as in the report: message, help and the end of stderr.
fn errors(report: &Value) -> String {
    let servers = report["servers"].as_array().into_iter().flatten();
    servers
        .flat_map(|server| ["message", "help", "stderr"].map(|part| &server["error"][part]))
        .filter_map(Value::as_str)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The messages alone, without ports and without what follows a colon: which of two operating
/// system errors comes first is random.
fn messages(report: &Value) -> String {
    let servers = report["servers"].as_array().into_iter().flatten();
    let messages = servers
        .filter_map(|server| server["error"]["message"].as_str())
        .filter_map(|message| message.split(": ").next());
    let text = messages.collect::<Vec<_>>().join("; ");
    let mut parts = text.split("127.0.0.1:");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += "127.0.0.1:$PORT";
        shown += part.trim_start_matches(|it: char| it.is_ascii_digit());
    }
    // Hostile text stays visible, and harmless in an editor.
    shown
        .chars()
        .map(|it| match it {
            ' '..='~' => it.to_string(),
            _ => it.escape_unicode().to_string(),
        })
        .collect()
}

fn outcome(code: i32, verdict: Option<&str>, rules: &BTreeSet<String>) -> String {
    let mut text = format!("exit {code}");
    if let Some(verdict) = verdict {
        let _ = write!(text, ", {verdict}");
    }
    if !rules.is_empty() {
        let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
        let _ = write!(text, ": {}", rules.join(", "));
    }
    text
}

/// The peak memory of a process so far, in KiB, without its children.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok())
        .unwrap_or(0)
}

/// Whether a process with this home folder exists. Each server has one of its own, and what it starts inherits it.
fn runs_with(home: &Path) -> bool {
    let variable = format!("HOME={}", home.display());
    std::fs::read_dir("/proc").unwrap().any(|entry| {
        let environ = entry.map(|it| std::fs::read(it.path().join("environ")));
        environ.is_ok_and(|it| {
            it.is_ok_and(|it| {
                it.split(|byte| *byte == 0)
                    .any(|it| it == variable.as_bytes())
            })
        })
    })
}

/// The children of this process, including those it inherited. Also zombies: in a container without
/// an init nothing would reap them.
fn children() -> BTreeSet<String> {
    let ours = std::process::id();
    let tasks = std::fs::read_dir(format!("/proc/{ours}/task")).unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|pids| {
            pids.split_whitespace()
                .map(|pid| {
                    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                    format!(
                        "{pid} {}",
                        String::from_utf8_lossy(&line).replace('\0', " ")
                    )
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

fn no_reference_is_followed_and_no_proxy_asked() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let keel = crate::keel::Keel::new().file("secret.json", r#"{"const": "read from a file"}"#);
    let file = format!("file://{}", keel.folder().join("secret.json").display());
    let schema = |extra: &str| {
        json!({"tools": [{"name": "a", "inputSchema": {
            "$schema": format!("{address}/dialect"), "type": "object",
            "properties": {"remote": {"$ref": format!("{address}/schema.json")}, "local": {"$ref": file},
                "x": {"$dynamicRef": format!("{address}/dynamic#a"), "type": extra}},
            "required": ["remote", "local"]}}]})
        .to_string()
    };
    let (old, new) = (scripted(&schema("string")), scripted(&schema("integer")));
    let run = |verb: &str, server: &[String]| {
        let output = Command::new(env!("CARGO_BIN_EXE_mcp-keel"))
            .args([verb, "x", "--"])
            .args(server)
            .current_dir(keel.folder())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", keel.folder())
            .envs(["http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, &address)))
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), printed)
    };
    assert_eq!(run("pin", &old).0, Some(0));
    assert_eq!(run("check", &old).0, Some(0));
    let (code, printed) = run("check", &new);
    assert_eq!(code, Some(1), "{printed}");
    assert!(!printed.contains("read from a file"), "{printed}");
    let refused = listener.accept().map(|_| ()).unwrap_err().kind();
    assert_eq!(
        refused,
        std::io::ErrorKind::WouldBlock,
        "something connected"
    );
}

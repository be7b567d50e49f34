//! The sandbox: what a server may access, and how denied access is reported.
//!
//! These tests need a kernel with Landlock and seccomp, and ask the kernel itself: if it has them,
//! a program that claims there is no sandbox fails.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::keel::Run;
use crate::machine::has_sandbox;
use crate::scripted::scripted;

const KEEL: &str = env!("CARGO_BIN_EXE_mcp-keel");

/// A home with a secret in it and a repository next to it. Not below the temporary folder, which
/// the sandbox allows.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("sandbox")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .unwrap();
        for folder in ["home/.ssh", "home/bin", "work/.git", "work/src"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        std::fs::write(root.path().join("home/.ssh/id"), "the-private-key").unwrap();
        Self { root }
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    fn work(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    fn run(&self, args: &[&str], command: &[String]) -> Run {
        self.run_through(&[], args, command)
    }

    /// Runs it through other commands.
    fn run_through(&self, before: &[String], args: &[&str], command: &[String]) -> Run {
        let mut words: Vec<&str> = before.iter().map(String::as_str).collect();
        words.push(KEEL);
        words.extend(args);
        words.push("--");
        words.extend(command.iter().map(String::as_str));
        let output = Command::new(words[0])
            .args(&words[1..])
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("MCP_KEEL_LAUNCH", "a-test")
            .env("PARENTS_WORD", "for-the-parent-only")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    fn findings(&self, level: &str, scenario: &Value) -> Vec<(String, String)> {
        let report = self
            .run(
                &["check", "--sandbox", level, "--format", "json"],
                &scripted(&scenario.to_string()),
            )
            .exits(0)
            .json();
        let findings = report["servers"][0]["findings"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        findings
            .iter()
            .map(|it| (text(&it["rule"]), text(&it["message"])))
            .filter(|(rule, _)| rule.starts_with("sandbox-"))
            .collect()
    }

    fn pinned(&self) {
        self.run(&["pin"], &scripted(r#"{"tools":[]}"#)).exits(0);
    }

    fn work_file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }
}

#[test]
fn a_sandbox_that_the_kernel_supports_is_fully_used() {
    if !has_sandbox() {
        return;
    }
    for level in ["fs", "strict"] {
        let place = Place::new();
        place.pinned();
        let findings = place.findings(level, &json!({"tools": []}));
        assert_eq!(findings, [], "{level}");
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn strict_denies_network_and_home_reports_both_and_the_check_still_works() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    place.pinned();
    let evil = place.home().join(".bashrc");
    let findings = place.findings(
        "strict",
        &json!({
            "start": [{"connect": "127.0.0.1:9"}, {"write": path(&evil)}, {"write": path(&evil)}],
            "tools": [],
        }),
    );
    let findings: Vec<(&str, &str)> = findings
        .iter()
        .map(|(rule, message)| (rule.as_str(), message.as_str()))
        .collect();
    if cfg!(target_arch = "x86_64") {
        assert_eq!(
            findings,
            [
                (
                    "sandbox-network-denied",
                    "the server was denied a socket: AF_INET (IPv4)"
                ),
                (
                    "sandbox-file-denied",
                    "the server was denied writing ~/.bashrc (2 times)"
                ),
            ]
        );
    }
    assert!(!evil.exists());
    let report = place.run(
        &["check", "--sandbox", "strict"],
        &scripted(
            &json!({
                "start": [{"connect": "127.0.0.1:9"}, {"write": path(&evil)}],
                "tools": [{"name": "new", "inputSchema": {}}],
            })
            .to_string(),
        ),
    );
    report
        .exits(1)
        .says("tool:new@")
        .says("sandbox-network-denied")
        .says("~/.bashrc");
    assert!(!evil.exists());
}

#[test]
fn a_server_that_fails_in_a_sandbox_is_reported_with_what_was_denied() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    place.pinned();
    let failing = scripted(r#"{"start": [{"connect": "127.0.0.1:9"}, {"exit": 3}]}"#);
    let run = place
        .run(&["check", "--sandbox", "strict"], &failing)
        .exits(3);
    let run = run
        .says("exit code 3")
        .says("`--sandbox off` shows whether");
    if cfg!(target_arch = "x86_64") {
        run.says("(sandbox-network-denied)");
    }
}

#[test]
fn fs_allows_only_the_working_copy_and_the_temporary_folder() {
    if !has_sandbox() {
        return;
    }
    for level in ["fs", "strict"] {
        let place = Place::new();
        let temporary = tempfile::tempdir().unwrap();
        let written = temporary.path().join("written");
        let outside = place.root.path().canonicalize().unwrap().join("outside");
        let secret = place.home().join(".ssh/id");
        let command = scripted(
            &json!({
                "start": [
                    {"write": "src/inside", "content": format!("$file{{{}}}", path(&secret))},
                    {"write": path(&written)},
                    {"write": path(&outside)},
                    {"write": path(&place.home().join("evil"))},
                ],
                "tools": [],
            })
            .to_string(),
        );
        place
            .run(&["capture", "--sandbox", level], &command)
            .exits(0);
        assert_eq!(
            place.work_file("src/inside").as_deref(),
            Some("-"),
            "{level}"
        );
        assert!(written.exists(), "{level}");
        assert!(
            !outside.exists() && !place.home().join("evil").exists(),
            "{level}"
        );
        // Without the sandbox it can do all of it.
        place.run(&["capture"], &command).exits(0);
        assert_eq!(
            place.work_file("src/inside").as_deref(),
            Some("the-private-key")
        );
        assert!(outside.exists() && place.home().join("evil").exists());
    }
}

#[test]
fn a_git_token_in_the_working_copy_is_hidden() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let config = "[http]\n\textraheader = AUTHORIZATION: basic abcdefgh\n";
    std::fs::write(place.work().join(".git/config"), config).unwrap();
    let command = scripted(
        r#"{"start": [{"write": "src/seen", "content": "$file{.git/config}"}], "tools": []}"#,
    );
    place
        .run(&["capture", "--sandbox", "fs"], &command)
        .exits(0);
    assert_eq!(place.work_file("src/seen").as_deref(), Some("-"));
}

#[test]
fn a_sandboxed_server_cannot_inspect_outside_processes_and_inherits_three_descriptors() {
    if !has_sandbox() {
        return;
    }
    for level in ["fs", "strict"] {
        let place = Place::new();
        let us = std::process::id();
        let scenario = json!({
            "start": [
                {"write": "src/parent", "content": "$file{/proc/$ppid/environ}"},
                {"write": "src/outside", "content": format!("$file{{/proc/{us}/environ}}")},
                {"write": "src/open", "content": "$list{/proc/self/fd}"},
            ],
            "tools": [],
        });
        // One that the program itself inherits, but the server must not.
        let through = ["sh", "-c", r#"exec "$@" 9</dev/null"#, "sh"].map(str::to_owned);
        place
            .run_through(
                &through,
                &["capture", "--sandbox", level],
                &scripted(&scenario.to_string()),
            )
            .exits(0);
        let seen = |name: &str| place.work_file(&format!("src/{name}")).unwrap();
        assert!(!seen("parent").contains("for-the-parent-only"), "{level}");
        assert_eq!(seen("outside"), "-", "{level}");
        assert_three_descriptors(&seen("open"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_without_a_sandbox_also_inherits_three_descriptors() {
    let place = Place::new();
    let scenario = json!({
        "start": [{"write": "src/open", "content": "$list{/proc/self/fd}"}],
        "tools": [],
    });
    let through = ["sh", "-c", r#"exec "$@" 9</dev/null"#, "sh"].map(str::to_owned);
    place
        .run_through(&through, &["capture"], &scripted(&scenario.to_string()))
        .exits(0);
    assert_three_descriptors(&place.work_file("src/open").unwrap());
}

/// Checks what a server listed of `/proc/self/fd`.
fn assert_three_descriptors(open: &str) {
    let numbers: Vec<&str> = open
        .lines()
        // Except the descriptor that lists them.
        .filter(|line| !line.contains(" /proc/"))
        .filter_map(|line| line.split(' ').next()?.rsplit('/').next())
        .collect();
    assert_eq!(numbers, ["0", "1", "2"], "{open}");
}

#[test]
fn a_command_that_cannot_be_started_is_explained_as_without_a_sandbox() {
    let place = Place::new();
    let script = |name: &str, text: &str| {
        let file = place.work().join(name);
        std::fs::write(&file, text).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = if name == "plain" { 0o644 } else { 0o755 };
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    script("plain", "no program, and not to be run");
    script("lost", "#!/no/such/interpreter\n");
    script("odd", "no program at all");
    for command in [
        "no-such-command",
        "./missing",
        "./plain",
        "./lost",
        "./odd",
        "/etc",
    ] {
        let message = |level: &str| {
            let run = place.run(&["capture", "--sandbox", level], &[command.to_owned()]);
            run.exits(3).stderr
        };
        let without = message("off");
        for level in ["fs", "strict"] {
            assert_eq!(message(level), without, "{command} {level}");
        }
    }
}

#[test]
fn a_program_hidden_by_the_sandbox_is_not_called_missing() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    // A script's interpreter is allowed with it; what that refers to in turn is not.
    let hidden = place.home().join(".ssh/hidden");
    let named = place.home().join(".ssh/named");
    let script = place.work().join("script");
    for (file, interpreter) in [
        (&hidden, "/bin/sh"),
        (&named, path(&hidden)),
        (&script, path(&named)),
    ] {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(file, format!("#!{interpreter}\n")).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
        .run(&["capture", "--sandbox", "fs"], &["./script".to_owned()])
        .exits(3)
        .names(&["`./script`", "sandbox"]);
}

#[test]
fn exit_statuses_are_reported_as_without_a_sandbox() {
    let place = Place::new();
    for scenario in [r#"{"start": [{"exit": 7}]}"#, r#"{"start": ["abort"]}"#] {
        let message = |level: &str| {
            let run = place.run(&["capture", "--sandbox", level], &scripted(scenario));
            run.exits(3).stderr.lines().next().unwrap().to_owned()
        };
        let without = message("off");
        assert_eq!(message("fs"), without);
        assert_eq!(message("strict"), without);
    }
}

#[test]
fn a_sandboxed_server_leaves_nothing_behind() {
    let place = Place::new();
    for level in ["fs", "strict"] {
        let word = format!(
            "{}.{}",
            4_000 + u32::from(level == "fs"),
            std::process::id()
        );
        let scenario = json!({
            "start": [
                {"spawn": ["sleep", word]},
                {"spawn": ["setsid", "sleep", word]},
                {"spawn": ["sh", "-c", format!("setsid sh -c 'sleep {word} & exit' & exit")]},
            ],
            "tools": [],
            "eof": ["hang"],
        });
        place
            .run(
                &["capture", "--sandbox", level],
                &scripted(&scenario.to_string()),
            )
            .exits(0);
        let left: Vec<String> = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
            .map(|line| String::from_utf8_lossy(&line).into_owned())
            .filter(|line| line.starts_with("sleep") && line.contains(&word))
            .collect();
        assert!(left.is_empty(), "{level}: {left:?}");
    }
}

#[test]
fn a_server_that_needs_an_unforwardable_signal_is_captured_unwatched() {
    let place = Place::new();
    let [program, scenario]: [String; 2] = scripted(r#"{"tools":[]}"#).try_into().unwrap();
    let script = r#"trap 'got=1' 40; kill -40 $$; [ "$got" = 1 ] || exit 9; exec "$@""#;
    let command = ["sh", "-c", script, "sh", &program, &scenario].map(str::to_owned);
    place
        .run(&["capture", "--sandbox", "strict"], &command)
        .exits(0);
}

/// Commands that put a process into so many sandboxes that the kernel allows no more.
fn exhausted(place: &Place) -> Vec<String> {
    let orders = json!({
        "strict": false, "required": false, "read": [], "write": ["/"], "home": null, "watch": false, "watched": false,
    });
    let file = place.root.path().join("orders");
    std::fs::write(&file, orders.to_string()).unwrap();
    let script = format!("exec \"$@\" 4<'{}'", path(&file));
    let stage = ["sh", "-c", &script, "sh", KEEL, "__in-sandbox"].map(str::to_owned);
    std::iter::repeat_n(stage, 16).flatten().collect()
}

#[test]
fn an_unavailable_sandbox_is_reported_or_refused() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let command = scripted(r#"{"tools":[]}"#);
    let run = |args: &[&str]| place.run_through(&exhausted(&place), args, &command);
    run(&["pin"]).exits(0).says_nothing_of("sandbox");
    run(&["check", "--sandbox", "fs"])
        .exits(0)
        .says("files are not limited")
        .says("(sandbox-unavailable)");
    run(&["check", "--sandbox", "fs", "--sandbox-required"])
        .exits(3)
        .says("its sandbox is required and is not whole here: files are not limited");
    // If it is available, requiring it changes nothing.
    place
        .run(
            &["check", "--sandbox", "strict", "--sandbox-required"],
            &command,
        )
        .exits(0)
        .says_nothing_of("sandbox");
}

#[test]
fn the_configuration_sets_the_sandbox_and_the_command_line_overrides_it() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let secret = place.home().join(".ssh/id");
    let command = scripted(
        &json!({
            "start": [{"write": "src/seen", "content": format!("$file{{{}}}", path(&secret))}],
            "tools": [],
        })
        .to_string(),
    );
    let command = serde_json::to_string(&command).unwrap();
    let config =
        format!("[server.a]\ncommand = {command}\nsandbox = \"fs\"\nsandbox-required = true\n");
    std::fs::write(place.work().join("mcp-keel.toml"), config).unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(KEEL)
            .args(args)
            .current_dir(place.work())
            .env("HOME", place.home())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        place.work_file("src/seen").unwrap()
    };
    assert_eq!(run(&["capture", "a"]), "-");
    assert_eq!(
        run(&["capture", "a", "--sandbox", "off"]),
        "the-private-key"
    );
    assert_eq!(run(&["capture", "a", "--sandbox", "strict"]), "-");
}

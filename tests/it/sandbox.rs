//! The sandbox: what a server may access, and what is reported of what it may not.
//!
//! These tests need a kernel with Landlock and seccomp, and ask the kernel itself: if it has them,
//! a program that claims there is no sandbox fails.

use std::io::Read as _;
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
            .env(mcp_keel::launch::MARKER, "a-test")
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
fn strict_denies_network_and_home_and_the_check_still_works_and_says_what_the_server_says_of_it() {
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
    assert_eq!(
        findings,
        [(
            "sandbox-denied",
            "the server says that something was denied: `127.0.0.1:9: Permission denied (os error 13)`, and 2 more lines like it"
        )]
    );
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
    report.exits(1).says("tool:new@").says("sandbox-denied");
    assert!(!evil.exists());
}

#[test]
fn a_server_that_fails_in_a_sandbox_is_reported_with_the_flag_that_opens_it() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    place.pinned();
    let failing = scripted(r#"{"start": [{"connect": "127.0.0.1:9"}, {"exit": 3}]}"#);
    for (level, flags) in [
        ("strict", &["`--sandbox fs`", "`--sandbox off`"][..]),
        ("fs", &["`--sandbox off`"]),
    ] {
        let run = place
            .run(&["check", "--sandbox", level], &failing)
            .exits(3)
            .says("exit code 3")
            .says("its sandbox may be the cause");
        flags.iter().fold(run, |run, flag| run.says(flag));
    }
    place
        .run(&["check", "--sandbox", "strict"], &failing)
        .exits(3)
        .says("(sandbox-denied)");
    place
        .run(&["check"], &failing)
        .exits(3)
        .says_nothing_of("sandbox");
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

/// Commands that put a process into so many sandboxes that the kernel allows no more.
fn exhausted(place: &Place) -> Vec<String> {
    let orders = json!({
        "strict": false, "required": false, "read": [], "write": ["/"],
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

impl Place {
    /// Runs it by the configuration in the working copy, with these variables of our own.
    fn run_configured(&self, args: &[&str], config: &str, env: &[(&str, &str)]) -> Run {
        std::fs::write(self.work().join("mcp-keel.toml"), config).unwrap();
        let output = Command::new(KEEL)
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .envs(env.iter().copied())
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

    fn outside(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("outside")
    }

    /// A server that reads the secret and writes outside, as a command in TOML with more arguments.
    fn burglar(&self, more: &[&str]) -> String {
        let scenario = json!({
            "start": [
                {"write": path(&self.work().join("src/seen")),
                    "content": format!("$file{{{}}}", path(&self.home().join(".ssh/id")))},
                {"write": path(&self.outside())},
                {"write": path(&self.home().join("evil"))},
            ],
            "tools": [],
        });
        let mut command = scripted(&scenario.to_string());
        command.extend(more.iter().map(|it| (*it).to_owned()));
        serde_json::to_string(&command).unwrap()
    }

    #[track_caller]
    fn assert_nothing_was_taken(&self, why: &str) {
        assert_eq!(self.work_file("src/seen").as_deref(), Some("-"), "{why}");
        assert!(!self.outside().exists(), "{why}");
        assert!(!self.home().join("evil").exists(), "{why}");
        std::fs::remove_file(self.work().join("src/seen")).unwrap();
    }
}

/// What a pull request can write into its configuration.
#[test]
fn a_configuration_does_not_open_the_sandbox() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let command = place.burglar(&[]);
    let (home, work) = (place.home(), place.work());
    let secret = home.join(".ssh/id");
    for level in ["fs", "strict"] {
        for more in [
            "env = { TMPDIR = \"/\" }".to_owned(),
            format!("env = {{ TMPDIR = {home:?} }}"),
            format!("env = {{ HOME = {work:?} }}"),
            format!("env = {{ PATH = {:?} }}", home.join(".ssh")),
            format!("cwd = {home:?}"),
            format!("cwd = {:?}", home.join(".ssh")),
        ] {
            let config = format!("[server.a]\ncommand = {command}\n{more}\n");
            let args = ["capture", "a", "--sandbox", level];
            place.run_configured(&args, &config, &[]).exits(0);
            place.assert_nothing_was_taken(&format!("{level} {more}"));
        }
        let named = place.burglar(&[path(&secret)]);
        let config = format!("[server.a]\ncommand = {named}\n");
        let args = ["capture", "a", "--sandbox", level];
        place.run_configured(&args, &config, &[]).exits(0);
        place.assert_nothing_was_taken(level);
    }
    // A link in the working copy leads nowhere, even if the user types its name.
    std::os::unix::fs::symlink(&secret, work.join("index.js")).unwrap();
    let linked: Vec<String> = serde_json::from_str(&place.burglar(&["index.js"])).unwrap();
    place.run(&["capture", "--sandbox", "fs"], &linked).exits(0);
    place.assert_nothing_was_taken("a link");
    // What the user types is the user's own word.
    let typed: Vec<String> = serde_json::from_str(&place.burglar(&[path(&secret)])).unwrap();
    place.run(&["capture", "--sandbox", "fs"], &typed).exits(0);
    assert_eq!(
        place.work_file("src/seen").as_deref(),
        Some("the-private-key")
    );
}

#[test]
fn a_version_command_runs_in_the_sandbox_of_its_server() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let server = serde_json::to_string(&scripted(r#"{"tools": []}"#)).unwrap();
    let script = format!(
        "cat {}; touch {}; echo 1.2.3",
        path(&place.home().join(".ssh/id")),
        path(&place.outside())
    );
    let config =
        format!("[server.a]\ncommand = {server}\nversion = [\"sh\", \"-c\", {script:?}]\n");
    for level in ["fs", "strict"] {
        let args = ["pin", "a", "--sandbox", level];
        place.run_configured(&args, &config, &[]).exits(0);
        let baseline = place.work_file("mcp-baseline.json").unwrap();
        assert!(baseline.contains("1.2.3"), "{level}: {baseline}");
        assert!(!baseline.contains("the-private-key"), "{level}");
        assert!(!place.outside().exists(), "{level}");
    }
    place.run_configured(&["pin", "a"], &config, &[]).exits(0);
    assert!(place.outside().exists());
    // A command that the sandbox cannot start is reported as one.
    let config = config.replace("\"sh\", \"-c\"", "\"no-such-command\"");
    place
        .run_configured(&["pin", "a", "--sandbox", "fs"], &config, &[])
        .exits(2)
        .says("`no-such-command`");
}

#[test]
fn an_env_file_is_in_the_workspace() {
    let place = Place::new();
    let secret = place.home().join("secret.env");
    std::fs::write(&secret, "KEY=the-private-key\n").unwrap();
    std::os::unix::fs::symlink(&secret, place.work().join("link.env")).unwrap();
    std::fs::write(place.work().join("own.env"), "KEY=own\n").unwrap();
    let command =
        scripted(r#"{"start": [{"write": "src/seen", "content": "$env{KEY}"}], "tools": []}"#);
    let run = |file: &str, list: &Path| {
        let server = json!({"command": command[0], "args": [command[1]], "envFile": file,
            "cwd": path(&place.work())});
        std::fs::write(list, json!({"mcpServers": {"a": server}}).to_string()).unwrap();
        let args = ["capture", "a", "--from", path(list)];
        let run = place.run_configured(&args, "", &[]);
        let seen = place.work_file("src/seen");
        let _ = std::fs::remove_file(place.work().join("src/seen"));
        (run, seen)
    };
    let list = place.work().join(".mcp.json");
    for file in [path(&secret), "../home/secret.env", "link.env"] {
        let (run, seen) = run(file, &list);
        run.exits(2).says("outside of the workspace");
        assert_eq!(seen, None);
    }
    assert_eq!(run("own.env", &list).1.as_deref(), Some("own"));
    // A configuration in the workspace does not make another list the user's own.
    let elsewhere = place.root.path().join("elsewhere.json");
    run(path(&secret), &elsewhere);
    let config = format!("from = [{:?}]\n", path(&elsewhere));
    place
        .run_configured(&["capture", "a"], &config, &[])
        .exits(2)
        .says("outside of the workspace");
    // A list of the user's own names the user's own files.
    let own = place.home().join("mcp.json");
    let (_, seen) = run(path(&secret), &own);
    assert_eq!(seen.as_deref(), Some("the-private-key"));
}

/// A process outside, which ends with the test.
struct Outside(std::process::Child);

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_cannot_change_the_limits_and_priorities_of_others() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let [program, scenario]: [String; 2] = scripted(r#"{"tools":[]}"#).try_into().unwrap();
    for level in ["fs", "strict", "off"] {
        let victim = Outside(Command::new("sleep").arg("600").spawn().unwrap());
        let pid = victim.0.id();
        let state = || {
            let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
            let stat = read("stat");
            let after = stat.rsplit(')').next().unwrap().to_owned();
            let nice = after.split_whitespace().nth(16).unwrap().to_owned();
            let policy = after.split_whitespace().nth(38).unwrap().to_owned();
            (nice, policy, read("limits"))
        };
        let before = state();
        let script = format!(
            "prlimit --pid {pid} --nofile=10:10; renice -n 19 -p {pid}; chrt -i -p 0 {pid}; exec \"$@\""
        );
        let command = ["sh", "-c", &script, "sh", &program, &scenario].map(str::to_owned);
        place
            .run(&["capture", "--sandbox", level], &command)
            .exits(0);
        let is_same = state() == before;
        assert_eq!(
            is_same,
            level != "off",
            "{level}: {:?} {:?}",
            before,
            state()
        );
    }
}

#[test]
fn a_server_cannot_print_on_another_terminal() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    for level in ["fs", "strict", "off"] {
        let log = place.root.path().join(format!("terminal-{level}"));
        // A terminal with something in it.
        let terminal = Command::new("script")
            .args(["-q", "-f", "-c", "tty; exec sleep 600", path(&log)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let _terminal = Outside(terminal);
        let device = (0..2000)
            .find_map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                let shown = std::fs::read_to_string(&log).unwrap_or_default();
                let line = shown.lines().find(|it| it.trim().starts_with("/dev/pts/"));
                line.map(|it| it.trim().to_owned())
            })
            .expect("a terminal");
        let scenario =
            json!({"start": [{"write": device, "content": "PASS  forged"}], "tools": []});
        place
            .run(
                &["capture", "--sandbox", level],
                &scripted(&scenario.to_string()),
            )
            .exits(0);
        let forged = || std::fs::read_to_string(&log).unwrap().contains("forged");
        if level == "off" {
            let shown = (0..2000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                forged()
            });
            assert!(shown, "without a sandbox it can");
        } else {
            assert!(!forged(), "{level}");
        }
    }
}

#[test]
fn a_server_reaches_no_local_socket() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let socket = place
        .root
        .path()
        .canonicalize()
        .unwrap()
        .join("engine.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    // A link in the working copy is as good as the socket.
    let link = place.work().join("l");
    std::os::unix::fs::symlink(&socket, &link).unwrap();
    let scenario =
        json!({"start": [{"connect": path(&socket)}, {"connect": path(&link)}], "tools": []});
    let command = scripted(&scenario.to_string());
    for level in ["fs", "strict", "off"] {
        place
            .run(&["capture", "--sandbox", level], &command)
            .exits(0);
        // mcp-keel itself looks whether anything listens, and says nothing.
        let is_reached = std::iter::from_fn(|| listener.accept().ok()).any(|(mut stream, _)| {
            let mut said = String::new();
            stream.set_nonblocking(false).unwrap();
            stream.read_to_string(&mut said).unwrap();
            said == "hello"
        });
        assert_eq!(is_reached, level == "off", "{level}");
    }
    // In a workflow, that is reported.
    place.pinned();
    let host = format!("unix://{}", path(&socket));
    let server = serde_json::to_string(&scripted(r#"{"tools": []}"#)).unwrap();
    let config = format!("[server.scripted]\ncommand = {server}\n");
    let env = [("GITHUB_ACTIONS", "true"), ("DOCKER_HOST", &host)];
    let says = format!("the server can reach {}", path(&socket));
    place
        .run_configured(&["check"], &config, &env)
        .exits(0)
        .says(&says);
    place
        .run_configured(&["check", "--sandbox", "fs"], &config, &env)
        .exits(0)
        .says_nothing_of("can reach");
}

/// Root does not start a server as root unless the working copy is root's own.
#[test]
fn as_root_the_server_runs_as_the_owner_of_the_workspace_without_groups() {
    if !has_sandbox() {
        return;
    }
    use std::os::unix::fs::MetadataExt as _;
    let place = Place::new();
    let is_root = std::fs::metadata(place.work()).unwrap().uid() == 0;
    let (user, group) = if is_root {
        for folder in ["", "src", ".git"] {
            let path = place.work().join(folder);
            std::os::unix::fs::chown(path, Some(65534), Some(65533)).unwrap();
        }
        (65534, 65533)
    } else {
        let own = std::fs::metadata(place.work()).unwrap();
        (own.uid(), own.gid())
    };
    // The program may be where only root gets to.
    let program = place.work().join("src/server");
    std::fs::copy(&scripted("")[0], &program).unwrap();
    let evil = place.home().join(".bashrc");
    let scenario = json!({
        "start": [
            {"write": path(&place.work().join("src/seen")), "content": "$file{/proc/self/status}"},
            {"write": "/dev/stderr", "content": "opened"},
            {"connect": "127.0.0.1:9"},
            {"write": path(&evil)},
        ],
        "tools": [],
    });
    let command = [path(&program).to_owned(), scenario.to_string()];
    for level in ["fs", "strict"] {
        place
            .run(&["capture", "--sandbox", level], &command)
            .exits(0);
        let status = place.work_file("src/seen").unwrap();
        let line = |name: &str| {
            let line = status.lines().find(|it| it.starts_with(name)).unwrap();
            line.split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(line("Uid:"), [user; 4].map(|it| it.to_string()).join(" "));
        assert_eq!(line("Gid:"), [group; 4].map(|it| it.to_string()).join(" "));
        if is_root {
            assert_eq!(line("Groups:"), "", "{level}");
        }
        assert_eq!(line("CapEff:"), "0000000000000000", "{level}");
        assert_eq!(line("NoNewPrivs:"), "1", "{level}");
        std::fs::remove_file(place.work().join("src/seen")).unwrap();
    }
    assert!(!evil.exists());
}

#[test]
fn the_credentials_of_a_self_hosted_runner_are_hidden() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let runner = place.root.path().canonicalize().unwrap();
    for name in [".credentials", ".credentials_rsaparams", ".runner", "plain"] {
        std::fs::write(runner.join(name), "the-private-key").unwrap();
    }
    std::fs::create_dir_all(runner.join("temp")).unwrap();
    let other = place.work().join("other/.git");
    std::fs::create_dir_all(&other).unwrap();
    let token = "[http]\n\textraheader = AUTHORIZATION: basic abcdefgh\n";
    std::fs::write(other.join("config"), token).unwrap();
    let files = [
        runner.join(".credentials"),
        runner.join(".credentials_rsaparams"),
        runner.join(".runner"),
        other.join("config"),
        runner.join("plain"),
    ];
    let seen: Vec<String> = files
        .iter()
        .map(|it| format!("$file{{{}}}", path(it)))
        .collect();
    let scenario =
        json!({"start": [{"write": "src/seen", "content": seen.join("|")}], "tools": []});
    let command = serde_json::to_string(&scripted(&scenario.to_string())).unwrap();
    let config = format!("[server.a]\ncommand = {command}\n");
    let temp = runner.join("temp");
    let work = place.work();
    let env = [
        ("RUNNER_TEMP", path(&temp)),
        ("GITHUB_WORKSPACE", path(&work)),
    ];
    for level in ["fs", "strict"] {
        let args = ["capture", "a", "--sandbox", level];
        place.run_configured(&args, &config, &env).exits(0);
        assert_eq!(
            place.work_file("src/seen").as_deref(),
            Some("-|-|-|-|the-private-key"),
            "{level}"
        );
    }
}

#[test]
fn nothing_in_its_environment_tells_a_server_who_starts_it() {
    let place = Place::new();
    let command = scripted(
        r#"{"start": [{"write": "src/seen", "content": "$env{*} $file{/proc/self/cmdline} $file{/proc/self/comm}"}],
            "tools": []}"#,
    );
    for level in ["off", "fs", "strict"] {
        let args = ["capture", "--client", "zed", "--sandbox", level];
        place.run(&args, &command).exits(0);
        let seen = place.work_file("src/seen").unwrap();
        // The folders of this test are of course its own.
        let target = env!("CARGO_TARGET_TMPDIR").replace("/tmp", "");
        let seen = seen.replace(&target, "").to_lowercase();
        let names: Vec<&str> = seen.lines().filter_map(|it| it.split('=').next()).collect();
        assert!(
            !names.iter().any(|it| it.contains("keel")),
            "{level}: {seen}"
        );
        assert!(seen.contains("invocation_id="), "{level}: {seen}");
    }
}

//! External faults: the process is killed, the disk is full, a directory is not writable, another
//! process writes the same file. Committed data is never lost, and every error says what happened.

#![cfg(unix)]

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::keel::{Keel, serving};
use crate::machine::{git, repository};
use crate::scripted::scripted;

const TOOLS: &str = r#"[{"name":"greet","inputSchema":{"type":"object"}}]"#;
const BASELINE: &str = "mcp-baseline.json";

/// A folder with a baseline, and its bytes.
fn pinned() -> (Keel, String) {
    let keel = Keel::new();
    pin(&keel, "x", TOOLS).exits(0);
    let text = keel.read(BASELINE);
    (keel, text)
}

fn pin(keel: &Keel, server: &str, tools: &str) -> crate::keel::Run {
    keel.run_serving(&["pin", server], tools)
}

/// The running program, in the folder.
fn started(keel: &Keel, args: &[&str], server: &[String]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mcp-keel"))
        .args(args)
        .arg("--")
        .args(server)
        .current_dir(keel.folder())
        .env("HOME", keel.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A shell that runs the program after `before`.
fn shell(keel: &Keel, before: &str, args: &[&str]) -> crate::keel::Run {
    let output = Command::new("sh")
        .args(["-c", &format!("{before}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_mcp-keel"))
        .args(args)
        .current_dir(keel.folder())
        .env("HOME", keel.folder())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    crate::keel::Run {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

fn wait_for(path: &Path, line: &str, running: &mut Child) {
    while !std::fs::read_to_string(path).is_ok_and(|text| text.contains(line)) {
        assert_eq!(running.try_wait().unwrap(), None, "it ended too early");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn files(keel: &Keel) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(keel.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn killed_at_any_stage_of_a_capture_pin_leaves_the_old_baseline_and_nothing_else() {
    let (keel, before) = pinned();
    let elsewhere = tempfile::tempdir().unwrap();
    for (stage, silent) in [
        ("\"initialize\"", json!({"initialize": []})),
        ("\"tools/list\"", json!({"tools/list": []})),
        ("<eof>", json!({})),
    ] {
        let log = elsewhere
            .path()
            .join(stage.trim_matches(['"', '<', '>']).replace('/', "-"));
        let scenario = json!({
            "tools": [], "on": silent, "log": log,
            // Long enough to be killed in; it ends by itself, because nothing is left to end it.
            "eof": [{"sleep_ms": 1500}],
        });
        let mut server = vec![
            "sh".into(),
            "-c".into(),
            "trap '' TERM; exec \"$0\" \"$@\"".into(),
        ];
        server.extend(scripted(&scenario.to_string()));
        let mut running = started(&keel, &["pin", "x"], &server);
        wait_for(&log, stage, &mut running);
        running.kill().unwrap();
        running.wait().unwrap();
        assert_eq!(keel.read(BASELINE), before, "killed at {stage}");
        assert_eq!(files(&keel), [BASELINE], "killed at {stage}");
    }
}

#[test]
fn killed_at_any_moment_pin_leaves_the_old_baseline_or_the_new_one() {
    let (keel, old) = pinned();
    let long: String = (0..400)
        .map(|number| format!(r#"{{"name":"t{number}","inputSchema":{{"type":"object"}}}}"#))
        .collect::<Vec<_>>()
        .join(",");
    let long = format!("[{long}]");
    pin(&keel, "x", &long).exits(0);
    let new = keel.read(BASELINE);
    let server = scripted(&format!("{{\"tools\":{long}}}"));
    for delay in (0..240).step_by(12) {
        keel.write(BASELINE, &old);
        let mut running = started(&keel, &["pin", "x"], &server);
        std::thread::sleep(Duration::from_millis(delay));
        running.kill().unwrap();
        running.wait().unwrap();
        let found = keel.read(BASELINE);
        assert!(
            found == old || found == new,
            "killed after {delay} ms: {found}"
        );
    }
}

#[test]
fn a_baseline_is_replaced_atomically_and_never_overwritten() {
    let (keel, before) = pinned();
    let (path, link) = (keel.folder().join(BASELINE), keel.folder().join("link"));
    std::fs::hard_link(&path, &link).unwrap();
    pin(&keel, "x", "[]").exits(0);
    assert_ne!(keel.read(BASELINE), before);
    // The old file is unchanged: a new one was put in its place.
    assert_eq!(keel.read("link"), before);
    assert_ne!(
        path.metadata().unwrap().ino(),
        link.metadata().unwrap().ino()
    );
    assert_eq!(files(&keel), ["link", BASELINE]);
}

#[test]
fn old_leftovers_of_a_killed_run_are_removed() {
    let (keel, _) = pinned();
    let hours_ago = std::time::SystemTime::now() - Duration::from_secs(3 * 3600);
    for (name, old) in [
        (".mcp-keel-old", true),
        (".mcp-keel-new", false),
        ("mine", true),
    ] {
        keel.write(name, "left");
        let file = std::fs::File::options()
            .write(true)
            .open(keel.folder().join(name));
        if old {
            file.unwrap().set_modified(hours_ago).unwrap();
        }
    }
    pin(&keel, "x", "[]").exits(0);
    assert_eq!(files(&keel), [".mcp-keel-new", BASELINE, "mine"]);
}

#[test]
fn a_full_disk_is_an_error_and_the_old_baseline_is_kept() {
    let (keel, before) = pinned();
    let [program, scenario] = serving("[]");
    // No file may grow beyond 512 bytes; writing more fails like a full disk.
    let full = "trap '' XFSZ; ulimit -f 1";
    let pin = ["pin", "x", "--", &program, &scenario];
    shell(&keel, full, &pin)
        .exits(2)
        .names(&["mcp-baseline.json:", "File too large"]);
    assert_eq!(keel.read(BASELINE), before);
    assert_eq!(files(&keel), [BASELINE]);
    let capture = ["capture", "-o", "capture.json", "--", &program, &scenario];
    shell(&keel, full, &capture).exits(0);
    let check = [
        "check",
        "x",
        "--report",
        "html=report.html",
        "--",
        &program,
        &scenario,
    ];
    shell(&keel, full, &check).exits(2).says("report.html:");
    assert_eq!(files(&keel), ["capture.json", BASELINE]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_never_replaced() {
    let (keel, _) = pinned();
    let [program, scenario] = serving(TOOLS);
    let end = ["--", &program, &scenario];
    let report = [&["check", "x", "--report", "json=/dev/full"][..], &end].concat();
    keel.run(&report)
        .exits(2)
        .names(&["/dev/full:", "No space left on device"]);
    let report = [&["check", "x", "--report", "json=/dev/null"][..], &end].concat();
    keel.run(&report).exits(0);
    let full = std::fs::metadata("/dev/full").unwrap();
    assert!(!full.is_file() && !full.is_dir());
    // A full stdout is not "clean".
    shell(
        &keel,
        "exec >/dev/full",
        &[&["check", "x"][..], &end].concat(),
    )
    .exits(2)
    .says("stdout");
}

#[test]
fn unwritable_places_are_named() {
    let (keel, _) = pinned();
    keel.write("folder/file", "text");
    for (path, problem) in [
        ("folder", "cannot read it: not a regular file (directory)"),
        ("folder/file/baseline.json", "Not a directory"),
        #[cfg(target_os = "linux")]
        (
            "/proc/baseline.json",
            "/proc/baseline.json: cannot write it",
        ),
    ] {
        keel.run_serving(&["pin", "x", "--baseline", path], TOOLS)
            .exits(2)
            .says(problem)
            .says("help:");
    }
    keel.run_serving(&["check", "x", "--baseline", "folder"], TOOLS)
        .exits(2)
        .says("folder:");
    keel.run_serving(&["capture", "-o", "folder"], TOOLS)
        .exits(2)
        .says("folder:");
}

#[test]
fn an_endless_baseline_is_not_read_to_its_end() {
    let keel = Keel::new();
    std::os::unix::fs::symlink("/dev/zero", keel.folder().join(BASELINE)).unwrap();
    keel.run_serving(&["check", "x"], TOOLS)
        .exits(2)
        .says("mcp-baseline.json: cannot read it: not a regular file (pipe or device)");
}

#[test]
fn two_concurrent_pins_lose_nothing() {
    let (keel, _) = pinned();
    let elsewhere = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c"];
    let mut running: Vec<Child> = names
        .iter()
        .map(|name| {
            // Each responds once all of them have read the baseline and been started.
            let log = elsewhere.path().join(name);
            let scenario = json!({"tools": [], "log": log, "on": {"tools/list": [{"sleep_ms": 700}, "answer"]}});
            let mut one = started(&keel, &["pin", name], &scripted(&scenario.to_string()));
            wait_for(&log, "tools/list", &mut one);
            one
        })
        .collect();
    for one in &mut running {
        assert!(one.wait().unwrap().success());
    }
    let written: serde_json::Value = serde_json::from_str(&keel.read(BASELINE)).unwrap();
    let servers: Vec<&String> = written["servers"].as_object().unwrap().keys().collect();
    assert_eq!(servers, ["a", "b", "c", "x"]);
    keel.run(&["fingerprint", BASELINE, "--server", "b"])
        .exits(0);
}

#[test]
fn an_entry_that_changed_meanwhile_is_not_overwritten() {
    let (keel, old) = pinned();
    pin(&keel, "x", "[]").exits(0);
    let other = keel.read(BASELINE);
    keel.write(BASELINE, &old);
    pin(&keel, "y", "[]").exits(0);
    let more = keel.read(BASELINE);
    let replacing = |content: &str| {
        keel.write(BASELINE, &old);
        let scenario = json!({"tools": [{"name": "mine"}], "on": {
            "tools/list": [{"write": BASELINE, "content": content}, "answer"]}});
        let server = scripted(&scenario.to_string());
        keel.run(&["pin", "x", "--", &server[0], &server[1]])
    };
    replacing(&other).exits(2).says("`x`").says("pin again");
    assert_eq!(keel.read(BASELINE), other);
    // Changes to another server's entry are kept.
    replacing(&more).exits(0);
    let merged = keel.read(BASELINE);
    assert!(
        merged.contains("\"y\"") && merged.contains("\"mine\""),
        "{merged}"
    );
    replacing("{").exits(2).says("not JSON");
    assert_eq!(keel.read(BASELINE), "{");
}

#[test]
fn a_link_to_a_baseline_stays_a_link() {
    let (keel, before) = pinned();
    std::fs::create_dir(keel.folder().join("real")).unwrap();
    let real = keel.folder().join("real/baseline.json");
    std::fs::rename(keel.folder().join(BASELINE), &real).unwrap();
    std::os::unix::fs::symlink("real/baseline.json", keel.folder().join(BASELINE)).unwrap();
    pin(&keel, "x", "[]").exits(0);
    assert!(keel.folder().join(BASELINE).is_symlink());
    assert_ne!(std::fs::read_to_string(&real).unwrap(), before);
    assert_eq!(files(&keel), [BASELINE, "real"]);
}

#[test]
fn git_runs_no_program_that_a_repository_names() {
    let keel = Keel::new().file("tools.json", r#"{"tools":[{"name":"a"}]}"#);
    keel.write(".gitattributes", "*.json diff=evil\n");
    repository(keel.folder());
    let evil = keel.folder().join("evil");
    let marker = keel.folder().join("ran");
    keel.write(
        "evil",
        &format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\ncat \"$1\"\n",
            marker.display()
        ),
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&evil, mode).unwrap();
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "pager.show",
        "diff.evil.textconv",
        "diff.evil.command",
        "credential.helper",
        "core.askPass",
        "core.sshCommand",
    ] {
        git(keel.folder(), &["config", setting, evil.to_str().unwrap()]);
    }
    keel.run(&["diff", "git:HEAD:tools.json", "tools.json"])
        .exits(0)
        .says("no difference");
    // Declarations are located through git as well.
    keel.run_serving(&["pin", "x"], r#"[{"name":"a"}]"#)
        .exits(0);
    keel.run_serving(&["check", "x"], r#"[{"name":"a","description":"new"}]"#)
        .exits(1);
    assert!(!marker.exists(), "{}", keel.read("ran"));
}

#[test]
fn a_pipe_without_a_writer_does_not_block() {
    let (keel, _) = pinned();
    let [program, scenario] = serving(TOOLS);
    // Created by the server itself, between `pin`'s two reads.
    let script = format!("rm -f {BASELINE}; mkfifo {BASELINE}; exec \"$0\" \"$1\"");
    let server = ["--", "sh", "-c", &script, &program, &scenario];
    let args = [&["pin", "x"][..], &server].concat();
    keel.run(&args)
        .exits(2)
        .says("not a regular file (pipe or device)");
    for args in [
        &["check", "x", "--", "sh"][..],
        &["check", "--config", BASELINE],
        &["check", "--from", BASELINE],
        &["merge", BASELINE],
    ] {
        keel.run(args)
            .exits(2)
            .says("not a regular file (pipe or device)");
    }
}

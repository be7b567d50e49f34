//! A pipe in place of a file is refused, wherever a path can be given. Waiting for its other end
//! could take forever.

use std::sync::mpsc;
use std::time::Duration;

use nix::sys::stat::Mode;

use crate::keel::{Keel, Run, serving};

const PIPE: &str = "pipe";
const REFUSED: &str = "not a regular file (pipe or device)";
const UNREAD: &str = "a pipe without a reader";
const TOOLS: &str = r#"[{"name":"a","inputSchema":{"type":"object"}}]"#;

/// A folder with a pipe and a list of tools.
fn keel() -> Keel {
    let keel = Keel::new().file("tools.json", &format!("{{\"tools\": {TOOLS}}}"));
    pipe(&keel, PIPE);
    keel
}

fn pipe(keel: &Keel, name: &str) {
    let path = keel.folder().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
}

/// Runs it. If it waits for the other end of the pipe after all, that end is opened and closed
/// after a while, so that the test fails by the output instead of hanging.
fn run(keel: &Keel, name: &str, args: &[&str], env: &[(&str, &str)]) -> Run {
    let path = keel.folder().join(name);
    let (done, is_done) = mpsc::channel::<()>();
    let rescue = std::thread::spawn(move || {
        while is_done.recv_timeout(Duration::from_secs(15)) == Err(mpsc::RecvTimeoutError::Timeout)
        {
            // Both ends: whichever it waits for.
            let both = std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(&path);
            drop(both);
        }
    });
    let run = keel.run_with_env(args, env);
    drop(done);
    rescue.join().unwrap();
    run
}

#[test]
fn sources() {
    let keel = keel();
    let digests = format!("{{\"tool:a\": \"{}\"}}", "0".repeat(64));
    keel.write("digests.json", &digests);
    for args in [
        &["diff", PIPE, "tools.json"][..],
        &["diff", "tools.json", PIPE],
        &["fingerprint", PIPE],
        &["scan", PIPE],
        &["import", PIPE],
        &["import", "digests.json", "--with", PIPE],
    ] {
        run(&keel, PIPE, args, &[]).exits(2).says(REFUSED);
    }
}

#[test]
fn locks_chains_reports_and_timings() {
    let keel = keel().file("mcp-keel.toml", "[server.x]\ncommand = [\"true\"]\n");
    for args in [
        &["verify", "--lock", PIPE][..],
        &["chain", "show", PIPE],
        &["chain", "verify", PIPE],
        &["chain", "verify", PIPE, "tools.json"],
        &["chain", "freeze", PIPE],
        &["chain", "integrity", PIPE],
        &["merge", PIPE],
        &["merge", PIPE, "tools.json"],
        &["plan", "--shards", "2", "--timings", PIPE],
        &["check", "--shard", "1/2", "--timings", PIPE],
    ] {
        let run = run(&keel, PIPE, args, &[]);
        assert_ne!(run.code, 0, "{args:?}");
        run.says(REFUSED);
    }
}

#[test]
fn keys_and_signatures() {
    let keel = keel();
    let [program, scenario] = serving(TOOLS);
    let pin = |more: &[&str]| {
        let first = ["pin", "x", "--format", "toolpin"];
        let args = [&first[..], more, &["--", &program, &scenario]].concat();
        run(&keel, PIPE, &args, &[])
    };
    pin(&[]).exits(0);
    pin(&["--sign-key", PIPE]).exits(2).says(REFUSED);
    let args = ["verify", "--lock", "mcp-lock.json", "--public-key", PIPE];
    let run = run(&keel, PIPE, &args, &[]);
    assert_ne!(run.code, 0);
    run.says(REFUSED);
}

#[test]
fn files_of_a_folder_that_is_read_whole() {
    let keel = keel();
    pipe(&keel, "snaps/a.json");
    run(&keel, "snaps/a.json", &["import", "snaps"], &[])
        .exits(2)
        .says(REFUSED);
    run(&keel, "snaps/a.json", &["merge", "snaps"], &[])
        .exits(2)
        .says(REFUSED);
}

#[test]
fn configurations_and_the_files_they_name() {
    let keel = keel();
    for args in [
        &["check", "--config", PIPE][..],
        &["pin", "--config", PIPE],
        &["capture", "--config", PIPE],
        &["verify", "--config", PIPE],
        &["check", "--from", PIPE],
        &["check", "--from", PIPE, "--from-format", "codex"],
        &["check", "--url", "https://127.0.0.1:1/mcp", "--ca", PIPE],
    ] {
        run(&keel, PIPE, args, &[]).exits(2).says(REFUSED);
    }
    let server = "[server.x]\ncommand = [\"true\"]\n";
    for (toml, args, code) in [
        ("from = \"pipe\"\n".to_owned(), &["check"][..], 2),
        (format!("baseline = \"pipe\"\n{server}"), &["check"], 2),
        (
            "[server.x]\nurl = \"https://127.0.0.1:1/mcp\"\nca = \"pipe\"\n".to_owned(),
            &["check"],
            2,
        ),
        (
            format!(
                "{server}[server.x.verify]\ntype = \"file\"\npath = \"pipe\"\nvalue = \"{}\"\n",
                "0".repeat(64)
            ),
            &["verify"],
            4,
        ),
    ] {
        keel.write("mcp-keel.toml", &toml);
        run(&keel, PIPE, args, &[]).exits(code).says(REFUSED);
    }
    keel.write(
        "mcp.json",
        r#"{"mcpServers": {"x": {"command": "true", "envFile": "pipe"}}}"#,
    );
    run(
        &keel,
        PIPE,
        &["check", "--from", "mcp.json", "--config", "/dev/null"],
        &[],
    )
    .says(REFUSED);
}

#[test]
fn the_file_that_a_version_is_read_from() {
    let keel = keel();
    let [program, scenario] = serving(TOOLS);
    let server = |version: &str| {
        format!("[server.x]\ncommand = ['{program}', '{scenario}']\nversion = \"{version}\"\n")
    };
    keel.write("mcp-keel.toml", &server(PIPE));
    run(&keel, PIPE, &["pin"], &[]).exits(2).says(REFUSED);
    // Only looked for, not named: a pipe counts as no file.
    pipe(&keel, "package.json");
    keel.write("start.sh", &format!("exec '{program}' '{scenario}'\n"));
    keel.write(
        "mcp-keel.toml",
        "[server.x]\ncommand = [\"sh\", \"./start.sh\"]\n",
    );
    run(&keel, "package.json", &["pin"], &[]).exits(0);
}

#[test]
fn baselines() {
    let keel = keel();
    let [program, scenario] = serving(TOOLS);
    for command in ["check", "pin"] {
        let args = [command, "x", "--baseline", PIPE, "--", &program, &scenario];
        run(&keel, PIPE, &args, &[]).exits(2).says(REFUSED);
    }
}

/// An output file may be a pipe, as long as something reads it.
#[test]
fn output_files() {
    let keel = keel();
    let [program, scenario] = serving(TOOLS);
    run(
        &keel,
        PIPE,
        &["capture", "-o", PIPE, "--", &program, &scenario],
        &[],
    )
    .exits(2)
    .says(UNREAD);
    run(
        &keel,
        PIPE,
        &["diff", "tools.json", "tools.json", "--report", "json=pipe"],
        &[],
    )
    .exits(2)
    .says(UNREAD);
    run(
        &keel,
        PIPE,
        &["import", "tools.json", "-o", PIPE, "--force"],
        &[],
    )
    .exits(2)
    .says(UNREAD);
    keel.run(&["pin", "x", "--", &program, &scenario]).exits(0);
    // Timings are merged into an existing file.
    run(
        &keel,
        PIPE,
        &[
            "check",
            "x",
            "--record-timings",
            PIPE,
            "--",
            &program,
            &scenario,
        ],
        &[],
    )
    .exits(2)
    .says(REFUSED);
    let reader = keel.folder().join(PIPE);
    let reader = std::thread::spawn(move || std::fs::read_to_string(reader).unwrap());
    // Waits for the reader, which `mcp-keel` does not.
    let opened = std::fs::OpenOptions::new()
        .write(true)
        .open(keel.folder().join(PIPE))
        .unwrap();
    keel.run(&["diff", "tools.json", "tools.json", "--report", "json=pipe"])
        .exits(0);
    drop(opened);
    assert!(reader.join().unwrap().contains("\"reportVersion\": 1"));
}

/// `<(command)` and standard input by name are legitimate pipes.
#[test]
fn an_inherited_pipe_is_read() {
    let keel = keel();
    let list = keel.read("tools.json");
    keel.run_with_input(&["diff", "/dev/stdin", "tools.json"], &list)
        .exits(0);
    keel.run_with_input(&["fingerprint", "/proc/self/fd/0"], &list)
        .exits(0);
    keel.run(&[
        "plan",
        "--config",
        "/dev/null",
        "--shards",
        "1",
        "--",
        "true",
    ])
    .exits(0);
}

/// What the runner reads after a step: the step ends as it would without them, and says what it could not write.
#[test]
fn outputs_and_the_job_summary() {
    let keel = keel();
    let [program, scenario] = serving(TOOLS);
    keel.run(&["pin", "x", "--", &program, &scenario]).exits(0);
    keel.write("event.json", "{}");
    let at = |name: &str| keel.folder().join(name).to_string_lossy().into_owned();
    let (event, pipe, folder) = (at("event.json"), at(PIPE), at(""));
    let command = shlex::try_join([program.as_str(), scenario.as_str()]).unwrap();
    let sha = "3".repeat(40);
    for (file, what) in [
        ("GITHUB_OUTPUT", "write the outputs"),
        ("GITHUB_STEP_SUMMARY", "write the job summary"),
    ] {
        let env = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_EVENT_NAME", "push"),
            ("GITHUB_EVENT_PATH", &event),
            ("GITHUB_REPOSITORY", "octo/weather"),
            ("GITHUB_RUN_ID", "42"),
            ("GITHUB_SHA", &sha),
            ("GITHUB_WORKSPACE", &folder),
            ("INPUT_COMMAND", &command),
            ("INPUT_SERVERS", "x"),
            (file, &pipe),
        ];
        let run = run(&keel, PIPE, &["action"], &env).exits(0);
        run.says(what).says(UNREAD);
    }
}

/// Sources are looked through for the line that declares a tool; a pipe among them is skipped.
#[test]
fn sources_that_may_declare_a_tool() {
    let tools = |text: &str| {
        format!(r#"[{{"name":"get","description":"{text}","inputSchema":{{"type":"object"}}}}]"#)
    };
    let keel = Keel::new().file("src/b.ts", "\nserver.registerTool('get', {}, f);\n");
    pipe(&keel, "src/a.ts");
    let [program, scenario] = serving(&tools("Gets."));
    keel.run(&["pin", "x", "--", &program, &scenario]).exits(0);
    let [program, scenario] = serving(&tools("Gets a thing."));
    let args = ["check", "x", "--format", "json", "--", &program, &scenario];
    let report = run(&keel, "src/a.ts", &args, &[]).exits(1).json();
    assert_eq!(
        report["servers"][0]["changes"][0]["source"]["path"],
        "src/b.ts"
    );
}

/// A sandbox looks there for a token that a checkout left behind.
#[test]
fn the_configuration_of_git() {
    let keel = Keel::new();
    pipe(&keel, ".git/config");
    let [program, scenario] = serving(TOOLS);
    for command in ["pin", "check"] {
        let args = [command, "x", "--sandbox", "fs", "--", &program, &scenario];
        run(&keel, ".git/config", &args, &[]).exits(0);
    }
}

#[test]
fn a_frozen_chain() {
    let keel = keel().file(
        "subprocess.json",
        r#"{"tool_id": "subprocess", "version": "1.0.0", "tool_type": "primitive", "executor": null}"#,
    );
    let freeze = |file: &str| {
        run(
            &keel,
            PIPE,
            &["chain", "freeze", "subprocess.json", "-o", file],
            &[],
        )
    };
    freeze("lock.json").exits(0);
    freeze(PIPE).exits(2).says(UNREAD);
}

#[test]
fn files_of_the_runner() {
    let keel = keel();
    let at = |name: &str| keel.folder().join(name).to_string_lossy().into_owned();
    let event = at(PIPE);
    run(
        &keel,
        PIPE,
        &["action"],
        &[("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_PATH", &event)],
    )
    .exits(2)
    .says(REFUSED);
}

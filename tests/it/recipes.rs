//! The workflows in `docs/workflows`: their shell steps, run with stand-ins for the runner's
//! programs.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::keel::{Keel, Run};

/// The shell of the step with this `name:` or `id:`.
fn step(workflow: &str, called: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/workflows");
    let text = std::fs::read_to_string(path.join(workflow)).unwrap();
    let after = text.split(called).nth(1).expect("the step is there");
    let script = after.split("run: |\n").nth(1).expect("it has a script");
    let indent = script.len() - script.trim_start().len();
    script
        .lines()
        .take_while(|line| line.is_empty() || line.len() - line.trim_start().len() >= indent)
        .map(|line| format!("{}\n", line.get(indent..).unwrap_or_default()))
        .collect()
}

/// A program that logs how it was called, and prints `answer`.
fn program(keel: &Keel, name: &str, answer: &str) {
    let path = keel.folder().join("bin").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let log = keel.folder().join("log");
    let script = format!(
        "#!/bin/sh\necho {name} \"$@\" >> '{}'\n{answer}\n",
        log.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn shell(keel: &Keel, script: &str, env: &[(&str, &str)]) -> (Run, String) {
    let _ = std::fs::remove_file(keel.folder().join("log"));
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-e", "-c", script])
        .current_dir(keel.folder())
        .env_clear()
        .env(
            "PATH",
            format!("{}:{path}", keel.folder().join("bin").display()),
        )
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let run = Run {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    let log = std::fs::read_to_string(keel.folder().join("log")).unwrap_or_default();
    (run, log)
}

#[test]
fn watching_keeps_one_issue() {
    let keel = Keel::new().file("drift.md", "## mcp-keel: BLOCK\n\nweather drifted.\n");
    let script = step("watch.yml", "name: One issue");
    let watch = |open: &str, verdict: &str, drift: &str| {
        program(
            &keel,
            "gh",
            &format!("case \"$2\" in list) printf '{open}' ;; esac"),
        );
        let env = [
            ("VERDICT", verdict),
            ("DRIFT", drift),
            ("RUN", "https://example.com/run/1"),
        ];
        let (run, log) = shell(&keel, &script, &env);
        let calls: Vec<String> = log
            .lines()
            .map(|line| {
                line.split(' ')
                    .skip(1)
                    .take(3)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .filter(|call| !call.starts_with("issue list"))
            .collect();
        (run, calls)
    };
    let (run, calls) = watch("", "block", "true");
    run.exits(0);
    assert_eq!(
        calls,
        ["label create mcp-keel-watch", "issue create --title"]
    );
    let body = keel.read("body.md");
    assert!(
        body.contains("weather drifted.") && body.contains("https://example.com/run/1"),
        "{body}"
    );

    let (run, calls) = watch("12", "block", "true");
    run.exits(0);
    assert_eq!(calls, ["issue edit 12"]);
    let (run, calls) = watch("12", "pass", "false");
    run.exits(0);
    assert_eq!(calls, ["issue close 12"]);
    let (run, calls) = watch("", "pass", "false");
    run.exits(0);
    assert_eq!(calls, [""; 0]);
    // An unknown verdict closes nothing, and is not a success.
    for verdict in ["undetermined", ""] {
        let (run, calls) = watch("12", verdict, "false");
        run.exits(3);
        assert_eq!(calls, [""; 0]);
    }
    keel.write(
        "drift.md",
        &format!(
            "## mcp-keel: BLOCK\n\nweather drifted.\n{}",
            "x\n".repeat(40_000)
        ),
    );
    watch("", "block", "true").0.exits(0);
    let body = keel.read("body.md");
    assert!(body.len() < 1_000 && body.contains("too long"), "{body}");
}

#[test]
fn the_matrix_of_a_fleet_becomes_an_output() {
    let keel = crate::fleet::pinned(3, &[]);
    // The image is this program.
    let program_path = env!("CARGO_BIN_EXE_mcp-keel");
    let answer = format!("while [ \"$1\" != plan ]; do shift; done; exec '{program_path}' \"$@\"");
    program(&keel, "docker", &answer);
    let output = keel.folder().join("output");
    let env = [
        ("IMAGE", "image"),
        ("SHARDS", "2"),
        ("GITHUB_OUTPUT", output.to_str().unwrap()),
    ];
    let (run, log) = shell(&keel, &step("fleet.yml", "- id: plan"), &env);
    run.exits(0);
    assert!(
        log.contains("--workdir /work image plan --shards 2 --format github-matrix"),
        "{log}"
    );
    let written = keel.read("output");
    let matrix = written.strip_prefix("matrix=").unwrap();
    let matrix: serde_json::Value = serde_json::from_str(matrix.trim_end()).unwrap();
    assert_eq!(matrix["include"][1]["shard"], "2/2");
    // The name of an artifact cannot contain a slash.
    let (run, _) = {
        let script = "echo \"name=${SHARD//\\//-of-}\" >> \"$GITHUB_OUTPUT\"";
        let text = std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/workflows/fleet.yml"),
        );
        assert!(text.unwrap().contains(script));
        shell(
            &keel,
            script,
            &[
                ("SHARD", "2/4"),
                ("GITHUB_OUTPUT", output.to_str().unwrap()),
            ],
        )
    };
    run.exits(0);
    assert!(keel.read("output").ends_with("name=2-of-4\n"));
}

//! The workflows in `docs/workflows`: their shell steps, run with stand-ins for the runner's
//! programs. And which jobs of a release may write.

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
    let keel = Keel::new()
        .file("drift.md", "## mcp-keel: BLOCK\n\nweather drifted.\n")
        .file("temp/body.md", "");
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
            ("BODY", "temp/body.md"),
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
    let body = keel.read("temp/body.md");
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
    let body = keel.read("temp/body.md");
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

/// The stand-in for `gh` of the workflow that pins.
const GH: &str = r#"
case "$*" in
  *collaborators*) printf "$LEVEL" ;;
  *pulls*) printf "$HEAD_SHA\t$FROM\ta/branch" ;;
  "run list"*) printf "$RUN_ID" ;;
  "run download"*) mkdir -p "$PROPOSAL"; printf '{}' > "$PROPOSAL/mcp-baseline.json" ;;
  *blobs*) cat > blob.json; printf 1111 ;;
  *trees*) cat > tree.json; printf 2222 ;;
  *git/ref/*) printf '%b' "$FOUND" ;;
  *"git/commits --input"*) cat > commit.json; printf 3333 ;;
  *git/commits*) printf 4444 ;;
esac"#;

#[test]
fn a_baseline_is_pinned_only_for_people_who_can_push_and_for_the_head_that_was_checked() {
    let keel = Keel::new();
    program(&keel, "gh", GH);
    let script = step("pin.yml", "name: Find the proposal");
    let find = |level: &str, from: &str, run: &str| {
        let output = keel.folder().join("output").to_string_lossy().into_owned();
        let env = [
            ("GH_REPO", "octo/weather"),
            ("NUMBER", "7"),
            ("ACTOR", "mona"),
            ("LEVEL", level),
            ("FROM", from),
            ("RUN_ID", run),
            ("HEAD_SHA", "5555"),
            ("PROPOSAL", "temp/proposal"),
            ("GITHUB_OUTPUT", &output),
        ];
        shell(&keel, &script, &env)
    };
    for (level, from, run, problem) in [
        ("read", "octo/weather", "9", "only people who can push"),
        ("triage", "octo/weather", "9", "only people who can push"),
        (
            "write",
            "someone/weather",
            "9",
            "in the fork someone/weather",
        ),
        ("write", "octo/weather", "", "no run of the workflow"),
    ] {
        let (run, log) = find(level, from, run);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stdout.contains(problem), "{}", run.stdout);
        assert!(!log.contains("download"), "{log}");
    }
    let (run, log) = find("write", "octo/weather", "9");
    run.exits(0);
    assert!(
        log.contains("run list --workflow mcp-keel --commit 5555"),
        "{log}"
    );
    assert!(
        log.contains("run download 9 --name mcp-keel-baseline"),
        "{log}"
    );
    assert_eq!(keel.read("output"), "head=5555\nbranch=a/branch\n");
}

#[test]
fn what_is_committed_is_one_baseline_upon_the_head_that_was_checked() {
    let keel = Keel::new().file("temp/proposal/mcp-baseline.json", "{\"a\": 1}");
    program(&keel, "gh", GH);
    program(&keel, "docker", "exit $INVALID");
    let script = step("pin.yml", "name: Commit the proposal");
    let commit = |invalid: &str| {
        let env = [
            ("GH_REPO", "octo/weather"),
            ("HEAD", "5555"),
            ("BRANCH", "a/branch"),
            ("FOUND", "refs/heads/a/branch\\t5555"),
            ("PROPOSAL", "temp/proposal"),
            ("ACTOR", "mona"),
            ("IMAGE", "image"),
            ("BASELINE", "mcp-baseline.json"),
            ("INVALID", invalid),
        ];
        shell(&keel, &script, &env)
    };
    let (run, log) = commit("0");
    run.exits(0);
    let last = log.lines().last().unwrap();
    assert_eq!(
        last,
        "gh api --method PATCH repos/octo/weather/git/refs/heads/a%2Fbranch -f sha=3333 -F force=false"
    );
    let json =
        |name: &str| -> serde_json::Value { serde_json::from_str(&keel.read(name)).unwrap() };
    assert_eq!(json("blob.json")["content"], "eyJhIjogMX0=");
    assert_eq!(json("tree.json")["base_tree"], "4444");
    assert_eq!(json("tree.json")["tree"][0]["path"], "mcp-baseline.json");
    assert_eq!(json("commit.json")["parents"], serde_json::json!(["5555"]));
    // A baseline that does not hold is not committed.
    let (run, log) = commit("2");
    assert_eq!(run.code, 2);
    assert!(!log.contains("git/"), "{log}");
    // Neither is anything else that the run has uploaded.
    keel.write("temp/proposal/.github/workflows/evil.yml", "");
    let (run, log) = commit("0");
    assert_eq!(run.code, 1);
    assert!(!log.contains("docker") && !log.contains("git/"), "{log}");
    std::fs::remove_dir_all(keel.folder().join("temp/proposal/.github")).unwrap();
    std::fs::remove_file(keel.folder().join("temp/proposal/mcp-baseline.json")).unwrap();
    std::os::unix::fs::symlink(
        "/etc/passwd",
        keel.folder().join("temp/proposal/mcp-baseline.json"),
    )
    .unwrap();
    let (run, log) = commit("0");
    assert_eq!((run.code, log.as_str()), (1, ""));
}

/// Git allows `main#x`, and what follows the sign is no part of an address.
#[test]
fn only_the_branch_of_the_pull_request_is_moved() {
    let keel = Keel::new().file("temp/proposal/mcp-baseline.json", "{}");
    program(&keel, "gh", GH);
    program(&keel, "docker", "");
    let script = step("pin.yml", "name: Commit the proposal");
    let pin = |branch: &str, found: &str| {
        let env = [
            ("GH_REPO", "octo/weather"),
            ("HEAD", "5555"),
            ("BRANCH", branch),
            ("FOUND", found),
            ("PROPOSAL", "temp/proposal"),
            ("ACTOR", "mona"),
            ("IMAGE", "image"),
            ("BASELINE", "mcp-baseline.json"),
        ];
        shell(&keel, &script, &env)
    };
    for (branch, address) in [("main#x", "main%23x"), ("main?a=%23", "main%3Fa%3D%2523")] {
        let (run, log) = pin(branch, &format!("refs/heads/{branch}\t5555"));
        run.exits(0);
        let moved = format!("PATCH repos/octo/weather/git/refs/heads/{address} -f");
        assert!(log.contains(&moved), "{log}");
        for other in [
            "refs/heads/main\t5555",
            &format!("refs/heads/{branch}\t6666"),
            "",
        ] {
            let (run, log) = pin(branch, other);
            assert_eq!(run.code, 1, "{run:?}");
            assert!(!log.contains("PATCH") && !log.contains("--input"), "{log}");
        }
    }
}

/// A checkout has what the pull request committed: a link in the place of a folder, a folder in the place of a file.
#[test]
fn artifacts_are_unpacked_outside_of_the_checkout_and_only_what_was_written_is_uploaded() {
    let mut seen = (0, 0, 0);
    for name in ["check.yml", "fleet.yml", "fork.yml", "pin.yml", "watch.yml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/workflows");
        let text = std::fs::read_to_string(path.join(name)).unwrap();
        let steps: Vec<&str> = text.split("\n      - ").collect();
        let mut unpacked = Vec::new();
        for step in &steps {
            let value = |key: &str| {
                let mut lines = step
                    .lines()
                    .map(|it| it.trim_start().trim_start_matches("- "));
                lines.find_map(|line| line.strip_prefix(key))
            };
            if step.contains("actions/download-artifact@") {
                let path = value("path: ").unwrap();
                assert!(path.starts_with("${{ runner.temp }}/"), "{name}: {path}");
                unpacked.push(path);
                seen.0 += 1;
            }
            if let Some(merged) = value("merge: ") {
                assert!(unpacked.contains(&merged), "{name}: {merged}");
                seen.1 += 1;
            }
            if step.contains("actions/upload-artifact@") {
                let path = value("path: ").unwrap();
                let output = path.strip_suffix(" }}").unwrap();
                assert!(
                    output.starts_with("${{ steps.keel.outputs."),
                    "{name}: {path}"
                );
                assert_eq!(
                    value("if: "),
                    Some(&*format!("{output} != '' }}}}")),
                    "{name}"
                );
                seen.2 += 1;
            }
        }
        for line in text.lines().filter(|it| it.contains("gh run download")) {
            assert!(line.ends_with("--dir \"$PROPOSAL\""), "{name}: {line}");
            assert!(text.contains("PROPOSAL: ${{ runner.temp }}/"), "{name}");
            seen.0 += 1;
        }
    }
    assert_eq!(seen, (4, 3, 3));
}

/// What others see is written by jobs that name the environment whose reviewers GitHub asks.
#[test]
fn no_job_of_a_release_may_write_before_somebody_approved() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows/release.yml");
    let text = std::fs::read_to_string(path).unwrap();
    let (top, jobs) = text.split_once("\njobs:\n").unwrap();
    assert!(top.contains("permissions: {}"));
    let mut writing = 0;
    // A job begins with its name, two spaces deep.
    let begins = |line: &&str| line.starts_with("  ") && !line[2..].starts_with([' ', '#']);
    let lines: Vec<&str> = jobs.lines().filter(|line| !line.is_empty()).collect();
    for job in lines.chunk_by(|_, next| !begins(next)) {
        let says = |what: &str| job.iter().any(|line| line.trim().starts_with(what));
        let may_write = job.iter().any(|line| line.contains(": write"));
        writing += usize::from(may_write);
        let asks = says("environment: release")
            || says("environment: ${{ inputs.publish && 'release' || '' }}");
        assert!(asks || !may_write, "{}", job[0]);
    }
    assert_eq!(writing, 6, "image, manifest, github, npm, pypi, crates");
}

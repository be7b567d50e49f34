//! Bytes before anything is started: JP's verify block, launcher advice, the launch chain of a
//! baseline.

use std::path::Path;

use mcp_keel::canonical::{Json, parse};
use mcp_keel::launch::LaunchSpec;
use mcp_keel::verify::bytes::{self, Algorithm};
use mcp_keel::verify::jp::{Expected, Verify, verify};

use crate::keel::{Keel, serving};

const TOOLS: &str = r#"[{"name":"get","inputSchema":{"type":"object"}}]"#;

fn sha256(text: &str) -> String {
    mcp_keel::fingerprint::Digest::of(text).hex()
}

/// Shown with `--no-capture`.
#[cfg(unix)]
#[allow(clippy::print_stderr)]
fn print_count(passed: usize) {
    eprintln!("jp_checksum.json: {passed} vectors passed");
}

#[cfg(unix)]
#[test]
fn j1_j4_j5_jps_vectors() {
    use std::os::unix::fs::PermissionsExt as _;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/jp_checksum.json");
    let golden = parse(&std::fs::read(path).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_string_lossy().into_owned();
    let text = |row: &Json, name: &str| row.get(name).and_then(Json::as_str).unwrap().to_owned();
    for file in golden.get("files").and_then(Json::as_array).unwrap() {
        let path = text(file, "path").replace("<dir>", &here);
        if let Some(target) = file.get("symlink").and_then(Json::as_str) {
            std::os::unix::fs::symlink(target, path).unwrap();
            continue;
        }
        std::fs::write(&path, text(file, "text")).unwrap();
        let mode = u32::from_str_radix(&text(file, "mode"), 8).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut passed = 0;
    for row in golden.get("cases").and_then(Json::as_array).unwrap() {
        let id = text(row, "id");
        let mut value = text(row, "value");
        if id == "bare_name" {
            // Every machine has its own `true`: what matters is that PATH leads to it.
            let path = std::env::var_os("PATH").unwrap();
            let file = std::env::split_paths(&path)
                .map(|it| it.join("true"))
                .find(|it| it.is_file())
                .unwrap();
            value = bytes::digest(&file, Algorithm::Sha256).unwrap();
        }
        let launch = LaunchSpec {
            command: vec![text(row, "command").replace("<dir>", &here)],
            ..LaunchSpec::default()
        };
        let expected = Expected {
            algorithm: text(row, "algorithm").parse().unwrap(),
            value,
        };
        let found = verify(&text(row, "server"), &Verify::Command(expected), &launch);
        let result = row.get("result").unwrap();
        assert_eq!(
            Json::Bool(found.is_ok()),
            *result.get("ok").unwrap(),
            "{id}"
        );
        if let Err(error) = found {
            let wanted = text(result, "error").replace("<dir>", &here);
            assert!(error.to_string().starts_with(&wanted), "{id}: {error}");
        }
        passed += 1;
    }
    assert_eq!(passed, 14);
    print_count(passed);
    // J2: a file need not be executable.
    let jar = Verify::File {
        path: folder.path().join("server.jar"),
        expected: Expected {
            algorithm: Algorithm::Sha256,
            value: "ed942a6e2f0bf6bc40c5e4e4e60f1a69619858f6983cea227e52c4269c8ea180".to_owned(),
        },
    };
    assert!(verify("example", &jar, &LaunchSpec::default()).is_ok());
}

/// A folder with a server that leaves a mark when started, and this verify block.
fn marked(verify: &str) -> Keel {
    let keel = Keel::new();
    let [program, scenario] = serving(TOOLS);
    let script = format!(
        "#!/bin/sh\ntouch started\nexec {} {}\n",
        shlex::try_quote(&program).unwrap(),
        shlex::try_quote(&scenario).unwrap()
    );
    keel.write("server.sh", &script);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(keel.folder().join("server.sh"), mode).unwrap();
    }
    let verify = verify.replace("DIGEST", &sha256(&script));
    keel.write(
        "mcp-keel.toml",
        &format!("[server.marked]\ncommand = [\"./server.sh\"]\n{verify}\n"),
    );
    keel
}

fn started(keel: &Keel) -> bool {
    keel.folder().join("started").exists()
}

#[cfg(unix)]
#[test]
fn j5_a_changed_file_exits_with_4_and_the_server_never_starts() {
    for verify in [
        "[server.marked.verify]\ntype = \"command\"\nvalue = \"DIGEST\"",
        "[server.marked.verify]\ntype = \"file\"\npath = \"server.sh\"\nalgorithm = \"sha256\"\nvalue = \"DIGEST\"",
    ] {
        let keel = marked(verify);
        keel.run(&["verify"])
            .exits(0)
            .says("ok        marked: ")
            .says("server.sh is sha256 ");
        assert!(!started(&keel), "verify starts nothing");
        keel.run(&["pin"]).exits(0);
        assert!(started(&keel));
        keel.run(&["check"]).exits(0);
        std::fs::remove_file(keel.folder().join("started")).unwrap();

        let text = keel.read("server.sh") + "# one more byte\n";
        keel.write("server.sh", &text);
        let got = sha256(&text);
        for command in ["check", "pin", "capture"] {
            let run = keel.run(&[command]).exits(4);
            run.says("Checksum mismatch for server: marked (")
                .says("server.sh), expected ")
                .says(&format!(", got {got}"))
                .says("the server was not started");
            assert!(!started(&keel), "{command}");
        }
        let json = keel.run(&["verify", "--format", "json"]).exits(4).json();
        let server = &json["servers"][0];
        assert_eq!(server["status"], "mismatch");
        assert_eq!(server["got"], got.as_str());
        assert!(server["path"].as_str().unwrap().ends_with("server.sh"));
        assert!(!started(&keel));
    }
}

#[cfg(unix)]
#[test]
fn one_failed_verification_keeps_all_servers_from_starting() {
    let keel = marked("");
    let toml = keel.read("mcp-keel.toml")
        + "[server.other]\ncommand = [\"./server.sh\"]\nverify = { type = \"command\", value = \"00\" }\n";
    keel.write("mcp-keel.toml", &toml);
    keel.run(&["pin"])
        .exits(4)
        .says("Checksum mismatch for server: other")
        .names(&["64", "sha256"]);
    assert!(!started(&keel));
}

#[cfg(unix)]
#[test]
fn j3_none_is_considered_and_a_missing_block_claims_nothing() {
    let keel = marked("[server.marked.verify]\ntype = \"none\"");
    keel.run(&["verify"])
        .exits(0)
        .says("considered, not verified")
        .says("(verify-none)");
    keel.run(&["pin"]).exits(0);
    keel.run(&["check"])
        .exits(0)
        .says("its bytes are deliberately not verified");
    let keel = marked("");
    keel.run(&["verify"])
        .exits(0)
        .says("no verify block")
        .says_nothing_of("verify-none");
}

#[cfg(unix)]
#[test]
fn j4_j6_algorithms_and_the_old_spelling() {
    let keel = marked("");
    let digest = |algorithm| bytes::digest(&keel.folder().join("server.sh"), algorithm).unwrap();
    let with = |block: String| {
        keel.write(
            "mcp-keel.toml",
            &format!("[server.marked]\ncommand = [\"./server.sh\"]\n{block}\n"),
        );
        keel.run(&["verify"])
    };
    let (sha1, sha512) = (digest(Algorithm::Sha1), digest(Algorithm::Sha512));
    with(format!(
        "verify = {{ type = \"command\", algorithm = \"sha512\", value = \"{sha512}\" }}"
    ))
    .exits(0)
    .says_nothing_of("note");
    with(format!(
        "verify = {{ type = \"command\", algorithm = \"sha1\", value = \"{}\" }}",
        sha1.to_uppercase()
    ))
    .exits(0)
    .says("(verify-algorithm-weak)");
    with(format!(
        "checksum = {{ algorithm = \"sha1\", value = \"{sha1}\" }}"
    ))
    .exits(0)
    .names(&["line 3", "`checksum`"])
    .says("(verify-checksum-deprecated)");
    // The new spelling wins.
    with(format!("checksum = \"00\"\nverify = {{ type = \"command\", algorithm = \"sha512\", value = \"{sha512}\" }}"))
        .exits(0)
        .says("(verify-checksum-deprecated)");
    with("checksum = \"00\"".to_owned()).exits(4);
    // A missing `file`, a missing `command`.
    with("verify = { type = \"file\", path = \"no.jar\", value = \"00\" }".to_owned())
        .exits(4)
        .says("Cannot read file: no.jar (server: marked)");
}

#[test]
fn mistakes_in_the_block_are_reported_with_their_line() {
    let keel = Keel::new();
    for (block, problem, help) in [
        (
            "type = \"comand\"\nvalue = \"00\"",
            "mcp-keel.toml:4: `comand` is not a valid value",
            "did you mean `command`?",
        ),
        (
            "type = \"command\"",
            "mcp-keel.toml:3: `value` is missing",
            "hexadecimal digits",
        ),
        (
            "type = \"file\"\nvalue = \"00\"",
            "`path` is missing",
            "relative to the folder",
        ),
        (
            "type = \"command\"\nvalue = \"00\"\npath = \"x\"",
            "mcp-keel.toml:6: `path` has no effect here",
            "type = \"file\"",
        ),
        (
            "type = \"none\"\nvalue = \"00\"",
            "`value` has no effect here",
            "nothing is verified",
        ),
        (
            "type = \"command\"\nalgoritm = \"sha256\"",
            "there is no key `server.a.verify.algoritm`",
            "did you mean `algorithm`?",
        ),
        (
            "type = \"command\"\nvalue = \"00\"\nalgorithm = \"md5\"",
            "`md5` is not a valid value",
            "sha256, sha512, sha1",
        ),
        (
            "value = \"00\"",
            "`type` is missing",
            "\"command\", \"file\" or \"none\"",
        ),
    ] {
        keel.write(
            "mcp-keel.toml",
            &format!("[server.a]\ncommand = [\"x\"]\n[server.a.verify]\n{block}\n"),
        );
        keel.run(&["verify"]).exits(2).says(problem).says(help);
    }
}

#[test]
fn j7_j8_j10_unpinned_launchers_get_advice_how_to_pin() {
    let keel = Keel::new().file(
        "mcp-keel.toml",
        "[server.kagi]\ncommand = [\"uvx\", \"kagimcp\"]\nverify = { type = \"command\", value = \"00\" }\n\
         [server.fs]\ncommand = [\"npx\", \"-y\", \"@scope/server\"]\n\
         [server.ok]\ncommand = [\"npx\", \"-y\", \"@scope/server@1.2.3\"]\n",
    );
    let json = keel.run(&["verify", "--format", "json"]).exits(4).json();
    let rules = |index: usize| -> Vec<String> {
        let findings = json["servers"][index]["findings"].as_array().unwrap();
        findings
            .iter()
            .map(|it| it["rule"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(rules(0), ["launcher-unpinned"]);
    assert_eq!(rules(1), ["launcher-unpinned", "launcher-checksum-only"]);
    assert!(rules(2).is_empty());
    let message = json["servers"][1]["findings"][1]["message"]
        .as_str()
        .unwrap();
    assert!(
        message.contains("incomplete protection")
            && message.contains("threat: local tampering")
            && message.contains("threat: supply chain")
            && message.contains("kagimcp@VERSION"),
        "{message}"
    );
    let message = json["servers"][0]["findings"][0]["message"]
        .as_str()
        .unwrap();
    assert!(
        message.contains("threat: supply chain, accidental upgrade"),
        "{message}"
    );
    // J9: advice, never a verdict, unless the policy says so.
    let toml = keel
        .read("mcp-keel.toml")
        .replace("verify = { type = \"command\", value = \"00\" }\n", "");
    keel.write("mcp-keel.toml", &toml);
    keel.run(&["verify"]).exits(0).says("launcher-unpinned");
    keel.write(
        "mcp-keel.toml",
        &format!("{toml}[policy.rules]\n\"launcher-unpinned\" = \"block\"\n"),
    );
    keel.run(&["verify"]).exits(1).says("block: ");
}

#[cfg(unix)]
#[test]
fn j8_check_and_pin_report_it_next_to_the_drift() {
    // A fake launcher that fetches nothing, with the name of the real one.
    let keel = marked("");
    std::fs::rename(keel.folder().join("server.sh"), keel.folder().join("npx")).unwrap();
    let digest = sha256(&keel.read("npx"));
    keel.write(
        "mcp-keel.toml",
        &format!(
            "[server.marked]\ncommand = [\"./npx\", \"-y\", \"@scope/server\"]\n\
             verify = {{ type = \"command\", value = \"{digest}\" }}\n"
        ),
    );
    keel.run(&["pin"])
        .exits(0)
        .says("(launcher-unpinned)")
        .says("(launcher-checksum-only)");
    let report = keel.run(&["check", "--format", "json"]).exits(0).json();
    assert_eq!(report["verdict"], "pass");
    let rules: Vec<&str> = report["servers"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["launcher-unpinned", "launcher-checksum-only"]);
    // A different version of the package is a different link.
    let toml = keel
        .read("mcp-keel.toml")
        .replace("@scope/server", "@scope/server@1.2.3");
    keel.write("mcp-keel.toml", &toml);
    keel.run(&["check"])
        .exits(0)
        .names(&["`@scope/server`", "`@scope/server@1.2.3`"])
        .says_nothing_of("launcher-unpinned");
}

#[cfg(unix)]
#[test]
fn build_output_that_git_ignores_has_no_digest_and_is_not_reported() {
    let keel = marked("");
    let git = std::process::Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(keel.folder())
        .status();
    assert!(git.is_ok_and(|it| it.success()), "git is needed");
    // Pinned before git ignored it: the baseline has a digest, and it is not compared.
    keel.run(&["pin"]).exits(0);
    assert!(keel.read("mcp-baseline.json").contains("\"sha256\""));
    keel.write("server.sh", &(keel.read("server.sh") + "# built again\n"));
    keel.run(&["check"]).exits(0).says("(launch-link-changed)");
    keel.write(".gitignore", "server.sh\n");
    keel.run(&["check"])
        .exits(0)
        .says_nothing_of("launch-link-changed");
    keel.run(&["pin"]).exits(0);
    assert!(!keel.read("mcp-baseline.json").contains("\"sha256\""));
    // Unless every digest was requested.
    keel.write(
        "mcp-keel.toml",
        &keel
            .read("mcp-keel.toml")
            .replacen("command", "launch-digests = true\ncommand", 1),
    );
    keel.run(&["pin"]).exits(0);
    assert!(keel.read("mcp-baseline.json").contains("\"sha256\""));
}

#[test]
fn the_baseline_records_the_launch_chain_and_check_reports_which_link_changed() {
    let keel = marked("");
    keel.run(&["pin"]).exits(0);
    let first = keel.read("mcp-baseline.json");
    let digest = sha256(&keel.read("server.sh"));
    let json: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!(
        json["servers"]["marked"]["launch"],
        serde_json::json!([
            {"role": "entry-point", "name": "server.sh", "sha256": digest},
            {"role": "primitive", "name": "subprocess"}
        ])
    );
    assert!(
        !first.contains(&*keel.folder().to_string_lossy()),
        "no path of this machine"
    );
    keel.run(&["pin"]).exits(0).says("already up to date");
    keel.run(&["check"])
        .exits(0)
        .says_nothing_of("launch-link-changed");

    // Different bytes of the entry point: reported, but not drift.
    keel.write("server.sh", &(keel.read("server.sh") + "# a comment\n"));
    keel.run(&["check"])
        .exits(0)
        .says("PASS")
        .says("`server.sh`")
        .says("(launch-link-changed)");
    keel.run(&["verify"]).exits(0).says("(launch-link-changed)");
    // A different runtime in front of it.
    keel.write(
        "mcp-keel.toml",
        "[server.marked]\ncommand = [\"sh\", \"server.sh\"]\n",
    );
    keel.run(&["check"]).exits(0).says("`sh`");
    // The policy may block it.
    let block =
        keel.read("mcp-keel.toml") + "[policy.rules]\n\"launch-link-changed\" = \"block\"\n";
    keel.write("mcp-keel.toml", &block);
    keel.run(&["check"]).exits(1);
    // Pinning accepts it; the contract's own digest did not change.
    keel.run(&["pin"]).exits(0);
    keel.run(&["check"])
        .exits(0)
        .says_nothing_of("launch-link-changed");
    let second: serde_json::Value = serde_json::from_str(&keel.read("mcp-baseline.json")).unwrap();
    assert_eq!(
        json["servers"]["marked"]["surface"],
        second["servers"]["marked"]["surface"]
    );
}

#[cfg(unix)]
#[test]
fn digests_of_everything_or_of_nothing_are_optional() {
    let keel = marked("launch-digests = true");
    keel.write(
        "mcp-keel.toml",
        "[server.marked]\ncommand = [\"sh\", \"server.sh\"]\nlaunch-digests = true\n",
    );
    let links = |keel: &Keel| {
        keel.run(&["verify", "--format", "json"]).exits(0).json()["servers"][0]["launch"].clone()
    };
    assert_eq!(links(&keel)[1]["sha256"].as_str().unwrap().len(), 64);
    keel.write(
        "mcp-keel.toml",
        "[server.marked]\ncommand = [\"sh\", \"server.sh\"]\n",
    );
    assert!(links(&keel)[1].get("sha256").is_none() && links(&keel)[0].get("sha256").is_some());
    keel.write(
        "mcp-keel.toml",
        "[server.marked]\ncommand = [\"sh\", \"server.sh\"]\nlaunch-digests = false\n",
    );
    assert!(links(&keel)[0].get("sha256").is_none());
}

#[test]
fn a_baseline_without_launch_is_valid_and_a_broken_one_is_reported_with_its_line() {
    let keel = Keel::new();
    let [program, scenario] = serving(TOOLS);
    keel.run(&["pin", "--", &program, &scenario]).exits(0);
    let text = keel.read("mcp-baseline.json");
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["servers"]["scripted"]["launch"] = serde_json::json!([{"role": "unknown", "name": "x"}]);
    keel.write(
        "mcp-baseline.json",
        &serde_json::to_string_pretty(&json).unwrap(),
    );
    keel.run(&["check", "--", &program, &scenario])
        .exits(2)
        .says("`launch`");
    // Older baselines: the demo's own text without the member still matches its `surface`.
    json["servers"]["scripted"]
        .as_object_mut()
        .unwrap()
        .remove("launch");
    keel.write(
        "mcp-baseline.json",
        &serde_json::to_string_pretty(&json).unwrap(),
    );
    // The integrity is now stale, which pinning repairs, and no finding is invented.
    keel.run(&["pin", "--", &program, &scenario])
        .exits(0)
        .says_nothing_of("launch-link-changed");
    keel.run(&["check", "--", &program, &scenario]).exits(0);
}

/// A launcher that runs this server.
#[cfg(target_os = "linux")]
fn uvx_that_starts(keel: &Keel, schema: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = keel.folder().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let scenario = format!(r#"{{"tools": [{{"name": "forecast", "inputSchema": {schema}}}]}}"#);
    let server = &crate::scripted::scripted("")[0];
    let script = format!("#!/bin/sh\n'{server}' '{scenario}'\n");
    let uvx = bin.join("uvx");
    std::fs::write(&uvx, script).unwrap();
    std::fs::set_permissions(&uvx, std::fs::Permissions::from_mode(0o755)).unwrap();
    uvx
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_of_a_third_party_is_not_to_be_fixed_here() {
    let keel = Keel::new();
    let uvx = uvx_that_starts(&keel, r#"{"type": "object"}"#);
    let command = ["forecast", "--", "uvx", "forecast-server"];
    keel.run_on_path(&[&["pin"], &command[..]].concat(), &uvx)
        .exits(0);
    // The new version refuses calls that worked.
    let uvx = uvx_that_starts(&keel, r#"{"type": "object", "required": ["city"]}"#);
    let formats = mcp_keel::report::Format::ALL.iter().map(|it| it.word());
    for format in formats {
        let check = ["check", "--format", format];
        let run = keel.run_on_path(&[&check[..], &command[..]].concat(), &uvx);
        let run = run.exits(1);
        let text = run.stdout.to_lowercase();
        assert!(!text.contains("fix the server"), "{format}: {text}");
        assert!(!text.contains("version bump"), "{format}: {text}");
        match format {
            "terminal" | "markdown" => {
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(
                    words.contains("stay on the version that was pinned"),
                    "{words}"
                );
            }
            _ => {}
        }
    }
}

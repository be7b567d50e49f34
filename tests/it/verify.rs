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
    let toml = keel
        .read("mcp-keel.toml")
        .replace("@scope/server", "@scope/server@1.2.3");
    keel.write("mcp-keel.toml", &toml);
    keel.run(&["check"])
        .exits(0)
        .says_nothing_of("launcher-unpinned");
}

/// A launcher that runs this server from `packages/VERSION/bin`, with the package's version beside it.
#[cfg(target_os = "linux")]
fn uvx_that_fetches(keel: &Keel, version: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = keel.folder().join("packages").join(version);
    let info = format!("lib/python3.12/site-packages/forecast_server-{version}.dist-info");
    std::fs::create_dir_all(environment.join(info)).unwrap();
    std::fs::create_dir_all(environment.join("bin")).unwrap();
    let server = environment.join("bin/forecast-server");
    if !server.exists() {
        std::os::unix::fs::symlink(&crate::scripted::scripted("")[0], &server).unwrap();
    }
    let bin = keel.folder().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let scenario = r#"{"tools": [{"name": "forecast", "inputSchema": {"type": "object"}}]}"#;
    let script = format!("#!/bin/sh\n'{}' '{scenario}'\n", server.display());
    let uvx = bin.join("uvx");
    std::fs::write(&uvx, script).unwrap();
    std::fs::set_permissions(&uvx, std::fs::Permissions::from_mode(0o755)).unwrap();
    uvx
}

#[cfg(target_os = "linux")]
#[test]
fn the_version_that_a_launcher_fetched_is_pinned_and_a_new_one_is_reported() {
    let keel = Keel::new();
    let command = ["--", "uvx", "forecast-server"];
    let of = |verb: &'static str| [&[verb, "forecast"], &command[..]].concat();
    let uvx = uvx_that_fetches(&keel, "2025.8.21");
    keel.run_on_path(&of("pin"), &uvx).exits(0);
    let baseline = keel.read("mcp-baseline.json");
    assert!(baseline.contains(r#""source": "uvx""#), "{baseline}");
    assert!(baseline.contains(r#""value": "2025.8.21""#), "{baseline}");
    // Pinned again, nothing changes.
    keel.run_on_path(&of("pin"), &uvx).exits(0);
    assert_eq!(keel.read("mcp-baseline.json"), baseline);
    keel.run_on_path(&of("check"), &uvx)
        .exits(0)
        .says("version 2025.8.21");
    let uvx = uvx_that_fetches(&keel, "2026.1.14");
    // The contract is the same, so this is a finding, and not drift.
    keel.run_on_path(&of("check"), &uvx)
        .exits(0)
        .says("version 2025.8.21 → 2026.1.14");
    keel.run_on_path(&of("pin"), &uvx).exits(0);
    let pinned = keel.read("mcp-baseline.json");
    assert_eq!(pinned, baseline.replace("2025.8.21", "2026.1.14"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_of_a_third_party_is_not_to_be_fixed_here() {
    let keel = Keel::new();
    let uvx = uvx_that_fetches(&keel, "2025.8.21");
    let command = ["forecast", "--", "uvx", "forecast-server"];
    keel.run_on_path(&[&["pin"], &command[..]].concat(), &uvx)
        .exits(0);
    let uvx = uvx_that_fetches(&keel, "2026.1.14");
    // The new version refuses calls that worked.
    let script = std::fs::read_to_string(&uvx).unwrap();
    let narrower = r#""inputSchema": {"type": "object", "required": ["city"]}"#;
    let script = script.replace(r#""inputSchema": {"type": "object"}"#, narrower);
    std::fs::write(&uvx, script).unwrap();
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
                assert!(words.contains("2025.8.21 → 2026.1.14"), "{words}");
            }
            "json" => {
                let package = r#""package":{"name":"forecast-server","baseline":"2025.8.21","current":"2026.1.14"}"#;
                let dense: String = text.split_whitespace().collect();
                assert!(dense.contains(package), "{text}");
            }
            _ => {}
        }
    }
}

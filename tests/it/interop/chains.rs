//! Chains: kiwi-mcp's vectors, and a chain of three manifests on disk.

use std::path::Path;

use mcp_keel::canonical::reader::parse_python;
use mcp_keel::canonical::{Json, parse};
use mcp_keel::interop::kiwi::lockfile::{Lockfile, chain_hash};
use mcp_keel::interop::kiwi::{
    Link, Mode, Variant, document_integrity, integrity, links, short, validate, verify,
};

use crate::keel::Keel;

const FILES: [(&str, Variant); 2] = [
    ("kiwi_head.json", Variant::Current),
    ("kiwi_first_commit.json", Variant::Documented),
];

fn golden(file: &str) -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/golden")
        .join(file);
    parse(&std::fs::read(path).unwrap()).unwrap()
}

fn rows<'a>(file: &'a Json, member: &str) -> &'a [Json] {
    file.get(member).and_then(Json::as_array).unwrap()
}

fn text<'a>(row: &'a Json, member: &str) -> &'a str {
    row.get(member)
        .and_then(Json::as_str)
        .unwrap_or_else(|| panic!("{member} of {row}"))
}

fn texts(row: &Json, member: &str) -> Vec<String> {
    rows(row, member)
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect()
}

/// How many vectors of a file passed, shown with `--no-capture`.
#[allow(clippy::print_stderr)]
fn count(file: &str, what: &str, passed: usize) {
    eprintln!("{file}: {passed} {what} passed");
}

#[test]
fn k1_k2_k3_integrity_in_both_variants() {
    for (file, variant) in FILES {
        let golden = golden(file);
        let rows = rows(&golden, "integrity");
        for row in rows {
            let manifest = parse_python(text(row, "manifest_raw").as_bytes()).unwrap();
            let link = Json::object([
                ("tool_id", row.get("tool_id").unwrap().clone()),
                ("version", row.get("version").unwrap().clone()),
                ("manifest", manifest),
                ("files", row.get("files").unwrap().clone()),
            ]);
            assert_eq!(
                integrity(&link, variant).unwrap(),
                text(row, "integrity"),
                "{file} {row}"
            );
        }
        assert!(rows.len() >= 10);
        count(file, "integrity vectors", rows.len());
    }
}

#[test]
fn the_digests_of_directives_and_knowledge() {
    for (file, variant) in FILES {
        let golden = golden(file);
        let knowledge = match variant {
            Variant::Current => ["id", "version", "content", "metadata"],
            Variant::Documented => ["zettel_id", "version", "content", "frontmatter"],
        };
        let other = golden.get("other").unwrap();
        let mut passed = 0;
        for (kind, names) in [
            (
                "directive",
                ["directive_name", "version", "xml_content", "metadata"],
            ),
            ("knowledge", knowledge),
        ] {
            for row in rows(other, kind) {
                let values = rows(row, "args").iter().cloned();
                let item = Json::object(names.into_iter().zip(values));
                assert_eq!(
                    document_integrity(&item).unwrap().unwrap(),
                    text(row, "integrity"),
                    "{row}"
                );
                passed += 1;
            }
        }
        assert_eq!(short("0123456789abcdef"), text(other, "short_hash"));
        count(file, "directive and knowledge vectors", passed);
    }
}

#[test]
fn k4_k5_every_link_is_verified() {
    for (file, variant) in FILES {
        let golden = golden(file);
        for row in rows(&golden, "chains") {
            let expected = row.get("verify").unwrap();
            let verified = verify(&links(row.get("chain").unwrap()).unwrap(), variant);
            assert_eq!(
                Json::Bool(verified.ok()),
                *expected.get("success").unwrap(),
                "{row}"
            );
            assert_eq!(
                verified.count.to_string(),
                expected.get("verified_count").unwrap().to_string(),
                "{row}"
            );
            match &verified.failure {
                Some((index, message)) => {
                    assert_eq!(
                        index.to_string(),
                        expected.get("failed_at").unwrap().to_string()
                    );
                    assert_eq!(message, text(expected, "error"));
                }
                None => assert_eq!(expected.get("failed_at"), Some(&Json::Null)),
            }
        }
        count(file, "chains verified", rows(&golden, "chains").len());
    }
}

#[test]
fn k6_k7_parents_validate_their_children() {
    for (file, _) in FILES {
        let golden = golden(file);
        for row in rows(&golden, "chains") {
            let expected = row.get("validate").unwrap();
            let validated = validate(&links(row.get("chain").unwrap()).unwrap(), Mode::Usual);
            assert_eq!(
                Json::Bool(validated.ok()),
                *expected.get("valid").unwrap(),
                "{row}"
            );
            assert_eq!(
                validated.pairs.to_string(),
                expected.get("validated_pairs").unwrap().to_string()
            );
            // After the first line the Python validator prints its own metaschema.
            let first = |issue: &String| issue.lines().next().unwrap_or_default().to_owned();
            let wanted: Vec<String> = texts(expected, "issues").iter().map(first).collect();
            assert_eq!(validated.issues, wanted, "{row}");
            // Beyond the original: a chain that does not end in a primitive gets a warning.
            let ours = |warning: &&String| !warning.contains("is not a primitive");
            let warnings: Vec<&String> = validated.warnings.iter().filter(ours).collect();
            assert_eq!(
                warnings,
                texts(expected, "warnings").iter().collect::<Vec<_>>()
            );
        }
        count(file, "chains validated", rows(&golden, "chains").len());
    }
}

#[test]
fn k8_k13_strict_usual_and_lenient() {
    let golden = golden("kiwi_first_commit.json");
    let chain = |id: &str| {
        let row = rows(&golden, "chains")
            .iter()
            .find(|row| text(row, "id") == id)
            .unwrap();
        links(row.get("chain").unwrap()).unwrap()
    };
    for id in ["no_child_schemas", "no_match"] {
        assert!(!validate(&chain(id), Mode::Strict).ok());
        assert!(!validate(&chain(id), Mode::Usual).ok());
        let lenient = validate(&chain(id), Mode::Lenient);
        assert!(lenient.ok() && lenient.warnings.len() == 1, "{id}");
    }
    // A child that violates an existing schema is rejected in every mode.
    assert!(!validate(&chain("schema_violation_language"), Mode::Lenient).ok());
    // K9: a chain must end in a primitive.
    let open = validate(&chain("terminal_not_primitive"), Mode::Strict);
    assert!(
        open.issues[0].contains("is not a primitive"),
        "{:?}",
        open.issues
    );
    assert!(validate(&chain("ok"), Mode::Strict).ok());
}

#[test]
fn k10_k12_the_lockfile_matches_the_originals() {
    for (file, _) in FILES {
        let golden = golden(file);
        let vectors = golden.get("lockfile").unwrap();
        let ok = rows(&golden, "chains")
            .iter()
            .find(|row| text(row, "id") == "ok")
            .unwrap();
        let chain = links(ok.get("chain").unwrap()).unwrap();
        let saved = text(vectors, "saved_text");
        let lock = Lockfile::of(
            &chain,
            "2026-01-24T12:00:00+00:00",
            Some("https://registry.example.com"),
        )
        .unwrap();
        assert_eq!(lock.to_text(), saved);
        assert_eq!(lock.to_json(), *vectors.get("dict").unwrap());
        assert_eq!(
            Lockfile::parse(saved.as_bytes()).unwrap().to_text(),
            saved,
            "round trip"
        );
        let without = Lockfile::of(&chain, "2026-01-24T12:00:00+00:00", None).unwrap();
        assert_eq!(
            without.to_json(),
            *vectors.get("freeze_without_registry").unwrap()
        );
        assert_eq!(
            Lockfile::of(&[], "", None).unwrap_err().to_string(),
            text(vectors, "freeze_empty_error")
        );
        // The text, the value, the round trip, without a registry, the empty chain, the pinned
        // versions.
        let mut passed = 6;
        // The first version had no store.
        if let Some(hash) = vectors.get("chain_hash").and_then(Json::as_str) {
            passed += 3;
            assert_eq!(chain_hash(&chain), hash);
            let hashed = text(vectors, "store_filename_with_chain_hash");
            assert_eq!(lock.file_name(None), text(vectors, "store_filename"));
            assert_eq!(lock.file_name(Some("0123456789ab")), hashed);
        }
        for (id, version) in lock.pinned_versions() {
            assert_eq!(
                vectors
                    .get("pinned_versions")
                    .unwrap()
                    .get(&id)
                    .unwrap()
                    .as_str(),
                Some(version.as_str())
            );
        }
        for row in rows(vectors, "validate") {
            passed += 1;
            let lock = match row.get("lock_override") {
                Some(over @ Json::Object(_)) => Lockfile::from_json(over).unwrap(),
                _ => lock.clone(),
            };
            let found: Vec<String> = lock
                .differences(&links(row.get("chain").unwrap()).unwrap())
                .into_iter()
                .map(|(_, issue)| issue)
                .collect();
            assert_eq!(
                found,
                texts(row.get("result").unwrap(), "issues"),
                "{}",
                text(row, "id")
            );
        }
        for row in rows(vectors, "load") {
            // A missing file is reported by its reader.
            let Some(source) = row.get("text").and_then(Json::as_str) else {
                continue;
            };
            passed += 1;
            match (
                Lockfile::parse(source.as_bytes()),
                row.get("error").and_then(Json::as_str),
            ) {
                (Ok(lock), None) => assert_eq!(lock.to_json(), *row.get("dict").unwrap()),
                (Err(error), Some(expected)) => {
                    // Syntax errors are reported in the words of our own reader.
                    let wanted = expected.split_once(": ").unwrap().1;
                    let comparable = wanted.split("JSON:").next().unwrap();
                    assert!(
                        error.to_string().starts_with(comparable),
                        "{error} / {expected}"
                    );
                }
                (found, expected) => panic!("{}: {found:?} / {expected:?}", text(row, "id")),
            }
        }
        count(file, "lockfile vectors", passed);
    }
}

#[test]
fn k14_k15_results_are_deterministic_and_no_link_borrows_a_digest() {
    let golden = golden("kiwi_head.json");
    for row in rows(&golden, "chains") {
        let chain = links(row.get("chain").unwrap()).unwrap();
        assert_eq!(
            verify(&chain, Variant::Current),
            verify(&chain, Variant::Current)
        );
        assert_eq!(
            validate(&chain, Mode::Strict),
            validate(&chain, Mode::Strict)
        );
    }
    // The original's cache accepts a link that claims the digest of the one before it.
    let ok = rows(&golden, "chains")
        .iter()
        .find(|row| text(row, "id") == "ok")
        .unwrap();
    let mut chain = links(ok.get("chain").unwrap()).unwrap();
    let borrowed = chain[0].stored().unwrap().to_owned();
    let Json::Object(link) = &mut chain[1].0 else {
        panic!()
    };
    *link.get_mut("content_hash").unwrap() = Json::string(borrowed);
    assert_eq!(
        verify(&chain, Variant::Current).failure.map(|it| it.0),
        Some(1)
    );
    let _: Vec<Link> = chain;
}

const TOOL: &str = "tool_id: weather\nversion: 1.4.0\ntool_type: script\nexecutor: python_runtime\nlanguage: python\nentrypoint: weather.py\nfiles: [weather.py, lib/data.json]\n";
const RUNTIME: &str = r#"
tool_id: python_runtime
version: "1.4.0"
tool_type: runtime
executor: subprocess
config: { command: python3, base_args: ["-u"], timeout: 30.0 }
validation:
  child_schemas:
    - match: { tool_type: script, manifest.language: python }
      schema:
        type: object
        properties:
          manifest:
            type: object
            properties: { entrypoint: { type: string, pattern: '\.py$' } }
            required: [entrypoint]
"#;
const PRIMITIVE: &str =
    r#"{"tool_id": "subprocess", "version": "1.0.0", "tool_type": "primitive", "executor": null}"#;

fn three() -> Keel {
    Keel::new()
        .file("tools/weather.yaml", TOOL)
        .file("tools/weather.py", "print('sun')\n")
        .file("tools/lib/data.json", "{}\n")
        .file("tools/python_runtime.yml", RUNTIME)
        .file("tools/subprocess.json", PRIMITIVE)
}

fn frozen() -> Keel {
    let keel = three();
    keel.run(&[
        "chain",
        "freeze",
        "tools/weather.yaml",
        "-o",
        "tools/weather.lock.json",
    ])
    .exits(0)
    .says("FROZEN  3 links");
    keel.run(&["chain", "verify", "tools/weather.lock.json"])
        .exits(0)
        .says("3 links hold");
    keel
}

#[track_caller]
fn fails_at(keel: &Keel, index: u64, issue: &str) {
    let run = keel
        .run(&[
            "chain",
            "verify",
            "tools/weather.lock.json",
            "--format",
            "json",
        ])
        .exits(4);
    let json = run.json();
    assert_eq!(json["failedAt"], index, "{json}");
    assert_eq!(json["verified"], false);
    assert!(
        json["issues"][0].as_str().unwrap().contains(issue),
        "{json}"
    );
}

#[test]
fn a_changed_file_schema_or_version_is_reported_at_its_link() {
    let keel = frozen();
    keel.write("tools/lib/data.json", "{ }\n");
    fails_at(&keel, 0, "Integrity mismatch for weather@1.4.0: lockfile=");

    let keel = frozen();
    keel.write("tools/python_runtime.yml", &RUNTIME.replace(r"\.py$", ".*"));
    fails_at(
        &keel,
        1,
        "Integrity mismatch for python_runtime@1.4.0: lockfile=",
    );

    let keel = frozen();
    keel.write(
        "tools/subprocess.json",
        &PRIMITIVE.replace("1.0.0", "1.0.1"),
    );
    fails_at(
        &keel,
        2,
        "Version mismatch for subprocess: lockfile=1.0.0, resolved=1.0.1",
    );

    // The same files rewritten are still valid, whatever their comments and layout.
    let keel = frozen();
    keel.write("tools/weather.yaml", &format!("# a comment\n{TOOL}"));
    keel.write(
        "tools/weather.py",
        "# kiwi-mcp:validated:2026-01-01T00:00:00Z:00\nprint('sun')\n",
    );
    keel.run(&["chain", "verify", "tools/weather.lock.json"])
        .exits(0);
}

#[test]
fn k11_freeze_verifies_the_chain() {
    let keel = three();
    // A child that its runtime does not accept.
    keel.write(
        "tools/weather.yaml",
        &TOOL.replace("entrypoint: weather.py", "entrypoint: weather.js"),
    );
    keel.write("tools/weather.js", "");
    keel.run(&["chain", "freeze", "tools/weather.yaml"])
        .exits(4)
        .says("At 'manifest.entrypoint': Value does not match pattern: \\.py$");
    assert!(!keel.folder().join("tools/weather@1.4.0.lock.json").exists());
    // A link whose stated digest is wrong.
    let keel = three();
    let stated = r#"{"tool_id":"subprocess","version":"1.0.0","tool_type":"primitive","manifest":{},"content_hash":"00"}"#;
    keel.write("tools/subprocess.json", stated);
    keel.run(&["chain", "freeze", "tools/weather.yaml"])
        .exits(4)
        .says("Integrity mismatch for subprocess@1.0.0: computed=");
    // A parent without schemas: strict rejects, lenient warns.
    let keel = three();
    keel.write(
        "tools/python_runtime.yml",
        RUNTIME.split("validation:").next().unwrap(),
    );
    keel.run(&["chain", "freeze", "tools/weather.yaml"])
        .exits(4)
        .says("Parent 'python_runtime' must define child_schemas");
    keel.run(&["chain", "freeze", "--lenient", "tools/weather.yaml"])
        .exits(0)
        .says(
            "warning: [python_runtime→weather] Parent 'python_runtime' must define child_schemas",
        );
    // A chain without an end.
    keel.write(
        "tools/subprocess.json",
        &PRIMITIVE.replace("null", "\"weather\""),
    );
    keel.run(&["chain", "freeze", "tools/weather.yaml"])
        .exits(2)
        .says("`weather`");
}

#[test]
fn freezing_twice_gives_the_same_bytes() {
    let keel = three();
    let freeze = |flags: &[&str]| {
        keel.run(&[&["chain", "freeze", "tools/weather.yaml"][..], flags].concat())
            .exits(0)
    };
    freeze(&[]);
    let name = "tools/weather@1.4.0.lock.json";
    let first = keel.read(name);
    assert!(
        first.starts_with("{\n  \"lockfile_version\": 1,\n") && first.ends_with('}'),
        "{first}"
    );
    freeze(&[]);
    assert_eq!(keel.read(name), first);
    freeze(&[
        "--generated-at",
        "2026-01-24T12:00:00+00:00",
        "--registry",
        "https://registry.example.com",
    ]);
    assert!(
        keel.read(name)
            .contains("\"fetched_at\": \"2026-01-24T12:00:00+00:00\"")
    );
    // K16: the name with the hash of the chain.
    freeze(&["--chain-hash"]);
    let shown = keel
        .run(&["chain", "show", "tools/weather.yaml", "--format", "json"])
        .exits(0)
        .json();
    let hash = shown["chainHash"].as_str().unwrap();
    assert!(
        keel.folder()
            .join(format!("tools/weather@1.4.0.{hash}.lock.json"))
            .exists()
    );
    keel.run(&["chain", "show", "tools/weather.yaml"])
        .exits(0)
        .says("lib/data.json")
        .says("runtime python_runtime@1.4.0");
}

#[cfg(unix)]
#[test]
fn k3_the_documented_variant_notices_a_changed_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    for (variant, code) in [("documented", 4), ("current", 0)] {
        let keel = three();
        keel.run(&[
            "chain",
            "freeze",
            "tools/weather.yaml",
            "--variant",
            variant,
            "-o",
            "tools/l.json",
        ])
        .exits(0);
        keel.run(&["chain", "verify", "tools/l.json"]).exits(0);
        let script = keel.folder().join("tools/weather.py");
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        keel.run(&["chain", "verify", "tools/l.json"]).exits(code);
    }
}

#[test]
fn the_vectors_hold_through_the_program() {
    for (file, variant) in FILES {
        let golden = golden(file);
        let keel = Keel::new();
        let mut passed = 0;
        for row in rows(&golden, "chains") {
            keel.write("chain.json", &row.get("chain").unwrap().to_string());
            let run = keel.run(&["chain", "verify", "chain.json", "--format", "json"]);
            let json = run.json();
            let (verify, validate) = (row.get("verify").unwrap(), row.get("validate").unwrap());
            assert_eq!(
                json["verified"].to_string(),
                verify.get("success").unwrap().to_string(),
                "{row}"
            );
            assert_eq!(
                json["valid"].to_string(),
                validate.get("valid").unwrap().to_string(),
                "{row}"
            );
            assert_eq!(
                json["failedAt"].to_string(),
                verify.get("failed_at").unwrap().to_string(),
                "{row}"
            );
            let ok = json["verified"] == true && json["valid"] == true;
            assert_eq!(run.code, if ok { 0 } else { 4 });
            passed += 1;
        }
        for row in rows(&golden, "integrity") {
            let files = row.get("files").unwrap();
            let document = format!(
                "{{\"tool_id\":{},\"version\":{},\"manifest\":{},\"files\":{files}}}",
                row.get("tool_id").unwrap(),
                row.get("version").unwrap(),
                text(row, "manifest_raw"),
            );
            keel.write("tool.json", &document);
            let run = keel
                .run(&[
                    "chain",
                    "integrity",
                    "tool.json",
                    "--variant",
                    variant.word(),
                ])
                .exits(0);
            assert_eq!(run.stdout.trim(), text(row, "integrity"), "{row}");
            passed += 1;
        }
        count(file, "vectors through the program", passed);
    }
}

#[test]
fn k13_each_half_can_be_skipped() {
    let golden = golden("kiwi_head.json");
    let keel = Keel::new();
    let run = |id: &str, flags: &[&str]| {
        let row = rows(&golden, "chains")
            .iter()
            .find(|row| text(row, "id") == id)
            .unwrap();
        keel.write("chain.json", &row.get("chain").unwrap().to_string());
        keel.run(&[&["chain", "verify", "chain.json"][..], flags].concat())
            .code
    };
    assert_eq!(run("tampered_runtime", &[]), 4);
    assert_eq!(run("tampered_runtime", &["--skip-integrity"]), 0);
    assert_eq!(run("schema_violation_language", &[]), 4);
    assert_eq!(run("schema_violation_language", &["--skip-validation"]), 0);
    assert_eq!(run("no_match", &["--lenient"]), 0);
}

#[test]
fn the_checklist_names_tests_that_exist() {
    let read = |path: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    };
    let tests = read("tests/it/interop/chains.rs")
        + &read("tests/it/verify.rs")
        + &read("src/verify/launcher/tests.rs");
    let page = read("fixtures/checklist.md");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| K") || line.starts_with("| J"))
        .collect();
    assert_eq!(rows.len(), 26);
    for row in rows {
        assert!(row.contains("| yes"), "{row}");
        let names: Vec<&str> = row.split('`').filter(|word| word.contains("::")).collect();
        assert!(!names.is_empty(), "{row}");
        for name in names.iter().filter(|name| !name.ends_with("::tests")) {
            let name = name.rsplit("::").next().unwrap();
            assert!(tests.contains(&format!("fn {name}(")), "{name}");
        }
    }
}

#[test]
fn a_lockfile_and_its_links_may_share_one_document() {
    let golden = golden("kiwi_head.json");
    let chain = rows(&golden, "chains")[0].get("chain").unwrap();
    let lock = text(golden.get("lockfile").unwrap(), "saved_text").to_owned();
    let keel = Keel::new();
    let verify = |document: String| {
        keel.write("both.json", &document);
        let run = keel.run(&["chain", "verify", "both.json", "--format", "json"]);
        (run.code, run.json())
    };
    assert_eq!(
        verify(format!("{{\"lockfile\":{lock},\"chain\":{chain}}}")).0,
        0
    );
    // Links without a stated digest get the computed one.
    let bare = chain.to_string().replace("\"content_hash\"", "\"was\"");
    assert_eq!(
        verify(format!("{{\"lockfile\":{lock},\"manifests\":{bare}}}")).0,
        0
    );
    let (code, json) = verify(format!(
        "{{\"lockfile\":{lock},\"chain\":{}}}",
        bare.replace("-u", "-v")
    ));
    assert_eq!(
        (code, &json["failedAt"]),
        (4, &serde_json::json!(1)),
        "{json}"
    );
    // An entry without a digest pins nothing, which is reported.
    let open = Lockfile::parse(lock.as_bytes()).unwrap().to_text();
    let digest = rows(&golden, "chains")[0]
        .get("chain")
        .unwrap()
        .as_array()
        .unwrap()[2]
        .get("content_hash")
        .and_then(Json::as_str)
        .unwrap()
        .to_owned();
    let (code, json) = verify(format!(
        "{{\"lockfile\":{},\"chain\":{chain}}}",
        open.replace(&digest, "")
    ));
    assert_eq!(code, 0);
    assert!(
        json["warnings"][0]
            .as_str()
            .unwrap()
            .contains("no integrity for 'subprocess'"),
        "{json}"
    );
}

#[test]
fn unreadable_files_are_reported_with_their_place() {
    let keel = three();
    keel.write(
        "tools/weather.yaml",
        "tool_id: weather\nreleased: 2026-01-24\n",
    );
    keel.run(&["chain", "show", "tools/weather.yaml"])
        .exits(2)
        .names(&["line 2", "`2026-01-24`"]);
    keel.write(
        "tools/weather.yaml",
        &TOOL.replace("weather.py,", "../secret,"),
    );
    keel.run(&["chain", "show", "tools/weather.yaml"])
        .exits(2)
        .says("`../secret`");
    keel.write(
        "lock.json",
        r#"{"lockfile_version": 2, "resolved_chain": []}"#,
    );
    keel.run(&["chain", "verify", "lock.json"])
        .exits(2)
        .says("Unsupported lockfile version: 2 (expected 1)");
    keel.write(
        "tools/weather.yaml",
        &TOOL.replace("python_runtime", "ruby_runtime"),
    );
    keel.run(&["chain", "verify", "tools/weather.yaml"])
        .exits(2)
        .says("no manifest of `ruby_runtime` in tools");
}

#[cfg(unix)]
#[test]
fn a_file_of_a_chain_is_not_a_link_that_leads_out_of_its_folder() {
    use std::os::unix::fs::symlink;
    let keel = three();
    keel.run(&["chain", "show", "tools/weather.yaml"]).exits(0);
    keel.write("outside/secret", "secret");
    let file = keel.folder().join("tools/weather.py");
    std::fs::remove_file(&file).unwrap();
    symlink("../outside/secret", &file).unwrap();
    keel.run(&["chain", "show", "tools/weather.yaml"])
        .exits(2)
        .says("leads out of the manifest's folder");
    // Within the folder it is a file like any other.
    keel.write("tools/real.py", "print()");
    std::fs::remove_file(&file).unwrap();
    symlink("real.py", &file).unwrap();
    keel.run(&["chain", "show", "tools/weather.yaml"]).exits(0);
}

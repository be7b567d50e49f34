//! Where tools are declared: the marked lines of `fixtures/locate`, and no others; one place or
//! none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mcp_keel::locate::{Declaration, Language, Limits, declarations, locate, locate_within};

use crate::keel::{Keel, serving};

const MARK: &str = "declares: ";

fn language(path: &Path) -> Option<Language> {
    Some(match path.extension()?.to_str()? {
        "ts" | "js" => Language::Script,
        "py" => Language::Python,
        "rs" => Language::Rust,
        "go" => Language::Go,
        "java" => Language::Java,
        "kt" => Language::Kotlin,
        "cs" => Language::CSharp,
        _ => return None,
    })
}

/// Every quoted text and every word of a source: anything that a careless search could take for a
/// tool.
fn candidates(text: &str) -> BTreeSet<&str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_')
        .filter(|word| word.len() > 2)
        .collect()
}

#[test]
fn exactly_the_marked_lines_declare_tools() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/locate");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(language) = language(&path) else {
            continue;
        };
        let text = std::fs::read_to_string(&path).unwrap();
        let expected: BTreeSet<(&str, usize)> = text
            .lines()
            .enumerate()
            .filter_map(|(at, line)| Some((line.split_once(MARK)?.1.trim(), at + 1)))
            .collect();
        let mut candidates = candidates(&text);
        if language == Language::CSharp {
            // A method has several names: as written, and as the SDK rewrites it.
            candidates.retain(|name| !name.starts_with(char::is_uppercase));
            candidates.extend(["get_alerts", "list_http_stations"]);
        }
        let found: BTreeSet<(&str, usize)> = declarations(&text, language, &candidates)
            .into_iter()
            .collect();
        assert_eq!(found, expected, "{}", path.display());
        assert!(!expected.is_empty());
        seen += 1;
    }
    assert_eq!(seen, 9);
}

fn folder(files: &[(&str, &str)]) -> Keel {
    let keel = Keel::new();
    for (name, text) in files {
        keel.write(name, text);
    }
    keel
}

fn found(keel: &Keel, tool: &str) -> Option<Declaration> {
    locate(keel.folder(), &BTreeSet::from([tool])).remove(tool)
}

const ONE: &str = "\nserver.registerTool('get', {}, f);\n";

#[test]
fn a_tool_declared_once_is_found_and_one_declared_twice_is_not() {
    let keel = folder(&[("src/a.ts", ONE)]);
    let place = Declaration {
        path: PathBuf::from("src/a.ts"),
        line: 2,
    };
    assert_eq!(found(&keel, "get"), Some(place));
    assert_eq!(found(&keel, "other"), None);
    keel.write("packages/b/index.js", ONE);
    assert_eq!(found(&keel, "get"), None);
}

#[test]
fn tests_documents_builds_and_third_party_code_are_not_searched() {
    let keel = folder(&[
        ("src/a.ts", ONE),
        ("src/a.test.ts", ONE),
        ("src/__tests__/a.ts", ONE),
        ("tests/a.ts", ONE),
        ("docs/a.ts", ONE),
        ("dist/index.js", ONE),
        ("node_modules/x/index.js", ONE),
        ("README.md", ONE),
        ("mcp-baseline.json", "{\"name\": \"get\"}"),
        ("test_a.py", "@mcp.tool()\ndef get(): ...\n"),
        ("a_test.go", "mcp.NewTool(\"get\")\n"),
    ]);
    assert_eq!(found(&keel, "get").unwrap().path, Path::new("src/a.ts"));
}

#[test]
fn ignored_files_are_not_searched() {
    let keel = folder(&[
        ("src/a.ts", ONE),
        ("generated/b.ts", ONE),
        (".gitignore", "generated\n"),
    ]);
    assert_eq!(found(&keel, "get"), None);
    crate::machine::git(keel.folder(), &["init", "-q"]);
    assert_eq!(found(&keel, "get").unwrap().path, Path::new("src/a.ts"));
}

#[test]
fn a_search_that_reached_its_limit_claims_nothing() {
    let keel = folder(&[("a.ts", ONE), ("b.ts", "export {};\n")]);
    let tools = BTreeSet::from(["get"]);
    for limits in [
        Limits {
            files: 1,
            ..Limits::default()
        },
        Limits {
            entries: 1,
            ..Limits::default()
        },
    ] {
        assert!(locate_within(keel.folder(), &tools, &limits).is_empty());
    }
    assert_eq!(locate(keel.folder(), &tools).len(), 1);
}

#[test]
fn check_reports_the_line_that_declares_a_changed_tool() {
    let tools = |description: &str| {
        format!(
            r#"[{{"name":"get","description":"{description}","inputSchema":{{"type":"object"}}}}]"#
        )
    };
    let keel = folder(&[("src/a.ts", ONE)]);
    keel.run_serving(&["pin"], &tools("Gets.")).exits(0);
    let [program, scenario] = serving(&tools("Gets a thing."));
    let run = |format: &str| {
        let args = ["check", "--format", format, "--", &program, &scenario];
        keel.run(&args).exits(1)
    };
    let report = run("json").json();
    assert_eq!(
        report["servers"][0]["changes"][0]["source"],
        serde_json::json!({"path": "src/a.ts", "line": 2})
    );
    run("github").says("::error file=src/a.ts,line=2,title=get%3A description changed");
    run("markdown").says("`src/a.ts:2`");
    let sarif = run("sarif").json();
    let related = &sarif["runs"][0]["results"][0]["relatedLocations"][0];
    assert_eq!(
        related["physicalLocation"]["artifactLocation"]["uri"],
        "src/a.ts"
    );
}

#[test]
fn a_renamed_tool_is_located_by_its_new_name_and_a_removed_one_not_at_all() {
    let tool = |name: &str| {
        let schema = r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}"#;
        format!(
            r#"{{"name":"{name}","description":"Forecast for a city, day by day.","inputSchema":{schema}}}"#
        )
    };
    let gone = r#"{"name":"gone","description":"Something else.","inputSchema":{"type":"object"}}"#;
    let keel = folder(&[(
        "a.py",
        "@mcp.tool()\ndef forecast_of(): ...\n@mcp.tool()\ndef get_forecast(): ...\n@mcp.tool()\ndef gone(): ...\n",
    )]);
    keel.run_serving(&["pin"], &format!("[{},{gone}]", tool("get_forecast")))
        .exits(0);
    let [program, scenario] = serving(&format!("[{}]", tool("forecast_of")));
    let args = ["check", "--format", "json", "--", &program, &scenario];
    let report = keel.run(&args).exits(1).json();
    let source = |rule: &str| {
        let changes = report["servers"][0]["changes"].as_array().unwrap();
        let change = changes.iter().find(|it| it["rule"] == rule).unwrap();
        change["source"].clone()
    };
    assert_eq!(source("tool-renamed")["line"], 2);
    assert_eq!(source("tool-removed"), serde_json::Value::Null);
}

//! The program's responses to common mistakes: what is wrong, where, and what to do.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Comparison;
use crate::keel::{Keel, Run};
use crate::scripted::example;

/// A mistake: the name of its file, the existing files, and the command line. `server` starts the
/// scripted server.
struct Mistake {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    line: &'static str,
}

const fn mistake(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    line: &'static str,
) -> Mistake {
    Mistake { name, files, line }
}

const ONE: (&str, &str) = ("one.json", r#"{"tools": [{"name": "one"}]}"#);
const CONFIG: (&str, &str) = (
    "mcp-keel.toml",
    "[server.weather]\ncommand = [\"bin/server\", \"one.json\"]\n",
);

const MISTAKES: &[Mistake] = &[
    // The command line
    mistake("misspelt-command", &[], "chekc"),
    mistake("misspelt-flag", &[CONFIG, ONE], "check --fial-on any"),
    mistake("misspelt-value", &[CONFIG, ONE], "check --fail-on brekaing"),
    mistake("misspelt-format", &[CONFIG, ONE], "check --format sarf"),
    mistake("misspelt-server", &[CONFIG, ONE], "check wether"),
    mistake("misspelt-rule", &[], "explain tool-remvoed"),
    mistake("no-server", &[], "check"),
    mistake(
        "header-for-stdio",
        &[ONE],
        "check --header X:y -- bin/server one.json",
    ),
    mistake("shard-out-of-range", &[CONFIG, ONE], "check --shard 3/2"),
    // The baseline
    mistake("no-baseline", &[CONFIG, ONE], "check"),
    mistake(
        "baseline-not-json",
        &[CONFIG, ONE, ("mcp-baseline.json", "<<<<<<< HEAD\n{}\n")],
        "check",
    ),
    mistake(
        "baseline-of-a-later-version",
        &[
            CONFIG,
            ONE,
            ("mcp-baseline.json", "{\n  \"manifestVersion\": 99\n}\n"),
        ],
        "check",
    ),
    // The configuration
    mistake(
        "config-unknown-key",
        &[(
            "mcp-keel.toml",
            "[server.weather]\ncomand = [\"node\", \"dist/index.js\"]\n",
        )],
        "check",
    ),
    mistake(
        "config-wrong-type",
        &[(
            "mcp-keel.toml",
            "[server.weather]\ncommand = [\"node\"]\ntimeout = \"ten\"\n",
        )],
        "check",
    ),
    mistake(
        "config-not-toml",
        &[("mcp-keel.toml", "[server.weather\ncommand = [\"node\"]\n")],
        "check",
    ),
    mistake(
        "config-unknown-rule",
        &[(
            "mcp-keel.toml",
            "[server.weather]\ncommand = [\"node\"]\n\n[policy.rules]\n\"tool-remvoed\" = \"warn\"\n",
        )],
        "check",
    ),
    mistake(
        "config-acceptance-without-a-reason",
        &[(
            "mcp-keel.toml",
            "[server.weather]\ncommand = [\"node\"]\n\n[[accept]]\nchange = \"00000000000000000000000000000000\"\nowner = \"me\"\n",
        )],
        "check",
    ),
    mistake("config-missing", &[], "check --config nowhere.toml"),
    mistake(
        "client-config-missing-variable",
        &[(
            ".mcp.json",
            "{\"mcpServers\": {\n  \"airtable\": {\"command\": \"npx\", \"env\": {\"KEY\": \"${AIRTABLE_API_KEY}\"}}\n}}\n",
        )],
        "check --from .mcp.json",
    ),
    // The server
    mistake("command-not-found", &[], "pin weather -- no-such-server"),
    mistake(
        "command-not-executable",
        &[("server.js", "console.log('hello')\n")],
        "pin weather -- ./server.js",
    ),
    mistake(
        "server-exits",
        &[(
            "exits.json",
            r#"{"start": [{"stderr": "API_KEY is missing"}, {"exit": 1}]}"#,
        )],
        "pin weather -- bin/server exits.json",
    ),
    mistake(
        "server-silent",
        &[("silent.json", r#"{"on": {"initialize": []}}"#)],
        "pin weather --timeout 1 -- bin/server silent.json",
    ),
    mistake(
        "server-prints-on-stdout",
        &[(
            "prints.json",
            r#"{"start": [{"raw": "Listening on port 3000"}], "on": {"initialize": []}}"#,
        )],
        "pin weather --timeout 1 -- bin/server prints.json",
    ),
    mistake(
        "server-answers-with-an-error",
        &[(
            "refuses.json",
            r#"{"tools": [], "on": {"tools/list": [{"error": {"code": -32000, "message": "not logged in"}}]}}"#,
        )],
        "pin weather -- bin/server refuses.json",
    ),
    mistake("server-echoes", &[], "pin weather -- cat"),
    mistake(
        "address-without-a-scheme",
        &[],
        "pin weather --url localhost:8080/mcp",
    ),
    mistake(
        "address-refused",
        &[],
        "pin weather --url http://127.0.0.1:1/mcp",
    ),
    mistake(
        "header-variable-not-set",
        &[],
        "pin weather --url http://127.0.0.1:1/mcp --header Authorization:${TOKEN}",
    ),
    // Sources
    mistake("source-missing", &[ONE], "diff one.json nowhere.json"),
    mistake(
        "source-without-tools",
        &[ONE, ("empty.json", "{}")],
        "diff one.json empty.json",
    ),
    mistake(
        "source-not-json",
        &[ONE, ("broken.json", "{\n  \"tools\": [}\n")],
        "diff one.json broken.json",
    ),
    // Others
    mistake("action-outside-github", &[CONFIG, ONE], "action"),
    mistake("report-of-another-kind", &[ONE], "merge one.json"),
];

pub(super) fn names() -> BTreeSet<String> {
    MISTAKES
        .iter()
        .map(|it| format!("{}.txt", it.name))
        .collect()
}

#[test]
fn of_common_mistakes() {
    let mut comparison = Comparison::default();
    for mistake in MISTAKES {
        let keel = Keel::new();
        std::fs::create_dir(keel.folder().join("bin")).unwrap();
        let server = keel.folder().join("bin/server");
        std::os::unix::fs::symlink(example("scripted-server"), server).unwrap();
        for (name, text) in mistake.files {
            keel.write(name, text);
        }
        let words: Vec<&str> = mistake.line.split(' ').collect();
        let run = keel.run(&words);
        assert_ne!(run.code, 0, "{} is not a mistake: {run:?}", mistake.name);
        let text = transcript(mistake.line, &run);
        let here = keel.folder().to_string_lossy();
        assert!(!text.contains(&*here), "a path of this machine: {text}");
        comparison.file(&format!("errors/{}.txt", mistake.name), &text);
    }
    comparison.finish();
}

/// As on a terminal, with the exit code.
fn transcript(line: &str, run: &Run) -> String {
    let mut text = format!("$ mcp-keel {line}\n");
    for printed in [&run.stdout, &run.stderr] {
        if !printed.is_empty() {
            let _ = writeln!(text, "{}", printed.trim_end());
        }
    }
    let _ = writeln!(text, "exit {}", run.code);
    text
}

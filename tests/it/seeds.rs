//! The committed seeds of the fuzz targets, replayed, and texts that are made to have an effect somewhere.

use std::path::Path;

use mcp_keel::canonical::{Json, Text, is_unseen, to_compact};
use proptest::prelude::*;

use crate::properties::{TARGETS, rendered};
use crate::surfaces;

#[test]
fn every_committed_seed_still_passes() {
    for (name, property) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        let seeds = std::fs::read_dir(&folder);
        let seeds = seeds.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut seeds: Vec<_> = seeds.map(|entry| entry.unwrap().path()).collect();
        assert!(!seeds.is_empty(), "{name} has no seeds");
        seeds.sort();
        for seed in seeds {
            let bytes = std::fs::read(&seed).unwrap();
            let replayed = std::panic::catch_unwind(|| property(&bytes));
            assert!(replayed.is_ok(), "{}", seed.display());
        }
    }
}

/// Fragments that have an effect somewhere, are invisible, or are easily lost or confused.
const PARTS: &[&str] = &[
    "\u{1b}[31m",
    "\u{7}",
    "\nhelp: x\nerror: y",
    "\u{9b}2J",
    "\u{7f}",
    "\u{85}",
    "\u{0}",
    "\r\n",
    "\n",
    "\t",
    "\u{2028}",
    "\u{2029}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{200d}",
    "\u{ad}",
    "\u{34f}",
    "\u{e0041}",
    "\u{fe0f}",
    "\u{fe01}",
    "\u{e0101}",
    "\u{a0}",
    "\u{3000}",
    "\u{2800}",
    "\u{feff}",
    "\u{fffe}",
    "\u{e000}",
    "\\",
    "\\\\",
    "\\n",
    "\\t",
    "\\u{202e}",
    "\\u{5c}",
    "\\u{}",
    "u{",
    "n",
    "}",
    "::error::",
    "::set-output name=a::b",
    "::",
    ":",
    "##[error]",
    "##vso[",
    "##",
    "#",
    "`",
    "``",
    "```",
    "|",
    "<!-- ",
    "-->",
    "<script>",
    "</pre>",
    "&lt;",
    "&",
    "@all",
    "#12",
    "[a](b)",
    "![a](b)",
    "{0}",
    "{{",
    "}}",
    "]]>",
    "%0A",
    "%25",
    ",",
    "www.example.com",
    "https://example.com/a?b",
    "abcdef1",
    "ABC-123",
    "1.",
    "- ",
    "    ",
    " ",
    "  ",
    "*a*",
    "_b_",
    "~~c~~",
    "$d$",
    "\"",
    "'",
    "é",
    "e\u{301}",
    "а",
    "a",
    "word",
    "\u{fffd}",
    "\u{1f600}",
];

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => (0..PARTS.len()).prop_map(|at| PARTS[at].to_owned()),
        1 => any::<String>(),
        1 => "[a-zA-Z ]{1,10}",
        1 => "x{1,300}",
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// The same texts on every run: `MCP_KEEL_SEED` tries others.
fn seeded() -> ProptestConfig {
    let seed = std::env::var("MCP_KEEL_SEED").ok();
    let seed = seed.and_then(|it| it.parse().ok()).unwrap_or(1);
    ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn sink(name: &str, text: &str) {
    let (_, holds) = rendered::SINKS.iter().find(|it| it.0 == name).unwrap();
    holds(text);
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn a_terminal_shows_harmlessly_and_unmistakably(text in text()) {
        sink("terminal", &text);
    }

    #[test]
    fn a_block_shows_harmlessly_and_unmistakably(text in text()) {
        sink("block", &text);
    }

    #[test]
    fn a_value_shows_harmlessly_and_unmistakably(text in text()) {
        sink("value", &text);
    }

    #[test]
    fn json_shows_harmlessly_and_unmistakably(text in text()) {
        sink("json", &text);
    }

    #[test]
    fn markdown_shows_harmlessly_and_unmistakably(text in text()) {
        sink("markdown", &text);
    }

    #[test]
    fn code_shows_harmlessly_and_unmistakably(text in text()) {
        sink("code", &text);
    }

    #[test]
    fn a_fence_shows_harmlessly_and_unmistakably(text in text()) {
        sink("fence", &text);
    }

    #[test]
    fn html_shows_harmlessly_and_unmistakably(text in text()) {
        sink("html", &text);
    }

    #[test]
    fn junit_xml_shows_harmlessly_and_unmistakably(text in text()) {
        sink("xml", &text);
    }

    #[test]
    fn a_workflow_command_shows_harmlessly_and_unmistakably(text in text()) {
        sink("workflow command", &text);
    }

    #[test]
    fn sarif_shows_harmlessly_and_unmistakably(text in text()) {
        sink("sarif", &text);
    }

    #[test]
    fn an_output_file_contains_exactly_the_value(text in text()) {
        sink("output file", &text);
    }

    #[test]
    fn a_cut_counts_what_it_left_out(text in text()) {
        sink("cut", &text);
    }

    #[test]
    fn two_texts_never_look_the_same(one in text(), other in text(), common in text()) {
        rendered::apart(&one, &other);
        rendered::apart(&(common.clone() + &one), &(common + &other));
    }

    #[test]
    fn a_lone_surrogate_is_shown_as_such(units in proptest::collection::vec(any::<u16>(), 0..20)) {
        rendered::lone_surrogates(&Text::from_utf16(&units));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..seeded() })]

    #[test]
    fn every_format_of_a_report_is_harmless(name in text(), old in text(), new in text(), quoted in text()) {
        let tool = |description: &str, kind: &str| {
            let property = Json::object([("type", Json::string(kind)), ("title", Json::string(description))]);
            Json::object([
                ("name", Json::string(name.as_str())),
                ("description", Json::string(description)),
                ("inputSchema", Json::object([
                    ("type", Json::string("object")),
                    ("properties", Json::object([(name.as_str(), property)])),
                ])),
            ])
        };
        let surface = |tools: Vec<Json>| {
            let document = Json::object([
                ("initialize", Json::object([
                    ("serverInfo", Json::object([("name", Json::string(quoted.as_str()))])),
                    ("instructions", tools[0].get("description").cloned().unwrap()),
                ])),
                ("tools", Json::Array(tools)),
            ]);
            surfaces::of(&to_compact(&document))
        };
        let before = surface(vec![tool(&old, "string"), Json::object([("name", Json::string(old.as_str()))])]);
        let after = surface(vec![tool(&new, "integer"), Json::object([("name", Json::string(new.as_str()))])]);
        let report = rendered::made(&before, &after, &quoted);
        rendered::check_every_format(&report);
    }

    #[test]
    fn an_error_is_harmless_and_its_help_is_ours(quoted in text()) {
        let error = mcp_keel::capture::CaptureError::Refused { method: "tools/list", error: quoted.clone() };
        let error = mcp_keel::source::SourceError::Capture {
            what: quoted.clone(),
            failure: Box::new(mcp_keel::capture::CaptureFailure {
                error,
                stderr: quoted.into_bytes(),
                missing_variables: Box::default(),
                sandbox: None,
            }),
        };
        let shown = mcp_keel::cli::Error::from(error).to_string();
        prop_assert!(shown.chars().all(|it| it == '\n' || !is_unseen(it)), "{shown:?}");
        let helps = shown.lines().filter(|it| it.starts_with("help:")).count();
        prop_assert_eq!(helps, 1, "{}", shown);
    }
}

//! Every report format: its structure, its limits, and its handling of hostile text.

use std::collections::{BTreeMap, BTreeSet};

use comrak::nodes::{Node, NodeValue};
use comrak::{Arena, Options, parse_document};
use mcp_keel::canonical::is_invisible;
use mcp_keel::drift;
use mcp_keel::policy::{Action, Date, Policy, check_version};
use mcp_keel::report::{
    AnnotationLevel, CHECK_RUN_LIMIT, COMMENT_LIMIT, Comparison, Cost, Definition, Failure,
    Finding, Format, Located, Place, Report, SUMMARY_LIMIT, ServerReport, Status, Style,
    annotations, escape, github, html, junit, markdown, render, sarif,
};
use mcp_keel::rules::RuleId;
use mcp_keel::surface::{ComponentKey, Kind, Note, Surface};
use proptest::prelude::*;
use serde_json::{Value, json};

const TODAY: Date = Date {
    year: 2026,
    month: 6,
    day: 15,
};

/// Characters that show nothing and are no controls to the standard library.
const GLYPHLESS: &str =
    "\u{13430}\u{13438}\u{13440}\u{16fe4}\u{1da9b}\u{1bca0}\u{1d173}\u{600}\u{fff9}without a glyph";

/// Text that has an effect in some sink, with the part of it that a reviewer must still see.
const HOSTILE: [(&str, &str); 39] = [
    (GLYPHLESS, "without a glyph"),
    ("::error::pwned1", "pwned1"),
    ("::error file=a,line=1::pwned2", "pwned2"),
    ("first\n::warning::pwned3", "pwned3"),
    ("first\r\n  ::add-mask::pwned4", "pwned4"),
    ("##[error]pwned5", "pwned5"),
    ("##vso[task.setvariable]pwned6", "pwned6"),
    ("%0A::error::pwned7", "%0A"),
    ("@everyone", "@everyone"),
    ("hello @octocat, look", "@octocat"),
    ("#123", "#123"),
    ("owner/repo#45", "owner/repo#45"),
    ("GH-12", "GH-12"),
    ("JIRA-77", "JIRA-77"),
    ("deadbeefcafe12345678", "deadbeefcafe12345678"),
    ("<script>alert(1)</script>", "alert(1)"),
    ("<img src=x onerror=alert(2)>", "onerror=alert(2)"),
    ("<!-- hidden3 -->", "hidden3"),
    ("</details></summary>", "details"),
    ("</td></tr></table>", "table"),
    ("![](http://evil.example/4.png)", "evil.example/4.png"),
    ("[click5](http://evil.example/)", "click5"),
    ("https://evil.example/?a=6&b=7", "evil.example/?a=6"),
    ("www.evil.example/8", "evil.example/8"),
    ("mail me: a@evil.example", "a@evil.example"),
    ("`tick9` ``tick10`` ```tick11```", "tick11"),
    ("```\nfence12\n```\n~~~\n", "fence12"),
    ("| cell13 | cell14 |\n| --- | --- |", "cell14"),
    ("]]>cdata15", "cdata15"),
    ("\u{1b}[31mred16\u{1b}[0m\u{9b}2J", "red16"),
    ("\u{202e}txt17\u{202c}\u{2066}\u{200b}\u{feff}", "txt17"),
    ("nul18\u{0}\u{1}\u{b}\u{c}\u{fffe}\u{ffff}", "nul18"),
    (
        "# heading19\n- list\n> quote\n1. one\n***\n===",
        "heading19",
    ),
    ("*emph20* _emph21_ ~~gone22~~ $x^2$ $$y$$", "emph21"),
    (":tada: :+1: &lt; &#64; \\@x", ":tada:"),
    ("{0} {{1}} ${{ secrets.TOKEN }}", "secrets.TOKEN"),
    ("\" onmouseover=\"alert(23)", "alert(23)"),
    ("' style='x24", "x24"),
    ("[^note25]: x\n[ref26]: http://evil.example", "ref26"),
];

fn surface(capture: &Value) -> Surface {
    crate::surfaces::of(&capture.to_string())
}

fn place(path: &str, line: usize) -> Option<Place> {
    Some(Place {
        path: path.into(),
        line,
    })
}

/// A report of one server between two tool lists.
fn server(name: &str, old: Value, new: Value) -> ServerReport {
    let (old, new) = (surface(&old), surface(&new));
    let judged = Policy::strict().judge(name, drift::compare(&old, &new), TODAY);
    let changes = judged.into_iter().enumerate().map(|(at, judged)| Located {
        judged,
        location: place("mcp-baseline.json", at + 1),
        source: place("src/tools.ts", 12).filter(|_| at % 2 == 0),
    });
    let changes: Vec<Located> = changes.collect();
    ServerReport {
        name: name.to_owned(),
        status: Status::Drifted,
        definitions: Definition::of_changed(Some(&old), Some(&new), &changes),
        changes,
        findings: Vec::new(),
        version: check_version(Some("1.0.0"), Some("1.0.1"), None),
        cost: Cost::new(Some(&old), Some(&new)),
        components: 3,
        accept_with: format!("mcp-keel pin {name}"),
        third_party: false,
        listed: Vec::new(),
    }
}

fn report(servers: Vec<ServerReport>) -> Report {
    Report::new(Comparison::Check, servers, Vec::new())
}

/// Hostile text everywhere a server, a configuration or a file name can put it.
fn hostile(text: &str) -> Report {
    let tool = |name: &str, text: &str| {
        json!({
            "name": name,
            "title": text,
            "description": text,
            "inputSchema": {"type": "object", "properties": {
                (text): {"type": "string", "enum": [text, "b"], "default": text, "description": text},
            }},
        })
    };
    let old = json!({"tools": [tool("same", "before"), tool("gone", text), {
        "name": "narrowed", "inputSchema": {"type": "object", "properties": {"p": {"enum": [text, "b"]}}},
    }]});
    let new = json!({"tools": [tool("same", text), tool(text, text), {
        "name": "narrowed", "inputSchema": {"type": "object", "properties": {"p": {"enum": ["b"]}}, "required": ["p"]},
    }]});
    let mut drifted = server(text, old, new);
    for (at, located) in drifted.changes.iter_mut().enumerate() {
        if at % 3 == 0 {
            located.location = place(&format!("a {text}.json"), 7);
            located.source = place(&format!("src/{text}.ts"), 3);
        }
    }
    let finding = |component: Option<&str>| Finding {
        note: Note {
            rule: RuleId::ComponentRepeated,
            component: component.map(|name| ComponentKey::new(Kind::Tool, name, "")),
            message: text.to_owned(),
        },
        action: Action::Warn,
    };
    drifted.findings.push(finding(Some(text)));
    drifted.version = check_version(Some(text), Some("1.0.1"), None);
    let failed = ServerReport {
        status: Status::Undetermined(Failure {
            stderr: format!("{text}\n{text}\n"),
            command: text.to_owned(),
            ..Failure::new(text.to_owned(), text.to_owned())
        }),
        changes: Vec::new(),
        findings: Vec::new(),
        ..drifted.clone()
    };
    let servers = vec![drifted, failed];
    Report::new(Comparison::Check, servers, vec![finding(None)])
}

fn every_format(report: &Report) -> BTreeMap<&'static str, String> {
    let formats = Format::ALL.iter();
    formats
        .map(|it| (it.word(), render(report, *it, Style::default())))
        .collect()
}

/// How GitHub's runner parses a line: the name of the command, its properties, its message.
fn command(line: &str) -> Option<(String, BTreeMap<String, String>, String)> {
    let known = [
        "error",
        "warning",
        "notice",
        "debug",
        "group",
        "endgroup",
        "add-mask",
        "add-path",
        "echo",
        "set-env",
        "set-output",
        "save-state",
        "stop-commands",
        "add-matcher",
        "remove-matcher",
        "internal-set-repo-path",
    ];
    let is_known = |name: &str| known.contains(&name.to_ascii_lowercase().as_str());
    let unescape = |text: &str| {
        text.replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%25", "%")
    };
    if let Some((info, data)) = line
        .trim_start()
        .strip_prefix("::")
        .and_then(|rest| rest.split_once("::"))
    {
        let (name, properties) = info.split_once(' ').unwrap_or((info, ""));
        if is_known(name) {
            let properties = properties
                .split(',')
                .filter_map(|pair| pair.split_once('='))
                .map(|(key, value)| (key.to_owned(), unescape(value)))
                .collect();
            return Some((name.to_owned(), properties, unescape(data)));
        }
    }
    let (_, rest) = line.split_once("##[")?;
    let (info, data) = rest.split_once(']')?;
    let name = info.split(' ').next().unwrap_or_default();
    is_known(name).then(|| (name.to_owned(), BTreeMap::new(), data.to_owned()))
}

#[test]
fn controls_invisible_characters_and_commands_are_defused_but_visible_in_every_format() {
    for (text, seen) in HOSTILE {
        for (format, output) in every_format(&hostile(text)) {
            let bad = |it: char| it != '\n' && (it.is_control() || is_invisible(it));
            assert_eq!(
                output.chars().find(|it| bad(*it)),
                None,
                "{format} of {text:?}"
            );
            assert!(!output.contains("##vso["), "{format} of {text:?}");
            let raw = GLYPHLESS
                .chars()
                .find(|it| !it.is_ascii() && output.contains(*it));
            assert_eq!(raw, None, "{format} of {text:?}");
            if format != "github" {
                let found = output.lines().find(|line| command(line).is_some());
                assert_eq!(found, None, "{format} of {text:?}");
            }
            let visible = match format {
                "html" | "junit" => output
                    .replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&quot;", "\"")
                    .replace("&#39;", "'")
                    .replace("&amp;", "&"),
                "github" => output
                    .replace("%3A", ":")
                    .replace("%2C", ",")
                    .replace("%25", "%"),
                "terminal" => output.split_whitespace().collect::<Vec<_>>().join(" "),
                _ => output,
            };
            assert!(
                visible.contains(seen),
                "{format} hides {seen:?}:\n{visible}"
            );
        }
    }
}

#[test]
fn workflow_commands_are_only_ours_and_carry_the_text() {
    for (text, _) in HOSTILE {
        let report = hostile(text);
        let output = github(&report);
        let mut levels: BTreeMap<String, usize> = BTreeMap::new();
        for line in output.lines() {
            let (name, properties, message) = command(line).unwrap_or_else(|| panic!("{line}"));
            assert!(["error", "warning", "notice"].contains(&name.as_str()));
            let keys: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
            assert!(
                keys.is_subset(&BTreeSet::from(["file", "line", "title"])),
                "{line}"
            );
            assert!(
                !properties["title"].is_empty() && !message.is_empty(),
                "{line}"
            );
            assert!(
                message.lines().all(|line| command(line).is_none()),
                "{line}"
            );
            *levels.entry(name).or_default() += 1;
        }
        assert!(levels.values().all(|count| *count <= 10), "{levels:?}");
    }
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    let it = &mut options.extension;
    it.table = true;
    it.autolink = true;
    it.strikethrough = true;
    it.tasklist = true;
    it.footnotes = true;
    it.alerts = true;
    it.math_dollars = true;
    it.math_code = true;
    options
}

/// What GitHub acts upon in rendered text: mentions, references, URLs, commits.
fn acts(text: &str) -> bool {
    let commit = text
        .split(|it: char| !it.is_ascii_alphanumeric())
        .any(|run| run.len() >= 7 && run.bytes().all(|it| it.is_ascii_hexdigit()));
    let reference = text
        .split(|it: char| !(it.is_ascii_alphanumeric() || it == '-'))
        .filter_map(|word| word.split_once('-'))
        .any(|(_, rest)| rest.starts_with(|it: char| it.is_ascii_digit()));
    text.contains(['@', '#', '`', '|', '<', '$'])
        || text.contains("://")
        || text.contains("www.")
        || commit
        || reference
}

/// Only known tags, with text that is code or harmless.
fn is_our_html(block: &str) -> bool {
    let mut rest = block;
    let mut in_code = false;
    while let Some((text, tail)) = rest.split_once('<') {
        if !in_code && acts(text) {
            return false;
        }
        let Some((tag, tail)) = tail.split_once('>') else {
            return false;
        };
        let name = tag.trim_start_matches('/');
        if !["details", "summary", "code", "table", "tr", "th", "td"].contains(&name) {
            return false;
        }
        if name == "code" {
            in_code = !tag.starts_with('/');
        }
        rest = tail;
    }
    !acts(rest) && !rest.contains('>')
}

/// What a document contains that it must not.
fn offence<'a>(root: Node<'a>) -> Option<String> {
    root.descendants().find_map(|node| {
        let data = node.data();
        match &data.value {
            NodeValue::Link(link) => {
                let ours = [
                    "https://github.com/mcp-keel/mcp-keel/blob/main/docs/rules.md#",
                    "https://github.com/mcp-keel/mcp-keel#install",
                ];
                (!ours.iter().any(|it| link.url.starts_with(it)))
                    .then(|| format!("a link to {}", link.url))
            }
            NodeValue::HtmlBlock(html) => {
                (!is_our_html(&html.literal)).then(|| format!("html: {}", html.literal))
            }
            NodeValue::HtmlInline(tag) => {
                (!["<sub>", "</sub>"].contains(&tag.as_str())).then(|| format!("html: {tag}"))
            }
            NodeValue::Text(text) => acts(text).then(|| format!("text that acts: {text}")),
            NodeValue::Document
            | NodeValue::Paragraph
            | NodeValue::Heading(_)
            | NodeValue::List(_)
            | NodeValue::Item(_)
            | NodeValue::Code(_)
            | NodeValue::CodeBlock(_)
            | NodeValue::Table(_)
            | NodeValue::TableRow(_)
            | NodeValue::TableCell
            | NodeValue::Strong
            | NodeValue::SoftBreak => None,
            other => Some(format!("{other:?}")),
        }
    })
}

/// The shape of a document: the number of nodes of each kind.
fn shape<'a>(root: Node<'a>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for node in root.descendants() {
        let name = match &node.data().value {
            NodeValue::Heading(_) => "heading",
            NodeValue::Table(_) => "table",
            NodeValue::TableRow(_) => "row",
            NodeValue::TableCell => "cell",
            NodeValue::CodeBlock(_) => "fence",
            NodeValue::HtmlBlock(_) => "html",
            NodeValue::Item(_) => "item",
            _ => continue,
        };
        *counts.entry(name).or_default() += 1;
    }
    counts
}

#[test]
fn hostile_text_is_text_or_code_in_markdown_and_never_changes_its_shape() {
    for (text, _) in HOSTILE {
        let output = markdown(&hostile(text), usize::MAX);
        let arena = Arena::new();
        let root = parse_document(&arena, &output, &options());
        assert_eq!(offence(root), None, "{text:?}:\n{output}");
        let mut fence: Option<&str> = None;
        let outside: Vec<&str> = output
            .lines()
            .filter(|line| {
                let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
                match fence {
                    None if ticks.len() >= 3 => fence = Some(ticks),
                    None => return true,
                    Some(open) if *line == open => fence = None,
                    Some(_) => {}
                }
                false
            })
            .collect();
        let lines = |start: &str| outside.iter().filter(|it| it.starts_with(start)).count();
        let shape = shape(root);
        let tables = lines("| --- |");
        let rows = lines("| ") - tables;
        let wanted = [
            // The first line, and one for each server.
            ("heading", 3),
            ("table", tables),
            ("row", rows),
            ("cell", 3 * rows),
            ("item", lines("- ")),
        ];
        for (node, count) in wanted {
            assert_eq!(
                shape.get(node),
                Some(&count),
                "{node} of {text:?}:\n{output}"
            );
        }
    }
}

/// Markdown that must be one paragraph of text and code: its text, and everything visible.
fn inline(markdown: &str) -> (Vec<String>, String) {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let (mut texts, mut visible) = (Vec::new(), String::new());
    for node in root.descendants() {
        match &node.data().value {
            NodeValue::Document | NodeValue::Paragraph => {}
            NodeValue::Text(text) => {
                texts.push(text.to_string());
                visible += text;
            }
            NodeValue::Code(code) => visible += &code.literal,
            other => panic!("{other:?} in {markdown:?}"),
        }
    }
    (texts, visible)
}

fn hostile_text() -> impl Strategy<Value = String> {
    let known = (0..HOSTILE.len()).prop_map(|at| HOSTILE[at].0.to_owned());
    let marks = "[`|<>@#*_\\[\\]()!~$&:;=+.0-9a-f \\\\\n-]{0,12}";
    let part = prop_oneof![known, marks, any::<String>(), "[a-zA-Z ]{1,10}"];
    proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

/// The same texts on every run: `MCP_KEEL_SEED` tries others.
fn seeded() -> ProptestConfig {
    let seed = std::env::var("MCP_KEEL_SEED")
        .ok()
        .and_then(|it| it.parse().ok());
    ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(seed.unwrap_or(1)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[test]
fn backticks_around_nothing_are_not_code() {
    for text in ["``tick9` ``tick10`` ```tick11```", "` `", "a` `b", "``"] {
        let bare = |text: &str| text.replace(['`', ' '], "");
        let (_, visible) = inline(&escape::markdown(text));
        assert_eq!(bare(&visible), bare(text), "{}", escape::markdown(text));
    }
}

proptest! {
    #![proptest_config(seeded())]
    #[test]
    fn escaped_markdown_is_only_text_and_code_and_loses_nothing(text in hostile_text()) {
        // Backticks around words become code, and a pipe its code point; spaces that would be
        // dropped are shown, and backslashes that would read as escapes doubled; nothing else
        // changes.
        let bare = |text: &str| -> String {
            let text = text.replace("\\u{20}", "");
            text.chars().filter(|it| !"`\\".contains(*it) && !it.is_whitespace()).collect()
        };
        let wanted = bare(&escape::line(&text).replace('|', "\\u{7c}"));
        let escaped = escape::markdown(&text);
        let (texts, visible) = inline(&escaped);
        prop_assert_eq!(bare(&visible), wanted.clone());
        for text in texts {
            prop_assert!(!acts(&text), "{text:?} of {escaped:?}");
        }
        // In a cell, the table keeps its number of cells.
        let arena = Arena::new();
        let table = format!("| a | b |\n| --- | --- |\n| x {escaped} | {} |\n", escape::code(&text));
        let root = parse_document(&arena, &table, &options());
        prop_assert_eq!(offence(root), None);
        prop_assert_eq!(shape(root), BTreeMap::from([("table", 1), ("row", 2), ("cell", 4)]));
    }

    #[test]
    fn code_is_one_code_span_and_a_fence_cannot_be_closed(text in hostile_text()) {
        let (texts, visible) = inline(&escape::code(&text));
        prop_assert!(texts.is_empty(), "{texts:?}");
        if !text.is_empty() && !text.contains(' ') {
            prop_assert_eq!(visible, escape::line(&text).replace('|', "\\u{7c}"));
        }
        let arena = Arena::new();
        let fenced = escape::fenced("json", &text);
        let root = parse_document(&arena, &fenced, &options());
        prop_assert_eq!(shape(root), BTreeMap::from([("fence", 1)]));
        prop_assert_eq!(root.children().count(), 1);
    }

    #[test]
    fn a_workflow_command_round_trips_its_text(text in hostile_text()) {
        let line = format!("::notice title={}::{}", escape::command_property(&text), escape::command_data(&text));
        prop_assert_eq!(line.lines().count().max(1), 1);
        let (_, properties, data) = command(&line).unwrap();
        prop_assert_eq!(properties.get("title").cloned().unwrap_or_default(), escape::block(&text).to_string());
        prop_assert_eq!(data, escape::block(&text).to_string());
    }

    #[test]
    fn xml_contains_only_what_xml_allows(text in hostile_text()) {
        let escaped = escape::xml(&text);
        let allowed = |it: char| matches!(it, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        prop_assert!(escaped.chars().all(allowed), "{escaped:?}");
        prop_assert!(!escaped.contains(['<', '>', '"']));
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        let known = escaped.match_indices('&').all(|(at, _)| entities.iter().any(|it| escaped[at..].starts_with(it)));
        prop_assert!(known, "{escaped:?}");
    }
}

#[test]
fn html_contains_only_our_tags() {
    let ours = [
        "!doctype",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "script",
        "body",
        "main",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "p",
        "code",
        "pre",
        "section",
        "article",
        "div",
        "span",
        "a",
        "ul",
        "li",
        "del",
        "ins",
        "mark",
        "details",
        "summary",
        "button",
        "label",
        "input",
        "select",
        "option",
        "fieldset",
        "legend",
        "output",
        "figure",
        "figcaption",
        "svg",
        "g",
        "rect",
        "text",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ];
    for (text, _) in HOSTILE {
        let output = html(&hostile(text));
        for tag in output.split('<').skip(1) {
            let name: String = tag
                .trim_start_matches('/')
                .chars()
                .take_while(|it| it.is_alphanumeric() || *it == '!')
                .collect();
            assert!(ours.contains(&name.as_str()), "<{tag} of {text:?}");
        }
        assert!(!output.contains(" src=") || text.contains("src="));
        for address in output.split("href=\"").skip(1) {
            let is_ours = address.starts_with("https://github.com/mcp-keel/mcp-keel/");
            assert!(is_ours || address.starts_with("#s"), "{address}");
        }
        // Ours, and no other: the page's policy has their digests.
        for tag in ["<script", "<style"] {
            assert_eq!(output.matches(tag).count(), 1, "{tag} of {text:?}");
        }
        assert!(!output.contains("'unsafe-"), "{text:?}");
        assert!(!output.contains(" style=\""), "{text:?}");
    }
}

#[test]
fn sarif_messages_contain_no_links_or_placeholders() {
    for (text, _) in HOSTILE {
        let log: Value = serde_json::from_str(&sarif(&hostile(text))).unwrap();
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        let notifications = run["invocations"][0]["toolExecutionNotifications"].as_array();
        for it in results.iter().chain(notifications.unwrap()) {
            let message = it["message"]["text"].as_str().unwrap();
            let bare = message
                .replace("\\\\", "")
                .replace("\\[", "")
                .replace("\\]", "");
            assert!(!bare.contains(['[', ']']), "{message}");
            let bare = message.replace("{{", "").replace("}}", "");
            assert!(!bare.contains(['{', '}']), "{message}");
        }
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
        for result in results {
            let at = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(run["tool"]["driver"]["rules"][at]["id"], result["ruleId"]);
            for location in [&result["locations"], &result["relatedLocations"]] {
                let places = location.as_array().into_iter().flatten();
                for place in places {
                    let uri = &place["physicalLocation"]["artifactLocation"]["uri"];
                    let plain = |it: char| it.is_ascii_alphanumeric() || "/-._~%".contains(it);
                    assert!(uri.as_str().unwrap().chars().all(plain), "{uri}");
                }
            }
        }
    }
}

/// A server on which this many tools lost a parameter's value, one with a new description, and one
/// is new.
fn many(count: usize) -> Report {
    let tools = |value: &str| -> Vec<Value> {
        let one = |at: usize| {
            json!({"name": format!("tool_{at:03}"), "inputSchema": {"type": "object", "properties": {
                (format!("p{at}")): {"enum": ["a", value]},
            }}})
        };
        (0..count).map(one).collect()
    };
    let mut new = tools("c");
    new.push(json!({"name": "brand_new", "inputSchema": {"type": "object"}}));
    let old = json!({"tools": tools("b")});
    report(vec![server("s", old, json!({"tools": new}))])
}

#[test]
fn annotations_are_complete_ordered_and_within_their_limits() {
    let report = many(137);
    let changes = report.changes().count();
    assert!(changes >= 137, "{changes}");
    let all = annotations(&report, Action::Warn, &|_| true);
    // On the declaration where it is known, else on the baseline: never on both.
    let source = |it: &&&Located| it.source.is_some();
    let (declared, others): (Vec<&Located>, Vec<&Located>) =
        report.changes().partition(|it| source(&it));
    let declared: BTreeSet<_> = declared
        .iter()
        .map(|it| it.judged.change.component.clone())
        .collect();
    assert_eq!(all.len(), others.len() + declared.len());
    assert!(all.windows(2).all(|pair| pair[0].level >= pair[1].level));
    assert!(all.iter().all(|it| it.level == AnnotationLevel::Failure));
    assert!(all[0].message.starts_with("breaking: "), "{:?}", all[0]);
    // Where the declaration is not shown, the baseline is.
    let all = annotations(&report, Action::Warn, &|path| path == "mcp-baseline.json");
    assert_eq!(all.len(), changes);
    assert_eq!(annotations(&report, Action::Warn, &|_| false), []);
    let huge = "x\u{1b}".repeat(20_000);
    for annotation in annotations(&hostile(&huge), Action::Audit, &|_| true) {
        assert!(annotation.title.chars().count() <= 255);
        assert!(annotation.message.len() <= 64_000);
        assert!(annotation.raw_details.is_none_or(|it| it.len() <= 64_000));
        assert!(annotation.start_line >= 1 && annotation.end_line >= annotation.start_line);
    }
}

#[test]
fn workflow_commands_stay_within_githubs_limits_and_count_the_rest() {
    let output = github(&many(137));
    assert_eq!(
        output
            .lines()
            .filter(|it| it.starts_with("::error "))
            .count(),
        10
    );
    let all = annotations(&many(137), Action::Warn, &|_| true).len();
    let last = output.lines().last().unwrap();
    assert!(
        last.starts_with("::notice title=mcp-keel%3A not everything is shown::"),
        "{last}"
    );
    assert!(last.contains(&format!("{} errors", all - 10)), "{last}");
    // No remark if everything is shown.
    assert!(!github(&many(2)).contains("not everything is shown"));
}

#[test]
fn markdown_is_cut_by_whole_changes_and_counts_the_rest() {
    let report = many(250);
    let whole = markdown(&report, usize::MAX);
    assert!(whole.len() > COMMENT_LIMIT && !whole.contains("not listed here"));
    let changes = report.changes().count();
    let rows = |text: &str| text.matches(" · `change = \"").count();
    assert_eq!(rows(&whole), changes);
    let left_out = |text: &str| -> usize {
        let line = text.lines().find(|it| it.contains("not listed here"));
        line.map_or(0, |it| it.split(' ').next().unwrap().parse().unwrap())
    };
    for limit in [
        SUMMARY_LIMIT,
        COMMENT_LIMIT,
        CHECK_RUN_LIMIT,
        20_000,
        5_000,
        2_000,
        1_000,
        100,
    ] {
        let cut = markdown(&report, limit);
        assert!(cut.len() <= limit, "{} > {limit}", cut.len());
        assert_eq!(
            cut.matches("<details>").count(),
            cut.matches("</details>").count()
        );
        assert!(
            cut.starts_with("### ❌ mcp-keel: `s` breaks callers ("),
            "{cut}"
        );
        if whole.len() > limit && cut.contains("<details>") {
            assert_eq!(rows(&cut) + left_out(&cut), changes, "{limit}");
            // The least severe are cut first.
            assert!(!cut.contains("\n- additive"));
        }
        let arena = Arena::new();
        assert_eq!(offence(parse_document(&arena, &cut, &options())), None);
    }
}

#[test]
fn many_servers_stay_within_the_limit() {
    let failed = |at: usize| ServerReport {
        status: Status::Undetermined(Failure {
            stderr: "e\n".repeat(100),
            ..Failure::new("m".repeat(900), "h".repeat(900))
        }),
        changes: Vec::new(),
        ..server(
            &format!("s{at}"),
            json!({"tools": []}),
            json!({"tools": []}),
        )
    };
    let report = report((0..300).map(failed).collect());
    for limit in [COMMENT_LIMIT, 10_000] {
        let cut = markdown(&report, limit);
        assert!(cut.len() <= limit);
        assert!(cut.contains("are not listed here"));
    }
}

#[test]
fn an_undetermined_server_is_an_error_in_every_format() {
    let failed = ServerReport {
        status: Status::Undetermined(Failure::new(
            "the command does not exist".into(),
            "check the spelling".into(),
        )),
        changes: Vec::new(),
        ..server("s", json!({"tools": []}), json!({"tools": []}))
    };
    let output = every_format(&report(vec![failed]));
    assert!(output["github"].starts_with("::error title=s could not be captured::"));
    assert!(
        output["junit"]
            .contains("<error type=\"undetermined\" message=\"the command does not exist\">")
    );
    assert!(output["junit"].contains("tests=\"1\" failures=\"0\" errors=\"1\""));
    let issues: Value = serde_json::from_str(&output["gitlab"]).unwrap();
    assert_eq!(issues[0]["severity"], "blocker");
    let log: Value = serde_json::from_str(&output["sarif"]).unwrap();
    assert_eq!(log["runs"][0]["results"], json!([]));
    assert_eq!(
        log["runs"][0]["invocations"][0]["executionSuccessful"],
        false
    );
    assert!(output["markdown"].contains("nothing is known about it"));
    assert!(output["html"].contains("No verdict"));
}

#[test]
fn each_change_is_one_result_one_issue_and_part_of_one_case() {
    let report = many(12);
    let ids: Vec<&str> = report.changes().map(|it| it.judged.id.as_str()).collect();
    let output = every_format(&report);
    let log: Value = serde_json::from_str(&output["sarif"]).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let found: Vec<&str> = results
        .iter()
        .map(|it| {
            it["partialFingerprints"]["mcpKeelChange/v1"]
                .as_str()
                .unwrap()
        })
        .collect();
    assert_eq!(found, ids);
    let issues: Value = serde_json::from_str(&output["gitlab"]).unwrap();
    let found: Vec<&str> = issues
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["fingerprint"].as_str().unwrap())
        .collect();
    assert_eq!(found, ids);
    for id in ids {
        assert_eq!(output["junit"].matches(id).count(), 1);
        assert_eq!(output["html"].matches(id).count(), 1);
    }
}

#[test]
fn a_clean_run_is_brief() {
    let clean = ServerReport {
        status: Status::Clean,
        changes: Vec::new(),
        ..server("s", json!({"tools": []}), json!({"tools": []}))
    };
    let output = every_format(&report(vec![clean]));
    assert_eq!(
        output["markdown"],
        format!(
            "### ✅ mcp-keel: `s` matches its baseline (3 components)\n\n<sub>mcp-keel {}</sub>\n",
            env!("CARGO_PKG_VERSION")
        )
    );
    assert_eq!(output["github"], "");
    assert_eq!(output["gitlab"], "[]\n");
    assert!(output["junit"].contains("name=\"unchanged components: 3\""));
}

#[test]
fn a_removed_enum_value_counts_as_failed_in_junit() {
    let tool = |name: &str, values: Value| {
        let properties = json!({"units": {"enum": values}});
        json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
    };
    let old = json!({"tools": [tool("a", json!(["x", "y"])), tool("b", json!(["x"])), tool("gone", json!(["x"]))]});
    let new = json!({"tools": [tool("a", json!(["x"])), tool("b", json!(["x"]))]});
    let drifted = ServerReport {
        components: 2,
        ..server("s", old, new)
    };
    let rules: Vec<RuleId> = drifted
        .changes
        .iter()
        .map(|it| it.judged.change.rule)
        .collect();
    assert_eq!(rules, [RuleId::InputEnumValueRemoved, RuleId::ToolRemoved]);
    // One of the two remaining; the removed tool is not among them.
    let output = junit(&report(vec![drifted]));
    assert!(
        output.contains("name=\"unchanged components: 1\""),
        "{output}"
    );
}

//! Every sink: what a reader of it sees, and what must never be in it.
//!
//! Each sink is checked against its inverse: its output is read back, by rules as simple as a
//! person's, to the original text. So no two texts look the same.

use super::documents::surface;
use super::halves;
use mcp_keel::canonical::{Json, Text, is_unseen, parse_str};
use mcp_keel::drift;
use mcp_keel::policy::{Action, Date, Policy, check_version};
use mcp_keel::report::escape::{self, Shown};
use mcp_keel::report::{
    self, Comparison, Cost, Definition, Failure, Finding, Located, Place, Report, ServerReport,
    Status, Style,
};
use mcp_keel::surface::Surface;

/// Checks what a sink promises for a text.
type Property = fn(&str);

/// Each sink's property, by name.
pub const SINKS: &[(&str, Property)] = &[
    ("terminal", terminal_line),
    ("block", block),
    ("value", value),
    ("json", json),
    ("markdown", markdown),
    ("code", code),
    ("fence", fence),
    ("html", html),
    ("xml", xml),
    ("workflow command", command),
    ("sarif", sarif),
    ("output file", output_file),
    ("cut", cut),
];

/// Every sink shows any text harmlessly and unambiguously; no two texts look the same in any sink.
pub fn escape(input: &[u8]) {
    let (one, other) = halves(input);
    let (one, other) = (String::from_utf8_lossy(one), String::from_utf8_lossy(other));
    for (_, holds) in SINKS {
        holds(&one);
    }
    apart(&one, &other);
    let units: Vec<u16> = input
        .chunks(2)
        .map(|it| u16::from_be_bytes([it[0], it.get(1).copied().unwrap_or(0)]))
        .collect();
    lone_surrogates(&Text::from_utf16(&units));
}

/// Two different texts are shown differently, wherever they are cut.
pub fn apart(one: &str, other: &str) {
    if one == other {
        return;
    }
    for most in [0, 1, 8, 40] {
        assert_ne!(escape::short(one, most), escape::short(other, most));
        let block = |text| escape::short_block(text, most);
        assert_ne!(block(one), block(other));
    }
    let fit = |text: &str| escape::line(text).cut_to_fit(70);
    assert_ne!(fit(one), fit(other));
    let forged = fit(one).to_string();
    if forged != one {
        assert_ne!(fit(&forged), fit(one));
    }
    if escape::look_alike(one, other) {
        assert_ne!(escape::code_points(one), escape::code_points(other));
    }
    let html = |text: &str| escape::html(text);
    assert_ne!(html(one), html(other));
}

/// Text with lone surrogates is read back unit by unit.
pub fn lone_surrogates(text: &Text) {
    let shown = escape::line(text);
    harmless(&shown, "");
    let wanted: Vec<u32> = text.code_points().collect();
    assert_eq!(read_back(&shown, LINE), wanted);
    assert_eq!(read_back(&escape::block(text), BLOCK), wanted);
    let shown = escape::value(&Json::String(text.clone()));
    assert_eq!(parse_str(&shown), Ok(Json::String(text.clone())));
}

/// A sink contains no invisible characters, except those of its own layout.
fn harmless(shown: &str, layout: &str) {
    let unseen = shown
        .chars()
        .find(|it| is_unseen(*it) && !layout.contains(*it));
    assert_eq!(unseen, None, "{shown:?}");
    for line in shown.split('\n') {
        let begins = |word: &str| line.trim_start().to_ascii_lowercase().starts_with(word);
        assert!(
            !begins("::error::") && !begins("::set-output "),
            "{shown:?}"
        );
        assert!(
            !line.contains("##[") && !line.contains("##vso["),
            "{shown:?}"
        );
    }
}

const LINE: &[char] = &['n', 'r', 't'];
const BLOCK: &[char] = &[];

/// The code points of visible text: an odd number of backslashes before one of `letters`, or before
/// `u{`, is an escape.
fn read_back(shown: &str, letters: &[char]) -> Vec<u32> {
    let mut out = Vec::new();
    let mut rest = shown;
    while let Some(first) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches('\\').len();
        if run == 0 {
            out.push(first.into());
            rest = &rest[first.len_utf8()..];
            continue;
        }
        rest = &rest[run..];
        let letter = rest.chars().next();
        let is_escape = rest.starts_with("u{") || letter.is_some_and(|it| letters.contains(&it));
        let literal = if is_escape { run / 2 } else { run };
        out.extend(std::iter::repeat_n(u32::from('\\'), literal));
        if is_escape && run % 2 == 1 {
            match letter {
                Some('u') => {
                    let (digits, after) = rest[2..].split_once('}').expect("a closed escape");
                    if !digits.is_empty() {
                        out.push(u32::from_str_radix(digits, 16).expect("hexadecimal digits"));
                    }
                    rest = after;
                    continue;
                }
                Some('n') => out.push('\n'.into()),
                Some('r') => out.push('\r'.into()),
                _ => out.push('\t'.into()),
            }
            rest = &rest[1..];
        }
    }
    out
}

fn says(shown: &str, letters: &[char], text: &str) {
    let wanted: Vec<u32> = text.chars().map(u32::from).collect();
    assert_eq!(read_back(shown, letters), wanted, "{shown:?} of {text:?}");
}

fn terminal_line(text: &str) {
    let shown = escape::line(text);
    harmless(&shown, "");
    says(&shown, LINE, text);
    // Visible text is not escaped a second time.
    assert_eq!(escape::line(&shown), shown);
}

fn block(text: &str) {
    let shown = escape::block(text);
    harmless(&shown, "\n");
    says(&shown, BLOCK, text);
    let one_line = shown.in_line();
    harmless(&one_line, "");
}

fn value(text: &str) {
    let json = Json::object([(text, Json::Array(vec![Json::string(text)]))]);
    let shown = escape::value(&json);
    harmless(&shown, "");
    assert_eq!(parse_str(&shown), Ok(json), "{shown:?}");
}

fn json(text: &str) {
    let json = Json::string(text);
    let document = escape::json(mcp_keel::canonical::to_pretty(&json));
    let written: String = serde_json::from_str(&document).expect("JSON");
    assert_eq!(written, text);
    assert!(!document.contains("##[") && !document.contains("##vso["));
    assert!(!document.contains('\n') && !document.contains('\u{1b}'));
}

/// The pieces of a line of generated Markdown: text and code.
fn pieces(markdown: &str) -> Vec<(bool, String)> {
    let mut pieces = Vec::new();
    let mut rest = markdown;
    while !rest.is_empty() {
        let (text, code) = rest.split_at(rest.find('`').unwrap_or(rest.len()));
        if !text.is_empty() {
            pieces.push((false, text.to_owned()));
        }
        let fence = code.len() - code.trim_start_matches('`').len();
        if fence == 0 {
            break;
        }
        let body = &code[fence..];
        let closes = |at: &usize| {
            let run = body[*at..].len() - body[*at..].trim_start_matches('`').len();
            run == fence && !body[..*at].ends_with('`')
        };
        let end = (0..body.len())
            .filter(|at| body.is_char_boundary(*at))
            .find(closes)
            .expect("code that ends");
        let inner = &body[..end];
        let padded = inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim().is_empty();
        let inner = if padded { &inner[1..end - 1] } else { inner };
        pieces.push((true, inner.to_owned()));
        rest = &body[end + fence..];
    }
    pieces
}

fn markdown(text: &str) {
    let shown = escape::markdown(text);
    harmless(&shown, "");
    let pieces = pieces(&shown);
    for (is_code, piece) in &pieces {
        let active = piece.contains([
            '<', '>', '[', ']', '*', '_', '@', '#', '|', '~', '\\', '&', '$',
        ]);
        assert!(*is_code || !active, "{piece:?} of {shown:?}");
        assert!(!piece.contains('|'), "{shown:?}");
    }
    // Quoting backticks become code, and code is separated by a space; nothing else is lost.
    let bare = |text: &[u32]| -> Vec<u32> {
        let dropped = [u32::from('`'), u32::from(' ')];
        text.iter()
            .copied()
            .filter(|it| !dropped.contains(it))
            .collect()
    };
    let read: Vec<u32> = pieces
        .iter()
        .flat_map(|(_, piece)| read_back(piece, LINE))
        .collect();
    let wanted: Vec<u32> = text.chars().map(u32::from).collect();
    assert_eq!(bare(&read), bare(&wanted), "{shown:?} of {text:?}");
    if !text.contains('`') {
        let is_spaces = |piece: &(bool, String)| piece.0 && piece.1.starts_with("\\u{20}");
        let mut exact = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            let beside_spaces =
                (at > 0 && is_spaces(&pieces[at - 1])) || pieces.get(at + 1).is_some_and(is_spaces);
            if !(piece.1 == " " && beside_spaces) {
                exact.extend(read_back(&piece.1, LINE));
            }
        }
        assert_eq!(exact, wanted, "{shown:?} of {text:?}");
    }
}

fn code(text: &str) {
    let shown = escape::code(text);
    harmless(&shown, "");
    let pieces = pieces(&shown);
    let [(true, inner)] = &pieces[..] else {
        panic!("not one code: {shown:?}");
    };
    assert!(!inner.contains('|'));
    says(inner, LINE, text);
}

fn fence(text: &str) {
    let shown = escape::fenced("text", text);
    harmless(&shown, "\n");
    let (first, rest) = shown.split_once('\n').expect("a first line");
    let fence = first.strip_suffix("text").expect("the language");
    let inner = rest
        .strip_suffix(&format!("\n{fence}\n"))
        .expect("a last line");
    let closes =
        |line: &str| line.trim().len() >= fence.len() && line.trim().chars().all(|it| it == '`');
    assert!(fence.len() >= 3 && !inner.lines().any(closes), "{shown:?}");
    says(inner, BLOCK, text);
}

fn without_entities(shown: &str) -> String {
    assert!(!shown.contains(['<', '>', '"', '\'']), "{shown:?}");
    let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
    for (at, _) in shown.match_indices('&') {
        assert!(
            known.iter().any(|it| shown[at..].starts_with(it)),
            "{shown:?}"
        );
    }
    shown
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

fn html(text: &str) {
    let shown = escape::html(text);
    harmless(&shown, "");
    says(&without_entities(&shown), LINE, text);
    let shown = escape::html_block(text);
    harmless(&shown, "\n");
    says(&without_entities(&shown), BLOCK, text);
}

fn xml(text: &str) {
    let shown = escape::xml(text);
    harmless(&shown, "\n");
    says(&without_entities(&shown), BLOCK, text);
}

fn command(text: &str) {
    let data = escape::command_data(text);
    harmless(&data, "");
    let without = |it: &str| it.replace("%0A", "\n").replace("%25", "%");
    says(&without(&data), BLOCK, text);
    let property = escape::command_property(text);
    assert!(!property.contains([':', ',', '\n']));
    says(
        &without(&property.replace("%3A", ":").replace("%2C", ",")),
        BLOCK,
        text,
    );
}

fn sarif(text: &str) {
    let shown = escape::sarif(text);
    harmless(&shown, "\n");
    let mut read = String::new();
    let mut rest = shown.chars();
    while let Some(next) = rest.next() {
        match next {
            // A link's brackets are escaped, a placeholder's braces are doubled.
            '\\' => {
                let escaped = rest.next().expect("something is escaped");
                assert!("\\[]".contains(escaped));
                read.push(escaped);
            }
            '{' | '}' => {
                assert_eq!(rest.next(), Some(next), "{shown:?}");
                read.push(next);
            }
            other => {
                assert!(!"[]".contains(other), "{shown:?}");
                read.push(other);
            }
        }
    }
    says(&read, BLOCK, text);
}

/// `GITHUB_OUTPUT` holds values, `GITHUB_STEP_SUMMARY` Markdown.
fn output_file(text: &str) {
    let written = mcp_keel::github::files::outputs(&[("report", text.to_owned())]);
    let (head, rest) = written.split_once('\n').expect("a first line");
    let delimiter = head.strip_prefix("report<<").expect("the name");
    assert_eq!(rest.strip_suffix(&format!("\n{delimiter}\n")), Some(text));
    let lines = rest.split('\n').filter(|it| *it == delimiter).count();
    assert_eq!(lines, 1);
}

/// A cut counts what it left out.
fn cut(text: &str) {
    let whole = escape::line(text);
    let length = whole.chars().count();
    for most in [0, 5, 64, 255] {
        let short = escape::short(text, most);
        if length <= most {
            assert_eq!(short, whole);
        } else {
            let count = format!("… ({} more characters, sha256 ", length - most);
            assert!(short.contains(&count), "{short}");
        }
    }
    for most in [64, 100, 255] {
        assert!(escape::line(text).cut_to_fit(most).chars().count() <= most);
        assert!(escape::line(text).cut_to_bytes(most + 4).len() <= most + 4);
    }
}

/// Two captures, compared, judged and rendered in every format: each is valid for its reader, and
/// no server text has an effect.
pub fn report(input: &[u8]) {
    let (old, new) = halves(input);
    let (Some(old), Some(new)) = (surface(old), surface(new)) else {
        return;
    };
    let report = made(
        &old,
        &new,
        &String::from_utf8_lossy(&input[..input.len().min(400)]),
    );
    check_every_format(&report);
    let mut comparison = report.clone();
    comparison.comparison = Comparison::Diff;
    comparison.servers.truncate(1);
    check_every_format(&comparison);
}

/// A report with everything in it: drift, findings, and a server that could not be captured.
pub fn made(old: &Surface, new: &Surface, text: &str) -> Report {
    let changes = drift::compare(old, new);
    assert_eq!(drift::compare(old, old).len(), 0);
    let policy = Policy::default();
    let judged = policy.judge("server", changes, Date::from_unix_seconds(0));
    let version = check_version(old.server_version(), new.server_version(), None);
    let name = new.server_name().unwrap_or("server").to_owned();
    let place = Place {
        path: text.into(),
        line: 3,
    };
    let notes = new.notes.iter().cloned();
    let findings: Vec<Finding> = notes
        .chain(mcp_keel::scan::keel::notes(new))
        .map(|note| Finding {
            action: policy.judge_note(&note).max(Action::Warn),
            note,
        })
        .collect();
    let server = |status: Status, changes: Vec<Located>, findings: Vec<Finding>| ServerReport {
        name: name.clone(),
        status,
        findings,
        version: version.clone(),
        cost: Cost::new(Some(old), Some(new)),
        definitions: Definition::of_changed(Some(old), Some(new), &changes),
        components: new.components.len(),
        accept_with: format!("mcp-keel pin {text}"),
        third_party: false,
        changes,
        listed: Vec::new(),
    };
    let located = judged.into_iter().map(|judged| Located {
        judged,
        location: Some(place.clone()),
        source: Some(place.clone()),
    });
    let failure = Failure {
        stderr: text.to_owned(),
        command: text.to_owned(),
        paste: text.to_owned(),
        ..Failure::new(text.to_owned(), text.to_owned())
    };
    Report::new(
        Comparison::Check,
        vec![
            server(Status::Drifted, located.collect(), findings),
            server(Status::Undetermined(failure), Vec::new(), Vec::new()),
        ],
        Vec::new(),
    )
}

/// Checks every format of a report.
pub fn check_every_format(report: &Report) {
    let plain = report::terminal(report, Style::default());
    harmless(&plain, "\n");
    let colored = report::terminal(
        report,
        Style {
            color: true,
            ..Style::default()
        },
    );
    harmless(&without_colors(&colored), "\n");
    for limit in [report::COMMENT_LIMIT, usize::MAX] {
        let markdown = report::markdown(report, limit);
        // The second character of the icon is one that is not seen.
        harmless(&markdown.replacen("⚠️", "!", 2), "\n");
        assert!(markdown.len() <= limit);
    }
    let html = report::html(report);
    harmless(&html, "\n");
    only_our_tags(&html);
    let junit = report::junit(report);
    harmless(&junit, "\n");
    only_our_tags(&junit);
    for line in report::github(report).lines() {
        let command = ["::error ", "::warning ", "::notice "]
            .iter()
            .find_map(|it| line.strip_prefix(it));
        harmless(command.expect("a command"), "");
    }
    for document in [report::sarif(report), report::gitlab(report)] {
        harmless(&document, "\n");
        assert!(serde_json::from_str::<serde_json::Value>(&document).is_ok());
    }
    let json = report::to_json(report);
    assert!(parse_str(&json).is_ok());
    assert!(!json.contains("##[") && !json.contains('\u{1b}') && !json.contains('\u{202e}'));
    for annotation in report::annotations(report, Action::Accepted, &|_| true) {
        harmless(&annotation.title, "");
        harmless(&annotation.message, "\n");
        assert!(annotation.title.chars().count() <= 255);
        assert!(annotation.message.len() <= 64_000);
    }
}

fn without_colors(colored: &str) -> String {
    let mut parts = colored.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, text) = part.split_once('m').expect("a colour");
        assert!(code.bytes().all(|it| it.is_ascii_digit() || it == b';'));
        out += text;
    }
    out
}

fn only_our_tags(page: &str) {
    const OURS: &[&str] = &[
        "!doctype",
        "?xml",
        "a",
        "article",
        "body",
        "button",
        "caption",
        "code",
        "del",
        "details",
        "div",
        "error",
        "failure",
        "fieldset",
        "figcaption",
        "figure",
        "g",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "head",
        "html",
        "input",
        "ins",
        "label",
        "legend",
        "li",
        "main",
        "mark",
        "meta",
        "option",
        "output",
        "p",
        "pre",
        "properties",
        "property",
        "rect",
        "script",
        "section",
        "select",
        "span",
        "style",
        "summary",
        "svg",
        "system-out",
        "table",
        "tbody",
        "td",
        "testcase",
        "testsuite",
        "testsuites",
        "text",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
    ];
    for tag in page.split('<').skip(1) {
        let tag = tag.trim_start_matches('/');
        let end = tag.find([' ', '>', '/', '\n']).unwrap_or(tag.len());
        assert!(OURS.contains(&&tag[..end]), "<{tag}");
    }
}

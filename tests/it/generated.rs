//! Committed files, and blocks of committed files, that the program generates.
//!
//! `MCP_KEEL_UPDATE=1 cargo test` rewrites them; without it, a test fails if one of them is not
//! current.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mcp_keel::capture::Limits;
use mcp_keel::interop::Profile;
use mcp_keel::provider::table;
use mcp_keel::surface::KnownClient;

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Whether to write generated files instead of comparing them.
pub(crate) fn is_update() -> bool {
    std::env::var_os("MCP_KEEL_UPDATE").is_some()
}

/// A committed file, if it exists.
pub(crate) fn committed(path: &str) -> String {
    std::fs::read_to_string(at(path)).unwrap_or_default()
}

/// Writes the file in update mode; otherwise fails if it differs.
#[track_caller]
pub(crate) fn assert_current(path: &str, current: &str) {
    if is_update() {
        std::fs::write(at(path), current).unwrap();
    }
    let committed = committed(path);
    if committed == current {
        return;
    }
    let differs = committed
        .lines()
        .zip(current.lines())
        .position(|(one, other)| one != other)
        .unwrap_or_else(|| committed.lines().count().min(current.lines().count()));
    panic!(
        "{path} is not current, from line {}: `MCP_KEEL_UPDATE=1 cargo test` rewrites it\n-{}\n+{}",
        differs + 1,
        committed.lines().nth(differs).unwrap_or("(end of file)"),
        current.lines().nth(differs).unwrap_or("(end of file)"),
    );
}

/// The same for blocks of one file. A block begins with a line that contains `generated: NAME` and
/// ends with one that contains `end of generated: NAME`, both comments in the language of the file.
#[track_caller]
pub(crate) fn assert_blocks_current(path: &str, blocks: &[(&str, String)]) {
    let mut text = committed(path);
    for (name, block) in blocks {
        let end_mark = format!("end of generated: {name}");
        let begin_mark = format!("generated: {name}");
        let mark = |line: &str, mark: &str| {
            let found = line.find(mark).map(|at| &line[at + mark.len()..]);
            // Not the marker of a longer name.
            found.is_some_and(|rest| matches!(rest.trim(), "" | "-->"))
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let end = lines.iter().position(|line| mark(line, &end_mark));
        let end = end.unwrap_or_else(|| panic!("{path} has no line with `{end_mark}`"));
        let begin = lines[..end].iter().position(|line| mark(line, &begin_mark));
        let begin = begin.unwrap_or_else(|| panic!("{path} has no line with `{begin_mark}`"));
        text = [
            lines[..=begin].concat(),
            block.clone(),
            lines[end..].concat(),
        ]
        .concat();
    }
    assert_current(path, &text);
}

/// A Markdown table between empty lines.
fn markdown<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut text = format!("\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for row in rows {
        writeln!(text, "| {} |", row.join(" | ")).unwrap();
    }
    text.push('\n');
    text
}

#[test]
fn the_table_of_digest_profiles_is_current() {
    let rows = Profile::ALL.iter().map(|it| {
        let texts = [it.covers, it.form, it.order, it.absent].map(str::to_owned);
        let [covers, form, order, absent] = texts;
        [format!("`{}`", it.name), covers, form, order, absent]
    });
    let head = ["profile", "covers", "form", "order", "missing, null, empty"];
    let table = markdown(head, rows);
    assert_blocks_current("docs/conventions.md", &[("profiles", table)]);
}

#[test]
fn the_table_of_known_clients_is_current() {
    let code = |text: &str| format!("`{text}`");
    let rows = KnownClient::ALL.iter().map(|it| {
        let announced: Vec<String> = it.capabilities.iter().map(|it| code(it)).collect();
        let announced = match announced.as_slice() {
            [] => "nothing".to_owned(),
            announced => announced.join(", "),
        };
        [code(it.id), code(it.name), code(it.version), announced]
    });
    let head = [
        "name",
        "`clientInfo.name`",
        "`clientInfo.version`",
        "announces",
    ];
    assert_blocks_current("docs/clients.md", &[("clients", markdown(head, rows))]);
}

#[test]
fn the_table_of_providers_is_current() {
    let table = format!("\n{}\n", table::markdown());
    assert_blocks_current("docs/providers.md", &[("keywords", table)]);
}

#[test]
fn the_table_of_limits_is_current() {
    let limits = Limits::default();
    let bytes = |count: usize| match count {
        count if count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count => format!("{} KiB", count >> 10),
    };
    let grouped = |count: usize| match count {
        1000.. => format!("{},{:03}", count / 1000, count % 1000),
        count => count.to_string(),
    };
    assert_eq!(
        limits.start, limits.request,
        "the table has one row for both"
    );
    let content_bytes = usize::try_from(limits.content_bytes).unwrap();
    let rows = [
        (
            "start to the first answer; each other request",
            format!("{} s, or `timeout`", limits.start.as_secs()),
        ),
        (
            "the whole capture",
            format!(
                "{} s, or ten times `timeout` if that is more",
                limits.total.as_secs()
            ),
        ),
        ("stdout, or all bodies over HTTP", bytes(limits.bytes)),
        (
            "one line, and all answers together",
            bytes(limits.answer_bytes),
        ),
        ("JSON values in all answers", grouped(limits.values)),
        ("nesting", "200 levels".to_owned()),
        (
            "items in a list; pages of a list",
            format!("{}; {}", grouped(limits.items), grouped(limits.pages)),
        ),
        ("a cursor", bytes(limits.cursor)),
        (
            "replies that the server does not read",
            bytes(limits.unread),
        ),
        (
            "reading a list again after `list_changed`",
            format!("{} times", limits.relists),
        ),
        ("`settle`", "off; added to the above".to_owned()),
        (
            "resources read with `read-resources`; a skill's file",
            format!("{}; {}", grouped(limits.contents), bytes(content_bytes)),
        ),
        (
            "stderr kept",
            "the last 64 KiB, of which reports show 12 lines".to_owned(),
        ),
    ];
    let rows = rows.map(|(what, limit)| [what.to_owned(), limit]);
    let table = markdown(["what", "limit"], rows);
    assert_blocks_current("docs/capture.md", &[("limits", table)]);
}

//! The results of the suite, in two committed files with one line per server: the table of
//! docs/hostile.md, and the error messages in tests/snapshots/hostile.txt.
//!
//! A test compares, or with `MCP_KEEL_UPDATE` replaces, only its own lines: it may be one of many
//! processes. Measurements are never compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Behaviour, MEMORY_BOUND, Seen};

const TABLE: &str = "docs/hostile.md";
const MESSAGES: &str = "tests/snapshots/hostile.txt";
const STALE: &str = "run MCP_KEEL_UPDATE=1 cargo test --locked --test hostile";

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(at(path)).unwrap_or_default()
}

fn is_update() -> bool {
    std::env::var_os("MCP_KEEL_UPDATE").is_some()
}

/// An identifier for something derived from these texts.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    texts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The cells of each row, by the name of the server.
fn rows() -> BTreeMap<String, Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_matches('|');
        line.split(" | ").map(|it| it.trim().to_owned()).collect()
    };
    read(TABLE)
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(cells)
        .map(|cells| (cells[0].trim_matches('`').to_owned(), cells))
        .collect()
}

/// The message of each server that is undetermined.
fn messages() -> BTreeMap<String, String> {
    let text = read(MESSAGES);
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines
        .map(|(name, message)| (name.to_owned(), message.to_owned()))
        .collect()
}

fn write_rows(
    behaviours: &BTreeMap<String, String>,
    over_http: usize,
    rows: &BTreeMap<String, Vec<String>>,
) {
    let mut text = header(behaviours.len(), over_http);
    for (name, behaviour) in behaviours {
        let unknown = || vec!["not measured".to_owned(); 3];
        let rest = rows.get(name).map_or_else(unknown, |row| row[2..].to_vec());
        let _ = writeln!(text, "| `{name}` | {behaviour} | {} |", rest.join(" | "));
    }
    std::fs::write(at(TABLE), text).unwrap();
}

fn write_messages(messages: &BTreeMap<String, String>) {
    let lines = messages
        .iter()
        .map(|(name, message)| format!("{name}: {message}\n"));
    std::fs::write(at(MESSAGES), lines.collect::<String>()).unwrap();
}

/// Only one process at a time changes the files. The lock is released on drop.
fn locked() -> File {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile.lock");
    let file = File::create(path).unwrap();
    file.lock().unwrap();
    file
}

/// Before an update: makes sure that exactly the existing servers have a row.
pub(super) fn prepare(all: &BTreeMap<String, Behaviour>) {
    if !is_update() {
        return;
    }
    let _lock = locked();
    let behaviours = all
        .iter()
        .map(|(name, it)| (name.clone(), it.behaviour.clone()))
        .collect();
    let over_http = all.values().filter(|it| it.http.is_some()).count();
    write_rows(&behaviours, over_http, &rows());
    let mut messages = messages();
    messages.retain(|name, _| all.contains_key(name));
    write_messages(&messages);
}

/// Asserts that the files cover exactly the existing servers.
pub(super) fn is_complete(behaviours: &BTreeMap<String, String>, over_http: usize) {
    let _lock = is_update().then(locked);
    let rows = rows();
    assert!(rows.keys().eq(behaviours.keys()), "{TABLE}: {STALE}");
    let header = header(behaviours.len(), over_http);
    assert!(read(TABLE).starts_with(&header), "{TABLE}: {STALE}");
    for name in messages().keys() {
        assert!(behaviours.contains_key(name), "{MESSAGES}: {name}: {STALE}");
    }
}

/// Compares, or replaces, the lines of one server.
pub(super) fn record(name: &str, behaviour: &Behaviour, seen: &Seen) -> Result<(), String> {
    if is_update() {
        update(name, seen);
        return Ok(());
    }
    let unknown = || "nothing".to_owned();
    let row = rows().remove(name).unwrap_or_default();
    let committed = row.get(2).cloned().unwrap_or_else(unknown);
    if row.get(1) != Some(&behaviour.behaviour) || committed != seen.outcome {
        let now = &seen.outcome;
        return Err(format!(
            "comes to `{now}`, and {TABLE} has `{committed}`: {STALE}"
        ));
    }
    let committed = messages().remove(name).unwrap_or_default();
    if committed != seen.error {
        let now = &seen.error;
        return Err(format!(
            "the message is\n  {now}\nbut {MESSAGES} has\n  {committed}\n{STALE}"
        ));
    }
    Ok(())
}

fn update(name: &str, seen: &Seen) {
    let _lock = locked();
    let mut text = String::new();
    for line in read(TABLE).lines() {
        if !line.starts_with(&format!("| `{name}` |")) {
            let _ = writeln!(text, "{line}");
            continue;
        }
        let row = &rows()[name];
        let measured = if std::env::var_os("MCP_KEEL_MEASURE").is_some() || row[3] == "not measured"
        {
            [rounded_time(seen.time), rounded_memory(seen.memory)]
        } else {
            [row[3].clone(), row[4].clone()]
        };
        let _ = writeln!(
            text,
            "| `{name}` | {} | {} | {} |",
            row[1],
            seen.outcome,
            measured.join(" | ")
        );
    }
    std::fs::write(at(TABLE), text).unwrap();
    let mut messages = messages();
    messages.remove(name);
    if !seen.error.is_empty() {
        messages.insert(name.to_owned(), seen.error.clone());
    }
    write_messages(&messages);
}

fn header(count: usize, over_http: usize) -> String {
    HEADER
        .replace("$BOUND", &(MEMORY_BOUND / 1024).to_string())
        .replace("$COUNT", &count.to_string())
        .replace("$HTTP", &over_http.to_string())
}

const HEADER: &str = "# Hostile servers

$COUNT ways in which a server can misbehave, $HTTP of them over HTTP, and how mcp-keel handles each. Every row is a file
in `fixtures/hostile/servers`: the behaviour as a script (of `crates/mcp-capture/examples/scripted-server.rs` over stdio, of
`tests/hostile/http.rs` over HTTP, where a script says which bytes are written on the connection), the command, and the
required outcome. Each is its own test (`cargo test --locked --test hostile NAME`) that runs
the real program and asserts, besides the outcome:

- **No process is left**: not of a server that forks, detaches itself or ignores every request to exit.
- **No file is written** but those that the command names; home and temporary folder stay empty.
- **No secret** of mcp-keel's environment is in any output, report (all eight formats are written) or baseline.
- **No control character** reaches a terminal or a report.
- **No other host is contacted** over HTTP than the server at its address: not where a redirect, an endpoint, a header or a
  `$ref` leads, and no proxy of the environment.
- **Memory is bounded**: mcp-keel itself never holds more than $BOUND MiB, whatever a server sends.
- **Time is bounded**: a capture by its [timeouts](capture.md#limits), and 5 s for the end of the server; the rest by
  the limits on what is accepted. The maximum measured was 7 s of a core in a release build, for 10,000 tools that all
  changed; a development build takes many times as long.

The figures are of a development build on a shared Linux machine with 2 cores, 8 runs at a time: time rounded up to the
second (or to 15 s), memory to the next power of two; of mcp-keel itself, not of the server. `MCP_KEEL_UPDATE=1 cargo test
--locked --test hostile` accepts new outcomes; with `MCP_KEEL_MEASURE=1` too, the measurements are replaced. Add
`-- --include-ignored` for the heavy ones, which `.ci/run` runs.

| file | behaviour | outcome | time | peak memory |
|---|---|---|---|---|
";

/// Coarse, so that measuring again changes little.
fn rounded_time(time: Duration) -> String {
    let seconds = time.as_secs() + 1;
    match seconds {
        0..=5 => format!("{seconds} s"),
        _ => format!("{} s", seconds.next_multiple_of(15)),
    }
}

fn rounded_memory(kib: u64) -> String {
    format!("{} MiB", kib.div_ceil(1024).next_power_of_two().max(32))
}

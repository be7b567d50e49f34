//! The table of docs/hostile.md, made of the files and of what was seen when they were run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::{Behaviour, MEMORY_BOUND, Seen};
use crate::generated;

const DOCUMENT: &str = "docs/hostile.md";

/// The table of docs/hostile.md: written when asked, else compared but for what was measured.
pub(super) fn table(all: &BTreeMap<String, Behaviour>, seen: &BTreeMap<String, Seen>, whole: bool) {
    let committed = generated::committed(DOCUMENT);
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_matches('|');
        line.split(" | ").map(|it| it.trim().to_owned()).collect()
    };
    let rows: BTreeMap<String, Vec<String>> = committed
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(cells)
        .map(|cells| (cells[0].trim_matches('`').to_owned(), cells))
        .collect();
    if generated::is_update() {
        let mut text = HEADER.replace("$BOUND", &(MEMORY_BOUND / 1024).to_string());
        let over_http = all.values().filter(|it| it.http.is_some()).count();
        text = text.replace("$COUNT", &all.len().to_string());
        text = text.replace("$HTTP", &over_http.to_string());
        for (name, behaviour) in all {
            let measured = match (seen.get(name), rows.get(name)) {
                (Some(seen), _) => vec![
                    seen.outcome.clone(),
                    rounded_time(seen.time),
                    rounded_memory(seen.memory),
                ],
                (None, Some(row)) => row[2..].to_vec(),
                (None, None) => vec!["not measured".into(); 3],
            };
            let _ = writeln!(
                text,
                "| `{name}` | {} | {} |",
                behaviour.behaviour,
                measured.join(" | ")
            );
        }
        generated::assert_current(DOCUMENT, &text);
        return;
    }
    if !whole {
        return;
    }
    let stale = "docs/hostile.md is stale: run this test with MCP_KEEL_UPDATE=1";
    let names: Vec<&String> = all.keys().collect();
    assert_eq!(rows.keys().collect::<Vec<_>>(), names, "{stale}");
    for (name, behaviour) in all {
        assert_eq!(rows[name][1], behaviour.behaviour, "{stale}");
        if let Some(seen) = seen.get(name) {
            assert_eq!(rows[name][2], seen.outcome, "{name}: {stale}");
        }
    }
}

const HEADER: &str = "# Hostile servers

$COUNT ways in which a server can misbehave, $HTTP of them over HTTP, and what mcp-keel makes of each. Every row is a file
in `fixtures/hostile/servers`: the behaviour as a script (of `examples/scripted-server.rs` over stdio, of
`tests/it/hostile/http.rs` over HTTP, where a script says which bytes are written on the connection), the command, and the
outcome that is demanded. The test `hostile` runs them all through the real program and asserts of each run, besides the
outcome:

- **No process is left**: not of a server that forks, detaches itself or ignores every request to end.
- **No file is written** but those that the command names; home and temporary folder stay empty.
- **No secret** of mcp-keel's environment is in any output, report (all eight formats are written) or baseline.
- **No control character** reaches a terminal or a report.
- **Nobody else is asked** over HTTP than the server at its address: not where a redirect, an endpoint, a header or a
  `$ref` leads, and no proxy of the environment.
- **Memory is bounded**: mcp-keel itself never holds more than $BOUND MiB, whatever a server sends.
- **Time is bounded**: a capture by its [timeouts](capture.md#limits), and 5 s for the end of the server; what comes after it by
  the bounds on what is accepted. The most that was measured is 7 s of a core in a release build, for 10,000 tools that all
  changed; a development build takes many times as long.

The figures are of a development build on a shared Linux machine with 2 cores, 8 runs at a time: time rounded up to the
second (or to 15 s), memory to the next power of two; of mcp-keel itself, not of the server. Regenerate them with
`MCP_KEEL_UPDATE=1 MCP_KEEL_HEAVY=1 cargo test --locked --test it hostile`; without `MCP_KEEL_HEAVY` the heavy ones, which
`.ci/hostile` runs, keep theirs.

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

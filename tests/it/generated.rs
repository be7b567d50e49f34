//! Committed files, and blocks of committed files, that the program generates.
//!
//! `MCP_KEEL_UPDATE=1 cargo test` rewrites them; without it, a test fails if one of them is not
//! current.

use std::path::{Path, PathBuf};

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

//! No room that compares, judges or renders writes a sentence of its own: `src/sentences` does.
//!
//! Read from the sources: a string literal with three words or more is prose. What an error says is written where the error
//! is made (in `#[error]`, in `fn help`, in what becomes an `Err`), and is not meant here; nor are tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Rooms whose sentences are in `src/sentences`.
const ROOMS: &[&str] = &[
    "drift",
    "schema",
    "stability",
    "scan",
    "policy",
    "report",
    "github",
    "run",
    "interop",
    "verify",
    "provider",
    "conformance",
    "surface",
];

/// Files, or folders of them, that hold prose for a reason.
const ALLOWED: &[(&str, &str)] = &[
    (
        "src/interop/digest.rs",
        "a table of digests for the documents",
    ),
    ("src/interop/fastmcp/digest.rs", "a row of that table"),
    ("src/interop/hangar/digest.rs", "rows of that table"),
    ("src/interop/toolpin/digest.rs", "a row of that table"),
    (
        "src/interop/toolpin/scan.rs",
        "ToolPin's messages, word for word",
    ),
    (
        "src/interop/toolpin/signature.rs",
        "ToolPin's messages, word for word",
    ),
    (
        "src/interop/toolpin/targets.rs",
        "ToolPin's messages, word for word",
    ),
    (
        "src/interop/toolpin/write.rs",
        "what ToolPin reads in a lock",
    ),
    ("src/conformance/wire.rs", "names of types"),
    (
        "src/provider/table.rs",
        "a table of keywords for the documents",
    ),
    ("src/surface/clients.rs", "names of clients"),
    ("src/github/api.rs", "words that GitHub answers with"),
    ("src/run/base_objects.rs", "parts of errors"),
    ("src/run/check_changes.rs", "the name of a setting"),
    ("src/scan/mod.rs", "phrases that are searched for"),
    ("src/schema/example_values.rs", "example values"),
    ("src/verify/launcher/mod.rs", "names of commands"),
];

/// A string literal: its line, its text, and what it is an argument of or a part of, from the outside in.
struct Literal {
    line: usize,
    text: String,
    within: Vec<String>,
}

/// Every string literal of a source.
fn literals(source: &str) -> Vec<Literal> {
    let characters: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    // What each open bracket belongs to: `format!`, `fn help`, `#[cfg(test)]`; empty for none.
    let mut open: Vec<String> = Vec::new();
    // A function or an attribute whose braces are still to come, and how deep they will be.
    let mut coming: Option<(String, usize)> = None;
    let mut attribute = String::new();
    let mut before = String::new();
    let mut line = 1;
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        let next = |offset: usize| rest.get(offset).copied().unwrap_or(' ');
        let start = at;
        if next(0) == '/' && next(1) == '/' {
            at += rest.iter().take_while(|it| **it != '\n').count();
        } else if let Some((text, length)) = string(rest) {
            found.push(Literal {
                line,
                text,
                within: open.clone(),
            });
            before.clear();
            at += length;
        } else if next(0) == '\'' && (next(1) == '\\' || next(2) == '\'') {
            // A character; anything else after the mark is a lifetime.
            let escaped = usize::from(next(1) == '\\');
            let length = rest[2 + escaped..].iter().take_while(|it| **it != '\'');
            at += 3 + escaped + length.count();
        } else if next(0).is_alphanumeric() || "_:!#".contains(next(0)) {
            let word: String = rest
                .iter()
                .take_while(|it| it.is_alphanumeric() || "_:!#".contains(**it))
                .collect();
            at += word.chars().count();
            if before == "fn" {
                coming = Some((format!("fn {word}"), open.len()));
            }
            before = word;
        } else {
            match next(0) {
                opening @ ('(' | '[' | '{') => {
                    let name = match &coming {
                        Some((name, depth)) if opening == '{' && *depth == open.len() => {
                            name.clone()
                        }
                        _ => before.clone(),
                    };
                    if opening == '{' && coming.as_ref().is_some_and(|it| it.1 == open.len()) {
                        coming = None;
                    }
                    if before == "#" {
                        attribute.clear();
                    }
                    open.push(name);
                    before.clear();
                }
                ')' | ']' | '}' => {
                    let closed = open.pop().unwrap_or_default();
                    if closed == "#" && attribute.replace(' ', "") == "[cfg(test)" {
                        coming = Some(("#[cfg(test)]".to_owned(), open.len()));
                    }
                    before.clear();
                }
                ';' if coming.as_ref().is_some_and(|it| it.1 == open.len()) => coming = None,
                ' ' | '\n' => {}
                _ => before.clear(),
            }
            at += 1;
        }
        let passed = &characters[start..at.min(characters.len())];
        if open.iter().any(|it| it == "#") {
            attribute.extend(passed);
        }
        line += passed.iter().filter(|it| **it == '\n').count();
    }
    found
}

/// The string literal that a source begins with, and its length.
fn string(source: &[char]) -> Option<(String, usize)> {
    let raw = source.first() == Some(&'r');
    let hashes = source[usize::from(raw)..]
        .iter()
        .take_while(|it| raw && **it == '#')
        .count();
    let start = usize::from(raw) + hashes + 1;
    if source.get(start - 1) != Some(&'"') {
        return None;
    }
    let mut text = String::new();
    let mut at = start;
    while at < source.len() {
        if source[at] == '\\' && !raw {
            // `\xff` belongs to bytes, not to words.
            at += if source.get(at + 1) == Some(&'x') {
                4
            } else {
                2
            };
            text.push(' ');
            continue;
        }
        let after = &source[at + 1..];
        if source[at] == '"' && after.iter().take(hashes).filter(|it| **it == '#').count() == hashes
        {
            return Some((text, at + 1 + hashes));
        }
        text.push(source[at]);
        at += 1;
    }
    None
}

/// Whether a text has three words or more; what is formatted into it is none. Markup and tables are layout.
fn is_prose(text: &str) -> bool {
    if text.starts_with(['<', '|']) {
        return false;
    }
    let is_word = |word: &&str| {
        let word = word.trim_matches(|it: char| !it.is_alphanumeric());
        word.chars().count() > 1
            && word
                .chars()
                .all(|it| it.is_ascii_alphabetic() || it == '\'')
    };
    text.split_whitespace()
        .filter(|word| !word.contains(['{', '<', '=', '`']))
        .filter(is_word)
        .count()
        >= 3
}

/// Whether what holds a literal makes an error of it, or belongs to a test.
fn is_error_or_test(within: &str) -> bool {
    let path = within.trim_end_matches('!');
    let error = path.split("::").any(|it| it.ends_with("Error"));
    error
        || within == "#"
        || within == "#[cfg(test)]"
        || within == "fn help"
        || [
            "Err",
            "ok_or",
            "ok_or_else",
            "map_err",
            "expect",
            "panic",
            "unreachable",
            "assert",
            "assert_eq",
            "debug_assert",
        ]
        .contains(&path)
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            out.push(path);
        }
    }
}

#[test]
fn sentences_are_written_in_one_room() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = String::new();
    let mut used = vec![false; ALLOWED.len()];
    for room in ROOMS {
        let mut paths = Vec::new();
        files(&root.join("src").join(room), &mut paths);
        paths.sort();
        assert!(!paths.is_empty(), "src/{room} has no file");
        for path in paths {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let source = std::fs::read_to_string(&path).unwrap();
            for literal in literals(&source) {
                if !is_prose(&literal.text) || literal.within.iter().any(|it| is_error_or_test(it))
                {
                    continue;
                }
                match ALLOWED.iter().position(|(it, _)| name.starts_with(it)) {
                    Some(allowed) => used[allowed] = true,
                    None => {
                        let Literal { line, text, .. } = literal;
                        let _ = writeln!(wrong, "{name}:{line}: {text:?}");
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these sentences belong in src/sentences:\n{wrong}"
    );
    for (used, (name, _)) in used.iter().zip(ALLOWED) {
        assert!(used, "{name} holds no prose: take it off the list");
    }
}

#[test]
fn prose_is_found_wherever_it_is_and_errors_are_left_alone() {
    let source = r##"
        //! a comment with many words
        const A: &str = r#"raw "text" of words"#;
        #[error("an error with many words")]
        fn said(x: &'static str) -> String {
            let c = '"';
            format!("one two three {x}")
        }
        fn help() -> String { "help of many words".to_owned() }
        fn failing() -> Result<(), Error> {
            Err(Error::usage("an error in words", "help in many words"))
        }
        fn short() { print("mcp-keel pin weather"); mark("<a href=\"x\">") }
        #[cfg(test)]
        mod tests {
            fn a() { say("words of a test") }
        }
        fn last() { say("this is \
            the last one") }
    "##;
    let found: Vec<(usize, String)> = literals(source)
        .into_iter()
        .filter(|it| is_prose(&it.text) && !it.within.iter().any(|it| is_error_or_test(it)))
        .map(|it| {
            (
                it.line,
                it.text.split_whitespace().collect::<Vec<_>>().join(" "),
            )
        })
        .collect();
    let found: Vec<(usize, &str)> = found.iter().map(|(at, it)| (*at, it.as_str())).collect();
    assert_eq!(
        found,
        [
            (3, "raw \"text\" of words"),
            (7, "one two three {x}"),
            (18, "this is the last one"),
        ]
    );
}

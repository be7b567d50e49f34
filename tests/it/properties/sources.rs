//! Source files of a repository, read as tokens.

use std::collections::BTreeSet;

use mcp_keel::locate::{Language, declarations};

/// The first byte is the language. For any text, a declaration names an existing line, on or near
/// which the tool's name appears.
pub fn locate(input: &[u8]) {
    let Some((language, text)) = input.split_first() else {
        return;
    };
    let language = match language % 7 {
        0 => Language::Script,
        1 => Language::Python,
        2 => Language::Rust,
        3 => Language::Go,
        4 => Language::Java,
        5 => Language::Kotlin,
        _ => Language::CSharp,
    };
    let text = String::from_utf8_lossy(text);
    let words = text.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
    let tools: BTreeSet<&str> = words.filter(|it| !it.is_empty()).take(64).collect();
    let lines = text.lines().count().max(1);
    for (tool, line) in declarations(&text, language, &tools) {
        assert!(
            (1..=lines).contains(&line),
            "{tool} on line {line} of {lines}"
        );
    }
}

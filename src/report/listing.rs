//! What a server lists, one line per component, for people who approve it for the first time.

use std::fmt::Write as _;

use super::escape;
use crate::baseline::signature;
use crate::canonical::Json;
use crate::surface::{Component, Kind, Surface};
use crate::wording::counted;

/// How much of a description is shown.
const SENTENCE: usize = 160;

/// The components of a server, by kind: each with its signature, and what it says first about itself.
pub fn listing(surface: &Surface) -> String {
    let mut out = String::new();
    for kind in Kind::ALL.iter().copied() {
        let of_kind: Vec<&Component> = surface.of_kind(kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  {}", counted(of_kind.len(), kind.noun()));
        for component in of_kind {
            let _ = writeln!(out, "    {}", signature(component));
            let definition = &component.definition;
            let described = definition.get("description").and_then(Json::as_str);
            let titled = || definition.get("title").and_then(Json::as_str);
            if let Some(text) = described.or_else(titled) {
                let sentence = escape::short(first_sentence(text), SENTENCE);
                let _ = writeln!(out, "      {sentence}");
            }
        }
    }
    out
}

/// The text up to the end of its first sentence or paragraph.
pub(super) fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let ends = [". ", ".\n", "? ", "! "];
    let end = ends.iter().filter_map(|end| paragraph.find(end)).min();
    end.map_or(paragraph, |end| &paragraph[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_at_its_full_stop() {
        for (text, first) in [
            ("Reads a file. Then more.", "Reads a file."),
            ("Reads v1.2 of it", "Reads v1.2 of it"),
            ("Reads\n\nArgs: x. y", "Reads"),
            ("  A.\nB", "A."),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), first);
        }
    }
}

//! What a server lists, one line per component, for people who approve it for the first time.

use std::fmt::Write as _;

use super::escape;
use crate::canonical::Json;
use crate::surface::{Component, Kind, Surface};
use crate::wording::counted;

/// How much of a description is shown.
const SENTENCE: usize = 160;

/// The components of a server, by kind.
pub fn listing(surface: &Surface) -> String {
    let mut out = String::new();
    for kind in Kind::ALL.iter().copied() {
        let of_kind: Vec<&Component> = surface.of_kind(kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  {}", counted(of_kind.len(), kind.noun()));
        let width = of_kind.iter().map(|it| name(it).chars().count()).max();
        let width = width.unwrap_or(0).min(32);
        for component in of_kind {
            let mut line = format!("    {:<width$}", name(component));
            let definition = &component.definition;
            let described = definition.get("description").and_then(Json::as_str);
            let titled = || definition.get("title").and_then(Json::as_str);
            if let Some(text) = described.or_else(titled) {
                let _ = write!(line, "  {}", escape::short(first_sentence(text), SENTENCE));
            }
            let hints = hints(component);
            if !hints.is_empty() {
                let _ = write!(line, "  [{}]", hints.join(", "));
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    out
}

/// The name of a component, with its version if it has one.
fn name(component: &Component) -> String {
    escape::short(component.key.called(), 60).into_string()
}

/// The text up to the end of its first sentence or paragraph.
pub(super) fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let ends = [". ", ".\n", "? ", "! "];
    let end = ends.iter().filter_map(|end| paragraph.find(end)).min();
    end.map_or(paragraph, |end| &paragraph[..=end])
}

/// The hints that a tool states.
fn hints(component: &Component) -> Vec<&'static str> {
    let annotations = component.definition.get("annotations");
    let stated = |hint: &str| {
        annotations
            .and_then(|it| it.get(hint))
            .and_then(Json::as_bool)
    };
    let mut hints = Vec::new();
    if component.kind != Kind::Tool {
        return hints;
    }
    match (stated("readOnlyHint"), stated("destructiveHint")) {
        (Some(true), _) => hints.push("read-only"),
        (_, Some(true)) => hints.push("destructive"),
        (_, Some(false)) => hints.push("not destructive"),
        _ => {}
    }
    if stated("idempotentHint") == Some(true) {
        hints.push("idempotent");
    }
    match stated("openWorldHint") {
        Some(true) => hints.push("open world"),
        Some(false) => hints.push("closed world"),
        None => {}
    }
    hints
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

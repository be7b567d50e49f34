//! What moved, at a glance: one square for each tool, coloured and lettered by its worst change.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::{ServerReport, escape};
use super::display_name;
use crate::judgement::Level;
use crate::surface::ComponentKey;
use crate::wording::counted;

/// Squares in a row.
const COLUMNS: usize = 24;
/// More would not be a glance any more.
const MOST: usize = 1_000;
const SIDE: usize = 26;

struct Square<'a> {
    key: &'a ComponentKey,
    worst: Option<Level>,
    is_added: bool,
    is_removed: bool,
}

impl Square<'_> {
    fn class(&self) -> &'static str {
        self.worst.map_or("same", Level::word)
    }

    /// A letter as well as a colour: not everyone sees the difference.
    fn letter(&self) -> &'static str {
        match self.worst {
            _ if self.is_added => "+",
            _ if self.is_removed => "−",
            Some(Level::Breaking) => "B",
            Some(Level::Risky) => "R",
            Some(Level::Additive) => "A",
            Some(Level::Cosmetic) => "C",
            None => "",
        }
    }

    fn says(&self) -> String {
        let what = match self.worst {
            _ if self.is_added => "new",
            _ if self.is_removed => "removed",
            Some(level) => level.word(),
            None => "unchanged",
        };
        format!("{}: {what}", display_name(self.key))
    }
}

pub(super) fn picture(
    at: usize,
    server: &ServerReport,
    anchors: &BTreeMap<&str, String>,
) -> String {
    let mut worst: BTreeMap<&ComponentKey, Level> = BTreeMap::new();
    for change in server.changes.iter().map(|it| &it.judged.change) {
        if let Some(key) = &change.component {
            let level = worst.entry(key).or_insert(change.level);
            *level = (*level).max(change.level);
        }
    }
    let squares: Vec<Square<'_>> = server
        .cost
        .tools
        .iter()
        .take(MOST)
        .map(|tool| Square {
            key: &tool.component,
            worst: worst.get(&tool.component).copied(),
            is_added: tool.baseline.is_none(),
            is_removed: tool.current.is_none(),
        })
        .collect();
    if squares.len() < 2 {
        return String::new();
    }
    let changed = squares.iter().filter(|it| it.worst.is_some()).count();
    let columns = squares.len().min(COLUMNS);
    let (width, height) = (columns * SIDE, squares.len().div_ceil(COLUMNS) * SIDE);
    let says = format!("{changed} of {} changed.", counted(squares.len(), "tool"));
    let mut out = format!(
        "<figure>\n<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"group\" aria-labelledby=\"s{at}p\">\n"
    );
    for (index, square) in squares.iter().enumerate() {
        let (x, y) = ((index % COLUMNS) * SIDE, (index / COLUMNS) * SIDE);
        let title = escape::html(&escape::short(&square.says(), 200));
        let drawn = format!(
            "<g class=\"{0}\"><title>{title}</title><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{3}\" rx=\"4\"/><text x=\"{4}\" y=\"{5}\" text-anchor=\"middle\">{6}</text></g>",
            square.class(),
            x + 2,
            y + 2,
            SIDE - 4,
            x + SIDE / 2,
            y + SIDE / 2 + 5,
            square.letter(),
        );
        let _ = match anchors.get(square.key.as_str()) {
            Some(anchor) => writeln!(
                out,
                "<a href=\"#{anchor}\" aria-label=\"{title}\">{drawn}</a>"
            ),
            None => writeln!(out, "{drawn}"),
        };
    }
    let _ = writeln!(
        out,
        "</svg>\n<figcaption id=\"s{at}p\" class=\"quiet\">{says} B breaking, R risky, A additive, \
         C cosmetic, + new, − removed.</figcaption>\n</figure>"
    );
    out
}

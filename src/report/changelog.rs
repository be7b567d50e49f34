//! Release notes from changes: Markdown, Keep a Changelog, changesets.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape;
use crate::drift::Change;
use crate::judgement::Level;
use crate::keyword_enum::keyword_enum;

const NOTHING_CHANGED: &str = "No changes to the MCP contract.";

/// A mark in a list that has no section for it.
const BREAKING_MARK: &str = "**Breaking:** ";

/// How release notes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangelogStyle {
    /// Headings by effect.
    Markdown,
    /// <https://keepachangelog.com>
    KeepAChangelog,
    /// A file for `.changeset`.
    Changesets,
}

keyword_enum!(ChangelogStyle {
    Markdown = "markdown",
    KeepAChangelog = "keepachangelog",
    Changesets = "changesets",
});

/// What release notes are about.
pub struct Notes<'a> {
    /// The name of the release.
    pub title: &'a str,
    /// Its day, if known.
    pub date: Option<&'a str>,
    /// The package that is released.
    pub package: &'a str,
    pub changes: &'a [(String, Change)],
}

/// Release notes, with a final newline.
pub fn changelog(notes: &Notes<'_>, style: ChangelogStyle) -> String {
    let several = notes
        .changes
        .iter()
        .any(|(name, _)| *name != notes.changes[0].0);
    match style {
        ChangelogStyle::Markdown => {
            let mut out = format!("## {}\n", escape::markdown(notes.title));
            sections(&mut out, notes, several, true);
            out
        }
        ChangelogStyle::KeepAChangelog => {
            let date = notes.date.map_or_else(String::new, |it| format!(" - {it}"));
            let mut out = format!("## [{}]{date}\n", escape::markdown(notes.title));
            sections(&mut out, notes, several, false);
            out
        }
        ChangelogStyle::Changesets => {
            let bump = match notes.changes.iter().map(|(_, it)| it.level).max() {
                Some(Level::Breaking) => "major",
                Some(Level::Risky | Level::Additive) => "minor",
                _ => "patch",
            };
            let mut out = format!(
                "---\n\"{}\": {bump}\n---\n\n",
                notes.package.replace('"', "")
            );
            for (server, change) in notes.changes {
                let mark = if change.level == Level::Breaking {
                    BREAKING_MARK
                } else {
                    ""
                };
                let _ = writeln!(out, "- {mark}{}", line(server, change, several));
            }
            if notes.changes.is_empty() {
                out += NOTHING_CHANGED;
                out.push('\n');
            }
            out
        }
    }
}

/// The headings, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Breaking,
    Added,
    Changed,
    Removed,
}

fn sections(out: &mut String, notes: &Notes<'_>, several: bool, breaking_apart: bool) {
    let mut by_section: BTreeMap<Section, Vec<String>> = BTreeMap::new();
    for (server, change) in notes.changes {
        let is_breaking = change.level == Level::Breaking;
        let section = if is_breaking && breaking_apart {
            Section::Breaking
        } else {
            section_of(change)
        };
        let mark = if is_breaking && !breaking_apart {
            BREAKING_MARK
        } else {
            ""
        };
        let line = format!("- {mark}{}", line(server, change, several));
        by_section.entry(section).or_default().push(line);
    }
    for (section, mut lines) in by_section {
        let heading = match section {
            Section::Breaking => "Breaking",
            Section::Added => "Added",
            Section::Changed => "Changed",
            Section::Removed => "Removed",
        };
        let _ = writeln!(out, "\n### {heading}\n");
        lines.dedup();
        for line in lines {
            let _ = writeln!(out, "{line}");
        }
    }
    if notes.changes.is_empty() {
        let _ = writeln!(out, "\n{NOTHING_CHANGED}");
    }
}

fn section_of(change: &Change) -> Section {
    if change.rule.is_about_unknown() {
        Section::Added
    } else if change.rule.removes_component() {
        Section::Removed
    } else {
        Section::Changed
    }
}

fn line(server: &str, change: &Change, several: bool) -> String {
    let mut line = String::new();
    if several {
        line += &format!("{}: ", escape::code(&escape::short(server, 80)));
    }
    if let Some(key) = &change.component {
        line += &format!("{}: ", escape::code(&escape::short(key.called(), 120)));
    }
    // The message may have code spans of its own; they are shown as they are written.
    line + &escape::markdown(&escape::short(&change.message, 300))
}

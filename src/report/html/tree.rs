//! The schemas of a component before and after, side by side, as trees in which the changed members
//! are marked.

use std::fmt::Write as _;

use super::super::{Definition, escape};
use crate::canonical::{Json, pointer};

/// How many members all trees of a page show.
pub(super) const MOST_MEMBERS: usize = 20_000;
/// How many members one tree shows.
const MOST_OF_ONE: usize = 600;
const MOST_LEVELS: usize = 24;

/// Both sides of a component that has a schema, or nothing.
pub(super) fn trees(definition: &Definition, changed: &[&str], room: &mut usize) -> String {
    let schemas = ["inputSchema", "outputSchema", "arguments"];
    let has_schema = |side: &Option<Json>| {
        let side = side.as_ref();
        side.is_some_and(|it| schemas.iter().any(|name| it.get(name).is_some()))
    };
    let is_about_schema = changed.iter().any(|it| {
        let first = pointer::tokens(it).next();
        first.is_none_or(|it| schemas.contains(&it.as_str()))
    });
    if !is_about_schema
        || !(has_schema(&definition.old) || has_schema(&definition.new))
        || *room == 0
    {
        return String::new();
    }
    let mut out =
        "<details><summary>Schemas before and now, side by side</summary>\n<div class=\"sides\">\n"
            .to_owned();
    for (word, side, other, only_here) in [
        ("before", &definition.old, &definition.new, "removed"),
        ("now", &definition.new, &definition.old, "new"),
    ] {
        let _ = writeln!(out, "<div><h5>{word}</h5>");
        match side {
            None => {
                let _ = writeln!(out, "<p class=\"quiet\">It does not exist.</p>");
            }
            Some(side) => {
                let mut tree = Tree {
                    out: String::new(),
                    changed,
                    other: other.as_ref(),
                    only_here,
                    room: MOST_OF_ONE.min(*room),
                };
                let before = tree.room;
                tree.out += "<ul class=\"tree\">\n";
                for name in schemas {
                    if let Some(schema) = side.get(name) {
                        tree.member(name, schema, &pointer::join("", name), 0);
                    }
                }
                tree.out += "</ul>\n";
                *room -= before - tree.room;
                out += &tree.out;
                if tree.room == 0 {
                    let _ = writeln!(
                        out,
                        "<p class=\"quiet\">The rest is in the JSON report.</p>"
                    );
                }
            }
        }
        out += "</div>\n";
    }
    out + "</div>\n</details>\n"
}

struct Tree<'a> {
    out: String,
    changed: &'a [&'a str],
    /// The other side, and what to call a member that it lacks.
    other: Option<&'a Json>,
    only_here: &'static str,
    room: usize,
}

impl Tree<'_> {
    fn member(&mut self, name: &str, value: &Json, at: &str, level: usize) {
        if self.room == 0 {
            return;
        }
        self.room -= 1;
        let label = format!("<code>{}</code>", escape::html(&escape::short(name, 120)));
        let label = if self.changed.contains(&at) {
            let is_there = |it: &Json| pointer::resolve(it, at).is_some();
            let word = if self.other.is_none_or(is_there) {
                "changed"
            } else {
                self.only_here
            };
            format!("<mark>{label} <span>{word}</span></mark>")
        } else {
            label
        };
        let _ = write!(self.out, "<li>{label}");
        let children: Vec<(String, &Json)> = match value {
            Json::Object(members) if !members.is_empty() => members
                .iter()
                .map(|(name, value)| (name.to_string_lossy().to_owned(), value))
                .collect(),
            Json::Array(items) if items.iter().any(|it| matches!(it, Json::Object(_))) => items
                .iter()
                .enumerate()
                .map(|(at, value)| (at.to_string(), value))
                .collect(),
            _ => Vec::new(),
        };
        if children.is_empty() || level >= MOST_LEVELS {
            let shown = escape::html(&escape::short_value(value, 300));
            let _ = writeln!(self.out, " <code>{shown}</code></li>");
            return;
        }
        self.out += "\n<ul>\n";
        for (name, value) in children {
            self.member(&name, value, &pointer::join(at, &name), level + 1);
        }
        self.out += "</ul></li>\n";
    }
}

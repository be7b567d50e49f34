//! What `log` and `changelog` say.

pub(crate) fn no_history() -> &'static str {
    "No commit touched the baseline."
}

pub(crate) fn nothing_about(tool: &str) -> String {
    format!("No commit of the baseline is about {tool}.")
}

pub(crate) fn nothing_changed() -> &'static str {
    "No changes to the MCP contract."
}

pub(crate) fn version_changed(server: &str, old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!("{server}: version {old} → {new}"),
        (None, Some(new)) => format!("{server}: version {new}"),
        (Some(old), None) => format!("{server}: version {old} → none"),
        (None, None) => server.to_owned(),
    }
}

/// The headings of a changelog.
pub(crate) fn heading(section: Section) -> &'static str {
    match section {
        Section::Breaking => "Breaking",
        Section::Added => "Added",
        Section::Changed => "Changed",
        Section::Removed => "Removed",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Breaking,
    Added,
    Changed,
    Removed,
}

/// A mark in a list that has no section for it.
pub(crate) fn breaking_mark() -> &'static str {
    "**Breaking:** "
}

//! Every sentence that a report says about a change, a finding or a verdict.
//!
//! Facts in, text out: nothing here decides anything, and nothing outside writes prose of its own.
//! The rooms that compare call [`drift`], [`schema`] and [`run`]; renderers call [`report`] and
//! only lay out. Server text passes through unchanged: renderers escape it.
//!
//! The texts of rules are in `rules`; an error's message and help are in the error enum of its
//! stage.

pub(crate) mod base;
pub(crate) mod conformance;
pub(crate) mod decide;
pub(crate) mod drift;
pub(crate) mod github;
pub(crate) mod hints;
pub(crate) mod history;
pub(crate) mod html_page;
pub(crate) mod init;
pub(crate) mod interop;
pub(crate) mod page;
pub(crate) mod pin;
pub(crate) mod provider;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod stability;
pub(crate) mod verify;

/// `1 change`, `2 changes`
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// With a capital as its first letter.
pub(crate) fn begin_upper(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// What happened to a member: it `is new`, `was removed` or `changed`.
pub(crate) fn happened<T>(old: Option<T>, new: Option<T>) -> &'static str {
    match (old.is_some(), new.is_some()) {
        (false, _) => "is new",
        (_, false) => "was removed",
        _ => "changed",
    }
}

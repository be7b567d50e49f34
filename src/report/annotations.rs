//! Changes as annotations: each on its line of the committed baseline, and each changed component
//! once more on the line of the source that declares it, if known.
//!
//! The list is complete, the most severe first. The sender applies the limits of its destination.

use std::collections::BTreeMap;

use super::escape::Visible;
use super::{Located, Place, Report, change_text};
use crate::judgement::{Exposure, Level};
use crate::policy::Action;
use crate::sentences::report as sentences;

/// GitHub's limit for a title.
const TITLE_CHARACTERS: usize = 255;

/// GitHub's limit for a message, and for details: 64 KB, including the truncation marker.
const TEXT_BYTES: usize = 64_000;

/// How much of a value is shown in the details.
const VALUE_CHARACTERS: usize = 8_000;

/// Ordered: the worst is the greatest. The words are those of GitHub's check runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnnotationLevel {
    /// For information.
    Notice,
    /// The policy warns.
    Warning,
    /// The policy blocks.
    Failure,
}

crate::keyword_enum::keyword_enum!(AnnotationLevel { Notice = "notice", Warning = "warning", Failure = "failure" });

impl From<Action> for AnnotationLevel {
    fn from(action: Action) -> Self {
        match action {
            Action::Block => Self::Failure,
            Action::Warn => Self::Warning,
            Action::Audit | Action::Accepted => Self::Notice,
        }
    }
}

/// Something to show next to a line. Plain text, safe to send as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The file, with `/` separators, relative to the working directory.
    pub path: String,
    /// One-based.
    pub start_line: usize,
    /// The last line, inclusive.
    pub end_line: usize,
    pub level: AnnotationLevel,
    /// At most 255 characters, one line.
    pub title: Visible,
    /// At most 64 KB.
    pub message: Visible,
    /// Old and new in full, at most 64 KB.
    pub raw_details: Option<Visible>,
}

/// Every change with a place, the most severe first; equally severe ones in the order of the
/// report.
pub fn annotations(report: &Report) -> Vec<Annotation> {
    let mut severe: Vec<(Severity, Annotation)> = Vec::new();
    for server in &report.servers {
        for located in &server.changes {
            if let Some(place) = &located.location {
                severe.push((severity(located), of_change(located, place)));
            }
        }
        severe.extend(of_sources(&server.changes));
    }
    // A stable sort: equals keep the order of the report.
    severe.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    severe
        .into_iter()
        .map(|(_, annotation)| annotation)
        .collect()
}

type Severity = (AnnotationLevel, Level, Exposure);

/// What fails comes first, whatever its level.
pub(super) fn severity(located: &Located) -> Severity {
    let judged = &located.judged;
    (
        judged.action.into(),
        judged.change.level,
        judged.change.exposure,
    )
}

fn of_change(located: &Located, place: &Place) -> Annotation {
    let values = change_text::values(located, VALUE_CHARACTERS);
    Annotation {
        path: place.slashed(),
        start_line: place.line,
        end_line: place.line,
        level: located.judged.action.into(),
        title: title(change_text::title(located)),
        message: bounded(change_text::joined(&change_text::lines(located), "\n")),
        raw_details: (!values.is_empty()).then(|| bounded(values)),
    }
}

/// One annotation per declaration, with all its changes: several on one line would hide each other.
fn of_sources(changes: &[Located]) -> Vec<(Severity, Annotation)> {
    let mut declared: BTreeMap<(String, usize, &str), Vec<&Located>> = BTreeMap::new();
    for located in changes {
        if let Some(place) = &located.source {
            let key = (place.slashed(), place.line, change_text::component(located));
            declared.entry(key).or_default().push(located);
        }
    }
    let one = |((path, line, component), mut changes): ((String, usize, &str), Vec<&Located>)| {
        changes.sort_by_key(|it| std::cmp::Reverse(severity(it)));
        let worst = severity(changes[0]);
        let sentences: Vec<String> = changes
            .iter()
            .map(|it| {
                let change = &it.judged.change;
                let sentence = change_text::sentence(it);
                format!("{} {}: {sentence}", change.level, change.rule)
            })
            .collect();
        let about = super::escape::line(component);
        let annotation = Annotation {
            path,
            start_line: line,
            end_line: line,
            level: worst.0,
            title: title(Visible::of_parts(sentences::against_baseline(
                &about,
                changes.len(),
            ))),
            message: bounded(Visible::of_parts(sentences.join("\n"))),
            raw_details: None,
        };
        (worst, annotation)
    };
    declared.into_iter().map(one).collect()
}

fn title(text: Visible) -> Visible {
    text.cut_to_fit(TITLE_CHARACTERS)
}

fn bounded(text: Visible) -> Visible {
    text.cut_to_bytes(TEXT_BYTES)
}

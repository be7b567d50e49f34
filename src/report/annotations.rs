//! Changes as annotations: on the line that declares the component, or else on its line of the baseline. One per line, with
//! all that changed there: several on one line would hide each other.
//!
//! The most severe come first. The sender applies the limits of its destination.

use std::collections::{BTreeMap, BTreeSet};

use super::escape::Visible;
use super::{Located, Report, ServerReport, change_text};
use crate::judgement::{Exposure, Level};
use crate::policy::Action;
use crate::wording::counted;

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

/// The changes of at least this action, in files that are shown, the most severe first; equally severe ones in the order of
/// their places. Nothing in them depends on whether a change is accepted.
pub fn annotations(
    report: &Report,
    least: Action,
    is_shown: &dyn Fn(&str) -> bool,
) -> Vec<Annotation> {
    let mut severe: Vec<(Severity, Cost<'_>, Annotation)> = Vec::new();
    for server in &report.servers {
        let mut by_place: BTreeMap<(String, usize, &str), Vec<&Located>> = BTreeMap::new();
        let changes = server.changes.iter();
        for located in changes.filter(|it| it.judged.action >= least) {
            let places = [&located.source, &located.location];
            let place = places
                .into_iter()
                .flatten()
                .map(|it| (it.slashed(), it.line))
                .find(|(path, _)| is_shown(path));
            if let Some((path, line)) = place {
                let key = (path, line, change_text::component(located));
                by_place.entry(key).or_default().push(located);
            }
        }
        severe.extend(by_place.into_iter().map(|it| annotation(it, server)));
    }
    // A stable sort: equals keep their order.
    severe.sort_by_key(|(severity, ..)| std::cmp::Reverse(*severity));
    let mut costed = BTreeSet::new();
    let mut annotations = Vec::with_capacity(severe.len());
    for (_, cost, mut annotation) in severe {
        // On the worst change of a tool only.
        if let Some((tool, sentence)) = cost
            && costed.insert(tool)
        {
            let message = [annotation.message, Visible::of_parts(sentence)];
            annotation.message = bounded(change_text::joined(&message, "\n\n"));
        }
        annotations.push(annotation);
    }
    annotations
}

/// A tool of a server whose cost changed, and the sentence.
type Cost<'a> = Option<((&'a str, &'a str), String)>;

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

fn annotation<'a>(
    ((path, line, component), mut changes): ((String, usize, &'a str), Vec<&'a Located>),
    server: &'a ServerReport,
) -> (Severity, Cost<'a>, Annotation) {
    changes.sort_by_key(|it| std::cmp::Reverse(severity(it)));
    let worst = severity(changes[0]);
    let name = change_text::name(changes[0]);
    let title = match &changes[..] {
        [only] => format!("{name}: {}", change_text::sentence(only)),
        many => format!(
            "{name}: {} against the baseline",
            counted(many.len(), "change")
        ),
    };
    let message: Vec<Visible> = changes
        .iter()
        .map(|it| change_text::joined(&change_text::facts(it), "\n"))
        .collect();
    let cost = server.tool_cost_changed(changes[0]);
    let cost = cost.map(|it| ((server.name.as_str(), component), it));
    let details = match &changes[..] {
        [only] => change_text::values(only, VALUE_CHARACTERS),
        _ => Visible::of_parts(String::new()),
    };
    let annotation = Annotation {
        path,
        start_line: line,
        end_line: line,
        level: worst.0,
        title: Visible::of_parts(title).cut_to_fit(TITLE_CHARACTERS),
        message: bounded(change_text::joined(&message, "\n\n")),
        raw_details: (!details.is_empty()).then(|| bounded(details)),
    };
    (worst, cost, annotation)
}

fn bounded(text: Visible) -> Visible {
    text.cut_to_bytes(TEXT_BYTES)
}

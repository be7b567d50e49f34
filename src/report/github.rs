//! Workflow commands: annotations from the log alone, `--format github`.
//!
//! GitHub shows 10 annotations of each level per step and 50 per job, and silently drops the rest.
//! So at most that many are written, the most severe first, and the last notice counts what is
//! missing.

use std::fmt::Write as _;

use super::annotations::{AnnotationLevel, annotations};
use super::escape::{self, Visible};
use super::{Located, Report, Status, change_text};
use crate::policy::Action;

/// GitHub's limit per level and step.
const A_LEVEL: usize = 10;

/// GitHub's limit per job. Three levels of ten stay below it; it is here in case of a fourth.
const A_JOB: usize = 50;

/// The report as workflow commands, one per line.
pub fn github(report: &Report) -> String {
    let all = commands(report);
    let mut shown: Vec<&Command> = Vec::new();
    for level in [
        AnnotationLevel::Failure,
        AnnotationLevel::Warning,
        AnnotationLevel::Notice,
    ] {
        // One notice is reserved for the count of what is missing.
        let most = match level {
            AnnotationLevel::Notice => A_LEVEL - 1,
            _ => A_LEVEL,
        };
        shown.extend(all.iter().filter(|it| it.level == level).take(most));
    }
    shown.truncate(A_JOB - 1);
    let mut out = String::new();
    for command in &shown {
        out += &command.line();
    }
    if shown.len() < all.len() {
        let missing = |level| {
            let count = |of: &mut dyn Iterator<Item = AnnotationLevel>| {
                of.filter(|it| *it == level).count()
            };
            count(&mut all.iter().map(|it| it.level)) - count(&mut shown.iter().map(|it| it.level))
        };
        let message = format!(
            "{} more than a log can annotate: {} errors, {} warnings, {} notices. The job summary and \
             `mcp-keel check` have all of them.",
            all.len() - shown.len(),
            missing(AnnotationLevel::Failure),
            missing(AnnotationLevel::Warning),
            missing(AnnotationLevel::Notice)
        );
        let command = Command {
            level: AnnotationLevel::Notice,
            place: None,
            title: Visible::of_parts("mcp-keel: not everything is shown".to_owned()),
            message: Visible::of_parts(message),
        };
        out += &command.line();
    }
    out
}

struct Command {
    level: AnnotationLevel,
    place: Option<(String, usize)>,
    title: Visible,
    message: Visible,
}

impl Command {
    fn line(&self) -> String {
        let word = match self.level {
            AnnotationLevel::Failure => "error",
            AnnotationLevel::Warning => "warning",
            AnnotationLevel::Notice => "notice",
        };
        let mut out = format!("::{word} ");
        if let Some((path, line)) = &self.place {
            let _ = write!(out, "file={},line={line},", escape::command_property(path));
        }
        let _ = writeln!(
            out,
            "title={}::{}",
            escape::command_property(&self.title),
            escape::command_data(&self.message)
        );
        out
    }
}

/// Everything to report: what could not be captured, changes with a place, changes without,
/// findings.
fn commands(report: &Report) -> Vec<Command> {
    let mut all = Vec::new();
    for server in &report.servers {
        if let Status::Undetermined(failure) = &server.status {
            all.push(Command {
                level: AnnotationLevel::Failure,
                place: None,
                title: escape::line(&server.no_capture()),
                message: Visible::of_parts(format!(
                    "{}\n{}",
                    escape::line(&failure.message),
                    escape::block(&failure.help)
                )),
            });
        }
    }
    let placed = annotations(report, Action::Warn, &|_| true);
    all.extend(placed.into_iter().map(|it| Command {
        level: it.level,
        place: Some((it.path, it.start_line)),
        title: it.title,
        message: it.message,
    }));
    let is_loud = |it: &&Located| it.judged.action >= Action::Warn;
    let is_placed = |it: &&Located| it.location.is_some() || it.source.is_some();
    for located in report.changes().filter(is_loud) {
        if is_placed(&located) {
            continue;
        }
        all.push(Command {
            level: located.judged.action.into(),
            place: None,
            title: change_text::title(located),
            message: change_text::joined(&change_text::lines(located), "\n"),
        });
    }
    let of_servers = report.servers.iter().flat_map(|server| &server.findings);
    for finding in of_servers.chain(&report.findings) {
        all.push(Command {
            level: finding.action.into(),
            place: None,
            title: Visible::of_parts(finding.note.rule.to_string()),
            message: change_text::finding(finding),
        });
    }
    all
}

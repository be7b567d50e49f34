//! Both results of a pull request in one page, within the limits of each place.

use std::path::Path;

use super::acceptance::Acceptance;
use super::approval::Approval;
use super::pull_request::Answered;
use super::secrets;
use crate::judgement::Level;
use crate::policy::{Action, Verdict};
use crate::report::escape::Visible;
use crate::report::{self, Annotation, Comparison, Report, ServerReport, Status, escape};
use crate::rules::RuleId;
use crate::sentences::base as base_sentences;
use crate::sentences::run as sentences;

/// How many changes of the check, masks or acceptances are listed.
const MOST_LISTED: usize = 20;

/// What is shown, made from both answers.
pub(crate) struct Page<'a> {
    pub(crate) result: &'a Answered,
    pub(crate) label: &'a str,
}

impl Page<'_> {
    pub(crate) fn title(&self) -> String {
        let mut parts = Vec::new();
        if self.weakens() {
            parts.push(sentences::weakens_the_check(self.result.accepted_by_label));
        }
        let undetermined = |report: &Report| {
            let mut servers = report.servers.iter();
            servers.any(|it| matches!(it.status, Status::Undetermined(_)))
        };
        if undetermined(&self.result.live) {
            parts.push(sentences::a_server_not_captured());
        }
        if let Some(counts) = counts(&self.result.live) {
            parts.push(format!("drift: {counts}"));
        }
        if let Some(approval) = &self.result.approval {
            if undetermined(&approval.report) {
                parts.push(sentences::base_not_read());
            }
            if let Some(counts) = counts(&approval.report) {
                parts.push(sentences::to_approve(
                    &counts,
                    self.result.accepted_by_label,
                ));
            }
        }
        if parts.is_empty() {
            "No drift".to_owned()
        } else {
            parts.join("; ")
        }
    }

    /// Both sections, within `limit` bytes and without secrets.
    pub(crate) fn markdown(&self, limit: usize) -> String {
        secrets::clean(&self.sections(limit))
    }

    /// What the pull request changes about the check comes first, what is exempt from it last.
    fn sections(&self, limit: usize) -> String {
        let (first, last) = (self.check_changes(), self.exceptions());
        let room = limit.saturating_sub(first.len() + last.len());
        format!("{first}{}{last}", self.answers(room))
    }

    fn check_changes(&self) -> String {
        let changes = &self.result.check_changes;
        if changes.is_empty() {
            return String::new();
        }
        let mut out = format!("## {}\n\n", base_sentences::changes_of_the_check());
        out += &format!("{}\n\n", base_sentences::judged_by_the_base());
        for change in changes.iter().take(MOST_LISTED) {
            let mark = if change.weakens {
                format!(" (**{}**)", base_sentences::weakens())
            } else {
                String::new()
            };
            let message = escape::markdown(&escape::short(&change.message, 300));
            out += &format!("- {message}{mark}\n");
        }
        out += &left_out(changes.len());
        out += "\n";
        if self.weakens() {
            out += &self.label_line();
        }
        out
    }

    fn weakens(&self) -> bool {
        self.result.check_changes.iter().any(|it| it.weakens)
    }

    fn exceptions(&self) -> String {
        let exceptions = &self.result.exceptions;
        if exceptions.is_empty() {
            return String::new();
        }
        let title = base_sentences::exceptions_in_force();
        let mut out = format!(
            "\n<details><summary>{title}: {}</summary>\n\n",
            exceptions.len()
        );
        for line in exceptions.iter().take(MOST_LISTED) {
            out += &format!("- {}\n", escape::markdown(&escape::short(line, 300)));
        }
        out += &left_out(exceptions.len());
        out + "\n</details>\n"
    }

    /// What the label does, or would do.
    fn label_line(&self) -> String {
        let label = escape::code(self.label);
        let by = |by: &str| {
            let by = if by.is_empty() { "someone" } else { by };
            escape::code(by).to_string()
        };
        match &self.result.acceptance {
            Acceptance::Given { by: who, .. } if self.result.accepted_by_label => {
                format!("{}\n\n", sentences::accepted_by_label(&label, &by(who)))
            }
            _ if !self.result.label_would_help => String::new(),
            Acceptance::Earlier { by: who } => {
                let line = base_sentences::label_of_an_earlier_commit(&label, &by(who));
                format!("{line}\n\n")
            }
            _ => format!("{}\n\n", sentences::needs_maintainer(&label)),
        }
    }

    /// The live report without what has a section of its own.
    fn live(&self) -> Report {
        let mut live = self.result.live.clone();
        live.findings
            .retain(|it| it.note.rule != RuleId::CheckWeakened);
        live
    }

    fn answers(&self, limit: usize) -> String {
        let Some(approval) = &self.result.approval else {
            return report::markdown(&self.live(), limit);
        };
        let first = sentences::first_question();
        let second = sentences::second_question();
        // A lowered version is not a change of the contract, but blocks.
        let differs = approval.report.changes().next().is_some()
            || approval.report.verdict != Verdict::Pass
            || !approval.notes.is_empty();
        let mut intro = if differs {
            format!("{}\n\n", sentences::compared_with_base())
        } else {
            format!("{}\n", sentences::same_as_base())
        };
        // It is above already where the check itself needs it.
        if !self.weakens() {
            intro += &self.label_line();
        }
        for note in &approval.notes {
            intro += &format!("{}\n\n", escape::markdown(note));
        }
        // Including the markup and line ends of the two headings.
        let around = first.len() + second.len() + intro.len() + 20;
        let room = limit.saturating_sub(around);
        // Half of the room for each, unless one needs less.
        let body = |limit| {
            if differs {
                report::markdown(&approval.report, limit)
            } else {
                String::new()
            }
        };
        let live = report::markdown(&self.live(), room - body(room / 2).len().min(room));
        let approved = body(room.saturating_sub(live.len()));
        let (live, approved) = (
            section(first, "", &live),
            section(second, &intro, &approved),
        );
        format!("{live}\n{approved}")
    }

    /// Both reports in one, for sinks that count over both. Entries of the second question are
    /// labelled.
    pub(crate) fn combined(&self) -> Report {
        let mut servers: Vec<ServerReport> = self.result.live.servers.clone();
        let mut findings = self.result.live.findings.clone();
        if let Some(approval) = &self.result.approval {
            for mut server in approval.report.servers.clone() {
                for located in &mut server.changes {
                    let change = &mut located.judged.change;
                    change.message = crate::sentences::report::against_base_branch(&change.message);
                }
                servers.push(server);
            }
            findings.extend(approval.report.findings.clone());
        }
        Report::new(Comparison::Check, servers, findings)
    }

    pub(crate) fn annotations(&self) -> Vec<Annotation> {
        let mut annotations = report::annotations(&self.combined());
        for annotation in &mut annotations {
            let clean = |text: &str| Visible::of_parts(secrets::clean(text));
            annotation.title = clean(&annotation.title);
            annotation.message = clean(&annotation.message);
            annotation.raw_details = annotation.raw_details.as_deref().map(clean);
        }
        annotations
    }

    pub(crate) fn has_something_to_say(&self) -> bool {
        let reports = [
            Some(&self.result.live),
            self.result.approval.as_ref().map(|it| &it.report),
        ];
        let noted = |it: &Approval| !it.notes.is_empty();
        if !self.result.check_changes.is_empty() || self.result.approval.as_ref().is_some_and(noted)
        {
            return true;
        }
        reports.into_iter().flatten().any(|report| {
            let of_servers = report.servers.iter().flat_map(|it| &it.findings);
            let mut findings = report.findings.iter().chain(of_servers);
            report.verdict != Verdict::Pass
                || report.changes().next().is_some()
                || findings.any(|it| it.action >= Action::Warn)
        })
    }

    pub(crate) fn outputs(&self, json: &Path) -> Vec<(&'static str, String)> {
        let live = &self.result.live;
        let count = |level| {
            let servers = live.servers.iter();
            servers.map(|it| it.count(level)).sum::<usize>().to_string()
        };
        let approved = self
            .result
            .approval
            .iter()
            .flat_map(|it| &it.report.servers);
        let bump = live
            .servers
            .iter()
            .chain(approved)
            .map(|it| it.version.required)
            .max();
        let drift = live.changes().next().is_some();
        vec![
            ("verdict", self.result.verdict.word().to_owned()),
            ("drift", drift.to_string()),
            ("breaking", count(Level::Breaking)),
            ("risky", count(Level::Risky)),
            ("additive", count(Level::Additive)),
            ("cosmetic", count(Level::Cosmetic)),
            ("report", json.to_string_lossy().replace('\\', "/")),
            (
                "required-bump",
                bump.map_or("none", |it| it.word()).to_owned(),
            ),
        ]
    }
}

/// A line about what a list leaves out.
fn left_out(count: usize) -> String {
    match count.saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!("- and {more} more\n"),
    }
}

/// A page under a heading of its own, which takes the verdict over from the page's.
fn section(title: &str, intro: &str, page: &str) -> String {
    let verdict = page
        .strip_prefix("## mcp-keel: ")
        .and_then(|rest| rest.split_once('\n'));
    match verdict {
        Some((verdict, rest)) => {
            format!("## {title}: {verdict}\n\n{intro}{}", rest.trim_start())
        }
        None => format!("## {title}\n\n{intro}{page}"),
    }
}

/// `1 breaking, 2 risky`; `None` if there is nothing.
fn counts(report: &Report) -> Option<String> {
    let levels = [
        Level::Breaking,
        Level::Risky,
        Level::Additive,
        Level::Cosmetic,
    ];
    let parts: Vec<String> = levels
        .into_iter()
        .map(|level| (report.servers.iter().map(|it| it.count(level)).sum(), level))
        .filter(|(count, _): &(usize, Level)| *count > 0)
        .map(|(count, level)| format!("{count} {level}"))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

//! Both answers of a pull request in one page, within what each place takes.

use std::path::Path;

use super::approval::Approval;
use super::pull_request::Answered;
use super::secrets;
use crate::judgement::Level;
use crate::policy::{Action, Verdict};
use crate::report::escape::Visible;
use crate::report::{self, Annotation, Comparison, Report, ServerReport, Status, escape};
use crate::sentences::run as sentences;

/// What is shown, made from both answers.
pub(crate) struct Page<'a> {
    pub(crate) result: &'a Answered,
    pub(crate) label: &'a str,
}

impl Page<'_> {
    pub(crate) fn title(&self) -> String {
        let mut parts = Vec::new();
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

    fn sections(&self, limit: usize) -> String {
        let Some(approval) = &self.result.approval else {
            return report::markdown(&self.result.live, limit);
        };
        let first = sentences::first_question();
        let second = sentences::second_question();
        // A version that went down is no change of the contract, and blocks.
        let differs = approval.report.changes().next().is_some()
            || approval.report.verdict != Verdict::Pass
            || !approval.notes.is_empty();
        let mut intro = if differs {
            format!("{}\n\n", sentences::compared_with_base())
        } else {
            format!("{}\n", sentences::same_as_base())
        };
        let label = escape::code(self.label);
        if self.result.accepted_by_label {
            intro += &format!("{}\n\n", sentences::accepted_by_label(&label));
        } else if self.result.label_would_help {
            intro += &format!("{}\n\n", sentences::needs_maintainer(&label));
        }
        for note in &approval.notes {
            intro += &format!("{}\n\n", escape::markdown(note));
        }
        // Marks and line ends of the two headings included.
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
        let live = report::markdown(&self.result.live, room - body(room / 2).len().min(room));
        let approved = body(room.saturating_sub(live.len()));
        let (live, approved) = (
            section(first, "", &live),
            section(second, &intro, &approved),
        );
        format!("{live}\n{approved}")
    }

    /// Both reports in one, for sinks that count over both. What belongs to the second question says so.
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
        if self.result.approval.as_ref().is_some_and(noted) {
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

/// `1 breaking, 2 risky`; none if there is nothing.
fn counts(report: &Report) -> Option<String> {
    let levels = [
        Level::Breaking,
        Level::Risky,
        Level::Additive,
        Level::Cosmetic,
    ];
    let told: Vec<String> = levels
        .into_iter()
        .map(|level| (report.servers.iter().map(|it| it.count(level)).sum(), level))
        .filter(|(count, _): &(usize, Level)| *count > 0)
        .map(|(count, level)| format!("{count} {level}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

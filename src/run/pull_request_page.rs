//! Both results of a pull request in one page, within the limits of each place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::acceptance::Acceptance;
use super::approval::Approval;
use super::pull_request::Answered;
use super::secrets;
use crate::github::Context;
use crate::judgement::Level;
use crate::policy::{Action, Verdict};
use crate::report::escape::Visible;
use crate::report::{
    self, About, Annotation, AnnotationLevel, Comparison, Frame, Pages, Report, Section,
    ServerReport, Status, escape,
};
use crate::rules::RuleId;
use crate::wording::counted;

/// How many changes of the check, masks or acceptances are listed.
const MOST_LISTED: usize = 20;

/// How many annotations a reader can use.
const MOST_ANNOTATIONS: usize = 50;

/// How many changes a comment and a check run list. The job summary has all.
const ROWS: usize = 20;

/// What is shown, made from both answers.
pub(crate) struct Page<'a> {
    pub(crate) result: &'a Answered,
    pub(crate) label: &'a str,
    pub(crate) context: &'a Context,
    /// The name of the check.
    pub(crate) name: &'a str,
    /// Whether the workflow uploads the proposed baseline.
    pub(crate) has_artifact: bool,
    /// The files that the pull request changes, as far as that matters and is known.
    pub(crate) in_diff: Option<&'a BTreeSet<String>>,
}

/// The files that a run has written.
pub(crate) struct ReportFiles {
    /// The JSON report of the first question.
    pub(crate) report: Option<PathBuf>,
    /// That of the second.
    pub(crate) approval: Option<PathBuf>,
    /// The proposed baseline, or a folder with several.
    pub(crate) proposed: Option<PathBuf>,
}

impl ReportFiles {
    pub(crate) fn map(&self, to: impl Fn(&Path) -> PathBuf) -> Self {
        let one = |path: &Option<PathBuf>| path.as_deref().map(&to);
        Self {
            report: one(&self.report),
            approval: one(&self.approval),
            proposed: one(&self.proposed),
        }
    }
}

/// Where a page of this run is shown.
pub(crate) fn frame(context: &Context, name: &str, rows: usize) -> Frame {
    let repository = format!(
        "{}/{}/{}",
        context.server, context.owner, context.repository
    );
    let commit = &context.commit;
    let short = commit.get(..7).unwrap_or(commit);
    Frame {
        name: name.to_owned(),
        files: Some(format!("{repository}/blob/{commit}")),
        commit: Some((short.to_owned(), format!("{repository}/commit/{commit}"))),
        run: context.run.clone(),
        has_artifact: false,
        is_action: true,
        rows,
    }
}

fn code(text: &str) -> String {
    escape::code(&escape::short(text, 120))
}

impl Page<'_> {
    /// One line of plain text.
    pub(crate) fn title(&self) -> String {
        let title = self.first_line(|text| escape::short(text, 60).into_string());
        Visible::of_parts(title).cut_to_fit(250).into_string()
    }

    /// What a reader sees first. `show` is how names are shown.
    fn first_line(&self, show: fn(&str) -> String) -> String {
        let mut parts = Vec::new();
        if self.weakens() {
            let accepted = self.result.accepted_by_label;
            let accepted = if accepted { " (accepted)" } else { "" };
            parts.push(format!("this pull request weakens its own check{accepted}"));
        }
        let live = self.live();
        let is_quiet = |it: &ServerReport| matches!(it.status, Status::Clean);
        if !live.servers.iter().all(is_quiet) {
            parts.push(report::title(&live, About::Live, show));
        }
        if let Some(approval) = self.result.approval.as_ref().filter(|it| differs(it)) {
            let mut title = report::title(&approval.report, About::Merging, show);
            if let (Acceptance::Given { by, .. }, true) =
                (&self.result.acceptance, approval.unaccepted.is_some())
            {
                title = format!("{title}, accepted by {}", show(someone(by)));
            }
            let is_quiet = approval.report.servers.iter().all(is_quiet);
            if !is_quiet {
                parts.push(title);
            }
        }
        if parts.is_empty() {
            let findings = self.loud_findings();
            parts.push(match findings {
                0 => report::title(&live, About::Live, show),
                many => format!("{} besides the tool list", counted(many, "problem")),
            });
        }
        parts.join("; ")
    }

    /// How many findings are more than notes.
    fn loud_findings(&self) -> usize {
        let combined = self.combined();
        let of_servers = combined.servers.iter().flat_map(|it| &it.findings);
        let findings = combined.findings.iter().chain(of_servers);
        findings.filter(|it| it.action >= Action::Warn).count()
    }

    /// The page of a comment or a check run, within `limit` bytes and without secrets.
    pub(crate) fn markdown(&self, limit: usize) -> String {
        self.page(limit, ROWS)
    }

    /// The page with every change.
    pub(crate) fn whole(&self, limit: usize) -> String {
        self.page(limit, usize::MAX)
    }

    /// What the pull request changes about the check comes first, what is exempt from it last.
    fn page(&self, limit: usize, rows: usize) -> String {
        let frame = Frame {
            has_artifact: self.has_artifact,
            ..frame(self.context, self.name, rows)
        };
        let live = self.live();
        let mut sections = vec![Section {
            report: &live,
            about: About::Live,
            intro: String::new(),
        }];
        let mut facts = Vec::new();
        let is_clean = live
            .servers
            .iter()
            .all(|it| matches!(it.status, Status::Clean));
        match &self.result.approval {
            Some(approval) if differs(approval) => {
                let mut intro = String::new();
                if !is_clean {
                    intro += "#### What merging approves\n\n";
                }
                // It is above already where the check itself needs it.
                if !self.weakens() {
                    intro += &self.label_line();
                }
                for note in &approval.notes {
                    intro += &format!("{}\n\n", escape::markdown(note));
                }
                sections.push(Section {
                    report: &approval.report,
                    about: About::Merging,
                    intro,
                });
                if is_clean {
                    facts.push("the running server matches this baseline".to_owned());
                }
            }
            Some(_) => facts.push("merging changes nothing in the baseline".to_owned()),
            None => {}
        }
        let page = Pages {
            frame: &frame,
            title: self.first_line(code),
            verdict: self.result.verdict,
            first: self.check_changes(),
            sections,
            last: self.exceptions(),
            facts,
        };
        // What replaces a secret may be longer than it.
        secrets::clean(&page.markdown(limit.saturating_sub(512)))
    }

    fn check_changes(&self) -> String {
        let changes = &self.result.check_changes;
        if changes.is_empty() {
            return String::new();
        }
        let mut out = "#### What this pull request changes about the check\n\n".to_owned();
        out += "This run is judged by the base branch. These changes apply after the merge:\n\n";
        for change in changes.iter().take(MOST_LISTED) {
            let mark = if change.weakens {
                " (**weakens the check**)".to_owned()
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
        let title = "Masks and acceptances in force";
        let mut out = format!(
            "<details><summary>{title}: {}</summary>\n\n",
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
        let by = |by: &str| code(someone(by));
        match &self.result.acceptance {
            Acceptance::Given { by: who, .. } if self.result.accepted_by_label => {
                format!(
                    "Accepted by {} with the label {label}, for this commit.\n\n",
                    by(who)
                )
            }
            _ if !self.result.label_would_help => String::new(),
            Acceptance::Earlier { by: who } => {
                let line = format!(
                    "The label {label} was set by {} before this commit was pushed and does not accept it. To \
                     accept what is new, remove the label and set it again.",
                    by(who)
                );
                format!("{line}\n\n")
            }
            _ => format!(
                "**This needs a maintainer.** To accept it, someone with triage rights adds the label \
                 {label}.\n\n"
            ),
        }
    }

    /// The live report without what has a section of its own.
    fn live(&self) -> Report {
        let mut live = self.result.live.clone();
        live.findings
            .retain(|it| it.note.rule != RuleId::CheckWeakened);
        live
    }

    /// Both reports in one, for sinks that count over both. Entries of the second question are
    /// labelled.
    pub(crate) fn combined(&self) -> Report {
        let mut servers: Vec<ServerReport> = self.result.live.servers.clone();
        let mut findings = self.result.live.findings.clone();
        if let Some(approval) = &self.result.approval {
            servers.extend(against_base(&approval.report));
            findings.extend(approval.report.findings.clone());
        }
        Report::new(Comparison::Check, servers, findings)
    }

    /// What blocks, or would without the label, in files of the pull request. Nothing in an annotation depends on whether a
    /// change is accepted: it cannot be removed, and a later run on the same commit may conclude otherwise.
    pub(crate) fn annotations(&self) -> Vec<Annotation> {
        let is_shown = |path: &str| self.in_diff.is_none_or(|it| it.contains(path));
        let mut both = self.result.live.clone();
        if let Some(approval) = &self.result.approval {
            let report = approval.unaccepted.as_ref().unwrap_or(&approval.report);
            both.servers.extend(against_base(report));
        }
        let mut annotations = report::annotations(&both, Action::Block, &is_shown);
        annotations.truncate(MOST_ANNOTATIONS);
        for annotation in &mut annotations {
            let clean = |text: &str| Visible::of_parts(secrets::clean(text));
            annotation.level = AnnotationLevel::Warning;
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

    /// Over both questions; `drift` is the first.
    pub(crate) fn outputs(&self, files: &ReportFiles) -> Vec<(&'static str, String)> {
        let live = &self.result.live;
        let combined = self.combined();
        let count = |level| {
            let servers = combined.servers.iter();
            servers.map(|it| it.count(level)).sum::<usize>().to_string()
        };
        let bump = combined.servers.iter().map(|it| it.version.required).max();
        let slashed = |path: &Option<PathBuf>| {
            let path = path.as_deref().unwrap_or(Path::new(""));
            path.to_string_lossy().replace('\\', "/")
        };
        let drift = live.changes().next().is_some();
        vec![
            ("verdict", self.result.verdict.word().to_owned()),
            ("drift", drift.to_string()),
            ("breaking", count(Level::Breaking)),
            ("risky", count(Level::Risky)),
            ("additive", count(Level::Additive)),
            ("cosmetic", count(Level::Cosmetic)),
            ("report", slashed(&files.report)),
            ("approval-report", slashed(&files.approval)),
            ("proposed-baseline", slashed(&files.proposed)),
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

/// Whether there is something to approve. A lowered version is not a change of the contract, but blocks.
fn differs(approval: &Approval) -> bool {
    approval.report.changes().next().is_some()
        || approval.report.verdict != Verdict::Pass
        || !approval.notes.is_empty()
}

/// The servers of the second question, each change marked as one.
fn against_base(report: &Report) -> Vec<ServerReport> {
    let mut servers = report.servers.clone();
    for located in servers.iter_mut().flat_map(|it| &mut it.changes) {
        let change = &mut located.judged.change;
        change.message = format!("against the base branch: {}", change.message);
    }
    servers
}

/// A person whose name may not be known.
fn someone(by: &str) -> &str {
    if by.is_empty() { "someone" } else { by }
}

//! The report as Markdown, for the comment on a pull request, the job summary, the check run and a file.
//!
//! A reviewer has twenty seconds. The first line says what happens to callers; then come the calls that fail, then the texts
//! that an approver has to read, unfolded; everything else is folded, by tool. GitHub's limits differ by place, so the page
//! is made with fewer rows until it fits; what is left out is counted, the least severe first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::annotations::{AnnotationLevel, severity};
use super::escape::{self, Visible};
use super::fold::{Group, fold};
use super::links::{Frame, linked};
use super::{
    Comparison, Failure, FailureKind, Finding, Listed, Located, Report, ServerReport, Status,
    change_text, headline,
};
use crate::canonical::Json;
use crate::drift::Change;
use crate::judgement::{Exposure, Level, Proof};
use crate::policy::{Action, Bump, Verdict};
use crate::rules::{RuleId, Side};
use crate::sentences::begin_upper;
use crate::sentences::page::{self as sentences, Counts};
use crate::surface::{ComponentKey, Kind};

/// GitHub's limit for a comment. Counted here in bytes, which are never fewer than characters.
pub const COMMENT_LIMIT: usize = 65_536;

/// GitHub's limit for a check run's summary, and for its text.
pub const CHECK_RUN_LIMIT: usize = 65_535;

/// GitHub's limit for a step's summary.
pub const SUMMARY_LIMIT: usize = 1 << 20;

/// How much of a text that an approver has to read is shown.
const TEXT_CHARACTERS: usize = 2_000;

/// How much of a call is shown.
const CALL_CHARACTERS: usize = 160;

/// How much of a sentence is shown in a row.
const CELL_CHARACTERS: usize = 240;

/// How many of the last lines of a server's stderr are shown.
const STDERR_LINES: usize = 20;

/// The head of a table of tools.
const LISTED: &str = "| tool | says | hints |\n| --- | --- | --- |\n";

/// Where to get mcp-keel.
const INSTALL: &str = "https://github.com/mcp-keel/mcp-keel#install";

/// How much of each kind is shown.
#[derive(Clone, Copy)]
struct Budget {
    /// Changes in the folded list, of all servers.
    rows: usize,
    /// Calls that fail, per server.
    calls: usize,
    /// Texts that an approver has to read, per server.
    texts: usize,
    servers: usize,
}

/// What a page says: one comparison, or both of a pull request.
pub struct Pages<'a> {
    pub frame: &'a Frame,
    /// The first line, without its icon and the name of the check.
    pub title: String,
    pub verdict: Verdict,
    /// Right below the first line.
    pub first: String,
    pub sections: Vec<Section<'a>>,
    /// Below everything but the last line.
    pub last: String,
    /// In the last line.
    pub facts: Vec<String>,
}

/// One comparison.
pub struct Section<'a> {
    pub report: &'a Report,
    pub about: About,
    /// Before its first table.
    pub intro: String,
}

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The server with its baseline.
    Live,
    /// The baseline with that of the base branch.
    Merging,
    /// Two sources.
    Sources,
    /// What was pinned.
    Pinned,
}

/// The report as Markdown of at most `limit` bytes, with a final newline.
pub fn markdown(report: &Report, limit: usize) -> String {
    markdown_in(report, limit, &Frame::default())
}

/// The same, with links.
pub fn markdown_in(report: &Report, limit: usize, frame: &Frame) -> String {
    let about = match report.comparison {
        Comparison::Check => About::Live,
        Comparison::Diff => About::Sources,
        Comparison::Pin { .. } => About::Pinned,
    };
    let page = Pages {
        frame,
        title: title(report, about, code),
        verdict: report.verdict,
        first: String::new(),
        sections: vec![Section {
            report,
            about,
            intro: String::new(),
        }],
        last: String::new(),
        facts: Vec::new(),
    };
    page.markdown(limit)
}

/// How a page shows an untrusted name.
fn code(text: &str) -> String {
    escape::code(&escape::short(text, 120))
}

/// What a comparison says, in one line. `show` is how names are shown.
pub fn title(report: &Report, about: About, show: fn(&str) -> String) -> String {
    if let Comparison::Pin { written } = &report.comparison {
        return sentences::pinned(&headline::pin_headline(report, written, show));
    }
    match &report.servers[..] {
        [] => sentences::problems(report.findings.len()),
        [only] => of_server(only, about, show),
        many => of_servers(many, about, show),
    }
}

fn of_server(server: &ServerReport, about: About, show: fn(&str) -> String) -> String {
    let name = show(&server.name);
    let counts = counts(&server.changes);
    match &server.status {
        Status::Undetermined(failure) => match failure.kind {
            FailureKind::NotStarted => sentences::did_not_start(&name),
            FailureKind::Unstable => sentences::captures_differ(&name),
            FailureKind::Base => sentences::base_unknown(&name),
            FailureKind::Other => sentences::not_captured(&name),
        },
        Status::New if about == About::Merging => sentences::pins_first(&name, server.components),
        Status::New => sentences::not_in_baseline(&name, server.components),
        Status::Clean => sentences::matches(&name, server.components),
        Status::Drifted if about == About::Merging => sentences::merging_approves(&name, counts),
        Status::Drifted if all_accepted(server) => sentences::callers_accepted(&name, counts),
        Status::Drifted => sentences::callers(&name, false, counts),
    }
}

fn of_servers(servers: &[ServerReport], about: About, show: fn(&str) -> String) -> String {
    let of = |word: &str| -> Vec<&ServerReport> {
        let found = servers.iter().filter(|it| it.status.word() == word);
        found.collect()
    };
    let (drifted, new, unknown) = (of("drifted"), of("new"), of("undetermined"));
    let mut parts = Vec::new();
    // The one that is different is named.
    match &drifted[..] {
        [] => {}
        [only] => parts.push(of_server(only, about, show)),
        many => {
            let counts = many.iter().map(|it| counts(&it.changes));
            let counts = counts.fold(Counts::default(), |sum, it| Counts {
                breaking: sum.breaking + it.breaking,
                risky: sum.risky + it.risky,
                other: sum.other + it.other,
            });
            let who = sentences::servers_of(many.len(), servers.len());
            parts.push(match about {
                About::Merging => sentences::merging_approves(&who, counts),
                _ => sentences::callers(&who, true, counts),
            });
        }
    }
    match &new[..] {
        [] => {}
        [only] => parts.push(of_server(only, about, show)),
        many => {
            let who = sentences::servers_of(many.len(), servers.len());
            let tools = many.iter().map(|it| it.components).sum();
            parts.push(match about {
                About::Merging => sentences::pins_first(&who, tools),
                _ => sentences::not_in_baseline(&who, tools),
            });
        }
    }
    match &unknown[..] {
        [] => {}
        [only] => parts.push(of_server(only, about, show)),
        many => parts.push(sentences::not_known_of(many.len())),
    }
    if parts.is_empty() {
        return sentences::all_match(servers.len());
    }
    parts.join("; ")
}

/// Whether an approver has to see a change.
fn is_to_be_read(located: &Located) -> bool {
    let judged = &located.judged;
    judged.change.exposure == Exposure::High && judged.action != Action::Accepted
}

fn all_accepted(server: &ServerReport) -> bool {
    let mut changes = server.changes.iter();
    changes.all(|it| it.judged.action == Action::Accepted)
}

fn counts(changes: &[Located]) -> Counts {
    let of = |wanted: &[Level]| {
        let changes = changes.iter();
        changes
            .filter(|it| wanted.contains(&it.judged.change.level))
            .count()
    };
    Counts {
        breaking: of(&[Level::Breaking]),
        risky: of(&[Level::Risky]),
        other: of(&[Level::Additive, Level::Cosmetic]),
    }
}

fn icon(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✅",
        Verdict::Warn | Verdict::Undetermined => "⚠️",
        Verdict::Block => "❌",
    }
}

impl Pages<'_> {
    /// The page, of at most `limit` bytes, with a final newline.
    pub fn markdown(&self, limit: usize) -> String {
        let reports = || self.sections.iter().map(|it| it.report);
        let all: usize = reports().map(|it| it.changes().count()).sum();
        let rows = self.frame.rows.min(all);
        let most = self.frame.rows.max(1);
        for step in 0_usize.. {
            // Rows go first, then everything else.
            let fewer = |most: usize, from: usize| most >> step.saturating_sub(from).min(63);
            let budget = Budget {
                rows: fewer(rows, 0),
                calls: fewer(most.min(all), 4),
                texts: fewer(most.min(all).min(10), 6),
                servers: fewer(reports().map(|it| it.servers.len()).sum(), 6),
            };
            let page = self.render(budget);
            if page.len() <= limit {
                return page;
            }
            if budget.rows + budget.calls + budget.texts + budget.servers == 0 {
                break;
            }
        }
        // The first line is always there: the rest means nothing without it.
        self.heading()
    }

    fn heading(&self) -> String {
        let (icon, name) = (icon(self.verdict), &self.frame.name);
        let name = match name.as_str() {
            "mcp-keel" => name.clone(),
            other => escape::markdown(&escape::short(other, 120)),
        };
        format!("### {icon} {name}: {}\n", self.title)
    }

    fn render(&self, budget: Budget) -> String {
        let mut out = self.heading();
        if !self.first.is_empty() {
            let _ = write!(out, "\n{}\n", self.first.trim_end());
        }
        let mut rows = budget.rows;
        for section in &self.sections {
            let one = Rendered {
                frame: self.frame,
                about: section.about,
                budget,
            };
            one.section(section, &mut rows, &mut out);
        }
        if !self.last.is_empty() {
            let _ = write!(out, "\n{}\n", self.last.trim_end());
        }
        let _ = write!(out, "\n{}\n", self.footer());
        out
    }

    fn footer(&self) -> String {
        let mut facts = Vec::new();
        if let Some(run) = &self.frame.run {
            // A table of tools says all that there is.
            let mut servers = self.sections.iter().flat_map(|it| &it.report.servers);
            let is_whole = servers.all(|it| it.changes.is_empty() || !it.listed.is_empty());
            let word = sentences::run(is_whole);
            facts.push(format!("[{word}]({run})"));
        }
        if let Some((commit, address)) = &self.frame.commit {
            facts.push(sentences::at_commit(&format!("[{commit}]({address})")));
        }
        facts.extend(self.facts.iter().cloned());
        facts.push(format!("mcp-keel {}", env!("CARGO_PKG_VERSION")));
        format!("<sub>{}</sub>", facts.join(" · "))
    }
}

/// One comparison, with as much of it as there is room for.
struct Rendered<'a> {
    frame: &'a Frame,
    about: About,
    budget: Budget,
}

impl Rendered<'_> {
    fn section(&self, section: &Section<'_>, rows: &mut usize, out: &mut String) {
        let report = section.report;
        let is_noted = |it: &&Finding| it.action >= Action::Warn;
        let is_shown = |server: &&ServerReport| {
            !matches!(server.status, Status::Clean)
                || server.findings.iter().any(|it| is_noted(&it))
        };
        let shown: Vec<&ServerReport> = report.servers.iter().filter(is_shown).collect();
        if !section.intro.is_empty() {
            let _ = write!(out, "\n{}\n", section.intro.trim_end());
        }
        let many = report.servers.len() > 1;
        if many && !shown.is_empty() {
            self.overview(report, &shown, out);
        }
        for server in shown.iter().take(self.budget.servers) {
            if many {
                let mark = icon(server.verdict());
                let _ = write!(out, "\n#### {mark} {}\n", code(&server.name));
            }
            self.server(server, rows, out);
        }
        let findings = report.findings.iter().chain(
            // What was noticed about servers without drift.
            report
                .servers
                .iter()
                .filter(|it| !is_shown(it))
                .flat_map(|it| &it.findings),
        );
        self.findings(findings.collect(), out);
    }

    /// One line per server that is not as it was; the others share one.
    fn overview(&self, report: &Report, shown: &[&ServerReport], out: &mut String) {
        *out += "\n";
        for server in shown.iter().take(self.budget.servers) {
            let sentence = of_server(server, self.about, code);
            let _ = writeln!(out, "- {} {sentence}", icon(server.verdict()));
        }
        let hidden = shown.len().saturating_sub(self.budget.servers);
        if hidden > 0 {
            let line = sentences::left_out(hidden, "server", &self.whole());
            let _ = writeln!(out, "- {line}");
        }
        let healthy: Vec<String> = report
            .servers
            .iter()
            .filter(|it| !shown.iter().any(|other| other.name == it.name))
            .take(self.budget.servers.max(1))
            .map(|it| code(&it.name))
            .collect();
        if !healthy.is_empty() {
            let _ = writeln!(out, "- ✅ {}", sentences::unchanged(&healthy));
        }
    }

    /// The place that has everything.
    fn whole(&self) -> String {
        match &self.frame.run {
            Some(run) => format!("[{}]({run})", sentences::whole_report()),
            None => sentences::report_of_command().to_owned(),
        }
    }

    fn server(&self, server: &ServerReport, rows: &mut usize, out: &mut String) {
        let groups = in_order(&server.changes);
        if let Status::Undetermined(failure) = &server.status {
            *out += &self.failure(failure);
        }
        if !server.listed.is_empty() {
            *out += &self.listed(&server.listed);
        } else {
            let before = out.len();
            self.calls(&groups, out);
            self.to_read(&groups, out);
            if out.len() == before {
                self.first_changes(&groups, out);
            }
        }
        // What was noticed in a text that an approver has to read belongs next to it.
        let is_exposed = |finding: &Finding| {
            let of = |it: &Located| it.judged.change.component == finding.note.component;
            let mut changes = server.changes.iter().filter(|it| is_to_be_read(it));
            finding.note.component.is_some() && changes.any(of)
        };
        let (notes, loud): (Vec<&Finding>, Vec<&Finding>) = server
            .findings
            .iter()
            .partition(|it| it.action < Action::Warn && !is_exposed(it));
        // An unstable server has said so already.
        if !matches!(server.status, Status::Undetermined(_)) {
            self.findings(loud, out);
        }
        if server.listed.is_empty() {
            self.all(&groups, &notes, rows, out);
        }
        if let Some(next) = self.next(server) {
            let _ = write!(out, "\n{next}\n");
        }
    }

    /// The calls that fail, the results that are new, and what else breaks.
    fn calls(&self, groups: &[Group<'_>], out: &mut String) {
        let breaking = |group: &&Group<'_>| {
            let judged = &group.change.judged;
            judged.change.level == Level::Breaking && judged.action != Action::Accepted
        };
        let mut calls: Vec<&Group<'_>> = Vec::new();
        let mut results: Vec<&Group<'_>> = Vec::new();
        let mut others: Vec<&Group<'_>> = Vec::new();
        for group in groups.iter().filter(breaking) {
            let change = &group.change.judged.change;
            match (&change.proof, change.rule.side()) {
                (Some(Proof::Witness(_)), Some(Side::Output)) => results.push(group),
                (Some(Proof::Witness(_)), _) => calls.push(group),
                _ => others.push(group),
            }
        }
        let intro = match self.about {
            About::Merging => sentences::fail_after_merging(),
            About::Sources => sentences::fail_with_new(),
            About::Live | About::Pinned => sentences::fail_now(),
        };
        self.table(intro, "call", &calls, out);
        self.table(sentences::possible_now(), "result", &results, out);
        if !others.is_empty() && self.budget.calls > 0 {
            let _ = write!(out, "\n{}\n\n", sentences::also_breaks());
            for group in others.iter().take(self.budget.calls) {
                let because = self.because(group);
                let _ = writeln!(out, "- {}: {because}", self.about_whom(group));
            }
            self.more(others.len(), out);
        }
    }

    /// The worst changes, where no call fails and no text has to be read.
    fn first_changes(&self, groups: &[Group<'_>], out: &mut String) {
        let is_loud = |group: &&Group<'_>| group.change.judged.action >= Action::Warn;
        let first: Vec<&Group<'_>> = groups.iter().filter(is_loud).take(3).collect();
        if first.is_empty() || self.budget.calls == 0 {
            return;
        }
        *out += "\n";
        for group in first {
            let because = self.because(group);
            let _ = writeln!(out, "- {}: {because}", self.about_whom(group));
        }
    }

    fn table(&self, intro: &str, what: &str, groups: &[&Group<'_>], out: &mut String) {
        if groups.is_empty() || self.budget.calls == 0 {
            return;
        }
        let _ = write!(
            out,
            "\n{intro}\n\n| tool | {what} | because |\n| --- | --- | --- |\n"
        );
        let mut before = None;
        for group in groups.iter().take(self.budget.calls) {
            // A tool's name once.
            let shown = match before {
                Some(before) if is_about_same(before, group) => String::new(),
                _ => self.about_whom(group),
            };
            let call = call(&group.change.judged.change);
            let _ = writeln!(out, "| {shown} | {call} | {} |", self.because(group));
            before = Some(group);
        }
        self.more(groups.len(), out);
    }

    fn more(&self, all: usize, out: &mut String) {
        let more = all.saturating_sub(self.budget.calls);
        if more > 0 {
            let _ = write!(out, "\n{}\n", sentences::more_rows(more, &self.whole()));
        }
    }

    fn because(&self, group: &Group<'_>) -> String {
        let message = &group.change.judged.change.message;
        escape::markdown(&escape::short(message, CELL_CHARACTERS))
    }

    /// A component with a link to its line, several as their number, or the server.
    fn about_whom(&self, group: &Group<'_>) -> String {
        match group.components.len() {
            0 => self.component(group.change),
            many => format!("{many} {}", noun(&group.components)),
        }
    }

    fn component(&self, located: &Located) -> String {
        let name = match &located.judged.change.component {
            Some(key) => named(key),
            None => "the server".to_owned(),
        };
        let is_new = located.judged.change.rule.is_about_unknown();
        // The baseline has no line of what it does not have.
        let in_baseline = located
            .location
            .as_ref()
            .filter(|_| !is_new || self.about != About::Live);
        linked(self.frame, &name, located.source.as_ref().or(in_baseline))
    }

    /// What an approver has to see: in full, unfolded.
    fn to_read(&self, groups: &[Group<'_>], out: &mut String) {
        let is_exposed = |group: &&Group<'_>| is_to_be_read(group.change);
        let exposed: Vec<&Group<'_>> = groups.iter().filter(is_exposed).collect();
        if exposed.is_empty() || self.budget.texts == 0 {
            return;
        }
        // What is said of one component is said together; new components first.
        let mut phrases: Vec<(&Group<'_>, String, Vec<String>)> = Vec::new();
        let mut texts: Vec<(String, String)> = Vec::new();
        let is_new = |group: &&&Group<'_>| {
            let change = &group.change.judged.change;
            change.rule.is_about_unknown() && group.components.is_empty()
        };
        let shown = exposed.len().min(self.budget.texts);
        let (new, changed): (Vec<&Group<'_>>, Vec<&Group<'_>>) =
            exposed[..shown].iter().partition(|group| is_new(group));
        for group in new.into_iter().chain(changed) {
            let change = &group.change.judged.change;
            let name = self.about_whom(group);
            if is_new(&&group) {
                let kind = change
                    .component
                    .as_ref()
                    .map_or("server", |it| it.kind().noun());
                let phrase = sentences::new_component(kind, &name);
                phrases.push((group, phrase, Vec::new()));
                continue;
            }
            let said = self.because(group);
            let same = |it: &&mut (&Group<'_>, String, Vec<String>)| {
                is_about_same(it.0, group) && !it.2.is_empty()
            };
            match phrases.iter_mut().find(same) {
                Some((_, _, all)) => all.push(said),
                None => phrases.push((group, name.clone(), vec![said])),
            }
            if !change.words.is_empty() {
                let label = format!(
                    "{name}, {}",
                    escape::code(&escape::short(&change.pointer, 200))
                );
                texts.push((label, difference(change)));
            }
        }
        let phrases: Vec<String> = phrases
            .into_iter()
            .map(|(_, name, said)| {
                if said.is_empty() {
                    name
                } else {
                    format!("{name}: {}", said.join(", "))
                }
            })
            .collect();
        let end = match texts.len() {
            1 => ":",
            _ => ".",
        };
        let read = sentences::approver_reads();
        let _ = write!(out, "\n**{read}** {}{end}\n", phrases.join("; "));
        let many = texts.len() > 1;
        for (label, text) in texts {
            if many {
                let _ = write!(out, "\n{label}:\n");
            }
            let _ = write!(out, "\n{text}");
        }
        let hidden = exposed.len() - shown;
        if hidden > 0 {
            let line = sentences::more_to_read(hidden, &self.whole());
            let _ = write!(out, "\n{line}\n");
        }
    }

    /// Every change, folded, by tool.
    fn all(&self, groups: &[Group<'_>], notes: &[&Finding], rows: &mut usize, out: &mut String) {
        let total: usize = groups.iter().map(|it| it.components.len().max(1)).sum();
        if total == 0 && notes.is_empty() {
            return;
        }
        // The least severe are left out, wherever they are.
        let mut by_severity: Vec<usize> = (0..groups.len()).collect();
        by_severity.sort_by_key(|at| std::cmp::Reverse(severity(groups[*at].change)));
        by_severity.truncate(*rows);
        *rows -= by_severity.len();
        let mut list = String::new();
        let mut before = None;
        let mut shown = 0;
        for (at, group) in groups.iter().enumerate() {
            if !by_severity.contains(&at) {
                continue;
            }
            shown += group.components.len().max(1);
            if !before.is_some_and(|before| is_about_same(before, group)) {
                let _ = write!(list, "\n**{}**\n\n", self.about_whom(group));
            }
            before = Some(group);
            list += &self.row(group);
        }
        let summary = match total {
            0 => sentences::notes(notes.len()),
            many => sentences::all_changes(many),
        };
        let _ = write!(out, "\n<details><summary>{summary}</summary>\n");
        if total > 0 {
            let _ = write!(out, "\n{}\n", sentences::how_to_accept_one());
        }
        *out += &list;
        if shown < total {
            let line = sentences::left_out(total - shown, "change", &self.whole());
            let _ = write!(out, "\n{line}\n");
        }
        if !notes.is_empty() && shown == total {
            let _ = write!(out, "\n**{}**\n\n", sentences::other_findings());
            for finding in notes.iter().take(20) {
                *out += &finding_text(finding);
            }
        }
        *out += "\n</details>\n";
    }

    fn row(&self, group: &Group<'_>) -> String {
        let judged = &group.change.judged;
        let change = &judged.change;
        let level = match change.level {
            Level::Breaking => "**breaking**".to_owned(),
            other => other.to_string(),
        };
        let accepted = match judged.action {
            Action::Accepted => format!(" ({})", sentences::is_accepted()),
            _ => String::new(),
        };
        let id = |id: &str| escape::code(&Visible::of_parts(format!("change = \"{id}\"")));
        let mut facts = vec![rule_link(change.rule)];
        // Where nothing leads to it, the place is named.
        if self.frame.files.is_none()
            && let Some(place) = &group.change.source
        {
            let path = escape::short(&place.slashed(), 300);
            let place = Visible::of_parts(format!("{path}:{}", place.line));
            facts.push(escape::code(&place));
        }
        if group.components.is_empty() {
            facts.push(id(&judged.id));
        }
        let mut out = format!(
            "- {level}{accepted}: {} · {}\n",
            self.because(group),
            facts.join(" · ")
        );
        let many = group.components.iter().zip(&group.ids);
        for (key, of) in many.take(self.frame.rows) {
            let _ = writeln!(out, "  - {}: {}", named(key), id(of));
        }
        let more = group.components.len().saturating_sub(self.frame.rows);
        if more > 0 {
            let line = sentences::left_out(more, "change", &self.whole());
            let _ = writeln!(out, "  - {line}");
        }
        if let Some(decision) = change_text::decision(group.change) {
            let _ = writeln!(out, "  {}", escape::markdown(&decision));
        }
        if let Some(alike) = change_text::look_alike(change) {
            let _ = writeln!(out, "  {}", escape::markdown(&alike));
        }
        // What an approver has to read is above already.
        if !change.words.is_empty() && change.exposure < Exposure::High {
            let text = difference(change);
            let text: String = text.lines().map(|line| format!("  {line}\n")).collect();
            let _ = write!(out, "\n{text}\n");
        }
        if let Some(Proof::Undecided(reason)) = &change.proof {
            let reason = escape::markdown(&escape::short(reason, 300));
            let _ = writeln!(out, "  {reason}");
        }
        out
    }

    fn findings(&self, findings: Vec<&Finding>, out: &mut String) {
        if findings.is_empty() {
            return;
        }
        *out += "\n";
        for finding in findings.iter().take(self.budget.servers.max(1) * 20) {
            *out += &finding_text(finding);
        }
    }

    /// What a first baseline approves.
    fn listed(&self, listed: &[Listed]) -> String {
        let intro = match self.about {
            About::Merging => sentences::read_it_once(),
            _ => sentences::not_pinned_yet(),
        };
        let mut out = format!("\n{intro}\n\n{LISTED}");
        let most = self
            .budget
            .rows
            .max(self.budget.calls)
            .max(self.frame.rows.min(20));
        let most = match self.budget.servers {
            0 => 0,
            _ => most.max(1),
        };
        for tool in listed.iter().take(most) {
            let name = linked(self.frame, &code(&tool.name), tool.place.as_ref());
            let says = escape::markdown(&escape::short(&tool.says, CELL_CHARACTERS));
            let hints: Vec<&str> = tool
                .hints
                .iter()
                .filter_map(|(name, value)| sentences::hint(name, *value))
                .collect();
            let hints = if hints.is_empty() {
                sentences::no_hints().to_owned()
            } else {
                hints.join(", ")
            };
            let _ = writeln!(out, "| {name} | {says} | {hints} |");
        }
        let hidden = listed.len().saturating_sub(most);
        if hidden > 0 {
            let _ = write!(
                out,
                "\n{}\n",
                sentences::left_out(hidden, "tool", &self.whole())
            );
        }
        out
    }

    fn failure(&self, failure: &Failure) -> String {
        let message = escape::short(&plain_keys(&failure.message), 1_000);
        let message = match failure.command.as_str() {
            "" => begin_upper(&escape::markdown(&message)),
            command => {
                let command = escape::code(&escape::short(command, 300));
                sentences::of_command(&command, &escape::markdown(&message))
            }
        };
        let lines: Vec<&str> = failure
            .stderr
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let named = naming_an_error(&lines);
        let mut out = match named {
            Some(line) => {
                let line = escape::fenced("text", &escape::short(line.trim_end(), 400));
                format!("\n{message}:\n\n{line}")
            }
            None => format!("\n{message}.\n"),
        };
        let help = match (failure.kind, self.frame.is_action) {
            (FailureKind::NotStarted, true) => sentences::works_on_your_machine().to_owned(),
            (FailureKind::NotStarted, false) => sentences::works_in_your_shell().to_owned(),
            (FailureKind::Unstable, _) if !failure.paste.is_empty() => {
                let paste = escape::fenced("toml", &escape::short_block(&failure.paste, 4_000));
                format!("{}\n\n{paste}", sentences::leave_out_what_varies())
            }
            _ => {
                let help = if self.frame.is_action {
                    in_words_of_the_action(&failure.help)
                } else {
                    failure.help.clone()
                };
                begin_upper(&escape::markdown(&escape::short(&help, 1_000)))
            }
        };
        if !help.is_empty() {
            let _ = write!(out, "\n{}\n", help.trim_end());
        }
        if lines.len() > 1 {
            let last = &lines[lines.len().saturating_sub(STDERR_LINES)..];
            let shown: Vec<Visible> = last.iter().map(|line| escape::short(*line, 400)).collect();
            let _ = write!(
                out,
                "\n<details><summary>{}</summary>\n\n{}\n</details>\n",
                sentences::last_lines_of_stderr(last.len()),
                escape::fenced("text", &change_text::joined(&shown, "\n"))
            );
        }
        out
    }

    /// What to do, once.
    fn next(&self, server: &ServerReport) -> Option<String> {
        if self.about == About::Merging {
            return version(server).filter(|_| !server.version.ok);
        }
        if self.about != About::Live || matches!(server.status, Status::Clean) {
            return None;
        }
        let undetermined = matches!(server.status, Status::Undetermined(_));
        if undetermined || server.accept_with.is_empty() {
            return None;
        }
        let command = escape::code(&escape::short(&server.accept_with, 2_000));
        let command = format!("{command} ([{}]({INSTALL}))", sentences::get_it());
        let actions = || server.changes.iter().map(|it| &it.judged);
        let blocked = actions().any(|it| it.action == Action::Block);
        let would_block = actions().filter(|it| it.would_block).count();
        let what = match &server.status {
            Status::New => sentences::pin_first(&command),
            _ if blocked => sentences::fix_or_accept(&command),
            _ if would_block > 0 => sentences::would_block(would_block, &command),
            _ => sentences::nothing_blocks(&command),
        };
        let mut parts = vec![format!("**{}** {what}.", sentences::next())];
        if let (Some(run), true) = (&self.frame.run, self.frame.has_artifact) {
            let link = format!("[{}]({run}#artifacts)", sentences::this_artifact());
            parts.push(sentences::proposed_in(&link));
        }
        parts.extend(version(server));
        Some(parts.join(" "))
    }
}

fn version(server: &ServerReport) -> Option<String> {
    let version = &server.version;
    let shown = |version: &str| escape::markdown(&escape::short(version, 40));
    let moved = match (&version.baseline, &version.current) {
        (Some(was), Some(is)) if was == is => shown(is),
        (Some(was), Some(is)) => format!("{} → {}", shown(was), shown(is)),
        _ => return None,
    };
    let needs = (version.required > Bump::None && !version.ok).then(|| version.required.word());
    let changed = version.baseline != version.current;
    (changed || needs.is_some()).then(|| sentences::version(&moved, needs))
}

/// The call that shows a change, in one line.
fn call(change: &Change) -> String {
    let Some(Proof::Witness(instance)) = &change.proof else {
        return String::new();
    };
    let arguments = match change.rule.side() {
        Some(_) => instance,
        None => instance.get("arguments").unwrap_or(instance),
    };
    escape::code(&escape::short_value(arguments, CALL_CHARACTERS))
}

/// A changed text, whole, as a diff.
fn difference(change: &Change) -> String {
    let side = |sign: char, value: &Option<Json>| -> String {
        let text = match value {
            Some(Json::String(text)) => escape::short_block(text, TEXT_CHARACTERS),
            Some(other) => escape::short_value(other, TEXT_CHARACTERS),
            None => return String::new(),
        };
        text.lines()
            .map(|line| format!("{sign} {line}\n"))
            .collect()
    };
    let both = side('-', &change.old) + &side('+', &change.new);
    escape::fenced("diff", &Visible::of_parts(both.trim_end().to_owned()))
}

/// A component as people call it: `` `get_forecast` ``, `` prompt `greet` ``.
fn named(key: &ComponentKey) -> String {
    let name = code(key.called());
    match key.kind() {
        Kind::Tool => name,
        other => format!("{} {name}", other.noun()),
    }
}

/// A message without the keys that only a baseline has: `` `tool:greet@` `` is `` `greet` ``.
fn plain_keys(text: &str) -> String {
    let parts = text.split(' ').map(|word| {
        let key = word.trim_matches('`').parse::<ComponentKey>();
        match key {
            Ok(key) if key.tool_name().is_some_and(|it| !it.is_empty()) => {
                format!("`{}`", key.called())
            }
            _ => word.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// A help text with inputs in place of flags: `` `--pass-env NAME` `` is `` `pass-env:` ``.
fn in_words_of_the_action(help: &str) -> String {
    let parts = help.split('`').enumerate().map(|(at, part)| {
        let flag = part.strip_prefix("--").filter(|_| at % 2 == 1);
        match flag.map(|it| it.split_once([' ', '=']).unwrap_or((it, ""))) {
            Some((name, value)) if crate::settings::is_input(name) => {
                let placeholder = value.chars().all(|it| !it.is_ascii_lowercase());
                if placeholder {
                    format!("{name}:")
                } else {
                    format!("{name}: {value}")
                }
            }
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// The first line that names an error, or else the last one.
fn naming_an_error<'a>(lines: &[&'a str]) -> Option<&'a str> {
    const WORDS: [&str; 12] = [
        "error",
        "exception",
        "fatal",
        "panic",
        "cannot",
        "not found",
        "no such",
        "not set",
        "missing",
        "denied",
        "failed",
        "required",
    ];
    let names = |line: &&&str| {
        let line = line.to_lowercase();
        WORDS.iter().any(|word| line.contains(word))
    };
    lines.iter().find(names).or(lines.last()).copied()
}

/// The changes as shown: by component, the component with the worst first.
fn in_order(changes: &[Located]) -> Vec<Group<'_>> {
    let mut by_component: BTreeMap<Option<&str>, Vec<Group<'_>>> = BTreeMap::new();
    let mut many = Vec::new();
    for group in fold(changes) {
        if group.components.is_empty() {
            by_component
                .entry(group.change.judged.change.component.as_deref())
                .or_default()
                .push(group)
        } else {
            many.push(vec![group])
        }
    }
    let mut groups: Vec<Vec<Group<'_>>> =
        many.into_iter().chain(by_component.into_values()).collect();
    for group in &mut groups {
        group.sort_by_key(|group| std::cmp::Reverse(severity(group.change)));
    }
    groups
        .sort_by_key(|group| std::cmp::Reverse(group.first().map(|group| severity(group.change))));
    groups.into_iter().flatten().collect()
}

/// Whether two changes, or two groups of them, are of the same component.
fn is_about_same(one: &Group<'_>, other: &Group<'_>) -> bool {
    let of = |group: &Group<'_>| group.change.judged.change.component.clone();
    one.components == other.components && of(one) == of(other)
}

fn noun(components: &[&ComponentKey]) -> String {
    let mut kinds: Vec<Kind> = components.iter().map(|key| key.kind()).collect();
    kinds.dedup();
    match kinds[..] {
        [kind] => format!("{}s", kind.noun()),
        _ => "components".to_owned(),
    }
}

fn rule_link(rule: RuleId) -> String {
    format!("[{rule}]({})", super::rules::address(rule))
}

fn finding_text(finding: &Finding) -> String {
    let note = &finding.note;
    let word = match AnnotationLevel::from(finding.action) {
        AnnotationLevel::Failure => "**blocks**: ",
        AnnotationLevel::Warning => "warning: ",
        AnnotationLevel::Notice => "",
    };
    let component = note
        .component
        .as_ref()
        .map(|key| named(key) + ": ")
        .unwrap_or_default();
    let message = escape::markdown(&escape::short(&plain_keys(&note.message), 500));
    format!("- {word}{component}{message} ({})\n", rule_link(note.rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_in_the_words_of_the_reader() {
        assert_eq!(
            in_words_of_the_action("name it with `--pass-env NAME` or `--era modern`; `--nothing`"),
            "name it with `pass-env:` or `era: modern`; `--nothing`"
        );
        assert_eq!(
            plain_keys("`/description` of `tool:forecast@` varies"),
            "`/description` of `forecast` varies"
        );
        assert_eq!(
            plain_keys("of tool:forecast@ varies"),
            "of `forecast` varies"
        );
    }

    #[test]
    fn the_first_line_that_names_an_error_is_shown() {
        let lines = [
            "> start",
            "Error: Cannot find module",
            "    at node:internal",
        ];
        assert_eq!(naming_an_error(&lines), Some(lines[1]));
        assert_eq!(naming_an_error(&["one", "two"]), Some("two"));
        assert_eq!(naming_an_error(&[]), None);
    }
}

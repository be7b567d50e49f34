//! One comparison as a section of a page: the calls that fail, what an approver has to read, everything else folded.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::annotations::severity;
use super::super::escape::{self, Visible};
use super::super::fold::Group;
use super::super::links::{Frame, linked};
use super::super::{
    Failure, FailureKind, Finding, Listed, Located, Report, ServerReport, Status, change_text,
};
use super::texts::{
    call, difference, finding_text, in_order, in_words_of_the_action, is_about_same, named,
    naming_an_error, noun, plain_keys, rule_link, version,
};
use super::title::of_server;
use super::{About, Budget, Section, code, icon};
use crate::judgement::{Exposure, Level, Proof};
use crate::policy::Action;
use crate::rules::Side;
use crate::surface::ComponentKey;
use crate::wording::{capitalized, counted, join_with_and};

/// How much of a sentence is shown in a row.
const CELL_CHARACTERS: usize = 240;

/// How many of the last lines of a server's stderr are shown.
const STDERR_LINES: usize = 20;

/// The head of a table of tools.
const LISTED: &str = "| tool | says | hints |\n| --- | --- | --- |\n";

/// Where to get mcp-keel.
const INSTALL: &str = "https://github.com/mcp-keel/mcp-keel#install";

/// One comparison, with as much of it as there is room for.
pub(super) struct Rendered<'a> {
    pub(super) frame: &'a Frame,
    pub(super) about: About,
    pub(super) budget: Budget,
}

impl Rendered<'_> {
    pub(super) fn section(&self, section: &Section<'_>, rows: &mut usize, out: &mut String) {
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
            let line = left_out(hidden, "server", &self.whole());
            let _ = writeln!(out, "- {line}");
        }
        let names: BTreeSet<&str> = shown.iter().map(|it| it.name.as_str()).collect();
        let healthy: Vec<String> = report
            .servers
            .iter()
            .filter(|it| !names.contains(it.name.as_str()))
            .take(self.budget.servers.max(1))
            .map(|it| code(&it.name))
            .collect();
        if !healthy.is_empty() {
            let names = join_with_and(healthy.iter().map(String::as_str));
            let _ = writeln!(out, "- ✅ unchanged: {names}");
        }
    }

    /// The place that has everything.
    fn whole(&self) -> String {
        match &self.frame.run {
            Some(run) => format!("[the whole report]({run})"),
            None => "`mcp-keel check`".to_owned(),
        }
    }

    fn server(&self, server: &ServerReport, rows: &mut usize, out: &mut String) {
        let groups = in_order(&server.changes);
        if let Status::Undetermined(failure) = &server.status {
            *out += &self.failure(failure);
        }
        if let Some(alike) = server.alike() {
            let _ = write!(out, "\n{}\n", escape::markdown(&escape::short(&alike, 400)));
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
        let to_be_read = server.changes.iter().filter(|it| is_to_be_read(it));
        let to_be_read: BTreeSet<&ComponentKey> = to_be_read
            .filter_map(|it| it.judged.change.component.as_ref())
            .collect();
        let is_exposed = |finding: &Finding| {
            let component = finding.note.component.as_ref();
            component.is_some_and(|it| to_be_read.contains(it))
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
            About::Merging => {
                "These calls work against the base branch's baseline and fail after merging:"
            }
            About::Sources => {
                "These calls work against the old source and fail against the new one:"
            }
            About::Live | About::Pinned => "These calls worked against the baseline and fail now:",
        };
        self.table(intro, "call", &calls, out);
        self.table(
            "These results were not allowed before and are possible now:",
            "result",
            &results,
            out,
        );
        if !others.is_empty() && self.budget.calls > 0 {
            let _ = write!(out, "\nAlso breaking:\n\n");
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
            let _ = write!(out, "\n{more} more: see {}.\n", self.whole());
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
                let phrase = format!("new {kind} {name}");
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
        let read = "An approver has to read:";
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
            let line = format!(
                "{} more to read: see {}.",
                counted(hidden, "change"),
                self.whole()
            );
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
        by_severity.sort_unstable();
        let mut list = String::new();
        let mut before = None;
        let mut shown = 0;
        for (at, group) in groups.iter().enumerate() {
            if by_severity.binary_search(&at).is_err() {
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
            0 => counted(notes.len(), "note"),
            1 => "The change in detail".to_owned(),
            many => format!("All {many} changes, by tool"),
        };
        let _ = write!(out, "\n<details><summary>{summary}</summary>\n");
        if total > 0 {
            let _ = write!(
                out,
                "\nTo accept one change alone: `mcp-keel accept ID --reason TEXT`, or its line under \
                 `[[accept]]` in `mcp-keel.toml`, with a `reason` and an `owner`.\n"
            );
        }
        *out += &list;
        if shown < total {
            let line = left_out(total - shown, "change", &self.whole());
            let _ = write!(out, "\n{line}\n");
        }
        if !notes.is_empty() && shown == total {
            let _ = write!(out, "\n**Notes**\n\n");
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
            Action::Accepted => " (accepted)".to_owned(),
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
            let line = left_out(more, "change", &self.whole());
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
            About::Merging => "Merging approves what a model will be told. Read it once:",
            _ => "This is what the server lists now:",
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
                .filter_map(|(name, value)| match (name.as_str(), *value) {
                    ("readOnlyHint", true) => Some("read-only"),
                    ("destructiveHint", true) => Some("destructive"),
                    ("destructiveHint", false) => Some("not destructive"),
                    ("idempotentHint", true) => Some("repeatable"),
                    ("openWorldHint", true) => Some("reaches out"),
                    ("openWorldHint", false) => Some("stays inside"),
                    _ => None,
                })
                .collect();
            let hints = if hints.is_empty() {
                "none".to_owned()
            } else {
                hints.join(", ")
            };
            let _ = writeln!(out, "| {name} | {says} | {hints} |");
        }
        let hidden = listed.len().saturating_sub(most);
        if hidden > 0 {
            let _ = write!(out, "\n{}\n", left_out(hidden, "tool", &self.whole()));
        }
        out
    }

    fn failure(&self, failure: &Failure) -> String {
        let message = escape::short(&plain_keys(&failure.message), 1_000);
        let message = match failure.command.as_str() {
            "" => capitalized(&escape::markdown(&message)),
            command => {
                let command = escape::code(&escape::short(command, 300));
                let problem = escape::markdown(&message);
                match problem.strip_prefix("the server ") {
                    Some(rest) => format!("{command} {rest}"),
                    None => format!("{command}: {problem}"),
                }
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
            (FailureKind::NotStarted, true) => {
                "If it works on your machine: the server sees neither your variables nor secrets. Name them \
                 with `pass-env:`; `sandbox: \"off\"` shows whether the sandbox is in the way. Was it built in \
                 an earlier step?"
                    .to_owned()
            }
            (FailureKind::NotStarted, false) => {
                "If it works in your shell: the server sees almost none of your variables. Name them with \
                 `--pass-env NAME`."
                    .to_owned()
            }
            (FailureKind::Unstable, _) if !failure.paste.is_empty() => {
                let paste = escape::fenced("toml", &escape::short_block(&failure.paste, 4_000));
                format!(
                    "Only a stable contract can be compared: fix the server, or leave out what \
                     varies:\n\n{paste}"
                )
            }
            _ => {
                let help = if self.frame.is_action {
                    in_words_of_the_action(&failure.help)
                } else {
                    failure.help.clone()
                };
                capitalized(&escape::markdown(&escape::short(&help, 1_000)))
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
                match last.len() {
                    1 => "Its stderr".to_owned(),
                    many => format!("The last {many} lines of stderr"),
                },
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
        let command = format!("{command} ([get it]({INSTALL}))");
        let actions = || server.changes.iter().map(|it| &it.judged);
        let blocked = actions().any(|it| it.action == Action::Block);
        let would_block = actions().filter(|it| it.would_block).count();
        let what = match &server.status {
            Status::New => format!("read the tools above, pin them and commit: {command}"),
            _ if blocked && server.third_party => {
                format!("stay on the version that was pinned, or accept and commit: {command}")
            }
            _ if blocked => format!("fix the server, or accept and commit: {command}"),
            _ if would_block > 0 => format!(
                "{} would block under enforcement \"block\". To accept, run and commit: {command}",
                counted(would_block, "change")
            ),
            _ => format!(
                "nothing blocks. To bring the baseline up to date, run and commit: {command}"
            ),
        };
        let mut parts = vec![format!("**Next:** {what}.")];
        if let (Some(run), true) = (&self.frame.run, self.frame.has_artifact) {
            let link = format!("[this run's artifact]({run}#artifacts)");
            parts.push(format!("The new baseline is in {link}."));
        }
        parts.extend(version(server));
        parts.extend(server.cost_changed());
        Some(parts.join(" "))
    }
}

/// What the page leaves out; the place that has all of it is a link or a command.
fn left_out(count: usize, noun: &str, report: &str) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!(
        "{} {are} not listed here: see {report}.",
        counted(count, noun)
    )
}

/// Whether an approver has to see a change.
fn is_to_be_read(located: &Located) -> bool {
    let judged = &located.judged;
    judged.change.exposure == Exposure::High && judged.action != Action::Accepted
}

//! The report for people at a terminal: a headline with what happened and what to do next, then the
//! changes by component, the worst first. Readable without colour, at 80 columns, in a pipe.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use owo_colors::{OwoColorize as _, Style as Paint};

use super::fold::{Group, by_rule, fold};
use super::{
    Comparison, Failure, Finding, Located, Place, Report, ServerReport, Status, change_text,
    escape, headline,
};
use crate::canonical::Json;
use crate::drift::text_diff::Run;
use crate::judgement::{Exposure, Level, Proof};
use crate::policy::{Action, Bump, Verdict};
use crate::rules::RuleId;
use crate::surface::Kind;
use crate::wording::counted;

/// How much of a value is shown. The whole value is in the JSON report and in the baseline.
const VALUE_CHARACTERS: usize = 200;

/// From this many on, notes of one rule are shown once.
const MANY_NOTES: usize = 3;

/// How many of the last lines of a server's stderr are shown.
const STDERR_LINES: usize = 12;

/// How a report is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub color: bool,
    /// Columns.
    pub width: usize,
    /// Only problems.
    pub quiet: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            color: false,
            width: 80,
            quiet: false,
        }
    }
}

/// The report as text, with a final newline (empty if there is nothing to report).
pub fn terminal(report: &Report, style: Style) -> String {
    if style.quiet && report.verdict == Verdict::Pass {
        return String::new();
    }
    let mut page = Page {
        out: String::new(),
        style,
        pinning: matches!(report.comparison, Comparison::Pin { .. }),
    };
    page.headline(report);
    let repeated = repeated_notes(report, style.quiet);
    for server in &report.servers {
        page.server(server, report, &repeated);
    }
    page.repeated(report, &repeated);
    page.findings("", &report.findings.iter().collect::<Vec<_>>());
    page.ending(report);
    page.out
}

/// One change with everything that is known about it, as in the report.
pub fn one_change(located: &Located, style: Style) -> String {
    let mut page = Page {
        out: String::new(),
        style,
        pinning: false,
    };
    let group = Group {
        change: located,
        components: Vec::new(),
        ids: Vec::new(),
        same_values: true,
    };
    let component = located.judged.change.component.as_deref();
    page.component(component, &[group]);
    page.out
}

/// From this many servers on, the same note is shown once for all of them.
const MANY_SERVERS: usize = 3;

/// Rules whose notes several servers have. A note that warns or fails stays with its server.
fn repeated_notes(report: &Report, quiet: bool) -> BTreeSet<RuleId> {
    let mut servers: BTreeMap<RuleId, usize> = BTreeMap::new();
    for server in &report.servers {
        let notes = server.findings.iter().filter(|it| is_note(it));
        let rules: BTreeSet<RuleId> = notes.map(|it| it.note.rule).collect();
        for rule in rules {
            *servers.entry(rule).or_default() += 1;
        }
    }
    let many = servers
        .into_iter()
        .filter(|(_, count)| *count >= MANY_SERVERS || quiet);
    many.map(|(rule, _)| rule).collect()
}

/// Whether a finding neither fails nor warns.
fn is_note(finding: &Finding) -> bool {
    finding.action == Action::Audit
}

struct Page {
    out: String,
    style: Style,
    /// Pinning accepts everything: no need to say so for each change.
    pinning: bool,
}

impl Page {
    fn paint(&self, text: &str, paint: Paint) -> String {
        if self.style.color {
            text.style(paint).to_string()
        } else {
            text.to_owned()
        }
    }

    /// A paragraph, wrapped, every line indented by `indent` spaces.
    fn paragraph(&mut self, indent: usize, text: &str) {
        self.hanging(indent, "", text);
    }

    /// A paragraph whose first line begins with `mark`, the others aligned with its text.
    fn hanging(&mut self, indent: usize, mark: &str, text: &str) {
        let first = " ".repeat(indent) + mark;
        let rest = " ".repeat(indent + textwrap::core::display_width(mark));
        for (index, line) in text.split('\n').enumerate() {
            let options = textwrap::Options::new(self.style.width.max(20))
                .initial_indent(if index == 0 { &first } else { &rest })
                .subsequent_indent(&rest)
                // Rule ids and options are meant to be copied: no break at their hyphens.
                .word_splitter(textwrap::WordSplitter::NoHyphenation)
                // Lines only break at spaces, so that what is shown can be read back.
                .break_words(false);
            let filled = textwrap::fill(line, options).replace(KEPT_SPACE, " ");
            let _ = writeln!(self.out, "{}", filled.trim_end());
        }
    }

    fn headline(&mut self, report: &Report) {
        let label = match report.verdict {
            _ if matches!(report.comparison, Comparison::Pin { .. }) => {
                self.paint("PINNED", Paint::new().green().bold())
            }
            verdict => {
                let (label, paint) = verdict_label(verdict);
                self.paint(label, paint)
            }
        };
        let (sentence, command) = headline::headline(report, |text| escape::line(text).into());
        let mark = format!("{label}  ");
        match command {
            None => self.hanging(0, &mark, &sentence),
            Some(command) => {
                let line = format!("{mark}{sentence} {command}");
                if textwrap::core::display_width(&line) <= self.style.width {
                    let _ = writeln!(self.out, "{line}");
                } else {
                    self.hanging(0, &mark, &sentence);
                    // On its own line and never wrapped, for pasting.
                    let _ = writeln!(self.out, "  {command}");
                }
            }
        }
    }

    /// Notes of several servers, each once.
    fn repeated(&mut self, report: &Report, rules: &BTreeSet<RuleId>) {
        if self.style.quiet {
            return;
        }
        for rule in rules {
            let of = |server: &&ServerReport| {
                let mut findings = server.findings.iter();
                findings.any(|it| is_note(it) && it.note.rule == *rule)
            };
            let servers: Vec<&ServerReport> = report.servers.iter().filter(of).collect();
            let first = servers.iter().flat_map(|it| &it.findings);
            let first = first
                .filter(|it| is_note(it))
                .find(|it| it.note.rule == *rule);
            let Some(first) = first else { continue };
            let names: Vec<String> = servers
                .iter()
                .map(|it| escape::short(&it.name, 60).into_string())
                .collect();
            let text = kept(&escape::short(&first.note.message, 500));
            self.out.push('\n');
            self.hanging(
                0,
                "note: ",
                &format!(
                    "{text} ({rule}), on {}: {}",
                    counted(names.len(), "server"),
                    names.join(", ")
                ),
            );
        }
    }

    /// The last lines, which a person sees first in a scrolled terminal.
    fn ending(&mut self, report: &Report) {
        let is_open = |it: &Located| it.judged.action != Action::Accepted;
        if self.pinning || !report.changes().any(is_open) {
            return;
        }
        if report.comparison == Comparison::Check {
            self.out.push('\n');
            let mut dimmed = Self {
                out: String::new(),
                ..*self
            };
            dimmed.paragraph(
                0,
                "`mcp-keel accept ID --reason TEXT` accepts one change. `mcp-keel pending` lists the ids.",
            );
            self.out += &self.paint(dimmed.out.trim_end(), Paint::new().dimmed());
            self.out.push('\n');
        }
        let count = |level: Level| {
            report
                .servers
                .iter()
                .map(|it| it.count(level))
                .sum::<usize>()
        };
        let counts: Vec<String> = Level::ALL
            .iter()
            .rev()
            .map(|level| (*level, count(*level)))
            .filter(|(_, count)| *count > 0)
            .map(|(level, count)| self.paint(&format!("{count} {level}"), level_paint(level)))
            .collect();
        let (label, paint) = verdict_label(report.verdict);
        let mut line = format!("{}  {}", self.paint(label, paint), counts.join(", "));
        if report.servers.len() > 1 {
            let drifted = report
                .servers
                .iter()
                .filter(|it| !it.changes.is_empty())
                .count();
            let _ = write!(
                line,
                " in {drifted} of {}",
                counted(report.servers.len(), "server")
            );
        }
        let _ = writeln!(self.out, "\n{line}");
    }

    fn server(&mut self, server: &ServerReport, report: &Report, repeated: &BTreeSet<RuleId>) {
        let comparison = &report.comparison;
        let findings: Vec<&Finding> = server
            .findings
            .iter()
            .filter(|it| !(is_note(it) && repeated.contains(&it.note.rule)))
            .collect();
        let nothing_to_say = server.changes.is_empty()
            && findings.is_empty()
            && !matches!(server.status, Status::Undetermined(_));
        // A server that is pinned for the first time is in the headline.
        let nothing_to_say = nothing_to_say
            || (self.pinning && matches!(server.status, Status::New) && findings.is_empty());
        if nothing_to_say {
            return;
        }
        self.out.push('\n');
        let name = self.paint(&escape::line(&server.name), Paint::new().bold());
        let mut title = format!("{name}  {}", server.status.word());
        let version = &server.version;
        if let (Some(was), Some(is)) = (&version.baseline, &version.current) {
            let (was, is) = (escape::short(was, 40), escape::short(is, 40));
            let _ = if was == is {
                write!(title, "  version {is}")
            } else {
                write!(title, "  version {was} → {is}")
            };
        }
        self.paragraph(0, &title);
        if let Status::Undetermined(failure) = &server.status {
            self.failure(failure);
        }
        let is_ours = !server.third_party;
        let needs_bump = is_ours && version.required > Bump::None && !version.ok;
        if needs_bump && *comparison == Comparison::Check {
            let sentence = format!(
                "These changes require a {} version bump.",
                version.required.word()
            );
            self.paragraph(2, &sentence);
        }
        if let Some(cost) = server.cost_changed() {
            self.paragraph(2, &cost);
        }
        if let Some(alike) = server.alike() {
            self.paragraph(2, &escape::line(&alike));
        }
        let group = fold(&server.changes);
        let (mut many, single): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|it| !it.components.is_empty());
        many.sort_by_key(|change| std::cmp::Reverse(change.severity()));
        for change in &many {
            self.out.push('\n');
            self.many(change);
        }
        let mut by_component: BTreeMap<Option<&str>, Vec<Group<'_>>> = BTreeMap::new();
        for change in single {
            by_component
                .entry(change.change.judged.change.component.as_deref())
                .or_default()
                .push(change);
        }
        let mut groups: Vec<_> = by_component.into_iter().collect();
        // The worst first; equals stay in key order.
        groups.sort_by_key(|(_, changes)| {
            std::cmp::Reverse(changes.iter().map(Group::severity).max())
        });
        for (component, mut changes) in groups {
            self.out.push('\n');
            changes.sort_by_key(|change| std::cmp::Reverse(change.severity()));
            self.component(component, &changes);
        }
        self.findings("  ", &findings);
    }

    fn failure(&mut self, failure: &Failure) {
        let message = kept(&escape::line(&failure.message));
        self.hanging(2, "error: ", &message);
        let help = escape::block(&failure.help);
        self.hanging(2, "help: ", &help);
        let lines: Vec<&str> = failure
            .stderr
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        if !lines.is_empty() {
            self.paragraph(2, "The last lines of its stderr:");
            for line in &lines[lines.len().saturating_sub(STDERR_LINES)..] {
                let line = escape::short(line, 400);
                let _ = writeln!(self.out, "  | {line}");
            }
        }
    }

    fn many(&mut self, group: &Group<'_>) {
        let kinds: BTreeSet<Kind> = group.components.iter().map(|key| key.kind()).collect();
        let noun = match kinds.into_iter().collect::<Vec<_>>()[..] {
            [kind] => format!("{}s", kind.noun()),
            _ => "components".to_owned(),
        };
        let title = self.paint(
            &format!("{} {noun}", group.components.len()),
            Paint::new().bold(),
        );
        // All of them: a reviewer who looks for one must find it.
        let names: Vec<String> = group
            .components
            .iter()
            .map(|component| kept(&escape::short(component.as_str(), 120)))
            .collect();
        self.hanging(2, "", &format!("{title}: {}", names.join(", ")));
        self.change(group);
    }

    fn component(&mut self, component: Option<&str>, changes: &[Group<'_>]) {
        let name = match component {
            Some(key) => kept(&escape::short(key, 120)),
            None => "server".to_owned(),
        };
        let at = |place: Option<&Place>| {
            place.map(|it| format!("{}:{}", escape::line(&it.slashed()), it.line))
        };
        let source = changes.iter().find_map(|it| it.change.source.as_ref());
        let baseline = changes.iter().find_map(|it| it.change.location.as_ref());
        let place = match (at(source), at(baseline)) {
            (Some(source), Some(baseline)) => format!("  {source}  ({baseline})"),
            (Some(source), None) => format!("  {source}"),
            (None, Some(baseline)) => format!("  ({baseline})"),
            (None, None) => String::new(),
        };
        let title =
            self.paint(&name, Paint::new().bold()) + &self.paint(&place, Paint::new().dimmed());
        self.paragraph(2, &title);
        for group in changes {
            self.change(group);
        }
    }

    fn change(&mut self, group: &Group<'_>) {
        let judged = &group.change.judged;
        let change = &judged.change;
        let level = self.paint(&format!("{:<9}", change.level), level_paint(change.level));
        let mut title = format!("{level} {}", change.rule);
        if change.exposure >= Exposure::Medium {
            title += &self.paint(
                &format!("  exposure {}", change.exposure),
                exposure_paint(change.exposure),
            );
        }
        if !matches!(judged.action, Action::Block) && !self.pinning {
            let _ = write!(title, "  ({})", judged.action);
        }
        self.paragraph(4, &title);

        let mut sentence = kept(&escape::short(&change.message, 400));
        if !change.pointer.is_empty() {
            let _ = write!(
                sentence,
                "  [{}]",
                kept(&escape::short(&change.pointer, 200))
            );
        }
        self.paragraph(14, &sentence);
        if let Some(decision) = change_text::decision(group.change) {
            self.paragraph(14, &kept(&decision));
        }
        if let Some(alike) = change_text::look_alike(change) {
            self.paragraph(14, &kept(&alike));
        }
        if !change.words.is_empty() {
            let words = self.words(&change.words);
            self.paragraph(14, &words);
        } else if !group.same_values {
            self.paragraph(
                14,
                "(old and new values differ between them; the JSON report has them all)",
            );
        } else if let Some(compared) = change_text::compared(change) {
            let says_both = change_text::sentence_has_values(change.rule);
            if !says_both && change.old != change.new {
                self.paragraph(14, &kept(&compared));
            }
        } else if !change.pointer.is_empty() || change.component.is_none() {
            self.value("- ", change.old.as_ref(), Paint::new().red());
            self.value("+ ", change.new.as_ref(), Paint::new().green());
        }
        match &change.proof {
            Some(Proof::Witness(instance)) => {
                let label = change_text::witness_label(change);
                let of = match group.components.first() {
                    Some(first) => format!("with {}, ", escape::short(first.as_str(), 60)),
                    None => String::new(),
                };
                self.paragraph(14, &format!("{of}{label}:"));
                let call = kept(&escape::short_value(instance, VALUE_CHARACTERS));
                let call = self.paint(&call, Paint::new().cyan());
                self.paragraph(16, &call);
            }
            Some(Proof::Undecided(reason)) => {
                let reason = escape::short(reason, 200);
                self.hanging(14, "not decided: ", &reason);
            }
            Some(Proof::Subsumed) | None => {}
        }
    }

    fn value(&mut self, mark: &str, value: Option<&Json>, paint: Paint) {
        if let Some(value) = value {
            let text = kept(&escape::short_value(value, VALUE_CHARACTERS));
            let text = self.paint(&text, paint);
            self.hanging(14, mark, &text);
        }
    }

    /// A word diff in the style of `git diff --word-diff`: `[-gone-]` and `{+new+}`, with a little
    /// context.
    fn words(&self, runs: &[Run]) -> String {
        let mut out = String::new();
        for (index, run) in runs.iter().enumerate() {
            match run {
                Run::Same(text) => {
                    let text = kept(&escape::line(text));
                    out += &context(&text, index > 0, index + 1 < runs.len());
                }
                Run::Removed(text) => {
                    let text = kept(&escape::short(text, 1_000));
                    out += &self.paint(&format!("[-{text}-]"), Paint::new().red());
                }
                Run::Added(text) => {
                    let text = kept(&escape::short(text, 1_000));
                    out += &self.paint(&format!("{{+{text}+}}"), Paint::new().green());
                }
            }
        }
        out
    }

    fn findings(&mut self, indent: &str, findings: &[&Finding]) {
        if findings.is_empty() {
            return;
        }
        self.out.push('\n');
        for group in by_rule(findings.iter().copied()) {
            let finding = group[0];
            // Notes alike are shown once; what warns or fails is shown each time.
            if !is_note(finding) || group.len() < MANY_NOTES {
                for finding in &group {
                    self.finding(indent, finding, "");
                }
                continue;
            }
            let more = format!("; and {} more like it", group.len() - 1);
            self.finding(indent, finding, &more);
        }
    }

    fn finding(&mut self, indent: &str, finding: &Finding, more: &str) {
        {
            let note = &finding.note;
            let component = note
                .component
                .as_deref()
                .map(|key| format!("{key}: "))
                .unwrap_or_default();
            let text = kept(&escape::short(&format!("{component}{}", note.message), 500));
            let word = if finding.action == Action::Audit {
                "note"
            } else {
                finding.action.word()
            };
            self.hanging(
                indent.len(),
                &format!("{word}: "),
                &format!("{text} ({}){more}", note.rule),
            );
        }
    }
}

/// Placeholder for a space at which a line must not break. Visible text never contains it: private
/// characters are shown as code points.
const KEPT_SPACE: char = '\u{f8ff}';

/// Server text for a paragraph. A line must not break at several spaces: their number could not be
/// seen.
fn kept(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("  ") {
        let spaces = rest[at..].len() - rest[at..].trim_start_matches(' ').len();
        out += &rest[..at];
        out.extend(std::iter::repeat_n(KEPT_SPACE, spaces));
        rest = &rest[at + spaces..];
    }
    out + rest
}

/// Enough of an unchanged run to show where a change is.
fn context(text: &str, before: bool, after: bool) -> String {
    const WORDS: usize = 8;
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let keep = |at: usize| (before && at < WORDS) || (after && at + WORDS >= words.len());
    if words.len() <= 3 * WORDS {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut skipped = 0;
    for (at, word) in words.iter().enumerate() {
        if !keep(at) {
            skipped += 1;
            continue;
        }
        if skipped > 0 {
            let _ = write!(out, "… ({skipped} words) … ");
            skipped = 0;
        }
        out += word;
    }
    if skipped > 0 {
        let _ = write!(out, "… ({skipped} words)");
    }
    out
}

fn verdict_label(verdict: Verdict) -> (&'static str, Paint) {
    match verdict {
        Verdict::Pass => ("PASS", Paint::new().green().bold()),
        Verdict::Warn => ("WARN", Paint::new().yellow().bold()),
        Verdict::Block => ("BLOCK", Paint::new().red().bold()),
        Verdict::Undetermined => ("UNDETERMINED", Paint::new().magenta().bold()),
    }
}

fn level_paint(level: Level) -> Paint {
    match level {
        Level::Breaking => Paint::new().red().bold(),
        Level::Risky => Paint::new().yellow(),
        Level::Additive => Paint::new().green(),
        Level::Cosmetic => Paint::new().dimmed(),
    }
}

fn exposure_paint(exposure: Exposure) -> Paint {
    match exposure {
        Exposure::High => Paint::new().magenta().bold(),
        _ => Paint::new().magenta(),
    }
}

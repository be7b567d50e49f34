//! The report as Markdown, for the comment on a pull request, the job summary, the check run and a
//! file.
//!
//! One renderer for all of them: a headline, a table by component for each server, and under it
//! every change in detail. GitHub's limits differ by place, so the text is cut to a limit, but
//! never in the middle of a change and never silently: details are dropped first, the least severe
//! first, then rows, and a line counts what was dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::annotations::{AnnotationLevel, severity};
use super::escape::{self, Visible};
use super::fold::{Group, fold};
use super::headline::one_line;
use super::{Comparison, Failure, Finding, Located, Report, ServerReport, Status, change_text};
use crate::canonical::{Json, to_pretty};
use crate::judgement::{Exposure, Level, Proof};
use crate::policy::{Action, Bump, Verdict};
use crate::rules::{RuleId, Side};
use crate::sentences::report as sentences;
use crate::surface::{ComponentKey, Kind};

/// GitHub's limit for a comment. Counted here in bytes, which are never fewer than characters.
pub const COMMENT_LIMIT: usize = 65_536;

/// GitHub's limit for a check run's summary, and for its text.
pub const CHECK_RUN_LIMIT: usize = 65_535;

/// GitHub's limit for a step's summary.
pub const SUMMARY_LIMIT: usize = 1 << 20;

/// How much of a value is shown. The whole value is in the JSON report and in the baseline.
const VALUE_CHARACTERS: usize = 2_000;

/// How much of a sentence is shown in a cell of the table.
const CELL_CHARACTERS: usize = 240;

/// How many of the last lines of a server's stderr are shown.
const STDERR_LINES: usize = 12;

/// Reserved for each server's lines that count what was left out.
const COUNT_BYTES: usize = 240;

const TABLE: &str = "| component | level | exposure | rule | what changed |\n\
                     | --- | --- | --- | --- | --- |\n";

/// The report as Markdown of at most `limit` bytes, with a final newline.
pub fn markdown(report: &Report, limit: usize) -> String {
    let page = Page::of(report);
    let kept = page.choose(limit);
    page.render(&kept)
}

/// A part that is shown or left out as a whole.
struct Piece {
    /// A lesser kind is shown only after all of the greater ones.
    kind: Part,
    /// Within a kind, the most severe is shown first.
    severity: (AnnotationLevel, Level, Exposure),
    server: Option<usize>,
    /// How many changes it covers.
    changes: usize,
    text: String,
}

/// The last ones are dropped first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Headline,
    Server,
    Accept,
    Row,
    Finding,
    Failure,
    Detail,
}

struct Page {
    /// In the order of the document.
    pieces: Vec<Piece>,
    servers: usize,
}

impl Page {
    fn of(report: &Report) -> Self {
        let mut page = Self {
            pieces: Vec::new(),
            servers: report.servers.len(),
        };
        page.add(Part::Headline, None, title(report));
        for (index, server) in report.servers.iter().enumerate() {
            page.server(index, server, &report.comparison);
        }
        for finding in &report.findings {
            page.finding(None, finding);
        }
        page
    }

    fn add(&mut self, kind: Part, server: Option<usize>, text: String) {
        let severity = (AnnotationLevel::Failure, Level::Breaking, Exposure::High);
        self.pieces.push(Piece {
            kind,
            severity,
            server,
            changes: 0,
            text,
        });
    }

    fn server(&mut self, index: usize, server: &ServerReport, comparison: &Comparison) {
        let failed = matches!(server.status, Status::Undetermined(_));
        if server.changes.is_empty() && server.findings.is_empty() && !failed {
            return;
        }
        let at = Some(index);
        self.add(Part::Server, at, server_title(server, comparison));
        if let Status::Undetermined(failure) = &server.status {
            self.add(Part::Failure, at, failure_text(failure));
        }
        let group = in_order(&server.changes);
        for (kind, write) in [
            (Part::Row, row as fn(&Group<'_>) -> String),
            (Part::Detail, detail),
        ] {
            for group in &group {
                self.pieces.push(Piece {
                    kind,
                    severity: severity(group.change),
                    server: at,
                    changes: group.components.len().max(1),
                    text: write(group),
                });
            }
        }
        let accepts = matches!(comparison, Comparison::Check) && !server.accept_with.is_empty();
        if accepts && !server.changes.is_empty() {
            let command = escape::fenced("console", &escape::short(&server.accept_with, 2_000));
            let text = format!("\n{}\n\n{command}", sentences::accept_all());
            self.add(Part::Accept, at, text);
        }
        for finding in &server.findings {
            self.finding(at, finding);
        }
    }

    fn finding(&mut self, server: Option<usize>, finding: &Finding) {
        self.pieces.push(Piece {
            kind: Part::Finding,
            severity: (finding.action.into(), Level::Cosmetic, Exposure::None),
            server,
            changes: 0,
            text: finding_text(finding),
        });
    }

    /// Which pieces are shown: by kind and severity, until the next does not fit.
    fn choose(&self, limit: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|at| {
            let piece = &self.pieces[*at];
            (piece.kind, std::cmp::Reverse(piece.severity), *at)
        });
        let mut kept = vec![false; self.pieces.len()];
        let mut room = limit.saturating_sub(COUNT_BYTES);
        for at in order {
            let piece = &self.pieces[at];
            let cost = match piece.kind {
                Part::Server => piece.text.len() + TABLE.len() + COUNT_BYTES,
                _ => piece.text.len() + 2,
            };
            // The headline is always shown: the rest means nothing without it.
            if piece.kind != Part::Headline && cost > room {
                break;
            }
            room = room.saturating_sub(cost);
            kept[at] = true;
        }
        kept
    }

    fn render(&self, kept: &[bool]) -> String {
        let mut out = String::new();
        self.section(&mut out, kept, None, &[Part::Headline]);
        let mut hidden = 0;
        for server in 0..self.servers {
            let is_of_server = |(piece, _): &(&Piece, &bool)| {
                piece.server == Some(server) && piece.kind == Part::Server
            };
            match self.pieces.iter().zip(kept).find(is_of_server) {
                Some((_, false)) => hidden += 1,
                Some((_, true)) => self.one_server(&mut out, kept, server),
                None => {}
            }
        }
        if hidden > 0 {
            left_out(&mut out, hidden, "server", "shown");
        }
        self.findings(&mut out, kept, None);
        out
    }

    fn one_server(&self, out: &mut String, kept: &[bool], server: usize) {
        let at = Some(server);
        self.section(out, kept, at, &[Part::Server]);
        let failures = self.section(out, kept, at, &[Part::Failure]);
        if failures > 0 {
            left_out(out, 1, "error", "shown");
        }
        let mut table = String::new();
        let rows = self.section(&mut table, kept, at, &[Part::Row]);
        if !table.is_empty() {
            *out += &format!("\n{TABLE}{table}");
        }
        if rows > 0 {
            left_out(out, rows, "change", "listed");
        }
        self.section(out, kept, at, &[Part::Accept]);
        let details = self.section(out, kept, at, &[Part::Detail]);
        if details > 0 {
            left_out(out, details, "change", sentences::shown_in_detail());
        }
        self.findings(out, kept, at);
    }

    fn findings(&self, out: &mut String, kept: &[bool], server: Option<usize>) {
        let mut list = String::new();
        let hidden = self.section(&mut list, kept, server, &[Part::Finding]);
        if !list.is_empty() {
            *out += &format!("\n{list}");
        }
        if hidden > 0 {
            left_out(out, hidden, "finding", "shown");
        }
    }

    /// Writes the pieces of a section and returns how much of it was left out.
    fn section(
        &self,
        out: &mut String,
        kept: &[bool],
        server: Option<usize>,
        kinds: &[Part],
    ) -> usize {
        let mut hidden = 0;
        for (piece, kept) in self.pieces.iter().zip(kept) {
            if piece.server != server || !kinds.contains(&piece.kind) {
                continue;
            }
            match kept {
                true => *out += &piece.text,
                false => hidden += piece.changes.max(1),
            }
        }
        hidden
    }
}

fn left_out(out: &mut String, count: usize, noun: &str, verb: &str) {
    let _ = write!(out, "\n{}\n", sentences::left_out(count, noun, verb));
}

fn title(report: &Report) -> String {
    let word = match (&report.comparison, report.verdict) {
        (Comparison::Pin { .. }, _) => "pinned",
        (_, Verdict::Pass) => "pass",
        (_, Verdict::Warn) => "warn",
        (_, Verdict::Block) => "blocked",
        (_, Verdict::Undetermined) => "undetermined",
    };
    let sentence = one_line(report, |text| escape::code(&escape::short(text, 1_000)));
    format!("## mcp-keel: {word}\n\n{}\n", upper(&sentence))
}

fn upper(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

fn server_title(server: &ServerReport, comparison: &Comparison) -> String {
    let name = escape::code(&escape::short(&server.name, 120));
    let mut out = format!("\n### {name}: {}\n", server.status.word());
    let version = &server.version;
    let mut facts = Vec::new();
    if let (Some(was), Some(is)) = (&version.baseline, &version.current) {
        let shown = |version: &str| escape::code(&escape::short(version, 40));
        facts.push(if was == is {
            format!("Version {}.", shown(is))
        } else {
            format!("Version {} → {}.", shown(was), shown(is))
        });
    }
    if version.required > Bump::None && !version.ok && *comparison == Comparison::Check {
        facts.push(sentences::requires_bump(version.required.word()));
    }
    let (was, is) = (server.cost.baseline, server.cost.current);
    if was != is && was > 0 && !server.changes.is_empty() {
        facts.push(sentences::context_cost(was, is));
    }
    if !facts.is_empty() {
        let _ = write!(out, "\n{}\n", facts.join(" "));
    }
    out
}

fn failure_text(failure: &Failure) -> String {
    let message = escape::markdown(&escape::short(&failure.message, 1_000));
    let help = escape::markdown(&escape::short(&failure.help, 1_000));
    let mut out = format!(
        "\n{}\n\n- error: {message}\n- help: {help}\n",
        sentences::no_verdict()
    );
    let lines: Vec<Visible> = failure
        .stderr
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| escape::short(line, 400))
        .collect();
    if !lines.is_empty() {
        let last = change_text::joined(&lines[lines.len().saturating_sub(STDERR_LINES)..], "\n");
        let _ = write!(
            out,
            "\n{}\n\n{}",
            sentences::last_of_stderr(),
            escape::fenced("text", &last)
        );
    }
    out
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

fn row(group: &Group<'_>) -> String {
    let judged = &group.change.judged;
    let change = &judged.change;
    let component = match group.components.len() {
        0 => escape::code(&escape::short(change_text::component(group.change), 120)),
        many => format!("{many} {}", noun(&group.components)),
    };
    let level = match change.level {
        Level::Breaking => "**breaking**",
        other => other.word(),
    };
    let action = match judged.action {
        Action::Block => String::new(),
        other => format!(" ({other})"),
    };
    let exposure = match change.exposure {
        Exposure::High => "**high**",
        other => other.word(),
    };
    let message = escape::markdown(&escape::short(&change.message, CELL_CHARACTERS));
    format!(
        "| {component} | {level}{action} | {exposure} | {} | {message} |\n",
        rule_link(change.rule)
    )
}

fn noun(components: &[&ComponentKey]) -> String {
    let kinds: BTreeSet<Kind> = components.iter().map(|key| key.kind()).collect();
    match kinds.into_iter().collect::<Vec<_>>()[..] {
        [kind] => format!("{}s", kind.noun()),
        _ => "components".to_owned(),
    }
}

fn rule_link(rule: RuleId) -> String {
    format!("[{rule}]({})", super::rules::address(rule))
}

fn detail(group: &Group<'_>) -> String {
    let located = group.change;
    let judged = &located.judged;
    let change = &judged.change;
    let about = match group.components.len() {
        0 => escape::short(change_text::component(located), 120),
        many => Visible::of_parts(format!("{many} {}", noun(&group.components))),
    };
    let mut out = format!(
        "\n<details><summary>{} <code>{}</code> {}</summary>\n",
        change.level,
        escape::html(&about),
        change.rule,
    );
    let mut paragraph = |text: &str| {
        let _ = write!(out, "\n{}\n", text.trim_end());
    };
    let mut sentence = escape::markdown(&escape::short(&change.message, 1_000));
    if !change.pointer.is_empty() {
        sentence += &format!(" ({})", escape::code(&escape::short(&change.pointer, 300)));
    }
    paragraph(&upper(&sentence));
    if let Some(decision) = change_text::decision(located) {
        paragraph(&upper(&escape::markdown(&decision)));
    }
    if let Some(alike) = change_text::look_alike(change) {
        paragraph(&upper(&format!("{}.", escape::markdown(&alike))));
    }
    if !group.components.is_empty() {
        let names: Vec<String> = group
            .components
            .iter()
            .take(50)
            .map(|key| escape::code(&escape::short(key.as_str(), 120)))
            .collect();
        let more = match group.components.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        paragraph(&format!("On {}{more}.", names.join(", ")));
    }
    if let Some(places) = places(located) {
        paragraph(&places);
    }
    if !change.words.is_empty() {
        paragraph(&escape::fenced("text", &change_text::words(&change.words)));
    }
    if group.same_values
        && let Some(values) = values(change.old.as_ref(), change.new.as_ref())
    {
        paragraph(&values);
    }
    if let Some(proof) = proof(located) {
        paragraph(&proof);
    }
    paragraph(&format!(
        "**{}.** {}",
        sentences::what_to_do(),
        change.rule.rule().advice
    ));
    if group.components.is_empty() && judged.action >= Action::Warn {
        paragraph(&sentences::accept_one(&judged.id));
    }
    out + "\n</details>\n"
}

fn places(located: &Located) -> Option<String> {
    let show = |place: &super::Place| {
        escape::code(&Visible::of_parts(format!(
            "{}:{}",
            escape::short(&place.slashed(), 300),
            place.line
        )))
    };
    let places = [("Baseline", &located.location), ("Source", &located.source)]
        .into_iter()
        .filter_map(|(word, place)| Some(format!("{word}: {}", show(place.as_ref()?))))
        .collect::<Vec<_>>();
    (!places.is_empty()).then(|| places.join(". ") + ".")
}

/// Old and new, side by side if both exist.
fn values(old: Option<&Json>, new: Option<&Json>) -> Option<String> {
    let shown = |value: &Json| {
        escape::fenced(
            "json",
            &escape::short_block(&to_pretty(value), VALUE_CHARACTERS),
        )
    };
    match (old, new) {
        (Some(old), Some(new)) => Some(format!(
            "<table><tr><th>old</th><th>new</th></tr><tr><td>\n\n{}\n</td><td>\n\n{}\n</td></tr></table>",
            shown(old),
            shown(new)
        )),
        (Some(old), None) => Some(format!("{}\n\n{}", sentences::was_removed(), shown(old))),
        (None, Some(new)) => Some(format!("{}\n\n{}", sentences::is_new(), shown(new))),
        (None, None) => None,
    }
}

fn proof(located: &Located) -> Option<String> {
    let change = &located.judged.change;
    match change.proof.as_ref()? {
        Proof::Witness(instance) => {
            let label = upper(change_text::witness_label(located));
            let tool = change.component.as_ref().and_then(ComponentKey::tool_name);
            let call = |params: Json| {
                Json::object([("method", Json::string("tools/call")), ("params", params)])
            };
            let shown = match tool {
                // The witness of an input schema is just the arguments.
                Some(tool) if change.rule.side() == Some(Side::Input) => call(Json::object([
                    ("name", Json::string(tool)),
                    ("arguments", instance.clone()),
                ])),
                Some(_) if instance.get("arguments").is_some() => call(instance.clone()),
                _ => instance.clone(),
            };
            let shown = to_pretty(&shown);
            let shown = escape::fenced("json", &escape::short_block(&shown, VALUE_CHARACTERS));
            Some(format!("{label}:\n\n{shown}"))
        }
        Proof::Subsumed => Some(sentences::subsumed(change.rule.side()).to_owned()),
        Proof::Undecided(reason) => Some(format!(
            "{}: {}",
            upper(sentences::undecided()),
            escape::markdown(&escape::short(reason, 400))
        )),
    }
}

fn finding_text(finding: &Finding) -> String {
    let note = &finding.note;
    let word = match finding.action {
        Action::Audit => "note",
        other => other.word(),
    };
    let component = note
        .component
        .as_deref()
        .map(|key| escape::code(&escape::short(key, 120)) + ": ")
        .unwrap_or_default();
    let message = escape::markdown(&escape::short(&note.message, 500));
    format!(
        "- {word}: {component}{message} ({})\n",
        rule_link(note.rule)
    )
}

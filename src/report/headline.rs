//! What a run comes to and what to do next, in the same words in every format.

use super::{Comparison, Report, ServerReport, Status, escape};
use crate::judgement::Level;
use crate::policy::Action;

/// How a format shows a name, a path or a command that comes from outside.
pub(super) type Show = fn(&str) -> String;

/// [`headline`] as plain text.
pub(super) fn plain(report: &Report) -> String {
    headline(report, |text| escape::short(text, 2_000))
}

/// What happened and what to do next, in one sentence or two.
pub(super) fn headline(report: &Report, show: Show) -> String {
    let of = |wanted: &str| -> Vec<&ServerReport> {
        report
            .servers
            .iter()
            .filter(|server| server.status.word() == wanted)
            .collect()
    };
    if let Comparison::Pin { written } = &report.comparison {
        return pin_headline(report, written, show);
    }
    let (drifted, new, undetermined) = (of("drifted"), of("new"), of("undetermined"));
    if drifted.is_empty() && new.is_empty() && undetermined.is_empty() {
        return clean_headline(report, show);
    }
    let mut sentences = Vec::new();
    if !drifted.is_empty() {
        let what = match (&drifted[..], &report.comparison) {
            (_, Comparison::Diff) => "the two sources differ".to_owned(),
            ([only], _) => format!("{} drifted", show(&only.name)),
            (many, _) => format!("{} of {} servers drifted", many.len(), report.servers.len()),
        };
        sentences.push(format!("{what}: {}.", counts(report)));
    }
    if !new.is_empty() {
        let names: Vec<String> = new.iter().map(|server| show(&server.name)).collect();
        sentences.push(format!("not in the baseline: {}.", names.join(", ")));
    }
    if !undetermined.is_empty() {
        let names: Vec<String> = undetermined
            .iter()
            .map(|server| show(&server.name))
            .collect();
        sentences.push(format!(
            "could not be captured: {}. Nothing is claimed about it.",
            names.join(", ")
        ));
    }
    sentences.push(next_step(report, drifted.len() + new.len(), show));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}

fn clean_headline(report: &Report, show: Show) -> String {
    let components: usize = report.servers.iter().map(|server| server.components).sum();
    match (&report.comparison, &report.servers[..]) {
        (Comparison::Diff, _) => format!("no difference ({components} components compared)."),
        (_, [only]) => {
            format!(
                "{} matches the baseline ({components} components).",
                show(&only.name)
            )
        }
        (_, many) => format!(
            "{} servers match the baseline ({components} components).",
            many.len()
        ),
    }
}

fn pin_headline(report: &Report, written: &[std::path::PathBuf], show: Show) -> String {
    let names: Vec<String> = report
        .servers
        .iter()
        .map(|server| show(&server.name))
        .collect();
    let components: usize = report.servers.iter().map(|server| server.components).sum();
    let files: Vec<String> = written
        .iter()
        .map(|path| show(&path.to_string_lossy()))
        .collect();
    let what = format!("{} ({components} components)", names.join(", "));
    let first_time = report
        .servers
        .iter()
        .all(|server| matches!(server.status, Status::New));
    let accepted = match counts(report) {
        none if none.is_empty() || first_time => String::new(),
        counts => format!(" This accepts: {counts}."),
    };
    match &files[..] {
        [] => format!("{what}: the baseline says so already, nothing was written."),
        files => format!("{what}.{accepted} Commit {}.", files.join(", ")),
    }
}

fn next_step(report: &Report, to_accept: usize, show: Show) -> String {
    if report.comparison == Comparison::Diff || to_accept == 0 {
        return String::new();
    }
    let blocked = report
        .changes()
        .filter(|it| it.judged.action == Action::Block)
        .count();
    let would_block = report.changes().filter(|it| it.judged.would_block).count();
    let command = match &report.servers[..] {
        [only] => only.accept_with.clone(),
        _ => "mcp-keel pin".to_owned(),
    };
    let command = show(&command);
    if blocked > 0 {
        format!("Fix the server, or accept the changes: {command}")
    } else if would_block > 0 {
        let noun = if would_block == 1 {
            "change"
        } else {
            "changes"
        };
        format!(
            "{would_block} {noun} would have blocked under enforcement \"block\". To accept: {command}"
        )
    } else {
        format!("Nothing fails. To accept: {command}")
    }
}

/// `1 breaking, 2 additive`
pub(super) fn counts(report: &Report) -> String {
    let count = |level| {
        report
            .changes()
            .filter(|it| it.judged.change.level == level)
            .count()
    };
    let said: Vec<String> = Level::ALL
        .iter()
        .rev()
        .map(|level| (count(*level), level))
        .filter(|(count, _)| *count > 0)
        .map(|(count, level)| format!("{count} {level}"))
        .collect();
    said.join(", ")
}

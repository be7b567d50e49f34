//! The result of a run and what to do next, in the same words in every format.

use super::escape::{self, Visible};
use super::{Comparison, Report, ServerReport, Status};
use crate::judgement::Level;
use crate::policy::Action;
use crate::wording::{capitalized, counted};

/// How a format shows an untrusted name, path or command.
pub(super) type Show = fn(&str) -> String;

/// [`headline`] as plain text, followed by the command.
pub(super) fn plain(report: &Report) -> Visible {
    Visible::of_parts(one_line(report, |text| escape::line(text).into()))
}

/// [`headline`] followed by the command.
pub(super) fn one_line(report: &Report, show: Show) -> String {
    match headline(report, show) {
        (sentence, None) => sentence,
        (sentence, Some(command)) => format!("{sentence} {command}"),
    }
}

/// What happened and what to do next, in one or two sentences, and the command for that.
pub(super) fn headline(report: &Report, show: Show) -> (String, Option<String>) {
    let of = |wanted: &str| -> Vec<&ServerReport> {
        report
            .servers
            .iter()
            .filter(|server| server.status.word() == wanted)
            .collect()
    };
    if let Comparison::Pin { written } = &report.comparison {
        return (pin_headline(report, written, show), None);
    }
    let (drifted, new, undetermined) = (of("drifted"), of("new"), of("undetermined"));
    if drifted.is_empty() && new.is_empty() && undetermined.is_empty() {
        return (clean_headline(report, show), None);
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
    let (skipped, failed): (Vec<&ServerReport>, Vec<_>) =
        undetermined.iter().partition(|it| it.is_skipped());
    let names = |of: &[&ServerReport]| -> Vec<String> {
        of.iter().map(|server| show(&server.name)).collect()
    };
    if !failed.is_empty() {
        sentences.push(format!(
            "could not be captured: {}. No verdict.",
            names(&failed).join(", ")
        ));
    }
    if !skipped.is_empty() {
        sentences.push(format!(
            "skipped: {}. No verdict.",
            names(&skipped).join(", ")
        ));
    }
    let (next, command) = next_step(report, drifted.len() + new.len(), show);
    sentences.push(next);
    sentences.retain(|sentence| !sentence.is_empty());
    for later in sentences.iter_mut().skip(1) {
        *later = capitalized(later);
    }
    (sentences.join(" "), command)
}

fn clean_headline(report: &Report, show: Show) -> String {
    let components: usize = report.servers.iter().map(|server| server.components).sum();
    match (&report.comparison, &report.servers[..]) {
        (Comparison::Diff, _) => format!(
            "no difference ({} compared).",
            counted(components, "component")
        ),
        (_, [only]) => format!(
            "{} matches the baseline ({}).",
            show(&only.name),
            counted(components, "component")
        ),
        (_, many) => format!(
            "{} servers match the baseline ({}).",
            many.len(),
            counted(components, "component")
        ),
    }
}

pub(super) fn pin_headline(report: &Report, written: &[std::path::PathBuf], show: Show) -> String {
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
    let first_time = report
        .servers
        .iter()
        .all(|server| matches!(server.status, Status::New));
    let pinned = format!(
        "{} ({})",
        names.join(", "),
        counted(components, "component")
    );
    if files.is_empty() {
        return format!("{pinned}: already up to date.");
    }
    let accepted = match counts(report) {
        counts if first_time || counts.is_empty() => String::new(),
        counts => format!(" This accepts: {counts}."),
    };
    format!("{pinned}.{accepted} Commit {}.", files.join(", "))
}

fn next_step(report: &Report, to_accept: usize, show: Show) -> (String, Option<String>) {
    if report.comparison == Comparison::Diff || to_accept == 0 {
        return (String::new(), None);
    }
    let blocked = report
        .changes()
        .filter(|it| it.judged.action == Action::Block)
        .count();
    let would_block = report.changes().filter(|it| it.judged.would_block).count();
    let command = accept_command(report);
    let mut drifted = report.servers.iter().filter(|it| !it.changes.is_empty());
    let sentence = if blocked > 0 && drifted.all(|server| server.third_party) {
        // Its code is not in this repository.
        "Stay on the version that was pinned, or accept the changes:".to_owned()
    } else if blocked > 0 {
        "Fix the server, or accept the changes:".to_owned()
    } else if would_block > 0 {
        let changes = counted(would_block, "change");
        format!("{changes} would block under enforcement \"block\". To accept:")
    } else {
        "Nothing blocks, but the baseline is behind. To update it:".to_owned()
    };
    (sentence, Some(show(&command)))
}

/// The command that accepts what was found: for several servers that differ in their name only, one
/// command with all names. Servers that could not be captured are left out, since `pin` would fail.
fn accept_command(report: &Report) -> String {
    let drifted = report
        .servers
        .iter()
        .filter(|it| matches!(it.status, Status::Drifted | Status::New));
    let drifted: Vec<&ServerReport> = drifted.collect();
    let [first, others @ ..] = &drifted[..] else {
        return "mcp-keel pin".to_owned();
    };
    let mut command = first.accept_with.clone();
    let quoted = |server: &ServerReport| shlex::try_quote(&server.name).map(|it| it.into_owned());
    let before = |server: &ServerReport| {
        let name = quoted(server).ok()?;
        server.accept_with.strip_suffix(&name).map(str::to_owned)
    };
    for other in others {
        match (before(other), quoted(other)) {
            (Some(start), Ok(name)) if Some(&start) == before(first).as_ref() => {
                command = format!("{command} {name}");
            }
            _ => return "mcp-keel pin".to_owned(),
        }
    }
    command
}

/// `1 breaking, 2 additive`
fn counts(report: &Report) -> String {
    let count = |level| {
        report
            .changes()
            .filter(|it| it.judged.change.level == level)
            .count()
    };
    let parts: Vec<String> = Level::ALL
        .iter()
        .rev()
        .map(|level| (count(*level), level))
        .filter(|(count, _)| *count > 0)
        .map(|(count, level)| format!("{count} {level}"))
        .collect();
    parts.join(", ")
}

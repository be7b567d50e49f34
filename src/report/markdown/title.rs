//! The first line of a page: what happens to callers, and counts.

use super::super::{Comparison, FailureKind, Located, Report, ServerReport, Status, headline};
use super::About;
use crate::judgement::Level;
use crate::policy::Action;
use crate::sentences::page::{self as sentences, Counts};

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

pub(super) fn of_server(server: &ServerReport, about: About, show: fn(&str) -> String) -> String {
    let name = show(&server.name);
    let counts = counts(&server.changes);
    match &server.status {
        Status::Undetermined(failure) => match failure.kind {
            FailureKind::NotStarted => sentences::did_not_start(&name),
            FailureKind::Unstable => sentences::captures_differ(&name),
            FailureKind::Base => sentences::base_unknown(&name),
            FailureKind::Skipped => sentences::skipped(&name),
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

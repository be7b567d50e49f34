//! The first line of a page: what happens to callers, and counts.

use super::super::{Comparison, FailureKind, Located, Report, ServerReport, Status, headline};
use super::About;
use crate::judgement::Level;
use crate::policy::Action;
use crate::wording::counted;

/// How many changes there are: breaking, risky, and others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    breaking: usize,
    risky: usize,
    other: usize,
}

impl Counts {
    /// `4 breaking, 4 risky, 3 other`
    fn sentence(self) -> String {
        let counts = [
            (self.breaking, "breaking"),
            (self.risky, "risky"),
            (self.other, "other"),
        ];
        let parts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        parts.join(", ")
    }
}

/// What a comparison says, in one line. `show` is how names are shown.
pub fn title(report: &Report, about: About, show: fn(&str) -> String) -> String {
    if let Comparison::Pin { written } = &report.comparison {
        return format!("pinned {}", headline::pin_headline(report, written, show));
    }
    match &report.servers[..] {
        // Only findings are left to be reported.
        [] => format!(
            "{} besides the tool list",
            counted(report.findings.len(), "problem")
        ),
        [only] => of_server(only, about, show),
        many => of_servers(many, about, show),
    }
}

pub(super) fn of_server(server: &ServerReport, about: About, show: fn(&str) -> String) -> String {
    let name = show(&server.name);
    let counts = counts(&server.changes);
    match &server.status {
        Status::Undetermined(failure) => match failure.kind {
            FailureKind::NotStarted => {
                format!("{name} did not start, so nothing is known about it")
            }
            FailureKind::Unstable => {
                format!("two captures of {name} differ, so nothing is known about it")
            }
            FailureKind::Base => format!("it is not known what merging changes for {name}"),
            FailureKind::Skipped => format!("{name} was skipped, so nothing is known about it"),
            FailureKind::Other => {
                format!("{name} could not be captured, so nothing is known about it")
            }
        },
        Status::New if about == About::Merging => pins_first(&name, server.components),
        Status::New => not_in_baseline(&name, server.components),
        Status::Clean => format!(
            "{name} matches its baseline ({})",
            counted(server.components, "component")
        ),
        Status::Drifted if about == About::Merging => merging_approves(&name, counts),
        Status::Drifted if all_accepted(server) => format!(
            "{name} changed, and all of it is accepted ({})",
            counts.sentence()
        ),
        Status::Drifted => callers(&name, false, counts),
    }
}

/// What merging changes in the baseline.
fn merging_approves(server: &str, counts: Counts) -> String {
    let effect = match counts {
        Counts { breaking: 1.., .. } => " that break callers",
        Counts { risky: 1.., .. } => " that may surprise callers",
        _ => "",
    };
    format!(
        "merging approves changes of {server}{effect} ({})",
        counts.sentence()
    )
}

/// The first baseline of a server.
fn pins_first(server: &str, tools: usize) -> String {
    format!(
        "this pull request pins {server} for the first time ({})",
        counted(tools, "tool")
    )
}

fn not_in_baseline(server: &str, tools: usize) -> String {
    format!(
        "{server} is not in the baseline ({})",
        counted(tools, "tool")
    )
}

/// What happens to the callers of one or several servers.
fn callers(who: &str, many: bool, counts: Counts) -> String {
    let verb = match (counts, many) {
        (Counts { breaking: 1.., .. }, false) => "breaks callers",
        (Counts { breaking: 1.., .. }, true) => "break callers",
        (Counts { risky: 1.., .. }, _) => "may surprise callers",
        _ => "changed, and no caller breaks",
    };
    format!("{who} {verb} ({})", counts.sentence())
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
            let who = servers_of(many.len(), servers.len());
            parts.push(match about {
                About::Merging => merging_approves(&who, counts),
                _ => callers(&who, true, counts),
            });
        }
    }
    match &new[..] {
        [] => {}
        [only] => parts.push(of_server(only, about, show)),
        many => {
            let who = servers_of(many.len(), servers.len());
            let tools = many.iter().map(|it| it.components).sum();
            parts.push(match about {
                About::Merging => pins_first(&who, tools),
                _ => not_in_baseline(&who, tools),
            });
        }
    }
    match &unknown[..] {
        [] => {}
        [only] => parts.push(of_server(only, about, show)),
        many => parts.push(format!(
            "nothing is known about {}",
            counted(many.len(), "server")
        )),
    }
    if parts.is_empty() {
        return format!("{} servers match their baselines", servers.len());
    }
    parts.join("; ")
}

fn servers_of(some: usize, all: usize) -> String {
    format!("{some} of {all} servers")
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

//! GitLab's Code Quality report: an array of issues, one per change or finding.

use std::collections::BTreeSet;

use super::{Finding, Located, Report, Status, change_text, escape, sarif};
use crate::baseline::DEFAULT_PATH;
use crate::canonical::{Json, to_pretty};
use crate::judgement::{Exposure, Level};
use crate::policy::Action;

/// The report for GitLab, with a final newline.
pub fn gitlab(report: &Report) -> String {
    let mut issues = Vec::new();
    for server in &report.servers {
        if let Status::Undetermined(failure) = &server.status {
            let text = format!("{}: {}", server.no_capture(), failure.message);
            issues.push(issue(
                &escape::short(&text, 1_000),
                "undetermined",
                &sarif::identity_of(&[&server.name, "undetermined"]),
                "blocker",
                None,
            ));
        }
        let mut costed = BTreeSet::new();
        for located in &server.changes {
            // Once for each tool.
            let is_first = costed.insert(&located.judged.change.component);
            let cost = server.tool_cost_changed(located).filter(|_| is_first);
            issues.push(change(located, cost));
        }
        let found = server.findings.iter();
        issues.extend(found.map(|it| finding(it, &server.name)));
    }
    issues.extend(report.findings.iter().map(|it| finding(it, "")));
    escape::json(to_pretty(&Json::Array(issues))) + "\n"
}

fn change(located: &Located, cost: Option<String>) -> Json {
    let change = &located.judged.change;
    let mut description = format!(
        "{}: {}",
        escape::short(change_text::component(located), 120),
        change_text::sentence(located)
    );
    if let Some(cost) = cost {
        description = format!("{}. {cost}", description.trim_end_matches('.'));
    }
    let place = located.location.as_ref().or(located.source.as_ref());
    issue(
        &description,
        change.rule.id(),
        &located.judged.id,
        severity(located),
        place.map(|place| (place.slashed(), place.line)),
    )
}

fn finding(finding: &Finding, server: &str) -> Json {
    let note = &finding.note;
    let about = note.component.as_deref().unwrap_or_default();
    let severity = match finding.action {
        Action::Block => "major",
        Action::Warn => "minor",
        Action::Audit | Action::Accepted => "info",
    };
    issue(
        &change_text::finding(finding),
        note.rule.id(),
        &sarif::identity_of(&[server, note.rule.id(), about, &note.message]),
        severity,
        None,
    )
}

/// What fails is at least `major`; what does not is at most `minor`. The worse of the two
/// judgements counts.
fn severity(located: &Located) -> &'static str {
    let change = &located.judged.change;
    match (located.judged.action, change.level, change.exposure) {
        (Action::Block, Level::Breaking, _) | (Action::Block, _, Exposure::High) => "critical",
        (Action::Block, _, _) => "major",
        (Action::Warn, _, _) => "minor",
        (Action::Audit | Action::Accepted, _, _) => "info",
    }
}

/// The five members that GitLab documents. A change without a place is shown on the first line of
/// the baseline.
fn issue(
    description: &str,
    check_name: &str,
    fingerprint: &str,
    severity: &str,
    place: Option<(String, usize)>,
) -> Json {
    let (path, line) = place.unwrap_or((DEFAULT_PATH.to_owned(), 1));
    let begin = Json::integer(i64::try_from(line).unwrap_or(i64::MAX));
    Json::object([
        ("description", Json::string(description)),
        ("check_name", Json::string(check_name)),
        ("fingerprint", Json::string(fingerprint)),
        ("severity", Json::string(severity)),
        (
            "location",
            Json::object([
                ("path", Json::string(path)),
                ("lines", Json::object([("begin", begin)])),
            ]),
        ),
    ])
}

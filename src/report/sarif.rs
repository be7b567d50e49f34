//! SARIF 2.1.0, for code scanning and other viewers.
//!
//! A change is a result: its location is the line of the committed baseline, and the line that
//! declares the component is a related location. The fingerprint is the change's id, so that a
//! viewer recognises it across commits. A server that could not be captured is a notification, and
//! the run is marked as unsuccessful: an empty list of results must not read as "no drift".

use std::collections::BTreeMap;

use super::change_text::WHAT_TO_DO;
use super::escape::{self, Shown, Visible};
use super::{Failure, Finding, Located, Place, Report, ServerReport, Status, change_text, rules};
use crate::baseline::DEFAULT_PATH;
use crate::canonical::{Json, to_pretty};
use crate::fingerprint::Digest;
use crate::judgement::{Exposure, Level};
use crate::policy::Action;
use crate::rules::{Rule, RuleId, Subject};
use crate::wording::capitalized;

/// The name of the fingerprint with a change's id. A new meaning would need a new name.
const FINGERPRINT: &str = "mcpKeelChange/v1";

/// The report as SARIF, with a final newline.
pub fn sarif(report: &Report) -> String {
    let rules = used_rules(report);
    let mut results = Vec::new();
    for server in &report.servers {
        let changes = server.changes.iter();
        results.extend(changes.map(|located| change(located, &server.name, &rules)));
        let found = server.findings.iter();
        results.extend(found.map(|it| finding(it, Some(&server.name), &rules)));
    }
    results.extend(report.findings.iter().map(|it| finding(it, None, &rules)));
    let run = Json::object([
        ("tool", Json::object([("driver", driver(&rules))])),
        (
            "automationDetails",
            Json::object([("id", Json::string("mcp-keel/"))]),
        ),
        ("invocations", Json::Array(vec![invocation(report)])),
        ("columnKind", Json::string("unicodeCodePoints")),
        ("results", Json::Array(results)),
        (
            "properties",
            Json::object([
                ("verdict", Json::string(report.verdict.word())),
                ("contextCost", Json::Array(costs(report))),
            ]),
        ),
    ]);
    let document = Json::object([
        (
            "$schema",
            Json::string(
                "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            ),
        ),
        ("version", Json::string("2.1.0")),
        ("runs", Json::Array(vec![run])),
    ]);
    escape::json(to_pretty(&document)) + "\n"
}

/// What the tools of each server cost in a model's context.
fn costs(report: &Report) -> Vec<Json> {
    let captured = |it: &&ServerReport| !matches!(it.status, Status::Undetermined(_));
    let servers = report.servers.iter().filter(captured);
    let cost = |server: &ServerReport| {
        Json::object([
            ("server", Json::string(escape::sarif(&server.name))),
            ("baselineTokens", number(server.cost.baseline)),
            ("currentTokens", number(server.cost.current)),
        ])
    };
    servers.map(cost).collect()
}

/// The rules in this run, by id, each with its index.
type Rules = BTreeMap<RuleId, usize>;

fn used_rules(report: &Report) -> Rules {
    let changes = report.changes().map(|it| it.judged.change.rule);
    let found = report.servers.iter().flat_map(|server| &server.findings);
    let found = found.chain(&report.findings).map(|it| it.note.rule);
    let mut rules: Rules = changes.chain(found).map(|rule| (rule, 0)).collect();
    for (index, slot) in rules.values_mut().enumerate() {
        *slot = index;
    }
    rules
}

fn driver(rules: &Rules) -> Json {
    Json::object([
        ("name", Json::string("mcp-keel")),
        ("version", Json::string(env!("CARGO_PKG_VERSION"))),
        ("semanticVersion", Json::string(env!("CARGO_PKG_VERSION"))),
        ("informationUri", Json::string(env!("CARGO_PKG_REPOSITORY"))),
        (
            "rules",
            Json::Array(rules.keys().map(|id| descriptor(id.rule())).collect()),
        ),
    ])
}

fn descriptor(rule: &Rule) -> Json {
    let level = match rule.subject {
        Subject::Finding => "note",
        Subject::Change => usual_level(rule),
    };
    let text = format!("{}\n\n{WHAT_TO_DO}: {}", rule.rationale, rule.advice);
    let markdown = format!(
        "{}\n\n**{WHAT_TO_DO}.** {}\n\n[{}]({})",
        rule.rationale,
        rule.advice,
        rule.id,
        rules::address(rule.id)
    );
    let mut properties = vec![
        ("level", Json::string(rule.level.word())),
        ("exposure", Json::string(rule.exposure.word())),
        (
            "tags",
            Json::Array(vec![Json::string("mcp"), Json::string("contract")]),
        ),
        // What code scanning sorts and filters by.
        (
            "problem.severity",
            Json::string(match level {
                "error" => "error",
                "warning" => "warning",
                _ => "recommendation",
            }),
        ),
    ];
    if rule.subject == Subject::Finding {
        properties.retain(|(name, _)| !matches!(*name, "level" | "exposure"));
    }
    Json::object([
        ("id", Json::string(rule.id)),
        ("name", Json::string(pascal(rule.id.id()))),
        ("shortDescription", text_of(&sentence(rule.summary))),
        ("fullDescription", text_of(rule.rationale)),
        (
            "help",
            Json::object([
                ("text", Json::string(escape::sarif(&text))),
                ("markdown", Json::string(markdown)),
            ]),
        ),
        ("helpUri", Json::string(rules::address(rule.id))),
        (
            "defaultConfiguration",
            Json::object([("level", Json::string(level))]),
        ),
        ("properties", Json::object(properties)),
    ])
}

fn usual_level(rule: &Rule) -> &'static str {
    match (rule.level, rule.exposure) {
        (Level::Breaking, _) | (_, Exposure::High) => "error",
        (Level::Risky, _) | (_, Exposure::Medium) => "warning",
        _ => "note",
    }
}

/// `tool-removed` becomes `ToolRemoved`, SARIF's spelling of rule names.
fn pascal(id: &str) -> String {
    id.split('-').map(capitalized).collect()
}

fn sentence(summary: &str) -> String {
    capitalized(summary) + "."
}

fn text_of(text: &(impl Shown + ?Sized)) -> Json {
    Json::object([("text", Json::string(escape::sarif(text)))])
}

fn level_of(action: Action) -> Json {
    Json::string(match action {
        Action::Block => "error",
        Action::Warn => "warning",
        Action::Audit | Action::Accepted => "note",
    })
}

fn rule_members(rule: RuleId, rules: &Rules) -> Vec<(&'static str, Json)> {
    let index = rules.get(&rule).copied().unwrap_or_default();
    vec![("ruleId", Json::string(rule)), ("ruleIndex", number(index))]
}

fn change(located: &Located, server: &str, rules: &Rules) -> Json {
    let judged = &located.judged;
    let change = &judged.change;
    let mut members = rule_members(change.rule, rules);
    let component = escape::line(change_text::component(located));
    let message = Visible::of_parts(format!(
        "{component}: {}.",
        change_text::sentence(located).trim_end_matches('.')
    ));
    members.extend([
        ("kind", Json::string("fail")),
        ("level", level_of(judged.action)),
        ("message", text_of(&message)),
    ]);
    if judged.action == Action::Accepted {
        // Acceptances are in a reviewed file, which SARIF calls external.
        let mut suppression = vec![
            ("kind", Json::string("external")),
            ("status", Json::string("accepted")),
        ];
        if let Some(decision) = change_text::decision(located) {
            suppression.push(("justification", Json::string(&*decision)));
        }
        let suppression = Json::object(suppression);
        members.push(("suppressions", Json::Array(vec![suppression])));
    }
    let named = named(&component, change.component.is_some());
    members.push((
        "locations",
        Json::Array(vec![location(located.location.as_ref(), Some(named))]),
    ));
    if let Some(source) = &located.source {
        let mut related = physical(source);
        related.insert(0, ("id", number(1)));
        related.push((
            "message",
            text_of(&Visible::of_parts(format!("{component} is declared here."))),
        ));
        members.push(("relatedLocations", Json::Array(vec![Json::object(related)])));
    }
    members.push((
        "partialFingerprints",
        Json::object([(FINGERPRINT, Json::string(judged.id.as_str()))]),
    ));
    let details: Vec<Json> = change_text::lines(located)
        .into_iter()
        .map(Json::string)
        .collect();
    members.push((
        "properties",
        Json::object([
            ("server", Json::string(escape::line(server))),
            ("component", Json::string(&*component)),
            ("pointer", Json::string(escape::line(&change.pointer))),
            ("level", Json::string(change.level.word())),
            ("exposure", Json::string(change.exposure.word())),
            ("action", Json::string(judged.action.word())),
            ("details", Json::Array(details)),
        ]),
    ));
    Json::object(members)
}

fn finding(finding: &Finding, server: Option<&str>, rules: &Rules) -> Json {
    let mut members = rule_members(finding.note.rule, rules);
    let identity = [
        server.unwrap_or_default(),
        finding.note.rule.id(),
        finding.note.component.as_deref().unwrap_or_default(),
        &finding.note.message,
    ];
    members.extend([
        ("kind", Json::string("fail")),
        ("level", level_of(finding.action)),
        (
            "message",
            text_of(&Visible::of_parts(format!(
                "{}.",
                change_text::finding(finding).trim_end_matches('.')
            ))),
        ),
        ("locations", Json::Array(vec![location(None, None)])),
        (
            "partialFingerprints",
            Json::object([(FINGERPRINT, Json::string(identity_of(&identity)))]),
        ),
    ]);
    Json::object(members)
}

/// The identity of something without an id.
pub(super) fn identity_of(parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| Json::string(*part)).collect();
    Digest::of(crate::canonical::to_canonical(&Json::Array(parts))).id()
}

/// Code scanning rejects a result without a location. A change without one is shown on the first
/// line of the baseline.
fn location(place: Option<&Place>, named: Option<Json>) -> Json {
    let fallback = Place {
        path: DEFAULT_PATH.into(),
        line: 1,
    };
    let mut members = physical(place.unwrap_or(&fallback));
    if let Some(named) = named {
        members.push(("logicalLocations", Json::Array(vec![named])));
    }
    Json::object(members)
}

fn named(component: &str, is_component: bool) -> Json {
    let kind = if is_component { "member" } else { "module" };
    Json::object([
        ("fullyQualifiedName", Json::string(component)),
        ("kind", Json::string(kind)),
    ])
}

fn physical(place: &Place) -> Vec<(&'static str, Json)> {
    let artifact = Json::object([("uri", Json::string(uri(&place.slashed())))]);
    let region = Json::object([("startLine", number(place.line))]);
    vec![(
        "physicalLocation",
        Json::object([("artifactLocation", artifact), ("region", region)]),
    )]
}

/// A path as a URI reference: everything that is not plainly part of a path is percent-encoded. A
/// first segment with a colon would read as a scheme.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    // An absolute path is a file.
    if out.starts_with('/') {
        format!("file://{out}")
    } else {
        out
    }
}

fn invocation(report: &Report) -> Json {
    let failures: Vec<Json> = report
        .servers
        .iter()
        .filter_map(|server| match &server.status {
            Status::Undetermined(failure) => Some(notification(server, failure)),
            _ => None,
        })
        .collect();
    let mut members = vec![("executionSuccessful", Json::Bool(failures.is_empty()))];
    if !failures.is_empty() {
        members.push(("toolExecutionNotifications", Json::Array(failures)));
    }
    Json::object(members)
}

fn notification(server: &ServerReport, failure: &Failure) -> Json {
    let text = format!(
        "{}: {}\n{}",
        escape::line(&server.no_capture()),
        escape::line(&failure.message),
        escape::block(&failure.help)
    );
    Json::object([
        ("level", Json::string("error")),
        ("message", text_of(&Visible::of_parts(text))),
    ])
}

fn number(count: usize) -> Json {
    Json::integer(i64::try_from(count).unwrap_or(i64::MAX))
}

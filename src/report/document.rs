//! The machine format, `--format json`: one struct that is written and read back, its schema
//! published in `docs/schema/report.schema.json`.
//!
//! The promise: nothing is lost and nothing is guessed. What was read is written again and
//! compared; an unknown member, a wrong count, an inconsistent verdict are errors. Values of a
//! server are in it as sent, including number literals and member order.

use serde::{Deserialize, Deserializer, Serialize};

use super::shard::{RunFinding, Shard};
use super::{
    Comparison, Cost, Failure, Finding, Located, Place, Report, ServerReport, Status, escape,
};
use crate::canonical::reader::MAX_VALUES;
use crate::canonical::{Json, parse_wrapped, to_pretty};
use crate::drift::Change;
use crate::drift::text_diff::Run;
use crate::judgement::{Exposure, Level, Proof};
use crate::policy::{Action, Decision, Judged, Verdict, VersionCheck};
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Note};

/// The only version of the format so far.
const REPORT_VERSION: u64 = 1;

/// The report as JSON, with a final newline.
pub fn to_json(report: &Report) -> String {
    // It cannot fail: every name is a string and every value is already JSON. An empty text would
    // be an obvious error.
    let text = Json::of(&ReportDocument::from(report)).map(|it| to_pretty(&it));
    escape::json(text.unwrap_or_default()) + "\n"
}

/// Reads a report that [`to_json`] wrote. A report of `pin` comes back without the files that were
/// written.
pub fn from_json(text: &str) -> Result<Report, ReadReportError> {
    from_json_within(text, &mut { MAX_VALUES })
}

/// [`from_json`] with what is left of a limit on the values of several reports.
pub fn from_json_within(text: &str, left: &mut usize) -> Result<Report, ReadReportError> {
    let read = parse_wrapped(text.as_bytes(), *left).map_err(ReadReportError::NotJson)?;
    let (document, values) = read;
    *left -= values;
    match document.get("reportVersion") {
        Some(Json::Number(number)) if number.literal() == REPORT_VERSION.to_string() => {}
        Some(other) => return Err(ReadReportError::Version(other.to_string())),
        None => return Err(shape("`reportVersion` is missing")),
    }
    let read: ReportDocument = serde_json::from_str(text).map_err(shape)?;
    let report = Report::try_from(read).map_err(shape)?;
    let written = to_json(&report);
    let written =
        parse_wrapped(written.as_bytes(), usize::MAX).map_err(ReadReportError::NotJson)?;
    if written.0.same_value(&document) {
        Ok(report)
    } else {
        Err(ReadReportError::Edited)
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadReportError {
    #[error("not JSON: {0}")]
    NotJson(crate::canonical::ReadError),
    #[error("`reportVersion` is {0}, but this mcp-keel supports {REPORT_VERSION}")]
    Version(String),
    #[error("not a report: {0}")]
    Shape(String),
    /// It can be parsed, but is not consistent.
    #[error("the report is inconsistent: it was edited, or written by another version")]
    Edited,
}

fn shape(problem: impl ToString) -> ReadReportError {
    ReadReportError::Shape(problem.to_string())
}

/// Version 1 of the format. The order of the members is the order in the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReportDocument {
    report_version: u64,
    comparison: ComparisonWord,
    verdict: Verdict,
    servers: Vec<ServerDocument>,
    findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Shard>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ComparisonWord {
    Check,
    Diff,
    Pin,
}

/// A [`ServerReport`] with what is counted from its changes, and without what the changes say already.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ServerDocument {
    name: String,
    status: StatusWord,
    error: Option<Failure>,
    counts: LevelCounts,
    exposure: ExposureCounts,
    version: VersionCheck,
    cost: Cost,
    components: usize,
    accept_with: String,
    #[serde(default, skip_serializing_if = "is_false")]
    third_party: bool,
    changes: Vec<Located>,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StatusWord {
    Clean,
    Drifted,
    New,
    Undetermined,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelCounts {
    breaking: usize,
    risky: usize,
    additive: usize,
    cosmetic: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExposureCounts {
    high: usize,
    medium: usize,
    low: usize,
}

/// A [`Located`] without its layers: what is the change's, the policy's and the place's stands side by side.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ChangeDocument {
    id: String,
    rule: String,
    /// `server` for what concerns the server as a whole.
    component: String,
    pointer: String,
    level: Level,
    exposure: Exposure,
    proof: Option<ProofDocument>,
    /// Null means missing, unless `oldIsNull` is set.
    old: Json,
    new: Json,
    message: String,
    action: Action,
    would_block: bool,
    location: Option<Place>,
    source: Option<Place>,
    #[serde(default, skip_serializing_if = "is_false")]
    old_is_null: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    new_is_null: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    words: Vec<(RunTag, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofDocument {
    kind: ProofKind,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    instance: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A member that is present, whatever its value: null is an instance too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProofKind {
    Witness,
    Subsumed,
    Undecided,
}

#[derive(Debug, Serialize, Deserialize)]
enum RunTag {
    #[serde(rename = "=")]
    Same,
    #[serde(rename = "-")]
    Removed,
    #[serde(rename = "+")]
    Added,
}

/// A [`Finding`] or a [`RunFinding`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FindingDocument {
    rule: String,
    component: Option<String>,
    message: String,
    action: Action,
    /// Only in `shard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unless: Option<String>,
}

impl From<&Report> for ReportDocument {
    fn from(report: &Report) -> Self {
        Self {
            report_version: REPORT_VERSION,
            comparison: match report.comparison {
                Comparison::Check => ComparisonWord::Check,
                Comparison::Diff => ComparisonWord::Diff,
                Comparison::Pin { .. } => ComparisonWord::Pin,
            },
            verdict: report.verdict,
            servers: report.servers.iter().map(Into::into).collect(),
            findings: report.findings.clone(),
            shard: report.shard.clone(),
        }
    }
}

impl TryFrom<ReportDocument> for Report {
    type Error = String;

    fn try_from(document: ReportDocument) -> Result<Self, String> {
        let comparison = match document.comparison {
            ComparisonWord::Check => Comparison::Check,
            ComparisonWord::Diff => Comparison::Diff,
            ComparisonWord::Pin => Comparison::Pin {
                written: Vec::new(),
            },
        };
        let servers = document.servers.into_iter().map(ServerReport::try_from);
        let servers = servers.collect::<Result<Vec<_>, _>>()?;
        let mut report = Report::new(comparison, servers, document.findings);
        report.shard = document.shard;
        Ok(report)
    }
}

impl From<&ServerReport> for ServerDocument {
    fn from(server: &ServerReport) -> Self {
        let (status, error) = match &server.status {
            Status::Clean => (StatusWord::Clean, None),
            Status::Drifted => (StatusWord::Drifted, None),
            Status::New => (StatusWord::New, None),
            Status::Undetermined(failure) => (StatusWord::Undetermined, Some(failure.clone())),
        };
        Self {
            name: server.name.clone(),
            status,
            error,
            counts: LevelCounts {
                breaking: server.count(Level::Breaking),
                risky: server.count(Level::Risky),
                additive: server.count(Level::Additive),
                cosmetic: server.count(Level::Cosmetic),
            },
            exposure: ExposureCounts {
                high: server.exposed(Exposure::High),
                medium: server.exposed(Exposure::Medium),
                low: server.exposed(Exposure::Low),
            },
            version: server.version.clone(),
            cost: server.cost.clone(),
            components: server.components,
            accept_with: server.accept_with.clone(),
            third_party: server.third_party,
            changes: server.changes.clone(),
            findings: server.findings.clone(),
        }
    }
}

impl TryFrom<ServerDocument> for ServerReport {
    type Error = String;

    fn try_from(document: ServerDocument) -> Result<Self, String> {
        Ok(Self {
            name: document.name,
            status: match (document.status, document.error) {
                (StatusWord::Clean, _) => Status::Clean,
                (StatusWord::Drifted, _) => Status::Drifted,
                (StatusWord::New, _) => Status::New,
                (StatusWord::Undetermined, Some(failure)) => Status::Undetermined(failure),
                (StatusWord::Undetermined, None) => return Err("`error` is missing".to_owned()),
            },
            changes: document.changes,
            findings: document.findings,
            version: document.version,
            cost: document.cost,
            definitions: Vec::new(),
            components: document.components,
            accept_with: document.accept_with,
            third_party: document.third_party,
            listed: Vec::new(),
        })
    }
}

impl From<Located> for ChangeDocument {
    fn from(located: Located) -> Self {
        let judged = located.judged;
        let change = judged.change;
        let key = change.component.as_deref().unwrap_or("server").to_owned();
        let words = change.words.into_iter();
        Self {
            id: judged.id,
            rule: change.rule.to_string(),
            component: key,
            pointer: change.pointer,
            level: change.level,
            exposure: change.exposure,
            proof: change.proof.map(Into::into),
            old_is_null: change.old == Some(Json::Null),
            new_is_null: change.new == Some(Json::Null),
            old: change.old.unwrap_or(Json::Null),
            new: change.new.unwrap_or(Json::Null),
            message: change.message,
            action: judged.action,
            would_block: judged.would_block,
            location: located.location,
            source: located.source,
            words: words
                .map(|run| match run {
                    Run::Same(text) => (RunTag::Same, text),
                    Run::Removed(text) => (RunTag::Removed, text),
                    Run::Added(text) => (RunTag::Added, text),
                })
                .collect(),
            decision: judged.decision,
        }
    }
}

impl TryFrom<ChangeDocument> for Located {
    type Error = String;

    fn try_from(document: ChangeDocument) -> Result<Self, String> {
        let value = |value: Json, is_null: bool| match value {
            Json::Null if !is_null => None,
            value => Some(value),
        };
        let words = document.words.into_iter();
        let change = Change {
            rule: rule(&document.rule)?,
            component: match document.component.as_str() {
                "server" => None,
                key => Some(component(key)?),
            },
            pointer: document.pointer,
            level: document.level,
            exposure: document.exposure,
            proof: document.proof.map(Proof::try_from).transpose()?,
            old: value(document.old, document.old_is_null),
            new: value(document.new, document.new_is_null),
            message: document.message,
            words: words
                .map(|(tag, text)| match tag {
                    RunTag::Same => Run::Same(text),
                    RunTag::Removed => Run::Removed(text),
                    RunTag::Added => Run::Added(text),
                })
                .collect(),
        };
        Ok(Self {
            judged: Judged {
                change,
                id: document.id,
                action: document.action,
                would_block: document.would_block,
                decision: document.decision,
            },
            location: document.location,
            source: document.source,
        })
    }
}

fn rule(id: &str) -> Result<RuleId, String> {
    id.parse().map_err(|_| format!("unknown rule `{id}`"))
}

fn component(key: &str) -> Result<ComponentKey, String> {
    key.parse()
        .map_err(|_| format!("`{key}` is not a component key"))
}

/// A component's key as one text.
pub(super) mod key {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::surface::ComponentKey;

    pub(crate) fn serialize<S: Serializer>(key: &ComponentKey, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(key)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<ComponentKey, D::Error> {
        let text = String::deserialize(from)?;
        super::component(&text).map_err(serde::de::Error::custom)
    }
}

impl From<Proof> for ProofDocument {
    fn from(proof: Proof) -> Self {
        let (kind, instance, reason) = match proof {
            Proof::Witness(instance) => (ProofKind::Witness, Some(instance), None),
            Proof::Subsumed => (ProofKind::Subsumed, None, None),
            Proof::Undecided(reason) => (ProofKind::Undecided, None, Some(reason)),
        };
        Self {
            kind,
            instance,
            reason,
        }
    }
}

impl TryFrom<ProofDocument> for Proof {
    type Error = String;

    fn try_from(document: ProofDocument) -> Result<Self, String> {
        match document.kind {
            ProofKind::Witness => {
                let instance = document.instance.map(Proof::Witness);
                instance.ok_or_else(|| "`instance` is missing".to_owned())
            }
            ProofKind::Subsumed => Ok(Proof::Subsumed),
            ProofKind::Undecided => {
                let reason = document.reason.map(Proof::Undecided);
                reason.ok_or_else(|| "`reason` is missing".to_owned())
            }
        }
    }
}

impl From<Finding> for FindingDocument {
    fn from(finding: Finding) -> Self {
        Self {
            rule: finding.note.rule.to_string(),
            component: finding.note.component.as_deref().map(str::to_owned),
            message: finding.note.message,
            action: finding.action,
            unless: None,
        }
    }
}

impl TryFrom<FindingDocument> for Finding {
    type Error = String;

    fn try_from(document: FindingDocument) -> Result<Self, String> {
        Ok(Self {
            note: Note {
                rule: rule(&document.rule)?,
                component: document.component.as_deref().map(component).transpose()?,
                message: document.message,
            },
            action: document.action,
        })
    }
}

impl From<RunFinding> for FindingDocument {
    fn from(of_run: RunFinding) -> Self {
        Self {
            unless: of_run.void_if_change,
            ..Self::from(of_run.finding)
        }
    }
}

impl TryFrom<FindingDocument> for RunFinding {
    type Error = String;

    fn try_from(mut document: FindingDocument) -> Result<Self, String> {
        Ok(Self {
            void_if_change: document.unless.take(),
            finding: Finding::try_from(document)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::canonical::{parse_str, to_compact};

    fn report(old: &str, new: &str, witness: &str) -> Report {
        let value = |text: &str| parse_str(text).unwrap();
        let change = Change {
            rule: rule("tool-removed").unwrap(),
            component: Some(component("tool:a@").unwrap()),
            pointer: String::new(),
            level: Level::Breaking,
            exposure: Exposure::None,
            proof: Some(Proof::Witness(value(witness))),
            old: Some(value(old)),
            new: Some(value(new)),
            message: "gone\u{202e}".to_owned(),
            words: vec![Run::Same("a".to_owned()), Run::Added("b".to_owned())],
        };
        let mut server = ServerReport::undetermined(
            "x",
            Failure {
                stderr: "\u{1b}[2J".to_owned(),
                ..Failure::new("m".to_owned(), String::new())
            },
        );
        server.changes.push(Located {
            judged: Judged {
                change,
                id: "0123456789abcdef0123456789abcdef".to_owned(),
                action: Action::Block,
                would_block: true,
                decision: Some(Decision::Accepted {
                    reason: "known\u{202e}".to_owned(),
                    owner: "@a".to_owned(),
                    until: "2027-01-31".parse().ok(),
                }),
            },
            location: Some(Place {
                path: PathBuf::from("a/b.json"),
                line: 3,
            }),
            source: None,
        });
        Report::new(Comparison::Diff, vec![server], Vec::new())
    }

    #[test]
    fn a_servers_values_read_back_as_sent() {
        for (old, new, witness) in [
            (
                r#"{"b":1.0,"a":[1e400,-0,9007199254740993],"a":null}"#,
                r#"["\ud800","a\u0000"]"#,
                "1E+2",
            ),
            ("null", "null", "null"),
        ] {
            let written = to_json(&report(old, new, witness));
            let read = from_json(&written).unwrap();
            assert_eq!(to_json(&read), written);
            let change = &read.servers[0].changes[0].judged.change;
            assert_eq!(to_compact(change.old.as_ref().unwrap()), old);
            assert_eq!(to_compact(change.new.as_ref().unwrap()), new);
            let expected = Proof::Witness(parse_str(witness).unwrap());
            assert_eq!(change.proof, Some(expected));
        }
    }

    #[test]
    fn an_invalid_report_is_rejected_with_the_reason() {
        let written = to_json(&report("1", "2", "3"));
        for (from, to, problem) in [
            (
                "\"reportVersion\": 1",
                "\"reportVersion\": 2",
                "`reportVersion` is 2, but this mcp-keel supports 1",
            ),
            ("\"reportVersion\": 1,", "", "`reportVersion` is missing"),
            (
                "\"comparison\": \"diff\",",
                "",
                "missing field `comparison`",
            ),
            (
                "\"comparison\"",
                "\"extra\": 1, \"comparison\"",
                "unknown field `extra`",
            ),
            (
                "\"level\": \"breaking\"",
                "\"level\": \"fatal\"",
                "unknown variant `fatal`",
            ),
            (
                "\"tool-removed\"",
                "\"tool-eaten\"",
                "unknown rule `tool-eaten`",
            ),
            (
                "\"breaking\": 1",
                "\"breaking\": 2",
                "the report is inconsistent",
            ),
            (
                "\"verdict\": \"undetermined\"",
                "\"verdict\": \"pass\"",
                "the report is inconsistent",
            ),
            ("\"line\": 3", "\"line\": -3", "not a report"),
        ] {
            assert!(written.contains(from), "{from}");
            let error = from_json(&written.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(problem), "{to}: {error}");
        }
    }
}

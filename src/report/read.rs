//! Our own JSON report, read back into the value that it was written from.
//!
//! The promise: nothing is lost and nothing is guessed. What was read is written again and must mean what the file
//! says; a member too many, a count that does not fit, a verdict that does not follow are errors.

use std::path::PathBuf;
use std::str::FromStr;

use super::shard::{RunFinding, Shard};
use super::{
    Comparison, Cost, Failure, Finding, Located, Place, Report, ServerReport, Status, to_json,
};
use crate::canonical::{Json, parse_wrapped};
use crate::drift::Change;
use crate::drift::text_diff::Run;
use crate::judgement::Proof;
use crate::policy::{Judged, VersionCheck};
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Note};

/// A report that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadReportError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    NotJson(crate::canonical::ReadError),
    /// Of another version of the format.
    #[error("`reportVersion` is {0}, and this mcp-keel knows 1")]
    Version(String),
    /// Not what a report has there.
    #[error("not a report: {0}")]
    Shape(String),
    /// It reads, and does not say what such a report says.
    #[error("the report is not as it was written")]
    Edited,
}

type Read<T> = Result<T, ReadReportError>;

/// Reads a report that [`to_json`] wrote. A report of `pin` comes back without the files that were written.
pub fn from_json(text: &str) -> Read<Report> {
    let document = parse_wrapped(text.as_bytes()).map_err(ReadReportError::NotJson)?;
    match document.get("reportVersion") {
        Some(Json::Number(number)) if number.literal() == "1" => {}
        Some(other) => return Err(ReadReportError::Version(other.to_string())),
        None => return Err(shape("there is no `reportVersion`")),
    }
    let comparison = match string(&document, "comparison")?.as_str() {
        "check" => Comparison::Check,
        "diff" => Comparison::Diff,
        "pin" => Comparison::Pin {
            written: Vec::new(),
        },
        other => return Err(shape(format!("`comparison` is `{other}`"))),
    };
    let servers = list(&document, "servers", server)?;
    let findings = list(&document, "findings", finding)?;
    let mut report = Report::new(comparison, servers, findings);
    report.shard = document.get("shard").map(shard).transpose()?;
    let written = parse_wrapped(to_json(&report).as_bytes()).map_err(ReadReportError::NotJson)?;
    if written.same_value(&document) {
        Ok(report)
    } else {
        Err(ReadReportError::Edited)
    }
}

fn shape(problem: impl Into<String>) -> ReadReportError {
    ReadReportError::Shape(problem.into())
}

fn member<'a>(json: &'a Json, name: &str) -> Read<&'a Json> {
    json.get(name)
        .ok_or_else(|| shape(format!("`{name}` is missing")))
}

fn string(json: &Json, name: &str) -> Read<String> {
    let text = member(json, name)?.as_text();
    text.map(|text| text.to_string_lossy().to_owned())
        .ok_or_else(|| shape(format!("`{name}` is not a string")))
}

fn optional(json: &Json, name: &str) -> Read<Option<String>> {
    match member(json, name)? {
        Json::Null => Ok(None),
        _ => string(json, name).map(Some),
    }
}

fn number(json: &Json, name: &str) -> Read<usize> {
    match member(json, name)? {
        Json::Number(number) => number.literal().parse().ok(),
        _ => None,
    }
    .ok_or_else(|| shape(format!("`{name}` is not a count")))
}

fn boolean(json: &Json, name: &str) -> Read<bool> {
    let value = member(json, name)?.as_bool();
    value.ok_or_else(|| shape(format!("`{name}` is not true or false")))
}

/// One of the words that every format uses.
fn word<T: FromStr>(json: &Json, name: &str) -> Read<T> {
    let text = string(json, name)?;
    text.parse()
        .map_err(|_| shape(format!("`{name}` is `{text}`")))
}

fn list<T>(json: &Json, name: &str, read: impl Fn(&Json) -> Read<T>) -> Read<Vec<T>> {
    let items = member(json, name)?.as_array();
    let items = items.ok_or_else(|| shape(format!("`{name}` is not an array")))?;
    items.iter().map(read).collect()
}

fn rule(json: &Json) -> Read<RuleId> {
    let id = string(json, "rule")?;
    id.parse()
        .map_err(|_| shape(format!("this mcp-keel does not know the rule `{id}`")))
}

fn component(key: &str) -> Read<ComponentKey> {
    key.parse()
        .map_err(|_| shape(format!("`{key}` is not the key of a component")))
}

fn server(json: &Json) -> Read<ServerReport> {
    let version = member(json, "version")?;
    let (baseline, current) = (
        optional(version, "baseline")?,
        optional(version, "current")?,
    );
    let cost = member(json, "cost")?;
    let error = member(json, "error")?;
    Ok(ServerReport {
        name: string(json, "name")?,
        status: match string(json, "status")?.as_str() {
            "clean" => Status::Clean,
            "drifted" => Status::Drifted,
            "new" => Status::New,
            "undetermined" => Status::Undetermined(Failure {
                message: string(error, "message")?,
                help: string(error, "help")?,
                stderr: string(error, "stderr")?,
            }),
            other => return Err(shape(format!("`status` is `{other}`"))),
        },
        changes: list(json, "changes", change)?,
        findings: list(json, "findings", finding)?,
        version: VersionCheck {
            moved: crate::policy::direction(baseline.as_deref(), current.as_deref()),
            baseline,
            current,
            required: word(version, "required")?,
            ok: boolean(version, "ok")?,
        },
        cost: Cost {
            baseline: number(cost, "baselineTokens")?,
            current: number(cost, "currentTokens")?,
        },
        components: number(json, "components")?,
        accept_with: string(json, "acceptWith")?,
    })
}

fn change(json: &Json) -> Read<Located> {
    // Null says that nothing is there, unless it says that null is.
    let value = |name: &str, is_null: &str| -> Read<Option<Json>> {
        match member(json, name)? {
            Json::Null if json.get(is_null).is_none() => Ok(None),
            value => Ok(Some(value.clone())),
        }
    };
    let component = match string(json, "component")?.as_str() {
        "server" => None,
        key => Some(component(key)?),
    };
    let change = Change {
        rule: rule(json)?,
        component,
        pointer: string(json, "pointer")?,
        level: word(json, "level")?,
        exposure: word(json, "exposure")?,
        proof: match member(json, "proof")? {
            Json::Null => None,
            found => Some(proof(found)?),
        },
        old: value("old", "oldIsNull")?,
        new: value("new", "newIsNull")?,
        message: string(json, "message")?,
        words: match json.get("words") {
            Some(_) => list(json, "words", run)?,
            None => Vec::new(),
        },
    };
    Ok(Located {
        judged: Judged {
            change,
            id: string(json, "id")?,
            action: word(json, "action")?,
            would_block: boolean(json, "wouldBlock")?,
        },
        location: place(member(json, "location")?)?,
        source: place(member(json, "source")?)?,
    })
}

fn place(json: &Json) -> Read<Option<Place>> {
    if *json == Json::Null {
        return Ok(None);
    }
    Ok(Some(Place {
        path: PathBuf::from(string(json, "path")?),
        line: number(json, "line")?,
    }))
}

fn proof(json: &Json) -> Read<Proof> {
    match string(json, "kind")?.as_str() {
        "witness" => Ok(Proof::Witness(member(json, "instance")?.clone())),
        "subsumed" => Ok(Proof::Subsumed),
        "undecided" => Ok(Proof::Undecided(string(json, "reason")?)),
        other => Err(shape(format!("`kind` is `{other}`"))),
    }
}

fn run(json: &Json) -> Read<Run> {
    let text = |at: usize| {
        let item = json.as_array().and_then(|items| items.get(at));
        let text = item.and_then(Json::as_text);
        text.map(|text| text.to_string_lossy().to_owned())
            .ok_or_else(|| shape("`words` holds something else"))
    };
    match text(0)?.as_str() {
        "=" => text(1).map(Run::Same),
        "-" => text(1).map(Run::Removed),
        "+" => text(1).map(Run::Added),
        _ => Err(shape("`words` holds something else")),
    }
}

fn finding(json: &Json) -> Read<Finding> {
    Ok(Finding {
        note: Note {
            rule: rule(json)?,
            component: optional(json, "component")?
                .map(|key| component(&key))
                .transpose()?,
            message: string(json, "message")?,
        },
        action: word(json, "action")?,
    })
}

fn shard(json: &Json) -> Read<Shard> {
    let name = |json: &Json| {
        let text = json.as_text();
        text.map(|text| text.to_string_lossy().to_owned())
            .ok_or_else(|| shape("`servers` of `shard` holds something else"))
    };
    Ok(Shard {
        index: number(json, "index")?,
        of: number(json, "of")?,
        servers: list(json, "servers", name)?,
        terms: string(json, "terms")?,
        findings: list(json, "findings", |json| {
            Ok(RunFinding {
                finding: finding(json)?,
                void_if_change: match json.get("unless") {
                    Some(_) => Some(string(json, "unless")?),
                    None => None,
                },
            })
        })?,
    })
}

//! The machine format, `--format json`: versioned, its schema published in `docs/schema/report.schema.json`.

use super::{
    Failure, Finding, Located, Place, Report, RunFinding, ServerReport, Shard, Status, escape,
};
use crate::canonical::{Json, to_pretty};
use crate::drift::text_diff::Run;
use crate::judgement::{Exposure, Level, Proof};

/// The report as JSON, with a final newline. Values of a server stand in it as sent; JSON's own escapes make them safe.
pub fn to_json(report: &Report) -> String {
    let mut members = vec![
        ("reportVersion", Json::integer(1)),
        ("comparison", Json::string(report.comparison.word())),
        ("verdict", Json::string(report.verdict.word())),
        (
            "servers",
            Json::Array(report.servers.iter().map(server).collect()),
        ),
        (
            "findings",
            Json::Array(report.findings.iter().map(finding).collect()),
        ),
    ];
    if let Some(part) = &report.shard {
        members.push(("shard", shard(part)));
    }
    escape::json(to_pretty(&Json::object(members))) + "\n"
}

fn shard(shard: &Shard) -> Json {
    let finding = |it: &RunFinding| {
        let mut json = finding(&it.finding);
        if let (Json::Object(object), Some(id)) = (&mut json, &it.void_if_change) {
            object.push("unless", Json::string(id.as_str()));
        }
        json
    };
    let servers = shard.servers.iter();
    Json::object([
        ("index", number(shard.index)),
        ("of", number(shard.of)),
        (
            "servers",
            Json::Array(servers.map(|name| Json::string(name.as_str())).collect()),
        ),
        ("terms", Json::string(shard.terms.as_str())),
        (
            "findings",
            Json::Array(shard.findings.iter().map(finding).collect()),
        ),
    ])
}

fn server(server: &ServerReport) -> Json {
    let count = |level| (Level::word(level), number(server.count(level)));
    let exposed = |exposure| (Exposure::word(exposure), number(server.exposed(exposure)));
    let error = match &server.status {
        Status::Undetermined(failure) => error(failure),
        _ => Json::Null,
    };
    let version = &server.version;
    Json::object([
        ("name", Json::string(server.name.as_str())),
        ("status", Json::string(server.status.word())),
        ("error", error),
        (
            "counts",
            Json::object(
                [
                    Level::Breaking,
                    Level::Risky,
                    Level::Additive,
                    Level::Cosmetic,
                ]
                .map(count),
            ),
        ),
        (
            "exposure",
            Json::object([Exposure::High, Exposure::Medium, Exposure::Low].map(exposed)),
        ),
        (
            "version",
            Json::object([
                ("baseline", optional(version.baseline.as_deref())),
                ("current", optional(version.current.as_deref())),
                ("required", Json::string(version.required.word())),
                ("ok", Json::Bool(version.ok)),
            ]),
        ),
        (
            "cost",
            Json::object([
                ("baselineTokens", number(server.cost.baseline)),
                ("currentTokens", number(server.cost.current)),
            ]),
        ),
        ("components", number(server.components)),
        ("acceptWith", Json::string(server.accept_with.as_str())),
        (
            "changes",
            Json::Array(server.changes.iter().map(change).collect()),
        ),
        (
            "findings",
            Json::Array(server.findings.iter().map(finding).collect()),
        ),
    ])
}

fn error(failure: &Failure) -> Json {
    Json::object([
        ("message", Json::string(failure.message.as_str())),
        ("help", Json::string(failure.help.as_str())),
        ("stderr", Json::string(failure.stderr.as_str())),
    ])
}

fn change(located: &Located) -> Json {
    let change = &located.judged.change;
    let place = |place: &Option<Place>| {
        place.as_ref().map_or(Json::Null, |place| {
            Json::object([
                ("path", Json::string(place.slashed())),
                ("line", number(place.line)),
            ])
        })
    };
    let mut members = vec![
        ("id", Json::string(located.judged.id.as_str())),
        ("rule", Json::string(change.rule)),
        (
            "component",
            Json::string(change.component.as_deref().unwrap_or("server")),
        ),
        ("pointer", Json::string(change.pointer.as_str())),
        ("level", Json::string(change.level.word())),
        ("exposure", Json::string(change.exposure.word())),
        ("proof", change.proof.as_ref().map_or(Json::Null, proof)),
        ("old", change.old.clone().unwrap_or(Json::Null)),
        ("new", change.new.clone().unwrap_or(Json::Null)),
        ("message", Json::string(change.message.as_str())),
        ("action", Json::string(located.judged.action.word())),
        ("wouldBlock", Json::Bool(located.judged.would_block)),
        ("location", place(&located.location)),
        ("source", place(&located.source)),
    ];
    for (name, value) in [("oldIsNull", &change.old), ("newIsNull", &change.new)] {
        if *value == Some(Json::Null) {
            members.push((name, Json::Bool(true)));
        }
    }
    if !change.words.is_empty() {
        members.push(("words", Json::Array(change.words.iter().map(run).collect())));
    }
    Json::object(members)
}

fn proof(proof: &Proof) -> Json {
    let kind = |kind| ("kind", Json::string(kind));
    match proof {
        Proof::Witness(instance) => Json::object([kind("witness"), ("instance", instance.clone())]),
        Proof::Subsumed => Json::object([kind("subsumed")]),
        Proof::Undecided(reason) => {
            Json::object([kind("undecided"), ("reason", Json::string(reason.as_str()))])
        }
    }
}

fn run(run: &Run) -> Json {
    let (tag, text) = match run {
        Run::Same(text) => ("=", text),
        Run::Removed(text) => ("-", text),
        Run::Added(text) => ("+", text),
    };
    Json::Array(vec![Json::string(tag), Json::string(text.as_str())])
}

fn finding(finding: &Finding) -> Json {
    Json::object([
        ("rule", Json::string(finding.note.rule)),
        ("component", optional(finding.note.component.as_deref())),
        ("message", Json::string(finding.note.message.as_str())),
        ("action", Json::string(finding.action.word())),
    ])
}

fn optional(text: Option<&str>) -> Json {
    text.map_or(Json::Null, Json::string)
}

fn number(count: usize) -> Json {
    Json::integer(i64::try_from(count).unwrap_or(i64::MAX))
}

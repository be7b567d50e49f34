//! `mcp-keel verify`: the bytes of servers and how they are launched, without starting anything.

use super::args::{TextOrJson, VerifyArgs};
use super::output::{self, Color, Notes};
use crate::canonical::Json;
use crate::policy::{Action, Policy, verdict};
use crate::report::{Finding, escape};
use crate::run::judge_server::finding;
use crate::run::plan::{Target, resolve};
use crate::run::request::ServerRequest;
use crate::run::{Error, Exit};
use crate::verify::jp::{Verified, VerifyError};

struct Outcome<'a> {
    target: &'a Target,
    bytes: Result<Option<Verified>, VerifyError>,
    findings: Vec<Finding>,
}

pub(super) fn run(args: &VerifyArgs) -> Result<Exit, Error> {
    if let Some(lock) = &args.lock {
        return super::verify_lock::run(lock, args);
    }
    let plan = resolve(&ServerRequest::new(&args.flags.given), None, &Notes)?;
    plan.all_set()?;
    let targets = plan.targets.iter();
    let outcomes: Vec<Outcome<'_>> = targets.map(|target| verify(target, &plan.policy)).collect();
    let text = match args.format {
        TextOrJson::Terminal => terminal(&outcomes),
        TextOrJson::Json => {
            let servers = outcomes.iter().map(json).collect();
            output::json(&Json::object([("servers", Json::Array(servers))]))
        }
    };
    output::print(&text)?;
    // Wrong bytes are certain, so they come before the policy's findings.
    if outcomes.iter().any(|outcome| outcome.bytes.is_err()) {
        return Ok(Exit::Verification);
    }
    let actions = outcomes
        .iter()
        .flat_map(|outcome| &outcome.findings)
        .map(|it| it.action);
    Ok(verdict(actions).into())
}

fn verify<'a>(target: &'a Target, policy: &Policy) -> Outcome<'a> {
    Outcome {
        target,
        bytes: target.verify_bytes(),
        findings: target
            .notes()
            .into_iter()
            .map(|note| finding(policy, note))
            .collect(),
    }
}

impl Outcome<'_> {
    fn status(&self) -> &'static str {
        match (&self.bytes, &self.target.verify) {
            _ if self.target.is_skipped() => "skipped",
            (Ok(Some(_)), _) => "ok",
            (Ok(None), Some(_)) => "considered",
            (Ok(None), None) => "unstated",
            (Err(VerifyError::Mismatch { .. }), _) => "mismatch",
            (Err(_), _) => "missing",
        }
    }
}

fn terminal(outcomes: &[Outcome<'_>]) -> String {
    let mut lines = Vec::new();
    for outcome in outcomes {
        let name = escape::line(&outcome.target.name);
        lines.push(match &outcome.bytes {
            Ok(Some(Verified { path, got })) => {
                let algorithm = outcome
                    .target
                    .verify
                    .as_ref()
                    .and_then(|it| it.expected())
                    .map(|it| it.algorithm);
                let algorithm = algorithm.unwrap_or_default();
                format!(
                    "ok        {name}: {} is {algorithm} {got}",
                    escape::line(&path.to_string_lossy())
                )
            }
            Ok(None) if outcome.target.verify.is_some() => {
                format!("none      {name}: considered, not verified")
            }
            Ok(None) if outcome.target.is_skipped() => {
                lines.push(format!("skipped   {name}: not verified"));
                continue;
            }
            Ok(None) => format!("unstated  {name}: no verify block"),
            Err(error) => {
                format!(
                    "FAILED    {name}: {}\n          help: {}",
                    escape::block(&error.to_string()),
                    error.help()
                )
            }
        });
        for finding in &outcome.findings {
            let word = match finding.action {
                Action::Audit => "note",
                action => action.word(),
            };
            let note = &finding.note;
            lines.push(format!(
                "          {word}: {} ({})",
                escape::line(&note.message),
                note.rule
            ));
        }
    }
    wrapped(&lines)
}

/// Lines wrapped for a terminal, those of a server indented below its name.
fn wrapped(lines: &[String]) -> String {
    let width = output::style(Color::Never).width;
    let options = textwrap::Options::new(width)
        .subsequent_indent("          ")
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    lines
        .iter()
        .map(|line| textwrap::fill(line, &options) + "\n")
        .collect()
}

fn json(outcome: &Outcome<'_>) -> Json {
    let verify = outcome.target.verify.as_ref();
    let expected = verify.and_then(|it| it.expected());
    let path = |path: &std::path::Path| Json::string(path.to_string_lossy().replace('\\', "/"));
    let (found, got, error) = match &outcome.bytes {
        Ok(Some(verified)) => (
            path(&verified.path),
            Json::string(verified.got.as_str()),
            Json::Null,
        ),
        Ok(None) => (Json::Null, Json::Null, Json::Null),
        Err(error) => {
            let (found, got) = match error {
                VerifyError::Mismatch { path: at, got, .. } => {
                    (path(at), Json::string(got.as_str()))
                }
                VerifyError::Unreadable { path: at, .. } => (path(at), Json::Null),
                _ => (Json::Null, Json::Null),
            };
            (found, got, Json::string(error.to_string()))
        }
    };
    let findings = outcome.findings.iter().map(|finding| {
        Json::object([
            ("rule", Json::string(finding.note.rule)),
            ("message", Json::string(finding.note.message.as_str())),
            ("action", Json::string(finding.action.word())),
        ])
    });
    Json::object([
        ("name", Json::string(outcome.target.name.as_str())),
        ("status", Json::string(outcome.status())),
        (
            "type",
            verify.map_or(Json::Null, |it| Json::string(it.kind().word())),
        ),
        ("path", found),
        (
            "algorithm",
            expected.map_or(Json::Null, |it| Json::string(it.algorithm.word())),
        ),
        (
            "expected",
            expected.map_or(Json::Null, |it| Json::string(it.value.as_str())),
        ),
        ("got", got),
        ("error", error),
        ("findings", Json::Array(findings.collect())),
    ])
}

//! The commands that read sources: `diff`, `fingerprint` and `scan`.

use std::collections::BTreeMap;

use super::args::{
    DiffArgs, FingerprintArgs, FingerprintFormat, ScanArgs, ScanProfile, TextOrJson,
};
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::baseline::signature;
use crate::canonical::{Json, Object, Text};
use crate::fingerprint::keel::{SCHEME, fingerprints, surface_digest};
use crate::interop::{Profile, toolpin};
use crate::policy::Policy;
use crate::report::{Comparison, Report, escape};
use crate::run::plan::today;
use crate::run::request::{PolicyRequest, SandboxRequest};
use crate::run::{Error, Exit, sources};
use crate::scan::{Severity, keel};
use crate::source::Dialect;
use crate::surface::Surface;

/// `mcp-keel diff OLD NEW`: two sources, no server needed.
pub(super) async fn diff(args: DiffArgs) -> Result<Exit, Error> {
    if args.old == "-" && args.new == "-" {
        return Err(Error::usage(
            "both sources are standard input",
            "name a file for one of them",
        ));
    }
    let sandbox = SandboxRequest::new(&args.flags.given);
    let read = async |name: &str| {
        let progress = Progress::start(false);
        sources::read(name, Dialect::Json, &sandbox, &progress).await
    };
    let old = sources::only(read(&args.old).await?, args.server.as_deref(), &args.old)?;
    let new = sources::only(read(&args.new).await?, args.server.as_deref(), &args.new)?;
    let mut policy = Policy::default();
    PolicyRequest::new(&args.flags.given).apply(&mut policy);
    let report = Report::new(
        Comparison::Diff,
        sources::compare(&old, &new, &policy, today()),
        Vec::new(),
    );
    output::deliver(&report, &Delivery::new(&args.flags.given))?;
    Ok(report.verdict.into())
}

/// `mcp-keel fingerprint`: a digest manifest `{key: hex}`, or a row for each component.
pub(super) async fn fingerprint(args: FingerprintArgs) -> Result<Exit, Error> {
    if !args.fields.is_empty() && !args.profile.takes_fields() {
        return Err(Error::usage(
            "--fields is only for --profile fastmcp",
            format!("the {} profile has fixed fields", args.profile),
        ));
    }
    let dialect = if args.profile.is_python {
        Dialect::Python
    } else {
        Dialect::Json
    };
    let surfaces = sources::read(
        &args.source,
        dialect,
        &SandboxRequest::new(&args.flags.given),
        &Progress::start(false),
    )
    .await?;
    let surface = sources::one(surfaces, args.server.as_deref(), &args.source)?;
    let digests = args
        .profile
        .manifest(&surface, &args.fields)
        .map_err(|refusal| {
            Error::usage(
                format!("{}: {refusal}", args.source),
                format!("the {} profile has no digest for such a tool", args.profile),
            )
        })?;
    let document = match args.format {
        FingerprintFormat::Manifest => Json::Object(digests.into_iter().map(member).collect()),
        FingerprintFormat::Json => rows(&surface, args.profile, digests),
    };
    output::print(&output::json(&document))?;
    Ok(Exit::Pass)
}

fn member((key, hex): (String, String)) -> (Text, Json) {
    (Text::from(key), Json::string(hex))
}

/// A row for each component: its fingerprint, and what another tool prints for it.
fn rows(surface: &Surface, profile: Profile, digests: Vec<(String, String)>) -> Json {
    let whole = surface_digest(surface).tagged();
    let mut digests: BTreeMap<String, String> = digests.into_iter().collect();
    let mut rows = Vec::new();
    for (key, fingerprint) in fingerprints(surface) {
        let mut row = Object::new();
        row.push("component", Json::string(key.as_str()));
        if let Some(component) = surface.component(&key) {
            row.push("signature", Json::string(signature(component)));
        }
        row.push("fingerprint", Json::string(fingerprint.tagged()));
        let digest = digests.remove(&key);
        if let Some(digest) = digest.filter(|_| profile.name != "keel") {
            row.push(profile.name, Json::string(digest));
        }
        rows.push(Json::Object(row));
    }
    let mut document = Object::new();
    document.push("scheme", Json::string(SCHEME));
    document.push("surface", Json::string(whole));
    // What a profile prints about the list as a whole.
    if profile.name != "keel-surface" && !digests.is_empty() {
        let of_the_list = digests.into_iter().map(member).collect();
        document.push(profile.name, Json::Object(of_the_list));
    }
    document.push("components", Json::Array(rows));
    Json::Object(document)
}

struct Line {
    code: &'static str,
    severity: Severity,
    subject: String,
    message: String,
}

/// `mcp-keel scan`: text that a reviewer should see before a model does. Advice: it always exits
/// with 0.
pub(super) async fn scan(args: ScanArgs) -> Result<Exit, Error> {
    let surfaces = sources::read(
        &args.source,
        Dialect::Json,
        &SandboxRequest::new(&args.flags.given),
        &Progress::start(false),
    )
    .await?;
    let surface = sources::one(surfaces, args.server.as_deref(), &args.source)?;
    let lines: Vec<Line> = match args.profile {
        ScanProfile::Keel => keel::scan(&surface)
            .into_iter()
            .map(|finding| Line {
                code: finding.rule.id(),
                severity: finding.severity,
                subject: finding.subject(),
                message: finding.message,
            })
            .collect(),
        ScanProfile::ToolPin => toolpin::scan::scan(&surface)
            .into_iter()
            .map(|finding| Line {
                code: finding.code,
                severity: finding.severity,
                subject: finding.subject,
                message: finding.message,
            })
            .collect(),
    };
    output::print(&match args.format {
        TextOrJson::Json => json(&lines),
        TextOrJson::Terminal => terminal(&lines, surface.components.len()),
    })?;
    Ok(Exit::Pass)
}

fn json(lines: &[Line]) -> String {
    let findings = lines
        .iter()
        .map(|line| {
            Json::object([
                ("code", Json::string(line.code)),
                ("severity", Json::string(line.severity.word())),
                ("subject", Json::string(line.subject.as_str())),
                ("message", Json::string(line.message.as_str())),
            ])
        })
        .collect();
    output::json(&Json::object([("findings", Json::Array(findings))]))
}

fn terminal(lines: &[Line], components: usize) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!(
            "{:7} {}  {}\n        {}\n",
            line.severity.word(),
            line.code,
            escape::short(&line.subject, 200),
            escape::short(&line.message, 400)
        ));
    }
    let found = match lines.len() {
        0 => "nothing noticed".to_owned(),
        1 => "1 finding".to_owned(),
        many => format!("{many} findings"),
    };
    text + &format!(
        "{found} in {components} components. Advice, not a verdict: finding nothing proves nothing.\n"
    )
}

//! The commands that read sources: `diff`, `fingerprint` and `scan`.

use super::args::{DiffArgs, FingerprintArgs, JsonOnly, ScanArgs, ScanProfile, TextOrJson};
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::canonical::{Json, Object, Text};
use crate::interop::toolpin;
use crate::policy::Policy;
use crate::report::{Comparison, Report, escape};
use crate::run::plan::today;
use crate::run::request::{PolicyRequest, SandboxRequest};
use crate::run::{Error, Exit, sources};
use crate::scan::{Severity, keel};
use crate::source::Dialect;

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

/// `mcp-keel fingerprint`: a digest manifest `{key: hex}`.
pub(super) async fn fingerprint(args: FingerprintArgs) -> Result<Exit, Error> {
    let JsonOnly::Json = args.format;
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
    let object: Object = digests
        .into_iter()
        .map(|(key, hex)| (Text::from(key), Json::string(hex)))
        .collect();
    output::print(&output::json(&Json::Object(object)))?;
    Ok(Exit::Pass)
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

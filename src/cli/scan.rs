//! `mcp-keel scan`: what a person should read before a model does. Advice: it exits with 0 whatever it finds.

use super::args::{ScanArgs, ScanProfile, TextOrJson};
use super::output;
use super::progress::Progress;
use crate::canonical::Json;
use crate::interop::toolpin;
use crate::report::escape;
use crate::run::request::SandboxRequest;
use crate::run::{Error, Exit, sources};
use crate::scan::{Severity, keel};
use crate::source::Dialect;

/// A finding of either profile.
struct Line {
    code: &'static str,
    severity: Severity,
    subject: String,
    message: String,
}

pub(super) async fn run(args: ScanArgs) -> Result<Exit, Error> {
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
        "{found} in {components} components. Advice, not a verdict: what was not noticed was not cleared.\n"
    )
}

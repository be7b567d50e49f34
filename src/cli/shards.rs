//! `mcp-keel plan` and `mcp-keel merge`: the parts of a run, listed and merged.

use super::args::{MergeArgs, PlanArgs, PlanFormat};
use super::output::{self, Delivery, Notes};
use crate::report::escape;
use crate::run::plan::resolve;
use crate::run::request::ServerRequest;
use crate::run::shards::{PlannedPart, merged, planned_parts};
use crate::run::{Error, Exit};
use crate::settings::TIMINGS;

/// `mcp-keel plan`: which part checks which servers. Nothing is started.
pub(super) fn plan(args: &PlanArgs) -> Result<Exit, Error> {
    let plan = resolve(&ServerRequest::new(&args.flags.given), None, &Notes)?;
    let parts = planned_parts(
        &plan,
        args.shards,
        args.flags.given.path(TIMINGS).as_deref(),
    )?;
    let label = |it: &PlannedPart| format!("{}/{}", it.part.index, it.part.of);
    let text = match args.format {
        PlanFormat::Terminal => parts
            .iter()
            .map(|it| {
                let time = it
                    .seconds
                    .map_or(String::new(), |it| format!(" (about {it} s)"));
                let names: Vec<String> = it
                    .servers
                    .iter()
                    .map(|it| escape::line(it).to_string())
                    .collect();
                format!("{}{time}: {}\n", label(it), names.join(", "))
            })
            .collect(),
        PlanFormat::GithubMatrix => {
            let include: Vec<_> = parts
                .iter()
                .map(|it| serde_json::json!({"shard": label(it), "servers": it.servers.join(" ")}))
                .collect();
            // One line: a workflow puts it into an output.
            serde_json::json!({ "include": include }).to_string() + "\n"
        }
        PlanFormat::Json => {
            let shards: Vec<_> = parts
                .iter()
                .map(|it| {
                    serde_json::json!({
                        "shard": label(it),
                        "servers": it.servers,
                        "seconds": it.seconds,
                    })
                })
                .collect();
            let document = serde_json::json!({"planVersion": 1, "shards": shards});
            serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
        }
    };
    output::print(&text)?;
    Ok(Exit::Pass)
}

/// `mcp-keel merge`: merges the parts of a run into one report.
pub(super) fn merge(args: &MergeArgs) -> Result<Exit, Error> {
    let report = merged(&args.reports)?;
    output::deliver(&report, &Delivery::new(&args.flags.given))?;
    Ok(report.verdict.into())
}

//! `mcp-keel check`: boot, capture, compare, report, exit.

use std::sync::Arc;

use super::args::CheckArgs;
use super::output;
use super::progress::Progress;
use crate::run::check;
use crate::run::{Error, Exit, shards};

pub(super) async fn run(args: CheckArgs) -> Result<Exit, Error> {
    let progress = Arc::new(Progress::start(args.report.quiet));
    let examined = check::check(&args.request(), progress).await?;
    if let Some(path) = &args.shard.record_timings {
        shards::record(path, &examined.took)?;
    }
    output::deliver(&examined.report, &args.report)?;
    Ok(examined.report.verdict.into())
}

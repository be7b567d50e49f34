//! `mcp-keel check`: boot, capture, compare, report, exit.

use std::sync::Arc;

use super::output::{self, Delivery};
use super::progress::Progress;
use crate::run::check::{CheckRequest, check};
use crate::run::{Error, Exit, shards};
use crate::settings::{Given, RECORD_TIMINGS};

pub(super) async fn run(given: &Given) -> Result<Exit, Error> {
    let delivery = Delivery::new(given);
    let progress = Arc::new(Progress::start(delivery.quiet));
    let examined = check(&CheckRequest::new(given), progress).await?;
    if let Some(path) = given.path(RECORD_TIMINGS) {
        shards::record(&path, &examined.took)?;
    }
    output::deliver(&examined.report, &delivery)?;
    Ok(examined.report.verdict.into())
}

//! `mcp-keel pin`: capture and write the baseline, and say what was accepted by that.

use std::sync::Arc;

use super::output::{self, Delivery};
use super::progress::Progress;
use crate::run::pin::{PinRequest, pin};
use crate::run::{Error, Exit};
use crate::settings::Given;

pub(super) async fn run(given: &Given) -> Result<Exit, Error> {
    let delivery = Delivery::new(given);
    let progress = Arc::new(Progress::start(delivery.quiet));
    let request = PinRequest::new(given, delivery.lock);
    let outcome = pin(request, progress).await?;
    if !outcome.report.servers.is_empty() {
        output::deliver(&outcome.report, &delivery)?;
    }
    worst(outcome.failed)
}

/// The worst of what failed, whatever the order; the rest of it is printed before.
fn worst(mut failed: Vec<Error>) -> Result<Exit, Error> {
    failed.sort_by_key(|error| error.exit().code());
    let Some(last) = failed.pop() else {
        return Ok(Exit::Pass);
    };
    for error in failed {
        output::complain(&error.to_string());
    }
    Err(last)
}

//! `mcp-keel pin`: capture and write the baseline, and say what was accepted by that.

use std::sync::Arc;

use super::args::PinArgs;
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::run::pin::{PinRequest, pin};
use crate::run::sign_lock::SignRequest;
use crate::run::{Error, Exit};

pub(super) async fn run(args: PinArgs) -> Result<Exit, Error> {
    let given = &args.flags.given;
    let delivery = Delivery::new(given);
    let progress = Arc::new(Progress::start(delivery.quiet));
    let sign = SignRequest {
        key: args.sign_key,
        signature: args.signature,
        policy: args.toolpin_policy,
    };
    let request = PinRequest::new(given, delivery.lock, sign);
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

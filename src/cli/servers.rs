//! The commands that boot servers: `check`, `pin` and `capture`.

use std::sync::Arc;

use super::args::{CaptureArgs, PinArgs};
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::run::check::CheckRequest;
use crate::run::pin::PinRequest;
use crate::run::plan::plan;
use crate::run::repeat::{self, Purpose};
use crate::run::request::ServerRequest;
use crate::run::sign_lock::SignRequest;
use crate::run::{self, Error, Exit, shards};
use crate::settings::{Given, RECORD_TIMINGS};
use crate::source::capture_document;

/// `mcp-keel check`: boot, capture, compare, report, exit.
pub(super) async fn check(given: &Given) -> Result<Exit, Error> {
    let delivery = Delivery::new(given);
    let progress = Arc::new(Progress::start(delivery.quiet));
    let examined = run::check::check(&CheckRequest::new(given), progress).await?;
    if let Some(path) = given.path(RECORD_TIMINGS) {
        shards::record(&path, &examined.took)?;
    }
    output::deliver(&examined.report, &delivery)?;
    Ok(examined.report.verdict.into())
}

/// `mcp-keel pin`: capture, write the baseline, and report what was accepted.
pub(super) async fn pin(args: PinArgs) -> Result<Exit, Error> {
    let given = &args.flags.given;
    let delivery = Delivery::new(given);
    let progress = Arc::new(Progress::start(delivery.quiet));
    let sign = SignRequest {
        key: args.sign_key,
        signature: args.signature,
        policy: args.toolpin_policy,
    };
    let request = PinRequest::new(given, delivery.lock, sign);
    let outcome = run::pin::pin(request, progress).await?;
    if !outcome.report.servers.is_empty() {
        output::deliver(&outcome.report, &delivery)?;
    }
    worst(outcome.failed)
}

/// The worst failure, whatever the order; the others are printed before.
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

/// `mcp-keel capture`: what a server lists, exactly as sent.
pub(super) async fn capture(args: CaptureArgs) -> Result<Exit, Error> {
    let progress = Progress::start(args.quiet);
    let plan = plan(&ServerRequest::new(&args.flags.given), None, &progress)?;
    let [target] = &plan.targets[..] else {
        let names: Vec<&str> = plan
            .targets
            .iter()
            .map(|target| target.name.as_str())
            .collect();
        return Err(Error::usage(
            format!("capture takes one server, and there are {}", names.len()),
            format!("name one of them: {}", names.join(", ")),
        ));
    };
    let observed = repeat::require(target, None, &plan.policy, Purpose::Print, &progress).await;
    drop(progress);
    let captured = observed?.captured;
    let text = output::json(&capture_document(&target.name, &captured));
    match &args.output {
        Some(path) => output::write_file(path, &text)?,
        None => output::print(&text)?,
    }
    Ok(Exit::Pass)
}

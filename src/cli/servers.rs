//! The commands that boot servers: `check`, `pin` and `capture`.

use std::sync::Arc;

use super::args::{CaptureArgs, PinArgs};
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::report::{Format, escape, listing};
use crate::run::check::CheckRequest;
use crate::run::pin::PinRequest;
use crate::run::plan::plan;
use crate::run::repeat::{self, Purpose};
use crate::run::request::ServerRequest;
use crate::run::sign_lock::SignRequest;
use crate::run::{self, Error, Exit, save, shards, sources};
use crate::sentences::pin as sentences;
use crate::settings::{self, Given, RECORD_TIMINGS};
use crate::source::capture_document;

/// `mcp-keel check`: boot, capture, compare, report, exit.
pub(super) async fn check(given: &Given) -> Result<Exit, Error> {
    let delivery = Delivery::new(given);
    let progress = Arc::new(Progress::start(delivery.quiet));
    let mut request = CheckRequest::new(given);
    sources::take_capture(&mut request.server, &*progress).await?;
    let examined = run::check::check(&request, progress).await?;
    let recorded = match given.path(RECORD_TIMINGS) {
        Some(path) => shards::record(&path, &examined.took),
        None => Ok(()),
    };
    recorded.and_then(|()| output::deliver(&examined.report, &delivery))?;
    examined.judged_by.are_unchanged()?;
    Ok(examined.report.verdict.into())
}

/// `mcp-keel pin`: capture, write the baseline, and report what was accepted.
pub(super) async fn pin(mut args: PinArgs) -> Result<Exit, Error> {
    let sign = SignRequest {
        key: args.sign_key.take(),
        signature: args.signature.take(),
        policy: args.toolpin_policy.take(),
    };
    let given = &args.flags.given;
    let delivery = Delivery::new(given);
    let progress = Arc::new(Progress::start(delivery.quiet));
    let is_typed = given.has(settings::COMMAND) || given.has(settings::URL);
    if args.save && !is_typed {
        return Err(Error::usage(
            "--save needs a command or an address",
            "pass the command after `--`, or the address with --url",
        ));
    }
    let mut request = PinRequest {
        force: args.force,
        prune: args.prune,
        yes: args.yes,
        ..PinRequest::new(given, delivery.lock, sign)
    };
    sources::take_capture(&mut request.server, &*progress).await?;
    let outcome = run::pin::pin(request, progress).await?;
    let report = &outcome.report;
    if !report.servers.is_empty() || !outcome.pruned.is_empty() {
        output::deliver(report, &delivery)?;
        if delivery.format == Format::Terminal && !delivery.quiet {
            for (name, surface) in &outcome.new {
                let name = escape::line(name);
                output::print(&format!("\n{name}\n{}", listing(surface)))?;
            }
            if !outcome.pruned.is_empty() {
                output::print(&(sentences::pruned(&outcome.pruned) + "\n"))?;
            }
        }
    }
    if let ([server], true) = (&report.servers[..], is_typed && !delivery.lock) {
        remember(given, &server.name, &args, &delivery)?;
    }
    let pinned = report.servers.len();
    if pinned > 0 && !outcome.failed.is_empty() {
        let all = pinned + outcome.failed.len();
        output::complain(&sentences::some_pinned(pinned, all));
    }
    worst(outcome.failed.into_iter().map(|(_, error)| error).collect())
}

/// Writes what was typed into the configuration, if asked to; on a terminal it is offered.
fn remember(given: &Given, name: &str, args: &PinArgs, delivery: &Delivery) -> Result<(), Error> {
    if save::is_known(given, name) {
        return Ok(());
    }
    let is_offered = !delivery.quiet && delivery.format == Format::Terminal;
    let wanted = args.save
        || (is_offered && !args.yes && output::asks(sentences::offer_to_save())? == Some(true));
    if wanted {
        let (path, notes) = save::save(given, name)?;
        for note in notes {
            output::complain(&format!("note: {}", escape::line(&note)));
        }
        if is_offered {
            output::print(&(sentences::saved(&path.display().to_string()) + "\n"))?;
        }
    } else if is_offered {
        output::print(&(sentences::not_saved().to_owned() + "\n"))?;
    }
    Ok(())
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
    let targets: Vec<_> = plan.targets.iter().filter(|it| !it.is_skipped()).collect();
    let [target] = &targets[..] else {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
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

//! `mcp-keel pin`: capture and write the baseline, and say what was accepted by that.

use std::path::Path;

use super::compared::Compared;
use super::plan::{Target, plan, today};
use super::progress::Progress;
use super::repeat::{self, Purpose};
use super::{Error, Exit, Format, PinArgs, output, pin_pins};
use crate::baseline::{Pinned, render, server_entry, store, with_launch};
use crate::policy::{Enforcement, Policy};
use crate::release::Release;
use crate::report::{Comparison, Report, ServerReport};
use crate::surface::Surface;

pub(super) async fn run(mut args: PinArgs) -> Result<Exit, Error> {
    let lock = args.report.format == Format::ToolPin;
    if lock && args.server.baseline.is_none() {
        args.server.baseline = Some(pin_pins::LOCK.into());
    }
    let plan = plan(&args.server, None)?;
    if pin_pins::is_foreign(&plan, lock)? {
        return pin_pins::run(&args, &plan).await;
    }
    let progress = Progress::start(args.report.quiet);
    let mut servers = Vec::new();
    let mut written = Vec::new();
    let mut failed = Vec::new();
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        match pin(target, &path, &plan.policy, &progress).await {
            Ok((server, changed)) => {
                servers.push(server);
                if changed && !written.contains(&path) {
                    written.push(path);
                }
            }
            // A server that fails does not keep the others from being pinned; its entry stays as it was.
            Err(error) => failed.push(error),
        }
    }
    drop(progress);
    let report = Report::new(Comparison::Pin { written }, servers, Vec::new());
    if !report.servers.is_empty() {
        output::deliver(&report, &args.report)?;
    }
    // The exit code is that of the worst, whatever the order.
    failed.sort_by_key(|error| error.exit().code());
    let mut failed = failed.into_iter();
    let Some(last) = failed.next_back() else {
        return Ok(Exit::Pass);
    };
    for error in failed {
        output::complain(&error.to_string());
    }
    Err(last)
}

async fn pin(
    target: &Target,
    path: &Path,
    policy: &Policy,
    progress: &Progress,
) -> Result<(ServerReport, bool), Error> {
    let manifest = store::read_for_update(path, Some(&target.name))?;
    let pinned = manifest
        .as_ref()
        .and_then(|manifest| manifest.servers().get(&target.name));
    // The version may come from another source now; pinning is when that is recorded.
    let release = target.release(None)?;
    let before = pinned.map(|pinned| &pinned.surface);
    let observed = repeat::require(target, before, policy, Purpose::Pin, progress).await?;
    let surface = &observed.captured.surface;
    let release = release.unwrap_or_else(|| Release::of_server(surface));
    let entry = with_launch(server_entry(surface, &release), &target.launched);
    let text = match &manifest {
        Some(manifest) => manifest.with_server(&target.name, entry),
        None => render(&[(target.name.clone(), entry)].into()),
    };
    let changed = store::write(path, &text)?;
    Ok((report(target, pinned, surface, &release), changed))
}

fn report(
    target: &Target,
    pinned: Option<&Pinned>,
    surface: &Surface,
    release: &Release,
) -> ServerReport {
    // What is pinned is accepted: it is told, and nothing fails.
    let policy = Policy {
        enforcement: Enforcement::Audit,
        ..Policy::default()
    };
    let notes = target.notes(pinned);
    let compared = Compared {
        name: &target.name,
        old: pinned.map(|pinned| (&pinned.surface, &pinned.release)),
        new: Some((surface, release)),
        manifest: None,
        accept_with: &target.pin_command,
        notes: &notes,
    };
    compared.report(&policy, today())
}

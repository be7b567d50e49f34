//! `mcp-keel demo`: the real pipeline on a server that is part of this program, with the baseline of its first edition.

use std::path::Path;

use super::args::{DemoArgs, Edition};
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::baseline::Manifest;
use crate::capture::Endpoint;
use crate::demo;
use crate::launch::LaunchSpec;
use crate::policy::Policy;
use crate::release::Release;
use crate::report::{Comparison, Format, Report};
use crate::run::boot::{LiveServer, boot, not_captured, recorded};
use crate::run::judge_server::SurfacePair;
use crate::run::observer::Observer;
use crate::run::plan::today;
use crate::run::{Error, Exit};

pub(super) async fn run(args: DemoArgs) -> Result<Exit, Error> {
    if let Some(edition) = args.serve {
        return serve(edition);
    }
    let program = std::env::current_exe().map_err(|error| {
        Error::usage(
            format!("cannot locate the mcp-keel executable: {error}"),
            "run it by its full path",
        )
    })?;
    let program = program.to_string_lossy().into_owned();
    let command = [&program, "demo", "--serve", "drifted"].map(str::to_owned);
    let delivery = Delivery::new(&args.flags.given);
    let progress = Progress::start(delivery.quiet);
    let report = check_demo(command.into(), &progress).await;
    drop(progress);
    let report = report?;
    if delivery.format == Format::Terminal && !delivery.quiet {
        output::print(demo::INTRODUCTION)?;
    }
    output::deliver(&report, &delivery)?;
    if delivery.format == Format::Terminal && !delivery.quiet {
        output::print(demo::CLOSING)?;
    }
    Ok(Exit::Pass)
}

const SERVER: &str = "weather";

/// Boots the server with this command and compares it with its baseline.
async fn check_demo(command: Vec<String>, observer: &dyn Observer) -> Result<Report, Error> {
    let manifest = Manifest::parse(Path::new("mcp-baseline.json"), demo::BASELINE.to_owned())?;
    let pinned = manifest.servers().get(SERVER);
    let surface = pinned.map(|pinned| &pinned.surface);
    let endpoint = Endpoint::Stdio(LaunchSpec {
        command,
        ..LaunchSpec::default()
    });
    let server = LiveServer {
        client: surface.map(|it| it.client.clone()).unwrap_or_default(),
        recorded: recorded(surface),
        ..LiveServer::new(SERVER, &endpoint)
    };
    let captured = boot(&server, observer)
        .await
        .map_err(|failure| not_captured(SERVER, &endpoint, failure))?;
    let release = Release::of_server(&captured.surface);
    let compared = SurfacePair {
        name: SERVER,
        old: pinned.map(|pinned| (&pinned.surface, &pinned.release)),
        new: Some((&captured.surface, &release)),
        manifest: Some(&manifest),
        accept_with: "mcp-keel pin weather",
        servers: 1,
        notes: &[],
    };
    let server = compared.judge_server(&Policy::default(), today());
    Ok(Report::new(Comparison::Check, vec![server], Vec::new()))
}

fn serve(edition: Edition) -> Result<Exit, Error> {
    let drifted = edition == Edition::Drifted;
    demo::serve(drifted)
        .map_err(|problem| Error::usage(format!("the demo server stopped: {problem}"), ""))?;
    Ok(Exit::Pass)
}

//! `mcp-keel demo`: the real pipeline on a server that is part of this program.

use std::path::Path;

use super::args::{DemoArgs, Edition, Format};
use super::output;
use super::progress::Progress;
use crate::baseline::Manifest;
use crate::capture::{Endpoint, Eras, Limits};
use crate::demo;
use crate::launch::LaunchSpec;
use crate::policy::Policy;
use crate::release::Release;
use crate::report::{Comparison, Report};
use crate::run::judge_server::Compared;
use crate::run::plan::today;
use crate::run::{Error, Exit, boot};

const SERVER: &str = "weather";

pub(super) async fn run(args: DemoArgs) -> Result<Exit, Error> {
    if let Some(edition) = args.serve {
        return serve(edition).await;
    }
    let manifest = Manifest::parse(Path::new("mcp-baseline.json"), demo::BASELINE.to_owned())?;
    let program = std::env::current_exe().map_err(|error| {
        Error::usage(
            format!("cannot find this program itself: {error}"),
            "run it by its full path",
        )
    })?;
    let launch = LaunchSpec {
        command: vec![
            program.to_string_lossy().into_owned(),
            "demo".into(),
            "--serve".into(),
            "drifted".into(),
        ],
        cwd: None,
        env: Default::default(),
        pass_env: Default::default(),
        sandbox: Default::default(),
    };
    let pinned = manifest.servers().get(SERVER);
    let client = pinned
        .map(|pinned| pinned.surface.client.clone())
        .unwrap_or_default();
    let progress = Progress::start(args.report.quiet);
    let endpoint = Endpoint::Stdio(launch);
    let eras = (
        Eras::Auto,
        boot::recorded(pinned.map(|pinned| &pinned.surface)),
    );
    let limits = Limits::default();
    let captured = boot::boot((SERVER, &[]), &endpoint, &client, eras, &limits, &progress).await;
    drop(progress);
    let captured = captured.map_err(|failure| boot::not_captured(SERVER, failure))?;
    let release = Release::of_server(&captured.surface);
    let compared = Compared {
        name: SERVER,
        old: pinned.map(|pinned| (&pinned.surface, &pinned.release)),
        new: Some((&captured.surface, &release)),
        manifest: Some(&manifest),
        accept_with: "mcp-keel pin weather",
        notes: &[],
    };
    let report = Report::new(
        Comparison::Check,
        vec![compared.judge_server(&Policy::default(), today())],
        Vec::new(),
    );
    if args.report.format == Format::Terminal && !args.report.quiet {
        output::print(demo::INTRODUCTION)?;
    }
    output::deliver(&report, &args.report)?;
    if args.report.format == Format::Terminal && !args.report.quiet {
        output::print(demo::CLOSING)?;
    }
    Ok(Exit::Pass)
}

async fn serve(edition: Edition) -> Result<Exit, Error> {
    let drifted = edition == Edition::Drifted;
    demo::serve(drifted)
        .await
        .map_err(|problem| Error::usage(format!("the demo server stopped: {problem}"), ""))?;
    Ok(Exit::Pass)
}

//! `mcp-keel demo`: the real pipeline on a server that is part of this program.

use super::args::{DemoArgs, Edition};
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::demo;
use crate::report::Format;
use crate::run::demo::check_demo;
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

fn serve(edition: Edition) -> Result<Exit, Error> {
    let drifted = edition == Edition::Drifted;
    demo::serve(drifted)
        .map_err(|problem| Error::usage(format!("the demo server stopped: {problem}"), ""))?;
    Ok(Exit::Pass)
}

//! `mcp-keel capture`: what a server says, exactly as it says it.

use super::args::CaptureArgs;
use super::output;
use super::progress::Progress;
use crate::run::plan::plan;
use crate::run::repeat::{self, Purpose};
use crate::run::request::ServerRequest;
use crate::run::{Error, Exit};
use crate::source::capture_document;

pub(super) async fn run(args: CaptureArgs) -> Result<Exit, Error> {
    let progress = Progress::start(args.quiet);
    let plan = plan(&ServerRequest::new(&args.flags.given), None, &progress)?;
    let [target] = &plan.targets[..] else {
        let names: Vec<&str> = plan
            .targets
            .iter()
            .map(|target| target.name.as_str())
            .collect();
        return Err(Error::usage(
            format!("a capture is of one server, and there are {}", names.len()),
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

//! `mcp-keel capture`: what a server says, exactly as it says it.

use super::plan::plan;
use super::progress::Progress;
use super::repeat::{self, Purpose};
use super::{CaptureArgs, Error, Exit, output};
use crate::source::capture_document;

pub(super) async fn run(args: CaptureArgs) -> Result<Exit, Error> {
    let plan = plan(&args.server, None)?;
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
    let progress = Progress::start(args.quiet);
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

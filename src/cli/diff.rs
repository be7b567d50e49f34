//! `mcp-keel diff OLD NEW`: two sources, no server needed.

use super::args::DiffArgs;
use super::output::{self, Delivery};
use super::progress::Progress;
use crate::policy::Policy;
use crate::report::{Comparison, Report};
use crate::run::plan::today;
use crate::run::request::{PolicyRequest, SandboxRequest};
use crate::run::{Error, Exit, sources};
use crate::source::Dialect;

pub(super) async fn run(args: DiffArgs) -> Result<Exit, Error> {
    if args.old == "-" && args.new == "-" {
        return Err(Error::usage(
            "both sources are standard input",
            "name a file for one of them",
        ));
    }
    let sandbox = SandboxRequest::new(&args.flags.given);
    let read = async |name: &str| {
        let progress = Progress::start(false);
        sources::read(name, Dialect::Json, &sandbox, &progress).await
    };
    let old = sources::only(read(&args.old).await?, args.server.as_deref(), &args.old)?;
    let new = sources::only(read(&args.new).await?, args.server.as_deref(), &args.new)?;
    let mut policy = Policy::default();
    PolicyRequest::new(&args.flags.given).apply(&mut policy);
    let report = Report::new(
        Comparison::Diff,
        sources::compare(&old, &new, &policy, today()),
        Vec::new(),
    );
    output::deliver(&report, &Delivery::new(&args.flags.given))?;
    Ok(report.verdict.into())
}

//! `mcp-keel diff OLD NEW`: two sources, no server needed.

use std::collections::BTreeSet;

use super::args::DiffArgs;
use super::output;
use super::progress::Progress;
use crate::policy::Policy;
use crate::release::Release;
use crate::report::{Comparison, Report, ServerReport};
use crate::run::judge_server::Compared;
use crate::run::plan::today;
use crate::run::{Error, Exit, sources};
use crate::source::{Dialect, Surfaces};
use crate::surface::Surface;

pub(super) async fn run(args: DiffArgs) -> Result<Exit, Error> {
    if args.old == "-" && args.new == "-" {
        return Err(Error::usage(
            "both sources are standard input",
            "name a file for one of them",
        ));
    }
    let sandbox = args.sandbox.request();
    let read = async |name: &str| {
        let progress = Progress::start(false);
        sources::read(name, Dialect::Json, &sandbox, &progress).await
    };
    let old = sources::only(read(&args.old).await?, args.server.as_deref(), &args.old)?;
    let new = sources::only(read(&args.new).await?, args.server.as_deref(), &args.new)?;
    let mut policy = Policy::default();
    args.policy.request().apply(&mut policy);
    let report = Report::new(Comparison::Diff, compare(&old, &new, &policy), Vec::new());
    output::deliver(&report, &args.report)?;
    Ok(report.verdict.into())
}

/// Server by server; two sources of one server each are compared whatever the servers are called.
fn compare(old: &Surfaces, new: &Surfaces, policy: &Policy) -> Vec<ServerReport> {
    let one = |name: &str, old: Option<&Surface>, new: Option<&Surface>| {
        let releases = [old, new].map(|surface| surface.map(Release::of_server));
        let (old, new) = (old.zip(releases[0].as_ref()), new.zip(releases[1].as_ref()));
        let compared = Compared {
            name,
            old,
            new,
            manifest: None,
            accept_with: "",
            notes: &[],
        };
        compared.judge_server(policy, today())
    };
    if let (1, 1, Some((name, new))) = (old.len(), new.len(), new.iter().next()) {
        return vec![one(name, old.values().next(), Some(new))];
    }
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names
        .into_iter()
        .map(|name| one(name, old.get(name), new.get(name)))
        .collect()
}

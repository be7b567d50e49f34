//! `mcp-keel diff OLD NEW`: two sources, no server needed.

use std::collections::BTreeSet;

use super::check::exit;
use super::compared::Compared;
use super::plan::{apply, today};
use super::{DiffArgs, Error, Exit, output, sources};
use crate::policy::Policy;
use crate::release::Release;
use crate::report::{Comparison, Report, ServerReport};
use crate::source::{Dialect, Surfaces};
use crate::surface::Surface;

pub(super) async fn run(args: DiffArgs) -> Result<Exit, Error> {
    if args.old == "-" && args.new == "-" {
        return Err(Error::usage(
            "both sources are standard input",
            "name a file for one of them",
        ));
    }
    let old = sources::only(
        sources::read(&args.old, Dialect::Json, &args.sandbox).await?,
        args.server.as_deref(),
        &args.old,
    )?;
    let new = sources::only(
        sources::read(&args.new, Dialect::Json, &args.sandbox).await?,
        args.server.as_deref(),
        &args.new,
    )?;
    let mut policy = Policy::default();
    apply(&mut policy, &args.policy);
    let report = Report::new(Comparison::Diff, compare(&old, &new, &policy), Vec::new());
    output::deliver(&report, &args.report)?;
    Ok(exit(report.verdict))
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
        compared.report(policy, today())
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

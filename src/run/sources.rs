//! Reads sources by name, including live ones, and compares two of them.

use std::collections::BTreeSet;

use super::Error;
use super::boot::{LiveServer, boot, not_captured};
use super::judge_server::SurfacePair;
use super::observer::Observer;
use super::request::SandboxRequest;

use crate::capture::{Endpoint, HttpSpec};
use crate::launch::LaunchSpec;
use crate::policy::{Date, Policy};
use crate::release::Release;
use crate::report::ServerReport;
use crate::source::{Dialect, Source, Surfaces};
use crate::surface::Surface;

/// The surfaces of a source as typed.
pub(crate) async fn read(
    name: &str,
    dialect: Dialect,
    sandbox: &SandboxRequest,
    observer: &dyn Observer,
) -> Result<Surfaces, Error> {
    let source = Source::parse(name).map_err(|problem| {
        Error::usage(problem, "`mcp-keel diff --help` lists what a source can be")
    })?;
    let endpoint = match &source {
        Source::Stdio(command) => Endpoint::Stdio(LaunchSpec {
            command: command.clone(),
            may_widen: true,
            sandbox: sandbox.with(None, false),
            ..LaunchSpec::default()
        }),
        Source::Http(address) => Endpoint::Http(Box::new(HttpSpec::of(address.clone()))),
        _ => return Ok(source.surfaces(dialect)?),
    };
    let name = source.name();
    let captured = boot(&LiveServer::new(&name, &endpoint), observer)
        .await
        .map_err(|failure| not_captured(&name, &endpoint, failure))?;
    Ok([("default".to_owned(), captured.surface)].into())
}

/// The surfaces of the requested server, or all of them.
pub(crate) fn only(
    surfaces: Surfaces,
    server: Option<&str>,
    what: &str,
) -> Result<Surfaces, Error> {
    let Some(name) = server else {
        return Ok(surfaces);
    };
    let known: Vec<String> = surfaces.keys().cloned().collect();
    let found: Surfaces = surfaces.into_iter().filter(|(it, _)| it == name).collect();
    if found.is_empty() {
        return Err(Error::usage(
            format!("{what} has no server `{name}`"),
            format!("it has: {}", known.join(", ")),
        ));
    }
    Ok(found)
}

/// The surface of the requested server, or of the only one.
pub(crate) fn one(surfaces: Surfaces, server: Option<&str>, what: &str) -> Result<Surface, Error> {
    let mut found = only(surfaces, server, what)?;
    if found.len() > 1 {
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        return Err(Error::usage(
            format!("{what} contains {} servers", found.len()),
            format!("choose one with --server: {}", names.join(", ")),
        ));
    }
    found
        .pop_first()
        .map(|(_, surface)| surface)
        .ok_or_else(|| {
            Error::usage(
                format!("{what} contains no server"),
                "pin one first: `mcp-keel pin`",
            )
        })
}

/// Server by server; two sources with one server each are compared regardless of the servers'
/// names.
pub(crate) fn compare(
    old: &Surfaces,
    new: &Surfaces,
    policy: &Policy,
    today: Date,
) -> Vec<ServerReport> {
    let servers = old.len().max(new.len());
    let one = |name: &str, old: Option<&Surface>, new: Option<&Surface>| {
        let releases = [old, new].map(|surface| surface.map(Release::of_server));
        let (old, new) = (old.zip(releases[0].as_ref()), new.zip(releases[1].as_ref()));
        let compared = SurfacePair {
            name,
            old,
            new,
            manifest: None,
            accept_with: "",
            servers,
            notes: &[],
        };
        compared.judge_server(policy, today)
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

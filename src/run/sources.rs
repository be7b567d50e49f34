//! Reads sources by name, including live ones, and compares two of them.

use std::collections::BTreeSet;

use super::boot::{LiveServer, boot, not_captured};
use super::judge_server::SurfacePair;
use super::observer::Observer;
use super::request::{SandboxRequest, ServerRequest};
use super::{Error, secrets};

use crate::capture::{Endpoint, HttpSpec};
use crate::launch::LaunchSpec;
use crate::policy::{Date, Policy};
use crate::release::Release;
use crate::report::ServerReport;
use crate::settings;
use crate::source::{Dialect, Loaded, Source, Surfaces};
use crate::surface::Surface;

/// The surfaces of a source as typed.
pub(crate) async fn read(
    name: &str,
    dialect: Dialect,
    sandbox: &SandboxRequest,
    observer: &dyn Observer,
) -> Result<Surfaces, Error> {
    Ok(load(name, dialect, sandbox, observer).await?.servers)
}

/// Reads what `--capture` names: what a server lists, in place of starting it.
pub(crate) async fn take_capture(
    request: &mut ServerRequest,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let Some(name) = request.given.text(settings::CAPTURE) else {
        return Ok(());
    };
    let loaded = load(&name, Dialect::Json, &request.sandbox, observer).await?;
    let mut sources = loaded.servers;
    let secrets = secrets::known();
    for surface in sources.values_mut() {
        // As of a server that was started: what is known to be a secret is in no report and no baseline.
        surface.redact(&secrets);
    }
    request.capture = Some(sources);
    Ok(())
}

/// A source as typed, with what its format is and what is lost.
pub(crate) async fn load(
    name: &str,
    dialect: Dialect,
    sandbox: &SandboxRequest,
    observer: &dyn Observer,
) -> Result<Loaded, Error> {
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
        _ => return Ok(source.load(dialect)?),
    };
    let name = source.name();
    let captured = boot(&LiveServer::new(&name, &endpoint), observer)
        .await
        .map_err(|failure| not_captured(&name, &endpoint, failure))?;
    Ok(Loaded {
        format: "a server".to_owned(),
        servers: [("default".to_owned(), captured.surface)].into(),
        ..Loaded::default()
    })
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

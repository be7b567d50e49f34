//! The whole pipeline on a server that is part of this program, with the baseline of its first
//! edition.

use std::path::Path;

use super::Error;
use super::boot::{LiveServer, boot, not_captured, recorded};
use super::judge_server::SurfacePair;
use super::observer::Observer;
use super::plan::today;
use crate::baseline::Manifest;
use crate::capture::Endpoint;
use crate::demo;
use crate::launch::LaunchSpec;
use crate::policy::Policy;
use crate::release::Release;
use crate::report::{Comparison, Report};

const SERVER: &str = "weather";

/// Boots the server with this command and compares it with its baseline.
pub(crate) async fn check_demo(
    command: Vec<String>,
    observer: &dyn Observer,
) -> Result<Report, Error> {
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

//! Servers over HTTP: Streamable HTTP since 2025-03-26, and HTTP+SSE of 2024-11-05.
//!
//! A URL becomes a pair of pipes ([`pipe`]), and everything above them is shared with stdio: the
//! raw answers, the eras, the listing, the bounds. This room promises in addition:
//!
//! - **Headers go to one origin**: redirects and endpoints elsewhere are refused.
//! - **The environment is ignored** unless requested: no proxy, no `.netrc`.
//! - **A started server** is the one that answers: if something already listens at its address,
//!   there is no verdict.

mod client;
mod error;
mod message;
mod pipe;
mod published;
mod spec;
pub mod sse;
mod stream;

use std::sync::Arc;

use client::Client;
use pipe::Pipe;

use super::inbox::Inbox;
use super::opening::Opening;
use super::wire::Wire;
use super::{CaptureError, CaptureFailure, Captured, Limits, Stage, converse, ended, finished};
use crate::launch::{Launched, launch};
use crate::surface::{self, ClientProfile, ComponentKey, Kind, NoteKind};
use exact_json::Json;

pub use client::certificates;
pub use error::HttpError;
pub use spec::{
    Headers, HttpAddress, HttpSpec, HttpTransport, Proxy, SpecError, Template, header_line,
};

/// Captures the contract of a server over HTTP, which is started before and ended afterwards if
/// `spec` has a command.
pub(super) async fn capture_http(
    spec: &HttpSpec,
    client: &ClientProfile,
    opening: Opening,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Captured, CaptureFailure> {
    progress(Stage::Starting);
    let http = Client::new(spec, client, limits.start)
        .map_err(|error| CaptureFailure::before(error.into()))?;
    let mut server = match start(spec, &http).await {
        Ok(server) => server,
        Err(error) => return Err(CaptureFailure::before(error)),
    };

    let inbox = Arc::new(Inbox::default());
    let (pipe, near) = Pipe::open(Arc::clone(&http), spec, Arc::clone(&inbox), limits);
    let (reader, writer) = tokio::io::split(near);
    let (wire, sender) = Wire::new(reader, writer, client, opening, Arc::clone(&inbox), limits);
    let conversation = converse(wire, &inbox, client, opening, limits, progress);
    let mut left = None;
    let gone = async {
        match &mut server {
            Some(server) => ended(server, &mut left).await,
            None => std::future::pending().await,
        }
    };
    let outcome = tokio::select! {
        // What the server sent before it ended counts.
        biased;
        outcome = tokio::time::timeout(limits.total, conversation) => {
            outcome.unwrap_or(Err(CaptureError::TooSlow { after: limits.total }))
        }
        status = gone => Err(HttpError::Exited {
            method: inbox.first_open().unwrap_or(opening.method()).to_owned(),
            status,
        }
        .into()),
    };
    let booting = pipe.is_booting();
    let outcome = outcome.map_err(|error| match (error, left) {
        // If the process is gone, that explains the failure better.
        (error, Some(status)) if is_silence(&error) => HttpError::Exited {
            method: inbox.first_open().unwrap_or(opening.method()).to_owned(),
            status,
        }
        .into(),
        (CaptureError::Timeout { after, .. }, _) if booting => HttpError::NotReady {
            authority: http.authority(),
            after,
        }
        .into(),
        (error, _) => over_http(error, server.is_some()),
    });

    let mut outcome = outcome;
    let mut unanswered = Vec::new();
    if let Ok((_, _, lists, again)) = &mut outcome
        && limits.read_contents
    {
        let published = published::published(&http, spec).await;
        for lists in [Some(lists), again.as_mut()].into_iter().flatten() {
            let contents = published.contents.clone();
            lists.of_mut(Kind::Content).extend(contents);
        }
        unanswered = published.unanswered;
    }

    progress(Stage::Stopping);
    if let Some(server) = server.as_mut().filter(|_| limits.note_processes) {
        server.look();
    }
    let speaks_sse = pipe.speaks_sse();
    drop(sender);
    pipe.close().await;
    let place = "among its messages";
    let server = server.zip(spec.start.as_ref());
    let mut captured = finished(outcome, &inbox, client, server, limits, place).await?;
    captured.surface.over_http = true;
    for name in unanswered {
        let content = Json::object([("uri", Json::string(name))]);
        let key = ComponentKey::of(Kind::Content, &content);
        let message =
            format!("the server failed to answer the request for `{name}`: it is not compared");
        let surfaces = [Some(&mut captured.surface), captured.again.as_mut()];
        for surface in surfaces.into_iter().flatten() {
            surface.note(NoteKind::NotObserved, Some(&key), message.clone());
        }
    }
    if speaks_sse {
        let message = surface::deprecated(
            "HTTP+SSE transport",
            "2025-03-26",
            "three months after SEP-2596 becomes final",
            "serve Streamable HTTP",
        );
        captured
            .surface
            .note(NoteKind::DeprecatedFeature, None, message);
    }
    if let Some(again) = &mut captured.again {
        again.over_http = true;
    }
    Ok(captured)
}

/// Starts the server, if requested, at an address where nothing listens yet.
async fn start(spec: &HttpSpec, http: &Client) -> Result<Option<Launched>, CaptureError> {
    let Some(start) = &spec.start else {
        return Ok(None);
    };
    if spec.proxy.is_none() && http.is_occupied().await {
        let authority = http.authority();
        return Err(HttpError::Occupied { authority }.into());
    }
    let mut server = launch(start)?;
    server.keep_stdout();
    Ok(Some(server))
}

/// Whether an error only means that nothing came.
fn is_silence(error: &CaptureError) -> bool {
    matches!(
        error,
        CaptureError::Timeout { .. }
            | CaptureError::Http(
                HttpError::Refused { .. }
                    | HttpError::Connect { .. }
                    | HttpError::Broken { .. }
                    | HttpError::StreamEnded { .. }
                    | HttpError::Timeout { .. }
            )
    )
}

/// Rephrases an error for HTTP: there is no stdin, no stdout, and often no process.
fn over_http(error: CaptureError, started: bool) -> CaptureError {
    match error {
        CaptureError::Timeout { method, after, .. } => HttpError::Timeout {
            method: method.to_owned(),
            after,
        }
        .into(),
        CaptureError::NotJsonRpc { method, noise, .. } => HttpError::NoAnswer {
            method: method.to_owned(),
            body: noise.first,
        }
        .into(),
        CaptureError::ClosedStdout { method, .. } => HttpError::StreamEnded {
            method: method.to_owned(),
            problem: None,
        }
        .into(),
        CaptureError::Refused { method, error } if !started => HttpError::Denied {
            method: method.to_owned(),
            error,
        }
        .into(),
        error => error,
    }
}

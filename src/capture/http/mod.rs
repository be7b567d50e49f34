//! Servers over HTTP: Streamable HTTP from 2025-03-26 on, and HTTP+SSE of 2024-11-05.
//!
//! An address is made into a pair of pipes ([`pipe`]), and everything above them is shared with stdio: the raw answers,
//! the eras, the listing, the bounds. This room promises in addition:
//!
//! - **Headers go to one origin**: redirects and endpoints elsewhere are refused.
//! - **Nothing of the environment counts** that was not asked for: no proxy, no `.netrc`.
//! - **A server that is started** is the one that answers: if something listens at its address before, nothing is claimed.

mod client;
mod error;
mod head;
mod message;
mod pipe;
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
use crate::surface::ClientProfile;

pub use client::certificates;
pub use error::HttpError;
pub use spec::{
    Headers, HttpAddress, HttpSpec, HttpTransport, Proxy, SpecError, Template, header_line,
};

/// Captures the contract of a server over HTTP, which is started before and ended afterwards if `spec` says how.
pub(super) async fn capture_http(
    spec: &HttpSpec,
    client: &ClientProfile,
    opening: Opening,
    limits: &Limits,
    progress: &(dyn Fn(Stage) + Send + Sync),
) -> Result<Captured, CaptureFailure> {
    progress(Stage::Starting);
    let http =
        Client::new(spec, limits.start).map_err(|error| CaptureFailure::before(error.into()))?;
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
        // What the server said before it ended counts.
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
        // Whatever went wrong has a better explanation when nobody is there any more.
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

    progress(Stage::Stopping);
    drop(sender);
    pipe.close().await;
    let place = "among its messages";
    let server = server.zip(spec.start.as_ref());
    let mut captured = finished(outcome, &inbox, client, server, limits, place).await?;
    captured.surface.over_http = true;
    if let Some(again) = &mut captured.again {
        again.over_http = true;
    }
    Ok(captured)
}

/// Starts the server, if that is asked for, at an address where nobody listens yet.
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

/// Whether an error says no more than that nothing came.
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

/// An error in words for HTTP: there is no stdin, no stdout, and often no process.
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

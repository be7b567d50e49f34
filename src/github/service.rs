//! The service through which octocrab sends: an HTTP client in these layers, from the inside out.
//!
//! 1. An answer is read whole, within bounds of size and time.
//! 2. A request is sent again where that is harmless ([`Retries`]).
//! 3. The token is added, to requests to the API's own authority only.
//! 4. Redirects are followed ([`Redirects`]).
//!
//! The token is added below the redirects, so that the address of each hop decides about it. tower-http's
//! `FilterCredentials` above a token that is added first does not suffice: it forgets that a redirect has left the origin
//! when the next one stays where that led.
//!
//! Proxies that the environment names are not used.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use octocrab::service::middleware::auth_header::AuthHeaderLayer;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::extra_headers::ExtraHeadersLayer;
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use tower::{BoxError, ServiceBuilder};
use tower_http::follow_redirect::FollowRedirectLayer;

use super::Token;
use super::redirects::Redirects;
use super::retries::Retries;
use crate::capture::http::certificates;
use crate::connection::{self, CONNECT};

/// The longest answer to read. A page of a hundred long comments has less than a tenth of it.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;

/// The time limit for one attempt, from connecting to the last byte of the answer.
pub(super) const ATTEMPT: Duration = Duration::from_secs(30);

/// Sends one request, and keeps connections.
pub(super) type Client = legacy::Client<HttpsConnector<HttpConnector>, OctoBody>;

#[derive(Debug, thiserror::Error)]
#[error("it is longer than {LONGEST_ANSWER} bytes")]
pub(super) struct TooLong;

/// A client that trusts the system's certificates and those in the file `ca`.
pub(super) fn client(ca: Option<&Path>) -> Result<Client, BoxError> {
    let own = ca.map(certificates).transpose()?;
    let tls = connection::tls(own.unwrap_or_default())?;
    let mut tls = tls.config().as_ref().clone();
    // The connector names the protocols that it enables.
    tls.alpn_protocols.clear();
    let mut sockets = HttpConnector::new();
    sockets.enforce_http(false);
    sockets.set_nodelay(true);
    sockets.set_connect_timeout(Some(CONNECT));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(sockets);
    Ok(legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .build(connector))
}

/// octocrab for the API at `base`. Requests are repeated after an ambiguous answer if they `are_repeatable`.
///
/// Must be called within a tokio runtime.
pub(super) fn octocrab(
    client: &Client,
    base: &Uri,
    token: &Token,
    are_repeatable: bool,
) -> Result<Octocrab, BoxError> {
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))?;
    bearer.set_sensitive(true);
    // GitHub requires one.
    let user_agent = (header::USER_AGENT, HeaderValue::from_static("mcp-keel"));
    let service = ServiceBuilder::new()
        .layer(FollowRedirectLayer::with_policy(Redirects::default()))
        .layer(AuthHeaderLayer::new(
            Some(bearer),
            base.clone(),
            base.clone(),
        ))
        .map_response(|answer: Response<Bytes>| answer.map(Full::new))
        .retry(Retries::new(are_repeatable))
        .timeout(ATTEMPT)
        .and_then(whole)
        .service(client.clone());
    let Ok(octocrab) = OctocrabBuilder::new_empty()
        .with_service(service)
        .with_layer(&ExtraHeadersLayer::new(Arc::new(vec![user_agent])))
        .with_layer(&BaseUriLayer::new(base.clone()))
        .with_auth(AuthState::None)
        .build();
    Ok(octocrab)
}

/// Reads an answer to its end.
async fn whole(answer: Response<Incoming>) -> Result<Response<Bytes>, BoxError> {
    let (head, body) = answer.into_parts();
    if body.size_hint().lower() > LONGEST_ANSWER as u64 {
        return Err(TooLong.into());
    }
    match Limited::new(body, LONGEST_ANSWER).collect().await {
        Ok(body) => Ok(Response::from_parts(head, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(TooLong.into()),
        Err(error) => Err(error),
    }
}

//! What goes wrong between mcp-keel and a server over HTTP, and how to go on.
//!
//! These errors quote the server as sent, shortened: escape them before printing. They never
//! contain values of request headers or the query of a URL.

use std::process::ExitStatus;
use std::time::Duration;

use crate::capture::error::{ended, seconds};

/// Why a server over HTTP could not be captured.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{host} has no address: {problem}")]
    Dns { host: String, problem: String },
    #[error("nothing listens at {authority}: connection refused")]
    Refused {
        /// Host and port.
        authority: String,
    },
    /// No connection for another reason.
    #[error("no connection to {authority}: {problem}")]
    Connect {
        /// Host and port.
        authority: String,
        problem: String,
    },
    #[error("the proxy {proxy} did not connect: {problem}")]
    Proxy {
        /// Host and port of the proxy.
        proxy: String,
        problem: String,
    },
    /// The certificate is not signed by a trusted authority.
    #[error("the certificate of {host} is not signed by a trusted authority: {problem}")]
    UnknownIssuer { host: String, problem: String },
    #[error("no encrypted connection to {host}: {problem}")]
    Tls { host: String, problem: String },
    /// Neither the system nor the user names a trusted authority.
    #[error("there are no certificates to trust on this system: {problem}")]
    NoRoots { problem: String },
    /// Something listens at the address before the server is started.
    #[error(
        "something listens at {authority} before the server is started: its answers would be mistaken for the server's"
    )]
    Occupied {
        /// Host and port.
        authority: String,
    },
    /// The process of `--start` ended.
    #[error("the server {} before it answered `{method}`", ended(*.status))]
    Exited {
        /// The pending request.
        method: String,
        status: ExitStatus,
    },
    /// The process of `--start` runs, but does not listen.
    #[error("the server that was started does not listen at {authority} after {}", seconds(*.after))]
    NotReady {
        /// Host and port.
        authority: String,
        after: Duration,
    },
    /// A JSON-RPC error.
    #[error("the server answered `{method}` with an error: {error}")]
    Denied {
        method: String,
        /// `code: message`, or the error as sent if it has neither.
        error: String,
    },
    /// 401 or 403.
    #[error("the server answered `{method}` with {status}{}{}", phrase(*.status), challenge.as_ref().map(|it| format!("; it asks for: {it}")).unwrap_or_default())]
    Unauthorized {
        method: String,
        status: u16,
        /// Scheme, realm and the like of `WWW-Authenticate`.
        challenge: Option<String>,
        /// Whether an `Authorization` header was sent.
        sent: bool,
    },
    /// Another error status.
    #[error("the server answered `{method}` with {status}{}{}", phrase(*.status), quoted_body(.body))]
    Status {
        method: String,
        status: u16,
        /// The beginning of the body.
        body: String,
        /// The result of a GET, if HTTP+SSE was tried too.
        get: Option<Box<str>>,
    },
    /// The server does not know the session that it assigned.
    #[error(
        "the server answered `{method}` with 404: it no longer knows the session that it assigned"
    )]
    SessionLost { method: String },
    /// A redirect that is not followed.
    #[error("the server redirects ({status}) to {to}: {why}")]
    Redirect {
        status: u16,
        /// Without a query, shortened.
        to: String,
        why: &'static str,
    },
    /// An answer that is neither JSON nor an event stream.
    #[error("the server's answer to `{method}` is {kind}, neither JSON nor an event stream{}", quoted_body(.body))]
    NotMcp {
        method: Box<str>,
        /// Its content type, if it looks like one.
        kind: String,
        /// The beginning of the body.
        body: String,
    },
    /// A body without an answer to the request.
    #[error("the server answered `{method}` with something that is not a response to it{}", quoted_body(.body))]
    NoAnswer {
        method: String,
        /// The beginning of the body.
        body: String,
    },
    /// A compressed body that was not requested.
    #[error(
        "the server's answer to `{method}` is compressed ({encoding}), which was not requested"
    )]
    Compressed { method: String, encoding: String },
    /// An event stream that ended, or broke, without the answer.
    #[error("the event stream ended before the server answered `{method}`{}", problem.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    StreamEnded {
        method: String,
        /// How it broke.
        problem: Option<String>,
    },
    /// The connection broke in the middle of an exchange.
    #[error("the connection broke during `{method}`: {problem}")]
    Broken {
        method: String,
        problem: String,
        /// Whether a port that expects TLS would look the same: it was asked without, and did not answer in HTTP.
        may_expect_tls: bool,
    },
    /// HTTP+SSE: the stream does not begin with an `endpoint` event.
    #[error("the event stream does not say where to send messages: {problem}")]
    NoEndpoint {
        /// What it said instead.
        problem: String,
    },
    /// HTTP+SSE: messages are to be sent to another host.
    #[error("the event stream points to another host: {to}")]
    ForeignEndpoint {
        /// Without a query, shortened.
        to: String,
    },
    #[error("the server did not answer `{method}` in {}", seconds(*.after))]
    Timeout {
        /// The pending request.
        method: String,
        after: Duration,
    },
    #[error("the server sent more than {limit} bytes")]
    TooManyBytes { limit: usize },
    #[error("the server sent more than {limit} events")]
    TooManyEvents { limit: usize },
}

impl HttpError {
    /// The request that was not answered, if there was any kind of answer, or a server that could
    /// answer.
    pub(in crate::capture) fn method(&self) -> Option<&str> {
        match self {
            Self::Exited { method, .. }
            | Self::Denied { method, .. }
            | Self::Status { method, .. }
            | Self::NoAnswer { method, .. }
            | Self::StreamEnded { method, .. }
            | Self::Timeout { method, .. } => Some(method),
            Self::NotMcp { method, .. } => Some(method),
            _ => None,
        }
    }

    /// Whether the server rejected this request.
    pub(in crate::capture) fn refuses(&self, refused: &str) -> bool {
        match self {
            Self::Denied { method, .. } => method == refused,
            Self::Status { method, status, .. } => method == refused && (400..500).contains(status),
            _ => false,
        }
    }

    /// The other side's texts quoted in it. The match is exhaustive, so that none is forgotten.
    pub(in crate::capture) fn quoted_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Dns { problem, .. }
            | Self::Connect { problem, .. }
            | Self::Proxy { problem, .. }
            | Self::UnknownIssuer { problem, .. }
            | Self::Tls { problem, .. }
            | Self::NoRoots { problem }
            | Self::Broken { problem, .. }
            | Self::NoEndpoint { problem } => vec![problem],
            Self::Denied { error, .. } => vec![error],
            Self::Unauthorized { challenge, .. } => challenge.iter_mut().collect(),
            Self::Redirect { to, .. } | Self::ForeignEndpoint { to } => vec![to],
            Self::NotMcp { kind, body, .. } => vec![kind, body],
            Self::Status { body, .. } | Self::NoAnswer { body, .. } => vec![body],
            Self::Compressed { encoding, .. } => vec![encoding],
            Self::StreamEnded { problem, .. } => problem.iter_mut().collect(),
            Self::Refused { .. }
            | Self::Occupied { .. }
            | Self::Exited { .. }
            | Self::NotReady { .. }
            | Self::SessionLost { .. }
            | Self::Timeout { .. }
            | Self::TooManyBytes { .. }
            | Self::TooManyEvents { .. } => Vec::new(),
        }
    }

    pub fn help(&self) -> String {
        const ADDRESS: &str =
            "check the address, with its path: many servers answer at /mcp, older ones at /sse";
        const FAULT: &str = "no client can read this answer: server or proxy error";
        match self {
            Self::Dns { .. } => "check the host in --url; behind a proxy, name it with --proxy URL or --proxy env".into(),
            Self::Refused { .. } => {
                "start the server first, or let mcp-keel start it: --start \"COMMAND\"; check the port in --url".into()
            }
            Self::Connect { .. } => "check host and port in --url; behind a proxy, name it with --proxy URL or --proxy env".into(),
            Self::Proxy { .. } => "check --proxy, and that the proxy lets this host through; credentials go into its address, from the environment: --proxy \"http://me:${PASSWORD}@proxy:3128\"".into(),
            Self::UnknownIssuer { .. } => "if the server has a certificate of your own, name the one that signed it: --ca FILE (PEM)".into(),
            // What rustls calls an answer that is not TLS at all.
            Self::Tls { problem, .. } if problem.contains("InvalidContentType") => {
                "the port answers without TLS: write http:// in --url".into()
            }
            Self::Tls { .. } => "check that the server speaks TLS at this port, and that its certificate is for this host and not expired".into(),
            Self::NoRoots { .. } => "install the system's certificates (package ca-certificates), or name those to trust: --ca FILE (PEM)".into(),
            Self::Occupied { .. } => "end what listens there, or give the server another port in both --start (or --env PORT=...) and --url".into(),
            Self::Exited { status, .. } if status.success() => {
                "it ended as if its work were done: let it run in the foreground; check that the command starts it in its HTTP mode".into()
            }
            Self::Exited { .. } => format!("missing credentials are the usual cause; {}", super::super::error::ISOLATED),
            Self::NotReady { .. } => format!("check that --start and --url name the same port; a slow start needs a longer `--timeout`; {}", super::super::error::ISOLATED),
            Self::Denied { .. } => "there is no verdict about what failed: see the log of the server; it may require other headers".into(),
            Self::Unauthorized { status: 401, sent: false, .. } => {
                "pass what it asks for, from the environment: --header 'Authorization: Bearer ${TOKEN}'; OAuth login is not supported".into()
            }
            Self::Unauthorized { status: 401, .. } => {
                "the Authorization header that was sent is not accepted: check the value in the environment, and that it is for this server and not expired; OAuth login is not supported".into()
            }
            Self::Unauthorized { sent: false, .. } => {
                "it may require credentials (--header 'Authorization: Bearer ${TOKEN}'), or refuse this host or network; OAuth login is not supported".into()
            }
            Self::Unauthorized { .. } => "the Authorization header that was sent does not suffice: check its scopes; the server may also refuse this host or network".into(),
            Self::Status { status: 400, body, .. } if body.contains("HTTPS port") => {
                "the port expects TLS: write https:// in --url".into()
            }
            Self::Status { status: 429, .. } => "it refuses further requests for now: try again later".into(),
            Self::Status { status: 400 | 404 | 405, get, .. } => match get {
                Some(get) => format!("{ADDRESS} (HTTP+SSE was tried too: a GET was answered with {get})"),
                None => ADDRESS.into(),
            },
            Self::Status { status: 406 | 415, .. } => format!("{ADDRESS}; the server may speak another version of the transport: --transport sse or --transport streamable"),
            Self::Status { status: 500..=599, .. } => "server or proxy error: see its log, or try again later".into(),
            Self::Status { .. } => ADDRESS.into(),
            Self::SessionLost { .. } => "the server, or one of several behind one address, forgets its sessions: each must know those of the others".into(),
            Self::Redirect { .. } => "headers are never sent to another host, nor without encryption: put the address that you trust into --url".into(),
            Self::NotMcp { .. } => ADDRESS.into(),
            Self::NoAnswer { .. } => format!("{FAULT}; {ADDRESS}"),
            Self::Broken {
                may_expect_tls: true,
                ..
            } => "there is no answer in HTTP: server or proxy error; if the port expects TLS: write https:// in --url".into(),
            Self::Compressed { .. } | Self::StreamEnded { .. } | Self::Broken { .. } => FAULT.into(),
            Self::NoEndpoint { .. } | Self::ForeignEndpoint { .. } => {
                "an HTTP+SSE stream begins with an `endpoint` event that names an address on the same host: check --url, or try --transport streamable".into()
            }
            Self::Timeout { .. } => "it may wait for a network address or for credentials; a slow start needs a longer `--timeout`".into(),
            Self::TooManyBytes { .. } | Self::TooManyEvents { .. } => "a contract is smaller than that: an error of the server".into(),
        }
    }
}

/// The usual phrase for a status.
fn phrase(status: u16) -> String {
    let status = http::StatusCode::from_u16(status).ok();
    let reason = status.and_then(|it| it.canonical_reason());
    reason.map(|it| format!(" {it}")).unwrap_or_default()
}

fn quoted_body(body: &str) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!(": {body}")
    }
}

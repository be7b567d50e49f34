//! Requests to one origin: connections, TLS, the proxy, and redirects within the origin.
//!
//! Each step towards a connection has its own error. The user's headers are sent to that origin
//! only.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, RootCertStore};
use tokio_rustls::TlsConnector;
use url::{Host, Position, Url};

use super::error::HttpError;
use super::spec::{HttpSpec, Proxy, SpecError};
use crate::capture::inbox::shortened;
use crate::connection::{self, CONNECT, ConnectionError, Idle, Origin, Sender, Stream};
use crate::surface::ClientProfile;

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// Sends requests to one origin.
pub(super) struct Client {
    base: Url,
    origin: Origin,
    proxy: Option<Proxy>,
    headers: HeaderMap,
    /// That of the client that the server sees.
    user_agent: HeaderValue,
    patience: Duration,
    idle: Idle,
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Its name in messages.
    pub(super) what: String,
}

/// An answer; the body comes in pieces.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
    /// Its final URL, after redirects.
    pub(super) url: Url,
}

/// The body of an answer. Reading it to its end releases its connection.
pub(super) struct Body {
    incoming: Incoming,
    sender: Option<Sender>,
    client: Arc<Client>,
}

impl Body {
    /// Drops the rest of the body. A connection on which nothing more comes is reused.
    pub(super) fn release(mut self) {
        if self.incoming.is_end_stream() {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        if let Some(sender) = self.sender.take() {
            self.client.idle.put(sender);
        }
    }

    /// The next piece; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Option<Result<Bytes, String>> {
        loop {
            match self.incoming.frame().await {
                None => {
                    self.give_back();
                    return None;
                }
                Some(Err(error)) => return Some(Err(with_causes(&error))),
                // Trailers are ignored.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => return Some(Ok(data)),
                    Err(_) => continue,
                },
            }
        }
    }
}

impl Client {
    /// A client for the origin of `spec`.
    pub(super) fn new(
        spec: &HttpSpec,
        client: &ClientProfile,
        start: Duration,
    ) -> Result<Arc<Self>, HttpError> {
        let base = spec.url.url().clone();
        Ok(Arc::new(Self {
            origin: Origin::new(&base, || tls(spec.ca.as_deref()))?,
            proxy: spec.proxy.clone(),
            headers: spec.headers.map().clone(),
            user_agent: HeaderValue::from_str(&client.user_agent())
                .unwrap_or(HeaderValue::from_static("-")),
            // Slightly less than the caller's timeout, so that the more precise error comes first.
            patience: CONNECT.min(start.mul_f64(0.9)),
            idle: Idle::default(),
            base,
        }))
    }

    /// A client for the same origin that sends none of the user's headers.
    pub(super) fn anonymous(&self) -> Arc<Self> {
        Arc::new(Self {
            base: self.base.clone(),
            origin: self.origin.clone(),
            proxy: self.proxy.clone(),
            headers: HeaderMap::new(),
            user_agent: self.user_agent.clone(),
            patience: self.patience,
            idle: Idle::default(),
        })
    }

    /// `host:port`
    pub(super) fn authority(&self) -> String {
        self.origin.authority()
    }

    /// Whether an `Authorization` header is sent.
    pub(super) fn is_authorized(&self) -> bool {
        self.headers.contains_key(header::AUTHORIZATION)
    }

    /// Whether a URL belongs to this client's origin.
    pub(super) fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    /// Whether anything listens at the address.
    pub(super) async fn is_occupied(&self) -> bool {
        self.origin.tcp(self.patience).await.is_ok()
    }

    /// Sends a request, and follows redirects within the origin.
    pub(super) async fn send(self: &Arc<Self>, mut ask: Ask) -> Result<Answered, HttpError> {
        let mut last = None;
        for _ in 0..REDIRECTS {
            let response = self.once(&ask).await?;
            let status = response.0.status();
            let location = response.0.headers().get(header::LOCATION);
            let redirect =
                location.filter(|_| matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308));
            let Some(location) = redirect else {
                let (parts, incoming) = response.0.into_parts();
                return Ok(Answered {
                    status: parts.status,
                    headers: parts.headers,
                    body: Body {
                        incoming,
                        sender: Some(response.1),
                        client: Arc::clone(self),
                    },
                    url: ask.url,
                });
            };
            let to = String::from_utf8_lossy(location.as_bytes()).into_owned();
            ask.url = self.redirected(&ask, status.as_u16(), &to)?;
            last = Some((status.as_u16(), shown(&ask.url, &to)));
        }
        let (status, to) = last.unwrap_or_default();
        Err(HttpError::Redirect {
            status,
            to,
            why: "too many redirects",
        })
    }

    /// The target of a redirect, if it may be followed.
    fn redirected(&self, ask: &Ask, status: u16, to: &str) -> Result<Url, HttpError> {
        let refused = |to: String, why| HttpError::Redirect { status, to, why };
        let Ok(target) = ask.url.join(to) else {
            return Err(refused(shortened(to), "that is not a URL"));
        };
        let why = if !matches!(target.scheme(), "http" | "https") {
            "that is not an HTTP URL"
        } else if target.scheme() != self.base.scheme() && target.host() == self.base.host() {
            match target.scheme() {
                "https" => "the redirect changes http to https",
                _ => "that one is unencrypted",
            }
        } else if !self.is_own(&target) {
            "that is another host"
        } else if ask.method == Method::POST && !matches!(status, 307 | 308) {
            "after this status a POST would have to become a GET"
        } else {
            return Ok(target);
        };
        Err(refused(shown(&target, to), why))
    }

    async fn once(&self, ask: &Ask) -> Result<(Response<Incoming>, Sender), HttpError> {
        let is_plain = self.origin.tls.is_none();
        let broken = |error: &hyper::Error| HttpError::Broken {
            method: ask.what.clone(),
            problem: with_causes(error),
            may_expect_tls: is_plain && (error.is_parse() || error.is_incomplete_message()),
        };
        // The server may have closed an idle connection in the meantime: then a fresh one decides.
        while let Some(mut sender) = self.idle.take(Duration::MAX) {
            if sender.ready().await.is_err() {
                continue;
            }
            if let Ok(response) = sender.send(self.request(ask)?).await {
                return Ok((response, sender));
            }
        }
        let mut sender = self.connect().await?;
        let response = sender.send(self.request(ask)?).await;
        let response = response.map_err(|error| broken(&error))?;
        Ok((response, sender))
    }

    fn request(&self, ask: &Ask) -> Result<Request<Full<Bytes>>, HttpError> {
        // Only a proxy without a tunnel gets the absolute URL.
        let absolute = self.proxy.is_some() && self.origin.tls.is_none();
        let target = if absolute {
            &ask.url[..Position::AfterQuery]
        } else {
            &ask.url[Position::BeforePath..Position::AfterQuery]
        };
        let unusable = |problem: &dyn std::fmt::Display| HttpError::Connect {
            authority: self.authority(),
            problem: problem.to_string(),
        };
        let mut request = Request::new(Full::new(ask.body.clone()));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = target
            .parse()
            .map_err(|error: http::uri::InvalidUri| unusable(&error))?;
        let host = &ask.url[Position::BeforeHost..Position::AfterPort];
        let headers = request.headers_mut();
        headers.insert(
            header::HOST,
            HeaderValue::from_str(host).map_err(|error| unusable(&error))?,
        );
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        for (name, value) in ask.headers.iter().chain(&self.headers) {
            headers.insert(name, value.clone());
        }
        if absolute && let Some(authorization) = self.proxy.as_ref().and_then(Proxy::authorization)
        {
            headers.insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }

    async fn connect(&self) -> Result<Sender, HttpError> {
        let connection = tokio::time::timeout(self.patience, self.stream()).await;
        let stream = connection.unwrap_or_else(|_| {
            Err(HttpError::Connect {
                authority: self.authority(),
                problem: "it does not answer".into(),
            })
        })?;
        Ok(self.origin.sender(stream).await?)
    }

    /// The bytes to and from the origin.
    async fn stream(&self) -> Result<Box<dyn Stream>, HttpError> {
        let stream: Box<dyn Stream> = match &self.proxy {
            None => Box::new(self.origin.tcp(self.patience).await?),
            Some(proxy) => self.through(proxy).await?,
        };
        Ok(self.origin.secured(stream).await?)
    }

    /// A connection through the proxy: a tunnel for encrypted traffic, the proxy itself otherwise.
    async fn through(&self, proxy: &Proxy) -> Result<Box<dyn Stream>, HttpError> {
        let address = proxy.address();
        let name = address
            .authority()
            .map(|it| it.to_string())
            .unwrap_or_default();
        let failed = |problem: String| HttpError::Proxy {
            proxy: name.clone(),
            problem,
        };
        let host = Host::parse(address.host().unwrap_or_default())
            .map_err(|error| failed(error.to_string()))?;
        let port = address.port_u16().unwrap_or(80);
        let socket = connection::tcp(&host, port, self.patience).await;
        let socket = socket.map_err(|error| failed(HttpError::from(error).to_string()))?;
        if self.origin.tls.is_none() {
            return Ok(Box::new(socket));
        }
        let handshake = connection::http1().handshake(TokioIo::new(socket)).await;
        let (mut sender, connection) = handshake.map_err(|error| failed(with_causes(&error)))?;
        tokio::spawn(connection.with_upgrades());
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.method_mut() = Method::CONNECT;
        let authority = self.authority();
        *request.uri_mut() = authority
            .parse()
            .map_err(|error: http::uri::InvalidUri| failed(error.to_string()))?;
        if let Ok(host) = HeaderValue::from_str(&authority) {
            request.headers_mut().insert(header::HOST, host);
        }
        if let Some(authorization) = proxy.authorization() {
            request
                .headers_mut()
                .insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        let response = sender
            .send_request(request)
            .await
            .map_err(|error| failed(with_causes(&error)))?;
        if !response.status().is_success() {
            return Err(failed(format!("it answers {}", response.status())));
        }
        let tunnel = hyper::upgrade::on(response)
            .await
            .map_err(|error| failed(with_causes(&error)))?;
        Ok(Box::new(TokioIo::new(tunnel)))
    }
}

/// TLS with the system's roots, and those of `ca`.
fn tls(ca: Option<&Path>) -> Result<TlsConnector, HttpError> {
    // Unusable roots were reported when the plan was made.
    let own = ca.map(certificates).transpose();
    let own = own.map_err(|error| HttpError::NoRoots {
        problem: error.to_string(),
    })?;
    Ok(connection::tls(own.unwrap_or_default())?)
}

/// The certificates of a PEM file; there must be one, and each must be usable as a root.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SpecError> {
    let wrong = |problem: &dyn std::fmt::Display| {
        SpecError::new(
            format!(
                "the certificates in {} cannot be read: {problem}",
                path.display()
            ),
            "name a PEM file with the certificate that signed the server's: -----BEGIN CERTIFICATE-----",
        )
    };
    let read = crate::files::read(path).map_err(|error| wrong(&error))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read).collect();
    let found = found.map_err(|error| wrong(&error))?;
    if found.is_empty() {
        return Err(wrong(&"it contains none"));
    }
    let mut roots = RootCertStore::empty();
    for certificate in &found {
        roots
            .add(certificate.clone())
            .map_err(|error| wrong(&error))?;
    }
    Ok(found)
}

impl From<ConnectionError> for HttpError {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::Dns { host, source } => Self::Dns {
                host,
                problem: source.to_string(),
            },
            ConnectionError::Tcp { authority, source } => match source.kind() {
                std::io::ErrorKind::ConnectionRefused => Self::Refused { authority },
                std::io::ErrorKind::TimedOut => Self::Connect {
                    authority,
                    problem: "it does not answer".into(),
                },
                _ => Self::Connect {
                    authority,
                    problem: source.to_string(),
                },
            },
            ConnectionError::Tls { host, source } => untrusted(host, &source),
            ConnectionError::Http { authority, source } => Self::Connect {
                authority,
                problem: with_causes(&source),
            },
            ConnectionError::NoRoots { problem } => Self::NoRoots { problem },
        }
    }
}

fn untrusted(host: String, error: &std::io::Error) -> HttpError {
    let cause = error
        .get_ref()
        .and_then(|it| it.downcast_ref::<rustls::Error>());
    let problem = error.to_string();
    match cause {
        // A bad signature means an authority that only has the name of a trusted one.
        Some(rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        )) => HttpError::UnknownIssuer { host, problem },
        _ => HttpError::Tls { host, problem },
    }
}

/// An error with its causes, which hyper does not show.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    shortened(&text)
}

/// A URL of the server for a message: without query and credentials. If parsing changed its
/// spelling, it is shown as `sent`: a secret in it is known in its original spelling, not half
/// encoded.
pub(super) fn shown(url: &Url, sent: &str) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let sent = sent.split(['?', '#']).next().unwrap_or_default().trim();
    let sent = match sent.split_once("//") {
        Some((scheme, rest)) => {
            let end = rest.find(['/', '\\']).unwrap_or(rest.len());
            let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}//{}", &rest[host..])
        }
        None => sent.to_owned(),
    };
    if url.as_str().contains(&sent) {
        shortened(url.as_str())
    } else {
        shortened(&sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_whole_and_in_its_original_spelling() {
        let base = Url::parse("http://127.0.0.1:80/mcp").expect("an address");
        let shown_as = |sent: &str| shown(&base.join(sent).expect("an address"), sent);
        assert_eq!(shown_as("/login?next=x#y"), "http://127.0.0.1/login");
        assert_eq!(shown_as("//a.example/x"), "http://a.example/x");
        assert_eq!(
            shown_as("http://me:word@a.example/x@y"),
            "http://a.example/x@y"
        );
        assert_eq!(shown_as("http://A.example/x"), "http://A.example/x");
        assert_eq!(
            shown_as("http://a.example/a {b}!/@c"),
            "http://a.example/a {b}!/@c"
        );
        assert_eq!(shown_as("../a/./b"), "../a/./b");
    }
}

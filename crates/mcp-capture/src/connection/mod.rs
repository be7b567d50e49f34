//! Connections for HTTP/1.1: a socket, TLS over it, and one request after the other.
//!
//! `capture` reaches servers under test through them. Each step towards a connection has its own error. What is sent over
//! them, redirects and proxies are up to the caller, who may also take the TLS alone, with its trusted certificates.

mod head;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use head::{Allowance, Bounded};

/// How long a connection may take.
pub const CONNECT: Duration = Duration::from_secs(10);

/// The headers of one answer. Everything else is bounded by its reader.
const HEADER_BYTES: usize = 64 * 1024;

/// What may come before an answer begins: its headers, one read buffer, and some interim answers.
const BEFORE_AN_ANSWER: usize = 2 * 1024 * 1024;

/// Why there is no connection. The problem itself is the source.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("{host} has no address")]
    Dns { host: String, source: io::Error },
    #[error("no connection to {authority}")]
    Tcp {
        /// Host and port.
        authority: String,
        source: io::Error,
    },
    #[error("no encrypted connection to {host}")]
    Tls { host: String, source: io::Error },
    #[error("no connection to {authority}")]
    Http {
        /// Host and port.
        authority: String,
        source: hyper::Error,
    },
    /// No trusted authority is known.
    #[error("there are no certificates to trust on this system: {problem}")]
    NoRoots { problem: String },
}

/// Any byte stream: a socket, a tunnel, TLS over either.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Where connections lead.
#[derive(Clone)]
pub struct Origin {
    pub host: Host<String>,
    pub port: u16,
    /// If connections are encrypted.
    pub tls: Option<TlsConnector>,
}

impl Origin {
    /// The origin of an HTTP URL. `tls` is only called if its connections are encrypted.
    pub fn new<E>(url: &Url, tls: impl FnOnce() -> Result<TlsConnector, E>) -> Result<Self, E> {
        let host = url.host().map(|it| it.to_owned());
        Ok(Self {
            host: host.unwrap_or_else(|| Host::Domain(String::new())),
            port: url.port_or_known_default().unwrap_or(80),
            tls: match url.scheme() {
                "https" => Some(tls()?),
                _ => None,
            },
        })
    }

    /// `host:port`
    pub fn authority(&self) -> String {
        authority(&self.host, self.port)
    }

    /// A socket to it.
    pub async fn tcp(&self, patience: Duration) -> Result<TcpStream, ConnectionError> {
        tcp(&self.host, self.port, patience).await
    }

    /// TLS over `stream`, if connections are encrypted.
    pub async fn secured(
        &self,
        stream: Box<dyn Stream>,
    ) -> Result<Box<dyn Stream>, ConnectionError> {
        let Some(tls) = &self.tls else {
            return Ok(stream);
        };
        let failed = |source| ConnectionError::Tls {
            host: self.host.to_string(),
            source,
        };
        let name = match &self.host {
            Host::Domain(name) => ServerName::try_from(name.clone()).ok(),
            Host::Ipv4(address) => Some(ServerName::from(IpAddr::from(*address))),
            Host::Ipv6(address) => Some(ServerName::from(IpAddr::from(*address))),
        };
        let name = name.ok_or_else(|| {
            failed(io::Error::new(
                io::ErrorKind::InvalidInput,
                "that is not a name for a certificate",
            ))
        })?;
        let stream = tls.connect(name, stream).await.map_err(failed)?;
        Ok(Box::new(stream))
    }

    /// HTTP over `stream`.
    pub async fn sender(&self, stream: Box<dyn Stream>) -> Result<Sender, ConnectionError> {
        let sender = Sender::over(stream).await;
        sender.map_err(|source| ConnectionError::Http {
            authority: self.authority(),
            source,
        })
    }
}

fn authority(host: &Host<String>, port: u16) -> String {
    format!("{host}:{port}")
}

/// A socket to the first address that answers.
pub async fn tcp(
    host: &Host<String>,
    port: u16,
    patience: Duration,
) -> Result<TcpStream, ConnectionError> {
    let addresses: Vec<SocketAddr> = match host {
        Host::Ipv4(address) => vec![(*address, port).into()],
        Host::Ipv6(address) => vec![(*address, port).into()],
        Host::Domain(name) => {
            let found = tokio::net::lookup_host((name.as_str(), port)).await;
            let found = found.map_err(|source| ConnectionError::Dns {
                host: name.clone(),
                source,
            })?;
            found.collect()
        }
    };
    let mut last = None;
    for address in &addresses {
        // An address that never responds must not use up the time of the others.
        let share = patience / u32::try_from(addresses.len()).unwrap_or(1);
        match tokio::time::timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Small messages are sent at once; if that fails, they are sent anyway.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => last = Some(error),
            Err(_) => last = last.or(Some(io::ErrorKind::TimedOut.into())),
        }
    }
    Err(ConnectionError::Tcp {
        authority: authority(host, port),
        source: last.unwrap_or_else(|| io::Error::other("it has no address")),
    })
}

/// TLS with the system's roots, and these.
pub fn tls(
    own: impl IntoIterator<Item = CertificateDer<'static>>,
) -> Result<TlsConnector, ConnectionError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(system.certs);
    roots.add_parsable_certificates(own);
    if roots.is_empty() {
        let problem = system.errors.first().map(|it| it.to_string());
        return Err(ConnectionError::NoRoots {
            problem: problem.unwrap_or_else(|| "none were found".into()),
        });
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectionError::NoRoots {
            problem: error.to_string(),
        })?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// HTTP/1.1 with bounded headers.
pub fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.max_header_size(HEADER_BYTES);
    builder
}

/// A connection for consecutive requests.
pub struct Sender {
    requests: http1::SendRequest<Full<Bytes>>,
    allowance: Allowance,
}

impl Sender {
    async fn over(stream: Box<dyn Stream>) -> hyper::Result<Self> {
        let allowance = Allowance::new();
        let io = Bounded {
            stream,
            allowance: allowance.clone(),
        };
        let (requests, connection) = http1().handshake(TokioIo::new(io)).await?;
        tokio::spawn(connection);
        Ok(Self {
            requests,
            allowance,
        })
    }

    /// Waits until the next request can be sent. An error if the connection is closed.
    pub async fn ready(&mut self) -> hyper::Result<()> {
        self.requests.ready().await
    }

    pub async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        self.allowance.limit(BEFORE_AN_ANSWER);
        let response = self.requests.send_request(request).await;
        self.allowance.lift();
        response
    }
}

/// Idle connections to one origin.
#[derive(Default)]
pub struct Idle(Mutex<Vec<(Instant, Sender)>>);

impl Idle {
    /// One that is open, as far as is known, and was used less than `max_age` ago.
    pub fn take(&self, max_age: Duration) -> Option<Sender> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(since, it)| !it.requests.is_closed() && since.elapsed() < max_age);
        idle.pop().map(|(_, it)| it)
    }

    /// A connection whose last answer was read to its end.
    pub fn put(&self, sender: Sender) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((Instant::now(), sender));
    }
}

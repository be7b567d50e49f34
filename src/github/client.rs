//! The HTTP client below octocrab: it connects, follows redirects and reads answers whole.
//!
//! It never sends a request twice. One that an idle connection certainly did not send, because the
//! other side had closed it, is sent on a fresh one; in any other case the caller decides.
//!
//! Redirects are those that GitHub documents, for example of a renamed repository: a GET follows
//! 301, 302, 307 and 308, anything else only those that keep method and body, within the origin.
//! The token is never sent to another origin, and no redirect leads from HTTPS to plain HTTP.
//! Proxies that the environment names are not used.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use octocrab::OctoBody;
use tokio_rustls::TlsConnector;
use url::{Position, Url};

use crate::connection::{self, CONNECT, ConnectionError, Idle, Origin, Sender, Stream};

/// The longest answer to read. A page of a hundred long comments has less than a tenth of it.
const ANSWER: usize = 64 * 1024 * 1024;

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// How long an idle connection is kept. Networks drop older ones without notice.
const IDLE: Duration = Duration::from_secs(90);

/// Why there is no answer. The problem itself is the last source.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
    #[error("the body of the answer broke off")]
    Body(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the request cannot be sent")]
    Request(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("it is longer than {limit} bytes")]
    TooLong { limit: usize },
}

impl ClientError {
    /// The error of this client below one of octocrab.
    pub(super) fn below<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(own) = error.downcast_ref() {
                return Some(own);
            }
            next = error.source();
        }
        None
    }
}

/// Sends requests to GitHub.
pub(super) struct Client {
    base: Url,
    origin: Origin,
    /// Connections to `origin`.
    idle: Idle,
    /// The longest answer to read.
    limit: usize,
}

impl Client {
    /// A client for the API at `base`.
    pub(super) fn new(base: &Uri) -> Result<Arc<Self>, ClientError> {
        let base = parsed(base)?;
        Ok(Arc::new(Self {
            origin: Origin::new(&base, || connection::tls([]))?,
            idle: Idle::default(),
            limit: ANSWER,
            base,
        }))
    }

    /// Sends a request to its absolute URL, and follows redirects.
    pub(super) async fn send(
        self: Arc<Self>,
        request: Request<OctoBody>,
    ) -> Result<Response<Full<Bytes>>, ClientError> {
        let (mut head, body) = request.into_parts();
        let body = body.collect().await;
        let body = body.map_err(|error| ClientError::Request(error.into()))?;
        let body = body.to_bytes();
        let mut url = parsed(&head.uri)?;
        let mut redirects = 0;
        loop {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = head.method.clone();
            *request.headers_mut() = head.headers.clone();
            *request.uri_mut() = head.uri.clone();
            let response = self.once(&url, request).await?;
            let location = response.headers().get(header::LOCATION);
            let next =
                location.and_then(|to| redirected(&head.method, response.status(), &url, to));
            let next = next.filter(|_| redirects < REDIRECTS);
            let Some((to, uri)) = next else {
                return Ok(response);
            };
            if to.origin() != url.origin() {
                head.headers.remove(header::AUTHORIZATION);
            }
            (url, head.uri) = (to, uri);
            redirects += 1;
        }
    }

    /// One request and its answer.
    async fn once(
        &self,
        url: &Url,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Full<Bytes>>, ClientError> {
        let unusable = |error: http::Error| ClientError::Request(error.into());
        let target = request.uri().path_and_query().cloned();
        *request.uri_mut() = target.map_or_else(|| Uri::from_static("/"), Uri::from);
        let host = &url[Position::BeforeHost..Position::AfterPort];
        let host = HeaderValue::from_str(host).map_err(|error| unusable(error.into()))?;
        request.headers_mut().insert(header::HOST, host);

        let is_own = url.origin() == self.base.origin();
        while is_own && let Some(mut sender) = self.idle.take(IDLE) {
            if sender.ready().await.is_err() {
                continue;
            }
            match sender.send(request).await {
                Ok(response) => return self.answer(response, Some(sender)).await,
                Err(failed) => match failed.unsent {
                    Some(unsent) => request = *unsent,
                    None => return Err(ClientError::Broken(failed.error)),
                },
            }
        }
        let mut sender = self.connect(url).await?;
        let response = sender.send(request).await;
        let response = response.map_err(|failed| ClientError::Broken(failed.error))?;
        self.answer(response, is_own.then_some(sender)).await
    }

    /// Reads an answer to its end, and keeps the connection.
    async fn answer(
        &self,
        response: Response<Incoming>,
        sender: Option<Sender>,
    ) -> Result<Response<Full<Bytes>>, ClientError> {
        let too_long = ClientError::TooLong { limit: self.limit };
        let (head, body) = response.into_parts();
        if body.size_hint().lower() > self.limit as u64 {
            return Err(too_long);
        }
        let body = match Limited::new(body, self.limit).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(too_long),
            Err(error) => return Err(ClientError::Body(error)),
        };
        if let Some(sender) = sender {
            self.idle.put(sender);
        }
        Ok(Response::from_parts(head, Full::new(body)))
    }

    async fn connect(&self, url: &Url) -> Result<Sender, ClientError> {
        let tls = || -> Result<TlsConnector, ConnectionError> {
            match &self.origin.tls {
                Some(tls) => Ok(tls.clone()),
                None => connection::tls([]),
            }
        };
        let origin = Origin::new(url, tls)?;
        let stream = async {
            let socket: Box<dyn Stream> = Box::new(origin.tcp(CONNECT).await?);
            origin.secured(socket).await
        };
        let stream = tokio::time::timeout(CONNECT, stream).await;
        let stream = stream.unwrap_or_else(|_| {
            Err(ConnectionError::Tcp {
                authority: origin.authority(),
                source: std::io::ErrorKind::TimedOut.into(),
            })
        })?;
        Ok(origin.sender(stream).await?)
    }
}

fn parsed(uri: &Uri) -> Result<Url, ClientError> {
    let url = Url::parse(&uri.to_string());
    url.map_err(|error| ClientError::Request(error.into()))
}

/// The target of a redirect, if it is followed.
fn redirected(
    method: &Method,
    status: StatusCode,
    from: &Url,
    location: &HeaderValue,
) -> Option<(Url, Uri)> {
    let to = from.join(str::from_utf8(location.as_bytes()).ok()?).ok()?;
    let is_followed = match status.as_u16() {
        // Others would have to become a GET.
        301 | 302 => method == Method::GET,
        // A body stays within the origin.
        307 | 308 => method == Method::GET || to.origin() == from.origin(),
        _ => false,
    };
    let is_safe = match to.scheme() {
        "https" => true,
        "http" => from.scheme() == "http",
        _ => false,
    };
    let uri = to[..Position::AfterQuery].parse().ok()?;
    (is_followed && is_safe).then_some((to, uri))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::task::Poll;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    const TEXT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    /// A listener, and a client for it that reads answers of up to 10 bytes.
    async fn pair() -> (TcpListener, Arc<Client>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let client = Client::new(&base.parse().expect("a URL")).expect("a client");
        let client = Arc::into_inner(client).expect("not shared");
        (
            listener,
            Arc::new(Client {
                limit: 10,
                ..client
            }),
        )
    }

    type Sending = Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, ClientError>> + Send>>;

    fn send(client: &Arc<Client>, method: &Method) -> Sending {
        let body = OctoBody::from(match *method {
            Method::POST => "body",
            _ => "",
        });
        let mut request = Request::new(body);
        *request.method_mut() = method.clone();
        *request.uri_mut() = client.base.as_str().parse().expect("a URL");
        Box::pin(Arc::clone(client).send(request))
    }

    /// Reads a request of at most one packet, and returns its method.
    async fn method(socket: &mut TcpStream) -> String {
        let mut text = Vec::new();
        while !text.windows(4).any(|it| it == b"\r\n\r\n") {
            let count = socket.read_buf(&mut text).await.expect("a request");
            assert_ne!(count, 0, "the client closed the connection");
        }
        let text = String::from_utf8(text).expect("text");
        let word = text.split(' ').next();
        word.unwrap_or_default().to_owned()
    }

    async fn answer(socket: &mut TcpStream, bytes: &str) {
        socket.write_all(bytes.as_bytes()).await.expect("written");
    }

    /// Answers a request on a connection of its own, which is returned.
    async fn answered_on_a_new_one(
        listener: &TcpListener,
        pending: Sending,
        sent: &Method,
    ) -> TcpStream {
        let mut pending = tokio::spawn(pending);
        let (mut socket, _) = tokio::select! {
            accepted = listener.accept() => accepted.expect("a connection"),
            ended = &mut pending => panic!("{ended:?}"),
        };
        assert_eq!(method(&mut socket).await, sent.as_str());
        answer(&mut socket, TEXT).await;
        pending.await.expect("a task").expect("an answer");
        assert!(is_quiet(listener).await);
        socket
    }

    /// A connection that was used once.
    async fn open(listener: &TcpListener, client: &Arc<Client>) -> TcpStream {
        answered_on_a_new_one(listener, send(client, &Method::GET), &Method::GET).await
    }

    /// Whether there is no other connection.
    async fn is_quiet(listener: &TcpListener) -> bool {
        tokio::task::yield_now().await;
        poll_fn(|cx| Poll::Ready(listener.poll_accept(cx).is_pending())).await
    }

    #[tokio::test]
    async fn connections_are_reused_and_a_closed_one_is_replaced() {
        for sent in [Method::GET, Method::POST] {
            let (listener, client) = pair().await;
            let mut socket = open(&listener, &client).await;
            let pending = tokio::spawn(send(&client, &sent));
            assert_eq!(method(&mut socket).await, sent.as_str());
            answer(&mut socket, TEXT).await;
            pending.await.expect("a task").expect("an answer");
            assert!(is_quiet(&listener).await);

            drop(socket);
            // Until the client has noticed.
            while let Some(sender) = client.idle.take(IDLE) {
                client.idle.put(sender);
                tokio::task::yield_now().await;
            }
            answered_on_a_new_one(&listener, send(&client, &sent), &sent).await;
        }
    }

    #[tokio::test]
    async fn a_request_that_certainly_was_not_sent_is_sent_on_a_fresh_connection() {
        for sent in [Method::GET, Method::POST] {
            let (listener, client) = pair().await;
            let (near, far) = tokio::io::duplex(1024);
            let sender = client.origin.sender(Box::new(near)).await;
            let mut sender = sender.expect("a connection");
            sender.ready().await.expect("it is open");
            client.idle.put(sender);
            // Closed, but the task of the connection has not run since: it already has the request
            // when it notices.
            drop(far);
            let mut pending = send(&client, &sent);
            let early = poll_fn(|cx| Poll::Ready(pending.as_mut().poll(cx).is_ready()));
            assert!(!early.await);
            answered_on_a_new_one(&listener, pending, &sent).await;
        }
    }

    #[tokio::test]
    async fn a_request_that_may_have_been_sent_is_not_repeated() {
        for sent in [Method::GET, Method::POST] {
            let (listener, client) = pair().await;
            let mut socket = open(&listener, &client).await;
            let pending = tokio::spawn(send(&client, &sent));
            assert_eq!(method(&mut socket).await, sent.as_str());
            drop(socket);
            let failed = pending.await.expect("a task");
            assert!(matches!(failed, Err(ClientError::Broken(_))), "{failed:?}");
            assert!(is_quiet(&listener).await);
        }
    }

    #[tokio::test]
    async fn a_long_answer_is_not_read_to_its_end() {
        for (bytes, is_too_long) in [
            ("Content-Length: 10\r\n\r\n0123456789", false),
            ("Content-Length: 11\r\n\r\n", true),
            (
                "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n",
                false,
            ),
            (
                "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n6\r\n56789x\r\n",
                true,
            ),
        ] {
            let (listener, client) = pair().await;
            let pending = tokio::spawn(send(&client, &Method::GET));
            let (mut socket, _) = listener.accept().await.expect("a connection");
            method(&mut socket).await;
            answer(&mut socket, &format!("HTTP/1.1 200 OK\r\n{bytes}")).await;
            match pending.await.expect("a task") {
                Err(ClientError::TooLong { limit: 10 }) => assert!(is_too_long, "{bytes}"),
                answered => {
                    let body = answered.expect("an answer").into_body();
                    let body = body.collect().await.expect("a body").to_bytes();
                    assert!(!is_too_long && body == "0123456789", "{bytes}");
                }
            }
        }
    }

    #[test]
    fn redirects_keep_method_body_and_encryption() {
        let own = "https://api.example/repositories/1";
        let other = "https://other.example/x";
        let plain = "http://api.example/x";
        for (method, status, to, expected) in [
            (Method::GET, 301, own, Some(own)),
            (Method::GET, 302, other, Some(other)),
            (
                Method::GET,
                307,
                "../x?y=1#z",
                Some("https://api.example/x?y=1"),
            ),
            (Method::GET, 308, "//other.example/x", Some(other)),
            (Method::GET, 303, own, None),
            (Method::GET, 200, own, None),
            (Method::GET, 301, plain, None),
            (Method::GET, 301, "ftp://api.example/x", None),
            (Method::POST, 301, own, None),
            (Method::POST, 302, own, None),
            (Method::POST, 307, own, Some(own)),
            (Method::PATCH, 308, own, Some(own)),
            (Method::POST, 307, other, None),
            (Method::PATCH, 308, plain, None),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let from = Url::parse("https://api.example/repos/a?page=1").expect("a URL");
            let location = HeaderValue::from_static(to);
            let found = redirected(&method, status, &from, &location);
            let found = found.map(|(_, uri)| uri.to_string());
            assert_eq!(found.as_deref(), expected, "{method} {status} {to}");
        }
    }
}

//! A server over HTTP as a pair of pipes: every line that is written goes out as a POST, every message that comes back is
//! a line to be read. What is below the wire is the only difference between a server over stdio and one over HTTP.
//!
//! **Order.** A notification or an answer of ours is taken by the server before the next line goes out; requests are
//! under way together. The stream on which a server speaks by itself is opened before it is told that the client is ready:
//! what it announces because of that is not lost.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use hyper::body::Bytes;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use super::client::{Answered, Ask, Client};
use super::error::HttpError;
use super::message::{self, Outgoing};
use super::spec::{HttpSpec, HttpTransport};
use crate::canonical::Json;
use crate::capture::Limits;
use crate::capture::error::CaptureError;
use crate::capture::inbox::{Inbox, shortened};

/// How long the server may take to open its own stream. Some begin to answer only with the first event.
const OPENING: Duration = Duration::from_secs(1);

/// How long to wait for the end of a session, which nothing depends on.
const GOODBYE: Duration = Duration::from_secs(2);

/// The longest pause between two attempts to reach a server that is being started.
const PAUSE: Duration = Duration::from_millis(200);

/// With it the client says that it is ready.
const READY: &str = "notifications/initialized";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The far end of the pipes. Dropping it ends everything that is under way.
pub(super) struct Pipe {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.tasks().abort_all();
    }
}

impl Pipe {
    /// Pipes to the server of `spec`, and the near end of them.
    pub(super) fn open(
        client: Arc<Client>,
        spec: &HttpSpec,
        inbox: Arc<Inbox>,
        limits: &Limits,
    ) -> (Self, DuplexStream) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (lines, out) = tokio::io::split(far);
        let shared = Arc::new(Shared {
            client,
            inbox,
            out: tokio::sync::Mutex::new(out),
            limits: limits.clone(),
            bytes: AtomicUsize::new(0),
            events: AtomicUsize::new(0),
            tasks: Mutex::default(),
            state: Mutex::new(State {
                base: spec.url.url().clone(),
                url: spec.url.url().clone(),
                transport: spec.transport,
                is_open: false,
                session: None,
                revision: None,
                booting: spec.start.is_some(),
            }),
        });
        let task = tokio::spawn(Arc::clone(&shared).run(lines));
        (Self { shared, task }, near)
    }

    /// Whether a server that is being started has not answered anything yet.
    pub(super) fn is_booting(&self) -> bool {
        self.shared.state().booting
    }

    /// Ends everything that is under way, and the session, if there is one.
    pub(super) async fn close(self) {
        self.task.abort();
        self.shared.tasks().abort_all();
        if self.shared.state().session.is_none() {
            return;
        }
        let ask = self
            .shared
            .ask(Method::DELETE, "DELETE", HeaderMap::new(), Bytes::new());
        // Servers may refuse it (405); what becomes of the session is up to them.
        let _ = tokio::time::timeout(GOODBYE, self.shared.client.send(ask)).await;
    }
}

pub(super) struct Shared {
    pub(super) client: Arc<Client>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) out: tokio::sync::Mutex<WriteHalf<DuplexStream>>,
    pub(super) limits: Limits,
    /// Of all bodies so far.
    pub(super) bytes: AtomicUsize,
    /// Of all streams so far.
    pub(super) events: AtomicUsize,
    tasks: Mutex<JoinSet<()>>,
    state: Mutex<State>,
}

/// What is known of the server so far.
pub(super) struct State {
    /// The address that the user gave.
    pub(super) base: Url,
    /// Where messages go.
    pub(super) url: Url,
    pub(super) transport: HttpTransport,
    /// HTTP+SSE: the stream is open.
    pub(super) is_open: bool,
    session: Option<HeaderValue>,
    /// The revision that was agreed on.
    pub(super) revision: Option<HeaderValue>,
    /// It is being started and has not answered yet.
    booting: bool,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something on the side, until the pipes are closed.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Nothing more can be learnt from this server: the near end reads the end of its pipe, and why.
    pub(super) async fn fail(&self, error: CaptureError) {
        self.inbox.fail(error);
        let _ = self.out.lock().await.shutdown().await;
    }

    /// Sends every line until there are no more.
    async fn run(self: Arc<Self>, lines: ReadHalf<DuplexStream>) {
        let mut lines = BufReader::new(lines).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Some(message) = Outgoing::read(&line) else {
                continue;
            };
            if message.id.is_some() {
                let shared = Arc::clone(&self);
                self.spawn(async move {
                    if let Err(error) = shared.post(&message, line).await {
                        shared.fail(error).await;
                    }
                });
                continue;
            }
            // A little less than what a request that waits behind it has, so that the better reason comes first.
            let patience = self.limits.request.mul_f64(0.9);
            let sent = tokio::time::timeout(patience, self.notify(&message, line)).await;
            let sent = sent.unwrap_or_else(|_| {
                Err(HttpError::Timeout {
                    method: message.what().to_owned(),
                    after: patience,
                }
                .into())
            });
            match sent {
                Err(error) if message.is(READY) => self.fail(error).await,
                // A server that does not want our answers still answers our questions.
                _ => {}
            }
        }
    }

    /// A message that wants no answer. Before the server is told that the client is ready, it is listened to.
    async fn notify(
        self: &Arc<Self>,
        message: &Outgoing,
        line: String,
    ) -> Result<(), CaptureError> {
        let listens = message.is(READY) && self.state().transport != HttpTransport::Sse;
        let refused = listens && self.listen().await;
        self.post(message, line).await?;
        if refused {
            self.spawn(Arc::clone(self).listening(oneshot::channel().0));
        }
        Ok(())
    }

    /// A request to where messages go.
    pub(super) fn ask(
        &self,
        method: Method,
        what: &str,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Ask {
        let state = self.state();
        if !headers.contains_key(REVISION) {
            for (name, value) in [(SESSION, &state.session), (REVISION, &state.revision)] {
                if let Some(value) = value {
                    headers.insert(name, value.clone());
                }
            }
        }
        Ask {
            url: match method {
                Method::GET => state.base.clone(),
                _ => state.url.clone(),
            },
            method,
            headers,
            body,
            what: what.to_owned(),
        }
    }

    /// A GET for a stream of events, from after the event `last_id` on.
    pub(super) fn ask_for_events(&self, last_id: Option<&HeaderValue>) -> Ask {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, EVENT_STREAM);
        if let Some(id) = last_id {
            headers.insert(LAST_EVENT, id.clone());
        }
        self.ask(Method::GET, "GET", headers, Bytes::new())
    }

    /// One message, and what comes of it.
    async fn post(self: &Arc<Self>, message: &Outgoing, line: String) -> Result<(), CaptureError> {
        let (transport, is_open) = {
            let state = self.state();
            (state.transport, state.is_open)
        };
        if transport == HttpTransport::Sse && !is_open {
            // A little less than what whoever waits for the answer has, so that the better reason comes first.
            let patience = self.limits.start.mul_f64(0.9);
            self.while_booting(|| self.open_legacy(patience)).await?;
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, EITHER);
        if let Some(revision) = &message.revision {
            // A message that says itself which revision it is of has no session. None that is ever sent names a tool, a
            // prompt or a resource, so there is no `Mcp-Name`.
            headers.insert(REVISION, revision.clone());
            if let Ok(method) = HeaderValue::from_str(message.what()) {
                headers.insert(METHOD, method);
            }
        }
        let body = Bytes::from(line);
        let answered = self
            .while_booting(|| async {
                let ask = self.ask(Method::POST, message.what(), headers.clone(), body.clone());
                let answered = self.client.send(ask).await?;
                match answered.status {
                    StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
                        if self.state().booting =>
                    {
                        Err(self.status(message.what(), answered).await)
                    }
                    _ => Ok(answered),
                }
            })
            .await?;
        {
            let mut state = self.state();
            state.url.clone_from(&answered.url);
            if message.is("initialize") && answered.status.is_success() {
                state.session = answered.headers.get(SESSION).cloned();
            }
        }
        let status = answered.status;
        if !status.is_success() {
            return self.refused(message, answered, body).await;
        }
        match message.id {
            Some(id) if self.state().transport != HttpTransport::Sse => {
                self.answer(id, message.what(), answered).await
            }
            // What a server says to a notification is nothing that we asked for, and over HTTP+SSE answers come elsewhere.
            _ => {
                answered.body.release();
                Ok(())
            }
        }
    }

    /// Tries until a server that is being started is there. Whoever waits for the answer bounds the time.
    async fn while_booting<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, CaptureError>
    where
        F: Future<Output = Result<T, CaptureError>>,
    {
        let mut pause = Duration::from_millis(10);
        loop {
            let outcome = attempt().await;
            let too_early = match &outcome {
                Err(CaptureError::Http(error)) => matches!(
                    error,
                    HttpError::Refused { .. }
                        | HttpError::Connect { .. }
                        | HttpError::Broken { .. }
                        | HttpError::Status {
                            status: 502..=504,
                            ..
                        }
                ),
                _ => false,
            };
            if !too_early || !self.state().booting {
                self.state().booting = false;
                return outcome;
            }
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(PAUSE);
        }
    }

    /// A status that is no success.
    async fn refused(
        self: &Arc<Self>,
        message: &Outgoing,
        mut answered: Answered,
        line: Bytes,
    ) -> Result<(), CaptureError> {
        let status = answered.status.as_u16();
        let method = message.what();
        if let Some(error) = self.unauthorized(method, &answered) {
            return Err(error.into());
        }
        let body = self.beginning(&mut answered.body).await;
        let said = crate::canonical::parse(body.trim_ascii()).ok();
        let mut get = None;
        let is_first = message.is("initialize") && self.state().transport == HttpTransport::Auto;
        if is_first && matches!(status, 400 | 404 | 405) {
            match self.open_legacy(OPENING).await {
                Ok(()) => {
                    return Box::pin(
                        self.post(message, String::from_utf8_lossy(&line).into_owned()),
                    )
                    .await;
                }
                Err(CaptureError::Http(HttpError::Status { status, .. })) => {
                    get = Some(status.to_string().into())
                }
                // It does speak HTTP+SSE, and what is wrong with that is the better reason.
                Err(error @ CaptureError::Http(HttpError::ForeignEndpoint { .. })) => {
                    return Err(error);
                }
                Err(_) => get = Some("no event stream".into()),
            }
        }
        let error = said.as_ref().and_then(|it| {
            let error = it.get("error").filter(|it| **it != Json::Null)?;
            let addressed = message::answer(it, message.id?).is_some();
            (addressed || message::error_without_number(it).is_some()).then_some(error)
        });
        let unknown_method = error.is_some_and(|it| it.get("code") == Some(&Json::integer(-32601)));
        let has_session = self.state().session.is_some();
        if status == 404 && has_session && !message.is("initialize") && !unknown_method {
            return Err(HttpError::SessionLost {
                method: method.to_owned(),
            }
            .into());
        }
        let status_error = message::status_error(status);
        let error = error.or(message.is_a_mere_question().then_some(&status_error));
        match (message.id, error) {
            (Some(id), Some(error)) => self
                .hand_on(message::refusal(id, error).as_bytes(), None)
                .await
                .map(|_| ()),
            _ => Err(HttpError::Status {
                method: method.to_owned(),
                status,
                body: shortened(&String::from_utf8_lossy(&body)),
                get,
            }
            .into()),
        }
    }

    /// 401 and 403, which no other transport and no patience can change.
    pub(super) fn unauthorized(&self, method: &str, answered: &Answered) -> Option<HttpError> {
        let status = answered.status.as_u16();
        let challenges = answered.headers.get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<_> = challenges
            .map(|it| String::from_utf8_lossy(it.as_bytes()))
            .collect();
        matches!(status, 401 | 403).then(|| HttpError::Unauthorized {
            method: method.to_owned(),
            status,
            challenge: (!challenges.is_empty()).then(|| shortened(&challenges.join(", "))),
            sent: self.client.is_authorized(),
        })
    }

    /// A status that is no success, as an error.
    pub(super) async fn status(&self, method: &str, mut answered: Answered) -> CaptureError {
        if let Some(error) = self.unauthorized(method, &answered) {
            return error.into();
        }
        let body = self.beginning(&mut answered.body).await;
        HttpError::Status {
            method: method.to_owned(),
            status: answered.status.as_u16(),
            body: shortened(&String::from_utf8_lossy(&body)),
            get: None,
        }
        .into()
    }

    /// Opens the stream on which the server speaks by itself, and waits until it is open or refused. Servers need not have
    /// one. Returns whether it may be worth asking again.
    async fn listen(self: &Arc<Self>) -> bool {
        let (refused, told) = oneshot::channel();
        self.spawn(Arc::clone(self).listening(refused));
        let patience = OPENING.min(self.limits.request / 4);
        matches!(tokio::time::timeout(patience, told).await, Ok(Ok(true)))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::super::spec::{HttpAddress, Template};
    use super::*;

    /// What goes out for one line.
    async fn sent(line: &str) -> String {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let spec =
            HttpSpec::of(HttpAddress::new(&Template::new(url), &|_| None).expect("an address"));
        let limits = Limits::default();
        let client = Client::new(&spec, limits.start).expect("a client");
        let (_pipe, mut near) = Pipe::open(client, &spec, Arc::default(), &limits);
        near.write_all(format!("{line}\n").as_bytes())
            .await
            .expect("written");
        let (mut socket, _) = listener.accept().await.expect("a connection");
        let mut request = Vec::new();
        while !request.ends_with(line.as_bytes()) {
            assert_ne!(socket.read_buf(&mut request).await.expect("bytes"), 0);
        }
        String::from_utf8(request).expect("text")
    }

    #[tokio::test]
    async fn a_message_that_names_its_revision_says_so_in_the_headers_too() {
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let request = sent(line).await;
        assert!(
            request.contains("\r\nmcp-protocol-version: 2026-07-28\r\n"),
            "{request}"
        );
        assert!(
            request.contains("\r\nmcp-method: tools/list\r\n"),
            "{request}"
        );
        assert!(!request.contains("mcp-session-id"), "{request}");
    }

    #[tokio::test]
    async fn a_message_that_does_not_says_nothing() {
        let request = sent(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#).await;
        assert!(request.starts_with("POST /mcp HTTP/1.1\r\n"), "{request}");
        assert!(
            !request.contains("mcp-method") && !request.contains("mcp-protocol"),
            "{request}"
        );
    }
}

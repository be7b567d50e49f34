//! A server over HTTP as a pair of pipes: every line written is sent as a POST, every message that
//! comes back is a line to read. This is the only difference between a server over stdio and one
//! over HTTP.
//!
//! **Order.** A notification or an answer is accepted by the server before the next line is sent;
//! requests run concurrently. The server's own stream is opened before the server is notified that
//! the client is ready: announcements triggered by that are not lost.

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
use crate::capture::Limits;
use crate::capture::error::CaptureError;
use crate::capture::inbox::{Inbox, shortened};
use exact_json::Json;

/// How long the server may take to open its own stream. Some only begin to answer with the first
/// event.
const OPENING: Duration = Duration::from_secs(1);

/// How long to wait for the end of a session, which nothing depends on.
const GOODBYE: Duration = Duration::from_secs(2);

/// The longest pause between two attempts to reach a server that is being started.
const PAUSE: Duration = Duration::from_millis(200);

/// The client's notification that it is ready.
const READY: &str = "notifications/initialized";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The far end of the pipes. Dropping it ends everything in progress.
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

    /// Whether a server that is being started has not answered yet.
    pub(super) fn is_booting(&self) -> bool {
        self.shared.state().booting
    }

    /// Whether the server speaks HTTP+SSE of 2024-11-05.
    pub(super) fn speaks_sse(&self) -> bool {
        self.shared.state().transport == HttpTransport::Sse
    }

    /// Ends everything in progress, and the session, if any.
    pub(super) async fn close(self) {
        self.task.abort();
        self.shared.tasks().abort_all();
        if self.shared.state().session.is_none() {
            return;
        }
        let ask = self
            .shared
            .ask(Method::DELETE, "DELETE", HeaderMap::new(), Bytes::new());
        // Servers may refuse it (405); the session is then up to them.
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

/// What is known about the server so far.
pub(super) struct State {
    /// The address that the user gave.
    pub(super) base: Url,
    /// Where to send messages.
    pub(super) url: Url,
    pub(super) transport: HttpTransport,
    /// HTTP+SSE: the stream is open.
    pub(super) is_open: bool,
    session: Option<HeaderValue>,
    /// The negotiated revision.
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

    /// Runs a task in the background, until the pipes are closed.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Nothing more can be learned from this server: the near end reads the end of its pipe, and
    /// the reason.
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
            // Slightly less than the timeout of a request that waits behind it, so that the more
            // precise error comes first.
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
                // A server that rejects our answers still answers our requests.
                _ => {}
            }
        }
    }

    /// Sends a message that expects no answer. The server's own stream is opened before it is
    /// notified that the client is ready.
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

    /// A request to the address for messages.
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

    /// A GET for an event stream, resuming after the event `last_id`.
    pub(super) fn ask_for_events(&self, last_id: Option<&HeaderValue>) -> Ask {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, EVENT_STREAM);
        if let Some(id) = last_id {
            headers.insert(LAST_EVENT, id.clone());
        }
        self.ask(Method::GET, "GET", headers, Bytes::new())
    }

    /// Sends one message, and processes the result.
    async fn post(self: &Arc<Self>, message: &Outgoing, line: String) -> Result<(), CaptureError> {
        let (transport, is_open) = {
            let state = self.state();
            (state.transport, state.is_open)
        };
        if transport == HttpTransport::Sse && !is_open {
            // Slightly less than the caller's timeout, so that the more precise error comes first.
            let patience = self.limits.start.mul_f64(0.9);
            self.while_booting(|| self.open_legacy(patience)).await?;
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, EITHER);
        if let Some(revision) = &message.revision {
            // A message that names its revision has no session.
            headers.insert(REVISION, revision.clone());
            if let Ok(method) = HeaderValue::from_str(message.what()) {
                headers.insert(METHOD, method);
            }
            if let Some(name) = resource_named(message.what(), &line) {
                headers.insert(NAME, name);
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
            // The answer to a notification is ignored, and over HTTP+SSE answers come elsewhere.
            _ => {
                answered.body.release();
                Ok(())
            }
        }
    }

    /// Retries until a server that is being started is ready. The caller limits the time.
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

    /// Handles an error status.
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
        let said = exact_json::parse(body.trim_ascii()).ok();
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

    /// 401 and 403, which no other transport and no waiting can change.
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

    /// An error status as an error.
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

    /// Opens the server's own stream, and waits until it is open or refused. Servers need not have
    /// one. Returns whether it may be worth trying again.
    async fn listen(self: &Arc<Self>) -> bool {
        let (refused, answer) = oneshot::channel();
        self.spawn(Arc::clone(self).listening(refused));
        let patience = OPENING.min(self.limits.request / 4);
        matches!(tokio::time::timeout(patience, answer).await, Ok(Ok(true)))
    }
}

/// The resource that a message reads, which 2026-07-28 repeats in a header. Anything but printable
/// ASCII is encoded.
fn resource_named(method: &str, line: &str) -> Option<HeaderValue> {
    if method != crate::capture::contents::READ {
        return None;
    }
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let uri = message.get("params")?.get("uri")?.as_str()?;
    let is_plain = uri.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    if is_plain {
        return HeaderValue::from_str(uri).ok();
    }
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(uri);
    HeaderValue::from_str(&format!("=?base64?{encoded}?=")).ok()
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::super::spec::{HttpAddress, Template};
    use super::*;

    /// What is sent for one line.
    async fn sent(line: &str) -> String {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let spec =
            HttpSpec::of(HttpAddress::new(&Template::new(url), &|_| None).expect("an address"));
        let limits = Limits::default();
        let client = Client::new(&spec, &Default::default(), limits.start).expect("a client");
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
    async fn a_message_that_names_its_revision_repeats_it_in_the_headers() {
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
    async fn a_message_without_a_revision_has_no_such_header() {
        let request = sent(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#).await;
        assert!(request.starts_with("POST /mcp HTTP/1.1\r\n"), "{request}");
        assert!(
            !request.contains("mcp-method") && !request.contains("mcp-protocol"),
            "{request}"
        );
    }
}

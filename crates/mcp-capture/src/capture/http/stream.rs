//! What comes back from a server over HTTP: JSON bodies, event streams, and resumed streams.
//!
//! **Order.** Before an answer is passed on, everything that has arrived on other connections is
//! read, so that a change announced before an answer is seen before it, as on stdio.
//!
//! **Bytes.** A message is passed on as it came, except for line breaks between its parts, which
//! become spaces.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::oneshot;

use super::client::{Answered, Body, shown};
use super::error::HttpError;
use super::message;
use super::pipe::Shared;
use super::spec::HttpTransport;
use super::sse::Decoder;
use crate::capture::error::CaptureError;
use crate::capture::inbox::shortened;
use crate::capture::wire;
use exact_json::Json;
use exact_json::reader::parse_within;

/// How many events one server may send.
const EVENTS: usize = 100_000;

/// How often a stream that ended is resumed.
const RESUMES: usize = 8;

/// How long to wait before that by default.
const RETRY: Duration = Duration::from_secs(1);

/// How long the rest of a stream may come after the answer that it was opened for.
const REST: Duration = Duration::from_secs(1);

/// How much of a body is read for a message.
const BEGINNING: usize = 64 * 1024;

/// How often to yield before an answer is passed on: from the socket through hyper to the pipe.
const TURNS: usize = 8;

/// The request whose answer a body is read for.
#[derive(Clone, Copy)]
pub(super) struct Expected<'a> {
    id: i64,
    method: &'a str,
}

/// A stream that ended.
struct Ended {
    answered: bool,
    last_id: Option<HeaderValue>,
    retry: Option<Duration>,
    problem: Option<String>,
}

impl Shared {
    /// The answer to a request, as JSON or in an event stream.
    pub(super) async fn answer(
        &self,
        id: i64,
        method: &str,
        mut answered: Answered,
    ) -> Result<(), CaptureError> {
        let expected = Expected { id, method };
        let method = method.to_owned();
        readable(&method, &answered.headers)?;
        match content_type(&answered.headers).as_str() {
            "application/json" => {
                let body = self.whole(&method, &mut answered.body).await?;
                if self.hand_on(&body, Some(expected)).await? {
                    Ok(())
                } else {
                    Err(no_answer(method, &body).into())
                }
            }
            "text/event-stream" => self.follow(answered.body, expected).await,
            kind => {
                let body = self.beginning(&mut answered.body).await;
                if body.trim_ascii().is_empty() {
                    let nothing = format!("status {} with an empty body", answered.status.as_u16());
                    return Err(no_answer(method, nothing.as_bytes()).into());
                }
                let kind = match kind {
                    "" => "without a Content-Type".to_owned(),
                    kind if kind.len() <= 40 && kind.chars().all(is_of_a_type) => {
                        format!("`{kind}`")
                    }
                    _ => "of an invalid type".to_owned(),
                };
                let body = shortened(&String::from_utf8_lossy(&body));
                let method = method.into();
                Err(HttpError::NotMcp { method, kind, body }.into())
            }
        }
    }

    /// Reads the stream of an answer, and resumes it if it ends too early.
    async fn follow(&self, body: Body, expected: Expected<'_>) -> Result<(), CaptureError> {
        let mut ended = self.stream(body, Some(expected), None).await?;
        for _ in 0..RESUMES {
            let (false, Some(last_id)) = (ended.answered, &ended.last_id) else {
                break;
            };
            tokio::time::sleep(ended.retry.unwrap_or(RETRY)).await;
            let Ok(answered) = self.client.send(self.ask_for_events(Some(last_id))).await else {
                break;
            };
            if !answered.status.is_success()
                || content_type(&answered.headers) != "text/event-stream"
            {
                break;
            }
            let before = ended;
            ended = self.stream(answered.body, Some(expected), None).await?;
            ended.last_id = ended.last_id.or(before.last_id);
            ended.retry = ended.retry.or(before.retry);
        }
        if ended.answered {
            Ok(())
        } else {
            Err(HttpError::StreamEnded {
                method: expected.method.to_owned(),
                problem: ended.problem,
            }
            .into())
        }
    }

    /// Reads the server's own stream, as long as there is one. `refused` receives whether the
    /// server did not open it yet, and is dropped once that is known.
    pub(super) async fn listening(self: Arc<Self>, refused: oneshot::Sender<bool>) {
        let mut refused = Some(refused);
        let mut last_id = None;
        for _ in 0..=RESUMES {
            let Ok(answered) = self
                .client
                .send(self.ask_for_events(last_id.as_ref()))
                .await
            else {
                return;
            };
            let is_stream = content_type(&answered.headers) == "text/event-stream";
            if !answered.status.is_success() || !is_stream {
                if let Some(refused) = refused.take() {
                    let for_good = matches!(answered.status.as_u16(), 200..=299 | 404 | 405 | 501);
                    let _ = refused.send(!for_good);
                }
                return;
            }
            if let Some(refused) = refused.take() {
                let _ = refused.send(false);
            }
            match self.stream(answered.body, None, None).await {
                Ok(ended) => {
                    last_id = ended.last_id.or(last_id);
                    tokio::time::sleep(ended.retry.unwrap_or(RETRY)).await;
                }
                Err(error) => return self.fail(error).await,
            }
        }
    }

    /// HTTP+SSE: opens the stream for everything that comes back, and waits for the address for
    /// messages.
    pub(super) async fn open_legacy(
        self: &Arc<Self>,
        patience: Duration,
    ) -> Result<(), CaptureError> {
        let answered = self.client.send(self.ask_for_events(None)).await?;
        if !answered.status.is_success() {
            return Err(self.status("GET", answered).await);
        }
        readable("GET", &answered.headers)?;
        let kind = content_type(&answered.headers);
        if kind != "text/event-stream" {
            let problem = format!("the answer to GET is of type `{}`", shortened(&kind));
            return Err(HttpError::NoEndpoint { problem }.into());
        }
        let found = answered.url.clone();
        let (endpoint, address) = oneshot::channel();
        let shared = Arc::clone(self);
        self.spawn(async move {
            let outcome = shared.stream(answered.body, None, Some(endpoint)).await;
            // Until the address is known, the code waiting for it handles this.
            if !shared.state().is_open {
                return;
            }
            let error = match outcome {
                Ok(ended) => HttpError::StreamEnded {
                    method: shared.inbox.first_open().unwrap_or("initialize").to_owned(),
                    problem: ended.problem,
                }
                .into(),
                Err(error) => error,
            };
            shared.fail(error).await;
        });
        let no_endpoint = |problem: &str| HttpError::NoEndpoint {
            problem: problem.to_owned(),
        };
        let address = tokio::time::timeout(patience, address).await;
        let address = address.map_err(|_| no_endpoint("no `endpoint` event came"))?;
        let address =
            address.map_err(|_| no_endpoint("it ended before an `endpoint` event came"))?;
        let address = String::from_utf8_lossy(&address).into_owned();
        let to = found
            .join(address.trim())
            .map_err(|_| no_endpoint(&format!("`{}` is not a URL", shortened(&address))))?;
        if !self.client.is_own(&to) {
            return Err(HttpError::ForeignEndpoint {
                to: shown(&to, &address),
            }
            .into());
        }
        let mut state = self.state();
        state.url = to;
        state.transport = HttpTransport::Sse;
        state.is_open = true;
        Ok(())
    }

    /// Reads a stream to its end, or slightly beyond the answer that it was opened for.
    async fn stream(
        &self,
        mut body: Body,
        expected: Option<Expected<'_>>,
        mut endpoint: Option<oneshot::Sender<Vec<u8>>>,
    ) -> Result<Ended, CaptureError> {
        let mut decoder = Decoder::new(self.limits.answer_bytes);
        let mut answered = false;
        let mut problem = None;
        loop {
            let chunk = if !answered {
                body.chunk().await
            } else {
                tokio::time::timeout(REST, body.chunk())
                    .await
                    .unwrap_or(None)
            };
            let bytes = match chunk {
                None => break,
                Some(Ok(bytes)) => bytes,
                Some(Err(broken)) => {
                    problem = Some(broken);
                    break;
                }
            };
            self.count(bytes.len())?;
            let events = decoder.push(&bytes);
            for event in events.map_err(|_| self.too_long())? {
                if self.events.fetch_add(1, Ordering::Relaxed) >= EVENTS {
                    return Err(HttpError::TooManyEvents { limit: EVENTS }.into());
                }
                match event.name.as_str() {
                    "" | "message" => answered |= self.hand_on(&event.data, expected).await?,
                    "endpoint" => {
                        if let Some(endpoint) = endpoint.take() {
                            let _ = endpoint.send(event.data);
                        }
                    }
                    _ => {}
                }
            }
        }
        let last_id = decoder.last_id().filter(|it| !it.is_empty());
        Ok(Ended {
            answered,
            last_id: last_id.and_then(|it| HeaderValue::from_str(it).ok()),
            retry: decoder.retry(),
            problem,
        })
    }

    /// Passes a message on as a line. Returns whether it was the expected answer.
    pub(super) async fn hand_on(
        &self,
        text: &[u8],
        expected: Option<Expected<'_>>,
    ) -> Result<bool, CaptureError> {
        let text = text
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(text)
            .trim_ascii();
        if text.is_empty() {
            return Ok(false);
        }
        let limit = self.limits.values;
        let message = match parse_within(text, limit) {
            Ok((message, _)) => message,
            Err(error) if wire::is_too_many(&error.problem) => {
                let unit = "JSON values";
                return Err(CaptureError::TooMuch { limit, unit });
            }
            Err(error) if wire::looks_like_an_answer(text) => {
                return Err(CaptureError::Unreadable {
                    method: expected.and_then(|it| self.inbox.open(it.id)),
                    problem: format!(
                        "line {}, column {}: {}",
                        error.line, error.column, error.problem
                    ),
                });
            }
            Err(_) => {
                self.inbox.noise(text);
                return Ok(false);
            }
        };
        let mut line = message::one_line(text);
        let mut answered = false;
        if let Some(expected) = expected {
            let answer = message::answer(&message, expected.id);
            if let (None, Some(error)) = (answer, message::error_without_number(&message)) {
                // Over HTTP it is known which request an answer belongs to, even if the server does
                // not say.
                line = message::refusal(expected.id, error).into_bytes();
                answered = true;
            }
            answered |= answer.is_some();
            if expected.method == "initialize" {
                let revision = answer.and_then(|it| {
                    it.get("result")?
                        .get("protocolVersion")
                        .and_then(Json::as_str)
                });
                self.state().revision = revision.and_then(|it| HeaderValue::from_str(it).ok());
            }
        }
        if answered {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
        }
        line.push(b'\n');
        // Without a reader the capture is over, and its end has been explained.
        let _ = self.out.lock().await.write_all(&line).await;
        Ok(answered)
    }

    /// A body to its end.
    async fn whole(&self, method: &str, body: &mut Body) -> Result<Vec<u8>, CaptureError> {
        let mut whole = Vec::new();
        while let Some(chunk) = body.chunk().await {
            let chunk = chunk.map_err(|problem| HttpError::Broken {
                method: method.to_owned(),
                problem,
                may_expect_tls: false,
            })?;
            self.count(chunk.len())?;
            whole.extend_from_slice(&chunk);
            if whole.len() > self.limits.answer_bytes {
                return Err(self.too_long());
            }
        }
        Ok(whole)
    }

    /// The beginning of a body that is not an answer, for a message. Waits only briefly.
    pub(super) async fn beginning(&self, body: &mut Body) -> Vec<u8> {
        let mut beginning = Vec::new();
        let read = async {
            while beginning.len() < BEGINNING
                && let Some(Ok(chunk)) = body.chunk().await
            {
                beginning.extend_from_slice(&chunk);
            }
        };
        let _ = tokio::time::timeout(REST, read).await;
        beginning
    }

    fn too_long(&self) -> CaptureError {
        CaptureError::TooMuch {
            limit: self.limits.answer_bytes,
            unit: "bytes",
        }
    }

    /// Counts what came, whatever it is.
    fn count(&self, more: usize) -> Result<(), CaptureError> {
        let limit = self.limits.bytes;
        let before = self.bytes.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) > limit {
            Err(HttpError::TooManyBytes { limit }.into())
        } else {
            Ok(())
        }
    }
}

/// Nothing is decompressed: it was not requested, and a small body may expand endlessly.
fn readable(method: &str, headers: &HeaderMap) -> Result<(), HttpError> {
    let encoding = headers
        .get(CONTENT_ENCODING)
        .map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
    match encoding {
        Some(encoding) if !encoding.trim().eq_ignore_ascii_case("identity") => {
            Err(HttpError::Compressed {
                method: method.to_owned(),
                encoding: shortened(&encoding),
            })
        }
        _ => Ok(()),
    }
}

/// The type of a body without its parameters.
fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether a character may appear in a content type in a message.
fn is_of_a_type(character: char) -> bool {
    character.is_ascii_alphabetic() || "/+-.".contains(character)
}

fn no_answer(method: String, body: &[u8]) -> HttpError {
    HttpError::NoAnswer {
        method,
        body: shortened(&String::from_utf8_lossy(body)),
    }
}

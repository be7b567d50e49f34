//! A custom transport under rmcp: lines of JSON-RPC, read losslessly and within bounds.
//!
//! rmcp handles the lifecycle (`server/discover`, `initialize`, `initialized`, request ids and
//! their answers). What it would lose is handled here:
//!
//! - **Answers** go into the [`Inbox`] as sent; rmcp gets a placeholder with the same id, because
//!   its own types drop members, and because an answer that it cannot read would leave the request
//!   pending forever.
//! - **Requests of the server** are answered here, at every stage and under exactly the id that the
//!   server used: rmcp ignores them before the handshake is complete.
//! - **Notifications** end here too, so that malformed parameters do no harm.
//! - **Noise**, lines that are not JSON-RPC, is counted.
//! - **The era** is decided here ([`Greeting`]): rmcp waits ten seconds for a server that ignores
//!   `server/discover`.
//!
//! Memory is bounded at every point ([`Limits`]): a line, the values in it, all answers together,
//! and answers that the server has not read.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    ClientJsonRpcMessage, CustomResult, DiscoverResult, ErrorCode, ErrorData, InitializeResult,
    JsonRpcMessage, NumberOrString, ProtocolVersion, ServerCapabilities, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Limits;
use super::error::CaptureError;
use super::inbox::{Answer, Inbox, shortened};
use super::introduction::{capabilities, meta};
use super::opening::{DISCOVER, Greeting, INITIALIZE, Opening, Step};
use crate::surface::{ClientProfile, Era, Kind};
use exact_json::reader::{Problem, parse_within};
use exact_json::{Json, Object, to_compact};

/// A requested method as a static string.
fn method_named(name: Option<&str>) -> Option<&'static str> {
    let lists = Kind::ALL.iter().map(|kind| super::lists::method(*kind));
    let mut methods = [DISCOVER, INITIALIZE, "ping"].into_iter().chain(lists);
    methods.find(|known| Some(*known) == name)
}

/// The size of the read buffer.
const CHUNK: usize = 64 * 1024;

/// The transport for one server.
pub(super) struct Wire<R> {
    reader: R,
    /// Read but not yet parsed, except for its first `taken` bytes.
    buffer: Vec<u8>,
    taken: usize,
    /// Up to here `buffer` has no newline.
    searched: usize,
    /// All bytes so far.
    total: usize,
    limits: Limits,
    /// Bytes and values of the current line, until an answer in it has been counted.
    at_hand: (usize, usize),
    /// Bytes and values of all answers.
    answered: (usize, usize),
    ended: bool,
    /// What the client announces in a handshake.
    capabilities: serde_json::Value,
    /// What it sends about itself with every request, if there is no handshake.
    meta: serde_json::Value,
    greeting: Greeting,
    /// When the greeting has waited long enough.
    deadline: Option<Instant>,
    /// The opening request that rmcp waits for, and its method.
    awaited: Option<(i64, &'static str)>,
    /// The opening requests as sent.
    sent: Vec<Json>,
    out: mpsc::UnboundedSender<Vec<u8>>,
    /// Bytes that the server has not read yet.
    unread: Arc<AtomicUsize>,
    inbox: Arc<Inbox>,
    ready: VecDeque<ServerJsonRpcMessage>,
}

/// The sending half: keeps the server's stdin open until it is closed or dropped.
#[derive(Debug)]
pub(super) struct Sender(JoinHandle<()>);

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Sender {
    /// Closes the server's stdin.
    pub(super) async fn close(mut self) {
        self.0.abort();
        let _ = (&mut self.0).await;
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Wire<R> {
    /// A transport that reads from `reader` within `limits`.
    pub(super) fn new(
        reader: R,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        client: &ClientProfile,
        opening: Opening,
        inbox: Arc<Inbox>,
        limits: &Limits,
    ) -> (Self, Sender) {
        let (out, lines) = mpsc::unbounded_channel();
        let unread = Arc::new(AtomicUsize::new(0));
        let writing = tokio::spawn(write(lines, writer, Arc::clone(&unread)));
        let wire = Self {
            reader,
            buffer: Vec::new(),
            taken: 0,
            searched: 0,
            total: 0,
            limits: limits.clone(),
            at_hand: (0, 0),
            answered: (0, 0),
            ended: false,
            capabilities: capabilities(&client.capabilities, Era::Legacy),
            meta: meta(client),
            greeting: Greeting::new(opening),
            deadline: None,
            awaited: None,
            sent: Vec::new(),
            out,
            unread,
            inbox,
            ready: VecDeque::new(),
        };
        (wire, Sender(writing))
    }

    /// The memory of bytes that were read but not yet parsed.
    #[cfg(any(test, fuzzing))]
    pub(super) fn held(&self) -> usize {
        self.buffer.capacity()
    }

    /// The next message for rmcp; `None` if there will be none.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        for count in 1_usize.. {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if count.is_multiple_of(256) {
                // A flood must not keep timeouts from firing.
                tokio::task::yield_now().await;
            }
            let line = match self.deadline {
                None => self.line().await?,
                Some(deadline) => tokio::select! {
                    biased;
                    line = self.line() => line?,
                    () = tokio::time::sleep_until(deadline) => {
                        let step = self.greeting.elapsed();
                        if let Err(error) = self.take(step) {
                            self.inbox.fail(error);
                            self.give_up();
                        }
                        continue;
                    }
                },
            };
            // Not copied: a line may be as long as a whole contract.
            let buffer = std::mem::take(&mut self.buffer);
            let read = self.read(&buffer[line]);
            self.buffer = buffer;
            if let Err(error) = read {
                self.inbox.fail(error);
                self.give_up();
            }
        }
        None
    }

    /// The range of the next non-empty line in the buffer. Cancel-safe: rmcp drops this future
    /// whenever something else happens first.
    async fn line(&mut self) -> Option<Range<usize>> {
        loop {
            let newline = self.buffer[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let end = match newline {
                Some(at) => self.searched + at + 1,
                // A last line without a newline still counts.
                None if self.ended && self.taken < self.buffer.len() => self.buffer.len(),
                None if self.ended => return None,
                None => {
                    self.searched = self.buffer.len();
                    self.fill().await;
                    continue;
                }
            };
            let line = &self.buffer[self.taken..end];
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            let start = end - line.trim_ascii_start().len();
            let length = line.trim_ascii().len();
            self.taken = end;
            self.searched = end;
            if length > 0 {
                return Some(start..start + length);
            }
        }
    }

    async fn fill(&mut self) {
        // Parsed bytes are dropped once per chunk, not once per line: a flood of short lines stays
        // linear.
        self.buffer.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        if self.buffer.is_empty() {
            // A long line does not keep its memory until the end.
            self.buffer.shrink_to(CHUNK);
        }
        self.buffer.reserve(CHUNK);
        match self.reader.read_buf(&mut self.buffer).await {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.total = self.total.saturating_add(count);
                let waiting = self.buffer.len();
                if self.total > self.limits.bytes {
                    let limit = self.limits.bytes;
                    self.inbox.fail(CaptureError::TooManyBytes { limit });
                    self.give_up();
                } else if waiting > self.limits.answer_bytes
                    && !self.buffer[waiting - count..].contains(&b'\n')
                {
                    let limit = self.limits.answer_bytes;
                    self.inbox.fail(CaptureError::LongLine { limit });
                    self.give_up();
                }
            }
            Err(error) => {
                self.inbox.fail(CaptureError::Read(error));
                self.give_up();
            }
        }
    }

    fn give_up(&mut self) {
        self.ended = true;
        self.buffer = Vec::new();
        self.taken = 0;
        self.searched = 0;
    }

    /// Parses one line.
    fn read(&mut self, line: &[u8]) -> Result<(), CaptureError> {
        let limit = self.limits.values;
        let parsed = parse_within(line, limit).map(|(message, values)| {
            self.at_hand = (line.len(), values);
            message
        });
        match parsed {
            // Revision 2025-03-26 allows several messages in an array.
            Ok(Json::Array(messages)) if messages.iter().any(is_message) => messages
                .into_iter()
                .try_for_each(|message| self.message(message, line)),
            Ok(message) => self.message(message, line),
            Err(error) if looks_like_an_answer(line) && is_too_many(&error.problem) => {
                Err(CaptureError::TooMuch {
                    limit,
                    unit: "JSON values",
                })
            }
            Err(error) if looks_like_an_answer(line) => Err(CaptureError::Unreadable {
                method: ids_in(line)
                    .find_map(|id| self.inbox.open(id))
                    .or_else(|| Some(self.inbox.only_open()?.1)),
                problem: format!("column {}: {}", error.column, error.problem),
            }),
            Err(_) => {
                self.inbox.noise(line);
                Ok(())
            }
        }
    }

    fn message(&mut self, message: Json, line: &[u8]) -> Result<(), CaptureError> {
        let Json::Object(mut object) = message else {
            self.inbox.noise(line);
            return Ok(());
        };
        let is_rpc = object.get("jsonrpc").and_then(Json::as_str) == Some("2.0");
        let conflicting_member = conflicting_member(&object);
        let answer = match (object.contains("method"), object.get("error")) {
            (true, _) => None,
            (_, Some(error)) if *error != Json::Null => object.take("error").map(Answer::Error),
            _ => object.take("result").map(Answer::Result),
        };
        let id = object.get("id").filter(|id| **id != Json::Null);
        match (answer, object.get("method").and_then(Json::as_str)) {
            (Some(answer), _) => {
                let number = id.and_then(number);
                let open = match number {
                    Some(number) => self.inbox.open(number).map(|method| (number, method)),
                    // A server that could not read a request cannot name it.
                    None if id.is_none() && is_rpc && matches!(answer, Answer::Error(_)) => {
                        self.inbox.only_open()
                    }
                    None => None,
                };
                match (open, is_rpc) {
                    (Some((number, method)), true) => {
                        self.inbox.spoke();
                        let in_result = match &answer {
                            Answer::Result(result) => {
                                result.as_object().and_then(self::conflicting_member)
                            }
                            Answer::Error(_) => None,
                        };
                        if let Some(name) = conflicting_member.or(in_result) {
                            return Err(CaptureError::Malformed {
                                method,
                                problem: format!(
                                    "`{name}` is repeated with different values: clients take the first, the last or none"
                                ),
                            });
                        }
                        self.answer(number, method, answer)?;
                    }
                    (Some((_, method)), false) => {
                        return Err(CaptureError::Malformed {
                            method,
                            problem: "it has no `\"jsonrpc\": \"2.0\"`".into(),
                        });
                    }
                    // An answer to no request: late, or sent twice. Clients ignore it.
                    (None, true) => self.inbox.spoke(),
                    (None, false) => self.inbox.noise(line),
                }
            }
            (None, Some(method)) if is_rpc => {
                let echoes = |sent: &Json| sent.as_object() == Some(&object);
                if self.sent.iter().any(echoes) {
                    return Err(CaptureError::Echo);
                }
                self.inbox.spoke();
                match id {
                    Some(id) => self.reply(id, method)?,
                    None => self.notified(method),
                }
            }
            _ => self.inbox.noise(line),
        }
        Ok(())
    }

    /// An answer to a request: stored as sent, and rmcp is notified.
    fn answer(
        &mut self,
        id: i64,
        method: &'static str,
        answer: Answer,
    ) -> Result<(), CaptureError> {
        self.count()?;
        if self.greeting.era().is_none() {
            self.inbox.closed(id);
            let step = match method {
                INITIALIZE => self.greeting.initialized(answer),
                _ => self.greeting.discovered(answer),
            };
            return self.take(step);
        }
        self.inbox.answered(id, answer);
        let placeholder = CustomResult::new(serde_json::Value::Null);
        self.hand_over(id, ServerResult::CustomResult(placeholder));
        Ok(())
    }

    /// Continues the opening. rmcp gets the answer that it waits for, whatever really came.
    fn take(&mut self, step: Step) -> Result<(), CaptureError> {
        let awaited = self.awaited;
        match (step, awaited) {
            (Step::Fail(error), _) => return Err(error),
            (Step::Wait, _) | (_, None) => {}
            (Step::Initialize, Some((id, _))) => {
                let unknown = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "", None);
                let id = Some(NumberOrString::Number(id));
                self.ready
                    .push_back(ServerJsonRpcMessage::error(unknown, id));
            }
            (Step::Open(era, result), Some((id, method))) => {
                self.inbox.greeted(era, result);
                self.hand_over(id, placeholder(method));
            }
        }
        self.wait_for_the_greeting();
        Ok(())
    }

    fn wait_for_the_greeting(&mut self) {
        self.deadline = self.greeting.pause().map(|pause| Instant::now() + pause);
    }

    fn hand_over(&mut self, id: i64, result: ServerResult) {
        let message = ServerJsonRpcMessage::response(result, NumberOrString::Number(id));
        self.ready.push_back(message);
    }

    /// Counts the current line among the answers, all of which are stored.
    fn count(&mut self) -> Result<(), CaptureError> {
        let (bytes, values) = std::mem::take(&mut self.at_hand);
        self.answered.0 += bytes;
        self.answered.1 += values;
        for (count, limit, unit) in [
            (self.answered.0, self.limits.answer_bytes, "bytes"),
            (self.answered.1, self.limits.values, "JSON values"),
        ] {
            if count > limit {
                return Err(CaptureError::TooMuch { limit, unit });
            }
        }
        Ok(())
    }

    /// Answers a request of the server.
    fn reply(&self, id: &Json, method: &str) -> Result<(), CaptureError> {
        self.inbox.asked(method);
        let result = |result: Json| ("result", result);
        let error = |code: i64, message: &str| {
            let error = Json::object([
                ("code", Json::integer(code)),
                ("message", Json::string(message)),
            ]);
            ("error", error)
        };
        let outcome = match method {
            "ping" => result(Json::object([])),
            "roots/list" => result(Json::object([("roots", Json::Array(Vec::new()))])),
            "elicitation/create" => result(Json::object([("action", Json::string("decline"))])),
            "sampling/createMessage" => {
                error(-1, "mcp-keel reads contracts; it has no model to ask")
            }
            _ => error(-32601, "Method not found"),
        };
        let reply = Json::object([
            ("jsonrpc", Json::string("2.0")),
            ("id", id.clone()),
            outcome,
        ]);
        self.write(to_compact(&reply));
        let limit = self.limits.unread;
        if self.unread.load(Ordering::Relaxed) > limit {
            Err(CaptureError::Unread { limit })
        } else {
            Ok(())
        }
    }

    fn notified(&self, method: &str) {
        for kind in Kind::ALL.iter().copied() {
            let changed = kind.listing().and_then(|listing| listing.changed);
            if changed == Some(method) {
                self.inbox.changed(kind);
            }
        }
    }

    fn write(&self, mut line: String) {
        line.push('\n');
        self.unread.fetch_add(line.len(), Ordering::Relaxed);
        // Without a reader the server is gone, which the reading side explains better.
        let _ = self.out.send(line.into_bytes());
    }

    /// An outgoing message of rmcp; `None` if it is not sent.
    fn outgoing(
        &mut self,
        message: &ClientJsonRpcMessage,
    ) -> Result<Option<String>, serde_json::Error> {
        let mut value = serde_json::to_value(message)?;
        let method = value.get("method").and_then(serde_json::Value::as_str);
        let method = method_named(method);
        let number = match message {
            JsonRpcMessage::Request(request) => match request.id {
                NumberOrString::Number(id) => Some(id),
                NumberOrString::String(_) => None,
            },
            // There is no handshake to complete, although rmcp may assume so.
            JsonRpcMessage::Notification(_) if self.is_modern() => return Ok(None),
            _ => None,
        };
        let params = value
            .get_mut("params")
            .and_then(serde_json::Value::as_object_mut);
        if let Some(params) = params {
            // rmcp requests progress reports that are never read.
            params.remove("_meta");
            if params.contains_key("capabilities") {
                // rmcp's types only know some capabilities; a profile may name any.
                params.insert("capabilities".into(), self.capabilities.clone());
            }
        }
        if number.is_some() && (method == Some(DISCOVER) || self.is_modern()) {
            value["params"]["_meta"] = self.meta.clone();
        }
        let line = value.to_string();
        if let (Some(id), Some(method)) = (number, method) {
            self.inbox.opened(id, method);
            if self.greeting.era().is_none() {
                self.awaited = Some((id, method));
                self.greeting.asked(method);
                self.sent.extend(exact_json::parse_str(&line));
                self.wait_for_the_greeting();
            }
        }
        Ok(Some(line))
    }

    fn is_modern(&self) -> bool {
        self.greeting.era() == Some(Era::Modern)
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleClient> for Wire<R> {
    type Error = serde_json::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // At once, not in the future: rmcp may run several of them in any order.
        let sent = self.outgoing(&message).map(|line| {
            if let Some(line) = line {
                self.write(line);
            }
        });
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Writes lines, all available ones at once, until it is ended.
async fn write(
    mut lines: mpsc::UnboundedReceiver<Vec<u8>>,
    mut writer: impl AsyncWrite + Unpin,
    unread: Arc<AtomicUsize>,
) {
    while let Some(mut bytes) = lines.recv().await {
        while let Ok(more) = lines.try_recv() {
            bytes.extend(more);
        }
        if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
            break;
        }
        unread.fetch_sub(bytes.len(), Ordering::Relaxed);
    }
    // Keep stdin open: a server that closed its stdout would end with it, and the two must be
    // distinguished.
    std::future::pending::<()>().await;
}

/// The placeholder for the answer to an opening request.
fn placeholder(method: &str) -> ServerResult {
    let capabilities = ServerCapabilities::default();
    match method {
        // Never the server's own revision: rmcp would change its behaviour with it.
        INITIALIZE => ServerResult::InitializeResult(
            InitializeResult::new(capabilities)
                .with_protocol_version(ProtocolVersion::V_2025_11_25),
        ),
        _ => ServerResult::DiscoverResult(DiscoverResult::new(
            vec![ProtocolVersion::V_2026_07_28],
            capabilities,
        )),
    }
}

pub(super) fn is_too_many(problem: &Problem) -> bool {
    matches!(problem, Problem::TooMany { .. })
}

/// A member that appears more than once in an object, with different values.
fn conflicting_member(object: &Object) -> Option<String> {
    // The last of each name.
    let last = object.by_name();
    if last.len() == object.len() {
        return None;
    }
    let mut members = object.iter();
    let (name, _) = members.find(|(name, value)| last.get(name) != Some(value))?;
    Some(shortened(name.to_string_lossy()))
}

fn is_message(value: &Json) -> bool {
    value.get("jsonrpc").is_some()
}

/// The number in one of mcp-keel's ids; some servers send it back as a string.
pub(super) fn number(id: &Json) -> Option<i64> {
    match id {
        Json::Number(number) => number.to_exact().parse().ok(),
        Json::String(text) => text.as_str()?.parse().ok(),
        _ => None,
    }
}

/// `code: message` of a JSON-RPC error, shortened.
pub(super) fn rpc_error(error: &Json) -> String {
    let message = error.get("message").and_then(Json::as_text);
    match (error.get("code"), message) {
        (Some(code), Some(message)) => shortened(&format!("{code}: {}", message.to_string_lossy())),
        _ => shortened(&to_compact(error)),
    }
}

/// Whether a line that is not JSON was meant to be an answer. It is lost, so waiting for it is
/// pointless.
pub(super) fn looks_like_an_answer(line: &[u8]) -> bool {
    let holds = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
    line.starts_with(b"{") && holds(b"\"jsonrpc\"") && (holds(b"\"result\"") || holds(b"\"error\""))
}

/// The numbers after `"id":` in a line.
fn ids_in(line: &[u8]) -> impl Iterator<Item = i64> {
    const ID: &[u8] = b"\"id\"";
    let starts = line
        .windows(ID.len())
        .enumerate()
        .filter(|(_, window)| *window == ID);
    starts.filter_map(|(at, _)| {
        let rest = line[at + ID.len()..]
            .trim_ascii_start()
            .strip_prefix(b":")?
            .trim_ascii_start();
        let end = rest
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(rest.len());
        std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
    })
}

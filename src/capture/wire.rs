//! Our own transport under rmcp: lines of JSON-RPC, read without loss and within bounds.
//!
//! rmcp keeps the lifecycle (`initialize`, `initialized`, the numbers of requests and their answers). What it would
//! lose is kept from it here:
//!
//! - **Answers** go into the [`Inbox`] as they were sent; rmcp gets a placeholder under the same number, because
//!   its own types drop members and because an answer that it cannot read would leave the request open for ever.
//! - **Requests of the server** are answered here, at every stage and under exactly the number that the server
//!   used: rmcp ignores them before the handshake is complete.
//! - **Notifications** end here too, so that malformed parameters harm nothing.
//! - **Noise**, lines that are no JSON-RPC, is counted.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, CustomResult, InitializeResult, JsonRpcMessage, NumberOrString,
    ProtocolVersion, ServerCapabilities, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::error::CaptureError;
use super::inbox::{Answer, Inbox, shortened};
use crate::canonical::{self, Json, to_compact};
use crate::surface::{ClientProfile, Kind};

/// The methods that are asked, as names that live as long as the program.
const METHODS: [&str; 6] = [
    "initialize",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "ping",
];

/// The transport for one server.
pub(super) struct Wire<R> {
    reader: R,
    /// Read and not yet taken apart, but for its first `taken` bytes.
    buffer: Vec<u8>,
    taken: usize,
    /// Up to here `buffer` holds no newline.
    searched: usize,
    /// All bytes so far.
    total: usize,
    limit: usize,
    ended: bool,
    capabilities: serde_json::Value,
    sent_initialize: Option<Json>,
    out: mpsc::UnboundedSender<Vec<u8>>,
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
    /// A transport that reads at most `limit` bytes from `reader`.
    pub(super) fn new(
        reader: R,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        client: &ClientProfile,
        inbox: Arc<Inbox>,
        limit: usize,
    ) -> (Self, Sender) {
        let (out, lines) = mpsc::unbounded_channel();
        let wire = Self {
            reader,
            buffer: Vec::new(),
            taken: 0,
            searched: 0,
            total: 0,
            limit,
            ended: false,
            capabilities: capabilities(&client.capabilities),
            sent_initialize: None,
            out,
            inbox,
            ready: VecDeque::new(),
        };
        (wire, Sender(tokio::spawn(write(lines, writer))))
    }

    /// How much memory the bytes take that were read and not yet taken apart.
    #[cfg(any(test, fuzzing))]
    pub(super) fn held(&self) -> usize {
        self.buffer.capacity()
    }

    /// The next message for rmcp; `None` when there will be none.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        for count in 1_usize.. {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if count.is_multiple_of(256) {
                // A flood must not keep the clock from being looked at.
                tokio::task::yield_now().await;
            }
            let line = self.line().await?;
            if let Err(error) = self.read(&line) {
                self.inbox.fail(error);
                self.give_up();
            }
        }
        None
    }

    /// The next line that is not empty. Cancel-safe: rmcp drops this future whenever something else happens first.
    async fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            let newline = self.buffer[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let end = match newline {
                Some(at) => self.searched + at + 1,
                // A server that ends without a newline has still said what it said.
                None if self.ended && self.taken < self.buffer.len() => self.buffer.len(),
                None if self.ended => return None,
                None => {
                    self.searched = self.buffer.len();
                    self.fill().await;
                    continue;
                }
            };
            let line = &self.buffer[self.taken..end];
            self.taken = end;
            self.searched = end;
            let line = line
                .strip_prefix(b"\xef\xbb\xbf")
                .unwrap_or(line)
                .trim_ascii();
            if !line.is_empty() {
                return Some(line.to_vec());
            }
        }
    }

    async fn fill(&mut self) {
        // What was taken is dropped once a chunk, not once a line: a flood of short lines stays linear.
        self.buffer.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        self.buffer.reserve(64 * 1024);
        match self.reader.read_buf(&mut self.buffer).await {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.total = self.total.saturating_add(count);
                if self.total > self.limit {
                    self.inbox
                        .fail(CaptureError::TooManyBytes { limit: self.limit });
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
        self.buffer.clear();
        self.taken = 0;
        self.searched = 0;
    }

    /// Takes one line apart.
    fn read(&mut self, line: &[u8]) -> Result<(), CaptureError> {
        match canonical::parse(line) {
            // Revision 2025-03-26 allows several messages in an array.
            Ok(Json::Array(messages)) if messages.iter().any(is_message) => messages
                .into_iter()
                .try_for_each(|message| self.message(message, line)),
            Ok(message) => self.message(message, line),
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
        let Json::Object(object) = message else {
            self.inbox.noise(line);
            return Ok(());
        };
        let id = object.get("id").filter(|id| **id != Json::Null);
        let is_rpc = object.get("jsonrpc").and_then(Json::as_str) == Some("2.0");
        let answer = match (object.get("result"), object.get("error")) {
            _ if object.contains("method") => None,
            (_, Some(error)) if *error != Json::Null => Some(Answer::Error(error.clone())),
            (Some(result), _) => Some(Answer::Result(result.clone())),
            _ => None,
        };
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
                        self.answer(number, method, answer)?;
                    }
                    (Some((_, method)), false) => {
                        return Err(CaptureError::Malformed {
                            method,
                            problem: "it has no `\"jsonrpc\": \"2.0\"`".into(),
                        });
                    }
                    // An answer to nothing: late, or sent twice. No client heeds it.
                    (None, true) => self.inbox.spoke(),
                    (None, false) => self.inbox.noise(line),
                }
            }
            (None, Some(method)) if is_rpc => {
                if self
                    .sent_initialize
                    .as_ref()
                    .is_some_and(|sent| sent.as_object() == Some(&object))
                {
                    return Err(CaptureError::Echo);
                }
                self.inbox.spoke();
                match id {
                    Some(id) => self.reply(id, method),
                    None => self.notified(method),
                }
            }
            _ => self.inbox.noise(line),
        }
        Ok(())
    }

    /// An answer to a request of ours: kept as sent, and rmcp is told that it is there.
    fn answer(
        &mut self,
        id: i64,
        method: &'static str,
        answer: Answer,
    ) -> Result<(), CaptureError> {
        let placeholder = if method == "initialize" {
            match &answer {
                Answer::Result(result) => {
                    check_initialize(result)?;
                    self.inbox.initialized(result.clone());
                }
                Answer::Error(error) => {
                    return Err(CaptureError::Refused {
                        method,
                        error: told(error),
                    });
                }
            }
            // Never the server's own revision: rmcp would change its manners with it.
            let handshake = InitializeResult::new(ServerCapabilities::default())
                .with_protocol_version(ProtocolVersion::V_2025_11_25);
            ServerResult::InitializeResult(handshake)
        } else {
            ServerResult::CustomResult(CustomResult::new(serde_json::Value::Null))
        };
        self.inbox.answered(id, answer);
        let message = ServerJsonRpcMessage::response(placeholder, NumberOrString::Number(id));
        self.ready.push_back(message);
        Ok(())
    }

    /// Answers a request of the server.
    fn reply(&self, id: &Json, method: &str) {
        self.inbox.asked();
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
    }

    fn notified(&self, method: &str) {
        match method {
            "notifications/tools/list_changed" => self.inbox.changed(Kind::Tool),
            "notifications/prompts/list_changed" => self.inbox.changed(Kind::Prompt),
            "notifications/resources/list_changed" => {
                self.inbox.changed(Kind::Resource);
                self.inbox.changed(Kind::Template);
            }
            _ => {}
        }
    }

    fn write(&self, mut line: String) {
        line.push('\n');
        // Without a reader the server is gone, which the reading side finds out and explains better.
        let _ = self.out.send(line.into_bytes());
    }

    /// A message of rmcp's as it goes out.
    fn outgoing(&mut self, message: &ClientJsonRpcMessage) -> Result<String, serde_json::Error> {
        let mut value = serde_json::to_value(message)?;
        let params = value
            .get_mut("params")
            .and_then(serde_json::Value::as_object_mut);
        if let Some(params) = params {
            // rmcp asks for progress reports that nobody reads.
            params.remove("_meta");
            if params.contains_key("capabilities") {
                // Its types know only some capabilities, a profile may name any.
                params.insert("capabilities".into(), self.capabilities.clone());
            }
        }
        if let JsonRpcMessage::Request(request) = message
            && let NumberOrString::Number(id) = request.id
            && let Some(method) = value.get("method").and_then(serde_json::Value::as_str)
            && let Some(method) = METHODS.iter().find(|known| **known == method)
        {
            self.inbox.opened(id, method);
        }
        let line = value.to_string();
        if value.get("method").and_then(serde_json::Value::as_str) == Some("initialize") {
            self.sent_initialize = canonical::parse_str(&line).ok();
        }
        Ok(line)
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleClient> for Wire<R> {
    type Error = serde_json::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // At once, not in the future: rmcp may run several of them in any order.
        let sent = self.outgoing(&message).map(|line| self.write(line));
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Writes lines, all that are at hand in one go, until it is ended.
async fn write(mut lines: mpsc::UnboundedReceiver<Vec<u8>>, mut writer: impl AsyncWrite + Unpin) {
    while let Some(mut bytes) = lines.recv().await {
        while let Ok(more) = lines.try_recv() {
            bytes.extend(more);
        }
        if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
            break;
        }
    }
    // Not the end of stdin yet: a server that closed its stdout would end with it, and the two are told apart.
    std::future::pending::<()>().await;
}

fn is_message(value: &Json) -> bool {
    value.get("jsonrpc").is_some()
}

/// The number in an id of ours; some servers send it back as a string.
pub(super) fn number(id: &Json) -> Option<i64> {
    match id {
        Json::Number(number) => number.to_exact().parse().ok(),
        Json::String(text) => text.as_str()?.parse().ok(),
        _ => None,
    }
}

/// What a server must have said for its lists to mean anything. Without capabilities nothing would be listed, and
/// everything would look removed.
fn check_initialize(result: &Json) -> Result<(), CaptureError> {
    let malformed = |problem: String| {
        Err(CaptureError::Malformed {
            method: "initialize",
            problem,
        })
    };
    if result.as_object().is_none() {
        return malformed(format!("the result is {}", result.kind()));
    }
    for (member, expected) in [
        ("protocolVersion", "a string"),
        ("capabilities", "an object"),
    ] {
        match result.get(member) {
            None => return malformed(format!("it has no `{member}`")),
            Some(value) if value.kind() != expected => {
                return malformed(format!("`{member}` is {}, not {expected}", value.kind()));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// `code: message` of a JSON-RPC error, shortened.
pub(super) fn told(error: &Json) -> String {
    let message = error.get("message").and_then(Json::as_text);
    match (error.get("code"), message) {
        (Some(code), Some(message)) => shortened(&format!("{code}: {}", message.to_string_lossy())),
        _ => shortened(&to_compact(error)),
    }
}

/// Whether a line that is no JSON was meant to be an answer. It is lost, so waiting for it is in vain.
pub(super) fn looks_like_an_answer(line: &[u8]) -> bool {
    let holds = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
    line.starts_with(b"{") && holds(b"\"jsonrpc\"") && (holds(b"\"result\"") || holds(b"\"error\""))
}

/// The numbers that stand after `"id":` in a line.
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

/// The capabilities of a profile as they are announced: each name an empty object.
///
/// A dot descends (`elicitation.url`), a name with a slash is an extension's (`io.modelcontextprotocol/ui`), and
/// `tasks` alone announces all of it, because its empty object announces nothing.
fn capabilities(names: &BTreeSet<String>) -> serde_json::Value {
    const ALL_OF_TASKS: [&str; 4] = [
        "tasks.list",
        "tasks.cancel",
        "tasks.requests.sampling.createMessage",
        "tasks.requests.elicitation.create",
    ];
    let mut announced = serde_json::Map::new();
    for name in names {
        let names = match name.as_str() {
            "tasks" => &ALL_OF_TASKS[..],
            name => &[name],
        };
        for name in names {
            let path: Vec<&str> = match name.contains('/') {
                true => vec!["extensions", name],
                false => name.split('.').collect(),
            };
            let mut at = &mut announced;
            for step in path {
                let next = at.entry(step).or_insert_with(|| serde_json::json!({}));
                let serde_json::Value::Object(next) = next else {
                    break;
                };
                at = next;
            }
        }
    }
    serde_json::Value::Object(announced)
}

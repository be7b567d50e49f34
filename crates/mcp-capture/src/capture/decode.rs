//! One line of a server: recorded as it came, then decoded for rmcp.
//!
//! - **Answers** are recorded whole, and rmcp gets the message that the server sent. Where rmcp could not tell what it
//!   answers, it gets an error for that request in its place, so that nothing waits ([`sdk`]).
//! - **Requests** of the server go to rmcp, which answers them; before the connection is open it would ignore them, and they
//!   are answered here.
//! - **Announcements** are counted here, in order, so that malformed parameters do no harm.
//! - **Noise**, lines that are not JSON-RPC, is counted.

use std::sync::Arc;

use rmcp::model::{ErrorData, ServerJsonRpcMessage};

use super::error::CaptureError;
use super::record::{Answer, Answered, Record, shortened};
use super::{Limits, handler, opening, sdk};
use crate::surface::Kind;
use exact_json::reader::{Problem, parse_within};
use exact_json::{Json, Object, to_compact};

/// How many notifications rmcp is bothered with. What they mean is in the record, and each costs it more than an answer
/// of ours would.
const NOTIFICATIONS: usize = 1_000;

/// What to do about a message.
#[derive(Debug)]
pub(super) enum Decoded {
    /// It is for rmcp.
    Message(ServerJsonRpcMessage),
    /// This line answers it.
    Reply(String),
}

/// Reads the messages of one connection.
#[derive(Debug)]
pub(super) struct Decoder {
    record: Arc<Record>,
    values: usize,
    answer_bytes: usize,
    /// The requests that open the connection, as sent.
    openings: Vec<Json>,
}

impl Decoder {
    pub(super) fn new(record: Arc<Record>, limits: &Limits) -> Self {
        Self {
            record,
            values: limits.values,
            answer_bytes: limits.answer_bytes,
            openings: Vec::new(),
        }
    }

    /// A request that opens the connection was sent.
    pub(super) fn opening_sent(&mut self, line: &str) {
        self.openings.extend(exact_json::parse_str(line));
    }

    /// Reads one line. An error ends the capture.
    pub(super) fn line(&self, line: &[u8]) -> Result<Vec<Decoded>, CaptureError> {
        let limit = self.values;
        match parse_within(line, limit) {
            // Revision 2025-03-26 allows several messages in an array, which rmcp does not read.
            Ok((Json::Array(messages), values)) if messages.iter().any(is_message) => {
                let mut size = (line.len(), values);
                let decoded = messages.into_iter().map(|message| {
                    let text = to_compact(&message);
                    let decoded = self.message(message, text.as_bytes(), size, Place::InArray)?;
                    if is_answer(&decoded) {
                        size = (0, 0);
                    }
                    Ok(decoded)
                });
                let decoded: Result<Vec<Option<Decoded>>, CaptureError> = decoded.collect();
                Ok(decoded?.into_iter().flatten().collect())
            }
            Ok((message, values)) => {
                let size = (line.len(), values);
                let decoded = self.message(message, line, size, Place::Alone)?;
                Ok(decoded.into_iter().collect())
            }
            Err(error) if looks_like_an_answer(line) && is_too_many(&error.problem) => {
                Err(CaptureError::TooMuch {
                    limit,
                    unit: "JSON values",
                })
            }
            Err(error) if looks_like_an_answer(line) => Err(CaptureError::Unreadable {
                method: ids_in(line)
                    .find_map(|id| self.record.pending_method(id))
                    .or_else(|| Some(self.record.sole_pending()?.1)),
                problem: format!("column {}: {}", error.column, error.problem),
            }),
            Err(_) => {
                self.record.noise(line);
                Ok(Vec::new())
            }
        }
    }

    fn message(
        &self,
        message: Json,
        line: &[u8],
        size: (usize, usize),
        place: Place,
    ) -> Result<Option<Decoded>, CaptureError> {
        let Json::Object(mut object) = message else {
            self.record.noise(line);
            return Ok(None);
        };
        let is_rpc = object.get("jsonrpc").and_then(Json::as_str) == Some("2.0");
        let is_plain = object.len() == 3 && place == Place::Alone;
        let conflicting = conflicting_member(&object);
        let answer = match (object.contains("method"), object.get("error")) {
            (true, _) => None,
            (_, Some(error)) if *error != Json::Null => object.take("error").map(Answer::Error),
            _ => object.take("result").map(Answer::Result),
        };
        let id = object.get("id").filter(|id| **id != Json::Null);
        match (answer, object.get("method").and_then(Json::as_str)) {
            (Some(answer), _) => {
                let pending = match id.and_then(number) {
                    Some(number) => self
                        .record
                        .pending_method(number)
                        .map(|method| (number, method)),
                    // A server that could not read a request cannot name it.
                    None if id.is_none() && is_rpc && matches!(answer, Answer::Error(_)) => {
                        self.record.sole_pending()
                    }
                    None => None,
                };
                let Some((number, method)) = pending else {
                    // An answer to no request: late, or sent twice. Clients ignore it.
                    if is_rpc {
                        self.record.json_rpc_came();
                        self.late(id, &answer)?;
                    } else {
                        self.record.noise(line);
                    }
                    return Ok(None);
                };
                let malformed = |problem| Err(CaptureError::Malformed { method, problem });
                if !is_rpc {
                    return malformed("it has no `\"jsonrpc\": \"2.0\"`".to_owned());
                }
                self.record.json_rpc_came();
                let in_result = match &answer {
                    Answer::Result(result) => result.as_object().and_then(conflicting_member),
                    Answer::Error(_) => None,
                };
                if let Some(name) = conflicting.or(in_result) {
                    return malformed(format!(
                        "`{name}` is repeated with different values: clients take the first, the last or none"
                    ));
                }
                self.count(size)?;
                let (message, verdict) = match place {
                    Place::Alone => sdk::read(number, method, line, &answer, is_plain),
                    Place::InArray => sdk::misses(number, "it came in an array".to_owned()),
                };
                self.record.answered(number, Answered { answer, verdict });
                Ok(Some(Decoded::Message(message)))
            }
            (None, Some(method)) if is_rpc => {
                let echoes = |sent: &Json| sent.as_object() == Some(&object);
                if self.openings.iter().any(echoes) {
                    return Err(CaptureError::Echo);
                }
                self.record.json_rpc_came();
                Ok(match id {
                    Some(id) => Some(self.request(id, method, line)),
                    None => self.notification(method, line),
                })
            }
            _ => {
                self.record.noise(line);
                Ok(None)
            }
        }
    }

    /// An answer that nobody waits for any more. A server that answers `server/discover` after all is of the modern era,
    /// and was only slow.
    fn late(&self, id: Option<&Json>, answer: &Answer) -> Result<(), CaptureError> {
        let discovered = self.record.given_up_discover();
        match answer {
            Answer::Result(result)
                if discovered.is_some()
                    && discovered == id.and_then(number)
                    && opening::is_modern(result) =>
            {
                Err(CaptureError::BothEras)
            }
            _ => Ok(()),
        }
    }

    fn request(&self, id: &Json, method: &str, line: &[u8]) -> Decoded {
        self.record.asked(method);
        match serde_json::from_slice::<ServerJsonRpcMessage>(line) {
            Ok(message) if self.record.is_handshake_done() => Decoded::Message(message),
            Ok(ServerJsonRpcMessage::Request(request)) => {
                Decoded::Reply(handler::reply(request.id, &request.request))
            }
            _ => {
                let error = ErrorData::invalid_request("Invalid Request", None);
                Decoded::Reply(handler::refusal(id, &error))
            }
        }
    }

    fn notification(&self, method: &str, line: &[u8]) -> Option<Decoded> {
        for kind in Kind::ALL.iter().copied() {
            let changed = kind.listing().and_then(|listing| listing.changed);
            if changed == Some(method) {
                self.record.changed(kind);
            }
        }
        if self.record.notified() > NOTIFICATIONS {
            return None;
        }
        let message = serde_json::from_slice::<ServerJsonRpcMessage>(line);
        message.ok().map(Decoded::Message)
    }

    /// Counts a line among the answers, all of which are kept.
    fn count(&self, (bytes, values): (usize, usize)) -> Result<(), CaptureError> {
        let (bytes, values) = self.record.count(bytes, values);
        for (count, limit, unit) in [
            (bytes, self.answer_bytes, "bytes"),
            (values, self.values, "JSON values"),
        ] {
            if count > limit {
                return Err(CaptureError::TooMuch { limit, unit });
            }
        }
        Ok(())
    }
}

/// Where a message stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Alone,
    InArray,
}

fn is_answer(decoded: &Option<Decoded>) -> bool {
    matches!(
        decoded,
        Some(Decoded::Message(
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
        ))
    )
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

/// The number in an id of ours; some servers send it back as a string.
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

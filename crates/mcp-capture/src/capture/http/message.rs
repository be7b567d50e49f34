//! What an HTTP transport needs to know about a message: whether it expects an answer, which one it
//! got, and its headers.

use http::HeaderValue;

use crate::capture::wire::number;
use crate::surface::Era;
use exact_json::{Json, to_compact};

/// An outgoing message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Outgoing {
    /// `None` for an answer to a request of the server.
    pub(super) method: Option<String>,
    /// Its id, for a request.
    pub(super) id: Option<i64>,
    /// The revision that it names itself, if any.
    pub(super) revision: Option<HeaderValue>,
}

impl Outgoing {
    /// From a line of the wire.
    pub(super) fn read(line: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        let text = |value: &serde_json::Value| Some(value.as_str()?.to_owned());
        let method = value.get("method").and_then(text);
        let revision = value
            .pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion")
            .and_then(text);
        Some(Self {
            id: method.as_ref().and_then(|_| value.get("id")?.as_i64()),
            method,
            revision: revision
                .filter(|it| Era::of(it) == Era::Modern)
                .and_then(|it| HeaderValue::try_from(it).ok()),
        })
    }

    /// Its name in messages.
    pub(super) fn what(&self) -> &str {
        self.method.as_deref().unwrap_or("a reply from mcp-keel")
    }

    pub(super) fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// Whether nothing is lost if the server rejects it.
    pub(super) fn is_a_mere_question(&self) -> bool {
        self.is("ping") || self.is("server/discover")
    }
}

/// The answer to the request `id` in a message, or in an array of them.
pub(super) fn answer(message: &Json, id: i64) -> Option<&Json> {
    let is_answer = |message: &&Json| {
        let answers = message.get("result").is_some() || message.get("error").is_some();
        answers && message.get("method").is_none() && message.get("id").and_then(number) == Some(id)
    };
    match message {
        Json::Array(messages) => messages.iter().find(is_answer),
        message => Some(message).filter(is_answer),
    }
}

/// An error that does not say which request it is about, as sent by a server that could not read
/// one.
pub(super) fn error_without_number(message: &Json) -> Option<&Json> {
    let has_number = !matches!(message.get("id"), None | Some(Json::Null));
    let error = message.get("error").filter(|it| **it != Json::Null)?;
    (!has_number && message.get("method").is_none()).then_some(error)
}

/// An error as the answer to the request `id`.
pub(super) fn refusal(id: i64, error: &Json) -> String {
    to_compact(&Json::object([
        ("jsonrpc", Json::string("2.0")),
        ("id", Json::integer(id)),
        ("error", error.clone()),
    ]))
}

/// A status as a JSON-RPC error, for a request whose answer does not matter.
pub(super) fn status_error(status: u16) -> Json {
    Json::object([
        ("code", Json::integer(-32000)),
        ("message", Json::string(format!("HTTP {status}"))),
    ])
}

/// The text of a JSON message, on one line: line breaks can only be between its parts.
pub(super) fn one_line(text: &[u8]) -> Vec<u8> {
    let space = |byte: &u8| match byte {
        b'\n' | b'\r' => b' ',
        other => *other,
    };
    text.iter().map(space).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::parse_str;

    #[test]
    fn only_a_request_has_an_id_and_only_a_modern_one_a_revision() {
        let read = |line: &str| Outgoing::read(line).expect("JSON");
        let request = read(
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        );
        assert_eq!((request.id, request.what()), (Some(3), "tools/list"));
        assert_eq!(request.revision.expect("a revision"), "2026-07-28");
        let old =
            read(r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#);
        assert_eq!((old.id, old.revision), (Some(0), None));
        assert_eq!(read(r#"{"method":"notifications/initialized"}"#).id, None);
        assert_eq!(read(r#"{"id":7,"result":{}}"#).id, None);
    }

    #[test]
    fn an_answer_is_found_by_its_id_alone_or_in_an_array() {
        let json = |text: &str| parse_str(text).expect("JSON");
        assert!(answer(&json(r#"{"id":1,"result":{}}"#), 1).is_some());
        assert!(answer(&json(r#"{"id":"1","error":{}}"#), 1).is_some());
        assert!(answer(&json(r#"[{"method":"x"},{"id":1,"result":{}}]"#), 1).is_some());
        assert!(answer(&json(r#"{"id":1,"method":"ping"}"#), 1).is_none());
        assert!(answer(&json(r#"{"id":2,"result":{}}"#), 1).is_none());
        let nameless =
            json(r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":null}"#);
        let error = error_without_number(&nameless).expect("an error");
        assert_eq!(
            refusal(4, error),
            r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"no"}}"#
        );
        assert!(error_without_number(&json(r#"{"id":1,"error":{}}"#)).is_none());
    }

    #[test]
    fn line_breaks_become_spaces() {
        assert_eq!(one_line(b"{\r\n\t\"a\": 1.0\n}"), b"{  \t\"a\": 1.0 }");
    }
}

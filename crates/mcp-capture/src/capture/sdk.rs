//! What clients on the official Rust SDK make of an answer.
//!
//! rmcp talks to the server, and is such a client. Its types refuse a list in which a single member has another type than
//! the protocol says, and its users lose the whole list. An answer that it cannot decode at all never reaches the request
//! that it belongs to: other clients on it wait until they time out. The record has the answer either way.

use rmcp::model::{
    CacheScope, ErrorCode, ErrorData, Implementation, InitializeResult, JsonRpcResponse,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    NumberOrString, Prompt, Resource, ResourceTemplate, ServerCapabilities, ServerJsonRpcMessage,
    ServerResult, Tool,
};
use serde::de::DeserializeOwned;

use super::opening::{DISCOVER, INITIALIZE};
use super::record::{Answer, shortened};
use crate::surface::{CaptureNote, ComponentKey, Kind, NoteKind};
use exact_json::{Json, to_compact};

/// Whether rmcp reads an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Reads,
    /// Its types refuse the result.
    Refuses {
        why: String,
    },
    /// It cannot tell that this is the answer.
    Misses {
        why: String,
    },
}

/// The member of an answer that opens a connection which rmcp's type refuses, and why.
pub(super) fn refused_member(method: &str, greeting: &Json) -> Option<String> {
    let refusal = |name: &str, refuses: fn(&str) -> Option<String>| {
        let why = refuses(&to_compact(greeting.get(name)?))?;
        Some(format!("`{name}`: {why}"))
    };
    let of_both = || {
        refusal("capabilities", refuses::<ServerCapabilities>)
            .or_else(|| refusal("instructions", refuses::<String>))
    };
    match method {
        INITIALIZE => refusal("protocolVersion", refuses::<String>)
            .or_else(|| refusal("serverInfo", refuses::<Implementation>))
            .or_else(of_both),
        _ => refusal("supportedVersions", refuses::<Vec<String>>)
            .or_else(|| refusal("ttlMs", refuses::<u64>))
            .or_else(|| refusal("cacheScope", refuses::<CacheScope>))
            .or_else(of_both),
    }
}

/// Why a type of rmcp refuses a text.
fn refuses<T: DeserializeOwned>(text: &str) -> Option<String> {
    let read = serde_json::from_str::<T>(text);
    read.err().map(|error| without_place(&error))
}

/// What is handed to rmcp for an answer to the request `id`: the answer itself, or an error in its place if rmcp could not
/// tell what it answers.
///
/// `is_plain` says that the message has its three members once each, and no other.
pub(super) fn read(
    id: i64,
    method: &str,
    line: &[u8],
    answer: &Answer,
    is_plain: bool,
) -> (ServerJsonRpcMessage, Verdict) {
    let typed = match answer {
        Answer::Result(_) => read_typed(method, line),
        Answer::Error(_) => None,
    };
    let refused = match typed {
        Some(Ok(message)) if is_plain && answers(&message, id) => return (message, Verdict::Reads),
        Some(Err(why)) => Some(why),
        Some(Ok(_)) | None => None,
    };
    let message = serde_json::from_slice::<ServerJsonRpcMessage>(line);
    match message {
        Ok(message) if answers(&message, id) => {
            let verdict = match refused {
                Some(why) if !is_of(method, &message) => Verdict::Refuses { why },
                _ => Verdict::Reads,
            };
            (message, verdict)
        }
        Ok(_) => misses(id, "it has no `id`".to_owned()),
        Err(error) => misses(id, refused.unwrap_or_else(|| without_place(&error))),
    }
}

/// An error in the place of an answer of which rmcp cannot tell what it answers.
pub(super) fn misses(id: i64, why: String) -> (ServerJsonRpcMessage, Verdict) {
    let error = ErrorData::new(ErrorCode::PARSE_ERROR, why.clone(), None);
    let id = NumberOrString::Number(id);
    let message = ServerJsonRpcMessage::error(error, Some(id));
    (message, Verdict::Misses { why })
}

/// The answer as the type that rmcp has for it; `None` if rmcp is not asked so. rmcp itself tries one type after the other
/// and does not say why it refuses one.
fn read_typed(method: &str, line: &[u8]) -> Option<Result<ServerJsonRpcMessage, String>> {
    fn typed<T: DeserializeOwned>(
        line: &[u8],
        wrap: impl FnOnce(T) -> ServerResult,
    ) -> Result<ServerJsonRpcMessage, String> {
        let response: JsonRpcResponse<T> =
            serde_json::from_slice(line).map_err(|error| without_place(&error))?;
        Ok(ServerJsonRpcMessage::response(
            wrap(response.result),
            response.id,
        ))
    }
    let read = match method {
        INITIALIZE => typed::<InitializeResult>(line, ServerResult::InitializeResult),
        DISCOVER => typed(line, ServerResult::DiscoverResult),
        "tools/list" => typed::<ListToolsResult>(line, ServerResult::ListToolsResult),
        "prompts/list" => typed::<ListPromptsResult>(line, ServerResult::ListPromptsResult),
        "resources/list" => typed::<ListResourcesResult>(line, ServerResult::ListResourcesResult),
        "resources/templates/list" => {
            typed::<ListResourceTemplatesResult>(line, ServerResult::ListResourceTemplatesResult)
        }
        _ => return None,
    };
    Some(read)
}

/// Whether a message is the answer of the type that a method has.
fn is_of(method: &str, message: &ServerJsonRpcMessage) -> bool {
    let ServerJsonRpcMessage::Response(response) = message else {
        return true;
    };
    match method {
        INITIALIZE => matches!(response.result, ServerResult::InitializeResult(_)),
        DISCOVER => matches!(response.result, ServerResult::DiscoverResult(_)),
        "tools/list" => matches!(response.result, ServerResult::ListToolsResult(_)),
        "prompts/list" => matches!(response.result, ServerResult::ListPromptsResult(_)),
        "resources/list" => matches!(response.result, ServerResult::ListResourcesResult(_)),
        "resources/templates/list" => matches!(
            response.result,
            ServerResult::ListResourceTemplatesResult(_)
        ),
        _ => true,
    }
}

/// Whether rmcp sees that a message answers the request `id`.
fn answers(message: &ServerJsonRpcMessage, id: i64) -> bool {
    let answered = match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    };
    answered.is_some_and(|answered| match answered {
        NumberOrString::Number(number) => *number == id,
        NumberOrString::String(text) => text.parse() == Ok(id),
    })
}

/// What serde says, without the place: nobody sees the line.
fn without_place(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    shortened(said)
}

/// The SDK, with the version that was asked.
pub(super) fn name() -> String {
    let build = Implementation::from_build_env();
    format!("the official Rust SDK ({} {})", build.name, build.version)
}

/// What to say about a page of a list.
pub(super) fn note(kind: Kind, verdict: &Verdict, page: &Json) -> Option<CaptureNote> {
    let noun = kind.noun();
    let sdk = name();
    match verdict {
        Verdict::Reads => None,
        Verdict::Refuses { why } => {
            let culprit = culprit(kind, page);
            let message = match &culprit {
                Some((key, why)) => format!(
                    "clients on {sdk} refuse the whole list of {noun}s because of `{}`: {why}",
                    key.called()
                ),
                None => format!("clients on {sdk} refuse the whole list of {noun}s: {why}"),
            };
            Some(CaptureNote {
                kind: NoteKind::SdkRefusesList,
                component: culprit.map(|(key, _)| key),
                message,
            })
        }
        Verdict::Misses { why } => {
            let message =
                format!("clients on {sdk} wait for the list of {noun}s until they time out: {why}");
            Some(CaptureNote::new(NoteKind::SdkMissesAnswer, message))
        }
    }
}

/// The first component that rmcp's type refuses, and why.
fn culprit(kind: Kind, page: &Json) -> Option<(ComponentKey, String)> {
    let items = page.get(kind.list_member())?.as_array()?;
    items.iter().find_map(|item| {
        let text = to_compact(item);
        let why = match kind {
            Kind::Tool => refuses::<Tool>(&text),
            Kind::Prompt => refuses::<Prompt>(&text),
            Kind::Resource => refuses::<Resource>(&text),
            Kind::Template => refuses::<ResourceTemplate>(&text),
            Kind::Skill | Kind::Content => None,
        };
        Some((ComponentKey::of(kind, item), why?))
    })
}

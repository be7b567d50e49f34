//! How a connection is opened, and why it cannot be.
//!
//! The two eras open differently, and a server that was opened in one may reject the other until it
//! is restarted. So a connection has one era, and rmcp decides it before anything is listed. What
//! went wrong is said by what the server sent, which the record has.

use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;

use super::decode::rpc_error;
use super::error::CaptureError;
use super::record::{Answer, Answered, Record, shortened};
use super::sdk::{self, Verdict};
use crate::surface::Era;
use exact_json::Json;

/// The request that opens a connection without a handshake.
pub(super) const DISCOVER: &str = "server/discover";

/// The request that opens a connection with one.
pub(super) const INITIALIZE: &str = "initialize";

/// How a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandshakeMode {
    /// With `initialize`, and nothing else.
    Initialize,
    /// With `server/discover`, and nothing else.
    Discover,
    /// With `server/discover`; with `initialize` if that is unknown, or not answered in time.
    Probe {
        /// The time limit. `None` waits for an answer: HTTP always gives one.
        patience: Option<Duration>,
    },
}

impl HandshakeMode {
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Initialize => INITIALIZE,
            Self::Discover | Self::Probe { .. } => DISCOVER,
        }
    }

    /// The same in rmcp's terms.
    pub(super) fn lifecycle(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions },
            Self::Probe { .. } => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        }
    }

    /// How long the server may take to answer `server/discover` before it is asked otherwise.
    pub(super) fn patience(self) -> Option<Duration> {
        match self {
            Self::Probe { patience } => patience,
            Self::Initialize | Self::Discover => None,
        }
    }
}

/// The era of an open connection, and the answer that opened it.
pub(super) fn greeting(record: &Record) -> Option<(Era, Json)> {
    let answer = |method| match record.opening(method)?.answer {
        Answer::Result(result) => Some(result),
        Answer::Error(_) => None,
    };
    let legacy = answer(INITIALIZE).map(|result| (Era::Legacy, result));
    legacy.or_else(|| Some((Era::Modern, answer(DISCOVER)?)))
}

/// What an answer must contain for the lists to mean anything. Without capabilities nothing would
/// be listed, and everything would look removed.
pub(super) fn check(era: Era, greeting: &Json) -> Result<(), CaptureError> {
    let method = match era {
        Era::Legacy => INITIALIZE,
        Era::Modern => DISCOVER,
    };
    if let (Era::Modern, Some(kind)) = (era, incomplete(greeting)) {
        return Err(CaptureError::Incomplete { method, kind });
    }
    match greeting.get("capabilities") {
        Some(Json::Object(_)) => Ok(()),
        other => Err(CaptureError::Malformed {
            method,
            problem: format!(
                "`capabilities` is {}, not an object",
                other.map_or("missing", Json::kind)
            ),
        }),
    }
}

/// Why rmcp could not open a connection, if an answer of the server says so.
pub(super) fn refusal(record: &Record) -> Option<CaptureError> {
    if let Some(answered) = record.opening(INITIALIZE) {
        return match answered.answer {
            Answer::Error(error) => Some(refused(INITIALIZE, &error)),
            Answer::Result(_) => unreadable(INITIALIZE, &answered),
        };
    }
    let answered = record.opening(DISCOVER)?;
    match &answered.answer {
        Answer::Result(result) => {
            let offered = match offered_revisions(result) {
                Ok(offered) => offered,
                Err(said) => return Some(not_modern(said)),
            };
            if let Some(kind) = incomplete(result) {
                let method = DISCOVER;
                return Some(CaptureError::Incomplete { method, kind });
            }
            if offered.iter().any(|name| name == Era::Modern.revision()) {
                unreadable(DISCOVER, &answered)
            } else {
                Some(other_revisions(&offered))
            }
        }
        Answer::Error(error) => Some(discover_refused(error)),
    }
}

/// An answer that opens no connection because rmcp's types refuse it.
fn unreadable(method: &'static str, answered: &Answered) -> Option<CaptureError> {
    match &answered.verdict {
        Verdict::Reads => None,
        Verdict::Refuses { why } | Verdict::Misses { why } => {
            let member = match &answered.answer {
                Answer::Result(result) => sdk::refused_member(method, result),
                Answer::Error(_) => None,
            };
            let why = member.as_ref().unwrap_or(why);
            let problem = format!("clients on {} cannot connect: {why}", sdk::name());
            Some(CaptureError::Malformed { method, problem })
        }
    }
}

/// What an error for `server/discover` says about the server.
fn discover_refused(error: &Json) -> CaptureError {
    // The error codes that name the supported revisions, in 2026-07-28 and in its drafts.
    const UNSUPPORTED_VERSION: [&str; 2] = ["-32022", "-32004"];
    const HEADER_MISMATCH: &str = "-32020";
    const MISSING_CAPABILITY: &str = "-32021";
    let code = match error.get("code") {
        Some(Json::Number(code)) => code.to_exact(),
        _ => String::new(),
    };
    let supported = error.get("data").and_then(|data| data.get("supported"));
    match supported.and_then(strings) {
        Some(offered) if UNSUPPORTED_VERSION.contains(&code.as_str()) => other_revisions(&offered),
        _ if [UNSUPPORTED_VERSION[0], HEADER_MISMATCH, MISSING_CAPABILITY]
            .contains(&code.as_str()) =>
        {
            refused(DISCOVER, error)
        }
        _ => not_modern(rpc_error(error)),
    }
}

/// A server that knows `server/discover`, but not the modern revision: it may support the legacy
/// era.
fn other_revisions(offered: &[String]) -> CaptureError {
    let said = shortened(&offered.join(", "));
    if offered.iter().any(|name| Era::of(name) == Era::Legacy) {
        not_modern(format!("an offer of {said}"))
    } else {
        CaptureError::NoCommonRevision { offered: said }
    }
}

fn not_modern(said: String) -> CaptureError {
    let era = Era::Modern;
    CaptureError::NotSpoken { era, said }
}

/// Whether a result of `server/discover` is that of a server of the modern era.
pub(super) fn is_modern(result: &Json) -> bool {
    let offered = offered_revisions(result).unwrap_or_default();
    offered.iter().any(|name| name == Era::Modern.revision())
}

/// The revisions in an answer to `server/discover`, or what it is instead.
fn offered_revisions(result: &Json) -> Result<Vec<String>, String> {
    let capabilities = result.get("capabilities").and_then(Json::as_object);
    if capabilities.is_none() {
        return Err("a result without `capabilities`".into());
    }
    let offered = result.get("supportedVersions").and_then(strings);
    offered.ok_or_else(|| "a result without `supportedVersions`".into())
}

fn strings(list: &Json) -> Option<Vec<String>> {
    let words = list.as_array()?.iter().map(Json::as_str);
    words.map(|word| word.map(str::to_owned)).collect()
}

/// The `resultType` of a result, if it is not complete. Without one it is complete.
pub(super) fn incomplete(result: &Json) -> Option<String> {
    match result.get("resultType")? {
        kind if kind.as_str() == Some("complete") => None,
        kind => Some(shortened(&kind.to_string())),
    }
}

fn refused(method: &'static str, error: &Json) -> CaptureError {
    CaptureError::Refused {
        method,
        error: rpc_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::parse_str;

    #[test]
    fn only_a_modern_servers_answers_count_as_modern() {
        let says = |text: &str| match discover_refused(&parse_str(text).unwrap()) {
            CaptureError::NotSpoken { .. } => "legacy",
            CaptureError::NoCommonRevision { .. } => "another revision",
            CaptureError::Refused { .. } => "refused",
            other => panic!("{other}"),
        };
        for legacy in [
            r#"{"code":-32601,"message":"Method not found"}"#,
            r#"{"code":-32602,"message":"Invalid request parameters"}"#,
            r#"{"code":-32022,"message":"x","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}"#,
            "{}",
        ] {
            assert_eq!(says(legacy), "legacy", "{legacy}");
        }
        assert_eq!(
            says(
                r#"{"code":-32022,"message":"x","data":{"supported":["2027-01-01"],"requested":"2026-07-28"}}"#
            ),
            "another revision"
        );
        assert_eq!(
            says(r#"{"code":-32021,"message":"x","data":{"requiredCapabilities":{"roots":{}}}}"#),
            "refused"
        );
        let modern = r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
        assert!(is_modern(&parse_str(modern).unwrap()));
        for other in [
            "{}",
            "[]",
            r#"{"supportedVersions":["2025-11-25"],"capabilities":{}}"#,
        ] {
            assert!(!is_modern(&parse_str(other).unwrap()), "{other}");
        }
    }
}

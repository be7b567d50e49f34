//! How a connection is opened, and which era it is in afterwards.
//!
//! The two eras open differently, and a server that was opened in one may reject the other until it
//! is restarted. So a connection has one era, which is decided before anything is listed.
//! [`Greeting`] decides it from the answers, without its own clock: the wire notifies it when a
//! pause is over.

use std::time::Duration;

use super::error::CaptureError;
use super::inbox::Answer;
use super::wire::rpc_error;
use crate::surface::Era;
use exact_json::Json;

/// The request that opens a connection without a handshake.
pub(super) const DISCOVER: &str = "server/discover";

/// The request that opens a connection with one.
pub(super) const INITIALIZE: &str = "initialize";

/// How long a server on stdio may take to answer `server/discover` before `initialize` is sent as
/// well. Both are pending then, and the answers decide.
pub(super) const UNTIL_INITIALIZE: Duration = Duration::from_millis(400);

/// How long to wait for the second of two answers once the first has come.
const FOR_THE_OTHER: Duration = Duration::from_millis(200);

/// How a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// With `initialize`, and nothing else.
    Initialize,
    /// With `server/discover`, and nothing else.
    Discover,
    /// With `server/discover`; with `initialize` too if that is unknown, or not answered in time.
    Probe {
        /// The time limit. `None` waits for an answer: HTTP always gives one.
        patience: Option<Duration>,
    },
}

impl Opening {
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Initialize => INITIALIZE,
            Self::Discover | Self::Probe { .. } => DISCOVER,
        }
    }
}

/// What to do after an event.
#[derive(Debug)]
pub(super) enum Step {
    Wait,
    /// Send `initialize`: `server/discover` is unknown, or not answered yet.
    Initialize,
    /// The connection is open, by this answer.
    Open(Era, Json),
    /// The connection cannot be opened.
    Fail(CaptureError),
}

/// The kind of answer to `server/discover`.
#[derive(Debug)]
enum Discovered {
    /// A server that supports the modern revision.
    Modern(Json),
    /// Anything else that a legacy server may answer to an unknown request.
    Legacy { said: String },
}

/// The events so far.
#[derive(Debug)]
pub(super) struct Greeting {
    opening: Opening,
    discovered: Option<Discovered>,
    initialized: Option<Result<Json, Json>>,
    /// `server/discover` is no longer waited for.
    moved_on: bool,
    era: Option<Era>,
}

impl Greeting {
    pub(super) fn new(opening: Opening) -> Self {
        Self {
            opening,
            discovered: None,
            initialized: None,
            moved_on: false,
            era: None,
        }
    }

    /// The era of the connection; `None` while it is not open.
    pub(super) fn era(&self) -> Option<Era> {
        self.era
    }

    /// How long to wait for the next answer before [`Greeting::elapsed`].
    pub(super) fn pause(&self) -> Option<Duration> {
        let Opening::Probe { patience } = self.opening else {
            return None;
        };
        match (&self.discovered, &self.initialized) {
            _ if self.era.is_some() => None,
            (None, None) if !self.moved_on => patience,
            (None, Some(Ok(_))) | (Some(Discovered::Modern(_)), None) => Some(FOR_THE_OTHER),
            _ => None,
        }
    }

    /// An opening request was sent.
    pub(super) fn asked(&mut self, method: &str) {
        self.moved_on |= method == INITIALIZE;
    }

    /// The answer to `server/discover` came.
    pub(super) fn discovered(&mut self, answer: Answer) -> Step {
        let discovered = match read_discover(answer) {
            Ok(discovered) => discovered,
            Err(error) => return Step::Fail(error),
        };
        if let (Opening::Discover, Discovered::Legacy { said }) = (self.opening, &discovered) {
            return Step::Fail(CaptureError::NotSpoken {
                era: Era::Modern,
                said: said.clone(),
            });
        }
        match (discovered, self.initialized.take()) {
            (Discovered::Modern(result), None) if !self.moved_on => self.open(Era::Modern, result),
            (Discovered::Legacy { said }, None) if !self.moved_on => {
                self.moved_on = true;
                self.discovered = Some(Discovered::Legacy { said });
                Step::Initialize
            }
            (discovered, None) => {
                self.discovered = Some(discovered);
                Step::Wait
            }
            (Discovered::Modern(_), Some(Ok(_))) => Step::Fail(CaptureError::BothEras),
            (Discovered::Modern(result), Some(Err(_))) => self.open(Era::Modern, result),
            (Discovered::Legacy { .. }, Some(Ok(result))) => self.open(Era::Legacy, result),
            (Discovered::Legacy { .. }, Some(Err(error))) => {
                Step::Fail(refused(INITIALIZE, &error))
            }
        }
    }

    /// The answer to `initialize` came.
    pub(super) fn initialized(&mut self, answer: Answer) -> Step {
        let initialized = match answer {
            Answer::Result(result) => match check_initialize(&result) {
                Ok(()) => Ok(result),
                Err(error) => return Step::Fail(error),
            },
            Answer::Error(error) => Err(error),
        };
        if self.opening == Opening::Initialize {
            return match initialized {
                Ok(result) => self.open(Era::Legacy, result),
                Err(error) => Step::Fail(refused(INITIALIZE, &error)),
            };
        }
        match (self.discovered.take(), initialized) {
            (None, initialized) => {
                self.initialized = Some(initialized);
                Step::Wait
            }
            (Some(Discovered::Modern(_)), Ok(_)) => Step::Fail(CaptureError::BothEras),
            (Some(Discovered::Modern(result)), Err(_)) => self.open(Era::Modern, result),
            (Some(Discovered::Legacy { .. }), Ok(result)) => self.open(Era::Legacy, result),
            (Some(Discovered::Legacy { .. }), Err(error)) => {
                Step::Fail(refused(INITIALIZE, &error))
            }
        }
    }

    /// The pause is over, and nothing came.
    pub(super) fn elapsed(&mut self) -> Step {
        match (self.discovered.take(), self.initialized.take()) {
            (None, None) => {
                self.moved_on = true;
                Step::Initialize
            }
            (None, Some(Ok(result))) => self.open(Era::Legacy, result),
            (Some(Discovered::Modern(result)), None) => self.open(Era::Modern, result),
            (discovered, initialized) => {
                self.discovered = discovered;
                self.initialized = initialized;
                Step::Wait
            }
        }
    }

    fn open(&mut self, era: Era, result: Json) -> Step {
        self.era = Some(era);
        Step::Open(era, result)
    }
}

/// What an answer to `server/discover` says about the server. An error is one that only a modern
/// server sends.
fn read_discover(answer: Answer) -> Result<Discovered, CaptureError> {
    // The error codes that name the supported revisions, in 2026-07-28 and in its drafts.
    const UNSUPPORTED_VERSION: [&str; 2] = ["-32022", "-32004"];
    const HEADER_MISMATCH: &str = "-32020";
    const MISSING_CAPABILITY: &str = "-32021";
    match answer {
        Answer::Result(result) => {
            let offered = match check_discover(&result) {
                Ok(offered) => offered,
                Err(said) => return Ok(Discovered::Legacy { said }),
            };
            if let Some(kind) = incomplete(&result) {
                return Err(CaptureError::Incomplete {
                    method: DISCOVER,
                    kind,
                });
            }
            if offered.iter().any(|it| it == Era::Modern.revision()) {
                Ok(Discovered::Modern(result))
            } else {
                other_revisions(offered)
            }
        }
        Answer::Error(error) => {
            let code = match error.get("code") {
                Some(Json::Number(code)) => code.to_exact(),
                _ => String::new(),
            };
            let supported = error.get("data").and_then(|data| data.get("supported"));
            match supported.and_then(strings) {
                Some(offered) if UNSUPPORTED_VERSION.contains(&code.as_str()) => {
                    other_revisions(offered)
                }
                _ if [UNSUPPORTED_VERSION[0], HEADER_MISMATCH, MISSING_CAPABILITY]
                    .contains(&code.as_str()) =>
                {
                    Err(refused(DISCOVER, &error))
                }
                _ => Ok(Discovered::Legacy {
                    said: rpc_error(&error),
                }),
            }
        }
    }
}

/// A server that knows `server/discover`, but not the modern revision: it may support the legacy
/// era.
fn other_revisions(offered: Vec<String>) -> Result<Discovered, CaptureError> {
    let said = super::inbox::shortened(&offered.join(", "));
    if offered.iter().any(|it| Era::of(it) == Era::Legacy) {
        Ok(Discovered::Legacy {
            said: format!("an offer of {said}"),
        })
    } else {
        Err(CaptureError::NoCommonRevision { offered: said })
    }
}

/// The revisions in a well-formed answer to `server/discover`.
fn check_discover(result: &Json) -> Result<Vec<String>, String> {
    if result
        .get("capabilities")
        .and_then(Json::as_object)
        .is_none()
    {
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
        kind => Some(super::inbox::shortened(&kind.to_string())),
    }
}

/// What an answer must contain for the lists to mean anything. Without capabilities nothing would
/// be listed, and everything would look removed.
fn check_initialize(result: &Json) -> Result<(), CaptureError> {
    let malformed = |problem: String| {
        Err(CaptureError::Malformed {
            method: INITIALIZE,
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

    const HELLO: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    const HERE: &str = r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    const UNKNOWN: &str = r#"{"code":-32601,"message":"Method not found"}"#;

    fn result(text: &str) -> Answer {
        Answer::Result(parse_str(text).unwrap())
    }

    fn error(text: &str) -> Answer {
        Answer::Error(parse_str(text).unwrap())
    }

    fn probe() -> Greeting {
        Greeting::new(Opening::Probe {
            patience: Some(UNTIL_INITIALIZE),
        })
    }

    fn word(step: &Step) -> &'static str {
        match step {
            Step::Wait => "wait",
            Step::Initialize => "initialize",
            Step::Open(era, _) => era.word(),
            Step::Fail(CaptureError::BothEras) => "both",
            Step::Fail(_) => "fail",
        }
    }

    /// The steps of a probe for these events.
    fn steps(events: &[&str]) -> Vec<&'static str> {
        let mut greeting = probe();
        let step = |event: &&str| match *event {
            "here" => greeting.discovered(result(HERE)),
            "unknown" => greeting.discovered(error(UNKNOWN)),
            "hello" => greeting.initialized(result(HELLO)),
            "no" => greeting.initialized(error(UNKNOWN)),
            "silence" => greeting.elapsed(),
            other => panic!("{other}"),
        };
        events.iter().map(step).map(|step| word(&step)).collect()
    }

    #[test]
    fn a_probe_decides_the_era_by_the_answers() {
        assert_eq!(steps(&["here"]), ["modern"]);
        assert_eq!(steps(&["unknown", "hello"]), ["initialize", "legacy"]);
        assert_eq!(steps(&["unknown", "no"]), ["initialize", "fail"]);
    }

    #[test]
    fn silence_is_not_waited_for_but_a_late_answer_still_counts() {
        let silent = steps(&["silence", "hello", "silence"]);
        assert_eq!(silent, ["initialize", "wait", "legacy"]);
        let slow_legacy = steps(&["silence", "unknown", "hello"]);
        assert_eq!(slow_legacy, ["initialize", "wait", "legacy"]);
        let slow_modern = steps(&["silence", "here", "no"]);
        assert_eq!(slow_modern, ["initialize", "wait", "modern"]);
        let ignores_initialize = steps(&["silence", "here", "silence"]);
        assert_eq!(ignores_initialize, ["initialize", "wait", "modern"]);
        let out_of_order = steps(&["silence", "no", "here"]);
        assert_eq!(out_of_order, ["initialize", "wait", "modern"]);
    }

    #[test]
    fn a_server_that_accepted_both_openings_is_in_neither_era() {
        assert_eq!(steps(&["silence", "here", "hello"])[2], "both");
        assert_eq!(steps(&["silence", "hello", "here"])[2], "both");
    }

    #[test]
    fn there_is_a_pause_only_if_an_answer_may_never_come() {
        let mut greeting = probe();
        assert_eq!(greeting.pause(), Some(UNTIL_INITIALIZE));
        greeting.elapsed();
        assert_eq!(greeting.pause(), None);
        greeting.initialized(result(HELLO));
        assert_eq!(greeting.pause(), Some(FOR_THE_OTHER));
        greeting.elapsed();
        assert_eq!(greeting.pause(), None);
        assert_eq!(Greeting::new(Opening::Initialize).pause(), None);
        assert_eq!(Greeting::new(Opening::Discover).pause(), None);
        assert!(UNTIL_INITIALIZE + FOR_THE_OTHER < Duration::from_secs(1));
    }

    #[test]
    fn only_a_modern_servers_answers_count_as_modern() {
        let legacy = [
            UNKNOWN,
            r#"{"code":-32602,"message":"Invalid request parameters"}"#,
            r#"{"code":-32022,"message":"x","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}"#,
            "{}",
        ];
        for text in legacy {
            assert!(
                matches!(read_discover(error(text)), Ok(Discovered::Legacy { .. })),
                "{text}"
            );
        }
        for text in [
            "{}",
            "[]",
            r#"{"supportedVersions":["2025-11-25"],"capabilities":{}}"#,
        ] {
            assert!(
                matches!(read_discover(result(text)), Ok(Discovered::Legacy { .. })),
                "{text}"
            );
        }
        let modern = [
            r#"{"code":-32022,"message":"x","data":{"supported":["2027-01-01"],"requested":"2026-07-28"}}"#,
            r#"{"code":-32021,"message":"x","data":{"requiredCapabilities":{"roots":{}}}}"#,
        ];
        for text in modern {
            assert!(read_discover(error(text)).is_err(), "{text}");
        }
        assert!(matches!(
            read_discover(result(
                r#"{"supportedVersions":["2027-01-01"],"capabilities":{}}"#
            )),
            Err(CaptureError::NoCommonRevision { .. })
        ));
    }
}

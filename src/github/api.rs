//! GitHub's API as far as we use it: our own requests and answers, and a patience of our own.
//!
//! octocrab brings addresses, headers and TLS. Its retries are switched off: they repeat a POST after a 502, and what
//! was created then is there twice. Here a request is repeated by itself only where that cannot matter: a read, a
//! write that sets the same again, and anything that GitHub refused *before* doing it (a rate limit). For the rest
//! the caller gets [`ApiError::Ambiguous`] and has to look first.

use std::time::Duration;

use octocrab::Octocrab;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Context, Token};

/// How many entries a page has; the most that GitHub gives.
pub const PAGE: usize = 100;

/// More pages than this are not read. 10,000 comments on a pull request are no conversation.
const MAX_PAGES: usize = 100;

/// How long one request may take, from connecting to the last byte of the answer.
const REQUEST: Duration = Duration::from_secs(30);

const CONNECT: Duration = Duration::from_secs(10);

/// How often a request is sent at most.
pub(super) const ATTEMPTS: u32 = 4;

/// The longest that GitHub may ask us to wait. A primary limit may last an hour; a check does not.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

/// Why GitHub did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// It said no.
    #[error("{what}: GitHub answered {status}: {message}")]
    Refused {
        /// Method and path.
        what: String,
        /// The HTTP status.
        status: u16,
        /// Its reason.
        message: String,
    },
    /// It may or may not have been done: no answer, or one from a machine in front of the API.
    #[error("{what}: {problem}")]
    Ambiguous {
        /// Method and path.
        what: String,
        /// What came instead of an answer.
        problem: String,
    },
    /// A rate limit that lasts longer than our patience.
    #[error("{what}: rate limited for {seconds} s")]
    Limited {
        /// Method and path.
        what: String,
        /// How long.
        seconds: u64,
    },
    /// An answer in another shape than documented.
    #[error("{what}: the answer cannot be read: {problem}")]
    Answer {
        /// Method and path.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no client to ask with.
    #[error("cannot talk to {api}: {problem}")]
    Client {
        /// Where the API should be.
        api: String,
        problem: String,
    },
}

impl ApiError {
    /// The status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// The API of one repository.
#[derive(Clone)]
pub struct Api {
    client: Octocrab,
    prefix: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Post,
    Patch,
}

impl Method {
    fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
        }
    }
}

struct Answer {
    status: u16,
    retry_after: Option<u64>,
    /// Whether the limit is used up, and the second of its end.
    exhausted_until: Option<u64>,
    text: String,
}

impl Api {
    /// For the repository of a run. Has to be called within a tokio runtime.
    pub fn new(context: &Context, token: &Token) -> Result<Self, ApiError> {
        let broken = |problem: String| ApiError::Client {
            api: context.api.clone(),
            problem,
        };
        let builder = Octocrab::builder()
            .base_uri(context.api.as_str())
            .map_err(|error| broken(error.to_string()))?
            .add_retry_config(octocrab::service::middleware::retry::RetryConfig::None)
            .set_connect_timeout(Some(CONNECT))
            .set_read_timeout(Some(REQUEST))
            .set_write_timeout(Some(REQUEST))
            .personal_token(token.reveal().to_owned());
        Ok(Self {
            client: builder.build().map_err(|error| broken(error.to_string()))?,
            prefix: format!("/repos/{}/{}", context.owner, context.repository),
        })
    }

    /// Reads; repeated with patience.
    pub async fn get<R: DeserializeOwned>(&self, path: &str) -> Result<R, ApiError> {
        self.request(Method::Get, path, None::<&()>, true).await
    }

    /// Creates. Never repeated after an answer that leaves open whether it was done.
    pub async fn post<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        self.request(Method::Post, path, Some(body), false).await
    }

    /// Sets; repeated with patience, because setting the same twice is setting it once.
    pub async fn set<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        self.request(Method::Patch, path, Some(body), true).await
    }

    /// Updates in a way that adds something. Never repeated after an answer that leaves open whether it was done.
    pub async fn append<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        self.request(Method::Patch, path, Some(body), false).await
    }

    /// Every entry of a list, over all pages. `member` is where the list stands in an answer that is an object.
    pub async fn all<R: DeserializeOwned>(
        &self,
        path: &str,
        member: Option<&str>,
    ) -> Result<Vec<R>, ApiError> {
        let mut entries = Vec::new();
        let joiner = if path.contains('?') { '&' } else { '?' };
        for page in 1..=MAX_PAGES {
            let path = format!("{path}{joiner}per_page={PAGE}&page={page}");
            let mut answer: Value = self.get(&path).await?;
            let list = match member {
                Some(member) => answer[member].take(),
                None => answer,
            };
            let what = || format!("GET {path}");
            let Value::Array(list) = list else {
                return Err(ApiError::Answer {
                    what: what(),
                    problem: "there is no list in it".to_owned(),
                });
            };
            let full = list.len() >= PAGE;
            for entry in list {
                entries.push(
                    serde_json::from_value(entry).map_err(|error| ApiError::Answer {
                        what: what(),
                        problem: error.to_string(),
                    })?,
                );
            }
            if !full {
                break;
            }
        }
        Ok(entries)
    }

    async fn request<R: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
        repeatable: bool,
    ) -> Result<R, ApiError> {
        let uri = format!("{}{path}", self.prefix);
        // Queries are left out of messages: they say nothing that helps.
        let shown = uri.split('?').next().unwrap_or_default();
        let what = || format!("{} {shown}", method.word());
        let mut attempt = 1;
        loop {
            let sent = tokio::time::timeout(REQUEST, self.send(method, &uri, body)).await;
            let problem = match sent {
                Ok(Ok(answer)) => {
                    if let Some(wait) = limited(&answer) {
                        if attempt >= ATTEMPTS || wait > LONGEST_WAIT {
                            return Err(ApiError::Limited {
                                what: what(),
                                seconds: wait.as_secs(),
                            });
                        }
                        // Refused before anything was done, so that even a POST may be sent again.
                        tokio::time::sleep(wait).await;
                        attempt += 1;
                        continue;
                    }
                    match answer.status {
                        200..=299 => {
                            return serde_json::from_str(&answer.text).map_err(|error| {
                                ApiError::Answer {
                                    what: what(),
                                    problem: error.to_string(),
                                }
                            });
                        }
                        500..=599 | 408 => format!("GitHub answered {}", answer.status),
                        status => {
                            return Err(ApiError::Refused {
                                what: what(),
                                status,
                                message: message(&answer.text),
                            });
                        }
                    }
                }
                Ok(Err(error)) => format!("no answer: {}", chain(&error)),
                Err(_) => format!("no answer within {} s", REQUEST.as_secs()),
            };
            if !repeatable || attempt >= ATTEMPTS {
                return Err(ApiError::Ambiguous {
                    what: what(),
                    problem,
                });
            }
            pause(attempt).await;
            attempt += 1;
        }
    }

    async fn send(
        &self,
        method: Method,
        uri: &str,
        body: Option<&impl Serialize>,
    ) -> Result<Answer, octocrab::Error> {
        let response = match method {
            Method::Get => self.client._get(uri).await?,
            Method::Post => self.client._post(uri, body).await?,
            Method::Patch => self.client._patch(uri, body).await?,
        };
        let number = |name: &str| -> Option<u64> {
            let value = response.headers().get(name)?;
            value.to_str().ok()?.trim().parse().ok()
        };
        let exhausted = number("x-ratelimit-remaining") == Some(0);
        Ok(Answer {
            status: response.status().as_u16(),
            retry_after: number("retry-after"),
            exhausted_until: number("x-ratelimit-reset").filter(|_| exhausted),
            text: self.client.body_to_string(response).await?,
        })
    }
}

/// Waits a little longer each time.
pub(super) async fn pause(attempt: u32) {
    let factor = 1 << attempt.saturating_sub(1).min(4);
    tokio::time::sleep(Duration::from_millis(400) * factor).await;
}

/// How long a rate limit asks to wait; none if the answer is no rate limit.
fn limited(answer: &Answer) -> Option<Duration> {
    if !matches!(answer.status, 403 | 429) {
        return None;
    }
    if let Some(seconds) = answer.retry_after {
        return Some(Duration::from_secs(seconds));
    }
    if let Some(end) = answer.exhausted_until {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        return Some(Duration::from_secs(end.saturating_sub(now) + 1));
    }
    let said = answer.text.to_ascii_lowercase();
    let secondary = answer.status == 429
        || said.contains("secondary rate limit")
        || said.contains("abuse detection");
    // GitHub documents a minute where it names no time.
    secondary.then_some(Duration::from_secs(60))
}

/// GitHub's reason, in one line and not too long.
fn message(text: &str) -> String {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    let said = answer["message"].as_str().unwrap_or("no reason given");
    crate::report::escape::short(said, 200).into()
}

/// An error with its causes: the outermost alone says only that a service failed.
fn chain(error: &dyn std::error::Error) -> String {
    let mut last = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        last = error.to_string();
        cause = error.source();
    }
    crate::report::escape::short(&last, 200).into()
}

/// A part of a path, or a value of a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, text: &str) -> Answer {
        Answer {
            status,
            retry_after: None,
            exhausted_until: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_rate_limit_is_told_from_a_refusal() {
        let plain = answer(
            403,
            r#"{"message": "Resource not accessible by integration"}"#,
        );
        assert_eq!(limited(&plain), None);
        let secondary = answer(403, "You have exceeded a secondary rate limit.");
        assert_eq!(limited(&secondary), Some(Duration::from_secs(60)));
        assert!(limited(&answer(429, "")).is_some());
        let told = Answer {
            retry_after: Some(3),
            ..answer(403, "")
        };
        assert_eq!(limited(&told), Some(Duration::from_secs(3)));
        let exhausted = Answer {
            exhausted_until: Some(u64::MAX - 1),
            ..answer(403, "")
        };
        assert!(limited(&exhausted).is_some_and(|wait| wait > LONGEST_WAIT));
        assert_eq!(limited(&answer(502, "secondary rate limit")), None);
    }

    #[test]
    fn nothing_in_a_name_leaves_its_place_in_an_address() {
        assert_eq!(encoded("a b/../c?d#é"), "a%20b%2F..%2Fc%3Fd%23%C3%A9");
    }
}

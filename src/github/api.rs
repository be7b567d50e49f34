//! The part of GitHub's API that mcp-keel uses, with its own requests, responses and retries.
//!
//! octocrab builds requests: URLs, headers, bodies. Our own client sends them (`client`). octocrab's
//! retries are left out: they repeat a POST after a 502, which can create things twice. Here a
//! request is only retried automatically if that is safe: a read, an idempotent write, and anything
//! that GitHub rejected *before* doing it (a rate limit). For the rest the caller gets
//! [`ApiError::Ambiguous`] and has to look first.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Uri, header};
use octocrab::service::middleware::auth_header::AuthHeaderLayer;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::extra_headers::ExtraHeadersLayer;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::{Client, ClientError};
use super::{Context, Token};

/// Entries per page; GitHub's maximum.
pub const PAGE: usize = 100;

/// The maximum number of pages to read. No real pull request has 10,000 comments.
const MAX_PAGES: usize = 100;

/// The time limit for one request, from connecting to the last byte of the response.
const REQUEST: Duration = Duration::from_secs(30);

/// The maximum number of attempts per request.
pub(super) const ATTEMPTS: u32 = 4;

/// The longest wait that GitHub may request. A primary rate limit may last an hour; a check must
/// not.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

/// Why GitHub did not do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    #[error("{what}: GitHub answered {status}: {message}")]
    Refused {
        what: String,
        status: u16,
        message: String,
    },
    /// It may or may not have been done: no response, or one from a proxy in front of the API.
    #[error("{what}: {problem}")]
    Ambiguous {
        what: String,
        /// What came instead of a response.
        problem: String,
    },
    #[error("{what}: rate limited for {seconds} s")]
    Limited { what: String, seconds: u64 },
    #[error("{what}: cannot read the response: {problem}")]
    Answer { what: String, problem: String },
    #[error("cannot talk to {api}: {problem}")]
    Client { api: String, problem: String },
}

impl ApiError {
    /// The HTTP status of a rejection.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

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
    Delete,
}

impl Method {
    fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

struct Response {
    status: u16,
    retry_after: Option<u64>,
    /// The end of the rate limit in seconds since 1970, if it is used up.
    exhausted_until: Option<u64>,
    text: String,
}

impl Api {
    /// For the repository of a run. Must be called within a tokio runtime.
    pub fn new(context: &Context, token: &Token) -> Result<Self, ApiError> {
        let broken = |problem: String| ApiError::Client {
            api: context.api.clone(),
            problem,
        };
        let base: Uri = context
            .api
            .parse()
            .map_err(|error: http::uri::InvalidUri| broken(error.to_string()))?;
        let client = Client::new(&base).map_err(|error| broken(last_cause(&error)))?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
            .map_err(|error| broken(error.to_string()))?;
        bearer.set_sensitive(true);
        // GitHub requires one.
        let user_agent = (header::USER_AGENT, HeaderValue::from_static("octocrab"));
        let service = tower::service_fn(move |request| Arc::clone(&client).send(request));
        let Ok(client) = OctocrabBuilder::new_empty()
            .with_service(service)
            .with_layer(&ExtraHeadersLayer::new(Arc::new(vec![user_agent])))
            .with_layer(&BaseUriLayer::new(base.clone()))
            .with_layer(&AuthHeaderLayer::new(Some(bearer), base.clone(), base))
            .with_auth(AuthState::None)
            .build();
        Ok(Self {
            client,
            prefix: format!("/repos/{}/{}", context.owner, context.repository),
        })
    }

    /// Reads, with retries.
    pub async fn get<R: DeserializeOwned>(&self, path: &str) -> Result<R, ApiError> {
        self.request(Method::Get, path, None::<&()>, true).await
    }

    /// Creates. Never retried after a response that leaves open whether it was done.
    pub async fn post<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        self.request(Method::Post, path, Some(body), false).await
    }

    /// Sets, with retries: setting the same value twice is harmless.
    pub async fn set<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        self.request(Method::Patch, path, Some(body), true).await
    }

    /// Updates by adding something. Never retried after a response that leaves open whether it was
    /// done.
    pub async fn append<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        self.request(Method::Patch, path, Some(body), false).await
    }

    /// Removes. What is not there any more is an error like any other.
    pub async fn delete(&self, path: &str) -> Result<(), ApiError> {
        let uri = format!("{}{path}", self.prefix);
        let done = self.request_uri::<Value>(Method::Delete, &uri, None::<&()>, true);
        done.await.map(drop)
    }

    /// The name of the user whose token this is. The token of an app has none.
    pub async fn user(&self) -> Result<String, ApiError> {
        #[derive(serde::Deserialize)]
        struct User {
            login: String,
        }
        let user = self.request_uri::<User>(Method::Get, "/user", None::<&()>, true);
        user.await.map(|it| it.login)
    }

    /// Every entry of a list, over all pages. `member` names the list if the answer is an object.
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
                    problem: "it has no list".to_owned(),
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
        self.request_uri(method, &uri, body, repeatable).await
    }

    async fn request_uri<R: DeserializeOwned>(
        &self,
        method: Method,
        uri: &str,
        body: Option<&impl Serialize>,
        repeatable: bool,
    ) -> Result<R, ApiError> {
        // Queries are left out of messages: they say nothing that helps.
        let shown = uri.split('?').next().unwrap_or_default();
        let what = || format!("{} {shown}", method.word());
        let mut attempt = 1;
        loop {
            let sent = tokio::time::timeout(REQUEST, self.send(method, uri, body)).await;
            let problem = match sent {
                Ok(Ok(answer)) => {
                    if let Some(wait) = limited(&answer) {
                        if attempt >= ATTEMPTS || wait > LONGEST_WAIT {
                            return Err(ApiError::Limited {
                                what: what(),
                                seconds: wait.as_secs(),
                            });
                        }
                        // Rejected before anything was done, so even a POST may be sent again.
                        tokio::time::sleep(wait).await;
                        attempt += 1;
                        continue;
                    }
                    match answer.status {
                        200..=299 => {
                            // What was removed has nothing to say.
                            let text = match method {
                                Method::Delete => "null",
                                _ => answer.text.as_str(),
                            };
                            return serde_json::from_str(text).map_err(|error| ApiError::Answer {
                                what: what(),
                                problem: error.to_string(),
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
                Ok(Err(error)) => match ClientError::below(&error) {
                    Some(too_long @ ClientError::TooLong { .. }) => {
                        return Err(ApiError::Answer {
                            what: what(),
                            problem: too_long.to_string(),
                        });
                    }
                    _ => format!("no answer: {}", last_cause(&error)),
                },
                Err(_) => format!("no response within {} s", REQUEST.as_secs()),
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
    ) -> Result<Response, octocrab::Error> {
        let response = match method {
            Method::Get => self.client._get(uri).await?,
            Method::Post => self.client._post(uri, body).await?,
            Method::Patch => self.client._patch(uri, body).await?,
            Method::Delete => self.client._delete(uri, body).await?,
        };
        let number = |name: &str| -> Option<u64> {
            let value = response.headers().get(name)?;
            value.to_str().ok()?.trim().parse().ok()
        };
        let exhausted = number("x-ratelimit-remaining") == Some(0);
        Ok(Response {
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

/// How long a rate limit asks to wait; `None` if the response is not a rate limit.
fn limited(answer: &Response) -> Option<Duration> {
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
    let reason = answer.text.to_ascii_lowercase();
    let secondary = answer.status == 429
        || reason.contains("secondary rate limit")
        || reason.contains("abuse detection");
    // GitHub documents a minute if no time is given.
    secondary.then_some(Duration::from_secs(60))
}

/// GitHub's reason, shortened to one line.
fn message(text: &str) -> String {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    let reason = answer["message"].as_str().unwrap_or("no reason given");
    crate::report::escape::short(reason, 200).into()
}

/// The innermost cause of an error: the outermost only says that a service failed.
fn last_cause(error: &dyn std::error::Error) -> String {
    let mut last = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        last = error.to_string();
        cause = error.source();
    }
    crate::report::escape::short(&last, 200).into()
}

/// A path segment, or a query value.
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

    fn answer(status: u16, text: &str) -> Response {
        Response {
            status,
            retry_after: None,
            exhausted_until: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_rate_limit_is_distinguished_from_a_rejection() {
        let plain = answer(
            403,
            r#"{"message": "Resource not accessible by integration"}"#,
        );
        assert_eq!(limited(&plain), None);
        let secondary = answer(403, "You have exceeded a secondary rate limit.");
        assert_eq!(limited(&secondary), Some(Duration::from_secs(60)));
        assert!(limited(&answer(429, "")).is_some());
        let named = Response {
            retry_after: Some(3),
            ..answer(403, "")
        };
        assert_eq!(limited(&named), Some(Duration::from_secs(3)));
        let exhausted = Response {
            exhausted_until: Some(u64::MAX - 1),
            ..answer(403, "")
        };
        assert!(limited(&exhausted).is_some_and(|wait| wait > LONGEST_WAIT));
        assert_eq!(limited(&answer(502, "secondary rate limit")), None);
    }

    #[test]
    fn a_name_cannot_change_the_structure_of_a_url() {
        assert_eq!(encoded("a b/../c?d#é"), "a%20b%2F..%2Fc%3Fd%23%C3%A9");
    }
}

//! The part of GitHub's API that mcp-keel uses. octocrab makes and sends the requests, reads the answers and knows the
//! errors; [`service`] says what it sends through.
//!
//! Nothing is sent twice that may create something twice: after an answer that leaves open whether it was done, the caller
//! gets [`ApiError::Ambiguous`] or [`ApiError::Answer`], and has to look first.

use http::Uri;
use octocrab::Octocrab;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::BoxError;
use tower::timeout::error::Elapsed;

use super::retries::{is_ambiguous, rate_limit};
use super::service::{self, TooLong};
use super::{Context, Token};
use crate::escape;

/// Entries per page; GitHub's maximum.
pub const PAGE: usize = 100;

/// The maximum number of pages to read. No real pull request has 10,000 comments.
const MAX_PAGES: usize = 100;

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

/// The API of a repository.
#[derive(Clone)]
pub struct Api {
    /// For requests that may be carried out twice.
    repeating: Octocrab,
    /// For those that must not.
    once: Octocrab,
    prefix: String,
}

impl Api {
    /// For the repository of a run. Must be called within a tokio runtime.
    pub fn new(context: &Context, token: &Token) -> Result<Self, ApiError> {
        let made = || -> Result<Self, BoxError> {
            let base: Uri = context.api.parse()?;
            let client = service::client(context.ca.as_deref())?;
            Ok(Self {
                repeating: service::octocrab(&client, &base, token, true)?,
                once: service::octocrab(&client, &base, token, false)?,
                prefix: format!("/repos/{}/{}", context.owner, context.repository),
            })
        };
        made().map_err(|error| ApiError::Client {
            api: context.api.clone(),
            problem: last_cause(error.as_ref()),
        })
    }

    /// Reads, with retries.
    pub async fn get<R: DeserializeOwned>(&self, path: &str) -> Result<R, ApiError> {
        let route = self.route(path);
        let answer = self.repeating.get(&route, None::<&()>).await;
        answer.map_err(|error| failed("GET", &route, error))
    }

    /// Creates. Never retried after an answer that leaves open whether it was done.
    pub async fn post<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        let route = self.route(path);
        let answer = self.once.post(&route, Some(body)).await;
        answer.map_err(|error| failed("POST", &route, error))
    }

    /// Sets, with retries: setting the same value twice is harmless.
    pub async fn set<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        let route = self.route(path);
        let answer = self.repeating.patch(&route, Some(body)).await;
        answer.map_err(|error| failed("PATCH", &route, error))
    }

    /// Updates by adding something. Never retried after an answer that leaves open whether it was done.
    pub async fn append<R: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<R, ApiError> {
        let route = self.route(path);
        let answer = self.once.patch(&route, Some(body)).await;
        answer.map_err(|error| failed("PATCH", &route, error))
    }

    /// Removes. What is not there any more is an error like any other.
    pub async fn delete(&self, path: &str) -> Result<(), ApiError> {
        let route = self.route(path);
        // There is no content to read.
        let answer = async {
            let answer = self.repeating._delete(&route, None::<&()>).await?;
            octocrab::map_github_error(answer).await
        };
        let answer = answer.await;
        answer.map_err(|error| failed("DELETE", &route, error))?;
        Ok(())
    }

    /// The name of the user whose token this is. The token of an app has none.
    pub async fn user(&self) -> Result<String, ApiError> {
        #[derive(serde::Deserialize)]
        struct User {
            login: String,
        }
        let user: Result<User, _> = self.repeating.get("/user", None::<&()>).await;
        user.map(|user| user.login)
            .map_err(|error| failed("GET", "/user", error))
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
            let unreadable = |problem: &str| ApiError::Answer {
                what: what("GET", &self.route(&path)),
                problem: problem.to_owned(),
            };
            let mut answer: Value = self.get(&path).await?;
            let list = match member {
                Some(member) => answer[member].take(),
                None => answer,
            };
            let Value::Array(list) = list else {
                return Err(unreadable("it has no list"));
            };
            let is_full = list.len() >= PAGE;
            for entry in list {
                let entry = serde_json::from_value(entry);
                entries.push(entry.map_err(|error| unreadable(&error.to_string()))?);
            }
            if !is_full {
                break;
            }
        }
        Ok(entries)
    }

    fn route(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }
}

/// A request, for messages. Its query says nothing that helps.
fn what(method: &str, route: &str) -> String {
    let path = route.split('?').next().unwrap_or_default();
    format!("{method} {path}")
}

fn failed(method: &str, route: &str, error: octocrab::Error) -> ApiError {
    let what = what(method, route);
    match &error {
        octocrab::Error::GitHub { source: answer, .. } => {
            let status = answer.status_code;
            let headers = answer.headers.clone().unwrap_or_default();
            if let Some(wait) = rate_limit(status, &headers, &answer.message) {
                let seconds = wait.as_secs();
                ApiError::Limited { what, seconds }
            } else if is_ambiguous(status) {
                let problem = format!("GitHub answered {}", status.as_u16());
                ApiError::Ambiguous { what, problem }
            } else {
                ApiError::Refused {
                    what,
                    status: status.as_u16(),
                    message: escape::short(&answer.message, 200).into(),
                }
            }
        }
        octocrab::Error::Json { source, .. } => ApiError::Answer {
            what,
            problem: source.inner().to_string(),
        },
        octocrab::Error::Service { source, .. } if source.is::<TooLong>() => ApiError::Answer {
            what,
            problem: source.to_string(),
        },
        octocrab::Error::Service { source, .. } if source.is::<Elapsed>() => ApiError::Ambiguous {
            what,
            problem: format!("no response within {} s", service::ATTEMPT.as_secs()),
        },
        _ => ApiError::Ambiguous {
            what,
            problem: format!("no answer: {}", last_cause(&error)),
        },
    }
}

/// The innermost cause of an error: the outermost only says that a service failed.
fn last_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let last = causes.last().map(ToString::to_string);
    escape::short(&last.unwrap_or_default(), 200).into()
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

    #[test]
    fn a_name_cannot_change_the_structure_of_a_url() {
        assert_eq!(encoded("a b/../c?d#é"), "a%20b%2F..%2Fc%3Fd%23%C3%A9");
    }
}

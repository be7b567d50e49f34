//! Which requests are sent again, and when.
//!
//! A rate limit rejects a request before anything is done, so any may be sent again after it. Every other failure
//! leaves open whether the request was carried out: those are repeated that change nothing if they are carried out
//! twice, and never a POST.

use std::time::Duration;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::{Body as _, Bytes};
use octocrab::OctoBody;
use tower::BoxError;
use tower::retry::Policy;

use super::service::TooLong;

/// The maximum number of attempts per request.
pub(super) const ATTEMPTS: u32 = 4;

/// The longest wait that GitHub may request. A primary rate limit may last an hour; a check must not.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

/// The attempts of one request.
#[derive(Clone)]
pub(super) struct Retries {
    /// Whether the requests may be carried out twice.
    are_repeatable: bool,
    attempt: u32,
}

impl Retries {
    pub(super) fn new(are_repeatable: bool) -> Self {
        Self {
            are_repeatable,
            attempt: 1,
        }
    }
}

impl Policy<Request<OctoBody>, Response<Bytes>, BoxError> for Retries {
    type Future = tokio::time::Sleep;

    fn retry(
        &mut self,
        request: &mut Request<OctoBody>,
        result: &mut Result<Response<Bytes>, BoxError>,
    ) -> Option<Self::Future> {
        let is_repeatable = self.are_repeatable && request.method() != Method::POST;
        let requested = result.as_ref().ok().and_then(|answer| {
            let text = String::from_utf8_lossy(answer.body());
            rate_limit(answer.status(), answer.headers(), &text)
        });
        let is_open = match result {
            Ok(answer) => is_ambiguous(answer.status()),
            Err(error) => !error.is::<TooLong>(),
        };
        let wait = match requested {
            Some(wait) => wait,
            None if is_repeatable && is_open => pause(self.attempt),
            None => return None,
        };
        if self.attempt >= ATTEMPTS || wait > LONGEST_WAIT {
            return None;
        }
        self.attempt += 1;
        Some(tokio::time::sleep(wait))
    }

    fn clone_request(&mut self, request: &Request<OctoBody>) -> Option<Request<OctoBody>> {
        // The body of a plain clone is shared, and read by the first that is sent.
        let body = match request.body().try_clone() {
            Some(body) => body,
            None if request.body().is_end_stream() => OctoBody::empty(),
            None => return None,
        };
        let (head, _) = request.clone().into_parts();
        Some(Request::from_parts(head, body))
    }
}

/// Whether an answer leaves open whether a request was carried out: it may be of a proxy in front of the API.
pub(super) fn is_ambiguous(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT
}

/// How long to wait before the next attempt.
pub(super) fn pause(attempt: u32) -> Duration {
    Duration::from_millis(400) * (1 << attempt.saturating_sub(1).min(4))
}

/// How long a rate limit asks to wait; `None` if the answer is not a rate limit.
pub(super) fn rate_limit(status: StatusCode, headers: &HeaderMap, text: &str) -> Option<Duration> {
    if !matches!(status.as_u16(), 403 | 429) {
        return None;
    }
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse().ok();
    if let Some(seconds) = number("retry-after") {
        return Some(Duration::from_secs(seconds));
    }
    if number("x-ratelimit-remaining") == Some(0)
        && let Some(end) = number("x-ratelimit-reset")
    {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        return Some(Duration::from_secs(end.saturating_sub(now) + 1));
    }
    let reason = text.to_ascii_lowercase();
    let is_secondary = status == StatusCode::TOO_MANY_REQUESTS
        || reason.contains("secondary rate limit")
        || reason.contains("abuse detection");
    // GitHub documents a minute if no time is given.
    is_secondary.then_some(Duration::from_secs(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limit_is_distinguished_from_a_rejection() {
        let limit = |status: u16, header: Option<(&'static str, &str)>, text: &str| {
            let mut headers = HeaderMap::new();
            if let Some((name, value)) = header {
                headers.insert("x-ratelimit-remaining", "0".parse().unwrap());
                headers.insert(name, value.parse().unwrap());
            }
            rate_limit(StatusCode::from_u16(status).unwrap(), &headers, text)
        };
        let plain = r#"{"message": "Resource not accessible by integration"}"#;
        assert_eq!(limit(403, None, plain), None);
        let minute = Some(Duration::from_secs(60));
        let secondary = "You have exceeded a secondary rate limit.";
        assert_eq!(limit(403, None, secondary), minute);
        assert_eq!(limit(502, None, secondary), None);
        assert_eq!(limit(429, None, ""), minute);
        let named = limit(403, Some(("retry-after", "3")), "");
        assert_eq!(named, Some(Duration::from_secs(3)));
        let end = (u64::MAX - 1).to_string();
        let exhausted = limit(403, Some(("x-ratelimit-reset", &end)), "");
        assert!(exhausted.is_some_and(|wait| wait > LONGEST_WAIT));
    }
}

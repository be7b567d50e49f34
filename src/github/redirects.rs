//! Which redirects are followed: those that GitHub documents, for example of a renamed repository.
//!
//! A GET follows 301, 302, 307 and 308. Anything else follows only what keeps its method and body (307 and 308), and only
//! within the origin. None leads from HTTPS to plain HTTP. Which hops get the token is decided below ([`super::service`]).

use http::Method;
use octocrab::OctoBody;
use tower::BoxError;
use tower_http::follow_redirect::policy::{Action, Attempt, Policy};

/// The redirects of one request.
#[derive(Clone)]
pub(super) struct Redirects {
    /// How many more are followed.
    left: usize,
}

impl Default for Redirects {
    fn default() -> Self {
        Self { left: 5 }
    }
}

impl Policy<OctoBody, BoxError> for Redirects {
    fn redirect(&mut self, attempt: &Attempt<'_>) -> Result<Action, BoxError> {
        let (from, to) = (attempt.previous(), attempt.location());
        let is_get = attempt.previous_method() == Method::GET;
        let is_same_origin = from.scheme() == to.scheme() && from.authority() == to.authority();
        let keeps_request = match attempt.status().as_u16() {
            301 | 302 => is_get,
            307 | 308 => is_get || is_same_origin,
            _ => false,
        };
        let is_safe = match to.scheme_str() {
            Some("https") => true,
            Some("http") => from.scheme_str() == Some("http"),
            _ => false,
        };
        if !keeps_request || !is_safe || self.left == 0 {
            return Ok(Action::Stop);
        }
        self.left -= 1;
        Ok(Action::Follow)
    }

    fn clone_body(&self, body: &OctoBody) -> Option<OctoBody> {
        body.try_clone()
    }
}

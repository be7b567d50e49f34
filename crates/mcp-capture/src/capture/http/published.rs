//! What a server publishes about itself next to its endpoint: its card, and the scopes of its
//! authorization.
//!
//! Scopes are those of its metadata, and those that it asks for when a request has no token.
//!
//! Only read if resources are. A missing document is ignored, and one that was not answered is not
//! compared; only the members that can be compared
//! are kept. One request each, within the origin, bounded in bytes and time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method};
use hyper::body::Bytes;
use url::Url;

use super::client::{Ask, Client};
use super::spec::HttpSpec;
use exact_json::{Json, Object, parse};

/// Larger documents are not read.
const MOST_BYTES: usize = 256 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// The address under which a card is recorded.
const CARD: &str = "/server-card";
/// The address under which authorization metadata is recorded (RFC 9728).
const AUTHORIZATION: &str = "/.well-known/oauth-protected-resource";
/// The name under which the scopes of a challenge are recorded.
const CHALLENGE: &str = "WWW-Authenticate";

/// What is published.
#[derive(Default)]
pub(super) struct Published {
    /// The existing documents, as contents.
    pub(super) contents: Vec<Json>,
    /// The names of those about which nothing is known: the server failed, or took too long.
    pub(super) unanswered: Vec<&'static str>,
}

/// The outcome of one request.
enum Fetched<T> {
    Found(T),
    /// The server has no such document.
    Missing,
    Unanswered,
}

impl<T> Fetched<T> {
    fn and_then<U>(self, read: impl FnOnce(T) -> Option<U>) -> Fetched<U> {
        match self {
            Self::Found(it) => read(it).map_or(Fetched::Missing, Fetched::Found),
            Self::Missing => Fetched::Missing,
            Self::Unanswered => Fetched::Unanswered,
        }
    }
}

impl Published {
    fn add(&mut self, name: &'static str, fetched: Fetched<Json>) {
        match fetched {
            Fetched::Found(content) => self.contents.push(content),
            Fetched::Missing => {}
            Fetched::Unanswered => self.unanswered.push(name),
        }
    }
}

/// A status that says nothing about the document.
fn is_failure(status: u16) -> bool {
    status >= 500 || matches!(status, 408 | 429)
}

pub(super) async fn published(http: &Arc<Client>, spec: &HttpSpec) -> Published {
    let base = spec.url.url();
    let path = base.path().trim_end_matches('/').to_owned();
    let at = |path: String| {
        let mut url = base.clone();
        url.set_path(&path);
        url.set_query(None);
        url
    };
    let mut found = Published::default();
    let card = at(format!("{path}{CARD}"));
    let card = get(http, card, "application/mcp-server-card+json").await;
    found.add(CARD, card.and_then(|it| read_card(&it)));
    let metadata = at(format!("{AUTHORIZATION}{path}"));
    let metadata = get(http, metadata, "application/json").await;
    found.add(AUTHORIZATION, metadata.and_then(|it| read_scopes(&it)));
    // Without a token of our own, the server did not ask for one.
    if http.is_authorized() {
        let challenge = challenge(&http.anonymous(), base.clone()).await;
        found.add(CHALLENGE, challenge);
    }
    found
}

fn ask(url: Url, accept: &'static str) -> Ask {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    Ask {
        method: Method::GET,
        what: format!("GET {}", url.path()),
        url,
        headers,
        body: Bytes::new(),
    }
}

/// The scopes that the server asks for if a request has no token.
async fn challenge(http: &Arc<Client>, url: Url) -> Fetched<Json> {
    let sent = http.send(ask(url, "text/event-stream"));
    let Ok(Ok(answered)) = tokio::time::timeout(PATIENCE, sent).await else {
        return Fetched::Unanswered;
    };
    match answered.status.as_u16() {
        401 => {}
        status if is_failure(status) => return Fetched::Unanswered,
        _ => return Fetched::Missing,
    }
    let challenges = answered.headers.get_all(WWW_AUTHENTICATE).iter();
    let mut scopes = challenges.filter_map(|it| it.to_str().ok().and_then(challenged_scopes));
    let scopes = scopes.next().map(|scopes| recorded(CHALLENGE, scopes));
    scopes.map_or(Fetched::Missing, Fetched::Found)
}

/// The `scope` of a challenge (RFC 6750): words in quotes, or one word.
fn challenged_scopes(challenge: &str) -> Option<BTreeSet<&str>> {
    let lower = challenge.to_ascii_lowercase();
    let mut places = lower.match_indices("scope=").map(|(at, _)| at);
    let at =
        places.find(|at| matches!(lower[..*at].chars().next_back(), Some(' ' | ',' | '\t')))?;
    let value = &challenge[at + "scope=".len()..];
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => value.split([',', ' ']).next()?,
    };
    Some(value.split_ascii_whitespace().collect())
}

async fn get(http: &Arc<Client>, url: Url, accept: &'static str) -> Fetched<Json> {
    let ask = ask(url, accept);
    let read = async {
        let Ok(mut answered) = http.send(ask).await else {
            return Fetched::Unanswered;
        };
        match answered.status.as_u16() {
            200 => {}
            status if is_failure(status) => return Fetched::Unanswered,
            _ => return Fetched::Missing,
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = answered.body.chunk().await {
            let Ok(chunk) = chunk else {
                return Fetched::Unanswered;
            };
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MOST_BYTES {
                return Fetched::Missing;
            }
        }
        parse(&bytes).map_or(Fetched::Missing, Fetched::Found)
    };
    let outcome = tokio::time::timeout(PATIENCE, read).await;
    outcome.unwrap_or(Fetched::Unanswered)
}

fn read_card(card: &Json) -> Option<Json> {
    // Anything may be answered at any address; a card names its schema.
    let schema = card.get("$schema").and_then(Json::as_str)?;
    if !schema.contains("server-card") {
        return None;
    }
    let mut kept = Object::new();
    kept.push("uri", Json::string(CARD));
    for member in ["name", "version", "title"] {
        if let Some(value) = card.get(member) {
            kept.push(member, value.clone());
        }
    }
    let remotes = card.get("remotes").and_then(Json::as_array);
    let revisions = remotes.unwrap_or_default().iter();
    let revisions = revisions.filter_map(|it| it.get("supportedProtocolVersions")?.as_array());
    let revisions: Vec<Json> = revisions.flatten().cloned().collect();
    if !revisions.is_empty() {
        kept.push("supportedProtocolVersions", Json::Array(revisions));
    }
    Some(Json::Object(kept))
}

fn read_scopes(metadata: &Json) -> Option<Json> {
    let scopes = metadata.get("scopes_supported")?.as_array()?;
    let scopes = scopes.iter().filter_map(Json::as_str);
    Some(recorded(AUTHORIZATION, scopes.collect()))
}

fn recorded(uri: &str, scopes: BTreeSet<&str>) -> Json {
    let scopes = scopes.into_iter().map(Json::string).collect();
    Json::object([("uri", Json::string(uri)), ("scopes", Json::Array(scopes))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::{parse_str, to_compact};

    #[test]
    fn only_what_can_be_compared_is_kept() {
        let card = parse_str(
            r#"{"$schema":"https://a.example/v1/server-card.schema.json","name":"a/b","version":"1","description":"d",
            "remotes":[{"supportedProtocolVersions":["2025-11-25"]},{"url":"x"}]}"#,
        );
        assert_eq!(
            read_card(&card.unwrap()).map(|it| to_compact(&it)).unwrap(),
            r#"{"uri":"/server-card","name":"a/b","version":"1","supportedProtocolVersions":["2025-11-25"]}"#
        );
        assert_eq!(read_card(&parse_str(r#"{"name":"a"}"#).unwrap()), None);
        let scopes = parse_str(r#"{"scopes_supported":["b","a","b",7]}"#).unwrap();
        assert_eq!(
            read_scopes(&scopes).map(|it| to_compact(&it)).unwrap(),
            r#"{"uri":"/.well-known/oauth-protected-resource","scopes":["a","b"]}"#
        );
        assert_eq!(read_scopes(&parse_str("[]").unwrap()), None);
    }

    #[test]
    fn the_scopes_of_a_challenge() {
        for (challenge, scopes) in [
            (
                r#"Bearer realm="a", scope="write read""#,
                Some(["read", "write"].as_slice()),
            ),
            ("Bearer scope=read, error=x", Some(&["read"])),
            (r#"Bearer SCOPE="""#, Some(&[])),
            (r#"Bearer myscope="a""#, None),
            ("Bearer", None),
            ("scope=read", None),
        ] {
            let found = challenged_scopes(challenge).map(Vec::from_iter);
            assert_eq!(found.as_deref(), scopes, "{challenge}");
        }
    }
}

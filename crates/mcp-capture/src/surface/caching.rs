//! `cacheScope` and `ttlMs`: what clients and gateways may do with a cached answer (since
//! 2026-07-28).

use std::collections::BTreeMap;

use super::Kind;
use exact_json::{Json, Object};

/// Who may get a cached answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheScope {
    /// Only the client that requested it.
    Private,
    /// Any user.
    Public,
}

impl CacheScope {
    /// As in the protocol.
    pub fn word(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

/// The cache hint of one answer. Undefined values count as missing here; [`CacheHint::undefined`]
/// names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    pub scope: Option<CacheScope>,
    /// How long it may be used, in milliseconds.
    pub ttl_ms: Option<i64>,
}

impl CacheHint {
    pub fn of(result: &Json) -> Self {
        let scope = match result.get("cacheScope").and_then(Json::as_str) {
            Some("public") => Some(CacheScope::Public),
            Some("private") => Some(CacheScope::Private),
            _ => None,
        };
        let ttl_ms = match result.get("ttlMs") {
            Some(Json::Number(number)) => number.to_exact().parse().ok().filter(|ttl| *ttl >= 0),
            _ => None,
        };
        Self { scope, ttl_ms }
    }

    /// The members of a hint whose values the protocol does not allow.
    pub fn undefined(result: &Json) -> impl Iterator<Item = &'static str> {
        let hint = Self::of(result);
        let understood = [
            ("cacheScope", hint.scope.is_some()),
            ("ttlMs", hint.ttl_ms.is_some()),
        ];
        let undefined = understood
            .into_iter()
            .filter(|(member, is_understood)| !is_understood && result.get(member).is_some());
        undefined.map(|(member, _)| member)
    }

    /// For a list of several pages: who may see any of them, and how long any of them may be used.
    pub fn and(self, other: Self) -> Self {
        Self {
            scope: self.scope.max(other.scope),
            ttl_ms: self.ttl_ms.max(other.ttl_ms),
        }
    }

    fn is_empty(self) -> bool {
        self == Self::default()
    }

    fn to_json(self) -> Json {
        let mut json = Object::new();
        if let Some(scope) = self.scope {
            json.push("cacheScope", Json::string(scope.word()));
        }
        if let Some(ttl) = self.ttl_ms {
            json.push("ttlMs", Json::integer(ttl));
        }
        Json::Object(json)
    }
}

/// The hints of a server's answers. An answer without one has no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caching(BTreeMap<&'static str, CacheHint>);

/// The method that opens a connection.
const DISCOVER: &str = "server/discover";

/// The methods whose answers have hints.
fn methods() -> impl Iterator<Item = &'static str> {
    let lists = Kind::ALL.iter().filter_map(|kind| method(*kind));
    [DISCOVER].into_iter().chain(lists)
}

/// The method that lists a kind; `None` for what is read one by one.
fn method(kind: Kind) -> Option<&'static str> {
    kind.listing().map(|it| it.method)
}

impl Caching {
    pub fn add(&mut self, kind: Kind, hint: CacheHint) {
        if let Some(method) = method(kind) {
            self.insert(method, hint);
        }
    }

    /// Adds the hint of the answer to `server/discover`.
    pub fn add_discover(&mut self, hint: CacheHint) {
        self.insert(DISCOVER, hint);
    }

    fn insert(&mut self, method: &'static str, hint: CacheHint) {
        if !hint.is_empty() {
            let known = self.0.entry(method).or_default();
            *known = known.and(hint);
        }
    }

    pub fn of(&self, kind: Kind) -> CacheHint {
        method(kind)
            .map(|method| self.get(method))
            .unwrap_or_default()
    }

    pub fn get(&self, method: &str) -> CacheHint {
        self.0.get(method).copied().unwrap_or_default()
    }

    /// All hints, by method.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, CacheHint)> {
        self.0.iter().map(|(method, hint)| (*method, *hint))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As in a baseline and in a capture.
    pub fn to_json(&self) -> Json {
        self.0
            .iter()
            .map(|(method, hint)| ((*method).into(), hint.to_json()))
            .collect::<Object>()
            .into()
    }

    /// From what [`Caching::to_json`] wrote; unknown members are ignored.
    pub fn from_json(json: &Json) -> Self {
        let mut caching = Self::default();
        for method in methods() {
            if let Some(hint) = json.get(method) {
                caching.insert(method, CacheHint::of(hint));
            }
        }
        caching
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::{parse_str, to_compact};

    #[test]
    fn hints_of_pages_are_merged_and_round_trip() {
        let mut caching = Caching::default();
        for page in [
            r#"{"cacheScope":"private","ttlMs":5}"#,
            r#"{"cacheScope":"public","ttlMs":3}"#,
            r#"{"cacheScope":"shared","ttlMs":-1}"#,
            "{}",
        ] {
            caching.add(Kind::Tool, CacheHint::of(&parse_str(page).unwrap()));
        }
        caching.add(Kind::Prompt, CacheHint::default());
        let written = caching.to_json();
        assert_eq!(
            to_compact(&written),
            r#"{"tools/list":{"cacheScope":"public","ttlMs":5}}"#
        );
        assert_eq!(Caching::from_json(&written), caching);
        assert!(Caching::from_json(&Json::Null).is_empty());
    }
}

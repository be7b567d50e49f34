//! Requests the lists: all at once, all pages, until they are stable.

use std::collections::HashSet;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rmcp::model::{ClientRequest, CustomRequest, NumberOrString};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use serde_json::json;

use super::contents::READ;
use super::error::CaptureError;
use super::inbox::{Answer, Inbox, shortened};
use super::opening::{DISCOVER, incomplete};
use super::{Limits, Stage, wire};
use crate::surface::{CacheHint, Era, Kind, Lists, list_members};
use exact_json::{Json, Object};

/// The request that lists a kind, or reads one of it.
pub(super) fn method(kind: Kind) -> &'static str {
    kind.listing().map_or(READ, |listing| listing.method)
}

/// All pages of one list.
#[derive(Default)]
struct Listed {
    items: Vec<Json>,
    hint: CacheHint,
    /// What no revision defines.
    other_members: Object,
}

/// A server whose connection is open.
pub(super) struct Lister<'a> {
    pub(super) peer: &'a Peer<RoleClient>,
    pub(super) inbox: &'a Arc<Inbox>,
    pub(super) era: Era,
    pub(super) limits: &'a Limits,
    pub(super) progress: &'a (dyn Fn(Stage) + Send + Sync),
}

impl Lister<'_> {
    /// The lists of a server that declared `capabilities`.
    pub(super) async fn all(&self, capabilities: Option<&Json>) -> Result<Lists, CaptureError> {
        let declared = |kind: &Kind| {
            let listing = kind.listing();
            listing.is_some_and(|listing| listing.is_declared(capabilities))
        };
        let mut stale: Vec<Kind> = Kind::ALL.iter().copied().filter(declared).collect();
        let declared = stale.clone();
        let mut lists = Lists::default();
        for round in 0.. {
            if let Some(kind) = stale.first()
                && round > self.limits.relists
            {
                return Err(CaptureError::Unsettled {
                    method: method(*kind),
                    limit: self.limits.relists,
                });
            }
            if round > 0 {
                (self.progress)(Stage::Settling);
            }
            let before: Vec<(Kind, usize)> = declared
                .iter()
                .map(|kind| (*kind, self.inbox.changes(*kind)))
                .collect();
            self.list(&stale, &mut lists).await?;
            let changed_since = |before: &[(Kind, usize)]| -> Vec<Kind> {
                let changed = before
                    .iter()
                    .filter(|(kind, changes)| self.inbox.changes(*kind) > *changes);
                changed.map(|(kind, _)| *kind).collect()
            };
            stale = changed_since(&before);
            // A server that ever announced or requested something may be in the middle of a change
            // that it announces right after its answer. It reads in order, so one more request
            // finds out, without waiting. If a list is stale already, the next round does.
            if stale.is_empty() && self.inbox.has_moved() {
                self.round_trip().await;
                stale = changed_since(&before);
            }
            if stale.is_empty() {
                break;
            }
        }
        if self.limits.read_contents {
            let contents = self.contents(&lists).await?;
            *lists.of_mut(Kind::Content) = contents;
        }
        Ok(lists)
    }

    /// The lists once more, after a while.
    pub(super) async fn again(
        &self,
        capabilities: Option<&Json>,
        pause: Duration,
    ) -> Result<Lists, CaptureError> {
        if !pause.is_zero() {
            (self.progress)(Stage::Waiting);
            tokio::time::sleep(pause).await;
        }
        self.all(capabilities).await
    }

    /// Lists some kinds, all requests concurrently.
    async fn list(&self, kinds: &[Kind], lists: &mut Lists) -> Result<(), CaptureError> {
        let under_way = kinds.iter().map(|kind| self.pages(*kind));
        for (kind, listed) in kinds.iter().zip(all_of(under_way).await?) {
            *lists.of_mut(*kind) = listed.items;
            lists.caching.add(*kind, listed.hint);
            if listed.other_members.is_empty() {
                lists.other_members.remove(method(*kind));
            } else {
                let others = Json::Object(listed.other_members);
                lists.other_members.insert(method(*kind), others);
            }
        }
        Ok(())
    }

    /// All pages of one list.
    async fn pages(&self, kind: Kind) -> Result<Listed, CaptureError> {
        let method = method(kind);
        let malformed = |problem: String| CaptureError::Malformed { method, problem };
        let mut all = Listed::default();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for page in 0.. {
            if page >= self.limits.pages {
                return Err(CaptureError::TooManyPages {
                    method,
                    limit: self.limits.pages,
                });
            }
            let params = cursor.take().map(|cursor| json!({ "cursor": cursor }));
            let result = match self.ask(method, params).await? {
                Answer::Result(result) => result,
                // A declared capability without this list, which many servers have. Halfway through
                // a list it is an error like any other.
                Answer::Error(error) if page == 0 && is_method_not_found(&error) => {
                    return Ok(all);
                }
                Answer::Error(error) => {
                    return Err(CaptureError::Refused {
                        method,
                        error: wire::rpc_error(&error),
                    });
                }
            };
            if self.era == Era::Modern
                && let Some(kind) = incomplete(&result)
            {
                return Err(CaptureError::Incomplete { method, kind });
            }
            all.hint = all.hint.and(CacheHint::of(&result));
            for (name, value) in list_members(kind, &result).iter() {
                // Of several pages the first counts.
                if !all.other_members.contains(name.to_string_lossy()) {
                    all.other_members.push(name.clone(), value.clone());
                }
            }
            let Json::Object(mut result) = result else {
                return Err(malformed(format!("the result is {}", result.kind())));
            };
            let next = match result.get("nextCursor") {
                None | Some(Json::Null) => None,
                // An empty cursor is a cursor; only a missing one ends the list.
                Some(Json::String(text)) => Some(
                    text.as_str()
                        .ok_or_else(|| malformed("`nextCursor` is not Unicode".into()))?
                        .to_owned(),
                ),
                Some(other) => return Err(malformed(format!("`nextCursor` is {}", other.kind()))),
            };
            let member = kind.list_member();
            match result.get_mut(member) {
                Some(Json::Array(listed)) => all.items.append(listed),
                Some(other) => {
                    return Err(malformed(format!(
                        "`{member}` is {}, not an array",
                        other.kind()
                    )));
                }
                None => return Err(malformed(format!("it has no `{member}`"))),
            }
            if all.items.len() > self.limits.items {
                return Err(CaptureError::TooManyItems {
                    method,
                    limit: self.limits.items,
                });
            }
            (self.progress)(Stage::Listing {
                kind,
                items: all.items.len(),
            });
            let Some(next) = next else { break };
            if next.len() > self.limits.cursor {
                let limit = self.limits.cursor;
                return Err(malformed(format!(
                    "`nextCursor` has more than {limit} bytes"
                )));
            }
            if !seen.insert(next.clone()) {
                return Err(CaptureError::RepeatedCursor {
                    method,
                    cursor: shortened(&next),
                });
            }
            cursor = Some(next);
        }
        Ok(all)
    }

    /// One request and its answer, as sent.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        params: Option<serde_json::Value>,
    ) -> Result<Answer, CaptureError> {
        self.ask_within(method, params, self.limits.request).await
    }

    /// One round trip. Whether and what the server answers does not matter.
    async fn round_trip(&self) {
        let patience = self.limits.request.min(Duration::from_secs(1));
        let method = match self.era {
            Era::Legacy => "ping",
            // The modern era has no `ping`.
            Era::Modern => DISCOVER,
        };
        let _ = self.ask_within(method, None, patience).await;
    }

    async fn ask_within(
        &self,
        method: &'static str,
        params: Option<serde_json::Value>,
        patience: Duration,
    ) -> Result<Answer, CaptureError> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, params));
        let answer = async {
            let options = PeerRequestOptions::no_options();
            let request = self
                .peer
                .send_request_with_option(request, options)
                .await
                .ok()?;
            let NumberOrString::Number(id) = request.id.clone() else {
                return None;
            };
            // rmcp returns the placeholder; only its arrival counts.
            request.await_response().await.ok()?;
            self.inbox.take(id)
        };
        match tokio::time::timeout(patience, answer).await {
            Ok(Some(answer)) => Ok(answer),
            // The wire has ended; the caller knows why.
            Ok(None) => Err(super::lost(self.inbox, method)),
            Err(_) => Err(CaptureError::Timeout {
                method,
                after: patience,
                noise: self.inbox.all_noise(),
            }),
        }
    }
}

/// Runs futures concurrently until all of them are done, or one fails.
async fn all_of<T, E, F>(futures: impl Iterator<Item = F>) -> Result<Vec<T>, E>
where
    F: Future<Output = Result<T, E>>,
{
    let mut under_way: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, done) in &mut under_way {
            if done.is_none()
                && let Poll::Ready(outcome) = future.as_mut().poll(context)
            {
                match outcome {
                    Ok(outcome) => *done = Some(outcome),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        }
        if under_way.iter().all(|(_, done)| done.is_some()) {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await?;
    Ok(under_way.into_iter().filter_map(|(_, done)| done).collect())
}

fn is_method_not_found(error: &Json) -> bool {
    matches!(error.get("code"), Some(Json::Number(code)) if code.to_exact() == "-32601")
}

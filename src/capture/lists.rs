//! Asking for the lists: all at once, all pages, until they stand still.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientRequest, CustomRequest, NumberOrString};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use serde_json::json;

use super::error::CaptureError;
use super::inbox::{Answer, Inbox, shortened};
use super::opening::{DISCOVER, incomplete};
use super::{Limits, Stage, wire};
use crate::canonical::Json;
use crate::surface::{Era, Kind, Lists};

/// The request that lists a kind.
pub(super) fn method(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "tools/list",
        Kind::Prompt => "prompts/list",
        Kind::Resource => "resources/list",
        Kind::Template => "resources/templates/list",
    }
}

fn capability(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "tools",
        Kind::Prompt => "prompts",
        Kind::Resource | Kind::Template => "resources",
    }
}

/// A server that has been greeted.
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
            let capability = capabilities.and_then(|all| all.get(capability(*kind)));
            !matches!(capability, None | Some(Json::Null | Json::Bool(false)))
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
            // A server that ever announced or asked something may be in the middle of a change that it announces
            // right after its answer. It reads in order, so one more question finds out, without any waiting.
            if self.inbox.has_moved() {
                self.round_trip().await;
            }
            stale = before
                .into_iter()
                .filter(|(kind, changes)| self.inbox.changes(*kind) > *changes)
                .map(|(kind, _)| kind)
                .collect();
            if stale.is_empty() {
                break;
            }
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

    /// Lists some kinds, all requests under way together.
    async fn list(&self, kinds: &[Kind], lists: &mut Lists) -> Result<(), CaptureError> {
        let list = async |kind| {
            if kinds.contains(&kind) {
                self.pages(kind).await.map(Some)
            } else {
                Ok(None)
            }
        };
        let (tools, prompts, resources, templates) = tokio::try_join!(
            list(Kind::Tool),
            list(Kind::Prompt),
            list(Kind::Resource),
            list(Kind::Template),
        )?;
        let listed = [
            (Kind::Tool, tools),
            (Kind::Prompt, prompts),
            (Kind::Resource, resources),
            (Kind::Template, templates),
        ];
        for (kind, items) in listed {
            if let Some(items) = items {
                *lists.of_mut(kind) = items;
            }
        }
        Ok(())
    }

    /// All pages of one list.
    async fn pages(&self, kind: Kind) -> Result<Vec<Json>, CaptureError> {
        let method = method(kind);
        let malformed = |problem: String| CaptureError::Malformed { method, problem };
        let mut items: Vec<Json> = Vec::new();
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
                // A declared capability without this list, which many servers have. Halfway through a list it is an
                // error like any other.
                Answer::Error(error) if page == 0 && is_method_not_found(&error) => {
                    return Ok(items);
                }
                Answer::Error(error) => {
                    return Err(CaptureError::Refused {
                        method,
                        error: wire::told(&error),
                    });
                }
            };
            if self.era == Era::Modern
                && let Some(kind) = incomplete(&result)
            {
                return Err(CaptureError::Incomplete { method, kind });
            }
            let Json::Object(mut result) = result else {
                return Err(malformed(format!("the result is {}", result.kind())));
            };
            let next = match result.get("nextCursor") {
                None | Some(Json::Null) => None,
                // An empty cursor is a cursor; only its absence ends the list.
                Some(Json::String(text)) => Some(
                    text.as_str()
                        .ok_or_else(|| malformed("`nextCursor` is not Unicode".into()))?
                        .to_owned(),
                ),
                Some(other) => return Err(malformed(format!("`nextCursor` is {}", other.kind()))),
            };
            let member = kind.list_member();
            match result.get_mut(member) {
                Some(Json::Array(listed)) => items.append(listed),
                Some(other) => {
                    return Err(malformed(format!(
                        "`{member}` is {}, not an array",
                        other.kind()
                    )));
                }
                None => return Err(malformed(format!("it has no `{member}`"))),
            }
            if items.len() > self.limits.items {
                return Err(CaptureError::TooManyItems {
                    method,
                    limit: self.limits.items,
                });
            }
            (self.progress)(Stage::Listing {
                kind,
                items: items.len(),
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
        Ok(items)
    }

    /// One request and its answer, as sent.
    async fn ask(
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
            // There is no `ping` any more.
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
            // What rmcp hands over is the placeholder; that it came is all that counts.
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

fn is_method_not_found(error: &Json) -> bool {
    matches!(error.get("code"), Some(Json::Number(code)) if code.to_exact() == "-32601")
}

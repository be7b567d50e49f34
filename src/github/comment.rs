//! The comment: one a configuration, updated in place, folded to a line when there is nothing to say any more.
//!
//! It is found by a marker that begins its text, over all pages, and only among comments whose author can be us. A
//! marker is public, and a comment that an outsider began with it must not become the place of our verdict: its author
//! could rewrite it afterwards.

use serde::{Deserialize, Serialize};

use super::api::{ATTEMPTS, pause};
use super::{Api, ApiError};

/// What is to stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comment {
    /// Markdown, within [`crate::report::COMMENT_LIMIT`] less the marker.
    Say(String),
    /// Nothing; if there is a comment, it becomes this one line.
    Fold(String),
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A comment was created.
    Created,
    /// It was changed.
    Updated,
    /// It says the same already.
    Unchanged,
    /// There is none, and none is needed.
    Nothing,
}

#[derive(Serialize)]
struct Body<'a> {
    body: &'a str,
}

#[derive(Deserialize)]
struct Found {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    author_association: Option<String>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

impl Found {
    /// Whether we may have written it: an app that somebody installed here, or a person who may write here.
    fn may_be_ours(&self) -> bool {
        let is_bot = self
            .user
            .as_ref()
            .is_some_and(|user| user.kind.as_deref() == Some("Bot"));
        let trusted = ["OWNER", "MEMBER", "COLLABORATOR"];
        is_bot
            || self
                .author_association
                .as_deref()
                .is_some_and(|it| trusted.contains(&it))
    }
}

/// The invisible line that a comment of this configuration begins with.
pub fn marker(identity: &str) -> String {
    format!("<!-- mcp-keel:{identity} -->")
}

/// Makes the pull request's comment say this.
pub async fn post(
    api: &Api,
    number: u64,
    identity: &str,
    comment: &Comment,
) -> Result<Done, ApiError> {
    let marker = marker(identity);
    let (text, needed) = match comment {
        Comment::Say(text) => (text, true),
        Comment::Fold(text) => (text, false),
    };
    let body = format!("{marker}\n{}", text.trim_end());
    let comments = format!("/issues/{number}/comments");
    let mut attempt = 1;
    loop {
        let all: Vec<Found> = api.all(&comments, None).await?;
        let ours = all
            .into_iter()
            .filter(|it| it.may_be_ours())
            .filter(|it| begins_with(it.body.as_deref(), &marker))
            .min_by_key(|it| it.id);
        if let Some(found) = ours {
            if said(found.body.as_deref()) == said(Some(&body)) {
                return Ok(Done::Unchanged);
            }
            let path = format!("/issues/comments/{}", found.id);
            api.set::<serde_json::Value>(&path, &Body { body: &body })
                .await?;
            return Ok(Done::Updated);
        }
        if !needed {
            return Ok(Done::Nothing);
        }
        match api
            .post::<serde_json::Value>(&comments, &Body { body: &body })
            .await
        {
            Ok(_) => return Ok(Done::Created),
            Err(ApiError::Ambiguous { .. } | ApiError::Answer { .. }) if attempt < ATTEMPTS => {
                pause(attempt).await;
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn begins_with(body: Option<&str>, marker: &str) -> bool {
    body.is_some_and(|body| body.trim_start().starts_with(marker))
}

/// GitHub stores line ends in its own way.
fn said(body: Option<&str>) -> String {
    body.unwrap_or_default()
        .replace("\r\n", "\n")
        .trim()
        .to_owned()
}

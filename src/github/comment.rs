//! The comment: one per configuration, updated in place, folded to a line when there is nothing
//! left to report.
//!
//! It is found by a marker that begins its text, over all pages, and only among comments that we wrote ourselves. A marker
//! is public, and a comment by another author that begins with it must not become the place of our verdict: its author could
//! rewrite it afterwards. Two processes may create one at the same time; each looks again after that, and the oldest stays.

use serde::{Deserialize, Serialize};

use super::retries::{ATTEMPTS, pause};
use super::{Api, ApiError, Stamp};

/// The desired content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comment {
    /// Markdown, within [`crate::report::COMMENT_LIMIT`] minus the marker.
    Say(String),
    /// Nothing; an existing comment becomes this one line.
    Fold(String),
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Created,
    Updated,
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
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    login: String,
}

/// Who we are to GitHub: the app whose check run we made, or the user of the token; without either, the app that the token
/// of a workflow belongs to.
pub async fn author(api: &Api, app: Option<&str>) -> String {
    match app {
        Some(slug) => format!("{slug}[bot]"),
        None => match api.user().await {
            Ok(login) => login,
            Err(_) => "github-actions[bot]".to_owned(),
        },
    }
}

/// The invisible first line of this configuration's comment.
pub fn marker(identity: &str) -> String {
    format!("<!-- mcp-keel:{identity} -->")
}

/// Creates or updates the pull request's comment.
pub async fn post(
    api: &Api,
    number: u64,
    (identity, author): (&str, &str),
    comment: &Comment,
    stamp: &Stamp,
) -> Result<Done, ApiError> {
    let marker = marker(identity);
    let (text, needed) = match comment {
        Comment::Say(text) => (text, true),
        Comment::Fold(text) => (text, false),
    };
    let body = format!("{marker}\n{}\n{}", text.trim_end(), stamp.text());
    let comments = format!("/issues/{number}/comments");
    let mut attempt = 1;
    loop {
        let mut ours = own(api, &comments, &marker, author).await?;
        if !ours.is_empty() {
            let found = ours.remove(0);
            let is_worse = |it: &str| stamp.worse_in(it).is_some();
            if normalised(found.body.as_deref()) == normalised(Some(&body))
                || found.body.as_deref().is_some_and(is_worse)
            {
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
            Ok(created) => {
                let ours = own(api, &comments, &marker, author).await?;
                let newer = ours.iter().skip(1).map(|it| it.id);
                for id in newer.clone() {
                    // Another process may have removed it already.
                    let _ = api.delete(&format!("/issues/comments/{id}")).await;
                }
                let is_newer = |id: u64| newer.clone().any(|it| it == id);
                let is_better = |it: &&Found| {
                    let body = it.body.as_deref().unwrap_or_default();
                    stamp.worse_in(body).is_none()
                };
                if let (Some(first), true) = (
                    ours.first().filter(is_better),
                    created["id"].as_u64().is_some_and(is_newer),
                ) {
                    let path = format!("/issues/comments/{}", first.id);
                    api.set::<serde_json::Value>(&path, &Body { body: &body })
                        .await?;
                }
                return Ok(Done::Created);
            }
            Err(ApiError::Ambiguous { .. } | ApiError::Answer { .. }) if attempt < ATTEMPTS => {
                tokio::time::sleep(pause(attempt)).await;
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The comments with this marker that we wrote, the oldest first.
async fn own(
    api: &Api,
    comments: &str,
    marker: &str,
    author: &str,
) -> Result<Vec<Found>, ApiError> {
    let mut all: Vec<Found> = api.all(comments, None).await?;
    all.retain(|it| {
        let is_ours = it.user.as_ref().is_some_and(|user| user.login == author);
        is_ours && begins_with(it.body.as_deref(), marker)
    });
    all.sort_by_key(|it| it.id);
    Ok(all)
}

fn begins_with(body: Option<&str>, marker: &str) -> bool {
    body.is_some_and(|body| body.trim_start().starts_with(marker))
}

/// Normalises line ends, which GitHub stores in its own way.
fn normalised(body: Option<&str>) -> String {
    body.unwrap_or_default()
        .replace("\r\n", "\n")
        .trim()
        .to_owned()
}

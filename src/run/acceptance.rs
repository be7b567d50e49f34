//! The label by which a maintainer accepts what would block, bound to what was there to be seen when it was set.
//!
//! A label stays when more is pushed. It counts for a commit if GitHub says that it was set while that commit was the head:
//! in the event that reports it, or by its time, which is later than the event that this run is about. Once it has
//! counted, the check run of the commit says so, so that later events about the same commit need not be asked again.

use serde::Deserialize;

use crate::github::{Api, Context, check_run};

/// What a label says about the commit that is judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Acceptance {
    /// There is no such label.
    #[default]
    None,
    /// It was set for this commit.
    Given {
        by: String,
        /// When, as GitHub writes it.
        at: String,
    },
    /// It was set for an earlier commit.
    Earlier { by: String },
}

impl Acceptance {
    pub(crate) fn is_given(&self) -> bool {
        matches!(self, Self::Given { .. })
    }

    /// What the check run keeps, for later events about the same commit.
    pub(crate) fn record(&self) -> Option<String> {
        match self {
            Self::Given { at, .. } => Some(record(at)),
            _ => None,
        }
    }
}

fn record(at: &str) -> String {
    format!("<!-- mcp-keel: accepted {at} -->")
}

/// Something that happened to a pull request.
#[derive(Deserialize)]
struct Happened {
    #[serde(default)]
    event: Option<String>,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    actor: Option<Actor>,
    #[serde(default)]
    label: Option<Label>,
}

#[derive(Deserialize)]
struct Actor {
    #[serde(default)]
    login: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    name: String,
}

/// Whether the label accepts the commit of this run. Without the API only the event itself can say so.
pub(crate) async fn acceptance(
    context: &Context,
    label: &str,
    check_name: &str,
    api: Option<&Api>,
) -> Acceptance {
    let Some(pull) = context.pull_request() else {
        return Acceptance::None;
    };
    let is_reported = pull.labeled.as_ref().filter(|it| it.label == label);
    let Some(api) = api else {
        return match is_reported {
            Some(it) if !it.by_bot => Acceptance::Given {
                by: it.by.clone(),
                at: pull.updated_at.clone(),
            },
            _ => Acceptance::None,
        };
    };
    // As it is now: a run that is repeated has an old event.
    let labels = api
        .all::<Label>(&format!("/issues/{}/labels", pull.number), None)
        .await;
    let is_there = match labels {
        Ok(labels) => labels.iter().any(|it| it.name == label),
        Err(_) => is_reported.is_some(),
    };
    if !is_there {
        return Acceptance::None;
    }
    let timeline = api
        .all::<Happened>(&format!("/issues/{}/timeline", pull.number), None)
        .await
        .unwrap_or_default();
    let set = timeline.iter().rev().find(|it| {
        it.event.as_deref() == Some("labeled")
            && it.label.as_ref().is_some_and(|it| it.name == label)
    });
    let (by, at, by_bot) = match (set, is_reported) {
        (Some(set), _) => {
            let actor = set.actor.as_ref();
            let is_bot = actor.is_some_and(|it| it.kind.as_deref() == Some("Bot"));
            let login = actor.map(|it| it.login.clone()).unwrap_or_default();
            (login, set.created_at.clone().unwrap_or_default(), is_bot)
        }
        (None, Some(it)) => (it.by.clone(), pull.updated_at.clone(), it.by_bot),
        // It is there, and nothing says since when.
        (None, None) => (String::new(), String::new(), false),
    };
    // A program that sets labels, such as a workflow of the pull request, has seen nothing.
    if by_bot {
        return Acceptance::None;
    }
    // Times of GitHub are all written alike, in UTC and to the second: within one, nothing says what came first.
    let is_later = !pull.updated_at.is_empty() && at > pull.updated_at;
    let is_given = is_reported.is_some()
        || is_later
        || (!at.is_empty()
            && check_run::has_text(api, &context.commit, check_name, &record(&at)).await);
    if is_given {
        Acceptance::Given { by, at }
    } else {
        Acceptance::Earlier { by }
    }
}

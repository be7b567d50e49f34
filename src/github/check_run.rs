//! The check run: created in progress, completed with a conclusion, annotated.
//!
//! A run is found again by its `external_id`, so that a retry, a re-run of the job and a request whose answer got lost
//! all end at the same run. Annotations are only ever appended by GitHub and can never be taken back; therefore the
//! ones that a run already has are read before any is sent, and only the missing ones are sent. That makes sending
//! safe to repeat: after a lost answer, and when the whole job is run again on the same commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::api::{ATTEMPTS, encoded, pause};
use super::{Api, ApiError};
use crate::policy::Verdict;
use crate::report::{Annotation, AnnotationLevel, CHECK_RUN_LIMIT};

/// How many annotations GitHub takes in one request.
pub const BATCH: usize = 50;

/// Which run.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name on the pull request.
    pub name: String,
    pub commit: String,
    /// What it is found again by.
    pub external_id: String,
    /// Where its name leads to.
    pub details_url: Option<String>,
}

/// What a run ends with.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// One line.
    pub title: String,
    /// Markdown, within the limit.
    pub summary: String,
    /// The most severe first.
    pub annotations: Vec<Annotation>,
}

/// A run that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    id: u64,
    /// Whether it existed before, and may have annotations.
    found: bool,
}

/// GitHub's word for a verdict.
pub fn conclusion(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "success",
        Verdict::Warn => "neutral",
        Verdict::Block => "failure",
        Verdict::Undetermined => "action_required",
    }
}

#[derive(Serialize)]
struct Create<'a> {
    name: &'a str,
    head_sha: &'a str,
    external_id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details_url: Option<&'a str>,
    output: Output<'a>,
}

#[derive(Serialize)]
struct Update<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conclusion: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details_url: Option<&'a str>,
    output: Output<'a>,
}

#[derive(Serialize)]
struct Output<'a> {
    title: &'a str,
    summary: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<Sent<'a>>,
}

#[derive(Serialize)]
struct Sent<'a> {
    path: &'a str,
    start_line: usize,
    end_line: usize,
    annotation_level: &'static str,
    title: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_details: Option<&'a str>,
}

/// Only what we read of an answer: every other member may come and go.
#[derive(Deserialize)]
struct Found {
    id: u64,
    #[serde(default)]
    external_id: Option<String>,
}

#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    path: String,
    #[serde(default)]
    start_line: u64,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

impl CheckRun {
    /// The run with this identity, found or created in progress.
    pub async fn start(api: &Api, identity: &Identity) -> Result<Self, ApiError> {
        let mut attempt = 1;
        loop {
            // Before the first attempt too: a re-run of the job has a run already.
            if let Some(id) = find(api, identity).await? {
                return Ok(Self { id, found: true });
            }
            let body = Create {
                name: &identity.name,
                head_sha: &identity.commit,
                external_id: &identity.external_id,
                status: "in_progress",
                details_url: identity.details_url.as_deref(),
                output: Output {
                    title: "Checking",
                    summary: "The servers are being captured and compared with their baseline.",
                    annotations: Vec::new(),
                },
            };
            match api.post::<Found>("/check-runs", &body).await {
                Ok(created) => {
                    return Ok(Self {
                        id: created.id,
                        found: false,
                    });
                }
                // It may be there in spite of that; an answer that cannot be read is no better than none.
                Err(ApiError::Ambiguous { .. } | ApiError::Answer { .. }) if attempt < ATTEMPTS => {
                    pause(attempt).await;
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends the annotations that are missing, and completes the run with the last of them.
    pub async fn complete(
        &self,
        api: &Api,
        identity: &Identity,
        outcome: &Outcome,
    ) -> Result<(), ApiError> {
        let path = format!("/check-runs/{}", self.id);
        let mut look_first = self.found;
        let mut attempt = 1;
        'again: loop {
            let present: Vec<Shown> = if look_first {
                api.all(&format!("{path}/annotations"), None).await?
            } else {
                Vec::new()
            };
            let (missing, stale) = missing(&outcome.annotations, &present);
            let summary = with_stale(&outcome.summary, stale);
            let mut batches: Vec<&[&Annotation]> = missing.chunks(BATCH).collect();
            if batches.is_empty() {
                batches.push(&[]);
            }
            let last = batches.len() - 1;
            for (index, batch) in batches.into_iter().enumerate() {
                let done = index == last;
                let body = Update {
                    status: done.then_some("completed"),
                    conclusion: done.then(|| conclusion(outcome.verdict)),
                    details_url: identity.details_url.as_deref(),
                    output: Output {
                        title: &outcome.title,
                        summary: &summary,
                        annotations: batch.iter().map(|it| sent(it)).collect(),
                    },
                };
                match api.append::<serde_json::Value>(&path, &body).await {
                    Ok(_) => {}
                    Err(ApiError::Ambiguous { .. } | ApiError::Answer { .. })
                        if attempt < ATTEMPTS =>
                    {
                        pause(attempt).await;
                        attempt += 1;
                        look_first = true;
                        continue 'again;
                    }
                    Err(error) => return Err(error),
                }
            }
            return Ok(());
        }
    }
}

impl CheckRun {
    /// Completes the run as cancelled: a signal ended the check. One request, no annotations: there is little time.
    pub async fn cancel(&self, api: &Api, identity: &Identity) -> Result<(), ApiError> {
        let body = Update {
            status: Some("completed"),
            conclusion: Some("cancelled"),
            details_url: identity.details_url.as_deref(),
            output: Output {
                title: "Cancelled",
                summary: "The check was ended before it was complete. Nothing is claimed.",
                annotations: Vec::new(),
            },
        };
        let path = format!("/check-runs/{}", self.id);
        api.append::<serde_json::Value>(&path, &body).await?;
        Ok(())
    }
}

/// The oldest run with this identity, over all pages. `filter=all`: the latest ones only would hide ours behind
/// another of the same name.
async fn find(api: &Api, identity: &Identity) -> Result<Option<u64>, ApiError> {
    let path = format!(
        "/commits/{}/check-runs?check_name={}&filter=all",
        encoded(&identity.commit),
        encoded(&identity.name)
    );
    let runs: Vec<Found> = api.all(&path, Some("check_runs")).await?;
    Ok(runs
        .into_iter()
        .filter(|run| run.external_id.as_deref() == Some(&identity.external_id))
        .map(|run| run.id)
        .min())
}

/// The annotations that a run does not have yet, and how many it has that nobody wants any more. The same annotation
/// may be wanted twice; it is then sent twice.
fn missing<'a>(wanted: &'a [Annotation], present: &[Shown]) -> (Vec<&'a Annotation>, usize) {
    // White space is not compared: GitHub may trim it.
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut there: BTreeMap<(&str, u64, String, String), usize> = BTreeMap::new();
    for it in present {
        let text = |text: &Option<String>| flat(text.as_deref().unwrap_or_default());
        let key = (
            it.path.as_str(),
            it.start_line,
            text(&it.title),
            text(&it.message),
        );
        *there.entry(key).or_default() += 1;
    }
    let missing = wanted
        .iter()
        .filter(|it| {
            let key = (
                it.path.as_str(),
                it.start_line as u64,
                flat(&it.title),
                flat(&it.message),
            );
            match there.get_mut(&key) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        })
        .collect();
    (missing, there.values().sum())
}

/// Annotations of an earlier run of the same commit cannot be taken back; the summary says that they no longer hold.
fn with_stale(summary: &str, stale: usize) -> String {
    if stale == 0 {
        return summary.to_owned();
    }
    let note = format!(
        "\n\nAn earlier run on this commit left {stale} annotation{} that no longer {}.\n",
        if stale == 1 { "" } else { "s" },
        if stale == 1 { "applies" } else { "apply" },
    );
    if summary.len() + note.len() <= CHECK_RUN_LIMIT {
        summary.to_owned() + &note
    } else {
        summary.to_owned()
    }
}

fn sent(annotation: &Annotation) -> Sent<'_> {
    Sent {
        path: &annotation.path,
        start_line: annotation.start_line,
        end_line: annotation.end_line,
        annotation_level: AnnotationLevel::word(annotation.level),
        title: &annotation.title,
        message: &annotation.message,
        raw_details: annotation.raw_details.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::escape::Visible;

    fn annotation(line: usize, message: &str) -> Annotation {
        Annotation {
            path: "mcp-baseline.json".to_owned(),
            start_line: line,
            end_line: line,
            level: AnnotationLevel::Failure,
            title: Visible::of_parts("a title".to_owned()),
            message: Visible::of_parts(message.to_owned()),
            raw_details: None,
        }
    }

    fn shown(line: u64, message: &str) -> Shown {
        Shown {
            path: "mcp-baseline.json".to_owned(),
            start_line: line,
            title: Some("a title".to_owned()),
            message: Some(message.to_owned()),
        }
    }

    #[test]
    fn only_what_a_run_does_not_have_is_sent() {
        let wanted = [annotation(1, "a"), annotation(1, "a"), annotation(2, "b\n")];
        let present = [shown(1, "a"), shown(2, "b"), shown(9, "gone")];
        let (missing, stale) = missing(&wanted, &present);
        assert_eq!(missing, [&annotation(1, "a")]);
        assert_eq!(stale, 1);
    }

    #[test]
    fn every_verdict_has_a_conclusion() {
        let all = Verdict::ALL.iter().map(|it| conclusion(*it));
        assert_eq!(
            all.collect::<Vec<_>>(),
            ["success", "neutral", "action_required", "failure"]
        );
    }
}

//! The check run: created in progress, completed with a conclusion, annotated.
//!
//! A run is found again by its `external_id`, so that a retry, a re-run of the job and a request
//! whose response got lost all end at the same run. GitHub only ever appends annotations, and they
//! cannot be removed; therefore a run's existing ones are read first, and only the missing ones are
//! sent. That makes sending safe to repeat: after a lost response, and when the whole job is run
//! again on the same commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::api::encoded;
use super::retries::{ATTEMPTS, pause};
use super::{Api, ApiError, Stamp};
use crate::policy::Verdict;
use crate::report::{Annotation, AnnotationLevel, CHECK_RUN_LIMIT};
use crate::wording::counted;

/// The summary until there is a verdict.
const IN_PROGRESS: &str = "The servers are being captured and compared with their baseline.";

/// The maximum number of annotations per request.
pub const BATCH: usize = 50;

/// How long another process that is at work on the same run is waited for.
const PATIENCE_SECONDS: usize = 20;

/// Which run.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name on the pull request.
    pub name: String,
    pub commit: String,
    /// Used to find it again.
    pub external_id: String,
    /// The target of its link.
    pub details_url: Option<String>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// One line.
    pub title: String,
    /// Markdown, within the limit.
    pub summary: String,
    /// The most severe first.
    pub annotations: Vec<Annotation>,
    /// What a later run on the same commit has to know.
    pub record: Option<String>,
    /// `RUN.ATTEMPT` of the workflow.
    pub attempt: String,
}

impl Outcome {
    fn stamp(&self) -> Stamp {
        Stamp {
            run: self.attempt.clone(),
            verdict: self.verdict,
        }
    }

    /// The text of the run: only what is to be found again.
    fn text(&self) -> String {
        let record = self.record.iter().cloned();
        let lines: Vec<String> = record.chain([self.stamp().text()]).collect();
        lines.join("\n")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    id: u64,
    /// Whether it existed before, and may have annotations.
    found: bool,
    /// Whether another process was at work on it when it was found.
    shared: bool,
    /// The name of the app that we are to GitHub.
    pub app: Option<String>,
}

/// GitHub's word for a verdict.
pub fn conclusion(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "success",
        Verdict::Warn => "neutral",
        // The title says which of the two it is; `action_required` needs a page to go to.
        Verdict::Block | Verdict::Undetermined => "failure",
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
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
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

/// Only the members that are used: others may come and go.
#[derive(Deserialize)]
struct Found {
    id: u64,
    #[serde(default)]
    external_id: Option<String>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    app: Option<App>,
    #[serde(default)]
    output: Option<FoundOutput>,
}

#[derive(Deserialize)]
struct App {
    #[serde(default)]
    slug: Option<String>,
}

#[derive(Clone, Default, Deserialize)]
struct FoundOutput {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    text: Option<String>,
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
    ///
    /// One that was completed is in progress again at once: what it says is about to be replaced.
    pub async fn start(api: &Api, identity: &Identity, attempt: &str) -> Result<Self, ApiError> {
        let workflow = attempt;
        let mut attempt = 1;
        loop {
            // Before the first attempt too: a re-run of the job has a run already.
            if let Some(found) = find(api, identity).await? {
                // After a lost answer it is our own.
                let in_progress = found.status.as_deref() == Some("in_progress");
                if !in_progress {
                    reopen(api, identity, &found, workflow).await?;
                }
                return Ok(Self::found(found, attempt == 1 && in_progress));
            }
            let body = Create {
                name: &identity.name,
                head_sha: &identity.commit,
                external_id: &identity.external_id,
                status: "in_progress",
                details_url: identity.details_url.as_deref(),
                output: Output {
                    title: "Checking",
                    summary: IN_PROGRESS,
                    annotations: Vec::new(),
                    text: None,
                },
            };
            match api.post::<Found>("/check-runs", &body).await {
                Ok(created) => return Self::created(api, identity, created).await,
                // It may be there in spite of that; an answer that cannot be read is no better than none.
                Err(ApiError::Ambiguous { .. } | ApiError::Answer { .. }) if attempt < ATTEMPTS => {
                    tokio::time::sleep(pause(attempt)).await;
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn found(found: Found, shared: bool) -> Self {
        Self {
            id: found.id,
            found: true,
            shared,
            app: found.app.and_then(|it| it.slug),
        }
    }

    /// Another process may have created one at the same time: the older one counts. A run cannot be deleted, so the newer
    /// one is completed as skipped, and is not found again.
    async fn created(api: &Api, identity: &Identity, created: Found) -> Result<Self, ApiError> {
        let older = match find(api, identity).await {
            Ok(Some(older)) if older.id < created.id => older,
            _ => {
                return Ok(Self {
                    id: created.id,
                    found: false,
                    shared: false,
                    app: created.app.and_then(|it| it.slug),
                });
            }
        };
        let body = serde_json::json!({
            "external_id": format!("{}:duplicate", identity.external_id),
            "status": "completed",
            "conclusion": "skipped",
            "output": {
                "title": "Duplicate",
                "summary": "Another run of the same check started at the same time and reports the result.",
            },
        });
        let path = format!("/check-runs/{}", created.id);
        api.set::<serde_json::Value>(&path, &body).await?;
        Ok(Self::found(older, true))
    }

    /// Waits a while for another process that is at work on the run, so that no annotation is sent by both.
    async fn wait_for_the_other(&self, api: &Api) {
        for _ in 0..PATIENCE_SECONDS {
            let now = api.get::<Found>(&format!("/check-runs/{}", self.id)).await;
            if !now.is_ok_and(|it| it.status.as_deref() == Some("in_progress")) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
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
        if self.shared {
            self.wait_for_the_other(api).await;
        }
        'again: loop {
            // Another job of the same run may have found something worse.
            let now = api.get::<Found>(&path).await?.output.unwrap_or_default();
            let stamp = outcome.stamp();
            let worse = stamp.worse_in(now.text.as_deref().unwrap_or_default());
            let present: Vec<Shown> = if look_first {
                api.all(&format!("{path}/annotations"), None).await?
            } else {
                Vec::new()
            };
            let (missing, stale) = missing(&outcome.annotations, &present);
            let summary = match (&now.summary, worse) {
                (Some(summary), Some(_)) => summary.clone(),
                _ => with_stale(&outcome.summary, stale),
            };
            let (title, text) = match (&now.title, &now.text, worse) {
                (Some(title), Some(text), Some(_)) => (title.clone(), text.clone()),
                _ => (outcome.title.clone(), outcome.text()),
            };
            let verdict = worse.unwrap_or(outcome.verdict);
            let mut batches: Vec<&[&Annotation]> = missing.chunks(BATCH).collect();
            if batches.is_empty() {
                batches.push(&[]);
            }
            let last = batches.len() - 1;
            for (index, batch) in batches.into_iter().enumerate() {
                let done = index == last;
                let body = Update {
                    status: done.then_some("completed"),
                    conclusion: done.then(|| conclusion(verdict)),
                    details_url: identity.details_url.as_deref(),
                    output: Output {
                        title: &title,
                        summary: &summary,
                        annotations: batch.iter().map(|it| sent(it)).collect(),
                        text: Some(&text),
                    },
                };
                match api.append::<serde_json::Value>(&path, &body).await {
                    Ok(_) => {}
                    Err(ApiError::Ambiguous { .. } | ApiError::Answer { .. })
                        if attempt < ATTEMPTS =>
                    {
                        tokio::time::sleep(pause(attempt)).await;
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
    /// Completes the run as cancelled: a signal ended the check. One request, no annotations: there
    /// is little time.
    pub async fn cancel(&self, api: &Api, identity: &Identity) -> Result<(), ApiError> {
        let body = Update {
            status: Some("completed"),
            conclusion: Some("cancelled"),
            details_url: identity.details_url.as_deref(),
            output: Output {
                title: "Cancelled",
                summary: "The check was cancelled before it was complete. No verdict.",
                annotations: Vec::new(),
                text: None,
            },
        };
        let path = format!("/check-runs/{}", self.id);
        api.append::<serde_json::Value>(&path, &body).await?;
        Ok(())
    }
}

/// Marks a run that was completed as in progress. What it recorded stays; what it says stays too if another job of the same
/// run and attempt has said it.
async fn reopen(
    api: &Api,
    identity: &Identity,
    found: &Found,
    workflow: &str,
) -> Result<(), ApiError> {
    let output = found.output.clone().unwrap_or_default();
    let text = output.text.unwrap_or_default();
    let stamp = Stamp {
        run: workflow.to_owned(),
        verdict: Verdict::Pass,
    };
    let mut body = serde_json::json!({"status": "in_progress"});
    if let Some(address) = &identity.details_url {
        body["details_url"] = address.as_str().into();
    }
    if !stamp.is_of_same_run(&text) {
        body["output"] = serde_json::json!({
            "title": "Checking",
            "summary": IN_PROGRESS,
            "text": text,
        });
    }
    let path = format!("/check-runs/{}", found.id);
    api.set::<serde_json::Value>(&path, &body).await.map(drop)
}

/// The oldest run with this identity, over all pages. `filter=all`: the latest ones only would hide ours behind
/// another of the same name.
async fn find(api: &Api, identity: &Identity) -> Result<Option<Found>, ApiError> {
    let runs = all(api, &identity.commit, &identity.name).await?;
    Ok(runs
        .into_iter()
        .filter(|run| run.external_id.as_deref() == Some(&identity.external_id))
        .min_by_key(|run| run.id))
}

/// The runs of this name on a commit.
async fn all(api: &Api, commit: &str, name: &str) -> Result<Vec<Found>, ApiError> {
    let path = format!(
        "/commits/{}/check-runs?check_name={}&filter=all",
        encoded(commit),
        encoded(name)
    );
    api.all(&path, Some("check_runs")).await
}

/// Whether one of our runs of this name on a commit has recorded this.
pub async fn has_text(api: &Api, commit: &str, name: &str, record: &str) -> bool {
    let runs = all(api, commit, name).await.unwrap_or_default();
    runs.iter().any(|run| {
        let is_ours = |it: &String| it.starts_with("mcp-keel:");
        let text = run.output.as_ref().and_then(|it| it.text.as_deref());
        run.external_id.as_ref().is_some_and(is_ours) && text.is_some_and(|it| it.contains(record))
    })
}

/// The annotations that a run does not have yet, and how many of its own are outdated. The same
/// annotation may be wanted twice; it is then sent twice.
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

/// Annotations of an earlier run on the same commit cannot be removed; the summary says that they
/// are outdated.
fn with_stale(summary: &str, stale: usize) -> String {
    if stale == 0 {
        return summary.to_owned();
    }
    let apply = if stale == 1 { "applies" } else { "apply" };
    let note = format!(
        "\n\nAn earlier run on this commit left {} that no longer {apply}.\n",
        counted(stale, "annotation")
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
    fn only_missing_annotations_are_sent() {
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
            ["success", "neutral", "failure", "failure"]
        );
    }
}

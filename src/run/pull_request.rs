//! The two questions of a pull request: does the server still say what its committed baseline says, and what does that
//! baseline change against the one on the base branch?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::approval::{Approval, BaseBranch, accept, approval, git, has_blocking_change};
use super::baseline::Baselines;
use super::check::examine;
use super::observer::Observer;
use super::plan::Plan;
use super::{Error, shards};
use crate::github::{Api, Context, Event};
use crate::policy::{Enforcement, FailOn, Policy, Verdict};
use crate::report::Report;

/// Both questions, answered.
pub(crate) struct Answered {
    pub(crate) live: Report,
    pub(crate) approval: Option<Approval>,
    /// Whether the label is what lets the second one pass.
    pub(crate) accepted_by_label: bool,
    /// Whether the label would let it pass.
    pub(crate) label_would_help: bool,
    pub(crate) verdict: Verdict,
}

/// What the workflow asks beside the check itself.
pub(crate) struct PullRequestRequest {
    /// Reports of the parts of a run, to be joined instead of checking anything.
    pub(crate) merge: Vec<PathBuf>,
    /// Whether the second question is asked.
    pub(crate) compare_base: bool,
    pub(crate) base_fail_on: FailOn,
    /// The label by which a maintainer accepts what would block.
    pub(crate) accept_label: String,
}

/// Answers both questions.
pub(crate) async fn check(
    context: &Context,
    asked: &PullRequestRequest,
    (mut plan, jobs): (Plan, usize),
    baselines: &Arc<Baselines>,
    api: Option<&Api>,
    observer: Arc<dyn Observer>,
) -> Result<Answered, Error> {
    let prefix = prefix(context);
    let base = context.base_commit().filter(|_| asked.compare_base);
    let policy = plan.policy.clone();
    if base.is_some() {
        // Whether the version moved far enough is a question about what is merged, not about the server in between.
        plan.policy.require_version_bump = false;
    }
    let plan = Arc::new(plan);
    let live = if asked.merge.is_empty() {
        let examined = examine(&plan, baselines, jobs, observer).await?;
        let mut live = examined.report;
        rebase(&mut live, &prefix);
        live
    } else {
        shards::merged(&asked.merge)?
    };
    let mut answered = Answered {
        verdict: live.verdict,
        live,
        approval: None,
        accepted_by_label: false,
        label_would_help: false,
    };
    // What merging approves is asked once, by whoever has all parts.
    let Some(commit) = base.filter(|_| plan.part.is_none()) else {
        return Ok(answered);
    };
    let base = BaseBranch {
        commit,
        prefix: &prefix,
        api,
    };
    let policy = approval_policy(policy, asked, &context.event);
    let mut approval = approval(&plan, baselines, &policy, &base).await;
    rebase(&mut approval.report, &prefix);
    if has_blocking_change(&approval.report) {
        if labels(context, api).await.contains(&asked.accept_label) {
            approval.report = accept(approval.report);
            answered.accepted_by_label = true;
        } else {
            answered.label_would_help = true;
        }
    }
    answered.verdict = answered.verdict.max(approval.report.verdict);
    answered.approval = Some(approval);
    Ok(answered)
}

/// The policy of the second question. A baseline is changed on purpose, so that only what breaks callers holds it up,
/// unless the workflow asks for more.
fn approval_policy(mut policy: Policy, asked: &PullRequestRequest, event: &Event) -> Policy {
    if policy.fail_on != FailOn::None {
        policy.fail_on = asked.base_fail_on;
    }
    if matches!(event, Event::MergeGroup { .. }) {
        // Every pull request of the group has passed, with its label where it needed one; a group has no labels.
        policy.enforcement = Enforcement::Audit;
        policy.unknown = None;
    }
    policy
}

/// The labels as they are now; a run that is repeated has an old event. Without the API, those of the event.
async fn labels(context: &Context, api: Option<&Api>) -> BTreeSet<String> {
    #[derive(serde::Deserialize)]
    struct Label {
        name: String,
    }
    let Some(pull) = context.pull_request() else {
        return BTreeSet::new();
    };
    if let Some(api) = api {
        let path = format!("/issues/{}/labels", pull.number);
        if let Ok(labels) = api.all::<Label>(&path, None).await {
            return labels.into_iter().map(|it| it.name).collect();
        }
    }
    pull.labels.iter().cloned().collect()
}

/// From the root of the repository to the current folder.
fn prefix(context: &Context) -> String {
    if let Some(shown) = git(&["rev-parse", "--show-prefix"]) {
        return String::from_utf8_lossy(&shown).trim_end().to_owned();
    }
    let inside = || {
        let workspace = context.workspace.as_ref()?.canonicalize().ok()?;
        let here = std::env::current_dir().ok()?.canonicalize().ok()?;
        Some(here.strip_prefix(workspace).ok()?.to_owned())
    };
    match inside() {
        Some(path) if !path.as_os_str().is_empty() => {
            path.to_string_lossy().replace('\\', "/") + "/"
        }
        _ => String::new(),
    }
}

/// Places as GitHub counts them, from the root of the repository.
fn rebase(report: &mut Report, prefix: &str) {
    if prefix.is_empty() {
        return;
    }
    let changes = report.servers.iter_mut().flat_map(|it| &mut it.changes);
    for place in changes.flat_map(|it| [&mut it.location, &mut it.source]) {
        if let Some(place) = place.as_mut().filter(|it| it.path.is_relative()) {
            place.path = Path::new(prefix).join(&place.path);
        }
    }
}

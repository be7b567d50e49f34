//! `mcp-keel action`: the GitHub Action's entry point. Inputs from `INPUT_*`, context from `GITHUB_*`.
//!
//! The same check as `mcp-keel check` with the same exit codes, and then its result brought to where reviewers look,
//! in this order: check run, comment, workflow commands, job summary. What GitHub refuses costs reach and one warning
//! line; it never changes the verdict.

mod inputs;
mod page;
mod post;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use inputs::Inputs;
use post::Post;

use super::approval::{Approval, BaseBranch, accept, approval, git, has_blocking_change};
use super::check::{Manifests, examine, exit, manifests};
use super::plan::{self, Plan};
use super::{Error, Exit, Format, output, shards};
use crate::github::{Api, Context, Event, files};
use crate::policy::{Enforcement, FailOn, Policy, Verdict};
use crate::report::{self, Report};

/// The JSON report, for the output `report`, unless `report` names another.
const REPORT: &str = "mcp-keel-report.json";

type Environment = BTreeMap<String, String>;

pub(super) async fn run() -> Result<Exit, Error> {
    let env: Environment = crate::own_env::vars()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let context = context(&env)?;
    if let Some(token) = context.token.as_ref().filter(|_| context.on_runner) {
        output::print_as_it_is(&token.mask_command())?;
    }
    let inputs = Inputs::read(&env)?;
    if let Some(folder) = &inputs.folder {
        std::env::set_current_dir(folder).map_err(|error| {
            Error::usage(
                format!("working-directory {}: {error}", folder.display()),
                "name a folder of the repository",
            )
        })?;
    }
    let plan = plan::resolve(&inputs.check.server, Some(&inputs.check.policy))?;
    let plan = if inputs.merge.is_empty() {
        plan::verified(shards::cut(plan, &inputs.check.shard)?)?
    } else {
        plan
    };
    let manifests = Arc::new(manifests(&plan)?);
    let mut post = Post::new(&context, &inputs, &plan);
    post.start().await;
    let checked = check(&context, &inputs, plan, &manifests, post.api.as_ref()).await;
    let result = match checked {
        Ok(result) => result,
        Err(error) => {
            // The run must not stay in progress for ever.
            post.failed(&error).await;
            return Err(error);
        }
    };
    let json = match deliver(&result, &inputs) {
        Ok(json) => json,
        Err(error) => {
            post.failed(&error).await;
            return Err(error);
        }
    };
    post.finish(&result, &json).await?;
    Ok(exit(result.verdict))
}

fn context(env: &Environment) -> Result<Context, Error> {
    let event = match env.get("GITHUB_EVENT_PATH").filter(|it| !it.is_empty()) {
        Some(path) => Some(crate::files::read_to_string(Path::new(path)).map_err(|error| {
            Error::usage(
                format!("GITHUB_EVENT_PATH: cannot read {path}: {error}"),
                "`mcp-keel action` is started by a workflow; anywhere else, use `mcp-keel check`",
            )
        })?),
        None => None,
    };
    Context::read(env, event.as_deref())
        .map_err(|error| Error::usage(error.to_string(), error.help()))
}

/// Both questions, answered.
struct Answered {
    live: Report,
    approval: Option<Approval>,
    /// Whether the label is what lets the second one pass.
    accepted_by_label: bool,
    /// Whether the label would let it pass.
    label_would_help: bool,
    verdict: Verdict,
}

async fn check(
    context: &Context,
    inputs: &Inputs,
    mut plan: Plan,
    manifests: &Arc<Manifests>,
    api: Option<&Api>,
) -> Result<Answered, Error> {
    let prefix = prefix(context);
    let base = context.base_commit().filter(|_| inputs.compare_base);
    let policy = plan.policy.clone();
    if base.is_some() {
        // Whether the version moved far enough is a question about what is merged, not about the server in between.
        plan.policy.require_version_bump = false;
    }
    let plan = Arc::new(plan);
    let live = if inputs.merge.is_empty() {
        let examined = examine(&plan, manifests, inputs.check.jobs.count(), true).await?;
        let mut live = examined.report;
        rebase(&mut live, &prefix);
        live
    } else {
        shards::merged(&inputs.merge)?
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
    let policy = approval_policy(policy, inputs, &context.event);
    let mut approval = approval(&plan, manifests, &policy, &base).await;
    rebase(&mut approval.report, &prefix);
    if has_blocking_change(&approval.report) {
        if labels(context, api).await.contains(&inputs.accept_label) {
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
fn approval_policy(mut policy: Policy, inputs: &Inputs, event: &Event) -> Policy {
    if policy.fail_on != FailOn::None {
        policy.fail_on = inputs.base_fail_on;
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

/// The reports in the log and in files. Returns where the JSON report is.
fn deliver(result: &Answered, inputs: &Inputs) -> Result<PathBuf, Error> {
    let args = &inputs.check.report;
    for (format, path) in &args.report {
        output::write_file(
            path,
            &output::render(&result.live, *format, Default::default()),
        )?;
    }
    let named = args.report.iter().find(|it| it.0 == Format::Json);
    let json = named.map_or_else(|| PathBuf::from(REPORT), |it| it.1.clone());
    if named.is_none() {
        output::write_file(&json, &report::to_json(&result.live))?;
    }
    let style = report::Style {
        width: 100,
        ..Default::default()
    };
    let mut text = output::render(&result.live, args.format, style);
    if let (Some(approval), Format::Terminal) = (&result.approval, args.format) {
        text += "\nAgainst the base branch:\n";
        text += &output::render(&approval.report, args.format, style);
    }
    // A runner obeys what it reads in a log. Between these two lines it does not.
    let stop = files::unguessable();
    output::print(&format!("::stop-commands::{stop}\n{text}\n::{stop}::\n"))?;
    Ok(json)
}

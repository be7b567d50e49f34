//! `mcp-keel action`: the GitHub Action's entry point. Inputs from `INPUT_*`, context from
//! `GITHUB_*`.
//!
//! The same check as `mcp-keel check` with the same exit codes, then the result is posted where
//! reviewers look, in this order: check run, comment, workflow commands, job summary. If GitHub
//! rejects a request, that costs one warning line; it never changes the verdict.

mod inputs;
mod post;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use inputs::{Environment, Inputs};
use post::Post;

use super::output::{self, Delivery, Notes};
use crate::baseline::store;
use crate::github::{Context, Event, files};
use crate::report::{self, Format, render};
use crate::run::acceptance::acceptance;
use crate::run::approval::MergedBaselines;
use crate::run::base::{self, Base, Whereabouts};
use crate::run::base_objects::Store;
use crate::run::check::CheckRequest;
use crate::run::in_force::settings_in_force;
use crate::run::observer::Silent;
use crate::run::plan::Governing;
use crate::run::pull_request::{Answered, Questions, check};
use crate::run::{Error, Exit, baseline, plan, secrets, shards};

/// The default JSON report, for the output `report`.
const REPORT: &str = "mcp-keel-report.json";

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
    // As it is named: where a link leads from there is the pull request's to choose.
    let workspace = context.workspace.as_deref();
    let folder = match (workspace, &inputs.folder) {
        (Some(workspace), Some(folder)) => workspace.join(folder),
        (Some(workspace), None) => workspace.to_owned(),
        (None, folder) => folder.clone().unwrap_or_default(),
    };
    let at = Whereabouts::new(&folder, workspace);
    if let Some(folder) = &inputs.folder {
        std::env::set_current_dir(folder).map_err(|error| {
            Error::usage(
                format!("working-directory {}: {error}", folder.display()),
                "name a folder of the repository",
            )
        })?;
        // The pull request can make it a link; what is below the working folder is the server's to write.
        let real = |path: &Path| path.canonicalize().ok();
        if let Some(workspace) = workspace.and_then(real)
            && real(Path::new(".")).is_none_or(|it| !it.starts_with(workspace))
        {
            return Err(Error::usage(
                format!(
                    "working-directory {}: it leads out of the workspace",
                    folder.display()
                ),
                "name a folder of the repository",
            ));
        }
    }
    let request = CheckRequest::new(&inputs.given);
    let api = post::api(&context);
    // Before any server starts, and before anything of the pull request decides what is asked.
    let mut store = Store::new(at.repository.as_ref(), api.as_ref());
    let checked_out = base::checked_out(&context, at.repository.as_ref(), &mut store, api.as_ref());
    let checked_out = checked_out.await;
    let acceptance = acceptance(
        &context,
        &inputs.asked.accept_label,
        &inputs.check_name,
        api.as_ref(),
    )
    .await;
    let by_base = inputs.asked.policy_from_base;
    let mut base = match checked_out.base {
        Ok(Some(commit)) => {
            let base = Base::read(&commit, &request.server, &at, &mut store).await;
            match base.trouble().filter(|_| by_base) {
                // A pull request that mends the base's configuration can be accepted.
                Some(problem) if !(base.is_broken() && acceptance.is_given()) => Some(Err(problem)),
                _ => Some(Ok(base)),
            }
        }
        Ok(None) => None,
        Err(problem) => Some(Err(problem)),
    };
    let governing = match &base {
        Some(Ok(base)) if by_base => Governing::Base {
            base,
            // Every pull request of a merge group has passed, with its label where it needed one; a group has no labels.
            accepted: acceptance.is_given() || matches!(context.event, Event::MergeGroup { .. }),
        },
        Some(Err(_)) if by_base => Governing::Defaults,
        Some(base) => Governing::Head {
            base: base.as_ref().ok(),
        },
        None => Governing::Folder,
    };
    let plan = plan::resolve_by(governing, &request.server, Some(&request.policy), &Notes)?;
    let plan = if inputs.asked.merge.is_empty() {
        plan::verified(shards::cut(plan, &request.shard)?)?
    } else {
        plan
    };
    if env.get("RUNNER_DEBUG").is_some_and(|it| it == "1") {
        let settings = settings_in_force(&inputs.given, &Silent)?;
        let text = super::config::terminal(&settings);
        output::print(&format!(
            "::group::Settings\n{}::endgroup::\n",
            inert(&text)
        ))?;
    }
    let baselines = Arc::new(baseline::of_plan(&plan)?);
    let config_of_base = base.as_ref().and_then(|it| it.as_ref().ok()?.config.read());
    let pattern_of_base = plan::pattern(&request.server, config_of_base);
    let merged = MergedBaselines::read(&plan, &baselines, pattern_of_base)?;
    if let Some(Ok(base)) = &mut base {
        let targets = plan.all_targets();
        let mut paths: Vec<PathBuf> = targets
            .map(|it| store::path_for(&merged.pattern_of_base, &it.name))
            .collect();
        paths.extend(base.baseline_paths(&merged.pattern_of_base));
        base.read_baselines(paths, &at, &mut store).await;
    }
    let mut post = Post::new(&context, &inputs, &plan, api.clone());
    post.withhold(checked_out.judged);
    post.start().await;
    let questions = Questions {
        context: &context,
        asked: &inputs.asked,
        baselines: &baselines,
        merged: &merged,
        base: base.as_ref(),
        prefix: &at.prefix(),
        acceptance: &acceptance,
    };
    let checked = check(&questions, (plan, request.jobs), Arc::new(Notes)).await;
    let result = match checked {
        Ok(result) => result,
        Err(error) => {
            // The check run must not stay in progress forever.
            post.failed(&error).await;
            return Err(error);
        }
    };
    let json = match deliver(&result, &inputs, workspace.unwrap_or(Path::new("."))) {
        Ok(json) => json,
        Err(error) => {
            post.failed(&error).await;
            return Err(error);
        }
    };
    post.finish(&result, &json).await?;
    Ok(result.verdict.into())
}

fn context(env: &Environment) -> Result<Context, Error> {
    let event = match env.get("GITHUB_EVENT_PATH").filter(|it| !it.is_empty()) {
        Some(path) => Some(crate::files::read_to_string(path.as_ref()).map_err(|error| {
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

/// The reports in the log and in files. Returns where the JSON report is.
fn deliver(result: &Answered, inputs: &Inputs, inside: &Path) -> Result<PathBuf, Error> {
    let delivery = Delivery::new(&inputs.given);
    for (format, path) in &delivery.files {
        let text = render(&result.live, *format, Default::default());
        write_report(path, &text, inside)?;
    }
    let named = delivery.files.iter().find(|it| it.0 == Format::Json);
    let json = named.map_or_else(|| PathBuf::from(REPORT), |it| it.1.clone());
    if named.is_none() {
        write_report(&json, &report::to_json(&result.live), inside)?;
    }
    let style = report::Style {
        width: 100,
        ..Default::default()
    };
    let mut text = render(&result.live, delivery.format, style);
    if let (Some(approval), Format::Terminal) = (&result.approval, delivery.format) {
        text += "\nAgainst the base branch:\n";
        text += &render(&approval.report, delivery.format, style);
    }
    output::print(&inert(&text))?;
    Ok(json)
}

/// Writes a report to a regular file in the workspace. The pull request, or a server that has just run, may have put a link
/// or a pipe in its place: it is replaced, and never followed or opened.
fn write_report(path: &Path, text: &str, workspace: &Path) -> Result<(), Error> {
    let text = secrets::clean(text);
    crate::files::replace_unfollowed(path, text.as_bytes(), workspace).map_err(|error| {
        Error::usage(
            format!("{}: cannot write it: {error}", path.display()),
            "a report of the action is a file in the workspace, in a folder that is not a link",
        )
    })
}

/// A text for the log. A runner obeys what it reads there, but not between these two lines.
fn inert(text: &str) -> String {
    let stop = files::unguessable();
    format!("::stop-commands::{stop}\n{text}\n::{stop}::\n")
}

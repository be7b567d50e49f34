//! `mcp-keel action`: the GitHub Action's entry point. Inputs from `INPUT_*`, context from `GITHUB_*`.
//!
//! The same check as `mcp-keel check` with the same exit codes, and then its result brought to where reviewers look,
//! in this order: check run, comment, workflow commands, job summary. What GitHub refuses costs reach and one warning
//! line; it never changes the verdict.

mod inputs;
mod post;

use std::path::PathBuf;
use std::sync::Arc;

use inputs::{Environment, Inputs};
use post::Post;

use super::output::{self, Delivery, Notes};
use crate::github::{Context, files};
use crate::report::{self, Format, render};
use crate::run::check::CheckRequest;
use crate::run::in_force::settings_in_force;
use crate::run::observer::Silent;
use crate::run::pull_request::{Answered, check};
use crate::run::{Error, Exit, baseline, plan, shards};

/// The JSON report, for the output `report`, unless `report` names another.
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
    if let Some(folder) = &inputs.folder {
        std::env::set_current_dir(folder).map_err(|error| {
            Error::usage(
                format!("working-directory {}: {error}", folder.display()),
                "name a folder of the repository",
            )
        })?;
    }
    let request = CheckRequest::new(&inputs.given);
    let plan = plan::resolve(&request.server, Some(&request.policy), &Notes)?;
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
    let mut post = Post::new(&context, &inputs, &plan);
    post.start().await;
    let checked = check(
        &context,
        &inputs.asked,
        (plan, request.jobs),
        &baselines,
        post.api.as_ref(),
        Arc::new(Notes),
    )
    .await;
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
fn deliver(result: &Answered, inputs: &Inputs) -> Result<PathBuf, Error> {
    let delivery = Delivery::new(&inputs.given);
    for (format, path) in &delivery.files {
        output::write_file(path, &render(&result.live, *format, Default::default()))?;
    }
    let named = delivery.files.iter().find(|it| it.0 == Format::Json);
    let json = named.map_or_else(|| PathBuf::from(REPORT), |it| it.1.clone());
    if named.is_none() {
        output::write_file(&json, &report::to_json(&result.live))?;
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

/// A text for the log. A runner obeys what it reads there, but not between these two lines.
fn inert(text: &str) -> String {
    let stop = files::unguessable();
    format!("::stop-commands::{stop}\n{text}\n::{stop}::\n")
}

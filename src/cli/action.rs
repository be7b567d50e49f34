//! `mcp-keel action`: the GitHub Action's entry point. Inputs from `INPUT_*`, context from
//! `GITHUB_*`.
//!
//! The same check as `mcp-keel check` with the same exit codes, then the result is posted where
//! reviewers look, in this order: check run, comment, workflow commands, job summary. If GitHub
//! rejects a request, that costs one warning line; it never changes the verdict. A check that could
//! not be made is posted too.

mod inputs;
mod post;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use inputs::{Environment, Inputs, Wanted};
use post::Post;

use super::output::{self, Delivery, Notes};
use crate::baseline::store;
use crate::git::Repository;
use crate::github::{Api, Context, Event, files};
use crate::report::{self, Format, escape, render};
use crate::run::acceptance::acceptance;
use crate::run::approval::MergedBaselines;
use crate::run::base::{self, Base, CheckedOut, Whereabouts};
use crate::run::base_files::{BaseFiles, Found};
use crate::run::check::CheckRequest;
use crate::run::in_force::settings_in_force;
use crate::run::observer::Silent;
use crate::run::plan::Governing;
use crate::run::pull_request::{Answered, Questions, check};
use crate::run::pull_request_page::{Page, ReportFiles};
use crate::run::{Error, Exit, baseline, plan, secrets, shards};

/// The default JSON report, for the output `report`.
const REPORT: &str = "mcp-keel-report.json";

/// The JSON report of the second question, for the output `approval-report`.
const APPROVAL: &str = "mcp-keel-approval.json";

/// The folder of proposed baselines, for the output `proposed-baseline`.
const PROPOSED: &str = "mcp-keel-proposed";

pub(super) async fn run() -> Result<Exit, Error> {
    let env: Environment = crate::own_env::vars()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let mut context = context(&env).inspect_err(|error| {
        if env.get("GITHUB_ACTIONS").is_some_and(|it| it == "true") {
            post::annotate(error);
        }
    })?;
    if let Some(token) = context.token.as_ref().filter(|_| context.on_runner) {
        output::print_as_it_is(&token.mask_command())?;
    }
    let wanted = Wanted::read(&env);
    let api = post::api(&context);
    if let Some(api) = &api
        && let Err(error) = context.find_pull_request(api).await
    {
        post::refused(&context, post::Request::Lookup, &error);
    }
    // As it is named: where a link leads from there is the pull request's to choose.
    let workspace = context.workspace.clone();
    let folder = match (&workspace, &wanted.folder) {
        (Some(workspace), Some(folder)) => workspace.join(folder),
        (Some(workspace), None) => workspace.clone(),
        (None, folder) => folder.clone().unwrap_or_default(),
    };
    let at = Whereabouts::new(&folder, workspace.as_deref());
    // Before any server starts, and before anything of the pull request decides what is asked.
    let mut files = BaseFiles::new(at.repository.as_ref(), api.as_ref());
    let checked_out = base::checked_out(&context, at.repository.as_ref(), api.as_ref());
    let CheckedOut { judged, base } = checked_out.await;
    let mut post = Post::new(&context, &wanted, api.clone());
    post.withhold(judged);
    let around = Around {
        env: &env,
        context: &context,
        wanted: &wanted,
        api: api.as_ref(),
        at: &at,
    };
    let done = act(&around, base, &mut files, &mut post).await;
    if let Err(error) = &done {
        // It is seen where reviewers look, and the check run must not stay in progress forever.
        post.failed(error).await?;
    }
    done
}

/// What a run of the action knows from the start.
struct Around<'a> {
    env: &'a Environment,
    context: &'a Context,
    wanted: &'a Wanted,
    api: Option<&'a Api>,
    at: &'a Whereabouts,
}

async fn act(
    around: &Around<'_>,
    base_commit: Result<Option<String>, String>,
    base_files: &mut BaseFiles<'_>,
    post: &mut Post<'_>,
) -> Result<Exit, Error> {
    let Around {
        env,
        context,
        wanted,
        api,
        at,
    } = *around;
    let inputs = Inputs::read(env)?;
    let workspace = context.workspace.as_deref();
    if let Some(folder) = &wanted.folder {
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
    let inside = workspace.unwrap_or(Path::new("."));
    clear_places(&inputs, inside)?;
    let request = CheckRequest::new(&inputs.given);
    let acceptance = acceptance(context, &inputs.asked.accept_label, &wanted.check_name, api).await;
    let by_base = inputs.asked.policy_from_base;
    let mut base = match base_commit {
        Ok(Some(commit)) => {
            let base = Base::read(&commit, &request.server, at, base_files).await;
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
    // A first run has no baseline; what it would be is shown and offered.
    let (baselines, missing) = baseline::found_or_empty(&plan)?;
    let baselines = Arc::new(baselines);
    let config_of_base = base.as_ref().and_then(|it| it.as_ref().ok()?.config.read());
    let pattern_of_base = plan::pattern(&request.server, config_of_base);
    let merged = MergedBaselines::read(&plan, &baselines, pattern_of_base)?;
    if let Some(Ok(base)) = &mut base {
        let targets = plan.all_targets();
        let mut paths: Vec<PathBuf> = targets
            .map(|it| store::path_for(&merged.pattern_of_base, &it.name))
            .collect();
        paths.extend(base.baseline_paths(&merged.pattern_of_base));
        base.read_baselines(paths, at, base_files).await;
    }
    post.start().await;
    let questions = Questions {
        context,
        asked: &inputs.asked,
        baselines: &baselines,
        merged: &merged,
        base: base.as_ref(),
        prefix: &at.prefix(),
        acceptance: &acceptance,
    };
    let committed = at.repository.as_ref().and_then(Repository::checked_out);
    let mut result = check(&questions, (plan, request.jobs), Arc::new(Notes)).await?;
    result.keep_places_in(committed);
    let in_diff = match &base {
        Some(Ok(base)) => Some(changed_files(&result, &base.commit, at, base_files).await),
        _ => None,
    };
    let page = Page {
        result: &result,
        label: &inputs.asked.accept_label,
        context,
        name: &wanted.check_name,
        // The job that merges parts has none of its own.
        has_artifact: inputs.has_artifact
            && (!inputs.asked.merge.is_empty() || !result.proposed.is_empty()),
        in_diff: in_diff.as_ref(),
    };
    let json = deliver(&page, &inputs, inside)?;
    let approval = match &result.approval {
        Some(approval) => {
            let path = PathBuf::from(APPROVAL);
            write_report(&path, &report::to_json(&approval.report), inside)?;
            Some(path)
        }
        None => None,
    };
    let files = ReportFiles {
        report: Some(json),
        approval,
        proposed: propose(&result.proposed, inside)?,
    };
    post.finish(&page, &files).await?;
    match missing {
        Some(error) => Err(error),
        None => Ok(result.verdict.into()),
    }
}

/// Removes what is at the places of reports and of proposed baselines. The pull request can commit something there, a folder or
/// a link for instance, and a later step of the workflow would take it for what this run wrote.
fn clear_places(inputs: &Inputs, inside: &Path) -> Result<(), Error> {
    let named = Delivery::new(&inputs.given)
        .files
        .into_iter()
        .map(|it| it.1);
    let ours = [REPORT, APPROVAL, PROPOSED].map(PathBuf::from);
    for path in named.chain(ours) {
        if !inputs.asked.merge.contains(&path) {
            crate::files::clear(&path, inside).map_err(|error| unwritable(&path, &error))?;
        }
    }
    Ok(())
}

/// How many files with lines of changes are compared with the base's. A hostile part can name every file of the repository.
const MOST_COMPARED: usize = 100;

/// The files with lines of changes that are not as the base has them.
async fn changed_files(
    result: &Answered,
    base: &str,
    at: &Whereabouts,
    base_files: &mut BaseFiles<'_>,
) -> BTreeSet<String> {
    let approved = result.approval.iter().flat_map(|it| it.report.changes());
    let places = result.live.changes().chain(approved);
    let places = places.flat_map(|it| [&it.source, &it.location]);
    let paths: BTreeSet<String> = places.flatten().map(|it| it.slashed()).collect();
    let mut changed = BTreeSet::new();
    for path in paths.into_iter().take(MOST_COMPARED) {
        let now = at
            .root()
            .and_then(|root| crate::files::read_to_string(&root.join(&path)).ok());
        let is_same = match base_files.text(base, &path).await {
            Found::Read(text) => Some(text) == now,
            Found::Absent => now.is_none(),
            // It is not known; a reader is not harmed by an annotation.
            Found::Unreadable(_) | Found::Broken(_) => false,
        };
        if !is_same {
            changed.insert(path);
        }
    }
    changed
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

/// The reports in the log and in files, over both questions; each has a JSON report of its own. Returns where the first is.
fn deliver(page: &Page<'_>, inputs: &Inputs, inside: &Path) -> Result<PathBuf, Error> {
    let result = page.result;
    let combined = page.combined();
    let delivery = Delivery::new(&inputs.given);
    let rendered = |format: Format, style: report::Style| match format {
        Format::Json => report::to_json(&result.live),
        Format::Markdown => page.whole(usize::MAX),
        Format::Terminal => render(&result.live, format, style),
        _ => render(&combined, format, style),
    };
    for (format, path) in &delivery.files {
        write_report(path, &rendered(*format, Default::default()), inside)?;
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
    let mut text = rendered(delivery.format, style);
    if let (Some(approval), Format::Terminal) = (&result.approval, delivery.format) {
        text += "\nAgainst the base branch:\n";
        text += &render(&approval.report, delivery.format, style);
    }
    output::print(&inert(&text))?;
    Ok(json)
}

/// Writes the proposed baselines under a folder of their own, each at the path that it has in the repository. Returns the
/// file, or the folder if there are several.
fn propose(proposed: &BTreeMap<PathBuf, String>, inside: &Path) -> Result<Option<PathBuf>, Error> {
    let mut written = Vec::new();
    // A server may have put something there since.
    let folder = Path::new(PROPOSED);
    crate::files::clear(folder, inside).map_err(|error| unwritable(folder, &error))?;
    for (path, text) in proposed {
        let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
        // A baseline with a secret removed would not hold.
        if !path.components().all(is_plain) || secrets::clean(text) != *text {
            let path = escape::line(&*path.to_string_lossy());
            output::complain(&format!("warning: no baseline is proposed for {path}"));
            continue;
        }
        let to = folder.join(crate::files::without_dots(path));
        write_report(&to, text, inside)?;
        written.push(to);
    }
    Ok(match written.len() {
        0 => None,
        1 => written.pop(),
        _ => Some(PathBuf::from(PROPOSED)),
    })
}

/// Writes a report to a regular file in the workspace. The pull request, or a server that has just run, may have put a link,
/// a pipe or a folder in its place: it is replaced, and never followed or opened.
fn write_report(path: &Path, text: &str, workspace: &Path) -> Result<(), Error> {
    let text = secrets::clean(text);
    crate::files::replace_unfollowed(path, text.as_bytes(), workspace)
        .map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::usage(
        format!("{}: cannot write it: {error}", path.display()),
        "a report of the action is a file in the workspace, in a folder that is not a link",
    )
}

/// A text for the log. A runner obeys what it reads there, but not between these two lines.
fn inert(text: &str) -> String {
    let stop = files::unguessable();
    format!("::stop-commands::{stop}\n{text}\n::{stop}::\n")
}

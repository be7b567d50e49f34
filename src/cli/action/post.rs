//! Posts the result where reviewers look. A rejected request costs one warning line.

use std::path::Path;

use super::inputs::Inputs;
use crate::cli::{interrupt, output};
use crate::github::check_run::{self, CheckRun, Outcome};
use crate::github::comment::{self, Comment};
use crate::github::{Api, ApiError, Context, files, identity};
use crate::policy::Verdict;
use crate::report::{self, escape};
use crate::run::plan::Plan;
use crate::run::pull_request::Answered;
use crate::run::pull_request_page::Page;
use crate::run::{Error, secrets};

/// Everything that is posted, and its state.
pub(super) struct Post<'a> {
    context: &'a Context,
    inputs: &'a Inputs,
    /// Where the token allows it.
    api: Option<Api>,
    identity: check_run::Identity,
    run: Option<CheckRun>,
    /// Whether what is checked out is what is judged.
    is_judged: bool,
}

/// GitHub's API, if there is a token for it.
pub(super) fn api(context: &Context) -> Option<Api> {
    let made = Api::new(context, context.token.as_ref()?);
    made.map_err(|error| refused(context, "talk to GitHub", &error))
        .ok()
}

impl<'a> Post<'a> {
    pub(super) fn new(
        context: &'a Context,
        inputs: &'a Inputs,
        plan: &Plan,
        api: Option<Api>,
    ) -> Self {
        let mut parts: Vec<&str> = inputs.identity.iter().map(String::as_str).collect();
        parts.extend(plan.targets.iter().map(|target| target.name.as_str()));
        let identity = check_run::Identity {
            name: inputs.check_name.clone(),
            commit: context.commit.clone(),
            external_id: format!("mcp-keel:{}", identity(&parts)),
            details_url: context.run.clone(),
        };
        Self {
            context,
            inputs,
            api,
            identity,
            run: None,
            is_judged: true,
        }
    }

    /// Posts no conclusion on a commit that was not checked.
    pub(super) fn withhold(&mut self, judged: Result<(), String>) {
        if let Err(problem) = judged {
            self.is_judged = false;
            if self.inputs.check_run {
                warn("post a check run", &problem);
            }
        }
    }

    /// Creates the check run, which is visible while the servers boot.
    pub(super) async fn start(&mut self) {
        let is_wanted = self.inputs.check_run && self.is_judged;
        let Some(api) = self.api.as_ref().filter(|_| is_wanted) else {
            return;
        };
        match CheckRun::start(api, &self.identity).await {
            Ok(run) => {
                self.run = Some(run.clone());
                // A cancelled job must not leave it in progress forever.
                let (context, identity) = (self.context.clone(), self.identity.clone());
                interrupt::last_words(async move { cancel(&context, &identity, &run).await });
            }
            Err(error) => refused(self.context, "create the check run", &error),
        }
    }

    /// Completes the run of a check that could not be made.
    pub(super) async fn failed(&self, error: &Error) {
        let outcome = Outcome {
            verdict: Verdict::Undetermined,
            title: "Could not be checked".to_owned(),
            summary: secrets::clean(&escape::fenced("text", &error.to_string())),
            annotations: Vec::new(),
            record: None,
        };
        self.complete(&outcome).await;
    }

    async fn complete(&self, outcome: &Outcome) -> bool {
        let (Some(api), Some(run)) = (&self.api, &self.run) else {
            return false;
        };
        match run.complete(api, &self.identity, outcome).await {
            Ok(()) => {
                interrupt::nothing_left_to_say();
                true
            }
            Err(error) => {
                refused(self.context, "complete the check run", &error);
                false
            }
        }
    }

    pub(super) async fn finish(&self, result: &Answered, json: &Path) -> Result<(), Error> {
        let page = Page {
            result,
            label: &self.inputs.asked.accept_label,
        };
        let outcome = Outcome {
            verdict: result.verdict,
            title: page.title(),
            summary: page.markdown(report::CHECK_RUN_LIMIT),
            annotations: if self.inputs.annotations {
                page.annotations()
            } else {
                Vec::new()
            },
            record: result.acceptance.record(),
        };
        let completed = self.complete(&outcome).await;
        self.comment(&page).await;
        if !completed && self.inputs.annotations {
            output::print(&report::github(&page.combined()))?;
        }
        if let Some(path) = self
            .context
            .summary
            .as_ref()
            .filter(|_| self.inputs.summary)
        {
            // A page that does not fit is cut by its renderer; one that cannot be cut enough is
            // omitted.
            let room = files::summary_room(path);
            let text = page.markdown(room);
            let written = if text.len() <= room {
                files::append(path, &text).map_err(|error| error.to_string())
            } else {
                Err("its size limit is reached".to_owned())
            };
            if let Err(problem) = written {
                warn("write the job summary", &problem);
            }
        }
        if let Some(path) = &self.context.outputs {
            // Later steps start in the workspace, wherever this one ran.
            let json = self
                .inputs
                .folder
                .iter()
                .fold(json.to_owned(), |it, at| at.join(it));
            let text = files::outputs(&page.outputs(&json));
            if let Err(problem) = files::append(path, &text) {
                warn("write the outputs", &problem);
            }
        }
        Ok(())
    }

    async fn comment(&self, page: &Page<'_>) {
        let (Some(api), Some(pull)) = (&self.api, self.context.pull_request()) else {
            return;
        };
        if !self.inputs.comment {
            return;
        }
        let parts: Vec<&str> = self.inputs.identity.iter().map(String::as_str).collect();
        let identity = identity(&parts);
        let room = report::COMMENT_LIMIT - comment::marker(&identity).len() - 1;
        let wanted = if page.has_something_to_say() {
            Comment::Say(page.markdown(room))
        } else {
            Comment::Fold(format!(
                "**mcp-keel**: no drift as of {}.",
                &self.context.commit[..12]
            ))
        };
        let app = self.run.as_ref().and_then(|it| it.app.as_deref());
        let author = comment::author(api, app).await;
        let ours = (identity.as_str(), author.as_str());
        if let Err(error) = comment::post(api, pull.number, ours, &wanted).await {
            refused(self.context, "post the comment", &error);
        }
    }
}

/// Completes the run of a check that a signal ended. Uses its own connection: the other runtime may
/// be busy.
async fn cancel(context: &Context, identity: &check_run::Identity, run: &CheckRun) {
    let Some(Ok(api)) = context.token.as_ref().map(|token| Api::new(context, token)) else {
        return;
    };
    if let Err(error) = run.cancel(&api, identity).await {
        refused(context, "cancel the check run", &error);
    }
}

/// One line for each thing that could not be posted. Exit codes are not affected.
fn warn(what: &str, problem: &dyn std::fmt::Display) {
    let problem = escape::line(&problem.to_string());
    output::complain(&format!("warning: could not {what}: {problem}"));
}

/// [`warn`], with the reason for the rejection if known.
fn refused(context: &Context, what: &str, error: &ApiError) {
    match context.read_only {
        Some(reason) if matches!(error.status(), Some(401 | 403 | 404)) => {
            warn(what, &format!("{error} ({})", reason.reason()));
        }
        _ => warn(what, error),
    }
}

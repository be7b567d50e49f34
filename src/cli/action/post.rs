//! Posts the result where reviewers look. A rejected request costs one warning line.

use std::path::Path;

use super::inputs::Wanted;
use crate::cli::{interrupt, output};
use crate::github::check_run::{self, CheckRun, Outcome};
use crate::github::comment::{self, Comment};
use crate::github::{Api, ApiError, Context, Stamp, files, identity};
use crate::policy::Verdict;
use crate::report::{self, Pages, escape};
use crate::run::pull_request_page::{self, Page, ReportFiles};
use crate::run::{Error, secrets};

const COULD_NOT_CHECK: &str = "the check could not be made";

/// Everything that is posted, and its state.
pub(super) struct Post<'a> {
    context: &'a Context,
    wanted: &'a Wanted,
    /// Where the token allows it.
    api: Option<Api>,
    identity: check_run::Identity,
    run: Option<CheckRun>,
    /// Whether what is checked out is what is judged.
    is_judged: bool,
    /// Whether the result was posted.
    is_done: bool,
}

/// GitHub's API, if there is a token for it.
pub(super) fn api(context: &Context) -> Option<Api> {
    let made = Api::new(context, context.token.as_ref()?);
    made.map_err(|error| refused(context, Request::Any, &error))
        .ok()
}

impl<'a> Post<'a> {
    pub(super) fn new(context: &'a Context, wanted: &'a Wanted, api: Option<Api>) -> Self {
        let parts: Vec<&str> = wanted.identity.iter().map(String::as_str).collect();
        let identity = check_run::Identity {
            name: wanted.check_name.clone(),
            commit: context.commit.clone(),
            external_id: format!("mcp-keel:{}", identity(&parts)),
            details_url: context.run.clone(),
        };
        Self {
            context,
            wanted,
            api,
            identity,
            run: None,
            is_judged: true,
            is_done: false,
        }
    }

    /// Posts no conclusion on a commit that was not checked.
    pub(super) fn withhold(&mut self, judged: Result<(), String>) {
        if let Err(problem) = judged {
            self.is_judged = false;
            if self.wanted.check_run {
                warn("post a check run", &problem);
            }
        }
    }

    /// Creates the check run, which is visible while the servers boot.
    pub(super) async fn start(&mut self) {
        let is_wanted = self.wanted.check_run && self.is_judged && self.run.is_none();
        let Some(api) = self.api.as_ref().filter(|_| is_wanted) else {
            return;
        };
        match CheckRun::start(api, &self.identity, &self.context.attempt).await {
            Ok(run) => {
                self.run = Some(run.clone());
                // A cancelled job must not leave it in progress forever.
                let (context, identity) = (self.context.clone(), self.identity.clone());
                interrupt::on_interrupt(async move { cancel(&context, &identity, &run).await });
            }
            Err(error) => refused(self.context, Request::CheckRun("create"), &error),
        }
    }

    /// Posts that the check could not be made: an error in the log, the job summary and the check run. A result that was
    /// posted already stays.
    pub(super) async fn failed(&mut self, error: &Error) -> Result<(), Error> {
        if self.context.on_runner {
            annotate(error);
        }
        if self.is_done {
            return Ok(());
        }
        let message = error.message().lines().next().unwrap_or_default();
        let title = format!("{COULD_NOT_CHECK}: {}", escape::short(message, 150));
        let frame = pull_request_page::frame(self.context, &self.wanted.check_name, 0);
        let text = secrets::clean(&error.to_string());
        let page = Pages {
            frame: &frame,
            title: COULD_NOT_CHECK.to_owned(),
            verdict: Verdict::Undetermined,
            first: escape::fenced("text", &escape::short_block(&text, 8_000)),
            sections: Vec::new(),
            last: String::new(),
            facts: Vec::new(),
        };
        let summary = secrets::clean(&page.markdown(report::CHECK_RUN_LIMIT - 512));
        let outcome = Outcome {
            verdict: Verdict::Undetermined,
            title: secrets::clean(&title),
            summary: summary.clone(),
            annotations: Vec::new(),
            record: None,
            attempt: self.context.attempt.clone(),
        };
        self.start().await;
        self.complete(&outcome).await;
        self.summary(|_| summary);
        Ok(())
    }

    async fn complete(&self, outcome: &Outcome) -> bool {
        let (Some(api), Some(run)) = (&self.api, &self.run) else {
            return false;
        };
        match run.complete(api, &self.identity, outcome).await {
            Ok(()) => {
                drop(interrupt::clear_on_interrupt());
                true
            }
            Err(error) => {
                refused(self.context, Request::CheckRun("complete"), &error);
                false
            }
        }
    }

    pub(super) async fn finish(
        &mut self,
        page: &Page<'_>,
        written: &ReportFiles,
    ) -> Result<(), Error> {
        self.is_done = true;
        let result = page.result;
        let outcome = Outcome {
            verdict: result.verdict,
            title: page.title(),
            summary: page.markdown(report::CHECK_RUN_LIMIT),
            annotations: if self.wanted.annotations {
                page.annotations()
            } else {
                Vec::new()
            },
            record: result.acceptance.record(),
            attempt: self.context.attempt.clone(),
        };
        let completed = self.complete(&outcome).await;
        self.comment(page).await;
        if !completed && self.wanted.annotations {
            output::print(&report::github(&page.combined()))?;
        }
        self.summary(|room| page.whole(room));
        if let Some(path) = &self.context.outputs {
            // Later steps start in the workspace, wherever this one ran.
            let from_workspace = |path: &Path| {
                let folder = self.wanted.folder.iter();
                folder.fold(path.to_owned(), |it, at| at.join(it))
            };
            let outputs = page.outputs(&written.map(from_workspace));
            if let Err(problem) = files::append(path, &files::outputs(&outputs)) {
                warn("write the outputs", &problem);
            }
        }
        Ok(())
    }

    /// Writes the job summary. A page that does not fit is cut by its renderer; one that cannot be cut enough is omitted.
    fn summary(&self, page: impl FnOnce(usize) -> String) {
        let path = self.context.summary.as_ref();
        let Some(path) = path.filter(|_| self.wanted.summary) else {
            return;
        };
        let room = files::summary_room(path);
        let text = page(room);
        let written = if text.len() <= room {
            files::append(path, &text).map_err(|error| error.to_string())
        } else {
            Err("its size limit is reached".to_owned())
        };
        if let Err(problem) = written {
            warn("write the job summary", &problem);
        }
    }

    async fn comment(&self, page: &Page<'_>) {
        let (Some(api), Some(pull)) = (&self.api, self.context.pull_request()) else {
            return;
        };
        if !self.wanted.comment {
            return;
        }
        let parts: Vec<&str> = self.wanted.identity.iter().map(String::as_str).collect();
        let identity = identity(&parts);
        let stamp = Stamp {
            run: self.context.attempt.clone(),
            verdict: page.result.verdict,
        };
        let around = comment::marker(&identity).len() + stamp.text().len() + 2;
        let wanted = if page.has_something_to_say() {
            Comment::Say(page.markdown(report::COMMENT_LIMIT - around))
        } else {
            let commit = &self.context.commit[..7];
            Comment::Fold(format!(
                "✅ {}: no drift as of {}",
                escape::markdown(&self.wanted.check_name),
                escape::code(commit)
            ))
        };
        let app = self.run.as_ref().and_then(|it| it.app.as_deref());
        let author = comment::author(api, app).await;
        let ours = (identity.as_str(), author.as_str());
        if let Err(error) = comment::post(api, pull.number, ours, &wanted, &stamp).await {
            refused(self.context, Request::Comment, &error);
        }
    }
}

/// An error that the runner shows at the top of the run.
pub(super) fn annotate(error: &Error) {
    let text = secrets::clean(&error.to_string());
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let _ = output::print(&format!(
        "::error title=mcp-keel::{}\n",
        escape::command_data(&escape::short_block(text, 4_000))
    ));
}

/// Completes the run of a check that a signal ended. Uses its own connection: the other runtime may
/// be busy.
async fn cancel(context: &Context, identity: &check_run::Identity, run: &CheckRun) {
    let Some(Ok(api)) = context.token.as_ref().map(|token| Api::new(context, token)) else {
        return;
    };
    if let Err(error) = run.cancel(&api, identity).await {
        refused(context, Request::CheckRun("cancel"), &error);
    }
}

/// One line for each thing that could not be posted. Exit codes are not affected.
fn warn(what: &str, problem: &dyn std::fmt::Display) {
    let problem = escape::line(&problem.to_string());
    output::complain(&format!("warning: could not {what}: {problem}"));
}

/// What GitHub can refuse.
#[derive(Clone, Copy)]
pub(super) enum Request {
    /// To create, complete or cancel the check run.
    CheckRun(&'static str),
    Comment,
    /// To find the pull request of a commit.
    Lookup,
    /// Any request at all.
    Any,
}

impl Request {
    fn what(self) -> String {
        match self {
            Self::CheckRun(verb) => format!("{verb} the check run"),
            Self::Comment => "post the comment".to_owned(),
            Self::Lookup => "find the pull request".to_owned(),
            Self::Any => "talk to GitHub".to_owned(),
        }
    }

    /// What the workflow has to grant.
    fn permission(self) -> &'static str {
        match self {
            Self::CheckRun(_) => "checks: write",
            Self::Comment => "pull-requests: write",
            Self::Lookup | Self::Any => "pull-requests: read",
        }
    }
}

/// [`warn`], with the reason for the rejection if known, or else the permission that is missing.
pub(super) fn refused(context: &Context, request: Request, error: &ApiError) {
    let what = &request.what();
    if !matches!(error.status(), Some(401 | 403 | 404)) {
        return warn(what, error);
    }
    if let Some(reason) = context.read_only {
        return warn(what, &format!("{error} ({})", reason.reason()));
    }
    let permission = request.permission();
    let problem = format!("{error}: the job needs `permissions: {permission}`");
    warn(what, &problem);
    if context.on_runner {
        let text = format!("could not {what}: {}", escape::line(&problem));
        let text = escape::command_data(&escape::line(&secrets::clean(&text)));
        let _ = output::print(&format!("::warning title=mcp-keel::{text}\n"));
    }
}

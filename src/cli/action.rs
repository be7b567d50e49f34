//! `mcp-keel action`: the GitHub Action's entry point. Inputs from `INPUT_*`, context from `GITHUB_*`.
//!
//! The same check as `mcp-keel check` with the same exit codes, and then its result brought to where reviewers look,
//! in this order: check run, comment, workflow commands, job summary. What GitHub refuses costs reach and one warning
//! line; it never changes the verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser as _;

use super::approval::{Approval, BaseBranch, accept, approval, git, has_blocking_change};
use super::check::{Manifests, examine, exit, manifests};
use super::interrupt;
use super::plan::{self, Plan};
use super::{CheckArgs, Cli, Command, Error, Exit, Format, output, secrets};
use crate::github::check_run::{self, CheckRun, Outcome};
use crate::github::comment::{self, Comment};
use crate::github::{Api, ApiError, Context, Event, files, identity};
use crate::judgement::Level;
use crate::launch::sandbox;
use crate::policy::{Action, Enforcement, FailOn, Policy, Verdict};
use crate::report::escape::Visible;
use crate::report::{self, Annotation, Comparison, Report, ServerReport, Status, escape};

/// The check run's name when nobody gives it another.
const CHECK_NAME: &str = "mcp-keel";

/// The label by which a maintainer accepts what would block.
const ACCEPT_LABEL: &str = "mcp-keel: accept-breaking";

/// The JSON report, for the output `report`, unless `report` names another.
const REPORT: &str = "mcp-keel-report.json";

/// Inputs that become a flag of `check` as they are.
const FLAGS: &[&str] = &[
    "config",
    "baseline",
    "url",
    "start",
    "timeout",
    "client",
    "capabilities",
    "fail-on",
    "fail-on-exposure",
    "enforcement",
    "unknown",
    "format",
    "sandbox",
    "jobs",
];

type Environment = BTreeMap<String, String>;

pub(super) async fn run() -> Result<Exit, Error> {
    let env: Environment = crate::ours::vars()
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
    let plan = plan::plan(&inputs.check.server, Some(&inputs.check.policy))?;
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
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
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

/// What the workflow says.
struct Inputs {
    check: CheckArgs,
    folder: Option<PathBuf>,
    check_run: bool,
    check_name: String,
    comment: bool,
    annotations: bool,
    summary: bool,
    compare_base: bool,
    base_fail_on: FailOn,
    accept_label: String,
    /// What tells two uses of the action in one repository apart.
    identity: Vec<String>,
}

impl Inputs {
    fn read(env: &Environment) -> Result<Self, Error> {
        let input = |name: &str| input(env, name);
        let on = |name: &str| -> Result<bool, Error> {
            match input(name).unwrap_or("true") {
                "true" => Ok(true),
                "false" => Ok(false),
                other => Err(wrong(name, other, "true or false")),
            }
        };
        let base_fail_on = input("base-fail-on").unwrap_or("breaking");
        let base_fail_on = base_fail_on.parse().map_err(|()| {
            let words: Vec<&str> = FailOn::ALL.iter().map(|it| it.word()).collect();
            wrong("base-fail-on", base_fail_on, &words.join(", "))
        })?;
        let check_name = input("check-name").unwrap_or(CHECK_NAME).to_owned();
        let named = [
            "working-directory",
            "config",
            "baseline",
            "servers",
            "command",
        ];
        let mut identity = vec![check_name.clone()];
        identity.extend(named.map(|name| input(name).unwrap_or_default().to_owned()));
        identity.extend(input("url").map(str::to_owned));
        Ok(Self {
            check: check_args(env)?,
            folder: input("working-directory").map(PathBuf::from),
            check_run: on("check-run")?,
            check_name,
            comment: on("comment")?,
            annotations: on("annotations")?,
            summary: on("summary")?,
            compare_base: on("compare-base")?,
            base_fail_on,
            accept_label: input("accept-label").unwrap_or(ACCEPT_LABEL).to_owned(),
            identity,
        })
    }
}

/// An input of the action. The runner keeps the hyphens of its name; a shell in between may not.
fn input<'a>(env: &'a Environment, name: &str) -> Option<&'a str> {
    let name = name.to_ascii_uppercase();
    let value = env
        .get(&format!("INPUT_{name}"))
        .or_else(|| env.get(&format!("INPUT_{}", name.replace('-', "_"))))?;
    Some(value.trim()).filter(|it| !it.is_empty())
}

fn wrong(name: &str, value: &str, expected: &str) -> Error {
    Error::usage(
        format!("the input {name} is `{value}`"),
        format!("expected: {expected}"),
    )
}

/// The inputs as the command line that somebody would have typed, so that both are read by the same rules.
fn check_args(env: &Environment) -> Result<CheckArgs, Error> {
    let mut words: Vec<String> = vec!["mcp-keel".into(), "check".into(), "--quiet".into()];
    for name in FLAGS {
        if let Some(value) = input(env, name) {
            // In one word: a value that begins with a hyphen is a value all the same.
            words.push(format!("--{name}={value}"));
        }
    }
    match input(env, "sandbox-required") {
        Some("true") => words.push("--sandbox-required".to_owned()),
        None | Some("false") => {}
        Some(other) => return Err(wrong("sandbox-required", other, "true or false")),
    }
    for (name, flag) in [
        ("env", "--env"),
        ("header", "--header"),
        ("report", "--report"),
    ] {
        let lines = input(env, name).unwrap_or_default().lines();
        for line in lines.map(str::trim).filter(|it| !it.is_empty()) {
            words.push(format!("{flag}={line}"));
        }
    }
    let listed = |name: &str| -> Vec<String> {
        let list = input(env, name).unwrap_or_default();
        list.split([',', ' ', '\t', '\n', '\r'])
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    words.extend(
        listed("pass-env")
            .iter()
            .map(|it| format!("--pass-env={it}")),
    );
    let servers = listed("servers");
    if let Some(option) = servers.iter().find(|it| it.starts_with('-')) {
        return Err(wrong("servers", option, "names of servers"));
    }
    words.extend(servers);
    if let Some(command) = input(env, "command") {
        let command = shlex::split(command)
            .filter(|it| !it.is_empty())
            .ok_or_else(|| wrong("command", command, "a command with its quotes closed"))?;
        words.push("--".to_owned());
        words.extend(command);
    }
    match Cli::try_parse_from(words) {
        Ok(Cli {
            command: Command::Check(mut args),
        }) => {
            let asked = args.server.sandbox.sandbox.take();
            args.server.sandbox.at_least = asked.unwrap_or(sandbox::Level::Fs);
            Ok(args)
        }
        Ok(_) => Err(Error::usage("the inputs are no check", "")),
        Err(usage) => {
            let said = usage.to_string();
            let said = said.trim_start_matches("error: ").trim_end();
            let first = said.split("\n\n").next().unwrap_or_default();
            Err(Error::usage(
                format!("in the inputs of the action: {first}"),
                "an input is named as its flag, without the hyphens in front",
            ))
        }
    }
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
    let mut live = examine(&plan, manifests, inputs.check.jobs.count(), true).await?;
    rebase(&mut live, &prefix);
    let mut answered = Answered {
        verdict: live.verdict,
        live,
        approval: None,
        accepted_by_label: false,
        label_would_help: false,
    };
    let Some(commit) = base else {
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

/// Everything that is posted, and what is known of it so far.
struct Post<'a> {
    context: &'a Context,
    inputs: &'a Inputs,
    api: Option<Api>,
    identity: check_run::Identity,
    run: Option<CheckRun>,
}

impl<'a> Post<'a> {
    fn new(context: &'a Context, inputs: &'a Inputs, plan: &Plan) -> Self {
        let api = context.token.as_ref().and_then(|token| {
            let made = Api::new(context, token);
            made.map_err(|error| refused(context, "talk to GitHub", &error))
                .ok()
        });
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
        }
    }

    /// The check run appears while the servers boot.
    async fn start(&mut self) {
        let Some(api) = self.api.as_ref().filter(|_| self.inputs.check_run) else {
            return;
        };
        match CheckRun::start(api, &self.identity).await {
            Ok(run) => {
                self.run = Some(run.clone());
                // A cancelled job must not leave it in progress for ever.
                let (context, identity) = (self.context.clone(), self.identity.clone());
                interrupt::last_words(async move { cancel(&context, &identity, &run).await });
            }
            Err(error) => refused(self.context, "create the check run", &error),
        }
    }

    /// Completes the run of a check that could not be made.
    async fn failed(&self, error: &Error) {
        let outcome = Outcome {
            verdict: Verdict::Undetermined,
            title: "Could not be checked".to_owned(),
            summary: secrets::clean(&escape::fenced("text", &error.to_string())),
            annotations: Vec::new(),
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

    async fn finish(&self, result: &Answered, json: &Path) -> Result<(), Error> {
        let page = Page {
            result,
            label: &self.inputs.accept_label,
        };
        let outcome = Outcome {
            verdict: result.verdict,
            title: page.title(),
            summary: page.markdown(report::CHECK_RUN_LIMIT),
            annotations: match self.inputs.annotations {
                true => page.annotations(),
                false => Vec::new(),
            },
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
            // A page that does not fit is cut by its renderer; one that cannot be cut so far is left out.
            let room = files::summary_room(path);
            let text = page.markdown(room);
            let written = match text.len() <= room {
                true => files::append(path, &text).map_err(|error| error.to_string()),
                false => Err("there is no room left in it".to_owned()),
            };
            if let Err(problem) = written {
                warn("write the job summary", &problem);
            }
        }
        if let Some(path) = &self.context.outputs {
            // Later steps start in the workspace, wherever this one worked.
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
        let wanted = match page.has_something_to_say() {
            true => Comment::Say(page.markdown(room)),
            false => Comment::Fold(format!(
                "**mcp-keel**: no drift any more, as of {}.",
                &self.context.commit[..12]
            )),
        };
        if let Err(error) = comment::post(api, pull.number, &identity, &wanted).await {
            refused(self.context, "post the comment", &error);
        }
    }
}

/// Completes the run of a check that a signal ended. With a connection of its own: the runtime of the other may be busy.
async fn cancel(context: &Context, identity: &check_run::Identity, run: &CheckRun) {
    let Some(Ok(api)) = context.token.as_ref().map(|token| Api::new(context, token)) else {
        return;
    };
    if let Err(error) = run.cancel(&api, identity).await {
        refused(context, "cancel the check run", &error);
    }
}

/// One line for each thing that could not be posted. Exit codes do not know of it.
fn warn(what: &str, problem: &dyn std::fmt::Display) {
    let problem = escape::line(&problem.to_string());
    output::complain(&format!("warning: could not {what}: {problem}"));
}

/// [`warn`], with the reason where it is known why GitHub refuses.
fn refused(context: &Context, what: &str, error: &ApiError) {
    match context.read_only {
        Some(reason) if matches!(error.status(), Some(401 | 403 | 404)) => {
            warn(what, &format!("{error} ({})", reason.reason()));
        }
        _ => warn(what, error),
    }
}

/// What is shown, made from both answers.
struct Page<'a> {
    result: &'a Answered,
    label: &'a str,
}

impl Page<'_> {
    fn title(&self) -> String {
        let mut parts = Vec::new();
        let undetermined = |report: &Report| {
            let mut servers = report.servers.iter();
            servers.any(|it| matches!(it.status, Status::Undetermined(_)))
        };
        if undetermined(&self.result.live) {
            parts.push("a server could not be captured".to_owned());
        }
        if let Some(counts) = counts(&self.result.live) {
            parts.push(format!("drift: {counts}"));
        }
        if let Some(approval) = &self.result.approval {
            if undetermined(&approval.report) {
                parts.push("the base branch's baseline could not be read".to_owned());
            }
            if let Some(counts) = counts(&approval.report) {
                let accepted = match self.result.accepted_by_label {
                    true => " (accepted by label)",
                    false => "",
                };
                parts.push(format!("to approve: {counts}{accepted}"));
            }
        }
        match parts.is_empty() {
            true => "No drift".to_owned(),
            false => parts.join("; "),
        }
    }

    /// Both sections, within `limit` bytes and without secrets.
    fn markdown(&self, limit: usize) -> String {
        secrets::clean(&self.sections(limit))
    }

    fn sections(&self, limit: usize) -> String {
        let Some(approval) = &self.result.approval else {
            return report::markdown(&self.result.live, limit);
        };
        let first = "The server against its baseline";
        let second = "What merging approves";
        // A version that went down is no change of the contract, and blocks.
        let told =
            approval.report.changes().next().is_some() || approval.report.verdict != Verdict::Pass;
        let mut intro = match told {
            true => "The committed baseline, compared with the one on the base branch.\n\n",
            false => "Nothing: the committed baseline is the one on the base branch.\n",
        }
        .to_owned();
        let label = escape::code(self.label);
        if self.result.accepted_by_label {
            intro += &format!("Accepted by a maintainer with the label {label}.\n\n");
        } else if self.result.label_would_help {
            intro += &format!(
                "**This needs a maintainer.** To accept it, somebody who may label pull requests here adds the label \
                 {label}.\n\n"
            );
        }
        for note in &approval.notes {
            intro += &format!("{}\n\n", escape::markdown(note));
        }
        // Marks and line ends of the two headings included.
        let around = first.len() + second.len() + intro.len() + 20;
        let room = limit.saturating_sub(around);
        // Half of the room for each, unless one needs less.
        let body = |limit| match told {
            true => report::markdown(&approval.report, limit),
            false => String::new(),
        };
        let live = report::markdown(&self.result.live, room - body(room / 2).len().min(room));
        let approved = body(room.saturating_sub(live.len()));
        let (live, approved) = (
            section(first, "", &live),
            section(second, &intro, &approved),
        );
        format!("{live}\n{approved}")
    }

    /// Both reports in one, for sinks that count over both. What belongs to the second question says so.
    fn combined(&self) -> Report {
        let mut servers: Vec<ServerReport> = self.result.live.servers.clone();
        let mut findings = self.result.live.findings.clone();
        if let Some(approval) = &self.result.approval {
            for mut server in approval.report.servers.clone() {
                for located in &mut server.changes {
                    let change = &mut located.judged.change;
                    change.message = format!("against the base branch: {}", change.message);
                }
                servers.push(server);
            }
            findings.extend(approval.report.findings.clone());
        }
        Report::new(Comparison::Check, servers, findings)
    }

    fn annotations(&self) -> Vec<Annotation> {
        let mut annotations = report::annotations(&self.combined());
        for annotation in &mut annotations {
            let clean = |text: &str| Visible::of_parts(secrets::clean(text));
            annotation.title = clean(&annotation.title);
            annotation.message = clean(&annotation.message);
            annotation.raw_details = annotation.raw_details.as_deref().map(clean);
        }
        annotations
    }

    fn has_something_to_say(&self) -> bool {
        let reports = [
            Some(&self.result.live),
            self.result.approval.as_ref().map(|it| &it.report),
        ];
        reports.into_iter().flatten().any(|report| {
            let of_servers = report.servers.iter().flat_map(|it| &it.findings);
            let mut findings = report.findings.iter().chain(of_servers);
            report.verdict != Verdict::Pass
                || report.changes().next().is_some()
                || findings.any(|it| it.action >= Action::Warn)
        })
    }

    fn outputs(&self, json: &Path) -> Vec<(&'static str, String)> {
        let live = &self.result.live;
        let count = |level| {
            let servers = live.servers.iter();
            servers.map(|it| it.count(level)).sum::<usize>().to_string()
        };
        let approved = self
            .result
            .approval
            .iter()
            .flat_map(|it| &it.report.servers);
        let bump = live
            .servers
            .iter()
            .chain(approved)
            .map(|it| it.version.required)
            .max();
        let drift = live.changes().next().is_some();
        vec![
            ("verdict", self.result.verdict.word().to_owned()),
            ("drift", drift.to_string()),
            ("breaking", count(Level::Breaking)),
            ("risky", count(Level::Risky)),
            ("additive", count(Level::Additive)),
            ("cosmetic", count(Level::Cosmetic)),
            ("report", json.to_string_lossy().replace('\\', "/")),
            (
                "required-bump",
                bump.map_or("none", |it| it.word()).to_owned(),
            ),
        ]
    }
}

/// A page under a heading of its own, which takes the verdict over from the page's.
fn section(title: &str, intro: &str, page: &str) -> String {
    let verdict = page
        .strip_prefix("## mcp-keel: ")
        .and_then(|rest| rest.split_once('\n'));
    match verdict {
        Some((verdict, rest)) => {
            format!("## {title}: {verdict}\n\n{intro}{}", rest.trim_start())
        }
        None => format!("## {title}\n\n{intro}{page}"),
    }
}

/// `1 breaking, 2 risky`; none if there is nothing.
fn counts(report: &Report) -> Option<String> {
    let levels = [
        Level::Breaking,
        Level::Risky,
        Level::Additive,
        Level::Cosmetic,
    ];
    let told: Vec<String> = levels
        .into_iter()
        .map(|level| (report.servers.iter().map(|it| it.count(level)).sum(), level))
        .filter(|(count, _): &(usize, Level)| *count > 0)
        .map(|(count, level)| format!("{count} {level}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(inputs: &[(&str, &str)]) -> Environment {
        inputs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_command_is_split_as_a_shell_would_and_given_to_none() {
        let args = check_args(&env(&[
            (
                "INPUT_COMMAND",
                r#"node "my server.js" --flag='$(id)' ; rm"#,
            ),
            ("INPUT_SERVERS", "weather"),
            ("INPUT_PASS-ENV", "LANG, API_KEY"),
            ("INPUT_ENV", "A=1\n\nB=two words\n"),
            ("INPUT_FAIL_ON", "breaking"),
        ]))
        .expect("arguments");
        let words = ["node", "my server.js", "--flag=$(id)", ";", "rm"];
        assert_eq!(args.server.command, words);
        assert_eq!(args.server.servers, ["weather"]);
        assert_eq!(args.server.pass_env, ["LANG", "API_KEY"]);
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            args.server.env,
            [variable("A", "1"), variable("B", "two words")]
        );
        assert_eq!(args.policy.fail_on, Some(FailOn::Breaking));
    }

    #[test]
    fn a_server_over_http_is_reached_with_headers_a_line_each() {
        let args = check_args(&env(&[
            ("INPUT_URL", "https://x.example/mcp"),
            (
                "INPUT_HEADER",
                "Authorization: Bearer ${TOKEN}\nX-Key: ${KEY}\n",
            ),
            ("INPUT_START", "node http.js"),
        ]))
        .expect("arguments");
        assert_eq!(args.server.url.as_deref(), Some("https://x.example/mcp"));
        assert_eq!(
            args.server.headers,
            ["Authorization: Bearer ${TOKEN}", "X-Key: ${KEY}"]
        );
        assert_eq!(args.server.start.as_deref(), Some("node http.js"));
    }

    #[test]
    fn an_input_cannot_become_another_flag() {
        for inputs in [
            [("INPUT_SERVERS", "--config=evil.toml")],
            [("INPUT_FAIL-ON", "sometimes")],
            [("INPUT_COMMAND", "node 'unclosed")],
            [("INPUT_TIMEOUT", "0")],
        ] {
            let error = check_args(&env(&inputs)).expect_err("an error");
            assert_eq!(error.exit(), Exit::Usage, "{inputs:?}");
        }
        let error = Inputs::read(&env(&[("INPUT_COMMENT", "yes")]));
        assert!(error.is_err_and(|it| it.to_string().contains("true or false")));
    }
}

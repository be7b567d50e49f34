//! The two questions of a pull request: does the server still match its committed baseline, and
//! what does that baseline change compared with the base branch's?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use super::acceptance::Acceptance;
use super::approval::{Approval, MergedBaselines, accept, approval, has_blocking_change};
use super::base::Base;
use super::baseline::Baselines;
use super::check::{examine, findings, terms};
use super::check_changes::{CheckChange, covers};
use super::fleet::Jobs;
use super::judge_server::finding;
use super::observer::Observer;
use super::plan::{Plan, today};
use super::shards::{joined, read};
use crate::canonical::Json;
use crate::git::CheckedOutFiles;
use crate::github::{Context, Event};
use crate::policy::{Enforcement, FailOn, Policy, Verdict};
use crate::report::{
    Comparison, Differs, Failure, Finding, MISSING_FROM_EVERY_PART, Place, RUN_PART_AGAIN, Report,
    RunFinding, ServerReport, Status, resolve_findings,
};
use crate::surface::Note;

pub(crate) struct Answered {
    pub(crate) live: Report,
    pub(crate) approval: Option<Approval>,
    /// What the label says about the commit.
    pub(crate) acceptance: Acceptance,
    /// What the pull request changes about the check.
    pub(crate) check_changes: Vec<CheckChange>,
    /// The masks and acceptances that were in force.
    pub(crate) exceptions: Vec<String>,
    /// Whether the label is what lets the second one pass.
    pub(crate) accepted_by_label: bool,
    /// Whether the label would make it pass.
    pub(crate) label_would_help: bool,
    pub(crate) verdict: Verdict,
    /// The baselines that pinning would write, by the path of the file that they replace.
    pub(crate) proposed: BTreeMap<PathBuf, String>,
}

/// What the workflow requests besides the check itself.
pub(crate) struct PullRequestRequest {
    /// Reports of the parts of a run, to be merged instead of checking anything.
    pub(crate) merge: Vec<PathBuf>,
    /// Whether to compare with the base branch.
    pub(crate) compare_base: bool,
    pub(crate) base_fail_on: FailOn,
    /// The label with which a maintainer accepts what would block.
    pub(crate) accept_label: String,
    /// Whether the base's policy counts, and not the pull request's own.
    pub(crate) policy_from_base: bool,
}

/// What both questions are about.
pub(crate) struct Questions<'a> {
    pub(crate) context: &'a Context,
    pub(crate) asked: &'a PullRequestRequest,
    pub(crate) baselines: &'a Arc<Baselines>,
    pub(crate) merged: &'a MergedBaselines,
    /// What the base says; none where there is no base, an error where it could not be read.
    pub(crate) base: Option<&'a Result<Base, String>>,
    /// From the root of the repository to the working folder, with `/` at the end if it is not empty.
    pub(crate) prefix: &'a str,
    pub(crate) acceptance: &'a Acceptance,
}

/// Answers both questions.
pub(crate) async fn check(
    questions: &Questions<'_>,
    (mut plan, jobs): (Plan, Jobs),
    observer: Arc<dyn Observer>,
) -> Result<Answered, Error> {
    let Questions {
        context,
        asked,
        baselines,
        prefix,
        acceptance,
        ..
    } = *questions;
    // A base that cannot be read leaves open by what to judge, too.
    let base = questions
        .base
        .filter(|it| asked.compare_base || (asked.policy_from_base && it.is_err()));
    let policy = plan.policy.clone();
    if base.is_some() {
        // Whether the version was bumped enough concerns what is merged, not the server in between.
        plan.policy.require_version_bump = false;
    }
    let (check_changes, exceptions) = (plan.check_changes.clone(), exceptions(&plan));
    let weakens = check_changes.iter().any(|it| it.weakens) && !plan.changes_accepted;
    let weakening_accepted = check_changes.iter().any(|it| it.weakens) && acceptance.is_given();
    let plan = Arc::new(plan);
    let (live, proposed) = if asked.merge.is_empty() {
        let examined = examine(&plan, baselines, jobs, observer).await?;
        examined.judged_by.are_unchanged()?;
        let mut live = examined.report;
        rebase(&mut live, prefix);
        (live, proposed(&plan, baselines, examined.proposed))
    } else {
        let live = merged_by(&asked.merge, &plan, baselines)?;
        (live, BTreeMap::new())
    };
    let mut answered = Answered {
        verdict: live.verdict,
        live,
        approval: None,
        acceptance: acceptance.clone(),
        accepted_by_label: weakening_accepted,
        label_would_help: weakens,
        check_changes,
        exceptions,
        proposed,
    };
    // What merging approves is asked once, by the job that has all parts.
    let Some(base) = base.filter(|_| plan.part.is_none()) else {
        return Ok(answered);
    };
    let policy = approval_policy(policy, asked, &context.event);
    let mut approval = approval(
        &plan,
        questions.merged,
        &policy,
        base,
        acceptance.is_given(),
    );
    rebase(&mut approval.report, prefix);
    if has_blocking_change(&approval.report) {
        if acceptance.is_given() {
            approval.unaccepted = Some(approval.report.clone());
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

/// The policy of the second question. A baseline is changed on purpose, so only what breaks callers
/// blocks it, unless the workflow requests more.
fn approval_policy(mut policy: Policy, asked: &PullRequestRequest, event: &Event) -> Policy {
    if policy.fail_on != Some(FailOn::None) {
        policy.fail_on = Some(asked.base_fail_on);
    }
    if matches!(event, Event::MergeGroup { .. }) {
        // Every pull request of the group has passed, with its label if needed; a group has no
        // labels.
        policy.enforcement = Enforcement::Audit;
        policy.unknown = None;
    }
    policy
}

/// The baselines with the entries of servers that are not as they say.
fn proposed(
    plan: &Plan,
    baselines: &Baselines,
    mut entries: BTreeMap<String, Json>,
) -> BTreeMap<PathBuf, String> {
    let mut by_file: BTreeMap<PathBuf, BTreeMap<String, Json>> = BTreeMap::new();
    for target in &plan.targets {
        if let Some(entry) = entries.remove(&target.name) {
            let of_file = by_file.entry(plan.baseline_of(target)).or_default();
            of_file.insert(target.name.clone(), entry);
        }
    }
    let texts = by_file.into_iter().filter_map(|(path, entries)| {
        let text = baselines.get(&path)?.own()?.with_servers(entries);
        Some((path, text))
    });
    texts.collect()
}

/// The reports of the parts of this plan, joined and judged again: a job that ran a server wrote them, and what it may
/// say is what the server said. Which servers there are, what each is compared with, what happens because of a change and
/// which command accepts it is known here.
fn merged_by(paths: &[PathBuf], plan: &Plan, baselines: &Baselines) -> Result<Report, Error> {
    fn said(findings: &[RunFinding]) -> Vec<(&Note, Option<&str>)> {
        let findings = findings.iter();
        findings
            .map(|it| (&it.finding.note, it.void_if_change.as_deref()))
            .collect()
    }
    let reports = read(paths)?;
    let names: Vec<String> = plan.targets.iter().map(|it| it.name.clone()).collect();
    let (terms, findings) = (terms(plan, baselines), findings(plan, baselines));
    for (file, report) in &reports {
        let differs = match &report.shard {
            Some(shard) if shard.servers != names => Some(Differs::Servers),
            Some(shard) if shard.terms != terms => Some(Differs::Terms),
            // What happens because of them is decided here.
            Some(shard) if said(&shard.findings) != said(&findings) => Some(Differs::Findings),
            Some(_) => None,
            None => {
                let mut servers = report.servers.iter();
                let is_strange = servers.any(|it| !names.contains(&it.name));
                is_strange.then_some(Differs::Servers)
            }
        };
        if let Some(differs) = differs {
            return Err(Error::usage(
                format!(
                    "{file} is not a part of the run that is joined here: {} differs",
                    differs.as_str()
                ),
                "every part, and the job that joins them, needs the same commit, configuration, inputs and day",
            ));
        }
    }
    let report = joined(reports)?;
    let mut found: BTreeMap<String, ServerReport> = BTreeMap::new();
    for server in report.servers {
        found.insert(server.name.clone(), server);
    }
    let servers = plan.targets.iter().map(|target| {
        let Some(mut server) = found.remove(&target.name) else {
            let why = Failure::new(
                MISSING_FROM_EVERY_PART.to_owned(),
                RUN_PART_AGAIN.to_owned(),
            );
            return ServerReport::undetermined(&target.name, why);
        };
        server.accept_with.clone_from(&target.pin_command);
        for located in &mut server.changes {
            let change = located.judged.change.clone();
            if let Some(judged) = plan.policy.judge(&server.name, vec![change], today()).pop() {
                located.judged = judged;
            }
        }
        for finding in &mut server.findings {
            finding.action = plan.policy.judge_note(&finding.note);
        }
        if !server.changes.is_empty() && matches!(server.status, Status::Clean) {
            server.status = Status::Drifted;
        }
        server
    });
    let servers: Vec<ServerReport> = servers.collect();
    let mut of_run = resolve_findings(&findings, &servers);
    let is_known = |it: &Finding| findings.iter().any(|known| known.finding.note == it.note);
    let others = report.findings.into_iter().filter(|it| !is_known(it));
    of_run.extend(others.map(|it| finding(&plan.policy, it.note)));
    Ok(Report::new(Comparison::Check, servers, of_run))
}

/// The masks and acceptances that are in force in a run.
fn exceptions(plan: &Plan) -> Vec<String> {
    let masks = plan.all_targets().flat_map(|target| {
        let masks = target.masks.iter();
        masks.map(|it| format!("mask of `{}`: {} ({})", target.name, covers(it), it.reason))
    });
    let accepted = plan
        .policy
        .accept
        .iter()
        .filter(|it| !it.is_expired(today()));
    let accepted =
        accepted.map(|it| format!("accepted: {} ({}, {})", it.change, it.reason, it.owner));
    masks.chain(accepted).collect()
}

impl Answered {
    /// Forgets every place that is not a file of the commit that is checked out. A reader cannot be led there, and a part of a
    /// run can name any place.
    pub(crate) fn keep_places_in(&mut self, committed: Option<CheckedOutFiles>) {
        let approval = self.approval.iter_mut();
        let approval =
            approval.flat_map(|it| it.unaccepted.as_mut().into_iter().chain([&mut it.report]));
        for place in approval.chain([&mut self.live]).flat_map(places) {
            let is_known = |place: &Place| {
                let committed = committed.as_ref();
                committed.is_some_and(|files| files.has_file(&place.slashed()))
            };
            if !place.as_ref().is_some_and(is_known) {
                *place = None;
            }
        }
    }
}

/// Makes places relative to the root of the repository, as GitHub expects them.
fn rebase(report: &mut Report, prefix: &str) {
    if prefix.is_empty() {
        return;
    }
    for place in places(report) {
        if let Some(place) = place.as_mut().filter(|it| it.path.is_relative()) {
            place.path = Path::new(prefix).join(&place.path);
        }
    }
}

fn places(report: &mut Report) -> Vec<&mut Option<Place>> {
    let mut places: Vec<&mut Option<Place>> = Vec::new();
    for server in &mut report.servers {
        let changes = server.changes.iter_mut();
        places.extend(changes.flat_map(|it| [&mut it.location, &mut it.source]));
        places.extend(server.listed.iter_mut().map(|it| &mut it.place));
    }
    places
}

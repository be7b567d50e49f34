//! The parts of a run, joined by a job that knows the plan and ran nothing itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Error;
use super::baseline::Baselines;
use super::check::{findings, terms};
use super::judge_server::finding;
use super::plan::{Plan, today};
use super::shards::{joined, read};
use crate::report::{
    Comparison, Differs, Failure, Finding, MISSING_FROM_EVERY_PART, RUN_PART_AGAIN, Report,
    RunFinding, ServerReport, Status, resolve_findings,
};
use crate::surface::Note;

/// The reports of the parts of this plan, joined and judged again: a job that ran a server wrote them, and what it may
/// say is what the server said. Which servers there are, what each is compared with, what happens because of a change and
/// which command accepts it is known here.
pub(crate) fn merged_by(
    paths: &[PathBuf],
    plan: &Plan,
    baselines: &Baselines,
) -> Result<Report, Error> {
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

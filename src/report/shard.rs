//! One run in several parts, and the parts merged again.
//!
//! The promise: merged parts are the report of the whole run, byte for byte in every format. A
//! missing part leaves its servers undetermined; parts that do not belong together are an error.
//! Neither is ever clean.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::document::FindingDocument;
use super::{Comparison, Failure, Finding, Report, ServerReport, Status};

/// Why a server of the run has no verdict, and what to do.
pub(crate) const MISSING_FROM_EVERY_PART: &str = "missing from every part of the run";
pub(crate) const RUN_PART_AGAIN: &str =
    "look at the job of that part and run it again; every part needs the same plan and --timings";

/// Which part of a run a report covers, and what the whole needs to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// One-based.
    pub index: usize,
    /// The number of parts.
    pub of: usize,
    /// The servers of the whole run, in order.
    pub servers: Vec<String>,
    /// A digest of what every part is judged by: the baselines, the policy, this program.
    pub terms: String,
    /// The findings about the whole run.
    pub findings: Vec<RunFinding>,
}

/// A finding about a run, which may depend on its servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "FindingDocument", try_from = "FindingDocument")]
pub struct RunFinding {
    pub finding: Finding,
    /// It is void if a change has this id, or if a server could not be captured: then it is
    /// unknown.
    pub void_if_change: Option<String>,
}

/// The findings about a run that apply, given the results of its servers.
pub fn resolve_findings(findings: &[RunFinding], servers: &[ServerReport]) -> Vec<Finding> {
    let captured = servers
        .iter()
        .all(|server| !matches!(server.status, Status::Undetermined(_)));
    let ids: BTreeSet<&str> = servers
        .iter()
        .flat_map(|server| &server.changes)
        .map(|change| change.judged.id.as_str())
        .collect();
    findings
        .iter()
        .filter(|it| match &it.void_if_change {
            Some(id) => captured && !ids.contains(id.as_str()),
            None => true,
        })
        .map(|it| it.finding.clone())
        .collect()
}

/// The findings about a run that apply whatever its servers do.
pub fn unconditional_findings(findings: &[RunFinding]) -> Vec<Finding> {
    let unconditional = findings.iter().filter(|it| it.void_if_change.is_none());
    unconditional.map(|it| it.finding.clone()).collect()
}

/// Reports that cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    #[error("there is no report to merge")]
    Nothing,
    #[error("{file} is not a report of `check`")]
    NoCheck { file: String },
    #[error("{file} is named twice")]
    Named { file: String },
    #[error("{part} is a part of a run, {whole} is not")]
    Mixed { part: String, whole: String },
    #[error("{one} and {other} are not parts of the same run: {what} differs")]
    OtherRun {
        one: String,
        other: String,
        /// What differs.
        what: &'static str,
    },
    #[error("{one} and {other} both contain {what}")]
    Twice {
        one: String,
        other: String,
        /// A part or a server.
        what: String,
    },
    #[error("{file} contains `{server}`, which is not a server of its run")]
    Stranger { file: String, server: String },
}

impl MergeError {
    pub fn help(&self) -> &'static str {
        match self {
            Self::Nothing => "name the JSON reports of the parts, or the folder that they are in",
            Self::NoCheck { .. } => {
                "merge only reads what `mcp-keel check --report json=FILE` wrote"
            }
            Self::Mixed { .. } => {
                "merge the parts of one run (`check --shard i/N`), or whole runs, not both"
            }
            Self::OtherRun { .. } => {
                "every part needs the same commit, configuration, --shard i/N and day; run all of them again"
            }
            Self::Named { .. } => "name each report once",
            Self::Twice { .. } => {
                "name each report once; overlapping parts were not split by the same plan and --timings"
            }
            Self::Stranger { .. } => "the report was edited, or written by another version",
        }
    }
}

/// Merges the reports of several jobs, each with the name of its file.
pub fn merge(reports: Vec<(String, Report)>) -> Result<Report, MergeError> {
    for (file, report) in &reports {
        if report.comparison != Comparison::Check {
            return Err(MergeError::NoCheck { file: file.clone() });
        }
    }
    let mut seen = BTreeSet::new();
    if let Some((file, _)) = reports.iter().find(|it| !seen.insert(it.0.as_str())) {
        return Err(MergeError::Named { file: file.clone() });
    }
    let Some((first, report)) = reports.first() else {
        return Err(MergeError::Nothing);
    };
    let is_part = report.shard.is_some();
    if let Some((other, _)) = reports.iter().find(|it| it.1.shard.is_some() != is_part) {
        let (part, whole) = if is_part {
            (first.clone(), other.clone())
        } else {
            (other.clone(), first.clone())
        };
        return Err(MergeError::Mixed { part, whole });
    }
    if is_part {
        parts(reports)
    } else {
        wholes(reports)
    }
}

/// Runs over distinct servers: everything they report, in the order given.
fn wholes(reports: Vec<(String, Report)>) -> Result<Report, MergeError> {
    let mut servers = Vec::new();
    let mut findings: Vec<Finding> = Vec::new();
    let mut holder: BTreeMap<String, String> = BTreeMap::new();
    for (file, report) in reports {
        claim(&mut holder, &file, &report.servers)?;
        servers.extend(report.servers);
        for finding in report.findings {
            // Two runs under one policy report the same about it.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    Ok(Report::new(Comparison::Check, servers, findings))
}

/// Records which file covers which server; a second file that does is an error.
fn claim(
    holder: &mut BTreeMap<String, String>,
    file: &str,
    servers: &[ServerReport],
) -> Result<(), MergeError> {
    for server in servers {
        match holder.get(&server.name) {
            Some(one) if one != file => {
                return Err(MergeError::Twice {
                    one: one.clone(),
                    other: file.to_owned(),
                    what: format!("the server `{}`", server.name),
                });
            }
            _ => {
                holder.insert(server.name.clone(), file.to_owned());
            }
        }
    }
    Ok(())
}

fn parts(reports: Vec<(String, Report)>) -> Result<Report, MergeError> {
    let mut files: BTreeMap<usize, String> = BTreeMap::new();
    let mut holder = BTreeMap::new();
    let mut run: Option<(String, Shard)> = None;
    let mut known: BTreeMap<String, Vec<ServerReport>> = BTreeMap::new();
    let mut of_parts: Vec<Finding> = Vec::new();
    for (file, report) in reports {
        let Some(shard) = report.shard else {
            continue;
        };
        if let Some((one, first)) = &run
            && let Some(what) = first.differs_from(&shard)
        {
            return Err(MergeError::OtherRun {
                one: one.clone(),
                other: file,
                what: what.as_str(),
            });
        }
        if let Some(one) = files.insert(shard.index, file.clone()) {
            return Err(MergeError::Twice {
                one,
                other: file,
                what: format!("the part {}/{}", shard.index, shard.of),
            });
        }
        claim(&mut holder, &file, &report.servers)?;
        // The unconditional findings of the whole run come first, then those about the servers of
        // this part.
        let common = unconditional_findings(&shard.findings).len();
        of_parts.extend(report.findings.into_iter().skip(common));
        for server in report.servers {
            if !shard.servers.contains(&server.name) {
                return Err(MergeError::Stranger {
                    file,
                    server: server.name,
                });
            }
            known.entry(server.name.clone()).or_default().push(server);
        }
        run.get_or_insert((file, shard));
    }
    let Some((_, shard)) = run else {
        return Err(MergeError::Nothing);
    };
    let absent: Vec<String> = (1..=shard.of)
        .filter(|index| !files.contains_key(index))
        .map(|index| format!("{index}/{}", shard.of))
        .collect();
    let servers: Vec<ServerReport> = shard
        .servers
        .iter()
        .flat_map(|name| {
            let found = known.remove(name);
            found.unwrap_or_else(|| vec![missing(name, &absent)])
        })
        .collect();
    let mut findings = resolve_findings(&shard.findings, &servers);
    of_parts.sort_by(|one, other| one.note.cmp(&other.note));
    findings.extend(of_parts);
    Ok(Report::new(Comparison::Check, servers, findings))
}

/// A server of the run that no part covers.
fn missing(name: &str, absent: &[String]) -> ServerReport {
    let message = match absent {
        [] => MISSING_FROM_EVERY_PART.to_owned(),
        absent => format!(
            "the report of its part of the run is missing ({} not merged)",
            absent.join(", ")
        ),
    };
    ServerReport::undetermined(name, Failure::new(message, RUN_PART_AGAIN.to_owned()))
}

impl Shard {
    /// Why another part belongs to a different run.
    fn differs_from(&self, other: &Shard) -> Option<Differs> {
        if self.of != other.of {
            Some(Differs::Parts)
        } else if self.servers != other.servers {
            Some(Differs::Servers)
        } else if self.terms != other.terms {
            Some(Differs::Terms)
        } else if self.findings != other.findings {
            Some(Differs::Findings)
        } else {
            None
        }
    }
}

/// In what two parts differ that belong to different runs.
pub(crate) enum Differs {
    Parts,
    Servers,
    Terms,
    Findings,
}

impl Differs {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Parts => "the number of parts",
            Self::Servers => "the list of servers",
            Self::Terms => "the baseline, the policy or the version of mcp-keel",
            Self::Findings => "the findings about the whole run",
        }
    }
}

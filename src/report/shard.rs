//! One run in several parts, and the parts joined again.
//!
//! The promise: joined parts are the report of the whole run, byte for byte in every format. A part that is missing
//! leaves its servers undetermined; parts that do not belong together are an error. Neither is ever clean.

use std::collections::{BTreeMap, BTreeSet};

use super::{Comparison, Failure, Finding, Report, ServerReport, Status};
use crate::sentences::report as sentences;

/// Which part of a run a report is of, and what the whole has to know.
#[derive(Clone, Debug)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    /// How many parts there are.
    pub of: usize,
    /// The servers of the whole run, in its order.
    pub servers: Vec<String>,
    /// A digest of what every part is judged by: the baselines, the policy, this program.
    pub terms: String,
    /// The findings about the whole run.
    pub findings: Vec<RunFinding>,
}

/// A finding about a run, which may depend on what its servers did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFinding {
    pub finding: Finding,
    /// It is void if a change has this id, or if a server could not be captured: then it is not known.
    pub void_if_change: Option<String>,
}

/// The findings about a run that hold now that its servers are known.
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

/// The findings about a run that hold whatever its servers do.
pub fn unconditional_findings(findings: &[RunFinding]) -> Vec<Finding> {
    let unconditional = findings.iter().filter(|it| it.void_if_change.is_none());
    unconditional.map(|it| it.finding.clone()).collect()
}

/// Reports that cannot be joined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is none.
    #[error("there is no report to merge")]
    Nothing,
    /// Not of `check`.
    #[error("{file} is not a report of `check`")]
    NoCheck {
        /// Where it came from.
        file: String,
    },
    /// The same file again.
    #[error("{file} is named twice")]
    Named { file: String },
    /// One says that it is a part, another does not.
    #[error("{part} is a part of a run, {whole} is not")]
    Mixed {
        part: String,
        /// The other.
        whole: String,
    },
    /// Parts of two runs.
    #[error("{one} and {other} are not parts of the same run: {what} differs")]
    OtherRun {
        /// The first.
        one: String,
        other: String,
        /// What tells.
        what: &'static str,
    },
    /// Two reports speak of the same thing.
    #[error("{one} and {other} both hold {what}")]
    Twice {
        /// The first.
        one: String,
        other: String,
        /// A part or a server.
        what: String,
    },
    /// A part holds a server that the run does not have.
    #[error("{file} holds `{server}`, which is not a server of its run")]
    Stranger {
        /// The part.
        file: String,
        server: String,
    },
}

impl MergeError {
    pub fn help(&self) -> &'static str {
        match self {
            Self::Nothing => "name the JSON reports of the parts, or the folder that they are in",
            Self::NoCheck { .. } => {
                "merge joins what `mcp-keel check --report json=FILE` wrote, nothing else"
            }
            Self::Mixed { .. } => {
                "join the parts of one run (`check --shard i/N`), or whole runs, not both"
            }
            Self::OtherRun { .. } => {
                "every part needs the same commit, configuration, --shard i/N and day; run all of them again"
            }
            Self::Named { .. } => "name each report once",
            Self::Twice { .. } => {
                "name each report once; parts that overlap were not cut from the same plan and --timings"
            }
            Self::Stranger { .. } => "the report was edited, or written by another version",
        }
    }
}

/// Joins the reports of several jobs, each with the name of the file that it came from.
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

/// Runs over servers of their own: everything that they say, in the order given.
fn wholes(reports: Vec<(String, Report)>) -> Result<Report, MergeError> {
    let mut servers = Vec::new();
    let mut findings: Vec<Finding> = Vec::new();
    let mut holder: BTreeMap<String, String> = BTreeMap::new();
    for (file, report) in reports {
        claim(&mut holder, &file, &report.servers)?;
        servers.extend(report.servers);
        for finding in report.findings {
            // Two runs under one policy say the same of it.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    Ok(Report::new(Comparison::Check, servers, findings))
}

/// Notes which file speaks of which server; a second file that does is an error.
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
                what,
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
        // After what is certain of the whole run stands what is said of the servers of this part.
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

/// A server of the run that no part speaks of.
fn missing(name: &str, absent: &[String]) -> ServerReport {
    let message = match absent {
        [] => sentences::no_part_has_it(),
        absent => sentences::part_missing(absent),
    };
    let why = Failure {
        message,
        help: sentences::run_part_again(),
        stderr: String::new(),
    };
    ServerReport::undetermined(name, why)
}

impl Shard {
    /// What tells that another part is of another run.
    fn differs_from(&self, other: &Shard) -> Option<&'static str> {
        if self.of != other.of {
            Some("the number of parts")
        } else if self.servers != other.servers {
            Some("the list of servers")
        } else if self.terms != other.terms {
            Some("the baseline, the policy or the version of mcp-keel")
        } else if self.findings != other.findings {
            Some("what is to be said of the whole run")
        } else {
            None
        }
    }
}

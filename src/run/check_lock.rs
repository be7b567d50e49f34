//! Checking servers against the file of another tool: a FastMCP manifest, MCP Hangar's pins, a ToolPin lock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge_server::finding;
use super::observer::Observer;
use super::plan::{Plan, Target, today};
use super::repeat::{self, Observed};
use super::{Error, fleet};
use crate::baseline::foreign::targets::{Probe, Subject, verify};
use crate::baseline::foreign::toolpin::Integrity;
use crate::baseline::foreign::{Foreign, LockError, hangar, lock_v1};
use crate::canonical::{Document, Json, parse_document};
use crate::capture::Endpoint;
use crate::drift::pinned::{self, PinError, Placed};
use crate::policy::{Policy, check_version};
use crate::report::{Comparison, Cost, Finding, Located, Place, Report, ServerReport, Status};
use crate::surface::{Note, Surface};

/// A file of another tool, with its lines.
pub(crate) struct PinFile {
    pub(crate) pins: Foreign,
    document: Option<Document>,
}

/// The files of other tools among the baselines of a plan; none if there is no such file. Whatever does not look like one is
/// left to the reader of our own baselines, which says best what is wrong with it.
pub(crate) fn files(plan: &Plan) -> Result<Option<BTreeMap<PathBuf, PinFile>>, Error> {
    let mut files = BTreeMap::new();
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        if files.contains_key(&path) {
            continue;
        }
        match read(&path)? {
            Some(file) => {
                whole_definitions(target, &path)?;
                files.insert(path, file);
            }
            None if files.is_empty() => return Ok(None),
            None => {
                return Err(Error::usage(
                    format!(
                        "{} is not of the same kind as the other baselines",
                        path.display()
                    ),
                    "check servers with baselines of different tools one by one",
                ));
            }
        }
    }
    Ok((!files.is_empty()).then_some(files))
}

/// The digests of other tools cover whole definitions.
pub(crate) fn whole_definitions(target: &Target, path: &Path) -> Result<(), Error> {
    match target.masks.first() {
        None => Ok(()),
        Some(mask) => Err(Error::usage(
            format!(
                "{}: the digests of this file cover whole definitions, and the mask in line {} leaves a text out",
                path.display(),
                mask.line
            ),
            "remove the mask, or pin into a baseline of our own with --baseline FILE",
        )),
    }
}

pub(crate) fn read(path: &Path) -> Result<Option<PinFile>, Error> {
    let Ok(bytes) = crate::bounded::read(path) else {
        return Ok(None);
    };
    let is_yaml = path
        .extension()
        .is_some_and(|it| it == "yaml" || it == "yml");
    let (value, document) = if is_yaml {
        let read = crate::verify::chain::disk::read_document(path);
        (
            read.map_err(|error| Error::usage(error.to_string(), "check the file"))?,
            None,
        )
    } else {
        match parse_document(&bytes) {
            // Ours, and possibly large.
            Ok(document) if document.value.get("manifestVersion").is_some() => return Ok(None),
            Ok(document) => (document.value.clone(), Some(document)),
            Err(_) => return Ok(None),
        }
    };
    if value.get("manifestVersion").is_some() {
        return Ok(None);
    }
    let name = path.display().to_string();
    match Foreign::recognise(&value, &name) {
        None => Ok(None),
        // An empty object is nobody's file.
        Some(Ok(Foreign::FastMcp(manifest))) if manifest.digests.is_empty() => Ok(None),
        Some(Ok(pins)) => Ok(Some(PinFile { pins, document })),
        Some(Err(error)) => Err(unsound(&name, &error)),
    }
}

fn unsound(name: &str, error: &LockError) -> Error {
    Error::usage(
        format!("{name}: {error}"),
        "restore the committed file, or write it anew with the tool that it belongs to",
    )
}

/// Every server, captured and compared with its entries.
pub(crate) async fn examine(
    plan: Plan,
    files: BTreeMap<PathBuf, PinFile>,
    jobs: usize,
    observer: Arc<dyn Observer>,
) -> Result<Report, Error> {
    // Every entry must hold before any server is started.
    for target in &plan.targets {
        let path = plan.baseline_of(target);
        hold(&path, &files[&path].pins, target)?;
    }
    observer.begin(plan.targets.len());
    let checked = fleet::each(plan.targets.len(), jobs, move |index, job| {
        let target = &plan.targets[index];
        let path = plan.baseline_of(target);
        let report = job.run(check(
            target,
            &path,
            &files[&path],
            &plan.policy,
            &*observer,
        ));
        observer.finished();
        report
    })
    .await?;
    let servers = checked.into_iter().collect::<Result<_, _>>()?;
    Ok(Report::new(Comparison::Check, servers, Vec::new()))
}

/// The entries of a file that speak of a server, verified: by its name, or all of them if they are of one server only and
/// nobody named any.
fn hold(path: &Path, pins: &Foreign, target: &Target) -> Result<(), Error> {
    let edited = |key: &str, what: &str| {
        Error::usage(
            format!("{}: {key}: {what}", path.display()),
            "a lock is not edited by hand: restore the committed file, or lock the server again",
        )
    };
    match pins {
        Foreign::ToolPin(lock) => {
            if lock.entries.is_empty() {
                return Err(edited("servers", "lockfile has no server entries"));
            }
            // All of them: whoever can edit one entry can edit another.
            for (key, plan) in &lock.entries {
                let key = key.to_string_lossy();
                match plan.integrity().map_err(|error| unsound(key, &error))? {
                    Integrity::Holds => {}
                    Integrity::Missing => return Err(edited(key, "lock integrity is missing")),
                    Integrity::Differs => {
                        return Err(edited(
                            key,
                            "locked entry integrity does not match its contents",
                        ));
                    }
                }
            }
        }
        Foreign::LockV1(lock) => {
            if lock.entries().is_empty() {
                return Err(edited("entries", "lockfile has no server entries"));
            }
            if let Some(violation) = lock.violations().first() {
                return Err(edited(&violation.path, &violation.code));
            }
        }
        Foreign::FastMcp(_) | Foreign::Hangar(_) => {}
    }
    entries(path, pins, target).map(|_| ())
}

/// The keys (or places) of the entries that speak of a server.
fn entries(path: &Path, pins: &Foreign, target: &Target) -> Result<Vec<String>, Error> {
    let known: Vec<(String, String)> = match pins {
        Foreign::FastMcp(_) => return Ok(Vec::new()),
        Foreign::Hangar(servers) => servers.keys().map(|it| (it.clone(), it.clone())).collect(),
        Foreign::ToolPin(lock) => lock
            .entries
            .iter()
            .map(|(key, plan)| {
                let name = plan.name.to_string_lossy();
                (key.to_string_lossy().to_owned(), name.to_owned())
            })
            .collect(),
        Foreign::LockV1(lock) => lock
            .entries()
            .iter()
            .enumerate()
            .map(|(index, entry)| {
                let name = entry.get("name").and_then(Json::as_str).unwrap_or_default();
                (index.to_string(), name.to_owned())
            })
            .collect(),
    };
    let named: Vec<String> = known
        .iter()
        .filter(|(key, name)| *key == target.name || *name == target.name)
        .map(|(key, _)| key.clone())
        .collect();
    let one_server = known.windows(2).all(|pair| pair[0].1 == pair[1].1);
    if named.is_empty() && one_server && target.is_unnamed() {
        return Ok(known.into_iter().map(|(key, _)| key).collect());
    }
    if named.is_empty() {
        let mut names: Vec<&str> = known.iter().map(|(_, name)| name.as_str()).collect();
        names.dedup();
        return Err(Error::usage(
            format!("{} has no server `{}`", path.display(), target.name),
            format!("name one before `--`: {}", names.join(", ")),
        ));
    }
    Ok(named)
}

async fn check(
    target: &Target,
    path: &Path,
    file: &PinFile,
    policy: &Policy,
    observer: &dyn Observer,
) -> Result<ServerReport, Error> {
    // A digest speaks of a whole definition: there is no comparing what stands still of it.
    let whole = Policy::default();
    let compare =
        |observed: &Observed| judged(target, path, file, policy, &observed.captured.surface);
    repeat::capture_and_compare(target, None, &whole, observer, compare).await
}

fn judged(
    target: &Target,
    path: &Path,
    file: &PinFile,
    policy: &Policy,
    surface: &Surface,
) -> Result<ServerReport, Error> {
    let keys = entries(path, &file.pins, target)?;
    let mut placed = Vec::new();
    let mut notes: Vec<Note> = surface.notes.clone();
    notes.extend(crate::scan::keel::notes(surface));
    notes.extend(target.notes(None));
    compare(target, &file.pins, &keys, surface, &mut placed, &mut notes).map_err(|error| {
        Error::usage(
            format!("{}: {error}", path.display()),
            "the convention of this file has no digest for such a tool",
        )
    })?;
    let (changes, places): (Vec<_>, Vec<String>) = placed.into_iter().unzip();
    let status = if changes.is_empty() {
        Status::Clean
    } else {
        Status::Drifted
    };
    let line = |at: &str| {
        file.document
            .as_ref()
            .map_or(1, |document| document.line(at))
    };
    let judged = policy.judge(&target.name, changes, today());
    Ok(ServerReport {
        name: target.name.clone(),
        status,
        changes: judged
            .into_iter()
            .zip(&places)
            .map(|(judged, at)| Located {
                judged,
                location: Some(Place {
                    path: path.to_owned(),
                    line: line(at),
                }),
                source: None,
            })
            .collect(),
        findings: notes
            .into_iter()
            .map(|note| finding(policy, note))
            .collect::<Vec<Finding>>(),
        // Pins say nothing of versions that could be held against the drift.
        version: check_version(None, surface.server_version(), None),
        cost: Cost {
            baseline: 0,
            current: Cost::tokens(surface),
        },
        components: surface.components.len(),
        accept_with: target.pin_command.clone(),
    })
}

fn compare(
    target: &Target,
    pins: &Foreign,
    keys: &[String],
    surface: &Surface,
    placed: &mut Vec<Placed>,
    notes: &mut Vec<Note>,
) -> Result<(), PinError> {
    match pins {
        Foreign::FastMcp(manifest) => placed.extend(pinned::fastmcp(manifest, surface)?),
        Foreign::Hangar(servers) => {
            let upstream = match &target.endpoint {
                Endpoint::Http(http) => Some(hangar::remote_upstream(&http.url.origin())),
                endpoint => endpoint
                    .launch()
                    .and_then(|launch| hangar::stdio_upstream(&launch.command)),
            };
            for key in keys {
                if let Some(pins) = servers.get(key) {
                    placed.extend(pinned::hangar(key, pins, surface, upstream.as_deref())?);
                }
            }
        }
        Foreign::ToolPin(lock) => {
            for (key, plan) in &lock.entries {
                let key = key.to_string_lossy();
                if !keys.iter().any(|it| it == key) {
                    continue;
                }
                placed.extend(pinned::toolpin(key, plan, surface)?);
                let subject = Subject {
                    name: plan.name.to_string_lossy(),
                    version: plan.version.to_string_lossy(),
                    description: "",
                    target: Some(&plan.target),
                    meta: None,
                };
                for issue in verify(subject, &Probe::Seen).issues {
                    notes.push(Note {
                        rule: "lock-target",
                        component: None,
                        message: format!("{key}: {} ({})", issue.message, issue.code),
                    });
                }
            }
        }
        Foreign::LockV1(lock) => {
            for (index, entry) in lock.entries().iter().enumerate() {
                if keys.contains(&index.to_string()) {
                    lock_v1::entry_integrity(entry)?;
                    placed.extend(pinned::lock_v1(index, entry, surface)?);
                }
            }
        }
    }
    // One server locked for several clients drifts once, not once a client.
    let mut seen: Vec<(String, String)> = Vec::new();
    placed.retain(|(change, _)| {
        let key = (
            change.pointer.clone(),
            format!("{:?}{}", change.component, change.message),
        );
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    Ok(())
}

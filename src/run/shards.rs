//! One run over several machines: which part checks which servers (`mcp-keel plan`, `check --shard
//! i/N`), and the parts merged again (`mcp-keel merge`).
//!
//! The same configuration and timings always give the same parts: no coordination is needed, and no
//! state outside the repository. Timings are a committed file; they determine who checks what,
//! never what is found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::plan::{Plan, Target};
use super::request::{Part, ShardRequest, TIMINGS};
use super::{Error, secrets};
use crate::canonical::reader::MAX_VALUES;
use crate::files;
use crate::git::Repository;
use crate::report::{self, Report};

/// Larger than the timings of 10,000 servers.
const MAX_TIMINGS: u64 = 1 << 20;

/// The plan of one part. The rest is still known: findings about the whole run need it.
pub(crate) fn cut(mut plan: Plan, request: &ShardRequest) -> Result<Plan, Error> {
    let Some(part) = request.part else {
        return Ok(plan);
    };
    let timings = Timings::read(request.timings.as_deref())?;
    let (names, times) = units(&plan, &timings);
    let mine: BTreeSet<String> = balanced(&names, &times, part.of)
        .swap_remove(part.index - 1)
        .into_iter()
        .collect();
    plan.order = plan.targets.iter().map(|it| it.name.clone()).collect();
    let all = std::mem::take(&mut plan.targets);
    (plan.targets, plan.others) = all
        .into_iter()
        .partition(|target| mine.contains(unit(target)));
    plan.part = Some(part);
    Ok(plan)
}

/// What is never split: the profiles of one server are compared with each other.
fn unit(target: &Target) -> &str {
    match &target.profile {
        Some(profile) => &profile.server,
        None => &target.name,
    }
}

/// The units of a plan in order, each once, and how long they take if that is known for everything
/// in them.
fn units(plan: &Plan, timings: &Timings) -> (Vec<String>, Timings) {
    let mut names: Vec<String> = Vec::new();
    let mut seconds: BTreeMap<String, Option<f64>> = BTreeMap::new();
    for target in &plan.targets {
        let unit = unit(target);
        if !names.iter().any(|it| it == unit) {
            names.push(unit.to_owned());
        }
        let sum = seconds.entry(unit.to_owned()).or_insert(Some(0.0));
        *sum = sum
            .zip(timings.seconds.get(&target.name))
            .map(|(sum, time)| sum + time);
    }
    let known = seconds
        .into_iter()
        .filter_map(|(unit, time)| Some((unit, time?)));
    let times = Timings {
        timings_version: 1,
        seconds: known.collect(),
    };
    (names, times)
}

/// The servers of each part, in the order of the plan: the longest first, each to the part with the
/// least to do so far. A server without a time counts as the median.
fn balanced(names: &[String], timings: &Timings, parts: usize) -> Vec<Vec<String>> {
    let mut known: Vec<f64> = names
        .iter()
        .filter_map(|name| timings.seconds.get(name).copied())
        .collect();
    known.sort_by(f64::total_cmp);
    let usual = known.get(known.len() / 2).copied().unwrap_or(1.0);
    let seconds = |at: &usize| timings.seconds.get(&names[*at]).copied().unwrap_or(usual);
    let mut longest_first: Vec<usize> = (0..names.len()).collect();
    longest_first.sort_by(|one, other| seconds(other).total_cmp(&seconds(one)));
    let mut load: Vec<(f64, Vec<usize>)> = vec![(0.0, Vec::new()); parts.max(1)];
    for at in longest_first {
        // The first of equals, so that everyone splits the same way.
        let least = load
            .iter_mut()
            .min_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((sum, part)) = least {
            *sum += seconds(&at);
            part.push(at);
        }
    }
    load.into_iter()
        .map(|(_, mut part)| {
            part.sort_unstable();
            part.into_iter().map(|at| names[at].clone()).collect()
        })
        .collect()
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Timings {
    timings_version: u64,
    /// By name, in tenths of a second, so that the file changes less often.
    seconds: BTreeMap<String, f64>,
}

impl Timings {
    /// Reads the named file, or the default one if it exists.
    fn read(named: Option<&Path>) -> Result<Self, Error> {
        let path = named.unwrap_or(Path::new(TIMINGS));
        match files::read_at_most(path, MAX_TIMINGS) {
            Ok(bytes) => Self::parse(path, &bytes),
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            Err(error) => Err(Error::usage(
                format!("{}: cannot read it: {error}", path.display()),
                "`mcp-keel check --record-timings FILE` writes one",
            )),
        }
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let wrong = |problem: String| {
            Error::usage(
                format!("{}: {problem}", path.display()),
                "delete it, or write a new one with `mcp-keel check --record-timings FILE`",
            )
        };
        let timings: Self =
            serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if timings.timings_version != 1 {
            return Err(wrong(format!(
                "`timingsVersion` is {}, but this mcp-keel supports 1",
                timings.timings_version
            )));
        }
        let strange = timings.seconds.iter().find(|it| *it.1 < 0.0);
        match strange {
            Some((name, _)) => Err(wrong(format!("`{name}` has a negative time"))),
            None => Ok(timings),
        }
    }
}

/// Records how long servers took. Those that were not in this run keep their entries.
pub(crate) fn record(path: &Path, took: &[(String, Duration)]) -> Result<(), Error> {
    let mut timings = if path.exists() {
        Timings::read(Some(path))?
    } else {
        Timings::default()
    };
    timings.timings_version = 1;
    for (name, time) in took {
        let tenths = (time.as_secs_f64() * 10.0).round().max(1.0);
        timings.seconds.insert(name.clone(), tenths / 10.0);
    }
    let text = serde_json::to_string_pretty(&timings).unwrap_or_default() + "\n";
    secrets::write_file(path, &text)
}

/// A part of a run, as listed by `mcp-keel plan`.
pub(crate) struct PlannedPart {
    pub(crate) part: Part,
    /// The names of its servers, in the order of the plan.
    pub(crate) servers: Vec<String>,
    /// How long it takes, if known for all its servers.
    pub(crate) seconds: Option<f64>,
}

/// The non-empty parts of a plan, split into this many.
pub(crate) fn planned_parts(
    plan: &Plan,
    parts: u16,
    timings: Option<&Path>,
) -> Result<Vec<PlannedPart>, Error> {
    let (names, timings) = units(plan, &Timings::read(timings)?);
    let of = usize::from(parts);
    let seconds = |names: &[String]| -> Option<f64> {
        let known = names.iter().map(|name| timings.seconds.get(name).copied());
        let sum: f64 = known.collect::<Option<Vec<f64>>>()?.iter().sum();
        Some((sum * 10.0).round() / 10.0)
    };
    Ok(balanced(&names, &timings, of)
        .into_iter()
        .enumerate()
        // A part without servers needs no job.
        .filter(|(_, servers)| !servers.is_empty())
        .map(|(at, servers)| PlannedPart {
            part: Part { index: at + 1, of },
            seconds: seconds(&servers),
            servers,
        })
        .collect())
}

/// Merges the reports in these files and folders.
pub(crate) fn merged(paths: &[PathBuf]) -> Result<Report, Error> {
    joined(read(paths)?)
}

pub(super) fn joined(reports: Vec<(String, Report)>) -> Result<Report, Error> {
    report::merge(reports).map_err(|error| Error::usage(error.to_string(), error.help()))
}

/// The reports of these files and folders, by the name of the file.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<(String, Report)>, Error> {
    let mut reports = Vec::new();
    for path in paths {
        refuse_committed(path)?;
    }
    // All of them are in memory at the same time.
    let (mut bytes, mut values) = (files::MAX_BYTES, MAX_VALUES);
    for path in files(paths)? {
        let name = path.display().to_string();
        let unreadable = |problem: &str| {
            Error::usage(
                format!("{name}: cannot read it: {problem}"),
                "name the JSON reports that `mcp-keel check --report json=FILE` wrote",
            )
        };
        let text = files::read_at_most(&path, bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => {
                unreadable("with the reports before it, it is larger than 64 MiB")
            }
            _ => unreadable(&error.to_string()),
        })?;
        bytes -= text.len() as u64;
        let text = String::from_utf8(text).map_err(|_| unreadable("not UTF-8"))?;
        let report = report::from_json_within(&text, &mut values).map_err(|error| {
            Error::usage(
                format!("{name}: {error}"),
                "merge the JSON reports as `mcp-keel check` wrote them, with the same version of mcp-keel in every job",
            )
        })?;
        reports.push((name, report));
    }
    Ok(reports)
}

/// Refuses reports where the commit that is checked out decides what is read: it has something there, or a link leads there.
/// The author of the commit would be the author of the reports.
fn refuse_committed(path: &Path) -> Result<(), Error> {
    let refused = |problem: &str| {
        Error::usage(
            format!("{}: {problem}", path.display()),
            "unpack the reports outside of the repository (in a workflow, in a folder of ${{ runner.temp }}), and name that folder",
        )
    };
    let is_link = |it: &Path| it.symlink_metadata().is_ok_and(|it| it.is_symlink());
    let here = std::env::current_dir().unwrap_or_default();
    let named = files::without_dots(&here.join(path));
    let repository = Repository::around(&here);
    let root = repository
        .as_ref()
        .and_then(|it| it.root().canonicalize().ok());
    let is_root = |it: &&Path| root.is_some() && it.canonicalize().ok() == root;
    let is_inside = named.ancestors().any(|it| is_root(&it));
    let mut below = named.ancestors().take_while(|it| !is_root(it));
    if is_inside && below.any(is_link) || is_link(&named) && named.is_dir() {
        return Err(refused("a link leads there"));
    }
    let real = path.canonicalize().ok();
    let inside = real.as_deref().zip(root.as_deref());
    let Some(inside) = inside.and_then(|(real, root)| real.strip_prefix(root).ok()) else {
        return Ok(());
    };
    let inside = inside.to_string_lossy().replace('\\', "/");
    let committed = repository
        .and_then(|it| it.checked_out())
        .ok_or_else(|| refused("it is in a repository whose checked-out commit cannot be read"))?;
    if committed.decides(&inside) {
        return Err(refused("it belongs to the commit that is checked out"));
    }
    Ok(())
}

/// Files as named; for a folder, every JSON file below it, by name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.map_err(|error| {
            Error::usage(
                format!("{}: cannot read the folder: {error}", path.display()),
                "check the path and its permissions",
            )
        })?;
        // A link may lead anywhere, back here included.
        let entries = entries
            .into_iter()
            .filter(|entry| entry.file_type().is_ok_and(|it| !it.is_symlink()));
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.retain(|it| it.is_dir() || it.extension().is_some_and(|it| it == "json"));
        entries.sort();
        found.extend(files(&entries)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings(of: &[(&str, f64)]) -> Timings {
        Timings {
            timings_version: 1,
            seconds: of.iter().map(|it| (it.0.to_owned(), it.1)).collect(),
        }
    }

    #[test]
    fn parts_take_equally_long_and_keep_the_order_of_the_plan() {
        let names: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        let times = timings(&[("a", 1.0), ("b", 9.0), ("c", 4.0), ("d", 4.0)]);
        // `e` counts as 4.
        let parts = balanced(&names, &times, 2);
        assert_eq!(parts, [vec!["a", "b"], vec!["c", "d", "e"]]);
    }

    #[test]
    fn without_timings_parts_have_equally_many_servers() {
        let names: Vec<String> = (0..7).map(|it| format!("s{it}")).collect();
        let parts = balanced(&names, &Timings::default(), 3);
        let sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 2, 2]);
    }
}

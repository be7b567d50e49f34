//! The contract through git: revisions of the baseline, what changed between them, and merging two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Error;
use super::judge_server::SurfacePair;
use super::plan::{config, pattern, today};
use super::request::ServerRequest;
use crate::baseline::{Manifest, Pinned, merge_entries, store};
use crate::drift::{self, Change, text_diff as diffs};
use crate::git::{self, Repository};
use crate::policy::{Enforcement, Policy};
use crate::report::{Comparison, Report};

/// The most of a baseline, and of a list of commits, that is read from git.
const MOST: u64 = 64 << 20;

/// The most commits that are looked at.
const COMMITS: usize = 5_000;

/// The name of what is not released yet.
pub(crate) const UNRELEASED: &str = "Unreleased";

/// One commit that touched the baseline.
pub(crate) struct Revision {
    pub(crate) commit: String,
    pub(crate) date: String,
    pub(crate) subject: String,
    /// Its tags.
    pub(crate) tags: Vec<String>,
    /// What the commit changed, by server.
    pub(crate) changes: Vec<(String, Change)>,
    /// Versions of servers that changed: name, before, after.
    pub(crate) versions: Vec<(String, Option<String>, Option<String>)>,
}

fn no_git(problem: String) -> Error {
    Error::usage(
        problem,
        "put git into a folder of the PATH that only you can write",
    )
}

/// Where the baseline is in the repository.
pub(crate) struct Place {
    repository: Repository,
    /// Relative to the root of the repository, with `/`.
    path: String,
}

impl Place {
    /// The place of the baseline that the configuration names.
    pub(crate) fn find(
        baseline: Option<PathBuf>,
        config_path: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let request = ServerRequest {
            baseline,
            config: config_path,
            ..ServerRequest::default()
        };
        let config = config(request.config.as_deref())?;
        let path = pattern(&request, config.as_ref());
        if store::is_split(&path) {
            return Err(Error::usage(
                format!("{} is one file per server", path.display()),
                "name one of them with --baseline FILE",
            ));
        }
        let repository = Repository::around(Path::new(".")).ok_or_else(|| {
            Error::usage(
                "this folder is not in a git repository",
                "run it where the baseline is committed",
            )
        })?;
        let here = std::env::current_dir().unwrap_or_default();
        let full = crate::files::without_dots(&here.join(&path));
        let inside = full.strip_prefix(repository.root()).map_err(|_| {
            Error::usage(
                format!("{} is outside of the repository", path.display()),
                "name the committed baseline with --baseline FILE",
            )
        })?;
        let path = inside.to_string_lossy().replace('\\', "/");
        Ok(Self { repository, path })
    }

    /// The baseline of a revision; `None` if it had none.
    fn at(&self, commit: &str) -> Result<Option<Manifest>, Error> {
        let mut git = self.git()?;
        git.args(["show", "--no-textconv", "--no-ext-diff", "--end-of-options"]);
        git.arg(format!("{commit}:{}", self.path));
        let Ok(bytes) = git::output(git, MOST) else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let shown = PathBuf::from(format!("{commit}:{}", self.path));
        Ok(Some(Manifest::parse(&shown, text)?))
    }

    /// The day of a revision.
    fn day_of(&self, revision: &str) -> Option<String> {
        let commit = self.repository.resolve(revision).ok()??;
        let mut git = self.repository.git().ok()?;
        git.args(["log", "-1", "--no-textconv", "--no-ext-diff"]);
        git.args(["--date=short", "--format=%ad"]);
        git.args(["--end-of-options", &commit]);
        let printed = git::output(git, 1024).ok()?;
        Some(String::from_utf8(printed).ok()?.trim().to_owned())
    }

    fn resolve(&self, revision: &str) -> Result<String, Error> {
        let found = self.repository.resolve(revision).map_err(no_git)?;
        found.ok_or_else(|| {
            Error::usage(
                format!("git knows no revision `{revision}`"),
                "name a tag, a branch or a commit of this clone; a shallow clone has few of them",
            )
        })
    }

    fn git(&self) -> Result<Command, Error> {
        self.repository.git().map_err(no_git)
    }

    /// The commits that touched the baseline, the newest first, each with what it changed. Baselines that cannot be
    /// read are noted, and skipped.
    pub(crate) fn log(&self, note: &mut dyn FnMut(&str)) -> Result<Vec<Revision>, Error> {
        let mut git = self.git()?;
        git.args(["log", "--no-textconv", "--no-ext-diff"]);
        git.args(["--no-color", "--date=short"]);
        git.arg(format!("--max-count={COMMITS}"));
        // Each commit is compared with the one before it, which is its parent only on this line: a merge
        // brings what its branch changed.
        git.arg("--first-parent");
        git.arg("--decorate=short");
        git.arg("--format=%H%x1f%ad%x1f%D%x1f%s%x1e");
        git.args(["--end-of-options", "HEAD", "--", &self.path]);
        let printed = git::output(git, MOST).map_err(|problem| {
            Error::usage(
                format!("git log failed: {problem}"),
                "commit the baseline first",
            )
        })?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let mut commits: Vec<(String, String, Vec<String>, String)> = Vec::new();
        for record in printed.split('\u{1e}') {
            let mut parts = record.trim_start_matches('\n').splitn(4, '\u{1f}');
            let mut next = || parts.next().unwrap_or_default().to_owned();
            let (commit, date, names, subject) = (next(), next(), next(), next());
            if !commit.is_empty() {
                let tags = names.split(", ").filter_map(|it| it.strip_prefix("tag: "));
                commits.push((commit, date, tags.map(str::to_owned).collect(), subject));
            }
        }
        let mut revisions = Vec::new();
        let mut before: Option<Manifest> = None;
        for (commit, date, tags, subject) in commits.into_iter().rev() {
            let now = match self.at(&commit) {
                Ok(now) => now,
                Err(error) => {
                    note(error.message());
                    continue;
                }
            };
            let (changes, versions) = between(before.as_ref(), now.as_ref());
            revisions.push(Revision {
                commit,
                date,
                subject,
                tags,
                changes,
                versions,
            });
            before = now;
        }
        revisions.reverse();
        Ok(revisions)
    }

    /// What changed from one revision to another (`FROM..TO`, or `FROM` for up to the working folder).
    pub(crate) fn range(&self, range: &str) -> Result<Range, Error> {
        let (from, to) = range.split_once("..").unwrap_or((range, ""));
        let old = self.at(&self.resolve(if from.is_empty() { "HEAD" } else { from })?)?;
        let new = if to.is_empty() {
            let path = self.repository.root().join(&self.path);
            store::read_for_update(&path, &[])?
        } else {
            self.at(&self.resolve(to)?)?
        };
        let (changes, versions) = between(old.as_ref(), new.as_ref());
        Ok(Range {
            date: (!to.is_empty()).then(|| self.day_of(to)).flatten(),
            to: if to.is_empty() { UNRELEASED } else { to }.to_owned(),
            changes,
            versions,
        })
    }
}

/// What changed between two revisions.
pub(crate) struct Range {
    /// The name of the newer one.
    pub(crate) to: String,
    /// Its day.
    pub(crate) date: Option<String>,
    pub(crate) changes: Vec<(String, Change)>,
    pub(crate) versions: Vec<(String, Option<String>, Option<String>)>,
}

type Versions = Vec<(String, Option<String>, Option<String>)>;

/// What changed between two manifests, by server.
pub(crate) fn between(
    old: Option<&Manifest>,
    new: Option<&Manifest>,
) -> (Vec<(String, Change)>, Versions) {
    let none = BTreeMap::new();
    let servers = |it: Option<&'_ Manifest>| -> BTreeMap<String, Pinned> {
        it.map_or(&none, Manifest::servers).clone()
    };
    let (old, new) = (servers(old), servers(new));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let (mut changes, mut versions) = (Vec::new(), Vec::new());
    for name in names {
        let (was, is) = (old.get(name), new.get(name));
        let found = match (was, is) {
            (Some(was), Some(is)) => drift::compare(&was.surface, &is.surface),
            (None, Some(is)) => {
                let mut found = vec![drift::server_not_pinned(&is.surface)];
                // Each of its components is new as well.
                let mut empty = is.surface.clone();
                empty.components.clear();
                found.extend(drift::compare(&empty, &is.surface));
                found
            }
            (Some(was), None) => vec![drift::server_removed(&was.surface)],
            (None, None) => Vec::new(),
        };
        changes.extend(found.into_iter().map(|it| (name.clone(), it)));
        let version = |it: Option<&Pinned>| it.and_then(|it| it.release.version.clone());
        if version(was) != version(is) {
            versions.push((name.clone(), version(was), version(is)));
        }
    }
    (changes, versions)
}

/// The name of the package in this folder, if it has one.
pub(crate) fn package_name() -> Option<String> {
    let bytes = crate::files::read_at_most(Path::new("package.json"), 4 << 20).ok()?;
    let manifest = crate::canonical::parse_str(&String::from_utf8(bytes).ok()?).ok()?;
    manifest.get("name")?.as_str().map(str::to_owned)
}

/// Two files as git compares texts.
pub(crate) fn text_diff(old: &Path, new: &Path) -> String {
    let text = |path: &Path| store::read_text(path).unwrap_or_default();
    let (old, new) = (text(old), text(new));
    let mut diff = String::new();
    for hunk in diffs::hunks(&old, &new, 3) {
        // An empty side is named by the line before it.
        let side = |lines: &std::ops::Range<usize>| match lines.len() {
            0 => format!("{},0", lines.start),
            1 => format!("{}", lines.start + 1),
            count => format!("{},{count}", lines.start + 1),
        };
        let _ = writeln!(diff, "@@ -{} +{} @@", side(&hunk.old), side(&hunk.new));
        for (mark, line) in hunk.lines {
            let _ = write!(diff, "{mark}{line}");
            if !line.ends_with('\n') {
                let _ = writeln!(diff, "\n\\ No newline at end of file");
            }
        }
    }
    crate::report::escape::block(&diff).into_string()
}

/// The report of a change from one baseline to another, as `diff` reports it.
pub(crate) fn report(old: Option<&Manifest>, new: Option<&Manifest>) -> Report {
    let policy = Policy {
        enforcement: Enforcement::Audit,
        ..Policy::default()
    };
    let side = |of: Option<&'_ Manifest>, name: &str| -> Option<Pinned> {
        of.and_then(|it| it.servers().get(name)).cloned()
    };
    let names: BTreeSet<&String> = [old, new]
        .into_iter()
        .flatten()
        .flat_map(|it| it.servers().keys())
        .collect();
    let count = names.len();
    let servers = names.into_iter().map(|name| {
        let (was, is) = (side(old, name), side(new, name));
        let pair = SurfacePair {
            name,
            old: was.as_ref().map(|it| (&it.surface, &it.release)),
            new: is.as_ref().map(|it| (&it.surface, &it.release)),
            manifest: None,
            accept_with: "",
            servers: count,
            notes: &[],
        };
        let mut report = pair.judge_server(&policy, today());
        report.findings.clear();
        report
    });
    Report::new(Comparison::Diff, servers.collect(), Vec::new())
}

/// A baseline for `git diff`; `None` for a file that does not exist on that side.
pub(crate) fn side(path: &Path) -> Result<Option<Manifest>, Error> {
    if path == Path::new("/dev/null") || path == Path::new("nul") {
        return Ok(None);
    }
    Ok(Some(Manifest::parse_for_update(
        path,
        store::read_text(path)?,
        &[],
    )?))
}

/// The outcome of a merge.
pub(crate) enum Merge {
    /// The text of the merged baseline.
    Done(String),
    /// Components that both sides changed differently.
    Conflict(Vec<String>),
}

/// Merges two baselines with a common ancestor: entry by entry, and within an entry component by component.
pub(crate) fn merge(ancestor: Option<&Manifest>, ours: &Manifest, theirs: &Manifest) -> Merge {
    let mut conflicts = Vec::new();
    let mut entries = BTreeMap::new();
    let value = |of: Option<&Manifest>, name: &str| of.and_then(|it| it.entry(name).cloned());
    let names: BTreeSet<&String> = ours
        .servers()
        .keys()
        .chain(theirs.servers().keys())
        .collect();
    for name in names {
        let base = value(ancestor, name);
        let (one, other) = (value(Some(ours), name), value(Some(theirs), name));
        let taken = if one == other || other == base {
            one
        } else if one == base {
            other
        } else {
            let pinned = |of: &Manifest| of.servers().get(name).cloned();
            let base = ancestor.and_then(pinned);
            match (pinned(ours), pinned(theirs)) {
                (Some(ours), Some(theirs)) => match merge_entries(base.as_ref(), &ours, &theirs) {
                    Ok(entry) => Some(entry),
                    Err(places) => {
                        let place = |it: String| format!("{name}: {it}");
                        conflicts.extend(places.into_iter().map(place));
                        None
                    }
                },
                // One side removed what the other changed.
                _ => {
                    conflicts.push(name.clone());
                    None
                }
            }
        };
        if let Some(entry) = taken {
            entries.insert(name.clone(), entry);
        }
    }
    if conflicts.is_empty() {
        Merge::Done(crate::baseline::render(&entries))
    } else {
        Merge::Conflict(conflicts)
    }
}

/// Merges files as git hands them over: the ancestor, ours (which gets the result), theirs. Returns what both sides
/// changed differently; then ours gets git's own conflict markers.
pub(crate) fn merge_files(
    ancestor: &Path,
    ours: &Path,
    theirs: &Path,
) -> Result<Vec<String>, Error> {
    // A file that was added on both sides has an empty ancestor.
    let base = side(ancestor).ok().flatten();
    let sides = (side(ours), side(theirs));
    let conflicts = match sides {
        (Ok(Some(one)), Ok(Some(other))) => match merge(base.as_ref(), &one, &other) {
            Merge::Done(text) => {
                // What is written must be a valid baseline.
                Manifest::parse(ours, text.clone())?;
                store::write(ours, &text)?;
                return Ok(Vec::new());
            }
            Merge::Conflict(conflicts) => conflicts,
        },
        (Err(error), _) | (_, Err(error)) => vec![error.message().to_owned()],
        _ => vec![ours.display().to_string()],
    };
    crate::git::merge_text(ancestor, ours, theirs);
    Ok(conflicts)
}

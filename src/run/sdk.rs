//! The likely cause of a change that most tools share: the SDK in the lockfile moved since the pin.

use std::path::{Path, PathBuf};

use super::plan::{Plan, Target};
use crate::git::{self, Repository};
use crate::release::lockfile::{self, SdkMoved};
use crate::report::{PackageVersion, ServerReport};

/// How much of a lockfile is read.
const MOST: u64 = 64 << 20;

/// Names the SDK that moved, for servers of this repository of which most tools changed alike. The lockfile is
/// compared with that of `base`, else with that of the commit that last changed the baseline.
pub(crate) fn explain(servers: &mut [ServerReport], plan: &Plan, base: Option<&str>) {
    for server in servers {
        if server.third_party || server.changed_alike().is_none() {
            continue;
        }
        let Some(target) = plan.targets.iter().find(|it| it.name == server.name) else {
            continue;
        };
        let baseline = plan.baseline_of(target);
        server.sdk = moved(target, &baseline, base).map(|it| PackageVersion {
            name: it.name.to_owned(),
            baseline: Some(it.was),
            current: Some(it.is),
        });
    }
}

fn moved(target: &Target, baseline: &Path, base: Option<&str>) -> Option<SdkMoved> {
    let folder = target.endpoint.launch()?.cwd.clone();
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    let repository = Repository::around(&folder)?;
    let here = std::env::current_dir().ok()?;
    let absolute = |path: &Path| crate::files::without_dots(&here.join(path));
    let inside = |path: &Path| {
        let inside = absolute(path);
        let inside = inside.strip_prefix(repository.root()).ok()?;
        Some(inside.to_string_lossy().replace('\\', "/"))
    };
    let commit = match base {
        Some(base) => base.to_owned(),
        None => last_change(&repository, &inside(baseline)?)?,
    };
    // The nearest one: a workspace has its lockfile at the root.
    let folder = absolute(&folder);
    let within = |it: &&Path| it.starts_with(repository.root());
    for folder in folder.ancestors().take_while(within) {
        let found = lockfile::names().filter(|it| folder.join(it).is_file());
        let found: Vec<&str> = found.collect();
        for name in &found {
            let path = folder.join(name);
            let Ok(new) = crate::files::read_to_string(&path) else {
                continue;
            };
            let old = inside(&path).and_then(|it| at(&repository, &commit, &it));
            if let Some(moved) = old.and_then(|old| lockfile::moved(name, &old, &new)) {
                return Some(moved);
            }
        }
        if !found.is_empty() {
            return None;
        }
    }
    None
}

/// The commit that last changed a file, unless it is changed since.
fn last_change(repository: &Repository, path: &str) -> Option<String> {
    let mut git = repository.git().ok()?;
    git.current_dir(repository.root());
    git.args(["log", "-1", "--no-textconv", "--no-ext-diff"]);
    git.args(["--format=%H", "--", path]);
    let printed = git::output(git, 1024).ok()?;
    let commit = String::from_utf8(printed).ok()?.trim().to_owned();
    git::is_id(&commit).then_some(commit)
}

/// A file as it was in a commit.
fn at(repository: &Repository, commit: &str, path: &str) -> Option<String> {
    let mut git = repository.git().ok()?;
    git.args(["show", "--no-textconv", "--no-ext-diff", "--end-of-options"]);
    git.arg(format!("{commit}:{path}"));
    String::from_utf8(git::output(git, MOST).ok()?).ok()
}

//! Which tools a branch touches: those whose declaration it changed since it left the default branch.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::drift::text_diff::hunks;
use crate::git::{self, Repository};
use crate::locate::{Declaration, locate};

/// The names of the default branch, the surest first.
const DEFAULT_BRANCHES: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// A decorator, a comment and the beginning of a call stand above the line that names the tool.
const LINES_ABOVE: usize = 3;

/// The branch that is checked out, if it is not the default one.
pub(crate) struct Branch {
    repository: Repository,
    /// The commit at which it left the default branch.
    base: String,
}

impl Branch {
    pub(crate) fn here() -> Option<Self> {
        let repository = Repository::around(Path::new("."))?;
        let resolve = |name: &&str| repository.resolve(name).ok()?;
        let default = DEFAULT_BRANCHES.iter().find_map(resolve)?;
        let head = repository.head().ok()??;
        if head == default {
            return None;
        }
        let mut git = repository.git().ok()?;
        git.args(["merge-base", "--end-of-options", &head, &default]);
        let printed = git::output(git, 1024).ok()?;
        let base = String::from_utf8(printed).ok()?.trim().to_owned();
        Some(Self { repository, base })
    }

    /// The tools among `changed` that are declared where this branch changed nothing. A tool whose declaration is not known may
    /// have been touched.
    pub(crate) fn not_touched(
        &self,
        changed: &BTreeSet<&str>,
        all: &BTreeSet<&str>,
    ) -> BTreeMap<String, Declaration> {
        let mut declared = locate(Path::new("."), all);
        let mut lines: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
        for declaration in declared.values() {
            let of_file = lines.entry(declaration.path.clone()).or_default();
            of_file.push(declaration.line);
        }
        let mut known: BTreeMap<PathBuf, Option<Vec<Range<usize>>>> = BTreeMap::new();
        declared.retain(|name, declaration| {
            if !changed.contains(name.as_str()) {
                return false;
            }
            let path = &declaration.path;
            let ranges = known
                .entry(path.clone())
                .or_insert_with(|| self.changed_lines(path));
            let of_file = lines.get(path).into_iter().flatten().copied();
            let next = of_file.filter(|line| *line > declaration.line).min();
            let block = declaration.line.saturating_sub(LINES_ABOVE)..next.unwrap_or(usize::MAX);
            let is_inside =
                |range: &Range<usize>| range.start < block.end && block.start <= range.end;
            // A file that cannot be compared may have changed anywhere.
            ranges
                .as_ref()
                .is_some_and(|ranges| !ranges.iter().any(is_inside))
        });
        declared
    }

    /// The lines of a file that this branch changed, counted from one; `None` if it cannot be read now, or is new.
    fn changed_lines(&self, path: &Path) -> Option<Vec<Range<usize>>> {
        let here = std::env::current_dir().ok()?;
        let full = crate::files::without_dots(&here.join(path));
        let inside = full.strip_prefix(self.repository.root()).ok()?;
        let inside = inside.to_string_lossy().replace('\\', "/");
        let mut git = self.repository.git().ok()?;
        git.args(["cat-file", "blob"]).arg(format!("{}:{inside}", self.base));
        let before = git::output(git, crate::files::MAX_BYTES).ok()?;
        let before = String::from_utf8(before).ok()?;
        let now = crate::files::read_to_string(&full).ok()?;
        let hunks = hunks(&before, &now, 0).into_iter();
        let ranges = hunks.map(|hunk| hunk.new.start + 1..hunk.new.end.max(hunk.new.start + 1));
        Some(ranges.collect())
    }
}

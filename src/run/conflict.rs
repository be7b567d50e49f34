//! A baseline in which git left merge conflicts: both sides are in git's index.

use std::path::{Path, PathBuf};

use super::Error;
use crate::baseline::{BaselineError, Joined, Manifest, Sides, conflict_marker, render, store};
use crate::git::{self, Repository};
use crate::surface::Surface;

/// A baseline with merge conflicts, and what it will be.
pub(crate) struct Conflicted {
    /// The bytes of the file, with git's markers.
    text: String,
    pub(crate) joined: Joined,
    /// Both sides in one. What is open is provisional.
    pub(crate) manifest: Manifest,
}

impl Conflicted {
    /// `None` if the file has no conflict, or git does not know the sides.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let text = match store::read_text(path) {
            Err(BaselineError::Missing { .. }) => return Ok(None),
            text => text?,
        };
        if conflict_marker(&text).is_none() {
            return Ok(None);
        }
        let Some(sides) = sides(path)? else {
            return Ok(None);
        };
        let joined = sides.joined();
        let manifest = Manifest::parse(path, render(&joined.entries))?;
        Ok(Some(Self {
            text,
            joined,
            manifest,
        }))
    }

    /// What both sides changed differently and no capture decides. `seen` are the surfaces of captured servers.
    pub(crate) fn open<'a>(&'a self, seen: impl Fn(&str) -> Option<&'a Surface>) -> Vec<String> {
        let open = self.joined.open.iter();
        let open = open.filter(|(server, part)| {
            !seen(server).is_some_and(|surface| part.is_in(surface))
        });
        open.map(|(server, part)| format!("{part} of {server}"))
            .collect()
    }

    /// What was taken from one side, without what was captured anyway.
    pub(crate) fn taken<'a>(&'a self, seen: impl Fn(&str) -> Option<&'a Surface>) -> Vec<String> {
        let taken = self.joined.taken.iter();
        let taken = taken.filter(|(server, part, _)| {
            !seen(server).is_some_and(|surface| part.is_in(surface))
        });
        taken
            .map(|(server, part, side)| format!("{part} of {server} is from {side}"))
            .collect()
    }

    pub(crate) fn write(
        &self,
        path: &Path,
        new: std::collections::BTreeMap<String, crate::canonical::Json>,
    ) -> Result<bool, BaselineError> {
        let mut entries = self.joined.entries.clone();
        entries.extend(new);
        store::resolve(path, &self.text, &entries)
    }
}

/// Both sides of an unfinished merge, from git's index.
fn sides(path: &Path) -> Result<Option<Sides>, Error> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let Some(repository) = Repository::around(folder.unwrap_or(Path::new("."))) else {
        return Ok(None);
    };
    let here = std::env::current_dir().unwrap_or_default();
    let full = crate::files::without_dots(&here.join(path));
    let Ok(inside) = full.strip_prefix(repository.root()) else {
        return Ok(None);
    };
    let inside = inside.to_string_lossy().replace('\\', "/");
    let stage = |number: u8| -> Result<Option<Manifest>, Error> {
        let Ok(mut git) = repository.git() else {
            return Ok(None);
        };
        git.args(["cat-file", "blob"]).arg(format!(":{number}:{inside}"));
        let Ok(bytes) = git::output(git, crate::files::MAX_BYTES) else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let shown = PathBuf::from(format!(":{number}:{inside}"));
        Ok(Some(Manifest::parse(&shown, text)?))
    };
    match (stage(2)?, stage(3)?) {
        (Some(ours), Some(theirs)) => Ok(Some(Sides {
            base: stage(1)?,
            ours,
            theirs,
        })),
        _ => Ok(None),
    }
}

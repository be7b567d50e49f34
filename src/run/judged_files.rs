//! The files that servers are judged by: the configuration, baselines, lists of servers. The baselines of all servers that the
//! configuration and its lists name are among them, also where only some are asked for.
//!
//! A server must not change by what it or another one is judged, now or the next time. In a sandbox it cannot write these files
//! ([`sandbox::keep`]). Without one it can: so they are read again once the servers ran, and the run is undetermined if the
//! bytes are not those that judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use super::request::{ServerRequest, TIMINGS};
use crate::config::Config;
use crate::fingerprint::Digest;
use crate::launch::sandbox;

/// The configuration and the lists of a request, existing or not.
pub(crate) fn of_request(request: &ServerRequest, config: Option<&Config>) -> Vec<PathBuf> {
    let default = PathBuf::from(crate::config::DEFAULT_PATH);
    let mut files = vec![request.config.clone().unwrap_or(default)];
    files.extend(request.from.iter().cloned());
    files.extend(config.into_iter().flat_map(|it| it.from.iter().cloned()));
    files
}

/// What the files held before a server ran.
pub(crate) struct JudgedFiles(BTreeMap<PathBuf, Option<Digest>>);

impl JudgedFiles {
    pub(crate) fn read<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        let read = |path: &PathBuf| (path.clone(), content(path));
        Self(files.into_iter().map(read).collect())
    }

    /// An error if one of them is not as it was.
    pub(crate) fn are_unchanged(&self) -> Result<(), Error> {
        let mut files = self.0.iter();
        match files.find(|(path, before)| content(path) != **before) {
            None => Ok(()),
            Some((path, _)) => Err(Error::undetermined(
                format!(
                    "{} changed while the servers ran, so nothing is known of them",
                    path.display()
                ),
                "see what changed in it (`git diff`), restore it and run this again; a server in a sandbox cannot change it (`--sandbox fs`)",
            )),
        }
    }
}

fn content(path: &Path) -> Option<Digest> {
    crate::files::read(path).ok().map(Digest::of)
}

/// Lists of clients in the working folder, and how long servers took: they start or order servers the next time.
pub(crate) fn keep(files: impl IntoIterator<Item = PathBuf>) {
    let lists = crate::detect::LISTS.iter().map(PathBuf::from);
    let timings = PathBuf::from(TIMINGS);
    sandbox::keep(files.into_iter().chain(lists).chain([timings]));
}

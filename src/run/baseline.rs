//! What servers are compared with: an mcp-keel manifest or another tool's lock. It is read and
//! verified once; `check`, `pin`, `verify`, the action and the comparison with the base branch
//! accept either.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use super::plan::{Plan, Target};
use crate::baseline::{BaselineError, Manifest, store};
use crate::fingerprint::Digest;
use crate::interop::Lock;

/// A verified baseline.
pub(crate) enum Baseline {
    /// mcp-keel's own, with definitions.
    Own(Manifest),
    /// Another tool's, mostly digests.
    Lock(LockBaseline),
}

/// Another tool's lock as a baseline.
pub(crate) struct LockBaseline {
    pub(crate) path: PathBuf,
    pub(crate) lock: Lock,
    /// Of the whole file.
    digest: Digest,
}

/// The baselines of a plan, by file.
pub(crate) type Baselines = BTreeMap<PathBuf, Baseline>;

impl Baseline {
    pub(crate) fn read(path: &Path) -> Result<Self, Unusable> {
        Self::parse(path, store::read_text(path)?)
    }

    /// Verifies the text of a baseline.
    pub(crate) fn parse(path: &Path, text: String) -> Result<Self, Unusable> {
        let bytes = text.clone().into_bytes();
        match Manifest::parse(path, text) {
            Ok(manifest) => Ok(Self::Own(manifest)),
            Err(error) => match lock(path, &bytes)? {
                Some(found) => {
                    found.lock.verify().map_err(Error::from)?;
                    Ok(Self::Lock(found))
                }
                // What looks like no tool's lock is an mcp-keel baseline with an error.
                None => Err(error.into()),
            },
        }
    }

    /// A baseline whose entries for `replacing` are about to be written: those may be invalid.
    /// `None` if the file does not exist.
    pub(crate) fn for_update(path: &Path, replacing: &[&str]) -> Result<Option<Self>, Error> {
        let text = match store::read_text(path) {
            Err(BaselineError::Missing { .. }) => return Ok(None),
            text => text?,
        };
        let bytes = text.clone().into_bytes();
        match Manifest::parse_for_update(path, text, replacing) {
            Ok(manifest) => Ok(Some(Self::Own(manifest))),
            Err(error) => match lock(path, &bytes)? {
                Some(found) => Ok(Some(Self::Lock(found))),
                None => Err(error.into()),
            },
        }
    }

    /// The manifest, if it is mcp-keel's own.
    pub(crate) fn own(&self) -> Option<&Manifest> {
        match self {
            Self::Own(manifest) => Some(manifest),
            Self::Lock(_) => None,
        }
    }

    /// Identifies its content.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Own(manifest) => manifest.identity(),
            Self::Lock(it) => it.digest.tagged(),
        }
    }

    pub(crate) fn servers(&self) -> Vec<String> {
        match self {
            Self::Own(manifest) => manifest.servers().keys().cloned().collect(),
            Self::Lock(it) => it.lock.servers(),
        }
    }

    /// The servers that should be checked because they are in it. Another tool's lock may have
    /// servers that are not for mcp-keel to check.
    pub(crate) fn servers_to_check(&self) -> Vec<&str> {
        let servers = self.own().into_iter().flat_map(|it| it.servers().keys());
        servers.map(String::as_str).collect()
    }

    /// Rejects a server that this baseline cannot be compared with.
    pub(crate) fn accepts(&self, target: &Target) -> Result<(), Error> {
        let Self::Lock(it) = self else {
            return Ok(());
        };
        whole_definitions(target, &it.path)?;
        it.lock.entries(target.asked())?;
        Ok(())
    }
}

/// Other tools' digests cover whole definitions.
pub(crate) fn whole_definitions(target: &Target, path: &Path) -> Result<(), Error> {
    match target.masks.first() {
        None => Ok(()),
        Some(mask) => Err(Error::usage(
            format!(
                "{}: the digests of this file cover whole definitions, but the mask in line {} leaves a text out",
                path.display(),
                mask.line
            ),
            "remove the mask, or pin into an mcp-keel baseline with --baseline FILE",
        )),
    }
}

fn lock(path: &Path, bytes: &[u8]) -> Result<Option<LockBaseline>, Error> {
    let lock = Lock::parse(path, bytes)?;
    Ok(lock.map(|lock| LockBaseline {
        path: path.to_owned(),
        lock,
        digest: Digest::of(bytes),
    }))
}

/// Reads and verifies every baseline of a plan before any server is started.
pub(crate) fn of_plan(plan: &Plan) -> Result<Baselines, Error> {
    match found_or_empty(plan)? {
        (baselines, None) => Ok(baselines),
        (_, Some(missing)) => Err(missing),
    }
}

/// [`of_plan`], with an empty baseline for each that does not exist, and the error that the first of them is.
pub(crate) fn found_or_empty(plan: &Plan) -> Result<(Baselines, Option<Error>), Error> {
    let mut baselines = Baselines::new();
    let mut missing = None;
    for target in plan.all_targets() {
        let path = plan.baseline_of(target);
        if baselines.contains_key(&path) {
            continue;
        }
        let baseline = match Baseline::read(&path) {
            Ok(baseline) => baseline,
            Err(Unusable::Own(error @ BaselineError::Missing { .. })) => {
                let help = format!("{}: {}", error.help(), target.pin_command);
                let error = Error::usage(error.to_string(), help);
                missing = missing.or(Some(error));
                let empty = crate::baseline::render(&BTreeMap::new());
                Baseline::parse(&path, empty).map_err(Error::from)?
            }
            Err(other) => return Err(other.into()),
        };
        baselines.insert(path, baseline);
    }
    for target in &plan.targets {
        baselines[&plan.baseline_of(target)].accepts(target)?;
    }
    Ok((baselines, missing))
}

/// Why a file is not a baseline.
pub(crate) enum Unusable {
    /// Missing, or mcp-keel's own and invalid.
    Own(BaselineError),
    /// Another tool's and invalid.
    Lock(Error),
}

impl From<BaselineError> for Unusable {
    fn from(error: BaselineError) -> Self {
        Self::Own(error)
    }
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self::Lock(error)
    }
}

impl From<Unusable> for Error {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Own(error) => error.into(),
            Unusable::Lock(error) => error,
        }
    }
}

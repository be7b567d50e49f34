//! What servers are compared with: a manifest of our own, or the lock of another tool. It is read and verified once, and
//! `check`, `pin`, `verify`, the action and the comparison with the base branch take either.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use super::plan::{Plan, Target};
use crate::baseline::{BaselineError, Manifest, Pinned, store};
use crate::fingerprint::Digest;
use crate::interop::Lock;

/// A baseline that holds.
pub(crate) enum Baseline {
    /// Ours, with definitions.
    Own(Manifest),
    /// Another tool's, mostly digests.
    Lock(LockBaseline),
}

/// The lock of another tool, as a baseline.
pub(crate) struct LockBaseline {
    pub(crate) path: PathBuf,
    pub(crate) lock: Lock,
    /// Of the whole file.
    digest: Digest,
}

/// The baselines of a plan, by file.
pub(crate) type Baselines = BTreeMap<PathBuf, Baseline>;

impl Baseline {
    /// Reads and verifies a baseline.
    pub(crate) fn read(path: &Path) -> Result<Self, Unusable> {
        Self::parse(path, store::read_text(path)?)
    }

    /// Reads and verifies a baseline; none if there is no such file.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, Error> {
        match Self::read(path) {
            Ok(baseline) => Ok(Some(baseline)),
            Err(Unusable::Own(BaselineError::Missing { .. })) => Ok(None),
            Err(unusable) => Err(unusable.into()),
        }
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
                // What looks like nobody's lock is a baseline of ours with something wrong about it.
                None => Err(error.into()),
            },
        }
    }

    /// A baseline of which the entries for `replacing` are about to be written: those need not hold. None if there is no
    /// such file.
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

    /// The manifest, if it is one of ours.
    pub(crate) fn own(&self) -> Option<&Manifest> {
        match self {
            Self::Own(manifest) => Some(manifest),
            Self::Lock(_) => None,
        }
    }

    /// What it says of a server, where it keeps definitions.
    pub(crate) fn pinned(&self, server: &str) -> Option<&Pinned> {
        self.own()?.servers().get(server)
    }

    /// What tells it from any other.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Own(manifest) => manifest.integrity().to_owned(),
            Self::Lock(it) => it.digest.tagged(),
        }
    }

    /// The servers that it names.
    pub(crate) fn servers(&self) -> Vec<String> {
        match self {
            Self::Own(manifest) => manifest.servers().keys().cloned().collect(),
            Self::Lock(it) => it.lock.servers(),
        }
    }

    /// The servers that should be checked because it holds them. A lock of another tool may hold servers that are not
    /// ours to check.
    pub(crate) fn servers_to_check(&self) -> Vec<&str> {
        let servers = self.own().into_iter().flat_map(|it| it.servers().keys());
        servers.map(String::as_str).collect()
    }

    /// Refuses a server that this baseline cannot be asked about.
    pub(crate) fn accepts(&self, target: &Target) -> Result<(), Error> {
        let Self::Lock(it) = self else {
            return Ok(());
        };
        whole_definitions(target, &it.path)?;
        it.lock.entries(target.asked())?;
        Ok(())
    }
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

fn lock(path: &Path, bytes: &[u8]) -> Result<Option<LockBaseline>, Error> {
    let lock = Lock::parse(path, bytes)?;
    Ok(lock.map(|lock| LockBaseline {
        path: path.to_owned(),
        lock,
        digest: Digest::of(bytes),
    }))
}

/// Every baseline of a plan is read, and must hold, before any server is started.
pub(crate) fn of_plan(plan: &Plan) -> Result<Baselines, Error> {
    let mut baselines = Baselines::new();
    for target in plan.everybody() {
        let path = plan.baseline_of(target);
        if baselines.contains_key(&path) {
            continue;
        }
        let baseline = Baseline::read(&path).map_err(|unusable| match unusable {
            Unusable::Own(error @ BaselineError::Missing { .. }) => {
                let help = format!("{}: {}", error.help(), target.pin_command);
                Error::usage(error.to_string(), help)
            }
            other => other.into(),
        })?;
        baselines.insert(path, baseline);
    }
    for target in &plan.targets {
        baselines[&plan.baseline_of(target)].accepts(target)?;
    }
    Ok(baselines)
}

/// Why a file is no baseline.
pub(crate) enum Unusable {
    /// It is not there, or it is ours and does not hold.
    Own(BaselineError),
    /// It is another tool's and does not hold.
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

//! Signs the ToolPin locks that were pinned.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Error;
use super::observer::Observer;
use super::plan::since_1970;
use crate::interop::toolpin::FILE_NAME;
use crate::interop::toolpin::signature::{self, PrivateKey};
use crate::interop::{Lock, Verification};

/// What to sign with, and where to.
#[derive(Default)]
pub(crate) struct SignRequest {
    /// The private key; without one nothing is signed.
    pub(crate) key: Option<PathBuf>,
    /// The file of the signature, if not next to the lock.
    pub(crate) signature: Option<PathBuf>,
    /// ToolPin's policy file, if not at its default path.
    pub(crate) policy: Option<PathBuf>,
}

/// The locks to pin into and the key to sign them with, read before any server is started.
pub(crate) struct Signer {
    locks: BTreeSet<PathBuf>,
    key: Option<PrivateKey>,
    request: SignRequest,
}

impl Signer {
    /// Rejects in advance what could not be signed.
    pub(crate) fn new(locks: BTreeSet<PathBuf>, request: SignRequest) -> Result<Self, Error> {
        let key = request.key.as_deref().map(PrivateKey::read).transpose()?;
        if key.is_some() {
            for path in &locks {
                if Lock::read(path)?.is_some_and(|lock| !lock.can_be_signed()) {
                    return Err(not_a_lock(&format!("{} is not one", path.display())));
                }
            }
            if locks.len() > 1 && request.signature.is_some() {
                return Err(Error::usage(
                    format!(
                        "--signature names one file, but {} locks are pinned",
                        locks.len()
                    ),
                    "omit it: each signature is then next to its lock",
                ));
            }
        }
        Ok(Self {
            locks,
            key,
            request,
        })
    }

    /// Signs every lock, unless the existing signature still covers it. Without a key: reports
    /// which signature is outdated.
    pub(crate) fn sign(&self, written: &[PathBuf], observer: &dyn Observer) -> Result<(), Error> {
        for lock in &self.locks {
            match &self.key {
                Some(key) => self.sign_one(lock, key)?,
                None if written.contains(lock) => warn(lock, observer),
                None => {}
            }
        }
        Ok(())
    }

    fn sign_one(&self, lock: &Path, key: &PrivateKey) -> Result<(), Error> {
        let file = signature::file(lock, self.request.signature.as_deref());
        let policy = self.request.policy.as_deref();
        let Some(text) = Verification::of(lock)?.sign(&file, key, policy, since_1970())? else {
            return Ok(());
        };
        crate::files::replace(&file, text.as_bytes()).map_err(|error| {
            Error::usage(
                format!("{}: cannot write it: {error}", file.display()),
                "check the path and its permissions",
            )
        })
    }
}

/// A key for a file that has no signature.
pub(crate) fn not_a_lock(why: &str) -> Error {
    Error::usage(
        format!("--sign-key signs a ToolPin lock, but {why}"),
        "pin into a lock with --format toolpin or --baseline mcp-lock.json, or omit --sign-key",
    )
}

/// Warns about a signature that covers the previous lock.
fn warn(lock: &Path, observer: &dyn Observer) {
    let file = signature::file(lock, None);
    if lock.file_name().is_some_and(|name| name == FILE_NAME) && file.exists() {
        observer.note(&format!(
            "{} no longer covers {}: sign it again with --sign-key",
            file.display(),
            lock.display()
        ));
    }
}

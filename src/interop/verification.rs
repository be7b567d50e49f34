//! A lock checked against its own digests and signature, without a server.

use std::path::Path;
use std::time::Duration;

use super::contents::Contents;
use super::lock_v1::{self, LockV1};
use super::toolpin::lock::{Integrity, LockError, ToolPinLock};
use super::toolpin::signature::{self, Covered, Envelope, PrivateKey, Schema, SignatureError};
use crate::canonical::{Json, parse};

/// What a lock states about itself, and what it should state.
#[derive(Debug)]
pub struct Verification {
    /// The form of its signature.
    pub schema: Schema,
    pub digest: String,
    pub entries: Vec<EntryIntegrity>,
    /// Other violations of the convention.
    pub violations: Vec<String>,
}

#[derive(Debug)]
pub struct EntryIntegrity {
    pub key: String,
    /// Whether the stored digest matches the contents.
    pub integrity: Integrity,
    pub computed: String,
}

/// Why a file is not a lock that can be verified without a server.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct NotALock {
    /// In the tool's words where it has any.
    pub problem: String,
    pub help: String,
}

impl Verification {
    /// Reads a lock and computes what it should state.
    pub fn of(path: &Path) -> Result<Self, NotALock> {
        let name = path.display().to_string();
        let refuse = |problem: String, help: &str| NotALock {
            problem,
            help: help.to_owned(),
        };
        let bytes = crate::files::read(path).map_err(|error| {
            refuse(format!("{name}: cannot read it: {error}"), "check the path")
        })?;
        let document = parse(&bytes).map_err(|error| {
            let problem = format!("Invalid lockfile JSON in {name}: {error}");
            refuse(problem, "restore the committed file")
        })?;
        let help = "a lock is written by ToolPin or by `mcp-keel pin --format toolpin`; restore the committed \
            file";
        let unsound = |error: LockError| refuse(error.to_string(), help);
        let invalid = || format!("Invalid lockfile schema in {name}");
        let contents = match Contents::recognise(&document, &name) {
            Some(contents) => contents.map_err(unsound)?,
            None => return Err(refuse(invalid(), help)),
        };
        match contents {
            Contents::ToolPin(lock) => Self::of_toolpin(&lock).map_err(unsound),
            Contents::LockV1(lock) => {
                let unsupported = |it: &lock_v1::Violation| it.code == "unsupported-spec-version";
                if lock.violations().iter().any(unsupported) {
                    let problem = format!("{name}: unsupported-spec-version at $.specVersion");
                    return Err(refuse(problem, "this mcp-keel reads specVersion 1"));
                }
                Self::of_draft(&lock).map_err(unsound)
            }
            other @ (Contents::FastMcp(_) | Contents::Hangar(_)) => Err(refuse(
                invalid(),
                &format!(
                    "this is {}, not a lock; `mcp-keel check --baseline` reads it",
                    other.format()
                ),
            )),
        }
    }

    /// Checks the lock's signature in a file, which may be missing, against a public key and the
    /// policy file that was signed with it.
    pub fn signature(
        &self,
        file: &Path,
        key: Option<&Path>,
        policy: Option<&Path>,
    ) -> Result<signature::Status, SignatureError> {
        signature::status(file, || self.covered(policy), key)
    }

    /// The text of a signature file for the lock, made at a time since 1970; `None` if the existing
    /// one is by this key and still covers the lock and the policy.
    pub fn sign(
        &self,
        file: &Path,
        key: &PrivateKey,
        policy: Option<&Path>,
        now: Duration,
    ) -> Result<Option<String>, SignatureError> {
        // Do not sign what would not be trusted.
        for entry in &self.entries {
            if let Some(problem) = entry.integrity.problem() {
                return Err(LockError(format!("{}: {problem}", entry.key)).into());
            }
        }
        let covered = self.covered(policy)?;
        if let Ok(before) = Envelope::read(file, self.schema)
            && before.problem(&covered, &key.public())?.is_none()
        {
            return Ok(None);
        }
        Ok(Some(Envelope::sign(&covered, key, now)?.to_text()))
    }

    fn covered(&self, policy: Option<&Path>) -> Result<Covered, SignatureError> {
        Ok(Covered {
            schema: self.schema,
            lock: self.digest.clone(),
            policy: signature::policy_digest(policy)?,
        })
    }

    fn of_toolpin(lock: &ToolPinLock) -> Result<Self, LockError> {
        let mut entries = Vec::new();
        for (key, plan) in &lock.entries {
            entries.push(EntryIntegrity {
                key: key.to_string_lossy().to_owned(),
                integrity: plan.integrity()?,
                computed: plan.computed()?,
            });
        }
        Ok(Self {
            schema: Schema::ToolPin,
            digest: lock.digest()?,
            entries,
            violations: Vec::new(),
        })
    }

    fn of_draft(lock: &LockV1) -> Result<Self, LockError> {
        let mut entries = Vec::new();
        for entry in lock.entries() {
            let text = |member: &str| entry.get(member).and_then(Json::as_str).unwrap_or_default();
            let computed = lock_v1::entry_integrity(entry)?;
            let integrity = match entry.get("integrity").and_then(Json::as_str) {
                None => Integrity::Missing,
                Some(stored) if stored == computed => Integrity::Holds,
                Some(_) => Integrity::Differs,
            };
            entries.push(EntryIntegrity {
                key: format!("{}:{}", text("name"), text("client")),
                integrity,
                computed,
            });
        }
        let violations = lock.violations();
        // These two are already in the list of entries.
        let listed = ["integrity-mismatch", "missing-field:integrity"];
        Ok(Self {
            schema: Schema::Draft,
            digest: lock.digest()?,
            entries,
            violations: violations
                .iter()
                .filter(|it| !listed.contains(&it.code.as_str()))
                .map(|it| format!("{} at {}", it.code, it.path))
                .collect(),
        })
    }
}

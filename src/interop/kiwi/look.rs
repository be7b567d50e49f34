//! Loads a chain from disk, verifies it against its stated digests and its lockfile, and validates
//! it.

use std::path::PathBuf;

use super::disk::{self, DiskError, Found};
use super::lockfile::Lockfile;
use super::{Link, Mode, Variant, validate, verify};

/// Which chain, and what to check.
#[derive(Clone, Debug)]
pub struct Asked {
    /// A chain, a lockfile, or manifests from the tool to its primitive.
    pub files: Vec<PathBuf>,
    /// How the digests were computed; `None` to detect it.
    pub variant: Option<Variant>,
    pub skip_integrity: bool,
    pub skip_validation: bool,
}

/// The result of checking a chain.
#[derive(Debug)]
pub struct Outcome {
    /// From the tool to the primitive.
    pub links: Vec<Link>,
    /// Whether every link has its stated digest.
    pub verified: bool,
    pub valid: bool,
    /// The first link that failed.
    pub failed_at: Option<usize>,
    pub issues: Vec<String>,
    pub warnings: Vec<String>,
}

/// A chain from disk, with the lockfile that pins it if that is what was named.
pub fn load(
    files: &[PathBuf],
    variant: Variant,
) -> Result<(Vec<Link>, Option<Lockfile>), DiskError> {
    let Some((first, others)) = files.split_first() else {
        return Err(DiskError::NoFile);
    };
    match disk::read(first)? {
        Found::Lock(lock) => {
            let links = match others {
                [] => disk::resolve_locked(&lock, &disk::folder_of(first), variant)?,
                manifests => disk::resolve(manifests, variant)?,
            };
            Ok((links, Some(lock)))
        }
        // The lockfile states the digests, so the links need not.
        Found::Locked(lock, links) => Ok((disk::with_digests(links, variant), Some(lock))),
        Found::Chain(links) if others.is_empty() => Ok((links, None)),
        Found::Chain(_) => Err(DiskError::WholeChain {
            path: first.clone(),
            others: others.len(),
        }),
        Found::Manifest(_) => Ok((disk::resolve(files, variant)?, None)),
    }
}

/// Checks a chain under the requested variant; else under the one that gets further, because a file
/// does not say how its digests were computed.
pub fn look(asked: &Asked, mode: Mode) -> Result<Outcome, DiskError> {
    if let Some(variant) = asked.variant {
        return look_as(asked, mode, variant);
    }
    let current = look_as(asked, mode, Variant::Current)?;
    if current.verified {
        return Ok(current);
    }
    let documented = look_as(asked, mode, Variant::Documented)?;
    let reach = |outcome: &Outcome| outcome.failed_at.unwrap_or(usize::MAX);
    Ok(
        if documented.verified || reach(&documented) > reach(&current) {
            documented
        } else {
            current
        },
    )
}

fn look_as(asked: &Asked, mode: Mode, variant: Variant) -> Result<Outcome, DiskError> {
    let (links, lock) = load(&asked.files, variant)?;
    let mut outcome = Outcome {
        verified: true,
        valid: true,
        failed_at: None,
        issues: Vec::new(),
        warnings: Vec::new(),
        links,
    };
    if !asked.skip_integrity {
        for id in lock.iter().flat_map(Lockfile::unpinned) {
            outcome.warnings.push(format!(
                "the lockfile has no integrity for '{id}': its bytes are not compared"
            ));
        }
        let verified = verify(&outcome.links, variant);
        let differences = lock
            .map(|lock| lock.differences(&outcome.links))
            .unwrap_or_default();
        for (index, problem) in verified.failure.into_iter().chain(differences) {
            outcome.verified = false;
            outcome.failed_at = Some(outcome.failed_at.map_or(index, |at| at.min(index)));
            outcome.issues.push(problem);
        }
    }
    if !asked.skip_validation {
        let validated = validate(&outcome.links, mode);
        outcome.valid = validated.ok();
        outcome.issues.extend(validated.issues);
        outcome.warnings.extend(validated.warnings);
    }
    Ok(outcome)
}

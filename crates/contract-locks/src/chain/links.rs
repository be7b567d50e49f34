//! Checks every link against its stated digest.

use super::{Link, Variant, integrity, python, short};

/// The result of verifying a chain; it stops at the first link that fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many links passed.
    pub count: usize,
    /// The link that failed, with the original's message.
    pub failure: Option<(usize, String)>,
}

impl Verified {
    pub fn ok(&self) -> bool {
        self.failure.is_none()
    }
}

/// Verifies every link.
///
/// The original caches digests that matched and skips links that claim one of them; here each is
/// computed, so that a link cannot borrow its neighbour's digest.
pub fn verify(chain: &[Link], variant: Variant) -> Verified {
    let mut verified = Verified::default();
    for (index, link) in chain.iter().enumerate() {
        if let Err(problem) = verify_link(link, variant) {
            verified.failure = Some((index, problem));
            break;
        }
        verified.count += 1;
    }
    verified
}

fn verify_link(link: &Link, variant: Variant) -> Result<(), String> {
    let id = match link.0.get("tool_id") {
        None => "unknown".to_owned(),
        found => python::text(found),
    };
    let Some(stored) = link.stored() else {
        let version = match link.0.get("version") {
            None => "unknown".to_owned(),
            found => python::text(found),
        };
        return Err(format!(
            "No integrity hash found for {id}@{version} - cannot verify integrity"
        ));
    };
    let computed = integrity(&link.0, variant)
        .map_err(|problem| format!("Failed to compute integrity for {id}: {problem}"))?;
    if computed != stored {
        return Err(format!(
            "Integrity mismatch for {id}@{}: computed={}, stored={}",
            link.version(),
            short(&computed),
            short(stored)
        ));
    }
    Ok(())
}

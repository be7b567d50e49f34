//! Named digests over declared fields.
//!
//! Every digest names its scheme, and a scheme never changes its meaning. Ours is [`keel`]; those of other tools are in
//! `interop::digest`, with the table that says of each what it covers and how.

pub mod keel;

use sha2::{Digest as _, Sha256};

use crate::canonical::jcs;
use crate::surface::Component;

/// A SHA-256 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        let halves = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        halves
            .filter_map(|half| char::from_digit(half.into(), 16))
            .collect()
    }

    /// `sha256:` and the hexadecimal digits.
    pub fn tagged(&self) -> String {
        format!("sha256:{}", self.hex())
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Why a scheme has no digest for a component. What an original refuses, we refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{component}: {reason}")]
pub struct Refusal {
    /// The component's key.
    pub component: String,
    /// What is wrong with it.
    pub reason: String,
}

/// RFC 8785 over a whole tool, as sent.
pub(crate) fn whole_tool(tool: &Component) -> Result<Digest, Refusal> {
    match jcs::to_string(&tool.definition) {
        Ok(text) => Ok(Digest::of(text)),
        Err(error) => Err(Refusal {
            component: tool.key.to_string(),
            reason: error.to_string(),
        }),
    }
}

//! Named digests over declared fields.
//!
//! Every digest names its scheme, and a scheme never changes its meaning. mcp-keel's own is
//! [`keel`]; those of other tools are in `interop::digest`, with a table of what each covers and
//! how.

pub mod keel;

use sha2::{Digest as _, Sha256};

use crate::canonical::jcs;
use crate::surface::Component;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
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

    /// The first 32 digits: an id. 128 bits, enough that no two texts with the same one are found.
    pub fn id(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(32);
        hex
    }

    /// `sha256:` and the hexadecimal digits.
    pub fn tagged(&self) -> String {
        format!("sha256:{}", self.hex())
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Why a scheme has no digest for a component. Inputs that the original tool rejects are rejected
/// here too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{component}: {reason}")]
pub struct Refusal {
    pub component: String,
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

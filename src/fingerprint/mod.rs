//! Named digests over declared fields.
//!
//! Every digest names its scheme, and a scheme never changes its meaning: `keel` is ours ([`keel`]), the others
//! reproduce what existing tools print, byte for byte, and refuse what those refuse ([`fastmcp`]).

pub mod fastmcp;
pub mod keel;

use sha2::{Digest as _, Sha256};

use crate::judgement::words;
use crate::surface::Surface;

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
        use std::fmt::Write as _;
        self.0
            .iter()
            .fold(String::with_capacity(64), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            })
    }

    /// `sha256:` and the hexadecimal digits.
    pub fn tagged(&self) -> String {
        format!("sha256:{}", self.hex())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The digest schemes that `mcp-keel fingerprint --profile` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The whole definition as sent, in our canonical form.
    Keel,
    /// FastMCP's documented recipe: `tool.key` and `inputSchema`, in Python's JSON.
    FastMcp,
}

words!(Profile { Keel = "keel", FastMcp = "fastmcp" });

/// Why a scheme has no digest for a component. What an original refuses, we refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{component}: {reason}")]
pub struct Refusal {
    /// The component's key.
    pub component: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The digest manifest of a surface: key and hexadecimal digest, in the order listed.
///
/// `fields` adds members to FastMCP's payload; `keel` covers everything already and takes none.
pub fn manifest(
    surface: &Surface,
    profile: Profile,
    fields: &[fastmcp::Field],
) -> Result<Vec<(String, String)>, Refusal> {
    match profile {
        Profile::Keel => Ok(surface
            .components
            .iter()
            .map(|component| (component.key.clone(), keel::fingerprint(component).hex()))
            .collect()),
        Profile::FastMcp => surface
            .of_kind(crate::surface::Kind::Tool)
            .map(|tool| Ok((tool.key.clone(), fastmcp::digest(tool, fields)?.hex())))
            .collect(),
    }
}

//! The digests, locks, signatures and chains that other tools keep of an MCP server's tools.

pub mod chain;
pub mod toolpin;

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

/// SHA-256 in 64 lower-case hexadecimal digits.
pub(crate) fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes.as_ref());
    let halves = digest.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    halves
        .filter_map(|half| char::from_digit(half.into(), 16))
        .collect()
}

/// `sha256-` and base64, as ToolPin writes digests of its own documents.
pub fn sri(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes.as_ref());
    let base64 = base64::engine::general_purpose::STANDARD.encode(digest);
    format!("sha256-{base64}")
}

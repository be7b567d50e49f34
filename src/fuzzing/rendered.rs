//! Every sink.

/// Later.
pub fn escape(_: &[u8]) {}

/// Later.
pub fn report(_: &[u8]) {}

//! What other tools write and compute (`src/interop`): vectors that the originals printed, and the
//! program with their files.

mod chains;
mod cli;
pub(crate) mod conventions;
mod signatures;

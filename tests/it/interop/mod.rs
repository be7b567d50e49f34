//! What other tools write and compute (`src/interop`).

mod signatures;

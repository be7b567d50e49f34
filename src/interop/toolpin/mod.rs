//! ToolPin: its canonical JSON and order, its digests, its lock (`mcp-lock.json`, version 2), the
//! detached signature of a lock, its advisory scan, and its checks of an entry's target.

pub mod digest;
pub mod scan;
pub mod signature;
pub mod targets;
pub mod write;

pub use contract_locks::toolpin::{LockError, ToolPinLock, canonical, locale, lock, policy_file};

/// ToolPin's name for its lock.
pub const FILE_NAME: &str = "mcp-lock.json";

//! ToolPin: its canonical JSON and order, its digests, its lock (`mcp-lock.json`, version 2), the
//! detached signature of a lock, its advisory scan, and its checks of an entry's target.

pub mod canonical;
pub mod digest;
pub mod locale;
pub mod lock;
pub mod policy_file;
pub mod scan;
pub mod signature;
pub mod targets;
mod trust;
pub mod write;

pub use lock::{LockError, ToolPinLock};

/// ToolPin's name for its lock.
pub const FILE_NAME: &str = "mcp-lock.json";

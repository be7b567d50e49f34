//! ToolPin: its canonical JSON and order, and its lock (`mcp-lock.json`, version 2).

pub mod canonical;
pub mod locale;
pub mod lock;
pub mod policy_file;
mod trust;

pub use lock::{LockError, ToolPinLock};

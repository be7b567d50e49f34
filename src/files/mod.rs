//! Bounded reading, atomic replacement, and configuration trees with line numbers.
//!
//! - **Reading never blocks and never fills memory** ([`read`], [`open`]): anything but a regular file is
//!   refused, and so is a file over the limit. A pull request, or a server that was just started, may have
//!   replaced a file with anything, such as a link to `/dev/zero` or a pipe without a writer.
//! - **Writing is atomic** ([`replace`]): the old file or the new one, never a mixture.
//! - **Every value of a configuration knows its line** ([`Tree`]), in TOML as in JSON.
//!
//! Everything in this crate that reads or writes a user's file goes through this room; `clippy.toml` enforces
//! it. `/proc` and the crate's own descriptors are exempt.

// The lint points here.
#![allow(clippy::disallowed_methods)]

mod replace;
mod tree;

pub use mcp_capture::files::{
    MAX_BYTES, drain, links_on_the_way, open, read, read_at_most, read_start, read_to_string,
    read_unfollowed, without_dots,
};
pub use replace::{
    Lock, append, clear, lock, remove_leftovers, replace, replace_if_different, replace_unfollowed,
};
pub use tree::{SyntaxError, Tree, Value};

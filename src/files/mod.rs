//! Files: read up to a bound, replaced whole or not at all, and read with the line of every value.
//!
//! - **Reading never waits and never fills memory** ([`read`], [`open`]): what is not a regular file is refused, what is
//!   larger than a bound is refused. A pull request, or a server that was just started, may have put anything in the
//!   place of a file, a link to `/dev/zero` or a pipe without a writer included.
//! - **Writing leaves the old file or the new one**, never a part of either ([`replace`]).
//! - **Every value of a configuration knows its line** ([`Tree`]), whether it was written in TOML or in JSON.
//!
//! Everything in this crate that reads or writes a file of a user goes through this room; `clippy.toml` keeps it so. What
//! the kernel makes up (`/proc`) and descriptors of our own are no files of a user.

// This room is what the lint points to.
#![allow(clippy::disallowed_methods)]

mod read;
mod replace;
mod tree;

pub use read::{
    MAX_BYTES, drain, open, read, read_at_most, read_start, read_to_string, read_unfollowed,
};
pub use replace::{Lock, append, lock, remove_leftovers, replace, replace_if_different};
pub use tree::{SyntaxError, Tree, Value};

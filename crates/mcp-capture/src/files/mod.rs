//! Bounded reading, and where paths lead.
//!
//! **Reading never blocks and never fills memory** ([`read`], [`open`]): anything but a regular file is refused, and so is a
//! file over the limit. A pull request, or a server that was just started, may have replaced a file with anything, such as a
//! link to `/dev/zero` or a pipe without a writer.

// The lint points here.
#![allow(clippy::disallowed_methods)]

mod links;
mod paths;
mod read;

pub use links::links_on_the_way;
pub use paths::without_dots;
pub use read::{
    MAX_BYTES, drain, open, read, read_at_most, read_start, read_to_string, read_unfollowed,
    regular,
};

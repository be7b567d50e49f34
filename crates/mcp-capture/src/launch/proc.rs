//! Lines of `/proc`.

#![allow(clippy::disallowed_methods, reason = "/proc, not files of a user")]

use std::io::Read as _;

/// The beginning of a file of `/proc`. The kernel writes such a line at once, and the relevant
/// part is at its beginning: a name has at most 64 bytes. This is read for every process of the
/// machine, so its size is not queried first.
pub(super) fn read_line(path: impl AsRef<std::path::Path>, line: &mut [u8]) -> Option<&[u8]> {
    let length = std::fs::File::open(path).ok()?.read(line).ok()?;
    Some(&line[..length])
}

/// What follows the name in a line of `stat`. The name may contain anything, including
/// parentheses and newlines.
pub(super) fn after_name(line: &[u8]) -> Option<&[u8]> {
    let end = line.iter().rposition(|byte| *byte == b')')?;
    line.get(end + 1..)
}

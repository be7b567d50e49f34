//! Re-executes this program in place: same process, same arguments, without the private half of its
//! environment.

#![allow(
    clippy::disallowed_methods,
    reason = "mcp-keel's own descriptors and /proc, not files of a user"
)]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use nix::sys::memfd::{MFdFlags, memfd_create};

/// The variable that says where the private half is: `process:descriptor`. The process id is the
/// same on both sides of a restart, so an inherited value is ignored.
pub(super) const NOTE: &str = "MCP_KEEL_HANDED_OVER";

const OURSELVES: &str = "/proc/self/exe";

/// What was handed over, if this program was restarted. Closes the descriptor.
pub(super) fn taken() -> Option<Vec<(OsString, OsString)>> {
    let note = std::env::var(NOTE).ok()?;
    let (process, descriptor) = note.split_once(':')?;
    if process.parse() != Ok(std::process::id()) {
        return None;
    }
    let mut bytes = Vec::new();
    // Opens the anonymous file anew: an inherited descriptor number cannot be owned safely.
    let read = File::open(format!("/proc/self/fd/{descriptor}"))
        .and_then(|mut file| file.read_to_end(&mut bytes));
    if let Ok(descriptor) = descriptor.parse::<i32>() {
        let _ = nix::unistd::close(descriptor);
    }
    // Whatever went wrong, do not restart a second time.
    Some(read.map(|_| unpack(&bytes)).unwrap_or_default())
}

/// Restarts this program if it has something to hide. Returns if it does not, or cannot.
pub(super) fn restart() {
    let private: Vec<(OsString, OsString)> = super::environment()
        .filter(|(name, value)| super::is_private(name, value))
        .collect();
    let mut arguments = std::env::args_os();
    let (false, Some(name)) = (private.is_empty(), arguments.next()) else {
        return;
    };
    let Some(file) = packed(&private) else {
        return;
    };
    let note = format!("{}:{}", std::process::id(), file.as_raw_fd());
    let mut command = Command::new(program());
    command.arg0(name).args(arguments).env(NOTE, note);
    for (name, _) in &private {
        command.env_remove(name);
    }
    // Returns only on failure.
    let _ = command.exec();
}

/// The path of this program: under its own name, which the system displays, if that still leads to
/// the same file.
fn program() -> PathBuf {
    let same = |path: &PathBuf| {
        let (path, ours) = (
            std::fs::metadata(path).ok()?,
            std::fs::metadata(OURSELVES).ok()?,
        );
        Some((path.dev(), path.ino()) == (ours.dev(), ours.ino()))
    };
    std::env::current_exe()
        .ok()
        .filter(|path| same(path) == Some(true))
        .unwrap_or_else(|| OURSELVES.into())
}

/// The variables in an anonymous file that survives a restart, if the restarted program will be
/// able to open it.
fn packed(variables: &[(OsString, OsString)]) -> Option<OwnedFd> {
    let file = memfd_create(c"mcp-keel", MFdFlags::empty()).ok()?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut writer = File::options().write(true).open(path).ok()?;
    writer.write_all(&pack(variables)).ok()?;
    Some(file)
}

/// Names and values cannot contain a NUL byte, so it separates them.
fn pack(variables: &[(OsString, OsString)]) -> Vec<u8> {
    let words = variables.iter().flat_map(|(name, value)| [name, value]);
    words
        .flat_map(|word| [word.as_bytes(), b"\0"].concat())
        .collect()
}

fn unpack(bytes: &[u8]) -> Vec<(OsString, OsString)> {
    let words: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let owned = |word: &[u8]| OsString::from_vec(OsStr::from_bytes(word).as_bytes().to_vec());
    words
        .chunks_exact(2)
        .map(|pair| (owned(pair[0]), owned(pair[1])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_and_unpacking_round_trips() {
        let variables: Vec<(OsString, OsString)> = vec![
            ("A_TOKEN".into(), "one\ntwo".into()),
            ("EMPTY_KEY".into(), "".into()),
            (
                OsString::from_vec(vec![0xff, b'K']),
                OsString::from_vec(vec![0xfe]),
            ),
        ];
        assert_eq!(unpack(&pack(&variables)), variables);
        assert_eq!(unpack(b""), []);
    }
}

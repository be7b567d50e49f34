//! This program once more in its own place: same process, same arguments, without the private half of its environment.

#![allow(
    clippy::disallowed_methods,
    reason = "descriptors of our own and /proc, no files of a user"
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

/// The variable that says where the other half is: `process:descriptor`. The process is ours on both sides of a restart,
/// so that a note that somebody inherited is none.
pub(super) const NOTE: &str = "MCP_KEEL_HANDED_OVER";

const OURSELVES: &str = "/proc/self/exe";

/// What was handed over, if this program was restarted. The descriptor is closed then.
pub(super) fn taken() -> Option<Vec<(OsString, OsString)>> {
    let note = std::env::var(NOTE).ok()?;
    let (process, descriptor) = note.split_once(':')?;
    if process.parse() != Ok(std::process::id()) {
        return None;
    }
    let mut bytes = Vec::new();
    // A second way to the same anonymous file: an inherited number is not ours to own.
    let read = File::open(format!("/proc/self/fd/{descriptor}"))
        .and_then(|mut file| file.read_to_end(&mut bytes));
    if let Ok(descriptor) = descriptor.parse::<i32>() {
        let _ = nix::unistd::close(descriptor);
    }
    // Restarted is restarted: whatever went wrong, it is not tried again.
    Some(read.map(|_| unpack(&bytes)).unwrap_or_default())
}

/// Restarts this program if it has something to hide. Returns if it has not, or cannot.
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
    // Comes back only if it fails.
    let _ = command.exec();
}

/// Where this program is, by its own name, as long as that still leads to the same file: the system shows the name.
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

/// The variables in an anonymous file that survives a restart, if the other side will be able to open it.
fn packed(variables: &[(OsString, OsString)]) -> Option<OwnedFd> {
    let file = memfd_create(c"mcp-keel", MFdFlags::empty()).ok()?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut writer = File::options().write(true).open(path).ok()?;
    writer.write_all(&pack(variables)).ok()?;
    Some(file)
}

/// No name and no value can hold the byte zero.
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
    fn what_is_packed_is_unpacked() {
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

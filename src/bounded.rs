//! Files of a repository, read up to a bound: a pull request, or a server that was just started, may have put anything in
//! their place, a link to `/dev/zero` or a pipe that nobody writes to included.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// More than any file that this program reads whole.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    is_file(path)?;
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        Err(ErrorKind::FileTooLarge.into())
    } else {
        Ok(bytes)
    }
}

/// Refuses what is no file: reading it could wait for ever. What somebody names below `/dev` or `/proc` is meant, such as
/// `/dev/stdin`, or `/dev/fd/63` for the output of a command.
fn is_file(path: &Path) -> Result<()> {
    let kind = std::fs::metadata(path)?.file_type();
    let is_meant = ["/dev", "/proc"].iter().any(|it| path.starts_with(it));
    if kind.is_file() || kind.is_dir() || is_meant {
        Ok(())
    } else {
        Err(Error::new(
            ErrorKind::InvalidInput,
            "it is no file, but a pipe or a device",
        ))
    }
}

/// The text of a file.
pub(crate) fn read_to_string(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

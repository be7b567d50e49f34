//! Files of a repository, read up to a bound: a pull request may have put anything in their place, a link to `/dev/zero`
//! included.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// More than any file that this program reads whole.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// The text of a file.
pub(crate) fn read_to_string(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

//! Files, replaced whole or not at all.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How the names of temporary files begin.
const TEMPORARY: &str = ".mcp-keel-";

/// Writes a file: readers see the old one or the new one, never a part of either. Its permissions stay as they are, and
/// folders on the way to it are made. A device or a pipe, such as `/dev/stdout`, is written to and never replaced.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let target = target(path);
    match std::fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return stream(&target)?.write_all(bytes),
        _ => {}
    }
    let folder = folder_of(&target);
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // A temporary file is private by default; a committed file has the mode that any editor would give it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    if let Ok(existing) = std::fs::metadata(&target) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// [`replace`], unless the file says the same already. Returns whether it was written.
pub fn replace_if_different(path: &Path, bytes: &[u8]) -> Result<bool> {
    if super::read(path).is_ok_and(|found| found == bytes) {
        return Ok(false);
    }
    replace(path, bytes)?;
    Ok(true)
}

/// Adds to the end of a file that others add to as well.
pub fn append(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = match std::fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => stream(path)?,
        _ => OpenOptions::new().create(true).append(true).open(path)?,
    };
    file.write_all(bytes)
}

/// A device or a pipe, opened for writing. A pipe without a reader is an error: opening it would wait for one.
#[cfg(unix)]
fn stream(path: &Path) -> Result<File> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = OpenOptions::new()
        .write(true)
        .custom_flags(flags.bits())
        .open(path);
    let file = opened.map_err(|error| {
        if error.raw_os_error() == Some(nix::errno::Errno::ENXIO as i32) {
            Error::new(
                ErrorKind::InvalidInput,
                "a pipe without a reader, or a socket",
            )
        } else {
            error
        }
    })?;
    // A reader may be slower than we are; that is waited for.
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

#[cfg(not(unix))]
fn stream(path: &Path) -> Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// The right to replace a file, as long as it is held. It is the folder that is locked: a file that is replaced is
/// another file afterwards, and one made for the lock would be left lying about.
#[derive(Debug)]
pub struct Lock {
    _folder: Option<File>,
}

/// How long another may take to replace a file.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// Waits until no other mcp-keel replaces files in the folder of `path`; [`ErrorKind::TimedOut`] if another one does not
/// end. A folder that cannot be locked (not there yet, a network file system, Windows) is not: replacing a file whole is
/// safe without, only what another wrote at the same time may be lost.
pub fn lock(path: &Path) -> Result<Lock> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(nix::fcntl::OFlag::O_DIRECTORY.bits());
    }
    let Ok(folder) = options.open(folder_of(&target(path))) else {
        return Ok(Lock { _folder: None });
    };
    let until = Instant::now() + LOCK_PATIENCE;
    loop {
        match folder.try_lock() {
            Ok(()) => {
                return Ok(Lock {
                    _folder: Some(folder),
                });
            }
            Err(TryLockError::Error(_)) => return Ok(Lock { _folder: None }),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => return Err(ErrorKind::TimedOut.into()),
        }
    }
}

/// Removes what runs that were killed while writing have left in the folder of `path`. Not what is an hour old or less:
/// another may be about to put it in place.
pub fn remove_leftovers(path: &Path) {
    const STALE: Duration = Duration::from_secs(3600);
    let entries = std::fs::read_dir(folder_of(&target(path)));
    for entry in entries.into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        let age = |modified: SystemTime| modified.elapsed().ok();
        let is_stale = || {
            let modified = entry.metadata().and_then(|it| it.modified());
            modified.ok().and_then(age) > Some(STALE)
        };
        if is_ours && is_stale() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A link is followed, so that the file it names is replaced and not the link.
fn target(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

//! Atomic replacement of files.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Prefix of the names of temporary files.
const TEMPORARY: &str = ".mcp-keel-";

/// Writes a file atomically: readers see the old or the new content, never a mixture. Permissions are kept
/// and missing directories created. A device or a pipe, such as `/dev/stdout`, is written to, never replaced.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let target = target(path);
    match std::fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return stream(&target)?.write_all(bytes),
        _ => {}
    }
    std::fs::create_dir_all(folder_of(&target))?;
    put(&target, bytes, std::fs::metadata(&target).ok(), None)
}

/// Writes a file in a folder of `workspace`, whole or not at all. What has its name and is no regular file (a link, a pipe, a
/// folder) is replaced and neither followed nor opened; a link among the folders that lead to it is an error. What root
/// writes, in a container for instance, belongs to the owner of the workspace, who can then remove it.
pub fn replace_unfollowed(path: &Path, bytes: &[u8], workspace: &Path) -> Result<()> {
    let workspace = workspace.canonicalize()?;
    let owner = std::fs::metadata(&workspace)?;
    let path = unlinked(path, &workspace, |folder| {
        std::fs::create_dir(folder)?;
        give(&File::open(folder)?, &owner);
        Ok(())
    })?;
    let mut found = std::fs::symlink_metadata(&path).ok();
    if found.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        remove(&path)?;
        found = None;
    }
    put(
        &path,
        bytes,
        found.filter(std::fs::Metadata::is_file),
        Some(&owner),
    )
}

/// Removes whatever is at a place in `workspace`: a file, a pipe, a link and not what it leads to, a folder with all that is in
/// it. Like [`replace_unfollowed`], it goes through no link.
pub fn clear(path: &Path, workspace: &Path) -> Result<()> {
    let missing = |_: &Path| Err(ErrorKind::NotFound.into());
    match unlinked(path, &workspace.canonicalize()?, missing).and_then(|it| remove(&it)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// A place in a workspace that no link leads to; `missing` is called for each folder on the way that does not exist.
fn unlinked(
    path: &Path,
    workspace: &Path,
    missing: impl Fn(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let path = super::without_dots(&std::env::current_dir()?.join(path));
    let outside = || Error::new(ErrorKind::PermissionDenied, "not in the workspace");
    let inside = path.strip_prefix(workspace).map_err(|_| outside())?;
    let mut folder = workspace.to_owned();
    let folders = inside.parent().into_iter().flat_map(Path::components);
    for part in folders {
        folder.push(part);
        match std::fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let message = format!("{} is a link or a file", folder.display());
                return Err(Error::new(ErrorKind::NotADirectory, message));
            }
            Err(_) => missing(&folder)?,
        }
    }
    Ok(path)
}

fn remove(path: &Path) -> Result<()> {
    if !std::fs::symlink_metadata(path)?.is_dir() {
        return std::fs::remove_file(path);
    }
    // The place of a report is no reason to remove the folder that we work in.
    if std::env::current_dir()?.starts_with(path) {
        return Err(ErrorKind::IsADirectory.into());
    }
    std::fs::remove_dir_all(path)
}

/// Gives a file to the owner of another, if we may.
fn give(file: &File, to: &std::fs::Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let _ = std::os::unix::fs::fchown(file, Some(to.uid()), Some(to.gid()));
    }
    #[cfg(not(unix))]
    let _ = (file, to);
}

/// Puts a new file in the place of whatever has its name, with the permissions of the one that was there.
fn put(
    path: &Path,
    bytes: &[u8],
    existing: Option<std::fs::Metadata>,
    owner: Option<&std::fs::Metadata>,
) -> Result<()> {
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Temporary files are private by default; a committed file gets the mode any editor would give it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    if let Some(owner) = owner {
        give(file.as_file(), owner);
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// [`replace`], unless the file already has this content. Returns whether it was written.
pub fn replace_if_different(path: &Path, bytes: &[u8]) -> Result<bool> {
    if super::read(path).is_ok_and(|found| found == bytes) {
        return Ok(false);
    }
    replace(path, bytes)?;
    Ok(true)
}

/// Appends to a file that others append to as well.
pub fn append(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = match std::fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => stream(path)?,
        _ => OpenOptions::new().create(true).append(true).open(path)?,
    };
    file.write_all(bytes)
}

/// Opens a device or a pipe for writing. A pipe without a reader is an error: opening it would block.
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
            std::io::Error::new(
                ErrorKind::InvalidInput,
                "a pipe without a reader, or a socket",
            )
        } else {
            error
        }
    })?;
    // From here on, wait for a slow reader.
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

#[cfg(not(unix))]
fn stream(path: &Path) -> Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// The right to replace a file, until dropped. The lock is on the directory: a replaced file is a new file,
/// and a separate lock file would be left behind.
#[derive(Debug)]
pub struct Lock {
    _folder: Option<File>,
}

/// How long to wait for another process to replace a file.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// Waits until no other mcp-keel replaces files in the directory of `path`; [`ErrorKind::TimedOut`] if that
/// takes too long. A directory that cannot be locked (missing, network file system, Windows) is not locked:
/// replacement is atomic without it, but a concurrent write may be lost.
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

/// Removes temporary files that killed runs left in the directory of `path`, if older than an hour: a newer
/// one may still be in use.
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

/// Follows a link, so that the file it points to is replaced and not the link.
fn target(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_report_belongs_to_the_owner_of_the_workspace() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        // Only root can give it to someone else; for others it is their own in any case.
        let _ = std::os::unix::fs::chown(folder.path(), Some(65534), Some(65533));
        let wanted = std::fs::metadata(folder.path()).unwrap();
        let path = folder.path().join("reports/a.json");
        replace_unfollowed(&path, b"{}", folder.path()).unwrap();
        for written in [path.as_path(), path.parent().unwrap()] {
            let found = std::fs::metadata(written).unwrap();
            assert_eq!((found.uid(), found.gid()), (wanted.uid(), wanted.gid()));
        }
    }
}

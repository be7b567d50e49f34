//! The baseline's files: found, read, and replaced whole or not at all.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{BaselineError, Manifest, render};
use crate::canonical::Json;

/// The file in which a server's baseline stands: `pattern` with `{server}` filled in.
pub fn path_for(pattern: &Path, server: &str) -> PathBuf {
    PathBuf::from(
        pattern
            .to_string_lossy()
            .replace("{server}", &file_name(server)),
    )
}

/// Whether there is one file a server.
pub fn is_split(pattern: &Path) -> bool {
    pattern.to_string_lossy().contains("{server}")
}

/// A server's name as part of a file name: nothing in it may leave the folder that the pattern names.
fn file_name(server: &str) -> String {
    let safe: String = server
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.@+ ".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    match safe.as_str() {
        "." | ".." => safe.replace('.', "_"),
        _ => safe,
    }
}

/// Reads and verifies a baseline.
pub fn read(path: &Path) -> Result<Manifest, BaselineError> {
    Manifest::parse(path, read_text(path)?)
}

/// Reads a baseline whose entries for `replacing` are about to be written.
pub fn read_for_update(path: &Path, replacing: &[&str]) -> Result<Option<Manifest>, BaselineError> {
    match read_text(path) {
        Err(BaselineError::Missing { .. }) => Ok(None),
        text => Manifest::parse_for_update(path, text?, replacing).map(Some),
    }
}

/// The text of a baseline, not yet looked at.
pub fn read_text(path: &Path) -> Result<String, BaselineError> {
    crate::bounded::read_to_string(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => BaselineError::Missing {
            path: path.to_owned(),
        },
        _ => BaselineError::Io {
            path: path.to_owned(),
            action: "read it",
            source,
        },
    })
}

/// Sets `entries` in the baseline at `path`, which was `before` when it was decided to. Others may have written it since:
/// what they wrote about other servers stays, and an entry that they changed under us is not overwritten. Returns
/// whether it was written.
pub fn set_servers(
    path: &Path,
    before: Option<&Manifest>,
    entries: BTreeMap<String, Json>,
) -> Result<bool, BaselineError> {
    let _lock = lock(path)?;
    let names: Vec<&str> = entries.keys().map(String::as_str).collect();
    let now = read_for_update(path, &names)?;
    for name in names {
        let entry = |manifest: Option<&Manifest>| {
            manifest.and_then(|manifest| manifest.entry_text(name).map(str::to_owned))
        };
        if entry(before) != entry(now.as_ref()) {
            return Err(BaselineError::Replaced {
                path: path.to_owned(),
                server: name.to_owned(),
            });
        }
    }
    sweep(path);
    let text = match now {
        Some(manifest) => manifest.with_servers(entries),
        None => render(&entries),
    };
    write(path, &text)
}

/// The right to replace a file, as long as it is held. It is the folder that is locked: a file that is replaced is
/// another file afterwards, and one made for the lock would be left lying about.
#[derive(Debug)]
pub struct Lock {
    _folder: Option<std::fs::File>,
}

/// Waits until no other mcp-keel replaces files in the folder of `path`. A folder that cannot be locked (not there yet,
/// a network file system, Windows) is not: replacing a file whole is safe without, only the other's entry may be lost.
pub fn lock(path: &Path) -> Result<Lock, BaselineError> {
    let target = target(path);
    let Ok(folder) = std::fs::File::open(folder_of(&target)) else {
        return Ok(Lock { _folder: None });
    };
    let until = std::time::Instant::now() + LOCK_PATIENCE;
    loop {
        match folder.try_lock() {
            Ok(()) => {
                return Ok(Lock {
                    _folder: Some(folder),
                });
            }
            Err(std::fs::TryLockError::Error(_)) => return Ok(Lock { _folder: None }),
            Err(std::fs::TryLockError::WouldBlock) if std::time::Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(BaselineError::Io {
                    path: path.to_owned(),
                    action: "write it: its folder stays locked by another program",
                    source: std::io::ErrorKind::TimedOut.into(),
                });
            }
        }
    }
}

/// How long another may take to replace a file.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// Replaces `path` by `text`: readers see the old file or the new one, never a part. A file that says the same
/// already is left alone. Returns whether it was written.
pub fn write(path: &Path, text: &str) -> Result<bool, BaselineError> {
    if crate::bounded::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(false);
    }
    replace(path, text.as_bytes()).map_err(|source| BaselineError::Io {
        path: path.to_owned(),
        action: "write it",
        source,
    })?;
    Ok(true)
}

/// How the names of temporary files begin.
const TEMPORARY: &str = ".mcp-keel-";

/// Removes what runs that were killed while writing have left in the folder of `path`. Not what is an hour old or less:
/// another may be about to put it in place.
fn sweep(path: &Path) {
    const STALE: Duration = Duration::from_secs(3600);
    let entries = std::fs::read_dir(folder_of(&target(path)));
    for entry in entries.into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        let age = |it: std::fs::Metadata| it.modified().ok()?.elapsed().ok();
        let is_stale = || entry.metadata().ok().and_then(age) > Some(STALE);
        if is_ours && is_stale() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Writes a file of any kind whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let target = target(path);
    match std::fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(std::io::ErrorKind::IsADirectory.into()),
        // A device or a pipe, such as /dev/stdout, is written to and never replaced.
        Ok(found) if !found.is_file() => {
            let mut file = std::fs::OpenOptions::new().write(true).open(&target)?;
            return file.write_all(bytes);
        }
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

//! The baseline's files: found, read, and replaced whole or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{BaselineError, Manifest};

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

fn read_text(path: &Path) -> Result<String, BaselineError> {
    std::fs::read_to_string(path).map_err(|source| match source.kind() {
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

/// Replaces `path` by `text`: readers see the old file or the new one, never a part. A file that says the same
/// already is left alone. Returns whether it was written.
pub fn write(path: &Path, text: &str) -> Result<bool, BaselineError> {
    if std::fs::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(false);
    }
    replace(path, text.as_bytes()).map_err(|source| BaselineError::Io {
        path: path.to_owned(),
        action: "write it",
        source,
    })?;
    Ok(true)
}

/// Writes a file of any kind whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // A link is followed, so that the file it names is replaced and not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mcp-keel-");
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

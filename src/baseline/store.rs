//! Finds, reads and writes baseline files, keeping other processes' entries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{BaselineError, Manifest, render};
use crate::canonical::Json;
use crate::files;

/// The file with a server's baseline: `pattern` with `{server}` filled in.
pub fn path_for(pattern: &Path, server: &str) -> PathBuf {
    PathBuf::from(
        pattern
            .to_string_lossy()
            .replace("{server}", &file_name(server)),
    )
}

/// Whether there is one file per server.
pub fn is_split(pattern: &Path) -> bool {
    pattern.to_string_lossy().contains("{server}")
}

/// A server's name as part of a file name: it must not escape the directory in the pattern.
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

/// The text of a baseline, not verified.
pub fn read_text(path: &Path) -> Result<String, BaselineError> {
    files::read_to_string(path).map_err(|source| match source.kind() {
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

/// Sets `entries` in the baseline at `path`, which was `before` when the decision was made. If
/// another process has written it since, its entries for other servers are kept, and an entry that
/// it changed is not overwritten. Returns whether the file was written.
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
    files::remove_leftovers(path);
    let text = match now {
        Some(manifest) => manifest.with_servers(entries),
        None => render(&entries),
    };
    write(path, &text)
}

/// Replaces a baseline with merge conflicts, unless it is not what it was when they were resolved.
pub fn resolve(
    path: &Path,
    before: &str,
    entries: &BTreeMap<String, Json>,
) -> Result<bool, BaselineError> {
    let _lock = lock(path)?;
    if read_text(path)? != before {
        return Err(BaselineError::Replaced {
            path: path.to_owned(),
            server: entries.keys().cloned().collect::<Vec<_>>().join(", "),
        });
    }
    write(path, &render(entries))
}

/// Removes entries of the baseline at `path`. Returns whether the file was written.
pub fn remove_servers(path: &Path, names: &[&str]) -> Result<bool, BaselineError> {
    let _lock = lock(path)?;
    let manifest = read(path)?;
    let kept = |name: &str| (!names.contains(&name)).then(|| name.to_owned());
    write(path, &manifest.rearranged(kept))
}

/// Renames an entry of the baseline at `path`. Returns whether the file was written.
pub fn rename_server(path: &Path, old: &str, new: &str) -> Result<bool, BaselineError> {
    let _lock = lock(path)?;
    let manifest = read(path)?;
    let renamed = |name: &str| Some(if name == old { new } else { name }.to_owned());
    write(path, &manifest.rearranged(renamed))
}

/// Waits until no other mcp-keel replaces files in the directory of `path` ([`files::lock`]).
pub fn lock(path: &Path) -> Result<files::Lock, BaselineError> {
    files::lock(path).map_err(|source| BaselineError::Io {
        path: path.to_owned(),
        action: "write it: another program keeps its directory locked",
        source,
    })
}

/// Replaces `path` with `text` unless it already has that content. Returns whether it was written.
pub fn write(path: &Path, text: &str) -> Result<bool, BaselineError> {
    files::replace_if_different(path, text.as_bytes()).map_err(|source| BaselineError::Io {
        path: path.to_owned(),
        action: "write it",
        source,
    })
}

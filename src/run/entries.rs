//! Entries of the baseline: listed, removed, renamed.

use std::path::{Path, PathBuf};

use super::Error;
use super::plan::{config, pattern};
use super::request::ServerRequest;
use crate::baseline::{Manifest, store};
use crate::config::suggestion;

/// The files of the baseline, each read and verified.
pub(crate) fn manifests(
    baseline: Option<PathBuf>,
    config_path: Option<PathBuf>,
) -> Result<Vec<Manifest>, Error> {
    let request = ServerRequest {
        baseline,
        config: config_path,
        ..ServerRequest::default()
    };
    let config = config(request.config.as_deref())?;
    let pattern = pattern(&request, config.as_ref());
    if !store::is_split(&pattern) {
        return Ok(vec![store::read(&pattern)?]);
    }
    let paths = files_of(&pattern);
    if paths.is_empty() {
        return Err(Error::usage(
            format!("no baseline at {}", pattern.display()),
            "create it with `mcp-keel pin`",
        ));
    }
    let read = |path: &PathBuf| store::read(path).map_err(Error::from);
    paths.iter().map(read).collect()
}

/// The files that a pattern with `{server}` in its last part matches.
fn files_of(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    let Some((before, after)) = name.split_once("{server}") else {
        return Vec::new();
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.len() > before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        })
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

/// Removes an entry. Returns the file.
pub(crate) fn remove(manifests: &[Manifest], name: &str) -> Result<PathBuf, Error> {
    let manifest = holding(manifests, name)?;
    store::remove_servers(manifest.path(), &[name])?;
    Ok(manifest.path().to_owned())
}

/// Renames an entry. Returns the file.
pub(crate) fn rename(manifests: &[Manifest], old: &str, new: &str) -> Result<PathBuf, Error> {
    let manifest = holding(manifests, old)?;
    let is_taken = manifests.iter().any(|it| it.servers().contains_key(new));
    if is_taken || new.trim().is_empty() {
        return Err(Error::usage(
            if is_taken {
                format!("the baseline has an entry `{new}` already")
            } else {
                "the new name is empty".to_owned()
            },
            "choose another name, or remove that entry first with `mcp-keel baseline remove NAME`",
        ));
    }
    store::rename_server(manifest.path(), old, new)?;
    Ok(manifest.path().to_owned())
}

fn holding<'a>(manifests: &'a [Manifest], name: &str) -> Result<&'a Manifest, Error> {
    let found = manifests.iter().find(|it| it.servers().contains_key(name));
    found.ok_or_else(|| {
        let known = manifests.iter().flat_map(|it| it.servers().keys());
        let known: Vec<&str> = known.map(String::as_str).collect();
        Error::usage(
            format!("the baseline has no entry `{name}`"),
            match suggestion(name, known.iter().copied()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("it has: {}", known.join(", ")),
            },
        )
    })
}

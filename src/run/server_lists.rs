//! `--from FILE`, and `from` in mcp-keel.toml: servers from existing client configurations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::observer::Observer;
use super::request::ServerRequest;
use super::{Error, endpoint};
use crate::config::foreign::{EnvFiles, Surroundings, read};
use crate::config::{Config, ConfigError, ServerConfig};
use crate::launch::sandbox;

/// Why a server of the plan is not started or contacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// It would get something that the base does not give it.
    Unreviewed(String),
    /// A variable or an answer is missing on this machine.
    Unset { problem: String, help: String },
    /// The request leaves it out.
    Skipped,
}

/// Servers with how they are reached, or why they are not.
pub(crate) type Named = Vec<(String, Result<ServerConfig, Withheld>)>;

/// Servers by name, or why one of them cannot be used.
pub(crate) type Known = BTreeMap<String, Result<ServerConfig, ConfigError>>;

/// Every known server: from the named files, or else from the configuration and the files that it
/// names.
pub(crate) fn known(
    request: &ServerRequest,
    config: Option<&Config>,
    observer: &dyn Observer,
) -> Result<Known, Error> {
    let mut known = Known::new();
    let mut origin: BTreeMap<String, String> = BTreeMap::new();
    let files = match (&request.from[..], config) {
        ([], None) => &[],
        ([], Some(config)) => {
            for (name, server) in &config.servers {
                known.insert(name.clone(), Ok(server.clone()));
                origin.insert(name.clone(), "the configuration".to_owned());
            }
            &config.from[..]
        }
        (named, _) => named,
    };
    let inputs = inputs(request);
    let variable = |name: &str| variable(request, name);
    let workspace = sandbox::workspace();
    for path in files {
        // A list that a configuration in the workspace names is as good as that configuration.
        let is_named_outside = !request.from.is_empty() || config.is_some_and(is_config_outside);
        let is_from_outside = is_named_outside && is_outside(path, &workspace);
        let surroundings = Surroundings {
            variable: &variable,
            withheld: &endpoint::is_withheld,
            inputs: &inputs,
            env_files: if is_from_outside {
                EnvFiles::Anywhere
            } else {
                EnvFiles::Below(&workspace)
            },
        };
        let listed = read(path, request.from_format, &surroundings)?;
        for note in &listed.notes {
            observer.note(note);
        }
        let shown = path.display().to_string();
        for (name, server) in listed.servers {
            if let Some(other) = origin.insert(name.clone(), shown.clone()) {
                return Err(Error::usage(
                    format!("`{name}` is a server of both {other} and {shown}"),
                    "rename one of them: the name is the key in the baseline",
                ));
            }
            let server = server.map(|server| ServerConfig {
                is_from_outside,
                ..server
            });
            known.insert(name, server);
        }
    }
    Ok(known)
}

/// Whether a file is outside of the workspace, wherever links lead: a pull request cannot change it.
pub(super) fn is_outside(path: &Path, workspace: &Path) -> bool {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let is_outside = |it: std::io::Result<PathBuf>| it.is_ok_and(|it| !it.starts_with(workspace));
    // A link in the workspace is the pull request's, even if it leads out, and one that leads into it is as well.
    is_outside(folder) && is_outside(path.canonicalize()) && !named_inside(path, workspace)
}

/// Whether the configuration itself is outside of the workspace.
fn is_config_outside(config: &Config) -> bool {
    is_outside(&config.written.path, &sandbox::workspace())
}

/// Whether the path itself, links not followed, is in the workspace.
fn named_inside(path: &Path, workspace: &Path) -> bool {
    let here = std::env::current_dir().unwrap_or_default();
    crate::files::without_dots(&here.join(path)).starts_with(workspace)
}

/// What the user answers in the place of prompts.
pub(super) fn inputs(request: &ServerRequest) -> BTreeMap<String, String> {
    request.inputs.iter().cloned().collect()
}

/// A variable for a list: one that is set for the server, or one of the environment.
pub(super) fn variable(request: &ServerRequest, name: &str) -> Option<String> {
    let typed = request.env.iter().rev().find(|(key, _)| key == name);
    let typed = typed.map(|(_, value)| value.clone());
    typed.or_else(|| endpoint::variable(name))
}

/// The requested servers. What is wrong with the files is reported at once; what is missing on this machine
/// concerns one server.
pub(crate) fn usable(
    asked: Vec<(String, Result<ServerConfig, ConfigError>)>,
) -> Result<Named, Error> {
    let mut servers = Vec::new();
    let mut wrong = Vec::new();
    for (name, server) in asked {
        match server {
            Ok(server) => servers.push((name, Ok(server))),
            Err(error) if error.is_unset() => {
                let why = Withheld::Unset {
                    problem: error.to_string(),
                    help: error.help(),
                };
                servers.push((name, Err(why)));
            }
            Err(error) => wrong.push(error),
        }
    }
    let Some(last) = wrong.pop() else {
        return Ok(servers);
    };
    let before: Vec<String> = wrong
        .iter()
        .map(|error| format!("{error} ({})\n", error.help()))
        .collect();
    Err(Error::usage(
        format!("{}{last}", before.concat()),
        format!("{}. To leave a server out, add --skip NAME", last.help()),
    ))
}

//! `--from FILE`, and `from` in mcp-keel.toml: servers from existing client configurations.

use std::collections::BTreeMap;

use super::observer::Observer;
use super::request::ServerRequest;
use super::{Error, endpoint};
use crate::config::foreign::{Surroundings, read};
use crate::config::{Config, ConfigError, ServerConfig};

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
    let inputs: BTreeMap<String, String> = request.inputs.iter().cloned().collect();
    let variable = |name: &str| {
        let typed = request.env.iter().rev().find(|(key, _)| key == name);
        let typed = typed.map(|(_, value)| value.clone());
        typed.or_else(|| endpoint::variable(name))
    };
    let surroundings = Surroundings {
        variable: &variable,
        inputs: &inputs,
    };
    for path in files {
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
            known.insert(name, server);
        }
    }
    Ok(known)
}

/// The requested servers. All errors are reported at once.
pub(crate) fn usable(
    asked: Vec<(String, Result<ServerConfig, ConfigError>)>,
) -> Result<Vec<(String, ServerConfig)>, Error> {
    let mut servers = Vec::new();
    let mut wrong = Vec::new();
    for (name, server) in asked {
        match server {
            Ok(server) => servers.push((name, server)),
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
        format!("{}. To skip a server, name the others", last.help()),
    ))
}

//! `--from FILE`, and `from` of mcp-keel.toml: the servers that somebody has listed already for a client.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Error, ServerArgs, output, reach, words};
use crate::config::foreign::{Format, Surroundings, read};
use crate::config::{Config, ConfigError, ServerConfig};

/// Where the list of servers is.
#[derive(Debug, clap::Args)]
pub(super) struct FromArgs {
    /// Take the servers from this file (may be repeated): .mcp.json, claude_desktop_config.json, .vscode/mcp.json,
    /// .cursor/mcp.json, mcp.json, settings of Zed, config.toml of Codex, server.json, manifest.json of a bundle
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url"])]
    pub(super) from: Vec<PathBuf>,
    /// The format of --from [default: recognised]
    #[arg(long, value_name = "FORMAT", requires = "from", value_parser = words::words::<Format>(Format::ALL, Format::word))]
    pub(super) from_format: Option<Format>,
    /// What a client would ask its user for, such as ${input:ID} (may be repeated); nobody is asked here
    #[arg(long = "input", value_name = "ID=VALUE", value_parser = input)]
    pub(super) inputs: Vec<(String, String)>,
}

fn input(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((id, value)) if !id.is_empty() => Ok((id.to_owned(), value.to_owned())),
        // The text may be a secret: clap would show it.
        _ => Err("expected ID=VALUE".to_owned()),
    }
}

/// Servers by name, or why one of them cannot be used.
pub(super) type Known = BTreeMap<String, Result<ServerConfig, ConfigError>>;

/// Every server that is known: of the files that were named, or else of the configuration and of the files that it names.
pub(super) fn known(args: &ServerArgs, config: Option<&Config>) -> Result<Known, Error> {
    let mut known = Known::new();
    let mut origin: BTreeMap<String, String> = BTreeMap::new();
    let files = match (&args.from.from[..], config) {
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
    let inputs: BTreeMap<String, String> = args.from.inputs.iter().cloned().collect();
    let variable = |name: &str| {
        let typed = args.env.iter().rev().find(|(key, _)| key == name);
        let typed = typed.map(|(_, value)| value.clone());
        typed.or_else(|| reach::variable(name))
    };
    let surroundings = Surroundings {
        variable: &variable,
        inputs: &inputs,
    };
    for path in files {
        let listed = read(path, args.from.from_format, &surroundings)?;
        for note in &listed.notes {
            output::complain(&format!("note: {}", crate::report::escape::line(note)));
        }
        let shown = path.display().to_string();
        for (name, server) in listed.servers {
            if let Some(other) = origin.insert(name.clone(), shown.clone()) {
                return Err(Error::usage(
                    format!("`{name}` is a server of {other} and of {shown}"),
                    "give one of them another name: it is the key in the baseline",
                ));
            }
            known.insert(name, server);
        }
    }
    Ok(known)
}

/// Those that were asked for. All that is wrong with any of them is told at once.
pub(super) fn usable(
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
        format!(
            "{}. Servers that are not to be checked need nothing: name the others",
            last.help()
        ),
    ))
}

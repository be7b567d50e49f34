//! Codex: `[mcp_servers.NAME]` in its `config.toml`. There are no placeholders; variables are
//! named.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fill::{Piece, Values, template};
use super::{ConfigError, File};
use crate::capture::http::HttpTransport;
use crate::config::{HttpConfig, ServerConfig};
use crate::files::{Tree, Value};

const KNOWN: &[&str] = &[
    "command",
    "args",
    "env",
    "env_vars",
    "cwd",
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "enabled",
    "oauth",
    "oauth_resource",
    "scopes",
];

/// What Codex lets a model do with the server, and how it treats its failure.
const OF_THE_CLIENT: &[&str] = &[
    "name",
    "required",
    "tool_timeout_sec",
    "enabled_tools",
    "disabled_tools",
    "tools",
    "supports_parallel_tool_calls",
    "default_tools_approval_mode",
    "experimental_environment",
];

pub(super) fn read(file: &mut File<'_>, root: &Tree, _servers: &str) -> Result<(), ConfigError> {
    let Some(servers) = root.get("mcp_servers") else {
        return Err(file.error(
            root,
            "there is no [mcp_servers.NAME]",
            "expected a table for each server, with `command` or `url`",
        ));
    };
    for (name, node) in servers.members() {
        if node.get("enabled").and_then(Tree::boolean) == Some(false) {
            file.note(name, "it is disabled, and skipped");
            continue;
        }
        file.note_unknown(name, node, &[KNOWN, OF_THE_CLIENT]);
        if node.get("oauth").or(node.get("scopes")).is_some() {
            file.note(
                name,
                "signing in is not supported: if the server requires a token, name its variable in `bearer_token_env_var`",
            );
        }
        let server = server(file, name, node);
        file.insert(name, server);
    }
    Ok(())
}

fn server(file: &File<'_>, name: &str, node: &Tree) -> Result<ServerConfig, ConfigError> {
    let mut values = Values::new();
    let mut server = match (node.get("command"), node.get("url")) {
        (Some(command), None) => {
            let mut words = vec![file.string(name, command)?.to_owned()];
            for word in file.items(name, node.get("args"))? {
                words.push(file.string(name, word)?.to_owned());
            }
            let mut env = BTreeMap::new();
            for (variable, node) in file.members(name, node.get("env"))? {
                env.insert(variable.to_owned(), file.string(name, node)?.to_owned());
            }
            let passed = file
                .items(name, node.get("env_vars"))?
                .iter()
                .map(|it| {
                    file.string(name, it.get("name").unwrap_or(it))
                        .map(str::to_owned)
                })
                .collect::<Result<_, _>>()?;
            let cwd = match node.get("cwd") {
                Some(cwd) => file.inside(file.string(name, cwd)?),
                None => file.folder.clone(),
            };
            ServerConfig {
                command: words,
                cwd: Some(cwd),
                env,
                pass_env: passed,
                ..ServerConfig::default()
            }
        }
        (None, Some(url)) => {
            let mut http = HttpConfig::of("");
            let text = file.string(name, url)?;
            http.url = template(file.pieces(name, url, text, &BTreeMap::new())?, &mut values);
            http.transport = HttpTransport::Streamable;
            for (header, node) in file.members(name, node.get("http_headers"))? {
                let text = file.string(name, node)?;
                let pieces = file.pieces(name, node, text, &BTreeMap::new())?;
                let value = template(pieces, &mut values);
                http.headers.insert(header.to_owned(), value);
            }
            for (header, node) in file.members(name, node.get("env_http_headers"))? {
                let variable = file.string(name, node)?;
                let pieces = vec![file.variable(name, node, variable, None)?];
                let value = template(pieces, &mut values);
                http.headers.insert(header.to_owned(), value);
            }
            if let Some(node) = node.get("bearer_token_env_var") {
                let variable = file.string(name, node)?;
                let token = file.variable(name, node, variable, None)?;
                let pieces = vec![Piece::Text("Bearer ".to_owned()), token];
                let value = template(pieces, &mut values);
                http.headers.insert("Authorization".to_owned(), value);
            }
            ServerConfig {
                http: Some(http),
                ..ServerConfig::default()
            }
        }
        _ => {
            return Err(file.error(
                node,
                format!("server `{name}` needs either a `command` or a `url`"),
                "expected `command = \"program\"`, or `url = \"https://...\"`",
            ));
        }
    };
    server.values = values;
    server.timeout = timeout(node);
    Ok(server)
}

fn timeout(node: &Tree) -> Option<Duration> {
    let number = |name: &str| match &node.get(name)?.value {
        Value::Number { text, .. } => text.parse::<f64>().ok(),
        _ => None,
    };
    let seconds = number("startup_timeout_sec")
        .or_else(|| number("startup_timeout_ms").map(|it| it / 1000.0))?;
    // The range that mcp-keel.toml allows.
    let seconds = seconds.clamp(1.0, 3600.0);
    Some(Duration::from_secs_f64(seconds))
}

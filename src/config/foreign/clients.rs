//! Client configuration files that name servers by `command` or `url`: Claude Code, Claude Desktop,
//! VS Code, Cursor, Zed and any other `mcp.json`.

use std::collections::BTreeMap;
use std::path::Path;

use super::fill::{Asked, Values, joined, template};
use super::{ConfigError, EnvFiles, File};
use crate::capture::http::HttpTransport;
use crate::config::{HttpConfig, ServerConfig};
use crate::files::Tree;

/// Members of a server that are supported.
const KNOWN: &[&str] = &[
    "type",
    "transport",
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "disabled",
    "enabled",
    "source",
    "settings",
    "oauth",
    "auth",
    "headersHelper",
];

/// Members that only concern the client: what it displays, and what it lets a model do.
const OF_THE_CLIENT: &[&str] = &[
    "name",
    "description",
    "title",
    "icon",
    "version",
    "gallery",
    "dev",
    "timeout",
    "trust",
    "autoApprove",
    "alwaysAllow",
    "disabledTools",
    "enabledTools",
    "includeTools",
    "excludeTools",
    "tools",
    "sandbox",
    "sandboxEnabled",
    "$schema",
];

pub(super) fn read(file: &mut File<'_>, root: &Tree, member: &str) -> Result<(), ConfigError> {
    let servers = root.get(member).filter(|it| it.is_object());
    let Some(servers) = servers else {
        return Err(file.error(
            root,
            format!("there is no `{member}`"),
            "expected an object with the servers by name",
        ));
    };
    let again = root.members().filter(|(name, _)| *name == member).nth(1);
    if let Some((_, again)) = again {
        return Err(file.error(
            again,
            format!("duplicate `{member}`"),
            "expected all servers in one object",
        ));
    }
    file.once(servers)?;
    let asked = inputs(root);
    for (name, node) in servers.members() {
        if !node.is_object() {
            let error = file.error(
                node,
                format!("server `{name}` is not an object"),
                "expected an object with `command` or `url`",
            );
            file.insert(name, Err(error));
            continue;
        }
        let off = node.get("disabled").and_then(Tree::boolean) == Some(true)
            || node.get("enabled").and_then(Tree::boolean) == Some(false);
        if off {
            file.note(name, "it is disabled, and skipped");
            continue;
        }
        file.note_unknown(name, node, &[KNOWN, OF_THE_CLIENT]);
        if node.get("oauth").or(node.get("auth")).is_some() {
            file.note(
                name,
                "signing in is not supported: if the server requires a token, pass it in `headers`",
            );
        }
        let server = server(file, name, node, &asked);
        file.insert(name, server);
    }
    Ok(())
}

/// The inputs that VS Code asks its user for.
fn inputs(root: &Tree) -> BTreeMap<String, Asked> {
    let inputs = root.get("inputs").map(Tree::items).unwrap_or_default();
    inputs
        .iter()
        .filter_map(|input| {
            let asked = Asked {
                default: input.get("default").and_then(Tree::scalar),
                secret: input.get("password").and_then(Tree::boolean) == Some(true),
                optional: false,
            };
            Some((input.get("id")?.text()?.to_owned(), asked))
        })
        .collect()
}

fn server(
    file: &File<'_>,
    name: &str,
    node: &Tree,
    asked: &BTreeMap<String, Asked>,
) -> Result<ServerConfig, ConfigError> {
    let url = node
        .get("url")
        .or(node.get("serverUrl"))
        .or(node.get("httpUrl"));
    file.once(node)?;
    let mut values = Values::new();
    let server = match (command(node), url) {
        (Some(_), Some(url)) => {
            return Err(file.error(
                url,
                format!("server `{name}` has a `command` and a `url`"),
                "expected one of them",
            ));
        }
        (Some((command, args)), None) => {
            let mut read = |node: &Tree| -> Result<String, ConfigError> {
                let text = file.string(name, node)?;
                let pieces = file.pieces(name, node, text, asked)?;
                Ok(joined(pieces, &mut values))
            };
            let mut words = vec![read(command)?];
            for word in file.items(name, args)? {
                words.push(read(word)?);
            }
            let cwd = match node.get("cwd") {
                Some(cwd) => file.inside(&read(cwd)?),
                None => file.folder.clone(),
            };
            let mut env = BTreeMap::new();
            if let Some(node) = node.get("envFile") {
                env.extend(file.env_file(name, node, &read(node)?)?);
            }
            env.extend(variables(file, name, node, asked, &mut values)?);
            ServerConfig {
                command: words,
                cwd: Some(cwd),
                env,
                ..ServerConfig::default()
            }
        }
        (None, Some(url)) => {
            let mut http = HttpConfig::of("");
            let text = file.string(name, url)?;
            http.url = template(file.pieces(name, url, text, asked)?, &mut values);
            for (header, node) in file.members(name, node.get("headers"))? {
                let text = file.string(name, node)?;
                let pieces = file.pieces(name, node, text, asked)?;
                let value = template(pieces, &mut values);
                http.headers.insert(header.to_owned(), value);
            }
            http.transport = transport(file, name, node)?;
            ServerConfig {
                http: Some(http),
                ..ServerConfig::default()
            }
        }
        (None, None) => {
            return Err(file.error(
                node,
                format!("server `{name}` has neither `command` nor `url`"),
                "expected one of them; a server that an editor extension starts cannot be reached from here",
            ));
        }
    };
    Ok(ServerConfig { values, ..server })
}

/// The program and its arguments. Zed once had both in an object.
fn command(node: &Tree) -> Option<(&Tree, Option<&Tree>)> {
    let command = node.get("command")?;
    match command.get("path") {
        Some(path) => Some((path, command.get("args"))),
        None => Some((command, node.get("args"))),
    }
}

fn variables(
    file: &File<'_>,
    name: &str,
    node: &Tree,
    asked: &BTreeMap<String, Asked>,
    values: &mut Values,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let of_command = node.get("command").and_then(|it| it.get("env"));
    let mut env = BTreeMap::new();
    let mut all = file.members(name, of_command)?;
    all.extend(file.members(name, node.get("env"))?);
    for (variable, node) in all {
        let text = match node.scalar() {
            Some(text) => text,
            // VS Code removes a variable with null; here a server starts without variables anyway.
            None if node.is_other() => continue,
            None => file.string(name, node)?.to_owned(),
        };
        let pieces = file.pieces(name, node, &text, asked)?;
        env.insert(variable.to_owned(), joined(pieces, values));
    }
    Ok(env)
}

/// Whether a file is below a folder, wherever links lead. A file that is not there is refused when it is read.
fn is_below(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.canonicalize(), folder.canonicalize());
    match (path, folder) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        (Err(_), _) => true,
        _ => false,
    }
}

fn transport(file: &File<'_>, name: &str, node: &Tree) -> Result<HttpTransport, ConfigError> {
    let Some(word) = node.get("type").or(node.get("transport")) else {
        return Ok(HttpTransport::Auto);
    };
    match file.string(name, word)? {
        "http" | "streamable-http" | "streamableHttp" | "streamable_http" => {
            // VS Code and others fall back to SSE automatically.
            Ok(HttpTransport::Auto)
        }
        "sse" => Ok(HttpTransport::Sse),
        other => Err(file.error(
            word,
            format!("server `{name}`: the type `{other}` is not supported"),
            "expected \"stdio\" with a command, \"http\" or \"sse\"",
        )),
    }
}

impl File<'_> {
    pub(super) fn string<'n>(&self, server: &str, node: &'n Tree) -> Result<&'n str, ConfigError> {
        node.text().ok_or_else(|| {
            self.error(
                node,
                format!("server `{server}`: this is not a string"),
                "expected a string in quotation marks",
            )
        })
    }

    /// The variables of an `envFile`: `NAME=VALUE` per line, `#` starts a comment, quotation marks
    /// around a value are stripped.
    fn env_file(
        &self,
        server: &str,
        node: &Tree,
        path: &str,
    ) -> Result<BTreeMap<String, String>, ConfigError> {
        let path = self.inside(path);
        match self.surroundings.env_files {
            EnvFiles::NotRead => return Ok(BTreeMap::new()),
            EnvFiles::Below(folder) if !is_below(&path, folder) => {
                return Err(self.error(
                    node,
                    format!(
                        "server `{server}`: the envFile {} is outside of the workspace",
                        path.display()
                    ),
                    "move it into the repository, or set the variables with --env NAME=VALUE and remove `envFile`",
                ));
            }
            _ => {}
        }
        let text = crate::files::read_to_string(&path).map_err(|error| {
            self.error(
                node,
                format!("server `{server}`: cannot read {}: {error}", path.display()),
                "create the file, or set the variables with --env NAME=VALUE and remove `envFile`",
            )
        })?;
        let mut variables = BTreeMap::new();
        for line in text.lines().map(str::trim) {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#'))
            else {
                continue;
            };
            let value = value.trim();
            let quoted = ['"', '\''].iter().find_map(|mark| {
                let inner = value.strip_prefix(*mark)?;
                inner.strip_suffix(*mark)
            });
            variables.insert(name.trim().to_owned(), quoted.unwrap_or(value).to_owned());
        }
        Ok(variables)
    }
}

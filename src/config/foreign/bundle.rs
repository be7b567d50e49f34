//! `manifest.json` of a bundle (MCPB, once DXT), beside the unpacked files.

use std::collections::BTreeMap;

use super::fill::{Asked, Piece, Values, input_use, joined};
use super::{ConfigError, File};
use crate::config::ServerConfig;
use crate::files::{Tree, Value};

pub(super) fn read(file: &mut File<'_>, root: &Tree, _servers: &str) -> Result<(), ConfigError> {
    let name = root.get("name").and_then(Tree::text);
    let Some(name) = name else {
        return Err(file.error(root, "the bundle has no `name`", "expected a text"));
    };
    let server = server(file, name, root);
    file.insert(name, server);
    Ok(())
}

fn server(file: &File<'_>, name: &str, root: &Tree) -> Result<ServerConfig, ConfigError> {
    let config = root.get("server").and_then(|it| it.get("mcp_config"));
    let Some(config) = config else {
        return Err(file.error(
            root.get("server").unwrap_or(root),
            "the bundle does not declare how to start its server",
            "expected `server.mcp_config` with a `command`",
        ));
    };
    let platform = match std::env::consts::OS {
        "windows" => "win32",
        "macos" => "darwin",
        other => other,
    };
    let override_of = config
        .get("platform_overrides")
        .and_then(|it| it.get(platform));
    let of = |member: &str| {
        override_of
            .and_then(|it| it.get(member))
            .or(config.get(member))
    };
    let asked = questions(root);
    let mut values = Values::new();
    let Some(command) = of("command") else {
        return Err(file.error(
            config,
            "the bundle does not declare a command for its server",
            "expected `server.mcp_config.command`",
        ));
    };
    let text = file.string(name, command)?;
    let mut words = vec![joined(
        file.pieces(name, command, text, &asked)?,
        &mut values,
    )];
    for node in file.items(name, of("args"))? {
        let text = file.string(name, node)?;
        match several(file, root, text) {
            Some(all) => words.extend(all),
            None => {
                let pieces = file.pieces(name, node, text, &asked)?;
                if !left_out(&pieces, text) {
                    words.push(joined(pieces, &mut values));
                }
            }
        }
    }
    // Both apply; the platform's win.
    let mut env = BTreeMap::new();
    let mut all = file.members(name, config.get("env"))?;
    all.extend(file.members(name, override_of.and_then(|it| it.get("env")))?);
    for (variable, node) in all {
        let text = file.string(name, node)?;
        let pieces = file.pieces(name, node, text, &asked)?;
        if !left_out(&pieces, text) {
            env.insert(variable.to_owned(), joined(pieces, &mut values));
        }
    }
    Ok(ServerConfig {
        command: words,
        cwd: Some(file.folder.clone()),
        env,
        values,
        ..ServerConfig::default()
    })
}

/// The inputs that the bundle asks its user for.
fn questions(root: &Tree) -> BTreeMap<String, Asked> {
    let questions = root.get("user_config").into_iter().flat_map(Tree::members);
    questions
        .map(|(key, node)| {
            let asked = Asked {
                default: node.get("default").and_then(Tree::scalar),
                secret: node.get("sensitive").and_then(Tree::boolean) == Some(true),
                optional: node.get("required").and_then(Tree::boolean) != Some(true),
            };
            (key.to_owned(), asked)
        })
        .collect()
}

/// Whether a text is a single input that the user left empty.
fn left_out(pieces: &[Piece], text: &str) -> bool {
    let is_answer = text.starts_with("${user_config.") && text.find('}') == Some(text.len() - 1);
    let is_empty = |it: &Piece| matches!(it, Piece::Text(text) if text.is_empty());
    is_answer && pieces.iter().all(is_empty)
}

/// An argument with multiple values becomes several arguments: one per line of the given value, or
/// the default.
fn several(file: &File<'_>, root: &Tree, text: &str) -> Option<Vec<String>> {
    let key = text.strip_prefix("${user_config.")?.strip_suffix('}')?;
    let question = root.get("user_config")?.get(key)?;
    if question.get("multiple").and_then(Tree::boolean) != Some(true) {
        return None;
    }
    if let Some(given) = file.surroundings.inputs.get(key) {
        file.uses(&input_use(key));
        return Some(given.lines().map(str::to_owned).collect());
    }
    let default = question.get("default")?;
    let Value::Array(items) = &default.value else {
        return None;
    };
    let no_asked = BTreeMap::new();
    let mut values = Values::new();
    items
        .iter()
        .map(|it| {
            let pieces = file.pieces("", it, it.text()?, &no_asked).ok()?;
            Some(joined(pieces, &mut values))
        })
        .collect()
}

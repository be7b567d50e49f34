//! The server whose list `--capture` gives: which one of the configuration it is, and under which name it is compared.

use std::path::Path;

use super::observer::Observer;
use super::request::{ServerRequest, UNNAMED};
use super::server_lists::Withheld;
use super::{Error, server_lists};
use crate::baseline::{Manifest, store};
use crate::config::{Config, ServerConfig};
use crate::source::Surfaces;
use crate::surface::Surface;

/// The surface of a server among the sources: that of its name, or the only one.
pub(super) fn of<'a>(sources: &'a Surfaces, name: &str) -> Option<&'a Surface> {
    sources.get(name).or_else(|| match sources.len() {
        1 => sources.values().next(),
        _ => None,
    })
}

/// The server that is given, with its configuration if it has one. Nothing of how it is started counts.
pub(super) fn server(
    request: &ServerRequest,
    config: Option<&Config>,
    pattern: &Path,
    sources: &Surfaces,
    observer: &dyn Observer,
) -> Result<(String, Result<ServerConfig, Withheld>), Error> {
    let name = name(request, config, pattern, sources, observer)?;
    if of(sources, &name).is_none() {
        let known: Vec<&str> = sources.keys().map(String::as_str).collect();
        return Err(Error::usage(
            format!("--capture names a source of several servers, none of them `{name}`"),
            format!("name one of them: {}", known.join(", ")),
        ));
    }
    let mut configured = config.map_or_else(Vec::new, |config| config.named(&name));
    if configured.len() > 1 {
        let profiles: Vec<&str> = configured.iter().map(|(name, _)| name.as_str()).collect();
        return Err(Error::usage(
            format!("`{name}` has several profiles, and --capture gives one list"),
            format!("name one of them: {}", profiles.join(", ")),
        ));
    }
    let (name, server) = configured
        .pop()
        .unwrap_or_else(|| (name, ServerConfig::default()));
    Ok((name, Ok(server)))
}

/// As typed; else the only server of the configuration; else as the server calls itself.
fn name(
    request: &ServerRequest,
    config: Option<&Config>,
    pattern: &Path,
    sources: &Surfaces,
    observer: &dyn Observer,
) -> Result<String, Error> {
    match &request.servers[..] {
        [] => {}
        [name] => return Ok(name.clone()),
        many => {
            return Err(Error::usage(
                format!(
                    "--capture gives the list of one server, and there are {}",
                    many.len()
                ),
                format!("name one of them: {}", many.join(", ")),
            ));
        }
    }
    let configured = server_lists::known(request, config, observer)?;
    let configured: Vec<&String> = configured.keys().collect();
    if let [only] = configured[..] {
        return Ok(only.clone());
    }
    let [surface] = sources.values().collect::<Vec<_>>()[..] else {
        let known: Vec<&str> = sources.keys().map(String::as_str).collect();
        return Err(Error::usage(
            "--capture names a source of several servers",
            format!("name one of them: {}", known.join(", ")),
        ));
    };
    let said = surface.server_name();
    let own = said.map(server_slug).filter(|name| !name.is_empty());
    if !configured.is_empty() {
        return own.filter(|own| configured.contains(&own)).ok_or_else(|| {
            let configured: Vec<&str> = configured.iter().map(|name| name.as_str()).collect();
            Error::usage(
                format!(
                    "the configuration has {} servers, and the list does not say which one it is of",
                    configured.len()
                ),
                format!("name one of them: {}", configured.join(", ")),
            )
        });
    }
    // Whatever is wrong with the baseline is said when it is compared with.
    let pinned = if store::is_split(pattern) {
        None
    } else {
        store::read_for_update(pattern, &[]).ok().flatten()
    };
    let pinned = pinned.as_ref().map(Manifest::servers);
    let entries = || pinned.iter().flat_map(|servers| servers.iter());
    let is_pinned = own
        .as_ref()
        .is_some_and(|own| entries().any(|(name, _)| name == own));
    let same: Vec<&String> = match said {
        // Pinned under another name than its own.
        Some(said) if !is_pinned => entries()
            .filter(|(_, pinned)| pinned.surface.server_name() == Some(said))
            .map(|(name, _)| name)
            .collect(),
        Some(_) => Vec::new(),
        None => entries().map(|(name, _)| name).collect(),
    };
    match same[..] {
        [name] => Ok(name.clone()),
        _ => Ok(own.unwrap_or_else(|| UNNAMED.to_owned())),
    }
}

/// A name that a server gives itself, for the configuration and the command line: letters, digits and `._-`.
pub(crate) fn server_slug(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars().take(64) {
        if character.is_ascii_alphanumeric() || "._".contains(character) {
            slug.push(character);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    // Not a flag, and not a path.
    slug.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_as_it_calls_itself_as_far_as_a_shell_can_say_it() {
        for (said, name) in [
            ("secure-filesystem-server", "secure-filesystem-server"),
            ("mcp-servers/everything", "mcp-servers-everything"),
            ("Demo \u{1f680}", "Demo"),
            ("--help", "help"),
            ("../x", "x"),
            ("\u{202e}", ""),
        ] {
            assert_eq!(server_slug(said), name);
        }
    }
}

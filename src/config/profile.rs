//! `[server.NAME.profile.PROFILE]`: one server as seen by several clients, accounts or
//! environments.

use std::collections::BTreeMap;

use super::node::Node;
use super::{ConfigError, ServerConfig, client, environment, http};
use crate::capture::http::Template;

/// Separates the names of server and profile in the name of a baseline entry.
pub const SEPARATOR: char = '@';

/// The profiles of a server by name, each a server of its own: the settings of `[server.NAME]`,
/// overridden by the profile's.
pub(super) fn read(
    node: &Node<'_>,
    name: &str,
    server: &ServerConfig,
) -> Result<BTreeMap<String, ServerConfig>, ConfigError> {
    let mut profiles = BTreeMap::new();
    for (profile, node) in node.members()? {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if profile.is_empty() || !profile.chars().all(is_plain) {
            return Err(node
                .error(&format!("`{profile}` is not a valid profile name"))
                .expecting("letters, digits, `-`, `_` and `.`"));
        }
        let mut of_profile = one(&node, server)?;
        of_profile.profile = Some(ProfileName {
            server: name.to_owned(),
            profile: profile.clone(),
        });
        profiles.insert(format!("{name}{SEPARATOR}{profile}"), of_profile);
    }
    if profiles.is_empty() {
        return Err(node
            .error("it has no profiles")
            .expecting("[server.NAME.profile.PROFILE], or nothing at all"));
    }
    Ok(profiles)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileName {
    /// `[server.NAME]`
    pub server: String,
    /// `[server.NAME.profile.PROFILE]`
    pub profile: String,
}

fn one(node: &Node<'_>, server: &ServerConfig) -> Result<ServerConfig, ConfigError> {
    node.only(&[
        "env",
        "pass-env",
        "args",
        "headers",
        "client",
        "capabilities",
    ])?;
    let mut server = server.clone();
    let starts = server
        .http
        .as_ref()
        .is_none_or(|http| !http.start.is_empty());
    for key in ["env", "pass-env", "args"] {
        if let Some(found) = node.get(key).filter(|_| !starts) {
            return Err(found
                .error(&format!("`{key}` has no effect here: nothing is started"))
                .expecting(
                    "`start` in [server.NAME], the command that starts the server at `url`",
                ));
        }
    }
    let (env, pass_env) = environment(node)?;
    server.env.extend(env);
    server.pass_env.extend(pass_env);
    if let Some(args) = node.get("args") {
        server.args = args.strings()?;
    }
    if let Some(headers) = node.get("headers") {
        let Some(http) = &mut server.http else {
            return Err(headers
                .error("`headers` has no effect without `url`")
                .expecting("`url` in [server.NAME]; a server over stdio has no headers"));
        };
        for (name, value) in headers.members()? {
            http::check_header(&value, &name)?;
            // Header names are case-insensitive, and the profile's value wins.
            http.headers.retain(|it, _| !it.eq_ignore_ascii_case(&name));
            http.headers.insert(name, Template::new(value.string()?));
        }
    }
    if let Some(found) = node.get("client") {
        server.client = client::read(&found)?.over(server.client);
    }
    if let Some(found) = node.get("capabilities") {
        server.client.capabilities = Some(client::capabilities(&found)?);
    }
    Ok(server)
}

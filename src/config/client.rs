//! What is said of the client that a server gets to see.

use std::collections::BTreeSet;

use super::ConfigError;
use super::node::Node;
use crate::settings::{self, Table};
use crate::surface::{ClientProfile, KnownClient};

/// What is said of the client that a server gets to see. What is not said stays as it was pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientChoice {
    /// `clientInfo.name`
    pub name: Option<String>,
    /// `clientInfo.version`
    pub version: Option<String>,
    /// The capabilities announced.
    pub capabilities: Option<BTreeSet<String>>,
}

impl ClientChoice {
    /// The client that is known by this name; any other name is just that.
    pub fn named(name: &str) -> Self {
        match KnownClient::find(name).map(KnownClient::profile) {
            Some(known) => Self {
                name: Some(known.name),
                version: Some(known.version),
                capabilities: Some(known.capabilities),
            },
            None => Self {
                name: Some(name.to_owned()),
                ..Self::default()
            },
        }
    }

    /// What this one says, and where it says nothing, what another says.
    pub fn over(self, other: Self) -> Self {
        Self {
            name: self.name.or(other.name),
            version: self.version.or(other.version),
            capabilities: self.capabilities.or(other.capabilities),
        }
    }

    /// A profile with what was said instead of what it had.
    pub fn applied_to(&self, profile: ClientProfile) -> ClientProfile {
        ClientProfile {
            name: self.name.clone().unwrap_or(profile.name),
            version: self.version.clone().unwrap_or(profile.version),
            capabilities: self.capabilities.clone().unwrap_or(profile.capabilities),
        }
    }
}

/// `client`: the name of a client, or a table with what is to be announced.
pub(super) fn read(node: &Node<'_>) -> Result<ClientChoice, ConfigError> {
    if node.is_string() {
        return Ok(ClientChoice::named(node.string()?));
    }
    node.only(&settings::keys(&[Table::Client]))?;
    let text = |member: &str| {
        node.get(member)
            .map(|it| it.string().map(str::to_owned))
            .transpose()
    };
    Ok(ClientChoice {
        name: text("name")?,
        version: text("version")?,
        capabilities: node
            .get("capabilities")
            .map(|it| capabilities(&it))
            .transpose()?,
    })
}

/// What is announced, by name.
pub(super) fn capabilities(node: &Node<'_>) -> Result<BTreeSet<String>, ConfigError> {
    let names: BTreeSet<String> = node.strings()?.into_iter().collect();
    if names.contains("none") {
        Err(node
            .error("there is no capability `none`")
            .expecting("[] for no capability"))
    } else {
        Ok(names)
    }
}

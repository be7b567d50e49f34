//! The client identity that a server sees.

use std::collections::BTreeSet;

use super::ConfigError;
use super::node::Node;
use crate::settings::{self, Table};
use crate::surface::{ClientProfile, KnownClient};

/// The configured client identity. Unset parts remain as pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientChoice {
    /// `clientInfo.name`
    pub name: Option<String>,
    /// `clientInfo.version`
    pub version: Option<String>,
    /// The announced capabilities.
    pub capabilities: Option<BTreeSet<String>>,
}

impl ClientChoice {
    /// The known client of this name; any other name only sets the name.
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

    /// This choice, with `other` for everything unset.
    pub fn over(self, other: Self) -> Self {
        Self {
            name: self.name.or(other.name),
            version: self.version.or(other.version),
            capabilities: self.capabilities.or(other.capabilities),
        }
    }

    /// A profile with the choices applied.
    pub fn applied_to(&self, profile: ClientProfile) -> ClientProfile {
        ClientProfile {
            name: self.name.clone().unwrap_or(profile.name),
            version: self.version.clone().unwrap_or(profile.version),
            capabilities: self.capabilities.clone().unwrap_or(profile.capabilities),
        }
    }
}

/// `client`: the name of a client, or a table of what to announce.
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

/// The announced capabilities, by name.
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

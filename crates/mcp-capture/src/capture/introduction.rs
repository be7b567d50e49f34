//! How a client introduces itself: its name, and the capabilities of its profile as each era
//! announces them.

use std::collections::BTreeSet;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientJsonRpcMessage, Implementation, ProtocolVersion,
};
use serde_json::Value;

use super::opening::HandshakeMode;
use crate::surface::{ClientProfile, Era};

/// The member of a request's `_meta` with the capabilities, since 2026-07-28.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The identity of a client in rmcp's terms, and what rmcp cannot say of it.
#[derive(Debug)]
pub(super) struct Introduction {
    config: ClientConfig,
    legacy: Value,
    modern: Value,
    /// Whether rmcp's types say all of both.
    is_whole: bool,
}

impl Introduction {
    pub(super) fn new(client: &ClientProfile, mode: HandshakeMode) -> Self {
        let legacy = capabilities(&client.capabilities, Era::Legacy);
        let modern = capabilities(&client.capabilities, Era::Modern);
        let announced = match mode {
            HandshakeMode::Initialize => &legacy,
            HandshakeMode::Discover | HandshakeMode::Probe { .. } => &modern,
        };
        let typed: ClientCapabilities =
            serde_json::from_value(announced.clone()).unwrap_or_default();
        let said = serde_json::to_value(&typed).unwrap_or_default();
        let identity = Implementation::new(client.name.clone(), client.version.clone());
        // Always explicit: rmcp's default announces a revision that has no `initialize`.
        let config =
            ClientConfig::new(typed, identity).with_protocol_version(ProtocolVersion::V_2025_11_25);
        Self {
            config,
            is_whole: said == legacy && said == modern,
            legacy,
            modern,
        }
    }

    /// What rmcp is told about the client.
    pub(super) fn config(&self) -> ClientConfig {
        self.config.clone()
    }

    /// A message of rmcp as it is sent. The one place that adds something: capabilities that rmcp's types do not have
    /// (`tasks` of the legacy era, which two known clients announce, and whatever a profile names).
    pub(super) fn line(&self, message: &ClientJsonRpcMessage) -> Result<String, serde_json::Error> {
        if self.is_whole || !matches!(message, ClientJsonRpcMessage::Request(_)) {
            return serde_json::to_string(message);
        }
        let mut value = serde_json::to_value(message)?;
        if let Some(announced) = value.pointer_mut("/params/capabilities") {
            announced.clone_from(&self.legacy);
        }
        let meta = value.pointer_mut("/params/_meta");
        if let Some(announced) = meta.and_then(|meta| meta.get_mut(CAPABILITIES)) {
            announced.clone_from(&self.modern);
        }
        Ok(value.to_string())
    }
}

/// The details of a capability that every client announces alike; else an empty object.
fn detail(name: &str) -> Value {
    match name {
        "listChanged" => true.into(),
        "io.modelcontextprotocol/ui" => {
            serde_json::json!({"mimeTypes": ["text/html;profile=mcp-app"]})
        }
        _ => serde_json::json!({}),
    }
}

/// The capabilities of a profile as announced: each name an empty object.
///
/// A dot descends (`elicitation.url`), a name with a slash is an extension's
/// (`io.modelcontextprotocol/ui`), and `tasks` alone announces all of it, because its empty object
/// announces nothing; since 2026-07-28 it is an extension.
fn capabilities(names: &BTreeSet<String>, era: Era) -> Value {
    const ALL_OF_TASKS: [&str; 4] = [
        "tasks.list",
        "tasks.cancel",
        "tasks.requests.sampling.createMessage",
        "tasks.requests.elicitation.create",
    ];
    let mut announced = serde_json::Map::new();
    for name in names {
        let names = match (name.as_str(), era) {
            ("tasks", Era::Legacy) => &ALL_OF_TASKS[..],
            ("tasks", Era::Modern) => &["io.modelcontextprotocol/tasks"],
            (name, _) => &[name],
        };
        for name in names {
            let path: Vec<&str> = if name.contains('/') {
                vec!["extensions", name]
            } else {
                name.split('.').collect()
            };
            let mut at = &mut announced;
            for step in path {
                let next = at.entry(step).or_insert_with(|| detail(step));
                let Value::Object(next) = next else {
                    break;
                };
                at = next;
            }
        }
    }
    Value::Object(announced)
}

//! How a client introduces itself: its name, and the capabilities of its profile as each era
//! announces them.

use std::collections::BTreeSet;

use crate::surface::{ClientProfile, Era};

/// What a client sends about itself with every request.
pub(super) fn meta(client: &ClientProfile) -> serde_json::Value {
    serde_json::json!({
        "io.modelcontextprotocol/protocolVersion": Era::Modern.revision(),
        "io.modelcontextprotocol/clientInfo": { "name": client.name, "version": client.version },
        "io.modelcontextprotocol/clientCapabilities": capabilities(&client.capabilities, Era::Modern),
    })
}

/// The details of a capability that every client announces alike; else an empty object.
fn detail(name: &str) -> serde_json::Value {
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
pub(super) fn capabilities(names: &BTreeSet<String>, era: Era) -> serde_json::Value {
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
                let serde_json::Value::Object(next) = next else {
                    break;
                };
                at = next;
            }
        }
    }
    serde_json::Value::Object(announced)
}

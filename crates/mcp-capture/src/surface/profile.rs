//! The client identity that a server under test sees.

use std::collections::BTreeSet;

use exact_json::Json;

/// Name, version and capabilities announced to the server.
///
/// What a server lists depends on them (the everything-server: 13 tools for a client without
/// capabilities, 19 for one with all), so they are an input of the fingerprint: explicit, stored in
/// the baseline, used again by `check`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProfile {
    /// `clientInfo.name`
    pub name: String,
    /// `clientInfo.version`. Fixed, not mcp-keel's version: an upgrade must not change what a
    /// server sees.
    pub version: String,
    /// The announced capabilities: `roots`, `sampling`, `elicitation`, ...
    pub capabilities: BTreeSet<String>,
}

impl Default for ClientProfile {
    fn default() -> Self {
        Self {
            name: "mcp-keel".to_owned(),
            version: "1".to_owned(),
            capabilities: ["elicitation", "roots", "sampling"]
                .map(str::to_owned)
                .into(),
        }
    }
}

impl ClientProfile {
    /// `User-Agent` over HTTP: that of the known client, else the name. Without a version, as an
    /// upgrade of mcp-keel must not change what a server sees.
    pub fn user_agent(&self) -> String {
        let known = super::KnownClient::ALL.iter();
        let mut known = known.filter(|it| it.name == self.name);
        match known.next() {
            Some(known) => known.user_agent.to_owned(),
            None => {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
                let name = self.name.chars();
                let name: String = name.map(|c| if is_plain(c) { c } else { '-' }).collect();
                if name.is_empty() {
                    "-".to_owned()
                } else {
                    name
                }
            }
        }
    }

    /// As stored in a baseline and in a capture.
    pub fn to_json(&self) -> Json {
        let capabilities = self
            .capabilities
            .iter()
            .map(|c| Json::string(c.as_str()))
            .collect();
        Json::object([
            ("name", Json::string(self.name.as_str())),
            ("version", Json::string(self.version.as_str())),
            ("capabilities", Json::Array(capabilities)),
        ])
    }

    /// Reads what [`ClientProfile::to_json`] wrote; missing parts are the default's.
    pub fn from_json(json: &Json) -> Self {
        let default = Self::default();
        let text = |member: &str| json.get(member).and_then(Json::as_str).map(str::to_owned);
        Self {
            name: text("name").unwrap_or(default.name),
            version: text("version").unwrap_or(default.version),
            capabilities: json.get("capabilities").and_then(Json::as_array).map_or(
                default.capabilities,
                |list| {
                    list.iter()
                        .filter_map(Json::as_str)
                        .map(str::to_owned)
                        .collect()
                },
            ),
        }
    }
}

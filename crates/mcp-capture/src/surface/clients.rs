//! Known clients, as they introduce themselves. `clients.md` next to this file cites the source of
//! each line, and what is uncertain.

use super::ClientProfile;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownClient {
    /// Its name on the command line.
    pub id: &'static str,
    /// `clientInfo.name`
    pub name: &'static str,
    /// `clientInfo.version` of the release in which it was observed.
    pub version: &'static str,
    /// The announced capabilities.
    pub capabilities: &'static [&'static str],
    /// `User-Agent` over HTTP.
    pub user_agent: &'static str,
}

impl KnownClient {
    pub const ALL: &'static [Self] = &[
        Self {
            id: "claude-code",
            name: "claude-code",
            version: "2.1.233",
            capabilities: &["elicitation", "roots.listChanged"],
            user_agent: "claude-code/2.1.233 (cli)",
        },
        Self {
            id: "claude-desktop",
            name: "claude-ai",
            version: "0.1.0",
            capabilities: &["io.modelcontextprotocol/ui"],
            user_agent: "node",
        },
        Self {
            id: "codex",
            name: "codex-mcp-client",
            version: "0.146.0",
            capabilities: &["elicitation.form", "elicitation.url"],
            user_agent: "codex-mcp-client/0.146.0",
        },
        Self {
            id: "cursor",
            name: "cursor-vscode",
            version: "1.0.0",
            capabilities: &["elicitation", "roots"],
            user_agent: "node",
        },
        Self {
            id: "gemini-cli",
            name: "gemini-cli-mcp-client",
            version: "0.59.0",
            capabilities: &["roots.listChanged"],
            user_agent: "node",
        },
        Self {
            id: "mcp-inspector",
            name: "inspector-client",
            version: "0.21.2",
            capabilities: &["elicitation", "roots.listChanged", "sampling", "tasks"],
            user_agent: "node",
        },
        Self {
            id: "vscode",
            name: "Visual Studio Code",
            version: "1.138.0",
            capabilities: &[
                "elicitation.form",
                "elicitation.url",
                "io.modelcontextprotocol/ui",
                "roots.listChanged",
                "sampling",
                "tasks",
            ],
            user_agent: "node",
        },
        Self {
            id: "windsurf",
            name: "windsurf-client",
            version: "1.0.0",
            capabilities: &[],
            user_agent: "Go-http-client/1.1",
        },
        Self {
            id: "zed",
            name: "Zed",
            version: "0.1.0",
            capabilities: &[],
            user_agent: "Zed/0.1.0",
        },
    ];

    pub fn find(id: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|client| client.id == id)
    }

    /// As a server sees it.
    pub fn profile(&self) -> ClientProfile {
        ClientProfile {
            name: self.name.to_owned(),
            version: self.version.to_owned(),
            capabilities: self
                .capabilities
                .iter()
                .map(|it| (*it).to_owned())
                .collect(),
        }
    }
}

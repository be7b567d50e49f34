//! The demo: a small rmcp server in two editions, and the baseline of the first.
//!
//! It needs nothing installed and no network, and goes through the same pipeline as any server:
//! this program starts itself as the server under test.

use std::sync::Arc;

use rmcp::model::{
    ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};

/// The baseline of the pinned edition. A test pins that edition and compares.
pub const BASELINE: &str = include_str!("../../fixtures/demo/mcp-baseline.json");

pub const INTRODUCTION: &str = "\
This is what mcp-keel reports when a server drifts from its committed baseline.
The server under test is a small weather server built into this program: it was
started, captured and stopped just now, like any other.

";

pub const CLOSING: &str = "
On a real server `mcp-keel check` would exit with 1 here. To try it on yours:

  mcp-keel init     # in its folder: find how it starts, write mcp-baseline.json and a workflow
  mcp-keel check    # compare with the baseline, in CI and before a release
";

const PINNED: &str = include_str!("../../fixtures/demo/pinned.json");
const DRIFTED: &str = include_str!("../../fixtures/demo/drifted.json");

struct Weather {
    version: &'static str,
    tools: Vec<Tool>,
}

impl ServerHandler for Weather {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(Implementation::new("weather", self.version))
            .with_instructions("Ask for a city before a forecast.")
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }
}

/// Serves one edition on stdin and stdout until stdin closes.
pub async fn serve(drifted: bool) -> Result<(), String> {
    let (version, text) = if drifted {
        ("1.4.1", DRIFTED)
    } else {
        ("1.4.0", PINNED)
    };
    let tools: Vec<Tool> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let server = Arc::new(Weather { version, tools });
    let running = server
        .serve(rmcp::transport::stdio())
        .await
        .map_err(|error| error.to_string())?;
    running
        .waiting()
        .await
        .map(|_| ())
        .map_err(|error| error.to_string())
}

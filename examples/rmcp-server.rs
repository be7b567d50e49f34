//! rmcp's own server side, in the protocol eras named by its argument: `both`, `legacy` or
//! `modern`.
//!
//! It declares everything that the eras express differently: where the server names itself, how
//! changes are announced, what became an extension.

// A test program: it fails loudly.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use rmcp::model::{
    ErrorData, Implementation, ListPromptsResult, ListToolsResult, PaginatedRequestParams, Prompt,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};

struct Notes {
    revisions: Vec<ProtocolVersion>,
}

impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("notes", "2.1.0"))
            .with_instructions("Search before you add.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(self.revisions.clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<Tool> = serde_json::from_value(serde_json::json!([
            {
                "name": "add_note",
                "description": "Adds a note.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}},
                    "required": ["text"],
                },
                "annotations": {"destructiveHint": false},
            },
            {
                "name": "search",
                "description": "Finds notes.",
                "inputSchema": {"type": "object", "properties": {"words": {"type": "string"}}},
                "annotations": {"readOnlyHint": true},
            },
        ]))
        .unwrap();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new("summary", Some("Sums the notes up."), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let is_modern = |it: &ProtocolVersion| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().cloned();
    let revisions = match std::env::args().nth(1).as_deref() {
        Some("legacy") => known.filter(|it| !is_modern(it)).collect(),
        Some("modern") => known.filter(is_modern).collect(),
        _ => known.collect(),
    };
    let server = Notes { revisions };
    let running = server.serve(rmcp::transport::stdio()).await.unwrap();
    running.waiting().await.unwrap();
}

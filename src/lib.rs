//! mcp-keel keeps an MCP server's contract from drifting.

pub mod canonical;
pub mod judgement;
pub mod schema;
pub mod surface;

//! mcp-keel keeps an MCP server's contract from drifting.

pub mod canonical;
pub mod capture;
pub mod judgement;
pub mod launch;
pub mod surface;

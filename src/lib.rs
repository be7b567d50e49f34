//! mcp-keel keeps an MCP server's contract from drifting.

pub mod canonical;
pub mod fingerprint;
pub mod judgement;
pub mod surface;

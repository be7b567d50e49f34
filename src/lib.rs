//! mcp-keel keeps an MCP server's contract from drifting.

pub mod baseline;
pub mod canonical;
pub mod config;
pub mod drift;
pub mod fingerprint;
pub mod judgement;
pub mod policy;
pub mod report;
pub mod scan;
pub mod schema;
pub mod surface;

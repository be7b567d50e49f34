//! A call that fails now, in the forms that people paste: its arguments, the MCP request, curl.

use super::super::escape::{self, Visible};
use crate::canonical::{Json, to_compact, to_pretty};
use crate::rules::Side;

pub(super) struct Form {
    pub(super) label: &'static str,
    /// What is shown is what is copied: JSON's own escapes stand for what is invisible.
    pub(super) text: Visible,
    pub(super) is_open: bool,
}

/// Larger calls are in the JSON report.
const MOST: usize = 20_000;

pub(super) fn forms(side: Option<Side>, tool: Option<&str>, instance: &Json) -> Vec<Form> {
    let json = |value: &Json| escape::json(to_pretty(value));
    let form = |label, text: String, is_open| Form {
        label,
        text: Visible::of_parts(text).cut(MOST),
        is_open,
    };
    let arguments = form(
        match side {
            Some(Side::Output) => "Result, as JSON",
            None => "Call, as JSON",
            Some(Side::Input) => "Arguments, as JSON",
        },
        json(instance),
        true,
    );
    // A result is nothing to send.
    let Some(tool) = tool.filter(|_| side != Some(Side::Output)) else {
        return vec![arguments];
    };
    // Of a tool that is gone or renamed, the witness is the whole call.
    let is_whole = side.is_none() && instance.get("name").is_some();
    let params = if is_whole {
        instance.clone()
    } else {
        Json::object([
            ("name", Json::string(tool)),
            ("arguments", instance.clone()),
        ])
    };
    let request = Json::object([
        ("jsonrpc", Json::string("2.0")),
        ("id", Json::integer(1)),
        ("method", Json::string("tools/call")),
        ("params", params),
    ]);
    let body = escape::json(to_compact(&request)).replace('\'', "'\\''");
    let curl = format!(
        "curl -sS \"$MCP_URL\" -H 'Content-Type: application/json' \
         -H 'Accept: application/json, text/event-stream' -d '{body}'"
    );
    vec![
        arguments,
        form("MCP request", json(&request), false),
        form("curl, with the server's address in MCP_URL", curl, false),
    ]
}

//! The words of the HTML page around what a report says.

use super::counted;

macro_rules! words {
    ($($name:ident = $text:literal;)+) => {
        $(pub(crate) fn $name() -> &'static str {
            $text
        })+
    };
}

words! {
    servers = "All servers, the worst first";
    server = "server";
    status = "status";
    high_exposure = "high exposure";
    tokens = "≈ tokens";
    filter = "Filter the changes";
    shown = "{n} of {all} changes shown";
    search = "Search";
    tool = "Tool";
    all_tools = "all";
    level = "Level";
    exposure = "Exposure";
    reset = "Show all";
    version = "Version";
    source = "Declared in";
    baseline = "Pinned in";
    id = "id";
    old = "before";
    new = "now";
    difference = "difference";
    old_and_new = "The whole of it, before and now";
    command = "Command";
    copy = "Copy";
    copied = "Copied";
    selected = "Selected: copy it with the keyboard";
    arguments_as_json = "Arguments, as JSON";
    call_as_json = "Call, as JSON";
    result_as_json = "Result, as JSON";
    as_request = "MCP request";
    as_curl = "curl, with the server's address in MCP_URL";
    cost_by_tool = "Context cost of each tool, ≈ tokens";
    findings = "Also noticed";
    schemas = "Schemas before and now, side by side";
    does_not_exist = "It does not exist.";
    tree_was_cut = "The rest is in the JSON report.";
    changed = "changed";
    is_new = "new";
    is_gone = "removed";
    is_unchanged = "unchanged";
    letters = "B breaking, R risky, A additive, C cosmetic, + new, − removed.";
}

/// What the picture shows.
pub(crate) fn picture(changed: usize, of: usize) -> String {
    format!("{changed} of {} changed.", counted(of, "tool"))
}

/// A request as a command line; the address is the reader's. `body` is quoted already.
pub(crate) fn curl(body: &str) -> String {
    format!(
        "curl -sS \"$MCP_URL\" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '{body}'"
    )
}

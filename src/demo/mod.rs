//! The demo: a small server in two editions, and the baseline of the first.
//!
//! It needs nothing installed and no network, and goes through the same pipeline as any server:
//! this program starts itself as the server under test.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

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

/// Serves one edition on stdin and stdout until stdin closes.
pub fn serve(drifted: bool) -> Result<(), String> {
    let (version, text) = if drifted {
        ("1.4.1", DRIFTED)
    } else {
        ("1.4.0", PINNED)
    };
    // As written, on one line: a line break in JSON is only ever between its values.
    let tools = text.replace('\n', " ");
    let input = std::io::stdin().lock();
    answer(version, &tools, input, std::io::stdout().lock()).map_err(|error| error.to_string())
}

/// Answers one request a line. A line that is no request, such as a notification, has no answer.
fn answer(
    version: &str,
    tools: &str,
    input: impl BufRead,
    mut output: impl Write,
) -> std::io::Result<()> {
    for line in input.lines() {
        let Ok(request) = serde_json::from_str::<Value>(&line?) else {
            continue;
        };
        let Some(id) = request.get("id") else {
            continue;
        };
        let result = match request.get("method").and_then(Value::as_str) {
            Some("initialize") => {
                let greeting = json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "weather", "version": version},
                    "instructions": "Ask for a city before a forecast.",
                });
                format!("\"result\":{greeting}")
            }
            Some("ping") => "\"result\":{}".to_owned(),
            Some("tools/list") => format!("\"result\":{{\"tools\":{tools}}}"),
            method => {
                let message = format!("no such method: {}", method.unwrap_or_default());
                let error = json!({"code": -32601, "message": message});
                format!("\"error\":{error}")
            }
        };
        writeln!(output, "{{\"jsonrpc\":\"2.0\",\"id\":{id},{result}}}")?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_requests_and_nothing_else() {
        let lines = "nonsense\n\
            {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\"}\n\
            {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
            {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}\n";
        let mut output = Vec::new();
        answer("1", "[]", lines.as_bytes(), &mut output).expect("memory");
        assert_eq!(
            String::from_utf8_lossy(&output),
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"tools\":[]}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no such method: tools/call\"}}\n"
        );
    }
}

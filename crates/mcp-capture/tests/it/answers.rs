//! What becomes of an answer to `tools/list` that is not as it should be: each row is an answer and its outcome. None of
//! them is waited for.

use mcp_capture::surface::NoteKind;
use mcp_capture::{CaptureFailure, Captured};

use crate::scripted::Capture;

/// What becomes of an answer.
enum Outcome {
    /// It is captured, and clients on the SDK read it.
    Read,
    /// It is captured, and clients on the SDK refuse the list.
    Refused(&'static str),
    /// It is captured, and clients on the SDK wait.
    Missed(&'static str),
    /// There is no capture.
    Failed(&'static str),
}

use Outcome::{Failed, Missed, Read, Refused};

/// A tool with this member in addition, or in the place of its own.
fn tool(member: &str) -> String {
    let name = member.split(':').next().unwrap_or_default();
    let own = [
        r#""name":"a""#,
        r#""description":"d""#,
        r#""inputSchema":{"type":"object"}"#,
    ];
    let others = own
        .iter()
        .filter(|member| name.is_empty() || !member.starts_with(name));
    let members: Vec<&str> = others
        .copied()
        .chain([member])
        .filter(|member| !member.is_empty())
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A complete message with this result.
fn result(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{result}}}"#)
}

fn tools(tool: &str) -> String {
    result(&format!(r#"{{"tools":[{tool}]}}"#))
}

fn rows() -> Vec<(&'static str, String, Outcome)> {
    let plain = tool("");
    let deep = format!(
        r#""inputSchema":{{"x":{}{}}}"#,
        "[".repeat(150),
        "]".repeat(150)
    );
    let tools_of = format!(r#"{{"tools":[{plain}]}}"#);
    vec![
        ("as it should be", tools(&plain), Read),
        (
            "unknown members",
            tools(&tool(r#""x-y":[null],"icons":[]"#)),
            Read,
        ),
        (
            "numbers of 64 bits and more",
            tools(&tool(
                r#""inputSchema":{"maximum":1.0,"minimum":-184467440737095516160}"#,
            )),
            Read,
        ),
        (
            "a member of a schema twice",
            tools(&tool(r#""inputSchema":{"type":"object","type":"string"}"#)),
            Read,
        ),
        (
            "a description that is a number",
            tools(&tool(r#""description":5"#)),
            Refused("`a`: invalid type: integer `5`, expected a string"),
        ),
        (
            "no schema",
            tools(r#"{"name":"a"}"#),
            Refused("`a`: missing field `inputSchema`"),
        ),
        (
            "a schema that is an array",
            tools(&tool(r#""inputSchema":[]"#)),
            Refused("`a`: invalid type: sequence, expected a map"),
        ),
        (
            "a hint that is a word",
            tools(&tool(r#""annotations":{"readOnlyHint":"yes"}"#)),
            Refused("`a`: invalid type: string \"yes\", expected a boolean"),
        ),
        (
            "a member of a tool twice",
            tools(&format!(
                "{},{}",
                tool(r#""inputSchema":{}"#)
                    .replace(r#""description""#, r#""description":"e","description""#),
                plain
            )),
            Refused("`a`: duplicate field `description`"),
        ),
        (
            "one tool of two is bad",
            tools(&format!(r#"{plain},{{"name":"bad"}}"#)),
            Refused("`bad`: missing field `inputSchema`"),
        ),
        (
            "a number beyond doubles",
            tools(&tool(r#""inputSchema":{"maximum":1e400}"#)),
            Missed("number out of range"),
        ),
        (
            "half of a surrogate pair",
            tools(&tool(r#""description":"\ud800""#)),
            Missed("unexpected end of hex escape"),
        ),
        (
            "150 levels",
            tools(&tool(&deep)),
            Missed("recursion limit exceeded"),
        ),
        (
            "the id twice",
            format!(r#"{{"jsonrpc":"2.0","id":$id,"id":$id,"result":{tools_of}}}"#),
            Missed("duplicate field `id`"),
        ),
        (
            "an error that is null beside the result",
            format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{tools_of},"error":null}}"#),
            Missed("unrecognized JSON-RPC message"),
        ),
        (
            "in an array",
            format!("[{}]", tools(&plain)),
            Missed("it came in an array"),
        ),
        (
            "two results",
            format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{tools_of},"result":{{"tools":[]}}}}"#),
            Failed("malformed: `result` is repeated with different values"),
        ),
        (
            "without the protocol's version",
            format!(r#"{{"id":$id,"result":{tools_of}}}"#),
            Failed(r#"malformed: it has no `"jsonrpc": "2.0"`"#),
        ),
        (
            "cut off",
            r#"{"jsonrpc":"2.0","id":$id,"result":{"tools":["#.to_owned(),
            Failed("the server's answer to `tools/list` cannot be read as JSON"),
        ),
        (
            "a list that is a number",
            result(r#"{"tools":5}"#),
            Failed("malformed: `tools` is a number, not an array"),
        ),
        (
            "an empty result",
            result("{}"),
            Failed("malformed: it has no `tools`"),
        ),
        (
            "no result",
            result("null"),
            Failed("malformed: the result is null"),
        ),
        (
            "an error",
            r#"{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"no"}}"#.to_owned(),
            Failed("the server answered `tools/list` with an error: -32000: no"),
        ),
        (
            "an error for nobody",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#.to_owned(),
            Failed("the server answered `tools/list` with an error: -32700: no"),
        ),
        (
            "an error whose code is a word",
            r#"{"jsonrpc":"2.0","id":$id,"error":{"code":"x","message":"no"}}"#.to_owned(),
            Failed(r#"the server answered `tools/list` with an error: "x": no"#),
        ),
        (
            "an error without a code",
            r#"{"jsonrpc":"2.0","id":$id,"error":"no"}"#.to_owned(),
            Failed(r#"the server answered `tools/list` with an error: "no""#),
        ),
        (
            "the id as a string",
            tools(&plain).replace("$id", r#""$id""#),
            Read,
        ),
        (
            "the id as a fraction",
            tools(&plain).replace("$id", "$id.0"),
            Read,
        ),
        (
            "another member in the message",
            tools(&plain).replacen('{', r#"{"x":1,"#, 1),
            Read,
        ),
        (
            "an answer to nobody first",
            format!("{}\n{}", result("{}").replace("$id", "77"), tools(&plain)),
            Read,
        ),
        (
            "twice",
            format!("{}\n{}", tools(&plain), tools(&plain)),
            Read,
        ),
        (
            "notifications that nobody defines, and malformed ones",
            format!(
                "{}\n{}\n{}",
                r#"{"jsonrpc":"2.0","method":"notifications/foo","params":[1]}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"a":1}}"#,
                tools(&plain)
            ),
            Read,
        ),
        (
            "requests of every kind first",
            format!(
                "{}\n{}\n{}\n{}",
                r#"{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{}}"#,
                r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                tools(&plain)
            ),
            Read,
        ),
    ]
}

fn assert_outcome(row: &str, captured: Result<Captured, CaptureFailure>, expected: &Outcome) {
    let captured = match (captured, expected) {
        (Ok(captured), Failed(_)) => panic!("{row}: {:?}", captured.lists),
        (Ok(captured), _) => captured,
        (Err(failure), Failed(said)) => {
            let failure = failure.to_string();
            assert!(failure.contains(said), "{row}: {failure}");
            return;
        }
        (Err(failure), _) => panic!("{row}: {failure}"),
    };
    assert!(!captured.lists.tools.is_empty(), "{row}");
    let of_sdk = [NoteKind::SdkRefusesList, NoteKind::SdkMissesAnswer];
    let notes = captured.surface.notes.iter();
    let notes: Vec<_> = notes.filter(|note| of_sdk.contains(&note.kind)).collect();
    let (kind, says) = match expected {
        Refused(says) => (NoteKind::SdkRefusesList, says),
        Missed(says) => (NoteKind::SdkMissesAnswer, says),
        Read | Failed(_) => {
            assert!(notes.is_empty(), "{row}: {notes:?}");
            return;
        }
    };
    let [note] = notes[..] else {
        panic!("{row}: {notes:?}");
    };
    assert_eq!(note.kind, kind, "{row}: {note:?}");
    assert!(
        note.message.contains("rmcp 3.") && note.message.ends_with(says),
        "{row}: {}",
        note.message
    );
}

#[test]
fn every_answer_over_stdio_has_its_outcome_and_none_is_waited_for() {
    for (row, answer, expected) in rows() {
        let raw = serde_json::Value::from(answer);
        let scenario =
            format!(r#"{{"tools":[],"on":{{"tools/list":[{{"raw":{raw}}}],"response":[]}}}}"#);
        assert_outcome(row, Capture::of(&scenario).run(), &expected);
    }
}

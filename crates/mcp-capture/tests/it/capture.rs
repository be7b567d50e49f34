//! What `launch` and `capture` promise, each tested with a server that tries to break it.

use std::sync::mpsc;
use std::time::Duration;

use exact_json::{parse_str, to_compact};
use mcp_capture::capture::{CaptureError, Captured, Stage};
use mcp_capture::launch::LaunchError;
use mcp_capture::surface::{Kind, NoteKind};

use crate::scripted::{Capture, alone, log, runtime, scripted};

const ONE_TOOL: &str = r#""tools":[{"name":"a"}]"#;

fn names(captured: &Captured, kind: Kind) -> Vec<String> {
    let identity = kind.identity();
    let name = |definition: &exact_json::Json| {
        definition
            .get(identity)
            .and_then(|name| name.as_str())
            .unwrap_or("?")
            .to_owned()
    };
    captured.lists.of(kind).iter().map(name).collect()
}

fn tools(capture: &Capture) -> Vec<String> {
    names(&capture.run().expect("the capture succeeds"), Kind::Tool)
}

/// The lines that the server received.
fn received(scenario: impl FnOnce(&str) -> String) -> Vec<String> {
    let (_folder, path) = log();
    let log = format!(r#""log":{}"#, serde_json::Value::from(path.to_str()));
    // Enough time to log that stdin has ended.
    let patient = Capture::of(&scenario(&log))
        .limits(|limits| limits.patience.after_eof = Duration::from_secs(10));
    let _ = patient.run();
    let text = std::fs::read_to_string(path).expect("the server kept a log");
    text.lines().map(str::to_owned).collect()
}

// What is captured

#[test]
fn definitions_are_kept_byte_for_byte() {
    let tool = r#"{"name":"a","execution":{"taskSupport":"optional"},"x-vendor":null,"inputSchema":{"type":"object","properties":{"n":{"maximum":9007199254740993,"default":1.0,"minimum":1e400}}},"annotations":{"category":"x"},"d":1,"d":2,"s":"\ud800"}"#;
    let captured = Capture::of(&format!(r#"{{"tools":[{tool}]}}"#))
        .run()
        .unwrap();
    assert_eq!(to_compact(&captured.lists.tools[0]), tool);
    assert_eq!(to_compact(&captured.surface.components[0].definition), tool);
}

#[test]
fn the_initialize_result_is_kept_as_sent() {
    let result = r#"{"protocolVersion":"2024-10-07","capabilities":{"x-vendor":{"n":1.0}},"serverInfo":{"name":"s","version":"1","extra":[]},"vendor":true,"instructions":"do"}"#;
    let captured = Capture::of(&format!(
        r#"{{"on":{{"initialize":{{"result":{result}}}}}}}"#
    ))
    .run()
    .unwrap();
    assert_eq!(to_compact(&captured.greeting), result);
    assert_eq!(captured.surface.protocol_version, "2024-10-07");
    assert_eq!(captured.surface.instructions.unwrap().as_str(), Some("do"));
}

#[test]
fn all_four_kinds_and_all_pages_are_listed() {
    let capture = Capture::of(
        r#"{"pages":{"tools/list":[[{"name":"a"}],[],[{"name":"b"},{"name":"c"}]]},"prompts":[{"name":"p"}],
            "resources":[{"uri":"r:1"}],"resourceTemplates":[{"uriTemplate":"t:{x}"}]}"#,
    );
    let captured = capture.run().unwrap();
    let keys: Vec<&str> = captured
        .surface
        .components
        .iter()
        .map(|it| it.key.as_str())
        .collect();
    assert_eq!(
        keys,
        [
            "tool:a@",
            "tool:b@",
            "tool:c@",
            "prompt:p@",
            "resource:r:1@",
            "template:t:{x}@"
        ]
    );
    assert!(captured.surface.notes.is_empty());
    let stages = capture.stages.lock().unwrap();
    assert_eq!(stages[..2], [Stage::Starting, Stage::Handshake]);
    assert!(stages.contains(&Stage::Listing {
        kind: Kind::Tool,
        items: 3
    }));
    assert!(!stages.contains(&Stage::Settling));
    assert_eq!(stages.last(), Some(&Stage::Stopping));
}

#[test]
fn an_empty_cursor_is_a_cursor_but_null_is_not() {
    let scenario = r#"{"tools":[],"on":{"tools/list":[
        [{"result":{"tools":[{"name":"a"}],"nextCursor":""}}],
        [{"result":{"tools":[{"name":"b"}],"nextCursor":null}}]]}}"#;
    assert_eq!(tools(&Capture::of(scenario)), ["a", "b"]);
    let lines = received(|log| scenario.replacen('{', &format!("{{{log},"), 1));
    assert!(
        lines
            .iter()
            .any(|line| line.contains(r#""params":{"cursor":""}"#))
    );
}

#[test]
fn undeclared_capabilities_are_not_requested() {
    let lines = received(|log| {
        format!(r#"{{{log},{ONE_TOOL},"capabilities":{{"tools":{{}},"prompts":null}}}}"#)
    });
    let methods: Vec<String> = lines
        .iter()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line)
                .map_or(line.clone(), |it| it["method"].to_string())
        })
        .collect();
    assert_eq!(
        methods,
        [
            r#""initialize""#,
            r#""notifications/initialized""#,
            r#""tools/list""#,
            "<eof>"
        ]
    );
}

#[test]
fn method_not_found_means_an_empty_list() {
    let captured = Capture::of(r#"{"resources":[{"uri":"r:1"}],"tools":[],"on":{"tools/list":{"error":{"code":-32601,"message":"no"}}}}"#)
        .run()
        .unwrap();
    assert_eq!(names(&captured, Kind::Resource), ["r:1"]);
    assert!(captured.lists.resource_templates.is_empty());
    assert!(captured.lists.tools.is_empty());
}

// What is sent

#[test]
fn the_handshake_identifies_the_client_and_nothing_else() {
    let lines = received(|log| format!("{{{log},{ONE_TOOL}}}"));
    assert_eq!(
        lines,
        [
            r#"{"id":0,"jsonrpc":"2.0","method":"initialize","params":{"capabilities":{"elicitation":{},"roots":{},"sampling":{}},"clientInfo":{"name":"mcp-keel","version":"1"},"protocolVersion":"2025-11-25"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"id":1,"jsonrpc":"2.0","method":"tools/list","params":{}}"#,
            "<eof>",
        ]
    );
}

#[test]
fn any_capability_can_be_announced() {
    let (_folder, path) = log();
    let scenario = serde_json::json!({"log": path, "tools": []}).to_string();
    Capture::of(&scenario)
        .capabilities(&[
            "elicitation.url",
            "roots",
            "tasks",
            "unheard-of",
            "io.modelcontextprotocol/ui",
        ])
        .run()
        .unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let sent: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let expected = serde_json::json!({
        "elicitation": {"url": {}}, "roots": {}, "unheard-of": {}, "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}},
        "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}}},
    });
    assert_eq!(sent["params"]["capabilities"], expected);
}

#[test]
fn all_lists_are_requested_at_once() {
    // The server does not respond until the last of four requests has arrived.
    let capture = Capture::of(
        r#"{"tools":[],"prompts":[],"resources":[],"resourceTemplates":[],"on":{
            "tools/list":[],"prompts/list":[],"resources/list":[],"resources/templates/list":[
            {"raw":"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"resourceTemplates\":[]}}"},
            {"raw":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resources\":[]}}"},
            {"raw":"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"prompts\":[]}}"},
            {"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"last\"}]}}"}]}}"#,
    );
    assert_eq!(tools(&capture), ["last"]);
}

#[test]
fn stdin_stays_open_until_the_last_response() {
    // A server that ends with its stdin, and responds late.
    let capture = Capture::of(
        r#"{"tools":[],"eof":[{"exit":0}],"on":{"tools/list":[{"background":[{"sleep_ms":300},{"result":{"tools":[{"name":"late"}]}}]}]}}"#,
    );
    assert_eq!(tools(&capture), ["late"]);
}

#[test]
fn requests_from_the_server_are_answered_under_their_own_id_at_any_stage() {
    let lines = received(|log| {
        format!(
            r#"{{{log},{ONE_TOOL},"on":{{
            "initialize":[{{"request":"roots/list","id":"before"}},{{"request":"ping","id":1.50}},"answer"],
            "tools/list":[{{"request":"ping","id":"p-1"}},{{"request":"ping","id":0}},
                {{"request":"sampling/createMessage","id":12345678901234567890,"params":7}},
                {{"request":"elicitation/create","id":"e","params":null}},
                {{"request":"no/such","id":"n"}},"answer"]}}}}"#
        )
    });
    let answers: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| line.contains(r#""result""#) || line.contains(r#""error""#))
        .collect();
    assert_eq!(
        answers,
        [
            r#"{"jsonrpc":"2.0","id":"before","result":{"roots":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1.50,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"p-1","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":12345678901234567890,"error":{"code":-1,"message":"mcp-keel reads contracts; it has no model to ask"}}"#,
            r#"{"jsonrpc":"2.0","id":"e","result":{"action":"decline"}}"#,
            r#"{"jsonrpc":"2.0","id":"n","error":{"code":-32601,"message":"Method not found"}}"#,
        ]
    );
}

#[test]
fn requesting_a_deprecated_feature_is_a_finding() {
    let asks = |method: &str| {
        let scenario = format!(
            r#"{{{ONE_TOOL},"on":{{"tools/list":[{{"request":"{method}","id":1}},"answer"]}}}}"#
        );
        let captured = Capture::of(&scenario).run().unwrap();
        let notes = captured.surface.notes.into_iter();
        let notes = notes.filter(|note| note.kind == NoteKind::DeprecatedFeature);
        notes.map(|note| note.message).collect::<Vec<_>>()
    };
    let expected = [
        (
            "roots/list",
            "take folders as parameters, resource URIs or configuration",
        ),
        ("sampling/createMessage", "call the model provider's API"),
    ];
    for (method, instead) in expected {
        let message = format!(
            "the server asks for `{method}`: deprecated since 2026-07-28, may be removed by the first revision released on or after 2027-07-28; {instead}"
        );
        assert_eq!(asks(method), [message]);
    }
    assert!(asks("elicitation/create").is_empty());
}

// Settling

#[test]
fn a_change_announced_while_listing_causes_another_listing() {
    let scenario = r#"{"tools":[{"name":"early"}],"on":{"tools/list":[
        ["answer",{"set":{"tools":[{"name":"early"},{"name":"later"}]}},{"notify":"notifications/tools/list_changed"}],
        ["answer"]],"ping":["answer"]}}"#;
    // The announcement comes after the response here, so the capture may be complete before it; a
    // slower second list prevents that.
    let scenario = scenario.replace(
        r#""on":{"#,
        r#""prompts":[],"on":{"prompts/list":[{"sleep_ms":50},"answer"],"#,
    );
    let capture = Capture::of(&scenario);
    assert_eq!(tools(&capture), ["early", "later"]);
    assert!(capture.stages.lock().unwrap().contains(&Stage::Settling));
}

#[test]
fn a_change_announced_before_the_response_causes_another_listing() {
    let scenario = r#"{"tools":[{"name":"a"}],"on":{"tools/list":[
        [{"notify":"notifications/tools/list_changed","params":"malformed"},"answer",{"set":{"tools":[{"name":"b"}]}}],
        ["answer"]]}}"#;
    assert_eq!(tools(&Capture::of(scenario)), ["b"]);
}

#[test]
fn a_change_announced_right_after_the_response_of_a_changing_server_is_seen() {
    let later = r#""answer",{"sleep_ms":50},{"set":{"tools":[{"name":"z"}]}},{"notify":"notifications/tools/list_changed"}"#;
    for turns in [
        // One that has announced a change before.
        format!(
            r#"[{{"notify":"notifications/tools/list_changed"}},"answer"],[{later}],["answer"]"#
        ),
        // One that waits for the client's response.
        format!(r#"[{{"request":"roots/list","id":1}},{later}],["answer"]"#),
    ] {
        let scenario = format!(r#"{{{ONE_TOOL},"on":{{"tools/list":[{turns}]}}}}"#);
        assert_eq!(tools(&Capture::of(&scenario)), ["z"]);
    }
}

#[test]
fn a_changed_resource_list_also_affects_templates() {
    let scenario = r#"{"resources":[{"uri":"r:1"}],"resourceTemplates":[{"uriTemplate":"t:1"}],"on":{"resources/templates/list":[
        [{"notify":"notifications/resources/list_changed"},"answer",{"set":{"resourceTemplates":[{"uriTemplate":"t:2"}]}}],
        ["answer"]]}}"#;
    let captured = Capture::of(scenario).run().unwrap();
    assert_eq!(names(&captured, Kind::Template), ["t:2"]);
}

#[test]
fn a_list_that_never_settles_is_undetermined() {
    let scenario = format!(
        r#"{{{ONE_TOOL},"on":{{"tools/list":[{{"notify":"notifications/tools/list_changed"}},"answer"]}}}}"#
    );
    assert_eq!(
        Capture::of(&scenario)
            .limits(|limits| limits.relists = 3)
            .fails(),
        "the answer to `tools/list` does not settle: the server announced a change each of the 3 times it was listed again"
    );
}

#[test]
fn a_changing_server_without_ping_is_captured_anyway() {
    let moving = r#""tools/list":[{"request":"roots/list"},"answer"]"#;
    for ping in [r#"[]"#, r#"{"error":{"code":-32601,"message":"?"}}"#] {
        let scenario = format!(r#"{{{ONE_TOOL},"on":{{{moving},"ping":{ping}}}}}"#);
        assert_eq!(tools(&Capture::of(&scenario).impatient()), ["a"]);
    }
}

// Noise

#[test]
fn noise_on_stdout_is_tolerated_and_reported_once() {
    let scenario = format!(
        r#"{{{ONE_TOOL},
        "start":[{{"hex":"efbbbf"}},{{"raw":"Banner v1"}},{{"raw":""}},{{"raw":"  "}},{{"raw":"{{\"level\":\"info\"}}"}},{{"raw":"[1,2]"}},{{"raw":"7"}},{{"hex":"fffe0a"}},
                 {{"notify":"notifications/message","params":{{"level":[]}}}}],
        "on":{{"initialize":[{{"text":"\t"}},"answer"],
              "tools/list":[{{"raw":"{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{{\"tools\":[{{\"name\":\"a\"}}]}}}}\r"}},{{"raw":"bye"}}]}}}}"#
    );
    let captured = Capture::of(&scenario).run().unwrap();
    assert_eq!(names(&captured, Kind::Tool), ["a"]);
    let notes: Vec<_> = captured
        .surface
        .notes
        .iter()
        .map(|note| (note.kind, note.message.as_str()))
        .collect();
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].0, NoteKind::StdoutNoise);
    // The last line races with the end of the capture, so it may not be counted.
    let counted = notes[0].1.replace("6 lines", "5 lines");
    assert_eq!(
        counted,
        "5 lines that are not JSON-RPC, the first: `Banner v1` on stdout"
    );
}

#[test]
fn several_messages_in_one_array_are_read() {
    let scenario = format!(
        r#"{{{ONE_TOOL},"on":{{"initialize":[{{"raw":"[{{\"jsonrpc\":\"2.0\",\"method\":\"x\"}},{{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"result\":{{\"protocolVersion\":\"1\",\"capabilities\":{{\"tools\":{{}}}}}}}}]"}}]}}}}"#
    );
    assert_eq!(tools(&Capture::of(&scenario)), ["a"]);
}

#[test]
fn a_response_without_a_final_newline_counts() {
    let scenario = r#"{"tools":[],"on":{"tools/list":[{"text":"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[]}}"},{"exit":0}]}}"#;
    Capture::of(scenario).run().unwrap();
}

// Failures, each with its own message

#[test]
fn failures_at_startup_have_distinct_messages() {
    let command =
        |words: &[&str]| Capture::of_command(words.iter().map(|word| (*word).to_owned()).collect());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plain");
    std::fs::write(&file, "text").unwrap();
    let file = file.to_str().unwrap();

    assert_eq!(
        command(&["no-such-program-anywhere"]).fails(),
        "the command `no-such-program-anywhere` does not exist"
    );
    assert_eq!(
        command(&["./no/such"]).fails(),
        "the command `./no/such` does not exist"
    );
    assert_eq!(
        command(&[]).fails(),
        "no command was given to start the server"
    );
    assert_eq!(
        command(&[file]).fails(),
        format!("`{file}` is not executable")
    );
    let folder = folder.path().to_str().unwrap();
    assert_eq!(
        command(&[folder]).fails(),
        format!("`{folder}` is a directory, not a program")
    );
    let mut elsewhere = command(&["true"]);
    elsewhere.spec.cwd = Some("/no/such/folder".into());
    assert_eq!(
        elsewhere.fails(),
        "the working directory `/no/such/folder` does not exist"
    );

    assert_eq!(
        command(&["false"]).fails(),
        "the server ended with exit code 1 before it answered `initialize`"
    );
    assert_eq!(
        command(&["cat"]).fails(),
        "the command echoes what it is sent: it is not an MCP server"
    );
    assert_eq!(
        command(&["sleep", "1000"]).impatient().fails(),
        "the server did not answer `initialize` in 0.4 s"
    );
    assert_eq!(
        Capture::of_shell("echo hello; exec sleep 1000")
            .impatient()
            .fails(),
        "the server does not speak JSON-RPC: no answer to `initialize` in 0.4 s, and on stdout one line that is not JSON-RPC: `hello`"
    );
}

#[cfg(unix)]
#[test]
fn a_missing_interpreter_is_distinguished_from_a_missing_script() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let failure = Capture::of_command(vec![script.to_string_lossy().into()])
        .run()
        .unwrap_err();
    assert!(matches!(
        failure.error,
        CaptureError::Launch(LaunchError::NoInterpreter { .. })
    ));
}

#[test]
fn a_server_that_exits_at_once_is_reported_with_its_stderr() {
    let mut capture =
        Capture::of(r#"{"start":[{"stderr":"API_KEY is not set"},{"raw":"usage"},{"exit":3}]}"#);
    capture.spec.pass_env.insert("MCP_KEEL_TEST_NOT_SET".into());
    let failure = capture.run().unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the server ended with exit code 3 before it answered `initialize`; on stdout: one line that is not JSON-RPC: `usage`"
    );
    assert_eq!(failure.last_lines(5), ["API_KEY is not set"]);
    assert!(failure.help().contains("--pass-env"));
    assert!(
        failure
            .help()
            .ends_with("not set here: MCP_KEEL_TEST_NOT_SET")
    );
}

#[test]
fn a_server_that_dies_later_is_distinguished_from_one_that_closes_stdout() {
    let dies = r#"{"tools":[],"on":{"tools/list":["abort"]}}"#;
    assert_eq!(
        Capture::of(dies).fails(),
        "the server was killed by signal 6 (SIGABRT) before it answered `tools/list`"
    );
    let closes = r#"{"tools":[],"on":{"tools/list":["close-stdout"]}}"#;
    assert_eq!(
        Capture::of(closes).fails(),
        "the server closed its stdout before it answered `tools/list`, but still runs"
    );
}

#[test]
fn a_server_that_exits_leaving_a_silent_child_has_ended() {
    let capture = Capture::of_shell("sleep 1000 & exit 4");
    let failure = capture
        .limits(|limits| limits.start = Duration::from_secs(3600))
        .run()
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the server ended with exit code 4 before it answered `initialize`"
    );
}

#[test]
fn a_rejected_handshake_is_reported_with_its_reason() {
    let refusal = r#"{"on":{"initialize":{"error":{"code":-32000,"message":"no licence"}}}}"#;
    assert_eq!(
        Capture::of(refusal).fails(),
        "the server answered `initialize` with an error: -32000: no licence"
    );
    // A server that cannot read the request does not know its id.
    let unread = r#"{"on":{"initialize":{"raw":"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"parse error\"}}"}}}"#;
    assert_eq!(
        Capture::of(unread).fails(),
        "the server answered `initialize` with an error: -32700: parse error"
    );
}

#[test]
fn a_malformed_handshake_is_never_an_empty_contract() {
    for (result, problem) in [
        (r#""hi""#, "the result is a string"),
        (r#"{}"#, "it has no `protocolVersion`"),
        (
            r#"{"protocolVersion":1,"capabilities":{}}"#,
            "`protocolVersion` is a number, not a string",
        ),
        (r#"{"protocolVersion":"1"}"#, "it has no `capabilities`"),
        (
            r#"{"protocolVersion":"1","capabilities":[]}"#,
            "`capabilities` is an array, not an object",
        ),
    ] {
        let scenario = format!(r#"{{"on":{{"initialize":{{"result":{result}}}}}}}"#);
        assert_eq!(
            Capture::of(&scenario).fails(),
            format!("the server's answer to `initialize` is malformed: {problem}")
        );
    }
}

#[test]
fn a_list_that_fails_is_undetermined_never_removed() {
    for (answer, message) in [
        (
            r#"{"error":{"code":-32603,"message":"boom"}}"#,
            "the server answered `tools/list` with an error: -32603: boom",
        ),
        (
            r#"{"error":"text"}"#,
            r#"the server answered `tools/list` with an error: "text""#,
        ),
        (
            r#"{"result":{}}"#,
            "the server's answer to `tools/list` is malformed: it has no `tools`",
        ),
        (
            r#"{"result":null}"#,
            "the server's answer to `tools/list` is malformed: the result is null",
        ),
        (
            r#"{"result":{"tools":{}}}"#,
            "the server's answer to `tools/list` is malformed: `tools` is an object, not an array",
        ),
        (
            r#"{"result":{"tools":[],"nextCursor":7}}"#,
            "the server's answer to `tools/list` is malformed: `nextCursor` is a number",
        ),
        (
            r#"{"raw":"{\"id\":$id,\"result\":{\"tools\":[]}}"}"#,
            "the server's answer to `tools/list` is malformed: it has no `\"jsonrpc\": \"2.0\"`",
        ),
        (
            r#"{"raw":"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[}}"}"#,
            "the server's answer to `tools/list` cannot be read as JSON: column 44: expected a JSON value",
        ),
        (
            r#"[{"text":"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":\""},{"hex":"ff"},{"raw":"\"}"}]"#,
            "the server's answer to `tools/list` cannot be read as JSON: column 35: not valid UTF-8",
        ),
        (r#"[]"#, "the server did not answer `tools/list` in 0.4 s"),
        (
            r#"[{"raw":"oops"}]"#,
            "the server did not answer `tools/list` in 0.4 s; on stdout: one line that is not JSON-RPC: `oops`",
        ),
    ] {
        let scenario = format!(r#"{{"tools":[],"on":{{"tools/list":{answer}}}}}"#);
        assert_eq!(
            Capture::of(&scenario).impatient().fails(),
            message,
            "{answer}"
        );
    }
}

#[test]
fn method_not_found_on_a_later_page_is_a_failure() {
    let scenario = r#"{"tools":[],"on":{"tools/list":[
        [{"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}],[{"error":{"code":-32601,"message":"no"}}]]}}"#;
    assert_eq!(
        Capture::of(scenario).fails(),
        "the server answered `tools/list` with an error: -32601: no"
    );
}

#[test]
fn endless_pagination_is_bounded() {
    let page = |cursor: &str| {
        format!(
            r#"{{"tools":[],"on":{{"tools/list":{{"result":{{"tools":[],"nextCursor":"{cursor}"}}}}}}}}"#
        )
    };
    assert_eq!(
        Capture::of(&page("again")).fails(),
        "the server sent the cursor `again` of `tools/list` twice: its pages never end"
    );
    assert_eq!(
        Capture::of(&page("c$count"))
            .limits(|limits| limits.pages = 20)
            .fails(),
        "`tools/list` has more than 20 pages"
    );
    let slow = page("c$count")
        .replace(r#""tools/list":"#, r#""tools/list":[{"sleep_ms":20},"#)
        .replace("}}}}", "}}]}}");
    assert_eq!(
        Capture::of(&slow)
            .limits(|limits| limits.total = Duration::from_millis(300))
            .fails(),
        "the capture was not complete after 0.3 s: the server was still listing"
    );
}

#[test]
fn bytes_are_bounded_with_and_without_newlines() {
    for action in [
        r#"{"raw":"noise noise noise"}"#,
        r#"{"text":"endless endless endless"}"#,
    ] {
        let scenario = format!(r#"{{"start":[{{"repeat":0,"do":[{action}]}}]}}"#);
        assert_eq!(
            Capture::of(&scenario)
                .limits(|limits| limits.bytes = 100_000)
                .fails(),
            "the server wrote more than 100000 bytes to stdout"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_flood_of_noise_does_not_defeat_the_timeout() {
    let failure = Capture::of_command(vec!["yes".into()])
        .impatient()
        .run()
        .unwrap_err();
    let CaptureError::NotJsonRpc { noise, .. } = failure.error else {
        panic!("{failure}");
    };
    // Without checking the clock, tokio's own budget lets more than four million lines through at a
    // time.
    assert!(noise.lines < 4_000_000, "{noise}");
}

// Isolation

#[test]
fn the_server_sees_only_what_it_was_given() {
    let scenario = r#"{"tools":[{"name":"env","description":"$env{GITHUB_TOKEN} $env{CARGO_PKG_NAME} $env{NAMED} $env{TZ} $env{LANG} $env{PYTHONHASHSEED}"}]}"#;
    let captured = Capture::of(scenario).env("NAMED", "yes").run().unwrap();
    let description = captured.lists.tools[0].get("description").unwrap();
    // Cargo sets CARGO_PKG_NAME for this test.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    assert_eq!(description.as_str(), Some("- - yes UTC C.UTF-8 0"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_server_has_its_own_session_and_no_terminal() {
    let scenario = r#"{"tools":[{"name":"$pid","description":"$file{/proc/self/stat}"}]}"#;
    let captured = Capture::of(scenario).run().unwrap();
    let of_tool = |member| captured.lists.tools[0].get(member)?.as_str();
    // After the name of the program: state, parent, group, session, terminal.
    let (_, rest) = of_tool("description").unwrap().rsplit_once(')').unwrap();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let pid = of_tool("name").unwrap();
    assert_eq!(fields[2..5], [pid, pid, "0"]);
}

#[test]
fn the_working_directory_is_the_requested_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut capture = Capture::of(r#"{"tools":[{"name":"$cwd"}]}"#);
    capture.spec.cwd = Some(folder.path().to_owned());
    assert_eq!(
        tools(&capture),
        [folder.path().canonicalize().unwrap().to_str().unwrap()]
    );
}

#[test]
fn a_server_that_fills_stderr_does_not_block_and_the_tail_is_kept() {
    let scenario = format!(
        r#"{{{ONE_TOOL},"start":[{{"repeat":20000,"do":[{{"stderr":"a line of a talkative server"}}]}},{{"stderr":"the end"}}]}}"#
    );
    let captured = Capture::of(&scenario).run().unwrap();
    assert_eq!(captured.stderr.len(), mcp_capture::launch::STDERR_KEPT);
    assert!(captured.stderr.ends_with(b"the end\n"));
}

#[test]
fn last_words_that_do_not_fit_into_a_pipe_are_read() {
    let (_folder, done) = log();
    let words = "x".repeat(8 * 1024);
    let scenario = format!(
        r#"{{{ONE_TOOL},"eof":[{{"repeat":40,"do":[{{"stderr":"{words}"}}]}},{{"write":{done:?},"content":""}}]}}"#
    );
    let patient =
        Capture::of(&scenario).limits(|limits| limits.patience.after_eof = Duration::from_secs(60));
    assert_eq!(tools(&patient), ["a"]);
    assert!(done.exists());
}

// Nothing is left behind

#[cfg(target_os = "linux")]
mod left_behind {
    use super::*;
    use crate::scripted::{launched_processes, processes_with};

    /// Stray processes of every kind. Each has a variable that identifies it even without its
    /// marker.
    fn strays() -> String {
        let strays = [
            r#"["sleep","1000"]"#,
            r#"["sh","-c","sleep 1000 & sleep 1000"]"#,
            r#"["setsid","sleep","1000"]"#,
            r#"["setsid","-f","sh","-c","trap '' TERM HUP; sleep 1000; sleep 1000"]"#,
            r#"["env","-i","STRAY=$0","setsid","-f","sleep","1000"]"#,
        ];
        strays
            .map(|command| format!(r#"{{"spawn":{command}}}"#))
            .join(",")
    }

    fn variable(name: &str) -> String {
        format!("{name}-{}", std::process::id())
    }

    #[test]
    fn after_a_successful_capture_and_after_a_failed_one() {
        alone(
            module_path!(),
            "after_a_successful_capture_and_after_a_failed_one",
            || {
                for (reaction, good) in [
                    (r#""answer""#, true),
                    (r#"{"exit":1}"#, false),
                    (r#""hang""#, false),
                ] {
                    let stray = variable("stray");
                    let scenario = format!(
                        r#"{{{ONE_TOOL},"on":{{"tools/list":[{},{{"sleep_ms":200}},{reaction}]}}}}"#,
                        strays().replace("$0", &stray)
                    );
                    let capture = Capture::of(&scenario)
                        .limits(|limits| limits.request = Duration::from_millis(800));
                    let outcome = capture.env("STRAY", &stray).run();
                    assert_eq!(outcome.is_ok(), good, "{outcome:?}");
                    assert_eq!(processes_with(&format!("STRAY={stray}")), [""; 0]);
                    assert!(launched_processes().is_empty());
                }
            },
        );
    }

    #[test]
    fn a_server_that_ignores_every_request_to_exit_is_killed() {
        alone(
            module_path!(),
            "a_server_that_ignores_every_request_to_exit_is_killed",
            || {
                let scenario = format!(r#"{{{ONE_TOOL},"eof":["hang"]}}"#);
                let [server, scenario] = &scripted(&scenario)[..] else {
                    unreachable!()
                };
                let stray = variable("stubborn");
                let script = format!("trap '' TERM INT HUP; '{server}' '{scenario}'; sleep 1000");
                let capture = Capture::of_shell(&script)
                    .env("STRAY", &stray)
                    .limits(|limits| {
                        limits.patience.after_term = Duration::from_millis(100);
                    });
                assert_eq!(tools(&capture), ["a"]);
                assert_eq!(processes_with(&format!("STRAY={stray}")), [""; 0]);
            },
        );
    }

    /// Each starts another one, in a session of its own, and exits: where it was found it is no more.
    #[test]
    fn processes_that_start_others_all_the_time_are_ended_within_a_limit() {
        let has_perl = std::process::Command::new("perl").arg("-v").output();
        if !has_perl.is_ok_and(|it| it.status.success()) {
            return;
        }
        alone(
            module_path!(),
            "processes_that_start_others_all_the_time_are_ended_within_a_limit",
            || {
                let [server, scenario] = &scripted(&format!("{{{ONE_TOOL}}}"))[..] else {
                    unreachable!()
                };
                // They end by themselves, should nothing end them.
                let chains = r#"$e = time + 20; $SIG{TERM} = "IGNORE"; for (1 .. 60) { if (!fork) {
                    open STDIN, "</dev/null"; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null";
                    while (time < $e) { exit if fork; POSIX::setsid() } exit } }"#;
                let script = format!("perl -MPOSIX -e '{chains}'; exec '{server}' '{scenario}'");
                let stray = variable("chain");
                let capture = Capture::of_shell(&script).env("STRAY", &stray);
                let begun = std::time::Instant::now();
                let captured = capture.run().unwrap();
                // The end takes at most 5 s, and the rest is quick.
                let took = begun.elapsed();
                assert!(took < Duration::from_secs(10), "{took:?}");
                let left = processes_with(&format!("STRAY={stray}"));
                let notes = &captured.surface.notes;
                let is_said = notes.iter().any(|it| it.kind == NoteKind::ProcessesLeft);
                assert!(left.is_empty() || is_said, "{left:?}");
            },
        );
    }

    #[test]
    fn when_the_capture_is_dropped_halfway() {
        alone(
            module_path!(),
            "when_the_capture_is_dropped_halfway",
            || {
                let stray = variable("dropped");
                let scenario = format!(
                    r#"{{"start":[{},{{"raw":"up"}},"hang"]}}"#,
                    strays().replace("$0", &stray)
                );
                let capture = Capture::of(&scenario).env("STRAY", &stray);
                let seen = format!("STRAY={stray}");
                runtime().block_on(async {
                    let silent = |_| {};
                    let reach = mcp_capture::capture::Endpoint::Stdio(capture.spec.clone());
                    let run = mcp_capture::capture::capture(
                        &reach,
                        &capture.client,
                        capture.order,
                        &capture.limits,
                        &silent,
                    );
                    let all_up = async {
                        // Six sleeps: the script has two.
                        while processes_with(&seen)
                            .iter()
                            .filter(|it| it.starts_with("sleep"))
                            .count()
                            < 6
                        {
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                    };
                    tokio::select! {
                        outcome = run => panic!("the server never answers: {outcome:?}"),
                        () = all_up => {}
                    }
                });
                assert_eq!(processes_with(&seen), [""; 0]);
            },
        );
    }

    #[test]
    fn servers_running_in_parallel_do_not_end_each_other() {
        alone(
            module_path!(),
            "servers_running_in_parallel_do_not_end_each_other",
            || {
                // One ends early with strays of its own; the other is in the middle of its lists.
                let (early, late) = (variable("early"), variable("late"));
                let early_scenario = format!(
                    r#"{{{ONE_TOOL},"on":{{"tools/list":[{{"spawn":["setsid","-f","sleep","1000"]}},"answer"]}}}}"#
                );
                let late_scenario = r#"{"tools":[{"name":"z"}],"on":{"tools/list":[
            {"spawn":["env","-i","STRAY=$0","setsid","-f","sleep","1000"]},{"until_file":"$1"},"answer"]}}"#;
                let folder = tempfile::tempdir().unwrap();
                let go_on = folder.path().join("go on");
                let late_scenario = late_scenario
                    .replace("$0", &late)
                    .replace("$1", &go_on.to_string_lossy());
                let (sender, receiver) = mpsc::channel();
                let late_seen = format!("STRAY={late}");
                let thread = std::thread::spawn(move || {
                    let capture = Capture::of(&late_scenario).env("STRAY", &late);
                    sender.send(()).unwrap();
                    tools(&capture)
                });
                receiver.recv().unwrap();
                while processes_with(&late_seen).len() < 2 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                assert_eq!(
                    tools(&Capture::of(&early_scenario).env("STRAY", &early)),
                    ["a"]
                );
                assert_eq!(processes_with(&format!("STRAY={early}")), [""; 0]);
                assert_eq!(processes_with(&late_seen).len(), 2);
                std::fs::write(&go_on, "").unwrap();
                assert_eq!(thread.join().unwrap(), ["z"]);
                assert_eq!(processes_with(&late_seen), [""; 0]);
            },
        );
    }

    #[test]
    fn kill_all_ends_everything_and_the_capture_reports_it() {
        alone(
            module_path!(),
            "kill_all_ends_everything_and_the_capture_reports_it",
            || {
                let stray = variable("killed");
                let scenario = format!(
                    r#"{{"start":[{}],"on":{{"initialize":[]}}}}"#,
                    strays().replace("$0", &stray)
                );
                let capture = Capture::of(&scenario).env("STRAY", &stray);
                let seen = format!("STRAY={stray}");
                let thread = std::thread::spawn(move || capture.fails());
                while processes_with(&seen)
                    .iter()
                    .filter(|it| it.starts_with("sleep"))
                    .count()
                    < 6
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
                mcp_capture::launch::kill_all();
                assert_eq!(processes_with(&seen), [""; 0]);
                assert_eq!(
                    thread.join().unwrap(),
                    "the server was killed by signal 9 (SIGKILL) before it answered `initialize`"
                );
            },
        );
    }

    #[test]
    fn a_panic_ends_everything_through_the_hook() {
        alone(
            module_path!(),
            "a_panic_ends_everything_through_the_hook",
            || {
                let stray = variable("panicked");
                let capture = Capture::of(r#"{"start":["hang"]}"#).env("STRAY", &stray);
                let seen = format!("STRAY={stray}");
                let thread = std::thread::spawn(move || capture.fails());
                while processes_with(&seen).is_empty() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                mcp_capture::launch::install_guards();
                let panicked = std::thread::spawn(|| panic!("on purpose")).join();
                assert!(panicked.is_err());
                assert_eq!(processes_with(&seen), [""; 0]);
                thread.join().unwrap();
            },
        );
    }
}

#[cfg(unix)]
#[test]
fn a_signal_becomes_an_exit_code() {
    alone(module_path!(), "a_signal_becomes_an_exit_code", || {
        use nix::sys::signal::{Signal, raise};
        for (signal, code) in [
            (Signal::SIGINT, 130),
            (Signal::SIGTERM, 143),
            (Signal::SIGHUP, 129),
        ] {
            let got = runtime().block_on(async {
                let interrupted = tokio::spawn(mcp_capture::launch::interrupted());
                tokio::task::yield_now().await;
                raise(signal).expect("a signal to ourselves");
                interrupted.await.expect("no panic")
            });
            assert_eq!(got, code);
        }
    });
}

#[test]
fn a_scenario_may_be_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.json");
    std::fs::write(
        &path,
        "{\n  \"tools\": [\n    {\"name\": \"from a file\"}\n  ]\n}\n",
    )
    .unwrap();
    let capture = Capture::of(path.to_str().unwrap());
    assert_eq!(tools(&capture), ["from a file"]);
    let expected = parse_str(r#"{"name":"from a file"}"#).unwrap();
    assert_eq!(capture.run().unwrap().lists.tools, [expected]);
}

//! What servers over HTTP do wrong, and how it is reported: exit 3, a reason and a help line; never
//! a hang, never a guess.

use std::time::Duration;

use mcp_capture::{CaptureFailure, Captured, Endpoint, Limits, Order};
use mcp_keel::capture::http::{HttpAddress, HttpSpec, HttpTransport, Template};
use mcp_keel::surface::{ClientProfile, Era};
use serde_json::json;

use crate::http::special;
use crate::http_double::{
    Connection, Double, EVENTS, Mcp, Request, Way, event, json_answer, whole, write, write_last,
};
use crate::keel::{Keel, Run};
use crate::scripted::runtime;

/// A server that responds to one JSON-RPC method with these bytes, and then closes the connection.
fn answering(rpc: &'static str, bytes: impl Into<Vec<u8>>) -> Double {
    let bytes = bytes.into();
    special(move |request, connection| {
        (request.rpc() == rpc).then(|| write_last(connection, &bytes))
    })
}

fn fails(double: &Double) -> Run {
    Keel::new()
        .run(&["capture", "--timeout", "5", "--url", &double.url()])
        .exits(3)
}

/// A capture through the library, with the test's own limits.
fn capture(double: &Double, change: impl FnOnce(&mut Limits)) -> Result<Captured, CaptureFailure> {
    let url = HttpAddress::new(&Template::new(double.url()), &|_| None).unwrap();
    let mut limits = Limits::default();
    change(&mut limits);
    let reach = Endpoint::Http(Box::new(HttpSpec::of(url)));
    runtime().block_on(mcp_keel::capture::capture(
        &reach,
        &ClientProfile::default(),
        Order::First(Era::Legacy),
        &limits,
        &|_| {},
    ))
}

fn refused(double: &Double, change: impl FnOnce(&mut Limits)) -> String {
    capture(double, change)
        .expect_err("the capture fails")
        .to_string()
}

#[test]
fn each_status_has_its_own_advice() {
    let status = |status: &str, headers: &str, body: &str| {
        fails(&answering("initialize", whole(status, headers, body)))
    };
    let challenge = "WWW-Authenticate: Bearer realm=\"x\u{1b}\", resource_metadata=\"https://a.example/meta\"\r\n".replace('\u{1b}', "\t");
    status("401 Unauthorized", &challenge, "")
        .names(&["401", "Bearer realm="])
        .says("resource_metadata=")
        .says("--header 'Authorization: Bearer ${TOKEN}'")
        .says("OAuth login is not supported");
    status("403 Forbidden", "", "go away")
        .says("with 403 Forbidden")
        .says("--header");
    status("404 Not Found", "", "<h1>nothing here</h1>")
        .says("404 Not Found")
        .says("/mcp")
        .names(&["GET", "405"]);
    status("429 Too Many Requests", "", "")
        .says("429")
        .says("try again later");
    status("500 Internal Server Error", "", "\u{1b}[31moops")
        .says("oops")
        .says("server or proxy error")
        .says_nothing_of("\u{1b}");
    status("503 Service Unavailable", "", "").says("503");
}

#[test]
fn a_rejected_authorization_is_distinguished_from_a_missing_one() {
    let double = answering("initialize", whole("401 Unauthorized", "", ""));
    Keel::new()
        .run_with_env(
            &[
                "capture",
                "--url",
                &double.url(),
                "--header",
                "Authorization: Bearer ${T}",
            ],
            &[("T", "hunter2")],
        )
        .exits(3)
        .says("is not accepted")
        .says_nothing_of("hunter2");
}

#[test]
fn a_json_rpc_error_is_reported_whatever_its_status() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no database"}}"#;
    for status in ["200 OK", "400 Bad Request", "500 Internal Server Error"] {
        let bytes = whole(status, "Content-Type: application/json\r\n", error);
        fails(&answering("tools/list", bytes)).names(&["tools/list", "-32000: no database"]);
    }
}

#[test]
fn a_body_that_is_not_a_response_is_reported_with_its_beginning() {
    let html = "<!doctype html><title>Welcome</title>";
    fails(&answering(
        "initialize",
        whole("200 OK", "Content-Type: text/html\r\n", html),
    ))
    .says("text/html")
    .says("Welcome");
    fails(&answering("initialize", whole("202 Accepted", "", ""))).says("202");
    fails(&answering("initialize", json_answer(html)))
        .says("not a response to it")
        .says("Welcome");
    fails(&answering("initialize", json_answer(r#"{"ok": true}"#)))
        .says("not a response to it")
        .says("ok");
    fails(&answering(
        "tools/list",
        json_answer(r#"{"jsonrpc":"2.0","id":99,"result":{"tools":[]}}"#),
    ))
    .says("not a response to it");
    fails(&answering(
        "tools/list",
        whole(
            "200 OK",
            "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
            "x",
        ),
    ))
    .says("is compressed (gzip)");
}

#[test]
fn an_unreadable_response_is_not_repaired() {
    // A line break in a JSON string is invalid. Over stdio it would end the message; here it must
    // not become a space.
    let broken = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\nb\"}]}}";
    fails(&answering("tools/list", json_answer(broken))).names(&["tools/list", "JSON", "line 1"]);
    let events = format!("{EVENTS}{}", event(broken));
    fails(&answering("tools/list", events)).says("JSON");
}

#[test]
fn a_stream_that_ends_without_the_response_is_not_an_empty_list() {
    fails(&answering("tools/list", format!("{EVENTS}: hello\n\n"))).says("tools/list");
    let half = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"";
    fails(&answering("tools/list", half)).says("tools/list");
    fails(&answering("tools/list", "")).says("the connection broke");
    let chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    fails(&answering("tools/list", chunked)).says("tools/list");
    // An incomplete event at the end of the stream was never sent.
    let cut =
        format!("{EVENTS}data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":[]}}}}\n");
    fails(&answering("tools/list", cut)).says("tools/list");
}

#[test]
fn an_expired_session_is_reported() {
    let mcp = Mcp::new(Way::Json, "[]").with_session("s");
    let double = Double::start(move |request: &Request, connection: &mut dyn Connection| {
        match request.rpc().as_str() {
            "tools/list" => {
                let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}});
                write(
                    connection,
                    whole(
                        "404 Not Found",
                        "Content-Type: application/json\r\n",
                        &error.to_string(),
                    ),
                )
            }
            _ => mcp.respond(request, connection),
        }
    });
    fails(&double).says("session");
}

#[test]
fn a_redirect_to_another_origin_is_refused_and_never_requested() {
    let elsewhere = special(|_, _| None);
    let redirect = |status: &str, to: &str| {
        fails(&answering(
            "initialize",
            whole(status, &format!("Location: {to}\r\n"), ""),
        ))
    };
    redirect(
        "307 Temporary Redirect",
        &format!("{}?secret=1", elsewhere.url()),
    )
    .says("that is another host")
    .says_nothing_of("secret=1");
    redirect("308 Permanent Redirect", "https://127.0.0.1/mcp").says("changes http to https");
    redirect("302 Found", "/login").names(&["POST", "GET"]);
    redirect("307 Temporary Redirect", "/mcp").says("redirects");
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn an_http_sse_server_may_not_redirect_elsewhere_or_omit_its_address() {
    let stream =
        |events: &'static str| {
            let double =
                Double::start(move |request: &Request, connection: &mut dyn Connection| {
                    match request.method.as_str() {
                        "GET" => write_last(connection, format!("{EVENTS}{events}")),
                        _ => write(connection, whole("202 Accepted", "", "")),
                    }
                });
            Keel::new()
                .run(&[
                    "capture",
                    "--transport",
                    "sse",
                    "--timeout",
                    "2",
                    "--url",
                    &double.url(),
                ])
                .exits(3)
        };
    stream("event: endpoint\ndata: http://127.0.0.2:1/messages?key=hunter2\n\n")
        .says("http://127.0.0.2:1/messages")
        .says_nothing_of("hunter2");
    stream("event: endpoint\ndata: http://\n\n").says("is not a URL");
    stream("data: {}\n\n").says("`endpoint`");
    stream("event: endpoint\ndata: /messages\n\n").says("initialize");
}

#[test]
fn endless_responses_are_cut_off() {
    let endless = |head: &'static str, piece: &'static str| {
        special(move |request, connection| {
            (request.rpc() == "tools/list").then(|| {
                let mut going_on = write(connection, head);
                while going_on {
                    going_on = write(connection, piece.repeat(1000));
                }
                false
            })
        })
    };
    let small = |limits: &mut Limits| limits.bytes = 1_000_000;
    assert_eq!(
        refused(&endless(EVENTS, ": still here\n\n"), small),
        "the server sent more than 1000000 bytes"
    );
    assert_eq!(
        refused(&endless(EVENTS, "data: more\n"), small),
        "the server sent more than 1000000 bytes"
    );
    assert_eq!(
        refused(&endless(EVENTS, "data:\n\n"), |_| {}),
        "the server sent more than 100000 events"
    );
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[";
    assert_eq!(
        refused(&endless(json, "   "), small),
        "the server sent more than 1000000 bytes"
    );
    assert!(
        refused(
            &endless("HTTP/1.1 200 OK\r\n", "X-More: header\r\n"),
            |_| {}
        )
        .contains("the connection broke")
    );
}

#[test]
fn a_slow_or_silent_server_runs_into_the_timeout() {
    let dripping = special(|request, connection| {
        (request.rpc() == "tools/list").then(|| {
            let mut going_on = write(connection, EVENTS);
            while going_on {
                std::thread::sleep(Duration::from_millis(20));
                going_on = write(connection, ":\n");
            }
            false
        })
    });
    let short = |limits: &mut Limits| limits.request = Duration::from_millis(400);
    assert_eq!(
        refused(&dripping, short),
        "the server did not answer `tools/list` in 0.4 s"
    );
    let silent = |rpc: &'static str| {
        special(move |request, _| {
            (request.rpc() == rpc).then(|| {
                loop {
                    std::thread::park()
                }
            })
        })
    };
    assert_eq!(
        refused(&silent("tools/list"), short),
        "the server did not answer `tools/list` in 0.4 s"
    );
    assert!(
        refused(&silent("notifications/initialized"), short)
            .starts_with("the server did not answer `notifications/initialized`")
    );
    let start = |limits: &mut Limits| limits.start = Duration::from_millis(400);
    assert_eq!(
        refused(&silent("initialize"), start),
        "the server did not answer `initialize` in 0.4 s"
    );
    let total = |limits: &mut Limits| limits.total = Duration::from_millis(400);
    assert!(
        refused(&silent("tools/list"), total)
            .starts_with("the capture was not complete after 0.4 s")
    );
}

#[test]
fn a_server_with_a_missing_or_silent_stream_is_captured_anyway() {
    for answer in [
        "405 Method Not Allowed",
        "400 Bad Request",
        "500 Internal Server Error",
    ] {
        let double = special(move |request, connection| {
            (request.method == "GET").then(|| write(connection, whole(answer, "", "")))
        });
        assert_eq!(
            capture(&double, |_| {})
                .expect("a capture")
                .lists
                .tools
                .len(),
            1,
            "{answer}"
        );
    }
    let silent = special(|request, _| {
        (request.method == "GET").then(|| {
            loop {
                std::thread::park()
            }
        })
    });
    assert_eq!(
        capture(&silent, |_| {})
            .expect("a capture")
            .lists
            .tools
            .len(),
        1
    );
    assert_eq!(HttpTransport::default().word(), "auto");
}

//! Requests to GitHub's API on the wire: their headers, connections and redirects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_keel::github::{Api, ApiError, Context};
use serde_json::{Value, json};

use crate::http::{Authority, authority, over_tls};
use crate::http_double::{Connection, Double, Request, json_answer, whole, write, write_last};
use crate::scripted::runtime;

const TOKEN: &str = "Bearer ghs_thisIsTheToken";

/// The API for `octo/weather` below an address, with more of the runner's variables.
fn api_with(url: &str, more: &[(&str, &str)]) -> Api {
    let usual = [
        ("GITHUB_API_URL", url),
        ("GITHUB_REPOSITORY", "octo/weather"),
        ("GITHUB_SHA", "0123456789012345678901234567890123456789"),
        ("INPUT_TOKEN", "ghs_thisIsTheToken"),
    ];
    let env: BTreeMap<String, String> = usual
        .iter()
        .chain(more)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let context = Context::read(&env, None).unwrap();
    Api::new(&context, context.token.as_ref().unwrap()).unwrap()
}

fn api(url: &str) -> Api {
    api_with(url, &[])
}

fn base(double: &Double) -> String {
    format!("http://{}/api/v3", double.address)
}

/// A server that answers `"moved"` below `/moved`, and anywhere else with this status and location.
fn redirecting(status: &'static str, location: String) -> Double {
    Double::start(move |request, connection| {
        if request.target.starts_with("/moved") {
            return write(connection, json_answer(r#""moved""#));
        }
        let location = format!("Location: {location}\r\n");
        write(
            connection,
            whole(status, &location, r#"{"message": "Moved"}"#),
        )
    })
}

fn get(double: &Double, path: &str) -> Result<Value, ApiError> {
    runtime().block_on(async { api(&base(double)).get(path).await })
}

fn post(double: &Double, path: &str) -> Result<Value, ApiError> {
    runtime().block_on(async { api(&base(double)).post(path, &json!({"body": "x"})).await })
}

/// The headers of a request, by name.
fn headers<'a>(known: &[(&'a str, &'a str)], host: &'a str) -> BTreeMap<String, String> {
    let usual = [
        ("authorization", TOKEN),
        ("host", host),
        ("user-agent", "mcp-keel"),
        ("x-github-api-version", "2022-11-28"),
    ];
    let all = usual.iter().chain(known);
    all.map(|(name, it)| ((*name).to_owned(), (*it).to_owned()))
        .collect()
}

#[test]
fn requests_have_the_headers_that_github_asks_for_and_share_a_connection() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let wrap = move |socket| {
        counted.fetch_add(1, Ordering::SeqCst);
        Some(Box::new(socket) as Box<dyn Connection>)
    };
    let double = Double::start_with(wrap, |_, connection| write(connection, json_answer("{}")));
    runtime().block_on(async {
        let api = api(&base(&double));
        let _: Value = api.get("/labels?name=a%20b").await.unwrap();
        let _: Value = api.post("/labels", &json!({"name": "x"})).await.unwrap();
        let _: Value = api.set("/labels/x", &json!({"name": "y"})).await.unwrap();
        api.delete("/labels/y").await.unwrap();
    });
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    let seen = double.seen();
    let line = |it: &Request| format!("{} {} {}", it.method, it.target, it.body);
    let lines: Vec<String> = seen.iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "GET /api/v3/repos/octo/weather/labels?name=a%20b ",
            r#"POST /api/v3/repos/octo/weather/labels {"name":"x"}"#,
            r#"PATCH /api/v3/repos/octo/weather/labels/x {"name":"y"}"#,
            "DELETE /api/v3/repos/octo/weather/labels/y ",
        ]
    );
    let host = double.address.to_string();
    let empty = headers(&[("content-length", "0")], &host);
    let full = [
        ("content-length", "12"),
        ("content-type", "application/json"),
    ];
    let full = headers(&full, &host);
    for (request, expected) in seen.iter().zip([&empty, &full, &full, &empty]) {
        assert_eq!(&request.headers, expected, "{request:?}");
    }
}

#[test]
fn a_renamed_repository_is_read_at_its_new_address() {
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let double = redirecting(status, "/moved/1/labels?page=2".to_owned());
        assert_eq!(get(&double, "/labels").unwrap(), "moved");
        let seen = double.seen();
        assert_eq!(seen.len(), 2, "{status}");
        assert_eq!(seen[1].target, "/moved/1/labels?page=2");
        assert_eq!(seen[1].header("authorization"), TOKEN);
    }
}

#[test]
fn the_token_is_not_sent_to_another_host() {
    // The second redirect stays where the first one led.
    let other = Double::start(|request, connection| {
        if request.target == "/moved" {
            return write(connection, json_answer(r#""moved""#));
        }
        write(connection, whole("302 Found", "Location: /moved\r\n", "{}"))
    });
    let to = format!("http://{}/first", other.address);
    let double = redirecting("302 Found", to);
    assert_eq!(get(&double, "/labels").unwrap(), "moved");
    let seen = other.seen();
    assert_eq!(seen.len(), 2);
    for request in seen {
        assert_eq!(request.header("host"), other.address.to_string());
        assert_eq!(request.header("authorization"), "");
    }
    assert_eq!(double.seen()[0].header("authorization"), TOKEN);
}

/// An API over TLS that answers as `redirecting` does.
fn redirecting_over_tls(
    server: Arc<rustls::ServerConfig>,
    status: &'static str,
    location: &str,
) -> Double {
    let location = format!("Location: {location}\r\n");
    Double::start_with(over_tls(server), move |_, connection| {
        let answer = whole(status, &location, r#"{"message": "Moved"}"#);
        write(connection, answer)
    })
}

#[test]
fn a_redirect_from_https_to_http_is_not_followed() {
    let Authority { ca, server } = authority();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, ca).unwrap();
    let plain = redirecting("200 OK", String::new());
    let to = format!("http://{}/moved", plain.address);
    let double = redirecting_over_tls(server, "302 Found", &to);
    let refused = runtime().block_on(async {
        let url = format!("https://{}", double.address);
        let more = [
            ("GITHUB_WORKSPACE", "/workspace"),
            ("INPUT_CA", file.to_str().unwrap()),
        ];
        api_with(&url, &more).get::<Value>("/labels").await
    });
    assert_eq!(refused.unwrap_err().status(), Some(302));
    assert!(plain.seen().is_empty());
}

#[test]
fn certificates_of_the_workflow_are_trusted_but_none_that_the_pull_request_can_change() {
    let Authority { ca, server } = authority();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, ca).unwrap();
    let file = file.to_str().unwrap();
    let double = redirecting_over_tls(server, "200 OK", "/");
    let url = format!("https://{}", double.address);
    let ask = |more: &[(&str, &str)]| {
        let answer = runtime().block_on(async {
            let api = api_with(&url, more);
            api.post::<Value>("/labels", &json!({})).await
        });
        answer.map_err(|error| error.to_string())
    };
    let inside = folder.path().to_str().unwrap();
    let outside = [("GITHUB_WORKSPACE", "/workspace"), ("INPUT_CA", file)];
    assert!(ask(&outside).is_ok());
    for more in [
        &[("GITHUB_WORKSPACE", inside), ("INPUT_CA", file)][..],
        &[("INPUT_CA", file)],
        &[],
    ] {
        let refused = ask(more).unwrap_err();
        assert!(refused.contains("invalid peer certificate"), "{refused}");
    }
    assert_eq!(double.seen().len(), 1);
}

#[test]
fn a_write_follows_a_redirect_that_keeps_it_within_its_host() {
    let double = redirecting("307 Temporary Redirect", "/moved/1".to_owned());
    assert_eq!(post(&double, "/labels").unwrap(), "moved");
    let seen = double.seen();
    let calls: Vec<(&str, &str)> = seen
        .iter()
        .map(|it| (it.method.as_str(), it.body.as_str()))
        .collect();
    assert_eq!(
        calls,
        [("POST", r#"{"body":"x"}"#), ("POST", r#"{"body":"x"}"#)]
    );
    assert_eq!(seen[1].header("authorization"), TOKEN);

    // It must not become a GET, and its body stays here.
    let other = redirecting("200 OK", String::new());
    let elsewhere = format!("http://{}/moved", other.address);
    for (status, to) in [
        ("301 Moved Permanently", "/moved".to_owned()),
        ("307 Temporary Redirect", elsewhere),
    ] {
        let double = redirecting(status, to);
        let refused = post(&double, "/labels").unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!(
                "POST /repos/octo/weather/labels: GitHub answered {}: Moved",
                &status[..3]
            )
        );
        assert_eq!(double.seen().len(), 1);
    }
    assert!(other.seen().is_empty());
}

#[test]
fn redirects_in_a_circle_end() {
    let double = redirecting("301 Moved Permanently", "/again".to_owned());
    let refused = get(&double, "/labels").unwrap_err();
    assert_eq!(refused.status(), Some(301));
    assert_eq!(double.seen().len(), 6);
}

#[test]
fn an_answer_that_is_too_long_is_an_error_and_not_asked_for_again() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let announced = Double::start(|_, connection| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n";
        write(connection, head)
    });
    let endless = Double::start(move |_, connection| {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
        let mut is_read = write(connection, head);
        while is_read && counted.fetch_add(1, Ordering::SeqCst) < 300 {
            is_read = write(connection, &chunk);
        }
        write_last(connection, "0\r\n\r\n")
    });
    for double in [announced, endless] {
        let refused = get(&double, "/labels").unwrap_err();
        assert!(matches!(refused, ApiError::Answer { .. }), "{refused}");
        assert_eq!(
            refused.to_string(),
            "GET /repos/octo/weather/labels: cannot read the response: it is longer than 67108864 bytes"
        );
        assert_eq!(double.seen().len(), 1);
    }
    // MiB. What is beyond the limit was in buffers of the sockets.
    let sent = sent.load(Ordering::SeqCst);
    assert!((64..100).contains(&sent), "{sent}");
}

/// A server that gives each of these answers once, and then `"done"`.
fn failing(answers: &[&str]) -> Double {
    let answers = std::sync::Mutex::new(answers.iter().rev().map(|it| (*it).to_owned()).collect());
    Double::start(move |_, connection| {
        let next = Vec::pop(&mut answers.lock().unwrap());
        write(connection, next.unwrap_or_else(|| json_answer(r#""done""#)))
    })
}

#[test]
fn only_what_may_be_done_twice_is_repeated_after_a_502() {
    let bad = whole("502 Bad Gateway", "", "<html>no JSON</html>");
    runtime().block_on(async {
        let double = failing(&[&bad]);
        let done: Value = api(&base(&double)).get("/labels").await.unwrap();
        assert_eq!((done, double.seen().len()), (json!("done"), 2));

        let double = failing(&[&bad]);
        let body = json!({"name": "x"});
        let done: Value = api(&base(&double)).set("/labels", &body).await.unwrap();
        assert_eq!((done, double.seen().len()), (json!("done"), 2));
        assert_eq!(double.seen()[1].body, r#"{"name":"x"}"#);

        let double = failing(&[&bad]);
        api(&base(&double)).delete("/labels/x").await.unwrap();
        assert_eq!(double.seen().len(), 2);

        let double = failing(&[&bad]);
        let posted = api(&base(&double)).post::<Value>("/labels", &body).await;
        let appended = failing(&[&bad]);
        let append = api(&base(&appended))
            .append::<Value>("/labels", &body)
            .await;
        for (answer, double) in [(posted, &double), (append, &appended)] {
            let open = answer.unwrap_err();
            assert!(matches!(open, ApiError::Ambiguous { .. }), "{open}");
            assert!(open.to_string().ends_with("GitHub answered 502"), "{open}");
            assert_eq!(double.seen().len(), 1);
        }
    });
}

#[test]
fn a_broken_connection_is_no_reason_to_post_twice() {
    let double = Double::start(|_, connection| write_last(connection, ""));
    let open = post(&double, "/labels").unwrap_err();
    assert!(matches!(open, ApiError::Ambiguous { .. }), "{open}");
    assert_eq!(double.seen().len(), 1);
}

#[test]
fn a_rate_limit_is_waited_for_as_long_as_it_says_and_not_for_hours() {
    let limit = |status: &str, header: &str| whole(status, header, r#"{"message": "Slow down"}"#);
    let waited = |double: &Double| {
        let begun = std::time::Instant::now();
        let answer = post(double, "/labels");
        (answer, begun.elapsed().as_secs())
    };
    // Nothing was done, so a POST is sent again too. The second wait is longer than a usual pause.
    let double = failing(&[
        &limit("429 Too Many Requests", "retry-after: 0\r\n"),
        &limit("403 Forbidden", "retry-after: 2\r\n"),
    ]);
    let (answer, seconds) = waited(&double);
    assert_eq!(answer.unwrap(), "done");
    assert!(seconds >= 2, "{seconds}");
    assert_eq!(double.seen().len(), 3);

    let double = failing(&[&limit("403 Forbidden", "retry-after: 7200\r\n")]);
    let limited = post(&double, "/labels").unwrap_err();
    assert!(matches!(limited, ApiError::Limited { seconds: 7200, .. }));
    assert_eq!(double.seen().len(), 1);

    let always = limit("429 Too Many Requests", "retry-after: 0\r\n");
    let double = failing(&[&always; 10].map(|it| it.as_str()));
    let limited = post(&double, "/labels").unwrap_err();
    assert!(matches!(limited, ApiError::Limited { seconds: 0, .. }));
    assert_eq!(double.seen().len(), 4);
}

#[test]
fn a_list_is_read_to_its_last_page() {
    let double = Double::start(|request, connection| {
        let is_second = request.target.ends_with("&per_page=100&page=2");
        let count = if is_second { 7 } else { 100 };
        let runs: Vec<Value> = (0..count).map(|id| json!({"id": id})).collect();
        let answer = json!({"total_count": 107, "check_runs": runs});
        write(connection, json_answer(&answer.to_string()))
    });
    let path = "/commits/main/check-runs?filter=all";
    let runs: Result<Vec<Value>, _> =
        runtime().block_on(async { api(&base(&double)).all(path, Some("check_runs")).await });
    assert_eq!(runs.unwrap().len(), 107);
    assert_eq!(double.seen().len(), 2);
}

#[test]
fn an_unreachable_api_is_reported_with_its_cause() {
    let unused = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = unused.local_addr().unwrap();
    drop(unused);
    let failed = runtime().block_on(async {
        let api = api(&format!("http://{address}"));
        api.post::<Value>("/labels", &json!({})).await
    });
    let failed = failed.unwrap_err().to_string();
    let expected = "POST /repos/octo/weather/labels: no answer: Connection refused";
    assert!(failed.starts_with(expected), "{failed}");
}

//! Requests to GitHub's API on the wire: their headers, connections and redirects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_keel::github::{Api, ApiError, Context};
use serde_json::{Value, json};

use crate::http_double::{Connection, Double, Request, json_answer, whole, write};
use crate::scripted::runtime;

const TOKEN: &str = "Bearer ghs_thisIsTheToken";

/// The API for `octo/weather` below an address.
fn api(url: &str) -> Api {
    let env = [
        ("GITHUB_API_URL", url),
        ("GITHUB_REPOSITORY", "octo/weather"),
        ("GITHUB_SHA", "0123456789012345678901234567890123456789"),
        ("INPUT_TOKEN", "ghs_thisIsTheToken"),
    ];
    let env: BTreeMap<String, String> = env.map(|(name, it)| (name.into(), it.into())).into();
    let context = Context::read(&env, None).unwrap();
    Api::new(&context, context.token.as_ref().unwrap()).unwrap()
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
        ("user-agent", "octocrab"),
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
    let other = redirecting("200 OK", String::new());
    let to = format!("http://{}/moved", other.address);
    let double = redirecting("302 Found", to);
    assert_eq!(get(&double, "/labels").unwrap(), "moved");
    let seen = other.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].header("host"), other.address.to_string());
    assert_eq!(seen[0].header("authorization"), "");
    assert_eq!(double.seen()[0].header("authorization"), TOKEN);
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
    let double = Double::start(|_, connection| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n";
        write(connection, head)
    });
    let refused = get(&double, "/labels").unwrap_err();
    assert!(matches!(refused, ApiError::Answer { .. }));
    assert_eq!(
        refused.to_string(),
        "GET /repos/octo/weather/labels: cannot read the response: it is longer than 67108864 bytes"
    );
    assert_eq!(double.seen().len(), 1);
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

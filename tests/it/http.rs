//! Servers over HTTP: what is requested and sent, and that the transport makes no difference.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::http_double::{
    Connection, Double, EVENTS, Mcp, Request, Way, event, json_answer, whole, write, write_last,
};
use crate::keel::Keel;
use crate::scripted::scripted;

/// A list with everything that a careless reader would lose: number spellings, member order,
/// repeated members, line breaks between parts.
const TOOLS: &str = "[{\"name\": \"b\", \"inputSchema\": {\"type\": \"object\", \"maximum\": 1.0e+2,\n  \"x\": 1, \"x\": 12345678901234567890.10},\r\n \"vendor\": null}, {\"name\": \"a\",\"description\":\"\\ud800 \\u00e9\"}]";

const ONE: &str = r#"[{"name": "greet", "inputSchema": {"type": "object"}}]"#;

fn ordinary(way: Way, tools: &str) -> Double {
    let mcp = Mcp::new(way, tools);
    Double::start(move |request, connection| mcp.respond(request, connection))
}

/// A server that responds to some requests in its own way and to all others normally.
pub(crate) fn special(
    respond: impl Fn(&Request, &mut dyn Connection) -> Option<bool> + Send + Sync + 'static,
) -> Double {
    let mcp = Mcp::new(Way::Json, ONE);
    Double::start(move |request, connection| {
        respond(request, connection).unwrap_or_else(|| mcp.respond(request, connection))
    })
}

fn tools_of(capture: &Value) -> Vec<&str> {
    let tools = capture["tools"].as_array().expect("a list");
    tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect()
}

#[test]
fn the_same_server_is_the_same_over_stdio_json_events_and_sse() {
    let initialize = r#""protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"double","version":"1.0.0"}"#;
    let scenario = format!(r#"{{"tools": {TOOLS}, {initialize}}}"#);
    let keel = Keel::new();
    let command = scripted(&scenario);
    let stdio = keel
        .run(&["capture", "--", &command[0], &command[1]])
        .exits(0)
        .stdout;
    assert!(stdio.contains("1.0e+2") && stdio.contains("12345678901234567890.10"));
    for way in [Way::Json, Way::Events, Way::Sse] {
        let double = ordinary(way, TOOLS);
        let captured = keel.run(&["capture", "--url", &double.url()]).exits(0);
        // The scripted server writes the members of its identity in another order.
        let lists = |text: &str| {
            let from = text.find("\"tools\": [").expect("tools");
            let to = text.find("\"notes\": [").expect("notes");
            text[from..to].to_owned()
        };
        assert_eq!(lists(&captured.stdout), lists(&stdio), "{way:?}");
        // The transport itself is deprecated.
        let noted = captured
            .stdout
            .contains("HTTP+SSE transport: deprecated since 2025-03-26");
        assert_eq!(noted, matches!(way, Way::Sse), "{way:?}");
    }
}

#[test]
fn a_pinned_server_is_clean_over_another_transport_and_drift_is_drift() {
    let keel = Keel::new();
    let json = ordinary(Way::Json, TOOLS);
    keel.run(&["pin", "--url", &json.url()]).exits(0);
    let baseline = keel.read("mcp-baseline.json");
    assert!(!baseline.contains("127.0.0.1"), "{baseline}");
    for way in [Way::Json, Way::Events, Way::Sse] {
        keel.run(&["check", "--url", &ordinary(way, TOOLS).url()])
            .exits(0);
    }
    let drifted = ordinary(Way::Sse, ONE);
    keel.run(&["check", "--url", &drifted.url()])
        .exits(1)
        .says("tool-removed");
    keel.run(&["diff", "mcp-baseline.json", &drifted.url()])
        .exits(1)
        .says("tool-removed");
}

#[test]
fn the_first_request_is_bare_and_all_others_carry_session_and_revision() {
    let mcp = Mcp::new(Way::Json, ONE).with_session("abc-123");
    let double = Double::start(move |request, connection| mcp.respond(request, connection));
    Keel::new()
        .run(&["capture", "--url", &double.url()])
        .exits(0);
    let seen = double.seen();
    let calls = double.calls();
    assert_eq!(
        calls,
        [
            "POST initialize",
            "GET",
            "POST notifications/initialized",
            "POST tools/list",
            "DELETE"
        ]
    );
    let (first, rest) = seen.split_first().unwrap();
    assert_eq!(
        (
            first.header("mcp-session-id"),
            first.header("mcp-protocol-version")
        ),
        ("", "")
    );
    assert_eq!(
        first.header("accept"),
        "application/json, text/event-stream"
    );
    assert_eq!(first.header("content-type"), "application/json");
    assert_eq!(first.header("accept-encoding"), "");
    for request in rest {
        assert_eq!(request.header("mcp-session-id"), "abc-123", "{request:?}");
        assert_eq!(
            request.header("mcp-protocol-version"),
            "2025-06-18",
            "{request:?}"
        );
    }
    assert_eq!(seen[1].header("accept"), "text/event-stream");
}

#[test]
fn server_requests_and_notifications_before_the_response_are_processed() {
    let double = special(|request, connection| {
        if request.rpc() != "tools/list" {
            return None;
        }
        let ping = json!({"jsonrpc": "2.0", "id": "s-1", "method": "ping"});
        let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
        let answer = Mcp::new(Way::Json, ONE).answer(request)?;
        let events = format!(
            "{EVENTS}: keep-alive\n\n{}{}{}",
            event(&log.to_string()),
            event(&ping.to_string()),
            event(&answer)
        );
        Some(write_last(connection, events))
    });
    Keel::new()
        .run(&["capture", "--url", &double.url()])
        .exits(0)
        .says("greet");
    let answers: Vec<Request> = double
        .seen()
        .into_iter()
        .filter(|it| it.body.contains("s-1"))
        .collect();
    assert_eq!(
        answers[0].body,
        r#"{"jsonrpc":"2.0","id":"s-1","result":{}}"#
    );
}

#[test]
fn a_change_announced_on_the_servers_own_stream_causes_another_listing() {
    let mcp = Arc::new(Mcp::new(Way::Json, ONE).with_session("s"));
    let double = Double::start(move |request, connection| {
        if request.rpc() == "notifications/initialized" {
            mcp.set_tools(r#"[{"name": "greet", "inputSchema": {"type": "object"}}, {"name": "later", "inputSchema": {"type": "object"}}]"#);
        }
        let going_on = mcp.respond(request, connection);
        if request.rpc() == "tools/list" && request.id() == json!(1) {
            mcp.say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
        }
        going_on
    });
    let run = Keel::new()
        .run(&["capture", "--url", &double.url()])
        .exits(0);
    assert_eq!(tools_of(&run.json()), ["greet", "later"]);
}

#[test]
fn a_stream_that_ends_before_the_response_is_resumed() {
    let double = special(|request, connection| {
        match (request.method.as_str(), request.rpc().as_str()) {
            ("POST", "tools/list") => {
                let primed = format!("{EVENTS}id: e-7\nretry: 1\ndata: \n\n");
                Some(write_last(connection, primed))
            }
            ("GET", _) if request.header("last-event-id") == "e-7" => {
                let answer =
                    json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "resumed"}]}});
                Some(write_last(
                    connection,
                    EVENTS.to_owned() + &event(&answer.to_string()),
                ))
            }
            _ => None,
        }
    });
    let run = Keel::new()
        .run(&["capture", "--url", &double.url()])
        .exits(0);
    assert_eq!(tools_of(&run.json()), ["resumed"]);
}

#[test]
fn headers_are_filled_from_the_environment_and_never_shown() {
    let double = ordinary(Way::Json, ONE);
    let keel = Keel::new();
    let url = double.url();
    let args = [
        "pin",
        "--url",
        &url,
        "--header",
        "Authorization: Bearer ${TOKEN}",
        "--header",
        "X-Key: literal-secret",
    ];
    let secret = [("TOKEN", "hunter2-token")];
    keel.run_with_env(&args, &secret)
        .exits(0)
        .says_nothing_of("hunter2")
        .says_nothing_of("literal-secret");
    for request in double.seen() {
        assert_eq!(request.header("authorization"), "Bearer hunter2-token");
        assert_eq!(request.header("x-key"), "literal-secret");
    }
    // The agent is that of the client which the server sees; `pin` boots once more as another.
    let agents = |seen: &[crate::http_double::Request]| -> std::collections::BTreeSet<String> {
        let agents = seen.iter().map(|it| it.header("user-agent").to_owned());
        agents.collect()
    };
    assert_eq!(
        agents(&double.seen()),
        ["mcp-keel", "node"].map(str::to_owned).into()
    );
    let before = double.seen().len();
    let mut as_client = args.to_vec();
    as_client.extend(["--client", "windsurf"]);
    keel.run_with_env(&as_client, &secret);
    let expected = ["Go-http-client/1.1", "node"].map(str::to_owned).into();
    assert_eq!(agents(&double.seen()[before..]), expected);
    let baseline = keel.read("mcp-baseline.json");
    assert!(
        !baseline.contains("hunter2")
            && !baseline.contains("literal-secret")
            && !baseline.contains("uthorization")
    );
    // The suggested command for accepting a change names the variable, never its value.
    let drifted = ordinary(Way::Json, TOOLS);
    let url = drifted.url();
    let mut args = args;
    (args[0], args[2]) = ("check", &url);
    keel.run_with_env(&args, &secret)
        .exits(1)
        .says("'Authorization: Bearer ${TOKEN}'")
        .says("'X-Key: ${X_KEY}'")
        .says_nothing_of("hunter2")
        .says_nothing_of("literal-secret");
}

#[test]
fn an_unsendable_header_is_a_usage_error_that_shows_no_value() {
    let keel = Keel::new();
    let run = |args: &[&str]| {
        keel.run_with_env(&[&["capture"][..], args].concat(), &[("EMPTY", " ")])
            .exits(2)
    };
    run(&["--url", "localhost/mcp"]).says("not a URL");
    run(&["--url", "ws://localhost/mcp"]).says("begins with `ws:`");
    run(&["--url", "https://me:hunter2@localhost/"])
        .says("contains credentials")
        .says_nothing_of("hunter2");
    let url = ["--url", "http://127.0.0.1:9/mcp"];
    let with = |more: &[&str]| run(&[&url[..], more].concat());
    with(&["--header", "hunter2"])
        .says("`Name: value`")
        .says_nothing_of("hunter2");
    with(&["--header", "X: ${NOT_SET}"]).says("NOT_SET");
    with(&["--header", "X: ${EMPTY}"]).says("EMPTY");
    with(&["--header", "Content-Length: 1"]).says("content-length");
    with(&["--ca", "missing.pem"]).says("missing.pem");
    with(&["--proxy", "socks5://x:1"]).says("begins with http://");
    with(&["--start", "'"]).says("--start");
    with(&["--env", "A=B"]).says("nothing is started");
    run(&["--header", "X: y", "--", "server"]).names(&["--header", "HTTP"]);
    run(&["--url", "http://127.0.0.1:9/mcp", "--", "server"]).says("cannot be used with");
    keel.write(
        "mcp-keel.toml",
        "[server.a]\nurl = \"http://127.0.0.1:9/a\"\n[server.b]\nurl = \"http://127.0.0.1:9/b\"\n",
    );
    keel.run(&["check", "--header", "X: y"])
        .exits(2)
        .names(&["--header", "2", "a, b"]);
}

#[test]
fn a_configured_server_has_its_headers_and_a_typed_address_has_none_of_them() {
    let configured = ordinary(Way::Json, ONE);
    let typed = ordinary(Way::Json, ONE);
    let config = format!(
        "[server.a]\nurl = \"{}?v=${{V}}\"\nheaders = {{ X-Key = \"${{KEY}}\" }}\n",
        configured.url()
    );
    let keel = Keel::new().file("mcp-keel.toml", &config);
    let env = [("KEY", "k-1"), ("V", "v-2")];
    keel.run_with_env(&["pin"], &env).exits(0);
    assert!(
        configured
            .seen()
            .iter()
            .all(|it| it.header("x-key") == "k-1" && it.target == "/mcp?v=v-2")
    );
    assert!(!keel.read("mcp-baseline.json").contains("v-2"));
    keel.run_with_env(&["check", "a", "--url", &typed.url()], &env)
        .exits(0);
    assert!(typed.seen().iter().all(|it| it.header("x-key").is_empty()));
}

#[test]
fn a_redirect_within_the_origin_is_followed_and_remembered() {
    let double = special(|request, connection| {
        (request.target == "/mcp").then(|| {
            write(
                connection,
                whole("307 Temporary Redirect", "Location: /mcp/\r\n", ""),
            )
        })
    });
    Keel::new()
        .run(&["capture", "--url", &double.url()])
        .exits(0)
        .says("greet");
    let posted = double
        .seen()
        .into_iter()
        .filter(|it| it.method == "POST" && it.target == "/mcp");
    assert_eq!(posted.count(), 1);
}

#[test]
fn a_connection_that_the_server_closed_while_idle_is_replaced() {
    let double = special(|request, connection| {
        let answer = Mcp::new(Way::Json, ONE).answer(request)?;
        // Promises keep-alive, and closes.
        Some(write_last(connection, json_answer(&answer)))
    });
    Keel::new()
        .run(&["capture", "--url", &double.url()])
        .exits(0)
        .says("greet");
}

#[test]
fn an_http_sse_server_is_detected_and_its_query_is_kept() {
    let double = ordinary(Way::Sse, ONE);
    Keel::new()
        .run(&["capture", "--url", &double.url()])
        .exits(0)
        .says("greet");
    assert!(
        double
            .seen()
            .iter()
            .any(|it| it.target == "/messages?session=1")
    );
    let asked = ordinary(Way::Sse, ONE);
    Keel::new()
        .run(&["capture", "--url", &asked.url(), "--transport", "sse"])
        .exits(0);
    assert_eq!(
        asked.calls(),
        [
            "GET",
            "POST initialize",
            "POST notifications/initialized",
            "POST tools/list"
        ]
    );
    let refused = ordinary(Way::Sse, ONE);
    Keel::new()
        .run(&[
            "capture",
            "--url",
            &refused.url(),
            "--transport",
            "streamable",
        ])
        .exits(3)
        .says("405");
}

/// A program that serves over HTTP, on a free port.
fn program(way: &str) -> (String, String) {
    let port = std::net::TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let scripted = std::path::PathBuf::from(&scripted("{}")[0]);
    let program = scripted.with_file_name(format!("http-double{}", std::env::consts::EXE_SUFFIX));
    let words = [
        program.to_string_lossy().into_owned(),
        port.to_string(),
        way.to_owned(),
        ONE.to_owned(),
    ];
    let command = shlex::try_join(words.iter().map(String::as_str)).unwrap();
    (command, format!("http://127.0.0.1:{port}/mcp"))
}

#[test]
fn a_started_server_is_waited_for_and_ended() {
    for way in ["json", "sse"] {
        let (command, url) = program(way);
        let late = format!("sh -c 'sleep 0.3; exec \"$0\" \"$@\"' {command}");
        let keel = Keel::new();
        keel.run(&["pin", "--url", &url, "--start", &late]).exits(0);
        assert!(
            std::net::TcpStream::connect(url[7..].trim_end_matches("/mcp")).is_err(),
            "it is gone"
        );
        let baseline = keel.read("mcp-baseline.json");
        assert!(!baseline.contains("127.0.0.1"), "{baseline}");
    }
}

#[test]
fn a_server_that_fails_to_start_is_reported_with_its_output() {
    let keel = Keel::new();
    let (_, url) = program("json");
    let start = |command: &str| {
        keel.run(&[
            "capture",
            "--url",
            &url,
            "--timeout",
            "1",
            "--start",
            command,
        ])
        .exits(3)
    };
    start("sh -c 'echo listening soon; echo no database >&2; exit 3'")
        .names(&["exit code 3", "`initialize`"])
        .says("no database")
        .says("listening soon");
    start("sleep 60")
        .says("127.0.0.1")
        .says("name the same port");
    start("no-such-program-here").says("no-such-program-here");
    keel.run(&["capture", "--url", &url])
        .exits(3)
        .says("connection refused")
        .says("--start");
}

#[test]
fn a_server_is_not_started_where_another_one_listens() {
    let other = ordinary(Way::Json, ONE);
    let (command, _) = program("json");
    Keel::new()
        .run(&["capture", "--url", &other.url(), "--start", &command])
        .exits(3)
        .says("before the server is started");
    assert!(other.seen().is_empty());
}

#[test]
fn a_proxy_is_used_only_if_requested() {
    let proxy = ordinary(Way::Json, ONE);
    let server = ordinary(Way::Json, ONE);
    let at = format!("http://me:pass@{}", proxy.address);
    let env = [
        ("HTTP_PROXY", at.as_str()),
        ("http_proxy", at.as_str()),
        ("ALL_PROXY", at.as_str()),
    ];
    let keel = Keel::new();
    let url = server.url();
    keel.run_with_env(&["capture", "--url", &url], &env)
        .exits(0);
    assert!(proxy.seen().is_empty());
    keel.run_with_env(&["capture", "--url", &url, "--proxy", "env"], &env)
        .exits(0);
    let seen = proxy.seen();
    assert_eq!(seen[0].target, url);
    assert_eq!(seen[0].header("proxy-authorization"), "Basic bWU6cGFzcw==");
    let unproxied = [&env[..], &[("NO_PROXY", "127.0.0.1")]].concat();
    keel.run_with_env(&["capture", "--url", &url, "--proxy", "env"], &unproxied)
        .exits(0);
    assert_eq!(proxy.seen().len(), seen.len());
}

/// Certificates of a test authority: its own, and one for 127.0.0.1 with its key.
pub(crate) struct Authority {
    pub(crate) ca: String,
    pub(crate) server: Arc<rustls::ServerConfig>,
}

pub(crate) fn authority() -> Authority {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .unwrap();
    Authority {
        ca,
        server: Arc::new(config),
    }
}

/// TLS over a socket.
pub(crate) fn over_tls(
    config: Arc<rustls::ServerConfig>,
) -> impl Fn(std::net::TcpStream) -> Option<Box<dyn Connection>> {
    move |socket| {
        let connection = rustls::ServerConnection::new(Arc::clone(&config)).ok()?;
        Some(Box::new(rustls::StreamOwned::new(connection, socket)))
    }
}

fn encrypted(config: Arc<rustls::ServerConfig>) -> Double {
    let mcp = Mcp::new(Way::Events, ONE);
    Double::start_with(over_tls(config), move |request, connection| {
        mcp.respond(request, connection)
    })
}

#[test]
fn a_certificate_is_accepted_if_a_trusted_authority_signed_it() {
    let Authority { ca, server } = authority();
    let double = encrypted(server);
    let url = double.url().replace("http:", "https:");
    let keel = Keel::new()
        .file("ca.pem", &ca)
        .file("other.pem", &authority().ca)
        .file("empty.pem", "");
    keel.run(&["capture", "--url", &url, "--ca", "ca.pem"])
        .exits(0)
        .says("greet");
    keel.run(&["capture", "--url", &url, "--ca", "other.pem"])
        .exits(3)
        .says("not signed by a trusted authority")
        .says("--ca FILE");
    keel.run(&["capture", "--url", &url, "--ca", "empty.pem"])
        .exits(2)
        .says("it contains none");
    let elsewhere = url.replace("127.0.0.1", "localhost");
    keel.run(&["capture", "--url", &elsewhere, "--ca", "ca.pem"])
        .exits(3)
        .says("no encrypted connection to localhost");
    let plain = ordinary(Way::Json, ONE).url().replace("http:", "https:");
    keel.run(&["capture", "--url", &plain, "--ca", "ca.pem"])
        .exits(3)
        .says("no encrypted connection");
}

#[test]
fn encrypted_traffic_is_tunnelled_and_the_proxy_sees_no_header() {
    let Authority { ca, server } = authority();
    let double = encrypted(server);
    let target = double.address;
    let tunnels = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tunnels);
    let proxy = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let at = proxy.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{BufRead as _, Write as _};
        for near in proxy.incoming().flatten() {
            let mut near_lines = std::io::BufReader::new(near.try_clone().unwrap());
            let mut head = String::new();
            while near_lines.read_line(&mut head).unwrap() > 2 {}
            assert!(
                head.starts_with(&format!("CONNECT {target} HTTP/1.1\r\n")),
                "{head}"
            );
            assert!(!head.contains("hunter2"), "{head}");
            counted.fetch_add(1, Ordering::SeqCst);
            let (mut near, mut far) = (near, std::net::TcpStream::connect(target).unwrap());
            near.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            let (mut near_too, mut far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut near_too, &mut far_too));
            std::thread::spawn(move || std::io::copy(&mut far, &mut near));
        }
    });
    let keel = Keel::new().file("ca.pem", &ca);
    let url = double.url().replace("http:", "https:");
    let proxy = format!("http://{at}");
    let args = [
        "capture",
        "--url",
        &url,
        "--ca",
        "ca.pem",
        "--proxy",
        &proxy,
        "--header",
        "X: ${SECRET}",
    ];
    keel.run_with_env(&args, &[("SECRET", "hunter2")])
        .exits(0)
        .says("greet");
    assert!(tunnels.load(Ordering::SeqCst) > 0);
    let refusing = special(|request, connection| {
        (request.method == "CONNECT").then(|| write(connection, whole("403 Forbidden", "", "")))
    });
    let proxy = format!("http://{}", refusing.address);
    keel.run(&[
        "capture", "--url", &url, "--ca", "ca.pem", "--proxy", &proxy,
    ])
    .exits(3)
    .says("the proxy")
    .says("403");
}

/// What is published beside the endpoint, with `read-resources`: the card, the scopes of the metadata,
/// and those that a request without a token is asked for.
#[test]
fn the_card_and_the_scopes_are_pinned_and_compared() {
    let (scope, version) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (asked, carded) = (Arc::clone(&scope), Arc::clone(&version));
    let double = special(move |request, connection| {
        let scopes = ["read", "read write"][asked.load(Ordering::SeqCst)];
        match request.target.as_str() {
            "/mcp/server-card" => {
                let version = ["1.0.0", "0.9.0"][carded.load(Ordering::SeqCst)];
                let card = json!({"$schema": "https://a.example/server-card.schema.json", "name": "com.example/double",
                    "version": version});
                Some(write(connection, json_answer(&card.to_string())))
            }
            "/.well-known/oauth-protected-resource/mcp" => {
                let metadata = json!({"scopes_supported": ["read"]});
                Some(write(connection, json_answer(&metadata.to_string())))
            }
            "/mcp" if request.header("authorization").is_empty() => {
                let challenge = format!("WWW-Authenticate: Bearer scope=\"{scopes}\"\r\n");
                Some(write(connection, whole("401 Unauthorized", &challenge, "")))
            }
            _ => None,
        }
    });
    let keel = Keel::new();
    let url = double.url();
    let with = |command: &'static str| {
        let header = "Authorization: Bearer ${TOKEN}";
        [
            command,
            "--url",
            &url,
            "--header",
            header,
            "--read-resources",
            "--format",
            "json",
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let check = || {
        let words = with("check");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let report = keel
            .run_with_env(&words, &[("TOKEN", "secret-token-1")])
            .json();
        let changes = report["servers"][0]["changes"].as_array().unwrap().clone();
        changes
            .iter()
            .map(|it| {
                format!(
                    "{} {}",
                    it["rule"].as_str().unwrap(),
                    it["message"].as_str().unwrap()
                )
            })
            .collect::<Vec<_>>()
    };
    let words = with("pin");
    let words: Vec<&str> = words[..words.len() - 2]
        .iter()
        .map(String::as_str)
        .collect();
    keel.run_with_env(&words, &[("TOKEN", "secret-token-1")])
        .exits(0);
    let baseline = keel.read("mcp-baseline.json");
    assert!(!baseline.contains("secret-token"), "{baseline}");
    assert_eq!(check(), [""; 0]);
    scope.store(1, Ordering::SeqCst);
    assert_eq!(check(), ["scope-added new scope `write`"]);
    scope.store(0, Ordering::SeqCst);
    version.store(1, Ordering::SeqCst);
    let changes = check();
    let rules = ["server-card-changed", "server-card-now-disagrees"];
    assert!(
        changes.len() == 2
            && rules
                .iter()
                .all(|rule| changes.iter().any(|it| it.starts_with(rule))),
        "{changes:?}"
    );
}

/// A server that fails to answer has not given up its scopes; one that has no document has.
#[test]
fn scopes_that_are_not_answered_are_not_removed() {
    let status = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&status);
    let double = special(move |request, connection| {
        if request.target != "/.well-known/oauth-protected-resource/mcp" {
            return None;
        }
        let answer = match asked.load(Ordering::SeqCst) {
            0 => json_answer(&json!({"scopes_supported": ["read"]}).to_string()),
            1 => whole("503 Service Unavailable", "", ""),
            _ => whole("404 Not Found", "", ""),
        };
        Some(write(connection, answer))
    });
    let keel = Keel::new();
    let url = double.url();
    keel.run(&["pin", "--url", &url, "--read-resources"])
        .exits(0);
    let check = |state: usize| {
        status.store(state, Ordering::SeqCst);
        let args = [
            "check",
            "--url",
            &url,
            "--read-resources",
            "--format",
            "json",
        ];
        let report = keel.run(&args).json();
        let rules = |list: &str| {
            let list = report["servers"][0][list].as_array().unwrap().clone();
            let rules = list
                .iter()
                .map(|it| it["rule"].as_str().unwrap().to_owned());
            rules.collect::<Vec<String>>()
        };
        (rules("changes"), rules("findings"))
    };
    assert_eq!(check(0).0, [""; 0]);
    let (changes, findings) = check(1);
    assert_eq!(changes, [""; 0]);
    assert!(
        findings.contains(&"not-observed".to_owned()),
        "{findings:?}"
    );
    assert_eq!(check(2).0, ["scope-removed"]);
}

#[test]
fn plain_http_behind_https_is_recognised() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((mut connection, _)) = listener.accept() {
            let mut hello = [0; 512];
            let _ = connection.read(&mut hello);
            let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let keel = Keel::new().file("ca.pem", &authority().ca);
    keel.run(&["capture", "--ca", "ca.pem", "--timeout", "5", "--url", &url])
        .exits(3)
        .says("write http:// in --url");
}

#[test]
fn tls_behind_http_is_recognised() {
    let double = encrypted(authority().server);
    let keel = Keel::new();
    let args = ["capture", "--timeout", "5", "--url", &double.url()];
    keel.run(&args)
        .exits(3)
        .says("if the port expects TLS: write https:// in --url");
    // As nginx answers.
    let body = "<center>The plain HTTP request was sent to HTTPS port</center>";
    let double = Double::start(move |_, connection| {
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        connection.write_all(answer.as_bytes()).is_ok()
    });
    let args = ["capture", "--timeout", "5", "--url", &double.url()];
    keel.run(&args)
        .exits(3)
        .says("the port expects TLS: write https:// in --url");
}

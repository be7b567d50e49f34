//! An HTTP server that responds with exact bytes, for testing that transport.
//!
//! Blocking and small on purpose: one thread per connection. What is special about a server is a
//! function from a request to the bytes to write; [`Mcp`] is what an ordinary server would write.
//! `examples/http-double.rs` is an ordinary server as a program.

// More than one test binary includes this file, and none uses all of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// With its query.
    pub(crate) target: String,
    /// By lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Request {
    /// The JSON-RPC method in the body; empty if there is none.
    pub(crate) fn rpc(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["method"].as_str().unwrap_or_default().to_owned()
    }

    /// The JSON-RPC id in the body.
    pub(crate) fn id(&self) -> Value {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["id"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// The connection that a request came on.
pub(crate) trait Connection: Read + Write + Send {}
impl<C: Read + Write + Send> Connection for C {}

/// Writes bytes. A client that has disconnected is ignored.
pub(crate) fn write(connection: &mut dyn Connection, bytes: impl AsRef<[u8]>) -> bool {
    connection.write_all(bytes.as_ref()).is_ok() && connection.flush().is_ok()
}

/// Writes bytes, then closes the connection.
pub(crate) fn write_last(connection: &mut dyn Connection, bytes: impl AsRef<[u8]>) -> bool {
    write(connection, bytes);
    false
}

/// A complete response.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

/// A complete JSON response.
pub(crate) fn json_answer(body: &str) -> String {
    whole("200 OK", "Content-Type: application/json\r\n", body)
}

/// The beginning of an event stream, which ends with the connection.
pub(crate) const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// A server that listens on its own port until the test ends.
pub(crate) struct Double {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Double {
    /// `respond` writes the response to a request, and returns whether to keep the connection.
    pub(crate) fn start(
        respond: impl Fn(&Request, &mut dyn Connection) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(|socket| Some(Box::new(socket)), respond)
    }

    /// The same, over whatever `wrap` makes of a socket.
    pub(crate) fn start_with(
        wrap: impl Fn(TcpStream) -> Option<Box<dyn Connection>> + Send + Sync + 'static,
        respond: impl Fn(&Request, &mut dyn Connection) -> bool + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::default();
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || listen(&listener, &Arc::new(wrap), &Arc::new(respond), &shared));
        Self { address, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// HTTP method and JSON-RPC method of every request so far.
    pub(crate) fn calls(&self) -> Vec<String> {
        let call = |it: &Request| format!("{} {}", it.method, it.rpc()).trim().to_owned();
        self.seen().iter().map(call).collect()
    }
}

/// Serves `listener` forever.
pub(crate) fn listen<W, R>(
    listener: &TcpListener,
    wrap: &Arc<W>,
    respond: &Arc<R>,
    seen: &Arc<Mutex<Vec<Request>>>,
) where
    W: Fn(TcpStream) -> Option<Box<dyn Connection>> + Send + Sync + 'static,
    R: Fn(&Request, &mut dyn Connection) -> bool + Send + Sync + 'static,
{
    for socket in listener.incoming() {
        let Ok(socket) = socket else { continue };
        let (wrap, respond, seen) = (Arc::clone(wrap), Arc::clone(respond), Arc::clone(seen));
        std::thread::spawn(move || {
            let Some(connection) = wrap(socket) else {
                return;
            };
            let mut connection = BufReader::new(connection);
            while let Some(request) = read(&mut connection) {
                seen.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(request.clone());
                if !respond(&request, connection.get_mut()) {
                    break;
                }
            }
        });
    }
}

fn read(connection: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    connection
        .read_line(&mut line)
        .ok()
        .filter(|count| *count > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let mut request = Request {
        method: words.next()?,
        target: words.next()?,
        ..Request::default()
    };
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        request
            .headers
            .insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    connection.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}

/// How an ordinary server responds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Way {
    /// Streamable HTTP, each response a JSON body.
    #[default]
    Json,
    /// Streamable HTTP, each response in its own stream.
    Events,
    /// HTTP+SSE.
    Sse,
}

/// An ordinary server with these tools.
pub(crate) struct Mcp {
    way: Way,
    /// The text of the list, sent unchanged.
    tools: Mutex<String>,
    session: Option<String>,
    /// Receives what it sends on its own initiative.
    listener: Mutex<Option<Sender<String>>>,
}

impl Mcp {
    pub(crate) fn new(way: Way, tools: &str) -> Self {
        Self {
            way,
            tools: Mutex::new(tools.to_owned()),
            session: None,
            listener: Mutex::default(),
        }
    }

    /// With sessions, and so with its own stream.
    pub(crate) fn with_session(mut self, session: &str) -> Self {
        self.session = Some(session.to_owned());
        self
    }

    pub(crate) fn set_tools(&self, tools: &str) {
        tools.clone_into(&mut self.tools.lock().unwrap());
    }

    /// Sends a message on its own initiative.
    pub(crate) fn say(&self, message: &Value) {
        if let Some(listener) = &*self.listener.lock().unwrap() {
            let _ = listener.send(message.to_string());
        }
    }

    /// The response to a JSON-RPC request; `None` for anything else.
    pub(crate) fn answer(&self, request: &Request) -> Option<String> {
        let id = request.id();
        if id.is_null() || request.rpc().is_empty() {
            return None;
        }
        let result = match request.rpc().as_str() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "double", "version": "1.0.0"},
            })
            .to_string(),
            "ping" => "{}".to_owned(),
            "tools/list" => format!(r#"{{"tools":{}}}"#, self.tools.lock().unwrap()),
            _ => return Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}).to_string()),
        };
        Some(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        ))
    }

    /// Responds as such a server does.
    pub(crate) fn respond(&self, request: &Request, connection: &mut dyn Connection) -> bool {
        let legacy = self.way == Way::Sse;
        match request.method.as_str() {
            "GET" if legacy || self.session.is_some() => {
                let mut events = EVENTS.to_owned();
                if legacy {
                    events.push_str("event: endpoint\ndata: /messages?session=1\n\n");
                }
                let messages = self.listen();
                self.stream(connection, &events, &messages);
                false
            }
            "POST" if legacy && request.target.starts_with("/messages") => {
                if let Some(answer) = self.answer(request) {
                    self.forward(answer);
                }
                write(connection, whole("202 Accepted", "", "Accepted"))
            }
            "POST" if legacy => write(connection, whole("405 Method Not Allowed", "", "no")),
            "POST" => self.post(request, connection),
            "DELETE" if self.session.is_some() => write(connection, whole("200 OK", "", "")),
            _ => write(connection, whole("405 Method Not Allowed", "", "no")),
        }
    }

    fn post(&self, request: &Request, connection: &mut dyn Connection) -> bool {
        let Some(answer) = self.answer(request) else {
            return write(connection, whole("202 Accepted", "", ""));
        };
        let session = match (&self.session, request.rpc().as_str()) {
            (Some(session), "initialize") => format!("Mcp-Session-Id: {session}\r\n"),
            _ => String::new(),
        };
        match self.way {
            Way::Events => {
                let event = event(&answer);
                let head = EVENTS.replace("\r\n\r\n", &format!("\r\n{session}\r\n"));
                write(connection, head + &event);
                false
            }
            _ => {
                let headers = format!("Content-Type: application/json; charset=utf-8\r\n{session}");
                write(connection, whole("200 OK", &headers, &answer))
            }
        }
    }

    fn listen(&self) -> Receiver<String> {
        let (sender, messages) = channel();
        *self.listener.lock().unwrap() = Some(sender);
        messages
    }

    fn forward(&self, message: String) {
        if let Some(listener) = &*self.listener.lock().unwrap() {
            let _ = listener.send(message);
        }
    }

    fn stream(&self, connection: &mut dyn Connection, first: &str, messages: &Receiver<String>) {
        let mut going_on = write(connection, first);
        while going_on && let Ok(message) = messages.recv() {
            going_on = write(connection, event(&message));
        }
    }
}

/// A message as an event: one data line for each of its lines.
pub(crate) fn event(message: &str) -> String {
    let lines: String = message
        .lines()
        .map(|line| format!("data: {line}\n"))
        .collect();
    format!("event: message\n{lines}\n")
}

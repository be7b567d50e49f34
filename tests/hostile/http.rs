//! Hostile servers over HTTP: scripts that define which bytes are written on the connection for a
//! request.
//!
//! The server itself is the double of `http_double.rs`, in this process. `{}` alone is a complete,
//! well-behaved server with one tool. The members of a script, all optional:
//!
//! | member | meaning |
//! |---|---|
//! | `way` | `json`, `events` (Streamable HTTP) or `sse` (HTTP+SSE): how it responds by default |
//! | `session` | the session id that it assigns; with it, it has its own stream |
//! | `tools` | its list, sent byte for byte |
//! | `on` | `{"KEY": actions}`: instead of the default reaction. KEY is the JSON-RPC method, `response` for responses to the server's requests, the HTTP method of anything but a POST (`GET`, `DELETE`), or `*` for all others. A list of lists has the actions for the first time, the second, ...; the last one is repeated |
//!
//! Actions are run in order, as those of `crates/mcp-capture/examples/scripted-server.rs`:
//!
//! | action | effect |
//! |---|---|
//! | `"answer"` | what the server would have done without the script |
//! | `{"status": TEXT, "headers": [TEXT], "body": TEXT}` | a complete response, with the right `Content-Length` |
//! | `{"json": TEXT}` | a complete JSON response with status 200 |
//! | `"events"`, `{"event": TEXT}` | begins an event stream; one message in it |
//! | `{"text": TEXT}`, `{"hex": "ff0a"}`, `{"stream": PARTS}` | exactly these bytes; PARTS as there |
//! | `{"repeat": N, "do": ACTIONS}` | runs ACTIONS N times; 0 means forever |
//! | `{"sleep_ms": N}`, `"hang"` | waits; forever |
//! | `{"await": KEY, "times": N}` | waits until there were N requests with that KEY |
//! | `"close"` | closes the connection, which otherwise stays open |
//!
//! In every text, `$answer` is the default response, `$length` its number of bytes, and `$chunk`
//! the same in hex; `$id` is the id of the current request, `$count` how many requests had its KEY,
//! `$session` how many connections were opened, `$header{NAME}` a header of the request, `$url` the
//! address of the server and `$elsewhere` that of another server, which must never be contacted.
//! All but the first three also work in `tools`.

use std::collections::BTreeMap;
use std::io::BufWriter;
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::http_double::{
    Connection, Double, EVENTS, Mcp, Request, Way, event, json_answer, whole, write,
};
use crate::parts::{bytes_of, stream};

/// Longer than every timeout in the scripts.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    way: Way,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    tools: Option<Box<RawValue>>,
    #[serde(default)]
    on: BTreeMap<String, Reaction>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Reaction {
    InTurn(Vec<Vec<Action>>),
    Always(Vec<Action>),
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Action {
    Word(Word),
    Status {
        status: String,
        #[serde(default)]
        headers: Vec<String>,
        #[serde(default)]
        body: String,
    },
    Json {
        json: String,
    },
    Event {
        event: String,
    },
    Text {
        text: String,
    },
    Hex {
        hex: String,
    },
    Stream {
        stream: Value,
    },
    Repeat {
        repeat: u64,
        r#do: Vec<Action>,
    },
    Sleep {
        sleep_ms: u64,
    },
    Await {
        r#await: String,
        times: usize,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Answer,
    Events,
    Hang,
    Close,
}

/// An HTTP server that follows a script, and a second server.
pub(super) struct Opponent {
    double: Double,
    elsewhere: TcpListener,
}

impl Opponent {
    pub(super) fn start(script: &str) -> Self {
        let read = |script: &str| -> Script {
            serde_json::from_str(script).unwrap_or_else(|it| panic!("{it}: {script}"))
        };
        let script = read(script);
        let elsewhere = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let tools = script.tools.or(read(super::USUAL).tools).unwrap();
        let mcp = Mcp::new(script.way, tools.get());
        let server = Server {
            mcp: match &script.session {
                Some(session) => mcp.with_session(session),
                None => mcp,
            },
            tools,
            on: script.on,
            elsewhere: format!("http://{}", elsewhere.local_addr().unwrap()),
            counts: Arc::default(),
        };
        let double = Double::start(move |request, connection| server.respond(request, connection));
        Self { double, elsewhere }
    }

    pub(super) fn url(&self) -> String {
        self.double.url()
    }

    /// Variables that would lead elsewhere if they were respected.
    pub(super) fn temptations(&self) -> [(&'static str, String); 4] {
        let address = format!("http://{}", self.elsewhere.local_addr().unwrap());
        ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].map(|name| (name, address.clone()))
    }

    /// Whether the second server was contacted, or the server more often than `at_most`.
    pub(super) fn judge(&self, at_most: Option<usize>) -> Result<(), String> {
        let calls = self.double.calls();
        if self.elsewhere.accept().is_ok() {
            return Err("the second server was contacted".into());
        }
        if calls.is_empty() {
            return Err("the server was never asked".into());
        }
        if at_most.is_some_and(|most| calls.len() > most) {
            Err(format!("{} requests: {calls:?}", calls.len()))
        } else {
            Ok(())
        }
    }
}

struct Server {
    mcp: Mcp,
    tools: Box<RawValue>,
    on: BTreeMap<String, Reaction>,
    elsewhere: String,
    /// Requests by their key, and a signal for those waiting for one.
    counts: Arc<(Mutex<BTreeMap<String, usize>>, Condvar)>,
}

/// A request, and how many there were with its key.
struct Asked<'a> {
    request: &'a Request,
    count: usize,
}

impl Server {
    fn respond(&self, request: &Request, connection: &mut dyn Connection) -> bool {
        let key = match (request.method.as_str(), request.rpc()) {
            ("POST", rpc) if rpc.is_empty() => "response".to_owned(),
            ("POST", rpc) => rpc,
            (other, _) => other.to_owned(),
        };
        let count = {
            let (counts, came) = &*self.counts;
            let mut counts = counts.lock().unwrap();
            let count = counts.entry(key.clone()).or_default();
            *count += 1;
            came.notify_all();
            *count
        };
        let asked = Asked { request, count };
        match self.on.get(&key).or_else(|| self.on.get("*")) {
            None => self.usual(&asked, connection),
            Some(Reaction::Always(actions)) => self.act(actions, &asked, connection),
            Some(Reaction::InTurn(turns)) => {
                let turn = (count - 1).min(turns.len() - 1);
                self.act(&turns[turn], &asked, connection)
            }
        }
    }

    fn usual(&self, asked: &Asked<'_>, connection: &mut dyn Connection) -> bool {
        self.fill_tools(asked);
        self.mcp.respond(asked.request, connection)
    }

    /// Requests of one kind come one after another, so the list is not shared meanwhile.
    fn fill_tools(&self, asked: &Asked<'_>) {
        if asked.request.rpc() == "tools/list" {
            self.mcp.set_tools(&self.named(self.tools.get(), asked));
        }
    }

    /// Returns whether to keep the connection open.
    fn act(&self, actions: &[Action], asked: &Asked<'_>, connection: &mut dyn Connection) -> bool {
        actions.iter().all(|it| self.step(it, asked, connection))
    }

    fn step(&self, action: &Action, asked: &Asked<'_>, connection: &mut dyn Connection) -> bool {
        let filled = |text: &str| self.filled(text, asked);
        match action {
            Action::Word(Word::Answer) => self.usual(asked, connection),
            Action::Word(Word::Events) => write(connection, EVENTS),
            Action::Word(Word::Hang) => loop {
                std::thread::park();
            },
            Action::Word(Word::Close) => false,
            Action::Status {
                status,
                headers,
                body,
            } => {
                let headers: String = headers.iter().map(|it| filled(it) + "\r\n").collect();
                write(connection, whole(status, &headers, &filled(body)))
            }
            Action::Json { json } => write(connection, json_answer(&filled(json))),
            Action::Event { event: text } => write(connection, event(&filled(text))),
            Action::Text { text } => write(connection, filled(text)),
            Action::Hex { hex } => write(connection, bytes_of(hex)),
            Action::Stream { stream: parts } => {
                let mut parts = parts.clone();
                self.fill_parts(&mut parts, asked);
                stream(&parts, &mut BufWriter::new(connection)).is_ok()
            }
            Action::Repeat { repeat: 0, r#do } => {
                while self.act(r#do, asked, connection) {}
                false
            }
            Action::Repeat { repeat, r#do } => {
                (0..*repeat).all(|_| self.act(r#do, asked, connection))
            }
            Action::Sleep { sleep_ms } => {
                std::thread::sleep(Duration::from_millis(*sleep_ms));
                true
            }
            Action::Await { r#await, times } => {
                let (counts, came) = &*self.counts;
                let counts = counts.lock().unwrap();
                let too_few = |counts: &mut BTreeMap<String, usize>| {
                    counts.get(r#await).copied().unwrap_or(0) < *times
                };
                let waited = came.wait_timeout_while(counts, PATIENCE, too_few);
                !waited.unwrap().1.timed_out()
            }
        }
    }

    fn fill_parts(&self, part: &mut Value, asked: &Asked<'_>) {
        match part {
            Value::String(text) => *text = self.filled(text, asked),
            Value::Array(parts) => parts.iter_mut().for_each(|it| self.fill_parts(it, asked)),
            Value::Object(members) => {
                let parts = members.values_mut();
                parts.for_each(|it| self.fill_parts(it, asked));
            }
            _ => {}
        }
    }

    fn filled(&self, text: &str, asked: &Asked<'_>) -> String {
        if !text.contains('$') {
            return text.to_owned();
        }
        self.fill_tools(asked);
        let answer = self.mcp.answer(asked.request).unwrap_or_default();
        let text = text
            .replace("$length", &answer.len().to_string())
            .replace("$chunk", &format!("{:x}", answer.len()));
        self.named(&text, asked).replace("$answer", &answer)
    }

    /// A text with everything filled in that does not depend on the response.
    fn named(&self, text: &str, asked: &Asked<'_>) -> String {
        let opened = {
            let counts = self.counts.0.lock().unwrap();
            let opened = ["initialize", "server/discover"].map(|it| counts.get(it).copied());
            opened.into_iter().flatten().max().unwrap_or(0)
        };
        let mut text = text
            .replace("$id", &asked.request.id().to_string())
            .replace("$count", &asked.count.to_string())
            .replace("$session", &opened.to_string())
            .replace(
                "$url",
                &format!("http://{}/mcp", asked.request.header("host")),
            )
            .replace("$elsewhere", &self.elsewhere);
        while let Some((before, rest)) = text.split_once("$header{") {
            let (name, after) = rest.split_once('}').expect("it is closed");
            let value = Value::from(asked.request.header(name)).to_string();
            text = format!("{before}{}{after}", value.trim_matches('"'));
        }
        text
    }
}

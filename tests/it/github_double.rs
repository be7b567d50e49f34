//! A double of GitHub's API: it stores check runs and comments as GitHub does, checks every request
//! against GitHub's own OpenAPI description, and fails on demand.
//!
//! Blocking and small on purpose: one thread per connection, one request per connection.
//! `examples/github-double.rs` is the same as a program, for the image's test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

const SLICE: &str = include_str!("../../fixtures/github/openapi-slice.json");

/// A failure that happens a number of times.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// Only requests with this method; all if empty.
    pub(crate) method: &'static str,
    /// Only requests whose path contains this.
    pub(crate) path: &'static str,
    pub(crate) times: usize,
    /// 0 leaves the response unchanged.
    pub(crate) status: u16,
    pub(crate) headers: &'static str,
    pub(crate) message: &'static str,
    /// Whether the request is carried out anyway, and only its response is lost.
    pub(crate) carried_out: bool,
    pub(crate) delay: Duration,
}

impl Fault {
    pub(crate) fn status(status: u16) -> Self {
        Self {
            method: "",
            path: "",
            times: usize::MAX,
            status,
            headers: "",
            message: "injected",
            carried_out: false,
            delay: Duration::ZERO,
        }
    }
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) runs: Vec<Value>,
    pub(crate) annotations: BTreeMap<u64, Vec<Value>>,
    pub(crate) comments: Vec<Value>,
    /// The repository that GitHub has, whatever a clone of it lacks.
    pub(crate) repository: Option<std::path::PathBuf>,
    /// The merge base that it finds.
    pub(crate) merge_base: Option<String>,
    /// The pull requests of every commit.
    pub(crate) pulls: Vec<Value>,
    /// Method and path of every request, with the status that it got.
    pub(crate) requests: Vec<(String, String, u16)>,
    /// What the description of the API does not allow.
    pub(crate) violations: Vec<String>,
    pub(crate) faults: Vec<Fault>,
    /// The path before `/repos`, as on GitHub Enterprise Server.
    pub(crate) prefix: String,
    next: u64,
}

pub(crate) struct Double {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Double {
    pub(crate) fn start() -> Self {
        Self::listen("127.0.0.1:0")
    }

    pub(crate) fn listen(address: &str) -> Self {
        Self::listen_with(address, Some)
    }

    /// The same, over whatever `wrap` makes of a socket.
    pub(crate) fn listen_with<C: Read + Write + Send + 'static>(
        address: &str,
        wrap: impl Fn(TcpStream) -> Option<C> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State {
            next: 1000,
            ..State::default()
        }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten().filter_map(wrap) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(connection, &state));
            }
        });
        Self { address, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn url(&self) -> String {
        let prefix = self.state().prefix.clone();
        format!("http://{}{prefix}", self.address)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Request {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    body: Option<Value>,
    authorized: bool,
}

struct Answer {
    status: u16,
    headers: String,
    body: Value,
}

impl Answer {
    fn new(status: u16, body: Value) -> Self {
        Self {
            status,
            headers: String::new(),
            body,
        }
    }
}

fn serve(mut stream: impl Read + Write, state: &Mutex<State>) {
    let Some(request) = read(&mut stream) else {
        return;
    };
    let answer = respond(&request, state);
    let body = answer.body.to_string();
    let head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{}\r\n",
        answer.status,
        body.len(),
        answer.headers,
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body.as_bytes());
    let _ = stream.flush();
}

fn read(stream: &mut impl Read) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut authorized) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => authorized = value.trim().starts_with("Bearer "),
            _ => {}
        }
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let query = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect();
    Some(Request {
        method,
        path: path.to_owned(),
        query,
        body: serde_json::from_slice(&bytes).ok(),
        authorized,
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits: Vec<u8> = rest.by_ref().take(2).collect();
                let digits = String::from_utf8_lossy(&digits).into_owned();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b'?'));
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn respond(request: &Request, state: &Mutex<State>) -> Answer {
    if request.path == "/_state" {
        return Answer::new(200, dump(&lock(state)));
    }
    let fault = {
        let mut state = lock(state);
        let fits = |fault: &Fault| {
            fault.times > 0
                && (fault.method.is_empty() || fault.method == request.method)
                && request.path.contains(fault.path)
        };
        let found = state.faults.iter_mut().find(|fault| fits(fault));
        found.map(|fault| {
            fault.times -= 1;
            fault.clone()
        })
    };
    std::thread::sleep(fault.as_ref().map_or(Duration::ZERO, |it| it.delay));
    let mut state = lock(state);
    let mut answer = match &fault {
        Some(fault) if !fault.carried_out && fault.status != 0 => Answer::new(0, Value::Null),
        _ => carry_out(request, &mut state),
    };
    if let Some(fault) = fault.filter(|fault| fault.status != 0) {
        answer = Answer {
            status: fault.status,
            headers: fault.headers.to_owned(),
            body: json!({"message": fault.message}),
        };
    }
    let shown = (request.method.clone(), request.path.clone(), answer.status);
    state.requests.push(shown);
    answer
}

fn dump(state: &State) -> Value {
    let annotations: BTreeMap<String, &Vec<Value>> = state
        .annotations
        .iter()
        .map(|(id, list)| (id.to_string(), list))
        .collect();
    json!({
        "runs": state.runs,
        "annotations": annotations,
        "comments": state.comments,
        "violations": state.violations,
        "requests": state.requests.len(),
    })
}

/// The operation of the description that matches a request, with the values in its path.
fn operation(slice: &Value, request: &Request, path: &str) -> Option<(Value, Vec<String>)> {
    let wanted: Vec<&str> = path.split('/').collect();
    for (template, methods) in slice["paths"].as_object()? {
        let parts: Vec<&str> = template.split('/').collect();
        let open_ended = template.ends_with("{path}");
        if parts.len() != wanted.len() && !(open_ended && wanted.len() > parts.len()) {
            continue;
        }
        let mut values = Vec::new();
        let fits = parts.iter().enumerate().all(|(index, part)| {
            if !part.starts_with('{') {
                return *part == wanted[index];
            }
            values.push(if open_ended && index == parts.len() - 1 {
                wanted[index..].join("/")
            } else {
                wanted[index].to_owned()
            });
            true
        });
        let found = &methods[request.method.to_lowercase()];
        if fits && found.is_object() {
            return Some((found.clone(), values));
        }
    }
    None
}

/// Everything about a request that its description does not allow.
fn violations(slice: &Value, operation: &Value, request: &Request) -> Vec<String> {
    let mut found = Vec::new();
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let known: Vec<&str> = parameters
        .filter_map(|parameter| {
            let pointer = parameter["$ref"].as_str().map(|it| &it[1..]);
            let parameter = pointer.map_or(Some(parameter), |it| slice.pointer(it))?;
            (parameter["in"] == "query").then(|| parameter["name"].as_str())?
        })
        .collect();
    for name in request
        .query
        .keys()
        .filter(|it| !known.contains(&it.as_str()))
    {
        found.push(format!("no query parameter `{name}`"));
    }
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    match (&request.body, schema.as_object()) {
        (Some(body), Some(schema)) => {
            let mut schema = schema.clone();
            schema.insert("components".to_owned(), slice["components"].clone());
            let schema = Value::Object(schema);
            let validator = jsonschema::validator_for(&schema).expect("a schema");
            for error in validator.iter_errors(body) {
                found.push(format!("{} at {}", error, error.instance_path()));
            }
            // GitHub ignores unknown members; every one that mcp-keel sends is intended.
            let members = body.as_object().into_iter().flatten();
            for (name, _) in members.filter(|(name, _)| schema["properties"][*name].is_null()) {
                found.push(format!("no member `{name}`"));
            }
        }
        (None, Some(_)) => found.push("no body".to_owned()),
        (Some(_), None) => found.push("a body".to_owned()),
        (None, None) => {}
    }
    if !request.authorized {
        found.push("no token".to_owned());
    }
    found
}

fn carry_out(request: &Request, state: &mut State) -> Answer {
    let slice: Value = serde_json::from_str(SLICE).expect("the slice is JSON");
    let what = format!("{} {}", request.method, request.path);
    let Some(path) = request.path.strip_prefix(&state.prefix) else {
        state
            .violations
            .push(format!("{what}: not under {}", state.prefix));
        return Answer::new(404, json!({"message": "Not Found"}));
    };
    let Some((operation, values)) = operation(&slice, request, path) else {
        state
            .violations
            .push(format!("{what}: not in the description"));
        return Answer::new(404, json!({"message": "Not Found"}));
    };
    let wrong = violations(&slice, &operation, request);
    if !wrong.is_empty() {
        let found = wrong.iter().map(|it| format!("{what}: {it}"));
        state.violations.extend(found);
        return Answer::new(422, json!({"message": wrong.join("; ")}));
    }
    let body = request.body.clone().unwrap_or_default();
    let id = |index: usize| values.get(index).and_then(|it| it.parse().ok());
    match operation["operationId"].as_str().unwrap_or_default() {
        "checks/create" => {
            state.next += 1;
            let mut run = json!({"id": state.next, "status": "queued", "conclusion": null, "app": {"slug": "github-actions"}});
            update(&mut run, &body);
            let id = state.next;
            annotate(state, id, &body);
            state.runs.push(run.clone());
            Answer::new(201, run)
        }
        "checks/update" => {
            let id: u64 = id(2).unwrap_or_default();
            let Some(run) = state.runs.iter_mut().find(|run| run["id"] == id) else {
                return Answer::new(404, json!({"message": "Not Found"}));
            };
            update(run, &body);
            let run = run.clone();
            annotate(state, id, &body);
            Answer::new(200, run)
        }
        "checks/get" => {
            let id: u64 = id(2).unwrap_or_default();
            match state.runs.iter().find(|run| run["id"] == id) {
                Some(run) => Answer::new(200, run.clone()),
                None => Answer::new(404, json!({"message": "Not Found"})),
            }
        }
        "checks/list-annotations" => {
            let all = state.annotations.get(&id(2).unwrap_or_default());
            let all = all.cloned().unwrap_or_default();
            Answer::new(200, Value::Array(page(&all, request)))
        }
        "checks/list-for-ref" => {
            let name = request.query.get("check_name");
            let runs: Vec<Value> = state
                .runs
                .iter()
                .filter(|run| run["head_sha"] == values[2].as_str())
                .filter(|run| name.is_none_or(|name| run["name"] == name.as_str()))
                .cloned()
                .collect();
            let shown = page(&runs, request);
            Answer::new(200, json!({"total_count": runs.len(), "check_runs": shown}))
        }
        "issues/list-comments" => {
            let all = state.comments.clone();
            Answer::new(200, Value::Array(page(&all, request)))
        }
        "issues/create-comment" => {
            if body["body"]
                .as_str()
                .is_none_or(|it| it.chars().count() > 65_536)
            {
                state.violations.push(format!("{what}: too long"));
                return Answer::new(422, json!({"message": "Validation Failed"}));
            }
            state.next += 1;
            let comment = json!({
                "id": state.next, "body": body["body"], "author_association": "CONTRIBUTOR",
                "user": {"login": "github-actions[bot]", "type": "Bot"},
            });
            state.comments.push(comment.clone());
            Answer::new(201, comment)
        }
        "issues/update-comment" => {
            let id: u64 = id(2).unwrap_or_default();
            let found = state.comments.iter_mut().find(|it| it["id"] == id);
            let Some(comment) = found else {
                return Answer::new(404, json!({"message": "Not Found"}));
            };
            comment["body"] = body["body"].clone();
            Answer::new(200, comment.clone())
        }
        "issues/delete-comment" => {
            let id: u64 = id(2).unwrap_or_default();
            state.comments.retain(|it| it["id"] != id);
            Answer::new(204, Value::Null)
        }
        _ if path.contains("/git/") => {
            let found = state.repository.as_deref();
            match found.and_then(|at| object(at, path.rsplit('/').nth(1)?, &values[2])) {
                Some(object) => Answer::new(200, object),
                None => Answer::new(404, json!({"message": "Not Found"})),
            }
        }
        _ if path.contains("/compare/") => match &state.merge_base {
            Some(id) => Answer::new(200, json!({"merge_base_commit": {"sha": id}})),
            None => Answer::new(404, json!({"message": "Not Found"})),
        },
        _ if path.ends_with("/pulls") => {
            let all = state.pulls.clone();
            Answer::new(200, Value::Array(page(&all, request)))
        }
        _ if path == "/user" => Answer::new(
            403,
            json!({"message": "Resource not accessible by integration"}),
        ),
        other => {
            state
                .violations
                .push(format!("{what}: {other} is not implemented"));
            Answer::new(404, json!({"message": "Not Found"}))
        }
    }
}

/// An object of a repository, as GitHub sends it.
fn object(repository: &std::path::Path, kind: &str, id: &str) -> Option<Value> {
    use base64::Engine as _;
    let git = |args: &[&str]| -> Option<Vec<u8>> {
        let output = std::process::Command::new("git")
            .arg("--git-dir")
            .arg(repository)
            .args(args)
            .output()
            .ok()?;
        output.status.success().then_some(output.stdout)
    };
    let text = |args: &[&str]| Some(String::from_utf8_lossy(&git(args)?).into_owned());
    match kind {
        "commits" => {
            let all = text(&["rev-list", "--no-walk", "--parents", "--format=%T", id])?;
            let mut lines = all.lines();
            let mut words = lines.next()?.split(' ').skip(2);
            let parents: Vec<Value> = words.by_ref().map(|it| json!({"sha": it})).collect();
            Some(json!({"sha": id, "tree": {"sha": lines.next()?}, "parents": parents}))
        }
        "trees" => {
            let all = text(&["ls-tree", "-z", id])?;
            let entries = all.split_terminator('\0').filter_map(|line| {
                let (about, path) = line.split_once('\t')?;
                let words: Vec<&str> = about.split(' ').collect();
                Some(json!({"path": path, "mode": words[0], "type": words[1], "sha": words[2]}))
            });
            Some(json!({"sha": id, "tree": entries.collect::<Vec<_>>(), "truncated": false}))
        }
        "blobs" => {
            let content = git(&["cat-file", "blob", id])?;
            let content = base64::engine::general_purpose::STANDARD.encode(content);
            // GitHub breaks its lines.
            let lines: Vec<&[u8]> = content.as_bytes().chunks(60).collect();
            let content = String::from_utf8_lossy(&lines.join(&b'\n')).into_owned();
            Some(json!({"sha": id, "encoding": "base64", "content": content}))
        }
        _ => None,
    }
}

/// Members are replaced; the list of annotations is kept elsewhere, because it only grows.
fn update(run: &mut Value, body: &Value) {
    for (name, value) in body.as_object().into_iter().flatten() {
        let mut value = value.clone();
        if let Some(output) = value.as_object_mut().filter(|_| name == "output") {
            output.remove("annotations");
        }
        run[name] = value;
    }
    let is_reopened = body["status"].is_string() && body["status"] != "completed";
    if is_reopened && body["conclusion"].is_null() {
        run["conclusion"] = Value::Null;
    }
    if run["conclusion"].is_string() {
        run["status"] = json!("completed");
    }
}

fn annotate(state: &mut State, id: u64, body: &Value) {
    let sent = body["output"]["annotations"].as_array();
    let list = state.annotations.entry(id).or_default();
    list.extend(sent.into_iter().flatten().cloned());
}

fn page(all: &[Value], request: &Request) -> Vec<Value> {
    let number = |name: &str, default: usize| {
        let value = request.query.get(name);
        value.and_then(|it| it.parse().ok()).unwrap_or(default)
    };
    let size = number("per_page", 30).min(100);
    let skipped = (number("page", 1) - 1) * size;
    all.iter().skip(skipped).take(size).cloned().collect()
}

//! An MCP server that follows a script: the opponent of the integration tests.
//!
//! It is started with one argument, a scenario: the path of a JSON file, or the JSON itself.
//! `{"tools": [...]}` alone is a complete, well-behaved server. The members of a scenario, all
//! optional:
//!
//! | member | meaning |
//! |---|---|
//! | `tools`, `prompts`, `resources`, `resourceTemplates` | one list each, sent byte for byte as written in the scenario; declares the capability |
//! | `pages` | `{"tools/list": [page, page]}`: lists in several pages, with cursors `1`, `2`, ... |
//! | `serverInfo`, `capabilities`, `protocolVersion`, `instructions` | members of the `initialize` result |
//! | `start` | actions before anything is read |
//! | `on` | `{"METHOD": actions}`: instead of the default reaction to a request or notification; `"*"` matches all others, `"response"` responses to the server's requests. A list of lists has the actions for the first time, the second, ...; the last one is repeated |
//! | `eof` | actions when stdin ends; without it the server exits with 0 |
//! | `boots` | a file that counts how often the server was started |
//! | `boot` | `[{...}, {...}]`: members of the scenario for the first boot, the second, ... as counted by `boots`; the last one is repeated |
//! | `client` | `{"NAME": {...}}`: members of the scenario for the client with this name |
//! | `log` | a file that gets every line received, and `<eof>` |
//!
//! Actions are run in order:
//!
//! | action | effect |
//! |---|---|
//! | `"answer"` | what the server would have done without the script |
//! | `{"result": VALUE}`, `{"error": VALUE}` | responds to the current request, VALUE byte for byte |
//! | `{"notify": METHOD, "params": VALUE}` | sends a notification |
//! | `{"request": METHOD, "id": VALUE, "params": VALUE}` | sends a request |
//! | `{"raw": TEXT}`, `{"text": TEXT}` | writes TEXT, with or without a newline |
//! | `{"hex": "ff0a"}` | writes bytes |
//! | `{"stderr": TEXT}` | writes a line to stderr |
//! | `{"stream": PARTS, "to": PLACE}` | writes without buffering in memory: a part is a TEXT or `{"times": N, "of": PARTS, "between": TEXT}`, where 0 means forever and `$n` counts from 0. PLACE is `stdout` (the default), `stderr` or the path of a file |
//! | `{"write": PATH, "content": TEXT}` | replaces a file, and prints on stderr whether it could |
//! | `{"repeat": N, "do": ACTIONS}` | runs ACTIONS N times; 0 means forever |
//! | `{"sleep_ms": N}`, `"hang"` | waits; forever |
//! | `{"until_file": PATH}` | waits until the file exists |
//! | `{"busy_ms": N}` | keeps a core busy, as servers do while they load |
//! | `{"spawn": [COMMAND, ...]}` | starts a process and leaves it running, with the server's own pipes |
//! | `{"connect": ADDRESS}` | opens a TCP connection, or one to a local socket, and prints on stderr whether it could |
//! | `{"set": {...}}` | replaces members of the scenario from now on |
//! | `{"background": ACTIONS}` | runs ACTIONS in the background |
//! | `"close-stdout"`, `"close-stdin"`, `"close-stderr"` | closes one |
//! | `{"exit": CODE}`, `"abort"` | ends the server; by a signal |
//!
//! In every text that is sent, `$id` is the id of the current request, `$count` how often its
//! method has been called, `$boot` the number of the boot, `$client` the name of the client, `$pid`
//! the server's process id, `$ppid` its parent's, `$now` the nanoseconds since 1970, `$cwd` its
//! working directory, `$env{NAME}` a variable (`-` if it is not set) and `$env{*}` all of them,
//! sorted, `$file{PATH}` the content of a file and `$list{PATH}` that of a folder with the targets
//! of its links (`-` if it cannot be read); values are escaped for a JSON string.

// A test program: it prints for a person or a script.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]
#![allow(clippy::disallowed_methods)]

#[path = "../tests/it/parts.rs"]
mod parts;

use std::collections::BTreeMap;
use std::io::{BufRead, BufWriter, Write};
use std::process::{Command, ExitCode, Stdio, exit};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use parts::{bytes_of, stream};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// About a millisecond in an optimised build.
const STEPS_PER_MS: u64 = 1_000_000;

type Members = BTreeMap<String, Box<RawValue>>;

const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "tools"),
    ("prompts/list", "prompts", "prompts"),
    ("resources/list", "resources", "resources"),
    ("resources/templates/list", "resourceTemplates", "resources"),
];

#[derive(Default, Clone)]
struct Message {
    method: String,
    /// As received.
    id: Option<String>,
    cursor: Option<String>,
    /// The name that the client introduces itself with.
    client: Option<String>,
    count: usize,
}

#[derive(Clone)]
struct Server {
    scenario: Arc<Mutex<Members>>,
}

/// The number of this boot, one-based.
static BOOT: OnceLock<usize> = OnceLock::new();

/// The name of the client.
static CLIENT: OnceLock<String> = OnceLock::new();

fn main() -> ExitCode {
    let Some(argument) = std::env::args().nth(1) else {
        eprintln!("usage: scripted-server SCENARIO");
        return ExitCode::from(64);
    };
    let text = if argument.trim_start().starts_with('{') {
        argument
    } else {
        std::fs::read_to_string(&argument).expect("the scenario can be read")
    };
    let scenario: Members = serde_json::from_str(&text).expect("the scenario is a JSON object");
    let server = Server {
        scenario: Arc::new(Mutex::new(scenario)),
    };
    server.run();
    ExitCode::SUCCESS
}

impl Server {
    /// Counts the boot, and applies its part of the scenario.
    fn boot(&self) {
        let Some(path) = self.member("boots") else {
            return;
        };
        let path: String = serde_json::from_str(path.get()).expect("`boots` is a path");
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let boot = before.trim().parse().unwrap_or(0) + 1;
        std::fs::write(&path, boot.to_string()).expect("the boots can be counted");
        BOOT.get_or_init(|| boot);
        let Some(turns) = self.member("boot") else {
            return;
        };
        let mut turns: Vec<Members> = serde_json::from_str(turns.get()).expect("`boot` is a list");
        turns.truncate(boot);
        self.scenario
            .lock()
            .expect("no panic")
            .extend(turns.pop().unwrap_or_default());
    }

    /// Applies the client's part of the scenario.
    fn greeted(&self, name: &str) {
        CLIENT.get_or_init(|| name.to_owned());
        let Some(clients) = self.member("client") else {
            return;
        };
        let mut clients: BTreeMap<String, Members> =
            serde_json::from_str(clients.get()).expect("`client` is an object");
        self.scenario
            .lock()
            .expect("no panic")
            .extend(clients.remove(name).unwrap_or_default());
    }

    fn run(&self) {
        self.boot();
        if let Some(actions) = self.member("start") {
            self.act(&actions, &Message::default());
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for line in std::io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line).into_owned();
            self.log(&line);
            let Ok(message) = serde_json::from_str::<Members>(&line) else {
                continue;
            };
            let mut message = read(&message);
            if let Some(name) = &message.client {
                self.greeted(name);
            }
            let count = counts.entry(message.method.clone()).or_default();
            *count += 1;
            message.count = *count;
            self.react(&message);
        }
        self.log("<eof>");
        if let Some(actions) = self.member("eof") {
            self.act(&actions, &Message::default());
        }
    }

    fn react(&self, message: &Message) {
        let reactions: Members = self
            .member("on")
            .map(|on| serde_json::from_str(on.get()).expect("`on` is an object"))
            .unwrap_or_default();
        let reaction = reactions
            .get(&message.method)
            .or_else(|| reactions.get("*"))
            .cloned();
        let Some(reaction) = reaction else {
            return self.answer(message);
        };
        // A list of lists: one for each time.
        let turns: Vec<Box<RawValue>> = serde_json::from_str(reaction.get()).unwrap_or_default();
        let is_list = |turn: &RawValue| turn.get().starts_with('[');
        if !turns.is_empty() && turns.iter().all(|turn| is_list(turn)) {
            let turn = (message.count - 1).min(turns.len() - 1);
            self.act(&turns[turn], message);
        } else {
            self.act(&reaction, message);
        }
    }

    /// What a well-behaved server does.
    fn answer(&self, message: &Message) {
        if message.id.is_none() {
            return;
        }
        let result = match message.method.as_str() {
            "initialize" => Some(self.initialize()),
            "ping" => Some("{}".into()),
            method => self.list(method, message.cursor.as_deref()),
        };
        match result {
            Some(result) => self.reply("result", &result, message),
            None if message.method == "response" => {}
            None => self.reply(
                "error",
                r#"{"code":-32601,"message":"Method not found"}"#,
                message,
            ),
        }
    }

    fn initialize(&self) -> String {
        let text = |member: &str, default: Value| {
            self.member(member)
                .map_or_else(|| default.to_string(), |value| one_line(&value))
        };
        let mut capabilities = serde_json::Map::new();
        let pages = self.pages();
        for (method, member, capability) in LISTS {
            if self.member(member).is_some() || pages.contains_key(method) {
                capabilities.insert(capability.into(), json!({}));
            }
        }
        let mut result = format!(
            r#"{{"protocolVersion":{},"capabilities":{},"serverInfo":{}"#,
            text("protocolVersion", "2025-11-25".into()),
            text("capabilities", capabilities.into()),
            text(
                "serverInfo",
                json!({"name": "scripted", "version": "1.0.0"})
            ),
        );
        if let Some(instructions) = self.member("instructions") {
            result.push_str(&format!(r#","instructions":{}"#, one_line(&instructions)));
        }
        result + "}"
    }

    fn list(&self, method: &str, cursor: Option<&str>) -> Option<String> {
        let (_, member, _) = LISTS.iter().find(|(list, ..)| *list == method)?;
        if let Some(pages) = self.pages().get(method) {
            let page: usize = cursor.map_or(Some(0), |cursor| cursor.parse().ok())?;
            let items = one_line(pages.get(page)?);
            let next = if page + 1 < pages.len() {
                format!(r#","nextCursor":"{}""#, page + 1)
            } else {
                String::new()
            };
            return Some(format!(r#"{{"{member}":{items}{next}}}"#));
        }
        let items = one_line(&self.member(member)?);
        Some(format!(r#"{{"{member}":{items}}}"#))
    }

    fn pages(&self) -> BTreeMap<String, Vec<Box<RawValue>>> {
        self.member("pages")
            .map(|pages| serde_json::from_str(pages.get()).expect("`pages` holds lists of pages"))
            .unwrap_or_default()
    }

    fn act(&self, actions: &RawValue, message: &Message) {
        let actions: Vec<Box<RawValue>> = match serde_json::from_str(actions.get()) {
            Ok(actions) => actions,
            Err(_) => vec![actions.to_owned()],
        };
        for action in actions {
            match serde_json::from_str::<String>(action.get()) {
                Ok(word) => self.word(&word, message),
                Err(_) => {
                    let members: Members = serde_json::from_str(action.get())
                        .expect("an action is a word or an object");
                    self.step(&members, message);
                }
            }
        }
    }

    fn word(&self, word: &str, message: &Message) {
        match word {
            "answer" => self.answer(message),
            "hang" => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            "abort" => std::process::abort(),
            #[cfg(unix)]
            "close-stdout" => nix::unistd::close(1).expect("stdout is open"),
            #[cfg(unix)]
            "close-stderr" => nix::unistd::close(2).expect("stderr is open"),
            #[cfg(unix)]
            "close-stdin" => nix::unistd::close(0).expect("stdin is open"),
            other => panic!("unknown action: {other}"),
        }
    }

    fn step(&self, action: &Members, message: &Message) {
        let raw = |name: &str| action.get(name).map(|value| one_line(value));
        let text = |name: &str| -> Option<String> {
            let text: String = serde_json::from_str(action.get(name)?.get()).expect("a string");
            Some(text)
        };
        let number =
            |name: &str| -> Option<u64> { serde_json::from_str(action.get(name)?.get()).ok() };
        let params = raw("params")
            .map(|params| format!(r#","params":{params}"#))
            .unwrap_or_default();
        if let Some(result) = raw("result") {
            self.reply("result", &result, message);
        } else if let Some(error) = raw("error") {
            self.reply("error", &error, message);
        } else if let Some(method) = text("notify") {
            self.send(
                &format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#),
                message,
            );
        } else if let Some(method) = text("request") {
            let id = raw("id").unwrap_or_else(|| "1".into());
            self.send(
                &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#),
                message,
            );
        } else if let Some(line) = text("raw") {
            self.send(&line, message);
        } else if let Some(line) = text("text") {
            write(filled(&line, message).as_bytes());
        } else if let Some(hex) = text("hex") {
            write(&bytes_of(&hex));
        } else if let Some(line) = text("stderr") {
            eprintln!("{}", filled(&line, message));
        } else if let Some(parts) = action.get("stream") {
            let parts = filled(parts.get(), message);
            let parts: Value = serde_json::from_str(&parts).expect("`stream` is JSON");
            let to = text("to").unwrap_or_else(|| "stdout".into());
            // A reader that stops, or a full disk, ends the stream.
            let _ = match to.as_str() {
                "stdout" => stream(&parts, &mut BufWriter::new(std::io::stdout().lock())),
                "stderr" => stream(&parts, &mut BufWriter::new(std::io::stderr().lock())),
                path => {
                    let file = std::fs::File::create(path).expect("the file can be written");
                    stream(&parts, &mut BufWriter::new(file))
                }
            };
        } else if let Some(path) = text("write") {
            let content = filled(&text("content").unwrap_or_default(), message);
            // What was filled in is escaped for a JSON string.
            let content = serde_json::from_str(&format!("\"{content}\"")).unwrap_or(content);
            tried(&path, std::fs::write(&path, content));
        } else if let Some(times) = number("repeat") {
            let actions = action.get("do").expect("`repeat` has a `do`");
            let mut left = times;
            while times == 0 || left > 0 {
                self.act(actions, message);
                left = left.saturating_sub(1);
            }
        } else if let Some(work) = number("busy_ms") {
            // Measured in work, not in time: on a busy machine it takes longer, like everything
            // else.
            let mut state = 0_u64;
            for step in 0..work * STEPS_PER_MS {
                state = std::hint::black_box(state.rotate_left(5) ^ step);
            }
        } else if let Some(pause) = number("sleep_ms") {
            std::thread::sleep(Duration::from_millis(pause));
        } else if let Some(path) = text("until_file") {
            while !std::path::Path::new(&path).exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
        } else if let Some(command) = action.get("spawn") {
            let command: Vec<String> =
                serde_json::from_str(command.get()).expect("`spawn` is a list of words");
            let mut child = Command::new(&command[0])
                .args(&command[1..])
                .stdin(Stdio::null())
                .spawn()
                .expect("the command can be started");
            std::thread::spawn(move || child.wait());
        } else if let Some(address) = text("connect") {
            #[cfg(unix)]
            if address.starts_with('/') {
                let socket = std::os::unix::net::UnixStream::connect(&address);
                let socket = socket.and_then(|mut it| it.write_all(b"hello"));
                return tried(&address, socket);
            }
            tried(&address, std::net::TcpStream::connect(&address));
        } else if let Some(members) = action.get("set") {
            let members: Members = serde_json::from_str(members.get()).expect("`set` is an object");
            self.scenario.lock().expect("no panic").extend(members);
        } else if let Some(actions) = action.get("background") {
            let (server, actions, message) = (self.clone(), actions.clone(), message.clone());
            std::thread::spawn(move || server.act(&actions, &message));
        } else if let Some(code) = number("exit") {
            exit(i32::try_from(code).expect("an exit code"));
        } else {
            panic!("unknown action: {:?}", action.keys());
        }
    }

    fn reply(&self, member: &str, value: &str, message: &Message) {
        self.send(
            &format!(r#"{{"jsonrpc":"2.0","id":$id,"{member}":{value}}}"#),
            message,
        );
    }

    fn send(&self, line: &str, message: &Message) {
        write(format!("{}\n", filled(line, message)).as_bytes());
    }

    fn member(&self, name: &str) -> Option<Box<RawValue>> {
        self.scenario.lock().expect("no panic").get(name).cloned()
    }

    fn log(&self, line: &str) {
        if let Some(path) = self.member("log") {
            let path: String = serde_json::from_str(path.get()).expect("`log` is a path");
            let mut file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .expect("the log can be written");
            writeln!(file, "{line}").expect("the log can be written");
        }
    }
}

fn read(message: &Members) -> Message {
    let text = |value: &RawValue| serde_json::from_str::<String>(value.get()).ok();
    let params: Option<Value> = message
        .get("params")
        .and_then(|params| serde_json::from_str(params.get()).ok());
    Message {
        method: message
            .get("method")
            .and_then(|method| text(method))
            .unwrap_or_else(|| "response".into()),
        id: message.get("id").map(|id| id.get().to_owned()),
        client: text_at(&params, "/clientInfo/name"),
        cursor: text_at(&params, "/cursor"),
        count: 0,
    }
}

fn text_at(params: &Option<Value>, pointer: &str) -> Option<String> {
    Some(params.as_ref()?.pointer(pointer)?.as_str()?.to_owned())
}

/// The text of a value without line breaks, which can only be between its parts.
fn one_line(value: &RawValue) -> String {
    value.get().replace(['\n', '\r'], " ")
}

/// A server whose stdout is closed continues, like most real ones.
fn write(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(bytes);
    let _ = stdout.flush();
}

fn filled(text: &str, message: &Message) -> String {
    if !text.contains('$') {
        return text.to_owned();
    }
    let mut text = text
        .replace("$id", message.id.as_deref().unwrap_or("null"))
        .replace("$count", &message.count.to_string())
        .replace("$boot", &BOOT.get().copied().unwrap_or(1).to_string())
        .replace(
            "$client",
            &escaped(CLIENT.get().map_or("-", String::as_str)),
        )
        .replace("$pid", &std::process::id().to_string());
    #[cfg(unix)]
    if text.contains("$ppid") {
        text = text.replace("$ppid", &nix::unistd::getppid().to_string());
    }
    if text.contains("$now") {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.expect("a clock after 1970").as_nanos();
        text = text.replace("$now", &now.to_string());
    }
    if text.contains("$cwd") {
        let cwd = std::env::current_dir().expect("there is a working folder");
        text = text.replace("$cwd", &escaped(&cwd.to_string_lossy()));
    }
    text = replaced(text, "$file{", |path| match std::fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => "-".into(),
    });
    text = replaced(text, "$list{", |path| match std::fs::read_dir(path) {
        Ok(entries) => entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let leads = std::fs::read_link(&path).unwrap_or_default();
                Some(format!("{} {}\n", path.display(), leads.display()))
            })
            .collect(),
        Err(_) => "-".into(),
    });
    replaced(text, "$env{", |name| match name {
        "*" => {
            let mut all: Vec<String> = std::env::vars_os()
                .map(|(name, value)| {
                    format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
                })
                .collect();
            all.sort();
            all.join("\n")
        }
        name => std::env::var_os(name)
            .map_or_else(|| "-".into(), |value| value.to_string_lossy().into_owned()),
    })
}

/// `text` with each `open...}` replaced by the `value` of the name in it, escaped.
fn replaced(mut text: String, open: &str, value: impl Fn(&str) -> String) -> String {
    let mut from = 0;
    while let Some(at) = text[from..].find(open) {
        let start = from + at;
        let end = start + text[start..].find('}').expect("it is closed");
        let value = escaped(&value(&text[start + open.len()..end]));
        text.replace_range(start..=end, &value);
        from = start + value.len();
    }
    text
}

fn tried<T>(what: &str, outcome: std::io::Result<T>) {
    match outcome {
        Ok(_) => eprintln!("{what}: done"),
        Err(error) => eprintln!("{what}: {error}"),
    }
}

fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

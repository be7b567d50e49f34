//! The lower bound for `mcp-keel check`: the least time that any client has to wait.
//!
//! Starts the server in its arguments, sends `initialize`, then `notifications/initialized` and
//! every list that the server declares in one write, follows cursors, and stops at the last
//! response: it parses no JSON, stores nothing, skips the shutdown and kills the server. Prints the
//! milliseconds from the start of the server to that response. For `benches/floor.py` and `benches/race.py`; only uses
//! the standard library.

// A test program: it prints for a person or a script.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::disallowed_methods
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// The same client profile as mcp-keel's default, so that the server does the same work.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{},"sampling":{}},"clientInfo":{"name":"mcp-keel","version":"0.1.0"}}}"#;

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "\"tools\":"),
    ("prompts/list", "\"prompts\":"),
    ("resources/list", "\"resources\":"),
    ("resources/templates/list", "\"resources\":"),
];

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: floor-client COMMAND [ARGUMENT]...");
        return ExitCode::from(64);
    };
    let begun = Instant::now();
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));

    stdin
        .write_all(format!("{INITIALIZE}\n").as_bytes())
        .expect("the server reads");
    let mut open = 1;
    let mut line = String::new();
    while open > 0 {
        line.clear();
        if stdout.read_line(&mut line).expect("the server writes") == 0 {
            eprintln!("the server ended too early");
            let _ = child.wait();
            return ExitCode::FAILURE;
        }
        // A response, not a request or a notification of the server.
        let Some(id) = answered(&line) else { continue };
        open -= 1;
        let mut requests = String::new();
        if id == 0 {
            requests.push_str(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            requests.push('\n');
            for (at, (method, capability)) in LISTS.iter().enumerate() {
                if line.contains(capability) {
                    requests.push_str(&request(at + 1, method, "{}"));
                    open += 1;
                }
            }
        } else if let Some(cursor) = member(&line, "\"nextCursor\":\"") {
            requests = request(id, LISTS[id - 1].0, &format!(r#"{{"cursor":"{cursor}"}}"#));
            open += 1;
        }
        stdin
            .write_all(requests.as_bytes())
            .expect("the server reads");
    }
    println!("{:.3}", begun.elapsed().as_secs_f64() * 1000.0);
    let _ = child.kill();
    let _ = child.wait();
    ExitCode::SUCCESS
}

fn request(id: usize, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
}

/// The id of the request that `line` responds to. It is at the beginning or at the end of a
/// response, depending on the SDK; a request or notification of the server begins with its method.
fn answered(line: &str) -> Option<usize> {
    let head = line.get(..48).unwrap_or(line);
    if head.contains("\"method\":") {
        return None;
    }
    let digits = match head.find("\"id\":") {
        Some(at) => &head[at + 5..],
        None => &line[line.rfind("\"id\":")? + 5..],
    };
    let end = digits.find(|it: char| !it.is_ascii_digit())?;
    digits[..end].parse().ok()
}

/// The text after `name`, up to the closing quotation mark.
fn member<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = &line[line.find(name)? + name.len()..];
    Some(&rest[..rest.find('"')?])
}

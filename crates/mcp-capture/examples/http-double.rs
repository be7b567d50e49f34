//! An ordinary MCP server over HTTP as a program, for tests that start one: `http-double PORT json|events|sse TOOLS`.

// A test program: it prints for a person or a script.
#![allow(clippy::print_stdout, clippy::unwrap_used, dead_code)]

#[path = "../tests/it/http_double.rs"]
mod http_double;

use std::net::TcpListener;
use std::sync::Arc;

use http_double::{Connection, Mcp, Request, Way};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, way, tools] = &arguments[..] else {
        panic!("usage: http-double PORT json|events|sse TOOLS");
    };
    let way = match way.as_str() {
        "json" => Way::Json,
        "events" => Way::Events,
        _ => Way::Sse,
    };
    let mcp = Mcp::new(way, tools);
    let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
    println!("listening on {port}");
    let wrap = |socket| Some(Box::new(socket) as Box<dyn Connection>);
    let respond =
        move |request: &Request, connection: &mut dyn Connection| mcp.respond(request, connection);
    http_double::listen(
        &listener,
        &Arc::new(wrap),
        &Arc::new(respond),
        &Arc::default(),
    );
}

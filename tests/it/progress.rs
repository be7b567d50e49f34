//! Progress on a terminal: what is waited for, for how long at most, and which boot it is.

#![cfg(unix)]

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use crate::fleet::{configuration, scenario};
use crate::keel::Keel;

/// What the terminal shows until it contains `text`. The end of the terminal fails.
fn until(terminal: &mut File, shown: &mut String, text: &str) {
    let mut piece = [0; 4096];
    while !shown.contains(text) {
        match terminal.read(&mut piece) {
            Ok(length) if length > 0 => shown.push_str(&String::from_utf8_lossy(&piece[..length])),
            _ => panic!("no `{text}` in {shown:?}"),
        }
    }
}

#[test]
fn a_terminal_shows_the_elapsed_time_the_limit_and_which_boot_it_is() {
    let keel = Keel::new();
    let gate = keel.folder().join("gate");
    // It answers only when the test has seen the progress.
    let wait = serde_json::json!({"until_file": gate}).to_string();
    let scenario = scenario("tool", "As it was.").replacen('{', "{\"start\": [WAIT], ", 1);
    let scenario = scenario.replace("WAIT", &wait);
    keel.write(
        "mcp-keel.toml",
        &configuration(&[("slow".to_owned(), scenario)]),
    );
    let pty = nix::pty::openpty(None, None).unwrap();
    let mut terminal = File::from(pty.master);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-keel"))
        .args(["pin", "--timeout", "97"])
        .current_dir(keel.folder())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(pty.slave))
        .spawn()
        .unwrap();
    let mut shown = String::new();
    until(&mut terminal, &mut shown, "slow: ");
    until(&mut terminal, &mut shown, ", boot 1 of 2");
    until(&mut terminal, &mut shown, " s of at most 97 s)");
    std::fs::write(&gate, "").unwrap();
    // Wiped at the end, so that nothing of it stays on the terminal.
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = terminal.read(&mut piece) {
        shown.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    assert!(child.wait().unwrap().success(), "{shown:?}");
    let last = shown.rsplit("\r\u{1b}[2K").next().unwrap();
    assert!(!last.contains("slow"), "{shown:?}");
}

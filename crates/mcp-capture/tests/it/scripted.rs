//! The scripted server of `crates/mcp-capture/examples/scripted-server.rs`, for tests.

// More than one test binary includes this file, and none uses all of it.
#![allow(dead_code)]

use std::path::PathBuf;
use std::time::Duration;

use mcp_capture::capture::{CaptureFailure, Captured, Endpoint, Limits, Order, Stage, capture};
use mcp_capture::launch::LaunchSpec;
use mcp_capture::surface::{ClientProfile, Era};

/// The path of a program under `examples`.
pub(crate) fn example(name: &str) -> String {
    let mut program = std::env::current_exe().expect("the test has a path");
    // target/debug/deps/it-123 is next to target/debug/examples.
    program.pop();
    program.pop();
    program.push("examples");
    program.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "there is no {}: `cargo test` builds it; with --test run `cargo build --examples` first",
        program.display()
    );
    program.to_string_lossy().into_owned()
}

/// The command that starts the scripted server with a scenario (JSON text, or the path of a file).
pub(crate) fn scripted(scenario: &str) -> Vec<String> {
    vec![example("scripted-server"), scenario.to_owned()]
}

/// A capture to be made, with the usual settings unless changed.
pub(crate) struct Capture {
    pub(crate) spec: LaunchSpec,
    pub(crate) client: ClientProfile,
    pub(crate) order: Order,
    pub(crate) limits: Limits,
    pub(crate) stages: std::sync::Mutex<Vec<Stage>>,
}

impl Capture {
    pub(crate) fn of(scenario: &str) -> Self {
        Self::of_command(scripted(scenario))
    }

    pub(crate) fn of_command(command: Vec<String>) -> Self {
        Self {
            spec: LaunchSpec {
                command,
                ..LaunchSpec::default()
            },
            client: ClientProfile::default(),
            order: Order::First(Era::Legacy),
            limits: Limits::default(),
            stages: std::sync::Mutex::default(),
        }
    }

    pub(crate) fn of_shell(script: &str) -> Self {
        Self::of_command(vec!["sh".into(), "-c".into(), script.into()])
    }

    /// With short timeouts, for servers that never respond.
    pub(crate) fn impatient(mut self) -> Self {
        self.limits.start = Duration::from_millis(400);
        self.limits.request = Duration::from_millis(400);
        self
    }

    pub(crate) fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.spec.env.insert(name.into(), value.into());
        self
    }

    pub(crate) fn capabilities(mut self, names: &[&str]) -> Self {
        self.client.capabilities = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    pub(crate) fn run(&self) -> Result<Captured, CaptureFailure> {
        let progress = |stage| self.stages.lock().expect("no panic").push(stage);
        runtime().block_on(capture(
            &Endpoint::Stdio(self.spec.clone()),
            &self.client,
            self.order,
            &self.limits,
            &progress,
        ))
    }

    /// Must fail. Returns the error's line.
    pub(crate) fn fails(&self) -> String {
        self.run().expect_err("the capture fails").to_string()
    }
}

/// Runs the body of a test in its own process. Signals, the panic hook, `kill_all` and the search
/// for strays affect a whole process, and `cargo test` runs all tests in one.
pub(crate) fn alone(module: &str, test: &str, body: impl FnOnce()) {
    const ALONE: &str = "MCP_KEEL_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let module = module.strip_prefix("it::").unwrap_or(module);
    let output = std::process::Command::new(std::env::current_exe().expect("the test has a path"))
        .args([&format!("{module}::{test}"), "--exact", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("the test can start itself");
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{printed}"
    );
}

/// A runtime like the program's own.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// A fresh file name for a log of the scripted server.
pub(crate) fn log() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("received");
    (folder, path)
}

/// The processes with this variable in their environment.
#[cfg(target_os = "linux")]
pub(crate) fn processes_with(variable: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("there is a /proc");
    processes
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let environ = std::fs::read(path.join("environ")).ok()?;
            let has = environ
                .split(|byte| *byte == 0)
                .any(|it| it == variable.as_bytes());
            let command = std::fs::read(path.join("cmdline")).ok()?;
            has.then(|| String::from_utf8_lossy(&command).replace('\0', " "))
        })
        .collect()
}

/// The running processes below this very test process, which adopts what its children leave behind.
#[cfg(target_os = "linux")]
pub(crate) fn launched_processes() -> Vec<u32> {
    let mut parents = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir("/proc").expect("there is a /proc") {
        let status = entry.and_then(|it| std::fs::read_to_string(it.path().join("status")));
        let Ok(status) = status else {
            continue;
        };
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next().map(str::to_owned)
        };
        let number = |name: &str| value(name)?.parse::<u32>().ok();
        if let (Some(process), Some(parent)) = (number("Pid:"), number("PPid:"))
            && value("State:").as_deref() != Some("Z")
        {
            parents.insert(process, parent);
        }
    }
    let is_below_us = |mut process: u32| {
        for _ in 0..parents.len() {
            match parents.get(&process) {
                Some(parent) if *parent == std::process::id() => return true,
                Some(parent) => process = *parent,
                None => return false,
            }
        }
        false
    };
    let processes = parents.keys().copied();
    processes.filter(|it| is_below_us(*it)).collect()
}

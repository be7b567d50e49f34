"""`mcp-keel init --yes && mcp-keel check` in fresh folders.

Needs Node with npm, Python 3.10 or newer with venv, cargo, git, and the network on the first run. Nothing but the
standard library.

    MCP_KEEL=path/to/mcp-keel SCRIPTED_SERVER=path KEEL_TOOLS=venv python3 .ci/checks/first_contact.py [NAME ...]
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from real_servers import KEEL, Tally

SCRIPTED = os.environ["SCRIPTED_SERVER"]
TOOLS = Path(os.environ["KEEL_TOOLS"])
tally = Tally()

TYPESCRIPT = """\
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "weather-ts", version: "1.0.0" });
server.tool("get_forecast", "Forecast for a city.", { city: z.string() }, async ({ city }) => ({
  content: [{ type: "text", text: city }],
}));
await server.connect(new StdioServerTransport());
"""

RUST = """\
use std::io::{BufRead, Write};

fn id(line: &str) -> String {
    let rest = line.split("\\"id\\":").nth(1).unwrap_or("0");
    rest.trim().chars().take_while(|c| c.is_ascii_digit()).collect()
}

fn main() {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        let result = if line.contains("\\"initialize\\"") {
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"weather-rs","version":"1.0.0"}}"#
        } else if line.contains("\\"tools/list\\"") {
            r#"{"tools":[{"name":"greet","description":"Says hello.","inputSchema":{"type":"object"}}]}"#
        } else {
            continue;
        };
        let _ = writeln!(out, r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(&line));
        let _ = out.flush();
    }
}
"""


def run(*command, cwd, **options):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") and key != "CI"}
    environment.pop("CARGO_TARGET_DIR", None)
    return subprocess.run(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, **options
    )


def must(*command, cwd):
    done = run(*command, cwd=cwd)
    if done.returncode:
        raise SystemExit(f"FAIL  {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def repository(folder):
    must("git", "init", "-q", cwd=folder)
    must("git", "config", "user.name", "Ada", cwd=folder)
    must("git", "config", "user.email", "ada@example.com", cwd=folder)


def typescript(folder):
    (folder / "src").mkdir()
    (folder / "src/index.ts").write_text(TYPESCRIPT)
    manifest = {
        "name": "weather-ts", "version": "1.0.0", "type": "module", "bin": {"weather-ts": "./dist/index.js"},
        "scripts": {"build": "tsc"},
        "dependencies": {"@modelcontextprotocol/sdk": "1.20.2", "zod": "3.25.76"},
        "devDependencies": {"typescript": "5.9.3", "@types/node": "24.10.1"},
    }
    (folder / "package.json").write_text(json.dumps(manifest, indent=2))
    options = {
        "target": "ES2022", "module": "Node16", "moduleResolution": "Node16", "outDir": "dist", "rootDir": "src",
        "skipLibCheck": True, "types": ["node"],
    }
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["src"]}))
    must("npm", "install", "--no-audit", "--no-fund", cwd=folder)
    before = run(KEEL, "init", "--yes", cwd=folder)
    tally.check(
        before.returncode == 3 and "npm ci && npm run build" in before.stderr and not (folder / "mcp-keel.toml").exists(),
        "typescript: a server that is not built is not set up", before.stdout + before.stderr,
    )
    must("npm", "run", "build", cwd=folder)
    return "weather-ts", "npm ci && npm run build"


def fastmcp(folder):
    must("python3", "-m", "venv", ".venv", cwd=folder)
    must(".venv/bin/pip", "install", "--quiet", "fastmcp==3.4.2", cwd=folder)
    (folder / "requirements.txt").write_text("fastmcp==3.4.2\n")
    text = "from fastmcp import FastMCP\n\nmcp = FastMCP('weather-py', version='1.0.0')\n\n\n@mcp.tool\n"
    text += "def greet(name: str) -> str:\n    \"\"\"Says hello.\"\"\"\n    return name\n\n\n"
    text += "if __name__ == '__main__':\n    mcp.run()\n"
    (folder / "server.py").write_text(text)
    return "weather-py", ".venv/bin/pip install -r requirements.txt"


def rust(folder):
    (folder / "src").mkdir()
    (folder / "src/main.rs").write_text(RUST)
    (folder / "Cargo.toml").write_text('[package]\nname = "weather-rs"\nversion = "1.0.0"\nedition = "2021"\n')
    must("cargo", "build", "--quiet", "--release", cwd=folder)
    return "weather-rs", "cargo build --release --locked"


def scenario(name, tools):
    return json.dumps({"tools": tools, "serverInfo": {"name": name, "version": "1.0.0"}})


GREET = {"name": "greet", "description": "Says hello.", "inputSchema": {"type": "object"}}


def binary(folder):
    program = folder / "greeter"
    program.write_text(f"#!/bin/sh\nexec '{SCRIPTED}' '{scenario('greeter', [GREET])}'\n")
    program.chmod(0o755)
    return "greeter", None


def listed(folder):
    servers = {"one": {"command": SCRIPTED, "args": [scenario("one", [GREET])]}}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return "one", None


def set_up(name, prepare):
    with tempfile.TemporaryDirectory(prefix=f"first-{name}-") as scratch:
        folder = Path(scratch)
        repository(folder)
        server, build = prepare(folder)
        begun = time.monotonic()
        done = run(KEEL, "init", "--yes", cwd=folder)
        took = time.monotonic() - begun
        tally.check(done.returncode == 0, f"{name}: init --yes ({took:.1f} s)", done.stdout + done.stderr)
        done = run(KEEL, "check", cwd=folder)
        tally.check(
            done.returncode == 0 and f"{server} matches the baseline" in " ".join(done.stdout.split()),
            f"{name}: check passes in one go", done.stdout + done.stderr,
        )
        workflow = folder / ".github/workflows/mcp-keel.yml"
        text = workflow.read_text() if workflow.exists() else ""
        tally.check(
            (build in text) if build else ("- run:" not in text), f"{name}: the workflow builds this server", text,
        )
        valid = run(
            TOOLS / "bin/check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow), cwd=folder,
        )
        tally.check(valid.returncode == 0, f"{name}: the workflow satisfies GitHub's schema", valid.stdout + valid.stderr)
        sound = run(TOOLS / "bin/zizmor", "--offline", "--persona", "regular", str(workflow), cwd=folder)
        tally.check(sound.returncode == 0, f"{name}: zizmor has no finding", sound.stdout + sound.stderr)
        must("git", "add", "mcp-keel.toml", "mcp-baseline.json", cwd=folder)


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, command, cwd):
        environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "TERM": "xterm"}
        self.said = ""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(cwd)
            os.execve(command[0], command, environment)

    def until(self, pattern, patience=60):
        """Waits for a pattern in what is printed after the last one."""
        end = time.monotonic() + patience
        seen = ""
        while not re.search(pattern, seen):
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise SystemExit(f"FAIL  no {pattern!r} in:\n{self.said}")
            try:
                text = os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:
                text = ""
            if not text:
                raise SystemExit(f"FAIL  it ended before {pattern!r}:\n{self.said}")
            seen += text
            self.said += text
        return seen

    def send(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        while True:
            try:
                text = os.read(self.terminal, 65536)
            except OSError:
                break
            if not text:
                break
            self.said += text.decode(errors="replace")
        _, status = os.waitpid(self.process, 0)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


def offer():
    """`pin -- CMD` on a terminal offers to remember the command."""
    with tempfile.TemporaryDirectory(prefix="first-offer-") as scratch:
        folder = Path(scratch)
        screen = Terminal([KEEL, "pin", "--", SCRIPTED, scenario("greeter", [GREET])], folder)
        screen.until(r"\[Y/n\] $")
        screen.send("\n")
        code = screen.end()
        done = run(KEEL, "check", cwd=folder)
        tally.check(
            code == 0 and done.returncode == 0 and "greeter" in done.stdout, "pin: remembers the command if it may",
            screen.said + done.stdout + done.stderr,
        )


PARTS = {
    "typescript": lambda: set_up("typescript", typescript),
    "fastmcp": lambda: set_up("fastmcp", fastmcp),
    "rust": lambda: set_up("rust", rust),
    "binary": lambda: set_up("binary", binary),
    "list": lambda: set_up("list", listed),
    "offer": offer,
}

for part in sys.argv[1:] or PARTS:
    PARTS[part]()
print(f"{tally.passed} passed, {tally.failed} failed")
sys.exit(tally.failed > 0)

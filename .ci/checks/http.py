"""Published MCP servers over stdio, Streamable HTTP and HTTP+SSE against the built mcp-keel: the same components, the same
digests, the same verdict. And the client scenarios of the official conformance suite for a client that lists and
never calls.

Needs what real_servers.py needs, and its cache. The suite needs Node 22; if `node` is older, npm fetches one.

    MCP_KEEL=path/to/mcp-keel python3 .ci/checks/http.py
"""

import json
import shutil
import socket
import subprocess
import tempfile
import shlex
from pathlib import Path

import real_servers as real

SUITE = "@modelcontextprotocol/conformance@0.1.16"
NODE = "node@22.23.3"

# How each server gets its transport and port, and the path at which it then responds.
EVERYTHING = {
    "streamable": (["streamableHttp"], "/mcp"),
    "sse": (["sse"], "/sse"),
}
FASTMCP = {
    "streamable": ("http", "/mcp"),
    "sse": ("sse", "/sse"),
}
# Servers that declare something different over HTTP: the rules that report it. FastMCP 3 announces
# `listChanged` there.
DIFFERS = {"fastmcp-3.4.2": {"capability-changed"}}
RUN_FASTMCP = (
    "import runpy, sys; "
    "runpy.run_path(sys.argv[1])['mcp'].run(transport=sys.argv[2], port=int(sys.argv[3]), show_banner=False)"
)


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def reached(server, age, transport):
    """The arguments by which mcp-keel starts the server and reaches it."""
    port = free_port()
    if server == "everything":
        words, path = EVERYTHING[transport]
        start = real.command(server, age, None) + words
    else:
        name, path = FASTMCP[transport]
        start = [real.python(real.folder(server, age)), "-c", RUN_FASTMCP, str(real.FIXTURE / "server.py"), name, str(port)]
    return [
        "--url", f"http://127.0.0.1:{port}{path}",
        "--start", shlex.join(start),
        "--env", f"PORT={port}",
    ]


def transports(tally, server, age, scratch):
    name = real.folder(server, age).name
    command = ["--", *real.command(server, age, None)]
    pinned = real.keel("pin", server, *command, cwd=scratch)
    if not tally.check(pinned.returncode == 0, f"{name}: pinned over stdio", real.output_of(pinned)):
        return
    baseline = scratch / "mcp-baseline.json"
    over_stdio = json.loads(baseline.read_text())["servers"][server]
    captured = real.keel("capture", *command, cwd=scratch).stdout
    for transport in ("streamable", "sse"):
        arguments = reached(server, age, transport)
        again = real.keel("capture", *arguments, cwd=scratch)
        same = again.returncode == 0 and lists(again.stdout) == lists(captured)
        tally.check(same, f"{name}: the capture over {transport} is that over stdio, byte for byte", real.output_of(again))
        # HTTP+SSE is deprecated, and the capture says so.
        expected = notes(captured) + (["deprecated-feature"] if transport == "sse" else [])
        found = notes(again.stdout) if again.returncode == 0 else None
        tally.check(found == sorted(expected), f"{name}: the notes over {transport}", f"{found}, not {sorted(expected)}")
        checked = real.keel("check", server, "--format", "json", *reached(server, age, transport), cwd=scratch)
        drift = {it["rule"] for it in changes(checked)}
        tally.check(drift == DIFFERS.get(name, set()), f"{name}: checks over {transport} as {drift or 'clean'}", real.output_of(checked))
        other = scratch / f"{transport}.json"
        pinned = real.keel("pin", server, "--baseline", other.name, *reached(server, age, transport), cwd=scratch)
        entry = json.loads(other.read_text())["servers"][server] if pinned.returncode == 0 else {}
        members = ["components"] if name in DIFFERS else ["components", "server"]
        same = all(entry.get(member) == over_stdio[member] for member in members)
        count = len(over_stdio["components"])
        tally.check(same, f"{name}: the digests of {count} {' and '.join(members)} are the same over {transport}", real.output_of(pinned))


def changes(checked):
    return [it for server in json.loads(checked.stdout or "{}").get("servers", []) for it in server["changes"]]


def lists(capture):
    """The text of a capture from its lists to its notes."""
    text = capture.decode()
    end = text.rfind('\n  "notes": [')
    return text[text.index('"tools": ['):end if end >= 0 else None].rstrip("}\n").rstrip(",")


def notes(capture):
    """The rules of a capture's notes."""
    return sorted(note["rule"] for note in json.loads(capture).get("notes", []))


def node_for_the_suite():
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) >= 22:
        return shutil.which("node")
    return str(installed(NODE, scripts=True) / "node_modules" / ".bin" / "node")


def installed(package, scripts=False):
    target = real.CACHE / package.replace("/", "-").lstrip("@")
    stamp = target / "installed.txt"
    if not stamp.is_file():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        (target / "package.json").write_text('{"private": true}\n')
        flags = ["--no-audit", "--no-fund", "--save-exact", "--loglevel=error"]
        flags += [] if scripts else ["--ignore-scripts"]
        real.run_with_retries(["npm", "install", *flags, package], cwd=target)
        stamp.write_text(package + "\n")
    return target


def conformance(tally, scratch):
    suite = installed(SUITE) / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    node = node_for_the_suite()

    def scenario(name, *more):
        results = scratch / "results"
        shutil.rmtree(results, ignore_errors=True)
        command = [node, str(suite), "client", "--command", f"{real.KEEL} capture --url", "--scenario", name]
        ran = subprocess.run(
            [*command, *more, "-o", str(results)], stdin=subprocess.DEVNULL, capture_output=True, cwd=scratch, timeout=120
        )
        found = list(results.rglob("checks.json"))
        return ran, json.loads(found[0].read_text()) if found else []

    for revision in ("2025-06-18", "2025-11-25"):
        ran, _ = scenario("initialize", "--spec-version", revision)
        passed = ran.returncode == 0 and b"OVERALL: PASSED" in ran.stdout + ran.stderr
        tally.check(passed, f"conformance: initialize at {revision} passes", real.output_of(ran))
    # These go on to call a tool, which mcp-keel never does. Up to there everything must pass.
    for name in ("tools_call", "sse-retry", "elicitation-sep1034-client-defaults"):
        ran, checks = scenario(name)
        listed = any("tools/list" in json.dumps(it) and it["id"].startswith("outgoing") for it in checks)
        failed = {it["id"] for it in checks if it["status"] == "FAILURE"}
        uncalled = {it["id"] for it in checks if "not called" in json.dumps(it.get("details", {}))}
        tally.check(listed and failed <= uncalled, f"conformance: {name} as far as listing", real.output_of(ran))


def main():
    tally = real.Tally()
    servers = [("everything", "old"), ("everything", "new"), ("fastmcp", "old"), ("fastmcp", "new")]
    real.install_all(["everything", "fastmcp"])
    with tempfile.TemporaryDirectory() as scratch:
        for server, age in servers:
            folder = Path(scratch) / f"{server}-{age}"
            folder.mkdir()
            transports(tally, server, age, folder)
        conformance(tally, Path(scratch))
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

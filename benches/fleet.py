"""How much longer a fleet takes than its servers need.

200 scripted servers, each with its own tools, are checked with `--jobs 8`. This is compared with the sum of their floors
(`examples/floor-client.rs`, one after another) over the cores: no client can be faster if booting keeps a core busy. Both
run alternately; the ratio is computed per round. Two fleets are measured: one whose servers keep a core busy while they
boot, as published servers do (their runtimes load code for hundreds of milliseconds), and one whose servers respond at
once, where the remaining time is mcp-keel's own.

The processor time of both is printed too, which is more reliable than the clock on a shared machine. So is the peak
memory of mcp-keel, for 200 servers and for 20. At the end the same fleet is checked in four parallel parts, and the
merged report is compared with that of one run.

    cargo build --release --bins --examples
    python3 benches/fleet.py [ROUNDS] [SERVERS]          by default 3 rounds of 200 servers

Needs Linux, and Python 3.10 or newer, standard library only.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
KEEL, FLOOR, SCRIPTED = (str(TARGET / it) for it in ("mcp-keel", "examples/floor-client", "examples/scripted-server"))
FORMATS = ("terminal", "json", "markdown", "html", "sarif", "junit", "github", "gitlab")


def environment():
    """The environment that mcp-keel gives a server, so that the floor measures the same."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}


def run(words, cwd, codes=(0,)):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(words, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
    took = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in codes:
        sys.exit(f"{words[:3]}: exit {done.returncode}\n{done.stdout.decode()[-2000:]}{done.stderr.decode()[-2000:]}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, spent, done.stdout


def scenario(index, busy, drifted):
    tools = [
        {
            "name": f"tool_{index}_{number}",
            "description": f"Does the {number}th thing of server {index}." + (" And more." if drifted else ""),
            "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
        }
        for number in range(10)
    ]
    start = [{"busy_ms": busy}] if busy else []
    return json.dumps({"tools": tools, "start": start})


def fleet(cwd, servers, busy, drifting=()):
    commands = {f"s{index:03}": [SCRIPTED, scenario(index, busy, index in drifting)] for index in range(servers)}
    text = "".join(f"[server.{name}]\ncommand = {json.dumps(command)}\n" for name, command in commands.items())
    (cwd / "mcp-keel.toml").write_text(text)
    return list(commands.values())


def memory(cwd):
    """The peak memory of mcp-keel itself, in MiB."""
    words = [KEEL, "check", "--quiet", "--jobs", "8"]
    child = subprocess.Popen(words, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    most = 0
    while child.poll() is None:
        try:
            status = Path(f"/proc/{child.pid}/status").read_text()
        except OSError:
            break
        most = max([most, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))])
        time.sleep(0.01)
    child.wait()
    return most / 1024


def measure(label, cwd, servers, busy, rounds):
    commands = fleet(cwd, servers, busy)
    (cwd / "mcp-baseline.json").unlink(missing_ok=True)
    run([KEEL, "pin", "--quiet", "--jobs", "8"], cwd)
    cores = len(os.sched_getaffinity(0))
    walls, spents = [], []
    for turn in range(rounds):
        def floors():
            clock = spent = 0.0
            for command in commands:
                took = run([FLOOR, *command], cwd)
                clock += float(took[2]) / 1000
                spent += took[1]
            return clock, spent
        def check():
            return run([KEEL, "check", "--quiet", "--jobs", "8"], cwd)[:2]
        # Each goes first in every other round.
        if turn % 2:
            least, ours = floors(), check()
        else:
            ours, least = check(), floors()
        walls.append((ours[0], least[0] / cores, ours[0] / (least[0] / cores)))
        spents.append((ours[1], least[1], ours[1] / least[1]))
    print(f"{label}: {servers} servers, --jobs 8, {cores} cores, {rounds} interleaved rounds")
    for name, values in (("clock", walls), ("processor time", spents)):
        ours, least, ratio = zip(*values)
        print(f"  {name:<15} check {statistics.median(ours):.2f} s, floors {'over the cores ' if name == 'clock' else ''}"
              f"{statistics.median(least):.2f} s, ratio {statistics.median(ratio):.2f}"
              f" (from {min(ratio):.2f} to {max(ratio):.2f})")


def joined(cwd, servers):
    fleet(cwd, servers, 0, drifting={1, servers // 2})
    reports = lambda folder: [word for it in FORMATS for word in ("--report", f"{it}={folder}/{it}")]  # noqa: E731
    run([KEEL, "check", "--quiet", "--jobs", "8", *reports("whole")], cwd, codes=(1,))
    parts = [subprocess.Popen([KEEL, "check", "--quiet", "--shard", f"{part}/4", "--report", f"json=parts/{part}.json"],
                              cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
             for part in range(1, 5)]
    codes = [part.wait() for part in parts]
    took = run([KEEL, "merge", "parts", "--quiet", *reports("joined")], cwd, codes=(1,))[0]
    same = all((cwd / "whole" / it).read_bytes() == (cwd / "joined" / it).read_bytes() for it in FORMATS)
    print(f"four parts side by side (exit codes {codes}), joined in {took:.2f} s:"
          f" {'the same bytes as one run in all formats' if same else 'NOT THE SAME'}")
    if not same:
        sys.exit(1)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    servers = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for program in (KEEL, FLOOR, SCRIPTED):
        if not Path(program).is_file():
            sys.exit(f"{Path(program).name} is missing: cargo build --release --bins --examples")
    with tempfile.TemporaryDirectory(prefix="mcp-keel-fleet-") as work:
        work = Path(work).resolve()
        measure("servers that boot like published ones (some 100 ms of a core)", work, servers, 100, rounds)
        measure("servers that answer at once", work, servers, 0, rounds)
        large = memory(work)
        fleet(work, 20, 0)
        small = memory(work)
        print(f"memory of mcp-keel at most: {large:.0f} MiB for {servers} servers, {small:.0f} MiB for 20 of them")
        joined(work, servers)


if __name__ == "__main__":
    main()

"""How much longer `mcp-keel check` takes than any client must.

The floor is `examples/floor-client.rs`: from starting the server to its last list response, with nothing around it (no
parsing, no shutdown, the server is killed). It is compared with a whole `mcp-keel check`, from its start to its
exit as seen from outside: reading the baseline, booting, capturing, comparing, reporting and ending the server down to
the last grandchild. Both run alternately, so that a busy machine slows both, on the everything-server of `.ci/e2e real_servers`.
The ratio is computed per round; the median and the quartiles are printed.

The difference is broken down in two ways: the same two programs with a server that boots in a millisecond (the
remaining time is mcp-keel's own), and, with strace, the phases of a check (medians; a little slower than without).

    cargo build --release --bins --examples
    python3 benches/floor.py [ROUNDS]          15 rounds by default

Needs Linux or macOS, Node with npm, and Python 3.10 or newer, standard library only.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".ci"))
from real_servers import SERVERS, command, install_all  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
KEEL, FLOOR, SCRIPTED = (str(TARGET / it) for it in ("mcp-keel", "examples/floor-client", "examples/scripted-server"))


def environment():
    """The environment that mcp-keel gives a server, so that the floor measures the same."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "TERM", "USER", "SHELL") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}


def run(words, cwd):
    begun = time.perf_counter()
    done = subprocess.run(words, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
    took = (time.perf_counter() - begun) * 1000
    if done.returncode != 0:
        sys.exit(f"{words[:2]}: exit {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return took, done.stdout


def floor(start, cwd):
    return float(run([FLOOR, *start], cwd)[1])


def check(start, cwd):
    return run([KEEL, "check", "it", "--", *start], cwd)[0]


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def compare(label, start, rounds, cwd):
    (cwd / "mcp-baseline.json").unlink(missing_ok=True)
    run([KEEL, "pin", "it", "--", *start], cwd)
    floors, checks = [], []
    for turn in range(rounds + 1):
        # Each goes first in every other round.
        if turn % 2:
            pair = floor(start, cwd), check(start, cwd)
        else:
            pair = tuple(reversed((check(start, cwd), floor(start, cwd))))
        if turn:  # the first round warms the caches
            floors.append(pair[0])
            checks.append(pair[1])
    print(f"{label}, {rounds} interleaved rounds")
    for name, values, unit, digits in (
        ("floor", floors, "ms", 1),
        ("check", checks, "ms", 1),
        ("difference", [c - f for f, c in zip(floors, checks)], "ms", 1),
        ("ratio", [c / f for f, c in zip(floors, checks)], "", 3),
    ):
        low, middle, high = spread(values)
        print(f"  {name:<11} median {middle:.{digits}f} {unit:<2} quartiles {low:.{digits}f} .. {high:.{digits}f}"
              f"  range {min(values):.{digits}f} .. {max(values):.{digits}f}")


def moments(start, cwd, rounds=7):
    """The phases of a check, from a few system calls of mcp-keel and of the server.

    Only those calls are traced (--seccomp-bpf): otherwise strace makes reading /proc ten times slower.
    """
    if not shutil.which("strace"):
        print("  no strace on the PATH: the breakdown is not shown")
        return
    seen = []
    for _ in range(rounds):
        log = cwd / "strace.log"
        calls = "execve,write,writev,sendto,kill,exit_group"
        run(["strace", "-f", "--seccomp-bpf", "-e", f"trace={calls}", "-ttt", "-s", "64", "-o", str(log), KEEL, "check",
             "it", "--", *start], cwd)
        lines = [line.split(None, 2) for line in log.read_text(errors="replace").splitlines()]
        ours = lines[0][0]
        begun, ended = float(lines[0][1]), float(lines[-1][1])
        started = next((float(at) for pid, at, call in lines if pid != ours and call.startswith("execve(")), None)
        answers = [float(at) for pid, at, call in lines
                   if pid != ours and re.match(r"(write|writev|sendto)\(1,", call) and "jsonrpc" in call]
        asked = [float(at) for _, at, call in lines if re.search(r"kill\(.*SIGTERM", call)]
        server = next((pid for pid, _, call in lines if pid != ours and call.startswith("execve(")), None)
        gone = [float(at) for pid, at, call in lines if pid == server and call.startswith("+++")]
        if started and answers and gone:
            asked = asked or [answers[-1]]
            seen.append((started - begun, answers[-1] - started, asked[0] - answers[-1], gone[0] - asked[0],
                         ended - gone[0]))
    if not seen:
        print("  strace saw nothing: the breakdown is not shown")
        return
    parts = [statistics.median(it) * 1000 for it in zip(*seen)]
    for what, part in zip((
        "until the server is started", "until its last response", "until it is asked to exit (0: it exited by itself)",
        "until it has ended", "until mcp-keel exits",
    ), parts):
        print(f"  {part:8.1f} ms  {what}")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    for program in (KEEL, FLOOR, SCRIPTED):
        if not Path(program).is_file():
            sys.exit(f"{Path(program).name} is missing: cargo build --release --bins --examples")
    install_all(["everything"])
    with tempfile.TemporaryDirectory(prefix="mcp-keel-bench-") as work:
        work = Path(work).resolve()
        for age in ("new", "old"):
            start = command("everything", age, work)
            compare(SERVERS["everything"][age][0], start, rounds, work)
            moments(start, work)
        tool = {"name": "greet", "description": "Says hello.", "inputSchema": {"type": "object"}}
        start = [SCRIPTED, json.dumps({"tools": [tool]})]
        compare("a server that boots at once", start, rounds, work)
        moments(start, work)


if __name__ == "__main__":
    main()

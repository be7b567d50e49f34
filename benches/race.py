"""`mcp-keel check` beside the least that any client must wait, and beside every peer that installs.

Three published servers (everything, filesystem, memory), each pinned once by every tool and then checked in interleaved
rounds: in each round every contestant runs once, in an order that rotates, so that a busy machine slows all of them. All run
in the environment that mcp-keel gives a server. A ratio is computed per round, against the floor of that round
(`examples/floor-client.rs`: from starting the server to its last list response, nothing around it); medians and quartiles are
printed, and with --json FILE everything is written there.

Peers come from PyPI into a cache of their own; one that does not install or does not pin a server is named and left out.

    cargo build --release --bins --examples
    python3 benches/race.py [ROUNDS] [--json FILE]          15 rounds by default

Needs Linux or macOS, Node with npm, Python 3.10 or newer with venv, and the network on the first run.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / ".ci"), str(ROOT / "benches")]
from floor import environment  # noqa: E402
from real_servers import CACHE, SERVERS, command, install_all  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
KEEL = os.environ.get("MCP_KEEL") or str(TARGET / "mcp-keel")
FLOOR = str(TARGET / "examples/floor-client")
CONTESTED = ("everything", "filesystem", "memory")
PEERS = {"mcpdrift": "mcpdrift==0.1.0", "mcplock": "mcplock==1.0.3", "mcp-contract": "mcp-contract==0.6.0"}


def run(words, cwd):
    begun = time.perf_counter()
    done = subprocess.run(words, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
    took = (time.perf_counter() - begun) * 1000
    if done.returncode != 0:
        raise RuntimeError(f"{Path(words[0]).name}: exit {done.returncode}: {(done.stdout + done.stderr).decode()[-400:]}")
    return took, done.stdout


def peers():
    """The programs of the peers that install, by name."""
    found = {}
    for name, requirement in PEERS.items():
        folder = CACHE / f"peer-{requirement.replace('==', '-')}"
        program = folder / "bin" / name
        if not program.is_file():
            try:
                subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
                subprocess.run([folder / "bin/pip", "-q", "install", requirement], check=True, capture_output=True)
            except (subprocess.CalledProcessError, OSError) as error:
                print(f"{name} does not install: {error}")
                continue
        found[name] = str(program)
    return found


def contestants(start, cwd, programs):
    """What each runs to pin, and what to check."""
    (cwd / "servers.json").write_text(json.dumps({"mcpServers": {"it": {"command": start[0], "args": start[1:]}}}))
    words = {
        "mcp-keel": ([KEEL, "pin", "it", "--", *start], [KEEL, "check", "it", "--", *start]),
        "mcpdrift": (["snapshot", "--config", "servers.json", "--out", "drift.lock"],
                     ["check", "--config", "servers.json", "--lock", "drift.lock"]),
        "mcplock": (["snapshot", shlex.join(start)], ["check", shlex.join(start)]),
        "mcp-contract": (["snapshot", "--", *start], ["check", "--", *start]),
    }
    for name, program in programs.items():
        words[name] = tuple([program, *it] for it in words[name])
    return {name: it for name, it in words.items() if name == "mcp-keel" or name in programs}


def race(server, rounds, work, programs):
    cwd = work / server
    cwd.mkdir()
    start = command(server, "new", cwd)
    checks = {}
    for name, (pin, check) in contestants(start, cwd, programs).items():
        try:
            run(pin, cwd)
            run(check, cwd)
            checks[name] = check
        except RuntimeError as error:
            if name == "mcp-keel":
                raise
            print(f"  {server}: {name} is left out: {error}")
    names = ["floor", *checks]
    times = {name: [] for name in names}
    for turn in range(rounds + 1):
        shift = turn % len(names)
        taken = {}
        for name in names[shift:] + names[:shift]:
            taken[name] = float(run([FLOOR, *start], cwd)[1]) if name == "floor" else run(checks[name], cwd)[0]
        if turn:  # the first round warms the caches
            for name, took in taken.items():
                times[name].append(took)
    package = SERVERS[server]["new"][0]
    print(f"{package}, {rounds} interleaved rounds")
    results = {}
    for name in names:
        ratios = [took / floor for took, floor in zip(times[name], times["floor"])]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        results[name] = {"milliseconds": statistics.median(times[name]), "ratio": middle, "quartiles": [low, high]}
        print(f"  {name:<13} median {statistics.median(times[name]):7.1f} ms   ratio {middle:.3f}  quartiles {low:.3f} .. {high:.3f}")
    nearest = min((it["ratio"] for name, it in results.items() if name not in ("mcp-keel", "floor")), default=None)
    if nearest:
        print(f"  the nearest peer takes {nearest / results['mcp-keel']['ratio']:.2f} times as long as mcp-keel")
    return {"package": package, "rounds": rounds, "results": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=15)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    for program in (KEEL, FLOOR):
        if not Path(program).is_file():
            sys.exit(f"{Path(program).name} is missing: cargo build --release --bins --examples")
    install_all(list(CONTESTED))
    programs = peers()
    with tempfile.TemporaryDirectory(prefix="mcp-keel-race-") as work:
        results = [race(server, given.rounds, Path(work).resolve(), programs) for server in CONTESTED]
    if given.json:
        given.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

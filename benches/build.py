"""What a clone costs: packages, size of the binary, and time of a clean build, of a commit and of HEAD.

Each of the two is checked out into a scratch folder, and built there from nothing, with the dependencies downloaded before:
`cargo build --bin mcp-keel` as `cargo run -- demo` does it (dev), with --release, and with --profile dist, which is what is
published. The two take turns, so that a busy machine slows both. The processor time of all compilers and linkers together
(user and system) is the number to compare; the clock also depends on the number of cores and on what else they do. The size
is that of the stripped binary, for dist as it is published for this platform's own target (`.ci/release` makes it static).

    python3 benches/build.py [COMMIT] [--profiles dev,release,dist] [--rounds N] [--json FILE]

COMMIT is the one before the first work on performance by default. With --rounds N the medians of N rounds are printed. A round
of all three profiles takes about half an hour of a processor for each commit, and 3 GB of disk at a time (TMPDIR).

Needs git, a Rust toolchain, and Python 3.10 or newer, standard library only. Linux or macOS.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEFORE = "7650ea4"
PROFILES = {"dev": "debug", "release": "release", "dist": "dist"}


def output(*words, cwd=ROOT):
    return subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True).stdout


def environment(target):
    """Without what would make one build faster than it is from nothing, or another program than it is by default."""
    dropped = ("RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    kept = {name: value for name, value in kept.items() if not name.startswith("CARGO_PROFILE_")}
    return {**kept, "CARGO_TARGET_DIR": str(target), "CARGO_TERM_COLOR": "never"}


def packages(checkout):
    """Those that a build for this platform compiles, each version by itself."""
    listed = output("cargo", "tree", "--locked", "-e", "normal,build", "--prefix", "none", cwd=checkout)
    return len({line.removesuffix(" (*)") for line in listed.splitlines() if line})


def build(checkout, profile):
    """Clock, processor time and size in bytes of one clean build."""
    with tempfile.TemporaryDirectory(prefix="keel-build-") as target:
        words = ["cargo", "build", "--locked", "--offline", "--quiet", "--bin", "mcp-keel", "--profile", profile]
        begun = time.monotonic()
        child = subprocess.Popen(words, cwd=checkout, env=environment(target))
        _, status, used = os.wait4(child.pid, 0)
        clock = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{' '.join(words)} failed in {checkout}")
        binary = Path(target) / PROFILES[profile] / "mcp-keel"
        # Development builds are compared by what they contain, too.
        if profile == "dev":
            subprocess.run(["strip", binary], check=True)
        return {"clock": clock, "processor": used.ru_utime + used.ru_stime, "size": binary.stat().st_size}


def minutes(seconds):
    return f"{seconds / 60:.1f} min"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", default=BEFORE)
    parser.add_argument("--profiles", default=",".join(PROFILES))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    profiles = given.profiles.split(",")
    for profile in profiles:
        if profile not in PROFILES:
            parser.error(f"no profile {profile}: {', '.join(PROFILES)}")

    scratch = Path(tempfile.mkdtemp(prefix="keel-checkouts-"))
    columns = {}
    try:
        for name in (given.commit, "HEAD"):
            commit = output("git", "rev-parse", "--short", f"{name}^{{commit}}").strip()
            checkout = scratch / commit
            if checkout.exists():
                parser.error(f"{given.commit} is HEAD")
            # A clone, not a worktree: it leaves nothing behind in the repository.
            output("git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, checkout)
            output("git", "checkout", "--quiet", "--detach", commit, cwd=checkout)
            output("cargo", "fetch", "--locked", cwd=checkout)
            columns[commit] = {"packages": packages(checkout), "builds": {profile: [] for profile in profiles}}
        for _ in range(given.rounds):
            for profile in profiles:
                for commit, column in columns.items():
                    made = build(scratch / commit, profile)
                    column["builds"][profile].append(made)
                    print(f"{commit} {profile}: {made}", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

    def median(column, profile, what):
        return statistics.median(made[what] for made in column["builds"][profile])

    rows = [("packages", [str(column["packages"]) for column in columns.values()])]
    for profile in profiles:
        for what, shown in (("processor", minutes), ("clock", minutes), ("size", lambda size: f"{size / 1e6:.2f} MB")):
            title = {"processor": "processor time", "clock": "clock", "size": "size of the binary"}[what]
            rows.append((f"{profile}: {title}", [shown(median(it, profile, what)) for it in columns.values()]))
    print(f"| clean build, {os.cpu_count()} cores | {' | '.join(columns)} |")
    print("|---|" + "---|" * len(columns))
    for title, values in rows:
        print(f"| {title} | {' | '.join(values)} |")
    if given.json:
        given.json.write_text(json.dumps(columns, indent=1) + "\n")


if __name__ == "__main__":
    main()

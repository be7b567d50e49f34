"""How many instructions the core takes, compared with the numbers that are committed.

Seconds on a shared machine say little; instructions are the same for the same binary and input. valgrind counts them for a
few commands on inputs that this script makes, and the result is compared with `benches/instructions.json`: more than 5% above
a committed number fails, far below it says so. The numbers are of the development build, which every clone has, and of one
compiler; with another compiler they are compared only with --any-compiler, and the script says so.

    .ci/instructions                    compares (builds what it needs)
    .ci/instructions --accept           writes the numbers

With --growth `diff` runs on 300 to 30,000 tools (--most 100000 takes ten minutes more), and the instructions for a tool are
printed: what is linear stays the same. With --plot FILE that is drawn as SVG. With --reports every format is written for
1,000 and for 10,000 changes. Both take an optimised build: MCP_KEEL=target/release/mcp-keel.

Needs valgrind and Python 3.10 or newer, standard library only.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEEL = os.environ.get("MCP_KEEL") or str(
    Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "debug" / "mcp-keel"
)
COMMITTED = ROOT / "benches" / "instructions.json"
TOLERANCE = 0.05
TOOLS = 60


FORMATS = ("terminal", "json", "markdown", "html", "sarif", "junit", "github", "gitlab")


def tool(number, changed, every=10):
    """A tool like those of published servers; every tenth one is changed in one of four ways."""
    properties = {
        "query": {"type": "string", "description": f"What to look for in part {number}.", "maxLength": 200},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "kind": {"enum": ["all", "open", "closed"], "type": "string"},
        "filter": {"type": "object", "properties": {"since": {"type": "string", "format": "date"}, "tags": {"type": "array", "items": {"type": "string"}}}},
    }
    description = f"Finds the entries of part {number} that match, newest first."
    required = ["query"]
    if changed and number % every == 0:
        match number // every % 4:
            case 0:
                properties["limit"]["maximum"] = 50
            case 1:
                properties["kind"]["enum"] = ["all", "open"]
            case 2:
                description += " At most a hundred."
            case 3:
                required.append("limit")
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": f"find_{number:06}", "description": description, "inputSchema": schema}


def capture(path, tools, changed=False, every=10):
    """What `tools/list` answers, as `capture` saves it."""
    path.write_text(json.dumps({"tools": [tool(number, changed, every) for number in range(tools)]}))
    return path


def instructions(words, cwd, codes=(0,)):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", KEEL, *words],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    counted = re.search(rb"Collected : (\d+)", done.stderr)
    if done.returncode not in codes or not counted:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return int(counted.group(1))


def measured(cwd):
    old, new = capture(cwd / "old.json", TOOLS), capture(cwd / "new.json", TOOLS, changed=True)
    return {
        "--help": instructions(["--help"], cwd),
        "rules": instructions(["rules"], cwd),
        "fingerprint": instructions(["fingerprint", old], cwd),
        "scan": instructions(["scan", old], cwd),
        "diff of equal tools": instructions(["diff", old, old], cwd),
        "diff, a tenth changed": instructions(["diff", old, new], cwd, codes=(0, 1)),
        "diff as HTML": instructions(["diff", old, new, "--format", "html"], cwd, codes=(0, 1)),
        "diff as SARIF": instructions(["diff", old, new, "--format", "sarif"], cwd, codes=(0, 1)),
    }


def compiler():
    said = subprocess.run(["rustc", "--version"], capture_output=True, check=True).stdout.decode().strip()
    return said


def compare(numbers, any_compiler):
    committed = json.loads(COMMITTED.read_text())
    if committed["compiler"] != compiler() and not any_compiler:
        print(f"SKIPPED: the numbers are of {committed['compiler']}, this is {compiler()}; compare with --any-compiler, or accept anew")
        return 0
    worse = []
    for name, count in numbers.items():
        before = committed["instructions"].get(name)
        if before is None:
            worse.append(f"{name}: not committed")
            continue
        change = count / before - 1
        print(f"  {name:<30} {count:>14,}  {change:+.1%}")
        if change > TOLERANCE:
            worse.append(f"{name}: {before:,} -> {count:,} ({change:+.1%})")
        elif change < -TOLERANCE:
            print("    much better than committed: accept it, so that it stays so")
    if worse:
        print("more instructions than committed:", *worse, sep="\n  ")
        print("if that is meant: .ci/instructions --accept")
        return 1
    return 0


def growth(cwd, plot, most):
    sizes = tuple(it for it in (300, 1_000, 3_000, 10_000, 30_000, 100_000) if it <= (most or 30_000))
    rows = []
    for size in sizes:
        old, new = capture(cwd / "old.json", size), capture(cwd / "new.json", size, changed=True)
        count = instructions(["diff", old, new, "--quiet"], cwd, codes=(0, 1))
        rows.append((size, count))
        print(f"  diff of {size:>7,} tools, a tenth changed: {count:>18,} instructions, {count / size:>10,.0f} for a tool", flush=True)
    if plot:
        Path(plot).write_text(drawn(rows))
    return 0


def reports(cwd):
    """Each format for 1,000 and for 10,000 changes, the comparison included: what is linear takes as many for a change."""
    counts = {}
    for size in (1_000, 10_000):
        old, new = capture(cwd / "old.json", size), capture(cwd / "new.json", size, changed=True, every=1)
        for format in FORMATS:
            counts[format, size] = instructions(["diff", old, new, "--format", format], cwd, codes=(0, 1))
    worse = 0
    for format in FORMATS:
        few, many = counts[format, 1_000] / 1_000, counts[format, 10_000] / 10_000
        print(f"  {format:<10} {few:>12,.0f} {many:>12,.0f} instructions for a change, {many / few:.2f} times", flush=True)
        worse += many > few * 1.1
    return 1 if worse else 0


def drawn(rows):
    """Instructions for a tool over the number of tools, as SVG: a horizontal line is linear work."""
    from math import log10

    width, height, left, bottom = 640, 300, 90, 50
    most = max(count / size for size, count in rows) * 1.25
    low, high = log10(rows[0][0]), log10(rows[-1][0])
    at = [(left + (width - left - 30) * (log10(size) - low) / (high - low),
           height - bottom - (height - bottom - 20) * (count / size) / most, size, count / size) for size, count in rows]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<path d="M{left} 20V{height - bottom}H{width - 20}" fill="none" stroke="#888"/>',
             f'<text x="{left}" y="14" fill="#444">thousand instructions for a tool (mcp-keel diff, a tenth changed)</text>']
    for step in range(1, 5):
        value = most * step / 5
        y = height - bottom - (height - bottom - 20) * step / 5
        parts.append(f'<path d="M{left} {y:.1f}H{width - 20}" stroke="#eee"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#444">{value / 1000:.0f}</text>')
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in at)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#0969da" stroke-width="2"/>')
    for x, y, size, value in at:
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#0969da"/>'
                     f'<text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle" fill="#222">{value / 1000:.0f}</text>'
                     f'<text x="{x:.1f}" y="{height - bottom + 18}" text-anchor="middle" fill="#444">{size:,}</text>')
    parts.append(f'<text x="{(left + width) / 2}" y="{height - 10}" text-anchor="middle" fill="#444">tools</text></svg>')
    return "\n".join(parts) + "\n"


def main():
    arguments = sys.argv[1:]
    if not Path(KEEL).is_file():
        sys.exit("mcp-keel is missing: cargo build")
    with tempfile.TemporaryDirectory(prefix="mcp-keel-instructions-") as work:
        cwd = Path(work).resolve()
        if "--growth" in arguments:
            plot = arguments[arguments.index("--plot") + 1] if "--plot" in arguments else None
            most = int(arguments[arguments.index("--most") + 1]) if "--most" in arguments else None
            sys.exit(growth(cwd, plot, most))
        if "--reports" in arguments:
            sys.exit(reports(cwd))
        numbers = measured(cwd)
    if "--accept" in arguments:
        COMMITTED.write_text(json.dumps({"compiler": compiler(), "instructions": numbers}, indent=2) + "\n")
        print(f"written: {COMMITTED.relative_to(ROOT)}")
        return
    sys.exit(compare(numbers, "--any-compiler" in arguments))


if __name__ == "__main__":
    main()

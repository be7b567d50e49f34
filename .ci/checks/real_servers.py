"""Published MCP servers against the built mcp-keel: pin, check, drift from one version to another, fingerprints.

Needs Node with npm, Python 3.10 or newer with venv, and the network on the first run. Nothing but the standard library.
Packages are installed into a cache outside the work tree (MCP_KEEL_CI_CACHE, default ~/.cache/mcp-keel-ci), one folder
per server and version, and reused while the requirements stay the same.

The differences between two versions are computed here, from the two captures, without mcp-keel's own comparison.

    MCP_KEEL=path/to/mcp-keel python3 .ci/checks/real_servers.py [--install-only] [SERVER ...]
"""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = Path(os.environ.get("MCP_KEEL_CI_CACHE") or Path.home() / ".cache" / "mcp-keel-ci")
KEEL = os.environ.get("MCP_KEEL") or str(ROOT / "target" / "debug" / "mcp-keel")
FIXTURE = ROOT / "fixtures" / "fastmcp"
SCRATCH = "{scratch}"  # in arguments: an empty folder, the same for every boot

# Which servers, and what each version is installed from. SDK versions are pinned where a package
# leaves them open: the same package lists different tools with another SDK.
SERVERS = {
    "everything": {
        "npm": "@modelcontextprotocol/server-everything",
        "old": ["@modelcontextprotocol/server-everything@2025.9.25"],
        "new": ["@modelcontextprotocol/server-everything@2026.1.26"],
    },
    "filesystem": {
        "npm": "@modelcontextprotocol/server-filesystem",
        "old": ["@modelcontextprotocol/server-filesystem@2025.3.28"],
        "new": ["@modelcontextprotocol/server-filesystem@2025.8.21"],
        "arguments": [SCRATCH],
    },
    "memory": {
        "npm": "@modelcontextprotocol/server-memory",
        "old": ["@modelcontextprotocol/server-memory@2025.4.25"],
        "new": ["@modelcontextprotocol/server-memory@2026.1.26"],
    },
    "time": {
        "module": "mcp_server_time",
        "old": ["mcp-server-time==2025.7.1", "mcp==1.26.0"],
        "new": ["mcp-server-time==2026.10.19", "mcp==2.3.0"],
    },
    "git": {
        "module": "mcp_server_git",
        "old": ["mcp-server-git==2025.7.1", "mcp==1.26.0"],
        "new": ["mcp-server-git==2026.10.19", "mcp==2.3.0"],
    },
    "fetch": {
        "module": "mcp_server_fetch",
        "old": ["mcp-server-fetch==2025.1.17", "mcp==1.26.0"],
        "new": ["mcp-server-fetch==2026.10.24", "mcp==2.3.0"],
    },
    "fastmcp": {
        "script": str(FIXTURE / "server.py"),
        "old": ["fastmcp==3.4.2"],
        "new": ["fastmcp==4.1.2"],
    },
}

LISTS = {"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}
KINDS = {"tools": "tool", "prompts": "prompt", "resources": "resource", "resourceTemplates": "template"}


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, holds, what, detail=""):
        if holds:
            self.passed += 1
            print(f"ok    {what}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {what}", flush=True)
            for line in str(detail).rstrip().splitlines()[:40]:
                print(f"      | {line}")
        return holds


# --- installing ---------------------------------------------------------------------------------------------------


def folder(server, age):
    first = SERVERS[server][age][0].replace("/", "-").replace("==", "-").lstrip("@")
    return CACHE / first


def run_with_retries(command, tries=4, **options):
    for attempt in range(1, tries + 1):
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
        )
        if result.returncode == 0:
            return
        if attempt < tries:
            time.sleep(3 * attempt)
    raise RuntimeError(f"{' '.join(command)}: exit {result.returncode}\n{result.stdout[-3000:]}")


def install(server, age):
    """Installs one version unless present. Returns a line to print."""
    spec, target = SERVERS[server], folder(server, age)
    wanted = "\n".join(sorted(spec[age])) + "\n"
    stamp = target / "installed.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return f"cached     {target.name}"
    started = time.monotonic()
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if "npm" in spec:
        (target / "package.json").write_text('{"private": true}\n')
        flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--loglevel=error"]
        run_with_retries(["npm", "install", *flags, *spec[age]], cwd=target)
    else:
        run_with_retries([sys.executable, "-m", "venv", str(target / "venv")], tries=1)
        pip = [python(target), "-m", "pip", "--disable-pip-version-check"]
        run_with_retries([*pip, "install", "--quiet", "--retries", "5", *spec[age]])
    stamp.write_text(wanted)
    return f"installed  {target.name} in {time.monotonic() - started:.1f} s"


def install_all(servers):
    for tool, hint in (("node", "Node 20 or newer"), ("npm", "npm")):
        if any("npm" in SERVERS[server] for server in servers) and not shutil.which(tool):
            sys.exit(f"FAIL  {tool} is not on the PATH: install {hint}")
    CACHE.mkdir(parents=True, exist_ok=True)
    jobs = [(server, age) for server in servers for age in ("old", "new")]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for line in pool.map(lambda job: install(*job), jobs):
            print(line, flush=True)


def python(target):
    return str(target / "venv" / "bin" / "python")


def command(server, age, scratch):
    spec, target = SERVERS[server], folder(server, age)
    if "npm" in spec:
        package = target / "node_modules" / spec["npm"]
        (entry,) = json.loads((package / "package.json").read_text())["bin"].values()
        start = ["node", str(package / entry)]
    elif "module" in spec:
        start = [python(target), "-m", spec["module"]]
    else:
        start = [python(target), spec["script"]]
    return start + [str(scratch) if it == SCRATCH else it for it in spec.get("arguments", [])]


# --- looking ------------------------------------------------------------------------------------------------------


def keel(*arguments, cwd):
    return subprocess.run([KEEL, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=180)


def output_of(result):
    return (
        f"exit {result.returncode}\n{result.stdout.decode(errors='replace')[:3000]}\n"
        f"{result.stderr.decode(errors='replace')[:3000]}"
    )


def read(raw):
    """JSON with number literals kept apart: to Python alone, 1 equals 1.0 and true."""
    return json.loads(raw, parse_int=lambda it: {"int": it}, parse_float=lambda it: {"float": it})


def text(value, in_order=False):
    return json.dumps(value, sort_keys=not in_order)


def version_of(item):
    meta = item.get("_meta") or {}
    return (meta.get("fastmcp") or meta.get("_fastmcp") or {}).get("version") or ""


def differing(old, new, kind, in_order=False):
    """Names (for resources: addresses) of the entries of one list that were added, removed or changed.

    The order of the members of an object is ignored unless `in_order` is set.
    """

    def by_name(capture):
        return {(it[LISTS[kind]], version_of(it)): text(it, in_order) for it in capture.get(kind) or []}

    before, after = by_name(old), by_name(new)
    return sorted({key[0] for key in before.keys() | after.keys() if before.get(key) != after.get(key)})


# --- the assertions -----------------------------------------------------------------------------------------------


def try_server(server, tally):
    with tempfile.TemporaryDirectory(prefix="mcp-keel-ci-") as work:
        work = Path(work).resolve()
        scratch = work / "scratch"
        scratch.mkdir()
        old, new = command(server, "old", scratch), command(server, "new", scratch)
        old_label, new_label = SERVERS[server]["old"][0], SERVERS[server]["new"][0]

        captures = {}
        for label, start in ((old_label, old), (new_label, new)):
            results = [keel("capture", server, "--", *start, cwd=work) for _ in range(3)]
            good = all(result.returncode == 0 for result in results)
            if not tally.check(good, f"{server}: capture of {label} exits 0", output_of(results[0])):
                return
            same = len({result.stdout for result in results}) == 1
            tally.check(same, f"{server}: three captures of {label} give the same bytes", unlike(results))
            captures[label] = read(results[0].stdout)
        before, after = captures[old_label], captures[new_label]
        tally.check(before.get("tools"), f"{server}: tools were captured ({len(before.get('tools') or [])})")

        baseline = work / "mcp-baseline.json"
        pins = []
        for _ in range(2):
            baseline.unlink(missing_ok=True)
            result = keel("pin", server, "--", *old, cwd=work)
            if not tally.check(result.returncode == 0, f"{server}: pin exits 0", output_of(result)):
                return
            pins.append(baseline.read_bytes())
        tally.check(pins[0] == pins[1], f"{server}: pinning twice gives the same bytes")
        result = keel("pin", server, "--", *old, cwd=work)
        untouched = result.returncode == 0 and baseline.read_bytes() == pins[0]
        tally.check(untouched, f"{server}: pinning over the baseline leaves its bytes", output_of(result))
        tally.check(str(work).encode() not in pins[0] or server == "filesystem", f"{server}: no path of this machine")
        pinned_definitions(server, pins[0], before, tally)

        result = keel("check", server, "--", *old, cwd=work)
        tally.check(result.returncode == 0, f"{server}: check of the pinned version exits 0", output_of(result))
        tally.check(b"\x1b" not in result.stdout + result.stderr, f"{server}: no escape codes without a terminal")
        drift(server, old_label, new_label, new, before, after, work, tally)
        tally.check(baseline.read_bytes() == pins[0], f"{server}: check never writes the baseline")

        if server == "everything":
            everything_members(new, after, work, tally)
        if server == "time":
            time_zone(new, work, tally)
        if server == "fastmcp":
            for age in ("old", "new"):
                fastmcp_recipe(age, work, tally)


def unlike(results):
    first = results[0].stdout.decode(errors="replace").splitlines()
    for other in results[1:]:
        for left, right in zip(first, other.stdout.decode(errors="replace").splitlines()):
            if left != right:
                at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), 0)
                return f"{left[max(0, at - 60):at + 100]}\n{right[max(0, at - 60):at + 100]}"
    return "of different length"


def pinned_definitions(server, baseline, capture, tally):
    """The baseline contains the definition of every component exactly as captured."""
    pinned = [entry["definition"] for entry in read(baseline)["servers"][server]["components"].values()]
    sent = [item for kind in LISTS for item in capture.get(kind) or []]
    as_text = sorted(map(text, pinned)), sorted(map(text, sent))
    tally.check(as_text[0] == as_text[1], f"{server}: the baseline holds all {len(sent)} definitions as sent")


def drift(server, old_label, new_label, new, before, after, work, tally):
    names = {kind: differing(before, after, kind) for kind in LISTS}
    tools = names["tools"]
    pair = f"{server}: pinned at {old_label}, checked at {new_label}"
    # Strict: by default a change that no caller can notice is only a warning.
    strict = ("check", server, "--policy", "strict")
    result = keel(*strict, "--", *new, cwd=work)
    out = result.stdout.decode()
    if any(names.values()):
        counts = ", ".join(f"{len(found)} {kind}" for kind, found in names.items() if found)
        tally.check(result.returncode == 1, f"{pair}: exits 1 ({counts} differ)", output_of(result))
        unwrapped = re.sub(r"\s+", "", out)
        # A renamed tool is listed under its old key, and the sentence next to it has the new name.
        missing = [name for kind, found in names.items() for name in found
                   if not any(it in unwrapped for it in (f"{KINDS[kind]}:{name}@", f"isnowcalled`{name}`", f"seemsrenamedto`{name}`"))]
        tally.check(not missing, f"{server}: the report names all that differ", f"missing: {missing}\n{out[:2000]}")
    else:
        print(f"      {pair}: the same components")
    result = keel("check", server, "--format", "json", "--", *new, cwd=work)
    report = json.loads(result.stdout)
    changes = report["servers"][0]["changes"]
    changed = {}
    for change in changes:
        matched = re.fullmatch(r"tool:(.*)@[^@]*", change["component"] or "")
        if matched:
            changed.setdefault(matched[1], []).append(change["rule"])
            if change["rule"] == "tool-renamed":
                changed.setdefault(change["new"], []).append(change["rule"])
    spelled = differing(before, after, "tools", in_order=True)
    exactly = set(tools) <= set(changed) <= set(spelled)
    tally.check(exactly, f"{server}: in JSON, changes of exactly the {len(tools)} tools that differ"
                + (f" and {len(changed) - len(tools)} with members in another order" if len(changed) > len(tools) else ""),
                f"JSON: {sorted(changed)}\ndiffer: {tools}\nin spelling: {spelled}")
    counts = report["servers"][0]["counts"]
    tally.check(sum(counts.values()) == len(changes), f"{server}: {len(changes)} changes are counted {counts}")
    identities = [change["id"] for change in changes]
    tally.check(len(set(identities)) == len(identities), f"{server}: every change has an id of its own",
                sorted(it for it in identities if identities.count(it) > 1))
    result = keel("check", server, "--fail-on", "none", "--", *new, cwd=work)
    tally.check(result.returncode == 0, f"{server}: --fail-on none exits 0", output_of(result))
    result = keel(*strict, "--enforcement", "audit", "--", *new, cwd=work)
    would = not any(names.values()) or "would block" in re.sub(r"\s+", " ", result.stdout.decode())
    tally.check(result.returncode == 0 and would, f"{server}: audit exits 0 and says what would have blocked",
                output_of(result))


def everything_members(new, capture, work, tally):
    """The `execution` member, which a typed model of a tool drops."""
    sent = [tool["name"] for tool in capture["tools"] if "execution" in tool]
    tally.check(sent, f"everything: the newer version sends `execution` ({', '.join(sent)})")
    result = keel("pin", "newer", "--baseline", "newer.json", "--", *new, cwd=work)
    if not tally.check(result.returncode == 0, "everything: pin of the newer version exits 0", output_of(result)):
        return
    components = json.loads((work / "newer.json").read_text())["servers"]["newer"]["components"]
    pinned = [it["definition"].get("name") for it in components.values() if "execution" in it["definition"]]
    tally.check(sorted(pinned) == sorted(sent), "everything: `execution` is in the baseline")


def time_zone(start, work, tally):
    """The machine's time zone is in the descriptions: drift without a mask, none with one, on any machine."""
    scratch = work / "zones"
    scratch.mkdir()
    table = f"[server.time]\ncommand = {json.dumps(start)}\n"
    (scratch / "mcp-keel.toml").write_text(table)
    result = keel("pin", cwd=scratch)
    if not tally.check(result.returncode == 0, "time: pin with TZ=UTC exits 0", output_of(result)):
        return
    oslo = ("check", "--policy", "strict", "--env", "TZ=Europe/Oslo")
    result = keel(*oslo, cwd=scratch)
    named = b"text-depends-on-environment" in result.stdout and b"Europe/Oslo" in result.stdout
    tally.check(result.returncode == 1 and named, "time: another time zone is drift, and named", output_of(result))
    mask = {
        "component": "tool:*",
        "pointer": "/inputSchema/properties/*/description",
        "pattern": "'([A-Za-z_/]+)' as local timezone",
        "reason": "the time zone of the machine",
    }
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in mask.items())
    (scratch / "mcp-keel.toml").write_text(f"{table}[[server.time.mask]]\n{lines}")
    result = keel(*oslo, cwd=scratch)
    tally.check(result.returncode == 0, "time: with a mask there is no drift, without pinning again", output_of(result))
    baseline = scratch / "mcp-baseline.json"
    pins = []
    for zone in ("UTC", "Europe/Oslo", "Asia/Tokyo"):
        result = keel("pin", "--env", f"TZ={zone}", cwd=scratch)
        pins.append(baseline.read_bytes() if result.returncode == 0 else output_of(result))
    tally.check(len(set(pins)) == 1 and b"[masked]" in pins[0], "time: pinned in three zones, the same bytes")


def fastmcp_recipe(age, work, tally):
    label = SERVERS["fastmcp"][age][0]
    interpreter = python(folder("fastmcp", age))
    source = "stdio:" + " ".join([interpreter, SERVERS["fastmcp"]["script"]])
    for fields in ("", "description", "description,outputSchema,annotations"):
        recipe = subprocess.run(
            [interpreter, str(FIXTURE / "recipe.py"), *([fields] if fields else [])],
            stdin=subprocess.DEVNULL, capture_output=True, cwd=work, timeout=120,
        )
        if not tally.check(recipe.returncode == 0, f"fastmcp: the recipe runs in {label}", output_of(recipe)):
            continue
        expected = json.loads(recipe.stdout)
        flags = ["--fields", fields] if fields else []
        result = keel("fingerprint", source, "--profile", "fastmcp", *flags, cwd=work)
        found = json.loads(result.stdout) if result.returncode == 0 else None
        tally.check(found == expected, f"fastmcp: {label}: all {len(expected)} fingerprints"
                    + (f" with {fields}" if fields else "") + " equal FastMCP's own recipe",
                    f"{output_of(result)}\nexpected {recipe.stdout.decode()}")
        versioned = [key for key in expected if not key.endswith("@")]
        tally.check("tool:calc@2.0" in versioned, f"fastmcp: versioned tools are among them ({', '.join(versioned)})")


def main(arguments):
    install_only = "--install-only" in arguments
    chosen = [it for it in arguments if not it.startswith("--")] or list(SERVERS)
    unknown = [it for it in chosen if it not in SERVERS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are: {', '.join(SERVERS)}")
    install_all(chosen)
    if install_only:
        return 0
    tally = Tally()
    for server in chosen:
        started = time.monotonic()
        print(f"-- {server}", flush=True)
        try:
            try_server(server, tally)
        except Exception as error:  # one server that surprises us must not hide the others
            tally.check(False, f"{server}: {type(error).__name__}", error)
        print(f"   {time.monotonic() - started:.1f} s", flush=True)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

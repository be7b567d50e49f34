"""Published MCP servers in both eras of the protocol: what `--era` captures, and what asking in the wrong era costs.

Installs what real_servers.py installs, in the same cache. Each cost is the difference between two ways to check the same
server, run in turns; the medians are printed, and they may differ by at most a second.

    MCP_KEEL=path/to/mcp-keel MCP_KEEL_EXAMPLES=folder python3 .ci/checks/eras.py [SERVER ...]
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from real_servers import KEEL, ROOT, SERVERS, Tally, command, install_all, keel, output_of

EXAMPLES = Path(os.environ.get("MCP_KEEL_EXAMPLES") or ROOT / "target" / "debug" / "examples")
SCRIPTED = str(EXAMPLES / "scripted-server")
ROUNDS = 3
LEGACY, MODERN = "2025-11-25", "2026-07-28"

TOOLS = '[{"name":"a","inputSchema":{"type":"object"}}]'
DISCOVER = json.dumps({"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}})
# A server to pin with, so that the baseline records an era that the server under test may not
# support.
RECORDS = {
    "legacy": [SCRIPTED, f'{{"tools":{TOOLS}}}'],
    "modern": [SCRIPTED, f'{{"tools":{TOOLS},"on":{{"server/discover":[{{"result":{DISCOVER}}}]}}}}'],
}
# Servers of the legacy era that handle `server/discover` as published ones do, and worse.
DOUBLES = {
    "answers with an error": [SCRIPTED, f'{{"tools":{TOOLS}}}'],
    "ignores it": [SCRIPTED, f'{{"tools":{TOOLS},"on":{{"server/discover":[]}}}}'],
    "ignores it, and starts in 2 s": [
        SCRIPTED, f'{{"start":[{{"sleep_ms":2000}}],"tools":{TOOLS},"on":{{"server/discover":[]}}}}'],
    "ends": [SCRIPTED, f'{{"tools":{TOOLS},"on":{{"server/discover":[{{"exit":1}}]}}}}'],
}


def changes(result):
    return [change["rule"] for change in json.loads(result.stdout)["servers"][0]["changes"]]


def findings(result):
    return [it["rule"] for it in json.loads(result.stdout)["servers"][0]["findings"]]


def captured(tally, label, start, era, work):
    result = keel("capture", "x", "--era", era, "-o", f"{era}.json", "--", *start, cwd=work)
    if result.returncode == 0:
        return json.loads((work / f"{era}.json").read_text())
    tally.check(result.returncode == 3, f"{label}: --era {era} is undetermined, exit 3", output_of(result))
    return None


def eras_of(label, start, work, tally):
    """Every value of --era on one published server."""
    legacy = captured(tally, label, start, "legacy", work)
    if not tally.check(legacy, f"{label}: is captured in the legacy era"):
        return
    result = keel("capture", "x", "-o", "auto.json", "--", *start, cwd=work)
    same = result.returncode == 0 and (work / "auto.json").read_bytes() == (work / "legacy.json").read_bytes()
    tally.check(same, f"{label}: --era auto without a baseline gives the bytes of --era legacy", output_of(result))
    if captured(tally, label, start, "modern", work) is None:
        one_era(label, start, work, tally)
        return
    print(f"      {label}: speaks both eras")
    result = keel("diff", "legacy.json", "modern.json", "--format", "json", cwd=work)
    moved = changes(result)
    tally.check(moved == ["protocol-version-changed"], f"{label}: from era to era exactly one change", moved)
    prints = [keel("fingerprint", f"{era}.json", cwd=work).stdout for era in ("legacy", "modern")]
    alike = sum(one == other for one, other in zip(*(it.splitlines() for it in prints)))
    print(f"      {label}: {alike} of {len(prints[0].splitlines())} lines of fingerprints are the same in both eras")
    for era in ("modern", "legacy"):
        (work / "mcp-baseline.json").unlink(missing_ok=True)
        keel("pin", "x", "--era", era, "--", *start, cwd=work)
        result = keel("check", "x", "--format", "json", "--", *start, cwd=work)
        clean = result.returncode == 0 and not changes(result) and "era-fallback" not in findings(result)
        tally.check(clean, f"{label}: pinned in the {era} era, --era auto asks in it and passes", output_of(result))
        result = keel("check", "x", "--era", "both", "--format", "json", "--", *start, cwd=work)
        noted = [it for it in findings(result) if it.startswith("era-")]
        tally.check(result.returncode == 0 and not noted, f"{label}: --era both finds no difference", output_of(result))


def one_era(label, start, work, tally):
    (work / "mcp-baseline.json").unlink(missing_ok=True)
    keel("pin", "x", "--", *start, cwd=work)
    result = keel("check", "x", "--era", "both", "--format", "json", "--", *start, cwd=work)
    noted = result.returncode == 0 and "era-not-spoken" in findings(result)
    tally.check(noted, f"{label}: --era both passes with a note that there is one era", output_of(result))
    cost(label, start, work, tally)


def cost(label, start, work, tally):
    """What it costs if the baseline records the modern era, but the server does not support it."""
    for era, records in RECORDS.items():
        (work / f"{era}.baseline.json").unlink(missing_ok=True)
        result = keel("pin", "x", "--era", era, "--baseline", f"{era}.baseline.json", "--", *records, cwd=work)
        tally.check(result.returncode == 0, f"{label}: a baseline that records the {era} era", output_of(result))
    times = {era: [] for era in RECORDS}
    for _ in range(ROUNDS):
        for era in RECORDS:
            begun = time.monotonic()
            result = keel("check", "x", "--baseline", f"{era}.baseline.json", "--format", "json", "--", *start, cwd=work)
            times[era].append(time.monotonic() - begun)
            if result.returncode not in (0, 1):
                tally.check(False, f"{label}: the check is determined", output_of(result))
                return
    fell_back = "era-fallback" in findings(result) and "protocol-version-changed" in changes(result)
    tally.check(fell_back, f"{label}: recorded as modern, it is captured in the legacy era, with a note", output_of(result))
    direct, probed = (statistics.median(times[era]) for era in ("legacy", "modern"))
    tally.check(probed - direct < 1, f"{label}: {direct * 1000:.0f} ms asked directly, {probed * 1000:.0f} ms with the "
                f"wrong era recorded: {(probed - direct) * 1000:+.0f} ms")


def main(arguments):
    chosen = arguments or list(SERVERS)
    install_all(chosen)
    tally = Tally()
    print(f"-- {KEEL}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mcp-keel-ci-") as work:
        for label, start in DOUBLES.items():
            cost(f"a server that {label}", start, Path(work).resolve(), tally)
    for server in chosen:
        for age in ("old", "new"):
            with tempfile.TemporaryDirectory(prefix="mcp-keel-ci-") as work:
                work = Path(work).resolve()
                scratch = work / "scratch"
                scratch.mkdir()
                try:
                    eras_of(SERVERS[server][age][0], command(server, age, scratch), work, tally)
                except Exception as error:  # one server that surprises us must not hide the others
                    tally.check(False, f"{server}: {type(error).__name__}", error)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

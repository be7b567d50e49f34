"""The report formats of the built mcp-keel, read back by other programs.

SARIF by Microsoft's own validator (npm `@microsoft/sarif-multitool`), by the published JSON Schema and by `sarif-tools`
(PyPI); JUnit by `junitparser` (PyPI); GitLab's Code Quality by the shape in its documentation. Each on the demo,
on the hostile lists of fixtures/hostile, on a server that cannot be captured and on one that did not drift.

Packages are installed into a cache outside the work tree (MCP_KEEL_CI_CACHE, default ~/.cache/mcp-keel-ci).

    MCP_KEEL=path/to/mcp-keel python3 .ci/checks/formats.py
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = Path(os.environ.get("MCP_KEEL_CI_CACHE") or Path.home() / ".cache" / "mcp-keel-ci")
KEEL = os.environ.get("MCP_KEEL") or str(ROOT / "target" / "debug" / "mcp-keel")
NODE = ["@microsoft/sarif-multitool@5.7.0"]
PYTHON = ["sarif-tools==3.0.5", "junitparser==5.0.3", "check-jsonschema==0.39.0"]
FORMATS = ["json", "markdown", "html", "sarif", "junit", "github", "gitlab"]

passed = failed = 0


def check(holds, what, detail=""):
    global passed, failed
    if holds:
        passed += 1
        print(f"ok    {what}", flush=True)
    else:
        failed += 1
        print(f"FAIL  {what}", flush=True)
        for line in str(detail).rstrip().splitlines()[:40]:
            print(f"      | {line}")
    return holds


def run(command, **options):
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 300, **options}
    return subprocess.run([str(word) for word in command], **options)


# --- installing ---------------------------------------------------------------------------------------------------


def install(name, wanted, commands):
    """Installs into the cache unless present, with a few retries: networks fail."""
    folder = CACHE / name
    stamp = folder / "installed.txt"
    listed = "\n".join(wanted) + "\n"
    if stamp.is_file() and stamp.read_text() == listed:
        return folder
    for attempt in range(1, 4):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        output = ""
        for command in commands(folder):
            result = run(command, cwd=folder, timeout=900)
            output += result.stdout + result.stderr
            if result.returncode != 0:
                break
        else:
            stamp.write_text(listed)
            return folder
        time.sleep(3 * attempt)
    raise SystemExit(f"FAIL  {name} cannot be installed\n{output[-3000:]}")


def node_tools():
    folder = install(
        "formats-node",
        NODE,
        lambda folder: [
            ["npm", "init", "--yes"],
            ["npm", "install", "--no-audit", "--no-fund", *NODE],
        ],
    )
    scope = folder / "node_modules" / "@microsoft"
    platform = {"linux": "linux", "darwin": "darwin"}.get(sys.platform, "win32")
    binary = scope / f"sarif-multitool-{platform}" / "Sarif.Multitool"
    binary.chmod(binary.stat().st_mode | 0o100)
    return binary, binary.parent / "sarif-2.1.0.json"


def python_tools():
    folder = install(
        "formats-python",
        PYTHON,
        lambda folder: [
            [sys.executable, "-m", "venv", "venv"],
            ["venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON],
        ],
    )
    return folder / "venv" / "bin"


# --- the reports --------------------------------------------------------------------------------------------------


def render(folder, name, command, code):
    """Every format of one report, by one run with `--report`. Returns the folder of the files."""
    target = folder / name
    target.mkdir()
    reports = [word for it in FORMATS for word in ("--report", f"{it}={target / it}")]
    words = [KEEL, command[0], "--quiet", *reports, *command[1:]]
    result = run(words, cwd=folder)
    check(result.returncode == code, f"{name}: exits with {code}", f"{result.returncode}\n{result.stderr}")
    there = sorted(it.name for it in target.iterdir())
    check(there == sorted(FORMATS), f"{name}: every format is written", there)
    return target


def sarif(name, target, report, multitool, schema, python):
    path = target / "report.sarif"
    shutil.copy(target / "sarif", path)
    log_path = target / "validation.sarif"
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    words = [multitool, "validate", path, "--output", log_path, "--log", "ForceOverwrite"]
    result = run([*words, "--level", "Error;Warning", "--rule-kind", "Sarif;Ghas"], env=environment, cwd=target)
    log = json.loads(log_path.read_text(encoding="utf-8-sig")) if log_path.is_file() else {"runs": [{"results": ["none"]}]}
    found = log["runs"][0].get("results", [])
    check(
        result.returncode == 0 and not found,
        f"{name}: sarif-multitool has no error and no warning",
        result.stdout + result.stderr + json.dumps(found, indent=1),
    )
    result = run([python / "check-jsonschema", "--schemafile", schema, path])
    check(result.returncode == 0, f"{name}: SARIF satisfies the published schema", result.stdout + result.stderr)

    changes = [change for server in report["servers"] for change in server["changes"]]
    findings = sum(len(server["findings"]) for server in report["servers"]) + len(report["findings"])
    result = run([python / "sarif", "summary", path], cwd=target)
    counted = sum(map(int, re.findall(r"^(?:error|warning|note): (\d+)$", result.stdout, re.MULTILINE)))
    check(
        result.returncode == 0 and counted == len(changes) + findings,
        f"{name}: sarif-tools reads {counted} results",
        result.stdout + result.stderr,
    )
    run_of_log = json.loads(path.read_text())["runs"][0]
    ids = [it["partialFingerprints"]["mcpKeelChange/v1"] for it in run_of_log["results"]]
    check(ids[: len(changes)] == [it["id"] for it in changes] or findings, f"{name}: SARIF has the ids of the changes")
    successful = run_of_log["invocations"][0]["executionSuccessful"]
    undetermined = any(server["status"] == "undetermined" for server in report["servers"])
    check(successful is not undetermined, f"{name}: the run says whether it could be made")


JUNIT = """
import json, sys
from junitparser import JUnitXml
suites = JUnitXml.fromfile(sys.argv[1])
print(json.dumps([
    {"name": suite.name, "tests": suite.tests, "failures": suite.failures, "errors": suite.errors,
     "cases": [[case.name, [type(it).__name__ for it in case.result]] for case in suite]}
    for suite in suites
]))
"""


def junit(name, target, report, python):
    path = target / "junit"
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
        check(root.tag == "testsuites", f"{name}: JUnit is XML")
    except xml.etree.ElementTree.ParseError as error:
        check(False, f"{name}: JUnit is XML", error)
        return
    result = run([python / "python", "-c", JUNIT, path])
    if not check(result.returncode == 0, f"{name}: junitparser reads it", result.stderr):
        return
    suites = json.loads(result.stdout)
    check(len(suites) == len(report["servers"]) + bool(report["findings"]), f"{name}: a suite for each server")
    for suite, server in zip(suites, report["servers"]):
        kinds = [kind for _, found in suite["cases"] for kind in found]
        counts = [len(suite["cases"]), kinds.count("Failure"), kinds.count("Error")]
        check(
            counts == [suite["tests"], suite["failures"], suite["errors"]],
            f"{name}: junitparser counts what the suite says ({counts})",
        )
        blocked = {change["component"] for change in server["changes"] if change["action"] == "block"}
        failing = sum("Failure" in found for _, found in suite["cases"])
        expected = len(blocked) + sum(it["action"] == "block" for it in server["findings"])
        check(failing == expected, f"{name}: every component that blocks is a failing case", (failing, expected))


def gitlab(name, target, report):
    issues = json.loads((target / "gitlab").read_text())
    severities = {"info", "minor", "major", "critical", "blocker"}
    bad = [
        issue
        for issue in issues
        if set(issue) != {"description", "check_name", "fingerprint", "severity", "location"}
        or not all(isinstance(issue[key], str) and issue[key] for key in ("description", "check_name", "fingerprint"))
        or issue["severity"] not in severities
        or set(issue["location"]) != {"path", "lines"}
        or issue["location"]["path"].startswith(("./", "/"))
        or not (isinstance(issue["location"]["lines"]["begin"], int) and issue["location"]["lines"]["begin"] >= 1)
    ]
    check(isinstance(issues, list) and not bad, f"{name}: GitLab's shape, {len(issues)} issues", json.dumps(bad[:3]))
    prints = [issue["fingerprint"] for issue in issues]
    check(len(prints) == len(set(prints)), f"{name}: GitLab's fingerprints are unique")
    changes = sum(len(server["changes"]) for server in report["servers"])
    check(len(issues) >= changes, f"{name}: every change is an issue")


def texts(name, target):
    """Checks any text that a step prints: nothing in it may affect a terminal or a runner."""
    for it in FORMATS:
        text = (target / it).read_text()
        controls = re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)
        check(not controls, f"{name}: {it} has no control and nothing invisible", controls[:5])
        lines = [line for line in text.split("\n") if line.lstrip().startswith("::")] if it != "github" else []
        own = re.compile(r"::(error|warning|notice) (file=[^:,]*,line=\d+,)?title=[^:,]*::")
        other = [line for line in text.split("\n") if line and not own.match(line)] if it == "github" else []
        commands = [line for line in lines if re.match(r"\s*::[a-z-]+( [^:]*)?::", line, re.IGNORECASE)]
        check(not commands and not other and "##[" not in text, f"{name}: {it} has no foreign command", commands + other)


def main():
    multitool, schema = node_tools()
    python = python_tools()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        served = ["--", KEEL, "demo", "--serve"]
        result = run([KEEL, "pin", "weather", *served, "pinned"], cwd=folder)
        check(result.returncode == 0, "a baseline is pinned", result.stderr)
        hostile = ROOT / "fixtures" / "hostile"
        for name, command, code in [
            ("demo", ["demo"], 0),
            ("drifted", ["check", "weather", *served, "drifted"], 1),
            ("clean", ["check", "weather", *served, "pinned"], 0),
            ("undetermined", ["check", "weather", "--", "no-such-program-anywhere"], 3),
            ("hostile", ["diff", hostile / "old.json", hostile / "new.json"], 1),
        ]:
            target = render(folder, name, command, code)
            report = json.loads((target / "json").read_text())
            sarif(name, target, report, multitool, schema, python)
            junit(name, target, report, python)
            gitlab(name, target, report)
            texts(name, target)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

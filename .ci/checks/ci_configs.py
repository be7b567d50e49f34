"""Configurations for other CIs: valid for the schema of each CI, and doing what they say.

The shell of each is run in a small project: `npm` does nothing, `npx` runs the mcp-keel of this work tree, and `node
dist/index.js` is the demo's server, in the edition that was pinned or in the one that drifted. GitLab's API is played by a server
on loopback.
"""

import sys

# `http.py` in this folder is not the library's `http`.
sys.path.append(sys.path.pop(0))

import contextlib
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

import ruamel.yaml
import tree_sitter
import tree_sitter_groovy
import tree_sitter_powershell

from real_servers import Tally

ROOT = Path(__file__).resolve().parent.parent.parent
KEEL = os.environ["MCP_KEEL"]
tally = Tally()
yaml = ruamel.yaml.YAML(typ="safe")


def documents(path):
    return list(yaml.load_all((ROOT / path).read_text()))


def valid(name, path, *options):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", name, *options, str(path)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    tally.check(result.returncode == 0, f"{Path(path).name}: the schema {name}", result.stdout)


def parsed(path, grammar):
    """For what has a grammar and no schema."""
    tree = tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse((ROOT / path).read_bytes())
    tally.check(not tree.root_node.has_error, f"{Path(path).name}: {grammar.__name__}", tree.root_node)


@contextlib.contextmanager
def project(edition):
    """A folder with a pinned server, and the programs that a CI would have."""
    with tempfile.TemporaryDirectory(prefix="keel-ci-") as folder:
        folder = Path(folder)
        programs = {
            "npm": "exit 0",
            "npx": 'exec "$@"',
            "node": f'exec "{KEEL}" demo --serve {edition}',
            "mcp-keel": f'exec "{KEEL}" "$@"',
            "buildkite-agent": 'echo "buildkite-agent $*" >> calls; cat >> calls',
        }
        (folder / "bin").mkdir()
        for name, line in programs.items():
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
            (folder / "bin" / name).chmod(0o755)
        env = {"PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "CI": "true", "GIT_CONFIG_GLOBAL": "/dev/null"}
        work = folder / "work"
        work.mkdir()
        subprocess.run([KEEL, "pin", "--quiet", "--", KEEL, "demo", "--serve", "pinned"], cwd=work, env=env, check=True, stdout=subprocess.DEVNULL)
        for command in [["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Pinned"]]:
            subprocess.run(["git", "-c", "user.name=CI", "-c", "user.email=ci@example.org", *command], cwd=work, env=env, check=True)
        yield work, env


def runs(name, script, reports, **more):
    """The script passes for the pinned server, and fails with mcp-keel's exit code for the one that drifted."""
    for edition, expected in [("pinned", 0), ("drifted", 1)]:
        with project(edition) as (work, env):
            result = subprocess.run(["bash", "-e", "-c", script], cwd=work, env={**env, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            missing = [it for it in reports if not (work / it).is_file()]
            tally.check(result.returncode == expected and not missing, f"{name}: exit {expected} for the {edition} server, with {', '.join(reports)}", f"exit {result.returncode}, missing {missing}\n{result.stdout}")
            tally.check("\x1b" not in result.stdout, f"{name}: no colour in a log", result.stdout)


class GitLab:
    """Notes of one merge request, two to a page."""

    def __init__(self):
        self.notes, self.wrong = [{"id": number, "body": f"Note {number}"} for number in range(1, 4)], []

    def __enter__(self):
        gitlab = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, body, **headers):
                data = json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": len(data), **headers}.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.end_headers()
                self.wfile.write(data)

            def handle_request(self):
                path, _, query = self.path.partition("?")
                found = re.fullmatch(r"/api/v4/projects/7/merge_requests/3/notes(?:/(\d+))?", path)
                if not found or self.headers["PRIVATE-TOKEN"] != "glpat-notAToken":
                    gitlab.wrong.append(self.path)
                    return self.answer(404, {})
                length = int(self.headers["Content-Length"] or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                if self.command == "GET":
                    page = int(re.search(r"page=(\d+)$", query).group(1))
                    more = len(gitlab.notes) > 2 * page
                    return self.answer(200, gitlab.notes[2 * page - 2 : 2 * page], X_Next_Page=page + 1 if more else "")
                if self.command == "POST":
                    gitlab.notes.append({"id": 100 + len(gitlab.notes), **body})
                    return self.answer(201, gitlab.notes[-1])
                [note] = [it for it in gitlab.notes if it["id"] == int(found.group(1))]
                note.update(body)
                return self.answer(200, note)

            do_GET = do_POST = do_PUT = handle_request

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/v4"
        return self

    def __exit__(self, *_):
        self.server.shutdown()


def component():
    path = "templates/mcp-keel.yml"
    [header, _] = documents(path)
    inputs = header["spec"]["inputs"]
    given = {name: value.get("default") for name, value in inputs.items()}
    [include] = documents("docs/ci/gitlab-ci.yml")[0]["include"]
    tally.check(set(include["inputs"]) <= set(given), "docs/ci/gitlab-ci.yml uses inputs that the component has", include["inputs"])
    given |= include["inputs"]
    text = (ROOT / path).read_text().split("\n---\n", 1)[1]
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", text))
    tally.check(used == set(given), "every input of the component is used, and no other", used ^ set(given))
    for name, value in given.items():
        text = text.replace(f"$[[ inputs.{name} ]]", str(value).lower() if isinstance(value, bool) else str(value))
    with tempfile.TemporaryDirectory() as folder:
        expanded = Path(folder) / "mcp-keel.gitlab-ci.yml"
        expanded.write_text(text)
        valid("vendor.gitlab-ci", expanded, "--data-transform", "gitlab-ci")
    jobs = yaml.load(text)
    check, comment = jobs[given["job"]], jobs[f"{given['job']}: comment"]
    reports = [*check["artifacts"]["reports"].values(), *check["artifacts"]["paths"]]
    runs("GitLab component", "\n".join(check["script"]), reports)

    [script] = comment["script"]
    with GitLab() as gitlab, tempfile.TemporaryDirectory() as folder:
        env = {
            "PATH": os.environ["PATH"], "MARK": comment["variables"]["MARK"], "MCP_KEEL_GITLAB_TOKEN": "glpat-notAToken", "CI_API_V4_URL": gitlab.url,
            "CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "3", "CI_COMMIT_SHA": "1" * 40, "CI_PIPELINE_ID": "42", "CI_PIPELINE_URL": "https://gitlab.example/p/42",
        }

        def post(text, **more):
            (Path(folder) / "mcp-keel.md").write_text(text)
            return subprocess.run(["bash", "-e", "-c", script], cwd=folder, env={**env, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        results = [post("# First"), post("# Second $(touch x) `y`\n/merge\n  /approve\r/close")]
        bodies = [it["body"] for it in gitlab.notes]
        ok = all(it.returncode == 0 for it in results) and len(bodies) == 4 and not gitlab.wrong
        tally.check(ok and "Second $(touch x) `y`" in bodies[3] and not re.search(r"(?m)^\s*/", bodies[3]) and "pipeline 42" in bodies[3], "GitLab component: one comment, kept up to date", f"{results} {bodies} {gitlab.wrong}")
        result = post("# Third", MCP_KEEL_GITLAB_TOKEN="")
        tally.check(result.returncode == 1 and "fork" in result.stdout and len(gitlab.notes) == 4, "GitLab component: without a token it says why", result)


def main():
    docs = ROOT / "docs" / "ci"
    valid("vendor.gitlab-ci", docs / "gitlab-ci.yml", "--data-transform", "gitlab-ci")
    valid("vendor.circle-ci", docs / "circleci.yml")
    valid("vendor.azure-pipelines", docs / "azure-pipelines.yml", "--data-transform", "azure-pipelines", "--regex-variant", "nonunicode")
    valid("vendor.bitbucket-pipelines", docs / "bitbucket-pipelines.yml")
    valid("vendor.buildkite", docs / "buildkite.yml")
    valid("vendor.dependabot", ROOT / ".github" / "dependabot.yml")
    parsed("docs/ci/Jenkinsfile", tree_sitter_groovy)
    parsed("packaging/install.ps1", tree_sitter_powershell)
    component()

    steps = documents("docs/ci/circleci.yml")[0]["jobs"]["contract"]["steps"]
    lines = [it["run"] if isinstance(it["run"], str) else it["run"]["command"] for it in steps if isinstance(it, dict) and "run" in it]
    runs("CircleCI", "\n".join(lines), ["reports/mcp-keel/results.xml", "reports/mcp-keel.html"])

    lines = re.findall(r"sh '(.+)'", (docs / "Jenkinsfile").read_text())
    runs("Jenkins", "\n".join(lines), ["mcp-keel.xml", "mcp-keel.sarif"])

    steps = documents("docs/ci/azure-pipelines.yml")[0]["steps"]
    runs("Azure Pipelines", "\n".join(it["script"] for it in steps if "script" in it and "condition" not in it), ["mcp-keel.xml", "mcp-keel.md"])

    [step] = documents("docs/ci/bitbucket-pipelines.yml")[0]["definitions"]["steps"]
    runs("Bitbucket", "\n".join(step["step"]["script"]), ["test-results/mcp-keel.xml", "mcp-keel.html"])

    [step] = documents("docs/ci/buildkite.yml")[0]["steps"]
    # Buildkite reads a `$$` as a dollar that is the shell's.
    runs("Buildkite", "\n".join(step["command"]).replace("$$", "$"), ["mcp-keel.md", "mcp-keel.xml", "calls"])

    runs("plain shell", (docs / "check.sh").read_text().replace("${1:-}", "main"), ["mcp-keel.xml", "mcp-keel.md"])
    with project("drifted") as (work, env):
        # The baseline follows the server: the first question passes, and the second one is what the reviewer is asked.
        subprocess.run([KEEL, "pin", "--quiet", "--", KEEL, "demo", "--serve", "drifted"], cwd=work, env=env, check=True, stdout=subprocess.DEVNULL)
        result = subprocess.run(["sh", docs / "check.sh", "main"], cwd=work, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tally.check(result.returncode == 1 and "PASS" in result.stdout and "BLOCK" in result.stdout, "plain shell: a breaking baseline fails the second question", result.stdout)

    page = (ROOT / "docs" / "ci.md").read_text()
    for path in sorted(docs.iterdir()):
        tally.check(path.read_text() in page, f"docs/ci.md shows {path.name} as it is")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())

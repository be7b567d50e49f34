"""The part of deny.toml that needs no tool: current locks, known licences, one source, no build script, `--locked`."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
# A call of cargo that resolves dependencies; `fmt` and `--version` do not.
RESOLVES = re.compile(r"\bcargo (?:\+\S+ )?(build|test|run|clippy|install|check|bench|doc|nextest|publish)\b[^`\n]*")
# Files with commands that a shell, a runner, docker or a reader runs.
CALLERS = ["Dockerfile", "README.md", "CONTRIBUTING.md", "docs/fuzzing.md", "docs/install.md", "SECURITY.md", "packaging/**/*", ".github/workflows/*.yml",
           "action.yml", "host/action.yml", ".ci/*", ".ci/checks/*"]


def listed(name: str) -> list[str]:
    """A list of strings in deny.toml. (Python 3.10 has no reader for TOML.)"""
    text = (ROOT / "deny.toml").read_text()
    found = re.search(rf"^{name} = \[(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    return re.findall(r'"([^"]+)"', found.group(1))


def satisfied(expression: str, licences: set[str]) -> bool:
    """Whether an SPDX expression can be met with these licences."""
    words = re.findall(r"\(|\)|[^\s()/]+|/", expression)
    words = ["OR" if word == "/" else word for word in words]

    def alternatives() -> bool:
        met = conjunction()
        while words and words[0] == "OR":
            words.pop(0)
            met = conjunction() or met
        return met

    def conjunction() -> bool:
        met = one()
        while words and words[0] == "AND":
            words.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        word = words.pop(0)
        if word == "(":
            met = alternatives()
            words.pop(0)
            return met
        if len(words) > 1 and words[0] == "WITH":
            word = f"{word} WITH {words[1]}"
            del words[:2]
        return word in licences

    return alternatives()


def main() -> int:
    wrong = []
    licences = set(listed("allow"))
    exceptions = dict(re.findall(r'allow = \["([^"]+)"\], crate = "([^"]+)"', (ROOT / "deny.toml").read_text()))
    count = 0
    of_crates = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("crates/*/fuzz/Cargo.toml"))
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml", *of_crates]:
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(ROOT / manifest)]
        for target in listed("targets"):
            command += ["--filter-platform", target]
        asked = subprocess.run(command, stdout=subprocess.PIPE)
        if asked.returncode:
            lock = manifest.replace(".toml", ".lock")
            wrong.append(f"{lock} is not current: run `cargo metadata --manifest-path {manifest}` and commit it")
            continue
        tree = json.loads(asked.stdout)
        used = {node["id"] for node in tree["resolve"]["nodes"]}
        for package in tree["packages"]:
            name = f"{package['name']} {package['version']}"
            if package["source"] is None:
                if any("custom-build" in target["kind"] for target in package["targets"]):
                    wrong.append(f"{name}: ours has a build script")
                continue
            count += 1
            excepted = {licence for licence, crate in exceptions.items() if crate == package["name"]}
            if package["source"] != REGISTRY:
                wrong.append(f"{name}: comes from {package['source']}")
            if package["id"] in used and not satisfied(package["license"] or "none", licences | excepted):
                wrong.append(f"{name}: the licence {package['license']} is not allowed by deny.toml")
    for pattern in CALLERS:
        for path in sorted(ROOT.glob(pattern)):
            if path == pathlib.Path(__file__).resolve() or not path.is_file():
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                call = RESOLVES.search(line)
                if call and "--locked" not in call.group(0):
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: `{call.group(0).strip()}` without --locked")
    for problem in wrong:
        print(problem, file=sys.stderr)
    if not wrong:
        print(f"{count} crates: locked, from one registry, with allowed licences; no build script of ours; --locked everywhere")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

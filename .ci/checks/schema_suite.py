"""schema_suite.py KEEL SUITE: every test of the suite as a pair of tools."""

import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

DIALECTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

REMOTE = ("localhost:1234", '"$ref": "http://json-schema.org/', '"$ref": "https://json-schema.org/')


def cases(suite):
    for draft, dialect in DIALECTS.items():
        for path in sorted(glob.glob(f"{suite}/tests/{draft}/*.json")):
            for group in json.load(open(path, encoding="utf-8")):
                # Nothing is fetched, so tests that need other documents are skipped.
                if any(mark in json.dumps(group["schema"]) for mark in REMOTE) or "refRemote" in path:
                    continue
                for test in group["tests"]:
                    name = f"{draft}/{os.path.basename(path)}: {group['description']}: {test['description']}"
                    yield name, draft, dialect, group["schema"], test["data"], test["valid"]


def embedded(schema, dialect):
    """The suite's schema as a member's, with references to its root led there."""
    own = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(schema, bool) or not any(key in json.dumps(schema) for key in ('"$ref"', '"$dynamicRef"', '"$recursiveRef"')):
        return {"$schema": own or dialect, "type": "object", "properties": {"v": schema}, "required": ["v"]}
    key = "id" if "draft-04" in dialect else "$id"
    inner = {k: v for k, v in schema.items() if k != "$schema"}
    if key not in inner and not ("$ref" in inner and dialect.endswith("#")):
        inner = {key: "http://suite.invalid/schema", **inner}
        return {"$schema": own or dialect, "type": "object", "properties": {"v": inner}, "required": ["v"]}
    if "$ref" in inner and dialect.endswith("#"):
        # Up to draft 7 a reference overrides its siblings, including `$id`.
        wrapped = {key: "http://suite.invalid/schema", "allOf": [{"$ref": inner["$ref"]}]}
        wrapped.update({k: v for k, v in inner.items() if k in ("definitions", "$defs", "properties", key)})
        return {"$schema": own or dialect, "type": "object", "properties": {"v": wrapped}, "required": ["v"]}
    return {"$schema": own or dialect, "type": "object", "properties": {"v": inner}, "required": ["v"]}


def run(keel, suite):
    tests = list(cases(suite))
    result = collections.Counter()
    old, new = {"tools": []}, {"tools": []}
    for index, (_, draft, dialect, schema, data, _) in enumerate(tests):
        only = {"enum": [data]}
        before = {"$schema": dialect, "type": "object", "properties": {"v": only}, "required": ["v"]}
        tool = {"name": f"t{index:05d}"}
        old["tools"].append({**tool, "inputSchema": before})
        new["tools"].append({**tool, "inputSchema": embedded(schema, dialect)})
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, name) for name in ("old.json", "new.json")]
        for path, value in zip(paths, (old, new)):
            json.dump(value, open(path, "w", encoding="utf-8"))
        said = subprocess.run([keel, "diff", *paths, "--format", "json"], capture_output=True, check=False)
    report = json.loads(said.stdout)
    kinds = collections.defaultdict(set)
    reasons = {}
    for server in report.get("servers", [report]):
        for change in server["changes"]:
            index = int(change["component"].split(":", 1)[1].rsplit("@", 1)[0][1:])
            proof = change["proof"] or {}
            if change["pointer"].startswith("/inputSchema"):
                kinds[index].add(proof.get("kind"))
                if proof.get("kind") == "undecided":
                    reasons[index] = proof["reason"]
    wrong = []
    for index, (name, *_, valid) in enumerate(tests):
        if "witness" in kinds[index]:
            verdict = "right" if not valid else "false break"
        elif "undecided" in kinds[index]:
            verdict = "undecided"
        else:
            verdict = "right" if valid else "missed break"
        result[verdict] += 1
        if verdict not in ("right", "undecided"):
            wrong.append(f"{verdict}: {name}")
        if verdict == "undecided" and os.environ.get("VERBOSE"):
            print(f"undecided: {name}: {reasons.get(index)}")
    print("\n".join(wrong))
    print(f"{len(tests)} tests: {dict(result)}")
    return 1 if wrong or result["undecided"] > len(tests) / 100 else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2]))

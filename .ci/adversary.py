"""Judges what the adversary found: adversary.py LOG COUNT."""

import collections
import json
import sys

log, count = sys.argv[1], int(sys.argv[2])
found = collections.Counter()
for line in open(log, encoding="utf-8"):
    entry = json.loads(line)
    found[entry["kind"]] += 1
    if entry["kind"] in ("WRONG", "witness-bad", "level-proof", "silent", "missed"):
        print(json.dumps(entry))
never = ["WRONG", "witness-bad", "level-proof", "silent", "missed"]
limits = {kind: 0 for kind in never} | {"non-minimal": count // 100, "unclassified": count // 200}
wrong = {kind: found[kind] for kind, most in limits.items() if found[kind] > most}
print("found:", dict(found), "wrong:" if wrong else "", wrong or "")
sys.exit(1 if wrong else 0)

#!/usr/bin/env bash
# The conventions against their original tools: a lock by ToolPin is clean here and drifts with
# ToolPin's words, a lock by mcp-keel is accepted by ToolPin, and MCP Hangar prints the same
# digests.
#
# Usage: .ci/checks/conventions.sh [PATH OF mcp-keel]. Needs node with npm, and python3 with venv. Installs
# into a temporary folder.
set -euo pipefail

keel=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/debug/mcp-keel}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAIL: $*" >&2; exit 1; }
expect() { # expect CODE COMMAND...
  local wanted=$1 code=0
  shift
  "$@" >out.txt 2>&1 || code=$?
  [ "$code" = "$wanted" ] || { cat out.txt >&2; fail "exit $code, not $wanted: $*"; }
}
says() { tr -s ' \n' ' ' <out.txt | grep -qF -- "$1" || { cat out.txt >&2; fail "does not say: $1"; }; }

npm install --silent --no-audit --no-fund @proofofwork-agency/toolpin@0.5.4

# ToolPin starts the server itself, with its own client, and locks what it sees.
cat >toolpin.mjs <<'JS'
import path from "node:path";
const dist = path.resolve("node_modules/@proofofwork-agency/toolpin/dist");
const { verifyServer } = await import(path.join(dist, "verify.js"));
const plans = await import(path.join(dist, "plan.js"));
const [what, keel, edition, lock] = process.argv.slice(2);

async function plan(client) {
  const server = {
    registrySource: "official", registryMode: "installable", name: "io.github.example/weather", title: "weather",
    description: "A weather server", version: "1.4.0", isLatest: true, installable: true,
    repositoryUrl: "https://example.com/weather", packageTypes: ["pypi"], remoteTypes: [], transports: ["stdio"],
    requiresSecrets: false,
    raw: { name: "weather", version: "1.4.0", packages: [{
      registryType: "pypi", identifier: "weather", version: "1.4.0", command: keel, args: ["demo", "--serve", edition],
    }] },
  };
  const report = await verifyServer(server, { livePackageProbe: true, allowExecute: true, timeoutMs: 20000 });
  const failed = report.issues.find((issue) => issue.code.endsWith("probe_failed"));
  if (failed) throw new Error(failed.message);
  // The configuration names the edition; what is compared here is the surface.
  const built = plans.buildInstallPlan(server, client, { capabilityManifest: report.capabilityManifest, verificationReport: report });
  built.config = {};
  built.locked.config = {};
  return built;
}

if (what === "write") {
  await plans.writeLockfile(await plan("claude"), lock);
} else if (what === "drift") {
  const found = await plans.verifyAgainstLockfile(await plan("claude"), lock);
  console.log(found.messages.join("\n"));
} else if (what === "accept") {
  const read = await plans.readLockfile(lock);
  for (const [key, entry] of Object.entries(read.servers)) {
    if (plans.computePlanIntegrity(entry) !== entry.integrity) throw new Error(`${key}: integrity`);
  }
  console.log(await plans.readLockfileDigest(lock));
}
JS

node toolpin.mjs write "$keel" pinned mcp-lock.json
expect 0 "$keel" verify --lock mcp-lock.json
expect 0 "$keel" check --baseline mcp-lock.json -- "$keel" demo --serve pinned
expect 1 "$keel" check --baseline mcp-lock.json -- "$keel" demo --serve drifted
theirs=$(node toolpin.mjs drift "$keel" drifted mcp-lock.json)
[ -n "$theirs" ] || fail "ToolPin sees no drift"
while read -r message; do says "$message"; done <<<"$theirs"
echo "ok: a lock of ToolPin is clean, then drifted: $theirs"

sed 's/"weather"/"Weather"/' mcp-lock.json >flipped.json
expect 2 "$keel" check --baseline flipped.json -- "$keel" demo --serve pinned
says "io.github.example/weather:claude"
expect 4 "$keel" verify --lock flipped.json
echo "ok: a flipped byte is an error that names the entry"

expect 0 "$keel" pin --baseline mcp-lock.json -- "$keel" demo --serve drifted
digest=$(node toolpin.mjs accept "$keel" drifted mcp-lock.json)
expect 0 "$keel" verify --lock mcp-lock.json --expect-digest "$digest"
[ -z "$(node toolpin.mjs drift "$keel" drifted mcp-lock.json)" ] || fail "ToolPin sees drift in a lock that we updated"
expect 0 "$keel" pin --format toolpin --baseline ours.json weather -- "$keel" demo --serve pinned
digest=$(node toolpin.mjs accept "$keel" pinned ours.json)
expect 0 "$keel" verify --lock ours.json --expect-digest "$digest"
echo "ok: ToolPin accepts the locks that we update and write"

# Signatures, in both directions: with a policy and without, and rejected on both sides when the
# lock changes.
toolpin() { node node_modules/@proofofwork-agency/toolpin/dist/cli.js "$@"; }
node - <<'JS'
const { generateKeyPairSync } = require("node:crypto");
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
require("node:fs").writeFileSync("private.pem", privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
require("node:fs").writeFileSync("public.pem", publicKey.export({ type: "spki", format: "pem" }));
JS
cp ours.json mcp-lock.json
mkdir -p .toolpin
for policy in none given; do
  [ "$policy" = none ] || echo '{"version":1,"minTrustScore":0,"allowedSources":["pulse"]}' >.toolpin/policy.json
  expect 0 toolpin lock sign --policy .toolpin/policy.json --key private.pem
  expect 0 "$keel" verify --lock mcp-lock.json --public-key public.pem
  says "signature valid"
  rm mcp-lock.sig
  expect 4 "$keel" verify --lock mcp-lock.json --public-key public.pem
  expect 0 "$keel" pin --baseline mcp-lock.json --sign-key private.pem weather -- "$keel" demo --serve pinned
  expect 0 toolpin lock verify-signature --policy .toolpin/policy.json --public-key public.pem
done
expect 0 "$keel" pin --baseline mcp-lock.json weather -- "$keel" demo --serve drifted
says "no longer covers"
expect 4 "$keel" verify --lock mcp-lock.json --public-key public.pem
says "Lockfile digest mismatch"
expect 1 toolpin lock verify-signature --policy .toolpin/policy.json --public-key public.pem
echo "ok: ToolPin verifies what we sign, we verify what ToolPin signs, and neither accepts a lock that moved"

if [ "${SKIP_HANGAR:-}" != 1 ]; then
  python3 -m venv venv
  venv/bin/pip install --quiet mcp-hangar==2.34.4
  # It only starts well-known interpreters.
  echo "import os; os.execv('$keel', ['mcp-keel', 'demo', '--serve', 'pinned'])" >serve.py
  cat >hangar.yaml <<YAML
mcp_servers:
  weather:
    mode: subprocess
    command: ["python3", "$work/serve.py"]
YAML
  venv/bin/mcp-hangar --config hangar.yaml pin --json >hangar.json 2>hangar.log || { cat hangar.log >&2; fail "mcp-hangar pin"; }
  "$keel" capture -- "$keel" demo --serve pinned >capture.json
  "$keel" fingerprint capture.json --profile hangar >ours-hangar.json
  python3 - <<'PY'
import json
text = open("hangar.json").read()
theirs = json.loads(text[text.index("{"):])["digests"]["weather"]
ours = {key[5:].rsplit("@", 1)[0]: digest for key, digest in json.load(open("ours-hangar.json")).items()}
assert theirs == ours, (theirs, ours)
PY
  python3 -c 'text = open("hangar.json").read(); open("pins.json", "w").write(text[text.index("{"):])'
  expect 0 "$keel" check --baseline pins.json weather -- "$keel" demo --serve pinned
  expect 1 "$keel" check --baseline pins.json weather -- "$keel" demo --serve drifted
  says "pin-digest-changed"
  echo "ok: MCP Hangar prints our digests, and its pins are a baseline"
fi
echo "conventions: all good"

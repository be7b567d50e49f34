#!/bin/sh
# Any other CI, a Makefile or a release script: the server against its baseline, then the baseline against that of the branch
# that this is to be merged into.
#
#   sh check.sh origin/main
set -eu

mcp-keel check --report junit=mcp-keel.xml --report markdown=mcp-keel.md -- node dist/index.js

base="${1:-}"
if [ -n "$base" ] && git cat-file -e "$base:mcp-baseline.json" 2> /dev/null; then
    mcp-keel diff --fail-on breaking "git:$base:mcp-baseline.json" mcp-baseline.json
fi

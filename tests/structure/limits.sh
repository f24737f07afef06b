#!/usr/bin/env bash
# Checks that every test of a build, or every one with a label, has a time limit of at least this many seconds.
#   limits.sh <build folder> <seconds> [<pattern of labels>]
set -euo pipefail
ctest --test-dir "$1" ${3:+-L "$3"} --show-only=json-v1 | python3 -c '
import json, sys
tests = json.load(sys.stdin)["tests"]
limits = {test["name"]: {p["name"]: p["value"] for p in test["properties"]}.get("TIMEOUT", 0) for test in tests}
short = [f"{name}: {limit} s" for name, limit in limits.items() if limit < float(sys.argv[1])]
print(*(short or [f"{len(limits)} tests have {sys.argv[1]} s and more"]), sep="\n")
sys.exit(bool(short) or not limits)' "$2"

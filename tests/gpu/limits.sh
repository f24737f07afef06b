#!/usr/bin/env bash
# Every test with the label gpu has so many seconds and more: limits.sh <build folder> <seconds>
set -euo pipefail
ctest --test-dir "$1" -L '^(gpu|several_gpus)$' --show-only=json-v1 | python3 -c '
import json, sys
tests = json.load(sys.stdin)["tests"]
limits = {test["name"]: {p["name"]: p["value"] for p in test["properties"]}.get("TIMEOUT", 0) for test in tests}
short = [f"{name}: {limit} s" for name, limit in limits.items() if limit < float(sys.argv[1])]
print(*(short or [f"{len(limits)} tests have {sys.argv[1]} s and more"]), sep="\n")
sys.exit(bool(short) or not limits)' "$2"

#!/usr/bin/env bash
# Runs an example in an empty folder, which is gone afterwards: it has to end with 0 and to print what is expected. What
# it has printed is left in the file GNNMG_PRINTED, if that is set.
#   examples/c/test.sh <regular expression> <program> [<argument>...]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
status=0
output=$("${@:2}" 2>&1) || status=$?
echo "$output"
((status == 0)) || { echo "it ended with $status"; exit 1; }
[[ $output =~ $1 ]] || { echo "expected: $1"; exit 1; }
[[ -z ${GNNMG_PRINTED:-} ]] || printf '%s\n' "$output" >"$GNNMG_PRINTED"

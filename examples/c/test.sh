#!/usr/bin/env bash
# Runs an example in an empty folder, which is removed afterwards: the example must exit with 0 and print the expected text. The
# output is kept in the file GNNMG_PRINTED, and the standard input is the file GNNMG_INPUT, if these are set. %data in an argument
# stands for the folder of real data: GNNMG_DATA, else shared/data next to the source tree. If the named data is missing, the exit
# code is 77, under continuous integration 1.
#   examples/c/test.sh <regular expression> <program> [<argument>...]
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command=("${@:2}")
for i in "${!command[@]}"; do
  [[ ${command[i]} == %data/* ]] || continue
  command[i]=${GNNMG_DATA:-$top/../shared/data}/${command[i]#%data/}
  [[ ! -e ${command[i]} ]] || continue
  echo "there is no ${command[i]}"
  [[ ${CI:-} != true ]] || exit 1
  exit 77
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
status=0
output=$("${command[@]}" 2>&1 <"${GNNMG_INPUT:-/dev/null}") || status=$?
echo "$output"
((status == 0)) || { echo "it ended with $status"; exit 1; }
[[ $output =~ $1 ]] || { echo "expected: $1"; exit 1; }
[[ -z ${GNNMG_PRINTED:-} ]] || printf '%s\n' "$output" >"$GNNMG_PRINTED"

#!/usr/bin/env bash
# Shows that operations.sh finds an entry that the table lacks, a name that no table of kernels has, and a wrong file.
#   operations_test.sh <new folder>
set -euo pipefail
check=$(dirname "${BASH_SOURCE[0]}")/operations.sh
source=$(dirname "${BASH_SOURCE[0]}")/../../src
rm -rf "$1"
mkdir -p "$1/src/cuda"
cp -r "$source/nn" "$source/README.md" "$1/src"
cp -r "$source/cuda/layer" "$1/src/cuda"
bash "$check" "$1" >/dev/null
cp "$1/src/README.md" "$1/right.md"
folder=$1

finds() { # <sed expression> <expected text>
  sed "$1" "$folder/right.md" >"$folder/src/README.md"
  cmp -s "$folder/right.md" "$folder/src/README.md" && echo "nothing changed by $1" && return 1
  local found
  found=$(bash "$check" "$folder") && echo "not found: $2" && return 1
  [[ $found == *"$2"* ]] || { echo "found \"$found\", expected \"$2\"" && return 1; }
}
finds 's/`edge_dots`, //' 'the table of operations lacks edge_dots'
finds 's/`edge_dots`/`edge_dots`, `edge_sum`/' 'edge_sum is an entry of no table of kernels'
finds 's/`last_max.cpp`/`linear.cpp`/' 'src/nn/ops: last_winner is in none of linear.cpp'
finds 's/`dots.h`/`rows.h`/' 'src/cuda/layer: edge_dots is in none of rows.h'

#!/usr/bin/env bash
# From a fresh machine to a trained GraphSAGE: installs missing requirements, builds, and trains on a generated graph with two
# ranks. Options are passed on to the program: examples/demo.sh --help
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

if [ "${1:-}" = --help ]; then
  cat <<'HELP'
Usage: examples/demo.sh [DATASET] [OPTION]...

Sets up what is missing (src/cmake/setup.sh tells what that is before it begins), builds build/demo,
and runs the example program "train" with two ranks on a generated graph of 50 000 nodes. Options and
a data set of your own are passed on to it: build/demo/examples/c/train --help=all lists them.
HELP
  exit 0
fi

bash src/cmake/setup.sh

echo "Building (on two cores about eight minutes the first time) ..."
cmake --preset release -B build/demo -DGNNMG_TESTS=OFF >build-demo.log 2>&1 &&
  cmake --build build/demo --target train >>build-demo.log 2>&1 || {
  tail -n 30 build-demo.log
  echo "demo.sh: the build failed; the whole log is in $root/build-demo.log" >&2
  exit 1
}
rm build-demo.log

dataset=planted
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
  dataset=$1
  shift
fi
exec build/demo/examples/c/train --ranks 2 --epochs 12 --batch-size 512 "$@" "$dataset"

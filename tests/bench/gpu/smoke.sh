#!/usr/bin/env bash
# The GPU's benchmark on a fake GPU and a peer on the CPU, as small as can be: it works, and has a row for each of its bars.
# Nothing is measured. Skipped where there is no Python with torch.
#   smoke.sh <bench_gpu_fake> [<python>...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1 python=
for candidate in "${@:2}"; do
  if "$candidate" -c 'import torch, numpy' 2>/dev/null; then python=$candidate && break; fi
done
if [[ -z $python ]]; then
  echo "needs a Python with torch and numpy: none of ${*:2}"
  [[ ${CI:-} == true ]] && exit 1 || exit 77
fi
found=$(mktemp)
trap 'rm -f "$found"' EXIT
OMP_NUM_THREADS=1 "$python" "$here/../gpu.py" --bench "$program" --smoke --output "$found"
grep -q '^\*\*No measurement\*\*' "$found"
for bar in 12 13 14 15 16 17 18; do
  grep -q "^| $bar " "$found" || { echo "no row for bar $bar" && exit 1; }
done

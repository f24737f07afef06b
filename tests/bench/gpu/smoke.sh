#!/usr/bin/env bash
# Tests the GPU's benchmark on a fake GPU with a peer on the CPU, at the smallest size: it runs, and has a row for each of its
# bars. Nothing is measured. Skipped if there is no Python with torch.
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
# The conditions of bar 18: an epoch whose host waits in calls, stalls, copies pageable memory or allocates does not meet it.
(cd "$here/.." && "$python" - <<'BAR')
from gpu import no_waits
good = {"waits": 2, "stalls": 6, "pageable": 0, "allocations": 0, "waitings": 193, "waiting_seconds": 0.2}
assert no_waits(good)
for fault in ({"waits": 3}, {"stalls": 7}, {"pageable": 1}, {"allocations": 1}):
    assert not no_waits({**good, **fault}), fault
BAR
found=$(mktemp)
trap 'rm -f "$found"' EXIT
OMP_NUM_THREADS=1 "$python" "$here/../gpu.py" --bench "$program" --smoke --output "$found"
grep -q '^\*\*No measurement\*\*' "$found"
for bar in 12 13 14 15 16 17 18; do
  grep -q "^| $bar " "$found" || { echo "no row for bar $bar" && exit 1; }
done

#!/usr/bin/env bash
# Fuzzes one target for GNNMG_FUZZ_SECONDS, from its kept corpus and from the inputs that earlier runs in this build folder
# found. An input that crashes, leaks, takes over 5 s or over 512 MiB ends the run and is kept next to the program.
#   run.sh <program> <corpus folder>
set -euo pipefail
program=$1 corpus=$2
seconds=${GNNMG_FUZZ_SECONDS:-30}
[[ -n $(ls -A "$corpus" 2>/dev/null) ]] || { echo "$corpus holds no input" && exit 1; }
found=$program-found
mkdir -p "$found"
exec timeout $((seconds + 120)) "$program" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -malloc_limit_mb=512 \
  -error_exitcode=1 -print_final_stats=1 -verbosity=1 -artifact_prefix="$program-bad-" "$found" "$corpus"

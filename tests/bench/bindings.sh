#!/usr/bin/env bash
# The cost of Rust, Go and Julia compared with C: a call that reads a property, and an epoch of a user's own loop. Each takes
# turns with the program bench_calls; the last line of each part is its verdict. Needs an idle machine, which is checked before
# each language. Missing languages are skipped. The exit code is 1 if a bar is missed.
#   tests/bench/bindings.sh [<build folder> [<epochs of each>]]     build/release, 61
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top"
build=${1:-build/release} rounds=${2:-61}
case ${1:-} in -h | --help) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" && exit 0 ;; esac

[[ -f $build/CMakeCache.txt ]] || { echo "bindings.sh: there is no build in $build: cmake --preset release" >&2 && exit 2; }
grep -q '^GNNMG_BENCH:.*=ON' "$build/CMakeCache.txt" || cmake -B "$build" -DGNNMG_BENCH=ON >/dev/null
cmake --build "$build" --target gnnmg bench_calls
GNNMG_DIR=$(cd "$build" && pwd)
export GNNMG_DIR OMP_NUM_THREADS=1 CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$GNNMG_DIR/bindings/rust}
PATH=$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin:/usr/local/go/bin:$top/.deps/julia/bin

times() { awk '/^cpu / { for (n = 2; n <= 9; ++n) all += $n; print $5 + $6, all }' /proc/stat; } # idle time, total time
busy() { # percentage of the cores that programs use
  local idle all idle_later all_later
  read -r idle all < <(times)
  sleep 2
  read -r idle_later all_later < <(times)
  echo $((100 - 100 * (idle_later - idle) / (all_later - all)))
}

missed=0
measured() { # <language> <folder> <command...>, on one core
  local share
  share=$(busy)
  printf '\n%s, while other programs take %s %% of the cores\n' "$1" "$share"
  ((share <= 5)) || echo "which is too much: a difference of a few per cent means nothing"
  (cd "$2" && taskset -c $(($(nproc) - 1)) "${@:3}") || missed=1
}

if cargo --version >/dev/null 2>&1; then
  (cd bindings/rust && cargo bench --quiet -p gnnmg --no-run)
  measured Rust bindings/rust cargo bench --quiet -p gnnmg --bench calls -- --rounds "$rounds"
fi
if go version >/dev/null 2>&1; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  (cd bindings/go && go test -c -o "$scratch/bench" .)
  measured Go bindings/go "$scratch/bench" -test.run '^$' -test.bench BesideC -test.benchtime "${rounds}x"
fi
if julia --version >/dev/null 2>&1; then
  measured Julia . julia --startup-file=no --project=bindings/julia bindings/julia/test/speed.jl "$rounds"
fi
exit "$missed"

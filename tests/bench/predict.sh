#!/usr/bin/env bash
# Predictions in a closed loop (bench_predict): the CPU time of one thread against that with every library forced to one thread,
# in turns; two threads against one; and two threads beside a trainer. Medians of the rounds. The exit code is 1 if a bar is
# missed. Needs an idle machine of two cores.
#   tests/bench/predict.sh [<build folder> [<rounds> [<calls of a thread>]]]     build/release, 5, 20000
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case ${1:-} in -h | --help) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" && exit 0 ;; esac
program=${1:-$top/build/release}/tests/bench/bench_predict rounds=${2:-5} calls=${3:-20000}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for ((round = 0; round < rounds; ++round)); do
  "$program" 1 "$calls" >>"$work/one"
  OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 "$program" 1 "$calls" >>"$work/forced"
  "$program" 2 "$calls" >>"$work/two"
done
"$program" 2 "$calls" train >"$work/beside"

# "2 threads: 1.234 s wall, 2.345 s CPU, 12345 calls/s, p50 0.160 ms, p99 0.320 ms, ..."
column() { awk -v n="$2" '{ print $n }' "$work/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
head -n 1 "$work"/{one,forced,two,beside}
awk -v cpu="$(column one 6)" -v forced="$(column forced 6)" -v one="$(column one 9)" -v two="$(column two 9)" -v two_cpu="$(column two 6)" \
  -v p99="$(column one 15)" -v beside="$(cat "$work/beside")" '
  function bar(text, held) { print text (held ? "" : " MISSED"); missed += !held }
  BEGIN {
    printf "medians of the rounds\n"
    bar(sprintf("CPU of one thread / all libraries forced to one: %.3f, bar 1.1", cpu / forced), cpu / forced <= 1.1)
    printf "CPU of a call, two threads / one: %.3f, also on a machine that is not idle\n", two_cpu / 2 / cpu
    bar(sprintf("calls a second, two threads / one: %.2f, bar 1.8", two / one), two / one >= 1.8)
    bar(sprintf("p99 of one thread: %s ms, bar 2", p99), p99 <= 2)
    bar("beside a trainer no call busy, no answer wrong", beside ~ / 0 busy, 0 of /)
    exit missed > 0
  }'

#!/usr/bin/env bash
# Tests the program `train` with Ctrl-C and with SIGTERM, in any language: training ends between two steps, the results so far
# are printed, and the exit code is 130; the same for a job of two processes that is interrupted before the others join.
#   examples/interrupt.sh <command> [<argument>...]
set -euo pipefail
set -m # programs in the background hear Ctrl-C, too
work=$(mktemp -d)
child=
trap '[[ -z $child ]] || kill -KILL "$child" 2>/dev/null || true; rm -rf "$work"' EXIT

wait_for() { # <seconds> <command...>
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    ((SECONDS < end)) && kill -0 "$child" 2>/dev/null || return 1
    sleep 0.1
  done
}
listens() { grep -q ":$(printf %04X "$1") 00000000:0000 0A" /proc/net/tcp; } # 0A: listening
gone() { ! kill -0 "$child" 2>/dev/null; }

interrupt() { # <signal> <expected line, or none> <condition...> -- <command...>
  local signal=$1 line=$2 status=0 condition=()
  shift 2
  while [[ $1 != -- ]]; do condition+=("$1") && shift; done
  shift
  (cd "$work" && exec "$@") >"$work/out" 2>&1 </dev/null &
  child=$!
  wait_for 120 "${condition[@]}" || { echo "it does not begin:" && cat "$work/out" && exit 1; }
  kill -s "$signal" -- "$child"
  for _ in {1..300}; do gone && break || sleep 0.1; done
  gone || { echo "SIG$signal does not end it:" && cat "$work/out" && exit 1; }
  wait "$child" || status=$?
  child=
  ((status == 130)) || { echo "SIG$signal: it ends with $status, expected 130:" && cat "$work/out" && exit 1; }
  [[ -z $line ]] || grep -q "$line" "$work/out" || { echo "SIG$signal: it does not print '$line':" && cat "$work/out" && exit 1; }
}

port=$((20000 + RANDOM % 10000))
for signal in INT TERM; do
  interrupt $signal "^test    accuracy" grep -qs "^epoch" "$work/out" -- \
    "$@" planted:3000 --epochs 1000000 --hidden 8 --ranks 2
  interrupt $signal "" listens $port -- \
    "$@" planted:3000 --processes 2 --process 0 --port $port --deadline 300
  port=$((port + 1))
done
echo "train ends as it should on SIGINT and SIGTERM"

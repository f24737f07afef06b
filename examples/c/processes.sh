#!/usr/bin/env bash
# Starts a program as a job of several processes on this machine, without a launcher. In its arguments %rank, %processes
# and %port stand for the values in the environment.
#   examples/c/processes.sh <program> <number of processes> [<argument>...]
set -euo pipefail
export WORLD_SIZE=$2 MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-$((20000 + RANDOM % 10000))}
members=()
for ((rank = 0; rank < WORLD_SIZE; rank++)); do
  arguments=("${@:3}")
  arguments=("${arguments[@]/%%rank/$rank}")
  arguments=("${arguments[@]/%%processes/$WORLD_SIZE}")
  arguments=("${arguments[@]/%%port/$MASTER_PORT}")
  RANK=$rank "$1" "${arguments[@]}" &
  members+=($!)
done
status=0
for member in "${members[@]}"; do wait "$member" || status=$?; done
exit $status

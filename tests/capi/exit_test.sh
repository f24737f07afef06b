#!/usr/bin/env bash
# A program that ends with the library at work has the exit code it chose, says nothing, and ends soon.
#   exit_test.sh <program> [<way>...]
set -uo pipefail
bad=0
ways=("${@:2}")
((${#ways[@]})) || ways=(idle loading training freed collective pending)
for how in "${ways[@]}"; do
  for round in 1 2 3; do
    begin=$(date +%s%N)
    output=$(timeout 60 "$1" "$how" 2>&1)
    status=$?
    milliseconds=$((($(date +%s%N) - begin) / 1000000))
    if [[ $status != 7 || -n $output ]]; then
      echo "$how, round $round: exit code $status after $milliseconds ms, output: $output"
      bad=1
    fi
  done
done
((bad == 0)) && echo "every way of ending is fine"

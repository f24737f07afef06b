#!/usr/bin/env bash
# A program that ends with the library at work has the exit code it chose, says nothing, and ends soon.
# GNNMG_EXIT_ROUNDS: number of rounds of each way (3).
#   exit_test.sh <program> [gpus|real]
# With gpus the ways of ending with GPUs at work; with real the same on this machine's GPUs. There LibTorch and the driver
# may print anything except words of a crash and of the library; without a GPU the test is skipped.
set -uo pipefail
bad=0 kind=${2:-} rounds=${GNNMG_EXIT_ROUNDS:-3}
words='gnnmg|after the end|terminate|what\(\)|abort|segmentation|assert|free\(\)|malloc|corrupt|pure virtual|core dumped'
words+='|error|exception|fatal|failed|lost'
# wrong_words <output>: prints the unexpected lines.
wrong_words() {
  if [[ $kind == real ]]; then
    grep -v '^\[W' <<<"$1" | grep -iE "$words" # ignore LibTorch's warnings
  else
    echo "$1"
  fi
}
ways=(idle loading training freed collective pending)
if [[ $kind == real ]]; then
  nvidia-smi -L >/dev/null 2>&1 || { echo "skipped: no driver, hence no GPU" && exit 77; }
fi
if (($# > 1)); then
  ways=(idle training unpadded eager captured stepped "gpu freed" callback "gpu loading" loop "loop of a thread" embedding early late
    "early trainer" "late trainer")
fi
for how in "${ways[@]}"; do
  for ((round = 1; round <= rounds; ++round)); do
    begin=$(date +%s%N)
    output=$(timeout 60 "$1" "$how" 2>&1)
    status=$?
    milliseconds=$((($(date +%s%N) - begin) / 1000000))
    if [[ $status != 7 || -n $(wrong_words "$output") ]]; then
      echo "$how, round $round: exit code $status after $milliseconds ms, output: $output"
      bad=1
    fi
  done
done
((bad == 0)) && echo "every way of ending is fine"

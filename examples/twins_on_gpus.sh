#!/usr/bin/env bash
# Runs the examples that take GPUs, in C and in another language, on a machine with two fake ones, and compares what they
# print: that of C says that it was on GPUs. % in the command stands for the name of an example. 77: the build has no fake GPUs.
#   examples/twins_on_gpus.sh <build folder> <command> [<argument>...]
set -euo pipefail
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
command=("${@:2}")
machine=(bash "$examples/../tests/fake_machine/of_build.sh" "$build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A says=([own_loop]="2 ranks on GPUs" [gpu]="GPU 1: fake GPU")
bad=0
for name in "${!says[@]}"; do
  status=0
  "${machine[@]}" "$build/examples/c/$name" >"$work/c" 2>&1 || status=$?
  ((status != 77)) || { cat "$work/c" && exit 77; }
  ((status == 0)) && grep -q "${says[$name]}" "$work/c" || { echo "$name in C ended with $status:" && cat "$work/c" && exit 1; }
  "${machine[@]}" "${command[@]//%/$name}" >"$work/twin" 2>&1 || status=$?
  if ((status == 0)) && diff "$work/c" "$work/twin" >"$work/difference"; then
    echo "$name: $(wc -l <"$work/c") lines, the same"
  else
    bad=1
    echo "$name: ended with $status; C (<) and its twin (>):"
    cat "$work/difference" "$work/twin"
  fi
done
exit $bad

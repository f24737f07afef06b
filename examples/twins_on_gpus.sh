#!/usr/bin/env bash
# Runs the examples that take GPUs, in C and in another language, on a machine with two fake ones, and compares their output:
# that of C shows that it used GPUs. % in the command stands for the name of an example. 77: the build has no fake GPUs.
#   examples/twins_on_gpus.sh <build folder> <command> [<argument>...]
set -euo pipefail
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
command=("${@:2}")
machine=(bash "$examples/../tests/fake_machine/of_build.sh" "$build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$examples/steady.sh"

bad=0
compare() { # <name of the run> <what C says> <example> [<argument>...]
  local status=0
  "${machine[@]}" "$build/examples/c/$3" "${@:4}" >"$work/c" 2>&1 || status=$?
  ((status != 77)) || { cat "$work/c" && exit 77; }
  ((status == 0)) && grep -q "$2" "$work/c" || { echo "$1 in C ended with $status:" && cat "$work/c" && exit 1; }
  "${machine[@]}" "${command[@]//%/$3}" "${@:4}" >"$work/twin" 2>&1 || status=$?
  steady "$1" <"$work/c" >"$work/c.steady"
  steady "$1" <"$work/twin" >"$work/twin.steady"
  if ((status == 0)) && diff "$work/c.steady" "$work/twin.steady" >"$work/difference"; then
    echo "$1: $(wc -l <"$work/c.steady") lines, the same"
  else
    bad=1
    echo "$1: ended with $status; C (<) and its twin (>):"
    cat "$work/difference" "$work/twin"
  fi
}

compare gpu "GPU 1: fake GPU" gpu
compare own_loop "2 ranks on GPUs" own_loop
compare train_all "one a GPU in this process" train --epochs 2 --batch-size 256 --capture unpadded planted:3000
compare train_cached " 1  GPU 1 .* [1-9][0-9]* %" train --epochs 2 --batch-size 256 --device cuda:0,1 \
  --feature-placement cached --cache-mib 1 --precision bf16 --capture on --times planted:5000
compare train_plan "padded steps *0\.0*[1-9].* GB" train --device cuda:1 --feature-placement split --cache-mib 1 --capture off --plan planted:5000
exit $bad

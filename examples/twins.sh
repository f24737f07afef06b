#!/usr/bin/env bash
# Runs the examples in another language like those in C, and compares their output, except parts that depend on time. % in the
# command stands for the name of an example. Examples of real data, with %data in the arguments, are skipped if there is none,
# as in c/test.sh.
# GNNMG_TWINS selects some by the names of the programs; without it all are run.
#   examples/twins.sh <folder "printed" of the examples in C> <command> [<argument>...]
set -euo pipefail
c=$(cd "$(dirname "${BASH_SOURCE[0]}")/c" && pwd)
printed=$(cd "$1" && pwd)
command=("${@:2}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$c/../steady.sh"

[[ -s $printed/list ]] || { echo "twins.sh: $printed has no list of examples"; exit 1; }
for program in ${GNNMG_TWINS:-}; do
  grep -q "^[^ ]* $program " "$printed/list" || { echo "twins.sh: no example is called $program" && exit 1; }
done
bad=0
while read -r name program processes arguments; do
  [[ -z ${GNNMG_TWINS:-} || " $GNNMG_TWINS " == *" $program "* ]] || continue
  run=("${command[@]//%/$program}")
  [[ $processes == alone ]] || run=(bash "$c/processes.sh" "${run[0]}" "$processes" "${run[@]:1}")
  if [[ $arguments == %data/* ]]; then
    arguments=${GNNMG_DATA:-$c/../../../shared/data}/${arguments#%data/}
    [[ -e $arguments || ${CI:-} == true ]] || { echo "$name: left out, there is no $arguments" && continue; }
  fi
  mkdir "$work/$name"
  status=0
  # shellcheck disable=SC2086 # arguments are words
  (cd "$work/$name" && "${run[@]}" $arguments) >"$work/twin" 2>&1 </dev/null || status=$?
  [[ -e $printed/$name ]] || { echo "$name: the example in C has not been run: ctest -R example_"; exit 1; }
  steady "$name" <"$printed/$name" >"$work/c.steady"
  steady "$name" <"$work/twin" >"$work/twin.steady"
  if ((status == 0)) && diff "$work/c.steady" "$work/twin.steady" >"$work/difference"; then
    echo "$name: $(wc -l <"$work/c.steady") lines, the same"
  else
    bad=1
    echo "$name: ended with $status; C (<) and its twin (>):"
    cat "$work/difference" "$work/twin"
  fi
  rm -rf "${work:?}/$name"
done <"$printed/list"
exit $bad

#!/usr/bin/env bash
# Runs all checks of the Julia package: generated files, the README, tests (which must call every function of the header),
# and the output of the examples, which must equal that of the C examples in their last ctest run. Julia 1.5 or newer must be
# on PATH or in the folder of src/cmake/setup.sh: otherwise the exit code is 77, under continuous integration 1.
#   bindings/julia/test.sh <build folder of the library> [twins]
# `twins` sweeps hostile arguments too, compares all examples, also on fake GPUs, and interrupts one;
# without it a few examples are compared, and the rest is checked.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
examples=$top/examples
GNNMG_DIR=$(cd "$1" && pwd)
export GNNMG_DIR JULIA_NUM_THREADS=2

julia=
for candidate in julia "$top/.deps/julia/bin/julia"; do
  "$candidate" --startup-file=no -e 'exit(VERSION < v"1.5")' >/dev/null 2>&1 && julia=$candidate && break
done
if [[ -z $julia ]]; then
  echo "needs Julia 1.5 or newer, on PATH or from src/cmake/setup.sh --tests"
  [[ ${CI:-} == true ]] && exit 1
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export JULIA_DEPOT_PATH=$scratch/depot # folder of the compiled package

part() { # <title> <command...>: says how long it took
  local begin=$SECONDS
  "${@:2}" || { echo "$1: failed" && exit 1; }
  echo "$1: $((SECONDS - begin)) s"
}

generated() { python3 "$here/generate.py" --check; }

readme() {
  local shown
  shown=$(awk '/^```julia/ { inside = !seen++; next } /^```/ { inside = 0 } inside' "$here/README.md")
  [[ $shown == "$(sed '/^ *# \[[a-z ]*\]$/d' "$examples/julia/node_classification.jl")" ]] || # marks of the site's pages aside
    { echo "it shows another program than examples/julia/node_classification.jl" && return 1; }
}

# Julia says where it was when timeout ends it.
package() { timeout -k 10 600 "$julia" --startup-file=no -O1 "--project=$here" "$here/test/runtests.jl" "$@"; }

# Most programs are compiled for longer than they run, unless Julia interprets them; some compute a lot themselves.
cat >"$scratch/twin" <<END # expands variables now: other scripts use the same names
case \$1 in
  custom_loss | embeddings | weighted_sampler) how=-O1 ;;
  *) how=--compile=min ;;
esac
exec timeout -k 10 240 "$julia" --startup-file=no "\$how" "--project=$here" "$examples/julia/\$1.jl" "\${@:2}"
END
twins() { bash "$examples/twins.sh" "$GNNMG_DIR/examples/c/printed" bash "$scratch/twin" %; }
twins_on_gpus() { bash "$examples/twins_on_gpus.sh" "$GNNMG_DIR" bash "$scratch/twin" %; }

# On a machine with two fake GPUs, which a library that was built without tests does not have.
gpus() {
  local machine=(bash "$top/tests/fake_machine/of_build.sh" "$GNNMG_DIR") status=0
  "${machine[@]}" true >/dev/null || status=$?
  if ((status == 77)); then echo "left out: the build has no fake GPUs" && [[ ${CI:-} != true ]]; return; fi
  "${machine[@]}" timeout -k 10 300 "$julia" --startup-file=no -O1 "--project=$here" -e \
    'using GNNMG, Test; include(ARGS[1]); @testset "GPUs" begin include(ARGS[2]) end' \
    "$here/test/support.jl" "$here/test/gpu.jl"
}

train=("$julia" --startup-file=no --compile=min "--project=$here" "$examples/julia/train.jl")
interrupt() { bash "$examples/interrupt.sh" "${train[@]}"; }
terminal() { python3 -B "$examples/c/terminal_test.py" "${train[@]}"; }

if [[ ${2:-} == twins ]]; then
  part "package" package
  part "twins" twins
  part "GPUs" twins_on_gpus
  part "interrupt" interrupt
  exit
fi
part "generated" generated
part "readme" readme
part "package" package --quick
GNNMG_TWINS="first node_classification own_loop custom_sampler" part "some twins" twins
part "terminal" terminal
part "GPUs" gpus

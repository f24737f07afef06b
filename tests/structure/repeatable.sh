#!/usr/bin/env bash
# Finds code that would make a GPU's results differ from run to run: atomics on floating-point numbers in the kernels, and
# LibTorch's sums by index, which use them on a GPU.
#   repeatable.sh <src folder>
set -euo pipefail
cd "$1"
bad=0
# complain <text for each line> <lines of grep>
complain() {
  [[ -z $2 ]] && return
  sed "s|\$|  <- $1|" <<<"$2"
  bad=1
}
# sources <extended expression> <place>...: prints matching lines, except comments, and places that do not exist
sources() {
  local expression=$1 place
  shift
  for place in "$@"; do [[ -e $place ]] || echo "there is no $place"; done
  grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' "$expression" "$@" |
    grep -vE '^[^:]*:[0-9]+:[[:space:]]*//' || true
}

# One file contains CUDA's own atomics, in functions for integers.
atomics='atomic[A-Z][A-Za-z_]*[[:space:]]*\(|\batomic_ref\b|\bcuda::(std::)?atomic|"[^"]*\b(atom|red)\.'
complain "atomics are called by the functions of cuda/grid/portable.h alone" \
  "$(sources "$atomics" cuda | grep -v '^cuda/grid/portable\.h:' || true)"
[[ -n $(sources 'atomic_[a-z_]+\(' cuda/grid/portable.h) ]] ||
  complain "expected in cuda/grid/portable.h" "no function for atomics"
complain "atomics are for integers of 32 or 64 bits: sums of floating-point numbers depend on their order" \
  "$(sources 'atomic_[a-z_]+\(' cuda/grid/portable.h | grep -vE 'atomic_[a-z_]+\((int32_t|uint64_t)\* at,' || true)"

# Files that run only on the host, where the order is fixed.
host='^nn/conv/gcn_conv\.cpp:'
by_index='\b(index_add|index_reduce|index_put|scatter_add|scatter_reduce|bincount|histc|segment_reduce|embedding_bag|_embedding_bag)_?\('
rooms=()
for room in nn train; do [[ -d $room ]] && rooms+=("$room"); done
((${#rooms[@]} == 0)) ||
  complain "on a GPU its sums differ from run to run: take the segment sums of nn/ops/functions.h" \
    "$(sources "(at::|\\.|->)$by_index" "${rooms[@]}" | grep -vE "$host" || true)"
((bad == 0)) && echo "nothing adds floating-point numbers in an order of chance"

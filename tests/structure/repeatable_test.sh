#!/usr/bin/env bash
# Plants one line after another and checks that repeatable.sh finds each, and nothing in a correct tree.
#   repeatable_test.sh <scratch folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
failures=0

# expect <ok|text of the complaint> <file> <line>...
expect() {
  local want=$1 file=$2 output status=0
  shift 2
  rm -rf "$scratch"
  mkdir -p "$scratch/cuda/grid" "$scratch/$(dirname "$file")"
  printf '%s\n' 'GNNMG_BOTH int32_t atomic_add(int32_t* at, int32_t value) {' '  return atomicAdd(at, value);' '}' \
    >"$scratch/cuda/grid/portable.h"
  printf '%s\n' '// A file.' "$@" >>"$scratch/$file"
  output=$(bash "$here/repeatable.sh" "$scratch") || status=$?
  if [[ $want == ok && $status == 0 ]] || [[ $want != ok && $status != 0 && $output == *"$want"* ]]; then return; fi
  echo "$file with '$*': wanted '$want', got status $status: $output"
  failures=$((failures + 1))
}

alone='by the functions of cuda/grid/portable.h alone'
expect ok cuda/layer/sum.h '  atomic_add(counts + i, 1);' '  // atomicAdd(out, x) would depend on the order.'
expect "cuda/layer/sum.h:2:  atomicAdd(out, x);  <- atomics are called $alone" cuda/layer/sum.h '  atomicAdd(out, x);'
expect "$alone" cuda/layer/sum.cu '  atomicAdd_block (out, x);'
expect "$alone" cuda/layer/sum.cu '  atomicCAS(bits, old, made);'
expect "$alone" cuda/layer/sum.h '  std::atomic_ref<float>(*out).fetch_add(x);'
expect "$alone" cuda/layer/sum.h '  cuda::atomic<float> sum;'
expect "$alone" cuda/layer/sum.h '  asm("red.global.add.f32 [%0], %1;" :: "l"(out), "f"(x));'
expect 'atomics are for integers' cuda/grid/portable.h 'GNNMG_BOTH float atomic_add(float* at, float value) {'
expect 'atomics are for integers' cuda/grid/portable.h 'GNNMG_BOTH double atomic_max(double* at, double value) {'
expect 'atomics are for integers' cuda/grid/portable.h 'template <typename T>' 'GNNMG_BOTH T atomic_add(T* at, T value) {'
expect ok cuda/grid/portable.h 'GNNMG_BOTH uint64_t atomic_min(uint64_t* at, uint64_t value) {'
expect 'differ from run to run' nn/conv/sum.cpp '  return out.index_add(0, targets, weights);'
expect 'differ from run to run' nn/conv/sum.cpp '  out.scatter_add_(0, targets, weights);'
expect 'differ from run to run' train/sum.cpp '  at::index_put_(out, {targets}, weights, true);'
expect ok nn/conv/gcn_conv.cpp '  return out.index_add(0, targets, weights);'
expect ok nn/conv/sum.cpp '  // no index_add(0, targets, weights)' '  return sum.index_select(0, targets);' '  put(execution, x);'

# A file whose name has changed.
mv "$scratch/cuda/grid/portable.h" "$scratch/cuda/grid/moved.h"
output=$(bash "$here/repeatable.sh" "$scratch" 2>&1) && failures=$((failures + 1))
[[ $output == *"there is no cuda/grid/portable.h"* ]] || { echo "without its file: $output" && failures=$((failures + 1)); }

rm -rf "$scratch"
((failures == 0)) && echo "every planted line was found"

#!/usr/bin/env bash
# That kernels.py finds what it is there for: a cuobjdump that prints a planted list.
#   kernels_test.sh <folder to work in>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
rm -rf "$folder" && mkdir -p "$folder"
printf '#!/bin/sh\ncat "$2$1"\n' >"$folder/cuobjdump" && chmod +x "$folder/cuobjdump"

# 300 kernels that are as they should be; then what is planted: name, registers, stack, shared memory.
list() {
  echo "arch = sm_90"
  for i in $(seq 300); do kernel "_ZN5gnnmg4cuda8run_eachILi256ENS0_$((${#i} + 1))K${i}EEEvlT0_" 32 0 0; done
  # CUB's scan, which kernels.py makes an exception for
  kernel _ZN3cub16DeviceScanKernelEv 64 "${scan:-8}" 13328
  [[ $# -eq 0 ]] || kernel "$@"
}
kernel() {
  printf ' Function %s:\n  REG:%s STACK:%s SHARED:%s LOCAL:0 CONSTANT[0]:352 TEXTURE:0 SURFACE:0 SAMPLER:0\n' "$@"
}
bad=0
# expect <status> <words of the output> <architectures> <what is planted ...>
expect() {
  local status=0 wanted=$1 words=$2 arch=$3
  shift 3
  list "$@" >"$folder/list--dump-resource-usage"
  printf '.entry _ZN5gnnmg4cuda9run_teamsILi32ENS0_8ByPiecesILi4EfEEEEvlT0_( ) {\n%s;\n%s;\n}\n' \
    "ld.global.v4.f32 {}, []" "${write:-st.global.v4.f32 [], {\}}" >"$folder/list--dump-ptx"
  # shellcheck disable=SC2086 # one word an architecture
  python3 "$here/kernels.py" "$folder/cuobjdump" "$folder/list" $arch >"$folder/out" 2>&1 || status=$?
  if ((status != wanted)) || ! grep -qF -- "$words" "$folder/out"; then
    echo "planted: $*: ended with $status, expected $wanted and the words: $words" && head -n 5 "$folder/out" && bad=1
  fi
}

teams=_ZN5gnnmg4cuda9run_teamsILi32ENS0_4WalkEEEvlT0_
wide=_ZN5gnnmg4cuda9run_tilesILi1024ELi8ENS0_4WalkEEEvlT1_
expect 0 "301 kernels, 32 warps and more of each" 90 "$teams" 64 0 4096
expect 1 "run_teams<32, Walk>: 24 bytes of a thread's own memory, expected 0" 90 "$teams" 64 24 4096
expect 1 "8 warps of a multiprocessor at 129 registers, 4096 bytes" 90 "$teams" 129 0 4096
expect 1 "8 warps of a multiprocessor at 64 registers, 120000 bytes" 90 "$teams" 64 0 120000
expect 1 "0 warps of a multiprocessor at 72 registers" 90 "$wide" 72 0 0
expect 1 "no kernel that this test knows" 90 _ZN5gnnmg4cuda5otherEv 32 0 0
expect 1 "sm_80: 0 kernels, expected 300 and more" 80 "$teams" 64 0 4096
scan=0 expect 1 "nothing needs the exception for" "80-real 90" "$teams" 64 0 4096
write="st.global.f32 [], f" expect 1 "ByPieces<4, float>): writes nothing by two or four" 90 "$teams" 64 0 4096
((bad == 0)) &&
  echo "spills, few warps, unknown kernels, missing architectures, stale exceptions and narrow writes are found"

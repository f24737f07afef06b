#!/usr/bin/env bash
# Checks that kernels.py finds the faults that it is for: a cuobjdump that prints a planted list.
#   kernels_test.sh <folder to work in>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
rm -rf "$folder" && mkdir -p "$folder"
printf '#!/bin/sh\ncat "$2$1"\n' >"$folder/cuobjdump" && chmod +x "$folder/cuobjdump"

# 300 correct kernels, and the exceptions of kernels.py, with the values that they need; then the planted one: name, registers,
# stack, shared memory.
list() {
  local of i
  for of in ${archs:-80 90}; do
    echo "arch = sm_$of"
    for i in $(seq 300); do kernel "_ZN5gnnmg4cuda8run_eachILi256ENS0_$((${#i} + 1))K${i}EEEvlT0_" 32 0 0; done
    kernel _ZN3cub16DeviceScanKernelEv 64 "${scan:-8}" 13328
    kernel _ZN5gnnmg4cuda9run_tilesILi256ELi32ENS0_6AttendIfLNS0_6ScoresE2ELi4EEEEEvlT1_ 64 "${attend:-8}" 0
    kernel _ZN5gnnmg4cuda9run_tilesILi256ELi32ENS0_6AttendIdLNS0_6ScoresE2ELi4EEEEEvlT1_ "${attend64:-198}" 0 0
    [[ $# -eq 0 ]] || kernel "$@"
  done
}
kernel() {
  printf ' Function %s:\n  REG:%s STACK:%s SHARED:%s LOCAL:0 CONSTANT[0]:352 TEXTURE:0 SURFACE:0 SAMPLER:0\n' "$@"
}
# Code of kernels of pieces: the planted kernel's, and that of kernels with single numbers, with the values that they need.
code() {
  entry 8ByPiecesILi4EfEE "${read:-$piece}" "${write:-$put}"
  entry 8ByPiecesILi4ENS0_7ListSumIflEEEE "$piece $piece ${weights:-$number}" "$put"
  entry 8ByPiecesILi4ENS0_15SourceGradientsIfLNS0_6ScoresE0EEEEE "$piece $number" "$put"
  entry 8ByPiecesILi4ENS0_15SourceGradientsIfLNS0_6ScoresE2EEEEE "$piece $(times 20 "$number")" "$put"
  entry 8ByPiecesILi2ENS0_15SourceGradientsIdLNS0_6ScoresE2EEEEE "ld.global.nc.v2.f64 {}, []; $(times 10 "$number")" "$put"
  entry 8ByPiecesILi4ENS0_10LastWinnerIfEEEE "$piece" "${winner:-st.global.u32 [], r;}"
  entry 8ByPiecesILi4ENS0_11ColumnPartsIfEEEE "$piece" "st.global.f32 [], f;"
  printf '.entry _ZN5gnnmg4cuda9run_tilesILi256ELi32ENS0_10GatherRowsINS0_4KeepIjEELb0EEEEEvlT1_( ) {\n%s\n%s\n}\n' \
    "${gather:-$(times 4 "ld.global.v4.u32 {}, [];")} ld.global.u64 r, [];" "$(times 4 "$put") st.global.u32 [], r;"
}
piece="ld.global.nc.v4.f32 {}, [];" number="ld.global.f32 f, [];" put="st.global.v4.f32 [], {};"
entry() {
  printf '.entry _ZN5gnnmg4cuda9run_teamsILi32ENS0_%sEEvlT0_( ) {\nld.global.u32 r, [];\n%s\n%s\n}\n' "$@"
}
times() {
  for _ in $(seq "$1"); do printf '%s ' "$2"; done
}
bad=0
# expect <status> <words of the output> <architectures> <planted values ...>
expect() {
  local status=0 wanted=$1 words=$2 arch=$3
  shift 3
  list "$@" >"$folder/list--dump-resource-usage"
  code >"$folder/list--dump-ptx"
  # shellcheck disable=SC2086 # one word an architecture
  python3 "$here/kernels.py" "$folder/cuobjdump" "$folder/list" $arch >"$folder/out" 2>&1 || status=$?
  # Only that complaint.
  if ((status != wanted)) || ! grep -qF -- "$words" "$folder/out" || (($(grep -c . "$folder/out") > ${lines:-1})); then
    echo "planted: $*: ended with $status, expected $wanted and the words: $words" && head -n 5 "$folder/out" && bad=1
  fi
}

teams=_ZN5gnnmg4cuda9run_teamsILi32ENS0_4WalkEEEvlT0_
wide=_ZN5gnnmg4cuda9run_tilesILi1024ELi8ENS0_4WalkEEEvlT1_
archs=90 expect 0 "303 kernels, 8 warps and more of each" 90 "$teams" 64 0 4096
expect 0 "606 kernels, 8 warps and more of each" "80-real 90" "$teams" 64 0 4096
archs=90 expect 1 "run_teams<32, Walk>: 24 bytes of a thread's own memory, expected 0" 90 "$teams" 64 24 4096
archs=90 expect 1 "8 warps of a multiprocessor at 129 registers, 4096 bytes" 90 "$teams" 129 0 4096
archs=90 expect 1 "8 warps of a multiprocessor at 64 registers, 120000 bytes" 90 "$teams" 64 0 120000
archs=90 expect 1 "0 warps of a multiprocessor at 72 registers" 90 "$wide" 72 0 0
archs=90 expect 1 "no kernel that this test knows" 90 _ZN5gnnmg4cuda5otherEv 32 0 0
archs=90 expect 1 "sm_80: 0 kernels, expected 300 and more" 80 "$teams" 64 0 4096
# Exceptions that no kernel needs: each separately.
scan=0 expect 1 "nothing needs the exception for DeviceScanKernel any more" "80-real 90" "$teams" 64 0 4096
attend=0 expect 1 "nothing needs the exception for ::Attend<float," "80-real 90" "$teams" 64 0 4096
attend64=64 expect 1 "nothing needs the exception for ::Attend<double any more" "80-real 90" "$teams" 64 0 4096
winner=$put expect 1 "nothing needs single numbers of LastWinner< (st) any more" "80-real 90" "$teams" 64 0 4096
# Pieces that are split, all of them or some.
export archs=90
write="st.global.f32 [], f;" expect 1 "ByPieces<4, float> >(long, " 90 "$teams" 64 0 4096
write="$put st.global.f32 [], f;" expect 1 "writes 1 single numbers beside 1 pieces, expected 0" 90 "$teams" 64 0 4096
read="$(times 4 "$number")" expect 1 "reads 4 single numbers beside 0 pieces, expected 0" 90 "$teams" 64 0 4096
read="$piece $(times 4 "$number")" expect 1 "reads 4 single numbers beside 1 pieces, expected 0" 90 "$teams" 64 0 4096
read="$(times 2 "ld.global.v2.f32 {}, [];")" expect 1 "reads 2 single numbers beside 0 pieces" 90 "$teams" 64 0 4096
read="ld.global.u32 r, [];" expect 1 "reads 0 single numbers beside 0 pieces" 90 "$teams" 64 0 4096
weights="$(times 4 "$number")" expect 1 "reads 4 single numbers beside 2 pieces, expected 2" 90 "$teams" 64 0 4096
gather="$(times 3 "ld.global.v4.u32 {}, [];")" expect 1 "reads 3 pieces at once, expected 4" 90 "$teams" 64 0 4096
gather="$(times 5 "ld.global.v4.u32 {}, [];") ld.global.u32 r, [];" \
  expect 1 "reads 1 single numbers beside 5 pieces" 90 "$teams" 64 0 4096
((bad == 0)) &&
  echo "spills, few warps, unknown kernels, missing architectures, stale exceptions and pieces taken apart are found"

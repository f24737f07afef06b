#!/usr/bin/env bash
# Runs a program on the CPU and, unchanged, on a machine with fake GPUs: both end with 0 and reach the same accuracy up to 0.03,
# and the second one prints the expected text. Arguments for one of them only follow --cpu and --gpu. With "real" in place of
# the driver the GPUs are this machine's, which the first run does not see; without any the test is skipped. If GNNMG_TEST_SAY
# is say.c's library, the library's log is printed with "log: " before each line; it must show that the first run used no GPU.
#   same.sh <regular expression> <libgnnmg.so> <libcuda.so.1> <libgnnmg_cuda.so> <program> [<argument>...]
#           [--cpu <argument>... --gpu <argument>...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
expected=$1 machine=("${@:2:3}") both=() cpu=() gpu=() list=both
for word in "${@:5}"; do
  case $word in
    --cpu) list=cpu ;;
    --gpu) list=gpu ;;
    *) declare -n to=$list && to+=("$word") ;;
  esac
done
run=(bash "$here/run.sh" "${machine[@]}") alone=()
if [[ ${machine[1]} == real ]]; then
  nvidia-smi -L >/dev/null 2>&1 || { echo "skipped: no driver, hence no GPU" && exit 77; }
  run=() alone=(env CUDA_VISIBLE_DEVICES=)
fi
[[ -z ${GNNMG_TEST_SAY:-} ]] || both=(env "LD_PRELOAD=$GNNMG_TEST_SAY" "${both[@]}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
accuracy() { sed -nE 's/.*test +accuracy (0\.[0-9]+|1\.0+).*/\1/p' "$1" | tail -n 1; }
status=0
"${alone[@]}" "${both[@]}" "${cpu[@]}" >cpu 2>&1 || status=$?
((status == 0)) || { cat cpu && ((status == 77)) && exit 77 || exit 1; }
! grep "training on GPU" cpu || { echo "which was to be the CPU's" && exit 1; }
"${run[@]}" "${both[@]}" "${gpu[@]}" 2>&1 | tee gpu || status=$? # shows the output so far of a program that hangs
((status == 0)) || { echo "it ended with $status" && exit 1; }
[[ $(<gpu) =~ $expected ]] || { echo "expected: $expected" && exit 1; }
echo "on the CPU: $(accuracy cpu), on GPUs: $(accuracy gpu)"
awk -v a="$(accuracy cpu)" -v b="$(accuracy gpu)" 'BEGIN { exit !(a > 0.2 && b > 0.2 && a - b < 0.03 && b - a < 0.03) }'

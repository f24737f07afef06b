#!/usr/bin/env bash
# All tests of GPUs on a machine with two or more: those of run.sh, then NCCL among them in threads and processes, processes
# that are killed and stopped, trainings of several processes, the speed of an all-reduce, and the speed-up of a training on 2,
# 4, ... GPUs. Prints rows for the README's table of hardware. Fails, and does not skip, if there are fewer GPUs than requested.
#   tests/gpu/multi.sh [--gpus N] [--build FOLDER] [--rows FILE] [run.sh's options]
#
#   --gpus N          number of GPUs that must exist and are used; default all, at least 2
#   --build FOLDER    build folder; build/gpu
#   --rows FILE       writes the rows there as well
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

gpus= build=build/gpu rows= pass=()
while (($#)); do
  case $1 in
    --gpus) gpus=$2 && shift 2 ;;
    --build) build=$2 && shift 2 ;;
    --rows) rows=$2 && shift 2 ;;
    --prefix | --results | --only | --match | --limit) pass+=("$1" "$2") && shift 2 ;;
    --sanitize | --bench | --without-data) pass+=("$1") && shift ;;
    *) sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2 ;;
  esac
done

command -v nvidia-smi >/dev/null || { echo "multi.sh: no nvidia-smi, hence no NVIDIA driver and no GPU: nothing was run" >&2 && exit 1; }
there=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
[[ ${gpus:=$there} =~ ^[0-9]+$ ]] || { echo "multi.sh: --gpus $gpus: expected a number" >&2 && exit 2; }
if ((gpus < 2 || there < gpus)); then
  echo "multi.sh: this machine has $there GPUs, $((gpus < 2 ? 2 : gpus)) are needed: nothing was run" >&2
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0

# Each result has a word for the table. A skipped test has shown nothing, so it counts as failed.
declare -a names=() results=()
note() { # <name> <result>
  names+=("$1")
  results+=("$2")
  [[ $2 == passed* ]] || status=1
}
program() { # <row's name> <program> [arguments]
  local name=$1 rc=0
  shift
  command -v "$1" >/dev/null || { note "$name" "not built" && return; }
  GNNMG_TEST_GPUS=$gpus timeout 1800 "$@" 2>&1 | tee "$log" || rc=$?
  if ((rc == 77)) || grep -qE '^\[  SKIPPED \]|\*\*\*Skipped' "$log"; then
    note "$name" "skipped"
  elif ((rc)); then
    note "$name" "failed ($rc)"
  else
    note "$name" "passed$(sed -n 's/^\[ FIGURE   \] \(.*\)/; \1/p' "$log" | tr -d '\n')"
  fi
}

if bash tests/gpu/run.sh --build "$build" "${pass[@]}"; then
  note "kernels, mini-batches, models, trainings and programs (run.sh)" passed
else
  note "kernels, mini-batches, models, trainings and programs (run.sh)" failed
fi
cmake --build "$build" --target gpu_tests comm_nccl_member -j "$(nproc)"
program "NCCL among GPUs in threads" "$build/tests/gpu/gpu_nccl_test"
program "caches split over GPUs" "$build/tests/gpu/gpu_train_test" --gtest_filter=DeviceEquality.CachesThatAreSplit
program "a program of two ranks on two GPUs, unchanged" \
  ctest --test-dir "$build" -R '^gpu_program_node_classification$' --verbose --no-tests=error
captured=(DoubleWithAdam SingleWithSgd UnevenPlans ReportsAndEvaluations)
program "captured steps on several GPUs of a process: the CPU's curves" "$build/tests/gpu/gpu_capture_test" \
  "--gtest_filter=$(IFS=: && echo "${captured[*]/#/DeviceCapture.}")"
shown() { program "$1" "$build/tests/gpu/gpu_multi_test" "--gtest_filter=GpuMulti.$2"; }
shown "NCCL among GPUs in threads, processes and both: every collective" EveryCollectiveInThreadsAndProcesses
shown "a killed process is named while kernels wait" AKilledProcessIsNamedByAll
shown "a stopped process is named by the deadline" AStoppedProcessIsNamedByTheDeadline
shown "abort and cancel while kernels wait" AbortAndCancelAreHeardWhileKernelsWait
shown "one GPU in two processes is refused" OneGpuInTwoProcessesIsRefusedByBoth
program "training of several processes, a killed one, and the same bits after it" \
  bash tests/gpu/job.sh "$build/examples/c/train" "$gpus"
shown "bandwidth of the all-reduce" BandwidthOfTheAllReduce
program "one training on 1, 2, 4, ... GPUs of a process: equal losses" \
  bash tests/gpu/ranks.sh "$build/examples/c/train" "$gpus" 500000
machine="$gpus x $(nvidia-smi --query-gpu=name --format=csv,noheader | sed -n 1p), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | sed -n 1p)"
{
  echo "| feature | how it is tested | last run |"
  echo "|---|---|---|"
  for i in "${!names[@]}"; do
    printf '| %s | `tests/gpu/multi.sh` | %s, %s, commit %s: %s |\n' "${names[i]}" "$(date -u +%F)" "$machine" \
      "$(git describe --always --dirty)" "${results[i]}"
  done
} | tee "${rows:-/dev/null}"
exit $status

#!/usr/bin/env bash
# What run.sh and multi.sh make of a machine and of what its tests say: with commands in place of nvidia-smi, cmake, ctest,
# git and python3 that note how they were called. No GPU, and nothing is built.
#   scripts_test.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
mkdir -p "$world/bin" "$world/tree/tests/gpu" "$world/tree/build/gpu/tests/gpu"
cp "$here"/*.sh "$world/tree/tests/gpu"
export WORLD=$world PATH=$world/bin:$PATH GPUS=1 SAID=passed

put() { # <path>: a program, from standard input
  cat >"$1"
  chmod +x "$1"
}
put "$world/bin/nvidia-smi" <<'STUB'
#!/usr/bin/env bash
for ((i = 0; i < GPUS; i++)); do
  case $* in
    *compute_cap*) echo 9.0 ;;
    *name,driver_version*) echo "A GPU, 580.1, 81559 MiB, 700.00 W, 1980 MHz" ;;
    *driver_version*) echo 580.1 ;;
    *) echo "A GPU" ;;
  esac
done
STUB
put "$world/bin/cmake" <<'STUB'
#!/usr/bin/env bash
echo "cmake $*" >>"$WORLD/called"
STUB
put "$world/bin/ctest" <<'STUB'
#!/usr/bin/env bash
echo "ctest $*" >>"$WORLD/called"
echo "[ FIGURE   ] a figure of a test"
echo "1/1 Test #1: gpu_nn_test ......... $([[ $SAID == skipped ]] && echo '***Skipped' || echo Passed)"
echo "100% tests passed"
[[ $SAID != failed ]]
STUB
put "$world/bin/python3" <<'STUB'
#!/usr/bin/env bash
echo "python3 $*" >>"$WORLD/called"
while (($#)); do [[ $1 != --output ]] || echo "| 12 | a bar |" >>"$2"; shift; done
[[ $SAID != slow ]]
STUB
put "$world/bin/compute-sanitizer" <<'STUB'
#!/usr/bin/env bash
[[ $* != --help ]] || { echo "  --check-api-memory-access arg (=1)" && seq 100000 && exit; }
echo "$2 of ${*: -1} (${*:3:$#-3}): $GTEST_FILTER" >>"$WORLD/called"
echo "SUMMARY: 0 errors"
[[ $SAID != failed ]]
STUB
put "$world/bin/git" <<'STUB'
#!/usr/bin/env bash
echo v1-2-gabcdef
STUB
put "$world/tree/build/gpu/tests/gpu/gpu_nccl_test" <<'STUB'
#!/usr/bin/env bash
echo "[ FIGURE   ] 12 ms"
STUB
cp "$world/tree/build/gpu/tests/gpu/gpu_nccl_test" "$world/tree/build/gpu/tests/gpu/gpu_train_test"
for program in gpu_capture_test gpu_full_test gpu_lost_test gpu_multi_test; do
  put "$world/tree/build/gpu/tests/gpu/$program" <<'STUB'
#!/usr/bin/env bash
echo "${0##*/} $*" >>"$WORLD/called"
STUB
done
for script in ranks job; do
  put "$world/tree/tests/gpu/$script.sh" <<'STUB'
#!/usr/bin/env bash
echo "${0##*/} $*" >>"$WORLD/called"
STUB
done

wrong() { echo "scripts_test.sh: $1" && sed 's/^/  /' "$world/out" "$world/called" && exit 1; }
# called <expected exit code> <script> [<argument>...]
called() {
  local expected=$1 rc=0
  : >"$world/called"
  (cd "$world/tree" && bash "tests/gpu/$2" "${@:3}") >"$world/out" 2>&1 || rc=$?
  ((rc == expected)) || wrong "${*:2} with $GPUS GPUs that said $SAID ended with $rc, expected $expected"
}
has() { grep -qF -- "$2" "$1" || wrong "expected: $2"; }
has_not() { ! grep -qF -- "$2" "$1" || wrong "not expected: $2"; }

called 0 run.sh --results "$world/results"
has "$world/called" "-DCMAKE_CUDA_ARCHITECTURES=90-real"
has "$world/called" "ctest --test-dir build/gpu -L ^gpu$"
has_not "$world/called" gpu.py
for line in "commit v1-2-gabcdef" "A GPU, 580.1" "gpu_nn_test" "a figure of a test"; do has "$world/results" "$line"; done
called 0 run.sh --only bench --results "$world/results"
has "$world/called" "gpu.py --bench build/gpu/tests/bench/gpu/bench_gpu --check"
has_not "$world/called" ctest
has "$world/results" "| 12 | a bar |"
has "$world/results" "gpu_nn_test" # what was there stays
echo "-Of.Two" >"$world/tree/build/gpu/tests/gpu/gpu_train_test.filter"
called 0 run.sh --only sanitize
program=build/gpu/tests/gpu/gpu_train_test
has "$world/called" "memcheck of $program (--report-api-errors no --error-exitcode 9): -Of.Two"
has "$world/called" "initcheck of $program (--check-api-memory-access no --error-exitcode 9): -Of.Two"
for tool in racecheck synccheck; do has "$world/called" "$tool of $program (--error-exitcode 9): -Of.Two"; done
has "$world/called" "racecheck of build/gpu/tests/gpu/gpu_nccl_test (--error-exitcode 9): *"
for program in gpu_full_test gpu_lost_test gpu_multi_test; do has_not "$world/called" $program; done
SAID=failed called 1 run.sh --only sanitize
called 0 run.sh --bench
has "$world/called" gpu.py
SAID=skipped called 1 run.sh
SAID=failed called 1 run.sh
SAID=slow called 1 run.sh --bench
called 2 run.sh --what

called 1 multi.sh
has "$world/out" "this machine has 1 GPUs, 2 are needed"
GPUS=2 called 0 multi.sh --rows "$world/rows"
has "$world/called" "gpu_capture_test --gtest_filter=DeviceCapture.DoubleWithAdam:DeviceCapture.SingleWithSgd:"
has "$world/rows" "| captured steps on several GPUs of a process: the CPU's curves | "
has "$world/called" "job.sh build/gpu/examples/c/train 2"
has "$world/called" "ranks.sh build/gpu/examples/c/train 2 500000"
has "$world/rows" "2 x A GPU, driver 580.1, commit v1-2-gabcdef: passed; 12 ms |"
GPUS=2 SAID=failed called 1 multi.sh
has "$world/out" "(run.sh) | "
has "$world/out" ": failed |"
rm "$world/bin/nvidia-smi"
if ! command -v nvidia-smi >/dev/null; then
  called 1 run.sh
  has "$world/out" "no NVIDIA driver"
fi

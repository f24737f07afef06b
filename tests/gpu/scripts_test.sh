#!/usr/bin/env bash
# Tests how run.sh and multi.sh treat a machine and the output of its tests, with fake nvidia-smi, cmake, ctest, git and python3
# that record their calls. No GPU, and nothing is built.
#   scripts_test.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
mkdir -p "$world/bin" "$world/tree/tests/gpu" "$world/tree/build/gpu/tests/gpu"
cp "$here"/*.sh "$world/tree/tests/gpu"
export WORLD=$world PATH=$world/bin:$PATH GPUS=1 SAID=passed KERNELS=--kernel-name

put() { # <path>: writes a program from standard input
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
[[ $* != --help ]] || { echo "  --check-api-memory-access arg (=1) $KERNELS" && seq 100000 && exit; }
echo "$2 of ${*: -1} (${*:3:$#-3}): $GTEST_FILTER" >>"$WORLD/called"
[[ $SAID != slow ]] || exec sleep 20
[[ $SAID != crashed ]] || exit 134
echo "SUMMARY: 0 errors"
[[ $SAID != failed ]] || exit 9
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
has "$world/results" "gpu_nn_test" # earlier lines stay
sanitizing=build/gpu/tests/gpu
echo "-Of.Two" >"$world/tree/$sanitizing/gpu_train_test.filter"
echo "Timed.*" >"$world/tree/$sanitizing/gpu_train_test.timed"
cp "$world/tree/$sanitizing/gpu_train_test.timed" "$world/tree/$sanitizing/gpu_capture_test.timed"
called 0 run.sh --only sanitize --results "$world/sanitized"
program=$sanitizing/gpu_train_test kernels="--kernel-name kns=gnnmg"
has "$world/called" "memcheck of $program (--report-api-errors no $kernels --error-exitcode 9): -Of.Two:Timed.*"
has "$world/called" "initcheck of $program (--check-api-memory-access no --error-exitcode 9): -Of.Two:Timed.*"
for tool in racecheck synccheck; do has "$world/called" "$tool of $program ($kernels --error-exitcode 9): -Of.Two:Timed.*"; done
has "$world/called" "racecheck of $sanitizing/gpu_nccl_test ($kernels --error-exitcode 9): *"
has "$world/called" "racecheck of $sanitizing/gpu_capture_test ($kernels --error-exitcode 9): *-Timed.*"
for program in gpu_full_test gpu_lost_test gpu_multi_test; do has_not "$world/called" $program; done
for program in gpu_nccl_test gpu_train_test; do
  for tool in memcheck racecheck initcheck synccheck; do has "$world/sanitized" "SANITIZED $tool $program: clean"; done
done
KERNELS=--kernel-regex called 0 run.sh --only sanitize
has "$world/called" "racecheck of $sanitizing/gpu_nccl_test (--kernel-regex kns=gnnmg --error-exitcode 9): *"
KERNELS= called 0 run.sh --only sanitize
has "$world/called" "racecheck of $sanitizing/gpu_nccl_test (--error-exitcode 9): *"
# The result of each is reported, also when time runs out.
for said in "failed:findings:60" "crashed:failed 134:60" "slow:timed out:1"; do
  IFS=: read -r how words limit <<<"$said"
  SAID=$how called 1 run.sh --only sanitize --match nccl --limit "$limit" --results "$world/sanitized"
  has "$world/sanitized" "SANITIZED racecheck gpu_nccl_test: $words"
done
called 0 run.sh --without-data --results "$world/dataless"
has "$world/called" "-E ^gpu_program_accuracy_real$"
has "$world/dataless" '`gpu_program_accuracy_real` was left out'
has_not "$world/results" "left out"
called 0 run.sh --bench
has "$world/called" gpu.py
SAID=skipped called 1 run.sh
SAID=failed called 1 run.sh
SAID=slow called 1 run.sh --bench
called 2 run.sh --what

# A package: each part has a verdict, whatever happens to it, at once and at the end.
packed=$world/packed
mkdir -p "$packed/build/gpu" "$packed/tests/gpu" "$packed/data" "$world/package" "$world/site/torch/lib" "$world/site/nvidia/cu13/lib"
echo "__version__ = '2.11.0+cu130'" >"$world/site/torch/version.py"
echo v3 >"$packed/commit"
for name in table loader nn train nccl capture full lost; do
  printf 'gpu_%s_test\t60\tenv A=b %s gpu_%s_test\n' $name @HERE@/say.sh $name
done >"$packed/build/gpu/tests.tsv"
for name in gpu train exit accuracy_real; do
  printf 'gpu_program_%s\t60\tenv A=b %s gpu_program_%s\n' $name @HERE@/say.sh $name
done >>"$packed/build/gpu/tests.tsv"
put "$packed/say.sh" <<'STUB'
#!/usr/bin/env bash
echo "ran $* with $LD_LIBRARY_PATH" >>"$WORLD/called"
set -- "$1" "" "${@:2}"
case $1 in
  gpu_loader_test) echo "x.cpp:1: Failure" && exit 1 ;;
  gpu_nn_test) echo "skipped: no driver, hence no GPU" && exit 77 ;;
  gpu_train_test) kill -KILL $$ ;;
  gpu_nccl_test) [[ $SAID != slow ]] || sleep 30 ;;
  gpu_capture_test) # GoogleTest does this: the first failure ends it on request
    for name in Case.Passes Case.Fails Case.Crashes Case.Hangs Case.Last; do
      [[ :${3##*-}: != *:$name:* ]] || continue
      echo "[ RUN      ] $name"
      case $name in
        Case.Fails) echo "[  FAILED  ] $name (1 ms)" && [[ $3 == --gtest_filter=* && $4 == --gtest_fail_fast ]] && exit 1 ;;
        Case.Crashes) kill -SEGV $$ ;;
        Case.Hangs) sleep 30 ;;
      esac
      echo "[       OK ] $name (1 ms)"
    done
    exit 0
    ;;
esac
echo "[ FIGURE   ] of $1"
STUB
tar -C "$packed" -czf "$world/package/gnnmg-gpu.tar.gz" .
put "$world/bin/python3" <<'STUB'
#!/usr/bin/env bash
[[ $1 != -c ]] || { printf '%s\n' "$WORLD/site/torch" "$WORLD/site/nvidia" && exit; }
echo "python3 $*" >>"$WORLD/called"
[[ $* != *--check* || $SAID != slow ]]
STUB
rm -f "$world/lit"
called 1 run.sh --from "$world/package" --light first --results "$world/lit" --log "$world/log" --silence 3
for line in "gpu_table_test: passed" "gpu_loader_test: failed 1" "gpu_nn_test: skipped (skipped: no driver, hence no GPU)" \
  "gpu_train_test: failed" "gpu_nccl_test: passed" "gpu_capture_test: failed in 3 of 5 cases" "bench_short: passed" "sanitizer_accepts_gpu: passed" "memcheck_gpu_table_test: passed"; do
  has "$world/out" "VERDICT $line"
  has "$world/lit" "VERDICT $line"
done
has "$world/out" "x.cpp:1: Failure"
for line in "case that failed Case.Fails" "case that died Case.Crashes" "case that died Case.Hangs"; do has "$world/lit" "$line"; done
has "$world/called" "ran gpu_capture_test --gtest_filter=*-Case.Passes:Case.Fails:Case.Crashes:Case.Hangs --gtest_fail_fast"
has "$world/log" "[       OK ] Case.Last"
has "$world/log" "the process ended with 125, for it printed nothing for 3 s"
has "$world/lit" "of gpu_table_test"
has "$world/lit" "commit v3"
has "$world/called" "build/gpu/lib:$world/site/torch/lib:$world/site/nvidia/cu13/lib"
has_not "$world/called" cmake
SAID=slow called 1 run.sh --from "$world/package" --light first --match 'nccl|capture' --budget 6
has "$world/out" "VERDICT gpu_nccl_test: timed out"
has "$world/out" "VERDICT gpu_capture_test: not run, for the time was over"
called 0 run.sh --from "$world/package" --light second
for tool in racecheck initcheck synccheck; do has "$world/out" "VERDICT ${tool}_gpu_table_test: passed"; done
SAID=crashed called 1 run.sh --from "$world/package" --light first --match memcheck
has "$world/out" "VERDICT memcheck_gpu_table_test: not run, for compute-sanitizer does not work here"
SAID=slow called 1 run.sh --from "$world/package" --only bench
for light in "" "--light first"; do
  called 0 run.sh --from "$world/package" $light --match nccl
  has "$world/called" gpu_nccl_test
  has_not "$world/called" gpu_table_test
done
for option in --from --prefix; do
  called 1 run.sh $option "$world/nowhere"
  has "$world/out" "there is no folder $world/nowhere"
done
called 2 run.sh --light first
called 2 run.sh --from "$world/package" --light third
echo "__version__ = '2.10.0+cu128'" >"$world/site/torch/version.py"
called 1 run.sh --from "$world/package" --light first
has "$world/out" "torch is 2.10.0+cu128: expected 2.11 for CUDA 13"

# A program that succeeds may warn about the machine on a real one, and print nothing else.
put "$world/bin/ends" <<'STUB'
#!/usr/bin/env bash
[[ -z $WORDS ]] || echo "$WORDS" >&2
exit "$CODE"
STUB
ends() { # <expected exit code> <the program's> <its words> [<kind>]
  local rc=0
  WORDS=$3 CODE=$2 bash "$here/../capi/exit_test.sh" "$world/bin/ends" "${@:4}" >"$world/out" 2>&1 || rc=$?
  ((rc == $1)) || wrong "exit_test.sh ${*:4}: exit code $2, words '$3' came to $rc, expected $1"
}
warning="[W1124 09:00:00.000000000 Context.cpp:1] Warning: an error in some setting (function check)"
ends 0 7 "" real
ends 0 7 "$warning" real
ends 1 7 "$warning"
ends 1 7 "$warning"$'\nterminate called without an active exception' real
ends 1 7 "gnnmg_trainer_free: ..." real
ends 1 1 "" real

# A program on the CPU, which sees no GPU, and on a GPU, which reports that it trains there.
put "$world/bin/trains" <<'STUB'
#!/usr/bin/env bash
[[ ${CUDA_VISIBLE_DEVICES-all} == "" ]] && place="the CPU" || place="GPU 0"
[[ $SAID != blind ]] || place="the CPU"
[[ $SAID != both ]] || place="GPU 0"
echo "log: training on $place"
echo "test accuracy 0.9"
STUB
same() { # <expected exit code>
  local rc=0
  bash "$here/../fake_machine/same.sh" "log: training on GPU 0" libgnnmg.so real none "$world/bin/trains" >"$world/out" 2>&1 || rc=$?
  ((rc == $1)) || wrong "same.sh with a program that is $SAID ended with $rc, expected $1"
}
same 0
SAID=blind same 1
SAID=both same 1

called 1 multi.sh
has "$world/out" "this machine has 1 GPUs, 2 are needed"
GPUS=2 called 0 multi.sh --rows "$world/rows"
has "$world/called" "gpu_capture_test --gtest_filter=DeviceCapture.DoubleWithAdam:DeviceCapture.SingleWithSgd:"
has "$world/rows" "| captured steps on several GPUs of a process: the CPU's curves | "
has "$world/called" "ctest --test-dir build/gpu -R ^gpu_program_node_classification$"
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

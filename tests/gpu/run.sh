#!/usr/bin/env bash
# Builds the plug-in and runs what needs a GPU, on a machine with one, from what lies in the tree: nothing is fetched.
#   tests/gpu/run.sh [--prefix FOLDER] [--build FOLDER] [--results FILE] [--sanitize] [--bench] [--only PARTS] [--match WORDS]
#                    [--without-data] [--limit SECONDS]
#
#   --prefix FOLDER   where include/ and lib/ hold what the machine lacks of GoogleTest, zlib, OpenSSL, nlohmann-json and
#                     Gloo's headers, as Debian's packages unpack (usr/ of them); may be given several times
#   --build FOLDER    build folder; build/gpu
#   --results FILE    appends machine, date, commit and what each part said, as docs/gpu-results.md has them
#   --sanitize        each test again under compute-sanitizer's four tools
#   --bench           the bars of speed as well, beside PyTorch Geometric where python3 has it (tests/bench/gpu.py)
#   --only PARTS      of build, tests, sanitize and bench, with commas; where one call may not take long. Where LibTorch's
#                     and CUDA's versions stay, what is built stays, too
#   --match WORDS     of tests, those whose names match this regular expression, as in 'nn_|train_'; to the same end
#   --without-data    leaves out the accuracy on data sets, for machines without them; the results say so
#   --limit SECONDS   of a test program under one of compute-sanitizer's tools; 900
#
# LibTorch is GNNMG_TORCH_DIR's, or that of the python3 on PATH; nvcc is the one on PATH, or the wheels'. GNNMG_DATA is the
# folder with Coauthor Physics, Amazon Photo and IMDB-BINARY, without which the test of their accuracy is skipped. What is
# skipped was not shown: it ends with 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

prefixes=() build=build/gpu results= sanitize=0 bench=0 only= match= without=() limit=900
while (($#)); do
  case $1 in
    --prefix) prefixes+=("$(cd "$2" && pwd)") && shift 2 ;;
    --build) build=$2 && shift 2 ;;
    --results) results=$2 && shift 2 ;;
    --sanitize) sanitize=1 && shift ;;
    --bench) bench=1 && shift ;;
    --only) only=$2 && shift 2 ;;
    --match) match=$2 && shift 2 ;;
    --without-data) without=(-E '^gpu_program_accuracy_real$') && shift ;;
    --limit) limit=$2 && shift 2 ;;
    *) sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2 ;;
  esac
done

parts=,${only:-build,tests},
((sanitize)) && parts+=sanitize,
((bench)) && parts+=bench,
part() { [[ $parts == *,$1,* ]]; }

command -v nvidia-smi >/dev/null || { echo "run.sh: no nvidia-smi, hence no NVIDIA driver and no GPU" >&2 && exit 1; }
gpus=$(nvidia-smi --query-gpu=name,driver_version,memory.total,power.limit,clocks.max.sm --format=csv,noheader)
# This machine's GPUs alone are compiled for, which halves the time.
architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | sort -u | sed 's/[^0-9]//g; s/$/-real/' | paste -sd ';')
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for prefix in "${prefixes[@]}"; do
  CPATH=$prefix/include:$prefix/include/x86_64-linux-gnu${CPATH:+:$CPATH}
  LIBRARY_PATH=$prefix/lib/x86_64-linux-gnu:$prefix/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
  LD_LIBRARY_PATH=$prefix/lib/x86_64-linux-gnu:$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export CPATH LIBRARY_PATH LD_LIBRARY_PATH
done
[[ ! -x /usr/local/cuda/bin/nvcc ]] || export PATH=$PATH:/usr/local/cuda/bin # where toolkits lie; compute-sanitizer, too
joined=$(IFS=';' && echo "${prefixes[*]}")
status=0
if part build; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGNNMG_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$architectures" \
    -DCMAKE_PREFIX_PATH="$joined"
  cmake --build "$build" --target gpu_tests bench_gpu -j "$(nproc)"
fi
if part tests; then
  ctest --test-dir "$build" -L '^gpu$' ${match:+-R "$match"} "${without[@]}" --timeout 900 --verbose --no-tests=error | tee "$log" || status=1
  if grep -q '\*\*\*Skipped' "$log"; then
    echo "run.sh: a test was skipped, so not everything was run (without the data sets: --without-data)" >&2
    status=1
  fi
fi
# cases <program>: its tests that hold on one GPU, without those that look at a clock, which the tools slow down.
cases() {
  local filter='*'
  [[ ! -e $1.filter ]] || filter=$(<"$1.filter")
  filter=${GTEST_FILTER:-$filter}
  if [[ -e $1.timed ]]; then
    [[ $filter == *-* ]] && filter+=: || filter+=-
    filter+=$(<"$1.timed")
  fi
  echo "$filter"
}
# sanitized <program>: under each tool, a line of what came of it; fails unless all are clean.
sanitized() {
  local tool bad=0 options option rc said help
  help=$(compute-sanitizer --help 2>&1) || true
  for tool in memcheck racecheck initcheck synccheck; do # racecheck looks at shared memory
    options=()
    case $tool in
      memcheck) options=(--report-api-errors no) ;; # which some tests provoke
      initcheck)
        # Tests read gathered rows together with what lies between them, which nobody wrote and nobody looks at. All kernels
        # are watched, since of what others write it has to know.
        [[ $help != *--check-api-memory-access* ]] || options=(--check-api-memory-access no)
        ;;
    esac
    # Our kernels alone: thousands of LibTorch's and cuBLAS's take hours. The option was renamed.
    if [[ $tool != initcheck ]]; then
      for option in --kernel-name --kernel-regex; do
        [[ $help == *$option* ]] && options+=("$option" kns=gnnmg) && break
      done
    fi
    # Each allocation is the driver's own, so that what lies beside it is not LibTorch's cache.
    rc=0
    PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync GTEST_FILTER=$(cases "$1") timeout --kill-after 30 "$limit" \
      compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 "$1" >"$log.tool" 2>&1 || rc=$?
    case $rc in
      0) said=clean ;;
      9) said=findings ;;
      124 | 137) said="timed out" ;;
      *) said="failed $rc" ;;
    esac
    if [[ $said == clean ]]; then
      grep SUMMARY "$log.tool" || true
    else
      bad=1
      tail -n 30 "$log.tool"
    fi
    echo "SANITIZED $tool ${1##*/}: $said"
    rm -f "$log.tool"
  done
  return $bad
}
if part sanitize; then
  for program in "$build"/tests/gpu/gpu_*_test; do
    [[ $program != *gpu_multi_test ]] || continue         # of several GPUs
    [[ $program != *gpu_@(full|lost)_test ]] || continue # of errors that a tool would find
    [[ ${program##*/} =~ $match ]] || continue
    sanitized "$program" | tee -a "$log" || status=1
  done
fi
table=$(mktemp)
trap 'rm -f "$log" "$table"' EXIT
if part bench; then
  python3 tests/bench/gpu.py --bench "$build/tests/bench/gpu/bench_gpu" --check --output "$table" || status=1
fi

if [[ -n $results ]]; then
  {
    printf '\n## %s, commit %s\n\n' "$(date -u +%F)" "$(git describe --always --dirty 2>/dev/null || echo unknown)"
    printf 'By `tests/gpu/run.sh`%s%s. GPUs (name, driver, memory, power limit, most clock): %s\n' \
      "${only:+, parts $only}" "${match:+, those of $match}" "$(paste -sd ';' <<<"$gpus")"
    ((${#without[@]} == 0)) || printf '\nWithout the data sets: `gpu_program_accuracy_real` was left out.\n'
    if [[ -s $log ]]; then
      printf '\n```\n'
      grep -E 'Test +#|tests passed|SANITIZED|FIGURE' "$log" || true
      printf '```\n'
    fi
    cat "$table"
  } >>"$results"
fi
exit $status

#!/usr/bin/env bash
# Builds the plug-in and runs what needs a GPU, on a machine with one, from what lies in the tree: nothing is fetched.
#   tests/gpu/run.sh [--from PACKAGE] [--prefix FOLDER] [--build FOLDER] [--results FILE] [--sanitize] [--bench] [--only PARTS]
#                    [--match WORDS] [--without-data] [--limit SECONDS]
#   tests/gpu/run.sh --from PACKAGE --light first|second [--results FILE] [--budget SECONDS]
#
#   --from PACKAGE    builds nothing: runs what tests/gpu/pack.sh has packed, by LibTorch and CUDA of python3's torch
#   --light first     of a package, what shows most in a few minutes, in order of worth: the tests, two programs, captured
#                     steps, a short bench, memcheck. Each part has a limit of its own, and what hangs is killed
#   --light second    the other tools of compute-sanitizer, all bars of speed, accuracy on data sets
#   --budget SECONDS  of all parts of --light together; 540
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

prefixes=() build=build/gpu results= sanitize=0 bench=0 only= match= without=() limit=900 package= light= budget=540
while (($#)); do
  case $1 in
    --from) package=$(cd "$2" && pwd) && shift 2 ;;
    --light) light=$2 && shift 2 ;;
    --budget) budget=$2 && shift 2 ;;
    --prefix) prefixes+=("$(cd "$2" && pwd)") && shift 2 ;;
    --build) build=$2 && shift 2 ;;
    --results) results=$(realpath -m "$2") && shift 2 ;;
    --sanitize) sanitize=1 && shift ;;
    --bench) bench=1 && shift ;;
    --only) only=$2 && shift 2 ;;
    --match) match=$2 && shift 2 ;;
    --without-data) without=(-E '^gpu_program_accuracy_real$') && shift ;;
    --limit) limit=$2 && shift 2 ;;
    *) sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2 ;;
  esac
done

case $light in
  '' | first | second) ;;
  *) echo "run.sh: --light $light: expected first or second" >&2 && exit 2 ;;
esac
[[ -z $light || -n $package ]] || { echo "run.sh: --light is of a package: --from is missing" >&2 && exit 2; }
parts=,${only:-build,tests},
((sanitize)) && parts+=sanitize,
((bench)) && parts+=bench,
part() { [[ $parts == *,$1,* ]]; }

log=$(mktemp) table=$(mktemp) unpacked=$(mktemp -d)
trap 'rm -rf "$log" "$table" "$unpacked"' EXIT
gpus="none: no nvidia-smi, hence no NVIDIA driver" architectures=
if command -v nvidia-smi >/dev/null; then
  gpus=$(nvidia-smi --query-gpu=name,driver_version,memory.total,power.limit,clocks.max.sm --format=csv,noheader)
  # This machine's GPUs alone are compiled for, which halves the time.
  architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | sort -u | sed 's/[^0-9]//g; s/$/-real/' | paste -sd ';')
elif [[ -z $package ]]; then
  echo "run.sh: no nvidia-smi, hence no NVIDIA driver and no GPU" >&2 && exit 1
fi
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)

if [[ -n $package ]]; then
  tar -xzf "$package/gnnmg-gpu.tar.gz" -C "$unpacked"
  cd "$unpacked"
  commit=$(<commit) build=build/gpu parts=${parts/,build,/,}
  torch=$(python3 -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")')
  [[ -n $torch ]] || { echo "run.sh: python3 has no torch" >&2 && exit 1; }
  version=$(sed -nE "s/^__version__ = ['\"](.*)['\"]/\1/p" "$torch/version.py")
  [[ $version == 2.11.*cu13* ]] || { echo "run.sh: python3's torch is $version: expected 2.11 for CUDA 13" >&2 && exit 1; }
  folders=$PWD/build/gpu:$PWD/build/gpu/lib:$torch/lib
  for folder in "$torch"/../nvidia/*/lib; do folders+=:$(cd "$folder" && pwd); done
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folders
  export GNNMG_TEST_PLUGIN=${GNNMG_TEST_PLUGIN:-$PWD/build/gpu/libgnnmg_cuda.so} GNNMG_DATA=$PWD/data GNNMG_ACCURACY_SETS
  GNNMG_ACCURACY_SETS=$(ls data | paste -sd ' ')
fi

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
if [[ -n $results ]]; then
  printf '\n## %s, commit %s\n\nBy `tests/gpu/run.sh`%s%s%s. GPUs (name, driver, memory, power limit, most clock): %s\n' \
    "$(date -u +%F)" "$commit" "${light:+ --light $light}" "${only:+, parts $only}" "${match:+, those of $match}" \
    "$(paste -sd ';' <<<"$gpus")" >>"$results"
fi

# verdict <name> <word> <seconds> <what it said>: told at once, and kept for the end.
verdicts=()
verdict() {
  verdicts+=("$1" "$2")
  cp "$4" "$unpacked/$1.said"
  [[ $2 == passed ]] || status=1
  echo "VERDICT $1: $2, $3 s" | tee -a "$log"
  [[ -z $results ]] || { echo "VERDICT $1: $2, $3 s" && grep -E 'FIGURE|^\|' "$4" || true; } >>"$results"
}
# piece <name> <seconds> <command>...: runs it for so long at most, and within what is left of the budget of --light.
piece() {
  local name=$1 limit=$2 begin=$SECONDS rc=0 word
  shift 2
  [[ -z $light ]] || ((limit <= budget - SECONDS)) || limit=$((budget - SECONDS))
  if ((limit < 3)); then
    : >"$unpacked/said"
    verdict "$name" "not run, for the time was over" 0 "$unpacked/said"
    return
  fi
  timeout --kill-after 5 "$limit" "$@" </dev/null >"$unpacked/said" 2>&1 || rc=$?
  case $rc in
    0) word=passed ;;
    77) word="skipped ($(grep -m 1 -oE 'skipped: .*|no driver, hence no GPU' "$unpacked/said" || true))" ;;
    124) word="timed out" ;;
    137) ((SECONDS - begin < limit)) && word="failed 137" || word="timed out" ;; # killed, by somebody or for the time
    *) word="failed $rc" ;;
  esac
  verdict "$name" "$word" $((SECONDS - begin)) "$unpacked/said"
}
# packed <test> [<seconds>]: one of the package's, for as long as it may take.
packed() {
  local line
  line=$(grep "^$1"$'\t' "$build/tests.tsv") || { echo "run.sh: the package has no $1" >&2 && exit 1; }
  piece "$1" "${2:-$(cut -f2 <<<"$line")}" bash -c "$(cut -f3 <<<"${line//@HERE@/$PWD}")"
}
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
# sanitized <program> [<tool>...]: under each tool, a line of what came of it; fails unless all are clean.
sanitized() {
  local tool bad=0 options option rc said help tools=("${@:2}")
  ((${#tools[@]})) || tools=(memcheck racecheck initcheck synccheck)
  help=$(compute-sanitizer --help 2>&1) || true
  for tool in "${tools[@]}"; do # racecheck looks at shared memory
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
# sanitize <tool> <test>: as a verdict.
sanitize() {
  local begin=$SECONDS word=passed
  ((limit = budget - SECONDS))
  ((limit >= 3)) || { piece "$1_$2" 0 && return; }
  sanitized "$build/tests/gpu/$2" "$1" >"$unpacked/said" 2>&1 || word=failed
  verdict "$1_$2" "$word" $((SECONDS - begin)) "$unpacked/said"
}
bench() { # <name> <seconds> <argument>...
  piece "$1" "$2" python3 tests/bench/gpu.py --bench "$build/tests/bench/gpu/bench_gpu" "${@:3}"
}
accepts_tools() {
  piece sanitizer_accepts_gpu 30 compute-sanitizer --tool memcheck --error-exitcode 9 "$build/tests/gpu/gpu_one_kernel"
  [[ ${verdicts[-1]} == passed ]]
}

if [[ $light == first ]]; then
  piece facts 20 bash -c 'nvidia-smi; nvcc --version; python3 --version; uname -a; nproc; ldd --version | head -1'
  packed gpu_table_test 150
  packed gpu_loader_test 60
  packed gpu_nn_test 60
  packed gpu_train_test 90
  packed gpu_nccl_test 40
  packed gpu_program_gpu 30
  packed gpu_program_train 45
  packed gpu_capture_test 90
  bench bench_epochs 90 --rounds 1 --only epochs
  bench bench_rows 90 --rounds 1 --only sampling,gathers,means
  ! accepts_tools || sanitize memcheck gpu_table_test
elif [[ $light == second ]]; then
  ! accepts_tools || for tool in racecheck initcheck synccheck; do sanitize "$tool" gpu_table_test; done
  bench bench_bars 300 --check
  packed gpu_program_accuracy_real 240
  packed gpu_full_test 60
  packed gpu_lost_test 60
  packed gpu_program_exit 120
elif [[ -n $package ]]; then
  ! part tests || while IFS=$'\t' read -r name _; do
    [[ $name =~ $match && (${#without[@]} == 0 || $name != gpu_program_accuracy_real) ]] || continue
    packed "$name"
  done <"$build/tests.tsv"
elif part tests; then
  ctest --test-dir "$build" -L '^gpu$' ${match:+-R "$match"} "${without[@]}" --timeout 900 --verbose --no-tests=error | tee "$log" || status=1
  if grep -q '\*\*\*Skipped' "$log"; then
    echo "run.sh: a test was skipped, so not everything was run (without the data sets: --without-data)" >&2
    status=1
  fi
fi
if [[ -z $light ]] && part sanitize; then
  for program in "$build"/tests/gpu/gpu_*_test; do
    [[ $program != *gpu_multi_test ]] || continue         # of several GPUs
    [[ $program != *gpu_@(full|lost)_test ]] || continue # of errors that a tool would find
    [[ ${program##*/} =~ $match ]] || continue
    sanitized "$program" | tee -a "$log" || status=1
  done
fi
if [[ -z $light ]] && part bench; then
  python3 tests/bench/gpu.py --bench "$build/tests/bench/gpu/bench_gpu" --check --output "$table" || status=1
fi

if [[ -n $results ]]; then
  {
    ((${#without[@]} == 0)) || printf '\nWithout the data sets: `gpu_program_accuracy_real` was left out.\n'
    if [[ -z $light && -s $log ]]; then
      printf '\n```\n'
      grep -E 'Test +#|tests passed|SANITIZED|FIGURE' "$log" || true
      printf '```\n'
    fi
    cat "$table"
  } >>"$results"
fi
# The end of a long output is read first: verdicts, and of what did not pass the first words about it.
if ((${#verdicts[@]})); then
  echo
  for ((i = 0; i < ${#verdicts[@]}; i += 2)); do echo "VERDICT ${verdicts[i]}: ${verdicts[i + 1]}"; done
  for ((i = 0; i < ${#verdicts[@]}; i += 2)); do
    [[ ${verdicts[i + 1]} != passed && -s $unpacked/${verdicts[i]}.said ]] || continue
    printf '\n== %s\n' "${verdicts[i]}"
    grep -m 1 -A 5 -E ': Failure|rror|findings|terminate|FAILED|differs|MISSED' "$unpacked/${verdicts[i]}.said" | cut -c1-300 ||
      tail -n 5 "$unpacked/${verdicts[i]}.said" | cut -c1-300
  done
fi
exit $status

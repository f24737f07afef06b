#!/usr/bin/env bash
# Builds the plug-in and runs the tests that need a GPU, on a machine with one, from the files of the tree: nothing is fetched.
#   tests/gpu/run.sh [--from PACKAGE] [--prefix FOLDER] [--build FOLDER] [--results FILE] [--sanitize] [--bench] [--only PARTS]
#                    [--match WORDS] [--without-data] [--limit SECONDS]
#   tests/gpu/run.sh --from PACKAGE --light first|second [--results FILE] [--log FILE] [--budget SECONDS] [--match WORDS]
#
#   --from PACKAGE    builds nothing: runs a package of tests/gpu/pack.sh, with LibTorch and CUDA of python3's torch
#   --light first     the most important parts of a package, in a few minutes: the tests, two programs, captured steps, a
#                     short bench, memcheck. Each part has a time limit, and hanging ones are killed
#   --light second    the other tools of compute-sanitizer, all bars of speed, accuracy on data sets
#   --budget SECONDS  time for all parts of --light together; 540
#   --log FILE        appends all output of each part of a package
#   --silence SECONDS time without output after which a test program of a package counts as hanging; 30
#   --prefix FOLDER   a folder with include/ and lib/ of libraries that the machine lacks: GoogleTest, zlib, OpenSSL,
#                     nlohmann-json and Gloo's headers, as in unpacked Debian packages (their usr/); may be repeated
#   --build FOLDER    build folder; build/gpu
#   --results FILE    appends machine, date, commit and the result of each part, as in docs/gpu-results.md
#   --sanitize        each test again under compute-sanitizer's four tools
#   --bench           the bars of speed as well, compared with PyTorch Geometric if python3 has it (tests/bench/gpu.py)
#   --only PARTS      some of build, tests, sanitize and bench, with commas, for environments that limit the time of one
#                     call. Built files are kept as long as LibTorch's and CUDA's versions stay
#   --match WORDS     only the tests, and parts of --light, whose names match this regular expression, as in
#                     'nn_|train_'; for the same purpose
#   --without-data    leaves out the accuracy on data sets, for machines without them; the results mention it
#   --limit SECONDS   time for a test program under one of compute-sanitizer's tools; 900
#
# LibTorch is GNNMG_TORCH_DIR's, or that of the python3 on PATH; nvcc is the one on PATH, or the wheels'. GNNMG_DATA is the
# folder with Coauthor Physics, Amazon Photo and IMDB-BINARY; without it the test of their accuracy is skipped. Skipped tests
# have shown nothing: the exit code is then 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

here=$PWD/tests/gpu prefixes=() build=build/gpu results= full= sanitize=0 bench=0 only= match= without=() limit=900 package= light= budget= silence=30
while (($#)); do
  case $1 in
    --from) package=$2 && shift 2 ;;
    --light) light=$2 && shift 2 ;;
    --budget) budget=$2 && shift 2 ;;
    --prefix) prefixes+=("$2") && shift 2 ;;
    --build) build=$2 && shift 2 ;;
    --silence) silence=$2 && shift 2 ;;
    --results) results=$(realpath -m "$2") && shift 2 ;;
    --log) full=$(realpath -m "$2") && shift 2 ;;
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
budget=${budget:-$([[ -n $light ]] && echo 540 || echo 1000000)}
((sanitize)) && parts+=sanitize,
((bench)) && parts+=bench,
part() { [[ $parts == *,$1,* ]]; }

scratch=$(mktemp -d)
source "$here/parts.sh"
trap 'end_running; rm -rf "$scratch"' EXIT
log=$scratch/log table=$scratch/table
: >"$log" && : >"$table"
mkdir "$scratch/tmp" "$scratch/package"
export TMPDIR=$scratch/tmp # also removes the files of a killed part
status=0

# Prints the folder as an absolute path.
absolute() { realpath -e "$1" || { echo "run.sh: there is no folder $1" >&2 && return 1; }; }
for i in "${!prefixes[@]}"; do prefixes[i]=$(absolute "${prefixes[i]}"); done

gpus="none: no nvidia-smi, hence no NVIDIA driver" architectures=
if command -v nvidia-smi >/dev/null; then
  gpus=$(timeout -k 1 60 nvidia-smi --query-gpu=name,driver_version,memory.total,power.limit,clocks.max.sm --format=csv,noheader) ||
    { echo "run.sh: nvidia-smi does not answer: $gpus" >&2 && exit 1; }
  # Compiles only for this machine's GPUs, which halves the time.
  architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | sort -u | sed 's/[^0-9]//g; s/$/-real/' | paste -sd ';')
elif [[ -z $package ]]; then
  echo "run.sh: no nvidia-smi, hence no NVIDIA driver and no GPU" >&2 && exit 1
fi
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
for folder in /usr/local/cuda/bin /usr/local/cuda/compute-sanitizer; do # usual places of toolkits
  [[ ! -d $folder ]] || PATH+=:$folder
done

# unpack: makes the package's folder the current one, and finds the libraries that it loads.
unpack() {
  local archive version library known found folders folder missing
  archive=$(absolute "$package")/gnnmg-gpu.tar.gz
  tar -xzf "$archive" -C "$scratch/package"
  cd "$scratch/package"
  commit=$(<commit)
  # torch's folder, then the folders of CUDA's wheels.
  found=$(python3 -c '
import importlib.util
torch, nvidia = (importlib.util.find_spec(name) for name in ("torch", "nvidia"))
print(torch.submodule_search_locations[0] if torch else "")
print(*(nvidia.submodule_search_locations if nvidia else []), sep="\n")')
  mapfile -t found <<<"$found"
  [[ -n ${found[0]} ]] || { echo "run.sh: python3 has no torch" >&2 && exit 1; }
  version=$(sed -nE "s/^__version__ = ['\"](.*)['\"]/\1/p" "${found[0]}/version.py")
  [[ $version == 2.11.*cu13* ]] || { echo "run.sh: python3's torch is $version: expected 2.11 for CUDA 13" >&2 && exit 1; }
  # If the machine has a library of the package too, its own is used, because python3 is built for it.
  known=$(ldconfig -p 2>/dev/null || true)
  for library in build/gpu/lib/*; do
    [[ $known != *"${library##*/} ("* ]] || rm "$library"
  done
  folders=$PWD/build/gpu:$PWD/build/gpu/lib:${found[0]}/lib
  for folder in "${found[@]:1}"; do
    for folder in "$folder"/*/lib; do [[ ! -d $folder ]] || folders+=:$folder; done
  done
  export LD_LIBRARY_PATH=$folders${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  missing=$(ldd build/gpu/lib*.so* 2>&1 | grep 'not found' | sort -u || true)
  [[ -z $missing ]] || { printf 'run.sh: the loader looked in %s:\n%s\n' "$LD_LIBRARY_PATH" "$missing" >&2 && exit 1; }
  export GNNMG_TEST_PLUGIN=$PWD/build/gpu/libgnnmg_cuda.so GNNMG_DATA=$PWD/data GNNMG_ACCURACY_SETS
  GNNMG_ACCURACY_SETS=$(ls data | paste -sd ' ')
}
if [[ -n $package ]]; then
  build=build/gpu parts=${parts/,build,/,}
  unpack
fi

for prefix in "${prefixes[@]}"; do
  CPATH=$prefix/include:$prefix/include/x86_64-linux-gnu${CPATH:+:$CPATH}
  LIBRARY_PATH=$prefix/lib/x86_64-linux-gnu:$prefix/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
  LD_LIBRARY_PATH=$prefix/lib/x86_64-linux-gnu:$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export CPATH LIBRARY_PATH LD_LIBRARY_PATH
done
joined=$(IFS=';' && echo "${prefixes[*]}")
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

# untimed_filter <program>: prints its tests that work on one GPU, without those that measure time, because the tools are slow.
untimed_filter() { without "$(filter_of "$1")" "$([[ ! -e $1.timed ]] || cat "$1.timed")"; }
# sanitized <program> [<tool>...]: prints one line per tool with its result; fails unless all are clean.
sanitized() {
  local tool bad=0 options option rc came help tools=("${@:2}")
  ((${#tools[@]})) || tools=(memcheck racecheck initcheck synccheck)
  help=$(timeout -k 1 60 compute-sanitizer --help 2>&1) || true
  for tool in "${tools[@]}"; do # racecheck checks shared memory
    options=()
    case $tool in
      memcheck) options=(--report-api-errors no) ;; # some tests provoke these
      initcheck)
        # Tests read gathered rows together with the gaps between them, which are unwritten and unused. All kernels are watched,
        # because the tool must know all writes.
        [[ $help != *--check-api-memory-access* ]] || options=(--check-api-memory-access no)
        ;;
    esac
    # Only the library's kernels: thousands of LibTorch's and cuBLAS's take hours. The option was renamed.
    if [[ $tool != initcheck ]]; then
      for option in --kernel-name --kernel-regex; do
        [[ $help == *$option* ]] && options+=("$option" kns=gnnmg) && break
      done
    fi
    : >"$log.tool"
    rc=0
    # Each allocation is the driver's own, so that its neighbors are not LibTorch's cache.
    said=$log.tool watched "$limit" "$limit" env PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync GTEST_FILTER="$(untimed_filter "$1")" \
      compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 "$1" || rc=$?
    case $rc in
      0) came=clean ;;
      9) came=findings ;;
      124) came="timed out after $(said=$log.tool ended | wc -l) cases" ;;
      *) came="failed $rc" ;;
    esac
    if [[ $came == clean ]]; then
      grep SUMMARY "$log.tool" || true
    else
      bad=1
      grep -m 40 '^=========' "$log.tool" || true
      tail -n 10 "$log.tool"
    fi
    echo "SANITIZED $tool ${1##*/}: $came"
    rm -f "$log.tool"
  done
  return $bad
}
bench() { # <name> <seconds> <argument>...
  piece "$1" "$2" python3 -u tests/bench/gpu.py --bench "$build/tests/bench/gpu/bench_gpu" "${@:3}"
}
facts='nvidia-smi; nvcc --version | tail -n 2; compute-sanitizer --version | tail -n 1; uname -srm; nproc; free -g; df -h "$TMPDIR"
  ldd --version | head -n 1; python3 - <<PYTHON
import importlib.metadata, sys, torch
print("python", sys.version.split()[0], "torch", torch.__version__, "NCCL", torch.cuda.nccl.version(), "PyG",
      *(d.version for d in importlib.metadata.distributions() if d.name.replace("-", "_") == "torch_geometric"))
print(torch.cuda.get_device_properties(0))
PYTHON'

# In order of importance. Their seconds, with those of sanitizer_accepts_gpu, add up to the budget.
if [[ $light == first ]]; then
  piece facts 40 bash -c "$facts"
  packed gpu_table_test 90
  packed gpu_loader_test 60 --gtest_shuffle --gtest_random_seed=1  # shuffled: some of each graph and placement
  packed gpu_nn_test 60
  packed gpu_train_test 50
  packed gpu_nccl_test 20
  packed gpu_program_gpu 15
  packed gpu_program_train 25
  packed gpu_capture_test 40
  bench bench_short 70 --short
  sanitize memcheck gpu_table_test 40
elif [[ $light == second ]]; then
  sanitize racecheck gpu_table_test 60
  sanitize initcheck gpu_table_test 60
  sanitize synccheck gpu_table_test 40
  bench bench_bars 130 --rounds 3 --check
  packed gpu_program_accuracy_real 150
  packed gpu_full_test 30
  packed gpu_lost_test 20
  GNNMG_EXIT_ROUNDS=1 packed gpu_program_exit 20
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
    [[ $program != *gpu_multi_test ]] || continue         # needs several GPUs
    [[ $program != *gpu_@(full|lost)_test ]] || continue # provoke errors that a tool would report
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
report
exit $status

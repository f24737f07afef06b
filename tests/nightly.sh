#!/usr/bin/env bash
# Runs the tests that take too long for every change. Arguments select parts; without any all of them run, and a table of their
# seconds ends the log.
#   tests/nightly.sh [--configure <folder>] [long] [fuzz] [asan] [tsan] [kernels] [tidy] [coverage] [valgrind] [soak] [accuracy]
#                    [repeat]
# long      entries of ctest with the label `long`, in the users' build
# fuzz      each fuzz target for GNNMG_FUZZ_SECONDS (30)
# asan      everything under AddressSanitizer and UndefinedBehaviorSanitizer, without batches and precompiled headers, which
#           hide a missing include
# tsan      all torch-free rooms under ThreadSanitizer, and the kernels with separate lanes
# kernels   registers of the kernels for every architecture, and all cases of the compiled kernels on the host
# tidy      clang-tidy over all rooms
# coverage  lines and branches that the tests of the torch-free rooms reach
# valgrind  the same tests under valgrind
# soak      a training whose processes are killed, for GNNMG_SOAK_SECONDS (7200), one every 60 s; one over servers that are
#           killed too, for 10 minutes, one every 20 s
# accuracy  the recipes of docs/accuracy.md
# repeat    every test of faults GNNMG_REPEAT times (10), four at a time for each core, to find those that fail occasionally
# Nothing may be skipped. With --configure nothing runs: each part's build is configured below the folder, so that a change that
# breaks one is found at once.
set -euo pipefail
export CI=true
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all=(long fuzz asan tsan kernels tidy coverage valgrind soak accuracy repeat)
top=build
if [[ ${1:-} == --configure ]]; then
  top=$2 configure_only=1
  shift 2
fi
parts=("$@")
((${#parts[@]})) || parts=("${all[@]}")
for part in "${parts[@]}"; do
  [[ " ${all[*]} " == *" $part "* ]] || { echo "nightly.sh: no part is called \"$part\"" >&2 && exit 2; }
done
jobs=$(nproc)

# build <folder> <preset> [<cmake argument>...]: configures, and builds `targets`.
targets=(all)
build() {
  local folder=$top/$1
  cmake --preset "$2" -B "$folder" "${@:3}" >/dev/null || exit 1
  [[ -z ${configure_only:-} ]] || exit 0
  cmake --build "$folder" -j "$jobs" --target "${targets[@]}"
}

long() {
  build release release -DGNNMG_CUDA=ON
  ctest --preset release -L '^long$' -j "$jobs"
}

# The entries include the C interface under the tests of the Rust crates.
asan() {
  build asan asan
  ctest --preset asan -j "$jobs"
}

tsan() {
  build tsan-all tsan -DGNNMG_TEST_FOLDERS=
  ctest --test-dir build/tsan-all -j "$jobs" --output-on-failure --no-tests=error
}

kernels() {
  targets=(gnnmg_cuda ptx_table_test)
  build kernels release -DGNNMG_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=80-real;90"
  ctest --test-dir build/kernels -R '^cuda_kernels$' --output-on-failure --no-tests=error
  GNNMG_PTX_ALL=1 ctest --test-dir build/kernels -R '^ptx_table_test$' --output-on-failure --no-tests=error
}

# Branches that only a failing allocation takes do not count.
coverage() {
  build coverage coverage
  find build/coverage -name '*.gcda' -delete
  ctest --preset coverage -j "$jobs" --quiet
  mkdir -p build/coverage/report
  local room
  {
    printf '%-10s %8s %8s %10s\n' room lines branches functions
    for room in src/*/; do
      room=$(basename "$room")
      [[ -d build/coverage/src/$room ]] || continue
      gcovr --root . --object-directory build/coverage --filter "src/$room/" --exclude-throw-branches \
        --exclude-unreachable-branches --json-summary - 2>/dev/null |
        python3 -c '
import json, sys
s = json.load(sys.stdin)
percent = lambda what: "-" if not s[what + "_total"] else "%.1f" % (100 * s[what + "_covered"] / s[what + "_total"])
print("%-10s %8s %8s %10s" % (sys.argv[1], percent("line"), percent("branch"), percent("function")))' "$room"
    done
  } | tee build/coverage/report/rooms.txt
  gcovr --root . --object-directory build/coverage --filter src/ --exclude-throw-branches \
    --exclude-unreachable-branches --html-details build/coverage/report/index.html 2>/dev/null
  echo "line by line: build/coverage/report/index.html"
}

tidy() {
  build release release -DGNNMG_CUDA=ON
  python3 -B tests/structure/tidy.py .deps/venv/bin/clang-tidy . build/release --all --jobs "$jobs"
}

# valgrind runs each test program and detects reads of unwritten memory, and leaks.
valgrind() {
  build valgrind dev -DGNNMG_TORCH=OFF -DGNNMG_TIMEOUT_FACTOR=60 \
    -DCMAKE_CROSSCOMPILING_EMULATOR="valgrind;--quiet;--error-exitcode=1;--leak-check=full;--errors-for-leak-kinds=definite"
  ctest --test-dir build/valgrind -j "$jobs" -L 'unit|fault' -LE 'structure|abi|docs|install|long' \
    --output-on-failure --no-tests=error
}

soak() {
  build release release
  local torchrun
  torchrun=$(sed -n 's/^GNNMG_TORCHRUN:[A-Z]*=//p' build/release/CMakeCache.txt)
  bash tests/train/soak_test.sh build/release/examples/c/train "$torchrun" "${GNNMG_SOAK_SECONDS:-7200}" 60
  local programs=(build/release/{examples/c/partition,examples/c/train,gnnmg-server})
  bash tests/train/served_soak_test.sh "${programs[@]/#/$PWD/}" "$torchrun" 600 20
}

fuzz() {
  build fuzz fuzz
  ctest --preset fuzz -j "$jobs"
}

accuracy() {
  build release release
  bash tests/accuracy.sh
}

repeat() {
  build release release
  ctest --preset release -j $((4 * jobs)) -L '^fault$' -LE '^long$' --repeat "until-fail:${GNNMG_REPEAT:-10}"
}

if [[ -n ${configure_only:-} ]]; then
  for part in "${parts[@]}"; do
    ("$part") || { echo "nightly.sh: the build of part \"$part\" cannot be configured" >&2 && exit 1; }
  done
  echo "${#parts[@]} parts can be configured"
  exit
fi
if ((${#parts[@]} == 1)); then
  [[ -n ${GNNMG_NIGHTLY_INSIDE:-} ]] || src/cmake/setup.sh --full --tests --nightly --cuda-compiler
  "${parts[0]}"
  exit
fi
# Each part runs in its own shell, so that its first failure ends it and the others still run.
src/cmake/setup.sh --full --tests --nightly --cuda-compiler
failed=() table=()
for part in "${parts[@]}"; do
  printf '\n== %s\n' "$part"
  begin=$SECONDS result=passed
  GNNMG_NIGHTLY_INSIDE=1 bash tests/nightly.sh "$part" || { failed+=("$part") && result=failed; }
  table+=("$(printf '%-9s %6d s  %s' "$part" $((SECONDS - begin)) "$result")")
done
printf '\n== parts\n'
printf '%s\n' "${table[@]}"
((${#failed[@]} == 0)) || { echo "failed: ${failed[*]}" && exit 1; }
echo "all parts passed"

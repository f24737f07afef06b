#!/usr/bin/env bash
# What takes too long for every change: all tests under AddressSanitizer and UndefinedBehaviorSanitizer, all cases of the
# compiled kernels, coverage of the torch-free rooms, the same tests under valgrind, a training of processes that are killed
# for hours, fuzzing for hours, the accuracy of published recipes, and every test again and again to find those that fail
# once in a while. Each part may be named alone.
#   tests/nightly.sh [asan] [kernels] [coverage] [valgrind] [soak] [fuzz] [accuracy] [repeat]
# GNNMG_FUZZ_SECONDS is for each target (default 3600), GNNMG_REPEAT the number of rounds (default 50), GNNMG_SOAK_SECONDS
# how long the training takes that nobody kills (default 7200; a process is killed every 60 s of the other one).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

parts=("$@")
((${#parts[@]})) || parts=(asan kernels coverage valgrind soak fuzz accuracy repeat)
for part in "${parts[@]}"; do
  case $part in
    asan | kernels | coverage | valgrind | soak | fuzz | accuracy | repeat) ;;
    *) echo "nightly.sh: no part is called \"$part\"" >&2 && exit 2 ;;
  esac
done
jobs=$(nproc)

build() { # <preset> [<cmake argument>...]
  local preset=$1
  shift
  cmake --preset "$preset" "$@" >/dev/null
  cmake --build --preset "$preset" -j "$jobs"
}

# The rooms above the torch line too, which tests/run.sh leaves out, and the C interface under the tests of the Rust crates.
asan() {
  build asan
  ctest --preset asan -j "$jobs"
}

# All cases of the compiled kernels on the host, of which tests/run.sh takes some.
kernels() {
  build release
  GNNMG_PTX_ALL=1 ctest --test-dir build/release -R '^ptx_table_test$' --timeout 5000 --output-on-failure --no-tests=error
}

# Lines and branches that the tests reach, room by room. Branches that only a failing allocation takes do not count.
coverage() {
  build coverage
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

# Reads of memory that nobody wrote, and leaks: each test program is run by valgrind.
valgrind() {
  cmake --preset dev -B build/valgrind -DGNNMG_TORCH=OFF -DGNNMG_TIMEOUT_FACTOR=60 \
    -DCMAKE_CROSSCOMPILING_EMULATOR="valgrind;--quiet;--error-exitcode=1;--leak-check=full;--errors-for-leak-kinds=definite" \
    >/dev/null
  cmake --build build/valgrind -j "$jobs"
  ctest --test-dir build/valgrind -j "$jobs" -L 'unit|fault' --output-on-failure --no-tests=error
}

soak() {
  build release
  local torchrun
  torchrun=$(sed -n 's/^GNNMG_TORCHRUN:[A-Z]*=//p' build/release/CMakeCache.txt)
  bash tests/train/soak_test.sh build/release/examples/c/train "$torchrun" "${GNNMG_SOAK_SECONDS:-7200}" 60
}

fuzz() {
  build fuzz
  GNNMG_FUZZ_SECONDS=${GNNMG_FUZZ_SECONDS:-3600} ctest --preset fuzz -j "$jobs"
}

accuracy() {
  build release
  bash tests/accuracy.sh
}

# A test that fails once in 200 runs is a bug, of the code or of the test.
repeat() {
  build release
  ctest --preset release -j "$jobs" -LE 'structure|install|docs|abi' --repeat "until-fail:${GNNMG_REPEAT:-50}"
}

if ((${#parts[@]} == 1)); then
  [[ -n ${GNNMG_NIGHTLY_INSIDE:-} ]] || src/cmake/setup.sh --full --tests --nightly
  "${parts[0]}"
  exit
fi
# Each part in a shell of its own, so that its first failure ends it and the others still run.
src/cmake/setup.sh --full --tests --nightly
failed=()
for part in "${parts[@]}"; do
  printf '\n== %s\n' "$part"
  GNNMG_NIGHTLY_INSIDE=1 bash tests/nightly.sh "$part" || failed+=("$part")
done
((${#failed[@]} == 0)) || { echo "failed: ${failed[*]}" && exit 1; }
echo "all parts passed"

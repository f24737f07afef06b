#!/usr/bin/env bash
# Installs missing requirements, builds, and runs the tests.
#   tests/run.sh [<preset>...]     default release, the users' build; .ci/run adds the presets of the sanitizers
# The presets are built one after another; their tests then run as one list, so that the last lines cover all of them. The
# lines before show the seconds of each part, the slowest tests, and the tests that take more CPU than their class allows.
# tests/nightly.sh runs entries with the label `long`.
# The CUDA plug-in is built if nvcc is found. CI=true: nvcc is fetched, skipped tests fail, and so do warnings and a build
# without the plug-in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

presets=("$@")
((${#presets[@]})) || presets=(release)
jobs=$(nproc)
kilobytes=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
((jobs * 2000000 <= kilobytes)) || jobs=$((kilobytes / 2000000 + 1)) # a file with torch's headers takes 1.5 GB

# Paths below this folder count as relative in ccache, so that another clone can use its objects.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true

# Prints the CPU seconds of ended child processes.
cpu() {
  local stat
  stat=$(</proc/$$/stat)
  read -ra stat <<<"${stat##*) }"
  echo $(((stat[13] + stat[14]) / $(getconf CLK_TCK)))
}

# part <title> <command...>: runs it and prints its time.
parts=()
part() {
  local title=$1 begin=$SECONDS used status=0
  used=$(cpu)
  shift
  printf '\n== %s\n' "$title"
  "$@" || status=$?
  parts+=("$(printf '%6d s, CPU %6d s  %s' $((SECONDS - begin)) $(($(cpu) - used)) "$title")")
  printf '== %s\n' "${parts[-1]}"
  return $status
}

build() {
  local options=(-DGNNMG_WERROR=OFF -DGNNMG_CUDA=AUTO)
  if [[ ${CI:-} == true ]]; then # the plug-in for one architecture: its kernels take five minutes of CPU for each
    options=(-DGNNMG_WERROR=ON -DGNNMG_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90)
  fi
  cmake --preset "$1" "${options[@]}" >"build/$1.log" 2>&1 || { cat "build/$1.log" && return 1; }
  cmake --build --preset "$1" -j "$jobs"
}

report_parts() { printf '\n== parts\n' && printf '%s\n' "${parts[@]}"; }

# Reads run_test.py's line for each test: build/name, class, seconds, CPU seconds, exit status.
report_tests() {
  local ended
  ended=$(awk 'NF == 5' "$GNNMG_TEST_FIGURES")
  printf '\n== the ten slowest tests: seconds, CPU seconds, class\n'
  sort -k3 -rn <<<"$ended" | awk 'NR <= 10 { printf "%8.1f %8.1f  %-5s %s\n", $3, $4, $2, $1 }'
  printf '\n== tests that take more CPU seconds than their class: unit 10, dist 40, bindings 100\n'
  sort -k4 -rn <<<"$ended" |
    awk '$4 > 10 && $2 == "unit" || $4 > 40 && $2 == "dist" || $4 > 100 && $2 == "bindings" { printf "%8.1f  %-5s %s\n", $4, $2, $1 }'
  awk 'NF == 2 { begun[$1] } NF == 5 { delete begun[$1] } END { for (name in begun) print "ended by its time limit: " name }' \
    "$GNNMG_TEST_FIGURES"
}

# Many tests wait more than they compute: twice as many run as there are cores, and one more. ctest's own summary is held back
# until after the report.
summary='^[0-9]+% tests passed, [0-9]+ tests? failed out of'
tests() {
  export GNNMG_TEST_FIGURES=$PWD/build/all/figures.txt
  : >"$GNNMG_TEST_FIGURES"
  env -u CLICOLOR_FORCE ctest --test-dir build/all -j $((2 * jobs + 1)) -LE '^long$' --output-on-failure --no-tests=error |
    tee build/all/ctest.log | sed -uE "/$summary/,\$d"
}

mkdir -p build
trap report_parts EXIT
part "set-up, downloads included" src/cmake/setup.sh --full --tests $([[ ${CI:-} != true ]] || echo --cuda-compiler)
for preset in "${presets[@]}"; do part "build of preset $preset" build "$preset"; done

# One list of tests from all build folders.
rm -rf build/all
mkdir -p build/all
printf 'subdirs("%s")\n' "${presets[@]/#/$PWD/build/}" >build/all/CTestTestfile.cmake
status=0
part "tests of ${presets[*]}" tests || status=$?
trap - EXIT
report_parts
report_tests
printf '\n'
sed -nE "/$summary/,\$p" build/all/ctest.log
# Without a GPU the tests that need one are skipped.
skipped=$(awk 'NF == 5 && $5 == 77 && $2 != "gpu" { print $1 }' "$GNNMG_TEST_FIGURES" | paste -sd ' ')
[[ ${CI:-} != true || -z $skipped ]] || { echo "skipped, which CI=true does not accept: $skipped" && status=1; }
exit $status
